/*
 * What the runs of a test suite can't show, because the program does not decide it: whether memory
 * is there, whether a file is, and what the callers of a library pass.
 *
 * Tests have memory, and pass what they should. So a function that fails only without memory never
 * fails, a parameter of a library is never NULL, and that tells nothing against a
 * warning: it stays open.
 */
#include "capture/capture.h"
#include "weave/watch/watch_int.h"

enum { MOST_SOURCES = 64, DEPTH = 6 };

static const char *const allocators[] = {
    "malloc",        "calloc",       "realloc",  "strdup",    "strndup",
    "aligned_alloc", "reallocarray", "asprintf", "vasprintf", NULL
};
static const char *const finders[] = { "fopen",    "fopen64",  "freopen", "opendir", "popen",
                                       "getenv",   "dlopen",   "dlsym",   "getcwd",  "realpath",
                                       "getpwnam", "getgrnam", NULL };

static bool is_pointer(LLVMValueRef v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

/* ---- a test, and where it leads if the value is the bad one: NULL, or -1 */

typedef struct Fork {
    LLVMBasicBlockRef from, failed, fine;
} Fork;

static bool is_true_of(LLVMIntPredicate p, int64_t a, int64_t b)
{
    switch (p) {
    case LLVMIntEQ: return a == b;
    case LLVMIntNE: return a != b;
    case LLVMIntSLT: return a < b;
    case LLVMIntSLE: return a <= b;
    case LLVMIntSGT: return a > b;
    case LLVMIntSGE: return a >= b;
    case LLVMIntULT: return (uint64_t)a < (uint64_t)b;
    case LLVMIntULE: return (uint64_t)a <= (uint64_t)b;
    case LLVMIntUGT: return (uint64_t)a > (uint64_t)b;
    default: return (uint64_t)a >= (uint64_t)b;
    }
}

/* Is `i` a comparison of `v` with a constant, and does it hold if `v` is `bad`? */
static bool is_test(LLVMValueRef i, LLVMValueRef v, int64_t bad, bool *holds)
{
    int64_t with = 0;
    if (!LLVMIsAICmpInst(i) || LLVMGetOperand(i, 0) != v)
        return false;
    LLVMValueRef other = LLVMGetOperand(i, 1);
    *holds = is_true_of(LLVMGetICmpPredicate(i), bad, watch_constant(other, &with) ? with : 0);
    return LLVMIsAConstantPointerNull(other) || watch_constant(other, &with);
}

/* The branch that a comparison decides. */
static bool fork_of(LLVMValueRef user, LLVMValueRef compare, bool holds, Fork *out)
{
    if (!LLVMIsABranchInst(user) || !LLVMIsConditional(user) || LLVMGetCondition(user) != compare)
        return false;
    out->from = LLVMGetInstructionParent(user);
    out->failed = LLVMGetSuccessor(user, holds ? 0 : 1);
    out->fine = LLVMGetSuccessor(user, holds ? 1 : 0);
    return out->failed != out->fine;
}

static bool is_reached(LLVMBasicBlockRef from, LLVMBasicBlockRef to, LLVMBasicBlockRef without)
{
    return from == to ||
           watch_is_behind(LLVMGetFirstInstruction(from), LLVMGetBasicBlockTerminator(to), without);
}

/* ---- functions that fail without memory */

static bool is_failure(LLVMValueRef v)
{
    int64_t c;
    return LLVMIsAConstantPointerNull(v) || (watch_constant(v, &c) && c < 0);
}

/* Does the value that is returned become a failure on the way behind the fork? */
static bool fails_behind(LLVMValueRef v, LLVMBasicBlockRef at, const Fork *f, unsigned depth)
{
    if (is_failure(v))
        return is_reached(f->failed, at, f->fine);
    for (unsigned k = 0; depth && LLVMIsAPHINode(v) && k < LLVMCountIncoming(v); k++) {
        LLVMValueRef in = LLVMGetIncomingValue(v, k);
        LLVMBasicBlockRef edge = LLVMGetIncomingBlock(v, k);
        bool straight = edge == f->from && LLVMGetInstructionParent(v) == f->failed;
        if ((straight && is_failure(in)) ||
            (!straight && edge != f->from && fails_behind(in, edge, f, depth - 1)))
            return true;
    }
    return false;
}

static bool function_fails_behind(LLVMValueRef fn, const Fork *f)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        if (LLVMIsAReturnInst(end) && LLVMGetNumOperands(end) &&
            fails_behind(LLVMGetOperand(end, 0), b, f, DEPTH))
            return true;
    }
    return false;
}

/* Is a failure in `v` one of the function: by a test, or because `v` is returned? */
static bool is_passed_on(LLVMValueRef v, unsigned depth)
{
    bool passed = false, holds;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u && !passed; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        passed = LLVMIsAReturnInst(i) != NULL;
        if (depth && LLVMIsAPHINode(i))
            passed = is_passed_on(i, depth - 1);
        if (!is_test(i, v, is_pointer(v) ? 0 : -1, &holds))
            continue;
        for (LLVMUseRef c = LLVMGetFirstUse(i); c && !passed; c = LLVMGetNextUse(c)) {
            LLVMValueRef user = LLVMGetUser(c);
            Fork f;
            if (LLVMIsASelectInst(user))
                passed = is_failure(LLVMGetOperand(user, holds ? 1 : 2)) && is_passed_on(user, 0);
            else if (fork_of(user, i, holds, &f))
                passed = function_fails_behind(watch_function_of(i), &f);
        }
    }
    return passed;
}

/* The result, or what is loaded from the place that it is stored to. */
static bool is_any_passed_on(LLVMValueRef call)
{
    WatchValues names = { 0 };
    bool passed = false;
    watch_names_of(call, &names);
    for (size_t k = 0; k < names.len && !passed; k++)
        passed = is_passed_on(names.items[k], 2);
    vec_release(&names);
    return passed;
}

bool watch_fails_of_memory(Watch *watch, LLVMValueRef fn)
{
    if (LLVMIsDeclaration(fn))
        return str_is_one_of(watch_name(fn), allocators);
    void **slot = map_slotn(&watch->memory_facts, &fn, sizeof fn);
    if (*slot)
        return *slot == watch;
    *slot = &watch->arena;           /* no, while we look: for recursion */
    bool fails = false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b && !fails;
         b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !fails;
             i = LLVMGetNextInstruction(i)) {
            LLVMValueRef f = watch_callee_value(i);
            fails = f && watch_fails_of_memory(watch, f) && is_any_passed_on(i);
        }
    *map_slotn(&watch->memory_facts, &fn, sizeof fn) =
        fails ? (void *)watch : (void *)&watch->arena;
    return fails;
}

/* ---- where a value comes from */

bool watch_is_guarded(LLVMValueRef v, LLVMValueRef at, int64_t bad)
{
    LLVMBasicBlockRef to = LLVMGetInstructionParent(at);
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(watch_function_of(at));
    bool holds;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef test = LLVMGetUser(u);
        if (!is_test(test, v, bad, &holds))
            continue;
        for (LLVMUseRef c = LLVMGetFirstUse(test); c; c = LLVMGetNextUse(c)) {
            Fork f;
            if (fork_of(LLVMGetUser(c), test, holds, &f) && f.from != to &&
                !is_reached(f.failed, to, NULL) &&
                (f.from == entry || !is_reached(entry, to, f.from)))
                return true;
        }
    }
    return false;
}

static LLVMValueRef without_casts(LLVMValueRef v)
{
    while (LLVMIsAZExtInst(v) || LLVMIsASExtInst(v) || LLVMIsATruncInst(v))
        v = LLVMGetOperand(v, 0);
    return v;
}

typedef struct Source {
    LLVMValueRef v, at;
} Source;

static const Param *source_parameter(Watch *watch, LLVMValueRef parameter)
{
    LLVMValueRef fn = LLVMGetParamParent(parameter);
    const Function *f = program_function(watch->w->program, watch_name(fn));
    unsigned n = watch_position(fn, parameter);
    for (unsigned k = 0; f && k < f->nparams; k++)
        if (f->params[k].first_arg == n && f->params[k].nargs == 1)
            return &f->params[k];
    return NULL;
}

const char *watch_parameter_name(Watch *watch, LLVMValueRef parameter)
{
    const Param *p = source_parameter(watch, parameter);
    return p ? p->name : "";
}

static const Type *pointed_to(const Type *t)
{
    t = t ? type_plain(t) : NULL;
    return t && t->kind == TYPE_POINTER && t->target ? type_plain(t->target) : NULL;
}

/* Does the library show the function to others? If nobody can say, it does. */
static bool is_exported(Watch *watch, LLVMValueRef fn)
{
    if (watch_is_whole(watch) || LLVMGetLinkage(fn) == LLVMInternalLinkage)
        return false;
    if (!watch->exports.len)
        library_exports(program_captured(watch->w->program), &watch->exports);
    return !watch->exports.len || map_has(&watch->exports, watch_name(fn));
}

typedef struct Search {
    Watch *watch;
    int64_t bad;
    LLVMValueRef parameter;          /* that other callers of the library pass */
    Vec(Source) work;
    Map seen;
} Search;

static void look_at(Search *s, LLVMValueRef value, LLVMValueRef at)
{
    LLVMValueRef v = without_casts(value);
    Source source = { v, at };
    if (s->seen.len < MOST_SOURCES && map_putn(&s->seen, &v, sizeof v, v))
        vec_push(&s->work, source);
}

static WatchOutside look_at_parameter(Search *s, Source from)
{
    LLVMValueRef fn = LLVMGetParamParent(from.v);
    unsigned n = watch_position(fn, from.v);
    if (watch_is_guarded(from.v, from.at, s->bad))
        return OUTSIDE_NOTHING;
    if (is_exported(s->watch, fn)) {
        s->parameter = from.v;
        return OUTSIDE_CALLER;
    }
    for (LLVMUseRef u = LLVMGetFirstUse(fn); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef call = LLVMGetUser(u);
        if (watch_callee_value(call) == fn && n < LLVMGetNumArgOperands(call))
            look_at(s, LLVMGetOperand(call, n), call);
    }
    return OUTSIDE_NOTHING;
}

/* A field holds what a caller passed, as far as a store shows it. What else the program stores there,
 * it tests where it likes. */
static void look_at_field(Search *s, Source from)
{
    const char *field = watch_field(s->watch, LLVMGetOperand(from.v, 0));
    const WatchUses *uses = field && !watch_is_guarded(from.v, from.at, s->bad)
                                ? watch_uses(s->watch, field, false)
                                : NULL;
    for (size_t k = 0; uses && k < uses->all.len; k++) {
        LLVMValueRef i = uses->all.items[k];
        if (LLVMIsAStoreInst(i) && LLVMIsAArgument(without_casts(LLVMGetOperand(i, 0))))
            look_at(s, LLVMGetOperand(i, 0), i);
    }
}

static WatchOutside look_at_call(Search *s, Source from)
{
    LLVMValueRef f = watch_callee_value(from.v);
    if (watch_is_named(from.v, finders))
        return OUTSIDE_FOUND;
    bool fails = f && watch_fails_of_memory(s->watch, f);
    return fails && !watch_is_guarded(from.v, from.at, s->bad) ? OUTSIDE_MEMORY : OUTSIDE_NOTHING;
}

WatchOutside watch_outside_of(Watch *watch, LLVMValueRef v, LLVMValueRef at, int64_t bad,
                              LLVMValueRef *parameter)
{
    Search s = { .watch = watch, .bad = bad };
    WatchOutside found = OUTSIDE_NOTHING;
    look_at(&s, v, at);
    while (s.work.len && !found) {
        Source from = s.work.items[--s.work.len];
        if (LLVMIsAArgument(from.v))
            found = look_at_parameter(&s, from);
        else if (LLVMIsACallInst(from.v))
            found = look_at_call(&s, from);
        else if (LLVMIsALoadInst(from.v))
            look_at_field(&s, from);
        for (unsigned k = 0; LLVMIsAPHINode(from.v) && k < LLVMCountIncoming(from.v); k++)
            look_at(&s, LLVMGetIncomingValue(from.v, k), from.at);
        for (unsigned k = 1; LLVMIsASelectInst(from.v) && k < 3; k++)
            look_at(&s, LLVMGetOperand(from.v, k), from.at);
    }
    vec_release(&s.work);
    map_release(&s.seen);
    *parameter = s.parameter;
    return found;
}

WatchOutside watch_outside(Watch *watch, LLVMValueRef v, LLVMValueRef at, int64_t bad)
{
    LLVMValueRef parameter;
    return watch_outside_of(watch, v, at, bad, &parameter);
}

/* ---- parameters of a library that are alike: what one function refuses, another should */

static bool is_same_target(const Param *p, const Param *q)
{
    const Type *s = p && q ? pointed_to(p->type) : NULL, *t = s ? pointed_to(q->type) : NULL;
    return t && s->kind == t->kind && *s->name && !strcmp(s->name, t->name);
}

/* Of equal name and type, in functions of the same kind of object: their first parameters are of one type. */
static bool is_alike(Watch *watch, LLVMValueRef a, LLVMValueRef b)
{
    const Param *p = source_parameter(watch, a), *q = source_parameter(watch, b);
    return is_same_target(p, q) && *p->name && !strcmp(p->name, q->name) &&
           is_same_target(source_parameter(watch, LLVMGetParam(LLVMGetParamParent(a), 0)),
                          source_parameter(watch, LLVMGetParam(LLVMGetParamParent(b), 0)));
}

/* Does the function ask whether its parameter is NULL, and does it fail then? */
static bool asks_for_null(LLVMValueRef parameter, bool *refuses)
{
    bool asks = false, holds;
    for (LLVMUseRef u = LLVMGetFirstUse(parameter); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef test = LLVMGetUser(u);
        if (!is_test(test, parameter, 0, &holds))
            continue;
        asks = true;
        for (LLVMUseRef c = LLVMGetFirstUse(test); c; c = LLVMGetNextUse(c)) {
            Fork f;
            *refuses |= fork_of(LLVMGetUser(c), test, holds, &f) &&
                        function_fails_behind(watch_function_of(test), &f);
        }
    }
    return asks;
}

/* __attribute__((nonnull)): the function says it, and callers are told. */
static bool is_promised(LLVMValueRef parameter)
{
    LLVMValueRef fn = LLVMGetParamParent(parameter);
    unsigned kind = LLVMGetEnumAttributeKindForName("nonnull", strlen("nonnull"));
    return LLVMGetEnumAttributeAtIndex(fn, watch_position(fn, parameter) + 1, kind) != NULL;
}

const WatchValues *watch_refusing(Watch *watch, LLVMValueRef parameter)
{
    void **slot = map_slotn(&watch->refusing, &parameter, sizeof parameter);
    if (*slot)
        return *slot;
    WatchValues *out = *slot = xcalloc(1, sizeof *out);
    size_t asking = 0, others = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(watch->w->module); f; f = LLVMGetNextFunction(f))
        for (unsigned k = 0; k < LLVMCountParams(f); k++) {
            LLVMValueRef p = LLVMGetParam(f, k);
            bool refuses = false;
            if (LLVMIsDeclaration(f) || is_promised(p) || !is_exported(watch, f) ||
                !is_alike(watch, p, parameter))
                continue;
            *(asks_for_null(p, &refuses) ? &asking : &others) += 1;
            if (refuses && p != parameter)
                vec_push(out, p);
        }
    if (asking < others || is_promised(parameter))
        out->len = 0;
    return out;
}

const char *watch_missing_outside(WatchOutside o)
{
    switch (o) {
    case OUTSIDE_FOUND: return "a test in which what is opened or looked up is missing";
    case OUTSIDE_MEMORY: return "a test in which there is no memory left";
    case OUTSIDE_CALLER: return "a test that passes such a value: other callers of the library may";
    default: return NULL;
    }
}

void watch_leave_open(WatchOutside o, WatchJudgement *out, const char *missing)
{
    out->open = o != OUTSIDE_NOTHING;
    out->missing = o ? watch_missing_outside(o) : missing;
}
