/* Samples: of a new run with probes, or those that an earlier one left. */
#include "analysis/units/units.h"
#include "base/file.h"
#include "base/tempdir.h"
#include "engine/contract/known.h"
#include "engine/contract/observe.h"
#include "engine/record/record.h"
#include "engine/record/trace.h"
#include "technique/invariants/invariants_int.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

char *study_path(const Study *st, const char *kind)
{
    return known_path(workspace_dir(session_workspace(st->session)), st->name, kind);
}

static bool is_stopped(void *session) { return session_interrupted(session); }

/* Does the command run the program itself, without a shell or make between? */
static bool is_program(const Study *st, const char *word)
{
    const CapturedProgram *c = program_captured(st->program);
    char *a = path_real(word), *b = path_real(c->path);
    bool same = a && b && strcmp(a, b) == 0 && c->kind == PROGRAM_EXECUTABLE;

    free(a);
    free(b);
    return same;
}

static void tell_end(const Study *st, const RunResult *r)
{
    if (r->failure.kind == FAILURE_TIMEOUT)
        session_incomplete(st->session, "the time was over before the command ended");
    else if (r->failure.signal)
        session_note(st->session,
                     "the command was ended by signal %d; going on with what it "
                     "did before",
                     r->failure.signal);
    else if (r->failure.status)
        session_note(st->session, "the command ended with status %d", r->failure.status);
}

static bool run_recorded(const Study *st, const char *woven, const char *folder, Err *err)
{
    size_t n;
    char **tail = session_tail(st->session, &n);
    bool alone = is_program(st, tail[0]);
    char *calls = xprintf("SUNDEW_TRACE_CALLS=%s", session_option(st->session, "calls"));
    char *env[] = { calls, session_flag(st->session, "as-is") ? "SUNDEW_TRACE_AS_IS=1" : NULL,
                    NULL };
    RecordRun run = { .original = program_captured(st->program),
                      .woven = woven,
                      .folder = folder,
                      .words = tail + alone,
                      .nwords = n - alone,
                      .in_place = !alone,
                      .root = session_root(st->session),
                      .env = env,
                      .budget = 256 << 20,
                      .stop = is_stopped,
                      .arg = st->session,
                      .seconds = session_time(st->session) > 0 ? session_time(st->session) : 3600 };
    RunResult result = { 0 };
    bool ok = record_run(&run, &result, err);

    if (ok)
        tell_end(st, &result);
    run_result_release(&result);
    free(calls);
    return ok;
}

enum { MOST_COUNTS = 64 << 20 };

/* Calls of each function, those that were not sampled too. */
static void read_counts(Study *st, const char *folder)
{
    char *name = xprintf("%s/%s.calls", folder, program_key(st->program));
    Str bytes = { 0 };
    Err none = { 0 };
    uint64_t sum = 0;

    if (file_read_left(name, MOST_COUNTS, &bytes, &none))
        for (size_t i = 0; i + 8 <= bytes.len; i += 8) {
            uint64_t x;
            memcpy(&x, bytes.data + i, 8);
            sum += x;
        }
    session_examined(st->session, "%llu calls in the run", (unsigned long long)sum);
    session_json(st->session, "calls", json_integer((json_int_t)sum));
    str_release(&bytes);
    free(name);
}

static void tell_figures(const Study *st, const ObserveFigures *f)
{
    if (f->cut_short)
        session_note(st->session,
                     "%zu streams of the recording were cut short; what they hold "
                     "is used",
                     f->cut_short);
    if (f->full)
        session_incomplete(st->session,
                           "the recording of %zu threads ended at 256 MiB; give a "
                           "smaller --calls",
                           f->full);
    if (f->left_out)
        session_note(st->session,
                     "%" PRIu64 " fields are left out: 48 variables are looked at in "
                     "each function, the nearest first",
                     f->left_out);
    if (f->stopped)
        session_incomplete(st->session, "stopped before all calls were looked at");
}

static Samples *read_trace(const Study *st, const char *folder, Err *err)
{
    ObserveFigures figures = { 0 };
    Trace *t = trace_open(folder, st->program, err);

    if (!t) {
        err_ctx(err, "the command ran nothing of %s, or built it anew", st->name);
        return NULL;
    }
    Samples *samples = samples_new(session_seed(st->session));
    Units *units = units_new(st->program);
    ObservePlan plan = { .units = units, .stop = is_stopped, .stop_arg = st->session };
    observe(t, &plan, samples, &figures);
    units_free(units);
    trace_close(t);
    tell_figures(st, &figures);
    return samples;
}

static bool record(Study *st, Err *err)
{
    const char *scratch = tempdir_new(NULL, err);

    if (!scratch)
        return false;
    char *woven = path_join(scratch, path_base(program_captured(st->program)->path));
    char *folder = path_join(scratch, "trace"), *second = path_join(scratch, "again");
    RecordPlan plan = { .libexec = session_libexec(st->session),
                        .strategy = COPY_STATE,
                        .as_is = session_flag(st->session, "as-is") };
    bool ok = dir_make(folder, err) && record_weave(st->program, &plan, woven, NULL, err) &&
              run_recorded(st, woven, folder, err) && (st->samples = read_trace(st, folder, err));
    if (ok)
        read_counts(st, folder);
    if (ok && session_flag(st->session, "steady"))
        ok = dir_make(second, err) && run_recorded(st, woven, second, err) &&
             (st->again = read_trace(st, second, err));
    free(second);
    free(woven);
    free(folder);
    tempdir_remove(scratch);
    return ok;
}

static bool keep_samples(const Study *st, Err *err)
{
    char *path = study_path(st, "samples"), *dir = path_dir(path);
    bool ok = dir_make(dir, err) && samples_write(st->samples, path, err);

    free(path);
    free(dir);
    return ok;
}

bool study_samples(Study *st, Err *err)
{
    size_t n;

    if (session_has_tail(st->session)) {
        session_tail(st->session, &n);
        if (!n)
            return err_set(err, "a command stands after --");
        return record(st, err) && (session_flag(st->session, "check") || keep_samples(st, err));
    }
    char *path = study_path(st, "samples");
    bool there = file_exists(path);
    if (there)
        st->samples = samples_read(path, session_seed(st->session), err);
    else
        err_set(err,
                "no run of %s was recorded yet; give a command after --, such as "
                "-- make check",
                st->name);
    free(path);
    return st->samples != NULL;
}
