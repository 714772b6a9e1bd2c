/*
 * Library functions of a program: see weave.h.
 *
 * A function that the program only declares, and for which share/standins has a
 * standin, is named sundew_standin_… from then on; standins.bc, without what nobody
 * needs, is linked in behind that, so that a standin can call the real function by
 * its name.
 */
#include "weave/weave_int.h"
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

static bool is_used(LLVMValueRef fn) { return LLVMGetFirstUse(fn) != NULL; }

/* The program's names of library functions become those of standins: the set of them. */
/* What a library's header promises of its function does not hold for our version, which
 * keeps tables and labels: calls must not be merged or moved. */
static void promise_nothing(LLVMValueRef f)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("memory", 6);
    for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef call = LLVMGetUser(u);
        if (LLVMIsACallInst(call) && LLVMGetCalledValue(call) == f)
            LLVMRemoveCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kind);
    }
}

static void redirect(Woven *w, const Standins *standins, Map *needed)
{
    LLVMValueRef next;
    for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = next) {
        size_t n;
        next = LLVMGetNextFunction(f);
        const char *name = LLVMGetValueName2(f, &n);
        if (!LLVMIsDeclaration(f) || !is_used(f) || str_starts(name, "llvm."))
            continue;
        const Standin *m = standins_find(standins, name);
        if (!m || !m->own)
            continue;
        LLVMValueRef to = weave_declare(w, m->own, LLVMGlobalGetValueType(f));
        promise_nothing(f);
        LLVMReplaceAllUsesWith(f, to);
        map_put(needed, m->own, NULL);
    }
}

static LLVMModuleRef read_standins(Woven *w, const char *path, Err *err)
{
    LLVMMemoryBufferRef buffer = NULL;
    LLVMModuleRef m = NULL;
    char *said = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &said)) {
        err_set(err, "%s: %s", path, said);
        LLVMDisposeMessage(said);
        return NULL;
    }
    if (LLVMParseBitcodeInContext2(w->ctx, buffer, &m)) {
        err_set(err, "%s: broken bitcode", path);
        m = NULL;
    } else if (strcmp(LLVMGetDataLayoutStr(m), LLVMGetDataLayoutStr(w->module)) != 0) {
        err_set(err, "the program is for %s, but the stand-ins for %s", LLVMGetTarget(w->module),
                LLVMGetTarget(m));
        LLVMDisposeModule(m);
        m = NULL;
    }
    LLVMDisposeMemoryBuffer(buffer);
    return m;
}

/* Only what is needed, and what that needs. A standin that is missing leaves the name as
 * it is: an error of the table's. */
static bool keep_only(LLVMModuleRef m, const Map *needed, Err *err)
{
    for (size_t i = 0; i < needed->len; i++) {
        LLVMValueRef f = LLVMGetNamedFunction(m, needed->entries[i].key);
        if (!f || LLVMIsDeclaration(f))
            return err_set(err, "there is no %s() among the stand-ins", needed->entries[i].key);
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        if (!LLVMIsDeclaration(f) && !map_has(needed, LLVMGetValueName2(f, &n)))
            LLVMSetLinkage(f, LLVMInternalLinkage);
    }
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef e = LLVMRunPasses(m, "globaldce", NULL, options);
    LLVMDisposePassBuilderOptions(options);
    return weave_llvm_error(e, err);
}

bool weave_link_only(Woven *w, const char *path, const Map *needed, Err *err)
{
    LLVMModuleRef m = needed->len ? read_standins(w, path, err) : NULL;
    if (!m)
        return !needed->len;
    if (!keep_only(m, needed, err)) {
        LLVMDisposeModule(m);
        return false;
    }
    str_reset(&w->said);
    return !LLVMLinkModules2(w->module, m) || err_set(err, "%s: %s", path, str_c(&w->said));
}

bool weave_standins(Woven *w, const Standins *standins, const char *libexec, Err *err)
{
    Map needed = { 0 };
    char *path = xprintf("%s/runtime/standins.bc", libexec);
    redirect(w, standins, &needed);
    bool ok = weave_link_only(w, path, &needed, err);
    free(path);
    map_release(&needed);
    return ok;
}
