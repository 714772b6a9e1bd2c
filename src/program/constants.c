#include "program/constants.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "program/program_llvm.h"
#include <string.h>

struct Constants {
    Vec(Constant) all;
    Map known;
    Arena arena;
};

enum { LONGEST_TEXT = 64, MOST = 4000 };

static void add(Constants *c, const void *bytes, size_t n, bool text)
{
    if (!n || c->all.len >= MOST || map_getn(&c->known, bytes, n))
        return;
    map_putn(&c->known, bytes, n, c);
    Constant k = { NULL, n, text };
    uint8_t *copy = arena_array(&c->arena, uint8_t, n);
    memcpy(copy, bytes, n);
    k.bytes = copy;
    vec_push(&c->all, k);
}

/* A number that is no character and no small count. */
static void add_number(Constants *c, LLVMValueRef v)
{
    if (!LLVMIsAConstantInt(v))
        return;
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(v));
    if (bits > 64)
        return;
    uint64_t x = LLVMConstIntGetZExtValue(v);
    int64_t s = LLVMConstIntGetSExtValue(v);
    if (s >= -1 && s < 256 && bits > 8)
        return;
    if (bits <= 8)
        return;
    size_t size = x < 1u << 16 ? 2 : x <= UINT32_MAX ? 4 : 8;
    uint8_t le[8], be[8];
    for (size_t i = 0; i < size; i++) {
        le[i] = (uint8_t)(x >> (8 * i));
        be[size - 1 - i] = le[i];
    }
    add(c, le, size, false);
    add(c, be, size, false);
}

static void look(Constants *c, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMICmp:
        add_number(c, LLVMGetOperand(i, 0));
        add_number(c, LLVMGetOperand(i, 1));
        break;
    case LLVMSwitch:
        for (int k = 2; k < LLVMGetNumOperands(i); k += 2)
            add_number(c, LLVMGetOperand(i, (unsigned)k));
        break;
    default:
        break;
    }
}

static void add_text(Constants *c, LLVMValueRef g)
{
    LLVMValueRef v = LLVMGetInitializer(g);
    size_t n;
    if (!v || !LLVMIsAConstantDataArray(v) || !LLVMIsConstantString(v))
        return;
    const char *s = LLVMGetAsString(v, &n);
    if (n && s[n - 1] == 0)
        n--;
    if (n && n <= LONGEST_TEXT && !memchr(s, 0, n))
        add(c, s, n, true);
}

Constants *constants_new(const Program *p)
{
    Constants *c = xcalloc(1, sizeof *c);
    LLVMModuleRef m = program_module(p);
    for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g))
        if (!LLVMIsDeclaration(g) && LLVMIsGlobalConstant(g))
            add_text(c, g);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                look(c, i);
    return c;
}

void constants_free(Constants *c)
{
    if (!c)
        return;
    vec_release(&c->all);
    map_release(&c->known);
    arena_release(&c->arena);
    free(c);
}

const Constant *constants_all(const Constants *c, size_t *n)
{
    *n = c->all.len;
    return c->all.items;
}
