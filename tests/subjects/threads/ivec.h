/* A5: a vector of numbers. */
#ifndef IVEC_H
#define IVEC_H

struct ivec;

struct ivec *ivec_new(void);
void ivec_free(struct ivec *v);
int ivec_add(struct ivec *v, int n);            /* -1: no memory */
unsigned ivec_hash(struct ivec *v);
int ivec_length(const struct ivec *v);
#endif
