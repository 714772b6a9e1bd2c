/* What the files of this technique share. */
#ifndef SUNDEW_TECHNIQUE_EVENTS_INT_H
#define SUNDEW_TECHNIQUE_EVENTS_INT_H
#include "base/json.h"
#include "base/str.h"
#include "engine/events/events.h"
#include "session/session.h"

/* One run of the command. */
typedef struct Asked {
    Session *s;
    const Program *program;
    EventsPlan plan;
    Strings argv;
    Vec(const Function *) summarised;
    char *out;                       /* -o */
    char *graph;                     /* the states, as Graphviz source; NULL: too many */
} Asked;

/* events.c */
/* What is searched, from options or from a kept sequence (command.json). */
bool asked_open(Asked *a, const char *program, const char *loop, const char *grammar, Err *err);

/* grammar.c: what an event is, without a loop */
bool layout_guess(const Program *p, EventLayout *l, Err *err);
bool layout_read(const char *path, const Program *p, EventLayout *l, Err *err);

/* kept.c: OUT/N/ */
bool kept_write(const Asked *a, const EventsResult *r, const EventsFailure *f, size_t number,
                Err *err);
bool kept_replay(Session *s, const char *folder, Err *err);
/* Test scripts: OUT/tests/N.txt, a sequence for each trace that covers something new. */
bool kept_tests(const Asked *a, const EventsResult *r, Err *err);
bool kept_traces(const Asked *a, const EventsResult *r, Err *err);
void kept_events_text(const EventsResult *r, const uint8_t *bytes, unsigned n, Str *out);

/* report.c */
bool events_report(Asked *a, const EventsResult *r, Err *err);
#endif
