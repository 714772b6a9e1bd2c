/* What the files of `arguments` share. */
#ifndef SUNDEW_ARGUMENTS_INT_H
#define SUNDEW_ARGUMENTS_INT_H
#include "base/rng.h"
#include "ast/ast.h"
#include "technique/arguments/anomaly.h"
#include "technique/arguments/learned.h"
#include "technique/arguments/orders.h"

/* When two parameters count as equally typed. */
typedef enum { TYPES_TYPEDEF, TYPES_CANONICAL, TYPES_CONVERTIBLE } TypesMode;

typedef enum { CLASS_BUG, CLASS_NAMING, CLASS_NOTEWORTHY } SwapClass;

typedef struct Settings {
    TypesMode types;
    double threshold;
} Settings;

/* The equally typed parameters of one function, and all calls of it. */
typedef struct ArgGroup {
    const AstFunction *fn;
    bool relaxed;              /* equal but for const; a known order only */
    unsigned k;
    unsigned *pos;             /* positions among the arguments */
    Group *names;
    size_t first;              /* example number of calls[0] */
    bool *doubtful;            /* calls that break the habit; made when needed */
    size_t ndoubtful;
    Vec(const AstCall *) calls;
} ArgGroup;

typedef Vec(ArgGroup *) ArgGroups;

typedef struct Finder {
    const AstIndex *ix;
    Words *words;
    Orders *orders;
    Learned *learned;
    Settings settings;
    Arena arena;
    ArgGroups groups;
    Map by_caller;             /* caller and callee -> CallList */
} Finder;

/* A call whose arguments stand in the order `order` of the group's positions
 * (NULL: as they do). */
typedef struct View {
    const ArgGroup *group;
    size_t call;               /* into group->calls */
    const unsigned *order;
} View;

typedef struct Suspect {
    View view;
    Anomaly anomaly;           /* its from and to are indexes of the group */
    bool by_habit;             /* the calls say so, not the names */
    Habit habit;
    SwapClass kind;
    bool strong;               /* the evidence is enough for a warning */
    unsigned more;             /* calls that are part of the same finding */
    const AstCall *at;
} Suspect;

bool finder_init(Finder *f, const AstIndex *ix, const Settings *s, const char *share,
                 char *const *words, char *const *orders, Err *err);
void finder_release(Finder *f);

const AstArg *view_arg(const View *v, unsigned i);
/* Judges one call by all rules but those that compare findings. False: there
 * is nothing to report. */
bool finder_judge(Finder *f, const View *v, Suspect *out);
/* Would the compiler take the exchange of two arguments without a word? */
bool finder_is_silent(const View *v, unsigned i, unsigned j);
/* Its order can't matter much, by its name. */
bool finder_is_symmetric(Finder *f, const AstFunction *fn);
SwapClass finder_class(Finder *f, const Suspect *s);
/* Is the evidence enough to say that it looks swapped? */
bool finder_is_strong(Finder *f, const Suspect *s);

typedef struct Session Session;
bool self_test(Session *s, Finder *f, Err *err);
#endif
