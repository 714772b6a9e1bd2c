/*
 * tables - the tables of a program as a file.
 *
 *     "SUNDEWP2"                        8 bytes
 *     checksum of all that follows      8 bytes
 *     checksum of the module's bitcode  8 bytes
 *     length of the texts               8 bytes
 *     texts, each ending in NUL         offset 0 is ""
 *     numbers                           as LEB128, in the order of write_all()
 *
 * A text is written as its offset. A type or a function is written as its index
 * + 1; 0 means none. The same version of Sundew writes and reads the file, on the
 * same machine: the version is part of its name (program.c). The checksum tells
 * a damaged file; the reader still checks every number.
 */
#include "base/file.h"
#include "program/program_int.h"
#include <assert.h>

static const char magic[8] = "SUNDEWP2";
enum { HEADER = 32 };

uint64_t tables_checksum(const void *data, size_t n)
{
    const unsigned char *p = data;
    uint64_t h = n * 0x9e3779b97f4a7c15ull;
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t w;
        memcpy(&w, p, 8);
        h = (h ^ w) * 0xff51afd7ed558ccdull;
        h ^= h >> 29;
    }
    return h ^ hash_bytes(p, n);
}

/* ---- writing */

typedef struct Writer {
    const Program *p;
    Str texts, numbers;
    Map known;                /* text -> offset + 1 */
} Writer;

static void put(Writer *w, uint64_t v)
{
    while (v >= 0x80) {
        str_addc(&w->numbers, (char)(v | 0x80));
        v >>= 7;
    }
    str_addc(&w->numbers, (char)v);
}

static void put_text(Writer *w, const char *s)
{
    void **slot = map_slot(&w->known, s);
    if (!*slot) {
        *slot = (void *)(w->texts.len + 1);
        str_addn(&w->texts, s, strlen(s) + 1);
    }
    put(w, (size_t)*slot - 1);
}

static void put_type(Writer *w, const Type *t)
{
    assert(!t || (t->index < w->p->types.n && w->p->types.all[t->index] == t));
    put(w, t ? t->index + 1u : 0);
}

static void put_function(Writer *w, const Function *f)
{
    assert(f->index < w->p->nfunctions && &w->p->functions[f->index] == f);
    put(w, f->index);
}

static void write_type(Writer *w, const Type *t)
{
    put(w, t->kind);
    put_text(w, t->name);
    put_text(w, t->file);
    put(w, t->line);
    put(w, t->size);
    put(w, t->align);
    put(w, t->incomplete | t->flexible << 1 | t->variable << 2 | t->variadic << 3 |
               t->prototyped << 4 | t->local << 5);
    put(w, t->encoding);
    put(w, t->qualifier);
    put_type(w, t->target);
    put_type(w, t->alias);
    put(w, t->count);
    put(w, t->nfields);
    for (unsigned i = 0; i < t->nfields; i++) {
        const Field *f = &t->fields[i];
        put_text(w, f->name);
        put_type(w, f->type);
        put(w, f->offset);
        put(w, f->width);
        put(w, f->bit_field);
        put(w, f->line);
    }
    put(w, t->nvalues);
    for (unsigned i = 0; i < t->nvalues; i++) {
        put_text(w, t->values[i].name);
        put(w, (uint64_t)t->values[i].value);
        put(w, t->values[i].is_unsigned);
    }
    put(w, t->nparams);
    for (unsigned i = 0; i < t->nparams; i++)
        put_type(w, t->params[i]);
}

static void write_function(Writer *w, const Function *f)
{
    put_text(w, f->name);
    put_text(w, f->symbol);
    put_text(w, f->file);
    put(w, f->line);
    put(w, f->column);
    put(w, f->linkage);
    put(w, f->defined | f->prototyped << 1 | f->variadic << 2 | f->noreturn << 3 |
               f->address_taken << 4 | f->returns_in_memory << 5 | f->intrinsic << 6);
    put_type(w, f->type);
    put_type(w, f->returns);
    put_text(w, f->signature);
    put(w, f->ncalls);
    put(w, f->nparams);
    for (unsigned i = 0; i < f->nparams; i++) {
        put_text(w, f->params[i].name);
        put_type(w, f->params[i].type);
        put(w, f->params[i].passing);
        put(w, f->params[i].first_arg);
        put(w, f->params[i].nargs);
    }
    put(w, f->ncallers);
    for (unsigned i = 0; i < f->ncallers; i++)
        put_function(w, f->callers[i]);
    put(w, f->ncallees);
    for (unsigned i = 0; i < f->ncallees; i++)
        put_function(w, f->callees[i]);
}

static void write_variable(Writer *w, const Variable *v)
{
    put_text(w, v->name);
    put_text(w, v->symbol);
    put_text(w, v->file);
    put(w, v->line);
    put(w, v->linkage);
    put(w, v->defined | v->constant << 1 | v->thread_local_ << 2);
    put_type(w, v->type);
    put(w, v->size);
}

static void write_all(Writer *w, const Program *p)
{
    put_text(w, "");
    put(w, p->nnotes);
    for (size_t i = 0; i < p->nnotes; i++) {
        put_text(w, p->notes[i].unit);
        put_text(w, p->notes[i].text);
        put(w, p->notes[i].left_out);
    }
    put(w, p->types.n);
    for (size_t i = 0; i < p->types.n; i++)
        write_type(w, p->types.all[i]);
    put(w, p->nfunctions);
    for (size_t i = 0; i < p->nfunctions; i++)
        write_function(w, &p->functions[i]);
    put(w, p->nvariables);
    for (size_t i = 0; i < p->nvariables; i++)
        write_variable(w, &p->variables[i]);
}

bool tables_write(const Program *p, const char *path, uint64_t bitcode_sum, Err *err)
{
    Writer w = { .p = p };
    write_all(&w, p);
    Str out = { 0 };
    uint64_t sum = 0, texts = w.texts.len;
    str_addn(&out, magic, sizeof magic);
    str_addn(&out, (const char *)&sum, 8);
    str_addn(&out, (const char *)&bitcode_sum, 8);
    str_addn(&out, (const char *)&texts, 8);
    str_addn(&out, w.texts.data, w.texts.len);
    str_addn(&out, w.numbers.data, w.numbers.len);
    sum = tables_checksum(out.data + 16, out.len - 16);
    memcpy(out.data + 8, &sum, 8);
    bool ok = file_write(path, out.data, out.len, err);
    str_release(&out);
    str_release(&w.texts);
    str_release(&w.numbers);
    map_release(&w.known);
    return ok;
}

/* ---- reading */

typedef struct Reader {
    const unsigned char *at, *end;
    const char *texts;
    size_t ntexts;
    Program *p;
    bool bad;
} Reader;

static uint64_t get(Reader *r)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (r->at == r->end)
            break;
        unsigned char c = *r->at++;
        if (shift < 64)
            v |= (uint64_t)(c & 0x7f) << shift;
        if (!(c & 0x80))
            return v;
    }
    r->bad = true;
    return 0;
}

/* A count of things that take at least one byte each. */
static size_t get_count(Reader *r)
{
    uint64_t n = get(r);
    if (n <= (uint64_t)(r->end - r->at))
        return (size_t)n;
    r->bad = true;
    return 0;
}

static unsigned get_below(Reader *r, unsigned limit)
{
    uint64_t v = get(r);
    if (v < limit)
        return (unsigned)v;
    r->bad = true;
    return 0;
}

static const char *get_text(Reader *r)
{
    uint64_t at = get(r);
    if (at < r->ntexts)
        return r->texts + at;
    r->bad = true;
    return "";
}

static const Type *get_type(Reader *r)
{
    uint64_t i = get(r);
    if (i == 0)
        return NULL;
    if (i <= r->p->types.n)
        return r->p->types.all[i - 1];
    r->bad = true;
    return NULL;
}

static void read_type(Reader *r, Type *t)
{
    Arena *a = &r->p->arena;
    t->kind = (TypeKind)get_below(r, TYPE_UNKNOWN + 1);
    t->name = get_text(r);
    t->file = get_text(r);
    t->line = (unsigned)get(r);
    t->size = get(r);
    t->align = (unsigned)get(r);
    uint64_t flags = get(r);
    t->incomplete = flags & 1;
    t->flexible = flags & 2;
    t->variable = flags & 4;
    t->variadic = flags & 8;
    t->prototyped = flags & 16;
    t->local = flags & 32;
    t->encoding = (Encoding)get_below(r, ENCODING_OTHER + 1);
    t->qualifier = (Qualifier)get_below(r, QUALIFIER_ATOMIC + 1);
    t->target = get_type(r);
    t->alias = get_type(r);
    t->count = get(r);
    t->nfields = (unsigned)get_count(r);
    t->fields = arena_array(a, Field, t->nfields);
    for (unsigned i = 0; i < t->nfields && !r->bad; i++) {
        Field *f = &t->fields[i];
        f->name = get_text(r);
        f->type = get_type(r);
        f->offset = get(r);
        f->width = get(r);
        f->bit_field = get(r);
        f->line = (unsigned)get(r);
    }
    t->nvalues = (unsigned)get_count(r);
    t->values = arena_array(a, Enumerator, t->nvalues);
    for (unsigned i = 0; i < t->nvalues && !r->bad; i++) {
        t->values[i].name = get_text(r);
        t->values[i].value = (int64_t)get(r);
        t->values[i].is_unsigned = get(r);
    }
    t->nparams = (unsigned)get_count(r);
    t->params = arena_array(a, const Type *, t->nparams);
    for (unsigned i = 0; i < t->nparams && !r->bad; i++)
        t->params[i] = get_type(r);
}

static const Function **get_functions(Reader *r, unsigned *n)
{
    *n = (unsigned)get_count(r);
    const Function **list = arena_array(&r->p->arena, const Function *, *n);
    for (unsigned i = 0; i < *n && !r->bad; i++)
        list[i] = &r->p->functions[get_below(r, (unsigned)r->p->nfunctions)];
    return list;
}

static void read_function(Reader *r, Function *f)
{
    f->name = get_text(r);
    f->symbol = get_text(r);
    f->file = get_text(r);
    f->line = (unsigned)get(r);
    f->column = (unsigned)get(r);
    f->linkage = (Linkage)get_below(r, LINKAGE_OTHER + 1);
    uint64_t flags = get(r);
    f->defined = flags & 1;
    f->prototyped = flags & 2;
    f->variadic = flags & 4;
    f->noreturn = flags & 8;
    f->address_taken = flags & 16;
    f->returns_in_memory = flags & 32;
    f->intrinsic = flags & 64;
    f->type = get_type(r);
    f->returns = get_type(r);
    f->signature = get_text(r);
    f->ncalls = (unsigned)get(r);
    f->nparams = (unsigned)get_count(r);
    f->params = arena_array(&r->p->arena, Param, f->nparams);
    for (unsigned i = 0; i < f->nparams && !r->bad; i++) {
        Param *q = &f->params[i];
        q->name = get_text(r);
        q->type = get_type(r);
        q->passing = (Passing)get_below(r, PASSED_UNKNOWN + 1);
        q->first_arg = (unsigned)get(r);
        q->nargs = (unsigned)get(r);
    }
    f->callers = get_functions(r, &f->ncallers);
    f->callees = get_functions(r, &f->ncallees);
}

static void read_variable(Reader *r, Variable *v)
{
    v->name = get_text(r);
    v->symbol = get_text(r);
    v->file = get_text(r);
    v->line = (unsigned)get(r);
    v->linkage = (Linkage)get_below(r, LINKAGE_OTHER + 1);
    uint64_t flags = get(r);
    v->defined = flags & 1;
    v->constant = flags & 2;
    v->thread_local_ = flags & 4;
    v->type = get_type(r);
    v->size = get(r);
}

static void read_all(Reader *r)
{
    Program *p = r->p;
    get_text(r);
    p->nnotes = get_count(r);
    p->notes = arena_array(&p->arena, ProgramNote, p->nnotes);
    for (size_t i = 0; i < p->nnotes; i++) {
        p->notes[i].unit = get_text(r);
        p->notes[i].text = get_text(r);
        p->notes[i].left_out = get(r);
    }
    p->types.n = get_count(r);
    p->types.all = arena_array(&p->arena, Type *, p->types.n);
    Type *types = arena_array(&p->arena, Type, p->types.n);
    for (size_t i = 0; i < p->types.n; i++) {
        p->types.all[i] = &types[i];
        types[i].index = (unsigned)i;
    }
    for (size_t i = 0; i < p->types.n && !r->bad; i++)
        read_type(r, &types[i]);
    p->nfunctions = get_count(r);
    p->functions = arena_array(&p->arena, Function, p->nfunctions);
    for (size_t i = 0; i < p->nfunctions && !r->bad; i++) {
        p->functions[i].index = (unsigned)i;
        read_function(r, &p->functions[i]);
    }
    p->nvariables = get_count(r);
    p->variables = arena_array(&p->arena, Variable, p->nvariables);
    for (size_t i = 0; i < p->nvariables && !r->bad; i++)
        read_variable(r, &p->variables[i]);
}

bool tables_read(Program *p, const char *path, uint64_t bitcode_sum, Err *err)
{
    assert(!p->tables.len && !p->types.n && !p->nfunctions);   /* an empty one */
    if (!file_read(path, &p->tables, err))
        return false;
    const char *data = p->tables.data;
    size_t n = p->tables.len;
    uint64_t sum, of, texts;
    if (n < HEADER || memcmp(data, magic, sizeof magic) != 0)
        return err_set(err, "%s: not a program model", path);
    memcpy(&sum, data + 8, 8);
    memcpy(&of, data + 16, 8);
    memcpy(&texts, data + 24, 8);
    if (tables_checksum(data + 16, n - 16) != sum || texts == 0 || texts > n - HEADER ||
        data[HEADER + texts - 1] != 0)
        return err_set(err, "%s: damaged", path);
    if (of != bitcode_sum)
        return err_set(err, "%s: not of this bitcode", path);
    Reader r = { .p = p, .texts = data + HEADER, .ntexts = texts };
    r.at = (const unsigned char *)data + HEADER + texts;
    r.end = (const unsigned char *)data + n;
    read_all(&r);
    return !r.bad || err_set(err, "%s: damaged", path);
}
