/* What lab.c and lab_make.c share. */
#ifndef SUNDEW_LAB_INT_H
#define SUNDEW_LAB_INT_H
#include "base/map.h"
#include "base/vec.h"
#include "build/lab.h"
#include "build/symbols.h"

struct LabUnit {
    const Unit *unit;
    unsigned number;
    char *object;                      /* as compiled, absolute */
    char *edited;                      /* what is linked */
    Strings flags;                     /* compiler and its flags, no files */
    bool has_symbols, looked, edited_now;
    bool read_lines;          /* `files` has those that #line directives name */
    Map symbols;                       /* name → ObjectSymbol * */
    Map files;                         /* that it includes, itself too */
    Map taken;                         /* names that are something in it */
    Map edits;                         /* symbol → new name */
};

/* What the tests of one unit have named so far. */
struct LabView {
    Lab *lab;
    LabUnit *unit;
    LabViewPlan plan;
    Map declared;                      /* C name → declaration */
};

struct Lab {
    Arena arena;
    LabPlan plan;
    const CapturedProgram *captured;
    LabUnit *units;
    size_t nunits;
    Vec(LabView *) views;
    Strings support;                   /* objects that all tests are linked with */
    char *trial;                       /* … and trials; NULL: none */
};

/* The flags of a unit that is not optimised, behind the build's own. */
#define LAB_PLAIN_FLAGS "-O0", "-U_FORTIFY_SOURCE"

/* Words for the end of a link command. */
void lab_link_words(const Lab *lab, Strings *out);
/* Must main() of the unit get another name? */
bool lab_renames_main(Lab *lab, LabUnit *u);
#endif
