/*
 * threads - call a library from two threads, or run a program's own threads, in
 * orders of our choice, and report what no serial order explains.
 *
 * engine/schedule/schedule.h does the work; README.md explains the technique.
 */
#include "technique/threads/library_int.h"

static const Option options[] = {
    { "output", 'o', "DIR", "where schedules and tests go; without it PROGRAM.threads", NULL },
    { "schedules", 0, "N", "run at most so many schedules", "1000" },
    { "bound", 0, "N", "systematic schedules have at most so many preemptions", "7" },
    { "expect", 0, "FILE", "the output must equal this file", NULL },
    { "stdin", 0, "FILE", "standard input of the program", NULL },
    { "replay", 0, "DIR", "run one kept schedule again", NULL },
    { "times", 0, "N", "run the kept schedule so often, and count how often it ends so", "1" },
    { "no-sanitizers", 0, NULL, "without the address sanitizer", NULL },
    { "headers", 0, "FILE", "test a library: its API is what this header declares (repeatable)",
      NULL },
    { "type", 0, "NAME", "test this handle type only", NULL },
    { "contract", 0, "NAME", "shared, distinct or const: who may use a handle (repeatable)", NULL },
    { "tests", 0, "N", "make at most so many tests of a library", NULL },
    { "resume", 0, NULL, "go on with the search of a library whose folder is -o", NULL },
    { "outputs", 0, NULL, "report results, too, that no serial order gives", NULL },
    { "cflags", 0, "WORD", "a flag for the headers, such as -I or -D (repeatable)", NULL },
    { "link", 0, "WORD", "a word for the linker, such as -lz (repeatable)", NULL },
    { 0 },
};

static const Rule rules[] = {
    { "threads/failure", LEVEL_ERROR, "A schedule of the program's threads makes it fail." },
    { "threads/deadlock", LEVEL_ERROR, "A schedule leaves no thread that can run." },
    { "threads/output", LEVEL_ERROR, "A schedule makes the program print something else." },
    { "threads/violation", LEVEL_ERROR,
      "Calls of a library from two threads fail as no serial order of them does." },
    { "threads/error", LEVEL_WARNING,
      "A call from two threads returns an error that no serial order gives." },
    { "threads/race", LEVEL_WARNING,
      "Two threads use the same memory in no order, and one writes." },
    { 0 },
};

/* "libfoo.a", "libfoo.so.1" */
static bool is_library_name(const char *path)
{
    return str_ends(path, ".a") || strstr(path, ".so");
}

static bool run(Session *s, Err *err)
{
    size_t n;
    const char *folder = session_option(s, "replay");
    session_args(s, &n);
    if (folder)
        return n == 0 ? (keep_is_library(folder) ? keep_replay : whole_replay)(s, folder, err)
                      : err_set(err, "--replay names the program itself: leave %s out",
                                session_args(s, &n)[0]);
    if (n != 1)
        return err_set(err, n ? "one program or library at a time"
                              : "which program? Usage: sundew threads PROGRAM");
    const char *what = session_args(s, &n)[0];
    if (!session_option(s, "headers") && is_library_name(what))
        return err_set(err, "%s is a library: say which headers it has (--headers FILE)", what);
    return session_option(s, "headers") ? whole_library(s, err) : whole_program(s, err);
}

const Command technique_threads = {
    .name = "threads",
    .args = "PROGRAM|LIBRARY [-- ARGUMENT…|EXAMPLE…]",
    .summary = "schedules of a program's threads that make it fail",
    .about =
        "Runs a captured program again and again. One of its threads runs at a time, and Sundew "
        "chooses which. It looks for orders in which the program crashes, fails an assertion, "
        "deadlocks, or prints something other than --expect says.\n\n"
        "All orders with few preemptions are tried first, then random ones. A preemption takes the "
        "turn from a thread before a lock, an atomic access, or an access to memory that another "
        "thread uses too. Each order that fails is made as short as possible and kept as a schedule "
        "that --replay runs again.\n\n"
        "With --headers it tests a library. It makes short tests by itself: calls that make a "
        "handle, calls for two threads, calls that look at the handle and give it back. A test that "
        "crashes, deadlocks, leaks or returns an error is reported only if no serial order of the "
        "same calls does so. --time is 60s if it is not given. A command after -- uses the library "
        "as it should be used: tests begin with what it did, and use its values.\n\n"
        "Sleeps and clocks are virtual: a program that waits runs at full speed. Orders that only a "
        "processor with a weak memory model shows can't be seen in this way.",
    .examples = "sundew threads ./server -- --once\n"
                "sundew threads ./prog --expect prog.out -- input.txt\n"
                "sundew threads --replay prog.threads/1\n"
                "sundew threads libfoo.a --headers foo.h --type 'struct queue' --time 5m\n"
                "sundew threads libfoo.a --headers foo.h -- ./example\n",
    .options = options,
    .rules = rules,
    .needs = NEEDS_STORE,
    .budget = true,
    .plan = threads_plan,
    .run = run,
};
