/* The concolic stage. */
#include "engine/concolic/explore_int.h"

Tracer *tracer_new(Job *j, Err *err)
{
    (void)j;
    err_set(err, "not yet");
    return NULL;
}
void tracer_free(Tracer *t) { (void)t; }
bool tracer_wanted(Job *j) { (void)j; return false; }
bool tracer_step(Job *j) { (void)j; return true; }
SolverStats tracer_stats(const Tracer *t) { (void)t; return (SolverStats){0}; }
