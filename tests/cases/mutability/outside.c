/*
 * name:   a function outside keeps the const of its declaration, and no other
 * run:    sundew capture -q -- sh -c 'cc -g -c $file -o l.o && ar rc libl.a l.o' && sundew mutability libl.a --verdicts --best-effort
 * expect: shown(s): immutable
 * expect: given(s): unknown
 * expect: deeper(s): unknown, own immutable
 * expect: read_by(s): immutable
 * expect: disagree(s): unknown
 * absent: given: s could
 * status: 0
 */
struct stream;
unsigned long digest(const void *bytes, unsigned long n);
unsigned long fill(void *bytes, unsigned long n);
unsigned long walk(char *const *list);
struct stream *stream_of(const char *text);
int stream_read(struct stream *s);
unsigned long many();

unsigned long shown(char *s) { return digest(s, 3); }
unsigned long given(char *s) { return fill(s, 3); }
unsigned long deeper(char **s) { return walk(s); }
int read_by(char *s) { return stream_read(stream_of(s)); }
unsigned long disagree(char *s) { return many(s); }
