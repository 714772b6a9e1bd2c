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
#include <errno.h>
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
    Err err = { 0 };
    char *path = path_join(root, name);
    char *dir = path_dir(path);
    if (!dir_make(dir, &err) || !file_write(path, text, strlen(text), &err))
        fail_msg("%s", err.msg);
    free(dir);
    free(path);
}

static const char buf_c[] = "struct buf { int start, length; };\n"
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
    Err err = { 0 };
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
    Err err = { 0 };
    Store *st = store_open(path, root, &err);
    if (!st)
        fail_msg("%s", err.msg);
    return st;
}

static FindingSet *must_read(Store *st)
{
    Err err = { 0 };
    FindingSet *set = store_read(st, NULL, NULL, &err);
    if (!set)
        fail_msg("%s", err.msg);
    return set;
}

static Finding swapped_at(int line)
{
    return (Finding){ .rule = "arguments/swapped",
                      .level = LEVEL_WARNING,
                      .verdict = VERDICT_LIKELY,
                      .message = "set_range: arguments 2 and 3 look swapped",
                      .where = { .file = "buf.c", .line = line, .column = 5, .function = "crop" },
                      .anchor = "set_range 2 3" };
}

static void report(Store *st, const char *technique, const char *scope, const Finding *list,
                   size_t n, const char *incomplete)
{
    Err err = { 0 };
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
    f.related = (EvidenceStep[]){ { { .file = absolute, .line = 3, .column = 6, .function = "g" },
                                    "declared here" } };
    f.nrelated = 1;
    f.fixes =
        (FixIt[]){ { { .file = absolute, .line = 7, .column = 18, .end_line = 7, .end_column = 24 },
                     "start" } };
    f.nfixes = 1;
    f.attachments =
        (Attachment[]){ { "in.bin", "input", bytes, sizeof bytes }, { "empty", "input", NULL, 0 } };
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

static size_t count_scope(Store *st, const char *technique, const char *scope)
{
    Err err = { 0 };
    FindingSet *set = store_read(st, technique, scope, &err);
    if (!set)
        fail_msg("%s", err.msg);
    size_t n = set->len;
    finding_set_free(set);
    return n;
}

static void a_run_replaces_the_earlier_one_of_its_scope(void **state)
{
    (void)state;
    Project p = project_new();
    Store *st = must_open(p.db, p.root);
    Finding two[] = { swapped_at(7), swapped_at(8) };
    Finding other = swapped_at(5);
    report(st, "arguments", "a", two, 2, NULL);
    report(st, "arguments", "b", two, 1, NULL);
    report(st, "types", "a", &other, 1, "half done");
    assert_int_equal(count_scope(st, "arguments", "a"), 2);
    assert_int_equal(count_scope(st, "arguments", "b"), 1);
    /* Both scopes have the one at line 7; it is shown once. */
    assert_int_equal(count_scope(st, "arguments", NULL), 2);
    assert_int_equal(count_scope(st, NULL, NULL), 3);
    assert_int_equal(count_scope(st, NULL, "c"), 0);
    report(st, "arguments", "a", NULL, 0, NULL);
    assert_int_equal(count_scope(st, "arguments", "a"), 0);
    assert_int_equal(count_scope(st, "arguments", "b"), 1);

    FindingSet *set = must_read(st);
    assert_int_equal(set->nruns, 3);
    assert_string_equal(set->runs[2].technique, "types");
    assert_string_equal(set->runs[2].incomplete, "half done");
    finding_set_free(set);
    store_close(st);
    project_free(&p);
}

static void findings_come_in_the_order_of_the_source(void **state)
{
    (void)state;
    Store *st = must_open(":memory:", "/");
    static const struct {
        const char *file;
        int line, column;
        const char *rule;
    } rows[] = { { "b.c", 1, 1, "t/a" },  { "a.c", 9, 1, "t/a" },  { "a.c", 10, 2, "t/b" },
                 { "a.c", 10, 1, "t/b" }, { "a.c", 10, 2, "t/a" }, { NULL, 0, 0, "t/a" } };
    static const int expected[] = { 5, 1, 3, 4, 2, 0 };
    Finding list[6];
    for (int i = 0; i < 6; i++)
        list[i] = (Finding){
            .rule = rows[i].rule,
            .message = "m",
            .where = { .file = rows[i].file, .line = rows[i].line, .column = rows[i].column }
        };
    report(st, "t", "x", list, 6, NULL);
    FindingSet *set = must_read(st);
    assert_int_equal(set->len, 6);
    for (int i = 0; i < 6; i++) {
        const Finding *f = &set->items[i].finding;
        assert_int_equal(f->where.line, rows[expected[i]].line);
        assert_int_equal(f->where.column, rows[expected[i]].column);
        assert_string_equal(f->rule, rows[expected[i]].rule);
    }
    finding_set_free(set);
    store_close(st);
}

/* The detail stands first among the steps; a message that is too long is cut, and stands before it. */
static void a_title_is_short_and_the_evidence_below(void **state)
{
    (void)state;
    Store *st = must_open(":memory:", "/");
    char text[FINDING_TITLE + 2] = { 0 };
    memset(text, 'x', sizeof text - 1);
    memcpy(text + FINDING_TITLE - 4, "\u00e9", 2); /* a character on the edge stays whole */
    EvidenceStep step = { .at = { .file = "a.c", .line = 1 }, .text = "called from here" };
    Finding list[2] = {
        { .rule = "t/a", .message = "f: swapped", .detail = "why", .steps = &step, .nsteps = 1 },
        { .rule = "t/b", .message = text, .detail = "why", .steps = &step, .nsteps = 1 },
    };
    report(st, "t", "x", list, 2, NULL);
    FindingSet *set = must_read(st);
    const Finding *a = &set->items[0].finding, *b = &set->items[1].finding;
    assert_string_equal(a->message, "f: swapped");
    assert_int_equal(a->nsteps, 2);
    assert_string_equal(a->steps[0].text, "why");
    assert_null(a->steps[0].at.file);
    assert_string_equal(a->steps[1].text, "called from here");
    assert_in_range(strlen(b->message), FINDING_TITLE - 4, FINDING_TITLE);
    assert_string_equal(b->message + strlen(b->message) - strlen("x…"), "x…");
    assert_int_equal(b->nsteps, 3);
    assert_string_equal(b->steps[0].text, text);
    assert_string_equal(b->steps[1].text, "why");
    finding_set_free(set);
    store_close(st);
}

static void a_finding_needs_a_rule_and_a_message(void **state)
{
    (void)state;
    Err err = { 0 };
    Store *st = must_open(":memory:", "/");
    StoreRun *run = store_run_begin(st, "t", "x", NULL, 0, &err);
    assert_false(store_run_add(run, &(Finding){ .rule = "t/a" }, &err));
    assert_false(store_run_add(run, &(Finding){ .message = "m" }, &err));
    assert_string_not_equal(err.msg, "");
    store_run_drop(run);
    store_run_drop(NULL);
    assert_int_equal(count_scope(st, NULL, NULL), 0);
    store_close(st);
    store_close(NULL);
    finding_set_free(NULL);
}

/* ---- fingerprints */

static void a_fingerprint_survives_edits_and_moves(void **state)
{
    (void)state;
    Project p = project_new(), q = project_new();
    char before[33], after[33];
    fingerprint_of(p.root, 7, before);
    assert_int_equal(strlen(before), 32);

    fingerprint_of(q.root, 7, after); /* another checkout */
    assert_string_equal(after, before);

    Str moved = { 0 }; /* lines above */
    str_add(&moved, "/* new\n * lines */\n\n");
    str_add(&moved, buf_c);
    str_add(&moved, "int unrelated;\n");
    write_text(p.root, "buf.c", str_c(&moved));
    fingerprint_of(p.root, 10, after);
    assert_string_equal(after, before);
    str_release(&moved);

    /* blanks and a comment on the line itself */
    write_text(p.root, "buf.c", "\tset_range( b,length,  start );  // why\n");
    fingerprint_of(p.root, 1, after);
    assert_string_equal(after, before);

    /* another call is another finding */
    write_text(p.root, "buf.c", "\tset_range(c, length, start);\n");
    fingerprint_of(p.root, 1, after);
    assert_string_not_equal(after, before);

    /* a file that is gone still gives one */
    char *path = path_join(p.root, "buf.c");
    unlink(path);
    free(path);
    fingerprint_of(p.root, 1, after);
    assert_int_equal(strlen(after), 32);
    project_free(&p);
    project_free(&q);
}

static void a_checkout_behind_a_link_is_the_same_checkout(void **state)
{
    (void)state;
    Project p = project_new(), q = project_new();
    char *link = path_join(q.root, "link"), *file = path_join(p.root, "buf.c");
    assert_int_equal(symlink(p.root, link), 0);
    Store *st = must_open(":memory:", link);
    Finding f = swapped_at(7);
    f.where.file = file; /* the compiler's name for it */
    report(st, "arguments", "build", &f, 1, NULL);
    FindingSet *set = must_read(st);
    assert_string_equal(set->items[0].finding.where.file, "buf.c");
    finding_set_free(set);
    store_close(st);
    free(link);
    free(file);
    project_free(&p);
    project_free(&q);
}

static void equal_findings_are_counted_in_source_order(void **state)
{
    (void)state;
    Project p = project_new();
    char first[33], second[33];
    for (int turned = 0; turned < 2; turned++) {
        Store *st = must_open(":memory:", p.root);
        Finding list[] = { swapped_at(turned ? 8 : 7), swapped_at(turned ? 7 : 8),
                           swapped_at(7) /* the same again: dropped */ };
        report(st, "arguments", "build", list, 3, NULL);
        FindingSet *set = must_read(st);
        assert_int_equal(set->len, 2);
        assert_int_equal(set->items[0].finding.where.line, 7);
        assert_string_not_equal(set->items[0].fingerprint, set->items[1].fingerprint);
        if (turned) {
            assert_string_equal(set->items[0].fingerprint, first);
            assert_string_equal(set->items[1].fingerprint, second);
        }
        memcpy(first, set->items[0].fingerprint, 33);
        memcpy(second, set->items[1].fingerprint, 33);
        finding_set_free(set);
        store_close(st);
    }
    /* On one line, by column; at one column, by message. */
    Store *st = must_open(":memory:", p.root);
    Finding list[] = { swapped_at(7), swapped_at(7), swapped_at(7) };
    list[1].where.column = 20;
    list[2].message = "another message";
    report(st, "arguments", "build", list, 3, NULL);
    assert_int_equal(count_scope(st, NULL, NULL), 3);
    store_close(st);
    project_free(&p);
}

static void hostile_text_is_kept_byte_for_byte(void **state)
{
    (void)state;
    static const char bad[] = "'); DROP TABLE finding; --\xff\xfe\x1b[0m\n";
    Store *st = must_open(":memory:", "/nowhere");
    Finding f = { .rule = bad,
                  .message = bad,
                  .anchor = bad,
                  .rerun = bad,
                  .picture = bad,
                  .where = { .file = bad, .function = bad } };
    report(st, bad, bad, &f, 1, bad);
    FindingSet *set = must_read(st);
    assert_int_equal(set->len, 1);
    assert_string_equal(set->items[0].finding.rule, bad);
    assert_string_equal(set->items[0].finding.message, bad);
    assert_string_equal(set->items[0].finding.where.file, bad);
    assert_string_equal(set->items[0].finding.where.function, bad);
    assert_string_equal(set->runs[0].incomplete, bad);
    finding_set_free(set);
    assert_int_equal(count_scope(st, bad, bad), 1);
    assert_int_equal(count_scope(st, "' OR 1=1 --", NULL), 0);
    store_close(st);
}

/* ---- several processes, kills */

static void must_exit_0(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* In a child: a failure is its exit status. */
static void write_runs(const Project *p, int who, int times)
{
    char scope[32];
    snprintf(scope, sizeof scope, "scope%d", who);
    for (int i = 0; i < times; i++) {
        Err err = { 0 };
        Store *st = store_open(p->db, p->root, &err);
        StoreRun *run = st ? store_run_begin(st, "t", scope, "", 0, &err) : NULL;
        for (int k = 1; run && k <= 20; k++) {
            Finding f = swapped_at(k);
            f.anchor = scope;
            store_run_add(run, &f, &err);
        }
        if (!run || !store_run_end(run, NULL, &err)) {
            fprintf(stderr, "%s\n", err.msg);
            _exit(1);
        }
        store_close(st);
    }
    _exit(0);
}

static void several_processes_write_at_once(void **state)
{
    (void)state;
    Project p = project_new();
    pid_t pids[4];
    for (int i = 0; i < 4; i++)
        if ((pids[i] = fork()) == 0)
            write_runs(&p, i, 8);
    for (int i = 0; i < 4; i++)
        must_exit_0(pids[i]);
    Store *st = must_open(p.db, p.root);
    FindingSet *set = must_read(st);
    assert_int_equal(set->nruns, 4);
    assert_int_equal(set->len, 80);
    finding_set_free(set);
    store_close(st);
    project_free(&p);
}

/* Writes runs of 300 findings over and over; says when the first is in. */
static void write_until_killed(const Project *p, int ready)
{
    Err err = { 0 };
    Store *st = store_open(p->db, p->root, &err);
    for (int i = 0; st; i++) {
        StoreRun *run = store_run_begin(st, "t", "x", "", 0, &err);
        for (int k = 1; k <= 300; k++) {
            Finding f = swapped_at(k);
            store_run_add(run, &f, &err);
        }
        store_run_end(run, NULL, &err);
        if (i == 0 && write(ready, "x", 1) != 1)
            break;
    }
    _exit(1);
}

static void a_kill_in_the_middle_loses_nothing(void **state)
{
    (void)state;
    Project p = project_new();
    for (int round = 0; round < 8; round++) {
        int ready[2];
        char x;
        assert_int_equal(pipe(ready), 0);
        pid_t pid = fork();
        if (pid == 0)
            write_until_killed(&p, ready[1]);
        close(ready[1]);
        assert_int_equal(read(ready[0], &x, 1), 1);
        usleep(1000 * (unsigned)round * 3);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        close(ready[0]);
        Store *st = must_open(p.db, p.root);
        assert_int_equal(count_scope(st, "t", "x"), 300);
        Finding f = swapped_at(7);
        report(st, "other", "x", &f, 1, NULL);
        assert_int_equal(count_scope(st, "other", "x"), 1);
        store_close(st);
    }
    project_free(&p);
}

static void a_run_that_never_ends_leaves_the_earlier_one(void **state)
{
    (void)state;
    Project p = project_new();
    Store *st = must_open(p.db, p.root);
    Finding f = swapped_at(7);
    report(st, "t", "x", &f, 1, NULL);
    store_close(st);
    pid_t pid = fork();
    if (pid == 0) {
        Err err = { 0 };
        st = store_open(p.db, p.root, &err);
        StoreRun *run = store_run_begin(st, "t", "x", "", 0, &err);
        store_run_add(run, &f, &err);
        raise(SIGKILL);
    }
    waitpid(pid, NULL, 0);
    st = must_open(p.db, p.root);
    assert_int_equal(count_scope(st, "t", "x"), 1);
    store_close(st);
    project_free(&p);
}

/* ---- schema versions, strange files */

static sqlite3 *raw_open(const char *path)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    return db;
}

static void raw_exec(const char *path, const char *sql)
{
    sqlite3 *db = raw_open(path);
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s", message);
    sqlite3_close(db);
}

static int raw_number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *q;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    int n = sqlite3_column_int(q, 0);
    sqlite3_finalize(q);
    return n;
}

static void an_old_schema_is_brought_up_to_date(void **state)
{
    (void)state;
    static const char *const one[] = { "CREATE TABLE t (a); INSERT INTO t VALUES (5)", NULL };
    static const char *const three[] = { "CREATE TABLE t (a); INSERT INTO t VALUES (5)",
                                         "ALTER TABLE t ADD COLUMN b DEFAULT 7",
                                         "UPDATE t SET b = b + a", NULL };
    static const char *const broken[] = { "CREATE TABLE t (a)",
                                          "DROP TABLE t; CREATE TABLE nonsense (", NULL };
    Err err = { 0 };
    sqlite3 *db = raw_open(":memory:");
    assert_true(db_migrate(db, one, &err));
    assert_true(db_migrate(db, one, &err));
    assert_int_equal(raw_number(db, "PRAGMA user_version"), 1);

    assert_false(db_migrate(db, broken, &err)); /* all or nothing */
    assert_int_equal(raw_number(db, "PRAGMA user_version"), 1);
    assert_int_equal(raw_number(db, "SELECT a FROM t"), 5);
    assert_non_null(strstr(err.msg, "schema 2"));

    assert_true(db_migrate(db, three, &err));
    assert_int_equal(raw_number(db, "PRAGMA user_version"), 3);
    assert_int_equal(raw_number(db, "SELECT b FROM t"), 12);
    assert_false(db_migrate(db, one, &err)); /* no way back */
    assert_non_null(strstr(err.msg, "newer"));
    sqlite3_close(db);
}

static void refuses(const char *path, const char *root, const char *because)
{
    Err err = { 0 };
    assert_null(store_open(path, root, &err));
    assert_non_null(strstr(err.msg, path));
    if (!strstr(err.msg, because))
        fail_msg("expected '%s' in: %s", because, err.msg);
}

static void a_newer_or_foreign_database_is_refused(void **state)
{
    (void)state;
    Project p = project_new();
    store_close(must_open(p.db, p.root));
    raw_exec(p.db, "PRAGMA user_version = 99");
    refuses(p.db, p.root, "newer");
    raw_exec(p.db, "PRAGMA user_version = 1; PRAGMA application_id = 5");
    refuses(p.db, p.root, "not a store");
    char *other = path_join(p.root, "other.db");
    raw_exec(other, "CREATE TABLE bookmarks (url)");
    refuses(other, p.root, "not a store");
    char *nowhere = path_join(p.root, "no/such/folder.db");
    refuses(nowhere, p.root, "folder is there");
    free(other);
    free(nowhere);
    project_free(&p);
}

static void a_damaged_file_says_what_to_do(void **state)
{
    (void)state;
    Project p = project_new();
    Str junk = { 0 };
    for (int i = 0; i < 5000; i++)
        str_addf(&junk, "%d junk ", i);
    write_text(p.root, "findings.db", str_c(&junk));
    str_release(&junk);
    refuses(p.db, p.root, "move it away");
    unlink(p.db);

    /* Pages inside are overwritten: opening may work, reading says it. */
    Store *st = must_open(p.db, p.root);
    Finding list[200];
    char anchors[200][8];
    for (int i = 0; i < 200; i++) {
        list[i] = swapped_at(i);
        snprintf(anchors[i], sizeof anchors[i], "%d", i);
        list[i].anchor = anchors[i];
    }
    report(st, "t", "x", list, 200, NULL);
    store_close(st);
    FILE *f = fopen(p.db, "r+");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    for (long at = 4096; at < size; at++) {
        fseek(f, at, SEEK_SET);
        fputc(0xaa, f);
    }
    fclose(f);
    Err err = { 0 };
    st = store_open(p.db, p.root, &err);
    FindingSet *set = st ? store_read(st, NULL, NULL, &err) : NULL;
    assert_null(set);
    assert_non_null(strstr(err.msg, "damaged"));
    assert_non_null(strstr(err.msg, p.db));
    store_close(st);
    project_free(&p);
}

/* Whatever someone wrote into the database by hand. */
static void values_out_of_range_do_no_harm(void **state)
{
    (void)state;
    Project p = project_new();
    Store *st = must_open(p.db, p.root);
    Finding f = swapped_at(7);
    f.steps = (EvidenceStep[]){ { { 0 }, "s" } };
    f.nsteps = 1;
    f.attachments = (Attachment[]){ { "n", "k", "abc", 3 } };
    f.nattachments = 1;
    report(st, "t", "x", &f, 1, NULL);
    store_close(st);
    raw_exec(p.db, "UPDATE finding SET level = 99, verdict = -5, line = -3, "
                   "col = 99999999999, data = '{broken', "
                   "fingerprint = 'much too long for a fingerprint, I would say';"
                   "UPDATE place SET kind = 77, text = NULL;"
                   "UPDATE attachment SET content = NULL, name = NULL;"
                   "UPDATE run SET seed = 'x', command = NULL");
    st = must_open(p.db, p.root);
    FindingSet *set = must_read(st);
    const Finding *g = &set->items[0].finding;
    assert_int_equal(g->level, LEVEL_NOTE);
    assert_int_equal(g->verdict, VERDICT_SHOWN);
    assert_int_equal(g->where.line, 0);
    assert_true(g->where.column > 0);
    assert_null(g->data);
    assert_int_equal(strlen(set->items[0].fingerprint), 32);
    assert_int_equal(g->nsteps, 0);
    assert_int_equal(g->nfixes, 1);
    assert_string_equal(g->fixes[0].text, "");
    assert_int_equal(g->attachments[0].size, 0);
    assert_string_equal(g->attachments[0].name, "");
    finding_set_free(set);
    store_close(st);
    project_free(&p);
}

/* As somebody who may only read. */
static void read_only(const Project *p)
{
    Err err = { 0 };
    if (geteuid() == 0 && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
        _exit(10);
    Store *st = store_open(p->db, p->root, &err);
    if (!st)
        _exit(11);
    FindingSet *set = store_read(st, NULL, NULL, &err);
    if (!set || set->len != 1)
        _exit(12);
    if (store_run_begin(st, "t", "x", "", 0, &err) || !strstr(err.msg, "can't be written"))
        _exit(13);
    finding_set_free(set);
    store_close(st);
    char *other = path_join(p->root, "other.db");
    if (store_open(other, p->root, &err) || !strstr(err.msg, other))
        _exit(14);
    free(other);
    char *old = path_join(p->root, "empty.db");
    if (store_open(old, p->root, &err) || !strstr(err.msg, "older"))
        _exit(15);
    free(old);
    _exit(0);
}

static void a_read_only_folder_can_be_read(void **state)
{
    (void)state;
    Project p = project_new();
    Store *st = must_open(p.db, p.root);
    Finding f = swapped_at(7);
    report(st, "t", "x", &f, 1, NULL);
    store_close(st);
    write_text(p.root, "empty.db", "");
    chmod(p.root, 0555);
    pid_t pid = fork();
    if (pid == 0)
        read_only(&p);
    must_exit_0(pid);
    chmod(p.root, 0755);
    project_free(&p);
}

/* Holds the file for a moment, as a process that opens it first does. */
static void hold(const Project *p, int ready)
{
    sqlite3 *db = NULL;
    if (sqlite3_open(p->db, &db) != SQLITE_OK ||
        sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL) != SQLITE_OK ||
        write(ready, "x", 1) != 1)
        _exit(1);
    usleep(200000);
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    _exit(0);
}

static void opening_waits_for_another_process(void **state)
{
    (void)state;
    Project p = project_new();
    int ready[2];
    char x;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0)
        hold(&p, ready[1]);
    assert_int_equal(read(ready[0], &x, 1), 1);
    store_close(must_open(p.db, p.root));
    must_exit_0(pid);
    close(ready[0]);
    close(ready[1]);
    project_free(&p);
}

/* ---- failures, one after the other */

/* Opens, writes, reads; true if all went well. Each failure has a message. */
static bool whole_story(const Project *p, bool *opened)
{
    Err err = { 0 };
    FindingSet *set = NULL;
    Finding f = swapped_at(7);
    f.steps = (EvidenceStep[]){ { { .file = "buf.c", .line = 1 }, "s" } };
    f.related = f.steps;
    f.fixes = (FixIt[]){ { { .file = "buf.c", .line = 1 }, "x" } };
    f.attachments = (Attachment[]){ { "n", "k", "abc", 3 } };
    f.nsteps = f.nrelated = f.nfixes = f.nattachments = 1;
    Store *st = store_open(p->db, p->root, &err);
    *opened = st != NULL;
    StoreRun *run = st ? store_run_begin(st, "t", "x", "", 0, &err) : NULL;
    if (run) {
        store_run_add(run, &f, &err);
        store_run_saw(run, "other.c");
        if (store_run_end(run, NULL, &err))
            set = store_read(st, NULL, NULL, &err);
    }
    bool ok = set != NULL;
    assert_true(ok == (*err.msg == 0));
    finding_set_free(set);
    store_close(st);
    return ok;
}

static void forget(const Project *p)
{
    static const char *const ends[] = { "", "-wal", "-shm", "-journal" };
    for (int i = 0; i < 4; i++) {
        char *path = xprintf("%s%s", p->db, ends[i]);
        unlink(path);
        free(path);
    }
}

/* What was there before is there afterwards, or the new is. */
static void store_is_sound(const Project *p)
{
    Store *st = must_open(p->db, p->root);
    size_t n = count_scope(st, NULL, NULL);
    assert_true(n <= 1);
    store_close(st);
}

static void every_failing_call_is_a_clean_error(void **state)
{
    (void)state;
    Project p = project_new();
    write_text(p.root, "sundew.ignore", "types * (x)\n");
    write_text(p.root, "sundew.baseline", "# none\n");
    unsigned n = 1;
    for (bool fired = true, opened; fired; n++) {
        forget(&p);
        fault_after(n);
        bool ok = whole_story(&p, &opened);
        fired = fault_fired();
        fault_after(0);
        assert_true(ok || fired);
        store_is_sound(&p);
    }
    assert_true(n > 20);
    project_free(&p);
}

/* SQLite's own writes, by way of its table of system calls. */
static int writes_left = -1;
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_ftruncate)(int, off_t);

static bool disk_is_full(void)
{
    if (writes_left < 0)
        return false;
    if (writes_left > 0) {
        writes_left--;
        return false;
    }
    errno = ENOSPC;
    return true;
}

static ssize_t full_pwrite(int fd, const void *data, size_t n, off_t at)
{
    return disk_is_full() ? -1 : real_pwrite(fd, data, n, at);
}

static int full_ftruncate(int fd, off_t n) { return disk_is_full() ? -1 : real_ftruncate(fd, n); }

static void a_full_disk_is_a_clean_error(void **state)
{
    (void)state;
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    real_pwrite =
        (ssize_t(*)(int, const void *, size_t, off_t))vfs->xGetSystemCall(vfs, "pwrite64");
    real_ftruncate = (int (*)(int, off_t))vfs->xGetSystemCall(vfs, "ftruncate");
    vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)full_pwrite);
    vfs->xSetSystemCall(vfs, "ftruncate", (sqlite3_syscall_ptr)full_ftruncate);
    Project p = project_new();
    int failures = 0;
    for (int n = 0; n < 400; n++) {
        bool opened;
        writes_left = n;
        bool ok = whole_story(&p, &opened);
        writes_left = -1;
        failures += !ok;
        store_is_sound(&p);
        if (ok)
            break;
        if (n % 2)
            forget(&p);
    }
    assert_true(failures > 5);
    vfs->xSetSystemCall(vfs, NULL, NULL);
    project_free(&p);
}

static sqlite3_mem_methods plain_memory;
static int blocks_left = -1;

static void *scarce_malloc(int n)
{
    if (blocks_left >= 0 && blocks_left-- == 0)
        return NULL;
    return plain_memory.xMalloc(n);
}

static void no_memory_in_sqlite_is_a_clean_error(void **state)
{
    (void)state;
    sqlite3_shutdown();
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain_memory), SQLITE_OK);
    sqlite3_mem_methods scarce = plain_memory;
    scarce.xMalloc = scarce_malloc;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &scarce), SQLITE_OK);
    Project p = project_new();
    int failures = 0;
    for (int n = 0; n < 3000; n += n < 60 ? 1 : 17) {
        bool opened;
        forget(&p);
        sqlite3_initialize();
        blocks_left = n;
        bool ok = whole_story(&p, &opened);
        bool scarcity = blocks_left < 0;
        blocks_left = -1;
        failures += !ok;
        store_is_sound(&p);
        if (ok && !scarcity)
            break;
    }
    assert_true(failures > 20);
    sqlite3_shutdown();
    sqlite3_config(SQLITE_CONFIG_MALLOC, &plain_memory);
    project_free(&p);
}

/* ---- baseline */

static FindingSet *reread(Store *st, FindingSet *old)
{
    finding_set_free(old);
    return must_read(st);
}

static char *read_text(const char *root, const char *name)
{
    Str out = { 0 };
    Err err = { 0 };
    char *path = path_join(root, name);
    if (!file_read(path, &out, &err))
        fail_msg("%s", err.msg);
    free(path);
    return str_take(&out);
}

static void a_baseline_accepts_what_is_there(void **state)
{
    (void)state;
    Project p = project_new();
    char *path = path_join(p.root, BASELINE_FILE);
    Store *st = must_open(p.db, p.root);
    Err err = { 0 };
    Finding list[] = { swapped_at(7), swapped_at(8), swapped_at(5) };
    list[2].where.function = NULL;
    list[2].message = "one\nline\x1b[0m";
    report(st, "arguments", "build", list, 2, NULL);
    FindingSet *set = must_read(st);
    assert_int_equal(finding_set_counting(set), 2);
    assert_true(baseline_set(set, path, &err));

    /* Known ones don't count, new ones do. */
    report(st, "arguments", "build", list, 3, NULL);
    set = reread(st, set);
    assert_int_equal(set->len, 3);
    assert_int_equal(finding_set_counting(set), 1);
    assert_false(set->items[0].in_baseline); /* line 5 */
    assert_true(set->items[1].in_baseline);

    /* The file: a comment, then one line each, sorted, no line numbers. */
    assert_true(baseline_set(set, path, &err));
    char *text = read_text(p.root, BASELINE_FILE), *rest = text, *before = "";
    int entries = 0;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        if (*line == '#')
            continue;
        entries++;
        assert_true(strcmp(before, line) < 0);
        assert_non_null(strstr(line, "  arguments/swapped  buf.c  "));
        before = line;
    }
    assert_int_equal(entries, 3);
    free(text);

    /* Fixed ones go with prune. */
    size_t dropped = 9;
    report(st, "arguments", "build", list, 1, NULL);
    set = reread(st, set);
    assert_true(baseline_prune(set, path, &dropped, &err));
    assert_int_equal(dropped, 2);
    assert_true(baseline_prune(set, path, &dropped, &err));
    assert_int_equal(dropped, 0);
    set = reread(st, set);
    assert_int_equal(finding_set_counting(set), 0);

    /* The last one too. One without a file is fine; one twice is one. */
    Finding placeless = { .rule = "arguments/x", .message = "m" };
    report(st, "arguments", "build", &placeless, 1, NULL);
    set = reread(st, set);
    assert_true(baseline_prune(set, path, &dropped, &err));
    assert_int_equal(dropped, 1);
    StoredFinding twice[] = { set->items[0], set->items[0] };
    assert_true(baseline_set(&(FindingSet){ .items = twice, .len = 2 }, path, &err));
    set = reread(st, set);
    assert_int_equal(finding_set_counting(set), 0);
    finding_set_free(set);
    store_close(st);
    free(path);
    project_free(&p);
}

static void a_baseline_keeps_what_other_runs_accepted(void **state)
{
    (void)state;
    Project p = project_new();
    char *path = path_join(p.root, BASELINE_FILE);
    Store *st = must_open(p.db, p.root);
    Err err = { 0 };
    size_t dropped;
    Finding f = swapped_at(7);
    report(st, "arguments", "build", &f, 1, NULL);
    write_text(p.root, BASELINE_FILE,
               "00000000000000000000000000000001  types/odd  a.c  x: m\r\n"
               "00000000000000000000000000000002\targuments/swapped  gone.c  x: m\n"
               "00000000000000000000000000000003\n"
               "  \n# a remark\n"
               "00000000000000000000000000000001  types/odd  a.c  twice\n");
    FindingSet *set = must_read(st);
    assert_true(baseline_prune(set, path, &dropped, &err));
    assert_int_equal(dropped, 1);
    assert_true(baseline_set(set, path, &err));
    char *text = read_text(p.root, BASELINE_FILE);
    assert_non_null(strstr(text, "00000000000000000000000000000001  types/odd"));
    assert_null(strstr(text, "twice"));
    assert_null(strstr(text, "gone.c"));
    assert_non_null(strstr(text, "00000000000000000000000000000003\n"));
    assert_non_null(strstr(text, set->items[0].fingerprint));
    free(text);

    /* An incomplete run proves nothing gone, whatever others say. */
    report(st, "arguments", "build", NULL, 0, "killed");
    report(st, "arguments", "another", NULL, 0, NULL);
    report(st, "argumentt", "build", NULL, 0, NULL);
    set = reread(st, set);
    assert_true(baseline_prune(set, path, &dropped, &err));
    assert_int_equal(dropped, 0);
    finding_set_free(set);
    store_close(st);
    free(path);
    project_free(&p);
}

static void a_broken_baseline_is_an_error(void **state)
{
    (void)state;
    static const char *const broken[] = { "<<<<<<< HEAD\n", "0123\n",
                                          "0000000000000000000000000000000G  x\n",
                                          "0000000000000000000000000000000A  x\n",
                                          "000000000000000000000000000000001 x\n" };
    Project p = project_new();
    char *path = path_join(p.root, BASELINE_FILE);
    Store *st = must_open(p.db, p.root);
    FindingSet *set = must_read(st);
    size_t dropped;
    for (int i = 0; i < 5; i++) {
        Err err = { 0 };
        write_text(p.root, BASELINE_FILE, broken[i]);
        assert_null(store_read(st, NULL, NULL, &err));
        assert_non_null(strstr(err.msg, "sundew.baseline:1: "));
        assert_false(baseline_set(set, path, &err));
        assert_false(baseline_prune(set, path, &dropped, &err));
    }
    unlink(path);
    Err err = { 0 };
    assert_true(baseline_prune(set, path, &dropped, &err));
    assert_int_equal(dropped, 0);
    assert_false(file_exists(path));
    finding_set_free(set);

    /* A write that fails leaves the old file. */
    Finding f = swapped_at(7);
    report(st, "t", "x", &f, 1, NULL);
    set = must_read(st);
    write_text(p.root, BASELINE_FILE, "# old\n");
    for (unsigned n = 1;; n++) {
        fault_after(n);
        bool ok = baseline_set(set, path, &err), fired = fault_fired();
        fault_after(0);
        if (!fired) {
            assert_true(ok);
            break;
        }
        char *text = read_text(p.root, BASELINE_FILE);
        assert_true(ok || strcmp(text, "# old\n") == 0);
        free(text);
    }
    finding_set_free(set);
    store_close(st);
    free(path);
    project_free(&p);
}

/* ---- suppressions */

/* One finding of arguments/swapped on the line that says BUG, or on line 1. */
static FindingSet *with_source(const Project *p, Store **st, const char *source)
{
    write_text(p->root, "buf.c", source);
    int line = 1;
    const char *bug = strstr(source, "BUG");
    for (const char *s = source; bug && s < bug; s++)
        line += *s == '\n';
    Finding f = swapped_at(line);
    *st = must_open(":memory:", p->root);
    report(*st, "arguments", "build", &f, 1, NULL);
    return must_read(*st);
}

static void comments_suppress_the_line_they_mean(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        const char *reason; /* NULL: not suppressed */
        const char *complaint; /* NULL: none */
    } rows[] = {
        { "BUG // sundew: ignore arguments (why)", "why", NULL },
        { "BUG //sundew:ignore arguments (why)", "why", NULL },
        { "BUG /* sundew: ignore arguments/swapped (why) */", "why", NULL },
        { "BUG /* sundew:ignore swapped because so */ x", "because so", NULL },
        { "// sundew: ignore arguments (why)\nBUG", "why", NULL },
        { "/* sundew: ignore types,swapped (why) */\n\n// and\nBUG", "why", NULL },
        { "/*\n * sundew: ignore swapped (why)\n */\nBUG", "why", NULL },
        { "// sundew: ignore types (a)\n// sundew: ignore swapped (b)\nBUG", "b", NULL },
        { "// hello. sundew: ignore swapped (why)\r\nBUG\r\n", "why", NULL },
        { "BUG // sundew: ignore arguments (a) \\\nsundew: ignore swapped (b)", "(a) \\", NULL },
        { "// sundew: ignore arguments\nBUG", NULL,
          "buf.c:1: this suppression of arguments gives no reason" },
        { "// sundew: ignore arguments ()\nBUG", NULL, "no reason" },
        { "// sundew: ignore\nBUG", NULL, "buf.c:1: this suppression names no rule" },
        { "// sundew: ignore (why)\nBUG", NULL, "names no rule" },
        { "x; // sundew: ignore arguments (why)\nBUG", NULL,
          "buf.c:1: this suppression of arguments matches no finding" },
        { "// sundew: ignore arguments (why)\nx;\nBUG", NULL, "matches no finding" },
        { "BUG\n// sundew: ignore arguments (why)", NULL, "matches no finding" },
        { "// sundew: ignore arguments/other (why)\nBUG", NULL,
          "suppression of arguments/other matches no" },
        { "// sundew: ignore types (why)\nBUG", NULL, NULL }, /* has not run */
        { "// sundew: ignore argument (why)\nBUG", NULL, NULL },
        { "// sundew: ignore argumentz, no-such_rule (why)\nBUG", NULL, NULL },
        { "// sundew: ignore swappes (why)\nBUG", NULL, NULL },
        { "// sundew: igno\nBUG /**/", NULL, NULL },
        { "char *s = \"// sundew: ignore arguments (why)\"; BUG", NULL, NULL },
        { "// nosundew: ignore arguments (why)\nBUG", NULL, NULL },
        { "// x_sundew: ignore arguments (why)\nBUG", NULL, NULL },
        { "// sundew: ignored arguments (why)\nBUG", NULL, NULL },
        { "// sundew: look\nBUG", NULL, NULL },
        { "// sundew:", NULL, NULL },
        { "BUG /* sundew: ignore arguments (open", "(open", NULL },
        { "BUG", NULL, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Project p = project_new();
        Store *st;
        FindingSet *set = with_source(&p, &st, rows[i].source);
        const StoredFinding *f = &set->items[0];
        bool right = (f->suppressed != NULL) == (rows[i].reason != NULL) &&
                     (!f->suppressed || strcmp(f->suppressed, rows[i].reason) == 0) &&
                     set->nunused_suppressions == (rows[i].complaint != NULL) &&
                     (!rows[i].complaint || strstr(set->unused_suppressions[0], rows[i].complaint));
        if (!right)
            fail_msg("%s\nsuppressed: %s, complaint: %s", rows[i].source,
                     f->suppressed ? f->suppressed : "-",
                     set->nunused_suppressions ? set->unused_suppressions[0] : "-");
        if (f->suppressed) {
            assert_true(f->suppressed_in_source);
            assert_true(str_starts(f->suppressed_at, "buf.c:"));
        }
        assert_int_equal(finding_set_counting(set), rows[i].reason ? 0 : 1);
        finding_set_free(set);
        store_close(st);
        project_free(&p);
    }
}

static void the_ignore_file_suppresses_by_pattern(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason, *complaint;
    } rows[] = {
        { "arguments buf.c (why)", "why", NULL },
        { "arguments/* *.c why", "why", NULL },
        { "  arg* b?f.c  (why)  ", "why", NULL },
        { "# remark\n\n* * (all)\n", "all", NULL },
        { "arguments buf.c (a)\narguments * (b)", "a", NULL },
        { "arguments\\ x buf.c (why)", NULL, NULL },
        { "types buf.c (why)", NULL, NULL },
        { "arguments other.c (why)", NULL,
          "sundew.ignore:1: this suppression of arguments matches" },
        { "arguments dir/ (why)", NULL, "matches no finding" },
        { "arguments buf.c", NULL, "gives no reason" },
        { "\narguments", NULL, "sundew.ignore:2: expected a pattern" },
        { "argumentsx\\", NULL, "expected a pattern" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Project p = project_new();
        write_text(p.root, "sundew.ignore", rows[i].text);
        Store *st;
        FindingSet *set = with_source(&p, &st, "BUG\n");
        const StoredFinding *f = &set->items[0];
        bool right = (f->suppressed != NULL) == (rows[i].reason != NULL) &&
                     (!f->suppressed || strcmp(f->suppressed, rows[i].reason) == 0) &&
                     set->nunused_suppressions == (rows[i].complaint != NULL) &&
                     (!rows[i].complaint || strstr(set->unused_suppressions[0], rows[i].complaint));
        if (!right)
            fail_msg("%s\nsuppressed: %s, complaint: %s", rows[i].text,
                     f->suppressed ? f->suppressed : "-",
                     set->nunused_suppressions ? set->unused_suppressions[0] : "-");
        if (f->suppressed)
            assert_false(f->suppressed_in_source);
        finding_set_free(set);
        /* A part of the runs can't judge the whole file. */
        Err err = { 0 };
        set = store_read(st, NULL, "build", &err);
        for (size_t k = 0; k < set->nunused_suppressions; k++)
            assert_null(strstr(set->unused_suppressions[k], "matches no finding"));
        finding_set_free(set);
        store_close(st);
        project_free(&p);
    }
}

static void a_suppression_may_stand_on_any_line_of_the_finding(void **state)
{
    (void)state;
    Project p = project_new();
    write_text(p.root, "buf.c", "f(a,\n  b, // sundew: ignore t (why)\n  c);\n");
    Store *st = must_open(":memory:", p.root);
    Finding list[] = { swapped_at(1), swapped_at(1), { .rule = "t", .message = "m" } };
    list[0].where.end_line = 3;
    list[1].anchor = "ends on line 1";
    report(st, "t", "x", list, 3, NULL);
    FindingSet *set = must_read(st);
    assert_int_equal(finding_set_counting(set), 2);
    assert_null(set->items[0].suppressed); /* the one without a file */
    finding_set_free(set);
    store_close(st);
    project_free(&p);
}

static void a_suppression_counts_in_its_own_file_only(void **state)
{
    (void)state;
    Project p = project_new();
    write_text(p.root, "a.c", "sundew: no comment\n");
    write_text(p.root, "b.c", "x; // sundew: ignore t (why)\ny; // sundew: ignore t (why)\n");
    write_text(p.root, "c.c", "x;\n");
    Store *st = must_open(":memory:", p.root);
    Finding list[] = { swapped_at(1), swapped_at(1), swapped_at(1), swapped_at(2) };
    list[0].where.file = "a.c";
    list[1].where.file = "b.c";
    list[2].where.file = "c.c";
    list[3].where.file = "b.c";
    report(st, "t", "x", list, 4, NULL);
    FindingSet *set = must_read(st);
    static const bool expected[] = { false, true, true, false };
    for (int i = 0; i < 4; i++)
        assert_true((set->items[i].suppressed != NULL) == expected[i]);
    assert_int_equal(set->nunused_suppressions, 0);

    /* What is suppressed needs no place in the baseline. */
    Err err = { 0 };
    char *path = path_join(p.root, BASELINE_FILE);
    assert_true(baseline_set(set, path, &err));
    char *text = read_text(p.root, BASELINE_FILE);
    assert_non_null(strstr(text, "  a.c  "));
    assert_null(strstr(text, "  b.c  "));
    free(text);
    free(path);
    finding_set_free(set);
    store_close(st);
    project_free(&p);
}

static void suppressions_are_judged_in_files_that_were_looked_at(void **state)
{
    (void)state;
    Project p = project_new();
    write_text(p.root, "clean.c", "// sundew: ignore t (was fixed)\nint x;\n");
    Store *st = must_open(":memory:", p.root);
    Err err = { 0 };
    report(st, "t", "x", NULL, 0, NULL);
    FindingSet *set = must_read(st);
    assert_int_equal(set->nunused_suppressions, 0);

    StoreRun *run = store_run_begin(st, "t", "x", "", 0, &err);
    store_run_saw(run, "clean.c");
    store_run_saw(run, "gone.c");
    assert_true(store_run_end(run, NULL, &err));
    set = reread(st, set);
    assert_int_equal(set->nunused_suppressions, 1);
    assert_string_equal(set->unused_suppressions[0],
                        "clean.c:1: this suppression of t matches no finding");

    /* It is remembered; but an incomplete run says nothing. */
    report(st, "t", "x", NULL, 0, NULL);
    set = reread(st, set);
    assert_int_equal(set->nunused_suppressions, 1);
    report(st, "t", "x", NULL, 0, "half");
    write_text(p.root, "sundew.ignore", "t * (x)\n");
    set = reread(st, set);
    assert_int_equal(set->nunused_suppressions, 0);
    finding_set_free(set);
    store_close(st);
    project_free(&p);
}

static void an_unreadable_ignore_file_is_an_error(void **state)
{
    (void)state;
    Project p = project_new();
    char *path = path_join(p.root, "sundew.ignore");
    Err err = { 0 };
    assert_true(dir_make(path, &err));
    Store *st = must_open(":memory:", p.root);
    assert_null(store_read(st, NULL, NULL, &err));
    assert_non_null(strstr(err.msg, "sundew.ignore"));
    store_close(st);
    free(path);
    project_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finding_comes_back_as_it_went_in),
        cmocka_unit_test(a_run_replaces_the_earlier_one_of_its_scope),
        cmocka_unit_test(findings_come_in_the_order_of_the_source),
        cmocka_unit_test(a_title_is_short_and_the_evidence_below),
        cmocka_unit_test(a_finding_needs_a_rule_and_a_message),
        cmocka_unit_test(a_fingerprint_survives_edits_and_moves),
        cmocka_unit_test(a_checkout_behind_a_link_is_the_same_checkout),
        cmocka_unit_test(equal_findings_are_counted_in_source_order),
        cmocka_unit_test(hostile_text_is_kept_byte_for_byte),
        cmocka_unit_test(several_processes_write_at_once),
        cmocka_unit_test(a_kill_in_the_middle_loses_nothing),
        cmocka_unit_test(a_run_that_never_ends_leaves_the_earlier_one),
        cmocka_unit_test(an_old_schema_is_brought_up_to_date),
        cmocka_unit_test(a_newer_or_foreign_database_is_refused),
        cmocka_unit_test(a_damaged_file_says_what_to_do),
        cmocka_unit_test(values_out_of_range_do_no_harm),
        cmocka_unit_test(a_read_only_folder_can_be_read),
        cmocka_unit_test(opening_waits_for_another_process),
        cmocka_unit_test(every_failing_call_is_a_clean_error),
        cmocka_unit_test(a_full_disk_is_a_clean_error),
        cmocka_unit_test(no_memory_in_sqlite_is_a_clean_error),
        cmocka_unit_test(a_baseline_accepts_what_is_there),
        cmocka_unit_test(a_baseline_keeps_what_other_runs_accepted),
        cmocka_unit_test(a_broken_baseline_is_an_error),
        cmocka_unit_test(comments_suppress_the_line_they_mean),
        cmocka_unit_test(the_ignore_file_suppresses_by_pattern),
        cmocka_unit_test(a_suppression_may_stand_on_any_line_of_the_finding),
        cmocka_unit_test(a_suppression_counts_in_its_own_file_only),
        cmocka_unit_test(suppressions_are_judged_in_files_that_were_looked_at),
        cmocka_unit_test(an_unreadable_ignore_file_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
