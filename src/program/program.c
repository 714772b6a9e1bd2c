/*
 * program - open a program: from the workspace if it is there, else link it.
 *
 * LLVM's reader trusts its input more than we may, so a program is built by a
 * child process, which leaves two files:
 *
 *     models/KEY.bc       the linked module
 *     models/KEY.model    the tables derived from it (model.c)
 *
 * If the child dies over a unit, the unit is left out with a note and another
 * child begins again. KEY is made from the units' ids in order and from all
 * that decides how the files look.
 */
#include "base/file.h"
#include "base/sha256.h"
#include "base/tempdir.h"
#include "program/program_int.h"
#include <errno.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/ErrorHandling.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODEL_VERSION "1"

/* --- building, in the child */

static BuildState *fatal_state;      /* LLVM's handler gets no argument */

static void on_fatal(const char *reason)
{
    snprintf(fatal_state->said, sizeof fatal_state->said, "%s", reason);
    _exit(3);
}

static bool write_bitcode(LLVMModuleRef m, const char *path, Err *err)
{
    LLVMMemoryBufferRef buffer = LLVMWriteBitcodeToMemoryBuffer(m);
    bool ok = file_write(path, LLVMGetBufferStart(buffer),
                         LLVMGetBufferSize(buffer), err);
    LLVMDisposeMemoryBuffer(buffer);
    return ok;
}

static bool build(const LinkUnit *units, size_t n, const char *base,
                  BuildState *state, Err *err)
{
    Arena a = {0};
    Notes notes = {0};
    char *path = xprintf("%s.bc", base);
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMModuleRef m = link_units(ctx, units, n, state, &a, &notes, err);
    bool ok = m && write_bitcode(m, path, err);
    free(path);
    return ok;
}

/* --- building, seen from the parent */

static bool build_in_child(const LinkUnit *units, size_t n, const char *base,
                           BuildState *state, Err *err)
{
    memset(state, 0, sizeof *state);
    state->unit = -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return err_errno(err, "cannot start a process");
    if (pid == 0) {
        Err e = {0};
        fatal_state = state;
        LLVMInstallFatalErrorHandler(on_fatal);
        bool ok = build(units, n, base, state, &e);
        if (!ok)
            memcpy(state->said, e.msg, sizeof state->said);
        _exit(ok ? 0 : 2);
    }
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
        state->unit = -1;
        return err_set(err, "%s", *state->said ? state->said : "out of memory");
    }
    if (WIFSIGNALED(status))
        return err_set(err, "LLVM died of %s", strsignal(WTERMSIG(status)));
    return err_set(err, "LLVM gave up: %s", state->said);
}

/* Builds the files BASE.bc and BASE.model, without the units that LLVM does
 * not survive. */
static bool build_files(LinkUnit *units, size_t n, const char *base, Arena *a,
                        Err *err)
{
    BuildState *state = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (state == MAP_FAILED)
        return err_errno(err, "memory");
    bool ok;
    for (;;) {
        ok = build_in_child(units, n, base, state, err);
        if (ok || state->unit < 0 || (size_t)state->unit >= n)
            break;
        LinkUnit *u = &units[state->unit];
        if (u->excluded)
            break;
        u->excluded = arena_printf(a, "left out: %s", err->msg);
    }
    munmap(state, sizeof *state);
    return ok;
}

/* --- the module */

static bool parse(LLVMContextRef ctx, const char *path, LLVMModuleRef *m, Err *err)
{
    LLVMMemoryBufferRef buffer;
    char *said = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &said)) {
        err_set(err, "%s: %s", path, said);
        LLVMDisposeMessage(said);
        return false;
    }
    bool bad = LLVMParseBitcodeInContext2(ctx, buffer, m);
    LLVMDisposeMemoryBuffer(buffer);
    if (bad)
        return err_set(err, "%s: broken bitcode", path);
    return true;
}

LLVMModuleRef program_module_copy(const Program *p, LLVMContextRef ctx, Err *err)
{
    LLVMModuleRef m = NULL;
    return parse(ctx, p->bitcode, &m, err) ? m : NULL;
}

bool program_load_module(const Program *program, Err *err)
{
    Program *p = (Program *)program;
    if (p->module)
        return true;
    LLVMContextRef ctx = LLVMContextCreate();
    p->module = program_module_copy(p, ctx, err);
    if (!p->module) {
        LLVMContextDispose(ctx);
        return false;
    }
    p->ctx = ctx;
    return true;
}

LLVMModuleRef program_module(const Program *p)
{
    Err err = {0};
    if (!program_load_module(p, &err)) {
        fprintf(stderr, "sundew: %s\n", err.msg);
        exit(2);
    }
    return p->module;
}

/* --- open and close */

/* The name of the model files of these units. */
static void model_key(const CapturedProgram *c, char key[ID_LEN + 1])
{
    unsigned major, minor, patch;
    LLVMGetVersion(&major, &minor, &patch);
    char *version = xprintf("model " MODEL_VERSION " LLVM %u.%u.%u", major, minor,
                            patch);
    Sha256 h;
    sha256_init(&h);
    sha256_add(&h, version, strlen(version) + 1);
    for (size_t i = 0; i < c->nunits; i++)
        sha256_add(&h, c->units[i]->id, strlen(c->units[i]->id) + 1);
    sha256_end_id(&h, key);
    free(version);
}

static bool load(Program *p, const char *base, Err *err)
{
    p->bitcode = xprintf("%s.bc", base);
    if (!program_load_module(p, err))
        return false;
    p->functions = functions_of_module(p->module, &p->arena, &p->nfunctions);
    p->listed = arena_array(&p->arena, const Function *, p->nfunctions);
    for (size_t i = 0; i < p->nfunctions; i++) {
        Function *fn = &p->functions[i];
        map_put(&p->by_symbol, fn->symbol, fn);
        if (!fn->intrinsic)
            p->listed[p->nlisted++] = fn;
    }
    return true;
}

static LinkUnit *link_list(const CapturedProgram *c, Arena *a)
{
    LinkUnit *units = arena_array(a, LinkUnit, c->nunits);
    for (size_t i = 0; i < c->nunits; i++) {
        units[i].bitcode = c->units[i]->bitcode;
        units[i].name = c->units[i]->source;
    }
    return units;
}

Program *program_open(Workspace *ws, const CapturedProgram *captured, Err *err)
{
    char key[ID_LEN + 1];
    model_key(captured, key);
    Program *p = xcalloc(1, sizeof *p);
    char *dir = path_join(workspace_dir(ws), "models");
    char *base = path_join(dir, key);
    char *bitcode = xprintf("%s.bc", base);
    p->cached = file_exists(bitcode);
    bool ok = p->cached && load(p, base, NULL);
    if (!ok) {
        Arena a = {0};
        p->cached = false;
        ok = dir_make(dir, err)
            && build_files(link_list(captured, &a), captured->nunits, base, &a, err)
            && load(p, base, err);
        arena_release(&a);
    }
    free(bitcode);
    free(base);
    free(dir);
    if (ok)
        return p;
    err_ctx(err, "program %s", captured->name);
    program_close(p);
    return NULL;
}

Program *program_open_bitcode(const char *const *files, size_t n, Err *err)
{
    Program *p = xcalloc(1, sizeof *p);
    Arena a = {0};
    LinkUnit *units = arena_array(&a, LinkUnit, n);
    for (size_t i = 0; i < n; i++)
        units[i].bitcode = units[i].name = files[i];
    const char *dir = tempdir_new(NULL, err);
    bool ok = dir;
    if (dir) {
        char *base = path_join(dir, "program");
        p->scratch = dir;
        ok = build_files(units, n, base, &a, err) && load(p, base, err);
        free(base);
    }
    arena_release(&a);
    if (ok)
        return p;
    program_close(p);
    return NULL;
}

void program_close(Program *p)
{
    if (!p)
        return;
    if (p->module)
        LLVMDisposeModule(p->module);
    if (p->ctx)
        LLVMContextDispose(p->ctx);
    if (p->scratch)
        tempdir_remove(p->scratch);
    map_release(&p->by_symbol);
    map_release(&p->by_source_name);
    free(p->bitcode);
    arena_release(&p->arena);
    free(p);
}

bool program_was_cached(const Program *p)
{
    return p->cached;
}

/* --- functions */

const Function *const *program_functions(const Program *p, size_t *n)
{
    *n = p->nlisted;
    return p->listed;
}

const Function *program_function(const Program *p, const char *name)
{
    return map_get(&p->by_symbol, name);
}

LLVMValueRef program_function_value(const Program *p, const Function *fn)
{
    return LLVMGetNamedFunction(program_module(p), fn->symbol);
}

const Function *program_function_of(const Program *p, LLVMValueRef fn)
{
    size_t n;
    const char *name = LLVMGetValueName2(fn, &n);
    return map_getn(&p->by_symbol, name, n);
}
