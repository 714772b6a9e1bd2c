/* Slabs that are kept for later calls. Any thread may call this. */
#ifndef SLAB_H
#define SLAB_H

int slab_use(int n);                    /* n again */
#endif
