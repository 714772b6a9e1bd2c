/*
 * Is what a function returns made of what it is given? From the values that it returns back to
 * where they come from:
 *
 *     static char text[16];
 *     int digit(int n) { sprintf(text, "%d", n); return text[0]; }
 *     returned ← text ← the other arguments of the call that is given text ← n
 *
 * A comparison is a decision. Memory that no local or global variable is has one place for each field's name, in one function. What a
 * callee leaves in memory for its caller is not followed, if the caller does not pass a pointer to it.
 */
#include "analysis/effects/effects_int.h"
#include <string.h>

typedef struct Way {
    Effects *e;
    LLVMValueRef function;
    Map seen;                    /* values and places, by their addresses */
} Way;

/* Each place is looked for in all of the function, and a chain of values is as deep as it is long. */
enum { MOST_SEEN = 4000 };

static bool leads_back(Way *w, LLVMValueRef v);

static bool is_same_place(LLVMValueRef a, LLVMValueRef b)
{
    Str x = { 0 }, y = { 0 };
    LLVMValueRef p = effects_base_of(a), q = effects_base_of(b);
    bool same = p == q;
    if (!same && !LLVMIsAAllocaInst(p) && !LLVMIsAAllocaInst(q) && !LLVMIsAGlobalVariable(p) &&
        !LLVMIsAGlobalVariable(q) && effects_name_of(a, &x) && effects_name_of(b, &y))
        same = !strcmp(str_c(&x), str_c(&y));
    str_release(&x);
    str_release(&y);
    return same;
}

static bool is_pointer(LLVMValueRef v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

/* Does an argument of the call come from there? `but`: not one that leads to this place. */
static bool passes(Way *w, LLVMValueRef call, LLVMValueRef but)
{
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        LLVMValueRef v = LLVMGetOperand(call, i);
        if (!(but && is_pointer(v) && is_same_place(v, but)) && leads_back(w, v))
            return true;
    }
    return false;
}

static bool is_given(LLVMValueRef call, LLVMValueRef place)
{
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
        if (is_pointer(LLVMGetOperand(call, i)) && is_same_place(LLVMGetOperand(call, i), place))
            return true;
    return false;
}

/* What the function puts into a place. */
static bool is_put(Way *w, LLVMValueRef i, LLVMValueRef place)
{
    if (LLVMIsAStoreInst(i))
        return is_same_place(LLVMGetOperand(i, 1), place) && leads_back(w, LLVMGetOperand(i, 0));
    return LLVMIsACallInst(i) && is_given(i, place) && passes(w, i, place);
}

static bool holds(Way *w, LLVMValueRef place)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(w->function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (is_put(w, i, place))
                return true;
    return false;
}

static bool answers(Effects *e, LLVMValueRef function);

static bool of_call(Way *w, LLVMValueRef call)
{
    LLVMValueRef f = LLVMGetCalledValue(call);
    bool known = LLVMIsAFunction(f) && !LLVMIsDeclaration(f);
    return (!known || answers(w->e, f)) && passes(w, call, NULL);
}

static bool leads_back(Way *w, LLVMValueRef v)
{
    if (LLVMIsAArgument(v))
        return true;
    if ((LLVMIsAConstant(v) && !is_pointer(v)) || w->seen.len >= MOST_SEEN ||
        !map_putn(&w->seen, &v, sizeof v, NULL))
        return false;
    if (is_pointer(v) && holds(w, v))
        return true;
    if (LLVMIsACallInst(v))
        return of_call(w, v);
    if (LLVMIsACmpInst(v) || !LLVMIsAInstruction(v))
        return false;
    for (int i = LLVMIsASelectInst(v) ? 1 : 0; i < LLVMGetNumOperands(v); i++)
        if (leads_back(w, LLVMGetOperand(v, (unsigned)i)))
            return true;
    return false;
}

/* A function that is still looked at, as it calls itself, adds nothing. */
static bool answers(Effects *e, LLVMValueRef function)
{
    size_t n;
    const char *name = LLVMGetValueName2(function, &n);
    uintptr_t known = (uintptr_t)map_get(&e->answers, name);
    if (known)
        return known == 2;
    map_put(&e->answers, name, (void *)1);
    Way w = { .e = e, .function = function };
    bool any = false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b && !any;
         b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(b);
        any = LLVMIsAReturnInst(last) && LLVMGetNumOperands(last) &&
              leads_back(&w, LLVMGetOperand(last, 0));
    }
    map_release(&w.seen);
    if (any)
        map_put(&e->answers, name, (void *)2);
    return any;
}

bool effects_answers(Effects *e, const Function *fn)
{
    LLVMValueRef f = program_function_value(e->program, fn);
    return f && answers(e, f);
}
