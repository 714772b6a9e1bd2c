/* Text of numbers, in memory of the library. Any thread may call it. */
#ifndef SCRATCH_H
#define SCRATCH_H

int scratch_put(int n);        /* so many letters are kept; how many there are now */
int scratch_sum(void);         /* of the letters that are kept */
#endif
