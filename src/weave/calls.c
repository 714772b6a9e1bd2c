/*
 * The weave of API calls: each call of the API from the program's own code is
 * written down, before it begins and when it has returned (runtime/calls/calls.h).
 *
 *     s = stack_new();       c = sundew_call_begin(4, 0, 0, 0, NULL, NULL);
 *                            s = stack_new();
 *                            sundew_call_end(c, s);
 *
 * A function that calls a maker of handles says when it returns.
 */
#include "runtime/format/callfile.h"
#include "weave/weave_int.h"
#include <assert.h>
#include <ctype.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>

typedef struct Tracing {
    Woven *w;
    const ApiCallsPlan *plan;
    Map callees;                 /* name → ApiCallee */
    json_t *sites, *functions;
    LLVMValueRef begin, end, left, mutex;
    uint32_t nsites, nfunctions;
} Tracing;

/* ------------------------------------------------------------------ names */

/* The name in the source: of "\01fopen64" and "hash.12" fopen and hash. */
static void plain_name(const char *symbol, Str *out)
{
    static const char *const before[] = { "\1", "__isoc99_", "__isoc23_" };
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (str_starts(symbol, before[i]))
            symbol += strlen(before[i]);
    str_addn(out, symbol, strcspn(symbol, "."));
}

static const ApiCallee *callee_named(const Tracing *t, const char *symbol)
{
    const ApiCallee *c = map_get(&t->callees, symbol);
    Str name = { 0 };
    if (!c) {
        plain_name(symbol, &name);
        c = map_get(&t->callees, str_c(&name));
        if (!c && str_ends(str_c(&name), "64")) {
            name.data[name.len - 2] = 0;
            c = map_get(&t->callees, name.data);
        }
    }
    str_release(&name);
    return c;
}

static const ApiCallee *callee_of(const Tracing *t, LLVMValueRef call)
{
    LLVMValueRef f = LLVMGetCalledValue(call);
    size_t n;
    return LLVMIsAFunction(f) ? callee_named(t, LLVMGetValueName2(f, &n)) : NULL;
}

/* ----------------------------------------------------------------- values */

/* Any pointer or integer as 64 bits; others are 0. */
static LLVMValueRef word_of(Tracing *t, LLVMValueRef v)
{
    Woven *w = t->w;
    switch (LLVMGetTypeKind(LLVMTypeOf(v))) {
    case LLVMPointerTypeKind: return LLVMBuildPtrToInt(w->builder, v, w->i64, "");
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(LLVMTypeOf(v)) < 64 ? LLVMBuildSExt(w->builder, v, w->i64, "")
                                                       : LLVMBuildTrunc(w->builder, v, w->i64, "");
    default: return weave_int(w, w->i64, 0);
    }
}

static LLVMValueRef argument(Tracing *t, LLVMValueRef call, int param)
{
    if (param < 0 || (unsigned)param >= LLVMGetNumArgOperands(call))
        return weave_int(t->w, t->w->i64, 0);
    LLVMValueRef v = LLVMGetOperand(call, (unsigned)param);
    if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind &&
        LLVMGetIntTypeWidth(LLVMTypeOf(v)) == 64)
        return v;
    return word_of(t, v);
}

static LLVMValueRef pointer(Tracing *t, LLVMValueRef call, int param)
{
    if (param < 0 || (unsigned)param >= LLVMGetNumArgOperands(call))
        return LLVMConstNull(t->w->ptr);
    LLVMValueRef v = LLVMGetOperand(call, (unsigned)param);
    return LLVMTypeOf(v) == t->w->ptr ? v : LLVMConstNull(t->w->ptr);
}

static LLVMValueRef result_of(Tracing *t, LLVMValueRef call)
{
    LLVMTypeRef type = LLVMTypeOf(call);
    if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 64)
        return call;
    if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
        return weave_int(t->w, t->w->i64, 0);
    return word_of(t, call);
}

/* ----------------------------------------------------------------- probes */

static void set_line(Tracing *t, LLVMValueRef i)
{
    LLVMMetadataRef line = LLVMInstructionGetDebugLoc(i);
    LLVMValueRef fn = LLVMGetBasicBlockParent(LLVMGetInstructionParent(i));
    LLVMSetCurrentDebugLocation2(t->w->builder, line ? line : weave_line_of(t->w, fn));
}

static uint32_t add_site(Tracing *t, LLVMValueRef call, const ApiCallee *c)
{
    LLVMValueRef fn = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    size_t n;
    Str path = { 0 };
    weave_path_of(call, &path);
    json_array_append_new(t->sites,
                          json_pack("[o,o,i,i,i,b]", json_text(LLVMGetValueName2(fn, &n)),
                                    json_text(str_c(&path)), (int)LLVMGetDebugLocLine(call),
                                    (int)LLVMGetDebugLocColumn(call), (int)(c - t->plan->callees),
                                    LLVMGetFirstUse(call) == NULL));
    str_release(&path);
    return t->nsites++;
}

static void probe(Tracing *t, LLVMValueRef call, const ApiCallee *c)
{
    Woven *w = t->w;
    LLVMValueRef next = LLVMGetNextInstruction(call);
    LLVMPositionBuilderBefore(w->builder, call);
    set_line(t, call);
    if (c->mutex) {
        LLVMValueRef m = pointer(t, call, 0);
        weave_call(w, t->mutex, &m, 1);
    }
    LLVMValueRef args[] = { weave_int(w, w->i32, add_site(t, call, c)),
                            argument(t, call, c->in[0]),
                            argument(t, call, c->in[1]),
                            argument(t, call, c->in[2]),
                            pointer(t, call, c->out[0]),
                            pointer(t, call, c->out[1]) };
    LLVMValueRef record = weave_call(w, t->begin, args, 6);
    if (!next || LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail)
        return;
    LLVMPositionBuilderBefore(w->builder, next);
    set_line(t, call);
    LLVMValueRef ends[] = { record, result_of(t, call) };
    weave_call(w, t->end, ends, 2);
}

/* Each return of a function that makes handles. */
static void probe_returns(Tracing *t, LLVMValueRef fn)
{
    size_t n;
    LLVMValueRef number = weave_int(t->w, t->w->i32, t->nfunctions);
    json_array_append_new(t->functions, json_text(LLVMGetValueName2(fn, &n)));
    t->nfunctions++;
    for (LLVMBasicBlockRef b = NULL; (b = weave_go_to_return(t->w, fn, b));)
        weave_call(t->w, t->left, &number, 1);
}

static void probe_function(Tracing *t, LLVMValueRef fn)
{
    Vec(LLVMValueRef) calls = { 0 };
    bool makes = false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMGetInstructionOpcode(i) == LLVMCall && callee_of(t, i))
                vec_push(&calls, i);
    for (size_t k = 0; k < calls.len; k++) {
        const ApiCallee *c = callee_of(t, calls.items[k]);
        makes |= c->makes;
        probe(t, calls.items[k], c);
    }
    if (makes)
        probe_returns(t, fn);
    vec_release(&calls);
}

static bool is_wanted(const Tracing *t, LLVMValueRef fn)
{
    size_t n;
    if (LLVMIsDeclaration(fn) || weave_has(fn, "naked"))
        return false;
    const Function *f = program_function(t->w->program, LLVMGetValueName2(fn, &n));
    return f && !(t->plan->skips && t->plan->skips(f, t->plan->arg));
}

static void declare(Tracing *t)
{
    Woven *w = t->w;
    LLVMTypeRef begin[] = { w->i32, w->i64, w->i64, w->i64, w->ptr, w->ptr };
    LLVMTypeRef end[] = { w->ptr, w->i64 };
    t->begin = weave_declare(w, "sundew_call_begin", LLVMFunctionType(w->ptr, begin, 6, false));
    t->end = weave_declare(w, "sundew_call_end", LLVMFunctionType(w->void_, end, 2, false));
    t->left = weave_declare(w, "sundew_call_left", LLVMFunctionType(w->void_, &w->i32, 1, false));
    t->mutex = weave_declare(w, "sundew_call_mutex", LLVMFunctionType(w->void_, &w->ptr, 1, false));
    LLVMTypeRef none = LLVMFunctionType(w->void_, NULL, 0, false);
    weave_add_first_constructor(w, weave_declare(w, "sundew_calls_start", none));
}

bool weave_calls(Woven *w, const ApiCallsPlan *plan, json_t *sites, Err *err)
{
    Tracing t = { .w = w, .plan = plan, .sites = json_array(), .functions = json_array() };
    assert(plan->n && json_is_object(sites));
    for (size_t i = 0; i < plan->n; i++)
        map_put(&t.callees, plan->callees[i].name, (void *)&plan->callees[i]);
    declare(&t);
    for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = LLVMGetNextFunction(f))
        if (is_wanted(&t, f))
            probe_function(&t, f);
    weave_redirect(w, "_exit", "sundew__exit");
    weave_redirect(w, "_Exit", "sundew__Exit");
    json_object_set_new(sites, "sites", t.sites);
    json_object_set_new(sites, "functions", t.functions);
    map_release(&t.callees);
    return t.nsites || err_set(err, "the program never calls it");
}
