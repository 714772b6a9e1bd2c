/* What the files of src/engine/schedule/ share. */
#ifndef SUNDEW_ENGINE_SCHEDULE_INT_H
#define SUNDEW_ENGINE_SCHEDULE_INT_H
#include "engine/schedule/schedule.h"

/* run.c: how long runs are is not known any more. */
void scheduler_forget(Scheduler *s);
/* A run that ends when `stop` (NULL: never) says so: then out->result.stopped. */
bool scheduler_run_until(Scheduler *s, const Schedule *schedule, bool (*stop)(void *arg), void *arg,
                         ScheduleRun *out, Err *err);
#endif
