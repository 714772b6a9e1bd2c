/*
 * --explore: look for inputs that get to sites which the command did not settle.
 *
 * The exploration (engine/explore/) makes inputs for the program; the watching program
 * then runs on each of them, one after the other. The evidence is added to that of
 * the command. An input that confirms a warning comes with the finding.
 */
#include "base/file.h"
#include "base/progress.h"
#include "base/tempdir.h"
#include "base/units.h"
#include "engine/explore/explore.h"
#include "engine/explore/program/c_front.h"
#include "engine/record/record.h"
#include "technique/confirm/confirm_int.h"
#include <assert.h>
#include <stdlib.h>

enum { MOST_INPUTS = 500, RUN_SECONDS = 5 };

typedef struct Looking {
    Inquiry *q;
    Strings argv;                    /* @@ for the input, or it comes from standard input */
    char *seed;                      /* a file; NULL: none */
    bool by_file;
    char *queue;
} Looking;

static bool is_interrupted(void *arg) { return session_interrupted(((Looking *)arg)->q->session); }

/* The command is the program itself; its first argument that is a file is the input. */
static bool read_command(Looking *l, Err *err)
{
    Inquiry *q = l->q;
    size_t n;
    char **tail = session_tail(q->session, &n);
    const CapturedProgram *c = program_captured(q->program);
    char *a = path_real(tail[0]), *b = path_real(c->path);
    bool same = a && b && !strcmp(a, b);
    free(a);
    free(b);
    if (!same || c->kind != PROGRAM_EXECUTABLE)
        return err_set(err,
                       "--explore needs a command that is the program itself, such as -- %s "
                       "INPUT",
                       c->name);
    strings_add(&l->argv, c->path);
    for (size_t i = 1; i < n; i++) {
        bool input = !l->seed && file_is_regular(tail[i]);
        if (input)
            l->seed = path_absolute(tail[i]);
        l->by_file |= input;
        strings_add(&l->argv, input ? "@@" : tail[i]);
    }
    return true;
}

/* A number is that of inputs to try; else it is a duration. */
static bool read_budget(const char *text, ExplorePlan *plan, Err *err)
{
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    if (end != text && !*end && n) {
        plan->executions = n;
        return true;
    }
    return duration_parse(text, &plan->time) ||
           err_set(err, "--explore %s: neither a duration nor a number of inputs", text);
}

static bool find_inputs(Looking *l, const char *out, Err *err)
{
    Session *s = l->q->session;
    char *seeds[] = { l->seed, NULL };
    ExploreResult r = { 0 };
    CPlan how = { .program = l->q->program,
                  .calls = session_calls(s),
                  .libexec = session_libexec(s),
                  .share = session_share(s),
                  .call = { .argv = strings_argv(&l->argv) },
                  .memory = session_memory(s) };
    CFront *c = c_front_new(&how);
    ExplorePlan plan = { .front = &c_front,
                         .subject = c,
                         .out = out,
                         .seeds = l->seed ? seeds : NULL,
                         .seed = session_seed(s),
                         .jobs = 1,
                         .interrupted = is_interrupted,
                         .arg = l };
    Progress p = progress_start("looking for inputs", 0);
    bool ok = read_budget(session_option(s, "explore"), &plan, err) && explore(&plan, &r, err);
    progress_end(&p);
    if (ok)
        session_note(s, "%zu inputs, %zu ways to fail", r.status.queue, r.nfailures);
    explore_result_release(&r);
    c_front_free(c);
    return ok;
}

/* One run of the watching program. How it ends does not matter. */
static bool run_input(Looking *l, const char *folder, const char *evidence, const char *input,
                      Err *err)
{
    Inquiry *q = l->q;
    Strings words = { 0 };
    char *watch = xprintf("SUNDEW_WATCH=%s", evidence);
    char *env[] = { watch, NULL };
    for (size_t i = 1; i < l->argv.len; i++)
        strings_add(&words, strcmp(l->argv.items[i], "@@") ? l->argv.items[i] : input);
    RecordRun run = { .original = program_captured(q->program),
                      .woven = q->binary,
                      .folder = folder,
                      .words = strings_argv(&words),
                      .nwords = words.len,
                      .root = session_root(q->session),
                      .input_file = l->by_file ? NULL : input,
                      .discard_output = true,
                      .env = env,
                      .stop = is_interrupted,
                      .arg = l,
                      .seconds = RUN_SECONDS };
    RunResult r = { 0 };
    bool ok = record_run(&run, &r, err);
    run_result_release(&r);
    strings_release(&words);
    free(watch);
    return ok;
}

/* The inputs lie in the folder that the sandbox shows. */
static bool run_all(Looking *l, const char *folder, const char *evidence, const char *from,
                    Err *err)
{
    Strings names = { 0 };
    bool ok = !file_is_dir(from) || dir_list(from, &names, err);
    for (size_t i = 0; ok && i < names.len && i < MOST_INPUTS && !is_interrupted(l); i++) {
        Str bytes = { 0 };
        char *path = path_join(from, names.items[i]), *copy = path_join(folder, names.items[i]);
        if (file_is_regular(path))
            ok = file_read(path, &bytes, err) && file_write(copy, bytes.data, bytes.len, err) &&
                 run_input(l, folder, evidence, copy, err);
        str_release(&bytes);
        free(path);
        free(copy);
    }
    strings_release(&names);
    return ok;
}

bool inquiry_explore(Inquiry *q, Err *err)
{
    Looking l = { .q = q };
    const char *scratch = tempdir_new(NULL, err);
    char *out = scratch ? path_join(scratch, "out") : NULL;
    char *folder = scratch ? path_join(scratch, "runs") : NULL;
    char *evidence = folder ? path_join(folder, "evidence") : NULL;
    char *queue = out ? path_join(out, "queue") : NULL,
         *bad = out ? path_join(out, "failures") : NULL;
    assert(q->binary);
    bool ok = scratch && session_need(q->session, NEEDS_CALLS, err) && read_command(&l, err) &&
              dir_make(folder, err) && find_inputs(&l, out, err) &&
              watch_file_make(q->watch, evidence, q->key, err) &&
              run_all(&l, folder, evidence, queue, err) &&
              run_all(&l, folder, evidence, bad, err) && inquiry_take(q, evidence, err);
    q->inputs = folder;              /* a finding may name one */
    strings_release(&l.argv);
    free(l.seed);
    free(out);
    free(evidence);
    free(queue);
    free(bad);
    return ok;
}
