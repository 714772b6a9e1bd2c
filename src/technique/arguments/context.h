/* The text around a call: comments, and branches of an if. */
#ifndef SUNDEW_ARGUMENTS_CONTEXT_H
#define SUNDEW_ARGUMENTS_CONTEXT_H
#include "ast/ast.h"

/* Does a comment in the four lines above the call, beside it or behind it speak of an
 * exchange, or of purpose? */
bool context_speaks_of_exchange(const AstCall *call);
/* Does such a comment name both arguments, `first` before `second`, and never the other way
 * round? "from the end to the start" */
bool context_names_in_order(const AstCall *call, const char *first, const char *second);
/* Are the two calls in different branches of one if, however long these are? */
bool context_is_other_branch(const AstCall *a, const AstCall *b);

#endif
