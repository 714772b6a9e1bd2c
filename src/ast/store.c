/*
 * The tables of an AST index, as memory and as bytes.
 *
 * The bytes of a unit:
 *
 *     "SDAST" version
 *     inputs     path size mtime id …
 *     error      text
 *     texts      length bytes …            numbered from 1; 0 is NULL
 *     files, types, functions, calls       each a count, then its rows
 *
 * All numbers are varints (7 bits a byte, low ones first, signed ones
 * zigzag); texts, files, types and functions are referred to by number + 1.
 * One function per struct both writes and reads its row, so that the two
 * can't drift apart. What is read is checked: a damaged file makes `bad`.
 */
#include "ast/ast_int.h"
#include <string.h>

#define MAGIC   "SDAST"
#define VERSION 3

void ast_store_release(AstStore *st)
{
    map_release(&st->texts);
    map_release(&st->file_map);
    map_release(&st->type_map);
    map_release(&st->function_map);
    map_release(&st->call_map);
    vec_release(&st->files);
    vec_release(&st->types);
    vec_release(&st->functions);
    vec_release(&st->calls);
    vec_release(&st->inputs);
    arena_release(&st->arena);
}

const char *ast_textn(AstStore *st, const char *s, size_t n)
{
    void **slot = map_slotn(&st->texts, s, n);
    if (!*slot)
        *slot = arena_strndup(&st->arena, s, n);
    return *slot;
}

const char *ast_text(AstStore *st, const char *s) { return s ? ast_textn(st, s, strlen(s)) : NULL; }

AstFile *ast_file(AstStore *st, const char *path)
{
    void **slot = map_slot(&st->file_map, path);
    if (!*slot) {
        AstFile *f = *slot = arena_new(&st->arena, AstFile);
        f->path = ast_text(st, path);
        vec_push(&st->files, f);
    }
    return *slot;
}

const AstType *ast_type(AstStore *st, const AstType *t)
{
    const void *key[] = { t->spelling, t->canonical, t->decl, t->first, (void *)(intptr_t)t->size };
    void **slot = map_slotn(&st->type_map, key, sizeof key);
    if (!*slot) {
        AstType *copy = *slot = arena_new(&st->arena, AstType);
        *copy = *t;
        vec_push(&st->types, copy);
    }
    return *slot;
}

AstFunction *ast_function(AstStore *st, const char *key)
{
    void **slot = map_slot(&st->function_map, key);
    if (!*slot) {
        AstFunction *f = *slot = arena_new(&st->arena, AstFunction);
        f->key = ast_text(st, key);
        vec_push(&st->functions, f);
    }
    return *slot;
}

void ast_add_name(AstStore *st, AstParam *p, const char *name, bool in_front)
{
    if (!name || !*name)
        return;
    for (size_t i = 0; i < p->nnames; i++)
        if (p->names[i] == name) {
            if (in_front) {
                memmove(p->names + 1, p->names, i * sizeof *p->names);
                p->names[0] = name;
            }
            return;
        }
    const char **names = arena_array(&st->arena, const char *, p->nnames + 1);
    if (p->nnames)
        memcpy(names + in_front, p->names, p->nnames * sizeof *names);
    names[in_front ? 0 : p->nnames] = name;
    p->names = names;
    p->nnames++;
}

void ast_add_type(AstStore *st, const AstType ***list, size_t *n, const AstType *t)
{
    for (size_t i = 0; i < *n; i++)
        if ((*list)[i] == t)
            return;
    const AstType **more = arena_array(&st->arena, const AstType *, *n + 1);
    if (*n)
        memcpy(more, *list, *n * sizeof *more);
    more[(*n)++] = t;
    *list = more;
}

bool ast_add_call(AstStore *st, const AstCall *c)
{
    const void *key[] = { c->place.file, (void *)(uintptr_t)c->place.offset, c->spelling.file,
                          (void *)(uintptr_t)c->spelling.offset, c->callee };
    void **slot = map_slotn(&st->call_map, key, sizeof key);
    if (*slot)
        return false;
    AstCall *copy = *slot = arena_new(&st->arena, AstCall);
    *copy = *c;
    copy->args = arena_array(&st->arena, AstArg, c->nargs);
    for (size_t i = 0; i < c->nargs; i++) {
        AstArg *arg = &copy->args[i];
        *arg = c->args[i];
        arg->sources = NULL;
        arg->nsources = 0;
        for (size_t k = 0; k < c->args[i].nsources; k++)
            ast_add_type(st, &arg->sources, &arg->nsources, c->args[i].sources[k]);
    }
    vec_push(&st->calls, copy);
    return true;
}

/* ---- bytes */

typedef struct Codec {
    AstStore *st;
    bool reading, bad;
    Str *out;                       /* writing */
    Map numbers;                    /* text, file …: pointer -> number + 1 */
    const unsigned char *at, *end;  /* reading */
    Arena scratch;                  /* what is read and then copied */
    const char **texts;
    size_t ntexts;
    const AstFile **files;
    size_t nfiles;
    const AstType **types;
    size_t ntypes;
    AstFunction **functions;
    size_t nfunctions;
} Codec;

static void put(Codec *c, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        str_addc(c->out, (char)(v | 0x80));
    str_addc(c->out, (char)v);
}

static uint64_t get(Codec *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (c->at == c->end)
            break;
        unsigned char byte = *c->at++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
    }
    c->bad = true;
    return 0;
}

static uint64_t number(Codec *c, uint64_t v)
{
    if (c->reading)
        return get(c);
    put(c, v);
    return v;
}

static int64_t integer(Codec *c, int64_t v)
{
    uint64_t z = number(c, ((uint64_t)v << 1) ^ (uint64_t)(v >> 63));
    return (int64_t)(z >> 1) ^ -(int64_t)(z & 1);
}

/* A count of things that take at least one byte each. */
static size_t count(Codec *c, size_t n)
{
    uint64_t v = number(c, n);
    if (c->reading && v > (uint64_t)(c->end - c->at)) {
        c->bad = true;
        return 0;
    }
    return v;
}

static void enumeration(Codec *c, void *value, unsigned most)
{
    unsigned *v = value;
    uint64_t got = number(c, *v);
    if (got > most) {
        c->bad = true;
        got = 0;
    }
    *v = (unsigned)got;
}

static void flag(Codec *c, bool *b) { *b = number(c, *b) != 0; }

static void give_number(Codec *c, const void *p, size_t i)
{
    map_putn(&c->numbers, &p, sizeof p, (void *)(uintptr_t)(i + 1));
}

/* A reference by number + 1: 0 is NULL. */
static const void *reference(Codec *c, const void *p, void *table, size_t n)
{
    if (!c->reading) {
        put(c, p ? (uintptr_t)map_getn(&c->numbers, &p, sizeof p) : 0);
        return p;
    }
    uint64_t i = get(c);
    if (i > n) {
        c->bad = true;
        return NULL;
    }
    return i ? ((void **)table)[i - 1] : NULL;
}

static void text(Codec *c, const char **s) { *s = reference(c, *s, c->texts, c->ntexts); }

static void type_ref(Codec *c, const AstType **t) { *t = reference(c, *t, c->types, c->ntypes); }

static void function_ref(Codec *c, const AstFunction **f)
{
    *f = reference(c, *f, c->functions, c->nfunctions);
}

static void type_list(Codec *c, const AstType ***list, size_t *n)
{
    *n = count(c, *n);
    if (c->reading)
        *list = arena_array(&c->scratch, const AstType *, *n);
    for (size_t i = 0; i < *n; i++) {
        type_ref(c, &(*list)[i]);
        if (!(*list)[i])
            c->bad = true;
    }
}

static void place(Codec *c, AstPlace *p)
{
    p->file = reference(c, p->file, c->files, c->nfiles);
    p->line = (unsigned)number(c, p->line);
    p->column = (unsigned)number(c, p->column);
    p->offset = (unsigned)number(c, p->offset);
}

static void file_row(Codec *c, AstFile *f)
{
    text(c, &f->path);
    enumeration(c, &f->home, AST_BUILTIN);
    flag(c, &f->generated);
    f->lines = (unsigned)number(c, f->lines);
    c->bad |= !f->path;
}

static void type_row(Codec *c, AstType *t)
{
    text(c, &t->spelling);
    text(c, &t->canonical);
    text(c, &t->plain);
    text(c, &t->decl);
    enumeration(c, &t->kind, AST_OTHER_TYPE);
    flag(c, &t->is_signed);
    flag(c, &t->is_const);
    t->size = integer(c, t->size);
    type_ref(c, &t->pointee);
    type_ref(c, &t->first);
    enumeration(c, &t->home, AST_BUILTIN);
    c->bad |= !t->spelling || !t->canonical || !t->plain;
}

static void param_row(Codec *c, AstParam *p)
{
    p->nnames = count(c, p->nnames);
    if (c->reading)
        p->names = arena_array(&c->scratch, const char *, p->nnames);
    for (size_t i = 0; i < p->nnames; i++) {
        text(c, &p->names[i]);
        c->bad |= !p->names[i];
    }
    type_ref(c, &p->type);
    type_list(c, &p->becomes, &p->nbecomes);
    c->bad |= !p->type;
}

static void function_row(Codec *c, AstFunction *f)
{
    text(c, &f->key);
    text(c, &f->usr);
    text(c, &f->name);
    text(c, &f->record);
    text(c, &f->type);
    enumeration(c, &f->kind, AST_VARIABLE);
    enumeration(c, &f->home, AST_BUILTIN);
    flag(c, &f->defined);
    flag(c, &f->variadic);
    flag(c, &f->prototyped);
    flag(c, &f->internal);
    place(c, &f->place);
    type_ref(c, &f->result);
    f->nparams = count(c, f->nparams);
    if (c->reading)
        f->params = arena_array(&c->scratch, AstParam, f->nparams);
    for (size_t i = 0; i < f->nparams && !c->bad; i++)
        param_row(c, &f->params[i]);
    c->bad |= !f->key || !f->usr || !f->name || !f->type;
}

static void arg_row(Codec *c, AstArg *a)
{
    enumeration(c, &a->form, AST_OTHER);
    text(c, &a->name);
    text(c, &a->owner);
    text(c, &a->macro);
    text(c, &a->comment);
    text(c, &a->text);
    text(c, &a->decl);
    flag(c, &a->lent);
    flag(c, &a->cast);
    flag(c, &a->address);
    flag(c, &a->deref);
    flag(c, &a->is_string);
    flag(c, &a->has_value);
    a->value = integer(c, a->value);
    enumeration(c, &a->integer, AST_INT_LITERAL);
    flag(c, &a->local);
    a->parameter = (int)integer(c, a->parameter);
    type_ref(c, &a->passed);
    type_ref(c, &a->type);
    type_ref(c, &a->inner);
    type_list(c, &a->sources, &a->nsources);
    text(c, &a->enum_decl);
    text(c, &a->enum_name);
    type_ref(c, &a->sizeof_type);
    text(c, &a->sizeof_text);
    text(c, &a->called);
    place(c, &a->range.begin);
    place(c, &a->range.end);
    flag(c, &a->in_macro);
    c->bad |= !a->passed || !a->type || !a->inner;
}

static void call_row(Codec *c, AstCall *call)
{
    function_ref(c, &call->callee);
    function_ref(c, &call->caller);
    place(c, &call->place);
    place(c, &call->spelling);
    flag(c, &call->in_macro);
    call->end_offset = (unsigned)number(c, call->end_offset);
    call->nargs = count(c, call->nargs);
    if (c->reading)
        call->args = arena_array(&c->scratch, AstArg, call->nargs);
    for (size_t i = 0; i < call->nargs && !c->bad; i++)
        arg_row(c, &call->args[i]);
    c->bad |= !call->callee || !call->caller || !call->place.file || !call->spelling.file;
}

static void head(Codec *c)
{
    if (!c->reading) {
        str_add(c->out, MAGIC);
    } else if (c->end - c->at < (long)strlen(MAGIC) || memcmp(c->at, MAGIC, strlen(MAGIC)) != 0) {
        c->bad = true;
        return;
    } else {
        c->at += strlen(MAGIC);
    }
    if (number(c, VERSION) != VERSION)
        c->bad = true;
}

/* Texts that stand before the table of texts. */
static void inline_text(Codec *c, const char **s)
{
    size_t n = count(c, *s ? strlen(*s) + 1 : 0);
    if (!c->reading) {
        if (n)
            str_addn(c->out, *s, n - 1);
        return;
    }
    *s = NULL;
    if (n && !c->bad) {
        *s = ast_textn(c->st, (const char *)c->at, n - 1);
        c->at += n - 1;
    }
}

static void inputs(Codec *c)
{
    size_t n = count(c, c->st->inputs.len);
    for (size_t i = 0; i < n && !c->bad; i++) {
        AstInput *in = c->reading ? vec_grow(&c->st->inputs) : &c->st->inputs.items[i];
        const char *id = in->id;
        inline_text(c, &in->path);
        in->size = integer(c, in->size);
        in->mtime = integer(c, in->mtime);
        inline_text(c, &id);
        c->bad |= !in->path || !id || strlen(id) >= sizeof in->id;
        if (c->reading && !c->bad)
            strcpy(in->id, id);
    }
    inline_text(c, &c->st->error);
}

static void write_texts(Codec *c)
{
    Map *m = &c->st->texts;
    put(c, m->len);
    for (size_t i = 0; i < m->len; i++) {
        put(c, m->entries[i].key_len);
        str_addn(c->out, m->entries[i].key, m->entries[i].key_len);
        give_number(c, m->entries[i].value, i);
    }
}

void ast_write(AstStore *st, Str *out)
{
    Codec c = { .st = st, .out = out };
    head(&c);
    inputs(&c);
    write_texts(&c);
    put(&c, st->files.len);
    for (size_t i = 0; i < st->files.len; i++) {
        file_row(&c, st->files.items[i]);
        give_number(&c, st->files.items[i], i);
    }
    put(&c, st->types.len);
    for (size_t i = 0; i < st->types.len; i++) {
        type_row(&c, st->types.items[i]);
        give_number(&c, st->types.items[i], i);
    }
    put(&c, st->functions.len);
    for (size_t i = 0; i < st->functions.len; i++) {
        function_row(&c, st->functions.items[i]);
        give_number(&c, st->functions.items[i], i);
    }
    put(&c, st->calls.len);
    for (size_t i = 0; i < st->calls.len; i++)
        call_row(&c, st->calls.items[i]);
    map_release(&c.numbers);
}

/* ---- merging */

static void read_texts(Codec *c)
{
    size_t n = count(c, 0);
    c->texts = arena_array(&c->scratch, const char *, n);
    for (; c->ntexts < n && !c->bad; c->ntexts++) {
        size_t len = count(c, 0);
        if (c->bad)
            break;
        c->texts[c->ntexts] = ast_textn(c->st, (const char *)c->at, len);
        c->at += len;
    }
}

static void read_files(Codec *c)
{
    size_t n = count(c, 0);
    c->files = arena_array(&c->scratch, const AstFile *, n);
    for (; c->nfiles < n && !c->bad; c->nfiles++) {
        AstFile row = { 0 };
        file_row(c, &row);
        if (c->bad)
            break;
        AstFile *f = ast_file(c->st, row.path);
        if (!f->lines)
            *f = row;
        c->files[c->nfiles] = f;
    }
}

static void read_types(Codec *c)
{
    size_t n = count(c, 0);
    c->types = arena_array(&c->scratch, const AstType *, n);
    for (; c->ntypes < n && !c->bad; c->ntypes++) {
        AstType row = { 0 };
        type_row(c, &row);
        if (!c->bad)
            c->types[c->ntypes] = ast_type(c->st, &row);
    }
}

static void merge_param(AstStore *st, AstParam *into, const AstParam *p, bool defined)
{
    for (size_t i = 0; i < p->nnames; i++)
        ast_add_name(st, into, p->names[i], defined && i == 0);
    for (size_t i = 0; i < p->nbecomes; i++)
        ast_add_type(st, &into->becomes, &into->nbecomes, p->becomes[i]);
    if (!into->type || defined)
        into->type = p->type;
}

/* What a unit says about a function joins what others said. The key holds the
 * canonical type, so the number of parameters is the same. */
static AstFunction *merge_function(AstStore *st, const AstFunction *f)
{
    AstFunction *into = ast_function(st, f->key);
    bool fresh = !into->usr, defines = f->defined && !into->defined;
    if (!fresh && into->nparams != f->nparams)
        return into;
    if (fresh || defines) {
        AstParam *params = into->params;
        *into = *f;
        into->params = fresh ? arena_array(&st->arena, AstParam, f->nparams) : params;
    }
    for (size_t i = 0; i < f->nparams; i++)
        merge_param(st, &into->params[i], &f->params[i], defines);
    return into;
}

static void read_functions(Codec *c)
{
    size_t n = count(c, 0);
    c->functions = arena_array(&c->scratch, AstFunction *, n);
    for (; c->nfunctions < n && !c->bad; c->nfunctions++) {
        AstFunction row = { 0 };
        function_row(c, &row);
        if (!c->bad)
            c->functions[c->nfunctions] = merge_function(c->st, &row);
    }
}

static void read_calls(Codec *c)
{
    size_t n = count(c, 0);
    for (size_t i = 0; i < n && !c->bad; i++) {
        AstCall row = { 0 };
        call_row(c, &row);
        if (!c->bad)
            ast_add_call(c->st, &row);
    }
}

bool ast_read_inputs(AstStore *st, const char *data, size_t n)
{
    Codec c = { .st = st,
                .reading = true,
                .at = (const unsigned char *)data,
                .end = (const unsigned char *)data + n };
    head(&c);
    if (!c.bad)
        inputs(&c);
    return !c.bad;
}

bool ast_merge(AstStore *st, const char *data, size_t n)
{
    Codec c = { .st = st,
                .reading = true,
                .at = (const unsigned char *)data,
                .end = (const unsigned char *)data + n };
    st->inputs.len = 0;
    head(&c);
    if (!c.bad)
        inputs(&c);
    if (!c.bad)
        read_texts(&c);
    if (!c.bad)
        read_files(&c);
    if (!c.bad)
        read_types(&c);
    if (!c.bad)
        read_functions(&c);
    if (!c.bad)
        read_calls(&c);
    arena_release(&c.scratch);
    return !c.bad && c.at == c.end;
}
