/* Programs woven for the calls of an API: see calls.h. The sites are kept in a file of
 * their own, made by the same recipe as the program. */
#include "build/calls.h"
#include "base/json.h"
#include "build/build.h"
#include "build/library.h"
#include "build/place.h"
#include <assert.h>

typedef struct Making {
    const Program *program;
    const char *libexec;
    const CallsKind *kind;
    bool only_sites;                 /* the table, not the program */
} Making;

static bool make(void *arg, const char *out, Err *err)
{
    const Making *m = arg;
    json_t *sites = json_object();
    Woven *w = weave_begin(m->program, err);
    bool ok = w && weave_calls(w, m->kind->plan, sites, err);
    if (ok && m->only_sites) {
        ok = json_write(out, sites, err);
    } else if (ok) {
        Cover *points = m->kind->library ? weave_cover(w, err) : NULL;
        ok = !m->kind->library || points;
        cover_free(points);
        if (m->kind->strict)
            weave_asan(w);
        ok = ok && weave_runtime(w, m->libexec, "calls", err) &&
             (m->kind->library
                  ? library_link_woven(w, &(LibraryPlan){ .link = m->kind->link }, out, err)
                  : place_build_plain(w, m->program, out, err));
    }
    weave_end(w);
    json_decref(sites);
    return ok;
}

static const char *text_at(CallsBuild *b, const json_t *row, size_t i)
{
    const char *text = json_string_value(json_array_get(row, i));
    return arena_strdup(&b->arena, text ? text : "");
}

static unsigned number_at(const json_t *row, size_t i)
{
    return (unsigned)json_integer_value(json_array_get(row, i));
}

static bool read_sites(const char *path, CallsBuild *b, Err *err)
{
    json_t *all = json_read(path, err), *row;
    if (!all)
        return false;
    const json_t *sites = json_object_get(all, "sites"),
                 *functions = json_object_get(all, "functions");
    size_t i;
    b->nsites = json_array_size(sites);
    b->sites = arena_array(&b->arena, ApiSite, b->nsites + 1);
    json_array_foreach(sites, i, row)
    {
        b->sites[i] = (ApiSite){ .function = text_at(b, row, 0),
                                 .file = text_at(b, row, 1),
                                 .line = number_at(row, 2),
                                 .column = number_at(row, 3),
                                 .callee = number_at(row, 4),
                                 .unused = json_is_true(json_array_get(row, 5)) };
    }
    b->nfunctions = json_array_size(functions);
    b->functions = arena_array(&b->arena, const char *, b->nfunctions + 1);
    for (i = 0; i < b->nfunctions; i++)
        b->functions[i] = text_at(b, functions, i);
    json_decref(all);
    return true;
}

bool build_calls(const Program *p, const char *libexec, const CallsKind *kind, CallsBuild *out,
                 Err *err)
{
    static const char *const runtimes[] = { "calls", NULL };
    Making m = { .program = p, .libexec = libexec, .kind = kind };
    char *variant = xprintf("%s %s", kind->strict ? "asan" : "plain", kind->key);
    BuildRecipe r = { .program = p,
                      .name = kind->library ? "calls.so" : "calls",
                      .variant = variant,
                      .runtimes = runtimes,
                      .libexec = libexec,
                      .link = kind->link,
                      .make = make,
                      .arg = &m };
    assert(p && libexec && kind->plan && kind->key);
    *out = (CallsBuild){ .path = build_get(&r, err) };
    m.only_sites = true;
    r.name = kind->library ? "calls.so.sites" : "calls.sites";
    char *sites = out->path ? build_get(&r, err) : NULL;
    bool ok = sites && read_sites(sites, out, err);
    free(sites);
    free(variant);
    if (!ok)
        calls_build_release(out);
    return ok;
}

void calls_build_release(CallsBuild *b)
{
    free(b->path);
    arena_release(&b->arena);
    *b = (CallsBuild){ 0 };
}
