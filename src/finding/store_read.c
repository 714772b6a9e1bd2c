/*
 * Reading the store: all into one arena, in one transaction, so that a run
 * that ends meanwhile is seen whole or not at all.
 */
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/vec.h"
#include "finding/baseline.h"
#include "finding/store_int.h"
#include "finding/suppress.h"
#include <assert.h>

/* A set with what it owns. */
typedef struct Owner {
    FindingSet set;            /* first: finding_set_free() gets its address */
    Arena arena;
} Owner;

/* While reading. Ids of findings and runs are kept beside the set's arrays. */
typedef struct Reader {
    sqlite3 *db;
    Arena *a;
    Vec(StoredFinding) items;
    Vec(StoredRun) runs;
    Vec(PastRun) history;
    Vec(sqlite3_int64) run_ids;
    Vec(SeenFile) seen;
    Map by_fingerprint, by_file;
    sqlite3_stmt *places, *attachments;
} Reader;

static const char *text(Reader *r, sqlite3_stmt *q, int column)
{
    const char *s = (const char *)sqlite3_column_text(q, column);
    return s ? arena_strdup(r->a, s) : NULL;
}

static const char *text_or(Reader *r, sqlite3_stmt *q, int column, const char *otherwise)
{
    const char *s = text(r, q, column);
    return s ? s : otherwise;
}

/* Numbers that index tables, or that code counts with: whatever the file
 * says, they are in range here. */
static int number(sqlite3_stmt *q, int column, int most)
{
    sqlite3_int64 n = sqlite3_column_int64(q, column);
    return n < 0 ? 0 : n > most ? most : (int)n;
}

static Location place(Reader *r, sqlite3_stmt *q, int i)
{
    enum { MOST = 0x7ffffff0 };
    return (Location){ .file = text(r, q, i),
                       .line = number(q, i + 1, MOST),
                       .column = number(q, i + 2, MOST),
                       .end_line = number(q, i + 3, MOST),
                       .end_column = number(q, i + 4, MOST),
                       .function = text(r, q, i + 5) };
}

static bool read_runs(Reader *r, const char *technique, const char *scope, Err *err)
{
    sqlite3_stmt *q =
        db_prepare(r->db,
                   "SELECT id, technique, scope, command, seed, ended, incomplete, examined "
                   "FROM run WHERE (?1 IS NULL OR technique = ?1) "
                   "AND (?2 IS NULL OR scope = ?2) ORDER BY technique, scope",
                   err);
    if (!q)
        return false;
    db_bind(q, 1, technique);
    db_bind(q, 2, scope);
    int row;
    while ((row = db_step(q, err)) == DB_ROW) {
        StoredRun run = { .technique = text_or(r, q, 1, ""),
                          .scope = text_or(r, q, 2, ""),
                          .command = text_or(r, q, 3, ""),
                          .when = text_or(r, q, 5, ""),
                          .incomplete = text(r, q, 6),
                          .examined = text(r, q, 7) };
        run.seed = strtoull(text_or(r, q, 4, "0"), NULL, 10);
        vec_push(&r->runs, run);
        vec_push(&r->run_ids, sqlite3_column_int64(q, 0));
    }
    sqlite3_finalize(q);
    return row == DB_DONE;
}

static bool read_history(Reader *r, const char *technique, const char *scope, Err *err)
{
    sqlite3_stmt *q = db_prepare(r->db,
                                 "SELECT * FROM (SELECT id, technique, scope, ended, incomplete, "
                                 "errors, warnings, notes FROM history "
                                 "WHERE (?1 IS NULL OR technique = ?1) "
                                 "AND (?2 IS NULL OR scope = ?2) ORDER BY id DESC LIMIT 400) "
                                 "ORDER BY id",
                                 err);
    if (!q)
        return false;
    db_bind(q, 1, technique);
    db_bind(q, 2, scope);
    int row;
    while ((row = db_step(q, err)) == DB_ROW) {
        PastRun run = { .technique = text_or(r, q, 1, ""),
                        .scope = text_or(r, q, 2, ""),
                        .when = text_or(r, q, 3, ""),
                        .incomplete = text(r, q, 4) };
        for (int level = LEVEL_ERROR; level <= LEVEL_NOTE; level++)
            run.level[level] = (size_t)number(q, 5 + level, 0x7ffffff0);
        vec_push(&r->history, run);
    }
    sqlite3_finalize(q);
    return row == DB_DONE;
}

/* Steps, related places and fixes of one finding. */
static bool read_places(Reader *r, Finding *f, sqlite3_int64 id, Err *err)
{
    Vec(EvidenceStep) lists[2] = { 0 };
    Vec(FixIt) fixes = { 0 };
    int row;
    sqlite3_bind_int64(r->places, 1, id);
    while ((row = db_step(r->places, err)) == DB_ROW) {
        Location at = place(r, r->places, 1);
        const char *says = text_or(r, r->places, 7, "");
        int kind = number(r->places, 0, PLACE_FIX);
        assert(kind >= PLACE_STEP && kind <= PLACE_FIX);
        if (kind == PLACE_FIX)
            vec_push(&fixes, ((FixIt){ at, says }));
        else
            vec_push(&lists[kind], ((EvidenceStep){ at, says }));
    }
    sqlite3_reset(r->places);
    f->nsteps = lists[PLACE_STEP].len;
    f->nrelated = lists[PLACE_RELATED].len;
    f->nfixes = fixes.len;
    EvidenceStep *steps = arena_array(r->a, EvidenceStep, f->nsteps);
    EvidenceStep *related = arena_array(r->a, EvidenceStep, f->nrelated);
    FixIt *fix = arena_array(r->a, FixIt, f->nfixes);
    for (size_t i = 0; i < f->nsteps; i++)
        steps[i] = lists[PLACE_STEP].items[i];
    for (size_t i = 0; i < f->nrelated; i++)
        related[i] = lists[PLACE_RELATED].items[i];
    for (size_t i = 0; i < f->nfixes; i++)
        fix[i] = fixes.items[i];
    f->steps = steps;
    f->related = related;
    f->fixes = fix;
    vec_release(&lists[PLACE_STEP]);
    vec_release(&lists[PLACE_RELATED]);
    vec_release(&fixes);
    return row == DB_DONE;
}

static bool read_attachments(Reader *r, Finding *f, sqlite3_int64 id, Err *err)
{
    Vec(Attachment) list = { 0 };
    int row;
    sqlite3_bind_int64(r->attachments, 1, id);
    while ((row = db_step(r->attachments, err)) == DB_ROW) {
        const void *content = sqlite3_column_blob(r->attachments, 2);
        size_t size = (size_t)sqlite3_column_bytes(r->attachments, 2);
        size = content ? size : 0;
        Attachment at = { .name = text_or(r, r->attachments, 0, ""),
                          .kind = text_or(r, r->attachments, 1, ""),
                          .text = arena_strndup(r->a, size ? content : "", size),
                          .size = size };
        vec_push(&list, at);
    }
    sqlite3_reset(r->attachments);
    Attachment *all = arena_array(r->a, Attachment, list.len);
    for (size_t i = 0; i < list.len; i++)
        all[i] = list.items[i];
    f->attachments = all;
    f->nattachments = list.len;
    vec_release(&list);
    return row == DB_DONE;
}

static bool read_finding(Reader *r, sqlite3_stmt *q, const StoredRun *run, Err *err)
{
    StoredFinding s = { .technique = run->technique };
    snprintf(s.fingerprint, sizeof s.fingerprint, "%s", text_or(r, q, 1, ""));
    /* Newer runs come first: an older one, of another scope, adds nothing. */
    if (!map_put(&r->by_fingerprint, s.fingerprint, NULL))
        return true;
    Finding *f = &s.finding;
    f->rule = text_or(r, q, 2, "");
    f->level = (Level)number(q, 3, LEVEL_NOTE);
    f->verdict = (FindingVerdict)number(q, 4, VERDICT_UNDECIDED);
    f->message = text_or(r, q, 5, "");
    f->where = place(r, q, 6);
    f->anchor = text(r, q, 12);
    f->rerun = text(r, q, 13);
    f->picture = text(r, q, 14);
    const char *data = text(r, q, 15);
    f->data = data ? json_loads(data, 0, NULL) : NULL;
    vec_push(&r->items, s);
    sqlite3_int64 id = sqlite3_column_int64(q, 0);
    StoredFinding *kept = &r->items.items[r->items.len - 1];
    return read_places(r, &kept->finding, id, err) && read_attachments(r, &kept->finding, id, err);
}

static bool read_findings(Reader *r, size_t run, Err *err)
{
    sqlite3_stmt *q =
        db_prepare(r->db,
                   "SELECT id, fingerprint, rule, level, verdict, message, file, line, "
                   "col, end_line, end_col, function, anchor, rerun, picture, data "
                   "FROM finding WHERE run = ?",
                   err);
    if (!q)
        return false;
    int row;
    bool ok = true;
    sqlite3_bind_int64(q, 1, r->run_ids.items[run]);
    while (ok && (row = db_step(q, err)) != DB_DONE) {
        ok = row == DB_ROW && read_finding(r, q, &r->runs.items[run], err);
        r->runs.items[run].nfindings += ok;
    }
    sqlite3_finalize(q);
    return ok;
}

static bool read_seen(Reader *r, const StoredRun *run, Err *err)
{
    sqlite3_stmt *q = db_prepare(r->db,
                                 "SELECT file FROM seen WHERE "
                                 "technique = ? AND scope = ?",
                                 err);
    if (!q)
        return false;
    db_bind(q, 1, run->technique);
    db_bind(q, 2, run->scope);
    int row;
    while ((row = db_step(q, err)) == DB_ROW) {
        const char *file = text_or(r, q, 0, "");
        void **slot = map_slot(&r->by_file, file);
        if (!*slot) {
            vec_push(&r->seen, ((SeenFile){ .path = file }));
            *slot = (void *)r->seen.len;
        }
        if (!run->incomplete)
            strings_add(&r->seen.items[(size_t)*slot - 1].techniques, run->technique);
    }
    sqlite3_finalize(q);
    return row == DB_DONE;
}

/* The runs, newest first. */
static size_t *by_age(Reader *r)
{
    assert(r->runs.len == r->run_ids.len);
    size_t *order = arena_array(r->a, size_t, r->runs.len);
    for (size_t i = 0; i < r->runs.len; i++) {
        size_t k = i;
        for (; k && r->run_ids.items[order[k - 1]] < r->run_ids.items[i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    return order;
}

static bool read_rows(Reader *r, const char *technique, const char *scope, Err *err)
{
    bool ok = read_runs(r, technique, scope, err) && read_history(r, technique, scope, err) &&
              (r->places = db_prepare(r->db,
                                      "SELECT kind, file, line, col, end_line, end_col, function, "
                                      "text FROM place WHERE finding = ? ORDER BY rowid",
                                      err)) &&
              (r->attachments = db_prepare(r->db,
                                           "SELECT name, kind, content FROM attachment "
                                           "WHERE finding = ? ORDER BY rowid",
                                           err));
    size_t *order = by_age(r);
    for (size_t i = 0; ok && i < r->runs.len; i++)
        ok = read_findings(r, order[i], err) && read_seen(r, &r->runs.items[order[i]], err);
    sqlite3_finalize(r->places);
    sqlite3_finalize(r->attachments);
    return ok;
}

static int compare_text(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : ""); }

static int by_place(const void *a, const void *b)
{
    const StoredFinding *x = a, *y = b;
    const Location *p = &x->finding.where, *q = &y->finding.where;
    int c = compare_text(p->file, q->file);
    if (c == 0)
        c = (p->line > q->line) - (p->line < q->line);
    if (c == 0)
        c = (p->column > q->column) - (p->column < q->column);
    if (c == 0)
        c = strcmp(x->finding.rule, y->finding.rule);
    return c ? c : strcmp(x->fingerprint, y->fingerprint);
}

void finding_set_check(const FindingSet *set)
{
    for (size_t i = 0; i < set->len; i++) {
        const StoredFinding *f = &set->items[i];
        assert(f->finding.rule && f->finding.message && f->technique);
        assert(f->finding.level <= LEVEL_NOTE && f->finding.verdict <= VERDICT_UNDECIDED);
        assert(f->finding.where.line >= 0 && f->finding.where.column >= 0);
        assert(f->suppressed || !f->suppressed_at);
        assert(!i || by_place(f - 1, f) < 0);        /* and so each is there once */
    }
    assert(finding_set_counting(set) <= set->len);
}

static void fill_set(FindingSet *set, Reader *r)
{
    set->len = r->items.len;
    set->items = arena_array(r->a, StoredFinding, set->len);
    for (size_t i = 0; i < set->len; i++)
        set->items[i] = r->items.items[i];
    qsort(set->items, set->len, sizeof *set->items, by_place);
    set->nruns = r->runs.len;
    set->runs = arena_array(r->a, StoredRun, set->nruns);
    for (size_t i = 0; i < set->nruns; i++)
        set->runs[i] = r->runs.items[i];
    set->nhistory = r->history.len;
    set->history = arena_array(r->a, PastRun, set->nhistory);
    for (size_t i = 0; i < set->nhistory; i++)
        set->history[i] = r->history.items[i];
}

static bool apply_baseline(FindingSet *set, Err *err)
{
    char *path = path_join(set->root, BASELINE_FILE);
    Map entries = { 0 };
    bool ok = baseline_read(path, &entries, err);
    for (size_t i = 0; i < set->len; i++)
        set->items[i].in_baseline = map_has(&entries, set->items[i].fingerprint);
    baseline_release(&entries);
    free(path);
    return ok;
}

static void reader_release(Reader *r)
{
    for (size_t i = 0; i < r->seen.len; i++)
        strings_release(&r->seen.items[i].techniques);
    vec_release(&r->seen);
    vec_release(&r->items);
    vec_release(&r->runs);
    vec_release(&r->history);
    vec_release(&r->run_ids);
    map_release(&r->by_fingerprint);
    map_release(&r->by_file);
}

FindingSet *store_read(Store *st, const char *technique, const char *scope, Err *err)
{
    Owner *o = xcalloc(1, sizeof *o);
    FindingSet *set = &o->set;
    Reader r = { .db = st->db, .a = &o->arena };
    set->root = arena_strdup(&o->arena, st->root);

    bool ok = db_exec(st->db, "BEGIN", err);
    ok = ok && read_rows(&r, technique, scope, err);
    if (!sqlite3_get_autocommit(st->db))
        sqlite3_exec(st->db, "ROLLBACK", NULL, NULL, NULL);    /* only read */
    if (!ok)
        err_ctx(err, "findings store %s", st->path);
    fill_set(set, &r);

    Sources *sources = sources_new(st->root);
    ok = ok && suppressions_apply(set, r.seen.items, r.seen.len, !scope, sources, &o->arena, err) &&
         apply_baseline(set, err);
    sources_free(sources);
    reader_release(&r);
    if (ok) {
        finding_set_check(set);
        return set;
    }
    finding_set_free(set);
    return NULL;
}

void finding_set_free(FindingSet *set)
{
    if (!set)
        return;
    Owner *o = (Owner *)set;
    for (size_t i = 0; i < set->len; i++)
        json_decref(set->items[i].finding.data);
    arena_release(&o->arena);
    free(o);
}

bool finding_counts(const StoredFinding *f) { return !f->suppressed && !f->in_baseline; }

bool finding_fails(const StoredFinding *f)
{
    return finding_counts(f) && f->finding.level != LEVEL_NOTE;
}

bool finding_set_is_bad(const FindingSet *set)
{
    for (size_t i = 0; i < set->len; i++)
        if (finding_fails(&set->items[i]))
            return true;
    return false;
}

size_t finding_set_counting(const FindingSet *set)
{
    size_t n = 0;
    for (size_t i = 0; i < set->len; i++)
        n += finding_counts(&set->items[i]);
    return n;
}
