/*
 * What is copied for contracts: the state that a function can see, whole.
 *
 *     int push(struct stack *s, int x)
 *     step 0: slot 0: all that it points to                 *s
 *     step 1: in step 0's object at 0: the whole object     s->a[]
 *     step 2: a variable that push() or a callee names      limit
 *
 * Types alone decide: a contract also speaks of what a function never changes.
 * Pointers are followed two far.
 */
#include "weave/monitor/monitor_int.h"
#include <string.h>

enum {
    MOST_STATE_STEPS = 24,
    MOST_INSIDE = 8,
    MOST_FOLLOWED = 2,
    MOST_GLOBALS = 8,
    MOST_GLOBAL_SIZE = 256,
    MOST_LOCAL_SIZE = 256,
};

/* Can it be looked at? A FILE of the C library has no type of ours. */
static bool has_content(const Type *t)
{
    return t->kind != TYPE_FUNCTION && t->kind != TYPE_VOID && t->kind != TYPE_UNKNOWN &&
           (t->size || t->kind == TYPE_ARRAY);
}

static void add_target(Row *row, const Type *target, unsigned parent, unsigned slot, uint32_t at,
                       unsigned depth);

/* The pointers of a struct, those of structs in it too; not of unions. */
static void add_inside(Row *row, const Type *record, unsigned step, uint64_t at, unsigned depth,
                       unsigned *left)
{
    for (unsigned i = 0; i < record->nfields && *left; i++) {
        const Field *f = &record->fields[i];
        const Type *t = type_plain(f->type);
        uint64_t here = at + f->offset / 8;
        if (f->bit_field || here > UINT32_MAX)
            continue;
        if (t->kind == TYPE_STRUCT) {
            add_inside(row, t, step, here, depth, left);
        } else if (t->kind == TYPE_POINTER) {
            (*left)--;
            add_target(row, type_plain(t->target), step, 0, (uint32_t)here, depth);
        }
    }
}

static void add_target(Row *row, const Type *target, unsigned parent, unsigned slot, uint32_t at,
                       unsigned depth)
{
    unsigned left = MOST_INSIDE, step = (unsigned)row->steps.len;

    if (!has_content(target) || row->steps.len >= MOST_STATE_STEPS)
        return;
    vec_push(&row->steps, ((SundewStep){ .parent = (uint16_t)parent,
                                         .slot = (uint16_t)slot,
                                         .at = at,
                                         .type = monitor_type_number(target) }));
    if (target->kind == TYPE_STRUCT && depth < MOST_FOLLOWED)
        add_inside(row, target, step, 0, depth + 1, &left);
}

/* --- variables */

static const Variable *variable_of(Woven *w, LLVMValueRef g, uint32_t *number)
{
    size_t n, len;
    const Variable *all = program_variables(w->program, &n);
    const char *name = LLVMGetValueName2(g, &len);

    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].symbol, name) == 0) {
            *number = (uint32_t)i + 1;
            return &all[i];
        }
    return NULL;
}

static void add_variable(Woven *w, Row *row, LLVMValueRef g, unsigned *left)
{
    uint32_t number = 0;
    const Variable *v = *left ? variable_of(w, g, &number) : NULL;

    if (!v || !v->type || !v->size || v->size > MOST_GLOBAL_SIZE || v->thread_local_ ||
        v->constant || type_plain(v->type)->kind == TYPE_ARRAY ||
        row->steps.len >= MOST_STATE_STEPS)
        return;
    for (size_t i = 0; i < row->steps.len; i++)
        if (row->steps.items[i].slot == SUNDEW_VARIABLE && row->steps.items[i].at == number &&
            row->steps.items[i].parent == SUNDEW_NO_STEP)
            return;
    (*left)--;
    vec_push(&row->steps, ((SundewStep){ .parent = SUNDEW_NO_STEP,
                                         .slot = SUNDEW_VARIABLE,
                                         .at = number,
                                         .size = (uint32_t)v->size,
                                         .type = monitor_type_number(v->type) }));
}

/* The variables that an operand names, also inside constant expressions. */
static void look_at_operand(Woven *w, Row *row, LLVMValueRef v, unsigned depth, unsigned *left)
{
    if (LLVMIsAGlobalVariable(v)) {
        add_variable(w, row, v, left);
    } else if (LLVMIsAConstantExpr(v) && depth < 4) {
        for (int i = 0; i < LLVMGetNumOperands(v); i++)
            look_at_operand(w, row, LLVMGetOperand(v, (unsigned)i), depth + 1, left);
    }
}

static void look_at_body(Woven *w, Row *row, LLVMValueRef fn, bool callees, unsigned *left)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b && *left; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && *left;
             i = LLVMGetNextInstruction(i)) {
            LLVMOpcode op = LLVMGetInstructionOpcode(i);
            for (int k = 0; k < LLVMGetNumOperands(i); k++)
                if (op == LLVMLoad || op == LLVMStore || op == LLVMGetElementPtr)
                    look_at_operand(w, row, LLVMGetOperand(i, (unsigned)k), 0, left);
            LLVMValueRef callee = op == LLVMCall ? LLVMGetCalledValue(i) : NULL;
            if (callees && callee && LLVMIsAFunction(callee) && !LLVMIsDeclaration(callee) &&
                callee != fn)
                look_at_body(w, row, callee, false, left);
        }
}

/* --- stack objects */

static void fill_local(Woven *w, LLVMValueRef slot)
{
    LLVMTypeRef t = LLVMGetAllocatedType(slot);
    uint64_t size = LLVMABISizeOfType(w->layout, t);

    if (!size || size > MOST_LOCAL_SIZE || !LLVMIsConstant(LLVMGetOperand(slot, 0)))
        return;
    LLVMBuildMemSet(w->builder, slot, weave_int(w, w->i8, SUNDEW_UNWRITTEN),
                    weave_int(w, w->i64, size), LLVMGetAlignment(slot));
}

void monitor_fill_locals(Woven *w)
{
    for (LLVMValueRef fn = LLVMGetFirstFunction(w->module); fn; fn = LLVMGetNextFunction(fn)) {
        if (LLVMIsDeclaration(fn) || weave_has(fn, "naked"))
            continue;
        LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn)), i = first;
        while (i && LLVMGetInstructionOpcode(i) == LLVMAlloca)
            i = LLVMGetNextInstruction(i);
        if (!i || i == first)
            continue;
        LLVMPositionBuilderBefore(w->builder, i);
        for (LLVMValueRef a = first; a != i; a = LLVMGetNextInstruction(a))
            fill_local(w, a);
    }
}

/* --- a function */

void monitor_plan_state(Woven *w, Row *row)
{
    LLVMValueRef fn = program_function_value(w->program, row->fn);
    unsigned left = MOST_GLOBALS;

    for (unsigned i = 0; i < row->fn->nparams && row->nslots; i++) {
        const Param *p = &row->fn->params[i];
        const SundewParam *sp = &row->params.items[i];
        const Type *t = p->type ? type_plain(p->type) : NULL;
        if (!t || !sp->nslots)
            continue;
        if (p->passing == PASSED_BY_COPY)
            add_target(row, t, SUNDEW_NO_STEP, sp->slot, 0, 1);
        else if (t->kind == TYPE_POINTER && sp->slot < 0xffff)
            add_target(row, type_plain(t->target), SUNDEW_NO_STEP, sp->slot, 0, 1);
    }
    look_at_body(w, row, fn, true, &left);
}
