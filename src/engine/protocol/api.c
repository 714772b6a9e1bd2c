/* The functions of an API and their handles: tables of share/protocols/, and what names
 * say where no table does. */
#include "base/file.h"
#include "engine/protocol/protocol.h"
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

ProtoApi *proto_api_new(void) { return xcalloc(1, sizeof(ProtoApi)); }

void proto_api_free(ProtoApi *api)
{
    if (!api)
        return;
    vec_release(&api->functions);
    vec_release(&api->types);
    map_release(&api->by_name);
    map_release(&api->by_type);
    arena_release(&api->arena);
    free(api);
}

ProtoFunction *proto_api_function(const ProtoApi *api, const char *name)
{
    size_t n = (size_t)(uintptr_t)map_get(&api->by_name, name);
    return n ? api->functions.items[n - 1] : NULL;
}

unsigned proto_api_index(const ProtoApi *api, const ProtoFunction *f)
{
    return (unsigned)((uintptr_t)map_get(&api->by_name, f->name) - 1);
}

ProtoFunction *proto_api_add(ProtoApi *api, const char *name)
{
    ProtoFunction *f = proto_api_function(api, name);
    if (f)
        return f;
    f = arena_new(&api->arena, ProtoFunction);
    f->name = arena_strdup(&api->arena, name);
    vec_push(&api->functions, f);
    map_put(&api->by_name, name, (void *)(uintptr_t)api->functions.len);
    return f;
}

unsigned proto_api_type(ProtoApi *api, const char *name)
{
    size_t n = (size_t)(uintptr_t)map_get(&api->by_type, name);
    if (n)
        return (unsigned)n - 1;
    ProtoType t = { .name = arena_strdup(&api->arena, name) };
    t.canonical = t.name;
    vec_push(&api->types, t);
    map_put(&api->by_type, name, (void *)(uintptr_t)api->types.len);
    return (unsigned)api->types.len - 1;
}

void proto_api_place(ProtoApi *api, ProtoFunction *f, ProtoPlace p)
{
    assert(p.type < api->types.len && p.param >= PROTO_HIDDEN);
    if (f->nplaces < PROTO_MOST_PLACES)
        f->places[f->nplaces++] = p;
    if (p.param == PROTO_RETURNED)
        f->pointer = !api->types.items[p.type].integer;
}

const char *proto_fault(const ProtoApi *api, const ProtoFunction *f)
{
    const char *use = NULL;
    for (unsigned i = 0; i < f->nplaces; i++) {
        const ProtoPlace *p = &f->places[i];
        const char *kind = api->types.items[p->type].fault;
        if (kind && p->use == PROTO_CREATES)
            return "open";
        if (kind && p->use == PROTO_USES && !use && strcmp(kind, "open"))
            use = kind;
        if (p->use == PROTO_DESTROYS)
            return NULL;
    }
    return use;
}

/* ------------------------------------------------------------------ names */

/* Does a name have the word, at its end or where another word begins? One with ^ must begin
 * a word, too: the end of "send" is none. */
static bool has_word(const char *name, const char *word)
{
    bool whole = *word == '^';
    size_t n = strlen(word += whole);
    for (const char *at = name; *at; at++) {
        bool begins = at == name || at[-1] == '_' || isupper((unsigned char)*at);
        if (!strncasecmp(at, word, n) && (begins || !whole) &&
            (!at[n] || at[n] == '_' || isupper((unsigned char)at[n]) ||
             isdigit((unsigned char)at[n])))
            return true;
    }
    return false;
}

static bool has_any(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (has_word(name, *words))
            return true;
    return false;
}

bool proto_name_creates(const char *name)
{
    static const char *const words[] = { "open",     "^new",   "create",  "^init",
                                         "alloc",    "^make",  "prepare", "^begin",
                                         "^regcomp", "^setup", "compile", NULL };
    return has_any(name, words);
}

bool proto_name_destroys(const char *name)
{
    static const char *const words[] = { "close",    "free",    "destroy", "^delete", "finalize",
                                         "finalise", "release", "cleanup", "^end",    "dispose",
                                         "^fini",    "^term",   NULL };
    return has_any(name, words);
}

/* ----------------------------------------------------------------- tables */

static const struct {
    const char *name;
    int value;
} errnos[] = {
    { "EBADF", EBADF },
    { "EINVAL", EINVAL },
    { "EPERM", EPERM },
    { "EDEADLK", EDEADLK },
    { "EBUSY", EBUSY },
    { "ESRCH", ESRCH },
    { "EFAULT", EFAULT },
    { "EISCONN", EISCONN },
    { "EALREADY", EALREADY },
    { "ENOTCONN", ENOTCONN },
    { "EDESTADDRREQ", EDESTADDRREQ },
};

/* A table while it is read: where errors are told. */
typedef struct Table {
    ProtoApi *api;
    const char *path, *family;
    unsigned line;
    Err *err;
} Table;

static bool wrong(const Table *t, const char *what, const char *word)
{
    return err_set(t->err, "%s:%u: %s: '%.60s'", t->path, t->line, what, word);
}

static bool read_code(Table *t, ProtoFunction *f, const char *word, bool is_errno)
{
    ProtoCode c = { .name = arena_strdup(&t->api->arena, word), .is_errno = is_errno };
    char *end, *equal = strchr(c.name, '=');
    bool found = false;
    if (equal) {
        c.value = (int)strtol(equal + 1, &end, 10);
        found = end != equal + 1 && !*end;
        *equal = 0;
    }
    for (size_t i = 0; !found && i < sizeof errnos / sizeof *errnos; i++)
        if ((found = !strcmp(errnos[i].name, word)))
            c.value = errnos[i].value;
    if (!found)
        return wrong(t, "no code (NAME=NUMBER, or the name of an errno)", word);
    if (f->nmisuse == PROTO_MOST_CODES)
        return wrong(t, "one code too many", word);
    f->misuse[f->nmisuse++] = c;
    return true;
}

/* 0:FILE-   *3:sqlite3_stmt+   ret:FILE+   hidden:strtok */
static bool read_place(Table *t, ProtoFunction *f, const char *word)
{
    const char *colon = strchr(word, ':');
    ProtoPlace p = { .out = *word == '*' };
    char *type = xstrdup(colon + 1), *end = NULL;
    long number = 0;
    size_t n = strlen(type);
    if (n && strchr("+=-", type[n - 1])) {
        p.use = type[n - 1] == '+'   ? PROTO_CREATES
                : type[n - 1] == '=' ? PROTO_INITIALISES
                                     : PROTO_DESTROYS;
        type[n - 1] = 0;
    }
    if (str_starts(word, "ret:"))
        p.param = PROTO_RETURNED;
    else if (str_starts(word, "hidden:"))
        p.param = PROTO_HIDDEN;
    else
        number = strtol(word + p.out, &end, 10);
    if (!p.param)
        p.param = number >= 0 && number < 16 ? (int)number : 0;
    bool ok = *type && (p.param < 0 || (end == colon && end != word + p.out && p.param == number));
    if (ok) {
        p.type = proto_api_type(t->api, type);
        proto_api_place(t->api, f, p);
    }
    free(type);
    return ok || wrong(t, "no place (0:TYPE, *1:TYPE+, ret:TYPE+, hidden:NAME)", word);
}

static bool read_function(Table *t, const char *name, char *rest)
{
    enum { PLACES, BY_ERRNO, BY_RESULT, VALUES } mode = PLACES;
    ProtoFunction *f = proto_api_add(t->api, name);
    char *save = NULL;
    *f = (ProtoFunction){ .name = f->name, .known = true, .family = t->family };
    for (char *w = strtok_r(rest, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
        bool ok = true;
        if (!strcmp(w, "pointer"))
            f->pointer = true;
        else if (!strcmp(w, "void"))
            f->no_result = true;
        else if (!strcmp(w, "ubiquitous"))
            f->ubiquitous = true;
        else if (!strcmp(w, "errno"))
            mode = BY_ERRNO;
        else if (!strcmp(w, "misuse"))
            mode = BY_RESULT;
        else if (!strcmp(w, "values"))
            mode = VALUES;
        else if (mode == PLACES)
            ok = strchr(w, ':') ? read_place(t, f, w) : wrong(t, "unknown word", w);
        else if (mode != VALUES)
            ok = read_code(t, f, w, mode == BY_ERRNO);
        else if (f->nvalues < PROTO_MOST_CODES)
            f->values[f->nvalues++] = strtoll(w, NULL, 10);
        if (!ok)
            return false;
    }
    return true;
}

static bool read_fault(Table *t, ProtoType *type, const char *word)
{
    static const char *const kinds[] = { "open", "stream", "folder", "descriptor" };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(word, kinds[i])) {
            type->fault = kinds[i];
            return true;
        }
    return wrong(t, "no kind of fault (open, stream, folder, descriptor)", word);
}

/* type FILE integer|caller-owned|fault=KIND struct _IO_FILE */
static bool read_type(Table *t, char *rest)
{
    char *save = NULL, *name = strtok_r(rest, " \t", &save);
    if (!name)
        return wrong(t, "a type without a name", "type");
    unsigned n = proto_api_type(t->api, name);
    for (bool more = true; more;) {
        char *at = save + strspn(save, " \t");
        more = false;
        if (str_starts(at, "integer")) {
            t->api->types.items[n].integer = more = true;
            save = at + strlen("integer");
        } else if (str_starts(at, "caller-owned")) {
            t->api->types.items[n].caller_owned = more = true;
            save = at + strlen("caller-owned");
        } else if (str_starts(at, "fault=")) {
            char *kind = at + strlen("fault=");
            save = kind + strcspn(kind, " \t");
            more = *save != 0;
            if (more)
                *save++ = 0;
            if (!read_fault(t, &t->api->types.items[n], kind))
                return false;
        } else if (*at) {
            t->api->types.items[n].canonical = arena_strdup(&t->api->arena, at);
            map_put(&t->api->by_type, at, (void *)(uintptr_t)(n + 1));
        }
    }
    return true;
}

static bool read_line(Table *t, char *line)
{
    char *rest = line + strspn(line, " \t");
    rest[strcspn(rest, "#\r")] = 0;
    size_t n = strlen(rest);
    while (n && (rest[n - 1] == ' ' || rest[n - 1] == '\t'))
        rest[--n] = 0;
    if (!n)
        return true;
    char *word = rest;
    rest += strcspn(rest, " \t");
    if (*rest)
        *rest++ = 0;
    if (!strcmp(word, "type"))
        return read_type(t, rest);
    if (!strcmp(word, "family")) {
        t->family = arena_strdup(&t->api->arena, rest);
        return true;
    }
    for (const char *c = word; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return wrong(t, "no name of a function", word);
    return read_function(t, word, rest);
}

bool proto_api_read(ProtoApi *api, const char *path, Err *err)
{
    Table t = { .api = api, .path = path, .err = err };
    Str text = { 0 };
    bool ok = file_read(path, &text, err);
    char *save = NULL, *at = ok ? text.data : NULL;
    if (ok && text.len && memchr(text.data, 0, text.len))
        ok = err_set(err, "%s: no text", path);
    for (; ok && at && *at; at = save) {
        size_t n = strcspn(at, "\n");
        save = at[n] ? at + n + 1 : at + n;
        at[n] = 0;
        t.line++;
        ok = read_line(&t, at);
    }
    str_release(&text);
    return ok;
}
