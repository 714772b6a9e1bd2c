/*
 * confirm - which warnings of static checkers are real? Ask the test suite.
 *
 * A warning becomes a site of the program (anchor.c). A woven program watches all sites
 * in one run of the user's command (evidence.c, weave/watch/), and each rule holds what
 * was seen against the programmer's objection. README.md explains the technique.
 */
#include "technique/confirm/confirm.h"
#include "base/file.h"
#include "technique/confirm/confirm_int.h"
#include <stdlib.h>

static const Option options[] = {
    { "warnings", 0, "FILE",
      "judge these: SARIF, clang's plist, gcc's JSON, cppcheck's XML, clang-tidy's YAML or "
      "text (repeatable)",
      NULL },
    { "own", 0, NULL, "judge what our own rules suspect; with --warnings these, too", NULL },
    { "opportunities", 0, "N", "reject a warning only after so many", "10" },
    { "merge", 0, NULL, "add the evidence that earlier runs left in the workspace", NULL },
    { "evidence", 0, "FILE", "add what a program made with -o left there (repeatable)", NULL },
    { "output", 'o', "FILE", "make the program that watches, for runs of your own", NULL },
    { "explore", 0, "TIME", "look for inputs that reach more, so long, or so many inputs", NULL },
    { "races", 0, NULL, "look for data races, and try them with schedules of the threads", NULL },
    { "schedules", 0, "N", "with --races: run at most so many schedules", "300" },
    { "inject", 0, NULL, "make calls at suspicious sites fail, each in a run of its own", NULL },
    { 0 },
};

#define RULE(name, text) { "confirm/" name, LEVEL_WARNING, text }
static const Rule rules[] = {
    RULE("ignored-count", "A call may give less than it was asked for, and nobody looks."),
    RULE("non-short-circuit", "& or | computes the right side where && or || would not."),
    RULE("dropped-error", "The result of a call that can fail is not used."),
    RULE("unchecked-null", "A result that can be NULL is used without a test."),
    RULE("unchecked-malloc", "Memory is used without a test whether there is any."),
    RULE("comparator", "A comparator is not an order."),
    RULE("hash-equality", "Equal keys can have different hashes."),
    RULE("copy", "A copy shares what both objects own, or has only a part."),
    RULE("overflow-test", "A test for overflow relies on overflow, which is undefined."),
    RULE("malloc-product", "The product that sizes an allocation can overflow."),
    RULE("sign-compare", "A negative number is compared as a large one."),
    RULE("strncpy", "A text may be copied without its end."),
    RULE("sizeof-pointer", "The size of a pointer is used for what it points to."),
    RULE("format-string", "A text that is no constant is a format."),
    RULE("stale-pointer", "A pointer stays behind after free()."),
    RULE("leak", "Memory is not freed on some path."),
    RULE("double-free", "Memory is freed twice on some path."),
    RULE("fallthrough", "A case falls into the next one, and nobody says that it is meant."),
    RULE("injection", "Texts from outside become a part of a command."),
    RULE("bad-cast", "An object is taken for a larger one."),
    RULE("wrong-equality", "Objects are compared by bytes that do not matter."),
    RULE("toctou", "A file may change between two calls that name it."),
    RULE("signal-handler", "A signal handler calls functions that it must not."),
    RULE("race", "Two threads use the same memory in no order, and one writes."),
    RULE("null-pointer", "A pointer may be NULL where it is used."),
    RULE("uninitialised", "A variable may be used before it is set."),
    RULE("out-of-bounds", "An index may lie outside of its array."),
    RULE("division", "A divisor may be 0, or a shift too far."),
    RULE("unused-function", "Nobody seems to call a function."),
    { 0 },
};
#undef RULE

static bool check(Session *s, Err *err)
{
    size_t n;
    char *end;
    const char *enough = session_option(s, "opportunities");
    session_args(s, &n);
    if (n != 1)
        return err_set(err, n ? "one program or library at a time"
                              : "which program? Usage: sundew confirm PROGRAM -- COMMAND");
    long k = strtol(enough, &end, 10);
    if (end == enough || *end || k < 1)
        return err_set(err, "--opportunities %s: no number above 0", enough);
    if (session_has_tail(s)) {
        session_tail(s, &n);
        if (!n)
            return err_set(err, "a command stands after --, such as make check");
    } else if (session_flag(s, "inject")) {
        return err_set(err, "--inject needs a command after --");
    } else if (session_option(s, "explore")) {
        return err_set(err, "--explore needs a command after --");
    }
    for (char **f = session_option_all(s, "warnings"); *f; f++)
        if (!file_exists(*f))
            return err_set(err, "--warnings %s: there is no such file", *f);
    return true;
}

/* Warnings of files, or of checkers that are installed; then their sites. */
static bool gather(Inquiry *q, Err *err)
{
    Session *s = q->session;
    char **files = session_option_all(s, "warnings");
    bool given = *files != NULL, alone = !given && !session_flag(s, "races");
    bool own = alone || session_flag(s, "own");
    for (char **f = files; *f; f++)
        if (!warnings_read(*f, &q->warnings, err))
            return err_ctx(err, "--warnings");
    if (q->warnings.left_out)
        session_note(s, "left out, because they name no place: %zu", q->warnings.left_out);
    if (alone && !session_flag(s, "own"))
        inquiry_run_checkers(q);
    q->woven = weave_begin(q->program, err);
    if (!q->woven)
        return false;
    inquiry_ask(q);
    q->watch = watch_scan(q->woven, session_flag(s, "races"), &q->lines);
    inquiry_anchor(q, own);
    return true;
}

/* -o: the program, and beside it the file that it writes to. */
static bool make_program(Inquiry *q, const char *out, Err *err)
{
    char *whole = path_absolute(out), *evidence = xprintf("%s.evidence", whole);
    bool ok = inquiry_weave(q, whole, evidence, err) || q->late;
    ok = ok && (q->late || watch_file_make(q->watch, evidence, q->key, err));
    if (ok && !q->late)
        session_note(q->session, "%s writes evidence to %s; judge it with --evidence", out,
                     evidence);
    free(whole);
    free(evidence);
    return ok;
}

static bool observe(Inquiry *q, Err *err)
{
    Session *s = q->session;
    char **files = session_option_all(s, "evidence");
    bool merged = false, run = session_has_tail(s);
    bool merge = session_flag(s, "merge") || (!run && !*files);
    if (run ? !inquiry_observe(q, err) : !inquiry_prepare(q, err))
        return false;
    for (char **f = files; *f; f++)
        if (!inquiry_take(q, *f, err))
            return err_ctx(err, "--evidence");
    if (merge && !inquiry_merge(q, &merged, err))
        return false;
    if (!run && !*files && !merged)
        return err_set(err, "nothing was observed yet; give a command after --, such as "
                            "-- make check");
    return q->late || inquiry_keep(q, err);
}

static bool inquire(Inquiry *q, Err *err)
{
    const char *out = session_option(q->session, "output");
    if (!gather(q, err))
        return false;
    if (out)
        return make_program(q, out, err);
    if (!observe(q, err))
        return false;
    if (q->late) {
        inquiry_judge(q);
        return inquiry_report(q, err);
    }
    if (session_option(q->session, "explore") && !inquiry_explore(q, err))
        return false;
    inquiry_judge(q);
    if (session_flag(q->session, "races") && !inquiry_races(q, err))
        return false;
    if (session_flag(q->session, "inject") && !inquiry_inject(q, err))
        return false;
    return inquiry_report(q, err);
}

static bool run(Session *s, Err *err)
{
    Inquiry q = { .session = s, .program = session_program(s) };
    q.name = program_captured(q.program)->name;
    q.enough = strtoull(session_option(s, "opportunities"), NULL, 10);
    bool ok = inquire(&q, err);
    watch_free(q.watch);
    weave_end(q.woven);
    warnings_release(&q.warnings);
    map_release(&q.lines);
    for (size_t i = 0; i < q.generated.len; i++) {
        str_release(q.generated.entries[i].value);
        free(q.generated.entries[i].value);
    }
    map_release(&q.generated);
    str_release(&q.evidence);
    free(q.slots);
    free(q.binary);
    free(q.inputs);
    return ok;
}

const Command technique_confirm = {
    .name = "confirm",
    .args = "PROGRAM [-- COMMAND…]",
    .summary = "warnings of static checkers that the tests show to be real",
    .about =
        "Takes the warnings of static checkers and runs a command, such as the tests, with a version "
        "of the program that watches the places they speak of. For each warning it asks what the "
        "programmer would object, and looks for an observation that defeats the objection. The "
        "fault itself need not happen, and the tests may all pass.\n\n"
        "A warning is confirmed; or rejected, if its place was reached often enough and nothing "
        "spoke for it; or undetermined, if it was not reached; or unanchored, if no code of the "
        "program fits it. Only confirmed warnings are findings.\n\n"
        "Without --warnings it judges what its own rules suspect and what installed checkers say "
        "(gcc -fanalyzer, clang's analyzer, cppcheck). With --own it runs no checker. Evidence "
        "stays in the workspace; --merge adds that of earlier runs, as far as the functions are "
        "still the same.\n\n"
        "--explore makes inputs for the program and watches it on each of them; the command must be "
        "the program itself then. An input that confirms a warning comes with the finding.\n\n"
        "--races finds memory that two threads use without a lock in common and runs the program's "
        "threads in many orders. A race that is confirmed has a schedule that sundew threads "
        "--replay runs again. The command must be a captured program then.",
    .examples = "sundew confirm ./prog -- make check\n"
                "sundew confirm ./prog --own -- ./tests\n"
                "sundew confirm ./prog --warnings clang.sarif --warnings gcc.json -- make check\n"
                "sundew confirm ./prog --races -- ./prog input\n"
                "sundew confirm ./prog --inject -- make check\n"
                "sundew confirm ./prog --explore 2m -- ./prog input.txt\n"
                "sundew confirm ./prog -o prog.watched\n"
                "sundew confirm ./prog --evidence prog.watched.evidence\n",
    .options = options,
    .rules = rules,
    .needs = NEEDS_STORE | NEEDS_PROGRAM,
    .check = check,
    .evidence = EVIDENCE_ELSEWHERE,
    .plan = confirm_plan,
    .run = run,
};
