/* Programs woven for events: see events.h. The table of objects is kept in a file of
 * its own, made by the same recipe as the programs. */
#include "build/events.h"
#include "base/file.h"
#include "base/json.h"
#include "build/build.h"
#include "build/woven.h"
#include "capture/recompile.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct Making {
    const EventsBuildPlan *plan;
    const char *driver;              /* C; NULL: none */
    json_t *objects;
    EventsFigures figures;
} Making;

/* ---- weaving */

/* The driver, as a part of the program. */
static bool weave_loop(const Making *m, Woven *w, Err *err)
{
    const EventsBuildPlan *plan = m->plan;
    if (!m->driver)
        return true;
    char *clang = clang_find(), *source = path_join(plan->folder, "loop.c");
    char *out = path_join(plan->folder, "loop.bc");
    char *argv[] = {
        clang,  "-O1", "-fPIC", "-w", "-fno-builtin", "-fvisibility=hidden", "-emit-llvm", "-c",
        source, "-o",  out,     NULL
    };
    bool ok = (clang || err_set(err, "clang-19 is missing")) &&
              file_write(source, m->driver, strlen(m->driver), err) &&
              recompile_tool(argv, NULL, NULL, err) &&
              weave_make_visible(w, plan->loop->symbol, err) && weave_link(w, out, err);
    free(clang);
    free(source);
    free(out);
    return ok;
}

static Woven *begin(Making *m, Err *err)
{
    const EventsBuildPlan *plan = m->plan;
    Woven *w = weave_begin(plan->program, err);
    json_decref(m->objects);
    m->objects = json_array();
    if (w && weave_loop(m, w, err) &&
        weave_events(w, plan->loop ? plan->loop->symbol : NULL, plan->libexec, m->objects,
                     &m->figures, err))
        return w;
    weave_end(w);
    return NULL;
}

static bool make_watched(void *arg, const char *out, Err *err)
{
    Making *m = arg;
    const EventsBuildPlan *plan = m->plan;
    Woven *w = begin(m, err);
    bool ok = w != NULL;
    if (ok) {
        weave_event_accesses(w);
        ok = weave_coverage(w, plan->edges, err);
        weave_heap_books(w);
        if (!plan->no_sanitizers)
            weave_asan(w);
    }
    ok = ok && weave_input(w, plan->libexec, err) &&
         weave_runtime(w, plan->libexec, "watched", err) &&
         weave_runtime(w, plan->libexec, "forkserver", err) &&
         woven_build(w, &(WovenBuild){ .out = out, .level = 1 }, err);
    weave_end(w);
    return ok || err_ctx(err, "the build that watches events");
}

static bool summarise(const EventsBuildPlan *plan, Woven *w, Err *err)
{
    for (const Function *const *f = plan->summarised; f && *f; f++)
        if (!weave_summarise(w, (*f)->symbol, err))
            return false;
    return true;
}

static bool weave_followed(Making *m, const Standins *standins, const char *out, Err *err)
{
    const EventsBuildPlan *plan = m->plan;
    /* the analysis knows the program without what weave_events() put into it */
    ConcolicPlan concolic = { .edges = plan->edges, .standins = standins, .full = true };
    Woven *w = begin(m, err);
    bool ok = w && summarise(plan, w, err) && weave_standins(w, standins, plan->libexec, err) &&
              weave_concolic(w, &concolic, err) && weave_input(w, plan->libexec, err) &&
              weave_runtime(w, plan->libexec, "concolic", err) &&
              weave_runtime(w, plan->libexec, "events", err) &&
              weave_runtime(w, plan->libexec, "forkserver", err) &&
              woven_build(w, &(WovenBuild){ .out = out, .level = 1 }, err);
    weave_end(w);
    return ok;
}

static bool make_followed(void *arg, const char *out, Err *err)
{
    Making *m = arg;
    char *folder = path_join(m->plan->share, "standins");
    Standins *standins = standins_new();
    bool ok = standins_read_folder(standins, folder, err) && weave_followed(m, standins, out, err);
    standins_free(standins);
    free(folder);
    return ok || err_ctx(err, "the build that follows events");
}

static bool make_objects(void *arg, const char *out, Err *err)
{
    Making *m = arg;
    Woven *w = begin(m, err);
    bool ok = w != NULL;
    weave_end(w);
    if (ok) {
        json_t *all = json_pack("{s:O,s:I,s:I,s:b}", "objects", m->objects, "boundaries",
                                (json_int_t)m->figures.boundaries, "lost",
                                (json_int_t)m->figures.lost, "threads", m->figures.thread_local_);
        ok = json_write(out, all, err);
        json_decref(all);
    }
    return ok || err_ctx(err, "the table of the state");
}

/* ---- reading the table */

static bool read_objects(const char *path, EventsBuild *out, Err *err)
{
    json_t *all = json_read(path, err), *row;
    if (!all)
        return false;
    const json_t *objects = json_object_get(all, "objects");
    size_t i;
    out->nobjects = json_array_size(objects);
    out->objects = arena_array(&out->arena, EventObject, out->nobjects + 1);
    json_array_foreach(objects, i, row)
    {
        const char *name = json_string_value(json_object_get(row, "name"));
        out->objects[i] = (EventObject){ .name = arena_strdup(&out->arena, name ? name : ""),
                                         .size = (uint64_t)json_int(row, "size", 0),
                                         .value = json_is_true(json_object_get(row, "value")),
                                         .dead = json_is_true(json_object_get(row, "dead")) };
    }
    out->figures = (EventsFigures){
        .boundaries = (size_t)json_int(all, "boundaries", 0),
        .lost = (size_t)json_int(all, "lost", 0),
        .thread_local_ = json_is_true(json_object_get(all, "threads")),
    };
    json_decref(all);
    return true;
}

/* ---- recipes */

static char *get(Making *m, const char *name, const char *const *runtimes, const char *const *files,
                 BuildMake *make, Err *err)
{
    const EventsBuildPlan *plan = m->plan;
    Str variant = { 0 };
    str_addf(&variant, "%s %s", plan->loop ? plan->loop->symbol : "",
             plan->no_sanitizers ? "plain" : "asan");
    for (const Function *const *f = plan->summarised; f && *f; f++)
        str_addf(&variant, " %s", (*f)->symbol);
    BuildRecipe r = { .program = plan->program,
                      .name = name,
                      .variant = str_c(&variant),
                      .driver = m->driver,
                      .runtimes = runtimes,
                      .libexec = plan->libexec,
                      .files = files,
                      .make = make,
                      .arg = m };
    char *path = build_get(&r, err);
    str_release(&variant);
    return path;
}

static bool get_all(Making *m, EventsBuild *out, Err *err)
{
    static const char *const watched[] = { "adapters", "watched", "input", "forkserver", NULL };
    static const char *const followed[] = { "adapters", "events",     "standins", "concolic",
                                            "input",    "forkserver", NULL };
    char *standins = path_join(m->plan->share, "standins");
    const char *const files[] = { standins, NULL };
    char *objects = get(m, "events.objects", watched, NULL, make_objects, err);
    out->watched = objects ? get(m, "events-watched", watched, NULL, make_watched, err) : NULL;
    out->followed =
        out->watched ? get(m, "events-followed", followed, files, make_followed, err) : NULL;
    bool ok = out->followed && read_objects(objects, out, err);
    free(objects);
    free(standins);
    return ok;
}

bool build_events(const EventsBuildPlan *plan, EventsBuild *out, Err *err)
{
    Str driver = { 0 };
    assert(plan->program && plan->edges && plan->folder);
    *out = (EventsBuild){ 0 };
    bool ok = !plan->loop || loop_write(plan->loop, &out->layout, &driver, err);
    Making m = { .plan = plan, .driver = plan->loop ? str_c(&driver) : NULL };
    ok = ok && get_all(&m, out, err);
    json_decref(m.objects);
    str_release(&driver);
    if (!ok)
        events_build_release(out);
    return ok;
}

void events_build_release(EventsBuild *b)
{
    free(b->watched);
    free(b->followed);
    layout_release(&b->layout);
    arena_release(&b->arena);
    *b = (EventsBuild){ 0 };
}
