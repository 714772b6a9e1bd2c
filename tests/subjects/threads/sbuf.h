/* A1: a growable buffer of bytes. It is thread-safe: any function but sbuf_free()
 * may be called by several threads at the same time. */
#ifndef SBUF_H
#define SBUF_H
#include <stddef.h>

struct sbuf;

struct sbuf *sbuf_new(void);
void sbuf_free(struct sbuf *b);
void sbuf_append(struct sbuf *b, const char *text);
int sbuf_insert(struct sbuf *d, int at, struct sbuf *src);      /* -1: no such place */
int sbuf_cut(struct sbuf *b, int at);                           /* -1: no such place */
int sbuf_length(const struct sbuf *b);
#endif
