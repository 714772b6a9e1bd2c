/*
 * The values that the source puts into results, parameters, fields and variables.
 * The program is in SSA form, so a stored or returned value is followed through
 * phis, selects and results of calls up to constants; all else is "other".
 */
#include "analysis/units/units_int.h"
#include "base/str.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 64, MOST_REACHED = 256, MOST_PASSED = 6 };

typedef struct Caller {
    Vec(LLVMValueRef) callees;
    Map fields;               /* "struct.foo@8" -> Put: its own stores */
} Caller;

struct Puts {
    const Program *p;
    LLVMTargetDataRef layout;
    Map results;              /* function -> Put, while it is made one that says nothing */
    Map params;               /* argument -> Put */
    Map passed;               /* argument: some caller passes on its own parameter */
    Map nulls;                /* argument and depth -> answer of takes_null() + 1 */
    Map places;               /* "struct.foo@8", "@global" -> Put */
    Map callers;              /* function -> Caller */
    Map storers;              /* "struct.foo@8" -> a uint64_t, of all that store there */
};

static Put *put_in(void **slot)
{
    if (!*slot)
        *slot = xcalloc(1, sizeof(Put));
    return *slot;
}

static void add_constant(Put *put, int64_t x)
{
    put->any = true;
    for (unsigned i = 0; i < put->n; i++)
        if (put->constants[i] == x)
            return;
    if (put->n < PUTS_MOST)
        put->constants[put->n++] = x;
    else
        put->other = true;
}

static void add_other(Put *put) { put->any = put->other = true; }

static void add_put(Put *to, const Put *from)
{
    for (unsigned i = 0; i < from->n; i++)
        add_constant(to, from->constants[i]);
    to->any |= from->any;
    to->other |= from->other;
}

/* --- where a value comes from */

typedef struct Walk {
    Puts *puts;
    Put *out;
    LLVMValueRef seen[MOST_STEPS];
    unsigned n;
    bool into_calls;          /* what a called function returns counts, too */
    bool from_param;          /* a parameter of the function that the value is in */
} Walk;

static const Put *result_of(Puts *puts, LLVMValueRef fn);

static void walk_call(Walk *w, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    bool known = LLVMIsAFunction(callee) && !LLVMIsDeclaration(callee);

    if (known && w->into_calls) {
        add_put(w->out, result_of(w->puts, callee));
        return;
    }
    add_other(w->out);
    /* malloc(), strchr(), fopen() … */
    if (w->into_calls && LLVMIsAFunction(callee) &&
        LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMPointerTypeKind)
        add_constant(w->out, 0);
}

static void walk(Walk *w, LLVMValueRef v)
{
    for (unsigned i = 0; i < w->n; i++)
        if (w->seen[i] == v)
            return;
    if (w->n == MOST_STEPS) {
        add_other(w->out);
        return;
    }
    w->seen[w->n++] = v;
    if (LLVMIsAConstantInt(v)) {
        if (LLVMGetIntTypeWidth(LLVMTypeOf(v)) == 1)
            add_constant(w->out, (int64_t)LLVMConstIntGetZExtValue(v));
        else if (LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 64)
            add_constant(w->out, LLVMConstIntGetSExtValue(v));
        else
            add_other(w->out);
    } else if (LLVMIsAConstantPointerNull(v)) {
        add_constant(w->out, 0);
    } else if (LLVMIsAPHINode(v)) {
        for (unsigned i = 0; i < LLVMCountIncoming(v); i++)
            walk(w, LLVMGetIncomingValue(v, i));
    } else if (LLVMIsASelectInst(v)) {
        walk(w, LLVMGetOperand(v, 1));
        walk(w, LLVMGetOperand(v, 2));
    } else if (LLVMIsAZExtInst(v) || LLVMIsASExtInst(v) || LLVMIsATruncInst(v)) {
        walk(w, LLVMGetOperand(v, 0));
    } else if (LLVMIsAICmpInst(v) || LLVMIsAFCmpInst(v)) {
        add_constant(w->out, 0);
        add_constant(w->out, 1);
    } else if (LLVMIsACallInst(v)) {
        walk_call(w, v);
    } else if (!LLVMIsAUndefValue(v)) {
        w->from_param |= LLVMIsAArgument(v) != NULL;
        add_other(w->out);
    }
}

/* What is stored or passed was tested first as a rule: a call's result is other. */
static bool gather(Puts *puts, LLVMValueRef v, bool into_calls, Put *out)
{
    Walk w = { .puts = puts, .out = out, .into_calls = into_calls };

    walk(&w, v);
    return w.from_param;
}

static const Put *result_of(Puts *puts, LLVMValueRef fn)
{
    void **slot = map_slotn(&puts->results, &fn, sizeof fn);

    if (*slot)
        return *slot;
    Put *put = put_in(slot);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(b);
        if (last && LLVMIsAReturnInst(last) && LLVMGetNumOperands(last))
            gather(puts, LLVMGetOperand(last, 0), true, put);
    }
    return put;
}

/* --- instructions */

static void put_other(Puts *puts, Caller *caller, char *key)
{
    if (!key)
        return;
    add_other(put_in(map_slot(&puts->places, key)));
    add_other(put_in(map_slot(&caller->fields, key)));
    free(key);
}

/* The type of what a GEP leads to. */
static LLVMTypeRef gep_target(LLVMValueRef gep)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);

    for (int i = 2; i < LLVMGetNumOperands(gep); i++)
        type = LLVMGetTypeKind(type) == LLVMStructTypeKind
                   ? LLVMStructGetTypeAtIndex(type, (unsigned)LLVMConstIntGetZExtValue(
                                                        LLVMGetOperand(gep, (unsigned)i)))
                   : LLVMGetElementType(type);
    return type;
}

/* A field whose address is handed out: who gets it may store there. Of a struct, that
 * is each of its fields. */
static void see_handed_out(Puts *puts, Caller *caller, LLVMValueRef pointer)
{
    if (!LLVMIsAGetElementPtrInst(pointer))
        return;
    LLVMTypeRef type = gep_target(pointer);
    if (LLVMGetTypeKind(type) != LLVMStructTypeKind) {
        put_other(puts, caller, units_gep_key(puts->layout, pointer));
        return;
    }
    for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
        put_other(puts, caller, units_struct_key(puts->layout, type, i));
}

static void see_store(Puts *puts, Caller *caller, LLVMValueRef i)
{
    LLVMValueRef value = LLVMGetOperand(i, 0), to = LLVMGetOperand(i, 1);
    char *key = NULL;
    size_t len;

    if (LLVMIsAGetElementPtrInst(to) && LLVMGetTypeKind(gep_target(to)) == LLVMStructTypeKind) {
        see_handed_out(puts, caller, to);      /* a small struct, stored as a number */
        return;
    }
    if (LLVMIsAGlobalVariable(to))
        key = xprintf("@%s", LLVMGetValueName2(to, &len));
    else if (LLVMIsAGetElementPtrInst(to))
        key = units_gep_key(puts->layout, to);
    if (!key)
        return;
    Put put = { 0 };
    gather(puts, value, false, &put);
    add_put(put_in(map_slot(&puts->places, key)), &put);
    add_put(put_in(map_slot(&caller->fields, key)), &put);
    free(key);
}

/* What others may change at the same time is no constant. */
static void see_atomic(Puts *puts, Caller *caller, LLVMValueRef i)
{
    LLVMValueRef to = LLVMGetOperand(i, 0);

    if (LLVMIsAGetElementPtrInst(to))
        put_other(puts, caller, units_gep_key(puts->layout, to));
}

/* The struct that a pointer leads to, as the function itself uses it; NULL. */
static LLVMTypeRef used_as(LLVMValueRef pointer)
{
    for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsAGetElementPtrInst(user) && LLVMGetOperand(user, 0) == pointer &&
            LLVMGetTypeKind(LLVMGetGEPSourceElementType(user)) == LLVMStructTypeKind)
            return LLVMGetGEPSourceElementType(user);
    }
    return NULL;
}

/* All fields of a struct are 0 now, but for those that the function stores to. */
static void put_zeros(Puts *puts, Caller *caller, LLVMTypeRef type)
{
    for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++) {
        LLVMTypeRef part = LLVMStructGetTypeAtIndex(type, i);
        char *key = units_struct_key(puts->layout, type, i);
        if (LLVMGetTypeKind(part) == LLVMStructTypeKind)
            put_zeros(puts, caller, part);
        else if (key && !map_get(&caller->fields, key)) {
            add_constant(put_in(map_slot(&puts->places, key)), 0);
            add_constant(put_in(map_slot(&caller->fields, key)), 0);
        }
        free(key);
    }
}

/* memset(p, 0, sizeof *p), p = calloc(n, sizeof *p): seen when all stores of the function were. */
static void see_zeros(Puts *puts, Caller *caller, LLVMValueRef i)
{
    LLVMValueRef callee = LLVMGetCalledValue(i);
    LLVMTypeRef type = NULL;
    size_t len;

    if (!LLVMIsAFunction(callee))
        return;
    const char *name = LLVMGetValueName2(callee, &len);
    if (strcmp(name, "calloc") == 0)
        type = used_as(i);
    else if (str_starts(name, "llvm.memset") && LLVMIsNull(LLVMGetOperand(i, 1)))
        type = used_as(LLVMGetOperand(i, 0));
    if (type)
        put_zeros(puts, caller, type);
}

static void see_call(Puts *puts, Caller *caller, LLVMValueRef i)
{
    LLVMValueRef callee = LLVMGetCalledValue(i);
    unsigned written = LLVMGetNumArgOperands(i);
    size_t len;

    if (LLVMIsAFunction(callee) && str_starts(LLVMGetValueName2(callee, &len), "llvm.memcpy"))
        written = 1;                           /* the second is read only */
    for (unsigned k = 0; k < written; k++)
        if (!LLVMIsAFunction(callee) || !LLVMGetIntrinsicID(callee) || written == 1)
            see_handed_out(puts, caller, LLVMGetOperand(i, k));
    if (!LLVMIsAFunction(callee) || LLVMIsDeclaration(callee))
        return;
    vec_push(&caller->callees, callee);
    for (unsigned k = 0; k < LLVMGetNumArgOperands(i) && k < LLVMCountParams(callee); k++) {
        LLVMValueRef arg = LLVMGetParam(callee, k);
        Put *put = put_in(map_slotn(&puts->params, &arg, sizeof arg));
        if (gather(puts, LLVMGetOperand(i, k), false, put))
            map_putn(&puts->passed, &arg, sizeof arg, puts);
    }
}

/* Functions come in one order, so equal sets make equal numbers. */
static void note_storer(Puts *puts, const Caller *caller, size_t number)
{
    for (size_t i = 0; i < caller->fields.len; i++) {
        void **slot = map_slot(&puts->storers, caller->fields.entries[i].key);
        if (!*slot)
            *slot = xcalloc(1, sizeof(uint64_t));
        *(uint64_t *)*slot = (*(uint64_t *)*slot + number + 1) * 0x9e3779b97f4a7c15u;
    }
}

uint64_t puts_storers(const Puts *puts, const char *key)
{
    const uint64_t *n = map_get(&puts->storers, key);

    return n ? *n : 0;
}

Puts *puts_new(const Program *p)
{
    Puts *puts = xcalloc(1, sizeof *puts);
    LLVMModuleRef m = program_module(p);

    puts->p = p;
    puts->layout = LLVMGetModuleDataLayout(m);
    for (LLVMValueRef fn = LLVMGetFirstFunction(m); fn; fn = LLVMGetNextFunction(fn)) {
        Caller *caller = xcalloc(1, sizeof *caller);
        map_putn(&puts->callers, &fn, sizeof fn, caller);
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                if (LLVMIsAStoreInst(i))
                    see_store(puts, caller, i);
                else if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i))
                    see_atomic(puts, caller, i);
                else if (LLVMIsACallInst(i))
                    see_call(puts, caller, i);
            }
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                if (LLVMIsACallInst(i))
                    see_zeros(puts, caller, i);
        note_storer(puts, caller, puts->callers.len);
    }
    return puts;
}

static void free_values(Map *m)
{
    for (size_t i = 0; i < m->len; i++)
        free(m->entries[i].value);
    map_release(m);
}

void puts_free(Puts *puts)
{
    if (!puts)
        return;
    for (size_t i = 0; i < puts->callers.len; i++) {
        Caller *c = puts->callers.entries[i].value;
        vec_release(&c->callees);
        free_values(&c->fields);
    }
    free_values(&puts->callers);
    free_values(&puts->results);
    free_values(&puts->params);
    free_values(&puts->places);
    free_values(&puts->storers);
    map_release(&puts->passed);
    map_release(&puts->nulls);
    free(puts);
}

/* --- questions */

static Put put_of(const void *found) { return found ? *(const Put *)found : (Put){ 0 }; }

Put units_put_result(const Units *u, const Function *fn)
{
    LLVMValueRef value = program_function_value(u->p, fn);

    return value && !LLVMIsDeclaration(value) ? *result_of(u->puts, value) : (Put){ 0 };
}

/* The value that is the i-th parameter; NULL: it is passed in another way. */
static LLVMValueRef argument(const Units *u, const Function *fn, unsigned i)
{
    LLVMValueRef value = program_function_value(u->p, fn);
    const Param *p = &fn->params[i];

    return value && p->passing == PASSED_DIRECTLY && p->first_arg < LLVMCountParams(value)
               ? LLVMGetParam(value, p->first_arg)
               : NULL;
}

/* Only if all callers are seen: else there may be others. */
static bool is_taken(LLVMValueRef fn)
{
    for (LLVMUseRef use = LLVMGetFirstUse(fn); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsACallInst(user) || LLVMGetCalledValue(user) != fn)
            return true;
    }
    return false;
}

Put units_put_param(const Units *u, const Function *fn, unsigned i)
{
    LLVMValueRef arg = argument(u, fn, i);

    if (!arg)
        return (Put){ .any = true, .other = true };
    Put put = put_of(map_getn(&u->puts->params, &arg, sizeof arg));
    if (fn->linkage != LINKAGE_INTERNAL || is_taken(program_function_value(u->p, fn)))
        add_other(&put);
    return put;
}

Put units_put_field(const Units *u, const Type *record, uint64_t offset)
{
    char *key = units_field_key(record, offset);
    Put put = put_of(key ? map_get(&u->puts->places, key) : NULL);

    free(key);
    return put;
}

Put units_put_variable(const Units *u, const Variable *v)
{
    char *key = xprintf("@%s", v->symbol);
    Put put = put_of(map_get(&u->puts->places, key));

    free(key);
    return put;
}

Put units_put_field_in(const Units *u, const Function *fn, const Type *record, uint64_t offset)
{
    LLVMValueRef reached[MOST_REACHED] = { program_function_value(u->p, fn) };
    char *key = units_field_key(record, offset);
    unsigned n = reached[0] && key ? 1 : 0;
    Put put = { 0 };

    for (unsigned at = 0; at < n; at++) {
        const Caller *c = map_getn(&u->puts->callers, &reached[at], sizeof reached[at]);
        Put own = put_of(map_get(&c->fields, key));
        add_put(&put, &own);
        for (size_t i = 0; i < c->callees.len && n < MOST_REACHED; i++) {
            unsigned k = 0;
            while (k < n && reached[k] != c->callees.items[i])
                k++;
            if (k == n)
                reached[n++] = c->callees.items[i];
        }
    }
    free(key);
    return put;
}

/* --- on every way */

enum { MOST_BLOCKS = 512, MOST_DEPTH = 3 };

static bool always_puts(const Puts *puts, LLVMValueRef fn, const char *key, unsigned depth);

static bool block_puts(const Puts *puts, LLVMBasicBlockRef b, const char *key, bool own,
                       unsigned depth)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
        LLVMValueRef to = LLVMIsAStoreInst(i) ? LLVMGetOperand(i, 1) : NULL;
        LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
        size_t len;
        if (to && own && LLVMIsAGetElementPtrInst(to)) {
            char *at = units_gep_key(puts->layout, to);
            bool same = at && strcmp(at, key) == 0;
            free(at);
            if (same)
                return true;
        } else if (callee && LLVMIsAFunction(callee)) {
            if (str_starts(LLVMGetValueName2(callee, &len), "llvm.mem") ||
                (!LLVMIsDeclaration(callee) && always_puts(puts, callee, key, depth + 1)))
                return true;
        }
    }
    return false;
}

/* Blocks that can be reached without a store; one of them that returns says no. */
static bool always_puts(const Puts *puts, LLVMValueRef fn, const char *key, unsigned depth)
{
    LLVMBasicBlockRef reached[MOST_BLOCKS] = { LLVMGetEntryBasicBlock(fn) };
    unsigned n = 1;

    const Caller *c = map_getn(&puts->callers, &fn, sizeof fn);
    bool own = map_get(&c->fields, key);
    if (depth > MOST_DEPTH || (depth && !own))
        return false;
    for (unsigned at = 0; at < n; at++) {
        if (block_puts(puts, reached[at], key, own, depth))
            continue;
        LLVMValueRef last = LLVMGetBasicBlockTerminator(reached[at]);
        if (LLVMIsAReturnInst(last))
            return false;
        for (unsigned i = 0; i < LLVMGetNumSuccessors(last); i++) {
            LLVMBasicBlockRef next = LLVMGetSuccessor(last, i);
            unsigned k = 0;
            while (k < n && reached[k] != next)
                k++;
            if (k == n && n == MOST_BLOCKS)
                return false;
            if (k == n)
                reached[n++] = next;
        }
    }
    return true;
}

bool units_always_puts(const Units *u, const Function *fn, const Type *record, uint64_t offset)
{
    LLVMValueRef value = program_function_value(u->p, fn);
    char *key = units_field_key(record, offset);
    bool always = value && !LLVMIsDeclaration(value) && key && always_puts(u->puts, value, key, 0);

    free(key);
    return always;
}

/* --- NULL */

/* Does the program end there? */
static bool is_dead_end(LLVMBasicBlockRef b)
{
    LLVMValueRef last = LLVMGetBasicBlockTerminator(b);

    return last && LLVMIsAUnreachableInst(last);
}

bool units_goes_on_if_zero(LLVMValueRef cmp)
{
    bool equal = LLVMGetICmpPredicate(cmp) == LLVMIntEQ;

    for (LLVMUseRef use = LLVMGetFirstUse(cmp); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsABranchInst(user) || !LLVMIsConditional(user))
            return true;
        if (!is_dead_end(LLVMGetSuccessor(user, equal ? 0 : 1)))
            return true;
    }
    return false;
}

static bool takes_null(Puts *puts, LLVMValueRef arg, uintptr_t depth);

static bool asks_for_null(LLVMValueRef user)
{
    return LLVMIsAICmpInst(user) &&
           (LLVMIsAConstantPointerNull(LLVMGetOperand(user, 0)) ||
            LLVMIsAConstantPointerNull(LLVMGetOperand(user, 1))) &&
           units_goes_on_if_zero(user);
}

static bool is_passed_to_one_that_takes(Puts *puts, LLVMValueRef call, LLVMValueRef arg,
                                        uintptr_t depth)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (!LLVMIsAFunction(callee) || LLVMIsDeclaration(callee))
        return false;
    for (unsigned k = 0; k < LLVMGetNumArgOperands(call) && k < LLVMCountParams(callee); k++)
        if (LLVMGetOperand(call, k) == arg && takes_null(puts, LLVMGetParam(callee, k), depth + 1))
            return true;
    return false;
}

/* One parameter is often passed on by hundreds of calls: each question is answered once. */
static bool takes_null(Puts *puts, LLVMValueRef arg, uintptr_t depth)
{
    uintptr_t key[] = { (uintptr_t)arg, depth };
    uintptr_t known = (uintptr_t)map_getn(&puts->nulls, key, sizeof key);
    if (known)
        return known - 1;
    bool takes = false;
    for (LLVMUseRef use = LLVMGetFirstUse(arg); use && !takes; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        takes = asks_for_null(user) || (LLVMIsACallInst(user) && depth < MOST_PASSED &&
                                        is_passed_to_one_that_takes(puts, user, arg, depth));
    }
    map_putn(&puts->nulls, key, sizeof key, (void *)((uintptr_t)takes + 1));
    return takes;
}

bool units_takes_null(const Units *u, const Function *fn, unsigned i)
{
    LLVMValueRef arg = argument(u, fn, i);
    bool open = fn->linkage != LINKAGE_INTERNAL;

    return arg && (open || map_getn(&u->puts->passed, &arg, sizeof arg)) &&
           takes_null(u->puts, arg, 0);
}
