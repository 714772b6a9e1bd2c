/*
 * From the AST index to suspects: groups of equally typed parameters, the
 * judgement of each call in them, and the excuses.
 */
#include "base/file.h"
#include "base/str.h"
#include "technique/arguments/arguments_int.h"
#include "technique/arguments/context.h"
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <string.h>

static const double declaration_weight = 5;
enum { LEAST_FAMILY = 2 };

typedef Vec(const AstCall *) CallList;

/* ---- equal types */

/* `type` without const, volatile and restrict, at all levels. */
static const char *unqualified(Finder *f, const char *type)
{
    static const char *const words[] = { "const", "volatile", "restrict" };
    char *out = arena_array(&f->arena, char, strlen(type) + 1), *to = out;
    for (const char *at = type; *at;) {
        size_t n = 0;
        while (isalnum((unsigned char)at[n]) || at[n] == '_')
            n++;
        bool drop = false;
        for (size_t i = 0; n && i < sizeof words / sizeof *words; i++)
            drop |= n == strlen(words[i]) && memcmp(at, words[i], n) == 0;
        if (!n)
            n = 1;
        if (!drop && *at != ' ') {
            if (to > out && isalnum((unsigned char)*at) && isalnum((unsigned char)to[-1]))
                *to++ = ' ';
            memcpy(to, at, n);
            to += n;
        }
        at += n;
    }
    return out;
}

static bool is_integer(const AstType *t)
{
    return t->kind == AST_BOOL || t->kind == AST_CHARACTER || t->kind == AST_INTEGER ||
           t->kind == AST_ENUM;
}

/* Parameters with equal keys are equally typed. */
static const char *type_key(Finder *f, const AstType *t)
{
    switch (f->settings.types) {
    case TYPES_TYPEDEF: return unqualified(f, t->spelling);
    case TYPES_CANONICAL: return t->plain;
    case TYPES_CONVERTIBLE:
        if (is_integer(t))
            return "integer";
        if (t->kind == AST_POINTER && t->pointee && t->pointee->kind != AST_FUNCTION_TYPE)
            return "pointer";
        break;
    }
    return unqualified(f, t->canonical);
}

/* Whether the compiler would take what `a` is for a parameter of type `to`
 * without a word. */
static bool is_accepted(const AstArg *a, const AstType *to)
{
    const AstType *t = a->type;
    if (is_integer(t) && is_integer(to))
        return true;
    bool pointer = t->kind == AST_POINTER || t->kind == AST_ARRAY;
    if (!pointer || to->kind != AST_POINTER)
        return t->kind == to->kind;
    if (!t->pointee || !to->pointee)
        return true;
    if (t->pointee->is_const && !to->pointee->is_const && !a->is_string)
        return false;
    return t->pointee->kind == AST_VOID || to->pointee->kind == AST_VOID ||
           t->pointee->kind == to->pointee->kind;
}

/* ---- names */

static const char *without_prefix(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(name, prefix, n) == 0 && name[n] ? name + n : name;
}

static Name name_of(const AstArg *a)
{
    Name n = { 0 };
    n.traits[TRAIT_FORM] = a->is_string             ? "string"
                           : a->form == AST_LITERAL ? ast_int_kind_name(a->integer)
                                                    : ast_form_name(a->form);
    if (!a->name || a->form == AST_LITERAL || a->form == AST_OTHER)
        return n;
    n.traits[TRAIT_TYPE] = a->inner->spelling;
    n.traits[TRAIT_ENUM] = a->enum_decl;
    n.text = a->name;
    n.lent = a->lent;
    if (a->form == AST_CALL)
        n.text = without_prefix(n.text, "get_");
    if (a->form == AST_MEMBER || (a->form == AST_SUBSCRIPT && a->owner))
        n.owner = a->owner;
    return n;
}

const AstArg *view_arg(const View *v, unsigned i)
{
    const AstCall *call = v->group->calls.items[v->call];
    return &call->args[v->group->pos[v->order ? v->order[i] : i]];
}

/* a, b;  op0, op1: their order means nothing. */
static bool is_stem_and_digits(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n])
        n++;
    while (n && isdigit((unsigned char)a[n - 1]))
        n--;
    bool digits = a[n] || b[n];
    for (const char *s = a + n; *s; s++)
        digits &= isdigit((unsigned char)*s) != 0;
    for (const char *s = b + n; *s; s++)
        digits &= isdigit((unsigned char)*s) != 0;
    return n > 0 && digits;
}

static const char *bare(const char *name) { return name + strspn(name, "_"); }

static const char *param_name(const AstFunction *fn, unsigned i)
{
    return i < fn->nparams && fn->params[i].nnames ? bare(fn->params[i].names[0]) : NULL;
}

/* One letter, or one with a p for pointer: the numbers `up` and `vp`. */
static bool is_letter(const char *name) { return !name[1] || (name[1] == 'p' && !name[2]); }

/* `usize` beside `up`: it is that number's. */
static bool belongs_to_letter(const AstFunction *fn, const char *name)
{
    for (unsigned i = 0; i < fn->nparams; i++) {
        const char *p = param_name(fn, i);
        if (p && is_letter(p) && *p == *name)
            return true;
    }
    return false;
}

static bool is_commutative(const AstFunction *fn, const unsigned *pos, unsigned k)
{
    bool single = true, digits = true;
    const char *first = param_name(fn, pos[0]);
    for (unsigned i = 0; i < k; i++) {
        const char *name = param_name(fn, pos[i]);
        if (!name || !first)
            return false;
        single &=
            is_letter(name) || (belongs_to_letter(fn, name) && strcmp(name + 1, first + 1) == 0);
        digits &= i == 0 || is_stem_and_digits(first, name);
    }
    return single || digits;
}

/* ---- groups */

static void add_declarations(Finder *f, ArgGroup *g)
{
    const KnownOrder *known = g->fn->home == AST_PROJECT ? NULL : orders_of(f->orders, g->fn->name);
    Name *names = arena_array(&f->arena, Name, g->k);
    size_t most = 0;
    for (unsigned i = 0; i < g->k; i++) {
        size_t n = known && g->pos[i] < known->params.len ? known->params.items[g->pos[i]].names.len
                                                          : g->fn->params[g->pos[i]].nnames;
        if (n > most)
            most = n;
    }
    for (size_t d = 0; d < most; d++) {
        for (unsigned i = 0; i < g->k; i++) {
            unsigned p = g->pos[i];
            const AstParam *param = &g->fn->params[p];
            names[i] = (Name){ 0 };
            if (known && p < known->params.len && known->params.items[p].names.len) {
                const Strings *list = &known->params.items[p].names;
                names[i].text = list->items[d < list->len ? d : 0];
            } else if (param->nnames) {
                names[i].text = bare(param->names[d < param->nnames ? d : 0]);
            }
            names[i].traits[TRAIT_TYPE] = param->type->spelling;
        }
        group_add(g->names, names, declaration_weight / (double)most, true);
    }
    g->first = most;
}

static void add_call(Finder *f, ArgGroup *g, const AstCall *call)
{
    Name *names = arena_array(&f->arena, Name, g->k);
    for (unsigned i = 0; i < g->k; i++)
        names[i] = name_of(&call->args[g->pos[i]]);
    group_add(g->names, names, 1, false);
    vec_push(&g->calls, call);
}

static void add_group(Finder *f, const AstFunction *fn, const CallList *calls, const unsigned *pos,
                      unsigned k, bool relaxed)
{
    if (is_commutative(fn, pos, k))
        return;
    ArgGroup *g = arena_new(&f->arena, ArgGroup);
    g->fn = fn;
    g->relaxed = relaxed;
    g->k = k;
    g->pos = arena_array(&f->arena, unsigned, k);
    memcpy(g->pos, pos, k * sizeof *pos);
    g->names = group_new(f->words, k);
    add_declarations(f, g);
    for (size_t i = 0; i < calls->len; i++)
        if (calls->items[i]->nargs > pos[k - 1])
            add_call(f, g, calls->items[i]);
    group_finish(g->names);
    vec_push(&f->groups, g);
}

/* With `relaxed` only those groups that are none without. */
static void group_function(Finder *f, const AstFunction *fn, const CallList *calls, bool relaxed)
{
    enum { MOST = 64 };
    unsigned n = fn->nparams < MOST ? (unsigned)fn->nparams : MOST;
    const char *keys[MOST], *strict[MOST];
    for (unsigned i = 0; i < n; i++) {
        strict[i] = type_key(f, fn->params[i].type);
        keys[i] = relaxed ? unqualified(f, fn->params[i].type->canonical) : strict[i];
    }
    for (unsigned i = 0; i < n; i++) {
        unsigned pos[MOST], k = 0;
        for (unsigned p = 0; p < n; p++) {
            if (strcmp(keys[p], keys[i]) != 0)
                continue;
            if (p < i)
                break;                     /* had this one already */
            pos[k++] = p;
        }
        bool had = relaxed;
        for (unsigned p = 1; p < k; p++)
            had &= strcmp(strict[pos[p]], strict[pos[0]]) == 0;
        if (k >= 2 && !had)
            add_group(f, fn, calls, pos, k, relaxed);
    }
}

static CallList *list_of(Finder *f, Map *m, const void *a, const void *b)
{
    const void *key[] = { a, b };
    void **slot = map_slotn(m, key, sizeof key);
    if (!*slot)
        *slot = arena_new(&f->arena, CallList);
    return *slot;
}

static void release_lists(Map *m)
{
    for (size_t i = 0; i < m->len; i++)
        vec_release((CallList *)m->entries[i].value);
    map_release(m);
}

/* Words that the project itself writes apart, in many names, are known. */
static void learn_words(Finder *f)
{
    enum { LEAST_NAMES = 8, LEAST_LETTERS = 3 };
    Map names = { 0 }, counts = { 0 };
    const AstIndex *ix = f->ix;
    for (size_t i = 0; i < ix->nfunctions; i++)
        for (size_t p = 0; p < ix->functions[i]->nparams; p++)
            for (size_t n = 0; n < ix->functions[i]->params[p].nnames; n++)
                map_put(&names, ix->functions[i]->params[p].names[n], NULL);
    for (size_t i = 0; i < ix->ncalls; i++)
        for (size_t a = 0; a < ix->calls[i]->nargs; a++)
            if (ix->calls[i]->args[a].name)
                map_put(&names, ix->calls[i]->args[a].name, NULL);
    for (size_t i = 0; i < names.len; i++) {
        Tokens t;
        words_of(f->words, names.entries[i].key, &t);
        for (size_t k = 0; t.n > 1 && k < t.n; k++) {
            void **slot = map_slot(&counts, t.words[k]);
            *slot = (char *)*slot + 1;
        }
    }
    for (size_t i = 0; i < counts.len; i++)
        if ((uintptr_t)counts.entries[i].value >= LEAST_NAMES &&
            counts.entries[i].key_len >= LEAST_LETTERS)
            words_learn(f->words, counts.entries[i].key);
    map_release(&names);
    map_release(&counts);
}

static bool read_tables(Finder *f, const char *share, char *const *words, char *const *orders,
                        Err *err)
{
    char *w = path_join(share, "arguments/words.txt");
    char *o = path_join(share, "arguments/orders.txt");
    char *l = path_join(share, "arguments/learned.txt");
    bool ok = words_read(f->words, w, err) && orders_read(f->orders, o, err) &&
              learned_read(f->learned, l, err);
    for (; ok && words && *words; words++)
        ok = words_read(f->words, *words, err);
    for (; ok && orders && *orders; orders++)
        ok = orders_read(f->orders, *orders, err);
    free(w);
    free(o);
    free(l);
    return ok;
}

bool finder_init(Finder *f, const AstIndex *ix, const Settings *s, const char *share,
                 char *const *words, char *const *orders, Err *err)
{
    *f = (Finder){ .ix = ix,
                   .settings = *s,
                   .words = words_new(),
                   .orders = orders_new(),
                   .learned = learned_new() };
    if (!read_tables(f, share, words, orders, err))
        return false;
    learn_words(f);
    Map calls = { 0 };
    for (size_t i = 0; i < ix->ncalls; i++) {
        const AstCall *c = ix->calls[i];
        vec_push(list_of(f, &calls, c->callee, NULL), c);
        vec_push(list_of(f, &f->by_caller, c->caller, c->callee), c);
    }
    for (size_t i = 0; i < ix->nfunctions; i++) {
        const void *key[] = { ix->functions[i], NULL };
        const CallList *list = map_getn(&calls, key, sizeof key);
        if (!list || ix->functions[i]->nparams < 2)
            continue;
        group_function(f, ix->functions[i], list, false);
        if (s->types == TYPES_CANONICAL)
            group_function(f, ix->functions[i], list, true);
    }
    release_lists(&calls);
    return true;
}

void finder_release(Finder *f)
{
    for (size_t i = 0; i < f->groups.len; i++) {
        group_free(f->groups.items[i]->names);
        vec_release(&f->groups.items[i]->calls);
    }
    vec_release(&f->groups);
    release_lists(&f->by_caller);
    words_free(f->words);
    orders_free(f->orders);
    learned_free(f->learned);
    arena_release(&f->arena);
}

bool finder_is_silent(const View *v, unsigned i, unsigned j)
{
    const ArgGroup *g = v->group;
    return is_accepted(view_arg(v, i), g->fn->params[g->pos[j]].type) &&
           is_accepted(view_arg(v, j), g->fn->params[g->pos[i]].type);
}

/* ---- excuses */

/* Odds that are as good as the usual threshold of 0.4; confidence then
 * approaches 1: 0.63 for twice as much, 0.78 for three times. */
static const double habit_odds = 2.2;
static const double habit_side = 1;      /* what either name must bring */
static const double few_odds = 5;        /* what it takes with two other calls */
enum { LEAST_CALLS = 3 };                /* this one included */
/* A function of which more than one call in so many breaks the habit has none. */
enum { DOUBT_SHARE = 25 };

/* Where calls are many, any variable that is used often has its place. */
enum { MANY_CALLS = 30, TOO_MANY_CALLS = 100 };
static const double many_odds = 8, many_side = 2.5;

/* Parts of words; short ones are whole words. */
static const char *const swapping[] = {
    "swap",    "flip",     "rotat", "transpos", "revers",   "invert", "mirror",
    "exchang", "backward", "undo",  "inver",    "opposite", "commut", NULL,
};
static const char *const symmetric[] = {
    "equal",     "compar",   "same",     "eq",        "maximum", "minimum",
    "gcd",       "cmp",      "distance", "xor",       "similar", "collat",
    "identical", "conflict", "overlap",  "intersect", NULL,
};
/* Words that are relative: what is the destination here may well be the
 * source of the next call. */
static const char *const roles[] = {
    "source", "destination", "from",      "to",     "input",     "output", "old",    "new",
    "begin",  "start",       "end",       "first",  "last",      "left",   "right",  "previous",
    "next",   "current",     "temporary", "result", "return",    "other",  "parent", "child",
    "string", "buffer",      "pointer",   "data",   "character", NULL,
};

static bool mentions(Finder *f, const char *name, const char *const *words)
{
    Tokens t;
    words_of(f->words, name, &t);
    for (size_t i = 0; i < t.n; i++)
        for (const char *const *w = words; *w; w++)
            if (strlen(*w) > 3 ? strstr(t.words[i], *w) != NULL : strcmp(t.words[i], *w) == 0)
                return true;
    return false;
}

static bool all_words_in(Finder *f, const char *name, const char *const *words)
{
    Tokens t;
    words_of(f->words, name, &t);
    for (size_t i = 0; i < t.n; i++) {
        bool found = !t.words[i][1];        /* x, n, p */
        for (const char *const *w = words; *w && !found; w++)
            found = strcmp(t.words[i], *w) == 0;
        if (!found)
            return false;
    }
    return true;
}

static bool same_text(const AstArg *a, const AstArg *b)
{
    if (a->text && b->text)
        return a->text == b->text;
    return a->name && a->name == b->name && a->owner == b->owner;
}

/* Is `c` the call with the proposed order, all else being equal? */
static bool is_twin(const Suspect *s, const AstCall *c)
{
    const Anomaly *a = &s->anomaly;
    const ArgGroup *g = s->view.group;
    for (size_t p = 0; p < c->nargs; p++) {
        const AstArg *here = &s->at->args[p];
        for (unsigned i = 0; i < g->k; i++)
            if (g->pos[i] == p)
                here = view_arg(&s->view, i);
        for (unsigned n = 0; n < a->size; n++)
            if (g->pos[a->to[n]] == p)
                here = view_arg(&s->view, a->from[n]);
        if (!same_text(here, &c->args[p]))
            return false;
    }
    return true;
}

/* Is there one in the same function? */
static bool has_twin(Finder *f, const Suspect *s)
{
    const void *key[] = { s->at->caller, s->at->callee };
    const CallList *list = map_getn(&f->by_caller, key, sizeof key);
    for (size_t i = 0; list && i < list->len; i++) {
        const AstCall *c = list->items[i];
        if (c != s->at && c->nargs == s->at->nargs && is_twin(s, c))
            return true;
    }
    return false;
}

/* Does `c` pass the suspects the other way round, whatever else it passes? */
static bool is_turned(const Suspect *s, const AstCall *c,
                      bool (*same)(const AstArg *, const AstArg *))
{
    const Anomaly *a = &s->anomaly;
    const unsigned *pos = s->view.group->pos;

    for (unsigned n = 0; n < a->size; n++)
        if (pos[a->to[n]] >= c->nargs ||
            !same(view_arg(&s->view, a->from[n]), &c->args[pos[a->to[n]]]))
            return false;
    return c != s->at;
}

/* The same text, or the same variable in arithmetic: `end`, `end - 1`. */
static bool same_thing(const AstArg *a, const AstArg *b)
{
    return same_text(a, b) ||
           ((a->lent || b->lent) && a->name && a->name == b->name && a->owner == b->owner);
}

static bool same_name(const AstArg *a, const AstArg *b) { return a->name && a->name == b->name; }

static bool is_close(const AstCall *a, const AstCall *b)
{
    enum { CLOSE = 10 };
    unsigned x = a->place.line, y = b->place.line;
    return a->place.file == b->place.file && (x > y ? x - y : y - x) <= CLOSE;
}

/* Does the function pass the two the other way round, in a call close by, or in the other
 * branch of an if? Then both orders are meant. */
static bool has_close_twin(Finder *f, const Suspect *s)
{
    const void *key[] = { s->at->caller, s->at->callee };
    const CallList *list = map_getn(&f->by_caller, key, sizeof key);

    for (size_t i = 0; list && i < list->len; i++) {
        const AstCall *c = list->items[i];
        if (is_turned(s, c, same_thing) && is_close(c, s->at))
            return true;
        if (is_turned(s, c, same_name) && context_is_other_branch(c, s->at))
            return true;
    }
    return false;
}

/* Does a comment name the two in the order in which they are passed? */
static bool is_named_so(const Suspect *s)
{
    const Anomaly *a = &s->anomaly;
    if (a->size != 2)
        return false;
    const AstArg *x = view_arg(&s->view, a->from[0]), *y = view_arg(&s->view, a->from[1]);
    return x->name && y->name &&
           (a->from[0] < a->from[1] ? context_names_in_order(s->at, x->name, y->name)
                                    : context_names_in_order(s->at, y->name, x->name));
}

/* Only one of the names fits the other's place, and by a word that says
 * little about where it belongs. */
static bool is_one_sided_role(Finder *f, const Suspect *s)
{
    const Anomaly *a = &s->anomaly;
    if (s->by_habit || a->size != 2 || a->weakest > 0.1)
        return false;
    if (a->weakest < -0.2)             /* the other fits where it is */
        return true;
    unsigned fits = a->gains[1] > a->gains[0];
    return all_words_in(f, view_arg(&s->view, a->from[fits])->name, roles);
}

/* Several calls stand behind it, and hardly one against. */
static bool is_backed(const Suspect *s)
{
    const Anomaly *a = &s->anomaly;
    return s->by_habit ? s->habit.odds > 1.5 * habit_odds
                       : a->for_it >= LEAST_CALLS && a->for_it >= 4 * a->against;
}

bool finder_is_symmetric(Finder *f, const AstFunction *fn)
{
    return mentions(f, fn->name, symmetric) || mentions(f, fn->name, swapping);
}

/* By what the calls are used to, both names would win. */
static bool both_habitual(const Suspect *s)
{
    Habit h;
    const ArgGroup *g = s->view.group;
    return s->anomaly.size != 2 || (group_habit_at(g->names, g->first + s->view.call, s->view.order,
                                                   s->anomaly.from[0], s->anomaly.from[1], &h) &&
                                    fmin(h.first, h.second) > 0);
}

/* Why a suspect is not worth a report; NULL: it is. */
static const char *excuse(Finder *f, const Suspect *s)
{
    const Anomaly *a = &s->anomaly;
    const ArgGroup *g = s->view.group;
    unsigned letters = 0;
    for (unsigned n = 0; n < a->size; n++) {
        const AstArg *arg = view_arg(&s->view, a->from[n]);
        if (arg->comment)
            return "a comment names an argument";
        if (!is_accepted(arg, g->fn->params[g->pos[a->to[n]]].type))
            return "the compiler would warn about the exchange";
        letters += is_letter(arg->name);
    }
    if (letters == a->size && !is_backed(s))
        return "names of one letter";
    if (s->at->place.file->generated)
        return "generated code";
    if (mentions(f, s->at->caller->name, swapping) || mentions(f, g->fn->name, swapping))
        return "the function is about exchanging";
    if (mentions(f, g->fn->name, symmetric))
        return "the order does not matter to such a function";
    bool few = a->for_it < 2 || a->for_it * 3 < a->total;
    if (few && is_one_sided_role(f, s))
        return "only one name fits, and it is relative";
    if (!s->by_habit && a->weakest < 0.1 && a->total == 1 && a->called > 0.9)
        return "both orders are in use, once each";
    if (!s->by_habit && a->declared < 0.3 && !both_habitual(s))
        return "only one of the names is used to the other place";
    if (!s->by_habit && a->against > a->for_it && a->weakest < 0.5)
        return "other calls do the same";
    if (context_speaks_of_exchange(s->at))
        return "a comment explains it";
    return NULL;
}

/* ---- judging */

static double habit_confidence(double odds) { return 1 - pow(0.6, odds / habit_odds); }

/* How many other calls look as exchanged as this one? */
static size_t doubts(ArgGroup *g, size_t call, Arena *arena)
{
    if (!g->doubtful) {
        g->doubtful = arena_array(arena, bool, g->calls.len);
        for (size_t i = 0; i < g->calls.len; i++) {
            Habit h;
            g->doubtful[i] =
                group_habit(g->names, g->first + i, NULL, 1, &h) && fmin(h.first, h.second) > -0.1;
            g->ndoubtful += g->doubtful[i];
        }
    }
    return g->ndoubtful - g->doubtful[call];
}

/* One of the two stands at the other place in a great many calls, and nothing speaks against the other. */
static bool is_sure_habit(const View *v, const Habit *h)
{
    bool first = h->first > h->second;
    return fmin(h->first, h->second) >= 0 &&
           group_belongs(v->group->names, v->group->first + v->call, v->order, first ? h->i : h->j,
                         first ? h->j : h->i);
}

static bool judge_by_habit(Finder *f, const View *v, Suspect *out)
{
    Habit h;
    ArgGroup *g = (ArgGroup *)v->group;
    if (g->relaxed || g->calls.len < LEAST_CALLS ||
        !group_habit(g->names, g->first + v->call, v->order, 0, &h))
        return false;
    double side = fmin(h.first, h.second);
    if (!is_sure_habit(v, &h)) {
        if (side < habit_side || g->calls.len > TOO_MANY_CALLS)
            return false;
        if (g->calls.len == LEAST_CALLS && h.odds < few_odds)
            return false;
        if (g->calls.len > MANY_CALLS && (h.odds < many_odds || side < many_side))
            return false;
    }
    double confidence = habit_confidence(h.odds);
    if (confidence <= f->settings.threshold ||
        doubts(g, v->call, &f->arena) * DOUBT_SHARE > g->calls.len)
        return false;
    out->by_habit = true;
    out->habit = h;
    out->anomaly = (Anomaly){ .size = 2,
                              .from = { h.i, h.j },
                              .to = { h.j, h.i },
                              .confidence = confidence,
                              .total = h.calls };
    return true;
}

typedef struct Court {
    Finder *f;
    Suspect *suspect;
} Court;

static bool has_no_excuse(const Anomaly *a, void *arg)
{
    Court *court = arg;
    court->suspect->anomaly = *a;
    return !excuse(court->f, court->suspect);
}

bool finder_judge(Finder *f, const View *v, Suspect *out)
{
    Anomaly best;
    Court court = { f, out };
    JudgePlan plan = { .threshold = f->settings.threshold,
                       .family = LEAST_FAMILY,
                       .declared = 0.3,
                       .agree = LEAST_CALLS,
                       .accept = has_no_excuse,
                       .arg = &court };
    if (v->group->relaxed)
        plan.declared = 0.8, plan.agree = UINT_MAX;
    *out = (Suspect){ .view = *v, .at = v->group->calls.items[v->call] };
    bool hit = group_judge(v->group->names, v->group->first + v->call, v->order, &plan, &best);
    if (!hit && !v->group->relaxed)
        hit = group_judge_words(v->group->names, v->group->first + v->call, v->order, &plan, &best);
    out->anomaly = best;
    return hit || (judge_by_habit(f, v, out) && !excuse(f, out));
}

/* Tests try what nobody should do. */
static bool is_test_code(const AstCall *c)
{
    const char *path = c->place.file->path;
    return strstr(path, "/test") || str_starts(c->caller->name, "test_") ||
           str_ends(c->caller->name, "_test");
}

/* Where the same function also makes the call with these arguments in the other
 * order, both are meant, unless several calls speak against one: a comparison
 * turned round, a test that tries both. */
SwapClass finder_class(Finder *f, const Suspect *s)
{
    const Anomaly *a = &s->anomaly;
    bool by_name = !s->by_habit && a->declared >= 0.3;
    if ((is_test_code(s->at) && has_twin(f, s)) || has_close_twin(f, s) || is_named_so(s))
        return CLASS_NOTEWORTHY;
    if (by_name && (a->against > a->for_it || (a->weakest < 0.1 && a->for_it < LEAST_CALLS)))
        return CLASS_NAMING;
    if (s->at->caller == s->at->callee || (has_twin(f, s) && a->for_it < LEAST_CALLS))
        return CLASS_NOTEWORTHY;
    return CLASS_BUG;
}

/* Crossed more often than one time in so many, the words say little. */
static const double crossed_by_both = 0.05, crossed_by_one = 0.02;

/* Has one of its arguments a value that differs from the one value that all other calls pass
 * there? copy(a, b, 1) saves, copy(b, a, 0) restores. */
static bool has_own_flag(const View *v)
{
    const ArgGroup *g = v->group;
    const AstCall *here = g->calls.items[v->call];

    for (size_t i = 0; i < here->nargs; i++) {
        const AstArg *first = NULL;
        size_t others = 0;
        bool one = here->args[i].has_value;
        for (size_t c = 0; one && c < g->calls.len; c++) {
            const AstCall *call = g->calls.items[c];
            if (call == here || i >= call->nargs || call->args[i].parameter >= 0)
                continue; /* handed through: says nothing */
            const AstArg *a = &call->args[i];
            first = first ? first : a;
            one = a->has_value && a->value == first->value && a->value != here->args[i].value;
            others++;
        }
        if (one && others >= 3)
            return true;
    }
    return false;
}

/* Words whose place depends on who is looking: the output of one is the input of the other, and
 * who undoes something passes the new name as the old one. */
static const char *const viewpoints[] = {
    "source", "destination", "from", "to",       "input",     "output",    "in",      "out",
    "old",    "new",         "left", "right",    "read",      "write",     "local",   "remote",
    "client", "server",      "send", "receive",  "real",      "effective", "parent",  "child",
    "next",   "previous",    "copy", "original", "temporary", "save",      "restore", NULL,
};

/* Do the names of the two parameters differ by such words only? */
static bool is_viewpoint(Finder *f, const Suspect *s)
{
    const Anomaly *a = &s->anomaly;
    const ArgGroup *g = s->view.group;
    Tokens one, two;

    for (unsigned n = 0; n < 2; n++) {
        const char *here = param_name(g->fn, g->pos[a->from[n]]);
        const char *there = param_name(g->fn, g->pos[a->from[1 - n]]);
        if (a->size != 2 || !here || !there)
            return false;
        words_of(f->words, here, &one);
        words_of(f->words, there, &two);
        size_t own = 0;
        for (size_t i = 0; i < one.n; i++) {
            bool shared = !one.words[i][1], relative = false;
            for (size_t k = 0; k < two.n; k++)
                shared |= !strcmp(one.words[i], two.words[k]);
            for (const char *const *w = viewpoints; *w; w++)
                relative |= !strcmp(one.words[i], *w);
            if (!shared && !relative)
                return false;
            own += !shared;
        }
        if (!own)
            return false;
    }
    return true;
}

/*
 * The other calls may be enough, if there are some and none does the same. Else both names
 * have to fit the other place, by the declaration, and words must not be ones that
 * programs pass crosswise now and then. If a name fits that is only half of the evidence. Words
 * that are a matter of viewpoint are never enough.
 */
bool finder_is_strong(Finder *f, const Suspect *s)
{
    const Anomaly *a = &s->anomaly;
    const ArgGroup *g = s->view.group;
    unsigned calls = 0;

    if (is_viewpoint(f, s))
        return false;
    if (s->by_habit)
        return s->habit.odds >= 3 * habit_odds && fmin(s->habit.first, s->habit.second) >= 2;
    if (a->against * 4 > a->for_it || has_own_flag(&s->view))
        return false;
    if (a->for_it >= LEAST_CALLS && a->for_it * 2 >= a->total && (a->weakest > 0.1 || !a->declared))
        return true;
    if (a->declared < 0.5 || a->size != 2)
        return false;
    const char *p = param_name(g->fn, g->pos[a->from[0]]),
               *q = param_name(g->fn, g->pos[a->from[1]]);
    const char *x = view_arg(&s->view, a->from[0])->name, *y = view_arg(&s->view, a->from[1])->name;
    double rate = p && q ? learned_crossed(f->learned, f->words, p, q, x, y, &calls) : 0;
    return rate <= (a->weakest >= 0.3 ? crossed_by_both : crossed_by_one) &&
           (a->weakest >= 0.3 || (a->for_it && a->weakest > 0));
}
