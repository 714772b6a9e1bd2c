/*
 * events - programs woven for events (runtime/events/events.h). They are kept (build.h).
 *
 *     EventsBuild b = {0};
 *     EventsBuildPlan plan = { .program = p, .edges = edges, … };
 *     if (!build_events(&plan, &b, err)) …
 *     events_build_release(&b);
 */
#ifndef SUNDEW_BUILD_EVENTS_H
#define SUNDEW_BUILD_EVENTS_H
#include "build/loop.h"
#include "weave/edges.h"
#include "weave/weave.h"

typedef struct EventsBuildPlan {
    const Program *program;
    const Edges *edges;
    const Function *loop;            /* its call is an event; NULL: the program waits itself */
    const char *folder;              /* for what is in the making; exists */
    const char *libexec, *share;
    bool no_sanitizers;
    const Function *const *summarised;   /* pure functions that are one condition; ends with NULL;
                                          * NULL: none */
} EventsBuildPlan;

/* An object of the state: a variable, or a value that a waiting function keeps. */
typedef struct EventObject {
    const char *name;
    uint64_t size;
    bool value;
    bool dead;                       /* no code reads it */
} EventObject;

typedef struct EventsBuild {
    char *watched;                   /* counts edges, notes accesses, has sanitizers */
    char *followed;                  /* follows the event */
    EventObject *objects;            /* by number */
    size_t nobjects;
    EventsFigures figures;
    EventLayout layout;              /* what an event is; without a loop: empty */
    Arena arena;
} EventsBuild;

bool build_events(const EventsBuildPlan *plan, EventsBuild *out, Err *err);
void events_build_release(EventsBuild *b);       /* {0} is fine */
#endif
