/*
 * plan - what would be run, on what, for how long, and why; and why not the rest.
 *
 * A technique's row has a plan function. It looks at the project and adds a step for each run
 * that is worth its time, or says why there is none:
 *
 *     void events_plan(Project *p, Plan *plan)
 *     {
 *         …
 *         PlanStep *s = plan_step(plan, STAGE_SEARCH, x->shown, "waits for keys");
 *         step_costs(s, 5, 60, 2.0);
 *         step_word(s, "--depth");
 *         …
 *     }
 *
 * `check` calls all plan functions again after each step, because a step may have left results
 * that others can use. A step is told from others by its technique, subject and `variant`.
 */
#ifndef SUNDEW_PLAN_H
#define SUNDEW_PLAN_H
#include "base/mem.h"
#include "base/vec.h"
#include "project/project.h"

typedef struct Plan Plan;

/* In this order; within one, the most valuable a second first. */
typedef enum {
    STAGE_SOURCE,              /* reads the source */
    STAGE_ANALYSIS,            /* reads the captured program */
    STAGE_RUNS,                /* runs the tests, or searches as long as it may */
    STAGE_FED,                 /* uses what others have found */
} PlanStage;

/* A file that the step wants in the workspace before it runs. */
typedef struct StepCopy {
    const char *from, *to;
} StepCopy;

typedef struct PlanStep {
    const char *technique;
    const char *subject;       /* as people call it */
    const char *variant;       /* what tells it from other steps on the subject; "" */
    const char *reason;
    const char *fed_by;        /* the step whose results it uses; "" */
    PlanStage stage;
    double least;              /* seconds: below, it is not worth a start */
    double most;               /* seconds: above, more time finds little more */
    double value;              /* findings to expect, compared with other steps; 1 is usual */
    bool open_ended;           /* takes as long as it may: --time */
    double trial;              /* seconds after which a search that gets nowhere is ended; 0 */
    Vec(const char *) words;   /* after `sundew TECHNIQUE` */
    Vec(StepCopy) copies;
    Vec(const char *) programs;      /* paths of those that it is about; none: the source */
    Vec(const char *) depends;       /* keys: others mean that it must be done again */
    Vec(Product) products;
} PlanStep;

typedef struct PlanSkip {
    const char *technique, *subject, *why;
} PlanSkip;

struct Plan {
    Arena arena;
    const char *technique;     /* whose plan function is running */
    Vec(PlanStep *) steps;
    Vec(PlanSkip) skipped;
};

void plan_release(Plan *plan);

/* ---- for plan functions */
PlanStep *plan_step(Plan *plan, PlanStage stage, const char *subject, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Takes the last step back. */
void plan_take_back(Plan *plan);
/* `subject` "" is the project. */
void plan_skip(Plan *plan, const char *subject, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Is there a step of the technique whose plan function runs? */
bool plan_has_step(const Plan *plan);
/* The one step of a technique that looks at all of the source. */
void plan_source(Project *p, Plan *plan);
void step_costs(PlanStep *s, double least, double most, double value);
void step_word(Plan *plan, PlanStep *s, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void step_words(Plan *plan, PlanStep *s, char *const *words, size_t n);
/* The program that it is about: its path is the next word, its key what it depends on. */
void step_program(Plan *plan, PlanStep *s, const ProjectProgram *x);
/* --headers and --cflags for a library's headers. */
void step_headers(Plan *plan, PlanStep *s, const ProjectHeaders *h);
/* "--", and the command that runs the tests; costs grow by `times` runs of it. */
void step_tests(Plan *plan, PlanStep *s, const Project *p, double times);
/* "--", and the script that runs the program on inputs. */
void step_feed(Plan *plan, PlanStep *s, const ProjectFeed *feed);
void step_makes(Plan *plan, PlanStep *s, const char *kind, const char *program, const char *path,
                const Strings *args);
/* A folder of its own below .sundew/check/out/ for what a step writes. */
const char *step_folder(Plan *plan, const PlanStep *s, const Project *p);
/* "explore build/larder (@@ stock)" */
const char *step_name(Plan *plan, const PlanStep *s);

/* Stages in order, and in a stage value a second. */
void plan_sort(Plan *plan);
#endif
