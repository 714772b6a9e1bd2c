/*
 * name:   the compiler's own name of memcpy: it takes anything, too
 * run:    sundew types $file
 * absent: memcpy: argument
 * status: 0
 */
struct stream { int a; struct stream *dict; };

void bytes(unsigned char *a, unsigned char *b, unsigned char *c)
{
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
    __builtin_memcpy(a, b, 8); __builtin_memcpy(b, a, 4); __builtin_memcpy(c, b, 8); __builtin_memcpy(b, c, 4);
}
void copy(struct stream *to)
{
    __builtin_memcpy(to, to->dict, sizeof *to);
}
