/*
 * known - contracts that an earlier `sundew invariants` left, asked for one value.
 *
 *     KnownContracts *k = known_contracts(workspace, "larder");   NULL: there are none
 *     known_broken(k, "find", "key", &(KnownValue){ .pointer = true }, &line);
 *         "was never NULL in 40 recorded calls"
 *     known_free(k);
 *
 * Only what is said of a parameter itself counts, from the function's own calls.
 */
#ifndef SUNDEW_CONTRACT_KNOWN_H
#define SUNDEW_CONTRACT_KNOWN_H
#include "base/str.h"
#include <stdint.h>

typedef struct KnownContracts KnownContracts;

typedef struct KnownValue {
    bool pointer;
    int64_t value;            /* of a pointer: 0 is NULL */
} KnownValue;

/* The file of a program's contracts in a workspace's folder; the caller frees it. */
char *known_path(const char *workspace, const char *program, const char *kind);

KnownContracts *known_contracts(const char *workspace, const char *program);
void known_free(KnownContracts *k);            /* NULL is fine */
/* Does the value break what is known of this parameter? Adds how, for people. */
bool known_broken(const KnownContracts *k, const char *function, const char *parameter,
                  const KnownValue *v, Str *out);
#endif
