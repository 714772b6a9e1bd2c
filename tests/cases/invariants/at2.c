/*
 * name:   AT2: what push leaves behind is fine for pop; only pop changes
 * run:    sundew capture -q -- cc -g $file -o prog && sundew invariants prog -- ./prog > base && sundew invariants prog --constraints at2.rules | grep -v refuted
 * expect: stack_pop
 * expect: - requires s->top < s->cap - 1
 * expect: - requires s->a[s->top] != NULL
 * expect: - requires s->cap == 100
 * expect: - requires s->a has only one value
 * expect: + requires size(s->a) == s->cap
 * expect: + requires default_capacity <= s->cap
 * expect: + requires s->top < s->cap
 * expect: + requires s->top >= 0
 * expect: changed the contracts of 1 functions.
 * absent: - requires s has only one value
 * absent: stack_top
 * absent: ensures
 * status: 0
 */
#include "stack.inc"
