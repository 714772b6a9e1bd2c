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
    const CallsBuild *build;  /* that has the site */
    const ProtoRun *run;
    uint32_t call;            /* of the run */
    uint32_t site;
    ProtoBreach breach;
    const ProtoCode *code;    /* BROKEN_CODE */
    ProtoUnfinished unfinished;
    char *test;               /* C, that shows it; NULL: the command does */
} Violation;
typedef Vec(Violation) Violations;

/* What generation did. */
typedef struct Generation {
    uint64_t sequences, died;
    uint64_t first_call, first_violation;    /* after so many sequences; 0: never */
    size_t kept;                 /* sequences that reached something new */
    size_t reaching;             /* functions that lead to the API */
} Generation;

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
    ProtoRuns runs;           /* of the command */
    ProtoRuns tests;          /* of generated tests */
    ProtoRuns broken;         /* of the command, while the environment fails */
    bool hung;                /* the time was over */
    double seconds;           /* that the command took */
    Protocols *protocols;
    json_t *lives;            /* what became of handles, by function and maker */
    Violations found;
    CallsBuild module;        /* the program as a library; path NULL: none */
    Generation generation;
    size_t good, misused;     /* runs that were mined; that told of misuse */
    size_t injected;          /* sites at which the environment failed */
    size_t silent;            /* failures that the filter spared */
} Client;

/* api.c: the API that --api names, and what to watch. */
bool client_api(Client *st, Err *err);
/* Is the function a part of the API, so that its calls say nothing? */
bool client_is_inside(const Client *st, const Function *fn);

/* recording.c: builds, runs the command, reads what it did. */
bool client_record(Client *st, char *const *words, size_t n, Err *err);
/* The command again for each of up to `most` sites, where files can't be opened, read or
 * written. Fills `broken`. */
bool client_inject(Client *st, char *const *words, size_t n, size_t most, Err *err);
char *client_path(const Client *st, const char *kind);

ApiCallsPlan client_plan(Client *st);
/* How subjects run: a report ends them with a signal, and freed memory is filled, so that
 * libraries that use it stumble. */
#define CLIENT_ASAN                                                                                \
    "ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:"   \
    "handle_abort=0:abort_on_error=1:symbolize=0:allocator_may_return_null=1:"                     \
    "detect_odr_violation=0:verify_asan_link_order=0:max_free_fill_size=65536:free_fill_byte=165"
#define CLIENT_PERTURB "MALLOC_PERTURB_=90"
/* The module as a library that tests can load; `preload` gets the sanitizer's. */
bool client_module(Client *st, char **preload, Err *err);
/* Runs that files of a folder tell of, with the sites of a build. */
bool client_read(Client *st, const CallsBuild *b, const char *folder, ProtoRuns *out, Err *err);

/* modules.c: calls of the program's own functions, grown towards the API. */
bool client_generate(Client *st, Err *err);

/* judge.c: failures that the protocols explain, and nobody declares. */
void client_judge(Client *st);
void client_judge_broken(Client *st);            /* after client_judge() */
/* One run of a build; the number of violations that are new. */
size_t client_judge_run(Client *st, const CallsBuild *b, const ProtoRun *r);
bool client_is_good(const Client *st, const ProtoRun *r);
/* Does the comment of a function speak of what its callers have to do? */
bool client_is_documented(const Client *st, const char *function);

/* replay.c: failures that earlier runs have found, and nothing else. */
bool replay_keep(const Client *st, Err *err);
bool replay_run(Client *st, Err *err);

/* report.c */
bool client_report(Client *st, Err *err);
#endif
