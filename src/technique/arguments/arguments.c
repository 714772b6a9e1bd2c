/*
 * arguments - calls whose equally typed arguments look swapped.
 *
 * The compiler does not notice when two arguments of one type stand in the
 * wrong order, but the program knows better: what parameters are called, and
 * what all other calls pass. See README.md; finder.c finds suspects, this file
 * compares them with each other, says what is wrong and why.
 */
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "session/session.h"
#include "technique/arguments/arguments.h"
#include "technique/arguments/arguments_int.h"
#include <math.h>
#include <string.h>

static const Option options[] = {
    { "threshold", 0, "X", "report from this confidence on, 0 to 1", "0.4" },
    { "types", 0, "MODE",
      "which parameters are equally typed: typedef, "
      "canonical or convertible",
      "canonical" },
    { "class", 0, "LIST", "only these: bug, naming, noteworthy", "bug,naming,noteworthy" },
    { "words", 0, "FILE", "more abbreviations, as in share/arguments/words.txt", NULL },
    { "orders", 0, "FILE", "more known orders, as in share/arguments/orders.txt", NULL },
    { "self-test", 0, NULL,
      "exchange arguments at random calls of this program "
      "and report how many are found",
      NULL },
    { "seeds", 0, "N", "how many, with --self-test", "1000" },
    { 0 },
};

static const Rule rules[] = {
    { "arguments/swapped", LEVEL_WARNING,
      "Arguments of one type are in another order than their names, or the other "
      "calls, suggest." },
    { "arguments/naming", LEVEL_NOTE,
      "The names of parameters and arguments suggest different orders." },
    { "arguments/noteworthy", LEVEL_NOTE,
      "Arguments are exchanged, probably on purpose, and nothing says so." },
    { "arguments/known-order", LEVEL_WARNING,
      "Arguments of a library function are in the wrong order." },
    { 0 },
};

typedef Vec(Suspect) Suspects;

static const char *const class_names[] = {
    [CLASS_BUG] = "bug",
    [CLASS_NAMING] = "naming",
    [CLASS_NOTEWORTHY] = "noteworthy",
};

/* ---- what was asked */

static bool read_settings(Session *s, Settings *out, Err *err)
{
    static const char *const modes[] = {
        [TYPES_TYPEDEF] = "typedef",
        [TYPES_CANONICAL] = "canonical",
        [TYPES_CONVERTIBLE] = "convertible",
    };
    const char *text = session_option(s, "threshold"), *mode;
    char *end;
    out->threshold = strtod(text, &end);
    if (end == text || *end || !(out->threshold >= 0 && out->threshold <= 1))
        return err_set(err, "--threshold %s: not a number from 0 to 1", text);
    mode = session_option(s, "types");
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(mode, modes[i]) == 0) {
            out->types = (TypesMode)i;
            return true;
        }
    return err_set(err, "--types %s: not typedef, canonical or convertible", mode);
}

static bool read_classes(Session *s, bool wanted[3], Err *err)
{
    const char *at = session_option(s, "class");
    for (;;) {
        size_t n = strcspn(at, ","), known = 3;
        for (size_t i = 0; i < 3; i++)
            if (strlen(class_names[i]) == n && memcmp(at, class_names[i], n) == 0)
                known = i;
        if (known == 3)
            return err_set(err, "--class %s: not bug, naming or noteworthy", at);
        wanted[known] = true;
        if (!at[n])
            return true;
        at += n + 1;
    }
}

/* ---- comparing suspects */

static bool same_name(const AstArg *a, const AstArg *b)
{
    return a->name == b->name && a->owner == b->owner;
}

/* One's proposal is the other as it stands. */
static bool contradict(const Suspect *a, const Suspect *b)
{
    if (a->view.group != b->view.group || a->anomaly.size != b->anomaly.size)
        return false;
    for (unsigned n = 0; n < a->anomaly.size; n++)
        if (!same_name(view_arg(&a->view, a->anomaly.from[n]),
                       view_arg(&b->view, a->anomaly.to[n])))
            return false;
    return true;
}

static void drop_contradictions(Suspects *found)
{
    size_t kept = 0;
    bool *drop = xcalloc(found->len + 1, sizeof *drop);
    for (size_t i = 0; i < found->len; i++)
        for (size_t k = 0; k < found->len; k++)
            if (i != k && contradict(&found->items[i], &found->items[k]) &&
                contradict(&found->items[k], &found->items[i]))
                drop[i] = true;
    for (size_t i = 0; i < found->len; i++)
        if (!drop[i])
            found->items[kept++] = found->items[i];
    found->len = kept;
    free(drop);
}

static bool same_positions(const Anomaly *a, const Anomaly *b)
{
    return a->size == b->size && memcmp(a->from, b->from, sizeof a->from[0] * a->size) == 0 &&
           memcmp(a->to, b->to, sizeof a->to[0] * a->size) == 0;
}

/* Where most calls contradict the declaration, this is one finding. */
static void merge_naming(Suspects *found)
{
    size_t kept = 0;
    for (size_t i = 0; i < found->len; i++) {
        Suspect *s = &found->items[i];
        bool had = false;
        for (size_t k = 0; k < kept && s->kind == CLASS_NAMING; k++) {
            Suspect *first = &found->items[k];
            if (first->kind == CLASS_NAMING && first->view.group == s->view.group &&
                same_positions(&first->anomaly, &s->anomaly)) {
                had = true;
                first->more++;
            }
        }
        if (!had)
            found->items[kept++] = *s;
    }
    found->len = kept;
}

/* By place; at one place, the surest comes first. */
static int by_place(const void *pa, const void *pb)
{
    const Suspect *a = pa, *b = pb;
    int d = strcmp(a->at->place.file->path, b->at->place.file->path);
    if (d)
        return d;
    if (a->at->place.offset != b->at->place.offset)
        return a->at->place.offset < b->at->place.offset ? -1 : 1;
    if (a->strong != b->strong || a->kind != b->kind)
        return a->strong != b->strong ? b->strong - a->strong : (int)a->kind - (int)b->kind;
    if (a->anomaly.confidence != b->anomaly.confidence)
        return a->anomaly.confidence > b->anomaly.confidence ? -1 : 1;
    return (a->anomaly.from[0] > b->anomaly.from[0]) - (a->anomaly.from[0] < b->anomaly.from[0]);
}

/* One place, one finding: a macro may make several calls of one text. */
static void keep_first_of_place(Suspects *found)
{
    size_t kept = 0;

    for (size_t i = 0; i < found->len; i++) {
        const AstPlace *at = &found->items[i].at->place;
        const AstPlace *last = kept ? &found->items[kept - 1].at->place : NULL;
        if (!last || last->file != at->file || last->line != at->line || last->column != at->column)
            found->items[kept++] = found->items[i];
    }
    found->len = kept;
}

static void find_suspects(Finder *f, Session *s, Suspects *out)
{
    size_t n;
    char **paths = session_args(s, &n);
    for (size_t i = 0; i < f->groups.len; i++) {
        Suspects here = { 0 };
        ArgGroup *g = f->groups.items[i];
        for (size_t c = 0; c < g->calls.len; c++) {
            View v = { .group = g, .call = c };
            Suspect suspect;
            if (finder_judge(f, &v, &suspect)) {
                suspect.kind = finder_class(f, &suspect);
                suspect.strong = suspect.kind == CLASS_BUG && finder_is_strong(f, &suspect);
                vec_push(&here, suspect);
            }
        }
        drop_contradictions(&here);
        for (size_t k = 0; k < here.len; k++)
            if (ast_wanted(here.items[k].at->place.file->path, paths, n))
                vec_push(out, here.items[k]);
        vec_release(&here);
    }
    if (out->len)
        qsort(out->items, out->len, sizeof *out->items, by_place);
    keep_first_of_place(out);
    merge_naming(out);
}

/* ---- saying it */

static void add_arg_text(Str *out, const AstArg *a)
{
    const char *text = a->text ? a->text : a->name ? a->name : "?";
    size_t n = strcspn(text, "\n");
    str_add(out, "'");
    str_addn(out, text, n < 60 ? n : 60);
    str_add(out, n < 60 && !text[n] ? "'" : "…'");
}

static const char *param_name(const AstFunction *fn, unsigned p)
{
    if (p >= fn->nparams || !fn->params[p].nnames)
        return NULL;
    const char *name = fn->params[p].names[0];
    return name + strspn(name, "_");
}

static void add_callee(Str *out, const AstFunction *fn)
{
    if (fn->kind == AST_FIELD && !strstr(fn->record, "(unnamed"))
        str_addf(out, "%s.", fn->record);
    str_add(out, fn->name);
}

/* "arguments 2 and 3", "arguments 1, 2 and 4". */
static void add_positions(Str *out, const Suspect *s)
{
    const Anomaly *a = &s->anomaly;
    str_add(out, "arguments ");
    for (unsigned n = 0; n < a->size; n++)
        str_addf(out, "%s%u",
                 n == 0            ? ""
                 : n + 1 < a->size ? ", "
                                   : " and ",
                 s->view.group->pos[a->from[n]] + 1);
}

/* Which argument goes where. */
static void add_detail(Str *out, const Suspect *s)
{
    const Anomaly *a = &s->anomaly;
    const ArgGroup *g = s->view.group;
    for (unsigned n = 0; n < a->size; n++) {
        const char *here = param_name(g->fn, g->pos[a->from[n]]);
        str_add(out, n ? ", " : "");
        add_arg_text(out, view_arg(&s->view, a->from[n]));
        if (here)
            str_addf(out, " is passed as '%s'", here);
    }
    if (s->more)
        str_addf(out, "; so do %u more calls", s->more);
}

static void add_message(Str *out, const Suspect *s)
{
    static const char *const verbs[] = {
        [CLASS_BUG] = "look swapped",
        [CLASS_NAMING] = "are named the other way round",
        [CLASS_NOTEWORTHY] = "are exchanged",
    };
    const Anomaly *a = &s->anomaly;
    const ArgGroup *g = s->view.group;
    add_callee(out, g->fn);
    str_add(out, ": ");
    add_positions(out, s);
    str_addf(out, " %s",
             s->kind == CLASS_BUG && !s->strong    ? "may be swapped"
             : a->size > 2 && s->kind == CLASS_BUG ? "look out of order"
                                                   : verbs[s->kind]);
}

static Location location(const AstPlace *p, const char *function)
{
    return (Location){ .file = p->file ? p->file->path : NULL,
                       .line = (int)p->line,
                       .column = (int)p->column,
                       .function = function };
}

typedef Vec(EvidenceStep) Steps;

static void add_step(Arena *arena, Steps *steps, Location at, const Str *text)
{
    EvidenceStep step = { .at = at, .text = arena_strdup(arena, str_c(text)) };
    vec_push(steps, step);
}

static void declare_step(Arena *arena, const ArgGroup *g, Steps *steps)
{
    Str text = { 0 };
    str_add(&text, "declared as ");
    add_callee(&text, g->fn);
    str_add(&text, "(");
    for (unsigned i = 0; i < g->fn->nparams; i++) {
        const char *name = param_name(g->fn, i);
        str_addf(&text, "%s%s%s%s", i ? ", " : "", g->fn->params[i].type->spelling, name ? " " : "",
                 name ? name : "");
    }
    str_add(&text, ")");
    add_step(arena, steps, location(&g->fn->place, NULL), &text);
    str_release(&text);
}

/* The calls that have it the other way, the first few by place. */
static unsigned call_steps(Arena *arena, const Suspect *s, Steps *steps, unsigned *named)
{
    enum { SHOWN = 3 };
    const ArgGroup *g = s->view.group;
    unsigned other_way = 0;
    *named = 0;
    for (size_t c = 0; c < g->calls.len; c++) {
        View v = { .group = g, .call = c };
        const AstCall *call = g->calls.items[c];
        bool has_names = c != s->view.call, same_order = false;
        for (unsigned n = 0; n < s->anomaly.size; n++) {
            const char *name = view_arg(&v, s->anomaly.from[n])->name;
            has_names &= name != NULL;
            same_order |= name && name == view_arg(&s->view, s->anomaly.from[n])->name;
        }
        if (!has_names)
            continue;
        ++*named;
        if (same_order)
            continue;
        double vote = group_vote(g->names, &s->anomaly, s->view.order, g->first + c);
        if (vote < 0.25 || ++other_way > SHOWN)
            continue;
        Str text = { 0 };
        str_add(&text, "the other way round: ");
        for (unsigned n = 0; n < s->anomaly.size; n++) {
            str_add(&text, n ? ", " : "");
            add_arg_text(&text, view_arg(&v, s->anomaly.from[n]));
        }
        add_step(arena, steps, location(&call->place, call->caller->name), &text);
        str_release(&text);
    }
    return other_way;
}

static void evidence(Arena *arena, const Suspect *s, Steps *steps)
{
    const ArgGroup *g = s->view.group;
    Steps calls = { 0 };
    Str text = { 0 };
    unsigned named, other_way = call_steps(arena, s, &calls, &named);
    declare_step(arena, g, steps);
    if (s->by_habit)
        str_addf(&text,
                 "by what %zu other calls pass, the exchanged order is "
                 "%.0f times as likely",
                 g->calls.len - 1, exp(s->habit.odds < 13 ? s->habit.odds : 13));
    else if (other_way)
        str_addf(&text, "%u of %u other calls have them the other way round", other_way, named);
    else if (s->anomaly.against)
        str_addf(&text,
                 "%u of %u other calls pass the same order: they may all "
                 "be wrong, or the declaration",
                 s->anomaly.against, named);
    if (text.len)
        add_step(arena, steps, (Location){ 0 }, &text);
    for (size_t i = 0; i < calls.len; i++)
        vec_push(steps, calls.items[i]);
    vec_release(&calls);
    str_release(&text);
}

/* Each argument's text goes where it belongs; none if a macro is in the way. */
static size_t fixes(const Suspect *s, FixIt out[MOST_SUBSET])
{
    enum { WHOLE = 199 };
    const Anomaly *a = &s->anomaly;
    for (unsigned n = 0; n < a->size; n++) {
        const AstArg *arg = view_arg(&s->view, a->from[n]);
        const AstRange *r = &view_arg(&s->view, a->to[n])->range;
        if (s->at->in_macro || arg->in_macro || !arg->text || strlen(arg->text) > WHOLE ||
            s->kind == CLASS_NAMING || r->begin.file != s->at->place.file)
            return 0;
        out[n] = (FixIt){ .text = arg->text,
                          .at = { .file = r->begin.file->path,
                                  .line = (int)r->begin.line,
                                  .column = (int)r->begin.column,
                                  .end_line = (int)r->end.line,
                                  .end_column = (int)r->end.column } };
    }
    return a->size;
}

static json_t *data_of(const Suspect *s)
{
    const Anomaly *a = &s->anomaly;
    json_t *positions = json_array(), *order = json_array();
    for (unsigned n = 0; n < a->size; n++) {
        json_array_append_new(positions, json_integer(s->view.group->pos[a->from[n]] + 1));
        json_array_append_new(order, json_integer(s->view.group->pos[a->to[n]] + 1));
    }
    return json_pack("{s:o, s:o, s:o, s:f, s:s, s:s}", "callee", json_text(s->view.group->fn->name),
                     "positions", positions, "belong", order, "confidence",
                     round(a->confidence * 1000) / 1000, "class", class_names[s->kind], "evidence",
                     s->by_habit ? "calls" : "names");
}

static bool report_suspect(Session *s, const Suspect *suspect, Err *err)
{
    static const char *const ids[] = {
        [CLASS_BUG] = "arguments/swapped",
        [CLASS_NAMING] = "arguments/naming",
        [CLASS_NOTEWORTHY] = "arguments/noteworthy",
    };
    Arena arena = { 0 };
    Str message = { 0 }, detail = { 0 }, anchor = { 0 };
    Steps steps = { 0 };
    FixIt fix[MOST_SUBSET];
    add_message(&message, suspect);
    add_detail(&detail, suspect);
    add_callee(&anchor, suspect->view.group->fn);
    for (unsigned n = 0; n < suspect->anomaly.size; n++)
        str_addf(&anchor, " %u", suspect->view.group->pos[suspect->anomaly.from[n]] + 1);
    evidence(&arena, suspect, &steps);
    json_t *data = data_of(suspect);
    Finding f = {
        .rule = ids[suspect->kind],
        .level = suspect->strong ? LEVEL_WARNING : LEVEL_NOTE,
        .verdict = VERDICT_LIKELY,
        .message = str_c(&message),
        .detail = str_c(&detail),
        .where = location(&suspect->at->place, suspect->at->caller->name),
        .anchor = str_c(&anchor),
        .steps = steps.items,
        .nsteps = steps.len,
        .fixes = fix,
        .nfixes = fixes(suspect, fix),
        .data = data,
    };
    bool ok = session_report(s, &f, err);
    json_decref(data);
    vec_release(&steps);
    str_release(&message);
    str_release(&detail);
    str_release(&anchor);
    arena_release(&arena);
    return ok;
}

static bool report_broken(Session *s, const AstCall *c, const OrderRule *rule, Err *err)
{
    Str message = { 0 }, detail = { 0 }, anchor = { 0 };
    str_addf(&message, "%s: arguments %u and %u look swapped", c->callee->name, rule->first + 1,
             rule->second + 1);
    add_arg_text(&detail, &c->args[rule->first]);
    str_add(&detail, " stands before ");
    add_arg_text(&detail, &c->args[rule->second]);
    str_addf(&anchor, "%s %u %u", c->callee->name, rule->first + 1, rule->second + 1);
    json_t *data =
        json_pack("{s:o, s:[i,i], s:f, s:s, s:s}", "callee", json_text(c->callee->name),
                  "positions", (int)rule->first + 1, (int)rule->second + 1, "confidence", 1.0,
                  "class", rule->harmless ? "noteworthy" : "bug", "evidence", "known order");
    Finding f = {
        .rule = "arguments/known-order",
        .level = rule->harmless ? LEVEL_NOTE : LEVEL_WARNING,
        .verdict = VERDICT_LIKELY,
        .message = str_c(&message),
        .detail = str_c(&detail),
        .where = location(&c->place, c->caller->name),
        .anchor = str_c(&anchor),
        .data = data,
    };
    bool ok = session_report(s, &f, err);
    json_decref(data);
    str_release(&message);
    str_release(&detail);
    str_release(&anchor);
    return ok;
}

static bool is_reported(const Suspects *found, const AstCall *c)
{
    for (size_t i = 0; i < found->len; i++)
        if (found->items[i].at == c)
            return true;
    return false;
}

static bool report_known(Session *s, Finder *f, const bool wanted[3], const Suspects *found,
                         Err *err)
{
    size_t n;
    char **paths = session_args(s, &n);
    for (size_t i = 0; i < f->ix->ncalls; i++) {
        const AstCall *c = f->ix->calls[i];
        const OrderRule *rule = orders_broken(f->orders, c);
        if (rule && wanted[rule->harmless ? CLASS_NOTEWORTHY : CLASS_BUG] &&
            !c->place.file->generated && ast_wanted(c->place.file->path, paths, n) &&
            !is_reported(found, c) && !report_broken(s, c, rule, err))
            return false;
    }
    return true;
}

/* ---- the command */

static void say_size(Session *s, const AstIndex *ix)
{
    json_int_t lines = 0;
    for (size_t i = 0; i < ix->nfiles; i++)
        if (ix->files[i]->home == AST_PROJECT) {
            lines += ix->files[i]->lines;
            session_saw(s, ix->files[i]->path);
        }
    session_json(s, "analysed",
                 json_pack("{s:I, s:I, s:I, s:I}", "units", (json_int_t)ix->nunits, "cached",
                           (json_int_t)ix->ncached, "calls", (json_int_t)ix->ncalls, "lines",
                           lines));
}

static bool report_all(Session *s, Finder *f, Err *err)
{
    bool wanted[3] = { 0 }, ok = read_classes(s, wanted, err);
    Suspects found = { 0 };
    if (ok)
        find_suspects(f, s, &found);
    for (size_t i = 0; ok && i < found.len; i++)
        if (wanted[found.items[i].kind])
            ok = report_suspect(s, &found.items[i], err);
    ok = ok && report_known(s, f, wanted, &found, err);
    vec_release(&found);
    return ok;
}

/* Some files, or some classes only: not what the build is to be known by. */
static bool is_partial(Session *s)
{
    size_t n;
    session_args(s, &n);
    return n > 0 || session_flag(s, "class");
}

static bool check(Session *s, Err *err)
{
    Settings unused;
    return read_settings(s, &unused, err);
}

static bool run(Session *s, Err *err)
{
    Settings settings;
    Finder f = { 0 };
    if (!read_settings(s, &settings, err))
        return false;
    const AstIndex *ix = session_ast(s);
    bool ok = finder_init(&f, ix, &settings, session_share(s), session_option_all(s, "words"),
                          session_option_all(s, "orders"), err);
    if (ok && session_flag(s, "self-test"))
        ok = self_test(s, &f, err);
    else if (ok)
        ok = session_begin(s, is_partial(s) ? NULL : "build", err) && report_all(s, &f, err);
    if (ok && !session_flag(s, "self-test"))
        say_size(s, ix);
    finder_release(&f);
    return ok;
}

const Command technique_arguments = {
    .name = "arguments",
    .args = "[PATH…]",
    .summary = "calls whose equally typed arguments look swapped",
    .about = "Looks at every call of a function that has several parameters of one "
             "type, and compares what is passed with the names of the parameters "
             "and with what all other calls pass.\n\n"
             "Sources are those of the captured build, else of "
             "compile_commands.json; a PATH (a source, a folder or such a file) "
             "chooses among them. A C file without a command is read with plain "
             "flags.\n\n"
             "A finding is a likely bug (swapped), a matter of naming (the names "
             "hide the order), or noteworthy (exchanged, likely on purpose).",
    .examples = "sundew arguments\n"
                "sundew arguments src/main.c\n"
                "sundew arguments --class bug --json\n"
                "sundew arguments --self-test --seed 7\n",
    .options = options,
    .rules = rules,
    .needs = NEEDS_STORE | NEEDS_AST,
    .check = check,
    .plan = arguments_plan,
    .run = run,
};
