/* What the writers share. */
#ifndef SUNDEW_OUTPUT_INT_H
#define SUNDEW_OUTPUT_INT_H
#include "base/vec.h"
#include "finding/output.h"
#include "finding/source.h"

/* How many there are. Levels count only what counts for the exit status. */
typedef struct Counts {
    size_t counting, level[3], suppressed, baseline;
} Counts;

Counts output_counts(const FindingSet *set);
/* "3 findings (1 error, 2 warnings), 1 suppressed, 4 in the baseline" */
void output_summary(const FindingSet *set, Str *out);
/* "arguments on build"; of a step of check its name alone: "arguments the source". Unescaped. */
void output_run_name(const StoredRun *r, Str *out);
bool output_shows(const OutputOptions *o, const StoredFinding *f);
/* Why it is not complete, each reason once; empty if it is. Bytes as they come. */
void output_reasons(const FindingSet *set, const OutputOptions *o, Strings *out);

const Rule *output_rule(const OutputOptions *o, const char *id);   /* or NULL */
/* Where the rule's page is (to free), or NULL if it is not there. */
char *output_rule_page(const OutputOptions *o, const char *id);

/* "file:line:column", as much of it as is known; bytes as they come. */
void output_place(const Location *at, Str *out);
/* The evidence that stands first below a title and has no place; or NULL. */
const char *output_detail(const Finding *f);
/* Findings by what is most urgent: counting before not, then by evidence (if they are
 * graded), then by level, then in
 * the set's order. An array of `set->len` to free. */
const StoredFinding **output_by_urgency(const FindingSet *set);

/*
 * The bytes of one line that a place marks: [*from, *to) within a line of
 * `len` bytes. A point marks the word there. False: nothing on this line.
 */
bool output_marked(const Location *at, int line, const char *text, size_t len, size_t *from,
                   size_t *to);
#endif
