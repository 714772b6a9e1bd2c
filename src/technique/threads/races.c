/*
 * Data races as findings and as JSON: both accesses, the locks that were held with the places
 * where they were taken, and who called.
 */
#include "base/file.h"
#include "base/json.h"
#include "technique/threads/threads_int.h"
#include <assert.h>
#include <string.h>

enum { MOST_STEPS = 2 * (1 + 3 * SUNDEW_SCHEDULE_STACK) };

static Location place_of(const RaceTold *t, uint32_t site)
{
    const ScheduleSite *at = scheduler_site(t->scheduler, site);
    if (!at || !*at->file)
        return (Location){ .file = t->program };
    return (Location){ .file = at->file, .line = (int)at->line, .function = at->function };
}

/* "the lock taken at pot.c:30 and the lock taken at pot.c:31" */
static const char *locks_text(Arena *a, const RaceTold *t, const struct sundew_side *s)
{
    const char *text = "no lock";
    for (unsigned i = 0; i < s->nheld; i++) {
        const ScheduleSite *at = scheduler_site(t->scheduler, s->held_at[i]);
        const char *one = at && *at->file ? arena_printf(a, "the lock taken at %s:%u",
                                                         path_base(at->file), at->line)
                                          : "a lock";
        text = i ? arena_printf(a, "%s and %s", text, one) : one;
    }
    return text;
}

static const char *side_text(Arena *a, const RaceTold *t, const struct sundew_side *s)
{
    return arena_printf(a, "T%u %s it here, holding %s", s->thread, s->write ? "writes" : "reads",
                        locks_text(a, t, s));
}

/* The access, then its callers. */
static size_t add_steps(Arena *a, const RaceTold *t, const struct sundew_side *s,
                        EvidenceStep *steps, size_t n)
{
    ScheduleCallers callers = { 0 };
    size_t most = n + MOST_STEPS / 2;
    steps[n++] = (EvidenceStep){ place_of(t, s->site), side_text(a, t, s) };
    schedule_callers(t->scheduler, s, &callers);
    for (size_t i = 0; i < callers.len && n < most; i++) {
        const ScheduleSite *p = &callers.items[i];
        steps[n++] =
            (EvidenceStep){ { .file = p->file, .line = (int)p->line, .function = p->function },
                            arena_printf(a, "T%u: called from here", s->thread) };
    }
    vec_release(&callers);
    return n;
}

size_t switch_steps(Arena *a, const RaceTold *t, const struct sundew_side *stopped,
                    const struct sundew_side *ran, EvidenceStep *steps)
{
    steps[0] = (EvidenceStep){ place_of(t, stopped->site),
                               arena_printf(a, "T%u is stopped before this, holding %s",
                                            stopped->thread, locks_text(a, t, stopped)) };
    steps[1] =
        (EvidenceStep){ place_of(t, ran->site), arena_printf(a, "T%u gets here first, holding %s",
                                                             ran->thread, locks_text(a, t, ran)) };
    return 2;
}

bool race_report(const RaceTold *t, const RaceSeen *seen, unsigned others, Err *err)
{
    const struct sundew_side *x = &seen->race.first, *y = &seen->race.second;
    const ScheduleSite *other = scheduler_site(t->scheduler, x->site);
    EvidenceStep steps[MOST_STEPS];
    Arena a = { 0 };
    assert(other);                     /* the engine drops races at unknown sites */
    size_t n = add_steps(&a, t, x, steps, 0);
    n = add_steps(&a, t, y, steps, n);
    Finding f = { .rule = "threads/race",
                  .level = t->level,
                  .verdict = VERDICT_SHOWN,
                  .message =
                      arena_printf(&a, "data race: %s here and %s at %s:%u, in no order",
                                   y->write ? "a write" : "a read", x->write ? "a write" : "a read",
                                   path_base(other->file), other->line),
                  .where = place_of(t, y->site),
                  .anchor = arena_printf(&a, "race %s", other->function),
                  .detail = others ? arena_printf(&a,
                                                  "and at %u other pair%s of places in the "
                                                  "same calls (--json has all)",
                                                  others, others == 1 ? "" : "s")
                                   : NULL,
                  .steps = steps,
                  .nsteps = n };
    bool ok = session_report(t->s, &f, err);
    arena_release(&a);
    return ok;
}

void races_look_up(Scheduler *scheduler, const RacesSeen *all)
{
    Vec(struct sundew_race) races = { 0 };
    for (size_t i = 0; i < all->len; i++)
        vec_push(&races, all->items[i].race);
    schedule_look_up(scheduler, races.items, races.len);
    vec_release(&races);
}

/* ------------------------------------------------------------------- JSON */

static json_t *place_json(const char *function, const char *file, unsigned line)
{
    return json_pack("{s:o,s:o,s:i}", "function", json_text(function ? function : ""), "file",
                     json_text(file), "line", (int)line);
}

static json_t *side_json(const RaceTold *t, const struct sundew_side *s)
{
    Location at = place_of(t, s->site);
    ScheduleCallers callers = { 0 };
    json_t *stack = json_array(), *held = json_array();
    json_array_append_new(stack, place_json(at.function, at.file, (unsigned)at.line));
    schedule_callers(t->scheduler, s, &callers);
    for (size_t i = 0; i < callers.len; i++) {
        const ScheduleSite *p = &callers.items[i];
        json_array_append_new(stack, place_json(p->function, p->file, p->line));
    }
    vec_release(&callers);
    for (unsigned i = 0; i < s->nheld; i++) {
        Location lock = place_of(t, s->held_at[i]);
        json_array_append_new(held, place_json(lock.function, lock.file, (unsigned)lock.line));
    }
    return json_pack("{s:o,s:i,s:s,s:i,s:b,s:i,s:o,s:o}", "file", json_text(at.file), "line",
                     at.line, "access", s->write ? "write" : "read", "locks", (int)s->nheld, "main",
                     s->thread == 0, "thread", (int)s->thread, "stack", stack, "held", held);
}

json_t *race_json(const RaceTold *t, const RaceSeen *r)
{
    return json_pack("{s:I,s:o,s:o}", "seen", (json_int_t)r->seen, "first",
                     side_json(t, &r->race.first), "second", side_json(t, &r->race.second));
}

json_t *switch_json(const RaceTold *t, const struct sundew_side *stopped,
                    const struct sundew_side *ran)
{
    return json_pack("{s:o,s:o}", "stopped", side_json(t, stopped), "ran", side_json(t, ran));
}
