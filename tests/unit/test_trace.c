/* trace: what the recording runtime writes, read again; damaged streams. */
#include "mutate.h"
#include "compile.h"
#include "base/rng.h"
#include "engine/record/intervals.h"
#include "engine/record/trace.h"
#include "runtime/format/tables.h"
#include <signal.h>
#include <sys/uio.h>
#include <sys/wait.h>

/* The runtime with tables of ours. */
static SundewTables tables;
#define sundew_tables tables
#include "runtime/record/record.c"
#include "runtime/heap/walk.c"
#undef sundew_tables

/* Of its other files, as simple as can be. */
int sundew_tracking, sundew_fills;

size_t sundew_safe_copy(void *to, uint64_t from, size_t n)
{
    struct iovec l = { to, n }, r = { (void *)(uintptr_t)from, n };
    ssize_t got = process_vm_readv(getpid(), &l, 1, &r, 1, 0);
    return got < 0 ? 0 : (size_t)got;
}

bool sundew_extent_at(uint64_t address, SundewExtent *e)
{
    (void)address, (void)e;
    return false;
}

const SundewGlobal *sundew_global_at(uint64_t address)
{
    (void)address;
    return NULL;
}

const SundewGlobal *sundew_global_numbered(uint32_t number)
{
    (void)number;
    return NULL;
}

const SundewMap *sundew_map_find(uint64_t address)
{
    (void)address;
    return NULL;
}

bool sundew_is_stream(uint64_t address)
{
    (void)address;
    return false;
}

uint64_t sundew_slide(void) { return 0; }

static const char source[] = "struct list { int len; const char *name; struct list *next; };\n"
                             "enum color { RED, GREEN };\n"
                             "int var[4];\n"
                             "int add(struct list *l, enum color c) { return l->len += c; }\n"
                             "double half(double x) { return x / 2; }\n";

struct list {
    int len;
    const char *name;
    struct list *next;
};

/* What the weave would emit for `add` (row 0) and `half` (row 1). */
static void make_tables(const Program *p)
{
    static SundewFunction fns[2];
    static SundewStep steps[2];
    static uint8_t modes[2] = { SUNDEW_FULL, SUNDEW_FULL };
    static SundewType *types;
    static SundewGlobal globals[1];
    static int var[4] = { 1, 2, 3, 4 };
    size_t n;
    const Type *const *all = types_all(program_types(p), &n);

    types = xcalloc(n + 1, sizeof *types);
    for (size_t i = 0; i < n; i++)
        types[i + 1] = (SundewType){ .size = (uint32_t)all[i]->size, .kind = SUNDEW_DATA };
    const Type *list = types_find(program_types(p), "struct list", 0);
    const Type *chars = types_find(program_types(p), "char", 0);
    types[chars->index + 1].kind = SUNDEW_CHAR;
    steps[0] = (SundewStep){
        .parent = SUNDEW_NO_STEP, .slot = 0, .size = (uint32_t)list->size, .type = list->index + 1
    };
    steps[1] = (SundewStep){ .parent = 0, .at = 8, .type = chars->index + 1 };
    fns[0] =
        (SundewFunction){ .id = program_function(p, "add")->index + 1, .nslots = 2, .nsteps = 2 };
    fns[1] = (SundewFunction){ .id = program_function(p, "half")->index + 1, .nslots = 1 };
    size_t nv;
    const Variable *v = program_variables(p, &nv);
    assert_int_equal(nv, 1);
    assert_string_equal(v->name, "var");
    globals[0] = (SundewGlobal){ .address = (uintptr_t)var, .id = 1, .size = sizeof var };
    tables = (SundewTables){ .version = SUNDEW_TABLES_VERSION,
                             .key = program_key(p),
                             .name = "subject",
                             .types = types,
                             .functions = fns,
                             .steps = steps,
                             .modes = modes,
                             .globals = globals,
                             .strategy = SUNDEW_COPY_USED,
                             .ntypes = (uint32_t)n + 1,
                             .nfunctions = 2,
                             .nglobals = 1 };
}

/* As woven code would do it. */
static int add(struct list *l, int c)
{
    char here;
    uint64_t *s = sundew_enter(0, &here);
    if (s) {
        s[0] = (uintptr_t)l;
        s[1] = (uint32_t)c;
        sundew_entered(0, s);
    }
    int result = l->len += c;
    s = sundew_result(0, &here);
    if (s) {
        s[0] = (uint32_t)result;
        sundew_returned(0, s, 1);
    }
    return result;
}

static struct list *list_new(int len, const char *name)
{
    struct list *l = malloc(sizeof *l);
    *l = (struct list){ len, name, NULL };
    sundew_record_alloc(l, sizeof *l);
    return l;
}

static void start(const char *dir)
{
    setenv("SUNDEW_TRACE", dir, 1);
    memset(&process, 0, sizeof process);
    memset(&stream, 0, sizeof stream);
    sundew_record_start();
}

/* Runs `what` in a child that records into `dir`; its wait status. */
static int run_recorded(const char *dir, void (*what)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        start(dir);
        what();
        exit(7);
    }
    int status;
    waitpid(pid, &status, 0);
    return status;
}

static char *printed(Trace *t)
{
    Str out = { 0 };
    for (const Event *e; (e = trace_next(t));) {
        trace_check(t);
        event_print(e, &out);
        str_addc(&out, '\n');
    }
    return str_take(&out);
}

static Compiled begin(void)
{
    Compiled c = compiled(source);
    make_tables(c.program);
    return c;
}

static Trace *open_trace(const char *dir, const Compiled *c)
{
    Err err = { 0 };
    Trace *t = trace_open(dir, c->program, &err);
    if (!t)
        fail_msg("%s", err.msg);
    return t;
}

static void two_calls(void)
{
    struct list *l = list_new(3, "first");
    add(l, 1);
    sundew_record_free(l);
    free(l);
    l = list_new(5, "second");
    add(l, 0);
}

static void a_trace_tells_what_was_called_with_what(void **state)
{
    (void)state;
    Compiled c = begin();
    const char *dir = tempdir_new(NULL, NULL);
    int status = run_recorded(dir, two_calls);
    assert_int_equal(WEXITSTATUS(status), 7);
    Trace *t = open_trace(dir, &c);
    char *text = printed(t);
    assert_string_equal(
        text, "#1 P1 T1 alloc   object 2: 24 bytes\n"
              "#2 P1 T1 call    add(l = object 2 &{len = 3, name = \"first\", next = NULL}, "
              "c = GREEN)\n"
              "#3 P1 T1 return  add = 4  [call #2]\n"
              "#4 P1 T1 free    object 2\n"
              "#5 P1 T1 alloc   object 3: 24 bytes\n"
              "#6 P1 T1 call    add(l = object 3 &{len = 5, name = \"second\", next = NULL}, "
              "c = RED)\n"
              "#7 P1 T1 return  add = 5  [call #6]\n"
              "#8 P1 T1 end     exit status 7\n");
    assert_int_equal(trace_cut_short(t), 0);
    free(text);
    trace_close(t);
    compiled_end(&c);
}

static void killed(void)
{
    two_calls();
    kill(getpid(), SIGKILL);
}

static void a_killed_process_leaves_what_it_wrote(void **state)
{
    (void)state;
    Compiled c = begin();
    const char *dir = tempdir_new(NULL, NULL);
    int status = run_recorded(dir, killed);
    assert_int_equal(WTERMSIG(status), SIGKILL);
    Trace *t = open_trace(dir, &c);
    size_t n = 0;
    while (trace_next(t))
        n++;
    assert_int_equal(n, 7);
    assert_int_equal(trace_cut_short(t), 1);
    trace_close(t);
    compiled_end(&c);
}

static void *in_thread(void *arg)
{
    for (int i = 0; i < 100; i++)
        add(arg, 1);
    return NULL;
}

static void threads_and_forks(void)
{
    pthread_t a, b;
    struct list *l = list_new(0, "x"), *m = list_new(0, "y");
    pthread_create(&a, NULL, in_thread, l);
    pthread_create(&b, NULL, in_thread, m);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pid_t pid = fork();
    if (pid == 0) {
        add(l, 1);
        exit(1);
    }
    waitpid(pid, NULL, 0);
    add(l, 1);
}

static void threads_and_processes_have_streams_in_one_order(void **state)
{
    (void)state;
    Compiled c = begin();
    const char *dir = tempdir_new(NULL, NULL);
    run_recorded(dir, threads_and_forks);
    Trace *t = open_trace(dir, &c);
    uint64_t last = 0;
    size_t calls[3][4] = { { 0 } }, ends = 0;
    for (const Event *e; (e = trace_next(t));) {
        trace_check(t);
        assert_true(e->number > last);
        last = e->number;
        assert_in_range(e->process, 1, 2);
        assert_in_range(e->thread, 1, 3);
        calls[e->process][e->thread] += e->kind == EVENT_CALL;
        ends += e->kind == EVENT_END;
        if (e->kind == EVENT_RETURN)
            assert_string_equal(e->fn->name, "add");
    }
    assert_int_equal(calls[1][1], 1);
    assert_int_equal(calls[1][2], 100);
    assert_int_equal(calls[1][3], 100);
    assert_int_equal(calls[2][1], 1);
    assert_int_equal(ends, 4);
    assert_int_equal(trace_cut_short(t), 0);
    trace_close(t);
    compiled_end(&c);
}

static void calls_left_without_a_return(void)
{
    struct list *l = list_new(1, "z");
    char stack[2];
    /* A call deeper in the stack that longjmp() leaves. */
    uint64_t *s = sundew_enter(0, &stack[0]);
    s[0] = (uintptr_t)l;
    s[1] = 0;
    sundew_entered(0, s);
    char *outer = &stack[1];
    s = sundew_enter(0, outer);
    s[0] = (uintptr_t)l;
    s[1] = 1;
    sundew_entered(0, s);
    s = sundew_result(0, outer);
    s[0] = 2;
    sundew_returned(0, s, 1);
}

static void a_call_that_never_returns_does_not_confuse_the_rest(void **state)
{
    (void)state;
    Compiled c = begin();
    const char *dir = tempdir_new(NULL, NULL);
    run_recorded(dir, calls_left_without_a_return);
    Trace *t = open_trace(dir, &c);
    char *text = printed(t);
    assert_non_null(strstr(text, "return  add = 2  [call #3]"));
    assert_null(strstr(text, "[call #2]"));
    free(text);
    trace_close(t);
    compiled_end(&c);
}

static void bad_pointers(void)
{
    add((struct list[]){ { 1, (const char *)8, NULL } }, 1);
    char here;
    uint64_t *s = sundew_enter(0, &here);
    s[0] = 16;
    s[1] = 99;
    sundew_entered(0, s);
}

static void broken_pointers_are_recorded_as_they_are(void **state)
{
    (void)state;
    Compiled c = begin();
    const char *dir = tempdir_new(NULL, NULL);
    int status = run_recorded(dir, bad_pointers);
    assert_int_equal(WEXITSTATUS(status), 7);
    Trace *t = open_trace(dir, &c);
    char *text = printed(t);
    assert_non_null(strstr(text, "l = &{len = 1, name = 0x8, next = NULL}, c = GREEN"));
    assert_non_null(strstr(text, "add(l = 0x10, c = 99)"));
    free(text);
    trace_close(t);
    compiled_end(&c);
}

static void many_calls(void)
{
    struct list *l = list_new(0, "many");
    for (int i = 0; i < 50000; i++)
        add(l, 1);
}

static void a_budget_ends_the_recording_and_says_so(void **state)
{
    (void)state;
    Compiled c = begin();
    const char *dir = tempdir_new(NULL, NULL);
    setenv("SUNDEW_TRACE_BUDGET", "2097152", 1);
    int status = run_recorded(dir, many_calls);
    unsetenv("SUNDEW_TRACE_BUDGET");
    assert_int_equal(WEXITSTATUS(status), 7);
    Trace *t = open_trace(dir, &c);
    size_t n = 0;
    unsigned how = 0;
    for (const Event *e; (e = trace_next(t)); n++)
        how = e->kind == EVENT_END ? e->how : 0;
    assert_int_equal(how, SUNDEW_END_FULL);
    assert_in_range(n, 1000, 99999);
    trace_close(t);
    /* and with room, all is there, over several windows */
    dir = tempdir_new(NULL, NULL);
    run_recorded(dir, many_calls);
    t = open_trace(dir, &c);
    n = 0;
    while (trace_next(t))
        n++;
    assert_int_equal(n, 100002);
    trace_close(t);
    compiled_end(&c);
}

static void damaged_streams_end_where_they_make_no_sense(void **state)
{
    (void)state;
    Compiled c = begin();
    const char *dir = tempdir_new(NULL, NULL);
    Rng rng = rng_seeded(1);
    Err err = { 0 };
    run_recorded(dir, two_calls);
    Strings names = { 0 };
    assert_true(dir_list(dir, &names, &err));
    char *path = NULL;
    for (size_t i = 0; i < names.len; i++)
        if (str_ends(names.items[i], ".stream"))
            path = path_join(dir, names.items[i]);
    assert_non_null(path);
    Str good = { 0 };
    assert_true(file_read(path, &good, &err));
    size_t used = good.len;
    while (used && !good.data[used - 1])
        used--;
    for (int round = 0; round < (int)mutations(2000); round++) {
        char *bytes = xmalloc(used);
        memcpy(bytes, good.data, used);
        size_t n = round % 3 ? used : rng_below(&rng, used);
        for (int k = 0; k < round % 4; k++)
            bytes[rng_below(&rng, used)] = (char)rng_below(&rng, 256);
        assert_true(file_write(path, bytes, n, &err));
        Err e = { 0 };
        Trace *t = trace_open(dir, c.program, &e);
        assert_true(t || *e.msg);
        if (t)
            free(printed(t));
        trace_close(t);
        free(bytes);
    }
    free(path);
    str_release(&good);
    strings_release(&names);
    compiled_end(&c);
}

static void another_program_s_trace_is_refused(void **state)
{
    (void)state;
    Compiled c = begin();
    const char *dir = tempdir_new(NULL, NULL);
    run_recorded(dir, two_calls);
    Compiled other = compiled("int main(void) { return 0; }\n");
    Err err = { 0 };
    assert_null(trace_open(dir, other.program, &err));
    assert_non_null(strstr(err.msg, "another build"));
    compiled_end(&other);
    compiled_end(&c);
}

static void intervals_agree_with_a_plain_table(void **state)
{
    (void)state;
    enum { SPACE = 200 };
    static char ids[64];
    void *owner[SPACE] = { 0 };
    uint64_t begin_at[SPACE] = { 0 };
    Intervals m = { 0 };
    Rng rng = rng_seeded(7);

    for (int round = 0; round < 20000; round++) {
        uint64_t a = rng_below(&rng, SPACE - 10), n = 1 + rng_below(&rng, 9);
        if (rng_below(&rng, 3)) {
            void *v = &ids[rng_below(&rng, sizeof ids)];
            intervals_put(&m, a, n, v);
            for (uint64_t i = a; i < a + n; i++) {      /* what overlaps is gone */
                if (owner[i]) {
                    uint64_t b = begin_at[i];
                    void *o = owner[i];
                    for (uint64_t k = b; k < SPACE && owner[k] == o && begin_at[k] == b; k++)
                        owner[k] = NULL;
                }
            }
            for (uint64_t i = a; i < a + n; i++) {
                owner[i] = v;
                begin_at[i] = a;
            }
        } else {
            bool there = owner[a] && begin_at[a] == a;
            void *v = owner[a];
            assert_ptr_equal(intervals_remove(&m, a), there ? v : NULL);
            for (uint64_t k = a; there && k < SPACE && owner[k] == v && begin_at[k] == a; k++)
                owner[k] = NULL;
        }
        uint64_t q = rng_below(&rng, SPACE);
        assert_ptr_equal(intervals_find(&m, q), owner[q]);
    }
    intervals_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_tells_what_was_called_with_what),
        cmocka_unit_test(a_killed_process_leaves_what_it_wrote),
        cmocka_unit_test(threads_and_processes_have_streams_in_one_order),
        cmocka_unit_test(a_call_that_never_returns_does_not_confuse_the_rest),
        cmocka_unit_test(broken_pointers_are_recorded_as_they_are),
        cmocka_unit_test(a_budget_ends_the_recording_and_says_so),
        cmocka_unit_test(damaged_streams_end_where_they_make_no_sense),
        cmocka_unit_test(another_program_s_trace_is_refused),
        cmocka_unit_test(intervals_agree_with_a_plain_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
