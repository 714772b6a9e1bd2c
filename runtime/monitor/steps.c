/*
 * steps - what is copied when a function is entered, by its plan.
 *
 * The plan (SundewStep) was made from what the function may write and which
 * fields it uses. A step reads its pointer from a slot or from what an earlier
 * step copied, and copies what lies there. Pointers may be garbage; then there is nothing.
 */
#include "runtime/monitor/monitor_int.h"

/* The end of an object, as much as is kept of one; *p goes back to where that
 * begins. */
static size_t end_of(const SundewExtent *e, uint64_t *p, const SundewType *ty)
{
    size_t n = e->size;
    if (n > SUNDEW_ARG_BUDGET) {
        n = SUNDEW_ARG_BUDGET;
        n -= ty && ty->size && ty->size < n ? n % ty->size : 0;
    }
    *p -= n;
    return n;
}

/* How many bytes the object at *p has from there on, as far as one can tell
 * quickly; a byte at least. A stack that grows down is often held by the
 * address just behind it: then it is the object before *p, which goes back. */
static size_t extent_from(const SundewLane *l, uint64_t *p, const SundewType *ty)
{
    SundewExtent e;
    uint32_t type;
    const SundewGlobal *g;
    if (*p - l->lo < l->span) {
        if (sundew_local_at(l, *p, 4, &e, &type))
            return e.start + e.size - *p;
    } else if (sundew_extent_near(*p, &e)) {
        uint64_t n = e.start + e.size - *p;
        return n || !e.size ? n : end_of(&e, p, ty);
    } else if ((g = sundew_global_at(*p))) {
        return g->address + g->size - *p;
    } else if (sundew_extent_behind(*p, &e)) {
        return end_of(&e, p, ty);
    }
    if (sundew_argument_at(*p, &e))
        return e.start + e.size - *p;
    return ty && ty->size ? ty->size : 1;
}

typedef struct Done {
    uint64_t pointer;                  /* what the step's pointer was; 0: nothing */
    const SundewCopy *copy;            /* of what lies there; NULL */
} Done;

/* The pointer that lies `at` bytes into what a step points to: in its copy, if
 * that has it. */
static uint64_t read_pointer(const Done *d, uint32_t at)
{
    if (!d->pointer)
        return 0;
    uint64_t skip = d->pointer + at - (d->copy ? d->copy->address : 0), word;
    if (!d->copy || skip >= d->copy->size || d->copy->size - skip < 8)
        return sundew_read_word(d->pointer + at);
    memcpy(&word, d->copy->bytes + skip, 8);
    return word;
}

static uint64_t pointer_of(const SundewFrame *f, const SundewFunction *fn, const SundewStep *step,
                           const Done *done, unsigned i)
{
    if (step->parent != SUNDEW_NO_STEP)
        return step->parent < i ? read_pointer(&done[step->parent], step->at) : 0;
    if (step->slot == SUNDEW_VARIABLE) {
        const SundewGlobal *g = sundew_global_numbered(step->at);
        return g ? g->address : 0;
    }
    return step->slot < fn->nslots ? f->slots[step->slot] : 0;
}

/* A copy of an earlier step that holds all these bytes. */
static const SundewCopy *copied(const Done *done, unsigned n, uint64_t address, size_t size)
{
    for (unsigned i = 0; i < n; i++) {
        const SundewCopy *c = done[i].copy;
        if (c && c->address == address && size <= c->size)
            return c;
    }
    return NULL;
}

/* Functions that were entered a few times only can afford more: functions near main() change most
 * of a program's variables, and the plan has room for small ones. */
static bool is_seldom(uint32_t row)
{
    enum { SELDOM = 4 };
    return !sundew_rows || (sundew_rows[row].early < SELDOM && ++sundew_rows[row].early);
}

static void copy_variables(SundewLane *l, SundewFrame *f, const Done *done, unsigned n)
{
    enum { ROOM = 16 << 10, LANE_ROOM = 512 << 10 };
    const SundewFunction *fn = &sundew_tables.functions[f->row];
    size_t left = ROOM;
    for (uint32_t i = 0; i < fn->nuses && l->top < LANE_ROOM; i++) {
        const SundewGlobal *g = sundew_global_numbered(sundew_tables.uses[fn->uses + i]);
        if (!g || !g->address || g->constant || g->size > left ||
            copied(done, n, g->address, g->size))
            continue;
        left -= sundew_add_copy(l, f, g->address, g->size, g->type, 0);
    }
}

void sundew_copy_steps(SundewLane *l, SundewFrame *f)
{
    const SundewFunction *fn = &sundew_tables.functions[f->row];
    const SundewStep *step = sundew_tables.steps + fn->steps;
    Done done[SUNDEW_MAX_STEPS];
    unsigned n = fn->nsteps;
    if (n > SUNDEW_MAX_STEPS) {
        n = SUNDEW_MAX_STEPS;
        f->flags |= SUNDEW_FRAME_CUT;
    }
    for (unsigned i = 0; i < n; i++, step++) {
        uint64_t p = pointer_of(f, fn, step, done, i);
        done[i] = (Done){ p < 4096 || p >> 47 ? 0 : p, NULL };
        if (!done[i].pointer)
            continue;
        p += step->from;
        size_t size = step->size ? step->size : extent_from(l, &p, sundew_type(step->type));
        if (size > SUNDEW_ARG_BUDGET) {
            size = SUNDEW_ARG_BUDGET;
            f->flags |= SUNDEW_FRAME_CUT;
        }
        if ((done[i].copy = copied(done, i, p, size)))
            continue;
        const SundewCopy *c = (SundewCopy *)(void *)(l->base + l->top);
        if (sundew_add_copy(l, f, p, size, step->type, step->from))
            done[i].copy = c;
    }
    if (fn->nuses && sundew_tables.strategy == SUNDEW_COPY_USED && is_seldom(f->row))
        copy_variables(l, f, done, n);
}

/* ---- at the entry of a function, with the strategy "deep" */

typedef struct Deep {
    SundewLane *lane;
    SundewFrame *frame;
} Deep;

/* Of the first byte that is kept: elements lie before and behind o->at. */
static uint32_t place_in_type(const SundewObject *o)
{
    const SundewType *ty = sundew_type(o->type);
    if (!ty || !ty->size || ty->tail)
        return o->offset ? 1 : 0;
    uint64_t before = (o->at - o->address) % ty->size;
    return (uint32_t)((o->offset % ty->size + ty->size - before) % ty->size);
}

static bool met_deep(SundewWalk *w, const SundewObject *o)
{
    Deep *d = w->arg;
    if (o->place == SUNDEW_FREED)
        return false;
    size_t n = o->kept < SUNDEW_FRAME_BUDGET ? (size_t)o->kept : SUNDEW_FRAME_BUDGET;
    if (o->offset == 0 || n > 0)
        n = sundew_add_copy(d->lane, d->frame, o->address + o->offset,
                            n > SUNDEW_ARG_BUDGET * 4 ? SUNDEW_ARG_BUDGET * 4 : n, o->type,
                            place_in_type(o));
    w->budget = w->budget > n ? w->budget - n : 0;
    if (d->frame->flags & SUNDEW_FRAME_CUT)
        w->budget = 0;
    return n > 0;
}

void sundew_copy_deep(SundewLane *l, SundewFrame *f)
{
    enum { QUEUE = 512, SEEN = 1024 };
    SundewItem queue[QUEUE];
    uint64_t seen[SEEN];
    Deep d = { l, f };
    memset(seen, 0, sizeof seen);
    SundewWalk w = { .queue = queue,
                     .nqueue = QUEUE,
                     .seen = seen,
                     .nseen = SEEN,
                     .budget = SUNDEW_FRAME_BUDGET,
                     .lane = l,
                     .frames = 16,
                     .met = met_deep,
                     .arg = &d };
    sundew_walk_frame(&w, f);
    const SundewFunction *fn = &sundew_tables.functions[f->row];
    for (uint32_t i = 0; i < fn->nuses; i++) {
        const SundewGlobal *g = sundew_global_numbered(sundew_tables.uses[fn->uses + i]);
        if (g && !g->constant && g->address)
            sundew_walk_add(&w, g->address, g->type, true);
    }
    sundew_walk_run(&w);
    if (w.cut)
        f->flags |= SUNDEW_FRAME_CUT;
}
