/* Invariants of three variables: sums, products and the like. */
#include "engine/contract/infer_int.h"
#include <string.h>

typedef struct Triple {
    const Column *z, *x, *y;
    size_t rows[512];         /* in which all three are known */
    size_t n;
    bool more;                /* there are more of them */
    uint64_t samples;
} Triple;

/* Different rows first: equal ones were joined before, so any rows do. */
static void look_at(const Engine *e, unsigned z, unsigned x, unsigned y, Triple *t)
{
    t->z = &e->columns[z];
    t->x = &e->columns[x];
    t->y = &e->columns[y];
    t->n = 0;
    t->samples = 0;
    t->more = false;
    for (size_t r = 0; r < e->nrows; r++) {
        if (!t->z->known[r] || !t->x->known[r] || !t->y->known[r])
            continue;
        t->samples += e->counts[r];
        if (t->n < sizeof t->rows / sizeof *t->rows)
            t->rows[t->n++] = r;
        else
            t->more = true;
    }
}

static bool all_rows(const Engine *e, const Invariant *inv)
{
    Point flat = { .vars = e->p->vars, .nvars = e->p->nvars };
    Cell cells[3];
    uint8_t known[3] = { 1, 1, 1 };
    Var vars[3] = { { .kind = VAR_INT }, { .kind = VAR_INT }, { .kind = VAR_INT } };
    Row row = { .cells = cells, .known = known };
    Invariant local = *inv;
    const Column *c[3];

    flat.vars = vars;
    flat.nvars = 3;
    for (int i = 0; i < 3; i++) {
        c[i] = &e->columns[inv->v[i]];
        local.v[i] = i;
    }
    for (size_t r = 0; r < e->nrows; r++) {
        if (!c[0]->known[r] || !c[1]->known[r] || !c[2]->known[r])
            continue;
        for (int i = 0; i < 3; i++)
            cells[i] = c[i]->cells[r];
        if (!inv_holds(&local, &flat, &row))
            return false;
    }
    return true;
}

/* Different values of (x, y), up to LEAST_TRIPLES. */
static unsigned different(const Triple *t)
{
    int64_t seen[LEAST_TRIPLES][2];
    unsigned n = 0;

    for (size_t i = 0; i < t->n && n < LEAST_TRIPLES; i++) {
        int64_t x = t->x->cells[t->rows[i]].i, y = t->y->cells[t->rows[i]].i;
        unsigned k = 0;
        while (k < n && (seen[k][0] != x || seen[k][1] != y))
            k++;
        if (k == n) {
            seen[n][0] = x;
            seen[n++][1] = y;
        }
    }
    return n;
}

/* z = a x + b y + c from three rows that determine it. */
static bool linear(const Engine *e, const Triple *t, Invariant *inv)
{
    enum { MOST_FACTOR = 16, MOST_OFFSET = 1000, TRIED = 24 };
    size_t n = t->n < TRIED ? t->n : TRIED;
    size_t r0 = t->rows[0];
    __int128 x0 = t->x->cells[r0].i, y0 = t->y->cells[r0].i, z0 = t->z->cells[r0].i;

    for (size_t i = 1; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            size_t r1 = t->rows[i], r2 = t->rows[k];
            __int128 x1 = t->x->cells[r1].i - x0, y1 = t->y->cells[r1].i - y0;
            __int128 x2 = t->x->cells[r2].i - x0, y2 = t->y->cells[r2].i - y0;
            __int128 z1 = t->z->cells[r1].i - z0, z2 = t->z->cells[r2].i - z0;
            if (x1 > INT32_MAX || x2 > INT32_MAX || y1 > INT32_MAX || y2 > INT32_MAX ||
                x1 < INT32_MIN || x2 < INT32_MIN || y1 < INT32_MIN || y2 < INT32_MIN)
                return false;
            __int128 det = x1 * y2 - x2 * y1;
            if (det == 0)
                continue;
            __int128 a = z1 * y2 - z2 * y1, b = x1 * z2 - x2 * z1;
            if (a % det || b % det)
                return false;
            a /= det;
            b /= det;
            __int128 c = z0 - a * x0 - b * y0;
            if (a == 0 || b == 0 || a > MOST_FACTOR || a < -MOST_FACTOR || b > MOST_FACTOR ||
                b < -MOST_FACTOR || c > MOST_OFFSET || c < -MOST_OFFSET)
                return false;
            inv->kind = INV_LINEAR3;
            inv->k[0].i = (int64_t)a;
            inv->k[1].i = (int64_t)b;
            inv->k[2].i = (int64_t)c;
            return all_rows(e, inv);
        }
    return false;
}

/* Rows in which the operation is more than a copy of one operand. */
static unsigned telling(const Triple *t, InvKind kind)
{
    unsigned n = 0, first = 0, second = 0;

    for (size_t i = 0; i < t->n; i++) {
        int64_t z = t->z->cells[t->rows[i]].i, x = t->x->cells[t->rows[i]].i;
        int64_t y = t->y->cells[t->rows[i]].i;
        switch (kind) {
        case INV_MINIMUM:
        case INV_MAXIMUM:
            first += z == x && x != y;
            second += z == y && x != y;
            break;
        case INV_SHIFT: n += y > 0 && z != 0; break;
        case INV_REMAINDER: n += x > y && y > 1; break;
        case INV_AND: n += z != x && z != y && z != 0; break;
        default: n += z != x && z != y && x != 0 && y != 0 && z != 0;
        }
    }
    return kind == INV_MINIMUM || kind == INV_MAXIMUM ? first < second ? first : second : n;
}

/* Sums and the like are of one unit; products make a new one. */
static bool has_one_unit(const Engine *e, const Invariant *inv)
{
    const Var *vars = e->p->vars;

    return !differ_in_unit(&vars[inv->v[0]], &vars[inv->v[1]]) &&
           !differ_in_unit(&vars[inv->v[0]], &vars[inv->v[2]]) &&
           !differ_in_unit(&vars[inv->v[1]], &vars[inv->v[2]]);
}

static bool operations(const Engine *e, const Triple *t, Invariant *inv)
{
    bool one_unit = has_one_unit(e, inv);

    static const InvKind tried[] = {
        INV_PRODUCT, INV_RATIO, INV_REMAINDER, INV_SHIFT, INV_AND, INV_OR, INV_MINIMUM, INV_MAXIMUM,
    };

    for (unsigned i = 0; i < sizeof tried / sizeof *tried; i++) {
        inv->kind = tried[i];
        if (!one_unit && tried[i] > INV_SHIFT)
            break;
        if (tried[i] >= INV_RATIO && e->p->related &&
            (!point_related(e->p, inv->v[0], inv->v[1]) ||
             !point_related(e->p, inv->v[0], inv->v[2])))
            continue;
        if (telling(t, tried[i]) >= 4 && all_rows(e, inv))
            return true;
    }
    return false;
}

static void infer_triple(Engine *e, unsigned z, unsigned x, unsigned y)
{
    Triple t;
    Invariant inv = { .v = { (int)z, (int)x, (int)y }, .confidence = 1 };

    look_at(e, z, x, y, &t);
    if (t.n < LEAST_TRIPLES || different(&t) < LEAST_TRIPLES)
        return;
    bool found = has_one_unit(e, &inv) && linear(e, &t, &inv);
    if (!found) {
        memset(inv.k, 0, sizeof inv.k);
        found = operations(e, &t, &inv);
    }
    if (!found && inv.kind != INV_LINEAR3) {   /* quotients are not symmetric */
        Invariant swapped = { .v = { (int)z, (int)y, (int)x }, .confidence = 1 };
        Triple u = t;
        u.x = t.y;
        u.y = t.x;
        found = operations(e, &u, &swapped);
        inv = swapped;
    }
    inv.confidence = confidence_even(t.samples);
    if (found)
        keep(e, inv);
}

static bool may_combine(const Engine *e, unsigned a, unsigned b)
{
    bool strong;
    return (comparable(e->p, a, b, &strong) || differ_in_unit(&e->p->vars[a], &e->p->vars[b])) &&
           !e->linear[(size_t)a * e->p->nvars + b];
}

/* z is what the function made, if it made one of the three. */
static void sort_triple(const Engine *e, unsigned v[3])
{
    const Var *vars = e->p->vars;

    for (int i = 1; i < 3; i++) {
        bool better = vars[v[i]].role == ROLE_RESULT ||
                      (var_is_after(&vars[v[i]]) && !var_is_after(&vars[v[0]]));
        if (better) {
            unsigned t = v[0];
            v[0] = v[i];
            v[i] = t;
        }
    }
    if (v[1] > v[2]) {
        unsigned t = v[1];
        v[1] = v[2];
        v[2] = t;
    }
}

void infer_ternary(Engine *e)
{
    unsigned used[MOST_TERNARY], n = 0;

    for (unsigned v = 0; v < e->p->nvars && n < MOST_TERNARY; v++) {
        const Var *var = &e->p->vars[v];
        const Column *c = &e->columns[v];
        if (var->kind == VAR_INT && !var->is_bool && !var->nvalues && c->leader == (int)v &&
            c->nsome >= 3 && var->depth < 2)
            used[n++] = v;
    }
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = i + 1; k < n; k++)
            for (unsigned m = k + 1; m < n; m++) {
                unsigned v[3] = { used[i], used[k], used[m] };
                if (!may_combine(e, v[0], v[1]) || !may_combine(e, v[1], v[2]) ||
                    !may_combine(e, v[0], v[2]))
                    continue;
                sort_triple(e, v);
                if (!e->p->is_exit || var_is_after(&e->p->vars[v[0]]))
                    infer_triple(e, v[0], v[1], v[2]);
            }
}
