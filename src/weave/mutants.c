/*
 * The weave of mutants: a program with many small faults, of which a number
 * switches one on.
 *
 *     a < b           mutant == 7 ? a <= b : mutant == 8 ? a >= b : a < b
 *     a + b           mutant == 9 ? a - b : a + b
 *     3               mutant == 10 ? 4 : 3
 *     f(x);           (mutant == 11 ? nothing : f)(x);
 *
 * Left alone is what nobody writes, or no test can tell: sizes of memory that is asked for, and
 * the code of va_arg().
 *
 * All in a straight line, with selects. The number is a variable that is read
 * once a call; 0 is the program as it was. Bytes tell which blocks with mutants
 * ran: a mutant that was not reached need not be tried.
 */
#include "runtime/server/player.h"
#include "weave/weave_int.h"
#include <llvm-c/DebugInfo.h>

struct Mutants {
    Arena arena;
    Vec(Mutant) all;
};

/* One change that could be made. */
typedef struct Change {
    MutantKind kind;
    LLVMValueRef at;
    unsigned how;              /* predicate, opcode or operand */
} Change;

typedef struct Maker {
    Woven *w;
    Vec(Change) changes;
    LLVMValueRef number;       /* the variable */
    LLVMValueRef reached;      /* bytes */
    LLVMValueRef here;         /* the number as read in the current function */
    LLVMValueRef in;           /* … and that function */
} Maker;

/* ---- what can be done */

static unsigned relations(LLVMIntPredicate p, unsigned out[2])
{
    switch (p) {
    case LLVMIntEQ: out[0] = LLVMIntNE; return 1;
    case LLVMIntNE: out[0] = LLVMIntEQ; return 1;
    case LLVMIntUGT:
        out[0] = LLVMIntUGE;
        out[1] = LLVMIntULE;
        return 2;
    case LLVMIntUGE:
        out[0] = LLVMIntUGT;
        out[1] = LLVMIntULT;
        return 2;
    case LLVMIntULT:
        out[0] = LLVMIntULE;
        out[1] = LLVMIntUGE;
        return 2;
    case LLVMIntULE:
        out[0] = LLVMIntULT;
        out[1] = LLVMIntUGT;
        return 2;
    case LLVMIntSGT:
        out[0] = LLVMIntSGE;
        out[1] = LLVMIntSLE;
        return 2;
    case LLVMIntSGE:
        out[0] = LLVMIntSGT;
        out[1] = LLVMIntSLT;
        return 2;
    case LLVMIntSLT:
        out[0] = LLVMIntSLE;
        out[1] = LLVMIntSGE;
        return 2;
    case LLVMIntSLE:
        out[0] = LLVMIntSLT;
        out[1] = LLVMIntSGT;
        return 2;
    }
    return 0;
}

/* The operation that stands in for another; 0: none. None of them can trap. */
static LLVMOpcode other_operation(LLVMOpcode op)
{
    switch (op) {
    case LLVMAdd: return LLVMSub;
    case LLVMSub: return LLVMAdd;
    case LLVMMul: return LLVMAdd;
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem: return LLVMMul;
    case LLVMAnd: return LLVMOr;
    case LLVMOr: return LLVMAnd;
    case LLVMXor: return LLVMAnd;
    case LLVMShl: return LLVMLShr;
    case LLVMLShr:
    case LLVMAShr: return LLVMShl;
    case LLVMFAdd: return LLVMFSub;
    case LLVMFSub: return LLVMFAdd;
    case LLVMFMul:
    case LLVMFDiv: return LLVMFAdd;
    default: return 0;
    }
}

static bool is_small_integer(LLVMValueRef v)
{
    return LLVMIsAConstantInt(v) && LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 64;
}

static bool is_plain_call(LLVMValueRef i)
{
    LLVMValueRef callee = LLVMGetCalledValue(i);
    return LLVMGetInstructionOpcode(i) == LLVMCall && LLVMIsAFunction(callee) &&
           !LLVMGetIntrinsicID(callee) && LLVMGetTailCallKind(i) != LLVMTailCallKindMustTail &&
           !LLVMIsFunctionVarArg(LLVMGlobalGetValueType(callee));
}

static bool may_be_deleted(LLVMValueRef i)
{
    static const char noreturn[] = "noreturn";
    if (!is_plain_call(i) || LLVMGetFirstUse(i))
        return false;
    LLVMValueRef callee = LLVMGetCalledValue(i);
    return !weave_has(callee, noreturn) && LLVMGetReturnType(LLVMGlobalGetValueType(callee)) &&
           !LLVMGetEnumAttributeAtIndex(callee, 1, LLVMGetEnumAttributeKindForName("sret", 4));
}

static void add(Maker *m, MutantKind kind, LLVMValueRef at, unsigned how)
{
    vec_push(&m->changes, ((Change){ kind, at, how }));
}

/* More memory than is needed is no fault that a test can see. */
static bool asks_for_memory(LLVMValueRef call)
{
    static const char *const names[] = { "malloc",       "calloc", "realloc",
                                         "reallocarray", "alloca", NULL };
    size_t len;
    return str_is_one_of(LLVMGetValueName2(LLVMGetCalledValue(call), &len), names);
}

static void add_constants(Maker *m, LLVMValueRef i, LLVMOpcode op)
{
    unsigned n = op == LLVMStore ? 1 : (unsigned)LLVMGetNumOperands(i);
    if (op == LLVMCall)
        n = is_plain_call(i) && !asks_for_memory(i) ? LLVMGetNumArgOperands(i) : 0;
    for (unsigned k = 0; k < n; k++)
        if (is_small_integer(LLVMGetOperand(i, k)))
            add(m, MUTANT_CONSTANT, i, k);
}

/* A field of va_list, read or written. */
static bool is_va_list(LLVMValueRef v)
{
    if (LLVMIsALoadInst(v))
        v = LLVMGetOperand(v, 0);
    LLVMTypeRef t = LLVMIsAGetElementPtrInst(v) ? LLVMGetGEPSourceElementType(v) : NULL;
    const char *name = t && LLVMGetTypeKind(t) == LLVMStructTypeKind ? LLVMGetStructName(t) : NULL;
    return name && strcmp(name, "struct.__va_list_tag") == 0;
}

/* The compiler's code of va_arg(), which nobody has written. */
static bool is_of_va_arg(LLVMValueRef i)
{
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        if (is_va_list(LLVMGetOperand(i, (unsigned)k)))
            return true;
    return false;
}

static void look_at(Maker *m, LLVMValueRef i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    unsigned relation[2];
    if (op != LLVMCall && is_of_va_arg(i))
        return;
    if (op == LLVMICmp)
        for (unsigned k = 0, n = relations(LLVMGetICmpPredicate(i), relation); k < n; k++)
            add(m, MUTANT_RELATIONAL, i, relation[k]);
    if (other_operation(op))
        add(m, MUTANT_ARITHMETIC, i, (unsigned)other_operation(op));
    if (op == LLVMICmp || other_operation(op) || op == LLVMStore || op == LLVMRet || op == LLVMCall)
        add_constants(m, i, op);
    if (op == LLVMCall && may_be_deleted(i))
        add(m, MUTANT_CALL, i, 0);
}

/* ---- doing it */

static LLVMValueRef switched_on(Maker *m, unsigned number)
{
    return LLVMBuildICmp(m->w->builder, LLVMIntEQ, m->here, LLVMConstInt(m->w->i32, number, false),
                         "");
}

/* `v`, or `other` if the mutant is on, for all who use v. */
static void replace(Maker *m, LLVMValueRef v, LLVMValueRef other, LLVMValueRef on)
{
    LLVMValueRef pick = LLVMBuildSelect(m->w->builder, on, other, v, "");
    LLVMReplaceAllUsesWith(v, pick);
    LLVMSetOperand(pick, 2, v);
}

static LLVMValueRef do_nothing(Maker *m, LLVMTypeRef type)
{
    Woven *w = m->w;
    LLVMValueRef fn = LLVMAddFunction(w->module, "sundew.nothing", type);
    LLVMTypeRef result = LLVMGetReturnType(type);
    weave_define(w, fn, NULL);
    if (LLVMGetTypeKind(result) == LLVMVoidTypeKind)
        LLVMBuildRetVoid(w->builder);
    else
        LLVMBuildRet(w->builder, LLVMConstNull(result));
    return fn;
}

static void go_before(Maker *m, LLVMValueRef i)
{
    LLVMPositionBuilderBefore(m->w->builder, i);
    LLVMSetCurrentDebugLocation2(m->w->builder, LLVMInstructionGetDebugLoc(i));
}

static void make(Maker *m, const Change *c, unsigned number)
{
    Woven *w = m->w;
    LLVMValueRef i = c->at, on;
    switch (c->kind) {
    case MUTANT_RELATIONAL:
        go_before(m, LLVMGetNextInstruction(i));
        on = switched_on(m, number);
        replace(m, i,
                LLVMBuildICmp(w->builder, (LLVMIntPredicate)c->how, LLVMGetOperand(i, 0),
                              LLVMGetOperand(i, 1), ""),
                on);
        break;
    case MUTANT_ARITHMETIC:
        go_before(m, LLVMGetNextInstruction(i));
        on = switched_on(m, number);
        replace(m, i,
                LLVMBuildBinOp(w->builder, (LLVMOpcode)c->how, LLVMGetOperand(i, 0),
                               LLVMGetOperand(i, 1), ""),
                on);
        break;
    case MUTANT_CONSTANT: {
        go_before(m, i);
        LLVMValueRef old = LLVMGetOperand(i, c->how);
        if (!LLVMIsAConstantInt(old))
            break;
        uint64_t n = LLVMConstIntGetZExtValue(old);
        LLVMValueRef fresh = LLVMConstInt(LLVMTypeOf(old), n == 1 ? 0 : n + 1, false);
        LLVMSetOperand(i, c->how,
                       LLVMBuildSelect(w->builder, switched_on(m, number), fresh, old, ""));
        break;
    }
    case MUTANT_CALL: {
        LLVMValueRef callee = LLVMGetCalledValue(i);
        LLVMValueRef nothing = do_nothing(m, LLVMGetCalledFunctionType(i));
        go_before(m, i);
        LLVMValueRef pick =
            LLVMBuildSelect(w->builder, switched_on(m, number), nothing, callee, "");
        LLVMSetOperand(i, (unsigned)LLVMGetNumOperands(i) - 1, pick);
        break;
    }
    }
}

static const char *relation_name(LLVMIntPredicate p)
{
    switch (p) {
    case LLVMIntEQ: return "==";
    case LLVMIntNE: return "!=";
    case LLVMIntUGT:
    case LLVMIntSGT: return ">";
    case LLVMIntUGE:
    case LLVMIntSGE: return ">=";
    case LLVMIntULT:
    case LLVMIntSLT: return "<";
    case LLVMIntULE:
    case LLVMIntSLE: return "<=";
    }
    return "?";
}

static const char *operation_name(LLVMOpcode op)
{
    switch (op) {
    case LLVMAdd:
    case LLVMFAdd: return "+";
    case LLVMSub:
    case LLVMFSub: return "-";
    case LLVMMul:
    case LLVMFMul: return "*";
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMFDiv: return "/";
    case LLVMURem:
    case LLVMSRem: return "%";
    case LLVMAnd: return "&";
    case LLVMOr: return "|";
    case LLVMXor: return "^";
    case LLVMShl: return "<<";
    default: return ">>";
    }
}

/* What a change does, in words of the source. */
static void say(const Change *c, Str *out)
{
    LLVMValueRef i = c->at;
    switch (c->kind) {
    case MUTANT_RELATIONAL:
        str_addf(out, "%s is %s", relation_name(LLVMGetICmpPredicate(i)),
                 relation_name((LLVMIntPredicate)c->how));
        break;
    case MUTANT_ARITHMETIC:
        str_addf(out, "%s is %s", operation_name(LLVMGetInstructionOpcode(i)),
                 operation_name((LLVMOpcode)c->how));
        break;
    case MUTANT_CONSTANT: {
        LLVMValueRef old = LLVMGetOperand(i, c->how);
        long long n = LLVMIsAConstantInt(old) ? LLVMConstIntGetSExtValue(old) : 0;
        str_addf(out, "%lld is %lld", n, n == 1 ? 0 : n + 1);
        break;
    }
    case MUTANT_CALL: {
        size_t len;
        const char *name = LLVMGetValueName2(LLVMGetCalledValue(i), &len);
        str_addf(out, "%.*s() is not called", (int)len, name);
        break;
    }
    }
}

/* The number that is compared with; false: there is none. */
static bool compared_with(LLVMValueRef i, int64_t *out)
{
    for (unsigned k = 0; LLVMIsAICmpInst(i) && k < 2; k++)
        if (is_small_integer(LLVMGetOperand(i, k))) {
            *out = LLVMConstIntGetSExtValue(LLVMGetOperand(i, k));
            return true;
        }
    return false;
}

static void describe(Mutants *out, const Change *c, size_t block)
{
    unsigned n = 0;
    size_t len;
    const char *file = LLVMGetDebugLocFilename(c->at, &n);
    LLVMValueRef fn = LLVMGetBasicBlockParent(LLVMGetInstructionParent(c->at));
    const char *name = LLVMGetValueName2(fn, &len);
    Mutant *row = vec_grow(&out->all);
    row->kind = c->kind;
    row->file = arena_strndup(&out->arena, file ? file : "", file ? n : 0);
    row->line = LLVMGetDebugLocLine(c->at);
    row->function = arena_strndup(&out->arena, name, len);
    row->block = block;
    row->compares = compared_with(c->at, &row->with);
    Str what = { 0 };
    say(c, &what);
    row->what = arena_strdup(&out->arena, str_c(&what));
    str_release(&what);
}

static void read_number(Maker *m, LLVMValueRef fn)
{
    if (m->in == fn)
        return;
    weave_go_to_entry(m->w, fn);
    m->here = LLVMBuildLoad2(m->w->builder, m->w->i32, m->number, "");
    m->in = fn;
}

/* At most `most`, evenly spread. */
static void make_all(Maker *m, Mutants *out, size_t most)
{
    size_t n = m->changes.len, taken = n > most ? most : n, block = 0;
    LLVMBasicBlockRef last = NULL;
    Vec(LLVMBasicBlockRef) blocks = { 0 };
    for (size_t i = 0; i < taken; i++) {
        const Change *c = &m->changes.items[i * n / taken];
        LLVMBasicBlockRef b = LLVMGetInstructionParent(c->at);
        if (b != last) {
            vec_push(&blocks, b);
            block = blocks.len - 1;
            last = b;
        }
        describe(out, c, block);
        read_number(m, LLVMGetBasicBlockParent(b));
        make(m, c, (unsigned)(i + 1));
    }
    m->reached = weave_player_bytes(m->w, SUNDEW_PLAYER_REACHED, blocks.len);
    for (size_t i = 0; i < blocks.len; i++)
        weave_player_at_block(m->w, blocks.items[i], m->reached, i);
    vec_release(&blocks);
}

Mutants *weave_mutants(Woven *w, size_t most)
{
    Mutants *out = xcalloc(1, sizeof *out);
    Maker m = { .w = w };
    for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                look_at(&m, i);
    LLVMValueRef bytes = weave_player_bytes(w, SUNDEW_PLAYER_MUTANT, sizeof(uint32_t));
    LLVMSetAlignment(bytes, sizeof(uint32_t));
    m.number = bytes;
    make_all(&m, out, most ? most : 4000);
    vec_release(&m.changes);
    return out;
}

void mutants_free(Mutants *m)
{
    if (!m)
        return;
    vec_release(&m->all);
    arena_release(&m->arena);
    free(m);
}

const Mutant *mutants_all(const Mutants *m, size_t *n)
{
    *n = m->all.len;
    return m->all.items;
}
