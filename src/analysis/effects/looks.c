#include "analysis/effects/looks.h"
#include "base/map.h"
#include "base/vec.h"
#include "program/program_llvm.h"
#include <string.h>

#define FARTHEST 8                     /* calls in calls that are followed */

typedef Vec(LLVMBasicBlockRef) Blocks;

static bool has_attribute(LLVMValueRef fn, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return kind && LLVMGetEnumAttributeAtIndex(fn, LLVMAttributeFunctionIndex, kind);
}

/* __attribute__((pure)), as the headers of the C library say of strlen() and its kin. */
static bool is_pure(LLVMValueRef fn)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("memory", 6);
    LLVMAttributeRef a =
        kind ? LLVMGetEnumAttributeAtIndex(fn, LLVMAttributeFunctionIndex, kind) : NULL;
    bool writes = !a || LLVMGetEnumAttributeValue(a) & 0xaaaaaaaa; /* each second bit */
    return !writes || has_attribute(fn, "readonly") || has_attribute(fn, "readnone");
}

static bool is_local(LLVMValueRef pointer)
{
    while (LLVMIsAGetElementPtrInst(pointer) || LLVMIsABitCastInst(pointer))
        pointer = LLVMGetOperand(pointer, 0);
    return LLVMIsAAllocaInst(pointer) != NULL;
}

/* A call that never returns: who gets past it has not come there. */
static bool ends_here(LLVMValueRef i)
{
    LLVMValueRef next = LLVMGetNextInstruction(i);
    return LLVMIsACallInst(i) && next && LLVMGetInstructionOpcode(next) == LLVMUnreachable;
}

static bool call_looks(LLVMValueRef call, unsigned depth);

static bool instruction_looks(LLVMValueRef i, unsigned depth)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMStore: return is_local(LLVMGetOperand(i, 1));
    case LLVMCall: return ends_here(i) || call_looks(i, depth);
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMInvoke:
    case LLVMCallBr: return false;
    default: return true;
    }
}

static bool call_looks(LLVMValueRef call, unsigned depth)
{
    LLVMValueRef f = LLVMGetCalledValue(call);
    if (!LLVMIsAFunction(f))
        return false;
    unsigned intrinsic = LLVMGetIntrinsicID(f);
    size_t n;
    if (intrinsic)                     /* of debugging, arithmetic …; but memset() writes */
        return strncmp(LLVMGetValueName2(f, &n), "llvm.mem", 8) != 0 ||
               is_local(LLVMGetOperand(call, 0));
    if (LLVMIsDeclaration(f) || is_pure(f))
        return is_pure(f);
    if (depth == FARTHEST)
        return false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (!instruction_looks(i, depth + 1))
                return false;
    return true;
}

static void add_block(Blocks *all, Map *seen, LLVMBasicBlockRef b)
{
    void **slot = map_slotn(seen, &b, sizeof b);
    if (!*slot)
        vec_push(all, b);
    *slot = b;
}

/* Does a block go on to one of these? */
static bool leads_to(LLVMBasicBlockRef b, const Map *seen)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    for (unsigned i = 0; end && i < LLVMGetNumSuccessors(end); i++) {
        LLVMBasicBlockRef next = LLVMGetSuccessor(end, i);
        if (map_getn(seen, &next, sizeof next))
            return true;
    }
    return false;
}

static bool calls_look(LLVMBasicBlockRef b)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        if (LLVMIsACallInst(i) && !ends_here(i) && !call_looks(i, 0))
            return false;
    return true;
}

bool looks_until(const Program *p, const Function *fn, unsigned line)
{
    LLVMValueRef f = program_function_value(p, fn);
    Blocks blocks = { 0 };
    Map seen = { 0 };
    for (LLVMBasicBlockRef b = f ? LLVMGetFirstBasicBlock(f) : NULL; b;
         b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (ends_here(i) && program_place(p, i).line == line)
                add_block(&blocks, &seen, b);
    bool looks = blocks.len > 0;
    for (size_t known = 0; looks && known < blocks.len;) {
        known = blocks.len;
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            if (leads_to(b, &seen))
                add_block(&blocks, &seen, b);
    }
    for (size_t i = 0; looks && i < blocks.len; i++)
        looks = calls_look(blocks.items[i]);
    vec_release(&blocks);
    map_release(&seen);
    return looks;
}
