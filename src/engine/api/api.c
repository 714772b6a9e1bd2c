/*
 * api - from declarations, roles and names to what each place wants.
 *
 * In four steps:
 *
 *     functions   the external ones that the preprocessed headers name with a
 *                 "(" behind; so macros that declare are seen through
 *     types       a handle type is a struct that some function of these creates
 *                 or initialises (analysis/handles/handles.h), or that callers can't look
 *                 into, or in which the library keeps things between calls. Any other is a plain record, which the caller fills.
 *     places      each parameter and result by its type: see wants()
 *     pairs       a pointer to bytes and a number beside it, called len, size, n
 *                 …, belong together; a function pointer and a void *
 *
 * What is written through and what is not comes from the mutability analysis
 * where a call graph was given, else from const.
 */
#include "engine/api/api.h"
#include "base/file.h"
#include "base/proc.h"
#include "engine/api/signature.h"
#include "analysis/mutability/mutability.h"
#include "program/optables.h"
#include "runtime/format/tracefile.h"
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *api_role_name(ApiRole r)
{
    static const char *const names[] = {
        [ROLE_NOTHING] = "nothing",
        [ROLE_INTEGER] = "integer",
        [ROLE_ENUM] = "enum",
        [ROLE_FLAGS] = "flags",
        [ROLE_FLOAT] = "float",
        [ROLE_STRING] = "string",
        [ROLE_BUFFER] = "buffer",
        [ROLE_BUFFER_OUT] = "buffer out",
        [ROLE_LENGTH] = "length",
        [ROLE_LENGTH_INOUT] = "length in out",
        [ROLE_OUT] = "out",
        [ROLE_INOUT] = "in out",
        [ROLE_STRING_OUT] = "string out",
        [ROLE_HANDLE] = "handle",
        [ROLE_HANDLE_OUT] = "handle out",
        [ROLE_HANDLE_INOUT] = "handle in out",
        [ROLE_STORAGE] = "storage",
        [ROLE_RECORD] = "record",
        [ROLE_CALLBACK] = "callback",
        [ROLE_USER_DATA] = "user data",
        [ROLE_POINTER] = "pointer",
        [ROLE_REST] = "rest",
    };
    return names[r];
}

const char *api_use_name(ApiUse u)
{
    static const char *const names[] = {
        [USE_NONE] = "none",         [USE_CREATES] = "creates", [USE_BORROWS] = "borrows",
        [USE_OBSERVES] = "observes", [USE_CHANGES] = "changes", [USE_FINISHES] = "finishes",
        [USE_CONSUMES] = "consumes",
    };
    return names[u];
}

typedef struct Reader {
    Api *api;
    const ApiPlan *plan;
    Map declared;              /* names in the headers */
    Map variables;             /* … that a ";", "[" or "," follows */
    OpTables tables;
    Vec(const Function *) in_tables;
    const Handle *handles;
    size_t nhandles;
    Mutability *mutability;    /* NULL: no call graph */
} Reader;

/* ---- functions */

/* The words with a "(" behind them, and those that may be variables. */
static void scan(const char *s, const char *end, Map *out, Map *variables)
{
    while (s < end) {
        const char *word = s;
        while (s < end && (isalnum((unsigned char)*s) || *s == '_'))
            s++;
        size_t n = (size_t)(s - word);
        const char *next = s;
        while (next < end && isspace((unsigned char)*next))
            next++;
        if (n && next < end && (*next == '(' || *next == ')'))
            map_putn(out, word, n, (void *)1);
        else if (n && next < end && strchr(";[,", *next))
            map_putn(variables, word, n, (void *)1);
        if (!n)
            s++;
    }
}

/* Clang on one header, with these words for what to do; false: it has no answer. */
static bool ask_clang(const char *header, char *const *flags, const char *const *what, Str *out,
                      Err *err)
{
    if (file_is_pipe(header))
        return err_set(err, "%s: a pipe, not a header", header);
    char *clang = clang_find(), *dir = path_dir(header);
    if (!clang) {
        free(dir);
        return err_set(err, "clang-19 is not there: it reads the headers");
    }
    Strings argv = { 0 };
    strings_add(&argv, clang);
    for (; *what; what++)
        strings_add(&argv, *what);
    strings_addf(&argv, "-I%s", dir);
    for (char *const *f = flags; f && *f; f++)
        strings_add(&argv, *f);
    strings_add(&argv, "-x");
    strings_add(&argv, "c");
    strings_add(&argv, header);
    Proc p = { .argv = strings_argv(&argv), .capture = true, .seconds = 60 };
    ProcResult res = { 0 };
    bool ok = proc_run(&p, &res, err);
    if (ok && res.status != 0) {
        size_t n = strcspn(str_c(&res.err), "\n");
        ok = err_set(err, "%s can't be read: %.*s", header, (int)(n > 300 ? 300 : n),
                     str_c(&res.err));
    }
    if (ok && out)
        str_addn(out, str_c(&res.out), res.out.len);
    proc_result_release(&res);
    strings_release(&argv);
    free(clang);
    free(dir);
    return ok;
}

static bool scan_header(Reader *r, const char *header, Err *err)
{
    static const char *const what[] = { "-E", "-P", NULL };
    Str text = { 0 };
    bool ok = ask_clang(header, r->plan->flags, what, &text, err);
    if (ok)
        scan(str_c(&text), str_c(&text) + text.len, &r->declared, &r->variables);
    str_release(&text);
    return ok;
}

bool api_headers_parse(char *const *headers, char *const *flags, Err *err)
{
    static const char *const what[] = { "-fsyntax-only", "-w", NULL };
    for (; headers && *headers; headers++)
        if (!ask_clang(*headers, flags, what, NULL, err))
            return false;
    return true;
}

static bool in_api(const Reader *r, const Function *fn)
{
    return fn->defined && fn->linkage == LINKAGE_EXTERNAL && strcmp(fn->name, "main") != 0 &&
           (!r->plan->headers || map_has(&r->declared, fn->name));
}

static ApiFunction *add_function(Reader *r, const Function *fn, const char *name)
{
    Api *api = r->api;
    ApiFunction *f = &api->functions[api->nfunctions];
    f->fn = fn;
    f->name = name;
    f->index = (unsigned)api->nfunctions++;
    f->nparams = fn->nparams;
    f->params = arena_array(&api->arena, ApiPlace, f->nparams + 1);
    f->variadic = fn->variadic;
    map_put(&api->by_name, name, f);
    return f;
}

/* ---- functions in tables */

static bool leads_to_function(const Field *f)
{
    const Type *t = type_plain(f->type);
    return t->kind == TYPE_POINTER && type_plain(t->target)->kind == TYPE_FUNCTION;
}

/* Is it a struct of operations that the headers declare? Its content must be known, so it
 * is constant. */
static bool is_table(const Reader *r, const Variable *v)
{
    const Type *t = v->type ? type_plain(v->type) : NULL;
    if (!v->defined || !v->constant || v->linkage != LINKAGE_EXTERNAL || !t ||
        t->kind != TYPE_STRUCT || !map_has(&r->variables, v->name))
        return false;
    for (unsigned i = 0; i < t->nfields; i++)
        if (leads_to_function(&t->fields[i]))
            return true;
    return false;
}

static char *source_name(const Function *fn) { return xprintf("%s:%s", fn->file, fn->name); }

/* Calls can't name what is static; they name the table, then. */
static void add_slots(Reader *r, const OpTable *t, const OpImpl *impl)
{
    Arena *a = &r->api->arena;
    for (unsigned i = 0; i < t->nslots; i++) {
        const Function *fn = impl->slots[i];
        char *source = fn ? source_name(fn) : NULL;
        if (fn && fn->defined && fn->linkage == LINKAGE_INTERNAL && !impl->wrong &&
            !map_has(&r->api->by_source, source)) {
            ApiFunction *f =
                add_function(r, fn, arena_printf(a, "%s.%s", impl->name, t->slots[i].name));
            ApiSlot *slot = arena_new(a, ApiSlot);
            *slot = (ApiSlot){ arena_strdup(a, impl->name), arena_strdup(a, t->slots[i].name),
                               t->slots[i].offset };
            f->slot = slot;
            map_put(&r->api->by_source, source, f);
            vec_push(&r->in_tables, fn);
        }
        free(source);
    }
}

static bool find_tables(Reader *r, Err *err)
{
    size_t n, found = 0;
    const Variable *all = program_variables(r->api->program, &n);
    for (size_t i = 0; i < n && r->plan->headers && !r->plan->functions; i++)
        found += is_table(r, &all[i]);
    if (!found)
        return true;                         /* no need to look into the module */
    if (!optables_find(r->api->program, &r->tables, err))
        return false;
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < r->tables.n && is_table(r, &all[i]); t++)
            for (size_t k = 0; k < r->tables.all[t].nimpls; k++) {
                const OpImpl *impl = &r->tables.all[t].impls[k];
                if (impl->symbol && !impl->at_run_time && strcmp(impl->symbol, all[i].symbol) == 0)
                    add_slots(r, &r->tables.all[t], impl);
            }
    return true;
}

static bool find_functions(Reader *r, Err *err)
{
    Api *api = r->api;
    size_t n = r->plan->nfunctions, all;
    const Function *const *fns = r->plan->functions;
    const Function *const *every = program_functions(api->program, &all);
    if (!fns) {
        fns = every;
        n = all;
    }
    for (char *const *h = r->plan->headers; h && *h; h++)
        if (!scan_header(r, *h, err))
            return false;
    api->functions = arena_array(&api->arena, ApiFunction, n + 1 + API_MOST_SHAPES);
    for (size_t i = 0; i < n; i++)
        if (r->plan->functions || in_api(r, fns[i]))
            add_function(r, fns[i], fns[i]->name);
    if (!find_tables(r, err))
        return false;
    assert(api->nfunctions <= n);
    if (!api->nfunctions)
        return err_set(err, r->plan->headers
                                ? "none of the program's functions is declared in the headers"
                                : "the program has no external function");
    return true;
}

/* ---- types */

static const ApiType *type_with(const Api *api, const char *name)
{
    for (size_t i = 0; i < api->ntypes; i++)
        if (strcmp(api->types[i].name, name) == 0)
            return &api->types[i];
    return NULL;
}

static char *record_name(Arena *a, const Type *t)
{
    const char *kind = t->kind == TYPE_UNION ? "union" : "struct";
    if (t->kind == TYPE_VOID)
        return arena_strdup(a, "void *");
    if (*t->name)
        return arena_printf(a, "%s %s", kind, t->name);
    return arena_strdup(a, t->alias ? t->alias->name : "");
}

static bool is_libc(const Type *t)
{
    return strcmp(t->name, "_IO_FILE") == 0 || strcmp(t->name, "__dirstream") == 0;
}

static bool is_made(const Reader *r, const Handle *h)
{
    for (unsigned i = 0; i < h->nuses; i++)
        if ((h->uses[i].role == HANDLE_CREATES || h->uses[i].role == HANDLE_INITIALISES) &&
            api_of(r->api, h->uses[i].function))
            return true;
    return false;
}

/* Callers don't see what is in it: they can't have made it themselves. */
static bool is_opaque(const Type *t)
{
    return t->kind == TYPE_VOID || t->incomplete || str_ends(t->file, ".c");
}

/* Does the library keep something in it from call to call? Two of its functions take
 * it, one of them writes or finishes it, and it leads to something. */
static bool is_stateful(const Reader *r, const Handle *h)
{
    const Type *t = type_plain(h->type);
    unsigned functions = 0, changes = 0, pointers = 0;
    for (unsigned i = 0; i < h->nuses; i++) {
        const HandleUse *u = &h->uses[i];
        if (u->param < 0 || !api_of(r->api, u->function))
            continue;
        functions++;
        changes += u->role != HANDLE_OBSERVES;
    }
    for (unsigned i = 0; i < t->nfields; i++) {
        const Type *f = type_plain(t->fields[i].type);
        pointers += f->kind == TYPE_POINTER && type_plain(f->target)->kind != TYPE_FUNCTION;
    }
    return t->kind == TYPE_STRUCT && functions > 1 && changes > 1 && pointers;
}

static void find_types(Reader *r)
{
    Api *api = r->api;
    api->types = arena_array(&api->arena, ApiType, r->nhandles + 1);
    for (size_t i = 0; i < r->nhandles; i++) {
        const Type *t = r->handles[i].type;
        char *name = record_name(&api->arena, t);
        if (!*name || is_libc(t) || type_with(api, name) ||
            (t->kind == TYPE_VOID && !is_made(r, &r->handles[i])) ||
            (!is_opaque(t) && !is_made(r, &r->handles[i]) && !is_stateful(r, &r->handles[i])))
            continue;
        ApiType *ty = &api->types[api->ntypes];
        ty->name = name;
        ty->type = t;
        ty->index = (unsigned)api->ntypes++;
        ty->size = t->size;
        ty->open = !is_opaque(t) && t->size > 0;
    }
}

const ApiType *api_type_of(const Api *api, const Type *t, unsigned *levels)
{
    unsigned n = 0;
    Arena a = { 0 };
    const Type *record = t ? type_pointed_record(t, &n) : NULL;
    const ApiType *found = record ? type_with(api, record_name(&a, record)) : NULL;
    arena_release(&a);
    if (levels)
        *levels = n;
    return found;
}

/* A void * that is a handle: the first parameter, or what comes out. */
static const ApiType *void_handle(const Reader *r, const Type *t, int place, unsigned *levels)
{
    if (!r->plan->functions || !handle_void(t, levels) || (place > 0 && *levels == 1))
        return NULL;
    return type_with(r->api, "void *");
}

/* ---- places */

static bool is_byte(const Type *t)
{
    return t->kind == TYPE_SCALAR && t->size == 1 && t->encoding != ENCODING_BOOL;
}

static bool name_has(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strcasestr(name, *words))
            return true;
    return false;
}

/* What is called so is a number, and not how many there are. */
static bool is_number_name(const char *name)
{
    const char *number = strcasestr(name, "number");
    const char *behind = number ? number + strlen("number") : "";
    return number && strncasecmp(behind, "of", 2) != 0 && strncasecmp(behind, "_of", 3) != 0 &&
           !strcasestr(behind, "count") && !strcasestr(behind, "max") && !strcasestr(behind, "len");
}

bool api_is_length_name(const char *name)
{
    static const char *const words[] = { "len", "size", "count", "bytes", "siz",
                                         "cap", "num",  "avail", "max",   NULL };
    if (is_number_name(name))
        return false;
    return name_has(name, words) || strcasecmp(name, "n") == 0 || strcasecmp(name, "sz") == 0 ||
           strncasecmp(name, "nB", 2) == 0 || strcasecmp(name, "cb") == 0;
}

static bool is_flags_name(const char *name)
{
    static const char *const words[] = { "flag", "mask", "opts", NULL };
    return name_has(name, words);
}

/* Are its enumerators bits (one, two, four …)? */
static bool is_flags_enum(const Type *t)
{
    unsigned bits = 0, high = 0;
    for (unsigned i = 0; i < t->nvalues; i++) {
        uint64_t v = (uint64_t)t->values[i].value;
        bits += v && !(v & (v - 1));
        high += v > 3 && !(v & (v - 1));
    }
    return high >= 2 && bits * 4 >= t->nvalues * 3;
}

static const HandleUse *use_of(const Reader *r, const Function *fn, int param)
{
    for (size_t i = 0; i < r->nhandles; i++)
        for (unsigned k = 0; k < r->handles[i].nuses; k++)
            if (r->handles[i].uses[k].function == fn && r->handles[i].uses[k].param == param)
                return &r->handles[i].uses[k];
    return NULL;
}

static ApiUse handle_use(const HandleUse *u)
{
    if (!u)
        return USE_CHANGES;
    switch (u->role) {
    case HANDLE_CREATES:
    case HANDLE_INITIALISES: return USE_CREATES;
    case HANDLE_DESTROYS: return USE_CONSUMES;
    case HANDLE_FINISHES: return USE_FINISHES;
    case HANDLE_OBSERVES: return USE_OBSERVES;
    case HANDLE_CHANGES: break;
    }
    return USE_CHANGES;
}

static const MutParam *mutation(const Reader *r, const Function *fn, int place)
{
    return r->mutability && place >= 0 ? mutability_param(r->mutability, fn, (unsigned)place)
                                       : NULL;
}

static bool is_written(const Reader *r, const Function *fn, int place, bool is_const)
{
    const MutParam *m = mutation(r, fn, place);
    if (is_const)
        return false;
    return !m || m->own.verdict != MUT_IMMUTABLE;
}

static bool is_read_first(const Reader *r, const Function *fn, int place)
{
    const MutParam *m = mutation(r, fn, place);
    return m && (m->direction == MUT_IN || m->direction == MUT_INOUT);
}

/* A pointer to a handle type. */
static void wants_handle(const Reader *r, const ApiFunction *f, int place, unsigned levels,
                         ApiPlace *out)
{
    const HandleUse *u = use_of(r, f->fn, place);
    bool opaque = is_opaque(out->handle->type);
    out->use = handle_use(u);
    if (opaque && out->use == USE_FINISHES)
        out->use = USE_CHANGES;             /* its storage is never the caller's */
    if (levels > 2) {
        out->role = ROLE_POINTER;
        out->use = USE_NONE;
    } else if (place == API_RETURNED) {
        out->role = levels == 1 ? ROLE_HANDLE : ROLE_POINTER;
        out->use =
            levels == 1 ? (u && u->role == HANDLE_CREATES ? USE_CREATES : USE_BORROWS) : USE_NONE;
    } else if (levels == 2) {
        bool in = is_read_first(r, f->fn, place) && !(u && u->role == HANDLE_CREATES);
        out->role = in ? ROLE_HANDLE_INOUT : ROLE_HANDLE_OUT;
        if (out->role == ROLE_HANDLE_OUT && out->use != USE_CREATES)
            out->use = USE_BORROWS;
    } else if (u && u->role == HANDLE_INITIALISES && !opaque) {
        out->role = ROLE_STORAGE;
    } else {
        out->role = ROLE_HANDLE;
        if (out->use == USE_CREATES)
            out->use = USE_CHANGES;
    }
}

/* A pointer to something that is no handle. */
static void wants_pointer(const Reader *r, const ApiFunction *f, int place, const Type *target,
                          ApiPlace *out)
{
    const Type *t = type_plain(target);
    bool written = is_written(r, f->fn, place, out->is_const);
    out->role = ROLE_POINTER;
    if (t->kind == TYPE_FUNCTION)
        out->role = ROLE_CALLBACK;
    else if (is_byte(t))
        out->role = written && place >= 0 ? ROLE_BUFFER_OUT : ROLE_STRING;
    else if (t->kind == TYPE_VOID)
        out->role = ROLE_POINTER;
    else if (place == API_RETURNED)
        out->role = ROLE_POINTER;
    else if (t->kind == TYPE_SCALAR || t->kind == TYPE_ENUM)
        out->role = !written || is_read_first(r, f->fn, place) ? ROLE_INOUT : ROLE_OUT;
    else if (t->kind == TYPE_POINTER && is_byte(type_plain(t->target)) && written)
        out->role = ROLE_STRING_OUT;
    else if (type_is_record(t) && !t->incomplete && t->size && !is_libc(t))
        out->role = ROLE_RECORD;
}

static void wants(const Reader *r, const ApiFunction *f, int place, const Type *type, ApiPlace *out)
{
    const Type *t = type ? type_plain(type) : NULL;
    unsigned levels = 0;
    out->type = type;
    out->partner = out->within = API_NONE;
    if (!t || t->kind == TYPE_VOID) {
        out->role = type || place == API_RETURNED ? ROLE_NOTHING : ROLE_POINTER;
    } else if (t->kind == TYPE_SCALAR) {
        out->role = t->encoding == ENCODING_FLOAT ? ROLE_FLOAT
                    : is_flags_name(out->name)    ? ROLE_FLAGS
                                                  : ROLE_INTEGER;
    } else if (t->kind == TYPE_ENUM) {
        out->role = is_flags_enum(t) ? ROLE_FLAGS : ROLE_ENUM;
    } else if (t->kind == TYPE_POINTER) {
        out->is_const = type_has_qualifier(t->target, QUALIFIER_CONST);
        out->is_written = is_written(r, f->fn, place, out->is_const);
        out->is_read = is_read_first(r, f->fn, place);
        out->handle = api_type_of(r->api, t, &levels);
        if (!out->handle)
            out->handle = void_handle(r, t, place, &levels);
        if (out->handle)
            wants_handle(r, f, place, levels, out);
        else
            wants_pointer(r, f, place, t->target, out);
    } else {
        out->role = type_is_record(t) ? ROLE_RECORD : ROLE_POINTER;
    }
}

/* ---- pairs */

static bool is_number(const ApiPlace *p)
{
    const Type *t = p->type ? type_plain(p->type) : NULL;
    return p->role == ROLE_INTEGER && t && t->size >= 2 && t->encoding != ENCODING_BOOL;
}

static bool is_pointer_to_number(const ApiPlace *p)
{
    const Type *t = p->type ? type_plain(p->type) : NULL;
    t = t && t->kind == TYPE_POINTER ? type_plain(t->target) : NULL;
    return (p->role == ROLE_OUT || p->role == ROLE_INOUT) && t && t->kind == TYPE_SCALAR &&
           t->size >= 4 && t->encoding != ENCODING_FLOAT;
}

static bool points_to_bytes(const ApiPlace *p)
{
    const Type *t = p->type ? type_plain(p->type) : NULL;
    t = t && t->kind == TYPE_POINTER ? type_plain(t->target) : NULL;
    return t && (is_byte(t) || t->kind == TYPE_VOID) && !p->handle;
}

/* A least or a most length of something is not how long a text is that is only read. */
static bool is_bound_name(const char *name)
{
    static const char *const words[] = { "min", "max", NULL };
    return name_has(name, words);
}

/* `items_count` goes with `items`, wherever that stands. */
static bool belongs_elsewhere(const ApiFunction *f, unsigned place, const char *length)
{
    enum { SHORTEST = 3 };
    for (unsigned i = 0; i < f->nparams; i++) {
        const char *name = f->params[i].name;
        const Type *t = f->params[i].type ? type_plain(f->params[i].type) : NULL;
        size_t n = strlen(name);
        if (i != place && n >= SHORTEST && t && t->kind == TYPE_POINTER &&
            strncmp(length, name, n) == 0 && strlen(length) > n)
            return true;
    }
    return false;
}

static void pair_up(const Reader *r, ApiFunction *f)
{
    for (unsigned i = 0; i < f->nparams; i++) {
        ApiPlace *p = &f->params[i];
        if (!points_to_bytes(p) || p->role == ROLE_CALLBACK)
            continue;
        for (int d = 1; d >= -1 && p->partner == API_NONE; d -= 2) {
            int k = (int)i + d;
            ApiPlace *q = k >= 0 && k < (int)f->nparams ? &f->params[k] : NULL;
            if (!q || q->partner != API_NONE || !api_is_length_name(q->name) ||
                (!is_number(q) && !is_pointer_to_number(q)))
                continue;
            bool written = is_written(r, f->fn, (int)i, p->is_const);
            if ((!written && is_bound_name(q->name)) || belongs_elsewhere(f, i, q->name))
                continue;
            p->role = written ? ROLE_BUFFER_OUT : ROLE_BUFFER;
            p->partner = k;
            q->role = is_number(q) ? ROLE_LENGTH : ROLE_LENGTH_INOUT;
            q->partner = (int)i;
        }
    }
    for (unsigned i = 0; i < f->nparams; i++)
        if (f->params[i].role == ROLE_CALLBACK)
            for (unsigned k = 0; k < f->nparams; k++) {
                const Type *t = type_plain(f->params[k].type);
                if (f->params[k].role == ROLE_POINTER && t->kind == TYPE_POINTER &&
                    type_plain(t->target)->kind == TYPE_VOID && f->params[i].partner == API_NONE) {
                    f->params[k].role = ROLE_USER_DATA;
                    f->params[k].partner = (int)i;
                    f->params[i].partner = (int)k;
                }
            }
}

/* Does the name say that it is where a text ends? */
static bool is_end_name(const char *name)
{
    static const char *const words[] = { "afterlast", "after_last", "end", "limit", NULL };
    size_t n = strlen(name);
    for (const char *const *w = words; *w; w++)
        if (n >= strlen(*w) && strcasecmp(name + n - strlen(*w), *w) == 0)
            return true;
    return strcasecmp(name, "last") == 0 || strcasecmp(name, "e") == 0;
}

/* (first, after_last): two texts of one type, of which the second lies in the first. */
static void find_ends(ApiFunction *f)
{
    for (unsigned i = 1; i < f->nparams; i++) {
        ApiPlace *p = &f->params[i], *q = &f->params[i - 1];
        if (p->role == ROLE_STRING && q->role == ROLE_STRING && p->partner == API_NONE &&
            type_plain(p->type)->target == type_plain(q->type)->target && is_end_name(p->name))
            p->within = (int)i - 1;
    }
}

/* ---- whole */

/* Why the engine can't call it; NULL: it can. */
static const char *obstacle(const ApiFunction *f)
{
    const Type *ret = f->fn->returns ? type_plain(f->fn->returns) : NULL;
    if (!f->fn->type)
        return "its types are not known";
    if (f->fn->noreturn)
        return "it does not return";
    if (ret && ret->kind == TYPE_SCALAR && ret->size > 8)
        return "its result is wider than 8 bytes";
    for (unsigned i = 0; i < f->nparams; i++) {
        const Type *t = f->params[i].type ? type_plain(f->params[i].type) : NULL;
        if (!t || t->kind == TYPE_UNKNOWN || t->kind == TYPE_VECTOR ||
            (t->kind == TYPE_SCALAR && t->size > 8) || t->kind == TYPE_UNION)
            return "a parameter's type can't be passed";
        if (t->kind == TYPE_STRUCT && strstr(t->name, "va_list"))
            return "it takes a va_list";
        if (t->kind == TYPE_POINTER && type_plain(t->target)->kind == TYPE_STRUCT &&
            is_libc(type_plain(t->target)))
            return "it wants a stream of the C library";
        if (t->kind == TYPE_POINTER && strcmp(type_plain(t->target)->name, "__va_list_tag") == 0)
            return "it takes a va_list";
    }
    Str signature = { 0 };
    bool ok = signature_write(f, &signature);
    str_release(&signature);
    return ok ? NULL : "a type that can't be passed";
}

/* By its name: compare(), list_cmp(), es_strcasecmp(). Its result is a signed number, and it
 * has two things to compare. */
static bool is_comparison(const ApiFunction *f)
{
    static const char *const words[] = { "cmp", "Cmp", "compare", "Compare", "collate" };
    const Type *t = f->fn->returns ? type_plain(f->fn->returns) : NULL;
    bool named = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        named |= strstr(f->name, words[i]) != NULL;
    return named && f->nparams >= 2 && t && t->kind == TYPE_SCALAR &&
           t->encoding == ENCODING_SIGNED;
}

static void read_function(const Reader *r, ApiFunction *f)
{
    Arena *a = &r->api->arena;
    f->result.name = "";
    wants(r, f, API_RETURNED, f->fn->returns, &f->result);
    for (unsigned i = 0; i < f->nparams; i++) {
        f->params[i].name = arena_strdup(a, f->fn->params[i].name);
        wants(r, f, (int)i, f->fn->params[i].type, &f->params[i]);
    }
    pair_up(r, f);
    find_ends(f);
    f->observes = f->result.use != USE_CREATES;
    for (unsigned i = 0; i < f->nparams; i++) {
        const ApiPlace *p = &f->params[i];
        f->takes_handle |= p->role == ROLE_HANDLE;
        f->observes = f->observes && (p->use == USE_NONE || p->use == USE_OBSERVES);
    }
    f->observes = f->observes && f->takes_handle;
    f->compares = is_comparison(f);
    f->not_callable = obstacle(f);
}

static void add_maker(Arena *a, ApiMaker **list, size_t *n, const ApiFunction *f, int place)
{
    ApiMaker *more = arena_array(a, ApiMaker, *n + 1);
    if (*n)
        memcpy(more, *list, *n * sizeof *more);
    more[*n] = (ApiMaker){ f, place };
    *list = more;
    ++*n;
}

static void list_makers(Api *api, bool plain)
{
    for (size_t i = 0; i < api->nfunctions; i++) {
        const ApiFunction *f = &api->functions[i];
        for (int k = API_RETURNED; k < (int)f->nparams; k++) {
            const ApiPlace *p = api_place(f, k);
            ApiType *t = (ApiType *)p->handle;
            if (!t || f->not_callable || f->variadic)
                continue;
            if (p->use == USE_CREATES && plain) {
                add_maker(&api->arena, &t->creators, &t->ncreators, f, k);
                t->caller_owned |= p->role == ROLE_STORAGE;
            }
            if ((p->use == USE_CONSUMES || p->use == USE_FINISHES) && (f->nparams == 1) == plain)
                add_maker(&api->arena, &t->destroyers, &t->ndestroyers, f, k);
        }
    }
}

/* A type that can be closed but that nobody seems to make (it comes from a pool,
 * say): then those that give one out are its makers. */
static void find_lost_makers(Api *api)
{
    for (size_t i = 0; i < api->nfunctions; i++) {
        ApiFunction *f = &api->functions[i];
        for (int k = API_RETURNED; k < (int)f->nparams; k++) {
            ApiPlace *p = k == API_RETURNED ? &f->result : &f->params[k];
            ApiType *t = (ApiType *)p->handle;
            if (!t || f->not_callable || p->use != USE_BORROWS || t->ncreators || !t->ndestroyers)
                continue;
            p->use = USE_CREATES;
            f->observes = false;
        }
    }
    for (size_t i = 0; i < api->ntypes; i++)
        api->types[i].ncreators = api->types[i].ndestroyers = 0;
}

int64_t api_meaning(const ApiFunction *f, uint64_t result)
{
    if (!f->compares)
        return (int64_t)result;
    int64_t x = type_plain(f->fn->returns)->size == 4 ? (int32_t)result : (int64_t)result;
    return (x > 0) - (x < 0);
}

const ApiPlace *api_place(const ApiFunction *f, int place)
{
    assert(place >= API_RETURNED && place < (int)f->nparams);
    return place == API_RETURNED ? &f->result : &f->params[place];
}

static const ApiFunction *make_release(Api *api)
{
    ApiFunction *f = arena_new(&api->arena, ApiFunction);
    Function *fn = arena_new(&api->arena, Function);
    Type *nothing = arena_new(&api->arena, Type), *pointer = arena_new(&api->arena, Type);
    nothing->kind = TYPE_VOID;
    nothing->name = nothing->file = pointer->name = pointer->file = "";
    pointer->kind = TYPE_POINTER;
    pointer->size = sizeof(void *);
    pointer->target = nothing;
    f->name = fn->name = fn->symbol = "free";
    fn->file = fn->signature = "";
    fn->nparams = f->nparams = 1;
    f->fn = fn;
    f->index = (unsigned)api->nfunctions;
    f->params = arena_new(&api->arena, ApiPlace);
    f->params[0] = (ApiPlace){
        .name = "p", .type = pointer, .role = ROLE_POINTER, .partner = API_NONE, .within = API_NONE
    };
    f->result =
        (ApiPlace){ .name = "", .role = ROLE_NOTHING, .partner = API_NONE, .within = API_NONE };
    return f;
}

Api *api_open(const Program *p, const ApiPlan *plan, Err *err)
{
    Api *api = xcalloc(1, sizeof *api);
    Reader r = { .api = api, .plan = plan };
    api->program = p;
    bool ok = find_functions(&r, err);
    Handles *handles = NULL;
    if (ok)
        handles = plan->functions
                      ? handles_open_for(p, plan->functions, plan->nfunctions, plan->handles, err)
                  : r.in_tables.len
                      ? handles_open_with(p, r.in_tables.items, r.in_tables.len, plan->handles, err)
                      : handles_open(p, plan->handles, err);
    ok = ok && handles;
    if (ok)
        r.handles = handles_all(handles, &r.nhandles);
    if (ok && plan->calls)
        r.mutability = mutability_new(p, plan->calls, &(MutabilityPlan){ 0 });
    if (ok) {
        find_types(&r);
        for (size_t i = 0; i < api->nfunctions; i++)
            read_function(&r, &api->functions[i]);
        api->release = make_release(api);
        list_makers(api, true);
        list_makers(api, false);
        find_lost_makers(api);
        list_makers(api, true);
        list_makers(api, false);
    }
    mutability_free(r.mutability);
    handles_close(handles);
    map_release(&r.declared);
    map_release(&r.variables);
    optables_release(&r.tables);
    vec_release(&r.in_tables);
    if (!ok) {
        api_close(api);
        return NULL;
    }
    return api;
}

void api_close(Api *api)
{
    if (!api)
        return;
    map_release(&api->by_name);
    map_release(&api->by_source);
    arena_release(&api->arena);
    free(api);
}

const ApiFunction *api_function(const Api *api, const char *name)
{
    return map_get(&api->by_name, name);
}

const ApiFunction *api_in_table(const Api *api, const Function *fn)
{
    if (fn->linkage != LINKAGE_INTERNAL || !api->by_source.len)
        return NULL;
    char *source = source_name(fn);
    const ApiFunction *f = map_get(&api->by_source, source);
    free(source);
    return f;
}

const ApiFunction *api_of(const Api *api, const Function *fn)
{
    const ApiFunction *f = map_get(&api->by_name, fn->name);
    if (fn->linkage != LINKAGE_INTERNAL)
        return f;
    const ApiFunction *in_table = api_in_table(api, fn);
    if (in_table)
        return in_table;
    return f && f->fn->linkage == LINKAGE_INTERNAL && strcmp(f->fn->symbol, fn->symbol) == 0 ? f
                                                                                             : NULL;
}

/* ---- shapes */

/* Numbers and texts choose what is behind them; a length goes with its buffer. */
static bool is_choice(const ApiPlace *p)
{
    return p->role == ROLE_INTEGER || p->role == ROLE_ENUM || p->role == ROLE_FLAGS ||
           p->role == ROLE_STRING;
}

static const Type *make_type(Api *api, TypeKind kind, const char *name, uint64_t size,
                             Encoding encoding, const Type *target)
{
    Type *t = arena_new(&api->arena, Type);
    t->kind = kind;
    t->name = name;
    t->file = "";
    t->size = size;
    t->encoding = encoding;
    t->target = target;
    return t;
}

static ApiPlace place_of_extra(Api *api, const ApiExtra *x)
{
    ApiPlace p = { .name = "", .partner = API_NONE, .within = API_NONE, .handle = x->handle };
    switch (x->kind) {
    case SUNDEW_REST_INT:
        p.type = make_type(api, TYPE_SCALAR, "int", 4, ENCODING_SIGNED, NULL);
        p.role = ROLE_INTEGER;
        break;
    case SUNDEW_REST_LONG:
        p.type = make_type(api, TYPE_SCALAR, "long", 8, ENCODING_SIGNED, NULL);
        p.role = ROLE_INTEGER;
        break;
    case SUNDEW_REST_DOUBLE:
        p.type = make_type(api, TYPE_SCALAR, "double", 8, ENCODING_FLOAT, NULL);
        p.role = ROLE_FLOAT;
        break;
    case SUNDEW_REST_TEXT:
        p.type = make_type(api, TYPE_SCALAR, "char", 1, ENCODING_SIGNED_CHAR, NULL);
        p.type = make_type(api, TYPE_POINTER, "", sizeof(void *), 0, p.type);
        p.role = ROLE_STRING;
        break;
    default:
        p.type = x->handle ? x->handle->type : make_type(api, TYPE_VOID, "", 0, 0, NULL);
        if (type_plain(p.type)->kind != TYPE_POINTER)    /* else a typedef of void * */
            p.type = make_type(api, TYPE_POINTER, "", sizeof(void *), 0, p.type);
        p.role = x->handle ? ROLE_HANDLE : ROLE_POINTER;
        p.use = x->handle ? USE_CHANGES : USE_NONE;
    }
    return p;
}

static bool is_shape(const ApiFunction *s, const SeqValue *named, const ApiExtra *extra, unsigned n)
{
    if (s->nparams - s->nfixed != n)
        return false;
    for (unsigned i = 0; i < s->nfixed; i++)
        if (s->pinned[i].kind != VALUE_NONE && !value_equal(&s->pinned[i], &named[i]))
            return false;
    for (unsigned i = 0; i < n; i++) {
        const ApiPlace *p = &s->params[s->nfixed + i];
        uint64_t size = extra[i].kind == SUNDEW_REST_INT ? 4 : 8;
        ApiRole role = extra[i].kind == SUNDEW_REST_DOUBLE    ? ROLE_FLOAT
                       : extra[i].kind == SUNDEW_REST_TEXT    ? ROLE_STRING
                       : extra[i].kind != SUNDEW_REST_POINTER ? ROLE_INTEGER
                       : extra[i].handle                      ? ROLE_HANDLE
                                                              : ROLE_POINTER;
        if (p->role != role || p->handle != extra[i].handle || type_plain(p->type)->size != size)
            return false;
    }
    return true;
}

static ApiFunction *make_shape(Api *api, const ApiFunction *f, const SeqValue *named,
                               const ApiExtra *extra, unsigned n)
{
    ApiFunction *s = &api->functions[api->nfunctions];
    SeqValue *pinned = arena_array(&api->arena, SeqValue, f->nparams + 1);
    *s = *f;
    s->index = (unsigned)api->nfunctions++;
    s->shape_of = f;
    s->variadic = false;
    s->nfixed = f->nparams;
    s->nparams = f->nparams + n;
    s->params = arena_array(&api->arena, ApiPlace, s->nparams + 1);
    if (f->nparams)
        memcpy(s->params, f->params, f->nparams * sizeof *f->params);
    for (unsigned i = 0; i < f->nparams; i++)
        if (is_choice(&f->params[i]))
            pinned[i] = value_copy(&api->arena, &named[i]);
    s->pinned = pinned;
    for (unsigned i = 0; i < n; i++) {
        s->params[f->nparams + i] = place_of_extra(api, &extra[i]);
        s->takes_handle |= extra[i].handle != NULL;
        s->observes = s->observes && !extra[i].handle;
    }
    api->nshapes++;
    ((ApiFunction *)api->release)->index = (unsigned)api->nfunctions;
    return s;
}

const ApiFunction *api_shape(Api *api, const ApiFunction *f, const SeqValue *named,
                             const ApiExtra *extra, unsigned n)
{
    assert(f->variadic && !f->shape_of && api->nshapes <= api->nfunctions);
    for (size_t i = api->nfunctions - api->nshapes; i < api->nfunctions; i++)
        if (api->functions[i].shape_of == f && is_shape(&api->functions[i], named, extra, n))
            return &api->functions[i];
    if (api->nshapes == API_MOST_SHAPES || f->nparams + n > 32)
        return NULL;
    for (unsigned i = 0; i < f->nparams; i++)
        if (is_choice(&f->params[i]) && named[i].kind == VALUE_NONE)
            return NULL;
    return make_shape(api, f, named, extra, n);
}

bool api_has_shape(const Api *api, const ApiFunction *f)
{
    for (size_t i = api->nfunctions - api->nshapes; i < api->nfunctions; i++)
        if (api->functions[i].shape_of == f)
            return true;
    return false;
}

const ApiFunction *api_plain(const ApiFunction *f) { return f->shape_of ? f->shape_of : f; }

static void dump_place(const ApiPlace *p, Str *out)
{
    str_add(out, api_role_name(p->role));
    if (p->handle)
        str_addf(out, " %s %s", p->handle->name, api_use_name(p->use));
    if (p->partner != API_NONE)
        str_addf(out, " of %d", p->partner + 1);
    if (p->within != API_NONE)
        str_addf(out, " in %d", p->within + 1);
}

void api_dump(const Api *api, Str *out)
{
    for (size_t i = 0; i < api->nfunctions; i++) {
        const ApiFunction *f = &api->functions[i];
        str_addf(out, "%s(", f->name);
        for (unsigned k = 0; k < f->nparams; k++) {
            str_addf(out, k ? ", %s: " : "%s: ", f->params[k].name);
            dump_place(&f->params[k], out);
        }
        str_add(out, f->variadic ? ", ...) -> " : ") -> ");
        dump_place(&f->result, out);
        if (f->not_callable)
            str_addf(out, "  [not called: %s]", f->not_callable);
        str_addc(out, '\n');
    }
}
