/*
 * apart - work in a process of its own, which can be ended at any moment with all that it
 * has started.
 *
 *     ApartPlan plan = { .work = build_all, .arg = &builds, .until = until, .stop = interrupted, … };
 *     switch (apart_run(&plan, err)) …
 *
 * The process is forked, so the work may use all that there is. Only files remain of it. Fork before
 * there are threads. Work that is apart already is done where it is.
 */
#ifndef SUNDEW_APART_H
#define SUNDEW_APART_H
#include "base/err.h"
#include <sys/types.h>

typedef struct ApartPlan {
    bool (*work)(void *arg, Err *err);
    void *arg;
    double until;                    /* of clock_seconds(); 0: any time */
    bool (*stop)(void *arg);         /* asked ten times a second; may be NULL */
    void *stop_arg;
} ApartPlan;

/* LATE: the time was over. STOPPED: stop() said so. */
typedef enum { APART_DONE, APART_FAILED, APART_LATE, APART_STOPPED } ApartEnd;

ApartEnd apart_run(const ApartPlan *plan, Err *err);

/* Its two halves. Forks; 0 in the process, whose temporary files go to `scratch`. -1: errno. */
pid_t apart_fork(const char *scratch);
/* Kills the process and what it has started. */
void apart_kill(pid_t pid);
#endif
