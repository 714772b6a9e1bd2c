/* --plan: see explore_int.h. */
#include "base/escape.h"
#include "base/json.h"
#include "base/file.h"
#include "analysis/symbolic/symbolic.h"
#include "technique/explore/explore_int.h"
#include <stdlib.h>
#include <string.h>

/* Sites that differ only in where they are, or for lists, all of one kind. */
typedef struct Group {
    const SymbolicSite *first;
    const SymbolicSite *shortest;
    size_t count;
} Group;
typedef Vec(Group) Groups;

static bool same(const SymbolicSite *a, const SymbolicSite *b)
{
    return a->class == b->class && strcmp(a->what, b->what) == 0 && strcmp(a->cure, b->cure) == 0;
}

static void group(const SymbolicSite *sites, size_t n, Groups *out)
{
    for (size_t i = 0; i < n; i++) {
        Group *g = NULL;
        for (size_t k = 0; !g && k < out->len; k++)
            if (same(out->items[k].first, &sites[i]))
                g = &out->items[k];
        if (!g) {
            g = vec_grow(out);
            g->first = g->shortest = &sites[i];
        }
        g->count++;
        if (sites[i].npath < g->shortest->npath)
            g->shortest = &sites[i];
    }
}

static int by_class(const void *a, const void *b)
{
    const Group *x = a, *y = b;
    if (x->first->class != y->first->class)
        return x->first->class < y->first->class ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void print_place(Str *out, const char *file, unsigned line, const char *root)
{
    char *rel = path_relative(file, root);
    escape_terminal_z(out, *file ? rel : "?");
    str_addf(out, ":%u", line);
    free(rel);
}

static void print_group(const Group *g, const char *root, Str *out)
{
    const SymbolicSite *s = g->shortest;
    str_addf(out, "  %s, %zu place%s: ", s->what, g->count, g->count == 1 ? "" : "s");
    print_place(out, s->file, s->line, root);
    str_add(out, " in ");
    escape_terminal_z(out, s->fn ? s->fn->name : "?");
    str_addf(out, "\n      %s\n", s->cure);
    for (size_t i = 0; i < s->npath; i++) {
        str_add(out, i ? "      → " : "      from ");
        escape_terminal_z(out, s->path[i].text);
        str_add(out, "  ");
        print_place(out, s->path[i].file, s->path[i].line, root);
        str_addc(out, '\n');
    }
}

static json_t *path_json(const SymbolicSite *s)
{
    json_t *all = json_array();
    for (size_t i = 0; i < s->npath; i++)
        json_array_append_new(all,
                              json_pack("{s:o, s:i, s:o, s:o}", "file", json_text(s->path[i].file),
                                        "line", (int)s->path[i].line, "function",
                                        json_text(s->path[i].function), "text",
                                        json_text(s->path[i].text)));
    return all;
}

static json_t *groups_json(const Groups *groups)
{
    json_t *all = json_array();
    for (size_t i = 0; i < groups->len; i++) {
        const SymbolicSite *s = groups->items[i].shortest;
        json_array_append_new(all,
                              json_pack("{s:s, s:o, s:I, s:o, s:i, s:o, s:o, s:o}", "class",
                                        symbolic_class_name(s->class), "what", json_text(s->what),
                                        "places", (json_int_t)groups->items[i].count, "file",
                                        json_text(s->file), "line", (int)s->line, "function",
                                        json_text(s->fn ? s->fn->name : NULL), "cure",
                                        json_text(s->cure), "path", path_json(s)));
    }
    return all;
}

typedef struct PlanFigures {
    size_t functions, seeing, instructions, symbolic, calls, mattering;
} PlanFigures;

static PlanFigures figures(const Exploration *e, const Symbolic *sym)
{
    PlanFigures f = { 0 };
    size_t n;
    const Function *const *fns = program_functions(e->program, &n);
    symbolic_functions(sym, &f.functions, &f.seeing);
    symbolic_externals(sym, &f.calls, &f.mattering);
    for (size_t i = 0; i < n; i++) {
        SymbolicFigures one = { 0 };
        if (!fns[i]->defined)
            continue;
        symbolic_in_function(sym, fns[i], &one);
        f.instructions += one.instructions;
        f.symbolic += one.symbolic;
    }
    return f;
}

static void print_plan(const Exploration *e, const PlanFigures *f, const Groups *groups)
{
    Str *out = session_out(e->s);
    const char *root = session_root(e->s);
    SymbolicClass last = (SymbolicClass)-1;
    str_addf(out,
             "%zu of %zu functions may see input, %zu of %zu instructions; %zu of %zu calls "
             "of external functions matter\n",
             f->seeing, f->functions, f->symbolic, f->instructions, f->mattering, f->calls);
    for (size_t i = 0; i < groups->len; i++) {
        SymbolicClass class = groups->items[i].first->class;
        if (class != last)
            str_addf(out, "\n%s\n", symbolic_class_name(class));
        last = class;
        print_group(&groups->items[i], root, out);
    }
    if (!groups->len)
        str_add(out, "no imprecision expected\n");
}

bool plan_show(Exploration *e, Err *err)
{
    const char *parts = str_c(&e->input);
    char *folder = path_join(session_share(e->s), "standins");
    Standins *standins = standins_new();
    bool ok = standins_read_folder(standins, folder, err);
    free(folder);
    if (!ok) {
        standins_free(standins);
        return false;
    }
    if (!session_need(e->s, NEEDS_CALLS, err)) {
        standins_free(standins);
        return false;
    }
    SymbolicPlan plan = { .standins = standins,
                          .argv = strstr(parts, "argv:") != NULL,
                          .env = strstr(parts, "env:") != NULL,
                          .function = session_option(e->s, "function") };
    Symbolic *sym = symbolic_new(e->program, session_calls(e->s), &plan);
    size_t n;
    const SymbolicSite *sites = symbolic_sites(sym, &n);
    Groups groups = { 0 };
    group(sites, n, &groups);
    if (groups.len)
        qsort(groups.items, groups.len, sizeof *groups.items, by_class);
    PlanFigures f = figures(e, sym);
    if (session_flag(e->s, "json")) {
        json_t *o = json_pack("{s:{s:I, s:I}, s:{s:I, s:I}, s:{s:I, s:I}, s:o}", "functions", "all",
                              (json_int_t)f.functions, "symbolic", (json_int_t)f.seeing,
                              "instructions", "all", (json_int_t)f.instructions, "symbolic",
                              (json_int_t)f.symbolic, "externals", "all", (json_int_t)f.calls,
                              "mattering", (json_int_t)f.mattering, "sites", groups_json(&groups));
        json_print(o, session_out(e->s));
        json_decref(o);
    } else {
        print_plan(e, &f, &groups);
    }
    session_status(e->s, 0);
    vec_release(&groups);
    symbolic_free(sym);
    standins_free(standins);
    return true;
}
