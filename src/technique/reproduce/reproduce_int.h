/* What the files of this technique share. */
#ifndef SUNDEW_REPRODUCE_INT_H
#define SUNDEW_REPRODUCE_INT_H
#include "analysis/units/units.h"
#include "base/json.h"
#include "build/lab.h"
#include "build/lines.h"
#include "engine/contract/known.h"
#include "technique/reproduce/trial.h"
#include "technique/reproduce/world.h"

/* The files of a folder, for a program that reads or changes what lies there:
 * it gets copies. */
typedef struct Files {
    Arena arena;
    RunFile *items;
    size_t len, cap;
} Files;
/* Objects, archives and programs are left out unless one of `words` (ends with NULL; NULL: take
 * them too) names them. False: too many or too large; then it is empty. */
bool files_read(Files *f, const char *folder, char *const *words);
/* Those that the program was reading when it crashed, as far as the crash file has them. */
void files_of_crash(Files *f, const Crash *c);
bool files_write(const Files *f, const char *folder, Err *err);
void files_release(Files *f);

#define UNCOMPILED "does not compile: "

/* A frame, and the test that calls its function as it was called then. */
typedef struct Candidate {
    size_t frame;
    const Function *fn;
    const LabUnit *unit;         /* NULL: its source is not captured */
    unsigned distance;           /* frames between it and the crash */
    bool stale;                  /* the frame was left by longjmp or the like */
    bool gone;                   /* its function had returned: no candidate */
    bool reports;                /* it never returns, and only tells of the failure */
    bool between;                /* in the middle of a deep recursion: not tried */
    bool revived;                /* its test had objects that were freed later, alive */
    bool dead;                   /* … then tried with these freed */
    bool unoptimised;            /* … then compiled without an optimiser */
    const RestoreWorld *world;
    Restore *restore;            /* while it is being tried */
    bool reproduces, root_closer;
    bool informative;
    bool bad_pointer;            /* an argument is itself what was touched */
    const char *damage;          /* … or what it leads to: "list->first is null"; NULL: not so */
    bool broken_heap;            /* …that is, pointers that are no heap's */
    const char *root;            /* where the heap is broken, if its test does it; or NULL */
    Ending ways[2];              /* behind the failure: see TrialPlan.way */
    bool has_way[2];             /* … to an orderly end */
    const char *lacks;           /* the state of what comes behind the failure; NULL: nothing */
    const char *why; /* why not: of building (begins with UNCOMPILED), reproducing, telling */
    Ending ending; /* of its test */
    size_t objects, bytes; /* that the final test restores */
    char *call; /* "to_upper(NULL)" */
    char *file; /* of the test, in the folder; NULL: none kept */
    Strings differences;
} Candidate;

typedef struct Reproduction {
    Session *session;
    Arena arena;
    const char *path; /* of the crash file */
    const Crash *crash;
    const Program *program;
    const char *monitored;
    const KnownContracts *contracts; /* of the program; NULL: none */
    const char *folder;
    const char *cwd; /* ours */
    const Files *files; /* that were beside the program */
    bool guessed_files; /* …nobody named them: those that the crash file has */
    const char *input; /* file for standard input */
    Sameness same;
    bool asan, shrink;
    Lab *lab;
    Worlds *worlds;
    PlaceNames *names;
    Trial *trial;
    Units *units; /* of the program, once they are needed; or NULL */
    Ending was;
    Candidate *candidates; /* by frame: the innermost first */
    size_t n;
    Vec(Candidate *) ranked; /* the best first */
} Reproduction;

/* candidate.c: from frames to tests that are known to fail or not. */
bool candidates_find(Reproduction *rp, Err *err);
bool candidates_try(Reproduction *rp, Err *err);
void candidates_judge(Reproduction *rp);
void candidates_release(Reproduction *rp);
void candidate_with_files(const Reproduction *rp, TrialPlan *plan);   /* what the program had */
/* A definition that lets the address of its function out, so that no compiler knows all its
 * callers. */
void candidate_print_target(const Candidate *c, size_t number, Str *out);

/* damage.c: the bad pointer, if the state of a test that fails like the crash has it already. */
const char *damage_find(Reproduction *rp, const Candidate *c, const char *binary, unsigned test);

/* asserted.c: did the innermost function find itself that what it was handed is wrong? */
bool asserted_argument(const Program *p, const Ending *e, const Candidate *c);

/* shrink.c: which steps are needed for the same ending? */
typedef struct Shrinking {
    const Restore *restore;
    bool (*fails)(void *arg, const bool *keep);
    const bool *fixed; /* steps that stay; NULL: none */
    void *arg;
    unsigned most; /* trials */
    double seconds;
} Shrinking;
/* `keep` has a place for each step; filled in. */
void shrink(const Shrinking *s, bool *keep);

/* heap.c: which tests of a broken heap break it themselves? Fills in damage, broken_heap and root. */
void heap_judge(Reproduction *rp);

/* folder.c: what is left for people. */
bool folder_begin(Reproduction *rp, const char *wanted, Err *err);
bool folder_write_test(Reproduction *rp, Candidate *c, Err *err);
bool folder_finish(Reproduction *rp, Err *err);

/* report.c: terminal, JSON, findings. */
bool report_all(Reproduction *rp, Err *err);
void report_failure_line(const Reproduction *rp, Str *out);
void report_place(const Place *p, Str *out); /* "jo.c:12"; "jo.c": the line is not known */
/* What the crash file lacks, one line each. */
void report_lacks(const Reproduction *rp, Strings *out);

/* review.c: every byte of a crash file. */
bool review(Session *s, const char *path, Err *err);

/* desk.c: monitor the program that the first argument names, run it on copies of
 * the files, give the crash file that it left; the caller frees both. */
char *desk_crash(Session *s, const Files *files, char **monitored, Err *err);
/* The captured program and the monitored one of a crash file. */
Program *desk_program(Session *s, const Crash *c, Err *err);
char *desk_monitored(Session *s, const Crash *c, Err *err);
#endif
