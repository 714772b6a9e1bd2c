/* base/: the small things everything stands on. */
#include "base/apart.h"
#include "base/base64.h"
#include "base/escape.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/format.h"
#include "base/json.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "base/tempdir.h"
#include "base/units.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void an_error_gets_its_context_in_front(void **state)
{
    (void)state;
    Err err = { 0 };
    assert_false(err_set(&err, "line %d", 3));
    assert_false(err_ctx(&err, "trace %s", "a.trc"));
    assert_string_equal(err.msg, "trace a.trc: line 3");
    assert_false(err_set(NULL, "nobody listens"));
    char *big = xmalloc(5000);
    memset(big, 'x', 4999);
    big[4999] = 0;
    err_ctx(&err, "%s", big);
    assert_int_equal(strlen(err.msg), sizeof err.msg - 1);
    free(big);
}

static void an_arena_gives_zeroed_aligned_memory(void **state)
{
    (void)state;
    Arena a = { 0 };
    for (size_t i = 1; i < 3000; i += 7) {
        char *c = arena_array(&a, char, i);
        for (size_t k = 0; k < i; k++)
            assert_int_equal(c[k], 0);
        memset(c, 0xff, i);
        long double *d = arena_new(&a, long double);
        assert_int_equal((uintptr_t)d % _Alignof(long double), 0);
        *d = 1;
    }
    assert_string_equal(arena_printf(&a, "%s-%d", "n", 7), "n-7");
    arena_release(&a);
    assert_null(a.blocks);
}

static void running_out_of_memory_ends_the_tool_with_status_2(void **state)
{
    (void)state;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(2);
        fault_alloc_after(1);
        xmalloc(10);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 2);
}

static void a_vector_and_a_map_grow(void **state)
{
    (void)state;
    Vec(int) v = { 0 };
    Map m = { 0 };
    char key[16];
    for (int i = 0; i < 5000; i++) {
        vec_push(&v, i);
        sprintf(key, "k%d", i * 7);
        assert_true(map_put(&m, key, (void *)(intptr_t)(i + 1)));
    }
    assert_int_equal(v.items[4999], 4999);
    assert_int_equal((intptr_t)map_get(&m, "k700"), 101);
    assert_null(map_get(&m, "k701"));
    assert_false(map_put(&m, "k700", NULL));
    assert_true(map_has(&m, "k700"));
    for (size_t i = 0; i < m.len; i++) {
        sprintf(key, "k%zu", i * 7);
        assert_string_equal(m.entries[i].key, key);    /* insertion order */
    }
    assert_true(map_putn(&m, "a\0b", 3, m.entries));
    assert_null(map_getn(&m, "a\0c", 3));
    map_release(&m);
    vec_release(&v);
}

static void random_numbers_repeat_with_their_seed(void **state)
{
    (void)state;
    Rng a = rng_seeded(7), b = rng_seeded(7), c = rng_seeded(8);
    bool differs = false;
    for (int i = 0; i < 100; i++) {
        uint64_t x = rng_next(&a);
        assert_int_equal(x, rng_next(&b));
        differs |= x != rng_next(&c);
        assert_true(rng_below(&a, 10) < 10);
        rng_below(&b, 10);
        double u = rng_unit(&a);
        assert_true(u >= 0 && u < 1);
        rng_unit(&b);
    }
    assert_true(differs);
    /* reference values of splitmix64(0) seeded xoshiro256** */
    Rng r = rng_seeded(0);
    assert_int_equal(rng_next(&r), 0x99ec5f36cb75f2b4u);
}

static void durations_and_sizes_as_people_write_them(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } good[] = {
        { "90s", 90 },     { "5m", 300 }, { "1m30s", 90 }, { "2h", 7200 },
        { "250ms", 0.25 }, { "15", 15 },  { "0.5", 0.5 },  { "1d", 86400 },
    };
    double s;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(duration_parse(good[i].text, &s));
        assert_true(s > good[i].seconds - 1e-9 && s < good[i].seconds + 1e-9);
    }
    static const char *const bad[] = { "", "s", "5x", "-5", "5 m", "inf", "0x10", "5m30x", "1e" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(duration_parse(bad[i], &s));
    uint64_t n;
    assert_true(size_parse("512K", &n) && n == 512 * 1024);
    assert_true(size_parse("2G", &n) && n == 2ull << 30);
    assert_true(size_parse("1GiB", &n) && n == 1ull << 30);
    assert_true(size_parse("100", &n) && n == 100);
    assert_false(size_parse("12Q", &n));
    assert_false(size_parse("", &n));
    assert_false(size_parse("99999999999T", &n));
    char out[32];
    assert_string_equal(duration_format(90, out), "1m30s");
    assert_string_equal(size_format(2ull << 30, out), "2.0 GiB");
}

static void sha256_gives_the_published_sums(void **state)
{
    (void)state;
    char id[ID_LEN + 1];
    sha256_id("", 0, id);
    assert_string_equal(id, "e3b0c44298fc1c149afbf4c8996fb924");
    sha256_id("abc", 3, id);
    assert_string_equal(id, "ba7816bf8f01cfea414140de5dae2223");
    char *million = xmalloc(1000000);
    memset(million, 'a', 1000000);
    Sha256 s;
    sha256_init(&s);
    for (size_t i = 0, n; i < 1000000; i += n) {
        n = i % 131 + 1 < 1000000 - i ? i % 131 + 1 : 1000000 - i;
        sha256_add(&s, million + i, n);
    }
    sha256_end_id(&s, id);
    assert_string_equal(id, "cdc76e5c9914fb9281a1c7e284d73e67");
    free(million);
}

#define SAME(function, in, expected)                                                               \
    do {                                                                                           \
        Str out_ = { 0 };                                                                          \
        function(&out_, in, sizeof in - 1);                                                        \
        assert_string_equal(str_c(&out_), expected);                                               \
        str_release(&out_);                                                                        \
    } while (0)

static void names_after_include_are_names(void **state)
{
    (void)state;
    static const struct {
        const char *path, *expected;
    } rows[] = {
        { "/it's a\\b/$(x)`y`;#.h", "\"/it's a\\b/$(x)`y`;#.h\"" },
        { "/a \"b\"/x.h", "</a \"b\"/x.h>" },
        { "a\"b>c", "\"a\\\"b>c\"" },
        { "a\nb", "\"a\\nb\"" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Str s = { 0 };
        escape_c_include(&s, rows[i].path);
        assert_string_equal(str_c(&s), rows[i].expected);
        str_release(&s);
    }
}

static void hostile_text_is_harmless_everywhere(void **state)
{
    (void)state;
    SAME(escape_terminal, "a\033[31mb\x9b\177", "a\\x1b[31mb\\x9b\\x7f");
    SAME(escape_terminal, "gr\xc3\xbc\xc3\x9f\t\xe2\x80\xae", "gr\xc3\xbc\xc3\x9f\t\\u202e");
    SAME(escape_terminal,
         "\xc2\x9b"
         "1m\xc0\xaf\xff",
         "\\x9b1m\\xc0\\xaf\\xff");
    SAME(escape_html, "<script>&'\"`", "&lt;script&gt;&amp;&#39;&quot;&#96;");
    SAME(escape_html, "\0\033\xff", "\xe2\x90\x80\xe2\x90\x9b\xef\xbf\xbd");
    SAME(escape_utf8, "a\xed\xa0\x80z", "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
    SAME(escape_c_string,
         "a\"b\\c\n?\?/\x01"
         "7",
         "a\\\"b\\\\c\\n\\?\\?/\\0017");
    SAME(escape_c_string, "\t'\r", "\\t\\'\\r");
    SAME(escape_c_comment, "x*/ y\\\nz/*", "x* / y  z/ *");
    SAME(escape_c_comment, "a\\nb \\ c\\", "a\\nb   c ");
    SAME(escape_c_comment, "?\?/ a ? b ?> ?", ".?/ a ? b .> .");
    SAME(escape_c_identifier, "int", "int_");
    SAME(escape_c_identifier, "9a-b", "_9a_b");
    SAME(escape_c_identifier, "", "_");
    Str s = { 0 };
    escape_shell(&s, "it's; rm -rf $HOME");
    assert_string_equal(str_c(&s), "'it'\\''s; rm -rf $HOME'");
    str_reset(&s);
    escape_shell(&s, "");
    assert_string_equal(str_c(&s), "''");
    str_reset(&s);
    escape_annotation(&s, "a%b\n::error::,x", false);
    assert_string_equal(str_c(&s), "a%25b\\x0a::error::,x");
    str_reset(&s);
    escape_annotation(&s, "a,b:c", true);
    assert_string_equal(str_c(&s), "a%2Cb%3Ac");
    str_reset(&s);
    escape_dot(&s, "a\"]; b\\");
    assert_string_equal(str_c(&s), "a\\\"]; b\\\\");
    str_release(&s);
}

static void utf8_round_trips(void **state)
{
    (void)state;
    static const unsigned points[] = { 0,     'a',    0x7f,   0x80,    0x7ff,
                                       0x800, 0xfffd, 0xffff, 0x10000, 0x10ffff };
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        Str s = { 0 };
        unsigned cp;
        utf8_encode(&s, points[i]);
        assert_int_equal(utf8_decode(s.data, s.len, &cp), s.len);
        assert_int_equal(cp, points[i]);
        if (s.len > 1)
            assert_int_equal(utf8_decode(s.data, s.len - 1, &cp), 0);
        str_release(&s);
    }
}

static void paths_are_folded_and_names_made_safe(void **state)
{
    (void)state;
    static const struct {
        const char *cwd, *path, *expected;
    } rows[] = {
        { "/a/b", "c", "/a/b/c" }, { "/a/b", "../c", "/a/c" }, { "/a/b", "/x/./y//z", "/x/y/z" },
        { "/a", "../../..", "/" }, { "/", ".", "/" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *got = path_in(rows[i].cwd, rows[i].path);
        assert_string_equal(got, rows[i].expected);
        free(got);
    }
    static const struct {
        const char *name, *expected;
    } names[] = {
        { "../../etc/passwd", "_._.._etc_passwd" },
        { "", "_" },
        { ".", "_" },
        { "a b\n", "a_b_" },
        { "x-1.c", "x-1.c" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *got = path_safe_name(names[i].name);
        assert_null(strchr(got, '/'));
        assert_string_equal(got, names[i].expected);
        free(got);
    }
    char *r = path_relative("/p/src/a.c", "/p/");
    assert_string_equal(r, "src/a.c");
    free(r);
    r = path_relative("/pp/a.c", "/p");
    assert_string_equal(r, "/pp/a.c");
    free(r);
}

static void a_failed_write_leaves_the_old_file(void **state)
{
    (void)state;
    const char *dir = tempdir_new(NULL, NULL);
    char *path = path_join(dir, "f");
    assert_true(file_write(path, "old", 3, NULL));
    for (unsigned n = 1;; n++) {
        Err err = { 0 };
        fault_after(n);
        bool ok = file_write(path, "new", 3, &err);
        bool fired = fault_fired();
        fault_after(0);
        Str now = { 0 };
        Strings left = { 0 };
        assert_true(file_read(path, &now, NULL));
        assert_true(dir_list(dir, &left, NULL));
        assert_int_equal(left.len, 1);                /* no rubbish */
        assert_string_equal(str_c(&now), ok ? "new" : "old");
        assert_true(ok || strstr(err.msg, "No space left"));
        str_release(&now);
        strings_release(&left);
        if (!fired)
            break;
    }
    free(path);
    tempdir_remove(dir);
}

/* Of processes that are no more: ours go, deep ones too; those of others may be a trap. */
static void old_folders_are_swept(void **state)
{
    (void)state;
    const char *dir = tempdir_new(NULL, NULL);
    char *ours = path_join(dir, "sundew-2147483646-aaaaaa/a/b/c");
    char *theirs = path_join(dir, "sundew-2147483646-bbbbbb");
    assert_true(dir_make(ours, NULL) && dir_make(theirs, NULL));
    bool root = geteuid() == 0 && chown(theirs, 65534, 65534) == 0;
    const char *fresh = tempdir_new(dir, NULL);
    assert_non_null(fresh);
    assert_false(file_exists(ours));
    assert_int_equal(file_exists(theirs), root);
    tempdir_remove(fresh);
    free(ours);
    free(theirs);
    tempdir_remove(dir);
}

static void temporary_folders_go_on_every_exit(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        int fds[2];
        char name[512] = "";
        assert_int_equal(pipe(fds), 0);
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0) {
            const char *dir = tempdir_new(NULL, NULL);
            char *inner = path_join(dir, "a/b");
            dir_make(inner, NULL);
            ssize_t ignored = write(fds[1], dir, strlen(dir));
            (void)ignored;
            if (how == 0)
                exit(0);
            raise(how == 1 ? SIGTERM : how == 2 ? SIGINT : SIGKILL);
        }
        int status;
        waitpid(pid, &status, 0);
        assert_true(read(fds[0], name, sizeof name - 1) > 0);
        close(fds[0]), close(fds[1]);
        if (how == 3) {           /* the next process sweeps after a kill -9 */
            assert_true(file_is_dir(name));
            fflush(NULL);
            pid = fork();
            if (pid == 0) {
                tempdir_new(NULL, NULL);
                exit(0);
            }
            waitpid(pid, &status, 0);
        } else if (how > 0) {
            assert_int_equal(WTERMSIG(status), how == 1 ? SIGTERM : SIGINT);
        }
        assert_false(file_exists(name));
    }
}

/* A stopped child could never end by itself. */
static void work_of_our_own_dies_with_its_maker(void **state)
{
    (void)state;
    int both[2], status;
    pid_t work;
    assert_int_equal(pipe(both), 0);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    pid_t maker = fork();
    if (maker == 0) {
        pid_t pid = proc_fork();
        if (pid == 0) {
            pid = getpid();
            if (write(both[1], &pid, sizeof pid) == sizeof pid)
                raise(SIGSTOP);
            _exit(0);
        }
        waitpid(pid, NULL, 0);
        _exit(0);
    }
    assert_int_equal(read(both[0], &work, sizeof work), sizeof work);
    alarm(60);                 /* else it waits for ever */
    kill(maker, SIGKILL);
    assert_int_equal(waitpid(maker, &status, 0), maker);
    assert_int_equal(waitpid(work, &status, 0), work);
    assert_true(WIFSIGNALED(status));
    alarm(0);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    close(both[0]);
    close(both[1]);
}

static void processes_are_run_within_limits(void **state)
{
    (void)state;
    char *hello[] = { "sh", "-c", "echo out; echo err >&2; exit 7", NULL };
    Proc p = { .argv = hello, .capture = true };
    ProcResult r = { 0 };
    Err err = { 0 };
    assert_true(proc_run(&p, &r, &err));
    assert_int_equal(r.status, 7);
    assert_string_equal(str_c(&r.out), "out\n");
    assert_string_equal(str_c(&r.err), "err\n");
    proc_result_release(&r);

    char *hang[] = { "sh", "-c", "sleep 100 & sleep 100", NULL };
    p = (Proc){ .argv = hang, .capture = true, .seconds = 0.2 };
    r = (ProcResult){ 0 };
    assert_true(proc_run(&p, &r, &err));
    assert_true(r.timed_out);
    assert_int_equal(r.signal, SIGKILL);
    proc_result_release(&r);

    char *nothing[] = { "/no/such/program", NULL };
    p = (Proc){ .argv = nothing, .capture = true };
    r = (ProcResult){ 0 };
    assert_false(proc_run(&p, &r, &err));
    assert_non_null(strstr(err.msg, "No such file"));
    proc_result_release(&r);

    char *much[] = { "sh", "-c", "yes | head -c 300000", NULL };
    p = (Proc){ .argv = much, .capture = true, .most_output = 100000 };
    r = (ProcResult){ 0 };
    assert_true(proc_run(&p, &r, &err));
    assert_true(r.output_cut && r.out.len <= 100000);
    proc_result_release(&r);
}

static void json_reads_and_writes_any_bytes(void **state)
{
    (void)state;
    json_t *o = json_pack("{s:o}", "name", json_text("a\xff\"<"));
    Str s = { 0 };
    json_print(o, &s);
    Err err = { 0 };
    json_t *back = json_parse(s.data, s.len, &err);
    assert_non_null(back);
    assert_string_equal(json_str(back, "name"), "a\xef\xbf\xbd\"<");
    assert_string_equal(json_str(back, "absent"), "");
    assert_null(json_parse("{\"a\": ", 6, &err));
    assert_non_null(strstr(err.msg, "line 1"));
    json_decref(o);
    json_decref(back);
    str_release(&s);
}

static void the_nearest_word_is_suggested(void **state)
{
    (void)state;
    static const char *const words[] = { "capture", "report", "show", NULL };
    assert_string_equal(str_nearest("captrue", words), "capture");
    assert_string_equal(str_nearest("sow", words), "show");
    assert_null(str_nearest("xyzzy", words));
}

static void base64_gives_the_published_texts(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } rows[] = {
        { "", "" },        { "f", "Zg==" },          { "fo", "Zm8=" },
        { "foo", "Zm9v" }, { "foobar", "Zm9vYmFy" }, { "\xff\xfe", "//4=" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Str out = { 0 };
        base64_encode(&out, rows[i].in, strlen(rows[i].in));
        assert_string_equal(str_c(&out), rows[i].out);
        str_release(&out);
    }
}

static void uris_tap_and_xml_have_their_own_escapes(void **state)
{
    (void)state;
    Str out = { 0 };
    escape_uri(&out, "a b/c%d#e?\xc3\xa4:~");
    assert_string_equal(str_c(&out), "a%20b/c%25d%23e%3F%C3%A4%3A~");
    str_reset(&out);
    escape_tap(&out, "a # SKIP b\n\tc");
    assert_string_equal(str_c(&out), "a \\# SKIP b\\x0a c");
    str_reset(&out);
    escape_xml_z(&out, "\na\xef\xbf\xbe\xef\xbf\xbf<\xff");
    assert_string_equal(str_c(&out), "&#10;a\xef\xbf\xbd\xef\xbf\xbd&lt;\xef\xbf\xbd");
    str_release(&out);
}

static void numbers_in_json_read_as_they_were_meant(void **state)
{
    (void)state;
    json_t *v = json_real(0.416);
    Str out = { 0 };
    json_print(v, &out);
    assert_string_equal(str_c(&out), "0.416\n");
    json_decref(v);
    str_release(&out);
}

static void json_on_a_terminal_shows_what_is_there(void **state)
{
    (void)state;
    json_t *v = json_text("\x1b[1m \x7f \xc2\x9b \xe2\x80\xae \xc3\xa4");
    Str out = { 0 };
    json_print(v, &out);
    assert_string_equal(str_c(&out), "\"\\u001B[1m \\u007F \\u009B \\u202E \xc3\xa4\"\n");
    json_t *again = json_loads(str_c(&out), JSON_DECODE_ANY, NULL);
    assert_true(json_equal(v, again));
    json_decref(again);
    json_decref(v);
    str_release(&out);
}

static void a_format_tells_what_arguments_are_for(void **state)
{
    (void)state;
    static const char f[] = "%*d%% of %lld, %ls and %zu %q";
    static const char letters[] = "*ddsuq";
    for (unsigned i = 0; i < sizeof letters; i++) {
        FormatArg a = format_argument(f, sizeof f, i);
        assert_int_equal(a.letter, letters[i]);      /* the last: none */
        assert_int_equal(a.long_long, i == 2);
    }
    assert_int_equal(format_argument("%2$d", 4, 0).letter, '$');
    assert_int_equal(format_argument("%d %", 4, 1).letter, 0);
    assert_int_equal(format_argument("", 0, 0).letter, 0);
}

static bool succeeds(void *arg, Err *err)
{
    (void)arg, (void)err;
    return true;
}

static bool fails(void *arg, Err *err)
{
    (void)arg;
    return err_set(err, "no compiler");
}

/* With a child in a group of its own, as a compiler has. */
static bool sleeps(void *arg, Err *err)
{
    (void)arg, (void)err;
    if (fork() == 0)
        setpgid(0, 0);
    for (;;)
        pause();
    return false;
}

static bool always(void *arg)
{
    (void)arg;
    return true;
}

static void work_apart_can_fail_and_be_ended(void **state)
{
    Err err = { 0 };
    (void)state;
    assert_int_equal(apart_run(&(ApartPlan){ .work = succeeds }, &err), APART_DONE);
    assert_int_equal(apart_run(&(ApartPlan){ .work = fails }, &err), APART_FAILED);
    assert_string_equal(err.msg, "no compiler");
    assert_int_equal(apart_run(&(ApartPlan){ .work = sleeps, .until = 1 }, &err), APART_LATE);
    assert_int_equal(apart_run(&(ApartPlan){ .work = sleeps, .stop = always }, &err),
                     APART_STOPPED);
}

int main(void)
{
    signal(SIGINT, SIG_DFL);      /* ignored if we were started in the background */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_gets_its_context_in_front),
        cmocka_unit_test(an_arena_gives_zeroed_aligned_memory),
        cmocka_unit_test(running_out_of_memory_ends_the_tool_with_status_2),
        cmocka_unit_test(a_vector_and_a_map_grow),
        cmocka_unit_test(random_numbers_repeat_with_their_seed),
        cmocka_unit_test(durations_and_sizes_as_people_write_them),
        cmocka_unit_test(sha256_gives_the_published_sums),
        cmocka_unit_test(names_after_include_are_names),
        cmocka_unit_test(hostile_text_is_harmless_everywhere),
        cmocka_unit_test(utf8_round_trips),
        cmocka_unit_test(paths_are_folded_and_names_made_safe),
        cmocka_unit_test(a_failed_write_leaves_the_old_file),
        cmocka_unit_test(old_folders_are_swept),
        cmocka_unit_test(temporary_folders_go_on_every_exit),
        cmocka_unit_test(processes_are_run_within_limits),
        cmocka_unit_test(work_of_our_own_dies_with_its_maker),
        cmocka_unit_test(json_reads_and_writes_any_bytes),
        cmocka_unit_test(the_nearest_word_is_suggested),
        cmocka_unit_test(base64_gives_the_published_texts),
        cmocka_unit_test(uris_tap_and_xml_have_their_own_escapes),
        cmocka_unit_test(numbers_in_json_read_as_they_were_meant),
        cmocka_unit_test(json_on_a_terminal_shows_what_is_there),
        cmocka_unit_test(a_format_tells_what_arguments_are_for),
        cmocka_unit_test(work_apart_can_fail_and_be_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
