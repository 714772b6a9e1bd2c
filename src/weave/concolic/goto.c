/*
 * Computed goto. A block has one address, but three bodies: so f.sym jumps by the numbers
 * of blocks, and has tables of its own with numbers in them.
 *
 *     static void *const table[] = { &&add, &&load };      table.sym: { 1, 2 }
 *     goto *table[op];                                     switch (table.sym[op])
 *
 * That is right if addresses stay within the function: if they are its operands, or in
 * tables that are only read. Else the function is left as it is.
 */
#include "weave/concolic/concolic_int.h"
#include <string.h>

static bool only_read(LLVMValueRef v, unsigned depth)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        bool step = LLVMIsAGetElementPtrInst(user) ||
                    (LLVMIsAConstantExpr(user) && LLVMGetConstOpcode(user) == LLVMGetElementPtr);
        if (LLVMIsALoadInst(user))
            continue;
        if (!step || depth > 4 || !only_read(user, depth + 1))
            return false;
    }
    return true;
}

/* Does an address go only to the function's instructions and to tame tables? */
static bool is_tame(LLVMValueRef c, unsigned depth)
{
    for (LLVMUseRef u = LLVMGetFirstUse(c); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsAInstruction(user))
            continue;
        if (LLVMIsAGlobalVariable(user)) {
            LLVMLinkage l = LLVMGetLinkage(user);
            if ((l != LLVMInternalLinkage && l != LLVMPrivateLinkage) || !only_read(user, 0))
                return false;
        } else if (!(LLVMIsAConstantArray(user) || LLVMIsAConstantStruct(user)) || depth > 4 ||
                   !is_tame(user, depth + 1)) {
            return false;
        }
    }
    return true;
}

bool goto_is_tame(LLVMValueRef f)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMUseRef u = LLVMGetFirstUse(LLVMBasicBlockAsValue(b)); u; u = LLVMGetNextUse(u))
            if (LLVMIsABlockAddress(LLVMGetUser(u)) && !is_tame(LLVMGetUser(u), 0))
                return false;
    return true;
}

bool goto_is_computed(LLVMValueRef f)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMUseRef u = LLVMGetFirstUse(LLVMBasicBlockAsValue(b)); u; u = LLVMGetNextUse(u))
            if (LLVMIsABlockAddress(LLVMGetUser(u)))
                return true;
    return false;
}

/* ---- constants with numbers in place of addresses; the same if there are none */

static LLVMValueRef renumber(Body *b, LLVMValueRef c);

static LLVMValueRef renumber_parts(Body *b, LLVMValueRef c)
{
    int n = LLVMGetNumOperands(c);
    LLVMValueRef *parts = xcalloc((size_t)n + 1, sizeof *parts), same = c;
    bool changed = false;
    for (int i = 0; i < n; i++) {
        parts[i] = renumber(b, LLVMGetOperand(c, (unsigned)i));
        changed |= parts[i] != LLVMGetOperand(c, (unsigned)i);
    }
    if (changed && LLVMIsAConstantArray(c))
        same = LLVMConstArray2(LLVMGetElementType(LLVMTypeOf(c)), parts, (uint64_t)n);
    else if (changed && LLVMIsAConstantStruct(c))
        same = LLVMGetStructName(LLVMTypeOf(c))
                   ? LLVMConstNamedStruct(LLVMTypeOf(c), parts, (unsigned)n)
                   : LLVMConstStructInContext(b->w->ctx, parts, (unsigned)n,
                                              LLVMIsPackedStruct(LLVMTypeOf(c)));
    else if (changed && LLVMGetConstOpcode(c) == LLVMGetElementPtr)
        same = LLVMConstGEP2(LLVMGetGEPSourceElementType(c), parts[0], parts + 1, (unsigned)n - 1);
    free(parts);
    return same;
}

static LLVMValueRef renumber_table(Body *b, LLVMValueRef g)
{
    LLVMValueRef init = LLVMIsDeclaration(g) ? NULL : LLVMGetInitializer(g);
    LLVMLinkage l = LLVMGetLinkage(g);
    if (!init || (l != LLVMInternalLinkage && l != LLVMPrivateLinkage))
        return g;
    LLVMValueRef other = renumber(b, init);
    if (other == init)
        return g;
    LLVMValueRef table = LLVMAddGlobal(b->w->module, LLVMTypeOf(other), "sundew.goto");
    LLVMSetInitializer(table, other);
    LLVMSetGlobalConstant(table, true);
    LLVMSetLinkage(table, LLVMPrivateLinkage);
    return table;
}

static LLVMValueRef renumber(Body *b, LLVMValueRef c)
{
    LLVMValueRef known = map_getn(&b->addresses, &c, sizeof c), other = c;
    if (known)
        return known;
    if (LLVMIsABlockAddress(c)) {
        LLVMBasicBlockRef to = LLVMGetBlockAddressBasicBlock(c);
        uint64_t n = (uint64_t)(uintptr_t)map_getn(&b->block_at, &to, sizeof to);
        if (LLVMGetBlockAddressFunction(c) == b->native)
            other = LLVMConstIntToPtr(LLVMConstInt(b->w->i64, n, false), b->w->ptr);
    } else if (LLVMIsAGlobalVariable(c)) {
        other = renumber_table(b, c);
    } else if (LLVMIsAConstantArray(c) || LLVMIsAConstantStruct(c) || LLVMIsAConstantExpr(c)) {
        other = renumber_parts(b, c);
    }
    map_putn(&b->addresses, &c, sizeof c, other);
    return other;
}

void goto_renumber(Body *b)
{
    for (size_t i = 0; i < b->all.len; i++) {
        int n = LLVMGetNumOperands(b->all.items[i]->v);
        for (int k = 0; k < n; k++) {
            LLVMValueRef c = LLVMGetOperand(b->all.items[i]->v, (unsigned)k);
            if (LLVMIsAConstant(c) && !LLVMIsAFunction(c))
                renumber(b, c);
        }
    }
}
