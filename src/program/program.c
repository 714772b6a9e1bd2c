/*
 * program - opens a program: reads it from the workspace, or links it first.
 *
 * LLVM's reader trusts its input, and we must not. So a child process builds the
 * program, and leaves two files:
 *
 *     linked/KEY.bc       the linked module
 *     linked/KEY.tables   the tables derived from it (tables.c)
 *
 * If the child dies while it reads a unit, the parent notes this, leaves the unit
 * out and starts another child. KEY is a hash of the units' ids in order, the
 * version of the format and LLVM's version.
 */
#include "base/file.h"
#include "base/proc.h"
#include "base/sha256.h"
#include "base/tempdir.h"
#include "program/debuginfo.h"
#include "program/program_int.h"
#include "program/version.h"
#include <assert.h>
#include <inttypes.h>
#include <fcntl.h>
#include <errno.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/ErrorHandling.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TABLES_VERSION "5"

/* ---- building, in the child */

static BuildState *fatal_state;      /* LLVM's handler gets no argument */

static void on_fatal(const char *reason)
{
    snprintf(fatal_state->said, sizeof fatal_state->said, "%s", reason);
    _exit(3);
}

/* The tables of a linked module, from its bitcode. */
static bool derive(Program *p, LLVMModuleRef m, const void *bitcode, size_t n, Err *err)
{
    DebugInfo d = { 0 };
    TypeOfNode of = { 0 };
    bool ok = debuginfo_read(&d, bitcode, n, err);
    if (ok) {
        types_build(&d, &p->arena, &p->types, &of);
        p->functions = functions_of_module(m, &p->arena, &p->nfunctions);
        p->variables = variables_of_module(m, &p->arena, &p->nvariables);
        describe(&d, &of, m, &p->arena, p->functions, p->nfunctions, p->variables, p->nvariables);
    }
    free(of.type);
    debuginfo_release(&d);
    return ok;
}

static bool build(const LinkUnit *units, size_t n, const char *base, BuildState *state, Err *err)
{
    Program *p = xcalloc(1, sizeof *p);
    Notes notes = { 0 };
    char *bitcode = xprintf("%s.bc", base), *tables = xprintf("%s.tables", base);
    p->ctx = LLVMContextCreate();
    p->module = link_units(p->ctx, units, n, state, &p->arena, &notes, err);
    p->notes = notes.items;
    p->nnotes = notes.len;
    bool ok = p->module;
    if (ok) {
        LLVMMemoryBufferRef b = LLVMWriteBitcodeToMemoryBuffer(p->module);
        const char *data = LLVMGetBufferStart(b);
        size_t size = LLVMGetBufferSize(b);
        ok = derive(p, p->module, data, size, err) && file_write(bitcode, data, size, err) &&
             tables_write(p, tables, tables_checksum(data, size), err);
    }
    return ok;       /* nothing is freed: the process ends here */
}

/* The child dies quietly: no handler of the parent's may catch it, and what
 * LLVM prints about broken input stays inside. */
static void isolate(BuildState *state)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0)
        dup2(null, 2);
    fatal_state = state;
    LLVMInstallFatalErrorHandler(on_fatal);
}

/* ---- building, seen from the parent */

/* Did it die of its own doing? Otherwise somebody killed it. */
static bool is_crash(int sig)
{
    return sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE || sig == SIGABRT ||
           sig == SIGTRAP;
}

/* One attempt. `finished` says whether another makes sense. */
static bool build_in_child(const LinkUnit *units, size_t n, const char *base, BuildState *state,
                           Err *err)
{
    state->unit = -1;
    state->finished = false;
    state->said[0] = 0;
    fflush(NULL);
    pid_t pid = proc_fork();
    if (pid < 0) {
        state->finished = true;
        return err_errno(err, "cannot start a process");
    }
    if (pid == 0) {
        Err e = { 0 };
        isolate(state);
        bool ok = build(units, n, base, state, &e);
        memcpy(state->said, e.msg, sizeof state->said);
        state->finished = true;
        _exit(ok ? 0 : 2);
    }
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (state->finished && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (state->finished)
        return err_set(err, "%s", state->said);
    if (WIFSIGNALED(status) && !is_crash(WTERMSIG(status))) {
        state->finished = true;
        return err_set(err, "stopped (%s)", strsignal(WTERMSIG(status)));
    }
    if (WIFSIGNALED(status))
        return err_set(err, "LLVM died of it (%s)", strsignal(WTERMSIG(status)));
    return err_set(err, "LLVM gave up: %s", *state->said ? state->said : "out of memory");
}

/* Builds the files BASE.bc and BASE.tables. If the child dies, the unit that it
 * was reading is left out; if it was not reading one, the next child puts each
 * unit through all the work alone, so that the guilty one shows. */
static bool build_files(LinkUnit *units, size_t n, const char *base, Arena *a, Err *err)
{
    BuildState *state =
        mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (state == MAP_FAILED)
        return err_errno(err, "memory");
    Err last = { 0 };
    bool ok;
    while (!(ok = build_in_child(units, n, base, state, &last))) {
        if (state->finished)
            break;
        if (state->unit >= 0 && !units[state->unit].excluded)
            units[state->unit].excluded = arena_printf(a, "left out: %s", last.msg);
        else if (!state->careful)
            state->careful = true;
        else
            break;
    }
    munmap(state, sizeof *state);
    return ok || err_set(err, "%s", last.msg);
}

/* ---- the module */

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

/* Without a handler LLVM prints an error and ends the tool. */
static void say_nothing(LLVMDiagnosticInfoRef info, void *arg)
{
    (void)info;
    (void)arg;
}

bool program_load_module(const Program *program, Err *err)
{
    Program *p = (Program *)program;
    if (p->module)
        return true;
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(ctx, say_nothing, NULL);
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
    Err err = { 0 };
    if (!program_load_module(p, &err)) {
        fprintf(stderr, "sundew: %s\n", err.msg);
        exit(2);
    }
    return p->module;
}

/* ---- open and close */

static bool file_checksum(const char *path, uint64_t *sum, Err *err)
{
    int fd = file_open_regular(path, true, err);
    struct stat st;
    if (fd < 0)
        return false;
    void *data = MAP_FAILED;
    if (fstat(fd, &st) == 0 && st.st_size > 0)
        data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (data == MAP_FAILED)
        return err_set(err, "%s: cannot be read", path);
    *sum = tables_checksum(data, (size_t)st.st_size);
    munmap(data, (size_t)st.st_size);
    return true;
}

/* KEY, the name of both files of these units. */
static void tables_key(const CapturedProgram *c, char key[ID_LEN + 1])
{
    char *version = xprintf("model " TABLES_VERSION " LLVM %s", program_llvm_version());
    Sha256 h;
    sha256_init(&h);
    sha256_add(&h, version, strlen(version) + 1);
    for (size_t i = 0; i < c->nunits; i++)
        sha256_add(&h, c->units[i]->id, strlen(c->units[i]->id) + 1);
    for (size_t i = 0; i < c->nlibraries; i++)
        sha256_add(&h, &c->ends[i], sizeof c->ends[i]);
    Strings renamed = { 0 };
    link_renamed(&c->link, &renamed);
    for (size_t i = 0; i < c->nlibraries; i++)
        link_renamed(&c->libraries[i]->link, &renamed);
    for (size_t i = 0; i < renamed.len; i++)
        sha256_add(&h, renamed.items[i], strlen(renamed.items[i]) + 1);
    strings_release(&renamed);
    sha256_end_id(&h, key);
    free(version);
}

/* The tables from the files, if both are there and whole. */
static bool load(Program *p, const char *base, Err *err)
{
    char *tables = xprintf("%s.tables", base);
    uint64_t sum = 0;
    p->bitcode = xprintf("%s.bc", base);
    bool ok = file_checksum(p->bitcode, &sum, err) && tables_read(p, tables, sum, err);
    free(tables);
    if (!ok)
        return false;
    p->listed = arena_array(&p->arena, const Function *, p->nfunctions);
    for (size_t i = 0; i < p->nfunctions; i++)
        if (!p->functions[i].intrinsic)
            p->listed[p->nlisted++] = &p->functions[i];
    return program_holds(p) || err_set(err, "%s.tables: damaged", base);
}

static LinkUnit *link_list(const CapturedProgram *c, Arena *a)
{
    LinkUnit *units = arena_array(a, LinkUnit, c->nunits);
    for (size_t i = 0; i < c->nunits; i++) {
        units[i].bitcode = c->units[i]->bitcode;
        units[i].name = c->units[i]->source;
        units[i].link = &c->link;
    }
    for (size_t k = 0; k < c->nlibraries; k++)
        for (size_t i = c->ends[k]; i < c->ends[k + 1]; i++) {
            units[i].library = c->libraries[k];
            units[i].link = &c->libraries[k]->link;
        }
    return units;
}

/* ---- what always holds */

/* Names and qualifiers lead to something else in the end. */
static bool ends_somewhere(const Type *t)
{
    enum { MOST_NAMES = 1000 };
    for (unsigned i = 0; t && i < MOST_NAMES; i++) {
        if (t->kind != TYPE_TYPEDEF && t->kind != TYPE_QUALIFIED && t->kind != TYPE_ARRAY)
            return true;
        t = t->target;
    }
    return false;
}

static bool type_holds(const Type *t)
{
    bool leads_on = t->kind == TYPE_POINTER || t->kind == TYPE_ARRAY || t->kind == TYPE_VECTOR ||
                    t->kind == TYPE_TYPEDEF || t->kind == TYPE_QUALIFIED ||
                    t->kind == TYPE_FUNCTION;
    if (!t->name || !t->file || (leads_on && !t->target) || !ends_somewhere(t))
        return false;
    for (unsigned i = 0; i < t->nfields; i++)
        if (!t->fields[i].name || !t->fields[i].type)
            return false;
    for (unsigned i = 0; i < t->nparams; i++)
        if (t->kind != TYPE_FUNCTION || !t->params[i])
            return false;
    return true;
}

static bool param_holds(const Param *q)
{
    return q->name && q->type &&
           (q->passing == PASSED_DIRECTLY || q->passing == PASSED_BY_COPY) == (q->nargs == 1) &&
           (q->passing == PASSED_SPLIT) == (q->nargs > 1);
}

/* Lists of functions are in the order of the module. */
static bool lists(const Function *const *list, unsigned n, const Function *fn)
{
    unsigned low = 0, high = n;
    while (low < high) {
        unsigned mid = low + (high - low) / 2;
        if (list[mid]->index < fn->index)
            low = mid + 1;
        else
            high = mid;
    }
    return low < n && list[low] == fn;
}

static bool calls_hold(const Function *f)
{
    for (unsigned i = 0; i < f->ncallers; i++)
        if ((i && f->callers[i - 1]->index >= f->callers[i]->index) ||
            !lists(f->callers[i]->callees, f->callers[i]->ncallees, f))
            return false;
    for (unsigned i = 0; i < f->ncallees; i++)
        if ((i && f->callees[i - 1]->index >= f->callees[i]->index) ||
            !lists(f->callees[i]->callers, f->callees[i]->ncallers, f))
            return false;
    return true;
}

static bool function_holds(const Program *p, const Function *f)
{
    bool ok = f->index < p->nfunctions && f == &p->functions[f->index] &&
              (!f->type || (f->type->kind == TYPE_FUNCTION && f->returns == f->type->target)) &&
              f->ncalls >= f->ncallers && (f->defined || !f->ncallees);
    for (unsigned i = 0; ok && i < f->nparams; i++)
        ok = param_holds(&f->params[i]);
    return ok && calls_hold(f);
}

bool program_holds(const Program *p)
{
    bool ok = p->nlisted <= p->nfunctions;
    for (size_t i = 0; ok && i < p->types.n; i++)
        ok = p->types.all[i]->index == i && type_holds(p->types.all[i]);
    for (size_t i = 0; ok && i < p->nfunctions; i++)
        ok = function_holds(p, &p->functions[i]);
    for (size_t i = 0; ok && i < p->nlisted; i++)
        ok = !p->listed[i]->intrinsic && (!i || p->listed[i - 1] < p->listed[i]);
    return ok;
}

void program_check(const Program *p) { assert(program_holds(p)); }

/* Empties all but the struct itself. */
static void release(Program *p)
{
    locations_free(p->locations);
    if (p->module)
        LLVMDisposeModule(p->module);
    if (p->ctx)
        LLVMContextDispose(p->ctx);
    if (p->scratch)
        tempdir_remove(p->scratch);
    map_release(&p->by_symbol);
    map_release(&p->by_source_name);
    types_release(&p->types);
    str_release(&p->tables);
    free(p->bitcode);
    arena_release(&p->arena);
    memset(p, 0, sizeof *p);
}

/* What is linked is kept under the units' ids, so it must be theirs. */
static bool check_units(const CapturedProgram *c, Err *err)
{
    for (size_t i = 0; i < c->nunits; i++) {
        const char *why = unit_check_bitcode(c->units[i]);
        if (*why)
            return err_set(err, "%s: %s (sundew doctor looks at the whole workspace)",
                           c->units[i]->source, why);
    }
    return true;
}

static bool build_and_load(Program *p, const CapturedProgram *c, const char *dir, const char *base,
                           Err *err)
{
    Arena a = { 0 };
    release(p);
    bool ok = check_units(c, err) && dir_make(dir, err) &&
              build_files(link_list(c, &a), c->nunits, base, &a, err) && load(p, base, err);
    arena_release(&a);
    if (ok)
        program_check(p);
    return ok;
}

Program *program_open(Workspace *ws, const CapturedProgram *captured, Err *err)
{
    char key[ID_LEN + 1];
    tables_key(captured, key);
    Program *p = xcalloc(1, sizeof *p);
    char *dir = path_join(workspace_dir(ws), "linked");
    char *base = path_join(dir, key);
    p->cached = load(p, base, NULL);
    bool ok = p->cached || build_and_load(p, captured, dir, base, err);
    free(base);
    free(dir);
    p->workspace = ws;
    p->captured = captured;
    if (ok) {
        p->key = arena_strdup(&p->arena, key);
        return p;
    }
    err_ctx(err, "program %s", captured->name);
    program_close(p);
    return NULL;
}

Program *program_open_bitcode(const char *const *files, size_t n, Err *err)
{
    Program *p = xcalloc(1, sizeof *p);
    Arena a = { 0 };
    LinkUnit *units = arena_array(&a, LinkUnit, n);
    for (size_t i = 0; i < n; i++)
        units[i].bitcode = units[i].name = files[i];
    const char *dir = tempdir_new(NULL, err);
    bool ok = dir;
    if (dir) {
        char *base = path_join(dir, "program");
        p->scratch = dir;
        uint64_t sum = 0;
        ok = build_files(units, n, base, &a, err) && load(p, base, err) &&
             file_checksum(p->bitcode, &sum, err);
        if (ok) {
            program_check(p);
            p->key = arena_printf(&p->arena, "%016" PRIx64, sum);
        }
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
    release(p);
    free(p);
}

const char *program_key(const Program *p) { return p->key; }

char *program_cache_path(const Program *p, const char *what)
{
    return xprintf("%s.%s", p->bitcode, what);
}

Workspace *program_workspace(const Program *p) { return p->workspace; }

const CapturedProgram *program_captured(const Program *p) { return p->captured; }

bool program_was_cached(const Program *p) { return p->cached; }

/* ---- functions */

const Function *const *program_functions(const Program *p, size_t *n)
{
    *n = p->nlisted;
    return p->listed;
}

size_t program_index_limit(const Program *p) { return p->nfunctions; }

/* Both maps, when a name is first asked for. A source name that several
 * functions have leads to none. */
static void index_functions(const Program *program)
{
    Program *p = (Program *)program;
    if (p->by_symbol.len)
        return;
    for (size_t i = 0; i < p->nfunctions; i++) {
        Function *fn = &p->functions[i];
        map_put(&p->by_symbol, fn->symbol, fn);
        bool first = !map_has(&p->by_source_name, fn->name);
        map_put(&p->by_source_name, fn->name, first ? fn : NULL);
    }
}

const Function *program_function(const Program *p, const char *name)
{
    index_functions(p);
    const Function *fn = map_get(&p->by_symbol, name);
    if (!fn)
        fn = map_get(&p->by_source_name, name);
    const char *colon = strrchr(name, ':');
    if (fn || !colon)
        return fn;
    char *file = xstrndup(name, (size_t)(colon - name));
    for (size_t i = 0; i < p->nfunctions && !fn; i++)
        if (strcmp(p->functions[i].name, colon + 1) == 0 &&
            path_ends_with(p->functions[i].file, file))
            fn = &p->functions[i];
    free(file);
    return fn;
}

const ProgramNote *program_notes(const Program *p, size_t *n)
{
    *n = p->nnotes;
    return p->notes;
}

const Types *program_types(const Program *p) { return &p->types; }

const Variable *program_variables(const Program *p, size_t *n)
{
    *n = p->nvariables;
    return p->variables;
}

LLVMValueRef program_function_value(const Program *p, const Function *fn)
{
    return LLVMGetNamedFunction(program_module(p), fn->symbol);
}

const Function *program_function_of(const Program *p, LLVMValueRef fn)
{
    size_t n;
    const char *name = LLVMGetValueName2(fn, &n);
    index_functions(p);
    return map_getn(&p->by_symbol, name, n);
}

bool llvm_is_address_taken(LLVMValueRef fn)
{
    for (LLVMUseRef u = LLVMGetFirstUse(fn); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (!LLVMIsACallInst(user) || LLVMGetCalledValue(user) != fn)
            return true;
        for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++)
            if (LLVMGetOperand(user, i) == fn)
                return true;
    }
    return false;
}

bool llvm_gep_offset(LLVMTargetDataRef layout, LLVMValueRef gep, int64_t *offset)
{
    LLVMTypeRef t = LLVMGetGEPSourceElementType(gep);

    *offset = 0;
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        if (!LLVMIsAConstantInt(index) || LLVMGetIntTypeWidth(LLVMTypeOf(index)) > 64)
            return false;
        int64_t k = LLVMConstIntGetSExtValue(index), step;
        if (i > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            *offset += (int64_t)LLVMOffsetOfElement(layout, t, (unsigned)k);
            t = LLVMStructGetTypeAtIndex(t, (unsigned)k);
            continue;
        }
        if (i > 1)
            t = LLVMGetElementType(t);
        if (!LLVMTypeIsSized(t) ||
            __builtin_mul_overflow(k, (int64_t)LLVMABISizeOfType(layout, t), &step) ||
            __builtin_add_overflow(*offset, step, offset))
            return false;
    }
    return true;
}
