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
#include "base/format.h"
#include "analysis/mutability/mutability_int.h"
#include <string.h>

enum { PRINTS = 1, SCANS = 2 };
#define NUMBERS "dioucxXeEfFgGaA" /* conversions that are numbers */

typedef struct Formats {
    LLVMValueRef items[16];      /* literals */
    unsigned n;
    bool all;                    /* there are no others */
} Formats;

/* Is a variable only loaded from? `static const char *formats[]` */
static bool is_never_written(LLVMValueRef g)
{
    if (LLVMIsGlobalConstant(g))
        return true;
    if (LLVMGetLinkage(g) != LLVMInternalLinkage)
        return false;
    for (LLVMUseRef u = LLVMGetFirstUse(g); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef x = LLVMGetUser(u);
        if (!LLVMIsAGetElementPtrInst(x))
            return false;
        for (LLVMUseRef v = LLVMGetFirstUse(x); v; v = LLVMGetNextUse(v))
            if (!LLVMIsALoadInst(LLVMGetUser(v)))
                return false;
    }
    return true;
}

static void add_formats(LLVMValueRef v, Formats *out, unsigned level)
{
    if (LLVMIsNull(v))                       /* c ? "%s" : NULL */
        return;
    if (ptvalues_is_literal(v) && out->n < sizeof out->items / sizeof *out->items) {
        out->items[out->n++] = v;
    } else if (level < 3 && LLVMIsAPHINode(v)) {
        for (unsigned i = 0; i < LLVMCountIncoming(v); i++)
            add_formats(LLVMGetIncomingValue(v, i), out, level + 1);
    } else if (level < 3 && LLVMIsASelectInst(v)) {
        add_formats(LLVMGetOperand(v, 1), out, level + 1);
        add_formats(LLVMGetOperand(v, 2), out, level + 1);
    } else if (LLVMIsALoadInst(v) && LLVMIsAGetElementPtrInst(LLVMGetOperand(v, 0))) {
        /* one of a table that nobody writes */
        LLVMValueRef g = LLVMGetOperand(LLVMGetOperand(v, 0), 0);
        LLVMValueRef c =
            LLVMIsAGlobalVariable(g) && is_never_written(g) ? LLVMGetInitializer(g) : NULL;
        out->all &= c && LLVMIsAConstantArray(c);
        for (int i = 0; c && LLVMIsAConstantArray(c) && i < LLVMGetNumOperands(c); i++)
            add_formats(LLVMGetOperand(c, (unsigned)i), out, 3);
    } else {
        out->all = false;
    }
}

/* The formats that a call may have, if all of them are literals. */
static Formats formats_of(LLVMValueRef call, unsigned fixed)
{
    Formats out = { .all = true };

    if (fixed && fixed <= LLVMGetNumArgOperands(call))
        add_formats(LLVMGetOperand(call, fixed - 1), &out, 0);
    if (!out.all)
        out.n = 0;
    return out;
}

/* What a format, a literal, has for an argument behind it. */
static unsigned char conversion_of(LLVMValueRef format, unsigned arg)
{
    size_t len;
    LLVMValueRef c = LLVMGetInitializer(format);

    if (!LLVMIsAConstantDataArray(c) || !LLVMIsConstantString(c))
        return LLVMIsNull(c) ? 0 : '$';
    const char *f = LLVMGetAsString(c, &len);
    return (unsigned char)format_argument(f, len, arg).letter;
}

bool mut_is_text(LLVMValueRef call, unsigned fixed, unsigned arg)
{
    Formats f = formats_of(call, fixed);

    for (unsigned k = 0; k < f.n; k++)
        if (conversion_of(f.items[k], arg - fixed) != 's')
            return false;
    return f.n > 0;
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
        return is_constant(m, fn, LLVMGetOperand(v, 1)) || is_constant(m, fn, LLVMGetOperand(v, 2));
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

static unsigned learn(Mutability *m, const Function *fn, LLVMValueRef v, unsigned char c)
{
    bool pointer = LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;

    if (c && strchr(NUMBERS, c))
        return pointer ? SCANS : PRINTS;
    if (!c || !pointer || !is_constant(m, fn, v))
        return 0;
    m->printed[c] = true;
    return PRINTS;
}

static void learn_call(Mutability *m, const Function *fn, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);

    if (!LLVMIsAFunction(callee) || !LLVMIsFunctionVarArg(LLVMGlobalGetValueType(callee)) ||
        !mut_body(m, callee))
        return;
    unsigned fixed = LLVMCountParams(callee), n = LLVMGetNumArgOperands(call);
    Formats f = formats_of(call, fixed);
    uint32_t seen = pttable_get(&m->prints, (uintptr_t)callee);
    seen = seen == NONE ? 0 : seen;
    for (unsigned k = 0; k < f.n; k++)
        for (unsigned i = fixed; i < n; i++)
            seen |= learn(m, fn, LLVMGetOperand(call, i), conversion_of(f.items[k], i - fixed));
    pttable_put(&m->prints, (uintptr_t)callee, seen);
}

void mut_formats(Mutability *m)
{
    m->printed['s'] = m->printed['p'] = true;
    m->printed[0] = true;                    /* the function does not look at it */
    for (size_t i = 0; i < m->nbodies; i++) {
        if (!m->bodies[i].fn)
            continue;
        LLVMValueRef fn = program_function_value(m->program, m->bodies[i].fn);
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(fn); k; k = LLVMGetNextBasicBlock(k))
            for (LLVMValueRef x = LLVMGetFirstInstruction(k); x; x = LLVMGetNextInstruction(x))
                if (LLVMIsACallInst(x))
                    learn_call(m, m->bodies[i].fn, x);
    }
    m->printed['n'] = m->printed['*'] = m->printed['$'] = false;
}

/* ---- pointers that are printed as such by way of a va_list */

/* The function of the library that the call names, if it is one. */
static const Summary *library_function(const Mutability *m, LLVMValueRef call)
{
    LLVMValueRef fn = LLVMIsACallInst(call) ? LLVMGetCalledValue(call) : NULL;
    size_t n;

    return fn && LLVMIsAFunction(fn) && LLVMIsDeclaration(fn)
               ? summaries_find(m->summaries, LLVMGetValueName2(fn, &n))
               : NULL;
}

/* Is a text used by anything but a printf() of the library that gets its arguments directly? */
static bool may_be_for_list(const Mutability *m, LLVMValueRef text)
{
    for (LLVMUseRef u = LLVMGetFirstUse(text); u; u = LLVMGetNextUse(u)) {
        const Summary *s = library_function(m, LLVMGetUser(u));
        if (!s || !s->variadic)
            return true;
    }
    return false;
}

static bool is_number(unsigned char letter) { return letter && strchr(NUMBERS, letter); }

/* Does it hand a pointer to a variadic function of the program, with a format that is not known, or
 * that has a number for it? */
static bool lists_pointer(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    LLVMTypeRef type = LLVMGetCalledFunctionType(call);
    unsigned fixed = LLVMCountParamTypes(type), n = LLVMGetNumArgOperands(call);

    if (!LLVMIsFunctionVarArg(type) || (LLVMIsAFunction(callee) && LLVMIsDeclaration(callee)))
        return false;
    Formats f = formats_of(call, fixed);
    for (unsigned i = fixed; i < n; i++) {
        LLVMValueRef v = LLVMGetOperand(call, i);
        if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMPointerTypeKind)
            continue;
        for (unsigned k = 0; k < f.n; k++)
            if (is_number(conversion_of(f.items[k], i - fixed)))
                return true;
        if (!f.n)
            return true;
    }
    return false;
}

static bool may_list(const Mutability *m, LLVMValueRef call)
{
    const Summary *s = library_function(m, call);

    return s ? !s->variadic && mut_makes_format(m, call, s) : lists_pointer(call);
}

void mut_find_lists(Mutability *m)
{
    LLVMModuleRef module = program_module(m->program);

    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g && !m->lists_pointers;
         g = LLVMGetNextGlobal(g))
        m->lists_pointers = mut_literal_has(g, 'p') && may_be_for_list(m, g);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b && !m->lists_pointers;
             b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                m->lists_pointers |= LLVMIsACallInst(i) && may_list(m, i);
}

bool mut_is_printed(const Mutability *m, LLVMValueRef call, unsigned arg)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    unsigned fixed;

    if (!LLVMIsAFunction(callee) || pttable_get(&m->prints, (uintptr_t)callee) != PRINTS ||
        arg < (fixed = LLVMCountParams(callee)))
        return false;
    Formats f = formats_of(call, fixed);
    for (unsigned k = 0; k < f.n; k++)
        if (!m->printed[conversion_of(f.items[k], arg - fixed)])
            return false;
    return f.n > 0;
}
