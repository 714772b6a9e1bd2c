/*
 * finding - what a technique reports.
 *
 *     Finding f = {
 *         .rule = "arguments/swapped", .level = LEVEL_WARNING,
 *         .verdict = VERDICT_LIKELY,
 *         .message = "set_range: arguments 2 and 3 look swapped",
 *         .where = { .file = "/src/buf.c", .line = 17, .column = 5,
 *                    .function = "crop" },
 *         .anchor = "set_range 2 3",
 *     };
 *     session_report(s, &f, err);
 *
 * A Finding is a plain value that points to what the caller owns. All its
 * texts are bytes from programs and may be hostile: writers escape them.
 *
 * The fingerprint survives shifted lines and moved checkouts: it is made of the
 * rule, the file's path below the project's root, the enclosing function, the
 * `anchor` (what tells this finding from its neighbours, such as the callee and
 * the positions; without lines) and the source line's text without blanks and
 * comments. Equal ones are told apart by a counter in source order.
 */
#ifndef SUNDEW_FINDING_H
#define SUNDEW_FINDING_H
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum { LEVEL_ERROR, LEVEL_WARNING, LEVEL_NOTE } Level;
/* Three-valued: what was shown by running, what is likely, what we don't know. */
typedef enum { VERDICT_SHOWN, VERDICT_LIKELY, VERDICT_UNDECIDED } FindingVerdict;

/* How good the evidence of a finding is, one scale over all techniques, the best first. */
typedef enum {
    EVIDENCE_UNKNOWN,
    EVIDENCE_RUN,              /* a run of the program shows it */
    EVIDENCE_ELSEWHERE,        /* a run shows it at another place, or a part of it */
    EVIDENCE_STATISTICAL,      /* other code suggests it */
    EVIDENCE_STYLE,            /* it works, and could be written better */
} Evidence;

const char *evidence_name(Evidence e);         /* "shown by a run", … */
const char *level_name(Level l);               /* error, warning, note */
const char *verdict_name(FindingVerdict v);    /* shown, likely, not enough evidence */

typedef struct Location {
    const char *file;          /* absolute, or below the project's root */
    int line, column;          /* from 1; 0 is unknown */
    int end_line, end_column;  /* 0: a point; end_column is one past */
    const char *function;      /* enclosing; may be NULL */
} Location;

/* One step of the evidence, or a related place: "called from here". */
typedef struct EvidenceStep {
    Location at;               /* .file NULL: a step without a place */
    const char *text;
} EvidenceStep;

/* Something that comes with the finding: a C test, an input, a trace. `text`
 * may hold any bytes. */
typedef struct Attachment {
    const char *name;          /* a file name to show; never used as a path */
    const char *kind;          /* "test", "input", "trace", "patch" */
    const char *text;
    size_t size;
} Attachment;

/* Replace the text from `at` to its end by `text`. */
typedef struct FixIt {
    Location at;
    const char *text;
} FixIt;

/* Bytes of a title. A longer message is cut, and stands whole in the first step. */
enum { FINDING_TITLE = 120 };

typedef struct Finding {
    const char *rule;          /* "technique/name", a row in a table of Rules */
    Level level;
    FindingVerdict verdict;
    const char *message;       /* a short title: kind, function, what; FINDING_TITLE at most */
    const char *detail;        /* the evidence in one line, which the title leaves out: becomes
                                  the first step; or NULL */
    Location where;
    const char *anchor;
    const EvidenceStep *steps;
    size_t nsteps;
    const EvidenceStep *related;
    size_t nrelated;
    const Attachment *attachments;
    size_t nattachments;
    const FixIt *fixes;        /* together one fix */
    size_t nfixes;
    const char *rerun;         /* a shell command that shows it again; or NULL */
    const char *picture;       /* Graphviz source; or NULL */
    json_t *data;              /* more fields for --json (an object); or NULL */
} Finding;

/*
 * A rule that findings name. Its page is share/rules/TECHNIQUE-NAME.md, which
 * `sundew explain` prints and SARIF and HTML link to.
 */
typedef struct Rule {
    const char *id;            /* "arguments/swapped" */
    Level level;               /* usual */
    const char *summary;       /* one sentence */
} Rule;
#endif
