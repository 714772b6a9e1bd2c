/* Samples in memory: see sample.h. */
#include "engine/contract/sample.h"
#include "base/str.h"
#include <assert.h>
#include <string.h>

enum { ROWS_KEPT = 4096 };

bool var_is_after(const Var *v) { return !v->orig && v->role != ROLE_PARAM; }

bool var_is_derived(const Var *v)
{
    const char *name = str_starts(v->name, "orig(") ? v->name + 5 : v->name;

    return strchr(name, '[') || str_starts(name, "least(") || str_starts(name, "most(");
}

Samples *samples_new(uint64_t seed)
{
    Samples *s = xcalloc(1, sizeof *s);
    s->rng = rng_seeded(seed);
    s->rows_kept = ROWS_KEPT;
    return s;
}

static void point_release(Point *p)
{
    vec_release(&p->rows);
    map_release(&p->seen);
}

void samples_free(Samples *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->functions.len; i++) {
        point_release(&s->functions.items[i]->entry);
        point_release(&s->functions.items[i]->exit);
    }
    vec_release(&s->functions);
    map_release(&s->by_name);
    map_release(&s->text_numbers);
    strings_release(&s->texts);
    arena_release(&s->arena);
    free(s);
}

FunctionSamples *samples_function(Samples *s, const char *name)
{
    FunctionSamples *f = map_get(&s->by_name, name);

    if (f)
        return f;
    f = arena_new(&s->arena, FunctionSamples);
    f->name = arena_strdup(&s->arena, name);
    f->file = f->signature = f->handle = "";
    f->exit.is_exit = true;
    vec_push(&s->functions, f);
    map_put(&s->by_name, name, f);
    return f;
}

const FunctionSamples *samples_find(const Samples *s, const char *name)
{
    return map_get(&s->by_name, name);
}

int64_t samples_text_number(Samples *s, const char *text)
{
    void **slot = map_slot(&s->text_numbers, text);

    if (!*slot) {
        strings_add(&s->texts, text);
        *slot = (void *)(uintptr_t)s->texts.len;
    }
    return (int64_t)(uintptr_t)*slot;
}

const char *samples_text(const Samples *s, int64_t number)
{
    return number > 0 && (uint64_t)number <= s->texts.len ? s->texts.items[number - 1] : "";
}

void point_vars(Samples *s, Point *p, const Var *vars, unsigned n)
{
    assert(!p->vars && !p->rows.len);
    p->vars = arena_array(&s->arena, Var, n + 1);
    p->least = arena_array(&s->arena, int64_t, n + 1);
    p->most = arena_array(&s->arena, int64_t, n + 1);
    p->nvars = n;
    for (unsigned i = 0; i < n; i++) {
        Var *v = &p->vars[i];
        *v = vars[i];
        v->name = arena_strdup(&s->arena, vars[i].name);
        v->key = arena_strdup(&s->arena, vars[i].key ? vars[i].key : vars[i].name);
        v->type = arena_strdup(&s->arena, vars[i].type ? vars[i].type : "");
        VarValue *values = arena_array(&s->arena, VarValue, v->nvalues + 1);
        for (unsigned k = 0; k < v->nvalues; k++)
            values[k] = (VarValue){ vars[i].values[k].value,
                                    arena_strdup(&s->arena, vars[i].values[k].name) };
        v->values = values;
        p->least[i] = INT64_MAX;
        p->most[i] = INT64_MIN;
    }
}

/* Notes the extremes; true if the row has a new one. */
static bool note_extremes(Point *p, const Cell *cells, const uint8_t *known)
{
    bool news = false;

    for (unsigned i = 0; i < p->nvars; i++) {
        if (!known[i] || p->vars[i].kind != VAR_INT)
            continue;
        if (cells[i].i < p->least[i]) {
            p->least[i] = cells[i].i;
            news = true;
        }
        if (cells[i].i > p->most[i]) {
            p->most[i] = cells[i].i;
            news = true;
        }
    }
    return news;
}

/* The row as bytes; what is not known is zero, so that equal rows are equal. */
static size_t row_bytes(const Point *p, const Cell *cells, const uint8_t *known, uint8_t *out)
{
    size_t n = 0;

    for (unsigned i = 0; i < p->nvars; i++) {
        Cell c = known[i] ? cells[i] : (Cell){ 0 };
        memcpy(out + n, &c, sizeof c);
        out[n + sizeof c] = known[i] != 0;
        n += sizeof c + 1;
    }
    return n;
}

static void fill_row(const Point *p, Row *r, const Cell *cells, const uint8_t *known,
                     uint64_t times)
{
    for (unsigned i = 0; i < p->nvars; i++) {
        r->known[i] = known[i] != 0;
        r->cells[i] = known[i] ? cells[i] : (Cell){ 0 };
    }
    r->count = times;
    r->origin = ORIGIN_OWN;
}

static bool row_is(const Point *p, const Row *r, const Cell *cells, const uint8_t *known)
{
    for (unsigned i = 0; i < p->nvars; i++)
        if (r->known[i] != (known[i] != 0) || (known[i] && r->cells[i].i != cells[i].i))
            return false;
    return true;
}

static void new_row(Samples *s, Point *p, const Cell *cells, const uint8_t *known, uint64_t times)
{
    Row r = { .cells = arena_array(&s->arena, Cell, p->nvars + 1),
              .known = arena_array(&s->arena, uint8_t, p->nvars + 1) };
    fill_row(p, &r, cells, known, times);
    vec_push(&p->rows, r);
}

void point_add_times(Samples *s, Point *p, const Cell *cells, const uint8_t *known, uint64_t times)
{
    uint8_t small[4096], *key = small;
    size_t room = (size_t)p->nvars * (sizeof(Cell) + 1);

    assert(times > 0);
    p->total += times;
    if (room > sizeof small)
        key = xmalloc(room);
    size_t n = row_bytes(p, cells, known, key);
    size_t at = (size_t)(uintptr_t)map_getn(&p->seen, key, n);
    if (at && !row_is(p, &p->rows.items[at - 1], cells, known))
        at = 0;                        /* another row took its place */
    bool extreme = note_extremes(p, cells, known);
    if (at) {
        p->rows.items[at - 1].count += times;
    } else if (p->rows.len < s->rows_kept || extreme) {
        new_row(s, p, cells, known, times);
        if (p->seen.len < 2 * s->rows_kept)
            map_putn(&p->seen, key, n, (void *)(uintptr_t)p->rows.len);
    } else if (rng_below(&s->rng, p->total) < s->rows_kept) {
        fill_row(p, &p->rows.items[rng_below(&s->rng, p->rows.len)], cells, known, times);
    }
    if (key != small)
        free(key);
}

void point_add(Samples *s, Point *p, const Cell *cells, const uint8_t *known)
{
    point_add_times(s, p, cells, known, 1);
}

void point_relate(Samples *s, Point *p, unsigned a, unsigned b, Relation r)
{
    if (!p->related)
        p->related = arena_array(&s->arena, uint8_t, (size_t)p->nvars * p->nvars + 1);
    p->related[(size_t)a * p->nvars + b] = p->related[(size_t)b * p->nvars + a] = (uint8_t)r;
}

bool point_related(const Point *p, int a, int b)
{
    return p->related && p->related[(size_t)a * p->nvars + (size_t)b] % APART != NOT_RELATED;
}

bool point_compared(const Point *p, int a, int b)
{
    return p->related && p->related[(size_t)a * p->nvars + (size_t)b] & COMPARED;
}

bool point_apart(const Point *p, int a, int b)
{
    assert(a >= 0 && b >= 0 && (unsigned)a < p->nvars && (unsigned)b < p->nvars);
    return p->related && p->related[(size_t)a * p->nvars + (size_t)b] & APART;
}

int point_var(const Point *p, const char *name)
{
    for (unsigned i = 0; i < p->nvars; i++)
        if (strcmp(p->vars[i].name, name) == 0)
            return (int)i;
    return -1;
}

int point_key(const Point *p, const char *key)
{
    for (unsigned i = 0; i < p->nvars; i++)
        if (strcmp(p->vars[i].key, key) == 0)
            return (int)i;
    return -1;
}

static void check_point(const Point *p)
{
    for (unsigned i = 0; i < p->nvars; i++) {
        const Var *v = &p->vars[i];
        assert(v->name && v->key && v->type);
        assert(v->twin < (int)p->nvars);
        assert(!v->orig || p->is_exit);
        assert(v->twin < 0 || p->vars[v->twin].orig != v->orig);
    }
    for (size_t i = 0; i < p->rows.len; i++)
        assert(p->rows.items[i].count > 0 && p->rows.items[i].origin == ORIGIN_OWN);
}

void samples_check(const Samples *s)
{
    for (size_t i = 0; i < s->functions.len; i++) {
        check_point(&s->functions.items[i]->entry);
        check_point(&s->functions.items[i]->exit);
    }
    assert(s->functions.len == s->by_name.len);
}
