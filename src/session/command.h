/*
 * command - a row of the command line: what `sundew NAME` is and takes.
 *
 * Help, man pages, shell completion, configuration keys and the parser all
 * read these rows; nothing about a command is said anywhere else.
 *
 *     static const Option options[] = {
 *         { "threshold", 0, "X", "report from this confidence on", "0.5" },
 *         { 0 },
 *     };
 *     const Command technique_arguments = {
 *         .name    = "arguments",
 *         .args    = "[PATH…]",
 *         .summary = "calls whose equally typed arguments look swapped",
 *         .about   = "longer text, for help and the man page",
 *         .examples = "sundew arguments\nsundew arguments src/main.c\n",
 *         .options = options,
 *         .rules   = rules,
 *         .needs   = NEEDS_STORE | NEEDS_AST,
 *         .run     = run,
 *     };
 */
#ifndef SUNDEW_COMMAND_H
#define SUNDEW_COMMAND_H
#include "base/err.h"
#include "finding/finding.h"

typedef struct Plan Plan;
typedef struct Project Project;
typedef struct Session Session;

typedef struct Option {
    const char *name;          /* without the dashes */
    char letter;               /* 0: none */
    const char *arg;           /* "DIR"; NULL: a switch */
    const char *help;
    const char *otherwise;     /* the default, as text; NULL: none */
} Option;

/* What the session opens before it calls `run`: one of the first four, each of
 * which includes the ones before, and any of the others. */
enum {
    NEEDS_NOTHING,
    NEEDS_CAPTURE,             /* a workspace that exists */
    NEEDS_FINDINGS,            /* the store of findings in it */
    NEEDS_STORE,               /* both are made if need be */
    NEEDS_FOLDER = 3,          /* the bits of these four */

    NEEDS_PROGRAM = 1 << 2,    /* the captured program that the first argument names */
    NEEDS_CALLS = 1 << 3,      /* that, and who calls whom; with --summaries */
    NEEDS_API = 1 << 4,        /* that, and what its functions want, as a library;
                                * with --headers and --cflags */
    NEEDS_AST = 1 << 5,        /* the source of the units that the arguments name;
                                * without arguments of all units */
};

typedef struct Command {
    const char *name;          /* one word, or two: "show programs" */
    const char *args;          /* what follows, for the usage line */
    const char *summary;       /* one line, no full stop */
    const char *about;         /* paragraphs, or NULL */
    const char *examples;      /* one command a line */
    const Option *options;     /* ends with {0}; NULL: none of its own */
    const Rule *rules;         /* ends with {0}; NULL: reports no findings */
    unsigned needs;            /* NEEDS_…: see above */
    bool hidden;               /* not in the list of commands */
    bool raw;                  /* arguments are handed over unparsed */
    bool until_time;           /* goes on until --time or Ctrl-C: then it is complete */
    bool runs;                 /* … from the first that is no option on: they
                                * are another command's */
    bool budget;               /* --time is how long it works: what it has then is
                                * complete */
    Evidence evidence;         /* that its likely findings rest on */
    /* What `check` could run of it on a project, and why not more: project/plan.h. NULL: it is
     * nothing to be run by `check`. */
    void (*plan)(Project *p, Plan *plan);
    /* Wrong values of options are found here, before anything is opened, which
     * can take long. NULL: nothing to check. */
    bool (*check)(Session *s, Err *err);
    /* False with `err` filled: exit status 2. */
    bool (*run)(Session *s, Err *err);
} Command;

/* The options that every command takes. Ends with {0}. */
extern const Option common_options[];
#endif
