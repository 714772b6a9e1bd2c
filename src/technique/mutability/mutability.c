/*
 * mutability - parameters that are never written through.
 *
 * program/mutability.h decides; this is the command around it: which stages,
 * what is said of the result and in which form, and the file that other
 * techniques read. README.md explains the technique.
 */
#include "technique/mutability/mutability.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "analysis/pointsto/calls.h"
#include "analysis/mutability/facts.h"
#include "analysis/mutability/mutability.h"
#include "session/session.h"
#include "technique/mutability/declared.h"
#include "technique/mutability/dynamic.h"
#include "technique/mutability/patch.h"
#include <stdlib.h>
#include <string.h>

static const Option options[] = {
    { "verdicts", 0, NULL, "every pointer parameter with its verdict", NULL },
    { "why", 0, "FUNCTION:PARAM", "the reason for a verdict, or what prevents one", NULL },
    { "pipeline", 0, "STAGES", "which stages run, as in S-P", "S-SH-P-M" },
    { "sound", 0, NULL, "only what is proven; the rest is unknown", NULL },
    { "best-effort", 0, NULL, "also what is likely (stage L); suggestions and patches too", NULL },
    { "attributes", 0, NULL,
      "report functions that could be pure or const, and how "
      "parameters are accessed, too",
      NULL },
    { "patch", 0, NULL, "a patch with const where it compiles, on standard output", NULL },
    { "shallow", 0, NULL, "const also where something deeper is written", NULL },
    { "abi-stable", 0, NULL, "the patch leaves headers as they are", NULL },
    { "observed", 0, "FILE", "writes through parameters that a run has shown", NULL },
    { "absence", 0, NULL,
      "after a run: what was called often and covered well, and never "
      "written, is likely immutable",
      NULL },
    { "absence-calls", 0, "N", "… after at least this many calls", "10" },
    { "absence-coverage", 0, "PERCENT", "… after a run of this share of its blocks", "85" },
    { "enforce", 0, NULL,
      "make a program that stops at a write through a parameter that is "
      "proven immutable or points to const",
      NULL },
    { "output", 'o', "FILE", "… with this name", "PROGRAM.enforced" },
    { "facts", 0, "FILE", "write all verdicts there, for other tools", NULL },
    { "write-summaries", 0, "FILE",
      "write what exported functions do there, for programs "
      "that load it by --summaries",
      NULL },
    { "summaries", 0, "FILE", "what library functions do (repeatable)", NULL },
    { 0 },
};

static const Rule rules[] = {
    { "mutability/const-able", LEVEL_NOTE, "A pointer parameter that could point to const." },
    { "mutability/const-violated", LEVEL_WARNING,
      "A parameter that points to const is written through." },
    { "mutability/attribute", LEVEL_NOTE,
      "A function that could be declared pure or const, or with how it accesses memory." },
    { 0 },
};

typedef struct Study {
    Session *s;
    const Program *p;
    const Calls *calls;
    Mutability *m;
    bool sound;
    bool shallow;            /* suggest const where something deeper is written */
    bool likely;             /* … and where it is not proven */
    Patch *declarations;     /* what they accept; NULL: not asked */
} Study;

/* ---- verdicts as they are shown */

/* With --sound, what is not proven is not known. */
static MutAnswer shown(const Study *st, const MutAnswer *a)
{
    if (st->sound && !a->sound)
        return (MutAnswer){ 0 };
    return *a;
}

static const char *param_name(const MutParam *p, char *room, size_t n)
{
    const char *name = p->function->params[p->index].name;

    if (*name)
        return name;
    snprintf(room, n, "%u", p->index + 1);
    return room;
}

static json_t *step_json(const MutStep *w)
{
    return json_pack("{s:o, s:o, s:i, s:i, s:o, s:b, s:o}", "function",
                     json_text(w->function->name), "file", json_text(w->file), "line", (int)w->line,
                     "column", (int)w->column, "callee",
                     *w->callee ? json_text(w->callee) : json_null(), "indirect", w->indirect,
                     "path", json_text(w->path));
}

static json_t *reasons_json(const MutParam *p)
{
    json_t *list = json_array();

    for (size_t i = 0; i < p->nreasons; i++) {
        const MutReason *r = &p->reasons[i];
        json_array_append_new(list, json_pack("{s:s, s:o, s:i, s:o, s:o}", "reason",
                                              mut_reason_name(r->kind), "file", json_text(r->file),
                                              "line", (int)r->line, "callee",
                                              *r->callee ? json_text(r->callee) : json_null(),
                                              "path", json_text(r->path)));
    }
    return list;
}

static json_t *levels_json(const MutParam *p)
{
    json_t *list = json_array();

    for (int i = 0; i < MUT_LEVELS; i++)
        json_array_append_new(list, json_string(mut_verdict_name(p->level[i])));
    return list;
}

/* What it leads to is never written, and neither is whatever it goes to: by the
 * declarations, or by the program if they could not be read. */
static bool is_const_able(const Study *st, const MutParam *p)
{
    if (!st->declarations || p->declared_const)
        return p->const_able;
    return p->own.verdict == MUT_IMMUTABLE && (p->own.sound || st->likely) && !p->by_value &&
           patch_accepts(st->declarations, p);
}

static json_t *param_json(const Study *st, const MutParam *p)
{
    const Function *fn = p->function;
    MutAnswer deep = shown(st, &p->deep), own = shown(st, &p->own);
    char room[16];
    json_t *o =
        json_pack("{s:o, s:o, s:o, s:i, s:o, s:i, s:s, s:s, s:s, s:s, s:b, s:b}", "function",
                  json_text(fn->name), "symbol", json_text(fn->symbol), "file", json_text(fn->file),
                  "line", (int)fn->line, "parameter", json_text(param_name(p, room, sizeof room)),
                  "index", (int)p->index, "verdict", mut_verdict_name(deep.verdict), "own",
                  mut_verdict_name(own.verdict), "stage", mut_stage_name(deep.stage), "own_stage",
                  mut_stage_name(own.stage), "sound", deep.sound, "own_sound", own.sound);

    json_object_set_new(o, "levels", levels_json(p));
    json_object_set_new(o, "direction", json_string(mut_direction_name(p->direction)));
    json_object_set_new(o, "returned", json_boolean(p->returned));
    json_object_set_new(o, "stored", json_boolean(p->stored));
    json_object_set_new(o, "const_able", json_boolean(is_const_able(st, p)));
    json_object_set_new(o, "declared_const", json_boolean(p->declared_const));
    json_object_set_new(o, "unchanged", json_boolean(p->unchanged));
    if (deep.verdict == MUT_MUTABLE) {
        json_t *w = json_array();
        for (size_t i = 0; i < p->nwitness; i++)
            json_array_append_new(w, step_json(&p->witness[i]));
        json_object_set_new(o, "witness", w);
    } else {
        json_object_set_new(o, "reasons", reasons_json(p));
    }
    return o;
}

/* ---- each parameter */

typedef bool EachParam(Study *st, const MutParam *p, void *arg, Err *err);

static bool each(Study *st, EachParam *f, void *arg, Err *err)
{
    size_t n;
    const Function *const *fns = program_functions(st->p, &n);

    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < fns[i]->nparams; k++) {
            const MutParam *p = mutability_param(st->m, fns[i], k);
            if (p && p->pointer && !f(st, p, arg, err))
                return false;
        }
    return true;
}

static bool add_json(Study *st, const MutParam *p, void *list, Err *err)
{
    (void)err;
    json_array_append_new(list, param_json(st, p));
    return true;
}

static void add_place(Study *st, const char *file, unsigned line, unsigned column)
{
    Str *out = session_out(st->s);
    char *path = path_relative(file, session_root(st->s));

    escape_terminal_z(out, *file ? path : "?");
    if (line)
        str_addf(out, ":%u", line);
    if (column)
        str_addf(out, ":%u", column);
    free(path);
}

/* "main.c:3:5: push(v): mutable (S), own mutable; inout" */
static bool add_line(Study *st, const MutParam *p, void *arg, Err *err)
{
    Str *out = session_out(st->s);
    MutAnswer deep = shown(st, &p->deep), own = shown(st, &p->own);
    char room[16];

    (void)arg, (void)err;
    add_place(st, p->function->file, p->function->line, p->function->column);
    str_add(out, ": ");
    escape_terminal_z(out, p->function->name);
    str_addc(out, '(');
    escape_terminal_z(out, param_name(p, room, sizeof room));
    str_addf(out, "): %s", mut_verdict_name(deep.verdict));
    if (deep.verdict)
        str_addf(out, " (%s%s)", mut_stage_name(deep.stage), deep.sound ? "" : ", likely");
    if (own.verdict != deep.verdict)
        str_addf(out, ", own %s", mut_verdict_name(own.verdict));
    str_addf(out, "; %s", mut_direction_name(p->direction));
    if (!deep.verdict)
        for (size_t i = 0; i < p->nreasons; i++)
            str_addf(out, " %s", mut_reason_name(p->reasons[i].kind));
    str_addc(out, '\n');
    return true;
}

/* ---- findings */

/* Would const be right, as far as the program tells? */
static bool is_candidate(const Study *st, const MutParam *p)
{
    const Function *fn = p->function;
    MutAnswer own = shown(st, &p->own);

    if (p->deep.verdict == MUT_MUTABLE && !st->shallow)
        return false;
    return own.verdict == MUT_IMMUTABLE && (own.sound || st->likely) && !p->declared_const &&
           !p->by_value && p->used && type_plain(fn->params[p->index].type)->kind == TYPE_POINTER &&
           strcmp(fn->name, "main") != 0 && *fn->file;
}

/* Could a user add it? The declarations decide: a pointer may be hidden in a typedef or
 * stand in a macro's text, functions whose address is taken have to fit what they
 * are used for, and a reference that is kept the place where it goes. */
static bool is_suggested(const Study *st, const MutParam *p)
{
    if (!is_candidate(st, p))
        return false;
    return st->declarations ? patch_accepts(st->declarations, p)
                            : p->const_able && !p->function->address_taken;
}

static bool is_any_candidate(Study *st, const MutParam *p, void *any, Err *err)
{
    (void)err;
    *(bool *)any |= is_candidate(st, p);
    return true;
}

/* The declarations are read if there is anything to suggest. */
static void ask_declarations(Study *st)
{
    PatchPlan plan = { .session = st->s,
                       .program = st->p,
                       .mutability = st->m,
                       .shallow = st->shallow,
                       .likely = st->likely };
    bool any = false;
    Err err = { 0 };

    each(st, is_any_candidate, &any, &err);
    if (!any)
        return;
    st->declarations = patch_open(&plan, &err);
    if (!st->declarations)
        session_note(st->s, "declarations were not read (%s): fewer suggestions", err.msg);
}

static Location place_of(const Function *fn)
{
    return (Location){
        .file = fn->file, .line = (int)fn->line, .column = (int)fn->column, .function = fn->name
    };
}

static bool report(Study *st, const MutParam *p, const char *rule, Level level, const char *message,
                   const EvidenceStep *steps, size_t n, Err *err)
{
    Arena a = { 0 };
    char room[16];
    Finding f = {
        .rule = rule,
        .level = level,
        .verdict = VERDICT_LIKELY,
        .message = message,
        .where = place_of(p->function),
        .anchor = arena_printf(&a, "%s", param_name(p, room, sizeof room)),
        .steps = steps,
        .nsteps = n,
        .data = param_json(st, p),
    };
    bool ok = session_report(st->s, &f, err);

    json_decref(f.data);
    arena_release(&a);
    return ok;
}

static EvidenceStep *witness_steps(Arena *a, const MutStep *w, size_t n)
{
    EvidenceStep *steps = arena_array(a, EvidenceStep, n + 1);

    for (size_t i = 0; i < n; i++) {
        steps[i].at = (Location){ .file = w[i].file,
                                  .line = (int)w[i].line,
                                  .column = (int)w[i].column,
                                  .function = w[i].function->name };
        steps[i].text =
            *w[i].callee
                ? arena_printf(a, "%s: %s is written by %s%s", w[i].function->name, w[i].path,
                               w[i].callee, w[i].indirect ? ", called by a pointer" : "")
                : arena_printf(a, "%s: %s is written", w[i].function->name, w[i].path);
    }
    return steps;
}

/* An xfree() that takes any pointer gives memory back, and changes nothing that anybody reads. */
static bool is_given_back(const MutParam *p)
{
    const char *last = p->nown_witness ? p->own_witness[p->nown_witness - 1].callee : "";
    return strcmp(last, "free") == 0 || strcmp(last, "realloc") == 0;
}

static bool report_param(Study *st, const MutParam *p, void *arg, Err *err)
{
    Arena a = { 0 };
    char room[16];
    const char *name = param_name(p, room, sizeof room);
    MutAnswer own = shown(st, &p->own);
    bool ok = true;

    (void)arg;
    if (p->declared_const && own.verdict == MUT_MUTABLE && own.sound)
        ok = report(st, p, "mutability/const-violated",
                    is_given_back(p) ? LEVEL_NOTE : LEVEL_WARNING,
                    arena_printf(&a, "%s: %s points to const and is %s", p->function->name, name,
                                 is_given_back(p) ? "given back" : "written through"),
                    witness_steps(&a, p->own_witness, p->nown_witness), p->nown_witness, err);
    else if (is_suggested(st, p))
        ok = report(st, p, "mutability/const-able", LEVEL_NOTE,
                    arena_printf(&a, "%s: %s could point to const%s%s%s", p->function->name, name,
                                 p->function->address_taken ? ", with the types of pointers to it"
                                                            : "",
                                 p->deep.verdict == MUT_MUTABLE
                                     ? "; only what lies deeper is written"
                                     : "",
                                 p->own.sound ? "" : "; not proven"),
                    NULL, 0, err);
    arena_release(&a);
    return ok;
}

static bool report_attribute(Study *st, const Function *fn, const char *what, const char *if_what,
                             Err *err)
{
    char *text = xprintf("%s: could be __attribute__((%s))%s", fn->name, what, if_what);
    Finding f = { .rule = "mutability/attribute",
                  .level = LEVEL_NOTE,
                  .verdict = VERDICT_LIKELY,
                  .message = text,
                  .where = place_of(fn),
                  .anchor = what };
    bool ok = session_report(st->s, &f, err);

    free(text);
    return ok;
}

/* access(write_only, 1, 2): what is done with parameter 1, of which parameter 2 is the
 * length. Without a length, const tells as much of what is only read. */
static void add_access(const Study *st, const MutParam *p, Str *out)
{
    const char *mode = p->direction == MUT_IN      ? "read_only"
                       : p->direction == MUT_OUT   ? "write_only"
                       : p->direction == MUT_INOUT ? "read_write"
                                                   : NULL;
    int length = mutability_length(st->m, p->function, p->index);

    if (!mode || !p->pointer || p->by_value || !p->own.sound ||
        (p->direction != MUT_OUT && length < 0) ||
        type_plain(p->function->params[p->index].type)->kind != TYPE_POINTER)
        return;
    str_addf(out, "%saccess(%s, %u", out->len ? ", " : "", mode, p->index + 1);
    if (length >= 0)
        str_addf(out, ", %d", length + 1);
    str_addc(out, ')');
}

static bool report_attributes(Study *st, Err *err)
{
    size_t n;
    const Function *const *fns = program_functions(st->p, &n);
    bool ok = true;

    for (size_t i = 0; ok && i < n; i++) {
        MutPurity purity = mutability_purity(st->m, fns[i]);
        Str access = { 0 };
        if (!fns[i]->defined || !*fns[i]->file)
            continue;
        if (purity != MUT_IMPURE)
            ok = report_attribute(st, fns[i], mut_purity_name(purity), ", if it always returns",
                                  err);
        for (unsigned k = 0; ok && k < fns[i]->nparams; k++) {
            const MutParam *p = mutability_param(st->m, fns[i], k);
            if (p && p->pointer)
                add_access(st, p, &access);
        }
        if (ok && access.len)
            ok = report_attribute(st, fns[i], str_c(&access), "", err);
        str_release(&access);
    }
    return ok;
}

/* ---- --why */

static const MutParam *asked(Study *st, const char *what, Err *err)
{
    const char *colon = strrchr(what, ':');
    char *fname = colon ? xstrndup(what, (size_t)(colon - what)) : NULL, *end;
    const Function *fn = fname ? program_function(st->p, fname) : NULL;
    const MutParam *found = NULL;

    if (!colon) {
        err_set(err, "--why %s: name a function and a parameter, as in main:argv", what);
    } else if (!fn || !fn->defined) {
        err_set(err, "--why: no function, or several, of that name: %s", fname);
    } else {
        unsigned long number = strtoul(colon + 1, &end, 10);
        for (unsigned i = 0; i < fn->nparams; i++)
            if (!strcmp(fn->params[i].name, colon + 1) || (!*end && number == i + 1))
                found = mutability_param(st->m, fn, i);
        if (!found || !found->pointer) {
            err_set(err, "--why: %s has no pointer parameter %s", fname, colon + 1);
            found = NULL;
        }
    }
    free(fname);
    return found;
}

static const char *reason_text(MutReasonKind k)
{
    switch (k) {
    case MUT_CALL: return "is passed on, and callees are not looked at";
    case MUT_INDIRECT: return "is passed to functions of which some write";
    case MUT_GLOBAL_STORE: return "is stored in a global variable";
    case MUT_HEAP_STORE: return "is stored in memory that others see";
    case MUT_ALIAS_BLOCK: return "may be loaded again, and written through here";
    case MUT_KEPT: return "is kept by the library";
    case MUT_NO_BODY: return "goes to a function without body and summary";
    case MUT_SHOWN: return "goes, as a pointer to const, to a call whose target is not known";
    case MUT_OFFERED: return "goes, without const, to a call whose target is not known";
    case MUT_NO_TARGET: return "goes to a call whose target is not known";
    case MUT_ASM: return "goes to assembly that may write memory";
    case MUT_CAST: return "becomes a number";
    case MUT_COMPARED: return "has a part that decides something: it is compared, or an index";
    case MUT_VARARG: return "is a variadic argument that nobody follows";
    case MUT_NOT_MATCHED: return "arrives in a way that was not understood";
    case MUT_PRINTED: return "is printed by a format, whose other conversions may write";
    case MUT_MEMBER:
        return "goes to another function in a union, whose other members it may "
               "write through";
    case MUT_REPLACED: return "is stored where something else is put before that is written";
    case MUT_DECLARED: return "may be written by a function that gets it as a pointer to const";
    case MUT_RETURNED: return "goes to a function without body, and what that returns is written";
    case MUT_TABLE: return "goes to a function of a table, where others that write may stand";
    }
    return "";
}

static void explain_witness(Study *st, const MutStep *w, size_t n)
{
    Str *out = session_out(st->s);

    for (size_t i = 0; i < n; i++) {
        str_add(out, "  ");
        add_place(st, w[i].file, w[i].line, w[i].column);
        str_add(out, ": ");
        escape_terminal_z(out, w[i].function->name);
        str_add(out, *w[i].callee ? " passes it to " : " writes ");
        escape_terminal_z(out, *w[i].callee ? w[i].callee : *w[i].path ? w[i].path : "it");
        if (*w[i].callee && *w[i].path) {
            str_add(out, w[i].indirect ? ", by a pointer: " : ": ");
            escape_terminal_z(out, w[i].path);
            str_add(out, " is written there");
        }
        str_addc(out, '\n');
    }
}

static void explain_reasons(Study *st, const MutParam *p)
{
    Str *out = session_out(st->s);

    for (size_t i = 0; i < p->nreasons; i++) {
        const MutReason *r = &p->reasons[i];
        str_add(out, "  ");
        add_place(st, r->file, r->line, r->column);
        str_addf(out, ": %s: ", mut_reason_name(r->kind));
        escape_terminal_z(out, *r->path ? r->path : "it");
        str_addf(out, " %s", reason_text(r->kind));
        if (*r->callee) {
            str_add(out, " (");
            escape_terminal_z(out, r->callee);
            str_addc(out, ')');
        }
        str_addc(out, '\n');
    }
}

static void explain_answer(Study *st, const char *what, const MutAnswer *a)
{
    static const struct {
        MutStage stage;
        const char *text;
    } how[] = {
        { MUT_BY_S, "the function alone shows it" },
        { MUT_BY_SH, "the function alone shows it, for this parameter" },
        { MUT_BY_P, "the function and all that it calls show it" },
        { MUT_BY_M, "points-to shows that nothing writes through it, nor through a "
                    "stored copy of it" },
        { MUT_BY_D, "a run has shown it" },
        { MUT_BY_L, "likely: no write is known, and the obstacles seldom hide one" },
    };
    Str *out = session_out(st->s);

    str_addf(out, "%s: %s", what, mut_verdict_name(a->verdict));
    for (size_t i = 0; i < sizeof how / sizeof *how; i++)
        if (how[i].stage == a->stage)
            str_addf(out, " (stage %s: %s)", mut_stage_name(a->stage), how[i].text);
    if (a->verdict && !a->sound)
        str_add(out, a->verdict == MUT_MUTABLE
                         ? ", likely: by a call through a pointer, or by memory that may "
                           "hold something else"
                         : ", not proven");
    str_addc(out, '\n');
}

static bool why(Study *st, const char *what, Err *err)
{
    const MutParam *p = asked(st, what, err);
    Str *out = session_out(st->s);

    if (!p)
        return false;
    if (session_flag(st->s, "json")) {
        json_t *o = param_json(st, p);
        json_print(o, out);
        json_decref(o);
        return true;
    }
    add_line(st, p, NULL, err);
    MutAnswer deep = shown(st, &p->deep), own = shown(st, &p->own);
    explain_answer(st, "all that it leads to", &deep);
    if (deep.verdict == MUT_MUTABLE)
        explain_witness(st, p->witness, p->nwitness);
    explain_answer(st, "the object itself", &own);
    if (own.verdict == MUT_MUTABLE && p->nown_witness)
        explain_witness(st, p->own_witness, p->nown_witness);
    if (p->nreasons && (deep.verdict != MUT_MUTABLE || !own.verdict)) {
        str_add(out, "in the way of a proof:\n");
        explain_reasons(st, p);
    }
    if (p->unchanged)
        str_add(out, "unchanged: nobody writes it during the call, by whatever pointer\n");
    if (p->returned)
        str_add(out, "the result may point into it\n");
    if (deep.verdict == MUT_IMMUTABLE && deep.sound)
        str_add(out, "this leans on: the library summaries, the functions found for calls "
                     "through pointers, and no undefined behaviour\n");
    return true;
}

/* ---- the command */

static void count(Study *st)
{
    size_t n[3] = { 0 }, fns, total = 0;
    const Function *const *all = program_functions(st->p, &fns);

    for (size_t i = 0; i < fns; i++)
        for (unsigned k = 0; k < all[i]->nparams; k++) {
            const MutParam *p = mutability_param(st->m, all[i], k);
            if (!p || !p->pointer)
                continue;
            n[shown(st, &p->deep).verdict]++;
            total++;
        }
    session_note(st->s, "%zu pointer parameters: %zu immutable, %zu mutable, %zu unknown", total,
                 n[MUT_IMMUTABLE], n[MUT_MUTABLE], n[MUT_UNKNOWN]);
}

static void patch_json(Study *st, const PatchResult *r)
{
    json_t *list = json_array(), *o;

    for (size_t i = 0; i < r->offered.len; i++)
        json_array_append_new(list, param_json(st, r->offered.items[i]));
    o = json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "patch", json_text(str_c(&r->diff)),
                  "candidates", (json_int_t)r->candidates, "pinned", (json_int_t)r->pinned,
                  "refused", (json_int_t)r->refused, "places", (json_int_t)r->places, "files",
                  (json_int_t)r->files, "unread", (json_int_t)r->unread, "parameters", list);
    json_print(o, session_out(st->s));
    json_decref(o);
}

static bool patch(Study *st, Err *err)
{
    PatchPlan plan = { .session = st->s,
                       .program = st->p,
                       .mutability = st->m,
                       .shallow = st->shallow,
                       .likely = st->likely,
                       .abi_stable = session_flag(st->s, "abi-stable") };
    PatchResult r = { 0 };
    bool ok = patch_make(&plan, &r, err);

    if (ok && session_flag(st->s, "json"))
        patch_json(st, &r);
    else if (ok)
        str_addn(session_out(st->s), str_c(&r.diff), r.diff.len);
    if (ok)
        session_note(
            st->s,
            "%zu parameters are never written through; for %zu of them other "
            "code does not accept const, %zu did not compile, %zu are in the patch: %zu places in "
            "%zu files%s",
            r.candidates, r.pinned, r.refused, r.offered.len, r.places, r.files,
            r.by_two ? "; compiled by clang and by the build's compiler" : "");
    if (ok && r.unread)
        session_note(st->s, "%zu units could not be read", r.unread);
    patch_result_release(&r);
    return ok;
}

static bool say(Study *st, const char *program, Err *err)
{
    const char *what = session_option(st->s, "why");

    if (what)
        return why(st, what, err);
    if (session_flag(st->s, "patch"))
        return patch(st, err);
    ask_declarations(st);
    count(st);
    if (session_flag(st->s, "verdicts") && !session_flag(st->s, "json"))
        return each(st, add_line, NULL, err);
    if (!session_begin(st->s, program, err) || !each(st, report_param, NULL, err))
        return false;
    if (session_flag(st->s, "attributes") && !report_attributes(st, err))
        return false;
    json_t *list = json_array();
    each(st, add_json, list, err);
    session_json(st->s, "parameters", list);
    return true;
}

static bool write_facts(Study *st, Err *err)
{
    const char *file = session_option(st->s, "facts");
    Str text = { 0 };
    bool ok = true;

    if (file) {
        mut_facts_print(st->m, st->p, &text);
        ok = file_write(file, text.data, text.len, err);
        str_release(&text);
    }
    return ok && mut_facts_write(st->m, st->p, err);
}

/* What other programs may load; functions of which that is not possible, as remarks. */
static bool write_summaries(Study *st, Err *err)
{
    const char *file = session_option(st->s, "write-summaries"), *why;
    Str text = { 0 };
    size_t n, written = 0;
    const Function *const *fns = program_functions(st->p, &n);

    if (!file)
        return true;
    str_addf(&text,
             "# What functions of %s do, by sundew mutability. The format: docs/summaries.md.\n",
             path_base(program_captured(st->p)->path));
    for (size_t i = 0; i < n; i++) {
        if (!fns[i]->defined || fns[i]->linkage == LINKAGE_INTERNAL ||
            !strcmp(fns[i]->name, "main"))
            continue;
        if (mutability_summary(st->m, fns[i], &text, &why))
            written++;
        else
            str_addf(&text, "# %s: %s\n", fns[i]->name, why);
    }
    bool ok = file_write(file, text.data, text.len, err);
    str_release(&text);
    session_note(st->s, "%s: %zu functions", file, written);
    return ok;
}

static bool stop_asked(void *session) { return session_interrupted(session); }

static bool read_number(Session *s, const char *option, unsigned most, unsigned *out, Err *err)
{
    const char *text = session_option(s, option);
    char *end;
    unsigned long n = strtoul(text, &end, 10);

    if (end == text || *end || *text == '-' || n > most)
        return err_set(err, "--%s: not a number up to %u: %s", option, most, text);
    *out = (unsigned)n;
    return true;
}

/* A program to run, or a run of it. */
static bool go(Study *st, bool *finished, Err *err)
{
    Session *s = st->s;
    const CapturedProgram *c = program_captured(st->p);
    const char *asked = session_option(s, "output");
    DynamicPlan plan = { .session = s,
                         .program = st->p,
                         .calls = st->calls,
                         .mutability = st->m,
                         .absence = session_flag(s, "absence"),
                         .only_proven = session_flag(s, "sound") };

    if (!read_number(s, "absence-calls", 1000000000, &plan.calls_needed, err) ||
        !read_number(s, "absence-coverage", 100, &plan.coverage, err))
        return false;
    if (session_has_tail(s) && !dynamic_observe(&plan, err))
        return false;
    if (!(*finished = session_flag(s, "enforce")))
        return true;
    char *out =
        strcmp(asked, "PROGRAM.enforced") ? xstrdup(asked) : xprintf("%s.enforced", c->name);
    bool ok = dynamic_enforce(&plan, out, err);
    free(out);
    return ok;
}

static bool study(Study *st, const char *program, Err *err)
{
    bool finished = false;
    MutabilityPlan plan = { .stop = stop_asked, .arg = st->s };
    const char *observed = session_option(st->s, "observed");

    if (!mut_pipeline_read(session_option(st->s, "pipeline"), &plan.stages, err))
        return false;
    if (session_flag(st->s, "best-effort"))
        plan.stages |= MUT_BY_L;
    Declared *declared = calls_strangers(st->calls) ? declared_new(st->s) : NULL;
    if (declared) {
        plan.takes_const = declared_takes_const;
        plan.declared = declared;
    }
    st->m = mutability_new(st->p, st->calls, &plan);
    declared_free(declared);
    if (mutability_stopped(st->m)) {
        session_incomplete(st->s, "stopped before all functions were looked at");
        return session_begin(st->s, NULL, err);
    }
    if (observed && !mut_observations_read(st->m, st->p, observed, err))
        return false;
    if (!go(st, &finished, err) || !write_facts(st, err) || !write_summaries(st, err))
        return false;
    return finished || say(st, program, err);
}

/* Options that say nothing without another one. */
static bool check_options(Session *s, Err *err)
{
    unsigned stages;
    if (session_flag(s, "abi-stable") && !session_flag(s, "patch"))
        return err_set(err, "--abi-stable is about a patch: --patch --abi-stable");
    if (session_flag(s, "absence") && !session_has_tail(s))
        return err_set(err, "--absence is about a run: give a command after --");
    return mut_pipeline_read(session_option(s, "pipeline"), &stages, err);
}

static bool run(Session *s, Err *err)
{
    Study st = { .s = s,
                 .p = session_program(s),
                 .calls = session_calls(s),
                 .sound = session_flag(s, "sound"),
                 .shallow = session_flag(s, "shallow"),
                 .likely = session_flag(s, "best-effort") };
    bool ok = study(&st, program_captured(st.p)->name, err);
    patch_close(st.declarations);
    mutability_free(st.m);
    return ok;
}

const Command technique_mutability = {
    .name = "mutability",
    .args = "PROGRAM [-- COMMAND…]",
    .summary = "parameters that are never written through",
    .about = "Asks for each pointer parameter: can the function, or a function that it\n"
             "calls, use the pointer to change what it points to? The answer is mutable,\n"
             "with the store that shows it; immutable, proven; or unknown, with the reason.\n"
             "Reports parameters that could point to const, and parameters that point to\n"
             "const although the function writes through them.\n"
             "\n"
             "After -- stands a command that runs the program, or its tests. The command\n"
             "gets a private view of the project, in which a version that watches writes\n"
             "stands in the program's place. What it sees settles what was unknown. Your\n"
             "files stay as they are: what the command writes in the project's folder is\n"
             "gone afterwards. The tests of an archive must link with it anew.\n"
             "\n"
             "With --enforce it makes a program that stops at a write through a parameter\n"
             "that is proven immutable, or that points to const (with --sound: only if it\n"
             "is proven). With SUNDEW_ENFORCE=log in its environment that program only\n"
             "reports the write and continues.\n"
             "\n"
             "The result stays in the workspace, where other commands read it.",
    .examples = "sundew mutability ./prog\n"
                "sundew mutability ./prog --verdicts\n"
                "sundew mutability libfoo.a --why foo_add:item\n"
                "sundew mutability ./prog --patch > const.patch\n"
                "sundew mutability ./prog --pipeline S-P --json\n"
                "sundew mutability ./prog -- make check\n"
                "sundew mutability ./prog --enforce -o prog.enforced\n",
    .options = options,
    .rules = rules,
    .needs = NEEDS_STORE | NEEDS_CALLS,
    .check = check_options,
    .plan = mutability_plan,
    .run = run,
};
