/*
 * Functions and lines for frames of a failure. A run without sanitizers knows addresses only;
 * they belong to a build of ours, whose name and whose main() say nothing to people.
 */
#include "engine/explore/program/c_front_int.h"
#include <assert.h>
#include <string.h>

enum { MOST_FRAMES = 200 };

/* What the build calls the program's own main(). */
static const char *name_of(const char *function)
{
    return strcmp(function, "sundew_program_main") == 0 ? "main" : function;
}

/* The functions at this address, inlined ones first; nothing is known: the frame itself. */
static void add_frames(PlaceNames *names, Failure *f, const FailureFrame *at, bool innermost,
                       FailureFrame *out, size_t *n)
{
    Places places = { 0 };
    uint64_t address = at->offset - !innermost; /* the call, not what it returns to */
    places_find(names, at->module, &address, 1, &places);
    for (size_t i = 0; i < places.len && *n < MOST_FRAMES; i++) {
        const Place *p = &places.items[i];
        FailureFrame frame = *at;
        if (*p->file && p->line) {
            frame.function = arena_strdup(&f->arena, name_of(p->function));
            frame.file = arena_strdup(&f->arena, p->file);
            frame.line = p->line;
        }
        out[(*n)++] = frame;
    }
    if (!places.len)
        out[(*n)++] = *at;
    vec_release(&places);
}

void c_frames_name(PlaceNames *names, const char *build, Failure *f)
{
    FailureFrame *all = arena_array(&f->arena, FailureFrame, MOST_FRAMES + 1);
    size_t n = 0, site = SIZE_MAX;
    for (size_t i = 0; i < f->nframes && n < MOST_FRAMES; i++) {
        const FailureFrame *at = &f->frames[i];
        bool ours = at->module && strcmp(at->module, build) == 0 && !at->file;
        size_t first = n;
        if (ours)
            add_frames(names, f, at, i == 0, all, &n);
        else
            all[n++] = *at;
        for (size_t k = first; ours && site == SIZE_MAX && k < n; k++)
            if (all[k].file)
                site = k;
        if (i == f->site && site == SIZE_MAX && !ours && at->file)
            site = first;
    }
    f->frames = all;
    f->nframes = n;
    f->site = site == SIZE_MAX ? (f->site < n ? f->site : n) : site;
}
