/*
 * What the example itself did, as sequences.
 *
 * Objects that stood in one call belong together. All calls on such a group, in
 * order, are a sequence, if it is not too long. Else there is one for each object:
 * its calls, and those on other objects that they need, back to where these were
 * made; of that the beginning. Functions that have to do with no object are
 * sequences of one call.
 *
 * A call that can't be made again (an argument of which nothing is known, `...`)
 * is left out, and so is all that needs what it made.
 */
#include "engine/usage/usage_int.h"
#include "engine/sequence/pool.h"
#include <string.h>

enum {
    LONGEST = 40,
    MOST_REPLAYS = 200,
    MOST_ALONE = 6,
    RECORDED = 4096,           /* bytes of a buffer, at most */
};

typedef struct Replayer {
    Usage *usage;
    const RawUsage *raw;
    SeqValue *names;           /* by object: what a sequence calls it; VALUE_NONE */
    uint32_t *group;           /* by object: union-find */
    Vec(Seq *) all;
} Replayer;

static bool is_replayed(const RawCall *c)
{
    return c->api && c->via == VIA_EXAMPLE && c->returned && !c->api->not_callable &&
           !c->api->variadic;
}

static uint32_t group_of(const Replayer *r, uint32_t object)
{
    while (r->group[object] != object)
        object = r->group[object];
    return object;
}

static bool has_object(const RawCall *c)
{
    for (unsigned i = 0; i <= c->nparams; i++)
        if (c->objects[i] != NO_OBJECT)
            return true;
    return false;
}

/* ---- one call */

static bool stores_into(const RawCall *c, unsigned place)
{
    for (size_t i = 0; i < c->nstores; i++)
        if (c->stores[i].place == (int)place)
            return true;
    return false;
}

/* The handle in a place; false: there is no telling. */
static bool handle_value(const Replayer *r, Arena *a, Seq *s, const RawCall *c, uint32_t call,
                         unsigned i, SeqValue *out)
{
    uint32_t object = c->objects[i];
    const ApiPlace *p = &c->api->params[i];
    if (object == NO_OBJECT) {
        *out = value_null();
        return c->values[i].kind == VALUE_NULL;
    }
    *out = r->names[object];
    const Object *o = &r->raw->objects.items[object];
    if (out->kind != VALUE_NONE || o->maker != call || !o->callers || !p->handle->open)
        return out->kind != VALUE_NONE;
    if (stores_into(c, i)) {
        seq_storage(a, s, p->handle);
        *out = value_storage(s->n - 1, 0);
    } else {
        *out = value_room(p->handle->size);
    }
    return true;
}

static bool plain_value(const Replayer *r, Arena *a, const RawCall *c, unsigned i, SeqValue *out)
{
    const ApiPlace *p = &c->api->params[i];
    SeqValue v = pool_callback(r->raw->api, &c->values[i]);
    *out = value_copy(a, &v);
    if (out->kind == VALUE_NONE && pool_room(p))
        *out = value_room(pool_room(p));
    return out->kind != VALUE_NONE;
}

/* Of a buffer that is longer than what was recorded of it: no more than that. */
static void limit_lengths(const RawCall *c, SeqValue *args)
{
    for (unsigned i = 0; i < c->nparams; i++) {
        const ApiPlace *p = &c->api->params[i];
        const SeqValue *b = p->role == ROLE_LENGTH && p->partner >= 0 ? &args[p->partner] : NULL;
        if (b && (b->kind == VALUE_BYTES || b->kind == VALUE_STRING) && b->n >= RECORDED &&
            args[i].kind == VALUE_INTEGER && (int64_t)args[i].integer > (int64_t)b->n)
            args[i].integer = b->n;
    }
}

static bool arguments(const Replayer *r, Arena *a, Seq *s, const RawCall *c, uint32_t call,
                      SeqValue *args)
{
    for (unsigned i = 0; i < c->nparams; i++) {
        ApiRole role = c->api->params[i].role;
        bool ok = true;
        if (role == ROLE_HANDLE || role == ROLE_STORAGE)
            ok = handle_value(r, a, s, c, call, i, &args[i]);
        else if (role == ROLE_HANDLE_OUT)
            args[i] = value_room(sizeof(void *));
        else if (role == ROLE_HANDLE_INOUT)
            ok = false;
        else
            ok = plain_value(r, a, c, i, &args[i]);
        if (!ok)
            return false;
    }
    limit_lengths(c, args);
    return true;
}

/* What came out has a name from now on. */
static void name_results(const Replayer *r, const RawCall *c, uint32_t call, const SeqValue *args,
                         unsigned step)
{
    for (unsigned i = 0; i <= c->nparams; i++) {
        uint32_t object = c->objects[i];
        if (object == NO_OBJECT)
            continue;
        const Part *p = raw_part(&r->raw->objects.items[object], call);
        SeqValue *name = &r->names[object];
        if (name->kind != VALUE_NONE && !(p && p->rebinds))
            continue;
        if (i == c->nparams)
            *name = value_result(step);
        else if (c->api->params[i].role == ROLE_HANDLE_OUT)
            *name = value_stored(step, i);
        else
            *name = args[i].kind == VALUE_ROOM ? value_storage(step, i) : args[i];
    }
}

static void replay(const Replayer *r, Arena *a, Seq *s, uint32_t call)
{
    const RawCall *c = &r->raw->calls.items[call];
    SeqValue *args = arena_array(a, SeqValue, c->nparams + 1);
    unsigned before = s->n;
    if (!arguments(r, a, s, c, call, args)) {
        s->n = before;
        return;
    }
    for (size_t i = 0; i < c->nstores; i++)
        if (value_is_made(&args[c->stores[i].place]))
            seq_set(a, s, args[c->stores[i].place], c->stores[i].field, c->stores[i].value);
    SeqStep *st = seq_call(a, s, c->api);
    memcpy(st->args, args, c->nparams * sizeof *args);
    name_results(r, c, call, args, s->n - 1);
}

/* ---- which calls */

static void add(Replayer *r, const bool *wanted)
{
    Arena *a = &r->usage->arena;
    Seq *s = seq_new(a);
    memset(r->names, 0, (r->raw->objects.len + 1) * sizeof *r->names);
    for (uint32_t i = 0; i < r->raw->calls.len && s->n < LONGEST; i++)
        if (wanted[i] && s->n + r->raw->calls.items[i].nstores < LONGEST + 8)
            replay(r, a, s, i);
    for (size_t i = 0; i < r->all.len; i++)
        if (seq_equal(r->all.items[i], s))
            return;
    if (s->n && r->all.len < MOST_REPLAYS)
        vec_push(&r->all, s);
}

/* The calls on objects that have to do with this one; their number. */
static size_t calls_of_group(const Replayer *r, uint32_t group, bool *wanted)
{
    size_t n = 0;
    memset(wanted, 0, r->raw->calls.len);
    for (size_t i = 0; i < r->raw->calls.len; i++) {
        const RawCall *c = &r->raw->calls.items[i];
        for (unsigned k = 0; k <= c->nparams && is_replayed(c) && !wanted[i]; k++)
            wanted[i] = c->objects[k] != NO_OBJECT && group_of(r, c->objects[k]) == group;
        n += wanted[i] ? 1 + c->nstores : 0;
    }
    return n;
}

/* An object's calls and what they need. */
static void calls_of_object(const Replayer *r, uint32_t object, bool *wanted, bool *needed)
{
    memset(wanted, 0, r->raw->calls.len);
    memset(needed, 0, r->raw->objects.len);
    needed[object] = true;
    for (size_t i = r->raw->calls.len; i-- > 0;) {
        const RawCall *c = &r->raw->calls.items[i];
        for (unsigned k = 0; k <= c->nparams && is_replayed(c) && !wanted[i]; k++)
            wanted[i] = c->objects[k] != NO_OBJECT && needed[c->objects[k]];
        for (unsigned k = 0; k <= c->nparams && wanted[i]; k++)
            if (c->objects[k] != NO_OBJECT)
                needed[c->objects[k]] = true;
    }
}

static void find_groups(Replayer *r)
{
    for (uint32_t i = 0; i < r->raw->objects.len; i++)
        r->group[i] = i;
    for (size_t i = 0; i < r->raw->calls.len; i++) {
        const RawCall *c = &r->raw->calls.items[i];
        uint32_t first = NO_OBJECT;
        for (unsigned k = 0; k <= c->nparams && is_replayed(c); k++) {
            if (c->objects[k] == NO_OBJECT)
                continue;
            if (first == NO_OBJECT)
                first = group_of(r, c->objects[k]);
            r->group[group_of(r, c->objects[k])] = first;
        }
    }
}

static void add_objects(Replayer *r, bool *wanted)
{
    bool *needed = xcalloc(r->raw->objects.len + 1, 1);
    bool *done = xcalloc(r->raw->objects.len + 1, 1);
    for (uint32_t i = 0; i < r->raw->objects.len && r->all.len < MOST_REPLAYS; i++) {
        uint32_t group = group_of(r, i);
        if (!done[group]) {
            done[group] = true;
            bool fits = calls_of_group(r, group, wanted) <= LONGEST;
            add(r, wanted);
            if (fits)
                continue;
            done[group] = false;
        }
        calls_of_object(r, i, wanted, needed);
        add(r, wanted);
    }
    free(needed);
    free(done);
}

/* Functions without objects: a few different calls of each. */
static void add_alone(Replayer *r, bool *wanted)
{
    unsigned *seen = xcalloc(r->raw->api->nfunctions + 1, sizeof *seen);
    for (size_t i = 0; i < r->raw->calls.len; i++) {
        const RawCall *c = &r->raw->calls.items[i];
        if (!is_replayed(c) || has_object(c) || seen[c->api->index] >= MOST_ALONE)
            continue;
        size_t before = r->all.len;
        memset(wanted, 0, r->raw->calls.len);
        wanted[i] = true;
        add(r, wanted);
        seen[c->api->index] += (unsigned)(r->all.len - before);
    }
    free(seen);
}

void replays_make(Usage *m, const RawUsage *raw)
{
    Replayer r = { .usage = m, .raw = raw };
    bool *wanted = xcalloc(raw->calls.len + 1, 1);
    r.names = xcalloc(raw->objects.len + 1, sizeof *r.names);
    r.group = xcalloc(raw->objects.len + 1, sizeof *r.group);
    find_groups(&r);
    add_objects(&r, wanted);
    add_alone(&r, wanted);
    m->replays = arena_array(&m->arena, Seq *, r.all.len + 1);
    if (r.all.len)
        memcpy(m->replays, r.all.items, r.all.len * sizeof *m->replays);
    m->nreplays = r.all.len;
    vec_release(&r.all);
    free(r.names);
    free(r.group);
    free(wanted);
}
