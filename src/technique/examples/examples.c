/*
 * Small example data for a dataflow program. The work is done in src/dataflow:
 * this file reads what is asked for, calls it, and reports.
 */
#include "technique/examples/examples.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/map.h"
#include "base/json.h"
#include "base/units.h"
#include "dataflow/generate.h"
#include "dataflow/load.h"
#include "dataflow/pig.h"
#include "dataflow/sql.h"
#include "session/session.h"
#include "technique/examples/against.h"
#include "technique/examples/show.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static const Option options[] = {
    { "data", 'd', "DIR", "samples of the tables: files named like the paths of LOAD", NULL },
    { "sample", 0, "N", "draw at most that many rows of each table", "1000" },
    { "param", 'p', "NAME=VALUE", "a parameter of the script; may be repeated", NULL },
    { "param-file", 0, "FILE", "parameters, one a line; may be repeated", NULL },
    { "schema", 0, "FILE", "CREATE TABLE statements for SQL; may be repeated", NULL },
    { "dialect", 0, "NAME", "of SQL: postgres, sqlite (order of nulls, case of LIKE)", "postgres" },
    { "udf", 0, "FILE", "functions of your own, as JSON; may be repeated", NULL },
    { "udf-time", 0, "DURATION", "limit for one call of such a function", "2s" },
    { "passive", 0, NULL, "do not call such functions on new arguments", NULL },
    { "goals", 0, "LIST", "more to show: nulls, boundaries, mcdc, empty, all", NULL },
    { "private", 0, NULL, "copy no value of the samples", NULL },
    { "run", 0, NULL, "only run the program on the samples, and print its outputs", NULL },
    { "measure", 0, "DIR", "how much of the program these rows show; makes none", NULL },
    { "against", 0, "FILE", "rows on which this program gives something else", NULL },
    { "tests", 0, "DIR", "write inputs and outputs as a regression test", NULL },
    { "check", 0, "DIR", "run such a test", NULL },
    { "page", 0, "FILE", "write an HTML page: the flow, and the rows at each step", NULL },
    { 0 },
};

static const Rule rules[] = {
    { "examples/dead", LEVEL_WARNING, "No data can reach this part of a dataflow program." },
    { "examples/always", LEVEL_NOTE, "A condition of a dataflow program never fails." },
    { "examples/fails", LEVEL_ERROR,
      "Data exists on which a dataflow program ends with an error." },
    { "examples/disagree", LEVEL_WARNING, "Two dataflow programs give different results." },
    { "examples/changed", LEVEL_WARNING, "A dataflow program gives another result than before." },
    { "examples/function", LEVEL_WARNING, "A function hangs, crashes, or is not deterministic." },
    { 0 },
};

typedef struct Job {
    Session *s;
    Arena arena;
    Udfs *udfs;
    Plan *plan;
    Input *samples;            /* by op id */
    size_t nsampled;           /* LOADs that have samples */
} Job;

/* ---- reading */

static Plan *read_sql(Job *j, const char *path, Err *err)
{
    const char *dialect = session_option(j->s, "dialect");
    SqlOptions o = { .schemas = session_option_all(j->s, "schema") };
    if (!strcmp(dialect, "sqlite"))
        o.dialect = SQL_SQLITE;
    else if (strcmp(dialect, "postgres"))
        return err_set(err, "--dialect: \"%s\" is neither postgres nor sqlite", dialect), NULL;
    return sql_read(path, &o, err);
}

static Plan *read_program(Job *j, const char *path, Err *err)
{
    PigOptions o = { session_option_all(j->s, "param"), session_option_all(j->s, "param-file"),
                     j->udfs };
    if (str_ends(path, ".sql"))
        return read_sql(j, path, err);
    return pig_read(path, &o, err);
}

static bool read_udfs(Job *j, Err *err)
{
    double limit;
    j->udfs = udfs_new();
    if (!duration_parse(session_option(j->s, "udf-time"), &limit) || limit <= 0)
        return err_set(err, "--udf-time: \"%s\" is no duration", session_option(j->s, "udf-time"));
    udfs_limit(j->udfs, limit);
    char **files = session_option_all(j->s, "udf");
    for (size_t i = 0; files && files[i]; i++)
        if (!udfs_read(j->udfs, files[i], err))
            return false;
    return true;
}

static bool sample_size(Job *j, size_t *n, Err *err)
{
    char *end;
    const char *text = session_option(j->s, "sample");
    unsigned long v = strtoul(text, &end, 10);
    if (*end || end == text || !v || v > 10000000)
        return err_set(err, "--sample: \"%s\" is no number of rows", text);
    *n = v;
    return true;
}

/* The tables in a folder. LOADs of one file see the same lines. */
static bool read_samples(Job *j, const char *dir, size_t most, Err *err)
{
    j->samples = arena_array(&j->arena, Input, j->plan->ops.len);
    if (!dir)
        return true;
    if (!file_is_dir(dir))
        return err_set(err, "%s: no such folder", dir);
    for (size_t i = 0; i < j->plan->ops.len; i++) {
        const Op *op = j->plan->ops.items[i];
        if (op->kind != OP_LOAD)
            continue;
        char *path = load_find(op, dir);
        Rng rng = rng_seeded(session_seed(j->s) * 1000003 + hash_bytes(op->path, strlen(op->path)));
        size_t total = 0;
        bool ok = !path || load_table(op, path, &(LoadPlan){ most, &rng }, &j->arena,
                                      &j->samples[i], &total, err);
        if (!path)
            session_note(j->s, "%s: no file for LOAD '%s'", dir, op->path);
        j->nsampled += path != NULL;
        free(path);
        if (!ok)
            return false;
    }
    if (!j->nsampled)
        return err_set(err, "%s: no file here is named like a path of LOAD", dir);
    return true;
}

static bool read_goals(Job *j, int *goals, Err *err)
{
    static const struct {
        const char *word;
        int bit;
    } words[] = {
        { "nulls", GOALS_NULLS },
        { "boundaries", GOALS_BOUNDARIES },
        { "mcdc", GOALS_MCDC },
        { "empty", GOALS_EMPTY },
        { "all", GOALS_NULLS | GOALS_BOUNDARIES | GOALS_MCDC | GOALS_EMPTY },
    };
    const char *p = session_option(j->s, "goals");
    *goals = 0;
    while (p && *p) {
        size_t n = strcspn(p, ","), k = 0;
        while (k < 5 && (strlen(words[k].word) != n || strncmp(words[k].word, p, n)))
            k++;
        if (k == 5)
            return err_set(err, "--goals: \"%.*s\" is none of nulls, boundaries, mcdc, empty, all",
                           (int)n, p);
        *goals |= words[k].bit;
        p += n + (p[n] == ',');
    }
    return true;
}

/* ---- findings */

static Location place_of(const SrcPos *at)
{
    return (Location){ .file = at->file, .line = at->line, .column = at->column };
}

static bool is_dead(const Class *c)
{
    return c->kind == CLASS_PASS || c->kind == CLASS_JOINED || c->kind == CLASS_ROWS ||
           c->kind == CLASS_FROM_INPUT || c->kind == CLASS_GROUP_OF_TWO;
}

/* Only the first operator of a dead path: those below are dead with it. */
static bool is_first(const Classes *all, const Class *c)
{
    for (size_t i = 0; i < all->n; i++) {
        const Class *o = &all->items[i];
        if (o->op == c->op || o->shown || o->why != WHY_UNSAT || !is_dead(o) || o->extra)
            continue;
        for (size_t k = 0; k < c->nconflict; k++)
            if (c->conflict[k] == o->op && o->op->id < c->op->id)
                return false;
    }
    return true;
}

static bool report_class(Job *j, const Classes *all, const Class *c, Err *err)
{
    Str msg = { 0 };
    EvidenceStep steps[64];
    size_t n = 0;
    bool dead = is_dead(c);
    if (c->extra || (!dead && c->kind != CLASS_FAIL) || (dead && !is_first(all, c)))
        return true;
    str_addf(&msg, "%s %s: ", op_kind_name(c->op->kind), c->op->alias ? c->op->alias : "");
    str_add(&msg, c->kind == CLASS_FAIL           ? "no row can fail the condition"
                  : c->kind == CLASS_PASS         ? "no row can pass"
                  : c->kind == CLASS_JOINED       ? "no rows can join"
                  : c->kind == CLASS_GROUP_OF_TWO ? "no group can have two rows"
                                                  : "no row can come here");
    for (size_t i = 0; i < c->nconflict && n < 64; i++) {
        if (c->conflict[i] == c->op)
            continue;
        str_add(&msg, n++ ? ", " : " because of ");
        src_print_line(&msg, c->conflict[i]->at, c->op->at.file);
    }
    for (size_t i = 0, k = 0; i < c->nconflict && k < 64; i++)
        if (c->conflict[i] != c->op)
            steps[k++] = (EvidenceStep){ place_of(&c->conflict[i]->at),
                                         c->conflict[i]->text ? c->conflict[i]->text : "" };
    Finding f = { .rule = dead ? "examples/dead" : "examples/always",
                  .level = dead ? LEVEL_WARNING : LEVEL_NOTE,
                  .verdict = VERDICT_SHOWN,
                  .message = str_c(&msg),
                  .where = place_of(&c->op->at),
                  .anchor = class_word(c->kind),
                  .related = steps,
                  .nrelated = n };
    bool ok = session_report(j->s, &f, err);
    str_release(&msg);
    return ok;
}

static bool report_faults(Job *j, const Run *r, Err *err)
{
    const Fault *faults;
    size_t n = run_faults(r, &faults);
    for (size_t i = 0; i < n; i++) {
        bool seen = false;
        for (size_t k = 0; k < i; k++)
            seen |= faults[k].at.line == faults[i].at.line &&
                    faults[k].at.column == faults[i].at.column;
        Finding f = { .rule = "examples/fails",
                      .level = LEVEL_ERROR,
                      .verdict = VERDICT_SHOWN,
                      .message = faults[i].text,
                      .where = place_of(&faults[i].at),
                      .anchor = "fails" };
        if (!seen && !session_report(j->s, &f, err))
            return false;
    }
    return true;
}

static bool report_functions(Job *j, Err *err)
{
    char *const *texts;
    size_t n = udf_complaints(j->udfs, &texts);
    for (size_t i = 0; i < n; i++) {
        Finding f = { .rule = "examples/function",
                      .level = LEVEL_WARNING,
                      .verdict = VERDICT_SHOWN,
                      .message = texts[i],
                      .where = { .file = j->plan->file, .line = 1, .column = 1 },
                      .anchor = texts[i] };
        if (!session_report(j->s, &f, err))
            return false;
    }
    return true;
}

static void tell_notes(Job *j)
{
    for (size_t i = 0; i < j->plan->notes.len; i++)
        session_note(j->s, "%s:%d: %s", j->plan->notes.items[i].at.file,
                     j->plan->notes.items[i].at.line, j->plan->notes.items[i].text);
}

static void tell_warnings(Job *j, const Run *r)
{
    size_t n = run_warnings(r);
    if (n)
        session_note(j->s, "%zu value%s became null: a cast, a division or a function failed", n,
                     n == 1 ? "" : "s");
    if (run_missing(r))
        session_note(j->s, "the function %s is not there (--udf): its results are null",
                     run_missing(r));
    session_json(j->s, "warnings", json_integer((json_int_t)n));
}

/* ---- what the command does */

/* Classes of rows: each is something that the program does with one. */
static void say_examined(Session *s, const Metrics *m)
{
    session_examined(s, "%zu of %zu classes of rows", (size_t)m->shown, (size_t)m->all);
}

static void put_metrics(Session *s, const Metrics *m)
{
    session_json(s, "completeness", json_real(m->completeness));
    session_json(s, "conciseness", json_real(m->conciseness));
    session_json(s, "realism", json_real(m->realism));
    session_json(s, "classes",
                 json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "shown", (json_int_t)m->shown, "all",
                           (json_int_t)m->all, "impossible", (json_int_t)m->impossible,
                           "extra_shown", (json_int_t)m->extra_shown, "extra_all",
                           (json_int_t)m->extra_all, "extra_impossible",
                           (json_int_t)m->extra_impossible));
}

static bool measure(Job *j, const char *dir, int goals, Err *err)
{
    if (!read_samples(j, dir, 10000000, err))
        return false;
    Run *r =
        run_plan(j->plan,
                 &(RunPlan){ .inputs = j->samples, .udfs = j->udfs, .seed = session_seed(j->s) },
                 err);
    if (!r)
        return false;
    tell_warnings(j, r);
    Classes *c = classes_new(j->plan, goals);
    classes_measure(c, r);
    Metrics m = classes_metrics(c, r, j->samples, NULL);
    say_examined(j->s, &m);
    bool ok = report_faults(j, r, err) && report_functions(j, err);
    if (session_flag(j->s, "json")) {
        put_metrics(j->s, &m);
        session_json(j->s, "uncovered", show_json_uncovered(c));
    } else {
        show_classes(c, true, session_color(j->s), session_out(j->s));
        show_figures(&m, session_out(j->s));
    }
    classes_free(c);
    run_free(r);
    return ok;
}

/* The outputs as the program would store them. */
static bool only_run(Job *j, Err *err)
{
    Run *r =
        run_plan(j->plan,
                 &(RunPlan){ .inputs = j->samples, .udfs = j->udfs, .seed = session_seed(j->s) },
                 err);
    if (!r)
        return false;
    tell_warnings(j, r);
    for (size_t i = 0; i < j->plan->ops.len && !session_flag(j->s, "json"); i++) {
        const Op *op = j->plan->ops.items[i];
        if (op->kind != OP_STORE)
            continue;
        const Table *t = run_table(r, op);
        Input in = { arena_array(&j->arena, const Tuple *, t->n + 1), t->n };
        for (size_t k = 0; k < t->n; k++)
            in.rows[k] = t->rows[k]->tuple;
        Str text = { 0 };
        load_print(op, &in, &text);
        str_addf(session_out(j->s), "== %s\n", show_store_name(op));
        for (const char *line = str_c(&text); *line;) {
            size_t n = strcspn(line, "\n");
            escape_terminal(session_out(j->s), line, n);
            str_addc(session_out(j->s), '\n');
            line += n + (line[n] == '\n');
        }
        str_release(&text);
    }
    bool ok = report_faults(j, r, err) && report_functions(j, err);
    run_free(r);
    return ok;
}

static bool write_page(const Examples *e, const char *path, Err *err)
{
    Str page = { 0 };
    show_page(e, e->plan->file, &page);
    bool ok = file_write(path, str_c(&page), page.len, err);
    str_release(&page);
    return ok;
}

static void print_examples(Job *j, const Examples *e)
{
    Str *out = session_out(j->s);
    say_examined(j->s, &e->metrics);
    if (session_flag(j->s, "json")) {
        session_json(j->s, "tables", show_json_tables(e));
        if (e->plan->lang == LANG_SQL)
            session_json(j->s, "inserts", show_json_inserts(e));
        put_metrics(j->s, &e->metrics);
        session_json(j->s, "uncovered", show_json_uncovered(e->classes));
        session_json(j->s, "seconds", json_real(e->seconds));
        session_json(j->s, "queries", json_integer((json_int_t)e->queries));
        return;
    }
    show_text(e, session_color(j->s), out);
    if (e->plan->lang == LANG_SQL)
        show_inserts(e, out);
    show_classes(e->classes, session_verbose(j->s), session_color(j->s), out);
    show_figures(&e->metrics, out);
}

static bool is_stopped(void *session) { return session_interrupted(session); }

static bool make_examples(Job *j, int goals, Err *err)
{
    GeneratePlan gp = { .samples = j->samples,
                        .udfs = j->udfs,
                        .goals = goals,
                        .seed = session_seed(j->s),
                        .seconds = session_time_left(j->s, 0),
                        .no_real_values = session_flag(j->s, "private"),
                        .passive = session_flag(j->s, "passive"),
                        .stop = is_stopped,
                        .stop_arg = j->s };
    Examples *e = examples_generate(j->plan, &gp, err);
    if (!e)
        return false;
    bool ok = true;
    for (size_t i = 0; i < e->classes->n && ok; i++)
        if (!e->classes->items[i].shown && e->classes->items[i].why == WHY_UNSAT)
            ok = report_class(j, e->classes, &e->classes->items[i], err);
    ok = ok && report_faults(j, e->run, err) && report_functions(j, err);
    if (e->out_of_time)
        session_incomplete(j->s, "the time was over");
    size_t open = e->metrics.all - e->metrics.shown + e->metrics.extra_all - e->metrics.extra_shown;
    if (open)
        session_incomplete(j->s, "%zu class%s of rows %s neither found nor ruled out", open,
                           open == 1 ? "" : "es", open == 1 ? "was" : "were");
    print_examples(j, e);
    const char *page = session_option(j->s, "page"), *tests = session_option(j->s, "tests");
    ok = ok && (!page || write_page(e, page, err)) && (!tests || show_tests(e, tests, err));
    examples_free(e);
    return ok;
}

static bool work(Job *j, Err *err)
{
    size_t n, most = 0;
    int goals = 0;
    char **args = session_args(j->s, &n);
    const char *dir = session_option(j->s, "measure"), *other = session_option(j->s, "against");
    const char *check = session_option(j->s, "check");
    if (n != 1)
        return err_set(err, "expected one program; see: sundew help examples");
    if (!read_udfs(j, err) || !sample_size(j, &most, err) || !read_goals(j, &goals, err))
        return false;
    j->plan = read_program(j, args[0], err);
    if (!j->plan)
        return false;
    tell_notes(j);
    if (!session_begin(j->s, NULL, err))
        return false;
    session_saw(j->s, j->plan->file);
    if (dir)
        return measure(j, dir, goals, err);
    if (check)
        return against_expected(j->s, j->plan, j->udfs, check, err);
    if (!read_samples(j, session_option(j->s, "data"), session_flag(j->s, "run") ? 10000000 : most,
                      err))
        return false;
    if (session_flag(j->s, "run"))
        return only_run(j, err);
    if (!other)
        return make_examples(j, goals, err);
    Plan *second = read_program(j, other, err);
    bool ok = second && against_program(j->s, j->plan, second, j->samples, j->udfs, err);
    plan_free(second);
    return ok;
}

static bool run(Session *s, Err *err)
{
    Job j = { .s = s };
    bool ok = work(&j, err);
    plan_free(j.plan);
    udfs_free(j.udfs);
    arena_release(&j.arena);
    return ok;
}

const Command technique_examples = {
    .name = "examples",
    .args = "PROGRAM",
    .summary = "small example data that shows all a dataflow program does",
    .about = "Reads a Pig Latin script or an SQL query and makes a handful of rows for\n"
             "each table, so that every operator does everything it can do: rows that\n"
             "pass a filter and rows that fail, rows that join and rows that do not,\n"
             "groups with several members, duplicates, empty sides.\n"
             "\n"
             "For SQL the rows keep what the CREATE TABLE statements in --schema\n"
             "promise, and are printed as INSERTs.\n"
             "\n"
             "Rows come from the samples in --data first. Only what they do not show\n"
             "is invented, and marked. Each row says what it is there for; what cannot\n"
             "be shown says why, and two lines that contradict are a finding.\n"
             "\n"
             "Functions of your own (UDFs) come as C libraries, programs or tables:\n"
             "see docs/dataflow.md.",
    .examples = "sundew examples script.pig --data samples/\n"
                "sundew examples query.sql --schema schema.sql\n"
                "sundew examples script.pig --page flow.html\n"
                "sundew examples script.pig --measure samples/\n"
                "sundew examples old.pig --against new.pig --data samples/\n"
                "sundew examples script.pig --data samples/ --tests tests/visits\n",
    .options = options,
    .rules = rules,
    .needs = NEEDS_STORE,
    .budget = true,
    .plan = examples_plan,
    .run = run,
};
