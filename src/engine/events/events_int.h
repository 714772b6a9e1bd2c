/* What the files of the events engine share: see events.h. */
#ifndef SUNDEW_EVENTS_INT_H
#define SUNDEW_EVENTS_INT_H
#include "base/json.h"
#include "base/map.h"
#include "base/vec.h"
#include "engine/concolic/log.h"
#include "engine/events/events.h"
#include "run/run.h"
#include "runtime/format/events.h"
#include "solve/solve.h"
#include "weave/edges.h"
#include <pthread.h>

typedef struct sundew_event_location Place;
typedef Vec(Place) Places;

/* One trace, as the search has it. */
typedef struct Node {
    uint32_t parent, depth;
    TraceEnd end;
    uint64_t hash;
    uint64_t way;                    /* names the path of its event */
    uint8_t *bytes;                  /* of all its events */
    Places places;                   /* what the event did; only for the rule "independent" */
    bool symbolic;                   /* values of the state depend on its event */
    bool done;                       /* all that can follow was run */
    bool watched;                    /* `places` tells all */
    bool apart; /* its events did what a fork does not have: runs replay them */
    size_t news;
    Vec(uint32_t) fresh; /* edges that it covered first */
} Node;

/* The search, shared by all workers. What stands below the lock belongs to who holds it. */
typedef struct Events {
    const EventsPlan *plan;
    EventsBuild build;
    const EventLayout *layout;
    Edges *edges;
    const char *folder; /* of builds in the making */
    unsigned prune;
    unsigned depth; /* of this pass */
    bool learning; /* a first look, for the list of what is never read */
    Places ignored; /* never read, or dead */
    size_t counters, branches;
    const FrontHost *host;
    double until; /* of clock_seconds(); 0: any time */
    const char *early; /* why it ended before the search; NULL: it did not */
    json_t *resumed; /* the search that goes on; NULL */
    unsigned passes; /* the first one takes it */

    pthread_mutex_t lock;
    Vec(Node) nodes; /* 0: the start */
    Vec(uint32_t) states; /* the explorer's state ─▶ node */
    Map hashes; /* states that were extended */
    Map kept; /* (parent, way) ─▶ node + 1, for "independent" */
    Map read; /* object and offset of what some event read */
    Map changed; /* … changed, or could have */
    Vec(EventsLevel) levels;
    Vec(EventsFailure) failures;
    uint8_t *covered;
    uint64_t executions, handled, lost;
    uint64_t symbolic; /* traces whose state depends on values of an event */
    uint64_t late, blocked; /* runs that did not end */
    uint32_t hidden; /* SUNDEW_EVENT_… that were seen */
    uint64_t unknown; /* questions about the state without an answer */
    char hidden_file[256];
    bool again; /* an ignored location was read: begin anew */
    bool never_waited;
    Map ignored_read; /* locations that may no longer be ignored */
    Arena arena;
} Events;

/* ---- run.c: one worker's two programs */

/* What a run of the watched program told. */
typedef struct Watched {
    Failure failure;
    bool done; /* it waits for another event */
    bool lost; /* it did not come to the last event */
    bool stopped; /* nobody has time for it */
    uint64_t before, after;
    uint64_t handled; /* events that were run for it */
    uint32_t hidden;
    char file[256]; /* the last one that was written; "" */
    char said[160]; /* the last line of its standard error; "" */
    Places places;
    const uint8_t *counters; /* of the last event; the runner's */
} Watched;

typedef struct Runs Runs;
Runs *runs_new(const Events *e, bool follow, Err *err);
void runs_free(Runs *r); /* NULL is fine */
/* From now on runs begin at the first boundary, in a fork. Before that each is a start of the
 * program, and tells whether it comes there at all. */
void runs_trust(Runs *r);
/* `shared`: the run may begin in a process that has got the events before the last one. */
bool runs_watch(Runs *r, const uint8_t *bytes, size_t n, bool shared, Watched *out, Err *err);
/* What a run left in the memory that it shares; `n`: bytes of events that it had. */
void events_take(const struct sundew_events *h, size_t n, Watched *out);
void watched_release(Watched *w);
/* The last event's conditions; its bytes are in, in + 1, … of the pool. `symbolic` gets the places
 * whose value may be another one on this path; *sure is false if that is not known of all. */
bool runs_follow(Runs *r, const uint8_t *bytes, size_t n, bool shared, Exprs *pool, uint32_t in,
                 Trail *out, Places *symbolic, bool *sure, Err *err);

/* ---- places.c */
bool place_meets(const Places *all, const Place *p, uint32_t how);
bool place_is_ignored(const Events *e, const Place *p);
bool place_was_changed(const Events *e, const Place *p);
/* For people: "mode", "table+8". */
char *place_name(const Events *e, const Place *p);
/* Places that were changed and never read become ignored. */
void places_learn(Events *e);
void places_note(Events *e, const Places *all);

/* ---- front.c */
extern const ExploreFront events_front;
/* A failure that is new. Under the lock. */
void failures_add(Events *e, const Failure *f, const uint8_t *bytes, size_t n, bool again);

/* ---- resume.c */
bool resume_save(const Events *e, const EventsResult *r, const char *path, Err *err);
/* Reads the file and what is known of locations; before the first run. */
bool resume_open(Events *e, const char *path, Err *err);
/* Traces and failures; e->nodes has the start. */
bool resume_take(Events *e, Runs *runs, Err *err);
/* Why a premise did not hold then; NULL: it did. */
const char *resume_premise(const Events *e, const char *name);

/* ---- prune.c */
/* Decides what becomes of a trace that is new; makes its node. `bytes` are those of all its
 * events. */
/* One that was decided before. */
void prune_take(Events *e, const Node *node);
uint32_t prune_add(Events *e, uint32_t parent, const Watched *w, const Places *symbolic, bool sure,
                   uint64_t way, const uint8_t *bytes, size_t news);
#endif
