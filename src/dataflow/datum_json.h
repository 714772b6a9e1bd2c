/*
 * datum_json - values as JSON, for loaders, users' functions and reports.
 *
 * Numbers, booleans and null are what they are, bags are arrays, maps are
 * objects, all others are texts; so are NaN and infinity, which JSON does not
 * have. A tuple is an array; where its type is given, an object with the names
 * of its fields (f0, f1, … without names).
 */
#ifndef SUNDEW_DATAFLOW_DATUM_JSON_H
#define SUNDEW_DATAFLOW_DATUM_JSON_H
#include "base/json.h"
#include "dataflow/datum.h"

json_t *datum_json(const Datum *v, const Type *type);      /* type may be NULL */
#endif
