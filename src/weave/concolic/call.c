/*
 * Calls, and how labels go with them.
 *
 *     g(x) to a function with labels        g.sym(x, label of x) -> { result, its label }
 *     p(x), or variadic                     labels in sundew_passing, named by the callee
 *     memcpy, memset                        sundew_copy(), sundew_fill() first
 *     code outside                          its arguments' labels are lost, and noted
 *
 * f itself looks whether anything is symbolic in this run, and goes on to f.sym or to
 * the body as it was.
 */
#include "weave/concolic/concolic_int.h"
#include <llvm-c/DebugInfo.h>
#include <string.h>

static LLVMValueRef i32(Woven *w, uint64_t n) { return LLVMConstInt(w->i32, n, false); }

static LLVMValueRef i64(Woven *w, uint64_t n) { return LLVMConstInt(w->i64, n, false); }

static const char *called(LLVMValueRef call)
{
    size_t n;
    LLVMValueRef f = LLVMGetCalledValue(call);
    return LLVMIsAFunction(f) ? LLVMGetValueName2(f, &n) : "";
}

static bool any_starts(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (str_starts(name, *list))
            return true;
    return false;
}

static bool is_byval(LLVMValueRef call, unsigned arg)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
    return LLVMGetCallSiteEnumAttribute(call, arg + 1, kind) != NULL;
}

/* ---- planning */

CallKind call_kind(const Body *b, LLVMValueRef call)
{
    static const char *const nothing[] = {
        "llvm.dbg.",      "llvm.lifetime.",  "llvm.assume", "llvm.experimental.noalias",
        "llvm.donothing", "llvm.invariant.", NULL,
    };
    LLVMValueRef f = LLVMGetCalledValue(call);
    const char *name = called(call);
    const Val *v = val_of(b, call);
    if (LLVMIsAInlineAsm(f))
        return CALL_OUTSIDE;
    if (str_starts(name, "llvm.")) {
        if (any_starts(name, nothing))
            return CALL_NOTHING;
        if (is_row_intrinsic(call))
            return CALL_ROWS;
        if (v->woven && (str_starts(name, "llvm.memcpy") || str_starts(name, "llvm.memmove")))
            return CALL_COPY;
        if (v->woven && str_starts(name, "llvm.memset"))
            return CALL_FILL;
        return CALL_PLAIN;
    }
    Twin *t = LLVMIsAFunction(f) ? concolic_twin(b->c, f) : NULL;
    if (!LLVMIsAFunction(f) && !LLVMIsAConstantPointerNull(f))
        return CALL_PASSING;
    if (!t)
        return CALL_OUTSIDE;
    bool odd = LLVMGetCalledFunctionType(call) != t->type || t->interposable || t->variadic;
    return odd ? CALL_PASSING : CALL_TWIN;
}

/* Where the labels of an argument of `type` stand in sundew_passing: *at moves behind
 * them. How many there are; 0 too if there is no room. */
static unsigned place(Woven *w, LLVMTypeRef type, bool byval, unsigned *at)
{
    unsigned n = byval ? 2 : concolic_leaves(w, type).n;
    if (*at + n > SUNDEW_ARGS)
        return 0;
    *at += n;
    return byval ? BYVAL : n;
}

static unsigned passed(Body *b, LLVMValueRef call, unsigned arg, unsigned *at)
{
    return place(b->w, LLVMTypeOf(LLVMGetOperand(call, arg)), is_byval(call, arg), at);
}

bool call_returns_labels(Body *b, const Val *v)
{
    CallKind kind = call_kind(b, v->v);
    if (!v->labelled)
        return false;
    if (kind == CALL_TWIN)
        return concolic_twin(b->c, LLVMGetCalledValue(v->v))->nresults >= v->leaves.n;
    return kind == CALL_PASSING && v->leaves.n <= SUNDEW_RESULTS;
}

/* What is given to code that we don't see: noted if it has a label; or as share/standins says. */
static void note_arguments(Body *b, Val *v)
{
    unsigned n = LLVMGetNumArgOperands(v->v);
    unsigned why =
        LLVMIsAInlineAsm(LLVMGetCalledValue(v->v)) ? SUNDEW_WHY_ASM : SUNDEW_WHY_EXTERNAL;
    if (str_starts(called(v->v), "sundew_") || !b->t->fn)
        return;                                /* a standin knows what it does */
    const Standin *m = b->c->plan.standins && why == SUNDEW_WHY_EXTERNAL
                           ? standins_find(b->c->plan.standins, called(v->v))
                           : NULL;
    if (m && m->kind == STANDIN_IGNORE)
        return;
    for (unsigned k = 0; k < n; k++)
        if (!m || m->kind != STANDIN_PIN)
            row_lost(b, LLVMGetOperand(v->v, k), why, v->site);
        else if (!m->arguments || (k < 32 && m->arguments & 1u << k))
            row_pin(b, LLVMGetOperand(v->v, k), why, v->site);
}

void plan_call(Body *b, Val *v)
{
    LLVMValueRef f = LLVMGetCalledValue(v->v);
    if (!v->woven)
        return;
    switch (call_kind(b, v->v)) {
    case CALL_COPY:
        row_pin(b, LLVMGetOperand(v->v, 1), SUNDEW_WHY_ADDRESS, v->site);
        row_pin(b, LLVMGetOperand(v->v, 0), SUNDEW_WHY_ADDRESS, v->site);
        break;
    case CALL_FILL: row_pin(b, LLVMGetOperand(v->v, 0), SUNDEW_WHY_ADDRESS, v->site); break;
    case CALL_PASSING:
        if (!LLVMIsAFunction(f))
            row_pin(b, f, SUNDEW_WHY_CALL, v->site);
        break;
    case CALL_OUTSIDE:
        if (!row_allocation(b, v, called(v->v)))
            note_arguments(b, v);
        break;
    default: break;
    }
}

static void use_argument(Body *b, Val *v, unsigned k, unsigned n)
{
    for (unsigned l = 0; l < n && n != BYVAL; l++)
        use_label(b, ref_of(b, LLVMGetOperand(v->v, k), l), v->piece);
}

void plan_call_uses(Body *b, Val *v)
{
    CallKind kind = call_kind(b, v->v);
    unsigned n = LLVMGetNumArgOperands(v->v), at = 0;
    if (kind == CALL_TWIN) {
        Twin *t = concolic_twin(b->c, LLVMGetCalledValue(v->v));
        for (unsigned k = 0; k < n && k < t->nparams; k++)
            use_argument(b, v, k, t->nlabels[k]);
    } else if (kind == CALL_PASSING) {
        for (unsigned k = 0; k < n; k++) {
            use_argument(b, v, k, passed(b, v->v, k, &at));
        }
    } else if (kind == CALL_COPY || kind == CALL_FILL) {
        use_argument(b, v, 1, kind == CALL_FILL);
        use_argument(b, v, 2, 1);
    }
}

/* ---- sundew_passing */

enum { CALLEE, ARGS, RETURNS, RESULTS, EXTERNAL, SHAPE };

static LLVMValueRef passing_at(Concolic *c, unsigned field, unsigned i)
{
    Woven *w = c->w;
    LLVMValueRef at[] = { i32(w, 0), i32(w, field), i32(w, i) };
    bool array = field == ARGS || field == RESULTS;
    return LLVMBuildInBoundsGEP2(w->builder, c->passing_type, c->passing, at, array ? 3 : 2, "");
}

static void set_passing(Concolic *c, unsigned field, unsigned i, LLVMValueRef value)
{
    LLVMBuildStore(c->w->builder, value, passing_at(c, field, i));
}

static LLVMValueRef get_passing(Concolic *c, unsigned field, unsigned i)
{
    bool word = field == CALLEE || field == RETURNS;
    return LLVMBuildLoad2(c->w->builder, word ? c->w->i64 : c->w->i32, passing_at(c, field, i), "");
}

/* A pointer as two labels. */
static void pass_pointer(Concolic *c, unsigned at, LLVMValueRef p)
{
    LLVMBuilderRef k = c->w->builder;
    LLVMValueRef word = LLVMBuildPtrToInt(k, p, c->w->i64, "");
    set_passing(c, ARGS, at, LLVMBuildTrunc(k, word, c->w->i32, ""));
    set_passing(c, ARGS, at + 1,
                LLVMBuildTrunc(k, LLVMBuildLShr(k, word, i64(c->w, 32), ""), c->w->i32, ""));
}

static LLVMValueRef passed_pointer(Concolic *c, unsigned at)
{
    LLVMBuilderRef k = c->w->builder;
    LLVMValueRef low = LLVMBuildZExt(k, get_passing(c, ARGS, at), c->w->i64, "");
    LLVMValueRef high = LLVMBuildZExt(k, get_passing(c, ARGS, at + 1), c->w->i64, "");
    high = LLVMBuildShl(k, high, i64(c->w, 32), "");
    return LLVMBuildIntToPtr(k, LLVMBuildOr(k, low, high, ""), c->w->ptr, "");
}

/* ---- copying */

/* if (t) f(args): straight on in a new block. */
static void call_if(Body *b, LLVMValueRef t, LLVMValueRef f, LLVMValueRef *args, unsigned n)
{
    Woven *w = b->w;
    LLVMBasicBlockRef yes = weave_block(w, b->sym, "copy"), on = weave_block(w, b->sym, "on");
    weave_branch_unlikely(w,
                          LLVMBuildICmp(w->builder, LLVMIntNE, t,
                                        LLVMConstInt(LLVMTypeOf(t), 0, false), ""),
                          yes, on);
    LLVMPositionBuilderAtEnd(w->builder, yes);
    weave_call(w, f, args, n);
    LLVMBuildBr(w->builder, on);
    LLVMPositionBuilderAtEnd(w->builder, on);
}

static LLVMValueRef is_tagged(Woven *w, LLVMValueRef p, uint64_t n)
{
    LLVMValueRef t = tags_of(w, p, n);
    return LLVMBuildZExt(w->builder,
                         LLVMBuildICmp(w->builder, LLVMIntNE, t,
                                       LLVMConstInt(LLVMTypeOf(t), 0, false), ""),
                         w->i32, "");
}

/* The runtime knows objects of the heap and global ones: it is told of local ones. */
static void write_room(Body *b, const Val *v, unsigned operand, LLVMValueRef nlabel)
{
    Woven *w = b->w;
    LLVMValueRef at = LLVMGetOperand(v->v, operand), base = at;
    while (LLVMIsAGetElementPtrInst(base))
        base = LLVMGetOperand(base, 0);
    if (!LLVMIsAAllocaInst(base) || !LLVMIsAConstantInt(LLVMGetOperand(base, 0)))
        return;
    uint64_t size = concolic_size(w, LLVMGetAllocatedType(base)) *
                    LLVMConstIntGetZExtValue(LLVMGetOperand(base, 0));
    LLVMValueRef args[] = { value_now(b, at), value_now(b, base), i64(w, size), nlabel,
                            i32(w, v->site) };
    call_if(b, nlabel, b->c->room, args, 5);
}

static void write_copy(Body *b, Val *v, bool copy)
{
    Woven *w = b->w;
    LLVMValueRef to = value_now(b, LLVMGetOperand(v->v, 0));
    LLVMValueRef from = value_now(b, LLVMGetOperand(v->v, 1));
    LLVMValueRef n = value_now(b, LLVMGetOperand(v->v, 2));
    LLVMValueRef wide = LLVMBuildZExtOrBitCast(w->builder, n, w->i64, "");
    LLVMValueRef nlabel = label_now(b, ref_of(b, LLVMGetOperand(v->v, 2), 0));
    LLVMValueRef clabel = label_now(b, ref_of(b, LLVMGetOperand(v->v, 1), 0));
    LLVMValueRef copying[] = { to, from, wide, nlabel, i32(w, v->site) };
    LLVMValueRef filling[] = { to, from, clabel, wide, nlabel, i32(w, v->site) };
    uint64_t size = LLVMIsAConstantInt(n) ? LLVMConstIntGetZExtValue(n) : ~0ull;
    LLVMValueRef f = copy ? b->c->copy : b->c->fill, *args = copy ? copying : filling;
    unsigned nargs = copy ? 5 : 6;
    if (size == ~0ull) {
        write_room(b, v, 0, nlabel);
        if (copy)
            write_room(b, v, 1, nlabel);
    }
    if (size <= MOST_TAGGED) {
        LLVMValueRef t = is_tagged(w, to, size);
        t = or_labels(b, t, copy ? is_tagged(w, from, size) : clabel);
        call_if(b, or_labels(b, t, nlabel), f, args, nargs);
    } else {
        weave_call(w, f, args, nargs);
    }
}

/* ---- calling */

/* How arguments are passed is a matter of these; the rest was said of the function as
 * it was. */
static const char *const abi[] = { "byval",   "sret",  "inreg", "zeroext",
                                   "signext", "align", "nest",  "alignstack" };

static void copy_call_abi(LLVMValueRef from, LLVMValueRef to, unsigned i)
{
    for (size_t k = 0; k < sizeof abi / sizeof *abi; k++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(abi[k], strlen(abi[k]));
        LLVMAttributeRef a = LLVMGetCallSiteEnumAttribute(from, i, kind);
        if (a)
            LLVMAddCallSiteAttribute(to, i, a);
    }
}

static void copy_abi(LLVMValueRef from, LLVMValueRef to, unsigned i)
{
    for (size_t k = 0; k < sizeof abi / sizeof *abi; k++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(abi[k], strlen(abi[k]));
        LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(from, i, kind);
        if (a)
            LLVMAddAttributeAtIndex(to, i, a);
    }
}

/* The labels came; on to the next piece, in the dirty version if there are any. */
static void take_labels(Body *b, Val *v, LLVMValueRef *labels, LLVMValueRef any)
{
    Woven *w = b->w;
    unsigned next = b->piece + 1;
    if (b->version == CLEAN) {
        LLVMBasicBlockRef some = weave_block(w, b->sym, "labels");
        weave_branch_unlikely(w, any, some, b->starts[CLEAN][next]);
        LLVMPositionBuilderAtEnd(w->builder, some);
    }
    unsigned version = b->version;
    become_dirty(b);
    for (unsigned l = 0; l < v->leaves.n; l++)
        set_label(b, v, l, labels ? labels[l] : get_passing(b->c, RESULTS, l));
    LLVMBuildBr(w->builder, b->starts[DIRTY][next]);
    b->version = version;
}

static LLVMValueRef not_zero(Woven *w, LLVMValueRef v)
{
    return LLVMBuildICmp(w->builder, LLVMIntNE, v, LLVMConstInt(LLVMTypeOf(v), 0, false), "");
}

static void write_twin_call(Body *b, Val *v)
{
    Woven *w = b->w;
    Twin *t = concolic_twin(b->c, LLVMGetCalledValue(v->v));
    unsigned n = LLVMGetNumArgOperands(v->v);
    Vec(LLVMValueRef) args = { 0 };
    for (unsigned k = 0; k < n; k++)
        vec_push(&args, value_now(b, LLVMGetOperand(v->v, k)));
    for (unsigned k = 0; k < n; k++) {
        if (t->nlabels[k] == BYVAL)
            vec_push(&args, args.items[k]);
        for (unsigned l = 0; t->nlabels[k] != BYVAL && l < t->nlabels[k]; l++)
            vec_push(&args, label_now(b, ref_of(b, LLVMGetOperand(v->v, k), l)));
    }
    LLVMValueRef call =
        LLVMBuildCall2(w->builder, t->sym_type, t->sym, args.items, (unsigned)args.len, "");
    vec_release(&args);
    LLVMSetInstructionCallConv(call, LLVMGetInstructionCallConv(v->v));
    for (unsigned k = t->nresults ? 1 : 0; k <= n; k++)
        copy_call_abi(v->v, call, k);
    if (LLVMGetTypeKind(LLVMTypeOf(v->v)) == LLVMVoidTypeKind)
        return;
    set_now(b, v, t->nresults ? LLVMBuildExtractValue(w->builder, call, 0, "") : call);
    if (!call_returns_labels(b, v))
        return;
    LLVMValueRef labels[MOST_LEAVES], any = NULL;
    for (unsigned l = 0; l < v->leaves.n; l++) {
        labels[l] = LLVMBuildExtractValue(w->builder, call, l + 1, "");
        any = or_labels(b, any, labels[l]);
    }
    take_labels(b, v, labels, not_zero(w, any));
}

static LLVMValueRef copy_call(Body *b, LLVMValueRef v)
{
    int n = LLVMGetNumOperands(v);
    LLVMValueRef ops[n + 1];
    for (int k = 0; k < n; k++)
        ops[k] = value_now(b, LLVMGetOperand(v, (unsigned)k));
    LLVMValueRef c = LLVMInstructionClone(v);
    for (int k = 0; k < n; k++)
        LLVMSetOperand(c, (unsigned)k, ops[k]);
    LLVMInsertIntoBuilder(b->w->builder, c);
    LLVMInstructionSetDebugLoc(c, NULL);
    LLVMSetTailCallKind(c, LLVMTailCallKindNone);
    return c;
}

/* How a part of an argument goes: see sundew_passing.shape. */
static char shape_of(LLVMTypeRef t, unsigned bits)
{
    switch (LLVMGetTypeKind(t)) {
    case LLVMIntegerTypeKind: return bits > 64 ? 'G' : 'g';
    case LLVMPointerTypeKind: return 'g';
    case LLVMX86_FP80TypeKind: return 'x';
    default: return 'f';
    }
}

static void pass_shape(Body *b, LLVMValueRef call)
{
    unsigned n = LLVMGetNumArgOperands(call), at = 0;
    char text[SUNDEW_ARGS + 1] = "";
    for (unsigned k = 0; k < n; k++) {
        unsigned first = at, labels = passed(b, call, k, &at);
        Leaves l = concolic_leaves(b->w, LLVMTypeOf(LLVMGetOperand(call, k)));
        if (!labels)
            break;
        for (unsigned i = first; i < at; i++)
            text[i] = labels == BYVAL ? 'b' : shape_of(l.at[i - first].type, l.at[i - first].bits);
    }
    set_passing(b->c, SHAPE, 0, concolic_text(b->c, text));
}

/* Labels of the arguments, if there are any; bytes of arguments always. */
static void pass_labels(Body *b, Val *v, LLVMValueRef target)
{
    unsigned n = LLVMGetNumArgOperands(v->v), at = 0;
    bool some = false;
    for (unsigned k = 0; k < n; k++) {
        unsigned first = at, labels = passed(b, v->v, k, &at);
        if (labels == BYVAL) {
            pass_pointer(b->c, first, value_now(b, LLVMGetOperand(v->v, k)));
            some = true;
            continue;
        }
        for (unsigned l = 0; l < labels; l++) {
            LLVMValueRef label = label_now(b, ref_of(b, LLVMGetOperand(v->v, k), l));
            set_passing(b->c, ARGS, first + l, label);
            some |= !LLVMIsAConstantInt(label);
        }
    }
    if (some && LLVMIsFunctionVarArg(LLVMGetCalledFunctionType(v->v)))
        pass_shape(b, v->v);
    if (some)
        set_passing(b->c, CALLEE, 0, target);
}

static bool passes_some(Body *b, Val *v)
{
    unsigned n = LLVMGetNumArgOperands(v->v);
    for (unsigned k = 0; k < n; k++) {
        if (is_byval(v->v, k))
            return true;
        unsigned m = concolic_leaves(b->w, LLVMTypeOf(LLVMGetOperand(v->v, k))).n;
        for (unsigned l = 0; b->version == DIRTY && l < m; l++) {
            Ref r = ref_of(b, LLVMGetOperand(v->v, k), l);
            if (r.val && r.val->labelled)
                return true;
        }
    }
    return false;
}

static void write_passing_call(Body *b, Val *v)
{
    Woven *w = b->w;
    LLVMValueRef f = LLVMGetCalledValue(v->v);
    Twin *t = LLVMIsAFunction(f) ? concolic_twin(b->c, f) : NULL;
    LLVMValueRef target = LLVMBuildPtrToInt(w->builder, value_now(b, f), w->i64, "");
    bool labels = call_returns_labels(b, v);
    if (passes_some(b, v))
        pass_labels(b, v, target);
    LLVMValueRef call = copy_call(b, v->v);
    if (t && t->variadic && !t->interposable && LLVMGetCalledFunctionType(v->v) == t->type)
        LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, t->sym);
    if (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind)
        set_now(b, v, call);
    if (!labels)
        return;
    LLVMValueRef mine =
        LLVMBuildICmp(w->builder, LLVMIntEQ, get_passing(b->c, RETURNS, 0), target, "");
    if (b->version == CLEAN) {
        take_labels(b, v, NULL, mine);
        return;
    }
    LLVMValueRef got[MOST_LEAVES];
    for (unsigned l = 0; l < v->leaves.n; l++)
        got[l] = LLVMBuildSelect(w->builder, mine, get_passing(b->c, RESULTS, l), i32(w, 0), "");
    take_labels(b, v, got, NULL);
}

/* Can what a call made of its pointers' bytes be seen elsewhere than in these? Writes there are noticed by
 * themselves; a result that is used, or another object, may depend on them. */
static bool tells_more(LLVMValueRef call)
{
    unsigned pointers = 0;
    for (unsigned k = 0; k < LLVMGetNumArgOperands(call); k++)
        pointers += LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, k))) == LLVMPointerTypeKind;
    return pointers > 1 || LLVMGetFirstUse(call);
}

/* What its pointers lead to may have labels, which are lost as those of its arguments are. */
static void note_pointed(Body *b, Val *v, const char *name)
{
    Woven *w = b->w;
    LLVMTypeRef types[] = { w->ptr, w->ptr, w->i32 };
    const Standin *m = b->c->plan.standins ? standins_find(b->c->plan.standins, name) : NULL;
    if (!v->woven || !b->t->fn || (m && m->kind == STANDIN_IGNORE) || !tells_more(v->v))
        return;
    LLVMValueRef f =
        weave_declare(w, "sundew_outside", LLVMFunctionType(w->void_, types, 3, false));
    for (unsigned k = 0; k < LLVMGetNumArgOperands(v->v); k++) {
        LLVMValueRef a = LLVMGetOperand(v->v, k);
        if (LLVMTypeOf(a) != w->ptr || LLVMIsAConstant(a))
            continue;
        LLVMValueRef args[] = { value_now(b, a), concolic_text(b->c, name), i32(w, v->site) };
        weave_call(w, f, args, 3);
    }
}

static void write_outside_call(Body *b, Val *v)
{
    const char *name = called(v->v);
    if (*name && !str_starts(name, "sundew_")) {
        set_passing(b->c, EXTERNAL, 0, concolic_text(b->c, name));
        note_pointed(b, v, name);
    }
    LLVMValueRef call = copy_call(b, v->v);
    if (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind)
        set_now(b, v, call);
}

/* A function of the runtime about the variable arguments of this one. */
static void call_variadic(Body *b, const char *name, LLVMValueRef *args, unsigned n)
{
    LLVMTypeRef types[3];
    for (unsigned k = 0; k < n; k++)
        types[k] = LLVMTypeOf(args[k]);
    weave_call(b->w, weave_declare(b->w, name, LLVMFunctionType(b->w->void_, types, n, false)),
               args, n);
}

static void write_plain_call(Body *b, Val *v)
{
    LLVMValueRef call = copy_call(b, v->v);
    if (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind)
        set_now(b, v, call);
    if (b->variadic && str_starts(called(v->v), "llvm.va_start")) {
        LLVMValueRef args[] = { LLVMGetOperand(call, 0), b->variadic, i32(b->w, b->fixed) };
        call_variadic(b, "sundew_va_start", args, 3);
    }
}

/* What came behind the parameters is kept for va_start(). */
static void keep_variadic(Body *b, LLVMValueRef mine)
{
    Woven *w = b->w;
    enum { WORDS = sizeof(struct sundew_variadic) / 8 };
    b->variadic = LLVMBuildAlloca(w->builder, LLVMArrayType2(w->i64, WORDS), "");
    LLVMValueRef args[] = { b->variadic, LLVMBuildZExt(w->builder, mine, w->i32, "") };
    call_variadic(b, "sundew_va_keep", args, 2);
}

void write_call(Body *b, Val *v)
{
    CallKind kind = call_kind(b, v->v);
    switch (kind) {
    case CALL_NOTHING: break;
    case CALL_COPY:
    case CALL_FILL:
        write_copy(b, v, kind == CALL_COPY);
        write_plain_call(b, v);
        break;
    case CALL_TWIN: write_twin_call(b, v); break;
    case CALL_PASSING: write_passing_call(b, v); break;
    case CALL_OUTSIDE: write_outside_call(b, v); break;
    case CALL_PLAIN:
    case CALL_ROWS: write_plain_call(b, v); break;
    }
}

/* ---- entry and return */

/* Stack slots that may hold labels are forgotten when the frame goes. */
static void forget_frame(Body *b)
{
    Woven *w = b->w;
    for (size_t i = 0; i < b->forgets.len; i++) {
        LLVMValueRef args[] = { b->forgets.items[i], i64(w, b->forget_sizes.items[i]) };
        if (b->forget_sizes.items[i] <= MOST_TAGGED)
            call_if(b, tags_of(w, args[0], b->forget_sizes.items[i]), b->c->forget, args, 2);
        else
            weave_call(w, b->c->forget, args, 2);
    }
    if (b->variadic)
        call_variadic(b, "sundew_va_end", &b->variadic, 1);
}

void write_return(Body *b, Val *v)
{
    Woven *w = b->w;
    Twin *t = b->t;
    LLVMValueRef value = LLVMGetNumOperands(v->v) ? LLVMGetOperand(v->v, 0) : NULL;
    LLVMValueRef labels[MOST_LEAVES], any = NULL;
    for (unsigned l = 0; value && l < t->nresults; l++) {
        labels[l] = label_now(b, ref_of(b, value, l));
        any = or_labels(b, any, labels[l]);
    }
    LLVMValueRef now = value ? value_now(b, value) : NULL;
    forget_frame(b);
    if (!now) {
        LLVMBuildRetVoid(w->builder);
        return;
    }
    if (t->variadic) {
        LLVMValueRef self = LLVMConstPtrToInt(t->f, w->i64);
        if (any)
            self = LLVMBuildSelect(w->builder, not_zero(w, any), self, i64(w, 0), "");
        set_passing(b->c, RETURNS, 0, any ? self : i64(w, 0));
        for (unsigned l = 0; any && l < t->nresults; l++)
            set_passing(b->c, RESULTS, l, labels[l]);
    } else if (t->nresults) {
        LLVMValueRef r = LLVMGetUndef(LLVMGetReturnType(t->sym_type));
        r = LLVMBuildInsertValue(w->builder, r, now, 0, "");
        for (unsigned l = 0; l < t->nresults; l++)
            r = LLVMBuildInsertValue(w->builder, r, labels[l], l + 1, "");
        now = r;
    }
    LLVMBuildRet(w->builder, now);
}

static uint64_t byval_size(Woven *w, LLVMValueRef f, unsigned param)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
    LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(f, param + 1, kind);
    return a ? LLVMABISizeOfType(w->layout, LLVMGetTypeAttributeValue(a)) : 0;
}

static void remember_frame(Body *b)
{
    for (size_t i = 0; i < b->all.len; i++) {
        Val *v = b->all.items[i];
        if (!v->fixed)
            continue;
        uint64_t size = LLVMABISizeOfType(b->w->layout, LLVMGetAllocatedType(v->v)) *
                        LLVMConstIntGetZExtValue(LLVMGetOperand(v->v, 0));
        if (size && v->woven) {
            vec_push(&b->forgets, v->now);
            vec_push(&b->forget_sizes, size);
        }
    }
    for (unsigned k = 0; k < b->t->nparams; k++)
        if (b->t->nlabels[k] == BYVAL) {
            vec_push(&b->forgets, b->params.items[k]->now);
            vec_push(&b->forget_sizes, byval_size(b->w, b->native, k));
        }
}

/* The labels of bytes that were passed as a copy. */
static void copy_bytes(Body *b, unsigned param, LLVMValueRef from)
{
    Woven *w = b->w;
    uint64_t size = byval_size(w, b->native, param);
    LLVMValueRef args[] = { b->params.items[param]->now, from, i64(w, size), i32(w, 0),
                            i32(w, b->t->site) };
    LLVMValueRef there = LLVMBuildICmp(w->builder, LLVMIntNE, from, LLVMConstNull(w->ptr), "");
    call_if(b, LLVMBuildZExt(w->builder, there, w->i32, ""), b->c->copy, args, 5);
}

void write_entry(Body *b)
{
    Woven *w = b->w;
    Twin *t = b->t;
    LLVMValueRef any = NULL, mine = NULL;
    unsigned at = 0, param = t->nparams;
    for (unsigned k = 0; k < t->nparams; k++)
        b->params.items[k]->now = LLVMGetParam(b->sym, k);
    remember_frame(b);
    if (t->variadic) {
        mine = LLVMBuildICmp(w->builder, LLVMIntEQ, get_passing(b->c, CALLEE, 0),
                             LLVMConstPtrToInt(t->f, w->i64), "");
        set_passing(b->c, CALLEE, 0, i64(w, 0));
        keep_variadic(b, mine);
    }
    for (unsigned k = 0; k < t->nparams; k++) {
        Val *v = b->params.items[k];
        unsigned n = t->nlabels[k], first = at;
        if (t->variadic && !place(w, LLVMTypeOf(v->v), byval_size(w, b->native, k) > 0, &at))
            n = 0;
        if (n == BYVAL)
            copy_bytes(b, k,
                       t->variadic ? LLVMBuildSelect(w->builder, mine, passed_pointer(b->c, first),
                                                     LLVMConstNull(w->ptr), "")
                                   : LLVMGetParam(b->sym, param++));
        for (unsigned l = 0; n != BYVAL && l < n; l++) {
            LLVMValueRef label =
                t->variadic ? LLVMBuildSelect(w->builder, mine, get_passing(b->c, ARGS, first + l),
                                              i32(w, 0), "")
                            : LLVMGetParam(b->sym, param++);
            v->labels[l] = label;
            any = or_labels(b, any, label);
        }
    }
    b->fixed = at;
    if (!any) {
        LLVMBuildBr(w->builder, b->starts[CLEAN][0]);
        return;
    }
    LLVMBasicBlockRef dirty = weave_block(w, b->sym, "labels");
    weave_branch_unlikely(w, not_zero(w, any), dirty, b->starts[CLEAN][0]);
    LLVMPositionBuilderAtEnd(w->builder, dirty);
    b->version = CLEAN;
    become_dirty(b);
    LLVMBuildBr(w->builder, b->starts[DIRTY][0]);
}

/* ---- dispatch */

/* How a call stands for a jump. Only variadic functions need LLVM's word that it is one: it
 * hands their arguments on. LLVM removes unused results, and does not see that functions of
 * such calls have the same type, so others go without. */
static LLVMTailCallKind jump_kind(Woven *w, LLVMValueRef f, unsigned nparams)
{
    if (LLVMIsFunctionVarArg(LLVMGlobalGetValueType(f)))
        return LLVMTailCallKindMustTail;
    for (unsigned k = 0; k < nparams; k++)
        if (byval_size(w, f, k))
            return LLVMTailCallKindNone; /* a copy on f's own stack */
    return LLVMTailCallKindTail;
}

/* f(args) goes to g(args), as a jump. */
static void jump(Woven *w, LLVMValueRef f, LLVMValueRef g, unsigned nparams)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(f);
    LLVMValueRef *args = xcalloc(nparams + 1, sizeof *args);
    for (unsigned k = 0; k < nparams; k++)
        args[k] = LLVMGetParam(f, k);
    LLVMValueRef call = LLVMBuildCall2(w->builder, type, g, args, nparams, "");
    LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(f));
    for (unsigned k = 0; k <= nparams; k++) {
        for (size_t i = 0; i < sizeof abi / sizeof *abi; i++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(abi[i], strlen(abi[i]));
            LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(f, k, kind);
            if (a)
                LLVMAddCallSiteAttribute(call, k, a);
        }
    }
    LLVMSetTailCallKind(call, jump_kind(w, f, nparams));
    if (LLVMGetTypeKind(LLVMGetReturnType(type)) == LLVMVoidTypeKind)
        LLVMBuildRetVoid(w->builder);
    else
        LLVMBuildRet(w->builder, call);
    free(args);
}

/* Labels out of sundew_passing, the call, and the result's back into it. */
static void write_enter(Concolic *c, Twin *t, LLVMValueRef enter)
{
    Woven *w = c->w;
    Vec(LLVMValueRef) args = { 0 };
    unsigned at = 0;
    weave_define(w, enter, t->native);
    weave_set(w, enter, "noinline", 0);
    weave_set(w, enter, "cold", 0);
    LLVMValueRef mine = LLVMBuildICmp(w->builder, LLVMIntEQ, get_passing(c, CALLEE, 0),
                                      LLVMConstPtrToInt(t->f, w->i64), "");
    set_passing(c, CALLEE, 0, i64(w, 0));
    for (unsigned k = 0; k < t->nparams; k++)
        vec_push(&args, LLVMGetParam(enter, k));
    for (unsigned k = 0; k < t->nparams; k++) {
        unsigned first = at;
        bool room = place(w, LLVMTypeOf(args.items[k]), byval_size(w, t->native, k) > 0, &at);
        if (t->nlabels[k] == BYVAL) {
            LLVMValueRef p = room ? passed_pointer(c, first) : LLVMConstNull(w->ptr);
            vec_push(&args, LLVMBuildSelect(w->builder, mine, p, LLVMConstNull(w->ptr), ""));
            continue;
        }
        for (unsigned l = 0; l < t->nlabels[k]; l++)
            vec_push(&args, room ? LLVMBuildSelect(w->builder, mine,
                                                   get_passing(c, ARGS, first + l), i32(w, 0), "")
                                 : i32(w, 0));
    }
    LLVMValueRef call =
        LLVMBuildCall2(w->builder, t->sym_type, t->sym, args.items, (unsigned)args.len, "");
    vec_release(&args);
    LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(t->sym));
    for (unsigned k = t->nresults ? 1 : 0; k <= t->nparams; k++)
        for (size_t i = 0; i < sizeof abi / sizeof *abi; i++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(abi[i], strlen(abi[i]));
            LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(t->native, k, kind);
            if (a)
                LLVMAddCallSiteAttribute(call, k, a);
        }
    LLVMValueRef any = NULL, result = call;
    if (t->nresults) {
        result = LLVMBuildExtractValue(w->builder, call, 0, "");
        for (unsigned l = 0; l < t->nresults; l++) {
            LLVMValueRef label = LLVMBuildExtractValue(w->builder, call, l + 1, "");
            if (l < SUNDEW_RESULTS)
                set_passing(c, RESULTS, l, label);
            any = any ? LLVMBuildOr(w->builder, any, label, "") : label;
        }
    }
    LLVMValueRef self = LLVMConstPtrToInt(t->f, w->i64);
    set_passing(c, RETURNS, 0,
                any ? LLVMBuildSelect(w->builder, not_zero(w, any), self, i64(w, 0), "")
                    : i64(w, 0));
    if (LLVMGetTypeKind(LLVMTypeOf(result)) == LLVMVoidTypeKind)
        LLVMBuildRetVoid(w->builder);
    else
        LLVMBuildRet(w->builder, result);
}

/* Stack slots stand in the first block. */
static void move_stack(Woven *w, LLVMBasicBlockRef from)
{
    LLVMValueRef next;
    for (LLVMValueRef i = LLVMGetFirstInstruction(from); i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (!LLVMIsAAllocaInst(i) || !LLVMIsAConstantInt(LLVMGetOperand(i, 0)))
            continue;
        LLVMInstructionRemoveFromParent(i);
        LLVMInsertIntoBuilder(w->builder, i);
    }
}

void write_dispatch(Concolic *c, Twin *t)
{
    Woven *w = c->w;
    LLVMValueRef enter = t->sym;
    if (!t->variadic) {
        size_t n;
        char *name = xprintf("%s.enter", LLVMGetValueName2(t->f, &n));
        enter = LLVMAddFunction(w->module, name, t->type);
        free(name);
        LLVMSetFunctionCallConv(enter, LLVMGetFunctionCallConv(t->native));
        for (unsigned k = 0; k <= t->nparams; k++)
            copy_abi(t->native, enter, k);
        write_enter(c, t, enter);
    }
    LLVMBasicBlockRef old = t->in_place ? LLVMGetEntryBasicBlock(t->f) : NULL;
    LLVMBasicBlockRef first =
        old ? LLVMInsertBasicBlockInContext(w->ctx, old, "look") : weave_block(w, t->f, "look");
    LLVMBasicBlockRef yes = weave_block(w, t->f, "symbolic");
    LLVMBasicBlockRef no = old ? old : weave_block(w, t->f, "plain");
    LLVMPositionBuilderAtEnd(w->builder, first);
    LLVMSetCurrentDebugLocation2(w->builder, NULL);
    if (old)
        move_stack(w, old);
    LLVMValueRef alive = LLVMBuildLoad2(w->builder, w->i8, c->alive, "");
    weave_branch_unlikely(w, not_zero(w, alive), yes, no);
    LLVMPositionBuilderAtEnd(w->builder, yes);
    jump(w, t->f, enter, t->nparams);
    LLVMPositionBuilderAtEnd(w->builder, no);
    if (!old)
        jump(w, t->f, t->native, t->nparams);
}
