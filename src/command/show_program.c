/* sundew show functions | types | calls | externals | points-to: what a program
 * is made of. */
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "command/command_rows.h"
#include "analysis/handles/handles.h"
#include "analysis/pointsto/calls.h"
#include "program/program.h"
#include "session/session.h"
#include <stdlib.h>
#include <string.h>

/* Is a name among the arguments after the program's? All are if there are
 * none. */
static bool is_wanted(Session *s, const char *name)
{
    size_t n;
    char **args = session_args(s, &n);
    for (size_t i = 1; i < n; i++) {
        const char *word = args[i];
        if (str_starts(word, "struct ") || str_starts(word, "union ") || str_starts(word, "enum "))
            word = strchr(word, ' ') + 1;
        if (strcmp(word, name) == 0)
            return true;
    }
    return n <= 1;
}

/* Ends a command that lists things: prints and releases the list. A name that
 * was asked for and is not there is an error. */
static bool print_list(Session *s, json_t *list, Err *err)
{
    size_t n;
    char **args = session_args(s, &n);
    bool ok = n <= 1 || json_array_size(list) || session_out(s)->len ||
              err_set(err, "no '%s' in %s", args[1], args[0]);
    if (ok && session_flag(s, "json"))
        json_print(list, session_out(s));
    json_decref(list);
    return ok;
}

static void add_place(Session *s, const char *file, unsigned line, unsigned column)
{
    Str *out = session_out(s);
    char *path = path_relative(file, session_root(s));
    escape_terminal_z(out, *file ? path : "?");
    if (line)
        str_addf(out, ":%u", line);
    if (column)
        str_addf(out, ":%u", column);
    free(path);
}

static json_t *type_text(const Type *t)
{
    Str s = { 0 };
    if (!t)
        return json_null();
    type_print(t, NULL, &s);
    json_t *text = json_text(str_c(&s));
    str_release(&s);
    return text;
}

/* ---- functions */

/* How often each source name occurs. */
static Map count_names(const Program *p)
{
    Map names = { 0 };
    size_t n;
    const Function *const *fns = program_functions(p, &n);
    for (size_t i = 0; i < n; i++) {
        void **slot = map_slot(&names, fns[i]->name);
        *slot = (void *)((size_t)*slot + 1);
    }
    return names;
}

/* A list of functions: by name, or as file.c:name where several have it. */
static json_t *function_names(const Map *names, const Function *const *fns, unsigned n)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < n; i++) {
        if (fns[i]->intrinsic)
            continue;
        bool alone = (size_t)map_get(names, fns[i]->name) < 2 || !*fns[i]->file;
        char *label =
            alone ? xstrdup(fns[i]->name) : xprintf("%s:%s", path_base(fns[i]->file), fns[i]->name);
        json_array_append_new(list, json_text(label));
        free(label);
    }
    return list;
}

static const Option summaries_options[] = {
    { "summaries", 0, "FILE", "more summaries of library functions (repeatable)", NULL },
    { 0 },
};

/* Those of `all` that are not among the first n functions of `direct`. */
static json_t *indirect_names(const Map *names, const Function *const *all, size_t n,
                              const Function *const *direct, unsigned ndirect)
{
    const Function **rest = xcalloc(n + 1, sizeof *rest);
    unsigned k = 0;

    for (size_t i = 0; i < n; i++) {
        bool known = false;
        for (unsigned j = 0; j < ndirect; j++)
            known |= direct[j] == all[i];
        if (!known)
            rest[k++] = all[i];
    }
    json_t *list = function_names(names, rest, k);
    free(rest);
    return list;
}

static json_t *function_json(const Map *names, const Calls *c, const Function *fn)
{
    size_t nfrom, nto;
    const Function *const *from = calls_callers(c, fn, &nfrom);
    const Function *const *to = calls_callees(c, fn, &nto);

    json_t *params = json_array();
    for (unsigned i = 0; i < fn->nparams; i++)
        json_array_append_new(params, json_pack("{s:o, s:o}", "name", json_text(fn->params[i].name),
                                                "type", type_text(fn->params[i].type)));
    return json_pack("{s:o, s:o, s:i, s:i, s:s, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "name",
                     json_text(fn->name), "file", json_text(fn->file), "line", (int)fn->line,
                     "column", (int)fn->column, "linkage", linkage_name(fn->linkage), "signature",
                     json_text(fn->signature), "parameters", params, "returns",
                     type_text(fn->returns), "address_taken", fn->address_taken, "callers",
                     function_names(names, from, (unsigned)nfrom), "callees",
                     function_names(names, to, (unsigned)nto), "indirect_callers",
                     indirect_names(names, from, nfrom, fn->callers, fn->ncallers),
                     "indirect_callees", indirect_names(names, to, nto, fn->callees, fn->ncallees));
}

static bool run_functions(Session *s, Err *err)
{
    const Program *p = session_program(s);
    if (session_flag(s, "json") && !session_need(s, NEEDS_CALLS, err))
        return false;
    const Calls *c = session_flag(s, "json") ? session_calls(s) : NULL;
    size_t n;
    const Function *const *fns = program_functions(p, &n);
    Map names = count_names(p);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        const Function *fn = fns[i];
        if (!fn->defined || !is_wanted(s, fn->name))
            continue;
        if (c) {
            json_array_append_new(list, function_json(&names, c, fn));
            continue;
        }
        add_place(s, fn->file, fn->line, fn->column);
        str_addf(session_out(s), ": %s%s", linkage_name(fn->linkage),
                 fn->address_taken ? ", address taken: " : ": ");
        escape_terminal_z(session_out(s), fn->signature);
        str_addc(session_out(s), '\n');
    }
    bool ok = print_list(s, list, err);
    map_release(&names);
    return ok;
}

const Command command_show_functions = {
    .name = "show functions",
    .args = "PROGRAM [NAME…]",
    .summary = "the functions of a program, as its source has them",
    .about = "Those with a body, static ones too; NAME limits them. --json adds "
             "parameters, callers and callees, also those through pointers.",
    .options = summaries_options,
    .examples = "sundew show functions ./prog\n"
                "sundew show functions libfoo.a main --json\n",
    .needs = NEEDS_CAPTURE | NEEDS_PROGRAM,
    .run = run_functions,
};

/* ---- types */

/* The tag, or the typedef that names a struct without one. */
static const char *name_of(const Type *t)
{
    return *t->name || !t->alias ? t->name : t->alias->name;
}

static json_t *type_json(const Type *t)
{
    json_t *fields = json_array();
    for (unsigned i = 0; i < t->nfields; i++) {
        const Field *f = &t->fields[i];
        json_array_append_new(fields,
                              json_pack("{s:o, s:o, s:I, s:I}", "name", json_text(f->name), "type",
                                        type_text(f->type), "offset", (json_int_t)f->offset,
                                        "width", (json_int_t)f->width));
    }
    json_t *o = json_pack("{s:o, s:s, s:I, s:o, s:o, s:i}", "name", json_text(name_of(t)), "kind",
                          type_kind_name(t->kind), "size", (json_int_t)t->size, "fields", fields,
                          "file", json_text(t->file), "line", (int)t->line);
    if (t->kind == TYPE_TYPEDEF)
        json_object_set_new(o, "type", type_text(t->target));
    if (t->kind == TYPE_SCALAR)
        json_object_set_new(o, "encoding", json_text(encoding_name(t->encoding)));
    if (t->incomplete)
        json_object_set_new(o, "incomplete", json_true());
    if (t->kind != TYPE_ENUM)
        return o;
    json_t *values = json_object();
    for (unsigned i = 0; i < t->nvalues; i++)
        json_object_set_new(values, t->values[i].name, json_integer(t->values[i].value));
    json_object_set_new(o, "values", values);
    return o;
}

static bool is_shown(const Type *t)
{
    switch (t->kind) {
    case TYPE_STRUCT:
    case TYPE_UNION:
    case TYPE_ENUM:
    case TYPE_TYPEDEF:
    case TYPE_SCALAR: return true;
    default: return false;
    }
}

static bool run_types(Session *s, Err *err)
{
    const Program *p = session_program(s);
    size_t n;
    const Type *const *types = types_all(program_types(p), &n);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        const Type *t = types[i];
        if (!is_shown(t) || !is_wanted(s, name_of(t)))
            continue;
        if (session_flag(s, "json")) {
            json_array_append_new(list, type_json(t));
            continue;
        }
        Str text = { 0 };
        type_print_definition(t, &text);
        if (*t->file) {
            add_place(s, t->file, t->line, 0);
            str_addf(session_out(s), ": %llu bytes\n", (unsigned long long)t->size);
        }
        /* line by line: what escapes keeps no newline */
        char *rest = NULL;
        for (char *line = strtok_r((char *)str_c(&text), "\n", &rest); line;
             line = strtok_r(NULL, "\n", &rest)) {
            escape_terminal_z(session_out(s), line);
            str_addc(session_out(s), '\n');
        }
        str_release(&text);
    }
    bool ok = print_list(s, list, err);
    return ok;
}

const Command command_show_types = {
    .name = "show types",
    .args = "PROGRAM [NAME…]",
    .summary = "the types of a program, with sizes and offsets",
    .about = "Structs, unions, enums, typedefs and scalars from debug information, "
             "each once however many units use it. NAME is a tag or the name of a "
             "typedef. Offsets and widths are in bits, sizes in bytes.",
    .examples = "sundew show types ./prog\nsundew show types ./prog node --json\n",
    .needs = NEEDS_CAPTURE | NEEDS_PROGRAM,
    .run = run_types,
};

/* ---- calls */

static json_t *site_json(const Map *names, const CallSite *site)
{
    return json_pack("{s:o, s:o, s:i, s:i, s:b, s:o, s:o}", "caller", json_text(site->caller->name),
                     "file", json_text(site->file), "line", (int)site->line, "column",
                     (int)site->column, "indirect", site->indirect, "targets",
                     function_names(names, site->targets, (unsigned)site->ntargets), "callbacks",
                     function_names(names, site->callbacks, (unsigned)site->ncallbacks));
}

static void add_functions(Session *s, const char *word, const Function *const *fns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        str_add(session_out(s), i ? ", " : word);
        escape_terminal_z(session_out(s), fns[i]->name);
    }
}

static void site_text(Session *s, const CallSite *site)
{
    add_place(s, site->file, site->line, site->column);
    str_add(session_out(s), ": ");
    escape_terminal_z(session_out(s), site->caller->name);
    str_add(session_out(s), site->indirect ? " calls, through a pointer," : " calls");
    if (!site->ntargets)
        str_add(session_out(s), " nothing that is known");
    add_functions(s, " ", site->targets, site->ntargets);
    add_functions(s, "; it calls back ", site->callbacks, site->ncallbacks);
    str_addc(session_out(s), '\n');
}

/* An edge of the picture, each once; dashed if only through pointers. */
static void site_dot(Session *s, const CallSite *site, Map *drawn)
{
    for (size_t i = 0; i < site->ntargets + site->ncallbacks; i++) {
        bool back = i >= site->ntargets;
        const Function *to = back ? site->callbacks[i - site->ntargets] : site->targets[i];
        unsigned pair[2] = { site->caller->index, to->index };
        if (!map_putn(drawn, pair, sizeof pair, NULL))
            continue;
        str_add(session_out(s), "    \"");
        escape_dot(session_out(s), site->caller->symbol);
        str_add(session_out(s), "\" -> \"");
        escape_dot(session_out(s), to->symbol);
        str_add(session_out(s), site->indirect || back ? "\" [style=dashed];\n" : "\";\n");
    }
}

static bool run_calls(Session *s, Err *err)
{
    const Program *p = session_program(s);
    const Calls *c = session_calls(s);
    size_t n;
    const CallSite *sites = calls_sites(c, NULL, &n);
    Map names = count_names(p), drawn = { 0 };
    json_t *list = json_array();
    bool dot = session_flag(s, "dot");
    if (dot)
        str_add(session_out(s), "digraph calls {\n    node [shape=box];\n");
    for (size_t i = 0; i < n; i++) {
        if (!is_wanted(s, sites[i].caller->name))
            continue;
        if (dot)
            site_dot(s, &sites[i], &drawn);
        else if (session_flag(s, "json"))
            json_array_append_new(list, site_json(&names, &sites[i]));
        else
            site_text(s, &sites[i]);
    }
    if (dot)
        str_add(session_out(s), "}\n");
    bool ok = true;
    if (dot)
        json_decref(list);
    else
        ok = print_list(s, list, err);
    map_release(&names);
    map_release(&drawn);
    return ok;
}

static const Option calls_options[] = {
    { "dot", 0, NULL, "a Graphviz picture", NULL },
    { "summaries", 0, "FILE", "more summaries of library functions (repeatable)", NULL },
    { 0 },
};

const Command command_show_calls = {
    .name = "show calls",
    .args = "PROGRAM [CALLER…]",
    .summary = "who calls whom, calls through pointers resolved",
    .about = "Every call site with all functions that it may call, and those that "
             "the library calls back on its behalf (qsort, pthread_create, "
             "signal …). With CALLER, only the sites in these functions.",
    .examples = "sundew show calls ./prog main\n"
                "sundew show calls ./prog --dot | dot -Tsvg -o calls.svg\n",
    .options = calls_options,
    .needs = NEEDS_CAPTURE | NEEDS_CALLS,
    .run = run_calls,
};

/* ---- points-to */

static bool run_points_to(Session *s, Err *err)
{
    (void)err;
    const Program *p = session_program(s);
    const Calls *c = session_calls(s);
    size_t n;
    const Function *const *fns = program_functions(p, &n);
    for (size_t i = 0; i < n; i++)
        if (fns[i]->defined && is_wanted(s, fns[i]->name))
            calls_dump_pointsto(c, fns[i], session_out(s));
    const Strings *notes = calls_notes(c);
    for (size_t i = 0; i < notes->len; i++)
        session_note(s, "%s", notes->items[i]);
    return true;
}

const Command command_show_points_to = {
    .name = "show points-to",
    .args = "PROGRAM [FUNCTION…]",
    .summary = "what the pointers of a function may point to, for debugging",
    .about = "Each value of the intermediate code with its objects: name+8 is an "
             "offset in bytes, name+? somewhere in the object, heap objects are "
             "named by the call that allocates them.",
    .examples = "sundew show points-to ./prog main\n",
    .options = summaries_options,
    .needs = NEEDS_CAPTURE | NEEDS_CALLS,
    .run = run_points_to,
};

/* ---- externals */

static int by_calls(const void *a, const void *b)
{
    const Function *x = *(const Function *const *)a;
    const Function *y = *(const Function *const *)b;
    if (x->ncalls != y->ncalls)
        return x->ncalls > y->ncalls ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void external_text(Session *s, const Function *fn)
{
    str_addf(session_out(s), "%6u call%s  ", fn->ncalls, fn->ncalls == 1 ? " " : "s");
    escape_terminal_z(session_out(s), fn->signature);
    str_addc(session_out(s), '\n');
}

static json_t *external_json(const Map *names, const Function *fn)
{
    return json_pack("{s:o, s:o, s:i, s:b, s:o}", "name", json_text(fn->name), "signature",
                     json_text(fn->signature), "calls", (int)fn->ncalls, "address_taken",
                     fn->address_taken, "callers",
                     function_names(names, fn->callers, fn->ncallers));
}

/* The shipped summaries, the project's and those of the command line. */
static Summaries *read_summaries(Session *s, Err *err)
{
    Summaries *all = summaries_new();
    char *folder = path_join(session_share(s), "summaries");
    char *own = path_join(session_root(s), "sundew.summaries");
    char **more = session_option_all(s, "summaries");
    bool ok = summaries_read_folder(all, folder, err) &&
              (!file_exists(own) || summaries_read(all, own, err));
    for (size_t i = 0; ok && more && more[i]; i++)
        ok = summaries_read(all, more[i], err);
    free(folder);
    free(own);
    if (ok)
        return all;
    summaries_free(all);
    return NULL;
}

static bool run_externals(Session *s, Err *err)
{
    const Program *p = session_program(s);
    Summaries *known = read_summaries(s, err);
    if (!known)
        return false;
    size_t n, found = 0;
    const Function *const *fns = program_functions(p, &n);
    const Function **external = xcalloc(n + 1, sizeof *external);
    for (size_t i = 0; i < n; i++)
        if (!fns[i]->defined && is_wanted(s, fns[i]->name) &&
            (session_flag(s, "all") || !summaries_find(known, fns[i]->symbol)))
            external[found++] = fns[i];
    qsort(external, found, sizeof *external, by_calls);
    Map names = count_names(p);
    json_t *list = json_array();
    for (size_t i = 0; i < found; i++)
        if (session_flag(s, "json"))
            json_array_append_new(list, external_json(&names, external[i]));
        else
            external_text(s, external[i]);
    bool ok = print_list(s, list, err);
    map_release(&names);
    free(external);
    summaries_free(known);
    return ok;
}

static const Option externals_options[] = {
    { "all", 0, NULL, "those with a summary, too", NULL },
    { "summaries", 0, "FILE", "more summaries of library functions (repeatable)", NULL },
    { 0 },
};

const Command command_show_externals = {
    .name = "show externals",
    .args = "PROGRAM [NAME…]",
    .summary = "functions without body and summary that a program uses, most called first",
    .about = "What they do is not known, so points-to has to assume the worst of "
             "them; a line each in the project's sundew.summaries helps. Their types "
             "are those of the intermediate code: debug information describes only "
             "what has a body.",
    .examples = "sundew show externals ./prog\n"
                "sundew show externals ./prog --all --json\n",
    .options = externals_options,
    .needs = NEEDS_CAPTURE | NEEDS_PROGRAM,
    .run = run_externals,
};

/* ---- handles */

static const char *param_name(const HandleUse *u)
{
    return u->param < 0 ? "return" : u->function->params[u->param].name;
}

static json_t *handle_json(const Handle *h)
{
    json_t *uses = json_array();
    for (unsigned i = 0; i < h->nuses; i++) {
        const HandleUse *u = &h->uses[i];
        json_array_append_new(uses, json_pack("{s:o, s:s, s:o, s:o, s:o, s:i}", "function",
                                              json_text(u->function->name), "role",
                                              handle_role_name(u->role), "parameter",
                                              json_text(param_name(u)), "evidence",
                                              json_text(u->evidence), "file", json_text(u->file),
                                              "line", (int)u->line));
    }
    return json_pack("{s:o, s:o}", "type", type_text(h->type), "uses", uses);
}

static void handle_text(Session *s, const Handle *h)
{
    Str *out = session_out(s), text = { 0 };
    type_print(h->type, NULL, &text);
    escape_terminal_z(out, str_c(&text));
    str_addc(out, '\n');
    str_release(&text);
    for (unsigned i = 0; i < h->nuses; i++) {
        const HandleUse *u = &h->uses[i];
        str_addf(out, "    %-11s ", handle_role_name(u->role));
        escape_terminal_z(out, u->function->name);
        str_add(out, " ");
        escape_terminal_z(out, param_name(u));
        str_add(out, ": ");
        escape_terminal_z(out, u->evidence);
        str_add(out, ", ");
        add_place(s, u->file, u->line, 0);
        str_addc(out, '\n');
    }
}

static bool run_handles(Session *s, Err *err)
{
    const Program *p = session_program(s);
    size_t n;
    char *overrules = path_join(session_root(s), "sundew.handles");
    Handles *handles = handles_open(p, overrules, err);
    const Handle *all = handles ? handles_all(handles, &n) : NULL;
    json_t *list = json_array();
    for (size_t i = 0; all && i < n; i++) {
        if (!is_wanted(s, name_of(all[i].type)))
            continue;
        if (session_flag(s, "json"))
            json_array_append_new(list, handle_json(&all[i]));
        else
            handle_text(s, &all[i]);
    }
    bool ok = handles != NULL;
    if (ok)
        ok = print_list(s, list, err);
    else
        json_decref(list);
    handles_close(handles);
    free(overrules);
    return ok;
}

const Command command_show_handles = {
    .name = "show handles",
    .args = "PROGRAM [NAME…]",
    .summary = "the structs that cross the API, and who creates and destroys them",
    .about = "With the evidence for each role. A line \"FUNCTION ROLE PARAMETER\" "
             "in sundew.handles in the project's folder overrules it; the roles are "
             "creates, initialises, destroys, finishes, observes, changes and none, "
             "PARAMETER is a name, a number from 1, or return.",
    .examples = "sundew show handles libfoo.so\n"
                "sundew show handles libfoo.so buf --json\n",
    .needs = NEEDS_CAPTURE | NEEDS_PROGRAM,
    .run = run_handles,
};
