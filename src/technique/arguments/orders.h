/*
 * orders - the order of arguments of well-known functions: a table of names
 * for their parameters, and rules for exchanges that no name is needed for.
 *
 *     memset(destination|buffer, byte|fill, size|length)
 *     ! memset 2 3: size zero
 *     ? calloc 1 2: sizeof !sizeof         harmless, but odd
 *
 * The format is described in share/arguments/orders.txt.
 */
#ifndef SUNDEW_ARGUMENTS_ORDERS_H
#define SUNDEW_ARGUMENTS_ORDERS_H
#include "base/vec.h"
#include "ast/ast.h"

typedef struct Orders Orders;

typedef struct KnownParam {
    Strings names;
} KnownParam;

typedef struct KnownOrder {
    Vec(KnownParam) params;
} KnownOrder;

/* Arguments `first` and `second` (from 0) are exchanged if they look so. */
typedef struct OrderRule {
    unsigned first, second;
    char first_is[16], second_is[16];
    bool harmless;
} OrderRule;

typedef Vec(OrderRule) OrderRules;

Orders *orders_new(void);
bool orders_read(Orders *o, const char *path, Err *err);
bool orders_add_line(Orders *o, const char *line, Err *err);
void orders_free(Orders *o);                     /* NULL is fine */

const KnownOrder *orders_of(const Orders *o, const char *function);
/* The rule that the arguments of a call break; NULL: none. */
const OrderRule *orders_broken(const Orders *o, const AstCall *call);
#endif
