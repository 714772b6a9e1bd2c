/*
 * know - what is known about the columns of the inputs before solving: values
 * from samples, constants of the program, words that regular expressions accept
 * or refuse.
 *
 * Text is not solved for letter by letter. Every text column has a list of
 * candidates, and the solver picks one: so a value is real where possible,
 * readable where not, and every function of text means exactly what the
 * evaluator does with it. For conditions on one text (MATCHES, LIKE, =, <) the
 * list is complete: all patterns run together as one automaton, and each
 * combination of answers that some text gives has a word in the list. So no
 * candidate means that there is no such text.
 */
#ifndef SUNDEW_DATAFLOW_KNOW_H
#define SUNDEW_DATAFLOW_KNOW_H
#include "base/rng.h"
#include "dataflow/eval.h"

typedef struct Column {
    Datum *samples;            /* distinct, not null, as loaded */
    size_t nsamples;
    bool null_seen;
    double least, most;        /* of numbers in the sample; least > most: none */
    Datum *words;              /* candidates for text and bytes, samples first */
    size_t nwords;
    int twin;                  /* columns that are compared for equality share a number; -1 */
} Column;

typedef struct Know {
    Arena arena;
    const Plan *plan;
    Column **columns;          /* by op id, then column; NULL: no LOAD */
    size_t *ncolumns;
    const Input *samples;      /* by op id */
    Datum *numbers;            /* constants of the program and their neighbours */
    size_t nnumbers;
    Datum *dates;              /* texts that the program's ToDate() takes */
    size_t ndates;
    const char **map_keys;     /* looked up with # */
    size_t nmap_keys;
    bool text_exact;           /* the candidates are complete */
    bool no_real_values;       /* privacy: samples are not copied */
    size_t sizes[16], nsizes;  /* group sizes that conditions mention */
} Know;

Know *know_new(const Plan *p, const Input *samples, bool no_real_values);
void know_free(Know *k);
#endif
