/*
 * Values as a C programmer would write them: 'a', 3, RED, "text", {x = 1, y =
 * 2}, object 4 + 8 -> {…}. Bytes that were not recorded are "?".
 */
#include "base/escape.h"
#include "engine/record/trace.h"
#include "runtime/format/tracefile.h"
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { MOST_TEXT = 48, MOST_ELEMENTS = 8, MOST_FIELDS = 12, MOST_DEPTH = 3 };

typedef struct Printer {
    const Event *e;
    Str *out;
} Printer;

static void print_bytes(Printer *p, const Type *t, const uint8_t *bytes, size_t n, unsigned depth);

static bool is_char(const Type *t)
{
    t = type_plain(t);
    return t->kind == TYPE_SCALAR && t->size == 1 &&
           (t->encoding == ENCODING_SIGNED_CHAR || t->encoding == ENCODING_UNSIGNED_CHAR);
}

/* `width` bits, `shift` bits into the bytes. */
static uint64_t bits_of(const uint8_t *bytes, size_t n, uint64_t shift, uint64_t width)
{
    uint64_t x = 0;

    for (uint64_t i = 0; i < width && i < 64; i++) {
        uint64_t bit = shift + i;
        if (bit / 8 < n && bytes[bit / 8] >> (bit % 8) & 1)
            x |= 1ull << i;
    }
    return x;
}

static int64_t as_signed(uint64_t x, uint64_t width)
{
    if (width < 64 && width > 0 && x >> (width - 1) & 1)
        x |= ~0ull << width;
    return (int64_t)x;
}

static void print_text(Printer *p, const uint8_t *bytes, size_t n, size_t end)
{
    size_t len = strnlen((const char *)bytes, n < MOST_TEXT ? n : MOST_TEXT);

    str_addc(p->out, '"');
    escape_c_string(p->out, (const char *)bytes, len);
    str_addc(p->out, '"');
    if (len == MOST_TEXT || (len == n && len < end))
        str_add(p->out, "…");
}

static void print_float(Printer *p, const uint8_t *bytes, size_t size)
{
    float f;
    double d;
    long double l = 0;

    if (size == sizeof f) {
        memcpy(&f, bytes, sizeof f);
        str_addf(p->out, "%.9g", (double)f);
    } else if (size == sizeof d) {
        memcpy(&d, bytes, sizeof d);
        str_addf(p->out, "%.17g", d);
    } else {
        memcpy(&l, bytes, size < sizeof l ? size : sizeof l);
        str_addf(p->out, "%.21Lg", l);
    }
}

static void print_enum(Printer *p, const Type *t, int64_t x)
{
    for (unsigned i = 0; i < t->nvalues; i++) {
        if (t->values[i].value == x) {
            escape_terminal_z(p->out, t->values[i].name);
            return;
        }
    }
    str_addf(p->out, "%" PRId64, x);
}

/* An integer, boolean, character or enum of `width` bits. */
static void print_integer(Printer *p, const Type *t, uint64_t x, uint64_t width)
{
    if (t->kind == TYPE_ENUM) {
        print_enum(p, t, as_signed(x, width));
    } else if (t->encoding == ENCODING_BOOL) {
        str_add(p->out, x ? "true" : "false");
    } else if (is_char(t) && x < 128 && isprint((int)x)) {
        str_addc(p->out, '\'');
        escape_c_string(p->out, &(char){ (char)x }, 1);
        str_addc(p->out, '\'');
    } else if (t->encoding == ENCODING_SIGNED || t->encoding == ENCODING_SIGNED_CHAR) {
        str_addf(p->out, "%" PRId64, as_signed(x, width));
    } else {
        str_addf(p->out, "%" PRIu64, x);
    }
}

static void print_pointer(Printer *p, const Type *target, uint64_t address, unsigned depth)
{
    size_t n = 0;

    if (address == 0) {
        str_add(p->out, "NULL");
        return;
    }
    const uint8_t *bytes = event_bytes(p->e, address, &n);
    const Type *plain = type_plain(target);
    if (!bytes || plain->kind == TYPE_FUNCTION || plain->kind == TYPE_VOID) {
        str_addf(p->out, "0x%" PRIx64, address);
    } else if (is_char(target)) {
        print_text(p, bytes, n, n + 1);
    } else {
        str_add(p->out, "&");
        print_bytes(p, target, bytes, n, depth + 1);
    }
}

static void print_record(Printer *p, const Type *t, const uint8_t *bytes, size_t n, unsigned depth)
{
    str_addc(p->out, '{');
    for (unsigned i = 0; i < t->nfields; i++) {
        const Field *f = &t->fields[i];
        if (i)
            str_add(p->out, ", ");
        if (i == MOST_FIELDS) {
            str_add(p->out, "…");
            break;
        }
        if (*f->name) {
            escape_terminal_z(p->out, f->name);
            str_add(p->out, " = ");
        }
        if ((f->offset + f->width + 7) / 8 > n)
            str_addc(p->out, '?');
        else if (f->bit_field)
            print_integer(p, type_plain(f->type), bits_of(bytes, n, f->offset, f->width), f->width);
        else
            print_bytes(p, f->type, bytes + f->offset / 8, n - f->offset / 8, depth + 1);
    }
    str_addc(p->out, '}');
}

static void print_array(Printer *p, const Type *t, const uint8_t *bytes, size_t n, unsigned depth)
{
    const Type *element = t->target;
    uint64_t size = type_plain(element)->size;

    if (is_char(element)) {
        print_text(p, bytes, t->count < n ? t->count : n, t->count);
        return;
    }
    str_addc(p->out, '{');
    for (uint64_t i = 0; i < t->count && size && (i + 1) * size <= n; i++) {
        if (i)
            str_add(p->out, ", ");
        if (i == MOST_ELEMENTS) {
            str_add(p->out, "…");
            break;
        }
        print_bytes(p, element, bytes + i * size, size, depth + 1);
    }
    str_addc(p->out, '}');
}

static void print_bytes(Printer *p, const Type *type, const uint8_t *bytes, size_t n,
                        unsigned depth)
{
    const Type *t = type_plain(type);

    if (depth > MOST_DEPTH || n < t->size || (!t->size && t->kind != TYPE_ARRAY)) {
        str_add(p->out, depth > MOST_DEPTH ? "…" : "?");
        return;
    }
    switch (t->kind) {
    case TYPE_SCALAR:
        if (t->encoding == ENCODING_FLOAT)
            print_float(p, bytes, t->size);
        else if (t->encoding == ENCODING_COMPLEX || t->size > 8)
            str_addf(p->out, "(%" PRIu64 " bytes)", t->size);
        else
            print_integer(p, t, bits_of(bytes, n, 0, 8 * t->size), 8 * t->size);
        break;
    case TYPE_ENUM: print_integer(p, t, bits_of(bytes, n, 0, 8 * t->size), 8 * t->size); break;
    case TYPE_POINTER: print_pointer(p, t->target, bits_of(bytes, n, 0, 64), depth); break;
    case TYPE_STRUCT:
    case TYPE_UNION: print_record(p, t, bytes, n, depth); break;
    case TYPE_ARRAY:
    case TYPE_VECTOR: print_array(p, t, bytes, n, depth); break;
    default: str_addf(p->out, "(%" PRIu64 " bytes)", t->size); break;
    }
}

static void print_object(Str *out, const TraceObject *o)
{
    if (o->kind == OBJECT_VARIABLE) {
        str_addc(out, '&');
        escape_terminal_z(out, o->variable->name);
    } else {
        str_addf(out, "object %" PRIu32, o->id);
    }
}

void event_print_value(const Event *e, const TraceValue *v, Str *out)
{
    Printer p = { e, out };
    size_t n;

    if (!v->bytes) {
        str_addc(out, '?');
        return;
    }
    if (!v->type) {
        str_addf(out, "0x%" PRIx64, bits_of(v->bytes, v->n, 0, 8 * v->n));
        return;
    }
    const Type *t = type_plain(v->type);
    if (v->target) {
        escape_terminal_z(out, v->target->name);
        return;
    }
    if (t->kind != TYPE_POINTER || !v->object) {
        print_bytes(&p, v->type, v->bytes, v->n, 0);
        return;
    }
    print_object(out, v->object);
    if (v->offset)
        str_addf(out, "+%" PRId64, v->offset);
    if (event_bytes(e, v->address, &n)) {
        str_addc(out, ' ');
        print_pointer(&p, t->target, v->address, 0);
    }
}

static void print_name(Str *out, const Function *fn)
{
    escape_terminal_z(out, fn ? fn->name : "?");
}

void event_print_rest(const Event *e, const TraceRest *r, Str *out)
{
    Printer p = { e, out };
    size_t n = 0;
    const uint8_t *text = r->kind == SUNDEW_REST_TEXT ? event_bytes(e, r->bits, &n) : NULL;

    if (r->kind == SUNDEW_REST_INT)
        str_addf(out, "%" PRId32, (int32_t)r->bits);
    else if (r->kind == SUNDEW_REST_LONG)
        str_addf(out, "%" PRId64, (int64_t)r->bits);
    else if (r->kind == SUNDEW_REST_DOUBLE)
        print_float(&p, (const uint8_t *)&r->bits, sizeof(double));
    else if (!r->bits)
        str_add(out, "NULL");
    else if (text)
        print_text(&p, text, n, n);
    else if (r->object)
        print_object(out, r->object);
    else
        str_addf(out, "0x%" PRIx64, r->bits);
}

static void print_call(const Event *e, Str *out)
{
    print_name(out, e->fn);
    str_addc(out, '(');
    for (size_t i = 0; i < e->nvalues; i++) {
        if (i)
            str_add(out, ", ");
        if (*e->values[i].name) {
            escape_terminal_z(out, e->values[i].name);
            str_add(out, " = ");
        }
        event_print_value(e, &e->values[i], out);
    }
    for (size_t i = 0; i < e->nrest; i++) {
        str_add(out, i || e->nvalues ? ", " : "");
        event_print_rest(e, &e->rest[i], out);
    }
    str_addc(out, ')');
    if (e->cut)
        str_add(out, " [not all copied]");
}

static void print_end(const Event *e, Str *out)
{
    static const char *const words[] = {
        [SUNDEW_END_EXIT] = "exit status",
        [SUNDEW_END_SIGNAL] = "signal",
        [SUNDEW_END_THREAD] = "thread",
        [SUNDEW_END_EXEC] = "exec",
        [SUNDEW_END_FULL] = "recording stopped: budget or disk used up",
    };
    const char *word = e->how < sizeof words / sizeof *words ? words[e->how] : NULL;

    str_add(out, word ? word : "?");
    if (e->how == SUNDEW_END_EXIT || e->how == SUNDEW_END_SIGNAL)
        str_addf(out, " %" PRId64, e->value);
}

void event_print(const Event *e, Str *out)
{
    str_addf(out, "#%" PRIu64 " P%u T%u %*s%-7s", e->number, e->process, e->thread,
             (int)(2 * (e->depth < 40 ? e->depth : 40)), "", event_kind_name(e->kind));
    switch (e->kind) {
    case EVENT_CALL:
        str_addc(out, ' ');
        print_call(e, out);
        break;
    case EVENT_RETURN:
        str_addc(out, ' ');
        print_name(out, e->fn);
        if (e->nvalues) {
            str_add(out, " = ");
            event_print_value(e, e->values, out);
        }
        str_addf(out, "  [call #%" PRIu64 "]", e->call);
        break;
    case EVENT_ALLOC:
    case EVENT_FREE:
        if (!e->object)
            break;
        str_addc(out, ' ');
        print_object(out, e->object);
        if (e->kind == EVENT_ALLOC)
            str_addf(out, ": %" PRIu64 " bytes", e->object->size);
        break;
    case EVENT_END:
        str_addc(out, ' ');
        print_end(e, out);
        break;
    }
}
