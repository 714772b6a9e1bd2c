/* Failures as findings: see failure_finding.h. */
#include "session/failure_finding.h"
#include "base/file.h"
#include <assert.h>
#include <string.h>

enum { MOST_STEPS = 20 };

static const char *or_empty(const char *text) { return text ? text : ""; }

static bool is_ours(const FailureReport *r, const FailureFrame *f)
{
    return r->ours && f->file && strcmp(path_base(f->file), r->ours) == 0;
}

/* The program's frames: those of a sanitizer, and of what calls main(), say nothing. */
static size_t list_steps(const FailureReport *r, EvidenceStep *steps)
{
    const Failure *f = r->failure;
    size_t n = 0, first = 0;
    if (r->detail && *r->detail)
        steps[n++] = (EvidenceStep){ .text = r->detail };
    first = n;
    for (size_t i = failure_site(f) ? f->site : 0; i < f->nframes && n < MOST_STEPS; i++) {
        const FailureFrame *at = &f->frames[i];
        if (is_ours(r, at))
            break;
        if (n > first && !at->function && !at->file)
            continue;
        steps[n] = (EvidenceStep){
            .at = { .file = at->file && *at->file ? at->file : NULL,
                    .line = (int)at->line,
                    .function = at->function },
            .text = n > first ? "called from here" : "fails here",
        };
        n++;
        if (at->function && strcmp(at->function, "main") == 0)
            break;
    }
    return n;
}

static Location find_place(const FailureReport *r)
{
    const FailureFrame *site = failure_site(r->failure);
    if (r->where.file)
        return r->where;
    if (!site)
        return (Location){ .file = r->program };
    return (Location){ .file = site->file && *site->file ? site->file : r->program,
                       .line = (int)site->line,
                       .column = (int)site->column,
                       .function = site->function };
}

static const char *tell(Arena *a, const FailureReport *r)
{
    Str text = { 0 };
    str_add(&text, or_empty(r->before));
    if (r->text)
        str_add(&text, r->text);
    else
        failure_title(r->failure, &text);
    const char *copy = arena_strdup(a, str_c(&text));
    str_release(&text);
    return copy;
}

Finding failure_finding(Arena *a, const FailureReport *r)
{
    const Failure *f = r->failure;
    EvidenceStep *steps = arena_array(a, EvidenceStep, MOST_STEPS);
    assert(f && r->rule && (r->program || r->where.file));
    return (Finding){
        .rule = r->rule,
        .level = r->level,
        .verdict = VERDICT_SHOWN,
        .message = tell(a, r),
        .detail = r->more,
        .where = find_place(r),
        .anchor = r->anchor
                      ? r->anchor
                      : arena_printf(a, "%s %s", failure_kind_name(f->kind), or_empty(f->what)),
        .steps = steps,
        .nsteps = list_steps(r, steps),
    };
}
