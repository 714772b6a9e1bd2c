/* Programs woven for scheduling: see schedule.h. The sites are kept in a file of
 * their own, made by the same recipe as the program. */
#include "build/schedule.h"
#include "base/file.h"
#include "base/json.h"
#include "build/build.h"
#include "build/library.h"
#include "build/woven.h"
#include <assert.h>
#include <inttypes.h>
#include <string.h>

typedef struct Making {
    const Program *program;
    const Calls *calls;              /* NULL: without points-to */
    const char *libexec;
    bool strict;
    bool only_sites;                 /* the table, not the program */
    bool library;                    /* a shared object */
    bool exposed;                    /* … with all that is static */
    char *const *link;
} Making;

static bool write_sites(json_t *sites, const ScheduleFigures *f, const char *out, Err *err)
{
    json_t *all =
        json_pack("{s:O,s:I,s:I,s:I}", "sites", sites, "accesses", (json_int_t)f->accesses,
                  "escaping", (json_int_t)f->escaping, "probed", (json_int_t)f->probed);
    bool ok = json_write(out, all, err);
    json_decref(all);
    return ok;
}

/* What is linked besides: the words of the library, and the runtime. Only its probe is woven in. */
static void link_words(const Making *m, Strings *words)
{
    for (char *const *w = m->link; w && *w; w++)
        strings_add(words, *w);
    strings_addf(words, "%s/runtime/schedule.o", m->libexec);
    strings_addf(words, "%s/runtime/forkserver.o", m->libexec);
}

static bool link_woven(const Making *m, Woven *w, const char *out, Err *err)
{
    Strings words = { 0 };
    link_words(m, &words);
    char *const *more = strings_argv(&words);
    bool ok = m->library
                  ? library_link_woven(w, &(LibraryPlan){ .link = more }, out, err)
                  : woven_build(w, &(WovenBuild){ .out = out, .level = 1, .more = more }, err);
    strings_release(&words);
    return ok;
}

static bool make(void *arg, const char *out, Err *err)
{
    const Making *m = arg;
    ScheduleFigures figures = { 0 };
    json_t *sites = json_array();
    Woven *w = weave_begin(m->program, err);
    if (w && m->exposed)
        weave_expose(w);
    bool ok = w && weave_schedule(w, m->calls, sites, &figures, err);
    if (ok && m->only_sites) {
        ok = write_sites(sites, &figures, out, err);
    } else if (ok) {
        if (m->strict)
            weave_asan(w);
        ok = weave_runtime(w, m->libexec, "probe", err) && link_woven(m, w, out, err);
    }
    weave_end(w);
    json_decref(sites);
    return ok || err_ctx(err, "the build that is scheduled");
}

static void key_of(const Program *p, const char *variant, const Str *sites, ScheduleBuild *out)
{
    Sha256 h;
    sha256_init(&h);
    sha256_add(&h, program_key(p), strlen(program_key(p)));
    sha256_add(&h, variant, strlen(variant));
    sha256_add(&h, str_c(sites), sites->len);
    sha256_end_id(&h, out->key);
}

static bool read_sites(const Making *m, const char *path, ScheduleBuild *out, Err *err)
{
    Str text = { 0 };
    json_t *all = file_read(path, &text, err) ? json_parse(str_c(&text), text.len, err) : NULL,
           *row;
    if (all)
        key_of(m->program, m->strict ? "asan" : "plain", &text, out);
    str_release(&text);
    if (!all)
        return false;
    const json_t *sites = json_object_get(all, "sites");
    size_t i;
    out->nsites = json_array_size(sites);
    out->sites = arena_array(&out->arena, ScheduleSite, out->nsites);
    json_array_foreach(sites, i, row)
    {
        const char *texts[4] = { json_string_value(json_array_get(row, 0)),
                                 json_string_value(json_array_get(row, 1)), NULL,
                                 json_string_value(json_array_get(row, 3)) };
        out->sites[i] =
            (ScheduleSite){ .function = arena_strdup(&out->arena, texts[0] ? texts[0] : ""),
                            .file = arena_strdup(&out->arena, texts[1] ? texts[1] : ""),
                            .what = arena_strdup(&out->arena, texts[3] ? texts[3] : ""),
                            .line = (unsigned)json_integer_value(json_array_get(row, 2)) };
    }
    out->accesses = (size_t)json_int(all, "accesses", 0);
    out->escaping = (size_t)json_int(all, "escaping", 0);
    out->probed = (size_t)json_int(all, "probed", 0);
    json_decref(all);
    return true;
}

/* The program or library, and its sites, by the same recipe. */
static bool get_both(BuildRecipe *r, Making *m, const char *sites_name, ScheduleBuild *out,
                     Err *err)
{
    *out = (ScheduleBuild){ .path = build_get(r, err) };
    if (!out->path)
        return false;
    m->only_sites = true;
    r->name = sites_name;
    char *sites = build_get(r, err);
    bool ok = sites && read_sites(m, sites, out, err);
    free(sites);
    if (!ok)
        schedule_build_release(out);
    return ok;
}

static const char *const runtimes[] = { "probe", "schedule", "forkserver", NULL };

/* What the build depends on beside the program. */
static char *variant(const Making *m)
{
    return m->calls ? xprintf("%s pointsto %" PRIx64, m->strict ? "asan" : "plain",
                              summaries_hash(calls_summaries(m->calls)))
                    : xstrdup(m->strict ? "asan" : "plain");
}

bool build_schedule(const Program *p, const Calls *calls, const char *libexec, bool strict,
                    ScheduleBuild *out, Err *err)
{
    Making m = { .program = p, .calls = calls, .libexec = libexec, .strict = strict };
    char *how = variant(&m);
    BuildRecipe r = { .program = p,
                      .name = "schedule",
                      .variant = how,
                      .runtimes = runtimes,
                      .libexec = libexec,
                      .make = make,
                      .arg = &m };
    assert(p && libexec && out);
    bool ok = get_both(&r, &m, "schedule.sites", out, err);
    free(how);
    return ok;
}

static bool make_library(const Program *p, const Calls *calls, const char *libexec, bool strict,
                         char *const *link, bool exposed, ScheduleBuild *out, char **preload,
                         Err *err)
{
    Err none = { 0 };
    *preload = strict ? library_find_asan(&none) : NULL;
    Making m = { .program = p,
                 .calls = calls,
                 .libexec = libexec,
                 .strict = *preload != NULL,
                 .library = true,
                 .exposed = exposed,
                 .link = link };
    char *how = variant(&m);
    BuildRecipe r = { .program = p,
                      .name = exposed ? "schedule-exposed.so" : "schedule.so",
                      .variant = how,
                      .runtimes = runtimes,
                      .libexec = libexec,
                      .link = link,
                      .make = make,
                      .arg = &m };
    assert(p && libexec && out);
    bool ok =
        get_both(&r, &m, exposed ? "schedule-exposed.so.sites" : "schedule.so.sites", out, err);
    free(how);
    return ok;
}

bool build_schedule_library(const Program *p, const Calls *calls, const char *libexec, bool strict,
                            char *const *link, ScheduleBuild *out, char **preload, Err *err)
{
    return make_library(p, calls, libexec, strict, link, false, out, preload, err);
}

bool build_schedule_exposed(const Program *p, const char *libexec, char *const *link,
                            ScheduleBuild *out, char **preload, Err *err)
{
    return make_library(p, NULL, libexec, true, link, true, out, preload, err);
}

void schedule_build_release(ScheduleBuild *b)
{
    free(b->path);
    arena_release(&b->arena);
    *b = (ScheduleBuild){ 0 };
}
