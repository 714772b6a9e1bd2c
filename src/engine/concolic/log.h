/*
 * log - what a concolic run said, as expressions and a path.
 *
 *     Log *log = log_new(&(LogPlan){ .nodes = 1 << 20 }, &err);
 *     log_reset(log, 0, len);                    before each run: bytes [0, len)
 *     … run with descriptor SUNDEW_LOG_FD = log_fd(log) …
 *     Trail trail = {0};
 *     if (log_read(log, p, in, &trail, &err))    p: the pool; in: its first byte
 *         for (size_t i = 0; i < path_length(trail.path); i++) …
 *     trail_release(&trail);
 *     log_free(log);
 *
 * The log is written by the program, so nothing in it is trusted: numbers that don't
 * fit are an error, and what was read up to there is dropped. A run that was killed
 * left a log that is fine up to where it came.
 *
 * Bytes of the input are bytes in, in + 1, … of the pool. A pool may be used for many
 * logs; expressions that are equal are found again.
 */
#ifndef SUNDEW_CONCOLIC_LOG_READER_H
#define SUNDEW_CONCOLIC_LOG_READER_H
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "runtime/format/concolic_log.h"
#include "solve/expr.h"
#include "solve/path.h"

/* ---- the memory that a run writes into */

typedef struct LogPlan {              /* 0 means the default */
    uint32_t nodes;                   /* 4,194,304: 64 MiB */
    uint32_t records;                 /* 1,048,576: 16 MiB */
    uint32_t bytes;                   /* 16 MiB, for tables */
    uint32_t per_site;                /* branches of one site; 256. UINT32_MAX: all */
    uint32_t flags;                   /* SUNDEW_LOG_… */
} LogPlan;

typedef struct Log Log;

Log *log_new(const LogPlan *plan, Err *err);
void log_free(Log *log);              /* NULL is fine */
int log_fd(const Log *log);           /* the log's; pass it on as SUNDEW_LOG_FD */
/* Empty, for a run in which bytes [from, to) of the input are symbolic. */
void log_reset(Log *log, uint32_t from, uint32_t to);
const struct sundew_log *log_header(const Log *log);
/* What the run left, as bytes: log_parse() reads them again. */
const void *log_bytes(const Log *log, size_t *n);

/* ---- what it says */

/* A conjunct of the path: path_at(trail.path, i) and steps.items[i]. Each is there once,
 * and those that can't be false are left out. */
typedef struct Step {
    uint8_t kind;                     /* SUNDEW_REC_BRANCH or SUNDEW_REC_PIN */
    uint8_t why;                      /* PIN: SUNDEW_WHY_… */
    bool ask;                         /* BRANCH: the opposite is worth asking for. PIN: of an
                                         address or size, so that others are tried */
    uint32_t at;                      /* BRANCH: edge taken. PIN: site */
    uint32_t other;                   /* BRANCH: the edge if not */
    Expr what, value;                 /* PIN: what was pinned, and to which constant */
    bool holes;                       /* conjuncts before this one may be missing, or were
                                         given up: predictions from here on may fail */
} Step;

/* Something that could have been: `cond`, after the first `index` conjuncts. */
typedef struct Chance {
    Expr cond;
    uint32_t index;
    uint32_t at;                      /* edge of a switch; site of a bug */
    uint8_t kind;                     /* bugs: SUNDEW_BUG_… */
    bool holes;
} Chance;

typedef struct Note {                 /* an imprecision */
    uint8_t why;                      /* SUNDEW_WHY_… */
    uint32_t site;
    uint32_t index;                   /* conjuncts before it */
    const char *name;                 /* the callee that is blamed; "". Hostile text; lives
                                         as long as the trail */
} Note;

/* A number that stands as text in the input. */
typedef struct Number {
    uint8_t kind;                     /* SUNDEW_NUMBER_… */
    uint8_t base;
    uint32_t from, n;                 /* its text: bytes of the input */
    Expr value;                       /* of 64 bits, over these bytes */
} Number;

enum { TRAIL_NUMBERS = 32 };          /* the first so many are listed */

typedef struct Trail {
    Path *path;
    uint32_t in;                      /* the pool's number of the input's first byte */
    Vec(Step) steps;
    Vec(Chance) others;               /* other cases of switches */
    Vec(Chance) bugs;
    Vec(Note) notes;                  /* those with WHY_INSIDE are not among them */
    Vec(Number) numbers;
    uint32_t free; /* of log_read_numbers(): byte of the first number; else 0 */
    uint32_t ended; /* SUNDEW_END_… that ended the run's log; 0 */
    uint32_t sites_ended; /* sites whose budget was used up */
    bool no_tables; /* SUNDEW_END_BYTES: addresses were pinned instead */
    bool started; /* the runtime was there */
    uint32_t nodes, records;
    uint64_t regions, stale;
    size_t ninside; /* conjuncts "stays in its object" */
    Arena text; /* of the names */
} Trail;

/* Reads it into the pool. If the pool gets full, `holes` is set from there on. */
bool log_read(const Log *log, Exprs *p, uint32_t in, Trail *out, Err *err);
bool log_parse(const void *bytes, size_t n, Exprs *p, uint32_t in, Trail *out, Err *err);
/* Reads it once more, with all numbers that stand as text as unknowns of their own: number i is
 * bytes free + 8 * i … of the pool, in place of what its text says. So conditions on a number
 * don't depend on how many digits the input has there. Like log_read(), called after it. */
bool log_read_numbers(const Log *log, Exprs *p, uint32_t in, Trail *out, Err *err);
void trail_release(Trail *t); /* {0} is fine */
void trail_dump(const Trail *t, const Exprs *p, Str *out);
/* Asserts what always holds: every conjunct has its step, what stands behind a conjunct lies on
 * the path, conditions are truth values of the pool. */
void trail_check(const Trail *t, const Exprs *p);

/* Debug: does every conjunct hold under the input that the run had? The first that does
 * not is named in `err`. */
bool trail_verify(const Trail *t, const Exprs *p, const uint8_t *input, size_t n, Err *err);

const char *log_why_name(unsigned why);
const char *log_bug_name(unsigned bug);

/* ---- was the prediction right? */

/* A run on the answer to a question about conjunct (or chance) `index` of `parent`: did it
 * follow the parent's path up to there, and take edge `want` then? Edges from `standins` on
 * are those of standins of library functions, which may do their work in another way for
 * other input; only the program's own are compared. */
typedef enum Followed {
    FOLLOWED, /* it did */
    FOLLOWED_NOT, /* a divergence */
    FOLLOWED_UNSURE, /* imprecise before (`holes`), or inside of a standin */
} Followed;
Followed trail_followed(const Trail *parent, const Trail *child, uint32_t index, uint32_t want,
                        uint32_t standins);
#endif
