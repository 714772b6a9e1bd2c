/* sundew report, baseline and explain: findings from the store. */
#include "base/escape.h"
#include "base/file.h"
#include "base/str.h"
#include "command/command_rows.h"
#include "finding/store.h"
#include "session/main.h"
#include "session/session.h"
#include <stdlib.h>
#include <string.h>

/* Is there such a technique? Else an error with the nearest name. */
static bool check_technique(Session *s, const char *name, Err *err)
{
    Vec(const char *) names = { 0 };
    bool known = false;
    for (const Command *const *c = session_commands(s); *c; c++)
        if ((*c)->rules) {
            vec_push(&names, (*c)->name);
            known |= strcmp((*c)->name, name) == 0;
        }
    vec_push(&names, NULL);
    const char *near = str_nearest(name, names.items);
    if (!known)
        err_set(err, "no technique '%s'%s%s%s", name, near ? "; did you mean '" : "",
                near ? near : "", near ? "'?" : "");
    vec_release(&names);
    return known;
}

static bool run_report(Session *s, Err *err)
{
    size_t n;
    char **args = session_args(s, &n);
    if (n > 1)
        return err_set(err, "one technique at most: sundew report arguments");
    if (n && !check_technique(s, args[0], err))
        return false;
    FindingSet *set = store_read(session_store(s), n ? args[0] : NULL, NULL, err);
    if (!set)
        return false;
    for (size_t i = 0; i < set->nruns; i++) {
        const char *scope = set->runs[i].scope, *technique = set->runs[i].technique;
        bool named = str_starts(scope, technique);             /* check labels them so */
        if (set->runs[i].incomplete)
            session_incomplete(s, "%s%s%s: %s", named ? "" : technique, named || !*scope ? "" : " ",
                               scope, set->runs[i].incomplete);
    }
    bool ok = session_write(s, set, err);
    session_status(s, finding_set_is_bad(set) ? 1 : 0);
    finding_set_free(set);
    return ok;
}

const Command command_report = {
    .name = "report",
    .args = "[TECHNIQUE]",
    .summary = "all findings: on the terminal, as one HTML page, SARIF, JSON …",
    .about = "Findings of the newest run of each technique. Suppressed ones and "
             "those in the baseline do not count for the exit status and are "
             "shown with --all.",
    .examples = "sundew report --html out.html\n"
                "sundew report arguments --sarif findings.sarif\n"
                "sundew report --github\n",
    .needs = NEEDS_FINDINGS,
    .run = run_report,
};

static char *baseline_path(Session *s) { return path_join(session_root(s), "sundew.baseline"); }

static bool run_baseline_set(Session *s, Err *err)
{
    char *path = baseline_path(s);
    FindingSet *set = store_read(session_store(s), NULL, NULL, err);
    bool ok = set && baseline_set(set, path, err);
    if (ok)
        session_note(s,
                     "the present findings are in %s; only new ones count from "
                     "now on",
                     path);
    finding_set_free(set);
    free(path);
    return ok;
}

const Command command_baseline_set = {
    .name = "baseline set",
    .summary = "accept all present findings: only new ones count from now on",
    .about = "Writes sundew.baseline in the project's folder; commit it.",
    .examples = "sundew baseline set\n",
    .needs = NEEDS_FINDINGS,
    .run = run_baseline_set,
};

static bool run_baseline_prune(Session *s, Err *err)
{
    size_t dropped = 0;
    char *path = baseline_path(s);
    FindingSet *set = store_read(session_store(s), NULL, NULL, err);
    bool ok = set && baseline_prune(set, path, &dropped, err);
    if (ok)
        session_note(s, "%zu entries dropped that match no finding any more", dropped);
    finding_set_free(set);
    free(path);
    return ok;
}

const Command command_baseline_prune = {
    .name = "baseline prune",
    .summary = "drop baseline entries that match no finding any more",
    .examples = "sundew baseline prune\n",
    .needs = NEEDS_FINDINGS,
    .run = run_baseline_prune,
};

static const Rule *find_rule(Session *s, const char *id)
{
    const Rule *found = NULL;
    for (const Rule *const *r = session_rules(s); *r; r++) {
        const char *slash = strchr((*r)->id, '/');
        if (strcmp((*r)->id, id) == 0)
            return *r;
        if (slash && strcmp(slash + 1, id) == 0)
            found = *r;
    }
    return found;
}

static bool unknown_rule(Session *s, const char *id, Err *err)
{
    Vec(const char *) names = { 0 };
    for (const Rule *const *r = session_rules(s); *r; r++)
        vec_push(&names, (*r)->id);
    vec_push(&names, NULL);
    const char *near = str_nearest(id, names.items);
    err_set(err, "no rule '%s'%s%s; sundew explain lists them", id, near ? "; did you mean " : "",
            near ? near : "");
    vec_release(&names);
    return false;
}

static bool run_explain(Session *s, Err *err)
{
    size_t n;
    char **args = session_args(s, &n);
    Str *out = session_out(s);
    if (n > 1)
        return err_set(err, "one rule at a time: sundew explain RULE");
    if (n == 0) {
        for (const Rule *const *r = session_rules(s); *r; r++)
            str_addf(out, "%-28s %s\n", (*r)->id, (*r)->summary);
        return true;
    }
    size_t len = strlen(args[0]);
    for (const Rule *const *r = session_rules(s); *r; r++)
        if (strncmp((*r)->id, args[0], len) == 0 && (*r)->id[len] == '/')
            str_addf(out, "%-28s %s\n", (*r)->id, (*r)->summary);
    if (out->len)
        return true;                 /* a technique: its rules */
    const Rule *rule = find_rule(s, args[0]);
    if (!rule)
        return unknown_rule(s, args[0], err);
    char *name = xstrdup(rule->id);
    for (char *p = name; *p; p++)
        if (*p == '/')
            *p = '-';
    char *path = xprintf("%s/rules/%s.md", session_share(s), name);
    Str text = { 0 };
    bool ok = file_read(path, &text, err);
    if (ok)
        str_addn(out, str_c(&text), text.len);
    str_release(&text);
    free(path);
    free(name);
    return ok;
}

const Command command_explain = {
    .name = "explain",
    .args = "[RULE]",
    .summary = "what a rule finds, with examples; without RULE lists them",
    .examples = "sundew explain\nsundew explain arguments/swapped\n",
    .run = run_explain,
};
