/*
 * The weave of coverage: a byte for each block, and one for each way that a
 * branch can go.
 *
 *     b:  cover[17] = 1;                             the block runs
 *         cover[n ? 530 : 531] = 1;                  and which way it leaves
 *         if (n) goto yes; else goto no;
 *
 * No block is split: the way is a select of two addresses before the branch. A
 * constructor tells who loads the program where the bytes are, by calling
 * sundew_player_register() (runtime/server/player.h), which the loader must have.
 */
#include "runtime/server/player.h"
#include "weave/weave_int.h"
#include <assert.h>
#include <llvm-c/DebugInfo.h>

struct Cover {
    Arena arena;
    size_t nblocks, nbranches;
    Vec(CoverLine) lines;
    const char **functions;          /* of each block */
    Vec(size_t) leaves;              /* the block of each way */
};

enum { MOST_CASES = 256 };

/* How many ways lead out of a block that are worth telling apart. */
static unsigned ways_out(LLVMBasicBlockRef b)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    if (!end)
        return 0;
    LLVMOpcode op = LLVMGetInstructionOpcode(end);
    if (op == LLVMBr && LLVMIsConditional(end))
        return 2;
    unsigned n = LLVMGetNumSuccessors(end);
    return op == LLVMSwitch && n > 1 && n <= MOST_CASES ? n : 0;
}

static void count(Woven *w, Cover *c)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            c->nblocks++;
            c->nbranches += ways_out(b);
        }
}

static LLVMValueRef byte_at(Woven *w, LLVMValueRef bytes, size_t n)
{
    LLVMValueRef index = LLVMConstInt(w->i64, n, false);
    return LLVMConstInBoundsGEP2(w->i8, bytes, &index, 1);
}

/* Behind what must stand first in a block. */
static bool go_to_begin(Woven *w, LLVMBasicBlockRef b)
{
    LLVMValueRef i = LLVMGetFirstInstruction(b);
    while (i && (LLVMIsAPHINode(i) || LLVMIsAAllocaInst(i)))
        i = LLVMGetNextInstruction(i);
    if (!i || LLVMIsALandingPadInst(i))
        return false;
    LLVMPositionBuilderBefore(w->builder, i);
    LLVMSetCurrentDebugLocation2(w->builder, NULL);
    return true;
}

static void set_byte(Woven *w, LLVMValueRef p)
{
    LLVMBuildStore(w->builder, LLVMConstInt(w->i8, 1, false), p);
}

static void cover_way_out(Woven *w, LLVMBasicBlockRef b, LLVMValueRef bytes, size_t at)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    LLVMPositionBuilderBefore(w->builder, end);
    LLVMSetCurrentDebugLocation2(w->builder, NULL);
    LLVMValueRef p;
    if (LLVMGetInstructionOpcode(end) == LLVMBr) {
        p = LLVMBuildSelect(w->builder, LLVMGetCondition(end), byte_at(w, bytes, at),
                            byte_at(w, bytes, at + 1), "");
    } else {
        LLVMValueRef v = LLVMGetOperand(end, 0);
        p = byte_at(w, bytes, at);
        /* operands: value, default, then case and block in turn */
        for (unsigned i = 1; i < LLVMGetNumSuccessors(end); i++) {
            LLVMValueRef is =
                LLVMBuildICmp(w->builder, LLVMIntEQ, v, LLVMGetOperand(end, 2 * i), "");
            p = LLVMBuildSelect(w->builder, is, byte_at(w, bytes, at + i), p, "");
        }
    }
    set_byte(w, p);
}

static void note_lines(Cover *c, LLVMBasicBlockRef b, size_t number)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
        unsigned line = LLVMGetDebugLocLine(i), n = 0;
        const char *file = line ? LLVMGetDebugLocFilename(i, &n) : NULL;
        if (!file || !n)
            continue;
        CoverLine *last = c->lines.len ? &c->lines.items[c->lines.len - 1] : NULL;
        if (last && last->block == number && last->line == line)
            continue;
        vec_push(&c->lines, ((CoverLine){ arena_strndup(&c->arena, file, n), line, number }));
    }
}

/* A constructor that calls sundew_player_register(what, address, n). */
static void tell(Woven *w, unsigned what, LLVMValueRef address, uint64_t n)
{
    LLVMTypeRef types[] = { w->i32, w->ptr, w->i64 };
    LLVMValueRef hear =
        weave_declare(w, "sundew_player_register", LLVMFunctionType(w->void_, types, 3, false));
    LLVMValueRef ctor =
        LLVMAddFunction(w->module, "sundew.tell", LLVMFunctionType(w->void_, NULL, 0, false));
    weave_define(w, ctor, NULL);
    LLVMValueRef args[] = { LLVMConstInt(w->i32, what, false), address,
                            LLVMConstInt(w->i64, n, false) };
    weave_call(w, hear, args, 3);
    LLVMBuildRetVoid(w->builder);
    weave_add_first_constructor(w, ctor);
}

LLVMValueRef weave_player_bytes(Woven *w, unsigned what, size_t n)
{
    LLVMTypeRef type = LLVMArrayType2(w->i8, n ? n : 1);
    LLVMValueRef bytes = LLVMAddGlobal(w->module, type, "sundew.bytes");
    LLVMSetInitializer(bytes, LLVMConstNull(type));
    LLVMSetLinkage(bytes, LLVMInternalLinkage);
    tell(w, what, bytes, n);
    return bytes;
}

bool weave_player_at_block(Woven *w, LLVMBasicBlockRef b, LLVMValueRef bytes, size_t n)
{
    if (!go_to_begin(w, b))
        return false;
    set_byte(w, byte_at(w, bytes, n));
    return true;
}

Cover *weave_cover(Woven *w, Err *err)
{
    Cover *c = xcalloc(1, sizeof *c);
    count(w, c);
    if (!c->nblocks) {
        err_set(err, "there is no code to cover");
        cover_free(c);
        return NULL;
    }
    LLVMValueRef last = LLVMGetLastFunction(w->module);
    LLVMValueRef bytes = weave_player_bytes(w, SUNDEW_PLAYER_COVER, c->nblocks + c->nbranches);
    c->functions = arena_array(&c->arena, const char *, c->nblocks);
    size_t block = 0, branch = c->nblocks;
    for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        const char *kept = arena_strndup(&c->arena, name, n);
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            unsigned ways = ways_out(b);
            note_lines(c, b, block);
            c->functions[block] = kept;
            weave_player_at_block(w, b, bytes, block++);
            if (ways)
                cover_way_out(w, b, bytes, branch);
            for (unsigned i = 0; i < ways; i++)
                vec_push(&c->leaves, block - 1);
            branch += ways;
        }
        if (f == last)
            break;               /* what follows is ours */
    }
    assert(block == c->nblocks && branch == c->nblocks + c->nbranches);
    assert(c->leaves.len == c->nbranches);
    return c;
}

void cover_free(Cover *c)
{
    if (!c)
        return;
    vec_release(&c->lines);
    vec_release(&c->leaves);
    arena_release(&c->arena);
    free(c);
}

size_t cover_nblocks(const Cover *c) { return c->nblocks; }
size_t cover_nbranches(const Cover *c) { return c->nbranches; }

size_t cover_block_of(const Cover *c, size_t way)
{
    assert(way < c->leaves.len);
    return c->leaves.items[way];
}

const char *cover_function(const Cover *c, size_t block)
{
    return block < c->nblocks ? c->functions[block] : "";
}

const CoverLine *cover_lines(const Cover *c, size_t *n)
{
    *n = c->lines.len;
    return c->lines.items;
}
