#include "dataflow/know.h"
#include "base/map.h"
#include "dataflow/date.h"
#include "dataflow/regex.h"
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>

enum {
    MOST_SAMPLES = 16,
    MOST_WORDS = 72,
    MOST_PATTERNS = 10,
    MOST_CONSTANTS = 40,
    MOST_PRODUCT = 4000,
    MOST_NUMBERS = 60
};

static const char *const fresh_words[] = { "ann",  "bob", "cleo", "dan", "eve",
                                           "finn", "gus", "hana", "ivo", "jo" };

typedef struct Pattern {
    const char *s;
    size_t n;
    bool like, fold;
} Pattern;

/* What the whole program says. */
typedef struct Gather {
    Know *k;
    Vec(Datum) texts;
    Vec(Datum) numbers;
    Vec(Pattern) patterns;
    Vec(Datum) dates;
    Map keys;
    bool opaque;               /* some function sees text */
} Gather;

static void add_text(Gather *g, const char *s, size_t n)
{
    for (size_t i = 0; i < g->texts.len; i++)
        if (g->texts.items[i].len == n && !memcmp(g->texts.items[i].u.s, s, n))
            return;
    if (g->texts.len < MOST_CONSTANTS)
        vec_push(&g->texts, datum_textn(&g->k->arena, s, n));
}

static void add_number(Gather *g, const Datum *v)
{
    for (size_t i = 0; i < g->numbers.len; i++)
        if (!datum_compare(&g->numbers.items[i], v))
            return;
    if (g->numbers.len < MOST_CONSTANTS)
        vec_push(&g->numbers, *v);
}

/* ToDate(x, pattern): texts of that form. */
static void add_dates(Gather *g, const Term *t)
{
    static const int64_t days[] = { 1262304000000LL, 1330041600000LL, 946684799000LL };
    const Term *p = t->nargs > 1 ? t->args[1] : NULL;
    while (p && p->kind == TERM_CAST)
        p = p->args[0];
    for (size_t i = 0; i < 3; i++) {
        Str s = { 0 };
        if (p && p->kind == TERM_CONST && p->value.kind == DATUM_TEXT)
            date_print_as(&s, days[i], p->value.u.s);
        else
            date_print(&s, days[i]);
        if (g->dates.len < 12)
            vec_push(&g->dates, datum_textn(&g->k->arena, str_c(&s), s.len));
        str_release(&s);
    }
}

static void see_call(Gather *g, const Term *t)
{
    if (!strcmp(t->name, "ToDate"))
        add_dates(g, t);
    static const char *const plain[] = { "COUNT", "COUNT_STAR", "SUM",     "AVG",   "MIN", "MAX",
                                         "SIZE",  "IsEmpty",    "TOTUPLE", "TOBAG", "ABS", NULL };
    if (!str_is_one_of(t->name, plain))
        for (size_t i = 0; i < t->nargs; i++)
            if (t->args[i]->type.kind == DATUM_TEXT || t->args[i]->type.kind == DATUM_BYTES)
                g->opaque = true;
}

static void see_term(Term *t, void *arg);

static void see_op(Gather *g, const Op *op)
{
    term_walk(op->cond, see_term, g);
    term_walk(op->source, see_term, g);
    term_walk(op->count, see_term, g);
    for (size_t i = 0; i < op->nitems; i++)
        term_walk(op->items[i].expr, see_term, g);
    for (size_t i = 0; op->keys && i < (op->kind == OP_CUBE ? 1 : op->nin); i++)
        for (size_t k = 0; k < op->keys[i].n; k++)
            term_walk(op->keys[i].exprs[k], see_term, g);
    for (size_t i = 0; i < op->nin && op->id >= 100000; i++)
        if (op->in[i]->id >= 100000)
            see_op(g, op->in[i]);
    for (size_t i = 0; op->rules && i < op->rules->nchecks; i++)
        term_walk(op->rules->checks[i], see_term, g);
}

static void see_term(Term *t, void *arg)
{
    Gather *g = arg;
    if ((t->kind == TERM_MATCHES || t->kind == TERM_LIKE) && t->args[1]->kind == TERM_CONST &&
        t->args[1]->value.kind == DATUM_TEXT) {
        Pattern p = { t->args[1]->value.u.s, t->args[1]->value.len, t->kind == TERM_LIKE, t->fold };
        vec_push(&g->patterns, p);
    } else if (t->kind == TERM_MATCHES || t->kind == TERM_LIKE) {
        g->opaque = true;
    }
    if (t->kind == TERM_CONST && t->value.kind == DATUM_TEXT)
        add_text(g, t->value.u.s, t->value.len);
    if (t->kind == TERM_CONST && datum_is_number(&t->value))
        add_number(g, &t->value);
    if (t->kind == TERM_LOOKUP && t->args[1]->kind == TERM_CONST)
        map_put(&g->keys, t->args[1]->value.u.s, g);
    if (t->kind == TERM_CALL)
        see_call(g, t);
    if (t->kind == TERM_CAST &&
        (t->args[0]->type.kind == DATUM_TEXT || t->args[0]->type.kind == DATUM_BYTES) &&
        t->type.kind != DATUM_TEXT)
        g->opaque = true;
    if (t->op && t->op->id >= 100000)
        see_op(g, t->op);
}

/* ---- numbers */

static void push_number(Know *k, double d, bool real)
{
    Datum v = real ? datum_double(d) : datum_long((int64_t)d);
    for (size_t i = 0; i < k->nnumbers; i++)
        if (datum_is_number(&k->numbers[i]) && datum_as_double(&k->numbers[i]) == d)
            return;
    if (k->nnumbers < MOST_NUMBERS && isfinite(d) && fabs(d) < 9e15)
        k->numbers[k->nnumbers++] = v;
}

static void gather_numbers(Know *k, const Gather *g)
{
    k->numbers = arena_array(&k->arena, Datum, MOST_NUMBERS);
    for (int i = 0; i <= 3; i++)
        push_number(k, i, false);
    for (size_t i = 0; i < g->numbers.len; i++) {
        double d = datum_as_double(&g->numbers.items[i]);
        bool real = d != floor(d);
        push_number(k, d, real);
        push_number(k, d + (real ? 0.5 : 1), real);
        push_number(k, d - (real ? 0.5 : 1), real);
        if (!real && d >= 1 && d <= 60 && k->nsizes + 2 < 16) {
            k->sizes[k->nsizes++] = (size_t)d;
            k->sizes[k->nsizes++] = (size_t)d + 1;
        }
    }
    push_number(k, 10, false);
    push_number(k, -1, false);
    push_number(k, 1000, false);
}

/* ---- words of the patterns */

typedef struct Product {
    Automaton *m[MOST_PATTERNS];
    size_t n;
} Product;

typedef struct State {
    int s[MOST_PATTERNS];
    int from;                  /* number of the state before; -1 */
    unsigned char by;
} State;

static unsigned signature(Product *p, const State *s)
{
    unsigned bits = 0;
    for (size_t i = 0; i < p->n; i++)
        bits |= (unsigned)automaton_accepts(p->m[i], s->s[i]) << i;
    return bits;
}

typedef Vec(Datum) WordList;

static void word_to(Know *k, const State *states, size_t at, WordList *out)
{
    Str s = { 0 };
    for (int i = (int)at; states[i].from >= 0; i = states[i].from)
        str_addc(&s, (char)states[i].by);
    for (size_t i = 0; i < s.len / 2; i++) {
        char c = s.data[i];
        s.data[i] = s.data[s.len - 1 - i];
        s.data[s.len - 1 - i] = c;
    }
    if (s.len)
        vec_push(out, datum_textn(&k->arena, s.data, s.len));
    str_release(&s);
}

/* Letters that are tried, the readable ones first. Others stand for
 * themselves by one of each kind. */
static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              " .-_@/:,;+=!?#%&'\"()[]{}<>*|~^$\\`\t\n";

/* Breadth first over all automata at once: the first two words of each
 * combination of answers, shortest first. */
static bool product_words(Know *k, Product *p, WordList *out)
{
    Vec(State) states = { 0 };
    Map seen = { 0 };
    unsigned *times = xcalloc(1u << p->n, sizeof *times);
    State start = { .from = -1 };
    vec_push(&states, start);
    map_putn(&seen, start.s, sizeof start.s, k);
    bool complete = true;
    for (size_t i = 0; i < states.len; i++) {
        if (i && times[signature(p, &states.items[i])]++ < 2)
            word_to(k, states.items, i, out);
        for (const char *c = letters; *c; c++) {
            State next = { .from = (int)i, .by = (unsigned char)*c };
            for (size_t m = 0; m < p->n; m++)
                next.s[m] = automaton_step(p->m[m], states.items[i].s[m], next.by);
            if (!map_putn(&seen, next.s, sizeof next.s, k)) {
                /* A loop: one more word of this kind, if it is not empty. */
                if (times[signature(p, &next)] < 2 && states.len < MOST_PRODUCT) {
                    times[signature(p, &next)]++;
                    vec_push(&states, next);
                    word_to(k, states.items, states.len - 1, out);
                    states.len--;
                }
                continue;
            }
            if (states.len >= MOST_PRODUCT) {
                complete = false;
                break;
            }
            vec_push(&states, next);
        }
        if (!complete)
            break;
    }
    vec_release(&states);
    map_release(&seen);
    free(times);
    return complete;
}

static void gather_words(Know *k, Gather *g, WordList *out)
{
    Product p = { 0 };
    k->text_exact = !g->opaque;
    for (size_t i = 0; i < g->patterns.len; i++) {
        const Pattern *x = &g->patterns.items[i];
        int flags = regex_is_simple(x->s, x->n) ? REGEX_DOT_ALL : 0;
        Regex *r = x->like ? regex_like(&k->arena, x->s, x->n, x->fold, NULL)
                           : regex_new(&k->arena, x->s, x->n, flags, NULL);
        Automaton *m = r ? regex_automaton(r, &k->arena) : NULL;
        if (m && p.n < MOST_PATTERNS) {
            p.m[p.n++] = m;
        } else {
            automaton_free(m);
            k->text_exact = false;
        }
    }
    if (p.n && !product_words(k, &p, out)) {
        k->text_exact = false;
        /* Too many together: each alone gives at least its own words. */
        for (size_t i = 0; i < p.n; i++) {
            Product one = { .m = { p.m[i] }, .n = 1 };
            product_words(k, &one, out);
        }
    }
    for (size_t i = 0; i < p.n; i++)
        automaton_free(p.m[i]);
}

static bool is_pattern(const Gather *g, const Datum *t)
{
    for (size_t i = 0; i < g->patterns.len; i++)
        if (g->patterns.items[i].n == t->len && !memcmp(g->patterns.items[i].s, t->u.s, t->len))
            return true;
    return false;
}

/* Just below and just above a constant. */
static void neighbours(Know *k, const Datum *t, WordList *out)
{
    Str s = { 0 };
    str_addn(&s, t->u.s, t->len);
    str_addc(&s, '0');
    vec_push(out, *t);
    vec_push(out, datum_textn(&k->arena, s.data, s.len));
    if (t->len > 1)
        vec_push(out, datum_textn(&k->arena, t->u.s, t->len - 1));
    else if (t->len && (unsigned char)t->u.s[0] > '!') {
        char less = (char)(t->u.s[0] - 1);
        vec_push(out, datum_textn(&k->arena, &less, 1));
    }
    str_release(&s);
}

/* ---- columns */

static void add_sample(Know *k, Column *c, const Datum *v)
{
    if (v->kind == DATUM_NULL) {
        c->null_seen = true;
        return;
    }
    if (datum_is_number(v)) {
        double d = datum_as_double(v);
        if (c->least > c->most)
            c->least = c->most = d;
        c->least = d < c->least ? d : c->least;
        c->most = d > c->most ? d : c->most;
    }
    if (c->nsamples >= MOST_SAMPLES || v->len > 200)
        return;
    for (size_t i = 0; i < c->nsamples; i++)
        if (!datum_compare(&c->samples[i], v))
            return;
    c->samples[c->nsamples++] = datum_copy(&k->arena, v);
}

static void sample_columns(Know *k, const Op *op)
{
    const Input *in = k->samples ? &k->samples[op->id] : NULL;
    size_t n = op->schema ? op->schema->n : 0;
    for (size_t i = 0; in && i < in->n && !op->schema; i++)
        n = in->rows[i]->n > n ? in->rows[i]->n : n;
    k->ncolumns[op->id] = n;
    k->columns[op->id] = arena_array(&k->arena, Column, n + 1);
    for (size_t c = 0; c < n; c++) {
        Column *col = &k->columns[op->id][c];
        *col = (Column){ .least = 1, .most = 0, .twin = -1 };
        col->samples = arena_array(&k->arena, Datum, MOST_SAMPLES);
        for (size_t i = 0; in && i < in->n; i++)
            if (c < in->rows[i]->n)
                add_sample(k, col, &in->rows[i]->fields[c]);
    }
}

/* Which column of which LOAD a column comes from; false: computed. */
static bool trace(const Op *op, int index, const Op **load, int *column)
{
    for (int steps = 0; steps < 10000 && index >= 0; steps++) {
        switch (op->kind) {
        case OP_LOAD:
            *load = op;
            *column = index;
            return true;
        case OP_FILTER:
        case OP_SPLIT:
        case OP_DISTINCT:
        case OP_ORDER:
        case OP_LIMIT:
        case OP_SAMPLE:
        case OP_STORE:
        case OP_UNION:
        case OP_ASSERT: op = op->in[0]; break;
        case OP_FOREACH: {
            if (index >= (int)op->nitems)
                return false;
            for (int i = 0; i <= index; i++)
                if (op->items[i].flatten)
                    return false;
            const Term *t = op->items[index].expr;
            while (t->kind == TERM_CAST)
                t = t->args[0];
            if (t->kind != TERM_FIELD || t->depth)
                return false;
            index = t->index;
            op = op->in[0];
            break;
        }
        case OP_JOIN:
        case OP_CROSS: {
            size_t k = 0;
            while (k < op->nin && op->in[k]->schema && index >= (int)op->in[k]->schema->n)
                index -= (int)op->in[k++]->schema->n;
            if (k >= op->nin || !op->in[k]->schema)
                return false;
            op = op->in[k];
            break;
        }
        default: return false;
        }
    }
    return false;
}

static Column *column_of(Know *k, const Op *op, const Term *t)
{
    const Op *load;
    int column;
    while (t->kind == TERM_CAST)
        t = t->args[0];
    if (t->kind != TERM_FIELD || t->depth || !trace(op, t->index, &load, &column) ||
        (size_t)column >= k->ncolumns[load->id])
        return NULL;
    return &k->columns[load->id][column];
}

static void twin(Know *k, Column *x, Column *y, int *next)
{
    if (!x || !y || x == y)
        return;
    int a = x->twin, b = y->twin, to = a >= 0 ? a : b >= 0 ? b : (*next)++;
    for (size_t i = 0; i < k->plan->ops.len; i++)
        for (size_t c = 0; k->columns[i] && c < k->ncolumns[i]; c++) {
            Column *col = &k->columns[i][c];
            if (col == x || col == y || (a >= 0 && col->twin == a) || (b >= 0 && col->twin == b))
                col->twin = to;
        }
}

static void find_twins(Know *k)
{
    int next = 0;
    for (size_t i = 0; i < k->plan->ops.len; i++) {
        const Op *op = k->plan->ops.items[i];
        if ((op->kind != OP_JOIN && op->kind != OP_GROUP) || !op->keys)
            continue;
        for (size_t n = 1; n < op->nin; n++)
            for (size_t c = 0; c < op->keys[0].n; c++)
                twin(k, column_of(k, op->in[0], op->keys[0].exprs[c]),
                     column_of(k, op->in[n], op->keys[n].exprs[c]), &next);
    }
}

static void add_word(Column *c, const Datum *v, DatumKind kind)
{
    if (c->nwords >= MOST_WORDS || !v->len)
        return;
    Datum d = *v;
    d.kind = (uint8_t)kind;
    for (size_t i = 0; i < c->nwords; i++)
        if (!datum_compare(&c->words[i], &d))
            return;
    c->words[c->nwords++] = d;
}

static void add_number_words(Know *k, Column *c)
{
    for (size_t i = 0; i < k->nnumbers; i++) {
        Str s = { 0 };
        datum_print(&s, &k->numbers[i], false);
        Datum d = datum_textn(&k->arena, s.data, s.len);
        add_word(c, &d, DATUM_BYTES);
        str_release(&s);
    }
}

static void fill_words(Know *k, const Op *op, size_t at, const WordList *patterns,
                       const WordList *constants)
{
    Column *c = &k->columns[op->id][at];
    DatumKind kind = op->schema ? op->schema->fields[at].type.kind : DATUM_BYTES;
    if (kind != DATUM_TEXT && kind != DATUM_BYTES)
        return;
    c->words = arena_array(&k->arena, Datum, MOST_WORDS);
    for (size_t i = 0; i < c->nsamples && !k->no_real_values; i++)
        if (c->samples[i].kind == kind)
            add_word(c, &c->samples[i], kind);
    for (size_t o = 0; o < k->plan->ops.len && c->twin >= 0 && !k->no_real_values; o++)
        for (size_t n = 0; k->columns[o] && n < k->ncolumns[o]; n++) {
            const Column *other = &k->columns[o][n];
            for (size_t i = 0; other != c && other->twin == c->twin && i < 8 && i < other->nsamples;
                 i++)
                if (other->samples[i].kind == DATUM_TEXT || other->samples[i].kind == DATUM_BYTES)
                    add_word(c, &other->samples[i], kind);
        }
    if (kind == DATUM_BYTES)
        add_number_words(k, c);
    for (size_t i = 0; i < 8; i++) {
        Datum d = datum_text(&k->arena, fresh_words[i]);
        add_word(c, &d, kind);
    }
    for (size_t i = 0; i < patterns->len; i++)
        add_word(c, &patterns->items[i], kind);
    for (size_t i = 0; i < constants->len; i++)
        add_word(c, &constants->items[i], kind);
}

Know *know_new(const Plan *p, const Input *samples, bool no_real_values)
{
    Know *k = xcalloc(1, sizeof *k);
    Gather g = { .k = k };
    WordList patterns = { 0 }, constants = { 0 };
    k->plan = p;
    k->samples = samples;
    k->no_real_values = no_real_values;
    k->columns = arena_array(&k->arena, Column *, p->ops.len);
    k->ncolumns = arena_array(&k->arena, size_t, p->ops.len);
    for (size_t i = 0; i < p->ops.len; i++) {
        see_op(&g, p->ops.items[i]);
        if (p->ops.items[i]->kind == OP_LOAD)
            sample_columns(k, p->ops.items[i]);
    }
    gather_numbers(k, &g);
    for (size_t i = 0; i < g.dates.len; i++)
        vec_push(&patterns, g.dates.items[i]);
    k->ndates = g.dates.len;
    k->dates = arena_array(&k->arena, Datum, g.dates.len + 1);
    if (g.dates.len)
        memcpy(k->dates, g.dates.items, g.dates.len * sizeof(Datum));
    gather_words(k, &g, &patterns);
    for (size_t i = 0; i < g.texts.len; i++)
        if (!is_pattern(&g, &g.texts.items[i]))
            neighbours(k, &g.texts.items[i], &constants);
    find_twins(k);
    for (size_t i = 0; i < p->ops.len; i++)
        for (size_t c = 0; k->columns[i] && c < k->ncolumns[i]; c++)
            fill_words(k, p->ops.items[i], c, &patterns, &constants);
    if (!g.keys.len) {                             /* maps that are only flattened */
        map_put(&g.keys, "k", &g);
        map_put(&g.keys, "l", &g);
    }
    k->nmap_keys = g.keys.len;
    k->map_keys = arena_array(&k->arena, const char *, g.keys.len + 1);
    for (size_t i = 0; i < g.keys.len; i++)
        k->map_keys[i] = arena_strdup(&k->arena, g.keys.entries[i].key);
    vec_release(&patterns);
    vec_release(&constants);
    vec_release(&g.texts);
    vec_release(&g.numbers);
    vec_release(&g.patterns);
    vec_release(&g.dates);
    map_release(&g.keys);
    return k;
}

void know_free(Know *k)
{
    if (!k)
        return;
    arena_release(&k->arena);
    free(k);
}
