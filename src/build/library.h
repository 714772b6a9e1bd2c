/*
 * library - a captured library made ready for sequences: three shared objects
 * of the same code.
 *
 *     cover     with coverage; the one that generation runs on
 *     strict    compiled once more from the sources, with the address and the
 *               undefined-behaviour sanitizer; NULL: it could not be
 *     mutants   with mutants that a number switches on
 *
 * They are kept (build/build.h), so the second time costs little.
 */
#ifndef SUNDEW_LIBRARY_H
#define SUNDEW_LIBRARY_H
#include "base/err.h"
#include "program/program.h"
#include "weave/weave.h"

typedef struct LibraryPlan {
    char *const *link;           /* words for the linker (-lm); NULL: none */
    unsigned jobs;               /* compilers at once; 0: 1 */
    bool with_mutants;
    size_t most_mutants;         /* 0: 4000 */
    bool plain;                  /* library_make_exposed(): without the sanitizer */
} LibraryPlan;

typedef struct Library {
    char *cover, *strict, *mutants;      /* paths; NULL */
    char *exposed;                       /* of library_make_exposed() */
    char *preload;                       /* for `strict`: the sanitizer's library */
    Cover *points;
    Mutants *faults;
    char why_not_strict[1024];
} Library;

bool library_make(const Program *p, const LibraryPlan *plan, Library *out, Err *err);
/*
 * One shared object in which everything can be called: with coverage, with the address
 * sanitizer if it is there, and static functions and variables under their symbols in the
 * module. A program with a main() will do. `preload` and `points` are set; the others stay NULL.
 */
bool library_make_exposed(const Program *p, const LibraryPlan *plan, Library *out, Err *err);
/* The steps of it, for who weaves another kind: the module as a shared object; and the
 * library of the address sanitizer. */
bool library_link_woven(Woven *w, const LibraryPlan *plan, const char *out, Err *err);
char *library_find_asan(Err *err);               /* NULL: it is not there */
void library_release(Library *l);
#endif
