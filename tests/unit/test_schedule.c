/*
 * engine/schedule: schedules as text, a program that lies in the shared memory, and
 * the search in a program that calls the runtime as if it were woven.
 */
#include "base/file.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "engine/schedule/schedule.h"
#include "tests/unit/tree.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* ------------------------------------------------------------------ texts */

static void written_is_read(void **state)
{
    (void)state;
    Schedule a = { 0 }, b = { 0 };
    Str text = { 0 };
    Err err = { 0 };
    vec_push(&a.hot, 3u);
    vec_push(&a.hot, 131071u);
    vec_push(&a.forces, ((struct sundew_force){ 0, 63 }));
    vec_push(&a.forces, ((struct sundew_force){ 4000000000u, 1 }));
    schedule_write(&a, "key.1", &text);
    assert_true(schedule_read(str_c(&text), "key.1", &b, &err));
    assert_int_equal(b.hot.len, 2);
    assert_int_equal(b.hot.items[1], 131071);
    assert_int_equal(b.forces.len, 2);
    assert_int_equal(b.forces.items[0].thread, 63);
    assert_int_equal(b.forces.items[1].decision, 4000000000u);
    schedule_release(&b);
    assert_false(schedule_read(str_c(&text), "key.2", &b, &err));
    assert_non_null(strstr(err.msg, "another build"));
    schedule_release(&a);
    str_release(&text);
}

static void an_empty_one_is_read(void **state)
{
    (void)state;
    Schedule a = { 0 }, b = { 0 };
    Str text = { 0 };
    Err err = { 0 };
    schedule_write(&a, "k", &text);
    assert_true(schedule_read(str_c(&text), "k", &b, &err));
    assert_int_equal(b.hot.len + b.forces.len, 0);
    schedule_release(&b);
    str_release(&text);
}

static void damaged_ones_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "\n",
        "sundew schedule 1",
        "sundew schedule 2\nbuild k\n",
        "sundew schedule 1\nbuild\n",
        "#!/bin/sh\nbuild k\n",
        "sundew schedule 1\nbuild k\nat 1\n",
        "sundew schedule 1\nbuild k\nat 1 run T64\n",            /* no such thread */
        "sundew schedule 1\nbuild k\nat 1 run T1 now\n",
        "sundew schedule 1\nbuild k\nat 2 run T1\nat 2 run T0\n",  /* twice at one decision */
        "sundew schedule 1\nbuild k\nat 2 run T1\nat 1 run T0\n",  /* not in order */
        "sundew schedule 1\nbuild k\nhot 131072\n",              /* no such site */
        "sundew schedule 1\nbuild k\nhot 1 x\n",
        "sundew schedule 1\nbuild k\nhotter 1\n",
        "sundew schedule 1\nbuild k\nhot -1\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Schedule s = { 0 };
        Err err = { 0 };
        if (schedule_read(bad[i], "k", &s, &err))
            fail_msg("text %zu is read", i);
        assert_true(err.msg[0]);
        assert_null(s.forces.items);
    }
}

static void too_many_forces_are_refused(void **state)
{
    (void)state;
    Schedule s = { 0 };
    Str text = { 0 };
    Err err = { 0 };
    str_add(&text, "sundew schedule 1\nbuild k\n");
    for (unsigned i = 0; i <= SUNDEW_SCHEDULE_FORCES; i++)
        str_addf(&text, "at %u run T0\n", i);
    assert_false(schedule_read(str_c(&text), "k", &s, &err));
    str_release(&text);
}

static void every_kind_has_a_name(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SUNDEW_AT_KINDS; i++)
        assert_true(strlen(schedule_kind_name(i)) > 2);
    assert_string_equal(schedule_kind_name(SUNDEW_AT_KINDS), "?");
}

/* --------------------------------------------------------------- programs */

/* A program as the weave would leave it, linked with the runtime. */
static char *program(const char *dir, const char *text)
{
    Err err = { 0 };
    char *source = path_join(dir, "subject.c"), *out = path_join(dir, "subject"),
         *top = in_tree("."), *include = xprintf("-I%s", top);
    static const char *const parts[] = {
        "runtime/schedule/core.c",    "runtime/schedule/objects.c", "runtime/schedule/stack.c",
        "runtime/schedule/access.c",  "runtime/schedule/sync.c",    "runtime/schedule/thread.c",
        "runtime/schedule/timing.c",  "runtime/schedule/probe.c",   "runtime/heap/pages.c",
        "runtime/server/forkserver.c"
    };
    Strings words = { 0 };
    strings_add(&words, "cc");
    static const char *const flags[] = { "-std=gnu17", "-D_GNU_SOURCE", "-w", "-g", "-O1" };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        strings_add(&words, flags[i]);
    strings_add(&words, include);
    strings_add(&words, source);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char *path = in_tree(parts[i]);
        strings_add(&words, path);
        free(path);
    }
    strings_add(&words, "-o");
    strings_add(&words, out);
    strings_add(&words, "-lpthread");
    ProcResult r = { 0 };
    Proc p = { .argv = strings_argv(&words), .capture = true, .seconds = 120 };
    if (!file_write(source, text, strlen(text), &err) || !proc_run(&p, &r, &err) || r.status != 0)
        fail_msg("%s%s", err.msg, str_c(&r.err));
    proc_result_release(&r);
    strings_release(&words);
    free(source);
    free(top);
    free(include);
    return out;
}

static Scheduler *open_subject(ScheduleBuild *b, char **argv, const char *text)
{
    static ScheduleSite sites[8] = {
        [0 ... 7] = { .function = "f", .file = "/x/subject.c", .what = "read", .line = 1 }
    };
    Err err = { 0 };
    const char *dir = tempdir_new(NULL, &err);
    assert_non_null(dir);
    *b = (ScheduleBuild){ .path = program(dir, text), .sites = sites, .nsites = 8 };
    argv[0] = b->path;
    argv[1] = NULL;
    Scheduler *s =
        scheduler_open(&(SchedulerPlan){ .build = b, .argv = argv, .racing = true }, &err);
    if (!s)
        fail_msg("%s", err.msg);
    return s;
}

/* It maps the shared memory itself and fills it with what can't be. */
static const char liar[] =
    "#include \"runtime/format/schedule.h\"\n"
    "#include \"runtime/schedule/schedule.h\"\n"
    "#include <string.h>\n"
    "#include <sys/mman.h>\n"
    "int main(void) {\n"
    "    struct sundew_schedule *p = mmap(0, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED, 202, 0);\n"
    "    if (p == MAP_FAILED) return 1;\n"
    "    memset(p->heated, 255, sizeof p->heated);\n"
    "    p->ended = 2; p->nthreads = 9999; p->nsteps = p->nraces = p->npoints = ~0u;\n"
    "    p->ndecisions = ~0u; p->most_points = ~0u;\n"
    "    memset(p->waits, 255, sizeof p->waits);\n"
    "    memset(p->races, 255, sizeof p->races);\n"
    "    memset(p->steps, 255, sizeof p->steps);\n"
    "    p->races[3] = (struct sundew_race){ 1, { 7, 200, 1, 200 }, { 2, 255, 0, 255 } };\n"
    "    p->races[4].first.site = 8;\n"
    "    p->steps[5] = (struct sundew_step){ .site = 3, .thread = 63, .chosen = 63, .usual = 63,\n"
    "                                        .enabled = ~0ull, .flags = 255, .kind = 1 };\n"
    "    p->steps[6] = p->steps[5]; p->steps[6].kind = 200;\n"
    "    p->steps[7] = p->steps[5]; p->steps[7].thread = 64;\n"
    "    _exit(0);\n"
    "}\n";

static void what_a_liar_says_is_checked(void **state)
{
    (void)state;
    ScheduleBuild b;
    char *argv[2];
    Scheduler *s = open_subject(&b, argv, liar);
    Schedule none = { 0 };
    ScheduleRun run = { 0 };
    Str picture = { 0 };
    Err err = { 0 };
    assert_true(scheduler_run(s, &none, &run, &err));
    assert_int_equal(run.ended, SUNDEW_SCHEDULE_DEADLOCK);
    assert_int_equal(run.nthreads, SUNDEW_SCHEDULE_THREADS);
    assert_int_equal(run.steps.len, 1);
    assert_int_equal(run.races.len, 1);
    assert_int_equal(run.races.items[0].first.nheld, SUNDEW_SCHEDULE_HELD);
    assert_int_equal(run.races.items[0].second.nheld, SUNDEW_SCHEDULE_HELD);
    assert_int_equal(run.waits.len, SUNDEW_SCHEDULE_THREADS);
    for (size_t i = 0; i < run.waits.len; i++)
        assert_true(run.waits.items[i].kind < SUNDEW_AT_KINDS);
    schedule_draw(s, &run, 10, &picture);
    assert_true(picture.len > 0);
    str_release(&picture);
    schedule_run_release(&run);
    scheduler_close(s);
    free(b.path);
}

/* The search goes on with such runs, and ends. */
static SearchVerdict look(const Schedule *schedule, const ScheduleRun *run, void *arg)
{
    unsigned *seen = arg;
    assert_true(schedule->forces.len <= run->steps.len);
    (*seen)++;
    return SEARCH_GO_ON;
}

static void a_search_survives_a_liar(void **state)
{
    (void)state;
    ScheduleBuild b;
    char *argv[2];
    Scheduler *s = open_subject(&b, argv, liar);
    SearchResult r;
    Err err = { 0 };
    unsigned seen = 0;
    assert_true(schedule_search(s, &(SearchPlan){ .most = 50, .seed = 1 }, look, &seen, &r, &err));
    assert_int_equal(seen, r.runs);
    assert_true(r.runs <= 50);
    assert_true(r.hot <= 8);
    scheduler_close(s);
    free(b.path);
}

/* Two threads add one; woven by hand. */
static const char adds[] =
    "#include \"runtime/schedule/schedule.h\"\n"
    "int sundew_sched_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);\n"
    "int sundew_sched_pthread_join(pthread_t, void **);\n"
    "static int n;\n"
    "static void *add(void *p) {\n"
    "    sundew_sched_access(&n, 4, 0);\n"
    "    int old = n;\n"
    "    sundew_sched_access(&n, 4 | SUNDEW_ACCESS_WRITE, 1);\n"
    "    n = old + 1;\n"
    "    return p;\n"
    "}\n"
    "int main(void) {\n"
    "    pthread_t a, b;\n"
    "    sundew_schedule_site = 2;\n"
    "    sundew_sched_pthread_create(&a, 0, add, 0);\n"
    "    sundew_sched_pthread_create(&b, 0, add, 0);\n"
    "    sundew_sched_pthread_join(a, 0);\n"
    "    sundew_sched_pthread_join(b, 0);\n"
    "    return n;\n"
    "}\n";

typedef struct Lost {
    Schedule schedule;
    unsigned runs, lost, races;
} Lost;

static SearchVerdict lost_update(const Schedule *schedule, const ScheduleRun *run, void *arg)
{
    Lost *l = arg;
    l->runs++;
    l->races += run->races.len > 0;
    assert_int_equal(run->ended, SUNDEW_SCHEDULE_ENDED);
    if (run->result.failure.status == 1 && !l->lost++)
        schedule_copy(&l->schedule, schedule);
    return SEARCH_GO_ON;
}

/* T1 lets go of one of two locks, then is stopped with the other; T2 takes one, and comes to
 * the same memory. */
static void the_turn_that_was_taken_is_told(const Scheduler *s)
{
    static const struct sundew_step steps[] = {
        { .thread = 1, .chosen = 1, .kind = SUNDEW_AT_LOCK, .object = 10, .site = 2 },
        { .thread = 1, .chosen = 1, .kind = SUNDEW_AT_LOCK, .object = 20, .site = 3 },
        { .thread = 1, .chosen = 1, .kind = SUNDEW_AT_UNLOCK, .object = 10, .site = 4 },
        { .thread = 1,
          .chosen = 2,
          .kind = SUNDEW_AT_WRITE,
          .object = 99,
          .site = 5,
          .flags = SUNDEW_STEP_PREEMPTS },
        { .thread = 2, .chosen = 2, .kind = SUNDEW_AT_LOCK, .object = 30, .site = 6 },
        { .thread = 2, .chosen = 2, .kind = SUNDEW_AT_READ, .object = 98, .site = 0 },
        { .thread = 2, .chosen = 2, .kind = SUNDEW_AT_READ, .object = 99, .site = 7 },
    };
    ScheduleRun run = { 0 };
    struct sundew_side stopped = { 0 }, ran = { 0 };
    assert_false(schedule_switch(s, &run, 0, &stopped, &ran));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        vec_push(&run.steps, steps[i]);
    assert_true(schedule_switch(s, &run, 1, &stopped, &ran));
    assert_int_equal(stopped.site, 5);
    assert_true(stopped.thread == 1 && stopped.write && stopped.nheld == 1);
    assert_true(stopped.held[0] == 20 && stopped.held_at[0] == 3);
    assert_int_equal(ran.site, 7);
    assert_true(ran.thread == 2 && !ran.write && ran.nheld == 1 && ran.held_at[0] == 6);
    assert_false(schedule_switch(s, &run, 2, &stopped, &ran));
    schedule_run_release(&run);
}

typedef struct Stops {
    unsigned runs, of_first, lost;
} Stops;

static SearchVerdict count_stops(const Schedule *schedule, const ScheduleRun *run, void *arg)
{
    Stops *x = arg;
    (void)schedule;
    x->runs++;
    x->lost += run->result.failure.status == 1;
    for (size_t i = 0; i < run->steps.len; i++)
        x->of_first += run->steps.items[i].thread == 0 && schedule_takes_turn(&run->steps.items[i]);
    return SEARCH_GO_ON;
}

/* The thread that makes the others is stopped only if it is asked for. */
static void a_search_can_spare_a_thread(Scheduler *s, const Schedule *points)
{
    SearchResult r;
    Stops all = { 0 }, spared = { 0 };
    SearchPlan plan = { .most = 400, .bound = 2, .seed = 7, .points_of = points };
    assert_true(schedule_search(s, &plan, count_stops, &all, &r, NULL));
    plan.first_thread = 1;
    assert_true(schedule_search(s, &plan, count_stops, &spared, &r, NULL));
    assert_true(all.of_first > 0 && all.lost > 0);
    assert_true(spared.of_first == 0 && spared.lost > 0);
    assert_true(spared.runs < all.runs);
}

static void a_lost_update_is_found_and_replayed(void **state)
{
    (void)state;
    ScheduleBuild b;
    char *argv[2];
    Scheduler *s = open_subject(&b, argv, adds);
    SearchResult r;
    Lost l = { 0 };
    Err err = { 0 };
    assert_true(
        schedule_search(s, &(SearchPlan){ .most = 400, .seed = 7 }, lost_update, &l, &r, &err));
    assert_true(l.lost > 0 && l.lost < l.runs);
    assert_true(l.races > 0);
    assert_int_equal(r.hot, 2);
    assert_int_equal(r.threads, 3);
    assert_int_equal(r.complete, 3);
    assert_int_equal(r.inconclusive, 0);
    for (unsigned i = 0; i < 20; i++) {
        ScheduleRun run = { 0 };
        assert_true(scheduler_run(s, &l.schedule, &run, &err));
        assert_int_equal(run.result.failure.status, 1);
        schedule_run_release(&run);
    }
    the_turn_that_was_taken_is_told(s);
    a_search_can_spare_a_thread(s, &l.schedule);
    schedule_release(&l.schedule);
    scheduler_close(s);
    free(b.path);
}

/* A force that names a thread which can't run. */
static void another_way_is_told(void **state)
{
    (void)state;
    ScheduleBuild b;
    char *argv[2];
    Scheduler *s = open_subject(&b, argv, adds);
    Schedule wrong = { 0 };
    ScheduleRun run = { 0 };
    Err err = { 0 };
    vec_push(&wrong.forces, ((struct sundew_force){ 0, 60 }));
    assert_true(scheduler_run(s, &wrong, &run, &err));
    assert_int_equal(run.ended, SUNDEW_SCHEDULE_DIVERGED);
    schedule_run_release(&run);
    schedule_release(&wrong);
    scheduler_close(s);
    free(b.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_is_read),
        cmocka_unit_test(an_empty_one_is_read),
        cmocka_unit_test(damaged_ones_are_refused),
        cmocka_unit_test(too_many_forces_are_refused),
        cmocka_unit_test(every_kind_has_a_name),
        cmocka_unit_test(what_a_liar_says_is_checked),
        cmocka_unit_test(a_search_survives_a_liar),
        cmocka_unit_test(a_lost_update_is_found_and_replayed),
        cmocka_unit_test(another_way_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
