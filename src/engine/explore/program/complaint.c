/*
 * Do all inputs end with the same complaint? A program that lacks a file, an argument or a terminal says
 * so at once, whatever the input is, and the search sees nothing but its first lines:
 *
 *     Cannot load charset cp1252 - file not found
 *
 * Nothing fails then, and few branches look like a small program. So some of the inputs that
 * were kept run once more, and their exit status and first line of standard error are compared.
 */
#include "base/file.h"
#include "base/units.h"
#include "engine/explore/program/c_front_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INPUTS = 24, MOST_LINE = 160 };
#define MOST_SECONDS 0.5

/* False: it ended well, or said nothing. */
static bool complains(const RunResult *r, CComplaint *out)
{
    const char *said = str_c(&r->err.text);
    size_t n = strcspn(said, "\n");
    *out = (CComplaint){ .status = r->failure.status };
    snprintf(out->said, sizeof out->said, "%.*s", (int)(n < MOST_LINE ? n : MOST_LINE), said);
    return !r->failure.signal && r->failure.status && n;
}

/* `first`: nothing to compare with yet. */
static bool is_alike(Subject *s, const char *path, bool first, CComplaint *all)
{
    Str data = { 0 };
    RunResult r = { 0 };
    CComplaint one;
    bool alike = file_read(path, &data, NULL) && subject_run(s, str_c(&data), data.len, &r, NULL) &&
                 complains(&r, &one) &&
                 (first || (one.status == all->status && strcmp(one.said, all->said) == 0));
    if (alike && first)
        *all = one;
    run_result_release(&r);
    str_release(&data);
    return alike;
}

bool c_front_complaint(CFront *c, const char *queue, CComplaint *out)
{
    Strings names = { 0 };
    size_t ran = 0;
    SubjectPlan plan = { .program = c->coverage,
                         .call = &c->plan.call,
                         .limits = { .wall = 0.5, .cpu = 0.5, .output = 1 << 20 },
                         .rounds = c->in_memory };
    Subject *s = c->plan.function || !c->coverage ? NULL : subject_new(&plan, NULL);
    bool alike = s && file_is_dir(queue) && dir_list(queue, &names, NULL) && names.len;
    size_t step = names.len / MOST_INPUTS + 1;
    double end = clock_seconds() + MOST_SECONDS;
    for (size_t i = 0; alike && i < names.len && clock_seconds() < end; i += step) {
        char *path = path_join(queue, names.items[i]);
        if (file_is_regular(path)) {
            alike = is_alike(s, path, !ran, out);
            ran++;
        }
        free(path);
    }
    strings_release(&names);
    subject_free(s);
    return alike && ran;
}
