/* engine/api, sequence, play, suite: values, sequences, what an API wants, execution. */
#include "engine/play/answer.h"
#include "engine/sequence/keep.h"
#include "engine/sequence/ownership.h"
#include "engine/sequence/pool.h"
#include "engine/suite/settle.h"
#include "engine/suite/describe.h"
#include "engine/suite/write.h"
#include "mutate.h"
#define LAB_MORE                                                                                   \
    "#include <time.h>\n"                                                                          \
    "int burn(int n) { clock_t begin = clock(); while (n == 7011 && clock() - begin < CLOCKS_PER_SEC / 10) ; return n; }\n"
#include "sequence_lab.h"
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static Outcome run_one(Lab *l, Arena *a, ExecJob job)
{
    Err err = { 0 };
    Outcome out;
    if (!exec_run(l->exec, a, &job, 1, &out, &err))
        fail_msg("%s", err.msg);
    return out;
}

/* ---- values and sequences */

static void values_are_equal_by_what_they_use(void **state)
{
    (void)state;
    Arena a = { 0 };
    SeqValue x = value_string(&a, "abc"), y = value_bytes(&a, "abc", 3),
             z = value_string(&a, "abd");
    assert_false(value_equal(&x, &y));
    assert_false(value_equal(&x, &z));
    SeqValue c = value_copy(&a, &x);
    assert_true(value_equal(&x, &c) && c.bytes != x.bytes);
    SeqValue r = value_result(3), s = value_stored(3, 0);
    assert_true(value_is_made(&r) && value_is_made(&s) && !value_equal(&r, &s));
    arena_release(&a);
}

static Seq *bag_sequence(const Lab *l, Arena *a)
{
    Seq *s = seq_new(a);
    seq_call(a, s, fn(l, "bag_new"));
    SeqStep *add = seq_call(a, s, fn(l, "bag_add"));
    add->args[0] = value_result(0);
    add->args[1] = value_integer(4);
    seq_call(a, s, fn(l, "bag_new"));
    seq_call(a, s, fn(l, "bag_sum"))->args[0] = value_result(2);
    return s;
}

static void without_a_step_its_users_go_and_numbers_move(void **state)
{
    (void)state;
    Lab l = lab_open();
    Arena a = { 0 };
    Str text = { 0 };
    Seq *s = bag_sequence(&l, &a);
    seq_dump(seq_without(&a, s, 0), &text);
    assert_string_equal(str_c(&text), "r0 = bag_new()\nr1 = bag_sum(r0)\n");
    assert_null(seq_without(&a, seq_prefix(&a, s, 2), 0));
    str_release(&text);
    arena_release(&a);
    lab_close(&l);
}

static void a_sequence_comes_back_from_json(void **state)
{
    (void)state;
    Lab l = lab_open();
    Arena a = { 0 };
    Err err = { 0 };
    Seq *s = bag_sequence(&l, &a);
    json_t *kept = seq_to_json(s);
    assert_non_null(kept);
    Seq *again = seq_from_json(&a, l.api, kept, &err);
    assert_true(again && seq_equal(s, again));
    json_decref(kept);
    arena_release(&a);
    lab_close(&l);
}

static void json_that_is_no_sequence_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{}",
        "[ { \"call\": \"bag_gone\", \"args\": [] } ]",
        "[ { \"call\": \"bag_new\", \"args\": [ null ] } ]",
        "[ { \"call\": \"bag_sum\", \"args\": [ { \"result\": 0 } ] } ]",
        "[ { \"call\": \"bag_sum\", \"args\": [ { \"result\": -1 } ] } ]",
        "[ { \"call\": \"bag_sum\", \"args\": [ { \"string\": \"6\" } ] } ]",
        "[ { \"call\": \"bag_sum\", \"args\": [ { \"room\": 99999999999 } ] } ]",
        "[ { \"storage\": \"struct gone\" } ]",
        "[ 3 ]",
    };
    Lab l = lab_open();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Arena a = { 0 };
        Err err = { 0 };
        json_t *j = json_loads(bad[i], 0, NULL);
        assert_non_null(j);
        assert_null(seq_from_json(&a, l.api, j, &err));
        assert_true(*err.msg);
        json_decref(j);
        arena_release(&a);
    }
    lab_close(&l);
}

static void handles_live_until_they_are_consumed(void **state)
{
    (void)state;
    Lab l = lab_open();
    Arena a = { 0 };
    Seq *s = bag_sequence(&l, &a);
    SeqHandles all = { 0 };
    seq_handles(s, NULL, &all);
    assert_int_equal(all.len, 2);
    assert_true(all.items[0].owned && all.items[1].step == 2);
    seq_call(&a, s, fn(&l, "bag_free"))->args[0] = value_result(0);
    all.len = 0;
    seq_handles(s, NULL, &all);
    assert_int_equal(all.len, 1);
    s->steps[2].nulls = 1;       /* it came out as NULL */
    all.len = 0;
    seq_handles(s, NULL, &all);
    assert_int_equal(all.len, 0);
    vec_release(&all);
    arena_release(&a);
    lab_close(&l);
}

static void what_was_learned_overrules_the_role(void **state)
{
    (void)state;
    Lab l = lab_open();
    Ownership *o = ownership_new(l.api);
    assert_int_equal(ownership_use(o, fn(&l, "bag_new"), API_RETURNED), USE_CREATES);
    ownership_learn(o, fn(&l, "bag_new"), API_RETURNED, USE_BORROWS);
    assert_int_equal(ownership_use(o, fn(&l, "bag_new"), API_RETURNED), USE_BORROWS);
    assert_int_equal(ownership_use(NULL, fn(&l, "bag_new"), API_RETURNED), USE_CREATES);
    ownership_free(o);
    lab_close(&l);
}

/* ---- what an API wants */

static void each_place_has_a_role(void **state)
{
    (void)state;
    Lab l = lab_open();
    Str all = { 0 };
    api_dump(l.api, &all);
    static const char *const lines[] = {
        "bag_new() -> handle struct bag creates\n",
        "bag_open(out: handle out struct bag creates) -> integer\n",
        "box_init(b: storage struct box creates) -> nothing\n",
        "bag_add(b: handle struct bag changes, v: integer) -> integer\n",
        "bag_sum(b: handle struct bag observes) -> integer\n",
        "bag_free(b: handle struct bag consumes) -> nothing\n",
        "put(to: buffer out of 2, size: length of 1, from: string) -> integer\n",
        "total(bytes: buffer of 2, len: length of 1) -> integer\n",
        "split(v: integer, half: out, rest: out) -> nothing\n",
        "paint(c: enum, flags: flags) -> integer\n",
        "scale(x: float, y: float) -> float\n",
        "each(n: integer, see: callback of 3, user: user data of 2) -> integer\n",
        "name(n: integer) -> string\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(str_c(&all), lines[i]))
            fail_msg("not there: %s\n%s", lines[i], str_c(&all));
    assert_non_null(fn(&l, "vprint")->not_callable);
    assert_null(fn(&l, "move")->not_callable);
    assert_true(fn(&l, "print")->variadic);
    str_release(&all);
    lab_close(&l);
}

static void a_length_follows_its_buffer(void **state)
{
    (void)state;
    Lab l = lab_open();
    Arena a = { 0 };
    Err err = { 0 };
    Pool *p = pool_new(l.api, &err);
    Rng rng = rng_seeded(1);
    for (int i = 0; i < 200; i++) {
        Seq *s = seq_new(&a);
        SeqStep *st = seq_call(&a, s, fn(&l, "total"));
        pool_fill(p, &rng, &a, st);
        assert_int_equal(st->args[1].kind, VALUE_INTEGER);
        assert_true(st->args[1].integer <= st->args[0].n);
        st = seq_call(&a, s, fn(&l, "paint"));
        pool_fill(p, &rng, &a, st);
        assert_true(st->args[0].integer == 0 || st->args[0].integer == 5);
    }
    pool_free(p);
    arena_release(&a);
    lab_close(&l);
}

/* ---- execution */

/* What leads nowhere is not let through. */
static void check_outcome(const Seq *s, const Outcome *o, uint32_t npoints)
{
    Str text = { 0 };
    assert_true(o->at <= s->n && o->state <= OUTCOME_EXITED);
    for (size_t i = 0; i < o->nfresh; i++)
        assert_true(o->fresh[i] < npoints);
    for (size_t i = 0; i < o->nobs; i++) {
        assert_true(o->obs[i].step < s->n);
        observation_print(&o->obs[i], &text);
    }
    str_release(&text);
}

static void answers_that_make_no_sense_do_no_harm(void **state)
{
    (void)state;
    enum { POINTS = 40 };
    Lab l = lab_open();
    Arena a = { 0 };
    Rng rng = rng_seeded(8);
    Seq *s = bag_sequence(&l, &a);
    struct WireAnswer *good = xcalloc(1, sizeof *good), *bad = xcalloc(1, sizeof *bad);
    struct {
        uint32_t step;
        int32_t place;
        uint32_t kind, n;
        uint64_t value;
    } rows[] = {
        { 0, API_RETURNED, OBS_HANDLE, 8, 1 },
        { 1, API_RETURNED, OBS_INTEGER, 8, 5 },
        { 1, 0, OBS_SAME, 8, 0 },
        { 2, OBSERVED_ERRNO, OBS_ERRNO, 8, 2 },
        { 1, 0, OBS_FIELDS, 8, 77 },
        { 3, API_RETURNED, OBS_STRING, 8, 0x414243 },
    };
    *good = (struct WireAnswer){
        .state = WIRE_DONE, .at = 3, .nnew = 3, .nobs = sizeof rows, .fresh = { 1, 7, 39 }
    };
    memcpy(good->obs, rows, sizeof rows);
    size_t head = offsetof(struct WireAnswer, fresh) + 40;
    for (unsigned i = 0; i < mutations(10000); i++) {
        Arena run = { 0 };
        Outcome out;
        memcpy(bad, good, sizeof *bad);
        mutate_bytes(&rng, (uint8_t *)bad, (uint8_t *)good, head);
        mutate_bytes(&rng, bad->obs, good->obs, sizeof rows);
        answer_read(&run, s, POINTS, bad, &out);
        check_outcome(s, &out, POINTS);
        arena_release(&run);
    }
    free(good);
    free(bad);
    arena_release(&a);
    lab_close(&l);
}

static void results_and_what_is_written_are_observed(void **state)
{
    (void)state;
    Lab l = lab_open();
    lab_start(&l, false);
    Arena a = { 0 };
    Seq *s = seq_new(&a);
    SeqStep *st = seq_call(&a, s, fn(&l, "split"));
    st->args[0] = value_integer(7);
    st->args[1] = st->args[2] = value_room(4);
    st = seq_call(&a, s, fn(&l, "put"));
    st->args[0] = value_room(8);
    st->args[1] = value_integer(8);
    st->args[2] = value_string(&a, "hello");
    seq_call(&a, s, fn(&l, "name"))->args[0] = value_integer(1);
    seq_call(&a, s, fn(&l, "name"))->args[0] = value_integer((uint64_t)-1);
    st = seq_call(&a, s, fn(&l, "scale"));
    st->args[0] = value_float(2.5);
    st->args[1] = value_float(2);
    st = seq_call(&a, s, fn(&l, "each"));
    st->args[0] = value_integer(3);
    st->args[1] = value_function(NULL);
    st->args[2] = value_null();
    Outcome o = run_one(&l, &a, (ExecJob){ .seq = s });
    assert_int_equal(o.state, OUTCOME_DONE);
    assert_int_equal(outcome_at(&o, 0, 1)->integer, 3);
    assert_int_equal(outcome_at(&o, 0, 2)->integer, 1);
    assert_int_equal(outcome_at(&o, 1, API_RETURNED)->integer, 5);
    assert_memory_equal(outcome_at(&o, 1, 0)->bytes, "hello\0\0\0", 8);
    assert_memory_equal(outcome_at(&o, 2, API_RETURNED)->bytes, "some", 4);
    assert_int_equal(outcome_at(&o, 3, API_RETURNED)->kind, OBSERVED_NULL);
    assert_true(outcome_at(&o, 4, API_RETURNED)->real == 5.0);
    assert_int_equal(outcome_at(&o, 5, OBSERVED_CALLBACKS)->integer, 3);
    assert_true(o.nfresh > 0);
    arena_release(&a);
    lab_close(&l);
}

static void structs_go_in_and_out_by_value(void **state)
{
    (void)state;
    Lab l = lab_open();
    lab_start(&l, false);
    Arena a = { 0 };
    Seq *s = seq_new(&a);
    int32_t point[4] = { 10, 20, 0, 0 }, moved[2];
    SeqStep *st = seq_call(&a, s, fn(&l, "move"));
    st->args[0] = value_bytes(&a, point, sizeof point);
    st->args[1] = value_integer(5);
    Outcome o = run_one(&l, &a, (ExecJob){ .seq = s });
    const Observation *r = outcome_at(&o, 0, API_RETURNED);
    assert_int_equal(r->kind, OBSERVED_BYTES);
    memcpy(moved, r->bytes, sizeof moved);
    assert_int_equal(moved[0], 15);
    assert_int_equal(moved[1], 20);
    assert_memory_equal(r->bytes + 8, "\0\0\0\0\0\0\0\0", 8);      /* a pointer: not kept */
    arena_release(&a);
    lab_close(&l);
}

static void handles_are_passed_on_whatever_made_them(void **state)
{
    (void)state;
    Lab l = lab_open();
    lab_start(&l, false);
    Arena a = { 0 };
    Seq *s = seq_new(&a);
    seq_call(&a, s, fn(&l, "bag_open"))->args[0] = value_room(8);
    seq_call(&a, s, fn(&l, "box_init"))->args[0] = value_room(4);
    SeqStep *st = seq_call(&a, s, fn(&l, "bag_add"));
    st->args[0] = value_stored(0, 0);
    st->args[1] = value_integer(21);
    seq_call(&a, s, fn(&l, "bag_sum"))->args[0] = value_stored(0, 0);
    seq_call(&a, s, fn(&l, "box_get"))->args[0] = value_storage(1, 0);
    Outcome o = run_one(&l, &a, (ExecJob){ .seq = s });
    assert_int_equal(o.state, OUTCOME_DONE);
    assert_int_equal(outcome_at(&o, 0, 0)->kind, OBSERVED_HANDLE);
    assert_int_equal(outcome_at(&o, 3, API_RETURNED)->integer, 21);
    assert_int_equal(outcome_at(&o, 4, API_RETURNED)->integer, 3);
    arena_release(&a);
    lab_close(&l);
}

static void a_busy_machine_ends_no_job(void **state)
{
    (void)state;
    enum { BUSY = 12 };
    Lab l = lab_open();
    lab_start(&l, false);
    Arena a = { 0 };
    Err err = { 0 };
    char *libexec = libexec_folder();
    ExecPlan plan = {
        .api = l.api, .library = l.library, .libexec = libexec, .cpu_ms = 5000, .wall_ms = 100
    };
    Exec *e = exec_open(&plan, &err);
    assert_non_null(e);
    pid_t busy[BUSY];
    for (int i = 0; i < BUSY; i++)
        if ((busy[i] = fork()) == 0)
            for (;;)
                ;
    Seq *s = seq_new(&a);
    seq_call(&a, s, fn(&l, "burn"))->args[0] = value_integer(7011);
    ExecJob job = { .seq = s };
    Outcome out = { 0 };
    bool ok = exec_run(e, &a, &job, 1, &out, &err);
    for (int i = 0; i < BUSY; i++) {
        kill(busy[i], SIGKILL);
        waitpid(busy[i], NULL, 0);
    }
    assert_true(ok);
    assert_int_equal(out.state, OUTCOME_DONE);
    exec_close(e);
    free(libexec);
    arena_release(&a);
    lab_close(&l);
}

static bool is_second_question(void *arg) { return ++*(int *)arg > 1; }

/* Nobody is blamed for not being run. */
static void stopped_jobs_are_not_run(void **state)
{
    (void)state;
    Lab l = lab_open();
    lab_start(&l, false);
    Arena a = { 0 };
    Err err = { 0 };
    int asked = 0;
    char *libexec = libexec_folder();
    ExecPlan plan = { .api = l.api,
                      .library = l.library,
                      .libexec = libexec,
                      .cpu_ms = 60000,
                      .wall_ms = 60000,
                      .stop = is_second_question,
                      .stop_arg = &asked };
    Exec *e = exec_open(&plan, &err);
    assert_non_null(e);
    ExecJob jobs[2] = { 0 };
    Outcome out[2];
    for (int i = 0; i < 2; i++) {
        Seq *s = bag_sequence(&l, &a);
        seq_call(&a, s, fn(&l, "die"))->args[0] = value_integer(3);   /* does not end */
        jobs[i].seq = s;
    }
    asked = 0;
    if (!exec_run(e, &a, jobs, 2, out, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(out[0].state, OUTCOME_NOT_RUN);
    assert_int_equal(out[1].state, OUTCOME_NOT_RUN);
    SeqTest t = { .seq = (Seq *)jobs[0].seq };
    assert_false(settle_sees(&t, &out[0]));
    exec_close(e);
    free(libexec);
    arena_release(&a);
    lab_close(&l);
}

static void who_dies_dies_alone(void **state)
{
    (void)state;
    Lab l = lab_open();
    lab_start(&l, false);
    Arena a = { 0 };
    Err err = { 0 };
    ExecJob jobs[4];
    Outcome out[4];
    memset(jobs, 0, sizeof jobs);
    for (unsigned i = 0; i < 4; i++) {
        Seq *s = bag_sequence(&l, &a);
        seq_call(&a, s, fn(&l, "die"))->args[0] = value_integer(i);
        jobs[i] = (ExecJob){ .seq = s, .prefix = 4, .group = 1 };
    }
    if (!exec_run(l.exec, &a, jobs, 4, out, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(out[0].state, OUTCOME_DONE);
    assert_int_equal(outcome_at(&out[0], 1, API_RETURNED)->integer, 4);   /* of the prefix */
    assert_int_equal(out[1].state, OUTCOME_DIED);
    assert_int_equal(out[1].signal, SIGABRT);
    assert_int_equal(out[2].signal, SIGSEGV);
    assert_int_equal(out[2].at, 4);
    assert_int_equal(out[3].state, OUTCOME_TIMEOUT);
    Failure f = { 0 };
    if (!exec_failure(l.exec, &jobs[2], &f, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(f.kind, FAILURE_SIGNAL);
    assert_int_equal(f.signal, SIGSEGV);
    failure_release(&f);
    f = (Failure){ 0 };
    if (!exec_failure(l.exec, &jobs[3], &f, &err))
        fail_msg("%s", err.msg);
    assert_true(failure_is_late(&f));
    failure_release(&f);
    arena_release(&a);
    lab_close(&l);
}

/* Kills, stops, replaces its process, writes over the memory that all share, listens to no
 * signal: it is one sequence that ends, and the others have their answers. */
static void who_harms_harms_itself(void **state)
{
    enum { HARMS = 5, AFTER = 3, ALL = HARMS * (1 + AFTER) };
    (void)state;
    Lab l = lab_open();
    lab_start(&l, false);
    for (unsigned prefix = 0; prefix <= 4; prefix += 4) {
        Arena a = { 0 };
        Err err = { 0 };
        ExecJob jobs[ALL];
        Outcome out[ALL];
        memset(jobs, 0, sizeof jobs);
        for (unsigned i = 0; i < ALL; i++) {
            Seq *s = bag_sequence(&l, &a);
            unsigned harm = i % (1 + AFTER) == 0 ? 7001 + i / (1 + AFTER) : 0;
            seq_call(&a, s, fn(&l, "harm"))->args[0] = value_integer(harm);
            jobs[i] = (ExecJob){ .seq = s, .prefix = prefix, .group = prefix != 0 };
        }
        if (!exec_run(l.exec, &a, jobs, ALL, out, &err))
            fail_msg("%s", err.msg);
        for (unsigned i = 0; i < ALL; i++)
            if (i % (1 + AFTER) == 0)
                assert_int_not_equal(out[i].state, OUTCOME_DONE);
            else
                assert_int_equal(out[i].state, OUTCOME_DONE);
        arena_release(&a);
    }
    lab_close(&l);
}

static void leaks_and_garbage_show(void **state)
{
    (void)state;
    Lab l = lab_open();
    lab_start(&l, false);
    Arena a = { 0 };
    Seq *s = seq_new(&a);
    seq_call(&a, s, fn(&l, "bag_new"));
    seq_call(&a, s, fn(&l, "bag_unused"))->args[0] = value_result(0);
    Outcome open = run_one(&l, &a, (ExecJob){ .seq = s, .twice = true });
    assert_true(open.leaked > 0);
    seq_call(&a, s, fn(&l, "bag_free"))->args[0] = value_result(0);
    Outcome closed = run_one(&l, &a, (ExecJob){ .seq = s, .twice = true });
    assert_int_equal(closed.leaked, 0);
    Outcome x = run_one(&l, &a, (ExecJob){ .seq = s, .fill = 0xa5 });
    Outcome y = run_one(&l, &a, (ExecJob){ .seq = s, .fill = 0x3c });
    bool stable[8];
    memset(stable, 1, sizeof stable);
    settle_compare(&x, &y, stable);
    assert_true(stable[0]);      /* the handle */
    assert_false(stable[1]);     /* what was in fresh memory */
    arena_release(&a);
    lab_close(&l);
}

/* A bag has the address of one that was freed: so it is in the plain library, not
 * with the sanitizer. That bag_free() is one call too many shows in an experiment. */
static void an_address_that_was_freed_is_no_sameness(void **state)
{
    (void)state;
    Lab l = lab_open();
    Arena a = { 0 };
    Err err = { 0 };
    lab_start(&l, false);
    char *libexec = libexec_folder(), *strict = path_join(l.compiled.dir, "strict.so");
    char *compile = xprintf("cd '%s' && clang-19 -w -g -fPIC -shared -fsanitize=address "
                            "-shared-libsan a.c -o strict.so && clang-19 -print-file-name="
                            "libclang_rt.asan-x86_64.so",
                            l.compiled.dir);
    char preload[512] = "";
    FILE *told = popen(compile, "r");
    assert_non_null(told);
    assert_non_null(fgets(preload, sizeof preload, told));
    assert_int_equal(pclose(told), 0);
    preload[strcspn(preload, "\n")] = '\0';
    ExecPlan plan = { .api = l.api, .library = l.library, .libexec = libexec };
    ExecPlan watched = {
        .api = l.api, .library = strict, .libexec = libexec, .preload = preload, .cpu_ms = 800
    };
    Rng rng = rng_seeded(1);
    Pool *pool = pool_new(l.api, &err);
    Ownership *ownership = ownership_new(l.api);
    GrowPlan grow = { .api = l.api, .pool = pool, .ownership = ownership, .rng = &rng };
    Settler settler = { .grow = &grow,
                        .ownership = ownership,
                        .exec = l.exec,
                        .again = exec_open(&plan, &err),
                        .strict = exec_open(&watched, &err) };
    if (!settler.again || !settler.strict)
        fail_msg("%s", err.msg);

    Seq *s = seq_new(&a);
    seq_call(&a, s, fn(&l, "bag_new"));
    seq_call(&a, s, fn(&l, "bag_free"))->args[0] = value_result(0);
    seq_call(&a, s, fn(&l, "bag_new"));
    SeqStep *eat = seq_call(&a, s, fn(&l, "bag_eat"));
    eat->args[0] = value_result(2);
    eat->args[1] = value_integer(7);
    Settled out;
    if (!settle(&settler, &a, &s, 1, &out, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(out.kind, SETTLED);
    size_t handles = 0;
    for (size_t i = 0; i < out.test.out.nobs; i++) {
        const Observation *o = &out.test.out.obs[i];
        assert_int_not_equal(o->kind, OBSERVED_SAME);
        handles += o->kind == OBSERVED_HANDLE && out.test.stable[i];
    }
    assert_int_equal(handles, 2);        /* both are there, and that is said */

    exec_close(settler.again);
    exec_close(settler.strict);
    ownership_free(ownership);
    pool_free(pool);
    free(compile);
    free(strict);
    free(libexec);
    arena_release(&a);
    lab_close(&l);
}

static void a_leak_that_happens_once_is_seen(void **state)
{
    (void)state;
    Lab l = lab_open();
    lab_start(&l, false);
    Arena a = { 0 };
    Seq *s = seq_new(&a);
    seq_call(&a, s, fn(&l, "lose"))->args[0] = value_integer(50);
    seq_call(&a, s, fn(&l, "turn_off"));
    Outcome lost = run_one(&l, &a, (ExecJob){ .seq = s, .twice = true });
    assert_true(lost.leaked >= 50);
    s = seq_new(&a);             /* what is kept for the next time is no leak */
    seq_call(&a, s, fn(&l, "cached"))->args[0] = value_integer(50);
    Outcome kept = run_one(&l, &a, (ExecJob){ .seq = s, .twice = true });
    assert_int_equal(kept.leaked, 0);
    arena_release(&a);
    lab_close(&l);
}

static void a_mutant_is_switched_on_by_its_number(void **state)
{
    (void)state;
    Lab l = lab_open();
    lab_start(&l, true);
    Arena a = { 0 };
    Err err = { 0 };
    Seq *s = seq_new(&a);
    SeqStep *st = seq_call(&a, s, fn(&l, "split"));
    st->args[0] = value_integer(7);
    st->args[1] = st->args[2] = value_room(4);
    Outcome reached = run_one(&l, &a, (ExecJob){ .seq = s, .reached = true });
    assert_true(reached.nfresh > 0 && reached.nfresh < exec_nreached(l.exec));
    assert_int_equal(outcome_at(&reached, 0, 1)->integer, 3);
    unsigned seen = 0, n = 120;
    ExecJob *jobs = arena_array(&a, ExecJob, n);
    Outcome *out = arena_array(&a, Outcome, n);
    for (unsigned i = 0; i < n; i++)
        jobs[i] = (ExecJob){ .seq = s, .mutant = i + 1 };
    if (!exec_run(l.exec, &a, jobs, n, out, &err))
        fail_msg("%s", err.msg);
    for (unsigned i = 0; i < n; i++)
        seen += out[i].state != OUTCOME_DONE || outcome_at(&out[i], 0, 1)->integer != 3 ||
                outcome_at(&out[i], 0, 2)->integer != 1;
    assert_in_range(seen, 3, 8);     /* those of split() alone: two operators, two constants */
    arena_release(&a);
    lab_close(&l);
}

static void a_test_is_written_as_c(void **state)
{
    (void)state;
    Lab l = lab_open();
    lab_start(&l, false);
    Arena a = { 0 };
    Seq *s = seq_new(&a);
    seq_call(&a, s, fn(&l, "bag_new"));
    SeqStep *st = seq_call(&a, s, fn(&l, "bag_add"));
    st->args[0] = value_result(0);
    st->args[1] = value_integer((uint64_t)-4);
    st = seq_call(&a, s, fn(&l, "paint"));
    st->args[0] = value_integer(5);
    st->args[1] = value_integer(4000000000u);
    st = seq_call(&a, s, fn(&l, "put"));
    st->args[0] = value_room(4);
    st->args[1] = value_integer(4);
    st->args[2] = value_string(&a, "a\"\n");
    seq_call(&a, s, fn(&l, "bag_free"))->args[0] = value_result(0);
    s->steps[4].closing = true;
    SeqTest t = { .seq = s, .out = run_one(&l, &a, (ExecJob){ .seq = s }) };
    bool stable[16];
    memset(stable, 1, sizeof stable);
    t.stable = stable;
    WriteFile file = { 0 };
    Str name = { 0 }, sentence = { 0 }, body = { 0 };
    size_t checks = 0;
    write_test(&file, &t, &body, &checks);
    describe_test(&t, NULL, false, &name, &sentence);
    assert_string_equal(str_c(&name), "test_put_for_a_gives_3");
    assert_string_equal(str_c(&sentence), "put() returns 3 for \"a\"\\n\".");
    assert_string_equal(str_c(&body), "struct bag *bag = bag_new();\n"
                                      "CHECK_NOT_NULL(bag);\n"
                                      "CHECK_INT(bag_add(bag, -4), -4);\n"
                                      "CHECK_INT(paint(GREEN, 4000000000u), -294967296);\n"
                                      "char to[4] = { 0 };\n"
                                      "CHECK_INT(put(to, 4, \"a\\\"\\n\"), 3);\n"
                                      "CHECK_STR(to, \"a\\\"\\n\");\n"
                                      "bag_free(bag);\n");
    assert_int_equal(checks, 5);
    str_release(&name);
    str_release(&sentence);
    str_release(&body);
    write_release(&file);
    arena_release(&a);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_equal_by_what_they_use),
        cmocka_unit_test(without_a_step_its_users_go_and_numbers_move),
        cmocka_unit_test(a_sequence_comes_back_from_json),
        cmocka_unit_test(json_that_is_no_sequence_is_refused),
        cmocka_unit_test(handles_live_until_they_are_consumed),
        cmocka_unit_test(what_was_learned_overrules_the_role),
        cmocka_unit_test(each_place_has_a_role),
        cmocka_unit_test(a_length_follows_its_buffer),
        cmocka_unit_test(answers_that_make_no_sense_do_no_harm),
        cmocka_unit_test(results_and_what_is_written_are_observed),
        cmocka_unit_test(structs_go_in_and_out_by_value),
        cmocka_unit_test(handles_are_passed_on_whatever_made_them),
        cmocka_unit_test(a_busy_machine_ends_no_job),
        cmocka_unit_test(stopped_jobs_are_not_run),
        cmocka_unit_test(who_dies_dies_alone),
        cmocka_unit_test(who_harms_harms_itself),
        cmocka_unit_test(leaks_and_garbage_show),
        cmocka_unit_test(an_address_that_was_freed_is_no_sameness),
        cmocka_unit_test(a_leak_that_happens_once_is_seen),
        cmocka_unit_test(a_mutant_is_switched_on_by_its_number),
        cmocka_unit_test(a_test_is_written_as_c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
