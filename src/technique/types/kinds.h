/*
 * kinds - what an argument shows about its parameter.
 *
 * C converts silently, so the type of a parameter says little about what
 * callers pass: `void *`, `int` and `size_t` take nearly everything. An argument
 * before its conversion says more. Each of these aspects has a histogram of its
 * own, so that what is compared can be compared:
 *
 *   pointer   what it points to                     struct sockaddr_in
 *   kind      what an integer stands for            enum color, O_*, bool, uid_t
 *   size      what the sizeof is taken of           argument 1's object
 *   slot      the type in a variable argument list  long
 *   callback  whether data suits the callback       what it expects
 *   char      the sign of a character               unsigned char
 *
 * Where one argument selects what another means (setsockopt, ioctl, …), its
 * constant is part of the key. Arguments of which nothing is known (a null
 * pointer, an int variable for an int) give no sighting: they are no evidence
 * for or against anything.
 *
 * A key is "callee TAB position TAB aspect TAB selector"; functions of a system
 * header go by their name, those of the project by '@' and their identity.
 */
#ifndef SUNDEW_TYPES_KINDS_H
#define SUNDEW_TYPES_KINDS_H
#include "ast/ast.h"

typedef enum {
    ASPECT_POINTER,
    ASPECT_KIND,
    ASPECT_SIZE,
    ASPECT_SLOT,
    ASPECT_CALLBACK,
    ASPECT_CHAR,
    NASPECTS,
} Aspect;

const char *aspect_name(Aspect a);

typedef struct Sighting {
    Aspect aspect;
    unsigned position;         /* of the argument, from 1 */
    const char *key;
    const char *label;
    const char *shown;         /* the label for people: more exact */
    const char *declared;      /* what the declaration or the body of the callee
                                * asks for; or NULL */
    double weight;             /* less than 1: one of several possibilities */
} Sighting;

typedef Vec(Sighting) Sightings;

typedef struct Kinds {
    Arena arena;
    Map texts;                 /* keys and labels, each once */
    Map functions;             /* USR to AstFunction, of those with a body */
    Map enumerators;           /* an enumerator to the label of its enum */
    Map selectors;             /* a project's function to its selector + 1 */
} Kinds;

/* Looks through the index for callbacks and for arguments that select. */
void kinds_init(Kinds *k, const AstIndex *ix);
void kinds_release(Kinds *k);
/* All that the arguments of one call show, appended to `out`. */
void kinds_of_call(Kinds *k, const AstCall *call, Sightings *out);
/* Some labels are never a mistake, however rare: an unsigned char. */
bool label_is_innocent(const char *label);
/* Is this a key that other programs share? */
bool key_is_shared(const char *key);
#endif
