/* What the files of src/engine/schedule/ share. */
#ifndef SUNDEW_ENGINE_SCHEDULE_INT_H
#define SUNDEW_ENGINE_SCHEDULE_INT_H
#include "engine/schedule/schedule.h"

/* run.c: how long runs are is not known any more. */
void scheduler_forget(Scheduler *s);
/* A run that ends when `stop` (NULL: never) says so: then out->result.stopped. */
bool scheduler_run_until(Scheduler *s, const Schedule *schedule, bool (*stop)(void *arg), void *arg,
                         ScheduleRun *out, Err *err);
/* What a run left in the memory that it shares; `out` of {0}. Numbers that make no sense are
 * left out. */
void schedule_take(const struct sundew_schedule *p, size_t nsites, ScheduleRun *out);
#endif
