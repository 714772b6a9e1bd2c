/*
 * symbolic - which values may depend on the program's input.
 *
 * Type dependence: forward flow from the declared inputs over values and
 * memory, calls matched with returns. What it does not name is never symbolic
 * in any run, so a weave may leave it alone; and what it names tells, before
 * anything runs, which operations and calls will cost precision or time.
 *
 *     Symbolic *s = symbolic_new(p, calls, &(SymbolicPlan){ .argv = true });
 *     symbolic_in_function(s, fn, &figures);
 *     size_t n;
 *     const SymbolicSite *sites = symbolic_sites(s, &n);
 *     symbolic_free(s);
 *
 * docs/symbolic.md tells the rules. All that is handed out lives until
 * symbolic_free(), which must come before calls_close(). Questions about single
 * instructions are for the weave: symbolic_llvm.h.
 */
#ifndef SUNDEW_SYMBOLIC_H
#define SUNDEW_SYMBOLIC_H
#include "analysis/pointsto/calls.h"
#include "analysis/symbolic/standins.h"
#include "program/program.h"

typedef struct Symbolic Symbolic;

typedef struct SymbolicPlan {
    bool no_files;            /* what is read from files and descriptors is not input */
    bool argv, env;           /* the command line, the environment are */
    const char *function;     /* only the arguments of this one are, and what
                               * they point to; NULL: as above */
    const Standins *standins; /* functions with a standin of their own are no sites; NULL: none */
} SymbolicPlan;

Symbolic *symbolic_new(const Program *p, const Calls *calls, const SymbolicPlan *plan);
void symbolic_free(Symbolic *s); /* NULL is fine */

typedef struct SymbolicFigures {
    size_t instructions; /* all but debug intrinsics */
    size_t symbolic; /* of them, may see a symbolic operand */
    bool source; /* reads input, or calls what does */
} SymbolicFigures;
void symbolic_in_function(const Symbolic *s, const Function *fn, SymbolicFigures *out);
/* Of all functions with a body: how many there are, and may see something. */
void symbolic_functions(const Symbolic *s, size_t *all, size_t *seeing);
void symbolic_externals(const Symbolic *s, size_t *calls, size_t *mattering);

/* Why a place will be imprecise. */
typedef enum {
    SYMBOLIC_NO_THEORY, /* inline assembly, sin() … */
    SYMBOLIC_COSTLY, /* floating point, products and quotients of two symbols */
    SYMBOLIC_MEMORY, /* an address or a size depends on input */
    SYMBOLIC_CONTROL, /* a call through a pointer that depends on it */
    SYMBOLIC_BOUNDARY, /* input goes to code that is not seen */
} SymbolicClass;
const char *symbolic_class_name(SymbolicClass c);

typedef struct SymbolicStep {
    const char *file; /* "" if not known */
    unsigned line, column;
    const char *function; /* in which it is */
    const char *text; /* "read()", "load", "argument 1 of f()" */
} SymbolicStep;

typedef struct SymbolicSite {
    SymbolicClass class;
    const Function *fn;
    const char *file;
    unsigned line, column;
    const char *what; /* "call of qsort()", "division of two inputs" */
    const char *cure; /* what can be done about it */
    const SymbolicStep *path; /* from the input to here */
    size_t npath;
} SymbolicSite;
/* In the order of the program. */
const SymbolicSite *symbolic_sites(Symbolic *s, size_t *n);
#endif
