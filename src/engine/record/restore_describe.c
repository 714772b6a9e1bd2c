/* Arguments for people: what was passed, some pointers deep, on one line each. */
#include "base/escape.h"
#include "engine/record/restore_int.h"
#include <string.h>

enum { DEEP = 4, LONG = 500, MANY = 16 };

static void describe(Restore *r, const Type *t, const uint8_t *bytes, size_t n, unsigned depth,
                     Str *out);

static bool is_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i])
            return false;
    return true;
}

static void describe_text(const Item *it, uint64_t offset, Str *out)
{
    const char *text = (const char *)it->bytes + offset;
    size_t n = strnlen(text, it->size - offset);
    str_addc(out, '"');
    escape_c_string(out, text, n < 60 ? n : 60);
    str_add(out, n < 60 ? "\"" : "\"...");
}

static bool is_wide(const Type *t)
{
    while (t && t != type_plain(t) && !(t->kind == TYPE_TYPEDEF && strcmp(t->name, "wchar_t") == 0))
        t = t->target;
    return t && t->kind == TYPE_TYPEDEF;
}

static void describe_wide_text(const Item *it, uint64_t offset, Str *out)
{
    int32_t c = 1;
    unsigned n = 0;
    str_add(out, "L\"");
    for (; n < 60 && c && offset + sizeof c <= it->size; n++, offset += sizeof c) {
        memcpy(&c, it->bytes + offset, sizeof c);
        char byte = (char)c;
        if (c > 0 && c < 128)
            escape_c_string(out, &byte, 1);
        else if (c)
            str_addf(out, "\\x%x", (unsigned)c);
    }
    str_add(out, n < 60 ? "\"" : "\"...");
}

/* A list would tell all its nodes. */
static bool is_inside(const Restore *r, const Type *t)
{
    for (unsigned i = 0; i < r->ninside; i++)
        if (r->inside[i] == t)
            return true;
    return false;
}

/* The source's name of a function. */
static void describe_code(const char *name, Str *out)
{
    static const char prefix[] = "program_";
    str_add(out, str_starts(name, prefix) ? name + sizeof prefix - 1 : name);
}

/* Several pointers behind one, as of argv: those up to the null at their end. */
static uint64_t count_pointers(const Item *it, uint64_t offset, const Type *target)
{
    uint64_t n = 0, word;
    if (target->kind != TYPE_POINTER || target->size != sizeof word)
        return 0;
    for (; offset + (n + 1) * sizeof word <= it->size; n++) {
        memcpy(&word, it->bytes + offset + n * sizeof word, sizeof word);
        if (!word)
            break;
    }
    return n;
}

static void describe_pointers(Restore *r, const Type *target, const uint8_t *bytes, uint64_t n,
                              unsigned depth, Str *out)
{
    for (uint64_t i = 0; i < n && i < MANY && out->len < LONG; i++) {
        str_add(out, i ? ", " : "{ ");
        describe(r, target, bytes + i * target->size, target->size, depth, out);
    }
    str_add(out, n > MANY ? ", ... }" : " }");
}

static void describe_pointer(Restore *r, const Type *p, uint64_t value, unsigned depth, Str *out)
{
    const CrashObject *o = value ? crash_object_at(r->crash, value) : NULL;
    Item *it = o ? map_getn(&r->by_object, &o, sizeof o) : NULL;
    const Type *target = type_plain(p->target);
    uint64_t offset = it ? value - o->address : 0;
    if (!target->size && target->kind != TYPE_FUNCTION && it && it->type && !offset)
        target = type_plain(it->type);          /* a void pointer to something known */
    if (!value)
        str_add(out, "NULL");
    else if (!it && target->kind == TYPE_FUNCTION && r->world->code(r->world->arg, value))
        describe_code(r->world->code(r->world->arg, value), out);
    else if (!it)
        str_addf(out, "0x%llx", (unsigned long long)value);
    else if (it->freed)
        str_add(out, "(freed)");
    else if (restore_is_char(target) && offset <= it->size)
        describe_text(it, offset, out);
    else if (is_wide(p->target) && offset <= it->size)
        describe_wide_text(it, offset, out);
    else if (depth < DEEP && count_pointers(it, offset, target) > 1)
        describe_pointers(r, target, it->bytes + offset, count_pointers(it, offset, target),
                          depth + 1, out);
    else if (target->size && offset + target->size <= it->size && depth < DEEP &&
             target->kind != TYPE_FUNCTION && !is_inside(r, target)) {
        str_addc(out, '&');
        describe(r, target, it->bytes + offset, target->size, depth + 1, out);
    } else if (!target->size && it->size > offset) {
        str_addf(out, "(%llu bytes)", (unsigned long long)(it->size - offset));
    } else {
        str_add(out, "...");
    }
}

static void describe_struct(Restore *r, const Type *p, const uint8_t *bytes, unsigned depth,
                            Str *out)
{
    const char *between = " ";
    bool noted = r->ninside < sizeof r->inside / sizeof *r->inside;
    if (noted)
        r->inside[r->ninside++] = p;
    str_addc(out, '{');
    for (unsigned i = 0; i < p->nfields && out->len < LONG; i++) {
        const Field *f = &p->fields[i];
        uint64_t size = type_plain(f->type)->size, at = f->offset / 8;
        if (f->bit_field || !size || at + size > p->size || is_zero(bytes + at, size) ||
            restore_is_jump_buffer(f->type))
            continue;
        str_addf(out, "%s%s%s%s", between, *f->name ? "." : "", f->name, *f->name ? " = " : "");
        Item here = { .bytes = (uint8_t *)bytes, .size = p->size };
        Ref before;
        if (restore_ref_before(r, &here, p, 0, f, &before))
            str_add(out, "(before the first)");
        else
            describe(r, f->type, bytes + at, size, depth, out);
        between = ", ";
    }
    str_add(out, out->len < LONG ? " }" : ", ... }");
    r->ninside -= noted;
}

static void describe_array(Restore *r, const Type *p, const uint8_t *bytes, unsigned depth,
                           Str *out)
{
    uint64_t size = type_plain(p->target)->size, last = 0;
    if (restore_is_char(p->target)) {
        size_t n = strnlen((const char *)bytes, p->size);
        str_addc(out, '"');
        escape_c_string(out, (const char *)bytes, n < 60 ? n : 60);
        str_addc(out, '"');
        return;
    }
    for (uint64_t i = 0; size && i < p->count; i++)
        if (!is_zero(bytes + i * size, size))
            last = i + 1;
    str_addc(out, '{');
    for (uint64_t i = 0; i < last && i < MANY && out->len < LONG; i++) {
        str_add(out, i ? ", " : " ");
        describe(r, p->target, bytes + i * size, size, depth, out);
    }
    str_add(out, last > MANY ? ", ... }" : " }");
}

/* By the member that it most likely is: a pointer, if it holds one, else the first number that
 * covers what is not zero. */
static void describe_union(Restore *r, const Type *p, const uint8_t *bytes, size_t n,
                           unsigned depth, Str *out)
{
    uint64_t word = 0;
    memcpy(&word, bytes, n < 8 ? n : 8);
    bool pointer = n >= 8 && restore_is_pointer(r, word);
    for (unsigned i = 0; i < p->nfields; i++) {
        const Type *m = type_plain(p->fields[i].type);
        bool number = m->kind == TYPE_SCALAR || m->kind == TYPE_ENUM;
        if (p->fields[i].bit_field || m->size > n || !is_zero(bytes + m->size, n - m->size) ||
            (pointer ? m->kind != TYPE_POINTER : !number))
            continue;
        describe(r, m, bytes, m->size, depth, out);
        return;
    }
    str_add(out, is_zero(bytes, n) ? "0" : "...");
}

static void describe(Restore *r, const Type *t, const uint8_t *bytes, size_t n, unsigned depth,
                     Str *out)
{
    const Type *p = type_plain(t);
    uint64_t word = 0;
    memcpy(&word, bytes, n < 8 ? n : 8);
    if (p->kind == TYPE_POINTER)
        describe_pointer(r, p, word, depth, out);
    else if (p->kind == TYPE_STRUCT)
        describe_struct(r, p, bytes, depth, out);
    else if (p->kind == TYPE_ARRAY)
        describe_array(r, p, bytes, depth, out);
    else if (p->kind == TYPE_UNION)
        describe_union(r, p, bytes, n, depth, out);
    else if (n <= 16)
        restore_value_text(t, bytes, n, out);
    else
        str_add(out, "...");
}

void restore_describe(Restore *r, Strings *out)
{
    for (size_t i = 0; i < r->nargs; i++) {
        const Arg *a = &r->args[i];
        const Type *t = a->param->type;
        Str line = { 0 };
        str_addf(&line, "%s = ", r->views[i].name);
        if (!t)
            str_add(&line, a->text ? a->text : "?");
        else if (a->pointer)
            describe(r, t, (const uint8_t *)&r->views[i].value, 8, 0, &line);
        else if (a->bytes)
            describe(r, t, a->bytes, a->size, 0, &line);
        else
            str_add(&line, "?");
        strings_add(out, str_c(&line));
        str_release(&line);
    }
}
