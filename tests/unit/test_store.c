/* finding/store.h: findings live through runs, kills, edits and moves. */
#include "base/fault.h"
#include "base/file.h"
#include "base/json.h"
#include "base/tempdir.h"
#include "finding/db.h"
#include "finding/store.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <cmocka.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a project of one file, in a folder that is gone afterwards */

typedef struct Project {
    const char *root;
    char *db;
} Project;

static void write_text(const char *root, const char *name, const char *text)
{
    Err err = {0};
    char *path = path_join(root, name);
    char *dir = path_dir(path);
    if (!dir_make(dir, &err) || !file_write(path, text, strlen(text), &err))
        fail_msg("%s", err.msg);
    free(dir);
    free(path);
}

static const char buf_c[] =
    "struct buf { int start, length; };\n"
    "\n"
    "void set_range(struct buf *b, int start, int length);\n"
    "\n"
    "void crop(struct buf *b, int start, int length)\n"
    "{\n"
    "    set_range(b, length, start);\n"
    "    set_range(b, length, start);\n"
    "}\n";

static Project project_new(void)
{
    Err err = {0};
    Project p = { .root = tempdir_new(NULL, &err) };
    assert_non_null(p.root);
    p.db = path_join(p.root, "findings.db");
    write_text(p.root, "buf.c", buf_c);
    return p;
}

static void project_free(Project *p)
{
    free(p->db);
    tempdir_remove(p->root);
}

static Store *must_open(const char *path, const char *root)
{
    Err err = {0};
    Store *st = store_open(path, root, &err);
    if (!st)
        fail_msg("%s", err.msg);
    return st;
}

static FindingSet *must_read(Store *st)
{
    Err err = {0};
    FindingSet *set = store_read(st, NULL, NULL, &err);
    if (!set)
        fail_msg("%s", err.msg);
    return set;
}

static Finding swapped_at(int line)
{
    return (Finding){ .rule = "arguments/swapped", .level = LEVEL_WARNING,
                      .verdict = VERDICT_LIKELY,
                      .message = "set_range: arguments 2 and 3 look swapped",
                      .where = { .file = "buf.c", .line = line, .column = 5,
                                 .function = "crop" },
                      .anchor = "set_range 2 3" };
}

static void report(Store *st, const char *technique, const char *scope,
                   const Finding *list, size_t n, const char *incomplete)
{
    Err err = {0};
    StoreRun *run = store_run_begin(st, technique, scope, "sundew x", 7, &err);
    assert_non_null(run);
    for (size_t i = 0; i < n; i++)
        assert_true(store_run_add(run, &list[i], &err));
    if (!store_run_end(run, incomplete, &err))
        fail_msg("%s", err.msg);
}

/* The fingerprint of the only finding, after a report of it at `line`. */
static void fingerprint_of(const char *root, int line, char out[33])
{
    Store *st = must_open(":memory:", root);
    Finding f = swapped_at(line);
    report(st, "arguments", "build", &f, 1, NULL);
    FindingSet *set = must_read(st);
    assert_int_equal(set->len, 1);
    memcpy(out, set->items[0].fingerprint, 33);
    finding_set_free(set);
    store_close(st);
}

/* ---- what goes in comes out */

static void a_finding_comes_back_as_it_went_in(void **state)
{
    (void)state;
    Project p = project_new();
    Store *st = must_open(p.db, p.root);
    char *absolute = path_join(p.root, "./sub/../buf.c");
    json_t *data = json_pack("{s:i, s:s}", "confidence", 90, "callee", "set_range");
    const char bytes[] = "\0\x01\xff binary";
    Finding f = swapped_at(7);
    f.where.file = absolute;
    f.where.end_line = 7;
    f.where.end_column = 14;
    f.steps = (EvidenceStep[]){ { { .file = "/usr/include/x.h", .line = 3 }, "a" },
                                { { 0 }, "no place" } };
    f.nsteps = 2;
    f.related = (EvidenceStep[]){ { { .file = absolute, .line = 3, .column = 6,
                                      .function = "g" }, "declared here" } };
    f.nrelated = 1;
    f.fixes = (FixIt[]){ { { .file = absolute, .line = 7, .column = 18,
                             .end_line = 7, .end_column = 24 }, "start" } };
    f.nfixes = 1;
    f.attachments = (Attachment[]){ { "in.bin", "input", bytes, sizeof bytes },
                                    { "empty", "input", NULL, 0 } };
    f.nattachments = 2;
    f.rerun = "sundew arguments 'buf.c'";
    f.picture = "digraph { a -> b }";
    f.data = data;
    report(st, "arguments", "build", &f, 1, NULL);
    json_object_clear(data);                    /* the store has its own copy */
    json_decref(data);

    FindingSet *set = must_read(st);
    assert_int_equal(set->len, 1);
    const Finding *g = &set->items[0].finding;
    assert_string_equal(g->rule, "arguments/swapped");
    assert_string_equal(set->items[0].technique, "arguments");
    assert_int_equal(g->level, LEVEL_WARNING);
    assert_int_equal(g->verdict, VERDICT_LIKELY);
    assert_string_equal(g->message, f.message);
    assert_string_equal(g->where.file, "buf.c");
    assert_int_equal(g->where.line, 7);
    assert_int_equal(g->where.column, 5);
    assert_int_equal(g->where.end_line, 7);
    assert_int_equal(g->where.end_column, 14);
    assert_string_equal(g->where.function, "crop");
    assert_string_equal(g->anchor, "set_range 2 3");
    assert_int_equal(g->nsteps, 2);
    assert_string_equal(g->steps[0].at.file, "/usr/include/x.h");
    assert_string_equal(g->steps[0].text, "a");
    assert_null(g->steps[1].at.file);
    assert_int_equal(g->nrelated, 1);
    assert_string_equal(g->related[0].at.file, "buf.c");
    assert_string_equal(g->related[0].at.function, "g");
    assert_int_equal(g->nfixes, 1);
    assert_int_equal(g->fixes[0].at.end_column, 24);
    assert_string_equal(g->fixes[0].text, "start");
    assert_int_equal(g->nattachments, 2);
    assert_int_equal(g->attachments[0].size, sizeof bytes);
    assert_memory_equal(g->attachments[0].text, bytes, sizeof bytes);
    assert_int_equal(g->attachments[1].size, 0);
    assert_string_equal(g->rerun, f.rerun);
    assert_string_equal(g->picture, f.picture);
    assert_int_equal(json_int(g->data, "confidence", 0), 90);

    assert_int_equal(set->nruns, 1);
    assert_string_equal(set->runs[0].technique, "arguments");
    assert_string_equal(set->runs[0].scope, "build");
    assert_string_equal(set->runs[0].command, "sundew x");
    assert_int_equal(set->runs[0].seed, 7);
    assert_int_equal(set->runs[0].nfindings, 1);
    assert_int_equal(strlen(set->runs[0].when), strlen("2026-01-01T00:00:00Z"));
    assert_null(set->runs[0].incomplete);
    assert_int_equal(finding_set_counting(set), 1);
    finding_set_free(set);
    store_close(st);
    free(absolute);
    project_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finding_comes_back_as_it_went_in),
    };
    (void)fingerprint_of;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
