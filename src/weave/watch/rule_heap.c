/* Pointers that stay behind after free(), and memory that stays behind after an error. */
#include "weave/watch/rules_int.h"
#include <inttypes.h>

/* ---- free(s->name) and s->name stays: is it loaded again while it is stale? */

static bool is_call_of(LLVMValueRef i, const char *name)
{
    return watch_callee(i) && !strcmp(watch_callee(i), name);
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
    const char *field = watch_field(watch, address);
    if (!field && LLVMIsAGlobalVariable(address))
        field = watch_name(address);
    if (!field || LLVMIsAAllocaInst(watch_base(address)))
        return;
    WatchSite *s =
        watch_add(watch, i, is_cared_for(i, address) ? SITE_LOOSE : SITE_SUSPECT, "", field);
    s->group = s->key;
    s->at[1] = p;
}

static void probe_stale(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    Vec(LLVMValueRef) all = { 0 };
    for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                if (!LLVMIsALoadInst(i) || LLVMTypeOf(i) != w->ptr)
                    continue;
                LLVMValueRef at = LLVMGetOperand(i, 0);
                const char *field =
                    LLVMIsAGlobalVariable(at) ? watch_name(at) : watch_field(watch, at);
                if (field && !strcmp(field, s->subject))
                    vec_push(&all, i);
            }
    for (size_t k = 0; k < all.len; k++) {
        LLVMValueRef args[] = { watch_slot_value(watch, s, 1), all.items[k] };
        watch_go_after(watch, all.items[k]);
        watch_call(watch, "sundew_watch_loaded", w->void_, args, 2);
    }
    vec_release(&all);
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
                    watch_is_named(i, borrowers) ||
                    (watch_callee(i) && str_starts(watch_callee(i), "llvm."));
        if (LLVMIsAGetElementPtrInst(i))
            fine = depth && is_own(i, freed, depth - 1);
        if (!fine)
            return false;
    }
    return true;
}

static void find_leak(Watch *watch, LLVMValueRef i)
{
    bool freed = false;
    if (!watch_is_named(i, makers) || !is_own(i, &freed, 3))
        return;
    WatchSite *s = watch_add(watch, i, freed ? SITE_SUSPECT : SITE_LOOSE, "", watch_callee(i));
    s->group = s->key;
    LLVMValueRef fn = watch_function_of(i);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        LLVMValueRef before = end ? LLVMGetPreviousInstruction(end) : NULL;
        if (end)
            watch_place(s, end);
        (void)before;
    }
}

/* A variable of our own remembers the pointer, so that each return can ask. */
static void probe_leak(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef i = s->at[0], fn = watch_function_of(i);
    LLVMPositionBuilderBefore(w->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn)));
    LLVMSetCurrentDebugLocation2(w->builder, weave_line_of(w, fn));
    LLVMValueRef kept = LLVMBuildAlloca(w->builder, w->ptr, "");
    LLVMBuildStore(w->builder, LLVMConstNull(w->ptr), kept);
    watch_go_after(watch, i);
    LLVMBuildStore(w->builder, i, kept);
    for (LLVMBasicBlockRef b = NULL; (b = weave_go_to_return(w, fn, b));) {
        LLVMValueRef args[] = { watch_slot_value(watch, s, 0),
                                LLVMBuildLoad2(w->builder, w->ptr, kept, "") };
        watch_call(watch, "sundew_watch_left", w->void_, args, 2);
    }
}

static void join_leak(const WatchSite *s, const struct sundew_watch_slot *self,
                      const WatchEvidence *all, WatchJudgement *out)
{
    (void)all;
    out->opportunities = self->n;
    out->missing = "a test that takes the error path";
    out->open = true;                /* the path that leaks was perhaps not taken */
    if (self->bad)
        watch_say(out, GRADE_STRONG, s, self,
                  "%s() returned %" PRIu64 " times without freeing %" PRId64 " bytes of %s()",
                  s->function, self->bad, self->value, s->subject);
}

const WatchRule rule_leak = {
    .family = "leak",
    .objection = "that path is not taken",
    .opportunity = "returns",
    .instruction = find_leak,
    .probe = probe_leak,
    .join = join_leak,
    .heap = true,
};
