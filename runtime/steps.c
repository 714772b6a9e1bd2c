/*
 * steps - what is copied when a function is entered, by its plan.
 *
 * The plan (SundewStep) was made from what the function may write and which
 * fields it uses. A step reads its pointer from a slot or from what an earlier
 * step copied, and copies what lies there. Pointers may be garbage; then there is nothing.
 */
#include "monitor_int.h"

/* How many bytes the object at p has from there on, as far as one can tell
 * quickly; a byte at least. */
static size_t extent_from(const SundewLane *l, uint64_t p, const SundewType *ty)
{
    SundewExtent e;
    uint32_t type;
    if (p - l->lo < l->span) {
        if (sundew_local_at(l, p, 4, &e, &type))
            return e.start + e.size - p;
    } else if (sundew_extent_at(p, &e)) {
        return e.start + e.size - p;
    } else {
        const SundewGlobal *g = sundew_global_at(p);
        if (g)
            return g->address + g->size - p;
    }
    return ty && ty->size ? ty->size : 1;
}

/* The pointer that lies `at` bytes into what p points to: in the copy of it,
 * if there is one. */
static uint64_t read_pointer(const SundewFrame *f, uint64_t p, uint32_t at)
{
    const SundewCopy *c = sundew_first_copy(f);
    for (uint32_t i = 0; i < f->ncopies; i++, c = sundew_next_copy(c)) {
        uint64_t skip = p + at - c->address;
        if (skip < c->size && c->size - skip >= 8) {
            uint64_t word;
            memcpy(&word, c->bytes + skip, 8);
            return word;
        }
    }
    return sundew_read_word(p + at);
}

static bool is_copied(const SundewFrame *f, uint64_t address, size_t n)
{
    const SundewCopy *c = sundew_first_copy(f);
    for (uint32_t i = 0; i < f->ncopies; i++, c = sundew_next_copy(c))
        if (address - c->address < c->size &&
            n <= c->size - (address - c->address))
            return true;
    return false;
}

void sundew_copy_steps(SundewLane *l, SundewFrame *f)
{
    const SundewFunction *fn = &sundew_tables.functions[f->row];
    const SundewStep *step = sundew_tables.steps + fn->steps;
    uint64_t pointer[SUNDEW_MAX_STEPS];
    unsigned n = fn->nsteps;
    if (n > SUNDEW_MAX_STEPS) {
        n = SUNDEW_MAX_STEPS;
        f->flags |= SUNDEW_FRAME_CUT;
    }
    for (unsigned i = 0; i < n; i++, step++) {
        uint64_t p = 0;
        if (step->parent != SUNDEW_NO_STEP) {
            if (step->parent < i && pointer[step->parent])
                p = read_pointer(f, pointer[step->parent], step->at);
        } else if (step->slot == SUNDEW_VARIABLE) {
            const SundewGlobal *g = sundew_global_numbered(step->at);
            p = g ? g->address : 0;
        } else if (step->slot < fn->nslots) {
            p = f->slots[step->slot];
        }
        pointer[i] = p < 4096 ? 0 : p;
        if (p < 4096)
            continue;
        const SundewType *ty = sundew_type(step->type);
        size_t size = step->size ? step->size
                                 : extent_from(l, p + step->from, ty);
        if (size > SUNDEW_ARG_BUDGET) {
            size = SUNDEW_ARG_BUDGET;
            f->flags |= SUNDEW_FRAME_CUT;
        }
        if (!is_copied(f, p + step->from, size))
            sundew_add_copy(l, f, p + step->from, size, step->type, step->from);
    }
}
