/* A latch that a word and a code open. */
#ifndef LATCH_H
#define LATCH_H
struct latch;
struct latch *latch_new(void);
int latch_turn(struct latch *l, const char *word, unsigned code);   /* 0: it is open */
int latch_inside(const struct latch *l);                             /* -1: it is closed */
void latch_free(struct latch *l);
#endif
