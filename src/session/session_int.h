/* What only the files of src/session/ share. */
#ifndef SUNDEW_SESSION_INT_H
#define SUNDEW_SESSION_INT_H
#include "base/map.h"
#include "base/vec.h"
#include "capture/capture.h"
#include "session/main.h"
#include "session/session.h"

/* One value of an option, and where it was said. */
typedef struct Value {
    const Option *option;
    char *text;               /* "" for a switch */
    char *origin;             /* "command line", "sundew.ini:3" */
} Value;

/* A folder that this command alone writes to. */
typedef struct Claim {
    char *folder;
    int fd;                   /* holds the lock */
    bool made;                /* by this command */
} Claim;

struct Session {
    const Command *command;
    const Command *const *commands;    /* all there are, NULL-terminated */
    Vec(Value) values;        /* the last one said wins */
    Strings args, tail;
    bool has_tail;
    char *command_line;
    char *home, *share, *libexec;
    Workspace *workspace;
    bool made_workspace;      /* by this command: a failure takes it away again */
    Store *store;
    Vec(Program *) programs;  /* all that are open */
    const Program *program;   /* one of them; this and the next by `needs` */
    Calls *calls;
    Api *api;
    AstIndex *ast;
    char *root;
    Rng rng;
    uint64_t seed;
    StoreRun *run;            /* a technique's, between begin and the end */
    char *scope;
    bool reported;            /* session_begin() was called */
    bool finished;            /* … and its findings are written */
    double deadline;          /* by --time; 0: none */
    Str out;
    Str incomplete;
    Str examined;             /* by session_examined() */
    size_t missing;           /* units of what was opened */
    const Overview *overview; /* of a command that has run others; or NULL */
    Vec(Claim) claims;        /* folders of this command alone */
    json_t *json;             /* more fields for the technique's output */
    int status;               /* -1: by the findings */
};

/* ---- args.c: fills command, values, args, tail */
bool args_parse(Session *s, int argc, char **argv, Err *err);
const Option *option_find(const Command *c, const char *name);

/* ---- config.c */
bool config_read(Session *s, const char *path, bool found, Err *err);
void config_print(Session *s, Str *out);

/* ---- evidence.c */
void evidence_release(Session *s);
/* "3,412 calls in 41 units, …; 2 units missing"; nothing if nothing is known. */
void evidence_examined(const Session *s, Str *out);

/* The same finding; a file that is named as the compiler saw it ("tool/a.c", in a subfolder) is
 * named by its whole path, if a unit tells that folder. */
Finding evidence_placed(const Session *s, Arena *a, const Finding *f);

/* ---- claim.c */
void claims_release(Session *s);

/* ---- session.c */
bool session_was_asked_to_stop(void);      /* Ctrl-C */

/* ---- report.c: how a technique's run ends */
bool report_finish(Session *s, Err *err);

/* ---- help.c */
void help_overview(const Command *const *all, Str *out);
void help_command(const Command *c, Str *out);
bool help_man_pages(const Command *const *all, const char *folder, Err *err);
bool help_completion(const Command *const *all, const char *shell, Str *out, Err *err);
#endif
