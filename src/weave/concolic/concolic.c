/*
 * The concolic weave (runtime/concolic/concolic.h has the idea): which functions, and their
 * two bodies.
 *
 *     f           looks whether this run has anything symbolic, and jumps
 *     f.native    the body as it was; calls g.native directly
 *     f.sym       written anew by concolic_body.c; calls g.sym directly
 *
 * Only functions that may see something symbolic have the three; the rest stays as
 * it is and calls f. A function that can't be rewritten (assembly labels, its own
 * frame) stays too: what it does is outside.
 */
#include "weave/concolic/concolic_int.h"
#include <string.h>

/* ---- types */

unsigned concolic_bits(Woven *w, LLVMTypeRef t)
{
    uint64_t n;
    switch (LLVMGetTypeKind(t)) {
    case LLVMIntegerTypeKind: n = LLVMGetIntTypeWidth(t); break;
    case LLVMPointerTypeKind: return LLVMGetPointerAddressSpace(t) ? 0 : 64;
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind: return 16;
    case LLVMFloatTypeKind: return 32;
    case LLVMDoubleTypeKind: return 64;
    case LLVMX86_FP80TypeKind: return 80;
    case LLVMFP128TypeKind: return 128;
    case LLVMVectorTypeKind:
        if (LLVMGetTypeKind(LLVMGetElementType(t)) == LLVMPointerTypeKind)
            return 0;
        n = (uint64_t)LLVMGetVectorSize(t) * concolic_bits(w, LLVMGetElementType(t));
        break;
    default: return 0;
    }
    return n <= 128 ? (unsigned)n : 0;
}

uint64_t concolic_size(Woven *w, LLVMTypeRef t)
{
    return LLVMTypeIsSized(t) ? LLVMStoreSizeOfType(w->layout, t) : 0;
}

static bool add_leaves(Woven *w, LLVMTypeRef t, Leaf at, Leaves *out)
{
    LLVMTypeKind kind = LLVMGetTypeKind(t);
    if (kind != LLVMStructTypeKind && kind != LLVMArrayTypeKind) {
        at.type = t;
        at.bits = concolic_bits(w, t);
        if (!at.bits || out->n == MOST_LEAVES)
            return false;
        out->at[out->n++] = at;
        return true;
    }
    uint64_t n =
        kind == LLVMStructTypeKind ? LLVMCountStructElementTypes(t) : LLVMGetArrayLength2(t);
    if (at.depth == MOST_DEPTH || n > MOST_LEAVES)
        return false;
    for (unsigned k = 0; k < n; k++) {
        LLVMTypeRef e =
            kind == LLVMStructTypeKind ? LLVMStructGetTypeAtIndex(t, k) : LLVMGetElementType(t);
        Leaf next = at;
        next.path[next.depth++] = k;
        next.offset += kind == LLVMStructTypeKind ? LLVMOffsetOfElement(w->layout, t, k)
                                                  : k * LLVMABISizeOfType(w->layout, e);
        if (!add_leaves(w, e, next, out))
            return false;
    }
    return true;
}

Leaves concolic_leaves(Woven *w, LLVMTypeRef t)
{
    Leaves out = { 0 };
    if (LLVMGetTypeKind(t) == LLVMVoidTypeKind || !add_leaves(w, t, (Leaf){ 0 }, &out))
        out.n = 0;
    return out;
}

/* ---- marks */

unsigned concolic_mark(const Concolic *c, LLVMValueRef v)
{
    return (unsigned)(uintptr_t)map_getn(&c->marks, &v, sizeof v);
}

static void mark(Concolic *c, LLVMValueRef v, unsigned flags)
{
    if (flags)
        map_putn(&c->marks, &v, sizeof v, (void *)(uintptr_t)flags);
}

/* A struct goes as a copy, and may be symbolic. */
static bool passes_copy(const Symbolic *s, LLVMValueRef call)
{
    unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
    unsigned n = LLVMGetNumArgOperands(call);
    for (unsigned k = 0; k < n; k++)
        if (LLVMGetCallSiteEnumAttribute(call, k + 1, byval) &&
            symbolic_memory(s, LLVMGetOperand(call, k), 0))
            return true;
    return false;
}

static unsigned flags_of(const Concolic *c, LLVMValueRef i)
{
    const Symbolic *s = c->plan.symbolic;
    unsigned flags = 0;
    if (!s)
        return MARK_SEES | MARK_VALUE | MARK_MEMORY;
    if (symbolic_value(s, i))
        flags |= MARK_VALUE;
    if (LLVMIsAInstruction(i) && symbolic_instruction(s, i))
        flags |= MARK_SEES;
    if ((LLVMIsAAllocaInst(i) && symbolic_memory(s, i, 0)) ||
        (LLVMIsACallInst(i) && passes_copy(s, i)))
        flags |= MARK_MEMORY;
    if (LLVMIsAMemCpyInst(i) || LLVMIsAMemMoveInst(i) || LLVMIsAMemSetInst(i))
        if (symbolic_memory(s, LLVMGetOperand(i, 0), 0) ||
            (!LLVMIsAMemSetInst(i) && symbolic_memory(s, LLVMGetOperand(i, 1), 0)))
            flags |= MARK_MEMORY;
    return flags;
}

static bool is_debug(LLVMValueRef i)
{
    size_t n;
    return LLVMIsACallInst(i) && LLVMIsAFunction(LLVMGetCalledValue(i)) &&
           str_starts(LLVMGetValueName2(LLVMGetCalledValue(i), &n), "llvm.dbg.");
}

/* Can't anything symbolic reach this call, and does the library's own function do there?
 * NULL: no; else what it is called. */
static const char *real_will_do(const Concolic *c, LLVMValueRef call, unsigned flags)
{
    LLVMValueRef f = LLVMIsACallInst(call) ? LLVMGetCalledValue(call) : NULL;
    if (!f || !LLVMIsAFunction(f) || !LLVMIsDeclaration(f) || flags || c->plan.full ||
        !c->plan.standins)
        return NULL;
    size_t n;
    const char *name = LLVMGetValueName2(f, &n);
    const Standin *m = standins_find(c->plan.standins, name);
    if (!m || m->kind != STANDIN_OWN)
        return NULL;
    for (unsigned k = 0; k < LLVMGetNumArgOperands(call); k++) {
        LLVMValueRef a = LLVMGetOperand(call, k);
        if (LLVMGetTypeKind(LLVMTypeOf(a)) == LLVMPointerTypeKind &&
            symbolic_memory(c->plan.symbolic, a, 0))
            return NULL;
    }
    return name;
}

/* `call` as it came from weave_standins(): the library again. */
static void call_real(Woven *w, LLVMValueRef call, const char *name)
{
    LLVMValueRef f = weave_declare(w, name, LLVMGetCalledFunctionType(call));
    LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, f);
}

/* The analysis knows the program's module, `f` is its copy here: step by step. True if
 * the function sees something. */
static bool mark_function(Concolic *c, LLVMValueRef original, LLVMValueRef f)
{
    bool sees = false;
    for (unsigned k = 0; k < LLVMCountParams(original); k++) {
        LLVMValueRef p = LLVMGetParam(original, k);
        unsigned flags = flags_of(c, p);
        if (c->plan.symbolic &&
            LLVMTypeOf(p) == LLVMPointerTypeInContext(LLVMGetTypeContext(LLVMTypeOf(p)), 0) &&
            symbolic_memory(c->plan.symbolic, p, 0))
            flags |= MARK_MEMORY;
        mark(c, LLVMGetParam(f, k), flags);
        sees |= (flags & MARK_VALUE) != 0;
    }
    LLVMBasicBlockRef y = LLVMGetFirstBasicBlock(f);
    for (LLVMBasicBlockRef x = LLVMGetFirstBasicBlock(original); x && y;
         x = LLVMGetNextBasicBlock(x), y = LLVMGetNextBasicBlock(y)) {
        LLVMValueRef j = LLVMGetFirstInstruction(y);
        for (LLVMValueRef i = LLVMGetFirstInstruction(x); i && j;
             i = LLVMGetNextInstruction(i), j = LLVMGetNextInstruction(j)) {
            if (is_debug(i))
                continue;
            unsigned flags = flags_of(c, i);
            const char *real = real_will_do(c, i, flags);
            if (real)
                call_real(c->w, j, real);
            mark(c, j, flags);
            sees |= (flags & ~(LLVMIsAAllocaInst(i) ? MARK_MEMORY : 0u)) != 0;
            c->figures.instructions++;
            c->figures.seen += flags != 0;
        }
    }
    return sees;
}

/* ---- which ones */

Twin *concolic_twin(Concolic *c, LLVMValueRef f) { return map_getn(&c->twins, &f, sizeof f); }

LLVMValueRef concolic_text(Concolic *c, const char *s)
{
    LLVMValueRef g = map_get(&c->texts, s);
    if (!g) {
        g = weave_text(c->w, s);
        map_put(&c->texts, s, g);
    }
    return g;
}

static bool has_odd_instruction(LLVMValueRef f)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            switch (LLVMGetInstructionOpcode(i)) {
            case LLVMInvoke:
            case LLVMCallBr:
            case LLVMLandingPad:
            case LLVMResume: return true;
            default: break;
            }
    }
    return false;
}

static bool is_plain_body(LLVMValueRef f)
{
    return !LLVMIsDeclaration(f) && !weave_has(f, "naked") && !weave_has(f, "noduplicate") &&
           LLVMGetLinkage(f) != LLVMAvailableExternallyLinkage &&
           LLVMGetFunctionCallConv(f) == LLVMCCallConv && !has_odd_instruction(f) &&
           goto_is_tame(f) && !LLVMHasPersonalityFn(f);
}

static bool is_interposable(LLVMValueRef f)
{
    LLVMLinkage l = LLVMGetLinkage(f);
    return l == LLVMWeakAnyLinkage || l == LLVMLinkOnceAnyLinkage || l == LLVMExternalWeakLinkage;
}

static bool returns_symbolic(const Concolic *c, const Twin *t, LLVMValueRef f)
{
    if (c->plan.full || !t->fn)
        return true;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        if (LLVMGetInstructionOpcode(end) == LLVMRet && LLVMGetNumOperands(end) &&
            concolic_mark(c, LLVMGetOperand(end, 0)) & MARK_VALUE)
            return true;
    }
    return false;
}

static void plan_labels(Concolic *c, Twin *t, LLVMValueRef f)
{
    unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
    bool full = c->plan.full || !t->fn;
    t->nparams = LLVMCountParams(f);
    t->nlabels = arena_array(&c->w->arena, unsigned, t->nparams + 1);
    for (unsigned k = 0; k < t->nparams; k++) {
        unsigned m = concolic_mark(c, LLVMGetParam(f, k));
        if (LLVMGetEnumAttributeAtIndex(f, k + 1, byval))
            t->nlabels[k] = full || m & MARK_MEMORY ? BYVAL : 0;
        else if (full || m & MARK_VALUE)
            t->nlabels[k] = concolic_leaves(c->w, LLVMTypeOf(LLVMGetParam(f, k))).n;
    }
    LLVMTypeRef result = LLVMGetReturnType(t->type);
    if (returns_symbolic(c, t, f))
        t->nresults = concolic_leaves(c->w, result).n;
    if (t->variadic && t->nresults > SUNDEW_RESULTS)
        t->nresults = 0;
}

static LLVMTypeRef sym_type(Concolic *c, const Twin *t)
{
    Woven *w = c->w;
    Vec(LLVMTypeRef) params = { 0 };
    LLVMTypeRef result = LLVMGetReturnType(t->type), fields[MOST_LEAVES + 1] = { result };
    if (t->variadic)
        return t->type;
    for (unsigned k = 0; k < t->nparams; k++)
        vec_push(&params, LLVMTypeOf(LLVMGetParam(t->native, k)));
    for (unsigned k = 0; k < t->nparams; k++) {
        if (t->nlabels[k] == BYVAL)
            vec_push(&params, w->ptr);
        for (unsigned l = 0; t->nlabels[k] != BYVAL && l < t->nlabels[k]; l++)
            vec_push(&params, w->i32);
    }
    for (unsigned l = 0; l < t->nresults; l++)
        fields[l + 1] = w->i32;
    if (t->nresults)
        result = LLVMStructTypeInContext(w->ctx, fields, t->nresults + 1, false);
    LLVMTypeRef type = LLVMFunctionType(result, params.items, (unsigned)params.len, false);
    vec_release(&params);
    return type;
}

/* ---- the three bodies */

static void copy_attributes(LLVMValueRef from, LLVMValueRef to, LLVMAttributeIndex i)
{
    unsigned n = LLVMGetAttributeCountAtIndex(from, i);
    LLVMAttributeRef *all = xcalloc(n + 1, sizeof *all);
    LLVMGetAttributesAtIndex(from, i, all);
    for (unsigned k = 0; k < n; k++)
        LLVMAddAttributeAtIndex(to, i, all[k]);
    free(all);
}

/* A new function takes f's name and place. */
static LLVMValueRef put_before(Woven *w, LLVMValueRef f)
{
    size_t n;
    char *name = xstrdup(LLVMGetValueName2(f, &n));
    LLVMValueRef g = LLVMAddFunction(w->module, "", LLVMGlobalGetValueType(f));
    LLVMSetFunctionCallConv(g, LLVMGetFunctionCallConv(f));
    for (unsigned k = 0; k <= LLVMCountParams(f); k++)
        copy_attributes(f, g, k);
    copy_attributes(f, g, LLVMAttributeFunctionIndex);
    weave_drop(g, "memory");
    weave_drop(g, "alwaysinline");
    LLVMSetLinkage(g, LLVMGetLinkage(f));
    LLVMSetVisibility(g, LLVMGetVisibility(f));
    if (LLVMGetSection(f))
        LLVMSetSection(g, LLVMGetSection(f));
    LLVMReplaceAllUsesWith(f, g);
    char *native = xprintf("%s.native", name);
    LLVMSetValueName2(f, native, strlen(native));
    LLVMSetValueName2(g, name, strlen(name));
    LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMSetVisibility(f, LLVMDefaultVisibility);
    free(native);
    free(name);
    return g;
}

static void copy_abi_of_params(const Twin *t)
{
    static const char *const abi[] = { "byval",   "sret",  "inreg", "zeroext",
                                       "signext", "align", "nest",  "alignstack" };
    for (unsigned k = t->nresults && !t->variadic ? 1 : 0; k <= t->nparams; k++)
        for (size_t i = 0; i < sizeof abi / sizeof *abi; i++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(abi[i], strlen(abi[i]));
            LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(t->native, k, kind);
            if (a)
                LLVMAddAttributeAtIndex(t->sym, k, a);
        }
}

static void make_sym(Concolic *c, Twin *t)
{
    Woven *w = c->w;
    size_t n;
    char *name = xprintf("%s.sym", LLVMGetValueName2(t->f, &n));
    t->sym_type = sym_type(c, t);
    t->sym = LLVMAddFunction(w->module, name, t->sym_type);
    free(name);
    LLVMSetFunctionCallConv(t->sym, LLVMGetFunctionCallConv(t->native));
    LLVMSetLinkage(t->sym, LLVMInternalLinkage);
    copy_attributes(t->native, t->sym, LLVMAttributeFunctionIndex);
    weave_drop(t->sym, "memory");
    weave_drop(t->sym, "alwaysinline");
    weave_drop(t->sym, "speculatable");
    /* Nothing is gained by vectors of values on their way into arrays, and looking for them took
     * a quarter of the compiler's time. (Variadic functions save such registers.) */
    if (!t->variadic)
        weave_set(w, t->sym, "noimplicitfloat", 0);
    copy_abi_of_params(t);
}

static Twin *add_twin(Concolic *c, LLVMValueRef f, const Function *fn, uint32_t *edge)
{
    Twin *t = arena_new(&c->w->arena, Twin);
    size_t n;
    const char *symbol = LLVMGetValueName2(f, &n);
    t->fn = fn;
    t->type = LLVMGlobalGetValueType(f);
    t->variadic = LLVMIsFunctionVarArg(t->type);
    t->interposable = is_interposable(f);
    if (fn && c->plan.edges) {
        t->edge = edges_entry(c->plan.edges, symbol);
        t->site = edges_first_site(c->plan.edges, symbol);
    } else {
        t->edge = *edge;
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            *edge += edges_leaving(LLVMGetBasicBlockTerminator(b)) + 1;
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                ++*edge;
        }
        t->site = t->edge + 1;
    }
    plan_labels(c, t, f);
    t->native = f;
    vec_push(&c->list, t);
    return t;
}

/* The first number that the program does not use. */
static uint32_t numbers_in_use(const Concolic *c)
{
    uint32_t n = c->plan.edges ? (uint32_t)edges_count(c->plan.edges) : 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(c->w->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                n++;
    return n;
}

/* Standins come optimised, and their static functions with a calling convention of LLVM's
 * own; it makes no difference to what they do. */
static void call_plainly(Woven *w)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMGetFunctionCallConv(f) != LLVMFastCallConv ||
            LLVMGetLinkage(f) != LLVMInternalLinkage)
            continue;
        LLVMSetFunctionCallConv(f, LLVMCCallConv);
        for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u)) {
            LLVMValueRef call = LLVMGetUser(u);
            if ((LLVMIsACallInst(call) || LLVMIsAInvokeInst(call)) && LLVMGetCalledValue(call) == f)
                LLVMSetInstructionCallConv(call, LLVMCCallConv);
        }
    }
}

/* Is it one that no input has reached so far? It stays as it is. LLVM spends no effort on it. */
static bool leave_unreached(Concolic *c, const Function *fn, LLVMValueRef f)
{
    if (!fn || !c->plan.reached || c->plan.reached[fn->index])
        return false;
    if (!weave_has(f, "alwaysinline") && !weave_has(f, "optsize") && !weave_has(f, "minsize")) {
        weave_set(c->w, f, "optnone", 0);
        weave_set(c->w, f, "noinline", 0);
    }
    return true;
}

static void choose(Concolic *c)
{
    Woven *w = c->w;
    call_plainly(w);
    uint32_t edge = numbers_in_use(c);
    Vec(LLVMValueRef) all = { 0 };
    for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            vec_push(&all, f);
    for (size_t i = 0; i < all.len; i++) {
        size_t n;
        LLVMValueRef f = all.items[i];
        const Function *fn = program_function(w->program, LLVMGetValueName2(f, &n));
        if (fn && (!fn->defined || strcmp(fn->symbol, LLVMGetValueName2(f, &n)) != 0))
            fn = NULL;
        if (leave_unreached(c, fn, f))
            continue;
        LLVMValueRef original = fn ? program_function_value(w->program, fn) : NULL;
        bool sees = !fn || mark_function(c, original, f);
        c->figures.functions += fn != NULL;
        if (!sees && !c->plan.full)
            continue;
        if (!is_plain_body(f)) {
            c->figures.left_out++;
            continue;
        }
        c->figures.woven += fn != NULL;
        add_twin(c, f, fn, &edge);
    }
    vec_release(&all);
}

/* Bodies as they were call each other directly: nothing becomes symbolic while they
 * run. */
static void call_natives(Concolic *c, const Twin *t)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(t->native); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsACallInst(i))
                continue;
            LLVMValueRef g = LLVMGetCalledValue(i);
            Twin *to = LLVMIsAFunction(g) ? concolic_twin(c, g) : NULL;
            if (to && !to->interposable)
                LLVMSetOperand(i, (unsigned)LLVMGetNumOperands(i) - 1, to->native);
        }
}

/* ---- runtime */

static LLVMValueRef declare_global(Woven *w, const char *name, LLVMTypeRef type)
{
    LLVMValueRef g = LLVMGetNamedGlobal(w->module, name);
    return g ? g : LLVMAddGlobal(w->module, type, name);
}

/* The cold call takes few registers from the hot code around it. */
static void make_cold(Concolic *c)
{
    Woven *w = c->w;
    LLVMTypeRef params[] = { w->ptr, w->ptr, w->ptr };
    LLVMTypeRef type = LLVMFunctionType(w->void_, params, 3, false);
    LLVMValueRef region = weave_declare(w, "sundew_region", type), args[3];
    c->cold = LLVMAddFunction(w->module, "sundew.cold", type);
    LLVMSetFunctionCallConv(c->cold, LLVMPreserveMostCallConv);
    weave_define(w, c->cold, NULL);
    weave_set(w, c->cold, "noinline", 0);
    weave_set(w, c->cold, "cold", 0);
    for (unsigned k = 0; k < 3; k++)
        args[k] = LLVMGetParam(c->cold, k);
    weave_call(w, region, args, 3);
    LLVMBuildRetVoid(w->builder);
}

static void declare_runtime(Concolic *c)
{
    Woven *w = c->w;
    LLVMTypeRef passing[] = { w->i64, LLVMArrayType2(w->i32, SUNDEW_ARGS),
                              w->i64, LLVMArrayType2(w->i32, SUNDEW_RESULTS),
                              w->ptr, w->ptr };
    LLVMTypeRef copy[] = { w->ptr, w->ptr, w->i64, w->i32, w->i32 };
    LLVMTypeRef fill[] = { w->ptr, w->i8, w->i32, w->i64, w->i32, w->i32 };
    LLVMTypeRef room[] = { w->ptr, w->ptr, w->i64, w->i32, w->i32 };
    LLVMTypeRef forget[] = { w->ptr, w->i64 };
    c->passing_type = LLVMStructTypeInContext(w->ctx, passing, 6, false);
    c->passing = declare_global(w, "sundew_passing", c->passing_type);
    LLVMSetThreadLocalMode(c->passing, LLVMInitialExecTLSModel);
    c->alive = declare_global(w, "sundew_alive", w->i8);
    c->copy = weave_declare(w, "sundew_copy", LLVMFunctionType(w->void_, copy, 5, false));
    c->fill = weave_declare(w, "sundew_fill", LLVMFunctionType(w->void_, fill, 6, false));
    c->room = weave_declare(w, "sundew_room", LLVMFunctionType(w->void_, room, 5, false));
    c->forget = weave_declare(w, "sundew_forget", LLVMFunctionType(w->void_, forget, 2, false));
    make_cold(c);
}

/* The program's variables that are left when it has been optimised. */
static void write_objects(Woven *w, void *arg)
{
    (void)arg;
    LLVMTypeRef fields[] = { w->ptr, w->i64 };
    LLVMTypeRef row = LLVMStructTypeInContext(w->ctx, fields, 2, false);
    Vec(LLVMValueRef) rows = { 0 };
    for (LLVMValueRef g = LLVMGetFirstGlobal(w->module); g; g = LLVMGetNextGlobal(g)) {
        size_t n;
        const char *name = LLVMGetValueName2(g, &n);
        uint64_t size = concolic_size(w, LLVMGlobalGetValueType(g));
        if (LLVMIsDeclaration(g) || LLVMIsThreadLocal(g) || !size || str_starts(name, "llvm.") ||
            (str_starts(name, "sundew") && !str_starts(name, "sundew_standin_")) ||
            LLVMGetPointerAddressSpace(LLVMTypeOf(g)))
            continue;
        LLVMValueRef values[] = { g, LLVMConstInt(w->i64, size, false) };
        vec_push(&rows, LLVMConstNamedStruct(row, values, 2));
    }
    LLVMValueRef table = declare_global(w, "sundew_objects", LLVMArrayType2(row, 0));
    LLVMValueRef count = declare_global(w, "sundew_nobjects", w->i64);
    LLVMValueRef array = LLVMConstArray2(row, rows.items, rows.len);
    LLVMValueRef all = LLVMAddGlobal(w->module, LLVMTypeOf(array), "");
    LLVMSetInitializer(all, array);
    LLVMSetGlobalConstant(all, true);
    LLVMSetVisibility(all, LLVMHiddenVisibility);
    LLVMReplaceAllUsesWith(table, all);
    LLVMDeleteGlobal(table);
    LLVMSetValueName2(all, "sundew_objects", strlen("sundew_objects"));
    LLVMSetInitializer(count, LLVMConstInt(w->i64, rows.len, false));
    LLVMSetGlobalConstant(count, true);
    LLVMSetVisibility(count, LLVMHiddenVisibility);
    vec_release(&rows);
}

static void redirect(Woven *w)
{
#define X(name) weave_redirect(w, #name, "sundew_" #name);
    SUNDEW_CONCOLIC_REDIRECTED(X)
#undef X
}

/* ---- the weave */

static void write_twin(Concolic *c, Twin *t)
{
    Body b = { .c = c, .w = c->w, .t = t, .native = t->native, .sym = t->sym };
    plan_body(&b);
    write_body(&b);
    release_body(&b);
    write_dispatch(c, t);
}

bool weave_concolic(Woven *w, const ConcolicPlan *plan, Err *err)
{
    Concolic c = { .w = w, .plan = *plan };
    if (LLVMPointerSize(w->layout) != 8 || LLVMByteOrder(w->layout) != LLVMLittleEndian)
        return err_set(err, "concolic execution needs a little-endian program of 64 bits");
    if (!program_load_module(w->program, err))
        return false;
    choose(&c);
    redirect(w);
    declare_runtime(&c);
    for (size_t i = 0; i < c.list.len; i++) {
        Twin *t = c.list.items[i];
        t->in_place = goto_is_computed(t->native);
        t->f = t->in_place ? t->native : put_before(w, t->native);
        map_putn(&c.twins, &t->f, sizeof t->f, t);
        make_sym(&c, t);
    }
    for (size_t i = 0; i < c.list.len; i++)
        write_twin(&c, c.list.items[i]);
    for (size_t i = 0; i < c.list.len; i++)
        call_natives(&c, c.list.items[i]);
    weave_at_last(w, write_objects, NULL);
    w->concolic = c.figures;
    map_release(&c.twins);
    map_release(&c.marks);
    map_release(&c.texts);
    vec_release(&c.list);
    return true;
}

ConcolicFigures weave_concolic_figures(const Woven *w) { return w->concolic; }
