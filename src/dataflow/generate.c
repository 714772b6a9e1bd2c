#include "dataflow/generate.h"
#include "base/map.h"
#include "base/units.h"
#include "dataflow/copies.h"
#include "dataflow/know.h"
#include "dataflow/load.h"
#include "dataflow/rules.h"
#include "dataflow/sym.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>

enum {
    MOST_LINEAGE = 24,
    MOST_WITNESSES = 8,
    MOST_SHAPES = 48,
    MOST_ROUNDS = 16,
    MOST_LEAVES = 300,
    MOST_EASY = 16,
    MOST_REPAIRS = 6,
    MOST_TRIES = 300,
    MOST_MERGES = 120,
    MOST_COPIES = 400
};

typedef struct ExRow {
    const Tuple *t;
    bool made;
    const Class *many;         /* one of the many rows of this class: all are needed; or NULL */
} ExRow;

typedef Vec(ExRow) ExRows;

typedef struct Gen {
    const Plan *p;
    const GeneratePlan *gp;
    Know *know;
    Classes *classes;
    Arena arena;
    ExRows *rows;              /* by op id, of masters */
    Run *run;                  /* of `rows` */
    Input *inputs;             /* of that run */
    Evaluator *ev;
    Rng rng;
    double deadline;
    size_t queries, faults, broken;
    struct OpFacts *facts;     /* by op id */
    bool one_group;            /* above the class that is looked for */
    bool no_proof;             /* the shapes are not all that there are */
} Gen;

/* ---- tables of the same file */

const Op *load_master(const Plan *p, const Op *load)
{
    const Op *best = load;
    for (size_t i = 0; i < p->ops.len; i++) {
        const Op *o = p->ops.items[i];
        if (o->kind != OP_LOAD || strcmp(o->path, load->path) ||
            (o->loader != NULL) != (load->loader != NULL) ||
            (o->loader && strcmp(o->loader, load->loader)))
            continue;
        size_t n = o->schema ? o->schema->n : 0, m = best->schema ? best->schema->n : 0;
        if (n > m || (n == m && o->id < best->id))
            best = o;
    }
    return best;
}

static bool same_schema(const Op *x, const Op *y)
{
    if (!x->schema || !y->schema)
        return x->schema == y->schema;
    bool same = x->schema->n == y->schema->n;
    for (size_t i = 0; same && i < x->schema->n; i++)
        same = x->schema->fields[i].type.kind == y->schema->fields[i].type.kind;
    return same;
}

/* A row of one LOAD as another LOAD of the same file reads it. */
static const Tuple *reread(const Op *from, const Op *to, const Tuple *t, Arena *a)
{
    if (from == to || same_schema(from, to))
        return t;
    Input one = { &t, 1 }, out = { 0 };
    Str s = { 0 };
    load_print(from, &one, &s);
    load_text(to, str_c(&s), a, &out);
    str_release(&s);
    return out.n ? out.rows[0] : tuple_new(a, to->schema ? to->schema->n : 0);
}

/* ---- running */

static Input *inputs_of(Gen *g, Arena *a)
{
    Input *in = arena_array(a, Input, g->p->ops.len);
    for (size_t i = 0; i < g->p->ops.len; i++) {
        const Op *op = g->p->ops.items[i];
        if (op->kind != OP_LOAD)
            continue;
        const Op *m = load_master(g->p, op);
        in[i].n = g->rows[m->id].len;
        in[i].rows = arena_array(a, const Tuple *, in[i].n + 1);
        for (size_t k = 0; k < in[i].n; k++)
            in[i].rows[k] = reread(m, op, g->rows[m->id].items[k].t, a);
    }
    return in;
}

static Run *run_rows(Gen *g, bool marks, Input **inputs)
{
    Arena *a = &g->arena;
    *inputs = inputs_of(g, a);
    return run_plan(g->p,
                    &(RunPlan){ .inputs = *inputs,
                                .udfs = g->gp->udfs,
                                .seed = g->gp->seed,
                                .max_rows = 200000,
                                .marks = marks,
                                .seconds = 5 },
                    NULL);
}

/* ---- what the kinds of the ops tell */

typedef struct OpFacts {
    size_t below;              /* rows of tables that a row is made of, about */
    size_t most;               /* rows that there can be; SIZE_MAX: any number */
    bool counts;               /* the number of rows decides here or above */
} OpFacts;

static size_t sum(size_t x, size_t y) { return x > SIZE_MAX - y ? SIZE_MAX : x + y; }

static size_t limit_of_rows(const Op *op, const OpFacts *in)
{
    const Term *t = op->count;
    bool known = t && t->kind == TERM_CONST && t->value.kind == DATUM_LONG && t->value.u.i >= 0;
    return known && (size_t)t->value.u.i < in->most ? (size_t)t->value.u.i : in->most;
}

static size_t most_rows(const Op *op, const OpFacts *facts)
{
    const OpFacts *in = op->nin ? &facts[op->in[0]->id] : NULL;
    size_t n = 0;
    switch (op->kind) {
    case OP_VALUES: return op->nrows;
    case OP_GROUP: return op->all ? 1 : SIZE_MAX;
    case OP_FOREACH:
        for (size_t i = 0; i < op->nitems; i++)
            if (op->items[i].flatten)
                return SIZE_MAX;
        return in->most;
    case OP_UNION:
        for (size_t i = 0; i < op->nin; i++)
            n = sum(n, facts[op->in[i]->id].most);
        return n;
    case OP_CROSS:
        for (size_t i = 0; i < op->nin; i++)
            n |= facts[op->in[i]->id].most;
        return n <= 1 ? n : SIZE_MAX;
    case OP_LIMIT: return limit_of_rows(op, in);
    case OP_FILTER:
    case OP_SPLIT:
    case OP_ORDER:
    case OP_DISTINCT:
    case OP_SAMPLE:
    case OP_WINDOW: return in->most;
    default: return SIZE_MAX;
    }
}

/* Inputs stand before their users. */
static void look_at_ops(Gen *g)
{
    g->facts = arena_array(&g->arena, OpFacts, g->p->ops.len + 1);
    for (size_t i = 0; i < g->p->ops.len; i++) {
        const Op *op = g->p->ops.items[i];
        OpFacts *f = &g->facts[i];
        size_t most = 0;
        f->counts = op->kind == OP_GROUP || op->kind == OP_WINDOW || op->kind == OP_RANK;
        f->below = op->kind == OP_LOAD;
        for (size_t k = 0; k < op->nin; k++) {
            const OpFacts *in = &g->facts[op->in[k]->id];
            assert(op->in[k]->id < (int)i);
            f->counts |= in->counts;
            f->below = sum(f->below, in->below);
            most = in->below > most ? in->below : most;
        }
        if (op->kind == OP_GROUP)
            f->below = sum(f->below, f->below);
        if (op->kind == OP_UNION)
            f->below = most;
        f->most = most_rows(op, g->facts);
    }
}

static size_t faults_of(const Run *r)
{
    const Fault *f;
    return run_faults(r, &f);
}

/* Which classes a run shows. */
static bool *shown_in(Gen *g, const Run *r)
{
    classes_measure(g->classes, r);
    bool *s = xcalloc(g->classes->n + 1, sizeof *s);
    for (size_t i = 0; i < g->classes->n; i++)
        s[i] = g->classes->items[i].shown;
    return s;
}

static bool covers(const bool *have, const bool *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (want[i] && !have[i])
            return false;
    return true;
}

static size_t count(const bool *b, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        k += b[i];
    return k;
}

static bool late(const Gen *g)
{
    return clock_seconds() > g->deadline || (g->gp->stop && g->gp->stop(g->gp->stop_arg));
}

static bool refresh(Gen *g)
{
    Input *inputs;
    Run *r = run_rows(g, false, &inputs);
    if (!r)
        return false;
    run_free(g->run);
    g->run = r;
    g->inputs = inputs;
    evaluator_free(g->ev);
    g->ev = run_evaluator(r);
    g->faults = faults_of(r);
    g->broken = rules_broken(g->p, inputs);
    classes_measure(g->classes, r);
    return true;
}

/* ---- real rows */

typedef struct Chosen {
    Map set;                   /* BaseRow -> anything */
    Vec(BaseRow) list;
} Chosen;

static size_t new_rows(const Chosen *c, const BaseRows *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->len; i++)
        n += !map_getn(&c->set, &b->items[i], sizeof b->items[i]);
    return n;
}

static void choose(Chosen *c, const BaseRows *b)
{
    for (size_t i = 0; i < b->len; i++)
        if (map_putn(&c->set, &b->items[i], sizeof b->items[i], c))
            vec_push(&c->list, b->items[i]);
}

static void lineage_of(Gen *g, Row *const *witness, BaseRows *out)
{
    BaseRows all = { 0 };
    for (size_t i = 0; witness[i]; i++)
        row_lineage(witness[i], &all);
    for (size_t i = 0; i < all.len; i++) {
        BaseRow b = { load_master(g->p, g->p->ops.items[all.items[i].op])->id, all.items[i].row };
        vec_push(out, b);
    }
    vec_release(&all);
}

/* The witness that costs the fewest new rows. */
static void choose_for(Gen *g, const Run *sample, const Class *c, Chosen *chosen)
{
    Arena a = { 0 };
    Row **w[MOST_WITNESSES];
    size_t n = class_witnesses(c, sample, &a, w, MOST_WITNESSES), best = SIZE_MAX;
    BaseRows pick = { 0 };
    for (size_t i = 0; i < n && best; i++) {
        BaseRows b = { 0 };
        lineage_of(g, w[i], &b);
        size_t cost = new_rows(chosen, &b);
        size_t most = c->needs > MOST_LINEAGE ? c->needs + 8 : MOST_LINEAGE;
        if (cost < best && b.len <= most) {
            best = cost;
            vec_release(&pick);
            pick = b;
        } else {
            vec_release(&b);
        }
    }
    choose(chosen, &pick);
    vec_release(&pick);
    arena_release(&a);
}

static void take_chosen(Gen *g, const Chosen *c)
{
    for (size_t i = 0; i < g->p->ops.len; i++)
        g->rows[i].len = 0;
    for (size_t i = 0; i < c->list.len; i++) {
        BaseRow b = c->list.items[i];
        ExRow r = { g->gp->samples[b.op].rows[b.row], false, NULL };
        vec_push(&g->rows[b.op], r);
    }
}

/* Rows of the sample that show what the sample shows. */
static void cover_with_real_rows(Gen *g)
{
    Run *sample = run_plan(g->p,
                           &(RunPlan){ .inputs = g->gp->samples,
                                       .udfs = g->gp->udfs,
                                       .seed = g->gp->seed,
                                       .max_rows = 300000,
                                       .seconds = 10 },
                           NULL);
    if (!sample)
        return;
    bool *want = shown_in(g, sample);
    Chosen chosen = { 0 };
    for (size_t i = g->classes->n; i-- > 0;)
        if (want[i])
            choose_for(g, sample, &g->classes->items[i], &chosen);
    take_chosen(g, &chosen);
    map_release(&chosen.set);
    vec_release(&chosen.list);
    free(want);
    run_free(sample);
    refresh(g);
}

/* ---- solving */

typedef struct Wish {
    Truth t;
    int rank;                  /* dropped from the highest down */
} Wish;

typedef Vec(Wish) Wishes;

static void wish(Wishes *w, Truth t, int rank)
{
    Wish x = { t, rank };
    vec_push(w, x);
}

enum { WISH_THERE = 1, WISH_RANGE, WISH_STRANGER, WISH_NICE, WISH_SAMPLE };

static void wish_number(Sought *s, const Sym *x, Wishes *w, bool few)
{
    const Column *c = x->column;
    bool known = c && c->least <= c->most && !s->know->no_real_values;
    double least = known ? c->least : 0, most = known ? c->most : 100;
    bool real = arith_is_real(s->z, x->num);
    if (x->kind == DATUM_DATETIME && !known) {
        least = 1.2e12;
        most = 1.7e12;
    }
    Num lo = real ? arith_real(s->z, least) : arith_int(s->z, (int64_t)least);
    Num hi = real ? arith_real(s->z, most) : arith_int(s->z, (int64_t)most);
    wish(w, arith_and(s->z, arith_le(s->z, lo, x->num), arith_le(s->z, x->num, hi)), WISH_RANGE);
    if (few && known && c->nsamples) {
        Truth *t = arena_array(s->a, Truth, c->nsamples);
        size_t n = 0;
        for (size_t i = 0; i < c->nsamples; i++)
            if (c->samples[i].kind == x->kind) {
                Sym d = sym_const(s, &c->samples[i]);
                t[n++] = arith_eq(s->z, x->num, d.num);
            }
        wish(w, arith_any(s->z, t, n), WISH_SAMPLE);
    } else if (few && real) {
        Num quarter =
            arith_mul(s->z, arith_to_real(s->z, arith_int_var(s->z)), arith_real(s->z, 0.25));
        wish(w, arith_eq(s->z, x->num, quarter), WISH_NICE);
        wish(w, arith_not(s->z, arith_eq(s->z, x->num, arith_real(s->z, 0))), WISH_NICE);
    }
}

static bool is_readable(const Datum *d)
{
    bool ok = d->len > 0 && d->u.s[0] != ' ';
    for (size_t i = 0; i < d->len; i++)
        ok &= (unsigned char)d->u.s[i] >= ' ' && (unsigned char)d->u.s[i] < 127;
    return ok;
}

static void wish_text(Sought *s, const Sym *x, Wishes *w)
{
    const Column *c = x->column;
    Truth *t = arena_array(s->a, Truth, x->nalts + 1);
    size_t n = 0;
    for (size_t i = 0; i < x->nalts && (x->kind == DATUM_TEXT || x->kind == DATUM_BYTES); i++)
        if (!is_readable(&x->alts[i].value))
            t[n++] = x->alts[i].when;
    if (n)
        wish(w, arith_not(s->z, arith_any(s->z, t, n)), WISH_NICE);
    if (!c || !c->nsamples || s->know->no_real_values)
        return;
    n = 0;
    for (size_t i = 0; i < x->nalts && i < c->nsamples; i++)
        t[n++] = x->alts[i].when;
    wish(w, arith_any(s->z, t, n), WISH_SAMPLE);
}

static void collect_wishes(Sought *s, Wishes *w)
{
    size_t leaves = 0;
    for (size_t i = 0; i < s->slots.len; i++)
        for (size_t k = 0; k < s->slots.items[i].row.n; k++)
            leaves += s->slots.items[i].used[k];
    for (size_t i = 0; i < s->slots.len; i++) {
        const Slot *slot = &s->slots.items[i];
        for (size_t k = 0; k < slot->row.n; k++) {
            const Sym *x = &slot->row.fields[k];
            if (!slot->used[k])
                continue;
            wish(w, arith_not(s->z, x->null), WISH_THERE);
            if (x->num)
                wish_number(s, x, w, leaves < MOST_LEAVES);
            else if (x->nalts && leaves < MOST_LEAVES)
                wish_text(s, x, w);
        }
    }
}

/* Drops wishes that contradict, the least important first. `strangers`: new rows
 * should not join old ones. */
static ArithAnswer check_with_wishes(Gen *g, Sought *s, bool strangers)
{
    Wishes w = { 0 };
    g->queries++;
    ArithAnswer plain = arith_check(s->z, NULL, 0);
    if (plain != ARITH_SAT)
        return plain;
    collect_wishes(s, &w);
    for (size_t i = 0; strangers && i < s->strangers.len; i++)
        wish(&w, s->strangers.items[i], WISH_STRANGER);
    ArithAnswer a = ARITH_UNSAT;
    for (int round = 0; round < MOST_ROUNDS && a != ARITH_SAT && !late(g); round++) {
        Truth *t = arena_array(s->a, Truth, w.len + 1);
        for (size_t i = 0; i < w.len; i++)
            t[i] = w.items[i].t;
        a = arith_check(s->z, t, w.len);
        if (a == ARITH_SAT)
            break;
        int worst = 0;
        for (size_t i = 0; i < w.len; i++)
            if ((a == ARITH_UNKNOWN || arith_core_has_wish(s->z, i)) && w.items[i].rank > worst)
                worst = w.items[i].rank;
        size_t kept = 0;
        for (size_t i = 0; i < w.len; i++) {
            bool drop =
                w.items[i].rank == worst &&
                (a == ARITH_UNKNOWN || arith_core_has_wish(s->z, i) || round + 4 >= MOST_ROUNDS);
            if (!drop)
                w.items[kept++] = w.items[i];
        }
        w.len = kept;
        if (!worst)
            break;
    }
    vec_release(&w);
    return a == ARITH_SAT ? a : arith_check(s->z, NULL, 0);
}

/* ---- rows from a model */

static bool in_sample(const Gen *g, const Op *op, size_t column, const Datum *v)
{
    const Column *c = column < g->know->ncolumns[op->id] ? &g->know->columns[op->id][column] : NULL;
    if (v->kind == DATUM_NULL)
        return c && c->null_seen;
    for (size_t i = 0; c && i < c->nsamples; i++)
        if (!datum_compare(&c->samples[i], v))
            return true;
    return false;
}

/* Something readable for a column that nobody looks at. */
static Datum filler(Gen *g, Type t, size_t row, size_t column)
{
    static const char *const words[] = {
        "ann", "bob", "cleo", "dan", "eve", "finn", "gus", "hana"
    };
    size_t k = row + column;
    switch (t.kind) {
    case DATUM_INT: return datum_int((int32_t)(k + 1));
    case DATUM_LONG: return datum_long((int64_t)(k + 1));
    case DATUM_FLOAT: return datum_float((double)k + 0.5);
    case DATUM_DOUBLE:
    case DATUM_BIGDEC: {
        Datum d = datum_double((double)k + 0.5);
        d.kind = (uint8_t)t.kind;
        return d;
    }
    case DATUM_BIGINT: {
        Datum d = datum_long((int64_t)k + 1);
        d.kind = DATUM_BIGINT;
        return d;
    }
    case DATUM_BOOL: return datum_bool(k % 2);
    case DATUM_DATETIME: return datum_datetime(1262304000000LL + (int64_t)k * 86400000LL);
    case DATUM_TUPLE:
    case DATUM_BAG:
    case DATUM_MAP: return datum_null();
    case DATUM_TEXT:
        if (g->know->ndates)
            return g->know->dates[k % g->know->ndates];
        return datum_text(&g->arena, words[k % 8]);
    default: {
        if (g->know->ndates) {
            Datum d = g->know->dates[k % g->know->ndates];
            d.kind = DATUM_BYTES;
            return d;
        }
        /* Untyped: digits are good as a text and as a number. */
        char *s = arena_printf(&g->arena, "%zu", k + 1);
        return datum_borrow(DATUM_BYTES, s, strlen(s));
    }
    }
}

static const Tuple *row_from(Gen *g, Sought *s, const Slot *slot)
{
    const Op *op = slot->load;
    const Input *sample = g->gp->samples && !g->gp->no_real_values ? &g->gp->samples[op->id] : NULL;
    const Tuple *like = sample && sample->n ? sample->rows[rng_below(&g->rng, sample->n)] : NULL;
    Tuple *t = tuple_new(&g->arena, slot->row.n);
    for (size_t i = 0; i < t->n; i++) {
        Type type = op->schema ? op->schema->fields[i].type : dtype_of(DATUM_BYTES);
        if (slot->used[i])
            t->fields[i] = sym_value(s, &slot->row.fields[i], type, &g->arena);
        else if (like && i < like->n)
            t->fields[i] = like->fields[i];
        else
            t->fields[i] =
                op->rules && op->rules->defaults && op->rules->defaults[i].kind != DATUM_NULL
                    ? op->rules->defaults[i]
                    : filler(g, type, g->rows[op->id].len, i);
        t->fields[i] = rules_fit(op, i, t->fields[i], &g->arena);
        if (!in_sample(g, op, i, &t->fields[i]) || g->gp->no_real_values)
            t->fields[i] = datum_mark_made(&g->arena, &t->fields[i]);
    }
    return t;
}

/* A slot before this one has the same primary key: it is the same row. */
static bool is_twin(Gen *g, Sought *s, size_t at)
{
    const Slot *slot = &s->slots.items[at];
    const TableRules *r = slot->load->rules;
    const struct UniqueKey *key = NULL;
    for (size_t i = 0; r && i < r->nunique; i++)
        key = r->unique[i].primary ? &r->unique[i] : key;
    for (size_t k = 0; key && k < at; k++) {
        const Slot *o = &s->slots.items[k];
        bool same = o->load == slot->load && arith_truth_value(s->z, o->present);
        for (size_t i = 0; same && i < key->n; i++) {
            int c = key->columns[i];
            Type t = slot->load->schema->fields[c].type;
            Datum x = sym_value(s, &slot->row.fields[c], t, &g->arena);
            Datum y = sym_value(s, &o->row.fields[c], t, &g->arena);
            same = !datum_compare(&x, &y);
        }
        if (same)
            return true;
    }
    return false;
}

static void add_rows(Gen *g, Sought *s)
{
    for (size_t i = 0; i < s->slots.len; i++) {
        const Slot *slot = &s->slots.items[i];
        if (!arith_truth_value(s->z, slot->present) || is_twin(g, s, i))
            continue;
        const Op *m = load_master(g->p, slot->load);
        ExRow r = { reread(slot->load, m, row_from(g, s, slot), &g->arena), true, NULL };
        if (m != slot->load && !same_schema(m, slot->load)) {
            Tuple *full = tuple_new(&g->arena, r.t->n);
            for (size_t c = 0; c < full->n; c++)
                full->fields[c] = datum_mark_made(&g->arena, &r.t->fields[c]);
            r.t = full;
        }
        vec_push(&g->rows[m->id], r);
    }
}

static void drop_rows(Gen *g, const size_t *lens)
{
    for (size_t i = 0; i < g->p->ops.len; i++)
        g->rows[i].len = lens[i];
}

/* What there was before new rows came. */
typedef struct Before {
    size_t *lens;
    bool *shown;
} Before;

static Before before(Gen *g)
{
    Before b = { xcalloc(g->p->ops.len, sizeof *b.lens),
                 xcalloc(g->classes->n + 1, sizeof *b.shown) };
    for (size_t i = 0; i < g->p->ops.len; i++)
        b.lens[i] = g->rows[i].len;
    for (size_t i = 0; i < g->classes->n; i++)
        b.shown[i] = g->classes->items[i].shown;
    return b;
}

static void before_release(Before *b)
{
    free(b->lens);
    free(b->shown);
}

/* Runs with the new rows. Keeps them if the class is shown and nothing else is
 * lost. */
static bool keep_rows(Gen *g, const Before *b, size_t class)
{
    Input *inputs;
    size_t n = g->classes->n;
    Run *r = run_rows(g, false, &inputs);
    bool *after = r ? shown_in(g, r) : NULL;
    bool ok = r && after[class] && faults_of(r) <= g->faults &&
              rules_broken(g->p, inputs) <= g->broken &&
              (covers(after, b->shown, n) || count(after, n) > count(b->shown, n));
    run_free(r);
    if (!ok) {
        drop_rows(g, b->lens);
        for (size_t i = 0; i < n; i++)
            g->classes->items[i].shown = b->shown[i];
    } else {
        refresh(g);
    }
    free(after);
    return ok;
}

static bool confirm(Gen *g, Sought *s, size_t class)
{
    Before b = before(g);
    add_rows(g, s);
    bool ok = keep_rows(g, &b, class);
    before_release(&b);
    return ok;
}

/* ---- copies of rows that are there */

typedef struct Copying {
    Copier c;
    BaseRows rows;             /* what is copied */
    bool *chosen;              /* by op id: rows of this LOAD take part */
    int rounds;                /* copies of each, unless the class says how many */
} Copying;

static void push_copies(Gen *g, Copying *x, int rounds, const Class *many)
{
    for (x->c.round = 1; x->c.round <= rounds; x->c.round++)
        for (size_t i = 0; i < x->rows.len; i++) {
            BaseRow b = x->rows.items[i];
            if (!x->chosen[b.op])
                continue;
            const Op *op = g->p->ops.items[b.op];
            ExRow r = { copies_row(&x->c, op, g->rows[b.op].items[b.row].t), true, many };
            vec_push(&g->rows[b.op], r);
        }
}

/* One copy: does it bring one more row to the op, and break nothing? */
static bool copy_brings_row(Gen *g, Copying *x, const Op *op)
{
    Before b = before(g);
    Input *inputs;
    push_copies(g, x, 1, NULL);
    Run *r = run_rows(g, false, &inputs);
    bool ok = r && run_table(r, op)->n > run_table(g->run, op)->n && faults_of(r) <= g->faults &&
              rules_broken(g->p, inputs) <= g->broken;
    run_free(r);
    drop_rows(g, b.lens);
    before_release(&b);
    return ok;
}

/* Tables whose rows need not be copied for one more row. */
static void fewer_tables(Gen *g, Copying *x, const Op *op)
{
    for (size_t i = 0; i < g->p->ops.len; i++) {
        if (!x->chosen[i])
            continue;
        x->chosen[i] = false;
        if (!copy_brings_row(g, x, op))
            x->chosen[i] = true;
    }
}

static bool try_copies(Gen *g, Copying *x, size_t class)
{
    const Class *c = &g->classes->items[class];
    const Op *in = c->op->in[0];
    size_t have = run_table(g->run, in)->n;
    int rounds = x->rounds;
    if (c->kind == CLASS_MORE_THAN_LIMIT) {
        if (!copy_brings_row(g, x, in))
            return false;
        fewer_tables(g, x, in);
        rounds = c->needs > have ? (int)(c->needs - have) : 1;
    }
    Before b = before(g);
    push_copies(g, x, rounds, rounds > 4 ? c : NULL);
    bool ok = keep_rows(g, &b, class);
    before_release(&b);
    return ok;
}

/* Keys alone, keys and what GROUP and ORDER look at, then with other words. */
static bool try_variants(Gen *g, Copying *x, bool **varied, size_t class, int words)
{
    for (int v = 0; v < 2 + words && !late(g); v++) {
        x->c.varied = v ? varied : NULL;
        x->c.word = v < 2 ? -1 : v - 2;
        if (try_copies(g, x, class))
            return true;
    }
    return false;
}

static void choose_tables(Copying *x, bool yes)
{
    for (size_t i = 0; i < x->rows.len; i++)
        x->chosen[x->rows.items[i].op] = yes;
}

static bool **flags_for_columns(Gen *g)
{
    bool **f = arena_array(&g->arena, bool *, g->p->ops.len);
    for (size_t i = 0; i < g->p->ops.len; i++)
        f[i] = arena_array(&g->arena, bool, g->know->ncolumns[i] + 1);
    return f;
}

/* One part of a key changes: joins and conditions may look at the others. */
static bool try_parts(Gen *g, Copying *x, const Op *load, size_t class)
{
    bool **held = flags_for_columns(g), ok = false;
    const TableRules *r = load->rules;
    x->c.varied = NULL;
    x->c.word = -1;
    x->c.held = held;
    for (size_t u = 0; r && u < r->nunique; u++)
        for (size_t k = 0; r->unique[u].n > 1 && k < r->unique[u].n && !ok && !late(g); k++) {
            for (size_t i = 0; i < r->unique[u].n; i++)
                held[load->id][r->unique[u].columns[i]] = i != k;
            ok = try_copies(g, x, class);
            for (size_t i = 0; i < r->unique[u].n; i++)
                held[load->id][r->unique[u].columns[i]] = false;
        }
    x->c.held = NULL;
    return ok;
}

/* Rows of one table of the lineage, then of all. */
static bool try_subsets(Gen *g, Copying *x, bool **varied, size_t class)
{
    bool ok = false;
    for (size_t i = 0; i < x->rows.len && !ok; i++)
        if (!i || x->rows.items[i].op != x->rows.items[i - 1].op) {
            x->chosen[x->rows.items[i].op] = true;
            ok = try_variants(g, x, varied, class, 8) ||
                 try_parts(g, x, g->p->ops.items[x->rows.items[i].op], class);
            x->chosen[x->rows.items[i].op] = false;
        }
    choose_tables(x, true);
    return ok || try_variants(g, x, varied, class, 40);
}

/* One column of all that GROUP and ORDER look at: the others may have to stay as
 * they are. */
static bool try_each_column(Gen *g, Copying *x, bool **varied, size_t class)
{
    bool **one = flags_for_columns(g), ok = false;
    x->c.varied = one;
    x->c.word = -1;
    for (size_t i = 0; i < g->p->ops.len; i++)
        for (size_t c = 0; c < g->know->ncolumns[i] && !ok && !late(g); c++) {
            if (!varied[i][c] || !x->chosen[i])
                continue;
            one[i][c] = true;
            ok = try_copies(g, x, class);
            one[i][c] = false;
        }
    return ok;
}

/* Copies of one row, then of all, in a group that is there or in a new one. */
static bool try_rounds(Gen *g, Copying *x, bool **keys, size_t class)
{
    bool ok = false;
    const BaseRows all = x->rows;
    for (int word = -1; word < 4 && !ok && !late(g); word++) {
        x->c.varied = word < 0 ? NULL : keys;
        x->c.word = word;
        x->c.alike = word >= 0;
        choose_tables(x, false);
        for (size_t i = 0; i < all.len && !ok; i++) {
            x->rows = (BaseRows){ .items = &all.items[i], .len = 1 };
            x->chosen[all.items[i].op] = true;
            ok = try_copies(g, x, class);
            x->chosen[all.items[i].op] = false;
        }
        x->rows = all;
        choose_tables(x, true);
        ok = ok || try_copies(g, x, class);
    }
    return ok;
}

/* HAVING count(*) < 200: as many copies as a constant of the program says. */
static bool try_many(Gen *g, Copying *x, bool **keys, size_t class)
{
    bool ok = false;
    copies_keys_above(g->classes->items[class].op, keys, g->know);
    x->c.held = keys;
    for (size_t k = 0; k < g->know->nnumbers && !ok; k++) {
        double d = datum_as_double(&g->know->numbers[k]);
        if (d <= 5 || d > MOST_COPIES)
            continue;
        x->rounds = (int)d;
        ok = try_rounds(g, x, keys, class);
    }
    x->rounds = 1;
    x->c.alike = false;
    x->c.held = NULL;
    return ok;
}

static size_t all_rows(Gen *g, Copying *x)
{
    x->rows.len = 0;
    for (size_t i = 0; i < g->p->ops.len; i++)
        for (size_t k = 0; k < g->rows[i].len; k++) {
            BaseRow b = { (int)i, (int)k };
            vec_push(&x->rows, b);
            x->chosen[i] = true;
        }
    return x->rows.len;
}

static bool is_of_condition(const Class *c)
{
    return (c->kind == CLASS_PASS || c->kind == CLASS_FAIL) && c->op->cond;
}

/* One row is there, and the class takes more like it. */
static bool copy_class(Gen *g, size_t class)
{
    const Class *c = &g->classes->items[class];
    bool fits = c->kind == CLASS_MORE_THAN_LIMIT || c->kind == CLASS_TWO_DIFFERENT ||
                c->kind == CLASS_GROUP_OF_TWO || c->kind == CLASS_DUPLICATE || is_of_condition(c);
    const Table *t = fits && c->op->nin == 1 ? run_table(g->run, c->op->in[0]) : NULL;
    if (!t || !t->n || c->needs > t->n + MOST_COPIES)
        return false;
    size_t nops = g->p->ops.len;
    Row *witness[] = { t->rows[0], NULL };
    Copying x = { .chosen = arena_array(&g->arena, bool, nops), .rounds = 1 };
    bool **varied = flags_for_columns(g);
    if (is_of_condition(c))
        copies_columns_of(c->op->cond, c->op->in[0], varied, g->know);
    else
        copies_keys_above(c->op, varied, g->know);
    x.c = (Copier){ .plan = g->p,
                    .know = g->know,
                    .arena = &g->arena,
                    .copied = x.chosen,
                    .step = copies_step(g->p, g->inputs),
                    .old = (int)all_rows(g, &x) };
    x.rows.len = 0;
    memset(x.chosen, 0, nops * sizeof *x.chosen);
    lineage_of(g, witness, &x.rows);
    bool ok = try_subsets(g, &x, varied, class) || try_each_column(g, &x, varied, class) ||
              (is_of_condition(c) && g->facts[c->op->id].counts &&
               try_many(g, &x, flags_for_columns(g), class));
    if (!ok) {
        all_rows(g, &x);
        ok = x.rows.len < 60 && try_variants(g, &x, varied, class, 40);
    }
    vec_release(&x.rows);
    return ok;
}

/* ---- one class */

typedef struct Verdict {
    bool solved;
    bool proof;                /* unsatisfiable, and exactly so */
    const char *why;
    int core[64];
    size_t ncore;
} Verdict;

static void read_core(Sought *s, Verdict *v)
{
    int tags[64];
    size_t n = arith_core(s->z, tags, 64);
    v->proof = !s->inexact;
    v->ncore = 0;
    for (size_t i = 0; i < n; i++) {
        if (tags[i] == TAG_FRESH || tags[i] == TAG_DOMAIN)
            v->proof = false;
        if (tags[i] >= TAG_OPS)
            v->core[v->ncore++] = tags[i] - TAG_OPS;
    }
}

static Truth near(Sought *s, Num x, Num y)
{
    Num step = arith_real(s->z, 1.0 / 128);
    return arith_and(s->z, arith_lt(s->z, arith_sub(s->z, y, step), x),
                     arith_lt(s->z, x, arith_add(s->z, y, step)));
}

/* Not the same rows again: some cell must differ. */
static void exclude_model(Sought *s)
{
    Vec(Truth) differ = { 0 };
    for (size_t i = 0; i < s->slots.len; i++)
        for (size_t k = 0; k < s->slots.items[i].row.n; k++) {
            const Sym *x = &s->slots.items[i].row.fields[k];
            if (!s->slots.items[i].used[k] || (!x->num && !x->nalts))
                continue;
            Datum d = sym_value(s, x, dtype_of(x->kind), s->a);
            if (d.kind == DATUM_NULL)
                continue;
            Sym old = sym_const(s, &d);
            /* Reals must move enough for rounding not to matter. */
            Truth same = x->num && arith_is_real(s->z, x->num) ? near(s, x->num, old.num)
                                                               : sym_equal(s, x, &old);
            vec_push(&differ, arith_not(s->z, same));
        }
    sought_assert_as(s, arith_any(s->z, differ.items, differ.len), TAG_FRESH);
    vec_release(&differ);
}

static Sought sought_for(Gen *g, size_t class, Shape shape, double seconds, Arena *a)
{
    Sought s = { .a = a,
                 .plan = g->p,
                 .know = g->know,
                 .run = g->run,
                 .udfs = g->gp->udfs,
                 .passive = g->gp->passive,
                 .ev = g->ev,
                 .shape = shape,
                 .deadline = g->deadline,
                 .stop = g->gp->stop,
                 .stop_arg = g->gp->stop_arg };
    /* Effort decides, so that a busy machine gives the same rows. */
    double left = g->deadline - clock_seconds();
    s.z = arith_new(&(ArithPlan){ .seconds = left > 0.1 ? left : 0.1,
                                  .effort = (unsigned)(seconds * 4e6),
                                  .seed = (uint32_t)g->gp->seed });
    s.tag = TAG_OPS + g->classes->items[class].op->id;
    return s;
}

static void sought_release(Sought *s)
{
    arith_free(s->z);
    vec_release(&s->slots);
    vec_release(&s->strangers);
    vec_release(&s->absents);
    map_release(&s->opened);
    free(s->made);
}

/* Is there really no solution? The question is asked again with room for all
 * that the first one did not look at. Its solutions need luck, but the run tells
 * (x + 1 < x has one). */
static void prove(Gen *g, size_t class, Shape shape, double seconds, Verdict *v)
{
    Arena a = { 0 };
    Sought s = sought_for(g, class, shape, seconds, &a);
    s.relaxed = true;
    s.one_group = g->one_group;
    s.inexact = g->no_proof;
    v->proof = false;
    if (demand_class(&s, &g->classes->items[class])) {
        demand_rules(&s);
        g->queries++;
        ArithAnswer ans = s.stuck || s.inexact ? ARITH_UNKNOWN : arith_check(s.z, NULL, 0);
        if (ans == ARITH_UNSAT)
            read_core(&s, v);
        v->solved = ans == ARITH_SAT && confirm(g, &s, class);
    }
    sought_release(&s);
    arena_release(&a);
}

/* *products: it may be that the factors decided. */
static Verdict attempt_as(Gen *g, size_t class, Shape shape, double seconds, bool simple,
                          bool *products)
{
    Arena a = { 0 };
    Verdict v = { 0 };
    bool ask = false;
    Sought s = sought_for(g, class, shape, seconds, &a);
    s.simple = simple;
    bool demanded = demand_class(&s, &g->classes->items[class]);
    if (demanded) {
        demand_rules(&s);
        ArithAnswer ans = s.stuck ? ARITH_UNKNOWN : check_with_wishes(g, &s, false);
        for (int again = 0; ans == ARITH_SAT && again < MOST_REPAIRS && !late(g); again++) {
            v.solved = confirm(g, &s, class);
            if (v.solved)
                break;
            exclude_model(&s);
            if (check_with_wishes(g, &s, true) != ARITH_SAT)
                break;
        }
        ask = !v.solved && ans != ARITH_UNKNOWN;
        v.why = v.solved             ? NULL
                : ans == ARITH_SAT   ? "rows were found, but the run does not show it"
                : ans == ARITH_UNSAT ? "no rows of this form exist"
                                     : "the solver gave up";
    } else {
        v.why = s.why;
    }
    if (!v.solved && s.missing)
        v.why = arena_printf(&g->classes->arena,
                             "it depends on the function %s, which is not "
                             "there (--udf)",
                             s.missing);
    *products = simple ? arith_defined(s.z) > 0 : s.products;
    ask &= !simple || !*products;
    sought_release(&s);
    arena_release(&a);
    if (ask)
        prove(g, class, shape, seconds, &v);
    return v;
}

static bool has_samples(const Gen *g)
{
    for (size_t i = 0; g->gp->samples && i < g->p->ops.len; i++)
        if (g->gp->samples[i].n)
            return true;
    return false;
}

/* Simple factors come first, unless real values might do. */
static Verdict attempt(Gen *g, size_t class, Shape shape, double seconds)
{
    bool simple = !has_samples(g), products;
    Verdict v = attempt_as(g, class, shape, seconds, simple, &products);
    if (v.solved || v.proof || !products || late(g))
        return v;
    Verdict other = attempt_as(g, class, shape, seconds, !simple, &products);
    return simple || other.solved ? other : v;
}

/* Which choices there are above an op. */
typedef struct Choices {
    const Know *know;
    bool outer;
    bool lonely;               /* a FILTER asks for rows without a partner */
    bool again;                /* an op is read twice */
    bool windows;
    size_t groups, cogroups, inputs, sides;
    Map seen;
} Choices;

static void look_up(Choices *c, const Op *op)
{
    if (!map_putn(&c->seen, &op, sizeof op, c)) {
        c->again = true;
        return;
    }
    c->groups += op->kind == OP_GROUP;
    c->windows |= op->kind == OP_WINDOW;
    c->cogroups += op->kind == OP_GROUP && op->nin > 1;
    c->outer |= op->kind == OP_JOIN && op->join != JOIN_INNER;
    c->lonely |= op->id < 100000 && c->know->lonely[op->id];
    if (op->kind == OP_GROUP && op->nin > c->inputs)
        c->inputs = op->nin;
    if (op->kind == OP_UNION && op->nin > c->sides)
        c->sides = op->nin;
    for (size_t i = 0; i < op->nin; i++)
        look_up(c, op->in[i]);
}

static void look_in_terms(Term *t, void *arg)
{
    Choices *c = arg;
    if (t->op)
        look_up(c, t->op);
}

static size_t add_shape(Shape *out, size_t n, Shape s)
{
    for (size_t i = 0; i < n; i++)
        if (!memcmp(&out[i], &s, sizeof s))
            return n;
    if (n < MOST_SHAPES)
        out[n++] = s;
    return n;
}

/* Does the class take two rows of one op? */
static bool takes_two(const Class *c)
{
    return c->kind == CLASS_TWO_DIFFERENT || c->kind == CLASS_DUPLICATE ||
           c->kind == CLASS_MORE_THAN_LIMIT || c->kind == CLASS_TWO_EACH;
}

static size_t shapes_for(Gen *g, const Class *cl, Shape *out)
{
    Choices c = { .know = g->know };
    size_t n = 0;
    look_up(&c, cl->op);
    if (cl->op->cond)
        term_walk(cl->op->cond, look_in_terms, &c);
    map_release(&c.seen);
    /* Two groups: each has one row, each has more, or one of them has (uneven). */
    bool many = cl->kind == CLASS_MORE_THAN_LIMIT && cl->needs > 2;
    g->one_group = c.groups == 1 && !c.cogroups && !c.again && !many;
    g->no_proof = c.cogroups > 1 || c.inputs > 4;
    for (int k = 2; k && c.lonely; k--)
        n = add_shape(out, n, (Shape){ .group = k, .outer = OUTER_AS_ASKED });
    n = add_shape(out, n, (Shape){ .group = 2 });
    if (c.groups)
        n = add_shape(out, n, (Shape){ .group = 1 });
    if (c.groups && takes_two(cl))
        n = add_shape(out, n, (Shape){ .group = 1, .uneven = 1 });
    for (int w = 1; w <= 2 && c.windows; w++) {
        n = add_shape(out, n, (Shape){ .group = c.groups ? 1 : 2, .window = w });
        n = add_shape(out, n, (Shape){ .group = 2, .window = w });
    }
    for (int e = 1; c.cogroups && e < (1 << c.inputs) - 1 && c.inputs < 5; e++) {
        n = add_shape(out, n, (Shape){ .group = 2, .empty = e });
        n = add_shape(out, n, (Shape){ .group = 1, .empty = e });
    }
    for (int o = 1; o <= 2 && c.outer; o++) {
        n = add_shape(out, n, (Shape){ .group = 2, .outer = o });
        if (c.groups)
            n = add_shape(out, n, (Shape){ .group = 1, .outer = o });
    }
    for (size_t k = 1; k < c.sides; k++)
        n = add_shape(out, n, (Shape){ .group = 2, .side = (int)k });
    for (int k = c.groups ? 1 : 2; c.sides && k <= (c.groups ? 3 : 2); k++)
        n = add_shape(out, n, (Shape){ .group = k, .side = SIDE_BY_TURNS });
    if (c.groups) {
        n = add_shape(out, n, (Shape){ .group = 3 });
        n = add_shape(out, n, (Shape){ .group = 2, .null_key = 1 });
    }
    for (size_t i = 0; c.groups && i < g->know->nsizes; i++)
        n = add_shape(out, n, (Shape){ .group = (int)g->know->sizes[i] });
    return n;
}

static void set_verdict(Gen *g, Class *c, const Verdict *v, bool all_proofs)
{
    c->why = all_proofs ? WHY_UNSAT : WHY_UNKNOWN;
    c->reason = v->why;
    if (!all_proofs || !v->ncore)
        return;
    c->conflict = arena_array(&g->classes->arena, const Op *, v->ncore + 1);
    for (size_t i = 0; i < v->ncore; i++)
        if (v->core[i] < (int)g->p->ops.len)
            c->conflict[c->nconflict++] = g->p->ops.items[v->core[i]];
}

static bool over(Class *c)
{
    c->why = WHY_TIME;
    c->reason = "the time was over";
    return false;
}

/* A proof leaves the sides of outer joins and unions open, and whether a group has
 * more than two rows (see bag_of): it holds for all such shapes. */
static bool is_proved(const Gen *g, const Shape *shapes, const bool *proved, size_t at)
{
    if (shapes[at].uneven && g->one_group)
        return false;
    for (size_t i = 0; i < at; i++)
        if (proved[i] && shapes[i].empty == shapes[at].empty && !shapes[i].uneven &&
            (shapes[i].group == shapes[at].group ||
             (shapes[i].group < shapes[at].group && (shapes[i].group == 2 || !g->one_group))))
            return true;
    return false;
}

/* The class takes more rows of its input than there can be. */
static bool takes_too_many(const Gen *g, const Class *c)
{
    bool two = c->kind == CLASS_TWO_DIFFERENT || c->kind == CLASS_DUPLICATE ||
               c->kind == CLASS_GROUP_OF_TWO;
    size_t rows = two || c->kind == CLASS_TWO_EACH   ? 2
                  : c->kind == CLASS_MORE_THAN_LIMIT ? c->needs
                                                     : 0;
    for (size_t i = 0; i < c->op->nin; i++)
        if ((c->op->nin == 1 || c->kind == CLASS_TWO_EACH) &&
            g->facts[c->op->in[i]->id].most < rows)
            return true;
    return false;
}

/* `small`: groups of more than a few rows are left for later. */
static bool solve_class(Gen *g, size_t i, double seconds, bool small)
{
    Shape shapes[MOST_SHAPES];
    bool proved[MOST_SHAPES] = { 0 };
    Class *c = &g->classes->items[i];
    if (late(g))
        return over(c);
    if (takes_too_many(g, c)) {
        c->why = WHY_UNSAT;
        c->reason = "its input never has so many rows";
        return false;
    }
    size_t n = shapes_for(g, c, shapes);
    bool all_proofs = true;
    c->nconflict = 0;
    Verdict first = { 0 };
    bool copies_first = (g->p->lang == LANG_SQL && !is_of_condition(c)) || c->needs > 5;
    if (copies_first && copy_class(g, i))
        return true;
    for (size_t k = 0; k < n; k++) {
        if (late(g))
            return over(c);
        if (is_proved(g, shapes, proved, k))
            continue;
        if (small && shapes[k].group > 5) {
            all_proofs = false;
            continue;
        }
        Verdict v = attempt(g, i, shapes[k], seconds);
        proved[k] = v.proof;
        if (v.solved)
            return true;
        all_proofs &= v.proof;
        if (!k)
            first = v;
    }
    if (!all_proofs && !copies_first && copy_class(g, i))
        return true;
    set_verdict(g, c, &first, all_proofs);
    return false;
}

/* ---- all classes */

static bool impossible(const Class *c) { return c->why == WHY_UNSAT; }

/* Classes that take many rows have their own turn, after rows were left out. */
enum { TURN_BASIC, TURN_EXTRA, TURN_MANY };

static int turn_of(const Class *c)
{
    return c->extra ? TURN_EXTRA : c->needs > 5 ? TURN_MANY : TURN_BASIC;
}

/* Rows for one class may have cost another one that was shown. */
static bool is_missing(const Gen *g, int from, int to)
{
    for (size_t i = 0; i < g->classes->n; i++) {
        const Class *c = &g->classes->items[i];
        if (!c->shown && !impossible(c) && turn_of(c) >= from && turn_of(c) <= to)
            return true;
    }
    return false;
}

typedef struct Turn {
    int turn, pass;
    bool easy;
    bool progress;
} Turn;

/* In the first pass a class has a quarter of the time that is left. False: it used it up. */
static bool take_turn(Gen *g, Turn *t, size_t i)
{
    double patience = g->gp->patience > 0 ? g->gp->patience : 0.5;
    Class *c = &g->classes->items[i];
    if (c->shown || turn_of(c) != t->turn || (t->pass && impossible(c)) ||
        (g->facts[c->op->id].below <= MOST_EASY) != t->easy)
        return true;
    double deadline = g->deadline, now = clock_seconds();
    if (!t->pass)
        g->deadline = now + (deadline - now) / 4;
    bool ok = solve_class(g, i, (t->pass ? 4 : 1) * patience, !t->pass);
    bool in_time = ok || !late(g);
    g->deadline = deadline;
    t->progress |= ok;
    return in_time;
}

/* The last classes bring rows for most of the others. If one is too hard, the
 * first ones come first. */
static bool solve_turn(Gen *g, int turn, int pass, bool easy)
{
    Turn t = { turn, pass, easy, false };
    size_t last = g->classes->n;
    while (last > 0 && take_turn(g, &t, last - 1))
        last--;
    for (size_t i = 0; i + 1 < last; i++)
        take_turn(g, &t, i);
    return t.progress;
}

static void solve_turns(Gen *g, int from, int to)
{
    for (int pass = 0; pass < 3 && !late(g); pass++) {
        bool progress = false;
        for (int turn = from; turn <= to; turn++)
            for (int hard = 0; hard < 2; hard++)
                progress |= solve_turn(g, turn, pass, !hard);
        if ((!progress && pass) || !is_missing(g, from, to))
            break;
    }
}

/* ---- fewer rows */

static ExRow take_out(Gen *g, size_t op, size_t i)
{
    ExRow r = g->rows[op].items[i];
    memmove(&g->rows[op].items[i], &g->rows[op].items[i + 1],
            (g->rows[op].len - i - 1) * sizeof(ExRow));
    g->rows[op].len--;
    return r;
}

static void put_back(Gen *g, size_t op, size_t i, ExRow r)
{
    vec_push(&g->rows[op], r);
    memmove(&g->rows[op].items[i + 1], &g->rows[op].items[i],
            (g->rows[op].len - 1 - i) * sizeof(ExRow));
    g->rows[op].items[i] = r;
}

/* Does the run without this row show the same? If not, *lost is a class. */
static bool shows_all(Gen *g, const bool *want, size_t *lost)
{
    Input *inputs;
    Run *r = run_rows(g, false, &inputs);
    if (!r)
        return false;
    bool *now = shown_in(g, r);
    for (size_t i = 0; i < g->classes->n; i++)
        if (want[i] && !now[i])
            *lost = i;
    bool ok = covers(now, want, g->classes->n) && faults_of(r) <= g->faults &&
              rules_broken(g->p, inputs) <= g->broken;
    free(now);
    run_free(r);
    return ok;
}

/* The row goes if all that is wanted is shown without it. */
static void try_without(Gen *g, size_t op, size_t i, const bool *want)
{
    size_t lost;
    ExRow r = take_out(g, op, i);
    if (!shows_all(g, want, &lost))
        put_back(g, op, i, r);
}

/* Invented rows go first, then real ones, each group from the end. */
static void fewer_rows(Gen *g)
{
    bool *want = shown_in(g, g->run);
    for (int made = 1; made >= 0; made--)
        for (size_t op = g->p->ops.len; op-- > 0;)
            for (size_t i = g->rows[op].len; i-- > 0 && !late(g);)
                if (g->rows[op].items[i].made == made && !g->rows[op].items[i].many)
                    try_without(g, op, i, want);
    free(want);
    refresh(g);
}

static size_t count_of_many(const Gen *g)
{
    size_t n = 0;
    for (size_t op = 0; op < g->p->ops.len; op++)
        for (size_t i = 0; i < g->rows[op].len; i++)
            n += g->rows[op].items[i].many != NULL;
    return n;
}

/* Copies were made of groups as they were; not all of their rows are needed. */
static void fewer_of_many(Gen *g)
{
    bool *want = shown_in(g, g->run);
    bool few = count_of_many(g) <= MOST_MERGES;     /* each costs a run over all of them */
    for (size_t op = g->p->ops.len; few && op-- > 0;)
        for (size_t i = g->rows[op].len; i-- > 0 && !late(g);)
            if (g->rows[op].items[i].many)
                try_without(g, op, i, want);
    free(want);
    refresh(g);
}

/* Rows that are alike are easier to read, and one of them may then go. */
static void alike_rows(Gen *g)
{
    bool *want = shown_in(g, g->run);
    size_t lost, tries = 0;
    for (size_t op = 0; op < g->p->ops.len; op++)
        for (size_t i = 0; i < g->rows[op].len; i++)
            for (size_t k = 0; k < g->rows[op].len && tries < MOST_TRIES && !late(g); k++) {
                ExRow *x = &g->rows[op].items[i], *y = &g->rows[op].items[k], old = *x;
                if (i == k || !x->made || x->many || !tuple_compare(x->t, y->t) ||
                    x->t->n != y->t->n)
                    continue;
                tries++;
                x->t = y->t;
                if (shows_all(g, want, &lost))
                    break;
                *x = old;
            }
    free(want);
    refresh(g);
}

/* ---- one row in the place of two */

static ExRows *rows_saved(const Gen *g)
{
    ExRows *saved = xcalloc(g->p->ops.len, sizeof *saved);
    for (size_t i = 0; i < g->p->ops.len; i++)
        for (size_t k = 0; k < g->rows[i].len; k++)
            vec_push(&saved[i], g->rows[i].items[k]);
    return saved;
}

static void rows_release(const Gen *g, ExRows *saved)
{
    for (size_t i = 0; i < g->p->ops.len; i++)
        vec_release(&saved[i]);
    free(saved);
}

static void rows_restore(Gen *g, const ExRows *saved)
{
    for (size_t i = 0; i < g->p->ops.len; i++) {
        g->rows[i].len = 0;
        for (size_t k = 0; k < saved[i].len; k++)
            vec_push(&g->rows[i], saved[i].items[k]);
    }
}

/* Rows of one table that refer to `from` refer to `to`. */
static void redirect_rows(Gen *g, const Op *load, int column, const Datum *from, const Datum *to)
{
    for (size_t k = 0; k < g->rows[load->id].len; k++) {
        ExRow *r = &g->rows[load->id].items[k];
        if ((size_t)column >= r->t->n || datum_compare(&r->t->fields[column], from))
            continue;
        Tuple *t = tuple_new(&g->arena, r->t->n);
        memcpy(t->fields, r->t->fields, t->n * sizeof *t->fields);
        t->fields[column] = *to;
        r->t = t;
    }
}

static void redirect(Gen *g, const Op *table, int column, const Datum *from, const Datum *to)
{
    for (size_t i = 0; i < g->p->ops.len; i++) {
        const Op *op = g->p->ops.items[i];
        for (size_t f = 0; op->kind == OP_LOAD && op->rules && f < op->rules->nforeign; f++) {
            const struct ForeignKey *k = &op->rules->foreign[f];
            if (k->n == 1 && k->table && load_master(g->p, k->table) == table &&
                k->others[0] == column)
                redirect_rows(g, op, k->columns[0], from, to);
        }
    }
}

/* Row i of a table goes, and whoever referred to it refers to row k. */
static bool merge(Gen *g, const Op *table, int column, size_t i, size_t k, const bool *want)
{
    size_t lost;
    ExRows *saved = rows_saved(g);
    assert(i != k && i < g->rows[table->id].len && k < g->rows[table->id].len);
    const Tuple *from = g->rows[table->id].items[i].t, *to = g->rows[table->id].items[k].t;
    redirect(g, table, column, &from->fields[column], &to->fields[column]);
    take_out(g, (size_t)table->id, i);
    bool ok = shows_all(g, want, &lost);
    if (!ok)
        rows_restore(g, saved);
    rows_release(g, saved);
    return ok;
}

static int only_key(const Op *op)
{
    for (size_t i = 0; op->kind == OP_LOAD && op->rules && i < op->rules->nunique; i++)
        if (op->rules->unique[i].primary && op->rules->unique[i].n == 1)
            return op->rules->unique[i].columns[0];
    return -1;
}

/* Parents serve several children. */
static void merge_rows(Gen *g)
{
    bool *want = shown_in(g, g->run);
    size_t tries = 0;
    for (size_t op = 0; op < g->p->ops.len; op++) {
        const Op *table = g->p->ops.items[op];
        int key = only_key(table);
        for (size_t i = g->rows[op].len; key >= 0 && i-- > 0;)
            for (size_t k = 0; k < g->rows[op].len && tries < MOST_MERGES && !late(g); k++) {
                const ExRow *x = &g->rows[op].items[i];
                if (i == k || !x->made || x->many)
                    continue;
                tries++;
                if (merge(g, table, key, i, k, want))
                    break;
            }
    }
    free(want);
    refresh(g);
}

/* What each row is for: a class that is lost without it. */
static void explain_rows(Gen *g, Examples *e)
{
    bool *want = shown_in(g, g->run);
    e->why = arena_array(&e->arena, const char **, g->p->ops.len);
    for (size_t op = 0; op < g->p->ops.len; op++) {
        e->why[op] = arena_array(&e->arena, const char *, g->rows[op].len + 1);
        for (size_t i = 0; i < g->rows[op].len; i++) {
            size_t lost = SIZE_MAX;
            Str s = { 0 };
            ExRow r = take_out(g, op, i);
            if (r.many)
                lost = (size_t)(r.many - g->classes->items);
            else if (!late(g))
                shows_all(g, want, &lost);
            put_back(g, op, i, r);
            if (lost != SIZE_MAX) {
                const Class *c = &g->classes->items[lost];
                src_print_line(&s, c->op->at, g->p->file);
                str_addf(&s, ", %s %s: ", op_kind_name(c->op->kind),
                         c->op->alias ? c->op->alias : "");
                class_print(c, &s);
            }
            e->why[op][i] = arena_strdup(&e->arena, str_c(&s));
            str_release(&s);
        }
    }
    free(want);
}

/* ---- the whole */

static void finish(Gen *g, Examples *e)
{
    e->made = arena_array(&e->arena, bool *, g->p->ops.len);
    explain_rows(g, e);
    Input *inputs;
    Run *r = run_rows(g, true, &inputs);
    if (!r) {
        refresh(g);
        r = g->run;
        g->run = NULL;
        inputs = g->inputs;
    }
    e->run = r;
    e->inputs = inputs;
    for (size_t i = 0; i < g->p->ops.len; i++) {
        const Op *op = g->p->ops.items[i];
        if (op->kind != OP_LOAD)
            continue;
        const Op *m = load_master(g->p, op);
        e->made[i] = arena_array(&e->arena, bool, g->rows[m->id].len + 1);
        for (size_t k = 0; k < g->rows[m->id].len; k++)
            e->made[i][k] = g->rows[m->id].items[k].made;
        e->why[i] = e->why[m->id];
    }
    classes_measure(g->classes, r);
    e->metrics = classes_metrics(g->classes, r, e->inputs, e->made);
}

Examples *examples_generate(const Plan *p, const GeneratePlan *gp, Err *err)
{
    double begin = clock_seconds();
    Gen g = { .p = p,
              .gp = gp,
              .rng = rng_seeded(gp->seed),
              .deadline = begin + (gp->seconds > 0 ? gp->seconds : 30) };
    g.know = know_new(p, gp->samples, gp->no_real_values);
    g.classes = classes_new(p, gp->goals);
    look_at_ops(&g);
    g.rows = xcalloc(p->ops.len, sizeof *g.rows);
    Examples *e = NULL;
    if (refresh(&g)) {
        if (has_samples(&g) && !gp->no_real_values)
            cover_with_real_rows(&g);
        if (!gp->no_solver)
            solve_turns(&g, TURN_BASIC, TURN_EXTRA);
        fewer_rows(&g);
        alike_rows(&g);
        merge_rows(&g);
        fewer_rows(&g);
        if (!gp->no_solver)
            solve_turns(&g, TURN_MANY, TURN_MANY);
        fewer_of_many(&g);
        e = xcalloc(1, sizeof *e);
        e->plan = p;
        finish(&g, e);
        e->classes = g.classes;
        e->queries = g.queries;
        e->out_of_time = late(&g);
        e->seconds = clock_seconds() - begin;
        g.classes = NULL;
    } else {
        err_set(err, "%s: the program cannot be run even on empty tables", p->file);
    }
    classes_free(g.classes);
    run_free(g.run);
    evaluator_free(g.ev);
    know_free(g.know);
    for (size_t i = 0; i < p->ops.len; i++)
        vec_release(&g.rows[i]);
    free(g.rows);
    if (e)
        e->rows_arena = g.arena;
    else
        arena_release(&g.arena);
    return e;
}

void examples_free(Examples *e)
{
    if (!e)
        return;
    run_free(e->run);
    classes_free(e->classes);
    arena_release(&e->arena);
    arena_release(&e->rows_arena);
    free(e);
}
