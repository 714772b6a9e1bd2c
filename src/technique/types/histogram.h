/*
 * histogram - how often callers pass what, and who stands alone.
 *
 * There is one histogram for each thing that can be asked about a parameter
 * (a "key", see kinds.h). Its bins count callers by label:
 *
 *     bind  2  pointer        struct sockaddr_in   42
 *                             struct sockaddr_in6  20
 *                             struct config         1
 *
 * A bin has two counts. `own` is what the program at hand does; `known` is what
 * other programs do, from ready-made files and --corpus, together with the
 * number of programs it was seen in. Weights are fractions: a caller that may
 * pass one of two types counts half for each.
 *
 * Label of a constant: "const O_RDONLY". Constants are kept by name and folded
 * into families ("O_*") when the histogram is judged: histogram_view(). An enum
 * is "enum color"; the other labels that the judge knows stand below.
 *
 * A label deviates, after the rule that was published (N: all weight, K: number
 * of labels, T: weight of this label), if
 *
 *     N >= calls                                 enough evidence
 *     K <= kinds                                 not a parameter for everything
 *     (N - T)/(K - 1) - N/K >= drop              the label stands out
 *     all that deviates together <= share * N    and is the exception
 *
 * and, because that statistic grows with N, if besides
 *
 *     T <= sites                                 a slip, not a habit
 *     confidence >= threshold                    scale-free, see below
 *     at most one other program passes it too
 *
 * The confidence is one minus the exact binomial upper bound (95%) of the
 * label's share: 1 of 30 gives 0.85, 1 of 300 gives 0.98.
 */
#ifndef SUNDEW_TYPES_HISTOGRAM_H
#define SUNDEW_TYPES_HISTOGRAM_H
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

#define TRUTH        "bool"
#define CHARACTER    "a character constant"
#define NUMBER       "a number"
#define NULL_POINTER "a null pointer"
#define INT_ZERO     "the int 0"
#define AN_INT       "an int"
#define A_LONG       "a long"

typedef struct Bin {
    const char *label;
    double own, known;
    unsigned programs;         /* others that it was seen in */
} Bin;

typedef Vec(Bin) Bins;

typedef struct Histogram {
    const char *key;
    Bins bins;
    const char *declared;      /* a label that the declaration asks for; or NULL */
    bool any;                  /* a file says: everything is fine here */
} Histogram;

typedef struct Histograms {
    Arena arena;
    Map map;                   /* key to Histogram */
    Map texts;                 /* labels, each once */
} Histograms;

void histograms_release(Histograms *hs);

Histogram *histogram_find(const Histograms *hs, const char *key); /* or NULL */
Histogram *histogram_at(Histograms *hs, const char *key);   /* made if need be */
/* Adds `weight` callers of this program; a negative one takes them away. */
void histogram_add(Histograms *hs, Histogram *h, const char *label, double weight);
/* The declaration asks for this label: it counts like DECLARED callers. */
#define DECLARED 30
void histogram_declare(Histograms *hs, Histogram *h, const char *label);
/* What `other` has as its own becomes what one more program does. */
void histograms_learn(Histograms *hs, const Histograms *other);

/* ---- judging */

typedef struct Limits {
    double calls, kinds, drop, share, sites, threshold;
} Limits;
extern const Limits limits_default;   /* 30, 6, 10, 0.05, 3, 0.85 */
extern const Limits limits_recall;    /* 25, 10, 1, 0.5, 10, 0.5 */

/* A histogram with its constants folded into families. */
typedef struct ViewBin {
    const char *label;         /* "O_*" */
    double own, known;
    unsigned programs;
    unsigned names;            /* how many constants were folded; 0: no family */
} ViewBin;

typedef struct View {
    Vec(ViewBin) bins;         /* most weight first, then by label */
    double total;
    Arena arena;
} View;

void histogram_view(const Histogram *h, View *out);
void view_release(View *v);
/* Which bin a raw label went to. NULL: not there. */
const ViewBin *view_bin(const View *v, const Histogram *h, const char *label);

typedef struct Judgement {
    bool deviates;
    bool evidence;             /* enough callers, and not open to everything */
    double drop, confidence;   /* the latter only if all else says: deviates */
    const ViewBin *bin;        /* of the label; NULL: not in the histogram */
} Judgement;

/* Can anything be said for or against this label, given what is usual? */
bool view_compares(const View *v, const char *label);
Judgement view_judge(const View *v, const ViewBin *bin, const Limits *limits);

/* One minus the upper bound of the share that `t` of `n` shows. */
double share_confidence(double t, double n);

/* ---- files
 *
 * One row for each bin, sorted, fields separated by tabs:
 *
 *     key fields…  label  callers  programs
 *
 * '#' begins a comment line. A label "*" says that everything is fine there.
 */
bool histograms_read(Histograms *hs, const char *path, Err *err);
/* The own counts of all keys that `wanted` takes, as rows of one program. */
void histograms_write(const Histograms *hs, bool (*wanted)(const char *key), Str *out);
#endif
