/*
 * Instructions become constraints, one pass over the module. What a call does
 * is decided in pt_call.c.
 *
 * Integers of 64 bits and more carry pointers as pointers do; narrower ones
 * only from a load straight into a store (a loop that copies bytes). Arithmetic
 * on such integers keeps the object and loses the offset, but for adding a
 * constant and for masking the low bits, where tags are kept.
 */
#include "analysis/pointsto/pt_int.h"
#include "base/escape.h"
#include <string.h>

/* ---- constants */

static int64_t type_size(Pt *pt, LLVMTypeRef t)
{
    return LLVMTypeIsSized(t) ? (int64_t)LLVMABISizeOfType(pt->v->layout, t) : 0;
}

static void add_step(Pt *pt, uint32_t first, int kind, int64_t add, int64_t count)
{
    PtStep st = { .add = add, .count = count, .kind = kind };

    if (!add && kind != STEP_ANY)
        return;
    if (kind == STEP_ADD && pt->steps.len > first &&
        pt->steps.items[pt->steps.len - 1].kind == STEP_ADD) {
        pt->steps.items[pt->steps.len - 1].add += add;
        return;
    }
    vec_push(&pt->steps, st);
}

/* The steps of a getelementptr, instruction or constant, at the end of
 * pt->steps; returns where they begin. */
static uint32_t gep_steps(Pt *pt, LLVMValueRef gep)
{
    uint32_t first = (uint32_t)pt->steps.len;
    LLVMTypeRef t = LLVMGetGEPSourceElementType(gep);
    unsigned n = (unsigned)LLVMGetNumOperands(gep);

    for (unsigned i = 1; i < n; i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        bool known = LLVMIsAConstantInt(index);
        int64_t k = known && LLVMGetIntTypeWidth(LLVMTypeOf(index)) <= 64
                        ? LLVMConstIntGetSExtValue(index)
                        : 0;
        if (i > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            if (!known) {
                add_step(pt, first, STEP_ANY, 0, 0);
                return first;
            }
            add_step(pt, first, STEP_ADD,
                     (int64_t)LLVMOffsetOfElement(pt->v->layout, t, (unsigned)k), 0);
            t = LLVMStructGetTypeAtIndex(t, (unsigned)k);
            continue;
        }
        int64_t count = 0;
        if (i > 1) {
            LLVMTypeKind kind = LLVMGetTypeKind(t);
            count = kind == LLVMArrayTypeKind    ? (int64_t)LLVMGetArrayLength2(t)
                    : kind == LLVMVectorTypeKind ? (int64_t)LLVMGetVectorSize(t)
                                                 : 0;
            t = LLVMGetElementType(t);
        }
        int64_t size = type_size(pt, t), add;
        if (!known || __builtin_mul_overflow(k, size, &add))
            add_step(pt, first, STEP_INDEX, size, count);
        else if (i == 1)
            add_step(pt, first, size == 1 ? STEP_BYTES : STEP_NEXT, add, 0);
        else
            add_step(pt, first, STEP_ADD, add, 0);
    }
    return first;
}

uint32_t pt_global_object(Pt *pt, LLVMValueRef g)
{
    if (LLVMIsAFunction(g))
        return pt_object_at(pt, PT_FUNCTION, g, -1);
    if (ptvalues_is_literal(g))
        return pt->literals;
    LLVMValueRef first = ptvalues_section(g);
    if (first)
        return pt_object_at(pt, PT_GLOBAL, first, -1);
    return pt_object_at(pt, PT_GLOBAL, g, type_size(pt, LLVMGlobalGetValueType(g)));
}

static uint32_t const_node(Pt *pt, LLVMValueRef c);
static void cut_constant(Pt *pt, LLVMValueRef c);

/* A pointer constant made of other constants. */
static void const_expression(Pt *pt, uint32_t node, LLVMValueRef c)
{
    LLVMOpcode op = LLVMGetConstOpcode(c);
    uint32_t from;

    if (op == LLVMGetElementPtr) {
        uint32_t base = const_node(pt, LLVMGetOperand(c, 0));
        uint32_t steps = gep_steps(pt, c);
        PtConstraint k = { C_STEP, node, 0, steps, (uint32_t)pt->steps.len - steps };
        if (base == NONE)
            return;
        if (k.nsteps)
            pt_constrain(pt, base, k);
        else
            pt_edge(pt, base, node);
        return;
    }
    bool cast =
        op == LLVMBitCast || op == LLVMPtrToInt || op == LLVMIntToPtr || op == LLVMAddrSpaceCast;
    for (int i = 0; i < LLVMGetNumOperands(c); i++)
        if ((from = const_node(pt, LLVMGetOperand(c, (unsigned)i))) != NONE) {
            if (cast)
                pt_edge(pt, from, node);
            else
                pt_constrain(pt, from, (PtConstraint){ .kind = C_NARROW, .other = node });
        }
}

static void const_words(Pt *pt, uint32_t first, LLVMValueRef c, int64_t at, unsigned words)
{
    LLVMTypeRef t = LLVMTypeOf(c);
    LLVMTypeKind kind = LLVMGetTypeKind(t);

    if (LLVMIsNull(c) || LLVMIsUndef(c) || LLVMIsAConstantDataSequential(c))
        return;
    if (kind != LLVMStructTypeKind && kind != LLVMArrayTypeKind && kind != LLVMVectorTypeKind) {
        uint32_t node = const_node(pt, c);
        int64_t word = at / 8 < words ? at / 8 : words - 1;
        if (node != NONE)
            pt_edge(pt, node, first + (uint32_t)word);
        return;
    }
    int n = LLVMGetNumOperands(c);
    for (int i = 0; i < n; i++) {
        int64_t off = kind == LLVMStructTypeKind
                          ? (int64_t)LLVMOffsetOfElement(pt->v->layout, t, (unsigned)i)
                          : i * type_size(pt, LLVMGetElementType(t));
        const_words(pt, first, LLVMGetOperand(c, (unsigned)i), at + off, words);
    }
}

static uint32_t const_node(Pt *pt, LLVMValueRef c)
{
    unsigned words = ptvalues_words(pt->v, LLVMTypeOf(c));

    if (!words || LLVMIsNull(c) || LLVMIsUndef(c) || LLVMIsAConstantInt(c) ||
        LLVMIsAConstantFP(c) || LLVMIsABlockAddress(c) || LLVMIsAInlineAsm(c))
        return NONE;
    uint32_t node = pttable_get(&pt->const_node, (uintptr_t)c);
    if (node != NONE)
        return node;
    if (LLVMIsAGlobalAlias(c))
        return const_node(pt, LLVMAliasGetAliasee(c));
    node = pt_node_new(pt);
    for (unsigned i = 1; i < words; i++)
        pt_node_new(pt);
    pttable_put(&pt->const_node, (uintptr_t)c, node);
    if (LLVMIsAGlobalIFunc(c)) {
        const PtFunction *f = ptvalues_function(pt->v, LLVMGetGlobalIFuncResolver(c));
        if (f && f->nret)
            pt_edge(pt, f->ret, node);
    } else if (LLVMIsAFunction(c) || LLVMIsAGlobalVariable(c)) {
        pt_member(pt, node, pt_loc(pt, pt_global_object(pt, c), 0));
    } else if (LLVMIsAConstantExpr(c)) {
        const_expression(pt, node, c);
    } else if (words) {
        const_words(pt, node, c, 0, words);
    }
    return node;
}

uint32_t pt_value_node(Pt *pt, LLVMValueRef v)
{
    if (LLVMIsAConstant(v))
        return const_node(pt, v);
    uint32_t n = ptvalues_number(pt->v, v);
    return n == NONE ? NONE : pt->v->slot[n];
}

/* ---- variables */

static void initialise(Pt *pt, uint32_t object, LLVMValueRef c, int64_t at)
{
    LLVMTypeRef t = LLVMTypeOf(c);
    LLVMTypeKind kind = LLVMGetTypeKind(t);

    if (LLVMIsNull(c) || LLVMIsUndef(c) || LLVMIsAConstantDataSequential(c))
        return;
    if (kind != LLVMStructTypeKind && kind != LLVMArrayTypeKind && kind != LLVMVectorTypeKind) {
        uint32_t node = const_node(pt, c);
        cut_constant(pt, c);
        if (node == NONE)
            return;
        uint32_t cell = pt_read_node(pt, pt_loc(pt, object, at));
        if (cell != NONE)
            pt_edge(pt, node, cell);
        return;
    }
    int n = LLVMGetNumOperands(c);
    int64_t size = kind == LLVMStructTypeKind ? 0 : type_size(pt, LLVMGetElementType(t));
    for (int i = 0; i < n; i++) {
        int64_t off = kind == LLVMStructTypeKind
                          ? (int64_t)LLVMOffsetOfElement(pt->v->layout, t, (unsigned)i)
                          : i * size;
        initialise(pt, object, LLVMGetOperand(c, (unsigned)i), at + off);
    }
}

static void extern_variable(Pt *pt, uint32_t object, LLVMValueRef g)
{
    size_t n;
    const char *name = LLVMGetValueName2(g, &n);
    const Summary *s = summaries_variable(pt->summaries, name);

    pt->objects.items[object].flat = true;
    pt->objects.items[object].size = -1;
    uint32_t any = pt_loc(pt, object, ANY);
    uint32_t cell = pt_read_node(pt, any);
    if (s && s->ret.kind == SUMMARY_STATIC)
        pt_member(pt, cell, pt_loc(pt, pt_library_object(pt, name, g), 0));
    else if (s && s->ret.kind == SUMMARY_STATE)
        pt_edge(pt, pt->state[s->ret.param], cell);
    else if (!s)
        pt_member(pt, pt->world, any);
}

bool pt_is_exported(const PointsToPlan *plan, LLVMValueRef g)
{
    LLVMLinkage l = LLVMGetLinkage(g);

    return l != LLVMInternalLinkage && l != LLVMPrivateLinkage &&
           (plan->hidden_too || LLVMGetVisibility(g) != LLVMHiddenVisibility);
}

bool pt_is_replaceable(const PointsToPlan *plan, LLVMValueRef g)
{
    return plan->open_world && LLVMGetLinkage(g) == LLVMWeakAnyLinkage && pt_is_exported(plan, g);
}

bool pt_hides_all(LLVMModuleRef m)
{
    const PointsToPlan by_visibility = { 0 };

    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && pt_is_exported(&by_visibility, f))
            return false;
    return true;
}

static void variables(Pt *pt)
{
    LLVMModuleRef m = pt->v->module;

    /* Shapes first: initialisers then fold as they come. */
    for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g)) {
        uint32_t o = pt_global_object(pt, g);
        if (ptvalues_section(g))
            pt->objects.items[o].flat = true;
        if (LLVMIsDeclaration(g) || o == pt->literals || pt->objects.items[o].flat)
            continue;
        pt->objects.items[o].constant = LLVMIsGlobalConstant(g) && !pt_is_replaceable(pt->plan, g);
        pt_object_shape(pt, o, LLVMGlobalGetValueType(g));
    }
    for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g)) {
        size_t n;
        const char *name = LLVMGetValueName2(g, &n);
        uint32_t o = pt_global_object(pt, g);
        if (!strncmp(name, "llvm.", 5) || o == pt->literals)
            continue;
        if (LLVMIsDeclaration(g)) {
            extern_variable(pt, o, g);
            continue;
        }
        initialise(pt, o, LLVMGetInitializer(g), 0);
        if (pt->plan->open_world && pt_is_exported(pt->plan, g))
            pt_member(pt, pt->world, pt_loc(pt, o, 0));
    }
}

/* ---- instructions */

static unsigned words_of(Pt *pt, LLVMValueRef v) { return ptvalues_words(pt->v, LLVMTypeOf(v)); }

static void copy_words(Pt *pt, uint32_t to, uint32_t from, unsigned n)
{
    if (to == NONE || from == NONE)
        return;
    for (unsigned i = 0; i < n; i++)
        pt_edge(pt, from + i, to + i);
}

/* The result is the operand: one node for both. */
static void same(Pt *pt, LLVMValueRef inst, LLVMValueRef operand)
{
    uint32_t to = pt_value_node(pt, inst), from = pt_value_node(pt, operand);

    if (to == NONE || from == NONE)
        return;
    unsigned n = words_of(pt, inst), m = words_of(pt, operand);
    if (n != m)
        n = m = n < m ? n : m;
    for (unsigned i = 0; i < n; i++)
        if (LLVMIsAConstant(operand))
            pt_edge(pt, from + i, to + i);
        else
            pt_merge(pt, to + i, from + i);
}

static void load(Pt *pt, uint32_t to, unsigned words, LLVMValueRef address)
{
    uint32_t from = pt_value_node(pt, address);

    if (to == NONE || from == NONE)
        return;
    for (unsigned i = 0; i < words; i++)
        pt_constrain(pt, from, (PtConstraint){ C_LOAD, to + i, 8 * i, 0, 0 });
}

static void store(Pt *pt, LLVMValueRef value, LLVMValueRef address)
{
    uint32_t from = pt_value_node(pt, value), to = pt_value_node(pt, address);
    unsigned words = words_of(pt, value);

    if (to == NONE || from == NONE)
        return;
    for (unsigned i = 0; i < (words ? words : 1); i++)
        pt_constrain(pt, to, (PtConstraint){ C_STORE, from + i, 8 * i, 0, 0 });
}

static void step(Pt *pt, LLVMValueRef inst, LLVMValueRef base, uint32_t first)
{
    uint32_t to = pt_value_node(pt, inst), from = pt_value_node(pt, base);
    uint32_t n = (uint32_t)pt->steps.len - first;

    if (to == NONE || from == NONE)
        return;
    if (!n) {
        same(pt, inst, base);
        return;
    }
    unsigned words = words_of(pt, inst), have = words_of(pt, base);
    for (unsigned i = 0; i < words; i++)
        pt_constrain(pt, from + (i < have ? i : have - 1),
                     (PtConstraint){ C_STEP, to + i, 0, first, n });
}

static void one_step(Pt *pt, LLVMValueRef inst, LLVMValueRef base, int kind, int64_t add)
{
    uint32_t first = (uint32_t)pt->steps.len;

    add_step(pt, first, kind, add, 0);
    step(pt, inst, base, first);
}

static void loses_offset(Pt *pt, LLVMValueRef inst, LLVMValueRef from)
{
    uint32_t to = pt_value_node(pt, inst), node = pt_value_node(pt, from);

    if (to != NONE && node != NONE)
        pt_constrain(pt, node, (PtConstraint){ .kind = C_NARROW, .other = to });
}

/* On vectors, word by word; on integers of several words, which may move from one to
 * another. */
static void wide_arithmetic(Pt *pt, LLVMValueRef inst)
{
    bool vector = LLVMGetTypeKind(LLVMTypeOf(inst)) == LLVMVectorTypeKind;
    uint32_t to = pt_value_node(pt, inst);
    unsigned n = words_of(pt, inst);

    for (unsigned k = 0; k < 2; k++) {
        uint32_t from = pt_value_node(pt, LLVMGetOperand(inst, k));
        for (unsigned i = 0; i < n && from != NONE && to != NONE; i++)
            for (unsigned j = 0; j < n; j++)
                if (i == j || !vector)
                    pt_constrain(pt, from + j, (PtConstraint){ .kind = C_NARROW, .other = to + i });
    }
}

/* A pointer as a number. What is taken from it is no pointer then, but a distance. */
static bool is_address(LLVMValueRef v)
{
    return LLVMIsAPtrToIntInst(v) && !LLVMIsNull(LLVMGetOperand(v, 0));
}

static void arithmetic(Pt *pt, LLVMValueRef inst, LLVMOpcode op)
{
    LLVMValueRef a = LLVMGetOperand(inst, 0), b = LLVMGetOperand(inst, 1);

    if (!words_of(pt, inst))
        return;
    if (LLVMGetTypeKind(LLVMTypeOf(inst)) != LLVMIntegerTypeKind ||
        LLVMGetIntTypeWidth(LLVMTypeOf(inst)) > 64) {
        wide_arithmetic(pt, inst);
        return;
    }
    if (!LLVMIsAConstantInt(b)) {
        loses_offset(pt, inst, a);
        bool shift = op == LLVMShl || op == LLVMLShr || op == LLVMAShr;
        if (!shift && !(op == LLVMSub && is_address(a)))
            loses_offset(pt, inst, b);
        return;
    }
    int64_t k = LLVMConstIntGetSExtValue(b);
    if (op == LLVMAdd || op == LLVMSub)
        one_step(pt, inst, a, STEP_BYTES, op == LLVMAdd ? k : -k);
    else if (op == LLVMAnd && k >= -4096 && k < 0 && (-k & (-k - 1)) == 0)
        one_step(pt, inst, a, STEP_ALIGN, -k);
    else if ((op == LLVMOr || op == LLVMXor) && k >= 0 && k < 16)
        same(pt, inst, a);
    else if (op != LLVMAnd || k < 0 || k >= 4096)
        loses_offset(pt, inst, a);
}

/* Was the integer, or a part of it, ever narrower than a pointer? */
static bool was_narrow(Pt *pt, LLVMValueRef v, int depth)
{
    if (!LLVMIsAInstruction(v) || depth > 6)
        return false;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMZExt:
    case LLVMSExt: return LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(v, 0))) >= 16;
    case LLVMPHI:
    case LLVMSelect:
    case LLVMAdd:
    case LLVMOr:
    case LLVMXor:
    case LLVMAnd:
    case LLVMShl:
        for (int i = 0; i < LLVMGetNumOperands(v); i++)
            if (was_narrow(pt, LLVMGetOperand(v, (unsigned)i), depth + 1))
                return true;
        return false;
    default: return false;
    }
}

static void int_to_ptr(Pt *pt, LLVMValueRef inst)
{
    LLVMValueRef from = LLVMGetOperand(inst, 0);

    pt->stats.inttoptr++;
    same(pt, inst, from);
    if (was_narrow(pt, from, 0) || !words_of(pt, from)) {
        pt->stats.inttoptr_unknown++;
        pt_note(pt, inst,
                "pointer made from a narrow integer: may point to all "
                "whose address was cut to one");
        pt_edge(pt, pt->integers, pt_value_node(pt, inst));
    }
}

static void cast(Pt *pt, LLVMValueRef inst, LLVMOpcode op)
{
    LLVMValueRef from = LLVMGetOperand(inst, 0);
    uint32_t node = pt_value_node(pt, from);

    if (op == LLVMIntToPtr)
        int_to_ptr(pt, inst);
    else if (node != NONE && (op == LLVMTrunc || op == LLVMPtrToInt) && !words_of(pt, inst))
        pt_constrain(pt, node, (PtConstraint){ .kind = C_NARROW, .other = pt->integers });
    else if (words_of(pt, from) && words_of(pt, inst))
        same(pt, inst, from);
}

/* Where in an aggregate insertvalue and extractvalue work. */
static int64_t path_offset(Pt *pt, LLVMValueRef inst, LLVMTypeRef t)
{
    const unsigned *index = LLVMGetIndices(inst);
    int64_t at = 0;

    for (unsigned i = 0; i < LLVMGetNumIndices(inst); i++) {
        if (LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            at += (int64_t)LLVMOffsetOfElement(pt->v->layout, t, index[i]);
            t = LLVMStructGetTypeAtIndex(t, index[i]);
        } else {
            t = LLVMGetElementType(t);
            at += index[i] * type_size(pt, t);
        }
    }
    return at;
}

/* A part of an aggregate, `at` bytes into it, goes to or comes from a value. */
static void part(Pt *pt, uint32_t whole, unsigned nwhole, int64_t at, uint32_t value,
                 unsigned nvalue, bool out)
{
    if (whole == NONE || value == NONE)
        return;
    for (unsigned i = 0; i < (nvalue ? nvalue : 1); i++) {
        uint64_t word = (uint64_t)at / 8 + i;
        uint32_t w = whole + (uint32_t)(word < nwhole ? word : nwhole - 1);
        if (out)
            pt_edge(pt, w, value + i);
        else
            pt_edge(pt, value + i, w);
    }
}

static void element(Pt *pt, LLVMValueRef inst, LLVMOpcode op)
{
    LLVMValueRef vec = LLVMGetOperand(inst, 0);
    bool out = op == LLVMExtractElement;
    LLVMValueRef value = out ? inst : LLVMGetOperand(inst, 1);
    LLVMValueRef index = LLVMGetOperand(inst, out ? 1 : 2);
    uint32_t whole = pt_value_node(pt, out ? vec : inst);
    unsigned n = words_of(pt, vec), m = words_of(pt, value);
    int64_t size = type_size(pt, LLVMGetElementType(LLVMTypeOf(vec)));

    if (!out)
        copy_words(pt, whole, pt_value_node(pt, vec), n);
    if (!m)
        return;
    for (unsigned i = 0; i < n; i++)
        if (!LLVMIsAConstantInt(index) || LLVMConstIntGetZExtValue(index) * (uint64_t)size / 8 == i)
            part(pt, whole, n, 8 * i, pt_value_node(pt, value), m, out);
}

static void shuffle(Pt *pt, LLVMValueRef inst)
{
    uint32_t to = pt_value_node(pt, inst);
    unsigned n = words_of(pt, inst);

    for (unsigned k = 0; k < 2; k++) {
        LLVMValueRef v = LLVMGetOperand(inst, k);
        uint32_t from = pt_value_node(pt, v);
        if (to == NONE || from == NONE)
            continue;
        for (unsigned i = 0; i < words_of(pt, v); i++)
            for (unsigned j = 0; j < n; j++)
                pt_edge(pt, from + i, to + j);
    }
}

static void atomic(Pt *pt, LLVMValueRef inst, LLVMOpcode op)
{
    LLVMValueRef address = LLVMGetOperand(inst, 0);
    bool swap = op == LLVMAtomicCmpXchg;
    LLVMValueRef value = LLVMGetOperand(inst, swap ? 2 : 1);

    load(pt, pt_value_node(pt, inst), swap ? 1 : words_of(pt, inst), address);
    store(pt, value, address);
}

static void alloca_object(Pt *pt, LLVMValueRef inst)
{
    LLVMTypeRef t = LLVMGetAllocatedType(inst);
    LLVMValueRef count = LLVMGetOperand(inst, 0);
    bool one = LLVMIsAConstantInt(count) && LLVMConstIntGetZExtValue(count) == 1;
    uint32_t o = pt_object_at(pt, PT_STACK, inst, one ? type_size(pt, t) : -1);

    if (one)
        pt_object_shape(pt, o, t);
    pt_member(pt, pt_value_node(pt, inst), pt_loc(pt, o, 0));
}

static void phi(Pt *pt, LLVMValueRef inst)
{
    for (unsigned i = 0; i < LLVMCountIncoming(inst); i++)
        copy_words(pt, pt_value_node(pt, inst), pt_value_node(pt, LLVMGetIncomingValue(inst, i)),
                   words_of(pt, inst));
}

static void call(Pt *pt, LLVMValueRef inst);

/* The address of a variable, cut to a narrow integer by a constant. */
static void cut_constant(Pt *pt, LLVMValueRef c)
{
    if (!LLVMIsAConstantExpr(c) || words_of(pt, c))
        return;
    for (int i = 0; i < LLVMGetNumOperands(c); i++) {
        LLVMValueRef of = LLVMGetOperand(c, (unsigned)i);
        uint32_t node = const_node(pt, of);
        if (node != NONE)
            pt_constrain(pt, node, (PtConstraint){ .kind = C_NARROW, .other = pt->integers });
        else
            cut_constant(pt, of);
    }
}

static void instruction(Pt *pt, LLVMValueRef inst, const PtFunction *fn)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(inst);
    unsigned words = words_of(pt, inst);
    uint32_t node = pt_value_node(pt, inst);

    for (int i = 0; i < LLVMGetNumOperands(inst); i++)
        cut_constant(pt, LLVMGetOperand(inst, (unsigned)i));
    switch (op) {
    case LLVMAlloca: alloca_object(pt, inst); break;
    case LLVMLoad: load(pt, node, words ? words : 1, LLVMGetOperand(inst, 0)); break;
    case LLVMStore: store(pt, LLVMGetOperand(inst, 0), LLVMGetOperand(inst, 1)); break;
    case LLVMGetElementPtr:
        step(pt, inst, LLVMGetOperand(inst, 0), gep_steps(pt, inst));
        if (LLVMIsNull(LLVMGetOperand(inst, 0)))             /* (char *)NULL + n is n */
            loses_offset(pt, inst, LLVMGetOperand(inst, (unsigned)LLVMGetNumOperands(inst) - 1));
        break;
    case LLVMPHI: phi(pt, inst); break;
    case LLVMSelect:
        copy_words(pt, node, pt_value_node(pt, LLVMGetOperand(inst, 1)), words);
        copy_words(pt, node, pt_value_node(pt, LLVMGetOperand(inst, 2)), words);
        break;
    case LLVMFreeze: same(pt, inst, LLVMGetOperand(inst, 0)); break;
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt: cast(pt, inst, op); break;
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
    case LLVMSRem: arithmetic(pt, inst, op); break;
    case LLVMExtractValue: {
        LLVMValueRef whole = LLVMGetOperand(inst, 0);
        if (words)
            part(pt, pt_value_node(pt, whole), words_of(pt, whole),
                 path_offset(pt, inst, LLVMTypeOf(whole)), node, words, true);
        break;
    }
    case LLVMInsertValue: {
        LLVMValueRef value = LLVMGetOperand(inst, 1);
        copy_words(pt, node, pt_value_node(pt, LLVMGetOperand(inst, 0)), words);
        if (words_of(pt, value))
            part(pt, node, words, path_offset(pt, inst, LLVMTypeOf(inst)), pt_value_node(pt, value),
                 words_of(pt, value), false);
        break;
    }
    case LLVMExtractElement:
    case LLVMInsertElement: element(pt, inst, op); break;
    case LLVMShuffleVector: shuffle(pt, inst); break;
    case LLVMAtomicCmpXchg:
    case LLVMAtomicRMW: atomic(pt, inst, op); break;
    case LLVMVAArg: load(pt, node, words, LLVMGetOperand(inst, 0)); break;
    case LLVMRet:
        if (LLVMGetNumOperands(inst) && fn->nret)
            copy_words(pt, fn->ret, pt_value_node(pt, LLVMGetOperand(inst, 0)), fn->nret);
        break;
    case LLVMCall:
    case LLVMInvoke:
    case LLVMCallBr: call(pt, inst); break;
    default: break;
    }
}

/* ---- calls */

/* Assembler may move any pointer it is given anywhere it can reach. */
static void inline_asm(Pt *pt, LLVMValueRef inst, const PtCall *c)
{
    uint32_t mixed = pt_node_new(pt);

    for (uint32_t i = 0; i < c->nargs; i++)
        for (uint32_t w = 0; w < c->args[i].words; w++) {
            uint32_t arg = c->args[i].node + w;
            pt_edge(pt, arg, mixed);
            pt_constrain(pt, arg, (PtConstraint){ C_STORE, mixed, ANY, 0, 0 });
            pt_constrain(pt, arg, (PtConstraint){ C_LOAD, mixed, ANY, 0, 0 });
        }
    for (uint32_t w = 0; w < c->nresult; w++)
        pt_edge(pt, mixed, c->result + w);
    if (c->nargs)
        pt_note(pt, inst, "inline assembly gets pointers");
}

LLVMValueRef pt_direct_target(LLVMValueRef callee)
{
    for (int i = 0; i < 8; i++) {
        if (LLVMIsAFunction(callee))
            return callee;
        if (LLVMIsAGlobalAlias(callee))
            callee = LLVMAliasGetAliasee(callee);
        else if (LLVMIsAConstantExpr(callee) && LLVMGetConstOpcode(callee) == LLVMBitCast)
            callee = LLVMGetOperand(callee, 0);
        else
            return NULL;
    }
    return NULL;
}

static void call(Pt *pt, LLVMValueRef inst)
{
    LLVMValueRef callee = LLVMGetCalledValue(inst);
    LLVMTypeRef type = LLVMGetCalledFunctionType(inst);
    LLVMValueRef fn = pt_direct_target(callee);
    size_t len;

    if (fn && str_starts(LLVMGetValueName2(fn, &len), "llvm.dbg"))
        return;
    PtCall c = { .inst = inst, .type = type, .pool = NONE };
    c.result = pt_value_node(pt, inst);
    c.nresult = c.result == NONE ? 0 : words_of(pt, inst);
    c.nargs = LLVMGetNumArgOperands(inst);
    c.args = arena_array(&pt->arena, PtArg, c.nargs + 1);
    for (unsigned i = 0; i < c.nargs; i++)
        c.args[i] = pt_arg(pt, inst, i);
    c.loose = pt_call_form(pt, inst).loose;
    uint32_t w = pttable_get(&pt->hands_on, (uintptr_t)inst);
    c.pool = w;
    c.inner = w == NONE ? 0 : pttable_get(&pt->hands_inner, (uintptr_t)inst);
    if (LLVMIsAInlineAsm(callee)) {
        inline_asm(pt, inst, &c);
        return;
    }
    vec_push(&pt->calls, c);
    uint32_t id = (uint32_t)pt->calls.len - 1;
    pttable_put(&pt->call_of, (uintptr_t)inst, id);
    if (fn) {
        pt_call_direct(pt, id, fn);
        return;
    }
    uint32_t node = pt_value_node(pt, callee);
    if (node != NONE)
        pt_constrain(pt, node, (PtConstraint){ .kind = C_CALL, .other = id });
}

/* ---- the whole */

static bool has_attribute(LLVMValueRef fn, unsigned param, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    return LLVMGetEnumAttributeAtIndex(fn, param + 1, kind) != NULL;
}

static void parameters(Pt *pt, const PtFunction *f)
{
    for (uint32_t i = 0; i < f->nparams; i++) {
        LLVMValueRef p = LLVMGetParam(f->fn, i);
        if (!has_attribute(f->fn, i, "byval"))
            continue;
        uint32_t o = pt_object_at(pt, PT_BYVAL, p, -1);
        pt_member(pt, pt_value_node(pt, p), pt_loc(pt, o, 0));
    }
}

static void entry_main(Pt *pt, LLVMValueRef fn)
{
    uint32_t argv = pt_object_flat(pt, PT_ARGV, NULL);
    uint32_t strings = pt_object_flat(pt, PT_ARGV, NULL);

    pt_member(pt, pt_read_node(pt, pt_loc(pt, argv, ANY)), pt_loc(pt, strings, ANY));
    for (unsigned i = 1; i < LLVMCountParams(fn); i++) {
        uint32_t node = pt_value_node(pt, LLVMGetParam(fn, i));
        if (node != NONE)
            pt_member(pt, node, pt_loc(pt, argv, ANY));
    }
    for (size_t i = 0; i < summaries_ntags(pt->summaries); i++)
        if (!strcmp(summaries_tag(pt->summaries, (unsigned)i), "argv"))
            pt_member(pt, pt->state[i], pt_loc(pt, strings, ANY));
}

static void entries(Pt *pt)
{
    LLVMValueRef fn = LLVMGetNamedFunction(pt->v->module, "main");

    if (fn && !LLVMIsDeclaration(fn))
        entry_main(pt, fn);
    if (!pt->plan->open_world)
        return;
    for (size_t i = 0; i < pt->v->functions.len; i++) {
        fn = pt->v->functions.items[i].fn;
        if (!LLVMIsDeclaration(fn) && pt_is_exported(pt->plan, fn))
            pt_member(pt, pt->world, pt_loc(pt, pt_global_object(pt, fn), 0));
    }
}

/* The outside: one flat object that holds what has escaped and itself. */
static void outside(Pt *pt)
{
    pt->external = pt_object_flat(pt, PT_EXTERNAL, NULL);
    uint32_t any = pt_loc(pt, pt->external, ANY);
    pt->world = pt_read_node(pt, any);
    pt_member(pt, pt->world, any);
    pt_constrain(pt, pt->world, (PtConstraint){ .kind = C_ESCAPE });
    PtCall c = { .result = pt->world, .nresult = 1, .loose = true, .pool = NONE };
    c.nargs = 16;
    c.args = arena_array(&pt->arena, PtArg, c.nargs);
    for (unsigned i = 0; i < c.nargs; i++)
        c.args[i] = (PtArg){ .node = pt->world, .words = 1 };
    vec_push(&pt->calls, c);
    pt->outside_call = (uint32_t)pt->calls.len - 1;
}

void pt_build(Pt *pt)
{
    for (uint32_t i = 0; i < pt->v->nslots; i++)
        pt_node_new(pt);
    pt->heap = pt->swamp = NONE;
    pt->integers = pt_node_new(pt);
    size_t tags = summaries_ntags(pt->summaries);
    pt->state = arena_array(&pt->arena, uint32_t, tags + 1);
    for (size_t i = 0; i < tags; i++)
        pt->state[i] = pt_node_new(pt);
    for (size_t i = 0; i < pt->wrappers.len; i++)
        pt->wrappers.items[i].pool = pt_node_new(pt);
    for (size_t i = 0; i < pt->wrappers.len; i++)
        pt->wrappers.items[i].extra = pt_node_new(pt);
    outside(pt);
    pt->literals = pt_object_flat(pt, PT_GLOBAL, NULL);
    pt->objects.items[pt->literals].constant = true;
    variables(pt);
    for (size_t i = 0; i < pt->v->functions.len; i++) {
        const PtFunction *f = &pt->v->functions.items[i];
        if (LLVMIsDeclaration(f->fn))
            continue;
        parameters(pt, f);
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->fn); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef x = LLVMGetFirstInstruction(b); x; x = LLVMGetNextInstruction(x))
                instruction(pt, x, f);
    }
    entries(pt);
}

void pt_note(Pt *pt, LLVMValueRef inst, const char *what)
{
    size_t n;
    LLVMValueRef fn = LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst));
    unsigned line = LLVMGetDebugLocLine(inst);

    if (pt->notes.len < 1000)
        strings_addf(&pt->notes, "%s:%u: %s", LLVMGetValueName2(fn, &n), line, what);
}
