/*
 * lab - building C tests of a program's functions.
 *
 *     Lab *lab = lab_new(&(LabPlan){ … }, err);
 *     const LabUnit *u = lab_unit_of(lab, fn, NULL);
 *     LabView *v = lab_view(lab, u, &(LabViewPlan){ … }, err);
 *     lab_variable(v, var, &fixed), lab_function(v, symbol)   how a test names them
 *     lab_preamble(v, body, &text);                 the unit, and what it needs
 *     lab_build(lab, u, "t.c", "t", false, err);    compile, link
 *     lab_free(lab);
 *
 * A test #includes the source of the unit that has the function, so that static
 * functions, types and macros are there and a later fix is picked up. All other
 * units are objects: the build's own if they have debug information, else
 * compiled again with the build's own command and -g. They are linked by the
 * build's own link command.
 *
 *     static variables and functions of other units   objcopy makes them global
 *         under a name of their own, sundew_3_count
 *     main()                                          becomes program_main()
 *     everything that is named gets a second name by  extern int program_count
 *         an assembler label, so no declaration of     __asm__("count");
 *         the unit is in the way
 */
#ifndef SUNDEW_LAB_H
#define SUNDEW_LAB_H
#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "program/program.h"

typedef struct Lab Lab;
typedef struct LabUnit LabUnit;
typedef struct LabView LabView;

/* All that it points to outlives the lab. */
typedef struct LabPlan {
    const Program *program;            /* captured */
    const char *folder;                /* where tests and objects go; exists */
    const char *const *support;        /* C files and headers that tests use, copied
                                        * beside them; ends with NULL */
    const char *const *wrapped;        /* functions that `support` stands in for (ld's --wrap);
                                        * ends with NULL; NULL: none */
    const char *trial;                 /* one more C file, for trials only; NULL */
    bool asan;
    bool (*interrupted)(void *arg);    /* NULL: never */
    void *arg;
} LabPlan;

Lab *lab_new(const LabPlan *plan, Err *err);
void lab_free(Lab *lab);                       /* NULL is fine */

/* The same with the address sanitizer: tests that were written for the first can be built there.
 * The first outlives it. */
Lab *lab_with_asan(const Lab *first, Err *err);

/* The unit of a function. One of a header is in many: that of `near` (may be
 * NULL) if it sees the header. NULL: none. */
const LabUnit *lab_unit_of(Lab *lab, const Function *fn, const LabUnit *near);
const char *lab_unit_source(const LabUnit *u);

/* ---- what a test that includes the unit can name */

typedef struct LabViewPlan {
    bool plain;                        /* no names of the unit itself */
    /* The variable's declaration under that name, without `extern`. */
    void (*declaration)(void *arg, const Variable *v, const char *name, Str *out);
    void *arg;
} LabViewPlan;
/* Lives as long as the lab. NULL: the unit can't be read any more. */
LabView *lab_view(Lab *lab, const LabUnit *u, const LabViewPlan *plan, Err *err);
/* Is what is declared in this file declared in the unit? */
bool lab_sees(const LabView *v, const char *file);
const Map *lab_taken(const LabView *v);        /* names that are something there */
/* C names, which live as long as the lab; NULL: it can't be named. `fixed`: the
 * variable can't be written. */
const char *lab_variable(LabView *v, const Variable *var, bool *fixed);
const char *lab_function(LabView *v, const char *symbol);

/* The begin of a test: includes the unit, declares what `body` names. */
void lab_preamble(const LabView *v, const char *body, Str *out);

/* ---- building */

/* An optimiser may drop a failure: its result is not used, or dereferencing null is
 * undefined. LAB_UNOPTIMISED compiles the test and its unit without one. */
typedef enum { LAB_TRIAL = 1, LAB_UNOPTIMISED = 2 } LabHow;
/* Does the build optimise the unit? */
bool lab_is_optimised(const LabUnit *u);

/* C files in the folder to a program in it; `how` is of LabHow. False with what the
 * compiler said. */
bool lab_build(Lab *lab, const LabUnit *u, const char *source, const char *out, unsigned how,
               Err *err);

typedef struct LabTest {
    const char *name;                  /* its file, without .c */
    const LabUnit *unit;
    bool unoptimised;
} LabTest;
/* For a Makefile in the folder: rules for the tests and for all that they are linked with. */
bool lab_makefile(Lab *lab, const LabTest *tests, size_t n, Str *out, Err *err);
#endif
