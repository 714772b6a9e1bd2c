/*
 * The link of a woven module: the build's own command with our object in the place
 * of the units that are in it. Units that are not in the module stay as they were.
 */
#include "build/woven.h"
#include "build/build.h"
#include "base/file.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "capture/recompile.h"
#include "capture/relink.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The units that are in the module. */
static void units_of(const Program *program, const CapturedProgram *c, Map *units)
{
    size_t n;
    Map out = { 0 };
    const ProgramNote *notes = program_notes(program, &n);
    for (size_t i = 0; i < n; i++)
        if (notes[i].left_out)
            map_put(&out, notes[i].unit, NULL);
    for (size_t i = 0; i < c->nunits; i++)
        if (!map_has(&out, c->units[i]->source))
            map_put(units, c->units[i]->id, NULL);
    map_release(&out);
}

/* From bitcode alone there is no command: the compiler's own default. */
static void plain_command(char *const *more, const char *object, const char *out, Strings *argv)
{
    strings_add(argv, "cc");
    strings_add(argv, object);
    for (; *more; more++)
        strings_add(argv, *more);
    strings_add(argv, "-o");
    strings_add(argv, out);
}

static bool run_linker(Strings *argv, const char *cwd, Err *err)
{
    ProcResult r = { 0 };
    Proc p = { .argv = strings_argv(argv), .cwd = cwd, .capture = true };
    bool ok = proc_run(&p, &r, err);
    if (ok && r.status != 0) {
        for (size_t i = 0; i < r.err.len; i++)
            if (r.err.data[i] == '\n')
                r.err.data[i] = ' ';
        ok = err_set(err, "the link failed: %.600s%s", str_c(&r.err), r.err.len > 600 ? "…" : "");
    }
    proc_result_release(&r);
    return ok;
}

/*
 * Sources may read otherwise to clang than to the build's compiler, and call
 * what only clang's reading of another file defines: a member of an archive that
 * the build's linker had no use for. An archive of such members, made from their
 * bitcode; NULL: there are none.
 */
static char *make_spare(const Strings *bitcode, bool fixed, const char *scratch)
{
    char *clang = clang_find(), *folder = path_join(scratch, "spare");
    char *archive = path_join(folder, "libspare.a");
    Strings compile = { 0 }, ar = { 0 };
    strings_add(&compile, clang ? clang : "clang");
    strings_add(&compile, fixed ? "-fno-pic" : "-fPIC");
    strings_add(&compile, "-O1");
    strings_add(&compile, "-w");
    strings_add(&compile, "-c");
    strings_add(&ar, "ar");
    strings_add(&ar, "rcs");
    strings_add(&ar, archive);
    for (size_t i = 0; i < bitcode->len; i++) {
        const char *name = path_base(bitcode->items[i]);
        strings_add(&compile, bitcode->items[i]);
        strings_addf(&ar, "%.*s.o", (int)strcspn(name, "."), name);
    }
    bool ok = clang && bitcode->len && dir_make(folder, NULL) &&
              recompile_tool(strings_argv(&compile), folder, NULL, NULL) &&
              recompile_tool(strings_argv(&ar), folder, NULL, NULL);
    if (!ok) {
        free(archive);
        archive = NULL;
    }
    strings_release(&compile);
    strings_release(&ar);
    free(clang);
    free(folder);
    return archive;
}

/* The build's own command with our object; if that fails once more, with the
 * members that the build had no use for. */
static bool link_captured(const Program *p, Relink *r, Err *err)
{
    Strings argv = { 0 }, spare = { 0 };
    Workspace *ws = program_workspace(p);
    const CapturedProgram *c = program_captured(p);
    r->spare = &spare;
    bool ok = relink_command(ws, c, r, &argv, err);
    if (ok && !run_linker(&argv, c->link_directory, err)) {
        char *archive = make_spare(&spare, relink_is_static(c), r->scratch);
        char *both[] = { r->objects[0], archive, NULL };
        Relink again = *r;
        again.objects = both;
        again.spare = NULL;
        strings_release(&argv);
        argv = (Strings){ 0 };
        ok = archive && relink_command(ws, c, &again, &argv, NULL) &&
             run_linker(&argv, c->link_directory, NULL);
        free(archive);
    }
    strings_release(&argv);
    strings_release(&spare);
    return ok;
}

static bool link_object(const Woven *w, const WovenBuild *plan, const char *object,
                        const char *scratch, Err *err)
{
    const Program *p = weave_program(w);
    char *out = path_absolute(plan->out);
    char *objects[] = { (char *)object, NULL };
    Strings argv = { 0 }, more = { 0 };
    Map units = { 0 };
    bool ok;
    for (char *const *m = plan->more; m && *m; m++)
        strings_add(&more, *m);
    if (weave_has_asan(w))
        strings_add(&more, "-fsanitize=address");
    if (program_captured(p)) {
        units_of(p, program_captured(p), &units);
        Relink r = { .units = &units,
                     .objects = objects,
                     .more = strings_argv(&more),
                     .out = out,
                     .scratch = scratch,
                     .no_fuzzer = weave_has_main(w) };
        ok = link_captured(p, &r, err);
    } else {
        plain_command(strings_argv(&more), object, out, &argv);
        ok = run_linker(&argv, NULL, err);
    }
    map_release(&units);
    strings_release(&argv);
    strings_release(&more);
    free(out);
    return ok;
}

static bool make_whole(Woven *w, const WovenBuild *plan, Err *err)
{
    const CapturedProgram *c = program_captured(weave_program(w));
    WeaveObject how = { .level = plan->level,
                        .unoptimised = plan->unoptimised,
                        .rename_main = plan->rename_main,
                        .visible = plan->visible,
                        .lines_only = plan->lines_only,
                        .fixed = c && relink_is_static(c) };
    assert(plan->out && *plan->out);
    if (plan->object_only)
        return weave_object(w, &how, plan->out, err);
    const char *scratch = tempdir_new(NULL, err);
    if (!scratch)
        return false;
    char *object = path_join(scratch, "woven.o");
    bool ok = weave_object(w, &how, object, err) && link_object(w, plan, object, scratch, err);
    free(object);
    tempdir_remove(scratch);
    return ok;
}

typedef struct Making {
    Woven *woven;
    const WovenBuild *plan;
} Making;

static bool make_file(void *arg, Err *err)
{
    const Making *m = arg;
    return make_whole(m->woven, m->plan, err);
}

bool woven_build(Woven *w, const WovenBuild *plan, Err *err)
{
    Making m = { w, plan };
    return build_in_time(weave_program(w), make_file, &m, err);
}
