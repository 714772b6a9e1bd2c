/* Functions that a tester has to cope with. */
#ifndef AWKWARD_H
#define AWKWARD_H

struct awkward;
struct nobody;

struct awkward *awkward_new(void);
void awkward_free(struct awkward *a);
int awkward_add(struct awkward *a, int n);
int awkward_exit(struct awkward *a);            /* ends the process */
int awkward_read(struct awkward *a);            /* reads from a pipe into which nobody writes */
int awkward_thread(struct awkward *a);          /* makes a thread of its own, and joins it */
int awkward_handler(struct awkward *a);         /* catches SIGSEGV */
int awkward_random(struct awkward *a);          /* another number each time */
int awkward_long(struct awkward *a);            /* half a second of the processor */
int nobody_count(struct nobody *n);             /* nobody makes one */
struct moody;
struct moody *moody_new(void);                  /* aborts without a licence */
void moody_free(struct moody *m);
int moody_count(struct moody *m);
#endif
