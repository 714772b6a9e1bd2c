/*
 * session - one run of one command: its options, budget, workspace, store.
 *
 * The command line fills it in; a command's run() asks it. Values come from
 * the command line, else the project's sundew.ini, else the option's default.
 * Texts belong to the session.
 */
#ifndef SUNDEW_SESSION_H
#define SUNDEW_SESSION_H
#include "base/rng.h"
#include "base/str.h"
#include "finding/store.h"
#include "session/command.h"

typedef struct Api Api;
typedef struct AstIndex AstIndex;
typedef struct Calls Calls;
typedef struct Program Program;
typedef struct Workspace Workspace;

/* ---- what was asked */
const char *session_option(Session *s, const char *name);   /* NULL: none */
bool session_flag(Session *s, const char *name);
char **session_args(Session *s, size_t *n);    /* before "--" */
char **session_tail(Session *s, size_t *n);    /* after "--" */
bool session_has_tail(Session *s);
/* All values of an option that may be repeated, in order; NULL-terminated. */
char **session_option_all(Session *s, const char *name);
/* As if it had been said: by a file that the command was asked to repeat. A NULL option
 * is an argument before "--". */
void session_adopt(Session *s, const char *option, const char *value);

/* ---- with what */
unsigned session_jobs(Session *s);
double session_time(Session *s);               /* --time in seconds; 0: none given */
uint64_t session_memory(Session *s);           /* --memory in bytes; 0: none given */
uint64_t session_seed(Session *s);
Rng *session_rng(Session *s);
Workspace *session_workspace(Session *s);
Store *session_store(Session *s);
const char *session_root(Session *s);          /* the project's folder */
const char *session_share(Session *s);         /* where share/ is */
const char *session_libexec(Session *s);       /* where sundew-cc, runtime are */
const char *session_command_line(Session *s);  /* shell-quoted, as typed */
bool session_verbose(Session *s);
bool session_quiet(Session *s);
bool session_color(Session *s);                /* for standard output */
bool session_time_is_over(const Session *s);   /* --time */
/* Seconds until --time is over, never 0; without --time: `otherwise`. */
double session_time_left(const Session *s, double otherwise);
bool session_was_asked_to_stop(void);           /* Ctrl-C */
/* The same, and it is over with: for a part of the work that goes on until then. The next Ctrl-C
 * is a new one. */
bool session_take_stop(void);
bool session_interrupted(Session *s);          /* Ctrl-C, or --time is over: stop,
                                                * keep what is there */

/* ---- evidence */
/* What the row's `needs` names; asking for anything else is a mistake. Open until
 * the command has ended. Notes about units that are missing have been said. */
const Program *session_program(const Session *s);
/* Is that program one that can be started? If not, it can't be `done` ("monitored"). */
bool session_executable(const Session *s, const char *done, Err *err);
const Calls *session_calls(const Session *s);
Api *session_api(const Session *s);
const AstIndex *session_ast(const Session *s);
/* Opens evidence later, or only with some options: NEEDS_PROGRAM and so on. What
 * is open already stays as it is. */
bool session_need(Session *s, unsigned what, Err *err);
/* One more captured program; the session closes it. */
const Program *session_open_program(Session *s, const char *name, Err *err);
/* The source of another project; the caller closes it. `ws` may be NULL. */
AstIndex *session_open_ast(Session *s, Workspace *ws, const char *root, char **paths, size_t npaths,
                           Err *err);

/* ---- what comes out */
/* Findings of a technique: begin with the scope ("build", or a program's
 * name), then one call each. NULL is a run over a part only, whose findings are
 * shown and count, but do not replace what the store has. --label names another scope. The session ends the run, prints the findings in
 * the form that was asked for and sets the exit status. */
bool session_begin(Session *s, const char *scope, Err *err);
bool session_report(Session *s, const Finding *f, Err *err);
/* This run has looked at `file`: comments in it that suppress this technique
 * and match no finding are reported as unused. */
void session_saw(Session *s, const char *file);
/* This run did not do all its work: said at the end and in every output. */
void session_incomplete(Session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* How much this run looked at, in addition to functions or calls and units, which the
 * session counts itself: "1,200 schedules". Said at the end and in every output. */
void session_examined(Session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* More fields at the top of the technique's --json output. */
void session_json(Session *s, const char *key, json_t *value);
/* The folder that results go to is this command's until it ends. It is made, and removed in the end
 * if it is still empty. Once more is fine. False: another command is at work there. */
bool session_claim(Session *s, const char *folder, Err *err);
/* Text for standard output, written whole at the end of the command. */
Str *session_out(Session *s);
/* A remark on standard error; not with -q. */
void session_note(Session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void session_status(Session *s, int status); /* exit status, if not by findings */
#endif
