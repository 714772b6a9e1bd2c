/*
 * What the example itself did, as sequences.
 *
 * Objects that stood in one call belong together. All calls on such a group, in
 * order, are a sequence, if it is not too long. Else there is one for each object:
 * its calls, and those on other objects that they need, back to where these were
 * made; of that the beginning. Functions that have to do with no object are
 * sequences of one call, or one sequence if they leave something behind.
 * Calls that set the library up (lib_init()) stand before all of them.
 *
 * A call that can't be made again (an argument of which nothing is known, `...`)
 * is left out, and so is all that needs what it made. Both are noted with a reason.
 *
 * The work is linear in the number of calls: traces have millions.
 */
#include "engine/usage/usage_int.h"
#include "engine/sequence/pool.h"
#include <string.h>
#include <strings.h>

enum {
    LONGEST = 120,
    LONGEST_OF_OBJECT = 60,    /* of a group that is longer */
    MOST_REPLAYS = 200,
    MOST_TRIES = 400,          /* sequences that are made, most of them alike */
    MOST_ALONE = 12,
    MOST_ALIKE = 3,            /* with other values only */
    MOST_PROLOGUE = 6,
    RECORDED = 4096,           /* bytes of a buffer, at most */
};

typedef Vec(uint32_t) Numbers;

typedef struct Replayer {
    Usage *usage;
    const RawUsage *raw;
    const UsagePlan *plan;
    SeqValue *names;           /* by object: what a sequence calls it; VALUE_NONE */
    bool *spoilt;              /* by object: a call on it was left out */
    Numbers touched;           /* objects whose name or spoilt is set */
    uint32_t *group;           /* by object: union-find */
    Numbers *calls;            /* by group: its calls */
    bool *lost;                /* by call: noted already */
    Numbers prologue;          /* calls that set the library up */
    Numbers wanted;            /* calls of the sequence that is made */
    Vec(Seq *) all;
    Vec(uint64_t) hashes;      /* of these */
    Map shapes;                /* of their functions -> how many there are */
    unsigned tries;
} Replayer;

/* ---- what can't be done again */

static const char *obstacle(const RawCall *c)
{
    return !c->returned           ? "it did not return"
           : c->api->variadic     ? "the recording does not show what goes with its \"...\""
           : c->api->not_callable ? c->api->not_callable
           : c->unknown           ? "a struct that the caller passes holds something that was not "
                                    "recorded, or that the library frees"
                                  : NULL;
}

static bool is_asked(const RawCall *c) { return c->api && c->via == VIA_EXAMPLE; }

static bool is_replayed(const RawCall *c) { return is_asked(c) && !obstacle(c); }

static void lose(Replayer *r, uint32_t call, const char *why)
{
    Usage *m = r->usage;
    const ApiFunction *f = api_plain(r->raw->calls.items[call].api);
    if (r->lost[call])
        return;
    r->lost[call] = true;
    for (size_t i = 0; i < m->losses.len; i++)
        if (m->losses.items[i].function == f && m->losses.items[i].why == why) {
            m->losses.items[i].calls++;
            return;
        }
    vec_push(&m->losses, ((UsageLoss){ f, why, 1 }));
}

/* ---- groups */

static uint32_t group_of(const Replayer *r, uint32_t object)
{
    while (r->group[object] != object) {
        r->group[object] = r->group[r->group[object]];
        object = r->group[object];
    }
    return object;
}

static uint32_t first_object(const RawCall *c)
{
    for (unsigned i = 0; i <= c->nparams; i++)
        if (c->objects[i] != NO_OBJECT)
            return c->objects[i];
    return NO_OBJECT;
}

static void find_groups(Replayer *r)
{
    for (uint32_t i = 0; i < r->raw->objects.len; i++)
        r->group[i] = i;
    for (size_t i = 0; i < r->raw->calls.len; i++) {
        const RawCall *c = &r->raw->calls.items[i];
        uint32_t first = is_replayed(c) ? first_object(c) : NO_OBJECT;
        for (unsigned k = 0; first != NO_OBJECT && k <= c->nparams; k++)
            if (c->objects[k] != NO_OBJECT)
                r->group[group_of(r, c->objects[k])] = group_of(r, first);
    }
    for (uint32_t i = 0; i < r->raw->calls.len; i++) {
        const RawCall *c = &r->raw->calls.items[i];
        uint32_t first = is_asked(c) ? first_object(c) : NO_OBJECT;
        if (first != NO_OBJECT)
            vec_push(&r->calls[group_of(r, first)], i);
    }
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
    bool given = p->role == ROLE_RECORD || p->role == ROLE_INOUT ||
                 (p->role == ROLE_STRING_OUT && p->is_read);
    if (out->kind == VALUE_NONE && pool_room(p) && !given)
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

/* All arguments; else why there is none for a place. */
static const char *arguments(const Replayer *r, Arena *a, Seq *s, const RawCall *c, uint32_t call,
                             SeqValue *args)
{
    for (unsigned i = 0; i < c->nparams; i++) {
        ApiRole role = c->api->params[i].role;
        if (role == ROLE_HANDLE || role == ROLE_STORAGE) {
            if (!handle_value(r, a, s, c, call, i, &args[i]))
                return "it takes an object that no repeated call has made";
        } else if (role == ROLE_HANDLE_OUT) {
            args[i] = value_room(sizeof(void *));
        } else if (role == ROLE_HANDLE_INOUT) {
            return "it takes a pointer to a handle that it may replace";
        } else if (!plain_value(r, a, c, i, &args[i])) {
            return "the recording does not show what one of its pointers leads to";
        }
    }
    limit_lengths(c, args);
    return NULL;
}

static void touch(Replayer *r, uint32_t object)
{
    if (r->names[object].kind == VALUE_NONE && !r->spoilt[object])
        vec_push(&r->touched, object);
}

/* What came out has a name from now on. */
static void name_results(Replayer *r, const RawCall *c, uint32_t call, const SeqValue *args,
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
        touch(r, object);
        if (i == c->nparams)
            *name = value_result(step);
        else if (c->api->params[i].role == ROLE_HANDLE_OUT)
            *name = value_stored(step, i);
        else
            *name = args[i].kind == VALUE_ROOM ? value_storage(step, i) : args[i];
    }
}

/* Is it as in the example? Not if an object missed a call, or a callback does nothing. */
static bool is_exact(const Replayer *r, const RawCall *c, const SeqValue *args)
{
    for (unsigned i = 0; i < c->nparams; i++)
        if ((c->objects[i] != NO_OBJECT && r->spoilt[c->objects[i]]) ||
            (args[i].kind == VALUE_FUNCTION && !args[i].symbol))
            return false;
    return true;
}

static void spoil(Replayer *r, const RawCall *c)
{
    for (unsigned i = 0; i <= c->nparams; i++)
        if (c->objects[i] != NO_OBJECT) {
            touch(r, c->objects[i]);
            r->spoilt[c->objects[i]] = true;
        }
}

static SeqValue expected(const RawCall *c)
{
    SeqValue handle = { .kind = VALUE_SELF };
    return c->objects[c->nparams] != NO_OBJECT ? handle : c->result;
}

static void replay(Replayer *r, Arena *a, Seq *s, uint32_t call)
{
    const RawCall *c = &r->raw->calls.items[call];
    SeqValue *args = arena_array(a, SeqValue, c->nparams + 1);
    unsigned before = s->n;
    const char *why = obstacle(c);
    why = why ? why : arguments(r, a, s, c, call, args);
    if (why) {
        s->n = before;
        lose(r, call, why);
        spoil(r, c);
        return;
    }
    for (size_t i = 0; i < c->nstores; i++)
        if (value_is_made(&args[c->stores[i].place]))
            seq_set(a, s, args[c->stores[i].place], c->stores[i].field, c->stores[i].value);
    SeqStep *st = seq_call(a, s, c->api);
    memcpy(st->args, args, c->nparams * sizeof *args);
    st->divergent = !is_exact(r, c, args);
    st->expected = expected(c);
    name_results(r, c, call, args, s->n - 1);
}

/* ---- sequences */

static void mix(uint64_t *h, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *h = (*h ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
}

static uint64_t hash_of(const Seq *s)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (unsigned i = 0; i < s->n; i++) {
        const SeqStep *st = &s->steps[i];
        mix(&h, &st->f, sizeof st->f);
        for (unsigned k = 0; k < st->nargs; k++) {
            const SeqValue *v = &st->args[k];
            mix(&h, &v->kind, sizeof v->kind);
            mix(&h, &v->integer, sizeof v->integer);
            mix(&h, &v->n, sizeof v->n);
            if (v->kind == VALUE_STRING || v->kind == VALUE_BYTES)
                mix(&h, v->bytes, v->n);
        }
    }
    return h;
}

static bool is_known(const Replayer *r, const Seq *s, uint64_t hash)
{
    for (size_t i = 0; i < r->all.len; i++)
        if (r->hashes.items[i] == hash && seq_equal(r->all.items[i], s))
            return true;
    return false;
}

/* A few that only differ in their values are enough. */
static bool is_welcome(Replayer *r, const Seq *s)
{
    uint64_t shape = 0xcbf29ce484222325u;
    for (unsigned i = 0; i < s->n; i++)
        mix(&shape, &s->steps[i].f, sizeof s->steps[i].f);
    uintptr_t *n = (uintptr_t *)map_slotn(&r->shapes, &shape, sizeof shape);
    return (*n)++ < (s->n == 1 ? MOST_ALONE : MOST_ALIKE);
}

static void forget_names(Replayer *r)
{
    for (size_t i = 0; i < r->touched.len; i++) {
        r->names[r->touched.items[i]] = (SeqValue){ 0 };
        r->spoilt[r->touched.items[i]] = false;
    }
    r->touched.len = 0;
}

static bool is_enough(const Replayer *r)
{
    return r->tries >= MOST_TRIES || r->all.len >= MOST_REPLAYS ||
           (r->plan->stop && r->plan->stop(r->plan->arg));
}

static void set_up(Replayer *r, Arena *a, Seq *s, uint32_t call)
{
    unsigned n = s->n;
    replay(r, a, s, call);
    for (; n < s->n; n++)
        s->steps[n].prologue = true;
}

/* The sequence of the calls in r->wanted, after what sets the library up. */
static void add(Replayer *r, unsigned longest)
{
    Arena *a = &r->usage->arena;
    Seq *s = seq_new(a);
    size_t n = r->wanted.len, before = 0;
    unsigned setting_up = 0;
    r->tries++;
    for (size_t i = 0; i < n && s->n < longest; i++) {
        uint32_t call = r->wanted.items[i];
        for (; before < r->prologue.len && r->prologue.items[before] <= call; before++)
            if (r->prologue.items[before] < call)
                set_up(r, a, s, r->prologue.items[before]);
        setting_up = i ? setting_up : s->n;
        if (s->n + r->raw->calls.items[call].nstores < longest + 8)
            replay(r, a, s, call);
    }
    forget_names(r);
    uint64_t hash = hash_of(s);
    if (s->n == setting_up || is_known(r, s, hash) || !is_welcome(r, s))
        return;
    vec_push(&r->all, s);
    vec_push(&r->hashes, hash);
}

static size_t length_of(const Replayer *r, const Numbers *calls)
{
    size_t n = 0;
    for (size_t i = 0; i < calls->len; i++)
        n += 1 + r->raw->calls.items[calls->items[i]].nstores;
    return n;
}

static void want_all(Replayer *r, const Numbers *calls)
{
    r->wanted.len = 0;
    for (size_t i = 0; i < calls->len; i++)
        vec_push(&r->wanted, calls->items[i]);
}

/* Is a call about objects that are needed, and about no others? */
static bool is_about(const RawCall *c, const bool *needed)
{
    for (unsigned i = 0; i <= c->nparams; i++)
        if (c->objects[i] != NO_OBJECT && !needed[c->objects[i]])
            return false;
    return true;
}

static bool has_object(const RawCall *c, uint32_t object)
{
    for (unsigned i = 0; i <= c->nparams; i++)
        if (c->objects[i] == object)
            return true;
    return false;
}

/* An object's calls among those of its group, and what they need: other children of its
 * parents are left out. */
static void want_object(Replayer *r, uint32_t object, const Numbers *calls, bool *needed,
                        Numbers *marked)
{
    r->wanted.len = marked->len = 0;
    needed[object] = true;
    vec_push(marked, object);
    for (size_t i = calls->len; i-- > 0;) {
        const RawCall *c = &r->raw->calls.items[calls->items[i]];
        bool wanted = has_object(c, object) || is_about(c, needed);
        for (unsigned k = 0; k <= c->nparams && wanted && is_replayed(c); k++)
            if (c->objects[k] != NO_OBJECT && !needed[c->objects[k]]) {
                needed[c->objects[k]] = true;
                vec_push(marked, c->objects[k]);
            }
        if (wanted)
            vec_push(&r->wanted, calls->items[i]);
    }
    for (size_t i = 0; i < r->wanted.len / 2; i++) {
        uint32_t x = r->wanted.items[i];
        r->wanted.items[i] = r->wanted.items[r->wanted.len - 1 - i];
        r->wanted.items[r->wanted.len - 1 - i] = x;
    }
    for (size_t i = 0; i < marked->len; i++)
        needed[marked->items[i]] = false;
}

static void add_objects(Replayer *r)
{
    bool *needed = xcalloc(r->raw->objects.len + 1, 1);
    uint8_t *done = xcalloc(r->raw->objects.len + 1, 1);
    Numbers marked = { 0 };
    for (uint32_t i = 0; i < r->raw->objects.len && !is_enough(r); i++) {
        uint32_t group = group_of(r, i);
        const Numbers *calls = &r->calls[group];
        if (!done[group] && calls->len) {
            done[group] = length_of(r, calls) <= LONGEST ? 2 : 1;
            want_all(r, calls);
            add(r, LONGEST);
        }
        if (done[group] != 1)
            continue;
        want_object(r, i, calls, needed, &marked);
        add(r, LONGEST_OF_OBJECT);
    }
    vec_release(&marked);
    free(needed);
    free(done);
}

/* ---- functions without objects */

static bool is_setting_up(const RawCall *c)
{
    static const char *const words[] = { "init", "setup", "set_up", "startup", "register" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(c->fn->name, words[i]) && !strcasestr(c->fn->name, "deinit") &&
            !strcasestr(c->fn->name, "uninit"))
            return true;
    return false;
}

static bool is_alone(const RawCall *c) { return is_asked(c) && first_object(c) == NO_OBJECT; }

/* Does it do nothing that its caller sees? Then it leaves something behind. */
static bool leaves_something(const RawCall *c)
{
    if (c->api->result.role != ROLE_NOTHING)
        return false;
    for (unsigned i = 0; i < c->nparams; i++)
        switch (c->api->params[i].role) {
        case ROLE_OUT:
        case ROLE_INOUT:
        case ROLE_BUFFER_OUT:
        case ROLE_STRING_OUT:
        case ROLE_LENGTH_INOUT:
        case ROLE_RECORD:
        case ROLE_HANDLE_OUT: return false;
        default: break;
        }
    return true;
}

static void find_prologue(Replayer *r)
{
    for (uint32_t i = 0; i < r->raw->calls.len && r->prologue.len < MOST_PROLOGUE; i++) {
        const RawCall *c = &r->raw->calls.items[i];
        bool known = false;
        if (!is_alone(c) || !is_replayed(c) || !is_setting_up(c))
            continue;
        for (size_t k = 0; k < r->prologue.len && !known; k++)
            known = r->raw->calls.items[r->prologue.items[k]].api == c->api;
        if (!known)
            vec_push(&r->prologue, i);
    }
}

/* A few different calls of each; or all as one sequence. */
static void add_alone(Replayer *r)
{
    unsigned *seen = xcalloc(r->raw->api->nfunctions + 1, sizeof *seen);
    Numbers all = { 0 };
    bool together = false;
    for (uint32_t i = 0; i < r->raw->calls.len; i++) {
        const RawCall *c = &r->raw->calls.items[i];
        if (!is_alone(c))
            continue;
        if (all.len < LONGEST)
            vec_push(&all, i);
        together |= leaves_something(c) && !is_setting_up(c);
    }
    want_all(r, &all);
    if (together && all.len)
        add(r, LONGEST);
    r->tries = 0;
    for (size_t i = 0; i < r->raw->calls.len && !together && !is_enough(r); i++) {
        const RawCall *c = &r->raw->calls.items[i];
        if (!is_alone(c) || seen[c->api->index] >= MOST_ALONE)
            continue;
        size_t before = r->all.len;
        r->wanted.len = 0;
        vec_push(&r->wanted, (uint32_t)i);
        add(r, LONGEST);
        seen[c->api->index] += (unsigned)(r->all.len - before);
    }
    vec_release(&all);
    free(seen);
}

void replays_make(Usage *m, const RawUsage *raw, const UsagePlan *plan)
{
    Replayer r = { .usage = m, .raw = raw, .plan = plan };
    size_t nobjects = raw->objects.len + 1;
    r.names = xcalloc(nobjects, sizeof *r.names);
    r.spoilt = xcalloc(nobjects, sizeof *r.spoilt);
    r.group = xcalloc(nobjects, sizeof *r.group);
    r.calls = xcalloc(nobjects, sizeof *r.calls);
    r.lost = xcalloc(raw->calls.len + 1, sizeof *r.lost);
    find_groups(&r);
    find_prologue(&r);
    add_objects(&r);
    add_alone(&r);
    m->replays = arena_array(&m->arena, Seq *, r.all.len + 1);
    if (r.all.len)
        memcpy(m->replays, r.all.items, r.all.len * sizeof *m->replays);
    m->nreplays = r.all.len;
    for (size_t i = 0; i < raw->objects.len; i++)
        vec_release(&r.calls[i]);
    vec_release(&r.all);
    vec_release(&r.hashes);
    map_release(&r.shapes);
    vec_release(&r.touched);
    vec_release(&r.prologue);
    vec_release(&r.wanted);
    free(r.names);
    free(r.spoilt);
    free(r.group);
    free(r.calls);
    free(r.lost);
}
