/* What the files of this technique share. */
#ifndef SUNDEW_THREADS_INT_H
#define SUNDEW_THREADS_INT_H
#include "base/progress.h"
#include "engine/schedule/schedule.h"
#include "session/session.h"
#include "technique/threads/threads.h"

typedef enum { BAD_FAILURE, BAD_DEADLOCK, BAD_OUTPUT } BadKind;

/* One way to go wrong, with the schedule of fewest preemptions that shows it. */
typedef struct Bad {
    BadKind kind;
    Failure failure;                 /* BAD_FAILURE */
    uint32_t sites[SUNDEW_SCHEDULE_THREADS];     /* BAD_DEADLOCK: where each thread waits; … */
    unsigned nsites;
    struct sundew_wait waits[SUNDEW_SCHEDULE_THREADS];   /* … and for what */
    unsigned nwaits;
    bool switched;                   /* a turn was taken: where, and what ran then */
    struct sundew_side stopped, ran;
    Schedule schedule;
    unsigned preemptions;
    size_t seen;                     /* runs that went wrong in this way */
    size_t first;                    /* number of the first */
    unsigned again, tries;           /* replays: the same end, of how many */
    Str picture;                     /* the interleaving */
    char *folder;                    /* of the kept test */
} Bad;

typedef struct RaceSeen {
    struct sundew_race race;
    size_t seen;
} RaceSeen;
typedef Vec(RaceSeen) RacesSeen;

/* A whole program under search. */
typedef struct Whole {
    Session *s;
    Progress progress;
    const Program *program;
    ScheduleBuild build;
    Scheduler *scheduler;
    Strings argv;
    Str expected;                    /* --expect */
    bool has_expected;
    char *out;                       /* -o */
    char *cwd;                       /* where the program runs */
    Vec(Bad) bad;
    RacesSeen races;
    size_t runs;
    json_t *violations, *race_rows;  /* for --json */
    SearchResult search;
} Whole;

/* program.c */
bool whole_program(Session *s, Err *err);
bool whole_replay(Session *s, const char *folder, Err *err);
/* The number that an option gives; 0: it is not given. */
bool threads_number(Session *s, const char *name, size_t *out, Err *err);
/* --times, of a replay. */
bool replay_times(Session *s, size_t *out, Err *err);
/* How a run went wrong; false: it did not. */
bool whole_judge(const Whole *w, const ScheduleRun *run, Bad *out);
bool bad_same(const Bad *a, const Bad *b);
void bad_release(Bad *b);

/* report.c */
const char *preemptions_text(Arena *a, unsigned n);
bool report_bad(Whole *w, Bad *b, Err *err);
bool report_race(Whole *w, const RaceSeen *r, Err *err);
void report_summary(Whole *w);

/* races.c */
typedef struct RaceTold {
    Session *s;
    Scheduler *scheduler;
    const char *program;             /* for a place that has no line */
    Level level;
} RaceTold;
/* Who called is asked for once for all of them. */
void races_look_up(Scheduler *scheduler, const RacesSeen *all);
/* `others`: races of the same functions that have no report of their own. */
bool race_report(const RaceTold *t, const RaceSeen *r, unsigned others, Err *err);
/* Where a turn was taken, in two steps, with the locks that were held; the steps' number. */
size_t switch_steps(Arena *a, const RaceTold *t, const struct sundew_side *stopped,
                    const struct sundew_side *ran, EvidenceStep *steps);
json_t *switch_json(const RaceTold *t, const struct sundew_side *stopped,
                    const struct sundew_side *ran);
json_t *race_json(const RaceTold *t, const RaceSeen *r);
#endif
