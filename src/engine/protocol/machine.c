/*
 * Automata: learned from cuts in one pass, and walked by others.
 *
 *     s = stack_new()   push(s)   peek(s)   pop(s)
 *
 *     [] ─▶ [stack_new] ─▶ [stack_new, push] ─▶ [push, peek] ─▶ [peek, pop]
 *
 * A label that comes twice in a row stays in its state. The state after a label depends only
 * on the state before and the label, so the automaton is deterministic.
 */
#include "engine/protocol/protocol_int.h"
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- the pieces */

Protocols *protocols_new(const ProtoApi *api)
{
    Protocols *ps = xcalloc(1, sizeof *ps);
    ps->api = api;
    return ps;
}

void protocols_free(Protocols *ps)
{
    if (!ps)
        return;
    for (size_t i = 0; i < ps->all.len; i++) {
        Protocol *p = ps->all.items[i];
        for (size_t k = 0; k < p->states.len; k++)
            vec_release(&p->states.items[k].edges);
        vec_release(&p->states);
        vec_release(&p->labels);
        map_release(&p->label_ids);
        map_release(&p->state_ids);
    }
    vec_release(&ps->all);
    vec_release(&ps->rules);
    map_release(&ps->by_types);
    map_release(&ps->seen);
    arena_release(&ps->arena);
    free(ps);
}

Protocol *const *protocols_all(const Protocols *ps, size_t *n)
{
    *n = ps->all.len;
    return ps->all.items;
}

/* "struct larder_cursor" is a cursor, "FILE" a file, "pthread_mutex_t" a mutex. */
static const char *param_name(Arena *a, const char *type)
{
    char *name = arena_strdup(a, type), *last = name, *word = NULL;
    size_t n = strlen(name);
    if (n > 2 && name[n - 2] == '_' && (name[n - 1] == 't' || name[n - 1] == 's'))
        name[n - 2] = 0;
    for (char *c = name; *c; c++)
        if ((*c == '_' || *c == ' ') && c[1])
            last = c + 1;
    for (word = last; *word; word++)
        *word = (char)tolower((unsigned char)*word);
    return *last ? last : "object";
}

static void name_params(Protocols *ps, Protocol *p, const char *const *types, unsigned n)
{
    p->params = arena_array(&ps->arena, const char *, n + 1);
    p->nparams = n;
    for (unsigned i = 0; i < n; i++) {
        unsigned same = 1;
        p->params[i] = param_name(&ps->arena, types[i]);
        for (unsigned k = 0; k < i; k++)
            same += !strcmp(p->params[k], p->params[i]);
        if (same > 1)
            p->params[i] = arena_printf(&ps->arena, "%s%u", p->params[i], same);
    }
}

Protocol *protocol_of(Protocols *ps, const char *const *types, unsigned n)
{
    Str key = { 0 };
    assert(n && n <= PROTO_MOST_PARAMS);
    for (unsigned i = 0; i < n; i++)
        str_addf(&key, "%s%s", i ? ", " : "", types[i]);
    void **slot = map_slot(&ps->by_types, str_c(&key));
    if (!*slot) {
        Protocol *p = *slot = arena_new(&ps->arena, Protocol);
        p->types = arena_strdup(&ps->arena, str_c(&key));
        name_params(ps, p, types, n);
        protocol_state(p, -1, -1, 0, true);
        vec_push(&ps->all, p);
    }
    Protocol *p = *slot;
    str_release(&key);
    return p;
}

static void label_text(const Protocol *p, const ProtoLabel *l, Str *out)
{
    for (unsigned i = 0; i < 3; i++)
        if (l->made[i])
            str_addf(out, "%s = ", p->params[l->made[i] - 1]);
    str_addf(out, "%s(", l->function);
    for (unsigned i = 0, n = 0; i < 4; i++)
        if (l->args[i])
            str_addf(out, "%s%s", n++ ? ", " : "", p->params[l->args[i] - 1]);
    str_addf(out, ")%s%s", *l->result ? " " : "", l->result);
}

int protocol_label(Protocols *ps, Protocol *p, const ProtoLabel *l, bool make)
{
    Str text = { 0 };
    label_text(p, l, &text);
    void **slot = make ? map_slot(&p->label_ids, str_c(&text)) : NULL;
    void *found = make ? *slot : map_get(&p->label_ids, str_c(&text));
    if (make && !found) {
        ProtoLabel own = *l;
        own.text = arena_strdup(&ps->arena, str_c(&text));
        own.function = arena_strdup(&ps->arena, l->function);
        own.result = arena_strdup(&ps->arena, l->result);
        vec_push(&p->labels, own);
        *slot = found = (void *)(uintptr_t)p->labels.len;
    }
    str_release(&text);
    return (int)(uintptr_t)found - 1;
}

int protocol_state(Protocol *p, int older, int newer, unsigned bound, bool make)
{
    int32_t key[3] = { older, newer, (int32_t)bound };
    void **slot = make ? map_slotn(&p->state_ids, key, sizeof key) : NULL;
    void *found = make ? *slot : map_getn(&p->state_ids, key, sizeof key);
    if (make && !found) {
        vec_push(&p->states, ((ProtoState){ .labels = { older, newer }, .bound = bound }));
        *slot = found = (void *)(uintptr_t)p->states.len;
    }
    return (int)(uintptr_t)found - 1;
}

void protocol_edge(Protocol *p, unsigned from, unsigned label, unsigned to, uint64_t count)
{
    ProtoState *s = &p->states.items[from];
    assert(label < p->labels.len && to < p->states.len);
    for (size_t i = 0; i < s->edges.len; i++)
        if (s->edges.items[i].label == label) {
            assert(s->edges.items[i].to == to);      /* deterministic */
            s->edges.items[i].count += count;
            return;
        }
    vec_push(&s->edges, ((ProtoEdge){ label, to, count }));
}

bool protocol_is_liable(const Protocol *p, const ProtoState *s)
{
    return s->bound == (1u << p->nparams) - 1;
}

/* ------------------------------------------------- the objects of a cut */

/* Receivers of a cut and the parameters that they play. */
typedef struct Roles {
    uint32_t objects[PROTO_MOST_PARAMS];     /* of parameter i + 1 */
    unsigned n;
} Roles;

static const char *type_name(const Protocols *ps, const ProtoRun *r, uint32_t o)
{
    return ps->api->types.items[r->objects.items[o - 1].type].name;
}

static bool roles_add(Roles *roles, uint32_t o)
{
    for (unsigned i = 0; i < roles->n; i++)
        if (roles->objects[i] == o)
            return true;
    if (roles->n == PROTO_MOST_PARAMS)
        return false;
    roles->objects[roles->n++] = o;
    return true;
}

/* By type; of one type in the order of appearance. */
static void roles_sort(const Protocols *ps, const ProtoRun *r, Roles *roles)
{
    for (unsigned i = 1; i < roles->n; i++)
        for (unsigned k = i; k > 0 && strcmp(type_name(ps, r, roles->objects[k - 1]),
                                             type_name(ps, r, roles->objects[k])) > 0;
             k--) {
            uint32_t o = roles->objects[k];
            roles->objects[k] = roles->objects[k - 1];
            roles->objects[k - 1] = o;
        }
}

static bool find_roles(const Protocols *ps, const ProtoRun *r, const ProtoCut *c, Roles *out)
{
    *out = (Roles){ 0 };
    if (c->alone)
        return roles_add(out, c->core);
    for (size_t i = 0; i < c->calls.len; i++) {
        uint32_t o = r->calls.items[c->calls.items[i]].objects[0];
        if (o && !roles_add(out, o))
            return false;
    }
    roles_sort(ps, r, out);
    return out->n > 0 && out->n <= PROTO_MOST_RECEIVERS;
}

static char role_of(const Roles *roles, uint32_t o)
{
    for (unsigned i = 0; o && i < roles->n; i++)
        if (roles->objects[i] == o)
            return (char)(i + 1);
    return 0;
}

static Protocol *protocol_for(Protocols *ps, const ProtoRun *r, const Roles *roles, bool make)
{
    const char *types[PROTO_MOST_PARAMS];
    Str key = { 0 };
    for (unsigned i = 0; i < roles->n; i++) {
        types[i] = type_name(ps, r, roles->objects[i]);
        str_addf(&key, "%s%s", i ? ", " : "", types[i]);
    }
    Protocol *p = make ? protocol_of(ps, types, roles->n) : map_get(&ps->by_types, str_c(&key));
    str_release(&key);
    return p;
}

/* ----------------------------------------------------------------- labels */

static const char *result_class(const ProtoFunction *f, const ProtoCall *c, char room[24])
{
    if (f->no_result || !c->returned)
        return "";
    if (f->pointer)
        return c->result ? "" : "= NULL";
    for (unsigned i = 0; i < f->nvalues; i++)
        if (c->result == f->values[i]) {
            snprintf(room, 24, "= %d", (int)c->result);
            return room;
        }
    for (unsigned i = 0; i < f->nplaces; i++)
        if (f->places[i].param == PROTO_RETURNED)
            return c->result < 0 ? "< 0" : "";
    return c->result < 0 ? "< 0" : c->result ? "> 0" : "= 0";
}

static ProtoLabel label_of(const Protocols *ps, const ProtoCall *c, const Roles *roles,
                           char room[24])
{
    const ProtoFunction *f = ps->api->functions.items[c->function];
    ProtoLabel l = { .function = f->name, .result = result_class(f, c, room) };
    for (unsigned i = 0; i < 3; i++)
        l.args[i] = role_of(roles, c->objects[i]);
    for (unsigned i = 0; i < 2; i++)
        l.made[i] = role_of(roles, c->made[i]);
    return l;
}

static unsigned bound_by(const ProtoLabel *l)
{
    unsigned bound = 0;
    for (unsigned i = 0; i < 2; i++)
        if (l->made[i])
            bound |= 1u << (l->made[i] - 1);
    return bound;
}

/* Does it speak of an object of the protocol at all? */
static bool concerns(const ProtoLabel *l)
{
    for (unsigned i = 0; i < 3; i++)
        if (l->args[i] || (i < 2 && l->made[i]))
            return true;
    return false;
}

/* ----------------------------------------------------------------- mining */

void protocols_mine_cut(Protocols *ps, const ProtoRun *r, const ProtoCut *c)
{
    Roles roles;
    if (!c->calls.len || !find_roles(ps, r, c, &roles))
        return;
    Protocol *p = protocol_for(ps, r, &roles, true);
    int older = -1, newer = -1, at = 0;
    unsigned bound = 0;
    for (size_t i = 0; i < c->calls.len; i++) {
        char room[24];
        ProtoLabel l = label_of(ps, &r->calls.items[c->calls.items[i]], &roles, room);
        if (!concerns(&l))
            continue;
        int label = protocol_label(ps, p, &l, true);
        bound |= bound_by(&l);
        if (label != newer) {
            older = newer;
            newer = label;
        }
        int next = protocol_state(p, older, newer, bound, true);
        protocol_edge(p, (unsigned)at, (unsigned)label, (unsigned)next, 1);
        at = next;
    }
    p->states.items[at].ends++;
    p->lives++;
    if (map_put(&ps->seen, p->types, p))
        p->runs++;
}

void protocols_mine(Protocols *ps, const ProtoRun *r)
{
    map_release(&ps->seen);
    assert(r->first || !r->calls.len);
    for (uint32_t o = 1; o <= r->objects.len; o++) {
        ProtoCut c;
        Roles roles;
        if (r->objects.items[o - 1].none)
            continue;
        proto_cut_alone(r, o, &c);
        if (proto_filter(ps->api, r, &c, NULL, 0))
            protocols_mine_cut(ps, r, &c);
        proto_cut_release(&c);
        proto_cut(r, o, &c);
        if (proto_filter(ps->api, r, &c, NULL, 0) && find_roles(ps, r, &c, &roles) && roles.n > 1)
            protocols_mine_cut(ps, r, &c);
        proto_cut_release(&c);
    }
}

/* --------------------------------------------------------------- checking */

/* One instance of a protocol on its way through a cut. */
typedef struct Walk {
    const Protocols *ps;
    Protocol *p;
    Roles roles;
    int at;                      /* state; -1: one that was never seen */
    int older, newer;            /* labels; -1: none, -2: never seen */
    const char *text;            /* of the last label */
    unsigned bound;
} Walk;

static bool is_in_alphabet(const Protocol *p, const char *function)
{
    for (size_t i = 0; i < p->labels.len; i++)
        if (!strcmp(p->labels.items[i].function, function))
            return true;
    return false;
}

static bool is_liable(const Walk *w) { return w->bound == (1u << w->p->nparams) - 1; }

static const char *text_of(Protocols *ps, const Protocol *p, const ProtoLabel *l)
{
    Str text = { 0 };
    label_text(p, l, &text);
    const char *copy = arena_strdup(&ps->arena, str_c(&text));
    str_release(&text);
    return copy;
}

static void walk_step(Walk *w, const ProtoCall *c)
{
    char room[24];
    ProtoLabel l = label_of(w->ps, c, &w->roles, room);
    if (!concerns(&l) || !is_in_alphabet(w->p, l.function))
        return;
    int label = protocol_label((Protocols *)w->ps, w->p, &l, false);
    unsigned bound = w->bound | bound_by(&l);
    const ProtoState *s = w->at >= 0 ? &w->p->states.items[w->at] : NULL;
    bool offered = false;
    for (size_t i = 0; s && i < s->edges.len; i++)
        offered |= label == (int)s->edges.items[i].label;
    /* What set-up states do not offer says nothing, but an object may become bound. */
    if (!offered && !is_liable(w) && bound == w->bound)
        return;
    w->bound = bound;
    if (label < 0 || label != w->newer) {
        w->older = w->newer;
        w->newer = label < 0 ? -2 : label;
        w->text = text_of((Protocols *)w->ps, w->p, &l);
    }
    w->at = protocol_state(w->p, w->older, w->newer, w->bound, false);
}

static bool same_places(const ProtoLabel *a, const ProtoLabel *b)
{
    return !strcmp(a->function, b->function) && !memcmp(a->args, b->args, sizeof a->args);
}

/* Does the state offer the call, whatever its result? */
static bool offers(const Protocol *p, const ProtoState *s, const ProtoLabel *l)
{
    for (size_t i = 0; i < s->edges.len; i++)
        if (same_places(&p->labels.items[s->edges.items[i].label], l))
            return true;
    return false;
}

/* The state itself; if it was never seen, all with the same last label: the call is out
 * of order if none of them offers it. If there is none of these either, all is new. */
static ProtoVerdict judge(const Walk *w, const ProtoLabel *l)
{
    const char *last = w->newer >= 0 ? w->p->labels.items[w->newer].function : "";
    const EdgeRule *rule = protocols_rule(w->ps, w->p, last, l->function);
    unsigned asked = 0;
    if (rule)
        return rule->wish == EDGE_PIN ? PROTO_ALLOWED : PROTO_BROKEN;
    if (!is_liable(w))
        return PROTO_SETUP;
    if (w->at >= 0)
        return offers(w->p, &w->p->states.items[w->at], l) ? PROTO_ALLOWED : PROTO_BROKEN;
    for (size_t i = 0; w->newer >= 0 && i < w->p->states.len; i++) {
        const ProtoState *s = &w->p->states.items[i];
        if (s->labels[1] != w->newer || s->bound != w->bound)
            continue;
        if (offers(w->p, s, l))
            return PROTO_ALLOWED;
        asked++;
    }
    return asked ? PROTO_BROKEN : PROTO_NOVEL;
}

static ProtoVerdict check_cut(const Protocols *ps, const ProtoRun *r, const ProtoCut *c,
                              uint32_t at, ProtoBreach *out)
{
    Walk w = { .ps = ps, .older = -1, .newer = -1 };
    char room[24];
    size_t i = 0;
    if (!find_roles(ps, r, c, &w.roles))
        return PROTO_NOT_KNOWN;
    w.p = protocol_for((Protocols *)ps, r, &w.roles, false);
    if (!w.p)
        return PROTO_NOT_KNOWN;
    for (; i < c->calls.len && c->calls.items[i] < at; i++)
        walk_step(&w, &r->calls.items[c->calls.items[i]]);
    if (i == c->calls.len || c->calls.items[i] != at)
        return PROTO_NOT_KNOWN;
    ProtoLabel l = label_of(ps, &r->calls.items[at], &w.roles, room);
    *out = (ProtoBreach){ .protocol = w.p,
                          .state = w.at,
                          .last = w.newer >= 0 ? w.newer : -1,
                          .object = c->core,
                          .after = w.text ? w.text : "" };
    return judge(&w, &l);
}

/* Cuts that have the call in them: of one core, alone and with its neighbours. A call of a
 * single function is cut, too: the walk needs no more. */
static ProtoVerdict check_core(const Protocols *ps, const ProtoRun *r, uint32_t core, uint32_t at,
                               ProtoBreach *out)
{
    const ProtoCall *call = &r->calls.items[at];
    ProtoVerdict best = PROTO_NOT_KNOWN;
    for (int alone = 1; alone >= 0 && best != PROTO_BROKEN; alone--) {
        ProtoBreach b;
        ProtoCut c;
        (alone ? proto_cut_alone : proto_cut)(r, core, &c);
        proto_filter(ps->api, r, &c, call->objects, 3);
        ProtoVerdict v = check_cut(ps, r, &c, at, &b);
        if (v > best) {
            best = v;
            *out = b;
        }
        proto_cut_release(&c);
    }
    return best;
}

/* NULL that a maker returned, and that a call could not stand. */
static bool check_none(const Protocols *ps, const ProtoRun *r, uint32_t o, ProtoBreach *out)
{
    const ProtoObject *x = &r->objects.items[o - 1];
    if (!x->none || !x->maker)
        return false;
    const char *maker = ps->api->functions.items[r->calls.items[x->maker - 1].function]->name;
    *out = (ProtoBreach){ .protocol = map_get(&ps->by_types, type_name(ps, r, o)),
                          .state = -1,
                          .last = -1,
                          .object = o,
                          .after = arena_printf(&((Protocols *)ps)->arena, "%s() = NULL", maker) };
    return true;
}

ProtoVerdict protocols_check(const Protocols *ps, const ProtoRun *r, uint32_t at, ProtoBreach *out)
{
    ProtoVerdict best = PROTO_NOT_KNOWN;
    const ProtoCall *call = &r->calls.items[at];
    assert(at < r->calls.len && r->first);
    for (unsigned i = 0; i < 3 && best != PROTO_BROKEN; i++) {
        uint32_t o = call->objects[i], cores[2] = { o, 0 };
        ProtoBreach b;
        if (!o)
            continue;
        if (check_none(ps, r, o, out))
            return PROTO_BROKEN;
        uint32_t maker = r->objects.items[o - 1].maker;
        cores[1] = maker ? r->calls.items[maker - 1].objects[0] : 0;
        for (unsigned k = 0; k < 2 && best != PROTO_BROKEN; k++) {
            ProtoVerdict v = cores[k] && (!k || cores[1] != o) ? check_core(ps, r, cores[k], at, &b)
                                                               : PROTO_NOT_KNOWN;
            if (v > best) {
                best = v;
                *out = b;
            }
        }
    }
    return best;
}
