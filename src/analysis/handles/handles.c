/*
 * handles - from what the code does with pointers to roles.
 *
 * facts.c gathers what each function does with its arguments. Then each use of a
 * handle type in an API function gets its role from the facts, and from the
 * function's name where they say nothing. The result is kept beside the program's
 * tables; the user's own file is applied to it each time.
 */
#include "analysis/handles/handles.h"
#include "analysis/handles/handles_int.h"
#include "base/file.h"
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

struct Handles {
    const Program *program;
    Arena arena;
    Handle *all;
    size_t n;
};

const char *handle_role_name(HandleRole r)
{
    static const char *const names[] = {
        [HANDLE_CREATES] = "creates",   [HANDLE_INITIALISES] = "initialises",
        [HANDLE_DESTROYS] = "destroys", [HANDLE_FINISHES] = "finishes",
        [HANDLE_OBSERVES] = "observes", [HANDLE_CHANGES] = "changes",
    };
    return names[r];
}

/* ---- names */

static const char *const creating[] = { "new",   "create", "open", "alloc", "make",  "dup",  "copy",
                                        "clone", "parse",  "load", "init",  "build", "from", NULL };
static const char *const starting[] = { "init", "setup", "construct", NULL };
static const char *const ending[] = { "free",     "destroy",  "close",  "delete",  "release",
                                      "finish",   "fini",     "end",    "cleanup", "clear",
                                      "dispose",  "unref",    "decref", "deinit",  "drop",
                                      "finalize", "shutdown", "uninit", NULL };
static const char *const destroying[] = { "free",    "destroy", "close", "delete",
                                          "release", "dispose", NULL };

/* ---- the API */

/* Is there a "(" next, perhaps behind a macro for old compilers: f OF((…))? */
static bool parameters_follow(const char *s, const char *end)
{
    while (s < end && (isspace((unsigned char)*s) || *s == ')'))
        s++;
    if (s < end && *s == '(')
        return true;
    while (s < end && (isupper((unsigned char)*s) || *s == '_'))
        s++;
    while (s < end && (*s == ' ' || *s == '\t'))
        s++;
    return end - s > 1 && s[0] == '(' && s[1] == '(';
}

/* The words with parameters in a header: what it may declare. */
static void scan_header(const char *path, Map *declared)
{
    Str text = { 0 };
    if (file_size(path) > 16 << 20 || !file_read(path, &text, NULL)) {
        str_release(&text);
        return;
    }
    const char *s = text.data ? text.data : "", *end = s + text.len;
    while (s < end) {
        const char *word = s;
        while (s < end && (isalnum((unsigned char)*s) || *s == '_'))
            s++;
        size_t n = (size_t)(s - word);
        if (n && parameters_follow(s, end))
            map_putn(declared, word, n, (void *)1);
        if (!n)
            s++;
    }
    str_release(&text);
}

static void scan_folder_of(const char *file, Map *folders, Map *declared)
{
    char *dir = path_dir(file);
    Strings names = { 0 };
    if (*file && !str_starts(file, "/usr/") && map_put(folders, dir, NULL) &&
        dir_list(dir, &names, NULL))
        for (size_t i = 0; i < names.len; i++) {
            char *path = path_join(dir, names.items[i]);
            if (str_ends(path, ".h") || str_ends(path, ".h.in"))
                scan_header(path, declared);
            free(path);
        }
    strings_release(&names);
    free(dir);
}

/* Marks the API by index: external functions that a header declares; all external
 * ones if no header declares any. */
static bool *find_api(const Program *p)
{
    Map folders = { 0 }, declared = { 0 };
    size_t nfns, ntypes;
    const Function *const *fns = program_functions(p, &nfns);
    const Type *const *types = types_all(program_types(p), &ntypes);
    for (size_t i = 0; i < nfns; i++)
        if (fns[i]->defined)
            scan_folder_of(fns[i]->file, &folders, &declared);
    for (size_t i = 0; i < ntypes; i++)
        scan_folder_of(types[i]->file, &folders, &declared);
    bool *api = xcalloc(program_index_limit(p) + 1, sizeof *api);
    for (int any = 0; any < 2; any++) {
        size_t found = 0;
        for (size_t i = 0; i < nfns; i++) {
            bool is = fns[i]->defined && fns[i]->linkage == LINKAGE_EXTERNAL &&
                      strcmp(fns[i]->name, "main") != 0 &&
                      (any || map_has(&declared, fns[i]->name));
            api[fns[i]->index] = is;
            found += is;
        }
        if (found)
            break;
    }
    map_release(&folders);
    map_release(&declared);
    return api;
}

/* ---- roles */

static const char by_name[] = "its name says so";

typedef struct Finder {
    Handles *out;
    Seer seer;
    bool voids;               /* a void * that stands first is a handle, too */
    Map handles;              /* Type * -> Uses */
    Vec(const Type *) order;
} Finder;

typedef Vec(HandleUse) Uses;

static void add_use(Finder *x, const Type *t, const HandleUse *u)
{
    Uses **slot = (Uses **)map_slotn(&x->handles, &t, sizeof t);
    if (!*slot) {
        *slot = xcalloc(1, sizeof **slot);
        vec_push(&x->order, t);
    }
    vec_push(*slot, *u);
}

/* "it is freed by buf_free()": what the instruction that shows a fact is. */
static const char *say(Finder *x, Fact f, const char *what)
{
    if (f.at && LLVMIsACallInst(f.at) && strcmp(what, by_name) != 0) {
        const Function *fn = facts_function(&x->seer, LLVMGetCalledValue(f.at));
        if (fn && !fn->intrinsic)     /* a struct that is copied calls nobody */
            return arena_printf(&x->out->arena, "%s by %s()", what, fn->name);
    }
    return arena_strdup(&x->out->arena, what);
}

static void place(Finder *x, HandleUse *u, Fact f)
{
    SourcePlace l = { .file = "" };
    if (f.at)
        l = program_place(x->out->program, f.at);
    u->file = *l.file ? l.file : u->function->file;
    u->line = *l.file && l.line ? l.line : u->function->line;
}

static bool points_to_const(const Type *t)
{
    t = type_plain(t);
    return t && t->kind == TYPE_POINTER && type_has_qualifier(t->target, QUALIFIER_CONST);
}

/* The role of a parameter that is a pointer to a handle. */
static HandleRole role_of_pointer(Finder *x, const Function *fn, unsigned arg, const Type *t,
                                  Fact *why, const char **what)
{
    const FnFacts *f = &x->seer.facts[fn->index];
    const ArgFacts *a = &f->args[arg];
    /* a name tells of one thing only */
    bool ends =
        facts_name_is(fn->name, ending) || (fn->nparams == 1 && facts_name_says(fn->name, ending));
    *why = a->freed;
    *what = "it is freed";
    if (a->freed.at)
        return HANDLE_DESTROYS;
    *why = a->frees_inside;
    *what = "memory in it is freed";
    if (ends && a->frees_inside.at)
        return HANDLE_FINISHES;
    *why = a->written;
    *what = "it is written before it is read";
    if (facts_name_says(fn->name, starting) && a->written.at &&
        facts_writes_first(&x->seer, f->value, arg, 0))
        return HANDLE_INITIALISES;
    *what = by_name;
    if (ends && (a->written.at || a->unknown.at))
        return HANDLE_FINISHES;
    *why = (Fact){ 0 };
    *what = "nothing is written through it";
    if (!a->written.at && !a->unknown.at && !a->frees_inside.at && !a->writes_inside.at)
        return HANDLE_OBSERVES;
    *what = "it is declared const";
    if (points_to_const(t))
        return HANDLE_OBSERVES;
    *why = a->written.at ? a->written : a->writes_inside.at ? a->writes_inside : a->unknown;
    *what = a->written.at         ? "it is written"
            : a->writes_inside.at ? "what it leads to is written"
                                  : "it is handed on";
    return HANDLE_CHANGES;
}

/* A pointer to a pointer to a handle; false: it has no role. */
static bool role_of_place(const Finder *x, const Function *fn, unsigned arg, HandleRole *role,
                          Fact *why, const char **what)
{
    const FnFacts *f = &x->seer.facts[fn->index];
    const ArgFacts *a = &f->args[arg];
    *why = a->stores_fresh;
    *what = "new memory is stored there";
    *role = HANDLE_CREATES;
    /* What is looked at first goes in, and has moved perhaps (realloc). */
    bool moves = a->stores_fresh.at && !facts_name_says(fn->name, creating) &&
                 !facts_writes_first(&x->seer, f->value, arg, 0);
    if (moves)
        return false;
    if (a->stores_fresh.at)
        return true;
    *why = a->frees_inside;
    *what = "what it points to is freed";
    *role = HANDLE_DESTROYS;
    if (a->frees_inside.at && facts_name_says(fn->name, ending))
        return true;
    *why = a->written;
    *what = by_name;
    *role = HANDLE_CREATES;
    return a->written.at && facts_name_says(fn->name, creating);
}

const Type *handle_void(const Type *t, unsigned *levels)
{
    t = t ? type_plain(t) : NULL;
    for (*levels = 0; t && t->kind == TYPE_POINTER; ++*levels)
        t = type_plain(t->target);
    return t && t->kind == TYPE_VOID && *levels >= 1 && *levels <= 2 ? t : NULL;
}

/* What a parameter or result points to, as a handle; `place` as in HandleUse. */
static const Type *pointed(const Finder *x, const Type *t, int place, unsigned *levels)
{
    const Type *record = type_pointed_record(t, levels);
    if (record || !x->voids)
        return record;
    record = handle_void(t, levels);
    return record && (place <= 0 || *levels == 2) ? record : NULL;
}

static bool is_handle_type(const Type *t)
{
    if (t && t->kind == TYPE_VOID)
        return true;
    return t && *t->file && !str_starts(t->file, "/usr/include/") &&
           !str_starts(t->file, "/usr/lib/");
}

static void see_params(Finder *x, const Function *fn)
{
    const FnFacts *f = &x->seer.facts[fn->index];
    for (unsigned i = 0; i < fn->nparams; i++) {
        unsigned levels, arg = fn->params[i].first_arg;
        const Type *t = pointed(x, fn->params[i].type, (int)i, &levels);
        if (!is_handle_type(t) || fn->params[i].nargs != 1 || arg >= f->nargs || levels > 2)
            continue;
        HandleUse u = { .function = fn, .param = (int)i };
        Fact why;
        const char *what;
        if (levels == 1)
            u.role = role_of_pointer(x, fn, arg, fn->params[i].type, &why, &what);
        else if (!role_of_place(x, fn, arg, &u.role, &why, &what))
            continue;
        u.evidence = say(x, why, what);
        place(x, &u, why);
        add_use(x, t, &u);
    }
}

static void see_result(Finder *x, const Function *fn)
{
    unsigned levels;
    const Type *t = pointed(x, fn->returns, HANDLE_RETURNED, &levels);
    if (!is_handle_type(t) || levels != 1)
        return;
    const FnFacts *f = &x->seer.facts[fn->index];
    bool takes_one = false;
    for (unsigned i = 0; i < fn->nparams; i++)
        takes_one = takes_one || pointed(x, fn->params[i].type, (int)i, &levels) == t;
    HandleUse u = { .function = fn, .param = HANDLE_RETURNED, .role = HANDLE_CREATES };
    if (!f->fresh.at && (takes_one || !facts_name_says(fn->name, creating)))
        return;
    u.evidence = f->fresh.at ? "it returns new memory" : by_name;
    place(x, &u, f->fresh);
    add_use(x, t, &u);
}

static int by_role(const void *a, const void *b)
{
    const HandleUse *x = a, *y = b;
    if (x->role != y->role)
        return x->role < y->role ? -1 : 1;
    if (x->function->index != y->function->index)
        return x->function->index < y->function->index ? -1 : 1;
    return x->param - y->param;
}

/* Whether the end of a thing frees the thing itself often does not show in the
 * code. What is only ever created on the heap ends there, too. */
static void settle_ends(Uses *uses)
{
    bool created = false, initialised = false;
    for (size_t i = 0; i < uses->len; i++) {
        created = created || uses->items[i].role == HANDLE_CREATES;
        initialised = initialised || uses->items[i].role == HANDLE_INITIALISES;
    }
    for (size_t i = 0; i < uses->len && created && !initialised; i++) {
        HandleUse *u = &uses->items[i];
        if (u->role == HANDLE_FINISHES && facts_name_is(u->function->name, destroying))
            u->role = HANDLE_DESTROYS;
    }
}

static void take_uses(Finder *x, Handle *h, const Type *t)
{
    Uses *uses = map_getn(&x->handles, &t, sizeof t);
    assert(uses && uses->len);
    settle_ends(uses);
    qsort(uses->items, uses->len, sizeof *uses->items, by_role);
    h->type = t;
    h->nuses = (unsigned)uses->len;
    h->uses = arena_array(&x->out->arena, HandleUse, uses->len);
    memcpy(h->uses, uses->items, uses->len * sizeof *uses->items);
    vec_release(uses);
    free(uses);
}

/* `api` marks functions by index. */
static bool find(Handles *out, const bool *api, bool voids, Err *err)
{
    Arena a = { 0 };
    Finder x = { .out = out, .voids = voids, .seer = { .program = out->program, .arena = &a } };
    size_t n;
    const Function *const *fns = program_functions(out->program, &n);
    if (!program_load_module(out->program, err))
        return false;
    facts_gather(&x.seer, program_module(out->program));
    for (size_t i = 0; i < n; i++) {
        if (!api[fns[i]->index] || !fns[i]->type)
            continue;
        see_result(&x, fns[i]);
        see_params(&x, fns[i]);
    }
    out->n = x.order.len;
    out->all = arena_array(&out->arena, Handle, out->n);
    for (size_t i = 0; i < out->n; i++)
        take_uses(&x, &out->all[i], x.order.items[i]);
    map_release(&x.handles);
    facts_release(&x.seer);
    vec_release(&x.order);
    arena_release(&a);
    return true;
}

/*
 * --- the kept file
 *
 * Fields that end with NUL, which neither a path nor a sentence holds:
 *
 *     "sundew handles 3"  count
 *     for each handle:    type  count
 *     for each use:       function  role  param + 1  line  file  evidence
 *
 * Types and functions are their indices. The file's name holds the program's key,
 * so they fit; a number that does not fit makes the file useless.
 */
static const char head[] = "sundew handles 3";

static void put(Str *out, const char *text) { str_addn(out, text, strlen(text) + 1); }

static void put_number(Str *out, uint64_t n)
{
    str_addf(out, "%" PRIu64, n);
    str_addc(out, 0);
}

static void keep(const Handles *h, const char *path)
{
    Str out = { 0 };
    put(&out, head);
    put_number(&out, h->n);
    for (size_t i = 0; i < h->n; i++) {
        put_number(&out, h->all[i].type->index);
        put_number(&out, h->all[i].nuses);
        for (unsigned k = 0; k < h->all[i].nuses; k++) {
            const HandleUse *u = &h->all[i].uses[k];
            assert(u->param >= HANDLE_RETURNED && u->param < (int)u->function->nparams);
            put_number(&out, u->function->index);
            put_number(&out, u->role);
            put_number(&out, (uint64_t)(u->param + 1));
            put_number(&out, u->line);
            put(&out, u->file);
            put(&out, u->evidence);
        }
    }
    file_write(path, out.data, out.len, NULL);       /* else it is found again */
    str_release(&out);
}

typedef struct Reader {
    const char *at, *end;
    bool bad;
} Reader;

static const char *get(Reader *r)
{
    const char *text = r->at,
               *end = r->at < r->end ? memchr(text, 0, (size_t)(r->end - text)) : NULL;
    r->bad |= !end;
    r->at = end ? end + 1 : r->end;
    return end ? text : "";
}

/* 0 to limit - 1. */
static size_t get_below(Reader *r, size_t limit)
{
    char *end;
    const char *text = get(r);
    unsigned long long n = strtoull(text, &end, 10);
    r->bad |= !*text || *end || n >= limit;
    return r->bad ? 0 : (size_t)n;
}

static void read_use(Reader *r, Handles *h, const Function *const *by_index, HandleUse *u)
{
    u->function = by_index[get_below(r, program_index_limit(h->program))];
    u->role = (HandleRole)get_below(r, HANDLE_CHANGES + 1);
    r->bad |= !u->function;
    u->param = (int)get_below(r, r->bad ? 1 : u->function->nparams + 1u) - 1;
    u->line = (unsigned)get_below(r, UINT_MAX);
    u->file = arena_strdup(&h->arena, get(r));
    u->evidence = arena_strdup(&h->arena, get(r));
}

static void read_all(Reader *r, Handles *h, const Function *const *by_index)
{
    size_t ntypes, most = (size_t)(r->end - r->at);
    const Type *const *types = types_all(program_types(h->program), &ntypes);
    r->bad |= strcmp(get(r), head) != 0;
    h->n = get_below(r, most);
    h->all = arena_array(&h->arena, Handle, h->n);
    for (size_t i = 0; i < h->n && !r->bad; i++) {
        size_t type = get_below(r, ntypes);
        if (r->bad)
            return;
        h->all[i].type = types[type];
        h->all[i].nuses = (unsigned)get_below(r, most);
        h->all[i].uses = arena_array(&h->arena, HandleUse, h->all[i].nuses);
        for (unsigned k = 0; k < h->all[i].nuses && !r->bad; k++)
            read_use(r, h, by_index, &h->all[i].uses[k]);
    }
}

/* False: there is no file, or a damaged one; then `h` is empty. */
static bool read_kept(Handles *h, const char *path)
{
    Str data = { 0 };
    size_t n;
    const Function *const *fns = program_functions(h->program, &n);
    const Function **by_index = xcalloc(program_index_limit(h->program) + 1, sizeof *by_index);
    for (size_t i = 0; i < n; i++)
        by_index[fns[i]->index] = fns[i];
    bool ok = file_read(path, &data, NULL);
    if (ok) {
        Reader r = { .at = str_c(&data), .end = str_c(&data) + data.len };
        read_all(&r, h, by_index);
        ok = !r.bad && r.at == r.end;
    }
    if (!ok) {
        arena_release(&h->arena);
        *h = (Handles){ .program = h->program };
    }
    free(by_index);
    str_release(&data);
    return ok;
}

/* ---- the user's word
 *
 *     # comment
 *     FUNCTION  ROLE|none  PARAMETER|return
 */

typedef struct Overrule {
    const Function *function;
    int param;
    bool none;
    HandleRole role;
    unsigned line;
} Overrule;

static bool parse_role(const char *word, Overrule *o)
{
    o->none = strcmp(word, "none") == 0;
    for (unsigned r = HANDLE_CREATES; r <= HANDLE_CHANGES; r++)
        if (strcmp(word, handle_role_name((HandleRole)r)) == 0) {
            o->role = (HandleRole)r;
            return true;
        }
    return o->none;
}

/* By its name, or by its number from 1. */
static bool parse_param(const char *word, Overrule *o)
{
    o->param = HANDLE_RETURNED;
    if (strcmp(word, "return") == 0)
        return true;
    for (unsigned i = 0; i < o->function->nparams; i++)
        if (strcmp(o->function->params[i].name, word) == 0)
            o->param = (int)i;
    char *end;
    long number = strtol(word, &end, 10);
    if (o->param < 0 && *word && !*end && number >= 1 && number <= (long)o->function->nparams)
        o->param = (int)number - 1;
    return o->param >= 0;
}

static bool parse_line(const Program *p, const char *path, char *text, unsigned line, Overrule *o,
                       bool *empty, Err *err)
{
    char *rest, *words[4];
    size_t n = 0;
    text[strcspn(text, "#")] = 0;
    for (char *w = strtok_r(text, " \t\r", &rest); w && n < 4; w = strtok_r(NULL, " \t\r", &rest))
        words[n++] = w;
    *empty = n == 0;
    if (n == 0)
        return true;
    *o = (Overrule){ .line = line };
    if (n != 3)
        return err_set(err, "%s:%u: expected FUNCTION ROLE PARAMETER", path, line);
    o->function = program_function(p, words[0]);
    if (!o->function) {
        *empty = true;               /* of another program of the project */
        return true;
    }
    if (!parse_role(words[1], o))
        return err_set(err, "%s:%u: no role is called %s", path, line, words[1]);
    if (!parse_param(words[2], o))
        return err_set(err, "%s:%u: %s() has no parameter %s", path, line, words[0], words[2]);
    return true;
}

static const Type *overruled_type(const Overrule *o)
{
    unsigned levels;
    const Type *t = o->param < 0 ? o->function->returns : o->function->params[o->param].type;
    return type_pointed_record(t, &levels);
}

static Handle *handle_of(Handles *all, const Type *t)
{
    assert(t);
    for (size_t i = 0; i < all->n; i++)
        if (all->all[i].type == t)
            return &all->all[i];
    Handle *more = arena_array(&all->arena, Handle, all->n + 1);
    memcpy(more, all->all, all->n * sizeof *more);
    all->all = more;
    more[all->n].type = t;
    return &more[all->n++];
}

static void apply(Handles *all, const Overrule *o, const char *path)
{
    Handle *h = handle_of(all, overruled_type(o));
    HandleUse *uses = arena_array(&all->arena, HandleUse, h->nuses + 1u);
    unsigned n = 0;
    for (unsigned i = 0; i < h->nuses; i++)
        if (h->uses[i].function != o->function || h->uses[i].param != o->param)
            uses[n++] = h->uses[i];
    if (!o->none)
        uses[n++] = (HandleUse){
            .function = o->function,
            .role = o->role,
            .param = o->param,
            .evidence = "the user says so",
            .file = arena_strdup(&all->arena, path),
            .line = o->line,
        };
    qsort(uses, n, sizeof *uses, by_role);
    h->uses = uses;
    h->nuses = n;
}

static bool read_overrules(Handles *all, const char *path, Err *err)
{
    Str text = { 0 };
    if (!file_read(path, &text, err)) {
        str_release(&text);
        return false;
    }
    bool ok = true;
    unsigned line = 0;
    for (char *s = text.data, *next; s && ok; s = next) {
        next = strchr(s, '\n');
        if (next)
            *next++ = 0;
        Overrule o;
        bool empty;
        ok = parse_line(all->program, path, s, ++line, &o, &empty, err);
        if (ok && !empty && !overruled_type(&o))
            ok = err_set(err, "%s:%u: that is no pointer to a struct", path, line);
        if (ok && !empty)
            apply(all, &o, path);
    }
    str_release(&text);
    return ok;
}

/* ---- opening */

static Handles *overruled(Handles *h, bool ok, const char *overrules, Err *err)
{
    if (ok && overrules && file_exists(overrules))
        ok = read_overrules(h, overrules, err);
    if (ok)
        return h;
    handles_close(h);
    return NULL;
}

Handles *handles_open(const Program *p, const char *overrules, Err *err)
{
    Handles *h = xcalloc(1, sizeof *h);
    char *kept = program_cache_path(p, "handles");
    h->program = p;
    bool ok = read_kept(h, kept);
    if (!ok) {
        bool *api = find_api(p);
        ok = find(h, api, false, err);
        if (ok)
            keep(h, kept);
        free(api);
    }
    free(kept);
    return overruled(h, ok, overrules, err);
}

Handles *handles_open_for(const Program *p, const Function *const *fns, size_t n,
                          const char *overrules, Err *err)
{
    Handles *h = xcalloc(1, sizeof *h);
    bool *api = xcalloc(program_index_limit(p) + 1, sizeof *api);
    h->program = p;
    for (size_t i = 0; i < n; i++)
        api[fns[i]->index] = fns[i]->defined;
    bool ok = find(h, api, true, err);
    free(api);
    return overruled(h, ok, overrules, err);
}

Handles *handles_open_with(const Program *p, const Function *const *fns, size_t n,
                           const char *overrules, Err *err)
{
    Handles *h = xcalloc(1, sizeof *h);
    bool *api = find_api(p);
    h->program = p;
    for (size_t i = 0; i < n; i++)
        api[fns[i]->index] = fns[i]->defined;
    bool ok = find(h, api, false, err);
    free(api);
    return overruled(h, ok, overrules, err);
}

const Handle *handles_all(const Handles *h, size_t *n)
{
    *n = h->n;
    return h->all;
}

void handles_close(Handles *h)
{
    if (!h)
        return;
    arena_release(&h->arena);
    free(h);
}
