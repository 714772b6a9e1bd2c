/*
 * Which parameter says how long the object of another one is.
 *
 *     for (i = 0; i < n; i++) … p[i]      i begins at 0, is compared with n,
 *                                         and indexes p
 *     memcpy(p, q, n)                     of p and q with elements of one byte
 *     f(p, n)                             if f has such a pair there
 *
 * It is evidence, no proof: the function may do more to p elsewhere. Two lengths
 * for one pointer are none.
 */
#include "analysis/mutability/mutability_int.h"

enum { MOST_DEPTH = 4 };

static LLVMValueRef plain(LLVMValueRef v)
{
    while (LLVMIsAZExtInst(v) || LLVMIsASExtInst(v))
        v = LLVMGetOperand(v, 0);
    return v;
}

/* The parameter that an IR value is; -1: none. */
static int param_index(const Body *b, LLVMValueRef v)
{
    v = plain(v);
    for (unsigned i = 0; LLVMIsAArgument(v) && i < b->fn->nparams; i++) {
        const Param *p = &b->fn->params[i];
        if (p->nargs == 1 && p->first_arg < b->nargs && LLVMGetParam(b->value, p->first_arg) == v)
            return (int)i;
    }
    return -1;
}

/* Elements of one byte, or nobody knows which. */
static bool is_bytes(const Param *p)
{
    const Type *t = p->type ? type_plain(p->type) : NULL;

    if (!t || t->kind != TYPE_POINTER)
        return false;
    t = type_plain(t->target);
    return t->kind == TYPE_VOID || (t->kind == TYPE_SCALAR && t->size == 1);
}

/* What a counter that begins at 0 is compared with; NULL. */
static LLVMValueRef limit_of(LLVMValueRef counter)
{
    bool from_zero = false;

    if (!LLVMIsAPHINode(counter))
        return NULL;
    for (unsigned i = 0; i < LLVMCountIncoming(counter); i++) {
        LLVMValueRef x = LLVMGetIncomingValue(counter, i);
        from_zero |= LLVMIsAConstantInt(x) && LLVMConstIntGetZExtValue(x) == 0;
    }
    for (LLVMUseRef u = from_zero ? LLVMGetFirstUse(counter) : NULL; u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        for (LLVMUseRef v = LLVMIsAICmpInst(user) ? NULL : LLVMGetFirstUse(user); v;
             v = LLVMGetNextUse(v))
            if (plain(user) == counter && LLVMIsAICmpInst(LLVMGetUser(v)))
                user = LLVMGetUser(v);
        if (!LLVMIsAICmpInst(user) || plain(LLVMGetOperand(user, 0)) != counter)
            continue;
        LLVMIntPredicate p = LLVMGetICmpPredicate(user);
        if (p == LLVMIntSLT || p == LLVMIntULT || p == LLVMIntNE)
            return plain(LLVMGetOperand(user, 1));
    }
    return NULL;
}

typedef struct Found {
    int index;
    bool several;
} Found;

static void find(Found *f, int index)
{
    f->several |= f->index >= 0 && index >= 0 && f->index != index;
    if (index >= 0)
        f->index = index;
}

static int length_of(const Mutability *m, const Function *fn, unsigned i, unsigned depth);

/* Library functions whose pointer and length are known. */
static const struct pair {
    const char *name;
    unsigned pointer, length;
} pairs[] = {
    { "llvm.memcpy", 0, 2 },  { "llvm.memcpy", 1, 2 }, { "llvm.memmove", 0, 2 },
    { "llvm.memmove", 1, 2 }, { "llvm.memset", 0, 2 }, { "memcpy", 0, 2 },
    { "memcpy", 1, 2 },       { "memmove", 0, 2 },     { "memmove", 1, 2 },
    { "memset", 0, 2 },       { "memcmp", 0, 2 },      { "memcmp", 1, 2 },
    { "memchr", 0, 2 },       { "read", 1, 2 },        { "write", 1, 2 },
    { "pread", 1, 2 },        { "pwrite", 1, 2 },      { "recv", 1, 2 },
    { "send", 1, 2 },
};

static void see_library(const Body *b, LLVMValueRef call, unsigned arg, const char *name, Found *f)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].pointer == arg && pairs[i].length < LLVMGetNumArgOperands(call) &&
            (strcmp(name, pairs[i].name) == 0 ||
             (str_starts(pairs[i].name, "llvm.") && str_starts(name, pairs[i].name))))
            find(f, param_index(b, LLVMGetOperand(call, pairs[i].length)));
}

static void see_call(const Mutability *m, const Body *b, LLVMValueRef call, LLVMValueRef p,
                     bool bytes, unsigned depth, Found *f)
{
    LLVMValueRef fn = LLVMGetCalledValue(call);
    size_t n;

    if (!LLVMIsAFunction(fn))
        return;
    const Body *g = mut_body(m, fn);
    for (unsigned k = 0; k < LLVMGetNumArgOperands(call); k++) {
        if (LLVMGetOperand(call, k) != p)
            continue;
        int at = g && k < g->nargs ? param_index(g, LLVMGetParam(g->value, k)) : -1;
        int length = at < 0 ? -1 : length_of(m, g->fn, (unsigned)at, depth + 1);
        if (length >= 0 && is_bytes(&g->fn->params[at]) == bytes)
            find(f, param_index(b, LLVMGetOperand(call, g->fn->params[length].first_arg)));
        else if (!g && bytes)
            see_library(b, call, k, LLVMGetValueName2(fn, &n), f);
    }
}

static int length_of(const Mutability *m, const Function *fn, unsigned i, unsigned depth)
{
    const Body *b = &m->bodies[fn->index];
    const Param *param = &fn->params[i];
    Found f = { .index = -1 };

    if (!b->fn || param->nargs != 1 || param->first_arg >= b->nargs || depth > MOST_DEPTH)
        return -1;
    LLVMValueRef p = LLVMGetParam(b->value, param->first_arg);
    if (LLVMGetTypeKind(LLVMTypeOf(p)) != LLVMPointerTypeKind)
        return -1;
    for (LLVMUseRef u = LLVMGetFirstUse(p); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsAGetElementPtrInst(user) && LLVMGetNumOperands(user) == 2) {
            LLVMValueRef limit = limit_of(plain(LLVMGetOperand(user, 1)));
            find(&f, limit ? param_index(b, limit) : -1);
        } else if (LLVMIsACallInst(user)) {
            see_call(m, b, user, p, is_bytes(param), depth, &f);
        }
    }
    return f.several ? -1 : f.index;
}

int mutability_length(const Mutability *m, const Function *fn, unsigned i)
{
    int at = length_of(m, fn, i, 0);
    const Type *t = at >= 0 && fn->params[at].type ? type_plain(fn->params[at].type) : NULL;

    return t && (t->kind == TYPE_SCALAR || t->kind == TYPE_ENUM) ? at : -1;
}
