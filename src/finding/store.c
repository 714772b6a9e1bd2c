/*
 * The store: opening, and writing runs. store_read.c reads.
 *
 * A run collects its findings in memory and writes them in one transaction
 * when it ends. So nobody waits for a long run, a killed one leaves nothing
 * behind, and fingerprints are counted over all findings of the run.
 *
 *     run ──< finding ──< place        steps, related places, fixes
 *      │          └─────< attachment
 *     seen (technique, scope, file)    which files a run has looked at
 *
 * Texts are stored as they come, valid UTF-8 or not.
 */
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/vec.h"
#include "finding/fingerprint.h"
#include "finding/store_int.h"
#include <assert.h>

/* schema[v] takes version v to v + 1. Never change a row that was released:
 * add one. docs/findings.md describes the tables. */
static const char *const schema[] = {
    "CREATE TABLE run ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  technique TEXT NOT NULL,"
    "  scope TEXT NOT NULL,"
    "  command TEXT,"
    "  seed TEXT NOT NULL,"
    "  ended TEXT NOT NULL,"
    "  incomplete TEXT,"
    "  UNIQUE (technique, scope));"
    "CREATE TABLE finding ("
    "  id INTEGER PRIMARY KEY,"
    "  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
    "  fingerprint TEXT NOT NULL,"
    "  rule TEXT NOT NULL,"
    "  level INTEGER NOT NULL,"
    "  verdict INTEGER NOT NULL,"
    "  message TEXT NOT NULL,"
    "  file TEXT, line INTEGER, col INTEGER,"
    "  end_line INTEGER, end_col INTEGER, function TEXT,"
    "  anchor TEXT, rerun TEXT, picture TEXT, data TEXT);"
    "CREATE INDEX finding_run ON finding (run);"
    "CREATE TABLE place ("
    "  finding INTEGER NOT NULL REFERENCES finding ON DELETE CASCADE,"
    "  kind INTEGER NOT NULL,"
    "  file TEXT, line INTEGER, col INTEGER,"
    "  end_line INTEGER, end_col INTEGER, function TEXT,"
    "  text TEXT);"
    "CREATE INDEX place_finding ON place (finding);"
    "CREATE TABLE attachment ("
    "  finding INTEGER NOT NULL REFERENCES finding ON DELETE CASCADE,"
    "  name TEXT, kind TEXT, content BLOB);"
    "CREATE INDEX attachment_finding ON attachment (finding);"
    "CREATE TABLE seen ("
    "  technique TEXT NOT NULL, scope TEXT NOT NULL, file TEXT NOT NULL,"
    "  PRIMARY KEY (technique, scope, file)) WITHOUT ROWID;",
    /* How much a run looked at; and a row for each run that ended, for the trend. */
    "ALTER TABLE run ADD COLUMN examined TEXT;"
    "CREATE TABLE history ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  ended TEXT NOT NULL, technique TEXT NOT NULL, scope TEXT NOT NULL,"
    "  errors INTEGER NOT NULL, warnings INTEGER NOT NULL, notes INTEGER NOT NULL,"
    "  incomplete TEXT);",
    NULL,
};

Store *store_open(const char *path, const char *root, Err *err)
{
    Store *st = xcalloc(1, sizeof *st);
    st->path = xstrdup(path);
    st->root = path_absolute(root);
    st->real_root = path_real(root);
    st->db = db_open(path, &st->readonly, err);
    if (st->db && db_migrate(st->db, schema, err))
        return st;
    store_close(st);
    err_ctx(err, "findings store %s", path);
    return NULL;
}

void store_close(Store *st)
{
    if (!st)
        return;
    sqlite3_close(st->db);
    free(st->path);
    free(st->root);
    free(st->real_root);
    free(st);
}

bool store_check(const char *path, Err *err)
{
    Store *st = store_open(path, ".", err);
    sqlite3_stmt *q = st ? db_prepare(st->db, "PRAGMA quick_check(1)", err) : NULL;
    bool ok = q && db_step(q, err) == DB_ROW;
    const char *said = ok ? (const char *)sqlite3_column_text(q, 0) : NULL;
    if (ok && (!said || strcmp(said, "ok") != 0))
        ok = err_set(err, "the file is damaged: move it away and run the techniques again");
    sqlite3_finalize(q);
    store_close(st);
    return ok;
}

/* ---- a run: findings, copied into an arena */

struct StoreRun {
    Store *store;
    Arena arena;
    const char *technique, *scope, *command;
    uint64_t seed;
    Vec(const Finding *) findings;
    Vec(const char *) data;    /* of each, as JSON text; or NULL */
    Strings seen;
    const char *examined;      /* or NULL */
};

static const char *copy(Arena *a, const char *s) { return s ? arena_strdup(a, s) : NULL; }

StoreRun *store_run_begin(Store *st, const char *technique, const char *scope, const char *command,
                          uint64_t seed, Err *err)
{
    assert(technique && *technique && scope && *scope);     /* the key of a run */
    if (st->readonly) {
        err_set(err,
                "findings store %s: it can't be written: see who owns the "
                "file and its folder",
                st->path);
        return NULL;
    }
    StoreRun *run = xcalloc(1, sizeof *run);
    run->store = st;
    run->technique = copy(&run->arena, technique);
    run->scope = copy(&run->arena, scope);
    run->command = copy(&run->arena, command);
    run->seed = seed;
    return run;
}

void store_run_drop(StoreRun *run)
{
    if (!run)
        return;
    vec_release(&run->findings);
    vec_release(&run->data);
    strings_release(&run->seen);
    arena_release(&run->arena);
    free(run);
}

/* Relative to the root if below it, whichever way the root is spelt; else
 * absolute. */
static char *stored_path(const Store *st, const char *file)
{
    char *path = path_in(st->root, file);
    char *below = path_relative(path, st->root);
    if (*below == '/' && st->real_root) {
        free(below);
        below = path_relative(path, st->real_root);
    }
    free(path);
    return below;
}

static Location copy_place(StoreRun *run, Location at)
{
    at.function = copy(&run->arena, at.function);
    if (at.file) {
        char *path = stored_path(run->store, at.file);
        at.file = arena_strdup(&run->arena, path);
        free(path);
    }
    return at;
}

static EvidenceStep *copy_steps(StoreRun *run, const EvidenceStep *from, size_t n)
{
    EvidenceStep *to = arena_array(&run->arena, EvidenceStep, n);
    for (size_t i = 0; i < n; i++)
        to[i] = (EvidenceStep){ copy_place(run, from[i].at), copy(&run->arena, from[i].text) };
    return to;
}

static FixIt *copy_fixes(StoreRun *run, const FixIt *from, size_t n)
{
    FixIt *to = arena_array(&run->arena, FixIt, n);
    for (size_t i = 0; i < n; i++)
        to[i] = (FixIt){ copy_place(run, from[i].at), copy(&run->arena, from[i].text) };
    return to;
}

static Attachment *copy_attachments(StoreRun *run, const Attachment *from, size_t n)
{
    Attachment *to = arena_array(&run->arena, Attachment, n);
    for (size_t i = 0; i < n; i++)
        to[i] = (Attachment){
            copy(&run->arena, from[i].name), copy(&run->arena, from[i].kind),
            arena_strndup(&run->arena, from[i].size ? from[i].text : "", from[i].size), from[i].size
        };
    return to;
}

/* The title of a long message: whole characters, then an ellipsis. */
static const char *copy_title(Arena *a, const char *message)
{
    size_t n = FINDING_TITLE - strlen("…");
    if (strlen(message) <= FINDING_TITLE)
        return copy(a, message);
    while (n && ((unsigned char)message[n] & 0xc0) == 0x80)
        n--;
    return arena_printf(a, "%.*s…", (int)n, message);
}

/* The detail comes first, and a message that was cut before it. */
static void copy_evidence(StoreRun *run, const Finding *f, Finding *mine)
{
    EvidenceStep first[2];
    size_t n = 0;
    if (strlen(f->message) > FINDING_TITLE)
        first[n++] = (EvidenceStep){ .text = f->message };
    if (f->detail && *f->detail)
        first[n++] = (EvidenceStep){ .text = f->detail };
    EvidenceStep *all = arena_array(&run->arena, EvidenceStep, n + f->nsteps);
    EvidenceStep *details = copy_steps(run, first, n), *rest = copy_steps(run, f->steps, f->nsteps);
    for (size_t i = 0; i < n + f->nsteps; i++)
        all[i] = i < n ? details[i] : rest[i - n];
    mine->detail = NULL;
    mine->steps = all;
    mine->nsteps = n + f->nsteps;
}

bool store_run_add(StoreRun *run, const Finding *f, Err *err)
{
    if (!f->rule || !f->message)
        return err_set(err, "a finding without a rule or a message");
    assert(f->level <= LEVEL_NOTE && f->verdict <= VERDICT_UNDECIDED);
    assert(f->where.line >= 0 && f->where.column >= 0);
    Arena *a = &run->arena;
    Finding *mine = arena_new(a, Finding);
    *mine = *f;
    mine->rule = copy(a, f->rule);
    mine->message = copy_title(a, f->message);
    mine->where = copy_place(run, f->where);
    mine->anchor = copy(a, f->anchor);
    copy_evidence(run, f, mine);
    mine->related = copy_steps(run, f->related, f->nrelated);
    mine->attachments = copy_attachments(run, f->attachments, f->nattachments);
    mine->fixes = copy_fixes(run, f->fixes, f->nfixes);
    mine->rerun = copy(a, f->rerun);
    mine->picture = copy(a, f->picture);
    /* As text: the caller may change its object. */
    mine->data = NULL;
    char *data = f->data ? json_dumps(f->data, JSON_COMPACT) : NULL;
    vec_push(&run->data, copy(a, data));
    free(data);
    vec_push(&run->findings, mine);
    assert(run->findings.len == run->data.len);
    return true;
}

void store_run_saw(StoreRun *run, const char *file)
{
    char *path = stored_path(run->store, file);
    strings_add(&run->seen, path);
    free(path);
}

void store_run_examined(StoreRun *run, const char *text)
{
    run->examined = copy(&run->arena, text);
}

/* ---- writing it */

/* The statements that a run's end needs, prepared once. */
typedef struct Writer {
    sqlite3 *db;
    sqlite3_stmt *drop, *run, *finding, *place, *attachment, *seen, *history;
} Writer;

static bool writer_open(Writer *w, sqlite3 *db, Err *err)
{
    *w = (Writer){ .db = db };
    return (w->drop = db_prepare(db,
                                 "DELETE FROM run WHERE technique = ? "
                                 "AND scope = ?",
                                 err)) &&
           (w->run = db_prepare(db,
                                "INSERT INTO run VALUES (NULL, ?, ?, ?, ?, "
                                "strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, ?)",
                                err)) &&
           (w->history = db_prepare(db,
                                    "INSERT INTO history VALUES (NULL, "
                                    "strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, ?, ?, ?, ?, ?)",
                                    err)) &&
           (w->finding = db_prepare(db,
                                    "INSERT INTO finding VALUES (NULL, ?, "
                                    "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                    err)) &&
           (w->place = db_prepare(db,
                                  "INSERT INTO place VALUES (?, ?, ?, ?, ?, "
                                  "?, ?, ?, ?)",
                                  err)) &&
           (w->attachment = db_prepare(db,
                                       "INSERT INTO attachment VALUES "
                                       "(?, ?, ?, ?)",
                                       err)) &&
           (w->seen = db_prepare(db,
                                 "INSERT OR IGNORE INTO seen VALUES "
                                 "(?, ?, ?)",
                                 err));
}

static void writer_close(Writer *w)
{
    sqlite3_finalize(w->drop);
    sqlite3_finalize(w->run);
    sqlite3_finalize(w->finding);
    sqlite3_finalize(w->place);
    sqlite3_finalize(w->attachment);
    sqlite3_finalize(w->seen);
    sqlite3_finalize(w->history);
}

/* Six values, from parameter `i` on. */
static void bind_place(sqlite3_stmt *q, int i, const Location *at)
{
    db_bind(q, i, at->file);
    sqlite3_bind_int(q, i + 1, at->line);
    sqlite3_bind_int(q, i + 2, at->column);
    sqlite3_bind_int(q, i + 3, at->end_line);
    sqlite3_bind_int(q, i + 4, at->end_column);
    db_bind(q, i + 5, at->function);
}

static bool write_place(Writer *w, sqlite3_int64 id, int kind, const Location *at, const char *text,
                        Err *err)
{
    sqlite3_bind_int64(w->place, 1, id);
    sqlite3_bind_int(w->place, 2, kind);
    bind_place(w->place, 3, at);
    db_bind(w->place, 9, text);
    return db_run(w->place, err);
}

static bool write_attachment(Writer *w, sqlite3_int64 id, const Attachment *at, Err *err)
{
    sqlite3_bind_int64(w->attachment, 1, id);
    db_bind(w->attachment, 2, at->name);
    db_bind(w->attachment, 3, at->kind);
    db_bind_blob(w->attachment, 4, at->text, at->size);
    return db_run(w->attachment, err);
}

static bool write_parts(Writer *w, sqlite3_int64 id, const Finding *f, Err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < f->nsteps; i++)
        ok = write_place(w, id, PLACE_STEP, &f->steps[i].at, f->steps[i].text, err);
    for (size_t i = 0; ok && i < f->nrelated; i++)
        ok = write_place(w, id, PLACE_RELATED, &f->related[i].at, f->related[i].text, err);
    for (size_t i = 0; ok && i < f->nfixes; i++)
        ok = write_place(w, id, PLACE_FIX, &f->fixes[i].at, f->fixes[i].text, err);
    for (size_t i = 0; ok && i < f->nattachments; i++)
        ok = write_attachment(w, id, &f->attachments[i], err);
    return ok;
}

static bool write_finding(Writer *w, sqlite3_int64 run, const Finding *f, const char *data,
                          const char *fingerprint, Err *err)
{
    sqlite3_stmt *q = w->finding;
    sqlite3_bind_int64(q, 1, run);
    db_bind(q, 2, fingerprint);
    db_bind(q, 3, f->rule);
    sqlite3_bind_int(q, 4, f->level);
    sqlite3_bind_int(q, 5, f->verdict);
    db_bind(q, 6, f->message);
    bind_place(q, 7, &f->where);
    db_bind(q, 13, f->anchor);
    db_bind(q, 14, f->rerun);
    db_bind(q, 15, f->picture);
    db_bind(q, 16, data);
    return db_run(q, err) && write_parts(w, sqlite3_last_insert_rowid(w->db), f, err);
}

static bool write_seen(Writer *w, const StoreRun *run, const char *file, Err *err)
{
    db_bind(w->seen, 1, run->technique);
    db_bind(w->seen, 2, run->scope);
    db_bind(w->seen, 3, file);
    return db_run(w->seen, err);
}

static bool write_run(Writer *w, const StoreRun *run, const char *incomplete, sqlite3_int64 *id,
                      Err *err)
{
    char seed[32];
    sqlite3_snprintf(sizeof seed, seed, "%llu", (unsigned long long)run->seed);
    db_bind(w->drop, 1, run->technique);
    db_bind(w->drop, 2, run->scope);
    db_bind(w->run, 1, run->technique);
    db_bind(w->run, 2, run->scope);
    db_bind(w->run, 3, run->command);
    db_bind(w->run, 4, seed);
    db_bind(w->run, 5, incomplete);
    db_bind(w->run, 6, run->examined);
    bool ok = db_run(w->drop, err) && db_run(w->run, err);
    *id = sqlite3_last_insert_rowid(w->db);
    assert(!ok || *id > 0);
    return ok;
}

static bool write_history(Writer *w, const StoreRun *run, const char *incomplete,
                          char (*prints)[ID_LEN + 1], Err *err)
{
    int count[LEVEL_NOTE + 1] = { 0 };
    for (size_t i = 0; i < run->findings.len; i++)
        count[run->findings.items[i]->level] += *prints[i] != 0;
    db_bind(w->history, 1, run->technique);
    db_bind(w->history, 2, run->scope);
    for (int level = LEVEL_ERROR; level <= LEVEL_NOTE; level++)
        sqlite3_bind_int(w->history, 3 + level, count[level]);
    db_bind(w->history, 6, incomplete);
    return db_run(w->history, err);
}

static bool write_all(Writer *w, const StoreRun *run, const char *incomplete,
                      char (*prints)[ID_LEN + 1], Err *err)
{
    sqlite3_int64 id = 0;
    bool ok =
        write_run(w, run, incomplete, &id, err) && write_history(w, run, incomplete, prints, err);
    for (size_t i = 0; ok && i < run->seen.len; i++)
        ok = write_seen(w, run, run->seen.items[i], err);
    for (size_t i = 0; ok && i < run->findings.len; i++) {
        const Finding *f = run->findings.items[i];
        if (*prints[i])
            ok = write_finding(w, id, f, run->data.items[i], prints[i], err) &&
                 (!f->where.file || write_seen(w, run, f->where.file, err));
    }
    return ok;
}

bool store_run_end(StoreRun *run, const char *incomplete, Err *err)
{
    sqlite3 *db = run->store->db;
    size_t n = run->findings.len;
    char(*prints)[ID_LEN + 1] = xcalloc(n ? n : 1, sizeof *prints);
    Sources *sources = sources_new(run->store->root);
    fingerprints(run->findings.items, n, sources, prints);
    sources_free(sources);

    Writer w = { 0 };
    bool ok = db_exec(db, "BEGIN IMMEDIATE", err) && writer_open(&w, db, err) &&
              write_all(&w, run, incomplete, prints, err) && db_exec(db, "COMMIT", err);
    writer_close(&w);
    if (!ok) {
        if (!sqlite3_get_autocommit(db))
            sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
        err_ctx(err, "findings store %s", run->store->path);
    }
    free(prints);
    store_run_drop(run);
    return ok;
}

bool store_forget(Store *st, const char *technique, const char *scope, Err *err)
{
    sqlite3_stmt *q = db_prepare(st->db, "DELETE FROM run WHERE technique = ? AND scope = ?", err);
    if (q) {
        db_bind(q, 1, technique);
        db_bind(q, 2, scope);
    }
    bool ok = q && db_run(q, err);
    sqlite3_finalize(q);
    return ok || err_ctx(err, "findings store %s", st->path);
}
