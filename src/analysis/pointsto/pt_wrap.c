/*
 * Wrappers: functions that return the memory they have just allocated.
 *
 *     void *xmalloc(size_t n) { void *p = malloc(n); if (!p) die(); return p; }
 *
 * If xmalloc's result were malloc's one object, every user of xmalloc would
 * share it. Instead each call of xmalloc names an object of its own. That is
 * sound: what a call returns was allocated during that call. Inside xmalloc,
 * `p` may be any of them (the wrapper's *pool*), so it may store p elsewhere,
 * write to it, hand it to others.
 *
 * A function is a wrapper if all that it returns is null, the result of a
 * function that allocates, the result of another wrapper, or a parameter as it
 * came in; through phi, select, casts and a constant offset. A local variable
 * whose address goes to a function that only stores fresh memory there counts
 * too (`alloc(n, &p); return p;`). A call through a pointer counts if some
 * function of just that type, whose address is taken, allocates: an allocator
 * that can be exchanged. This is a guess; should the call turn out to reach
 * other functions, what they return is handed on too (`extra`).
 */
#include "analysis/pointsto/pt_int.h"
#include <string.h>

enum { MOST_DEPTH = 40, MOST_ROUNDS = 10 };

/* One function under examination. */
typedef struct Look {
    Pt *pt;
    LLVMValueRef fn;
    PtTable seen;
    int64_t offset;           /* of the result; ANY: none yet */
    int realloc_param;        /* -1: none yet; -2: not the same everywhere */
    uint32_t params;
    bool allocates;
    Vec(PtHandsOn) calls;
    Vec(LLVMValueRef) outs;   /* functions that hand on through a parameter */
    bool filling;             /* inside a function that fills a parameter: one
                               * such in another isn't followed */
} Look;

static bool is_fresh(Look *k, LLVMValueRef v, int64_t offset, int depth);

static int param_index(LLVMValueRef fn, LLVMValueRef v)
{
    if (LLVMIsAArgument(v))
        for (unsigned i = 0; i < LLVMCountParams(fn); i++)
            if (LLVMGetParam(fn, i) == v)
                return (int)i;
    return -1;
}

/* The memory comes from a reallocation of `v`. */
static void moves(Look *k, LLVMValueRef v)
{
    int i = param_index(k->fn, v);

    if (LLVMIsAConstantPointerNull(v))
        return;
    if (k->realloc_param == -1 && i >= 0)
        k->realloc_param = i;
    else if (k->realloc_param != i)
        k->realloc_param = -2;
}

/* Does this function give fresh memory, at which offset? */
static bool function_allocates(Look *k, LLVMValueRef fn, LLVMValueRef call, int64_t *offset)
{
    size_t n;

    *offset = 0;
    if (LLVMIsDeclaration(fn)) {
        const Summary *s = summaries_find(k->pt->summaries, LLVMGetValueName2(fn, &n));
        if (!s || !summary_allocates(s))
            return false;
        int r = summary_reallocates(s);
        if (r >= 0 && (unsigned)r < LLVMGetNumArgOperands(call))
            moves(k, LLVMGetOperand(call, (unsigned)r));
        return true;
    }
    uint32_t i = pttable_get(&k->pt->wrapper_of, (uintptr_t)fn);
    if (i == NONE || k->pt->wrappers.items[i].out)
        return false;
    const PtWrapper *w = &k->pt->wrappers.items[i];
    *offset = w->offset;
    if (w->realloc_param >= 0 && (unsigned)w->realloc_param < LLVMGetNumArgOperands(call))
        moves(k, LLVMGetOperand(call, (unsigned)w->realloc_param));
    /* A parameter that it may hand back must be fresh, or a parameter, here. */
    for (unsigned p = 0; p < LLVMGetNumArgOperands(call) && p < 32; p++)
        if (w->params >> p & 1 && !is_fresh(k, LLVMGetOperand(call, p), 0, 1))
            return false;
    return true;
}

/* The functions that a call through a pointer may well reach: those of its
 * type that allocate. */
static bool pointer_call_is_fresh(Look *k, LLVMValueRef call, int64_t *inner)
{
    LLVMTypeRef type = LLVMGetCalledFunctionType(call);
    bool any = false;

    for (size_t i = 0; i < k->pt->v->functions.len; i++) {
        LLVMValueRef fn = k->pt->v->functions.items[i].fn;
        int64_t at;
        if (LLVMGlobalGetValueType(fn) != type || !k->pt->address_taken[i] ||
            !function_allocates(k, fn, call, &at))
            continue;
        if (!any || at < *inner)
            *inner = at;
        any = true;
    }
    return any;
}

static bool call_is_fresh(Look *k, LLVMValueRef call, int64_t offset)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    int64_t inner = 0;

    if (LLVMIsAFunction(callee) ? !function_allocates(k, callee, call, &inner)
                                : !pointer_call_is_fresh(k, call, &inner))
        return false;
    if (k->offset != ANY && k->offset != offset + inner)
        return false;
    k->offset = offset + inner;
    k->allocates = true;
    PtHandsOn h = { call, inner };
    vec_push(&k->calls, h);
    return true;
}

/* Does the function only store fresh memory through its parameter i? */
static bool fills_parameter(Look *k, LLVMValueRef call, LLVMValueRef slot)
{
    LLVMValueRef fn = LLVMGetCalledValue(call);

    if (k->filling || !LLVMIsAFunction(fn) || LLVMIsDeclaration(fn))
        return false;
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        if (LLVMGetOperand(call, i) != slot)
            continue;
        if (i >= LLVMCountParams(fn))
            return false;
        Look inner = { .pt = k->pt, .fn = fn, .offset = ANY, .realloc_param = -1, .filling = true };
        bool ok = true;
        for (LLVMUseRef u = LLVMGetFirstUse(LLVMGetParam(fn, i)); u && ok; u = LLVMGetNextUse(u)) {
            LLVMValueRef user = LLVMGetUser(u);
            ok = LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == LLVMGetParam(fn, i) &&
                 is_fresh(&inner, LLVMGetOperand(user, 0), 0, 1);
        }
        ok = ok && inner.allocates && inner.offset == 0 && !inner.params &&
             inner.realloc_param == -1;
        if (ok) {
            vec_push(&k->outs, fn);
            k->allocates = true;
        }
        pttable_release(&inner.seen);
        vec_release(&inner.calls);
        if (!ok)
            return false;
    }
    PtHandsOn h = { call, 0 };
    vec_push(&k->calls, h);
    return true;
}

/* A local variable that only ever holds fresh memory. */
static bool slot_is_fresh(Look *k, LLVMValueRef slot, int64_t offset, int depth)
{
    if (offset || (k->offset != ANY && k->offset != 0))
        return false;
    for (LLVMUseRef u = LLVMGetFirstUse(slot); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        size_t n;
        if (LLVMIsALoadInst(user))
            continue;
        if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == slot &&
            is_fresh(k, LLVMGetOperand(user, 0), 0, depth + 1))
            continue;
        if (!LLVMIsACallInst(user))
            return false;
        LLVMValueRef fn = LLVMGetCalledValue(user);
        if (LLVMIsAFunction(fn) && !strncmp(LLVMGetValueName2(fn, &n), "llvm.lifetime", 13))
            continue;
        if (!fills_parameter(k, user, slot))
            return false;
        k->offset = 0;
    }
    return true;
}

static bool step_is_fresh(Look *k, LLVMValueRef gep, int64_t offset, int depth)
{
    LLVMTypeRef t = LLVMGetGEPSourceElementType(gep);

    if (LLVMGetNumOperands(gep) != 2 || !LLVMIsAConstantInt(LLVMGetOperand(gep, 1)))
        return false;
    int64_t add = LLVMConstIntGetSExtValue(LLVMGetOperand(gep, 1)) *
                  (int64_t)LLVMABISizeOfType(k->pt->v->layout, t);
    return add >= 0 && add < 4096 && is_fresh(k, LLVMGetOperand(gep, 0), offset + add, depth + 1);
}

/* `offset`: how far the returned pointer is behind v. */
static bool is_fresh(Look *k, LLVMValueRef v, int64_t offset, int depth)
{
    if (LLVMIsAConstantPointerNull(v) || LLVMIsUndef(v))
        return true;
    if (depth > MOST_DEPTH)
        return false;
    int param = param_index(k->fn, v);
    if (param >= 0 && param < 32 && !offset) {
        k->params |= UINT32_C(1) << param;
        return true;
    }
    if (!LLVMIsAInstruction(v))
        return false;
    if (!pttable_put(&k->seen, (uintptr_t)v, (uint32_t)offset))
        return pttable_get(&k->seen, (uintptr_t)v) == (uint32_t)offset;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMPHI:
        for (unsigned i = 0; i < LLVMCountIncoming(v); i++)
            if (!is_fresh(k, LLVMGetIncomingValue(v, i), offset, depth + 1))
                return false;
        return true;
    case LLVMSelect:
        return is_fresh(k, LLVMGetOperand(v, 1), offset, depth + 1) &&
               is_fresh(k, LLVMGetOperand(v, 2), offset, depth + 1);
    case LLVMBitCast:
    case LLVMFreeze: return is_fresh(k, LLVMGetOperand(v, 0), offset, depth + 1);
    case LLVMGetElementPtr: return step_is_fresh(k, v, offset, depth);
    case LLVMLoad:
        return LLVMIsAAllocaInst(LLVMGetOperand(v, 0)) &&
               slot_is_fresh(k, LLVMGetOperand(v, 0), offset, depth);
    case LLVMCall: return call_is_fresh(k, v, offset);
    default: return false;
    }
}

static bool returns_fresh(Look *k)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(k->fn);

    if (LLVMGetTypeKind(LLVMGetReturnType(type)) != LLVMPointerTypeKind)
        return false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(k->fn); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(b);
        if (last && LLVMIsAReturnInst(last) && LLVMGetNumOperands(last) &&
            !is_fresh(k, LLVMGetOperand(last, 0), 0, 0))
            return false;
    }
    return k->allocates && (k->offset == 0 || !k->params);
}

static PtWrapper *add_wrapper(Pt *pt, LLVMValueRef fn)
{
    uint32_t i = pttable_get(&pt->wrapper_of, (uintptr_t)fn);

    if (i != NONE)
        return &pt->wrappers.items[i];
    PtWrapper *w = vec_grow(&pt->wrappers);
    w->fn = fn;
    w->realloc_param = -1;
    pttable_put(&pt->wrapper_of, (uintptr_t)fn, (uint32_t)pt->wrappers.len - 1);
    return w;
}

/* The calls in `fn` whose memory goes out through a parameter. */
static void add_out(Pt *pt, LLVMValueRef fn)
{
    PtWrapper *w = add_wrapper(pt, fn);

    w->out = true;
    for (unsigned i = 0; i < LLVMCountParams(fn); i++)
        for (LLVMUseRef u = LLVMGetFirstUse(LLVMGetParam(fn, i)); u; u = LLVMGetNextUse(u)) {
            LLVMValueRef user = LLVMGetUser(u);
            Look k = { .pt = pt, .fn = fn, .offset = ANY, .realloc_param = -1 };
            if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == LLVMGetParam(fn, i) &&
                is_fresh(&k, LLVMGetOperand(user, 0), 0, 1) && k.offset == 0)
                for (size_t j = 0; j < k.calls.len; j++)
                    vec_push(&w->calls, k.calls.items[j]);
            pttable_release(&k.seen);
            vec_release(&k.calls);
            vec_release(&k.outs);
        }
}

/* Looks at one function; true if it is a wrapper that wasn't known as one. */
static bool examine(Pt *pt, LLVMValueRef fn)
{
    Look k = { .pt = pt, .fn = fn, .offset = ANY, .realloc_param = -1 };
    bool is = returns_fresh(&k);

    if (is) {
        PtWrapper *w = add_wrapper(pt, fn);
        w->offset = k.offset;
        w->realloc_param = k.realloc_param >= 0 ? k.realloc_param : -1;
        w->params = k.params;
        w->out = false;
        for (size_t i = 0; i < k.calls.len; i++)
            vec_push(&w->calls, k.calls.items[i]);
        for (size_t i = 0; i < k.outs.len; i++)
            if (pttable_get(&pt->wrapper_of, (uintptr_t)k.outs.items[i]) == NONE)
                add_out(pt, k.outs.items[i]);
    }
    pttable_release(&k.seen);
    vec_release(&k.calls);
    vec_release(&k.outs);
    return is;
}

/* Functions whose address is used other than to call them. */
static void find_address_taken(Pt *pt)
{
    pt->address_taken = arena_array(&pt->arena, bool, pt->v->functions.len + 1);
    for (size_t i = 0; i < pt->v->functions.len; i++) {
        LLVMValueRef fn = pt->v->functions.items[i].fn;
        for (LLVMUseRef u = LLVMGetFirstUse(fn); u; u = LLVMGetNextUse(u)) {
            LLVMValueRef user = LLVMGetUser(u);
            bool call = LLVMIsACallInst(user) && LLVMGetCalledValue(user) == fn;
            for (unsigned k = 0; call && k < LLVMGetNumArgOperands(user); k++)
                call = LLVMGetOperand(user, k) != fn;
            pt->address_taken[i] |= !call;
        }
    }
}

void pt_find_wrappers(Pt *pt)
{
    bool more = true;

    find_address_taken(pt);
    /* Inner ones first; outer ones follow in the next round. */
    for (int round = 0; more && round < MOST_ROUNDS; round++) {
        more = false;
        for (size_t i = 0; i < pt->v->functions.len; i++) {
            LLVMValueRef fn = pt->v->functions.items[i].fn;
            if (LLVMIsDeclaration(fn) || pttable_get(&pt->wrapper_of, (uintptr_t)fn) != NONE)
                continue;
            more |= examine(pt, fn);
        }
    }
    for (size_t i = 0; i < pt->wrappers.len; i++)
        for (size_t j = 0; j < pt->wrappers.items[i].calls.len; j++) {
            const PtHandsOn *h = &pt->wrappers.items[i].calls.items[j];
            pttable_put(&pt->hands_on, (uintptr_t)h->call, (uint32_t)i);
            pttable_put(&pt->hands_inner, (uintptr_t)h->call, (uint32_t)h->inner);
        }
    pt->stats.wrappers = pt->wrappers.len;
}
