/*
 * web - explore a PHP application: other inputs for the same page, then what
 * can be clicked there, each in the state that the page left behind.
 *
 *     WebPlan plan = { .app = "shop", .entry = "index.php", .seconds = 60, … };
 *     Web *w = web_run(&plan, err);
 *     for (size_t i = 0; i < w->nfaults; i++)
 *         use(&w->faults[i]);
 *     web_free(w);
 *
 * One loop over configurations ⟨request, start state⟩: restore the state, run
 * the request (concretely and symbolically in one run), judge the reply, then
 *
 *     for each condition i of the run:   the ones before hold, i does not
 *                                        → a request for the same state
 *     for each option of the page:       → a request for the state after it
 *
 * What was explored before in an equal state is not explored again. After the
 * time is over every fault is made small: the condition, the request, the chain
 * of requests before it.
 */
#ifndef SUNDEW_WEB_WEB_H
#define SUNDEW_WEB_WEB_H
#include "base/err.h"
#include "web/judge.h"
#include "web/page.h"

typedef enum WebStrategy {
    WEB_FULL,                  /* conditions and options */
    WEB_CRAWL,                 /* options only */
    WEB_RANDOM,                /* parameters at random: the baseline */
    WEB_MUTATE,                /* coverage-guided mutation of parameters */
} WebStrategy;
bool web_strategy_parse(const char *name, WebStrategy *out);

typedef struct WebPlan {
    const char *app;           /* the application's folder; only read */
    const char *entry;         /* below it; NULL: index.php */
    const char *folder;        /* private, exists */
    const char *libexec;
    const char *database;      /* an SQLite file outside of app; may be NULL */
    bool mysql;                /* a private MariaDB server */
    const char *mysql_file;    /* … filled from here; may be NULL */
    const char *mysql_name;    /* … into this database */
    const Credential *logins;
    size_t nlogins;
    char *const *ini, *const *env;
    const char *prepend;
    WebStrategy strategy;
    bool stateless;            /* one level: always the first state */
    bool no_html, no_deprecated, no_security;
    bool unprotected;
    bool cgi;                  /* scripts are programs under CGI */
    bool only_entry;           /* scripts are reached by options only */
    bool serve;                /* a person clicks in a browser, nothing else is tried */
    unsigned port;             /* … on 127.0.0.1; 0: any */
    bool (*enough)(void *arg); /* … asked with stop_arg: has the person finished? */
    void (*told)(void *arg, const char *text);   /* … with progress_arg; text is plain */
    double seconds;            /* in all; 0: until nothing is left */
    double request_seconds;    /* CPU of one request; 0: 5 */
    uint64_t most_requests;    /* 0: no limit */
    unsigned depth;            /* of a chain; 0: 8 */
    uint64_t seed;
    bool (*stop)(void *arg);   /* asked between requests; may be NULL */
    void *stop_arg;
    void (*progress)(void *arg, const char *text, uint64_t requests);
    void *progress_arg;
} WebPlan;

/* A line that fails more often than it passes. */
typedef struct Suspect {
    char *file;
    unsigned line;
    double score;              /* 0 … 1 */
} Suspect;

typedef struct WebFault {
    Fault fault;
    Strings condition;         /* conjuncts of the smallest condition */
    Request **chain;           /* the last one shows it; from the first state */
    size_t nchain;
    size_t seen;               /* runs that showed it */
    bool minimised;            /* the reduction came to its end */
    bool replayed;             /* the chain shows it again, from the start */
    size_t condition_before, input_before;    /* sizes before minimisation */
    double found_after;        /* seconds */
    Suspect *suspects;
    size_t nsuspects;
    Str page;                  /* what the last request answers */
    bool cgi;
} WebFault;

typedef struct WebCount {
    char *name;
    uint64_t count;
} WebCount;

typedef struct WebPoint {
    double seconds;
    uint64_t requests, lines;
} WebPoint;

/* A page of the map: a script and what leads to it. */
typedef struct WebLink {
    char *from, *to;
} WebLink;

/* A file of the application. A page was asked for or linked to, a part was loaded
 * by another file; others never came up: installers, libraries for another
 * configuration, other languages. */
typedef struct WebFile {
    char *file;
    uint64_t lines, total;
    bool page, part;
} WebFile;

typedef struct Web {
    WebFault *faults;
    size_t nfaults;
    uint64_t requests, states, lines, total;
    uint64_t reachable;                    /* of total, in pages and parts */
    WebFile *files;
    size_t nfiles;
    uint64_t solved, diverged;             /* flips that ran; … went another way */
    uint64_t why[8];                       /* flips by FlipWhy */
    uint64_t stale;
    WebCount *lost;                        /* natives, the most costly first */
    size_t nlost;
    WebPoint *points;
    size_t npoints;
    WebLink *links;
    size_t nlinks;
    Request **recorded;                    /* what a person asked for, in order */
    size_t nrecorded;
    bool complete;                         /* nothing was left to explore */
    double seconds;
    char *protection;                      /* what the sandbox can't do; or NULL */
    Strings broken;                        /* files that PHP can't compile */
} Web;

const char *web_missing(const char *libexec, bool cgi);   /* NULL: all is there */
Web *web_run(const WebPlan *plan, Err *err);
void web_free(Web *w);

/* The chain again, from the first state: the last reply, or NULL. Faults are those
 * of the last request, or of all. */
Reply *web_replay(const WebPlan *plan, Request *const *chain, size_t n, bool all, Faults *out,
                  Err *err);

/* Files that show a fault again. */
void web_curl(const WebFault *f, Str *out);
void web_curl_session(Request *const *chain, size_t n, Str *out);
void web_phpunit(const WebFault *f, const char *name, Str *out);
#endif
