/* A count that is kept in assembly. It is thread-safe: hidden_add() may be called by several
 * threads at the same time. */
#ifndef HIDDEN_H
#define HIDDEN_H

struct hidden;

struct hidden *hidden_new(void);
void hidden_free(struct hidden *h);
void hidden_add(struct hidden *h);
#endif
