/* What the technique's files share. */
#ifndef SUNDEW_PROTOCOLS_INT_H
#define SUNDEW_PROTOCOLS_INT_H
#include "build/calls.h"
#include "engine/protocol/protocol.h"
#include "program/program.h"
#include "session/session.h"

typedef enum {
    BROKEN_CRASH,             /* tier 1: it dies in or below the call */
    BROKEN_CODE,              /* tier 2: a code that nobody looks at */
    BROKEN_HANG,              /* tier 2: it never comes back */
    BROKEN_UNFINISHED,        /* tier 2: nobody ends it */
} BrokenKind;

typedef struct Violation {
    BrokenKind kind;
    unsigned tier;
    const ProtoRun *run;
    uint32_t call;            /* of the run */
    uint32_t site;
    ProtoBreach breach;
    const ProtoCode *code;    /* BROKEN_CODE */
    ProtoUnfinished unfinished;
    char *test;               /* C, that shows it; NULL: the command does */
} Violation;
typedef Vec(Violation) Violations;

typedef struct Client {
    Session *session;
    const Program *program;
    const char *name;
    ProtoApi *api;
    Vec(ApiCallee) callees;   /* what is woven … */
    Vec(uint32_t) functions;  /* … and its function in the API */
    Str key;                  /* the API as text */
    Map api_files;            /* files that define functions of the API */
    CallsBuild build;
    Vec(uint32_t) callee;     /* of each site: function of the API */
    ProtoRuns runs;
    bool hung;                /* the time was over */
    Protocols *protocols;
    Violations found;
    size_t good, misused;     /* runs that were mined; that told of misuse */
    size_t silent;            /* failures that the filter spared */
} Client;

/* api.c: the API that --api names, and what to watch. */
bool client_api(Client *st, Err *err);
/* Is the function a part of the API, so that its calls say nothing? */
bool client_is_inside(const Client *st, const Function *fn);

/* recording.c: builds, runs the command, reads what it did. */
bool client_record(Client *st, Err *err);
char *client_path(const Client *st, const char *kind);

/* judge.c: failures that the protocols explain, and nobody declares. */
void client_judge(Client *st);
/* Does the comment of a function speak of what its callers have to do? */
bool client_is_documented(const Client *st, const char *function);

/* report.c */
bool client_report(Client *st, Err *err);
#endif
