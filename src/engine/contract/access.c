/* The value of a variable at an event: see observe_int.h. */
#include "engine/contract/observe_int.h"
#include "runtime/format/tables.h"
#include <ctype.h>
#include <string.h>

enum { MOST_ELEMENTS = 64, MOST_TEXTS = 20000 };

/* Memory that was copied. */
typedef struct Bytes {
    const uint8_t *at;
    size_t n;                 /* that are there */
    uint64_t address;
    uint64_t total;           /* to the object's end; 0: not known */
} Bytes;

static Bytes memory_at(const Event *e, uint64_t address)
{
    for (size_t i = 0; i < e->nmemory; i++) {
        const TraceMemory *m = &e->memory[i];
        if (address < m->address || address - m->address >= m->n)
            continue;
        uint64_t skip = address - m->address;
        return (Bytes){ m->bytes + skip, m->n - skip, address,
                        m->total > skip ? m->total - skip : 0 };
    }
    return (Bytes){ .address = address };
}

static bool was_written(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != SUNDEW_UNWRITTEN)
            return true;
    return n == 0;
}

static bool read_pointer(const Bytes *b, uint64_t skip, uint64_t *out)
{
    if (b->n < 8 || skip > b->n - 8 || !was_written(b->at + skip, 8))
        return false;
    memcpy(out, b->at + skip, 8);
    return true;
}

/* Where the base itself lies. */
static bool base_of(const Access *a, const Trace *t, const Event *e, const TraceValue *params,
                    unsigned nparams, Bytes *out)
{
    const TraceValue *v = NULL;

    if (a->base == BASE_PARAM && a->index < nparams)
        v = &params[a->index];
    else if (a->base == BASE_RESULT && e->kind == EVENT_RETURN && e->nvalues)
        v = &e->values[0];
    if (v) {
        *out = (Bytes){ v->bytes, v->bytes ? v->n : 0, 0, 0 };
        return v->bytes != NULL;
    }
    if (a->base != BASE_VARIABLE)
        return false;
    for (size_t i = 0; i < e->nmemory; i++) {
        const TraceObject *o = trace_object_at(t, e, e->memory[i].address);
        if (o && o->kind == OBJECT_VARIABLE && o->variable == a->variable &&
            o->address == e->memory[i].address) {
            *out = memory_at(e, o->address);
            return true;
        }
    }
    return false;
}

/* The bytes where the value lies. */
static bool place_of(const Access *a, const Trace *t, const Event *e, const TraceValue *params,
                     unsigned nparams, Bytes *out)
{
    Bytes b;

    if (!base_of(a, t, e, params, nparams, &b))
        return false;
    for (unsigned hop = 0; hop + 1 < a->nhops; hop++) {
        uint64_t p;
        if (!read_pointer(&b, a->offset[hop], &p) || !p)
            return false;
        b = memory_at(e, p);
        if (!b.at)
            return false;
    }
    uint64_t skip = a->offset[a->nhops - 1];
    if (skip >= b.n)
        return false;
    *out =
        (Bytes){ b.at + skip, b.n - skip, b.address + skip, b.total > skip ? b.total - skip : 0 };
    return true;
}

/* --- values */

static bool is_signed(const Type *t)
{
    if (t->kind == TYPE_ENUM)
        return !(t->nvalues && t->values[0].is_unsigned);
    return t->encoding == ENCODING_SIGNED || t->encoding == ENCODING_SIGNED_CHAR;
}

/* What does not fit is the largest number: comparisons stay right. */
static int64_t integer(const uint8_t *p, size_t n, bool with_sign)
{
    uint64_t x = 0;

    memcpy(&x, p, n);
    if (with_sign && n < 8 && (x >> (8 * n - 1) & 1))
        x |= ~(uint64_t)0 << 8 * n;
    return !with_sign && x > INT64_MAX ? INT64_MAX : (int64_t)x;
}

static bool read_bit_field(const Access *a, const Bytes *b, Cell *out)
{
    size_t n = (size_t)(a->bit + a->width + 7) / 8;
    uint64_t x = 0;

    if (n > 8 || n > b->n || a->width > 63 || !was_written(b->at, n))
        return false;
    memcpy(&x, b->at, n);
    x = x >> a->bit & (((uint64_t)1 << a->width) - 1);
    if (is_signed(a->type) && x >> (a->width - 1) & 1)
        x |= ~(uint64_t)0 << a->width;
    out->i = (int64_t)x;
    return true;
}

/* An object and a place in it, not an address: memory that was freed and handed out
 * again is another object. */
static int64_t pointer_number(const Trace *t, const Event *e, uint64_t p)
{
    const TraceObject *o = p ? trace_object_at(t, e, p) : NULL;

    if (!p)
        return 0;
    if (o && o->kind == OBJECT_HEAP)
        return (int64_t)((uint64_t)o->id << 32 | ((p - o->address) & 0xffffffff));
    return (int64_t)((p & 0x0fffffffffffffff) | POINTER_ELSEWHERE);
}

static bool read_number(const Type *t, const uint8_t *p, size_t n, const Trace *tr, const Event *e,
                        Cell *out)
{
    if (!t->size || t->size > 8 || n < t->size || !was_written(p, t->size))
        return false;
    if (t->kind == TYPE_POINTER) {
        uint64_t address;
        memcpy(&address, p, 8);
        out->i = pointer_number(tr, e, address);
    } else if (t->kind == TYPE_SCALAR && t->encoding == ENCODING_FLOAT) {
        float f;
        if (t->size == 4) {
            memcpy(&f, p, 4);
            out->d = f;
        } else {
            memcpy(&out->d, p, 8);
        }
        return out->d == out->d;               /* a NaN compares with nothing */
    } else {
        out->i = integer(p, t->size, is_signed(t));
    }
    return true;
}

/* --- strings */

static bool read_text(const Access *a, const Bytes *b, Samples *s, Cell *out)
{
    size_t room = a->count && a->count < b->n ? a->count : b->n;
    const uint8_t *zero = memchr(b->at, 0, room);
    char text[512];

    if (!zero || (zero == b->at ? 0 : !was_written(b->at, 1)))
        return false;
    size_t n = (size_t)(zero - b->at);
    if (a->look == LOOK_LENGTH) {
        out->i = (int64_t)n;
        return true;
    }
    if (a->look == LOOK_PRINTABLE) {
        out->i = 1;
        for (size_t i = 0; i < n; i++)
            if (!isprint(b->at[i]) && !isspace(b->at[i]))
                out->i = 0;
        return n > 0;
    }
    if (n >= sizeof text)
        return false;
    memcpy(text, b->at, n + 1);
    if (s->texts.len < MOST_TEXTS || map_has(&s->text_numbers, text))
        out->i = samples_text_number(s, text);
    else
        out->i = -(int64_t)(hash_bytes(text, n) >> 2) - 1;
    return true;
}

/* --- arrays */

/* Elements that are inside the object; 0: not known. */
static uint64_t extent(const Access *a, const Bytes *b)
{
    return a->count ? a->count : a->type->size ? b->total / a->type->size : 0;
}

static bool element(const Access *a, const Bytes *b, int64_t i, const Trace *t, const Event *e,
                    Cell *out)
{
    uint64_t size = a->type->size, n = extent(a, b);

    if (i < 0 || !size || (n && (uint64_t)i >= n) || (uint64_t)i >= b->n / size)
        return false;
    return read_number(a->type, b->at + (uint64_t)i * size, size, t, e, out);
}

typedef struct Elements {
    int64_t x[MOST_ELEMENTS];
    unsigned n;
} Elements;

/* a[0 … count-1], the first 64 of them. False: one is not known, or outside. */
static bool elements(const Access *a, const Bytes *b, int64_t count, const Trace *t, const Event *e,
                     Elements *out)
{
    uint64_t n = extent(a, b);

    out->n = 0;
    if (count < 1 || (n && (uint64_t)count > n))
        return false;
    for (int64_t i = 0; i < count && out->n < MOST_ELEMENTS; i++) {
        Cell c;
        if (!element(a, b, i, t, e, &c))
            return false;
        out->x[out->n++] = c.i;
    }
    return true;
}

static bool summary(Look look, const Elements *l, Cell *out)
{
    int64_t least = l->x[0], most = l->x[0];
    bool ascending = true, distinct = true, nonnull = l->x[0] != 0;

    for (unsigned i = 1; i < l->n; i++) {
        least = l->x[i] < least ? l->x[i] : least;
        most = l->x[i] > most ? l->x[i] : most;
        ascending &= l->x[i - 1] <= l->x[i];
        nonnull &= l->x[i] != 0;
        for (unsigned k = 0; k < i && look == LOOK_DISTINCT; k++)
            distinct &= l->x[k] != l->x[i];
    }
    out->i = look == LOOK_LEAST       ? least
             : look == LOOK_MOST      ? most
             : look == LOOK_ASCENDING ? ascending
             : look == LOOK_DISTINCT  ? distinct
                                      : nonnull;
    /* Fewer than three elements say nothing about their order. */
    return l->n > 2 || (look != LOOK_ASCENDING && look != LOOK_DISTINCT);
}

/* --- all */

bool access_read(const Access *a, const Trace *t, const Event *e, const TraceValue *params,
                 unsigned nparams, const Cell *row, const uint8_t *known, Samples *s, Cell *out)
{
    Bytes b;
    Elements l;

    if (a->base == BASE_ERRNO) {
        out->i = e->error;
        return e->kind == EVENT_RETURN;
    }
    if (!place_of(a, t, e, params, nparams, &b))
        return false;
    switch (a->look) {
    case LOOK_VALUE:
        if (a->single && b.total > a->type->size)
            return false;
        return a->width ? read_bit_field(a, &b, out) : read_number(a->type, b.at, b.n, t, e, out);
    case LOOK_LENGTH:
    case LOOK_TEXT:
    case LOOK_PRINTABLE: return read_text(a, &b, s, out);
    case LOOK_SIZE: out->i = (int64_t)extent(a, &b); return b.total > 0 && out->i > 0;
    case LOOK_ELEMENT: return known[a->with] && element(a, &b, row[a->with].i, t, e, out);
    default:
        return known[a->with] && elements(a, &b, row[a->with].i, t, e, &l) &&
               summary(a->look, &l, out);
    }
}
