#include "puzzle.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum kind { NAME = 1, TYPE, REP, AUX, COMP };
enum { MOST_VARS = 8, LINEAR = 137, EQUAL = 211, KINDS = 299 };

struct word { enum kind kind; size_t length; };
struct var { int weight; };
struct point { struct var *vars[MOST_VARS]; int n; };
struct slice { struct point *point; int a, b; };
struct inv { int kind; struct slice *slice; };
struct core { int weight; };

static struct word *word_new(enum kind kind, const char *text)
{
    struct word *w = malloc(sizeof *w);
    w->kind = kind;
    w->length = strlen(text);
    return w;
}

/* How many characters of a class there are. */
static size_t run(const char *s, int (*is)(int))
{
    size_t n = 0;
    while (s[n] && is((unsigned char)s[n]))
        n++;
    return n;
}

struct word *word_name(const char *text)
{
    return text && run(text, isalpha) >= 3 && !text[run(text, isalpha)] ? word_new(NAME, text)
                                                                        : NULL;
}

static int is_type(const char *s)
{
    size_t n = s ? run(s, islower) : 0;
    return n >= 3 && (!s[n] || (s[n] == '[' && s[n + 1] == ']' && !s[n + 2]));
}

struct word *word_type(const char *text) { return is_type(text) ? word_new(TYPE, text) : NULL; }
struct word *word_rep(const char *text) { return is_type(text) ? word_new(REP, text) : NULL; }

struct word *word_aux(const char *text)
{
    size_t n = text ? run(text, isalpha) : 0;
    return n && text[n] == '=' && run(text + n + 1, isalnum) ? word_new(AUX, text) : NULL;
}

struct word *word_comp(const char *text)
{
    size_t n = text ? run(text, isdigit) : 0;
    return n >= 2 && !text[n] ? word_new(COMP, text) : NULL;
}

void word_free(struct word *w) { free(w); }

struct var *var_new(const struct word *name, const struct word *type, const struct word *rep,
                    const struct word *aux, const struct word *comp)
{
    if (!name || !type || !rep || !aux || !comp)
        return NULL;
    if (name->kind != NAME || type->kind != TYPE || rep->kind != REP || aux->kind != AUX
        || comp->kind != COMP)
        return NULL;
    struct var *v = malloc(sizeof *v);
    v->weight = (int)(name->length + type->length + comp->length);
    return v;
}

void var_free(struct var *v) { free(v); }

/* Class.method(Type)::EXIT */
static int is_point_name(const char *s)
{
    size_t n;
    if (!s || !isupper((unsigned char)*s))
        return 0;
    s += run(s, isalpha);
    if (*s++ != '.' || !(n = run(s, islower)))
        return 0;
    s += n;
    if (*s++ != '(' || !isupper((unsigned char)*s))
        return 0;
    s += run(s, isalpha);
    if (*s++ != ')' || *s++ != ':' || *s++ != ':')
        return 0;
    return run(s, isupper) == 4 && s[1] == 'X' && !s[4];
}

struct point *point_new(const char *name)
{
    return is_point_name(name) ? calloc(1, sizeof(struct point)) : NULL;
}

int point_add(struct point *p, struct var *v)
{
    if (!p || !v || p->n == MOST_VARS)
        return -1;
    p->vars[p->n++] = v;
    return 0;
}

int point_size(const struct point *p) { return p ? p->n : -1; }
void point_free(struct point *p) { free(p); }

static int place_of(const struct point *p, const struct var *v)
{
    for (int i = 0; v && i < p->n; i++)
        if (p->vars[i] == v)
            return i;
    return -1;
}

struct slice *point_slice(struct point *p, struct var *a, struct var *b)
{
    if (!p || place_of(p, a) < 0 || place_of(p, b) < 0 || place_of(p, a) >= place_of(p, b))
        return NULL;
    struct slice *s = malloc(sizeof *s);
    s->point = p;
    s->a = place_of(p, a);
    s->b = place_of(p, b);
    return s;
}

void slice_free(struct slice *s) { free(s); }

struct inv *inv_proto(int kind)
{
    if (kind < 1 || kind > KINDS)
        return NULL;
    struct inv *i = calloc(1, sizeof *i);
    i->kind = kind;
    return i;
}

struct inv *inv_instantiate(const struct inv *proto, struct slice *s)
{
    if (!proto || !s || proto->slice)
        return NULL;
    struct inv *i = calloc(1, sizeof *i);
    i->kind = proto->kind;
    i->slice = s;
    return i;
}

void inv_free(struct inv *i) { free(i); }

struct core *core_new(struct inv *i)
{
    if (!i || !i->slice || (i->kind != LINEAR && i->kind != EQUAL))
        return NULL;
    struct core *c = malloc(sizeof *c);
    c->weight = 10 * i->slice->a + i->slice->b + i->kind;
    return c;
}

int core_weight(const struct core *c) { return c ? c->weight : -1; }
void core_free(struct core *c) { free(c); }
