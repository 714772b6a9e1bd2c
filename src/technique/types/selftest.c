/*
 * The self-test: how many wrong types would be found in this very program?
 *
 * One argument at a time is replaced, in the index only, by an argument of
 * another call: one that C would convert without a word, whose kind no caller
 * passes here. Arguments are drawn among those whose parameter has enough
 * callers to know what is usual: first a rule, so that the many sizes don't
 * hide the rest, then an argument, and the wrong one as often as it stands
 * elsewhere. The call is looked at again, its old sightings are taken out of the histograms and the new ones put
 * in, and the judge decides.
 *
 * All deviations of the program without any seed count as false, so that the
 * precision is a lower bound.
 */
#include "technique/types/study.h"

#define TRIES 400              /* draws of another argument for one seed */

/* Where a seed goes: the sighting and its call. */
typedef struct Target {
    size_t call, seen;
} Target;

/* By rule; sizes, of which all programs are full, apart from other kinds. */
typedef struct Targets {
    Vec(Target) of[NASPECTS + 1];
} Targets;

typedef Vec(const AstArg *) Args;

static const AstType *own_type(const AstArg *a) { return a->inner ? a->inner : a->type; }

static bool is_pointer(const AstArg *a)
{
    const AstType *t = own_type(a);
    return t && (t->kind == AST_POINTER || t->kind == AST_ARRAY);
}

static bool is_integer(const AstArg *a)
{
    return a->type && a->integer != AST_NOT_INTEGER && !is_pointer(a);
}

/* Would the compiler take something else here without a word? A pointer to a
 * struct only where callers write casts. */
static bool is_open(const AstCall *c, const Sighting *s)
{
    const AstFunction *f = c->callee;
    size_t i = s->position - 1;
    if (s->aspect != ASPECT_POINTER || i >= f->nparams)
        return true;
    const AstType *p = f->params[i].type;
    return p->pointee && (p->pointee->kind == AST_VOID || c->args[i].cast);
}

/* Can this argument stand in for one of that aspect? */
static bool can_stand_in(Aspect aspect, const AstArg *a, const AstArg *old)
{
    switch (aspect) {
    case ASPECT_POINTER:
    case ASPECT_CALLBACK: return is_pointer(a);
    case ASPECT_SLOT: return is_pointer(a) == is_pointer(old) || is_integer(a);
    case ASPECT_SIZE: return a->integer == AST_INT_SIZEOF || a->integer == AST_INT_SIZEOF_POINTER;
    case ASPECT_KIND:
    case ASPECT_CHAR: return is_integer(a);
    case NASPECTS: break;
    }
    return false;
}

static void collect(Study *st, Targets *targets, Args *args, SelfTest *out)
{
    for (size_t i = 0; i < st->ix->ncalls; i++) {
        const AstCall *c = st->ix->calls[i];
        for (size_t k = 0; k < c->nargs; k++)
            vec_push(args, &c->args[k]);
        for (size_t k = st->first[i]; k < st->first[i + 1]; k++) {
            const View *v;
            const Sighting *s = &st->seen.items[k];
            Judgement j = study_judge_one(st, s, &v);
            if (!is_open(c, s))
                continue;
            out->arguments++;
            if (j.evidence && !j.deviates) {
                out->evidence++;
                bool size = s->aspect == ASPECT_KIND && label_is_innocent(s->label);
                vec_push(&targets->of[size ? NASPECTS : s->aspect], ((Target){ i, k }));
            }
        }
    }
}

/* The sightings of the call with argument `position` replaced. */
static void look_again(Study *st, const AstCall *c, unsigned position, const AstArg *with,
                       Sightings *out)
{
    AstCall changed = *c;
    changed.args = xmalloc(c->nargs * sizeof *changed.args);
    memcpy(changed.args, c->args, c->nargs * sizeof *changed.args);
    changed.args[position - 1] = *with;
    kinds_of_call(&st->kinds, &changed, out);
    free(changed.args);
}

/* Does the changed call show, under the target's key, what no caller shows? */
static bool is_wrong(Study *st, const Sighting *target, const Sightings *now)
{
    const Histogram *h = histogram_find(&st->hs, target->key);
    View v;
    bool wrong = false;
    histogram_view(h, &v);
    for (size_t i = 0; i < now->len; i++)
        if (strcmp(now->items[i].key, target->key) == 0)
            wrong = !label_is_innocent(now->items[i].label) &&
                    view_compares(&v, now->items[i].label) && !view_bin(&v, h, now->items[i].label);
    view_release(&v);
    return wrong;
}

static void count(Study *st, const Sighting *s, size_t n, double sign)
{
    for (size_t i = 0; i < n; i++) {
        Histogram *h = histogram_at(&st->hs, s[i].key);
        histogram_add(&st->hs, h, s[i].label, sign * s[i].weight);
    }
}

static bool is_found(Study *st, unsigned position, const Sightings *now)
{
    bool found = false;
    for (size_t i = 0; i < now->len && !found; i++) {
        const Sighting *s = &now->items[i];
        const Histogram *h = histogram_find(&st->hs, s->key);
        if (s->position != position || h->any || label_is_innocent(s->label))
            continue;
        View v;
        histogram_view(h, &v);
        found = view_judge(&v, view_bin(&v, h, s->label), &st->limits).deviates;
        view_release(&v);
    }
    return found;
}

/* Seeds one wrong argument. False: none was drawn that would be wrong here. */
static bool seed(Study *st, Target t, const Args *args, Rng *rng, bool *found)
{
    const AstCall *c = st->ix->calls[t.call];
    Sighting s = st->seen.items[t.seen];
    Sightings now = { 0 };
    bool wrong = false;
    for (int i = 0; i < TRIES && !wrong; i++) {
        const AstArg *with = args->items[rng_below(rng, args->len)];
        if (!can_stand_in(s.aspect, with, &c->args[s.position - 1]))
            continue;
        now.len = 0;
        look_again(st, c, s.position, with, &now);
        wrong = is_wrong(st, &s, &now);
    }
    if (wrong) {
        const Sighting *old = &st->seen.items[st->first[t.call]];
        size_t nold = st->first[t.call + 1] - st->first[t.call];
        count(st, old, nold, -1);
        count(st, now.items, now.len, 1);
        *found = is_found(st, s.position, &now);
        count(st, now.items, now.len, -1);
        count(st, old, nold, 1);
    }
    vec_release(&now);
    return wrong;
}

/* A target of a rule that has some. False: there is none at all. */
static bool draw(const Targets *targets, Rng *rng, Target *out)
{
    size_t rules[NASPECTS + 1], n = 0;
    for (size_t i = 0; i <= NASPECTS; i++)
        if (targets->of[i].len)
            rules[n++] = i;
    if (n == 0)
        return false;
    size_t rule = rules[rng_below(rng, n)];
    *out = targets->of[rule].items[rng_below(rng, targets->of[rule].len)];
    return true;
}

void study_selftest(Study *st, size_t seeds, Rng *rng, SelfTest *out)
{
    *out = (SelfTest){ 0 };
    Deviations real = { 0 };
    Targets targets = { 0 };
    Args args = { 0 };
    study_judge(st, &real);
    out->others = real.len;
    collect(st, &targets, &args, out);
    Target t;
    for (size_t i = 0; out->seeds < seeds && i < 4 * seeds; i++) {
        if (!draw(&targets, rng, &t))
            break;
        Aspect aspect = st->seen.items[t.seen].aspect;
        bool found = false;
        if (!seed(st, t, &args, rng, &found))
            continue;
        out->seeds++;
        out->seeds_by[aspect]++;
        out->found += found;
        out->found_by[aspect] += found;
    }
    vec_release(&real);
    for (size_t i = 0; i <= NASPECTS; i++)
        vec_release(&targets.of[i]);
    vec_release(&args);
}

double selftest_recall(const SelfTest *t)
{
    return t->seeds ? (double)t->found / (double)t->seeds : 0;
}

double selftest_precision(const SelfTest *t)
{
    size_t all = t->found + t->others;
    return all ? (double)t->found / (double)all : 0;
}
