/*
 * show - examples for people and for programs: terminal, JSON, an HTML page,
 * files of tests.
 */
#ifndef SUNDEW_EXAMPLES_SHOW_H
#define SUNDEW_EXAMPLES_SHOW_H
#include "base/str.h"
#include "dataflow/generate.h"
#include <jansson.h>

/* Tables step by step. Invented cells have a star. */
void show_text(const Examples *e, bool color, Str *out);
/* Which classes are shown, and which are not and why. */
void show_classes(const Classes *c, bool all, bool color, Str *out);
/* "impossible (line 2 and line 3)", "not found: …" */
void show_why_not(const Plan *p, const Class *c, Str *out);
void show_figures(const Metrics *m, Str *out);

/* SQL: the rows as INSERTs. */
void show_inserts(const Examples *e, Str *out);
json_t *show_json_inserts(const Examples *e);

json_t *show_json_tables(const Examples *e);
json_t *show_json_uncovered(const Classes *c);

void show_page(const Examples *e, const char *title, Str *out);

/* Inputs as their loaders read them, outputs sorted, a list of both. */
bool show_tests(const Examples *e, const char *dir, Err *err);
/* The outputs of a run, by name: sorted lines. */
void show_output(const Run *r, const Op *store, Str *out);
const char *show_store_name(const Op *store);
#endif
