/*
 * Variables that may be read before they are set, at lines which another tool's warning names.
 *
 * A variable that lives in registers is undefined where a path does not set it: a
 * flag runs beside each of its values, false for "undefined", and the use asks it. A variable in
 * memory has a shadow, a byte for each of its own, which the function's stores set. If
 * somebody else gets its address, what is not set by then is not known, and neither counts for nor against the warning.
 *
 * A use tells nothing against the warning while the paths that set nothing are not taken. So the
 * opportunities of a register are the times when such a path was taken: it must end before the use.
 */
#include "weave/watch/rules_int.h"
#include <assert.h>
#include <inttypes.h>

enum { LARGEST = 1 << 16, DEPTH = 8, MOST_POINTERS = 200 };

/* ---- registers */

static bool may_be_unset(Watch *watch, LLVMValueRef v, uintptr_t depth);

static bool brings_unset(Watch *watch, LLVMValueRef v, uintptr_t depth)
{
    bool unset = false;
    if (LLVMIsASelectInst(v))
        return may_be_unset(watch, LLVMGetOperand(v, 1), depth) ||
               may_be_unset(watch, LLVMGetOperand(v, 2), depth);
    for (unsigned k = 0; k < LLVMCountIncoming(v) && !unset; k++)
        unset = may_be_unset(watch, LLVMGetIncomingValue(v, k), depth);
    return unset;
}

/* The phis of a large state machine name each other: each is asked once for each depth. */
static bool may_be_unset(Watch *watch, LLVMValueRef v, uintptr_t depth)
{
    if (LLVMIsUndef(v))
        return true;
    if (!depth || (!LLVMIsAPHINode(v) && !LLVMIsASelectInst(v)))
        return false;
    uintptr_t key[] = { (uintptr_t)v, depth };
    uintptr_t known = (uintptr_t)map_getn(&watch->unset_facts, key, sizeof key);
    if (known)
        return known - 1;
    bool unset = brings_unset(watch, v, depth - 1);
    map_putn(&watch->unset_facts, key, sizeof key, (void *)((uintptr_t)unset + 1));
    return unset;
}

static LLVMValueRef unset_operand(Watch *watch, LLVMValueRef i)
{
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef v = LLVMGetOperand(i, (unsigned)k);
        if (v && !LLVMValueIsBasicBlock(v) && may_be_unset(watch, v, DEPTH))
            return v;
    }
    return NULL;
}

/* Is it set? A phi beside each phi; what is no phi is set. */
static LLVMValueRef flag_of(Watch *watch, LLVMValueRef v, Map *flags)
{
    Woven *w = watch->w;
    LLVMValueRef known = map_getn(flags, &v, sizeof v);
    if (known)
        return known;
    if (!LLVMIsAPHINode(v))
        return weave_int(w, w->i1, !LLVMIsUndef(v));
    LLVMPositionBuilderBefore(w->builder, v);
    LLVMSetCurrentDebugLocation2(w->builder, NULL);
    LLVMValueRef flag = LLVMBuildPhi(w->builder, w->i1, "");
    *map_slotn(flags, &v, sizeof v) = flag;
    for (unsigned k = 0; k < LLVMCountIncoming(v); k++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(v, k);
        LLVMValueRef value = flag_of(watch, LLVMGetIncomingValue(v, k), flags);
        LLVMAddIncoming(flag, &value, &from, 1);
    }
    return flag;
}

static void probe_register(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    Map flags = { 0 };
    LLVMValueRef flag = flag_of(watch, s->at[1], &flags);
    for (size_t k = 0; k < flags.len; k++) {
        LLVMValueRef merged = flags.entries[k].value;
        watch_go_after(watch, merged);
        LLVMValueRef unset = LLVMBuildNot(w->builder, merged, "");
        LLVMValueRef args[] = { watch_slot_value(watch, s, 1), weave_int(w, w->i64, 0),
                                LLVMBuildZExt(w->builder, unset, w->i32, "") };
        watch_call(watch, "sundew_watch_value", w->void_, args, 3);
    }
    map_release(&flags);
    watch_go_before(watch, s->at[0]);
    LLVMValueRef unset = LLVMBuildNot(w->builder, flag, "");
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0), weave_int(w, w->i64, 0),
                            LLVMBuildZExt(w->builder, unset, w->i32, "") };
    watch_call(watch, "sundew_watch_value", w->void_, args, 3);
}

/* ---- memory */

static uint64_t size_of(Watch *watch, LLVMTypeRef type)
{
    return LLVMABISizeOfType(watch->w->layout, type);
}

/* The variable and all pointers that are made from its address; false: the address goes to
 * memory, where it is not followed. */
typedef Vec(LLVMValueRef) Pointers;

static bool has(const Pointers *all, LLVMValueRef v)
{
    for (size_t k = 0; k < all->len; k++)
        if (all->items[k] == v)
            return true;
    return false;
}

static bool pointers_to(LLVMValueRef variable, Pointers *out)
{
    vec_push(out, variable);
    for (size_t k = 0; k < out->len; k++)
        for (LLVMUseRef u = LLVMGetFirstUse(out->items[k]); u; u = LLVMGetNextUse(u)) {
            LLVMValueRef i = LLVMGetUser(u);
            if (LLVMIsAGetElementPtrInst(i) || LLVMIsAPHINode(i) || LLVMIsASelectInst(i)) {
                if (!has(out, i))
                    vec_push(out, i);
            } else if (!LLVMIsALoadInst(i) && !LLVMIsACallInst(i) && !LLVMIsAICmpInst(i) &&
                       !LLVMIsAPtrToIntInst(i) &&
                       !(LLVMIsAStoreInst(i) && LLVMGetOperand(i, 0) != out->items[k])) {
                return false;
            }
            if (out->len > MOST_POINTERS)
                return false;
        }
    return true;
}

/* Of a fixed size, and its address goes nowhere but to calls. */
static bool is_plain(Watch *watch, LLVMValueRef variable)
{
    Pointers all = { 0 };
    int64_t one;
    bool plain = watch_constant(LLVMGetOperand(variable, 0), &one) && one == 1 &&
                 size_of(watch, LLVMGetAllocatedType(variable)) <= LARGEST &&
                 pointers_to(variable, &all);
    vec_release(&all);
    return plain;
}

static void mark(Watch *watch, LLVMValueRef shadow, LLVMValueRef variable, LLVMValueRef address,
                 LLVMValueRef n, unsigned how)
{
    Woven *w = watch->w;
    LLVMValueRef offset =
        LLVMBuildSub(w->builder, LLVMBuildPtrToInt(w->builder, address, w->i64, ""),
                     LLVMBuildPtrToInt(w->builder, variable, w->i64, ""), "");
    uint64_t size = size_of(watch, LLVMGetAllocatedType(variable));
    LLVMValueRef args[] = { shadow, weave_int(w, w->i64, size), offset, n,
                            weave_int(w, w->i32, how) };
    watch_call(watch, "sundew_watch_mark", w->void_, args, 5);
}

/* A pointer that is made from several addresses may lead elsewhere: the runtime leaves out what is not in
 * the variable. */
static void follow(Watch *watch, LLVMValueRef i, LLVMValueRef shadow, LLVMValueRef variable,
                   const Pointers *all)
{
    Woven *w = watch->w;
    const char *name = watch_callee(i);
    bool copies = name && str_starts(name, "llvm.mem");
    if (LLVMIsAStoreInst(i) && has(all, LLVMGetOperand(i, 1))) {
        uint64_t n = size_of(watch, LLVMTypeOf(LLVMGetOperand(i, 0)));
        watch_go_before(watch, i);
        mark(watch, shadow, variable, LLVMGetOperand(i, 1), weave_int(w, w->i64, n), 1);
    } else if (copies && has(all, LLVMGetOperand(i, 0))) {
        watch_go_before(watch, i);
        mark(watch, shadow, variable, LLVMGetOperand(i, 0),
             watch_i64(watch, LLVMGetOperand(i, 2), false), 1);
    } else if (LLVMIsACallInst(i) && !copies &&
               !(name && (str_starts(name, "llvm.") || str_starts(name, "sundew_")))) {
        for (unsigned k = 0; k < LLVMGetNumArgOperands(i); k++)
            if (has(all, LLVMGetOperand(i, k))) {
                uint64_t n = size_of(watch, LLVMGetAllocatedType(variable));
                watch_go_before(watch, i);
                mark(watch, shadow, variable, variable, weave_int(w, w->i64, n), 2);
                return;
            }
    }
}

static void probe_memory(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef load = s->at[0], variable = s->at[2], fn = watch_function_of(load);
    uint64_t size = size_of(watch, LLVMGetAllocatedType(variable));
    Pointers all = { 0 }, pointers = { 0 };
    pointers_to(variable, &pointers);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            vec_push(&all, i);
    watch_go_before(watch, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn)));
    LLVMSetCurrentDebugLocation2(w->builder, weave_line_of(w, fn));
    LLVMValueRef shadow = LLVMBuildAlloca(w->builder, LLVMArrayType2(w->i8, size), "");
    LLVMBuildMemSet(w->builder, shadow, weave_int(w, w->i8, 0), weave_int(w, w->i64, size), 1);
    for (size_t k = 0; k < all.len; k++)
        follow(watch, all.items[k], shadow, variable, &pointers);
    vec_release(&all);
    vec_release(&pointers);
    watch_go_before(watch, load);
    LLVMValueRef offset =
        LLVMBuildSub(w->builder, LLVMBuildPtrToInt(w->builder, LLVMGetOperand(load, 0), w->i64, ""),
                     LLVMBuildPtrToInt(w->builder, variable, w->i64, ""), "");
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0), shadow, weave_int(w, w->i64, size),
                            offset, weave_int(w, w->i64, size_of(watch, LLVMTypeOf(load))) };
    watch_call(watch, "sundew_watch_unset", w->void_, args, 5);
}

/* ---- the rule */

static void find_unset(Watch *watch, LLVMValueRef i)
{
    if (LLVMIsAPHINode(i))
        return;
    LLVMValueRef operand = unset_operand(watch, i);
    LLVMValueRef variable = LLVMIsALoadInst(i) ? watch_base(LLVMGetOperand(i, 0)) : NULL;
    bool memory = variable && LLVMIsAAllocaInst(variable) && is_plain(watch, variable);
    if (!operand && !memory)
        return;
    WatchSite *s = watch_add(watch, i, SITE_LOOSE, "", "variable");
    s->group = s->key;
    s->at[1] = operand;
    s->at[2] = operand ? NULL : variable;
}

static void probe_unset(Watch *watch, WatchSite *s)
{
    assert(s->at[1] || s->at[2]);
    if (s->at[1])
        probe_register(watch, s);
    else
        probe_memory(watch, s);
}

static void join_unset(const WatchSite *s, const struct sundew_watch_slot *self,
                       const WatchEvidence *all, WatchJudgement *out)
{
    out->opportunities = s->at[1] ? watch_slot(all, s, 1)->bad : self->n;
    out->idle = self->n > 0;
    out->missing = "a test that takes the way on which it is not set";
    if (self->bad)
        watch_say(out, GRADE_MANIFEST, s, self,
                  "it was used here without being set (%" PRIu64 " of %" PRIu64 " times)",
                  self->bad, self->n);
}

const WatchRule rule_unset = {
    .family = "uninitialised",
    .objection = "it is set on every way that gets here",
    .opportunity = "uses, or ways that do not set it",
    .slots = 2,
    .asked = true,
    .instruction = find_unset,
    .probe = probe_unset,
    .join = join_unset,
};
