/*
 * weave IN.bc OUT.bc - a program that logs where its pointers point.
 *
 * Inserts calls of runtime.c: after every load of a pointer, before every
 * indirect call, around calls (which site is active), after allocations, at
 * allocas and returns.
 *
 * A site is an instruction's number in a walk over all functions' instructions
 * before anything is inserted; check.c counts the same way.
 */
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static LLVMModuleRef module;
static LLVMContextRef context;
static LLVMBuilderRef b;
static LLVMTypeRef ptr, i32, i64, none;

typedef struct Probe {
    LLVMValueRef fn;
    LLVMTypeRef type;
} Probe;

static Probe probe(const char *name, LLVMTypeRef ret, unsigned n, LLVMTypeRef x,
                   LLVMTypeRef y, LLVMTypeRef z)
{
    LLVMTypeRef params[3] = { x, y, z };
    Probe p = { .type = LLVMFunctionType(ret, params, n, 0) };

    p.fn = LLVMAddFunction(module, name, p.type);
    return p;
}

static Probe p_load, p_call, p_mark, p_site, p_back, p_alloc, p_free, p_push, p_pop;

static LLVMValueRef call(Probe p, unsigned n, LLVMValueRef x, LLVMValueRef y,
                         LLVMValueRef z)
{
    LLVMValueRef args[3] = { x, y, z };
    return LLVMBuildCall2(b, p.type, p.fn, args, n, "");
}

static LLVMValueRef number(unsigned long x)
{
    return LLVMConstInt(i32, x, 0);
}

/* Functions of the library whose result is a block of the heap. */
static const char *const allocators[] = {
    "malloc", "calloc", "realloc", "strdup", "strndup", "aligned_alloc",
    "memalign", "reallocarray", NULL,
};

static int is_named(LLVMValueRef fn, const char *const *names)
{
    size_t n;
    const char *name = LLVMIsAFunction(fn) ? LLVMGetValueName2(fn, &n) : "";

    for (; *names; names++)
        if (!strcmp(name, *names))
            return 1;
    return 0;
}

static LLVMValueRef after(LLVMValueRef inst)
{
    LLVMValueRef next = LLVMGetNextInstruction(inst);

    while (next && LLVMIsAPHINode(next))
        next = LLVMGetNextInstruction(next);
    return next;
}

static void weave_load(LLVMValueRef inst, unsigned site)
{
    LLVMPositionBuilderBefore(b, after(inst));
    call(p_load, 2, number(site), inst, NULL);
}

static void weave_alloca(LLVMValueRef inst, unsigned site, LLVMValueRef depth)
{
    LLVMValueRef next = after(inst);
    LLVMTypeRef t = LLVMGetAllocatedType(inst);

    /* Behind all allocas, so that they stay at the head of the block. */
    while (next && (LLVMIsAAllocaInst(next) || next == depth))
        next = after(next);
    LLVMPositionBuilderBefore(b, next);
    LLVMValueRef count = LLVMBuildZExtOrBitCast(b, LLVMGetOperand(inst, 0), i64, "");
    LLVMValueRef size = LLVMBuildMul(
        b, count, LLVMConstInt(i64, LLVMABISizeOfType(LLVMGetModuleDataLayout(module), t), 0), "");
    call(p_push, 3, inst, size, number(site));
}

static void weave_call(LLVMValueRef inst, unsigned site, LLVMValueRef depth)
{
    static const char *const frees[] = { "free", "realloc", "reallocarray", NULL };
    LLVMValueRef callee = LLVMGetCalledValue(inst);
    size_t n;

    if (LLVMIsAInlineAsm(callee))
        return;
    if (LLVMIsAFunction(callee) && !strncmp(LLVMGetValueName2(callee, &n), "llvm.", 5))
        return;
    LLVMPositionBuilderBefore(b, inst);
    call(p_site, 2, depth, number(site), NULL);
    if (!LLVMIsAFunction(callee))
        call(p_call, 2, number(site), callee, NULL);
    if (is_named(callee, frees))
        call(p_free, 1, LLVMGetOperand(inst, 0), NULL, NULL);
    if (!LLVMIsACallInst(inst) || !after(inst) || LLVMIsTailCall(inst))
        return;
    LLVMPositionBuilderBefore(b, after(inst));
    call(p_back, 1, depth, NULL, NULL);
    if (is_named(callee, allocators))
        call(p_alloc, 2, inst, number(site), NULL);
}

static unsigned weave_function(LLVMValueRef fn, unsigned site)
{
    struct { LLVMValueRef inst; unsigned site; } *all = NULL;
    size_t n = 0, cap = 0;

    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i)) {
            if (n == cap)
                all = realloc(all, (cap = cap ? 2 * cap : 64) * sizeof *all);
            all[n].inst = i;
            all[n++].site = site++;
        }
    if (!n)
        return site;
    /* The depth of calls is read once, so that longjmp() can't confuse it. */
    LLVMValueRef first = all[0].inst;
    while (LLVMIsAAllocaInst(first))
        first = LLVMGetNextInstruction(first);
    LLVMPositionBuilderBefore(b, first);
    LLVMValueRef depth = call(p_mark, 0, NULL, NULL, NULL);
    for (size_t k = 0; k < n; k++) {
        LLVMValueRef i = all[k].inst;
        if (LLVMIsALoadInst(i) && LLVMTypeOf(i) == ptr)
            weave_load(i, all[k].site);
        else if (LLVMIsAAllocaInst(i))
            weave_alloca(i, all[k].site, depth);
        else if (LLVMIsACallInst(i))
            weave_call(i, all[k].site, depth);
        else if (LLVMIsAReturnInst(i)) {
            LLVMPositionBuilderBefore(b, i);
            call(p_pop, 1, depth, NULL, NULL);
        }
    }
    /* Without this, an inserted call in a function with debug info has no
     * location, which the verifier doesn't like if it is inlined. */
    LLVMSetSubprogram(fn, NULL);
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
            LLVMInstructionSetDebugLoc(i, NULL);
    free(all);
    return site;
}

/* { address, size, number } for every variable, { address, 0, number } for
 * every function, in the order of the module. */
static void weave_globals(LLVMValueRef *objects, unsigned n)
{
    LLVMTypeRef fields[] = { ptr, i64 };
    LLVMTypeRef row = LLVMStructTypeInContext(context, fields, 2, 0);
    LLVMValueRef *rows = calloc(n + 1, sizeof *rows);

    for (unsigned i = 0; i < n; i++) {
        uint64_t size = 0;
        LLVMValueRef address = objects[i];
        if (LLVMIsAGlobalVariable(objects[i]))
            size = LLVMABISizeOfType(LLVMGetModuleDataLayout(module),
                                     LLVMGlobalGetValueType(objects[i]));
        if (LLVMIsThreadLocal(objects[i]) || !LLVMIsAGlobalVariable(objects[i]))
            size = 0;
        if (LLVMIsAGlobalVariable(objects[i]) && !size)
            address = LLVMConstNull(ptr);
        LLVMValueRef values[] = { address, LLVMConstInt(i64, size, 0) };
        rows[i] = LLVMConstStructInContext(context, values, 2, 0);
    }
    LLVMTypeRef type = LLVMArrayType2(row, n);
    LLVMValueRef table = LLVMAddGlobal(module, type, "sundew_reality_globals");
    LLVMSetInitializer(table, LLVMConstArray2(row, rows, n));
    LLVMValueRef count = LLVMAddGlobal(module, i64, "sundew_reality_nglobals");
    LLVMSetInitializer(count, LLVMConstInt(i64, n, 0));
    free(rows);
}

int main(int argc, char **argv)
{
    LLVMMemoryBufferRef buf;
    char *msg = NULL;
    unsigned n = 0, cap = 0, site = 0;
    LLVMValueRef *objects = NULL;
    size_t len;

    if (argc != 3)
        return fprintf(stderr, "usage: weave IN.bc OUT.bc\n"), 2;
    context = LLVMContextCreate();
    if (LLVMCreateMemoryBufferWithContentsOfFile(argv[1], &buf, &msg) ||
        LLVMParseBitcodeInContext2(context, buf, &module))
        return fprintf(stderr, "weave: can't read %s\n", argv[1]), 2;
    b = LLVMCreateBuilderInContext(context);
    ptr = LLVMPointerTypeInContext(context, 0);
    i32 = LLVMInt32TypeInContext(context);
    i64 = LLVMInt64TypeInContext(context);
    none = LLVMVoidTypeInContext(context);
    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g))
        if (!LLVMIsDeclaration(g) && strncmp(LLVMGetValueName2(g, &len), "llvm.", 5)) {
            if (n == cap)
                objects = realloc(objects, (cap = cap ? 2 * cap : 64) * sizeof *objects);
            objects[n++] = g;
        }
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (strncmp(LLVMGetValueName2(f, &len), "llvm.", 5) && LLVMGetFirstUse(f)) {
            if (n == cap)
                objects = realloc(objects, (cap = cap ? 2 * cap : 64) * sizeof *objects);
            objects[n++] = f;
        }
    LLVMValueRef last = LLVMGetLastFunction(module);
    p_load = probe("sundew_reality_load", none, 2, i32, ptr, NULL);
    p_call = probe("sundew_reality_call", none, 2, i32, ptr, NULL);
    p_mark = probe("sundew_reality_mark", i32, 0, NULL, NULL, NULL);
    p_site = probe("sundew_reality_site", none, 2, i32, i32, NULL);
    p_back = probe("sundew_reality_back", none, 1, i32, NULL, NULL);
    p_alloc = probe("sundew_reality_alloc", none, 2, ptr, i32, NULL);
    p_free = probe("sundew_reality_free", none, 1, ptr, NULL, NULL);
    p_push = probe("sundew_reality_push", none, 3, ptr, i64, i32);
    p_pop = probe("sundew_reality_pop", none, 1, i32, NULL, NULL);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        site = weave_function(f, site);
        if (f == last)
            break;
    }
    weave_globals(objects, n);
    return LLVMWriteBitcodeToFile(module, argv[2]) ? 2 : 0;
}
