/*
 * Aborts of the C library's heap checks come late: "double free or corruption" is said where
 * memory is given back, not where it was written over. Two kinds of tests fail like that:
 *
 *     the function writes over the heap, and gives memory back       informative
 *     the function is handed pointers that are broken already        not
 *
 * The address sanitizer tells them apart: in the first it reports an overflow before the heap is
 * asked. Its report is where the damage is done, so the test's remark has it.
 */
#include "base/file.h"
#include "technique/reproduce/reproduce_int.h"
#include <assert.h>
#include <string.h>
#include <unistd.h>

/* main() is handed nothing: any report there is of the program's own damage. */
static bool tells_damage(const Candidate *c, const Ending *e)
{
    return e->kind == FAILURE_SANITIZER &&
           (strstr(e->text, "overflow") || strcmp(c->fn->name, "main") == 0);
}

/* Runs the kept test with the sanitizer. */
static bool look(Reproduction *rp, Lab *lab, const Candidate *c, Ending *out)
{
    char *source = path_join(rp->folder, c->file);
    char *binary = xprintf("%s/heap-%zu", rp->folder, c->frame);
    TrialPlan plan = { 0 };
    const LabUnit *unit = lab_unit_of(lab, c->fn, NULL);
    candidate_with_files(rp, &plan);
    bool ok = unit &&
              lab_build(lab, unit, source, binary,
                        LAB_TRIAL | (c->unoptimised ? LAB_UNOPTIMISED : 0), NULL) &&
              trial_run(rp->trial, binary, &plan, out, NULL);
    if (ok)
        trial_name(rp->names, rp->program, binary, out);
    unlink(binary);
    free(binary);
    free(source);
    return ok;
}

static void judge(Reproduction *rp, Lab *lab, Candidate *c)
{
    Ending e = { 0 };
    assert(c->file && c->unit);
    bool seen = look(rp, lab, c, &e);
    if (seen && tells_damage(c, &e)) {
        Str at = { 0 };
        if (e.stack.len)
            report_place(&e.stack.items[0], &at);
        c->root = arena_printf(&rp->arena, "the damage is done in %s() at %s (%s)",
                               e.stack.len ? e.stack.items[0].function : "?", str_c(&at), e.text);
        str_release(&at);
    } else if (strcmp(c->fn->name, "main") != 0) {
        c->broken_heap = true;
        c->damage = seen ? "the heap is broken" : "the heap may be broken";
    }
    ending_release(&e);
}

void heap_judge(Reproduction *rp)
{
    bool any = false;
    for (size_t i = 0; i < rp->n; i++)
        any |= rp->candidates[i].reproduces && rp->candidates[i].ending.heap;
    if (!any || rp->asan || session_interrupted(rp->session))
        return;
    session_note(rp->session, "the C library found a broken heap; the address sanitizer looks for "
                              "the place of the damage");
    Lab *lab = lab_with_asan(rp->lab, NULL);
    for (size_t i = 0; lab && i < rp->n; i++) {
        Candidate *c = &rp->candidates[i];
        if (c->reproduces && c->ending.heap)
            judge(rp, lab, c);
    }
    char *objects = path_join(rp->folder, "objects-asan");
    dir_remove(objects);
    free(objects);
    lab_free(lab);
}
