/* What the command says: findings, JSON, a summary, the matrix. */
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "technique/substitutes/substitutes_int.h"
#include <stdlib.h>
#include <string.h>

/* ---- a test in words */

static void say_step(const Pair *p, const Seq *s, unsigned i, bool threads, Str *out)
{
    const SeqStep *st = &s->steps[i];
    str_addf(out, "%u  %s", i + 1, threads && i + 2 >= s->n ? (i + 1 == s->n ? "T2 " : "T1 ") : "");
    if (!st->f) {
        str_add(out, st->storage ? st->storage->name : st->field ? st->field->name : "");
        str_add(out, st->storage ? " of the caller's\n" : " = ");
        if (!st->storage) {
            value_print(&st->args[0], out);
            str_addc(out, '\n');
        }
        return;
    }
    str_addf(out, "%s(", p->calls[st->f->index].name);
    for (unsigned k = 0; k < st->nargs; k++) {
        const SeqValue *v = &st->args[k];
        str_add(out, k ? ", " : "");
        if (v->kind == VALUE_RESULT)
            str_addf(out, "result of %u", v->step + 1);
        else if (v->kind == VALUE_STORED || v->kind == VALUE_STORAGE)
            str_addf(out, "that of %u", v->step + 1);
        else
            value_print(v, out);
    }
    str_add(out, ")\n");
}

/* Of a concurrent one the last two calls are those of the threads. */
static void seq_say(const Pair *p, const Seq *s, bool threads, Str *out)
{
    for (unsigned i = 0; i < s->n; i++)
        say_step(p, s, i, threads, out);
}

/* A name as short as it goes: without its folder, if that tells the two apart. */
static const char *short_name(const Pair *p, SideOf which)
{
    const char *a = path_base(p->side[0].name), *b = path_base(p->side[1].name);
    return strcmp(a, b) == 0 ? p->side[which].name : path_base(p->side[which].name);
}

/* ---- the matrix */

static size_t told(const Pair *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->found.len; i++)
        n += !p->found.items[i].capability && !p->found.items[i].accepted &&
             !p->found.items[i].same_as;
    return n;
}

static const Pair *pair_of(const Substitutes *x, const char *ref, const char *cand)
{
    for (size_t i = 0; i < x->pairs.len; i++)
        if (!strcmp(x->pairs.items[i]->side[0].name, ref) &&
            !strcmp(x->pairs.items[i]->side[1].name, cand))
            return x->pairs.items[i];
    return NULL;
}

static void add_names(const Substitutes *x, Map *out)
{
    for (size_t i = 0; i < x->pairs.len; i++)
        for (int k = 0; k < NSIDES; k++)
            map_put(out, x->pairs.items[i]->side[k].name, NULL);
}

static void matrix_cell(const Pair *p, Str *out)
{
    if (!p)
        str_add(out, "<td></td>");
    else if (p->why_not)
        str_add(out, "<td bgcolor=\"#dddddd\">?</td>");
    else if (!told(p))
        str_add(out, "<td bgcolor=\"#d5efd5\">alike</td>");
    else
        str_addf(out, "<td bgcolor=\"#f5d0d0\">%zu</td>", told(p));
}

/* A row for each reference, a column for each candidate: differences. */
static char *matrix(const Substitutes *x)
{
    Map names = { 0 };
    Str s = { 0 };
    add_names(x, &names);
    str_add(&s, "digraph matrix { node [shape=plain fontname=\"sans-serif\"]; m [label=<"
                "<table border=\"0\" cellborder=\"1\" cellspacing=\"0\"><tr>"
                "<td>reference \\ candidate</td>");
    for (size_t i = 0; i < names.len; i++) {
        str_add(&s, "<td>");
        escape_html_z(&s, names.entries[i].key);
        str_add(&s, "</td>");
    }
    str_add(&s, "</tr>");
    for (size_t i = 0; i < names.len; i++) {
        str_add(&s, "<tr><td>");
        escape_html_z(&s, names.entries[i].key);
        str_add(&s, "</td>");
        for (size_t k = 0; k < names.len; k++)
            matrix_cell(pair_of(x, names.entries[i].key, names.entries[k].key), &s);
        str_add(&s, "</tr>");
    }
    str_add(&s, "</table>>]; }\n");
    map_release(&names);
    return str_take(&s);
}

/* ---- majority */

/* Of several references that the candidate was compared with, how many does it differ
 * from in this function? */
static void count_peers(const Substitutes *x, const Pair *p, Difference *d)
{
    for (size_t i = 0; i < x->pairs.len; i++) {
        const Pair *o = x->pairs.items[i];
        if (o->why_not || strcmp(o->side[1].name, p->side[1].name) != 0)
            continue;
        d->peers_of++;
        bool differs = false;
        for (size_t k = 0; k < o->found.len && !differs; k++)
            differs =
                !o->found.items[k].capability &&
                !strcmp(o->calls[o->found.items[k].function].name, p->calls[d->function].name);
        d->peers += differs;
    }
}

/* The majority is right: a candidate that most peers agree with is not to blame. */
static bool is_minority(const Difference *d)
{
    return d->peers_of < 2 || 2 * d->peers > d->peers_of;
}

/* The same of the candidate was told of another reference. */
static bool told_before(const Substitutes *x, const Pair *p, const Difference *d)
{
    for (size_t i = 0; i < x->pairs.len && x->pairs.items[i] != p; i++) {
        const Pair *o = x->pairs.items[i];
        for (size_t k = 0; !strcmp(o->side[1].name, p->side[1].name) && k < o->found.len; k++) {
            const Difference *e = &o->found.items[k];
            if (!e->capability && e->how.kind == d->how.kind &&
                !strcmp(o->calls[e->function].name, p->calls[d->function].name))
                return true;
        }
    }
    return false;
}

/* Another candidate has the very same function, and its difference was told. */
static void find_origin(const Substitutes *x, const Pair *p, Difference *d)
{
    const Function *fn = p->side[SIDE_CANDIDATE].api->functions[d->function].fn;
    for (size_t i = 0; i < x->pairs.len && x->pairs.items[i] != p && !d->from; i++) {
        const Pair *o = x->pairs.items[i];
        for (size_t k = 0; k < o->found.len && !d->from; k++)
            if (o->side[SIDE_CANDIDATE].api->functions[o->found.items[k].function].fn == fn &&
                o->found.items[k].how.kind == d->how.kind &&
                strcmp(o->side[1].name, p->side[1].name) != 0) {
                d->cause = CAUSE_PROPAGATED;
                d->from = o->side[SIDE_CANDIDATE].name;
            }
    }
}

/* ---- findings */

static const char *rule_of(const Difference *d)
{
    switch (d->how.kind) {
    case DIFFERENCE_CRASH: return "substitutes/crash";
    case DIFFERENCE_REMOVED: return "substitutes/removed";
    case DIFFERENCE_DEADLOCK: return "substitutes/deadlock";
    case DIFFERENCE_OUTPUT: break;
    }
    return "substitutes/output";
}

static Level level_of(const Difference *d)
{
    if (d->capability || d->how.weak)
        return LEVEL_NOTE;
    return d->how.kind == DIFFERENCE_CRASH || d->how.kind == DIFFERENCE_DEADLOCK ? LEVEL_ERROR
                                                                                 : LEVEL_WARNING;
}

/* Where the candidate's function is; of a library that was not captured, the header. */
static Location place_of(const Pair *p, const Difference *d)
{
    const Side *side = &p->side[SIDE_CANDIDATE];
    const Function *fn = side->api->functions[d->function].fn;
    char **headers = session_option_all(p->all->s, "headers");
    if (side->own)
        return (Location){ .file = headers && *headers ? *headers : side->name,
                           .line = 1,
                           .function = fn->name };
    return (Location){ .file = *fn->file ? fn->file : side->name,
                       .line = (int)fn->line,
                       .function = fn->name };
}

static json_t *difference_json(const Pair *p, const Difference *d)
{
    Location at = place_of(p, d);
    Str test = { 0 };
    seq_say(p, d->seq, d->threads, &test);
    json_t *j =
        json_pack("{s:s,s:o,s:s,s:o,s:o,s:i,s:o,s:o,s:o,s:I}", "kind",
                  difference_kind_name(d->how.kind), "function",
                  json_text(p->calls[d->function].name), "cause", difference_cause_name(d->cause),
                  "test", json_text(str_c(&test)), "file", json_text(at.file), "line", at.line,
                  "mapping", json_text(d->mapping), "reference_did", json_text(d->reference_did),
                  "candidate_did", json_text(d->candidate_did), "seen", (json_int_t)d->seen);
    if (d->from)
        json_object_set_new(j, "from", json_text(d->from));
    if (d->same_as)
        json_object_set_new(j, "same_as", json_text(d->same_as));
    if (d->folder)
        json_object_set_new(j, "folder", json_text(d->folder));
    if (d->capability)
        json_object_set_new(j, "set_aside", json_text(d->capability));
    if (d->accepted)
        json_object_set_new(j, "accepted", json_text(d->accepted));
    if (d->bounded)
        json_object_set_new(j, "bounded", json_true());
    if (normaliser_of(d->under))
        json_object_set_new(j, "normaliser", json_text(normaliser_of(d->under)));
    if (d->peers_of > 1)
        json_object_set_new(j, "peers",
                            json_pack("{s:i,s:i}", "differ", (int)d->peers, "of",
                                      (int)d->peers_of));
    str_release(&test);
    return j;
}

/* The candidate's part in a title; the steps have what both did. */
static const char *did(const Difference *d)
{
    enum { SHORT = 40 };
    switch (d->how.kind) {
    case DIFFERENCE_CRASH: return "fails";
    case DIFFERENCE_DEADLOCK: return "gets stuck";
    case DIFFERENCE_REMOVED: return "lacks it";
    case DIFFERENCE_OUTPUT: break;
    }
    return strlen(d->candidate_did) <= SHORT ? d->candidate_did : "answers differently";
}

/* The line that would accept it; NULL: nothing small explains it. */
static const char *proposal(Arena *a, const Pair *p, const Difference *d)
{
    const char *how = normaliser_of(d->under);
    return how ? arena_printf(
                     a,
                     "the normaliser \"%s\" explains it in all tests; a line for --accepted: "
                     "%s %s %s REASON",
                     how, p->side[SIDE_CANDIDATE].name, p->calls[d->function].name, how)
               : NULL;
}

/* Other functions that differ after the same calls; NULL: none. */
static const char *also(Arena *a, const Pair *p, const Difference *d)
{
    Str out = { 0 };
    for (size_t i = 0; i < p->found.len; i++) {
        const Difference *o = &p->found.items[i];
        if (o->same_as && o->how.kind == d->how.kind &&
            strcmp(o->same_as, p->calls[d->function].name) == 0)
            str_addf(&out, "%s%s",
                     out.len ? ", " : "differ after the same calls: ", p->calls[o->function].name);
    }
    const char *text = out.len ? arena_strdup(a, str_c(&out)) : NULL;
    str_release(&out);
    return text;
}

static bool report_difference(Pair *p, Difference *d, const char *picture, Err *err)
{
    Substitutes *x = p->all;
    const char *name = p->calls[d->function].name;
    Str test = { 0 };
    Arena a = { 0 };
    seq_say(p, d->seq, d->threads, &test);
    EvidenceStep steps[6] = {
        { .text = arena_printf(&a, "reference %s: %s", p->side[0].name, d->reference_did) },
        { .text = arena_printf(&a, "candidate %s: %s", p->side[1].name, d->candidate_did) },
        { .text = arena_printf(&a, "cause: %s%s%s", difference_cause_name(d->cause),
                               d->from ? ": " : "", d->from ? d->from : "") },
        { .text = arena_printf(&a, "mapping: %s", d->mapping) },
    };
    size_t nsteps = 4;
    steps[nsteps].text = also(&a, p, d);
    nsteps += steps[nsteps].text != NULL;
    steps[nsteps].text = proposal(&a, p, d);
    nsteps += steps[nsteps].text != NULL;
    Attachment texts[2] = { { "test.txt", "test", str_c(&test), test.len },
                            { "interleaving.txt", "trace", d->interleaving,
                              d->interleaving ? strlen(d->interleaving) : 0 } };
    Finding f = { .rule = rule_of(d),
                  .level = level_of(d),
                  .verdict = VERDICT_SHOWN,
                  .message =
                      arena_printf(&a, "%s: %s %s, unlike %s (%s%s)", name,
                                   short_name(p, SIDE_CANDIDATE), did(d),
                                   short_name(p, SIDE_REFERENCE), difference_cause_name(d->cause),
                                   d->bounded ? ", bounded" : ""),
                  .where = place_of(p, d),
                  .anchor = arena_printf(&a, "%s %s %s", short_name(p, SIDE_REFERENCE),
                                         short_name(p, SIDE_CANDIDATE), name),
                  .steps = steps,
                  .nsteps = nsteps,
                  .attachments = texts,
                  .nattachments = d->interleaving ? 2 : 1,
                  .picture = picture,
                  .data = difference_json(p, d),
                  .rerun = session_command_line(x->s) };
    bool ok = session_report(x->s, &f, err);
    json_decref(f.data);
    str_release(&test);
    arena_release(&a);
    return ok;
}

/* ---- JSON */

static json_t *coverage_json(const Pair *p)
{
    const Api *cand = p->side[SIDE_CANDIDATE].api;
    json_t *j = json_object();
    size_t n = cand->nfunctions, both = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        if (!p->calls[i].common || !p->calls[i].to)
            continue;
        size_t calls = p->habits[i].calls[1] + p->habits[i].died, there = calls;
        for (size_t k = 0; k < n; k++) {
            all += p->calls[k].common && p->calls[k].to;
            both += p->calls[k].common && p->calls[k].to && p->after[k * n + i];
            there = p->after[k * n + i] > there ? p->after[k * n + i] : there;
        }
        json_object_set_new(j, p->calls[i].name, json_integer((json_int_t)there));
    }
    return json_pack("{s:o,s:I,s:I}", "calls", j, "pairs_covered", (json_int_t)both, "pairs",
                     (json_int_t)all);
}

static json_t *texts_json(const Strings *s)
{
    json_t *j = json_array();
    for (size_t i = 0; i < s->len; i++)
        json_array_append_new(j, json_text(s->items[i]));
    return j;
}

static json_t *tolerant_json(const Pair *p)
{
    json_t *j = json_array();
    for (size_t i = 0; i < p->tolerant.len; i++) {
        const Tolerance *t = &p->tolerant.items[i];
        Str test = { 0 };
        seq_say(p, t->seq, false, &test);
        json_array_append_new(j,
                              json_pack("{s:o,s:o,s:o,s:o,s:I}", "function",
                                        json_text(p->calls[t->function].name), "test",
                                        json_text(str_c(&test)), "reference_did",
                                        json_text(t->reference_did), "candidate_did",
                                        json_text(t->candidate_did), "seen", (json_int_t)t->seen));
        str_release(&test);
    }
    return j;
}

static json_t *pair_json(const Pair *p)
{
    json_t *differences = json_array(), *aside = json_array(), *accepted = json_array();
    for (size_t i = 0; i < p->found.len; i++) {
        const Difference *d = &p->found.items[i];
        json_array_append_new(d->accepted     ? accepted
                              : d->capability ? aside
                                              : differences,
                              difference_json(p, d));
    }
    json_t *j = json_pack("{s:o,s:o,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:f}", "reference",
                          json_text(p->side[0].name), "candidate", json_text(p->side[1].name),
                          "tests", (json_int_t)p->tests, "inconclusive",
                          (json_int_t)p->inconclusive, "differences", differences, "set_aside",
                          aside, "accepted", accepted, "unused", texts_json(&p->unused), "notes",
                          texts_json(&p->notes), "reference_fails", (json_int_t)p->reference_fails,
                          "unstable", (json_int_t)p->unstable, "seconds", p->seconds);
    if (p->concurrent || p->bounded)
        json_object_set_new(j, "concurrent",
                            json_pack("{s:I,s:I}", "tests", (json_int_t)p->concurrent, "bounded",
                                      (json_int_t)p->bounded));
    json_object_set_new(j, "tolerant", tolerant_json(p));
    if (p->why_not)
        json_object_set_new(j, "why_not", json_text(p->why_not));
    else if (p->habits)
        json_object_set_new(j, "coverage", coverage_json(p));
    if (p->found.len)
        json_object_set_new(j, "seconds_to_first", json_real(p->first));
    return j;
}

/* ---- summary */

static void say_pair(Substitutes *x, const Pair *p)
{
    Str *out = session_out(x->s);
    escape_terminal_z(out, short_name(p, SIDE_CANDIDATE));
    str_add(out, " for ");
    escape_terminal_z(out, short_name(p, SIDE_REFERENCE));
    if (p->why_not) {
        str_add(out, ": can't be compared: ");
        escape_terminal_z(out, p->why_not);
        str_addc(out, '\n');
        return;
    }
    size_t aside = 0, accepted = 0;
    for (size_t i = 0; i < p->found.len; i++) {
        accepted += p->found.items[i].accepted != NULL;
        aside += !p->found.items[i].accepted && p->found.items[i].capability;
    }
    str_addf(out, ": %zu difference%s in %zu tests, %zu inconclusive", told(p),
             told(p) == 1 ? "" : "s", p->tests, p->inconclusive);
    if (aside)
        str_addf(out, ", %zu set aside", aside);
    if (accepted)
        str_addf(out, ", %zu accepted", accepted);
    str_addc(out, '\n');
    for (size_t i = 0; i < p->found.len; i++) {
        const Difference *d = &p->found.items[i];
        if (!d->capability && !d->accepted)
            continue;
        str_add(out, d->accepted ? "  accepted: " : "  set aside: ");
        escape_terminal_z(out, p->calls[d->function].name);
        str_add(out, ": ");
        escape_terminal_z(out, d->accepted ? d->accepted : d->capability);
        str_addc(out, '\n');
    }
    for (size_t i = 0; i < p->tolerant.len; i++) {
        str_add(out, i ? ", " : "  fails on the reference only: ");
        escape_terminal_z(out, p->calls[p->tolerant.items[i].function].name);
        str_add(out, i + 1 == p->tolerant.len ? "\n" : "");
    }
    for (size_t i = 0; session_verbose(x->s) && i < p->unused.len; i++) {
        str_add(out, "  not compared: ");
        escape_terminal_z(out, p->unused.items[i]);
        str_addc(out, '\n');
    }
}

/* ---- whole */

bool report_pairs(Substitutes *x, Err *err)
{
    json_t *pairs = json_array();
    char *picture = matrix(x);
    size_t tests = 0;
    bool ok = true;
    for (size_t i = 0; i < x->pairs.len; i++)
        for (size_t k = 0; k < x->pairs.items[i]->found.len; k++) {
            count_peers(x, x->pairs.items[i], &x->pairs.items[i]->found.items[k]);
            find_origin(x, x->pairs.items[i], &x->pairs.items[i]->found.items[k]);
        }
    for (size_t i = 0; ok && i < x->pairs.len; i++) {
        Pair *p = x->pairs.items[i];
        tests += p->tests;
        for (size_t k = 0; ok && k < p->found.len; k++) {
            Difference *d = &p->found.items[k];
            if (d->capability || d->accepted || d->same_as || !is_minority(d) ||
                told_before(x, p, d))
                continue;
            ok = (d->threads || test_write(p, d, err)) && report_difference(p, d, picture, err);
        }
        json_array_append_new(pairs, pair_json(p));
    }
    session_examined(x->s, "%zu tests of %zu pairs", tests, x->pairs.len);
    session_json(x->s, "pairs", pairs);
    session_json(x->s, "matrix", json_text(picture));
    for (size_t i = 0; ok && i < x->pairs.len && !session_flag(x->s, "json"); i++)
        say_pair(x, x->pairs.items[i]);
    free(picture);
    return ok;
}
