#include "program/changes.h"
#include "base/map.h"
#include "base/vec.h"
#include "program/constants_int.h"
#include "program/program_llvm.h"
#include <assert.h>
#include <string.h>

enum { MOST_DISTANCE = 8, MOST_DEPTH = 6 };

/* ---- a function as a number */

typedef struct Hasher {
    uint64_t sum;
    Map numbers;                 /* value -> its number + 1 */
    size_t n;
} Hasher;

static void add(Hasher *h, uint64_t x) { h->sum = (h->sum ^ x) * 0x100000001b3u; }

static void add_bytes(Hasher *h, const char *s, size_t n) { add(h, hash_bytes(s, n)); }

static void add_local(Hasher *h, LLVMValueRef v)
{
    void **slot = map_slotn(&h->numbers, &v, sizeof v);
    if (!*slot)
        *slot = (void *)(uintptr_t)++h->n;
    add(h, (uintptr_t)*slot);
}

/* "hash.12" is a second static `hash`: the number is the linker's. */
static void add_name(Hasher *h, LLVMValueRef v)
{
    size_t n;
    const char *s = LLVMGetValueName2(v, &n);
    const char *dot = n ? memchr(s, '.', n) : NULL;
    add_bytes(h, s, dot && dot > s ? (size_t)(dot - s) : n);
}

static void add_type(Hasher *h, LLVMTypeRef t)
{
    add(h, (uint64_t)LLVMGetTypeKind(t));
    if (LLVMGetTypeKind(t) == LLVMIntegerTypeKind)
        add(h, LLVMGetIntTypeWidth(t));
}

static void add_constant(Hasher *h, LLVMValueRef v, int depth);

/* Numbers in a row. */
static void add_elements(Hasher *h, LLVMValueRef v)
{
    LLVMTypeRef t = LLVMTypeOf(v);
    uint64_t n =
        LLVMGetTypeKind(t) == LLVMArrayTypeKind ? LLVMGetArrayLength2(t) : LLVMGetVectorSize(t);
    add(h, n);
    for (uint64_t i = 0; i < n; i++)
        add_constant(h, LLVMGetAggregateElement(v, (unsigned)i), 0);
}

/* Constant data by its content; what can change by its name. */
static void add_global(Hasher *h, LLVMValueRef v, int depth)
{
    LLVMValueRef init =
        LLVMIsAGlobalVariable(v) && LLVMIsGlobalConstant(v) ? LLVMGetInitializer(v) : NULL;
    if (init)
        add_constant(h, init, depth + 1);
    else
        add_name(h, v);
}

static void add_constant(Hasher *h, LLVMValueRef v, int depth)
{
    add_type(h, LLVMTypeOf(v));
    if (depth > MOST_DEPTH)
        return;
    if (LLVMIsAGlobalValue(v)) {
        add_global(h, v, depth);
    } else if (LLVMIsAConstantInt(v)) {
        if (LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 64)
            add(h, LLVMConstIntGetZExtValue(v));
    } else if (LLVMIsAConstantDataSequential(v)) {
        size_t n;
        const char *s = LLVMIsConstantString(v) ? LLVMGetAsString(v, &n) : NULL;
        if (s)
            add_bytes(h, s, n);
        else
            add_elements(h, v);
    } else if (LLVMIsAConstantFP(v)) {
        LLVMBool lost;
        double x = LLVMConstRealGetDouble(v, &lost);
        add_bytes(h, (const char *)&x, sizeof x);
    } else {
        for (int i = 0; i < LLVMGetNumOperands(v); i++)
            add_constant(h, LLVMGetOperand(v, (unsigned)i), depth + 1);
    }
}

static void add_instruction(Hasher *h, LLVMValueRef i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    add(h, (uint64_t)op);
    add_type(h, LLVMTypeOf(i));
    add_local(h, i);
    if (op == LLVMICmp)
        add(h, (uint64_t)LLVMGetICmpPredicate(i));
    if (op == LLVMFCmp)
        add(h, (uint64_t)LLVMGetFCmpPredicate(i));
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef v = LLVMGetOperand(i, (unsigned)k);
        if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMMetadataTypeKind)
            continue;
        if (LLVMValueIsBasicBlock(v) || !LLVMIsConstant(v))
            add_local(h, v);
        else
            add_constant(h, v, 0);
    }
}

static bool is_debug_call(LLVMValueRef i)
{
    LLVMValueRef f = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    size_t n;
    const char *s = f && LLVMIsAFunction(f) ? LLVMGetValueName2(f, &n) : NULL;
    return s && n > 9 && strncmp(s, "llvm.dbg.", 9) == 0;
}

static uint64_t body_sum(LLVMValueRef fn)
{
    Hasher h = { .sum = 0xcbf29ce484222325u };
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b)) {
        add_local(&h, LLVMBasicBlockAsValue(b));
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (!is_debug_call(i))
                add_instruction(&h, i);
    }
    map_release(&h.numbers);
    return h.sum;
}

/* ---- which changed */

/* By name; of several functions of one name the same is one that any of them equals. */
static void note_bodies(const Program *p, Map *out)
{
    size_t n;
    const Function *const *fns = program_functions(p, &n);
    for (size_t i = 0; i < n; i++)
        if (fns[i]->defined) {
            char *key = xprintf("%s %llx", fns[i]->name,
                                (unsigned long long)body_sum(program_function_value(p, fns[i])));
            map_put(out, key, NULL);
            free(key);
        }
}

static bool is_in(const Map *bodies, const Program *p, const Function *f)
{
    char *key =
        xprintf("%s %llx", f->name, (unsigned long long)body_sum(program_function_value(p, f)));
    bool found = map_has(bodies, key);
    free(key);
    return found;
}

/* Functions of `p` that `bodies` does not have. */
static void find_changed(const Program *p, const Map *bodies, ConstantsFinder *from, bool *out)
{
    size_t n;
    const Function *const *fns = program_functions(p, &n);
    for (size_t i = 0; i < n; i++) {
        if (!fns[i]->defined || is_in(bodies, p, fns[i]))
            continue;
        constants_of_function(from, program_function_value(p, fns[i]));
        out[fns[i]->index] = true;
    }
}

static void spread(const Program *p, const bool *changed, uint8_t *distance)
{
    size_t n;
    const Function *const *fns = program_functions(p, &n);
    for (size_t i = 0; i < n; i++)
        distance[fns[i]->index] = changed[fns[i]->index] ? 0 : CHANGES_FAR;
    for (unsigned d = 0; d < MOST_DISTANCE; d++)
        for (size_t i = 0; i < n; i++)
            for (unsigned k = 0; distance[fns[i]->index] == d && k < fns[i]->ncallers; k++) {
                uint8_t *to = &distance[fns[i]->callers[k]->index];
                if (*to > d + 1)
                    *to = (uint8_t)(d + 1);
            }
}

bool program_changes(const Program *old, const Program *now, Changes *out, Err *err)
{
    Map bodies[2] = { 0 };
    ConstantsFinder from[2] = { 0 };
    assert(!out->distance);
    if (!program_load_module(old, err) || !program_load_module(now, err))
        return false;
    size_t limit = program_index_limit(now);
    bool *changed = xcalloc(limit + 1, sizeof *changed);
    out->distance = xcalloc(limit + 1, sizeof *out->distance);
    out->was_changed = xcalloc(program_index_limit(old) + 1, sizeof *out->was_changed);
    note_bodies(old, &bodies[0]);
    note_bodies(now, &bodies[1]);
    constants_begin(&from[0], &out->constants);
    constants_begin(&from[1], &out->constants);
    find_changed(old, &bodies[1], &from[0], out->was_changed);
    find_changed(now, &bodies[0], &from[1], changed);
    constants_take_difference(&from[0], &from[1], &out->constants);
    spread(now, changed, out->distance);
    for (size_t i = 0; i < limit; i++)
        out->nchanged += changed[i];
    free(changed);
    map_release(&bodies[0]);
    map_release(&bodies[1]);
    return true;
}

void changes_release(Changes *c)
{
    free(c->distance);
    free(c->was_changed);
    constants_release(&c->constants);
    *c = (Changes){ 0 };
}
