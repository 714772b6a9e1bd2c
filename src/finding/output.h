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

/* What a command did that has run others: for the page's overview and time line, and for
 * summaries. All texts may be hostile. */
typedef struct OverviewStep {
    const char *name;          /* "explore build/larder (@@ stock)" */
    const char *technique;
    const char *reason;        /* why it was run */
    const char *result;        /* "done", "cut short", … and how much it looked at */
    const char *fed_by;        /* the step whose results it used; "" */
    double begin, seconds;     /* since the command began; seconds 0: not this time */
    bool ran;                  /* this time; else its results are from an earlier one */
    bool ok;
    size_t findings;
} OverviewStep;

typedef struct OverviewLine {
    const char *what, *why;
} OverviewLine;

typedef struct Overview {
    const char *title;         /* one line: the build, the tests */
    double seconds;            /* of all */
    const OverviewStep *steps;
    size_t nsteps;
    const OverviewLine *skipped;
    size_t nskipped;
    const OverviewLine *troubles;    /* "the build": "it failed with status 2" */
    size_t ntroubles;
} Overview;

typedef struct OutputOptions {
    bool color;                /* terminal only */
    bool all;                  /* suppressed and baseline findings too */
    const Rule *const *rules;  /* all rules there are, NULL-terminated */
    const char *share;         /* where share/ is, for rule pages */
    const char *docs_url;      /* of the folder of the rules' pages; "": none is known */
    const char *version;       /* of Sundew */
    const char *incomplete;    /* why this run is not complete, or NULL */
    const Overview *overview;  /* or NULL */
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
/* GitLab's code quality report, a list in JSON. */
void output_gitlab(const FindingSet *set, const OutputOptions *o, Str *out);
void output_html(const FindingSet *set, const OutputOptions *o, Str *out);
#endif
