#include "engine/api/value.h"
#include "base/escape.h"
#include <inttypes.h>
#include <string.h>

SeqValue value_integer(uint64_t bits)
{
    return (SeqValue){ .kind = VALUE_INTEGER, .integer = bits };
}

SeqValue value_float(double x) { return (SeqValue){ .kind = VALUE_FLOAT, .real = x }; }

SeqValue value_null(void) { return (SeqValue){ .kind = VALUE_NULL }; }

SeqValue value_string(Arena *a, const char *text)
{
    size_t n = strlen(text);
    return (
        SeqValue){ .kind = VALUE_STRING, .bytes = (uint8_t *)arena_strndup(a, text, n), .n = n };
}

SeqValue value_bytes(Arena *a, const void *bytes, size_t n)
{
    uint8_t *copy = arena_array(a, uint8_t, n ? n : 1);
    if (n)
        memcpy(copy, bytes, n);
    return (SeqValue){ .kind = VALUE_BYTES, .bytes = copy, .n = n };
}

SeqValue value_room(size_t n) { return (SeqValue){ .kind = VALUE_ROOM, .n = n }; }

SeqValue value_result(unsigned step) { return (SeqValue){ .kind = VALUE_RESULT, .step = step }; }

SeqValue value_stored(unsigned step, unsigned param)
{
    return (SeqValue){ .kind = VALUE_STORED, .step = step, .param = param };
}

SeqValue value_storage(unsigned step, unsigned param)
{
    return (SeqValue){ .kind = VALUE_STORAGE, .step = step, .param = param };
}

SeqValue value_function(const char *symbol)
{
    return (SeqValue){ .kind = VALUE_FUNCTION, .symbol = symbol };
}

SeqValue value_within(unsigned param, uint64_t offset)
{
    return (SeqValue){ .kind = VALUE_WITHIN, .param = param, .integer = offset };
}

bool value_is_made(const SeqValue *v)
{
    return v->kind == VALUE_RESULT || v->kind == VALUE_STORED || v->kind == VALUE_STORAGE;
}

static bool same_symbol(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_links(const SeqValue *a, const SeqValue *b)
{
    if (a->nlinks != b->nlinks)
        return false;
    for (size_t i = 0; i < a->nlinks; i++)
        if (a->links[i].offset != b->links[i].offset ||
            !value_equal(&a->links[i].value, &b->links[i].value))
            return false;
    return true;
}

bool value_equal(const SeqValue *a, const SeqValue *b)
{
    if (a->kind != b->kind || a->given != b->given)
        return false;
    switch (a->kind) {
    case VALUE_INTEGER: return a->integer == b->integer;
    case VALUE_FLOAT: return memcmp(&a->real, &b->real, sizeof a->real) == 0;
    case VALUE_STRING:
    case VALUE_BYTES:
        return a->n == b->n && (!a->n || memcmp(a->bytes, b->bytes, a->n) == 0) && same_links(a, b);
    case VALUE_ROOM: return a->n == b->n;
    case VALUE_RESULT: return a->step == b->step;
    case VALUE_STORED:
    case VALUE_STORAGE: return a->step == b->step && a->param == b->param;
    case VALUE_FUNCTION: return same_symbol(a->symbol, b->symbol);
    case VALUE_WITHIN: return a->param == b->param && a->integer == b->integer;
    case VALUE_NONE:
    case VALUE_NULL:
    case VALUE_SELF: return true;
    }
    return false;
}

SeqValue value_copy(Arena *a, const SeqValue *v)
{
    SeqValue c = *v;
    if (v->kind == VALUE_STRING)
        c.bytes = (uint8_t *)arena_strndup(a, (const char *)v->bytes, v->n);
    else if (v->kind == VALUE_BYTES)
        c.bytes = value_bytes(a, v->bytes, v->n).bytes;
    else if (v->kind == VALUE_FUNCTION && v->symbol)
        c.symbol = arena_strdup(a, v->symbol);
    SeqLink *links = v->nlinks ? arena_array(a, SeqLink, v->nlinks) : NULL;
    for (size_t i = 0; i < v->nlinks; i++)
        links[i] = (SeqLink){ v->links[i].offset, value_copy(a, &v->links[i].value) };
    c.links = links;
    return c;
}

void value_print(const SeqValue *v, Str *out)
{
    switch (v->kind) {
    case VALUE_INTEGER: str_addf(out, "%" PRId64, (int64_t)v->integer); break;
    case VALUE_FLOAT: str_addf(out, "%.17g", v->real); break;
    case VALUE_NULL: str_add(out, "NULL"); break;
    case VALUE_STRING:
        str_addc(out, '"');
        escape_c_string(out, (const char *)v->bytes, v->n);
        str_addc(out, '"');
        break;
    case VALUE_BYTES:
        str_addc(out, '{');
        for (size_t i = 0; i < v->n && i < 32; i++)
            str_addf(out, i ? " %02x" : "%02x", v->bytes[i]);
        str_add(out, v->n > 32 ? " …" : "");
        for (size_t i = 0; i < v->nlinks; i++) {
            str_addf(out, "; %u: ", v->links[i].offset);
            value_print(&v->links[i].value, out);
        }
        str_addc(out, '}');
        break;
    case VALUE_ROOM: str_addf(out, "%zu bytes of room", v->n); break;
    case VALUE_RESULT: str_addf(out, "r%u", v->step); break;
    case VALUE_STORED: str_addf(out, "r%u.%u", v->step, v->param); break;
    case VALUE_STORAGE: str_addf(out, "&r%u.%u", v->step, v->param); break;
    case VALUE_FUNCTION: str_add(out, v->symbol ? v->symbol : "stub"); break;
    case VALUE_SELF: str_add(out, "self"); break;
    case VALUE_WITHIN: str_addf(out, "argument %u + %" PRIu64, v->param, v->integer); break;
    case VALUE_NONE: str_add(out, "?"); break;
    }
    if (v->given)
        str_add(out, " given");
}
