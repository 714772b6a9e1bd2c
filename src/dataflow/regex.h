/*
 * regex - Java's regular expressions: matching, and automata for solving.
 *
 *     Regex *r = regex_new(a, "a.*(b|c)", 8, 0, err);
 *     regex_match(r, s, n, true, NULL) == REGEX_YES
 *
 * Matching backtracks, with a limit on its steps: an expression that explodes
 * gives REGEX_GAVE_UP. It knows groups, classes, lazy and possessive
 * quantifiers, anchors, look-ahead and back-references.
 *
 * An Automaton is the same language as a deterministic automaton over bytes,
 * its states made when they are first met. It does not know look-ahead and
 * back-references; regex_automaton() then gives NULL.
 */
#ifndef SUNDEW_DATAFLOW_REGEX_H
#define SUNDEW_DATAFLOW_REGEX_H
#include "base/err.h"
#include "base/mem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Regex Regex;
typedef struct Automaton Automaton;

enum { REGEX_DOT_ALL = 1, REGEX_FOLD = 2, REGEX_LITERAL = 4 };

typedef enum { REGEX_NO, REGEX_YES, REGEX_GAVE_UP } RegexAnswer;

enum { REGEX_GROUPS = 32 };
typedef struct RegexMatch {
    size_t from[REGEX_GROUPS], to[REGEX_GROUPS];   /* SIZE_MAX: the group took no part */
    size_t ngroups;                                /* with group 0 */
} RegexMatch;

Regex *regex_new(Arena *a, const char *pattern, size_t n, int flags, Err *err);
/* SQL's LIKE as a regular expression. */
Regex *regex_like(Arena *a, const char *pattern, size_t n, bool fold, Err *err);
/* Does Pig's MATCHES take this pattern to its automaton, where . matches a
 * newline? */
bool regex_is_simple(const char *pattern, size_t n);

/* The whole text. */
RegexAnswer regex_full(const Regex *r, const char *s, size_t n, RegexMatch *m);
/* The first place at or after `start`. */
RegexAnswer regex_find(const Regex *r, const char *s, size_t n, size_t start, RegexMatch *m);

/* States are numbered from 0, the start; -1 is the dead state. Memory is in the
 * arena, but for tables that automaton_free() gives back. NULL: not regular. */
Automaton *regex_automaton(const Regex *r, Arena *a);
void automaton_free(Automaton *m);                 /* NULL is fine */
int automaton_step(Automaton *m, int state, unsigned char c);
bool automaton_accepts(Automaton *m, int state);
#endif
