/* Runs of the user's command, with a program that writes down its calls of the API. */
#include "base/file.h"
#include "base/progress.h"
#include "base/tempdir.h"
#include "base/units.h"
#include "engine/record/record.h"
#include "technique/protocols/protocols_int.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

char *client_path(const Client *st, const char *kind)
{
    char *safe = path_safe_name(st->name);
    char *path =
        xprintf("%s/protocols/%s.%s", workspace_dir(session_workspace(st->session)), safe, kind);
    free(safe);
    return path;
}

static bool is_stopped(void *session) { return session_interrupted(session); }

static bool is_inside(const Function *fn, void *client) { return client_is_inside(client, fn); }

ApiCallsPlan client_plan(Client *st)
{
    return (ApiCallsPlan){
        .callees = st->callees.items, .n = st->callees.len, .skips = is_inside, .arg = st
    };
}

/* With the address sanitizer, if that can be; it makes misuse loud. */
static bool make_build(Client *st, Err *err)
{
    const CapturedProgram *c = program_captured(st->program);
    ApiCallsPlan plan = client_plan(st);
    CallsKind kind = { .plan = &plan,
                       .key = str_c(&st->key),
                       .strict = c->kind == PROGRAM_EXECUTABLE &&
                                 !session_flag(st->session, "no-sanitizer") };
    Err first = { 0 };
    bool ok = build_calls(st->program, session_libexec(st->session), &kind, &st->build, &first);
    if (!ok && kind.strict) {
        kind.strict = false;
        ok = build_calls(st->program, session_libexec(st->session), &kind, &st->build, err);
        if (ok)
            session_note(st->session, "without the address sanitizer: %s", first.msg);
    } else if (!ok) {
        *err = first;
    }
    return ok || err_ctx(err, "--api");
}

static void tell_end(Client *st, const RunResult *r)
{
    st->hung = r->failure.kind == FAILURE_TIMEOUT;
    if (st->hung)
        session_incomplete(st->session, "the time was over before the command ended");
    else if (r->failure.signal)
        session_note(st->session, "the command was ended by signal %d", r->failure.signal);
    else if (r->failure.status)
        session_note(st->session, "the command ended with status %d", r->failure.status);
}

/* A run in which files fail may take this much longer than one in which they don't. */
enum { SLOWER = 5, GRACE = 10 };

/* `fault` is for the runtime, "17 stream", or NULL. */
static bool run_command(Client *st, char *const *words, size_t n, const char *folder,
                        const char *fault, Err *err)
{
    char *calls = xprintf("SUNDEW_CALLS=%s", folder);
    char *most = xprintf("SUNDEW_CALLS_MOST=%s", session_option(st->session, "calls"));
    double seconds = session_time_left(st->session, 3600), begin = clock_seconds();
    char *fails = xprintf("SUNDEW_CALLS_FAULT=%s", fault ? fault : "");
    char *env[] = { calls, most, fails, CLIENT_ASAN, CLIENT_PERTURB, NULL };
    RecordRun run = { .original = program_captured(st->program),
                      .woven = st->build.path,
                      .folder = folder,
                      .words = words,
                      .nwords = n,
                      .in_place = true,
                      .root = session_root(st->session),
                      .env = env,
                      .stop = is_stopped,
                      .arg = st->session,
                      .seconds = fault ? fmin(seconds, st->seconds * SLOWER + GRACE) : seconds };
    RunResult result = { 0 };
    bool ok = record_run(&run, &result, err);
    if (ok && !fault) {
        tell_end(st, &result);
        st->seconds = clock_seconds() - begin;
    }
    run_result_release(&result);
    free(calls);
    free(most);
    free(fails);
    return ok;
}

bool client_read(Client *st, const CallsBuild *b, const char *folder, ProtoRuns *out, Err *err)
{
    char *original = path_real(program_captured(st->program)->path);
    Vec(uint32_t) callee = { 0 };
    for (size_t i = 0; i < b->nsites; i++)
        vec_push(&callee, st->functions.items[b->sites[i].callee]);
    ProtoReading how = { .api = st->api,
                         .callee = callee.items,
                         .nsites = b->nsites,
                         .nleft = b->nfunctions,
                         .original = original,
                         .woven = b->path };
    bool ok = proto_runs_read(&how, folder, out, err);
    if (how.damaged && session_time_is_over(st->session))
        session_incomplete(
            st->session,
            "%zu processes were killed when the time was over; their calls are left out",
            how.damaged);
    else if (how.damaged)
        session_incomplete(st->session, "%zu files of calls are damaged and left out", how.damaged);
    vec_release(&callee);
    free(original);
    return ok;
}

static bool read_runs(Client *st, const char *folder, Err *err)
{
    size_t calls = 0, cut = 0;
    uint64_t lost = 0;
    if (!client_read(st, &st->build, folder, &st->runs, err))
        return false;
    for (size_t i = 0; i < st->runs.len; i++) {
        calls += st->runs.items[i]->calls.len;
        cut += st->runs.items[i]->end == PROTO_CUT_SHORT;
        lost += st->runs.items[i]->lost;
    }
    if (cut)
        session_note(st->session,
                     "%zu processes were killed or became another program: what they "
                     "did is not learned from",
                     cut);
    if (lost)
        session_incomplete(st->session,
                           "%" PRIu64 " calls were not recorded; give a larger --calls", lost);
    if (!st->runs.len)
        return err_set(err, "the command ran nothing of %s, or built it anew", st->name);
    if (!calls)
        session_note(st->session, "the command never called the API: nothing was learned");
    return true;
}

bool client_record(Client *st, char *const *words, size_t n, Err *err)
{
    assert(words && n);
    const char *scratch = tempdir_new(NULL, err);
    char *folder = scratch ? path_join(scratch, "calls") : NULL;
    bool ok = scratch && dir_make(folder, err) && (st->build.path || make_build(st, err)) &&
              run_command(st, words, n, folder, NULL, err) && read_runs(st, folder, err);
    if (scratch)
        tempdir_remove(scratch);
    free(folder);
    return ok;
}

/* -------------------------------------------------------------- injection */

/* The sites that the command has reached. */
static bool *reached(const Client *st)
{
    bool *hit = xcalloc(st->build.nsites + 1, sizeof *hit);
    for (size_t i = 0; i < st->runs.len; i++)
        for (size_t k = 0; k < st->runs.items[i]->calls.len; k++)
            hit[st->runs.items[i]->calls.items[k].site] = true;
    return hit;
}

static bool inject_one(Client *st, char *const *words, size_t n, const char *fault, Err *err)
{
    const char *scratch = tempdir_new(NULL, err);
    char *folder = scratch ? path_join(scratch, "calls") : NULL;
    bool ok = scratch && dir_make(folder, err) && run_command(st, words, n, folder, fault, err) &&
              client_read(st, &st->build, folder, &st->broken, err);
    if (scratch)
        tempdir_remove(scratch);
    free(folder);
    return ok;
}

bool client_inject(Client *st, char *const *words, size_t n, size_t most, Err *err)
{
    bool ok = true, *hit = reached(st);
    Progress p = progress_start("runs in which files fail", 0);
    for (uint32_t s = 0; ok && s < st->build.nsites && st->injected < most; s++) {
        const ProtoFunction *f =
            st->api->functions.items[st->functions.items[st->build.sites[s].callee]];
        const char *kind = hit[s] ? proto_fault(st->api, f) : NULL;
        if (!kind)
            continue;
        if (session_interrupted(st->session)) {
            session_incomplete(st->session, "not all failures were injected");
            break;
        }
        char *fault = xprintf("%u %s", s, kind);
        ok = inject_one(st, words, n, fault, err);
        progress_step(&p, ++st->injected, f->name);
        free(fault);
    }
    progress_end(&p);
    free(hit);
    return ok;
}
