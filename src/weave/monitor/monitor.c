/*
 * Monitoring: which functions, and the probes at their entries and ends.
 *
 * runtime/monitor/monitor.h says in C what a probe does. Here it is three functions for
 * each function f of row r:
 *
 *     f.enter(args, locals)    always inlined: the test of modes[r]
 *     f.entered(args, locals)  cold, never inlined: fills the frame
 *     f.leave()                always inlined: the test again
 *
 * What costs is not the test but what LLVM does not do on account of it. So:
 *
 *   - While the program is optimised f.enter and f.leave are declarations, of
 *     no weight to the inliner. It decides as it would without them. Where f
 *     is inlined its probes go along, so that f still has a frame.
 *   - That is so for functions with one call, which may be large. A small
 *     function has only f.enter in its copies: half the cost, and the names of the
 *     machine's stack tell later whether it was still there (see is_copied()).
 *     Others get their probes when all is done, if they are still functions.
 *     Monitoring every inlined getter made jq 1.8 times slower.
 *   - The probes say to LLVM that they only read the program's memory, so that
 *     it may keep values in registers across them. (The runtime writes its own
 *     memory, which the program can't see, and the modes, for which an older
 *     value will do.)
 *   - f.entered preserves nearly all registers, so that the way around it costs
 *     f nothing.
 *
 * Skipped are functions that are trivial (a getter, a setter: four instructions,
 * one block, no call), and those that can't have a probe: naked, run
 * before the program is relocated, or copies of a function that is elsewhere.
 * With second chance, where nearly all functions are always off, also small ones
 * without calls and loops: their caller has a frame.
 */
#include "runtime/monitor/monitor.h"
#include "runtime/record/record.h"
#include "weave/monitor/monitor_int.h"
#include <assert.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_TRIVIAL = 4,            /* instructions */
    MOST_SMALL = 40,
    LEAST_COPIED = 16,           /* of a function with several calls */
    MOST_INLINED = 300,
};

/* ---- which functions */

static bool is_debug_call(LLVMValueRef i)
{
    size_t n;
    if (LLVMGetInstructionOpcode(i) != LLVMCall)
        return false;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(i), &n);
    return str_starts(name, "llvm.dbg.") || str_starts(name, "llvm.lifetime.");
}

static unsigned count_instructions(LLVMValueRef fn)
{
    unsigned n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            n += !is_debug_call(i);
    return n;
}

static bool is_trivial(LLVMValueRef fn)
{
    LLVMBasicBlockRef b = LLVMGetEntryBasicBlock(fn);
    unsigned n = 0;
    if (LLVMGetNextBasicBlock(b))
        return false;
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
        if (is_debug_call(i))
            continue;
        if (LLVMGetInstructionOpcode(i) == LLVMCall || ++n > MOST_TRIVIAL)
            return false;
    }
    return true;
}

/* Small, with neither call nor loop. */
static bool is_leaf(LLVMValueRef fn)
{
    Map seen = { 0 };
    bool leaf = true;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); leaf && b;
         b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        map_putn(&seen, &b, sizeof b, fn);
        for (unsigned i = 0; leaf && i < LLVMGetNumSuccessors(end); i++) {
            LLVMBasicBlockRef next = LLVMGetSuccessor(end, i);
            leaf = !map_getn(&seen, &next, sizeof next);       /* not back */
        }
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); leaf && i;
             i = LLVMGetNextInstruction(i)) {
            LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
            leaf = !callee || (LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee));
        }
    }
    map_release(&seen);
    return leaf;
}

/* A static function with one call is part of its caller after inlining, whatever
 * its size. */
static bool has_one_call(LLVMValueRef fn)
{
    LLVMUseRef u = LLVMGetFirstUse(fn);
    return LLVMGetLinkage(fn) == LLVMInternalLinkage && u && !LLVMGetNextUse(u) &&
           LLVMIsACallInst(LLVMGetUser(u)) && LLVMGetCalledValue(LLVMGetUser(u)) == fn;
}

static bool is_resolver(const Woven *w, LLVMValueRef fn)
{
    for (LLVMValueRef i = LLVMGetFirstGlobalIFunc(w->module); i; i = LLVMGetNextGlobalIFunc(i))
        if (LLVMGetGlobalIFuncResolver(i) == fn)
            return true;
    return false;
}

static bool can_have_probe(const Woven *w, LLVMValueRef fn)
{
    /* noduplicate: see needs_own_frame(). With a probe in front, the code generator
     * may duplicate the rest. */
    return !LLVMIsDeclaration(fn) && !weave_has(fn, "naked") && !weave_has(fn, "noduplicate") &&
           LLVMGetLinkage(fn) != LLVMAvailableExternallyLinkage &&
           LLVMGetFunctionCallConv(fn) != LLVMX86INTRCallConv && !is_resolver(w, fn);
}

static bool is_wanted(const MonitorPlan *plan, const Function *fn)
{
    if (!plan->only)
        return true;
    for (char *const *o = plan->only; *o; o++)
        if (strcmp(*o, fn->symbol) == 0 || strcmp(*o, fn->name) == 0)
            return true;
    return false;
}

/* A name that is nobody's is a mistake, also if there are others. */
static bool all_exist(const Woven *w, char *const *names, Err *err)
{
    size_t n;
    const Function *const *fns = program_functions(w->program, &n);
    for (; names && *names; names++) {
        bool found = false;
        for (size_t i = 0; i < n && !found; i++)
            found = fns[i]->defined &&
                    (strcmp(fns[i]->name, *names) == 0 || strcmp(fns[i]->symbol, *names) == 0);
        if (!found)
            return err_set(err,
                           "no function '%s' in this program "
                           "(sundew show functions lists them)",
                           *names);
    }
    return true;
}

/* ---- arguments and their slots */

static unsigned slots_for(const Woven *w, LLVMTypeRef type)
{
    uint64_t size = LLVMTypeIsSized(type) ? LLVMStoreSizeOfType(w->layout, type) : 0;
    return size > 8 * MOST_SLOTS ? MOST_SLOTS + 1 : (unsigned)((size + 7) / 8);
}

static void number_slots(Woven *w, Row *row)
{
    unsigned n = LLVMCountParams(row->value);
    row->slot_of = arena_array(&w->arena, unsigned, n + 1);
    for (unsigned i = 0; i < n && row->nslots <= MOST_SLOTS; i++) {
        row->slot_of[i] = row->nslots;
        row->nslots += slots_for(w, LLVMTypeOf(LLVMGetParam(row->value, i)));
    }
    row->slot_of[n] = row->nslots;
}

static void describe_params(Row *row)
{
    const Function *fn = row->fn;
    unsigned nargs = LLVMCountParams(row->value);
    for (unsigned i = 0; i < fn->nparams; i++) {
        const Param *p = &fn->params[i];
        SundewParam out = { .type = monitor_type_number(p->type) };
        unsigned end = p->first_arg + p->nargs;
        if (p->passing != PASSED_UNKNOWN && p->passing != PASSED_NOT_AT_ALL && end <= nargs) {
            assert(row->slot_of[p->first_arg] <= row->slot_of[end]);
            out.slot = (uint16_t)row->slot_of[p->first_arg];
            out.nslots = (uint16_t)(row->slot_of[end] - out.slot);
            out.by_copy = p->passing == PASSED_BY_COPY;
        }
        vec_push(&row->params, out);
    }
}

/* ---- stack objects */

static bool escapes(LLVMValueRef pointer, unsigned depth);

static bool use_escapes(LLVMValueRef user, LLVMValueRef pointer, unsigned depth)
{
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad:
    case LLVMICmp: return false;
    case LLVMStore: return LLVMGetOperand(user, 0) == pointer;
    case LLVMGetElementPtr:
    case LLVMBitCast: return depth > 8 || escapes(user, depth + 1);
    case LLVMCall: {
        LLVMValueRef callee = LLVMGetCalledValue(user);
        return !LLVMIsAFunction(callee) || !LLVMGetIntrinsicID(callee);
    }
    default: return true;
    }
}

static bool escapes(LLVMValueRef pointer, unsigned depth)
{
    for (LLVMUseRef u = LLVMGetFirstUse(pointer); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (!LLVMIsAInstruction(user) || use_escapes(user, pointer, depth))
            return true;
    }
    return false;
}

const Type *monitor_slot_type(const Woven *w, LLVMTypeRef t)
{
    while (LLVMGetTypeKind(t) == LLVMArrayTypeKind)
        t = LLVMGetElementType(t);
    if (LLVMGetTypeKind(t) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) == 8)
        return types_find(program_types(w->program), "char", 0);
    if (LLVMGetTypeKind(t) != LLVMStructTypeKind || !LLVMGetStructName(t))
        return NULL;
    char *name = xstrdup(LLVMGetStructName(t));
    char *dot = strchr(name, '.'), *number = strrchr(name, '.');
    if (dot && number != dot && number[1 + strspn(number + 1, "0123456789")] == 0)
        *number = 0;
    if (dot)
        *dot = ' ';
    const Type *type, *found = NULL;
    uint64_t size = LLVMABISizeOfType(w->layout, t);
    for (unsigned i = 0; !found && (type = types_find(program_types(w->program), name, i)); i++)
        if (type->size == size)
            found = type;
    free(name);
    return found;
}

/* Numbers and single pointers need no entry: their address has a type that says
 * their size. */
static bool is_worth_noting(LLVMTypeRef t)
{
    LLVMTypeKind k = LLVMGetTypeKind(t);
    return k == LLVMArrayTypeKind || k == LLVMStructTypeKind;
}

static void find_locals(Woven *w, Row *row)
{
    LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(row->value));
    for (; i && LLVMGetInstructionOpcode(i) == LLVMAlloca; i = LLVMGetNextInstruction(i)) {
        LLVMTypeRef t = LLVMGetAllocatedType(i);
        LLVMValueRef count = LLVMGetOperand(i, 0);
        if (!LLVMIsConstant(count) || LLVMConstIntGetZExtValue(count) != 1 || !is_worth_noting(t) ||
            !escapes(i, 0) || row->locals.len == MOST_LOCALS)
            continue;
        RowLocal *l = vec_grow(&row->locals);
        l->slot = i;
        l->local.size = (uint32_t)LLVMABISizeOfType(w->layout, t);
        l->local.type = monitor_type_number(monitor_slot_type(w, t));
    }
}

/* ---- probes */

static bool is_64_bits(const Woven *w)
{
    const char *target = LLVMGetTarget(w->module);
    return str_starts(target, "x86_64") || str_starts(target, "aarch64");
}

static LLVMValueRef stack_pointer(Woven *w)
{
    LLVMTypeRef type = LLVMFunctionType(w->ptr, NULL, 0, false);
    return weave_call(w, weave_declare(w, "llvm.stacksave.p0", type), NULL, 0);
}

/* Does its stack pointer move while it runs? */
static bool has_dynamic_stack(LLVMValueRef fn)
{
    bool entry = true;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b;
         b = LLVMGetNextBasicBlock(b), entry = false)
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMGetInstructionOpcode(i) == LLVMAlloca &&
                (!entry || !LLVMIsConstant(LLVMGetOperand(i, 0))))
                return true;
    return false;
}

/* NULL: nobody calls it any more. */
static LLVMValueRef find_probe(const Woven *w, const Row *row, const char *what)
{
    char *name = xprintf("sundew.%s.%s", what, row->fn->symbol);
    LLVMValueRef fn = LLVMGetNamedFunction(w->module, name);
    free(name);
    return fn;
}

static LLVMValueRef declare_probe(Woven *w, const Row *row, const char *what, LLVMTypeRef *types,
                                  unsigned n)
{
    char *name = xprintf("sundew.%s.%s", what, row->fn->symbol);
    LLVMValueRef fn = LLVMAddFunction(w->module, name, LLVMFunctionType(w->void_, types, n, false));
    free(name);
    weave_set_reads_only(w, fn, w->monitoring->recording);
    return fn;
}

/* What f.leave is handed besides: the result, if f is recorded. Where that is
 * written into the caller's memory, its address is; what does not fit into slots
 * is none. NULL: none. */
static LLVMTypeRef type_of_result(const Woven *w, const Row *row)
{
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(row->value));
    if (!w->monitoring->recording)
        return NULL;
    if (row->fn->returns_in_memory && row->nslots)
        return w->ptr;
    return LLVMGetTypeKind(type) == LLVMVoidTypeKind || slots_for(w, type) > SUNDEW_RESULT_SLOTS
               ? NULL
               : type;
}

static LLVMValueRef result_at(const Row *row, LLVMBasicBlockRef b)
{
    return row->fn->returns_in_memory ? LLVMGetParam(row->value, 0)
                                      : LLVMGetOperand(LLVMGetBasicBlockTerminator(b), 0);
}

/* Calls of f.enter(arguments, locals) and f.leave(), both with the stack pointer
 * if it moves. */
static void put_probes(Woven *w, Row *row)
{
    LLVMValueRef fn = row->value, sp = NULL;
    unsigned nargs = row->nslots ? LLVMCountParams(fn) : 0;
    unsigned n = nargs + (unsigned)row->locals.len;
    bool moves = row->moves = has_dynamic_stack(fn);
    LLVMTypeRef *types = arena_array(&w->arena, LLVMTypeRef, n + 1);
    LLVMValueRef *args = arena_array(&w->arena, LLVMValueRef, n + 1);
    for (unsigned i = 0; i < nargs; i++) {
        args[i] = LLVMGetParam(fn, i);
        types[i] = LLVMTypeOf(args[i]);
    }
    for (unsigned i = nargs; i < n; i++) {
        types[i] = w->ptr;
        args[i] = row->locals.items[i - nargs].slot;
    }
    types[n] = w->ptr;
    weave_go_to_entry(w, fn);
    if (moves)
        args[n] = sp = stack_pointer(w);
    LLVMTypeRef result = type_of_result(w, row);
    LLVMTypeRef leaving[] = { result ? result : w->ptr, w->ptr };
    unsigned more = result != NULL;
    row->enter = declare_probe(w, row, "enter", types, n + moves);
    weave_call_for_free(w, row->enter, args, n + moves);
    if (w->monitoring->plan.second_chance || row->copied)     /* see runtime/monitor/monitor.h */
        return;
    row->leave = declare_probe(w, row, "leave", leaving, more + moves);
    for (LLVMBasicBlockRef b = NULL; (b = weave_go_to_return(w, fn, b));) {
        LLVMValueRef with[] = { result ? result_at(row, b) : sp, sp };
        weave_call_for_free(w, row->leave, with, more + moves);
    }
}

/* Probes that went into other functions are another function's: f.copy instead of f.enter. */
static void part_copies(Woven *w, Row *row)
{
    Vec(LLVMValueRef) copies = { 0 };
    LLVMValueRef enter = find_probe(w, row, "enter");
    for (LLVMUseRef u = enter ? LLVMGetFirstUse(enter) : NULL; u; u = LLVMGetNextUse(u)) {
        LLVMValueRef call = LLVMGetUser(u);
        if (LLVMIsACallInst(call) &&
            LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)) != row->value)
            vec_push(&copies, call);
    }
    if (copies.len) {
        unsigned n = LLVMCountParams(enter);
        LLVMTypeRef *types = arena_array(&w->arena, LLVMTypeRef, n + 1);
        LLVMGetParamTypes(LLVMGlobalGetValueType(enter), types);
        row->copy = declare_probe(w, row, "copy", types, n);
    }
    for (size_t i = 0; i < copies.len; i++)
        LLVMSetOperand(copies.items[i], (unsigned)LLVMGetNumOperands(copies.items[i]) - 1,
                       row->copy);
    vec_release(&copies);
}

/* The function itself is left with a word, if it is still there. */
static void put_late_leave(Woven *w, Row *row)
{
    if (w->monitoring->plan.second_chance || !row->value || LLVMIsDeclaration(row->value) ||
        has_dynamic_stack(row->value))
        return;
    row->leave = declare_probe(w, row, "leave", NULL, 0);
    for (LLVMBasicBlockRef b = NULL; (b = weave_go_to_return(w, row->value, b));)
        weave_call_for_free(w, row->leave, NULL, 0);
}

/* ---- the bodies of the probes */

/* Out of line, and nearly without effect on its caller's registers. */
static void make_cold(Woven *w, LLVMValueRef fn)
{
    weave_set(w, fn, "noinline", 0);
    weave_set(w, fn, "cold", 0);
    weave_set_reads_only(w, fn, w->monitoring->recording);
    LLVMSetFunctionCallConv(fn, LLVMPreserveMostCallConv);
}

static LLVMValueRef byte_of_mode(Woven *w, size_t row)
{
    assert(row < w->monitoring->rows.len);
    LLVMValueRef modes = LLVMGetNamedGlobal(w->module, "sundew_modes");
    if (!modes) {
        LLVMTypeRef type = LLVMArrayType2(w->i8, w->monitoring->rows.len);
        modes = LLVMAddGlobal(w->module, type, "sundew_modes");
        LLVMSetVisibility(modes, LLVMHiddenVisibility);
    }
    LLVMValueRef index = weave_int(w, w->i64, row);
    return LLVMConstInBoundsGEP2(w->i8, modes, &index, 1);
}

/* slots[at] = value; a number is widened so that all 8 bytes mean something. */
static void store_slot(Woven *w, LLVMValueRef slots, unsigned at, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef index = weave_int(w, w->i64, at);
    LLVMValueRef to = LLVMBuildInBoundsGEP2(w->builder, w->i64, slots, &index, 1, "");
    uint64_t size = LLVMStoreSizeOfType(w->layout, type);
    if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) < 64) {
        value = LLVMBuildZExt(w->builder, value, w->i64, "");
    } else if (size % 8) {
        index = weave_int(w, w->i64, at + size / 8);
        LLVMValueRef last = LLVMBuildInBoundsGEP2(w->builder, w->i64, slots, &index, 1, "");
        LLVMSetAlignment(LLVMBuildStore(w->builder, weave_int(w, w->i64, 0), last), 8);
    }
    LLVMSetAlignment(LLVMBuildStore(w->builder, value, to), 8);
}

/* f.entered: the arguments, then the locals, then the stack pointer. */
static LLVMValueRef make_entered(Woven *w, Row *row, LLVMValueRef enter_probe, size_t number)
{
    LLVMTypeRef two[] = { w->i32, w->ptr };
    LLVMTypeRef enter = LLVMFunctionType(w->ptr, two, 2, false);
    LLVMTypeRef entered = LLVMFunctionType(w->void_, two, 2, false);
    unsigned nlocals = (unsigned)row->locals.len, n = LLVMCountParams(enter_probe);
    LLVMTypeRef *types = arena_array(&w->arena, LLVMTypeRef, n + 1);
    assert(n >= nlocals + row->moves);       /* arguments, locals, stack pointer */
    LLVMGetParamTypes(LLVMGlobalGetValueType(enter_probe), types);
    types[n] = w->ptr;
    n -= row->moves;
    bool copy = enter_probe == row->copy;
    LLVMValueRef fn = declare_probe(w, row, copy ? "copied" : "entered", types, n + 1);
    weave_define(w, fn, enter_probe);
    make_cold(w, fn);

    LLVMValueRef r = weave_int(w, w->i32, number), sp = LLVMGetParam(fn, n);
    LLVMValueRef probe = copy ? weave_int(w, w->i32, number | SUNDEW_COPY) : r;
    LLVMValueRef slots = weave_call_out(w, weave_declare(w, "sundew_enter", enter),
                                        (LLVMValueRef[]){ probe, sp }, 2);
    LLVMBasicBlockRef fill = weave_block(w, fn, "fill"), end = weave_block(w, fn, "end");
    LLVMBuildCondBr(w->builder, LLVMBuildIsNull(w->builder, slots, ""), end, fill);
    LLVMPositionBuilderAtEnd(w->builder, fill);
    for (unsigned i = 0; i < n; i++)
        store_slot(w, slots, i < n - nlocals ? row->slot_of[i] : row->nslots + i - (n - nlocals),
                   LLVMGetParam(fn, i));
    weave_call_out(w, weave_declare(w, "sundew_entered", entered), (LLVMValueRef[]){ r, slots }, 2);
    LLVMBuildBr(w->builder, end);
    LLVMPositionBuilderAtEnd(w->builder, end);
    LLVMBuildRetVoid(w->builder);
    return fn;
}

/* The cold way out, shared by all functions. */
static LLVMValueRef cold_leave(Woven *w)
{
    LLVMValueRef fn = LLVMGetNamedFunction(w->module, "sundew.left");
    if (fn)
        return fn;
    LLVMTypeRef types[] = { w->i32, w->ptr };
    LLVMTypeRef type = LLVMFunctionType(w->void_, types, 2, false);
    fn = LLVMAddFunction(w->module, "sundew.left", type);
    weave_define(w, fn, NULL);
    make_cold(w, fn);
    LLVMValueRef args[] = { LLVMGetParam(fn, 0), LLVMGetParam(fn, 1) };
    weave_call_out(w, weave_declare(w, "sundew_leave", type), args, 2);
    LLVMBuildRetVoid(w->builder);
    return fn;
}

/* The body of an always inlined probe: if the row is on, `cold` is called with
 * `first` (or NULL), the probe's arguments, and the stack pointer, which is the
 * last of them if it moves. */
static void define_test(Woven *w, Row *row, size_t number, LLVMValueRef fn, LLVMValueRef first,
                        LLVMValueRef cold)
{
    LLVMBasicBlockRef on, off;
    Vec(LLVMValueRef) args = { 0 };
    weave_define(w, fn, row->value);
    weave_set(w, fn, "alwaysinline", 0);
    on = weave_block(w, fn, "on");
    off = weave_block(w, fn, "off");
    LLVMValueRef mode = LLVMBuildLoad2(w->builder, w->i8, byte_of_mode(w, number), "mode");
    LLVMValueRef is_on =
        LLVMBuildICmp(w->builder, LLVMIntNE, mode, weave_int(w, w->i8, 0), "is_on");
    weave_branch_unlikely(w, is_on, on, off);
    LLVMPositionBuilderAtEnd(w->builder, off);
    LLVMBuildRetVoid(w->builder);
    LLVMPositionBuilderAtEnd(w->builder, on);
    if (first)
        vec_push(&args, first);
    unsigned n = LLVMCountParams(fn);
    for (unsigned i = 0; i < n; i++)
        vec_push(&args, LLVMGetParam(fn, i));
    if (!row->moves)
        vec_push(&args, stack_pointer(w));
    weave_call(w, cold, args.items, (unsigned)args.len);
    LLVMBuildRetVoid(w->builder);
    vec_release(&args);
}

/* The cold way out of a function that is recorded: its result, if it has one,
 * then the stack pointer. */
static LLVMValueRef make_left(Woven *w, Row *row, size_t number)
{
    LLVMTypeRef three[] = { w->i32, w->ptr, w->i32 };
    LLVMTypeRef result = LLVMFunctionType(w->ptr, three, 2, false);
    LLVMTypeRef returned = LLVMFunctionType(w->void_, three, 3, false);
    unsigned n = LLVMCountParams(row->leave) - row->moves;
    LLVMTypeRef types[2] = { w->ptr, w->ptr };
    assert(n <= 1);                          /* the result, or none */
    if (n)
        types[0] = LLVMTypeOf(LLVMGetParam(row->leave, 0));
    LLVMValueRef fn = declare_probe(w, row, "left", types, n + 1);
    weave_define(w, fn, row->leave);
    make_cold(w, fn);

    LLVMValueRef r = weave_int(w, w->i32, number), sp = LLVMGetParam(fn, n);
    LLVMValueRef slots =
        weave_call_out(w, weave_declare(w, "sundew_result", result), (LLVMValueRef[]){ r, sp }, 2);
    LLVMBasicBlockRef fill = weave_block(w, fn, "fill"), end = weave_block(w, fn, "end");
    LLVMBuildCondBr(w->builder, LLVMBuildIsNull(w->builder, slots, ""), end, fill);
    LLVMPositionBuilderAtEnd(w->builder, fill);
    if (n)
        store_slot(w, slots, 0, LLVMGetParam(fn, 0));
    LLVMValueRef count = weave_int(w, w->i32, n ? slots_for(w, types[0]) : 0);
    weave_call_out(w, weave_declare(w, "sundew_returned", returned),
                   (LLVMValueRef[]){ r, slots, count }, 3);
    LLVMBuildBr(w->builder, end);
    LLVMPositionBuilderAtEnd(w->builder, end);
    LLVMBuildRetVoid(w->builder);
    return fn;
}

static void define_probes(Woven *w, Row *row, size_t number)
{
    if (row->enter)
        define_test(w, row, number, row->enter, NULL, make_entered(w, row, row->enter, number));
    if (row->copy)
        define_test(w, row, number, row->copy, NULL, make_entered(w, row, row->copy, number));
    if (row->leave && w->monitoring->recording)
        define_test(w, row, number, row->leave, NULL, make_left(w, row, number));
    else if (row->leave)
        define_test(w, row, number, row->leave, weave_int(w, w->i32, number), cold_leave(w));
}

/* The optimiser has given the function other parameters: then what it was
 * called with is not known. */
static void forget_arguments(Row *row)
{
    row->nslots = 0;
    for (size_t i = 0; i < row->params.len; i++)
        row->params.items[i].nslots = 0;
    size_t n = 0;
    for (size_t i = 0; i < row->steps.len; i++)
        if (row->steps.items[i].slot == SUNDEW_VARIABLE)
            row->steps.items[n++] = row->steps.items[i];
    row->steps.len = n;
}

static void put_late_probes(Woven *w, Row *row)
{
    if (!row->value || LLVMIsDeclaration(row->value))
        return;
    if (LLVMGlobalGetValueType(row->value) != row->type)
        forget_arguments(row);
    find_locals(w, row);
    put_probes(w, row);
}

/* When all has been optimised. */
static void finish_probes(Woven *w, void *arg)
{
    Monitoring *m = arg;
    Err err = { 0 };
    for (size_t i = 0; i < m->rows.len; i++) {
        Row *row = &m->rows.items[i];
        row->value = LLVMGetNamedFunction(w->module, row->fn->symbol);
        if (row->late)
            put_late_probes(w, row);
        else if (row->copied) {
            part_copies(w, row);
            put_late_leave(w, row);
        }
        row->enter = find_probe(w, row, "enter");
        row->leave = find_probe(w, row, "leave");
        define_probes(w, row, i);
    }
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    weave_llvm_error(LLVMRunPasses(w->module,
                                   "always-inline,function(instcombine<"
                                   "no-verify-fixpoint>,simplifycfg)",
                                   NULL, options),
                     &err);
    LLVMDisposePassBuilderOptions(options);
}

/* ---- the weave */

static void redirect(Woven *w, bool recording)
{
#define NAME(name) #name,
    static const char *const monitored[] = { SUNDEW_REDIRECTED(NAME) NULL };
    static const char *const recorded[] = { SUNDEW_RECORDED(NAME) NULL };
#undef NAME
    for (const char *const *name = recording ? recorded : monitored; *name; name++) {
        char *to = xprintf("sundew_%s", *name);
        weave_redirect(w, *name, to);
        free(to);
    }
}

/* To LLVM an access to null can't happen, and it may drop the way there. In the field it is
 * the failure that is to be seen. */
static void keep_null_accesses(Woven *w)
{
    for (LLVMValueRef fn = LLVMGetFirstFunction(w->module); fn; fn = LLVMGetNextFunction(fn))
        if (!LLVMIsDeclaration(fn))
            weave_set(w, fn, "null_pointer_is_valid", 0);
}

static bool has_attribute(LLVMValueRef fn, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return LLVMGetEnumAttributeAtIndex(fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind);
}

/*
 * Is it small enough to be inlined, and worth a frame there? A function with one call is. One
 * of several calls is if it is more than a look at an object: such looks are what programs do
 * all the time, and what they fail of came from their callers. Stack objects are not handed to
 * the probe of a copy, since they could not become registers. So functions that have some are left
 * as they are, but for those that are inlined for sure: with one call, unless the source says no.
 */
static bool is_copied(Woven *w, const Row *row)
{
    if (row->ninstructions > MOST_INLINED || has_dynamic_stack(row->value))
        return false;
    bool once = has_one_call(row->value);
    if (!once && (row->ninstructions < LEAST_COPIED || is_leaf(row->value)))
        return false;
    if (once && !has_attribute(row->value, "noinline"))
        return true;
    Row other = { .value = row->value };
    find_locals(w, &other);
    bool none = !other.locals.len;
    vec_release(&other.locals);
    return none;
}

static void choose(Woven *w, Monitoring *m)
{
    size_t n;
    const Function *const *all = program_functions(w->program, &n);
    for (size_t i = 0; i < n; i++) {
        LLVMValueRef value = LLVMGetNamedFunction(w->module, all[i]->symbol);
        if (!value || !can_have_probe(w, value) || !is_wanted(&m->plan, all[i]))
            continue;
        if (!m->recording && is_trivial(value)) {
            m->trivial++;
            continue;
        }
        Row row = { .fn = all[i],
                    .value = value,
                    .type = LLVMGlobalGetValueType(value),
                    .ninstructions = count_instructions(value) };
        bool small = row.ninstructions <= MOST_SMALL;
        if (small && m->plan.second_chance && !m->plan.only && is_leaf(value)) {
            m->trivial++;
            continue;
        }
        row.late = !m->recording && (small || !has_one_call(value));
        number_slots(w, &row);
        if (row.nslots > MOST_SLOTS)
            continue;
        describe_params(&row);
        row.copied = row.late && !m->plan.second_chance && is_copied(w, &row);
        row.late &= !row.copied;
        if (!row.late && !row.copied)
            find_locals(w, &row);
        vec_push(&m->rows, row);
    }
}

static void release(Woven *w, void *arg)
{
    (void)w;
    Monitoring *m = arg;
    for (size_t i = 0; i < m->rows.len; i++) {
        vec_release(&m->rows.items[i].params);
        vec_release(&m->rows.items[i].locals);
        vec_release(&m->rows.items[i].steps);
        vec_release(&m->rows.items[i].uses);
    }
    vec_release(&m->rows);
}

static bool weave_probes(Woven *w, const MonitorPlan *plan, bool recording, const char *start,
                         Err *err)
{
    Monitoring *m = arena_new(&w->arena, Monitoring);
    if (w->monitoring)
        return err_set(err, "the program is monitored already");
    if (!is_64_bits(w))
        return err_set(err,
                       "a program for %s can't be monitored: only x86-64 and "
                       "AArch64 can",
                       LLVMGetTarget(w->module));
    if (!all_exist(w, plan->only, err))
        return false;
    m->plan = *plan;
    m->recording = recording;
    w->monitoring = m;
    weave_at_end(w, release, m);
    redirect(w, recording);
    if (!recording)
        keep_null_accesses(w);
    choose(w, m);
    monitor_plan_copies(w, m);
    for (size_t i = 0; i < m->rows.len; i++)
        if (!m->rows.items[i].late)
            put_probes(w, &m->rows.items[i]);
    if (recording)
        monitor_put_rests(w, m);
    if (plan->strategy == COPY_STATE && !plan->as_is)
        monitor_fill_locals(w);
    LLVMTypeRef type = LLVMFunctionType(w->void_, NULL, 0, false);
    weave_add_first_constructor(w, weave_declare(w, start, type));
    weave_at_last(w, finish_probes, m);
    weave_at_last(w, monitor_write_tables, m);
    return true;
}

bool weave_monitor(Woven *w, const MonitorPlan *plan, Err *err)
{
    return weave_probes(w, plan, false, "sundew_monitor_start", err);
}

bool weave_record(Woven *w, const MonitorPlan *plan, Err *err)
{
    return weave_probes(w, plan, true, "sundew_record_start", err);
}

void weave_monitor_figures(const Woven *w, size_t *monitored, size_t *trivial)
{
    *monitored = w->monitoring ? w->monitoring->rows.len : 0;
    *trivial = w->monitoring ? w->monitoring->trivial : 0;
}
