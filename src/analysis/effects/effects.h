/*
 * effects - what a function, with all that it calls, reads and writes: fields of structures
 * and global variables, by name.
 *
 *     Effects *e = effects_new(program, calls);
 *     const EffectSet *a = effects_of(e, put), *b = effects_of(e, count);
 *     if (effects_meet(a, b)) …             one may write what the other touches
 *     effects_free(e);
 *
 * Two functions that are given the same object can only disturb each other where they meet, so
 * this tells which pairs are worth a test. It is a hint, not a proof: objects of one type are
 * not told apart, and memory that is reached through no field of a named structure counts as one
 * place, as does all that functions outside the program touch.
 */
#ifndef SUNDEW_EFFECTS_H
#define SUNDEW_EFFECTS_H
#include "analysis/pointsto/calls.h"

typedef struct Effects Effects;
typedef struct EffectSet EffectSet;

Effects *effects_new(const Program *p, const Calls *calls);
void effects_free(Effects *e);                 /* NULL is fine */
/* Lives as long as `e`. */
const EffectSet *effects_of(Effects *e, const Function *fn);
bool effects_meet(const EffectSet *a, const EffectSet *b);
/* …where the two are given no object in common: in global variables. How near a variable is to both: 1 if
 * they touch it themselves, half for each call on the way, 0 if they do not meet there.
 * `nearness` has a number for each of the effects_variables(); a greater one stays. */
size_t effects_variables(const Effects *e);
void effects_meet_apart(const Effects *e, const EffectSet *a, const EffectSet *b, double *nearness);
/* Does it keep a function that it is given in a global variable: an allocator, a handler? Such
 * a function is for the whole library, not for one thread. */
bool effects_installs(const Effects *e, const Function *fn);
/* Is what it returns made of what it is given, as a hash of a text is? Data that flows is
 * followed, through calls too; a decision is not, so that a word on how it went is made of nothing:
 * 0 or -1 of a function that keeps a name. */
bool effects_answers(Effects *e, const Function *fn);
/* "reads set.n; writes set.n, @count", for tests and for people. */
void effects_print(const Effects *e, const EffectSet *s, Str *out);
#endif
