/*
 * failure_finding - how a run that failed becomes a finding.
 *
 *     Arena a = {0};
 *     Finding f = failure_finding(&a, &(FailureReport){
 *         .failure = &failure, .rule = "explore/failure", .program = "/src/prog" });
 *     f.rerun = command;
 *     bool ok = session_report(s, &f, err);
 *     arena_release(&a);
 *
 * The finding names the place where it fails (failure_site()), tells the failure in one
 * line, and has a step for each function on the stack, up to main(). Every technique that
 * runs programs reports failures through it, so that they look alike; what it
 * knows better it says in the report. Texts live in the arena or are the failure's.
 *
 * It knows src/run and src/finding, which don't know each other.
 */
#ifndef SUNDEW_FAILURE_FINDING_H
#define SUNDEW_FAILURE_FINDING_H
#include "base/mem.h"
#include "finding/finding.h"
#include "run/failure.h"

typedef struct FailureReport {
    const Failure *failure;
    const char *rule;
    Level level;
    const char *text;            /* instead of failure_title(); NULL */
    const char *before;          /* text before that; NULL: nothing */
    const char *more; /* what is known besides: stands below the title; NULL: nothing */
    const char *detail; /* a step before the stack, such as a condition; NULL: none */
    const char *anchor; /* instead of kind and `what`; NULL */
    Location where; /* instead of the site, if it has a file */
    const char *program; /* the file of a site without one */
    const char *ours; /* frames in a file of this name are made by Sundew, and the
                                    stack ends there; NULL: none is */
} FailureReport;

/* The verdict is "shown". */
Finding failure_finding(Arena *a, const FailureReport *r);
#endif
