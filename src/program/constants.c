#include "program/constants_int.h"
#include "program/program_llvm.h"
#include <string.h>

enum { MOST = 4000, LONGEST = 64 };

static void keep_number(ConstantsFinder *f, int64_t n)
{
    if (f->integers.len < MOST && map_putn(&f->numbers, &n, sizeof n, f))
        vec_push(&f->integers, n);
}

static void add_number(ConstantsFinder *f, LLVMValueRef v)
{
    if (LLVMIsAConstantInt(v) && LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 64)
        keep_number(f, LLVMConstIntGetSExtValue(v));
}

static void keep_text(ConstantsFinder *f, const char *s, size_t n)
{
    if (f->strings.len < MOST && map_putn(&f->texts, s, n, f))
        vec_push(&f->strings, arena_strndup(f->arena, s, n));
}

static void look_at(ConstantsFinder *f, LLVMValueRef i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    if (op == LLVMICmp)
        for (unsigned k = 0; k < 2; k++)
            add_number(f, LLVMGetOperand(i, k));
    else if (op == LLVMSwitch)
        for (unsigned k = 1; k < LLVMGetNumSuccessors(i); k++)
            add_number(f, LLVMGetOperand(i, 2 * k));
}

static void add_text(ConstantsFinder *f, LLVMValueRef global)
{
    LLVMValueRef v = LLVMGetInitializer(global);
    size_t n;
    if (!v || !LLVMIsAConstantDataSequential(v) || !LLVMIsConstantString(v))
        return;
    const char *s = LLVMGetAsString(v, &n);
    if (n && s[n - 1] == 0)
        n--;
    if (n && n <= LONGEST && !memchr(s, 0, n))
        keep_text(f, s, n);
}

/* What a call gets: a character that is looked for, a word that is compared. */
static void look_at_operands(ConstantsFinder *f, LLVMValueRef i)
{
    bool call = LLVMIsACallInst(i);
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef v = LLVMGetOperand(i, (unsigned)k);
        if (call)
            add_number(f, v);
        if (LLVMIsAGlobalVariable(v))
            add_text(f, v);
    }
}

void constants_of_function(ConstantsFinder *f, LLVMValueRef fn)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            look_at(f, i);
            if (!LLVMIsADbgInfoIntrinsic(i))
                look_at_operands(f, i);
        }
}

void constants_begin(ConstantsFinder *f, Constants *out)
{
    *f = (ConstantsFinder){ .arena = &out->arena };
}

static void take(ConstantsFinder *f, Constants *out)
{
    out->nintegers = f->integers.len;
    out->nstrings = f->strings.len;
    out->integers = f->integers.items;
    out->strings = f->strings.items;
    map_release(&f->numbers);
    map_release(&f->texts);
}

/* What one of the two has and the other has not; `shared`: what both have. */
static void merge(ConstantsFinder *x, const ConstantsFinder *y, ConstantsFinder *out, bool shared)
{
    for (size_t i = 0; i < x->integers.len; i++)
        if (shared == (map_getn(&y->numbers, &x->integers.items[i], sizeof(int64_t)) != NULL))
            keep_number(out, x->integers.items[i]);
    for (size_t i = 0; i < x->strings.len; i++)
        if (shared ==
            (map_getn(&y->texts, x->strings.items[i], strlen(x->strings.items[i])) != NULL))
            keep_text(out, x->strings.items[i], strlen(x->strings.items[i]));
}

void constants_take_difference(ConstantsFinder *x, ConstantsFinder *y, Constants *out)
{
    enum { FEW = 8 };
    ConstantsFinder all;
    constants_begin(&all, out);
    merge(x, y, &all, false);
    merge(y, x, &all, false);
    if (all.integers.len + all.strings.len < FEW)
        merge(x, y, &all, true);
    take(&all, out);
    for (int i = 0; i < 2; i++) {
        ConstantsFinder *f = i ? y : x;
        map_release(&f->numbers);
        map_release(&f->texts);
        vec_release(&f->integers);
        vec_release(&f->strings);
    }
}

bool program_constants(const Program *p, Constants *out, Err *err)
{
    ConstantsFinder f;
    if (!program_load_module(p, err))
        return false;
    constants_begin(&f, out);
    LLVMModuleRef m = program_module(p);
    for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g))
        add_text(&f, g);
    for (LLVMValueRef fn = LLVMGetFirstFunction(m); fn; fn = LLVMGetNextFunction(fn))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                look_at(&f, i);
    take(&f, out);
    return true;
}

void constants_release(Constants *c)
{
    free(c->integers);
    free(c->strings);
    arena_release(&c->arena);
    *c = (Constants){ 0 };
}
