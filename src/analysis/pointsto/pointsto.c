/* The main line of the points-to analysis, and the questions. */
#include "analysis/pointsto/pointsto.h"
#include "base/escape.h"
#include "base/file.h"
#include "program/program_llvm.h"
#include "analysis/pointsto/pt_answer.h"
#include <assert.h>
#include <string.h>
#include <time.h>

/* Raised when the rules change, so that answers by older rules are not read again. */
enum { RULES = 7 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void pt_release(Pt *pt)
{
    for (size_t i = 0; i < pt->nodes.len; i++) {
        PtNode *n = &pt->nodes.items[i];
        ptbits_release(&n->pts);
        ptbits_release(&n->fresh);
        ptbits_release(&n->todo);
        vec_release(&n->succs);
        vec_release(&n->constraints);
    }
    for (size_t i = 0; i < pt->objects.len; i++) {
        vec_release(&pt->objects.items[i].regions);
        vec_release(&pt->objects.items[i].locs);
        vec_release(&pt->objects.items[i].mirrors);
    }
    for (size_t i = 0; i < pt->calls.len; i++) {
        vec_release(&pt->calls.items[i].rejected);
        vec_release(&pt->calls.items[i].targets);
    }
    for (size_t i = 0; i < pt->wrappers.len; i++)
        vec_release(&pt->wrappers.items[i].calls);
    PtTable *tables[] = { &pt->edges,       &pt->loc_index,   &pt->object_of,  &pt->const_node,
                          &pt->vararg_node, &pt->connected,   &pt->call_of,    &pt->wrapper_of,
                          &pt->hands_on,    &pt->hands_inner, &pt->flow_known, &pt->flow_seen,
                          &pt->flow_met };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        pttable_release(tables[i]);
    vec_release(&pt->nodes);
    vec_release(&pt->objects);
    vec_release(&pt->locs);
    vec_release(&pt->constraints);
    vec_release(&pt->steps);
    vec_release(&pt->calls);
    vec_release(&pt->wrappers);
    vec_release(&pt->changed);
    map_release(&pt->named);
    strings_release(&pt->notes);
    arena_release(&pt->arena);
}

static void solve(PointsTo *a, const Summaries *s, const PointsToPlan *plan)
{
    Pt pt = { .v = &a->v, .summaries = s, .plan = plan };

    if (!plan->no_clones)
        pt_find_wrappers(&pt);
    pt_flow(&pt);
    pt_build(&pt);
    pt_solve(&pt);
    ptanswer_from(a, &pt);
    ptanswer_check(a);
    pt_release(&pt);
}

/* Without the file the next reading is slower, nothing else. */
static void keep(PointsTo *a, const PointsToPlan *plan, const char *key)
{
    Err err = { 0 };

    if (plan->cache && !ptanswer_write(a, plan->cache, key, &err))
        strings_addf(&a->notes, "the points-to sets are not kept: %s", err.msg);
}

PointsTo *pointsto_new(LLVMModuleRef m, const Summaries *s, const PointsToPlan *plan)
{
    PointsTo *a = xcalloc(1, sizeof *a);
    PointsToPlan p = *plan;
    LLVMValueRef main_fn = LLVMGetNamedFunction(m, "main");
    Str key = { 0 };
    double start = now();

    ptvalues_init(&a->v, m);
    if (!main_fn || LLVMIsDeclaration(main_fn))
        p.open_world = true;
    p.hidden_too |= pt_hides_all(m);
    str_addf(&key, SUNDEW_VERSION " rules %d, key %s, summaries %016llx, plan %d%d%d", RULES,
             p.key ? p.key : "", (unsigned long long)summaries_hash(s), p.open_world, p.hidden_too,
             p.no_clones);
    if (!p.cache || !ptanswer_read(a, p.cache, str_c(&key))) {
        PtValues v = a->v;
        memset(&a->v, 0, sizeof a->v);
        pointsto_free(a);
        a = xcalloc(1, sizeof *a);
        a->v = v;
        solve(a, s, &p);
        a->stats.seconds = now() - start;
        keep(a, &p, str_c(&key));
    }
    str_release(&key);
    a->open_world = p.open_world;
    ptanswer_open(a);
    return a;
}

void pointsto_check(const PointsTo *pt)
{
    ptanswer_check(pt);
    for (uint32_t i = 0; i < pt->objects.len; i++) {
        const PtObject *o = &pt->shown[i];
        assert(o->kind != PT_FUNCTION || LLVMIsAFunction(o->site));
        assert(o->kind != PT_STACK || LLVMIsAAllocaInst(o->site));
        assert(!pt->objects.items[i].pooled || pt->heap != NONE);
    }
    for (size_t i = 0; i < pt->functions.len; i++)
        assert(LLVMIsAFunction(pt->callees[i]));
}

void pointsto_free(PointsTo *pt)
{
    if (!pt)
        return;
    ptvalues_release(&pt->v);
    strings_release(&pt->notes);
    vec_release(&pt->objects);
    vec_release(&pt->regions);
    vec_release(&pt->locs);
    vec_release(&pt->content);
    vec_release(&pt->slot_set);
    vec_release(&pt->sets);
    vec_release(&pt->members);
    vec_release(&pt->calls);
    vec_release(&pt->functions);
    vec_release(&pt->outside);
    vec_release(&pt->wrappers);
    vec_release(&pt->hands_on);
    free(pt->shown);
    free(pt->self);
    free(pt->callees);
    pttable_release(&pt->call_at);
    pttable_release(&pt->object_at);
    free(pt);
}

/* ---- objects and locations */

size_t pointsto_nobjects(const PointsTo *pt) { return pt->objects.len; }

const PtObject *pointsto_object(const PointsTo *pt, uint32_t object)
{
    assert(object < pt->objects.len);
    return &pt->shown[object];
}

uint32_t pointsto_part_of(const PointsTo *pt, uint32_t object)
{
    assert(object < pt->objects.len);
    return pt->objects.items[object].pooled ? pt->heap : object;
}

PtLoc pointsto_location(const PointsTo *pt, uint32_t loc)
{
    assert(loc < pt->locs.len);
    return pt->locs.items[loc];
}

int64_t pointsto_locate(const PointsTo *pt, uint32_t object, int64_t offset)
{
    const PtAnswerObject *o = &pt->objects.items[pointsto_part_of(pt, object)];

    if (o->flat)
        offset = ANY;
    if (o->kind == PT_FUNCTION)
        offset = 0;
    if (offset != ANY && o->regions.n)
        offset = pt_fold(pt->regions.items + o->regions.start, o->regions.n, offset);
    for (uint32_t i = 0; i < o->locs.n; i++)
        if (pt->locs.items[o->locs.start + i].offset == offset)
            return o->locs.start + i;
    return -1;
}

uint32_t pointsto_variable(const PointsTo *pt, LLVMValueRef g)
{
    if (ptvalues_is_literal(g))
        return pt->literals;
    LLVMValueRef section = LLVMIsAGlobalVariable(g) ? ptvalues_section(g) : NULL;
    return pttable_get(&pt->object_at, ptvalues_number(&pt->v, section ? section : g));
}

/* ---- describing */

static void add_name(Str *out, LLVMValueRef v, const char *otherwise)
{
    size_t n;
    const char *name = LLVMGetValueName2(v, &n);

    if (n)
        escape_terminal(out, name, n);
    else
        str_add(out, otherwise);
}

/* A stack object's name, or its register (%7) where names were dropped. */
static void add_local(Str *out, LLVMValueRef inst)
{
    size_t n;
    const char *name = LLVMGetValueName2(inst, &n);

    if (n) {
        escape_terminal(out, name, n);
        return;
    }
    char *text = LLVMPrintValueToString(inst);
    const char *reg = text + strspn(text, " ");
    escape_terminal(out, reg, strcspn(reg, " "));
    LLVMDisposeMessage(text);
}

static void add_line(Str *out, LLVMValueRef inst)
{
    unsigned len, line = LLVMGetDebugLocLine(inst);
    const char *file = LLVMGetDebugLocFilename(inst, &len);

    if (!line || !file)
        return;
    char *path = xstrndup(file, len);
    str_add(out, " (");
    escape_terminal_z(out, path_base(path));
    str_addf(out, ":%u)", line);
    free(path);
}

static LLVMValueRef function_of(LLVMValueRef inst)
{
    return LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst));
}

void pointsto_describe_object(const PointsTo *pt, uint32_t object, Str *out)
{
    const PtObject *o = &pt->shown[object];

    switch (o->kind) {
    case PT_STACK:
        add_name(out, function_of(o->site), "?");
        str_addc(out, '.');
        add_local(out, o->site);
        break;
    case PT_GLOBAL:
        if (o->site)
            add_name(out, o->site, "?");
        else
            str_add(out, "string literals");
        break;
    case PT_FUNCTION:
        add_name(out, o->site, "?");
        str_add(out, "()");
        break;
    case PT_HEAP:
        str_add(out, o->site ? "heap in " : "heap");
        if (!o->site)
            break;
        if (LLVMIsAFunction(o->site)) {
            add_name(out, o->site, "?");
        } else {
            add_name(out, function_of(o->site), "?");
            add_line(out, o->site);
        }
        break;
    case PT_BYVAL:
        str_add(out, "copy ");
        add_name(out, LLVMGetParamParent(o->site), "?");
        str_addc(out, '.');
        add_name(out, o->site, "?");
        break;
    case PT_VARARGS:
        add_name(out, o->site, "?");
        str_add(out, "(...)");
        break;
    case PT_LIBRARY:
        str_add(out, "library's ");
        if (o->site)
            add_name(out, o->site, "?");
        else
            str_add(out, "copy");
        break;
    case PT_ARGV: str_add(out, "argv"); break;
    case PT_EXTERNAL: str_add(out, "outside"); break;
    }
}

void pointsto_describe(const PointsTo *pt, uint32_t loc, Str *out)
{
    PtLoc l = pt->locs.items[loc];

    pointsto_describe_object(pt, l.object, out);
    if (l.offset == ANY && !pt->objects.items[l.object].flat)
        str_add(out, "+?");
    else if (l.offset != ANY && l.offset)
        str_addf(out, "+%lld", (long long)l.offset);
}

/* ---- questions */

static PtSet set_at(const PointsTo *pt, uint32_t set)
{
    PtRange r = pt->sets.items[set];

    return (PtSet){ pt->members.items + r.start, r.n };
}

/* The location of a constant made of a variable and an offset. */
static int64_t constant_location(const PointsTo *pt, LLVMValueRef v)
{
    int64_t offset = 0;

    for (int depth = 0; depth < 16; depth++) {
        if (LLVMIsAGlobalAlias(v)) {
            v = LLVMAliasGetAliasee(v);
        } else if (LLVMIsAFunction(v) || LLVMIsAGlobalVariable(v)) {
            uint32_t o = pointsto_variable(pt, v);
            int64_t l = o == NONE ? -1 : pointsto_locate(pt, o, offset);
            return l >= 0 || o == NONE ? l : pointsto_locate(pt, o, ANY);
        } else if (!LLVMIsAConstantExpr(v)) {
            return -1;
        } else if (LLVMGetConstOpcode(v) == LLVMGetElementPtr) {
            int64_t more;
            if (!llvm_gep_offset(pt->v.layout, v, &more) ||
                __builtin_add_overflow(offset, more, &offset))
                return -1;
            v = LLVMGetOperand(v, 0);
        } else {
            v = LLVMGetOperand(v, 0);
        }
    }
    return -1;
}

PtSet pointsto_value(const PointsTo *pt, LLVMValueRef v, unsigned byte)
{
    if (LLVMIsAConstant(v)) {
        int64_t l = constant_location(pt, v);
        return l < 0 ? (PtSet){ 0 } : (PtSet){ pt->self + l, 1 };
    }
    uint32_t n = ptvalues_number(&pt->v, v);
    unsigned words = n == NONE ? 0 : ptvalues_words(&pt->v, LLVMTypeOf(v));
    if (!words || pt->v.slot[n] == NONE)
        return (PtSet){ 0 };
    unsigned word = byte / 8 < words ? byte / 8 : words - 1;
    return set_at(pt, pt->slot_set.items[pt->v.slot[n] + word]);
}

PtSet pointsto_content(const PointsTo *pt, uint32_t loc)
{
    assert(loc < pt->content.len);
    return set_at(pt, pt->content.items[loc]);
}

static bool overlap(PtLoc a, uint64_t na, PtLoc b, uint64_t nb)
{
    if (a.object != b.object)
        return false;
    if (a.offset == ANY || b.offset == ANY || !na || !nb)
        return true;
    return a.offset < b.offset ? (uint64_t)(b.offset - a.offset) < na
                               : (uint64_t)(a.offset - b.offset) < nb;
}

bool pointsto_may_alias(const PointsTo *pt, LLVMValueRef a, uint64_t na, LLVMValueRef b,
                        uint64_t nb)
{
    PtSet x = pointsto_value(pt, a, 0), y = pointsto_value(pt, b, 0);

    for (size_t i = 0, from = 0; i < x.n; i++) {
        PtLoc l = pt->locs.items[x.locs[i]];
        while (from < y.n && pt->locs.items[y.locs[from]].object < l.object)
            from++;
        for (size_t j = from; j < y.n; j++) {
            PtLoc m = pt->locs.items[y.locs[j]];
            if (m.object != l.object)
                break;
            /* An access as long as an element reaches the next one, which is
             * folded onto the same. */
            const PtAnswerObject *o = &pt->objects.items[l.object];
            bool wraps = false;
            for (uint32_t k = 0; k < o->regions.n; k++) {
                const PtRegion *r = &pt->regions.items[o->regions.start + k];
                wraps |= (int64_t)na > r->stride || (int64_t)nb > r->stride;
            }
            if (wraps || overlap(l, na, m, nb))
                return true;
        }
    }
    return false;
}

const LLVMValueRef *pointsto_targets(const PointsTo *pt, LLVMValueRef call, size_t *n)
{
    uint32_t i = pttable_get(&pt->call_at, ptvalues_number(&pt->v, call));

    *n = i == NONE ? 0 : pt->calls.items[i].targets.n;
    return i == NONE ? NULL : pt->callees + pt->calls.items[i].targets.start;
}

bool pointsto_calls_outside(const PointsTo *pt, LLVMValueRef call)
{
    size_t n;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    PtSet s = pointsto_value(pt, callee, 0);

    if (LLVMIsAInlineAsm(callee))
        return true;
    const LLVMValueRef *t = pointsto_targets(pt, call, &n);
    for (size_t i = 0; i < n; i++)
        if (pointsto_is_replaceable(pt, t[i]))
            return true;
    if (LLVMIsAConstant(callee))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (pt->shown[pt->locs.items[s.locs[i]].object].kind == PT_EXTERNAL)
            return true;
    return !n;
}

/* ---- code outside that the library runs */

static bool is_outside(const PointsTo *pt, uint32_t loc)
{
    return pt->shown[pt->locs.items[loc].object].kind == PT_EXTERNAL;
}

static bool has_outside(const PointsTo *pt, PtSet s, unsigned stars)
{
    for (size_t i = 0; i < s.n; i++) {
        PtRange r = pt->objects.items[pt->locs.items[s.locs[i]].object].locs;
        if (is_outside(pt, s.locs[i]))
            return true;
        for (uint32_t k = r.start; stars && k < r.start + r.n; k++)
            if (has_outside(pt, pointsto_content(pt, k), stars - 1))
                return true;
    }
    return false;
}

static const Summary *library_function(const Summaries *s, LLVMValueRef fn)
{
    size_t n;

    return LLVMIsDeclaration(fn) ? summaries_find(s, LLVMGetValueName2(fn, &n)) : NULL;
}

static bool hands_outside(const PointsTo *pt, const Summary *s, LLVMValueRef call)
{
    for (size_t i = 0; i < s->ncallbacks; i++) {
        SummaryTerm fn = s->callbacks[i].fn;
        if (fn.kind == SUMMARY_PARAM && fn.param < LLVMGetNumArgOperands(call) &&
            has_outside(pt, pointsto_value(pt, LLVMGetOperand(call, fn.param), 0), fn.stars))
            return true;
    }
    return false;
}

bool pointsto_hands_outside(const PointsTo *pt, const Summaries *s, LLVMValueRef call)
{
    size_t n;
    const LLVMValueRef *t = pointsto_targets(pt, call, &n);

    for (size_t i = 0; i < n; i++) {
        const Summary *lib = library_function(s, t[i]);
        if (lib && hands_outside(pt, lib, call))
            return true;
    }
    return false;
}

/* A stream that the program opened runs nobody else's functions. */
static bool is_own_stream(const PointsTo *pt, LLVMValueRef stream)
{
    PtSet s = pointsto_value(pt, stream, 0);

    for (size_t i = 0; i < s.n; i++)
        if (pt->shown[pt->locs.items[s.locs[i]].object].kind != PT_HEAP)
            return false;
    return s.n > 0;
}

static bool runs_handlers(const PointsTo *pt, const Summary *s, LLVMValueRef call)
{
    if (!s->handlers || !pt->open_world)
        return false;
    return s->stream < 0 || (unsigned)s->stream >= LLVMGetNumArgOperands(call) ||
           !is_own_stream(pt, LLVMGetOperand(call, (unsigned)s->stream));
}

bool pointsto_runs_outside(const PointsTo *pt, const Summaries *s, LLVMValueRef call)
{
    size_t n;
    const LLVMValueRef *t = pointsto_targets(pt, call, &n);

    if (pointsto_calls_outside(pt, call) || pointsto_hands_outside(pt, s, call))
        return true;
    for (size_t i = 0; i < n; i++) {
        const Summary *lib = library_function(s, t[i]);
        if (lib && runs_handlers(pt, lib, call))
            return true;
    }
    return false;
}

const LLVMValueRef *pointsto_callbacks(const PointsTo *pt, LLVMValueRef call, size_t *n)
{
    uint32_t i = pttable_get(&pt->call_at, ptvalues_number(&pt->v, call));

    *n = i == NONE ? 0 : pt->calls.items[i].callbacks.n;
    return i == NONE ? NULL : pt->callees + pt->calls.items[i].callbacks.start;
}

static int compare(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

    return (a > b) - (a < b);
}

static bool has(const uint32_t *items, size_t n, uint32_t x)
{
    return n && bsearch(&x, items, n, sizeof x, compare);
}

bool pointsto_called_from_outside(const PointsTo *pt, LLVMValueRef fn)
{
    return has(pt->outside.items, pt->outside.len, ptvalues_number(&pt->v, fn));
}

bool pointsto_is_replaceable(const PointsTo *pt, LLVMValueRef fn)
{
    return LLVMGetLinkage(fn) == LLVMWeakAnyLinkage && !LLVMIsDeclaration(fn) &&
           pointsto_called_from_outside(pt, fn);
}

bool pointsto_hands_on(const PointsTo *pt, LLVMValueRef call)
{
    return has(pt->hands_on.items, pt->hands_on.len, ptvalues_number(&pt->v, call));
}

const PtStats *pointsto_stats(const PointsTo *pt) { return &pt->stats; }

const Strings *pointsto_notes(const PointsTo *pt) { return &pt->notes; }

void ptreach_add(PtReach *r, uint32_t object)
{
    if (ptbits_add(&r->seen, object))
        vec_push(&r->work, object);
}

bool ptreach_next(const PointsTo *pt, PtReach *r, uint32_t *object)
{
    if (!r->work.len)
        return false;
    *object = r->work.items[--r->work.len];
    assert(*object < pt->objects.len);
    PtRange locs = pt->objects.items[*object].locs;
    for (uint32_t k = locs.start; k < locs.start + locs.n; k++) {
        if (!ptbits_add(&r->sets, pt->content.items[k]))
            continue;
        PtSet s = pointsto_content(pt, k);
        uint32_t last = UINT32_MAX;
        for (size_t i = 0; i < s.n; i++) {
            uint32_t o = pt->locs.items[s.locs[i]].object;
            if (o != last)
                ptreach_add(r, o);
            last = o;
        }
    }
    return true;
}

void ptreach_release(PtReach *r)
{
    ptbits_release(&r->seen);
    ptbits_release(&r->sets);
    vec_release(&r->work);
}
