/*
 * Every byte that a crash file holds, for somebody who is to send it: by object,
 * by type and field where the program is at hand, else raw.
 */
#include "base/escape.h"
#include "capture/capture.h"
#include "runtime/format/crashfile.h"
#include "technique/reproduce/reproduce_int.h"
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

typedef struct Review {
    const Crash *crash;
    const Program *program;              /* NULL: types are not known */
    const Type *const *types;
    size_t ntypes;
    Str *out;
    uint64_t total;
} Review;

static const Type *type_of(const Review *r, uint32_t number)
{
    return number && number <= r->ntypes ? r->types[number - 1] : NULL;
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i])
            return false;
    return true;
}

/* Rows that repeat the one before are one "*", as hexdump has it. */
static void hex(Review *r, const uint8_t *bytes, size_t n, const char *indent)
{
    bool repeats = false;
    for (size_t at = 0; at < n; at += 16) {
        bool same = at >= 16 && at + 16 < n && memcmp(bytes + at, bytes + at - 16, 16) == 0;
        if (same && !repeats)
            str_addf(r->out, "%s*\n", indent);
        repeats = same;
        if (same)
            continue;
        Str text = { 0 };
        str_addf(r->out, "%s%04zx ", indent, at);
        for (size_t i = at; i < at + 16; i++) {
            if (i < n)
                str_addf(r->out, " %02x", bytes[i]);
            else
                str_add(r->out, "   ");
            if (i < n)
                str_addc(&text, isprint(bytes[i]) ? (char)bytes[i] : '.');
        }
        str_addf(r->out, "  %s\n", str_c(&text));
        str_release(&text);
    }
}

static void value(Review *r, const char *path, const Type *t, const uint8_t *bytes, size_t n)
{
    Str name = { 0 }, text = { 0 };
    restore_value_text(t, bytes, n, &text);
    type_print(t, path, &name);
    str_add(r->out, "    ");
    escape_terminal(r->out, name.data, name.len);
    str_add(r->out, " = ");
    escape_terminal(r->out, text.data, text.len);
    str_addc(r->out, '\n');
    str_release(&name);
    str_release(&text);
}

/* A value by its fields. What no field covers (padding) is shown as bytes by
 * its parent. */
static void fields(Review *r, const char *path, const Type *t, const uint8_t *bytes, size_t n,
                   unsigned depth)
{
    const Type *p = type_plain(t);
    if (p->kind == TYPE_STRUCT && p->size && p->size <= n && depth < 12) {
        uint64_t at = 0;
        unsigned zeros = 0;
        for (unsigned i = 0; i < p->nfields; i++) {
            const Field *f = &p->fields[i];
            uint64_t from = f->offset / 8, size = type_plain(f->type)->size;
            if (f->bit_field)
                size = (f->offset % 8 + f->width + 7) / 8;
            if (from > at && from <= n && !is_zero(bytes + at, from - at)) {
                str_addf(r->out, "    %s (padding)\n", path);
                hex(r, bytes + at, from - at, "        ");
            }
            if (from + size > n)
                break;
            if (size && is_zero(bytes + from, size)) {
                zeros++;
                at = from + size > at ? from + size : at;
                continue;
            }
            char *name = xprintf("%s%s%s", path, *path && *f->name ? "." : "", f->name);
            if (f->bit_field) {
                str_addf(r->out, "    %s: bits in\n", name);
                hex(r, bytes + from, size, "        ");
            } else {
                fields(r, name, f->type, bytes + from, size, depth + 1);
            }
            free(name);
            if (from + size > at)
                at = from + size;
        }
        if (zeros)
            str_addf(r->out, "    %s%s%u fields that are zero\n", path, *path ? ": " : "", zeros);
        if (at < n && !is_zero(bytes + at, n - at)) {
            str_addf(r->out, "    %s (rest)\n", path);
            hex(r, bytes + at, n - at, "        ");
        }
    } else if (p->size == n && n <= 16 &&
               (p->kind == TYPE_SCALAR || p->kind == TYPE_ENUM || p->kind == TYPE_POINTER)) {
        value(r, path, t, bytes, n);
    } else {
        str_addf(r->out, "    %s\n", path);
        hex(r, bytes, n, "        ");
    }
}

static void piece(Review *r, const CrashBytes *b)
{
    const Type *t = type_of(r, b->type);
    const Type *p = t ? type_plain(t) : NULL;
    const CrashObject *o = crash_object_at(r->crash, b->address);
    uint64_t inside = o && b->address >= o->address ? b->address - o->address : 0;
    r->total += b->n;
    str_addf(r->out, "  %zu bytes at 0x%" PRIx64, b->n, b->address);
    if (p) {
        Str name = { 0 };
        type_print(t, NULL, &name);
        str_add(r->out, ": ");
        escape_terminal(r->out, name.data, name.len);
        str_release(&name);
    }
    if (b->hidden)
        str_addf(r->out, ", %u of them blanked", b->hidden);
    str_addc(r->out, '\n');
    bool whole = p && p->size && inside % p->size == 0 && b->n >= p->size && type_is_record(p);
    size_t at = 0;
    size_t zeros = 0;
    for (size_t i = 0; whole && at + p->size <= b->n; i++, at += p->size) {
        bool none = b->n > p->size && is_zero(b->bytes + at, p->size);
        zeros += none;
        if (none)
            continue;
        char *path = b->n > p->size ? xprintf("[%zu]", i) : xstrdup("");
        fields(r, path, t, b->bytes + at, p->size, 0);
        free(path);
    }
    if (zeros)
        str_addf(r->out, "    %zu elements that are all zero\n", zeros);
    if (at < b->n)
        hex(r, b->bytes + at, b->n - at, "    ");
}

static void layer(Review *r, const char *head, size_t f)
{
    size_t n;
    const CrashBytes *all = crash_bytes(r->crash, f, &n);
    if (!n)
        return;
    str_addf(r->out, "%s\n", head);
    for (size_t i = 0; i < n; i++)
        piece(r, &all[i]);
}

static void frames(Review *r)
{
    for (size_t f = 0; f < crash_nframes(r->crash); f++) {
        const CrashFrame *fr = crash_frame(r->crash, f);
        Str safe = { 0 };
        escape_terminal_z(&safe, fr->symbol);
        str_addf(r->out, "frame %zu, %s: argument words", f, str_c(&safe));
        for (unsigned i = 0; i < fr->nslots; i++)
            str_addf(r->out, " 0x%" PRIx64, fr->slots[i]);
        str_addc(r->out, '\n');
        char *head = xprintf("copied when %s was entered:", str_c(&safe));
        layer(r, head, f);
        free(head);
        str_release(&safe);
        r->total += fr->nslots * 8u;
    }
}

static void files(Review *r)
{
    size_t n;
    const CrashFile *all = crash_files(r->crash, &n);
    for (size_t i = 0; i < n; i++) {
        str_addf(r->out, "%zu bytes of the file at descriptor %d%s", all[i].n, all[i].fd,
                 all[i].name ? ", " : "");
        if (all[i].name)
            escape_terminal(r->out, all[i].name, strlen(all[i].name));
        str_addf(r->out, ", from %" PRIu64 " on:\n", all[i].start);
        hex(r, all[i].bytes, all[i].n, "    ");
        r->total += all[i].n;
    }
}

static void head(Review *r)
{
    const CrashFailure *f = crash_failure(r->crash);
    Str text = { 0 };
    str_addf(&text, "program %s, build text '%s', key %s, copies: %s; said: '%s'",
             crash_program(r->crash), crash_build(r->crash), crash_key(r->crash),
             crash_strategy(r->crash), f->text);
    escape_terminal(r->out, text.data, text.len);
    str_addc(r->out, '\n');
    str_release(&text);
    if (crash_is_cut_short(r->crash))
        str_add(r->out, "the file is cut short or damaged: what could be read is shown\n");
    if (!r->program)
        str_add(r->out, "the program is not in this workspace: bytes are shown without "
                        "types\n");
}

bool review(Session *s, const char *path, Err *err)
{
    Crash *c = crash_open(path, err);
    if (!c)
        return false;
    Program *p = desk_program(s, c, NULL);
    if (!p)
        workspace_discard(session_workspace(s));    /* if it is new and empty */
    Review r = { .crash = c, .program = p, .out = session_out(s) };
    if (p)
        r.types = types_all(program_types(p), &r.ntypes);
    head(&r);
    frames(&r);
    layer(&r, "memory at the crash:", crash_nframes(c));
    files(&r);
    str_addf(r.out, "%" PRIu64 " bytes of the program's data in all\n", r.total);
    program_close(p);
    crash_close(c);
    return true;
}
