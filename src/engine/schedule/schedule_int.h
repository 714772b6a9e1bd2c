/* What the files of src/engine/schedule/ share. */
#ifndef SUNDEW_ENGINE_SCHEDULE_INT_H
#define SUNDEW_ENGINE_SCHEDULE_INT_H
#include "engine/schedule/schedule.h"

/* run.c: sites that the last run showed to be hot are added; how many were new. */
size_t scheduler_heated(const Scheduler *s, Schedule *add);
#endif
