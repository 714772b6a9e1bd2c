/*
 * Items and pieces as C statements.
 *
 * Plain form: a record whose members are all named is one initialiser;
 *
 *     *list = (struct list){ .head = head, .count = 1 };
 *     restore_bytes((char *)list + 24, "\1\2", 2);          what is not
 *
 * Items that nothing kept leads to are not printed at all.
 */
#include "base/escape.h"
#include "base/format.h"
#include "engine/record/restore_int.h"
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* ---- names */

/* The type as the test's unit can say it: typedefs that it does not see are
 * followed, pointers to what it does not see are void pointers. */
void restore_type_name(const RestoreWorld *w, const Type *t, const char *name, Str *out)
{
    const Type *u = type_unqualified(t);
    while (u->kind == TYPE_TYPEDEF && !(*u->file && w->sees(w->arg, u->file) && !w->plain))
        u = type_unqualified(u->target);
    if (u->kind == TYPE_POINTER) {
        const Type *target = type_plain(u->target);
        bool named = target->kind == TYPE_POINTER || target->kind == TYPE_SCALAR ||
                     restore_sees_type(w, target);
        Str inner = { 0 };
        str_addf(&inner, "*%s", name);
        if (named && target->kind != TYPE_FUNCTION && target->kind != TYPE_ARRAY)
            restore_type_name(w, u->target, str_c(&inner), out);
        else
            str_addf(out, "void %s", str_c(&inner));
        str_release(&inner);
        return;
    }
    type_print(u, name, out);
}

/* A variable's declaration; bytes if its type can't be said. */
void restore_declaration(const RestoreWorld *w, const Variable *v, const char *name, Str *out)
{
    const Type *t = v->type ? type_plain(v->type) : NULL;
    Str declared = { 0 };
    str_add(&declared, name);
    uint64_t left = v->size;
    while (t && t->kind == TYPE_ARRAY) {
        uint64_t size = type_plain(t->target)->size;
        str_addf(&declared, "[%" PRIu64 "]", t->count ? t->count : size ? left / size : 0);
        left = size;
        t = type_plain(t->target);
    }
    if (t && restore_sees_type(w, t))
        restore_type_name(w, t, str_c(&declared), out);
    else
        str_addf(out, "unsigned char %s[%" PRIu64 "]", name, v->size);
    str_release(&declared);
}

static bool is_array(const Item *it)
{
    return it->variable && it->variable->type && type_plain(it->variable->type)->kind == TYPE_ARRAY;
}

/* A pointer to the item's first byte. */
static void print_base(const Item *it, Str *out)
{
    if (it->variable)
        str_addf(out, "&%s", it->lvalue);
    else
        str_add(out, it->name);
}

static void print_literal(const Item *it, Str *out)
{
    size_t n = strnlen((const char *)it->bytes, it->size);
    str_addc(out, '"');
    escape_c_string(out, (const char *)it->bytes, n);
    str_addc(out, '"');
}

void restore_ref_text(const Restore *r, Ref ref, const Type *pointer, Str *out)
{
    (void)r;
    const Item *it = ref.item;
    const Type *want = pointer ? type_plain(type_plain(pointer)->target) : NULL;
    switch (ref.kind) {
    case REF_NULL: str_add(out, "NULL"); return;
    case REF_TEXT: str_add(out, ref.text); return;
    case REF_RAW: str_addf(out, "(void *)0x%" PRIx64, ref.offset); return;
    case REF_ITEM: break;
    }
    const Part *part = restore_part(it, ref.offset);
    if (part) {
        str_addf(out, "%s%s", want && type_plain(part->type) != want ? "(void *)" : "", part->name);
        return;
    }
    bool same = want && it->type && it->typed && type_plain(it->type) == want;
    uint64_t size = it->type ? type_plain(it->type)->size : 0;
    uint64_t before = ref.offset > it->object->size ? -ref.offset : 0;
    if (before) {
        str_add(out, "(void *)((char *)");
        print_base(it, out);
        str_addf(out, " - %" PRIu64 ")", before);
        return;
    }
    if (it->literal) {
        str_add(out, want && !restore_is_char(want) ? "(void *)" : "");
        print_literal(it, out);
        if (ref.offset)
            str_addf(out, " + %" PRIu64, ref.offset);
    } else if (!ref.offset && !it->variable) {
        str_add(out, it->name);
    } else if (!ref.offset && same && !is_array(it)) {
        str_addf(out, "&%s", it->lvalue);
    } else if (!ref.offset && same) {
        str_add(out, it->lvalue);
    } else if (same && size && ref.offset % size == 0 && (!it->variable || is_array(it))) {
        str_addf(out, "&%s[%" PRIu64 "]", it->variable ? it->lvalue : it->name, ref.offset / size);
    } else {
        str_add(out, "(void *)(");
        if (ref.offset)
            str_add(out, "(char *)");
        print_base(it, out);
        if (ref.offset)
            str_addf(out, " + %" PRIu64, ref.offset);
        str_addc(out, ')');
    }
}

/* "list->head.next", "table[3].name", "*count": what a piece with a path is. */
static void print_lvalue(const Item *it, const Piece *p, Str *out)
{
    const char *dot = *p->path && p->path[0] != '[' ? "." : "";
    const char *part = p->part ? it->parts[p->part - 1].name : NULL;
    if (part && *dot)
        str_addf(out, "%s->%s", part, p->path);
    else if (part)
        str_addf(out, *p->path ? "(*%s)%s" : "*%s%s", part, p->path);
    else if (it->variable && !is_array(it))
        str_addf(out, "%s%s%s", it->lvalue, dot, p->path);
    else if (it->variable || it->count > 1)
        str_addf(out, "%s[%zu]%s%s", it->variable ? it->lvalue : it->name, p->element, dot,
                 p->path);
    else if (*p->path && p->path[0] != '[')
        str_addf(out, "%s->%s", it->name, p->path);
    else if (*p->path)
        str_addf(out, "(*%s)%s", it->name, p->path);
    else
        str_addf(out, "*%s", it->name);
}

/* Arrays of several dimensions have one name for all their elements only. */
static bool has_path(const Item *it, const Piece *p)
{
    if (!p->path || (!it->typed && !p->part))
        return false;
    if (p->part)
        return true;
    if (!is_array(it))
        return true;
    const Type *e = type_plain(it->variable->type)->target;
    return type_plain(e)->kind != TYPE_ARRAY;
}

static void print_place(const Item *it, const Piece *p, Str *out)
{
    if (p->offset)
        str_add(out, "(char *)");
    print_base(it, out);
    if (p->offset)
        str_addf(out, " + %" PRIu64, p->offset);
}

/* Bytes as string literals of a length that people can scroll. */
static void print_bytes(const uint8_t *bytes, size_t n, Str *out)
{
    for (size_t at = 0; at < n || !at; at += 64) {
        size_t part = n - at < 64 ? n - at : 64;
        str_add(out, n > 64 ? "\n        \"" : "\"");
        escape_c_string(out, (const char *)bytes + at, part);
        str_addc(out, '"');
    }
}

static void print_piece(const Restore *r, const Item *it, const Piece *p, Str *out)
{
    if (p->kind == PIECE_STRING || p->kind == PIECE_BYTES) {
        bool text = p->kind == PIECE_STRING;
        str_add(out, "restore_bytes(");
        print_place(it, p, out);
        str_add(out, ", ");
        print_bytes(it->bytes + p->offset, p->size - text, out);
        str_addf(out, ", %zu);", p->size);
    } else if (has_path(it, p)) {
        print_lvalue(it, p, out);
        str_add(out, " = ");
        if (p->kind == PIECE_VALUE)
            str_add(out, p->value);
        else
            restore_ref_text(r, p->ref, p->type, out);
        str_addc(out, ';');
    } else if (p->kind == PIECE_POINTER) {
        str_add(out, "restore_pointer(");
        print_place(it, p, out);
        str_add(out, ", (void *)");
        restore_ref_text(r, p->ref, NULL, out);
        str_add(out, ");");
    } else {
        str_add(out, "restore_bytes(");
        print_place(it, p, out);
        str_add(out, ", ");
        print_bytes(it->bytes + p->offset, p->size, out);
        str_addf(out, ", %zu);", p->size);
    }
}

/* ---- objects */

static void print_allocation(const Restore *r, const Item *it, Str *out)
{
    const Type *p = it->type ? type_plain(it->type) : NULL;
    uint64_t size = it->object->size;
    str_add(out, "    ");
    if (it->typed) {
        Str name = { 0 };
        str_addf(&name, "*%s", it->name);
        restore_type_name(r->world, it->type, str_c(&name), out);
        str_release(&name);
    } else {
        str_addf(out, "void *%s", it->name);
    }
    str_add(out, " = restore_object(");
    if (it->typed && type_is_record(p) && size == p->size)
        str_addf(out, "sizeof *%s", it->name);
    else if (it->typed && type_is_record(p) && size % p->size == 0)
        str_addf(out, "%" PRIu64 " * sizeof *%s", size / p->size, it->name);
    else
        str_addf(out, "%" PRIu64, size);
    str_add(out, ");\n");
}

static bool is_initialiser(const Restore *r, const Item *it, const Piece *p)
{
    (void)r;
    return p->on && has_path(it, p) && p->kind != PIECE_BYTES;
}

/* How many pieces of this element can stand in one initialiser. */
static size_t initialised(const Restore *r, const Item *it, size_t from, size_t *n)
{
    size_t to = from;
    *n = 0;
    while (to < it->npieces && it->pieces[to].element == it->pieces[from].element) {
        *n += is_initialiser(r, it, &it->pieces[to]);
        to++;
    }
    return to;
}

static void print_member(const Restore *r, const Item *it, const Piece *p, Str *out)
{
    str_addf(out, ".%s = ", p->path);
    if (p->kind == PIECE_VALUE) {
        str_add(out, p->value);
    } else if (p->kind == PIECE_POINTER) {
        restore_ref_text(r, p->ref, p->type, out);
    } else {
        str_addc(out, '"');
        escape_c_string(out, (const char *)it->bytes + p->offset, p->size - 1);
        str_addc(out, '"');
    }
}

static void print_initialiser(const Restore *r, const Item *it, size_t from, size_t to, size_t n,
                              Str *out)
{
    Piece whole = it->pieces[from];
    Str type = { 0 };
    const char *between = n > 3 ? "\n        " : " ";
    size_t done = 0;
    whole.path = "";
    restore_type_name(r->world, whole.part ? it->parts[whole.part - 1].type : it->type, "", &type);
    str_add(out, "    ");
    print_lvalue(it, &whole, out);
    str_addf(out, " = (%s){", str_c(&type));
    for (size_t k = from; k < to; k++) {
        if (!is_initialiser(r, it, &it->pieces[k]))
            continue;
        str_add(out, between);
        print_member(r, it, &it->pieces[k], out);
        if (++done < n)
            str_addc(out, ',');
    }
    str_add(out, n > 3 ? "\n    };\n" : " };\n");
    str_release(&type);
}

/* The kept pieces of an item. */
static void print_filled(const Restore *r, const Item *it, Str *out)
{
    for (size_t from = 0; from < it->npieces;) {
        size_t n, to = initialised(r, it, from, &n);
        bool record = it->pieces[from].part || (it->typed && type_is_record(it->type));
        if (record && n > 1)
            print_initialiser(r, it, from, to, n, out);
        for (size_t k = from; k < to; k++) {
            const Piece *p = &it->pieces[k];
            if (!p->on || (record && n > 1 && is_initialiser(r, it, p)))
                continue;
            str_add(out, "    ");
            print_piece(r, it, p, out);
            str_addc(out, '\n');
        }
        from = to;
    }
}

/* A variable of the program gets all its bytes, zeros too. */
static void print_variable(const Restore *r, const Item *it, Str *out)
{
    const Type *t = it->variable->type;
    bool scalar = t && it->count == 1 && it->typed && it->npieces == 1 && it->pieces[0].path &&
                  !*it->pieces[0].path && !is_array(it);
    bool zero =
        it->typed && !it->npieces && it->count == 1 && !is_array(it) && !type_is_record(it->type);
    bool record = it->typed && type_is_record(it->type) && it->count == 1;
    size_t n = 0;
    if (record && it->npieces)
        initialised(r, it, 0, &n);
    if (zero)
        str_addf(out, "    %s = 0;\n", it->lvalue);
    else if (!scalar && n < 2)
        str_addf(out, "    restore_zero(&%s, %" PRIu64 ");\n", it->lvalue, it->size);
    print_filled(r, it, out);
}

/* ---- what is kept */

static void reach(const Ref *ref, bool *live, const Restore *r, size_t *changed)
{
    if (ref->kind != REF_ITEM)
        return;
    for (size_t i = 0; i < r->items.len; i++)
        if (r->items.items[i] == ref->item && !live[i]) {
            live[i] = true;
            ++*changed;
        }
}

/* Items that an argument, or a kept piece of a live item, leads to. */
static bool *live_items(const Restore *r)
{
    Map index = { 0 };
    bool *live = xcalloc(r->items.len + 1, sizeof *live);
    Vec(size_t) work = { 0 };
    for (size_t i = 0; i < r->items.len; i++)
        map_putn(&index, &r->items.items[i], sizeof(Item *), (void *)(i + 1));
    size_t changed = 0;
    for (size_t i = 0; i < r->nargs; i++)
        if (r->args[i].pointer)
            reach(&r->args[i].ref, live, r, &changed);
        else if (r->args[i].text)
            for (size_t k = 0; k < r->items.len; k++)
                live[k] |=
                    r->items.items[k]->name && strstr(r->args[i].text, r->items.items[k]->name);
    for (size_t i = 0; i < r->items.len; i++) {
        live[i] |= r->items.items[i]->variable && r->items.items[i]->on;
        if (live[i])
            vec_push(&work, i);
    }
    while (work.len) {
        const Item *it = r->items.items[work.items[--work.len]];
        for (size_t k = 0; k < it->npieces; k++) {
            const Ref *ref = &it->pieces[k].ref;
            if (!it->pieces[k].on || ref->kind != REF_ITEM)
                continue;
            size_t at = (size_t)map_getn(&index, &ref->item, sizeof(Item *)) - 1;
            if (!live[at]) {
                live[at] = true;
                vec_push(&work, at);
            }
        }
    }
    map_release(&index);
    vec_release(&work);
    return live;
}

/* ---- the whole */

static void print_conversions(const Restore *r, Str *out)
{
    const Function *fn = r->function;
    if (!fn->variadic || !r->nargs)
        return;
    const Ref *ref = &r->args[r->nargs - 1].ref;
    if (ref->kind != REF_ITEM || !restore_is_char(ref->item->type ? ref->item->type : fn->type))
        return;
    const char *f = (const char *)ref->item->bytes + ref->offset;
    size_t n = strnlen(f, ref->item->size - ref->offset);
    char letter;
    for (unsigned i = 0; i < 16 && (letter = format_argument(f, n, i).letter); i++)
        str_add(out, letter == 's'              ? ", \"\""
                     : letter == '*'            ? ", 0"
                     : strchr("feEgGa", letter) ? ", 0.0"
                                                : ", 0L");
}

void restore_print_call(const Restore *r, Str *out)
{
    str_addf(out, "%s(", strcmp(r->function->name, "main") ? r->function->name : "program_main");
    for (size_t i = 0; i < r->nargs; i++) {
        const Arg *a = &r->args[i];
        str_add(out, i ? ", " : "");
        if (a->pointer)
            restore_ref_text(r, a->ref, a->param->type, out);
        else
            str_add(out, a->text ? a->text : "0");
    }
    print_conversions(r, out);
    str_addc(out, ')');
}

static void print_frees(const Restore *r, const bool *live, Str *out)
{
    for (size_t i = 0; i < r->items.len; i++) {
        const Item *it = r->items.items[i];
        if (it->freed && it->name && (!live || live[i]))
            str_addf(out, "    restore_freed(%s);\n", it->name);
    }
}

/* Is the name in the text, as a word? */
static bool has_word(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = text; (p = strstr(p, name)); p += n)
        if (!isalnum((unsigned char)p[n]) && p[n] != '_' &&
            (p == text || (!isalnum((unsigned char)p[-1]) && p[-1] != '_')))
            return true;
    return false;
}

/* Names for the parts of an item that a text uses: "struct node *next = (void *)((char *)arena + 64);". */
static void print_parts(const Restore *r, const Item *it, const char *base, const char *text,
                        Str *out)
{
    for (size_t i = 0; i < it->nparts; i++) {
        const Part *part = &it->parts[i];
        if (!part->name || !has_word(text, part->name))
            continue;
        Str name = { 0 };
        str_addf(&name, "*%s", part->name);
        str_add(out, "    ");
        restore_type_name(r->world, part->type, str_c(&name), out);
        str_addf(out, " = (void *)((char *)%s + %" PRIu64 ");\n", base, part->offset);
        str_release(&name);
    }
}

static void print_plain(const Restore *r, Str *out)
{
    bool *live = live_items(r);
    for (size_t i = 0; i < r->items.len; i++)
        if (live[i] && r->items.items[i]->name)
            print_allocation(r, r->items.items[i], out);
    Str filled = { 0 };
    for (size_t i = 0; i < r->items.len; i++) {
        const Item *it = r->items.items[i];
        if (it->variable && it->on && !it->constant)
            print_variable(r, it, &filled);
        else if (live[i] && it->name)
            print_filled(r, it, &filled);
    }
    print_frees(r, live, &filled);
    Str used = { 0 };
    restore_print_call(r, &used);
    str_addn(&used, filled.data, filled.len);
    for (size_t i = 0; i < r->items.len; i++)
        if (live[i] && r->items.items[i]->name)
            print_parts(r, r->items.items[i], r->items.items[i]->name, str_c(&used), out);
    str_addn(out, filled.data, filled.len);
    str_release(&used);
    str_release(&filled);
    free(live);
}

/* "void *NAME = …": is that name used? */
static bool is_used(const char *statement, const char *text)
{
    const char *name = strchr(statement, '*') + 1;
    char *copy = xstrndup(name, strcspn(name, " "));
    bool used = has_word(text, copy);
    free(copy);
    return used;
}

/* A longjmp() out of the function ends the test: what it would come back to is not there. */
static void print_jumps(const Restore *r, bool trial, Str *out)
{
    bool *live = live_items(r);
    for (size_t i = 0; i < r->jumps.len; i++) {
        const Jump *j = &r->jumps.items[i];
        const Item *it = r->items.items[j->item];
        if (!trial && !it->variable && !(live[j->item] && it->name))
            continue;
        str_add(out, "    if (restore_setjmp((char *)");
        if (trial)
            str_addf(out, "restore_loaded[%zu]", j->item);
        else
            str_addf(out, "%s%s", it->variable ? "&" : "", it->variable ? it->lvalue : it->name);
        str_addf(out, " + %llu))\n        return%s\n", (unsigned long long)j->offset,
                 trial ? ";" : " 0;   /* longjmp() left the function */");
    }
    free(live);
}

void restore_print(const Restore *r, Str *out)
{
    Str body = { 0 };
    print_plain(r, &body);
    print_jumps(r, false, &body);
    str_add(&body, "    ");
    restore_print_call(r, &body);
    str_add(&body, ";\n");
    for (size_t i = 0; i < r->files.len; i++)
        if (is_used(r->files.items[i], str_c(&body)) || strstr(r->files.items[i], "restore_stdin"))
            str_addf(out, "    %s\n", r->files.items[i]);
    str_addn(out, body.data, body.len);
    str_release(&body);
}

void restore_print_trial(const Restore *r, unsigned number, Str *out)
{
    Str call = { 0 }, state = { 0 };
    Strings named = { 0 };
    restore_state(r, &state, &named);
    restore_print_call(r, &call);
    for (size_t i = 0; i < r->files.len; i++)
        str_addf(out, "    %s\n", r->files.items[i]);
    str_add(out, "    void *restore_named[] = {");
    for (size_t i = 0; i < named.len; i++)
        str_addf(out, " (void *)%s,", named.items[i]);
    str_addf(out, " 0 };\n    void **restore_loaded = restore_load(%u, restore_named);\n", number);
    for (size_t i = 0; i < r->items.len; i++) {
        const Item *it = r->items.items[i];
        char *base = xprintf("restore_loaded[%zu]", i);
        print_parts(r, it, base, str_c(&call), out);
        free(base);
        if (!it->name || !has_word(str_c(&call), it->name))
            continue;
        Str name = { 0 };
        str_addf(&name, "*%s", it->name);
        str_add(out, "    ");
        if (it->typed)
            restore_type_name(r->world, it->type, str_c(&name), out);
        else
            str_addf(out, "void %s", str_c(&name));
        str_addf(out, " = restore_loaded[%zu];\n", i);
        str_release(&name);
    }
    str_add(out, "    (void)restore_loaded;\n");
    print_jumps(r, true, out);
    str_addf(out, "    %s;\n", str_c(&call));
    strings_release(&named);
    str_release(&call);
    str_release(&state);
}

void restore_size(const Restore *r, size_t *objects, size_t *bytes)
{
    bool *live = live_items(r);
    *objects = *bytes = 0;
    for (size_t i = 0; i < r->items.len; i++) {
        const Item *it = r->items.items[i];
        if (!live[i] || it->constant || it->literal || (it->variable && !it->on))
            continue;
        ++*objects;
        for (size_t k = 0; k < it->npieces; k++)
            *bytes += it->pieces[k].on ? it->pieces[k].size : 0;
    }
    free(live);
}

/* ---- differences */

void restore_differences(const Restore *r, size_t most, Strings *out)
{
    size_t none = crash_nframes(r->crash);
    for (size_t i = 0; i < r->items.len && out->len < most; i++) {
        const Item *it = r->items.items[i];
        const Type *p = it->type ? type_plain(it->type) : NULL;
        if (it->constant || it->literal || !p || p->kind != TYPE_STRUCT)
            continue;
        uint8_t *now = xcalloc(1, it->size + 8);
        bool *known = xcalloc(1, it->size + 8);
        crash_read(r->crash, none, it->object->address, now, it->size, known);
        for (unsigned f = 0; f < p->nfields && out->len < most; f++) {
            const Field *fd = &p->fields[f];
            uint64_t at = fd->offset / 8, n = type_plain(fd->type)->size;
            if (fd->bit_field || !n || n > 8 || at + n > it->size || !*fd->name || !known[at] ||
                !it->known[at] || memcmp(now + at, it->bytes + at, n) == 0)
                continue;
            Str a = { 0 }, b = { 0 };
            restore_value_text(fd->type, it->bytes + at, n, &a);
            restore_value_text(fd->type, now + at, n, &b);
            strings_addf(out, "%s%s%s: %s at the entry, %s at the crash",
                         it->variable ? it->lvalue : it->name, it->variable ? "." : "->", fd->name,
                         str_c(&a), str_c(&b));
            str_release(&a);
            str_release(&b);
        }
        free(now);
        free(known);
    }
}
