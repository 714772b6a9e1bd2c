/* How functions outside the program are declared. */
#ifndef SUNDEW_MUTABILITY_DECLARED_H
#define SUNDEW_MUTABILITY_DECLARED_H
#include "session/session.h"

typedef struct Declared Declared;

/* Reads the declarations of the build's sources; NULL: there are none to be read. */
Declared *declared_new(Session *s);
void declared_free(Declared *d);             /* NULL is fine */
/* MutabilityPlan.takes_const: do all declarations of the function say so? */
bool declared_takes_const(const char *function, unsigned nparams, unsigned param, void *declared);

#endif
