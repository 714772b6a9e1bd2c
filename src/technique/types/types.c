/*
 * types - arguments of a type that nearly no other caller passes.
 *
 * kinds.c says what each argument shows, histogram.c counts callers and knows
 * who stands alone, study.c brings both together over an index of calls; this
 * is the command around them. README.md explains the technique.
 */
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "ast/ast.h"
#include "session/session.h"
#include "technique/types/study.h"
#include "technique/types/types.h"
#include <ctype.h>
#include <math.h>

#define EXAMPLES 3             /* other callers shown with a finding */

static const Option options[] = {
    { "threshold", 0, "X", "report from this confidence on", "0.85" },
    { "calls", 0, "N", "the fewest callers that show what is usual", "30" },
    { "kinds", 0, "N",
      "the most kinds that callers pass; with more, the parameter takes everything", "6" },
    { "drop", 0, "X", "how far a kind must fall behind the others", "10" },
    { "share", 0, "X", "the largest share of callers that may deviate", "0.05" },
    { "sites", 0, "N", "the most callers of a kind that deviates", "3" },
    { "recall", 0, NULL, "find more, with more false alarms", NULL },
    { "corpus", 0, "DIR", "learn from this project too (repeatable)", NULL },
    { "histograms", 0, "FILE", "learn from this file too (repeatable)", NULL },
    { "own-only", 0, NULL, "use nothing that was learned from other programs", NULL },
    { "learn", 0, "FILE", "write how library functions are called here, and stop", NULL },
    { "self-test", 0, NULL, "how many wrong types would be found here", NULL },
    { "seeds", 0, "N", "wrong types that the self-test tries", "100" },
    { 0 },
};

static const Rule rules[] = {
    { "types/pointer", LEVEL_WARNING, "A pointer to a type that nearly no other caller passes." },
    { "types/kind", LEVEL_WARNING,
      "An integer of another kind than callers pass: enum, constant, truth." },
    { "types/size", LEVEL_WARNING, "A sizeof of another thing than the other callers use." },
    { "types/slot", LEVEL_WARNING, "A variable argument of another type than this option takes." },
    { "types/callback", LEVEL_WARNING,
      "Data of another type than the callback passed with it expects." },
    { "types/char", LEVEL_WARNING, "A plain char where this program passes unsigned ones." },
    { 0 },
};

/* ---- options */

static bool number(Session *s, const char *name, double most, double *out, Err *err)
{
    const char *text = session_option(s, name);
    if (!text)
        return true;
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !isfinite(v) || v < 0 || v > most)
        return err_set(err, "--%s: not a number from 0 to %g: %s", name, most, text);
    *out = v;
    return true;
}

/* --recall stands for all of them together. */
static bool read_limits(Session *s, Limits *l, Err *err)
{
    *l = limits_default;
    if (session_flag(s, "recall")) {
        *l = limits_recall;
        return true;
    }
    return number(s, "threshold", 1, &l->threshold, err) &&
           number(s, "calls", 1e9, &l->calls, err) && number(s, "kinds", 1e9, &l->kinds, err) &&
           number(s, "drop", 1e9, &l->drop, err) && number(s, "share", 1, &l->share, err) &&
           number(s, "sites", 1e9, &l->sites, err);
}

/* ---- what others do */

/* share/types: what was learned of other programs, and what is documented. */
static bool read_ready_made(Session *s, Study *st, Err *err)
{
    bool own_only = session_flag(s, "own-only");
    char *dir = path_join(session_share(s), "types");
    Strings names = { 0 };
    bool ok = !file_is_dir(dir) || dir_list(dir, &names, err);
    for (size_t i = 0; ok && i < names.len; i++) {
        char *path = path_join(dir, names.items[i]);
        bool skip = own_only && str_starts(names.items[i], "learned-");
        if (str_ends(path, ".txt") && !skip)
            ok = histograms_read(&st->hs, path, err);
        free(path);
    }
    strings_release(&names);
    free(dir);
    return ok;
}

/* A project is learned from by its workspace or compile_commands.json. */
static bool learn_corpus(Session *s, Study *st, const char *dir, Err *err)
{
    char *root = path_absolute(dir);
    char *own = path_join(root, ".sundew");
    Workspace *ws = NULL;
    AstIndex *ix = NULL;
    bool ok = !file_is_dir(own) || (ws = workspace_open(own, false, err));
    if (ok)
        ok = (ix = session_open_ast(s, ws, root, NULL, 0, err)) != NULL;
    if (ok) {
        Study other;
        study_init(&other, ix, &st->limits);
        study_count(&other);
        histograms_learn(&st->hs, &other.hs);
        study_release(&other);
    } else {
        err_ctx(err, "--corpus %s", dir);
    }
    ast_close(ix);
    workspace_close(ws);
    free(own);
    free(root);
    return ok;
}

static bool learn(Session *s, Study *st, Err *err)
{
    bool ok = read_ready_made(s, st, err);
    char **files = session_option_all(s, "histograms");
    for (; ok && files && *files; files++)
        ok = histograms_read(&st->hs, *files, err);
    char **dirs = session_option_all(s, "corpus");
    for (; ok && dirs && *dirs; dirs++)
        ok = learn_corpus(s, st, *dirs, err);
    return ok;
}

/* ---- findings */

static double bin_weight(const Deviation *d, const ViewBin *b)
{
    double w = b->own + b->known;
    const char *asked = d->histogram->declared;
    if (asked && strcmp(asked, b->label) == 0)
        w -= DECLARED;
    return w;
}

/* The callers that pass something else, and all of them. */
static void callers(const Deviation *d, long *others, long *all)
{
    double sum = 0;
    for (size_t i = 0; i < d->view->bins.len; i++)
        sum += bin_weight(d, &d->view->bins.items[i]);
    *all = lround(sum);
    *others = lround(sum - bin_weight(d, d->judgement.bin));
}

static const char *selector(const Deviation *d)
{
    const char *tab = strrchr(d->seen->key, '\t');
    return tab && d->seen->aspect != ASPECT_CALLBACK && strcmp(tab + 1, "-") != 0 &&
                   strcmp(tab + 1, "last") != 0
               ? tab + 1
               : NULL;
}

/* "struct sockaddr_in (42), struct sockaddr_in6 (20)"; a single one without
 * its number, which has been said. */
static void list_usual(const Deviation *d, Str *out)
{
    size_t shown = 0, n = d->view->bins.len - 1;
    for (size_t i = 0; i < d->view->bins.len && shown < 3; i++) {
        const ViewBin *b = &d->view->bins.items[i];
        if (b == d->judgement.bin || bin_weight(d, b) < 0.5)
            continue;
        str_addf(out, "%s%s", shown++ ? ", " : "", b->label);
        if (n > 1)
            str_addf(out, " (%ld)", lround(bin_weight(d, b)));
    }
    if (n > shown && shown == 3)
        str_add(out, ", …");
}

/* What is passed: a family by the constant's name, a struct by its own. */
static const char *shown(const Deviation *d)
{
    return str_starts(d->seen->shown, "const ") ? d->seen->shown + 6 : d->seen->shown;
}

static bool is_pointer(const Deviation *d)
{
    return d->seen->aspect == ASPECT_POINTER && !str_starts(d->judgement.bin->label, "the address");
}

static void write_message(const Deviation *d, Str *out)
{
    str_addf(out, "%s: argument %u %s %s", d->call->callee->name, d->seen->position,
             is_pointer(d) ? "points to" : "is", shown(d));
    if (d->seen->aspect == ASPECT_CHAR)
        str_add(out, ", which may be negative");
}

/* The declaration, and what others pass. */
static void write_detail(const Deviation *d, Str *out)
{
    const AstFunction *f = d->call->callee;
    long others, all;
    callers(d, &others, &all);
    if (d->histogram->declared) {
        str_addf(out, "%s %s", is_pointer(d) ? "its body takes it for" : "it is declared",
                 d->histogram->declared);
        if (others == 0)
            return;
        str_add(out, ", and ");
    }
    if (selector(d))
        str_addf(out, "with %s ", selector(d));
    /* some histograms are of all functions of a kind, not of this one */
    bool own = strstr(d->seen->key, f->name) != NULL;
    str_addf(out, "%ld of %ld %s pass ", others, all, own ? "callers" : "calls of this kind");
    list_usual(d, out);
}

static json_t *data_of(const Deviation *d)
{
    json_t *bins = json_array();
    for (size_t i = 0; i < d->view->bins.len; i++) {
        const ViewBin *b = &d->view->bins.items[i];
        json_array_append_new(bins,
                              json_pack("{s:o, s:f, s:f, s:i}", "kind", json_text(b->label), "here",
                                        b->own, "elsewhere", bin_weight(d, b) - b->own, "programs",
                                        (int)b->programs));
    }
    return json_pack("{s:o, s:o, s:[i], s:f, s:s, s:o, s:o, s:f, s:o}", "key",
                     json_text(d->seen->key), "callee", json_text(d->call->callee->name),
                     "positions", (int)d->seen->position, "confidence", d->judgement.confidence,
                     "aspect", aspect_name(d->seen->aspect), "selector", json_text(selector(d)),
                     "passes", json_text(shown(d)), "drop", d->judgement.drop, "histogram", bins);
}

static Location location(const AstPlace *p, const AstFunction *in)
{
    return (Location){ .file = p->file ? p->file->path : "",
                       .line = (int)p->line,
                       .column = (int)p->column,
                       .function = in ? in->name : NULL };
}

/* Other callers of the same parameter that pass what is usual. */
static size_t examples(const Study *st, const Deviation *d, EvidenceStep *out)
{
    size_t n = 0;
    const Histogram *h = d->histogram;
    for (size_t i = 0; i < st->ix->ncalls && n < EXAMPLES; i++) {
        for (size_t k = st->first[i]; k < st->first[i + 1]; k++) {
            const Sighting *s = &st->seen.items[k];
            if (strcmp(s->key, h->key) != 0 || st->ix->calls[i] == d->call ||
                view_bin(d->view, h, s->label) != &d->view->bins.items[0])
                continue;
            out[n++] = (EvidenceStep){
                location(&st->ix->calls[i]->place, st->ix->calls[i]->caller),
                "this caller passes what is usual",
            };
            break;
        }
    }
    return n;
}

static bool same_argument(const AstArg *a, const AstArg *b)
{
    if (a->has_value || b->has_value)
        return a->has_value && b->has_value && a->value == b->value;
    return a->text && b->text ? a->text == b->text
                              : a->name && a->name == b->name && a->owner == b->owner;
}

/* Does the same function make this call also with the usual size, all else being equal? Then it
 * knows both, as a reader of two versions of a file does. */
static bool knows_both(const Study *st, const Deviation *d)
{
    if (d->seen->aspect != ASPECT_SIZE || !d->call->args[d->seen->position - 1].sizeof_type)
        return false;
    for (size_t i = 0; i < st->ix->ncalls; i++) {
        const AstCall *c = st->ix->calls[i];
        bool twin = c != d->call && c->caller == d->call->caller && c->nargs == d->call->nargs &&
                    c->callee == d->call->callee;
        for (size_t k = 0; twin && k < c->nargs; k++)
            twin = k + 1 == d->seen->position || same_argument(&c->args[k], &d->call->args[k]);
        for (size_t k = st->first[i]; twin && k < st->first[i + 1]; k++) {
            const Sighting *s = &st->seen.items[k];
            if (s->position == d->seen->position && !strcmp(s->key, d->histogram->key) &&
                view_bin(d->view, d->histogram, s->label) == &d->view->bins.items[0])
                return true;
        }
    }
    return false;
}

/* Do most of the usual callers pass it without a cast? */
static bool is_seldom_cast(const Study *st, const Deviation *d)
{
    size_t plain = 0, cast = 0;

    for (size_t i = 0; i < st->ix->ncalls; i++)
        for (size_t k = st->first[i]; k < st->first[i + 1]; k++) {
            const Sighting *s = &st->seen.items[k];
            if (strcmp(s->key, d->histogram->key) != 0 ||
                view_bin(d->view, d->histogram, s->label) != &d->view->bins.items[0])
                continue;
            bool has = st->ix->calls[i]->args[s->position - 1].cast;
            *(has ? &cast : &plain) += 1;
        }
    return plain > cast;
}

/* The others pass the parameter's own struct as it is. So a cast to it says that the types
 * differ on purpose. */
static bool is_cast_on_purpose(const Study *st, const Deviation *d)
{
    const AstArg *a = &d->call->args[d->seen->position - 1];
    const AstFunction *fn = d->call->callee;

    if (d->seen->aspect != ASPECT_POINTER || !a->cast || d->seen->position > fn->nparams)
        return false;
    const AstType *to = fn->params[d->seen->position - 1].type;
    return to->kind == AST_POINTER && to->pointee && to->pointee->kind == AST_RECORD &&
           a->type->pointee && !strcmp(a->type->pointee->plain, to->pointee->plain) &&
           is_seldom_cast(st, d);
}

/* A cast to the enum that the declaration asks for. */
static bool is_cast_to_enum(const Deviation *d)
{
    const AstArg *a = &d->call->args[d->seen->position - 1];
    const AstFunction *fn = d->call->callee;

    if (d->seen->aspect != ASPECT_KIND || !a->cast || d->seen->position > fn->nparams)
        return false;
    const AstType *to = fn->params[d->seen->position - 1].type;
    return to->kind == AST_ENUM && a->type && !strcmp(a->type->plain, to->plain);
}

/* Does the text before `at` end in `word`, blanks aside? */
static bool stands_before(const Str *text, size_t at, const char *word)
{
    size_t n = strlen(word);

    while (n) {
        if (isspace((unsigned char)word[n - 1]))
            n--;
        else if (at && isspace((unsigned char)text->data[at - 1]))
            at--;
        else if (at && text->data[at - 1] == word[n - 1])
            at--, n--;
        else
            return false;
    }
    return true;
}

/* isascii(c) && isspace(c): what has passed such a test is not negative. */
static bool is_ascii_for_sure(const Deviation *d)
{
    const AstArg *a = &d->call->args[d->seen->position - 1];
    Str text = { 0 };

    if (d->seen->aspect != ASPECT_CHAR || !a->text || d->call->in_macro)
        return false;
    char *test = xprintf("isascii(%s)&&", a->text);
    bool sure = file_read(d->call->place.file->path, &text, NULL) &&
                d->call->place.offset <= text.len &&
                stands_before(&text, d->call->place.offset, test);
    free(test);
    str_release(&text);
    return sure;
}

static EvidenceStep *histogram_steps(Arena *a, const Deviation *d)
{
    EvidenceStep *steps = arena_array(a, EvidenceStep, d->view->bins.len);
    for (size_t i = 0; i < d->view->bins.len; i++) {
        const ViewBin *b = &d->view->bins.items[i];
        double elsewhere = bin_weight(d, b) - b->own;
        const char *other = elsewhere < 0.5
                                ? ""
                                : arena_printf(a, ", and %ld in other programs", lround(elsewhere));
        steps[i].text = arena_printf(a, "%g caller%s here%s: %s", b->own, b->own == 1 ? "" : "s",
                                     other, b->label);
    }
    return steps;
}

/* Two callers and a declaration: who passes a bare number or bytes may well mean it (a test of a bad
 * value, a buffer that holds the struct). Another enum or struct is a slip still. */
static bool rests_on_declaration(const Deviation *d)
{
    static const char *const plain[] = { "a number", "char", "unsigned char", "signed char", NULL };
    enum { FEW = 5 };
    if (!str_is_one_of(d->judgement.bin->label, plain))
        return false;
    double callers = -DECLARED;
    for (size_t i = 0; i < d->histogram->bins.len; i++)
        callers += d->histogram->bins.items[i].own + d->histogram->bins.items[i].known;
    return d->histogram->declared && callers < FEW;
}

static bool report(Session *s, const Study *st, const Deviation *d, Err *err)
{
    Arena a = { 0 };
    Str message = { 0 }, detail = { 0 };
    write_message(d, &message);
    write_detail(d, &detail);
    const AstArg *arg = &d->call->args[d->seen->position - 1];
    bool exact = !arg->in_macro && arg->range.begin.file;
    EvidenceStep related[EXAMPLES];
    Finding f = {
        .rule = arena_printf(&a, "types/%s", aspect_name(d->seen->aspect)),
        .level = knows_both(st, d) || is_cast_on_purpose(st, d) || is_cast_to_enum(d) ||
                         rests_on_declaration(d)
                     ? LEVEL_NOTE
                     : LEVEL_WARNING,
        .verdict = VERDICT_LIKELY,
        .message = str_c(&message),
        .detail = str_c(&detail),
        .where = location(exact ? &arg->range.begin : &d->call->place, d->call->caller),
        .anchor = arena_printf(&a, "%s %u %s", d->call->callee->name, d->seen->position,
                               d->judgement.bin->label),
        .steps = histogram_steps(&a, d),
        .nsteps = d->view->bins.len,
        .related = related,
        .nrelated = examples(st, d, related),
        .data = data_of(d),
    };
    bool ok = session_report(s, &f, err);
    json_decref(f.data);
    str_release(&message);
    str_release(&detail);
    arena_release(&a);
    return ok;
}

/* Generated sources count as callers; their authors can't fix them. */
static bool is_reported(const AstCall *c, char **paths, size_t npaths)
{
    return c->place.file && c->place.file->home == AST_PROJECT && !c->place.file->generated &&
           ast_wanted(c->place.file->path, paths, npaths);
}

/* One finding a place: isxdigit(s[0]) && isxdigit(s[1]) is one mistake. */
static bool is_same_place(const Deviation *a, const Deviation *b)
{
    return a->call->place.file == b->call->place.file &&
           a->call->place.line == b->call->place.line && a->call->callee == b->call->callee &&
           a->seen->aspect == b->seen->aspect && a->seen->position == b->seen->position &&
           a->judgement.bin == b->judgement.bin;
}

static bool is_repeated(const Deviations *found, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (is_same_place(&found->items[k], &found->items[i]))
            return true;
    return false;
}

static bool report_all(Session *s, Study *st, char **paths, size_t npaths, Err *err)
{
    Deviations found = { 0 };
    study_judge(st, &found);
    bool ok = session_begin(s, npaths ? NULL : "build", err);
    for (size_t i = 0; ok && i < found.len; i++)
        if (is_reported(found.items[i].call, paths, npaths) && !is_repeated(&found, i) &&
            !is_ascii_for_sure(&found.items[i]))
            ok = report(s, st, &found.items[i], err);
    vec_release(&found);
    return ok;
}

/* ---- the other two things that the command does */

static bool write_learned(Study *st, const char *path, Err *err)
{
    Str text = { 0 };
    histograms_write(&st->hs, key_is_shared, &text);
    bool ok = file_write(path, str_c(&text), text.len, err);
    str_release(&text);
    return ok;
}

static void print_self_test(const SelfTest *t, Str *out)
{
    str_addf(out,
             "%zu arguments show a kind; for %zu of them enough callers "
             "show what is usual\n",
             t->arguments, t->evidence);
    str_addf(out,
             "%zu wrong types seeded one at a time, %zu found; %zu findings "
             "without a seed\n",
             t->seeds, t->found, t->others);
    for (Aspect a = 0; a < NASPECTS; a++)
        if (t->seeds_by[a])
            str_addf(out, "  types/%-9s %4zu of %4zu\n", aspect_name(a), t->found_by[a],
                     t->seeds_by[a]);
    str_addf(out, "recall %.2f, precision at least %.2f\n", selftest_recall(t),
             selftest_precision(t));
}

static json_t *json_self_test(const SelfTest *t)
{
    json_t *by = json_object();
    for (Aspect a = 0; a < NASPECTS; a++)
        json_object_set_new(by, aspect_name(a),
                            json_pack("[I, I]", (json_int_t)t->found_by[a],
                                      (json_int_t)t->seeds_by[a]));
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:o}", "arguments",
                     (json_int_t)t->arguments, "with_evidence", (json_int_t)t->evidence, "seeds",
                     (json_int_t)t->seeds, "found", (json_int_t)t->found, "others",
                     (json_int_t)t->others, "recall", selftest_recall(t), "precision",
                     selftest_precision(t), "found_of", by);
}

static bool self_test(Session *s, Study *st, Err *err)
{
    double seeds = 100;
    if (!number(s, "seeds", 1e6, &seeds, err))
        return false;
    SelfTest t;
    study_selftest(st, (size_t)seeds, session_rng(s), &t);
    if (session_flag(s, "json")) {
        json_t *o = json_pack("{s:o}", "self_test", json_self_test(&t));
        json_print(o, session_out(s));
        json_decref(o);
    } else {
        print_self_test(&t, session_out(s));
    }
    session_status(s, 0);
    return true;
}

static bool check(Session *s, Err *err)
{
    Limits unused;
    return read_limits(s, &unused, err);
}

static bool run(Session *s, Err *err)
{
    Limits limits;
    size_t npaths;
    char **paths = session_args(s, &npaths);
    if (!read_limits(s, &limits, err))
        return false;
    Study st;
    study_init(&st, session_ast(s), &limits);
    const char *learned = session_option(s, "learn");
    bool ok = learned || learn(s, &st, err);
    if (ok) {
        study_count(&st);
        if (learned)
            ok = write_learned(&st, learned, err);
        else if (session_flag(s, "self-test"))
            ok = self_test(s, &st, err);
        else
            ok = report_all(s, &st, paths, npaths, err);
    }
    study_release(&st);
    return ok;
}

const Command technique_types = {
    .name = "types",
    .args = "[PATH…]",
    .summary = "arguments of a type that nearly no other caller passes",
    .about = "C converts silently: a void * takes every pointer, an int every enum.\n"
             "What other callers pass tells what a parameter is for. This command\n"
             "counts, for every parameter, the types that its arguments have before\n"
             "conversion, and reports the few that stand alone.\n"
             "\n"
             "Looks at the captured build, at compile_commands.json, or at the\n"
             "sources named. Library functions are compared with callers in other\n"
             "programs too, from histograms that come with Sundew; --corpus and\n"
             "--histograms add your own.",
    .examples = "sundew types\n"
                "sundew types src/net.c\n"
                "sundew types --corpus ../other-project\n"
                "sundew types --self-test --seed 7\n"
                "sundew types --learn ours.txt\n",
    .options = options,
    .rules = rules,
    .needs = NEEDS_STORE | NEEDS_AST,
    .check = check,
    .plan = types_plan,
    .run = run,
};
