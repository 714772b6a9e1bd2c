/*
 * The weave of events: see weave.h and runtime/events/events.h.
 *
 * A boundary is a call that waits for an event. Functions that may come to a
 * boundary are *waiting* functions. The state of the program includes what these
 * keep in registers and on the stack while they wait, so each call that may
 * come to a boundary is surrounded:
 *
 *     int n = 0;                              sundew.live.7 = n;
 *     for (;;) {                              sundew_event_local(buffer, 80);
 *         int key = getch();          ─▶      key = sundew_event_getch();
 *         n += key == '+';                    sundew_event_leave(1);
 *     }                                       sundew.live.7 = 0;
 *
 * In a function that can wait at several calls, a number says at which it does. Only values that are used behind the call are told: the module is in SSA form,
 * so a variable that is overwritten before it is read is no state.
 */
#include "runtime/concolic/concolic.h"
#include "runtime/events/events.h"
#include "weave/weave_int.h"
#include <assert.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>

typedef Vec(LLVMValueRef) Values;

typedef struct Eventing {
    Woven *w;
    json_t *objects;
    EventsFigures *figures;
    Map boundaries, waiting;         /* functions, by address */
    bool pointers_wait;              /* a call through a pointer may come to a boundary */
    Values table, slots;             /* globals of the state; of them, for values */
    LLVMValueRef local, leave, jump, landed;
    unsigned nslots;
} Eventing;

static const char *name_of(LLVMValueRef v)
{
    size_t n;
    return LLVMGetValueName2(v, &n);
}

static bool has(const Map *m, LLVMValueRef v) { return map_getn(m, &v, sizeof v) != NULL; }

static bool put(Map *m, LLVMValueRef v) { return map_putn(m, &v, sizeof v, m); }

/* ---- boundaries: functions that wait, and the adapters that take their place */

static const char *const adapters[] = {
#define NAME(f) #f,
    SUNDEW_EVENT_ADAPTERS(NAME)
#undef NAME
};
static const char *const helpers[] = {
#define NAME(f) #f,
    SUNDEW_EVENT_HELPERS(NAME)
#undef NAME
};

/* sundew_event() is the user's own mark; the program has a body for it, to run without us. */
static void redirect(Eventing *g, const char *name, bool waits, Map *needed)
{
    LLVMValueRef f = LLVMGetNamedFunction(g->w->module, name);
    bool mark = !strcmp(name, "sundew_event");
    if (!f || (!LLVMIsDeclaration(f) && !mark) || !LLVMGetFirstUse(f))
        return;
    char *own = xprintf("sundew_event_%s", mark ? "mark" : name);
    LLVMValueRef to = weave_declare(g->w, own, LLVMGlobalGetValueType(f));
    LLVMReplaceAllUsesWith(f, to);
    map_put(needed, own, waits ? g : NULL);
    free(own);
}

static bool redirect_all(Eventing *g, const char *libexec, Err *err)
{
    Map needed = { 0 };
    for (size_t i = 0; i < sizeof adapters / sizeof *adapters; i++)
        redirect(g, adapters[i], true, &needed);
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
        redirect(g, helpers[i], false, &needed);
    char *path = xprintf("%s/runtime/adapters.bc", libexec);
    bool ok = weave_link_only(g->w, path, &needed, err);
    for (size_t i = 0; ok && i < needed.len; i++)
        if (needed.entries[i].value)           /* the link gave it another address */
            put(&g->boundaries, LLVMGetNamedFunction(g->w->module, needed.entries[i].key));
    free(path);
    map_release(&needed);
    return ok;
}

/* ---- waiting functions */

static LLVMValueRef callee_of(LLVMValueRef i)
{
    return LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
}

/* May this instruction come to a boundary? */
static bool may_wait(const Eventing *g, LLVMValueRef i)
{
    LLVMValueRef f = callee_of(i);
    if (!f || LLVMIsAInlineAsm(f))
        return false;
    if (!LLVMIsAFunction(f))
        return g->pointers_wait;
    return has(&g->boundaries, f) || has(&g->waiting, f);
}

static bool is_ours(LLVMValueRef f) { return str_starts(name_of(f), "sundew_"); }

static bool waits(const Eventing *g, LLVMValueRef f)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (may_wait(g, i))
                return true;
    return false;
}

static void find_waiting(Eventing *g)
{
    for (bool more = true; more;) {
        more = false;
        for (LLVMValueRef f = LLVMGetFirstFunction(g->w->module); f; f = LLVMGetNextFunction(f)) {
            if (LLVMIsDeclaration(f) || is_ours(f) || has(&g->waiting, f) || !waits(g, f))
                continue;
            put(&g->waiting, f);
            more = true;
            if (llvm_is_address_taken(f))
                g->pointers_wait = true;
        }
    }
}

/* ---- liveness, of one function */

typedef struct Live {
    LLVMValueRef fn;
    Map blocks;                      /* block ─▶ its number + 1 */
    Vec(LLVMBasicBlockRef) all;
    Vec(uint32_t) * before;           /* predecessors of each */
    uint32_t *in, *out;              /* the last value (stamp) that was live there */
    uint32_t stamp;
} Live;

static uint32_t block_number(const Live *l, LLVMBasicBlockRef b)
{
    return (uint32_t)(uintptr_t)map_getn(&l->blocks, &b, sizeof b) - 1;
}

static void live_new(Live *l, LLVMValueRef fn)
{
    l->fn = fn;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b)) {
        vec_push(&l->all, b);
        map_putn(&l->blocks, &b, sizeof b, (void *)(uintptr_t)l->all.len);
    }
    l->before = xcalloc(l->all.len, sizeof *l->before);
    l->in = xcalloc(l->all.len, sizeof *l->in);
    l->out = xcalloc(l->all.len, sizeof *l->out);
    for (uint32_t i = 0; i < l->all.len; i++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(l->all.items[i]);
        for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++)
            vec_push(&l->before[block_number(l, LLVMGetSuccessor(end, k))], i);
    }
}

static void live_release(Live *l)
{
    for (size_t i = 0; i < l->all.len; i++)
        vec_release(&l->before[i]);
    free(l->before);
    free(l->in);
    free(l->out);
    vec_release(&l->all);
    map_release(&l->blocks);
}

/* Where is `v` live? `home`: the block that makes it, UINT32_MAX for an argument. */
static void live_find(Live *l, LLVMValueRef v, uint32_t home)
{
    Vec(uint32_t) todo = { 0 };
    l->stamp++;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        if (!LLVMIsAInstruction(i))
            continue;
        if (!LLVMIsAPHINode(i)) {
            uint32_t b = block_number(l, LLVMGetInstructionParent(i));
            if (b != home)
                vec_push(&todo, b);
            continue;
        }
        for (unsigned k = 0; k < LLVMCountIncoming(i); k++)
            if (LLVMGetIncomingValue(i, k) == v) {
                uint32_t b = block_number(l, LLVMGetIncomingBlock(i, k));
                l->out[b] = l->stamp;
                if (b != home)
                    vec_push(&todo, b);
            }
    }
    while (todo.len) {
        uint32_t b = todo.items[--todo.len];
        if (l->in[b] == l->stamp)
            continue;
        l->in[b] = l->stamp;
        for (size_t k = 0; k < l->before[b].len; k++) {
            uint32_t p = l->before[b].items[k];
            l->out[p] = l->stamp;
            if (p != home)
                vec_push(&todo, p);
        }
    }
    vec_release(&todo);
}

/* Is `a` before `b` in their block? */
static bool is_before(LLVMValueRef a, LLVMValueRef b)
{
    for (LLVMValueRef i = LLVMGetNextInstruction(a); i; i = LLVMGetNextInstruction(i))
        if (i == b)
            return true;
    return false;
}

static bool is_used_behind(LLVMValueRef v, LLVMValueRef call)
{
    LLVMBasicBlockRef b = LLVMGetInstructionParent(call);
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        if (LLVMIsAInstruction(i) && !LLVMIsAPHINode(i) && LLVMGetInstructionParent(i) == b &&
            is_before(call, i))
            return true;
    }
    return false;
}

/* After live_find(): is it kept while the call is under way? */
static bool is_kept(const Live *l, LLVMValueRef v, LLVMValueRef call, uint32_t home)
{
    uint32_t b = block_number(l, LLVMGetInstructionParent(call));
    bool there = home == UINT32_MAX || (home == b ? is_before(v, call) : l->in[b] == l->stamp);
    return there && (l->out[b] == l->stamp || is_used_behind(v, call));
}

/* ---- telling of what a waiting function keeps */

static bool is_told(LLVMValueRef v)
{
    switch (LLVMGetTypeKind(LLVMTypeOf(v))) {
    case LLVMIntegerTypeKind:
    case LLVMPointerTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind: return !LLVMIsAAllocaInst(v);
    default: return false;
    }
}

static void go_to(Eventing *g, LLVMValueRef before)
{
    LLVMMetadataRef line = LLVMInstructionGetDebugLoc(before);
    LLVMValueRef fn = LLVMGetBasicBlockParent(LLVMGetInstructionParent(before));
    LLVMPositionBuilderBefore(g->w->builder, before);
    LLVMSetCurrentDebugLocation2(g->w->builder, line ? line : weave_line_of(g->w, fn));
}

static LLVMValueRef add_slot(Eventing *g, LLVMTypeRef type)
{
    char name[40];
    snprintf(name, sizeof name, "sundew.live.%u", g->nslots++);
    LLVMValueRef slot = LLVMAddGlobal(g->w->module, type, name);
    LLVMSetInitializer(slot, LLVMConstNull(type));
    LLVMSetVisibility(slot, LLVMHiddenVisibility);
    vec_push(&g->slots, slot);
    return slot;
}

/* A variable of ours, `slot`, holds the value while `call` is under way. */
static void keep_in(Eventing *g, LLVMValueRef slot, LLVMValueRef v, LLVMValueRef call)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    go_to(g, call);
    LLVMBuildStore(g->w->builder, v, slot);
    go_to(g, LLVMGetNextInstruction(call));
    LLVMBuildStore(g->w->builder, LLVMConstNull(type), slot);
}

static void keep_value(Eventing *g, LLVMValueRef v, LLVMValueRef call)
{
    keep_in(g, add_slot(g, LLVMTypeOf(v)), v, call);
}

/* Where the function waits is state, too: each of its calls has a number. */
static void keep_places(Eventing *g, const Values *calls)
{
    if (calls->len < 2)
        return;
    LLVMValueRef slot = add_slot(g, g->w->i32);
    for (size_t c = 0; c < calls->len; c++)
        keep_in(g, slot, weave_int(g->w, g->w->i32, c + 1), calls->items[c]);
}

static void keep_values(Eventing *g, LLVMValueRef fn, const Values *calls)
{
    Live l = { 0 };
    Values all = { 0 };
    live_new(&l, fn);
    for (LLVMValueRef a = LLVMGetFirstParam(fn); a; a = LLVMGetNextParam(a))
        vec_push(&all, a);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            vec_push(&all, i);
    for (size_t k = 0; k < all.len; k++) {
        LLVMValueRef v = all.items[k];
        bool argument = LLVMIsAArgument(v) != NULL;
        if (!is_told(v) || !LLVMGetFirstUse(v))
            continue;
        uint32_t home = argument ? UINT32_MAX : block_number(&l, LLVMGetInstructionParent(v));
        live_find(&l, v, home);
        for (size_t c = 0; c < calls->len; c++)
            if (calls->items[c] != v && is_kept(&l, v, calls->items[c], home))
                keep_value(g, v, calls->items[c]);
    }
    vec_release(&all);
    live_release(&l);
}

static uint64_t size_of_local(const Eventing *g, LLVMValueRef alloca)
{
    LLVMValueRef n = LLVMGetOperand(alloca, 0);
    uint64_t count = LLVMIsAConstantInt(n) ? LLVMConstIntGetZExtValue(n) : 0;
    return count * LLVMABISizeOfType(g->w->layout, LLVMGetAllocatedType(alloca));
}

static void keep_locals(Eventing *g, const Values *locals, LLVMValueRef call)
{
    Woven *w = g->w;
    uint32_t n = 0;
    go_to(g, call);
    for (size_t i = 0; i < locals->len; i++) {
        uint64_t size = size_of_local(g, locals->items[i]);
        LLVMValueRef args[] = { locals->items[i], weave_int(w, w->i64, size) };
        if (!size)
            continue;
        weave_call(w, g->local, args, 2);
        n++;
    }
    if (!n)
        return;
    LLVMValueRef count = weave_int(w, w->i32, n);
    go_to(g, LLVMGetNextInstruction(call));
    weave_call(w, g->leave, &count, 1);
}

/* What nobody has written is not by chance (a stack's old bytes hold addresses and guards of this
 * start): two starts of the program are in the same state. */
static void clear_locals(Eventing *g, LLVMValueRef fn)
{
    Woven *w = g->w;
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(fn);
    Values locals = { 0 };
    for (LLVMValueRef i = LLVMGetFirstInstruction(entry); i; i = LLVMGetNextInstruction(i))
        if (LLVMIsAAllocaInst(i) && size_of_local(g, i))
            vec_push(&locals, i);
    weave_go_to_entry(w, fn);
    for (size_t i = 0; i < locals.len; i++)
        LLVMBuildMemSet(w->builder, locals.items[i], weave_int(w, w->i8, 0),
                        weave_int(w, w->i64, size_of_local(g, locals.items[i])), 1);
    vec_release(&locals);
}

/* The runtime is told of jump buffers: parts of them are hidden by a secret of this start, and
 * functions that a jump leaves wait no more. */
static void tell_jumps(Eventing *g, LLVMValueRef fn)
{
    static const char *const names[] = { "setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp" };
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef f = LLVMIsACallInst(i) ? callee_of(i) : NULL;
            for (unsigned k = 0; f && LLVMIsAFunction(f) && k < 4; k++)
                if (!strcmp(name_of(f), names[k])) {
                    LLVMValueRef buffer = LLVMGetOperand(i, 0);
                    go_to(g, i);
                    weave_call(g->w, g->jump, &buffer, 1);
                    go_to(g, LLVMGetNextInstruction(i));
                    weave_call(g->w, g->landed, &buffer, 1);
                }
        }
}

static void surround(Eventing *g, LLVMValueRef fn)
{
    Values calls = { 0 }, locals = { 0 };
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (may_wait(g, i)) {
                LLVMValueRef f = callee_of(i);
                g->figures->boundaries += LLVMIsAFunction(f) && has(&g->boundaries, f);
                if (LLVMIsTailCall(i) && LLVMGetTailCallKind(i) == LLVMTailCallKindMustTail)
                    g->figures->lost++;
                else
                    vec_push(&calls, i);
            } else if (LLVMIsAAllocaInst(i)) {
                vec_push(&locals, i);
                g->figures->lost += !LLVMIsAConstantInt(LLVMGetOperand(i, 0));
            }
        }
    keep_values(g, fn, &calls);
    keep_places(g, &calls);
    for (size_t i = 0; i < calls.len; i++) {
        keep_locals(g, &locals, calls.items[i]);
        LLVMSetTailCall(calls.items[i], false);
    }
    vec_release(&calls);
    vec_release(&locals);
}

/* ---- loads whose value goes nowhere but back, or to the screen */

/* Functions whose arguments are shown, and not kept. */
static const char *const shown[] = {
    "printf",        "puts",     "putchar",   "fprintf",   "fputs",   "fputc",     "putc",
    "fwrite",        "vprintf",  "vfprintf",  "perror",    "syslog",  "fflush",    "printw",
    "mvprintw",      "wprintw",  "mvwprintw", "addch",     "mvaddch", "waddch",    "mvwaddch",
    "addstr",        "mvaddstr", "waddstr",   "mvwaddstr", "addnstr", "mvaddnstr", "waddnstr",
    "mvwaddnstr",    "wmove",    "move",      "wrefresh",  "refresh", "wattr_on",  "wattr_off",
    "hline",         "vline",    "whline",    "wvline",    "mvhline", "mvvline",   "__printf_chk",
    "__fprintf_chk",
};

static bool is_shown_by(LLVMValueRef f)
{
    for (size_t i = 0; f && LLVMIsAFunction(f) && i < sizeof shown / sizeof *shown; i++)
        if (!strcmp(name_of(f), shown[i]))
            return true;
    return false;
}

/* Do two addresses name the same place, by their look? */
static bool is_same_place(LLVMValueRef a, LLVMValueRef b)
{
    if (a == b)
        return true;
    if (!LLVMIsAGetElementPtrInst(a) || !LLVMIsAGetElementPtrInst(b) ||
        LLVMGetNumOperands(a) != LLVMGetNumOperands(b) ||
        LLVMGetGEPSourceElementType(a) != LLVMGetGEPSourceElementType(b))
        return false;
    for (int i = 0; i < LLVMGetNumOperands(a); i++)
        if (LLVMGetOperand(a, (unsigned)i) != LLVMGetOperand(b, (unsigned)i))
            return false;
    return true;
}

static bool is_arithmetic(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMSIToFP:
    case LLVMUIToFP: return true;
    default: return false;
    }
}

enum { DEEP = 6 };                   /* steps of arithmetic that are followed */

/* Only stored back to `at`, or shown: nothing depends on it. */
static bool goes_nowhere(LLVMValueRef v, LLVMValueRef at, unsigned depth)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        if (LLVMIsAStoreInst(i) && LLVMGetOperand(i, 0) == v &&
            is_same_place(LLVMGetOperand(i, 1), at))
            continue;
        if (LLVMIsACallInst(i) && is_shown_by(LLVMGetCalledValue(i)) &&
            LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMPointerTypeKind)
            continue;
        if (depth && LLVMIsAInstruction(i) && is_arithmetic(i) && goes_nowhere(i, at, depth - 1))
            continue;
        return false;
    }
    return true;
}

static bool is_plain_load(LLVMValueRef i)
{
    return !LLVMGetVolatile(i) && goes_nowhere(i, LLVMGetOperand(i, 0), DEEP);
}

/* Does the value come from a plain load of the place? x += 1. */
static bool comes_from(LLVMValueRef v, LLVMValueRef at, unsigned depth)
{
    if (LLVMIsALoadInst(v))
        return is_same_place(LLVMGetOperand(v, 0), at) && is_plain_load(v);
    if (!depth || !LLVMIsAInstruction(v) || !is_arithmetic(v))
        return false;
    for (int i = 0; i < LLVMGetNumOperands(v); i++)
        if (comes_from(LLVMGetOperand(v, (unsigned)i), at, depth - 1))
            return true;
    return false;
}

/* Is there no code that reads this variable? */
static bool is_dead(LLVMValueRef p, unsigned depth)
{
    for (LLVMUseRef u = LLVMGetFirstUse(p); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        if (LLVMIsALoadInst(i) && is_plain_load(i))
            continue;
        if (LLVMIsAStoreInst(i) && LLVMGetOperand(i, 0) != p && !LLVMGetVolatile(i))
            continue;
        bool step = LLVMIsAGetElementPtrInst(i) ||
                    (LLVMIsAConstantExpr(i) && LLVMGetConstOpcode(i) == LLVMGetElementPtr);
        if (depth && step && is_dead(i, depth - 1))
            continue;
        return false;
    }
    return true;
}

/* ---- the table */

static bool is_state(LLVMValueRef v)
{
    const char *name = name_of(v);
    return !LLVMIsDeclaration(v) && !LLVMIsGlobalConstant(v) && !LLVMIsThreadLocal(v) &&
           !str_starts(name, "llvm.") && !str_starts(name, "sundew_");
}

static uint64_t size_of(const Eventing *g, LLVMValueRef v)
{
    LLVMTypeRef t = LLVMGlobalGetValueType(v);
    return LLVMTypeIsSized(t) ? LLVMABISizeOfType(g->w->layout, t) : 0;
}

static void add_object(Eventing *g, LLVMValueRef v, bool value)
{
    uint64_t size = size_of(g, v);
    if (!size)
        return;
    vec_push(&g->table, v);
    json_array_append_new(g->objects, json_pack("{s:o,s:I,s:b,s:b}", "name", json_text(name_of(v)),
                                                "size", (json_int_t)size, "value", value, "dead",
                                                !value && is_dead(v, 4)));
}

static void find_objects(Eventing *g)
{
    for (LLVMValueRef v = LLVMGetFirstGlobal(g->w->module); v; v = LLVMGetNextGlobal(v)) {
        if (LLVMIsThreadLocal(v) && !LLVMIsDeclaration(v))
            g->figures->thread_local_ = true;
        if (is_state(v) && !str_starts(name_of(v), "sundew.live."))
            add_object(g, v, false);
    }
    for (size_t i = 0; i < g->slots.len; i++)
        add_object(g, g->slots.items[i], true);
}

static void make_table(Eventing *g)
{
    Woven *w = g->w;
    LLVMTypeRef fields[] = { w->ptr, w->i64 };
    LLVMTypeRef row = LLVMStructTypeInContext(w->ctx, fields, 2, false);
    Values rows = { 0 };
    for (size_t i = 0; i < g->table.len; i++) {
        LLVMValueRef v[] = { g->table.items[i],
                             weave_int(w, w->i64, size_of(g, g->table.items[i])) };
        vec_push(&rows, LLVMConstNamedStruct(row, v, 2));
    }
    LLVMValueRef all = LLVMConstArray2(row, rows.items, rows.len);
    LLVMValueRef table = LLVMAddGlobal(w->module, LLVMTypeOf(all), "sundew_event_objects");
    LLVMSetInitializer(table, all);
    LLVMSetGlobalConstant(table, true);
    LLVMSetVisibility(table, LLVMHiddenVisibility);
    LLVMValueRef n = LLVMAddGlobal(w->module, w->i64, "sundew_event_nobjects");
    LLVMSetInitializer(n, weave_int(w, w->i64, rows.len));
    LLVMSetGlobalConstant(n, true);
    LLVMSetVisibility(n, LLVMHiddenVisibility);
    vec_release(&rows);
}

/* ---- a function as a loop */

/* At its entry: the pointers that it got, and the loop takes over. */
static bool hook_loop(Eventing *g, const char *symbol, Err *err)
{
    Woven *w = g->w;
    LLVMValueRef fn = LLVMGetNamedFunction(w->module, symbol);
    if (!fn || LLVMIsDeclaration(fn))
        return err_set(err, "there is no function %s", symbol);
    LLVMValueRef reached =
        weave_declare(w, "sundew_event_reached", LLVMFunctionType(w->void_, NULL, 0, false));
    LLVMValueRef offered =
        weave_declare(w, "sundew_event_offered",
                      LLVMFunctionType(w->void_, (LLVMTypeRef[]){ w->i32, w->ptr }, 2, false));
    weave_go_to_entry(w, fn);
    unsigned n = 0;
    for (LLVMValueRef a = LLVMGetFirstParam(fn); a && n < SUNDEW_LOOP_ARGUMENTS;
         a = LLVMGetNextParam(a), n++)
        if (LLVMGetTypeKind(LLVMTypeOf(a)) == LLVMPointerTypeKind) {
            LLVMValueRef args[] = { weave_int(w, w->i32, n), a };
            weave_call(w, offered, args, 2);
        }
    weave_call(w, reached, NULL, 0);
    put(&g->boundaries, fn);
    return true;
}

bool weave_events(Woven *w, const char *loop, const char *libexec, json_t *objects,
                  EventsFigures *figures, Err *err)
{
    Eventing g = { .w = w, .objects = objects, .figures = figures };
    assert(objects && figures);
    LLVMTypeRef types[] = { w->ptr, w->i64 };
    g.local = weave_declare(w, "sundew_event_local", LLVMFunctionType(w->void_, types, 2, false));
    g.leave = weave_declare(w, "sundew_event_leave", LLVMFunctionType(w->void_, &w->i32, 1, false));
    g.jump = weave_declare(w, "sundew_event_jump", LLVMFunctionType(w->void_, &w->ptr, 1, false));
    g.landed =
        weave_declare(w, "sundew_event_landed", LLVMFunctionType(w->void_, &w->ptr, 1, false));
    *figures = (EventsFigures){ 0 };
    bool ok = (!loop || hook_loop(&g, loop, err)) && redirect_all(&g, libexec, err);
    if (ok) {
        find_waiting(&g);
        for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = LLVMGetNextFunction(f))
            if (has(&g.waiting, f))
                surround(&g, f);
        for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = LLVMGetNextFunction(f))
            if (LLVMGetFirstBasicBlock(f) && !is_ours(f)) {
                clear_locals(&g, f);
                tell_jumps(&g, f);
            }
        find_objects(&g);
        make_table(&g);
    }
    map_release(&g.boundaries);
    map_release(&g.waiting);
    vec_release(&g.table);
    vec_release(&g.slots);
    return ok;
}

/* ---- accesses */

typedef struct Watching {
    Woven *w;
    LLVMValueRef access, object;
} Watching;

static LLVMValueRef base_of(LLVMValueRef p)
{
    while (LLVMIsAGetElementPtrInst(p) ||
           (LLVMIsAConstantExpr(p) && LLVMGetConstOpcode(p) == LLVMGetElementPtr))
        p = LLVMGetOperand(p, 0);
    return p;
}

static bool may_be_state(LLVMValueRef p)
{
    LLVMValueRef base = base_of(p);
    if (LLVMIsAGlobalVariable(base))
        return !LLVMIsGlobalConstant(base) && !LLVMIsThreadLocal(base) &&
               !str_starts(name_of(base), "sundew");
    return !LLVMIsAFunction(base) && !LLVMIsAConstantPointerNull(base);
}

static void watch(Watching *g, LLVMValueRef i, LLVMValueRef at, LLVMValueRef size, uint32_t how)
{
    Woven *w = g->w;
    if (!may_be_state(at))
        return;
    LLVMMetadataRef line = LLVMInstructionGetDebugLoc(i);
    LLVMPositionBuilderBefore(w->builder, i);
    LLVMSetCurrentDebugLocation2(w->builder,
                                 line ? line
                                      : weave_line_of(w, LLVMGetBasicBlockParent(
                                                             LLVMGetInstructionParent(i))));
    LLVMValueRef args[] = { at, size, weave_int(w, w->i32, how) };
    if (size) {
        weave_call(w, g->access, args, 3);
    } else {
        args[1] = args[2];
        weave_call(w, g->object, args, 2);
    }
}

static LLVMValueRef bytes_of(Watching *g, LLVMTypeRef t)
{
    return weave_int(g->w, g->w->i64,
                     LLVMTypeIsSized(t) ? LLVMStoreSizeOfType(g->w->layout, t) : 1);
}

/* memcpy() and its kin as LLVM knows them. */
static bool watch_intrinsic(Watching *g, LLVMValueRef i, const char *name)
{
    bool copy = str_starts(name, "llvm.memcpy.") || str_starts(name, "llvm.memmove.");
    if (!copy && !str_starts(name, "llvm.memset."))
        return str_starts(name, "llvm.");
    LLVMValueRef n = LLVMGetOperand(i, 2);
    if (LLVMTypeOf(n) != g->w->i64)
        n = NULL;
    if (copy)
        watch(g, i, LLVMGetOperand(i, 1), n, SUNDEW_EVENT_READ);
    watch(g, i, LLVMGetOperand(i, 0), n, SUNDEW_EVENT_TOUCHED);
    return true;
}

/* Code that is not woven may read and write all that its arguments lead to. */
static void watch_call(Watching *g, LLVMValueRef i)
{
    LLVMValueRef f = LLVMGetCalledValue(i);
    if (LLVMIsAInlineAsm(f) || (LLVMIsAFunction(f) && !LLVMIsDeclaration(f)))
        return;
    const char *name = LLVMIsAFunction(f) ? name_of(f) : "";
    if (str_starts(name, "sundew_") || watch_intrinsic(g, i, name) || is_shown_by(f) ||
        !strcmp(name, "free"))
        return;
    for (unsigned k = 0; k < LLVMGetNumArgOperands(i); k++) {
        LLVMValueRef a = LLVMGetOperand(i, k);
        if (LLVMGetTypeKind(LLVMTypeOf(a)) == LLVMPointerTypeKind)
            watch(g, i, a, NULL, SUNDEW_EVENT_READ | SUNDEW_EVENT_TOUCHED);
    }
}

static void watch_instruction(Watching *g, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
        if (!is_plain_load(i))
            watch(g, i, LLVMGetOperand(i, 0), bytes_of(g, LLVMTypeOf(i)), SUNDEW_EVENT_READ);
        break;
    case LLVMStore: {
        LLVMValueRef v = LLVMGetOperand(i, 0), at = LLVMGetOperand(i, 1);
        watch(g, i, at, bytes_of(g, LLVMTypeOf(v)),
              comes_from(v, at, DEEP) ? SUNDEW_EVENT_UPDATED : SUNDEW_EVENT_TOUCHED);
        break;
    }
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: {
        LLVMValueRef n = bytes_of(g, LLVMTypeOf(LLVMGetOperand(i, 1)));
        watch(g, i, LLVMGetOperand(i, 0), n, SUNDEW_EVENT_READ);
        watch(g, i, LLVMGetOperand(i, 0), n, SUNDEW_EVENT_TOUCHED);
        break;
    }
    case LLVMCall: watch_call(g, i); break;
    default: break;
    }
}

void weave_event_accesses(Woven *w)
{
    LLVMTypeRef types[] = { w->ptr, w->i64, w->i32 }, two[] = { w->ptr, w->i32 };
    Watching g = { .w = w };
    g.access = weave_declare(w, "sundew_event_access", LLVMFunctionType(w->void_, types, 3, false));
    g.object = weave_declare(w, "sundew_event_object", LLVMFunctionType(w->void_, two, 2, false));
    for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = LLVMGetNextFunction(f)) {
        Values all = { 0 };
        if (LLVMIsDeclaration(f))
            continue;
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                vec_push(&all, i);
        for (size_t k = 0; k < all.len; k++)
            watch_instruction(&g, all.items[k]);
        vec_release(&all);
    }
}

void weave_heap_books(Woven *w)
{
#define REDIRECT(f) weave_redirect(w, #f, "sundew_" #f);
    SUNDEW_CONCOLIC_REDIRECTED(REDIRECT)
#undef REDIRECT
}
