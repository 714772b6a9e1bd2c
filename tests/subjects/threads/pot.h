/* A4: pots of numbers. A pot is thread-safe: any function but pot_free() may be
 * called by several threads at the same time. */
#ifndef POT_H
#define POT_H

struct pot;

struct pot *pot_new(void);
void pot_free(struct pot *p);
int pot_add(struct pot *p, int n);              /* -1: full */
int pot_copy(struct pot *d, struct pot *s);     /* -1: full */
int pot_sum(struct pot *p);
#endif
