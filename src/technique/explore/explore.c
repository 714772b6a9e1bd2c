/*
 * explore - inputs that reach new branches, and inputs that make the program
 * fail. engine/explore/explore.h does the work; this is the command around it.
 */
#include "technique/explore/explore.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/units.h"
#include "engine/explore/ktest.h"
#include "technique/explore/explore_int.h"
#include <stdlib.h>
#include <string.h>

static const Option options[] = {
    { "output", 'o', "DIR", "where queue/ and failures/ go; without it PROGRAM.explored", NULL },
    { "seeds", 'i', "PATH",
      "a file or folder of inputs to begin with, KLEE's .ktest files too (repeatable)", NULL },
    { "resume", 0, NULL, "continue with the inputs in the output folder", NULL },
    { "replay", 0, NULL, "only run the inputs of -i once, and say which fail", NULL },
    { "ktest", 0, "DIR", "also write all inputs in KLEE's format, into this folder", NULL },
    { "lcov", 0, "FILE", "also write the branches that were reached, for LCOV's viewers", NULL },
    { "sync", 0, "DIR", "also take inputs that other tools put there, such as AFL++ (repeatable)",
      NULL },
    { "argv", 0, "N[/SIZE]", "the input begins with N arguments, of up to SIZE bytes each", NULL },
    { "env", 0, "NAME[/SIZE]", "… with the value of this variable (repeatable)", NULL },
    { "function", 0, "F", "call this function with arguments from the input", NULL },
    { "plan", 0, NULL, "only say what can become symbolic, and where that will be imprecise",
      NULL },
    { "stop-at", 0, "WHEN",
      "end at first-failure, or at coverage: when no new branch is found any more", NULL },
    { "executions", 0, "N", "end after this many runs", NULL },
    { "timeout", 0, "DURATION", "time limit of one run; without it Sundew measures one", NULL },
    { "max-length", 0, "SIZE", "the longest input to make", "1M" },
    { "oracle", 0, "CMD", "a command that gets each new input's file, and fails if it is bad",
      NULL },
    { "bad-status", 0, "LIST", "exit statuses that are failures: 3,64-78", NULL },
    { "no-mutation", 0, NULL, "only solve", NULL },
    { "no-concolic", 0, NULL, "only mutate", NULL },
    { "no-sanitizers", 0, NULL, "do not run inputs on a build with sanitizers", NULL },
    { "network", 0, NULL, "let the program use the network", NULL },
    { "readable", 0, "PATH",
      "the program may read this path although it is below /tmp (repeatable)", NULL },
    { 0 },
};

static const Rule rules[] = {
    { "explore/failure", LEVEL_ERROR, "An input makes the program fail." },
    { "explore/hang", LEVEL_WARNING, "An input makes the program run without end." },
    { "explore/oracle", LEVEL_ERROR, "The command of --oracle rejects an input." },
    { "explore/order", LEVEL_ERROR,
      "An input makes the program fail in some orders of its threads." },
    { 0 },
};

/* Of the time, if the rest belongs to other orders of threads. */
#define SEARCH_SHARE 0.75

/* ---- what was asked */

/* The program's arguments, as they stand behind "--". */
static void read_arguments(Exploration *e)
{
    size_t n;
    char **tail = session_tail(e->s, &n);
    strings_add(&e->argv, e->captured->path);
    for (size_t i = 0; i < n; i++)
        strings_add(&e->argv, tail[i]);
}

static bool is_defined(const Program *p, const char *name)
{
    const Function *fn = program_function(p, name);
    return fn && fn->defined;
}

/* Does it ask for its input itself, as KLEE's and verifiers' programs do? */
static bool asks(const Program *p)
{
    size_t n;
    const Function *const *fns = program_functions(p, &n);
    for (size_t i = 0; i < n; i++)
        if (!fns[i]->defined && (str_starts(fns[i]->name, "klee_make_symbolic") ||
                                 str_starts(fns[i]->name, "__VERIFIER_nondet_")))
            return true;
    return false;
}

static bool read_function(Exploration *e, Err *err)
{
    const char *name = session_option(e->s, "function");
    if (!name)
        return true;
    e->function = program_function(e->program, name);
    return e->function || err_set(err,
                                  "--function %s: there is none, or several (FILE.c:NAME "
                                  "names one; sundew show functions lists them)",
                                  name);
}

/* What the input means: see runtime/input/input.h. */
static bool read_input(Exploration *e, Err *err)
{
    const char *argv = session_option(e->s, "argv");
    if (e->function) {
        str_add(&e->input, "call");
        return true;
    }
    char **env = session_option_all(e->s, "env");
    if (argv) {
        if (*argv < '1' || *argv > '9')
            return err_set(err, "--argv %s: how many arguments?", argv);
        str_addf(&e->input, "argv:%s,", argv);
    }
    for (; env && *env; env++)
        str_addf(&e->input, "env:%s,", *env);
    bool file = false;
    for (size_t i = 0; i < e->argv.len; i++)
        file |= strstr(e->argv.items[i], "@@") != NULL;
    if (is_defined(e->program, "LLVMFuzzerTestOneInput") || asks(e->program))
        str_add(&e->input, "call");
    else if (e->input.len && !file)
        str_add(&e->input, "stdin");
    else if (e->input.len)
        e->input.len--;                       /* the engine adds the file */
    return true;
}

static bool read_stop(Session *s, ExploreStop *out, Err *err)
{
    const char *when = session_option(s, "stop-at");
    *out = STOP_NEVER;
    if (when && strcmp(when, "first-failure") == 0)
        *out = STOP_FIRST_FAILURE;
    else if (when && strcmp(when, "coverage") == 0)
        *out = STOP_COVERAGE;
    else if (when)
        return err_set(err, "--stop-at %s: first-failure or coverage?", when);
    return true;
}

static bool read_number(Session *s, const char *name, uint64_t *out, Err *err)
{
    const char *text = session_option(s, name);
    if (text && (!size_parse(text, out) || !*out))
        return err_set(err, "--%s %s: no number above 0", name, text);
    return true;
}

/* "3,64-78" */
static bool check_statuses(Session *s, Err *err)
{
    const char *all = session_option(s, "bad-status"), *p = all;
    while (p) {
        char *end;
        long from = *p >= '0' && *p <= '9' ? strtol(p, &end, 10) : -1, to = from;
        if (from >= 0 && *end == '-')
            to = end[1] >= '0' && end[1] <= '9' ? strtol(end + 1, &end, 10) : -1;
        if (from < 0 || to < from || to > 255 || (*end && *end != ','))
            return err_set(err, "--bad-status %s: exit statuses are 0 to 255, such as 3,64-78",
                           all);
        p = *end ? end + 1 : NULL;
    }
    return true;
}

static bool read_timeout(Session *s, double *out, Err *err)
{
    const char *text = session_option(s, "timeout");
    if (text && (!duration_parse(text, out) || *out <= 0))
        return err_set(err, "--timeout %s: no duration", text);
    return true;
}

/* "cmd -a b" as words; no shell is asked. */
static void split(const char *text, Strings *words)
{
    char *copy = xstrdup(text), *save = NULL;
    for (char *w = strtok_r(copy, " \t", &save); w; w = strtok_r(NULL, " \t", &save))
        strings_add(words, w);
    free(copy);
}

/* Is what was asked for possible? */
static bool check(const ExplorePlan *plan, Err *err)
{
    const char *name = plan->oracle ? plan->oracle[0] : NULL;
    char *oracle = name ? strchr(name, '/') ? path_real(name) : path_search(name, NULL) : NULL;
    bool ok = !plan->oracle || oracle ||
              err_set(err, "--oracle %s: there is no such command", name ? name : "''");
    free(oracle);
    if (ok && plan->replay && !(plan->seeds && *plan->seeds))
        ok = err_set(err, "--replay: which inputs? (-i PATH)");
    if (ok && plan->replay && plan->resume)
        ok = err_set(err,
                     "--replay only runs the inputs of -i, --resume goes on: which of the two?");
    return ok;
}

/* ---- callbacks */

/* Called where it is needed: this can take long. */
static const Calls *open_calls(void *session, Err *err)
{
    return session_need(session, NEEDS_CALLS, err) ? session_calls(session) : NULL;
}

static bool interrupted(void *arg) { return session_interrupted(((Exploration *)arg)->s); }

static bool time_is_over(void *arg) { return session_time_is_over(((Exploration *)arg)->s); }

static void note(void *arg, const char *text)
{
    Str shown = { 0 };
    escape_terminal_z(&shown, text);
    session_note(((Exploration *)arg)->s, "%s", str_c(&shown));
    str_release(&shown);
}

/* ---- for KLEE */

/* All inputs of a folder of the output, one file each. */
static bool write_ktests_of(Exploration *e, const char *from, const char *to, Err *err)
{
    char *folder = path_join(e->out, from);
    Strings names = { 0 };
    bool ok = !file_is_dir(folder) || dir_list(folder, &names, err);
    for (size_t i = 0; ok && i < names.len; i++) {
        char *path = path_join(folder, names.items[i]), *safe = path_safe_name(names.items[i]);
        char *out = xprintf("%s/%s-%s.ktest", to, from, safe);
        Str data = { 0 }, text = { 0 };
        if (str_starts(names.items[i], "id:") && file_is_regular(path) &&
            file_read(path, &data, NULL)) {
            ktest_write(e->captured->path, "input", str_c(&data), data.len, &text);
            ok = file_write(out, str_c(&text), text.len, err);
        }
        str_release(&data);
        str_release(&text);
        free(out);
        free(safe);
        free(path);
    }
    strings_release(&names);
    free(folder);
    return ok;
}

static bool write_ktests(Exploration *e, Err *err)
{
    const char *to = session_option(e->s, "ktest");
    return !to || (dir_make(to, err) && write_ktests_of(e, "queue", to, err) &&
                   write_ktests_of(e, "failures", to, err));
}

/* ---- run */

static bool explore_program(Exploration *e, Err *err)
{
    Session *s = e->s;
    const char *oracle = session_option(s, "oracle");
    Strings judge = { 0 };
    uint64_t longest = 0;
    if (oracle)
        split(oracle, &judge);
    e->front = c_front_new(&(CPlan){ .program = e->program,
                                     .open_calls = open_calls,
                                     .calls_arg = s,
                                     .jobs = session_jobs(s),
                                     .function = e->function,
                                     .libexec = session_libexec(s),
                                     .share = session_share(s),
                                     .memory = session_memory(s),
                                     .bad_status = session_option(s, "bad-status"),
                                     .no_sanitizers = session_flag(s, "no-sanitizers"),
                                     .call = { .argv = strings_argv(&e->argv),
                                               .input = e->input.len ? str_c(&e->input) : NULL,
                                               .readable = session_option_all(s, "readable"),
                                               .network = session_flag(s, "network") } });
    ExplorePlan plan = {
        .front = &c_front,
        .subject = e->front,
        .out = e->out,
        .seeds = session_option_all(s, "seeds"),
        .sync = session_option_all(s, "sync"),
        .resume = session_flag(s, "resume"),
        .replay = session_flag(s, "replay"),
        .lcov = session_option(s, "lcov"),
        .seed = session_seed(s),
        .jobs = session_jobs(s),
        .time = session_time(s),
        .oracle = oracle ? strings_argv(&judge) : NULL,
        .no_mutation = session_flag(s, "no-mutation"),
        .no_concolic = session_flag(s, "no-concolic"),
        .interrupted = interrupted,
        .time_is_over = time_is_over,
        .status = status_show,
        .note = note,
        .arg = e,
    };
    ExploreResult r = { 0 };
    bool ok = check_statuses(s, err) && read_stop(s, &plan.stop, err) &&
              read_timeout(s, &plan.timeout, err) &&
              read_number(s, "executions", &plan.executions, err) &&
              read_number(s, "max-length", &longest, err) && check(&plan, err);
    plan.longest = longest;
    bool orders = orders_matter(e);
    if (orders)
        plan.time *= SEARCH_SHARE;
    ok = ok && explore(&plan, &r, err);
    status_wipe();
    ok = ok && report_exploration(e, &r, err) && write_ktests(e, err);
    if (ok && orders && !(plan.stop == STOP_FIRST_FAILURE && r.nfailures))
        ok = orders_run(e, &r, err);
    explore_result_release(&r);
    c_front_free(e->front);
    strings_release(&judge);
    return ok;
}

static bool run(Session *s, Err *err)
{
    const Program *p = session_program(s);
    const CapturedProgram *c = program_captured(p);
    char *out = session_option(s, "output") ? xstrdup(session_option(s, "output"))
                                            : xprintf("%s.explored", c->name);
    Exploration e = { .s = s, .program = p, .captured = c, .out = out };
    read_arguments(&e);
    bool ok = session_executable(s, "explored", err) && read_function(&e, err) &&
              read_input(&e, err) &&
              (session_flag(s, "plan") ? plan_show(&e, err) : explore_program(&e, err));
    strings_release(&e.argv);
    str_release(&e.input);
    free(out);
    return ok;
}

const Command technique_explore = {
    .name = "explore",
    .args = "PROGRAM [-- ARGUMENT…]",
    .summary = "inputs that reach new branches or make a program fail",
    .about =
        "Runs a captured program on inputs that Sundew makes, in two ways. It changes inputs "
        "that reached something new at random, thousands of times a second. And it follows an "
        "input through the program and asks a solver for inputs that take the other way at a "
        "branch. Every input that it keeps also runs with the address and undefined-behaviour "
        "sanitizers.\n\n"
        "The input is standard input, or the file that @@ in the arguments stands for (an "
        "ending may follow: @@.bz2). With --argv and --env it is also the command line and "
        "variables. A program that has LLVMFuzzerTestOneInput(), or that calls "
        "klee_make_symbolic() or __VERIFIER_nondet_int(), is used as it is.\n\n"
        "The output folder gets queue/ (inputs that reached something new, as AFL++ and "
        "libFuzzer read them) and failures/. Every failure is reported once, by kind and "
        "place, with the smallest input found and with the parts of the input that matter.\n\n"
        "If the program makes threads and its input is a file or standard input, the last quarter of "
        "the time goes to other orders of its threads on the inputs in queue/.\n\n"
        "Without --time it runs until Ctrl-C. With --executions, --seed and --jobs 1 the result "
        "is the same every time.",
    .examples = "sundew explore ./prog --time 5m -- -f @@\n"
                "sundew explore ./prog -i examples/ -o out --time 1h\n"
                "sundew explore ./fuzz_target --stop-at first-failure\n"
                "sundew explore ./prog --plan\n",
    .options = options,
    .rules = rules,
    .needs = NEEDS_STORE | NEEDS_PROGRAM,
    .until_time = true,
    .plan = explore_plan,
    .run = run,
};
