/* What is told of a library: findings, races, summary, JSON. */
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "session/failure_finding.h"
#include "technique/threads/library_int.h"
#include <stdio.h>
#include <string.h>

static const char *rule_of(const Violation *v)
{
    switch (v->kind) {
    case VIOLATION_DEADLOCK: return "threads/deadlock";
    case VIOLATION_OUTPUT: return "threads/output";
    case VIOLATION_ERROR: return "threads/error";
    default: return "threads/violation";
    }
}

/* Sharing a handle, or the library, is a mistake only if somebody has promised that it may be done. */
static Level level_of(const Lib *l, const Violation *v)
{
    bool promised = v->test.type ? l->promised : l->library_promised;
    if ((!promised && v->test.contract == CONTRACT_SHARED) || lib_is_denied(l, &v->test))
        return LEVEL_NOTE;
    return v->kind == VIOLATION_ERROR ? LEVEL_WARNING : LEVEL_ERROR;
}

static Location place_of(const Lib *l, uint32_t site)
{
    const ScheduleSite *at = scheduler_site(l->quick, site);
    if (!at || !*at->file)
        return (Location){ .file = program_captured(l->program)->path };
    return (Location){ .file = at->file, .line = (int)at->line, .function = at->function };
}

static void add_calls(Str *s, const Test *t, unsigned thread)
{
    for (unsigned c = 0; c < t->ncalls[thread]; c++)
        str_addf(s, "%s%s", c ? "; " : "", t->calls[thread][c].f->name);
}

static RaceTold told_of(const Lib *l)
{
    return (RaceTold){ .s = l->s,
                       .scheduler = l->quick,
                       .program = program_captured(l->program)->path,
                       .level = l->promised ? LEVEL_WARNING : LEVEL_NOTE };
}

/* "sbuf_insert against sbuf_cut: ": what the threads call. */
static const char *against(Arena *a, const Test *t)
{
    Str s = { 0 };
    add_calls(&s, t, 0);
    str_add(&s, " against ");
    add_calls(&s, t, 1);
    str_add(&s, ": ");
    const char *text = arena_strdup(a, str_c(&s));
    str_release(&s);
    return text;
}

static const char *certificate(Arena *a, const Lib *l, const Violation *v)
{
    const char *promise = lib_is_denied(l, &v->test)     ? "; the header says that it is not safe"
                          : level_of(l, v) == LEVEL_NOTE ? "; nothing promises that it is safe"
                                                         : "";
    if (v->test.native)
        return arena_printf(a,
                            "in none of %u serial runs; Sundew does not see where the threads "
                            "meet, so there is no schedule%s",
                            v->nserial, promise);
    return arena_printf(a, "in none of %u serial runs; %s%s", v->nserial,
                        preemptions_text(a, v->preemptions), promise);
}

static bool is_source(const Lib *l, const char *file)
{
    size_t n;
    const Function *const *all = program_functions(l->program, &n);
    for (size_t i = 0; i < n; i++)
        if (all[i]->defined && !strcmp(all[i]->file, file))
            return true;
    return false;
}

/* Frames of the player and of the scheduler say nothing. */
static void place_in_library(const Lib *l, Failure *f)
{
    const char *name = path_base(l->build.path);
    for (size_t i = 0; i < f->nframes; i++) {
        const char *module = f->frames[i].module, *file = f->frames[i].file;
        bool there = module ? strcmp(path_base(module), name) == 0 : file && is_source(l, file);
        if (there && f->frames[i].function && strncmp(f->frames[i].function, "sundew_", 7) != 0) {
            f->site = i;
            return;
        }
    }
    f->site = f->nframes;
}

static Location first_call(const Test *t)
{
    const Function *fn = t->calls[0][0].f->fn;
    return (Location){ .file = fn->file, .line = (int)fn->line, .function = fn->name };
}

/* Deadlock: each thread where it waits. Else: where a thread was stopped, and what the
 * other did then. */
static size_t steps_of(Arena *a, const Lib *l, const Violation *v, EvidenceStep *steps)
{
    size_t n = 0;
    if (v->kind == VIOLATION_DEADLOCK) {
        for (unsigned t = 1; t < 3; t++) {
            const struct sundew_wait *w = &v->waits[t];
            if (w->kind == SUNDEW_AT_BEGIN)
                continue;
            const char *who = w->owner < 3 ? arena_printf(a, "; T%u has it", w->owner) : "";
            steps[n++] = (EvidenceStep){ place_of(l, w->site),
                                         arena_printf(a, "T%u waits here (%s)%s", t,
                                                      schedule_kind_name(w->kind), who) };
        }
        return n;
    }
    RaceTold told = told_of(l);
    return v->nsites == 2 ? switch_steps(a, &told, &v->stopped, &v->ran, steps) : 0;
}

static const char *what_of(Arena *a, const Violation *v)
{
    switch (v->kind) {
    case VIOLATION_DEADLOCK: return "deadlock";
    case VIOLATION_EXIT: return "the process ends";
    case VIOLATION_LEAK: return arena_printf(a, "%s are lost", v->text);
    case VIOLATION_ERROR:
        return arena_printf(a, "%s returns an error (%s)", v->function->name, v->text);
    default: return "the results are those of no serial order";
    }
}

static Finding finding_of(Arena *a, Lib *l, Violation *v)
{
    EvidenceStep *steps = arena_array(a, EvidenceStep, 4);
    size_t n = steps_of(a, l, v, steps);
    const char *before = against(a, &v->test);
    Finding f;
    if (v->kind == VIOLATION_FAILURE) {
        place_in_library(l, &v->failure);
        f = failure_finding(a, &(FailureReport){ .failure = &v->failure,
                                                 .rule = rule_of(v),
                                                 .before = before,
                                                 .program = program_captured(l->program)->path,
                                                 .where = v->failure.site < v->failure.nframes
                                                              ? (Location){ 0 }
                                                              : first_call(&v->test) });
    } else {
        f = (Finding){ .rule = rule_of(v),
                       .verdict = VERDICT_SHOWN,
                       .message = arena_printf(a, "%s%s", before, what_of(a, v)),
                       .where = v->function ? (Location){ .file = v->function->fn->file,
                                                          .line = (int)v->function->fn->line,
                                                          .function = v->function->name }
                                : n         ? steps[0].at
                                            : first_call(&v->test),
                       .anchor = arena_printf(a, "%s %s", violation_name(v), before) };
    }
    f.level = level_of(l, v);
    f.detail = certificate(a, l, v);
    f.steps = steps;
    f.nsteps = n;
    return f;
}

/* ------------------------------------------------------------------- JSON */

static json_t *functions_of(const Test *t)
{
    json_t *all = json_array();
    for (unsigned k = 0; k < 2; k++)
        for (unsigned c = 0; c < t->ncalls[k]; c++) {
            bool there = false;
            size_t i;
            json_t *old;
            json_array_foreach(all, i, old) there |=
                !strcmp(json_string_value(old), t->calls[k][c].f->name);
            if (!there)
                json_array_append_new(all, json_text(t->calls[k][c].f->name));
        }
    return all;
}

static json_t *lines_of(const Str *text)
{
    json_t *all = json_array();
    char *copy = xstrdup(str_c((Str *)text)), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (*line)
            json_array_append_new(all, json_text(line));
    free(copy);
    return all;
}

static json_t *violation_json(const Lib *l, const Violation *v, const Finding *f)
{
    RaceTold told = told_of(l);
    json_t *schedule = json_array();
    for (size_t i = 0; i < v->schedule.forces.len; i++)
        json_array_append_new(schedule,
                              json_pack("{s:i,s:i}", "decision",
                                        (int)v->schedule.forces.items[i].decision, "thread",
                                        (int)v->schedule.forces.items[i].thread));
    json_t *j = json_pack("{s:s,s:i,s:o,s:o,s:o,s:i,s:o,s:o,s:o}", "kind", violation_name(v),
                          "tier", (int)violation_tier(v), "type",
                          v->test.type ? json_text(v->test.type->name) : json_null(), "functions",
                          functions_of(&v->test), "file", json_text(f->where.file), "line",
                          f->where.line, "test", json_text(v->folder), "schedule", schedule,
                          "serial_orders", lines_of(&v->serial_table));
    if (v->nsites == 2 && v->kind != VIOLATION_DEADLOCK)
        json_object_set_new(j, "switch", switch_json(&told, &v->stopped, &v->ran));
    json_object_set_new(j, "contract", json_string(contract_name(v->test.contract)));
    json_object_set_new(j, "native", json_boolean(v->test.native));
    json_object_set_new(j, "preemptions", json_integer(v->preemptions));
    json_object_set_new(j, "tests_needed", json_integer((json_int_t)v->test_number));
    json_object_set_new(j, "seconds", json_real(v->seconds));
    json_object_set_new(j, "replays", json_integer(v->again));
    json_object_set_new(j, "of", json_integer(v->tries));
    return j;
}

/* ---------------------------------------------------------------- reports */

static bool keep_file(const char *folder, const char *name, const Str *text, Err *err)
{
    char *path = path_join(folder, name);
    bool ok = file_write(path, str_c((Str *)text), text->len, err);
    free(path);
    return ok;
}

/* v->folder, with all that is needed to see it again. */
static bool keep_files(Lib *l, const Violation *v, const Str *test, const Str *program, Err *err)
{
    Str schedule = { 0 };
    schedule_write(&v->schedule, l->build.key, &schedule);
    bool ok = dir_make(v->folder, err) && keep_file(v->folder, "schedule.txt", &schedule, err) &&
              keep_file(v->folder, "test.txt", test, err) &&
              keep_file(v->folder, "serial.txt", &v->serial_table, err) &&
              keep_file(v->folder, "run.txt", &v->picture, err) && keep_write(l, v, err) &&
              (!program->len || keep_file(v->folder, "test.c", program, err));
    str_release(&schedule);
    return ok;
}

bool lib_report(Lib *l, Violation *v, Err *err)
{
    Arena a = { 0 };
    Str test = { 0 }, program = { 0 };
    if (!v->again) {
        if (session_verbose(l->s))
            session_note(l->s, "a violation (%s, test %zu) did not show again", violation_name(v),
                         v->test_number);
        arena_release(&a);
        return true; /* it did not show again: nothing to tell */
    }
    Finding f = finding_of(&a, l, v);
    lib_test_print(&v->test, &test);
    bool ok = lib_write(l, v, f.message, &program, err) &&
              (l->replays || keep_files(l, v, &test, &program, err));
    Attachment att[] = { { "test.txt", "test", str_c(&test), test.len },
                         { "run.txt", "trace", str_c(&v->picture), v->picture.len },
                         { "serial.txt", "trace", str_c(&v->serial_table), v->serial_table.len },
                         { "test.c", "test", str_c(&program), program.len } };
    f.attachments = att;
    f.nattachments = program.len ? 4 : 3;
    f.rerun = session_command_line(l->s);
    if (v->again < v->tries) {
        f.verdict = VERDICT_LIKELY;
        f.detail = arena_printf(&a, "%s; %u of %u %s show it", f.detail, v->again, v->tries,
                                v->test.native ? "runs without a scheduler" : "replays");
    }
    f.data = violation_json(l, v, &f);
    if (!l->violations)
        l->violations = json_array();
    json_array_append(l->violations, f.data);
    ok = ok && session_report(l->s, &f, err);
    json_decref(f.data);
    str_release(&test);
    str_release(&program);
    arena_release(&a);
    return ok;
}

/* The function that the test called: the outermost caller that is known. */
static const char *called(const Lib *l, const struct sundew_side *side)
{
    const ScheduleSite *at = scheduler_site(l->quick, side->site);
    ScheduleCallers callers = { 0 };
    schedule_callers(l->quick, side, &callers);
    const char *name = callers.len ? callers.items[callers.len - 1].function
                       : at        ? at->function
                                   : NULL;
    vec_release(&callers);
    return name ? name : "";
}

static bool same_calls(const Lib *l, const struct sundew_race *a, const struct sundew_race *b)
{
    const char *x = called(l, &a->first), *y = called(l, &a->second);
    const char *u = called(l, &b->first), *v = called(l, &b->second);
    return (!strcmp(x, u) && !strcmp(y, v)) || (!strcmp(x, v) && !strcmp(y, u));
}

/* One report for each pair of functions that were called: a parser that works in static memory
 * races with itself at many places, in many functions. */
bool lib_report_races(Lib *l, Err *err)
{
    RaceTold told = told_of(l);
    bool ok = true;
    for (size_t i = 0; ok && i < l->races.len; i++) {
        const RaceSeen *r = &l->races.items[i];
        unsigned before = 0, after = 0;
        for (size_t k = 0; k < l->races.len; k++)
            if (k != i && same_calls(l, &r->race, &l->races.items[k].race))
                *(k < i ? &before : &after) += 1;
        ok = before || race_report(&told, r, after, err);
    }
    return ok;
}

/* ---------------------------------------------------------------- summary */

typedef struct PairCount {
    size_t all, covered, conflicting, may;
    size_t met, both; /* pairs of places; of them, in both orders */
} PairCount;

static void count_met(const Lib *l, const Subject *t, PairCount *c)
{
    for (size_t i = 0; i < l->met.len; i++) {
        size_t subject;
        unsigned a, b;
        char turned[64];
        if (sscanf(l->met.entries[i].key, "%zu %u %u", &subject, &a, &b) != 3 ||
            subject != (size_t)(t - l->subjects.items))
            continue;
        snprintf(turned, sizeof turned, "%zu %u %u", subject, b, a);
        bool both = map_has(&l->met, turned);
        c->met += a <= b || !both;
        c->both += both && a <= b;
    }
}

static PairCount count_pairs(const Lib *l, const Subject *t)
{
    PairCount c = { 0 };
    count_met(l, t, &c);
    size_t n = t->functions.len;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) {
            c.all++;
            c.covered += t->pairs.items[i * n + j] > 0;
            c.conflicting += t->conflicts.items[i * n + j] > 0;
            c.may += t->may_meet.items[i * n + j];
        }
    return c;
}

/* NULL: there are tests. */
static const char *why_not_tested(const Subject *t)
{
    return t->why_not  ? t->why_not
           : t->tests  ? NULL
           : !t->turns ? "the search ended before its turn"
                       : "no calls were found that go well one after the other (an example after "
                         "-- may help)";
}

static json_t *type_json(const Lib *l, const Subject *t)
{
    const char *why = why_not_tested(t);
    PairCount c = count_pairs(l, t);
    json_t *j = json_pack("{s:o,s:I,s:I,s:I,s:I,s:I,s:I}", "type", json_text(t->name), "functions",
                          (json_int_t)t->functions.len, "pairs", (json_int_t)c.all, "pairs_covered",
                          (json_int_t)c.covered, "tests", (json_int_t)t->tests, "runs",
                          (json_int_t)t->runs, "inconclusive", (json_int_t)t->inconclusive);
    json_t *contracts = json_object();
    for (unsigned k = 0; k < NCONTRACTS; k++)
        json_object_set_new(contracts, contract_name((Contract)k),
                            json_integer((json_int_t)t->of_contract[k]));
    json_object_set_new(j, "tests_of_contract", contracts);
    json_object_set_new(j, "pairs_may_conflict", json_integer((json_int_t)c.may));
    json_object_set_new(j, "pairs_conflicting", json_integer((json_int_t)c.conflicting));
    json_object_set_new(j, "access_pairs", json_integer((json_int_t)c.met));
    json_object_set_new(j, "access_pairs_both", json_integer((json_int_t)c.both));
    if (why)
        json_object_set_new(j, "not_tested", json_text(why));
    return j;
}

/* The two places once more at the top, for those who look for no more. */
static json_t *race_row(const Lib *l, const RaceSeen *r)
{
    const ScheduleSite *x = scheduler_site(l->quick, r->race.first.site);
    const ScheduleSite *y = scheduler_site(l->quick, r->race.second.site);
    RaceTold told = told_of(l);
    json_t *row = race_json(&told, r);
    json_object_set_new(row, "file", json_text(y->file));
    json_object_set_new(row, "line", json_integer(y->line));
    json_object_set_new(row, "other_file", json_text(x->file));
    json_object_set_new(row, "other_line", json_integer(x->line));
    return row;
}

void lib_violations_json(Lib *l)
{
    session_json(l->s, "violations", l->violations ? l->violations : json_array());
    l->violations = NULL;
}

static void set_json(Lib *l)
{
    json_t *types = json_array(), *dropped = json_array(), *races = json_array();
    for (size_t i = 0; i < l->subjects.len; i++)
        json_array_append_new(types, type_json(l, &l->subjects.items[i]));
    for (size_t i = 0; i < l->dropped.len; i++)
        json_array_append_new(dropped, json_pack("{s:o,s:s}", "function",
                                                 json_text(l->dropped.items[i].function->name),
                                                 "why", l->dropped.items[i].why));
    for (size_t i = 0; i < l->races.len; i++)
        json_array_append_new(races, race_row(l, &l->races.items[i]));
    lib_violations_json(l);
    session_json(l->s, "types", types);
    session_json(l->s, "dropped", dropped);
    session_json(l->s, "races", races);
    session_json(l->s, "tests", json_integer((json_int_t)l->tests));
    session_json(l->s, "test_runs", json_integer((json_int_t)l->runs));
    session_json(l->s, "serial_runs", json_integer((json_int_t)l->serial_runs));
    session_json(l->s, "kept_tests", json_integer((json_int_t)l->kept));
    session_json(l->s, "kept_tests_shown", json_integer((json_int_t)l->kept_shown));
    session_json(l->s, "points",
                 json_pack("{s:I,s:I,s:I}", "accesses", (json_int_t)l->build.accesses, "escaping",
                           (json_int_t)l->build.escaping, "probed", (json_int_t)l->build.probed));
    session_json(l->s, "promised", json_boolean(l->promised));
}

/* "5 shared, 8 distinct" */
static void say_contracts(const Subject *t, Str *out)
{
    const char *between = "";
    for (unsigned c = 0; c < NCONTRACTS; c++)
        if (t->of_contract[c]) {
            str_addf(out, "%s%zu %s", between, t->of_contract[c], contract_name((Contract)c));
            between = ", ";
        }
}

static void say_type(const Lib *l, const Subject *t, Str *out)
{
    PairCount c = count_pairs(l, t);
    const char *why = why_not_tested(t);
    escape_terminal_z(out, t->name);
    if (why) {
        str_addf(out, ": not tested, %s\n", why);
        return;
    }
    str_addf(out, ": %zu tests (", t->tests);
    say_contracts(t, out);
    str_addf(out,
             "), %zu runs; %zu of %zu pairs of functions together, %zu of them touch "
             "the same memory; %zu pairs of places, %zu in both orders",
             t->runs, c.covered, c.all, c.conflicting, c.met, c.both);
    if (t->inconclusive)
        str_addf(out, "; %zu runs had no clear end", t->inconclusive);
    str_addc(out, '\n');
}

/* Is there a pair of functions that should have been called together? */
static size_t count_left(const Lib *l, const Subject *t)
{
    size_t n = t->functions.len, left = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            left += !t->pairs.items[i * n + j] && !lib_is_dropped(l, t->functions.items[i]) &&
                    !lib_is_dropped(l, t->functions.items[j]);
    return left;
}

/* A search that ends early has done its work only if nothing was left to be done. */
static void say_incomplete(const Lib *l)
{
    size_t left = 0, untested = 0;
    for (size_t i = 0; i < l->subjects.len; i++) {
        const Subject *t = &l->subjects.items[i];
        untested += !t->why_not && !t->tests;
        left += t->why_not ? 0 : count_left(l, t);
    }
    if (untested)
        session_incomplete(l->s, "%zu type%s not tested", untested,
                           untested == 1 ? " was" : "s were");
    if (l->exhausted && left)
        session_incomplete(
            l->s,
            "after %zu tests no other could be made, and %zu pairs of functions were "
            "not called together",
            l->tests, left);
}

void lib_summary(Lib *l)
{
    set_json(l);
    say_incomplete(l);
    session_examined(l->s, "%zu tests", l->tests);
    if (session_flag(l->s, "json"))
        return;
    Str *out = session_out(l->s);
    for (size_t i = 0; i < l->subjects.len; i++)
        say_type(l, &l->subjects.items[i], out);
    for (size_t i = 0; i < l->dropped.len; i++) {
        escape_terminal_z(out, l->dropped.items[i].function->name);
        str_addf(out, ": left out, %s\n", l->dropped.items[i].why);
    }
    if (l->kept)
        str_addf(out, "%zu of %zu tests of earlier runs still show what they were kept for.\n",
                 l->kept_shown, l->kept);
    if (!l->promised)
        str_add(out, "The headers do not say that a handle may be shared between threads.\n");
}
