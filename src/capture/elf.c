#include "capture/elf.h"
#include "base/file.h"
#include "base/sha256.h"
#include <assert.h>
#include <ar.h>
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "SUNDEW1 "
enum { MAGIC_LEN = 8, RECORD_LEN = MAGIC_LEN + ID_LEN };
static const char section_name[] = ".sundew";

/* The few fields we need, whatever the class and the byte order. */
typedef struct Elf {
    const unsigned char *data;
    size_t size;
    bool wide, big;            /* 64 bits; big endian */
    uint64_t shoff, phoff;
    size_t shentsize, shnum, shstrndx, phentsize, phnum;
    unsigned type;
} Elf;

typedef struct Section {
    uint32_t name, type, link;
    uint64_t flags, offset, size;
} Section;

static uint64_t get(const Elf *e, uint64_t at, size_t width)
{
    uint64_t v = 0;
    if (at > e->size || width > e->size - at)
        return 0;
    for (size_t i = 0; i < width; i++)
        v |= (uint64_t)e->data[at + i] << 8 * (e->big ? width - 1 - i : i);
    return v;
}

static void put(char *at, uint64_t v, size_t width, bool big)
{
    for (size_t i = 0; i < width; i++)
        at[i] = (char)(v >> 8 * (big ? width - 1 - i : i));
}

static bool read_section(const Elf *e, size_t i, Section *s)
{
    uint64_t at = e->shoff + i * e->shentsize;
    if (i >= e->shnum || at > e->size || e->shentsize > e->size - at)
        return false;
    *s = (Section){ .name = (uint32_t)get(e, at, 4), .type = (uint32_t)get(e, at + 4, 4) };
    if (e->wide) {
        s->flags = get(e, at + 8, 8);
        s->offset = get(e, at + 24, 8);
        s->size = get(e, at + 32, 8);
        s->link = (uint32_t)get(e, at + 40, 4);
    } else {
        s->flags = get(e, at + 8, 4);
        s->offset = get(e, at + 16, 4);
        s->size = get(e, at + 20, 4);
        s->link = (uint32_t)get(e, at + 24, 4);
    }
    return s->type == SHT_NOBITS || (s->offset <= e->size && s->size <= e->size - s->offset) ||
           i == 0;
}

/* False: no ELF file, or one without a sound header. */
static bool parse(const char *data, size_t n, Elf *e)
{
    *e = (Elf){ .data = (const unsigned char *)data, .size = n };
    if (n < 52 || memcmp(data, ELFMAG, SELFMAG) != 0)
        return false;
    e->wide = data[EI_CLASS] == ELFCLASS64;
    e->big = data[EI_DATA] == ELFDATA2MSB;
    if (e->wide && n < 64)
        return false;
    e->type = (unsigned)get(e, 16, 2);
    e->phoff = e->wide ? get(e, 32, 8) : get(e, 28, 4);
    e->shoff = e->wide ? get(e, 40, 8) : get(e, 32, 4);
    size_t at = e->wide ? 54 : 42;
    e->phentsize = get(e, at, 2);
    e->phnum = get(e, at + 2, 2);
    e->shentsize = get(e, at + 4, 2);
    e->shnum = get(e, at + 6, 2);
    e->shstrndx = get(e, at + 8, 2);
    if (e->shoff == 0 || e->shoff > n)
        return e->shoff == 0;
    if (e->shentsize != (e->wide ? 64u : 40u))
        return false;
    /* More sections than 16 bits hold: the first one's fields count. */
    Section first;
    size_t few = e->shnum;
    e->shnum = few ? few : 1;
    if (!read_section(e, 0, &first))
        return false;
    if (few == 0)
        e->shnum = first.size;
    if (e->shstrndx == SHN_XINDEX)
        e->shstrndx = first.link;
    return e->shnum <= (n - e->shoff) / e->shentsize;
}

/* The section that holds the sections' names, if it is inside the file. */
static bool section_names(const Elf *e, Section *s)
{
    return read_section(e, e->shstrndx, s) && s->type != SHT_NOBITS && s->offset <= e->size &&
           s->size <= e->size - s->offset;
}

/* The name of a section; "" if it has none that can be read. */
static const char *name_of(const Elf *e, const Section *s)
{
    Section names;
    if (!section_names(e, &names) || s->name >= names.size)
        return "";
    const char *p = (const char *)e->data + names.offset + s->name;
    return memchr(p, 0, names.size - s->name) ? p : "";
}

/* The index of the section of that name; 0 if there is none. */
static size_t find(const Elf *e, const char *name, Section *s)
{
    assert(!e->shoff || e->shnum <= (e->size - e->shoff) / e->shentsize);    /* parse() */
    for (size_t i = 1; e->shoff && i < e->shnum; i++)
        if (read_section(e, i, s) && s->type != SHT_NOBITS && strcmp(name_of(e, s), name) == 0)
            return i;
    return 0;
}

/* A position-independent executable is of the same type as a shared library;
 * it asks for an interpreter or says so in its dynamic flags. */
static bool is_pie(const Elf *e)
{
    for (size_t i = 0; i < e->phnum; i++) {
        uint64_t at = e->phoff + i * e->phentsize;
        uint64_t type = get(e, at, 4);
        if (type == PT_INTERP)
            return true;
        if (type != PT_DYNAMIC)
            continue;
        size_t w = e->wide ? 8 : 4;
        uint64_t off = get(e, at + (e->wide ? 8 : 4), w);
        uint64_t size = get(e, at + (e->wide ? 32 : 16), w);
        for (uint64_t d = 0; d + 2 * w <= size && off + d < e->size; d += 2 * w)
            if (get(e, off + d, w) == DT_FLAGS_1)
                return get(e, off + d + w, w) & DF_1_PIE;
    }
    return false;
}

ElfKind elf_kind(const char *data, size_t n)
{
    Elf e;
    if (!parse(data, n, &e))
        return ELF_NONE;
    switch (e.type) {
    case ET_REL: return ELF_OBJECT;
    case ET_EXEC: return ELF_EXECUTABLE;
    case ET_DYN: return is_pie(&e) ? ELF_EXECUTABLE : ELF_SHARED;
    default: return ELF_OTHER;
    }
}

bool elf_ids(const char *data, size_t n, Strings *ids)
{
    Elf e;
    Section s;
    if (!parse(data, n, &e))
        return false;
    if (!find(&e, section_name, &s))
        return true;
    assert(s.offset <= n && s.size <= n - s.offset);
    const char *p = data + s.offset, *end = p + s.size;
    while (end - p >= RECORD_LEN) {
        if (memcmp(p, MAGIC, MAGIC_LEN) != 0) {
            p++;
            continue;
        }
        vec_push(ids, xstrndup(p + MAGIC_LEN, ID_LEN));
        if (strspn(ids->items[ids->len - 1], "0123456789abcdef") != ID_LEN)
            free(ids->items[--ids->len]);
        p += RECORD_LEN;
    }
    return true;
}

bool elf_exports(const char *data, size_t n, Map *names)
{
    Elf e;
    Section symbols, text;
    if (!parse(data, n, &e) || !find(&e, ".dynsym", &symbols) || !find(&e, ".dynstr", &text))
        return false;
    size_t width = e.wide ? 24 : 16;
    for (uint64_t at = symbols.offset; at + width <= symbols.offset + symbols.size; at += width) {
        uint64_t name = get(&e, at, 4);
        unsigned info = (unsigned)get(&e, at + (e.wide ? 4 : 12), 1);
        unsigned section = (unsigned)get(&e, at + (e.wide ? 6 : 14), 2);
        const char *p = data + text.offset + name;
        if (section == SHN_UNDEF || info >> 4 == STB_LOCAL || name >= text.size ||
            !memchr(p, 0, text.size - name))
            continue;
        map_put(names, p, NULL);
    }
    return true;
}

void elf_compiler(const char *data, size_t n, Str *out)
{
    Elf e;
    Section s;
    if (!parse(data, n, &e) || !find(&e, ".comment", &s))
        return;
    assert(s.offset <= n && s.size <= n - s.offset);
    const char *p = data + s.offset, *end = p + s.size;
    while (p < end && !*p)
        p++;
    str_addn(out, p, strnlen(p, (size_t)(end - p)));
}

static bool is_word(const char *s, size_t n)
{
    enum { SHORTEST = 2, LONGEST = 32 };
    for (size_t i = 0; i < n; i++)
        if (s[i] <= ' ' || s[i] > '~')
            return false;
    return n >= SHORTEST && n <= LONGEST;
}

void elf_words(const char *data, size_t n, size_t most, Strings *out)
{
    Elf e;
    Section s;
    if (!parse(data, n, &e) || !find(&e, ".rodata", &s))
        return;
    assert(s.offset <= n && s.size <= n - s.offset);
    const char *p = data + s.offset, *end = p + s.size;
    for (size_t found = 0; p < end && found < most;) {
        size_t len = strnlen(p, (size_t)(end - p));
        if (p + len < end && is_word(p, len)) {
            strings_addf(out, "%.*s", (int)len, p);
            found++;
        }
        p += len + 1;
    }
}

static void pad(Str *out, size_t align)
{
    while (out->len % align)
        str_addc(out, 0);
}

/* Writes the fields of section header `at` that we set. */
static void set_section(char *at, const Elf *e, uint64_t offset, uint64_t size)
{
    put(at + (e->wide ? 24 : 16), offset, e->wide ? 8 : 4, e->big);
    put(at + (e->wide ? 32 : 20), size, e->wide ? 8 : 4, e->big);
}

/*
 * The new section, a copy of the section names and a copy of the table of
 * section headers are put behind the file; the old ones stay as dead bytes:
 *
 *     old file … | records | names + ".sundew" | headers + one more
 */
bool elf_with_ids(const char *data, size_t n, char *const *ids, size_t nids, Str *out, Err *err)
{
    Elf e;
    Section names, old;
    if (!parse(data, n, &e))
        return err_set(err, "not an ELF file");
    if (e.shoff == 0 || !section_names(&e, &names))
        return err_set(err, "no section table");
    size_t present = find(&e, section_name, &old);

    str_addn(out, data, n);
    size_t records_at = out->len;
    for (size_t i = 0; i < nids; i++)
        str_addf(out, MAGIC "%s", ids[i]);
    size_t names_at = out->len;
    str_addn(out, data + names.offset, names.size);
    str_addn(out, section_name, sizeof section_name);
    pad(out, 8);
    size_t table_at = out->len;
    str_addn(out, data + e.shoff, e.shnum * e.shentsize);
    if (!e.wide && out->len > UINT32_MAX)
        return err_set(err, "too large");

    size_t count = e.shnum, mine = present;
    if (!present) {
        mine = count++;
        for (size_t i = 0; i < e.shentsize; i++)
            str_addc(out, 0);
    }
    char *table = out->data + table_at, *h = table + mine * e.shentsize;
    set_section(h, &e, records_at, names_at - records_at);
    if (!present) {
        put(h, names.size, 4, e.big);                      /* name */
        put(h + 4, SHT_PROGBITS, 4, e.big);
        put(h + (e.wide ? 48 : 32), 1, e.wide ? 8 : 4, e.big);  /* align */
    }
    set_section(table + e.shstrndx * e.shentsize, &e, names_at, names.size + sizeof section_name);
    put(out->data + (e.wide ? 40 : 32), table_at, e.wide ? 8 : 4, e.big);
    bool few = get(&e, e.wide ? 60 : 48, 2) != 0;
    if (few && count < SHN_LORESERVE) {
        put(out->data + (e.wide ? 60 : 48), count, 2, e.big);
    } else {
        put(out->data + (e.wide ? 60 : 48), 0, 2, e.big);
        set_section(table, &e, 0, count);
    }
    return true;
}

bool archive_is(const char *data, size_t n)
{
    return n >= SARMAG &&
           (memcmp(data, ARMAG, SARMAG) == 0 || memcmp(data, "!<thin>\n", SARMAG) == 0);
}

/* "name/", or "/123" into the table of long names; copied without the slash. */
static char *member_name(const struct ar_hdr *h, const char *names, size_t nnames)
{
    const char *p = h->ar_name;
    size_t n = sizeof h->ar_name;
    if (p[0] == '/' && p[1] >= '0' && p[1] <= '9') {
        size_t at = strtoul(p + 1, NULL, 10);
        if (at >= nnames)
            return xstrdup("?");
        p = names + at;
        n = nnames - at;
        const char *end = memchr(p, '\n', n);
        n = end ? (size_t)(end - p) : n;
    }
    while (n && (p[n - 1] == ' ' || p[n - 1] == '/'))
        n--;
    return xstrndup(p, n);
}

bool archive_members(const char *path, const char *data, size_t n, ArchiveMembers *out, Err *err)
{
    bool thin = n > 2 && data[2] == 't';
    const char *names = "";
    size_t nnames = 0, at = SARMAG;
    if (!archive_is(data, n))
        return err_set(err, "%s: not an archive", path);
    while (at + sizeof(struct ar_hdr) <= n) {
        const struct ar_hdr *h = (const struct ar_hdr *)(data + at);
        char digits[sizeof h->ar_size + 1] = "";
        memcpy(digits, h->ar_size, sizeof h->ar_size);
        if (memcmp(h->ar_fmag, ARFMAG, 2) != 0)
            return err_set(err, "%s: damaged archive", path);
        size_t size = strtoul(digits, NULL, 10);
        at += sizeof *h;
        bool special = h->ar_name[0] == '/' &&
                       (h->ar_name[1] == ' ' || h->ar_name[1] == '/' || h->ar_name[1] == 'S');
        bool inside = special || !thin;
        if (inside && size > n - at)
            return err_set(err, "%s: archive cut short", path);
        if (special && h->ar_name[1] == '/') {
            names = data + at;
            nnames = size;
        } else if (!special) {
            ArchiveMember *m = vec_grow(out);
            m->name = member_name(h, names, nnames);
            m->data = data + at;
            m->size = size;
            if (thin) {
                char *dir = path_dir(path);
                char *file = path_join(dir, m->name);
                /* a lost one is empty, and so is what is no file */
                if (file_is_regular(file) && file_size(file) < (int64_t)1 << 30)
                    file_read(file, &m->own, NULL);
                m->data = str_c(&m->own);
                m->size = m->own.len;
                free(dir);
                free(file);
            }
        }
        if (inside)
            at += size + (size & 1);
    }
    return true;
}

void archive_members_release(ArchiveMembers *m)
{
    for (size_t i = 0; i < m->len; i++) {
        free(m->items[i].name);
        str_release(&m->items[i].own);
    }
    vec_release(m);
}
