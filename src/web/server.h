/*
 * server - a PHP application under php-cgi, one request after the other.
 *
 *     Server *s = server_new(&plan, err);
 *     Reply *r = server_request(s, request, jar, step, err);
 *     use(r->status, r->body, r->trace);
 *     reply_free(r);
 *
 * php-cgi starts once, with Sundew's extension in it, and is forked for each
 * request (runtime/forkserver.h). It runs in a sandbox (run.h): it may write to
 * the folder and nowhere else, has no network, and mail and shell are stubs. Its
 * clock stands still and its randomness is the same in every request.
 *
 * With `cgi` the scripts are programs under CGI, in C say, started once for each request.
 * What they compare their parameters with is in the log (php/compared.c).
 *
 * How a request ends is a result: a page, a failure of the interpreter, a page
 * that never ends. An Err means that PHP could not be run at all.
 */
#ifndef SUNDEW_WEB_SERVER_H
#define SUNDEW_WEB_SERVER_H
#include "base/err.h"
#include "web/request.h"
#include "web/trace.h"

typedef struct ServerPlan {
    const char *folder;         /* private; app/, sessions/ and tmp/ are in it */
    const char *libexec;        /* where php/sundew.so is */
    char *const *ini;           /* NAME=VALUE, NULL-terminated; may be NULL */
    char *const *env;           /* NAME=VALUE for the application; may be NULL */
    const char *prepend;        /* a PHP file run before each script; may be NULL */
    double seconds;             /* of CPU for one request; 0: 5 */
    bool mysql;                 /* connections go to folder/db/socket */
    bool unprotected;           /* no sandbox */
    bool cgi;                   /* scripts are programs */
} ServerPlan;

typedef struct Header {
    char *name, *value;
} Header;

typedef struct Reply {
    int status;                 /* HTTP */
    Vec(Header) headers;
    Str body;
    bool cut;                   /* the page was larger than what is kept, or … */
    bool entangled;             /* … nobody can read it in a bearable time */
    bool timed_out, crashed;    /* of the process */
    int signal;
    char *failure;              /* how a program failed, in words; NULL: it did not */
    char *failed_in;            /* … in which source file, if that is known; or NULL */
    unsigned failed_at;         /* … and line */
    double seconds;             /* CPU */
    Trace *trace;
} Reply;

typedef struct Server Server;

/* NULL if php-cgi is there, else what is missing and how to get it. */
const char *server_missing(const char *libexec, bool cgi);

/* A file that can be run: a program for CGI. */
bool server_is_program(const char *path);

Server *server_new(const ServerPlan *plan, Err *err);
void server_free(Server *s);
/* What earlier requests have left beside files. Texts may be NULL. */
typedef struct Kept {
    const char *cookies;        /* the jar's header */
    const char *labels;         /* session keys that came from input, one a line */
    const char *stored;         /* values of the database that did, one a line */
    uint64_t seed;              /* above 0: randomness of its own */
} Kept;
Reply *server_request(Server *s, const Request *r, const Kept *kept, Err *err);
/* The statements and constants of one file below app/; runs nothing. */
Reply *server_list(Server *s, const char *file, Err *err);
void reply_free(Reply *r);
const char *reply_header(const Reply *r, const char *name);   /* or NULL */
/* What the application is told to be reached by: "127.0.0.1:8080"; localhost before. */
void server_host(Server *s, const char *host);
uint64_t server_requests(const Server *s);
/* What the sandbox can't do here; NULL: nothing. */
const char *server_unprotected(const Server *s);
#endif
