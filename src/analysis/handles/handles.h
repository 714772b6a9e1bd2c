/*
 * handles - the structs that a program hands around by pointer, and what its
 * functions do with them.
 *
 * A handle type is a struct or union whose pointer is a parameter or the result
 * of an API function: one with external linkage, declared in a header of the
 * project if any is. Each such use has a role, with the evidence for it:
 *
 *     creates      struct buf *buf_new(void)      returned
 *                  int buf_open(struct buf **out) through a pointer to it
 *     initialises  void buf_init(struct buf *b)   in the caller's storage
 *     destroys     void buf_free(struct buf *b)   gone afterwards
 *     finishes     void buf_clear(struct buf *b)  frees what is in it, not it
 *     observes     int buf_len(struct buf *b)     is not written to
 *     changes      void buf_add(struct buf *b)    all else
 *
 *     Handles *h = handles_open(p, "sundew.handles", err);
 *     size_t n;
 *     const Handle *all = handles_all(h, &n);
 *     handles_close(h);
 *
 * Roles come from the code where it shows (what malloc gave is returned, the
 * parameter goes to free) and from names where it does not (an allocator behind
 * a function pointer). A user may overrule them in a file, sundew.handles in
 * the project's folder; docs/program.md describes it.
 */
#ifndef SUNDEW_HANDLES_H
#define SUNDEW_HANDLES_H
#include "program/program.h"

typedef enum {
    HANDLE_CREATES,
    HANDLE_INITIALISES,
    HANDLE_DESTROYS,
    HANDLE_FINISHES,
    HANDLE_OBSERVES,
    HANDLE_CHANGES,
} HandleRole;
const char *handle_role_name(HandleRole r);      /* creates, initialises, … */

enum { HANDLE_RETURNED = -1 };

typedef struct HandleUse {
    const Function *function;
    HandleRole role;
    int param;                /* index of the parameter, or HANDLE_RETURNED */
    const char *evidence;     /* one sentence */
    const char *file;         /* where it shows */
    unsigned line;
} HandleUse;

typedef struct Handle {
    const Type *type;         /* struct or union */
    HandleUse *uses;          /* by role, then in the order of the module */
    unsigned nuses;
} Handle;

typedef struct Handles Handles;

/* With the user's file applied; NULL or a file that is not there: without. What is
 * found in the code is kept beside the program's tables. NULL with `err`: a mistake
 * in the file. */
Handles *handles_open(const Program *p, const char *overrules, Err *err);
/* The same for these functions, static ones too; nothing is kept. A void * that stands
 * first in a function, or comes out of one, is a handle: Handle.type is void then. */
Handles *handles_open_for(const Program *p, const Function *const *fns, size_t n,
                          const char *overrules, Err *err);
/* As handles_open(), with these static functions in the API, too; nothing is kept. */
Handles *handles_open_with(const Program *p, const Function *const *fns, size_t n,
                           const char *overrules, Err *err);
/* The void that a void * or void ** leads to; NULL: another type. */
const Type *handle_void(const Type *t, unsigned *levels);
void handles_close(Handles *h);                  /* NULL is fine */
/* Lives until handles_close(). */
const Handle *handles_all(const Handles *h, size_t *n);
#endif
