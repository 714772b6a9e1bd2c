/*
 * substitutes - use a candidate through the interface that it shares with a reference, and
 * report where only the candidate fails or answers differently.
 *
 * run() reads: which pairs, then for each pair tests, differences made small, all reported.
 * README.md explains the technique.
 */
#include "technique/substitutes/substitutes.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "base/progress.h"
#include "technique/substitutes/substitutes_int.h"
#include <stdlib.h>
#include <string.h>

static const Option options[] = {
    { "tables", 0, NULL, "list the structs of function pointers and their implementations", NULL },
    { "list", 0, NULL, "list the pairs, and what can't be compared and why; run nothing", NULL },
    { "table", 0, "NAME", "compare the implementations of this struct", NULL },
    { "reference", 0, "NAME", "the implementation, or the library, that is right", NULL },
    { "candidate", 0, "NAME", "compare only this one; or the library that replaces it", NULL },
    { "headers", 0, "FILE", "the functions of two libraries are what this declares (repeatable)",
      NULL },
    { "backend", 0, "FUNCTION(N)",
      "--reference and --candidate are values of the N-th argument of this function", NULL },
    { "mapping", 0, "FILE", "which functions create equal objects", NULL },
    { "corpus", 0, "DIR",
      "files whose content is tried as text, each line too; with @@ after -- the command runs with "
      "each of them",
      NULL },
    { "accepted", 0, "FILE", "differences that are accepted, with reasons", NULL },
    { "crash-only", 0, NULL, "compare no results", NULL },
    { "concurrent", 0, NULL, "also one call each from two threads, in all orders", NULL },
    { "schedules", 0, "N", "with --concurrent: at most so many orders of a test", "150" },
    { "tests", 0, "N", "tests for each pair", "1000" },
    { "output", 'o', "DIR", "where the C tests go; without it PROGRAM.substitutes", NULL },
    { "cflags", 0, "WORD", "a flag for the headers, such as -I or -D (repeatable)", NULL },
    { "link", 0, "WORD", "a word for the linker, such as -lz (repeatable)", NULL },
    { 0 },
};

static const Rule rules[] = {
    { "substitutes/crash", LEVEL_ERROR, "A call fails on the candidate and not on the reference." },
    { "substitutes/deadlock", LEVEL_ERROR,
      "Calls from two threads block on the candidate and not on the reference." },
    { "substitutes/removed", LEVEL_WARNING,
      "The candidate does not support an operation that works on the reference." },
    { "substitutes/output", LEVEL_WARNING,
      "A call gives another result on the candidate than on the reference." },
    { 0 },
};

/* ---- one pair */

static void say_open(Substitutes *x, const Pair *p)
{
    for (int i = 0; i < NSIDES; i++)
        if (!p->side[i].preload && (i == 0 || p->side[0].library != p->side[1].library))
            session_note(x->s, "%s runs without the address sanitizer", p->side[i].name);
}

static bool run_pair(Substitutes *x, Pair *p, size_t number, Err *err)
{
    Err why = { 0 };
    p->rng = rng_seeded(session_seed(x->s) + number);
    if (!pair_open(p, &why)) {
        p->why_not = arena_strdup(&p->arena, why.msg);     /* the others go on */
        session_incomplete(x->s, "%s: %s", p->side[SIDE_CANDIDATE].name, why.msg);
        return true;
    }
    if (number == 0)
        say_open(x, p);
    return pair_search(p, err) && pair_settle(p, err) &&
           (!session_flag(x->s, "concurrent") || pair_concurrent(p, err));
}

static bool run_pairs(Substitutes *x, Err *err)
{
    Progress progress = progress_start("substitutes", x->pairs.len);
    bool ok = true;
    for (size_t i = 0; ok && i < x->pairs.len && !session_interrupted(x->s); i++) {
        Pair *p = x->pairs.items[i];
        progress_step(&progress, i, p->side[SIDE_CANDIDATE].name);
        if (!p->why_not)
            ok = run_pair(x, p, i, err);
    }
    progress_end(&progress);
    return ok;
}

/* ---- the program of a table */

static bool make_program(Substitutes *x, Err *err)
{
    LibraryPlan plan = { .link = session_option_all(x->s, "link"), .jobs = session_jobs(x->s) };
    bool any = false;
    for (size_t i = 0; i < x->pairs.len; i++)
        any |= !x->pairs.items[i]->why_not;
    if (!any)
        return true;
    if (!library_make_exposed(session_program(x->s), &plan, &x->library[0], err))
        return false;
    for (size_t i = 0; i < x->pairs.len; i++)
        for (int k = 0; k < NSIDES; k++) {
            Side *side = &x->pairs.items[i]->side[k];
            side->library = xstrdup(x->library[0].exposed);
            side->preload = x->library[0].preload ? xstrdup(x->library[0].preload) : NULL;
        }
    return true;
}

/* ---- list */

static bool list_pairs(Substitutes *x)
{
    Str *out = session_out(x->s);
    json_t *all = json_array();
    for (size_t i = 0; i < x->pairs.len; i++) {
        const Pair *p = x->pairs.items[i];
        json_t *j = json_pack("{s:o,s:o}", "reference", json_text(p->side[0].name), "candidate",
                              json_text(p->side[1].name));
        json_t *unused = json_array();
        escape_terminal_z(out, p->side[1].name);
        str_add(out, " for ");
        escape_terminal_z(out, p->side[0].name);
        if (p->why_not) {
            json_object_set_new(j, "why_not", json_text(p->why_not));
            str_add(out, ": can't be compared: ");
            escape_terminal_z(out, p->why_not);
        }
        str_addc(out, '\n');
        for (size_t k = 0; k < p->unused.len; k++) {
            json_array_append_new(unused, json_text(p->unused.items[k]));
            str_add(out, "  not compared: ");
            escape_terminal_z(out, p->unused.items[k]);
            str_addc(out, '\n');
        }
        json_object_set_new(j, "unused", unused);
        json_array_append_new(all, j);
    }
    session_json(x->s, "pairs", all);
    if (session_flag(x->s, "json"))
        str_reset(out);
    return true;
}

/* ---- the command */

static bool find_pairs(Substitutes *x, Err *err)
{
    size_t n;
    const char *accepted = session_option(x->s, "accepted");
    char **args = session_args(x->s, &n);
    const char *corpus = session_option(x->s, "corpus");
    if (accepted && !accepted_read(x, accepted, err))
        return false;
    if (corpus && !file_is_dir(corpus))
        return err_set(err, "--corpus %s: there is no such folder", corpus);
    if (n == 0)
        return libraries_pairs(x, err);
    x->out = session_option(x->s, "output") ? xstrdup(session_option(x->s, "output"))
                                            : xprintf("%s.substitutes", path_base(args[0]));
    return session_claim(x->s, x->out, err) &&
           (session_option(x->s, "backend") ? backends_pairs(x, err) : tables_pairs(x, err));
}

static void release(Substitutes *x)
{
    for (size_t i = 0; i < x->pairs.len; i++)
        pair_free(x->pairs.items[i]);
    vec_release(&x->pairs);
    for (int i = 0; i < NSIDES; i++)
        library_release(&x->library[i]);
    optables_release(&x->tables);
    map_release(&x->accepted);
    arena_release(&x->arena);
    free(x->out);
}

static const char *scope(const Substitutes *x)
{
    const Program *p = x->pairs.items[0]->side[SIDE_CANDIDATE].program;
    return p && program_captured(p) ? program_captured(p)->name
                                    : path_base(x->pairs.items[0]->side[SIDE_CANDIDATE].name);
}

/* Tables and back ends: both sides are in it. */
static bool is_one_program(const Substitutes *x)
{
    return x->table || (x->pairs.len && x->pairs.items[0]->backend);
}

static bool run(Session *s, Err *err)
{
    Substitutes x = { .s = s, .crash_only = session_flag(s, "crash-only") };
    bool ok;
    if (session_flag(s, "tables")) {
        ok = session_need(s, NEEDS_PROGRAM, err) && tables_list(&x, err);
    } else {
        ok = find_pairs(&x, err);
        if (ok && session_flag(s, "list"))
            ok = list_pairs(&x);
        else
            ok = ok && (!is_one_program(&x) || make_program(&x, err)) && run_pairs(&x, err) &&
                 session_begin(s, scope(&x), err) && report_pairs(&x, err);
    }
    release(&x);
    return ok;
}

static bool is_count(Session *s, const char *option, Err *err)
{
    const char *text = session_option(s, option);
    char *end;
    if (!text)
        return true;
    unsigned long n = strtoul(text, &end, 10);
    return (*text >= '0' && *text <= '9' && !*end && n > 0) ||
           err_set(err, "--%s %s: a number from 1", option, text);
}

static bool check(Session *s, Err *err)
{
    size_t n;
    session_args(s, &n);
    if (n > 1)
        return err_set(err, "one program at a time");
    bool backend = session_option(s, "backend") != NULL;
    if (backend && (n == 0 || !session_option(s, "reference") || !session_option(s, "candidate") ||
                    !session_option(s, "headers")))
        return err_set(err,
                       "--backend goes with a PROGRAM, --reference VALUE, --candidate VALUE and "
                       "--headers FILE");
    if (n == 1 && !backend && session_option(s, "headers"))
        return err_set(err, "--headers goes with --reference LIBRARY --candidate LIBRARY, without "
                            "a program");
    if (n == 0 && !session_flag(s, "tables") &&
        (!session_option(s, "reference") || !session_option(s, "candidate") ||
         !session_option(s, "headers")))
        return err_set(err, "a PROGRAM with tables, or --reference LIBRARY --candidate LIBRARY "
                            "--headers FILE");
    return is_count(s, "tests", err) && is_count(s, "schedules", err);
}

const Command technique_substitutes = {
    .name = "substitutes",
    .args = "[PROGRAM] [-- COMMAND…]",
    .summary = "does a replacement behave like what it replaces?",
    .about =
        "A program often has several implementations of one interface: structs of function "
        "pointers (a store, a codec, a back end), or shared libraries with the same header. "
        "Sundew makes tests that use the candidate through that interface, runs each on the "
        "reference too, and reports the calls that fail on the candidate only or that answer "
        "differently.\n\n"
        "With a PROGRAM it compares the implementations of a table of operations: all others with "
        "--reference, or each with each. Of three or more without a reference, the majority is "
        "right.\n\n"
        "With --backend the implementations are back ends that a function of the program or library "
        "chooses by an argument: a name, a number, a flag.\n\n"
        "With --reference, --candidate and --headers it compares two libraries: a drop-in "
        "replacement, or a new release with the old one.\n\n"
        "With -- COMMAND the tests begin with what that program does with the interface.\n\n"
        "Tests run with the address sanitizer on both sides. A test that fails on the reference "
        "says nothing. Each difference is made as small as possible and written as a C test in two "
        "variants.",
    .examples = "sundew substitutes ./prog --tables\n"
                "sundew substitutes ./prog --table 'struct codec' --reference codec_plain\n"
                "sundew substitutes ./prog --backend 'store_open(1)' --reference list --candidate "
                "packed --headers store.h\n"
                "sundew substitutes --reference old/libfoo.so --candidate new/libfoo.so --headers "
                "foo.h -- ./example\n",
    .options = options,
    .rules = rules,
    .needs = NEEDS_STORE,
    .budget = true,
    .check = check,
    .plan = substitutes_plan,
    .run = run,
};
