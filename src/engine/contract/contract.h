/*
 * contract - what functions demand and promise, as learned from samples.
 *
 *     Contracts *c = contracts_infer(samples, constraints, &(ContractPlan){0});
 *     for (size_t i = 0; i < c->functions.len; i++) use(&c->functions.items[i]);
 *     contracts_free(c);
 *
 * Each function has its invariants before steering (own samples alone) and after
 * it. Invariants of a handle's state, which hold at the entry and exit of every
 * public function that takes the handle, stand in each of these functions.
 *
 * Contracts live in the workspace as contracts/PROGRAM.json, written by
 * `sundew invariants` and read by others (known.h).
 */
#ifndef SUNDEW_CONTRACT_H
#define SUNDEW_CONTRACT_H
#include "base/json.h"
#include "engine/contract/constraint.h"
#include "engine/contract/infer.h"

typedef struct ContractPlan {
    InferPlan infer;
    bool no_state;            /* no invariants of handles */
} ContractPlan;

typedef struct FunctionContract {
    const FunctionSamples *f;
    Invariants pre, post;                 /* steered, with the handle's state */
    Invariants pre_before, post_before;   /* from own samples alone */
} FunctionContract;

typedef struct Contracts {
    const Samples *samples;
    Vec(FunctionContract) functions;      /* in the order of the samples */
} Contracts;

/* `constraints` may be NULL. The samples outlive the result. */
Contracts *contracts_infer(const Samples *s, const Constraints *constraints,
                           const ContractPlan *plan);
void contracts_free(Contracts *c);                     /* NULL is fine */
const FunctionContract *contracts_of(const Contracts *c, const FunctionSamples *f);

/* Is it the function's own evidence that speaks for it? */
bool contract_is_own(const FunctionContract *f, const Invariant *inv, bool is_exit);
/* Which row and constraint refuted an invariant that steering removed; -1: none. */
int contract_refuted(const Contracts *c, const Constraints *constraints, const FunctionSamples *f,
                     bool is_exit, const Invariant *inv, Row *row, Arena *a);
/* Is it one that a fault breaks and another correct run does not? What data
 * happened to be is not. */
bool contract_is_robust(const Invariant *inv, const Point *p);
/* Is it more than what the data happened to be? Inputs that nobody vouches for break what
 * one value was, or two numbers that were passed; a relation between values of the program's objects, or
 * a promise that a result makes, is the code's. */
bool contract_is_relation(const Invariant *inv, const Point *p);
/* The most telling first: relations, then null, bounds, constants. */
void contract_rank(Invariants *list);

/* --- as JSON */
json_t *contract_to_json(const Contracts *c, const FunctionContract *f);
/* Reads invariants that contract_to_json() wrote back onto a point; what names
 * variables that are not there is left out and counted. */
void contract_from_json(const json_t *list, const Point *p, Samples *s, Invariants *out,
                        size_t *lost);

/* --- a new run against known contracts */
typedef struct Broken {
    const FunctionSamples *f;
    bool is_exit;
    Invariant inv;
    Row row;                  /* that breaks it */
    uint64_t times;           /* samples that do */
    double confidence;
    uint64_t samples;         /* that it was learned from */
    bool made_here;           /* it held when the function was entered */
    size_t others;            /* places where the same is broken, too */
} Broken;
typedef Vec(Broken) BrokenList;
/* `functions` is the array of a contracts file; `fresh` are the new samples. `all`: not
 * only the robust ones, since the command is the one that they were learned from. */
void contracts_check(const json_t *functions, Samples *fresh, bool all, BrokenList *out,
                     size_t *lost);
/* Takes out of the array what another run does not keep. */
void contracts_keep_steady(json_t *functions, Samples *again);
/* Leaves one for each thing that is broken, at the function that breaks it. */
typedef bool CallsFn(const char *caller, const char *callee, void *arg);
void contracts_blame(BrokenList *list, CallsFn *calls, void *arg);
#endif
