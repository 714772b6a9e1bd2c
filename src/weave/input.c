/* Where a program begins and what its input means: see runtime/input/input.h. */
#include "runtime/clock/clock.h"
#include "weave/weave_int.h"

/* It stays a function of its own: inside of one of ours it would lose its lines. */
static void make_own(Woven *w, LLVMValueRef fn)
{
    LLVMSetVisibility(fn, LLVMHiddenVisibility);
    weave_set(w, fn, "noinline", 0);
}

bool weave_input(Woven *w, const char *libexec, Err *err)
{
    static const char name[] = "sundew_program_main";
    LLVMValueRef fn = LLVMGetNamedFunction(w->module, "main");
    LLVMValueRef target = LLVMGetNamedFunction(w->module, "LLVMFuzzerTestOneInput");
    bool has_main = fn && !LLVMIsDeclaration(fn);
    if (LLVMGetNamedFunction(w->module, name))         /* a driver's: see weave_driver() */
        return weave_runtime(w, libexec, "input", err);
    if (!has_main && (!target || LLVMIsDeclaration(target)))
        return err_set(err, "the program has neither main() nor LLVMFuzzerTestOneInput()");
    if (has_main) {
        LLVMSetValueName2(fn, name, sizeof name - 1);
        LLVMSetLinkage(fn, LLVMExternalLinkage);
        make_own(w, fn);
    }
    return weave_runtime(w, libexec, "input", err);
}

bool weave_driver(Woven *w, const char *symbol, const char *bitcode, Err *err)
{
    static const char unused[] = "sundew_unused_main";
    LLVMValueRef fn = LLVMGetNamedFunction(w->module, "main");
    LLVMValueRef called = LLVMGetNamedFunction(w->module, symbol);
    if (!called || LLVMIsDeclaration(called))
        return err_set(err, "there is no function %s", symbol);
    if (fn == called)
        return err_set(err, "main() is where a program begins anyway");
    if (fn && !LLVMIsDeclaration(fn))
        LLVMSetValueName2(fn, unused, sizeof unused - 1);
    LLVMSetLinkage(called, LLVMExternalLinkage);
    make_own(w, called);
    return weave_link(w, bitcode, err);
}

bool weave_make_visible(Woven *w, const char *symbol, Err *err)
{
    LLVMValueRef fn = LLVMGetNamedFunction(w->module, symbol);
    if (!fn || LLVMIsDeclaration(fn))
        return err_set(err, "there is no function %s", symbol);
    LLVMSetLinkage(fn, LLVMExternalLinkage);
    make_own(w, fn);
    return true;
}

bool weave_clock(Woven *w, const char *libexec, Err *err)
{
#define X(name) weave_redirect(w, #name, "sundew_clock_" #name);
    SUNDEW_CLOCK_FUNCTIONS(X)
#undef X
    return weave_runtime(w, libexec, "clock", err);
}
