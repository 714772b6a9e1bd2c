/* What the files of the front end for C programs share. */
#ifndef SUNDEW_C_FRONT_INT_H
#define SUNDEW_C_FRONT_INT_H
#include "build/builds.h"
#include "build/lines.h"
#include "engine/explore/program/c_front.h"
#include "weave/edges.h"
#include <stdatomic.h>
#include <sys/types.h>

struct CFront {
    CPlan plan;
    FrontHost host;
    Edges *edges;
    char *coverage, *concolic, *sanitized;     /* builds; NULL: there is none */
    pid_t building;                            /* makes the concolic one meanwhile; 0 */
    char *building_err;                        /* the file in which it says why not */
    const char *folder;                        /* of the builds */
    FrontTraces traces;
    size_t counters;
    bool in_memory;                            /* a fuzz target */
    bool asks;                                 /* … for its input: behind it are zeros */
    size_t slots;                              /* bytes of the input that are in slots */
    bool snapshot;                             /* runs may share a process */
    bool late, kept;                           /* c_front_was_late() */
    atomic_bool left_processes;
};

/* ---- c_builds.c */
bool c_builds_make(CFront *c, Err *err);
/* Looks whether the build that was begun is there. */
void c_builds_look(CFront *c);
/* It was too late. `wait`: lets it end by itself, for the next time. */
void c_builds_finish(CFront *c, bool wait);
void c_builds_kill(CFront *c);
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
