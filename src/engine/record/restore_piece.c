/*
 * From the bytes of an object to pieces.
 *
 * Where the type can be written in the test, members become pieces one by one.
 * A union shows the member that covers all its bytes that are not zero; a
 * pointer, if they are the address of something known. What no member covers,
 * and what has no type, is raw: bytes in chunks of 64, so that a test can be
 * shrunk, and between them the words that are pointers.
 */
#include "base/escape.h"
#include "engine/record/restore_int.h"
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHUNK         64
#define MOST_ELEMENTS 4096             /* of an array written one by one */

static uint64_t number_at(const uint8_t *bytes, size_t n)
{
    uint64_t v = 0;
    memcpy(&v, bytes, n < 8 ? n : 8);
    return v;
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i])
            return false;
    return true;
}

/* ---- values */

static void print_signed(int64_t v, size_t size, Str *out)
{
    if (v == INT64_MIN)
        str_add(out, "(-9223372036854775807LL - 1)");
    else if (size == 4 && v == INT32_MIN)
        str_add(out, "(-2147483647 - 1)");
    else
        str_addf(out, "%" PRId64 "%s", v, v > INT32_MAX || v < INT32_MIN ? "LL" : "");
}

static void print_unsigned(uint64_t v, Str *out)
{
    str_addf(out, v > 0xffff ? "0x%" PRIx64 "%s" : "%" PRIu64 "%s", v,
             v > UINT32_MAX  ? "ULL"
             : v > INT32_MAX ? "u"
                             : "");
}

static bool print_char(uint64_t v, Str *out)
{
    char c = (char)v;
    if (v < 0x20 || v > 0x7e)
        return false;
    str_addc(out, '\'');
    escape_c_string(out, &c, 1);
    str_addc(out, '\'');
    return true;
}

static bool print_float(const uint8_t *bytes, size_t size, Str *out)
{
    char text[64];
    double v;
    float f;
    if (size == sizeof f) {
        memcpy(&f, bytes, sizeof f);
        v = (double)f;
    } else if (size == sizeof v) {
        memcpy(&v, bytes, sizeof v);
    } else {
        return false;
    }
    if (!isfinite(v))
        return false;
    snprintf(text, sizeof text, size == sizeof f ? "%.9g" : "%.17g", v);
    str_addf(out, "%s%s%s", text, strpbrk(text, ".e") ? "" : ".0", size == sizeof f ? "f" : "");
    return true;
}

static bool print_scalar(const Type *t, const uint8_t *bytes, Str *out)
{
    uint64_t v = number_at(bytes, t->size);
    unsigned unused = 64 - (unsigned)t->size * 8;
    if (t->encoding == ENCODING_FLOAT)
        return print_float(bytes, t->size, out);
    if (t->size > 8 || !t->size)
        return false;
    switch (t->encoding) {
    case ENCODING_BOOL: str_addf(out, "%d", v != 0); return true;
    case ENCODING_SIGNED_CHAR:
    case ENCODING_UNSIGNED_CHAR:
        if (print_char(v, out))
            return true;
        if (t->encoding == ENCODING_UNSIGNED_CHAR)
            print_unsigned(v, out);
        else
            print_signed((int64_t)(v << unused) >> unused, t->size, out);
        return true;
    case ENCODING_SIGNED: print_signed((int64_t)(v << unused) >> unused, t->size, out); return true;
    case ENCODING_UNSIGNED:
    case ENCODING_UTF: print_unsigned(v, out); return true;
    default: return false;
    }
}

/* The name of an enum's value; NULL: it has none, or several would do. */
static const char *enumerator(const Type *t, const uint8_t *bytes)
{
    uint64_t v = number_at(bytes, t->size), mask = UINT64_MAX;
    if (t->size < 8)
        mask = (UINT64_C(1) << (t->size * 8)) - 1;
    for (unsigned i = 0; i < t->nvalues; i++)
        if (((uint64_t)t->values[i].value & mask) == v)
            return t->values[i].name;
    return NULL;
}

static void print_enum(const Restore *r, const Type *t, const uint8_t *bytes, Str *out)
{
    const char *name = enumerator(t, bytes);
    unsigned unused = t->size < 8 ? 64 - (unsigned)t->size * 8 : 0;
    int64_t v = (int64_t)(number_at(bytes, t->size) << unused) >> unused;
    if (name && (!r || restore_sees_type(r->world, t)))
        str_add(out, name);
    else
        print_signed(v, t->size, out);
}

/* A scalar, enum or pointer as a C expression; false: only as bytes. */
static bool scalar_text(Restore *r, const Type *t, const uint8_t *bytes, size_t n, Str *out)
{
    const Type *p = type_plain(t);
    uint64_t v = number_at(bytes, n);
    if (p->kind == TYPE_POINTER) {
        restore_ref_text(r, restore_ref(r, v, p->target, "object"), p, out);
        return true;
    }
    if (p->kind == TYPE_SCALAR && p->size == 8 && p->encoding != ENCODING_FLOAT &&
        restore_is_pointer(r, v)) {
        str_addf(out, "(unsigned long)");
        restore_ref_text(r, restore_ref(r, v, NULL, "object"), NULL, out);
        return true;
    }
    if (p->kind == TYPE_ENUM) {
        print_enum(r, p, bytes, out);
        return true;
    }
    return p->kind == TYPE_SCALAR && print_scalar(p, bytes, out);
}

void restore_value_text(const Type *t, const uint8_t *bytes, size_t n, Str *out)
{
    const Type *p = t ? type_plain(t) : NULL;
    if (p && p->size == n && p->kind == TYPE_ENUM)
        print_enum(NULL, p, bytes, out);
    else if (p && p->size == n && p->kind == TYPE_POINTER && n == 8)
        str_addf(out, "0x%" PRIx64, number_at(bytes, 8));
    else if (!p || p->size != n || p->kind != TYPE_SCALAR || !print_scalar(p, bytes, out))
        for (size_t i = 0; i < n; i++)
            str_addf(out, "%s%02x", i ? " " : "", bytes[i]);
}

/* ---- pieces */

static Piece *add_piece(Item *it, int kind, uint64_t offset, size_t size, const char *path)
{
    it->pieces = vec_room(it->pieces, it->npieces, &it->cap, sizeof *it->pieces);
    Piece *p = &it->pieces[it->npieces++];
    *p = (Piece){ .kind = kind, .offset = offset, .size = size, .path = path };
    const Type *e = it->type ? type_plain(it->type) : NULL;
    p->element = e && e->size ? offset / e->size : 0;
    p->part = it->cutting;
    if (p->part)
        p->element = it->count + p->part;         /* apart from all others */
    return p;
}

static void add_raw_pointer(Restore *r, Item *it, uint64_t at)
{
    Piece *p = add_piece(it, PIECE_POINTER, at, 8, NULL);
    Ref ref = restore_ref(r, number_at(it->bytes + at, 8), NULL, "object");
    it->pieces[p - it->pieces].ref = ref;
}

/* [from, to) without types. */
static void cut_raw(Restore *r, Item *it, uint64_t from, uint64_t to)
{
    uint64_t begin = from;
    for (uint64_t at = from; at < to;) {
        bool pointer = at + 8 <= to && restore_is_pointer_at(r, it, at);
        bool full = at - begin >= CHUNK;
        if ((pointer || full) && at > begin) {
            if (!is_zero(it->bytes + begin, at - begin))
                add_piece(it, PIECE_BYTES, begin, at - begin, NULL);
            begin = at;
        }
        if (pointer) {
            add_raw_pointer(r, it, at);
            begin = at + 8;
        }
        at += pointer ? 8 : 1;
    }
    if (to > begin && !is_zero(it->bytes + begin, to - begin))
        add_piece(it, PIECE_BYTES, begin, to - begin, NULL);
}

/* Characters: a string as far as it goes, then what lies behind it. The bytes of an address may
 * read as one. */
static void cut_chars(Restore *r, Item *it, uint64_t from, uint64_t to, const char *path)
{
    const uint8_t *nul = memchr(it->bytes + from, 0, to - from);
    uint64_t end = nul ? (uint64_t)(nul - it->bytes) + 1 : from;
    bool pointer =
        from % 8 == 0 && from + 8 <= to && restore_is_pointer(r, number_at(it->bytes + from, 8));
    bool text = nul && end - from > 1 && !pointer;
    for (uint64_t i = from; text && i + 1 < end; i++)
        text = it->bytes[i] >= 0x20 || strchr("\t\n\r\f\v", it->bytes[i]);
    if (text) {
        bool whole = is_zero(it->bytes + end, to - end);
        add_piece(it, PIECE_STRING, from, end - from, whole ? path : NULL);
        from = end;
    }
    cut_raw(r, it, from, to);
}

/* Some foreign objects are better fresh than as they were. */
static bool is_fresh(const Type *t)
{
    static const char *const names[] = {
        "pthread_mutex_t",
        "pthread_cond_t",
        "pthread_rwlock_t",
        "pthread_spinlock_t",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((t->kind == TYPE_TYPEDEF && strcmp(t->name, names[i]) == 0) ||
            (t->alias && strcmp(t->alias->name, names[i]) == 0))
            return true;
    return false;
}

/* What setjmp() wrote holds for one run of a program: a test sets it anew. */
bool restore_is_jump_buffer(const Type *t)
{
    const Type *p = type_plain(t);
    if (p->kind == TYPE_ARRAY)
        p = type_plain(p->target);
    return p->kind == TYPE_STRUCT && strcmp(p->name, "__jmp_buf_tag") == 0;
}

static void cut(Restore *r, Item *it, const Type *t, uint64_t at, const char *path);

static const char *joined(Restore *r, const char *path, const char *member)
{
    if (!*member)
        return path;
    return *path ? arena_printf(&r->arena, "%s.%s", path, member) : arena_strdup(&r->arena, member);
}

static void cut_bit_field(Restore *r, Item *it, const Field *f, uint64_t at, const char *path)
{
    uint64_t v = 0, bit = at * 8 + f->offset;
    for (uint64_t i = 0; i < f->width && i < 64; i++)
        if ((bit + i) / 8 < it->size && it->bytes[(bit + i) / 8] >> ((bit + i) % 8) & 1)
            v |= UINT64_C(1) << i;
    if (!v || !*f->name)
        return;
    Piece *p = add_piece(it, PIECE_VALUE, bit / 8, (f->width + 7) / 8, joined(r, path, f->name));
    const Type *t = type_plain(f->type);
    bool is_signed = t->encoding == ENCODING_SIGNED && f->width < 64 && f->width;
    if (is_signed && v >> (f->width - 1))
        p->value = arena_printf(&r->arena, "%" PRId64, (int64_t)(v - (UINT64_C(1) << f->width)));
    else
        p->value = arena_printf(&r->arena, "%" PRIu64, v);
}

/* The member of a union to write: it covers all that is not zero. */
static const Field *shown_member(Restore *r, const Item *it, const Type *u, uint64_t at)
{
    bool pointer =
        u->size >= 8 && at % 8 == 0 && restore_is_pointer(r, number_at(it->bytes + at, 8));
    for (unsigned i = 0; i < u->nfields; i++) {
        const Type *m = type_plain(u->fields[i].type);
        bool covers = m->size <= u->size && !u->fields[i].bit_field &&
                      is_zero(it->bytes + at + m->size, u->size - m->size);
        bool is = m->kind == TYPE_POINTER;
        if (covers && m->kind != TYPE_ARRAY && (pointer ? is || m->kind == TYPE_STRUCT : !is))
            return &u->fields[i];
    }
    return NULL;
}

static void cut_array(Restore *r, Item *it, const Type *t, uint64_t at, const char *path)
{
    uint64_t size = type_plain(t->target)->size;
    if (restore_is_char(t->target)) {
        cut_chars(r, it, at, at + t->size, path);
        return;
    }
    if (!size || t->count > MOST_ELEMENTS) {
        cut_raw(r, it, at, at + t->size);
        return;
    }
    for (uint64_t i = 0; i < t->count; i++)
        if (!is_zero(it->bytes + at + i * size, size))
            cut(r, it, t->target, at + i * size,
                arena_printf(&r->arena, "%s[%" PRIu64 "]", path, i));
}

static void cut_pointer(Restore *r, Item *it, const Type *pointer, uint64_t at, const char *path,
                        Ref ref)
{
    Piece *piece = add_piece(it, PIECE_POINTER, at, 8, path);
    piece->ref = ref;
    piece->type = pointer;
    r->lost_pointers += ref.kind == REF_RAW;
}

/* A member of the item's type; `path` names it. */
static void cut(Restore *r, Item *it, const Type *t, uint64_t at, const char *path)
{
    const Type *p = type_plain(t);
    Str s = { 0 };
    if (!p->size || at + p->size > it->size || is_fresh(t) || is_fresh(p) ||
        restore_is_jump_buffer(p) || is_zero(it->bytes + at, p->size))
        return;
    switch (p->kind) {
    case TYPE_POINTER:
        cut_pointer(r, it, p, at, path,
                    restore_ref(r, number_at(it->bytes + at, 8), p->target, "object"));
        break;
    case TYPE_SCALAR:
    case TYPE_ENUM:
        if (p->kind == TYPE_SCALAR && p->size == 8 && at % 8 == 0 &&
            p->encoding != ENCODING_FLOAT && restore_is_pointer(r, number_at(it->bytes + at, 8))) {
            add_raw_pointer(r, it, at);
        } else if (scalar_text(r, p, it->bytes + at, p->size, &s)) {
            add_piece(it, PIECE_VALUE, at, p->size, path)->value =
                arena_strdup(&r->arena, str_c(&s));
        } else {
            cut_raw(r, it, at, at + p->size);
        }
        break;
    case TYPE_ARRAY: cut_array(r, it, p, at, path); break;
    case TYPE_STRUCT:
        for (unsigned i = 0; i < p->nfields; i++) {
            const Field *f = &p->fields[i];
            Ref before;
            if (f->bit_field)
                cut_bit_field(r, it, f, at, path);
            else if (restore_ref_before(r, it, p, at, f, &before))
                cut_pointer(r, it, type_plain(f->type), at + f->offset / 8,
                            joined(r, path, f->name), before);
            else
                cut(r, it, f->type, at + f->offset / 8, joined(r, path, f->name));
        }
        break;
    case TYPE_UNION: {
        const Field *f = shown_member(r, it, p, at);
        if (f)
            cut(r, it, f->type, at, joined(r, path, f->name));
        else
            cut_raw(r, it, at, at + p->size);
        break;
    }
    default: cut_raw(r, it, at, at + p->size);
    }
    str_release(&s);
}

/* The jmp_bufs that were set, in a member of an item. */
static void add_jumps(Restore *r, size_t number, const Type *t, uint64_t at, unsigned depth)
{
    const Item *it = r->items.items[number];
    const Type *p = type_plain(t);
    if (!p->size || at + p->size > it->size || depth > 8 || is_zero(it->bytes + at, p->size))
        return;
    if (restore_is_jump_buffer(p)) {
        vec_push(&r->jumps, ((Jump){ number, at }));
    } else if (p->kind == TYPE_STRUCT) {
        for (unsigned i = 0; i < p->nfields; i++)
            if (!p->fields[i].bit_field)
                add_jumps(r, number, p->fields[i].type, at + p->fields[i].offset / 8, depth + 1);
    } else if (p->kind == TYPE_ARRAY && type_is_record(type_plain(p->target))) {
        for (uint64_t i = 0; i < p->count && i < MOST_ELEMENTS; i++)
            add_jumps(r, number, p->target, at + i * type_plain(p->target)->size, depth + 1);
    }
}

void restore_find_jumps(Restore *r)
{
    for (size_t i = 0; i < r->items.len; i++) {
        const Item *it = r->items.items[i];
        const Type *p = it->type ? type_plain(it->type) : NULL;
        for (uint64_t k = 0; p && type_is_record(p) && !it->freed && k < it->count; k++)
            add_jumps(r, i, p, k * p->size, 0);
    }
}

/* Members that are const can't be assigned. */
static bool has_const(const Type *t, unsigned depth)
{
    const Type *p = type_plain(t);
    if (type_has_qualifier(t, QUALIFIER_CONST))
        return true;
    if (depth > 8)
        return false;
    if (p->kind == TYPE_ARRAY)
        return has_const(p->target, depth + 1);
    for (unsigned i = 0; type_is_record(p) && i < p->nfields; i++)
        if (has_const(p->fields[i].type, depth + 1))
            return true;
    return false;
}

/* Marks the bytes that the members of a type cover. */
static void cover(const Type *t, uint64_t at, bool *covered, uint64_t size)
{
    const Type *p = type_plain(t);
    if (p->kind != TYPE_STRUCT) {
        for (uint64_t i = at; i < at + p->size && i < size; i++)
            covered[i] = true;
        return;
    }
    for (unsigned i = 0; i < p->nfields; i++) {
        const Field *f = &p->fields[i];
        for (uint64_t bit = 0; f->bit_field && bit < f->width; bit++)
            if (at + (f->offset + bit) / 8 < size)
                covered[at + (f->offset + bit) / 8] = true;
        if (!f->bit_field)
            cover(f->type, at + f->offset / 8, covered, size);
    }
}

/* The bytes between the members of an element; NULL: there are none. */
static bool *covered_bytes(const Type *p)
{
    bool *covered = xcalloc(p->size + 1, sizeof *covered);
    cover(p, 0, covered, p->size);
    if (memchr(covered, false, p->size))
        return covered;
    free(covered);
    return NULL;
}

static bool has_bytes_between(const Item *it, const Type *p, uint64_t at, const bool *covered)
{
    for (uint64_t i = 0; covered && i < p->size && at + i < it->size; i++)
        if (!covered[i] && it->known[at + i] && it->bytes[at + i])
            return true;
    return false;
}

/*
 * How many elements are written as such. A pointer to a small struct may lead to
 * the header of something larger: where elements of that size can't hold the
 * pointers that are there, or have something between their members, only the
 * first is one.
 */
static uint64_t typed_elements(const Restore *r, const Item *it, const Type *p, const bool *covered)
{
    if (it->count <= 1)
        return it->count;
    for (uint64_t at = p->size; p->size % 8 && at + 8 <= it->size; at++)
        if (at % 8 == 0 && restore_is_pointer(r, number_at(it->bytes + at, 8)))
            return 1;
    for (uint64_t at = p->size; covered && at + p->size <= it->size && !it->variable; at += p->size)
        if (has_bytes_between(it, p, at, covered))
            return 1;
    return it->count;
}

/* Members of something larger, between those of its header. */
static void cut_between(Restore *r, Item *it, const Type *p, const bool *covered)
{
    for (uint64_t from = 0; from < p->size;) {
        uint64_t to = from;
        while (to < p->size && !covered[to])
            to++;
        if (to > from)
            cut_raw(r, it, from, to);
        from = to + 1;
    }
}

/* [from, the end): bytes, and between them the parts that have a name. */
static void cut_parts(Restore *r, Item *it, uint64_t from)
{
    bool chars = !it->type || restore_is_char(it->type);
    for (size_t i = 0; i <= it->nparts; i++) {
        const Part *part = i < it->nparts ? &it->parts[i] : NULL;
        if (part && (!part->name || part->offset < from || has_const(part->type, 0)))
            continue;
        uint64_t to = part ? part->offset : it->size;
        if (chars && to > from)
            cut_chars(r, it, from, to, NULL);
        else
            cut_raw(r, it, from, to);
        if (!part)
            break;
        it->cutting = i + 1;
        cut(r, it, part->type, part->offset, "");
        it->cutting = 0;
        from = part->offset + type_plain(part->type)->size;
    }
}

void restore_pieces(Restore *r, Item *it)
{
    if (it->constant || it->literal)
        return;
    const Type *p = it->type ? type_plain(it->type) : NULL;
    uint64_t done = 0;
    if (it->nparts && (!p || !p->size || restore_is_char(p))) {
        cut_parts(r, it, 0);
        return;
    }
    if (!p || !p->size || restore_is_char(p)) {
        cut_chars(r, it, 0, it->size, it->variable ? NULL : "");
        return;
    }
    /* That it was reached through a pointer to const does not make it const. */
    bool by_member = it->typed && !has_const(p, 0) && it->count <= MOST_ELEMENTS;
    bool *covered = by_member && it->size > p->size ? covered_bytes(p) : NULL;
    uint64_t count = by_member ? typed_elements(r, it, p, covered) : 0;
    for (uint64_t i = 0; i < count; i++, done += p->size)
        cut(r, it, it->type, done, "");
    if (count == 1 && covered)
        cut_between(r, it, p, covered);
    free(covered);
    cut_parts(r, it, done);
}

/* ---- values that are passed */

/* A struct in braces. Members that need bytes are left out and noted. */
static const char *braces(Restore *r, const Type *t, const uint8_t *bytes, size_t n)
{
    Item it = { .bytes = (uint8_t *)bytes, .size = n, .type = t, .typed = true };
    Str s = { 0 };
    const char *between = "";
    RestoreWorld full = *r->world;
    full.plain = false;
    restore_type_name(&full, t, "", &s);
    const char *name = arena_strdup(&r->arena, str_c(&s));
    str_reset(&s);
    cut(r, &it, t, 0, "");
    str_addf(&s, "(%s){ ", name);
    for (size_t i = 0; i < it.npieces; i++) {
        Piece *p = &it.pieces[i];
        if (!p->path) {
            strings_add(&r->notes, "a part of a struct that is passed by value "
                                   "could not be written");
            continue;
        }
        str_addf(&s, "%s%s%s = ", between, p->path[0] == '[' ? "" : ".", p->path);
        between = ", ";
        if (p->kind == PIECE_VALUE) {
            str_add(&s, p->value);
        } else if (p->kind == PIECE_POINTER) {
            restore_ref_text(r, p->ref, p->type, &s);
        } else {
            str_addc(&s, '"');
            escape_c_string(&s, (const char *)bytes + p->offset, p->size - 1);
            str_addc(&s, '"');
        }
    }
    str_add(&s, *between ? " }" : "0 }");
    const char *text = arena_strdup(&r->arena, str_c(&s));
    str_release(&s);
    free(it.pieces);
    return text;
}

const char *restore_literal(Restore *r, const Type *t, const uint8_t *bytes, size_t n)
{
    Str s = { 0 };
    const char *text = NULL;
    if (!t) {
        str_addf(&s, "%" PRId64 "L", (int64_t)number_at(bytes, n));
        text = arena_strdup(&r->arena, str_c(&s));
    } else if (type_is_record(t)) {
        /* A struct by value has to be named even where names are avoided. */
        RestoreWorld full = *r->world;
        full.plain = false;
        text = restore_sees_type(&full, t) ? braces(r, t, bytes, n) : NULL;
    } else if (scalar_text(r, t, bytes, n, &s)) {
        text = arena_strdup(&r->arena, str_c(&s));
    } else if (type_plain(t)->size <= 16 && type_plain(t)->kind == TYPE_SCALAR) {
        str_add(&s, "*(");
        restore_type_name(r->world, t, "", &s);
        str_add(&s, " *)\"");
        escape_c_string(&s, (const char *)bytes, n);
        str_add(&s, "\"");
        text = arena_strdup(&r->arena, str_c(&s));
    }
    if (!text)
        strings_add(&r->notes, "an argument could not be written as C");
    str_release(&s);
    return text;
}
