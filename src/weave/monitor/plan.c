/*
 * What to copy when a function is entered.
 *
 * Only what the function (its callees included) may write has to be copied: all
 * else is still as it was when the crash comes. So a plan is a walk from the
 * arguments along the types, cut by what may be written and read:
 *
 *     int add(struct list *l, int x)      /\* writes l->n and l->items[…],
 *     {                                        reads l->items *\/
 *         l->items[l->n++] = x;
 *     }
 *     step 0: slot 0: bytes 0-4 of what it points to           l->n
 *     step 1: in step 0's object at 8: the whole object        l->items[]
 *
 * What may be written comes from points-to; locations are those of pointsto.h.
 * A pointer is followed if the function itself, or a callee to which it hands
 * the argument, reads it there (its access paths), and if something that it
 * leads to may be written.
 *
 *     reference     nothing
 *     shallow       what the arguments point to
 *     used-fields   … and what the pointers in there lead to, MOST_DEPTH far;
 *                   and small variables that may be written
 *     deep          the runtime walks by itself
 *
 * Without points-to all that can be reached counts as written.
 */
#include "weave/monitor/monitor_int.h"
#include "analysis/pointsto/modref.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *copy_strategy_name(CopyStrategy c)
{
    static const char *const names[] = { "reference", "shallow", "used-fields", "deep", "state" };
    assert((size_t)c < sizeof names / sizeof *names);
    return names[c];
}

bool copy_strategy_parse(const char *text, CopyStrategy *out, Err *err)
{
    for (CopyStrategy c = COPY_REFERENCE; c <= COPY_DEEP; c++)
        if (strcmp(copy_strategy_name(c), text) == 0) {
            *out = c;
            return true;
        }
    return err_set(err,
                   "--copy: no strategy '%s'; it is reference, shallow, "
                   "used-fields or deep",
                   text);
}

enum {
    MOST_DEPTH = 3,
    MOST_CHILDREN = 12,          /* pointers that are followed in one object */
    MOST_VARIABLE_BYTES = 1024,  /* of variables that are copied at an entry */
    MOST_TARGETS = 2000,         /* a pointer to more locations could be anything */
    MOST_CALLS_TRACED = 2,       /* into callees that are handed the pointer */
    MOST_USES_TRACED = 4000,
    NOTHING = UINT32_MAX,
};

/* Which locations a function may touch, by object: set.locs[first …]. */
typedef struct Touches {
    PtSet set;
    uint32_t *first;             /* by object; NOTHING: none */
} Touches;

typedef struct Path Path;

typedef struct Planner {
    Woven *w;
    Monitoring *m;
    const PointsTo *pt;          /* NULL: nothing is known */
    ModRef *mr;
    size_t nobjects;
    Touches written;             /* by the function that is being planned */
    uint32_t *variable_of;       /* object -> number of its variable, or 0 */
    bool *has_parts;             /* object -> do others count as part of it? */
} Planner;

/* A place that a pointer may lead to, on the walk. */
typedef struct Stop {
    const Type *type;            /* plain; of what is there */
    const uint32_t *locs;        /* owned by points-to or the arena */
    size_t n;
    unsigned step;               /* its index; 0xffff: it has none */
    unsigned depth;
    bool array;                  /* it is indexed */
    const Path *path;            /* what the function does with it */
} Stop;

/* ---- access paths */

/* The pointers that a function reads through a pointer, as a tree: `at` bytes
 * into what it points to there is one, with which it does `inside`. */
struct Path {
    int64_t at;
    Path *inside, *next;         /* first of its children; next of its parent's */
    bool array;                  /* it is indexed */
};

typedef struct Tracer {
    Arena *arena;
    unsigned budget;             /* uses that are still looked at */
} Tracer;

static Path *path_at(Tracer *t, Path *parent, int64_t at)
{
    for (Path *p = parent->inside; p; p = p->next)
        if (p->at == at)
            return p;
    Path *p = arena_new(t->arena, Path);
    p->at = at;
    p->next = parent->inside;
    parent->inside = p;
    return p;
}

static bool constant_offset(LLVMTargetDataRef layout, LLVMValueRef gep, int64_t *offset);
static void trace(Tracer *t, LLVMTargetDataRef layout, LLVMValueRef v, int64_t offset, Path *path,
                  unsigned depth, unsigned calls);

static void trace_call(Tracer *t, LLVMTargetDataRef layout, LLVMValueRef call, LLVMValueRef v,
                       int64_t offset, Path *path, unsigned depth, unsigned calls)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (!calls || !LLVMIsAFunction(callee) || LLVMIsDeclaration(callee))
        return;
    unsigned n = LLVMGetNumArgOperands(call), nparams = LLVMCountParams(callee);
    for (unsigned i = 0; i < n && i < nparams; i++)
        if (LLVMGetOperand(call, i) == v)
            trace(t, layout, LLVMGetParam(callee, i), offset, path, depth, calls - 1);
}

/* What is done with v, which points `offset` bytes into the place of `path`. */
static void trace(Tracer *t, LLVMTargetDataRef layout, LLVMValueRef v, int64_t offset, Path *path,
                  unsigned depth, unsigned calls)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u && t->budget; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        int64_t more = 0;
        t->budget--;
        if (!LLVMIsAInstruction(i))
            continue;
        switch (LLVMGetInstructionOpcode(i)) {
        case LLVMLoad:
            if (depth < MOST_DEPTH && LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMPointerTypeKind)
                trace(t, layout, i, 0, path_at(t, path, offset), depth + 1, calls);
            break;
        case LLVMGetElementPtr:
            if (LLVMGetOperand(i, 0) != v)
                break;
            path->array |= !constant_offset(layout, i, &more) && !offset;
            trace(t, layout, i, offset + more, path, depth, calls);
            break;
        case LLVMPHI:
        case LLVMSelect:
            if (t->budget > 50)
                t->budget -= 50;             /* a circle ends so */
            else
                t->budget = 0;
            trace(t, layout, i, offset, path, depth, calls);
            break;
        case LLVMCall: trace_call(t, layout, i, v, offset, path, depth, calls); break;
        default: break;
        }
    }
}

/* The bytes that a GEP adds; an index that is not constant counts as 0. False:
 * it goes to another element of an array in which the pointer points. */
static bool constant_offset(LLVMTargetDataRef layout, LLVMValueRef gep, int64_t *offset)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    bool constant = true;
    *offset = 0;
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        bool known = LLVMIsAConstantInt(index) != NULL;
        int64_t n = known ? LLVMConstIntGetSExtValue(index) : 0;
        if (i == 1) {
            *offset += n * (int64_t)LLVMABISizeOfType(layout, type);
            constant = known && n == 0;
        } else if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            *offset += (int64_t)LLVMOffsetOfElement(layout, type, (unsigned)n);
            type = LLVMStructGetTypeAtIndex(type, (unsigned)n);
        } else {
            type = LLVMGetElementType(type);
            *offset += n * (int64_t)LLVMABISizeOfType(layout, type);
        }
    }
    return constant;
}

static const Path *trace_argument(Planner *pl, LLVMValueRef arg)
{
    Tracer t = { .arena = &pl->w->arena, .budget = MOST_USES_TRACED };
    Path *root = arena_new(t.arena, Path);
    trace(&t, LLVMGetModuleDataLayout(program_module(pl->w->program)), arg, 0, root, 0,
          MOST_CALLS_TRACED);
    return root;
}

static const Path *path_inside(const Path *path, int64_t at)
{
    for (const Path *p = path ? path->inside : NULL; p; p = p->next)
        if (p->at == at)
            return p;
    return NULL;
}

/* ---- what is touched */

static uint32_t object_of(const Planner *pl, uint32_t loc)
{
    return pointsto_part_of(pl->pt, pointsto_location(pl->pt, loc).object);
}

static void touches_reset(const Planner *pl, Touches *t)
{
    for (size_t i = 0; i < t->set.n; i++)
        t->first[object_of(pl, t->set.locs[i])] = NOTHING;
    t->set = (PtSet){ 0 };
}

static void touches_fill(const Planner *pl, Touches *t, PtSet set)
{
    touches_reset(pl, t);
    t->set = set;
    for (size_t i = set.n; i-- > 0;)
        t->first[object_of(pl, set.locs[i])] = (uint32_t)i;
}

/* A range of bytes; empty if end <= begin. */
typedef struct Span {
    int64_t begin, end;
} Span;

/* Adds to `span` the bytes of [at, at + size) in the object that are touched,
 * seen from `at`. Size 0: not known, all from there on. */
static void touched_span(const Planner *pl, const Touches *t, uint32_t object, int64_t at,
                         const Type *type, Span *span)
{
    int64_t size = (int64_t)type->size;
    for (size_t i = t->first[object]; i < t->set.n; i++) {
        uint32_t loc = t->set.locs[i];
        PtLoc l = pointsto_location(pl->pt, loc);
        if (object_of(pl, loc) != object) {
            if (!pl->has_parts[object])
                break;                       /* sorted by object */
            continue;
        }
        int64_t from = l.offset - at, to;
        if (l.offset == POINTSTO_ANY || at == POINTSTO_ANY) {
            *span = (Span){ 0, INT64_MAX };
            return;
        }
        if (from < 0 || (size && from >= size))
            continue;
        const Field *f = size ? type_field_at(type, (uint64_t)from * 8) : NULL;
        to = from + (f && f->width ? (int64_t)(f->width + 7) / 8 : 8);
        if (span->end <= span->begin)
            *span = (Span){ from, to };
        span->begin = from < span->begin ? from : span->begin;
        span->end = to > span->end ? to : span->end;
    }
}

/* The bytes that may be touched at the stop; {0, INT64_MAX}: any. */
static Span span_of(const Planner *pl, const Touches *t, const Stop *s)
{
    Span span = { 0, 0 };
    if (!pl->pt || !s->n || s->n > MOST_TARGETS)
        return (Span){ 0, INT64_MAX };
    for (size_t i = 0; i < s->n && span.end != INT64_MAX; i++) {
        PtLoc l = pointsto_location(pl->pt, s->locs[i]);
        uint32_t object = pointsto_part_of(pl->pt, l.object);
        if (t->first[object] != NOTHING)
            touched_span(pl, t, object, l.offset, s->type, &span);
    }
    return span;
}

/* ---- the walk */

typedef Vec(Stop) Stops;

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* What the pointer `at` bytes into the stop may point to. */
static void targets_in(Planner *pl, const Stop *s, int64_t at, Stop *out)
{
    Vec(uint32_t) all = { 0 };
    for (size_t i = 0; pl->pt && i < s->n && s->n <= MOST_TARGETS; i++) {
        PtLoc l = pointsto_location(pl->pt, s->locs[i]);
        int64_t offset = l.offset == POINTSTO_ANY ? POINTSTO_ANY : l.offset + at;
        int64_t loc = offset == POINTSTO_ANY ? (int64_t)s->locs[i]
                                             : pointsto_locate(pl->pt, l.object, offset);
        if (loc < 0)
            continue;
        PtSet c = pointsto_content(pl->pt, (uint32_t)loc);
        for (size_t k = 0; k < c.n && all.len <= MOST_TARGETS; k++)
            vec_push(&all, c.locs[k]);
    }
    if (all.len)
        qsort(all.items, all.len, sizeof *all.items, by_number);
    uint32_t *locs = arena_array(&pl->w->arena, uint32_t, all.len + 1);
    for (size_t i = 0; i < all.len; i++)
        if (!i || all.items[i] != all.items[i - 1])
            locs[out->n++] = all.items[i];
    out->locs = locs;
    vec_release(&all);
}

enum { SMALL_RECORD = 256 };

static bool may_be_string_or_array(const Type *t) { return !type_is_record(t) || t->size == 0; }

/* Copies the part of the stop that may be written; a small record whole: one whose members are of
 * two times, some as they were at the entry and some as at the crash, is none that ever was. */
static void add_step(Planner *pl, Row *row, Stop *s, unsigned parent, unsigned slot, uint32_t at,
                     bool only_pointer)
{
    Span span = span_of(pl, &pl->written, s);
    SundewStep step = { .parent = (uint16_t)parent,
                        .slot = (uint16_t)slot,
                        .at = at,
                        .type = monitor_type_number(s->type) };
    bool whole = s->array || may_be_string_or_array(s->type) || span.end == INT64_MAX ||
                 span.end > (int64_t)s->type->size || s->type->size <= SMALL_RECORD;
    if (only_pointer)
        step.size = 8;
    else if (!whole) {
        step.from = (uint32_t)span.begin;
        step.size = (uint32_t)(span.end - span.begin);
    } else if (!s->array && type_is_record(s->type)) {
        step.size = (uint32_t)s->type->size;
    }
    s->step = (unsigned)row->steps.len;
    vec_push(&row->steps, step);
}

static bool is_written(const Planner *pl, const Stop *s)
{
    Span span = span_of(pl, &pl->written, s);
    return span.end > span.begin;
}

/* The pointers in a record, outermost first; unions and arrays of pointers too:
 * the first element. */
typedef struct Inside {
    uint64_t at;
    const Type *target;
} Inside;
typedef Vec(Inside) Insides;

static void pointers_in(const Type *type, uint64_t at, Insides *out, unsigned depth)
{
    const Type *t = type_plain(type);
    if (out->len >= MOST_CHILDREN || depth > 6)
        return;
    if (t->kind == TYPE_POINTER)
        vec_push(out, ((Inside){ at, type_plain(t->target) }));
    else if (t->kind == TYPE_ARRAY && t->count)
        pointers_in(t->target, at, out, depth + 1);
    else if (type_is_record(t))
        for (unsigned i = 0; i < t->nfields; i++)
            if (!t->fields[i].bit_field)
                pointers_in(t->fields[i].type, at + t->fields[i].offset / 8, out, depth + 1);
}

static bool walk(Planner *pl, Row *row, Stop *s, unsigned parent, unsigned slot, uint32_t at);

/* Follows the pointers at a stop; with nothing written at the stop itself its
 * step is added only if one of them leads somewhere. */
static bool walk_inside(Planner *pl, Row *row, Stop *s, unsigned parent, unsigned slot, uint32_t at)
{
    Insides all = { 0 };
    bool any = false;
    size_t before = row->steps.len;
    pointers_in(s->type, 0, &all, 0);
    for (size_t i = 0; i < all.len; i++) {
        const Inside *in = &all.items[i];
        Stop next = { .type = in->target,
                      .depth = s->depth + 1,
                      .path = path_inside(s->path, (int64_t)in->at) };
        if (in->target->kind == TYPE_FUNCTION || !next.path)
            continue;
        next.array = next.path->array;
        targets_in(pl, s, (int64_t)in->at, &next);
        if (pl->pt && !next.n)
            continue;
        if (s->step == SUNDEW_NO_STEP)
            add_step(pl, row, s, parent, slot, at, true);
        bool found = walk(pl, row, &next, s->step, 0, (uint32_t)in->at);
        if (found && !any && row->steps.len > before && s->step == before)
            row->steps.items[before].from = (uint32_t)in->at;
        any |= found;
    }
    if (!any && row->steps.len > before)
        row->steps.len = before;            /* led nowhere */
    vec_release(&all);
    return any;
}

/* False: nothing there is written, and nothing was added. */
static bool walk(Planner *pl, Row *row, Stop *s, unsigned parent, unsigned slot, uint32_t at)
{
    bool shallow = pl->m->plan.strategy == COPY_SHALLOW;
    unsigned deepest = !shallow ? MOST_DEPTH : pl->pt ? 1 : 2;
    bool here = is_written(pl, s);
    s->step = SUNDEW_NO_STEP;
    /* a recording has also the bytes that a struct leads to, but no further one */
    if (shallow && s->depth > 1 && s->type->size != 1)
        return false;
    if (s->type->kind == TYPE_FUNCTION || row->steps.len >= MOST_STEPS)
        return false;
    if (here)
        add_step(pl, row, s, parent, slot, at, false);
    bool inside = s->depth < deepest && walk_inside(pl, row, s, parent, slot, at);
    return here || inside;
}

/* ---- the roots */

/* A pointer that lies in `slot`, `byte` bytes into an IR argument. */
static void add_root(Planner *pl, Row *row, LLVMValueRef arg, unsigned byte, unsigned slot,
                     const Type *target)
{
    Stop s = { .type = type_plain(target), .depth = 1, .path = trace_argument(pl, arg) };
    s.array = s.path->array;
    if (pl->pt) {
        PtSet set = pointsto_value(pl->pt, arg, byte);
        s.locs = set.locs;
        s.n = set.n;
    }
    walk(pl, row, &s, SUNDEW_NO_STEP, slot, 0);
}

static void plan_param(Planner *pl, Row *row, LLVMValueRef fn, const Param *p,
                       const SundewParam *sp)
{
    const Type *t = p->type ? type_plain(p->type) : NULL;
    Insides inside = { 0 };
    if (!t || !sp->nslots)
        return;
    if (p->passing == PASSED_BY_COPY) {
        add_root(pl, row, LLVMGetParam(fn, p->first_arg), 0, sp->slot, t);
        return;
    }
    /* a pointer, or a struct in registers with pointers in it */
    pointers_in(t, 0, &inside, 0);
    for (size_t i = 0; i < inside.len; i++) {
        uint64_t word = inside.items[i].at / 8;
        bool split = p->passing == PASSED_SPLIT;
        if (word >= sp->nslots || (split && word >= p->nargs) || inside.items[i].at % 8)
            continue;
        LLVMValueRef arg = LLVMGetParam(fn, p->first_arg + (split ? (unsigned)word : 0));
        add_root(pl, row, arg, split ? 0 : (unsigned)word * 8, sp->slot + (unsigned)word,
                 inside.items[i].target);
    }
    vec_release(&inside);
}

/* ---- variables */

/* The variables among the touched objects, each once. */
static void add_uses(Planner *pl, Row *row, PtSet set)
{
    uint32_t last = NOTHING;
    for (size_t i = 0; i < set.n && row->uses.len < MOST_USES; i++) {
        uint32_t object = pointsto_location(pl->pt, set.locs[i]).object;
        if (object != last && pl->variable_of[object])
            vec_push(&row->uses, pl->variable_of[object]);
        last = object;
    }
}

static void sort_uses(Row *row)
{
    size_t n = 0;
    if (row->uses.len)
        qsort(row->uses.items, row->uses.len, sizeof *row->uses.items, by_number);
    for (size_t i = 0; i < row->uses.len; i++)
        if (!i || row->uses.items[i] != row->uses.items[i - 1])
            row->uses.items[n++] = row->uses.items[i];
    row->uses.len = n;
}

typedef struct Small {
    uint32_t number;
    uint64_t size;
} Small;

static int by_size(const void *a, const void *b)
{
    const Small *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Small variables that may be written, the smallest first. */
static void plan_variables(Planner *pl, Row *row)
{
    size_t nvars;
    const Variable *vars = program_variables(pl->w->program, &nvars);
    Vec(Small) all = { 0 };
    uint32_t last = NOTHING;
    for (size_t i = 0; i < pl->written.set.n; i++) {
        uint32_t object = pointsto_location(pl->pt, pl->written.set.locs[i]).object;
        uint32_t number = object != last ? pl->variable_of[object] : 0;
        last = object;
        if (number && vars[number - 1].size && !vars[number - 1].thread_local_)
            vec_push(&all, ((Small){ number, vars[number - 1].size }));
    }
    if (all.len)
        qsort(all.items, all.len, sizeof *all.items, by_size);
    uint64_t bytes = 0;
    for (size_t i = 0; i < all.len && row->steps.len < MOST_STEPS; i++) {
        bytes += all.items[i].size;
        if (bytes > MOST_VARIABLE_BYTES)
            break;
        const Variable *v = &vars[all.items[i].number - 1];
        vec_push(&row->steps, ((SundewStep){ .parent = SUNDEW_NO_STEP,
                                             .slot = SUNDEW_VARIABLE,
                                             .at = all.items[i].number,
                                             .size = (uint32_t)v->size,
                                             .type = monitor_type_number(v->type) }));
    }
    vec_release(&all);
}

/* ---- all of it */

static void plan_function(Planner *pl, Row *row)
{
    LLVMValueRef fn = program_function_value(pl->w->program, row->fn);
    CopyStrategy strategy = pl->m->plan.strategy;
    if (pl->pt) {
        touches_fill(pl, &pl->written, modref_function(pl->mr, fn, MODREF_WRITE));
        add_uses(pl, row, pl->written.set);
        add_uses(pl, row, modref_function(pl->mr, fn, MODREF_READ));
        sort_uses(row);
    }
    if (strategy == COPY_STATE)
        monitor_plan_state(pl->w, row);
    if (strategy == COPY_REFERENCE || strategy == COPY_DEEP || strategy == COPY_STATE)
        return;
    for (unsigned i = 0; i < row->fn->nparams && row->nslots; i++)
        plan_param(pl, row, fn, &row->fn->params[i], &row->params.items[i]);
    if (pl->pt && strategy == COPY_USED_FIELDS)
        plan_variables(pl, row);
}

/* Variables that can change, by their objects. */
static void find_variables(Planner *pl)
{
    size_t n;
    const Variable *vars = program_variables(pl->w->program, &n);
    LLVMModuleRef m = program_module(pl->w->program);
    for (size_t i = 0; i < n; i++) {
        LLVMValueRef g = LLVMGetNamedGlobal(m, vars[i].symbol);
        uint32_t object = g && vars[i].defined && !vars[i].constant && vars[i].type
                              ? pointsto_variable(pl->pt, g)
                              : UINT32_MAX;
        if (object != UINT32_MAX)
            pl->variable_of[object] = (uint32_t)i + 1;
    }
}

void monitor_plan_copies(Woven *w, Monitoring *m)
{
    Planner pl = { .w = w, .m = m };
    if (m->plan.calls) {
        pl.pt = calls_pointsto(m->plan.calls);
        pl.mr = modref_new(pl.pt, calls_summaries(m->plan.calls));
        pl.nobjects = pointsto_nobjects(pl.pt);
        pl.written.first = xmalloc((pl.nobjects + 1) * sizeof(uint32_t));
        memset(pl.written.first, 0xff, (pl.nobjects + 1) * sizeof(uint32_t));
        pl.variable_of = xcalloc(pl.nobjects + 1, sizeof(uint32_t));
        pl.has_parts = xcalloc(pl.nobjects + 1, sizeof(bool));
        for (uint32_t i = 0; i < pl.nobjects; i++)
            if (pointsto_part_of(pl.pt, i) != i)
                pl.has_parts[pointsto_part_of(pl.pt, i)] = true;
        find_variables(&pl);
    }
    for (size_t i = 0; i < m->rows.len; i++)
        plan_function(&pl, &m->rows.items[i]);
    modref_free(pl.mr);
    free(pl.written.first);
    free(pl.variable_of);
    free(pl.has_parts);
}
