/*
 * Observations go from point to point along the constraints. A sample counts
 * once at a destination, however many ways lead there: confidence depends on
 * counts. It goes from its own point to the destination directly; what lies between
 * on the way only opens the way.
 */
#include "engine/contract/constraint.h"
#include <assert.h>
#include <string.h>

/* One end of an edge. */
typedef struct Place {
    const FunctionSamples *f;
    bool is_exit;
} Place;

typedef struct Reached {
    Place at;
    int by;                   /* constraint over which its rows leave */
} Reached;

typedef Vec(Reached) Reaches;

static bool is_place(Place a, Place b) { return a.f == b.f && a.is_exit == b.is_exit; }

static const Point *point_of(Place p) { return p.is_exit ? &p.f->exit : &p.f->entry; }

/* Every point from which rows come to `end`, the nearest first. */
static void find_sources(const Constraints *c, const Samples *s, Place end, Reaches *out)
{
    vec_push(out, ((Reached){ end, -1 }));
    for (size_t i = 0; i < out->len; i++)
        for (size_t k = 0; k < c->items.len; k++) {
            Place from, to;
            if (c->items.items[k].kind == CONSTRAINT_CONCORD ||
                !constraint_points(&c->items.items[k], s, &from.f, &to.f, &from.is_exit,
                                   &to.is_exit) ||
                !is_place(to, out->items[i].at))
                continue;
            bool known = false;
            for (size_t m = 0; m < out->len; m++)
                known |= is_place(out->items[m].at, from);
            if (!known)
                vec_push(out, ((Reached){ from, (int)k }));
        }
}

static bool passes(const Constraint *c, const Point *from, const Row *r)
{
    if (c->when == GUARD_NONE)
        return true;
    int v = point_var(from, "return");
    return v >= 0 && r->known[v] && guard_holds(c->when, r->cells[v].i);
}

/* The row with those variables only that match. False: none does. */
static bool project(const int *match, const Point *to, const Row *r, int by, Arena *a, Row *out)
{
    bool any = false;

    *out = (Row){ .cells = arena_array(a, Cell, to->nvars + 1),
                  .known = arena_array(a, uint8_t, to->nvars + 1),
                  .count = r->count,
                  .origin = by };
    for (unsigned v = 0; v < to->nvars; v++) {
        if (match[v] < 0 || !r->known[match[v]])
            continue;
        out->cells[v] = r->cells[match[v]];
        out->known[v] = 1;
        any = true;
    }
    return any;
}

static void copy_rows(const Constraint *c, int number, const Point *from, const Point *to, Arena *a,
                      Rows *out)
{
    int *match = arena_array(a, int, to->nvars + 1);

    for (unsigned v = 0; v < to->nvars; v++)
        match[v] = constraint_match(c->kind, from, to, v);
    for (size_t r = 0; r < from->rows.len; r++) {
        Row row;
        if (passes(c, from, &from->rows.items[r]) &&
            project(match, to, &from->rows.items[r], number, a, &row))
            vec_push(out, row);
    }
}

/* Over a way of several constraints the weakest match counts: state alone, if
 * one of them lies between an exit and an entry. */
static Constraint as_seen_from(const Constraints *c, const Reached *r, Place end)
{
    Constraint one = c->items.items[r->by];

    if (r->at.is_exit != end.is_exit)
        one.kind = CONSTRAINT_CAN_FOLLOW;
    return one;
}

void constraint_rows(const Constraints *c, const Samples *s, const FunctionSamples *f, bool is_exit,
                     Arena *a, Rows *out)
{
    Place end = { f, is_exit };
    Reaches reached = { 0 };
    const Point *to = point_of(end);

    assert(!out->len);
    for (size_t r = 0; r < to->rows.len; r++)
        vec_push(out, to->rows.items[r]);
    find_sources(c, s, end, &reached);
    for (size_t i = 1; i < reached.len; i++) {
        Constraint one = as_seen_from(c, &reached.items[i], end);
        copy_rows(&one, reached.items[i].by, point_of(reached.items[i].at), to, a, out);
    }
    vec_release(&reached);
}

/* --- Concord */

void row_at_entry(const Point *exit, const Point *entry, const Row *r, Row *out)
{
    char key[512];

    for (unsigned v = 0; v < entry->nvars; v++) {
        int at = -1;
        if (entry->vars[v].role == ROLE_PARAM) {
            at = point_key(exit, entry->vars[v].key);
        } else if (strlen(entry->vars[v].key) < sizeof key - 8) {
            strcpy(key, "orig(");
            strcat(key, entry->vars[v].key);
            strcat(key, ")");
            at = point_key(exit, key);
        }
        out->known[v] = at >= 0 && r->known[at];
        out->cells[v] = out->known[v] ? r->cells[at] : (Cell){ 0 };
    }
}

/* Does the entry of this call, as seen by `of`, satisfy its precondition? */
static bool satisfies(const Point *exit, const FunctionSamples *of, const Invariants *pre,
                      const Row *r, Arena *a)
{
    Row entry = { .cells = arena_array(a, Cell, of->entry.nvars + 1),
                  .known = arena_array(a, uint8_t, of->entry.nvars + 1),
                  .count = 1 };

    row_at_entry(exit, &of->entry, r, &entry);
    for (size_t i = 0; pre && i < pre->len; i++)
        if (!inv_holds(&pre->items[i], &of->entry, &entry))
            return false;
    return true;
}

void constraint_concord(const Constraints *c, const Samples *s, const FunctionSamples *f,
                        PreOf *pre, void *arg, Arena *a, Rows *out)
{
    for (size_t k = 0; k < c->items.len; k++) {
        const FunctionSamples *from, *to;
        bool from_exit, to_exit;
        const Constraint *one = &c->items.items[k];
        if (one->kind != CONSTRAINT_CONCORD ||
            !constraint_points(one, s, &from, &to, &from_exit, &to_exit) || to != f)
            continue;
        int *match = arena_array(a, int, to->exit.nvars + 1);
        for (unsigned v = 0; v < to->exit.nvars; v++)
            match[v] = constraint_match(one->kind, &from->exit, &to->exit, v);
        for (size_t r = 0; r < from->exit.rows.len; r++) {
            const Row *row = &from->exit.rows.items[r];
            Row copy;
            if (satisfies(&from->exit, from, pre(from, arg), row, a) &&
                satisfies(&from->exit, to, pre(to, arg), row, a) &&
                project(match, &to->exit, row, (int)k, a, &copy))
                vec_push(out, copy);
        }
    }
}

/* --- projection */

static bool is_word(char ch)
{
    return ch == '_' || (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') ||
           (ch >= 'A' && ch <= 'Z');
}

/* Does `word` stand in the name, as a whole word? */
static bool has_word(const char *name, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = name; (p = strstr(p, word)); p++)
        if ((p == name || !is_word(p[-1])) && !is_word(p[n]))
            return true;
    return false;
}

static bool is_wanted(const Constraints *c, const FunctionSamples *f, const Var *v)
{
    bool limited = false;

    for (size_t k = 0; k < c->items.len; k++) {
        const Constraint *one = &c->items.items[k];
        bool variable = one->kind == CONSTRAINT_ONLY_VARIABLE;
        bool field = one->kind == CONSTRAINT_ONLY_FIELD;
        if ((!variable && !field) || strcmp(one->from, f->name) != 0)
            continue;
        if (variable ? v->role == ROLE_RESULT || v->role == ROLE_ERRNO
                     : v->role != ROLE_MEMORY && v->role != ROLE_GLOBAL)
            continue;
        limited = true;
        for (char *const *n = one->names; *n; n++)
            if (has_word(v->name, *n))
                return true;
    }
    return !limited;
}

void constraint_project(const Constraints *c, const FunctionSamples *f, const Point *p, Arena *a,
                        Rows *rows)
{
    uint8_t *wanted = arena_array(a, uint8_t, p->nvars + 1);
    bool all = true;

    for (unsigned v = 0; v < p->nvars; v++) {
        wanted[v] = is_wanted(c, f, &p->vars[v]);
        all &= wanted[v];
    }
    for (size_t r = 0; !all && r < rows->len; r++) {
        uint8_t *known = arena_array(a, uint8_t, p->nvars + 1);
        for (unsigned v = 0; v < p->nvars; v++)
            known[v] = rows->items[r].known[v] && wanted[v];
        rows->items[r].known = known;
    }
}
