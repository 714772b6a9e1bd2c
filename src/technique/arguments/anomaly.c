#include "technique/arguments/anomaly.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    LEVELS = 11,               /* families at 0, 10, …, 100 % */
    MOST_VOTERS = 400,         /* examples that are asked about one */
    MOST_POSITIONS_FOR_CYCLES = 8,
};

/* A clear vote: for, or against, an exchange. */
static const double clear_vote = 0.25;
/* What an owner's words count beside the name's. */
static const double owner_share = 0.5;
/* So that names of nothing but common words still equal themselves. */
static const double tiny = 1e-6;

typedef struct Term {
    uint32_t word;
    float weight;
} Term;

/* A distinct name of the group, as a unit vector. */
typedef struct Vector {
    Tokens words, owner;
    Term *terms;
    unsigned n;
} Vector;

enum { MOST_FEATURES = 2 * MOST_TOKENS + 1 + TRAITS };

/* What an argument shows: a word, its whole name, a trait. Counts are kept in
 * Group.counts from `row` on, one for each position. */
typedef struct Features {
    uint32_t rows[MOST_FEATURES];
    float weights[MOST_FEATURES];
    unsigned n;
} Features;

typedef struct Example {
    Features *features;        /* of each position */
    int *names;                /* numbers of vectors; -1: none */
    bool *lent;
    double weight;
    bool declaration;
} Example;

struct Group {
    Words *words;
    unsigned k;
    Arena arena;
    Map name_map;              /* text, owner -> number + 1 */
    Vec(Vector) vectors;
    Map word_map;              /* word -> number + 1 */
    Vec(unsigned) df;          /* how many names have the word */
    unsigned corpus;           /* names, with multiplicity */
    Vec(Example) examples;
    unsigned ndecls, ncalls;
    Map feature_map;           /* class, value -> row + 1 */
    Vec(float) counts;         /* rows of k */
    double *seen;              /* how many examples have each position */
    float *gram;               /* all similarities, if they are few */
};

Group *group_new(Words *w, unsigned positions)
{
    Group *g = xcalloc(1, sizeof *g);
    g->words = w;
    g->k = positions;
    g->seen = xcalloc(positions, sizeof *g->seen);
    return g;
}

void group_free(Group *g)
{
    if (!g)
        return;
    map_release(&g->name_map);
    map_release(&g->word_map);
    vec_release(&g->vectors);
    vec_release(&g->df);
    vec_release(&g->examples);
    map_release(&g->feature_map);
    vec_release(&g->counts);
    free(g->seen);
    free(g->gram);
    arena_release(&g->arena);
    free(g);
}

/* ---- names as vectors */

static uint32_t word_number(Group *g, const char *word)
{
    void **slot = map_slotn(&g->word_map, &word, sizeof word);
    if (!*slot) {
        vec_push(&g->df, 0);
        *slot = (void *)(uintptr_t)g->df.len;
    }
    return (uint32_t)((uintptr_t)*slot - 1);
}

static int name_number(Group *g, const Name *n)
{
    const void *key[] = { n->text, n->owner };
    void **slot = map_slotn(&g->name_map, key, sizeof key);
    if (!*slot) {
        Vector *v = vec_grow(&g->vectors);
        words_of(g->words, n->text, &v->words);
        if (n->owner)
            words_of(g->words, n->owner, &v->owner);
        *slot = (void *)(uintptr_t)g->vectors.len;
    }
    return (int)(uintptr_t)*slot - 1;
}

static bool earlier(const Tokens *t, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (t->words[k] == t->words[i])
            return true;
    return false;
}

static bool has_word(const Tokens *t, const char *word)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->words[i] == word)
            return true;
    return false;
}

/* An owner such as `p` says nothing. */
static bool owner_counts(const Vector *v, size_t i)
{
    return strlen(v->owner.words[i]) > 1 && !earlier(&v->owner, i) &&
           !has_word(&v->words, v->owner.words[i]);
}

static void count_words(Group *g, const Vector *v)
{
    for (size_t i = 0; i < v->words.n; i++)
        if (!earlier(&v->words, i))
            g->df.items[word_number(g, v->words.words[i])]++;
    for (size_t i = 0; i < v->owner.n; i++)
        if (owner_counts(v, i))
            g->df.items[word_number(g, v->owner.words[i])]++;
    g->corpus++;
}

static double idf(const Group *g, uint32_t word)
{
    unsigned df = g->df.items[word] ? g->df.items[word] : 1;
    return log((double)g->corpus / df) + tiny;
}

static int by_word(const void *a, const void *b)
{
    uint32_t x = ((const Term *)a)->word, y = ((const Term *)b)->word;
    return x < y ? -1 : x > y;
}

static void make_vector(Group *g, Vector *v)
{
    v->terms = arena_array(&g->arena, Term, v->words.n + v->owner.n + 1);
    for (size_t i = 0; i < v->words.n; i++) {
        if (earlier(&v->words, i))
            continue;
        unsigned tf = 0;
        for (size_t k = 0; k < v->words.n; k++)
            tf += v->words.words[k] == v->words.words[i];
        uint32_t word = word_number(g, v->words.words[i]);
        v->terms[v->n++] = (Term){ word, (float)(log(1 + tf) / log(2) * idf(g, word)) };
    }
    for (size_t i = 0; i < v->owner.n; i++)
        if (owner_counts(v, i)) {
            uint32_t word = word_number(g, v->owner.words[i]);
            v->terms[v->n++] = (Term){ word, (float)(owner_share * idf(g, word)) };
        }
    double square = 0;
    for (unsigned i = 0; i < v->n; i++)
        square += (double)v->terms[i].weight * v->terms[i].weight;
    for (unsigned i = 0; i < v->n && square > 0; i++)
        v->terms[i].weight /= (float)sqrt(square);
    qsort(v->terms, v->n, sizeof *v->terms, by_word);
}

static double cosine(const Vector *a, const Vector *b)
{
    double dot = 0;
    for (unsigned i = 0, k = 0; i < a->n && k < b->n;) {
        if (a->terms[i].word < b->terms[k].word)
            i++;
        else if (a->terms[i].word > b->terms[k].word)
            k++;
        else
            dot += (double)a->terms[i++].weight * b->terms[k++].weight;
    }
    return dot < 1 ? dot : 1;
}

static double sim(const Group *g, int a, int b)
{
    if (a == b)
        return 1;
    if (g->gram)
        return g->gram[(size_t)a * g->vectors.len + (size_t)b];
    return cosine(&g->vectors.items[a], &g->vectors.items[b]);
}

double group_similarity(Group *g, const Name *a, const Name *b)
{
    return sim(g, name_number(g, a), name_number(g, b));
}

/* ---- examples */

/* How much each class of features says; words of one name share. */
static const double word_says = 0.6, name_says = 0.5;
static const double trait_says[TRAITS] = {
    [TRAIT_TYPE] = 0.5,
    [TRAIT_ENUM] = 0.6,
    [TRAIT_FORM] = 0.2,
};
/* A declaration is worth this many calls, and has no traits. */
static const float declaration_counts = 3;

static void add_feature(Group *g, Features *f, uintptr_t class, const void *value, double weight)
{
    const void *key[] = { (void *)class, value };
    void **slot = map_slotn(&g->feature_map, key, sizeof key);
    if (!*slot) {
        for (unsigned i = 0; i < g->k; i++)
            vec_push(&g->counts, 0);
        *slot = (void *)(g->counts.len / g->k);
    }
    if (f->n < MOST_FEATURES) {
        f->rows[f->n] = (uint32_t)((uintptr_t)*slot - 1);
        f->weights[f->n++] = (float)weight;
    }
}

static void add_features(Group *g, Features *f, const Name *n, int name)
{
    enum { WORD, NAME, TRAIT };
    if (name >= 0) {
        const Tokens *words = &g->vectors.items[name].words;
        const Vector *v = &g->vectors.items[name];
        for (size_t i = 0; i < words->n; i++)
            add_feature(g, f, WORD, words->words[i], word_says);
        for (size_t i = 0; i < v->owner.n; i++)
            if (owner_counts(v, i))
                add_feature(g, f, WORD, v->owner.words[i], word_says * owner_share);
        add_feature(g, f, NAME, (void *)(uintptr_t)name, name_says);
    }
    for (unsigned t = 0; t < TRAITS; t++)
        if (n->traits[t])
            add_feature(g, f, TRAIT + t, n->traits[t], trait_says[t]);
}

static void count_features(Group *g, const Example *e, float sign)
{
    for (unsigned i = 0; i < g->k; i++) {
        float by = sign * (e->declaration ? declaration_counts : 1);
        const Features *f = &e->features[i];
        for (unsigned k = 0; k < f->n; k++)
            g->counts.items[f->rows[k] * g->k + i] += by;
        if (f->n)
            g->seen[i] += (double)by;
    }
}

size_t group_add(Group *g, const Name *names, double weight, bool declaration)
{
    Example *e = vec_grow(&g->examples);
    e->names = arena_array(&g->arena, int, g->k);
    e->lent = arena_array(&g->arena, bool, g->k);
    e->features = arena_array(&g->arena, Features, g->k);
    e->weight = weight;
    e->declaration = declaration;
    g->ndecls += declaration;
    g->ncalls += !declaration;
    for (unsigned i = 0; i < g->k; i++) {
        e->names[i] = names[i].text && *names[i].text ? name_number(g, &names[i]) : -1;
        e->lent[i] = names[i].lent;
        add_features(g, &e->features[i], &names[i], e->names[i]);
    }
    count_features(g, e, 1);
    return g->examples.len - 1;
}

void group_finish(Group *g)
{
    enum { FEW = 700 };
    for (size_t i = 0; i < g->vectors.len; i++) {
        const Vector *v = &g->vectors.items[i];
        for (size_t k = 0; k < v->words.n; k++)
            word_number(g, v->words.words[k]);
        for (size_t k = 0; k < v->owner.n; k++)
            word_number(g, v->owner.words[k]);
    }
    for (size_t i = 0; i < g->examples.len; i++)
        for (unsigned k = 0; k < g->k; k++)
            if (g->examples.items[i].names[k] >= 0)
                count_words(g, &g->vectors.items[g->examples.items[i].names[k]]);
    for (size_t i = 0; i < g->vectors.len; i++)
        make_vector(g, &g->vectors.items[i]);
    size_t n = g->vectors.len;
    if (n > FEW || n < 2)
        return;
    float *gram = xcalloc(n * n, sizeof *gram);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i; k < n; k++)
            gram[i * n + k] = gram[k * n + i] =
                (float)cosine(&g->vectors.items[i], &g->vectors.items[k]);
    g->gram = gram;
}

/* ---- judging */

/* The names in question, and where they stand. */
typedef struct Subset {
    unsigned m;
    unsigned at[MOST_SUBSET];      /* positions */
    int names[MOST_SUBSET];
    double share[MOST_SUBSET];     /* 0.5 for a lent name */
} Subset;

/* The votes of a family, and of what is less similar. */
typedef struct Tally {
    double sum[MOST_SUBSET][MOST_SUBSET];   /* name x position */
    double weight;
    double calls_vote;
    unsigned examples, calls, agree;
} Tally;

typedef struct Judge {
    Group *g;
    const JudgePlan *plan;
    size_t self;
    size_t voters[MOST_VOTERS];
    size_t nvoters;
} Judge;

static const unsigned char cycles3[][MOST_SUBSET] = { { 1, 2, 0 }, { 2, 0, 1 } };
static const unsigned char cycles4[][MOST_SUBSET] = {
    { 1, 2, 3, 0 }, { 1, 3, 0, 2 }, { 2, 3, 1, 0 }, { 2, 0, 3, 1 }, { 3, 2, 0, 1 }, { 3, 0, 1, 2 },
};
static const unsigned char all2[][MOST_SUBSET] = { { 0, 1 }, { 1, 0 } };
static const unsigned char all3[][MOST_SUBSET] = {
    { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
};

/* The mean similarity of two sets of names, matched as well as can be. */
static double set_similarity(double s[MOST_SUBSET][MOST_SUBSET], unsigned m)
{
    double best = 0;
    if (m == 4) {                 /* greedy: exact enough for a level */
        bool used[MOST_SUBSET] = { 0 };
        for (unsigned n = 0; n < m; n++) {
            int pick = -1;
            for (unsigned i = 0; i < m; i++)
                if (!used[i] && (pick < 0 || s[n][i] > s[n][pick]))
                    pick = (int)i;
            used[pick] = true;
            best += s[n][pick];
        }
        return best / m;
    }
    const unsigned char(*perms)[MOST_SUBSET] = m == 2 ? all2 : all3;
    for (unsigned p = 0; p < (m == 2 ? 2u : 6u); p++) {
        double sum = 0;
        for (unsigned n = 0; n < m; n++)
            sum += s[n][perms[p][n]];
        if (sum > best)
            best = sum;
    }
    return best / m;
}

static bool similarities(const Group *g, const Subset *sub, const Example *e,
                         double s[MOST_SUBSET][MOST_SUBSET])
{
    for (unsigned i = 0; i < sub->m; i++)
        if (e->names[sub->at[i]] < 0)
            return false;
    for (unsigned n = 0; n < sub->m; n++)
        for (unsigned i = 0; i < sub->m; i++)
            s[n][i] = sim(g, sub->names[n], e->names[sub->at[i]]);
    return true;
}

/* What one name gains by going to position `to`. */
static double name_gain(const Subset *sub, double s[MOST_SUBSET][MOST_SUBSET], unsigned n,
                        unsigned to)
{
    unsigned m = sub->m;
    double row = 0;
    for (unsigned i = 0; i < m; i++)
        row += s[n][i];
    double there = s[n][to] - (row - s[n][to]) / (m - 1);
    double here = s[n][n] - (row - s[n][n]) / (m - 1);
    return sub->share[n] * ((there > 0 ? there : 0) - (here > 0 ? here : 0));
}

/* What the permutation gains, by similarities or by their sums. */
static double gain(const Subset *sub, double s[MOST_SUBSET][MOST_SUBSET], double weight,
                   const unsigned char *perm)
{
    double total = 0;
    for (unsigned n = 0; n < sub->m; n++)
        total += name_gain(sub, s, n, perm[n]);
    return total * 2 / (sub->m * sub->m) / weight;
}

static bool has_support(const JudgePlan *plan, const Anomaly *a)
{
    return !plan->agree || a->declared >= plan->declared ||
           (a->agree >= plan->agree && a->for_it >= plan->agree && a->for_it >= 4 * a->against);
}

static double example_weight(const Example *e, const Subset *sub)
{
    double w = e->weight;
    for (unsigned i = 0; i < sub->m; i++)
        if (e->lent[sub->at[i]])
            return w / 2;
    return w;
}

/* What all voters say about one permutation of one subset. */
typedef struct Votes {
    Tally tallies[LEVELS];       /* by how similar the voter's names are */
    double declared, denied;     /* the best and the worst of the declarations */
    double gains[MOST_SUBSET];   /* of each name, by the best declaration */
    unsigned for_it, against, total;     /* calls */
} Votes;

static void count_declaration(Votes *v, const Subset *sub, const unsigned char *perm,
                              double s[MOST_SUBSET][MOST_SUBSET], double vote)
{
    v->denied = fmin(v->denied, vote);
    if (vote <= v->declared)
        return;
    v->declared = vote;
    for (unsigned n = 0; n < sub->m; n++)
        v->gains[n] = name_gain(sub, s, n, perm[n]);
}

static void count_call(Votes *v, Tally *t, double vote)
{
    v->total++;
    v->for_it += vote >= clear_vote;
    v->against += vote <= -clear_vote;
    t->calls++;
    t->calls_vote += vote;
    t->agree += vote > 0;
}

static void ask_voters(const Judge *j, const Subset *sub, const unsigned char *perm, Votes *v)
{
    for (size_t k = 0; k < j->nvoters; k++) {
        const Example *e = &j->g->examples.items[j->voters[k]];
        double s[MOST_SUBSET][MOST_SUBSET];
        if (!similarities(j->g, sub, e, s))
            continue;
        double vote = gain(sub, s, 1, perm), w = example_weight(e, sub);
        int level = (int)floor(set_similarity(s, sub->m) * 10 + 1e-6);
        assert(level >= 0);
        Tally *t = &v->tallies[level < LEVELS ? level : LEVELS - 1];
        for (unsigned n = 0; n < sub->m; n++)
            for (unsigned i = 0; i < sub->m; i++)
                t->sum[n][i] += w * s[n][i];
        t->weight += w;
        t->examples++;
        if (e->declaration)
            count_declaration(v, sub, perm, s, vote);
        else
            count_call(v, t, vote);
    }
}

static void add_tally(Tally *sum, const Tally *t, unsigned m)
{
    for (unsigned n = 0; n < m; n++)
        for (unsigned i = 0; i < m; i++)
            sum->sum[n][i] += t->sum[n][i];
    sum->weight += t->weight;
    sum->examples += t->examples;
    sum->calls += t->calls;
    sum->agree += t->agree;
    sum->calls_vote += t->calls_vote;
}

/* The names of the subset where the permutation puts them. */
static void fill_places(Anomaly *hit, const Subset *sub, const unsigned char *perm,
                        const double *gains)
{
    for (unsigned n = 0; n < sub->m; n++) {
        assert(perm[n] < sub->m);
        hit->from[n] = sub->at[n];
        hit->to[n] = sub->at[perm[n]];
        hit->gains[n] = gains[n];
        hit->weakest = fmin(hit->weakest, gains[n]);
    }
}

/* One permutation of one subset against all families: the most similar voters, then
 * less and less similar ones with them. */
static void try_order(Judge *j, const Subset *sub, const unsigned char *perm, Anomaly *best)
{
    assert(sub->m >= 2 && sub->m <= MOST_SUBSET);
    Votes v = { 0 };
    Tally sum = { 0 };
    ask_voters(j, sub, perm, &v);
    for (int level = LEVELS - 1; level >= 0; level--) {
        if (!v.tallies[level].examples)
            continue;
        add_tally(&sum, &v.tallies[level], sub->m);
        if (sum.examples + 1 < j->plan->family)
            continue;
        double c = gain(sub, sum.sum, sum.weight, perm);
        if (c <= best->confidence || c <= j->plan->threshold)
            continue;
        Anomaly hit = { .example = j->self,
                        .size = sub->m,
                        .confidence = c,
                        .declared = v.declared + v.denied,
                        .weakest = 1,
                        .called = sum.calls ? sum.calls_vote / sum.calls : 0,
                        .agree = sum.agree,
                        .family = sum.calls,
                        .total = v.total,
                        .for_it = v.for_it,
                        .against = v.against,
                        .level = level / 10.0 };
        if (!has_support(j->plan, &hit))
            continue;
        fill_places(&hit, sub, perm, v.gains);
        if (!j->plan->accept || j->plan->accept(&hit, j->plan->arg))
            *best = hit;
    }
}

static void try_subset(Judge *j, const Subset *sub, Anomaly *best)
{
    if (sub->m == 2)
        try_order(j, sub, all2[1], best);
    for (unsigned p = 0; sub->m == 3 && p < 2; p++)
        try_order(j, sub, cycles3[p], best);
    for (unsigned p = 0; sub->m == 4 && p < 6; p++)
        try_order(j, sub, cycles4[p], best);
}

/* All subsets of 2 to 4 named positions, from `first` on. */
static void try_subsets(Judge *j, const Example *e, const unsigned *order, Subset *sub,
                        unsigned first, Anomaly *best)
{
    if (sub->m >= 2)
        try_subset(j, sub, best);
    unsigned most = j->g->k <= MOST_POSITIONS_FOR_CYCLES ? MOST_SUBSET : 2;
    if (sub->m == most)
        return;
    for (unsigned i = first; i < j->g->k; i++) {
        unsigned from = order ? order[i] : i;
        int name = e->names[from];
        bool again = name < 0;
        for (unsigned n = 0; n < sub->m; n++)
            again |= sub->names[n] == name;
        if (again)
            continue;
        sub->at[sub->m] = i;
        sub->names[sub->m] = name;
        sub->share[sub->m] = e->lent[from] ? 0.5 : 1;
        sub->m++;
        try_subsets(j, e, order, sub, i + 1, best);
        sub->m--;
    }
}

static bool share_a_name(const Group *g, const Example *a, const Example *b)
{
    for (unsigned i = 0; i < g->k; i++)
        for (unsigned k = 0; k < g->k && a->names[i] >= 0; k++)
            if (a->names[i] == b->names[k])
                return true;
    return false;
}

/* Who is asked: the declarations; if calls are too many, those that share a
 * name first, then some evenly spread. */
static void choose_voters(Judge *j)
{
    const Group *g = j->g;
    size_t n = g->examples.len;
    const Example *self = &g->examples.items[j->self];
    if (n <= MOST_VOTERS) {
        for (size_t i = 0; i < n; i++)
            if (i != j->self)
                j->voters[j->nvoters++] = i;
        return;
    }
    for (size_t i = 0; i < n && j->nvoters < MOST_VOTERS / 2; i++)
        if (i != j->self &&
            (g->examples.items[i].declaration || share_a_name(g, self, &g->examples.items[i])))
            j->voters[j->nvoters++] = i;
    size_t step = n / (MOST_VOTERS / 2) + 1;
    for (size_t i = 0; i < n && j->nvoters < MOST_VOTERS; i += step)
        if (i != j->self && !g->examples.items[i].declaration &&
            !share_a_name(g, self, &g->examples.items[i]))
            j->voters[j->nvoters++] = i;
}

bool group_judge(Group *g, size_t example, const unsigned *order, const JudgePlan *plan,
                 Anomaly *out)
{
    assert(example < g->examples.len);
    Judge j = { .g = g, .plan = plan, .self = example };
    Subset sub = { 0 };
    *out = (Anomaly){ 0 };
    choose_voters(&j);
    try_subsets(&j, &g->examples.items[example], order, &sub, 0, out);
    return out->confidence > plan->threshold;
}

double group_vote(Group *g, const Anomaly *a, const unsigned *order, size_t other)
{
    assert(a->size >= 2 && a->size <= MOST_SUBSET && a->example < g->examples.len);
    const Example *e = &g->examples.items[a->example];
    Subset sub = { .m = a->size };
    unsigned char perm[MOST_SUBSET] = { 0 };
    double s[MOST_SUBSET][MOST_SUBSET];
    for (unsigned n = 0; n < a->size; n++) {
        unsigned from = order ? order[a->from[n]] : a->from[n];
        sub.at[n] = a->from[n];
        sub.names[n] = e->names[from];
        sub.share[n] = 1;
        for (unsigned i = 0; i < a->size; i++)
            if (a->from[i] == a->to[n])
                perm[n] = (unsigned char)i;
    }
    return similarities(g, &sub, &g->examples.items[other], s) ? gain(&sub, s, 1, perm) : 0;
}

/* ---- words that differ */

static bool word_fits(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    return a == b || (n >= 3 && m >= 3 && strncmp(a, b, n < m ? n : m) == 0);
}

static Tokens words_only_in(const Tokens *a, const Tokens *b)
{
    Tokens rest = { 0 };
    for (size_t i = 0; i < a->n; i++)
        if (!has_word(b, a->words[i]) && !has_word(&rest, a->words[i]))
            rest.words[rest.n++] = a->words[i];
    return rest;
}

static double plain_similarity(const Tokens *a, const Tokens *b)
{
    unsigned common = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < b->n; k++)
            if (word_fits(a->words[i], b->words[k])) {
                common++;
                break;
            }
    return common ? common / sqrt((double)a->n * (double)b->n) : 0;
}

/* With those of its owner: in old.buf and new.buf they make the difference. */
static Tokens all_words(const Vector *v)
{
    Tokens all = v->words;
    for (size_t i = 0; i < v->owner.n && all.n < MOST_TOKENS; i++)
        if (owner_counts(v, i))
            all.words[all.n++] = v->owner.words[i];
    return all;
}

static bool all_in(const Tokens *a, const Tokens *b)
{
    for (size_t i = 0; i < a->n; i++)
        if (!has_word(b, a->words[i]))
            return false;
    return a->n > 0;
}

/* How well words fit what only this parameter has. Of id and id_index the first has nothing of its
 * own: `id` fits there all the same, but less surely. */
static double fit(const Tokens *arg, const Tokens *own, const Tokens *whole)
{
    if (own->n)
        return plain_similarity(arg, own);
    return all_in(arg, whole) ? 0.5 : 0;
}

/* What either name gains by the exchange. */
static void word_gains(const Group *g, const int names[2], const int decl[2], double gains[2])
{
    Tokens arg[2], param[2];
    const Tokens *whole[2] = { &g->vectors.items[decl[0]].words, &g->vectors.items[decl[1]].words };
    Tokens all[2] = { all_words(&g->vectors.items[names[0]]),
                      all_words(&g->vectors.items[names[1]]) };
    for (int i = 0; i < 2; i++) {
        arg[i] = words_only_in(&all[i], &all[!i]);
        param[i] = words_only_in(whole[i], whole[!i]);
    }
    for (int i = 0; i < 2; i++)
        gains[i] = fit(&arg[i], &param[!i], whole[!i]) - fit(&arg[i], &param[i], whole[i]);
}

/* What the other calls say about it. */
static void count_votes(const Group *g, const int names[2], Anomaly *a)
{
    for (size_t i = g->ndecls; i < g->examples.len; i++) {
        const int *all = g->examples.items[i].names;
        int other[2] = { all[a->from[0]], all[a->from[1]] };
        double gains[2];
        if (i == a->example || other[0] < 0 || other[1] < 0)
            continue;
        word_gains(g, names, other, gains);
        a->total++;
        a->for_it += (gains[0] + gains[1]) / 2 >= clear_vote;
        a->against += (gains[0] + gains[1]) / 2 <= -clear_vote;
    }
}

static void try_words(const Group *g, size_t example, const unsigned *order, unsigned i, unsigned j,
                      const JudgePlan *plan, Anomaly *best)
{
    const Example *e = &g->examples.items[example];
    int names[2] = { e->names[order ? order[i] : i], e->names[order ? order[j] : j] };
    for (unsigned d = 0; d < g->ndecls; d++) {
        const int *all = g->examples.items[d].names;
        int decl[2] = { all[i], all[j] };
        double gains[2];
        if (names[0] < 0 || names[1] < 0 || decl[0] < 0 || decl[1] < 0)
            continue;
        word_gains(g, names, decl, gains);
        Anomaly hit = { .example = example,
                        .size = 2,
                        .from = { i, j },
                        .to = { j, i },
                        .confidence = (gains[0] + gains[1]) / 2,
                        .gains = { gains[0], gains[1] },
                        .weakest = fmin(gains[0], gains[1]),
                        .declared = (gains[0] + gains[1]) / 2 };
        if (hit.weakest < plan->threshold || hit.confidence <= best->confidence)
            continue;
        count_votes(g, names, &hit);
        if (!plan->accept || plan->accept(&hit, plan->arg))
            *best = hit;
    }
}

bool group_judge_words(Group *g, size_t example, const unsigned *order, const JudgePlan *plan,
                       Anomaly *out)
{
    *out = (Anomaly){ .confidence = plan->threshold };
    for (unsigned i = 0; i < g->k; i++)
        for (unsigned j = i + 1; j < g->k; j++)
            try_words(g, example, order, i, j, plan, out);
    return out->size != 0;
}

/* ---- habits */

/* How much more likely the features are at `to` than at `at`. */
static double log_odds(const Group *g, const Features *f, unsigned at, unsigned to)
{
    double sum = 0, n = g->seen[at] + g->seen[to];
    for (unsigned k = 0; k < f->n; k++) {
        const float *row = &g->counts.items[f->rows[k] * g->k];
        double here = row[at] > 0 ? row[at] : 0, there = row[to] > 0 ? row[to] : 0;
        double usual = (here + there + 1) / (n + 2);
        double p_to = (there + usual) / (g->seen[to] + 1);
        double p_at = (here + usual) / (g->seen[at] + 1);
        sum += (double)f->weights[k] * log(p_to / p_at);
    }
    return sum;
}

static bool habit_at(const Group *g, const Example *e, const unsigned *order, unsigned i,
                     unsigned j, Habit *out)
{
    unsigned a = order ? order[i] : i, b = order ? order[j] : j;
    if (e->names[a] < 0 || e->names[b] < 0 || e->names[a] == e->names[b])
        return false;
    double first = log_odds(g, &e->features[a], i, j);
    double second = log_odds(g, &e->features[b], j, i);
    *out = (Habit){ .i = i,
                    .j = j,
                    .odds = first + second,
                    .first = first,
                    .second = second,
                    .calls = g->ncalls - 1 };
    return true;
}

/* Does the argument at `at` show something that many calls have at `to`, and hardly one here? */
static bool belongs_to(const Group *g, const Features *f, unsigned at, unsigned to)
{
    enum { MANY = 40, ONE_IN = 50 };
    for (unsigned k = 0; k < f->n; k++) {
        const float *row = &g->counts.items[f->rows[k] * g->k];
        if ((double)f->weights[k] >= name_says && row[to] >= MANY &&
            (row[at] > 0 ? row[at] : 0) * ONE_IN <= row[to])
            return true;
    }
    return false;
}

bool group_belongs(Group *g, size_t example, const unsigned *order, unsigned at, unsigned to)
{
    Example *e = &g->examples.items[example];
    count_features(g, e, -1);
    bool sure = belongs_to(g, &e->features[order ? order[at] : at], at, to);
    count_features(g, e, 1);
    return sure;
}

bool group_habit_at(Group *g, size_t example, const unsigned *order, unsigned i, unsigned j,
                    Habit *out)
{
    Example *e = &g->examples.items[example];
    count_features(g, e, -1);
    bool known = habit_at(g, e, order, i, j, out);
    count_features(g, e, 1);
    return known;
}

bool group_habit(Group *g, size_t example, const unsigned *order, double threshold, Habit *out)
{
    Example *e = &g->examples.items[example];
    Habit h;
    *out = (Habit){ .odds = threshold };
    count_features(g, e, -1);
    for (unsigned i = 0; i < g->k; i++)
        for (unsigned j = i + 1; j < g->k; j++)
            if (habit_at(g, e, order, i, j, &h) && h.odds > out->odds)
                *out = h;
    count_features(g, e, 1);
    return out->odds > threshold;
}
