/* Numbers for the values of a module: see pt_int.h. */
#include "analysis/pointsto/pt_int.h"
#include <assert.h>

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

uint32_t pttable_get(const PtTable *t, uint64_t key)
{
    if (!t->len)
        return NONE;
    for (size_t i = mix(key + 1) & (t->cap - 1); t->keys[i]; i = (i + 1) & (t->cap - 1))
        if (t->keys[i] == key + 1)
            return t->values[i];
    return NONE;
}

static void grow(PtTable *t)
{
    PtTable old = *t;

    t->cap = old.cap ? old.cap * 2 : 64;
    t->len = 0;
    t->keys = xcalloc(t->cap, sizeof *t->keys);
    t->values = xmalloc(t->cap * sizeof *t->values);
    for (size_t i = 0; i < old.cap; i++)
        if (old.keys[i])
            pttable_put(t, old.keys[i] - 1, old.values[i]);
    free(old.keys);
    free(old.values);
}

bool pttable_put(PtTable *t, uint64_t key, uint32_t value)
{
    if ((t->len + 1) * 10 > t->cap * 7)
        grow(t);
    size_t i = mix(key + 1) & (t->cap - 1);
    for (; t->keys[i]; i = (i + 1) & (t->cap - 1))
        if (t->keys[i] == key + 1) {
            t->values[i] = value;
            return false;
        }
    t->keys[i] = key + 1;
    t->values[i] = value;
    t->len++;
    return true;
}

void pttable_release(PtTable *t)
{
    free(t->keys);
    free(t->values);
    *t = (PtTable){ 0 };
}

/* ---- values */

unsigned ptvalues_words(const PtValues *v, LLVMTypeRef t)
{
    switch (LLVMGetTypeKind(t)) {
    case LLVMPointerTypeKind:
    case LLVMDoubleTypeKind: return 1;
    case LLVMIntegerTypeKind:
        if (LLVMGetIntTypeWidth(t) < 64)
            return 0;
        break;
    case LLVMX86_FP80TypeKind:
    case LLVMFP128TypeKind:
    case LLVMStructTypeKind:
    case LLVMArrayTypeKind:
    case LLVMVectorTypeKind: break;
    default: return 0;
    }
    if (!LLVMTypeIsSized(t))
        return 0;
    uint64_t words = LLVMABISizeOfType(v->layout, t) / 8;
    return words < PT_MOST_WORDS ? (unsigned)words : PT_MOST_WORDS;
}

/* A narrow load that only hands its bytes on to a store may carry a part of a
 * pointer: a copying loop. */
static bool is_byte_copy(LLVMValueRef inst)
{
    if (LLVMGetInstructionOpcode(inst) != LLVMLoad ||
        LLVMGetTypeKind(LLVMTypeOf(inst)) != LLVMIntegerTypeKind)
        return false;
    for (LLVMUseRef u = LLVMGetFirstUse(inst); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) == inst)
            return true;
    }
    return false;
}

static uint32_t add(PtValues *v, LLVMValueRef x)
{
    uint32_t n = (uint32_t)v->n;

    if (v->n == v->cap) {
        v->cap = v->cap ? v->cap * 2 : 1024;
        v->values = xrealloc(v->values, v->cap * sizeof *v->values);
        v->slot = xrealloc(v->slot, v->cap * sizeof *v->slot);
    }
    v->values[n] = x;
    v->slot[n] = NONE;
    v->n++;
    bool new = pttable_put(&v->number, (uintptr_t)x, n);
    assert(new && n != NONE);
    (void)new;
    return n;
}

static void add_with_slot(PtValues *v, LLVMValueRef x)
{
    uint32_t n = add(v, x);
    unsigned words = ptvalues_words(v, LLVMTypeOf(x));

    if (!words && LLVMIsAInstruction(x) && is_byte_copy(x))
        words = 1;
    if (words) {
        v->slot[n] = v->nslots;
        v->nslots += words;
    }
}

static void add_function(PtValues *v, LLVMValueRef fn)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(fn);
    PtFunction f = { .fn = fn, .variadic = LLVMIsFunctionVarArg(type) };

    f.first_param = (uint32_t)v->n;
    f.nparams = LLVMCountParams(fn);
    for (unsigned i = 0; i < f.nparams; i++)
        add_with_slot(v, LLVMGetParam(fn, i));
    f.ret = v->nslots;
    f.nret = ptvalues_words(v, LLVMGetReturnType(type));
    v->nslots += f.nret;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            add_with_slot(v, i);
    pttable_put(&v->function_index, (uintptr_t)fn, (uint32_t)v->functions.len);
    vec_push(&v->functions, f);
}

void ptvalues_init(PtValues *v, LLVMModuleRef m)
{
    *v = (PtValues){ .module = m, .layout = LLVMGetModuleDataLayout(m) };
    for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g))
        add(v, g);
    for (LLVMValueRef g = LLVMGetFirstGlobalAlias(m); g; g = LLVMGetNextGlobalAlias(g))
        add(v, g);
    for (LLVMValueRef g = LLVMGetFirstGlobalIFunc(m); g; g = LLVMGetNextGlobalIFunc(g))
        add(v, g);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        add(v, f);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        add_function(v, f);
}

void ptvalues_release(PtValues *v)
{
    pttable_release(&v->number);
    pttable_release(&v->function_index);
    free(v->values);
    free(v->slot);
    vec_release(&v->functions);
}

LLVMValueRef ptvalues_section(LLVMValueRef g)
{
    size_t n;
    const char *name = LLVMGetValueName2(g, &n);
    const char *section = LLVMIsDeclaration(g) ? NULL : LLVMGetSection(g);
    LLVMValueRef start = NULL;

    if (LLVMIsDeclaration(g) && str_starts(name, "__start_"))
        section = name + 8;
    else if (LLVMIsDeclaration(g) && str_starts(name, "__stop_"))
        section = name + 7;
    if (section && *section) {
        char *first = xprintf("__start_%s", section), *last = xprintf("__stop_%s", section);
        start = LLVMGetNamedGlobal(LLVMGetGlobalParent(g), first);
        start = start ? start : LLVMGetNamedGlobal(LLVMGetGlobalParent(g), last);
        free(first);
        free(last);
    }
    return start && LLVMIsDeclaration(start) ? start : NULL;
}

bool ptvalues_is_literal(LLVMValueRef g)
{
    if (!LLVMIsAGlobalVariable(g) || !LLVMIsGlobalConstant(g) || LLVMIsDeclaration(g) ||
        LLVMGetLinkage(g) != LLVMPrivateLinkage)
        return false;
    LLVMTypeRef t = LLVMGlobalGetValueType(g);
    return LLVMGetTypeKind(t) == LLVMArrayTypeKind &&
           LLVMGetTypeKind(LLVMGetElementType(t)) == LLVMIntegerTypeKind;
}

uint32_t ptvalues_number(const PtValues *v, LLVMValueRef x)
{
    return pttable_get(&v->number, (uintptr_t)x);
}

const PtFunction *ptvalues_function(const PtValues *v, LLVMValueRef fn)
{
    uint32_t i = pttable_get(&v->function_index, (uintptr_t)fn);

    return i == NONE ? NULL : &v->functions.items[i];
}
