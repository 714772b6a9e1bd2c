/* Putting things into a module: see weave_int.h. */
#include "weave/weave_int.h"
#include <assert.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>

void weave_at_last(Woven *w, WeaveLast *run, void *arg)
{
    vec_push(&w->last, ((WeaveTouch){ run, arg }));
}

void weave_at_end(Woven *w, WeaveLast *run, void *arg)
{
    vec_push(&w->end, ((WeaveTouch){ run, arg }));
}

/* ---- attributes */

static unsigned kind_of(const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    assert(kind);                /* a name that this LLVM knows */
    return kind;
}

void weave_set(Woven *w, LLVMValueRef fn, const char *attribute, uint64_t value)
{
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(w->ctx, kind_of(attribute), value));
}

void weave_set_call(Woven *w, LLVMValueRef call, const char *attribute)
{
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(w->ctx, kind_of(attribute), 0));
}

bool weave_has(LLVMValueRef fn, const char *attribute)
{
    return LLVMGetEnumAttributeAtIndex(fn, LLVMAttributeFunctionIndex, kind_of(attribute)) != NULL;
}

void weave_drop(LLVMValueRef fn, const char *attribute)
{
    LLVMRemoveEnumAttributeAtIndex(fn, LLVMAttributeFunctionIndex, kind_of(attribute));
}

void weave_set_reads_only(Woven *w, LLVMValueRef fn, bool keeps)
{
    /* Two bits for each kind of memory, 1 being read and 2 write: what the
     * arguments point to, what no code of the program sees, the rest. */
    enum { ARGUMENTS = 1, INACCESSIBLE = 3 << 2, OTHER = 1 << 4 };
    weave_set(w, fn, "memory", ARGUMENTS | INACCESSIBLE | OTHER);
    weave_set(w, fn, "nounwind", 0);
    weave_set(w, fn, "willreturn", 0);
    weave_set(w, fn, "nocallback", 0);
    weave_set(w, fn, "nofree", 0);
    weave_set(w, fn, "nosync", 0);
    unsigned n = LLVMCountParams(fn);
    for (unsigned i = 0; i < n && !keeps; i++)
        if (LLVMTypeOf(LLVMGetParam(fn, i)) == w->ptr)
            LLVMAddAttributeAtIndex(fn, i + 1,
                                    LLVMCreateEnumAttribute(w->ctx, kind_of("nocapture"), 0));
}

/* ---- functions */

LLVMValueRef weave_declare(Woven *w, const char *name, LLVMTypeRef type)
{
    LLVMValueRef fn = LLVMGetNamedFunction(w->module, name);
    return fn ? fn : LLVMAddFunction(w->module, name, type);
}

/* A function is only inlined where it would run on the same processor. */
static void copy_target(LLVMValueRef from, LLVMValueRef to)
{
    static const char *const names[] = { "target-cpu", "target-features", "tune-cpu" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        LLVMAttributeRef a = LLVMGetStringAttributeAtIndex(from, LLVMAttributeFunctionIndex,
                                                           names[i], (unsigned)strlen(names[i]));
        if (a)
            LLVMAddAttributeAtIndex(to, LLVMAttributeFunctionIndex, a);
    }
}

void weave_define(Woven *w, LLVMValueRef fn, LLVMValueRef like)
{
    assert(LLVMIsDeclaration(fn));
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    weave_set(w, fn, "nounwind", 0);
    weave_set(w, fn, "uwtable", 2);
    if (like)
        copy_target(like, fn);
    LLVMPositionBuilderAtEnd(w->builder, weave_block(w, fn, "entry"));
    LLVMSetCurrentDebugLocation2(w->builder, NULL);
}

void weave_call_for_free(Woven *w, LLVMValueRef fn, LLVMValueRef *args, unsigned n)
{
    static const char cost[] = "call-inline-cost";
    LLVMValueRef call = weave_call(w, fn, args, n);
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                             LLVMCreateStringAttribute(w->ctx, cost, sizeof cost - 1, "0", 1));
}

LLVMBasicBlockRef weave_block(Woven *w, LLVMValueRef fn, const char *name)
{
    return LLVMAppendBasicBlockInContext(w->ctx, fn, name);
}

void weave_branch_unlikely(Woven *w, LLVMValueRef condition, LLVMBasicBlockRef yes,
                           LLVMBasicBlockRef no)
{
    LLVMValueRef branch = LLVMBuildCondBr(w->builder, condition, yes, no);
    LLVMMetadataRef weights[] = {
        LLVMMDStringInContext2(w->ctx, "branch_weights", 14),
        LLVMValueAsMetadata(weave_int(w, w->i32, 1)),
        LLVMValueAsMetadata(weave_int(w, w->i32, 1000000)),
    };
    LLVMMetadataRef node = LLVMMDNodeInContext2(w->ctx, weights, 3);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(w->ctx, "prof", 4),
                    LLVMMetadataAsValue(w->ctx, node));
}

LLVMValueRef weave_call(Woven *w, LLVMValueRef fn, LLVMValueRef *args, unsigned n)
{
    assert(n == LLVMCountParams(fn) || LLVMIsFunctionVarArg(LLVMGlobalGetValueType(fn)));
    LLVMValueRef call = LLVMBuildCall2(w->builder, LLVMGlobalGetValueType(fn), fn, args, n, "");
    LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(fn));
    return call;
}

LLVMValueRef weave_call_out(Woven *w, LLVMValueRef fn, LLVMValueRef *args, unsigned n)
{
    LLVMValueRef call = weave_call(w, fn, args, n);
    weave_set_call(w, call, "noinline");
    return call;
}

/* ---- places */

LLVMMetadataRef weave_line_of(Woven *w, LLVMValueRef fn)
{
    LLVMMetadataRef subprogram = LLVMGetSubprogram(fn);
    if (!subprogram)
        return NULL;
    return LLVMDIBuilderCreateDebugLocation(w->ctx, LLVMDISubprogramGetLine(subprogram), 0,
                                            subprogram, NULL);
}

void weave_go_to_entry(Woven *w, LLVMValueRef fn)
{
    assert(!LLVMIsDeclaration(fn));
    LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn));
    while (LLVMGetInstructionOpcode(i) == LLVMAlloca && LLVMGetNextInstruction(i))
        i = LLVMGetNextInstruction(i);
    LLVMPositionBuilderBefore(w->builder, i);
    LLVMSetCurrentDebugLocation2(w->builder, weave_line_of(w, fn));
}

/* Does the return belong to a call that becomes a jump? */
static bool is_tail(LLVMValueRef ret)
{
    LLVMValueRef i = LLVMGetPreviousInstruction(ret);
    if (i && LLVMGetInstructionOpcode(i) == LLVMBitCast)
        i = LLVMGetPreviousInstruction(i);
    return i && LLVMGetInstructionOpcode(i) == LLVMCall &&
           LLVMGetTailCallKind(i) == LLVMTailCallKindMustTail;
}

LLVMBasicBlockRef weave_go_to_return(Woven *w, LLVMValueRef fn, LLVMBasicBlockRef after)
{
    LLVMBasicBlockRef b = after ? LLVMGetNextBasicBlock(after) : LLVMGetFirstBasicBlock(fn);
    for (; b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        if (LLVMGetInstructionOpcode(end) != LLVMRet || is_tail(end))
            continue;
        LLVMPositionBuilderBefore(w->builder, end);
        LLVMMetadataRef line = LLVMInstructionGetDebugLoc(end);
        LLVMSetCurrentDebugLocation2(w->builder, line ? line : weave_line_of(w, fn));
        return b;
    }
    return NULL;
}

void weave_redirect(Woven *w, const char *f, const char *g)
{
    LLVMValueRef from = LLVMGetNamedFunction(w->module, f);
    if (!from || !LLVMIsDeclaration(from))
        return;
    LLVMValueRef to = weave_declare(w, g, LLVMGlobalGetValueType(from));
    LLVMReplaceAllUsesWith(from, to);
}

void weave_add_first_constructor(Woven *w, LLVMValueRef fn)
{
    static const char name[] = "llvm.global_ctors";
    LLVMTypeRef fields[] = { w->i32, w->ptr, w->ptr };
    LLVMTypeRef type = LLVMStructTypeInContext(w->ctx, fields, 3, false);
    LLVMValueRef values[] = { weave_int(w, w->i32, 0), fn, LLVMConstNull(w->ptr) };
    Vec(LLVMValueRef) all = { 0 };
    vec_push(&all, LLVMConstNamedStruct(type, values, 3));
    LLVMValueRef old = LLVMGetNamedGlobal(w->module, name);
    LLVMValueRef list = old ? LLVMGetInitializer(old) : NULL;
    unsigned n = list ? (unsigned)LLVMGetArrayLength2(LLVMTypeOf(list)) : 0;
    for (unsigned i = 0; i < n; i++)
        vec_push(&all, LLVMGetAggregateElement(list, i));
    if (old)
        LLVMDeleteGlobal(old);
    LLVMValueRef array = LLVMConstArray2(type, all.items, all.len);
    LLVMValueRef ctors = LLVMAddGlobal(w->module, LLVMTypeOf(array), name);
    LLVMSetLinkage(ctors, LLVMAppendingLinkage);
    LLVMSetInitializer(ctors, array);
    vec_release(&all);
}

void weave_path_of(LLVMValueRef instruction, Str *out)
{
    unsigned nfile = 0, ndir = 0;
    const char *file = LLVMGetDebugLocFilename(instruction, &nfile);
    const char *dir = LLVMGetDebugLocDirectory(instruction, &ndir);
    if (nfile && file[0] != '/' && ndir) {
        str_addn(out, dir, ndir);
        str_addc(out, '/');
    }
    str_addn(out, file, nfile);
}

/* ---- constants */

LLVMValueRef weave_int(Woven *w, LLVMTypeRef type, uint64_t value)
{
    (void)w;
    return LLVMConstInt(type, value, false);
}

const char *weave_constant_text(LLVMValueRef v, size_t *n)
{
    LLVMValueRef text = LLVMIsAGlobalVariable(v) ? LLVMGetInitializer(v) : NULL;
    return text && LLVMIsGlobalConstant(v) && LLVMIsAConstantDataSequential(text) &&
                   LLVMIsConstantString(text)
               ? LLVMGetAsString(text, n)
               : NULL;
}

LLVMValueRef weave_text(Woven *w, const char *text)
{
    LLVMValueRef bytes = LLVMConstStringInContext2(w->ctx, text, strlen(text), false);
    LLVMValueRef g = LLVMAddGlobal(w->module, LLVMTypeOf(bytes), "sundew.text");
    LLVMSetInitializer(g, bytes);
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(g, true);
    LLVMSetUnnamedAddress(g, LLVMGlobalUnnamedAddr);
    return g;
}

bool weave_llvm_error(LLVMErrorRef e, Err *err)
{
    if (!e)
        return true;
    char *text = LLVMGetErrorMessage(e);
    err_set(err, "LLVM: %s", text);
    LLVMDisposeErrorMessage(text);
    return false;
}
