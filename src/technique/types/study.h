/*
 * study - a program's calls, the histograms made of them, and who deviates.
 *
 *     Study st;
 *     study_init(&st, ix, &limits_default);
 *     histograms_read(&st.hs, path, err);         what others do, if wanted
 *     study_count(&st);
 *     Deviations found = {0};
 *     study_judge(&st, &found);
 *     study_release(&st);
 */
#ifndef SUNDEW_TYPES_STUDY_H
#define SUNDEW_TYPES_STUDY_H
#include "base/rng.h"
#include "technique/types/histogram.h"
#include "technique/types/kinds.h"

typedef struct Study {
    const AstIndex *ix;
    Limits limits;
    Kinds kinds;
    Histograms hs;
    Sightings seen;            /* of all calls, in their order */
    size_t *first;             /* of each call, into seen; ncalls + 1 of them */
    Map views;                 /* key to View */
} Study;

void study_init(Study *st, const AstIndex *ix, const Limits *limits);
void study_release(Study *st);
void study_count(Study *st);

typedef struct Deviation {
    const AstCall *call;
    const Sighting *seen;
    const Histogram *histogram;
    const View *view;          /* lives as long as the study */
    Judgement judgement;
} Deviation;

typedef Vec(Deviation) Deviations;

/* At most one for each argument, in the order of the calls; the caller
 * releases the vector. */
void study_judge(Study *st, Deviations *out);
/* The same for one sighting. */
Judgement study_judge_one(Study *st, const Sighting *s, const View **view);

/* ---- the self-test: see selftest.c */
typedef struct SelfTest {
    size_t arguments;          /* all that show something */
    size_t evidence;           /* of these: enough callers to know what is usual */
    size_t seeds, found;
    size_t seeds_by[NASPECTS], found_by[NASPECTS];
    size_t others;             /* deviations without any seed */
} SelfTest;

void study_selftest(Study *st, size_t seeds, Rng *rng, SelfTest *out);
double selftest_recall(const SelfTest *t);      /* 0 without seeds */
double selftest_precision(const SelfTest *t);
#endif
