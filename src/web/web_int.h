/*
 * What the files of the campaign share: search.c explores, attack.c probes for
 * security, reduce.c makes faults small, web.c is the main line.
 */
#ifndef SUNDEW_WEB_INT_H
#define SUNDEW_WEB_INT_H
#include "base/map.h"
#include "base/rng.h"
#include "web/database.h"
#include "web/flip.h"
#include "web/state.h"
#include "web/web.h"

/* One request of a chain, after it ran. */
typedef struct Step {
    const struct Step *before;     /* NULL: from the first state */
    Request *request;
    const State *start;
    unsigned depth;
    unsigned role, role_after;     /* who asks, and who is logged in then; 0: nobody */
    bool whole;                    /* a page came, and no fault */
    Strings session, stored;       /* keys and values of its input that it kept for later */
} Step;

/* Somebody who is logged in: where that led to. */
typedef struct Role {
    const State *state;
    const Step *step;
} Role;

/* Something to run. */
typedef struct Config {
    Request *request;
    const State *start;
    const Step *before;
    size_t bound;                  /* conditions before it are not flipped again */
    uint64_t target;               /* site and side that it aims at; 0: none */
    uint64_t expect;               /* hash of the conditions up to there; 0: none */
    unsigned depth;
    unsigned rank;                 /* in its class; 0: its depth */
    bool now;                      /* before all others of its class */
    bool attack;                   /* a hostile value: judged, not followed */
    unsigned class;
    const Step *origin;            /* CLASS_BACK: whose request kept a value … */
    Wish wish;                     /* … that should be another; `before` comes after it again */
} Config;

enum {
    CLASS_TARGET,
    CLASS_OPTION,
    CLASS_STATE,
    CLASS_REST,
    CLASS_DIRECT,
    CLASS_ATTACK,
    CLASS_FILL,
    CLASS_BACK,
    NCLASSES
};
enum { MOST_STORED = 60, MOST_DEPTH_QUEUE = 16, MOST_EXAMPLES = 3, MOST_ROLES = 9 };

typedef struct Queue {
    Config **items;
    size_t head, len, cap;
} Queue;

/* A run that showed a fault, kept for minimisation. */
typedef struct Example {
    const Step *step;
    Reply *reply;                  /* shared: owned by Campaign.kept */
} Example;

typedef struct Report {
    Fault fault;
    char *key;
    Example examples[MOST_EXAMPLES];
    size_t nexamples, seen;
    double found_after;
    Map lines;                     /* "file:line" → count, of failing runs */
} Report;

/* What a request did in a state: which faults (hashes of their keys), and the
 * state after it. Runs are the same every time, so none is made twice. */
typedef struct Memo {
    const State *end;
    size_t n;
    uint64_t faults[];
} Memo;

typedef struct Campaign {
    const WebPlan *plan;
    Web *web;
    Server *server;
    States *states;
    Database *database;            /* NULL: none was asked for */
    char *app;                     /* the private copy */
    Rng rng;
    double begin;
    Strings words;                 /* constants, credentials first */
    Strings scripts;               /* all of the application */
    Queue queues[NCLASSES][MOST_DEPTH_QUEUE];
    uint64_t picks;
    double yield[NCLASSES];        /* what a request of the class brought lately */
    Role roles[MOST_ROLES];        /* 0: nobody; then by the plan's logins */
    Map offered;                   /* "ROLE SCRIPT" that a page of the role links to */
    size_t checks;                 /* access.c: pages compared */
    Map shapes;                    /* kinds of clicks, with counts */
    Map screens;                   /* kinds of clicks by the page that they are on */
    Map visited;                   /* canonical request + state */
    Map sides;                     /* branch sides executed */
    Map tries;                     /* flips tried, by side and state */
    Map asked;                     /* canonical requests, with counts */
    Map used;                      /* states that a redirect led to */
    Map attacked;
    Map lines;                     /* "file:line" → runs that hit it */
    Map filled;                    /* … that were given a value, by page */
    Map known;                     /* parameters: "script path" */
    Map parts;                     /* files that were included by another */
    Map lost, edges;
    Map memos;                     /* request and state → Memo */
    Map prefixes;                  /* reduce.c: Step → its chain, made small */
    Vec(Report *) reports, dropped;
    uint64_t probes;               /* runs that made faults small */
    Map by_key;                    /* fault key → Report */
    Vec(Step *) steps;
    Vec(Reply *) kept;
    Vec(Request *) corpus;         /* mutate: requests that reached new lines */
} Campaign;

/* Restore, execute, save: a reply and the state after it. NULL with err. */
Reply *campaign_execute(Campaign *c, const Request *r, const State *start, const State **end,
                        Err *err);
/* Everything that follows from a run: coverage, faults. */
bool campaign_over(Campaign *c);
Report *campaign_report(Campaign *c, const Fault *f, const Step *step, Reply *reply);
void campaign_judge(Campaign *c, const Request *q, const Reply *r, Faults *out);

/* Values of the request that its statements put into the database. */
void campaign_stores(const Request *q, const Trace *t, Strings *out);
/* Remembers what the request did; NULL if that is not known. */
void campaign_remember(Campaign *c, const Request *q, const State *start, const State *end,
                       const Faults *f);
const Memo *campaign_memo(const Campaign *c, const Request *q, const State *start);

bool search_run(Campaign *c, Err *err);
/* serve.c: requests come from a browser. */
bool serve_run(Campaign *c, Err *err);
/* One request, judged and counted; nothing is proposed. NULL with err. The reply is the
 * campaign's if `kept`, else to free. */
typedef struct Visit {
    Reply *reply;
    const State *end;
    size_t fresh;                  /* lines never executed before */
    bool kept;
} Visit;
Step *search_visit(Campaign *c, const Request *r, const State *start, const Step *before,
                   Visit *out, Err *err);
void search_release(Campaign *c);
/* Puts a request into the queue, and takes it over. False: it was there before. */
bool search_propose(Campaign *c, unsigned class, Request *r, const State *start, const Step *before,
                    Config shape);
/* Proposes requests with hostile values for the parameters of this run. */
void attack_propose(Campaign *c, const Step *step, const Reply *r);
/* What a hostile value in the request did, if there is one. */
void attack_judge(Campaign *c, const Request *q, const Reply *r, Faults *out);
/* Does a database complain of a statement here? */
bool attack_is_sql_message(const char *text);
/* access.c: pages of one role that are open to another. */
void access_note_login(Campaign *c, Step *step, const Reply *r, const State *end);
void access_note_offer(Campaign *c, unsigned role, const char *script);
bool access_run(Campaign *c, Err *err);
bool reduce_all(Campaign *c, Err *err);
#endif
