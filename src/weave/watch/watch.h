/*
 * watch - suspicious sites of a program, probes at them, and what observations say.
 *
 *     Woven *w = weave_begin(p, err);
 *     Watch *watch = watch_scan(w, false);         sites: suspects and witnesses
 *     … sites[i]->wanted = true …                  those that are to be judged
 *     weave_watch(watch, &plan, err);              one weave for all rules
 *     weave_runtime(w, libexec, "watch", err), place_build(w, …)
 *     … run it: evidence in the file of runtime/format/watch.h …
 *     watch_judge(watch, site, slots, &judgement);
 *     watch_free(watch);                           before weave_end(w)
 *
 * A rule (WatchRule) is one descriptor: what it looks for, what the programmer would
 * object, the probes, and the join that holds the observations against the
 * objection. The rules stand in rule_*.c; docs/hacking.md explains one.
 *
 * A site is a suspect (the rule's own matcher fires), or loose (only the warning of
 * another tool makes it a suspect), or a witness: an observation there tells about
 * suspects of the same group.
 */
#ifndef SUNDEW_WATCH_WEAVE_H
#define SUNDEW_WATCH_WEAVE_H
#include "base/map.h"
#include "runtime/format/watch.h"
#include "weave/weave.h"

typedef struct Watch Watch;
typedef struct WatchRule WatchRule;
typedef struct WatchSite WatchSite;
typedef struct LLVMOpaqueValue WatchValue;

/* From weak to strong. */
typedef enum {
    GRADE_NONE,
    GRADE_SIMULATED,    /* only under fault injection */
    GRADE_USAGE,        /* used in the dangerous way */
    GRADE_PREDICTIVE,   /* the contract was violated elsewhere, in the same class */
    GRADE_STRONG,       /* … at the site */
    GRADE_MANIFEST,     /* the fault itself */
    GRADES,
} WatchGrade;
const char *watch_grade_name(WatchGrade g);

typedef enum { SITE_SUSPECT, SITE_LOOSE, SITE_WITNESS } WatchRole;

typedef struct WatchPlace {
    unsigned line, column;
} WatchPlace;

struct WatchSite {
    const WatchRule *rule;
    WatchRole role;
    const char *group;         /* sites of a rule that tell about each other */
    const char *kind;          /* the evidence class, as far as the code tells; "" */
    const char *function;      /* as in the source */
    const char *file;          /* absolute; "" if not known */
    unsigned head;             /* line of the function; 0: not known */
    WatchPlace places[8];      /* where a warning about it may stand; the first is its own */
    unsigned nplaces;
    const char *subject;       /* what it is about: the callee, mostly */
    const char *key;           /* the same for the same code in another version */
    uint64_t body;             /* hash of the function's code */
    bool safe;                 /* a test keeps the fault away: a warning means another */
    bool open;                 /* something outside decides over the value */
    bool wanted;               /* the client's: judge it */
    unsigned slot;             /* the first of its slots, if it has probes */
    unsigned nslots;
    int error;                 /* that an injected failure may have; 0: none */
    int64_t fact[3];           /* the rule's own */
    WatchValue *at[4];         /* the instructions and values that the rule speaks of */
};

/* What the observations say about a site. */
typedef struct WatchJudgement {
    WatchGrade grade;
    uint64_t opportunities;
    char text[400];            /* the refuting observation, or what was seen instead */
    const WatchSite *seen_at;  /* where; NULL: nowhere */
    const struct sundew_watch_slot *seen;
    const char *missing;       /* the test that would tell more; NULL: any that gets there */
    bool idle;                 /* it was reached, but only in ways that tell nothing */
    bool open;                 /* more of the same runs can't reject it */
    bool settled;              /* one observation is enough to reject it */
} WatchJudgement;

typedef struct WatchEvidence {
    const Watch *watch;
    const struct sundew_watch_slot *slots;   /* watch_nslots() of them */
} WatchEvidence;

struct WatchRule {
    const char *family;        /* "ignored-count" */
    const char *objection;     /* what the programmer would say */
    const char *opportunity;   /* what is counted: "reads" */
    unsigned slots;            /* of a site; 0: 1 */
    /* One of them, or both: called for each instruction, each function with a body. */
    void (*instruction)(Watch *watch, WatchValue *i);
    void (*function)(Watch *watch, WatchValue *fn);
    void (*probe)(Watch *watch, WatchSite *site);
    /* `self` is the first slot of the site. */
    void (*join)(const WatchSite *site, const struct sundew_watch_slot *self,
                 const WatchEvidence *all, WatchJudgement *out);
    /* May a failure be injected at its sites? Slots count from the site's first. */
    bool injects;
    bool asked;                /* it looks only at lines that warnings name */
    bool heap;                 /* its probes need the sizes of heap objects */
};

/* Ends with NULL. */
extern const WatchRule *const watch_rules[];
const WatchRule *watch_rule(const char *family);     /* NULL: none */

/* Lines that other tools warn about: "LINE BASENAME"; "*": all of them. */
typedef Map WatchLines;
void watch_ask(WatchLines *lines, const char *file, unsigned line);

/* `races`: look for races, too; their probes cost most. `lines`: see WatchRule.asked; NULL: none. */
Watch *watch_scan(Woven *w, bool races, const WatchLines *lines);
void watch_free(Watch *watch); /* NULL is fine */
WatchSite *const *watch_sites(const Watch *watch, size_t *n);

typedef struct WatchPlan {
    const char *path; /* evidence file of a run without SUNDEW_WATCH; NULL: none */
    const char *key; /* of the evidence file */
    bool inject; /* results at wanted sites may be replaced */
} WatchPlan;
/* Probes at wanted sites, and at the other sites of their groups. */
bool weave_watch(Watch *watch, const WatchPlan *plan, Err *err);
unsigned watch_nslots(const Watch *watch);
/* A fresh file of evidence. */
bool watch_file_make(const Watch *watch, const char *path, const char *key, Err *err);

void watch_judge(const Watch *watch, const WatchSite *site, const struct sundew_watch_slot *slots,
                 WatchJudgement *out);
#endif
