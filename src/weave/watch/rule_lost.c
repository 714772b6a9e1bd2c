/*
 * Memory and streams that a function loses, at lines which another tool's warning names.
 *
 * The rule `leak` knows memory that never leaves its function. Tools warn of more: memory that a
 * function makes, and may hand over or not. So each result of an allocation, and of a
 * function that gives a pointer, is remembered while the function runs. If the line of the warning
 * ran while such memory was live, the runtime looks for the pointer when the function returns: in what is
 * returned, the stacks of callers, variables and heap. If nobody has it, it is lost, whatever the program does next.
 *
 * A function that gets the pointer may fail, and then not keep it: list_add(list, strdup(name)). As long as it
 * did not fail in any run, the runs tell nothing against the warning.
 */
#include "weave/watch/rules_int.h"
#include <inttypes.h>

enum { MOST = 16 };
static const char *const makers[] = { "malloc", "calloc", "realloc", "strdup",        "strndup",
                                      "fopen",  "fdopen", "tmpfile", "aligned_alloc", NULL };

typedef Vec(LLVMValueRef) Makers;

static void makers_of(LLVMValueRef fn, Makers *out)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef f = watch_callee_value(i);
            if (!f || LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMPointerTypeKind)
                continue;
            if ((LLVMIsDeclaration(f) ? watch_is_named(i, makers) : true) && out->len < MOST)
                vec_push(out, i);
        }
}

/* The first function that gets the pointer and may say that it failed; NULL: none. */
static LLVMValueRef taker_of(Watch *watch, LLVMValueRef p, unsigned depth)
{
    for (LLVMUseRef u = LLVMGetFirstUse(p); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u), f = watch_callee_value(i), found = NULL;
        if (f && !LLVMIsDeclaration(f) &&
            (watch_may_return_negative(watch, f) || watch_may_return_null(watch, f)))
            return i;
        if (depth && (LLVMIsAPHINode(i) || LLVMIsASelectInst(i)))
            found = taker_of(watch, i, depth - 1);
        if (found)
            return found;
    }
    return NULL;
}

/* What is left at the end of main() is given back by the system. */
static void find_lost(Watch *watch, LLVMValueRef i)
{
    LLVMValueRef fn = watch_function_of(i);
    size_t n = watch->sites.len;
    const WatchSite *last = n ? watch->sites.items[n - 1] : NULL;
    LLVMTypeKind gives = LLVMGetTypeKind(LLVMGetReturnType(LLVMGlobalGetValueType(fn)));
    if (gives == LLVMStructTypeKind || gives == LLVMArrayTypeKind || gives == LLVMVectorTypeKind)
        return;                      /* the pointer may be a part of it */
    if (LLVMIsAPHINode(i) || !strcmp(watch_name(fn), "main") ||
        !strcmp(watch_name(fn), "sundew_program_main"))
        return;
    if (last && last->rule == watch->rule && watch_function_of(last->at[0]) == fn &&
        last->places[0].line == LLVMGetDebugLocLine(i))
        return;                      /* one for each line */
    Makers calls = { 0 };
    makers_of(fn, &calls);
    if (calls.len) {
        WatchSite *s = watch_add(watch, i, SITE_LOOSE, "", watch_callee(calls.items[0]));
        s->group = s->key;
        for (size_t k = 0; k < calls.len && !s->at[1]; k++)
            s->at[1] = taker_of(watch, calls.items[k], 2);
    }
    vec_release(&calls);
}

static void probe_taker(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef result = s->at[1], zero = LLVMConstNull(LLVMTypeOf(result));
    watch_go_after(watch, result);
    LLVMValueRef fails =
        LLVMBuildICmp(w->builder, LLVMTypeOf(result) == w->ptr ? LLVMIntEQ : LLVMIntSLT, result,
                      zero, "");
    LLVMValueRef args[] = { watch_slot_value(watch, s, 1), watch_i64(watch, result, true),
                            LLVMBuildZExt(w->builder, fails, w->i32, "") };
    watch_call(watch, "sundew_watch_value", w->void_, args, 3);
}

static void probe_lost(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    if (s->at[1])
        probe_taker(watch, s);
    LLVMValueRef i = s->at[0], fn = watch_function_of(i), zero = weave_int(w, w->i64, 0);
    Makers calls = { 0 };
    makers_of(fn, &calls);
    weave_set(w, fn, "noinline", 0);
    weave_drop(fn, "alwaysinline");
    LLVMTypeRef type = LLVMArrayType2(w->i64, 2 * calls.len + 2);
    LLVMValueRef n = weave_int(w, w->i64, calls.len);
    watch_go_before(watch, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn)));
    LLVMSetCurrentDebugLocation2(w->builder, weave_line_of(w, fn));
    LLVMValueRef kept = LLVMBuildAlloca(w->builder, type, "");
    LLVMBuildMemSet(w->builder, kept, weave_int(w, w->i8, 0),
                    weave_int(w, w->i64, 8 * (2 * calls.len + 2)), 8);
    LLVMValueRef last[] = { zero, weave_int(w, w->i64, 2 * calls.len + 1) };
    LLVMValueRef births = watch_call(watch, "sundew_watch_births", w->i64, NULL, 0);
    LLVMBuildStore(w->builder, births, LLVMBuildInBoundsGEP2(w->builder, type, kept, last, 2, ""));
    for (size_t k = 0; k < calls.len; k++) {
        LLVMValueRef index[] = { zero, weave_int(w, w->i64, k) };
        watch_go_behind_note(watch, calls.items[k]);
        LLVMValueRef at = LLVMBuildInBoundsGEP2(w->builder, type, kept, index, 2, "");
        LLVMBuildStore(w->builder, calls.items[k], at);
        index[1] = weave_int(w, w->i64, calls.len + 1 + k);
        at = LLVMBuildInBoundsGEP2(w->builder, type, kept, index, 2, "");
        LLVMValueRef born = watch_call(watch, "sundew_watch_born", w->i64, &calls.items[k], 1);
        LLVMBuildStore(w->builder, born, at);
    }
    LLVMValueRef slot = watch_slot_value(watch, s, 0);
    LLVMValueRef passed[] = { slot, kept, n };
    watch_go_before(watch, i);
    watch_call(watch, "sundew_watch_passed", w->void_, passed, 3);
    unsigned id = LLVMLookupIntrinsicID("llvm.frameaddress", 17);
    LLVMValueRef frame = LLVMGetIntrinsicDeclaration(w->module, id, &w->ptr, 1);
    for (LLVMBasicBlockRef b = NULL; (b = weave_go_to_return(w, fn, b));) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b), none = weave_int(w, w->i32, 0);
        LLVMValueRef given = LLVMGetNumOperands(end) ? LLVMGetOperand(end, 0) : NULL;
        LLVMValueRef args[] = { slot, kept, n, weave_call(w, frame, &none, 1),
                                given ? watch_i64(watch, given, false) : zero };
        watch_call(watch, "sundew_watch_lost", w->void_, args, 5);
    }
    vec_release(&calls);
}

static void join_lost(const WatchSite *s, const struct sundew_watch_slot *self,
                      const WatchEvidence *all, WatchJudgement *out)
{
    bool succeeds = s->at[1] && !watch_slot(all, s, 1)->bad;
    out->opportunities = succeeds ? 0 : self->n;
    out->idle = self->n > 0;
    out->missing = succeeds ? "a test in which the function fails that gets the pointer"
                            : "a test that gets here while the memory is in use";
    out->open = self->bits & 1;      /* old copies on the stack: nobody knows */
    if (self->bad)
        watch_say(out, GRADE_MANIFEST, s, self,
                  "%s() returned %" PRIu64 " times, and nobody had a pointer to %" PRId64
                  " bytes that it had made",
                  s->function, self->bad, self->value);
}

const WatchRule rule_lost = {
    .family = "leak",
    .objection = "somebody else has the pointer, or that path is not taken",
    .opportunity = "returns",
    .slots = 2,
    .asked = true,
    .instruction = find_lost,
    .probe = probe_lost,
    .join = join_lost,
    .heap = true,
};
