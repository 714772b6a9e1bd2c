/*
 * run/run.h: subjects that misbehave in every way we could think of, each with a
 * benign twin. tests/subjects/run.c has them all.
 */
#include "base/fault.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "base/units.h"
#include "run/run.h"
#include "tests/unit/tree.h"
#include "skip.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <cmocka.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* What all tests share: the subjects, built once, and a sandbox. */
static struct {
    const char *dir;
    char *plain, *asan;        /* executables */
    Runner *runner;
} t;

static char *build(const char *name, const char *flag)
{
    Err err = { 0 };
    char *out = path_join(t.dir, name), *top = in_tree("."),
         *subject = in_tree("tests/subjects/run.c"),
         *server = in_tree("runtime/server/forkserver.c"), *include = xprintf("-I%s", top);
    char *argv[] = { "cc", "-w",    "-O0",  "-g",        include,      "-o",
                     out,  subject, server, "-lpthread", (char *)flag, NULL };
    ProcResult r = { 0 };
    Proc p = { .argv = argv, .capture = true, .seconds = 120 };
    if (!proc_run(&p, &r, &err) || r.status != 0)
        fail_msg("%s%s", err.msg, str_c(&r.err));
    proc_result_release(&r);
    free(top);
    free(subject);
    free(server);
    free(include);
    return out;
}

static Runner *sandbox(const char *const *without)
{
    Err err = { 0 };
    Runner *r = runner_new(&(RunnerPlan){ .without = without,
                                          .readable = (const char *const[]){ t.dir, NULL } },
                           &err);
    if (!r)
        fail_msg("%s", err.msg);
    return r;
}

static int set_up(void **state)
{
    (void)state;
    t.dir = tempdir_new(NULL, NULL);
    t.plain = build("subject", NULL);
    t.asan = build("subject-asan", "-fsanitize=address,undefined");
    /* The current folder stays visible in the sandbox; /tmp itself, say, would
     * then not be private. */
    if (chdir(t.dir) != 0)
        fail();
    t.runner = sandbox(NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    runner_free(t.runner);
    free(t.plain);
    free(t.asan);
    tempdir_remove(t.dir);
    return 0;
}

/* Runs a deed; `plan` has all but argv, or is NULL. */
static RunResult go_in(Runner *r, const char *file, const char *deed, const char *arg,
                       const RunPlan *plan)
{
    char *argv[] = { (char *)file, (char *)deed, (char *)arg, NULL };
    RunPlan p = plan ? *plan : (RunPlan){ 0 };
    p.argv = argv;
    if (!p.limits.wall)
        p.limits.wall = 60;
    Err err = { 0 };
    RunResult res = { 0 };
    if (!runner_run(r, &p, &res, &err))
        fail_msg("%s", err.msg);
    return res;
}

static RunResult go(const char *deed, const char *arg, const RunPlan *plan)
{
    return go_in(t.runner, t.plain, deed, arg, plan);
}

/* Asserts how a run ended, and forgets it. */
static void ended(RunResult r, FailureKind kind)
{
    if (r.failure.kind != kind) {
        Str s = { 0 };
        failure_dump(&r.failure, &s);
        fail_msg("not %s but %s%s", failure_kind_name(kind), str_c(&s), str_c(&r.err.text));
    }
    run_result_release(&r);
}

static void said(RunResult r, const char *text)
{
    assert_string_equal(str_c(&r.out.text), text);
    ended(r, FAILURE_NONE);
}

static bool granted(const Runner *r, const char *name)
{
    size_t n;
    const Protection *p = runner_protections(r, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(p[i].name, name) == 0)
            return p[i].granted;
    fail_msg("no protection %s", name);
    return false;
}

/* ---- ordinary */

static void output_and_status_come_back(void **state)
{
    (void)state;
    RunResult r = go("copies", "3", &(RunPlan){ .input = "a\0b", .input_len = 3 });
    assert_int_equal(r.out.text.len, 3);
    assert_memory_equal(r.out.text.data, "a\0b", 3);
    assert_int_equal(r.failure.status, 3);
    assert_false(failure_is(&r.failure));
    assert_true(r.max_rss > 0);
    ended(r, FAILURE_EXIT);
    said(go("copies", "0", NULL), "");
    char *file = path_join(t.dir, "input");
    assert_true(file_write(file, "from a file", 11, NULL));
    said(go("copies", "0", &(RunPlan){ .input_file = file }), "from a file");
    free(file);
}

static void a_run_has_its_scratch_folder(void **state)
{
    (void)state;
    const char *scratch = runner_scratch(t.runner);
    char *expected = xprintf("%s\n%s\n", scratch, scratch);
    said(go("where", NULL, NULL), expected);
    free(expected);
    RunFile files[] = { { "sub/in.txt", "hello", 5 } };
    said(go("reads-file", "sub/in.txt", &(RunPlan){ .files = files, .nfiles = 1 }), "yes\n");
    said(go("reads-file", "sub/in.txt", &(RunPlan){ .keep_scratch = true }), "yes\n");
    said(go("reads-file", "sub/in.txt", NULL), "No such file or directory\n");
    said(go("writes-file", "result", NULL), "yes\n");
    char *result = path_join(scratch, "result");
    assert_true(file_exists(result));
    free(result);
    files[0].name = "../escape";
    Err err = { 0 };
    RunResult r = { 0 };
    char *argv[] = { t.plain, "exits", NULL };
    assert_false(
        runner_run(t.runner, &(RunPlan){ .argv = argv, .files = files, .nfiles = 1 }, &r, &err));
    assert_non_null(strstr(err.msg, "../escape"));
}

static void what_can_t_be_started_is_an_error(void **state)
{
    (void)state;
    RunResult r = { 0 };
    Err err = { 0 };
    char *missing[] = { "/no/such/program", NULL };
    assert_false(runner_run(t.runner, &(RunPlan){ .argv = missing }, &r, &err));
    assert_string_equal(err.msg, "cannot run: /no/such/program: no such program");
    char *folder[] = { "/usr", NULL };
    assert_false(runner_run(t.runner, &(RunPlan){ .argv = folder }, &r, &err));
    assert_string_equal(err.msg, "cannot run: /usr: Permission denied");
    char *exits[] = { t.plain, "exits", NULL };
    assert_false(runner_run(t.runner, &(RunPlan){ .argv = exits, .cwd = "/no" }, &r, &err));
    assert_non_null(strstr(err.msg, "cannot enter /no: No such file"));
    assert_null(runner_new(&(RunnerPlan){ .helper = "/no/helper" }, &err));
    assert_null(runner_new(&(RunnerPlan){ .scratch = "/no/scratch" }, &err));
    said(go("copies", "0", NULL), "");          /* and it still works */
}

static void the_file_and_its_name_may_differ(void **state)
{
    (void)state;
    RunResult r = { 0 };
    Err err = { 0 };
    char *argv[] = { "/some/name", "-c", "echo $0", NULL };
    assert_true(runner_run(t.runner, &(RunPlan){ .argv = argv, .file = "/bin/sh" }, &r, &err));
    assert_string_equal(str_c(&r.out.text), "/some/name\n");
    run_result_release(&r);
    assert_false(runner_run(t.runner, &(RunPlan){ .argv = argv }, &r, &err));
    assert_string_equal(err.msg, "cannot run: /some/name: no such program");
}

static void descriptors_are_handed_down(void **state)
{
    (void)state;
    int fd = memfd_create("shared", MFD_CLOEXEC);
    assert_int_equal(pwrite(fd, "shared", 6, 0), 6);
    RunFd fds[] = { { fd, 40 } };
    said(go("reads-fd", "40", &(RunPlan){ .fds = fds, .nfds = 1 }), "shared\n");
    said(go("reads-fd", "41", &(RunPlan){ .fds = fds, .nfds = 1 }), "Bad file descriptor\n");
    close(fd);
}

static void addresses_can_be_fixed(void **state)
{
    (void)state;
    RunPlan fixed = { .fixed_addresses = true };
    RunResult a = go("shows-address", NULL, &fixed);
    RunResult b = go("shows-address", NULL, &fixed);
    assert_string_equal(str_c(&a.out.text), str_c(&b.out.text));
    ended(a, FAILURE_NONE);
    ended(b, FAILURE_NONE);
}

/* ---- crashes */

static void a_crash_is(const char *deed, const char *arg, const char *expected)
{
    RunResult r = go(deed, arg, NULL);
    if (!r.traced) {
        run_result_release(&r);
        return;
    }
    Str s = { 0 };
    failure_describe(&r.failure, &s);
    /* up to the place in the file, which differs from build to build */
    if (strncmp(str_c(&s), expected, strlen(expected)) != 0)
        fail_msg("%s is: %s", deed, str_c(&s));
    str_release(&s);
    run_result_release(&r);
}

static void crashes_are_told_exactly(void **state)
{
    (void)state;
    a_crash_is("reads", NULL, "SIGSEGV, reading 0x10, in read_null at ");
    a_crash_is("writes", NULL, "SIGSEGV, writing 0x8, in write_null at ");
    a_crash_is("jumps", NULL, "SIGSEGV, executing 0, in jumps at ");
    a_crash_is("divides", NULL, "SIGFPE, at ");
    a_crash_is("traps", NULL, "SIGILL, at ");
    a_crash_is("aborts", NULL, "abort, in aborts at ");
    a_crash_is("double-free", NULL, "abort: free(): double free detected in ");
    a_crash_is("kills-itself", NULL, "SIGTERM");
    a_crash_is("in-thread", "1", "SIGSEGV, writing 0x8, in write_null at ");
    a_crash_is("in-thread", "0", "no failure");
    a_crash_is("catches-and-raises", NULL, "SIGSEGV, writing 0x8, in write_null");
    a_crash_is("catches-and-exits", NULL, "no failure");
    RunResult r = go("writes-constant", NULL, NULL);
    if (r.traced)
        assert_int_equal(r.failure.access, FAILURE_ACCESS_WRITE);
    ended(r, FAILURE_SIGNAL);
    r = go("asserts", "1", NULL);
    assert_string_equal(r.failure.what, "argument < 0 && \"it's `quoted'\"");
    assert_string_equal(failure_site(&r.failure)->function, "asserts");
    ended(r, FAILURE_ASSERTION);
    ended(go("asserts", "-1", NULL), FAILURE_NONE);
}

static void the_stack_of_a_crash_is_told(void **state)
{
    (void)state;
    RunResult a = go("reads", NULL, NULL), b = go("reads", NULL, NULL);
    RunResult c = go("writes", NULL, NULL);
    if (a.traced) {
        assert_true(a.failure.nframes >= 3);
        assert_string_equal(a.failure.frames[1].function, "reads");
        assert_string_equal(a.failure.frames[2].function, "main");
    }
    assert_true(failure_same(&a.failure, &b.failure, FAILURE_SAME_STACK));
    assert_int_equal(failure_same(&a.failure, &c.failure, FAILURE_SAME_SITE), !a.traced);
    ended(a, FAILURE_SIGNAL);
    ended(b, FAILURE_SIGNAL);
    ended(c, FAILURE_SIGNAL);
}

static void a_stack_overflow_is_no_ordinary_crash(void **state)
{
    (void)state;
    RunResult r = go("overflows-stack", "10000000", NULL);
    ended(r, r.traced ? FAILURE_STACK_OVERFLOW : FAILURE_SIGNAL);
    ended(go("overflows-stack", "100", NULL), FAILURE_NONE);
    r = go_in(t.runner, t.asan, "overflows-stack", "10000000", NULL);
    ended(r, FAILURE_STACK_OVERFLOW);
}

static void sanitizers_report(void **state)
{
    (void)state;
    RunResult r = go_in(t.runner, t.asan, "double-free", NULL, NULL);
    assert_false(r.traced);
    assert_string_equal(r.failure.what, "double-free");
    assert_string_equal(failure_site(&r.failure)->function, "double_free");
    ended(r, FAILURE_SANITIZER);
    r = go_in(t.runner, t.asan, "writes", NULL, NULL);
    assert_string_equal(failure_site(&r.failure)->function, "write_null");
    ended(r, FAILURE_SANITIZER);
    ended(go_in(t.runner, t.asan, "copies", "0", NULL), FAILURE_NONE);
}

/* A leak is reported although sandbox and tracer are there. */
static void the_leak_check_works(void **state)
{
    (void)state;
    char *env[] = { "ASAN_OPTIONS=detect_leaks=1", NULL };
    RunResult r = go_in(t.runner, t.asan, "leaks", "1", &(RunPlan){ .env = env });
    assert_string_equal(r.failure.what, "memory-leak");
    assert_string_equal(failure_site(&r.failure)->function, "leaks");
    ended(r, FAILURE_SANITIZER);
    ended(go_in(t.runner, t.asan, "leaks", "0", &(RunPlan){ .env = env }), FAILURE_NONE);
}

static void untraced_runs_have_no_address(void **state)
{
    (void)state;
    RunResult r = go("writes", NULL, &(RunPlan){ .untraced = true });
    assert_false(r.traced);
    assert_false(r.failure.has_address);
    assert_int_equal(r.failure.signal, SIGSEGV);
    ended(r, FAILURE_SIGNAL);
}

/* ---- limits */

static void limits_hold_in(Runner *r, const char *file)
{
    RunPlan wall = { .limits.wall = 0.3, .limits.cpu = 60 };
    RunPlan cpu = { .limits.cpu = 0.2 }, idle = { .limits.idle = 0.3 };
    RunPlan memory = { .limits.memory = 256u << 20 };
    RunPlan output = { .limits.output = 1u << 20 };
    RunPlan size = { .limits.file_size = 100u << 10 };
    ended(go_in(r, file, "sleeps", "600000", &wall), FAILURE_TIMEOUT);
    ended(go_in(r, file, "ignores-term", NULL, &wall), FAILURE_TIMEOUT);
    ended(go_in(r, file, "stops-itself", NULL, &wall), FAILURE_TIMEOUT);
    ended(go_in(r, file, "sleeps", "10", NULL), FAILURE_NONE);
    ended(go_in(r, file, "ignores-term", "1", NULL), FAILURE_NONE);
    ended(go_in(r, file, "spins", "0", &cpu), FAILURE_CPU_LIMIT);
    ended(go_in(r, file, "spins", "1000", NULL), FAILURE_NONE);
    ended(go_in(r, file, "sleeps", "600000", &idle), FAILURE_HANG);
    ended(go_in(r, file, "eats", "10000", &memory), FAILURE_MEMORY_LIMIT);
    ended(go_in(r, file, "eats", "20", &memory), FAILURE_NONE);
    ended(go_in(r, file, "fills", "200", &size), FAILURE_FILE_LIMIT);
    ended(go_in(r, file, "fills", "50", &size), FAILURE_NONE);
    ended(go_in(r, file, "prints", "1000000", &output), FAILURE_OUTPUT_LIMIT);
    ended(go_in(r, file, "prints", "100", &output), FAILURE_NONE);
}

static void limits_hold(void **state)
{
    (void)state;
    limits_hold_in(t.runner, t.plain);
    RunPlan wall = { .limits.wall = 3, .limits.cpu = 60 };
    RunResult r = go("sleeps", "600000", &wall);
    assert_string_equal(r.failure.what, "blocked");
    ended(r, FAILURE_TIMEOUT);
    r = go("spins", "0", &wall);
    assert_string_equal(r.failure.what, "busy");
    ended(r, FAILURE_TIMEOUT);
}

static bool third_time(void *arg) { return ++*(unsigned *)arg >= 3; }

static bool never(void *arg)
{
    (void)arg;
    return false;
}

static void a_run_can_be_stopped(void **state)
{
    (void)state;
    unsigned asked = 0;
    RunPlan plan = { .limits.wall = 600, .stop = third_time, .stop_arg = &asked };
    RunResult r = go("sleeps", "600000", &plan);
    assert_true(r.stopped);
    assert_int_equal(asked, 3);
    run_result_release(&r);
    plan.stop = never;
    r = go("prints", "1", &plan);
    assert_false(r.stopped);
    ended(r, FAILURE_NONE);
}

static void limits_hold_under_asan(void **state)
{
    (void)state;
    limits_hold_in(t.runner, t.asan);
}

static void output_is_cut_in_the_middle(void **state)
{
    (void)state;
    RunResult r = go("prints", "100", &(RunPlan){ .keep_output = 10000 });
    assert_true(r.out.truncated);
    assert_int_equal(r.out.total, 100 * 1024);
    assert_true(r.out.text.len < 10100);
    assert_non_null(strstr(str_c(&r.out.text), "[92400 bytes left out]"));
    assert_int_equal(str_c(&r.out.text)[r.out.text.len - 1], '\n');
    assert_string_equal(str_c(&r.err.text), "the end\n");
    assert_false(r.err.truncated);
    ended(r, FAILURE_NONE);
    for (size_t keep = 102395; keep < 102405; keep++) {
        r = go("prints", "100", &(RunPlan){ .keep_output = keep });
        assert_int_equal(r.out.truncated, keep < 102400);
        if (!r.out.truncated)
            assert_int_equal(r.out.text.len, 102400);
        ended(r, FAILURE_NONE);
    }
    r = go("prints", "100", &(RunPlan){ .discard_output = true });
    assert_int_equal(r.out.total, 0);
    assert_string_equal(str_c(&r.err.text), "the end\n");
    ended(r, FAILURE_NONE);
}

/* ---- processes */

/* Is a process alive in whose command line the mark occurs? */
static bool lives(const char *mark)
{
    bool found = false;
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        char *path = xprintf("/proc/%s/cmdline", e->d_name);
        Str text = { 0 };
        if (file_read(path, &text, NULL) && text.len)
            found = memmem(text.data, text.len, mark, strlen(mark)) != NULL;
        str_release(&text);
        free(path);
    }
    closedir(d);
    return found;
}

static void nothing_outlives_a_run_in(Runner *r)
{
    char *mark = xprintf("1-mark-%d", (int)getpid());
    RunResult res = go_in(r, t.plain, "forks", mark, NULL);
    assert_true(res.left_processes);
    assert_string_equal(str_c(&res.out.text), "parent is done\n");
    ended(res, FAILURE_NONE);
    assert_false(lives(mark));
    free(mark);
    res = go_in(r, t.plain, "forks", "0", NULL);
    assert_false(res.left_processes);
    ended(res, FAILURE_NONE);
}

static void nothing_outlives_a_run(void **state)
{
    (void)state;
    nothing_outlives_a_run_in(t.runner);
}

static void a_fork_bomb_is_stopped_in(Runner *r)
{
    RunPlan plan = { .limits.processes = 64, .limits.wall = 5 };
    RunResult res = go_in(r, t.plain, "bombs", "0", &plan);
    assert_true(res.failure.kind == FAILURE_PROCESS_LIMIT || res.failure.kind == FAILURE_TIMEOUT ||
                res.failure.kind == FAILURE_CPU_LIMIT);
    run_result_release(&res);
    ended(go_in(r, t.plain, "bombs", "20", &plan), FAILURE_NONE);
}

static void a_fork_bomb_is_stopped(void **state)
{
    (void)state;
    a_fork_bomb_is_stopped_in(t.runner);
}

/* Somebody kills Sundew; the subject ignores everything but SIGKILL. */
static void nothing_outlives_us_in(const char *const *without, bool unprotected)
{
    static int count;
    char *mark = xprintf("0-%d-mark-%d", count++, (int)getpid());
    pid_t pid = fork();
    if (pid == 0) {
        Runner *r = runner_new(&(RunnerPlan){ .without = without,
                                              .unprotected = unprotected,
                                              .readable = (const char *const[]){ t.dir, NULL } },
                               NULL);
        char *argv[] = { t.plain, "ignores-term", mark, NULL };
        RunResult res = { 0 };
        if (r)
            runner_run(r, &(RunPlan){ .argv = argv, .limits.wall = 600 }, &res, NULL);
        _exit(0);
    }
    while (!lives(mark))
        usleep(1000);
    /* the child itself has no mark in its command line, only the subject */
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    for (int i = 0; i < 60000 && lives(mark); i++)
        usleep(1000);
    assert_false(lives(mark));
    free(mark);
}

static void nothing_outlives_us(void **state)
{
    (void)state;
    nothing_outlives_us_in(NULL, false);
    nothing_outlives_us_in((const char *const[]){ "pid namespace", NULL }, false);
    nothing_outlives_us_in(NULL, true);
}

/* ---- the outside */

static void writes_stay_inside_of(Runner *r)
{
    char *outside = path_join(t.dir, "outside");
    assert_true(file_write(outside, "keep", 4, NULL));
    chmod(outside, 0600);
    RunResult res = go_in(r, t.plain, "writes-file", outside, NULL);
    assert_string_not_equal(str_c(&res.out.text), "yes\n");
    ended(res, FAILURE_NONE);
    res = go_in(r, t.plain, "removes", outside, NULL);
    assert_string_not_equal(str_c(&res.out.text), "yes\n");
    ended(res, FAILURE_NONE);
    assert_int_equal(file_size(outside), 4);
    said(go_in(r, t.plain, "writes-file", "inside", NULL), "yes\n");
    said(go_in(r, t.plain, "removes", "inside", &(RunPlan){ .keep_scratch = true }), "yes\n");
    said(go_in(r, t.plain, "reads-file", outside, NULL), "yes\n");
    said(go_in(r, t.plain, "writes-file", "/dev/null", NULL), "yes\n");
    free(outside);
}

static void writes_stay_inside(void **state)
{
    (void)state;
    writes_stay_inside_of(t.runner);
    if (granted(t.runner, "mount namespace")) {
        char *outside = path_join(t.dir, "outside");
        RunResult r = go("changes-mode", outside, NULL);
        assert_string_equal(str_c(&r.out.text), "Read-only file system\n");
        ended(r, FAILURE_NONE);
        free(outside);
    }
}

static void what_is_named_writable_is(void **state)
{
    (void)state;
    const char *more = tempdir_new(NULL, NULL);
    Err err = { 0 };
    Runner *r = runner_new(&(RunnerPlan){ .readable = (const char *const[]){ t.dir, NULL },
                                          .writable = (const char *const[]){ more, NULL } },
                           &err);
    char *file = path_join(more, "file");
    said(go_in(r, t.plain, "writes-file", file, NULL), "yes\n");
    assert_true(file_exists(file));
    free(file);
    runner_free(r);
    tempdir_remove(more);
}

/* What is named writable below a layer is written as such. */
static void a_layer_takes_what_is_written(void **state)
{
    (void)state;
    if (!granted(t.runner, "mount namespace"))
        SKIP("nothing can be mounted here");
    const char *project = tempdir_new(NULL, NULL);
    char *file = path_join(project, "file"), *more = path_join(project, "more");
    char *kept = path_join(more, "kept");
    Err err = { 0 };
    assert_true(file_write(file, "keep", 4, NULL) && dir_make(more, NULL));
    Runner *r = runner_new(&(RunnerPlan){ .readable = (const char *const[]){ t.dir, project, NULL },
                                          .writable = (const char *const[]){ more, NULL },
                                          .layered = project },
                           &err);
    said(go_in(r, t.plain, "reads-file", file, NULL), "yes\n");
    said(go_in(r, t.plain, "removes", file, NULL), "yes\n");
    said(go_in(r, t.plain, "writes-file", file, NULL), "yes\n");
    said(go_in(r, t.plain, "writes-file", kept, NULL), "yes\n");
    writes_stay_inside_of(r);
    runner_free(r);
    assert_int_equal(file_size(file), 4);
    assert_true(file_exists(kept));
    free(file);
    free(more);
    free(kept);
    tempdir_remove(project);
}

static void tmp_is_private_and_fresh(void **state)
{
    (void)state;
    if (!granted(t.runner, "mount namespace"))
        SKIP("nothing can be mounted here");
    said(go("leaves-in-tmp", NULL, NULL), "fresh\n");
    said(go("leaves-in-tmp", NULL, NULL), "fresh\n");
    assert_false(file_exists("/tmp/sundew-left"));
    said(go("uses-tmpfile", NULL, NULL), "yes\n");
    Err err = { 0 };
    assert_int_equal(chdir("/"), 0);            /* and t.dir is not named */
    Runner *r = runner_new(NULL, &err);
    assert_int_equal(chdir(t.dir), 0);
    char *argv[] = { t.plain, "exits", NULL };
    RunResult res = { 0 };
    assert_false(runner_run(r, &(RunPlan){ .argv = argv }, &res, &err));
    assert_non_null(strstr(err.msg, "not visible in the sandbox"));
    runner_free(r);
}

/* A server outside the sandbox, which a subject must not reach. */
static int listen_outside(char *port, size_t size)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof a;
    assert_int_equal(bind(fd, (struct sockaddr *)&a, n), 0);
    assert_int_equal(listen(fd, 5), 0);
    getsockname(fd, (struct sockaddr *)&a, &n);
    snprintf(port, size, "%d", ntohs(a.sin_port));
    return fd;
}

static void the_network_is_out_of_reach_of(Runner *r)
{
    char port[16];
    int fd = listen_outside(port, sizeof port);
    RunResult res = go_in(r, t.plain, "connects", port, NULL);
    assert_string_not_equal(str_c(&res.out.text), "yes\n");
    ended(res, FAILURE_NONE);
    close(fd);
}

static void the_network_is_out_of_reach(void **state)
{
    (void)state;
    the_network_is_out_of_reach_of(t.runner);
    if (granted(t.runner, "network namespace"))
        said(go("talks-to-itself", NULL, NULL), "yes\n");
    char port[16];
    int fd = listen_outside(port, sizeof port);
    Err err = { 0 };
    Runner *r = runner_new(&(RunnerPlan){ .network = true,
                                          .readable = (const char *const[]){ t.dir, NULL } },
                           &err);
    said(go_in(r, t.plain, "connects", port, NULL), "yes\n");
    assert_null(strstr(runner_missing(r) ? runner_missing(r) : "", "network"));
    runner_free(r);
    close(fd);
}

static void a_terminal_is_not_there(void **state)
{
    (void)state;
    said(go("reads-terminal", NULL, NULL), "No such device or address\n");
}

static void other_processes_are_out_of_reach(void **state)
{
    (void)state;
    if (!granted(t.runner, "pid namespace"))
        SKIP("there are no namespaces of processes here");
    pid_t other = fork();
    if (other == 0)
        for (;;)
            pause();
    RunResult r = go("kills-others", NULL, NULL);
    run_result_release(&r);
    assert_int_equal(waitpid(other, NULL, WNOHANG), 0);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    ended(go("exits", "0", NULL), FAILURE_NONE);
}

/* ---- fork server */

static RunResult obey_in(Runner *r, const char *file, const char *order, const char *arg,
                         RunLimits limits)
{
    return go_in(r, file, "obeys", arg,
                 &(RunPlan){ .server = true,
                             .rounds = arg != NULL,
                             .input = order,
                             .input_len = strlen(order),
                             .limits = limits });
}

/* The third word of "order runs pid". */
static int pid_in(const RunResult *r)
{
    int runs, pid = 0;
    sscanf(str_c(&r->out.text), "%*s %d %d", &runs, &pid);
    return pid;
}

static void a_fork_server_runs_again_and_again_in(Runner *r, const char *file)
{
    RunLimits none = { .wall = 60 }, short_wall = { .wall = 0.3, .cpu = 60 };
    for (int i = 0; i < 20; i++) {
        RunResult res = obey_in(r, file, "hello", "1", none);
        assert_int_equal(strncmp(str_c(&res.out.text), "hello 1 ", 8), 0);
        ended(res, FAILURE_NONE);
    }
    RunResult res = obey_in(r, file, "exit", "1", none);
    assert_int_equal(res.failure.status, 7);
    ended(res, FAILURE_EXIT);
    ended(obey_in(r, file, "abort", "1", none), FAILURE_ABORT);
    res = obey_in(r, file, "fork", "1", none);
    assert_true(res.left_processes);
    ended(res, FAILURE_NONE);
    short_wall.cpu = none.cpu = 60;             /* the same server goes on */
    int before, after;
    res = obey_in(r, file, "hello", "1", none);
    before = pid_in(&res);
    ended(res, FAILURE_NONE);
    ended(obey_in(r, file, "sleep", "1", short_wall), FAILURE_TIMEOUT);
    ended(obey_in(r, file, "spin", "1", short_wall), FAILURE_TIMEOUT);
    ended(obey_in(r, file, "eat", "1", (RunLimits){ .wall = 60, .cpu = 60, .memory = 256u << 20 }),
          FAILURE_MEMORY_LIMIT);
    res = obey_in(r, file, "hello", "1", none);
    after = pid_in(&res);
    ended(res, FAILURE_NONE);
    if (granted(r, "pid namespace"))
        assert_true(after > before && after < before + 10);
}

static void a_fork_server_runs_again_and_again(void **state)
{
    (void)state;
    a_fork_server_runs_again_and_again_in(t.runner, t.plain);
    RunResult res = obey_in(t.runner, t.plain, "write", "1", (RunLimits){ 0 });
    if (res.traced)
        assert_string_equal(failure_site(&res.failure)->function, "write_null");
    ended(res, FAILURE_SIGNAL);
}

static void a_fork_server_works_under_asan(void **state)
{
    (void)state;
    RunLimits none = { 0 };
    for (int i = 0; i < 3; i++) {
        ended(obey_in(t.runner, t.asan, "hello", "1", none), FAILURE_NONE);
        RunResult r = obey_in(t.runner, t.asan, "write", "1", none);
        assert_string_equal(failure_site(&r.failure)->function, "write_null");
        ended(r, FAILURE_SANITIZER);
    }
}

static void one_process_serves_many_rounds(void **state)
{
    (void)state;
    int pids[7];
    for (int i = 0; i < 7; i++) {
        RunResult r = obey_in(t.runner, t.plain, "hello", "77", (RunLimits){ 0 });
        pids[i] = pid_in(&r);
        ended(r, FAILURE_NONE);
    }
    assert_int_equal(pids[0], pids[4]);         /* five rounds, then a new one */
    assert_int_not_equal(pids[4], pids[5]);
    ended(obey_in(t.runner, t.plain, "abort", "77", (RunLimits){ 0 }), FAILURE_ABORT);
    RunResult r = obey_in(t.runner, t.plain, "hello", "77", (RunLimits){ 0 });
    assert_int_not_equal(pid_in(&r), pids[6]);
    ended(r, FAILURE_NONE);
}

static void a_server_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    char *argv[] = { "/bin/true", NULL };
    RunResult r = { 0 };
    Err err = { 0 };
    assert_false(runner_run(t.runner, &(RunPlan){ .argv = argv, .server = true }, &r, &err));
    assert_non_null(strstr(err.msg, "no fork server in it answers"));
    char *parent[] = { t.plain, "obeys", NULL };
    assert_true(
        runner_run(t.runner,
                   &(RunPlan){ .argv = parent, .server = true, .input = "parent", .input_len = 6 },
                   &r, &err));
    assert_true(r.lost_server);        /* a result: it is the subject's doing */
    assert_int_equal(r.failure.signal, SIGKILL);
    run_result_release(&r);
    ended(obey_in(t.runner, t.plain, "hello", NULL, (RunLimits){ 0 }), FAILURE_NONE);
}

/* A program that isn't run by a worker is as if there were no server in it. */
static void without_a_worker_a_program_runs_as_ever(void **state)
{
    (void)state;
    said(go("copies", "0", &(RunPlan){ .input = "x", .input_len = 1 }), "x");
    ended(go("obeys", "77", &(RunPlan){ .input = "x", .input_len = 1 }), FAILURE_NONE);
}

/* Each thread has a Runner and copies a text of its own. cmocka's assertions
 * belong to the main thread, so the threads only count. */
typedef struct Task {
    Runner *runner;
    int number, right;
} Task;

static void *copy_often(void *arg)
{
    Task *task = arg;
    for (int i = 0; i < 40; i++) {
        char text[32];
        snprintf(text, sizeof text, "thread %d run %d", task->number, i);
        char *plain[] = { t.plain, "copies", NULL };
        RunPlan p = { .argv = plain,
                      .input = text,
                      .input_len = strlen(text),
                      .server = i >= 20,
                      .limits.wall = 60 };
        RunResult r = { 0 };
        task->right +=
            runner_run(task->runner, &p, &r, NULL) && strcmp(str_c(&r.out.text), text) == 0;
        run_result_release(&r);
    }
    return NULL;
}

/* What /bin/cat or ls says of a word, in a sandbox for these words. */
static char *seen_by(const char *tool, const char *word, const char *path, char **said)
{
    char *argv[] = { (char *)tool, (char *)word, NULL },
         *run[] = { (char *)tool, (char *)path, NULL };
    Err err = { 0 };
    RunResult res = { 0 };
    Runner *r = runner_new(&(RunnerPlan){ .words = argv }, &err);
    if (!r || !runner_run(r, &(RunPlan){ .argv = run, .limits.wall = 60 }, &res, &err))
        fail_msg("%s", err.msg);
    char *out = xstrdup(str_c(&res.out.text));
    *said = xstrdup(runner_missing(r) ? runner_missing(r) : "");
    run_result_release(&res);
    runner_free(r);
    return out;
}

static void expect_seen(const char *tool, const char *word, const char *path, const char *out,
                        const char *says)
{
    char *said, *seen = seen_by(tool, word, path, &said);
    assert_string_equal(seen, out);
    if (says && !strstr(said, says))
        fail_msg("%s: %s", word, said);
    if (!says && strstr(said, "hidden from the program"))
        fail_msg("%s: %s", word, said);
    free(seen);
    free(said);
}

static void what_a_word_names_is_visible(void **state)
{
    (void)state;
    const char *dir = tempdir_new(NULL, NULL);
    char *file = path_join(dir, "in.txt"), *link = path_join(dir, "link"),
         *inner = path_join(dir, "inner"), *beside = path_join(inner, "x"),
         *room = path_join(dir, "room"), *name = path_join(room, "s"),
         *option = xprintf("--in=%s", file), *glued = xprintf("-I%s", file);
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    snprintf(a.sun_path, sizeof a.sun_path, "%s", name);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (runner_protections(t.runner, &(size_t){ 0 })[3].granted == false ||
        !str_starts(dir, "/tmp/"))
        SKIP("no private /tmp");
    assert_true(file_write(file, "abc", 3, NULL));
    assert_int_equal(mkdir(inner, 0700) | mkdir(room, 0700), 0);
    assert_true(file_write(beside, "x", 1, NULL));
    assert_int_equal(symlink("in.txt", link), 0);
    assert_int_equal(bind(s, (struct sockaddr *)&a, sizeof a), 0);
    expect_seen("cat", "nothing", file, "", NULL);
    expect_seen("cat", file, file, "abc", NULL);
    expect_seen("cat", file, beside, "", NULL);
    expect_seen("cat", option, file, "abc", NULL);
    expect_seen("cat", glued, file, "abc", NULL);
    expect_seen("cat", link, link, "abc", NULL);
    expect_seen("cat", inner, beside, "x", NULL);
    /* A private folder as a whole, a socket, a folder with a socket in it: hidden, and told. */
    expect_seen("cat", "/tmp", file, "", "subjects have one of their own");
    expect_seen("ls", name, name, "", "neither a file nor a folder");
    expect_seen("ls", room, room, "", "more than files and folders");
    expect_seen("cat", dir, file, "", "more than files and folders");
    close(s);
    free(file), free(link), free(inner), free(beside);
    free(room), free(name), free(option), free(glued);
    tempdir_remove(dir);
}

static void several_work_side_by_side(void **state)
{
    (void)state;
    enum { N = 3 };
    pthread_t threads[N];
    Task tasks[N];
    for (int i = 0; i < N; i++)
        tasks[i] = (Task){ .runner = sandbox(NULL), .number = i };
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, copy_often, &tasks[i]);
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(tasks[i].right, 40);
        runner_free(tasks[i].runner);
    }
}

/* ---- what may be missing */

static void missing_protections_are_told_and_lived_with(void **state)
{
    (void)state;
    static const char *const sets[][6] = {
        { "Landlock" },
        { "mount namespace" },
        { "pid namespace" },
        { "private /proc" },
        { "seccomp", "network namespace" },
        { "user namespace", "pid namespace", "network namespace", "mount namespace" },
        { "ptrace" },
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        Runner *r = sandbox(sets[i]);
        assert_false(granted(r, sets[i][0]));
        bool writes_kept = granted(r, "mount namespace") || granted(r, "Landlock");
        bool net_kept =
            granted(r, "network namespace") || granted(r, "seccomp") || granted(r, "Landlock");
        if (writes_kept)
            writes_stay_inside_of(r);
        if (net_kept)
            the_network_is_out_of_reach_of(r);
        nothing_outlives_a_run_in(r);
        if (granted(r, "ptrace") || granted(r, "pid namespace"))
            a_fork_bomb_is_stopped_in(r);
        ended(go_in(r, t.plain, "writes", NULL, NULL), FAILURE_SIGNAL);
        ended(go_in(r, t.plain, "eats", "10000", &(RunPlan){ .limits.memory = 256u << 20 }),
              FAILURE_MEMORY_LIMIT);
        a_fork_server_runs_again_and_again_in(r, t.plain);
        runner_free(r);
    }
}

static void without_a_sandbox_limits_still_hold(void **state)
{
    (void)state;
    Err err = { 0 };
    Runner *r = runner_new(&(RunnerPlan){ .unprotected = true }, &err);
    assert_non_null(r);
    assert_false(granted(r, "Landlock"));
    assert_null(runner_missing(r)); /* it was asked for */
    nothing_outlives_a_run_in(r);
    limits_hold_in(r, t.plain);
    runner_free(r);
}

static void every_step_may_fail(void **state)
{
    (void)state;
    char *argv[] = { t.plain, "copies", "0", NULL };
    for (unsigned n = 1;; n++) {
        Err err = { 0 };
        RunResult res = { 0 };
        bool ok = false;
        fault_after(n);
        Runner *r =
            runner_new(&(RunnerPlan){ .readable = (const char *const[]){ t.dir, NULL } }, &err);
        if (r)
            ok =
                runner_run(r, &(RunPlan){ .argv = argv, .input = "x", .input_len = 1 }, &res, &err);
        bool fired = fault_fired();
        fault_after(0);
        assert_true(ok || *err.msg);
        run_result_release(&res);
        runner_free(r);
        if (!fired) {
            assert_true(ok);
            break;
        }
    }
}

/* Our youngest child that is a worker's guard. */
static pid_t youngest_child(void)
{
    Str text = { 0 };
    char *path = xprintf("/proc/%d/task/%d/children", (int)getpid(), (int)getpid());
    long pid = 0;
    if (file_read(path, &text, NULL))
        for (char *at = text.data, *end; at; at = end) {
            long next = strtol(at, &end, 10);
            if (end == at)
                break;
            pid = next;
        }
    str_release(&text);
    free(path);
    return (pid_t)pid;
}

/* The worker is killed from outside: the next run gets a new one. */
static void a_lost_worker_is_replaced(void **state)
{
    (void)state;
    pid_t before = youngest_child();
    Runner *r = sandbox(NULL);
    pid_t guard = youngest_child();
    if (guard <= 0 || guard == before) {
        runner_free(r);
        SKIP("the kernel does not list a process's children");
    }
    char *mark = xprintf("0-lost-mark-%d", (int)getpid());
    pid_t killer = fork();
    if (killer == 0) {
        while (!lives(mark))
            usleep(1000);
        kill(guard, SIGKILL);
        _exit(0);
    }
    char *argv[] = { t.plain, "ignores-term", mark, NULL };
    RunResult res = { 0 };
    Err err = { 0 };
    assert_false(runner_run(r, &(RunPlan){ .argv = argv, .limits.wall = 600 }, &res, &err));
    assert_non_null(strstr(err.msg, "the worker is gone"));
    run_result_release(&res);
    waitpid(killer, NULL, 0);
    said(go_in(r, t.plain, "copies", "0", NULL), "");
    free(mark);
    runner_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_and_status_come_back),
        cmocka_unit_test(a_run_has_its_scratch_folder),
        cmocka_unit_test(what_can_t_be_started_is_an_error),
        cmocka_unit_test(the_file_and_its_name_may_differ),
        cmocka_unit_test(descriptors_are_handed_down),
        cmocka_unit_test(addresses_can_be_fixed),
        cmocka_unit_test(crashes_are_told_exactly),
        cmocka_unit_test(the_stack_of_a_crash_is_told),
        cmocka_unit_test(a_stack_overflow_is_no_ordinary_crash),
        cmocka_unit_test(sanitizers_report),
        cmocka_unit_test(the_leak_check_works),
        cmocka_unit_test(untraced_runs_have_no_address),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(a_run_can_be_stopped),
        cmocka_unit_test(limits_hold_under_asan),
        cmocka_unit_test(output_is_cut_in_the_middle),
        cmocka_unit_test(nothing_outlives_a_run),
        cmocka_unit_test(a_fork_bomb_is_stopped),
        cmocka_unit_test(nothing_outlives_us),
        cmocka_unit_test(writes_stay_inside),
        cmocka_unit_test(a_layer_takes_what_is_written),
        cmocka_unit_test(what_is_named_writable_is),
        cmocka_unit_test(tmp_is_private_and_fresh),
        cmocka_unit_test(the_network_is_out_of_reach),
        cmocka_unit_test(a_terminal_is_not_there),
        cmocka_unit_test(other_processes_are_out_of_reach),
        cmocka_unit_test(a_fork_server_runs_again_and_again),
        cmocka_unit_test(a_fork_server_works_under_asan),
        cmocka_unit_test(one_process_serves_many_rounds),
        cmocka_unit_test(a_server_that_is_not_there_is_an_error),
        cmocka_unit_test(without_a_worker_a_program_runs_as_ever),
        cmocka_unit_test(what_a_word_names_is_visible),
        cmocka_unit_test(several_work_side_by_side),
        cmocka_unit_test(missing_protections_are_told_and_lived_with),
        cmocka_unit_test(without_a_sandbox_limits_still_hold),
        cmocka_unit_test(every_step_may_fail),
        cmocka_unit_test(a_lost_worker_is_replaced),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
