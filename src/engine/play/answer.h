/*
 * answer - read what the player says of one job.
 *
 * The library that was called can write these bytes, also while they are read. Every
 * number is taken once, into a copy, and checked there. Of what comes out: steps are
 * steps of the sequence, places are places of these, points are below `npoints`.
 */
#ifndef SUNDEW_PLAY_ANSWER_H
#define SUNDEW_PLAY_ANSWER_H
#include "base/mem.h"
#include "engine/play/exec.h"
#include "engine/play/wire.h"

/* `out` and what it leads to live in the arena. */
void answer_read(Arena *a, const Seq *s, uint32_t npoints, const struct WireAnswer *w,
                 Outcome *out);
#endif
