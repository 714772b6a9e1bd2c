/* A guide to places. Begin it, add places, and end it. */
#ifndef GUIDE_H
#define GUIDE_H

int guide_begin(void);                  /* 0; -1: no memory */
int guide_add(const char *place);       /* 0; -1: no memory */
void guide_end(void);
unsigned guide_sum(const char *place);  /* of its small letters */
#endif
