/*
 * Tables of operations: which there are, and pairs of their implementations.
 *
 * The API of a side has a function for each slot that both sides fill, the functions that
 * create an object of that side, and functions that create other arguments. Creators are
 * found by the table: a function that names the variable, and no other implementation's;
 * or one that takes the table as an argument.
 */
#include "base/escape.h"
#include "base/json.h"
#include "technique/substitutes/substitutes_int.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef Vec(const Function *) Functions;

/* ---- what there is */

static const char *cannot(const OpTable *t, const OpImpl *i)
{
    if (i->wrong)
        return i->wrong;
    for (unsigned k = 0; k < t->nslots; k++)
        if (i->slots[k] && i->slots[k]->defined)
            return NULL;
    return "none of its functions was captured";
}

static size_t comparable(const OpTable *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->nimpls; i++)
        n += !cannot(t, &t->impls[i]);
    return n;
}

static json_t *impl_json(const OpTable *t, const OpImpl *i)
{
    json_t *slots = json_object();
    for (unsigned k = 0; k < t->nslots; k++)
        json_object_set_new(slots, t->slots[k].name,
                            i->slots[k] ? json_text(i->slots[k]->name) : json_null());
    json_t *j =
        json_pack("{s:o,s:o,s:i,s:b,s:o}", "name", json_text(i->name), "file", json_text(i->file),
                  "line", (int)i->line, "at_run_time", i->at_run_time, "slots", slots);
    if (i->label)
        json_object_set_new(j, "label", json_text(i->label));
    if (cannot(t, i))
        json_object_set_new(j, "why_not", json_text(cannot(t, i)));
    return j;
}

static void say_impl(const OpTable *t, const OpImpl *i, Str *out)
{
    str_add(out, "  ");
    escape_terminal_z(out, i->name);
    if (i->label) {
        str_add(out, " \"");
        escape_terminal_z(out, i->label);
        str_add(out, "\"");
    }
    str_addf(out, ": %u of %u slots", i->nfilled, t->nslots);
    if (i->at_run_time)
        str_add(out, ", filled at run time");
    if (*i->file) {
        str_add(out, ", ");
        escape_terminal_z(out, i->file);
        str_addf(out, ":%u", i->line);
    }
    if (cannot(t, i)) {
        str_add(out, ": can't be compared: ");
        escape_terminal_z(out, cannot(t, i));
    }
    str_addc(out, '\n');
}

bool tables_list(Substitutes *x, Err *err)
{
    Str *out = session_out(x->s);
    json_t *all = json_array();
    size_t shown = 0;
    if (!optables_find(session_program(x->s), &x->tables, err))
        return false;
    for (size_t i = 0; i < x->tables.n; i++) {
        const OpTable *t = &x->tables.all[i];
        json_t *impls = json_array();
        for (size_t k = 0; k < t->nimpls; k++)
            json_array_append_new(impls, impl_json(t, &t->impls[k]));
        json_array_append_new(all, json_pack("{s:o,s:o,s:I}", "table", json_text(t->name),
                                             "implementations", impls, "comparable",
                                             (json_int_t)comparable(t)));
        if (t->nimpls < 2 && !session_verbose(x->s))
            continue;
        shown++;
        if (session_flag(x->s, "json"))
            continue;
        escape_terminal_z(out, t->name);
        str_addf(out, ": %zu implementations\n", t->nimpls);
        for (size_t k = 0; k < t->nimpls; k++)
            say_impl(t, &t->impls[k], out);
    }
    session_json(x->s, "tables", all);
    if (!shown && !session_flag(x->s, "json"))
        str_add(out, "no struct of function pointers has several implementations\n");
    return true;
}

/* ---- creators */

static void add_once(Functions *out, const Function *f)
{
    for (size_t i = 0; i < out->len; i++)
        if (out->items[i] == f)
            return;
    vec_push(out, f);
}

static bool is_slot(const OpTable *t, const Function *f)
{
    for (size_t i = 0; i < t->nimpls; i++)
        for (unsigned k = 0; k < t->nslots; k++)
            if (t->impls[i].slots[k] == f)
                return true;
    return false;
}

/* Does another implementation's table stand in it, too? */
static bool names_another(const OpTable *t, const OpImpl *own, const Function *f)
{
    for (size_t i = 0; i < t->nimpls; i++)
        for (size_t k = 0; k < t->impls[i].nusers && &t->impls[i] != own; k++)
            if (t->impls[i].users[k] == f && (!own->symbol || !t->impls[i].symbol ||
                                              strcmp(own->symbol, t->impls[i].symbol) != 0))
                return true;
    return false;
}

static bool may_create(const OpTable *t, const OpImpl *own, const Function *f)
{
    return f->defined && f->type && !f->variadic && strcmp(f->name, "main") != 0 &&
           !is_slot(t, f) && !names_another(t, own, f);
}

/* A parameter that takes the table itself; -1: none. */
static int takes_table(const OpTable *t, const Function *f)
{
    unsigned levels;
    for (unsigned i = 0; i < f->nparams; i++)
        if (type_pointed_record(f->params[i].type, &levels) == t->type && levels == 1)
            return (int)i;
    return -1;
}

static bool gives_pointer(const Function *f)
{
    unsigned levels;
    const Type *r = f->returns ? type_plain(f->returns) : NULL;
    if (r && r->kind == TYPE_POINTER)
        return true;
    for (unsigned i = 0; i < f->nparams; i++)
        if (type_pointed_record(f->params[i].type, &levels) ||
            (handle_void(f->params[i].type, &levels) && levels == 2))
            return true;
    return false;
}

static void add_creators(Substitutes *x, const OpTable *t, const OpImpl *impl, Functions *out)
{
    size_t n;
    const Function *const *fns = program_functions(session_program(x->s), &n);
    for (size_t i = 0; i < impl->nusers; i++) {
        const Function *f = impl->users[i];
        if (may_create(t, impl, f) && gives_pointer(f))
            add_once(out, f);
        for (unsigned k = 0; k < f->ncallers && !is_slot(t, f) && !names_another(t, impl, f); k++)
            if (may_create(t, impl, f->callers[k]) && gives_pointer(f->callers[k]))
                add_once(out, f->callers[k]);
    }
    for (size_t i = 0; i < n && impl->symbol && !impl->at; i++)
        if (takes_table(t, fns[i]) >= 0 && may_create(t, impl, fns[i]) && gives_pointer(fns[i]))
            add_once(out, fns[i]);
}

/* Functions that make other arguments of the slots. */
static void add_makers(Substitutes *x, const OpTable *t, const OpImpl *impl, Functions *out)
{
    size_t n;
    const Function *const *fns = program_functions(session_program(x->s), &n);
    for (unsigned k = 0; k < t->nslots; k++)
        for (unsigned i = 0; impl->slots[k] && i < impl->slots[k]->nparams; i++) {
            unsigned levels;
            const Type *r = type_pointed_record(impl->slots[k]->params[i].type, &levels);
            for (size_t m = 0; r && i && m < n; m++)
                if (fns[m]->defined && fns[m]->linkage == LINKAGE_EXTERNAL &&
                    takes_table(t, fns[m]) < 0 && !is_slot(t, fns[m]) && fns[m]->returns &&
                    type_pointed_record(fns[m]->returns, &levels) == r && levels == 1) {
                    bool named = false;
                    for (size_t q = 0; q < t->nimpls; q++)
                        for (size_t u = 0; u < t->impls[q].nusers; u++)
                            named |= t->impls[q].users[u] == fns[m];
                    if (!named)
                        add_once(out, fns[m]);
                }
        }
}

/* ---- a side */

/* The table in an argument's place is the side's own. */
static void pin_table(Pair *p, Side *side, const OpTable *t)
{
    for (size_t i = 0; i < side->api->nfunctions; i++) {
        ApiFunction *f = &side->api->functions[i];
        int at = takes_table(t, f->fn);
        if (at < 0 || !side->impl->symbol || side->impl->at)
            continue;
        SeqValue *pinned = arena_array(&p->arena, SeqValue, f->nparams + 1);
        pinned[at] = value_function(side->impl->symbol);
        f->pinned = pinned;
        f->nfixed = f->nparams;
        f->params[at].role = ROLE_POINTER;
        f->params[at].use = USE_NONE;
        f->params[at].handle = NULL;
        f->params[at].partner = API_NONE;
    }
}

/* The slots that both fill, in the same order on both sides; then all that creates. */
static bool open_side(Pair *p, SideOf which, const OpTable *t, const Mapping *mapping,
                      unsigned *nslots, Err *err)
{
    Substitutes *x = p->all;
    Side *side = &p->side[which];
    const OpImpl *other = p->side[!which].impl;
    Functions fns = { 0 };
    *nslots = 0;
    for (unsigned k = 0; k < t->nslots; k++)
        if (side->impl->slots[k] && other->slots[k] && side->impl->slots[k]->defined &&
            other->slots[k]->defined) {
            vec_push(&fns, side->impl->slots[k]);
            ++*nslots;
        }
    add_creators(x, t, side->impl, &fns);
    add_makers(x, t, side->impl, &fns);
    for (size_t i = 0; i < mapping->len; i++) {
        const MappingRow *row = &mapping->items[i];
        const Function *f =
            program_function(side->program, which == SIDE_CANDIDATE ? row->from : row->to);
        if (f && f->defined)
            add_once(&fns, f);
    }
    ApiPlan plan = { .functions = fns.items, .nfunctions = fns.len };
    if (fns.len)
        side->api = api_open(side->program, &plan, err);
    else
        p->why_not = "no slot is filled on both sides";
    vec_release(&fns);
    if (side->api)
        pin_table(p, side, t);
    return side->api || p->why_not;
}

static bool creates(const ApiFunction *f)
{
    for (int k = API_RETURNED; k < (int)f->nparams; k++)
        if (api_place(f, k)->use == USE_CREATES)
            return !f->not_callable;
    return false;
}

/* ---- a pair */

static const MappingRow *row_for(const Mapping *m, const char *from)
{
    for (size_t i = 0; i < m->len; i++)
        if (strcmp(m->items[i].from, from) == 0)
            return &m->items[i];
    return NULL;
}

static const ApiFunction *named(const Api *api, const char *name)
{
    for (size_t i = 0; i < api->nfunctions; i++)
        if (strcmp(api->functions[i].name, name) == 0)
            return &api->functions[i];
    return NULL;
}

static bool map_creators(Pair *p, unsigned nslots, const Mapping *mapping, Err *err)
{
    const Api *ref = p->side[SIDE_REFERENCE].api, *cand = p->side[SIDE_CANDIDATE].api;
    Vec(const ApiFunction *) creators = { 0 };
    bool ok = true;
    for (size_t i = nslots; i < ref->nfunctions; i++)
        if (creates(&ref->functions[i]))
            vec_push(&creators, &ref->functions[i]);
    for (size_t i = nslots; ok && i < cand->nfunctions; i++) {
        const ApiFunction *f = &cand->functions[i];
        CallMap *c = &p->calls[i];
        const MappingRow *row = row_for(mapping, f->name);
        const ApiFunction *to = row ? named(ref, row->to) : NULL;
        c->name = f->name;
        if (row && !to)
            strings_addf(&p->unused, "%s: the mapping names %s, which is not there", f->name,
                         row->to);
        else if (row && !mapping_apply(row, to, &p->arena, c))
            strings_addf(&p->unused, "%s: the mapping gives %u arguments, %s takes %u", f->name,
                         row->nargs, row->to, to->nparams);
        else if (!row && creates(f) &&
                 !mapping_guess(&p->arena, f, creators.items, creators.len, c))
            strings_addf(&p->unused, "%s: no function of %s creates with the same parameters",
                         f->name, p->side[SIDE_REFERENCE].name);
    }
    vec_release(&creators);
    (void)err;
    return ok;
}

static void note_optional(Pair *p, const OpTable *t)
{
    const OpImpl *ref = p->side[SIDE_REFERENCE].impl, *cand = p->side[SIDE_CANDIDATE].impl;
    for (unsigned k = 0; k < t->nslots; k++) {
        bool r = ref->slots[k], c = cand->slots[k];
        if (r != c)
            strings_addf(&p->unused, "%s: optional, NULL in the %s", t->slots[k].name,
                         r ? "candidate" : "reference");
        else if (r && (!ref->slots[k]->defined || !cand->slots[k]->defined))
            strings_addf(&p->unused, "%s: its function was not captured", t->slots[k].name);
    }
}

static void map_slots(Pair *p, const OpTable *t)
{
    const OpImpl *ref = p->side[SIDE_REFERENCE].impl, *cand = p->side[SIDE_CANDIDATE].impl;
    unsigned n = 0;
    for (unsigned k = 0; k < t->nslots; k++) {
        if (!ref->slots[k] || !cand->slots[k] || !ref->slots[k]->defined ||
            !cand->slots[k]->defined)
            continue;
        CallMap *c = &p->calls[n];
        mapping_identity(&p->arena, &p->side[SIDE_REFERENCE].api->functions[n], c);
        c->name = t->slots[k].name;
        c->common = true;
        assert(p->side[SIDE_REFERENCE].api->functions[n].fn == ref->slots[k]);
        n++;
    }
}

static void check_creation(Pair *p, unsigned nslots)
{
    const Api *cand = p->side[SIDE_CANDIDATE].api;
    size_t made = 0, needed = 0;
    for (size_t i = 0; i < cand->nfunctions; i++) {
        const ApiFunction *f = &cand->functions[i];
        made += p->calls[i].to && creates(f);
        needed += i < nslots && f->takes_handle;
    }
    if (!p->why_not && needed && !made)
        p->why_not = "no function creates an object of both; --mapping FILE can name two";
}

static bool make_pair(Substitutes *x, const OpTable *t, const OpImpl *ref, const OpImpl *cand,
                      const Mapping *mapping, Err *err)
{
    Pair *p = xcalloc(1, sizeof *p);
    unsigned n[NSIDES] = { 0 };
    p->all = x;
    p->side[SIDE_REFERENCE] =
        (Side){ .name = ref->name, .impl = ref, .program = session_program(x->s) };
    p->side[SIDE_CANDIDATE] =
        (Side){ .name = cand->name, .impl = cand, .program = session_program(x->s) };
    p->why_not = cannot(t, ref) ? cannot(t, ref) : cannot(t, cand);
    vec_push(&x->pairs, p);
    note_optional(p, t);
    for (int i = 0; i < NSIDES && !p->why_not; i++)
        if (!open_side(p, (SideOf)i, t, mapping, &n[i], err))
            return false;
    if (p->why_not)
        return true;
    assert(n[0] == n[1]);
    if (!session_flag(x->s, "list") && !pair_learn_example(p, err))
        return false;
    p->calls = arena_array(&p->arena, CallMap, p->side[SIDE_CANDIDATE].api->nfunctions + 1);
    map_slots(p, t);
    if (!map_creators(p, n[0], mapping, err))
        return false;
    check_creation(p, n[0]);
    return true;
}

/* ---- which pairs */

static bool pick_table(Substitutes *x, Err *err)
{
    const char *name = session_option(x->s, "table");
    if (!optables_find(session_program(x->s), &x->tables, err))
        return false;
    x->table = name ? optables_table(&x->tables, name) : NULL;
    for (size_t i = 0; !name && i < x->tables.n; i++)
        if (comparable(&x->tables.all[i]) >= 2) {
            if (x->table)
                return err_set(err, "--table NAME: which one? --tables lists them");
            x->table = &x->tables.all[i];
        }
    if (!x->table)
        return err_set(err,
                       name ? "--table %s: the program fills no such struct of function "
                              "pointers; --tables lists them"
                            : "no struct of function pointers has several implementations%s",
                       name ? name : "");
    return x->table->nimpls > 1 ||
           err_set(err, "%s has one implementation: there is nothing to compare", x->table->name);
}

static bool pick_impl(const Substitutes *x, const char *option, const OpImpl **out, Err *err)
{
    const char *name = session_option(x->s, option);
    *out = name ? optable_impl(x->table, name) : NULL;
    return !name || *out ||
           err_set(err, "--%s %s: %s has no implementation of this name, or several", option, name,
                   x->table->name);
}

bool tables_pairs(Substitutes *x, Err *err)
{
    const OpImpl *ref, *cand;
    Mapping mapping = { 0 };
    const char *file = session_option(x->s, "mapping");
    if (!session_need(x->s, NEEDS_PROGRAM, err) || !pick_table(x, err) ||
        !pick_impl(x, "reference", &ref, err) || !pick_impl(x, "candidate", &cand, err))
        return false;
    if (ref && cannot(x->table, ref))
        return err_set(err, "--reference %s can't be compared: %s", ref->name,
                       cannot(x->table, ref));
    bool ok = !file || mapping_read(file, &x->arena, &mapping, err);
    for (size_t r = 0; ok && r < x->table->nimpls; r++)
        for (size_t c = 0; ok && c < x->table->nimpls; c++) {
            const OpImpl *a = &x->table->impls[r], *b = &x->table->impls[c];
            bool wanted = r != c && (!ref || a == ref) && (!cand || b == cand);
            /* of two, the first is the reference */
            if (!ref && !cand && x->table->nimpls == 2)
                wanted = r == 0 && c == 1;
            if (wanted)
                ok = make_pair(x, x->table, a, b, &mapping, err);
        }
    vec_release(&mapping);
    return ok;
}
