#include "dataflow/know.h"
#include "base/map.h"
#include "dataflow/date.h"
#include "dataflow/regex.h"
#include "dataflow/udf.h"
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>

enum {
    MOST_SAMPLES = 16,
    MOST_WORDS = 96,
    MOST_PATTERNS = 10,
    MOST_CONSTANTS = 40,
    MOST_TESTS = MOST_PATTERNS + MOST_CONSTANTS,
    MOST_PRODUCT = 4000,
    MOST_NUMBERS = 60,
    MOST_MOMENTS = 24
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
    Vec(unsigned) times;       /* how often each text stands in the program */
    Vec(Datum) numbers;
    Vec(Pattern) patterns;
    Vec(Datum) dates;
    Vec(int64_t) moments;      /* datetimes that the program names */
    Map keys;
    bool opaque;               /* some function sees text */
    bool casts;                /* a number is looked at as text */
    bool crowded;              /* too many constants: some were left out */
    int widest;                /* the highest position that is looked at */
} Gather;

static void add_text(Gather *g, const char *s, size_t n)
{
    for (size_t i = 0; i < g->texts.len; i++)
        if (g->texts.items[i].len == n && !memcmp(g->texts.items[i].u.s, s, n)) {
            g->times.items[i]++;
            return;
        }
    if (g->texts.len < MOST_CONSTANTS) {
        vec_push(&g->texts, datum_textn(&g->k->arena, s, n));
        vec_push(&g->times, 1u);
    } else {
        g->crowded = true;
    }
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

static void see_value(Gather *g, const Datum *v)
{
    if (v->kind == DATUM_TEXT)
        add_text(g, v->u.s, v->len);
    if (datum_is_number(v))
        add_number(g, v);
    if (v->kind == DATUM_DATETIME && g->moments.len < MOST_MOMENTS)
        vec_push(&g->moments, v->u.i);
}

static void see_values(Gather *g, const Tuple *row)
{
    for (size_t i = 0; i < row->n; i++)
        see_value(g, &row->fields[i]);
}

static void see_window(Gather *g, const Window *w)
{
    for (size_t i = 0; i < w->nargs; i++)
        term_walk(w->args[i], see_term, g);
    for (size_t i = 0; i < w->npartition; i++)
        term_walk(w->partition[i], see_term, g);
    for (size_t i = 0; i < w->norder; i++)
        term_walk(w->order[i].expr, see_term, g);
}

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
    for (size_t i = 0; i < op->norder; i++)
        term_walk(op->order[i].expr, see_term, g);
    for (size_t i = 0; i < op->nwindows; i++)
        see_window(g, &op->windows[i]);
    for (size_t i = 0; i < op->nrows; i++)
        see_values(g, op->rows[i]);
    for (size_t i = 0; i < op->nin && op->id >= 100000; i++)
        if (op->in[i]->id >= 100000)
            see_op(g, op->in[i]);
    for (size_t i = 0; op->rules && i < op->rules->nchecks; i++)
        term_walk(op->rules->checks[i], see_term, g);
}

static Pattern pattern_of(const Term *t)
{
    const Datum *v = &t->args[1]->value;
    return (Pattern){ v->u.s, v->len, t->kind == TERM_LIKE, t->fold };
}

static void see_term(Term *t, void *arg)
{
    Gather *g = arg;
    if ((t->kind == TERM_MATCHES || t->kind == TERM_LIKE) && t->args[1]->kind == TERM_CONST &&
        t->args[1]->value.kind == DATUM_TEXT) {
        vec_push(&g->patterns, pattern_of(t));
    } else if (t->kind == TERM_MATCHES || t->kind == TERM_LIKE) {
        g->opaque = true;
    }
    if (t->kind == TERM_CONST)
        see_value(g, &t->value);
    if (t->kind == TERM_FIELD && t->index > g->widest)
        g->widest = t->index;
    if (t->kind == TERM_LOOKUP && t->args[1]->kind == TERM_CONST)
        map_put(&g->keys, t->args[1]->value.u.s, g);
    if (t->kind == TERM_CALL)
        see_call(g, t);
    g->casts |= t->kind == TERM_CAST && t->type.kind == DATUM_TEXT &&
                dtype_is_number(t->args[0]->type.kind);
    if (t->kind == TERM_CAST &&
        (t->args[0]->type.kind == DATUM_TEXT || t->args[0]->type.kind == DATUM_BYTES) &&
        t->type.kind != DATUM_TEXT) {
        g->opaque = true;
        g->k->text_numbers |= dtype_is_number(t->type.kind);
    }
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

/* ---- words of the patterns
 *
 * What the program asks about one text are tests: does it match a pattern, is
 * it below, equal to, or above a constant? Each test is an automaton that reads
 * the text byte by byte. Texts with the same answers to all tests are one
 * class; the program cannot tell them apart. The list of candidates holds two
 * words of each class that is not empty. */

typedef struct Test {
    Automaton *m;              /* a pattern; or */
    const Datum *text;         /* a constant */
} Test;

typedef struct Tests {
    Test all[MOST_TESTS];
    size_t n;
} Tests;

typedef struct State {
    int s[MOST_TESTS];
    int from;                  /* number of the state before; -1 */
    unsigned char by;
} State;

/* Against a constant of n bytes: 0..n, so many bytes are equal; n + 1: below;
 * n + 2: above. */
static int step(const Test *t, int state, unsigned char by)
{
    if (t->m)
        return automaton_step(t->m, state, by);
    int n = (int)t->text->len;
    if (state > n)
        return state;
    if (state == n)
        return n + 2;
    unsigned char c = (unsigned char)t->text->u.s[state];
    return by == c ? state + 1 : by < c ? n + 1 : n + 2;
}

enum { ANSWER_NO, ANSWER_YES, ANSWER_EQUAL, ANSWER_BELOW, ANSWER_ABOVE };

static int answer(const Test *t, int state)
{
    if (t->m)
        return automaton_accepts(t->m, state) ? ANSWER_YES : ANSWER_NO;
    int n = (int)t->text->len;
    return state == n ? ANSWER_EQUAL : state == n + 2 ? ANSWER_ABOVE : ANSWER_BELOW;
}

/* The number of the class that these answers make, from 1. */
static int class_of(Know *k, const Tests *t, const int *states)
{
    unsigned char key[MOST_TESTS] = { 0 };
    bool only = false;
    for (size_t i = 0; i < t->n; i++) {
        key[i] = (unsigned char)answer(&t->all[i], states[i]);
        only |= key[i] == ANSWER_EQUAL;
    }
    void *old = map_getn(&k->classes, key, sizeof key);
    if (old)
        return (int)(intptr_t)old;
    int id = (int)k->classes.len + 1;
    map_putn(&k->classes, key, sizeof key, (void *)(intptr_t)id);
    vec_push(&k->class_only, only);
    return id;
}

int know_class(Know *k, const Datum *v)
{
    int states[MOST_TESTS] = { 0 };
    const Tests *t = k->tests;
    if (v->kind != DATUM_TEXT && v->kind != DATUM_BYTES)
        return 0;
    for (size_t i = 0; i < v->len; i++)
        for (size_t m = 0; m < t->n; m++)
            states[m] = step(&t->all[m], states[m], (unsigned char)v->u.s[i]);
    return class_of(k, t, states);
}

bool know_class_is_one_text(const Know *k, int id)
{
    return id > 0 && (size_t)id <= k->class_only.len && k->class_only.items[id - 1];
}

typedef Vec(Datum) WordList;

/* The way to a state, and one byte more unless it is 0. */
static Datum word_to(Know *k, const State *states, size_t at, char more)
{
    Str s = { 0 };
    if (more)
        str_addc(&s, more);
    for (int i = (int)at; states[i].from >= 0; i = states[i].from)
        str_addc(&s, (char)states[i].by);
    for (size_t i = 0; i < s.len / 2; i++) {
        char c = s.data[i];
        s.data[i] = s.data[s.len - 1 - i];
        s.data[s.len - 1 - i] = c;
    }
    Datum d = datum_textn(&k->arena, str_c(&s), s.len);
    str_release(&s);
    return d;
}

/* Bytes that are tried, the readable ones first. */
static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              " .-_@/:,;+=!?#%&'\"()[]{}<>*|~^$\\`\t\n";

typedef struct Search {
    Know *k;
    const Tests *t;
    Vec(State) states;
    Map seen;
    Vec(unsigned char) times;  /* by class: words found */
    WordList first, second;    /* one word of each class; one more */
    bool odd;                  /* a class has only words with odd bytes */
} Search;

static void found(Search *x, int id, size_t at, char more)
{
    while (x->times.len <= (size_t)id)
        vec_push(&x->times, 0);
    if (x->times.items[id]++ > 1) {
        x->times.items[id] = 2;
        return;
    }
    vec_push(x->times.items[id] == 1 ? &x->first : &x->second,
             word_to(x->k, x->states.items, at, more));
}

/* One byte further. False: there are too many states. */
static bool expand(Search *x, size_t at, unsigned char by, bool odd)
{
    State next = { .from = (int)at, .by = by };
    for (size_t m = 0; m < x->t->n; m++)
        next.s[m] = step(&x->t->all[m], x->states.items[at].s[m], by);
    int id = class_of(x->k, x->t, next.s);
    if (odd) {
        x->odd |= x->times.len <= (size_t)id || !x->times.items[id];
        return true;
    }
    if (map_putn(&x->seen, next.s, sizeof next.s, x)) {
        vec_push(&x->states, next);
        found(x, id, x->states.len - 1, 0);
    } else {
        found(x, id, at, (char)by);
    }
    return x->states.len < MOST_PRODUCT;
}

/* Breadth first over all tests at once: the shortest words come first. True:
 * every class that is not empty has a word. */
static bool search_words(Search *x)
{
    State start = { .from = -1 };
    vec_push(&x->states, start);
    map_putn(&x->seen, start.s, sizeof start.s, x);
    if (x->k->plan->lang == LANG_SQL)              /* Pig loads no empty text */
        found(x, class_of(x->k, x->t, start.s), 0, 0);
    for (size_t i = 0; i < x->states.len; i++)
        for (const char *c = letters; *c; c++)
            if (!expand(x, i, (unsigned char)*c, false))
                return false;
    for (size_t i = 0; i < x->states.len; i++)
        for (int c = 1; c < 256; c++)
            if (!strchr(letters, c))
                expand(x, i, (unsigned char)c, true);
    return !x->odd;
}

static bool words_of(Know *k, const Tests *t, WordList *out)
{
    Search x = { .k = k, .t = t };
    bool complete = search_words(&x);
    for (size_t i = 0; i < x.first.len; i++)
        vec_push(out, x.first.items[i]);
    k->nfirst_words = out->len;
    for (size_t i = 0; i < x.second.len; i++)
        vec_push(out, x.second.items[i]);
    vec_release(&x.states);
    vec_release(&x.times);
    vec_release(&x.first);
    vec_release(&x.second);
    map_release(&x.seen);
    return complete;
}

static Automaton *pattern_automaton(Know *k, const Pattern *x)
{
    int flags = regex_is_simple(x->s, x->n) ? REGEX_DOT_ALL : 0;
    for (size_t i = 0; i < x->n; i++) /* automata know bytes, not letters beyond ASCII */
        k->text_exact &= (unsigned char)x->s[i] < 128;
    Regex *r = x->like ? regex_like(&k->arena, x->s, x->n, x->fold, NULL)
                       : regex_new(&k->arena, x->s, x->n, flags, NULL);
    Automaton *m = r ? regex_automaton(r, &k->arena) : NULL;
    if (m)
        vec_push(&k->automata, m);
    return m;
}

/* The text stands in the program as a pattern, and nowhere else. */
static bool is_only_pattern(const Gather *g, size_t text)
{
    const Datum *t = &g->texts.items[text];
    unsigned times = 0;
    for (size_t i = 0; i < g->patterns.len; i++)
        times +=
            g->patterns.items[i].n == t->len && !memcmp(g->patterns.items[i].s, t->u.s, t->len);
    return times >= g->times.items[text];
}

static void gather_words(Know *k, Gather *g, WordList *out)
{
    Tests *t = k->tests = arena_new(&k->arena, Tests);
    k->text_exact = !g->opaque && !g->crowded;
    for (size_t i = 0; i < g->patterns.len; i++) {
        Automaton *m = t->n < MOST_PATTERNS ? pattern_automaton(k, &g->patterns.items[i]) : NULL;
        if (m)
            t->all[t->n++].m = m;
        else
            k->text_exact = false;
    }
    size_t npatterns = t->n;
    for (size_t i = 0; i < g->texts.len; i++) {
        if (is_only_pattern(g, i))
            continue;
        Datum *copy = arena_new(&k->arena, Datum);
        *copy = g->texts.items[i];
        t->all[t->n++].text = copy;
    }
    bool complete = words_of(k, t, out);
    k->crowded = !complete || k->nfirst_words > MOST_WORDS / 2;
    if (complete)
        return;
    k->text_exact = false;
    /* Too many together: each pattern alone gives at least its own words, and
     * each column its own tests (column_tests()). */
    for (size_t i = 0; i < npatterns; i++) {
        Tests one = { .all = { t->all[i] }, .n = 1 };
        words_of(k, &one, out);
    }
    k->nfirst_words = out->len;
}

/* A pattern may be asked about a number: (chararray)x MATCHES '10|20'. */
static void numbers_of_patterns(Know *k, const Gather *g)
{
    for (size_t i = 0; i < g->patterns.len && g->casts; i++) {
        Automaton *m = pattern_automaton(k, &g->patterns.items[i]);
        Tests one = { .all = { { .m = m } }, .n = 1 };
        WordList words = { 0 };
        size_t first = k->nfirst_words;
        if (m)
            words_of(k, &one, &words);
        for (size_t w = 0; w < words.len; w++) {
            char *end;
            const Datum *d = &words.items[w];
            double v = d->len && d->len < 16 ? strtod(d->u.s, &end) : 0;
            if (d->len && d->len < 16 && end == d->u.s + d->len)
                push_number(k, v, v != floor(v));
        }
        k->nfirst_words = first;
        vec_release(&words);
    }
}

/* Just below and just above a constant, and in the other case: for functions
 * of text, which no automaton knows. */
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
    for (int upper = 0; upper < 2; upper++) {
        for (size_t i = 0; i < t->len; i++)
            s.data[i] = (char)(upper ? toupper((unsigned char)t->u.s[i])
                                     : tolower((unsigned char)t->u.s[i]));
        vec_push(out, datum_textn(&k->arena, s.data, t->len));
    }
    str_release(&s);
}

/* Arguments that users' functions were seen with: their answers are known. */
static void gather_calls(Know *k, WordList *words)
{
    const UdfCall *calls;
    size_t n = k->plan->udfs && !k->no_real_values ? udf_calls(k->plan->udfs, &calls) : 0;
    for (size_t i = 0; i < n && i < MOST_CONSTANTS; i++)
        for (size_t a = 0; a < calls[i].nargs; a++) {
            const Datum *d = &calls[i].args[a];
            if (datum_is_number(d))
                push_number(k, datum_as_double(d), datum_as_double(d) != floor(datum_as_double(d)));
            else if (d->kind == DATUM_TEXT)
                vec_push(words, *d);
        }
}

/* ---- dates */

/* The moments that the program names, days and a month and a year around them,
 * and some others. */
static void gather_moments(Know *k, const Gather *g)
{
    static const int64_t day = 86400000LL;
    static const int64_t near[] = { 0, day, -day, 31 * day, -31 * day, 366 * day, -366 * day };
    k->moments = arena_array(&k->arena, Datum, MOST_MOMENTS + 4);
    for (size_t i = 0; i < sizeof near / sizeof *near; i++)
        for (size_t m = 0; m < g->moments.len && k->nmoments < MOST_MOMENTS; m++)
            k->moments[k->nmoments++] = datum_datetime(g->moments.items[m] + near[i]);
    static const int64_t some[] = { 1262304000000LL, 1262390400000LL, 1330041600000LL,
                                    946684800000LL };
    for (size_t i = 0; i < 4; i++)
        k->moments[k->nmoments++] = datum_datetime(some[i]);
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

/* Without a schema there are as many columns as the program looks at. */
static void sample_columns(Know *k, const Op *op, int widest)
{
    const Input *in = k->samples ? &k->samples[op->id] : NULL;
    size_t n = op->schema ? op->schema->n : widest < 3 ? 4 : widest < 64 ? (size_t)widest + 1 : 64;
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

/* A subquery that compares its rows with those of `outer`: x = outer.y, y IN (SELECT x …). */
typedef struct Comparing {
    Know *k;
    const Op *outer, *inner;   /* whose rows terms see; inner: NULL outside of the subquery */
    int *next;
} Comparing;

static void twin_terms(const Comparing *c, const Term *x, const Term *y)
{
    while (x->kind == TERM_CAST)
        x = x->args[0];
    while (y->kind == TERM_CAST)
        y = y->args[0];
    if (x->kind != TERM_FIELD || y->kind != TERM_FIELD || x->depth || y->depth != 1)
        return;
    Term here = *y;
    here.depth = 0;
    twin(c->k, column_of(c->k, c->inner, x), column_of(c->k, c->outer, &here), c->next);
}

static void look_at_equality(Term *t, void *arg)
{
    if (t->kind != TERM_EQ)
        return;
    twin_terms(arg, t->args[0], t->args[1]);
    twin_terms(arg, t->args[1], t->args[0]);
}

static void look_at_subquery(Term *t, void *arg)
{
    Comparing c = *(Comparing *)arg;
    const Op *op = t->op;
    if (t->kind != TERM_EXISTS && t->kind != TERM_IN_QUERY && t->kind != TERM_SCALAR_QUERY)
        return;
    if (t->kind == TERM_IN_QUERY) {
        Term first = { .kind = TERM_FIELD };
        twin(c.k, column_of(c.k, op, &first), column_of(c.k, c.outer, t->args[0]), c.next);
    }
    for (; op->id >= 100000 && op->nin; op = op->in[0]) {
        c.inner = op->in[0];
        if (op->kind == OP_FILTER)
            term_walk(op->cond, look_at_equality, &c);
    }
}

static void find_twins(Know *k)
{
    int next = 0;
    for (size_t i = 0; i < k->plan->ops.len; i++) {
        const Op *op = k->plan->ops.items[i];
        if (op->kind == OP_FILTER)
            term_walk(op->cond, look_at_subquery,
                      &(Comparing){ .k = k, .outer = op->in[0], .next = &next });
    }
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

/* ---- outer joins whose rows have no partner */

static bool has_no_partner(const Op *join, size_t side)
{
    return (join->join == JOIN_LEFT && side == 1) || (join->join == JOIN_RIGHT && side == 0);
}

/* The outer join that column `index` of an op is null from. */
static void mark_lonely(Know *k, const Op *op, int index)
{
    while (op->nin && index >= 0 && op->id < 100000) {
        size_t side = 0;
        if (op->kind == OP_JOIN || op->kind == OP_CROSS) {
            for (; side + 1 < op->nin && op->in[side]->schema &&
                   index >= (int)op->in[side]->schema->n;
                 side++)
                index -= (int)op->in[side]->schema->n;
            if (op->kind == OP_JOIN && has_no_partner(op, side))
                k->lonely[op->id] = true;
        } else if (op->kind != OP_FILTER) {
            return;
        }
        op = op->in[side];
    }
}

static void find_lonely(Know *k, const Op *filter, const Term *cond)
{
    if (cond->kind == TERM_AND) {
        find_lonely(k, filter, cond->args[0]);
        find_lonely(k, filter, cond->args[1]);
    }
    if (cond->kind == TERM_IS_NULL && cond->args[0]->kind == TERM_FIELD && !cond->args[0]->depth)
        mark_lonely(k, filter->in[0], cond->args[0]->index);
}

/* ---- tests of one column */

typedef struct Asking {
    Know *k;
    const Op *row;             /* whose row the term sees */
} Asking;

static void push_test(Know *k, Column *c, Test t)
{
    if (!c->asked)
        c->asked = arena_new(&k->arena, Tests);
    if (c->asked->n < MOST_TESTS)
        c->asked->all[c->asked->n++] = t;
}

/* A test of a column is one of all columns that are compared with it. */
static void add_test(Know *k, Column *c, Test t)
{
    push_test(k, c, t);
    for (size_t o = 0; o < k->plan->ops.len && c->twin >= 0; o++)
        for (size_t n = 0; k->columns[o] && n < k->ncolumns[o]; n++)
            if (&k->columns[o][n] != c && k->columns[o][n].twin == c->twin)
                push_test(k, &k->columns[o][n], t);
}

static void ask_op(Know *k, const Op *op);

static void ask_term(Term *t, void *arg)
{
    const Asking *x = arg;
    if (t->op && t->op->id >= 100000)
        ask_op(x->k, t->op);
    bool pattern = t->kind == TERM_MATCHES || t->kind == TERM_LIKE;
    if (!pattern && (t->kind < TERM_EQ || t->kind > TERM_NOT_DISTINCT))
        return;
    int at = pattern || t->args[1]->kind == TERM_CONST;
    const Term *constant = t->args[at];
    Column *c = constant->kind == TERM_CONST && constant->value.kind == DATUM_TEXT
                    ? column_of(x->k, x->row, t->args[!at])
                    : NULL;
    if (!c)
        return;
    Pattern p = pattern ? pattern_of(t) : (Pattern){ 0 };
    Test test = { .m = pattern ? pattern_automaton(x->k, &p) : NULL, .text = &constant->value };
    if (!pattern || test.m)
        add_test(x->k, c, test);
}

static void ask_op(Know *k, const Op *op)
{
    Asking x = { k, op->kind == OP_JOIN || !op->nin ? op : op->in[0] };
    term_walk(op->cond, ask_term, &x);
    for (size_t i = 0; i < op->nin && op->id >= 100000; i++)
        if (op->in[i]->id >= 100000)
            ask_op(k, op->in[i]);
}

static void column_tests(Know *k)
{
    for (size_t i = 0; i < k->plan->ops.len && k->crowded; i++)
        ask_op(k, k->plan->ops.items[i]);
}

/* False: there is no room. */
static bool add_word(Know *k, Column *c, const Datum *v, DatumKind kind)
{
    if ((!v->len && k->plan->lang == LANG_PIG) || (c->longest && v->len > c->longest))
        return true; /* it cannot be there */
    Datum d = *v;
    d.kind = (uint8_t)kind;
    for (size_t i = 0; i < c->nwords; i++)
        if (!datum_compare(&c->words[i], &d))
            return true;
    if (c->nwords >= MOST_WORDS)
        return false;
    c->classes[c->nwords] = know_class(k, &d);
    c->words[c->nwords++] = d;
    return true;
}

static void add_number_words(Know *k, Column *c, DatumKind kind)
{
    for (size_t i = 0; i < k->nnumbers; i++) {
        Str s = { 0 };
        datum_print(&s, &k->numbers[i], false);
        Datum d = datum_textn(&k->arena, s.data, s.len);
        add_word(k, c, &d, kind);
        str_release(&s);
    }
}

/* Values of columns that are compared with this one. */
static void add_twins(Know *k, Column *c, DatumKind kind)
{
    for (size_t o = 0; o < k->plan->ops.len && c->twin >= 0 && !k->no_real_values; o++)
        for (size_t n = 0; k->columns[o] && n < k->ncolumns[o]; n++) {
            const Column *other = &k->columns[o][n];
            for (size_t i = 0; other != c && other->twin == c->twin && i < 8 && i < other->nsamples;
                 i++)
                if (other->samples[i].kind == DATUM_TEXT || other->samples[i].kind == DATUM_BYTES)
                    add_word(k, c, &other->samples[i], kind);
        }
}

static void add_fresh(Know *k, Column *c, DatumKind kind)
{
    for (size_t i = 0; i < 8; i++) {
        Datum d = datum_text(&k->arena, fresh_words[i]);
        if (c->longest && c->longest < 4)
            d.len = 1;
        add_word(k, c, &d, kind);
    }
}

/* Words for the tests of this column alone. */
static void add_asked(Know *k, Column *c, DatumKind kind)
{
    WordList words = { 0 };
    size_t first = k->nfirst_words;
    if (c->asked)
        words_of(k, c->asked, &words);
    for (size_t i = 0; i < words.len; i++)
        add_word(k, c, &words.items[i], kind);
    k->nfirst_words = first;
    vec_release(&words);
}

static void fill_words(Know *k, const Op *op, size_t at, const WordList *patterns,
                       const WordList *constants)
{
    Column *c = &k->columns[op->id][at];
    DatumKind kind = op->schema ? op->schema->fields[at].type.kind : DATUM_BYTES;
    if (kind != DATUM_TEXT && kind != DATUM_BYTES)
        return;
    c->words = arena_array(&k->arena, Datum, MOST_WORDS);
    c->classes = arena_array(&k->arena, int, MOST_WORDS);
    if (op->rules && op->rules->max_length && op->rules->max_length[at] > 0)
        c->longest = (size_t)op->rules->max_length[at];
    for (size_t i = 0; i < c->nsamples && !k->no_real_values; i++)
        if (c->samples[i].kind == kind)
            add_word(k, c, &c->samples[i], kind);
    add_twins(k, c, kind);
    add_asked(k, c, kind);
    add_fresh(k, c, kind);
    /* The classes come first: with all of them the list is complete. */
    for (size_t i = 0; i < k->nfirst_words && i < patterns->len; i++)
        k->text_exact &= add_word(k, c, &patterns->items[i], kind);
    if (kind == DATUM_BYTES || k->text_numbers)
        add_number_words(k, c, kind);
    for (size_t i = k->nfirst_words; i < patterns->len; i++)
        add_word(k, c, &patterns->items[i], kind);
    for (size_t i = 0; i < constants->len; i++)
        add_word(k, c, &constants->items[i], kind);
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
    for (size_t i = 0; i < p->ops.len; i++)
        see_op(&g, p->ops.items[i]);
    for (size_t i = 0; i < p->ops.len; i++)
        if (p->ops.items[i]->kind == OP_LOAD)
            sample_columns(k, p->ops.items[i], g.widest);
    gather_numbers(k, &g);
    gather_calls(k, &constants);
    for (size_t i = 0; i < g.dates.len; i++)
        vec_push(&patterns, g.dates.items[i]);
    k->ndates = g.dates.len;
    k->dates = arena_array(&k->arena, Datum, g.dates.len + 1);
    if (g.dates.len)
        memcpy(k->dates, g.dates.items, g.dates.len * sizeof(Datum));
    gather_words(k, &g, &patterns);
    numbers_of_patterns(k, &g);
    for (size_t i = 0; i < g.texts.len && g.opaque; i++)
        if (!is_only_pattern(&g, i))
            neighbours(k, &g.texts.items[i], &constants);
    gather_moments(k, &g);
    find_twins(k);
    k->lonely = arena_array(&k->arena, bool, p->ops.len);
    for (size_t i = 0; i < p->ops.len; i++)
        if (p->ops.items[i]->kind == OP_FILTER)
            find_lonely(k, p->ops.items[i], p->ops.items[i]->cond);
    column_tests(k);
    for (size_t i = 0; i < p->ops.len; i++)
        for (size_t c = 0; k->columns[i] && c < k->ncolumns[i]; c++)
            fill_words(k, p->ops.items[i], c, &patterns, &constants);
    if (!g.keys.len) { /* maps that are only flattened */
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
    vec_release(&g.times);
    vec_release(&g.moments);
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
    for (size_t i = 0; i < k->automata.len; i++)
        automaton_free(k->automata.items[i]);
    vec_release(&k->automata);
    map_release(&k->classes);
    vec_release(&k->class_only);
    arena_release(&k->arena);
    free(k);
}
