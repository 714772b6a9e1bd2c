/*
 * functions - what the module itself says about its functions: linkage, direct
 * calls, whether the address is taken. Names, places and types come from debug
 * information (debuginfo.c).
 */
#include "program/program_int.h"
#include <assert.h>
#include <llvm-c/Target.h>

const char *linkage_name(Linkage l)
{
    /* clang-format off */
    static const char *const names[] = {
        [LINKAGE_EXTERNAL] = "external", [LINKAGE_INTERNAL] = "internal",
        [LINKAGE_WEAK] = "weak",         [LINKAGE_COMMON] = "common",
        [LINKAGE_INLINE] = "inline",     [LINKAGE_OTHER] = "other",
    };
    /* clang-format on */
    assert((size_t)l < sizeof names / sizeof *names);
    return names[l];
}

static Linkage linkage_of(LLVMValueRef v)
{
    switch (LLVMGetLinkage(v)) {
    case LLVMExternalLinkage:
    case LLVMDLLImportLinkage:
    case LLVMDLLExportLinkage: return LINKAGE_EXTERNAL;
    case LLVMInternalLinkage:
    case LLVMPrivateLinkage:
    case LLVMLinkerPrivateLinkage:
    case LLVMLinkerPrivateWeakLinkage: return LINKAGE_INTERNAL;
    case LLVMWeakAnyLinkage:
    case LLVMWeakODRLinkage:
    case LLVMExternalWeakLinkage: return LINKAGE_WEAK;
    case LLVMCommonLinkage: return LINKAGE_COMMON;
    case LLVMAvailableExternallyLinkage:
    case LLVMLinkOnceAnyLinkage:
    case LLVMLinkOnceODRLinkage:
    case LLVMLinkOnceODRAutoHideLinkage: return LINKAGE_INLINE;
    default: return LINKAGE_OTHER;
    }
}

static bool is_call(LLVMValueRef v)
{
    return LLVMIsACallInst(v) || LLVMIsAInvokeInst(v) || LLVMIsACallBrInst(v);
}

/* Index + 1 of the function an instruction stands in; 0: none. */
static size_t holder_of(const Map *index, LLVMValueRef instruction)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(instruction);
    LLVMValueRef fn = LLVMGetBasicBlockParent(block);
    return (size_t)map_getn(index, &fn, sizeof fn);
}

/* Is a constant there only to be kept (llvm.used)? */
static bool is_kept_only(LLVMValueRef constant)
{
    if (!LLVMIsAConstantArray(constant))
        return false;
    for (LLVMUseRef u = LLVMGetFirstUse(constant); u; u = LLVMGetNextUse(u)) {
        size_t n;
        const char *name =
            LLVMIsAGlobalVariable(LLVMGetUser(u)) ? LLVMGetValueName2(LLVMGetUser(u), &n) : "";
        if (strcmp(name, "llvm.used") != 0 && strcmp(name, "llvm.compiler.used") != 0)
            return false;
    }
    return true;
}

typedef Vec(size_t) Indexes;

/* The functions that call `v` directly, each call once; other uses make its
 * address taken. A call through an alias is a call of what it stands for. */
static void see_uses(const Map *index, LLVMValueRef v, Function *fn, Indexes *callers)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (is_call(user) && LLVMGetCalledValue(user) == v) {
            size_t holder = holder_of(index, user);
            assert(holder);         /* a call stands in a body of this module */
            fn->ncalls++;
            vec_push(callers, holder - 1);
            /* passed to itself, as in f(f)? */
            for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++)
                if (LLVMGetOperand(user, i) == v)
                    fn->address_taken = true;
        } else if (LLVMIsAGlobalAlias(user)) {
            see_uses(index, user, fn, callers);
        } else if (!LLVMIsABlockAddress(user) && !is_kept_only(user)) {
            fn->address_taken = true;
        }
    }
}

static int by_number(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

static size_t sort_unique(Indexes *v)
{
    size_t n = 0;
    if (v->len)
        qsort(v->items, v->len, sizeof *v->items, by_number);
    for (size_t i = 0; i < v->len; i++)
        if (n == 0 || v->items[i] != v->items[n - 1])
            v->items[n++] = v->items[i];
    return v->len = n;
}

static void connect(Function *all, size_t n, Indexes *callers, Arena *a)
{
    for (size_t i = 0; i < n; i++) {
        Function *fn = &all[i];
        fn->ncallers = (unsigned)sort_unique(&callers[i]);
        fn->callers = arena_array(a, const Function *, fn->ncallers);
        for (unsigned k = 0; k < fn->ncallers; k++) {
            fn->callers[k] = &all[callers[i].items[k]];
            all[callers[i].items[k]].ncallees++;
        }
    }
    for (size_t i = 0; i < n; i++) {
        all[i].callees = arena_array(a, const Function *, all[i].ncallees);
        all[i].ncallees = 0;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < callers[i].len; k++) {
            Function *from = &all[callers[i].items[k]];
            assert(from->defined);
            from->callees[from->ncallees++] = &all[i];
        }
}

static bool has_attribute(LLVMValueRef fn, unsigned at, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return LLVMGetEnumAttributeAtIndex(fn, at, kind) != NULL;
}

Function *functions_of_module(LLVMModuleRef m, Arena *a, size_t *count)
{
    size_t n = 0;
    Map index = { 0 };
    for (LLVMValueRef v = LLVMGetFirstFunction(m); v; v = LLVMGetNextFunction(v))
        map_putn(&index, &v, sizeof v, (void *)++n);
    Function *all = arena_array(a, Function, n);
    Indexes *callers = xcalloc(n + 1, sizeof *callers);
    size_t i = 0;
    for (LLVMValueRef v = LLVMGetFirstFunction(m); v; v = LLVMGetNextFunction(v), i++) {
        Function *fn = &all[i];
        size_t len;
        const char *name = LLVMGetValueName2(v, &len);
        fn->symbol = fn->name = arena_strndup(a, name, len);
        fn->file = fn->signature = "";
        fn->index = (unsigned)i;
        fn->linkage = linkage_of(v);
        fn->defined = !LLVMIsDeclaration(v);
        fn->prototyped = true;
        fn->intrinsic = LLVMGetIntrinsicID(v) != 0;
        fn->variadic = LLVMIsFunctionVarArg(LLVMGlobalGetValueType(v));
        fn->noreturn = has_attribute(v, LLVMAttributeFunctionIndex, "noreturn");
        fn->returns_in_memory = LLVMCountParams(v) && has_attribute(v, 1, "sret");
        see_uses(&index, v, fn, &callers[i]);
    }
    assert(i == n);
    connect(all, n, callers, a);
    for (i = 0; i < n; i++)
        vec_release(&callers[i]);
    free(callers);
    map_release(&index);
    *count = n;
    return all;
}

Variable *variables_of_module(LLVMModuleRef m, Arena *a, size_t *count)
{
    size_t n = 0;
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(m);
    LLVMValueRef v;
    for (v = LLVMGetFirstGlobal(m); v; v = LLVMGetNextGlobal(v))
        n++;
    Variable *all = arena_array(a, Variable, n), *var = all;
    for (v = LLVMGetFirstGlobal(m); v; v = LLVMGetNextGlobal(v), var++) {
        size_t len;
        const char *name = LLVMGetValueName2(v, &len);
        LLVMTypeRef type = LLVMGlobalGetValueType(v);
        var->symbol = var->name = arena_strndup(a, name, len);
        var->file = "";
        var->linkage = linkage_of(v);
        var->defined = !LLVMIsDeclaration(v);
        var->constant = LLVMIsGlobalConstant(v);
        var->thread_local_ = LLVMIsThreadLocal(v);
        var->size = LLVMTypeIsSized(type) ? LLVMABISizeOfType(layout, type) : 0;
    }
    *count = n;
    return all;
}
