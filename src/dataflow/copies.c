#include "dataflow/copies.h"
#include "base/map.h"
#include "dataflow/rules.h"
#include <assert.h>
#include <stdio.h>

/* ---- which columns get new values */

static bool is_held(const Copier *c, const Op *load, int column)
{
    return c->held && c->held[load->id] && c->held[load->id][column];
}

/* A key must have a new value; a part that is held may stay if another part changes. */
static bool is_unique(const Copier *c, const Op *load, int column)
{
    const TableRules *r = load->rules;
    for (size_t i = 0; r && i < r->nunique; i++) {
        bool part = false, others = false;
        for (size_t k = 0; k < r->unique[i].n; k++) {
            part |= r->unique[i].columns[k] == column;
            others |= !is_held(c, load, r->unique[i].columns[k]);
        }
        if (part && !(others && is_held(c, load, column)))
            return true;
    }
    return false;
}

/* Refers to another row; *copied: to one that is copied. */
static bool is_reference(const Copier *c, const TableRules *r, int column, bool *copied)
{
    bool found = false;
    *copied = false;
    for (size_t i = 0; r && i < r->nforeign; i++)
        for (size_t k = 0; k < r->foreign[i].n; k++)
            if (r->foreign[i].columns[k] == column) {
                found = true;
                *copied |= r->foreign[i].table && c->copied[r->foreign[i].table->id];
            }
    return found;
}

/* By itself: a key, a reference to a row that is copied, a column to be varied. */
static bool changes(const Copier *c, const Op *load, size_t column, bool *reference)
{
    bool copied;
    *reference = is_reference(c, load->rules, (int)column, &copied);
    if (c->varied && c->varied[load->id] && c->varied[load->id][column])
        return true;
    return *reference ? copied : is_unique(c, load, (int)column);
}

/* A column that joins compare with one that changes refers to it, foreign key or not. */
static bool is_new(const Copier *c, const Op *load, size_t column)
{
    bool reference;
    if (changes(c, load, column, &reference))
        return true;
    const Know *k = c->know;
    int twin =
        !reference && column < k->ncolumns[load->id] ? k->columns[load->id][column].twin : -1;
    for (size_t i = 0; i < c->plan->ops.len && twin >= 0; i++)
        for (size_t n = 0; c->copied[i] && n < k->ncolumns[i]; n++)
            if (k->columns[i][n].twin == twin && changes(c, c->plan->ops.items[i], n, &reference))
                return true;
    return false;
}

/* ---- new values */

static Datum new_text(const Copier *c, const Datum *old, const Column *col)
{
    char buf[24];
    size_t longest = col && col->longest ? col->longest : SIZE_MAX;
    if (c->word >= 0 && col && col->nwords)
        return col->words[((size_t)c->word + (size_t)c->round - 1) % col->nwords];
    int n = snprintf(buf, sizeof buf, "%d", c->old + c->round);
    size_t keep = old->len;
    if (keep + (size_t)n > longest)
        keep = longest > (size_t)n ? longest - (size_t)n : 0;
    if ((size_t)n > longest) {                     /* a column of one letter */
        buf[0] = (char)('a' + (c->old + c->round) % 26);
        n = 1;
    }
    Str s = { 0 };
    str_addn(&s, old->u.s, keep);
    str_addn(&s, buf, (size_t)n);
    Datum d = datum_textn(c->arena, str_c(&s), s.len);
    d.kind = old->kind;
    str_release(&s);
    return d;
}

static Datum new_value(const Copier *c, const Datum *old, const Column *col)
{
    Datum d = *old;
    switch ((DatumKind)old->kind) {
    case DATUM_INT:
    case DATUM_LONG:
    case DATUM_BIGINT: d.u.i += c->step * c->round; break;
    case DATUM_FLOAT:
    case DATUM_DOUBLE:
    case DATUM_BIGDEC: d.u.d += c->round; break;
    case DATUM_DATETIME:
        if (c->word >= 0 && c->know->nmoments)
            return c->know->moments[((size_t)c->word + (size_t)c->round - 1) % c->know->nmoments];
        d.u.i += 86400000LL * c->round;
        break;
    case DATUM_TEXT:
    case DATUM_BYTES: return new_text(c, old, col);
    default: break;
    }
    return d;
}

const Tuple *copies_row(const Copier *c, const Op *load, const Tuple *row)
{
    Tuple *t = tuple_new(c->arena, row->n);
    assert(load->kind == OP_LOAD && c->round > 0);
    for (size_t i = 0; i < row->n; i++) {
        const Column *col = i < c->know->ncolumns[load->id] ? &c->know->columns[load->id][i] : NULL;
        t->fields[i] = row->fields[i];
        if (!is_new(c, load, i))
            continue;
        bool copied, again = c->alike && !is_unique(c, load, (int)i) &&
                             !is_reference(c, load->rules, (int)i, &copied);
        Copier first = *c;
        first.round = 1;
        Datum d = new_value(again ? &first : c, &row->fields[i], col);
        d = rules_fit(load, i, d, c->arena);
        t->fields[i] = datum_mark_made(c->arena, &d);
    }
    return t;
}

int64_t copies_step(const Plan *p, const Input *inputs)
{
    int64_t most = 0;
    for (size_t i = 0; i < p->ops.len; i++)
        for (size_t k = 0; p->ops.items[i]->kind == OP_LOAD && k < inputs[i].n; k++)
            for (size_t c = 0; c < inputs[i].rows[k]->n; c++) {
                const Datum *d = &inputs[i].rows[k]->fields[c];
                bool whole = d->kind == DATUM_INT || d->kind == DATUM_LONG;
                if (whole && d->u.i > most && d->u.i < 1000000)
                    most = d->u.i;
            }
    return most + 1;
}

/* ---- keys */

typedef struct Mark {
    const Op *in;              /* whose rows the term sees */
    bool **varied;
    const Know *know;
    int depth;
} Mark;

static void mark_term(const Mark *m, const Op *in, Term *t);

static size_t width(const Op *op) { return op->schema ? op->schema->n : 0; }

/* The columns of inputs that a column of an op was made from. */
static void mark_column(const Mark *m, const Op *op, int index)
{
    if (index < 0 || m->depth > 200)
        return;
    Mark up = { NULL, m->varied, m->know, m->depth + 1 };
    size_t k = 0;
    switch (op->kind) {
    case OP_LOAD:
        if ((size_t)index < m->know->ncolumns[op->id])
            m->varied[op->id][index] = true;
        return;
    case OP_FOREACH:
        if ((size_t)index < op->nitems)
            mark_term(&up, op->in[0], op->items[index].expr);
        return;
    case OP_GROUP:
        for (size_t i = 0; op->keys && !index && i < op->keys[0].n; i++)
            mark_term(&up, op->in[0], op->keys[0].exprs[i]);
        return;
    case OP_JOIN:
    case OP_CROSS:
        while (k + 1 < op->nin && index >= (int)width(op->in[k]))
            index -= (int)width(op->in[k++]);
        mark_column(&up, op->in[k], index);
        return;
    default:
        if (op->nin)
            mark_column(&up, op->in[0], index);
    }
}

static void mark_field(Term *t, void *arg)
{
    const Mark *m = arg;
    if (t->kind == TERM_FIELD && !t->depth)
        mark_column(m, m->in, t->index);
    /* An aggregate's argument sees the rows of the group. */
    const Op *group = m->in;
    while (group->nin && group->kind == OP_FILTER)
        group = group->in[0];
    if (t->kind == TERM_AGGREGATE && t->nargs > 1 && group->kind == OP_GROUP && group->nin)
        mark_term(m, group->in[0], t->args[1]);
}

static void mark_term(const Mark *m, const Op *in, Term *t)
{
    Mark here = { in, m->varied, m->know, m->depth + 1 };
    if (in->id < 100000 && m->depth < 200)
        term_walk(t, mark_field, &here);
}

static void mark_above(const Op *op, const Mark *m, Map *seen)
{
    if (!map_putn(seen, &op, sizeof op, seen))
        return;
    for (size_t i = 0; i < op->nin; i++) {
        for (size_t k = 0; op->kind == OP_GROUP && op->keys && k < op->keys[i].n; k++)
            mark_term(m, op->in[i], op->keys[i].exprs[k]);
        for (size_t k = 0; k < op->norder; k++)
            mark_term(m, op->in[i], op->order[k].expr);
        for (size_t k = 0; op->kind == OP_DISTINCT && k < width(op); k++)
            mark_column(m, op->in[i], (int)k);
    }
    for (size_t i = 0; i < op->nin; i++)
        mark_above(op->in[i], m, seen);
}

void copies_keys_above(const Op *op, bool **varied, const Know *k)
{
    Mark m = { NULL, varied, k, 0 };
    Map seen = { 0 };
    mark_above(op, &m, &seen);
    map_release(&seen);
}

void copies_columns_of(Term *t, const Op *in, bool **varied, const Know *k)
{
    Mark m = { NULL, varied, k, 0 };
    mark_term(&m, in, t);
}
