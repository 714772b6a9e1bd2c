#include "engine/sequence/pool.h"
#include "program/constants.h"
#include <ctype.h>
#include <string.h>

typedef Vec(SeqValue) Values;

struct Pool {
    const Api *api;
    Arena arena;
    Constants constants;
    Map observed;                /* {function, param} -> Values * */
    Values numbers, texts, floats;     /* observed anywhere */
    Vec(int64_t) likely;         /* numbers and texts that are worth more than others */
    Vec(const char *) words;
    bool rooms;                  /* for pointers without a meaning */
};

static const int64_t boundary[] = {
    0,    1,    -1,   2,     3,  4,    5,         7,         8,          10,
    15,   16,   31,   32,    64, 100,  127,       128,       255,        256,
    1000, 1024, 4096, 65535, -2, -128, INT32_MAX, INT32_MIN, UINT32_MAX,
};

static const char *const texts[] = {
    "",
    "a",
    "b",
    "abc",
    "x",
    "0",
    "1",
    "-1",
    "42",
    "3.14",
    "1e5",
    "key",
    "value",
    "name",
    "hello world",
    "a b c",
    "a,b,c",
    "a=1",
    "true",
    "null",
    "{}",
    "[]",
    "{\"a\": 1}",
    "[1, 2, 3]",
    "<a/>",
    "<a b='c'>d</a>",
    "a: 1\n",
    "- a\n- b\n",
    "\n",
    " ",
    "\t",
    "/",
    "./file",
    "\xc3\xa9",
    "\xff\xfe",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
};

static const double reals[] = { 0, 1, -1, 0.5, 2.5, 100, 1e-9, 1e300, -1e10, 3.14159 };

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* A word, not a format or a piece of binary data. */
static bool is_plain(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f || *s == '%')
            return false;
    return true;
}

static void keep_plain(Constants *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->nstrings; i++)
        if (is_plain(c->strings[i]))
            c->strings[n++] = c->strings[i];
    c->nstrings = n;
}

Pool *pool_new(const Api *api, Err *err)
{
    Pool *p = xcalloc(1, sizeof *p);
    p->api = api;
    if (!program_constants(api->program, &p->constants, err)) {
        pool_free(p);
        return NULL;
    }
    keep_plain(&p->constants);
    return p;
}

void pool_free(Pool *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->observed.len; i++) {
        Values *v = p->observed.entries[i].value;
        vec_release(v);
        free(v);
    }
    map_release(&p->observed);
    vec_release(&p->numbers);
    vec_release(&p->texts);
    vec_release(&p->floats);
    vec_release(&p->likely);
    vec_release(&p->words);
    constants_release(&p->constants);
    arena_release(&p->arena);
    free(p);
}

void pool_give_rooms(Pool *p) { p->rooms = true; }

void pool_prefer_number(Pool *p, int64_t n)
{
    for (size_t i = 0; i < p->likely.len; i++)
        if (p->likely.items[i] == n)
            return;
    vec_push(&p->likely, n);
    char text[2] = { (char)n, 0 };
    if (n > ' ' && n < 127)                  /* a character that code looks for */
        pool_prefer_text(p, text);
}

void pool_prefer_text(Pool *p, const char *text)
{
    if (!*text || strchr(text, '%'))
        return;
    for (size_t i = 0; i < p->words.len; i++)
        if (strcmp(p->words.items[i], text) == 0)
            return;
    vec_push(&p->words, arena_strdup(&p->arena, text));
}

typedef struct Key {
    unsigned function, param;
} Key;

static bool add_once(Values *all, const SeqValue *v)
{
    for (size_t i = 0; i < all->len; i++)
        if (value_equal(&all->items[i], v))
            return false;
    if (all->len < 500)
        vec_push(all, *v);
    return true;
}

SeqValue pool_callback(const Api *api, const SeqValue *v)
{
    static const char *const libc[] = { "malloc", "calloc", "realloc", "free",
                                        "strcmp", "strdup", NULL };
    if (v->kind != VALUE_FUNCTION || !v->symbol)
        return *v;
    for (size_t i = 0; libc[i]; i++)
        if (strcmp(v->symbol, libc[i]) == 0)
            return *v;
    return api_function(api, v->symbol) ? *v : value_function(NULL);
}

void pool_add(Pool *p, const ApiFunction *f, unsigned param, const SeqValue *v)
{
    Key k = { f->index, param };
    if (value_is_made(v) || v->kind == VALUE_NONE || v->kind == VALUE_SELF)
        return;
    void **slot = map_slotn(&p->observed, &k, sizeof k);
    if (!*slot)
        *slot = xcalloc(1, sizeof(Values));
    SeqValue callback = pool_callback(p->api, v);
    SeqValue copy = value_copy(&p->arena, &callback);
    if (!add_once(*slot, &copy))
        return;
    if (v->kind == VALUE_INTEGER)
        add_once(&p->numbers, &copy);
    else if (v->kind == VALUE_STRING || v->kind == VALUE_BYTES)
        add_once(&p->texts, &copy);
    else if (v->kind == VALUE_FLOAT)
        add_once(&p->floats, &copy);
}

/* ---- one by one */

static uint64_t some_integer(const Pool *p, Rng *rng)
{
    if (p->likely.len && rng_below(rng, 3) == 0)
        return (uint64_t)p->likely.items[rng_below(rng, p->likely.len)];
    uint64_t way = rng_below(rng, 10);
    if (way < 2 && p->numbers.len)
        return p->numbers.items[rng_below(rng, p->numbers.len)].integer;
    if (way < 5 && p->constants.nintegers)
        return (uint64_t)p->constants.integers[rng_below(rng, p->constants.nintegers)];
    if (way < 8)
        return (uint64_t)boundary[rng_below(rng, 14)];
    return (uint64_t)boundary[rng_below(rng, COUNT(boundary))];
}

static uint64_t some_enum(const Type *t, Rng *rng, bool flags)
{
    uint64_t bits = 0;
    if (!t->nvalues)
        return rng_below(rng, 4);
    if (!flags)
        return (uint64_t)t->values[rng_below(rng, t->nvalues)].value;
    for (uint64_t n = rng_below(rng, 3); n > 0; n--)
        bits |= (uint64_t)t->values[rng_below(rng, t->nvalues)].value;
    return bits;
}

static SeqValue some_text(const Pool *p, Rng *rng, Arena *a)
{
    if (p->words.len && rng_below(rng, 2) == 0) {
        SeqValue word = value_string(a, p->words.items[rng_below(rng, p->words.len)]);
        return rng_below(rng, 2) ? word : pool_near(p, rng, a, &word);
    }
    uint64_t way = rng_below(rng, 10);
    if (way < 3 && p->texts.len) {
        const SeqValue *v = &p->texts.items[rng_below(rng, p->texts.len)];
        if (!memchr(v->bytes, 0, v->n)) {
            char *copy = arena_strndup(a, (const char *)v->bytes, v->n);
            return value_string(a, copy);
        }
    }
    if (way < 6 && p->constants.nstrings)
        return value_string(a, p->constants.strings[rng_below(rng, p->constants.nstrings)]);
    return value_string(a, texts[rng_below(rng, COUNT(texts))]);
}

static SeqValue some_bytes(const Pool *p, Rng *rng, Arena *a)
{
    if (rng_below(rng, 4) == 0) {
        uint8_t bytes[64];
        size_t n = rng_below(rng, sizeof bytes) + 1;
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)rng_next(rng);
        return value_bytes(a, bytes, n);
    }
    if (p->texts.len && rng_below(rng, 3) == 0)
        return value_copy(a, &p->texts.items[rng_below(rng, p->texts.len)]);
    SeqValue v = some_text(p, rng, a);
    return value_bytes(a, v.bytes, v.n);
}

size_t pool_room(const ApiPlace *p)
{
    const Type *t = p->type ? type_plain(p->type) : NULL;
    t = t && t->kind == TYPE_POINTER ? type_plain(t->target) : NULL;
    switch (p->role) {
    case ROLE_HANDLE_OUT:
    case ROLE_STRING_OUT: return sizeof(void *);
    case ROLE_STORAGE: return p->handle->size;
    case ROLE_OUT:
    case ROLE_INOUT:
    case ROLE_LENGTH_INOUT:
    case ROLE_RECORD: return t ? t->size : 0;
    default: return 0;
    }
}

static SeqValue some_struct(const ApiPlace *p, Rng *rng, Arena *a)
{
    const Type *t = type_plain(p->type);
    uint8_t bytes[64] = { 0 };
    if (t->kind == TYPE_POINTER)
        return rng_below(rng, 4) == 0 ? value_null() : value_room(pool_room(p));
    for (unsigned i = 0; i < t->nfields; i++) {
        const Type *m = type_plain(t->fields[i].type);
        uint64_t n = rng_below(rng, 5), at = t->fields[i].offset / 8;
        double x = (double)n;
        if ((m->kind == TYPE_SCALAR || m->kind == TYPE_ENUM) && at + m->size <= sizeof bytes &&
            m->size <= 8)
            memcpy(bytes + at,
                   m->encoding == ENCODING_FLOAT && m->size == 8 ? (void *)&x : (void *)&n,
                   m->encoding == ENCODING_FLOAT && m->size != 8 ? 0 : m->size);
    }
    return value_bytes(a, bytes, t->size < 64 ? t->size : 64);
}

/* By what the place wants, without what was observed there. */
static SeqValue fresh_value(const Pool *p, Rng *rng, Arena *a, const ApiPlace *place)
{
    const Type *t = place->type ? type_plain(place->type) : NULL;
    static const size_t rooms[] = { 64, 64, 256, 256, 16, 4, 1, 1024 };
    switch (place->role) {
    case ROLE_INTEGER: return value_integer(some_integer(p, rng));
    case ROLE_ENUM: return value_integer(some_enum(t, rng, false));
    case ROLE_FLAGS:
        return value_integer(t->kind == TYPE_ENUM ? some_enum(t, rng, true)
                             : rng_below(rng, 3)  ? 0
                                                  : some_integer(p, rng));
    case ROLE_FLOAT: return value_float(reals[rng_below(rng, COUNT(reals))]);
    case ROLE_STRING: return some_text(p, rng, a);
    case ROLE_BUFFER: return some_bytes(p, rng, a);
    case ROLE_BUFFER_OUT:
        if ((place->in_place || place->is_read) && rng_below(rng, 4)) {
            SeqValue text = some_text(p, rng, a);
            return pool_put_text(a, &(SeqValue){ .n = 64 }, &text);
        }
        return value_room(rooms[rng_below(rng, COUNT(rooms))]);
    case ROLE_INOUT: {
        uint64_t n = some_integer(p, rng);
        size_t size = pool_room(place);
        return size && size <= 8 ? value_bytes(a, &n, size) : value_null();
    }
    case ROLE_RECORD: return some_struct(place, rng, a);
    case ROLE_OUT:
    case ROLE_STRING_OUT:
    case ROLE_HANDLE_OUT:
    case ROLE_STORAGE: return pool_room(place) ? value_room(pool_room(place)) : value_null();
    case ROLE_CALLBACK: return rng_below(rng, 4) == 0 ? value_null() : value_function(NULL);
    case ROLE_POINTER:
        return p->rooms && t && t->kind == TYPE_POINTER ? value_room(64) : value_null();
    default: return value_null();
    }
}

/* The room that the example has for several results; NULL: it has none. */
static const SeqValue *room_for_several(const ApiPlace *place, const Values *seen)
{
    const SeqValue *most = NULL;
    for (size_t i = 0; seen && i < seen->len; i++) {
        const SeqValue *v = &seen->items[i];
        if (v->kind == VALUE_ROOM && pool_room(place) && v->n >= 2 * pool_room(place) &&
            (!most || v->n > most->n))
            most = v;
    }
    return most;
}

/* A value for an argument that is no handle and no length. */
static SeqValue some_value(const Pool *p, Rng *rng, Arena *a, const ApiFunction *f, unsigned param)
{
    Key k = { f->index, param };
    const Values *seen = map_getn(&p->observed, &k, sizeof k);
    const ApiPlace *place = &f->params[param];
    if (f->pinned && param < f->nfixed && f->pinned[param].kind != VALUE_NONE)
        return value_copy(a, &f->pinned[param]);
    if (f->shape_of && place->role == ROLE_STRING)
        return seen && seen->len ? value_copy(a, &seen->items[rng_below(rng, seen->len)])
                                 : value_null();
    bool plain = place->role != ROLE_OUT && place->role != ROLE_STRING_OUT &&
                 place->role != ROLE_HANDLE_OUT && place->role != ROLE_STORAGE;
    const SeqValue *several = room_for_several(place, seen);
    if (several)
        return value_copy(a, several);
    if (seen && seen->len && plain && rng_below(rng, 3) != 0)
        return value_copy(a, &seen->items[rng_below(rng, seen->len)]);
    return fresh_value(p, rng, a, place);
}

enum { LONGEST_TEXT = 2000 };

static void put(uint8_t *out, size_t *n, const uint8_t *from, size_t many)
{
    if (*n + many <= LONGEST_TEXT) {
        memcpy(out + *n, from, many);
        *n += many;
    }
}

/* A short piece most of the time. */
static size_t piece(Rng *rng, size_t rest)
{
    size_t most = rng_below(rng, 3) ? 8 : rest;
    return rest ? 1 + rng_below(rng, rest < most ? rest : most) : 0;
}

static const char marks[] = "0129-+.,:;'\"<>[]{}()/*#&%@!?= \n\tax";

/* A likely word, or one of the texts that everybody has, in it. */
static size_t change_by_word(const Pool *p, Rng *rng, const uint8_t *v, size_t n, uint8_t *out)
{
    const char *word = rng_below(rng, 4) ? p->words.items[rng_below(rng, p->words.len)]
                                         : texts[rng_below(rng, COUNT(texts))];
    size_t at = rng_below(rng, n + 1), cut = rng_below(rng, 2) ? piece(rng, n - at) : 0, m = 0;
    put(out, &m, v, at);
    put(out, &m, (const uint8_t *)word, strlen(word));
    put(out, &m, v + at + cut, n - at - cut);
    return m;
}

/* The bytes with one change; `out` has LONGEST_TEXT of them. */
static size_t change(const Pool *p, Rng *rng, const uint8_t *v, size_t n, uint8_t *out)
{
    if (p->words.len && rng_below(rng, 2) == 0)
        return change_by_word(p, rng, v, n, out);
    const SeqValue *other = p->texts.len ? &p->texts.items[rng_below(rng, p->texts.len)] : NULL;
    size_t at = rng_below(rng, n + 1), cut = piece(rng, n - at), m = 0;
    uint64_t way = rng_below(rng, 6);
    uint8_t byte = (uint8_t)(way == 4 ? marks[rng_below(rng, sizeof marks - 1)]
                             : n      ? v[rng_below(rng, n)]
                                      : '0');
    put(out, &m, v, at);
    if (way == 0) {                          /* without a piece */
        put(out, &m, v + at + cut, n - at - cut);
    } else if (way == 1) {                   /* a piece twice */
        put(out, &m, v + at, cut);
        put(out, &m, v + at, n - at);
    } else if (way == 2 && other && other->n) {     /* one of another text */
        size_t from = rng_below(rng, other->n), many = piece(rng, other->n - from);
        put(out, &m, other->bytes + from, many);
        put(out, &m, v + at + cut, n - at - cut);
    } else if (way == 3) {                   /* only the beginning */
        return m;
    } else {                                 /* another byte */
        put(out, &m, &byte, 1);
        put(out, &m, v + at + (cut > 0), n - at - (cut > 0));
    }
    return m;
}

SeqValue pool_near(const Pool *p, Rng *rng, Arena *a, const SeqValue *v)
{
    uint8_t text[2][LONGEST_TEXT];
    size_t n = v->n;
    if (v->kind == VALUE_INTEGER)
        return rng_below(rng, 2) ? value_integer(v->integer + rng_below(rng, 5) - 2)
                                 : value_integer(some_integer(p, rng));
    if (v->kind == VALUE_FLOAT)
        return value_float(rng_below(rng, 2) ? -v->real : reals[rng_below(rng, COUNT(reals))]);
    if ((v->kind != VALUE_STRING && v->kind != VALUE_BYTES) || n > LONGEST_TEXT)
        return *v;
    if (n)
        memcpy(text[0], v->bytes, n);
    for (uint64_t i = 0, times = 1 + rng_below(rng, 3); i < times; i++) {
        n = change(p, rng, text[0], n, text[1]);
        memcpy(text[0], text[1], n);
    }
    SeqValue near = value_bytes(a, text[0], n);
    if (v->kind == VALUE_STRING) {
        const uint8_t *zero = n ? memchr(near.bytes, 0, n) : NULL;
        near.kind = VALUE_STRING;
        near.n = zero ? (size_t)(zero - near.bytes) : n;
    }
    return near;
}

SeqValue pool_text_in(const ApiPlace *place, const SeqValue *v)
{
    SeqValue text = { .kind = VALUE_STRING, .bytes = (const uint8_t *)"" };
    if (!place->in_place || (v->kind != VALUE_BYTES && v->kind != VALUE_ROOM))
        return (SeqValue){ 0 };
    if (v->kind == VALUE_BYTES) {
        text.bytes = v->bytes;
        text.n = strnlen((const char *)v->bytes, v->n);
    }
    return text;
}

SeqValue pool_put_text(Arena *a, const SeqValue *old, const SeqValue *text)
{
    size_t n = text->n < old->n ? old->n : text->n + 1;
    uint8_t *bytes = arena_array(a, uint8_t, n + 1);
    if (text->n)
        memcpy(bytes, text->bytes, text->n);
    return value_bytes(a, bytes, n);
}

SeqValue pool_near_in(const Pool *p, Rng *rng, Arena *a, const ApiPlace *place, const SeqValue *v)
{
    SeqValue text = pool_text_in(place, v);
    if (text.kind == VALUE_NONE)
        return pool_near(p, rng, a, v);
    text = pool_near(p, rng, a, &text);
    return pool_put_text(a, v, &text);
}

/* The number that belongs to a buffer. */
static SeqValue length_of(Rng *rng, Arena *a, const ApiPlace *place, const SeqValue *buffer)
{
    uint64_t n = buffer->n;
    if (buffer->kind == VALUE_NULL)
        n = 0;
    else if (n && rng_below(rng, 8) == 0)
        n = rng_below(rng, n + 1);
    if (place->role == ROLE_LENGTH)
        return value_integer(n);
    return value_bytes(a, &n, pool_room(place) <= 8 ? pool_room(place) : 8);
}

/* Where a text ends that stands in the call; now and then before that. */
static SeqValue end_of(Rng *rng, unsigned place, const SeqValue *text)
{
    if (text->kind != VALUE_STRING && text->kind != VALUE_BYTES)
        return value_null();
    return value_within(place, rng_below(rng, 4) ? text->n : rng_below(rng, text->n + 1));
}

void pool_fit_within(SeqStep *st, unsigned place, size_t before)
{
    for (unsigned i = 0; i < st->nargs; i++) {
        SeqValue *v = &st->args[i];
        if (v->kind == VALUE_WITHIN && v->param == place)
            v->integer = v->integer == before || v->integer > st->args[place].n ? st->args[place].n
                                                                                : v->integer;
    }
}

void pool_fill(const Pool *p, Rng *rng, Arena *a, SeqStep *st)
{
    for (unsigned i = 0; i < st->nargs; i++) {
        ApiRole role = st->f->params[i].role;
        if (st->args[i].kind == VALUE_NONE && role != ROLE_HANDLE && role != ROLE_LENGTH &&
            role != ROLE_LENGTH_INOUT && st->f->params[i].within < 0)
            st->args[i] = some_value(p, rng, a, st->f, i);
    }
    for (unsigned i = 0; i < st->nargs; i++) {
        int base = st->f->params[i].within;
        if (st->args[i].kind == VALUE_NONE && base >= 0)
            st->args[i] = end_of(rng, (unsigned)base, &st->args[base]);
    }
    for (unsigned i = 0; i < st->nargs; i++) {
        const ApiPlace *place = &st->f->params[i];
        if (st->args[i].kind == VALUE_NONE && place->partner >= 0 && place->role != ROLE_HANDLE)
            st->args[i] = length_of(rng, a, place, &st->args[place->partner]);
    }
}

/* A mark in the middle of the text that the example has. */
static SeqValue marked(Arena *a, const SeqValue *text, char mark)
{
    size_t half = text->n / 2;
    uint8_t *bytes = arena_array(a, uint8_t, text->n + 2);
    if (text->n) {
        memcpy(bytes, text->bytes, half);
        memcpy(bytes + half + 1, text->bytes + half, text->n - half);
    }
    bytes[half] = (uint8_t)mark;
    SeqValue v = value_bytes(a, bytes, text->n + 1);
    v.kind = VALUE_STRING;
    return v;
}

/* The numbers that are no letter and no digit stand for characters in texts. */
static bool text_constant(const Pool *p, const SeqValue *text, size_t i, Arena *a, SeqValue *out)
{
    if (i < p->constants.nstrings) {
        *out = value_string(a, p->constants.strings[i]);
        return true;
    }
    i -= p->constants.nstrings;
    for (size_t k = 0; k < p->constants.nintegers; k++) {
        int64_t c = p->constants.integers[k];
        if (c >= ' ' && c < 127 && !isalnum((int)c) && i-- == 0) {
            *out = marked(a, text, (char)c);
            return true;
        }
    }
    return false;
}

bool pool_constant(const Pool *p, const ApiPlace *place, const SeqValue *old, size_t i, Arena *a,
                   SeqValue *out)
{
    SeqValue text = pool_text_in(place, old);
    if (text.kind != VALUE_NONE) {
        bool ok = text_constant(p, &text, i, a, out);
        if (ok)
            *out = pool_put_text(a, old, out);
        return ok;
    }
    if (place->role == ROLE_STRING)
        return text_constant(p, old, i, a, out);
    if (place->role != ROLE_INTEGER && place->role != ROLE_ENUM && place->role != ROLE_FLAGS)
        return false;
    if (i < p->constants.nintegers)
        *out = value_integer((uint64_t)p->constants.integers[i]);
    return i < p->constants.nintegers;
}
