/* What the user sees: contracts, differences, constraints, broken contracts. */
#include "base/escape.h"
#include "base/file.h"
#include "technique/invariants/invariants_int.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- contracts */

static void add_line(const Study *st, const Point *p, const Invariant *inv, const char *mark,
                     const char *word, Str *out)
{
    Str text = { 0 };

    inv_print(inv, p, st->samples, &text);
    str_addf(out, "%s%-9s%-46s  %" PRIu64 " samples%s\n", mark, word, str_c(&text), inv->samples,
             inv->own == inv->samples || !inv->samples ? ""
             : inv->own                                ? ", some borrowed"
                                                       : ", borrowed");
    str_release(&text);
}

static void add_heading(const Study *st, const FunctionSamples *f, Str *out)
{
    char *file = path_relative(f->file, session_root(st->session));

    escape_terminal_z(out, f->name);
    str_add(out, "  ");
    escape_terminal_z(out, file);
    str_addf(out, ":%u  %" PRIu64 " calls sampled", f->line, f->entry.total);
    if (f->left)
        str_addf(out, ", %" PRIu64 " did not return", f->left);
    str_addc(out, '\n');
    free(file);
}

/* What holds of a handle at every public function: once, in the words of the first
 * function that has it. */
static void add_states(const Study *st, Str *out)
{
    Map seen = { 0 };

    for (size_t i = 0; i < st->contracts->functions.len; i++) {
        const FunctionContract *fc = &st->contracts->functions.items[i];
        for (size_t k = 0; k < fc->pre.len; k++) {
            const Invariant *inv = &fc->pre.items[k];
            Str key = { 0 };
            for (unsigned v = 0; v < inv_arity(inv->kind); v++)
                str_addf(&key, "%d %s ", (int)inv->kind, fc->f->entry.vars[inv->v[v]].key);
            if (inv->is_state && map_put(&seen, *fc->f->handle ? fc->f->handle : "", &seen)) {
                str_add(out, "every ");
                escape_terminal_z(out, fc->f->handle);
                str_add(out, ", before and after each public function\n");
            }
            if (inv->is_state && map_put(&seen, str_c(&key), &seen))
                add_line(st, &fc->f->entry, inv, "  ", "holds", out);
            str_release(&key);
        }
    }
    map_release(&seen);
}

/* Calls that ended by longjmp() or exit(): they have no exit to learn from. */
static void add_left(const Study *st, Str *out)
{
    enum { NAMED = 5 };
    size_t n = 0;

    for (size_t i = 0; i < st->samples->functions.len; i++) {
        const FunctionSamples *f = st->samples->functions.items[i];
        if (!f->left || strcmp(f->name, "main") == 0 || n++ >= NAMED)
            continue;
        str_add(out, n > 1 ? ", " : "Calls that did not return: ");
        escape_terminal_z(out, f->name);
        str_addf(out, " %" PRIu64, f->left);
    }
    if (n > NAMED)
        str_addf(out, " and those of %zu more functions", n - NAMED);
    str_add(out, n ? "\n" : "");
}

void report_contracts(const Study *st)
{
    Str *out = session_out(st->session);
    size_t n = 0, functions = 0;

    add_states(st, out);

    for (size_t i = 0; i < st->contracts->functions.len; i++) {
        const FunctionContract *fc = &st->contracts->functions.items[i];
        if (!fc->pre.len && !fc->post.len)
            continue;
        functions++;
        add_heading(st, fc->f, out);
        for (size_t k = 0; k < fc->pre.len; k++)
            if (!fc->pre.items[k].is_state)
                add_line(st, &fc->f->entry, &fc->pre.items[k], "  ", "requires", out);
        for (size_t k = 0; k < fc->post.len; k++)
            if (!fc->post.items[k].is_state)
                add_line(st, &fc->f->exit, &fc->post.items[k], "  ", "ensures", out);
        n += fc->pre.len + fc->post.len;
    }
    add_left(st, out);
    str_addf(out,
             "%zu invariants of %zu functions, likely from these runs. To refute them run "
             "other tests:\n  sundew invariants %s --check -- COMMAND\n",
             n, functions, st->name);
}

/* --- before and after */

static bool has_same(const Invariants *list, const Invariant *inv)
{
    for (size_t i = 0; i < list->len; i++)
        if (inv_same(&list->items[i], inv))
            return true;
    return false;
}

static void tell_refuted(const Study *st, const FunctionSamples *f, bool is_exit,
                         const Invariant *inv, Str *out)
{
    Arena a = { 0 };
    Row row;
    int by = contract_refuted(st->contracts, &st->constraints, f, is_exit, inv, &row, &a);

    if (by >= 0) {
        str_add(out, "      refuted by ");
        constraint_print(&st->constraints.items.items[by], out);
        str_add(out, ": ");
        inv_print_values(inv, is_exit ? &f->exit : &f->entry, st->samples, &row, out);
        str_addc(out, '\n');
    }
    arena_release(&a);
}

/* `own`: all that its samples alone say, what is said twice included. */
static void add_changes(const Study *st, const FunctionContract *fc, bool is_exit,
                        const Invariants *own, Str *out)
{
    const Invariants *before = is_exit ? &fc->post_before : &fc->pre_before;
    const Invariants *after = is_exit ? &fc->post : &fc->pre;
    const Point *p = is_exit ? &fc->f->exit : &fc->f->entry;
    const char *word = is_exit ? "ensures" : "requires";

    for (size_t i = 0; i < before->len; i++)
        if (!has_same(after, &before->items[i])) {
            add_line(st, p, &before->items[i], "  - ", word, out);
            tell_refuted(st, fc->f, is_exit, &before->items[i], out);
        }
    for (size_t i = 0; i < after->len; i++)
        if (!has_same(before, &after->items[i]) && !has_same(own, &after->items[i]))
            add_line(st, p, &after->items[i], "  + ", word, out);
}

/* The lists before steering as contracts of their own, cleaned up alike. */
void report_difference(const Study *st)
{
    Str *out = session_out(st->session);
    ContractPlan alone = { .infer = st->plan.infer, .no_state = true };
    Contracts *plain = contracts_infer(st->samples, NULL, &alone);
    Contracts *steered = contracts_infer(st->samples, &st->constraints, &alone);
    size_t changed = 0;

    for (size_t i = 0; i < st->contracts->functions.len; i++) {
        FunctionContract both = steered->functions.items[i];
        Str lines = { 0 };
        Invariants own_pre = both.pre_before, own_post = both.post_before;
        both.pre_before = plain->functions.items[i].pre;
        both.post_before = plain->functions.items[i].post;
        add_changes(st, &both, false, &own_pre, &lines);
        add_changes(st, &both, true, &own_post, &lines);
        if (lines.len) {
            changed++;
            add_heading(st, both.f, out);
            str_addn(out, lines.data, lines.len);
        }
        str_release(&lines);
    }
    str_addf(out, "%zu constraints changed the contracts of %zu functions.\n",
             st->constraints.items.len, changed);
    contracts_free(plain);
    contracts_free(steered);
}

/* --- constraints that hold */

static json_t *constraint_json(const Constraint *c)
{
    json_t *o =
        json_pack("{s:s, s:o, s:o, s:f, s:f, s:f, s:i, s:i}", "kind", constraint_kind_name(c->kind),
                  "from", json_text(c->from), "to", json_text(c->to), "rate", c->rate, "confidence",
                  c->confidence, "core", c->core, "proved", (int)c->proved, "of", (int)c->of);
    if (c->when)
        json_object_set_new(o, "when", json_string(guard_name(c->when)));
    return o;
}

void report_discovered(const Study *st, const Discovered *d)
{
    Str unused = { 0 },
        *out = session_flag(st->session, "json") ? &unused : session_out(st->session);
    json_t *all = json_array(), *frozen = json_array();

    for (size_t i = 0; i < d->immutable.len; i++) {
        str_add(out, "# Immutable: no function changes a ");
        escape_terminal_z(out, d->immutable.items[i]);
        str_addc(out, '\n');
        json_array_append_new(frozen, json_text(d->immutable.items[i]));
    }
    for (size_t i = 0; i < d->constraints.items.len; i++) {
        const Constraint *c = &d->constraints.items.items[i];
        Str text = { 0 };
        constraint_print(c, &text);
        str_addf(out, "%-56s # rate %.2f (%u of %u), confidence %.2f, core %.2f\n", str_c(&text),
                 c->rate, c->proved, c->of, c->confidence, c->core);
        str_release(&text);
        json_array_append_new(all, constraint_json(c));
    }
    str_addf(out,
             "# %zu constraints of %zu candidates; %zu vacuous, %zu below the rate. Vet "
             "them into a file for --constraints.\n",
             d->constraints.items.len, d->candidates, d->vacuous, d->below);
    session_json(st->session, "constraints", all);
    session_json(st->session, "immutable", frozen);
    str_release(&unused);
}

/* --- findings */

/* Graphviz: who can follow whom. Mutual ones are one line. */
static char *picture_of(const Discovered *d)
{
    enum { MOST_EDGES = 120 };
    Str out = { 0 };
    size_t n = 0;

    str_add(&out, "digraph constraints {\n  rankdir=LR;\n  node [shape=box];\n");
    for (size_t i = 0; i < d->constraints.items.len && n < MOST_EDGES; i++) {
        const Constraint *c = &d->constraints.items.items[i];
        if (c->kind != CONSTRAINT_CAN_FOLLOW || strcmp(c->from, c->to) == 0)
            continue;
        n++;
        str_add(&out, "  \"");
        escape_dot(&out, c->from);
        str_add(&out, "\" -> \"");
        escape_dot(&out, c->to);
        str_addf(&out, "\"%s;\n", c->when ? " [style=dashed]" : "");
    }
    str_add(&out, "}\n");
    char *text = n ? str_take(&out) : NULL;
    str_release(&out);
    return text;
}

static bool report_graph(const Study *st, Err *err)
{
    Discovered d = { 0 };

    discover(st->contracts, &(DiscoverPlan){ .most_queries = 2000 }, &d);
    char *picture = picture_of(&d);
    char *message = xprintf("%zu constraints hold between the contracts of %zu functions",
                            d.constraints.items.len, st->contracts->functions.len);
    Finding f = { .rule = "invariants/constraints",
                  .level = LEVEL_NOTE,
                  .verdict = VERDICT_LIKELY,
                  .message = message,
                  .anchor = "constraints",
                  .picture = picture };
    bool ok = !picture || session_report(st->session, &f, err);
    free(message);
    free(picture);
    discovered_release(&d);
    return ok;
}

static bool report_contract(const Study *st, const FunctionContract *fc, Err *err)
{
    Vec(EvidenceStep) steps = { 0 };
    Strings texts = { 0 };

    for (int side = 0; side < 2; side++) {
        const Invariants *list = side ? &fc->post : &fc->pre;
        for (size_t i = 0; i < list->len; i++) {
            Str text = { 0 };
            str_add(&text, side ? "ensures " : "requires ");
            inv_print(&list->items[i], side ? &fc->f->exit : &fc->f->entry, st->samples, &text);
            strings_addf(&texts, "%s   (%" PRIu64 " samples)", str_c(&text),
                         list->items[i].samples);
            str_release(&text);
        }
    }
    for (size_t i = 0; i < texts.len; i++)
        vec_push(&steps, ((EvidenceStep){ .text = texts.items[i] }));
    char *message = xprintf("%s: %zu preconditions and %zu postconditions, likely", fc->f->name,
                            fc->pre.len, fc->post.len);
    Finding f = { .rule = "invariants/contract",
                  .level = LEVEL_NOTE,
                  .verdict = VERDICT_LIKELY,
                  .message = message,
                  .anchor = fc->f->name,
                  .steps = steps.items,
                  .nsteps = steps.len,
                  .where = {
                      .file = fc->f->file, .line = (int)fc->f->line, .function = fc->f->name } };
    bool ok = !steps.len || session_report(st->session, &f, err);
    free(message);
    vec_release(&steps);
    strings_release(&texts);
    return ok;
}

bool report_page(const Study *st, Err *err)
{
    for (size_t i = 0; i < st->contracts->functions.len; i++)
        if (!report_contract(st, &st->contracts->functions.items[i], err))
            return false;
    return report_graph(st, err);
}

static json_t *broken_json(const Study *st, const Broken *b)
{
    Str text = { 0 }, values = { 0 };
    const Point *p = b->is_exit ? &b->f->exit : &b->f->entry;

    inv_print(&b->inv, p, st->samples, &text);
    inv_print_values(&b->inv, p, st->samples, &b->row, &values);
    json_t *o = json_pack("{s:o, s:s, s:o, s:o, s:I, s:I, s:f}", "function", json_text(b->f->name),
                          "side", b->is_exit ? "post" : "pre", "text", json_text(str_c(&text)),
                          "values", json_text(str_c(&values)), "times", (json_int_t)b->times,
                          "samples", (json_int_t)b->samples, "confidence", b->confidence);
    str_release(&text);
    str_release(&values);
    return o;
}

static bool report_one_broken(const Study *st, const Broken *b, Err *err)
{
    const Point *p = b->is_exit ? &b->f->exit : &b->f->entry;
    Str text = { 0 }, values = { 0 };

    inv_print(&b->inv, p, st->samples, &text);
    inv_print_values(&b->inv, p, st->samples, &b->row, &values);
    char *message = xprintf("%s no longer %s %s, which held in %" PRIu64 " samples", b->f->name,
                            b->is_exit ? "ensures" : "gets", str_c(&text), b->samples);
    char *with = xprintf("%s with %s; %" PRIu64 " samples of this run break it%s",
                         b->is_exit ? "returned" : "called", str_c(&values), b->times,
                         b->others ? ", and it is seen at other functions, too" : "");
    EvidenceStep step = { .text = with };
    bool by_chance = session_flag(st->session, "made-up") && !contract_is_relation(&b->inv, p);
    Finding f = { .rule = "invariants/broken",
                  .level = by_chance ? LEVEL_NOTE : LEVEL_WARNING,
                  .verdict = VERDICT_SHOWN,
                  .message = message,
                  .anchor = str_c(&text),
                  .steps = &step,
                  .nsteps = 1,
                  .rerun = session_command_line(st->session),
                  .where = {
                      .file = b->f->file, .line = (int)b->f->line, .function = b->f->name } };
    bool ok = session_report(st->session, &f, err);
    free(message);
    free(with);
    str_release(&text);
    str_release(&values);
    return ok;
}

bool report_broken(const Study *st, const BrokenList *broken, Err *err)
{
    json_t *all = json_array();
    bool ok = true;

    for (size_t i = 0; i < broken->len && ok; i++) {
        json_array_append_new(all, broken_json(st, &broken->items[i]));
        ok = report_one_broken(st, &broken->items[i], err);
    }
    session_json(st->session, "broken", all);
    return ok;
}

/* --- two versions */

static bool has_text(const json_t *list, const char *text)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_str(json_array_get(list, i), "text"), text) == 0)
            return true;
    return false;
}

static void compare_lists(const json_t *old, const json_t *now, const char *word, Strings *out)
{
    for (size_t i = 0; i < json_array_size(old); i++) {
        const char *text = json_str(json_array_get(old, i), "text");
        if (!has_text(now, text))
            strings_addf(out, "- %s %s", word, text);
    }
    for (size_t i = 0; i < json_array_size(now); i++) {
        const char *text = json_str(json_array_get(now, i), "text");
        if (!has_text(old, text))
            strings_addf(out, "+ %s %s", word, text);
    }
}

static bool report_one_changed(const Study *st, const FunctionContract *fc, const json_t *old,
                               json_t *all, Err *err)
{
    json_t *now = contract_to_json(st->contracts, fc);
    Strings lines = { 0 };
    Vec(EvidenceStep) steps = { 0 };

    compare_lists(json_object_get(old, "pre"), json_object_get(now, "pre"), "requires", &lines);
    compare_lists(json_object_get(old, "post"), json_object_get(now, "post"), "ensures", &lines);
    for (size_t i = 0; i < lines.len; i++)
        vec_push(&steps, ((EvidenceStep){ .text = lines.items[i] }));
    char *message = xprintf("the contract of %s changed: %s%s", fc->f->name,
                            lines.len ? lines.items[0] : "", lines.len > 1 ? ", …" : "");
    Finding f = { .rule = "invariants/changed",
                  .level = LEVEL_WARNING,
                  .verdict = VERDICT_LIKELY,
                  .message = message,
                  .anchor = fc->f->name,
                  .steps = steps.items,
                  .nsteps = steps.len,
                  .where = {
                      .file = fc->f->file, .line = (int)fc->f->line, .function = fc->f->name } };
    bool ok = !lines.len || session_report(st->session, &f, err);
    if (lines.len)
        json_array_append_new(all, json_pack("{s:o, s:o}", "function", json_text(fc->f->name),
                                             "lines", json_strings(lines.items, lines.len)));
    free(message);
    vec_release(&steps);
    strings_release(&lines);
    json_decref(now);
    return ok;
}

bool report_changed(const Study *st, const json_t *old, Err *err)
{
    json_t *all = json_array();
    bool ok = true;
    const json_t *list = json_object_get(old, "functions");

    for (size_t i = 0; i < json_array_size(list) && ok; i++) {
        const json_t *o = json_array_get(list, i);
        const FunctionSamples *f = samples_find(st->samples, json_str(o, "name"));
        const FunctionContract *fc = f ? contracts_of(st->contracts, f) : NULL;
        if (fc)
            ok = report_one_changed(st, fc, o, all, err);
    }
    session_json(st->session, "changed", all);
    return ok;
}

json_t *report_json(const Study *st)
{
    json_t *functions = json_array();

    for (size_t i = 0; i < st->contracts->functions.len; i++)
        json_array_append_new(functions,
                              contract_to_json(st->contracts, &st->contracts->functions.items[i]));
    return functions;
}
