/*
 * The weave of tags: beside each pointer runs the number of its set of tags
 * (runtime/tags/tags.h has the idea).
 *
 *     p            a parameter     what the caller passed, with p's own tag
 *     p + 3, &p->f                 the number of p
 *     phi, select                  the same of numbers
 *     *q           a pointer       what was stored there, and q's tags a level on
 *     f(x)                         what f returned
 *     &local, malloc()             0, and no code at all
 *
 *     *q = v                       tells q's tags; v's number goes to the table
 *
 * All is straight-line calls of small functions of the runtime. Integers as wide
 * as pointers have a number where they come from a pointer or become one.
 * Library functions follow their summaries; one without is passed over.
 */
#include "runtime/tags/tags.h"
#include "weave/weave_int.h"
#include <llvm-c/DebugInfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Tagging {
    Woven *w;
    TagPlan plan;
    Vec(LLVMValueRef) params, sites, functions;      /* rows of the tables */
    Vec(uint8_t) on;
    Map site_at;                 /* "file:line" -> number + 1 */
    Map texts;
    unsigned nblocks;
    LLVMTypeRef row_param, row_site, row_function;
    LLVMValueRef calls, blocks;  /* arrays that count; NULL */
} Tagging;

/* The function that is being rewritten. */
typedef struct Body {
    Tagging *t;
    Woven *w;
    const Function *fn;
    LLVMValueRef value;
    unsigned number;             /* its row */
    LLVMValueRef slot;           /* of its frame; NULL: it has none */
    bool lands;                  /* it needs one: it calls setjmp() */
    Vec(LLVMValueRef) formals;   /* numbers of parameters with a tag of their own */
    LLVMValueRef called;         /* were the arguments passed with tags? */
    LLVMValueRef *args;          /* numbers of the arguments */
    LLVMValueRef va;             /* … of the variadic ones: an array; or NULL */
    Map shadows;                 /* value -> its number */
    Map tracked;                 /* integers with a number */
    Vec(LLVMValueRef) all;       /* the instructions it had */
    bool has_tail;
} Body;

enum { MOST_VARIADIC = 8 };

/* ---- pieces */

static LLVMValueRef no_tags(const Woven *w) { return LLVMConstInt(w->i32, 0, false); }

static bool is_none(LLVMValueRef number)
{
    return LLVMIsAConstantInt(number) && LLVMConstIntGetZExtValue(number) == 0;
}

static LLVMValueRef i32(const Woven *w, uint64_t n) { return LLVMConstInt(w->i32, n, false); }

static LLVMValueRef i64(const Woven *w, uint64_t n) { return LLVMConstInt(w->i64, n, false); }

/* sundew_tags_NAME(args) of the runtime; `kinds` are the result's and the arguments'
 * types: v, i (32 bits), l (64 bits), p. */
static LLVMValueRef rt(Woven *w, const char *name, const char *kinds, ...)
{
    LLVMTypeRef types[8], result = w->void_;
    LLVMValueRef args[8];
    unsigned n = 0;
    va_list list;
    va_start(list, kinds);
    for (const char *k = kinds; *k; k++) {
        LLVMTypeRef t = *k == 'i' ? w->i32 : *k == 'l' ? w->i64 : *k == 'p' ? w->ptr : w->void_;
        if (k == kinds) {
            result = t;
        } else {
            types[n] = t;
            args[n++] = va_arg(list, LLVMValueRef);
        }
    }
    va_end(list);
    char *full = xprintf("sundew_tags_%s", name);
    LLVMValueRef fn = weave_declare(w, full, LLVMFunctionType(result, types, n, false));
    free(full);
    return weave_call(w, fn, args, n);
}

static void *key(LLVMValueRef v) { return v; }

static LLVMValueRef known(const Map *m, LLVMValueRef v)
{
    void *k = key(v);
    return map_getn(m, &k, sizeof k);
}

static void know(Map *m, LLVMValueRef v, LLVMValueRef number)
{
    void *k = key(v);
    map_putn(m, &k, sizeof k, number);
}

/* A location is needed wherever something that may be inlined is called. */
static void take_line(Body *b, LLVMValueRef at)
{
    LLVMMetadataRef line = LLVMInstructionGetDebugLoc(at);
    LLVMMetadataRef sub = LLVMGetSubprogram(b->value);
    if (!line && sub)
        line =
            LLVMDIBuilderCreateDebugLocation(b->w->ctx, LLVMDISubprogramGetLine(sub), 0, sub, NULL);
    LLVMSetCurrentDebugLocation2(b->w->builder, line);
}

static void go_before(Body *b, LLVMValueRef at)
{
    LLVMPositionBuilderBefore(b->w->builder, at);
    take_line(b, at);
}

/* Behind it, and behind the phis if it is one. False: there is no place. */
static bool go_behind(Body *b, LLVMValueRef at)
{
    LLVMValueRef next = LLVMGetNextInstruction(at);
    while (next && LLVMGetInstructionOpcode(next) == LLVMPHI)
        next = LLVMGetNextInstruction(next);
    if (!next)
        return false;
    LLVMPositionBuilderBefore(b->w->builder, next);
    take_line(b, at);
    return true;
}

static LLVMValueRef text(Tagging *t, const char *s)
{
    LLVMValueRef g = map_get(&t->texts, s);
    if (!g) {
        g = weave_text(t->w, s);
        map_put(&t->texts, s, g);
    }
    return g;
}

/* The number of a place where something is written. */
static LLVMValueRef site(Body *b, LLVMValueRef at)
{
    unsigned line = LLVMGetDebugLocLine(at);
    Tagging *t = b->t;
    Str path = { 0 };
    weave_path_of(at, &path);
    for (size_t i = 0; i < path.len; i++)
        if ((unsigned char)path.data[i] < ' ')
            path.data[i] = '?';
    char *name = xprintf("%u %s %s", line, b->fn->symbol, str_c(&path));
    uintptr_t n = (uintptr_t)map_get(&t->site_at, name);
    if (!n) {
        LLVMValueRef row[] = { text(t, str_c(&path)), text(t, b->fn->name), i64(b->w, line) };
        vec_push(&t->sites, LLVMConstNamedStruct(t->row_site, row, 3));
        n = t->sites.len;
        map_put(&t->site_at, name, (void *)n);
    }
    free(name);
    str_release(&path);
    return i32(b->w, n - 1);
}

static const char *called_name(LLVMValueRef call)
{
    LLVMValueRef f = LLVMGetCalledValue(call);
    size_t n;
    return LLVMIsAFunction(f) ? LLVMGetValueName2(f, &n) : "";
}

static bool is_call(LLVMValueRef i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    return op == LLVMCall || op == LLVMInvoke;
}

/* ---- integers that were pointers */

static bool is_word(Body *b, LLVMValueRef v) { return LLVMTypeOf(v) == b->w->i64; }

static bool passes_on(LLVMValueRef i)
{
    if (!LLVMIsAInstruction(i))
        return false;
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMPHI:
    case LLVMSelect:
    case LLVMFreeze: return true;
    default: return false;
    }
}

static void track_forward(Body *b, LLVMValueRef v)
{
    if (known(&b->tracked, v))
        return;
    know(&b->tracked, v, v);
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (is_word(b, user) && passes_on(user))
            track_forward(b, user);
    }
}

static void track_backward(Body *b, LLVMValueRef v)
{
    if (!is_word(b, v) || known(&b->tracked, v))
        return;
    know(&b->tracked, v, v);
    if (!passes_on(v))
        return;
    int n = LLVMGetNumOperands(v);
    for (int i = 0; i < n; i++)
        if (LLVMIsAInstruction(LLVMGetOperand(v, (unsigned)i)) ||
            LLVMIsAArgument(LLVMGetOperand(v, (unsigned)i)))
            track_backward(b, LLVMGetOperand(v, (unsigned)i));
}

static void find_tracked(Body *b)
{
    for (size_t k = 0; k < b->all.len; k++) {
        LLVMValueRef i = b->all.items[k];
        LLVMOpcode op = LLVMGetInstructionOpcode(i);
        if (op == LLVMPtrToInt && is_word(b, i))
            track_forward(b, i);
        else if (op == LLVMIntToPtr)
            track_backward(b, LLVMGetOperand(i, 0));
        else if (op == LLVMStore && is_word(b, LLVMGetOperand(i, 0)) &&
                 LLVMIsALoadInst(LLVMGetOperand(i, 0)))
            track_backward(b, LLVMGetOperand(i, 0));
    }
}

static bool has_number(Body *b, LLVMValueRef v)
{
    return LLVMTypeOf(v) == b->w->ptr || (is_word(b, v) && known(&b->tracked, v));
}

/* ---- the number of a value */

static LLVMValueRef number_of(Body *b, LLVMValueRef v);

static LLVMValueRef as_word(Body *b, LLVMValueRef v)
{
    return LLVMTypeOf(v) == b->w->ptr ? LLVMBuildPtrToInt(b->w->builder, v, b->w->i64, "") : v;
}

static LLVMValueRef number_of_load(Body *b, LLVMValueRef v)
{
    LLVMValueRef at = LLVMGetOperand(v, 0), set = number_of(b, at);
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(at)) || !go_behind(b, v))
        return no_tags(b->w);
    return rt(b->w, "load", "ipil", at, set, as_word(b, v));
}

static LLVMValueRef join(Body *b, LLVMValueRef x, LLVMValueRef y)
{
    if (is_none(x) || is_none(y))
        return is_none(x) ? y : x;
    return rt(b->w, "join", "iii", x, y);
}

static LLVMValueRef number_of_sum(Body *b, LLVMValueRef v)
{
    LLVMValueRef x = LLVMGetOperand(v, 0), y = LLVMGetOperand(v, 1);
    LLVMValueRef a = has_number(b, x) ? number_of(b, x) : no_tags(b->w);
    LLVMValueRef c = has_number(b, y) ? number_of(b, y) : no_tags(b->w);
    if (LLVMGetInstructionOpcode(v) == LLVMSub)
        return is_none(c) ? a : no_tags(b->w);
    if (!go_behind(b, v))
        return no_tags(b->w);
    return join(b, a, c);
}

/* Filled in when all numbers are there. */
static LLVMValueRef number_of_phi(Body *b, LLVMValueRef v)
{
    LLVMPositionBuilderBefore(b->w->builder, v);
    LLVMSetCurrentDebugLocation2(b->w->builder, NULL);
    return LLVMBuildPhi(b->w->builder, b->w->i32, "");
}

static LLVMValueRef number_of_select(Body *b, LLVMValueRef v)
{
    LLVMValueRef x = number_of(b, LLVMGetOperand(v, 1)), y = number_of(b, LLVMGetOperand(v, 2));
    if (is_none(x) && is_none(y))
        return x;
    if (!go_behind(b, v))
        return no_tags(b->w);
    return LLVMBuildSelect(b->w->builder, LLVMGetOperand(v, 0), x, y, "");
}

static bool is_aggregate(LLVMValueRef v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMStructTypeKind;
}

/* Whom a call's result is from, as sundew_tags_return() says. */
static LLVMValueRef callee_word(Body *b, LLVMValueRef call, bool result)
{
    LLVMValueRef f = LLVMGetCalledValue(call);
    if (LLVMIsAFunction(f)) {
        const Function *fn = program_function(b->w->program, called_name(call));
        if (fn && (!result || !fn->address_taken))
            return i64(b->w, fn->index + 1);
    }
    return LLVMBuildPtrToInt(b->w->builder, f, b->w->i64, "");
}

static const Summary *summary_of(Body *b, LLVMValueRef call)
{
    LLVMValueRef f = LLVMGetCalledValue(call);
    if (!LLVMIsAFunction(f) || !LLVMIsDeclaration(f) || !b->t->plan.summaries)
        return NULL;
    const char *name = called_name(call), *ours = "sundew_tags_";
    return summaries_find(b->t->plan.summaries,
                          str_starts(name, ours) ? name + strlen(ours) : name);
}

static LLVMValueRef argument(LLVMValueRef call, unsigned k)
{
    return k < LLVMGetNumArgOperands(call) ? LLVMGetOperand(call, k) : NULL;
}

/* What a term of a summary points to. */
static LLVMValueRef number_of_term(Body *b, LLVMValueRef call, const SummaryTerm *term)
{
    LLVMValueRef arg = term->kind == SUMMARY_PARAM ? argument(call, term->param) : NULL;
    if (term->stars == 0 && arg && has_number(b, arg))
        return number_of(b, arg);
    if (term->stars == 0 && term->kind == SUMMARY_STATE && go_behind(b, call))
        return rt(b->w, "kept", "ii", i32(b->w, term->param));
    return no_tags(b->w);
}

static bool is_woven(LLVMValueRef call)
{
    LLVMValueRef f = LLVMGetCalledValue(call);
    return LLVMIsAInlineAsm(f) ? false : !LLVMIsAFunction(f) || !LLVMIsDeclaration(f);
}

static LLVMValueRef number_of_call(Body *b, LLVMValueRef v, unsigned k)
{
    const char *name = called_name(v);
    const Summary *s = summary_of(b, v);
    if (str_starts(name, "llvm.")) {
        bool same = str_starts(name, "llvm.launder") || str_starts(name, "llvm.strip") ||
                    str_starts(name, "llvm.ptrmask") || str_starts(name, "llvm.expect") ||
                    str_starts(name, "llvm.ptr.annotation");
        return same && has_number(b, LLVMGetOperand(v, 0)) ? number_of(b, LLVMGetOperand(v, 0))
                                                           : no_tags(b->w);
    }
    if (s)
        return number_of_term(b, v, &s->ret);
    if (!is_woven(v) || k >= TAGS_RESULTS || !go_behind(b, v))
        return no_tags(b->w);
    return rt(b->w, "result", "ili", callee_word(b, v, true), i32(b->w, k));
}

/* Of a member of a struct that is held in registers. */
static LLVMValueRef number_of_member(Body *b, LLVMValueRef v, unsigned k)
{
    while (LLVMIsAInsertValueInst(v)) {
        if (LLVMGetNumIndices(v) == 1 && LLVMGetIndices(v)[0] == k) {
            LLVMValueRef x = LLVMGetOperand(v, 1);
            return has_number(b, x) ? number_of(b, x) : no_tags(b->w);
        }
        v = LLVMGetOperand(v, 0);
    }
    if (LLVMIsACallInst(v))
        return number_of_call(b, v, k);
    if (!LLVMIsALoadInst(v) || !go_behind(b, v))
        return no_tags(b->w);
    LLVMValueRef at = LLVMGetOperand(v, 0), set = number_of(b, at);
    LLVMTypeRef type = LLVMTypeOf(v);
    LLVMTypeRef member = LLVMStructGetTypeAtIndex(type, k);
    if (member != b->w->ptr && member != b->w->i64)
        return no_tags(b->w);
    go_behind(b, v);
    LLVMValueRef place = LLVMBuildStructGEP2(b->w->builder, type, at, k, "");
    LLVMValueRef x = LLVMBuildExtractValue(b->w->builder, v, k, "");
    return rt(b->w, "load", "ipil", place, set, as_word(b, x));
}

static LLVMValueRef make_number(Body *b, LLVMValueRef v)
{
    if (LLVMIsAArgument(v)) {
        unsigned n = LLVMCountParams(b->value);
        for (unsigned k = 0; k < n; k++)
            if (LLVMGetParam(b->value, k) == v)
                return b->args[k] ? b->args[k] : no_tags(b->w);
    }
    if (!LLVMIsAInstruction(v))
        return no_tags(b->w);
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMGetElementPtr:
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMFreeze:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
        return has_number(b, LLVMGetOperand(v, 0)) ? number_of(b, LLVMGetOperand(v, 0))
                                                   : no_tags(b->w);
    case LLVMAdd:
    case LLVMSub:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor: return number_of_sum(b, v);
    case LLVMLoad: return number_of_load(b, v);
    case LLVMSelect: return number_of_select(b, v);
    case LLVMPHI: return number_of_phi(b, v);
    case LLVMCall:
    case LLVMInvoke: return number_of_call(b, v, 0);
    case LLVMExtractValue:
        if (LLVMGetNumIndices(v) != 1 || !is_aggregate(LLVMGetOperand(v, 0)))
            return no_tags(b->w);
        return number_of_member(b, LLVMGetOperand(v, 0), LLVMGetIndices(v)[0]);
    default: return no_tags(b->w);
    }
}

static LLVMValueRef number_of(Body *b, LLVMValueRef v)
{
    LLVMValueRef n = known(&b->shadows, v);
    if (n)
        return n;
    if (LLVMTypeOf(v) != b->w->ptr && LLVMTypeOf(v) != b->w->i64)
        return no_tags(b->w);
    n = make_number(b, v);
    know(&b->shadows, v, n);
    return n;
}

static void fill_phi(Body *b, LLVMValueRef v, LLVMValueRef phi)
{
    unsigned n = LLVMCountIncoming(v);
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef x = LLVMGetIncomingValue(v, k);
        LLVMValueRef number = has_number(b, x) ? number_of(b, x) : no_tags(b->w);
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(v, k);
        LLVMAddIncoming(phi, &number, &from, 1);
    }
}

/* ---- writes */

static void see_write(Body *b, LLVMValueRef at, LLVMValueRef where)
{
    LLVMValueRef set = number_of(b, at);
    if (is_none(set))
        return;
    go_before(b, where);
    rt(b->w, "write", "vii", set, site(b, where));
}

/* `value` was put at `at`; a struct's members one by one. */
static void see_stored(Body *b, LLVMValueRef value, LLVMValueRef at, LLVMValueRef i)
{
    Woven *w = b->w;
    LLVMTypeRef type = LLVMTypeOf(value);
    if (is_aggregate(value)) {
        unsigned n = LLVMCountStructElementTypes(type);
        for (unsigned k = 0; k < n; k++) {
            LLVMTypeRef t = LLVMStructGetTypeAtIndex(type, k);
            if (t != w->ptr && t != w->i64)
                continue;
            LLVMValueRef set = number_of_member(b, value, k);
            if (!go_behind(b, i))
                return;
            LLVMValueRef place = LLVMBuildStructGEP2(w->builder, type, at, k, "");
            LLVMValueRef x = LLVMBuildExtractValue(w->builder, value, k, "");
            rt(w, "store", "vpli", place, as_word(b, x), set);
        }
        return;
    }
    if (type != w->ptr && type != w->i64)
        return;
    LLVMValueRef set = has_number(b, value) ? number_of(b, value) : no_tags(w);
    if (go_behind(b, i))
        rt(w, "store", "vpli", at, as_word(b, value), set);
}

static void see_store(Body *b, LLVMValueRef i)
{
    LLVMValueRef value = LLVMGetOperand(i, 0), at = LLVMGetOperand(i, 1);
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(at)))
        return;
    see_write(b, at, i);
    see_stored(b, value, at, i);
}

static void see_exchange(Body *b, LLVMValueRef i)
{
    LLVMValueRef at = LLVMGetOperand(i, 0);
    unsigned which = LLVMGetInstructionOpcode(i) == LLVMAtomicCmpXchg ? 2 : 1;
    LLVMValueRef value = LLVMGetOperand(i, which);
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(at)))
        return;
    see_write(b, at, i);
    if (LLVMTypeOf(value) == b->w->ptr)
        see_stored(b, value, at, i);     /* if it was not stored, it is not there */
}

/* ---- calls */

/* memcpy() and friends, as intrinsics and by name. */
static bool see_block(Body *b, LLVMValueRef i, const char *name)
{
    static const struct {
        const char *name;
        bool prefix, copies;
        unsigned to, from;
    } rows[] = {
        { "llvm.memcpy", true, true, 0, 1 },   { "llvm.memmove", true, true, 0, 1 },
        { "llvm.memset", true, false, 0, 0 },  { "memcpy", false, true, 0, 1 },
        { "memmove", false, true, 0, 1 },      { "mempcpy", false, true, 0, 1 },
        { "__memcpy_chk", false, true, 0, 1 }, { "__memmove_chk", false, true, 0, 1 },
        { "memset", false, false, 0, 0 },      { "__memset_chk", false, false, 0, 0 },
        { "bcopy", false, true, 1, 0 },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (rows[k].prefix ? !str_starts(name, rows[k].name) : strcmp(name, rows[k].name) != 0)
            continue;
        LLVMValueRef to = LLVMGetOperand(i, rows[k].to), n = LLVMGetOperand(i, 2);
        LLVMValueRef from = LLVMGetOperand(i, rows[k].from), set = number_of(b, to);
        LLVMValueRef source = rows[k].copies ? number_of(b, from) : no_tags(b->w);
        go_before(b, i);
        if (LLVMTypeOf(n) != b->w->i64)
            n = LLVMBuildZExt(b->w->builder, n, b->w->i64, "");
        if (!is_none(set))
            rt(b->w, "write_n", "vili", set, n, site(b, i));
        if (rows[k].copies && go_behind(b, i))
            rt(b->w, "move", "vppli", to, from, n, source);
        return true;
    }
    return false;
}

/* What it may or may not write (a variadic argument, by format; what lies deeper)
 * is passed over: a run shows only what is certain. */
static void see_use(Body *b, LLVMValueRef call, LLVMValueRef arg, unsigned use, bool rest)
{
    bool doubtful = use & SUMMARY_DEEP || (rest && use & SUMMARY_READ);
    if (use & SUMMARY_FREE || (use & SUMMARY_WRITE && !doubtful))
        if (arg && LLVMTypeOf(arg) == b->w->ptr)
            see_write(b, arg, call);
}

/* A library function: what it writes, where it puts what it was given. */
static void see_library(Body *b, LLVMValueRef call, const Summary *s)
{
    unsigned n = LLVMGetNumArgOperands(call);
    for (unsigned k = 0; k < n; k++)
        see_use(b, call, argument(call, k), k < s->nparams ? s->params[k].use : s->rest,
                k >= s->nparams);
    for (size_t k = 0; k < s->nassigns; k++) {
        const SummaryAssign *a = &s->assigns[k];
        LLVMValueRef from = a->from.kind == SUMMARY_PARAM && !a->from.stars
                                ? number_of_term(b, call, &a->from)
                                : no_tags(b->w);
        LLVMValueRef to = a->to.kind == SUMMARY_PARAM ? argument(call, a->to.param) : NULL;
        if (is_none(from) && a->to.kind != SUMMARY_STATE)
            continue;
        if (a->to.kind == SUMMARY_STATE && a->from.kind == SUMMARY_PARAM && !a->from.stars) {
            /* strtok(NULL, …) goes on with what there is */
            LLVMValueRef p = argument(call, a->from.param);
            go_before(b, call);
            if (p && LLVMTypeOf(p) == b->w->ptr && !LLVMIsNull(p))
                rt(b->w, "keep", "vii", i32(b->w, a->to.param), from);
        } else if (to && a->to.stars == 1 && LLVMTypeOf(to) == b->w->ptr && go_behind(b, call)) {
            rt(b->w, "out", "vpi", to, from);
        }
    }
}

static bool is_tail_call(LLVMValueRef call)
{
    return LLVMGetInstructionOpcode(call) == LLVMCall &&
           LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail;
}

static LLVMAttributeRef by_value(LLVMValueRef call, unsigned k)
{
    return LLVMGetCallSiteEnumAttribute(call, k + 1, LLVMGetEnumAttributeKindForName("byval", 5));
}

/* The slot of an argument: variadic ones are counted as the integer registers are. */
static unsigned slot_of_argument(LLVMValueRef call, unsigned k)
{
    unsigned fixed = LLVMCountParamTypes(LLVMGetCalledFunctionType(call)), at = fixed;
    if (k < fixed)
        return k;
    for (unsigned i = fixed; i < k; i++) {
        LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, i)));
        if (kind == LLVMPointerTypeKind || kind == LLVMIntegerTypeKind)
            at++;
    }
    return at;
}

/* A function with a body: numbers of all arguments that can have one. */
static void see_passing(Body *b, LLVMValueRef call)
{
    Woven *w = b->w;
    unsigned n = LLVMGetNumArgOperands(call);
    LLVMValueRef sets[TAGS_ARGS];
    bool any = false;
    for (unsigned k = 0; k < n && k < TAGS_ARGS; k++) {
        LLVMValueRef arg = LLVMGetOperand(call, k);
        sets[k] = has_number(b, arg) ? number_of(b, arg) : no_tags(w);
        any |= !is_none(sets[k]) || by_value(call, k);
    }
    go_before(b, call);
    if (is_tail_call(call) && b->slot)
        rt(w, "leave", "vi", b->slot);
    if (!any)
        return;
    bool variadic = LLVMIsFunctionVarArg(LLVMGetCalledFunctionType(call));
    unsigned last = 0;
    for (unsigned k = 0; k < n && k < TAGS_ARGS; k++) {
        LLVMValueRef arg = LLVMGetOperand(call, k);
        LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(arg));
        unsigned slot = slot_of_argument(call, k);
        if ((kind == LLVMPointerTypeKind || kind == LLVMIntegerTypeKind) && slot < TAGS_ARGS) {
            rt(w, "pass", "vii", i32(w, slot), sets[k]);
            last = slot + 1;
        }
        if (by_value(call, k) && k < TAGS_COPIES)
            rt(w, "pass_copy", "vipi", i32(w, k), arg, sets[k]);
    }
    for (unsigned k = last; variadic && k < TAGS_ARGS; k++)
        rt(w, "pass", "vii", i32(w, k), no_tags(w));
    rt(w, "call", "vl", callee_word(b, call, false));
}

static bool returns_twice(LLVMValueRef call, const char *name)
{
    static const char *const names[] = { "setjmp",  "_setjmp", "sigsetjmp", "__sigsetjmp",
                                         "savectx", "vfork",   "getcontext" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    LLVMValueRef f = LLVMGetCalledValue(call);
    return LLVMIsAFunction(f) && weave_has(f, "returns_twice");
}

static void see_call(Body *b, LLVMValueRef call)
{
    const char *name = called_name(call);
    const Summary *s = summary_of(b, call);
    if (see_block(b, call, name))
        return;
    if (str_starts(name, "llvm.va_start") && b->va) {
        if (go_behind(b, call))
            rt(b->w, "va_start", "vppi", LLVMGetOperand(call, 0), b->va, i32(b->w, MOST_VARIADIC));
    } else if (str_starts(name, "llvm.va_copy")) {
        if (go_behind(b, call))
            rt(b->w, "move", "vppli", LLVMGetOperand(call, 0), LLVMGetOperand(call, 1),
               i64(b->w, 24), no_tags(b->w));
    } else if (s) {
        see_library(b, call, s);
    } else if (is_woven(call)) {
        see_passing(b, call);
    }
    if (b->slot && returns_twice(call, name) && go_behind(b, call))
        rt(b->w, "landed", "vi", b->slot);
}

/* ---- a function */

static void see_return(Body *b, LLVMValueRef ret)
{
    Woven *w = b->w;
    LLVMValueRef v = LLVMGetNumOperands(ret) ? LLVMGetOperand(ret, 0) : NULL, sets[TAGS_RESULTS];
    LLVMValueRef before = LLVMGetPreviousInstruction(ret);
    unsigned n = 0;
    if (before && LLVMIsACallInst(before) && is_tail_call(before))
        return;
    if (v && !b->has_tail) {
        if (is_aggregate(v))
            for (; n < TAGS_RESULTS && n < LLVMCountStructElementTypes(LLVMTypeOf(v)); n++)
                sets[n] = number_of_member(b, v, n);
        else if (LLVMTypeOf(v) == w->ptr || is_word(b, v))
            sets[n++] = has_number(b, v) ? number_of(b, v) : no_tags(w);
    }
    go_before(b, ret);
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef self = b->fn->address_taken
                                ? LLVMBuildPtrToInt(w->builder, b->value, w->i64, "")
                                : i64(w, b->fn->index + 1);
        rt(w, "return", "vliii", self, b->slot ? b->slot : no_tags(w), i32(w, k), sets[k]);
    }
    if (b->slot)
        rt(w, "leave", "vi", b->slot);
}

static void see(Body *b, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMStore: see_store(b, i); break;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: see_exchange(b, i); break;
    case LLVMCall:
    case LLVMInvoke: see_call(b, i); break;
    case LLVMRet: see_return(b, i); break;
    default: break;
    }
}

static void list_instructions(Body *b)
{
    for (LLVMBasicBlockRef at = LLVMGetFirstBasicBlock(b->value); at;
         at = LLVMGetNextBasicBlock(at))
        for (LLVMValueRef i = LLVMGetFirstInstruction(at); i; i = LLVMGetNextInstruction(i)) {
            vec_push(&b->all, i);
            b->has_tail |= is_call(i) && is_tail_call(i);
        }
}

static char *safe_symbol(const char *s)
{
    Str out = { 0 };
    for (; *s; s++)
        if ((unsigned char)*s <= ' ' || *s == '%' || (unsigned char)*s >= 127)
            str_addf(&out, "%%%02X", (unsigned char)*s);
        else
            str_addc(&out, *s);
    return str_take(&out);
}

/* The number of a wanted parameter; -1: nobody wants it. */
static long param_number(Body *b, unsigned i)
{
    Tagging *t = b->t;
    const Type *type = b->fn->params[i].type;
    unsigned want = t->plan.wanted(b->fn, i, t->plan.arg);
    if (type && type_is_record(type_plain(type)))
        want &= ~1u;             /* its own bytes are a copy */
    if (!(want & TAG_LEVELS))
        return -1;
    char *symbol = safe_symbol(b->fn->symbol);
    char *name = safe_symbol(b->fn->params[i].name);
    unsigned claim = want & TAG_CLAIMED ? 1 : want & TAG_DECLARED ? 2 : 0;
    LLVMValueRef row[] = { text(t, symbol), text(t, name), i32(b->w, i), i32(b->w, claim) };
    free(symbol);
    free(name);
    vec_push(&t->params, LLVMConstNamedStruct(t->row_param, row, 4));
    vec_push(&t->on, (uint8_t)(want & TAG_LEVELS));
    b->w->ntagged++;
    return (long)t->params.len - 1;
}

/* Nothing is written through what nobody looks at. */
static bool is_used(Body *b, unsigned i)
{
    const Param *p = &b->fn->params[i];
    unsigned n = LLVMCountParams(b->value);
    for (unsigned k = p->first_arg; k < p->first_arg + p->nargs && k < n; k++)
        if (LLVMGetFirstUse(LLVMGetParam(b->value, k)))
            return true;
    return false;
}

static void tag_param(Body *b, unsigned i, long number)
{
    Woven *w = b->w;
    const Param *p = &b->fn->params[i];
    bool record = p->type && type_is_record(type_plain(p->type)) && p->passing != PASSED_BY_COPY;
    unsigned n = LLVMCountParams(b->value);
    for (unsigned k = p->first_arg; k < p->first_arg + p->nargs && k < n; k++) {
        LLVMValueRef arg = LLVMGetParam(b->value, k);
        if (LLVMTypeOf(arg) != w->ptr && !is_word(b, arg))
            continue;
        if (is_word(b, arg))
            track_forward(b, arg);
        b->args[k] = rt(w, "formal", "iiiii", b->args[k] ? b->args[k] : no_tags(w), b->slot,
                        i32(w, (uint64_t)number), i32(w, record ? 1 : 0));
        vec_push(&b->formals, b->args[k]);
    }
}

/* A function that asks for none of its own tags (it compares pointers, or looks at
 * numbers in a struct) does without a frame, and LLVM may inline it again. */
static void drop_frame(Body *b)
{
    if (!b->slot || b->lands)
        return;
    for (size_t i = 0; i < b->formals.len; i++)
        if (LLVMGetFirstUse(b->formals.items[i]))
            return;
    for (size_t i = 0; i < b->formals.len; i++)
        LLVMInstructionEraseFromParent(b->formals.items[i]);
    LLVMReplaceAllUsesWith(b->slot, no_tags(b->w));
    LLVMInstructionEraseFromParent(b->slot);
}

static bool wants_frame(Body *b)
{
    for (size_t k = 0; k < b->all.len; k++)
        if (is_call(b->all.items[k]) &&
            returns_twice(b->all.items[k], called_name(b->all.items[k])))
            return true;
    return false;
}

static void take_arguments(Body *b)
{
    Woven *w = b->w;
    unsigned n = LLVMCountParams(b->value);
    LLVMValueRef address =
        b->fn->address_taken ? LLVMBuildPtrToInt(w->builder, b->value, w->i64, "") : i64(w, 0);
    b->called = rt(w, "called", "ill", i64(w, b->fn->index + 1), address);
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef arg = LLVMGetParam(b->value, k);
        unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
        LLVMAttributeRef copy = LLVMGetEnumAttributeAtIndex(b->value, k + 1, kind);
        if (copy && k < TAGS_COPIES)
            rt(w, "copied", "viipl", b->called, i32(w, k), arg,
               i64(w, LLVMABISizeOfType(w->layout, LLVMGetTypeAttributeValue(copy))));
        else if (k < TAGS_ARGS && has_number(b, arg))
            b->args[k] = rt(w, "arg", "iii", b->called, i32(w, k));
    }
    if (!b->va)
        return;
    for (unsigned k = 0; k < MOST_VARIADIC; k++) {
        LLVMValueRef index = i64(w, k), set = no_tags(w);
        if (n + k < TAGS_ARGS)
            set = rt(w, "arg", "iii", b->called, i32(w, n + k));
        LLVMBuildStore(w->builder, set, LLVMBuildGEP2(w->builder, w->i32, b->va, &index, 1, ""));
    }
}

static void add_function_row(Body *b)
{
    Tagging *t = b->t;
    Woven *w = b->w;
    unsigned nblocks = LLVMCountBasicBlocks(b->value);
    char *symbol = safe_symbol(b->fn->symbol);
    LLVMValueRef row[] = { text(t, symbol), i32(w, t->nblocks), i32(w, nblocks) };
    b->number = (unsigned)t->functions.len;
    vec_push(&t->functions, LLVMConstNamedStruct(t->row_function, row, 3));
    t->nblocks += nblocks;
    w->ntagging++;
    free(symbol);
}

/* calls[n]++ at the entry, blocks[k] = 1 in each block. */
static void count(Body *b)
{
    Woven *w = b->w;
    LLVMBuilderRef at = w->builder;
    unsigned k = b->t->nblocks - LLVMCountBasicBlocks(b->value);
    weave_go_to_entry(w, b->value);
    LLVMValueRef index = i64(w, b->number);
    LLVMValueRef place = LLVMBuildGEP2(at, w->i64, b->t->calls, &index, 1, "");
    LLVMValueRef old = LLVMBuildLoad2(at, w->i64, place, "");
    LLVMBuildStore(at, LLVMBuildAdd(at, old, i64(w, 1), ""), place);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(b->value); block;
         block = LLVMGetNextBasicBlock(block), k++) {
        LLVMValueRef i = LLVMGetFirstInstruction(block);
        while (i && (LLVMGetInstructionOpcode(i) == LLVMPHI ||
                     LLVMGetInstructionOpcode(i) == LLVMAlloca ||
                     LLVMGetInstructionOpcode(i) == LLVMLandingPad))
            i = LLVMGetNextInstruction(i);
        if (!i)
            continue;
        LLVMPositionBuilderBefore(at, i);
        index = i64(w, k);
        LLVMBuildStore(at, LLVMConstInt(w->i8, 1, false),
                       LLVMBuildGEP2(at, w->i8, b->t->blocks, &index, 1, ""));
    }
}

static void begin_function(Body *b)
{
    Woven *w = b->w;
    unsigned nparams = b->fn->nparams;
    long *numbers = xcalloc(nparams + 1, sizeof *numbers);
    bool any = b->lands = wants_frame(b);
    for (unsigned i = 0; i < nparams; i++) {
        const Param *p = &b->fn->params[i];
        bool odd = !p->type || p->passing == PASSED_UNKNOWN || p->passing == PASSED_NOT_AT_ALL;
        numbers[i] = odd ? -1 : param_number(b, i);
        if (numbers[i] >= 0 && !is_used(b, i))
            numbers[i] = -1;
        any |= numbers[i] >= 0;
    }
    if (b->fn->variadic) {
        LLVMPositionBuilderBefore(w->builder,
                                  LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(b->value)));
        LLVMSetCurrentDebugLocation2(w->builder, NULL);
        b->va = LLVMBuildAlloca(w->builder, LLVMArrayType2(w->i32, MOST_VARIADIC), "");
    }
    find_tracked(b);
    weave_go_to_entry(w, b->value);
    take_arguments(b);
    if (any) {
        add_function_row(b);
        b->slot = rt(w, "enter", "ii", i32(w, b->number));
    }
    for (unsigned i = 0; i < nparams; i++)
        if (numbers[i] >= 0)
            tag_param(b, i, numbers[i]);
    free(numbers);
}

static void weave_function(Tagging *t, const Function *fn, LLVMValueRef value)
{
    Body b = { .t = t, .w = t->w, .fn = fn, .value = value };
    Vec(LLVMValueRef) phis = { 0 };
    unsigned n = LLVMCountParams(value);
    b.args = arena_array(&t->w->arena, LLVMValueRef, n + 1);
    list_instructions(&b);
    begin_function(&b);
    for (size_t k = 0; k < b.all.len; k++)
        if (LLVMGetInstructionOpcode(b.all.items[k]) == LLVMPHI && has_number(&b, b.all.items[k])) {
            number_of(&b, b.all.items[k]);
            vec_push(&phis, b.all.items[k]);
        }
    for (size_t k = 0; k < b.all.len; k++)
        see(&b, b.all.items[k]);
    for (size_t k = 0; k < phis.len; k++)
        fill_phi(&b, phis.items[k], number_of(&b, phis.items[k]));
    if (t->plan.counts && b.slot)
        count(&b);
    drop_frame(&b);
    vec_release(&phis);
    vec_release(&b.formals);
    vec_release(&b.all);
    map_release(&b.shadows);
    map_release(&b.tracked);
}

/* ---- tables */

static LLVMValueRef table(Tagging *t, const char *name, LLVMTypeRef type, LLVMValueRef *rows,
                          size_t n)
{
    LLVMValueRef array = LLVMConstArray2(type, rows, n);
    LLVMValueRef g = LLVMAddGlobal(t->w->module, LLVMTypeOf(array), name);
    LLVMSetInitializer(g, array);
    LLVMSetGlobalConstant(g, true);
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    return g;
}

static LLVMValueRef zeroes(Woven *w, LLVMTypeRef type, uint64_t n)
{
    LLVMTypeRef array = LLVMArrayType2(type, n);
    LLVMValueRef g = LLVMAddGlobal(w->module, array, "sundew.tags.count");
    LLVMSetInitializer(g, LLVMConstNull(array));
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    return g;
}

static LLVMValueRef table_of_interest(Tagging *t)
{
    Woven *w = t->w;
    LLVMValueRef bytes =
        LLVMConstStringInContext2(w->ctx, (const char *)t->on.items, t->on.len, true);
    LLVMValueRef g = LLVMAddGlobal(w->module, LLVMTypeOf(bytes), "sundew.tags.on");
    LLVMSetInitializer(g, bytes);
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    return g;
}

static void write_tables(Tagging *t)
{
    Woven *w = t->w;
    LLVMTypeRef types[] = { w->ptr, w->ptr, w->ptr, w->ptr, w->ptr, w->ptr, w->i64, w->i64 };
    LLVMTypeRef type = LLVMStructTypeInContext(w->ctx, types, 8, false);
    LLVMValueRef fields[] = {
        table(t, "sundew.tags.params", t->row_param, t->params.items, t->params.len),
        table(t, "sundew.tags.sites", t->row_site, t->sites.items, t->sites.len),
        table(t, "sundew.tags.functions", t->row_function, t->functions.items, t->functions.len),
        table_of_interest(t),
        t->calls ? t->calls : LLVMConstNull(w->ptr),
        t->blocks ? t->blocks : LLVMConstNull(w->ptr),
        i64(w, t->params.len),
        i64(w, t->functions.len),
    };
    LLVMValueRef g = LLVMAddGlobal(w->module, type, "sundew_tag_tables");
    LLVMSetInitializer(g, LLVMConstNamedStruct(type, fields, 8));
    LLVMSetGlobalConstant(g, true);
    LLVMSetVisibility(g, LLVMHiddenVisibility);
}

static void make_rows(Tagging *t)
{
    Woven *w = t->w;
    LLVMTypeRef param[] = { w->ptr, w->ptr, w->i32, w->i32 };
    LLVMTypeRef place[] = { w->ptr, w->ptr, w->i64 };
    LLVMTypeRef function[] = { w->ptr, w->i32, w->i32 };
    t->row_param = LLVMStructTypeInContext(w->ctx, param, 4, false);
    t->row_site = LLVMStructTypeInContext(w->ctx, place, 3, false);
    t->row_function = LLVMStructTypeInContext(w->ctx, function, 3, false);
}

/* As many as there can be: the number of functions and blocks. */
static void make_counters(Tagging *t)
{
    uint64_t functions = 0, blocks = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(t->w->module); f; f = LLVMGetNextFunction(f)) {
        functions++;
        blocks += LLVMCountBasicBlocks(f);
    }
    t->calls = zeroes(t->w, t->w->i64, functions + 1);
    t->blocks = zeroes(t->w, t->w->i8, blocks + 1);
}

/* ---- the weave */

static bool can_be_woven(LLVMValueRef fn)
{
    return !LLVMIsDeclaration(fn) && !weave_has(fn, "naked") && !weave_has(fn, "noduplicate") &&
           LLVMGetLinkage(fn) != LLVMAvailableExternallyLinkage &&
           LLVMGetFunctionCallConv(fn) != LLVMX86INTRCallConv;
}

static bool is_supported(Woven *w, Err *err)
{
    static const char *const odd[] = { "swapcontext", "makecontext" };
    if (LLVMPointerSize(w->layout) != 8)
        return err_set(err, "tags need a program of 64 bits");
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        LLVMValueRef f = LLVMGetNamedFunction(w->module, odd[i]);
        if (f && LLVMGetFirstUse(f))
            return err_set(err, "the program switches stacks (%s), which tags can't follow",
                           odd[i]);
    }
    return true;
}

bool weave_tags(Woven *w, const TagPlan *plan, Err *err)
{
    Tagging t = { .w = w, .plan = *plan };
    size_t n;
    const Function *const *all = program_functions(w->program, &n);
    if (!is_supported(w, err))
        return false;
    weave_redirect(w, "realloc", "sundew_tags_realloc");
    weave_redirect(w, "reallocarray", "sundew_tags_reallocarray");
    make_rows(&t);
    if (plan->counts)
        make_counters(&t);
    for (size_t i = 0; i < n; i++) {
        LLVMValueRef value = LLVMGetNamedFunction(w->module, all[i]->symbol);
        if (value && can_be_woven(value))
            weave_function(&t, all[i], value);
    }
    write_tables(&t);
    LLVMTypeRef type = LLVMFunctionType(w->void_, NULL, 0, false);
    weave_add_first_constructor(w, weave_declare(w, "sundew_tags_start", type));
    vec_release(&t.params);
    vec_release(&t.sites);
    vec_release(&t.functions);
    vec_release(&t.on);
    map_release(&t.site_at);
    map_release(&t.texts);
    return true;
}

void weave_tags_figures(const Woven *w, size_t *params, size_t *functions)
{
    *params = w->ntagged;
    *functions = w->ntagging;
}
