#include "dataflow/classes.h"
#include "base/map.h"
#include "dataflow/eval_int.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>

typedef Vec(Class) ClassList;

static Class *add(ClassList *l, const Op *op, ClassKind kind, int part, size_t needs)
{
    Class *c = vec_grow(l);
    *c = (Class){ .op = op, .kind = kind, .part = part, .needs = needs };
    return c;
}

/* The constant of a LIMIT; false: it is not one. */
static bool limit_of(const Op *op, size_t *k)
{
    const Term *t = op->count;
    if (!t || t->kind != TERM_CONST || !datum_is_number(&t->value))
        return false;
    double d = datum_as_double(&t->value);
    if (op->offset && op->offset->kind == TERM_CONST && datum_is_number(&op->offset->value))
        d += datum_as_double(&op->offset->value);
    *k = d < 0 ? 0 : (size_t)d;
    return true;
}

static void basic_classes(ClassList *l, const Op *op)
{
    size_t k = 1;
    switch (op->kind) {
    case OP_FILTER:
    case OP_SPLIT:
        add(l, op, CLASS_PASS, 0, 1);
        add(l, op, CLASS_FAIL, 0, 1);
        break;
    case OP_GROUP:
    case OP_CUBE: add(l, op, CLASS_GROUP_OF_TWO, 0, 1); break;
    case OP_JOIN:
        add(l, op, CLASS_JOINED, 0, 1);
        if (op->join == JOIN_LEFT || op->join == JOIN_FULL)
            add(l, op, CLASS_LEFT_ALONE, 0, 1);
        if (op->join == JOIN_RIGHT || op->join == JOIN_FULL)
            add(l, op, CLASS_RIGHT_ALONE, 1, 1);
        break;
    case OP_UNION:
        for (size_t i = 0; i < op->nin; i++)
            add(l, op, CLASS_FROM_INPUT, (int)i, 1);
        break;
    case OP_DISTINCT: add(l, op, CLASS_DUPLICATE, 0, 1); break;
    case OP_CROSS:
        for (size_t i = 0; i < op->nin; i++)
            k *= 2;
        add(l, op, CLASS_TWO_EACH, 0, k);
        break;
    case OP_ORDER: add(l, op, CLASS_TWO_DIFFERENT, 0, 2); break;
    case OP_LIMIT:
        limit_of(op, &k);
        add(l, op, CLASS_MORE_THAN_LIMIT, 0, k + 1);
        break;
    case OP_INTERSECT:
    case OP_EXCEPT:
        add(l, op, CLASS_IN_BOTH, 0, 1);
        add(l, op, CLASS_ONLY_LEFT, 0, 1);
        break;
    case OP_BAG:
    case OP_VALUES: break;
    default: add(l, op, CLASS_ROWS, 0, 1); break;
    }
}

static bool is_comparison(const Term *t) { return t->kind >= TERM_EQ && t->kind <= TERM_GE; }

/* Conditions joined by `kind`, flattened. */
typedef Vec(Term *) TermList;

static void parts_of(Term *t, TermKind kind, TermList *out)
{
    if (t->kind == kind) {
        parts_of(t->args[0], kind, out);
        parts_of(t->args[1], kind, out);
    } else {
        vec_push(out, t);
    }
}

static void collect_comparisons(Term *t, void *arg)
{
    if (is_comparison(t))
        vec_push((TermList *)arg, t);
}

static void extra_classes(ClassList *l, const Op *op, int goals)
{
    TermList parts = { 0 };
    size_t from = l->len;
    bool cond = op->kind == OP_FILTER || op->kind == OP_SPLIT;
    if (cond && (goals & GOALS_NULLS))
        add(l, op, CLASS_NULL, 0, 1);
    if (cond && (goals & GOALS_BOUNDARIES)) {
        term_walk(op->cond, collect_comparisons, &parts);
        for (size_t i = 0; i < parts.len; i++)
            add(l, op, CLASS_BOUNDARY, (int)i, 1)->atom = parts.items[i];
        parts.len = 0;
    }
    if (cond && (goals & GOALS_MCDC) && (op->cond->kind == TERM_AND || op->cond->kind == TERM_OR)) {
        parts_of(op->cond, op->cond->kind, &parts);
        for (size_t i = 0; i < parts.len; i++)
            add(l, op, CLASS_ONE_DECIDES, (int)i, 1)->atom = parts.items[i];
    }
    if (op->kind == OP_GROUP && op->nin > 1 && (goals & GOALS_EMPTY))
        for (size_t i = 0; i < op->nin; i++)
            if (!op->keys[i].inner)
                add(l, op, CLASS_EMPTY_SIDE, (int)i, 1);
    for (size_t i = from; i < l->len; i++)
        l->items[i].extra = true;
    vec_release(&parts);
}

Classes *classes_new(const Plan *p, int goals)
{
    Classes *c = xcalloc(1, sizeof *c);
    ClassList l = { 0 };
    c->plan = p;
    for (size_t i = 0; i < p->ops.len; i++) {
        if (p->ops.items[i]->hidden)
            continue;
        basic_classes(&l, p->ops.items[i]);
        extra_classes(&l, p->ops.items[i], goals);
    }
    c->n = l.len;
    c->items = arena_array(&c->arena, Class, l.len + 1);
    if (l.len)
        memcpy(c->items, l.items, l.len * sizeof *c->items);
    vec_release(&l);
    return c;
}

void classes_free(Classes *c)
{
    if (!c)
        return;
    arena_release(&c->arena);
    free(c);
}

/* ---- witnesses */

typedef struct Finder {
    const Class *c;
    const Run *r;
    Arena *a;
    Row ***out;
    size_t n, most;
    Evaluator *e;              /* for conditions of extra classes */
} Finder;

static bool found(Finder *f, Row *const *rows, size_t n)
{
    Row **w = arena_array(f->a, Row *, n + 1);
    memcpy(w, rows, n * sizeof *w);
    f->out[f->n++] = w;
    return f->n >= f->most;
}

static void find_rows(Finder *f, const Table *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (found(f, &t->rows[i], 1))
            return;
}

static void find_outcome(Finder *f, Outcome want)
{
    const Table *in = run_table(f->r, f->c->op->in[0]);
    for (size_t i = 0; i < in->n; i++)
        if (run_outcome(f->r, f->c->op, i) == want && found(f, &in->rows[i], 1))
            return;
}

/* Two members of one input are enough. */
static void find_groups(Finder *f)
{
    const Table *t = run_table(f->r, f->c->op);
    for (size_t i = 0; i < t->n; i++) {
        const Row *g = t->rows[i];
        for (size_t k = 0; k + 1 < g->nfrom; k++) {
            if (g->from[k]->op != g->from[k + 1]->op)
                continue;
            /* In a COGROUP of a relation with itself, bags tell the inputs apart. */
            const Datum *b = &g->tuple->fields[1];
            if (f->c->op->nin > 1 && b->kind == DATUM_BAG && k + 1 == b->u.bag->n)
                continue;
            Row *two[] = { g->from[k], g->from[k + 1] };
            if (found(f, two, 2))
                return;
            break;
        }
    }
}

static void find_empty_side(Finder *f)
{
    const Table *t = run_table(f->r, f->c->op);
    for (size_t i = 0; i < t->n; i++) {
        const Datum *b = &t->rows[i]->tuple->fields[f->c->part + 1];
        if (b->kind == DATUM_BAG && !b->u.bag->n && found(f, &t->rows[i], 1))
            return;
    }
}

/* Joined rows come from all inputs, the others from one. */
static void find_joined(Finder *f, bool joined)
{
    const Op *op = f->c->op;
    const Table *t = run_table(f->r, op);
    for (size_t i = 0; i < t->n; i++) {
        Row *row = t->rows[i];
        bool ok = joined ? row->nfrom == op->nin
                         : row->nfrom == 1 && row->from[0]->op == op->in[f->c->part]->id;
        /* A relation joined with itself: the side with nulls decides. */
        if (ok && !joined && op->in[0] == op->in[1] && op->in[0]->schema) {
            size_t w = op->in[0]->schema->n;
            const Datum *other = &row->tuple->fields[f->c->part ? 0 : w];
            for (size_t k = 0; k < w; k++)
                ok &= other[k].kind == DATUM_NULL;
        }
        if (ok && found(f, &row, 1))
            return;
    }
}

static void find_duplicates(Finder *f)
{
    const Table *t = run_table(f->r, f->c->op);
    for (size_t i = 0; i < t->n; i++)
        if (t->rows[i]->nfrom > 1 && found(f, t->rows[i]->from, 2))
            return;
}

static void find_two_each(Finder *f)
{
    const Op *op = f->c->op;
    Row *rows[64];
    size_t n = 0;
    for (size_t k = 0; k < op->nin && k < 32; k++) {
        const Table *t = run_table(f->r, op->in[k]);
        if (t->n < 2)
            return;
        rows[n++] = t->rows[0];
        rows[n++] = t->rows[1];
    }
    found(f, rows, n);
}

static void find_two_different(Finder *f)
{
    const Table *t = run_table(f->r, f->c->op->in[0]);
    for (size_t i = 1; i < t->n; i++)
        if (tuple_compare(t->rows[0]->tuple, t->rows[i]->tuple)) {
            Row *two[] = { t->rows[0], t->rows[i] };
            if (found(f, two, 2))
                return;
        }
}

static void find_more(Finder *f)
{
    const Table *in = run_table(f->r, f->c->op->in[0]), *out = run_table(f->r, f->c->op);
    if (in->n <= out->n || !out->n)
        return;
    found(f, in->rows, in->n < f->c->needs ? in->n : f->c->needs);
}

static void find_in_both(Finder *f, bool both)
{
    const Op *op = f->c->op;
    const Table *l = run_table(f->r, op->in[0]), *r = run_table(f->r, op->in[1]);
    Map right = { 0 };
    Str key = { 0 };
    for (size_t i = 0; i < r->n; i++) {
        Datum d = datum_tuple(r->rows[i]->tuple);
        str_reset(&key);
        eval_key(&key, &d);
        map_putn(&right, key.data, key.len, r->rows[i]);
    }
    for (size_t i = 0; i < l->n; i++) {
        Datum d = datum_tuple(l->rows[i]->tuple);
        str_reset(&key);
        eval_key(&key, &d);
        Row *other = map_getn(&right, key.data, key.len);
        Row *rows[] = { l->rows[i], other };
        if ((other != NULL) == both && found(f, rows, both ? 2 : 1))
            break;
    }
    str_release(&key);
    map_release(&right);
}

/* Rows where a comparison's sides are equal, or one condition decides. */
static bool atom_holds(Finder *f, const Tuple *row)
{
    Env env = { row, NULL };
    const Class *c = f->c;
    if (c->kind == CLASS_BOUNDARY) {
        Datum x = eval_term(&f->e->ev, c->atom->args[0], &env);
        Datum y = eval_term(&f->e->ev, c->atom->args[1], &env);
        return x.kind != DATUM_NULL && y.kind != DATUM_NULL && !eval_compare(&f->e->ev, &x, &y);
    }
    TermList parts = { 0 };
    bool and = c->op->cond->kind == TERM_AND, ok = true;
    parts_of(c->op->cond, c->op->cond->kind, &parts);
    for (size_t i = 0; i < parts.len; i++)
        ok &= eval_cond(&f->e->ev, parts.items[i], &env) ==
              (((int)i == c->part) == and? OUTCOME_FALSE : OUTCOME_TRUE);
    vec_release(&parts);
    return ok;
}

static void find_atoms(Finder *f)
{
    const Table *in = run_table(f->r, f->c->op->in[0]);
    for (size_t i = 0; i < in->n; i++)
        if (atom_holds(f, in->rows[i]->tuple) && found(f, &in->rows[i], 1))
            return;
}

size_t class_witnesses(const Class *c, const Run *r, Arena *a, Row ***out, size_t most)
{
    Finder f = { .c = c, .r = r, .a = a, .out = out, .most = most };
    const Op *op = c->op;
    if (!most)
        return 0;
    switch (c->kind) {
    case CLASS_ROWS: find_rows(&f, run_table(r, op->nin ? op->in[0] : op)); break;
    case CLASS_FROM_INPUT: find_rows(&f, run_table(r, op->in[c->part])); break;
    case CLASS_PASS: find_outcome(&f, OUTCOME_TRUE); break;
    case CLASS_FAIL: find_outcome(&f, OUTCOME_FALSE); break;
    case CLASS_NULL: find_outcome(&f, OUTCOME_NULL); break;
    case CLASS_GROUP_OF_TWO: find_groups(&f); break;
    case CLASS_EMPTY_SIDE: find_empty_side(&f); break;
    case CLASS_JOINED: find_joined(&f, true); break;
    case CLASS_LEFT_ALONE:
    case CLASS_RIGHT_ALONE: find_joined(&f, false); break;
    case CLASS_DUPLICATE: find_duplicates(&f); break;
    case CLASS_TWO_EACH: find_two_each(&f); break;
    case CLASS_TWO_DIFFERENT: find_two_different(&f); break;
    case CLASS_MORE_THAN_LIMIT: find_more(&f); break;
    case CLASS_IN_BOTH: find_in_both(&f, true); break;
    case CLASS_ONLY_LEFT: find_in_both(&f, false); break;
    case CLASS_BOUNDARY:
    case CLASS_ONE_DECIDES:
        f.e = run_evaluator(r);
        find_atoms(&f);
        evaluator_free(f.e);
        break;
    }
    return f.n;
}

void classes_measure(Classes *c, const Run *r)
{
    for (size_t i = 0; i < c->n; i++) {
        Class *k = &c->items[i];
        Row **w = NULL;
        k->shown = class_witnesses(k, r, run_arena((Run *)r), &w, 1) > 0;
        k->witness = w;
        k->nwitness = 0;
        while (w && w[k->nwitness])
            k->nwitness++;
    }
}

/* ---- words */

static const struct {
    const char *word, *text;
} words[] = {
    [CLASS_ROWS] = { "rows", "has a row" },
    [CLASS_PASS] = { "pass", "a row passes" },
    [CLASS_FAIL] = { "fail", "a row fails" },
    [CLASS_NULL] = { "null", "the condition is null" },
    [CLASS_GROUP_OF_TWO] = { "group-of-two", "a group has two rows" },
    [CLASS_JOINED] = { "joined", "rows join" },
    [CLASS_LEFT_ALONE] = { "left-alone", "a left row has no partner" },
    [CLASS_RIGHT_ALONE] = { "right-alone", "a right row has no partner" },
    [CLASS_FROM_INPUT] = { "from-input", "a row comes from" },
    [CLASS_DUPLICATE] = { "duplicate", "two rows are equal" },
    [CLASS_TWO_EACH] = { "two-each", "each input has two rows" },
    [CLASS_TWO_DIFFERENT] = { "two-different", "two rows differ" },
    [CLASS_MORE_THAN_LIMIT] = { "more-than-limit", "there are more rows than the limit" },
    [CLASS_IN_BOTH] = { "in-both", "a row is in both inputs" },
    [CLASS_ONLY_LEFT] = { "only-left", "a row is in the left input only" },
    [CLASS_BOUNDARY] = { "boundary", "both sides are equal" },
    [CLASS_ONE_DECIDES] = { "one-decides", "this condition alone decides" },
    [CLASS_EMPTY_SIDE] = { "empty-side", "a key has no row in" },
};

const char *class_word(ClassKind k) { return words[k].word; }

void class_print(const Class *c, Str *out)
{
    str_add(out, words[c->kind].text);
    if (c->kind == CLASS_FROM_INPUT || c->kind == CLASS_EMPTY_SIDE) {
        const char *alias = c->op->in[c->part]->alias;
        str_addf(out, " %s", alias ? alias : "an input");
    }
    if (c->atom) {
        str_add(out, ": ");
        term_print(c->atom, out);
    }
}

/* ---- figures */

static size_t distinct_rows(const Table *t)
{
    Map seen = { 0 };
    Str key = { 0 };
    for (size_t i = 0; i < t->n; i++) {
        Datum d = datum_tuple(t->rows[i]->tuple);
        str_reset(&key);
        eval_key(&key, &d);
        map_putn(&seen, key.data, key.len, t->rows[i]);
    }
    size_t n = seen.len;
    map_release(&seen);
    str_release(&key);
    return n;
}

/* Example tuples at an operator: at the output of those that make new rows, at
 * the input of others. */
static size_t tuples_at(const Run *r, const Op *op)
{
    if (!op->nin || op->kind == OP_GROUP || op->kind == OP_JOIN || op->kind == OP_CROSS ||
        op->kind == OP_CUBE)
        return distinct_rows(run_table(r, op));
    size_t n = 0;
    for (size_t i = 0; i < op->nin; i++)
        n += distinct_rows(run_table(r, op->in[i]));
    return n;
}

/* The mean over operators of (rows that the classes need) / (rows there). */
static double conciseness(const Classes *c, const Run *r)
{
    double sum = 0;
    size_t ops = 0;
    for (size_t i = 0; i < c->n;) {
        const Op *op = c->items[i].op;
        size_t needs = 0;
        for (; i < c->n && c->items[i].op == op; i++)
            if (!c->items[i].extra && c->items[i].why != WHY_UNSAT)
                needs += c->items[i].needs;
        size_t rows = tuples_at(r, op);
        if (!rows || !needs)
            continue;
        sum += needs >= rows ? 1 : (double)needs / (double)rows;
        ops++;
    }
    return ops ? sum / (double)ops : 1;
}

static double realism(const Plan *p, const Input *inputs, bool *const *made)
{
    size_t all = 0, invented = 0;
    for (size_t i = 0; i < p->ops.len; i++) {
        if (p->ops.items[i]->kind != OP_LOAD)
            continue;
        all += inputs[i].n;
        for (size_t k = 0; made && made[i] && k < inputs[i].n; k++)
            invented += made[i][k];
    }
    return all ? 1 - (double)invented / (double)all : 1;
}

/* The mean over operators of shown / possible classes. */
static double completeness(const Classes *c)
{
    double sum = 0;
    size_t ops = 0;
    for (size_t i = 0; i < c->n;) {
        const Op *op = c->items[i].op;
        size_t shown = 0, all = 0;
        for (; i < c->n && c->items[i].op == op; i++)
            if (!c->items[i].extra && (c->items[i].shown || c->items[i].why != WHY_UNSAT)) {
                all++;
                shown += c->items[i].shown;
            }
        if (!all)
            continue;
        sum += (double)shown / (double)all;
        ops++;
    }
    return ops ? sum / (double)ops : 1;
}

Metrics classes_metrics(const Classes *c, const Run *r, const Input *inputs, bool *const *made)
{
    Metrics m = { 0 };
    for (size_t i = 0; i < c->n; i++) {
        const Class *k = &c->items[i];
        bool impossible = !k->shown && k->why == WHY_UNSAT;
        *(k->extra ? &m.extra_all : &m.all) += !impossible;
        *(k->extra ? &m.extra_impossible : &m.impossible) += impossible;
        *(k->extra ? &m.extra_shown : &m.shown) += k->shown;
    }
    m.completeness = completeness(c);
    m.conciseness = conciseness(c, r);
    m.realism = realism(c->plan, inputs, made);
    assert(m.completeness >= 0 && m.completeness <= 1);
    assert(m.conciseness >= 0 && m.conciseness <= 1);
    return m;
}
