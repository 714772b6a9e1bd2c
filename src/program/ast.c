/*
 * The AST index: which units must be parsed, the workers that do it, and the
 * merging of what they wrote.
 *
 * Each unit has one file, named after its command, with the facts and a list
 * of the files they came from. It is used again if all of these still have
 * their size and time, or else their content. Otherwise a worker, a forked
 * process, parses the unit and writes the file anew. Units are merged in the
 * order of the commands, so the index does not depend on who was faster.
 */
#include "program/ast.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/sha256.h"
#include "base/tempdir.h"
#include "base/units.h"
#include "program/ast_int.h"
#include <clang-c/Index.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
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

typedef enum { UNIT_WAITS, UNIT_CACHED, UNIT_PARSED, UNIT_LOST } Progressed;

typedef struct Job {
    const CompileCommand *cmd;
    char *facts;               /* path of its file */
    Progressed state;
    AstTrouble trouble;        /* of a lost one */
    char *said;
} Job;

typedef struct Worker {
    pid_t pid;                 /* 0: free */
    Job *job;
    double until;
    char *log;                 /* where it says why it could not */
} Worker;

typedef struct Work {
    const AstPlan *plan;
    const char *dir, *scratch;
    Vec(Job) jobs;
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
    Str s = {0};
    char id[ID_LEN + 1] = "";
    if (file_read(in->path, &s, NULL))
        sha256_id(s.data ? s.data : "", s.len, id);
    str_release(&s);
    return strcmp(id, in->id) == 0;
}

/* Units share most of their headers: each is looked at once. */
static bool is_unchanged(Work *w, const AstInput *in)
{
    char *key = xprintf("%s|%lld|%lld|%s", in->path, (long long)in->size,
                        (long long)in->mtime, in->id);
    void **slot = map_slot(&w->checked, key);
    free(key);
    if (!*slot) {
        struct stat sb;
        bool same = stat(in->path, &sb) == 0 && sb.st_size == in->size;
        if (same && sb.st_mtim.tv_sec * 1000000000LL + sb.st_mtim.tv_nsec !=
                        in->mtime)
            same = same_content(in);
        *slot = same ? "same" : "changed";
    }
    return **(char **)slot == 's';
}

static bool is_fresh(Work *w, const char *path)
{
    AstStore st = {0};
    Str s = {0};
    bool fresh = file_read(path, &s, NULL) &&
                 ast_read_inputs(&st, s.data, s.len) && st.inputs.len;
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

/* The child: parse, write, go. Nothing of the parent's is cleaned up. */
_Noreturn static void be_worker(const Work *w, const Job *job, const char *log)
{
    Err err = {0};
    AstStore st = {0};
    Str out = {0};
    int null = open("/dev/null", O_WRONLY);
    dup2(null, 1);
    dup2(null, 2);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    limit(RLIMIT_CORE, 0);
    if (MEMORY_CAN_BE_LIMITED)
        limit(RLIMIT_AS, w->plan->memory ? w->plan->memory : 4ull << 30);
    bool ok = chdir(job->cmd->directory) == 0 ||
              err_errno(&err, "%s", job->cmd->directory);
    ok = ok && ast_parse(&st, job->cmd, w->plan->root, &err);
    if (ok) {
        ast_write(&st, &out);
        ok = file_write(job->facts, out.data, out.len, &err);
    }
    if (!ok)
        file_write(log, err.msg, strlen(err.msg), NULL);
    _exit(ok ? 0 : 1);
}

static bool start(Work *w, Worker *worker, Job *job, Err *err)
{
    worker->job = job;
    worker->until = clock_seconds() +
                    (w->plan->seconds > 0 ? w->plan->seconds : 120);
    worker->pid = fork();
    if (worker->pid < 0) {
        worker->pid = 0;
        return err_errno(err, "fork");
    }
    if (worker->pid == 0)
        be_worker(w, job, worker->log);
    return true;
}

static void lose(Job *job, AstTrouble trouble, const char *fmt, const char *what)
{
    job->state = UNIT_LOST;
    job->trouble = trouble;
    job->said = xprintf(fmt, what);
}

static void reap(Worker *worker, int status)
{
    Job *job = worker->job;
    worker->pid = 0;
    if (job->state == UNIT_LOST)           /* we killed it */
        return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        job->state = UNIT_PARSED;
    } else if (WIFSIGNALED(status)) {
        lose(job, AST_WORKER_DIED, "the parser died: %s",
             strsignal(WTERMSIG(status)));
    } else {
        Str said = {0};
        if (file_read(worker->log, &said, NULL) && said.len)
            lose(job, AST_NOT_READ, "%s", str_c(&said));
        else
            lose(job, AST_WORKER_DIED, "%s", "the parser died");
        str_release(&said);
        unlink(worker->log);
    }
}

static void kill_worker(Worker *worker)
{
    int status;
    kill(worker->pid, SIGKILL);
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
        ;
    reap(worker, status);
}

/* Looks after the workers once; false if none has ended. */
static bool tend(Worker *workers, unsigned n)
{
    bool ended = false;
    for (unsigned i = 0; i < n; i++) {
        Worker *worker = &workers[i];
        int status;
        if (!worker->pid)
            continue;
        if (waitpid(worker->pid, &status, WNOHANG) == worker->pid) {
            reap(worker, status);
            ended = true;
        } else if (clock_seconds() > worker->until) {
            lose(worker->job, AST_WORKER_HUNG, "%s", "parsing took too long");
            kill_worker(worker);
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

static Job *next_job(Work *w, size_t *at)
{
    while (*at < w->jobs.len && w->jobs.items[*at].state != UNIT_WAITS)
        ++*at;
    return *at < w->jobs.len ? &w->jobs.items[(*at)++] : NULL;
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

static bool run_workers(Work *w, Err *err)
{
    unsigned n = w->plan->jobs ? w->plan->jobs : 1;
    Worker *workers = xcalloc(n, sizeof *workers);
    Progress progress = progress_start("reading units", w->jobs.len);
    size_t at = 0;
    bool ok = true;
    for (unsigned i = 0; i < n; i++)
        workers[i].log = xprintf("%s/said-%u", w->scratch, i);
    for (;;) {
        Worker *worker = idle(workers, n);
        Job *job = worker && ok && !is_stopped(w) ? next_job(w, &at) : NULL;
        if (job) {
            progress_step(&progress, at, job->cmd->file);
            ok = start(w, worker, job, err);
        } else if (!busy(workers, n)) {
            break;
        } else if (w->ix->stopped || !ok) {
            for (unsigned i = 0; i < n; i++)
                if (workers[i].pid) {
                    lose(workers[i].job, AST_NOT_READ, "%s", "interrupted");
                    kill_worker(&workers[i]);
                }
        } else if (!tend(workers, n)) {
            nap();
        }
    }
    progress_end(&progress);
    for (unsigned i = 0; i < n; i++)
        free(workers[i].log);
    free(workers);
    return ok;
}

/* ---- the index */

static void add_note(AstIndex *ix, AstTrouble trouble, const char *file,
                     const char *said)
{
    AstStore *st = ix->store;
    AstNote *notes = arena_array(&st->arena, AstNote, ix->nnotes + 1);
    if (ix->nnotes)
        memcpy(notes, ix->notes, ix->nnotes * sizeof *notes);
    notes[ix->nnotes++] = (AstNote){ .trouble = trouble,
        .file = ast_text(st, file), .text = ast_text(st, said) };
    ix->notes = notes;
}

static void merge_job(AstIndex *ix, const Job *job)
{
    AstStore *st = ix->store;
    Str s = {0};
    if (job->state == UNIT_LOST) {
        add_note(ix, job->trouble, job->cmd->file, job->said);
    } else if (!file_read(job->facts, &s, NULL) ||
               !ast_merge(st, s.data, s.len)) {
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
    Map seen = {0};
    for (size_t i = 0; i < commands->len; i++) {
        char *name = facts_name(w->plan, &commands->items[i]);
        if (map_put(&seen, name, NULL)) {
            Job *job = vec_grow(&w->jobs);
            job->cmd = &commands->items[i];
            job->facts = path_join(w->dir, name);
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
    w.dir = plan->cache ? plan->cache : w.scratch;
    bool ok = w.scratch && (!plan->cache || dir_make(plan->cache, err));
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
        free(w.jobs.items[i].said);
    }
    vec_release(&w.jobs);
    map_release(&w.checked);
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
        [AST_SUBSCRIPT] = "subscript", [AST_CALL] = "call",
        [AST_ENUMERATOR] = "enumerator", [AST_FUNCTION_NAME] = "function",
        [AST_MACRO] = "macro", [AST_SIZEOF] = "sizeof",
        [AST_ARITHMETIC] = "arithmetic", [AST_LITERAL] = "literal",
        [AST_OTHER] = "other",
    };
    return names[f];
}

const char *ast_int_kind_name(AstIntKind k)
{
    static const char *const names[] = {
        [AST_NOT_INTEGER] = "no integer", [AST_INT_PLAIN] = "plain",
        [AST_INT_ENUM] = "enum", [AST_INT_MACRO] = "macro",
        [AST_INT_SIZEOF] = "sizeof", [AST_INT_SIZEOF_POINTER] = "sizeof pointer",
        [AST_INT_STRLEN] = "strlen", [AST_INT_BOOLEAN] = "boolean",
        [AST_INT_CHARACTER] = "character", [AST_INT_ZERO] = "zero",
        [AST_INT_MINUS_ONE] = "-1", [AST_INT_LITERAL] = "number",
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
        str_addf(out, "%s:%u:%u: %s%s%s(", path_base(c->place.file->path),
                 c->place.line, c->place.column,
                 c->callee->record ? c->callee->record : "",
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
                 !c->callee->prototyped ? "?" : c->callee->variadic ? ", ..." : "",
                 c->caller->name, c->in_macro ? " in macro" : "");
        for (size_t k = 0; k < c->nargs; k++)
            dump_arg(&c->args[k], out);
    }
    for (size_t i = 0; i < ix->nnotes; i++)
        str_addf(out, "note: %s: %s\n", path_base(ix->notes[i].file),
                 ix->notes[i].text);
}
