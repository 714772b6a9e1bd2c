/*
 * Readers of what subjects and damaged disks leave: right input, changed a little, ten
 * thousand times. It is read or refused in words, never worse; run it under the
 * sanitizers (make check-asan). Others of this kind are in test_crash, test_trace,
 * test_concolic_log and test_sequence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/file.h"
#include "base/tempdir.h"
#include "capture/capture_int.h"
#include "finding/baseline.h"
#include "finding/store.h"
#include "mutate.h"
#include "run/run_int.h"
#include "session/session_int.h"
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- messages of the worker */

/* The bytes of one message from an end that knows the secret. */
static size_t sample_message(const Wire *like, uint8_t *to, size_t room)
{
    int pair[2];
    Str body = { 0 };
    DoneWire d = { .wait_status = 11, .has_info = 1, .nframes = 2 };
    Wire w = *like;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    wire_add(&body, &d, sizeof d);
    for (unsigned i = 0; i < 2; i++) {
        wire_add_text(&body, "function");
        wire_add_text(&body, "/module");
        wire_add(&body, &d.address, sizeof d.address);
    }
    w.fd = pair[0];
    assert_true(wire_send(&w, WIRE_DONE, &body, NULL, 0));
    ssize_t n = recv(pair[1], to, room, 0);
    close(pair[0]);
    close(pair[1]);
    str_release(&body);
    assert_true(n > 0);
    return (size_t)n;
}

/* True: it was believed. */
static bool is_believed(const Wire *like, const uint8_t *bytes, size_t n)
{
    int pair[2], fds[WIRE_MOST_FDS];
    size_t nfds;
    WireKind kind;
    Str body = { 0 };
    Wire w = *like;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    w.fd = pair[1];
    assert_int_equal(send(pair[0], bytes, n, MSG_NOSIGNAL), (ssize_t)n);
    shutdown(pair[0], SHUT_WR);
    bool ok = wire_receive(&w, &kind, &body, fds, &nfds);
    WireIn in = { body.data, body.data + body.len, false };
    DoneWire d;
    wire_get(&in, &d, sizeof d);
    for (unsigned i = 0; ok && i < d.nframes && !in.bad; i++)
        (void)strlen(wire_get_text(&in));
    str_release(&body);
    close(pair[0]);
    close(pair[1]);
    return ok;
}

static void messages_are_read_or_refused(void **state)
{
    (void)state;
    Rng rng = rng_seeded(1);
    Wire like = { 0 };
    uint8_t good[1024], bad[1024];
    wire_draw_secret(&like);
    size_t n = sample_message(&like, good, sizeof good);
    assert_true(is_believed(&like, good, n));
    for (unsigned i = 0; i < mutations(10000); i++)
        is_believed(&like, bad, mutate_bytes(&rng, bad, good, n));
}

static void a_forged_message_is_not_believed(void **state)
{
    (void)state;
    Wire like = { 0 }, other = { 0 };
    uint8_t bytes[1024];
    wire_draw_secret(&like);
    wire_draw_secret(&other);
    size_t n = sample_message(&other, bytes, sizeof bytes);
    assert_false(is_believed(&like, bytes, n));         /* another secret */
    n = sample_message(&like, bytes, sizeof bytes);
    assert_true(is_believed(&like, bytes, n));
    like.received = 1;
    assert_false(is_believed(&like, bytes, n));         /* said once already */
}

/* ---- files of a workspace */

typedef struct Files {
    const char *dir;
    char *path;
    Str good;
    uint8_t *bad;
} Files;

static Files files_begin(const char *name, const char *text)
{
    Err err = { 0 };
    Files f = { .dir = tempdir_new(NULL, &err) };
    assert_non_null(f.dir);
    f.path = path_join(f.dir, name);
    if (text)
        str_add(&f.good, text);
    else
        assert_true(file_read(f.path, &f.good, &err));
    f.bad = malloc(f.good.len + 1);
    assert_non_null(f.bad);
    return f;
}

static void files_spoil(Files *f, Rng *rng)
{
    FILE *out = fopen(f->path, "w");
    size_t n = mutate_bytes(rng, f->bad, (uint8_t *)f->good.data, f->good.len);
    assert_non_null(out);
    assert_int_equal(fwrite(f->bad, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
}

static void files_end(Files *f)
{
    tempdir_remove(f->dir);
    free(f->path);
    free(f->bad);
    str_release(&f->good);
}

static void baselines_are_read_or_refused(void **state)
{
    (void)state;
    Rng rng = rng_seeded(2);
    Files f = files_begin("baseline",
                          "# sundew baseline 1\n"
                          "0123456789abcdef0123456789abcdef arguments a.c:3 swapped (reason)\n"
                          "fedcba9876543210fedcba9876543210 types b.c:17 \"x\"\n");
    for (unsigned i = 0; i < mutations(10000); i++) {
        Map entries = { 0 };
        Err err = { 0 };
        files_spoil(&f, &rng);
        bool ok = baseline_read(f.path, &entries, &err);
        assert_true(ok || *err.msg);
        baseline_release(&entries);
    }
    files_end(&f);
}

static void compile_commands_are_read_or_refused(void **state)
{
    (void)state;
    Rng rng = rng_seeded(3);
    Files f =
        files_begin("compile_commands.json",
                    "[{\"directory\": \"/a\", \"file\": \"b.c\", \"arguments\": [\"cc\", "
                    "\"-I\", \"x y\", \"-c\", \"b.c\"]}, {\"directory\": \"/a\", \"command\": "
                    "\"cc -DX=\\\"y z\\\" -c 'c.c' -o c.o\", \"file\": \"c.c\"}]\n");
    for (unsigned i = 0; i < mutations(10000); i++) {
        CompileCommands commands = { 0 };
        Err err = { 0 };
        files_spoil(&f, &rng);
        bool ok = commands_read(f.path, &commands, &err);
        assert_true(ok || *err.msg);
        commands_release(&commands);
    }
    files_end(&f);
}

static const Option test_options[] = {
    { "depth", 0, "N", "how deep", "3" },
    { "fast", 0, NULL, "be fast", NULL },
    { 0 },
};
static const Command test_command = { .name = "test", .options = test_options };

static void settings_are_read_or_refused(void **state)
{
    (void)state;
    Rng rng = rng_seeded(4);
    const Command *const all[] = { &test_command, NULL };
    Files f = files_begin("sundew.ini", "# settings\ndepth = 4\n[test]\nfast = yes\ndepth = 12\n"
                                        "jobs = 2\n; end\n");
    for (unsigned i = 0; i < mutations(10000); i++) {
        Session s = { .commands = all, .command = &test_command };
        Err err = { 0 };
        files_spoil(&f, &rng);
        bool ok = config_read(&s, f.path, false, &err);
        assert_true(ok || *err.msg);
        for (size_t k = 0; k < s.values.len; k++) {
            free(s.values.items[k].text);
            free(s.values.items[k].origin);
        }
        vec_release(&s.values);
    }
    files_end(&f);
}

/* A unit that was damaged is told as damaged, unless nothing of it changed. */
static void a_damaged_unit_is_never_taken_for_another(void **state)
{
    (void)state;
    enum { ID = 32 };
    Rng rng = rng_seeded(5);
    Err err = { 0 };
    const char *dir = tempdir_new(NULL, &err);
    char *where = path_join(dir, ".sundew");
    Workspace *ws = workspace_open(where, true, &err);
    assert_non_null(ws);
    Unit u = { .id = "0123456789abcdef0123456789abcdef",
               .source = "/a/b.c",
               .directory = "/a",
               .output = "/a/b.o",
               .language = "c",
               .status = UNIT_FOREIGN,
               .reason = "why \xff not" };
    strings_add(&u.arguments, "cc");
    strings_add(&u.arguments, "-c");
    assert_true(unit_write(ws, &u, &err));
    char *path = xprintf("%s/units/%s.json", workspace_dir(ws), u.id);
    Str good = { 0 };
    assert_true(file_read(path, &good, &err));
    uint8_t *bad = malloc(good.len);
    assert_non_null(bad);
    for (unsigned i = 0; i < mutations(10000); i++) {
        size_t n = mutate_bytes(&rng, bad, (uint8_t *)good.data, good.len);
        FILE *out = fopen(path, "w");
        assert_non_null(out);
        fwrite(bad, 1, n, out);
        fclose(out);
        Workspace *again = workspace_open(where, false, &err);
        const Unit *got = again ? workspace_unit(again, u.id) : NULL;
        assert_non_null(got);
        if (!got->damaged && strstr((char *)good.data, "\"sum\"") && n == good.len &&
            memmem(bad, n, "\"sum\"", 5)) {
            assert_string_equal(got->source, u.source);
            assert_int_equal(got->status, u.status);
            assert_int_equal(got->arguments.len, 2);
        }
        workspace_close(again);
    }
    free(bad);
    str_release(&good);
    free(path);
    free(where);
    strings_release(&u.arguments);
    workspace_close(ws);
    tempdir_remove(dir);
}

static void stores_are_read_or_refused(void **state)
{
    (void)state;
    Rng rng = rng_seeded(6);
    Err err = { 0 };
    const char *dir = tempdir_new(NULL, &err);
    char *path = path_join(dir, "findings.db"), *log = xprintf("%s-wal", path),
         *shm = xprintf("%s-shm", path);
    Store *st = store_open(path, dir, &err);
    assert_non_null(st);
    store_close(st);
    Str good = { 0 };
    assert_true(file_read(path, &good, &err));
    uint8_t *bad = malloc(good.len);
    assert_non_null(bad);
    for (unsigned i = 0; i < mutations(300); i++) {
        Err why = { 0 };
        size_t n = mutate_bytes(&rng, bad, (uint8_t *)good.data, good.len);
        bad[60 + rng_below(&rng, 4)] ^= (uint8_t)rng_below(&rng, 2) << 7;   /* user_version */
        unlink(log);
        unlink(shm);
        FILE *out = fopen(path, "w");
        assert_non_null(out);
        fwrite(bad, 1, n, out);
        fclose(out);
        assert_true(store_check(path, &why) || *why.msg);
    }
    free(bad);
    free(path);
    free(log);
    free(shm);
    str_release(&good);
    tempdir_remove(dir);
}

static void what_subjects_leave_is_a_file_or_nothing(void **state)
{
    (void)state;
    Err err = { 0 };
    Str s = { 0 };
    const char *dir = tempdir_new(NULL, &err);
    char *file = path_join(dir, "file"), *link = path_join(dir, "link"),
         *pipe = path_join(dir, "pipe");
    assert_true(file_write(file, "text", 4, &err));
    assert_true(file_read_left(file, 4, &s, &err));
    assert_string_equal(str_c(&s), "text");
    assert_false(file_read_left(file, 3, &s, &err));
    assert_int_equal(symlink(file, link), 0);
    assert_false(file_read_left(link, 100, &s, &err));
    assert_int_equal(mkfifo(pipe, 0666), 0);
    assert_false(file_read_left(pipe, 100, &s, &err));
    assert_false(file_read_left("/dev/zero", 100, &s, &err));
    assert_false(file_read_left(dir, 100, &s, &err));
    assert_false(file_read(pipe, &s, &err));            /* does not wait for a writer */
    assert_false(file_read("/dev/zero", &s, &err));     /* nor for an end */
    str_release(&s);
    free(file);
    free(link);
    free(pipe);
    tempdir_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_read_or_refused),
        cmocka_unit_test(a_forged_message_is_not_believed),
        cmocka_unit_test(baselines_are_read_or_refused),
        cmocka_unit_test(compile_commands_are_read_or_refused),
        cmocka_unit_test(settings_are_read_or_refused),
        cmocka_unit_test(a_damaged_unit_is_never_taken_for_another),
        cmocka_unit_test(stores_are_read_or_refused),
        cmocka_unit_test(what_subjects_leave_is_a_file_or_nothing),
    };
    return cmocka_run_group_tests_name("readers", tests, NULL, NULL);
}
