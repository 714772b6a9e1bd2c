/* Runs of the user's command, with a program that writes down its calls of the API. */
#include "base/file.h"
#include "base/tempdir.h"
#include "engine/record/record.h"
#include "technique/protocols/protocols_int.h"
#include <assert.h>
#include <inttypes.h>
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

static bool run_command(Client *st, char *const *words, size_t n, const char *folder, Err *err)
{
    char *calls = xprintf("SUNDEW_CALLS=%s", folder);
    char *most = xprintf("SUNDEW_CALLS_MOST=%s", session_option(st->session, "calls"));
    char *env[] = { calls, most, CLIENT_ASAN, CLIENT_PERTURB, NULL };
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
                      .seconds = session_time(st->session) > 0 ? session_time(st->session) : 3600 };
    RunResult result = { 0 };
    bool ok = record_run(&run, &result, err);
    if (ok)
        tell_end(st, &result);
    run_result_release(&result);
    free(calls);
    free(most);
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
    if (how.damaged)
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
        session_note(st->session, "the command never called the API");
    return true;
}

bool client_record(Client *st, char *const *words, size_t n, Err *err)
{
    assert(words && n);
    const char *scratch = tempdir_new(NULL, err);
    char *folder = scratch ? path_join(scratch, "calls") : NULL;
    bool ok = scratch && dir_make(folder, err) && (st->build.path || make_build(st, err)) &&
              run_command(st, words, n, folder, err) && read_runs(st, folder, err);
    if (scratch)
        tempdir_remove(scratch);
    free(folder);
    return ok;
}
