/*
 * Back ends of one library that a function chooses by a name, a number or a flag:
 *
 *     store_open("list", 8)      --backend 'store_open(1)' --reference list
 *     store_open("packed", 8)    --candidate packed
 *
 * Both sides are the same program. In calls of that function the argument is the candidate's choice
 * on one side and the reference's on the other; all other calls are the same.
 */
#include "base/file.h"
#include "technique/substitutes/substitutes_int.h"
#include <stdlib.h>
#include <string.h>

/* "store_open(1)": the function, and the place of its argument from 0. */
static bool parse_choice(const char *text, char **function, unsigned *place)
{
    const char *open = strchr(text, '(');
    char *end;
    unsigned long n = open ? strtoul(open + 1, &end, 10) : 0;
    if (!open || open == text || n < 1 || n > 64 || strcmp(end, ")") != 0)
        return false;
    *function = xstrndup(text, (size_t)(open - text));
    *place = (unsigned)n - 1;
    return true;
}

/* A number, the name of an enum's value, or a text: as the parameter wants it. */
static bool choice_value(Arena *a, const ApiFunction *f, unsigned place, const char *text,
                         SeqValue *out)
{
    const Type *t = type_plain(f->params[place].type);
    char *end;
    if (t->kind == TYPE_POINTER) {
        *out = value_string(a, text);
        return true;
    }
    for (unsigned i = 0; t->kind == TYPE_ENUM && i < t->nvalues; i++)
        if (strcmp(t->values[i].name, text) == 0) {
            *out = value_integer((uint64_t)t->values[i].value);
            return true;
        }
    *out = value_integer((uint64_t)strtoll(text, &end, 0));
    return *text && !*end;
}

static bool open_side(Pair *p, SideOf which, Err *err)
{
    Session *s = p->all->s;
    ApiPlan plan = { .headers = session_option_all(s, "headers"),
                     .flags = session_option_all(s, "cflags") };
    p->side[which].program = session_program(s);
    p->side[which].api = api_open(session_program(s), &plan, err);
    return p->side[which].api != NULL;
}

/* The candidate's choice stands in each of its calls, the reference's in their counterparts. */
static bool pin(Pair *p, const char *function, unsigned place, Err *err)
{
    SeqValue choice[NSIDES];
    ApiFunction *f[NSIDES];
    for (int i = 0; i < NSIDES; i++) {
        const Side *side = &p->side[i];
        f[i] = (ApiFunction *)api_function(side->api, function);
        if (!f[i] || place >= f[i]->nparams)
            return err_set(err,
                           "--backend %s(%u): the headers declare no such function with so many "
                           "parameters",
                           function, place + 1);
        if (!choice_value(&p->arena, f[i], place, side->name, &choice[i]))
            return err_set(err, "%s is neither a number nor a value of the parameter's type",
                           side->name);
    }
    ApiFunction *own = f[SIDE_CANDIDATE];
    SeqValue *pinned = arena_array(&p->arena, SeqValue, own->nparams + 1);
    pinned[place] = choice[SIDE_CANDIDATE];
    own->pinned = pinned;
    own->nfixed = own->nparams;
    own->params[place].partner = API_NONE;
    CallMap *c = &p->calls[own->index];
    c->args[place] = (ArgFrom){ .place = -1, .value = choice[SIDE_REFERENCE] };
    c->common = false;
    c->mapping = arena_printf(&p->arena, "%s(… %s …) -> %s(… %s …): chosen by --backend", function,
                              p->side[SIDE_CANDIDATE].name, function, p->side[SIDE_REFERENCE].name);
    return true;
}

static void match(Pair *p)
{
    const Api *cand = p->side[SIDE_CANDIDATE].api, *ref = p->side[SIDE_REFERENCE].api;
    p->calls = arena_array(&p->arena, CallMap, cand->nfunctions + 1);
    for (size_t i = 0; i < cand->nfunctions; i++) {
        const ApiFunction *f = &cand->functions[i];
        p->calls[i].name = f->name;
        if (f->not_callable || f->variadic) {
            strings_addf(&p->unused, "%s: %s", f->name,
                         f->not_callable ? f->not_callable : "its arguments are not known");
            continue;
        }
        mapping_identity(&p->arena, &ref->functions[i], &p->calls[i]);
        p->calls[i].common = true;
    }
}

static bool make_pair(Substitutes *x, const char *candidate, const char *function, unsigned place,
                      Err *err)
{
    Pair *p = xcalloc(1, sizeof *p);
    p->all = x;
    p->backend = true;
    p->side[SIDE_REFERENCE] = (Side){ .name = session_option(x->s, "reference") };
    p->side[SIDE_CANDIDATE] = (Side){ .name = candidate };
    vec_push(&x->pairs, p);
    if (!open_side(p, SIDE_REFERENCE, err) || !open_side(p, SIDE_CANDIDATE, err))
        return false;
    match(p);
    return pin(p, function, place, err);
}

bool backends_pairs(Substitutes *x, Err *err)
{
    char *function = NULL;
    unsigned place;
    if (!session_need(x->s, NEEDS_PROGRAM, err))
        return false;
    if (!parse_choice(session_option(x->s, "backend"), &function, &place))
        return err_set(err,
                       "--backend %s: expected FUNCTION(N), the place of the argument that "
                       "chooses, from 1",
                       session_option(x->s, "backend"));
    bool ok = true;
    for (char **c = session_option_all(x->s, "candidate"); ok && *c; c++)
        ok = make_pair(x, *c, function, place, err);
    free(function);
    return ok;
}
