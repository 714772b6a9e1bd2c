/*
 * Is a function handed the damage, the very pointer whose use fails?
 *
 * Each pointer to nothing in its state may be that one. They all become wild addresses, each
 * another, and the test says by the address that it fails with which it used: at the same place,
 * that was the damage; elsewhere, the program looks at that pointer before, and it stays as it was
 * from then on. Where the others lead the test another way, half of them are tried, and then the
 * other half.
 *
 * Null one or two pointers away from the arguments is damage. Further away, or in a variable, it
 * is if the program never asks whether that is null: then whoever should have set it is wrong. Else
 * this function might have had to ask.
 */
#include "technique/reproduce/reproduce_int.h"
#include <inttypes.h>
#include <string.h>

#define NULL_PAGE   65536
#define MOST_BAD    256                     /* pointers that may be it */
#define MOST_TRIALS 48
#define WILD        UINT64_C(0x5e5e00000000)   /* an address of nothing */
#define WILD_STEP   (UINT64_C(1) << 24)

typedef struct Search {
    Reproduction *rp;
    const Candidate *c;
    const char *binary;
    unsigned test;
    RestoreBads bad;
    bool out[MOST_BAD]; /* those that it is not */
    unsigned trials;
} Search;

/* May the access that failed have used this pointer? */
static bool is_near(const void *arg, uint64_t value)
{
    const Ending *e = arg;
    uint64_t high = value >> 47;
    if (e->nowhere)
        return high && high != 0x1ffff;
    return e->address - value + NULL_PAGE < 2 * NULL_PAGE;
}

/* Makes some of them wild. Which of them is the address of the failure? SIZE_MAX: none. */
static size_t used_of(Search *s, size_t from, size_t to, bool *same_place)
{
    Ending e = { 0 };
    Str poke = { 0 };
    for (size_t i = from; i < to; i++)
        if (!s->out[i])
            str_addf(&poke, "%s%zu:%" PRIu64 ":%" PRIu64, poke.len ? "," : "",
                     s->bad.items[i].object, s->bad.items[i].offset, WILD + i * WILD_STEP);
    TrialPlan plan = { .test = s->test, .state = s->binary, .poke = str_c(&poke), .seconds = 2 };
    candidate_with_files(s->rp, &plan);
    size_t found = SIZE_MAX;
    s->trials += poke.len > 0;
    if (poke.len && trial_run(s->rp->trial, s->binary, &plan, &e, NULL) && e.has_address) {
        uint64_t i = (e.address - WILD + NULL_PAGE) / WILD_STEP;
        bool close = (e.address - WILD + NULL_PAGE) % WILD_STEP < 2 * NULL_PAGE;
        found = close && i >= from && i < to && !s->out[i] ? (size_t)i : SIZE_MAX;
        *same_place = e.trace.len && ending_same_place(&s->c->ending, &e);
    }
    s->trials += e.kind == FAILURE_TIMEOUT || e.kind == FAILURE_HANG ? MOST_TRIALS / 4 : 0;
    ending_release(&e);
    str_release(&poke);
    return found;
}

/* The one whose use fails, of some; SIZE_MAX: none of them, as far as was tried. */
static size_t find_used(Search *s, size_t from, size_t to)
{
    while (from < to && s->trials < MOST_TRIALS) {
        bool same_place = false, alone = false;
        size_t i = used_of(s, from, to, &same_place);
        if (i == SIZE_MAX) {
            size_t middle = from + (to - from) / 2, found = SIZE_MAX;
            if (to - from > 1)
                found = find_used(s, from, middle);
            return found != SIZE_MAX || to - from < 2 ? found : find_used(s, middle, to);
        }
        if (same_place && used_of(s, i, i + 1, &alone) == i && alone)
            return i;
        s->out[i] = true;
    }
    return SIZE_MAX;
}

static bool has_null(Put put)
{
    bool found = false;
    for (unsigned i = 0; i < put.n; i++)
        found |= put.constants[i] == 0;
    return found;
}

/* Does the program ask anywhere whether it is null? Of a member it is enough that it puts null
 * there itself. */
static bool may_be_null(Reproduction *rp, const RestoreBad *bad)
{
    if (!rp->units)
        rp->units = units_new(rp->program);
    if (bad->record)
        return units_is_tested(rp->units, units_field(rp->units, bad->record, bad->member)) ||
               has_null(units_put_field(rp->units, bad->record, bad->member));
    return bad->variable && units_is_tested(rp->units, units_variable(rp->units, bad->variable));
}

const char *damage_find(Reproduction *rp, const Candidate *c, const char *binary, unsigned test)
{
    const Ending *e = &c->ending;
    const char *text = NULL;
    if (e->kind != FAILURE_SIGNAL || (!e->has_address && !e->nowhere) ||
        strcmp(c->fn->name, "main") == 0)
        return NULL;
    Search s = { .rp = rp, .c = c, .binary = binary, .test = test };
    RestoreSearch search = { .near = is_near,
                             .arg = e,
                             .null = e->has_address && e->address < NULL_PAGE,
                             .depth = 1,
                             .most = MOST_BAD };
    restore_bad_pointers(c->restore, &search, &s.bad);
    size_t i = find_used(&s, 0, s.bad.len);
    if (i != SIZE_MAX) {
        const RestoreBad *bad = &s.bad.items[i];
        if (!bad->null || bad->handed || !may_be_null(rp, bad))
            text = arena_printf(&rp->arena, "%s is %s", bad->text,
                                bad->null ? "null" : "a bad pointer");
    }
    vec_release(&s.bad);
    return text;
}
