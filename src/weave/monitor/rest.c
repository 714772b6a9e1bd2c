/*
 * What is passed for the "..." of functions that are recorded. Only the call knows:
 *
 *     f(fmt, 3, name);    becomes    sundew_rest(row, "is", 3, name); f(fmt, 3, name);
 *
 * Numbers say what they are by their IR types. A pointer is a text if the source says
 * so: a literal, an array of characters, a parameter, result, variable or member
 * that is a char *. All other pointers are just that. Calls through pointers, and those
 * that pass structs or more than can be kept, are left as they are.
 */
#include "runtime/format/tracefile.h"
#include "weave/monitor/monitor_int.h"
#include <llvm-c/DebugInfo.h>

enum { MOST_DEPTH = 12, MOST_LOOKS = 200, NO_TEXT = -1 };

typedef struct Rests {
    Woven *w;
    Map functions;               /* symbol -> Function */
    Map variables;               /* symbol -> Variable */
    unsigned looks;              /* at values, that one argument may still take */
} Rests;

/* ---- texts */

/* How many stars stand behind "char"; arrays count as their elements. */
static int stars(const Type *type)
{
    const Type *t = type ? type_plain(type) : NULL;
    if (t && t->kind == TYPE_ARRAY)
        return stars(t->target);
    if (t && t->kind == TYPE_POINTER && t->target) {
        int n = stars(t->target);
        return n < 0 || n > 8 ? NO_TEXT : n + 1;
    }
    bool character = t && t->kind == TYPE_SCALAR && t->size == 1 &&
                     (t->encoding == ENCODING_SIGNED_CHAR || t->encoding == ENCODING_UNSIGNED_CHAR);
    return character ? 0 : NO_TEXT;
}

static int address_of(int n) { return n < 0 ? NO_TEXT : n + 1; }

static bool is_characters(LLVMTypeRef t)
{
    while (LLVMGetTypeKind(t) == LLVMArrayTypeKind) {
        t = LLVMGetElementType(t);
        if (LLVMGetTypeKind(t) == LLVMIntegerTypeKind)
            return LLVMGetIntTypeWidth(t) == 8;
    }
    return false;
}

static int level_of(Rests *r, LLVMValueRef v, unsigned depth);

static int level_of_argument(const Rests *r, LLVMValueRef v)
{
    LLVMValueRef fn = LLVMGetParamParent(v);
    size_t n;
    const Function *f = map_get(&r->functions, LLVMGetValueName2(fn, &n));
    for (unsigned i = 0; f && i < f->nparams; i++)
        if (f->params[i].passing == PASSED_DIRECTLY &&
            f->params[i].first_arg < LLVMCountParams(fn) &&
            LLVMGetParam(fn, f->params[i].first_arg) == v)
            return stars(f->params[i].type);
    return NO_TEXT;
}

static int level_of_global(const Rests *r, LLVMValueRef v)
{
    size_t n;
    const Variable *g = map_get(&r->variables, LLVMGetValueName2(v, &n));
    if (is_characters(LLVMGlobalGetValueType(v)))
        return 1;
    return g ? address_of(stars(g->type)) : NO_TEXT;
}

/* A local variable is what is stored in it. */
static int level_of_local(Rests *r, LLVMValueRef v, unsigned depth)
{
    int n = is_characters(LLVMGetAllocatedType(v)) ? 1 : NO_TEXT;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u && n < 0; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        if (LLVMIsAStoreInst(i) && LLVMGetOperand(i, 1) == v)
            n = address_of(level_of(r, LLVMGetOperand(i, 0), depth + 1));
    }
    return n;
}

/* s->name, s.name: what the member is. */
static int level_of_member(const Rests *r, LLVMTypeRef record, LLVMValueRef index)
{
    unsigned k = (unsigned)LLVMConstIntGetZExtValue(index);
    const Type *t = monitor_slot_type(r->w, record);
    if (is_characters(LLVMStructGetTypeAtIndex(record, k)))
        return 1;
    uint64_t at = LLVMOffsetOfElement(r->w->layout, record, k) * 8;
    for (unsigned i = 0; t && i < t->nfields; i++)
        if (t->fields[i].offset == at && !t->fields[i].bit_field)
            return address_of(stars(t->fields[i].type));
    return NO_TEXT;
}

static int level_of_element(Rests *r, LLVMValueRef v, unsigned depth)
{
    LLVMTypeRef from = LLVMGetGEPSourceElementType(v);
    bool member = LLVMGetTypeKind(from) == LLVMStructTypeKind && LLVMGetNumOperands(v) == 3 &&
                  LLVMIsAConstantInt(LLVMGetOperand(v, 2));
    return member ? level_of_member(r, from, LLVMGetOperand(v, 2))
                  : level_of(r, LLVMGetOperand(v, 0), depth + 1);
}

static int level_of_call(const Rests *r, LLVMValueRef v)
{
    LLVMValueRef callee = LLVMGetCalledValue(v);
    size_t n;
    const Function *f =
        LLVMIsAFunction(callee) ? map_get(&r->functions, LLVMGetValueName2(callee, &n)) : NULL;
    return f ? stars(f->returns) : NO_TEXT;
}

/* A pointer as the source has it: 1 is a char *, 2 a char **; NO_TEXT: another, or it
 * can't be told. */
static int level_of(Rests *r, LLVMValueRef v, unsigned depth)
{
    int n;
    if (depth > MOST_DEPTH || !r->looks)
        return NO_TEXT;
    r->looks--;
    if (LLVMIsAArgument(v))
        return level_of_argument(r, v);
    if (LLVMIsAGlobalVariable(v))
        return level_of_global(r, v);
    if (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMGetElementPtr)
        return level_of_element(r, v, depth);
    if (!LLVMIsAInstruction(v))
        return NO_TEXT;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAlloca: return level_of_local(r, v, depth);
    case LLVMLoad: n = level_of(r, LLVMGetOperand(v, 0), depth + 1); return n > 0 ? n - 1 : NO_TEXT;
    case LLVMGetElementPtr: return level_of_element(r, v, depth);
    case LLVMCall: return level_of_call(r, v);
    case LLVMSelect:
        n = level_of(r, LLVMGetOperand(v, 1), depth + 1);
        return n >= 0 ? n : level_of(r, LLVMGetOperand(v, 2), depth + 1);
    case LLVMPHI:
        n = level_of(r, LLVMGetIncomingValue(v, 0), depth + 1);
        return n >= 0 || LLVMCountIncoming(v) < 2
                   ? n
                   : level_of(r, LLVMGetIncomingValue(v, 1), depth + 1);
    default: return NO_TEXT;
    }
}

/* ---- calls */

static bool is_copied(LLVMValueRef call, unsigned arg)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
    return LLVMGetCallSiteEnumAttribute(call, arg + 1, kind) != NULL;
}

/* One of SUNDEW_REST_…; 0: it can't be kept. */
static char kind_of(Rests *r, LLVMValueRef call, unsigned arg)
{
    LLVMValueRef v = LLVMGetOperand(call, arg);
    LLVMTypeRef t = LLVMTypeOf(v);
    r->looks = MOST_LOOKS;
    switch (LLVMGetTypeKind(t)) {
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(t) == 32   ? SUNDEW_REST_INT
               : LLVMGetIntTypeWidth(t) == 64 ? SUNDEW_REST_LONG
                                              : 0;
    case LLVMDoubleTypeKind: return SUNDEW_REST_DOUBLE;
    case LLVMPointerTypeKind:
        return is_copied(call, arg)     ? 0
               : level_of(r, v, 0) == 1 ? SUNDEW_REST_TEXT
                                        : SUNDEW_REST_POINTER;
    default: return 0;
    }
}

static void put_rest(Rests *r, LLVMValueRef call, size_t row)
{
    Woven *w = r->w;
    LLVMValueRef args[2 + SUNDEW_MOST_REST];
    char kinds[SUNDEW_MOST_REST + 1] = "";
    unsigned fixed = LLVMCountParamTypes(LLVMGetCalledFunctionType(call));
    unsigned n = LLVMGetNumArgOperands(call);
    if (n < fixed || n - fixed > SUNDEW_MOST_REST ||
        LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail)
        return;
    for (unsigned i = fixed; i < n; i++) {
        args[2 + i - fixed] = LLVMGetOperand(call, i);
        if (!(kinds[i - fixed] = kind_of(r, call, i)))
            return;
    }
    args[0] = weave_int(w, w->i32, row);
    args[1] = weave_text(w, kinds);
    LLVMTypeRef two[] = { w->i32, w->ptr };
    LLVMPositionBuilderBefore(w->builder, call);
    LLVMMetadataRef line = LLVMInstructionGetDebugLoc(call);
    LLVMValueRef around = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    LLVMSetCurrentDebugLocation2(w->builder, line ? line : weave_line_of(w, around));
    weave_call(w, weave_declare(w, "sundew_rest", LLVMFunctionType(w->void_, two, 2, true)), args,
               2 + n - fixed);
}

static void put_calls(Rests *r, LLVMValueRef callee, size_t row)
{
    Vec(LLVMValueRef) calls = { 0 };
    for (LLVMUseRef u = LLVMGetFirstUse(callee); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        if (LLVMIsACallInst(i) && LLVMGetCalledValue(i) == callee &&
            LLVMIsFunctionVarArg(LLVMGetCalledFunctionType(i)))
            vec_push(&calls, i);
    }
    for (size_t i = 0; i < calls.len; i++)
        put_rest(r, calls.items[i], row);
    vec_release(&calls);
}

void monitor_put_rests(Woven *w, const Monitoring *m)
{
    Rests r = { .w = w };
    size_t n;
    const Function *const *fns = program_functions(w->program, &n);
    for (size_t i = 0; i < n; i++)
        map_put(&r.functions, fns[i]->symbol, (void *)fns[i]);
    const Variable *vars = program_variables(w->program, &n);
    for (size_t i = 0; i < n; i++)
        map_put(&r.variables, vars[i].symbol, (void *)&vars[i]);
    for (size_t i = 0; i < m->rows.len; i++)
        if (m->rows.items[i].fn->variadic)
            put_calls(&r, m->rows.items[i].value, i);
    map_release(&r.functions);
    map_release(&r.variables);
}
