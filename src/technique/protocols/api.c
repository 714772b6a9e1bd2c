/*
 * The API that --api names: a family of share/protocols/ (stdio), or a header.
 *
 * Of a header the preprocessor tells the names, the AST the types of those that the
 * program calls. A handle is a pointer to a struct, or to a typedef of void. A struct
 * whose content callers see counts if the API neither returns it nor if less than two
 * functions take it: otherwise it is data. Tables overrule what types and names say.
 */
#include "ast/ast.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "technique/protocols/protocols_int.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct Wanted {
    Map families;                /* names of families */
    Map names;                   /* functions that a header declares */
    bool headers;
} Wanted;

/* ----------------------------------------------------------------- tables */

static bool read_tables(Client *st, Err *err)
{
    char *dir = path_join(session_share(st->session), "protocols");
    Strings names = { 0 };
    bool ok = dir_list(dir, &names, err);
    for (size_t i = 0; ok && i < names.len; i++) {
        char *path = path_join(dir, names.items[i]);
        ok = !str_ends(path, ".txt") || proto_api_read(st->api, path, err);
        free(path);
    }
    for (char **t = session_option_all(st->session, "table"); ok && t && *t; t++)
        ok = proto_api_read(st->api, *t, err);
    strings_release(&names);
    free(dir);
    return ok;
}

static bool is_family(const Client *st, const char *name)
{
    for (size_t i = 0; i < st->api->functions.len; i++) {
        const char *family = st->api->functions.items[i]->family;
        if (family && !strcmp(family, name))
            return true;
    }
    return false;
}

/* ----------------------------------------------------------------- header */

/* Does the file of a line marker belong to the header? With a folder in its name all
 * files of that folder do: curl/curl.h is curl/easy.h, too. */
static bool belongs(const char *file, size_t n, const char *header)
{
    char *path = xstrndup(file, n), *end = xprintf("/%s", header);
    bool same = !strcmp(path, header) || str_ends(path, end);
    if (!same && strchr(header, '/') && header[0] != '/' && header[0] != '.') {
        char *dir = path_dir(header), *in = path_dir(path), *tail = xprintf("/%s", dir);
        same = str_ends(in, tail);
        free(dir);
        free(in);
        free(tail);
    }
    free(path);
    free(end);
    return same;
}

/* Names that stand before a parenthesis, in the parts that belong to the header. */
static size_t scan(const char *text, const char *header, Map *out)
{
    bool inside = false;
    size_t parts = 0;
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        const char *quote = line[0] == '#' ? memchr(line, '"', n) : NULL;
        if (quote) {
            const char *end = memchr(quote + 1, '"', n - (size_t)(quote + 1 - line));
            inside = end && belongs(quote + 1, (size_t)(end - quote - 1), header);
            parts += inside;
        }
        for (const char *c = line; inside && !quote && c < line + n;) {
            const char *word = c;
            while (c < line + n && (isalnum((unsigned char)*c) || *c == '_'))
                c++;
            size_t len = (size_t)(c - word);
            const char *next = c;
            while (next < line + n && *next == ' ')
                next++;
            /* A parenthesis may stand in the next line. */
            if (len && (next == line + n || *next == '(' || *next == ')'))
                map_putn(out, word, len, out);
            c += !len;
        }
        line += n + (line[n] == '\n');
    }
    return parts;
}

static bool preprocess(const CompileCommand *unit, const char *header, const char *stub,
                       ProcResult *r, Err *err)
{
    char *clang = clang_find();
    Strings argv = { 0 };
    strings_add(&argv, clang ? clang : "clang");
    strings_add(&argv, "-E");
    strings_add(&argv, "-w");
    for (size_t i = 0; unit && i < unit->clang.len; i++)
        strings_add(&argv, unit->clang.items[i]);
    if (unit)
        strings_addf(&argv, "-I%s", unit->directory);
    char *cwd = path_absolute(".");
    strings_addf(&argv, "-I%s", cwd);
    strings_add(&argv, "-x");
    strings_add(&argv, "c");
    strings_add(&argv, stub);
    Proc p = { .argv = strings_argv(&argv),
               .capture = true,
               .seconds = 60,
               .cwd = unit ? unit->directory : NULL };
    bool ok = clang ? proc_run(&p, r, err) : err_set(err, "clang-19 is not there");
    if (ok && r->status != 0) {
        const char *text = strstr(str_c(&r->err), "error: ");
        text = text ? text : str_c(&r->err);
        ok = err_set(err, "%s can't be read: %.*s", header, (int)(strcspn(text, "\n") % 300), text);
    }
    free(cwd);
    free(clang);
    strings_release(&argv);
    return ok;
}

/* With the flags of any unit: the first that can read it. */
static bool read_header(Client *st, const char *header, Wanted *w, Err *err)
{
    CompileCommands commands = { 0 };
    const char *scratch = tempdir_new(NULL, err);
    char *stub = scratch ? path_join(scratch, "api.c") : NULL;
    Str text = { 0 };
    str_add(&text, "#include ");
    escape_c_include(&text, header);
    str_addc(&text, '\n');
    bool ok = scratch && commands_of_workspace(session_workspace(st->session), &commands, err) &&
              file_write(stub, text.data, text.len, err);
    bool done = false;
    for (size_t i = 0; ok && !done && i <= commands.len; i++) {
        ProcResult r = { 0 };
        Err own = { 0 };
        done = preprocess(i < commands.len ? &commands.items[i] : NULL, header, stub, &r, &own);
        if (!done && !i)
            *err = own;
        if (done && !scan(str_c(&r.out), header, &w->names))
            ok = err_set(err, "--api %s: the preprocessor found no such file", header);
        proc_result_release(&r);
    }
    commands_release(&commands);
    if (scratch)
        tempdir_remove(scratch);
    free(stub);
    str_release(&text);
    return ok && done;
}

/* ------------------------------------------------------------------ types */

/* The handle type that a pointer leads to; "" if it is none. *data: callers see what is
 * in it. */
static void handle_name(const AstType *t, bool *data, Str *out)
{
    const AstType *to = t ? t->pointee : NULL;
    *data = false;
    if (!to)
        return;
    if (to->kind == AST_VOID) {
        const char *s = t->spelling;
        s += str_starts(s, "const ") ? strlen("const ") : 0;
        size_t n = strcspn(s, " *");
        if (strncmp(s, "void", 4) != 0)
            str_addn(out, s, n);
    } else if (to->kind == AST_RECORD && !strstr(to->plain, "(unnamed") &&
               !strstr(to->plain, "(anonymous")) {
        *data = to->size > 0;
        str_add(out, to->plain);
    }
}

/* "struct x" is x, unless a table has a name for it. */
static unsigned type_of(Client *st, const char *plain)
{
    size_t n = (size_t)(uintptr_t)map_get(&st->api->by_type, plain);
    if (n)
        return (unsigned)n - 1;
    const char *space = strrchr(plain, ' ');
    return proto_api_type(st->api, space ? space + 1 : plain);
}

typedef struct Guess {
    Map made;                    /* types that the API returns */
    Map taken;                   /* types → how many functions take a changeable one */
} Guess;

static const AstType *out_type(const AstType *t)
{
    return t && t->pointee && t->pointee->kind == AST_POINTER ? t->pointee : NULL;
}

static void note_type(Map *m, const AstType *t)
{
    bool data;
    Str name = { 0 };
    handle_name(t, &data, &name);
    if (name.len) {
        void **slot = map_slot(m, str_c(&name));
        *slot = (void *)((uintptr_t)*slot + 1);
    }
    str_release(&name);
}

static void note_function(Guess *g, const AstFunction *f)
{
    note_type(&g->made, f->result);
    for (size_t i = 0; i < f->nparams; i++) {
        note_type(&g->made, out_type(f->params[i].type));
        if (f->params[i].type && f->params[i].type->pointee &&
            !f->params[i].type->pointee->is_const)
            note_type(&g->taken, f->params[i].type);
    }
}

/* A place for a handle; false: the type is none. */
static bool add_place(Client *st, const Guess *g, ProtoFunction *f, const AstType *t, ProtoPlace p)
{
    bool data, is;
    Str name = { 0 };
    handle_name(t, &data, &name);
    bool made = map_has(&g->made, str_c(&name));
    bool constant = t && t->pointee && t->pointee->is_const;
    is = name.len &&
         (!data || made || (!constant && (uintptr_t)map_get(&g->taken, str_c(&name)) >= 2));
    if (is) {
        p.type = type_of(st, str_c(&name));
        ProtoType *type = &st->api->types.items[p.type];
        type->caller_owned |= data && !made;
        if (type->caller_owned && p.use == PROTO_CREATES)
            p.use = PROTO_INITIALISES;
        proto_api_place(st->api, f, p);
    }
    str_release(&name);
    return is;
}

/* Does it hand a handle out, as its result or through a parameter? */
static bool gives_handle(const AstFunction *f)
{
    bool data;
    Str name = { 0 };
    handle_name(f->result, &data, &name);
    for (size_t i = 0; i < f->nparams && !name.len; i++)
        handle_name(out_type(f->params[i].type), &data, &name);
    bool gives = name.len > 0;
    str_release(&name);
    return gives;
}

static void guess(Client *st, const Guess *g, const AstFunction *f)
{
    ProtoFunction *out = proto_api_add(st->api, f->name);
    if (out->known || out->nplaces)
        return;
    bool first = true, creates = proto_name_creates(f->name), gives = gives_handle(f);
    for (size_t i = 0; i < f->nparams && i < 16; i++) {
        const AstType *t = f->params[i].type;
        ProtoPlace p = { .param = (int)i };
        if (out_type(t)) {
            p.out = true;
            p.use = creates ? PROTO_CREATES : PROTO_USES;
            add_place(st, g, out, out_type(t), p);
            continue;
        }
        if (first)
            p.use = proto_name_destroys(f->name) ? PROTO_DESTROYS
                    : creates && !gives          ? PROTO_CREATES
                                                 : PROTO_USES;
        first &= !add_place(st, g, out, t, p);
        ProtoPlace *last = out->nplaces ? &out->places[out->nplaces - 1] : NULL;
        if (last && last->param == (int)i && last->use == PROTO_CREATES)
            last->use = PROTO_USES;          /* it goes in: it is there already */
    }
    out->pointer = f->result && f->result->kind == AST_POINTER;
    out->no_result = !f->result || f->result->kind == AST_VOID;
    ProtoPlace p = { .param = PROTO_RETURNED,
                     .use = creates || first ? PROTO_CREATES : PROTO_USES };
    add_place(st, g, out, f->result, p);
}

static bool read_types(Client *st, const Wanted *w, Err *err)
{
    Guess g = { 0 };
    AstIndex *ix = session_open_ast(st->session, session_workspace(st->session),
                                    session_root(st->session), NULL, 0, err);
    for (size_t i = 0; ix && i < ix->ncalls; i++)
        if (ix->calls[i]->callee->kind == AST_FUNCTION &&
            map_has(&w->names, ix->calls[i]->callee->name))
            note_function(&g, ix->calls[i]->callee);
    for (size_t i = 0; ix && i < ix->ncalls; i++)
        if (ix->calls[i]->callee->kind == AST_FUNCTION &&
            map_has(&w->names, ix->calls[i]->callee->name))
            guess(st, &g, ix->calls[i]->callee);
    bool ok = ix != NULL;
    ast_close(ix);
    map_release(&g.made);
    map_release(&g.taken);
    return ok;
}

/* ---------------------------------------------------------------- callees */

static bool is_wanted(const Wanted *w, const ProtoFunction *f)
{
    return f->nplaces &&
           ((f->family && map_has(&w->families, f->family)) || map_has(&w->names, f->name));
}

static void add_callee(Client *st, unsigned index)
{
    const ProtoFunction *f = st->api->functions.items[index];
    ApiCallee c = { .name = f->name,
                    .in = { -1, -1, -1 },
                    .out = { -1, -1 },
                    .mutex = str_starts(f->name, "pthread_mutex_") };
    unsigned in = 0, out = 0;
    for (unsigned i = 0; i < f->nplaces; i++) {
        const ProtoPlace *p = &f->places[i];
        if (p->out && out < 2)
            c.out[out++] = p->param;
        else if (!p->out && p->param >= 0 && in < 3)
            c.in[in++] = p->param;
        c.makes |= p->use == PROTO_CREATES || p->use == PROTO_INITIALISES;
        str_addf(&st->key, "%d%c%u.%u ", p->param, p->out ? '*' : ':', (unsigned)p->use, p->type);
    }
    c.mutex = c.mutex && c.in[0] == 0 && !c.makes;
    str_addf(&st->key, "%s%s\n", f->name, c.makes ? "+" : "");
    vec_push(&st->callees, c);
    vec_push(&st->functions, index);
    const Function *fn = program_function(st->program, f->name);
    if (fn && fn->defined && *fn->file)
        map_put(&st->api_files, fn->file, st);
}

bool client_is_inside(const Client *st, const Function *fn)
{
    return map_has(&st->api_files, fn->file);
}

/* stdio,dirent is two names. */
static bool read_wanted(Client *st, Wanted *w, Err *err)
{
    bool ok = true;
    for (char **a = session_option_all(st->session, "api"); ok && a && *a; a++) {
        char *list = xstrdup(*a), *save = NULL;
        for (char *name = strtok_r(list, ",", &save); ok && name;
             name = strtok_r(NULL, ",", &save)) {
            if (is_family(st, name)) {
                map_put(&w->families, name, w);
            } else if (str_ends(name, ".h")) {
                w->headers = true;
                ok = read_header(st, name, w, err);
            } else {
                ok = err_set(err, "--api %s: neither a header nor a family of share/protocols",
                             name);
            }
        }
        free(list);
    }
    return ok;
}

bool client_api(Client *st, Err *err)
{
    Wanted w = { 0 };
    st->api = proto_api_new();
    bool ok =
        read_tables(st, err) && read_wanted(st, &w, err) && (!w.headers || read_types(st, &w, err));
    for (size_t i = 0; ok && i < st->api->functions.len; i++)
        if (is_wanted(&w, st->api->functions.items[i]))
            add_callee(st, (unsigned)i);
    if (ok && !st->callees.len)
        ok = err_set(err, "--api: the program calls none of its functions that take handles");
    map_release(&w.families);
    map_release(&w.names);
    return ok;
}
