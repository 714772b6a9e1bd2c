/*
 * Tests that are run again.
 *
 *     DIR/test.json       the library, its headers, and the calls
 *     DIR/schedule.txt    the schedule, for the build that it was found in
 *
 * --replay runs the test under that schedule. A search of the library begins with the
 * tests that earlier ones have kept: under many schedules, as the library may be another
 * version. A test that the library has no functions for is said and left out.
 */
#include "base/file.h"
#include "base/json.h"
#include "engine/sequence/keep.h"
#include "technique/threads/library_int.h"
#include <assert.h>
#include <string.h>

enum { MOST_KEPT = 200, MOST_RUNS = 400 };
#define FORMAT "sundew threads test 1"

/* ------------------------------------------------------------------ write */

static json_t *words(char **all, bool paths)
{
    json_t *j = json_array();
    for (; all && *all; all++) {
        char *path = paths ? path_absolute(*all) : xstrdup(*all);
        json_array_append_new(j, json_text(path));
        free(path);
    }
    return j;
}

static json_t *calls_json(const Test *t, unsigned thread)
{
    Arena a = { 0 };
    json_t *all = seq_to_json(lib_test_thread(&a, t, thread));
    arena_release(&a);
    return all;
}

bool keep_write(Lib *l, const Violation *v, Err *err)
{
    const Test *t = &v->test;
    json_t *prefix = seq_to_json(t->prefix), *epilogue = seq_to_json(t->epilogue);
    json_t *one = calls_json(t, 0), *two = calls_json(t, 1);
    bool ok = true;
    if (prefix && epilogue && one && two) {
        char *library = path_absolute(program_captured(l->program)->path),
             *path = path_join(v->folder, "test.json");
        json_t *j = json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:s,s:s,s:O,s:[OO],s:O}", "format", FORMAT,
                              "library", json_text(library), "headers",
                              words(session_option_all(l->s, "headers"), true), "cflags",
                              words(session_option_all(l->s, "cflags"), false), "link",
                              words(session_option_all(l->s, "link"), false), "type",
                              json_text(t->type ? t->type->name : NULL), "contract",
                              contract_name(t->contract), "kind", violation_name(v), "prefix",
                              prefix, "threads", one, two, "epilogue", epilogue);
        json_object_set_new(j, "native", json_boolean(t->native));
        json_object_set_new(j, "files", seq_files_to_json(l->files, l->nfiles));
        ok = json_write(path, j, err);
        json_decref(j);
        free(library);
        free(path);
    }
    json_decref(prefix);
    json_decref(epilogue);
    json_decref(one);
    json_decref(two);
    return ok;
}

/* ------------------------------------------------------------------- read */

static const ApiType *type_named(const Api *api, const char *name)
{
    for (size_t i = 0; i < api->ntypes; i++)
        if (!strcmp(api->types[i].name, name))
            return &api->types[i];
    return NULL;
}

static bool begins_with(const Seq *s, const Seq *prefix)
{
    Seq head = { s->steps, prefix->n };
    return s->n >= prefix->n && seq_equal(&head, prefix);
}

static bool read_thread(Lib *l, Arena *a, const json_t *j, unsigned k, Test *out, Err *err)
{
    Seq *s = seq_from_json(a, l->api, json_array_get(json_object_get(j, "threads"), k), err);
    if (!s)
        return false;
    unsigned n = s->n - out->prefix->n;
    if (!begins_with(s, out->prefix) || n < 1 || n > TEST_MOST_CALLS)
        return err_set(err, "the calls of thread %u do not fit", k + 1);
    memcpy(out->calls[k], s->steps + out->prefix->n, n * sizeof *s->steps);
    out->ncalls[k] = n;
    for (unsigned i = 0; i < n; i++)
        if (!out->calls[k][i].f)
            return err_set(err, "thread %u has a step that is no call", k + 1);
    return true;
}

static bool read_test(Lib *l, Arena *a, const json_t *j, Test *out, Err *err)
{
    const char *type = json_str(j, "type"), *contract = json_str(j, "contract");
    *out = (Test){ .type = type_named(l->api, type),
                   .native = json_is_true(json_object_get(j, "native")) };
    if (*type && !out->type)
        return err_set(err, "the header has no type %s", type);
    while (out->contract < NCONTRACTS && strcmp(contract_name(out->contract), contract) != 0)
        out->contract++;
    if (out->contract == NCONTRACTS)
        return err_set(err, "the contract %s is not known", contract);
    out->prefix = seq_from_json(a, l->api, json_object_get(j, "prefix"), err);
    out->epilogue =
        out->prefix ? seq_from_json(a, l->api, json_object_get(j, "epilogue"), err) : NULL;
    if (!out->epilogue)
        return false;
    if (!begins_with(out->epilogue, out->prefix))
        return err_set(err, "the calls after the threads do not fit");
    return read_thread(l, a, j, 0, out, err) && read_thread(l, a, j, 1, out, err);
}

static json_t *read_file(const char *folder, Err *err)
{
    char *path = path_join(folder, "test.json");
    json_t *j = json_read(path, err);
    if (j && strcmp(json_str(j, "format"), FORMAT) != 0) {
        err_set(err, "%s: this is no test of threads", path);
        json_decref(j);
        j = NULL;
    }
    free(path);
    return j;
}

/* -------------------------------------------------------- the next version */

static bool run_kept(Lib *l, const char *folder, Err *err)
{
    Err why = { 0 };
    Arena a = { 0 };
    Test t;
    json_t *j = read_file(folder, &why);
    bool good = j && read_test(l, &a, j, &t, &why), ok = true;
    Subject *subject = good ? lib_subject(l, t.type) : NULL;
    if (!good)
        session_note(l->s, "%s is left out: %s", folder, why.msg);
    if (subject && l->contracts[t.contract]) {
        size_t before = l->shown;
        l->kept++;
        l->again = folder;
        ok = lib_test_run(l, subject, &a, &t, 7, MOST_RUNS, err);
        l->again = NULL;
        l->kept_shown += l->shown > before;
    }
    json_decref(j);
    arena_release(&a);
    return ok;
}

bool keep_run_all(Lib *l, Err *err)
{
    Strings names = { 0 };
    bool ok = true;
    assert(!l->unit);
    if (!file_is_dir(l->out) || !dir_list(l->out, &names, NULL))
        return true;
    for (size_t i = 0; ok && i < names.len && i < MOST_KEPT; i++) {
        char *folder = path_join(l->out, names.items[i]);
        if (keep_is_library(folder))
            ok = run_kept(l, folder, err);
        free(folder);
    }
    strings_release(&names);
    return ok;
}

bool keep_is_library(const char *folder)
{
    char *path = path_join(folder, "test.json");
    bool there = file_exists(path);
    free(path);
    return there;
}

/* ----------------------------------------------------------------- replay */

/* A folder may come from a stranger, and compilers and linkers have flags that name programs. */
static bool is_plain(const char *word)
{
    static const char *const flags[] = { "-I",      "-D",         "-U",    "-isystem",
                                         "-iquote", "-idirafter", "-std=", "-include",
                                         "-W",      "-l",         "-L",    "-pthread",
                                         NULL };
    if (*word != '-')
        return true;
    for (const char *const *f = flags; *f; f++)
        if (str_starts(word, *f))
            return word[1] != 'W' || !strchr(word, ','); /* -Wl,-plugin */
    return false;
}

static bool adopt_all(Session *s, const json_t *j, const char *key, Err *err)
{
    Strings all = { 0 };
    bool ok = true;
    json_get_strings(j, key, &all);
    for (size_t i = 0; ok && i < all.len; i++) {
        ok = is_plain(all.items[i]) ||
             err_set(err, "test.json: the flag %s is not taken from a file: say it as --%s",
                     all.items[i], key);
        if (ok)
            session_adopt(s, key, all.items[i]);
    }
    strings_release(&all);
    return ok;
}

static bool read_schedule(const Lib *l, const char *folder, Schedule *out, Err *err)
{
    char *path = path_join(folder, "schedule.txt");
    Str text = { 0 };
    bool ok = file_read(path, &text, err) &&
              (schedule_read(str_c(&text), l->build.key, out, err) || err_ctx(err, "%s", path));
    str_release(&text);
    free(path);
    return ok;
}

static bool report_replay(Lib *l, Arena *a, Violation *v, const Test *t, const Schedule *schedule,
                          const ScheduleRun *run, const char *folder, Err *err)
{
    v->test = lib_test_copy(a, t);
    v->folder = xstrdup(folder);
    v->seen = 1;
    schedule_copy(&v->schedule, schedule);
    schedule_draw(l->watched, run, 60, &v->picture);
    return lib_tabulate(l, v, err) && lib_report(l, v, err);
}

/* The other runs of --times: those that show the same are counted. */
static void replay_more(Lib *l, const Test *t, const Schedule *schedule, size_t times,
                        Serials *serials, Violation *v)
{
    for (; v->tries < times && !session_interrupted(l->s); v->tries++) {
        Arena a = { 0 };
        ScheduleRun run = { 0 };
        End end = { 0 };
        Violation got = { 0 };
        if (oracle_run(l, l->watched, &a, t, schedule, &run, &end, NULL) &&
            oracle_judge(l, &a, t, serials, &run, &end, &got, NULL)) {
            got.test = *t;
            v->again += violation_same(&got, v);
        }
        violation_release(&got);
        end_release(&end);
        schedule_run_release(&run);
        arena_release(&a);
    }
}

/* Runs it until it shows something: with a schedule once, without one so often as it was tried
 * when it was found. `out->tries` says how often. */
static bool replay_until_shown(Lib *l, Arena *a, const Test *t, const Schedule *schedule,
                               size_t times, Serials *serials, ScheduleRun *run, Violation *out,
                               bool *shown, Err *err)
{
    size_t most = !t->native ? 1 : times > NATIVE_REPLAYS ? times : NATIVE_REPLAYS;
    bool ok = oracle_serial(l, a, t, serials, err);
    *shown = false;
    for (size_t i = 0; ok && !*shown && i < most && !session_interrupted(l->s); i++) {
        End end = { 0 };
        violation_release(out);
        ok = oracle_run(l, l->watched, a, t, schedule, run, &end, err);
        *shown = ok && oracle_judge(l, a, t, serials, run, &end, out, err);
        out->tries = (unsigned)i + 1;
        end_release(&end);
    }
    if (ok && !*shown && t->native)
        session_note(l->s, "nothing showed in %zu runs without a scheduler", most);
    return ok;
}

static bool replay_test(Lib *l, const json_t *j, const char *folder, size_t times, Err *err)
{
    Arena a = { 0 };
    Test t;
    Schedule schedule = { 0 };
    ScheduleRun run = { 0 };
    Serials serials = { 0 };
    Violation v = { 0 };
    bool shown = false;
    bool ok = read_test(l, &a, j, &t, err) &&
              (t.native || read_schedule(l, folder, &schedule, err)) &&
              session_begin(l->s, NULL, err) &&
              replay_until_shown(l, &a, &t, &schedule, times, &serials, &run, &v, &shown, err);
    if (ok && run.ended == SUNDEW_SCHEDULE_DIVERGED)
        ok = err_set(err, "%s: the library went another way than this schedule", folder);
    if (ok && !session_flag(l->s, "json"))
        schedule_draw(l->watched, &run, 200, session_out(l->s));
    if (ok && shown) {
        v.test = lib_test_copy(&a, &t);
        v.again = 1;
        replay_more(l, &t, &schedule, times, &serials, &v);
    }
    if (ok && shown)
        ok = report_replay(l, &a, &v, &t, &schedule, &run, folder, err);
    violation_release(&v);
    serials_release(&serials);
    schedule_run_release(&run);
    schedule_release(&schedule);
    arena_release(&a);
    return ok;
}

bool keep_replay(Session *s, const char *folder, Err *err)
{
    Lib l = { .replays = true };
    size_t times = 1;
    json_t *j = replay_times(s, &times, err) ? read_file(folder, err) : NULL;
    if (!j)
        return false;
    session_adopt(s, NULL, json_str(j, "library"));
    bool ok = adopt_all(s, j, "headers", err) && adopt_all(s, j, "cflags", err) &&
              adopt_all(s, j, "link", err);
    if (!strcmp(json_str(j, "kind"), "output"))
        session_adopt(s, "outputs", "");
    ok = ok &&
         seq_files_from_json(&l.arena, json_object_get(j, "files"), &l.files, &l.nfiles, err) &&
         lib_open(&l, s, err) && replay_test(&l, j, folder, times, err);
    if (ok)
        lib_violations_json(&l);
    lib_close(&l);
    json_decref(j);
    return ok;
}
