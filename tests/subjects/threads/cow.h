/* A6: a list that is copied when it is changed. It is thread-safe: any function but
 * cow_free() may be called by several threads at the same time. */
#ifndef COW_H
#define COW_H

struct cow;

struct cow *cow_new(void);
void cow_free(struct cow *c);
int cow_add(struct cow *c, char letter);        /* -1: full */
int cow_print(struct cow *c, char *out, int room);      /* letters; -1: no room */
#endif
