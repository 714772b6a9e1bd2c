/* What the technique's files share. */
#ifndef SUNDEW_INVARIANTS_INT_H
#define SUNDEW_INVARIANTS_INT_H
#include "engine/contract/contract.h"
#include "engine/contract/discover.h"
#include "program/program.h"
#include "session/session.h"

typedef struct Study {
    Session *session;
    const Program *program;
    const char *name;         /* of the program */
    Samples *samples;
    Samples *again;           /* --steady: of a second run of the command; else NULL */
    Constraints constraints;  /* of --constraints */
    ContractPlan plan;
    Contracts *contracts;
} Study;

/* recording.c: samples of the command after "--", or those that are kept. */
bool study_samples(Study *st, Err *err);
/* Where the workspace keeps contracts/PROGRAM.KIND; the caller frees it. */
char *study_path(const Study *st, const char *kind);

/* report.c */
void report_contracts(const Study *st);
void report_difference(const Study *st);
void report_discovered(const Study *st, const Discovered *d);
bool report_broken(const Study *st, const BrokenList *broken, Err *err);
bool report_changed(const Study *st, const json_t *old, Err *err);
bool report_page(const Study *st, Err *err);
json_t *report_json(const Study *st);
#endif
