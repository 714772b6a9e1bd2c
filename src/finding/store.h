/*
 * store - where findings live: .sundew/findings.db.
 *
 * A technique's run over a scope (a program, or the whole build) replaces the
 * findings of its earlier run over the same scope, in one transaction when the
 * run ends; until then, and after a kill, the earlier ones stand.
 *
 *     StoreRun *run = store_run_begin(st, "arguments", "build", cmdline, seed);
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

StoreRun *store_run_begin(Store *st, const char *technique, const char *scope,
                          const char *command, uint64_t seed, Err *err);
bool store_run_add(StoreRun *run, const Finding *f, Err *err);
/* Ends the run and frees it, on failure too. */
bool store_run_end(StoreRun *run, const char *incomplete, Err *err);

/*
 * What the store says about findings. They are in a stable order: file, line,
 * column, rule, fingerprint. Everything in it lives as long as it does.
 */
typedef struct StoredFinding {
    Finding finding;           /* where.file relative to the root if below it */
    char fingerprint[33];
    const char *technique;
    const char *suppressed;    /* the reason, if suppressed; else NULL */
    bool in_baseline;
} StoredFinding;

typedef struct StoredRun {
    const char *technique, *scope, *command, *when, *incomplete;
    uint64_t seed;
    size_t nfindings;
} StoredRun;

typedef struct FindingSet {
    StoredFinding *items;
    size_t len;
    StoredRun *runs;
    size_t nruns;
    const char *root;
    char **unused_suppressions;       /* "file:line: …", matched no finding */
    size_t nunused_suppressions;
} FindingSet;

/* All findings of the newest runs; of one technique, and of one scope, if
 * these are not NULL. Suppressions and the baseline are applied. */
FindingSet *store_read(Store *st, const char *technique, const char *scope,
                       Err *err);
void finding_set_free(FindingSet *set);
/* Findings that count for the exit status: not suppressed, not in the baseline. */
size_t finding_set_counting(const FindingSet *set);

/* The baseline: the fingerprints of findings that are accepted for now. It is
 * a text file in the project's root (sundew.baseline), to be committed. */
bool baseline_set(const FindingSet *set, const char *path, Err *err);
/* Drops entries that match no finding any more; says how many. */
bool baseline_prune(const FindingSet *set, const char *path, size_t *dropped,
                    Err *err);
#endif
