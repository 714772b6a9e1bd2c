/*
 * The order of the work, and the verdicts.
 *
 * Functions are looked at callees first; those that call each other, again and
 * again until their effects stop growing. What a parameter's verdict is can then
 * be read off the effects on the paths that begin at it:
 *
 *     a write here                        mutable (S)
 *     a write in a callee                 mutable (P)
 *     nothing, and it goes nowhere        immutable (S, SH)
 *     nothing, though it goes to callees  immutable (P)
 *     only stored                         a question to memory (M)
 *     else                                unknown, with the reasons
 */
#include "analysis/mutability/mutability_int.h"
#include <assert.h>

/* ---- names */

static const char *name(const char *const *names, size_t n, unsigned i)
{
    return i < n ? names[i] : "?";
}

#define NAME(i, ...)                                                                               \
    name((const char *const[]){ __VA_ARGS__ },                                                     \
         sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *), i)

const char *mut_verdict_name(MutVerdict v) { return NAME(v, "unknown", "immutable", "mutable"); }

static const struct stage {
    MutStage stage;
    const char *name;
} stages[] = {
    { MUT_BY_S, "S" }, { MUT_BY_SH, "SH" }, { MUT_BY_P, "P" },
    { MUT_BY_M, "M" }, { MUT_BY_D, "D" },   { MUT_BY_L, "L" },
};
enum { NSTAGES = sizeof stages / sizeof *stages };

const char *mut_stage_name(MutStage s)
{
    for (size_t i = 0; i < NSTAGES; i++)
        if (stages[i].stage == s)
            return stages[i].name;
    return "";
}

bool mut_pipeline_read(const char *text, unsigned *out, Err *err)
{
    *out = 0;
    for (const char *p = text, *end;; p = end + 1) {
        size_t i = 0;
        end = p + strcspn(p, "-");
        while (i < NSTAGES && (strlen(stages[i].name) != (size_t)(end - p) ||
                               strncmp(stages[i].name, p, (size_t)(end - p))))
            i++;
        if (i == NSTAGES)
            return err_set(err,
                           "not a pipeline: %s (stages are S, SH, P, M, D and "
                           "L, as in S-P or SH-P-M)",
                           text);
        *out |= stages[i].stage;
        if (!*end)
            return true;
    }
}

const char *mut_reason_name(MutReasonKind k)
{
    return NAME(k, "CALL", "INDIRECT", "GLOBAL_STORE", "HEAP_STORE", "ALIAS_BLOCK", "KEPT",
                "NO_BODY", "NO_TARGET", "ASM", "CAST", "VARARG", "NOT_MATCHED", "SHOWN", "OFFERED",
                "COMPARED", "PRINTED", "TABLE", "MEMBER", "REPLACED", "RETURNED", "DECLARED");
}

const char *mut_direction_name(MutDirection d)
{
    return NAME(d, "untouched", "in", "out", "inout", "consumed", "unknown");
}

const char *mut_purity_name(MutPurity p) { return NAME(p, "impure", "pure", "const"); }

/* ---- paths as a reader would write them */

static const Type *pointee(const Type *t)
{
    t = t ? type_plain(t) : NULL;
    return t && (t->kind == TYPE_POINTER || t->kind == TYPE_ARRAY) ? type_plain(t->target) : NULL;
}

/* `expr` dereferenced at an offset; what it is then, or NULL. */
static const Type *access_at(Str *expr, const Type *t, int32_t off, bool dot)
{
    const Type *at = t;
    bool first = true;

    while (at && off != ANYWHERE && off >= 0 && type_is_record(at)) {
        const Field *found = NULL;
        for (unsigned i = 0; i < at->nfields && !found; i++) {
            const Field *f = &at->fields[i];
            uint64_t end = f->offset + (f->width ? f->width : 1);
            if (f->offset <= (uint64_t)off * 8 && (uint64_t)off * 8 < end)
                found = f;
        }
        if (!found)
            break;
        if (*found->name)
            str_addf(expr, "%s%s", first && !dot ? "->" : ".", found->name);
        first &= !*found->name;
        off -= (int32_t)(found->offset / 8);
        at = type_plain(found->type);
        if (at->kind == TYPE_ARRAY) {
            str_add(expr, "[]");
            at = type_plain(at->target);
            off = 0;
        }
    }
    if (first && (!at || !type_is_record(at) || off == ANYWHERE || off < 0)) {
        if (at && type_is_record(at))
            str_add(expr, "->?");
        else if (!off && !strpbrk(str_c(expr), "*[-.")) {
            Str star = { 0 };
            str_addf(&star, "*%s", str_c(expr));
            str_release(expr);
            *expr = star;
        } else {
            str_add(expr, "[]");
        }
        return at && type_is_record(at) ? NULL : at;
    }
    return at;
}

static const Param *param_of(const Function *fn, uint32_t arg, unsigned *index)
{
    for (unsigned i = 0; i < fn->nparams; i++)
        if (arg >= fn->params[i].first_arg && arg < fn->params[i].first_arg + fn->params[i].nargs) {
            *index = i;
            return &fn->params[i];
        }
    return NULL;
}

/* Does the argument hold the struct itself, in registers? */
static bool is_in_registers(const Param *p)
{
    return p->type && type_is_record(type_plain(p->type)) && p->passing != PASSED_BY_COPY;
}

static const char *path_text(Mutability *m, const Function *fn, const Path *path)
{
    unsigned index = 0;
    const Param *p = root_is_argument(path->root) ? param_of(fn, path->root, &index) : NULL;
    Str s = { 0 };
    size_t n;

    assert(!root_is_global(path->root) || (path->root & ~ROOT_GLOBAL) < m->globals.len);
    if (root_is_global(path->root))
        str_add(&s, LLVMGetValueName2(m->globals.items[path->root & ~ROOT_GLOBAL], &n));
    else if (!p)
        str_add(&s, "...");
    else if (*p->name)
        str_add(&s, p->name);
    else
        str_addf(&s, "parameter %u", index + 1);
    const Type *t = p && p->type ? type_plain(p->type) : NULL;
    bool dot = t && type_is_record(t);
    if (p && is_in_registers(p))
        t = pointee(access_at(&s, t, (int32_t)(path->root - p->first_arg) * 8, true)), dot = false;
    else if (!dot)
        t = pointee(t);
    for (unsigned i = 0; i < path->depth; i++, dot = false)
        t = pointee(access_at(&s, t, path->at[i], dot));
    if (path->deeper)
        str_add(&s, "->…");
    else
        access_at(&s, t, path->off, dot);
    char *text = arena_strdup(&m->arena, str_c(&s));
    str_release(&s);
    return text;
}

/* ---- derivations */

static MutStep step_of(Mutability *m, const Body *b, const Effect *e)
{
    SourcePlace at = program_place(m->program, e->inst);
    size_t n;
    MutStep s = { .function = b->fn,
                  .file = at.file,
                  .line = at.line,
                  .column = at.column,
                  .callee = "",
                  .path = path_text(m, b->fn, &e->path) };

    assert(e->inst);
    if (e->callee) {
        const Function *f = program_function_of(m->program, e->callee);
        s.callee = f ? f->name : LLVMGetValueName2(e->callee, &n);
    }
    s.indirect = LLVMIsACallInst(e->inst) && !LLVMIsAFunction(LLVMGetCalledValue(e->inst)) &&
                 !LLVMIsAInlineAsm(LLVMGetCalledValue(e->inst));
    return s;
}

enum { MOST_STEPS_SHOWN = 40 };

static MutStep *derivation(Mutability *m, const Body *b, const Effect *e, size_t *n)
{
    Vec(MutStep) steps = { 0 };

    while (b && steps.len < MOST_STEPS_SHOWN) {
        vec_push(&steps, step_of(m, b, e));
        const Body *g = e->callee && e->next != NONE ? mut_body(m, e->callee) : NULL;
        e = g && e->next < g->flow.effects.len ? &g->flow.effects.items[e->next] : NULL;
        b = e ? g : NULL;
    }
    MutStep *out = arena_array(&m->arena, MutStep, steps.len + 1);
    if (steps.len)
        memcpy(out, steps.items, steps.len * sizeof *out);
    *n = steps.len;
    vec_release(&steps);
    return out;
}

/* ---- one parameter */

typedef Vec(MutReason) Reasons;

typedef struct Judge {
    Mutability *m;
    Body *b;
    const Param *param;
    MutParam *out;
    unsigned base;               /* level of the argument itself */
    const Effect *write[MUT_LEVELS];      /* the best of each level */
    const Effect *obstacle;      /* a reason or a store */
    unsigned blocked;            /* the first level that one is in the way of */
    unsigned stored;             /* the first level that is stored */
    bool reasons;                /* obstacles other than stores */
    Reasons list;
} Judge;

static bool is_argument(const Judge *j, const Path *p)
{
    return p->root >= j->param->first_arg && p->root < j->param->first_arg + j->param->nargs;
}

static unsigned level_of(const Judge *j, const Path *p)
{
    unsigned l = j->base + p->depth + p->deeper;
    return l < MUT_LEVELS ? l : MUT_LEVELS - 1;
}

/* Here is better than in a callee, surely better than maybe. */
static bool is_better(const Effect *a, const Effect *b)
{
    if (!b || a->maybe != b->maybe)
        return !b || a->maybe < b->maybe;
    return !a->callee && b->callee;
}

static void add_reason(Judge *j, MutReasonKind kind, LLVMValueRef inst, LLVMValueRef callee,
                       const Path *path)
{
    MutReason r = { .kind = kind, .file = "", .callee = "", .path = "" };
    size_t n;

    if (inst) {
        SourcePlace at = program_place(j->m->program, inst);
        r.file = at.file;
        r.line = at.line;
        r.column = at.column;
    }
    if (callee) {
        const Function *f = program_function_of(j->m->program, callee);
        r.callee = f ? f->name : LLVMGetValueName2(callee, &n);
    }
    if (path) {
        r.path = path_text(j->m, j->b->fn, path);
        r.level = level_of(j, path);
    }
    for (size_t i = 0; i < j->list.len; i++) {
        MutReason *old = &j->list.items[i];
        if (old->kind != kind || old->line != r.line || strcmp(old->file, r.file))
            continue;
        if (r.level < old->level)            /* one for each place, the nearest */
            *old = r;
        return;
    }
    vec_push(&j->list, r);
}

/* Is `p` what a load from the place `at` gives? */
static bool is_loaded_from(const Path *p, const Path *at)
{
    return p->root == at->root && p->depth == at->depth + 1 &&
           (p->at[at->depth] == at->off || p->at[at->depth] == ANYWHERE) &&
           memcmp(p->at, at->at, at->depth * sizeof *p->at) == 0;
}

/* A reference is stored beside a callback, and the callback gets it before the function
 * returns: it is offered as if it had been passed. */
static bool is_offered_later(const Judge *j, const Effect *store)
{
    for (size_t i = 0; i < j->b->flow.effects.len; i++) {
        const Effect *e = &j->b->flow.effects.items[i];
        if (e->kind == EFFECT_REASON && e->reason == MUT_OFFERED && !e->maybe &&
            is_loaded_from(&e->path, &store->dest))
            return true;
    }
    return false;
}

/* If the reference may not be the one, the reason is a weaker one. A function outside that
 * gets what another one has returned: the other has kept the reference, if at all. */
static MutReasonKind reason_of(const Effect *e)
{
    if (e->reason == MUT_OFFERED && e->maybe)
        return MUT_NO_TARGET;
    return e->reason == MUT_NO_BODY && e->maybe & PATH_RETURNED ? MUT_KEPT : e->reason;
}

static void see_effect(Judge *j, const Effect *e)
{
    unsigned l = level_of(j, &e->path);

    switch (e->kind) {
    case EFFECT_WRITE:
    case EFFECT_FREE:
        if ((l || !j->out->by_value) && is_better(e, j->write[l]))
            j->write[l] = e;
        break;
    case EFFECT_STORE:
        if (!l && j->out->by_value)
            break;
        j->out->stored = true;
        if (l < j->stored)
            j->stored = l;
        add_reason(j, root_is_global(e->dest.root) ? MUT_GLOBAL_STORE : MUT_HEAP_STORE, e->inst,
                   e->callee, &e->path);
        if (is_offered_later(j, e))
            add_reason(j, MUT_OFFERED, e->inst, e->callee, &e->path);
        break;
    case EFFECT_REASON:
        j->reasons = true;
        if (e->reason == MUT_SHOWN && !j->m->breaks_const)
            l++;
        if (l < j->blocked)
            j->blocked = l;
        add_reason(j, reason_of(e), e->inst, e->callee, &e->path);
        break;
    case EFFECT_RETURN: break;
    }
}

static bool is_passed(const Judge *j)
{
    for (unsigned i = 0; i < j->param->nargs; i++)
        if (j->b->flow.passed[j->param->first_arg + i])
            return true;
    return false;
}

static void settle(MutAnswer *a, MutVerdict v, MutStage s, bool sound)
{
    if (a->verdict == MUT_UNKNOWN)
        *a = (MutAnswer){ v, s, sound };
}

static const Effect *best_write(const Judge *j, unsigned to)
{
    const Effect *best = NULL;

    for (unsigned l = 0; l < to; l++)
        if (j->write[l] && is_better(j->write[l], best))
            best = j->write[l];
    return best;
}

static void judge_writes(Judge *j, unsigned want, unsigned to, MutAnswer *a)
{
    const Effect *w = best_write(j, to);

    if (!w)
        return;
    if (!w->callee && want & (MUT_BY_S | MUT_BY_SH))
        settle(a, MUT_MUTABLE, want & MUT_BY_S ? MUT_BY_S : MUT_BY_SH, !w->maybe);
    else if (want & MUT_BY_P)
        settle(a, MUT_MUTABLE, MUT_BY_P, !w->maybe);
}

/* No write up to level `to`, nothing in the way, nothing stored. */
static bool is_clean(const Judge *j, unsigned to)
{
    return !best_write(j, to) && j->blocked >= to && j->stored >= to;
}

/* Does a reference go where points-to doesn't follow it? */
static bool is_hidden(const Judge *j)
{
    for (size_t i = 0; i < j->list.len; i++)
        switch (j->list.items[i].kind) {
        case MUT_CAST:
        case MUT_COMPARED:
        case MUT_PRINTED:
        case MUT_ASM:
        case MUT_KEPT:
        case MUT_VARARG: return true;
        default: break;
        }
    return false;
}

static void judge_memory(Judge *j)
{
    MutParam *p = j->out;
    LLVMValueRef arg = LLVMGetParam(j->b->value, j->param->first_arg);
    bool only_stored = !best_write(j, MUT_LEVELS) && !j->reasons;
    bool own_stored = !best_write(j, 1) && j->blocked >= 1;

    if (p->by_value || pointsto_value(j->m->pt, arg, 0).n == 0)
        return;
    /* A stored reference may be taken apart elsewhere, where points-to loses it. */
    if (!is_hidden(j) && !p->stored)
        mut_unchanged(j->m, j->b->value, arg, &p->own_unchanged, &p->unchanged);
    if (p->unchanged)
        settle(&p->deep, MUT_IMMUTABLE, MUT_BY_M, true);
    if (p->own_unchanged)
        settle(&p->own, MUT_IMMUTABLE, MUT_BY_M, true);
    if (!(only_stored && p->deep.verdict == MUT_UNKNOWN) &&
        !(own_stored && p->own.verdict == MUT_UNKNOWN))
        return;
    MemoryAnswer a = mut_memory(j->m, j->b, j->param->first_arg, j->param->nargs);
    if (a.deep && only_stored)
        settle(&p->deep, MUT_IMMUTABLE, MUT_BY_M, true);
    if (a.own && own_stored)
        settle(&p->own, MUT_IMMUTABLE, MUT_BY_M, true);
    if (!a.deep && p->deep.verdict == MUT_UNKNOWN)
        add_reason(j, MUT_ALIAS_BLOCK, a.obstacle, NULL, NULL);
}

/* Does it point to more than numbers or characters? */
static bool leads_on(const Type *t)
{
    t = t ? type_plain(t) : NULL;
    t = t && t->kind == TYPE_POINTER ? type_plain(t->target) : NULL;
    return t && (t->kind == TYPE_POINTER || t->kind == TYPE_ARRAY || type_is_record(t));
}

/* What an answer about the first levels would lean on if nothing more than this is in the way. */
static bool is_likely(const Judge *j, unsigned levels)
{
    for (size_t i = 0; i < j->list.len; i++) {
        if (j->list.items[i].level >= levels)
            continue;
        switch (j->list.items[i].kind) {
        case MUT_GLOBAL_STORE:
        case MUT_HEAP_STORE:
        case MUT_ALIAS_BLOCK:
        case MUT_KEPT:
        case MUT_NO_TARGET:
        case MUT_INDIRECT:
        case MUT_COMPARED:
        case MUT_PRINTED:
        case MUT_TABLE:
        case MUT_MEMBER:
        case MUT_REPLACED:
        case MUT_RETURNED:
        case MUT_DECLARED: break;
        case MUT_SHOWN:                      /* const says nothing about what lies deeper */
            if (levels > j->list.items[i].level + 1u && leads_on(j->param->type))
                return false;
            break;
        case MUT_OFFERED:                    /* it would be const if nobody wrote it */
            if (!j->list.items[i].level)
                return false;
            break;
        case MUT_CAST:
            if (j->m->rebuilds)
                return false;
            break;
        default: return false;
        }
    }
    return true;
}

static bool is_scalar_pointer(const Param *p)
{
    const Type *t = type_plain(p->type);

    return t->kind == TYPE_POINTER && type_plain(t->target)->kind == TYPE_SCALAR;
}

/* A write that is another one's, more often than not: by memory that may hold
 * something else; who frees means it. Or one that is meant for another. */
static bool is_doubtful(const Judge *j, unsigned levels)
{
    const Effect *w = best_write(j, levels);

    return w && ((w->maybe > PATH_SOMEWHERE && is_likely(j, levels)) ||
                 (w->maybe == PATH_SOMEWHERE && w->kind != EFFECT_FREE));
}

static bool is_freed(const Judge *j)
{
    return j->write[0] && j->write[0]->kind == EFFECT_FREE && j->write[0]->maybe <= PATH_SOMEWHERE;
}

_Static_assert(MUT_DECLARED - MUT_PRINTED == PATH_DECLARED - PATH_PRINTED, "same order");

/* What it takes for a write that is meant for another not to be one. */
static void name_assumption(Judge *j)
{
    const Effect *w = best_write(j, MUT_LEVELS);

    if (w && w->maybe > PATH_SOMEWHERE)
        add_reason(j, MUT_PRINTED + w->maybe - PATH_PRINTED, w->inst, w->callee, &w->path);
}

/* Of a write that may be another one's and a const in the source, the const is
 * believed. */
static void judge_likely(Judge *j)
{
    MutParam *p = j->out;
    const MutAnswer likely = { MUT_IMMUTABLE, MUT_BY_L, false };

    name_assumption(j);
    if (p->own.verdict == MUT_MUTABLE && !p->own.sound && !is_freed(j) &&
        (p->declared_const || is_doubtful(j, 1)))
        p->own = likely;
    if (p->deep.verdict == MUT_MUTABLE && !p->deep.sound && !is_freed(j) &&
        ((p->declared_const && is_scalar_pointer(j->param)) || is_doubtful(j, MUT_LEVELS)))
        p->deep = likely;
    if (is_likely(j, MUT_LEVELS) && !best_write(j, MUT_LEVELS))
        settle(&p->deep, MUT_IMMUTABLE, MUT_BY_L, false);
    if (is_likely(j, 1) && !best_write(j, 1))
        settle(&p->own, MUT_IMMUTABLE, MUT_BY_L, false);
}

static void judge_levels(Judge *j)
{
    MutParam *p = j->out;

    for (unsigned l = 0; l < MUT_LEVELS; l++)
        if (j->write[l] && p->deep.verdict != MUT_UNKNOWN)
            p->level[l] = MUT_MUTABLE;
        else if (p->deep.verdict == MUT_IMMUTABLE || is_clean(j, l + 1) ||
                 (!l && p->own.verdict == MUT_IMMUTABLE))
            p->level[l] = MUT_IMMUTABLE;
}

static void judge_direction(Judge *j)
{
    MutParam *p = j->out;
    const Effect *w = j->write[0];
    bool read = false;

    for (unsigned i = 0; i < j->param->nargs; i++)
        read |= j->b->flow.reads[j->param->first_arg + i];
    if (w && w->kind == EFFECT_FREE)
        p->direction = MUT_CONSUMED;
    else if (w)
        p->direction = read ? MUT_INOUT : MUT_OUT;
    else if (p->own.verdict != MUT_IMMUTABLE)
        p->direction = MUT_DIRECTION_UNKNOWN;
    else
        p->direction = read || p->by_value ? MUT_IN : MUT_UNTOUCHED;
}

static bool goes_back(const Judge *j, bool own)
{
    const PathSet *r = &j->b->flow.returns;

    for (uint32_t i = 0; i < r->len; i++)
        if (is_argument(j, &r->items[i]) && (!own || !level_of(j, &r->items[i])))
            return true;
    return false;
}

static void judge_witness(Judge *j)
{
    const Effect *w = best_write(j, MUT_LEVELS), *own = best_write(j, 1);

    if (w && j->out->deep.verdict == MUT_MUTABLE)
        j->out->witness = derivation(j->m, j->b, w, &j->out->nwitness);
    if (own && j->out->own.verdict == MUT_MUTABLE)
        j->out->own_witness = derivation(j->m, j->b, own, &j->out->nown_witness);
}

/* Only the stages that look at the function alone: a call is a reason. */
static void call_reasons(Judge *j)
{
    for (uint32_t i = 0; i < j->b->ops.len; i++) {
        const Op *o = &j->b->ops.items[i];
        if (o->kind != OP_CALL)
            continue;
        for (unsigned k = 0; k < LLVMGetNumArgOperands(o->inst); k++) {
            uint32_t v = pttable_get(&j->b->number, (uintptr_t)LLVMGetOperand(o->inst, k));
            const PathSet *s = &j->b->sets.items[v];
            for (uint32_t x = 0; x < s->len; x++)
                if (is_argument(j, &s->items[x])) {
                    LLVMValueRef f = LLVMGetCalledValue(o->inst);
                    add_reason(j, MUT_CALL, o->inst, LLVMIsAFunction(f) ? f : NULL, &s->items[x]);
                }
        }
    }
}

static void begin(Judge *j, Mutability *m, Body *b, unsigned index)
{
    *j = (Judge){ .m = m,
                  .b = b,
                  .param = &b->fn->params[index],
                  .out = &m->params[b->fn->index][index],
                  .blocked = MUT_LEVELS,
                  .stored = MUT_LEVELS };
    j->base = is_in_registers(j->param);
    for (size_t i = 0; i < b->flow.effects.len; i++)
        if (is_argument(j, &b->flow.effects.items[i].path))
            see_effect(j, &b->flow.effects.items[i]);
}

static void finish(Judge *j)
{
    MutParam *p = j->out;

    judge_levels(j);
    judge_direction(j);
    judge_witness(j);
    p->returned = goes_back(j, false);
    p->const_able =
        p->own.verdict == MUT_IMMUTABLE && j->stored > 0 && !p->by_value && !goes_back(j, true);
    if (p->deep.verdict != MUT_IMMUTABLE || !p->deep.sound) {
        p->reasons = arena_array(&j->m->arena, MutReason, j->list.len + 1);
        p->nreasons = j->list.len;
        if (j->list.len)
            memcpy(p->reasons, j->list.items, j->list.len * sizeof *p->reasons);
    }
    vec_release(&j->list);
}

/* S says something of all parameters or of none. */
static bool all_local(Mutability *m, Body *b)
{
    for (unsigned i = 0; i < b->fn->nparams; i++) {
        Judge j;
        bool clean;
        if (!m->params[b->fn->index][i].pointer)
            continue;
        begin(&j, m, b, i);
        clean = is_clean(&j, MUT_LEVELS) && !is_passed(&j);
        vec_release(&j.list);
        if (!clean)
            return false;
    }
    return true;
}

static void judge(Mutability *m, Body *b, unsigned index, bool all)
{
    Judge j;
    unsigned want = m->plan.stages;

    begin(&j, m, b, index);
    MutParam *p = j.out;
    if (j.param->passing == PASSED_UNKNOWN) {
        add_reason(&j, MUT_NOT_MATCHED, NULL, NULL, NULL);
        finish(&j);
        return;
    }
    bool local = !is_passed(&j), clean = is_clean(&j, MUT_LEVELS);
    if (p->by_value)
        p->own = (MutAnswer){ MUT_IMMUTABLE, want & MUT_BY_S ? MUT_BY_S : MUT_BY_SH, true };
    judge_writes(&j, want, MUT_LEVELS, &p->deep);
    judge_writes(&j, want, 1, &p->own);
    if (local && want & (MUT_BY_S | MUT_BY_SH)) {
        MutStage by = all && want & MUT_BY_S ? MUT_BY_S : MUT_BY_SH;
        if (clean && want & by)
            settle(&p->deep, MUT_IMMUTABLE, by, true);
        if (is_clean(&j, 1) && want & by)
            settle(&p->own, MUT_IMMUTABLE, by, true);
    }
    if (want & MUT_BY_P && clean)
        settle(&p->deep, MUT_IMMUTABLE, MUT_BY_P, true);
    if (want & MUT_BY_P && is_clean(&j, 1))
        settle(&p->own, MUT_IMMUTABLE, MUT_BY_P, true);
    if (!(want & MUT_BY_P) && !local)
        call_reasons(&j);
    if (want & MUT_BY_M)
        judge_memory(&j);
    if (want & MUT_BY_L && want & MUT_BY_P)
        judge_likely(&j);
    finish(&j);
}

/* ---- functions */

static bool holds_pointer(const Type *t, unsigned depth)
{
    t = type_plain(t);
    if (depth > 8)
        return true;
    if (t->kind == TYPE_POINTER)
        return type_plain(t->target)->kind != TYPE_FUNCTION;
    if (t->kind == TYPE_ARRAY)
        return holds_pointer(t->target, depth + 1);
    for (unsigned i = 0; type_is_record(t) && i < t->nfields; i++)
        if (holds_pointer(t->fields[i].type, depth + 1))
            return true;
    return false;
}

static bool is_used(LLVMValueRef fn, const Param *p)
{
    unsigned n = LLVMCountParams(fn);

    for (unsigned k = p->first_arg; k < p->first_arg + p->nargs && k < n; k++)
        if (LLVMGetFirstUse(LLVMGetParam(fn, k)))
            return true;
    return false;
}

static void describe_params(Mutability *m, Body *b)
{
    MutParam *all = arena_array(&m->arena, MutParam, b->fn->nparams + 1);

    m->params[b->fn->index] = all;
    for (unsigned i = 0; i < b->fn->nparams; i++) {
        const Param *p = &b->fn->params[i];
        all[i].function = b->fn;
        all[i].index = i;
        if (!p->type || p->passing == PASSED_NOT_AT_ALL)
            continue;
        const Type *t = type_plain(p->type);
        all[i].pointer = holds_pointer(t, 0);
        all[i].by_value = type_is_record(t);
        all[i].declared_const =
            t->kind == TYPE_POINTER && type_has_qualifier(t->target, QUALIFIER_CONST);
        all[i].used = is_used(program_function_value(m->program, b->fn), p);
    }
}

static MutPurity purity_of(const Body *b)
{
    if (b->flow.impure || b->fn->noreturn || !b->fn->returns)
        return MUT_IMPURE;
    for (size_t i = 0; i < b->flow.effects.len; i++)
        if (b->flow.effects.items[i].kind != EFFECT_RETURN)
            return MUT_IMPURE;
    if (b->flow.fresh)
        return MUT_IMPURE;
    return b->flow.reads_memory ? MUT_PURE : MUT_CONST;
}

static void judge_function(Mutability *m, Body *b)
{
    bool all = m->plan.stages & MUT_BY_S && all_local(m, b);

    for (unsigned i = 0; i < b->fn->nparams; i++)
        if (m->params[b->fn->index][i].pointer)
            judge(m, b, i, all);
    if (m->plan.stages & MUT_BY_P)
        m->purity[b->fn->index] = purity_of(b);
}

/* ---- the order of the work */

static bool stopped(Mutability *m)
{
    if (m->plan.stop && m->plan.stop(m->plan.arg))
        m->stopped = true;
    return m->stopped;
}

typedef Vec(Body *) Queue;

static void push(Queue *q, Body *b)
{
    if (b->queued)
        return;
    b->queued = true;
    vec_push(q, b);
}

static void settle_component(Mutability *m, Body **bodies, size_t n)
{
    Queue now = { 0 }, next = { 0 };

    for (size_t i = 0; i < n; i++)
        push(&now, bodies[i]);
    while (now.len && !stopped(m)) {
        for (size_t i = 0; i < now.len; i++) {
            Body *b = now.items[i];
            b->queued = false;
            b->flow.changed = false;
            mut_flow(m, b);
            for (size_t k = 0; b->flow.changed && k < b->callers.len; k++)
                push(&next, &m->bodies[b->callers.items[k]]);
        }
        Queue done = now;
        now = next;
        next = done;
        next.len = 0;
    }
    vec_release(&now);
    vec_release(&next);
}

static void link_component(Mutability *m, Body **bodies, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t k;
        const Function *const *to = calls_callees(m->calls, bodies[i]->fn, &k);
        size_t component = calls_component(m->calls, bodies[i]->fn);
        while (k-- > 0)
            if (to[k]->defined && calls_component(m->calls, to[k]) == component)
                vec_push(&m->bodies[to[k]->index].callers, bodies[i]->fn->index);
    }
}

static int by_component(const void *x, const void *y)
{
    const size_t *a = x, *b = y;

    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

static void settle_all(Mutability *m)
{
    size_t(*order)[2] = xcalloc(m->nbodies + 1, sizeof *order), n = 0;
    Queue component = { 0 };

    for (size_t i = 0; i < m->nbodies; i++)
        if (m->bodies[i].fn) {
            order[n][0] = calls_component(m->calls, m->bodies[i].fn);
            order[n++][1] = i;
        }
    if (n)
        qsort(order, n, sizeof *order, by_component);
    for (size_t i = 0; i < n && !m->stopped;) {
        size_t c = order[i][0];
        component.len = 0;
        for (; i < n && order[i][0] == c; i++)
            vec_push(&component, &m->bodies[order[i][1]]);
        link_component(m, component.items, component.len);
        settle_component(m, component.items, component.len);
    }
    vec_release(&component);
    free(order);
}

/* A library function that writes further away, as strsep(): a summary says no more of it. */
static bool is_by_library(const Mutability *m, LLVMValueRef inst)
{
    LLVMValueRef fn = inst && LLVMIsACallInst(inst) ? LLVMGetCalledValue(inst) : NULL;
    size_t n;
    const Summary *s = fn && LLVMIsAFunction(fn) && LLVMIsDeclaration(fn)
                           ? summaries_find(m->summaries, LLVMGetValueName2(fn, &n))
                           : NULL;

    return s && s->nwrites;
}

/* Code outside is trusted to keep const; what is seen to break it isn't. */
static bool breaks_const(const Mutability *m)
{
    for (size_t i = 0; i < m->nbodies; i++) {
        const Body *b = &m->bodies[i];
        if (!b->fn || !b->lowered || !pointsto_called_from_outside(m->pt, b->value))
            continue;
        for (size_t k = 0; k < b->flow.effects.len; k++) {
            const Effect *e = &b->flow.effects.items[k];
            bool sure = !e->maybe || (e->maybe == PATH_OF_SEVERAL && is_by_library(m, e->origin));
            if ((e->kind == EFFECT_WRITE || e->kind == EFFECT_FREE) && sure && !e->path.depth &&
                e->path.root < b->nargs && b->to_const[e->path.root])
                return true;
        }
    }
    return false;
}

static void open_bodies(Mutability *m)
{
    size_t n;
    const Function *const *fns = program_functions(m->program, &n);

    m->nbodies = program_index_limit(m->program);
    m->bodies = xcalloc(m->nbodies + 1, sizeof *m->bodies);
    m->params = xcalloc(m->nbodies + 1, sizeof *m->params);
    m->purity = xcalloc(m->nbodies + 1, sizeof *m->purity);
    for (size_t i = 0; i < n; i++) {
        LLVMValueRef v = program_function_value(m->program, fns[i]);
        if (!fns[i]->defined || !v || LLVMIsDeclaration(v))
            continue;
        Body *b = &m->bodies[fns[i]->index];
        b->fn = fns[i];
        pttable_put(&m->body_of, (uintptr_t)v, fns[i]->index);
        describe_params(m, b);
    }
}

Mutability *mutability_new(const Program *p, const Calls *c, const MutabilityPlan *plan)
{
    Mutability *m = xcalloc(1, sizeof *m);

    m->program = p;
    m->calls = c;
    m->pt = calls_pointsto(c);
    m->summaries = calls_summaries(c);
    m->plan = *plan;
    if (!m->plan.stages)
        m->plan.stages = MUT_BY_S | MUT_BY_SH | MUT_BY_P | MUT_BY_M;
    m->layout = LLVMGetModuleDataLayout(program_module(p));
    if (m->plan.stages & MUT_BY_M)
        m->modref = modref_new(m->pt, m->summaries);
    m->percent_n = mut_has_conversion(program_module(p), 'n');
    m->own_conversions = LLVMGetNamedFunction(program_module(p), "register_printf_specifier") ||
                         LLVMGetNamedFunction(program_module(p), "register_printf_function");
    m->finds_names = LLVMGetNamedFunction(program_module(p), "dlsym") ||
                     LLVMGetNamedFunction(program_module(p), "dlvsym");
    mut_find_rebuilt(m);
    open_bodies(m);
    mut_formats(m);
    mut_find_lists(m);
    settle_all(m);
    m->breaks_const = breaks_const(m);
    for (size_t i = 0; i < m->nbodies && !stopped(m); i++)
        if (m->bodies[i].fn)
            judge_function(m, &m->bodies[i]);
    return m;
}

void mutability_free(Mutability *m)
{
    if (!m)
        return;
    mut_memory_release(m);
    ptbits_release(&m->numbers);
    modref_free(m->modref);
    for (size_t i = 0; i < m->nbodies; i++)
        mut_body_release(&m->bodies[i]);
    free(m->bodies);
    free(m->params);
    free(m->purity);
    vec_release(&m->globals);
    pttable_release(&m->global_of);
    pttable_release(&m->body_of);
    pttable_release(&m->slot_of);
    vec_release(&m->slots);
    pttable_release(&m->prints);
    pttable_release(&m->seen_pointers);
    map_release(&m->store_class);
    arena_release(&m->arena);
    free(m);
}

bool mutability_stopped(const Mutability *m) { return m->stopped; }

const MutParam *mutability_param(const Mutability *m, const Function *fn, unsigned i)
{
    return m->params[fn->index] && i < fn->nparams ? &m->params[fn->index][i] : NULL;
}

MutPurity mutability_purity(const Mutability *m, const Function *fn)
{
    return m->purity[fn->index];
}

/* From call to call to the store, as it was seen. */
static MutStep *observed_steps(Mutability *m, const Function *fn, const MutWrite *w, size_t *n)
{
    size_t calls = w->stack.len ? w->stack.len - 1 : 0;
    MutStep *steps = arena_array(&m->arena, MutStep, calls + 1);

    if (calls >= MOST_STEPS_SHOWN)
        calls = MOST_STEPS_SHOWN - 1;
    for (size_t i = 0; i < calls; i++)
        steps[i] = (MutStep){ .function = w->stack.items[i],
                              .file = w->stack.items[i]->file,
                              .line = w->stack.items[i]->line,
                              .path = "",
                              .callee = w->stack.items[i + 1]->name };
    steps[calls] = (MutStep){ .function = w->stack.len ? w->stack.items[w->stack.len - 1] : fn,
                              .file = arena_strdup(&m->arena, w->file),
                              .line = w->line,
                              .callee = "",
                              .path = "" };
    *n = calls + 1;
    return steps;
}

void mutability_observe(Mutability *m, const Function *fn, unsigned i, const MutWrite *w)
{
    MutParam *p = m->params[fn->index] && i < fn->nparams ? &m->params[fn->index][i] : NULL;
    size_t n;

    if (!p || !p->pointer)
        return;
    MutStep *steps = observed_steps(m, fn, w, &n);
    if (p->deep.verdict == MUT_UNKNOWN) {
        p->witness = steps;
        p->nwitness = n;
        p->level[w->level < MUT_LEVELS ? w->level : MUT_LEVELS - 1] = MUT_MUTABLE;
    }
    settle(&p->deep, MUT_MUTABLE, MUT_BY_D, true);
    if (w->level)
        return;
    if (p->own.verdict == MUT_UNKNOWN) {
        p->own_witness = steps;
        p->nown_witness = n;
    }
    settle(&p->own, MUT_MUTABLE, MUT_BY_D, true);
}

void mutability_presume(Mutability *m, const Function *fn, unsigned i)
{
    MutParam *p = m->params[fn->index] && i < fn->nparams ? &m->params[fn->index][i] : NULL;

    if (!p || !p->pointer)
        return;
    settle(&p->deep, MUT_IMMUTABLE, MUT_BY_D, false);
    settle(&p->own, MUT_IMMUTABLE, MUT_BY_D, false);
}
