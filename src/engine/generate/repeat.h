/*
 * repeat - does a sequence do nothing but what the example did?
 *
 * Only then is its death the library's fault. A usage (usage.h) is wider: it has states in
 * which the example never made a call (an index that was good for a longer list, a pop after
 * the last item). So each object has to see the calls that one object of the example saw,
 * in the same order and with the same values, from the beginning on:
 *
 *     example    r0 = new()  add(r0, 1)  size(r0)  add(r0, 2)  get(r0, 1)
 *     repeats    r0 = new()  add(r0, 1)  add(r0, 2)  get(r0, 1)         looking is not needed
 *     does not   r0 = new()  add(r0, 1)  get(r0, 1)
 *
 * Calls on different objects may come in another order. What a call gave has to be what it
 * gave in the example, as far as both are known: a file that is not there changes all that
 * follows.
 */
#ifndef SUNDEW_SEQ_REPEAT_H
#define SUNDEW_SEQ_REPEAT_H
#include "engine/generate/grow.h"
#include "engine/play/exec.h"

/* `o` is what the sequence did, up to its last step. */
bool sequence_repeats(const Usage *m, const Seq *s, const Outcome *o);
/* Did a step give something else than in the example? What it gave; NULL: it did not, or that
 * is not known. */
const Observation *sequence_differs(const Seq *s, unsigned step, const Outcome *o);
#endif
