/* A counter with two back ends that a name chooses, and a level that a number does. */
#ifndef BACKEND_H
#define BACKEND_H
struct tally;
struct tally *tally_open(const char *kind, int start);
int tally_add(struct tally *t, int n);
int tally_total(const struct tally *t);
void tally_close(struct tally *t);
#endif
