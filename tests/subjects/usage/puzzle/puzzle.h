/*
 * puzzle - an object that is hard to make.
 *
 * A core needs an invariant of one of two kinds out of 299, made for a slice of
 * two variables; the slice's variables must belong to its point; a variable
 * takes five words, each from its own parser; the point's name has a format.
 * Whatever is wrong gives NULL.
 */
#ifndef PUZZLE_H
#define PUZZLE_H

struct word;
struct var;
struct point;
struct slice;
struct inv;
struct core;

struct word *word_name(const char *text);       /* an identifier */
struct word *word_type(const char *text);       /* int, char, double[] … */
struct word *word_rep(const char *text);        /* the same */
struct word *word_aux(const char *text);        /* key=value */
struct word *word_comp(const char *text);       /* a number of two digits or more */
void word_free(struct word *w);

/* The words stay the caller's. */
struct var *var_new(const struct word *name, const struct word *type, const struct word *rep,
                    const struct word *aux, const struct word *comp);
void var_free(struct var *v);

struct point *point_new(const char *name);      /* Class.method(Type)::EXIT */
int point_add(struct point *p, struct var *v);  /* 0, or -1 */
int point_size(const struct point *p);
void point_free(struct point *p);               /* not its variables */

/* Two variables of the point, in its order. */
struct slice *point_slice(struct point *p, struct var *a, struct var *b);
void slice_free(struct slice *s);

struct inv *inv_proto(int kind);                /* 1 to 299 */
struct inv *inv_instantiate(const struct inv *proto, struct slice *s);
void inv_free(struct inv *i);

struct core *core_new(struct inv *i);
int core_weight(const struct core *c);
void core_free(struct core *c);
#endif
