/*
 * Known failures: the commands and tests that have shown a violation stay in the workspace;
 * --replay runs them and nothing else.
 *
 * A test is C. It is compiled with the flags of a unit, linked with the program as a library,
 * and runs in the sandbox.
 */
#include "base/file.h"
#include "base/json.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "run/run.h"
#include "technique/protocols/protocols_int.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_KEPT = 200 };

/* ----------------------------------------------------------------- keeping */

static void add_new(json_t *list, json_t *item)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_equal(json_array_get(list, i), item)) {
            json_decref(item);
            return;
        }
    if (json_array_size(list) < MOST_KEPT)
        json_array_append_new(list, item);
    else
        json_decref(item);
}

static json_t *read_list(const Client *st)
{
    char *path = client_path(st, "failures");
    Err none = { 0 };
    json_t *list = file_exists(path) ? json_read(path, &none) : NULL;
    free(path);
    if (!json_is_array(list)) {
        json_decref(list);
        list = json_array();
    }
    return list;
}

bool replay_keep(const Client *st, Err *err)
{
    size_t n;
    char **words = session_tail(st->session, &n);
    json_t *list = read_list(st);
    for (size_t i = 0; i < st->found.len; i++) {
        const Violation *v = &st->found.items[i];
        add_new(list, v->test ? json_pack("{s:o}", "test", json_text(v->test))
                              : json_pack("{s:o}", "command", json_strings(words, n)));
    }
    char *path = client_path(st, "failures");
    bool ok = !st->found.len || json_write(path, list, err);
    json_decref(list);
    free(path);
    return ok;
}

/* ------------------------------------------------------------------- tests */

static bool compile(Client *st, const CompileCommands *all, const CompileCommand *unit,
                    const char *source, const char *out, Err *err)
{
    char *clang = clang_find();
    Strings argv = { 0 };
    ProcResult r = { 0 };
    strings_add(&argv, clang ? clang : "clang");
    strings_add(&argv, "-w");
    for (size_t i = 0; i < unit->clang.len; i++)
        strings_add(&argv, unit->clang.items[i]);
    for (size_t i = 0; i < all->len; i++) {
        char *dir = path_dir(all->items[i].file);
        strings_addf(&argv, "-I%s", dir);
        free(dir);
    }
    strings_addf(&argv, "-I%s", session_root(st->session));
    strings_addf(&argv, "-I%s/ctest", session_share(st->session));
    strings_add(&argv, "-rdynamic");
    strings_add(&argv, "-o");
    strings_add(&argv, out);
    strings_add(&argv, source);
    strings_add(&argv, st->module.path);
    strings_add(&argv, "-Wl,--unresolved-symbols=ignore-all");
    bool ok = proc_run(&(Proc){ .argv = strings_argv(&argv),
                                .capture = true,
                                .seconds = 60,
                                .cwd = unit->directory },
                       &r, err);
    ok = ok &&
         (r.status == 0 || err_set(err, "a kept test does not compile: %.200s", str_c(&r.err)));
    proc_result_release(&r);
    strings_release(&argv);
    free(clang);
    return ok;
}

static bool run_test(Client *st, const char *program, const char *preload, const char *folder,
                     Err *err)
{
    char *module = path_dir(st->module.path), *there = path_dir(program);
    const char *readable[] = { module, there, NULL }, *writable[] = { folder, NULL };
    char *calls = xprintf("SUNDEW_CALLS=%s", folder),
         *first = xprintf("LD_PRELOAD=%s", preload ? preload : "");
    char *env[] = { calls, "SUNDEW_CALLS_MOST=100000", CLIENT_ASAN, CLIENT_PERTURB, first, NULL };
    char *argv[] = { (char *)program, NULL };
    RunResult res = { 0 };
    Runner *r = runner_new(&(RunnerPlan){ .readable = readable, .writable = writable }, err);
    RunPlan plan = { .argv = argv,
                     .env = env,
                     .discard_output = true,
                     .untraced = true,
                     .limits = { .wall = 20, .cpu = 10 } };
    bool ok = r && runner_run(r, &plan, &res, err);
    run_result_release(&res);
    runner_free(r);
    free(module);
    free(there);
    free(calls);
    free(first);
    return ok;
}

/* With the flags of the first unit that can read it. */
static bool replay_test(Client *st, const char *text, Err *err)
{
    CompileCommands commands = { 0 };
    const char *scratch = tempdir_new(NULL, err);
    if (!scratch)
        return false;
    char *source = path_join(scratch, "test.c"), *program = path_join(scratch, "test"),
         *folder = path_join(scratch, "calls"), *preload = NULL;
    /* The library tells a player of its coverage; nobody plays here. */
    char *whole = xprintf("%s\nvoid sundew_player_register() {}\n", text);
    bool ok = dir_make(folder, err) && file_write(source, whole, strlen(whole), err) &&
              client_module(st, &preload, err) &&
              commands_of_workspace(session_workspace(st->session), &commands, err);
    bool built = false;
    for (size_t i = 0; ok && !built && i < commands.len; i++)
        built = compile(st, &commands, &commands.items[i], source, program, err);
    ok = built && run_test(st, program, preload, folder, err);
    size_t before = st->tests.len, found = st->found.len;
    ok = ok && client_read(st, &st->module, folder, &st->tests, err);
    for (size_t i = before; i < st->tests.len; i++)
        client_judge_run(st, &st->module, st->tests.items[i]);
    for (size_t i = found; i < st->found.len; i++)
        st->found.items[i].test = xstrdup(text);
    commands_release(&commands);
    tempdir_remove(scratch);
    free(whole);
    free(source);
    free(program);
    free(folder);
    free(preload);
    return ok;
}

/* --------------------------------------------------------------- replaying */

static bool replay_command(Client *st, const json_t *item, Err *err)
{
    Strings words = { 0 };
    size_t before = st->runs.len;
    json_get_strings(item, "command", &words);
    bool ok = !words.len || client_record(st, strings_argv(&words), words.len, err);
    for (size_t i = before; ok && i < st->runs.len; i++)
        client_judge_run(st, &st->build, st->runs.items[i]);
    strings_release(&words);
    return ok;
}

bool replay_run(Client *st, Err *err)
{
    json_t *list = read_list(st);
    size_t n = json_array_size(list);
    bool ok = true;
    for (size_t i = 0; ok && i < n && !session_interrupted(st->session); i++) {
        const json_t *item = json_array_get(list, i);
        const char *test = json_str(item, "test");
        Err own = { 0 };
        if (*test && !replay_test(st, test, &own))
            session_note(st->session, "a kept test was not run: %s", own.msg);
        else if (!*test)
            ok = replay_command(st, item, err);
    }
    session_note(st->session, "%zu known failures, %zu violations still there", n, st->found.len);
    json_decref(list);
    return ok;
}
