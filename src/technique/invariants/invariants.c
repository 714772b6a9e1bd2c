/*
 * Likely contracts of functions, steered by constraints between them.
 *
 * Evidence: samples of the functions' variables at their entries and exits, from a
 * run with probes. The engine (engine/contract) infers, steers, discovers and
 * checks; here stands what was asked for.
 */
#include "technique/invariants/invariants.h"
#include "base/file.h"
#include "engine/contract/export.h"
#include "technique/invariants/invariants_int.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const Option options[] = {
    { "constraints", 0, "FILE",
      "steer by these relations between functions, one a line; "
      "tell what changes",
      NULL },
    { "infer", 0, NULL, "constraints that hold, ranked", NULL },
    { "rate", 0, "X", "with --infer: how much of a contract must follow", "0.75" },
    { "check", 0, NULL, "which known contracts the command breaks, with the values", NULL },
    { "made-up", 0, NULL,
      "with --check: the inputs are no tests; contracts of a single value that they "
      "break are notes",
      NULL },
    { "steady", 0, NULL,
      "run the command twice; a later --check of the same command sees "
      "all that both runs kept",
      NULL },
    { "against", 0, "FILE", "which contracts differ from an earlier --json", NULL },
    { "daikon", 0, "FILE", "write the samples as a Daikon trace", NULL },
    { "acsl", 0, NULL, "contracts as ACSL", NULL },
    { "asserts", 0, NULL, "preconditions as a patch that adds assert()", NULL },
    { "header", 0, NULL, "contracts as comments of a header", NULL },
    { "confidence", 0, "X", "least confidence of an invariant", "0.99" },
    { "calls", 0, "N", "calls of each function that are recorded before sampling", "4000" },
    { "as-is", 0, NULL, "leave memory alone that nobody wrote; garbage may be learned", NULL },
    { 0 },
};

static const Rule rules[] = {
    { "invariants/broken", LEVEL_WARNING, "a run breaks a contract that earlier runs kept" },
    { "invariants/changed", LEVEL_WARNING, "a function's contract differs from an earlier one" },
    { "invariants/contract", LEVEL_NOTE, "what a function demands and promises, likely" },
    { "invariants/constraints", LEVEL_NOTE, "how contracts of functions are related" },
    { 0 },
};

static bool read_number(Session *s, const char *option, double least, double most, double *out,
                        Err *err)
{
    const char *text = session_option(s, option);
    char *end;

    *out = strtod(text, &end);
    if (end == text || *end || !(*out >= least && *out <= most))
        return err_set(err, "--%s: '%s' is no number from %g to %g", option, text, least, most);
    return true;
}

static bool check(Session *s, Err *err)
{
    double x;
    size_t n;

    session_args(s, &n);
    if (n != 1)
        return err_set(err, "invariants of which program? (sundew show programs lists them)");
    if ((session_flag(s, "check") || session_flag(s, "steady")) && !session_has_tail(s))
        return err_set(err, "--%s needs a command after --",
                       session_flag(s, "check") ? "check" : "steady");
    if (session_flag(s, "made-up") && !session_flag(s, "check"))
        return err_set(err, "--made-up goes with --check");
    if (session_flag(s, "check") && session_flag(s, "steady"))
        return err_set(err, "--steady goes with learning, not with --check");
    int outputs = session_flag(s, "acsl") + session_flag(s, "asserts") + session_flag(s, "header") +
                  session_flag(s, "infer") + session_flag(s, "check");
    if (outputs > 1)
        return err_set(err, "one of --infer, --check, --acsl, --asserts, --header");
    return read_number(s, "rate", 0, 1, &x, err) && read_number(s, "confidence", 0, 1, &x, err) &&
           read_number(s, "calls", 1, 1e9, &x, err);
}

/* Contracts for others, and for a later --check. */
static bool keep_contracts(const Study *st, Err *err)
{
    char *path = study_path(st, "json"), *dir = path_dir(path);
    json_t *functions = report_json(st);
    if (st->again)
        contracts_keep_steady(functions, st->again);     /* the second run refutes some */
    json_t *o = json_pack("{s:i, s:o, s:o}", "version", 1, "program", json_text(st->name),
                          "functions", functions);
    bool ok = dir_make(dir, err) && json_write(path, o, err);

    json_decref(o);
    free(path);
    free(dir);
    return ok;
}

static json_t *command_json(const Study *st)
{
    size_t n;
    char **words = session_tail(st->session, &n);
    json_t *command = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(command, json_text(words[i]));
    return command;
}

/* All that two runs of the command kept, for a --check with the same one. Without
 * --steady what an earlier learning left is out of date. */
static bool keep_steady(const Study *st, Err *err)
{
    char *path = study_path(st, "steady.json");
    bool ok = true;

    if (!session_has_tail(st->session)) {
        free(path);
        return true;
    }
    if (!st->again) {
        (void)unlink(path);
        free(path);
        return true;
    }
    ContractPlan plan = st->plan;
    plan.infer.loose = plan.no_state = true;
    Contracts *all = contracts_infer(st->samples, NULL, &plan);
    json_t *functions = json_array();
    for (size_t i = 0; i < all->functions.len; i++)
        json_array_append_new(functions, contract_to_json(all, &all->functions.items[i]));
    contracts_keep_steady(functions, st->again);
    json_t *o = json_pack("{s:i, s:o, s:o}", "version", 1, "command", command_json(st), "functions",
                          functions);
    ok = json_write(path, o, err);
    json_decref(o);
    contracts_free(all);
    free(path);
    return ok;
}

/* What was kept for this very command; NULL. */
static json_t *read_steady(const Study *st)
{
    char *path = study_path(st, "steady.json");
    Err none = { 0 };
    json_t *o = file_exists(path) ? json_read(path, &none) : NULL;
    json_t *command = command_json(st);

    if (o && !json_equal(json_object_get(o, "command"), command)) {
        json_decref(o);
        o = NULL;
    }
    json_decref(command);
    free(path);
    return o;
}

static bool is_interrupted(void *session) { return session_interrupted(session); }

/* Is another form asked for than text? Only then this is a run with findings. */
static bool wants_form(Session *s)
{
    static const char *const files[] = { "html", "sarif", "junit" };
    bool wanted = session_flag(s, "json") || session_flag(s, "tap") || session_flag(s, "github");

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        wanted |= session_option(s, files[i]) != NULL;
    return wanted;
}

static bool show_discovered(Study *st, Err *err)
{
    Discovered d = { 0 };
    DiscoverPlan plan = { .stop = is_interrupted, .arg = st->session };
    bool ok = read_number(st->session, "rate", 0, 1, &plan.rate, err);

    if (ok) {
        discover(st->contracts, &plan, &d);
        if (d.stopped)
            session_incomplete(st->session, "stopped before all pairs of functions were tried");
        report_discovered(st, &d);
    }
    discovered_release(&d);
    return ok;
}

/* Does it call the other, directly or through others? */
static bool reaches(const Function *from, const Function *to, Map *seen)
{
    for (unsigned i = 0; from && to && i < from->ncallees; i++) {
        const Function *callee = from->callees[i];
        if (callee == to || (map_put(seen, callee->symbol, seen) && reaches(callee, to, seen)))
            return true;
    }
    return false;
}

static bool calls(const char *caller, const char *callee, void *program)
{
    Map seen = { 0 };
    bool found =
        reaches(program_function(program, caller), program_function(program, callee), &seen);

    map_release(&seen);
    return found;
}

/* The known contracts against the samples of this run. */
static bool show_broken(Study *st, Err *err)
{
    char *path = study_path(st, "json");
    BrokenList broken = { 0 };
    size_t lost = 0;
    json_t *known = NULL;
    bool ok = file_exists(path) || err_set(err,
                                           "no contracts of %s are known yet; run it "
                                           "without --check first",
                                           st->name);

    if (ok && (known = json_read(path, err))) {
        json_t *steady = read_steady(st);
        if (steady) {
            contracts_check(json_object_get(steady, "functions"), st->samples, true, &broken,
                            &lost);
        }
        contracts_check(json_object_get(known, "functions"), st->samples, false, &broken, &lost);
        json_decref(steady);
        contracts_blame(&broken, calls, (void *)st->program);
        if (lost)
            session_note(st->session,
                         "%zu invariants speak of variables that are no longer "
                         "there",
                         lost);
        ok = session_begin(st->session, st->name, err) && report_broken(st, &broken, err);
    }
    ok = ok && known;
    json_decref(known);
    vec_release(&broken);
    free(path);
    return ok;
}

static bool show_changed(Study *st, const char *file, Err *err)
{
    json_t *old = json_read(file, err);
    bool ok =
        old && (json_is_array(json_object_get(old, "functions")) ||
                err_set(err, "%s: holds no contracts; it is the --json of an earlier run", file));

    ok = ok && session_begin(st->session, NULL, err) && report_changed(st, old, err);
    json_decref(old);
    return ok;
}

static bool show_exported(const Study *st, Err *err)
{
    const char *daikon = session_option(st->session, "daikon");
    Str *out = session_out(st->session);

    if (daikon)
        return export_daikon(st->samples, daikon, err);
    if (session_flag(st->session, "acsl"))
        export_acsl(st->contracts, out);
    else if (session_flag(st->session, "header"))
        export_header(st->contracts, st->name, out);
    else
        return export_asserts(st->contracts, session_root(st->session), out, err);
    return true;
}

static bool is_exported(Session *s)
{
    return session_option(s, "daikon") || session_flag(s, "acsl") || session_flag(s, "header") ||
           session_flag(s, "asserts");
}

/* Contracts, or what steering changes in them. */
static bool show_contracts(Study *st, Err *err)
{
    bool page = session_option(st->session, "html") || session_option(st->session, "sarif");

    if ((wants_form(st->session) && !session_begin(st->session, NULL, err)) ||
        (page && !report_page(st, err)))
        return false;
    session_json(st->session, "functions", report_json(st));
    session_json(st->session, "constraints", json_array());
    session_json(st->session, "broken", json_array());
    if (session_flag(st->session, "json") || page)
        return true;
    if (st->constraints.items.len)
        report_difference(st);
    else
        report_contracts(st);
    return true;
}

static bool study(Study *st, Err *err)
{
    Session *s = st->session;
    const char *file = session_option(s, "constraints"), *old = session_option(s, "against");

    if ((file && !constraints_read(file, &st->constraints, err)) || !study_samples(st, err))
        return false;
    if (session_flag(s, "check"))
        return show_broken(st, err);
    if (file && !constraints_match(&st->constraints, st->samples, err))
        return err_ctx(err, "%s", file);
    st->contracts = contracts_infer(st->samples, &st->constraints, &st->plan);
    if (!keep_contracts(st, err) || !keep_steady(st, err))
        return false;
    if (session_flag(s, "infer")) {
        if (wants_form(s) && !session_begin(s, NULL, err))
            return false;
        session_json(s, "functions", report_json(st));
        return show_discovered(st, err);
    }
    if (old)
        return show_changed(st, old, err);
    return is_exported(s) ? show_exported(st, err) : show_contracts(st, err);
}

static bool run(Session *s, Err *err)
{
    Study st = { .session = s, .program = session_program(s) };

    st.name = program_captured(st.program)->name;
    bool ok = read_number(s, "confidence", 0, 1, &st.plan.infer.limit, err) && study(&st, err);
    contracts_free(st.contracts);
    samples_free(st.samples);
    samples_free(st.again);
    constraints_release(&st.constraints);
    return ok;
}

const Command technique_invariants = {
    .name = "invariants",
    .args = "PROGRAM [-- COMMAND…]",
    .summary = "likely contracts of functions, from runs",
    .about = "Runs a command, such as the tests, with a version of the program that writes\n"
             "down what its functions see, and infers what holds at the entry and exit of\n"
             "each: bounds, null, equations, orderings, what stays as it was. Contracts\n"
             "stay in the workspace; without a command the last recording is used again.\n"
             "\n"
             "A file of constraints relates the contracts of functions (CanFollow(open,\n"
             "read)): what one function shows is evidence for the other. It removes what\n"
             "holds by chance and adds what alone had too little evidence. --infer finds\n"
             "such constraints.\n"
             "\n"
             "--check runs another command and reports the contracts that it breaks.",
    .examples = "sundew invariants ./prog -- make check\n"
                "sundew invariants ./prog --constraints stack.rules\n"
                "sundew invariants ./prog --infer\n"
                "sundew invariants ./prog --check -- ./other-tests\n"
                "sundew invariants ./prog --against old.json\n"
                "sundew invariants ./prog --daikon prog.dtrace\n"
                "sundew invariants ./prog --asserts > asserts.patch\n",
    .options = options,
    .rules = rules,
    .needs = NEEDS_STORE | NEEDS_PROGRAM,
    .check = check,
    .evidence = EVIDENCE_ELSEWHERE,
    .plan = invariants_plan,
    .run = run,
};
