/*
 * mut_facts - what `sundew mutability` found out, for techniques that use it.
 *
 * The result is kept beside the program's model, so it is there again as long as
 * the program's content is the same. docs/mutability.md describes the file.
 *
 *     MutFacts *facts = mut_facts_open(p);          NULL: nobody has asked yet
 *     const MutFact *f = mut_facts_param(facts, fn, 0);
 *     if (f && f->unchanged) …                      no copy is needed
 *     mut_facts_close(facts);
 *
 * Each line is also a claim that an enforcing build can check: function, parameter,
 * and the levels that are never written.
 */
#ifndef SUNDEW_MUT_FACTS_H
#define SUNDEW_MUT_FACTS_H
#include "analysis/mutability/mutability.h"

typedef struct MutFact {
    const Function *function;
    unsigned index;
    MutAnswer deep, own;
    MutVerdict level[MUT_LEVELS];
    bool unchanged, own_unchanged;
    bool returned, stored, const_able, declared_const;
} MutFact;

typedef struct MutFacts MutFacts;

bool mut_facts_write(const Mutability *m, const Program *p, Err *err);
/* The same text, wherever it is to go. */
void mut_facts_print(const Mutability *m, const Program *p, Str *out);
MutFacts *mut_facts_open(const Program *p);
void mut_facts_close(MutFacts *facts);           /* NULL is fine */
const MutFact *mut_facts_param(const MutFacts *facts, const Function *fn, unsigned i);

/* Observations of a run: lines "SYMBOL INDEX LEVEL LINE FILE". Functions that
 * the program doesn't have are passed over. */
bool mut_observations_read(Mutability *m, const Program *p, const char *path, Err *err);
#endif
