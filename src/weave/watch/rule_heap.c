/* Pointers that stay behind after free(), memory that stays behind after an error or is freed
 * twice. */
#include "weave/watch/rules_int.h"
#include <inttypes.h>

/* ---- free(s->name) and s->name stays: is it loaded again while it is stale? */

static bool is_call_of(LLVMValueRef i, const char *name)
{
    const char *callee = watch_library(i);
    return callee && !strcmp(callee, name);
}

/* Does the function set the field, or free what it is a field of? */
static bool is_cared_for(LLVMValueRef call, LLVMValueRef address)
{
    LLVMValueRef fn = watch_function_of(call), base = watch_base(address);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (LLVMIsAStoreInst(i) && watch_same(LLVMGetOperand(i, 1), address, 6))
                return true;
            if (is_call_of(i, "free") && i != call &&
                watch_same(watch_base(LLVMGetOperand(i, 0)), base, 6))
                return true;
            if (watch_callee(i) && str_starts(watch_callee(i), "llvm.memset") &&
                watch_same(watch_base(LLVMGetOperand(i, 0)), base, 6))
                return true;
        }
    return false;
}

static void find_stale(Watch *watch, LLVMValueRef i)
{
    if (!is_call_of(i, "free") || LLVMGetNumArgOperands(i) != 1)
        return;
    LLVMValueRef p = LLVMGetOperand(i, 0);
    if (!LLVMIsALoadInst(p))
        return;
    LLVMValueRef address = LLVMGetOperand(p, 0);
    const char *field = watch_place_of(watch, address);
    if (!field || LLVMIsAAllocaInst(watch_base(address)))
        return;
    if (watch_uses(watch, field, false)->lent)
        return;
    WatchSite *s =
        watch_add(watch, i, is_cared_for(i, address) ? SITE_LOOSE : SITE_SUSPECT, "", field);
    s->group = s->key;
    s->at[1] = p;
}

/* A load tells whether the pointer is stale; a store makes it good again, whoever
 * allocated it. */
static void probe_use(Watch *watch, WatchSite *s, LLVMValueRef i)
{
    Woven *w = watch->w;
    if (LLVMIsALoadInst(i)) {
        LLVMValueRef args[] = { watch_slot_value(watch, s, 1), i };
        watch_go_after(watch, i);
        watch_call(watch, "sundew_watch_loaded", w->void_, args, 2);
    } else {
        LLVMValueRef stored = LLVMGetOperand(i, 0);
        watch_go_before(watch, i);
        watch_call(watch, "sundew_watch_revive", w->void_, &stored, 1);
    }
}

static void probe_stale(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    const WatchUses *uses = watch_uses(watch, s->subject, false);
    for (size_t k = 0; k < uses->all.len; k++) {
        LLVMValueRef i = uses->all.items[k];
        LLVMValueRef p = LLVMIsALoadInst(i) ? i : LLVMGetOperand(i, 0);
        if (LLVMTypeOf(p) == w->ptr)
            probe_use(watch, s, i);
    }
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0), s->at[1] };
    watch_go_before(watch, s->at[0]);
    watch_call(watch, "sundew_watch_stale", w->void_, args, 2);
}

static void join_stale(const WatchSite *s, const struct sundew_watch_slot *self,
                       const WatchEvidence *all, WatchJudgement *out)
{
    const struct sundew_watch_slot *loads = watch_slot(all, s, 1);
    out->opportunities = self->n < loads->n ? self->n : loads->n;
    out->missing = "a test that uses the object after this function";
    if (loads->bad)
        watch_say(out, GRADE_PREDICTIVE, s, loads,
                  "the pointer was loaded again after it was freed (%" PRIu64 " times)",
                  loads->bad);
}

const WatchRule rule_stale = {
    .family = "stale-pointer",
    .objection = "the object is not used any more",
    .opportunity = "frees and loads",
    .slots = 2,
    .instruction = find_stale,
    .probe = probe_stale,
    .join = join_stale,
    .heap = true,
};

/* ---- a leak: memory that the function itself frees on another path */

static const char *const makers[] = { "malloc", "calloc", "strdup", "strndup", NULL };
/* They use a pointer and do not keep it. */
static const char *const borrowers[] = { "free",     "strlen",  "strcpy",  "strcat",  "strcmp",
                                         "memcpy",   "memset",  "read",    "write",   "fread",
                                         "fwrite",   "printf",  "fprintf", "puts",    "fputs",
                                         "snprintf", "sprintf", "strchr",  "strncpy", "memcmp",
                                         "strncmp",  "fgets",   "sscanf",  NULL };

static bool is_own(LLVMValueRef p, bool *freed, unsigned depth);

/* A function of the program that uses the pointer, and neither keeps nor frees it. */
static bool borrows(LLVMValueRef call, LLVMValueRef p, unsigned depth)
{
    LLVMValueRef f = watch_callee_value(call);
    bool freed = false, fine = depth && f && !LLVMIsDeclaration(f);
    for (unsigned k = 0; fine && k < LLVMGetNumArgOperands(call); k++)
        if (LLVMGetOperand(call, k) == p)
            fine =
                k < LLVMCountParams(f) && is_own(LLVMGetParam(f, k), &freed, depth - 1) && !freed;
    return fine;
}

/* Is it used here only, and freed somewhere? A stored, returned or lent pointer may be
 * another's to free. */
static bool is_own(LLVMValueRef p, bool *freed, unsigned depth)
{
    for (LLVMUseRef u = LLVMGetFirstUse(p); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        if (is_call_of(i, "free"))
            *freed = true;
        bool fine = LLVMIsALoadInst(i) || LLVMIsAICmpInst(i) ||
                    (LLVMIsAStoreInst(i) && LLVMGetOperand(i, 0) != p) ||
                    watch_is_named(i, borrowers) || borrows(i, p, depth) ||
                    (watch_callee(i) && str_starts(watch_callee(i), "llvm."));
        if (LLVMIsAGetElementPtrInst(i))
            fine = depth && is_own(i, freed, depth - 1);
        if (!fine)
            return false;
    }
    return true;
}

static bool frees(LLVMBasicBlockRef b, LLVMValueRef p)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        if (is_call_of(i, "free") && watch_base(LLVMGetOperand(i, 0)) == p)
            return true;
    return false;
}

/* The successor at which `p` is known to be NULL; NULL: there is none. */
static LLVMBasicBlockRef null_side(LLVMValueRef end, LLVMValueRef p)
{
    if (LLVMGetInstructionOpcode(end) != LLVMBr || !LLVMIsConditional(end))
        return NULL;
    LLVMValueRef c = LLVMGetCondition(end);
    if (!LLVMIsAICmpInst(c) || LLVMGetOperand(c, 0) != p ||
        !LLVMIsAConstantPointerNull(LLVMGetOperand(c, 1)))
        return NULL;
    return LLVMGetSuccessor(end, LLVMGetICmpPredicate(c) == LLVMIntEQ ? 0 : 1);
}

typedef Vec(LLVMBasicBlockRef) Blocks;

/* Is there a way from the block to a return that does not free `p`? */
static bool escapes_free(LLVMBasicBlockRef from, LLVMValueRef p)
{
    Blocks work = { 0 };
    Map seen = { 0 };
    bool escapes = false;
    vec_push(&work, from);
    while (!escapes && work.len) {
        LLVMBasicBlockRef b = work.items[--work.len];
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        if (!end || frees(b, p))
            continue;
        escapes = LLVMGetInstructionOpcode(end) == LLVMRet;
        for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
            LLVMBasicBlockRef next = LLVMGetSuccessor(end, k);
            if (next != null_side(end, p) && map_putn(&seen, &next, sizeof next, p))
                vec_push(&work, next);
        }
    }
    map_release(&seen);
    vec_release(&work);
    return escapes;
}

static void blocks_that_free(LLVMValueRef p, Blocks *out)
{
    LLVMValueRef fn = watch_function_of(p);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        if (frees(b, p))
            vec_push(out, b);
}

/* Is it freed in the block, or behind it? */
static bool is_freed_from(LLVMBasicBlockRef b, const Blocks *freeing)
{
    for (size_t k = 0; k < freeing->len; k++)
        if (freeing->items[k] == b ||
            watch_is_behind(LLVMGetFirstInstruction(b),
                            LLVMGetBasicBlockTerminator(freeing->items[k]), NULL))
            return true;
    return false;
}

/* Does the branch decide, and by one value alone? `lost`: the side that returns and never frees. */
static bool decides(LLVMValueRef branch, LLVMValueRef p, const Blocks *freeing, unsigned *lost)
{
    if (!LLVMIsABranchInst(branch) || !LLVMIsConditional(branch) ||
        !watch_leaf(LLVMGetCondition(branch)) || !watch_is_behind(p, branch, NULL))
        return false;
    *lost = is_freed_from(LLVMGetSuccessor(branch, 0), freeing);
    LLVMBasicBlockRef side = LLVMGetSuccessor(branch, *lost);
    return is_freed_from(LLVMGetSuccessor(branch, !*lost), freeing) &&
           !is_freed_from(side, freeing) && escapes_free(side, p);
}

static LLVMValueRef deciding_branch(LLVMValueRef p, unsigned *lost)
{
    enum { MOST_BLOCKS = 2000 }; /* each is asked about each */
    LLVMValueRef fn = watch_function_of(p), found = NULL;
    Blocks freeing = { 0 };
    if (LLVMCountBasicBlocks(fn) <= MOST_BLOCKS)
        blocks_that_free(p, &freeing);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b && !found && freeing.len;
         b = LLVMGetNextBasicBlock(b))
        if (decides(LLVMGetBasicBlockTerminator(b), p, &freeing, lost))
            found = LLVMGetBasicBlockTerminator(b);
    vec_release(&freeing);
    return found;
}

static void find_leak(Watch *watch, LLVMValueRef i)
{
    bool freed = false;
    if (!watch_is_named(i, makers) || !is_own(i, &freed, 3) ||
        !escapes_free(LLVMGetInstructionParent(i), i))
        return;
    WatchSite *s = watch_add(watch, i, freed ? SITE_SUSPECT : SITE_LOOSE, "", watch_callee(i));
    unsigned lost = 0;
    s->group = s->key;
    s->at[1] = deciding_branch(i, &lost);
    s->fact[0] = lost;
    if (s->at[1])
        watch_place(s, s->at[1]);
    s->kind = s->at[1] ? watch_values_class(watch, LLVMGetCondition(s->at[1])) : "";
    LLVMValueRef fn = watch_function_of(i);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        if (LLVMGetBasicBlockTerminator(b))
            watch_place(s, LLVMGetBasicBlockTerminator(b));
}

/* A variable of our own remembers the pointer, so that each return can ask. */
static void probe_leak(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef i = s->at[0], fn = watch_function_of(i);
    LLVMPositionBuilderBefore(w->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn)));
    LLVMSetCurrentDebugLocation2(w->builder, weave_line_of(w, fn));
    LLVMValueRef kept = LLVMBuildAlloca(w->builder, w->ptr, "");
    LLVMValueRef born = LLVMBuildAlloca(w->builder, w->i64, "");
    LLVMBuildStore(w->builder, LLVMConstNull(w->ptr), kept);
    LLVMBuildStore(w->builder, weave_int(w, w->i64, 0), born);
    watch_go_behind_note(watch, i);
    LLVMBuildStore(w->builder, i, kept);
    LLVMBuildStore(w->builder, watch_call(watch, "sundew_watch_born", w->i64, &i, 1), born);
    for (LLVMBasicBlockRef b = NULL; (b = weave_go_to_return(w, fn, b));) {
        LLVMValueRef args[] = { watch_slot_value(watch, s, 0),
                                LLVMBuildLoad2(w->builder, w->ptr, kept, ""),
                                LLVMBuildLoad2(w->builder, w->i64, born, "") };
        watch_call(watch, "sundew_watch_left", w->void_, args, 3);
    }
    if (*s->kind)
        watch_try_elsewhere(watch, s, 1, LLVMGetCondition(s->at[1]),
                            s->fact[0] ? LLVMIntEQ : LLVMIntNE, LLVMGetInstructionParent(s->at[1]));
}

static void join_leak(const WatchSite *s, const struct sundew_watch_slot *self,
                      const WatchEvidence *all, WatchJudgement *out)
{
    const struct sundew_watch_slot *elsewhere = watch_slot(all, s, 1);
    out->opportunities = self->n;
    out->missing = "a test that takes the error path";
    if (self->n && elsewhere->bad)
        watch_say(out, GRADE_PREDICTIVE, s, elsewhere,
                  "%s() gets what %s is, which was %" PRId64
                  " elsewhere: then it does not free the memory of %s()",
                  s->function, s->kind, elsewhere->value, s->subject);
    out->open = true; /* the path that leaks was perhaps not taken */
    if (self->bad)
        watch_say(out, GRADE_STRONG, s, self,
                  "%s() returned %" PRIu64 " times without freeing %" PRId64 " bytes of %s()",
                  s->function, self->bad, self->value, s->subject);
}

const WatchRule rule_leak = {
    .family = "leak",
    .objection = "that path is not taken",
    .opportunity = "returns",
    .slots = 2,
    .instruction = find_leak,
    .probe = probe_leak,
    .join = join_leak,
    .heap = true,
};

/* ---- free(p), and then free(p) once more on some path */

static void find_double(Watch *watch, LLVMValueRef i)
{
    if (!is_call_of(i, "free") || LLVMGetNumArgOperands(i) != 1)
        return;
    LLVMValueRef p = LLVMGetOperand(i, 0);
    if (LLVMIsALoadInst(p) || LLVMIsAConstant(p))
        return; /* stale pointers in memory have a rule of their own */
    LLVMBasicBlockRef made = LLVMIsAInstruction(p) ? LLVMGetInstructionParent(p) : NULL;
    for (LLVMUseRef u = LLVMGetFirstUse(p); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef first = LLVMGetUser(u);
        if (first == i || !is_call_of(first, "free") || !watch_is_behind(first, i, made))
            continue;
        WatchSite *s = watch_add(watch, i, SITE_SUSPECT, "", "free");
        watch_place(s, first);
        s->group = s->key;
        s->at[1] = first;
        return;
    }
}

static void probe_double(Watch *watch, WatchSite *s)
{
    LLVMValueRef slots[] = { watch_slot_value(watch, s, 0), watch_slot_value(watch, s, 1) };
    LLVMValueRef i = s->at[0];
    watch_go_before(watch, i);
    LLVMValueRef args[] = { slots[1], LLVMGetOperand(i, 0) };
    watch_call(watch, "sundew_watch_again", watch->w->void_, args, 2);
    watch_go_before(watch, s->at[1]);
    watch_call(watch, "sundew_watch_hit", watch->w->void_, &slots[0], 1);
}

static void join_double(const WatchSite *s, const struct sundew_watch_slot *self,
                        const WatchEvidence *all, WatchJudgement *out)
{
    const struct sundew_watch_slot *again = watch_slot(all, s, 1);
    out->opportunities = self->n;
    out->missing = "a test that takes the way from the first free() to the second";
    out->open = true; /* the way was perhaps not taken */
    if (again->bad)
        watch_say(out, GRADE_MANIFEST, s, again, "what was freed before was freed here again");
}

const WatchRule rule_double_free = {
    .family = "double-free",
    .objection = "only one of the two is reached",
    .opportunity = "frees",
    .slots = 2,
    .instruction = find_double,
    .probe = probe_double,
    .join = join_double,
    .heap = true,
};
