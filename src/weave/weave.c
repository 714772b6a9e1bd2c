/*
 * weave - the copy of a program's module, and an object file made of it.
 *
 *     weave_begin    the copy; what -O0 left in it and the source did not ask
 *                    for (noinline everywhere, frame pointers) goes
 *     probes         monitor.c and others
 *     weave_object   in a child process, because LLVM may die of hostile input:
 *                    optimise, the last touches (weave_at_last), object file
 */
#include "base/file.h"
#include "base/proc.h"
#include "weave/weave_int.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- begin, end */

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *arg)
{
    Woven *w = arg;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
        return;
    char *text = LLVMGetDiagInfoDescription(info);
    str_addf(&w->said, "%s%s", w->said.len ? "; " : "", text);
    w->failed = true;
    LLVMDisposeMessage(text);
}

/* A label in inline assembly may exist only once. */
static bool has_label(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    size_t n;
    if (!LLVMIsAInlineAsm(callee))
        return false;
    const char *text = LLVMGetInlineAsmAsmString(callee, &n);
    return memchr(text, ':', n) && !strstr(text, "${:uid}");
}

/* Does it depend on being a function of its own? Then -O0's noinline stays: it
 * may be the source's too. */
static bool needs_own_frame(Woven *w, LLVMValueRef fn)
{
    bool needs = false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            size_t n;
            if (LLVMGetInstructionOpcode(i) != LLVMCall)
                continue;
            const char *name = LLVMGetValueName2(LLVMGetCalledValue(i), &n);
            bool label = has_label(i);
            if (label) {
                weave_set_call(w, i, "noduplicate");
                weave_set(w, fn, "noduplicate", 0);
            }
            needs |= label || str_starts(name, "llvm.returnaddress") ||
                     str_starts(name, "llvm.frameaddress");
        }
    return needs;
}

/* A source file, read once, and where its lines begin. Empty: it is not there any
 * more. */
typedef struct SourceText {
    Str text;
    Vec(size_t) lines;
} SourceText;

static const SourceText *text_of(Map *files, const char *path)
{
    void **slot = map_slot(files, path);
    if (!*slot) {
        SourceText *s = xcalloc(1, sizeof *s);
        if (!file_read(path, &s->text, NULL))
            str_reset(&s->text);
        for (size_t i = 0; i < s->text.len; i++)
            if (!i || s->text.data[i - 1] == '\n')
                vec_push(&s->lines, i);
        *slot = s;
    }
    return *slot;
}

static void forget_texts(Map *files)
{
    for (size_t i = 0; i < files->len; i++) {
        SourceText *s = files->entries[i].value;
        str_release(&s->text);
        vec_release(&s->lines);
        free(s);
    }
    map_release(files);
}

/*
 * Does the source say noinline? -O0 says it of every function, so the bitcode
 * can't tell. What stands before and in the head of a definition does, as an
 * attribute or as a macro that is named after it:
 *
 *     __attribute__((noinline)) int f(int n) {      SQLITE_NOINLINE void g(void)
 */
static bool says_noinline(Woven *w, Map *files, const char *symbol)
{
    static const char *const words[] = { "noinline", "no_inline", "never_inline" };
    enum { BEFORE = 400, HEAD = 800 };
    const Function *fn = program_function(w->program, symbol);
    const SourceText *s = fn && fn->line ? text_of(files, fn->file) : NULL;
    if (!s || fn->line > s->lines.len)
        return false;
    const char *text = str_c(&s->text), *at = text + s->lines.items[fn->line - 1], *from = at;
    while (from > text && at - from < BEFORE && !strchr(";}", from[-1]))
        from--;
    size_t n = (size_t)(at - from) + strcspn(at, "{;");
    char *head = xstrndup(from, n < HEAD ? n : HEAD);
    bool says = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        says |= strcasestr(head, words[i]) != NULL;
    free(head);
    return says;
}

/* Bitcode is made with -O0, which says noinline and keeps frame pointers. */
static void forget_level(Woven *w, Map *files, LLVMValueRef fn)
{
    static const char pointer[] = "frame-pointer";
    size_t n;
    if (weave_has(fn, "optnone") || weave_has(fn, "naked") || needs_own_frame(w, fn))
        return;
    if (!says_noinline(w, files, LLVMGetValueName2(fn, &n)))
        weave_drop(fn, "noinline");
    LLVMRemoveStringAttributeAtIndex(fn, LLVMAttributeFunctionIndex, pointer, sizeof pointer - 1);
}

Woven *weave_begin(const Program *p, Err *err)
{
    Woven *w = xcalloc(1, sizeof *w);
    w->program = p;
    w->ctx = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(w->ctx, on_diagnostic, w);
    w->module = program_module_copy(p, w->ctx, err);
    if (!w->module) {
        weave_end(w);
        return NULL;
    }
    w->layout = LLVMGetModuleDataLayout(w->module);
    w->builder = LLVMCreateBuilderInContext(w->ctx);
    w->void_ = LLVMVoidTypeInContext(w->ctx);
    w->i1 = LLVMInt1TypeInContext(w->ctx);
    w->i8 = LLVMInt8TypeInContext(w->ctx);
    w->i32 = LLVMInt32TypeInContext(w->ctx);
    w->i64 = LLVMInt64TypeInContext(w->ctx);
    w->ptr = LLVMPointerTypeInContext(w->ctx, 0);
    Map files = { 0 };
    for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            forget_level(w, &files, f);
    forget_texts(&files);
    return w;
}

void weave_end(Woven *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->end.len; i++)
        w->end.items[i].run(w, w->end.items[i].arg);
    vec_release(&w->end);
    if (w->builder)
        LLVMDisposeBuilder(w->builder);
    if (w->module)
        LLVMDisposeModule(w->module);
    LLVMContextDispose(w->ctx);
    vec_release(&w->last);
    str_release(&w->said);
    arena_release(&w->arena);
    free(w);
}

/* ---- runtime */

/* No other program or library may be bound to our copy of the runtime. */
static void hide(LLVMModuleRef m)
{
    LLVMValueRef v;
    for (v = LLVMGetFirstFunction(m); v; v = LLVMGetNextFunction(v))
        if (!LLVMIsDeclaration(v) && LLVMGetLinkage(v) == LLVMExternalLinkage)
            LLVMSetVisibility(v, LLVMHiddenVisibility);
    for (v = LLVMGetFirstGlobal(m); v; v = LLVMGetNextGlobal(v))
        if (!LLVMIsDeclaration(v) && LLVMGetLinkage(v) == LLVMExternalLinkage)
            LLVMSetVisibility(v, LLVMHiddenVisibility);
}

bool weave_runtime(Woven *w, const char *libexec, const char *name, Err *err)
{
    char *path = xprintf("%s/runtime/%s.bc", libexec, name);
    bool ok = weave_link(w, path, err);
    free(path);
    return ok;
}

bool weave_link(Woven *w, const char *path, Err *err)
{
    char *said = NULL;
    LLVMMemoryBufferRef buffer = NULL;
    LLVMModuleRef m = NULL;
    bool ok = !LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &said);
    if (!ok) {
        err_set(err, "%s: %s", path, said);
        LLVMDisposeMessage(said);
    }
    if (ok && LLVMParseBitcodeInContext2(w->ctx, buffer, &m))
        ok = err_set(err, "%s: broken bitcode", path);
    if (buffer)
        LLVMDisposeMemoryBuffer(buffer);
    if (ok && strcmp(LLVMGetDataLayoutStr(m), LLVMGetDataLayoutStr(w->module)) != 0) {
        ok = err_set(err, "the program is for %s, but the runtime for %s", LLVMGetTarget(w->module),
                     LLVMGetTarget(m));
        LLVMDisposeModule(m);
    } else if (ok) {
        hide(m);
        str_reset(&w->said);
        if (LLVMLinkModules2(w->module, m))
            ok = err_set(err, "%s: %s", path, str_c(&w->said));
    }
    return ok;
}

/* ---- for a shared object */

/* Units of an executable say that they are for one ("PIE Level"), and thread-local
 * variables are then at fixed places. An empty module overrides that. */
bool weave_share(Woven *w, Err *err)
{
    static const char flag[] = "PIE Level";
    LLVMModuleRef m = LLVMModuleCreateWithNameInContext("sharing", w->ctx);
    LLVMSetTarget(m, LLVMGetTarget(w->module));
    LLVMSetDataLayout(m, LLVMGetDataLayoutStr(w->module));
    LLVMAddModuleFlag(m, LLVMModuleFlagBehaviorOverride, flag, sizeof flag - 1,
                      LLVMValueAsMetadata(LLVMConstInt(w->i32, 0, false)));
    str_reset(&w->said);
    return !LLVMLinkModules2(w->module, m) || err_set(err, "%s", str_c(&w->said));
}

/* ---- the address sanitizer */

void weave_asan(Woven *w)
{
    w->asan = true;
    for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !weave_has(f, "naked"))
            weave_set(w, f, "sanitize_address", 0);
}

/* ---- what is static */

static void expose(LLVMValueRef v)
{
    if (LLVMGetLinkage(v) == LLVMInternalLinkage) {
        LLVMSetLinkage(v, LLVMExternalLinkage);
        LLVMSetVisibility(v, LLVMDefaultVisibility);
    }
}

void weave_expose(Woven *w)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            expose(f);
    for (LLVMValueRef g = LLVMGetFirstGlobal(w->module); g; g = LLVMGetNextGlobal(g))
        if (LLVMGetInitializer(g))
            expose(g);
}

/* ---- the object */

/* What the child tells. */
typedef struct Told {
    bool finished;
    char said[1024];
} Told;

static Told *told;               /* LLVM's handler gets no argument */

static void on_fatal(const char *reason)
{
    snprintf(told->said, sizeof told->said, "%s", reason);
    _exit(3);
}

static LLVMTargetMachineRef machine_for(Woven *w, unsigned level, bool fixed, Err *err)
{
    LLVMInitializeAllTargetInfos();
    LLVMInitializeAllTargets();
    LLVMInitializeAllTargetMCs();
    LLVMInitializeAllAsmPrinters();
    LLVMInitializeAllAsmParsers();
    const char *triple = LLVMGetTarget(w->module);
    LLVMTargetRef target;
    char *said = NULL;
    if (LLVMGetTargetFromTriple(triple, &target, &said)) {
        err_set(err, "%s: %s", triple, said);
        LLVMDisposeMessage(said);
        return NULL;
    }
    return LLVMCreateTargetMachine(target, triple, "", "", (LLVMCodeGenOptLevel)level,
                                   fixed ? LLVMRelocStatic : LLVMRelocPIC, LLVMCodeModelDefault);
}

static bool optimise(Woven *w, LLVMTargetMachineRef tm, const WeaveObject *how, Err *err)
{
    char *passes = xprintf("%sdefault<O%u>", how->lines_only ? "strip-nonlinetable-debuginfo," : "",
                           how->level);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef e = LLVMRunPasses(w->module, passes, tm, options);
    LLVMDisposePassBuilderOptions(options);
    free(passes);
    return weave_llvm_error(e, err);
}

/* Last of all: it changes stack slots and variables, which the probes and tables
 * have found by then. */
static bool sanitize(Woven *w, LLVMTargetMachineRef tm, Err *err)
{
    static const char pointer[] = "frame-pointer";
    if (!w->asan)
        return true;
    /* Its stacks are found by frame pointers. */
    for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                                    LLVMCreateStringAttribute(w->ctx, pointer, sizeof pointer - 1,
                                                              "all", 3));
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef e = LLVMRunPasses(w->module, "asan", tm, options);
    LLVMDisposePassBuilderOptions(options);
    return weave_llvm_error(e, err);
}

static bool verify(Woven *w, Err *err)
{
    char *said = NULL;
    bool bad = LLVMVerifyModule(w->module, LLVMReturnStatusAction, &said);
    if (bad)
        err_set(err, "the woven module is broken: %s", said);
    LLVMDisposeMessage(said);
    return !bad;
}

static bool emit(Woven *w, LLVMTargetMachineRef tm, const char *path, Err *err)
{
    char *said = NULL;
    bool bad = LLVMTargetMachineEmitToFile(tm, w->module, (char *)path, LLVMObjectFile, &said);
    if (bad || w->failed)
        err_set(err, "no object: %s",
                w->said.len ? str_c(&w->said)
                : said      ? said
                            : "no reason given");
    LLVMDisposeMessage(said);
    return !bad && !w->failed;
}

/* SUNDEW_KEEP_IR=FILE: the module, for who debugs a weave. */
static void keep_ir(Woven *w)
{
    const char *path = getenv("SUNDEW_KEEP_IR");
    if (path && *path)
        LLVMPrintModuleToFile(w->module, path, NULL);
}

static bool make_object(Woven *w, const WeaveObject *how, const char *path, Err *err)
{
    LLVMTargetMachineRef tm = machine_for(w, how->level, how->fixed, err);
    bool ok = tm && verify(w, err) && optimise(w, tm, how, err);
    for (size_t i = 0; ok && i < w->last.len; i++)
        w->last.items[i].run(w, w->last.items[i].arg);
    ok = ok && sanitize(w, tm, err);
    if (ok)
        keep_ir(w);
    return ok && verify(w, err) && emit(w, tm, path, err);
}

static bool make_object_in_child(Woven *w, const WeaveObject *how, const char *path, Err *err)
{
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (told == MAP_FAILED)
        return err_errno(err, "memory");
    fflush(NULL);
    pid_t pid = proc_fork();
    if (pid == 0) {
        static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
        Err e = { 0 };
        for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
            signal(signals[i], SIG_DFL);     /* no handler of ours may catch it */
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (null >= 0 && !getenv("SUNDEW_KEEP_IR"))
            dup2(null, 2);
        LLVMInstallFatalErrorHandler(on_fatal);
        bool ok = make_object(w, how, path, &e);
        memcpy(told->said, e.msg, sizeof told->said);
        told->finished = true;
        _exit(ok ? 0 : 2);
    }
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    bool ok = pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (pid < 0)
        err_errno(err, "cannot start a process");
    else if (!ok && *told->said)
        err_set(err, "%s", told->said);
    else if (!ok)
        err_set(err, "LLVM died of it (%s)",
                WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "no reason given");
    munmap(told, sizeof *told);
    return ok;
}

/* ---- what the caller wants of it */

static void rename_main(Woven *w, const char *name)
{
    LLVMValueRef fn = LLVMGetNamedFunction(w->module, "main");
    if (fn && name)
        LLVMSetValueName2(fn, name, strlen(name));
}

static void show_functions(Woven *w)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) == LLVMExternalLinkage)
            LLVMSetVisibility(f, LLVMDefaultVisibility);
}

bool weave_object(Woven *w, const WeaveObject *how, const char *out, Err *err)
{
    WeaveObject made = *how;
    made.level = how->unoptimised ? 0 : how->level ? how->level : 2;
    if (made.level > 3)
        made.level = 3;
    assert(w->module && w->program);
    rename_main(w, how->rename_main);
    if (how->visible)
        show_functions(w);
    return make_object_in_child(w, &made, out, err);
}

const Program *weave_program(const Woven *w) { return w->program; }

bool weave_has_asan(const Woven *w) { return w->asan; }

bool weave_has_main(const Woven *w)
{
    LLVMValueRef start = LLVMGetNamedFunction(w->module, "main");
    return start && !LLVMIsDeclaration(start);
}
