/*
 * Two libraries with the same header: a drop-in replacement, or two releases.
 *
 * Each runs in a process of its own. A captured library is built with the address
 * sanitizer; one that is not captured runs as it is, and its functions are those of the header.
 * Functions are the same if they have the same name and the same type. Before anything runs,
 * the layouts of the structs that cross the interface are compared.
 */
#include "base/file.h"
#include "engine/api/facade.h"
#include "technique/substitutes/substitutes_int.h"
#include <stdlib.h>
#include <string.h>

/* ---- layouts */

/* The headers that a caller reads, by their names: those that were given, and what they include. */
typedef struct Layouts {
    Arena *arena;
    const Map *headers;
} Layouts;

static bool same_type(const Layouts *a, const Type *x, const Type *y, int depth, const char **why);

static bool is_seen(const Layouts *a, const Type *t)
{
    return !t->incomplete && (!*t->file || map_has(a->headers, path_base(t->file)));
}

static bool same_record(const Layouts *a, const Type *x, const Type *y, int depth, const char **why)
{
    const char *name = *x->name ? x->name : x->alias ? x->alias->name : "a struct";
    if (!is_seen(a, x) || !is_seen(a, y))
        return true; /* callers can't see into it */
    if (x->size != y->size) {
        *why = arena_printf(a->arena, "%s has %llu bytes in one and %llu in the other", name,
                            (unsigned long long)x->size, (unsigned long long)y->size);
        return false;
    }
    for (unsigned i = 0; i < x->nfields && i < y->nfields; i++) {
        const Field *f = &x->fields[i], *g = &y->fields[i];
        const char *inside = NULL;
        if (f->offset != g->offset || f->width != g->width ||
            !same_type(a, f->type, g->type, depth + 1, &inside)) {
            *why = arena_printf(a->arena, "%s.%s is laid out differently", name, f->name);
            return false;
        }
    }
    if (x->nfields != y->nfields)
        *why = arena_printf(a->arena, "%s has %u fields in one and %u in the other", name,
                            x->nfields, y->nfields);
    return x->nfields == y->nfields;
}

static bool same_enum(const Layouts *a, const Type *x, const Type *y, const char **why)
{
    for (unsigned i = 0; i < x->nvalues; i++)
        for (unsigned k = 0; k < y->nvalues; k++)
            if (!strcmp(x->values[i].name, y->values[k].name) &&
                x->values[i].value != y->values[k].value) {
                *why = arena_printf(a->arena, "%s is %lld in one and %lld in the other",
                                    x->values[i].name, (long long)x->values[i].value,
                                    (long long)y->values[k].value);
                return false;
            }
    return x->size == y->size;
}

static bool same_function(const Layouts *a, const Type *x, const Type *y, int depth,
                          const char **why)
{
    if (x->nparams != y->nparams || x->variadic != y->variadic) {
        *why = "another number of parameters";
        return false;
    }
    for (unsigned i = 0; i < x->nparams; i++)
        if (!same_type(a, x->params[i], y->params[i], depth + 1, why)) {
            if (!*why)
                *why = arena_printf(a->arena, "parameter %u has another type", i + 1);
            return false;
        }
    /* one that gave nothing and gives something now is no other to its callers */
    if (!x->target || type_plain(x->target)->kind == TYPE_VOID ||
        same_type(a, x->target, y->target, depth + 1, why))
        return true;
    if (!*why)
        *why = "another result";
    return false;
}

/* As a caller sees them. */
static bool same_type(const Layouts *a, const Type *x, const Type *y, int depth, const char **why)
{
    x = x ? type_plain(x) : NULL;
    y = y ? type_plain(y) : NULL;
    if (!x || !y || depth > 8)
        return (!x || x->kind == TYPE_VOID) == (!y || y->kind == TYPE_VOID) || depth > 8;
    if (x->kind != y->kind)
        return false;
    switch (x->kind) {
    case TYPE_POINTER: return same_type(a, x->target, y->target, depth + 1, why);
    case TYPE_FUNCTION: return same_function(a, x, y, depth, why);
    case TYPE_STRUCT:
    case TYPE_UNION: return same_record(a, x, y, depth, why);
    case TYPE_ENUM: return same_enum(a, x, y, why);
    case TYPE_ARRAY:
        return x->count == y->count && same_type(a, x->target, y->target, depth + 1, why);
    case TYPE_SCALAR: return x->size == y->size && x->encoding == y->encoding;
    default: return true;
    }
}

/* ---- one side */

static bool open_captured(Pair *p, SideOf which, Err *err)
{
    Substitutes *x = p->all;
    Side *side = &p->side[which];
    Library library = { 0 };
    /* a reference without a sanitizer hides what the candidate's would show */
    LibraryPlan plan = { .link = session_option_all(x->s, "link"),
                         .jobs = session_jobs(x->s),
                         .plain = which == SIDE_CANDIDATE && p->side[SIDE_REFERENCE].own };
    if (!library_make_exposed(side->program, &plan, &library, err))
        return false;
    side->library = xstrdup(library.exposed);
    side->preload = library.preload ? xstrdup(library.preload) : NULL;
    side->points = library.points;
    library.points = NULL;
    library_release(&library);
    return true;
}

static bool open_api(Pair *p, SideOf which, Err *err)
{
    Session *s = p->all->s;
    Side *side = &p->side[which];
    Err none = { 0 };
    char *handles = path_join(session_root(s), "sundew.handles");
    CallsPlan how = { .share = session_share(s), .root = session_root(s), .open_world = true };
    Calls *calls = side->own ? NULL : calls_open(side->program, &how, &none);
    ApiPlan plan = { .headers = session_option_all(s, "headers"),
                     .flags = session_option_all(s, "cflags"),
                     .handles = handles,
                     .calls = calls };
    side->api = api_open(side->program, &plan, err);
    calls_close(calls);
    free(handles);
    return side->api != NULL;
}

static bool open_side(Pair *p, SideOf which, Err *err)
{
    Session *s = p->all->s;
    Side *side = &p->side[which];
    Err none = { 0 };
    side->program = session_open_program(s, side->name, &none);
    if (side->program)
        return open_captured(p, which, err) && open_api(p, which, err);
    side->library = path_absolute(side->name);
    side->own = facade_open(side->library, session_option_all(s, "headers"),
                            session_option_all(s, "cflags"), err);
    side->program = side->own;
    return side->own && open_api(p, which, err);
}

/* ---- headers */

static void read_header(Pair *p, const char *path, Map *out, int depth);

/* Beside the header, else in a folder of -I. */
static void read_included(Pair *p, const char *from, const char *name, Map *out, int depth)
{
    char *folder = path_dir(from), *beside = path_join(folder, name);
    map_put(out, path_base(name), NULL);
    read_header(p, beside, out, depth);
    for (char **w = session_option_all(p->all->s, "cflags"); w && *w; w++)
        if (str_starts(*w, "-I")) {
            char *there = path_join(*w + 2, name);
            read_header(p, there, out, depth);
            free(there);
        }
    free(folder);
    free(beside);
}

static void read_header(Pair *p, const char *path, Map *out, int depth)
{
    enum { DEEPEST = 8, LONGEST = 200 };
    Str text = { 0 };
    if (depth < DEEPEST && file_exists(path) && file_read(path, &text, NULL))
        for (char *s = text.data; s && (s = strstr(s, "include")); s += strlen("include")) {
            char *at = s + strlen("include"), name[LONGEST];
            at += strspn(at, " \t");
            size_t n = *at == '"' || *at == '<' ? strcspn(at + 1, "\">\n") : 0;
            if (!n || n >= sizeof name)
                continue;
            memcpy(name, at + 1, n);
            name[n] = 0;
            if (!map_has(out, path_base(name)))
                read_included(p, path, name, out, depth + 1);
        }
    str_release(&text);
}

static void read_headers(Pair *p, Map *out)
{
    for (char **h = session_option_all(p->all->s, "headers"); h && *h; h++) {
        map_put(out, path_base(*h), NULL);
        read_header(p, *h, out, 0);
    }
}

/* ---- the pair */

static void match(Pair *p)
{
    const Api *ref = p->side[SIDE_REFERENCE].api, *cand = p->side[SIDE_CANDIDATE].api;
    Map headers = { 0 };
    Layouts layouts = { &p->arena, &headers };
    p->calls = arena_array(&p->arena, CallMap, cand->nfunctions + 1);
    read_headers(p, &headers);
    for (size_t i = 0; i < cand->nfunctions; i++) {
        const ApiFunction *f = &cand->functions[i], *to = api_function(ref, f->name);
        const char *why = NULL;
        CallMap *c = &p->calls[i];
        c->name = f->name;
        if (!to)
            strings_addf(&p->unused, "%s: missing in the reference", f->name);
        else if (!same_type(&layouts, to->fn->type, f->fn->type, 0, &why))
            strings_addf(&p->unused, "%s: %s", f->name, why ? why : "another type");
        else if (f->not_callable || f->variadic || to->variadic)
            strings_addf(&p->unused, "%s: %s", f->name,
                         f->not_callable ? f->not_callable : "its arguments are not known");
        else {
            mapping_identity(&p->arena, to, c);
            c->common = true;
            p->ncommon++;
        }
    }
    for (size_t i = 0; i < ref->nfunctions; i++)
        if (!api_function(cand, ref->functions[i].name))
            strings_addf(&p->unused, "%s: missing in the candidate", ref->functions[i].name);
    map_release(&headers);
}

static bool make_pair(Substitutes *x, const char *reference, const char *candidate, Err *err)
{
    Pair *p = xcalloc(1, sizeof *p);
    Err why = { 0 };
    p->all = x;
    p->side[SIDE_REFERENCE] = (Side){ .name = reference };
    p->side[SIDE_CANDIDATE] = (Side){ .name = candidate };
    vec_push(&x->pairs, p);
    if (!open_side(p, SIDE_REFERENCE, &why) || !open_side(p, SIDE_CANDIDATE, &why)) {
        p->why_not = arena_strdup(&p->arena, why.msg);
        session_incomplete(x->s, "%s: %s", candidate, why.msg);
        return true;
    }
    if (!session_flag(x->s, "list") && !pair_learn_example(p, err))
        return false;
    match(p);
    if (!p->ncommon)
        p->why_not = "no function is the same in both";
    return true;
}

bool libraries_pairs(Substitutes *x, Err *err)
{
    char **candidates = session_option_all(x->s, "candidate");
    x->out = session_option(x->s, "output") ? xstrdup(session_option(x->s, "output"))
                                            : xprintf("%s.substitutes", path_base(candidates[0]));
    for (char **h = session_option_all(x->s, "headers"); *h; h++)
        if (!file_exists(*h))
            return err_set(err, "--headers %s: there is no such file", *h);
    if (!session_claim(x->s, x->out, err))
        return false;
    bool ok = true;
    for (; ok && *candidates; candidates++)
        ok = make_pair(x, session_option(x->s, "reference"), *candidates, err);
    return ok;
}
