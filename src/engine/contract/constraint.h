/*
 * constraint - relations between the contracts of two functions.
 *
 * One a line; # begins a comment:
 *
 *     Subdomain(remove, get)        where remove may be called, get may be too
 *     Subrange(last, at)            what last leaves behind, at may leave behind
 *     CanFollow(open, read)         after open, read may be called
 *     CanFollow(has_next: return != 0, next)         … if has_next said so
 *     Follows(add, remove)          remove starts where add may have ended
 *     Concord(multiply_diagonal, multiply)           both do the same where both
 *                                                    may be called
 *     OnlyCareAboutVariable(get: key)                say nothing of others
 *     OnlyCareAboutField(get: len, room)
 *
 * A condition is `return == 0`, `!= 0`, `< 0`, `>= 0` or NULL in place of 0.
 */
#ifndef SUNDEW_CONTRACT_CONSTRAINT_H
#define SUNDEW_CONTRACT_CONSTRAINT_H
#include "engine/contract/invariant.h"

typedef enum {
    CONSTRAINT_ONLY_VARIABLE,
    CONSTRAINT_ONLY_FIELD,
    CONSTRAINT_SUBDOMAIN,
    CONSTRAINT_SUBRANGE,
    CONSTRAINT_CAN_FOLLOW,
    CONSTRAINT_FOLLOWS,
    CONSTRAINT_CONCORD,
    CONSTRAINT_N
} ConstraintKind;
const char *constraint_kind_name(ConstraintKind k);    /* "Subdomain", … */

typedef struct Constraint {
    ConstraintKind kind;
    const char *from, *to;    /* names of functions; `to` is "" for OnlyCare… */
    Guard when;               /* CanFollow: only after such a result of `from` */
    char *const *names;       /* OnlyCare…: NULL-terminated */
    unsigned line;            /* in its file; 0: discovered */
    double rate;              /* of a discovered one: conjuncts that follow */
    double confidence;
    double core;              /* the same over the facts that were used */
    unsigned proved, of;      /* conjuncts */
} Constraint;

typedef struct Constraints {
    Arena arena;
    Vec(Constraint) items;
} Constraints;

/* False: the file can't be read, or a line is no constraint; the error names it. */
bool constraints_read(const char *path, Constraints *out, Err *err);
bool constraints_parse(const char *text, const char *path, Constraints *out, Err *err);
/* Do the functions exist, and have they a variable in common? */
bool constraints_match(const Constraints *c, const Samples *s, Err *err);
void constraints_release(Constraints *c);
void constraint_print(const Constraint *c, Str *out);  /* as in a file */

/* The points it relates: rows of *from are copied to *to. False for OnlyCare…. */
bool constraint_points(const Constraint *c, const Samples *s, const FunctionSamples **from,
                       const FunctionSamples **to, bool *from_exit, bool *to_exit);
/* The variable of `from` that stands for variable v of `to`; -1: none. */
int constraint_match(ConstraintKind k, const Point *from, const Point *to, unsigned v);

/*
 * The rows of a point with those that constraints bring, each once however many
 * ways it has, tagged with the constraint that it came by. Concord is left out.
 * Cells are the arena's; the caller releases the vector.
 */
void constraint_rows(const Constraints *c, const Samples *s, const FunctionSamples *f, bool is_exit,
                     Arena *a, Rows *out);
/* Adds what Concord brings to the exit of f, given all preconditions: those of a
 * function are found with `pre`. */
typedef const Invariants *PreOf(const FunctionSamples *f, void *arg);
void constraint_concord(const Constraints *c, const Samples *s, const FunctionSamples *f,
                        PreOf *pre, void *arg, Arena *a, Rows *out);
/* Cells that no invariant may mention are unknown afterwards. */
void constraint_project(const Constraints *c, const FunctionSamples *f, const Point *p, Arena *a,
                        Rows *rows);
/* The row of an exit as its entry was: for an invariant of the entry. */
void row_at_entry(const Point *exit, const Point *entry, const Row *r, Row *out);
#endif
