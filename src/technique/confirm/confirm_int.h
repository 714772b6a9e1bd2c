/* What the technique's files share. */
#ifndef SUNDEW_CONFIRM_INT_H
#define SUNDEW_CONFIRM_INT_H
#include "base/json.h"
#include "program/program.h"
#include "session/session.h"
#include "technique/confirm/warnings.h"

typedef struct Inquiry {
    Session *session;
    const Program *program;
    const char *name;              /* of the program */
    Warnings warnings;
    Map generated;                 /* path → its text, empty if it has no #line */
    WatchLines lines;              /* that they name */
    Woven *woven;
    Watch *watch;
    char key[SUNDEW_WATCH_KEY];    /* of the evidence file */
    uint64_t enough;               /* opportunities that reject */
    Str evidence;                  /* the file, as it was left */
    struct sundew_watch_slot *slots;   /* merged with what was kept */
    char *binary;                  /* the woven program, while it is there */
    bool ran;                      /* a command ran now */
    bool passed;
    bool late;                     /* stopped while it was built; nothing was observed */
    char *inputs;                  /* folder of the inputs that --explore made; NULL */
} Inquiry;

/* checkers.c: what installed checkers say about the program's units. */
void inquiry_run_checkers(Inquiry *q);
/* anchor.c: the lines that warnings speak of. */
void inquiry_ask(Inquiry *q);
/* anchor.c: sites for warnings, and warnings for our own suspects. */
void inquiry_anchor(Inquiry *q, bool own);
/* evidence.c */
/* The watching program; `path` is its evidence file, if SUNDEW_WATCH names none. */
bool inquiry_weave(Inquiry *q, const char *out, const char *path, Err *err);
/* Work that makes files, in a process of its own, which --time and Ctrl-C end: then q->late. */
bool inquiry_apart(Inquiry *q, bool (*work)(void *arg, Err *err), void *arg, Err *err);
/* The numbers of the slots, without a program. */
bool inquiry_prepare(Inquiry *q, Err *err);
bool inquiry_observe(Inquiry *q, Err *err);
bool inquiry_inject(Inquiry *q, Err *err);
/* Reads what a watched program left in `path`, beside what is there. */
bool inquiry_take(Inquiry *q, const char *path, Err *err);
/* What earlier runs left in the workspace, and keeping it. */
bool inquiry_merge(Inquiry *q, bool *any, Err *err);
bool inquiry_keep(Inquiry *q, Err *err);
void inquiry_judge(Inquiry *q);
/* names.c: a stack of the woven program, innermost first, without the runtime's frames. */
typedef Vec(EvidenceStep) Frames;
void inquiry_frames(Inquiry *q, const struct sundew_watch_slot *seen, Arena *a, Frames *out);
/* explore.c: --explore, after the command has run. */
bool inquiry_explore(Inquiry *q, Err *err);
/* report.c */
bool inquiry_report(Inquiry *q, Err *err);
/* races.c */
bool inquiry_races(Inquiry *q, Err *err);
#endif
