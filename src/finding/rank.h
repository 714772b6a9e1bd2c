/*
 * rank - findings of several techniques on one scale, each trouble once.
 *
 *     Ranking *r = ranking_new(set, known, evidence_of, arg);
 *     for (size_t i = 0; i < r->len; i++)
 *         show(r->items[i].best, r->items[i].others);
 *     ranking_free(r);
 *
 * The scale is that of Evidence: shown by a run, shown by a run elsewhere, statistical, style.
 * A note is style, whatever shows it. New ones come first, then the better evidence, then the
 * level, then the place.
 *
 * Findings of different techniques at one line of one file are one trouble; so are failures that
 * one rule shows there (SIGSEGV, and the sanitizer's word for it). Nothing is lost: all of them are there, and
 * `same_as` of the others names the best.
 */
#ifndef SUNDEW_RANK_H
#define SUNDEW_RANK_H
#include "base/map.h"
#include "base/mem.h"
#include "finding/store.h"

typedef struct Trouble {
    const StoredFinding *best;
    const StoredFinding **others;    /* most are of other techniques */
    size_t nothers;
    bool is_new;
} Trouble;

typedef struct Ranking {
    Trouble *items;                  /* those that count for the exit status */
    size_t len;
    size_t nnew;
    size_t by_evidence[EVIDENCE_STYLE + 1];
    Arena arena;
} Ranking;

/* What a technique's likely findings rest on. */
typedef Evidence EvidenceOf(void *arg, const char *technique);

/* `known` has the fingerprints of findings that were there before; NULL: none. Also grades all
 * findings of the set. */
Ranking *ranking_new(FindingSet *set, const Map *known, EvidenceOf *of, void *arg);
void ranking_free(Ranking *r);
#endif
