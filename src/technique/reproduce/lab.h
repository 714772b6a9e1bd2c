/*
 * lab - building tests of a program's functions.
 *
 *     Lab *lab = lab_new(&(LabPlan){ … }, err);
 *     const LabUnit *u = lab_unit_of(lab, fn, NULL);
 *     const RestoreWorld *w = lab_world(lab, u, false, err);   for restore_new()
 *     lab_preamble(lab, w, body, &text);            the unit, and what it needs
 *     lab_build(lab, u, "t.c", "t", trial, err);    compile, link
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
#include "engine/record/crash.h"
#include "engine/record/restore.h"
#include "session/session.h"

typedef struct Lab Lab;
typedef struct LabUnit LabUnit;

typedef struct LabPlan {
    Session *session;
    const Program *program;
    const Crash *crash;
    const char *monitored;       /* the program that crashed, with its symbols */
    const char *folder;          /* where tests and objects go; exists */
    bool asan;
} LabPlan;

Lab *lab_new(const LabPlan *plan, Err *err);
void lab_free(Lab *lab);                       /* NULL is fine */

/* The unit of a function. One of a header is in many: that of `near` (may be
 * NULL) if it sees the header. NULL: none. */
const LabUnit *lab_unit_of(Lab *lab, const Function *fn, const LabUnit *near);
const char *lab_unit_source(const LabUnit *u);

/* What a test that includes the unit can name; one for each unit. Lives as long
 * as the lab. NULL: the unit can't be read any more. */
const RestoreWorld *lab_world(Lab *lab, const LabUnit *u, bool plain, Err *err);
/* The begin of a test: includes the unit, declares what `body` names. */
void lab_preamble(const Lab *lab, const RestoreWorld *w, const char *body, Str *out);

/* C files in the folder to a program in it. `trial`: with the steps that can be
 * left out, and saying where it dies. False with what the compiler said. */
bool lab_build(Lab *lab, const LabUnit *u, const char *source, const char *out,
               bool trial, Err *err);

/* For a Makefile in the folder: rules for the tests (without .c) and for all
 * that they are linked with. units[i] is that of tests[i]. */
bool lab_makefile(Lab *lab, const Strings *tests, const LabUnit *const *units,
                  Str *out, Err *err);

/* Functions of the monitored program at these addresses of its file, inlined
 * ones included, innermost first. */
typedef struct Place {
    const char *function;
    const char *file;
    unsigned line;
} Place;
typedef Vec(Place) Places;
bool lab_places(Lab *lab, const char *binary, const uint64_t *at, size_t n,
                Places *out);
#endif
