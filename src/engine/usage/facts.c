/*
 * What holds in all observed calls.
 *
 *   ends       the call during which an object died; its last call, if somebody
 *              else was given it
 *   dropped    calls that leave the state alone, and calls that the library makes
 *              for itself: a list that closes its items is no example of a
 *              caller who closes an item
 *   fates      what becomes of the handle in each place of a function
 *   relations  between two places of a function
 *   bonds      between an object and those that it was made from or given to
 */
#include "engine/usage/usage_int.h"
#include <stdlib.h>
#include <string.h>

static bool from_example(const RawCall *c) { return c->via != VIA_LIBRARY; }

static bool lives_in(const RawCall *c, uint64_t event)
{
    return c->begin < event && event <= c->end;
}

/* Was the call made by the library while it worked on something else? The
 * outermost call around it that has the object in it decides. */
static bool is_internal(const RawUsage *raw, const Object *o, uint32_t call)
{
    uint32_t top = call;

    for (uint32_t c = raw->calls.items[call].parent; c != NO_CALL; c = raw->calls.items[c].parent)
        if (raw_part(o, c))
            top = c;
    return raw->calls.items[top].via == VIA_LIBRARY;
}

/* ---- ends */

/* The last call that began before an event. */
static uint32_t call_before(const RawUsage *raw, uint64_t event)
{
    size_t lo = 0, hi = raw->calls.len;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (raw->calls.items[mid].begin < event)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? (uint32_t)(lo - 1) : NO_CALL;
}

/* The outermost call of the API that was at work at an event. */
static uint32_t call_at(const RawUsage *raw, uint64_t event)
{
    uint32_t found = NO_CALL;

    for (uint32_t i = call_before(raw, event); i != NO_CALL; i = raw->calls.items[i].parent)
        if (raw->calls.items[i].api && lives_in(&raw->calls.items[i], event))
            found = i;
    return found;
}

static void mark_deaths(RawUsage *raw)
{
    for (size_t i = 0; i < raw->objects.len; i++) {
        Object *o = &raw->objects.items[i];
        if (o->died == UINT64_MAX)
            continue;
        o->killer = call_at(raw, o->died);
        for (size_t k = 0; k < o->parts.len; k++) {
            Part *p = &o->parts.items[k];
            const RawCall *c = &raw->calls.items[p->call];
            Places in = p->places & ~place_bit(API_RETURNED);
            if (lives_in(c, o->died) && in && !p->creates)
                p->ends = true;
        }
    }
}

/* ---- dropping */

/* The function of the library that a traced one is. */
static const Function *in_library(const RawUsage *raw, const RawCall *c)
{
    if (c->api)
        return c->api->fn;
    char *name = xprintf("%s:%s", c->fn->file, c->fn->name);
    const Function *fn = program_function(raw->api->program, name);
    free(name);
    return fn && fn->nparams == c->fn->nparams ? fn : NULL;
}

static bool is_unchanged(const RawUsage *raw, const MutFacts *facts, const RawCall *c,
                         Places places)
{
    const Function *fn = facts && c->library ? in_library(raw, c) : NULL;

    for (unsigned i = fn ? fn->nparams : 0; i < c->nparams && i < PLACES_LIMIT; i++)
        if (places & place_bit((int)i))
            return false;                    /* for "...": nobody knows */
    for (unsigned i = 0; fn && i < fn->nparams && i < PLACES_LIMIT; i++) {
        if (!(places & place_bit((int)i)))
            continue;
        const MutFact *x = mut_facts_param(facts, fn, i);
        if (!x || (x->deep.verdict != MUT_IMMUTABLE && !x->unchanged))
            return false;
    }
    return fn;
}

static bool is_only_returned(const Part *p)
{
    return !p->creates && !(p->places & ~place_bit(API_RETURNED));
}

/* The first call that handed the object to the example is how it began, as far
 * as the example can know. */
static void let_begin(const RawUsage *raw, Object *o)
{
    for (size_t i = 0; i < o->parts.len; i++)
        if (!o->parts.items[i].dropped && o->parts.items[i].creates &&
            raw->calls.items[o->parts.items[i].call].api)
            return;
    for (size_t i = 0; i < o->parts.len; i++) {
        Part *p = &o->parts.items[i];
        const RawCall *c = &raw->calls.items[p->call];
        if (p->internal || !c->api || !(p->places & place_bit(API_RETURNED)))
            continue;
        if (is_only_returned(p)) {
            p->dropped = false;
            p->creates = true;
            o->maker = p->call;
            o->borrowed = true;
        }
        return;
    }
}

static void drop_parts(RawUsage *raw, Object *o, const MutFacts *facts)
{
    bool shown = false;

    for (size_t i = 0; i < o->parts.len; i++) {
        Part *p = &o->parts.items[i];
        const RawCall *c = &raw->calls.items[p->call];
        p->internal = is_internal(raw, o, p->call);
        shown = shown || (c->api && !p->internal);
    }
    for (size_t i = 0; i < o->parts.len; i++) {
        Part *p = &o->parts.items[i];
        const RawCall *c = &raw->calls.items[p->call];
        p->dropped =
            (shown && p->internal) || is_only_returned(p) ||
            (!p->creates && !p->ends && !p->rebinds && is_unchanged(raw, facts, c, p->places));
    }
    let_begin(raw, o);
}

/* ---- fates */

typedef struct PlaceFacts {
    unsigned total, destroyed, taken, rebound;
} PlaceFacts;

/* Did the library close the object by itself? */
static bool is_closed_by_library(const Object *o)
{
    return o->killer != NO_CALL && !raw_part(o, o->killer);
}

static bool has_later_one(const RawUsage *raw, const RawCall *c, const Object *o)
{
    for (unsigned i = 0; i < c->nparams; i++)
        if (c->objects[i] != NO_OBJECT && raw->objects.items[c->objects[i]].died > o->died)
            return true;
    return false;
}

/* Was the object given away by this call? It is the example's first with the
 * object and another one which lived longer, and the library closed the object. */
static bool is_taken(const RawUsage *raw, uint32_t object, const Part *p)
{
    const Object *o = &raw->objects.items[object];

    if (!is_closed_by_library(o) || o->borrowed || o->callers || p->creates)
        return false;
    for (size_t i = 0; i < o->parts.len; i++) {
        const RawCall *c = &raw->calls.items[o->parts.items[i].call];
        if (c->api && from_example(c) && !o->parts.items[i].creates && has_later_one(raw, c, o))
            return o->parts.items[i].call == p->call;
    }
    return false;
}

static PlaceFacts **count_fates(const RawUsage *raw)
{
    PlaceFacts **all = xcalloc(raw->api->nfunctions + 1, sizeof *all);

    for (size_t i = 0; i < raw->api->nfunctions; i++)
        all[i] = xcalloc(raw->api->functions[i].nparams + 1, sizeof **all);
    for (uint32_t k = 0; k < raw->calls.len; k++) {
        const RawCall *c = &raw->calls.items[k];
        if (!c->api || !from_example(c))
            continue;
        for (unsigned i = 0; i < c->nparams && i < PLACES_LIMIT; i++) {
            const Object *o =
                c->objects[i] == NO_OBJECT ? NULL : &raw->objects.items[c->objects[i]];
            const Part *p = o ? raw_part(o, k) : NULL;
            if (!p || c->api->params[i].role == ROLE_HANDLE_OUT)
                continue;
            PlaceFacts *f = &all[c->api->index][i];
            f->total++;
            f->destroyed += p->ends && lives_in(c, o->died);
            f->rebound += p->rebinds;
            f->taken += is_taken(raw, c->objects[i], p);
        }
    }
    return all;
}

static void free_fates(const RawUsage *raw, PlaceFacts **all)
{
    for (size_t i = 0; i < raw->api->nfunctions; i++)
        free(all[i]);
    free(all);
}

static UsageFate fate_of(const PlaceFacts *f)
{
    if (f->rebound)
        return FATE_REBOUND;
    if (!f->destroyed && !f->taken)
        return FATE_STAYS;
    return f->destroyed == f->total ? FATE_DESTROYED
           : f->taken == f->total   ? FATE_TAKEN
                                    : FATE_VARIES;
}

void facts_of_ends(RawUsage *raw, const MutFacts *facts)
{
    mark_deaths(raw);
    for (size_t i = 0; i < raw->objects.len; i++)
        drop_parts(raw, &raw->objects.items[i], facts);
    PlaceFacts **fates = count_fates(raw);
    for (size_t i = 0; i < raw->objects.len; i++) {
        Object *o = &raw->objects.items[i];
        for (size_t k = 0; k < o->parts.len; k++) {
            Part *p = &o->parts.items[k];
            const RawCall *c = &raw->calls.items[p->call];
            for (unsigned j = 0; c->api && j < c->nparams && j < PLACES_LIMIT; j++)
                if ((p->places & place_bit((int)j)) && from_example(c) &&
                    fate_of(&fates[c->api->index][j]) == FATE_TAKEN) {
                    p->ends = true;
                    p->dropped = false;
                }
        }
    }
    free_fates(raw, fates);
}

/* ---- relations */

/* Of two places of a function. Bits say what held in every call so far. */
typedef struct Pair {
    unsigned total, met, same;
    unsigned lengths;              /* bits of the length relations that held */
    uint64_t first;                /* the length in the first call */
    bool varied;
} Pair;

enum { MOST_PLACES = PLACES_LIMIT + 1 };      /* the last is the result */

typedef struct Relations {
    const RawUsage *raw;
    Map met;                       /* pairs of objects */
    Pair **pairs;                  /* by function: MOST_PLACES squared, or NULL */
} Relations;

static void *meeting(uint32_t a, uint32_t b, uint32_t *key)
{
    key[0] = a < b ? a : b;
    key[1] = a < b ? b : a;
    return key;
}

static Pair *pair_of(Relations *r, const RawCall *c, unsigned a, unsigned b)
{
    Pair **all = &r->pairs[c->api->index];
    if (!*all)
        *all = xcalloc(MOST_PLACES * MOST_PLACES, sizeof **all);
    return &(*all)[a * MOST_PLACES + b];
}

static bool goes_in(const RawCall *c, unsigned i)
{
    return c->objects[i] != NO_OBJECT && i < c->nparams &&
           c->api->params[i].role != ROLE_HANDLE_OUT;
}

static void see_handles(Relations *r, const RawCall *c)
{
    uint32_t key[2];
    unsigned n = c->nparams < PLACES_LIMIT ? c->nparams : PLACES_LIMIT;

    for (unsigned i = 0; c->api && from_example(c) && i < n; i++)
        for (unsigned k = i + 1; k < n; k++) {
            if (!goes_in(c, i) || !goes_in(c, k))
                continue;
            Pair *p = pair_of(r, c, i, k);
            uint32_t a = c->objects[i], b = c->objects[k];
            p->total++;
            p->same += a == b;
            p->met += a != b && map_getn(&r->met, meeting(a, b, key), sizeof key) != NULL;
        }
    for (unsigned i = 0; i <= c->nparams; i++)
        for (unsigned k = i + 1; k <= c->nparams; k++)
            if (c->objects[i] != NO_OBJECT && c->objects[k] != NO_OBJECT &&
                c->objects[i] != c->objects[k])
                map_putn(&r->met, meeting(c->objects[i], c->objects[k], key), sizeof key,
                         (void *)1);
}

static bool is_length_role(ApiRole r) { return r == ROLE_INTEGER || r == ROLE_LENGTH; }

static bool is_data_role(ApiRole r)
{
    return r == ROLE_STRING || r == ROLE_BUFFER || r == ROLE_BUFFER_OUT || r == ROLE_POINTER ||
           r == ROLE_INOUT;
}

/* Of an array of numbers; else 1. */
static uint64_t element_size(const ApiPlace *p)
{
    const Type *t = p->role == ROLE_INOUT && p->type ? type_plain(p->type) : NULL;
    t = t && t->kind == TYPE_POINTER && t->target ? type_plain(t->target) : NULL;
    return t && t->size ? t->size : 1;
}

static unsigned lengths_that_hold(const RawCall *c, unsigned data, unsigned length)
{
    const SeqValue *v = &c->values[data];
    uint64_t n = c->values[length].integer, room = c->rooms[data];
    uint64_t one = element_size(&c->api->params[data]);
    unsigned bits = 0;

    if (one > 1)
        return v->kind == VALUE_BYTES && v->n > one && n == v->n / one ? 1u << RELATION_LENGTH_EXACT
                                                                       : 0;

    if (room && n <= room)
        bits |= 1u << RELATION_LENGTH;
    if (room && n == room)
        bits |= 1u << RELATION_LENGTH_EXACT;
    if (v->kind != VALUE_STRING && v->kind != VALUE_BYTES)
        return bits;
    const uint8_t *zero = v->n ? memchr(v->bytes, 0, v->n) : NULL;
    uint64_t text = zero ? (uint64_t)(zero - v->bytes) : v->n;
    if (v->kind == VALUE_STRING || zero || c->api->params[data].partner == (int)length) {
        if (n == text)
            bits |= 1u << RELATION_LENGTH_TEXT;
        if (n == text + 1)
            bits |= 1u << RELATION_LENGTH_TEXT_NUL;
    }
    if (n <= v->n)
        bits |= 1u << RELATION_LENGTH;
    return bits;
}

static void see_lengths(Relations *r, const RawCall *c)
{
    unsigned n = c->nparams < PLACES_LIMIT ? c->nparams : PLACES_LIMIT;

    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < n; k++) {
            if (!is_data_role(c->api->params[i].role) || !is_length_role(c->api->params[k].role) ||
                c->values[i].kind == VALUE_NULL || c->values[k].kind != VALUE_INTEGER)
                continue;
            Pair *p = pair_of(r, c, i, k);
            unsigned held = lengths_that_hold(c, i, k);
            if (!p->total++) {
                p->lengths = held;
                p->first = c->values[k].integer;
            }
            p->lengths &= held;
            p->varied = p->varied || p->first != c->values[k].integer;
        }
}

static void add_relation(Arena *a, UsageFunction *f, UsageRelation x)
{
    UsageRelation *more = arena_array(a, UsageRelation, f->nrelations + 1);
    if (f->nrelations)
        memcpy(more, f->relations, f->nrelations * sizeof *more);
    more[f->nrelations++] = x;
    f->relations = more;
}

/* One number beside a pointer may be its length by chance: the places must be
 * neighbours, or the API say so, or several values have shown it. */
static void add_length(Arena *a, UsageFunction *f, const Pair *p, int data, int length)
{
    static const UsageRelationKind best_first[] = {
        RELATION_LENGTH_TEXT,
        RELATION_LENGTH_TEXT_NUL,
        RELATION_LENGTH_EXACT,
        RELATION_LENGTH,
    };
    bool declared = f->function->params[data].partner == length;
    bool near = abs(data - length) == 1;

    for (size_t i = 0; i < 4; i++) {
        UsageRelationKind k = best_first[i];
        bool exact = k != RELATION_LENGTH;
        if (!(p->lengths & 1u << k) || !(declared || (exact && (p->varied || near))))
            continue;
        if (!declared && p->first == 0 && !p->varied)
            continue;
        add_relation(a, f, (UsageRelation){ k, data, length, p->total });
        return;
    }
}

static void relations_of(Arena *a, UsageFunction *f, const Pair *pairs)
{
    unsigned n = f->function->nparams < PLACES_LIMIT ? f->function->nparams : PLACES_LIMIT;
    const ApiPlace *params = f->function->params;

    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < n; k++) {
            const Pair *p = &pairs[i * MOST_PLACES + k];
            if (!p->total)
                continue;
            if (is_data_role(params[i].role)) {
                add_length(a, f, p, (int)i, (int)k);
                continue;
            }
            bool alike = params[i].handle == params[k].handle;
            if (p->same == p->total)
                add_relation(a, f, (UsageRelation){ RELATION_SAME, (int)i, (int)k, p->total });
            else if (alike && p->same == 0)
                add_relation(a, f, (UsageRelation){ RELATION_APART, (int)i, (int)k, p->total });
            if (p->met == p->total)
                add_relation(a, f, (UsageRelation){ RELATION_MET, (int)i, (int)k, p->total });
        }
}

/* ---- bonds */

typedef struct BondFacts {
    UsageBond bond;
    unsigned orders[4];
} BondFacts;

typedef Vec(BondFacts) BondList;

static UsageOrder order_of(const Object *child, const Object *owner)
{
    if (owner->died == UINT64_MAX || child->died == UINT64_MAX)
        return ORDER_ANY;
    if (is_closed_by_library(child))
        return ORDER_WITH_OWNER;
    return child->died < owner->died ? ORDER_CHILD_FIRST : ORDER_OWNER_FIRST;
}

static void see_bond(const RawUsage *raw, BondList *all, const RawCall *c, int child, int owner,
                     bool creates)
{
    unsigned ci = child == API_RETURNED ? c->nparams : (unsigned)child;
    const Object *x = &raw->objects.items[c->objects[ci]];
    const Object *y = &raw->objects.items[c->objects[owner]];
    BondFacts *b = NULL;

    for (size_t i = 0; i < all->len; i++)
        if (all->items[i].bond.by == c->api && all->items[i].bond.child == child &&
            all->items[i].bond.owner == owner)
            b = &all->items[i];
    if (!b) {
        b = vec_grow(all);
        b->bond = (UsageBond){ .by = c->api,
                               .child = child,
                               .owner = owner,
                               .child_type = x->type,
                               .owner_type = y->type,
                               .creates = creates };
    }
    b->bond.seen++;
    b->orders[order_of(x, y)]++;
}

/* Each other handle that goes into the call is an owner of one that comes out, or
 * is given away. */
static void see_bonds(const RawUsage *raw, BondList *all, uint32_t call)
{
    const RawCall *c = &raw->calls.items[call];

    for (unsigned i = 0; i <= c->nparams; i++) {
        int child = i == c->nparams ? API_RETURNED : (int)i;
        if (c->objects[i] == NO_OBJECT)
            continue;
        const Part *p = raw_part(&raw->objects.items[c->objects[i]], call);
        bool creates = p && p->creates;
        bool taken =
            p && p->ends && !creates && !lives_in(c, raw->objects.items[c->objects[i]].died);
        for (unsigned k = 0; (creates || taken) && k < c->nparams; k++)
            if (k != i && goes_in(c, k) && c->objects[k] != c->objects[i])
                see_bond(raw, all, c, child, (int)k, creates);
    }
}

static UsageOrder settle_order(const BondFacts *b)
{
    unsigned known = b->bond.seen - b->orders[ORDER_ANY];

    for (int o = ORDER_CHILD_FIRST; o <= ORDER_WITH_OWNER; o++)
        if (known && b->orders[o] == known)
            return (UsageOrder)o;
    return ORDER_ANY;
}

static void keep_bonds(Usage *m, const BondList *all)
{
    m->bonds = arena_array(&m->arena, UsageBond, all->len + 1);
    for (size_t i = 0; i < all->len; i++) {
        m->bonds[i] = all->items[i].bond;
        m->bonds[i].order = settle_order(&all->items[i]);
    }
    m->nbonds = all->len;
}

/* ---- everything */

static void keep_row(Arena *a, UsageFunction *f, const RawCall *c)
{
    for (size_t i = 0; i < f->nrows; i++)
        if (row_equal(f->rows[i].values, c->values, c->nparams)) {
            f->rows[i].count++;
            return;
        }
    if (f->nrows == MOST_ROWS)
        return;
    if (!f->rows)
        f->rows = arena_array(a, UsageRow, MOST_ROWS);
    f->rows[f->nrows++] = (UsageRow){ c->values, 1, NULL, 0, c->unknown };
}

static void count_calls(Usage *m, const RawUsage *raw)
{
    size_t n = m->api->nfunctions;

    m->functions = arena_array(&m->arena, UsageFunction, n + 1);
    m->function_of = arena_array(&m->arena, uint32_t, n + 1);
    memset(m->function_of, 0xff, (n + 1) * sizeof *m->function_of);
    for (size_t i = 0; i < raw->calls.len; i++) {
        const RawCall *c = &raw->calls.items[i];
        if (!c->api)
            continue;
        uint32_t *k = &m->function_of[c->api->index];
        if (*k == UINT32_MAX) {
            *k = (uint32_t)m->nfunctions++;
            m->functions[*k].function = c->api;
            m->functions[*k].fates = arena_array(&m->arena, UsageFate, c->nparams + 1);
        }
        m->functions[*k].calls += from_example(c);
        m->functions[*k].inner += !from_example(c);
        if (from_example(c))
            keep_row(&m->arena, &m->functions[*k], c);
    }
}

void facts_of_usage(Usage *m, const RawUsage *raw)
{
    Relations r = { .raw = raw };
    BondList bonds = { 0 };
    PlaceFacts **fates = count_fates(raw);

    r.pairs = xcalloc(m->api->nfunctions + 1, sizeof *r.pairs);
    count_calls(m, raw);
    for (uint32_t i = 0; i < raw->calls.len; i++) {
        const RawCall *c = &raw->calls.items[i];
        see_handles(&r, c);
        if (c->api && from_example(c)) {
            see_lengths(&r, c);
            see_bonds(raw, &bonds, i);
        }
    }
    for (size_t i = 0; i < m->nfunctions; i++) {
        UsageFunction *f = &m->functions[i];
        unsigned index = f->function->index;
        for (unsigned k = 0; k < f->function->nparams; k++)
            f->fates[k] = fate_of(&fates[index][k]);
        if (r.pairs[index])
            relations_of(&m->arena, f, r.pairs[index]);
    }
    keep_bonds(m, &bonds);
    for (size_t i = 0; i < m->api->nfunctions; i++)
        free(r.pairs[i]);
    free(r.pairs);
    map_release(&r.met);
    vec_release(&bonds);
    free_fates(raw, fates);
}
