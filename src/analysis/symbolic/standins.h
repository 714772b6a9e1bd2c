/*
 * standins - what becomes of a library function in a concolic run.
 *
 * One line a function, in share/standins/ and in files that a user adds; the format
 * is described in docs/standins.md:
 *
 *     own         strlen strcmp          our own version in C, woven like the program
 *     own         fgetc=getc             the version of another name
 *     always      read rand              the same, for what brings input or keeps something:
 *                                        also where nothing that it is given can be symbolic
 *     pin         setvbuf 3 4            these arguments stay what they are
 *     concretise  regexec                its results are not followed, and that is noted
 *     ignore      free puts              what it does makes no difference
 *
 *     Standins *m = standins_new();
 *     if (!standins_read_folder(m, "share/standins", err)) …
 *     const Standin *one = standins_find(m, "__isoc99_sscanf");
 *
 * A later line for a name replaces an earlier one. What is handed out lives as
 * long as the Standins.
 */
#ifndef SUNDEW_PROGRAM_STANDINS_H
#define SUNDEW_PROGRAM_STANDINS_H
#include "base/err.h"
#include <stddef.h>
#include <stdint.h>

typedef struct Standins Standins;

typedef enum StandinKind {
    STANDIN_OWN,
    STANDIN_ALWAYS,
    STANDIN_PIN,
    STANDIN_CONCRETISE,
    STANDIN_IGNORE,
} StandinKind;
const char *standin_kind_name(StandinKind k);      /* standin, pin, … */

typedef struct Standin {
    const char *name;
    StandinKind kind;
    const char *own;         /* sundew_standin_…; NULL: it has no version of our own */
    uint32_t arguments;      /* STANDIN_PIN: a bit each, the first is bit 0; 0: all */
    const char *where;       /* file:line */
} Standin;

Standins *standins_new(void);
void standins_free(Standins *all);                 /* NULL is fine */
/* Errors name the file and the line. */
bool standins_read(Standins *all, const char *path, Err *err);
bool standins_read_text(Standins *all, const char *text, const char *path, Err *err);
bool standins_read_folder(Standins *all, const char *folder, Err *err);

/* By the name as the linker sees it; __isoc99_, __isoc23_ and NAME64 forms stand
 * for the plain name if they have no line of their own. NULL: unknown. */
const Standin *standins_find(const Standins *all, const char *name);
size_t standins_count(const Standins *all);
const Standin *standins_at(const Standins *all, size_t i);
#endif
