/*
 * output - findings for people and for machines, each format one function.
 *
 * Each appends the whole document to `out`. What goes to standard output is
 * only ever the one format that was asked for. SARIF and HTML hold every
 * finding, marked as suppressed or known; the others hold what counts, unless
 * `all` is set. docs/findings.md describes the formats.
 */
#ifndef SUNDEW_OUTPUT_H
#define SUNDEW_OUTPUT_H
#include "base/str.h"
#include "finding/store.h"

typedef struct OutputOptions {
    bool color;                /* terminal only */
    bool all;                  /* suppressed and baseline findings too */
    const Rule *const *rules;  /* all rules there are, NULL-terminated */
    const char *share;         /* where share/ is, for rule pages */
    const char *docs_url;      /* of the folder of the rules' pages; "": none is known */
    const char *version;       /* of Sundew */
    const char *incomplete;    /* why this run is not complete, or NULL */
    json_t *extra;             /* more fields at the top of JSON; or NULL */
} OutputOptions;

void output_terminal(const FindingSet *set, const OutputOptions *o, Str *out);
void output_json(const FindingSet *set, const OutputOptions *o, Str *out);
void output_sarif(const FindingSet *set, const OutputOptions *o, Str *out);
void output_junit(const FindingSet *set, const OutputOptions *o, Str *out);
void output_tap(const FindingSet *set, const OutputOptions *o, Str *out);
void output_github(const FindingSet *set, const OutputOptions *o, Str *out);
/* Markdown for the page of a GitHub workflow's step: the most urgent first. */
void output_step_summary(const FindingSet *set, const OutputOptions *o, Str *out);
void output_html(const FindingSet *set, const OutputOptions *o, Str *out);
#endif
