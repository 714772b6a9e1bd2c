/*
 * The AST index: which units must be parsed, the workers that do it, and the
 * merging of what they wrote.
 *
 * Each unit has one file, named after its command, with the facts and a list
 * of the files they came from. It is used again if all of these still have
 * their size and time, or else their content. Otherwise a worker, a forked
 * process, parses the unit and writes the file anew; it takes a handful of
 * units in turn. Units are merged in the
 * order of the commands, so the index does not depend on who was faster.
 */
#include "ast/ast.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/progress.h"
#include "base/sha256.h"
#include "base/tempdir.h"
#include "base/units.h"
#include "ast/ast_int.h"
#include <assert.h>
#include <clang-c/Index.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The address sanitizer's shadow memory is larger than any limit. */
#ifdef __SANITIZE_ADDRESS__
enum { MEMORY_CAN_BE_LIMITED = 0 };
#else
enum { MEMORY_CAN_BE_LIMITED = 1 };
#endif

/* Units that a worker reads in one go: starting a process costs as much as
 * parsing a small unit. */
enum { BATCH = 16 };

typedef enum { UNIT_WAITS, UNIT_CACHED, UNIT_PARSED, UNIT_LOST } Progressed;

typedef struct Job {
    const CompileCommand *cmd;
    char *facts;               /* path of its file */
    char *refused;             /* path of a file that says why there is none */
    Progressed state;
    AstTrouble trouble;        /* of a lost one */
    char *said;
} Job;

/* What a worker tells while it lives: how many of its units it has begun, and
 * how many it has ended. */
typedef struct Told {
    atomic_uint begun, ended;
} Told;

typedef struct Worker {
    pid_t pid;                 /* 0: free */
    Job *batch[BATCH];
    unsigned n, seen;          /* units; of these known to have ended */
    double until;              /* when the present unit must have ended */
    Told *told;                /* shared memory */
} Worker;

typedef struct Work {
    const AstPlan *plan;
    const char *scratch;
    char *dir;                 /* absolute */
    Vec(Job) jobs;
    Vec(Job *) waiting;        /* the next one last */
    size_t nended;
    Map checked;               /* path -> "same" or "changed", for this run */
    AstIndex *ix;
} Work;

/* ---- the cache */

static char *facts_name(const AstPlan *plan, const CompileCommand *cmd)
{
    Sha256 h;
    char id[ID_LEN + 1];
    sha256_init(&h);
    sha256_add(&h, cmd->directory, strlen(cmd->directory) + 1);
    sha256_add(&h, cmd->file, strlen(cmd->file) + 1);
    for (size_t i = 0; i < cmd->clang.len; i++)
        sha256_add(&h, cmd->clang.items[i], strlen(cmd->clang.items[i]) + 1);
    if (plan->root)
        sha256_add(&h, plan->root, strlen(plan->root));
    sha256_end_id(&h, id);
    return xprintf("%s.ast", id);
}

static bool same_content(const AstInput *in)
{
    Str s = { 0 };
    char id[ID_LEN + 1] = "";
    if (file_read(in->path, &s, NULL))
        sha256_id(s.data ? s.data : "", s.len, id);
    str_release(&s);
    return strcmp(id, in->id) == 0;
}

/* Units share most of their headers: each is looked at once. */
static bool is_unchanged(Work *w, const AstInput *in)
{
    char *key =
        xprintf("%s|%lld|%lld|%s", in->path, (long long)in->size, (long long)in->mtime, in->id);
    void **slot = map_slot(&w->checked, key);
    free(key);
    if (!*slot) {
        struct stat sb;
        bool same = stat(in->path, &sb) == 0 && sb.st_size == in->size;
        if (same && sb.st_mtim.tv_sec * 1000000000LL + sb.st_mtim.tv_nsec != in->mtime)
            same = same_content(in);
        *slot = same ? "same" : "changed";
    }
    return **(char **)slot == 's';
}

static bool is_fresh(Work *w, const char *path)
{
    AstStore st = { 0 };
    Str s = { 0 };
    bool fresh = file_read(path, &s, NULL) && ast_read_inputs(&st, s.data, s.len) && st.inputs.len;
    for (size_t i = 0; fresh && i < st.inputs.len; i++)
        fresh = is_unchanged(w, &st.inputs.items[i]);
    ast_store_release(&st);
    str_release(&s);
    return fresh;
}

/* ---- workers */

static void limit(int what, uint64_t n)
{
    struct rlimit rl = { n, n };
    setrlimit(what, &rl);
}

static bool read_unit(const Work *w, const Job *job, Map *ids, Err *err)
{
    AstStore st = { 0 };
    Str out = { 0 };
    bool ok = chdir(job->cmd->directory) == 0 || err_errno(err, "%s", job->cmd->directory);
    if (ok && access(job->cmd->file, R_OK) != 0)
        ok = err_set(err, "%s", strerror(errno));
    ok = ok && ast_parse(&st, job->cmd, w->plan->root, ids, err);
    if (ok) {
        ast_write(&st, &out);
        ok = file_write(job->facts, out.data, out.len, err);
    }
    str_release(&out);
    ast_store_release(&st);
    return ok;
}

/* The child: parse, write, go. Nothing of the parent's is cleaned up. */
_Noreturn static void be_worker(const Work *w, const Worker *me)
{
    Map ids = { 0 };
    int null = open("/dev/null", O_WRONLY);
    dup2(null, 1);
    dup2(null, 2);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    limit(RLIMIT_CORE, 0);
    if (MEMORY_CAN_BE_LIMITED)
        limit(RLIMIT_AS, w->plan->memory ? w->plan->memory : 4ull << 30);
    for (unsigned i = 0; i < me->n; i++) {
        Err err = { 0 };
        atomic_store(&me->told->begun, i + 1);
        if (!read_unit(w, me->batch[i], &ids, &err))
            file_write(me->batch[i]->refused, err.msg, strlen(err.msg), NULL);
        atomic_store(&me->told->ended, i + 1);
    }
    _exit(0);
}

static double next_deadline(const Work *w)
{
    return clock_seconds() + (w->plan->seconds > 0 ? w->plan->seconds : 120);
}

/* Small batches if there is little to do, so that all workers have some. */
static void take_batch(Work *w, Worker *worker, unsigned nworkers)
{
    size_t share = w->waiting.len / nworkers / 2 + 1;
    worker->n = worker->seen = 0;
    while (w->waiting.len && worker->n < BATCH && worker->n < share)
        worker->batch[worker->n++] = w->waiting.items[--w->waiting.len];
}

static bool start(Work *w, Worker *worker, Err *err)
{
    atomic_store(&worker->told->begun, 0);
    atomic_store(&worker->told->ended, 0);
    worker->until = next_deadline(w);
    worker->pid = proc_fork();
    if (worker->pid < 0) {
        worker->pid = 0;
        return err_errno(err, "fork");
    }
    if (worker->pid == 0)
        be_worker(w, worker);
    return true;
}

static void lose(Job *job, AstTrouble trouble, const char *fmt, const char *what)
{
    job->state = UNIT_LOST;
    job->trouble = trouble;
    job->said = xprintf(fmt, what);
}

/* Takes note of the units that have ended since last time. */
static void settle(Work *w, Worker *worker)
{
    unsigned ended = atomic_load(&worker->told->ended);
    for (; worker->seen < ended && worker->seen < worker->n; worker->seen++) {
        Job *job = worker->batch[worker->seen];
        Str said = { 0 };
        if (file_read(job->refused, &said, NULL))
            lose(job, AST_NOT_READ, "%s", str_c(&said));
        else
            job->state = UNIT_PARSED;
        str_release(&said);
        worker->until = next_deadline(w);
        w->nended++;
    }
}

/* The worker is no more. The unit it was at is lost, the rest goes to another. */
static void bury(Work *w, Worker *worker, AstTrouble trouble, const char *what)
{
    worker->pid = 0;
    settle(w, worker);
    if (worker->seen < worker->n) {
        lose(worker->batch[worker->seen++], trouble, "%s", what);
        w->nended++;
    }
    while (worker->n > worker->seen)
        vec_push(&w->waiting, worker->batch[--worker->n]);
}

static void kill_worker(Work *w, Worker *worker, AstTrouble trouble, const char *what)
{
    kill(worker->pid, SIGKILL);
    while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    bury(w, worker, trouble, what);
}

/* Looks after the workers once; false if none has ended. */
static bool tend(Work *w, Worker *workers, unsigned n)
{
    bool ended = false;
    for (unsigned i = 0; i < n; i++) {
        Worker *worker = &workers[i];
        int status;
        if (!worker->pid)
            continue;
        settle(w, worker);
        if (waitpid(worker->pid, &status, WNOHANG) == worker->pid) {
            char *what = WIFSIGNALED(status)
                             ? xprintf("the parser died: %s", strsignal(WTERMSIG(status)))
                             : xstrdup("the parser died");
            bury(w, worker, AST_WORKER_DIED, what);
            free(what);
            ended = true;
        } else if (clock_seconds() > worker->until) {
            kill_worker(w, worker, AST_WORKER_HUNG, "parsing took too long");
            ended = true;
        }
    }
    return ended;
}

static unsigned busy(const Worker *workers, unsigned n)
{
    unsigned count = 0;
    for (unsigned i = 0; i < n; i++)
        count += workers[i].pid != 0;
    return count;
}

static Worker *idle(Worker *workers, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (!workers[i].pid)
            return &workers[i];
    return NULL;
}

static bool is_stopped(Work *w)
{
    if (w->plan->stop && w->plan->stop(w->plan->arg))
        w->ix->stopped = true;
    return w->ix->stopped;
}

static void nap(void)
{
    struct timespec t = { 0, 2000000 };
    nanosleep(&t, NULL);
}

static void tend_all(Work *w, Worker *workers, unsigned n, Err *err, bool *ok)
{
    Progress progress = progress_start("reading units", w->jobs.len);
    for (;;) {
        Worker *worker = idle(workers, n);
        if (worker && w->waiting.len && *ok && !is_stopped(w)) {
            take_batch(w, worker, n);
            progress_step(&progress, w->nended, worker->batch[0]->cmd->file);
            *ok = start(w, worker, err);
        } else if (!busy(workers, n)) {
            break;
        } else if (is_stopped(w) || !*ok) {
            for (unsigned i = 0; i < n; i++)
                if (workers[i].pid)
                    kill_worker(w, &workers[i], AST_NOT_READ, "interrupted");
        } else if (!tend(w, workers, n)) {
            nap();
        }
    }
    progress_end(&progress);
}

static bool run_workers(Work *w, Err *err)
{
    unsigned n = w->plan->jobs ? w->plan->jobs : 1;
    bool ok = true;
    Told *told =
        mmap(NULL, n * sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (told == MAP_FAILED)
        return err_errno(err, "memory for workers");
    Worker *workers = xcalloc(n, sizeof *workers);
    for (unsigned i = 0; i < n; i++)
        workers[i].told = &told[i];
    for (size_t i = w->jobs.len; i-- > 0;)
        if (w->jobs.items[i].state == UNIT_WAITS)
            vec_push(&w->waiting, &w->jobs.items[i]);
    w->nended = w->jobs.len - w->waiting.len;
    tend_all(w, workers, n, err, &ok);
    vec_release(&w->waiting);
    free(workers);
    munmap(told, n * sizeof *told);
    return ok;
}

/* ---- the index */

static void add_note(AstIndex *ix, AstTrouble trouble, const char *file, const char *said)
{
    AstStore *st = ix->store;
    AstNote *notes = arena_array(&st->arena, AstNote, ix->nnotes + 1);
    if (ix->nnotes)
        memcpy(notes, ix->notes, ix->nnotes * sizeof *notes);
    notes[ix->nnotes++] =
        (AstNote){ .trouble = trouble, .file = ast_text(st, file), .text = ast_text(st, said) };
    ix->notes = notes;
}

static void merge_job(AstIndex *ix, const Job *job)
{
    AstStore *st = ix->store;
    Str s = { 0 };
    if (job->state == UNIT_LOST) {
        add_note(ix, job->trouble, job->cmd->file, job->said);
    } else if (!file_read(job->facts, &s, NULL) || !ast_merge(st, s.data, s.len)) {
        add_note(ix, AST_NOT_READ, job->cmd->file, "its facts could not be read");
    } else {
        ix->nunits += !st->error;
        ix->ncached += job->state == UNIT_CACHED;
        if (st->error)
            add_note(ix, AST_DID_NOT_COMPILE, job->cmd->file, st->error);
    }
    str_release(&s);
}

static int by_place(const void *pa, const void *pb)
{
    const AstCall *a = *(AstCall *const *)pa, *b = *(AstCall *const *)pb;
    int d = strcmp(a->place.file->path, b->place.file->path);
    if (d)
        return d;
    if (a->place.offset != b->place.offset)
        return a->place.offset < b->place.offset ? -1 : 1;
    d = strcmp(a->spelling.file->path, b->spelling.file->path);
    if (d)
        return d;
    if (a->spelling.offset != b->spelling.offset)
        return a->spelling.offset < b->spelling.offset ? -1 : 1;
    return strcmp(a->callee->key, b->callee->key);
}

static void show(AstIndex *ix)
{
    AstStore *st = ix->store;
    if (st->calls.len)
        qsort(st->calls.items, st->calls.len, sizeof *st->calls.items, by_place);
    ix->files = (const AstFile **)st->files.items;
    ix->nfiles = st->files.len;
    ix->functions = (const AstFunction **)st->functions.items;
    ix->nfunctions = st->functions.len;
    ix->calls = (const AstCall **)st->calls.items;
    ix->ncalls = st->calls.len;
}

static void plan_jobs(Work *w)
{
    const CompileCommands *commands = w->plan->commands;
    Map seen = { 0 };
    for (size_t i = 0; i < commands->len; i++) {
        char *name = facts_name(w->plan, &commands->items[i]);
        if (map_put(&seen, name, NULL)) {
            Job *job = vec_grow(&w->jobs);
            job->cmd = &commands->items[i];
            job->facts = path_join(w->dir, name);
            job->refused = xprintf("%s/%s.refused", w->scratch, name);
            if (is_fresh(w, job->facts))
                job->state = UNIT_CACHED;
        }
        free(name);
    }
    map_release(&seen);
}

AstIndex *ast_open(const AstPlan *plan, Err *err)
{
    AstIndex *ix = xcalloc(1, sizeof *ix);
    Work w = { .plan = plan, .ix = ix };
    ix->store = xcalloc(1, sizeof *ix->store);
    w.scratch = tempdir_new(NULL, err);
    bool ok = w.scratch && (!plan->cache || dir_make(plan->cache, err));
    if (ok)
        w.dir = path_absolute(plan->cache ? plan->cache : w.scratch);
    if (ok) {
        plan_jobs(&w);
        /* once, before forking: it sets up what all children need */
        clang_disposeIndex(clang_createIndex(1, 0));
        ok = run_workers(&w, err);
    }
    for (size_t i = 0; ok && i < w.jobs.len; i++)
        if (w.jobs.items[i].state != UNIT_WAITS)
            merge_job(ix, &w.jobs.items[i]);
    for (size_t i = 0; i < w.jobs.len; i++) {
        free(w.jobs.items[i].facts);
        free(w.jobs.items[i].refused);
        free(w.jobs.items[i].said);
    }
    vec_release(&w.jobs);
    map_release(&w.checked);
    free(w.dir);
    if (w.scratch)
        tempdir_remove(w.scratch);
    if (!ok) {
        ast_close(ix);
        err_ctx(err, "reading the sources");
        return NULL;
    }
    show(ix);
    return ix;
}

void ast_close(AstIndex *ix)
{
    if (!ix)
        return;
    ast_store_release(ix->store);
    free(ix->store);
    free(ix);
}

/* ---- seeing inside */

const char *ast_form_name(AstForm f)
{
    static const char *const names[] = {
        [AST_IDENTIFIER] = "identifier", [AST_MEMBER] = "member",
        [AST_SUBSCRIPT] = "subscript",   [AST_CALL] = "call",
        [AST_ENUMERATOR] = "enumerator", [AST_FUNCTION_NAME] = "function",
        [AST_MACRO] = "macro",           [AST_SIZEOF] = "sizeof",
        [AST_ARITHMETIC] = "arithmetic", [AST_LITERAL] = "literal",
        [AST_OTHER] = "other",
    };
    return names[f];
}

const char *ast_int_kind_name(AstIntKind k)
{
    static const char *const names[] = {
        [AST_NOT_INTEGER] = "no integer",  [AST_INT_PLAIN] = "plain",
        [AST_INT_ENUM] = "enum",           [AST_INT_MACRO] = "macro",
        [AST_INT_SIZEOF] = "sizeof",       [AST_INT_SIZEOF_POINTER] = "sizeof pointer",
        [AST_INT_STRLEN] = "strlen",       [AST_INT_BOOLEAN] = "boolean",
        [AST_INT_CHARACTER] = "character", [AST_INT_ZERO] = "zero",
        [AST_INT_MINUS_ONE] = "-1",        [AST_INT_LITERAL] = "number",
    };
    return names[k];
}

static void dump_arg(const AstArg *a, Str *out)
{
    str_addf(out, "  %s", ast_form_name(a->form));
    if (a->name)
        str_addf(out, " %s%s", a->lent ? "~" : "", a->name);
    if (a->owner)
        str_addf(out, " of %s", a->owner);
    if (a->macro)
        str_addf(out, " macro %s", a->macro);
    if (a->comment)
        str_addf(out, " /*%s*/", a->comment);
    str_addf(out, ": %s", a->type->spelling);
    if (a->inner != a->type)
        str_addf(out, " from %s", a->inner->spelling);
    if (a->passed != a->type)
        str_addf(out, " to %s", a->passed->spelling);
    if (a->integer)
        str_addf(out, " [%s]", ast_int_kind_name(a->integer));
    if (a->has_value)
        str_addf(out, " = %lld", (long long)a->value);
    if (a->enum_name)
        str_addf(out, " in %s", a->enum_name);
    if (a->sizeof_text)
        str_addf(out, " of (%s)", a->sizeof_text);
    for (size_t i = 0; i < a->nsources; i++)
        str_addf(out, " <- %s", a->sources[i]->spelling);
    if (a->parameter >= 0)
        str_addf(out, " parameter %d", a->parameter);
    str_add(out, a->in_macro ? " in macro\n" : "\n");
}

void ast_dump(const AstIndex *ix, Str *out)
{
    for (size_t i = 0; i < ix->ncalls; i++) {
        const AstCall *c = ix->calls[i];
        str_addf(out, "%s:%u:%u: %s%s%s(", path_base(c->place.file->path), c->place.line,
                 c->place.column, c->callee->record ? c->callee->record : "",
                 c->callee->record ? "." : "", c->callee->name);
        for (size_t k = 0; k < c->callee->nparams; k++) {
            const AstParam *p = &c->callee->params[k];
            str_addf(out, "%s%s", k ? ", " : "", p->type->spelling);
            for (size_t m = 0; m < p->nnames; m++)
                str_addf(out, "%s%s", m ? "/" : " ", p->names[m]);
            for (size_t m = 0; m < p->nbecomes; m++)
                str_addf(out, "->%s", p->becomes[m]->spelling);
        }
        str_addf(out, "%s) in %s%s\n",
                 !c->callee->prototyped ? "?"
                 : c->callee->variadic  ? ", ..."
                                        : "",
                 c->caller->name, c->in_macro ? " in macro" : "");
        for (size_t k = 0; k < c->nargs; k++)
            dump_arg(&c->args[k], out);
    }
    for (size_t i = 0; i < ix->nnotes; i++)
        str_addf(out, "note: %s: %s\n", path_base(ix->notes[i].file), ix->notes[i].text);
}

static void check_arg(const AstArg *a, const AstCall *c)
{
    assert(a->passed && a->type && a->inner);
    assert(!a->lent || a->name);
    assert(!a->nsources || a->sources);
    assert(!a->enum_name || a->enum_decl);
    assert(a->parameter >= -1 && a->parameter < (int)c->caller->nparams);
}

void ast_check(const AstIndex *ix)
{
    for (size_t i = 0; i < ix->nfunctions; i++) {
        assert(ix->functions[i]->key && ix->functions[i]->name);
        assert(!ix->functions[i]->nparams || ix->functions[i]->params);
    }
    for (size_t i = 0; i < ix->ncalls; i++) {
        const AstCall *c = ix->calls[i];
        assert(c->callee && c->caller && c->place.file);
        assert(!c->nargs || c->args);
        for (size_t k = 0; k < c->nargs; k++)
            check_arg(&c->args[k], c);
    }
    assert(ix->ncached <= ix->nunits);
}
