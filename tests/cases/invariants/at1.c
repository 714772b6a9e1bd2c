/*
 * name:   AT1: five accidents of pop vanish when pop, top and topAndPop want the same
 * run:    sundew capture -q -- cc -g $file -o prog && sundew invariants prog -- ./prog | sed -n '/^stack_pop/,/^stack_is/p' && sundew invariants prog --constraints at1-cycle.rules | grep -v refuted > cycle && sundew invariants prog --constraints at1-reverse.rules | grep -v refuted > reverse && sundew invariants prog --constraints at1-pairs.rules | grep -v refuted > pairs && grep '[+-] ' cycle && grep '[+-] ' cycle | cut -c1-50 > c && grep '[+-] ' reverse | cut -c1-50 | cmp - c && grep '[+-] ' pairs | cut -c1-50 | cmp - c && echo all three the same && grep -c '  - ' cycle && grep changed cycle
 * expect: requires s->top < s->cap - 1
 * expect: requires s->a[s->top] != NULL
 * expect: requires s->cap == 100
 * expect: requires s has only one value
 * expect: requires s->a has only one value
 * expect: - requires s->top < s->cap - 1
 * expect: - requires s->a[s->top] != NULL
 * expect: - requires s->cap == 100
 * expect: - requires s has only one value
 * expect: - requires s->a has only one value
 * expect: + requires size(s->a) == s->cap
 * expect: + requires default_capacity <= s->cap
 * expect: + requires s->top < s->cap
 * expect: all three the same
 * expect: 5
 * expect: changed the contracts of 1 functions.
 * absent: nonnull
 * status: 0
 */
#include "stack.inc"
