/* What the files of the front end for C programs share. */
#ifndef SUNDEW_C_FRONT_INT_H
#define SUNDEW_C_FRONT_INT_H
#include "build/builds.h"
#include "build/lines.h"
#include "engine/explore/program/c_builder.h"
#include "engine/explore/program/c_front.h"
#include "weave/edges.h"
#include <stdatomic.h>
#include <sys/types.h>

struct CFront {
    CPlan plan;
    FrontHost host;
    Edges *edges;
    char *coverage;                            /* the build */
    /* Others, or NULL. Workers read them while the thread of the caller sets them. */
    _Atomic(const char *) concolic, sanitized;
    Strings paths;                             /* owns all of them */
    Builder *builder;
    const char *folder;                        /* of the builds */
    FrontTraces traces;
    size_t reachable;                          /* 0: not known */
    bool wants_calls, wants_sanitized;         /* still to be asked for */
    uint8_t *reached;                          /* functions that the concolic build follows, by
                                                * Function.index; NULL: all */
    double asked, took, looked;                /* when that build was, how long it took; clock */
    size_t counters;
    bool in_memory;                            /* a fuzz target */
    bool asks;                                 /* … for its input: behind it are zeros */
    size_t slots;                              /* bytes of the input that are in slots */
    bool snapshot;                             /* runs may share a process */
    bool lenient;                              /* c_front_was_lenient() */
    const char *late;                          /* c_front_was_late() */
    atomic_bool left_processes, traced;        /* … a run was traced */
    atomic_bool depends; /* a branch of the concolic build that there is … */
    atomic_uint ntraced; /* … depended on an input; inputs that it followed */
};

/* ---- c_builds.c */
bool c_builds_make(CFront *c, Err *err);
/* Takes the build that was asked for if it is there, and asks for the next. */
void c_builds_look(CFront *c);
/* Ends what is in the making. */
void c_builds_finish(CFront *c);
void c_front_note(const CFront *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- c_frames.c */
/* Names the frames that are in this build, and the site. */
void c_frames_name(PlaceNames *names, const char *build, Failure *f);

/* ---- c_words.c */
/* Strings and numbers of the program, for the dictionary. */
bool c_words_tell(const CFront *c, Err *err);
/* How many bytes the slots of arguments and variables take. */
size_t c_words_slots(const char *input);
/* A condition's text: input[16..19] becomes $MODE[0..3]. Takes and gives `text`. */
char *c_words_of(const CFront *c, char *text);
#endif
