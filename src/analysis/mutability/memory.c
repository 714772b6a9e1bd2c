/*
 * Stage M: a reference was stored where others may load it. Points-to names the
 * places it went to; every load from such a place that can run between the
 * store and the end of the call may give the reference back. These loads and
 * all that comes of them are followed until there is nothing new, or something
 * writes.
 *
 * Loads count that stand behind the store in the function that stores, behind
 * the call in each of its callers up to the function in question, and all loads
 * in functions called from these places on. A reference is followed on two levels: the
 * pointer to the parameter's own object, and pointers to what lies deeper.
 *
 * Where points-to can't tell objects apart (a library that gets everything from
 * outside), the fields that are named still can: what was stored to a member of a
 * struct is not loaded by way of another struct's member at another offset. This
 * is what compilers assume too (strict aliasing); members at the same offset
 * count as one, so that structs with a common beginning are safe.
 */
#include "analysis/mutability/mutability_int.h"
#include <string.h>
#include <sys/mman.h>

enum { OWN = 1, DEEP = 2 };
enum { MOST_STEPS = 100000, MOST_CANDIDATES = 30000 };

typedef struct LoadIndex {
    Vec(LLVMValueRef) * calls_of; /* by Function.index: calls that may call it */
    Vec(LLVMValueRef) unknown;   /* calls of functions of which nothing is known */
    Vec(const Function *) later; /* handlers and the like: they run at any time */
    Vec(const Function *) back;  /* functions that unknown code may call */
    bool *goes_out; /* by Function.index: it calls unknown code, or what it calls does */
    bool walks; /* names of the linker lead to all variables */
    Map in_assembly; /* words in the text of assembler statements */
    PtReach stored; /* what is stored in such memory */
    PtBits by_later, by_outside; /* objects that `later` changes, and what is outside */
    PtBits given; /* objects that the library keeps: a client may ask it for them */
    PtBits exposed; /* objects: their address leaves in pieces, or is stored there */
    PtTable reading; /* calls that take references from memory -> masks */
    Vec(uint64_t) masks; /* by argument */
} LoadIndex;

/* A load or memcpy that may run after the store. */
typedef struct Candidate {
    LLVMValueRef inst;
    PtSet from;
    bool leaves; /* … in pieces, or to where nobody follows it */
    Member member;
    unsigned seen; /* OWN | DEEP: it gives the reference */
} Candidate;

/* An operation after which the reference may be loaded. */
typedef struct Point {
    Body *b;
    uint32_t op;
} Point;

typedef struct Search {
    Mutability *m;
    Body *b;
    LoadIndex *ix;
    bool *scope; /* by Function.index: runs after a store */
    bool outside; /* unknown code runs after the store */
    Vec(Point) after; /* what comes behind these runs too */
    PtBits cells[3]; /* by OWN, DEEP */
    Vec(Member) members[3]; /* where it was stored, by OWN, DEEP */
    PtTable added; /* sets that are in cells */
    PtTable taint; /* value -> OWN | DEEP */
    Vec(LLVMValueRef) work;
    Vec(Candidate) candidates;
    bool grown; /* cells or members */
    size_t steps;
    MemoryAnswer answer;
} Search;

/* ---- the index */

/* Is the term about this argument? A variadic one has the term of all of them. */
static bool names(const Summary *lib, const SummaryTerm *t, unsigned arg)
{
    return (t->kind == SUMMARY_PARAM && t->param == arg) ||
           (t->kind == SUMMARY_REST && arg >= lib->nparams);
}

static bool reads_content(const Summary *lib, unsigned arg, unsigned use)
{
    if (use & (SUMMARY_DEEP | SUMMARY_LEAVES | SUMMARY_TEXT))
        return true;
    if (names(lib, &lib->ret, arg) && lib->ret.stars)
        return true;
    for (size_t i = 0; i < lib->nassigns; i++)
        if (names(lib, &lib->assigns[i].from, arg) && lib->assigns[i].from.stars)
            return true;
    for (size_t i = 0; i < lib->nwrites; i++)
        if (names(lib, &lib->writes[i], arg) && lib->writes[i].stars)
            return true;
    return false;
}

/* Arguments whose memory a library function takes pointers from, and structs that are
 * passed by value, one bit each. */
static uint64_t arguments_read(Mutability *m, LLVMValueRef call)
{
    unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
    size_t n, len;
    const LLVMValueRef *t = pointsto_targets(m->pt, call, &n);
    uint64_t mask = 0;

    for (unsigned k = 0; k < LLVMGetNumArgOperands(call) && k < 64; k++) {
        bool reads = LLVMGetCallSiteEnumAttribute(call, k + 1, byval) != NULL;
        for (size_t i = 0; !reads && i < n; i++) {
            const Summary *lib = mut_body(m, t[i])
                                     ? NULL
                                     : summaries_find(m->summaries, LLVMGetValueName2(t[i], &len));
            reads = lib && reads_content(lib, k, mut_use(m, lib, call, k));
        }
        mask |= (uint64_t)reads << k;
    }
    return mask;
}

static const PtObject *object_at(const PointsTo *pt, uint32_t loc)
{
    return pointsto_object(pt, pointsto_location(pt, loc).object);
}

static bool maps_shared(const PointsTo *pt, LLVMValueRef call, unsigned guard);

/* The flags of mmap() say that nobody else sees what is stored there. */
static bool is_private(LLVMValueRef flags)
{
    return LLVMIsAConstantInt(flags) && (LLVMConstIntGetZExtValue(flags) & MAP_TYPE) == MAP_PRIVATE;
}

static bool wraps_shared(const PointsTo *pt, LLVMValueRef fn, unsigned guard)
{
    enum { MOST_WRAPPERS = 8 };

    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb && guard < MOST_WRAPPERS;
         bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsACallInst(i) && pointsto_hands_on(pt, i) && maps_shared(pt, i, guard + 1))
                return true;
    return false;
}

static bool maps_shared(const PointsTo *pt, LLVMValueRef call, unsigned guard)
{
    LLVMValueRef fn = LLVMIsACallInst(call) ? LLVMGetCalledValue(call) : NULL;
    size_t n;

    if (!fn || !LLVMIsAFunction(fn))
        return false;
    if (!LLVMIsDeclaration(fn))
        return pt && wraps_shared(pt, fn, guard);
    const char *name = LLVMGetValueName2(fn, &n);
    if (!strcmp(name, "mmap") || !strcmp(name, "mmap64"))
        return LLVMGetNumArgOperands(call) < 4 || !is_private(LLVMGetOperand(call, 3));
    return !strcmp(name, "shmat");
}

bool mut_maps_shared(const PointsTo *pt, LLVMValueRef call) { return maps_shared(pt, call, 0); }

/* ---- variables that have other names */

/* Symbols that the linker makes: who takes their address may walk over all variables. */
static bool walks_variables(LLVMModuleRef module)
{
    static const char *const names[] = {
        "__bss_start",
        "_end",
        "end",
        "_edata",
        "edata",
        "_etext",
        "etext",
        "__etext",
        "__data_start",
        "data_start",
        "__executable_start",
        "__ehdr_start",
        "_GLOBAL_OFFSET_TABLE_",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        LLVMValueRef g = LLVMGetNamedGlobal(module, names[i]);
        if (g && LLVMIsDeclaration(g) && LLVMGetFirstUse(g))
            return true;
    }
    return false;
}

/* Assembler may name any variable, or give it another name. */
static void add_assembly(LoadIndex *ix, const char *text, size_t n)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.";

    for (const char *s = text, *end = text + n; s < end;) {
        size_t len = strspn(s, letters);
        len = len < (size_t)(end - s) ? len : (size_t)(end - s);
        if (len)
            map_putn(&ix->in_assembly, s, len, ix);
        s += len ? len : 1;
    }
}

static bool is_in_assembly(const LoadIndex *ix, LLVMValueRef g)
{
    size_t n;
    const char *name = LLVMGetValueName2(g, &n);
    const char *dot = memrchr(name, '.', n);

    if (map_getn(&ix->in_assembly, name, n))
        return true;
    /* A unit's own x, which became x.5 where units were linked. */
    return dot && dot[1] && dot + 1 + strspn(dot + 1, "0123456789") == name + n &&
           map_getn(&ix->in_assembly, name, (size_t)(dot - name));
}

/* Memory that has other names, and is read unseen: a variable that the library defines
 * (environ, __environ and _environ are one), that assembler or the linker name, what the library
 * returned, memory that may be mapped twice. */
static bool has_other_names(const PointsTo *pt, const LoadIndex *ix, uint32_t loc)
{
    const PtObject *o = object_at(pt, loc);

    if (o->kind == PT_GLOBAL && o->site)
        return ix->walks || LLVMIsDeclaration(o->site) || is_in_assembly(ix, o->site);
    return o->kind == PT_LIBRARY || (o->kind == PT_HEAP && o->site && mut_maps_shared(pt, o->site));
}

static void add_later(Mutability *m, LoadIndex *ix, LLVMValueRef fn)
{
    const Function *f = program_function_of(m->program, fn);

    for (size_t i = 0; f && i < ix->later.len; i++)
        if (ix->later.items[i] == f)
            return;
    if (f)
        vec_push(&ix->later, f);
}

static void index_later(Mutability *m, LoadIndex *ix, LLVMValueRef call)
{
    size_t n;
    const LLVMValueRef *fns = pointsto_callbacks(m->pt, call, &n);

    for (size_t i = 0; i < n; i++)
        add_later(m, ix, fns[i]);
}

static bool is_renamed(const PointsTo *pt, const LoadIndex *ix, LLVMValueRef address)
{
    PtSet to = pointsto_value(pt, address, 0);

    for (size_t i = 0; i < to.n; i++)
        if (has_other_names(pt, ix, to.locs[i]))
            return true;
    return false;
}

/* Functions that are stored in a variable of the library are called when it likes:
 * error_print_progname = on_error. What comes from outside is outside already. Other
 * pointers are found again by other names. */
static void index_store(Mutability *m, LoadIndex *ix, LLVMValueRef store)
{
    LLVMValueRef address = LLVMGetOperand(store, 1);
    PtSet what = pointsto_value(m->pt, LLVMGetOperand(store, 0), 0);
    bool outside = false;

    if (!what.n || !is_renamed(m->pt, ix, address))
        return;
    for (size_t i = 0; i < what.n; i++)
        outside |= object_at(m->pt, what.locs[i])->kind == PT_EXTERNAL;
    for (size_t i = 0; i < what.n; i++) {
        const PtObject *o = object_at(m->pt, what.locs[i]);
        if (o->kind == PT_FUNCTION && (!outside || LLVMIsAGlobalVariable(address)))
            add_later(m, ix, o->site);
        else if (o->kind != PT_FUNCTION && (o->kind != PT_GLOBAL || o->site))
            ptreach_add(&ix->stored, pointsto_location(m->pt, what.locs[i]).object);
    }
}

/* A copy into such memory takes what is stored in the object. */
static void index_copy(Mutability *m, LoadIndex *ix, LLVMValueRef copy)
{
    PtSet from = pointsto_value(m->pt, LLVMGetOperand(copy, 1), 0);

    if (!is_renamed(m->pt, ix, LLVMGetOperand(copy, 0)))
        return;
    for (size_t i = 0; i < from.n; i++)
        ptreach_add(&ix->stored, pointsto_location(m->pt, from.locs[i]).object);
}

static void add_all_later(Mutability *m, LoadIndex *ix, LLVMValueRef constant, int guard)
{
    enum { MOST_DEPTH = 8 };

    if (LLVMIsAFunction(constant))
        add_later(m, ix, constant);
    else if (!LLVMIsAGlobalValue(constant) && guard < MOST_DEPTH)
        for (int i = 0; i < LLVMGetNumOperands(constant); i++)
            add_all_later(m, ix, LLVMGetOperand(constant, (unsigned)i), guard + 1);
}

/* __attribute__((destructor)), section(".fini_array"), the linker's -fini. */
static void index_destructors(Mutability *m, LoadIndex *ix)
{
    LLVMModuleRef module = program_module(m->program);
    size_t n;

    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g)) {
        const char *section = LLVMGetSection(g);
        if (!LLVMIsDeclaration(g) &&
            (!strcmp(LLVMGetValueName2(g, &n), "llvm.global_dtors") ||
             (section && (str_starts(section, ".fini") || str_starts(section, ".dtors")))))
            add_all_later(m, ix, LLVMGetInitializer(g), 0);
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (program_runs_at_end(f))
            add_later(m, ix, f);
}

static void index_call(Mutability *m, LoadIndex *ix, LLVMValueRef call)
{
    size_t n;
    const LLVMValueRef *t = pointsto_targets(m->pt, call, &n);
    bool known = !pointsto_calls_outside(m->pt, call);

    for (size_t i = 0; i < n; i++) {
        uint32_t f = pttable_get(&m->body_of, (uintptr_t)t[i]);
        size_t len;
        const Summary *lib =
            f == NONE ? summaries_find(m->summaries, LLVMGetValueName2(t[i], &len)) : NULL;
        if (f != NONE)
            vec_push(&ix->calls_of[f], call);
        else if (!lib)
            known = false;
        else if (lib->later)
            index_later(m, ix, call);
    }
    if (!known || pointsto_runs_outside(m->pt, m->summaries, call))
        vec_push(&ix->unknown, call);
    uint64_t mask = arguments_read(m, call);
    if (mask && pttable_put(&ix->reading, (uintptr_t)call, (uint32_t)ix->masks.len))
        vec_push(&ix->masks, mask);
}

/* Other names come first: stores are compared with them. */
static void index_names(Mutability *m, LoadIndex *ix)
{
    LLVMModuleRef module = program_module(m->program);
    size_t n;
    const char *text = LLVMGetModuleInlineAsm(module, &n);

    ix->walks = walks_variables(module);
    add_assembly(ix, text, n);
    for (size_t k = 0; k < m->nbodies; k++) {
        const Body *b = &m->bodies[k];
        for (size_t i = 0; b->fn && i < b->ops.len; i++)
            if (b->ops.items[i].kind == OP_ASM) {
                text = LLVMGetInlineAsmAsmString(LLVMGetCalledValue(b->ops.items[i].inst), &n);
                add_assembly(ix, text, n);
            }
    }
}

/* Unknown code calls the functions whose address it has. */
static void index_outside(Mutability *m, LoadIndex *ix)
{
    Vec(const Function *) work = { 0 };
    size_t n;

    for (size_t k = 0; k < m->nbodies; k++) {
        const Function *f = m->bodies[k].fn;
        if (f && strcmp(f->name, "main") && pointsto_called_from_outside(m->pt, m->bodies[k].value))
            vec_push(&ix->back, f);
    }
    for (size_t i = 0; i < ix->unknown.len; i++) {
        LLVMBasicBlockRef at = LLVMGetInstructionParent(ix->unknown.items[i]);
        const Function *f = program_function_of(m->program, LLVMGetBasicBlockParent(at));
        if (f && !LLVMIsAInlineAsm(LLVMGetCalledValue(ix->unknown.items[i])))
            vec_push(&work, f);
    }
    while (work.len) {
        const Function *f = work.items[--work.len];
        if (ix->goes_out[f->index])
            continue;
        ix->goes_out[f->index] = true;
        const Function *const *from = calls_callers(m->calls, f, &n);
        for (size_t i = 0; i < n; i++)
            vec_push(&work, from[i]);
    }
    vec_release(&work);
}

/* Does the library function remember the argument? Another function gives it back. */
static bool is_kept(const Summary *lib, unsigned arg, unsigned use)
{
    for (size_t i = 0; i < lib->nassigns; i++)
        if (lib->assigns[i].to.kind == SUMMARY_STATE && names(lib, &lib->assigns[i].from, arg))
            return true;
    return use & SUMMARY_KEEP;
}

static void add_given(Mutability *m, PtReach *r, LLVMValueRef call)
{
    size_t n, len;
    const LLVMValueRef *t = pointsto_targets(m->pt, call, &n);

    for (size_t i = 0; i < n; i++) {
        const Summary *lib =
            mut_body(m, t[i]) ? NULL : summaries_find(m->summaries, LLVMGetValueName2(t[i], &len));
        for (unsigned k = 0; lib && k < LLVMGetNumArgOperands(call); k++) {
            PtSet s = pointsto_value(m->pt, LLVMGetOperand(call, k), 0);
            if (!is_kept(lib, k, mut_use(m, lib, call, k)))
                continue;
            for (size_t j = 0; j < s.n; j++)
                ptreach_add(r, m->pt->locs.items[s.locs[j]].object);
        }
    }
}

/* A client calls pthread_getspecific(), strtok(NULL, …) or hsearch(), too. */
static void index_given(Mutability *m, LoadIndex *ix)
{
    PtReach r = { 0 };
    uint32_t o;

    for (size_t k = 0; m->pt->open_world && k < m->nbodies; k++)
        for (size_t i = 0; m->bodies[k].fn && i < m->bodies[k].ops.len; i++)
            if (m->bodies[k].ops.items[i].kind == OP_CALL)
                add_given(m, &r, m->bodies[k].ops.items[i].inst);
    while (ptreach_next(m->pt, &r, &o))
        ptbits_add(&ix->given, o);
    ptreach_release(&r);
}

static void add_objects(Mutability *m, const PtBits *written, PtBits *out)
{
    uint32_t last = UINT32_MAX;

    for (PtIter i = ptbits_first(written); i.on; ptbits_next(&i)) {
        uint32_t o = m->pt->locs.items[i.x].object;
        if (o != last)
            ptbits_add(out, o);
        last = o;
        m->steps++;
    }
}

static void add_changed(Mutability *m, LLVMValueRef fn, PtBits *out)
{
    add_objects(m, modref_function_bits(m->modref, fn, MODREF_WRITE), out);
}

static void index_changes(Mutability *m, LoadIndex *ix)
{
    for (size_t i = 0; i < ix->later.len; i++)
        add_changed(m, program_function_value(m->program, ix->later.items[i]), &ix->by_later);
    add_objects(m, modref_world(m->modref), &ix->by_outside);
    ptbits_union(&ix->by_outside, &ix->given, NULL);
    for (size_t i = 0; i < ix->back.len; i++)
        add_changed(m, program_function_value(m->program, ix->back.items[i]), &ix->by_outside);
}

static LoadIndex *index_new(Mutability *m)
{
    LoadIndex *ix = xcalloc(1, sizeof *ix);

    ix->calls_of = xcalloc(m->nbodies + 1, sizeof *ix->calls_of);
    index_names(m, ix);
    for (size_t k = 0; k < m->nbodies; k++) {
        Body *b = &m->bodies[k];
        for (size_t i = 0; b->fn && i < b->ops.len; i++) {
            if (b->ops.items[i].kind == OP_CALL)
                index_call(m, ix, b->ops.items[i].inst);
            else if (b->ops.items[i].kind == OP_ASM)
                vec_push(&ix->unknown, b->ops.items[i].inst);
            else if (LLVMIsAStoreInst(b->ops.items[i].inst))
                index_store(m, ix, b->ops.items[i].inst);
            else if (b->ops.items[i].kind == OP_MEMCPY && b->ops.items[i].pointer)
                index_copy(m, ix, b->ops.items[i].inst);
        }
    }
    index_destructors(m, ix);
    ix->goes_out = xcalloc(m->nbodies + 1, sizeof *ix->goes_out);
    index_outside(m, ix);
    index_given(m, ix);
    index_changes(m, ix);
    ix->exposed = mut_exposed(m);
    for (uint32_t o; ptreach_next(m->pt, &ix->stored, &o);)
        ptbits_add(&ix->exposed, o);
    return ix;
}

void mut_memory_release(Mutability *m)
{
    LoadIndex *ix = m->loads;

    ptbits_release(&m->changed);
    if (!ix)
        return;
    for (size_t i = 0; i < m->nbodies; i++)
        vec_release(&ix->calls_of[i]);
    free(ix->calls_of);
    vec_release(&ix->unknown);
    vec_release(&ix->later);
    vec_release(&ix->back);
    free(ix->goes_out);
    pttable_release(&ix->reading);
    vec_release(&ix->masks);
    ptbits_release(&ix->by_later);
    ptbits_release(&ix->by_outside);
    ptbits_release(&ix->given);
    ptbits_release(&ix->exposed);
    ptreach_release(&ix->stored);
    map_release(&ix->in_assembly);
    free(ix);
}

/* ---- what is followed */

static void fail(Search *s, unsigned kind, LLVMValueRef by)
{
    if (s->answer.deep)
        s->answer.obstacle = by;
    s->answer.deep = false;
    if (kind & OWN) {
        if (s->answer.own)
            s->answer.own_obstacle = by;
        s->answer.own = false;
    }
}

static void taint(Search *s, LLVMValueRef v, unsigned kind)
{
    uint32_t old = pttable_get(&s->taint, (uintptr_t)v);
    uint32_t now = (old == NONE ? 0 : old) | kind;

    if (now == old)
        return;
    pttable_put(&s->taint, (uintptr_t)v, now);
    vec_push(&s->work, v);
}

static void add_cell(Search *s, uint32_t loc, unsigned kind)
{
    s->grown |= ptbits_add(&s->cells[kind], loc);
}

static bool may_be_same(const Member *a, const Member *b)
{
    if (!a->known || !b->known)
        return true;
    return a->outer == b->outer || a->outer == b->inner || a->inner == b->outer ||
           (a->type == b->type && a->inner == b->inner);
}

static void add_member(Search *s, const Member *at, unsigned kind)
{
    for (size_t i = 0; i < s->members[kind].len; i++) {
        const Member *x = &s->members[kind].items[i];
        if (!x->known ||
            (x->outer == at->outer && x->inner == at->inner && x->type == at->type && at->known))
            return;
    }
    vec_push(&s->members[kind], *at);
    s->grown = true;
}

/* The reference is stored there: in one place, or anywhere in the object. */
static void add_cells(Search *s, LLVMValueRef address, bool whole, unsigned kind)
{
    const PointsTo *pt = s->m->pt;
    PtSet set = pointsto_value(pt, address, 0);
    Member at = whole ? (Member){ 0 } : mut_member(s->m, address);

    add_member(s, &at, kind);
    if (!pttable_put(&s->added, (uintptr_t)set.locs << 3 | (unsigned)whole << 2 | kind, 0))
        return;
    s->steps += set.n;
    for (size_t i = 0; i < set.n; i++) {
        PtLoc l = pt->locs.items[set.locs[i]];
        PtRange r = pt->objects.items[l.object].locs;
        bool all = whole || l.offset == ANY;
        if (has_other_names(pt, s->ix, set.locs[i]) || ptbits_has(&s->ix->exposed, l.object))
            fail(s, kind, LLVMIsAInstruction(address));
        for (uint32_t k = r.start; k < r.start + r.n; k++)
            if (all || k == set.locs[i] || pt->locs.items[k].offset == ANY)
                add_cell(s, k, kind);
    }
}

/* ---- scope */

static void run_function(Search *s, const Function *fn)
{
    Vec(const Function *) work = { 0 };

    vec_push(&work, fn);
    while (work.len) {
        const Function *f = work.items[--work.len];
        size_t n;
        if (s->scope[f->index])
            continue;
        s->scope[f->index] = true;
        const Function *const *to = calls_callees(s->m->calls, f, &n);
        for (size_t i = 0; i < n; i++)
            if (!s->scope[to[i]->index])
                vec_push(&work, to[i]);
    }
    vec_release(&work);
}

static uint32_t op_of(const Body *b, LLVMValueRef inst)
{
    for (uint32_t i = 0; i < b->ops.len; i++)
        if (b->ops.items[i].inst == inst)
            return i;
    return 0;
}

/* All that may run after this operation. */
static void run_after(Search *s, Body *b, uint32_t op)
{
    for (size_t i = 0; i < s->after.len; i++)
        if (s->after.items[i].b == b && s->after.items[i].op == op)
            return;
    vec_push(&s->after, ((Point){ b, op }));
    for (uint32_t i = 0; i < b->ops.len; i++) {
        size_t n, k;
        if (b->ops.items[i].kind != OP_CALL || !mut_comes_later(b, op, i))
            continue;
        const LLVMValueRef *t = pointsto_targets(s->m->pt, b->ops.items[i].inst, &n);
        const LLVMValueRef *c = pointsto_callbacks(s->m->pt, b->ops.items[i].inst, &k);
        for (size_t j = 0; j < n + k; j++) {
            const Function *f = program_function_of(s->m->program, j < n ? t[j] : c[j - n]);
            if (f && !f->intrinsic)
                run_function(s, f);
        }
    }
}

static bool may_call(Search *s, LLVMValueRef call, LLVMValueRef fn)
{
    size_t n, k;
    const LLVMValueRef *t = pointsto_targets(s->m->pt, call, &n);
    const LLVMValueRef *c = pointsto_callbacks(s->m->pt, call, &k);

    for (size_t i = 0; i < n + k; i++)
        if ((i < n ? t[i] : c[i - n]) == fn)
            return true;
    return false;
}

/* After all stores to these places, or all calls of the function that stores;
 * from there down to the store. */
static void run_after_effect(Search *s, Body *b, const Effect *e, int guard)
{
    Body *g = e->callee && e->next != NONE ? mut_body(s->m, e->callee) : NULL;

    for (uint32_t i = 0; i < b->ops.len; i++) {
        const Op *o = &b->ops.items[i];
        bool here = o->inst == e->inst || (g ? o->kind == OP_CALL && may_call(s, o->inst, e->callee)
                                             : !e->callee && o->origin == e->origin);
        if (here)
            run_after(s, b, i);
    }
    if (!g)
        return;
    if (guard > 20 || e->next >= g->flow.effects.len)
        run_function(s, g->fn); /* a long way: all of it */
    else
        run_after_effect(s, g, &g->flow.effects.items[e->next], guard + 1);
}

static LLVMValueRef function_of(LLVMValueRef inst)
{
    return LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst));
}

static bool comes_after(Search *s, Body *b, uint32_t op)
{
    for (size_t i = 0; i < s->after.len; i++)
        if (s->after.items[i].b == b && mut_comes_later(b, s->after.items[i].op, op))
            return true;
    return false;
}

static bool in_scope(Search *s, LLVMValueRef inst)
{
    uint32_t f = pttable_get(&s->m->body_of, (uintptr_t)function_of(inst));

    if (f == NONE)
        return false;
    if (s->scope[f])
        return true;
    Body *b = &s->m->bodies[f];
    return comes_after(s, b, op_of(b, inst));
}

/* ---- uses */

static void stored_by(Search *s, LLVMValueRef origin, unsigned kind)
{
    size_t n;

    if (origin && LLVMIsAStoreInst(origin)) {
        add_cells(s, LLVMGetOperand(origin, 1), false, kind);
    } else if (origin && LLVMIsACallInst(origin) && LLVMIsAFunction(LLVMGetCalledValue(origin)) &&
               str_starts(LLVMGetValueName2(LLVMGetCalledValue(origin), &n), "llvm.mem")) {
        add_cells(s, LLVMGetOperand(origin, 0), true, kind);
    } else {
        fail(s, kind, origin);
    }
}

static unsigned level(const Path *p, unsigned kind) { return p->depth ? DEEP : kind; }

static bool is_shown(const Search *s, const Effect *e)
{
    return !s->m->breaks_const && e->kind == EFFECT_REASON && e->reason == MUT_SHOWN;
}

/* Does the path of a function begin at the argument? Variadic ones lie in one object. */
static bool begins_at(const Body *g, Path *p, unsigned arg)
{
    if (arg < g->nargs)
        return p->root == arg;
    if (p->root != g->nargs || !p->depth)
        return false;
    p->depth--;
    return true;
}

static void use_by_body(Search *s, LLVMValueRef call, const Body *g, unsigned arg, unsigned kind)
{
    bool pointer = LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, arg))) == LLVMPointerTypeKind;

    for (size_t i = 0; i < g->flow.effects.len; i++) {
        const Effect *e = &g->flow.effects.items[i];
        Path p = e->path;
        bool text = e->numbers && pointer && arg >= g->nargs;
        if (text || !begins_at(g, &p, arg))
            continue;
        unsigned k = level(&p, kind);
        if (e->kind == EFFECT_STORE)
            stored_by(s, e->origin, k);
        else
            fail(s, is_shown(s, e) ? DEEP : k, e->origin ? e->origin : call);
    }
    for (uint32_t i = 0; i < g->flow.returns.len; i++) {
        Path p = g->flow.returns.items[i];
        if (begins_at(g, &p, arg))
            taint(s, call, level(&p, kind));
    }
}

static void use_by_library(Search *s, LLVMValueRef call, const Summary *lib, unsigned arg,
                           unsigned kind)
{
    unsigned use = mut_use(s->m, lib, call, arg);

    if (use & (SUMMARY_CHANGES | SUMMARY_KEEP) || mut_keeps_number(lib, call, arg) ||
        mut_prints_out(s->m, lib, call, arg))
        fail(s, kind, call);
    if (summary_gives_numbers(lib))
        taint(s, call, kind);
    for (size_t i = 0; i < lib->nwrites; i++)
        if (names(lib, &lib->writes[i], arg))
            fail(s, lib->writes[i].stars ? DEEP : kind, call);
    if (names(lib, &lib->ret, arg))
        taint(s, call, lib->ret.stars ? DEEP : kind);
    for (size_t i = 0; i < lib->nassigns; i++) {
        const SummaryAssign *x = &lib->assigns[i];
        if (!names(lib, &x->from, arg))
            continue;
        if (x->to.kind == SUMMARY_PARAM && x->to.stars == 1)
            add_cells(s, LLVMGetOperand(call, x->to.param), true, x->from.stars ? DEEP : kind);
        else
            fail(s, kind, call);
    }
    for (size_t i = 0; i < lib->ncallbacks; i++)
        for (unsigned k = 0; k < lib->callbacks[i].nargs; k++) {
            size_t n;
            const LLVMValueRef *fns = pointsto_callbacks(s->m->pt, call, &n);
            if (!names(lib, &lib->callbacks[i].args[k], arg))
                continue;
            for (size_t j = 0; j < n; j++) {
                const Body *g = mut_body(s->m, fns[j]);
                if (g && arg < lib->nparams)
                    use_by_body(s, call, g, k, kind);
                else
                    fail(s, kind, call);
            }
        }
}

static void use_by_intrinsic(Search *s, LLVMValueRef call, const char *name, unsigned arg,
                             unsigned kind)
{
    bool copies = str_starts(name, "llvm.memcpy") || str_starts(name, "llvm.memmove");

    if (copies && arg == 1)
        add_cells(s, LLVMGetOperand(call, 0), true, DEEP);
    else if ((copies || str_starts(name, "llvm.memset")) && !arg)
        fail(s, kind, call);
    else if (!pt_is_known_intrinsic(call))
        fail(s, kind, call);
    else if (!str_starts(name, "llvm.dbg") && !str_starts(name, "llvm.lifetime"))
        taint(s, call, kind);
}

static void use_by_call(Search *s, LLVMValueRef call, unsigned arg, unsigned kind)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    size_t n, len;

    if (LLVMIsAInlineAsm(callee)) {
        fail(s, kind, call);
        return;
    }
    if (LLVMIsAFunction(callee) && str_starts(LLVMGetValueName2(callee, &len), "llvm.")) {
        use_by_intrinsic(s, call, LLVMGetValueName2(callee, &len), arg, kind);
        return;
    }
    const LLVMValueRef *t = pointsto_targets(s->m->pt, call, &n);
    for (size_t i = 0; i < n; i++) {
        const Body *g = mut_body(s->m, t[i]);
        const Summary *lib =
            g ? NULL : summaries_find(s->m->summaries, LLVMGetValueName2(t[i], &len));
        if (g)
            use_by_body(s, call, g, arg, kind);
        else if (lib)
            use_by_library(s, call, lib, arg, kind);
        else
            fail(s, kind, call);
    }
    if (!n || pointsto_calls_outside(s->m->pt, call))
        fail(s, kind, call);
}

/* The call on the way to the store returns what the store kept. */
static bool is_on_the_way(Search *s, LLVMValueRef call)
{
    for (size_t i = 0; i < s->after.len; i++)
        if (s->after.items[i].b->ops.items[s->after.items[i].op].inst == call)
            return true;
    return in_scope(s, call);
}

static void use_by_return(Search *s, LLVMValueRef ret, unsigned kind)
{
    LLVMValueRef fn = function_of(ret);
    uint32_t f = pttable_get(&s->m->body_of, (uintptr_t)fn);

    if (fn == s->b->value && !s->scope[s->b->fn->index])
        return; /* the call is over */
    if (s->outside && pointsto_called_from_outside(s->m->pt, fn))
        fail(s, kind, ret); /* unknown code has it now */
    for (size_t i = 0; f != NONE && i < s->ix->calls_of[f].len; i++)
        if (is_on_the_way(s, s->ix->calls_of[f].items[i]))
            taint(s, s->ix->calls_of[f].items[i], kind);
}

/* Does the instruction hand a piece on to where nobody follows it? */
static bool goes_on(LLVMValueRef user, LLVMValueRef v)
{
    if (LLVMIsAStoreInst(user))
        return LLVMGetOperand(user, 0) == v;
    if (LLVMIsACallInst(user)) {
        size_t n;
        LLVMValueRef callee = LLVMGetCalledValue(user);
        return !LLVMIsAFunction(callee) || !str_starts(LLVMGetValueName2(callee, &n), "llvm.dbg.");
    }
    return LLVMIsAReturnInst(user) || LLVMIsAInsertElementInst(user) ||
           LLVMIsAInsertValueInst(user) || LLVMIsAAtomicRMWInst(user) ||
           LLVMIsAAtomicCmpXchgInst(user);
}

static void use(Search *s, LLVMValueRef v, LLVMValueRef user, unsigned kind)
{
    bool piece = !mut_carries(s->m, LLVMTypeOf(v));

    if (piece && goes_on(user, v)) {
        fail(s, kind, user);
        return;
    }
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad:
        if (mut_carries(s->m, LLVMTypeOf(user)) ||
            mut_has_seen_pointers(s->m, v,
                                  (int64_t)LLVMABISizeOfType(s->m->layout, LLVMTypeOf(user))))
            taint(s, user, DEEP);
        break;
    case LLVMStore:
        if (LLVMGetOperand(user, 1) == v)
            fail(s, kind, user);
        if (LLVMGetOperand(user, 0) == v)
            add_cells(s, LLVMGetOperand(user, 1), false, kind);
        break;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        if (LLVMGetOperand(user, 0) == v)
            fail(s, kind, user);
        else
            add_cells(s, LLVMGetOperand(user, 0), false, kind);
        break;
    case LLVMCall:
    case LLVMInvoke:
    case LLVMCallBr:
        if (LLVMGetCalledValue(user) == v && mut_is_computed(v, 0))
            fail(s, kind, user);
        for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++)
            if (LLVMGetOperand(user, i) == v)
                use_by_call(s, user, i, kind);
        break;
    case LLVMRet: use_by_return(s, user, kind); break;
    case LLVMICmp:
    case LLVMFCmp:
    case LLVMSwitch:
        if (mut_tells_bits(v) || piece || mut_is_guessed(s->m, user, v))
            fail(s, kind, user);
        break;
    case LLVMGetElementPtr:
        if (LLVMGetOperand(user, 0) == v)
            taint(s, user, kind);
        else if (mut_is_index_of_null(s->m, user))
            taint(s, user, kind);
        else if (mut_tells_bits(v) || piece)
            fail(s, kind, user);
        break;
    case LLVMSub:
        if (!mut_is_address(s->m, LLVMGetOperand(user, LLVMGetOperand(user, 0) == v)))
            taint(s, user, kind);
        break;
    case LLVMBr: break;
    case LLVMAlloca:
    case LLVMIndirectBr:
        if (mut_is_computed(v, 0))
            fail(s, kind, user);
        break;
    default: taint(s, user, kind);
    }
}

/* ---- the search */

/* A call that takes references from the memory it is given. */
static void add_reading_call(Search *s, LLVMValueRef call)
{
    uint32_t i = pttable_get(&s->ix->reading, (uintptr_t)call);

    if (i == NONE)
        return;
    for (unsigned k = 0; k < LLVMGetNumArgOperands(call) && k < 64; k++)
        if (s->ix->masks.items[i] >> k & 1)
            vec_push(&s->candidates,
                     ((Candidate){ .inst = call,
                                   .from = pointsto_value(s->m->pt, LLVMGetOperand(call, k), 0),
                                   .leaves = true }));
}

/* All loads that may run after the store; false: too many. */
static bool find_candidates(Search *s)
{
    for (size_t k = 0; k < s->m->nbodies; k++) {
        Body *b = &s->m->bodies[k];
        bool all = b->fn && s->scope[k], some = all;
        for (size_t i = 0; b->fn && !some && i < s->after.len; i++)
            some = s->after.items[i].b == b;
        for (uint32_t i = 0; some && i < b->ops.len; i++) {
            const Op *o = &b->ops.items[i];
            bool load = o->kind == OP_LOAD && ((o->dst != NONE && o->pointer) || o->piece);
            if (!load && !(o->kind == OP_MEMCPY && (o->pointer || o->piece)) && o->kind != OP_CALL)
                continue;
            if (!all && !comes_after(s, b, i))
                continue;
            if (o->kind == OP_CALL) {
                add_reading_call(s, o->inst);
                continue;
            }
            LLVMValueRef from = LLVMGetOperand(o->inst, load ? 0 : 1);
            Candidate c = { .inst = o->inst, .from = pointsto_value(s->m->pt, from, 0) };
            c.leaves = o->piece;
            if (load && !c.leaves)
                c.member = mut_member(s->m, from);
            vec_push(&s->candidates, c);
        }
        if (s->candidates.len > MOST_CANDIDATES)
            return false;
    }
    return true;
}

static bool may_be_stored(Search *s, const Candidate *c, unsigned kind)
{
    for (size_t i = 0; i < s->members[kind].len; i++)
        if (may_be_same(&c->member, &s->members[kind].items[i]))
            return true;
    return false;
}

/* May a part of the pointer at `cell` be read at `at`? */
static bool overlaps(int64_t at, int64_t cell)
{
    return at == ANY || cell == ANY || (cell > at - 8 && cell < at + 8);
}

/* Is the reference in an object that a call can reach from its argument? */
static bool is_within_reach(Search *s, const Candidate *c, unsigned kind)
{
    const PointsTo *pt = s->m->pt;
    PtReach reach = { 0 };
    bool found = false;
    uint32_t o;

    for (size_t i = 0; i < c->from.n; i++)
        ptreach_add(&reach, pt->locs.items[c->from.locs[i]].object);
    while (!found && ptreach_next(pt, &reach, &o)) {
        PtRange r = pt->objects.items[o].locs;
        for (uint32_t k = r.start; !found && k < r.start + r.n; k++)
            found = ptbits_has(&s->cells[kind], k);
        s->steps++;
    }
    ptreach_release(&reach);
    return found;
}

static bool holds(Search *s, const Candidate *c, unsigned kind, PtTable *known)
{
    const PointsTo *pt = s->m->pt;
    bool piece = c->leaves && !LLVMIsACallInst(c->inst);
    bool whole = piece || LLVMIsACallInst(c->inst);
    bool far = c->leaves && LLVMIsACallInst(c->inst);
    uint64_t key = (uintptr_t)c->from.locs << 3 | (unsigned)far << 2 | (unsigned)piece << 1 | whole;
    uint32_t answer = pttable_get(known, key);

    if (answer != NONE)
        return answer;
    answer = far && is_within_reach(s, c, kind);
    for (size_t i = 0; !answer && i < c->from.n; i++) {
        answer = ptbits_has(&s->cells[kind], c->from.locs[i]);
        PtLoc at = pt->locs.items[c->from.locs[i]];
        PtRange r = pt->objects.items[at.object].locs;
        for (uint32_t k = r.start; whole && !answer && k < r.start + r.n; k++)
            answer = (!piece || overlaps(at.offset, pt->locs.items[k].offset)) &&
                     ptbits_has(&s->cells[kind], k);
    }
    s->steps += c->from.n / 8;
    pttable_put(known, key, answer);
    return answer;
}

static void load_again(Search *s, unsigned kind)
{
    PtTable known = { 0 };

    for (size_t i = 0; i < s->candidates.len; i++) {
        Candidate *c = &s->candidates.items[i];
        if (c->seen & kind || !may_be_stored(s, c, kind) || !holds(s, c, kind, &known))
            continue;
        c->seen |= kind;
        if (c->leaves)
            fail(s, kind, c->inst);
        else if (LLVMIsACallInst(c->inst)) /* a memcpy from there */
            add_cells(s, LLVMGetOperand(c->inst, 0), true, kind);
        else
            taint(s, c->inst, kind);
    }
    pttable_release(&known);
}

static bool is_given(const Search *s, unsigned kind)
{
    if (!s->ix->given.len)
        return false;
    for (PtIter i = ptbits_first(&s->cells[kind]); i.on; ptbits_next(&i))
        if (ptbits_has(&s->ix->given, s->m->pt->locs.items[i.x].object))
            return true;
    return false;
}

/* Code outside gets at it without being given anything. */
static bool is_anybodys(const Search *s, unsigned kind)
{
    return ptbits_meet(modref_world(s->m->modref), &s->cells[kind]) || is_given(s, kind);
}

/* Code that nobody knows may load it too, if it can get there. */
static void unknown_calls(Search *s)
{
    bool anybodys[] = { [OWN] = is_anybodys(s, OWN), [DEEP] = is_anybodys(s, DEEP) };

    for (size_t i = 0; i < s->ix->unknown.len && (s->answer.deep || s->answer.own); i++) {
        LLVMValueRef call = s->ix->unknown.items[i];
        if (!in_scope(s, call))
            continue;
        s->steps += 100;
        for (unsigned kind = OWN; kind <= DEEP; kind++)
            if ((kind == OWN ? s->answer.own : s->answer.deep) &&
                (anybodys[kind] ||
                 modref_call_meets(s->m->modref, call, &s->cells[kind], MODREF_READ)))
                fail(s, kind, call);
    }
}

static bool go_on(Search *s)
{
    if (s->steps <= MOST_STEPS)
        return s->answer.deep || s->answer.own;
    fail(s, OWN | DEEP, s->answer.obstacle);
    return false;
}

static void search(Search *s)
{
    while (go_on(s)) {
        if (s->work.len) {
            LLVMValueRef v = s->work.items[--s->work.len];
            unsigned kind = pttable_get(&s->taint, (uintptr_t)v);
            for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
                s->steps++;
                if (kind & OWN)
                    use(s, v, LLVMGetUser(u), OWN);
                if (kind & DEEP)
                    use(s, v, LLVMGetUser(u), DEEP);
            }
        } else if (s->grown) {
            s->grown = false;
            s->steps += s->candidates.len / 8;
            load_again(s, OWN);
            load_again(s, DEEP);
        } else {
            break;
        }
    }
    unknown_calls(s);
}

/* Does unknown code run after the store? */
static bool calls_out(Search *s)
{
    for (size_t i = 0; i < s->ix->unknown.len; i++)
        if (!LLVMIsAInlineAsm(LLVMGetCalledValue(s->ix->unknown.items[i])) &&
            in_scope(s, s->ix->unknown.items[i]))
            return true;
    return false;
}

MemoryAnswer mut_memory(Mutability *m, Body *b, unsigned first, unsigned n)
{
    if (!m->loads)
        m->loads = index_new(m);
    Search s = { .m = m, .b = b, .ix = m->loads, .answer = { true, true, NULL, NULL } };

    bool stored = false;

    s.scope = xcalloc(m->nbodies + 1, sizeof(bool));
    for (size_t i = 0; i < b->flow.effects.len; i++) {
        const Effect *e = &b->flow.effects.items[i];
        if (e->kind != EFFECT_STORE || e->path.root < first || e->path.root >= first + n)
            continue;
        run_after_effect(&s, b, e, 0);
        stored = true;
        stored_by(&s, e->origin, level(&e->path, OWN));
    }
    for (size_t i = 0; stored && i < s.ix->later.len; i++)
        run_function(&s, s.ix->later.items[i]);
    s.outside = stored && calls_out(&s);
    if (s.outside)
        for (size_t i = 0; i < s.ix->back.len; i++)
            run_function(&s, s.ix->back.items[i]);
    if (find_candidates(&s))
        search(&s);
    else
        fail(&s, OWN | DEEP, NULL);
    free(s.scope);
    vec_release(&s.candidates);
    vec_release(&s.after);
    vec_release(&s.work);
    pttable_release(&s.taint);
    pttable_release(&s.added);
    for (int k = OWN; k <= DEEP; k++) {
        ptbits_release(&s.cells[k]);
        vec_release(&s.members[k]);
    }
    return s.answer;
}

/* ---- changed by whatever pointer */

/* The objects that a function changes, or that a handler does meanwhile; the parameters of
 * a function are asked about in a row. */
static const PtBits *objects_changed(Mutability *m, LLVMValueRef fn)
{
    if (m->changed_by == fn)
        return &m->changed;
    if (!m->loads)
        m->loads = index_new(m);
    ptbits_release(&m->changed);
    m->changed_by = fn;
    add_changed(m, fn, &m->changed);
    ptbits_union(&m->changed, &m->loads->by_later, NULL);
    const Function *f = program_function_of(m->program, fn);
    if (f && m->loads->goes_out[f->index])
        ptbits_union(&m->changed, &m->loads->by_outside, NULL);
    return &m->changed;
}

void mut_unchanged(Mutability *m, LLVMValueRef fn, LLVMValueRef arg, bool *own, bool *deep)
{
    const PointsTo *pt = m->pt;
    const PtBits *changed = objects_changed(m, fn);
    PtSet start = pointsto_value(pt, arg, 0);
    PtReach r = { 0 };
    uint32_t o;

    *own = *deep = start.n > 0;
    for (size_t i = 0; i < start.n; i++) {
        o = pt->locs.items[start.locs[i]].object;
        if (ptbits_has(changed, o))
            *own = *deep = false;
        ptreach_add(&r, o);
    }
    while (*deep && ptreach_next(pt, &r, &o))
        if (ptbits_has(changed, o))
            *deep = false;
    ptreach_release(&r);
}
