/*
 * optables - tables of operations: structs of function pointers that a program
 * fills in several ways.
 *
 *     struct store_ops { int (*open)(…); int (*put)(…); … };
 *     const struct store_ops store_list   = { list_open, list_put, … };
 *     const struct store_ops store_packed = { packed_open, packed_put, … };
 *
 *     OpTables t = {0};
 *     if (!optables_find(p, &t, err)) …
 *     for (size_t i = 0; i < t.n; i++) use(t.all[i].name, t.all[i].impls);
 *     optables_release(&t);
 *
 * An implementation is a variable with an initialiser (an element of an array is one,
 * too), or what one function stores at run time:
 *
 *     void fast_init(struct queue_ops *o) { o->push = fast_push; o->pop = fast_pop; }
 *
 * Slots are the fields that point to functions; others (a name, flags) are not.
 * Tables are in the order of the program's types, implementations in that of the module.
 */
#ifndef SUNDEW_OPTABLES_H
#define SUNDEW_OPTABLES_H
#include "base/mem.h"
#include "program/program.h"

typedef struct OpSlot {
    const char *name;          /* of the field */
    const Type *type;          /* TYPE_FUNCTION that it points to */
    uint64_t offset;           /* in bytes */
} OpSlot;

typedef struct OpImpl {
    const char *name;          /* of the variable, or of the function that fills it */
    const char *label;         /* the text in a field called name, id …; NULL: none */
    const char *symbol;        /* of the variable; NULL: filled at run time */
    uint64_t at;               /* where it begins in the variable: an array's element */
    bool is_static;            /* the variable can't be named in other units */
    bool at_run_time;
    const char *file;          /* where it is; "" if not known */
    unsigned line;
    const Function **slots;    /* one a slot; NULL: none */
    unsigned nfilled;
    const Function **users;    /* functions that name the variable, or fill the table */
    size_t nusers;
    const char *wrong;         /* "slot put: int (int) where int (char *) belongs"; NULL */
} OpImpl;

typedef struct OpTable {
    const Type *type;          /* the struct */
    const char *name;          /* "struct store_ops", or a typedef's name */
    OpSlot *slots;
    unsigned nslots;
    OpImpl *impls;
    size_t nimpls;
} OpTable;

typedef struct OpTables {
    OpTable *all;
    size_t n;
    Arena arena;
} OpTables;

/* All tables with an implementation at least. */
bool optables_find(const Program *p, OpTables *out, Err *err);
void optables_release(OpTables *t);
/* By the whole name or without "struct"; NULL: none. */
const OpTable *optables_table(const OpTables *t, const char *name);
/* By name, by label, or by the only one that ends so; NULL: none, or several. */
const OpImpl *optable_impl(const OpTable *t, const char *name);

/* Asserts what always holds: slots in the struct, functions that are the program's. */
void optables_check(const OpTables *t);
#endif
