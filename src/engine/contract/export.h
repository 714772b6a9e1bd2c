/*
 * export - contracts and samples for other tools.
 *
 * Each takes what its form can say and leaves out the rest: ACSL and assert() know
 * no "has only one value".
 */
#ifndef SUNDEW_CONTRACT_EXPORT_H
#define SUNDEW_CONTRACT_EXPORT_H
#include "engine/contract/contract.h"

/* Declarations and samples in Daikon's format, version 2.0. Rows are repeated as
 * often as they were seen, at most 100 times. */
bool export_daikon(const Samples *s, const char *path, Err *err);
/* ACSL contracts, one a function. */
void export_acsl(const Contracts *c, Str *out);
/* Prototypes with their contracts as comments. */
void export_header(const Contracts *c, const char *program, Str *out);
/* A unified diff that adds assert() of preconditions at the beginning of the
 * functions; paths are relative to `root`. */
bool export_asserts(const Contracts *c, const char *root, Str *out, Err *err);
#endif
