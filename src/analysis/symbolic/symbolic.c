/*
 * The flow is solved over the SSA values of all functions and over the objects
 * of the points-to analysis.
 *
 * A value's *mask* says under which conditions it is symbolic: bit 0 always,
 * bit 1+i when parameter i of its function is, and from bit 32 on when certain
 * bytes are that a parameter points to (`o->f` in a getter; see Content). So a
 * function is looked at once for all its callers, and what it returns to a caller
 * depends on what that caller passed (calls matched with returns). A function's
 * `active` conditions are those that hold for some caller; memory is shared by
 * all contexts, so a store counts when its mask meets the active conditions.
 *
 * Rounds over all functions until nothing changes. When something first becomes
 * symbolic it gets a stamp from a running clock; from any value back over
 * operands with smaller stamps one comes to an input, which gives the path that
 * is shown (short, since the clock runs in rounds).
 */
#include "analysis/symbolic/symbolic.h"
#include "base/mem.h"
#include "analysis/pointsto/pt_answer.h"
#include "program/program_llvm.h"
#include "analysis/symbolic/symbolic_llvm.h"
#include <assert.h>
#include <string.h>

enum { ALWAYS = 1, MOST_PARAMS = 30, FIRST_CONTENT = 32, MOST_CONTENTS = 31, MOST_PATH = 24 };

/* Bytes of an object that may be symbolic. */
typedef struct Stained {
    int64_t start, end;
} Stained;

typedef struct Memory {
    bool all;
    Vec(Stained) parts;
    uint32_t stamp;              /* 0: nothing of it is */
    uint32_t by;                 /* number of the instruction that did it; NONE */
} Memory;

/* `size` bytes, `offset` bytes behind where a parameter points to. */
typedef struct Content {
    unsigned param;
    int64_t offset;
    uint64_t size;
} Content;

/* A write of the function behind a parameter, or into fresh memory that it hands
 * to its caller (param RETURNED): done where it is called, under that
 * caller's conditions. */
typedef struct Effect {
    Content where;
    uint64_t mask;
} Effect;

enum { RETURNED = ~0u, MOST_EFFECTS = 32 };

typedef struct Body {
    bool open;                   /* also called from where we can't see */
    Effect effects[MOST_EFFECTS];
    unsigned neffects;
    uint64_t active;             /* conditions that hold for some caller */
    Content contents[MOST_CONTENTS];
    unsigned ncontents;
    uint64_t result;             /* mask */
    bool source;
    Vec(uint32_t) callers;       /* numbers of the calls of it; for paths */
} Body;

struct Symbolic {
    const Program *p;
    const Calls *calls;
    const PointsTo *pt;
    SymbolicPlan plan;
    uint64_t *masks;             /* by number of the value */
    uint32_t *stamps;
    Memory *objects;
    Body *bodies;                /* by index in PtValues.functions */
    uint32_t clock;
    bool changed;
    bool seeded;                 /* the library's random numbers depend on input */
    Arena a;
    Vec(SymbolicSite) sites;
    bool listed;
};

/* ---- inputs */

/* Where an input function puts what it reads: bit i is what parameter i points
 * to, bit 31 the result, bit 30 the variadic arguments, bit 29 what *line
 * points to for the first parameter. */
enum { RESULT = 1u << 31, REST = 1u << 30, LINE = 1u << 29 };

/* clang-format off */
static const struct input {
    const char *name;
    uint32_t where;
} inputs[] = {
    { "read", 1u << 1 },       { "pread", 1u << 1 },      { "recv", 1u << 1 },
    { "recvfrom", 1u << 1 },   { "fread", 1u << 0 },      { "fread_unlocked", 1u << 0 },
    { "fgets", 1u << 0 },      { "fgets_unlocked", 1u << 0 }, { "gets", 1u << 0 },
    { "getline", LINE },    { "getdelim", LINE },   { "__getdelim", LINE },
    { "getc", RESULT },        { "fgetc", RESULT },       { "getchar", RESULT },
    { "_IO_getc", RESULT },    { "getc_unlocked", RESULT }, { "__uflow", RESULT },
    { "getchar_unlocked", RESULT }, { "fgetc_unlocked", RESULT },
    { "fgetwc", RESULT },      { "getwc", RESULT },       { "getwchar", RESULT },
    { "scanf", REST },         { "fscanf", REST },        { "__isoc99_scanf", REST },
    { "__isoc99_fscanf", REST }, { "vfscanf", REST },     { "mmap", RESULT },
    { "syscall", 1u << 2 },    /* read() by its number */
    { "klee_make_symbolic", 1u << 0 },
    { "sundew_make_symbolic", 1u << 0 },
};
/* clang-format on */

static uint32_t input_of(const Symbolic *s, const char *name)
{
    if (!strncmp(name, "__VERIFIER_nondet_", 18))
        return RESULT;
    if (!strncmp(name, "klee_", 5) || !strncmp(name, "sundew_make", 11))
        return !strcmp(name, "klee_range") || !strcmp(name, "klee_int") ? RESULT
               : strstr(name, "make_symbolic")                          ? 1u << 0
                                                                        : 0;
    if (s->plan.env && (!strcmp(name, "getenv") || !strcmp(name, "secure_getenv")))
        return RESULT;
    if (s->plan.no_files || s->plan.function)
        return 0;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (!strcmp(inputs[i].name, name))
            return inputs[i].where;
    return 0;
}

/* The seed of the library's random numbers, and these: flow that no pointer shows. */
static bool is_seed(const char *name)
{
    return !strcmp(name, "srand") || !strcmp(name, "srandom") || !strcmp(name, "srand48");
}

static bool is_random(const char *name)
{
    return !strcmp(name, "rand") || !strcmp(name, "random") || !strcmp(name, "drand48") ||
           !strcmp(name, "lrand48") || !strcmp(name, "mrand48");
}

/* ---- values */

static uint32_t number_of(const Symbolic *s, LLVMValueRef v)
{
    return ptvalues_number(&s->pt->v, v);
}

static uint64_t mask_of(const Symbolic *s, LLVMValueRef v)
{
    uint32_t n = number_of(s, v);
    return n == NONE ? 0 : s->masks[n];
}

static uint32_t body_index(const Symbolic *s, LLVMValueRef fn)
{
    return pttable_get(&s->pt->v.function_index, (uintptr_t)fn);
}

static uint64_t param_bit(unsigned i) { return 2ull << (i < MOST_PARAMS ? i : MOST_PARAMS); }

static bool holds(const Body *b, uint64_t mask) { return mask & (ALWAYS | b->active); }

static void set_mask(Symbolic *s, const Body *b, LLVMValueRef v, uint64_t mask)
{
    uint32_t n = number_of(s, v);

    if (n == NONE || !mask)
        return;
    if (mask & ~s->masks[n]) {
        s->masks[n] |= mask;
        s->changed = true;
    }
    if (!s->stamps[n] && holds(b, s->masks[n])) {
        s->stamps[n] = ++s->clock;
        s->changed = true;
    }
}

/* ---- memory */

static bool overlaps(const Memory *m, int64_t start, int64_t end)
{
    if (m->all)
        return true;
    for (size_t i = 0; i < m->parts.len; i++)
        if (m->parts.items[i].start < end && start < m->parts.items[i].end)
            return true;
    return false;
}

static bool covers(const Memory *m, int64_t start, int64_t end)
{
    if (m->all)
        return true;
    for (size_t i = 0; i < m->parts.len; i++)
        if (m->parts.items[i].start <= start && end <= m->parts.items[i].end)
            return true;
    return false;
}

static void stain(Symbolic *s, uint32_t object, int64_t start, int64_t end, uint32_t by)
{
    Memory *m = &s->objects[object];

    assert(object < s->pt->objects.len && (start == ANY || start < end));
    if (s->pt->shown[object].kind == PT_FUNCTION)
        return;
    if (start == ANY ? m->all : covers(m, start, end))
        return;
    if (start == ANY || m->parts.len > 64)
        m->all = true;
    else
        vec_push(&m->parts, ((Stained){ start, end }));
    if (!m->stamp) {
        m->stamp = ++s->clock;
        m->by = by;
    }
    s->changed = true;
}

/* `size` bytes, `behind` bytes after each place that the pointer may point to;
 * size 0: the whole object. */
static void stain_behind(Symbolic *s, LLVMValueRef pointer, int64_t behind, uint64_t size,
                         uint32_t by)
{
    PtSet set = pointsto_value(s->pt, pointer, 0);

    for (size_t i = 0; i < set.n; i++) {
        PtLoc l = s->pt->locs.items[set.locs[i]];
        if (!size || l.offset == ANY || s->pt->objects.items[l.object].flat)
            stain(s, l.object, ANY, 0, by);
        else
            stain(s, l.object, l.offset + behind, l.offset + behind + (int64_t)size, by);
    }
}

static void stain_at(Symbolic *s, LLVMValueRef pointer, uint64_t size, uint32_t by)
{
    stain_behind(s, pointer, 0, size, by);
}

/* The library's own memory, a FILE say: what it does with input there is its own
 * affair. */
static bool is_foreign(const Symbolic *s, uint32_t object)
{
    PtKind k = s->pt->shown[object].kind;
    return k == PT_LIBRARY || k == PT_EXTERNAL;
}

/* The program's objects that an external function gets with a pointer: `deep`,
 * also those that can be reached from there. */
static PtBits objects_outside(const Symbolic *s, LLVMValueRef pointer, bool deep)
{
    PtSet first = pointsto_value(s->pt, pointer, 0);
    Vec(uint32_t) work = { 0 };
    PtBits seen = { 0 };

    for (size_t i = 0; i < first.n; i++)
        vec_push(&work, s->pt->locs.items[first.locs[i]].object);
    while (work.len) {
        uint32_t o = work.items[--work.len];
        if (is_foreign(s, o) || !ptbits_add(&seen, o))
            continue;
        PtRange r = s->pt->objects.items[o].locs;
        for (uint32_t k = r.start; deep && k < r.start + r.n; k++) {
            PtSet next = pointsto_content(s->pt, k);
            for (size_t i = 0; i < next.n; i++)
                vec_push(&work, s->pt->locs.items[next.locs[i]].object);
        }
    }
    vec_release(&work);
    return seen;
}

static void stain_outside(Symbolic *s, LLVMValueRef pointer, bool deep, uint32_t by)
{
    PtBits objects = objects_outside(s, pointer, deep);

    for (PtIter i = ptbits_first(&objects); i.on; ptbits_next(&i))
        stain(s, i.x, ANY, 0, by);
    ptbits_release(&objects);
}

/* Is something symbolic `behind` bytes after the place? `which` gets the object,
 * or NONE. */
static bool stained_behind(const Symbolic *s, LLVMValueRef pointer, int64_t behind, uint64_t size,
                           uint32_t *which)
{
    PtSet set = pointsto_value(s->pt, pointer, 0);
    uint32_t best = NONE;

    for (size_t i = 0; i < set.n; i++) {
        PtLoc l = s->pt->locs.items[set.locs[i]];
        const Memory *m = &s->objects[l.object];
        if (!m->stamp)
            continue;
        bool hit = !size || l.offset == ANY || s->pt->objects.items[l.object].flat ||
                   overlaps(m, l.offset + behind, l.offset + behind + (int64_t)size);
        if (hit && (best == NONE || m->stamp < s->objects[best].stamp))
            best = l.object;
        if (hit && !which)
            return true;
    }
    if (which)
        *which = best;
    return best != NONE;
}

static bool stained_at(const Symbolic *s, LLVMValueRef pointer, uint64_t size, uint32_t *which)
{
    return stained_behind(s, pointer, 0, size, which);
}

/* What the library itself hands out is looked at if input is there: getenv(). */
static bool stained_outside(const Symbolic *s, LLVMValueRef pointer, bool deep)
{
    PtBits objects = objects_outside(s, pointer, deep);
    bool found = stained_at(s, pointer, 0, NULL);

    for (PtIter i = ptbits_first(&objects); i.on && !found; ptbits_next(&i))
        found = s->objects[i.x].stamp;
    ptbits_release(&objects);
    return found;
}

/* ---- instructions */

static uint64_t size_of(const Symbolic *s, LLVMTypeRef t)
{
    return LLVMTypeIsSized(t) ? LLVMStoreSizeOfType(s->pt->v.layout, t) : 0;
}

static bool is_pointer(LLVMValueRef v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

static uint64_t masks_of_operands(const Symbolic *s, LLVMValueRef i)
{
    uint64_t mask = 0;
    int n = LLVMGetNumOperands(i);

    for (int k = 0; k < n; k++)
        mask |= mask_of(s, LLVMGetOperand(i, (unsigned)k));
    return mask;
}

/* Constant steps behind a pointer; NULL: not all of them are. */
static LLVMValueRef base_of(const Symbolic *s, LLVMValueRef v, int64_t *offset)
{
    int64_t more;

    for (*offset = 0; LLVMIsAGetElementPtrInst(v); v = LLVMGetOperand(v, 0))
        if (!llvm_gep_offset(s->pt->v.layout, v, &more) ||
            __builtin_add_overflow(*offset, more, offset))
            return NULL;
    return v;
}

static unsigned param_number(LLVMValueRef param)
{
    LLVMValueRef fn = LLVMGetParamParent(param);
    unsigned k = 0;

    while (LLVMGetParam(fn, k) != param)
        k++;
    assert(k < LLVMCountParams(fn));
    return k;
}

/* The condition that these bytes behind the parameter are symbolic; 0: there are
 * too many conditions already. */
static uint64_t content_bit(Symbolic *s, Body *b, LLVMValueRef param, int64_t offset, uint64_t size)
{
    unsigned k = param_number(param), i;

    for (i = 0; i < b->ncontents; i++)
        if (b->contents[i].param == k && b->contents[i].offset == offset &&
            b->contents[i].size == size)
            break;
    if (i == MOST_CONTENTS)
        return 0;
    if (i == b->ncontents)
        b->contents[b->ncontents++] = (Content){ k, offset, size };
    assert(FIRST_CONTENT + i < 64);
    uint64_t bit = 1ull << (FIRST_CONTENT + i);
    if (!(b->active & bit) && stained_behind(s, param, offset, size, NULL)) {
        b->active |= bit;
        s->changed = true;
    }
    return bit;
}

/* The mask of `size` bytes read behind a pointer. */
static uint64_t content_mask(Symbolic *s, Body *b, LLVMValueRef pointer, int64_t behind,
                             uint64_t size)
{
    int64_t offset;
    LLVMValueRef base = base_of(s, pointer, &offset);
    uint64_t bit =
        base && LLVMIsAArgument(base) && size ? content_bit(s, b, base, offset + behind, size) : 0;

    if (bit)
        return bit;
    return stained_behind(s, pointer, behind, size, NULL) ? ALWAYS : 0;
}

static void see_load(Symbolic *s, Body *b, LLVMValueRef i)
{
    LLVMValueRef from = LLVMGetOperand(i, 0);
    uint64_t mask = mask_of(s, from);

    if (!(mask & ALWAYS))
        mask |= content_mask(s, b, from, 0, size_of(s, LLVMTypeOf(i)));
    set_mask(s, b, i, mask);
}

/* Leaves a write to the callers. False: it can't be left to them. */
static bool add_effect(Symbolic *s, Body *b, LLVMValueRef base, int64_t offset, uint64_t size,
                       uint64_t mask)
{
    bool fresh = LLVMIsACallInst(base) && pointsto_hands_on(s->pt, base);
    unsigned i;

    if (b->open || !size || !(fresh || LLVMIsAArgument(base)))
        return false;
    Content where = { fresh ? RETURNED : param_number(base), offset, size };
    for (i = 0; i < b->neffects; i++) {
        const Content *c = &b->effects[i].where;
        if (c->param == where.param && c->offset == offset && c->size == size)
            break;
    }
    if (i == MOST_EFFECTS)
        return false;
    if (i == b->neffects)
        b->effects[b->neffects++] = (Effect){ where, 0 };
    if (mask & ~b->effects[i].mask) {
        b->effects[i].mask |= mask;
        s->changed = true;
    }
    return true;
}

/* Something with this mask is written behind a pointer. */
static void see_write(Symbolic *s, Body *b, LLVMValueRef to, int64_t behind, uint64_t size,
                      uint64_t mask, uint32_t by)
{
    int64_t offset;
    LLVMValueRef base = base_of(s, to, &offset);

    if (!mask || (base && add_effect(s, b, base, offset + behind, size, mask)))
        return;
    if (holds(b, mask))
        stain_behind(s, to, behind, size, by);
}

static void see_store(Symbolic *s, Body *b, LLVMValueRef i)
{
    LLVMValueRef value = LLVMGetOperand(i, 0), to = LLVMGetOperand(i, 1);

    if (holds(b, mask_of(s, to)))
        stain_at(s, to, 0, number_of(s, i));
    else
        see_write(s, b, to, 0, size_of(s, LLVMTypeOf(value)), mask_of(s, value), number_of(s, i));
}

static void see_atomic(Symbolic *s, Body *b, LLVMValueRef i)
{
    LLVMValueRef at = LLVMGetOperand(i, 0);
    uint64_t mask = masks_of_operands(s, i);

    if (stained_at(s, at, 0, NULL))
        mask |= ALWAYS;
    set_mask(s, b, i, mask);
    if (holds(b, mask))
        stain_at(s, at, 0, number_of(s, i));
}

/* What an external function sees: the masks of its arguments, and ALWAYS if
 * there is something in the memory that it reads. */
static uint64_t external_sees(const Symbolic *s, LLVMValueRef call, const Summary *sum)
{
    uint64_t mask = 0;
    unsigned n = LLVMGetNumArgOperands(call);

    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef arg = LLVMGetOperand(call, k);
        unsigned use = !sum               ? SUMMARY_READ | SUMMARY_DEEP
                       : k < sum->nparams ? sum->params[k].use
                                          : sum->rest;
        mask |= mask_of(s, arg);
        if ((mask & ALWAYS) || !is_pointer(arg) || !(use & SUMMARY_READ))
            continue;
        if (stained_outside(s, arg, use & SUMMARY_DEEP))
            mask |= ALWAYS;
    }
    return mask;
}

/* %n is the only way for printf() to write through what it prints, and it is
 * never symbolic. */
static bool only_prints(const Summary *sum, unsigned k)
{
    return k >= sum->nparams && strstr(sum->name, "printf");
}

static void external_writes(Symbolic *s, LLVMValueRef call, const Summary *sum)
{
    unsigned n = LLVMGetNumArgOperands(call);

    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef arg = LLVMGetOperand(call, k);
        unsigned use = !sum               ? SUMMARY_WRITE | SUMMARY_DEEP
                       : k < sum->nparams ? sum->params[k].use
                                          : sum->rest;
        if (sum && only_prints(sum, k))
            continue;
        if (!is_pointer(arg) || !(use & SUMMARY_WRITE))
            continue;
        stain_outside(s, arg, use & SUMMARY_DEEP, number_of(s, call));
    }
}

/* FILE, locale and the like: what is in them is not the program's data. */
static bool is_opaque_to_input(const char *name)
{
    static const char *const names[] = { "free", "fclose", "close", "fflush",
                                         "exit", "abort",  "_exit", NULL };
    for (size_t i = 0; names[i]; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

/* What a `char **` leads to. */
static void stain_line(Symbolic *s, LLVMValueRef pointer, uint32_t by)
{
    PtSet set = pointsto_value(s->pt, pointer, 0);

    for (size_t i = 0; i < set.n; i++) {
        PtSet lines = pointsto_content(s->pt, set.locs[i]);
        for (size_t k = 0; k < lines.n; k++)
            stain(s, s->pt->locs.items[lines.locs[k]].object, ANY, 0, by);
    }
}

static void see_input(Symbolic *s, Body *b, LLVMValueRef call, uint32_t where)
{
    unsigned n = LLVMGetNumArgOperands(call);
    uint32_t by = number_of(s, call);

    b->source = true;
    for (unsigned k = 0; k < n && k < 29; k++)
        if (where & 1u << k)
            stain_at(s, LLVMGetOperand(call, k), 0, by);
    if (where & LINE)
        stain_line(s, LLVMGetOperand(call, 0), by);
    if (where & REST)
        for (unsigned k = 0; k < n; k++)
            if (is_pointer(LLVMGetOperand(call, k)) && k > 0)
                stain_at(s, LLVMGetOperand(call, k), 0, by);
    if (!(where & RESULT))
        return;
    if (is_pointer(call))
        stain_at(s, call, 0, by);
    else
        set_mask(s, b, call, ALWAYS);
}

static void see_external(Symbolic *s, Body *b, LLVMValueRef call, LLVMValueRef fn)
{
    size_t len;
    const char *name = LLVMGetValueName2(fn, &len);
    uint32_t where = input_of(s, name);

    if (where) {
        see_input(s, b, call, where);
        return;
    }
    if (!strncmp(name, "llvm.dbg", 8) || !strncmp(name, "llvm.lifetime", 13) ||
        is_opaque_to_input(name))
        return;
    if (!strncmp(name, "llvm.mem", 8)) {
        LLVMValueRef to = LLVMGetOperand(call, 0), from = LLVMGetOperand(call, 1);
        LLVMValueRef size = LLVMGetOperand(call, 2);
        bool set = !strncmp(name, "llvm.memset", 11);
        uint64_t n = LLVMIsAConstantInt(size) ? LLVMConstIntGetZExtValue(size) : 0;
        uint64_t mask = mask_of(s, to) | mask_of(s, from) | mask_of(s, size);
        if (holds(b, mask) || (!set && stained_at(s, from, n, NULL)))
            stain_at(s, to, holds(b, mask) && !set ? 0 : n, number_of(s, call));
        return;
    }
    if (!strncmp(name, "llvm.", 5)) {
        set_mask(s, b, call, masks_of_operands(s, call));
        return;
    }
    const Summary *sum = summaries_find(calls_summaries(s->calls), name);
    uint64_t mask = external_sees(s, call, sum);
    if (is_seed(name) && holds(b, mask) && !s->seeded)
        s->seeded = s->changed = true;
    if (is_random(name) && s->seeded)
        mask |= ALWAYS;
    set_mask(s, b, call, mask);
    if (holds(b, mask))
        external_writes(s, call, sum);
}

/* A mask of the callee, in the conditions of the caller. */
static uint64_t mask_outside(Symbolic *s, Body *b, LLVMValueRef call, const Body *callee,
                             uint64_t mask)
{
    unsigned n = LLVMGetNumArgOperands(call);
    uint64_t out = mask & ALWAYS;

    for (unsigned k = 0; k < n; k++)
        if (mask & param_bit(k))
            out |= mask_of(s, LLVMGetOperand(call, k));
    for (unsigned i = 0; i < callee->ncontents; i++) {
        Content c = callee->contents[i];
        if (mask & 1ull << (FIRST_CONTENT + i))
            out |= c.param < n ? content_mask(s, b, LLVMGetOperand(call, c.param), c.offset, c.size)
                               : ALWAYS;
    }
    return out;
}

/* Structs that are passed as a copy: the callee's own memory. */
static void see_copies(Symbolic *s, Body *b, LLVMValueRef call, LLVMValueRef fn)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
    unsigned n = LLVMGetNumArgOperands(call), params = LLVMCountParams(fn);

    for (unsigned k = 0; k < n && k < params; k++) {
        LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(fn, k + 1, kind);
        uint64_t size = a ? size_of(s, LLVMGetTypeAttributeValue(a)) : 0;
        LLVMValueRef from = LLVMGetOperand(call, k);
        if (a && (stained_at(s, from, size, NULL) || holds(b, content_mask(s, b, from, 0, size))))
            stain_at(s, LLVMGetParam(fn, k), 0, number_of(s, call));
    }
}

/* The call meets a body: arguments go in, the result comes out. */
static void see_body(Symbolic *s, Body *b, LLVMValueRef call, LLVMValueRef fn)
{
    uint32_t index = body_index(s, fn);
    unsigned n = LLVMGetNumArgOperands(call);

    if (index == NONE)
        return;
    Body *callee = &s->bodies[index];
    if (callee->source && !b->source) {
        b->source = true;
        s->changed = true;
    }
    for (unsigned k = 0; k < n; k++) {
        uint64_t bit = param_bit(k);
        if (holds(b, mask_of(s, LLVMGetOperand(call, k))) && !(callee->active & bit)) {
            callee->active |= bit;
            s->changed = true;
        }
    }
    see_copies(s, b, call, fn);
    set_mask(s, b, call, mask_outside(s, b, call, callee, callee->result));
    for (unsigned i = 0; i < callee->neffects; i++) {
        Content c = callee->effects[i].where;
        LLVMValueRef to = c.param == RETURNED ? call
                          : c.param < n       ? LLVMGetOperand(call, c.param)
                                              : NULL;
        if (to)
            see_write(s, b, to, c.offset, c.size,
                      mask_outside(s, b, call, callee, callee->effects[i].mask),
                      number_of(s, call));
    }
}

/* Variadic arguments are memory of the callee. */
static void see_rest(Symbolic *s, Body *b, LLVMValueRef call, LLVMValueRef fn)
{
    unsigned n = LLVMGetNumArgOperands(call), fixed = LLVMCountParams(fn);

    for (unsigned k = fixed; k < n; k++)
        if (holds(b, mask_of(s, LLVMGetOperand(call, k))))
            for (uint32_t o = 0; o < s->pt->objects.len; o++)
                if (s->pt->shown[o].kind == PT_VARARGS && s->pt->shown[o].site == fn)
                    stain(s, o, ANY, 0, number_of(s, call));
}

/* A callback gets what its caller in the library sees. */
static void see_callbacks(Symbolic *s, Body *b, LLVMValueRef call)
{
    size_t n;
    const LLVMValueRef *c = pointsto_callbacks(s->pt, call, &n);
    uint64_t mask = 0;

    for (unsigned k = 0; k < LLVMGetNumArgOperands(call); k++)
        mask |= mask_of(s, LLVMGetOperand(call, k));
    for (size_t i = 0; i < n; i++) {
        uint32_t index = body_index(s, c[i]);
        if (index == NONE || !holds(b, mask))
            continue;
        uint64_t all = (1ull << FIRST_CONTENT) - 2;
        if (all & ~s->bodies[index].active) {
            s->bodies[index].active |= all;
            s->changed = true;
        }
    }
}

static void see_call(Symbolic *s, Body *b, LLVMValueRef i)
{
    LLVMValueRef callee = LLVMGetCalledValue(i);
    size_t n;
    const LLVMValueRef *t = pointsto_targets(s->pt, i, &n);

    if (LLVMIsAInlineAsm(callee)) {
        uint64_t mask = external_sees(s, i, NULL);
        set_mask(s, b, i, mask);
        if (holds(b, mask))
            external_writes(s, i, NULL);
        return;
    }
    if (LLVMIsAFunction(callee) && LLVMIsDeclaration(callee))
        see_external(s, b, i, callee);
    for (size_t k = 0; k < n; k++) {
        if (LLVMIsDeclaration(t[k])) {
            if (t[k] != callee)
                see_external(s, b, i, t[k]);
            continue;
        }
        see_body(s, b, i, t[k]);
        see_rest(s, b, i, t[k]);
    }
    see_callbacks(s, b, i);
    set_mask(s, b, i, LLVMIsAFunction(callee) ? 0 : mask_of(s, callee));
}

static void see(Symbolic *s, Body *b, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: see_load(s, b, i); break;
    case LLVMStore: see_store(s, b, i); break;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: see_atomic(s, b, i); break;
    case LLVMCall:
    case LLVMInvoke:
    case LLVMCallBr: see_call(s, b, i); break;
    case LLVMRet:
        if (LLVMGetNumOperands(i)) {
            uint64_t mask = mask_of(s, LLVMGetOperand(i, 0));
            s->changed |= (mask & ~b->result) != 0;
            b->result |= mask;
        }
        break;
    case LLVMAlloca: break;
    case LLVMPHI:
        for (unsigned k = 0; k < LLVMCountIncoming(i); k++)
            set_mask(s, b, i, mask_of(s, LLVMGetIncomingValue(i, k)));
        break;
    default: set_mask(s, b, i, masks_of_operands(s, i)); break;
    }
}

static void see_function(Symbolic *s, uint32_t index)
{
    LLVMValueRef fn = s->pt->v.functions.items[index].fn;
    Body *b = &s->bodies[index];

    for (unsigned k = 0; k < LLVMCountParams(fn); k++)
        set_mask(s, b, LLVMGetParam(fn, k), param_bit(k));
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
            see(s, b, i);
}

static void find_open(Symbolic *s)
{
    for (uint32_t f = 0; f < s->pt->v.functions.len; f++) {
        LLVMValueRef fn = s->pt->v.functions.items[f].fn;
        s->bodies[f].open |= pointsto_called_from_outside(s->pt, fn);
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i)) {
                size_t n = 0;
                const LLVMValueRef *c = LLVMIsACallInst(i) || LLVMIsAInvokeInst(i)
                                            ? pointsto_callbacks(s->pt, i, &n)
                                            : NULL;
                for (size_t k = 0; k < n; k++) {
                    uint32_t index = body_index(s, c[k]);
                    if (index != NONE)
                        s->bodies[index].open = true;
                }
            }
    }
}

static void begin(Symbolic *s)
{
    find_open(s);
    for (uint32_t o = 0; o < s->pt->objects.len; o++)
        if (s->plan.argv && !s->plan.function && s->pt->shown[o].kind == PT_ARGV)
            stain(s, o, ANY, 0, NONE);
    if (!s->plan.function)
        return;
    const Function *fn = program_function(s->p, s->plan.function);
    LLVMValueRef v = fn ? program_function_value(s->p, fn) : NULL;
    uint32_t index = v ? body_index(s, v) : NONE;
    if (index == NONE)
        return;
    s->bodies[index].source = true;
    for (unsigned k = 0; k < LLVMCountParams(v); k++) {
        s->bodies[index].active |= param_bit(k);
        if (is_pointer(LLVMGetParam(v, k)))
            stain_outside(s, LLVMGetParam(v, k), true, NONE);
    }
}

Symbolic *symbolic_new(const Program *p, const Calls *calls, const SymbolicPlan *plan)
{
    Symbolic *s = xcalloc(1, sizeof *s);

    s->p = p;
    s->calls = calls;
    s->pt = calls_pointsto(calls);
    s->plan = *plan;
    s->masks = xcalloc(s->pt->v.n + 1, sizeof *s->masks);
    s->stamps = xcalloc(s->pt->v.n + 1, sizeof *s->stamps);
    s->objects = xcalloc(s->pt->objects.len + 1, sizeof *s->objects);
    s->bodies = xcalloc(s->pt->v.functions.len + 1, sizeof *s->bodies);
    begin(s);
    do {
        s->changed = false;
        for (uint32_t i = 0; i < s->pt->v.functions.len; i++)
            see_function(s, i);
    } while (s->changed);
    return s;
}

void symbolic_free(Symbolic *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->pt->objects.len; i++)
        vec_release(&s->objects[i].parts);
    for (size_t i = 0; i < s->pt->v.functions.len; i++)
        vec_release(&s->bodies[i].callers);
    free(s->masks);
    free(s->stamps);
    free(s->objects);
    free(s->bodies);
    vec_release(&s->sites);
    arena_release(&s->a);
    free(s);
}

/* ---- single values */

bool symbolic_value(const Symbolic *s, LLVMValueRef v)
{
    uint32_t n = number_of(s, v);
    return n != NONE && s->stamps[n];
}

bool symbolic_instruction(const Symbolic *s, LLVMValueRef inst)
{
    int n = LLVMGetNumOperands(inst);

    if (symbolic_value(s, inst))
        return true;
    if (LLVMIsAStoreInst(inst) && stained_at(s, LLVMGetOperand(inst, 1),
                                             size_of(s, LLVMTypeOf(LLVMGetOperand(inst, 0))), NULL))
        return true;
    for (int k = 0; k < n; k++)
        if (symbolic_value(s, LLVMGetOperand(inst, (unsigned)k)))
            return true;
    return false;
}

bool symbolic_memory(const Symbolic *s, LLVMValueRef pointer, uint64_t size)
{
    return stained_at(s, pointer, size, NULL);
}

/* Does the function read input, or call what does? */
static bool is_source(const Symbolic *s, LLVMValueRef fn)
{
    uint32_t i = body_index(s, fn);
    return i != NONE && s->bodies[i].source;
}

static bool is_debug(LLVMValueRef i)
{
    LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    size_t n;

    return callee && LLVMIsAFunction(callee) &&
           !strncmp(LLVMGetValueName2(callee, &n), "llvm.dbg", 8);
}

void symbolic_in_function(const Symbolic *s, const Function *fn, SymbolicFigures *out)
{
    LLVMValueRef v = program_function_value(s->p, fn);

    *out = (SymbolicFigures){ 0 };
    if (!v || !LLVMGetFirstBasicBlock(v))
        return;
    out->source = is_source(s, v);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(v); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (is_debug(i))
                continue;
            out->instructions++;
            out->symbolic += symbolic_instruction(s, i);
        }
}

void symbolic_functions(const Symbolic *s, size_t *all, size_t *seeing)
{
    size_t n;
    const Function *const *fns = program_functions(s->p, &n);

    *all = *seeing = 0;
    for (size_t i = 0; i < n; i++) {
        SymbolicFigures f;
        if (!fns[i]->defined)
            continue;
        symbolic_in_function(s, fns[i], &f);
        ++*all;
        *seeing += f.symbolic != 0;
    }
}

/* ---- what will be imprecise */

const char *symbolic_class_name(SymbolicClass c)
{
    static const char *const names[] = { "no theory", "costly", "memory", "control", "boundary" };
    return names[c];
}

static const char *callee_name(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    size_t n;
    return LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &n) : "";
}

static uint32_t stamp_of(const Symbolic *s, LLVMValueRef v)
{
    uint32_t n = number_of(s, v);
    return n == NONE ? 0 : s->stamps[n];
}

/* A candidate for the step before: the earliest wins. */
static void earlier(const Symbolic *s, LLVMValueRef v, uint32_t before, LLVMValueRef *best)
{
    uint32_t t = stamp_of(s, v);

    if (t && t < before && (!*best || t < stamp_of(s, *best)))
        *best = v;
}

static LLVMValueRef writer_of(const Symbolic *s, uint32_t object)
{
    uint32_t by = object == NONE ? NONE : s->objects[object].by;
    return by == NONE ? NULL : s->pt->v.values[by];
}

/* What made a parameter symbolic: an argument of some call. */
static LLVMValueRef before_param(const Symbolic *s, LLVMValueRef param, uint32_t before)
{
    LLVMValueRef best = NULL;
    const Body *b = &s->bodies[body_index(s, LLVMGetParamParent(param))];
    unsigned k = param_number(param);

    for (size_t i = 0; i < b->callers.len; i++) {
        LLVMValueRef call = s->pt->v.values[b->callers.items[i]];
        if (k < LLVMGetNumArgOperands(call))
            earlier(s, LLVMGetOperand(call, k), before, &best);
    }
    return best;
}

static LLVMValueRef before_call(const Symbolic *s, LLVMValueRef call, uint32_t before)
{
    LLVMValueRef best = NULL;
    size_t n;
    const LLVMValueRef *t = pointsto_targets(s->pt, call, &n);
    uint32_t object = NONE, first = NONE;

    for (unsigned k = 0; k < LLVMGetNumArgOperands(call); k++) {
        LLVMValueRef arg = LLVMGetOperand(call, k);
        earlier(s, arg, before, &best);
        if (is_pointer(arg) && stained_at(s, arg, 0, &object) &&
            s->objects[object].stamp < before &&
            (first == NONE || s->objects[object].stamp < s->objects[first].stamp))
            first = object;
    }
    for (size_t i = 0; i < n; i++)
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(t[i]); b; b = LLVMGetNextBasicBlock(b)) {
            LLVMValueRef r = LLVMGetBasicBlockTerminator(b);
            if (LLVMIsAReturnInst(r) && LLVMGetNumOperands(r))
                earlier(s, LLVMGetOperand(r, 0), before, &best);
        }
    return best || first == NONE ? best : writer_of(s, first);
}

/* The step before a value or a store; NULL: here it comes from outside. */
static LLVMValueRef step_before(const Symbolic *s, LLVMValueRef v, uint32_t before)
{
    LLVMValueRef best = NULL;
    uint32_t object;

    if (LLVMIsAArgument(v))
        return before_param(s, v, before);
    if (!LLVMIsAInstruction(v))
        return NULL;
    if (LLVMIsACallInst(v) || LLVMIsAInvokeInst(v))
        return before_call(s, v, before);
    for (int k = 0; k < LLVMGetNumOperands(v); k++)
        earlier(s, LLVMGetOperand(v, (unsigned)k), before, &best);
    if (!best && LLVMIsALoadInst(v) &&
        stained_at(s, LLVMGetOperand(v, 0), size_of(s, LLVMTypeOf(v)), &object) &&
        s->objects[object].stamp < before)
        return writer_of(s, object);
    return best;
}

static const char *step_text(Symbolic *s, LLVMValueRef v)
{
    if (LLVMIsAArgument(v))
        return "parameter";
    if (LLVMIsACallInst(v)) {
        const char *name = callee_name(v);
        return *name ? arena_printf(&s->a, "%s()", name) : "call through a pointer";
    }
    return LLVMIsALoadInst(v) ? "read" : LLVMIsAStoreInst(v) ? "written" : "computed";
}

static LLVMValueRef function_around(LLVMValueRef v)
{
    return LLVMIsAArgument(v) ? LLVMGetParamParent(v)
                              : LLVMGetBasicBlockParent(LLVMGetInstructionParent(v));
}

static void add_step(Symbolic *s, LLVMValueRef v, SymbolicStep *out)
{
    const Function *fn = program_function_of(s->p, function_around(v));

    *out = (SymbolicStep){ .file = "", .function = fn ? fn->name : "", .text = step_text(s, v) };
    if (LLVMIsAInstruction(v)) {
        SourcePlace l = program_place(s->p, v);
        out->file = l.file;
        out->line = l.line;
        out->column = l.column;
    } else if (fn) {
        out->file = fn->file;
        out->line = fn->line;
        out->column = fn->column;
    }
}

/* From the input to what the instruction sees, one step a line. */
static void add_path(Symbolic *s, LLVMValueRef from, SymbolicSite *site)
{
    SymbolicStep steps[MOST_PATH];
    size_t n = 0;
    uint32_t before = stamp_of(s, from);
    LLVMValueRef v = from;

    if (!before)
        before = UINT32_MAX;
    while (v && n < MOST_PATH) {
        SymbolicStep step;
        add_step(s, v, &step);
        if (!n || step.line != steps[n - 1].line || strcmp(step.file, steps[n - 1].file))
            steps[n++] = step;
        else if (!strchr(steps[n - 1].text, '('))      /* a call says most */
            steps[n - 1] = step;
        uint32_t stamp = stamp_of(s, v);
        if (stamp && stamp < before)
            before = stamp;
        LLVMValueRef next = step_before(s, v, before);
        v = next == v ? NULL : next;
    }
    SymbolicStep *path = arena_array(&s->a, SymbolicStep, n);
    for (size_t i = 0; i < n; i++)
        path[i] = steps[n - 1 - i];
    site->path = path;
    site->npath = n;
}

static void add_site(Symbolic *s, LLVMValueRef i, LLVMValueRef seen, SymbolicClass class,
                     const char *what, const char *cure)
{
    SourcePlace l = program_place(s->p, i);
    SymbolicSite *site = vec_grow(&s->sites);

    *site = (SymbolicSite){ .class = class,
                            .what = what,
                            .cure = cure,
                            .fn = program_function_of(s->p, function_around(i)),
                            .file = l.file,
                            .line = l.line,
                            .column = l.column };
    add_path(s, seen, site);
}

static LLVMValueRef symbolic_operand(const Symbolic *s, LLVMValueRef i)
{
    LLVMValueRef best = NULL;

    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        earlier(s, LLVMGetOperand(i, (unsigned)k), UINT32_MAX, &best);
    return best;
}

static bool is_float(LLVMValueRef v)
{
    LLVMTypeKind k = LLVMGetTypeKind(LLVMTypeOf(v));
    return k == LLVMFloatTypeKind || k == LLVMDoubleTypeKind || k == LLVMX86_FP80TypeKind ||
           k == LLVMFP128TypeKind;
}

/* Does anything that the program looks at come out of the call? What is only
 * printed does not matter. */
static bool has_outcome(const Symbolic *s, LLVMValueRef call, const Summary *sum)
{
    unsigned n = LLVMGetNumArgOperands(call);

    if (LLVMGetFirstUse(call))
        return true;
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef arg = LLVMGetOperand(call, k);
        unsigned use = !sum ? SUMMARY_WRITE : k < sum->nparams ? sum->params[k].use : sum->rest;
        if (sum && only_prints(sum, k))
            continue;
        PtSet set = pointsto_value(s->pt, arg, 0);
        for (size_t i = 0; is_pointer(arg) && (use & SUMMARY_WRITE) && i < set.n; i++)
            if (!is_foreign(s, s->pt->locs.items[set.locs[i]].object))
                return true;
    }
    return false;
}

/* What an external call sees and that matters: the argument, or the call itself
 * if it is in memory that it reads. */
static LLVMValueRef external_seen(const Symbolic *s, LLVMValueRef i, LLVMValueRef fn)
{
    LLVMValueRef seen = NULL;
    size_t n;
    const Summary *sum = summaries_find(calls_summaries(s->calls), LLVMGetValueName2(fn, &n));

    if (!has_outcome(s, i, sum))
        return NULL;
    for (unsigned k = 0; k < LLVMGetNumArgOperands(i); k++)
        earlier(s, LLVMGetOperand(i, k), UINT32_MAX, &seen);
    if (seen)
        return seen;
    return external_sees(s, i, sum) & ALWAYS ? i : NULL;
}

static bool is_plain_external(const Symbolic *s, LLVMValueRef fn)
{
    size_t n;
    const char *name = LLVMGetValueName2(fn, &n);

    return LLVMIsDeclaration(fn) && strncmp(name, "llvm.", 5) && !input_of(s, name) &&
           !is_opaque_to_input(name);
}

void symbolic_externals(const Symbolic *s, size_t *calls, size_t *mattering)
{
    *calls = *mattering = 0;
    for (size_t f = 0; f < s->pt->v.functions.len; f++)
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(s->pt->v.functions.items[f].fn); b;
             b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
                if (!callee || !LLVMIsAFunction(callee) || !is_plain_external(s, callee))
                    continue;
                ++*calls;
                *mattering += external_seen(s, i, callee) != NULL;
            }
}

static bool is_allocation(const char *name)
{
    static const char *const names[] = { "malloc",        "calloc",   "realloc", "reallocarray",
                                         "aligned_alloc", "memalign", NULL };
    for (size_t k = 0; names[k]; k++)
        if (!strcmp(names[k], name))
            return true;
    return false;
}

static bool is_replaced(const Symbolic *s, const char *name)
{
    const Standin *m = s->plan.standins ? standins_find(s->plan.standins, name) : NULL;
    return m && (m->own || m->kind == STANDIN_IGNORE);
}

static void judge_call(Symbolic *s, LLVMValueRef i)
{
    LLVMValueRef callee = LLVMGetCalledValue(i), seen;
    const char *name = callee_name(i);

    if (LLVMIsAInlineAsm(callee)) {
        if ((seen = symbolic_operand(s, i)))
            add_site(s, i, seen, SYMBOLIC_NO_THEORY, "inline assembly sees input",
                     "replace it by C for the analysis");
        return;
    }
    if (!LLVMIsAFunction(callee)) {
        if (symbolic_value(s, callee))
            add_site(s, i, callee, SYMBOLIC_CONTROL, "the function called depends on input",
                     "the targets seen are tried one by one");
        return;
    }
    if (!strncmp(name, "llvm.memcpy", 11) || !strncmp(name, "llvm.memmove", 12) ||
        !strncmp(name, "llvm.memset", 11)) {
        if (symbolic_value(s, LLVMGetOperand(i, 2)))
            add_site(s, i, LLVMGetOperand(i, 2), SYMBOLIC_MEMORY,
                     "the size of a copy depends on input", "the size is pinned");
        return;
    }
    if (!is_plain_external(s, callee) || !(seen = external_seen(s, i, callee)))
        return;
    if (is_allocation(name))
        add_site(s, i, seen, SYMBOLIC_MEMORY, "the size of an allocation depends on input",
                 "the size is pinned; sizes at its limits are tried");
    else if (!is_replaced(s, name))
        add_site(s, i, seen, SYMBOLIC_BOUNDARY, arena_printf(&s->a, "%s() sees input", name),
                 "give it a model: flow, pin, havoc or a C function");
}

static void judge(Symbolic *s, LLVMValueRef i)
{
    LLVMValueRef seen;

    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMCall: judge_call(s, i); break;
    case LLVMLoad:
        if (symbolic_value(s, seen = LLVMGetOperand(i, 0)))
            add_site(s, i, seen, SYMBOLIC_MEMORY, "the address of a read depends on input",
                     "small tables are read precisely, others pinned");
        break;
    case LLVMStore:
        if (symbolic_value(s, seen = LLVMGetOperand(i, 1)))
            add_site(s, i, seen, SYMBOLIC_MEMORY, "the address of a write depends on input",
                     "the address is pinned");
        break;
    case LLVMMul:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
        if (symbolic_value(s, LLVMGetOperand(i, 0)) && symbolic_value(s, LLVMGetOperand(i, 1)))
            add_site(s, i, symbolic_operand(s, i), SYMBOLIC_COSTLY,
                     LLVMGetInstructionOpcode(i) == LLVMMul ? "product of two inputs"
                                                            : "division of two inputs",
                     "solved with a time limit; concretise one side if it is slow");
        break;
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMFRem:
    case LLVMFCmp:
        if (is_float(LLVMGetOperand(i, 0)) && (seen = symbolic_operand(s, i)))
            add_site(s, i, seen, SYMBOLIC_COSTLY, "floating point on input",
                     "concretised, or solved where the query stays small");
        break;
    default: break;
    }
}

static void find_callers(Symbolic *s)
{
    for (uint32_t f = 0; f < s->pt->v.functions.len; f++)
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(s->pt->v.functions.items[f].fn); b;
             b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                size_t n = 0;
                const LLVMValueRef *t = LLVMIsACallInst(i) || LLVMIsAInvokeInst(i)
                                            ? pointsto_targets(s->pt, i, &n)
                                            : NULL;
                for (size_t k = 0; k < n; k++) {
                    uint32_t index = body_index(s, t[k]);
                    if (index != NONE)
                        vec_push(&s->bodies[index].callers, number_of(s, i));
                }
            }
}

const SymbolicSite *symbolic_sites(Symbolic *s, size_t *n)
{
    if (!s->listed) {
        s->listed = true;
        find_callers(s);
        for (size_t f = 0; f < s->pt->v.functions.len; f++)
            for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(s->pt->v.functions.items[f].fn); b;
                 b = LLVMGetNextBasicBlock(b))
                for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                    judge(s, i);
    }
    *n = s->sites.len;
    return s->sites.items;
}
