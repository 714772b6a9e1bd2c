/*
 * Modules that break the rules of an API they use.
 *
 * Calls of the API are written down while a command runs. Processes that ended well teach
 * the protocols; those that failed are held against them. A report needs three
 * things: the call breaks a protocol, it fails, and its function neither handles the failure
 * nor says that callers have to prevent it.
 */
#include "technique/protocols/protocols.h"
#include "base/file.h"
#include "technique/protocols/protocols_int.h"
#include <stdlib.h>
#include <string.h>

static const Option options[] = {
    { "api", 0, "NAMES",
      "the API: headers (sqlite3.h) or families (stdio, dirent, fd, regex, pthread, state, zlib, "
      "sqlite3, curl, expat, evp), with commas; may be repeated",
      NULL },
    { "table", 0, "FILE", "more functions, handles and misuse codes; may be repeated", NULL },
    { "edges", 0, "FILE", "edges that are pinned, deleted or forbidden", "sundew.protocols" },
    { "calls", 0, "N", "calls of a process that are recorded", "4194304" },
    { "count", 0, "N", "tests to try on the program's own functions; 0: none", "2000" },
    { "headers", 0, "FILE",
      "only functions that these declare are tested; may be repeated. Otherwise all that are not "
      "static",
      NULL },
    { "cflags", 0, "FLAG", "for the headers: -I, -D; may be repeated", NULL },
    { "link", 0, "WORD", "for the tests' library: -lm, say; may be repeated", NULL },
    { "inject", 0, "N",
      "run the command again for up to N of its calls, each time with one that can't open, read "
      "or write its file",
      "0" },
    { "unguided", 0, NULL, "all functions are called alike; to compare", NULL },
    { "replay", 0, NULL, "only what failed before: commands and tests that are kept; for CI",
      NULL },
    { "forget", 0, NULL, "drop the protocols that earlier runs have taught", NULL },
    { "no-sanitizer", 0, NULL, "run without the address sanitizer", NULL },
    { 0 },
};

static const Rule rules[] = {
    { "protocols/violation", LEVEL_ERROR, "a call breaks the API's protocol and the program dies" },
    { "protocols/misuse", LEVEL_WARNING,
      "a call breaks the API's protocol, and nobody looks at its failure" },
    { "protocols/unfinished", LEVEL_WARNING, "a handle is not ended on one of the paths" },
    { 0 },
};

static bool check(Session *s, Err *err)
{
    size_t n;
    char **api = session_option_all(s, "api");
    session_args(s, &n);
    if (n != 1)
        return err_set(err, "protocols of which program? (sundew show programs lists them)");
    if (!api || !*api)
        return err_set(err, "--api says which API: a header such as sqlite3.h, or stdio");
    const char *calls = session_option(s, "calls");
    char *end;
    unsigned long long most = strtoull(calls, &end, 10);
    if (*end || end == calls || !most || most > 1ull << 32)
        return err_set(err, "--calls: '%s' is no number of calls", calls);
    const char *count = session_option(s, "count");
    strtoull(count, &end, 10);
    if (*end || end == count)
        return err_set(err, "--count: '%s' is no number of tests", count);
    const char *inject = session_option(s, "inject");
    strtoull(inject, &end, 10);
    if (*end || end == inject)
        return err_set(err, "--inject: '%s' is no number of calls", inject);
    if (strcmp(inject, "0") != 0 && !session_has_tail(s))
        return err_set(err, "--inject needs a command after --");
    if (session_flag(s, "replay") && session_has_tail(s))
        return err_set(err, "--replay runs what is kept: no command stands after --");
    if (!session_has_tail(s) && !strcmp(count, "0") && !session_flag(s, "replay"))
        return err_set(err, "without tests a command stands after --, such as -- make check");
    if (session_has_tail(s)) {
        session_tail(s, &n);
        if (!n)
            return err_set(err, "a command stands after --");
    }
    return true;
}

/* ------------------------------------------------------------ protocols */

static bool merge_kept(Client *st, Err *err)
{
    char *path = client_path(st, "json");
    bool ok = true;
    if (file_exists(path) && !session_flag(st->session, "forget")) {
        json_t *kept = json_read(path, err);
        ok = kept && protocols_merge(st->protocols, kept, err);
        if (ok && json_is_object(json_object_get(kept, "lives")))
            json_object_update(st->lives, json_object_get(kept, "lives"));
        if (!ok)
            err_ctx(err, "%s (--forget drops it)", path);
        json_decref(kept);
    }
    free(path);
    return ok;
}

static bool keep(const Client *st, Err *err)
{
    char *path = client_path(st, "json"), *dir = path_dir(path);
    json_t *all = protocols_json(st->protocols);
    json_object_set_new(all, "program", json_text(st->name));
    json_object_set(all, "lives", st->lives);
    bool ok = dir_make(dir, err) && json_write(path, all, err);
    json_decref(all);
    free(path);
    free(dir);
    return ok;
}

bool client_is_good(const Client *st, const ProtoRun *r)
{
    if (r->end != PROTO_ENDED)
        return false;
    for (size_t i = 0; i < r->calls.len; i++)
        if (proto_misuse(st->api, &r->calls.items[i]))
            return false;
    return true;
}

static bool read_edges(Client *st, Err *err)
{
    const char *file = session_option(st->session, "edges");
    char *path = path_in(session_root(st->session), file);
    bool ok = strcmp(file, "sundew.protocols") == 0 && !file_exists(path)
                  ? true
                  : protocols_edges(st->protocols, path, err);
    free(path);
    return ok;
}

/* What earlier runs and this one have taught. */
static bool learn(Client *st, Err *err)
{
    st->protocols = protocols_new(st->api);
    st->lives = json_object();
    if (!merge_kept(st, err))
        return false;
    for (size_t i = 0; i < st->runs.len; i++)
        if (client_is_good(st, st->runs.items[i])) {
            protocols_mine(st->protocols, st->runs.items[i]);
            st->good++;
        }
    return read_edges(st, err);
}

static bool wants_tests(const Client *st)
{
    return strcmp(session_option(st->session, "count"), "0") != 0;
}

/* A program that can't become a library is no error if there is a command. */
static bool generate(Client *st, Err *err)
{
    Err own = { 0 };
    bool wanted = wants_tests(st) && !session_time_is_over(st->session);
    if (!wanted || client_generate(st, &own))
        return true;
    if (!session_has_tail(st->session)) {
        *err = own;
        return false;
    }
    session_note(st->session, "no tests were made: %s", own.msg);
    return true;
}

static void tell(const Client *st)
{
    size_t n;
    protocols_all(st->protocols, &n);
    session_note(st->session, "%zu processes and %zu tests, %zu of them went well; %zu protocols",
                 st->runs.len, st->tests.len, st->good, n);
    if (st->injected)
        session_note(st->session, "files were made to fail at %zu calls", st->injected);
    if (!n)
        session_note(st->session, "no run that went well used the API: nothing can be judged");
}

static bool record(Client *st, Err *err)
{
    size_t n;
    char **words = session_tail(st->session, &n);
    return !session_has_tail(st->session) || client_record(st, words, n, err);
}

/* Error paths: what the program does when its files fail. */
static bool inject(Client *st, Err *err)
{
    size_t n, most = (size_t)strtoull(session_option(st->session, "inject"), NULL, 10);
    char **words = session_tail(st->session, &n);
    if (!most || !client_inject(st, words, n, most, err))
        return !most;
    client_judge_broken(st);
    return true;
}

static bool study(Client *st, Err *err)
{
    if (!client_api(st, err))
        return false;
    if (session_flag(st->session, "replay"))
        return learn(st, err) && replay_run(st, err) && client_report(st, err);
    if (!record(st, err) || !learn(st, err))
        return false;
    client_judge(st);
    if (!inject(st, err) || !generate(st, err) || !keep(st, err) || !replay_keep(st, err))
        return false;
    tell(st);
    return client_report(st, err);
}

static void release(Client *st)
{
    for (size_t i = 0; i < st->found.len; i++)
        free(st->found.items[i].test);
    vec_release(&st->found);
    protocols_free(st->protocols);
    json_decref(st->lives);
    proto_runs_release(&st->runs);
    proto_runs_release(&st->tests);
    proto_runs_release(&st->broken);
    calls_build_release(&st->build);
    calls_build_release(&st->module);
    vec_release(&st->callees);
    vec_release(&st->functions);
    map_release(&st->api_files);
    str_release(&st->key);
    proto_api_free(st->api);
}

static bool run(Session *s, Err *err)
{
    Client st = { .session = s, .program = session_program(s) };
    st.name = program_captured(st.program)->name;
    bool ok = study(&st, err);
    release(&st);
    return ok;
}

const Command technique_protocols = {
    .name = "protocols",
    .args = "PROGRAM [-- COMMAND…]",
    .summary = "modules that break the rules of an API they use",
    .about =
        "An API allows its calls in certain orders only. Runs the command with a version of the\n"
        "program that writes down its calls of the API. Processes that end well teach the\n"
        "protocol; a process that fails is held against it. A call is reported if it breaks\n"
        "the protocol, and fails for it, and its function neither looks at the failure nor says\n"
        "in its comment what callers have to do.\n"
        "\n"
        "Protocols stay in the workspace, and grow with each run: sundew show protocols.",
    .examples = "sundew protocols ./prog --api sqlite3.h -- make check\n"
                "sundew protocols ./prog --api stdio,dirent -- ./prog input\n"
                "sundew protocols ./prog --api stdio --inject 40 -- make check\n"
                "sundew show protocols ./prog --dot\n",
    .options = options,
    .rules = rules,
    .needs = NEEDS_STORE | NEEDS_PROGRAM,
    .check = check,
    .evidence = EVIDENCE_ELSEWHERE,
    .plan = protocols_plan,
    .run = run,
};
