/* A trace becomes samples: see observe.h. */
#include "engine/contract/observe.h"
#include "base/file.h"
#include "engine/contract/observe_int.h"
#include "runtime/format/tracefile.h"
#include <assert.h>
#include <string.h>

/* A call that has not returned yet, by its number. */
typedef struct Open {
    uint64_t number;
    Shape *shape;
    Cell *cells;
    uint8_t *known;
    TraceValue *params;       /* copies, for the exit */
    uint8_t *bytes;           /* … of theirs */
} Open;

typedef struct Observer {
    Trace *t;
    const ObservePlan *plan;
    Samples *s;
    ObserveFigures *figures;
    Arena arena;
    Shape **shapes;           /* by Function.index */
    Map open;                 /* number -> Open */
    Cell *cells;              /* of an exit */
    uint8_t *known;
    size_t room;
} Observer;

/* --- which variables */

/* The globals among what was copied, but for those that a parameter points to. */
static void find_globals(const Observer *o, const Event *e, const Variable **out, size_t *n,
                         size_t most)
{
    for (size_t i = 0; i < e->nmemory && *n < most; i++) {
        const TraceObject *obj = trace_object_at(o->t, e, e->memory[i].address);
        bool pointed = false;
        if (!obj || obj->kind != OBJECT_VARIABLE || obj->address != e->memory[i].address ||
            !obj->variable->type || !*obj->variable->name)     /* a literal has no name */
            continue;
        for (size_t k = 0; k < e->nvalues; k++)
            pointed |= e->values[k].address == obj->address;
        for (size_t k = 0; k < *n; k++)
            pointed |= out[k] == obj->variable;
        if (!pointed)
            out[(*n)++] = obj->variable;
    }
}

static const char *name_of(Observer *o, const Function *fn)
{
    if (program_function(trace_program(o->t), fn->name) == fn)
        return fn->name;
    return arena_printf(&o->arena, "%s:%s", path_base(fn->file), fn->name);
}

static Shape *make_shape(Observer *o, const Function *fn, const Variable *const *globals, size_t n)
{
    const char *name = name_of(o, fn);

    if (samples_find(o->s, name))              /* a copy of an inline function */
        name = arena_printf(&o->arena, "%s#%u", name, fn->index);
    Shape *s = shape_new(&o->arena, fn, name, o->plan, globals, n, o->s);
    size_t need = s->exit.len + 1;
    if (need > o->room) {
        o->room = need;
        o->cells = xrealloc(o->cells, need * sizeof *o->cells);
        o->known = xrealloc(o->known, need);
    }
    return o->shapes[fn->index] = s;
}

static Shape *shape_of(Observer *o, const Event *e)
{
    enum { MOST = 8 };
    const Variable *globals[MOST];
    size_t n = 0;

    if (o->shapes[e->fn->index])
        return o->shapes[e->fn->index];
    find_globals(o, e, globals, &n, MOST);
    Shape *s = make_shape(o, e->fn, globals, n);
    o->figures->left_out += s->left_out;
    return s;
}

/* Functions that never ran have points, too: constraints may bring them rows. */
static void add_silent(Observer *o)
{
    size_t n;
    const Function *const *fns = program_functions(trace_program(o->t), &n);

    for (size_t i = 0; i < n; i++)
        if (fns[i]->defined && fns[i]->type && !o->shapes[fns[i]->index])
            make_shape(o, fns[i], NULL, 0);
}

/* --- calls */

static void keep_params(Open *c, const Event *e)
{
    size_t size = 0;

    for (size_t i = 0; i < e->nvalues; i++)
        size += e->values[i].bytes ? e->values[i].n : 0;
    c->params = xcalloc(e->nvalues + 1, sizeof *c->params);
    c->bytes = xmalloc(size + 1);
    size = 0;
    for (size_t i = 0; i < e->nvalues; i++) {
        c->params[i] = e->values[i];
        if (!e->values[i].bytes)
            continue;
        memcpy(c->bytes + size, e->values[i].bytes, e->values[i].n);
        c->params[i].bytes = c->bytes + size;
        size += e->values[i].n;
    }
}

static void see_call(Observer *o, const Event *e)
{
    Shape *s = shape_of(o, e);
    Open *c = xcalloc(1, sizeof *c);
    void **slot = map_slotn(&o->open, &e->number, sizeof e->number);

    c->number = e->number;
    c->shape = s;
    c->cells = xcalloc(s->entry.len + 1, sizeof *c->cells);
    c->known = xcalloc(s->entry.len + 1, 1);
    for (size_t v = 0; v < s->entry.len; v++)
        c->known[v] = access_read(&s->entry_at.items[v], o->t, e, e->values, (unsigned)e->nvalues,
                                  c->cells, c->known, o->s, &c->cells[v]);
    keep_params(c, e);
    point_add(o->s, &s->f->entry, c->cells, c->known);
    s->f->calls++;
    s->f->left++;
    *slot = c;
}

static void open_free(Open *c)
{
    free(c->cells);
    free(c->known);
    free(c->params);
    free(c->bytes);
    free(c);
}

static void see_return(Observer *o, const Event *e)
{
    void **slot = map_getn(&o->open, &e->call, sizeof e->call)
                      ? map_slotn(&o->open, &e->call, sizeof e->call)
                      : NULL;
    Open *c = slot ? *slot : NULL;

    if (!c)
        return;
    Shape *s = c->shape;
    memset(o->known, 0, s->exit.len);
    memcpy(o->cells, c->cells, s->nentry * sizeof *o->cells);
    memcpy(o->known, c->known, s->nentry);
    Cell *now = o->cells + s->nentry;
    uint8_t *known = o->known + s->nentry;
    for (size_t v = 0; v < s->exit_at.len; v++)
        known[v] = access_read(&s->exit_at.items[v], o->t, e, c->params, s->fn->nparams, now, known,
                               o->s, &now[v]);
    for (size_t v = 0; v < s->exit_at.len; v++)
        if (!*s->exit.items[s->nentry + v].name)
            known[v] = 0;                      /* only counted with */
    point_add(o->s, &s->f->exit, o->cells, o->known);
    assert(s->f->left > 0);
    s->f->left--;
    *slot = NULL;
    open_free(c);
}

/* The map keeps its keys: begin a new one when most of it is done with. */
static void sweep(Observer *o)
{
    enum { OFTEN = 1 << 16 };

    if (o->open.len < OFTEN)
        return;
    Map old = o->open;
    o->open = (Map){ 0 };
    for (size_t i = 0; i < old.len; i++)
        if (old.entries[i].value)
            map_putn(&o->open, old.entries[i].key, old.entries[i].key_len, old.entries[i].value);
    if (o->open.len > OFTEN / 2) {             /* calls that were left for ever */
        for (size_t i = 0; i < o->open.len; i++)
            open_free(o->open.entries[i].value);
        map_release(&o->open);
    }
    map_release(&old);
}

void observe(Trace *t, const ObservePlan *plan, Samples *s, ObserveFigures *out)
{
    Observer o = { .t = t, .plan = plan, .s = s, .figures = out };

    o.shapes = xcalloc(program_index_limit(trace_program(t)) + 1, sizeof *o.shapes);
    for (const Event *e; (e = trace_next(t));) {
        if (plan->stop && (e->number & 1023) == 0 && plan->stop(plan->stop_arg)) {
            out->stopped = true;
            break;
        }
        if (e->kind == EVENT_CALL && e->fn) {
            out->calls++;
            see_call(&o, e);
        } else if (e->kind == EVENT_RETURN) {
            out->returns++;
            see_return(&o, e);
            sweep(&o);
        } else if (e->kind == EVENT_END && e->how == SUNDEW_END_FULL) {
            out->full++;
        }
    }
    add_silent(&o);
    out->cut_short = trace_cut_short(t);
    for (size_t i = 0; i < o.open.len; i++)
        if (o.open.entries[i].value)
            open_free(o.open.entries[i].value);
    map_release(&o.open);
    for (size_t i = 0; i <= program_index_limit(trace_program(t)); i++)
        if (o.shapes[i]) {
            vec_release(&o.shapes[i]->entry);
            vec_release(&o.shapes[i]->entry_at);
            vec_release(&o.shapes[i]->entry_places);
            vec_release(&o.shapes[i]->exit_places);
            vec_release(&o.shapes[i]->exit);
            vec_release(&o.shapes[i]->exit_at);
        }
    free(o.shapes);
    free(o.cells);
    free(o.known);
    arena_release(&o.arena);
}
