/*
 * Reading a crash file.
 *
 * The whole file is in memory; what is handed out points into it. One pass
 * sorts the records into tables. A record that contradicts itself (a length
 * beyond the file, an object that wraps around the address space, a copy for a
 * frame that is not there) is left out, and the file then counts as cut short:
 * what stands before it is good.
 *
 * Memory is looked up in layers, each a list of byte ranges by address:
 *
 *     copies of frame f   [40..58)         [80..88)
 *     copies of f-1            [50..70)
 *     …
 *     copies of frame 0
 *     memory              [00....................90)
 *
 * A byte comes from the uppermost layer that has it.
 */
#include "engine/record/crash.h"
#include "base/map.h"
#include "base/file.h"
#include "base/vec.h"
#include "weave/weave.h"
#include "runtime/format/crashfile.h"
#include "runtime/format/tables.h"
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#define MOST_BYTES  (1 << 30)           /* of a crash file that is read at all */
#define MOST_FRAMES 65536

typedef struct Layer {
    CrashBytes *items;                 /* by address; they may overlap */
    size_t len, cap;
    uint64_t widest;                   /* the longest of them */
} Layer;

/* What is mapped executable: a line of /proc/self/maps. */
typedef struct Mapping {
    uint64_t from, to, offset;
    const char *path;
} Mapping;

struct Crash {
    Arena arena;
    Str data;
    bool whole;                        /* the end record is there */
    bool damaged;                      /* a record was left out */
    const char *key, *program, *build;
    uint32_t strategy, variant;
    uint64_t slide;
    CrashFailure failure;
    bool failed;                       /* a failure record was there */
    const uint64_t *stack;
    size_t nstack;
    Vec(CrashFrame) frames;
    Vec(Layer) copies;                 /* one a frame */
    Layer memory;
    Vec(CrashObject) objects;
    uint64_t *reach;                   /* the largest end of objects[0 … i] */
    Vec(CrashFile) files;
    Vec(CrashLack) lacks;
    Vec(Mapping) maps;
    struct external {
        uint64_t address;
        const char *symbol;
    } *externals;
    size_t nexternals, cap_externals;
};

/* A record's payload while it is read. */
typedef struct Reader {
    const uint8_t *at;
    size_t left;
} Reader;

/* The next `n` bytes into `to`; false: there are fewer. */
static bool take(Reader *r, void *to, size_t n)
{
    if (r->left < n)
        return false;
    memcpy(to, r->at, n);
    r->at += n;
    r->left -= n;
    return true;
}

/* An array of numbers, aligned. */
static const uint64_t *take_words(Crash *c, Reader *r, size_t n)
{
    if (n > r->left / 8)
        return NULL;
    uint64_t *words = arena_array(&c->arena, uint64_t, n + 1);
    take(r, words, n * 8);
    return words;
}

static const char *take_text(Crash *c, Reader *r)
{
    return arena_strndup(&c->arena, (const char *)r->at, r->left);
}

/* ---- one function a record */

static bool read_build(Crash *c, Reader *r)
{
    SundewBuild b;
    if (!take(r, &b, sizeof b) || (b.strategy & 0xff) > 3)
        return false;
    char *text = (char *)take_text(c, r);
    char *program = strchr(text, '\n');
    if (!program)
        return false;
    *program++ = 0;
    char *build = strchr(program, '\n');
    if (build)
        *build++ = 0;
    c->key = text;
    c->program = program;
    c->build = build ? build : "";
    c->slide = b.slide;
    c->strategy = b.strategy & 0xff;
    c->variant = b.strategy >> 8;
    return true;
}

static bool read_failure(Crash *c, Reader *r)
{
    SundewFailure f;
    if (!take(r, &f, sizeof f) || f.kind < SUNDEW_FAIL_SIGNAL || f.kind > SUNDEW_FAIL_EXIT ||
        f.access > SUNDEW_EXECUTE)
        return false;
    c->failure = (CrashFailure){
        .kind = f.kind,
        .signal = f.signal,
        .access = f.access,
        .address = f.address,
        .pc = f.pc,
        .nowhere = f.code == SI_KERNEL,
        .text = take_text(c, r),
    };
    c->failed = true;
    return true;
}

static bool read_stack(Crash *c, Reader *r)
{
    SundewStack s;
    if (!take(r, &s, sizeof s))
        return false;
    const uint64_t *words = take_words(c, r, s.count);
    if (words && s.thread == 0 && !c->stack) {
        c->stack = words;
        c->nstack = s.count;
    }
    return words != NULL;
}

static bool read_frame(Crash *c, Reader *r)
{
    SundewFrameRecord f;
    if (!take(r, &f, sizeof f) || f.frame != c->frames.len || c->frames.len >= MOST_FRAMES)
        return false;
    CrashFrame frame = {
        .function = f.function, .flags = f.flags, .nslots = f.nslots, .nlocals = f.nlocals
    };
    frame.slots = take_words(c, r, f.nslots);
    frame.locals = take_words(c, r, f.nlocals);
    if (!frame.slots || !frame.locals)
        return false;
    frame.symbol = take_text(c, r);
    vec_push(&c->frames, frame);
    vec_grow(&c->copies);
    return true;
}

static bool wraps(uint64_t address, uint64_t size) { return address + size < address; }

static bool read_copy(Crash *c, Reader *r)
{
    SundewCopyRecord k;
    if (!take(r, &k, sizeof k) || k.frame >= c->copies.len || wraps(k.address, r->left))
        return false;
    CrashBytes b = { .address = k.address, .type = k.type, .bytes = r->at, .n = r->left };
    if (b.n)
        vec_push(&c->copies.items[k.frame], b);
    return true;
}

static bool read_memory(Crash *c, Reader *r)
{
    SundewMemory m;
    if (!take(r, &m, sizeof m) || wraps(m.address, m.size) || m.place < SUNDEW_HEAP ||
        m.place > SUNDEW_ARGUMENT || m.offset > m.size || r->left > m.size - m.offset)
        return false;
    CrashBytes b = { .address = m.address + m.offset,
                     .type = m.type,
                     .hidden = m.hidden,
                     .bytes = r->at,
                     .n = r->left };
    CrashObject o = { .address = m.address, .size = m.size, .place = m.place, .type = m.type };
    bool freed = m.place == SUNDEW_FREED;
    o.variable = freed ? 0 : m.variable;
    o.alive_in = freed && m.variable ? m.variable - 1 : UINT32_MAX;
    if (b.n)
        vec_push(&c->memory, b);
    vec_push(&c->objects, o);
    return true;
}

static bool read_file(Crash *c, Reader *r)
{
    SundewFileRecord f;
    if (!take(r, &f, sizeof f))
        return false;
    CrashFile file = { .address = f.address,
                       .fd = f.fd,
                       .flags = f.flags,
                       .position = f.position,
                       .start = f.start,
                       .bytes = r->at,
                       .n = r->left };
    vec_push(&c->files, file);
    return true;
}

/* The test's files get these names: none leads out of its folder, or is one of ours. */
static bool is_below(const char *name)
{
    if (!*name || str_ends(name, "/"))
        return false;
    for (const char *part = name; *part; part += *part == '/') {
        if (*part == '/' || *part == '.')
            return false;
        for (; *part && *part != '/'; part++)
            if ((unsigned char)*part < ' ' || *part == 127)
                return false;
    }
    return true;
}

static bool read_file_name(Crash *c, Reader *r)
{
    uint64_t address;
    if (!take(r, &address, sizeof address))
        return false;
    const char *name = take_text(c, r);
    for (size_t i = 0; i < c->files.len && is_below(name); i++)
        if (c->files.items[i].address == address)
            c->files.items[i].name = name;
    return true;
}

/* A test names it to the assembler, which would take anything else as its own language. */
static bool is_symbol(const char *s)
{
    return *s &&
           s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$@")] == 0;
}

static bool read_external(Crash *c, Reader *r)
{
    uint64_t address;
    if (!take(r, &address, sizeof address))
        return false;
    const char *name = take_text(c, r);
    if (!is_symbol(name))
        return true;                    /* nobody's: left out */
    c->externals = vec_room(c->externals, c->nexternals, &c->cap_externals, sizeof *c->externals);
    c->externals[c->nexternals++] = (struct external){ address, name };
    return true;
}

static bool read_missing(Crash *c, Reader *r)
{
    SundewMissing m;
    if (!take(r, &m, sizeof m))
        return false;
    CrashLack k = { .code = m.code,
                    .frame = m.frame,
                    .address = m.address,
                    .amount = m.amount,
                    .text = take_text(c, r) };
    vec_push(&c->lacks, k);
    return true;
}

/* "55d0-55d4 r-xp 00001000 08:01 1234   /usr/bin/prog" */
static bool read_maps(Crash *c, Reader *r)
{
    char *line = (char *)take_text(c, r), *next;
    for (; line && *line; line = next) {
        unsigned long long from, to, offset;
        int path = 0;
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %n", &from, &to, &offset, &path) < 3 ||
            !path || !line[path] || to <= from)
            continue;
        Mapping m = { from, to, offset, line + path };
        vec_push(&c->maps, m);
    }
    return true;
}

static bool read_record(Crash *c, uint32_t tag, Reader r)
{
    switch (tag) {
    case SUNDEW_REC_BUILD: return read_build(c, &r);
    case SUNDEW_REC_FAILURE: return read_failure(c, &r);
    case SUNDEW_REC_STACK: return read_stack(c, &r);
    case SUNDEW_REC_FRAME: return read_frame(c, &r);
    case SUNDEW_REC_COPY: return read_copy(c, &r);
    case SUNDEW_REC_MEMORY: return read_memory(c, &r);
    case SUNDEW_REC_FILE: return read_file(c, &r);
    case SUNDEW_REC_FILE_NAME: return read_file_name(c, &r);
    case SUNDEW_REC_EXTERNAL: return read_external(c, &r);
    case SUNDEW_REC_MAPS: return read_maps(c, &r);
    case SUNDEW_REC_MISSING: return read_missing(c, &r);
    case SUNDEW_REC_END: c->whole = true; return true;
    default: return true;           /* of a later version */
    }
}

static void read_records(Crash *c)
{
    const uint8_t *data = (const uint8_t *)c->data.data;
    size_t at = 16, size = c->data.len;
    while (!c->whole && size - at >= 8) {
        uint32_t head[2];
        memcpy(head, data + at, sizeof head);
        at += 8;
        if (head[1] > size - at)
            break;
        if (!read_record(c, head[0], (Reader){ data + at, head[1] }))
            c->damaged = true;
        size_t step = ((size_t)head[1] + 7) & ~(size_t)7;
        if (step > size - at)
            break;
        at += step;
    }
}

/* ---- putting it in order */

static int by_address(const void *x, const void *y)
{
    const CrashBytes *a = x, *b = y;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->n > b->n ? -1 : a->n < b->n;
}

static int by_place(const void *x, const void *y)
{
    const CrashObject *a = x, *b = y;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static void sort_layer(Layer *l)
{
    if (l->len)
        qsort(l->items, l->len, sizeof *l->items, by_address);
    for (size_t i = 0; i < l->len; i++)
        if (l->items[i].n > l->widest)
            l->widest = l->items[i].n;
}

/* The first range of a layer that may hold bytes at or behind `address`. */
static size_t first_range(const Layer *l, uint64_t address)
{
    uint64_t from = address > l->widest ? address - l->widest : 0;
    size_t low = 0, high = l->len;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (l->items[mid].address < from)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Fills in what is not known yet; how much that was. */
static size_t read_layer(const Layer *l, uint64_t address, uint8_t *bytes, size_t n, bool *known)
{
    size_t found = 0;
    for (size_t i = first_range(l, address); i < l->len; i++) {
        const CrashBytes *b = &l->items[i];
        if (b->address >= address && b->address - address >= n)
            break;
        uint64_t from = b->address > address ? b->address : address;
        uint64_t to = b->address + b->n;
        if (to > address && to - address > n)
            to = address + n;
        for (uint64_t a = from; a < to; a++)
            if (!known[a - address]) {
                bytes[a - address] = b->bytes[a - b->address];
                known[a - address] = true;
                found++;
            }
    }
    return found;
}

/* Several records of one object become one; `complete` and `reach` are set. */
static void settle_objects(Crash *c)
{
    size_t kept = 0, n = c->objects.len;
    if (!n)
        return;
    qsort(c->objects.items, n, sizeof *c->objects.items, by_place);
    for (size_t i = 0; i < n; i++) {
        CrashObject *o = &c->objects.items[i];
        CrashObject *last = kept ? &c->objects.items[kept - 1] : NULL;
        if (last && last->address == o->address && last->size == o->size) {
            if (!last->type)
                last->type = o->type;
            continue;
        }
        c->objects.items[kept++] = *o;
    }
    c->objects.len = kept;
    c->reach = arena_array(&c->arena, uint64_t, kept);
    uint64_t effort = 64 * (uint64_t)c->data.len;     /* objects may overlap */
    for (size_t i = 0; i < kept; i++) {
        CrashObject *o = &c->objects.items[i];
        uint64_t end = o->address + o->size;
        c->reach[i] = i && c->reach[i - 1] > end ? c->reach[i - 1] : end;
        o->complete = false;
        if (o->size <= c->data.len && o->size <= effort) {
            effort -= o->size;
            uint8_t *bytes = xmalloc(o->size + 1);
            bool *known = xcalloc(o->size + 1, 1);
            o->complete = read_layer(&c->memory, o->address, bytes, o->size, known) == o->size;
            free(bytes);
            free(known);
        }
    }
}

/* ---- opening */

static bool check_head(const Crash *c, Err *err)
{
    uint32_t version;
    if (c->data.len < 16 || memcmp(c->data.data, SUNDEW_CRASH_MAGIC, 8) != 0)
        return err_set(err, "not a crash file of a monitored program");
    memcpy(&version, c->data.data + 8, 4);
    if (version != SUNDEW_CRASH_VERSION)
        return err_set(err,
                       "a crash file of version %u; this Sundew reads "
                       "version %u",
                       version, (unsigned)SUNDEW_CRASH_VERSION);
    return true;
}

Crash *crash_open(const char *path, Err *err)
{
    Crash *c = xcalloc(1, sizeof *c);
    if (file_exists(path) && !file_is_regular(path)) {
        err_set(err, "not a regular file");
        goto fail;
    }
    if (file_size(path) > MOST_BYTES) {
        err_set(err, "too large for a crash file");
        goto fail;
    }
    if (!file_read(path, &c->data, err)) {
        crash_close(c);
        return NULL;
    }
    if (!check_head(c, err))
        goto fail;
    read_records(c);
    if (!c->key || !c->failed) {
        err_set(err, "cut short before it says what failed");
        goto fail;
    }
    for (size_t f = 0; f < c->copies.len; f++)
        sort_layer(&c->copies.items[f]);
    sort_layer(&c->memory);
    settle_objects(c);
    return c;

fail:
    err_ctx(err, "%s", path);
    crash_close(c);
    return NULL;
}

void crash_close(Crash *c)
{
    if (!c)
        return;
    for (size_t f = 0; f < c->copies.len; f++)
        vec_release(&c->copies.items[f]);
    vec_release(&c->copies);
    vec_release(&c->frames);
    vec_release(&c->memory);
    vec_release(&c->objects);
    vec_release(&c->files);
    vec_release(&c->lacks);
    vec_release(&c->maps);
    free(c->externals);
    str_release(&c->data);
    arena_release(&c->arena);
    free(c);
}

bool crash_is_cut_short(const Crash *c) { return !c->whole || c->damaged; }
const char *crash_key(const Crash *c) { return c->key; }
const char *crash_program(const Crash *c) { return c->program; }
const char *crash_build(const Crash *c) { return c->build; }
uint64_t crash_slide(const Crash *c) { return c->slide; }
const CrashFailure *crash_failure(const Crash *c) { return &c->failure; }
size_t crash_nframes(const Crash *c) { return c->frames.len; }
size_t crash_nobjects(const Crash *c) { return c->objects.len; }

uint32_t crash_variant(const char *how)
{
    return (uint32_t)hash_bytes(how, strlen(how)) & 0xffffff;
}

char *crash_executable(const char *workspace, const char *key, const char *program,
                       const char *strategy, uint32_t variant)
{
    char *safe_key = path_safe_name(key), *name = path_safe_name(program);
    char *path =
        xprintf("%s/monitored/%s/%s.%s.%06" PRIx32, workspace, safe_key, name, strategy, variant);
    free(safe_key);
    free(name);
    return path;
}

char *crash_executable_of(const Crash *c, const char *workspace)
{
    return crash_executable(workspace, crash_key(c), crash_program(c), crash_strategy(c),
                            c->variant);
}

const char *crash_strategy(const Crash *c) { return copy_strategy_name((CopyStrategy)c->strategy); }

const uint64_t *crash_stack(const Crash *c, size_t *n)
{
    *n = c->nstack;
    return c->stack;
}

const char *crash_mapped(const Crash *c, uint64_t address, uint64_t *offset)
{
    for (size_t i = 0; i < c->maps.len; i++) {
        const Mapping *m = &c->maps.items[i];
        if (address >= m->from && address < m->to) {
            *offset = address - m->from + m->offset;
            return m->path;
        }
    }
    return NULL;
}

const CrashFrame *crash_frame(const Crash *c, size_t f)
{
    return f < c->frames.len ? &c->frames.items[f] : NULL;
}

const CrashObject *crash_object(const Crash *c, size_t i)
{
    return i < c->objects.len ? &c->objects.items[i] : NULL;
}

/* The better answer for an address: inside before just behind, known extents
 * before guessed ones, live before freed, small before large. */
static bool is_better(const CrashObject *o, const CrashObject *than, uint64_t address)
{
    if (!than)
        return true;
    bool in = address < o->address + o->size;
    bool than_in = address < than->address + than->size;
    if (in != than_in)
        return in;
    if ((o->place == SUNDEW_GUESSED) != (than->place == SUNDEW_GUESSED))
        return o->place != SUNDEW_GUESSED;
    if ((o->place == SUNDEW_FREED) != (than->place == SUNDEW_FREED))
        return o->place != SUNDEW_FREED;
    return o->size < than->size;
}

const CrashObject *crash_object_at(const Crash *c, uint64_t address)
{
    size_t low = 0, high = c->objects.len;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (c->objects.items[mid].address <= address)
            low = mid + 1;
        else
            high = mid;
    }
    const CrashObject *best = NULL;
    for (size_t i = low; i-- > 0 && c->reach[i] >= address;) {
        const CrashObject *o = &c->objects.items[i];
        if (address <= o->address + o->size && is_better(o, best, address))
            best = o;
    }
    return best;
}

size_t crash_read(const Crash *c, size_t f, uint64_t address, uint8_t *bytes, size_t n, bool *known)
{
    if (wraps(address, n))
        n = (size_t)(UINT64_MAX - address);
    bool *have = known ? known : xmalloc(n + 1);
    memset(have, 0, n);
    memset(bytes, 0, n);
    size_t found = 0, deep = f < c->copies.len ? f + 1 : 0;
    for (size_t k = deep; k-- > 0 && found < n;)
        found += read_layer(&c->copies.items[k], address, bytes, n, have);
    if (found < n)
        found += read_layer(&c->memory, address, bytes, n, have);
    if (!known)
        free(have);
    return found;
}

bool crash_was_copied(const Crash *c, size_t f, uint64_t address)
{
    size_t deep = f < c->copies.len ? f + 1 : 0;
    uint8_t byte;
    for (size_t k = deep; k-- > 0;) {
        bool known = false;
        if (read_layer(&c->copies.items[k], address, &byte, 1, &known))
            return true;
    }
    return false;
}

const CrashBytes *crash_bytes(const Crash *c, size_t f, size_t *n)
{
    const Layer *l = f < c->copies.len ? &c->copies.items[f] : &c->memory;
    *n = l->len;
    return l->items;
}

const CrashFile *crash_file_at(const Crash *c, uint64_t address)
{
    for (size_t i = 0; i < c->files.len; i++)
        if (c->files.items[i].address == address)
            return &c->files.items[i];
    return NULL;
}

const CrashFile *crash_files(const Crash *c, size_t *n)
{
    *n = c->files.len;
    return c->files.items;
}

const char *crash_external(const Crash *c, uint64_t address)
{
    for (size_t i = 0; i < c->nexternals; i++)
        if (c->externals[i].address == address)
            return c->externals[i].symbol;
    return NULL;
}

const CrashLack *crash_lacks(const Crash *c, size_t *n)
{
    *n = c->lacks.len;
    return c->lacks.items;
}
