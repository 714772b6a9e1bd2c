/*
 * check PROGRAM.bc SUMMARIES LOG... - what a run saw against what points-to says.
 *
 * Every observed target of an indirect call and every observed object of a
 * loaded pointer, with its offset, must be in the static answer. Prints what is
 * missing and a last line with the figures; status 1 if anything is.
 */
#include "base/map.h"
#include "analysis/pointsto/pointsto.h"
#include <llvm-c/BitReader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAR 4096                /* as in runtime.c */

typedef Vec(LLVMValueRef) Values;

static Values sites, globals;
static PointsTo *pt;
static Map objects;              /* instruction -> object + 1, heap and stack */
static size_t nloads, ncalls, nskipped, nmissing, noffsets, ndropped;

static void number_values(LLVMModuleRef m)
{
    size_t n;

    for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g))
        if (!LLVMIsDeclaration(g) && strncmp(LLVMGetValueName2(g, &n), "llvm.", 5))
            vec_push(&globals, g);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        if (strncmp(LLVMGetValueName2(f, &n), "llvm.", 5) && LLVMGetFirstUse(f))
            vec_push(&globals, f);
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                vec_push(&sites, i);
    }
}

static void number_objects(void)
{
    for (uint32_t i = 0; i < pointsto_nobjects(pt); i++) {
        const PtObject *o = pointsto_object(pt, i);
        if (o->site && (o->kind == PT_HEAP || o->kind == PT_STACK))
            map_putn(&objects, &o->site, sizeof o->site, (void *)(uintptr_t)(i + 1));
    }
}

static uint32_t object_at(LLVMValueRef site)
{
    uintptr_t o = (uintptr_t)map_getn(&objects, &site, sizeof site);

    return o ? pointsto_part_of(pt, (uint32_t)o - 1) : UINT32_MAX;
}

static const char *function_name(LLVMValueRef inst)
{
    size_t n;

    return LLVMGetValueName2(LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst)), &n);
}

static void complain(LLVMValueRef inst, const char *what, uint32_t object, long offset)
{
    Str s = { 0 };

    if (nmissing + noffsets > 500)
        return;
    if (object != UINT32_MAX)
        pointsto_describe_object(pt, object, &s);
    printf("# missing: %s:%u: %s %s+%ld; has", function_name(inst),
           LLVMGetDebugLocLine(inst), what, str_c(&s), offset);
    PtSet set = pointsto_value(pt, inst, 0);
    for (size_t i = 0; i < set.n && i < 6; i++) {
        str_reset(&s);
        pointsto_describe(pt, set.locs[i], &s);
        printf(" %s", str_c(&s));
    }
    printf(set.n > 6 ? " … %zu\n" : "\n", set.n);
    str_release(&s);
}

static void check_load(LLVMValueRef inst, uint32_t object, long offset)
{
    PtSet set = pointsto_value(pt, inst, 0);
    bool found = false;

    nloads++;
    if (object != UINT32_MAX) {
        int64_t exact = pointsto_locate(pt, object, offset);
        int64_t any = pointsto_locate(pt, object, POINTSTO_ANY);
        for (size_t i = 0; i < set.n; i++) {
            found |= pointsto_location(pt, set.locs[i]).object == object;
            if (set.locs[i] == exact || set.locs[i] == any || (found && offset >= NEAR))
                return;
        }
    }
    if (found) {
        noffsets++;
        complain(inst, "offset in", object, offset);
    } else {
        nmissing++;
        complain(inst, "object", object, offset);
    }
}

/* The call that names a block: outwards from malloc() through wrappers. */
static LLVMValueRef naming_call(const unsigned long *chain, size_t n)
{
    for (size_t i = 0; i < n && chain[i] < sites.len; i++)
        if (!pointsto_hands_on(pt, sites.items[chain[i]]))
            return sites.items[chain[i]];
    return NULL;
}

static void check_call(LLVMValueRef inst, LLVMValueRef fn)
{
    size_t n, len;
    const LLVMValueRef *t = pointsto_targets(pt, inst, &n);

    ncalls++;
    for (size_t i = 0; i < n; i++)
        if (t[i] == fn)
            return;
    nmissing++;
    if (nmissing < 500)
        printf("# missing: %s:%u: call of %s\n", function_name(inst),
               LLVMGetDebugLocLine(inst), LLVMGetValueName2(fn, &len));
}

static void check_line(char *line)
{
    unsigned long v[16];
    size_t n = 0;
    bool call = !strncmp(line, "call", 4);
    char kind = 0, *p = line + 4;

    while (n < 16) {
        char *end;
        while (*p == ' ')
            p++;
        if (*p == 'g' || *p == 's' || *p == 'h')
            kind = *p++;
        v[n] = strtoul(p, &end, 10);
        if (end == p)
            break;
        n++;
        p = end;
    }
    if (!strncmp(line, "dropped ", 8))
        ndropped += strtoul(line + 8, NULL, 10);
    if (n < 2 || v[0] >= sites.len)
        return;
    LLVMValueRef inst = sites.items[v[0]];
    if (call) {
        check_call(inst, globals.items[v[1]]);
    } else if (kind == 'g') {
        check_load(inst, pointsto_variable(pt, globals.items[v[1]]), (long)v[2]);
    } else if (kind == 's') {
        check_load(inst, object_at(sites.items[v[1]]), (long)v[2]);
    } else {
        LLVMValueRef site = naming_call(v + 2, n - 2);
        if (site && object_at(site) != UINT32_MAX)
            check_load(inst, object_at(site), (long)v[1]);
        else
            nskipped++;
    }
}

int main(int argc, char **argv)
{
    LLVMContextRef c = LLVMContextCreate();
    LLVMMemoryBufferRef buf;
    LLVMModuleRef m;
    char *msg = NULL, line[1024];
    Summaries *s = summaries_new();
    Err err = { 0 };

    if (argc < 3 || LLVMCreateMemoryBufferWithContentsOfFile(argv[1], &buf, &msg) ||
        LLVMParseBitcodeInContext2(c, buf, &m))
        return fprintf(stderr, "usage: check PROGRAM.bc SUMMARIES LOG...\n"), 2;
    if (!summaries_read_folder(s, argv[2], &err) ||
        !(pt = pointsto_new(m, s, &(PointsToPlan){ 0 })))
        return fprintf(stderr, "check: %s\n", err.msg), 2;
    number_values(m);
    number_objects();
    for (int i = 3; i < argc; i++) {
        FILE *f = fopen(argv[i], "r");
        while (f && fgets(line, sizeof line, f))
            check_line(line);
        if (f)
            fclose(f);
    }
    printf("%zu pointers, %zu calls observed; %zu missing, %zu with a missing offset, "
           "%zu not attributable, %zu not logged\n", nloads, ncalls, nmissing, noffsets,
           nskipped, ndropped);
    pointsto_free(pt);
    summaries_free(s);
    map_release(&objects);
    vec_release(&sites);
    vec_release(&globals);
    LLVMDisposeModule(m);
    LLVMContextDispose(c);
    return nmissing || noffsets || !nloads;
}
