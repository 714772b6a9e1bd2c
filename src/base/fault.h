/*
 * fault - make the n-th open, write or spawn fail, or the n-th allocation; for
 * tests.
 *
 *     for (unsigned n = 1; ; n++) {
 *         fault_after(n);
 *         … operation that must fail cleanly or succeed …
 *         bool fired = fault_fired();
 *         fault_after(0);
 *         if (!fired)
 *             break;
 *     }
 *
 * A whole command can be put to the test from outside with the environment
 * variables SUNDEW_FAULT=n and SUNDEW_FAULT_ALLOC=n. Every fallible primitive
 * of base/ asks fault_hits() once before it does its work. Allocations count
 * by themselves: a failed one ends the tool, so it is tried in a child process.
 */
#ifndef SUNDEW_FAULT_H
#define SUNDEW_FAULT_H
#include <stdbool.h>

void fault_after(unsigned n);         /* 0 turns injection off */
void fault_alloc_after(unsigned n);
bool fault_fired(void);               /* has the failure happened? */
bool fault_hits(void);                /* is it this call's turn? sets errno */
bool fault_hits_alloc(void);
void fault_from_environment(void);
#endif
