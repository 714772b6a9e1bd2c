/*
 * What matters of a captured state: delta debugging over steps.
 *
 * Objects stand in the order in which they were reached from the arguments, so
 * first the shortest beginning of the list that still fails is looked for. Then
 * objects are left out, half of those that are left at a time, then quarters,
 * and so on down to one; then single steps the same way. A trial costs some
 * milliseconds, and most of what a program holds does not matter to its crash,
 * so large parts go in the first trials.
 */
#include "base/units.h"
#include "technique/reproduce/reproduce_int.h"
#include <assert.h>
#include <string.h>

typedef struct Work {
    const Shrinking *s;
    bool *keep;
    size_t nsteps;
    unsigned trials;
    double end;
} Work;

static bool is_over(const Work *w) { return w->trials >= w->s->most || clock_seconds() > w->end; }

/* Leaves out the steps of `part`; true if it still fails so. */
static bool try_without(Work *w, const size_t *first, const size_t *last)
{
    bool *keep = xmalloc(w->nsteps + 1);
    assert(*first <= *last && *last <= w->nsteps);
    memcpy(keep, w->keep, w->nsteps);
    bool any = false;
    for (size_t s = *first; s < *last; s++) {
        if (w->s->fixed && w->s->fixed[s])
            continue;
        any |= keep[s];
        keep[s] = false;
    }
    bool ok = any && w->s->fails(w->s->arg, keep);
    w->trials += any;
    if (ok)
        memcpy(w->keep, keep, w->nsteps);
    free(keep);
    return ok;
}

/* `bounds` cuts the steps into n parts: part i is [bounds[i], bounds[i+1]). */
static void shrink_parts(Work *w, const size_t *bounds, size_t n)
{
    for (size_t size = n; size >= 1; size /= 2) {
        for (size_t i = 0; i < n && !is_over(w); i += size) {
            size_t end = i + size < n ? i + size : n;
            try_without(w, &bounds[i], &bounds[end]);
        }
        if (size == 1)
            break;
    }
}

/* The shortest beginning, by doubling. */
static void shrink_tail(Work *w, const size_t *bounds, size_t n)
{
    for (size_t first = 1; first < n && !is_over(w); first *= 4)
        if (try_without(w, &bounds[first], &bounds[n]))
            return;
}

void shrink(const Shrinking *s, bool *keep)
{
    size_t n = restore_nsteps(s->restore);
    Work w = { .s = s, .keep = keep, .nsteps = n, .end = clock_seconds() + s->seconds };
    size_t *bounds = xcalloc(n + 2, sizeof *bounds), parts = 0;
    memset(keep, true, n);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || restore_group(s->restore, i) != restore_group(s->restore, i - 1))
            bounds[parts++] = i;
    bounds[parts] = n;
    assert(parts <= n && (parts || !n));
    shrink_tail(&w, bounds, parts);
    shrink_parts(&w, bounds, parts);
    size_t left = 0;
    for (size_t i = 0; i < n; i++)
        if (keep[i])
            bounds[left++] = i;
    /* Steps that are gone lie between those that are left: parts by step. */
    bounds[left] = n;
    if (left)
        shrink_parts(&w, bounds, left);
    free(bounds);
}
