/*
 * name:   the other place has such a name in many calls, this one never
 * run:    sundew arguments $file
 * expect: $file:65:5: arguments: error_set: arguments 2 and 3
 * absent: other_set
 * status: 0
 *
 * Nothing is known of `leftover`, and the parameters say nothing.
 */
struct error;
void error_set(struct error *, int, int);
void other_set(struct error *, int, int);
enum { ER_SEEK, ER_READ, ER_WRITE, ER_OPEN, ER_CLOSE, ER_RENAME, ER_REMOVE, ER_MEMORY, ER_CRC };

void all(struct error *e, int code, int cause, int status, int state, int number)
{
    error_set(e, ER_SEEK, code);
    error_set(e, ER_READ, code);
    error_set(e, ER_WRITE, code);
    error_set(e, ER_OPEN, code);
    error_set(e, ER_CLOSE, code);
    error_set(e, ER_RENAME, code);
    error_set(e, ER_REMOVE, code);
    error_set(e, ER_MEMORY, code);
    error_set(e, ER_CRC, code);
    error_set(e, ER_SEEK, cause);
    error_set(e, ER_READ, cause);
    error_set(e, ER_WRITE, cause);
    error_set(e, ER_OPEN, cause);
    error_set(e, ER_CLOSE, cause);
    error_set(e, ER_RENAME, cause);
    error_set(e, ER_REMOVE, cause);
    error_set(e, ER_MEMORY, cause);
    error_set(e, ER_CRC, cause);
    error_set(e, ER_SEEK, status);
    error_set(e, ER_READ, status);
    error_set(e, ER_WRITE, status);
    error_set(e, ER_OPEN, status);
    error_set(e, ER_CLOSE, status);
    error_set(e, ER_RENAME, status);
    error_set(e, ER_REMOVE, status);
    error_set(e, ER_MEMORY, status);
    error_set(e, ER_CRC, status);
    error_set(e, ER_SEEK, state);
    error_set(e, ER_READ, state);
    error_set(e, ER_WRITE, state);
    error_set(e, ER_OPEN, state);
    error_set(e, ER_CLOSE, state);
    error_set(e, ER_RENAME, state);
    error_set(e, ER_REMOVE, state);
    error_set(e, ER_MEMORY, state);
    error_set(e, ER_CRC, state);
    error_set(e, ER_SEEK, number);
    error_set(e, ER_READ, number);
    error_set(e, ER_WRITE, number);
    error_set(e, ER_OPEN, number);
    error_set(e, ER_CLOSE, number);
    error_set(e, ER_RENAME, number);
    error_set(e, ER_REMOVE, number);
    error_set(e, ER_MEMORY, number);
    error_set(e, ER_CRC, number);
}
void wrong(struct error *e, int leftover)
{
    error_set(e, leftover, ER_READ);
}
void few(struct error *e, int leftover)
{
    other_set(e, ER_SEEK, leftover);
    other_set(e, leftover, ER_READ);
}
