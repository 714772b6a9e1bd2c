/*
 * The evidence that a command works on, opened in one place: the captured
 * program, its calls, its API, the source as libclang sees it.
 *
 * A row's `needs` says what run() finds open. Each kind stands on another:
 *
 *     NEEDS_PROGRAM ◀── NEEDS_CALLS ◀── NEEDS_API        NEEDS_AST
 *
 * What is open stays open until the command has ended.
 */
#include "capture/recompile.h"
#include "analysis/pointsto/calls.h"
#include "ast/ast.h"
#include "base/file.h"
#include "base/units.h"
#include "engine/api/api.h"
#include "program/program.h"
#include "session/session_int.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NOTES = 10 };       /* of a program, unless -v is given */

/* ---- programs */

/* Units that are not what was captured. */
static void say_damage(Session *s, const CapturedProgram *c)
{
    for (size_t i = 0; i < c->nfailed; i++)
        if (c->failed[i]->damaged)
            session_note(s, "%s: %s", c->failed[i]->source, c->failed[i]->reason);
    for (size_t i = 0; i < c->nmissing; i++)
        if (c->missing[i].damaged)
            session_note(s, "%s: %s", c->missing[i].object, c->missing[i].reason);
    if (c->ndamaged)
        session_incomplete(s,
                           "%zu unit%s of %s %s damaged in the workspace: build again (sundew "
                           "doctor tells which)",
                           c->ndamaged, c->ndamaged == 1 ? "" : "s", c->name,
                           c->ndamaged == 1 ? "is" : "are");
}

/* Units that are missing and the like: every command says them. */
static void say_notes(Session *s, const Program *p)
{
    size_t n;
    const ProgramNote *notes = program_notes(p, &n);
    const CapturedProgram *c = program_captured(p);
    size_t missing = c->nmissing + c->nfailed;
    s->missing += missing;
    if (missing)
        session_note(s,
                     "%s: %zu of %zu units %s missing (sundew show programs -v lists "
                     "them)",
                     c->name, missing, missing + c->nunits, missing == 1 ? "is" : "are");
    say_damage(s, c);
    if (missing && !c->ndamaged)
        session_incomplete(s, "%zu of %zu units of %s %s missing", missing, missing + c->nunits,
                           c->name, missing == 1 ? "is" : "are");
    size_t shown = session_verbose(s) || n <= MOST_NOTES ? n : MOST_NOTES;
    for (size_t i = 0; i < shown; i++)
        session_note(s, "%s: %s", notes[i].unit, notes[i].text);
    if (shown < n)
        session_note(s, "%zu more such notes; -v shows all of them", n - shown);
}

const Program *session_open_program(Session *s, const char *name, Err *err)
{
    assert(s->workspace && name);
    const CapturedProgram *c = workspace_program(s->workspace, name, err);
    if (!c)
        return NULL;
    for (size_t i = 0; i < s->programs.len; i++)
        if (strcmp(program_captured(s->programs.items[i])->path, c->path) == 0)
            return s->programs.items[i];
    Program *p = program_open(s->workspace, workspace_with_libraries(s->workspace, c), err);
    if (!p) {              /* who can do without it goes on, and is not complete */
        say_damage(s, c);
        if (c->nunits && !c->ndamaged) /* seen only when its bitcode is read */
            session_incomplete(s, "%s can't be opened: %s", c->name, err ? err->msg : "");
        return NULL;
    }
    say_notes(s, p);
    vec_push(&s->programs, p);
    return p;
}

/* How many arguments a usage line such as "PROGRAM [NAME…] [-- ARGS]" admits
 * before "--". */
static size_t most_args(const char *usage)
{
    const char *end = strstr(usage, "--");
    size_t n = 0, len = end ? (size_t)(end - usage) : strlen(usage);
    char *words = xstrndup(usage, len), *rest = NULL;
    bool many = strstr(words, "…") != NULL;
    for (char *w = strtok_r(words, " []", &rest); w; w = strtok_r(NULL, " []", &rest))
        n++;
    free(words);
    return many ? SIZE_MAX : n;
}

/* The first argument names it. */
static bool need_program(Session *s, Err *err)
{
    if (s->program)
        return true;
    assert(s->command->args);
    if (!s->args.len)
        return err_set(err,
                       "which program? Usage: sundew %s %s "
                       "(sundew show programs lists the programs)",
                       s->command->name, s->command->args);
    if (s->args.len > most_args(s->command->args))
        return err_set(err, "'%s' is one argument too many. Usage: sundew %s %s",
                       s->args.items[most_args(s->command->args)], s->command->name,
                       s->command->args);
    s->program = session_open_program(s, s->args.items[0], err);
    return s->program != NULL;
}

/* ---- calls and API */

/* A library can be called by anybody: then every exported function is an entry. */
static bool need_calls(Session *s, bool open_world, Err *err)
{
    if (s->calls)
        return true;
    CallsPlan plan = { .share = s->share,
                       .root = s->root,
                       .kept = true,
                       .summaries = session_option_all(s, "summaries"),
                       .open_world = open_world };
    s->calls = calls_open(s->program, &plan, err);
    return s->calls != NULL;
}

/* Options of the row, if it has them: --headers, --cflags. */
static bool need_api(Session *s, Err *err)
{
    if (s->api)
        return true;
    char **headers = session_option_all(s, "headers");
    char *handles = path_join(s->root, "sundew.handles");
    Strings flags = { 0 }, folders = { 0 };
    for (char **f = session_option_all(s, "cflags"); f && *f; f++)
        strings_add(&flags, *f);
    recompile_include_folders(program_captured(s->program), &folders);
    for (size_t i = 0; i < folders.len; i++)
        strings_addf(&flags, "-I%s", folders.items[i]);
    ApiPlan plan = { .headers = *headers ? headers : NULL,
                     .handles = handles,
                     .flags = strings_argv(&flags),
                     .calls = s->calls };
    s->api = api_open(s->program, &plan, err);
    strings_release(&flags);
    strings_release(&folders);
    free(handles);
    return s->api != NULL;
}

/* ---- AST */

static bool is_interrupted(void *s) { return session_interrupted(s); }

AstIndex *session_open_ast(Session *s, Workspace *ws, const char *root, char **paths, size_t npaths,
                           Err *err)
{
    CompileCommands commands = { 0 };
    AstIndex *ix = NULL;
    if (ast_commands(ws, root, paths, npaths, &commands, err)) {
        char *cache = ws ? path_join(workspace_dir(ws), "ast") : NULL;
        AstPlan plan = { .commands = &commands,
                         .root = root,
                         .cache = cache,
                         .jobs = session_jobs(s),
                         .memory = session_memory(s),
                         .stop = is_interrupted,
                         .arg = s };
        ix = ast_open(&plan, err);
        free(cache);
    }
    commands_release(&commands);
    return ix;
}

/* Objects that were linked and never seen by the capture: the source of all units is not
 * all of the source then. */
static bool count_unseen(Session *s, Err *err)
{
    size_t n, unseen = 0;
    Map seen = { 0 };
    const CapturedProgram **all = s->workspace ? workspace_programs(s->workspace, &n, err) : NULL;
    for (size_t i = 0; all && i < n; i++)
        for (size_t k = 0; k < all[i]->nmissing; k++)
            unseen += map_put(&seen, all[i]->missing[k].object, NULL);
    map_release(&seen);
    s->missing += unseen;
    if (unseen)
        session_incomplete(s,
                           "%zu unit%s of the captured programs %s missing (sundew show "
                           "programs -v lists them)",
                           unseen, unseen == 1 ? "" : "s", unseen == 1 ? "is" : "are");
    return !s->workspace || all;
}

/* Units that could not be read are said, and the run is incomplete. */
static bool need_ast(Session *s, Err *err)
{
    if (s->ast)
        return true;
    AstIndex *ix =
        session_open_ast(s, s->workspace, s->root, strings_argv(&s->args), s->args.len, err);
    s->ast = ix;
    if (!ix)
        return false;
    if (!ix->nunits && ix->nnotes)
        return err_set(err, "none of %zu units could be analysed; the first: %s: %s", ix->nnotes,
                       ix->notes[0].file, ix->notes[0].text);
    for (size_t i = 0; i < ix->nnotes; i++)
        session_note(s, "%s: not analysed: %s", ix->notes[i].file, ix->notes[i].text);
    s->missing += ix->nnotes;
    if (ix->nnotes)
        session_incomplete(s, "%zu of %zu units were not analysed", ix->nnotes,
                           ix->nunits + ix->nnotes);
    return s->args.len || count_unseen(s, err);
}

/* ---- how much was looked at */

/* In another unit than before? */
static bool is_new(Map *seen, const CapturedProgram *c, size_t i)
{
    return map_put(seen, c->units[i]->id, NULL);
}

void evidence_examined(const Session *s, Str *out)
{
    char text[40];
    size_t functions = 0, units = 0, n;
    Map seen = { 0 };
    for (size_t i = 0; i < s->programs.len; i++) {
        const CapturedProgram *c = program_captured(s->programs.items[i]);
        program_functions(s->programs.items[i], &n);
        functions += n;
        for (size_t k = 0; c && k < c->nunits; k++)
            units += is_new(&seen, c, k);
    }
    map_release(&seen);
    if (s->ast) {
        str_addf(out, "%s call%s", count_format(s->ast->ncalls, text),
                 s->ast->ncalls == 1 ? "" : "s");
        units = s->ast->nunits;
    } else if (functions) {
        str_addf(out, "%s function%s", count_format(functions, text), functions == 1 ? "" : "s");
    }
    if (out->len)
        str_addf(out, " in %s unit%s", count_format(units, text), units == 1 ? "" : "s");
    if (s->examined.len)
        str_addf(out, "%s%s", out->len ? ", " : "", str_c(&s->examined));
    if (s->missing)
        str_addf(out, "; %s unit%s missing", count_format(s->missing, text),
                 s->missing == 1 ? "" : "s");
}

/* ---- places */

static const char *placed(const Session *s, Arena *a, const char *file)
{
    if (!file || *file == '/')
        return file;
    char *path = path_in(s->root, file);
    bool there = file_exists(path);
    free(path);
    for (size_t i = 0; !there && i < s->programs.len; i++) {
        const CapturedProgram *c = program_captured(s->programs.items[i]);
        for (size_t k = 0; c && k < c->nunits; k++) {
            char *full = path_in(c->units[k]->directory, file);
            const char *found = file_exists(full) ? arena_strdup(a, full) : NULL;
            free(full);
            if (found)
                return found;
        }
    }
    return file;
}

static EvidenceStep *placed_steps(const Session *s, Arena *a, const EvidenceStep *steps, size_t n)
{
    EvidenceStep *all = arena_array(a, EvidenceStep, n);
    for (size_t i = 0; i < n; i++) {
        all[i] = steps[i];
        all[i].at.file = placed(s, a, steps[i].at.file);
    }
    return all;
}

Finding evidence_placed(const Session *s, Arena *a, const Finding *f)
{
    Finding mine = *f;
    mine.where.file = placed(s, a, f->where.file);
    mine.steps = placed_steps(s, a, f->steps, f->nsteps);
    mine.related = placed_steps(s, a, f->related, f->nrelated);
    return mine;
}

/* ---- together */

bool session_need(Session *s, unsigned what, Err *err)
{
    bool api = what & NEEDS_API, calls = api || what & NEEDS_CALLS;
    bool program = calls || what & NEEDS_PROGRAM;
    return (!program || need_program(s, err)) && (!calls || need_calls(s, api, err)) &&
           (!api || need_api(s, err)) && (!(what & NEEDS_AST) || need_ast(s, err));
}

const Program *session_program(const Session *s)
{
    assert(s->program);
    return s->program;
}

bool session_executable(const Session *s, const char *done, Err *err)
{
    static const char *const kinds[] = {
        [PROGRAM_SHARED] = "a shared library",
        [PROGRAM_ARCHIVE] = "an archive",
        [PROGRAM_OBJECT] = "an object file",
    };
    const CapturedProgram *c = program_captured(session_program(s));
    assert(c->kind == PROGRAM_EXECUTABLE || kinds[c->kind]);
    return c->kind == PROGRAM_EXECUTABLE ||
           err_set(err,
                   "%s is %s, and only an executable can be %s: name one that is linked with "
                   "it (sundew show programs lists them)",
                   c->name, kinds[c->kind], done);
}

const Calls *session_calls(const Session *s)
{
    assert(s->calls);
    return s->calls;
}

Api *session_api(const Session *s)
{
    assert(s->api);
    return s->api;
}

const AstIndex *session_ast(const Session *s)
{
    assert(s->ast);
    return s->ast;
}

void evidence_release(Session *s)
{
    ast_close(s->ast);
    api_close(s->api);
    calls_close(s->calls);
    for (size_t i = 0; i < s->programs.len; i++)
        program_close(s->programs.items[i]);
    vec_release(&s->programs);
}
