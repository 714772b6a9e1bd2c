/*
 * A function's instructions as operations on numbered values. What can't carry
 * a pointer is left out. Constants are values too; their paths never change and
 * are filled in here.
 */
#include "analysis/mutability/mutability_int.h"
#include <assert.h>
#include <string.h>

static uint32_t new_value(Body *b)
{
    vec_grow(&b->sets);
    return (uint32_t)b->sets.len - 1;
}

/* ---- constants */

static uint32_t global_root(Mutability *m, LLVMValueRef g)
{
    uint32_t i = pttable_get(&m->global_of, (uintptr_t)g);

    if (i == NONE) {
        i = (uint32_t)m->globals.len;
        vec_push(&m->globals, g);
        pttable_put(&m->global_of, (uintptr_t)g, i);
    }
    return ROOT_GLOBAL | i;
}

int64_t mut_gep_offset(const Mutability *m, LLVMValueRef gep)
{
    int64_t offset;

    return llvm_gep_offset(m->layout, gep, &offset) ? offset : ANYWHERE;
}

bool mut_same_address(const Mutability *m, LLVMValueRef x, LLVMValueRef y)
{
    if (x == y)
        return true;
    if (!LLVMIsAGetElementPtrInst(x) || !LLVMIsAGetElementPtrInst(y) ||
        LLVMGetOperand(x, 0) != LLVMGetOperand(y, 0))
        return false;
    int64_t off = mut_gep_offset(m, x);
    return off != ANYWHERE && off == mut_gep_offset(m, y);
}

/* A table that nobody can write holds what nobody can be blamed for. */
static void constant_paths(Mutability *m, LLVMValueRef c, int64_t off, PathSet *out, unsigned level)
{
    if (level > 8 || LLVMIsNull(c) || LLVMIsUndef(c) || LLVMIsAFunction(c))
        return;
    if (LLVMIsAGlobalVariable(c)) {
        Path p = LLVMIsGlobalConstant(c) ? path_root(ROOT_UNKNOWN) : path_root(global_root(m, c));
        pathset_add(out, path_plus(p, off));
    } else if (LLVMIsAGlobalAlias(c)) {
        constant_paths(m, LLVMAliasGetAliasee(c), off, out, level + 1);
    } else if (LLVMIsAConstantExpr(c)) {
        bool gep = LLVMGetConstOpcode(c) == LLVMGetElementPtr;
        int64_t more = gep ? mut_gep_offset(m, c) : 0;
        off = off == ANYWHERE || more == ANYWHERE ? ANYWHERE : off + more;
        for (int i = 0; i < (gep ? 1 : LLVMGetNumOperands(c)); i++)
            constant_paths(m, LLVMGetOperand(c, (unsigned)i), off, out, level + 1);
    } else if (!LLVMIsAConstantDataSequential(c)) {
        for (int i = 0; i < LLVMGetNumOperands(c); i++)
            constant_paths(m, LLVMGetOperand(c, (unsigned)i), ANYWHERE, out, level + 1);
    }
}

static uint32_t value(Mutability *m, Body *b, LLVMValueRef v)
{
    uint32_t n = pttable_get(&b->number, (uintptr_t)v);

    if (n != NONE)
        return n;
    n = new_value(b);
    pttable_put(&b->number, (uintptr_t)v, n);
    if (LLVMIsAConstant(v))
        constant_paths(m, v, 0, &b->sets.items[n], 0);
    return n;
}

/* ---- instructions */

static Op *add(Body *b, OpKind kind, LLVMValueRef inst, uint32_t dst, uint32_t a)
{
    Op *op = vec_grow(&b->ops);

    *op = (Op){ .kind = kind, .inst = inst, .origin = inst, .dst = dst, .a = a, .b = NONE };
    op->block = pttable_get(&b->block_number, (uintptr_t)LLVMGetInstructionParent(inst));
    return op;
}

/* Stores to the same places are one to stage M. */
static LLVMValueRef store_class(Mutability *m, LLVMValueRef inst, LLVMValueRef address, bool whole)
{
    PtSet s = pointsto_value(m->pt, address, 0);
    Member at = whole ? (Member){ 0 } : mut_member(m, address);
    uint64_t key[5] = { (uintptr_t)s.locs, (uint64_t)at.known << 1 | whole, (uint64_t)at.outer,
                        (uint64_t)at.inner, (uintptr_t)at.type };

    if (!s.n)
        return inst;
    void **slot = map_slotn(&m->store_class, key, sizeof key);
    if (!*slot)
        *slot = inst;
    return *slot;
}

static void copy(Mutability *m, Body *b, LLVMValueRef inst, LLVMValueRef from, int64_t off)
{
    if (mut_carries(m, LLVMTypeOf(from)))
        add(b, OP_COPY, inst, value(m, b, inst), value(m, b, from))->off = (int32_t)off;
}

/* A part of the operand becomes something that paths don't follow. */
static void piece(Mutability *m, Body *b, LLVMValueRef inst, LLVMValueRef from, bool compared)
{
    if (mut_carries(m, LLVMTypeOf(from)))
        add(b, OP_PIECE, inst, NONE, value(m, b, from))->compared = compared;
}

/* The instruction makes something smaller of its first operand, or the same. */
static void part(Mutability *m, Body *b, LLVMValueRef i)
{
    if (mut_carries(m, LLVMTypeOf(i)))
        copy(m, b, i, LLVMGetOperand(i, 0), 0);
    else if (!mut_piece_is_harmless(i, true, false))
        piece(m, b, i, LLVMGetOperand(i, 0), mut_piece_is_compared(i, true, false));
}

/* A comparison or an index tells some bits of a number. */
static void bits(Mutability *m, Body *b, LLVMValueRef i, int first)
{
    for (int k = first; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef v = LLVMGetOperand(i, (unsigned)k);
        if (mut_tells_bits(v) || mut_is_guessed(m, i, v))
            piece(m, b, i, v, !mut_is_shifted(v, 0));
    }
}

/* Where control goes, or how large an object is, tells the number. What was loaded whole is
 * no number: labels and functions stand in tables. */
static void decides(Mutability *m, Body *b, LLVMValueRef i, LLVMValueRef v)
{
    if (mut_is_computed(v, 0))
        piece(m, b, i, v, true);
}

static void all_pieces(Mutability *m, Body *b, LLVMValueRef i)
{
    if (LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVoidTypeKind)
        return;
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        if (!LLVMIsAConstant(LLVMGetOperand(i, (unsigned)k)) &&
            !LLVMValueIsBasicBlock(LLVMGetOperand(i, (unsigned)k)))
            piece(m, b, i, LLVMGetOperand(i, (unsigned)k), false);
}

/* A parameter of a function that nobody calls leads nowhere, and is an address all the same. */
bool mut_is_address(const Mutability *m, LLVMValueRef v)
{
    return LLVMIsAPtrToIntInst(v) &&
           (LLVMIsAArgument(LLVMGetOperand(v, 0)) || pointsto_value(m->pt, v, 0).n);
}

bool mut_is_index_of_null(const Mutability *m, LLVMValueRef gep)
{
    return !pointsto_value(m->pt, LLVMGetOperand(gep, 0), 0).n;
}

/* How many more addresses are added than taken away: compilers make `n - start + end` of
 * `n + (end - start)`. What leads nowhere may be a number, and is one where it is taken away. */
static int net_addresses(const Mutability *m, LLVMValueRef v, bool added, int depth, bool *some)
{
    enum { MOST_DEPTH = 6 };
    if (LLVMIsAPtrToIntInst(v)) {
        bool counts = added || mut_is_address(m, v);
        *some |= counts;
        return counts;
    }
    LLVMOpcode code = LLVMIsAInstruction(v) ? LLVMGetInstructionOpcode(v) : LLVMRet;
    if ((code != LLVMAdd && code != LLVMSub) || depth > MOST_DEPTH)
        return 0;
    int a = net_addresses(m, LLVMGetOperand(v, 0), added, depth + 1, some),
        b = net_addresses(m, LLVMGetOperand(v, 1), added == (code == LLVMAdd), depth + 1, some);
    return code == LLVMAdd ? a + b : a - b;
}

static void arithmetic(Mutability *m, Body *b, LLVMValueRef i)
{
    LLVMOpcode code = LLVMGetInstructionOpcode(i);
    bool some = false;

    if (!net_addresses(m, i, true, 0, &some) && some)
        return;                              /* the difference of two is no pointer */
    for (unsigned k = 0; k < 2; k++) {
        LLVMValueRef other = LLVMGetOperand(i, 1 - k);
        int64_t off = ANYWHERE;
        if ((code == LLVMAdd || (code == LLVMSub && !k)) && LLVMIsAConstantInt(other) &&
            LLVMGetIntTypeWidth(LLVMTypeOf(other)) <= 64)
            off = code == LLVMAdd ? LLVMConstIntGetSExtValue(other)
                                  : -LLVMConstIntGetSExtValue(other);
        if (off > INT32_MAX || off < INT32_MIN)
            off = ANYWHERE;
        if (code == LLVMSub && mut_is_address(m, other))
            continue;
        copy(m, b, i, LLVMGetOperand(i, k), off);
    }
}

bool mut_holds_pointers(const Mutability *m, LLVMValueRef address, int64_t size)
{
    PtSet s = pointsto_value(m->pt, address, 0);

    for (size_t i = 0; i < s.n; i++) {
        PtLoc at = m->pt->locs.items[s.locs[i]];
        const PtAnswerObject *o = &m->pt->objects.items[at.object];
        bool all = !size || at.offset == ANY || o->flat || o->regions.n;
        if (m->pt->shown[at.object].kind == PT_EXTERNAL)
            return true;
        for (uint32_t k = o->locs.start; k < o->locs.start + o->locs.n; k++) {
            int64_t off = m->pt->locs.items[k].offset;
            if ((all || off == ANY || (off >= at.offset && off < at.offset + size)) &&
                pointsto_content(m->pt, k).n)
                return true;
        }
    }
    return false;
}

static void intrinsic(Mutability *m, Body *b, LLVMValueRef i, const char *name)
{
    if (str_starts(name, "llvm.memcpy") || str_starts(name, "llvm.memmove")) {
        Op *op = add(b, OP_MEMCPY, i, NONE, value(m, b, LLVMGetOperand(i, 0)));
        uint32_t from = value(m, b, LLVMGetOperand(i, 1));
        op = &b->ops.items[b->ops.len - 1];
        op->b = from;
        op->origin = store_class(m, i, LLVMGetOperand(i, 0), true);
        LLVMValueRef n = LLVMGetOperand(i, 2);
        op->pointer =
            mut_holds_pointers(m, LLVMGetOperand(i, 1),
                               LLVMIsAConstantInt(n) ? (int64_t)LLVMConstIntGetZExtValue(n) : 0);
        if (LLVMIsAConstantInt(n) && LLVMConstIntGetZExtValue(n) < 8) {
            op->piece = true;
            op->pointer = mut_has_seen_pointers(m, LLVMGetOperand(i, 1),
                                                (int64_t)LLVMConstIntGetZExtValue(n));
        }
    } else if (str_starts(name, "llvm.memset")) {
        add(b, OP_MEMSET, i, NONE, value(m, b, LLVMGetOperand(i, 0)));
    } else if (str_starts(name, "llvm.va_start")) {
        add(b, OP_VA_START, i, NONE, value(m, b, LLVMGetOperand(i, 0)));
    } else if (str_starts(name, "llvm.va_copy")) {
        uint32_t to = value(m, b, LLVMGetOperand(i, 0));
        uint32_t from = value(m, b, LLVMGetOperand(i, 1));
        Op *op = add(b, OP_MEMCPY, i, NONE, to);
        op->b = from;
        op->pointer = true;
    } else if (mut_carries(m, LLVMTypeOf(i))) {
        for (unsigned k = 0; k < LLVMGetNumArgOperands(i); k++)
            copy(m, b, i, LLVMGetOperand(i, k), ANYWHERE);
    }
}

static void call(Mutability *m, Body *b, LLVMValueRef i)
{
    LLVMValueRef callee = LLVMGetCalledValue(i);
    size_t n;
    const char *name = LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &n) : "";

    if (str_starts(name, "llvm.") && pt_is_known_intrinsic(i)) {
        intrinsic(m, b, i, name);
        return;
    }
    for (unsigned k = 0; k < LLVMGetNumArgOperands(i); k++)
        value(m, b, LLVMGetOperand(i, k));
    decides(m, b, i, callee);
    uint32_t dst = mut_carries(m, LLVMTypeOf(i)) ? value(m, b, i) : NONE;
    add(b, LLVMIsAInlineAsm(callee) ? OP_ASM : OP_CALL, i, dst, NONE);
}

static bool is_outside(const Mutability *m, LLVMValueRef address)
{
    PtSet s = pointsto_value(m->pt, address, 0);

    for (size_t i = 0; i < s.n; i++)
        if (m->pt->shown[m->pt->locs.items[s.locs[i]].object].kind == PT_EXTERNAL)
            return true;
    return false;
}

/* A byte that was loaded and goes straight into a store may be part of a pointer:
 * points-to knows such loops, but not what comes from outside. */
static bool may_be_part(const Mutability *m, LLVMValueRef v)
{
    if (!LLVMIsALoadInst(v) || LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMIntegerTypeKind)
        return false;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) == v)
            return pointsto_value(m->pt, v, 0).n > 0 ||
                   (LLVMGetIntTypeWidth(LLVMTypeOf(v)) == 8 && is_outside(m, LLVMGetOperand(v, 0)));
    }
    return false;
}

/* A number that was loaded counts if points-to has seen pointers there. */
static bool loads_pointer(Mutability *m, LLVMValueRef i)
{
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(i));

    if (kind == LLVMIntegerTypeKind)
        return pointsto_value(m->pt, i, 0).n || may_be_part(m, i);
    return kind == LLVMPointerTypeKind || kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind ||
           mut_has_seen_pointers(m, LLVMGetOperand(i, 0), 8);
}

/* A number that is too small for a pointer may be a part of one. */
static void load_piece(Mutability *m, Op *op, LLVMValueRef i, bool any)
{
    if (mut_carries(m, LLVMTypeOf(i)) || mut_piece_is_harmless(i, false, any))
        return;
    op->piece = true;
    op->compared = mut_piece_is_compared(i, false, any);
    if (!any)
        op->pointer = mut_has_seen_pointers(m, LLVMGetOperand(i, 0),
                                            (int64_t)LLVMABISizeOfType(m->layout, LLVMTypeOf(i)));
}

static void memory(Mutability *m, Body *b, LLVMValueRef i)
{
    if (LLVMIsALoadInst(i)) {
        bool any = mut_carries(m, LLVMTypeOf(i)) || may_be_part(m, i);
        uint32_t from = value(m, b, LLVMGetOperand(i, 0));
        Op *op = add(b, OP_LOAD, i, any ? value(m, b, i) : NONE, from);
        op->pointer = any && loads_pointer(m, i);
        load_piece(m, op, i, any);
        if (LLVMGetVolatile(i))
            b->flow.impure = true;
    } else if (LLVMIsAStoreInst(i)) {
        LLVMValueRef v = LLVMGetOperand(i, 0);
        uint32_t to = value(m, b, LLVMGetOperand(i, 1));
        uint32_t from = mut_carries(m, LLVMTypeOf(v)) || may_be_part(m, v) ? value(m, b, v) : NONE;
        Op *op = add(b, OP_STORE, i, NONE, to);
        op->b = from;
        op->origin = store_class(m, i, LLVMGetOperand(i, 1), false);
        if (LLVMGetVolatile(i))
            b->flow.impure = true;
    } else {                         /* atomicrmw, cmpxchg */
        unsigned last = LLVMIsAAtomicCmpXchgInst(i) ? 2 : 1;
        LLVMValueRef v = LLVMGetOperand(i, last);
        bool any = mut_carries(m, LLVMTypeOf(v));
        uint32_t to = value(m, b, LLVMGetOperand(i, 0));
        uint32_t from = any ? value(m, b, v) : NONE;
        Op *op = add(b, OP_LOAD, i, mut_carries(m, LLVMTypeOf(i)) ? value(m, b, i) : NONE, to);
        op->pointer = any;
        add(b, OP_STORE, i, NONE, to)->b = from;
    }
}

static void phi(Mutability *m, Body *b, LLVMValueRef i)
{
    for (unsigned k = 0; k < LLVMCountIncoming(i); k++)
        copy(m, b, i, LLVMGetIncomingValue(i, k), 0);
}

/* What the pointer that a type begins with leads to; NULL if it begins otherwise. */
static const Type *first_pointee(const Type *t)
{
    t = type_plain(t);
    for (int guard = 0; guard < 8 && t->kind == TYPE_STRUCT && t->nfields; guard++)
        t = type_plain(t->fields[0].type);
    return t->kind == TYPE_POINTER ? type_plain(t->target) : NULL;
}

/* Is it a union whose members begin with pointers to different things? */
static bool has_pointers_to_choose(const Mutability *m, LLVMValueRef alloca)
{
    LLVMTypeRef l = LLVMGetAllocatedType(alloca);
    const char *name = LLVMGetTypeKind(l) == LLVMStructTypeKind ? LLVMGetStructName(l) : NULL;
    const Type *first = NULL;

    if (!name || !str_starts(name, "union."))
        return false;
    char *plain = xprintf("union %.*s", (int)strcspn(name + 6, "."), name + 6);
    const Type *t = types_find(program_types(m->program), plain, 0);
    if (!t)                                  /* a typedef of one without a tag */
        t = types_find(program_types(m->program), plain + 6, 0);
    free(plain);
    t = t ? type_plain(t) : NULL;
    for (unsigned i = 0; t && t->kind == TYPE_UNION && i < t->nfields; i++) {
        const Type *p = first_pointee(t->fields[i].type);
        if (p && first && p != first)
            return true;
        first = p ? p : first;
    }
    return false;
}

static void instruction(Mutability *m, Body *b, LLVMValueRef i)
{
    uint32_t n;

    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAlloca:
        n = value(m, b, i);
        pathset_add(&b->sets.items[n], path_root(ROOT_LOCAL | mut_local(b, i, true)));
        b->locals.items[mut_local(b, i, true)].one_of = has_pointers_to_choose(m, i);
        decides(m, b, i, LLVMGetOperand(i, 0));
        break;
    case LLVMIndirectBr: decides(m, b, i, LLVMGetOperand(i, 0)); break;
    case LLVMLoad:
    case LLVMStore:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: memory(m, b, i); break;
    case LLVMCall:
    case LLVMInvoke:
    case LLVMCallBr: call(m, b, i); break;
    case LLVMRet:
        if (LLVMGetNumOperands(i) && mut_carries(m, LLVMTypeOf(LLVMGetOperand(i, 0))))
            add(b, OP_RETURN, i, NONE, value(m, b, LLVMGetOperand(i, 0)));
        break;
    case LLVMGetElementPtr:
        copy(m, b, i, LLVMGetOperand(i, 0), mut_gep_offset(m, i));
        if (mut_is_index_of_null(m, i))
            copy(m, b, i, LLVMGetOperand(i, (unsigned)LLVMGetNumOperands(i) - 1), ANYWHERE);
        bits(m, b, i, 1);
        break;
    case LLVMICmp:
    case LLVMSwitch: bits(m, b, i, 0); break;
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMIntToPtr:
    case LLVMPtrToInt:
    case LLVMFreeze: part(m, b, i); break;
    case LLVMPHI:
        if (mut_carries(m, LLVMTypeOf(i)))
            phi(m, b, i);
        break;
    case LLVMSelect:
        if (mut_carries(m, LLVMTypeOf(i))) {
            copy(m, b, i, LLVMGetOperand(i, 1), 0);
            copy(m, b, i, LLVMGetOperand(i, 2), 0);
        }
        break;
    case LLVMExtractValue:
    case LLVMExtractElement: part(m, b, i); break;
    case LLVMInsertValue:
    case LLVMInsertElement:
    case LLVMShuffleVector:
        copy(m, b, i, LLVMGetOperand(i, 0), 0);
        copy(m, b, i, LLVMGetOperand(i, 1), 0);
        break;
    case LLVMAdd:
    case LLVMSub:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMMul:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
        if (mut_carries(m, LLVMTypeOf(i)))
            arithmetic(m, b, i);
        break;
    default: all_pieces(m, b, i);
    }
}

/* Characters may stand for anything; numbers and structs of numbers not. */
static bool has_no_pointers(const Type *t, unsigned depth)
{
    t = type_plain(t);
    if (t->kind == TYPE_SCALAR)
        return depth ||
               (t->encoding != ENCODING_SIGNED_CHAR && t->encoding != ENCODING_UNSIGNED_CHAR);
    if (t->kind == TYPE_ENUM)
        return true;
    if (t->kind == TYPE_ARRAY && depth < 8)
        return has_no_pointers(t->target, depth + 1);
    if (!type_is_record(t) || t->incomplete || depth > 8)
        return false;
    for (unsigned i = 0; i < t->nfields; i++)
        if (!has_no_pointers(t->fields[i].type, depth + 1))
            return false;
    return true;
}

static void find_plain(Body *b)
{
    b->plain = xcalloc(b->nargs + 1, sizeof(bool));
    b->to_const = xcalloc(b->nargs + 1, sizeof(bool));
    for (unsigned i = 0; i < b->fn->nparams; i++) {
        const Param *p = &b->fn->params[i];
        const Type *t = p->type ? type_plain(p->type) : NULL;
        if (t && t->kind == TYPE_POINTER && p->passing == PASSED_DIRECTLY &&
            p->first_arg < b->nargs) {
            b->plain[p->first_arg] = has_no_pointers(t->target, 0);
            b->to_const[p->first_arg] = type_has_qualifier(t->target, QUALIFIER_CONST);
        }
    }
}

static bool returns_twice(const Mutability *m, LLVMValueRef call)
{
    size_t n, len;
    const LLVMValueRef *t = pointsto_targets(m->pt, call, &n);
    LLVMValueRef callee = LLVMGetCalledValue(call);

    if (LLVMIsAFunction(callee) && str_starts(LLVMGetValueName2(callee, &len), "llvm.eh.sjlj."))
        return true;
    for (size_t i = 0; i < n; i++) {
        const Summary *s = summaries_find(m->summaries, LLVMGetValueName2(t[i], &len));
        if (LLVMIsDeclaration(t[i]) && s && s->twice)
            return true;
    }
    return false;
}

/* After setjmp(), each call may come back to it. */
static void find_second_returns(const Mutability *m, Body *b)
{
    bool *calls = xcalloc(b->nblocks + 1, sizeof *calls);

    for (size_t k = 0; k < b->blocks.len; k++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(b->blocks.items[k]); i;
             i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsACallInst(i))
                continue;
            calls[k] = true;
            if (returns_twice(m, i))
                vec_push(&b->again, (uint32_t)k);
        }
    b->calls = b->again.len ? calls : NULL;
    if (!b->calls)
        free(calls);
}

/* A copy of a struct that callers pass belongs to the function, but what is in
 * it doesn't: the argument is the root, and its own level does not count. */
void mut_lower(Mutability *m, Body *b)
{
    b->value = program_function_value(m->program, b->fn);
    b->nargs = LLVMCountParams(b->value);
    find_plain(b);
    b->flow.reads = xcalloc(b->nargs + 2, sizeof(bool));
    b->flow.passed = xcalloc(b->nargs + 2, sizeof(bool));
    for (unsigned i = 0; i < b->nargs; i++) {
        uint32_t n = value(m, b, LLVMGetParam(b->value, i));
        if (mut_carries(m, LLVMTypeOf(LLVMGetParam(b->value, i))))
            pathset_add(&b->sets.items[n], path_root(i));
    }
    for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(b->value); k; k = LLVMGetNextBasicBlock(k)) {
        pttable_put(&b->block_number, (uintptr_t)k, b->nblocks++);
        vec_push(&b->blocks, k);
    }
    b->reach = xcalloc(b->nblocks + 1, sizeof *b->reach);
    for (size_t k = 0; k < b->blocks.len; k++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(b->blocks.items[k]); i;
             i = LLVMGetNextInstruction(i))
            instruction(m, b, i);
    find_second_returns(m, b);
    b->lowered = true;
}

void mut_body_release(Body *b)
{
    vec_release(&b->ops);
    pttable_release(&b->number);
    for (size_t i = 0; i < b->sets.len; i++)
        pathset_release(&b->sets.items[i]);
    vec_release(&b->sets);
    pttable_release(&b->block_number);
    for (uint32_t i = 0; b->reach && i < b->nblocks; i++)
        free(b->reach[i]);
    free(b->reach);
    vec_release(&b->blocks);
    vec_release(&b->again);
    free(b->calls);
    vec_release(&b->locals);
    pttable_release(&b->local_of);
    for (size_t i = 0; i < b->buckets.len; i++)
        vec_release(&b->buckets.items[i].items);
    vec_release(&b->buckets);
    pttable_release(&b->bucket_of);
    map_release(&b->stored);
    vec_release(&b->met);
    pttable_release(&b->met_of);
    vec_release(&b->flow.effects);
    map_release(&b->flow.known);
    pttable_release(&b->flow.count);
    pathset_release(&b->flow.returns);
    free(b->flow.reads);
    free(b->flow.passed);
    free(b->plain);
    free(b->to_const);
    vec_release(&b->callers);
}

/* ---- members */

Member mut_member(const Mutability *m, LLVMValueRef address)
{
    Member out = { 0 };
    int64_t sum = 0;

    /* p->a.b is one getelementptr or two */
    for (int guard = 0; guard < 4 && LLVMIsAGetElementPtrInst(address); guard++) {
        LLVMTypeRef t = LLVMGetGEPSourceElementType(address);
        unsigned n = (unsigned)LLVMGetNumOperands(address);
        int64_t off = 0, inner = 0;
        LLVMTypeRef type = NULL;
        if (LLVMGetTypeKind(t) != LLVMStructTypeKind || n < 3)
            break;
        for (unsigned i = 2; i < n; i++) {
            LLVMValueRef index = LLVMGetOperand(address, i);
            if (LLVMGetTypeKind(t) == LLVMStructTypeKind) {
                unsigned k = (unsigned)LLVMConstIntGetZExtValue(index);
                inner = (int64_t)LLVMOffsetOfElement(m->layout, t, k);
                type = t;
                off += inner;
                t = LLVMStructGetTypeAtIndex(t, k);
            } else {
                return (Member){ 0 };
            }
        }
        if (!out.known)
            out = (Member){ .known = true, .inner = inner, .type = type };
        sum += off;
        out.outer = sum;
        out.top = LLVMGetGEPSourceElementType(address);
        address = LLVMGetOperand(address, 0);
    }
    return out;
}

/* ---- order */

static uint64_t *reach_from(Body *b, uint32_t block)
{
    uint32_t words = b->nblocks / 64 + 1;
    uint64_t *seen = xcalloc(words, sizeof *seen);
    Vec(uint32_t) work = { 0 };

    vec_push(&work, block);
    while (work.len) {
        uint32_t at = work.items[--work.len];
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b->blocks.items[at]);
        unsigned n = end ? LLVMGetNumSuccessors(end) : 0;
        unsigned back = b->calls && b->calls[at] ? (unsigned)b->again.len : 0;
        for (unsigned i = 0; i < n + back; i++) {
            uint32_t k = i < n ? pttable_get(&b->block_number, (uintptr_t)LLVMGetSuccessor(end, i))
                               : b->again.items[i - n];
            if (seen[k / 64] >> (k % 64) & 1)
                continue;
            seen[k / 64] |= UINT64_C(1) << (k % 64);
            vec_push(&work, k);
        }
    }
    vec_release(&work);
    return seen;
}

bool mut_reaches(Body *b, uint32_t from, uint32_t to)
{
    return from == to || mut_comes_later(b, from, to);
}

bool mut_comes_later(Body *b, uint32_t from, uint32_t to)
{
    assert(from < b->ops.len && to < b->ops.len);
    uint32_t x = b->ops.items[from].block, y = b->ops.items[to].block;

    assert(x < b->nblocks && y < b->nblocks);
    if (x == y && from < to)
        return true;
    if (!b->reach[x])
        b->reach[x] = reach_from(b, x);
    return b->reach[x][y / 64] >> (y % 64) & 1;
}
