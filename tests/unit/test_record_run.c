/*
 * record_run() and place_run(): a program with probes runs by itself, or stands
 * in the place of the user's while a command runs. Shell scripts do for both
 * programs here; tests/scripts/place.sh has real ones.
 */
#include "base/file.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "base/units.h"
#include "build/place.h"
#include "engine/record/record.h"
#include "skip.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <cmocka.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    const char *dir;
    char *root, *program, *woven, *folder, *out;
    CapturedProgram captured;
    bool mounts;
} t;

static void make_script(const char *path, const char *text)
{
    Err err = { 0 };
    assert_true(file_write(path, text, strlen(text), &err));
    assert_int_equal(chmod(path, 0755), 0);
}

static bool mounts_are_possible(void)
{
    pid_t pid = fork();
    int status;
    if (pid == 0)
        _exit(unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0);
    return waitpid(pid, &status, 0) == pid && status == 0;
}

static int set_up(void **state)
{
    (void)state;
    Err err = { 0 };
    t.dir = tempdir_new(NULL, &err);
    t.root = path_join(t.dir, "project, with: odd\\name");
    t.program = path_join(t.root, "prog");
    t.woven = path_join(t.dir, "woven");
    t.folder = path_join(t.dir, "folder");
    t.out = path_join(t.folder, "out");
    t.mounts = mounts_are_possible();
    assert_true(dir_make(t.root, &err) && dir_make(t.folder, &err));
    make_script(t.program, "#!/bin/sh\necho original >\"$SUNDEW_TRACE/out\"\n");
    make_script(t.woven, "#!/bin/sh\necho \"woven $0 $*\" >\"$SUNDEW_TRACE/out\"\n"
                         "env | grep ^SUNDEW_ | sort >>\"$SUNDEW_TRACE/out\"\n");
    t.captured = (CapturedProgram){ .name = "prog", .path = t.program, .kind = PROGRAM_EXECUTABLE };
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tempdir_remove(t.dir);
    free(t.root);
    free(t.program);
    free(t.woven);
    free(t.folder);
    free(t.out);
    return 0;
}

static void assert_file(const char *path, const char *wanted)
{
    Str text = { 0 };
    Err err = { 0 };
    assert_true(file_read(path, &text, &err));
    if (!strstr(str_c(&text), wanted))
        fail_msg("expected to read '%s', but read '%s'", wanted, str_c(&text));
    str_release(&text);
}

/* ---- by itself */

static void it_runs_under_the_originals_name(void **state)
{
    (void)state;
    Err err = { 0 };
    RunResult r = { 0 };
    char *words[] = { "a", "b c" };
    RecordRun run = { .original = &t.captured,
                      .woven = t.woven,
                      .words = words,
                      .nwords = 2,
                      .folder = t.folder,
                      .root = t.dir };
    assert_true(record_run(&run, &r, &err));
    assert_int_equal(r.failure.kind, FAILURE_NONE);
    assert_file(t.out, " a b c\n");
    run_result_release(&r);
}

static void each_runtime_finds_its_variable(void **state)
{
    (void)state;
    Err err = { 0 };
    RunResult r = { 0 };
    char *more[] = { "SUNDEW_CRASH_SIZE=16", NULL };
    setenv("SUNDEW_ENFORCE", "log", 1);          /* of an outer program: not passed on */
    RecordRun run = { .original = &t.captured,
                      .woven = t.woven,
                      .folder = t.folder,
                      .root = t.dir,
                      .env = more,
                      .budget = 4096 };
    assert_true(record_run(&run, &r, &err));
    assert_file(t.out, "SUNDEW_COVER=");
    assert_file(t.out, "SUNDEW_CRASH_DIR=");
    assert_file(t.out, "SUNDEW_CRASH_SIZE=16\n");
    assert_file(t.out, "SUNDEW_TAGS=");
    assert_file(t.out, "SUNDEW_TRACE_BUDGET=4096\n");
    Str text = { 0 };
    assert_true(file_read(t.out, &text, &err));
    assert_null(strstr(str_c(&text), "SUNDEW_ENFORCE"));
    str_release(&text);
    run_result_release(&r);
    unsetenv("SUNDEW_ENFORCE");
}

static void a_program_that_does_not_end_is_a_timeout(void **state)
{
    (void)state;
    Err err = { 0 };
    RunResult r = { 0 };
    char *slow = path_join(t.dir, "slow");
    make_script(slow, "#!/bin/sh\nsleep 100\n");
    RecordRun run = {
        .original = &t.captured, .woven = slow, .folder = t.folder, .root = t.dir, .seconds = 0.3
    };
    assert_true(record_run(&run, &r, &err));
    assert_int_equal(r.failure.kind, FAILURE_TIMEOUT);
    run_result_release(&r);
    free(slow);
}

static void what_is_no_program_is_an_error(void **state)
{
    (void)state;
    Err err = { 0 };
    RunResult r = { 0 };
    RecordRun run = { .original = &t.captured, .woven = "/nowhere/woven", .folder = t.folder };
    assert_false(record_run(&run, &r, &err));
    assert_true(*err.msg);
    run_result_release(&r);
}

/* ---- in the place of the original */

static bool run_command(const char *command, RecordRun more, RunResult *r, Err *err)
{
    char *words[] = { "sh", "-c", (char *)command };
    more.original = &t.captured;
    more.woven = t.woven;
    more.words = words;
    more.nwords = 3;
    more.folder = t.folder;
    more.root = t.root;
    more.in_place = true;
    char *program = xprintf("PROGRAM=%s", t.program), *env[] = { program, NULL };
    more.env = env;
    bool ok = record_run(&more, r, err);
    free(program);
    return ok;
}

#define NEEDS_MOUNTS()                                                                             \
    do {                                                                                           \
        if (!t.mounts)                                                                             \
            SKIP("nothing can be mounted here");                                                   \
    } while (0)

static void a_command_finds_the_woven_one(void **state)
{
    (void)state;
    NEEDS_MOUNTS();
    Err err = { 0 };
    RunResult r = { 0 };
    unlink(t.out);
    if (!run_command("\"$PROGRAM\" x", (RecordRun){ 0 }, &r, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(r.failure.kind, FAILURE_NONE);
    assert_file(t.out, "woven ");
    assert_file(t.program, "original");
    run_result_release(&r);
}

static void what_it_does_to_the_project_is_gone(void **state)
{
    (void)state;
    NEEDS_MOUNTS();
    Err err = { 0 };
    RunResult r = { 0 };
    struct stat before, after;
    assert_int_equal(stat(t.root, &before), 0);
    if (!run_command("cd \"${PROGRAM%/*}\" && mkdir d && echo x >d/f && rm prog && "
                     "test ! -e prog && echo new >prog; exit 3",
                     (RecordRun){ 0 }, &r, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(r.failure.kind, FAILURE_EXIT);
    assert_int_equal(r.failure.status, 3);
    assert_file(t.program, "original");
    assert_int_equal(stat(t.root, &after), 0);
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim);
    run_result_release(&r);
}

static bool at_once(void *arg)
{
    ++*(int *)arg;
    return true;
}

static void it_ends_when_asked(void **state)
{
    (void)state;
    NEEDS_MOUNTS();
    Err err = { 0 };
    RunResult r = { 0 };
    int asked = 0;
    double begin = clock_seconds();
    assert_true(run_command("sleep 100", (RecordRun){ .stop = at_once, .arg = &asked }, &r, &err));
    assert_int_equal(r.failure.kind, FAILURE_TIMEOUT);
    assert_int_equal(asked, 1);
    assert_true(clock_seconds() - begin < 50);
    run_result_release(&r);
}

static bool place(ProgramKind kind, ProcResult *r, Err *err)
{
    char *argv[] = { "sh", "-c", "SUNDEW_TRACE=\"$0\" \"$1\"", t.folder, t.program, NULL };
    CapturedProgram c = t.captured;
    c.kind = kind;
    PlacePlan plan = { .argv = argv,
                       .program = &c,
                       .woven = t.woven,
                       .root = t.root,
                       .results = t.folder,
                       .without_overlay = true };
    return place_run(&plan, r, err);
}

static void without_overlays_the_file_alone_is_covered(void **state)
{
    (void)state;
    NEEDS_MOUNTS();
    Err err = { 0 };
    ProcResult r = { 0 };
    unlink(t.out);
    if (!place(PROGRAM_EXECUTABLE, &r, &err))
        fail_msg("%s", err.msg);
    assert_file(t.out, "woven ");
    assert_file(t.program, "original");
    proc_result_release(&r);
}

static void without_overlays_an_archive_is_refused(void **state)
{
    (void)state;
    NEEDS_MOUNTS();
    Err err = { 0 };
    ProcResult r = { 0 };
    assert_false(place(PROGRAM_ARCHIVE, &r, &err));
    assert_non_null(strstr(err.msg, "refuses an overlay"));
    proc_result_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_runs_under_the_originals_name),
        cmocka_unit_test(each_runtime_finds_its_variable),
        cmocka_unit_test(a_program_that_does_not_end_is_a_timeout),
        cmocka_unit_test(what_is_no_program_is_an_error),
        cmocka_unit_test(a_command_finds_the_woven_one),
        cmocka_unit_test(what_it_does_to_the_project_is_gone),
        cmocka_unit_test(it_ends_when_asked),
        cmocka_unit_test(without_overlays_the_file_alone_is_covered),
        cmocka_unit_test(without_overlays_an_archive_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
