/*
 * Monitoring: which functions, and the probes at their entries and ends.
 *
 * runtime/monitor.h says in C what a probe does. Here it is three functions for
 * each function f of row r:
 *
 *     f.enter(args, locals)    always inlined: the test of modes[r]
 *     f.entered(args, locals)  cold, never inlined: fills the frame
 *     f.leave()                always inlined: the test again
 *
 * The cold ones preserve nearly all registers, so that the way around them
 * costs f nothing but the test; and they say to LLVM that they only read the
 * program's memory, so that it may keep values in registers across them. (The
 * runtime writes its own memory, which the program can't see, and the modes,
 * for which an older value will do.)
 *
 * Skipped are functions that are trivial (a getter, a setter: four instructions,
 * one block, no call), and those that can't have a probe: naked, run
 * before the program is relocated, or copies of a function that is elsewhere.
 */
#include "runtime/monitor.h"
#include "weave/monitor_int.h"
#include <string.h>

enum { MOST_TRIVIAL = 4 };

/* -------------------------------------------------------- which functions */

static bool is_debug_call(LLVMValueRef i)
{
    size_t n;
    if (LLVMGetInstructionOpcode(i) != LLVMCall)
        return false;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(i), &n);
    return str_starts(name, "llvm.dbg.") || str_starts(name, "llvm.lifetime.");
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

static bool is_resolver(const Woven *w, LLVMValueRef fn)
{
    for (LLVMValueRef i = LLVMGetFirstGlobalIFunc(w->module); i;
         i = LLVMGetNextGlobalIFunc(i))
        if (LLVMGetGlobalIFuncResolver(i) == fn)
            return true;
    return false;
}

static bool can_have_probe(const Woven *w, LLVMValueRef fn)
{
    return !LLVMIsDeclaration(fn) && !weave_has(fn, "naked")
        && LLVMGetLinkage(fn) != LLVMAvailableExternallyLinkage
        && LLVMGetFunctionCallConv(fn) != LLVMX86INTRCallConv && !is_resolver(w, fn);
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

/* ------------------------------------------------- arguments and their slots */

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
        if (p->passing != PASSED_UNKNOWN && p->passing != PASSED_NOT_AT_ALL &&
            end <= nargs) {
            out.slot = (uint16_t)row->slot_of[p->first_arg];
            out.nslots = (uint16_t)(row->slot_of[end] - out.slot);
            out.by_copy = p->passing == PASSED_BY_COPY;
        }
        vec_push(&row->params, out);
    }
}

/* --------------------------------------------------------- stack objects */

static bool escapes(LLVMValueRef pointer, unsigned depth);

static bool use_escapes(LLVMValueRef user, LLVMValueRef pointer, unsigned depth)
{
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad:
    case LLVMICmp:
        return false;
    case LLVMStore:
        return LLVMGetOperand(user, 0) == pointer;
    case LLVMGetElementPtr:
    case LLVMBitCast:
        return depth > 8 || escapes(user, depth + 1);
    case LLVMCall: {
        LLVMValueRef callee = LLVMGetCalledValue(user);
        return !LLVMIsAFunction(callee) || !LLVMGetIntrinsicID(callee);
    }
    default:
        return true;
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

/* The model's number for an IR type: structs and unions by name. */
static uint32_t type_of_slot(const Woven *w, LLVMTypeRef t)
{
    while (LLVMGetTypeKind(t) == LLVMArrayTypeKind)
        t = LLVMGetElementType(t);
    if (LLVMGetTypeKind(t) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) == 8)
        return monitor_type_number(types_find(program_types(w->program), "char", 0));
    if (LLVMGetTypeKind(t) != LLVMStructTypeKind || !LLVMGetStructName(t))
        return 0;
    char *name = xstrdup(LLVMGetStructName(t));
    char *dot = strchr(name, '.'), *number = strrchr(name, '.');
    if (dot && number != dot && number[1 + strspn(number + 1, "0123456789")] == 0)
        *number = 0;
    if (dot)
        *dot = ' ';
    uint32_t found = 0;
    const Type *type;
    uint64_t size = LLVMABISizeOfType(w->layout, t);
    for (unsigned i = 0; !found && (type = types_find(program_types(w->program), name, i)); i++)
        if (type->size == size)
            found = monitor_type_number(type);
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
        if (!LLVMIsConstant(count) || LLVMConstIntGetZExtValue(count) != 1 ||
            !is_worth_noting(t) || !escapes(i, 0) || row->locals.len == MOST_LOCALS)
            continue;
        RowLocal *l = vec_grow(&row->locals);
        l->slot = i;
        l->local.size = (uint32_t)LLVMABISizeOfType(w->layout, t);
        l->local.type = type_of_slot(w, t);
    }
}

/* ----------------------------------------------------------------- probes */

static bool is_64_bits(const Woven *w)
{
    const char *target = LLVMGetTarget(w->module);
    return str_starts(target, "x86_64") || str_starts(target, "aarch64");
}

/* Cold, out of line, and nearly without effect on its caller's registers. */
static void make_cold(Woven *w, LLVMValueRef fn)
{
    weave_set(w, fn, "noinline", 0);
    weave_set(w, fn, "cold", 0);
    weave_set_reads_only(w, fn);
    if (is_64_bits(w))
        LLVMSetFunctionCallConv(fn, LLVMPreserveMostCallConv);
}

static LLVMValueRef byte_of_mode(Woven *w, size_t row)
{
    LLVMValueRef modes = LLVMGetNamedGlobal(w->module, "sundew_modes");
    if (!modes) {
        LLVMTypeRef type = LLVMArrayType2(w->i8, w->monitoring->rows.len);
        modes = LLVMAddGlobal(w->module, type, "sundew_modes");
        LLVMSetVisibility(modes, LLVMHiddenVisibility);
    }
    LLVMValueRef index = weave_int(w, w->i64, row);
    return LLVMConstInBoundsGEP2(w->i8, modes, &index, 1);
}

/* The builder's function goes on in the block that is returned if the row is
 * not off; otherwise it returns. */
static void test_mode(Woven *w, LLVMValueRef fn, size_t row)
{
    LLVMBasicBlockRef on = weave_block(w, fn, "on"), off = weave_block(w, fn, "off");
    LLVMValueRef mode = LLVMBuildLoad2(w->builder, w->i8, byte_of_mode(w, row), "mode");
    LLVMValueRef is_on = LLVMBuildICmp(w->builder, LLVMIntNE, mode,
                                       weave_int(w, w->i8, 0), "is_on");
    weave_branch_unlikely(w, is_on, on, off);
    LLVMPositionBuilderAtEnd(w->builder, off);
    LLVMBuildRetVoid(w->builder);
    LLVMPositionBuilderAtEnd(w->builder, on);
}

static LLVMValueRef stack_pointer(Woven *w)
{
    LLVMTypeRef type = LLVMFunctionType(w->ptr, NULL, 0, false);
    return weave_call(w, weave_declare(w, "llvm.stacksave.p0", type), NULL, 0);
}

/* slots[at] = value; a number is widened so that all 8 bytes mean something. */
static void store_slot(Woven *w, LLVMValueRef slots, unsigned at, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef index = weave_int(w, w->i64, at);
    LLVMValueRef to = LLVMBuildInBoundsGEP2(w->builder, w->i64, slots, &index, 1, "");
    uint64_t size = LLVMStoreSizeOfType(w->layout, type);
    if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) < 64)
        value = LLVMBuildZExt(w->builder, value, w->i64, "");
    else if (size % 8 && size > 8) {
        index = weave_int(w, w->i64, at + size / 8);
        LLVMValueRef last = LLVMBuildInBoundsGEP2(w->builder, w->i64, slots, &index, 1, "");
        LLVMSetAlignment(LLVMBuildStore(w->builder, weave_int(w, w->i64, 0), last), 8);
    } else if (size % 8) {
        LLVMSetAlignment(LLVMBuildStore(w->builder, weave_int(w, w->i64, 0), to), 8);
    }
    LLVMSetAlignment(LLVMBuildStore(w->builder, value, to), 8);
}

/* f.entered: the arguments, then the locals, then the stack pointer. */
static LLVMValueRef make_entered(Woven *w, Row *row, size_t number, LLVMTypeRef *types,
                                 unsigned nargs)
{
    char *name = xprintf("sundew.entered.%s", row->fn->symbol);
    unsigned n = nargs + (unsigned)row->locals.len;
    LLVMValueRef fn = weave_helper(w, row->value, name,
                                   LLVMFunctionType(w->void_, types, n + 1, false));
    free(name);
    make_cold(w, fn);
    LLVMTypeRef enter_types[] = { w->i32, w->ptr };
    LLVMTypeRef enter_type = LLVMFunctionType(w->ptr, enter_types, 2, false);
    LLVMTypeRef done_type = LLVMFunctionType(w->void_, enter_types, 2, false);
    LLVMValueRef r = weave_int(w, w->i32, number);
    LLVMValueRef slots = weave_call_out(w, weave_declare(w, "sundew_enter", enter_type),
                                        (LLVMValueRef[]){ r, LLVMGetParam(fn, n) }, 2);
    LLVMBasicBlockRef fill = weave_block(w, fn, "fill"), end = weave_block(w, fn, "end");
    LLVMBuildCondBr(w->builder, LLVMBuildIsNull(w->builder, slots, ""), end, fill);
    LLVMPositionBuilderAtEnd(w->builder, fill);
    for (unsigned i = 0; i < nargs; i++)
        store_slot(w, slots, row->slot_of[i], LLVMGetParam(fn, i));
    for (unsigned i = nargs; i < n; i++)
        store_slot(w, slots, row->nslots + i - nargs, LLVMGetParam(fn, i));
    weave_call_out(w, weave_declare(w, "sundew_entered", done_type),
                   (LLVMValueRef[]){ r, slots }, 2);
    LLVMBuildBr(w->builder, end);
    LLVMPositionBuilderAtEnd(w->builder, end);
    LLVMBuildRetVoid(w->builder);
    return fn;
}

/* An always-inlined function: if the row is on, `cold` is called with all its
 * arguments and the stack pointer (`first`, if it is not NULL, comes before
 * them). With `given` the stack pointer is its last argument. */
static LLVMValueRef make_test(Woven *w, Row *row, size_t number, const char *what,
                              LLVMTypeRef *types, unsigned n, bool given,
                              LLVMValueRef first, LLVMValueRef cold)
{
    char *name = xprintf("sundew.%s.%s", what, row->fn->symbol);
    LLVMValueRef fn = weave_helper(w, row->value, name,
                                   LLVMFunctionType(w->void_, types, n + given, false));
    free(name);
    weave_set(w, fn, "alwaysinline", 0);
    test_mode(w, fn, number);
    Vec(LLVMValueRef) args = {0};
    if (first)
        vec_push(&args, first);
    for (unsigned i = 0; i < n; i++)
        vec_push(&args, LLVMGetParam(fn, i));
    vec_push(&args, given ? LLVMGetParam(fn, n) : stack_pointer(w));
    weave_call(w, cold, args.items, (unsigned)args.len);
    LLVMBuildRetVoid(w->builder);
    vec_release(&args);
    return fn;
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

/* The cold way out, shared by all functions. */
static LLVMValueRef cold_leave(Woven *w)
{
    LLVMValueRef fn = LLVMGetNamedFunction(w->module, "sundew.left");
    if (fn)
        return fn;
    LLVMTypeRef types[] = { w->i32, w->ptr };
    LLVMTypeRef type = LLVMFunctionType(w->void_, types, 2, false);
    fn = weave_helper(w, NULL, "sundew.left", type);
    make_cold(w, fn);
    LLVMValueRef args[] = { LLVMGetParam(fn, 0), LLVMGetParam(fn, 1) };
    weave_call_out(w, weave_declare(w, "sundew_leave", type), args, 2);
    LLVMBuildRetVoid(w->builder);
    return fn;
}

static void put_probes(Woven *w, Row *row, size_t number)
{
    LLVMValueRef fn = row->value, sp = NULL;
    unsigned nargs = LLVMCountParams(fn), n = nargs + (unsigned)row->locals.len;
    bool given = has_dynamic_stack(fn);
    LLVMTypeRef *types = arena_array(&w->arena, LLVMTypeRef, n + 1);
    LLVMValueRef *args = arena_array(&w->arena, LLVMValueRef, n + 1);
    LLVMGetParamTypes(LLVMGlobalGetValueType(fn), types);
    LLVMGetParams(fn, args);
    for (unsigned i = nargs; i < n; i++) {
        types[i] = w->ptr;
        args[i] = row->locals.items[i - nargs].slot;
    }
    types[n] = w->ptr;
    LLVMValueRef entered = make_entered(w, row, number, types, nargs);
    LLVMValueRef enter = make_test(w, row, number, "enter", types, n, given, NULL, entered);
    weave_go_to_entry(w, fn);
    if (given)
        args[n] = sp = stack_pointer(w);
    weave_call(w, enter, args, n + given);

    LLVMValueRef leave = make_test(w, row, number, "leave", &w->ptr, 0, given,
                                   weave_int(w, w->i32, number), cold_leave(w));
    for (LLVMBasicBlockRef b = NULL; (b = weave_go_to_return(w, fn, b));)
        weave_call(w, leave, &sp, given);
}

/* ------------------------------------------------------------------ the weave */

static void redirect(Woven *w)
{
#define NAME(name) #name,
    static const char *const names[] = { SUNDEW_REDIRECTED(NAME) };
#undef NAME
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *to = xprintf("sundew_%s", names[i]);
        weave_redirect(w, names[i], to);
        free(to);
    }
}

static void choose(Woven *w, Monitoring *m)
{
    size_t n;
    const Function *const *all = program_functions(w->program, &n);
    for (size_t i = 0; i < n; i++) {
        LLVMValueRef value = LLVMGetNamedFunction(w->module, all[i]->symbol);
        if (!value || !can_have_probe(w, value) || !is_wanted(&m->plan, all[i]))
            continue;
        if (is_trivial(value)) {
            m->trivial++;
            continue;
        }
        Row row = { .fn = all[i], .value = value };
        number_slots(w, &row);
        if (row.nslots > MOST_SLOTS)
            continue;
        describe_params(&row);
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

bool weave_monitor(Woven *w, const MonitorPlan *plan, Err *err)
{
    Monitoring *m = arena_new(&w->arena, Monitoring);
    if (w->monitoring)
        return err_set(err, "the program is monitored already");
    if (!is_64_bits(w))
        return err_set(err, "a program for %s can't be monitored: only x86-64 and "
                       "AArch64 can", LLVMGetTarget(w->module));
    m->plan = *plan;
    w->monitoring = m;
    weave_at_end(w, release, m);
    redirect(w);
    choose(w, m);
    monitor_plan_copies(w, m);
    for (size_t i = 0; i < m->rows.len; i++)
        put_probes(w, &m->rows.items[i], i);
    LLVMTypeRef type = LLVMFunctionType(w->void_, NULL, 0, false);
    weave_add_first_constructor(w, weave_declare(w, "sundew_monitor_start", type));
    weave_at_last(w, monitor_write_tables, m);
    return true;
}

void weave_monitor_figures(const Woven *w, size_t *monitored, size_t *trivial)
{
    *monitored = w->monitoring ? w->monitoring->rows.len : 0;
    *trivial = w->monitoring ? w->monitoring->trivial : 0;
}
