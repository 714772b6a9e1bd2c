/*
 * know - what is known about the columns of the inputs before solving: values
 * from samples, constants of the program, words that regular expressions accept
 * or refuse.
 *
 * Text is not solved for letter by letter. Every text column has a list of
 * candidates, and the solver picks one: so a value is real where possible,
 * readable where not, and every function of text means exactly what the
 * evaluator does with it.
 *
 * What the program asks about one text are its tests: MATCHES and LIKE with a
 * constant pattern, and =, < with a constant. Texts with the same answers to all
 * tests are a class. If `text_exact`, the list of each column has a word of each
 * class that is not empty; so where one text meets constants only, no candidate
 * means that there is no such text. Where two texts meet, the solver must look at
 * their classes (sym.h, `relaxed`).
 */
#ifndef SUNDEW_DATAFLOW_KNOW_H
#define SUNDEW_DATAFLOW_KNOW_H
#include "base/map.h"
#include "base/vec.h"
#include "dataflow/eval.h"

typedef struct Column {
    Datum *samples;            /* distinct, not null, as loaded */
    size_t nsamples;
    bool null_seen;
    double least, most;        /* of numbers in the sample; least > most: none */
    Datum *words;              /* candidates for text and bytes, samples first */
    int *classes;              /* of the words */
    size_t nwords;
    size_t longest;            /* bytes that the column takes; 0: any number */
    int twin;                  /* columns that are compared for equality share a number; -1 */
    struct Tests *asked;       /* tests of this column; only if all together are too many */
} Column;

typedef struct Know {
    Arena arena;
    const Plan *plan;
    Column **columns;          /* by op id, then column; NULL: no LOAD */
    size_t *ncolumns;
    bool *lonely;              /* by op id: a FILTER below this outer JOIN keeps rows without a
                                * partner only */
    const Input *samples;      /* by op id */
    Datum *numbers;            /* constants of the program and their neighbours */
    size_t nnumbers;
    Datum *dates;              /* texts that the program's ToDate() takes */
    size_t ndates;
    Datum *moments;            /* datetimes to try where a function sees one */
    size_t nmoments;
    const char **map_keys;     /* looked up with # */
    size_t nmap_keys;
    bool text_exact;           /* the candidates are complete */
    bool text_numbers;         /* text is cast to numbers */
    bool no_real_values;       /* privacy: samples are not copied */
    size_t sizes[16], nsizes;  /* group sizes that conditions mention */
    struct Tests *tests;
    Vec(struct Automaton *) automata;
    Map classes;               /* answers to the tests -> number of the class */
    Vec(bool) class_only;
    size_t nfirst_words;
    bool crowded;              /* too many tests for one product */
} Know;

Know *know_new(const Plan *p, const Input *samples, bool no_real_values);
void know_free(Know *k);
/* The class of a text, from 1. 0: it is no text. */
int know_class(Know *k, const Datum *v);
/* Has the class one text only, a constant of the program? */
bool know_class_is_one_text(const Know *k, int id);
#endif
