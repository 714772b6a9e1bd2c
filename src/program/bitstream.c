/*
 * The container: a stream of abbreviation ids, each `width` bits wide, where
 * the width is set by the block that is being read:
 *
 *     0 END_BLOCK      align to 32 bits
 *     1 ENTER_SUBBLOCK [block id vbr8, new width vbr4, align, words u32]
 *     2 DEFINE_ABBREV  [n vbr5, n x op]; in BLOCKINFO for another block
 *     3 UNABBREV       [code vbr6, n vbr6, n x vbr6]
 *     4… an abbreviation of this block: first those of BLOCKINFO, then its own
 *
 * An op of an abbreviation is a literal, a fixed or variable width field, a
 * char6, an array (of the op that follows) or a blob.
 */
#include "program/bitstream.h"
#include "base/vec.h"
#include <assert.h>

typedef enum { OP_LITERAL, OP_FIXED, OP_VBR, OP_ARRAY, OP_CHAR6, OP_BLOB } OpKind;

typedef struct Op {
    OpKind kind;
    uint64_t value;           /* the literal, or the width */
} Op;

typedef struct Abbrev {
    Op *ops;
    size_t n;
} Abbrev;

typedef Vec(Abbrev) Abbrevs;

enum { MOST_NESTING = 32, BLOCKINFO = 0, MOST_BLOCK_IDS = 64 };

typedef struct Frame {
    unsigned id, width;
    Abbrevs abbrevs;          /* items shared with `info` below; ops too */
} Frame;

typedef struct Reader {
    BitReader public;
    const unsigned char *data;
    size_t bits, at;
    Frame frames[MOST_NESTING];
    int depth;
    Abbrevs info[MOST_BLOCK_IDS];
    Arena arena;
    Vec(uint64_t) ops;
    bool bad;
} Reader;

static uint64_t fixed(Reader *r, unsigned width)
{
    if (width > 64 || r->bits - r->at < width) {
        r->bad = true;
        r->at = r->bits;
        return 0;
    }
    uint64_t v = 0;
    size_t byte = r->at >> 3;
    unsigned got = 0, skip = r->at & 7;
    if (r->bits / 8 - byte >= 8 && skip + width <= 64 && width < 64) {
        memcpy(&v, r->data + byte, 8);        /* little-endian, as the format */
        r->at += width;
        return (v >> skip) & ((1ull << width) - 1);
    }
    while (got < width) {
        unsigned bit = r->at & 7;
        unsigned take = 8 - bit;
        if (take > width - got)
            take = width - got;
        uint64_t part = (uint64_t)(r->data[r->at >> 3] >> bit) & ((1u << take) - 1);
        v |= part << got;
        got += take;
        r->at += take;
    }
    return v;
}

static uint64_t vbr(Reader *r, unsigned width)
{
    if (width < 2 || width > 32) {
        r->bad = true;
        return 0;
    }
    uint64_t more = 1ull << (width - 1), v = 0;
    for (unsigned shift = 0; !r->bad; shift += width - 1) {
        uint64_t part = fixed(r, width);
        if (shift < 64)
            v |= (part & (more - 1)) << shift;
        if (!(part & more))
            break;
    }
    return v;
}

bool bits_vbr(const unsigned char *data, size_t n, size_t *at, unsigned width, uint64_t *value)
{
    Reader r = { .data = data, .bits = n * 8, .at = *at };
    *value = vbr(&r, width);
    *at = r.at;
    return !r.bad;
}

static void align32(Reader *r)
{
    r->at = (r->at + 31) & ~(size_t)31;
    if (r->at > r->bits) {
        r->at = r->bits;
        r->bad = true;
    }
}

BitReader *bits_open(const void *data, size_t n, Err *err)
{
    const unsigned char *d = data;
    /* the wrapper that some targets put around it: magic, version, offset,
     * size */
    if (n >= 20 && memcmp(d, "\xde\xc0\x17\x0b", 4) == 0) {
        uint32_t offset, size;
        memcpy(&offset, d + 8, 4);
        memcpy(&size, d + 12, 4);
        if (offset > n || size > n - offset) {
            err_set(err, "broken bitcode wrapper");
            return NULL;
        }
        d += offset;
        n = size;
    }
    if (n < 4 || memcmp(d, "BC\xc0\xde", 4) != 0) {
        err_set(err, "not LLVM bitcode");
        return NULL;
    }
    Reader *r = xcalloc(1, sizeof *r);
    r->data = d;
    r->bits = n * 8;
    r->at = 32;
    r->frames[0].width = 2;
    r->frames[0].id = ~0u;
    return &r->public;
}

void bits_close(BitReader *reader)
{
    Reader *r = (Reader *)reader;
    if (!r)
        return;
    for (int i = 0; i < MOST_NESTING; i++)
        vec_release(&r->frames[i].abbrevs);
    for (int i = 0; i < MOST_BLOCK_IDS; i++)
        vec_release(&r->info[i]);
    vec_release(&r->ops);
    arena_release(&r->arena);
    free(r);
}

static Abbrev read_abbrev(Reader *r)
{
    Abbrev a = { 0 };
    size_t n = vbr(r, 5);
    if (n > 4096 || n == 0) {
        r->bad = true;
        return a;
    }
    a.ops = arena_array(&r->arena, Op, n);
    a.n = n;
    for (size_t i = 0; i < n && !r->bad; i++) {
        if (fixed(r, 1)) {
            a.ops[i] = (Op){ OP_LITERAL, vbr(r, 8) };
            continue;
        }
        unsigned kind = (unsigned)fixed(r, 3);
        if (kind < OP_FIXED || kind > OP_BLOB)
            r->bad = true;
        a.ops[i].kind = (OpKind)kind;
        if (kind == OP_FIXED || kind == OP_VBR)
            a.ops[i].value = vbr(r, 5);
    }
    return a;
}

static uint64_t read_scalar(Reader *r, const Op *op)
{
    switch (op->kind) {
    case OP_LITERAL: return op->value;
    case OP_FIXED: return op->value ? fixed(r, (unsigned)op->value) : 0;
    case OP_VBR: return op->value ? vbr(r, (unsigned)op->value) : 0;
    case OP_CHAR6:
        return (uint64_t)"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789._"[fixed(r, 6)];
    default: r->bad = true; return 0;
    }
}

static void read_blob(Reader *r)
{
    size_t n = vbr(r, 6);
    align32(r);
    if (n > (r->bits - r->at) / 8) {
        r->bad = true;
        return;
    }
    r->public.blob = r->data + r->at / 8;
    r->public.blob_len = n;
    r->at += n * 8;
    align32(r);
}

static void read_abbreviated(Reader *r, const Abbrev *a)
{
    for (size_t i = 0; i < a->n && !r->bad; i++) {
        if (a->ops[i].kind == OP_ARRAY) {
            uint64_t n = vbr(r, 6);
            if (i + 1 >= a->n || n > r->bits) {
                r->bad = true;
                return;
            }
            for (uint64_t k = 0; k < n && !r->bad; k++)
                vec_push(&r->ops, read_scalar(r, &a->ops[i + 1]));
            i++;
        } else if (a->ops[i].kind == OP_BLOB) {
            read_blob(r);
        } else {
            vec_push(&r->ops, read_scalar(r, &a->ops[i]));
        }
    }
}

static void read_unabbreviated(Reader *r)
{
    vec_push(&r->ops, vbr(r, 6));
    uint64_t n = vbr(r, 6);
    if (n > r->bits)
        r->bad = true;
    for (uint64_t i = 0; i < n && !r->bad; i++)
        vec_push(&r->ops, vbr(r, 6));
}

/* A record into ops, its code taken off the front. */
static BitsEvent read_record(Reader *r, uint64_t id)
{
    assert(r->depth >= 0 && r->depth < MOST_NESTING && id >= 3);
    Frame *f = &r->frames[r->depth];
    r->ops.len = 0;
    r->public.blob = NULL;
    r->public.blob_len = 0;
    if (id == 3)
        read_unabbreviated(r);
    else if (id - 4 < f->abbrevs.len)
        read_abbreviated(r, &f->abbrevs.items[id - 4]);
    else
        r->bad = true;
    if (r->bad || r->ops.len == 0) {
        r->bad = true;
        return BITS_BAD;
    }
    r->public.code = (unsigned)r->ops.items[0];
    r->public.ops = r->ops.items + 1;
    r->public.nops = r->ops.len - 1;
    return BITS_RECORD;
}

static bool leave(Reader *r)
{
    align32(r);
    if (r->depth == 0)
        r->bad = true;
    else
        r->frames[r->depth--].abbrevs.len = 0;
    return !r->bad;
}

/* BLOCKINFO: abbreviations for other blocks. */
static void read_blockinfo(Reader *r)
{
    unsigned about = MOST_BLOCK_IDS;
    while (!r->bad) {
        uint64_t id = fixed(r, r->frames[r->depth].width);
        if (id == 0) {
            leave(r);
            return;
        }
        if (id == 2) {
            Abbrev a = read_abbrev(r);
            if (about < MOST_BLOCK_IDS)
                vec_push(&r->info[about], a);
        } else if (id == 1) {
            r->bad = true;
        } else if (read_record(r, id) == BITS_RECORD && r->public.code == 1 && r->public.nops) {
            uint64_t block = r->public.ops[0];
            about = block < MOST_BLOCK_IDS ? (unsigned)block : MOST_BLOCK_IDS;
        }
    }
}

bool bits_enter(BitReader *reader)
{
    Reader *r = (Reader *)reader;
    unsigned width = (unsigned)vbr(r, 4);
    align32(r);
    fixed(r, 32);
    if (r->depth + 1 >= MOST_NESTING || width < 2 || width > 32)
        r->bad = true;
    if (r->bad)
        return false;
    Frame *f = &r->frames[++r->depth];
    f->id = r->public.block;
    f->width = width;
    f->abbrevs.len = 0;
    if (f->id < MOST_BLOCK_IDS)
        for (size_t i = 0; i < r->info[f->id].len; i++)
            vec_push(&f->abbrevs, r->info[f->id].items[i]);
    return true;
}

bool bits_skip(BitReader *reader)
{
    Reader *r = (Reader *)reader;
    vbr(r, 4);
    align32(r);
    uint64_t words = fixed(r, 32);
    if (words > (r->bits - r->at) / 32)
        r->bad = true;
    else
        r->at += words * 32;
    return !r->bad;
}

BitsEvent bits_next(BitReader *reader)
{
    Reader *r = (Reader *)reader;
    assert(r->at <= r->bits);
    while (!r->bad) {
        if (r->depth == 0 && r->bits - r->at < 32)
            return BITS_END;
        uint64_t id = fixed(r, r->frames[r->depth].width);
        switch (id) {
        case 0: return leave(r) ? BITS_LEAVE : BITS_BAD;
        case 1:
            r->public.block = (unsigned)vbr(r, 8);
            if (r->public.block != BLOCKINFO)
                return r->bad ? BITS_BAD : BITS_BLOCK;
            if (bits_enter(reader))
                read_blockinfo(r);
            break;
        case 2: vec_push(&r->frames[r->depth].abbrevs, read_abbrev(r)); break;
        default: return read_record(r, id);
        }
    }
    return BITS_BAD;
}
