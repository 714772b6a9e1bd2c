/*
 * ownership - who has to give back a handle, as experience shows.
 *
 * Roles come from code and names (api.h). Where they are wrong, closing a
 * sequence frees something twice or leaks. Experiments settle it: a closed
 * sequence that fails, and does not if one of its closing calls is left out,
 * shows that the handle was not the sequence's to give back.
 */
#ifndef SUNDEW_SEQ_OWNERSHIP_H
#define SUNDEW_SEQ_OWNERSHIP_H
#include "engine/api/api.h"

typedef struct Ownership Ownership;

Ownership *ownership_new(const Api *api);
void ownership_free(Ownership *o);               /* NULL is fine */
/* What a place does with its handle, with all that was learned. */
ApiUse ownership_use(const Ownership *o, const ApiFunction *f, int place);
/* The handle that comes out here belongs to somebody else; that one that goes in is
 * taken over; that it is given back by this function. */
void ownership_learn(Ownership *o, const ApiFunction *f, int place, ApiUse use);
/* A call that should only look did harm: it died, or left memory behind. A function
 * that did so twice is no longer used to look. */
void ownership_blame(Ownership *o, const ApiFunction *f);
bool ownership_may_look(const Ownership *o, const ApiFunction *f);
#endif
