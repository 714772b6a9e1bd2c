/* A turnstile. Any thread may call these. */
#ifndef STILE_H
#define STILE_H

struct stile;

struct stile *stile_new(void);
void stile_free(struct stile *s);
int stile_pass(struct stile *s);        /* 0; -1: it is out of order */
int stile_count(struct stile *s);       /* how many have passed */
#endif
