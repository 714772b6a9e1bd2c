/*
 * restore - the state in which a frame was entered, as C.
 *
 *     Restore *r = restore_new(crash, program, frame, &world, true);
 *     restore_print_trial(r, 0, &text), restore_state(r, &state, …);
 *                                           to find out what matters
 *     restore_keep(r, steps that matter);
 *     restore_print(r, &text);              for people
 *     restore_free(r);
 *
 * It walks from the frame's arguments, and from the global variables that the
 * file has, along all pointers. Each object becomes an *item*: allocated with
 * its exact size (a variable of the program stays where it is), then filled
 * by *pieces*: a field, a string, some bytes, a pointer to another item. Shared
 * objects are shared again, cycles are closed, pointers into the middle of an
 * object point there.
 *
 *     struct list *list = restore_object(sizeof *list);
 *     struct node *head = restore_object(sizeof *head);
 *     *list = (struct list){ .head = head, .count = 1 };
 *     *head = (struct node){ .next = head, .name = "x" };
 *     list_sort(list, 3);
 *
 * What is zero is not written: memory is zeroed when it is allocated. Every
 * piece is a *step* which can be left out; for trials the state is data that a
 * test reads when it runs, so that one compilation serves all of them.
 *
 * The printed C uses the functions of share/reproduce/restore.h. All texts
 * from the file go through base/escape.h.
 */
#ifndef SUNDEW_RESTORE_H
#define SUNDEW_RESTORE_H
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "engine/record/crash.h"
#include "program/program.h"

typedef struct Restore Restore;

/* What the file that gets the text can name. Texts live as long as `arg`. */
typedef struct RestoreWorld {
    /* Is what is declared in this file declared there? */
    bool (*sees)(void *arg, const char *file);
    /* C expressions: a pointer to the code at an address of the subject, and a
     * variable; `fixed` is set if it can't be written (the compiler saw that
     * nobody does). NULL: can't be named. */
    const char *(*code)(void *arg, uint64_t address);
    const char *(*variable)(void *arg, const Variable *v, bool *fixed);
    void *arg;
    const Map *taken;         /* names that must not be used for objects */
    bool plain;               /* no types of the program, neutral names */
} RestoreWorld;

/* Everything in `world` must outlive it. `revive`: what was freed after the frame was
 * entered is alive in its test, as it was then; else it is freed, as at the crash. */
Restore *restore_new(const Crash *c, const Program *p, size_t frame, const RestoreWorld *world,
                     bool revive);
bool restore_revives(const Restore *r);        /* was there such an object? */
void restore_free(Restore *r);                 /* NULL is fine */

/* Steps are numbered from 0. Those of one object follow each other; a group
 * is one object. */
size_t restore_nsteps(const Restore *r);
size_t restore_group(const Restore *r, size_t step);
/* How many objects lie between an argument and that of the step: 0 is what an argument
 * points to. RESTORE_FAR: only variables lead there. */
enum { RESTORE_FAR = 1000 };
unsigned restore_depth(const Restore *r, size_t step);
/* Does the step set a pointer to an object? Not in objects of very many steps. */
bool restore_is_link(const Restore *r, size_t step);
/* Does it, in a variable of the program? */
bool restore_is_link_of_variable(const Restore *r, size_t step);
/* The steps that are to be printed from now on; all of them at first. */
void restore_keep(Restore *r, const bool *keep);

/* The statements of a test: objects, what is in them, the call. Only what is
 * kept. */
void restore_print(const Restore *r, Str *out);
/* For trials: statements that read the state `number`, and call. */
void restore_print_trial(const Restore *r, unsigned number, Str *out);
/* The state, as restore_state.c says. `named` gets the C expressions that it
 * refers to. */
void restore_state(const Restore *r, Str *out, Strings *named);
/* The call alone: "to_upper(NULL)". */
void restore_print_call(const Restore *r, Str *out);

/* An argument as a number: is it a pointer, and to where? */
typedef struct RestoreArg {
    const char *name;         /* of the parameter */
    bool pointer, integer;
    uint64_t value;           /* of a pointer, or of an integer (its sign extended) */
    bool known;               /* points into an object that is known */
} RestoreArg;
const RestoreArg *restore_args(const Restore *r, size_t *n);

/* Pointers to nothing that the function is handed, in objects up to `depth` from its arguments,
 * then in variables and in all else: those whose value is `near`, and null ones of the elements at
 * hand. */
typedef struct RestoreBad {
    size_t object;            /* number of the item, as the state has it */
    uint64_t offset;
    const char *text;         /* "list->first" */
    bool null, handed;
    const Type *record; /* whose member it is, … */
    uint64_t member; /* … at this offset; NULL: of none that is known */
    const Variable *variable; /* … or in this one; or NULL */
} RestoreBad;
typedef Vec(RestoreBad) RestoreBads;
typedef struct RestoreSearch {
    bool (*near)(const void *arg, uint64_t value);
    const void *arg;
    bool null;                /* null ones too */
    unsigned depth;
    size_t most;
} RestoreSearch;
void restore_bad_pointers(Restore *r, const RestoreSearch *search, RestoreBads *out);

/* The arguments for people, one line each: what was passed, some pointers deep:
 * "call = &{ .name = "test", .args = { "foo", "bar" } }"; of a list the first node,
 * of pointers behind a pointer all up to a null one. */
void restore_describe(Restore *r, Strings *out);

/* What could not be restored as it was, one line each; program text in it. */
const Strings *restore_notes(const Restore *r);
/* Objects and bytes that the plain form restores. */
void restore_size(const Restore *r, size_t *objects, size_t *bytes);

/* Differences between the entry of the frame and the crash, one line each:
 * "expr->has_error: 0, at the crash 1". At most `most`. */
void restore_differences(const Restore *r, size_t most, Strings *out);

/* A variable's declaration under another name, as this world can say it. */
void restore_declaration(const RestoreWorld *w, const Variable *v, const char *name, Str *out);

/* A value of a type as text for people, from its bytes. */
void restore_value_text(const Type *t, const uint8_t *bytes, size_t n, Str *out);
#endif
