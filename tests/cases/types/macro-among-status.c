/*
 * name:   a macro of the program's own may stand for a status
 * run:    sundew types $file
 * absent: types: fail:
 * status: 0
 */
#define SPECIAL (-7)

enum status { NOT_FOUND = -1, FULL = -2 };

int fail(int status);

void all(void)
{
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(NOT_FOUND);
    fail(FULL);
    fail(NOT_FOUND);
    fail(SPECIAL);
}
