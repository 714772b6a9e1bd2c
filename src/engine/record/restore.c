/*
 * From a frame to the objects that it can reach.
 *
 * Types flow along pointers: a `struct node *` that leads to the begin of an
 * object makes it an array of nodes. Where several types lead to one object, a
 * struct is better than a scalar, a scalar better than char, and of two structs
 * the larger one that still fits (the smaller is then its first member). Since
 * an object's type decides which of its words are pointers, the walk repeats
 * until no object gets a better type; pieces are cut afterwards.
 *
 * A word of 8 bytes at an aligned place that holds the address of a known
 * object or function counts as a pointer even where the type says otherwise
 * (arenas, tagged words, void *).
 */
#include "engine/record/restore.h"
#include "base/escape.h"
#include "base/file.h"
#include "engine/record/restore_int.h"
#include "runtime/format/crashfile.h"
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define MOST_ITEM  (1 << 20)            /* bytes of one object that are restored */
#define MOST_ITEMS 20000
#define MOST_LINKS 64                  /* pieces of an object whose pointers all stay */

static uint64_t word_at(const uint8_t *bytes)
{
    uint64_t v;
    memcpy(&v, bytes, 8);
    return v;
}

/* ---- types */

bool restore_is_char(const Type *t)
{
    t = t ? type_plain(t) : NULL;
    return t && t->kind == TYPE_SCALAR && t->size == 1 && t->encoding != ENCODING_BOOL;
}

/* Arrays of arrays are arrays of what is in them. */
static const Type *element_of(const Type *t)
{
    while (t && type_plain(t)->kind == TYPE_ARRAY)
        t = type_plain(t)->target;
    return t;
}

/* 0: says nothing about an object; more is better. */
static int rank(const Type *t)
{
    const Type *p = t ? type_plain(t) : NULL;
    if (!p || !p->size || p->incomplete)
        return 0;
    switch (p->kind) {
    case TYPE_STRUCT:
    case TYPE_UNION: return 4;
    case TYPE_POINTER: return 3;
    case TYPE_SCALAR:
    case TYPE_ENUM: return restore_is_char(p) ? 1 : 2;
    default: return 0;
    }
}

static bool fits(const Type *t, const CrashObject *o)
{
    return rank(t) && type_plain(t)->size <= o->size;
}

static bool is_better(const Type *t, const Item *it)
{
    if (!fits(t, it->object))
        return false;
    int now = rank(it->type), then = rank(t);
    if (then != now)
        return then > now;
    return then == 4 && type_plain(t)->size > type_plain(it->type)->size;
}

/* Can the type be written in the test? */
bool restore_sees_type(const RestoreWorld *w, const Type *t)
{
    const Type *p = type_plain(t);
    if (w->plain && (type_is_record(p) || p->kind == TYPE_ENUM))
        return false;
    switch (p->kind) {
    case TYPE_SCALAR: return p->encoding != ENCODING_COMPLEX && p->encoding != ENCODING_OTHER;
    case TYPE_POINTER: return true;
    case TYPE_ENUM:
    case TYPE_STRUCT:
    case TYPE_UNION:
        if (!*p->name)
            p = p->alias;
        return p && !p->local && *p->file && w->sees(w->arg, p->file);
    default: return false;
    }
}

/* ---- items */

static bool is_name_free(const Restore *r, const char *name)
{
    return !map_has(&r->names, name) && !(r->world->taken && map_has(r->world->taken, name));
}

static const char *fresh_name(Restore *r, const char *hint)
{
    Str s = { 0 };
    escape_c_identifier(&s, hint, strlen(hint) > 32 ? 32 : strlen(hint));
    size_t n = strlen(str_c(&s));
    void **last = map_slot(&r->numbers, str_c(&s));
    while (!is_name_free(r, str_c(&s))) {
        *last = (char *)*last + 1;
        s.len = n;
        str_addf(&s, "_%zu", (size_t)*last + 1);
    }
    const char *name = arena_strdup(&r->arena, str_c(&s));
    map_put(&r->names, name, NULL);
    str_release(&s);
    return name;
}

static const Variable *variable_of(const Restore *r, const CrashObject *o)
{
    size_t n;
    const Variable *all = program_variables(r->program, &n);
    if (!o->variable || o->variable > n)
        return NULL;
    return &all[o->variable - 1];
}

/* A literal or a table that the compiler made: it has no name in the source. */
static bool is_nameless(const Variable *v)
{
    return v->name[0] == '.' || !*v->name || (!v->type && v->constant);
}

static void read_bytes(Restore *r, Item *it)
{
    it->size = it->object->size < MOST_ITEM ? it->object->size : MOST_ITEM;
    it->bytes = arena_array(&r->arena, uint8_t, it->size + 8);
    it->known = arena_array(&r->arena, bool, it->size + 8);
    size_t found =
        crash_read(r->crash, r->frame, it->object->address, it->bytes, it->size, it->known);
    r->lost_bytes += it->object->size - found;
}

static bool is_text(const Item *it)
{
    for (size_t i = 0; i < it->size; i++)
        if (!it->bytes[i])
            return i + 1 == it->size || it->object->place == SUNDEW_TEXT_LITERAL;
    return false;
}

/* The type that the file knows it by, for what is reached by void pointers. */
static const Type *type_of_object(const Restore *r, const CrashObject *o)
{
    size_t n;
    const Type *const *all = types_all(program_types(r->program), &n);
    const Type *t = o->type && o->type <= n ? element_of(all[o->type - 1]) : NULL;
    if (o->place == SUNDEW_ARGUMENT && rank(t) > 1)
        return NULL;                          /* by whatever pointer it was reached, it is text */
    return t && fits(t, o) && o->size % type_plain(t)->size == 0 ? t : NULL;
}

static Item *new_item(Restore *r, const CrashObject *o, const char *hint)
{
    Item *it = arena_new(&r->arena, Item);
    it->object = o;
    it->hint = hint;
    it->on = true;
    it->freed = o->place == SUNDEW_FREED;
    if (it->freed && r->revive && r->frame >= o->alive_in) {
        it->freed = false;
        r->revives = true;
    }
    it->type = type_of_object(r, o);
    read_bytes(r, it);
    const Variable *v =
        o->place == SUNDEW_GLOBAL || o->place == SUNDEW_TEXT_LITERAL ? variable_of(r, o) : NULL;
    bool nameless = v && is_nameless(v);
    if (v && !nameless) {
        bool fixed = false;
        it->lvalue = r->world->variable(r->world->arg, v, &fixed);
        it->variable = it->lvalue ? v : NULL;
        it->constant = it->lvalue && (v->constant || fixed);
        if (it->variable && v->type)
            it->type = element_of(v->type);
        if (!it->lvalue && !v->constant)
            map_put(&r->unreached, v->name, NULL);
        if (!it->lvalue)
            it->hint = v->name;
    }
    it->literal = (o->place == SUNDEW_TEXT_LITERAL || nameless) && is_text(it);
    vec_push(&r->items, it);
    map_putn(&r->by_object, &o, sizeof o, it);
    return it;
}

/* ---- files */

/* glibc's FILE: where the reader stood when the frame was entered, given where
 * the descriptor stood at the crash. */
static uint64_t position_at_entry(Restore *r, const CrashFile *f)
{
    enum { READ_PTR = 8, READ_END = 16, SIZE = 216 };
    uint8_t then[SIZE], now[SIZE];
    size_t none = crash_nframes(r->crash);
    if (crash_read(r->crash, r->frame, f->address, then, SIZE, NULL) < READ_END + 8)
        return f->position;
    uint64_t ahead = word_at(then + READ_END) - word_at(then + READ_PTR);
    if (!word_at(then + READ_END))
        return f->start;                        /* nothing was read yet */
    if (ahead > f->position)
        return f->position;
    bool same = crash_read(r->crash, none, f->address, now, SIZE, NULL) == SIZE &&
                word_at(now + READ_END) == word_at(then + READ_END);
    if (!same)
        strings_add(&r->notes, "where a file was being read when the function was "
                               "entered is a guess: it was read on since");
    return f->position - ahead;
}

static const char *file_expression(Restore *r, const CrashFile *f, const char *hint)
{
    static const char *const standard[] = { "stdin", "stdout", "stderr" };
    const char *had = map_getn(&r->by_file, &f->address, 8);
    if (had)
        return had;
    const char *text = NULL;
    bool reads = (f->flags & O_ACCMODE) != O_WRONLY;
    if (f->fd >= 0 && f->fd <= 2 && !(f->fd == 0 && f->n))
        text = arena_printf(&r->arena, "restore_standard(%d)", f->fd);
    if (!text) {
        const char *name = fresh_name(r, f->fd == 0 ? standard[0] : hint);
        uint64_t at = position_at_entry(r, f);
        at = at >= f->start ? at - f->start : 0;
        Str s = { 0 };
        str_addf(&s, "void *%s = restore_%s(\"", name, f->fd == 0 ? "stdin" : "file");
        escape_c_string(&s, (const char *)f->bytes, reads ? f->n : 0);
        str_addf(&s, "\", %zu, %llu);", reads ? f->n : 0, (unsigned long long)at);
        vec_push(&r->files, arena_strdup(&r->arena, str_c(&s)));
        str_release(&s);
        text = name;
    }
    map_putn(&r->by_file, &f->address, 8, (void *)text);
    return text;
}

static bool is_file_type(const Type *t)
{
    t = t ? type_plain(t) : NULL;
    return t && t->kind == TYPE_STRUCT && strcmp(t->name, "_IO_FILE") == 0;
}

/* ---- pointers */

bool restore_is_pointer(const Restore *r, uint64_t value)
{
    if (value < 0x10000)
        return false;
    const CrashObject *o = crash_object_at(r->crash, value);
    uint64_t place;
    if (o)
        return value < o->address + o->size;
    return crash_file_at(r->crash, value) ||
           (crash_mapped(r->crash, value, &place) && r->world->code(r->world->arg, value));
}

const Part *restore_part(const Item *it, uint64_t offset)
{
    for (size_t i = 0; i < it->nparts; i++)
        if (it->parts[i].offset == offset && it->parts[i].name)
            return &it->parts[i];
    return NULL;
}

/* How many elements of its type an item is: one with something behind it, if that is no more of
 * the same. */
static uint64_t typed_count(const Item *it)
{
    const Type *p = it->type ? type_plain(it->type) : NULL;
    if (!p || !p->size)
        return 0;
    bool array = it->variable || !type_is_record(p) || (it->size % p->size == 0 && !it->mixed);
    return array || it->size < p->size ? it->size / p->size : 1;
}

/* A pointer says that a record lies there. */
static void note_part(Item *it, uint64_t offset, const Type *element, const char *hint)
{
    enum { MOST = 4096 };
    const Type *p = element ? type_plain(element) : NULL;
    const Type *whole = it->type ? type_plain(it->type) : NULL;
    if (!p || !type_is_record(p) || !p->size || p->incomplete || it->variable || it->constant ||
        it->literal || offset + p->size > it->size || it->nparts >= MOST)
        return;
    if (whole && type_is_record(whole) && whole != p && offset >= whole->size && !it->mixed) {
        it->mixed = true;
        it->was_walked = false;
    }
    size_t at = 0;
    while (at < it->nparts && it->parts[at].offset < offset)
        at++;
    const Part *before = at ? &it->parts[at - 1] : NULL;
    if ((before && before->offset + type_plain(before->type)->size > offset) ||
        (at < it->nparts && it->parts[at].offset < offset + p->size))
        return;
    it->parts = vec_room(it->parts, it->nparts, &it->parts_cap, sizeof *it->parts);
    memmove(&it->parts[at + 1], &it->parts[at], (it->nparts - at) * sizeof *it->parts);
    it->parts[at] = (Part){ .offset = offset, .type = element, .hint = hint };
    it->nparts++;
    it->was_walked = false;
}

/* Memory without a type, a buffer of tokens say, has pointers at any place. */
bool restore_is_pointer_at(const Restore *r, const Item *it, uint64_t at)
{
    uint64_t value = word_at(it->bytes + at);
    bool bytes = !it->type || restore_is_char(it->type);
    return (at % 8 == 0 || (bytes && value >> 32 && !(value >> 47))) &&
           restore_is_pointer(r, value);
}

Ref restore_ref(Restore *r, uint64_t value, const Type *target, const char *hint)
{
    Ref ref = { .kind = REF_NULL };
    if (!value)
        return ref;
    const Type *plain = target ? type_plain(target) : NULL;
    const CrashFile *file = crash_file_at(r->crash, value);
    if (file || is_file_type(plain)) {
        CrashFile none = { .address = value, .fd = -1 };
        if (!file)
            strings_addf(&r->notes,
                         "'%s' is a FILE whose content was not kept: the "
                         "test has an empty one",
                         hint);
        ref.kind = REF_TEXT;
        ref.text = file_expression(r, file ? file : &none, hint);
        return ref;
    }
    const char *code = plain && plain->kind != TYPE_FUNCTION && crash_object_at(r->crash, value)
                           ? NULL
                           : r->world->code(r->world->arg, value);
    if (code)
        return (Ref){ .kind = REF_TEXT, .text = code };
    const CrashObject *o = crash_object_at(r->crash, value);
    if (!o || (r->items.len >= MOST_ITEMS && !map_getn(&r->by_object, &o, sizeof o)))
        return (Ref){ .kind = REF_RAW, .offset = value };
    Item *it = map_getn(&r->by_object, &o, sizeof o);
    if (!it)
        it = new_item(r, o, hint);
    ref = (Ref){ .kind = REF_ITEM, .item = it, .offset = value - o->address };
    const Type *element = element_of(target);
    bool array = fits(element, o) && ref.offset % type_plain(element)->size == 0 &&
                 o->size % type_plain(element)->size == 0;
    if (!it->variable && (ref.offset == 0 || array) && is_better(element, it) &&
        !(o->place == SUNDEW_ARGUMENT && rank(element) > 1))
        it->type = element;
    note_part(it, ref.offset, element, hint);
    return ref;
}

/* Is the value `distance` bytes before an object that the item has a pointer to, and no place for
 * as many bytes in the object where it lies? Just behind an object that the item points to as
 * well it belongs to that. */
static const CrashObject *object_behind(const Restore *r, const Item *it, uint64_t value,
                                        uint64_t distance)
{
    const CrashObject *o = crash_object_at(r->crash, value + distance);
    const CrashObject *here = crash_object_at(r->crash, value);
    if (!o || o->address != value + distance || (here && here->address + here->size >= o->address))
        return NULL;
    bool behind = here && value == here->address + here->size, begins = false;
    for (uint64_t at = 0; at + 8 <= it->size; at += 8) {
        uint64_t word = word_at(it->bytes + at);
        if (behind && word - here->address < here->size)
            return NULL;
        begins |= word == o->address;
    }
    return begins ? o : NULL;
}

/* The end of an empty vector lies one element before its first. How large an element is says
 * the pointer's type; of void pointers a number beside it. */
bool restore_ref_before(Restore *r, const Item *it, const Type *record, uint64_t at,
                        const Field *field, Ref *out)
{
    enum { MOST_ELEMENT = 4096 };
    const Type *pointer = type_plain(field->type);
    if (pointer->kind != TYPE_POINTER || at + record->size > it->size)
        return false;
    uint64_t value = word_at(it->bytes + at + field->offset / 8);
    const Type *target = type_plain(pointer->target);
    const CrashObject *o =
        value >= 0x10000 && target->size ? object_behind(r, it, value, target->size) : NULL;
    for (unsigned i = 0; i < record->nfields && value >= 0x10000 && !target->size && !o; i++) {
        const Field *f = &record->fields[i];
        const Type *t = type_plain(f->type);
        uint64_t n = 0;
        if (t->kind == TYPE_SCALAR && !f->bit_field && t->encoding != ENCODING_FLOAT &&
            t->size <= 8)
            memcpy(&n, it->bytes + at + f->offset / 8, t->size);
        if (n && n <= MOST_ELEMENT)
            o = object_behind(r, it, value, n);
    }
    if (!o)
        return false;
    *out = restore_ref(r, o->address, pointer->target, field->name);
    if (out->kind != REF_ITEM)
        return false;
    out->offset = value - o->address;
    return true;
}

/* Follows what the type says, then what looks like a pointer. */
static void walk_type(Restore *r, Item *it, const Type *t, uint64_t at, const char *hint,
                      bool *seen)
{
    const Type *p = type_plain(t);
    if (!p->size || at + p->size > it->size)
        return;
    if (p->kind == TYPE_POINTER) {
        restore_ref(r, word_at(it->bytes + at), p->target, hint);
        seen[at / 8] = at % 8 == 0;
    } else if (p->kind == TYPE_ARRAY && type_plain(p->target)->size) {
        for (uint64_t i = 0; i < p->count && !restore_is_char(p->target); i++)
            walk_type(r, it, p->target, at + i * type_plain(p->target)->size, hint, seen);
    } else if (p->kind == TYPE_STRUCT) {
        for (unsigned i = 0; i < p->nfields; i++) {
            const Field *f = &p->fields[i];
            uint64_t place = at + f->offset / 8;
            Ref before;
            if (restore_ref_before(r, it, p, at, f, &before))
                seen[place / 8] = place % 8 == 0;
            else if (!f->bit_field)
                walk_type(r, it, f->type, place, *f->name ? f->name : hint, seen);
        }
    } else if (p->kind == TYPE_UNION) {
        for (unsigned i = 0; i < p->nfields; i++) {
            const Type *m = type_plain(p->fields[i].type);
            uint64_t v = at + 8 <= it->size ? word_at(it->bytes + at) : 0;
            if (m->kind != TYPE_POINTER || restore_is_pointer(r, v))
                walk_type(r, it, m, at, *p->fields[i].name ? p->fields[i].name : hint, seen);
        }
    }
}

static void walk_item(Restore *r, Item *it)
{
    if (it->constant || it->literal)
        return;
    bool *seen = xcalloc(it->size / 8 + 2, sizeof *seen);
    const Type *p = it->type ? type_plain(it->type) : NULL;
    if (p && p->size && !restore_is_char(p))
        for (uint64_t k = 0; k < typed_count(it); k++)
            walk_type(r, it, p, k * p->size, it->hint, seen);
    uint64_t typed = p ? typed_count(it) * p->size : 0;
    for (size_t i = 0; i < it->nparts; i++) {
        Part part = it->parts[i];                 /* walking may find more of them */
        if (part.offset >= typed)
            walk_type(r, it, part.type, part.offset, part.hint, seen);
    }
    for (uint64_t at = 0; at + 8 <= it->size; at++)
        if ((at % 8 || !seen[at / 8]) && restore_is_pointer_at(r, it, at))
            restore_ref(r, word_at(it->bytes + at), NULL, "object");
    free(seen);
}

/* Until every object has been walked with its last type. */
static void walk_all(Restore *r)
{
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < r->items.len; i++) {
            Item *it = r->items.items[i];
            if (it->was_walked && it->walked == it->type)
                continue;
            it->was_walked = again = true;
            it->walked = it->type;
            walk_item(r, it);
        }
    }
}

/* ---- arguments */

/* The slots that a parameter occupies; IR arguments wider than 8 bytes have
 * several. False: they can't be told. */
static bool slots_of(const Function *fn, const Param *p, unsigned *first, unsigned *n)
{
    unsigned at = fn->returns_in_memory ? 1 : 0;
    for (const Param *q = fn->params;; q++) {
        uint64_t size = q->type ? type_plain(q->type)->size : 8;
        unsigned width = q->nargs;
        if (q->passing == PASSED_UNKNOWN)
            return false;
        if (q->passing == PASSED_DIRECTLY && size > 8)
            width = (unsigned)((size + 7) / 8);
        if (q == p) {
            *first = at;
            *n = width;
            return true;
        }
        at += width;
    }
}

static size_t argument_bytes(Restore *r, const CrashFrame *fr, const Param *p, uint8_t *bytes,
                             size_t most)
{
    unsigned first, n;
    uint64_t size = p->type ? type_plain(p->type)->size : 8;
    if (size > most || !slots_of(r->function, p, &first, &n) || first + n > fr->nslots)
        return 0;
    memset(bytes, 0, most);
    if (p->passing == PASSED_NOT_AT_ALL)
        return size;
    if (p->passing == PASSED_BY_COPY)
        return crash_read(r->crash, r->frame, fr->slots[first], bytes, size, NULL) ? size : 0;
    for (unsigned i = 0; i < n && i * 8 < most; i++)
        memcpy(bytes + (size_t)i * 8, &fr->slots[first + i],
               most - (size_t)i * 8 < 8 ? most - (size_t)i * 8 : 8);
    return size;
}

static bool is_integer(const Type *t)
{
    return t->kind == TYPE_ENUM ||
           (t->kind == TYPE_SCALAR && t->size <= 8 && t->encoding != ENCODING_FLOAT &&
            t->encoding != ENCODING_COMPLEX && t->encoding != ENCODING_OTHER);
}

static uint64_t integer_at(const Type *t, const uint8_t *bytes)
{
    unsigned unused = 64 - (unsigned)t->size * 8;
    uint64_t v = word_at(bytes) << unused;
    bool is_signed = t->encoding == ENCODING_SIGNED || t->encoding == ENCODING_SIGNED_CHAR;
    return is_signed ? (uint64_t)((int64_t)v >> unused) : v >> unused;
}

static void take_arguments(Restore *r, const CrashFrame *fr)
{
    const Function *fn = r->function;
    static const size_t most = 1 << 16;
    uint8_t *bytes = xcalloc(1, most);
    r->args = arena_array(&r->arena, Arg, fn->nparams + 1);
    r->views = arena_array(&r->arena, RestoreArg, fn->nparams + 1);
    for (unsigned i = 0; i < fn->nparams; i++) {
        const Param *p = &fn->params[i];
        Arg *a = &r->args[r->nargs];
        RestoreArg *v = &r->views[r->nargs++];
        const char *hint = *p->name ? p->name : arena_printf(&r->arena, "argument_%u", i + 1);
        size_t n = argument_bytes(r, fr, p, bytes, most);
        a->param = p;
        v->name = hint;
        const Type *t = p->type ? type_plain(p->type) : NULL;
        if (!n) {
            strings_addf(&r->notes, "the argument '%s' was not kept", hint);
        } else if (t && t->kind == TYPE_POINTER) {
            v->pointer = a->pointer = true;
            v->value = word_at(bytes);
            a->ref = restore_ref(r, v->value, t->target, hint);
            v->known = a->ref.kind == REF_ITEM || a->ref.kind == REF_TEXT;
        }
        if (n && !a->pointer) {
            a->bytes = arena_array(&r->arena, uint8_t, n + 8);
            a->size = n;
            memcpy(a->bytes, bytes, n);
            v->integer = t && is_integer(t);
            v->value = v->integer ? integer_at(t, bytes) : 0;
            Item by_value = { .bytes = a->bytes, .size = n, .type = p->type, .hint = hint };
            walk_item(r, &by_value);
        }
    }
    free(bytes);
}

static void take_globals(Restore *r)
{
    for (size_t i = 0; i < crash_nobjects(r->crash); i++) {
        const CrashObject *o = crash_object(r->crash, i);
        const Variable *v = o->place == SUNDEW_GLOBAL ? variable_of(r, o) : NULL;
        if (v && !v->constant && !is_nameless(v) && !map_getn(&r->by_object, &o, sizeof o))
            new_item(r, o, v->name);
    }
}

/* ---- names and numbers */

static void name_item(Restore *r, Item *it)
{
    const Type *p = it->type ? type_plain(it->type) : NULL;
    it->typed = it->type && restore_sees_type(r->world, it->type);
    it->count = typed_count(it);
    if (it->variable || it->literal)
        return;
    const char *hint = it->hint ? it->hint : "object";
    if (r->world->plain)
        hint = "object_1";
    it->name = fresh_name(r, hint);
    uint64_t typed = p ? it->count * p->size : 0;
    for (size_t i = 0; i < it->nparts && !r->world->plain; i++)
        if (it->parts[i].offset >= typed && restore_sees_type(r->world, it->parts[i].type))
            it->parts[i].name = fresh_name(r, it->parts[i].hint ? it->parts[i].hint : "object");
}

static void number_steps(Restore *r)
{
    for (size_t i = 0; i < r->items.len; i++) {
        Item *it = r->items.items[i];
        it->step = r->nsteps;
        r->nsteps += it->npieces + (it->variable && !it->constant);
        for (size_t k = 0; k < it->npieces; k++)
            it->pieces[k].on = true;
    }
}

/* How far each item is from the arguments. */
static void measure_depths(Restore *r)
{
    Vec(Item *) work = { 0 };
    for (size_t i = 0; i < r->items.len; i++)
        r->items.items[i]->depth = RESTORE_FAR;
    for (size_t i = 0; i < r->nargs; i++)
        if (r->args[i].ref.kind == REF_ITEM && r->args[i].ref.item->depth) {
            r->args[i].ref.item->depth = 0;
            vec_push(&work, r->args[i].ref.item);
        }
    for (size_t i = 0; i < work.len; i++) {
        const Item *it = work.items[i];
        for (size_t k = 0; k < it->npieces; k++) {
            Item *to = it->pieces[k].ref.kind == REF_ITEM ? it->pieces[k].ref.item : NULL;
            if (to && to->depth == RESTORE_FAR) {
                to->depth = it->depth + 1;
                vec_push(&work, to);
            }
        }
    }
    vec_release(&work);
}

static void bring_nearer(const Ref *ref, unsigned depth)
{
    Part *part = ref->kind == REF_ITEM ? (Part *)restore_part(ref->item, ref->offset) : NULL;
    if (part && depth < part->depth)
        part->depth = depth;
}

/* The same for parts; further than some pointers nobody asks. */
static void measure_parts(Restore *r)
{
    enum { ROUNDS = 3 };
    for (size_t i = 0; i < r->items.len; i++)
        for (size_t k = 0; k < r->items.items[i]->nparts; k++)
            r->items.items[i]->parts[k].depth = RESTORE_FAR;
    for (size_t i = 0; i < r->nargs; i++)
        bring_nearer(&r->args[i].ref, 0);
    for (unsigned round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < r->items.len; i++) {
            const Item *it = r->items.items[i];
            for (size_t k = 0; k < it->npieces; k++) {
                const Piece *p = &it->pieces[k];
                unsigned from = p->part ? it->parts[p->part - 1].depth : it->depth;
                if (from < RESTORE_FAR)
                    bring_nearer(&p->ref, from + 1);
            }
        }
}

static const Function *function_of(const Program *p, const CrashFrame *fr)
{
    size_t n;
    const Function *const *all = program_functions(p, &n);
    for (size_t i = 0; i < n; i++)
        if (all[i]->index + 1 == fr->function)
            return all[i];
    return NULL;
}

/* Static variables that the compiler removed, merged or split. */
static void note_unreached(Restore *r)
{
    Str line = { 0 };
    size_t n = r->unreached.len;
    for (size_t i = 0; i < n && i < 6; i++)
        str_addf(&line, "%s%s", i ? ", " : "", r->unreached.entries[i].key);
    if (n)
        strings_addf(&r->notes,
                     "%zu variable%s can't be reached from a test, pointers "
                     "there lead to a copy: %s%s",
                     n, n == 1 ? "" : "s", str_c(&line), n > 6 ? " and others" : "");
    str_release(&line);
}

Restore *restore_new(const Crash *c, const Program *p, size_t frame, const RestoreWorld *world,
                     bool revive)
{
    const CrashFrame *fr = crash_frame(c, frame);
    const Function *fn = fr ? function_of(p, fr) : NULL;
    if (!fn)
        return NULL;
    Restore *r = xcalloc(1, sizeof *r);
    r->crash = c;
    r->program = p;
    r->frame = frame;
    r->world = world;
    r->revive = revive;
    r->function = fn;
    take_arguments(r, fr);
    if (strcmp(fn->name, "main") != 0)     /* at its entry they are as compiled */
        take_globals(r);
    walk_all(r);
    for (size_t i = 0; i < r->items.len; i++)
        name_item(r, r->items.items[i]);
    for (size_t i = 0; i < r->items.len; i++)
        restore_pieces(r, r->items.items[i]);
    for (size_t i = 0; i < r->nargs; i++)
        if (r->args[i].bytes)
            r->args[i].text =
                restore_literal(r, r->args[i].param->type, r->args[i].bytes, r->args[i].size);
    number_steps(r);
    measure_depths(r);
    measure_parts(r);
    restore_find_jumps(r);
    if (fn->variadic)
        strings_add(&r->notes, "the function takes a variable number of arguments: "
                               "those behind the named ones were not kept");
    note_unreached(r);
    if (r->lost_bytes)
        strings_addf(&r->notes,
                     "%zu bytes of the objects are not in the crash file; "
                     "they are zero in the test",
                     r->lost_bytes);
    if (r->lost_pointers)
        strings_addf(&r->notes,
                     r->lost_pointers == 1
                         ? "one pointer leads to memory that is not in the crash file; it "
                           "keeps its address"
                         : "%zu pointers lead to memory that is not in the crash "
                           "file; they keep their address",
                     r->lost_pointers);
    return r;
}

bool restore_revives(const Restore *r) { return r->revives; }

static void free_item(Item *it)
{
    free(it->pieces);
    free(it->parts);
}

void restore_free(Restore *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->items.len; i++)
        free_item(r->items.items[i]);
    vec_release(&r->items);
    vec_release(&r->files);
    vec_release(&r->jumps);
    map_release(&r->by_object);
    map_release(&r->by_file);
    map_release(&r->names);
    map_release(&r->numbers);
    map_release(&r->unreached);
    strings_release(&r->notes);
    arena_release(&r->arena);
    free(r);
}

/* ---- questions */

size_t restore_nsteps(const Restore *r) { return r->nsteps; }
const Strings *restore_notes(const Restore *r) { return &r->notes; }

const RestoreArg *restore_args(const Restore *r, size_t *n)
{
    *n = r->nargs;
    return r->views;
}

size_t restore_group(const Restore *r, size_t step)
{
    size_t low = 0, high = r->items.len;
    while (high - low > 1) {
        size_t mid = (low + high) / 2;
        if (r->items.items[mid]->step <= step)
            low = mid;
        else
            high = mid;
    }
    return low;
}

unsigned restore_depth(const Restore *r, size_t step)
{
    size_t at = restore_group(r, step);
    return at < r->items.len ? r->items.items[at]->depth : RESTORE_FAR;
}

bool restore_is_link(const Restore *r, size_t step)
{
    size_t at = restore_group(r, step);
    const Item *it = at < r->items.len ? r->items.items[at] : NULL;
    bool guarded = it && it->variable && !it->constant;      /* its first step is no piece */
    if (!it || step < it->step + guarded || it->npieces > MOST_LINKS)
        return false;
    const Piece *p = &it->pieces[step - it->step - guarded];
    assert(step - it->step - guarded < it->npieces);
    return p->kind == PIECE_POINTER && p->ref.kind != REF_NULL;
}

bool restore_is_link_of_variable(const Restore *r, size_t step)
{
    size_t at = restore_group(r, step);
    return at < r->items.len && r->items.items[at]->variable && restore_is_link(r, step);
}

/* Where bad pointers are looked for. */
typedef struct BadSearch {
    Restore *r;
    const RestoreSearch *search;
    RestoreBads *out;
    RestoreBad at; /* what is known of the next one */
} BadSearch;

static void add_bad_word(BadSearch *b)
{
    const Item *it = b->r->items.items[b->at.object];
    if (b->at.offset + 8 > it->size || b->out->len >= b->search->most)
        return;
    uint64_t value = word_at(it->bytes + b->at.offset);
    bool fits_failure = value ? b->search->near(b->search->arg, value) : b->search->null;
    b->at.null = value == 0;
    if (it->known[b->at.offset] && fits_failure && !restore_is_pointer(b->r, value))
        vec_push(b->out, b->at);
}

/* The pointers to nothing of a type at a place of an item. */
static void add_bad(BadSearch b, const Type *t)
{
    const Item *it = b.r->items.items[b.at.object];
    const Type *p = type_plain(t);
    const RestoreBad at = b.at;
    if (!p->size || at.offset + p->size > it->size)
        return;
    if (p->kind == TYPE_POINTER) {
        add_bad_word(&b);
    } else if (p->kind == TYPE_STRUCT) {
        bool direct = it->type && type_plain(it->type) == p && !it->variable;
        for (unsigned i = 0; i < p->nfields; i++) {
            if (p->fields[i].bit_field)
                continue;
            b.at.record = p;
            b.at.member = p->fields[i].offset / 8;
            b.at.offset = at.offset + b.at.member;
            b.at.text = arena_printf(&b.r->arena, "%s%s%s", at.text, direct ? "->" : ".",
                                     p->fields[i].name);
            add_bad(b, p->fields[i].type);
        }
    } else if (p->kind == TYPE_ARRAY) {
        uint64_t size = type_plain(p->target)->size;
        for (uint64_t i = 0; size && i < p->count && i < 16; i++) {
            b.at.offset = at.offset + i * size;
            b.at.text = arena_printf(&b.r->arena, "%s[%llu]", at.text, (unsigned long long)i);
            add_bad(b, p->target);
        }
    }
}

/* Of many elements those count that an argument points to; else the first ones. */
static uint64_t first_element(const Restore *r, const Item *it, uint64_t size)
{
    for (size_t i = 0; i < r->nargs; i++) {
        uint64_t at = r->views[i].value - it->object->address;
        if (r->views[i].pointer && at < it->size)
            return at / size;
    }
    return 0;
}

static void add_bad_of_parts(BadSearch b, unsigned depth)
{
    const Item *it = b.r->items.items[b.at.object];
    for (size_t k = 0; k < it->nparts && !it->freed; k++) {
        if (!it->parts[k].name || it->parts[k].depth != depth)
            continue;
        b.at.offset = it->parts[k].offset;
        b.at.text = it->parts[k].name;
        add_bad(b, it->parts[k].type);
    }
}

static void add_bad_of_item(BadSearch b)
{
    enum { ELEMENTS = 16 };
    const Item *it = b.r->items.items[b.at.object];
    const Type *p = it->type ? type_plain(it->type) : NULL;
    if (it->constant || it->literal || it->freed || (p && !p->size))
        return;
    const char *name = it->variable ? it->lvalue : it->name;
    uint64_t size = p ? p->size : 8, n = p ? it->count : it->size / 8;
    uint64_t from = first_element(b.r, it, size);
    RestoreSearch here = *b.search;
    bool null = here.null;
    b.search = &here;
    b.at.variable = it->variable;
    for (uint64_t k = 0; k < n; k++) {
        here.null = null && k - from < ELEMENTS; /* there are many in a large array */
        b.at.offset = k * size;
        b.at.text = k ? arena_printf(&b.r->arena, "%s[%llu]", name, (unsigned long long)k) : name;
        if (p)
            add_bad(b, p);
        else
            add_bad_word(&b); /* of a type that nobody knows */
    }
}

void restore_bad_pointers(Restore *r, const RestoreSearch *search, RestoreBads *out)
{
    assert(search->near);
    unsigned depth = search->depth;
    for (unsigned d = 0; d <= depth + 1; d++)
        for (size_t i = 0; i < r->items.len; i++) {
            const Item *it = r->items.items[i];
            BadSearch b = { r, search, out, { .object = i, .handed = d <= depth } };
            if (d <= depth)
                add_bad_of_parts(b, d);
            if (d <= depth ? it->depth == d : it->depth > depth)
                add_bad_of_item(b);
        }
}

void restore_keep(Restore *r, const bool *keep)
{
    for (size_t i = 0; i < r->items.len; i++) {
        Item *it = r->items.items[i];
        size_t step = it->step;
        if (it->variable && !it->constant)
            it->on = keep[step++];
        for (size_t k = 0; k < it->npieces; k++)
            it->pieces[k].on = it->on && keep[step++];
    }
}
