/* sundew show programs | units | commands: what was captured. */
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "capture/capture.h"
#include "command/command_rows.h"
#include "session/session.h"
#include <stdlib.h>

/* ---- programs */

static json_t *program_json(const CapturedProgram *p)
{
    json_t *missing = json_array();
    for (size_t i = 0; i < p->nmissing; i++)
        json_array_append_new(missing,
                              json_pack("{s:o, s:o}", "object", json_text(p->missing[i].object),
                                        "reason", json_text(p->missing[i].reason)));
    for (size_t i = 0; i < p->nfailed; i++)
        json_array_append_new(missing,
                              json_pack("{s:o, s:o}", "object", json_text(p->failed[i]->source),
                                        "reason", json_text(p->failed[i]->reason)));
    return json_pack("{s:o, s:o, s:s, s:I, s:o, s:I}", "name", json_text(p->name), "path",
                     json_text(p->path), "kind", program_kind_name(p->kind), "units",
                     (json_int_t)p->nunits, "missing", missing, "foreign", (json_int_t)p->nforeign);
}

static void program_text(Session *s, const CapturedProgram *p)
{
    Str *out = session_out(s);
    char *here = path_absolute("."), *path = path_relative(p->path, here);
    free(here);
    str_addf(out, "%-10s %4zu unit%s", program_kind_name(p->kind), p->nunits,
             p->nunits == 1 ? " " : "s");
    if (p->nmissing + p->nfailed)
        str_addf(out, ", %zu missing", p->nmissing + p->nfailed);
    str_add(out, "  ");
    escape_terminal_z(out, path);
    str_addc(out, '\n');
    free(path);
    if (!session_verbose(s))
        return;
    for (size_t i = 0; i < p->nmissing + p->nfailed; i++) {
        bool object = i < p->nmissing;
        str_add(out, "    missing ");
        escape_terminal_z(out, object ? p->missing[i].object : p->failed[i - p->nmissing]->source);
        str_add(out, ": ");
        escape_terminal_z(out, object ? p->missing[i].reason : p->failed[i - p->nmissing]->reason);
        str_addc(out, '\n');
    }
}

static bool run_programs(Session *s, Err *err)
{
    size_t n;
    const CapturedProgram **all = workspace_programs(session_workspace(s), &n, err);
    if (!all)
        return false;
    if (session_flag(s, "json")) {
        json_t *list = json_array();
        for (size_t i = 0; i < n; i++)
            json_array_append_new(list, program_json(all[i]));
        json_print(list, session_out(s));
        json_decref(list);
        return true;
    }
    for (size_t i = 0; i < n; i++)
        program_text(s, all[i]);
    if (!n)
        session_note(s, "no program was linked under capture");
    return true;
}

const Command command_show_programs = {
    .name = "show programs",
    .summary = "the programs, libraries and archives that were captured",
    .about = "Each with its kind, the number of captured C units in it, and what "
             "is missing. -v lists the missing objects with the reason.",
    .examples = "sundew show programs\nsundew show programs --json\n",
    .needs = NEEDS_CAPTURE,
    .run = run_programs,
};

/* ---- units */

static json_t *unit_json(const Unit *u)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "id", json_text(u->id),
                     "source", json_text(u->source), "directory", json_text(u->directory), "output",
                     json_text(u->output), "language", json_text(u->language), "status",
                     unit_status_name(u->status), "reason", json_text(u->reason), "bitcode",
                     json_text(u->bitcode), "dropped",
                     json_strings(u->dropped.items, u->dropped.len));
}

static void unit_text(Session *s, const Unit *u)
{
    Str *out = session_out(s);
    char *path = path_relative(u->source, session_root(s));
    str_addf(out, "%-9s ", unit_status_name(u->status));
    escape_terminal_z(out, path);
    if (*u->reason) {
        str_add(out, ": ");
        escape_terminal_z(out, u->reason);
    }
    str_addc(out, '\n');
    free(path);
}

static bool run_units(Session *s, Err *err)
{
    size_t n;
    char **args = session_args(s, &n);
    if (n != 1)
        return err_set(err, "show the units of which program? "
                            "(sundew show programs lists them)");
    const CapturedProgram *p = workspace_program(session_workspace(s), args[0], err);
    if (!p)
        return false;
    const struct {
        const Unit **units;
        size_t n;
    } lists[] = {
        { p->units, p->nunits },
        { p->failed, p->nfailed },
        { p->foreign, p->nforeign },
    };
    json_t *all = json_array();
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < lists[k].n; i++) {
            json_array_append_new(all, unit_json(lists[k].units[i]));
            if (!session_flag(s, "json"))
                unit_text(s, lists[k].units[i]);
        }
    if (session_flag(s, "json"))
        json_print(all, session_out(s));
    json_decref(all);
    return true;
}

const Command command_show_units = {
    .name = "show units",
    .args = "PROGRAM",
    .summary = "the units a program is made of",
    .about = "PROGRAM is the path of an executable, shared library, archive or "
             "object of a captured build, or its name in the workspace.",
    .examples = "sundew show units ./prog\nsundew show units libfoo.a --json\n",
    .needs = NEEDS_CAPTURE,
    .run = run_units,
};

/* ---- commands */

static bool run_commands(Session *s, Err *err)
{
    CompileCommands all = { 0 };
    if (!commands_of_workspace(session_workspace(s), &all, err))
        return false;
    json_t *list = json_array();
    for (size_t i = 0; i < all.len; i++) {
        CompileCommand *c = &all.items[i];
        json_t *o = json_pack("{s:o, s:o, s:o}", "directory", json_text(c->directory), "file",
                              json_text(c->file), "arguments",
                              json_strings(c->arguments.items, c->arguments.len));
        if (*c->output)
            json_object_set_new(o, "output", json_text(c->output));
        json_array_append_new(list, o);
    }
    const char *file = session_option(s, "output");
    bool ok = true;
    if (file)
        ok = json_write(file, list, err);
    else
        json_print(list, session_out(s));
    json_decref(list);
    commands_release(&all);
    return ok;
}

static const Option commands_options[] = {
    { "output", 'o', "FILE", "write to this file instead of standard output", NULL },
    { 0 },
};

const Command command_show_commands = {
    .name = "show commands",
    .summary = "the compiler calls, as a compile_commands.json",
    .about = "For clangd, clang-tidy and other tools that read a compilation "
             "database.",
    .examples = "sundew show commands -o compile_commands.json\n"
                "sundew show commands | jq length\n",
    .options = commands_options,
    .needs = NEEDS_CAPTURE,
    .run = run_commands,
};
