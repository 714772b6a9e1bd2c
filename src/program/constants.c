#include "program/constants.h"
#include "base/map.h"
#include "base/vec.h"
#include "program/program_llvm.h"
#include <string.h>

enum { MOST = 4000, LONGEST = 64 };

typedef struct Finder {
    Map numbers, texts;
    Vec(int64_t) integers;
    Vec(const char *) strings;
    Arena *arena;
} Finder;

static void add_number(Finder *f, LLVMValueRef v)
{
    if (!LLVMIsAConstantInt(v) || LLVMGetIntTypeWidth(LLVMTypeOf(v)) > 64 ||
        f->integers.len >= MOST)
        return;
    int64_t n = LLVMConstIntGetSExtValue(v);
    if (map_putn(&f->numbers, &n, sizeof n, NULL))
        vec_push(&f->integers, n);
}

static void look_at(Finder *f, LLVMValueRef i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    if (op == LLVMICmp)
        for (unsigned k = 0; k < 2; k++)
            add_number(f, LLVMGetOperand(i, k));
    else if (op == LLVMSwitch)
        for (unsigned k = 1; k < LLVMGetNumSuccessors(i); k++)
            add_number(f, LLVMGetOperand(i, 2 * k));
}

static void add_text(Finder *f, LLVMValueRef global)
{
    LLVMValueRef v = LLVMGetInitializer(global);
    size_t n;
    if (!v || !LLVMIsAConstantDataSequential(v) || !LLVMIsConstantString(v) ||
        f->strings.len >= MOST)
        return;
    const char *s = LLVMGetAsString(v, &n);
    if (n && s[n - 1] == 0)
        n--;
    if (n && n <= LONGEST && !memchr(s, 0, n) && map_putn(&f->texts, s, n, NULL))
        vec_push(&f->strings, arena_strndup(f->arena, s, n));
}

bool program_constants(const Program *p, Constants *out, Err *err)
{
    Finder f = { .arena = &out->arena };
    if (!program_load_module(p, err))
        return false;
    LLVMModuleRef m = program_module(p);
    for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g))
        add_text(&f, g);
    for (LLVMValueRef fn = LLVMGetFirstFunction(m); fn; fn = LLVMGetNextFunction(fn))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                look_at(&f, i);
    out->nintegers = f.integers.len;
    out->nstrings = f.strings.len;
    out->integers = f.integers.items;
    out->strings = f.strings.items;
    map_release(&f.numbers);
    map_release(&f.texts);
    return true;
}

void constants_release(Constants *c)
{
    free(c->integers);
    free(c->strings);
    arena_release(&c->arena);
    *c = (Constants){ 0 };
}
