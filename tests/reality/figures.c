/*
 * figures PROGRAM.bc SUMMARIES [CACHE] - how points-to does on a program: time,
 * memory, sizes of sets, targets of indirect calls; beside them what the types
 * alone would say (all functions of the call's type whose address is taken).
 */
#include "analysis/pointsto/pointsto.h"
#include "program/program_llvm.h"
#include <llvm-c/BitReader.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

typedef struct Figures {
    size_t n, sum, most, few, none;     /* few: at most 5 */
} Figures;

static void count(Figures *f, size_t x)
{
    f->n++;
    f->sum += x;
    f->most = x > f->most ? x : f->most;
    f->few += x <= 5;
    f->none += !x;
}

static void print(const char *what, const Figures *f)
{
    printf("  %-28s %6zu, on average %.1f, at most %zu, %.0f %% have at most 5\n", what,
           f->n, f->n ? (double)f->sum / (double)f->n : 0, f->most,
           f->n ? 100.0 * (double)f->few / (double)f->n : 0);
}

static size_t by_type(LLVMModuleRef m, LLVMTypeRef type)
{
    size_t n = 0;

    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        n += LLVMGlobalGetValueType(f) == type && llvm_is_address_taken(f);
    return n;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    LLVMMemoryBufferRef buf;
    LLVMModuleRef m;
    char *msg = NULL;
    Summaries *s = summaries_new();
    Err err = { 0 };
    Figures loads = { 0 }, calls = { 0 }, types = { 0 };

    if (argc < 3 || LLVMCreateMemoryBufferWithContentsOfFile(argv[1], &buf, &msg) ||
        LLVMParseBitcodeInContext2(LLVMContextCreate(), buf, &m))
        return fprintf(stderr, "usage: figures PROGRAM.bc SUMMARIES [CACHE]\n"), 2;
    double start = now();
    PointsToPlan plan = { .cache = argc > 3 ? argv[3] : NULL, .key = argv[1] };
    PointsTo *pt = summaries_read_folder(s, argv[2], &err)
                       ? pointsto_new(m, s, &plan) : NULL;
    if (!pt)
        return fprintf(stderr, "figures: %s\n", err.msg), 2;
    double seconds = now() - start;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                size_t n;
                if (LLVMIsALoadInst(i) &&
                    LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMPointerTypeKind)
                    count(&loads, pointsto_value(pt, i, 0).n);
                if (!LLVMIsACallInst(i) || LLVMIsAConstant(LLVMGetCalledValue(i)) ||
                    LLVMIsAInlineAsm(LLVMGetCalledValue(i)))
                    continue;
                pointsto_targets(pt, i, &n);
                count(&calls, n);
                count(&types, by_type(m, LLVMGetCalledFunctionType(i)));
            }
    const PtStats *st = pointsto_stats(pt);
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    printf("  points-to %.2f s wall, %.1f s processor in all, %ld MiB%s; %zu objects, "
           "%zu locations, %zu wrappers, %zu calls of unknown functions\n", seconds,
           (double)use.ru_utime.tv_sec + (double)use.ru_utime.tv_usec / 1e6,
           use.ru_maxrss / 1024, st->cached ? ", from the cache" : "", st->objects,
           st->locations, st->wrappers, st->unknown_externals);
    if (st->cached)
        return 0;
    print("locations of loaded pointers", &loads);
    print("targets of indirect calls", &calls);
    print("the same by types alone", &types);
    return 0;
}
