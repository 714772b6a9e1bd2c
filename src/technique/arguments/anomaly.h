/*
 * anomaly - names that stand in an unusual order.
 *
 * The back end of `arguments`: it knows examples (tuples of names), nothing
 * of C. The first examples are the declarations.
 *
 *     Group *g = group_new(words, 2);
 *     Name decl[] = { { .text = "high" }, { .text = "low" } };
 *     group_add(g, decl, DECLARATION_WEIGHT);
 *     … group_add(g, names, 1) for each call
 *     group_finish(g);
 *     Anomaly a;
 *     if (group_judge(g, example, NULL, &plan, &a)) … a.confidence …
 *
 * Similarity of two names is the cosine of their words' TF-IDF weights; the
 * corpus is all names of the group. A score says how much better a name fits
 * another position than its own, compared with the other examples:
 *
 *     sim(n,i)    weighted mean similarity of n to the names at i
 *     assign(n,i) max(0, sim(n,i) - mean of sim(n,j) over the other j)
 *     confidence  2/m² · sum over n of assign(n,P(n)) - assign(n,current(n))
 *
 * for the best permutation P of m names. With two names this is the mean,
 * over the examples, of half of what both names win by the exchange, so each
 * example casts a vote between -1 and 1.
 *
 * The vote is taken in families: among the examples that are at least 0, 10,
 * …, 100 % similar, as sets of names, to the one in question. Competing ways
 * to name things (start and end, first and last) thus do not blur each other.
 */
#ifndef SUNDEW_ARGUMENTS_ANOMALY_H
#define SUNDEW_ARGUMENTS_ANOMALY_H
#include "technique/arguments/names.h"
#include <stdbool.h>

typedef struct Group Group;

enum { MOST_SUBSET = 4 };

/* Beside its name, what is known of an argument. */
typedef enum { TRAIT_TYPE, TRAIT_ENUM, TRAIT_FORM, TRAITS } Trait;

/* A NULL text is a wildcard: no name is known. Equal texts, owners and traits
 * need not be the same pointers, traits do. */
typedef struct Name {
    const char *text;
    const char *owner;         /* secondary words; or NULL */
    bool lent;                 /* counts half */
    const void *traits[TRAITS];     /* NULL: none */
} Name;

typedef struct Anomaly {
    size_t example;
    unsigned size;                      /* 2 to 4 positions take part */
    unsigned from[MOST_SUBSET];         /* what stands at from[i] … */
    unsigned to[MOST_SUBSET];           /* … belongs to to[i] */
    double confidence;
    double declared;                    /* the declaration's vote, -1 … 1 */
    double gains[MOST_SUBSET];          /* of it, what each name gains */
    double weakest;                     /* the least of these */
    double called;                      /* the mean vote of calls in the family */
    unsigned agree, family;             /* calls that vote for it; all in it */
    unsigned total;                     /* calls with names at these positions */
    unsigned for_it, against;           /* of these: clear votes */
    double level;                       /* of the family that gave the hit */
} Anomaly;

/* The published algorithm is { .threshold = 0.4, .family = 2 }. Beyond it, a
 * hit may be asked to have support: the declaration's, or that of so many
 * calls, four for each one against. */
typedef struct JudgePlan {
    double threshold;
    unsigned family;           /* the least size of a family, itself included */
    double declared;           /* the declaration's vote that is support */
    unsigned agree;            /* so many calls are, too; 0: nothing is asked */
    /* The last word on a hit; NULL: all are fine. */
    bool (*accept)(const Anomaly *a, void *arg);
    void *arg;
} JudgePlan;

Group *group_new(Words *w, unsigned positions);
void group_free(Group *g);
/* Declarations come first. Names are copied by pointer. Returns its number. */
size_t group_add(Group *g, const Name *names, double weight, bool declaration);
void group_finish(Group *g);

/* Judges an example, whose names stand in the order `order` (NULL: as they
 * are). False: nothing above the threshold. */
bool group_judge(Group *g, size_t example, const unsigned *order, const JudgePlan *plan,
                 Anomaly *out);

/*
 * The same question to the declarations alone, by the words that differ: those
 * that both names of a pair have (cutoff_tz, cutoff_cnt) say nothing about
 * their order and are left out on either side; what remains is compared
 * plainly. Both names must fit the other place.
 */
bool group_judge_words(Group *g, size_t example, const unsigned *order, const JudgePlan *plan,
                       Anomaly *out);

/* How the example `other` votes on an anomaly: -1 … 1; 0 also if it has no
 * names there. */
double group_vote(Group *g, const Anomaly *a, const unsigned *order, size_t other);

/*
 * What the calls are used to: the log odds that the names at `i` and `j` stand
 * exchanged, by how often their words and traits are seen at either position
 * in the other examples. Both must have a name.
 */
typedef struct Habit {
    unsigned i, j;
    double odds;               /* natural logarithm; 0: nothing known */
    double first, second;      /* of this: by the name at i, at j */
    unsigned calls;
} Habit;
/* The best pair, if any has odds above `threshold`. */
bool group_habit(Group *g, size_t example, const unsigned *order, double threshold, Habit *out);

/* Does the argument at `at` show something (a word, its name) that many calls have at `to`, and
 * hardly one here? */
bool group_belongs(Group *g, size_t example, const unsigned *order, unsigned at, unsigned to);
/* For one pair; false: not both have a name. */
bool group_habit_at(Group *g, size_t example, const unsigned *order, unsigned i, unsigned j,
                    Habit *out);

double group_similarity(Group *g, const Name *a, const Name *b);
#endif
