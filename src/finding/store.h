/*
 * store - where findings live: .sundew/findings.db.
 *
 * A technique's run over a scope (a program, or the whole build) replaces the
 * findings of its earlier run over the same scope, in one transaction when the
 * run ends; until then, and after a kill, the earlier ones stand.
 *
 *     StoreRun *run = store_run_begin(st, "arguments", "build", cmdline, seed, err);
 *     store_run_add(run, &finding, err);
 *     store_run_end(run, NULL, err);       or the reason why it is incomplete
 *
 * Several processes may use one store at the same time. The schema has a
 * version; an older one is migrated, a newer one refused with a message.
 */
#ifndef SUNDEW_STORE_H
#define SUNDEW_STORE_H
#include "finding/finding.h"
#include <stdint.h>

typedef struct Store Store;
typedef struct StoreRun StoreRun;

/* `root` is the project's folder: paths below it are stored relative to it. */
Store *store_open(const char *path, const char *root, Err *err);
void store_close(Store *st);                          /* NULL is fine */
/* Is the file whole? */
bool store_check(const char *path, Err *err);

/* Drops the run over this scope and its findings; one that is not there is no error. */
bool store_forget(Store *st, const char *technique, const char *scope, Err *err);

StoreRun *store_run_begin(Store *st, const char *technique, const char *scope, const char *command,
                          uint64_t seed, Err *err);
bool store_run_add(StoreRun *run, const Finding *f, Err *err);
/* The run looked at this file, with or without a finding. Suppressions in it
 * that match nothing are then reported. (Files with findings are known.) */
void store_run_saw(StoreRun *run, const char *file);
/* How much the run looked at: "3,412 calls in 41 units". */
void store_run_examined(StoreRun *run, const char *text);
/* Ends the run and frees it, on failure too. */
bool store_run_end(StoreRun *run, const char *incomplete, Err *err);
/* Frees it without a trace: the earlier run stands. NULL is fine. */
void store_run_drop(StoreRun *run);

/*
 * What the store says about findings. They are in a stable order: file, line,
 * column, rule, fingerprint. Everything in it lives as long as it does.
 */
typedef struct StoredFinding {
    Finding finding;           /* where.file relative to the root if below it */
    char fingerprint[33];
    const char *technique;
    const char *suppressed;    /* the reason, if suppressed; else NULL */
    const char *suppressed_at; /* "src/a.c:12", where that is said; or NULL */
    bool suppressed_in_source; /* by a comment, not by sundew.ignore */
    bool in_baseline;
    Evidence evidence;         /* EVIDENCE_UNKNOWN, unless ranking_new() graded it */
    const char *same_as;       /* the fingerprint of another technique's finding that tells of
                                * the same trouble better; NULL: none */
} StoredFinding;

typedef struct StoredRun {
    const char *technique, *scope, *command, *when, *incomplete;
    const char *examined;      /* how much it looked at; or NULL */
    uint64_t seed;
    size_t nfindings;
} StoredRun;

/* A run that ended, this one or an earlier one, and its findings by level. */
typedef struct PastRun {
    const char *technique, *scope, *when, *incomplete;
    size_t level[LEVEL_NOTE + 1];
} PastRun;

typedef struct FindingSet {
    StoredFinding *items;
    size_t len;
    StoredRun *runs;
    size_t nruns;
    PastRun *history;                 /* of the same techniques, oldest first; the */
    size_t nhistory;                  /* newest few hundred */
    const char *root;
    char **unused_suppressions;       /* "file:line: …": matched no finding, or
                                         does not count for want of a reason */
    size_t nunused_suppressions;
} FindingSet;

/* All findings of the newest runs; of one technique, and of one scope, if
 * these are not NULL. A finding that runs over several scopes have in common
 * is there once. Suppressions (comments, and the root's sundew.ignore) and the
 * baseline are applied. */
FindingSet *store_read(Store *st, const char *technique, const char *scope, Err *err);
void finding_set_free(FindingSet *set);
/* Asserts what always holds of a set: its order, ranges, texts that are there. */
void finding_set_check(const FindingSet *set);
/* Findings that count for the exit status: not suppressed, not in the baseline. */
bool finding_counts(const StoredFinding *f);
size_t finding_set_counting(const FindingSet *set);
/* Does one of them have to be mended? Notes are remarks and suggestions. */
bool finding_fails(const StoredFinding *f);
bool finding_set_is_bad(const FindingSet *set);

/*
 * The baseline: the fingerprints of findings that are accepted for now. It is
 * a text file in the project's root, to be committed; docs/findings.md shows
 * it. Entries of techniques that have no run in `set` stay as they are, so
 * that a partial run never forgets what another one accepted.
 */
#define BASELINE_FILE "sundew.baseline"
bool baseline_set(const FindingSet *set, const char *path, Err *err);
/* Drops entries that match no finding any more; says how many. Those of a
 * technique that has an incomplete run stay. */
bool baseline_prune(const FindingSet *set, const char *path, size_t *dropped, Err *err);
#endif
