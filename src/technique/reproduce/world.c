#include "technique/reproduce/world.h"
#include "build/symbols.h"
#include "runtime/monitor/monitor.h"
#include <assert.h>
#include <string.h>

typedef struct View {
    Worlds *all;
    const LabUnit *unit;
    LabView *view;
    RestoreWorld world;
} View;

struct Worlds {
    Arena arena;
    Lab *lab;
    const Program *program;
    const Crash *crash;
    const char *monitored;
    Vec(View *) views;
    Map code;                          /* address of the subject → symbol */
    bool has_code;
};

Worlds *worlds_new(Lab *lab, const Program *p, const Crash *c, const char *monitored)
{
    Worlds *all = xcalloc(1, sizeof *all);
    all->lab = lab;
    all->program = p;
    all->crash = c;
    all->monitored = monitored;
    return all;
}

void worlds_free(Worlds *all)
{
    if (!all)
        return;
    map_release(&all->code);
    vec_release(&all->views);
    arena_release(&all->arena);
    free(all);
}

/* ---- code by its address */

/* The program took the address of malloc() and got the runtime's. */
static const char *redirected(const char *symbol)
{
#define NAME(name) #name,
    static const char *const names[] = { SUNDEW_REDIRECTED(NAME) NULL };
#undef NAME
    static const char prefix[] = "sundew_";
    if (str_starts(symbol, prefix) && str_is_one_of(symbol + sizeof prefix - 1, names))
        return symbol + sizeof prefix - 1;
    return symbol;
}

/* Where the monitored program's functions are. */
static void read_code(Worlds *all)
{
    Map symbols = { 0 };
    all->has_code = true;
    symbols_read(all->monitored, &all->arena, &symbols);
    for (size_t i = 0; i < symbols.len; i++) {
        const ObjectSymbol *s = symbols.entries[i].value;
        uint64_t address = s->address + crash_slide(all->crash);
        const char *name = symbols.entries[i].key;
        /* What is local and not the program's is the runtime's. */
        bool its_own =
            s->kind != 't' || redirected(name) != name || program_function(all->program, name);
        if (its_own && strchr("tTwW", s->kind) && s->address && !map_getn(&all->code, &address, 8))
            map_putn(&all->code, &address, 8, arena_strdup(&all->arena, name));
    }
    map_release(&symbols);
}

static const char *name_code(void *arg, uint64_t address)
{
    View *v = arg;
    Worlds *all = v->all;
    if (!all->has_code)
        read_code(all);
    const char *symbol = map_getn(&all->code, &address, 8);
    if (!symbol)
        symbol = crash_external(all->crash, address);
    return symbol ? lab_function(v->view, redirected(symbol)) : NULL;
}

/* ---- a world */

static const char *name_variable(void *arg, const Variable *var, bool *fixed)
{
    return lab_variable(((View *)arg)->view, var, fixed);
}

static bool sees(void *arg, const char *file) { return lab_sees(((View *)arg)->view, file); }

static void print_declaration(void *arg, const Variable *v, const char *name, Str *out)
{
    restore_declaration(&((View *)arg)->world, v, name, out);
}

const RestoreWorld *world_of(Worlds *all, const LabUnit *u, bool plain, Err *err)
{
    for (size_t i = 0; i < all->views.len; i++)
        if (all->views.items[i]->unit == u && all->views.items[i]->world.plain == plain)
            return &all->views.items[i]->world;
    View *v = arena_new(&all->arena, View);
    LabViewPlan plan = { .plain = plain, .declaration = print_declaration, .arg = v };
    v->all = all;
    v->unit = u;
    v->view = lab_view(all->lab, u, &plan, err);
    if (!v->view)
        return NULL;
    v->world = (RestoreWorld){ .sees = sees,
                               .code = name_code,
                               .variable = name_variable,
                               .arg = v,
                               .taken = lab_taken(v->view),
                               .plain = plain };
    vec_push(&all->views, v);
    return &v->world;
}

void world_preamble(const RestoreWorld *w, const char *body, Str *out)
{
    const View *v = w->arg;
    assert(&v->world == w);
    lab_preamble(v->view, body, out);
}
