/* Facts about values and functions that several rules ask for. */
#include "base/file.h"
#include "weave/watch/watch_int.h"
#include <ctype.h>
#include <llvm-c/DebugInfo.h>

const char *watch_name(LLVMValueRef v)
{
    size_t n;
    return LLVMGetValueName2(v, &n);
}

LLVMValueRef watch_callee_value(LLVMValueRef i)
{
    if (!LLVMIsACallInst(i))
        return NULL;
    LLVMValueRef f = LLVMGetCalledValue(i);
    return LLVMIsAFunction(f) ? f : NULL;
}

const char *watch_callee(LLVMValueRef i)
{
    LLVMValueRef f = watch_callee_value(i);
    return f ? watch_name(f) : NULL;
}

const char *watch_library(LLVMValueRef i)
{
    LLVMValueRef f = watch_callee_value(i);
    return f && LLVMIsDeclaration(f) ? watch_name(f) : NULL;
}

bool watch_is_named(LLVMValueRef i, const char *const *names)
{
    const char *callee = watch_library(i);
    return callee && str_is_one_of(callee, names);
}

LLVMValueRef watch_function_of(LLVMValueRef i)
{
    return LLVMGetBasicBlockParent(LLVMGetInstructionParent(i));
}

const char *watch_line_at(Watch *watch, LLVMValueRef i, unsigned line)
{
    Str path = { 0 };
    weave_path_of(i, &path);
    void **slot = map_slot(&watch->sources, str_c(&path));
    if (!*slot) {
        Str *text = xcalloc(1, sizeof *text);
        if (!file_is_regular(str_c(&path)) || !file_read(str_c(&path), text, NULL))
            str_reset(text);
        *slot = text;
    }
    const char *at = str_c(*slot);
    str_release(&path);
    while (*at && line > 1) {
        line -= *at == '\n';
        at++;
    }
    return line == 1 ? arena_strndup(&watch->arena, at, strcspn(at, "\n")) : "";
}

const char *watch_line(Watch *watch, LLVMValueRef i)
{
    return watch_line_at(watch, i, LLVMGetDebugLocLine(i));
}

bool watch_constant(LLVMValueRef v, int64_t *out)
{
    if (!LLVMIsAConstantInt(v) || LLVMGetIntTypeWidth(LLVMTypeOf(v)) > 64)
        return false;
    *out = LLVMConstIntGetSExtValue(v);
    return true;
}

LLVMValueRef watch_base(LLVMValueRef p)
{
    for (;;) {
        bool constant = LLVMIsAConstantExpr(p) && LLVMGetConstOpcode(p) == LLVMGetElementPtr;
        if (!LLVMIsAGetElementPtrInst(p) && !LLVMIsABitCastInst(p) && !constant)
            return p;
        p = LLVMGetOperand(p, 0);
    }
}

/* Comparisons with 0 and -1 tell an error, not a count. Copies that keep the value count
 * as the value. */
bool watch_is_ignored(LLVMValueRef v)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        int64_t c;
        if (LLVMIsATruncInst(i) || LLVMIsASExtInst(i)) {
            if (!watch_is_ignored(i))
                return false;
            continue;
        }
        if (!LLVMIsAICmpInst(i))
            return false;
        LLVMIntPredicate p = LLVMGetICmpPredicate(i);
        bool told = (watch_constant(LLVMGetOperand(i, 1), &c) && c <= 0 && c >= -1) ||
                    (watch_constant(LLVMGetOperand(i, 0), &c) && c <= 0 && c >= -1);
        /* n <= 0 and n > 0 tell the end, too; the count is still ignored. */
        if (!told || p == LLVMIntUGE || p == LLVMIntULT)
            return false;
    }
    return true;
}

bool watch_is_tested(LLVMValueRef p)
{
    for (LLVMUseRef u = LLVMGetFirstUse(p); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        if (LLVMIsAICmpInst(i) || LLVMIsAPHINode(i) || LLVMIsASelectInst(i) ||
            LLVMIsAPtrToIntInst(i))
            return true;
    }
    return false;
}

const char *watch_field(Watch *watch, LLVMValueRef p)
{
    while (LLVMIsAGetElementPtrInst(p) ||
           (LLVMIsAConstantExpr(p) && LLVMGetConstOpcode(p) == LLVMGetElementPtr)) {
        LLVMTypeRef type = LLVMGetGEPSourceElementType(p);
        if (LLVMGetTypeKind(type) == LLVMStructTypeKind && LLVMGetStructName(type) &&
            LLVMGetNumOperands(p) >= 3) {
            Str path = { 0 };
            str_addf(&path, "%s", LLVMGetStructName(type));
            for (int k = 2; k < LLVMGetNumOperands(p); k++) {
                int64_t c;
                if (watch_constant(LLVMGetOperand(p, (unsigned)k), &c))
                    str_addf(&path, ".%lld", (long long)c);
                else
                    str_add(&path, "[]");
            }
            const char *name = arena_strdup(&watch->arena, str_c(&path));
            str_release(&path);
            return name;
        }
        p = LLVMGetOperand(p, 0);
    }
    return NULL;
}

bool watch_is_constant_text(LLVMValueRef v, unsigned depth)
{
    LLVMValueRef base = watch_base(v);
    static const char *const catalogues[] = { "gettext", "dgettext", "dcgettext", "ngettext",
                                              NULL };
    if (LLVMIsAGlobalVariable(base))
        return LLVMIsGlobalConstant(base);
    if (watch_is_named(base, catalogues))
        return true;
    if (!depth)
        return false;
    if (LLVMIsASelectInst(base))
        return watch_is_constant_text(LLVMGetOperand(base, 1), depth - 1) &&
               watch_is_constant_text(LLVMGetOperand(base, 2), depth - 1);
    if (!LLVMIsAPHINode(base))
        return false;
    for (unsigned k = 0; k < LLVMCountIncoming(base); k++)
        if (!watch_is_constant_text(LLVMGetIncomingValue(base, k), depth - 1))
            return false;
    return true;
}

const char *watch_constant_text(LLVMValueRef v, size_t *n)
{
    return weave_constant_text(watch_base(v), n);
}

/* What a parameter points to, as the source has it; NULL: not known, or no pointer. */
static const Type *pointed_to(Watch *watch, LLVMValueRef fn, unsigned param)
{
    const Function *f = program_function(watch->w->program, watch_name(fn));
    const Type *t =
        f && param < f->nparams && f->params[param].type ? type_plain(f->params[param].type) : NULL;
    return t && t->kind == TYPE_POINTER && t->target ? type_plain(t->target) : NULL;
}

const Type *watch_record_of(Watch *watch, LLVMValueRef fn, LLVMValueRef argument)
{
    for (unsigned k = 0; k < LLVMCountParams(fn); k++)
        if (LLVMGetParam(fn, k) == argument) {
            const Type *t = pointed_to(watch, fn, k);
            return t && t->kind == TYPE_STRUCT ? t : NULL;
        }
    return NULL;
}

bool watch_same(LLVMValueRef a, LLVMValueRef b, unsigned depth)
{
    if (a == b)
        return true;
    if (!depth || !LLVMIsAInstruction(a) || !LLVMIsAInstruction(b) ||
        LLVMGetInstructionOpcode(a) != LLVMGetInstructionOpcode(b))
        return false;
    if (!LLVMIsALoadInst(a) && !LLVMIsAGetElementPtrInst(a))
        return false;
    if (LLVMGetNumOperands(a) != LLVMGetNumOperands(b))
        return false;
    for (int k = 0; k < LLVMGetNumOperands(a); k++)
        if (!watch_same(LLVMGetOperand(a, (unsigned)k), LLVMGetOperand(b, (unsigned)k), depth - 1))
            return false;
    return true;
}

static void add_loads(LLVMValueRef call, LLVMValueRef address, WatchValues *out)
{
    LLVMValueRef fn = watch_function_of(call);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsALoadInst(i) && watch_same(LLVMGetOperand(i, 0), address, 6) &&
                watch_is_behind(call, i, NULL))
                vec_push(out, i);
}

void watch_names_of(LLVMValueRef call, WatchValues *out)
{
    vec_push(out, call);
    for (LLVMUseRef u = LLVMGetFirstUse(call); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        if (LLVMIsAStoreInst(i) && LLVMGetOperand(i, 0) == call)
            add_loads(call, LLVMGetOperand(i, 1), out);
    }
}

/* ---- what a function may return */

typedef bool ReturnTest(Watch *watch, LLVMValueRef v, unsigned depth);

static bool any_return(Watch *watch, LLVMValueRef fn, ReturnTest *test)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        if (end && LLVMGetInstructionOpcode(end) == LLVMRet && LLVMGetNumOperands(end) == 1 &&
            test(watch, LLVMGetOperand(end, 0), 6))
            return true;
    }
    return false;
}

static const char *const null_library[] = {
    "fopen",    "fdopen",   "freopen", "opendir",  "getenv",   "secure_getenv", "strchr",
    "strrchr",  "strstr",   "strpbrk", "memchr",   "bsearch",  "localtime",     "gmtime",
    "getpwnam", "getpwuid", "tmpfile", "popen",    "fgets",    "strtok",        "strtok_r",
    "realpath", "getcwd",   "readdir", "getgrnam", "getgrgid", "dlsym",         "dlopen",
    "malloc",   "calloc",   "realloc", "strdup",   "strndup",  "reallocarray",  NULL,
};

static bool null_value(Watch *watch, LLVMValueRef v, unsigned depth)
{
    if (LLVMIsAConstantPointerNull(v))
        return true;
    if (!depth)
        return false;
    if (LLVMIsAPHINode(v)) {
        for (unsigned k = 0; k < LLVMCountIncoming(v); k++)
            if (null_value(watch, LLVMGetIncomingValue(v, k), depth - 1))
                return true;
        return false;
    }
    if (LLVMIsASelectInst(v))
        return null_value(watch, LLVMGetOperand(v, 1), depth - 1) ||
               null_value(watch, LLVMGetOperand(v, 2), depth - 1);
    /* A result that is tested is handled: the return is another value then. */
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
        if (LLVMIsAICmpInst(LLVMGetUser(u)))
            return false;
    LLVMValueRef f = watch_callee_value(v);
    return f && watch_may_return_null(watch, f);
}

bool watch_may_return_null(Watch *watch, LLVMValueRef fn)
{
    if (LLVMGetTypeKind(LLVMGetReturnType(LLVMGlobalGetValueType(fn))) != LLVMPointerTypeKind)
        return false;
    if (LLVMIsDeclaration(fn))
        return str_is_one_of(watch_name(fn), null_library);
    void **slot = map_slotn(&watch->null_facts, &fn, sizeof fn);
    if (*slot)
        return *slot == watch;
    *slot = &watch->arena;           /* no, while we look: for recursion */
    bool yes = any_return(watch, fn, null_value);
    *map_slotn(&watch->null_facts, &fn, sizeof fn) = yes ? (void *)watch : (void *)&watch->arena;
    return yes;
}

static bool negative_value(Watch *watch, LLVMValueRef v, unsigned depth)
{
    int64_t c;
    if (watch_constant(v, &c))
        return c < 0;
    if (depth && LLVMIsAPHINode(v))
        for (unsigned k = 0; k < LLVMCountIncoming(v); k++)
            if (negative_value(watch, LLVMGetIncomingValue(v, k), depth - 1))
                return true;
    return depth && LLVMIsASelectInst(v) &&
           (negative_value(watch, LLVMGetOperand(v, 1), depth - 1) ||
            negative_value(watch, LLVMGetOperand(v, 2), depth - 1));
}

bool watch_may_return_negative(Watch *watch, LLVMValueRef fn)
{
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(fn));
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) >= 32 &&
           !LLVMIsDeclaration(fn) && any_return(watch, fn, negative_value);
}

/* ---- purity */

static const char *const pure_library[] = {
    "strcmp",
    "strncmp",
    "strcasecmp",
    "strncasecmp",
    "memcmp",
    "strlen",
    "strnlen",
    "strchr",
    "strrchr",
    "memchr",
    "abs",
    "labs",
    "llabs",
    "tolower",
    "toupper",
    "isalpha",
    "isdigit",
    "isspace",
    "__ctype_b_loc",
    "__ctype_tolower_loc",
    "isupper",
    "islower",
    "isalnum",
    "__ctype_toupper_loc",
    "strcoll",
    "fabs",
    NULL,
};

static bool is_pure_call(Watch *watch, LLVMValueRef i)
{
    LLVMValueRef f = watch_callee_value(i);
    if (!f)
        return false;
    if (str_starts(watch_name(f), "llvm."))
        return !str_starts(watch_name(f), "llvm.mem") ||
               LLVMIsAAllocaInst(watch_base(LLVMGetOperand(i, 0)));
    if (LLVMIsDeclaration(f))
        return str_is_one_of(watch_name(f), pure_library);
    return watch_is_pure(watch, f);
}

static bool is_pure_instruction(Watch *watch, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMStore: return LLVMIsAAllocaInst(watch_base(LLVMGetOperand(i, 1)));
    case LLVMLoad: return !LLVMGetVolatile(i);
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMFence:
    case LLVMInvoke:
    case LLVMCallBr:
    case LLVMVAArg: return false;
    case LLVMCall: return is_pure_call(watch, i);
    default: return true;
    }
}

bool watch_is_pure(Watch *watch, LLVMValueRef fn)
{
    void **slot = map_slotn(&watch->pure_facts, &fn, sizeof fn);
    if (*slot)
        return *slot == watch;
    *slot = &watch->arena;           /* recursion may not end: not pure */
    bool pure = !LLVMIsDeclaration(fn);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); pure && b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); pure && i; i = LLVMGetNextInstruction(i))
            pure = is_pure_instruction(watch, i);
    *map_slotn(&watch->pure_facts, &fn, sizeof fn) = pure ? (void *)watch : (void *)&watch->arena;
    return pure;
}

/* ---- booleans */

static bool boolean_value(Watch *watch, LLVMValueRef v, unsigned depth)
{
    int64_t c;
    return watch_constant(v, &c) ? c == 0 || c == 1 : watch_is_boolean(watch, v, depth);
}

bool watch_is_boolean(Watch *watch, LLVMValueRef v, unsigned depth)
{
    if (!depth || LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMIntegerTypeKind)
        return false;
    if (LLVMGetIntTypeWidth(LLVMTypeOf(v)) == 1)
        return LLVMIsAICmpInst(v) || LLVMIsAFCmpInst(v) || LLVMIsABinaryOperator(v) ||
               LLVMIsAPHINode(v) || LLVMIsATruncInst(v) || watch_callee_value(v);
    if (LLVMIsAZExtInst(v))
        return watch_is_boolean(watch, LLVMGetOperand(v, 0), depth - 1);
    if (LLVMIsAPHINode(v)) {
        for (unsigned k = 0; k < LLVMCountIncoming(v); k++)
            if (!boolean_value(watch, LLVMGetIncomingValue(v, k), depth - 1))
                return false;
        return true;
    }
    LLVMValueRef f = watch_callee_value(v);
    if (!f || LLVMIsDeclaration(f))
        return false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        if (end && LLVMGetInstructionOpcode(end) == LLVMRet && LLVMGetNumOperands(end) == 1 &&
            !boolean_value(watch, LLVMGetOperand(end, 0), depth - 1))
            return false;
    }
    return true;
}

/* ---- where arguments come from */

bool watch_is_whole(Watch *watch)
{
    LLVMModuleRef m = watch->w->module;
    LLVMValueRef main = LLVMGetNamedFunction(m, "main");
    main = main ? main : LLVMGetNamedFunction(m, "sundew_program_main");
    return main && !LLVMIsDeclaration(main);
}

bool watch_knows_callers(Watch *watch, LLVMValueRef fn)
{
    if (!watch_is_whole(watch) && LLVMGetLinkage(fn) != LLVMInternalLinkage)
        return false;
    for (LLVMUseRef u = LLVMGetFirstUse(fn); u; u = LLVMGetNextUse(u))
        if (watch_callee_value(LLVMGetUser(u)) != fn)
            return false;
    return LLVMGetFirstUse(fn) != NULL;
}

unsigned watch_position(LLVMValueRef fn, LLVMValueRef parameter)
{
    unsigned n = 0;
    while (n < LLVMCountParams(fn) && LLVMGetParam(fn, n) != parameter)
        n++;
    return n;
}

bool watch_is_fixed(Watch *watch, LLVMValueRef parameter, unsigned depth)
{
    LLVMValueRef fn = LLVMGetParamParent(parameter);
    unsigned n = watch_position(fn, parameter);
    if (!depth || !watch_knows_callers(watch, fn))
        return false;
    for (LLVMUseRef u = LLVMGetFirstUse(fn); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef call = LLVMGetUser(u);
        LLVMValueRef v = n < LLVMGetNumArgOperands(call) ? LLVMGetOperand(call, n) : NULL;
        bool number = v && LLVMIsAConstantInt(v);
        if (!v || (!number && !watch_is_constant_text(v, 4) &&
                   !(LLVMIsAArgument(v) && watch_is_fixed(watch, v, depth - 1))))
            return false;
    }
    return true;
}

static void origin(Watch *watch, LLVMValueRef v, Str *out)
{
    const char *field;
    if (LLVMIsAZExtInst(v) || LLVMIsASExtInst(v) || LLVMIsATruncInst(v))
        v = LLVMGetOperand(v, 0);
    LLVMValueRef base = watch_base(v);
    if (LLVMIsAArgument(v))
        str_add(out, "parameter");
    else if ((field = watch_field(watch, v)) && !LLVMIsAAllocaInst(base))
        str_addf(out, "field %s", field);
    else if (LLVMIsAConstant(base))
        str_add(out,
                LLVMIsAGlobalVariable(base) && !LLVMIsGlobalConstant(base) ? "global" : "constant");
    else if (LLVMIsALoadInst(v) && (field = watch_field(watch, LLVMGetOperand(v, 0))))
        str_addf(out, "field %s", field);
    else if (watch_callee(v))
        str_addf(out, "result of %s", watch_callee(v));
    else
        str_add(out, "value");
}

const char *watch_origins(Watch *watch, LLVMValueRef call)
{
    Str text = { 0 };
    for (unsigned k = 0; k < LLVMGetNumArgOperands(call); k++) {
        str_add(&text, k ? "," : "");
        origin(watch, LLVMGetOperand(call, k), &text);
    }
    const char *result = arena_strdup(&watch->arena, str_c(&text));
    str_release(&text);
    return result;
}

bool watch_calls(LLVMValueRef fn, const char *const *names, unsigned depth)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef f = watch_callee_value(i);
            if (f && (str_is_one_of(watch_name(f), names) ||
                      (depth && !LLVMIsDeclaration(f) && watch_calls(f, names, depth - 1))))
                return true;
        }
    return false;
}

bool watch_is_behind(LLVMValueRef i, LLVMValueRef to, LLVMBasicBlockRef without)
{
    Vec(LLVMBasicBlockRef) work = { 0 };
    Map seen = { 0 };
    bool behind = false;
    for (LLVMValueRef k = LLVMGetNextInstruction(i); k && !behind; k = LLVMGetNextInstruction(k))
        behind = k == to;
    vec_push(&work, LLVMGetInstructionParent(i));
    while (!behind && work.len) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(work.items[--work.len]);
        for (unsigned k = 0; end && k < LLVMGetNumSuccessors(end); k++) {
            LLVMBasicBlockRef next = LLVMGetSuccessor(end, k);
            if (next == without || !map_putn(&seen, &next, sizeof next, to))
                continue;
            behind |= LLVMGetInstructionParent(to) == next;
            vec_push(&work, next);
        }
    }
    vec_release(&work);
    map_release(&seen);
    return behind;
}
