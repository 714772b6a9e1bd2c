/*
 * A call meets a function: arguments flow to parameters and the result comes
 * back. For functions without a body the summary says what flows where; for
 * those without a summary everything that is handed over escapes.
 */
#include "analysis/pointsto/pt_int.h"
#include <assert.h>
#include <string.h>

/* ---- arguments */

static bool call_attribute(LLVMValueRef call, unsigned i, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    return LLVMGetCallSiteEnumAttribute(call, i + 1, kind) != NULL;
}

static bool is_floating(LLVMTypeRef t)
{
    LLVMTypeKind k = LLVMGetTypeKind(t);

    return k == LLVMFloatTypeKind || k == LLVMDoubleTypeKind || k == LLVMX86_FP80TypeKind ||
           k == LLVMFP128TypeKind;
}

static bool is_narrow(LLVMTypeRef t)
{
    return LLVMGetTypeKind(t) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) < 64;
}

PtArg pt_arg(Pt *pt, LLVMValueRef call, unsigned i)
{
    LLVMValueRef v = LLVMGetOperand(call, i);
    PtArg a = { .node = NONE };

    if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMMetadataTypeKind)
        return a;
    a.node = pt_value_node(pt, v);
    a.words = a.node == NONE ? 0 : ptvalues_words(pt->v, LLVMTypeOf(v));
    a.floating = is_floating(LLVMTypeOf(v));
    a.narrow = is_narrow(LLVMTypeOf(v));
    a.byval = call_attribute(call, i, "byval");
    if (!a.words)
        a.node = NONE;
    return a;
}

/*
 * *to ⊇ *from, `bytes` of it (0: all). Not from each source to each
 * destination, there may be thousands of both: a few words go through nodes,
 * more through an object of its own.
 */
static void copy_memory(Pt *pt, uint32_t to, uint32_t from, int64_t bytes)
{
    if (to == NONE || from == NONE)
        return;
    if (bytes > 0 && bytes <= 64) {
        for (int64_t at = 0; at + 8 <= bytes; at += 8) {
            uint32_t word = pt_node_new(pt);
            pt_constrain(pt, from, (PtConstraint){ C_LOAD, word, at, 0, 0 });
            pt_constrain(pt, to, (PtConstraint){ C_STORE, word, at, 0, 0 });
        }
        return;
    }
    uint32_t between = pt_object_new(pt, PT_LIBRARY, NULL, bytes > 0 ? bytes : -1);
    uint32_t node = pt_node_new(pt);
    pt_member(pt, node, pt_loc(pt, between, 0));
    pt_constrain(pt, from, (PtConstraint){ C_COPY_FROM, node, bytes, 0, 0 });
    pt_constrain(pt, to, (PtConstraint){ C_COPY_TO, node, bytes, 0, 0 });
}

/* ---- fresh memory */

static int64_t constant(LLVMValueRef v)
{
    if (!LLVMIsAConstantInt(v) || LLVMGetIntTypeWidth(LLVMTypeOf(v)) > 64)
        return -1;
    int64_t k = LLVMConstIntGetSExtValue(v);
    return k > 0 && k < 1 << 30 ? k : -1;
}

static int64_t allocated_size(LLVMValueRef call, LLVMValueRef fn)
{
    size_t n;
    const char *name = LLVMGetValueName2(fn, &n);

    if (!strcmp(name, "malloc") && LLVMGetNumArgOperands(call) == 1)
        return constant(LLVMGetOperand(call, 0));
    if (!strcmp(name, "calloc") && LLVMGetNumArgOperands(call) == 2) {
        int64_t a = constant(LLVMGetOperand(call, 0));
        int64_t b = constant(LLVMGetOperand(call, 1));
        return a > 0 && b > 0 && a < (1 << 30) / b ? a * b : -1;
    }
    return -1;
}

/* The heap object of a call; a call from outside has the function as its site. */
static uint32_t heap_object(Pt *pt, const PtCall *c, LLVMValueRef fn)
{
    LLVMValueRef site = c->inst ? c->inst : fn;
    int64_t size =
        c->inst && !c->callback && LLVMIsDeclaration(fn) ? allocated_size(c->inst, fn) : -1;
    return pt_object_at(pt, PT_HEAP, site, size);
}

/* A node for the memory that the call's function allocates for it. */
static uint32_t fresh_memory(Pt *pt, uint32_t call, LLVMValueRef fn)
{
    const PtCall *c = &pt->calls.items[call];

    if (c->pool != NONE)
        return pt->wrappers.items[c->pool].pool;
    uint32_t node = pt_node_new(pt);
    pt_member(pt, node, pt_loc(pt, heap_object(pt, c, fn), 0));
    return node;
}

/* Is the argument a parameter of the wrapper around, so that the copying is
 * left to the wrapper's callers? */
static bool is_left_to_callers(Pt *pt, const PtCall *c, int arg)
{
    if (c->pool == NONE || !c->inst || c->callback)
        return false;
    LLVMValueRef v = LLVMGetOperand(c->inst, (unsigned)arg);
    const PtWrapper *w = &pt->wrappers.items[c->pool];
    return w->realloc_param >= 0 && LLVMIsAArgument(v) &&
           v == LLVMGetParam(w->fn, (unsigned)w->realloc_param);
}

static void reallocate(Pt *pt, uint32_t call, uint32_t fresh, int arg)
{
    const PtCall *c = &pt->calls.items[call];

    if (arg < 0 || (uint32_t)arg >= c->nargs || is_left_to_callers(pt, c, arg))
        return;
    copy_memory(pt, fresh, c->args[arg].node, 0);
}

/* to ⊇ from + offset */
static void give_at(Pt *pt, uint32_t from, int64_t offset, uint32_t to)
{
    PtStep st = { .kind = STEP_ADD, .add = offset };

    if (!offset) {
        pt_edge(pt, from, to);
        return;
    }
    vec_push(&pt->steps, st);
    pt_constrain(pt, from, (PtConstraint){ C_STEP, to, 0, (uint32_t)pt->steps.len - 1, 1 });
}

/* The call's result may be this, which isn't fresh memory. A wrapper that
 * hands on the call's result hands on this too. */
static void give_result(Pt *pt, uint32_t call, uint32_t from)
{
    const PtCall *c = &pt->calls.items[call];
    uint32_t pool = c->pool;

    if (c->nresult)
        pt_edge(pt, from, c->result);
    if (pool != NONE)
        pt_edge(pt, from, pt->wrappers.items[pool].extra);
}

/* ---- functions with a body */

static void call_wrapper(Pt *pt, uint32_t call, const PtWrapper *w)
{
    PtCall c = pt->calls.items[call];
    uint32_t fresh = fresh_memory(pt, call, w->fn);

    pt_edge(pt, fresh, w->pool);
    if (w->out)
        return;
    reallocate(pt, call, fresh, w->realloc_param);
    give_result(pt, call, w->extra);
    if (c.pool != NONE && w->offset != c.inner)
        give_at(pt, fresh, w->offset, pt->wrappers.items[c.pool].extra);
    if (!c.nresult)
        return;
    give_at(pt, fresh, w->offset, c.result);
    for (uint32_t i = 0; i < c.nargs && i < 32; i++)
        if (w->params >> i & 1 && c.args[i].node != NONE)
            pt_edge(pt, c.args[i].node, c.result);
}

static uint32_t varargs_object(Pt *pt, LLVMValueRef fn)
{
    uint32_t o = pt_object_at(pt, PT_VARARGS, fn, -1);

    pt->objects.items[o].flat = true;
    return o;
}

static void call_varargs(Pt *pt, const PtCall *c, LLVMValueRef fn, uint32_t from)
{
    uint32_t cell = pt_write_node(pt, pt_loc(pt, varargs_object(pt, fn), ANY));

    for (uint32_t i = from; i < c->nargs; i++)
        for (uint32_t w = 0; w < c->args[i].words; w++) {
            if (c->args[i].byval)
                pt_constrain(pt, c->args[i].node + w, (PtConstraint){ C_LOAD, cell, ANY, 0, 0 });
            else
                pt_edge(pt, c->args[i].node + w, cell);
        }
}

static void call_body(Pt *pt, uint32_t call, LLVMValueRef fn)
{
    const PtFunction *f = ptvalues_function(pt->v, fn);
    PtCall c = pt->calls.items[call];
    bool outside = call == pt->outside_call;

    for (uint32_t i = 0; i < f->nparams && (outside || i < c.nargs); i++) {
        uint32_t to = pt->v->slot[f->first_param + i];
        unsigned words = ptvalues_words(pt->v, LLVMTypeOf(LLVMGetParam(fn, i)));
        PtArg a = c.args[outside ? 0 : i];
        unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
        if (to == NONE || a.node == NONE)
            continue;
        if (LLVMGetEnumAttributeAtIndex(fn, i + 1, kind))
            copy_memory(pt, to, a.node, 0);
        else
            for (unsigned k = 0; k < words && (outside || k < a.words); k++)
                pt_edge(pt, a.node + (outside ? 0 : k), to + k);
    }
    if (f->variadic)
        call_varargs(pt, &c, fn, f->nparams < c.nargs ? f->nparams : c.nargs);
    uint32_t w = pttable_get(&pt->wrapper_of, (uintptr_t)fn);
    if (w != NONE)
        call_wrapper(pt, call, &pt->wrappers.items[w]);
    if (w != NONE && !pt->wrappers.items[w].out)
        return;
    if (f->nret)
        give_result(pt, call, f->ret);
    for (uint32_t k = 1; k < f->nret && (outside || k < c.nresult); k++)
        pt_edge(pt, f->ret + k, c.result + (outside ? 0 : k));
}

/* ---- functions of the library */

uint32_t pt_library_object(Pt *pt, const char *name, LLVMValueRef fn)
{
    void **slot = map_slot(&pt->named, name);

    if (!*slot)
        *slot = (void *)(uintptr_t)(pt_object_flat(pt, PT_LIBRARY, fn) + 1);
    return (uint32_t)(uintptr_t)*slot - 1;
}

typedef struct Apply {
    Pt *pt;
    uint32_t call;
    LLVMValueRef fn;
    const Summary *s;
    uint32_t fresh;           /* of the result */
} Apply;

/* A node that gathers the words of arguments from `from` to before `to`. */
static uint32_t gather(Apply *a, uint32_t from, uint32_t to)
{
    PtCall c = a->pt->calls.items[a->call];
    uint32_t node = pt_node_new(a->pt);

    for (uint32_t i = from; i < to && i < c.nargs; i++)
        for (uint32_t w = 0; w < c.args[i].words; w++)
            pt_edge(a->pt, c.args[i].node + w, node);
    return node;
}

static uint32_t follow(Pt *pt, uint32_t node, int64_t offset)
{
    uint32_t to = pt_node_new(pt);

    pt_constrain(pt, node, (PtConstraint){ C_LOAD, to, offset, 0, 0 });
    return to;
}

/* The pointer that a term starts from, before stars. */
/* Variables that dlsym() can find. */
static uint32_t public_variables(Pt *pt)
{
    uint32_t node = pt_node_new(pt);

    for (LLVMValueRef g = LLVMGetFirstGlobal(pt->v->module); g; g = LLVMGetNextGlobal(g)) {
        LLVMLinkage l = LLVMGetLinkage(g);
        if (!LLVMIsDeclaration(g) && l != LLVMInternalLinkage && l != LLVMPrivateLinkage)
            pt_member(pt, node, pt_loc(pt, pt_global_object(pt, g), 0));
    }
    return node;
}

static uint32_t term_base(Apply *a, const SummaryTerm *t)
{
    Pt *pt = a->pt;
    PtCall c = pt->calls.items[a->call];

    switch (t->kind) {
    case SUMMARY_NOTHING: return NONE;
    case SUMMARY_PARAM: return t->param < c.nargs ? c.args[t->param].node : NONE;
    case SUMMARY_REST: return gather(a, (uint32_t)a->s->nparams, UINT32_MAX);
    case SUMMARY_RETURN: return a->fresh != NONE ? a->fresh : c.nresult ? c.result : NONE;
    case SUMMARY_STATE: return pt->state[t->param];
    case SUMMARY_UNKNOWN: return pt->world;
    case SUMMARY_PUBLIC: return public_variables(pt);
    case SUMMARY_NEW: break;
    case SUMMARY_STATIC: {
        uint32_t node = pt_node_new(pt);
        uint32_t o = pt_library_object(pt, a->s->name, a->fn);
        pt_member(pt, node, pt_loc(pt, o, ANY));
        return node;
    }
    }
    uint32_t node = pt_node_new(pt);
    pt_member(pt, node, pt_loc(pt, heap_object(pt, &c, a->fn), 0));
    return node;
}

static uint32_t term_value(Apply *a, const SummaryTerm *t)
{
    uint32_t node = term_base(a, t);

    if (node == NONE)
        return NONE;
    for (unsigned i = 0; i < t->stars; i++)
        node = follow(a->pt, node, 0);
    if (t->anywhere) {
        uint32_t to = pt_node_new(a->pt);
        pt_constrain(a->pt, node, (PtConstraint){ .kind = C_NARROW, .other = to });
        return to;
    }
    return node;
}

static void assign(Apply *a, const SummaryTerm *to, uint32_t from)
{
    uint32_t node = term_base(a, to);

    if (node == NONE || from == NONE)
        return;
    if (!to->stars) {
        pt_edge(a->pt, from, node);
        return;
    }
    for (unsigned i = 1; i < to->stars; i++)
        node = follow(a->pt, node, 0);
    pt_constrain(a->pt, node, (PtConstraint){ C_STORE, from, to->anywhere ? ANY : 0, 0, 0 });
}

static void apply_assign(Apply *a, const SummaryAssign *as)
{
    SummaryTerm to = as->to, from = as->from;

    if (!to.stars && to.kind == SUMMARY_STATE && from.stars == 1 && !from.anywhere) {
        uint32_t base = term_base(a, &from);     /* all that is stored in the object */
        if (base != NONE)
            assign(a, &to, follow(a->pt, base, ANY));
        return;
    }
    if (to.stars != 1 || from.stars != 1 || to.anywhere || from.anywhere) {
        assign(a, &to, term_value(a, &from));
        return;
    }
    if (to.kind == SUMMARY_PARAM && from.kind == SUMMARY_PARAM && to.param == from.param) {
        uint32_t base = term_base(a, &to);       /* qsort: from any place in it to any other */
        if (base != NONE)
            pt_constrain(a->pt, base,
                         (PtConstraint){ C_STORE, follow(a->pt, base, ANY), ANY, 0, 0 });
        return;
    }
    if (to.kind == SUMMARY_RETURN && from.kind == SUMMARY_PARAM && a->fresh != NONE) {
        reallocate(a->pt, a->call, a->fresh, (int)from.param);
        return;
    }
    copy_memory(a->pt, term_base(a, &to), term_base(a, &from), a->s->text ? 8 : 0);
}

static void apply_callback(Apply *a, const SummaryCallback *cb)
{
    Pt *pt = a->pt;
    PtCall c = pt->calls.items[a->call];

    uint32_t fn = term_value(a, &cb->fn);

    if (fn == NONE)
        return;
    PtCall back = { .inst = c.inst, .loose = true, .callback = true, .pool = NONE };
    back.nargs = cb->nargs;
    back.args = arena_array(&pt->arena, PtArg, cb->nargs + 1);
    for (unsigned i = 0; i < cb->nargs; i++) {
        uint32_t node = term_value(a, &cb->args[i]);
        back.args[i] = (PtArg){ .node = node, .words = node != NONE };
    }
    back.result = pt_node_new(pt);
    back.nresult = 1;
    assign(a, &cb->result, back.result);
    vec_push(&pt->calls, back);
    pt_constrain(pt, fn, (PtConstraint){ .kind = C_CALL, .other = (uint32_t)pt->calls.len - 1 });
}

/* Each part of the result may be any of the arguments; of numbers, some way into its object. */
static void arguments_out(Pt *pt, const PtCall *c)
{
    for (uint32_t i = 0; i < c->nargs; i++) {
        LLVMTypeRef t = c->inst ? LLVMTypeOf(LLVMGetOperand(c->inst, i)) : NULL;
        bool number = t && LLVMGetTypeKind(t) != LLVMPointerTypeKind;
        for (uint32_t w = 0; w < c->args[i].words; w++)
            for (uint32_t to = 0; to < c->nresult; to++)
                if (number)
                    pt_constrain(pt, c->args[i].node + w,
                                 (PtConstraint){ .kind = C_NARROW, .other = c->result + to });
                else
                    pt_edge(pt, c->args[i].node + w, c->result + to);
    }
}

static void call_summary(Pt *pt, uint32_t call, LLVMValueRef fn, const Summary *s)
{
    Apply a = { pt, call, fn, s, NONE };
    PtCall c = pt->calls.items[call];

    if (!strncmp(s->name, "dl", 2) && str_ends(s->name, "sym") && c.inst)
        pt_note(pt, c.inst, "code loaded at run time is not part of the answer");
    if (summary_allocates(s)) {
        a.fresh = fresh_memory(pt, call, fn);
        if (c.nresult)
            pt_edge(pt, a.fresh, c.result);
        if (c.pool != NONE && c.inner)
            pt_edge(pt, a.fresh, pt->wrappers.items[c.pool].extra);
    } else if (c.nresult) {
        uint32_t from = term_value(&a, &s->ret);
        if (from != NONE)
            give_result(pt, call, from);
        if (summary_gives_numbers(s))
            arguments_out(pt, &c);
    }
    for (size_t i = 0; i < s->nassigns; i++)
        apply_assign(&a, &s->assigns[i]);
    for (size_t i = 0; i < s->ncallbacks; i++)
        apply_callback(&a, &s->callbacks[i]);
}

/* All that is handed over is out of our sight from now on. */
static void call_unknown(Pt *pt, uint32_t call)
{
    PtCall c = pt->calls.items[call];

    pt->stats.unknown_externals++;
    for (uint32_t i = 0; i < c.nargs; i++)
        for (uint32_t w = 0; w < c.args[i].words; w++)
            pt_edge(pt, c.args[i].node + w, pt->world);
    give_result(pt, call, pt->world);
    for (uint32_t w = 1; w < c.nresult; w++)
        pt_edge(pt, pt->world, c.result + w);
}

/* ---- intrinsics */

bool pt_is_intrinsic(const char *name) { return !strncmp(name, "llvm.", 5); }

/* memory(none), and there is a result: it follows from the arguments, and nothing else happens. */
static bool only_computes(LLVMValueRef intrinsic)
{
    LLVMTypeRef result = LLVMGetReturnType(LLVMGlobalGetValueType(intrinsic));
    unsigned kind = LLVMGetEnumAttributeKindForName("memory", 6);
    LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(intrinsic, LLVMAttributeFunctionIndex, kind);

    return a && !LLVMGetEnumAttributeValue(a) && LLVMGetTypeKind(result) != LLVMVoidTypeKind;
}

/* Stores under a mask, registers that are set and the like are functions of which nothing is
 * known. */
bool pt_is_known_intrinsic(LLVMValueRef call)
{
    static const char *const known[] = {
        "memcpy",
        "memmove",
        "memset",
        "va_",
        "dbg.",
        "lifetime.",
        "invariant.",
        "expect",
        "assume",
        "objectsize",
        "ptrmask",
        "launder.",
        "strip.",
        "prefetch",
        "is.constant",
        "stack",
        "threadlocal.",
        "annotation",
        "ptr.annotation",
        "var.annotation",
        "returnaddress",
        "frameaddress",
        "ssa.copy",
        "trap",
        "debugtrap",
        "eh.",
        "localescape",
        "donothing",
        "sideeffect",
        "load.relative",
        "vector.reduce.",
        "x86.rdtsc",
        "readcycle",
        "x86.sse2.pause",
        "x86.sse2.mfence",
    };
    size_t n;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(call), &n);

    assert(pt_is_intrinsic(name));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_starts(name + 5, known[i]))
            return true;
    if (!only_computes(LLVMGetCalledValue(call)))
        return false;
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, i)));
        if (kind == LLVMPointerTypeKind || kind == LLVMVectorTypeKind)
            return false;
    }
    return true;
}

static void call_intrinsic(Pt *pt, uint32_t call, const char *name)
{
    PtCall c = pt->calls.items[call];

    if (!strncmp(name, "llvm.memcpy", 11) || !strncmp(name, "llvm.memmove", 12)) {
        int64_t n = constant(LLVMGetOperand(c.inst, 2));
        copy_memory(pt, c.args[0].node, c.args[1].node, n > 0 ? n : 0);
    } else if (!strncmp(name, "llvm.va_start", 13)) {
        LLVMValueRef fn = LLVMGetBasicBlockParent(LLVMGetInstructionParent(c.inst));
        uint32_t node = pt_node_new(pt);
        pt_member(pt, node, pt_loc(pt, varargs_object(pt, fn), ANY));
        if (c.args[0].node != NONE)
            pt_constrain(pt, c.args[0].node, (PtConstraint){ C_STORE, node, ANY, 0, 0 });
    } else if (!strncmp(name, "llvm.va_copy", 12)) {
        copy_memory(pt, c.args[0].node, c.args[1].node, 24);
    } else if (!pt_is_known_intrinsic(c.inst)) {
        call_unknown(pt, call);
    } else {
        arguments_out(pt, &c);
    }
}

/* ---- the meeting */

/* False: they have met before. */
static bool connect(Pt *pt, uint32_t call, LLVMValueRef fn)
{
    size_t n;
    uint32_t number = fn ? ptvalues_number(pt->v, fn) : NONE;

    if (!pttable_put(&pt->connected, (uint64_t)call << 32 | number, 0))
        return false;
    pt->grown = true;
    if (!fn) {
        call_unknown(pt, call);
        return true;
    }
    const char *name = LLVMGetValueName2(fn, &n);
    if (pt_is_intrinsic(name)) {
        call_intrinsic(pt, call, name);
        return true;
    }
    vec_push(&pt->calls.items[call].targets, fn);
    if (!LLVMIsDeclaration(fn)) {
        call_body(pt, call, fn);
        if (pt_is_replaceable(pt->plan, fn) && call != pt->outside_call)
            call_unknown(pt, call);
        return true;
    }
    const Summary *s = summaries_find(pt->summaries, name);
    if (call == pt->outside_call)
        return true;
    if (s)
        call_summary(pt, call, fn, s);
    else
        call_unknown(pt, call);
    return true;
}

void pt_call_direct(Pt *pt, uint32_t call, LLVMValueRef fn)
{
    pt->calls.items[call].direct = true;
    connect(pt, call, fn);
}

static bool returns_what_is_used(const PtCall *c, LLVMValueRef fn)
{
    LLVMTypeRef t = LLVMGetReturnType(LLVMGlobalGetValueType(fn));

    if (!c->inst || !LLVMGetFirstUse(c->inst))
        return true;
    if (LLVMGetTypeKind(t) == LLVMVoidTypeKind)
        return false;
    return LLVMGetTypeKind(LLVMTypeOf(c->inst)) != LLVMPointerTypeKind || !is_narrow(t);
}

/*
 * Could a call of this form reach the function and work? Fewer arguments than
 * parameters don't, nor do integers where floating point is expected (they
 * travel in other registers), nor an int where a pointer or a long is expected
 * (half of it is garbage). More arguments than parameters are common (a callback that
 * ignores its last ones), and so are pointers where an int is expected. A
 * result that is used must be there, and as wide as a pointer if it is one.
 */
bool pt_call_could_work(const PtCall *c, LLVMValueRef fn)
{
    bool variadic = LLVMIsFunctionVarArg(LLVMGlobalGetValueType(fn));
    unsigned n = LLVMCountParams(fn);

    if (c->loose)
        return true;
    if (c->nargs < n || !returns_what_is_used(c, fn))
        return false;
    for (unsigned i = 0; i < n; i++) {
        LLVMTypeRef t = LLVMTypeOf(LLVMGetParam(fn, i));
        if (c->args[i].floating != is_floating(t) || (c->args[i].narrow && !is_narrow(t)))
            return false;
    }
    return variadic || c->nargs >= n;
}

static bool is_loose(LLVMTypeRef type)
{
    return LLVMIsFunctionVarArg(type) && LLVMCountParamTypes(type) == 0;
}

/* Is it called as it was defined? Casts of a function pointer to another type
 * and back leave no trace, so this is what nearly all calls look like. */
static bool is_exact(const PtCall *c, LLVMValueRef fn)
{
    return c->loose || c->type == LLVMGlobalGetValueType(fn);
}

/* A call through a pointer without prototype looks variadic, but for the number of
 * its arguments. They are all that it says about the function. */
bool pt_call_may_lack_prototype(const PtCall *c)
{
    return c->type && LLVMIsFunctionVarArg(c->type) && LLVMCountParamTypes(c->type) == c->nargs;
}

bool pt_call_fits(const PtCall *c, LLVMValueRef fn)
{
    return is_exact(c, fn) || (pt_call_may_lack_prototype(c) && pt_call_could_work(c, fn));
}

PtCall pt_call_form(Pt *pt, LLVMValueRef inst)
{
    PtCall c = { .inst = inst, .type = LLVMGetCalledFunctionType(inst), .pool = NONE };

    c.nargs = LLVMGetNumArgOperands(inst);
    c.args = arena_array(&pt->arena, PtArg, c.nargs + 1);
    for (unsigned i = 0; i < c.nargs; i++) {
        LLVMTypeRef t = LLVMTypeOf(LLVMGetOperand(inst, i));
        c.args[i] = (PtArg){ .node = NONE, .floating = is_floating(t), .narrow = is_narrow(t) };
    }
    c.loose = is_loose(c.type);
    return c;
}

static bool in_flow(Pt *pt, const PtTable *t, const PtCall *c, uint32_t fn)
{
    return pttable_get(t, (uint64_t)ptvalues_number(pt->v, c->inst) << 32 | fn) != NONE;
}

/* Does pt_flow.c know which functions the call may mean? */
static bool has_flow(Pt *pt, const PtCall *c)
{
    return c->inst && !c->callback &&
           pttable_get(&pt->flow_known, ptvalues_number(pt->v, c->inst)) != NONE;
}

void pt_call_meets(Pt *pt, uint32_t call, LLVMValueRef fn)
{
    const uint64_t once = UINT64_C(1) << 63;
    const PtCall *c = &pt->calls.items[call];
    uint32_t number = fn ? ptvalues_number(pt->v, fn) : NONE;

    if (!fn || (has_flow(pt, c) ? in_flow(pt, &pt->flow_met, c, number) : pt_call_fits(c, fn))) {
        connect(pt, call, fn);
        return;
    }
    if (pttable_put(&pt->connected, once | (uint64_t)call << 32 | number, 0))
        vec_push(&pt->calls.items[call].rejected, number);
}

typedef bool Fits(const PtCall *c, LLVMValueRef fn);

/* Takes functions that the call has put aside and that fit it; false: there is none
 * that it hasn't taken before. */
static bool take(Pt *pt, uint32_t call, Fits *fits)
{
    bool any = false;

    for (size_t i = 0; i < pt->calls.items[call].rejected.len; i++) {
        LLVMValueRef fn = pt->v->values[pt->calls.items[call].rejected.items[i]];
        if (fits(&pt->calls.items[call], fn))
            any |= connect(pt, call, fn);
    }
    return any;
}

/* Did one of those that the call put aside come by its fields? Then it is of another type,
 * and is called elsewhere. */
static bool was_judged(Pt *pt, const PtCall *c)
{
    for (size_t i = 0; i < c->rejected.len && has_flow(pt, c); i++)
        if (in_flow(pt, &pt->flow_seen, c, c->rejected.items[i]))
            return true;
    return false;
}

/*
 * What was put aside counts after all where few functions arrive, so that points-to seems to
 * be precise, or where the call would have none: those of its type, or those that could
 * work, if nothing else is known of the call.
 */
enum { FEW = 5 };

bool pt_call_last_resort(Pt *pt)
{
    bool any = false;

    for (uint32_t i = 0; i < pt->calls.len; i++) {
        const PtCall *c = &pt->calls.items[i];
        bool few = c->targets.len + c->rejected.len <= FEW;
        bool none = !c->targets.len && !was_judged(pt, c);
        bool unknown = none && !has_flow(pt, c);
        if (c->rejected.len && (few || none))
            any |= take(pt, i, pt_call_fits) || (unknown && take(pt, i, pt_call_could_work));
    }
    return any;
}
