/*
 * The user's file: what may not be called, what must come first, what is to be
 * called more often.
 *
 *     forbid  FUNCTION
 *     forbid  FUNCTION after  FUNCTION
 *     require FUNCTION before FUNCTION
 *     weight  FUNCTION NUMBER
 *
 * each with "on TYPE" behind it, if it is meant for one handle type only. What
 * speaks of two functions needs to know an object's past: a graph is multiplied
 * with one bit for each such rule, which says whether the first call was seen.
 */
#include "base/file.h"
#include "engine/usage/usage_int.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 8, MOST_PAIRS = 16 };

typedef enum { RULE_FORBID, RULE_WEIGHT, RULE_FORBID_AFTER, RULE_REQUIRE } RuleKind;

typedef struct UserRule {
    RuleKind kind;
    const ApiFunction *function;   /* the one that is ruled */
    const ApiFunction *other;      /* must have come before, or may not have */
    const ApiType *type;           /* NULL: all */
    double weight;
    unsigned line;
    bool used;
} UserRule;

typedef struct Rules {
    const Api *api;
    const char *path;
    Vec(UserRule) rules;
} Rules;

/* ---- reading */

static bool wrong(const Rules *r, unsigned line, Err *err, const char *what, const char *word)
{
    return err_set(err, "%s:%u: %s '%s'", r->path, line, what, word);
}

static const ApiFunction *function_named(const Rules *r, const char *word, unsigned line, Err *err)
{
    const ApiFunction *f = api_function(r->api, word);
    if (!f)
        wrong(r, line, err, "the API has no function", word);
    return f;
}

static const ApiType *type_named(const Rules *r, const char *text, unsigned line, Err *err)
{
    for (size_t i = 0; i < r->api->ntypes; i++) {
        const char *name = r->api->types[i].name, *bare = strchr(name, ' ');
        if (strcmp(name, text) == 0 || (bare && strcmp(bare + 1, text) == 0))
            return &r->api->types[i];
    }
    wrong(r, line, err, "the API has no handle type", text);
    return NULL;
}

static bool parse_weight(const Rules *r, const char *word, UserRule *u, Err *err)
{
    char *end;

    errno = 0;
    u->weight = strtod(word, &end);
    if (errno || *end || end == word || !isfinite(u->weight) || u->weight < 0 || u->weight > 1e6)
        return wrong(r, u->line, err, "no weight from 0 to 1000000:", word);
    return true;
}

/* The words of a line, without "on TYPE"; that goes to the rule. */
static bool split_off_type(const Rules *r, char **words, size_t *n, UserRule *u, Err *err)
{
    for (size_t i = 1; i < *n; i++) {
        if (strcmp(words[i], "on") != 0)
            continue;
        if (i + 1 == *n)
            return wrong(r, u->line, err, "a handle type must follow", "on");
        char *name =
            i + 2 < *n ? xprintf("%s %s", words[i + 1], words[i + 2]) : xstrdup(words[i + 1]);
        u->type = type_named(r, name, u->line, err);
        free(name);
        if (u->type && i + 3 < *n)
            return wrong(r, u->line, err, "too much:", words[i + 3]);
        *n = i;
        return u->type;
    }
    return true;
}

static bool parse_rule(Rules *r, char **words, size_t n, UserRule *u, Err *err)
{
    static const char *const verbs[] = { "forbid", "require", "weight", NULL };
    const char *const *verb = verbs;

    while (*verb && strcmp(*verb, words[0]) != 0)
        verb++;
    if (!*verb)
        return wrong(r, u->line, err, "a rule begins with forbid, require or weight, not",
                     words[0]);
    if (!split_off_type(r, words, &n, u, err))
        return false;
    if (n < 2)
        return wrong(r, u->line, err, "a function must follow", words[0]);
    if (!(u->function = function_named(r, words[1], u->line, err)))
        return false;
    bool is_forbid = verb == verbs, is_require = verb == verbs + 1;
    if (is_forbid && n == 2)
        return u->kind = RULE_FORBID, true;
    if (verb == verbs + 2) {
        u->kind = RULE_WEIGHT;
        return n == 3 ? parse_weight(r, words[2], u, err)
                      : wrong(r, u->line, err, "one number must follow", words[1]);
    }
    const char *joint = is_require ? "before" : "after";
    if (n != 4 || strcmp(words[2], joint) != 0)
        return wrong(r, u->line, err,
                     is_require ? "'before FUNCTION' must follow"
                                : "nothing or 'after FUNCTION' must follow",
                     words[1]);
    const ApiFunction *second = function_named(r, words[3], u->line, err);
    u->kind = is_require ? RULE_REQUIRE : RULE_FORBID_AFTER;
    u->other = is_require ? u->function : second;
    if (is_require)
        u->function = second;
    return second;
}

static bool parse_line(Rules *r, char *text, unsigned line, Err *err)
{
    char *words[MOST_WORDS], *save = NULL;
    size_t n = 0;

    text[strcspn(text, "#")] = 0;
    for (char *w = strtok_r(text, " \t\r", &save); w; w = strtok_r(NULL, " \t\r", &save)) {
        if (n == MOST_WORDS)
            return wrong(r, line, err, "too many words:", w);
        words[n++] = w;
    }
    if (!n)
        return true;
    UserRule u = { .line = line };
    if (!parse_rule(r, words, n, &u, err))
        return false;
    vec_push(&r->rules, u);
    return true;
}

static bool read_rules(Rules *r, Err *err)
{
    Str text = { 0 };
    bool ok = file_read(r->path, &text, err);
    unsigned line = 0;

    if (ok && memchr(str_c(&text), 0, text.len))
        ok = err_set(err, "%s: not a text file", r->path);
    for (char *at = ok && text.len ? text.data : NULL; ok && at;) {
        char *end = strchr(at, '\n');
        if (end)
            *end++ = 0;
        ok = parse_line(r, at, ++line, err);
        at = end;
    }
    str_release(&text);
    return ok;
}

/* ---- applying */

/* The rules about two functions that matter for a type. */
typedef struct Product {
    Usage *m;
    UsageType *t;
    UserRule *pairs[MOST_PAIRS];
    size_t npairs;
    Map numbers;               /* (node, bits) -> new number + 1 */
    Vec(uint64_t) states;      /* new number -> node and bits */
} Product;

static bool is_about(const UserRule *u, const UsageType *t)
{
    return !u->type || u->type == t->type;
}

static bool has_function(const UsageType *t, const ApiFunction *f)
{
    for (size_t i = 0; i < t->nnodes; i++)
        for (size_t k = 0; k < t->nodes[i].nedges; k++)
            if (api_plain(t->nodes[i].edges[k]->function) == f)
                return true;
    return false;
}

static uint32_t number_of(Product *p, uint32_t node, uint32_t bits)
{
    uint64_t state = (uint64_t)bits << 32 | node;
    void **slot = map_slotn(&p->numbers, &state, sizeof state);

    if (!*slot) {
        vec_push(&p->states, state);
        *slot = (void *)(uintptr_t)p->states.len;
    }
    return (uint32_t)((uintptr_t)*slot - 1);
}

static bool is_allowed(const Product *p, const UsageEdge *e, uint32_t bits)
{
    for (size_t i = 0; i < p->npairs; i++) {
        bool seen = bits >> i & 1;
        if (p->pairs[i]->function == api_plain(e->function) &&
            seen == (p->pairs[i]->kind == RULE_FORBID_AFTER))
            return false;
    }
    return true;
}

static uint32_t bits_after(const Product *p, const UsageEdge *e, uint32_t bits)
{
    for (size_t i = 0; i < p->npairs; i++)
        if (p->pairs[i]->other == api_plain(e->function))
            bits |= 1u << i;
    return bits;
}

/* Takes what a node's new twin gets of its edges. */
static void twin(Product *p, size_t at, UsageNode *out)
{
    uint32_t node = (uint32_t)p->states.items[at], bits = (uint32_t)(p->states.items[at] >> 32);
    const UsageNode *old = &p->t->nodes[node];

    *out = *old;
    out->edges = arena_array(&p->m->arena, UsageEdge *, old->nedges + 1);
    out->nedges = 0;
    for (size_t i = 0; i < old->nedges; i++) {
        const UsageEdge *e = old->edges[i];
        if (e->weight <= 0 || !is_allowed(p, e, bits))
            continue;
        UsageEdge *copy = arena_new(&p->m->arena, UsageEdge);
        *copy = *e;
        copy->from = (uint32_t)at;
        copy->to = number_of(p, e->to, bits_after(p, e, bits));
        out->edges[out->nedges++] = copy;
    }
}

static void weigh(Rules *r, UsageType *t)
{
    for (size_t i = 0; i < r->rules.len; i++) {
        UserRule *u = &r->rules.items[i];
        if (!is_about(u, t) || u->kind > RULE_WEIGHT)
            continue;
        for (size_t n = 0; n < t->nnodes; n++)
            for (size_t k = 0; k < t->nodes[n].nedges; k++)
                if (api_plain(t->nodes[n].edges[k]->function) == u->function) {
                    t->nodes[n].edges[k]->weight *= u->kind == RULE_FORBID ? 0 : u->weight;
                    u->used = true;
                }
    }
}

static bool multiply(Rules *r, Product *p, Err *err)
{
    for (size_t i = 0; i < r->rules.len; i++) {
        UserRule *u = &r->rules.items[i];
        if (!is_about(u, p->t) || u->kind <= RULE_WEIGHT || !has_function(p->t, u->function))
            continue;
        u->used = true;
        if (p->npairs == MOST_PAIRS)
            return err_set(err, "%s:%u: more than %d rules about two functions for %s", r->path,
                           u->line, MOST_PAIRS, p->t->type->name);
        p->pairs[p->npairs++] = u;
    }
    Vec(UsageNode) nodes = { 0 };
    number_of(p, 0, 0);
    for (size_t i = 0; i < p->states.len; i++) {
        UsageNode n;
        twin(p, i, &n);
        vec_push(&nodes, n);
    }
    p->t->nodes = arena_array(&p->m->arena, UsageNode, nodes.len);
    memcpy(p->t->nodes, nodes.items, nodes.len * sizeof *nodes.items);
    p->t->nnodes = nodes.len;
    vec_release(&nodes);
    graph_measure(p->t);
    return true;
}

/* Nodes of other types have new numbers. */
static void renumber(Usage *m, const Product *products, UsageOther *o)
{
    const Product *p = NULL;
    uint32_t *more;
    size_t n = 0;

    for (size_t i = 0; i < m->ntypes; i++)
        if (m->types[i].type == o->type)
            p = &products[i];
    if (!p || !o->nnodes)
        return;
    more = arena_array(&m->arena, uint32_t, p->states.len + 1);
    for (uint32_t i = 0; i < p->states.len; i++)
        for (size_t k = 0; k < o->nnodes; k++)
            if (o->nodes[k] == (uint32_t)p->states.items[i])
                more[n++] = i;
    o->nodes = more;
    o->nnodes = n;
}

static void renumber_others(Usage *m, const Product *products)
{
    for (size_t i = 0; i < m->ntypes; i++)
        for (size_t n = 0; n < m->types[i].nnodes; n++)
            for (size_t k = 0; k < m->types[i].nodes[n].nedges; k++) {
                UsageEdge *e = m->types[i].nodes[n].edges[k];
                UsageOther *others = arena_array(&m->arena, UsageOther, e->nothers + 1);
                if (e->nothers)
                    memcpy(others, e->others, e->nothers * sizeof *others);
                e->others = others;
                for (size_t j = 0; j < e->nothers; j++)
                    renumber(m, products, &others[j]);
            }
}

/* What the example did, up to the first call that is forbidden. */
static void cut_replays(Usage *m)
{
    for (size_t i = 0; i < m->nreplays; i++) {
        Seq *s = m->replays[i];
        unsigned n = 0;
        while (n < s->n && !(s->steps[n].f && usage_forbids(m, s->steps[n].f)))
            n++;
        s->n = n;
    }
}

bool rules_apply(Usage *m, const char *path, Err *err)
{
    Rules r = { .api = m->api, .path = path };
    bool ok = read_rules(&r, err);
    Product *products = xcalloc(m->ntypes + 1, sizeof *products);

    m->forbidden = arena_array(&m->arena, bool, m->api->nfunctions + 1);
    for (size_t i = 0; ok && i < r.rules.len; i++)
        if (r.rules.items[i].kind == RULE_FORBID && !r.rules.items[i].type)
            m->forbidden[r.rules.items[i].function->index] = r.rules.items[i].used = true;
    if (ok)
        cut_replays(m);
    for (size_t i = 0; ok && r.rules.len && i < m->ntypes; i++) {
        products[i] = (Product){ .m = m, .t = &m->types[i] };
        weigh(&r, &m->types[i]);
        ok = multiply(&r, &products[i], err);
    }
    if (ok && r.rules.len)
        renumber_others(m, products);
    for (size_t i = 0; ok && i < r.rules.len; i++)
        if (!r.rules.items[i].used)
            strings_addf(&m->notes,
                         "%s:%u: %s was called on no such object: the rule has no "
                         "effect",
                         path, r.rules.items[i].line, r.rules.items[i].function->name);
    for (size_t i = 0; i < m->ntypes; i++) {
        map_release(&products[i].numbers);
        vec_release(&products[i].states);
    }
    free(products);
    vec_release(&r.rules);
    return ok;
}
