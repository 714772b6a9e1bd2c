/*
 * Where things stand in a module's bitcode:
 *
 *     MODULE_BLOCK
 *       GLOBALVAR, FUNCTION, ALIAS, IFUNC   each is the next value number
 *       CONSTANTS_BLOCK                     values go on: each record but SETTYPE
 *       METADATA_BLOCK                      STRINGS, then the nodes, then the
 *                                           attachments of globals, declarations
 *       FUNCTION_BLOCK                      one for each function with a body
 *         METADATA_BLOCK                    nodes that only this function has;
 *                                           ids go on after the module's
 *         METADATA_ATTACHMENT               its DISubprogram: [kind, node]
 *     STRTAB_BLOCK                          the names of globals
 *
 * In a record a reference is id + 1, with 0 for none; in attachments it is the
 * id itself. Attachment kind 0 is "dbg".
 */
#include "program/debuginfo.h"
#include "base/file.h"
#include "program/bitstream.h"
#include <assert.h>

enum {
    BLOCK_MODULE = 8,
    BLOCK_CONSTANTS = 11,
    BLOCK_FUNCTION = 12,
    BLOCK_METADATA = 15,
    BLOCK_METADATA_ATTACHMENT = 16,
    BLOCK_STRTAB = 23,
};
enum {
    MODULE_GLOBALVAR = 7,
    MODULE_FUNCTION = 8,
    MODULE_ALIAS = 14,
    MODULE_IFUNC = 18,
};
enum { CONSTANT_SETTYPE = 1, CONSTANT_NULL = 2, CONSTANT_INTEGER = 4 };

/* What is no constant, or not an integer. */
#define NO_CONSTANT INT64_MIN

/* A global as the module block lists it. */
typedef struct Global {
    unsigned code;
    uint64_t name_at, name_len;      /* in the string table */
    bool has_body;
    NodeId node;                     /* its debug attachment */
    NodeId begin, end;               /* nodes of its own */
} Global;

typedef struct Reading {
    DebugInfo *d;
    BitReader *bits;
    Vec(Global) globals;             /* by value number */
    size_t next_body;                /* the function block to come is of the
                                      * first function with a body from here */
    uint32_t base;                   /* of the function being read */
    const unsigned char *strtab;
    size_t strtab_len;
} Reading;

/* ---- nodes */

static void add_node(DebugInfo *d, unsigned code, const BitReader *b, uint32_t base, bool keep)
{
    DebugNode n = { .base = base };
    if (keep) {
        n.code = (uint8_t)code;
        n.first = d->pool.len;
        n.nops = (uint32_t)b->nops;
        for (size_t i = 0; i < b->nops; i++)
            vec_push(&d->pool, b->ops[i]);
    }
    vec_push(&d->nodes, n);
}

/* [count, offset of the characters], blob: lengths as vbr6, then characters. */
static bool add_strings(DebugInfo *d, const BitReader *b)
{
    if (b->nops < 2 || b->ops[1] > b->blob_len || b->ops[0] > b->blob_len * 8)
        return false;
    size_t at = 0, text = b->ops[1];
    for (uint64_t i = 0; i < b->ops[0]; i++) {
        uint64_t n;
        if (!bits_vbr(b->blob, b->ops[1], &at, 6, &n) || n > b->blob_len - text)
            return false;
        DebugNode node = { .code = MD_STRING, .first = d->text.len };
        vec_push(&d->nodes, node);
        str_addn(&d->text, (const char *)b->blob + text, n);
        str_addc(&d->text, 0);
        text += n;
    }
    return true;
}

/* [value number, n x [kind, node]] */
static void attach_to_global(Reading *r)
{
    const BitReader *b = r->bits;
    if (b->nops < 1 || b->ops[0] >= r->globals.len)
        return;
    for (size_t i = 1; i + 1 < b->nops; i += 2)
        if (b->ops[i] == 0)
            r->globals.items[b->ops[0]].node = (NodeId)b->ops[i + 1];
}

static bool see_metadata_record(Reading *r)
{
    const BitReader *b = r->bits;
    DebugInfo *d = r->d;
    switch (b->code) {
    case MD_STRINGS: return add_strings(d, b);
    case MD_NAME:
    case MD_KIND:
    case MD_NAMED_NODE:
    case MD_INDEX_OFFSET:
    case MD_INDEX:
    case MD_ATTACHMENT: return true;                    /* these are no nodes */
    case MD_GLOBAL_DECL_ATTACHMENT: attach_to_global(r); return true;
    case MD_VALUE:
    case MD_NODE:
    case MD_SUBRANGE:
    case MD_ENUMERATOR:
    case MD_BASIC_TYPE:
    case MD_FILE:
    case MD_DERIVED_TYPE:
    case MD_COMPOSITE_TYPE:
    case MD_SUBROUTINE_TYPE:
    case MD_SUBPROGRAM:
    case MD_GLOBAL_VAR:
    case MD_GLOBAL_VAR_EXPR: add_node(d, b->code, b, r->base, true); return true;
    case MD_LOCAL_VAR:
        add_node(d, b->code, b, r->base, b->nops > LOCAL_ARG && b->ops[LOCAL_ARG] != 0);
        return true;
    default: add_node(d, b->code, b, r->base, false); return true;
    }
}

/* ---- blocks */

typedef bool OnRecord(Reading *r);

/* The records of a block without those of blocks inside it. */
static bool each_record(Reading *r, OnRecord *see)
{
    if (!bits_enter(r->bits))
        return false;
    for (;;) {
        switch (bits_next(r->bits)) {
        case BITS_RECORD:
            if (!see(r))
                return false;
            break;
        case BITS_BLOCK:
            if (!bits_skip(r->bits))
                return false;
            break;
        case BITS_LEAVE: return true;
        default: return false;
        }
    }
}

static bool see_constant(Reading *r)
{
    const BitReader *b = r->bits;
    int64_t v = NO_CONSTANT;
    if (b->code == CONSTANT_SETTYPE)
        return true;
    if (b->code == CONSTANT_NULL)
        v = 0;
    else if (b->code == CONSTANT_INTEGER && b->nops)
        v = debug_signed(b->ops[0]);
    vec_push(&r->d->constants, v);
    return true;
}

static bool see_attachment(Reading *r)
{
    const BitReader *b = r->bits;
    if (b->nops % 2 != 0 || r->next_body >= r->globals.len)
        return true;                    /* of an instruction */
    for (size_t i = 0; i + 1 < b->nops; i += 2) {
        if (b->ops[i] != 0)
            continue;
        uint64_t id = b->ops[i + 1];
        if (id >= r->d->nmodule)
            id = id - r->d->nmodule + r->base;
        r->globals.items[r->next_body].node = (NodeId)id;
    }
    return true;
}

static bool read_function(Reading *r)
{
    while (r->next_body < r->globals.len &&
           !(r->globals.items[r->next_body].code == MODULE_FUNCTION &&
             r->globals.items[r->next_body].has_body))
        r->next_body++;
    if (r->next_body >= r->globals.len || !bits_enter(r->bits))
        return false;
    Global *g = &r->globals.items[r->next_body];
    r->base = g->begin = (NodeId)r->d->nodes.len;
    for (;;) {
        switch (bits_next(r->bits)) {
        case BITS_RECORD: break;
        case BITS_BLOCK: {
            bool ok = r->bits->block == BLOCK_METADATA ? each_record(r, see_metadata_record)
                      : r->bits->block == BLOCK_METADATA_ATTACHMENT ? each_record(r, see_attachment)
                                                                    : bits_skip(r->bits);
            if (!ok)
                return false;
            break;
        }
        case BITS_LEAVE:
            g->end = (NodeId)r->d->nodes.len;
            r->next_body++;
            return true;
        default: return false;
        }
    }
}

/* [name offset, name size, type, …]; of a function: callingconv, isproto */
static void see_global(Reading *r)
{
    const BitReader *b = r->bits;
    Global *g = vec_grow(&r->globals);
    vec_push(&r->d->constants, NO_CONSTANT);
    g->code = b->code;
    g->node = NO_NODE;
    if (b->nops >= 5) {
        g->name_at = b->ops[0];
        g->name_len = b->ops[1];
        g->has_body = b->code == MODULE_FUNCTION && b->ops[4] == 0;
    }
}

static bool read_module(Reading *r)
{
    if (!bits_enter(r->bits))
        return false;
    for (;;) {
        bool ok = true;
        switch (bits_next(r->bits)) {
        case BITS_RECORD:
            switch (r->bits->code) {
            case MODULE_GLOBALVAR:
            case MODULE_FUNCTION:
            case MODULE_ALIAS:
            case MODULE_IFUNC: see_global(r);
            }
            break;
        case BITS_BLOCK:
            switch (r->bits->block) {
            case BLOCK_CONSTANTS: ok = each_record(r, see_constant); break;
            case BLOCK_METADATA:
                r->base = 0;
                ok = each_record(r, see_metadata_record);
                r->d->nmodule = (uint32_t)r->d->nodes.len;
                break;
            case BLOCK_FUNCTION: ok = read_function(r); break;
            default: ok = bits_skip(r->bits);
            }
            break;
        case BITS_LEAVE: return true;
        default: ok = false;
        }
        if (!ok)
            return false;
    }
}

static bool see_strtab(Reading *r)
{
    if (r->bits->blob) {
        r->strtab = r->bits->blob;
        r->strtab_len = r->bits->blob_len;
    }
    return true;
}

static bool read_file(Reading *r)
{
    for (;;) {
        bool ok = true;
        switch (bits_next(r->bits)) {
        case BITS_BLOCK:
            ok = r->bits->block == BLOCK_MODULE   ? read_module(r)
                 : r->bits->block == BLOCK_STRTAB ? each_record(r, see_strtab)
                                                  : bits_skip(r->bits);
            break;
        case BITS_RECORD: break;
        case BITS_END: return true;
        default: ok = false;
        }
        if (!ok)
            return false;
    }
}

/* ---- what comes out */

static const char *name_of(Reading *r, const Global *g)
{
    if (g->name_at > r->strtab_len || g->name_len > r->strtab_len - g->name_at)
        return "";
    return arena_strndup(&r->d->arena, (const char *)r->strtab + g->name_at, g->name_len);
}

static void collect(Reading *r)
{
    DebugInfo *d = r->d;
    for (size_t i = 0; i < r->globals.len; i++) {
        Global *g = &r->globals.items[i];
        MdCode code = debug_code(d, g->node);
        if (g->code == MODULE_FUNCTION) {
            DebugFunction *f = vec_grow(&d->functions);
            f->symbol = name_of(r, g);
            f->subprogram = code == MD_SUBPROGRAM ? g->node : NO_NODE;
            f->params_begin = g->begin;
            f->params_end = g->end;
        } else if (g->code == MODULE_GLOBALVAR) {
            DebugVariable *v = vec_grow(&d->variables);
            v->symbol = name_of(r, g);
            v->variable = code == MD_GLOBAL_VAR_EXPR ? debug_ref(d, g->node, 1)
                          : code == MD_GLOBAL_VAR    ? g->node
                                                     : NO_NODE;
            if (debug_code(d, v->variable) != MD_GLOBAL_VAR)
                v->variable = NO_NODE;
        }
    }
}

bool debuginfo_read(DebugInfo *d, const void *bitcode, size_t n, Err *err)
{
    Reading r = { .d = d };
    r.bits = bits_open(bitcode, n, err);
    if (!r.bits)
        return false;
    bool ok = read_file(&r);
    if (ok)
        collect(&r);
    else
        err_set(err, "broken bitcode");
    bits_close(r.bits);
    vec_release(&r.globals);
    return ok;
}

void debuginfo_release(DebugInfo *d)
{
    vec_release(&d->nodes);
    vec_release(&d->pool);
    vec_release(&d->functions);
    vec_release(&d->variables);
    vec_release(&d->constants);
    str_release(&d->text);
    map_release(&d->files);
    arena_release(&d->arena);
}

/* ---- looking at nodes */

MdCode debug_code(const DebugInfo *d, NodeId node)
{
    return node < d->nodes.len ? (MdCode)d->nodes.items[node].code : (MdCode)0;
}

uint64_t debug_op(const DebugInfo *d, NodeId node, unsigned op)
{
    if (node >= d->nodes.len || op >= d->nodes.items[node].nops)
        return 0;
    assert(d->nodes.items[node].first + op < d->pool.len);
    return d->pool.items[d->nodes.items[node].first + op];
}

NodeId debug_ref(const DebugInfo *d, NodeId node, unsigned op)
{
    uint64_t id = debug_op(d, node, op);
    if (id == 0)
        return NO_NODE;
    id--;
    if (id >= d->nmodule && d->nmodule)
        id = id - d->nmodule + d->nodes.items[node].base;
    return id < d->nodes.len ? (NodeId)id : NO_NODE;
}

const char *debug_text(const DebugInfo *d, NodeId node, unsigned op)
{
    NodeId s = debug_ref(d, node, op);
    return debug_code(d, s) == MD_STRING ? d->text.data + d->nodes.items[s].first : "";
}

const char *debug_path(DebugInfo *d, NodeId file)
{
    if (debug_code(d, file) != MD_FILE)
        return "";
    const char *known = map_getn(&d->files, &file, sizeof file);
    if (known)
        return known;
    const char *name = debug_text(d, file, FILE_NAME);
    const char *dir = debug_text(d, file, FILE_DIRECTORY);
    char *path = *dir ? path_in(dir, name) : xstrdup(name);
    known = arena_strdup(&d->arena, path);
    free(path);
    map_putn(&d->files, &file, sizeof file, (void *)known);
    return known;
}

int64_t debug_signed(uint64_t v)
{
    if (!(v & 1))
        return (int64_t)(v >> 1);
    return v == 1 ? INT64_MIN : -(int64_t)(v >> 1);
}

bool debug_constant(const DebugInfo *d, NodeId node, int64_t *value)
{
    uint64_t v = debug_op(d, node, 1);          /* [type, value number] */
    if (debug_code(d, node) != MD_VALUE || v >= d->constants.len)
        return false;
    *value = d->constants.items[v];
    return *value != NO_CONSTANT;
}
