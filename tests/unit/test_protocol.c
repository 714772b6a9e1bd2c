/* Protocols: tables, cuts, filters, automata, checks, what is kept. */
#include "base/file.h"
#include "base/tempdir.h"
#include "engine/protocol/guide.h"
#include "engine/protocol/protocol.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* cmocka comes last */
#include <cmocka.h>

static ProtoApi *api;
static ProtoRun *run;

static int begin(void **state)
{
    (void)state;
    api = proto_api_new();
    run = proto_run_new();
    return 0;
}

static int end(void **state)
{
    (void)state;
    proto_run_free(run);
    proto_api_free(api);
    return 0;
}

static unsigned function(const char *name)
{
    return proto_api_index(api, proto_api_add(api, name));
}

static uint32_t object(const char *type)
{
    return proto_run_object(run, proto_api_type(api, type));
}

/* made = name(receiver, argument) gives result */
static uint32_t call(const char *name, uint32_t made, uint32_t receiver, uint32_t argument,
                     int result)
{
    unsigned f = function(name);
    api->functions.items[f]->no_result = result == -99;
    ProtoCall *c = proto_run_call(run, f);
    c->objects[0] = receiver;
    c->objects[receiver != 0] = argument;
    c->made[0] = made;
    c->result = result;
    if (made)
        run->objects.items[made - 1].maker = (uint32_t)run->calls.len;
    return (uint32_t)run->calls.len - 1;
}
enum { VOID = -99 };

static Protocols *mined(void)
{
    Protocols *ps = protocols_new(api);
    proto_run_index(run);
    protocols_mine(ps, run);
    return ps;
}

static void restart(void)
{
    proto_run_free(run);
    run = proto_run_new();
}

/* A6.1: s = stack_new(); push; peek; pop */
static Protocols *stack_protocols(void)
{
    uint32_t s = object("stack");
    call("stack_new", s, 0, 0, VOID);
    call("push", 0, s, 0, VOID);
    call("peek", 0, s, 0, VOID);
    call("pop", 0, s, 0, VOID);
    return mined();
}

static const Protocol *only(const Protocols *ps)
{
    size_t n;
    Protocol *const *all = protocols_all(ps, &n);
    assert_int_equal(n, 1);
    return all[0];
}

static void the_states_of_a_stack_are_those_of_the_last_two_calls(void **state)
{
    (void)state;
    Protocols *ps = stack_protocols();
    const Protocol *p = only(ps);
    Str text = { 0 };
    protocols_text(ps, &text);
    assert_string_equal(str_c(&text), "stack: 5 states, from 1 lives in 1 runs\n"
                                      "    []  set-up\n"
                                      "        stack = stack_new()  x1\n"
                                      "    [stack = stack_new()]\n"
                                      "        push(stack)  x1\n"
                                      "    [stack = stack_new(), push(stack)]\n"
                                      "        peek(stack)  x1\n"
                                      "    [push(stack), peek(stack)]\n"
                                      "        pop(stack)  x1\n"
                                      "    [peek(stack), pop(stack)]  end of 1\n");
    assert_false(protocol_is_liable(p, &p->states.items[0]));
    assert_true(protocol_is_liable(p, &p->states.items[1]));
    str_release(&text);
    protocols_free(ps);
}

static void peek_of_a_new_stack_breaks_the_protocol(void **state)
{
    (void)state;
    Protocols *ps = stack_protocols();
    ProtoBreach b;
    restart();
    uint32_t s = object("stack");
    call("stack_new", s, 0, 0, VOID);
    uint32_t at = call("peek", 0, s, 0, VOID);
    proto_run_index(run);
    assert_int_equal(protocols_check(ps, run, at, &b), PROTO_BROKEN);
    assert_string_equal(b.after, "stack = stack_new()");
    assert_string_equal(b.protocol->types, "stack");
    restart();
    s = object("stack");
    call("stack_new", s, 0, 0, VOID);
    at = call("push", 0, s, 0, VOID);
    proto_run_index(run);
    assert_int_equal(protocols_check(ps, run, at, &b), PROTO_ALLOWED);
    protocols_free(ps);
}

/* A6.4: the cursor was made where nobody saw it. */
static void a_call_in_a_setup_state_breaks_nothing(void **state)
{
    (void)state;
    uint32_t l = object("list"), c = object("cursor");
    ProtoBreach b;
    call("list_new", l, 0, 0, VOID);
    call("cursor_open", c, l, 0, VOID);
    call("has_next", 0, c, 0, 1);
    call("next", 0, c, 0, 1);
    call("has_next", 0, c, 0, 0);
    Protocols *ps = mined();
    restart();
    l = object("list");
    c = object("cursor");
    call("list_new", l, 0, 0, VOID);
    uint32_t at = call("next", 0, c, 0, 1);
    proto_run_index(run);
    assert_int_equal(protocols_check(ps, run, at, &b), PROTO_SETUP);
    protocols_free(ps);
}

static void the_result_decides_where_a_call_leads(void **state)
{
    (void)state;
    ProtoBreach b;
    for (int i = 0; i < 2; i++) {
        uint32_t c = object("cursor");
        call("cursor_open", c, 0, 0, VOID);
        call("next", 0, c, 0, 1);
        call("get", 0, c, 0, VOID);
        call("next", 0, c, 0, 0);
        call("close", 0, c, 0, VOID);
    }
    Protocols *ps = mined();
    restart();
    uint32_t c = object("cursor");
    call("cursor_open", c, 0, 0, VOID);
    call("next", 0, c, 0, 0);              /* such a state was never seen … */
    uint32_t at = call("get", 0, c, 0, VOID);
    proto_run_index(run);                  /* … but get never came after this label */
    assert_int_equal(protocols_check(ps, run, at, &b), PROTO_BROKEN);
    assert_string_equal(b.after, "next(cursor) = 0");
    protocols_free(ps);
}

static void repetition_is_one_state(void **state)
{
    (void)state;
    uint32_t s = object("stack");
    call("stack_new", s, 0, 0, VOID);
    for (int i = 0; i < 100; i++)
        call("push", 0, s, 0, VOID);
    Protocols *ps = mined();
    assert_int_equal(only(ps)->states.len, 3);
    protocols_free(ps);
}

/* ---- cuts: A6.6 */

/* it = list.iterator(); it.hasNext, it.next, it.hasNext; rd = new Reader(r);
 * x = rd.readLine(); foo = this.toFoo(x); list.add(foo); rd.readLine(); rd.close() */
static struct {
    uint32_t list, iter, reader, self, r, text, foo;
} o;

static void read_a_file_into_a_list(void)
{
    o.list = object("list");
    o.iter = object("iter");
    o.reader = object("reader");
    o.self = object("self");
    o.r = object("r");
    o.text = object("text");
    o.foo = object("foo");
    call("iterator", o.iter, o.list, 0, VOID);
    call("hasNext", 0, o.iter, 0, 1);
    call("next", 0, o.iter, 0, 1);
    call("hasNext", 0, o.iter, 0, 0);
    call("Reader", o.reader, o.reader, o.r, VOID);
    call("readLine", o.text, o.reader, 0, VOID);
    call("toFoo", o.foo, o.self, o.text, VOID);
    call("add", 0, o.list, o.foo, VOID);
    call("readLine", 0, o.reader, 0, VOID);
    call("close", 0, o.reader, 0, VOID);
    api->functions.items[function("toFoo")]->foreign = true;
    proto_run_index(run);
}

static void assert_cut(uint32_t core, bool left, const char *expected)
{
    ProtoCut c;
    Str text = { 0 };
    proto_cut(run, core, &c);
    bool is = proto_filter(api, run, &c, NULL, 0);
    assert_int_equal(is, left);
    for (size_t i = 0; is && i < c.calls.len; i++)
        str_addf(&text, "%s%s", i ? " " : "",
                 api->functions.items[run->calls.items[c.calls.items[i]].function]->name);
    assert_string_equal(str_c(&text), expected);
    proto_cut_release(&c);
    str_release(&text);
}

static void a_cut_has_what_one_object_sees(void **state)
{
    (void)state;
    size_t cores = 0;
    read_a_file_into_a_list();
    for (uint32_t i = 1; i <= run->objects.len; i++) {
        ProtoCut c;
        proto_cut(run, i, &c);
        bool receiver = false;
        for (size_t k = 0; k < c.calls.len; k++)
            receiver |= run->calls.items[c.calls.items[k]].objects[0] == i;
        cores += receiver;
        proto_cut_release(&c);
    }
    assert_int_equal(cores, 4);        /* list, iterator, reader, the caller */
    assert_cut(o.list, true, "iterator hasNext next hasNext add");
    assert_cut(o.iter, true, "hasNext next hasNext");
    assert_cut(o.reader, true, "Reader readLine readLine close");
    assert_cut(o.self, false, "");     /* gone with what is not of the API */
}

static void clones_are_one_and_the_core_stays(void **state)
{
    (void)state;
    uint32_t l = object("list"), its[10];
    call("list_new", l, 0, 0, VOID);
    for (int i = 0; i < 10; i++) {
        its[i] = object("iter");
        call("iterator", its[i], l, 0, VOID);
        call("next", 0, its[i], 0, 1);
        call("free", 0, its[i], 0, VOID);
    }
    proto_run_index(run);
    assert_cut(l, true,
               "list_new iterator next free iterator iterator iterator iterator iterator "
               "iterator iterator iterator iterator");
}

static void more_than_three_receivers_are_too_many(void **state)
{
    (void)state;
    static const char *const names[] = { "a", "b", "c" };
    uint32_t l = object("list");
    call("list_new", l, 0, 0, VOID);
    for (int i = 0; i < 3; i++) {
        uint32_t x = object("iter");
        call("iterator", x, l, 0, VOID);
        call(names[i], 0, x, 0, VOID);
    }
    proto_run_index(run);
    assert_cut(l, false, "");
}

static void ubiquitous_functions_and_single_ones_say_nothing(void **state)
{
    (void)state;
    uint32_t s = object("s");
    call("new", s, 0, 0, VOID);
    call("malloc", 0, s, 0, VOID);
    api->functions.items[function("malloc")]->ubiquitous = true;
    proto_run_index(run);
    assert_cut(s, false, "");
}

/* ---- what is kept */

static void kept_protocols_merge(void **state)
{
    (void)state;
    Err err = { 0 };
    Protocols *ps = stack_protocols();
    json_t *kept = protocols_json(ps);
    Protocols *both = protocols_new(api);
    assert_true(protocols_merge(both, kept, &err));
    assert_true(protocols_merge(both, kept, &err));
    const Protocol *p = only(both);
    assert_int_equal(p->lives, 2);
    assert_int_equal(p->runs, 2);
    assert_int_equal(p->states.len, 5);
    assert_int_equal(p->states.items[1].edges.items[0].count, 2);
    protocols_free(both);
    protocols_free(ps);
    json_decref(kept);
}

static void damaged_protocols_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{}",
        "{\"version\": 1}",
        "{\"version\": 1, \"protocols\": [{}]}",
        "{\"version\": 1, \"protocols\": [{\"types\": [\"a\"], \"labels\": [{\"function\": \"f\", "
        "\"args\": [7,0,0], \"made\": [0,0]}]}]}",
        "{\"version\": 1, \"protocols\": [{\"types\": [\"a\"], \"labels\": [], \"states\": "
        "[{\"bound\": 9}]}]}",
        "{\"version\": 1, \"protocols\": [{\"types\": [\"a\"], \"labels\": [], \"states\": [], "
        "\"edges\": [{\"from\": 5, \"label\": 0, \"to\": 1}]}]}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Err err = { 0 };
        Protocols *ps = protocols_new(api);
        json_t *j = json_parse(bad[i], strlen(bad[i]), &err);
        assert_non_null(j);
        assert_false(protocols_merge(ps, j, &err));
        assert_true(*err.msg);
        json_decref(j);
        protocols_free(ps);
    }
}

static char *file_with(const char *dir, const char *text)
{
    char *path = path_join(dir, "file.txt");
    assert_true(file_write(path, text, strlen(text), NULL));
    return path;
}

static void users_pin_and_forbid_edges(void **state)
{
    (void)state;
    Err err = { 0 };
    const char *dir = tempdir_new(NULL, &err);
    char *path = file_with(dir, "# edges\npin stack: stack_new -> peek\n"
                                "forbid stack: push -> peek\n");
    Protocols *ps = stack_protocols();
    ProtoBreach b;
    assert_true(protocols_edges(ps, path, &err));
    restart();
    uint32_t s = object("stack");
    call("stack_new", s, 0, 0, VOID);
    uint32_t first = call("peek", 0, s, 0, VOID);
    call("push", 0, s, 0, VOID);
    uint32_t second = call("peek", 0, s, 0, VOID);
    proto_run_index(run);
    assert_int_equal(protocols_check(ps, run, first, &b), PROTO_ALLOWED);
    assert_int_equal(protocols_check(ps, run, second, &b), PROTO_BROKEN);
    free(path);
    path = file_with(dir, "delete stack: stack_new -> push\n");
    assert_true(protocols_edges(ps, path, &err));
    assert_int_equal(only(ps)->states.items[1].edges.len, 0);
    free(path);
    path = file_with(dir, "allow stack\n");
    assert_false(protocols_edges(ps, path, &err));
    assert_non_null(strstr(err.msg, "file.txt:1: "));
    free(path);
    protocols_free(ps);
    tempdir_remove(dir);
}

/* ---- tables */

static void a_table_names_places_and_codes(void **state)
{
    (void)state;
    Err err = { 0 };
    const char *dir = tempdir_new(NULL, &err);
    char *path = file_with(dir, "family db\ntype db struct db_s\n"
                                "db_open *1:db+\n"
                                "db_get 0:db misuse MISUSE=21 values 100\n"
                                "db_close 0:db- errno EBADF # a comment\n");
    assert_true(proto_api_read(api, path, &err));
    const ProtoFunction *f = proto_api_function(api, "db_open");
    assert_true(f->places[0].out && f->places[0].param == 1 && f->places[0].use == PROTO_CREATES);
    assert_int_equal(proto_api_type(api, "struct db_s"), f->places[0].type);
    ProtoCall c = { .function = function("db_get"), .result = 21, .returned = true };
    assert_string_equal(proto_misuse(api, &c)->name, "MISUSE");
    c.result = 5;                      /* busy, say: of the environment */
    assert_null(proto_misuse(api, &c));
    c = (ProtoCall){ .function = function("db_close"), .result = -1, .error = 9, .returned = true };
    assert_string_equal(proto_misuse(api, &c)->name, "EBADF");
    c.result = 0;
    assert_null(proto_misuse(api, &c));
    free(path);
    tempdir_remove(dir);
}

static void a_table_with_a_mistake_says_where(void **state)
{
    (void)state;
    static const char *const bad[] = { "f 0:\n",    "f x:T\n", "f misuse WHAT\n",
                                       "f-g 0:T\n", "type\n",  "f 0:T more\n" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Err err = { 0 };
        const char *dir = tempdir_new(NULL, &err);
        char *text = xprintf("\n%s", bad[i]), *path = file_with(dir, text);
        assert_false(proto_api_read(api, path, &err));
        assert_non_null(strstr(err.msg, "file.txt:2: "));
        free(path);
        free(text);
        tempdir_remove(dir);
    }
}

static void names_tell_makers_and_enders(void **state)
{
    (void)state;
    assert_true(proto_name_creates("db_open"));
    assert_true(proto_name_creates("inflateInit2"));
    assert_true(proto_name_destroys("regfree"));
    assert_true(proto_name_destroys("deflateEnd"));
    assert_false(proto_name_destroys("send_text"));
    assert_false(proto_name_creates("news_read"));
}

/* ---- work: linear in the calls, by counting what a cut holds */

static size_t work_of(unsigned calls, unsigned lists)
{
    size_t work = 0;
    restart();
    uint32_t shared = object("shared");
    call("shared_new", shared, 0, 0, VOID);
    for (unsigned i = 0; i < lists; i++) {
        uint32_t l = object("list");
        call("list_new", l, 0, 0, VOID);
        for (unsigned k = 0; k < calls; k++)
            call("list_add", 0, l, shared, VOID);
        call("shared_use", 0, shared, 0, VOID);
    }
    proto_run_index(run);
    for (uint32_t i = 1; i <= run->objects.len; i++) {
        ProtoCut c;
        proto_cut(run, i, &c);
        work += c.calls.len;
        proto_cut_release(&c);
    }
    return work;
}

static void cuts_are_linear_in_the_calls(void **state)
{
    (void)state;
    /* Each list is given the shared object, whose calls before count for it: without a
     * limit this grows with the square. */
    size_t a = work_of(10, 2000), b = work_of(10, 4000), c = work_of(10, 8000);
    assert_true(c - b <= 2 * (b - a));
    /* And many calls on one handle. */
    a = work_of(100000, 1);
    b = work_of(200000, 1);
    assert_true(b <= 2 * a + 1000);
}

/* Calls of function 1 (site 0 makes, site 1 ends); it returns behind the calls in `left`. */
static ProtoLives lives_of(const uint32_t *left, size_t nleft)
{
    static const uint32_t same[] = { 1, 1 }, left_of[] = { 1 };
    const ProtoPlaces at = { same, left_of, 2 };
    uint32_t f = object("FILE");
    ProtoLives out[2];
    ProtoRuns runs = { 0 };
    call("fopen", f, 0, 0, 1);
    run->calls.items[call("fclose", 0, f, 0, 0)].site = 1;
    run->objects.items[f - 1].ender = 2;
    for (size_t i = 0; i < nleft; i++)
        vec_push(&run->left, ((ProtoLeft){ .at = left[i] }));
    proto_run_index(run);
    vec_push(&runs, run);
    proto_lives(&runs, &at, out);
    vec_release(&runs);
    return out[0];
}

static void a_function_ends_what_it_makes(void **state)
{
    (void)state;
    ProtoLives l = lives_of((const uint32_t[]){ 2 }, 1);
    assert_int_equal(l.here, 1);
    assert_int_equal(l.elsewhere, 0);
}

static void a_function_that_ends_it_when_called_again_is_another(void **state)
{
    (void)state;
    ProtoLives l = lives_of((const uint32_t[]){ 1, 2 }, 2);
    assert_int_equal(l.here, 0);
    assert_int_equal(l.elsewhere, 1);
}

static void files_fail_where_they_are_opened_and_used(void **state)
{
    (void)state;
    Err err = { 0 };
    const char *dir = tempdir_new(NULL, &err);
    char *path =
        file_with(dir, "type FILE fault=stream struct _IO_FILE\ntype DB fault=open\ntype S\n"
                       "fopen ret:FILE+\nfread 3:FILE\nfclose 0:FILE-\n"
                       "open_db *1:DB+\nlook 0:DB\nstep 0:S\n");
    assert_true(proto_api_read(api, path, &err));
    assert_string_equal(api->types.items[0].canonical, "struct _IO_FILE");
    assert_string_equal(proto_fault(api, proto_api_function(api, "fopen")), "open");
    assert_string_equal(proto_fault(api, proto_api_function(api, "fread")), "stream");
    assert_null(proto_fault(api, proto_api_function(api, "fclose")));
    assert_string_equal(proto_fault(api, proto_api_function(api, "open_db")), "open");
    assert_null(proto_fault(api, proto_api_function(api, "look")));
    assert_null(proto_fault(api, proto_api_function(api, "step")));
    free(path);
    path = file_with(dir, "type X fault=sometimes\n");
    assert_false(proto_api_read(api, path, &err));
    assert_non_null(strstr(err.msg, ":1: no kind of fault"));
    free(path);
    tempdir_remove(dir);
}

/* A6.7: A(B), A.init, A.doIt (calls the API), B(C), B.m(D), C(), D() */
static void what_leads_to_the_api_is_called_gladly(void **state)
{
    (void)state;
    enum { NEW_A, INIT, DO_IT, NEW_B, B_M, NEW_C, NEW_D, API, N };
    static const unsigned a[] = { 0 }, b[] = { 1 }, c[] = { 2 }, d[] = { 3 }, bd[] = { 1, 3 },
                          api_[] = { API };
    const GuideFunction f[N] = {
        [NEW_A] = { .needs = b, .nneeds = 1, .gives = a, .ngives = 1, .callable = true },
        [INIT] = { .needs = a, .nneeds = 1, .callable = true },
        [DO_IT] = { .needs = a, .nneeds = 1, .calls = api_, .ncalls = 1, .callable = true },
        [NEW_B] = { .needs = c, .nneeds = 1, .gives = b, .ngives = 1, .callable = true },
        [B_M] = { .needs = bd, .nneeds = 2, .callable = true },
        [NEW_C] = { .gives = c, .ngives = 1, .callable = true },
        [NEW_D] = { .gives = d, .ngives = 1, .callable = true },
        [API] = { .api = true },
    };
    double p[N];
    guide_priorities(f, N, 4, p);
    assert_true(p[DO_IT] > p[NEW_A]);
    assert_true(p[NEW_A] > p[NEW_B]);
    assert_true(p[NEW_B] == p[NEW_C]);
    assert_true(p[NEW_C] > p[INIT]);
    assert_true(p[INIT] > 0);
    assert_true(p[B_M] == 0 && p[NEW_D] == 0 && p[API] == 0);
}

int main(void)
{
#define test(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        test(the_states_of_a_stack_are_those_of_the_last_two_calls),
        test(peek_of_a_new_stack_breaks_the_protocol),
        test(a_call_in_a_setup_state_breaks_nothing),
        test(the_result_decides_where_a_call_leads),
        test(repetition_is_one_state),
        test(a_cut_has_what_one_object_sees),
        test(clones_are_one_and_the_core_stays),
        test(more_than_three_receivers_are_too_many),
        test(ubiquitous_functions_and_single_ones_say_nothing),
        test(kept_protocols_merge),
        test(damaged_protocols_are_refused),
        test(users_pin_and_forbid_edges),
        test(a_table_names_places_and_codes),
        test(a_table_with_a_mistake_says_where),
        test(names_tell_makers_and_enders),
        test(cuts_are_linear_in_the_calls),
        test(what_leads_to_the_api_is_called_gladly),
        test(a_function_ends_what_it_makes),
        test(a_function_that_ends_it_when_called_again_is_another),
        test(files_fail_where_they_are_opened_and_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
