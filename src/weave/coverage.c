/*
 * The weave of coverage: a byte for each edge (edges.h), counted up when the
 * program goes there.
 *
 * A branch gets a new block on each of its ways, with nothing in it but the
 * count; LLVM puts the count where it costs least. A counter never goes from
 * 255 back to 0. Calls that compare strings also tell how far these agreed. The counters stand on pages of their own, over which the
 * runtime (runtime/server/batch.c) puts shared memory.
 */
#include "runtime/server/batch.h"
#include "weave/edges_llvm.h"
#include "weave/weave_int.h"
#include <assert.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>

typedef struct Counting {
    Woven *w;
    LLVMValueRef counters, count;    /* the array; the function that counts */
    LLVMTypeRef array;
    LLVMValueRef compared;           /* runtime/server/compared.c */
    uint32_t next, end;              /* its counters */
} Counting;

/* Functions that compare strings, and how. */
static const struct comparing {
    const char *name;
    bool limited;                    /* the third argument is the most that counts */
    uint32_t how;
} comparing[] = {
    { "strcmp", false, SUNDEW_COMPARED_TEXT },
    { "strncmp", true, SUNDEW_COMPARED_TEXT },
    { "strcoll", false, SUNDEW_COMPARED_TEXT },
    { "memcmp", true, 0 },
    { "bcmp", true, 0 },
    { "strcasecmp", false, SUNDEW_COMPARED_TEXT | SUNDEW_COMPARED_FOLD },
    { "strncasecmp", true, SUNDEW_COMPARED_TEXT | SUNDEW_COMPARED_FOLD },
};

/* void sundew.count(ptr): *p += 1, and once more if that gave 0. */
static void define_count(Counting *c)
{
    Woven *w = c->w;
    LLVMTypeRef type = LLVMFunctionType(w->void_, &w->ptr, 1, false);
    c->count = LLVMAddFunction(w->module, "sundew.count", type);
    weave_define(w, c->count, NULL);
    weave_set(w, c->count, "alwaysinline", 0);
    LLVMValueRef at = LLVMGetParam(c->count, 0), one = weave_int(w, w->i8, 1);
    LLVMValueRef v = LLVMBuildAdd(w->builder, LLVMBuildLoad2(w->builder, w->i8, at, ""), one, "");
    LLVMValueRef zero = LLVMBuildICmp(w->builder, LLVMIntEQ, v, weave_int(w, w->i8, 0), "");
    v = LLVMBuildAdd(w->builder, v, LLVMBuildZExt(w->builder, zero, w->i8, ""), "");
    LLVMBuildStore(w->builder, v, at);
    LLVMBuildRetVoid(w->builder);
}

static LLVMValueRef counter(Counting *c, uint32_t i)
{
    assert(i < LLVMGetArrayLength2(c->array));
    LLVMValueRef index[] = { weave_int(c->w, c->w->i64, 0), weave_int(c->w, c->w->i64, i) };
    return LLVMConstInBoundsGEP2(c->array, c->counters, index, 2);
}

static void count_edge(Counting *c, uint32_t edge)
{
    Woven *w = c->w;
    LLVMValueRef at = counter(c, edge);
    weave_call(w, c->count, &at, 1);
}

/* The phis of `dest` name `ways[0 .. n)` in place of `from`, where they named it. */
static void rename_incoming(Counting *c, LLVMBasicBlockRef dest, LLVMBasicBlockRef from,
                            LLVMBasicBlockRef *ways, unsigned n)
{
    LLVMValueRef next;
    for (LLVMValueRef i = LLVMGetFirstInstruction(dest);
         i && LLVMGetInstructionOpcode(i) == LLVMPHI; i = next) {
        next = LLVMGetNextInstruction(i);
        LLVMPositionBuilderBefore(c->w->builder, i);
        LLVMSetCurrentDebugLocation2(c->w->builder, LLVMInstructionGetDebugLoc(i));
        LLVMValueRef phi = LLVMBuildPhi(c->w->builder, LLVMTypeOf(i), "");
        unsigned count = LLVMCountIncoming(i);
        LLVMValueRef through = NULL;
        for (unsigned k = 0; k < count; k++) {
            LLVMValueRef v = LLVMGetIncomingValue(i, k);
            LLVMBasicBlockRef b = LLVMGetIncomingBlock(i, k);
            if (b == from)
                through = v == i ? phi : v;
            else
                LLVMAddIncoming(phi, &v, &b, 1);
        }
        for (unsigned k = 0; k < n; k++)
            LLVMAddIncoming(phi, &through, &ways[k], 1);
        LLVMReplaceAllUsesWith(i, phi);
        LLVMInstructionEraseFromParent(i);
    }
}

/* A block between the terminator and each of its successors. */
static void count_ways(Counting *c, LLVMValueRef end, uint32_t site)
{
    Woven *w = c->w;
    LLVMBasicBlockRef from = LLVMGetInstructionParent(end);
    LLVMValueRef fn = LLVMGetBasicBlockParent(from);
    LLVMMetadataRef line = LLVMInstructionGetDebugLoc(end);
    unsigned n = LLVMGetNumSuccessors(end);
    assert(n && n == edges_leaving(end));
    LLVMBasicBlockRef *dests = xcalloc(n, sizeof *dests), *ways = xcalloc(n, sizeof *ways),
                      *same = xcalloc(n, sizeof *same);
    for (unsigned k = 0; k < n; k++) {
        dests[k] = LLVMGetSuccessor(end, k);
        ways[k] = weave_block(w, fn, "edge");
        LLVMPositionBuilderAtEnd(w->builder, ways[k]);
        LLVMSetCurrentDebugLocation2(w->builder, line ? line : weave_line_of(w, fn));
        count_edge(c, site + k);
        LLVMBuildBr(w->builder, dests[k]);
    }
    for (unsigned k = 0; k < n; k++) {
        unsigned m = 0;
        bool first = true;
        for (unsigned j = 0; j < n; j++)
            if (dests[j] == dests[k]) {
                first &= m > 0 || j == k;
                same[m++] = ways[j];
            }
        if (first)
            rename_incoming(c, dests[k], from, same, m);
    }
    for (unsigned k = 0; k < n; k++)
        LLVMSetSuccessor(end, k, ways[k]);
    free(dests);
    free(ways);
    free(same);
}

static const struct comparing *comparing_of(LLVMValueRef call)
{
    LLVMValueRef fn = LLVMIsACallInst(call) ? LLVMGetCalledValue(call) : NULL;
    if (!fn || !LLVMIsAFunction(fn) || !LLVMIsDeclaration(fn))
        return NULL;
    size_t len;
    const char *name = LLVMGetValueName2(fn, &len);
    for (size_t i = 0; i < sizeof comparing / sizeof *comparing; i++)
        if (!strcmp(name, comparing[i].name) &&
            LLVMGetNumArgOperands(call) == 2u + comparing[i].limited)
            return &comparing[i];
    return NULL;
}

/* Before each call that compares strings, while there are counters left. */
static void count_comparing(Counting *c, LLVMValueRef fn)
{
    Woven *w = c->w;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            const struct comparing *k = comparing_of(i);
            if (!k || c->next + 2 > c->end)
                continue;
            LLVMPositionBuilderBefore(w->builder, i);
            LLVMMetadataRef line = LLVMInstructionGetDebugLoc(i);
            LLVMSetCurrentDebugLocation2(w->builder, line ? line : weave_line_of(w, fn));
            LLVMValueRef args[] = { counter(c, c->next), LLVMGetOperand(i, 0), LLVMGetOperand(i, 1),
                                    k->limited ? LLVMGetOperand(i, 2)
                                               : weave_int(w, w->i64, UINT64_MAX),
                                    weave_int(w, w->i32, k->how) };
            weave_call(w, c->compared, args, 5);
            c->next += 2;
        }
}

static void count_function(Counting *c, LLVMValueRef fn, uint32_t entry)
{
    Vec(LLVMValueRef) ends = { 0 };
    uint32_t edge = entry + 1;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        if (edges_leaving(LLVMGetBasicBlockTerminator(b)))
            vec_push(&ends, LLVMGetBasicBlockTerminator(b));
    count_comparing(c, fn);
    weave_go_to_entry(c->w, fn);
    count_edge(c, entry);
    for (size_t i = 0; i < ends.len; i++) {
        uint32_t n = edges_leaving(ends.items[i]);
        count_ways(c, ends.items[i], edge);
        edge += n;
    }
    vec_release(&ends);
}

static void define_counters(Counting *c, uint64_t size)
{
    Woven *w = c->w;
    c->array = LLVMArrayType2(w->i8, size);
    c->counters = LLVMAddGlobal(w->module, c->array, "sundew_counters");
    LLVMSetInitializer(c->counters, LLVMConstNull(c->array));
    LLVMSetAlignment(c->counters, SUNDEW_BATCH_PAGE);
    LLVMSetVisibility(c->counters, LLVMHiddenVisibility);
    LLVMValueRef n = LLVMAddGlobal(w->module, w->i64, "sundew_counters_size");
    LLVMSetInitializer(n, weave_int(w, w->i64, size));
    LLVMSetGlobalConstant(n, true);
    LLVMSetVisibility(n, LLVMHiddenVisibility);
}

enum { COMPARED = 512 };             /* counters of how far strings agreed */

uint32_t weave_coverage_size(const Edges *edges)
{
    size_t n = edges_count(edges) + COMPARED;
    return (uint32_t)((n + SUNDEW_BATCH_PAGE) & ~(size_t)(SUNDEW_BATCH_PAGE - 1));
}

bool weave_coverage(Woven *w, const Edges *edges, Err *err)
{
    Counting c = { .w = w };
    size_t n = edges_count(edges);
    if (n >= 1u << 26)
        return err_set(err, "the program has too many branches: %zu", n);
    define_counters(&c, weave_coverage_size(edges));
    define_count(&c);
    c.next = (uint32_t)n;
    c.end = (uint32_t)n + COMPARED;
    LLVMTypeRef types[] = { w->ptr, w->ptr, w->ptr, w->i64, w->i32 };
    c.compared = weave_declare(w, "sundew_compared", LLVMFunctionType(w->void_, types, 5, false));
    for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = LLVMGetNextFunction(f)) {
        size_t len;
        uint32_t entry = edges_entry(edges, LLVMGetValueName2(f, &len));
        if (!LLVMIsDeclaration(f) && entry != NO_EDGE && !weave_has(f, "naked"))
            count_function(&c, f, entry);
    }
    weave_redirect(w, "exit", "sundew_exit");
    weave_redirect(w, "_exit", "sundew_exit_now");
    weave_redirect(w, "_Exit", "sundew_exit_now");
    weave_redirect(w, "atexit", "sundew_atexit");
    return true;
}
