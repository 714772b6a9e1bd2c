/*
 * Conditions of failures: see condition.h. Where the trace does not tell, because the
 * program died before it could say why, the bytes that decide are looked for between the
 * failing input and random ones.
 */
#include "engine/concolic/condition.h"
#include "base/rng.h"
#include "base/units.h"
#include "solve/minimise.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

enum {
    TESTS = 80,
    AGAINST = 3,
    MOST_CONJUNCTS = 3000,
    MOST_TEXT = 600,
    MOST_CONDITIONS = 400,
    MOST_OF_ONE = 120,
    DEEPEST = 12,
    SHORT = 256,
    TRIALS = 20,
    MOST_RANGES = 16
};

typedef struct Study {
    const ConditionPlan *plan;
    const Path *path;          /* all there is */
    size_t n;                  /* length of inputs */
    Rng rng;
    double until;
} Study;

static bool is_over(const Study *s)
{
    return clock_seconds() > s->until || (s->plan->over && s->plan->over(s->plan->arg));
}

static bool fails_alike(const Study *s, const uint8_t *bytes)
{
    return s->plan->fails(bytes, s->n, s->plan->arg);
}

/* An input for which all of them hold, but not `against` (0: nothing); it is random otherwise. */
static bool make_input(Study *s, const Conjunct *c, size_t n, Expr against, uint8_t *bytes)
{
    Exprs *pool = s->plan->pool;
    for (size_t i = 0; i < s->n; i++)
        bytes[i] = (uint8_t)rng_next(&s->rng);
    /* All in one question: the path before it is empty. */
    Expr all = against ? expr_not(pool, against) : expr_bool(pool, true);
    for (size_t i = 0; i < n; i++)
        all = expr_binary(pool, EXPR_AND, all, c[i].cond);
    if (!n && !against)
        return true;
    Path *none = path_new(pool);
    Answer a = { 0 };
    bool sat = solver_query_extra(s->plan->solver, none, 0, all, bytes, s->n, &a) == SOLVE_SAT;
    for (size_t i = 0; sat && i < a.nchanges; i++)
        if (a.changes[i].byte - s->plan->in < s->n)
            bytes[a.changes[i].byte - s->plan->in] = a.changes[i].value;
    path_free(none);
    return sat;
}

typedef enum { NO_INPUT, PASSES, FAILS } Trial;

/* The input is left in `bytes`. */
static Trial try_bytes(Study *s, const Conjunct *c, size_t n, Expr against, uint8_t *bytes)
{
    if (is_over(s))
        return PASSES;
    return !make_input(s, c, n, against, bytes) ? NO_INPUT : fails_alike(s, bytes) ? FAILS : PASSES;
}

static Trial try_input(Study *s, const Conjunct *c, size_t n, Expr against)
{
    uint8_t *bytes = xmalloc(s->n + 1);
    Trial t = try_bytes(s, c, n, against, bytes);
    free(bytes);
    return t;
}

/* The k-th condition of the path that is not among these; 0: there are fewer. */
static Expr left_out(const Study *s, const Conjunct *c, size_t n, size_t k)
{
    for (size_t i = 0; i < path_length(s->path); i++) {
        Expr cond = path_at(s->path, i).cond;
        size_t at = 0;
        while (at < n && c[at].cond != cond)
            at++;
        if (cond && at == n && k-- == 0)
            return cond;
    }
    return 0;
}

/* Inputs that go against what was left out tell best whether it matters. */
static bool exposes(const Conjunct *c, size_t n, unsigned attempt, void *arg)
{
    Study *s = arg;
    (void)attempt;
    size_t out = 0, seen = 0;
    while (left_out(s, c, n, out))
        out++;
    for (size_t i = 0; i < AGAINST && i < out; i++) {
        size_t k = out <= AGAINST ? i : rng_below(&s->rng, out);
        Trial t = try_input(s, c, n, left_out(s, c, n, k));
        if (t == PASSES)
            return false;
        seen += t == FAILS;
    }
    return seen || try_input(s, c, n, 0) == FAILS;
}

/* ---- readable form */

/* Is it `input[i] == constant`? */
static bool is_byte_equation(const Exprs *p, Expr e, uint32_t *byte, uint8_t *value)
{
    ExprNode n = expr_node(p, e);
    if (n.op != EXPR_EQ)
        return false;
    ExprValue v;
    Expr left = n.a, right = n.b;
    if (expr_is_const(p, left, NULL)) {
        left = n.b;
        right = n.a;
    }
    ExprNode b = expr_node(p, left);
    if (b.op != EXPR_BYTE || !expr_is_const(p, right, &v))
        return false;
    *byte = b.a;
    *value = (uint8_t)v;
    return true;
}

typedef struct Cell {
    uint32_t at;
    uint8_t value;
} Cell;
typedef Vec(Cell) Cells;

typedef struct Condition {
    Expr cond;
    bool negated;
} Condition;
typedef Vec(Condition) Conditions;

static int by_place(const void *a, const void *b)
{
    const Cell *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void add_and(Str *out)
{
    if (out->len)
        str_add(out, " and ");
}

static bool is_text(uint8_t c) { return c >= 32 && c < 127; }

/* As in C, in a string or between single quotes. */
static void print_character(uint8_t c, Str *out)
{
    if (!is_text(c))
        str_addf(out, "\\%03o", c);
    else if (c == '"' || c == '\'' || c == '\\')
        str_addf(out, "\\%c", c);
    else
        str_addc(out, (char)c);
}

/* input[0..3] == "%PDF", or in hexadecimal if most of it is no text. */
static void print_run(const Cell *c, size_t n, Str *out)
{
    size_t texts = 0;
    for (size_t i = 0; i < n; i++)
        texts += is_text(c[i].value);
    add_and(out);
    if (n == 1)
        str_addf(out, "input[%u] == ", c->at);
    else
        str_addf(out, "input[%u..%u] == ", c->at, c[n - 1].at);
    if (2 * texts < n) {
        for (size_t i = 0; i < n; i++)
            str_addf(out, "%s%02x", i ? " " : "0x", c[i].value);
        return;
    }
    const char *quote = n == 1 ? "'" : "\"";
    str_add(out, quote);
    for (size_t i = 0; i < n; i++)
        print_character(c[i].value, out);
    str_add(out, quote);
}

static void print_cells(const Cells *cells, Str *out)
{
    for (size_t i = 0; i < cells->len;) {
        size_t k = i + 1;
        while (k < cells->len && cells->items[k].at == cells->items[k - 1].at + 1)
            k++;
        print_run(&cells->items[i], k - i, out);
        i = k;
    }
}

/* A condition as the conditions of which it is the conjunction. */
static void split(const Exprs *p, Expr e, bool negated, unsigned depth, Conditions *out)
{
    ExprNode n = expr_node(p, e);
    if (depth && n.width == 1 && n.op == EXPR_NOT) {
        split(p, n.a, !negated, depth - 1, out);
    } else if (depth && n.width == 1 && n.op == (negated ? EXPR_OR : EXPR_AND)) {
        split(p, n.a, negated, depth - 1, out);
        split(p, n.b, negated, depth - 1, out);
    } else {
        vec_push(out, ((Condition){ e, negated }));
    }
}

/* Bytes 6 to 12, where the condition itself is too long to be read. */
static void print_bytes(const Exprs *pool, uint32_t in, Expr e, Str *out)
{
    size_t n;
    const ByteRange *r = expr_bytes(pool, e, &n);
    str_add(out, "a longer condition on ");
    for (size_t i = 0; i < n; i++) {
        str_addf(out, "%sinput[%u", i ? ", " : "", r[i].from - in);
        if (r[i].to > r[i].from + 1)
            str_addf(out, "..%u", r[i].to - 1 - in);
        str_addc(out, ']');
    }
}

/* What it says, once. */
static void list_condition(Exprs *pool, uint32_t in, const Condition *c, Strings *out)
{
    Expr e = c->negated ? expr_not(pool, c->cond) : c->cond;
    Str text = { 0 };
    expr_print(pool, e, &text);
    if (text.len > MOST_OF_ONE || strstr(str_c(&text), "…")) {
        str_reset(&text);
        print_bytes(pool, in, e, &text);
    }
    bool known = false;
    for (size_t i = 0; !known && i < out->len; i++)
        known = strcmp(out->items[i], str_c(&text)) == 0;
    if (!known)
        strings_add(out, str_c(&text));
    str_release(&text);
}

/* "input[7] != 0" is about byte 7 alone, and then comes the rest; NULL: another text. */
static const char *about_byte(const char *text, unsigned *at)
{
    int end = 0;
    if (sscanf(text, "input[%u] %n", at, &end) != 1 || !end || strstr(text + end, "input["))
        return NULL;
    return text + end;
}

/* How many texts from here on say the same of bytes that follow one another. */
static size_t count_alike(const Strings *all, size_t i)
{
    unsigned first, at;
    const char *rest = about_byte(all->items[i], &first);
    size_t n = 1;
    while (rest && i + n < all->len) {
        const char *next = about_byte(all->items[i + n], &at);
        if (!next || at != first + n || strcmp(next, rest) != 0)
            break;
        n++;
    }
    return n;
}

static void print_conditions(const Strings *all, Str *out)
{
    for (size_t i = 0, n; i < all->len && out->len < MOST_TEXT; i += n) {
        const char *text = all->items[i];
        unsigned at;
        n = count_alike(all, i);
        add_and(out);
        if (n > 1) {
            const char *rest = about_byte(text, &at);
            str_addf(out, "each of input[%u..%zu] %s", at, at + n - 1, rest);
        } else {
            str_addf(out, strstr(text, " || ") ? "(%s)" : "%s", text);
        }
    }
}

char *condition_describe(Exprs *pool, uint32_t in, const Conjunct *c, size_t n)
{
    Str out = { 0 };
    Conditions all = { 0 }, rest = { 0 };
    Cells cells = { 0 };
    for (size_t i = 0; i < n; i++)
        split(pool, c[i].cond, false, DEEPEST, &all);
    for (size_t i = 0; i < all.len; i++) {
        Cell cell;
        if (!all.items[i].negated &&
            is_byte_equation(pool, all.items[i].cond, &cell.at, &cell.value)) {
            cell.at -= in;
            vec_push(&cells, cell);
        } else {
            vec_push(&rest, all.items[i]);
        }
    }
    if (cells.len)
        qsort(cells.items, cells.len, sizeof *cells.items, by_place);
    print_cells(&cells, &out);
    Strings texts = { 0 };
    for (size_t i = 0; i < rest.len && i < MOST_CONDITIONS; i++)
        list_condition(pool, in, &rest.items[i], &texts);
    print_conditions(&texts, &out);
    strings_release(&texts);
    if (out.len > MOST_TEXT) {
        out.len = MOST_TEXT;
        str_add(&out, "…");
    }
    vec_release(&all);
    vec_release(&rest);
    vec_release(&cells);
    char *text = xstrdup(str_c(&out));
    str_release(&out);
    return text;
}

/* What went wrong on the way counts as a condition. */
static void add_wrongs(const ConditionPlan *plan, Trail *trail, const uint8_t *bytes, size_t n)
{
    uint8_t *all = xcalloc(plan->in + n + 1, 1);
    memcpy(all + plan->in, bytes, n);
    for (size_t i = 0; i < trail->bugs.len; i++) {
        const Chance *c = &trail->bugs.items[i];
        if (expr_eval(plan->pool, c->cond, all, plan->in + n))
            path_add(trail->path, c->cond, c->at, true);
    }
    free(all);
}

/* ---- is it enough? */

/* An input that fulfils them all and passes, left in `other`; false: there seems to be none. */
static bool refuted(Study *s, const Conjunct *c, size_t n, uint8_t *other)
{
    for (unsigned k = 0; k < TRIALS && !is_over(s); k++)
        if (try_bytes(s, c, n, 0, other) == PASSES)
            return true;
    return false;
}

/* `bytes` fails with this byte as it is: from there on towards `to`, which is 0 or 255, the last
 * value with which it still does. */
static uint8_t last_that_fails(Study *s, uint8_t *bytes, size_t at, uint8_t to)
{
    uint8_t is = bytes[at], near = is;
    int step = to > is ? 1 : -1, far = to + step;
    for (int v = to; near * step < far * step - 1 && !is_over(s); v = (near + far) / 2) {
        bytes[at] = (uint8_t)v;
        if (fails_alike(s, bytes))
            near = (uint8_t)v;
        else
            far = v;
    }
    bytes[at] = is;
    return near;
}

/* `other` passes and `bytes` fails: the byte that decides it once those before it are the same, and
 * between which values. */
static Expr what_decides(Study *s, const uint8_t *bytes, const uint8_t *other)
{
    Exprs *pool = s->plan->pool;
    size_t low = 0, high = s->n; /* with low bytes of ours it passes, with high it fails */
    uint8_t *both = xmemdup(other, s->n);
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        memcpy(both, bytes, mid);
        memcpy(both + mid, other + mid, s->n - mid);
        if (fails_alike(s, both))
            high = mid;
        else
            low = mid;
    }
    memcpy(both, bytes, high);
    memcpy(both + high, other + high, s->n - high);
    uint8_t from = last_that_fails(s, both, low, 0), to = last_that_fails(s, both, low, 255);
    free(both);
    Expr byte = expr_byte(pool, s->plan->in + (uint32_t)low);
    Expr first = expr_const(pool, 8, from), last = expr_const(pool, 8, to);
    if (from == to)
        return expr_binary(pool, EXPR_EQ, byte, first);
    return expr_binary(pool, EXPR_AND, expr_binary(pool, EXPR_ULE, first, byte),
                       expr_binary(pool, EXPR_ULE, byte, last));
}

/* What the program decided without a branch that the trace could follow, in a library's code or by
 * a table, is missing so far. Adds it to the conditions; false: they are still not enough. */
static bool make_enough(Study *s, const uint8_t *bytes, Conjunct *c, size_t *n)
{
    uint8_t *other = xmalloc(s->n + 1);
    size_t most = *n + MOST_RANGES;
    bool weak;
    while ((weak = refuted(s, c, *n, other)) && *n < most && !is_over(s)) {
        Expr more = what_decides(s, bytes, other);
        if (expr_is_const(s->plan->pool, more, NULL))
            break; /* any value will do: it does not always fail */
        c[(*n)++] = (Conjunct){ .cond = more };
    }
    free(other);
    return !weak;
}

static char *by_trace(Study *s, Trail *trail, const uint8_t *bytes)
{
    const ConditionPlan *plan = s->plan;
    char *text = NULL;
    if (!trail->path || !path_length(trail->path) || path_length(trail->path) > MOST_CONJUNCTS)
        return NULL;
    Arena arena = { 0 };
    add_wrongs(plan, trail, bytes, s->n);
    const Path *paths[] = { s->path = trail->path };
    Minimised m =
        minimise_paths(&arena, plan->pool, paths, 1, &(MinimisePlan){ .tests = TESTS }, exposes, s);
    if (m.how != MINIMISE_NONE && m.n) {
        Conjunct *c = arena_array(&arena, Conjunct, m.n + MOST_RANGES);
        memcpy(c, m.conjuncts, m.n * sizeof *c);
        if (make_enough(s, bytes, c, &m.n) && !is_over(s))
            text = condition_describe(plan->pool, plan->in, c, m.n);
    }
    arena_release(&arena);
    return text;
}

/* Where the trace does not tell, because the program died before it could say why. */
static char *by_bytes(Study *s, const uint8_t *bytes)
{
    Conjunct c[MOST_RANGES];
    size_t n = 0;
    bool found = make_enough(s, bytes, c, &n) && n && !is_over(s);
    return found ? condition_describe(s->plan->pool, s->plan->in, c, n) : NULL;
}

char *condition_find(const ConditionPlan *plan, Trail *trail, const uint8_t *bytes, size_t n)
{
    assert(n <= CONDITION_LONGEST);
    assert(!trail->path || trail->in == plan->in);
    Study s = { .plan = plan,
                .n = n,
                .rng = rng_seeded(plan->seed),
                .until = clock_seconds() + plan->seconds };
    char *text = by_trace(&s, trail, bytes);
    if (!text && n <= SHORT)
        text = by_bytes(&s, bytes);
    return text;
}
