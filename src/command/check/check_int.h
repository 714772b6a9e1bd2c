/*
 * What the files of src/command/check/ share: one check of a project.
 *
 *     prepare.c   the build and the tests, captured and observed
 *     steps.c     which step is next, for how long; running it
 *     state.c     what earlier checks did: .sundew/check/state.json
 *     since.c     what a change can affect
 *     answer.c    plan, answer, JSON
 */
#ifndef SUNDEW_CHECK_INT_H
#define SUNDEW_CHECK_INT_H
#include "base/json.h"
#include "base/map.h"
#include "finding/output.h"
#include "finding/rank.h"
#include "project/plan.h"
#include "project/recognise.h"
#include "session/main.h"
#include "session/session.h"

/* ---- what earlier checks did */

typedef enum {
    STEP_NEVER,
    STEP_DONE,
    STEP_CUT,                  /* its time was over; another check goes on */
    STEP_FAILED,               /* exit status 2: `why` has its words */
    STEP_CRASHED,
    STEP_HUNG,
} StepStatus;
const char *step_status_name(StepStatus s);

typedef struct StepRecord {
    char *name, *technique;
    char *key;                 /* of everything that determines the result */
    char *code;                /* project_build_key() at that time */
    StepStatus status;
    double spent;              /* seconds, over all checks with this key */
    char *why;                 /* of a failure; "" */
    char *examined;            /* "" */
    char *incomplete;          /* "" */
    bool nowhere;              /* a search that lacks something: more time finds nothing */
    size_t findings;
} StepRecord;

typedef struct TestsRecord {
    char *key;                 /* of the build and the command; "" */
    char *command;             /* for people */
    Strings words;             /* as it is run */
    double seconds;
    int status;
    bool hang;
} TestsRecord;

typedef struct State {
    char *path;
    Vec(StepRecord) steps;
    json_t *products;          /* list of objects */
    Map known;                 /* fingerprints of the last check of everything */
    json_t *commits; /* list of {"commit", "known"}: checks of everything, oldest first */
    TestsRecord tests;
} State;

bool state_open(State *st, const char *folder, Err *err);
/* Written whole: a kill loses at most the step that was running. */
bool state_write(const State *st, Err *err);
void state_release(State *st);
StepRecord *state_step(State *st, const char *name); /* NULL: never run */
StepRecord *state_make_step(State *st, const char *name, const char *technique);
/* The findings that were there at a commit; false: it was not checked. */
bool state_known_at(const State *st, const char *commit, Map *out);
/* All findings of the project as it is now, at this commit if it is one; else "". */
void state_set_known(State *st, const FindingSet *set, const char *commit);
void state_add_products(State *st, const PlanStep *s, const char *by, const char *key);
void state_give_products(const State *st, Project *p);

/* ---- a change */

typedef struct Change {
    char *rev; /* NULL: no --since */
    char *base; /* the commit that it is compared with */
    char *top; /* the folder whose changes count */
    Map files; /* changed, absolute -> Vec of lines */
    Map affected; /* sources, absolute, that a changed file is part of */
    size_t ncode; /* changed files that are code */
} Change;

bool change_read(Change *c, const char *root, const char *rev, Err *err);
void change_release(Change *c);
/* The commit that the folder is at, without changes; "": none, or there are some. To be freed. */
char *change_commit(const char *root);
/* Is the place of the finding, or a step of its evidence, in what has changed? */
bool change_touches(const Change *c, Project *p, const StoredFinding *f);

/* ---- one check */

/* A step of this check, for the answer. */
typedef struct Ran {
    const char *name, *technique, *subject, *reason, *fed_by;
    StepStatus status;
    const char *why, *examined, *incomplete;
    double begin, seconds;
    bool now; /* by this check; else kept from an earlier one */
    bool trial; /* only its first seconds have run */
    size_t findings;
} Ran;

typedef struct Check {
    Session *s;
    Arena arena;
    const char *self; /* this program */
    char *folder; /* .sundew/check */
    double begin, deadline;
    double budget; /* seconds of all */
    State state;
    Change change;
    Builds builds;
    const Build *build; /* the one that worked; NULL */
    char *build_shown; /* "make in larder"; "" */
    Strings tests; /* as words; empty: none */
    char *tests_shown;
    bool tests_guessed;
    Project *project;
    Plan plan;
    Vec(OverviewStep) prepared;      /* the build and the tests, for the time line */
    Vec(Ran) ran;
    size_t logs; /* steps that were begun */
    Vec(OverviewLine) skipped; /* for want of time, or because they failed */
    Vec(OverviewLine) troubles;
    bool stopped; /* Ctrl-C */
} Check;

void check_trouble(Check *c, const char *what, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
double check_left(const Check *c); /* seconds */

/* prepare.c */
bool prepare(Check *c, Err *err);
void prepare_look(Check *c); /* recognises, runs nothing */

/* steps.c */
bool steps_plan(Check *c, Err *err); /* asks all plan functions */
bool steps_run(Check *c, Err *err);
double step_share(const Check *c, const PlanStep *s); /* seconds that it would get */
const char *step_key(Check *c, const PlanStep *s);
bool step_is_done(Check *c, const PlanStep *s);

/* A child of ours: `sundew WORDS`, ended when its time is over or we are interrupted. Without
 * `out`, the log gets both outputs. */
typedef struct ChildResult {
    int status, signal;
    bool stopped; /* Ctrl-C */
    bool over; /* its time was over, and it was asked to end */
    bool hung; /* … and did not */
    double seconds;
} ChildResult;
bool run_child(Check *c, char *const *argv, const char *cwd, double seconds, const char *out,
               const char *log, ChildResult *r, Err *err);
/* The last line that it said on standard error, without "sundew: "; "". */
const char *last_words(Check *c, const char *log);

/* answer.c */
bool answer_plan(Check *c, Err *err);
bool answer(Check *c, Err *err);
#endif
