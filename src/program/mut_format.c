/*
 * Formats: what a variadic function of the program does with an argument that a
 * literal format prints.
 *
 * Which of its arguments a printf of the program's own writes through, only the
 * format tells: `%n` does, `%s` doesn't. A function is taken for a printf if its
 * literal formats get numbers for %d and the like, or strings that nobody can
 * write, and never a pointer for a number, as a scanf would. `%s` and `%p` then
 * read. So does a conversion of the program's own (`%q`) that some call gives a
 * literal or a pointer to const; one that gets none of these may do anything.
 * That is an assumption, and only stage L makes it.
 */
#include "program/mut_int.h"
#include <string.h>

enum { PRINTS = 1, SCANS = 2 };
#define INTEGERS "dioux"         /* conversions that are numbers to everybody, */
#define NUMBERS "dioucxXeEfFgGaA" /* … in a printf */

/* The conversion that argument `n` behind the format is for; 0: none, '*': a width. */
static char conversion(const char *f, size_t len, unsigned n)
{
    for (size_t i = 0; i < len; i++) {
        if (f[i] != '%')
            continue;
        for (i++; i < len && f[i] && strchr("0123456789.#-+ ',!*$", f[i]); i++) {
            if (f[i] == '$')
                return 0;                    /* numbered: not looked at */
            if (f[i] == '*' && !n--)
                return '*';
        }
        while (i + 1 < len && f[i] && (strchr("hlL", f[i]) ||
                                       (strchr("jztqI", f[i]) && f[i + 1] &&
                                        strchr(INTEGERS "Xn", f[i + 1]))))
            i++;
        if (i >= len || !f[i])
            return 0;
        if (f[i] != '%' && !n--)
            return f[i];
    }
    return 0;
}

/* The literal format of a call, or NULL. Of two formats the first will do: which
 * is taken is not known, but they print the same arguments. */
static const char *format_of(LLVMValueRef call, unsigned fixed, size_t *len)
{
    LLVMValueRef g = fixed && fixed <= LLVMGetNumArgOperands(call)
                         ? LLVMGetOperand(call, fixed - 1) : NULL;

    if (g && LLVMIsAPHINode(g) && LLVMCountIncoming(g) == 2)     /* c ? "%s" : NULL */
        g = LLVMGetIncomingValue(g, LLVMIsNull(LLVMGetIncomingValue(g, 0)));
    else if (g && LLVMIsASelectInst(g))
        g = LLVMGetOperand(g, LLVMIsNull(LLVMGetOperand(g, 1)) ? 2 : 1);
    if (!g || !ptvalues_is_literal(g))
        return NULL;
    LLVMValueRef c = LLVMGetInitializer(g);
    return LLVMIsAConstantDataArray(c) && LLVMIsConstantString(c) ? LLVMGetAsString(c, len)
                                                                 : NULL;
}

static bool points_to_const(const Type *t)
{
    t = t ? type_plain(t) : NULL;
    return t && t->kind == TYPE_POINTER && type_has_qualifier(t->target, QUALIFIER_CONST);
}

/* A literal, or declared as a pointer to const: a parameter, a member. */
static bool is_constant(const Mutability *m, const Function *fn, LLVMValueRef v)
{
    if (LLVMIsAGlobalVariable(v))
        return LLVMIsGlobalConstant(v);
    if (LLVMIsASelectInst(v))
        return is_constant(m, fn, LLVMGetOperand(v, 1)) ||
               is_constant(m, fn, LLVMGetOperand(v, 2));
    if (LLVMIsALoadInst(v))
        return points_to_const(mut_member_type(m, LLVMGetOperand(v, 0)));
    for (unsigned i = 0; LLVMIsAArgument(v) && i < fn->nparams; i++) {
        const Param *p = &fn->params[i];
        if (p->passing == PASSED_DIRECTLY &&
            LLVMGetParam(program_function_value(m->program, fn), p->first_arg) == v)
            return points_to_const(p->type);
    }
    return false;
}

static void learn_call(Mutability *m, const Function *fn, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    const Body *g = LLVMIsAFunction(callee) ? mut_body(m, callee) : NULL;
    size_t len;

    if (!g || !LLVMIsFunctionVarArg(LLVMGlobalGetValueType(callee)))
        return;
    unsigned fixed = LLVMCountParams(callee), n = LLVMGetNumArgOperands(call);
    const char *f = format_of(call, fixed, &len);
    uint32_t seen = pttable_get(&m->prints, (uintptr_t)callee);
    seen = seen == NONE ? 0 : seen;
    for (unsigned i = fixed; f && i < n; i++) {
        LLVMValueRef v = LLVMGetOperand(call, i);
        unsigned char c = (unsigned char)conversion(f, len, i - fixed);
        bool pointer = LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
        if (!pointer && c && strchr(NUMBERS, c))
            seen |= PRINTS;
        if (pointer && c && strchr(NUMBERS, c))
            seen |= SCANS;
        if (pointer && c && is_constant(m, fn, v)) {
            seen |= PRINTS;
            m->printed[c] = true;
        }
    }
    pttable_put(&m->prints, (uintptr_t)callee, seen);
}

void mut_formats(Mutability *m)
{
    m->printed['s'] = m->printed['p'] = true;
    for (size_t i = 0; i < m->nbodies; i++) {
        if (!m->bodies[i].fn)
            continue;
        LLVMValueRef fn = program_function_value(m->program, m->bodies[i].fn);
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(fn); k; k = LLVMGetNextBasicBlock(k))
            for (LLVMValueRef x = LLVMGetFirstInstruction(k); x; x = LLVMGetNextInstruction(x))
                if (LLVMIsACallInst(x))
                    learn_call(m, m->bodies[i].fn, x);
    }
    m->printed['n'] = m->printed['*'] = false;
}

bool mut_is_printed(const Mutability *m, LLVMValueRef call, unsigned arg)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    size_t len;

    if (!LLVMIsAFunction(callee) || pttable_get(&m->prints, (uintptr_t)callee) != PRINTS)
        return false;
    unsigned fixed = LLVMCountParams(callee);
    const char *f = arg >= fixed ? format_of(call, fixed, &len) : NULL;
    return f && m->printed[(unsigned char)conversion(f, len, arg - fixed)];
}
