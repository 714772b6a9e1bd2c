/*
 * The weave of scheduling: a probe before each access that threads may share,
 * and the scheduler's functions in place of the system's.
 *
 *     x = q->len;             sundew_sched_access(&q->len, 4, 17);
 *                             x = q->len;
 *     pthread_mutex_lock(m);  sundew_schedule_site = 18;
 *                             sundew_sched_pthread_mutex_lock(m);
 *
 * Frame pointers are kept, so that the callers of an access can be told. A local variable whose
 * address goes nowhere, a constant and a thread's own variable get no probe, nor has what
 * points-to shows to belong to one thread (analysis/pointsto/sharing.h).
 */
#include "analysis/pointsto/sharing.h"
#include "base/format.h"
#include "program/program_llvm.h"
#include "runtime/format/schedule.h"
#include "runtime/schedule/schedule.h"
#include "weave/weave_int.h"
#include <llvm-c/DebugInfo.h>
#include <string.h>

typedef struct Scheduling {
    Woven *w;
    json_t *sites;
    LLVMValueRef access, site;       /* the probe; the variable that names a call's site */
    uint32_t nsites;
    ScheduleFigures figures;
    Sharing *sharing;                 /* of the program's own module; NULL: not known */
    const Summaries *summaries;       /* of library functions; NULL: not known */
    LLVMValueRef original;           /* there, what is woven now; NULL: not known */
} Scheduling;

static const char *const scheduled[] = {
#define NAME(f) #f,
    SUNDEW_SCHEDULED(NAME)
#undef NAME
};

/* ------------------------------------------------------ what may be shared */

/* The variable or allocation that an address leads into, as far as it is plain. */
static LLVMValueRef base_of(LLVMValueRef p)
{
    for (;;) {
        if (LLVMIsAGetElementPtrInst(p) || LLVMIsABitCastInst(p))
            p = LLVMGetOperand(p, 0);
        else if (LLVMIsAConstantExpr(p) && (LLVMGetConstOpcode(p) == LLVMGetElementPtr ||
                                            LLVMGetConstOpcode(p) == LLVMBitCast))
            p = LLVMGetOperand(p, 0);
        else
            return p;
    }
}

static bool is_harmless_call(LLVMValueRef call)
{
    LLVMValueRef f = LLVMGetCalledValue(call);
    size_t n;
    return LLVMIsAFunction(f) && !strncmp(LLVMGetValueName2(f, &n), "llvm.", 5);
}

/* Does the address of a local go anywhere but to loads and stores of it? */
static bool escapes(LLVMValueRef p, unsigned depth)
{
    for (LLVMUseRef u = LLVMGetFirstUse(p); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        if (LLVMIsALoadInst(i) || (LLVMIsAStoreInst(i) && LLVMGetOperand(i, 0) != p) ||
            LLVMIsAICmpInst(i) || (LLVMIsACallInst(i) && is_harmless_call(i)))
            continue;
        if (depth && (LLVMIsAGetElementPtrInst(i) || LLVMIsABitCastInst(i)) &&
            !escapes(i, depth - 1))
            continue;
        return true;
    }
    return false;
}

static bool may_be_shared(LLVMValueRef p)
{
    LLVMValueRef base = base_of(p);
    if (LLVMIsAAllocaInst(base))
        return escapes(base, 8);
    if (LLVMIsAGlobalVariable(base))
        return !LLVMIsGlobalConstant(base) && !LLVMIsThreadLocal(base);
    return true;
}

/* ----------------------------------------------------------------- probes */

static uint32_t site_of(Scheduling *s, LLVMValueRef i, const char *what)
{
    LLVMValueRef fn = LLVMGetBasicBlockParent(LLVMGetInstructionParent(i));
    size_t n;
    Str path = { 0 };
    weave_path_of(i, &path);
    json_array_append_new(s->sites,
                          json_pack("[o,o,i,s]", json_text(LLVMGetValueName2(fn, &n)),
                                    json_text(str_c(&path)), (int)LLVMGetDebugLocLine(i), what));
    str_release(&path);
    return s->nsites++;
}

static void go_before(Scheduling *s, LLVMValueRef i)
{
    LLVMMetadataRef line = LLVMInstructionGetDebugLoc(i);
    LLVMValueRef fn = LLVMGetBasicBlockParent(LLVMGetInstructionParent(i));
    LLVMPositionBuilderBefore(s->w->builder, i);
    LLVMSetCurrentDebugLocation2(s->w->builder, line ? line : weave_line_of(s->w, fn));
}

/* Points-to knows that the operand leads to memory of one thread alone. */
static bool is_private(const Scheduling *s, unsigned operand)
{
    return s->original && !sharing_may_be(s->sharing, LLVMGetOperand(s->original, operand));
}

/* `operand` is the address. */
static void probe(Scheduling *s, LLVMValueRef i, unsigned operand, uint64_t size, uint32_t flags)
{
    Woven *w = s->w;
    LLVMValueRef at = LLVMGetOperand(i, operand);
    s->figures.accesses++;
    if (!may_be_shared(at))
        return;
    s->figures.escaping++;
    if (is_private(s, operand))
        return;
    s->figures.probed++;
    uint32_t site = site_of(s, i,
                            flags & SUNDEW_ACCESS_ATOMIC  ? "atomic"
                            : flags & SUNDEW_ACCESS_WRITE ? "write"
                                                          : "read");
    uint32_t bytes = size < SUNDEW_ACCESS_SIZE ? (uint32_t)size : SUNDEW_ACCESS_SIZE;
    go_before(s, i);
    LLVMValueRef args[] = { at, weave_int(w, w->i32, bytes | flags), weave_int(w, w->i32, site) };
    weave_call(w, s->access, args, 3);
}

static uint64_t size_of(Scheduling *s, LLVMTypeRef type)
{
    return LLVMTypeIsSized(type) ? LLVMStoreSizeOfType(s->w->layout, type) : 1;
}

static uint32_t order_of(LLVMValueRef i)
{
    bool atomic = LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic;
    return (atomic ? SUNDEW_ACCESS_ATOMIC : 0) | (LLVMGetVolatile(i) ? SUNDEW_ACCESS_POINT : 0);
}

/* A number of bytes that is known, else one: enough to see that it is shared. */
static uint64_t known(LLVMValueRef n)
{
    return LLVMIsAConstantInt(n) ? LLVMConstIntGetZExtValue(n) : 1;
}

/* Functions that read or write what they are given; sizes beyond the call: -1. */
static const struct touching {
    const char *name;
    int reads[2], write, size;
} touching[] = {
    { "llvm.memcpy.", { 1, -1 }, 0, 2 },  { "llvm.memmove.", { 1, -1 }, 0, 2 },
    { "llvm.memset.", { -1, -1 }, 0, 2 }, { "memcpy", { 1, -1 }, 0, 2 },
    { "memmove", { 1, -1 }, 0, 2 },       { "memset", { -1, -1 }, 0, 2 },
    { "memcmp", { 0, 1 }, -1, 2 },        { "strlen", { 0, -1 }, -1, -1 },
    { "strcmp", { 0, 1 }, -1, -1 },       { "strncmp", { 0, 1 }, -1, -1 },
    { "strcpy", { 1, -1 }, 0, -1 },       { "strncpy", { 1, -1 }, 0, 2 },
    { "strcat", { 1, -1 }, 0, -1 },       { "strchr", { 0, -1 }, -1, -1 },
    { "strdup", { 0, -1 }, -1, -1 },
};

static const struct touching *touching_of(const char *name)
{
    for (size_t k = 0; k < sizeof touching / sizeof *touching; k++) {
        size_t n = strlen(touching[k].name);
        if (touching[k].name[n - 1] == '.' ? !strncmp(name, touching[k].name, n)
                                           : !strcmp(name, touching[k].name))
            return &touching[k];
    }
    return NULL;
}

static void probe_arguments(Scheduling *s, LLVMValueRef i, const struct touching *t)
{
    int most = (int)LLVMGetNumArgOperands(i);
    uint64_t size =
        t->size >= 0 && t->size < most ? known(LLVMGetOperand(i, (unsigned)t->size)) : 1;
    for (unsigned k = 0; k < 2; k++)
        if (t->reads[k] >= 0 && t->reads[k] < most)
            probe(s, i, (unsigned)t->reads[k], size, 0);
    if (t->write >= 0 && t->write < most)
        probe(s, i, (unsigned)t->write, size, SUNDEW_ACCESS_WRITE);
}

/* What the function does with the object that argument `k` leads to. Of what stands behind a
 * printf format only texts are read. */
static unsigned use_of(LLVMValueRef call, const Summary *s, unsigned k)
{
    if (k < s->nparams)
        return s->params[k].use;
    if (!(s->rest & SUMMARY_MAY) || !s->nparams)
        return s->rest;
    size_t n = 0, fixed = s->nparams;
    const char *format = weave_constant_text(LLVMGetOperand(call, (unsigned)fixed - 1), &n);
    return format && format_argument(format, n, k - (unsigned)fixed).letter == 's' ? SUMMARY_READ
                                                                                   : 0;
}

/* A function outside of the program reads or writes at least the first byte of these. Streams
 * have a lock of their own. */
static void probe_summary(Scheduling *s, LLVMValueRef call, const Summary *sum)
{
    unsigned n = LLVMGetNumArgOperands(call);
    for (unsigned k = 0; k < n; k++) {
        unsigned use = use_of(call, sum, k);
        bool pointer = LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, k))) == LLVMPointerTypeKind;
        if (!pointer || LLVMIsNull(LLVMGetOperand(call, k)) || use & SUMMARY_GUARDED)
            continue;
        if (use & SUMMARY_READ)
            probe(s, call, k, 1, 0);
        if (use & SUMMARY_WRITE)
            probe(s, call, k, 1, SUNDEW_ACCESS_WRITE);
    }
}

static bool is_scheduled(const char *name)
{
    for (size_t k = 0; k < sizeof scheduled / sizeof *scheduled; k++)
        if (!strcmp(name, scheduled[k]))
            return true;
    return false;
}

static void probe_call(Scheduling *s, LLVMValueRef i)
{
    size_t n;
    LLVMValueRef f = LLVMGetCalledValue(i);
    const char *name = LLVMIsAFunction(f) ? LLVMGetValueName2(f, &n) : "";
    const struct touching *t = touching_of(name);
    const Summary *sum = !t && *name && LLVMIsDeclaration(f) && s->summaries && !is_scheduled(name)
                             ? summaries_find(s->summaries, name)
                             : NULL;
    if (t) {
        probe_arguments(s, i, t);
    } else if (sum) {
        probe_summary(s, i, sum);
    } else if (LLVMIsAFunction(f) ? LLVMIsDeclaration(f) && is_scheduled(name)
                                  : !LLVMIsAInlineAsm(f)) {      /* a pointer may lead to one */
        uint32_t site = site_of(s, i, *name ? name : "call");
        go_before(s, i);
        LLVMBuildStore(s->w->builder, weave_int(s->w, s->w->i32, site), s->site);
    }
}

static void probe_instruction(Scheduling *s, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: probe(s, i, 0, size_of(s, LLVMTypeOf(i)), order_of(i)); break;
    case LLVMStore:
        probe(s, i, 1, size_of(s, LLVMTypeOf(LLVMGetOperand(i, 0))),
              order_of(i) | SUNDEW_ACCESS_WRITE);
        break;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        probe(s, i, 0, size_of(s, LLVMTypeOf(LLVMGetOperand(i, 1))),
              SUNDEW_ACCESS_WRITE | SUNDEW_ACCESS_ATOMIC);
        break;
    case LLVMCall: probe_call(s, i); break;
    default: break;
    }
}

static void keep_frames(Scheduling *s, LLVMValueRef fn)
{
    static const char pointer[] = "frame-pointer";
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(s->w->ctx, pointer, sizeof pointer - 1, "all",
                                                      3));
}

typedef Vec(LLVMValueRef) Instructions;

static void list_instructions(LLVMValueRef fn, Instructions *all)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            vec_push(all, i);
}

/* The instructions that points-to knows, in the same order; none if they are not the same. */
static void list_originals(const Scheduling *s, LLVMValueRef fn, const Instructions *all,
                           Instructions *out)
{
    size_t n;
    LLVMValueRef theirs =
        s->sharing ? LLVMGetNamedFunction(program_module(s->w->program), LLVMGetValueName2(fn, &n))
                   : NULL;
    if (theirs)
        list_instructions(theirs, out);
    bool same = out->len == all->len;
    for (size_t k = 0; same && k < out->len; k++)
        same = LLVMGetInstructionOpcode(out->items[k]) == LLVMGetInstructionOpcode(all->items[k]);
    if (!same)
        out->len = 0;
}

static void probe_function(Scheduling *s, LLVMValueRef fn)
{
    Instructions all = { 0 }, originals = { 0 };
    list_instructions(fn, &all);
    list_originals(s, fn, &all, &originals);
    for (size_t k = 0; k < all.len; k++) {
        s->original = k < originals.len ? originals.items[k] : NULL;
        probe_instruction(s, all.items[k]);
    }
    vec_release(&all);
    vec_release(&originals);
}

static LLVMValueRef declare_site(Woven *w)
{
    LLVMValueRef g = LLVMAddGlobal(w->module, w->i32, "sundew_schedule_site");
    LLVMSetThreadLocalMode(g, LLVMInitialExecTLSModel);
    LLVMSetVisibility(g, LLVMHiddenVisibility);
    return g;
}

bool weave_schedule(Woven *w, const Calls *calls, json_t *sites, ScheduleFigures *figures, Err *err)
{
    LLVMTypeRef types[] = { w->ptr, w->i32, w->i32 };
    Scheduling s = { .w = w, .sites = sites };
    s.access = weave_declare(w, "sundew_sched_access", LLVMFunctionType(w->void_, types, 3, false));
    s.site = declare_site(w);
    s.summaries = calls ? calls_summaries(calls) : NULL;
    if (calls)
        s.sharing =
            sharing_new(calls_pointsto(calls), calls_summaries(calls), program_module(w->program));
    for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !weave_has(f, "naked")) {
            probe_function(&s, f);
            keep_frames(&s, f);
        }
    for (size_t k = 0; k < sizeof scheduled / sizeof *scheduled; k++) {
        char *to = xprintf("sundew_sched_%s", scheduled[k]);
        weave_redirect(w, scheduled[k], to);
        free(to);
    }
    sharing_free(s.sharing);
    if (figures)
        *figures = s.figures;
    return s.nsites / 8 < SUNDEW_SCHEDULE_HOT || err_set(err, "the program has too many accesses");
}
