/*
 * Results that may be NULL and are used without a test.
 *
 * That a function returned NULL somewhere is not enough: it must be able to do so for
 * an argument as it is passed here. So the evidence class is the callee and the origins of its
 * arguments: a parameter, a certain field, a certain global variable. A name that comes
 * from the user may be unknown; a name that the program itself stored is not. Nothing is
 * predicted where the function, or each of its callers, has asked for the same name before, or where each
 * caller passes a constant.
 */
#include "weave/watch/rules_int.h"
#include <assert.h>
#include <inttypes.h>

static const char *const allocators[] = { "malloc",  "calloc",        "realloc",      "strdup",
                                          "strndup", "aligned_alloc", "reallocarray", NULL };
/* They answer a question about their arguments: one answer tells nothing about another. */
static const char *const searches[] = { "strchr",  "strrchr", "strstr", "strpbrk",
                                        "memchr",  "fgets",   "strtok", "strtok_r",
                                        "bsearch", "readdir", NULL };
/* Library functions that read or write through a pointer. */
static const char *const readers[] = { "strlen",  "strcpy",  "strcat",   "strcmp", "memcpy",
                                       "memset",  "memmove", "strncpy",  "fgets",  "fclose",
                                       "fprintf", "fread",   "fwrite",   "fputs",  "atoi",
                                       "strtol",  "fscanf",  "fgetc",    "getc",   "fputc",
                                       "strncmp", "strchr",  "closedir", NULL };

/* The first use of `p` that reads or writes through it, or NULL. */
static void derefs_of(LLVMValueRef p, unsigned depth, LLVMValueRef *out, unsigned *n, unsigned most)
{
    for (LLVMUseRef u = LLVMGetFirstUse(p); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        bool deref = LLVMIsALoadInst(i) || (LLVMIsAStoreInst(i) && LLVMGetOperand(i, 1) == p);
        if (LLVMIsAGetElementPtrInst(i) && depth && LLVMGetOperand(i, 0) == p) {
            derefs_of(i, depth - 1, out, n, most);
            continue;
        }
        if (watch_callee(i) && !LLVMIsAFunction(p))
            deref = str_starts(watch_callee(i), "llvm.mem") || watch_is_named(i, readers);
        if (deref && *n < most)
            out[(*n)++] = i;
    }
}

/* In the order of the module, so that the first one runs first, mostly. */
static bool stands_before(LLVMValueRef a, LLVMValueRef b)
{
    return LLVMGetDebugLocLine(a) < LLVMGetDebugLocLine(b);
}

/* ---- who calls may have asked before: find(name), tested, and then use(name) */

/* Is there a call of `f` before `i`, with `v` as its k-th argument, whose result is tested? */
static bool was_asked(LLVMValueRef i, LLVMValueRef f, unsigned k, LLVMValueRef v)
{
    bool before = true, asked = false;
    LLVMValueRef fn = watch_function_of(i);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b && before;
         b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef c = LLVMGetFirstInstruction(b); c && before;
             c = LLVMGetNextInstruction(c)) {
            before = c != i;
            asked |= before && watch_callee_value(c) == f && k < LLVMGetNumArgOperands(c) &&
                     watch_same(LLVMGetOperand(c, k), v, 6) && watch_is_tested(c);
        }
    return asked;
}

/* All callers are known, and each has asked for what it passes as the n-th argument. */
static bool callers_asked(Watch *watch, LLVMValueRef fn, unsigned n, LLVMValueRef f, unsigned k)
{
    if (!watch_knows_callers(watch, fn))
        return false;
    for (LLVMUseRef u = LLVMGetFirstUse(fn); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef call = LLVMGetUser(u);
        if (n >= LLVMGetNumArgOperands(call) || !was_asked(call, f, k, LLVMGetOperand(call, n)))
            return false;
    }
    return true;
}

/* Does an earlier question, here or of all callers, say that the call finds something? Or is it always
 * asked for the same few constants? */
static bool is_sure(Watch *watch, LLVMValueRef i)
{
    LLVMValueRef f = watch_callee_value(i), fn = watch_function_of(i);
    unsigned fixed = 0, varying = 0;
    for (unsigned k = 0; k < LLVMGetNumArgOperands(i); k++) {
        LLVMValueRef v = LLVMGetOperand(i, k);
        if (LLVMIsAConstant(v))
            continue;
        if (LLVMIsAArgument(v) && watch_is_fixed(watch, v, 3))
            fixed++;
        else
            varying++;
        if (was_asked(i, f, k, v))
            return true;
        for (unsigned n = 0; n < LLVMCountParams(fn); n++)
            if (LLVMGetParam(fn, n) == v && callers_asked(watch, fn, n, f, k))
                return true;
    }
    return fixed && !varying;
}

/* What the instruction reads or writes through, that may be the result. */
static LLVMValueRef through(LLVMValueRef i, LLVMValueRef call)
{
    if (LLVMIsALoadInst(i))
        return watch_base(LLVMGetOperand(i, 0));
    if (LLVMIsAStoreInst(i))
        return watch_base(LLVMGetOperand(i, 1));
    for (unsigned k = 0; k < LLVMGetNumArgOperands(i); k++) {
        LLVMValueRef p = watch_base(LLVMGetOperand(i, k));
        if (p == call || (LLVMIsALoadInst(p) && LLVMTypeOf(p) == LLVMTypeOf(call)))
            return p;
    }
    return NULL;
}

/* Is it put where others find it? */
static bool is_stored(LLVMValueRef v)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        if (LLVMIsAStoreInst(i) && LLVMGetOperand(i, 0) == v &&
            !LLVMIsAAllocaInst(watch_base(LLVMGetOperand(i, 1))))
            return true;
    }
    return false;
}

/* No use is reached with NULL. */
static bool are_guarded(LLVMValueRef call, LLVMValueRef *uses, unsigned n)
{
    bool guarded = n > 0;
    for (unsigned k = 0; k < n && guarded; k++) {
        LLVMValueRef p = through(uses[k], call);
        guarded = p && watch_is_guarded(p, uses[k], 0);
    }
    return guarded;
}

/* Does a comparison or a switch look at a value, also at parts of it? */
static bool is_decided_by(LLVMValueRef v, unsigned depth)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        bool part = LLVMIsACastInst(i) || LLVMGetInstructionOpcode(i) == LLVMAnd;
        if (LLVMIsAICmpInst(i) || LLVMIsASwitchInst(i) ||
            (part && depth && is_decided_by(i, depth - 1)))
            return true;
    }
    return false;
}

/* The function says in a variable whether there is something, and the program asks that one:
 * p = find(name, &kind), switch (kind). */
static bool answers_otherwise(LLVMValueRef call)
{
    for (unsigned k = 0; k < LLVMGetNumArgOperands(call); k++) {
        LLVMValueRef a = LLVMGetOperand(call, k);
        for (LLVMUseRef u = LLVMIsAAllocaInst(a) ? LLVMGetFirstUse(a) : NULL; u;
             u = LLVMGetNextUse(u)) {
            LLVMValueRef i = LLVMGetUser(u);
            if (LLVMIsALoadInst(i) && LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind &&
                stands_before(call, i) && is_decided_by(i, 2))
                return true;
        }
    }
    return false;
}

static void find(Watch *watch, LLVMValueRef i, bool allocation)
{
    LLVMValueRef f = watch_callee_value(i), found[16];
    unsigned n = 0;
    if (!f || LLVMTypeOf(i) != watch->w->ptr ||
        str_is_one_of(watch_name(f), allocators) != allocation ||
        str_starts(watch_name(f), "llvm.") || str_starts(watch_name(f), "__ctype") ||
        str_starts(watch_name(f), "__errno"))
        return;
    bool may_fail = watch_may_return_null(watch, f), tested = false;
    if (!may_fail && LLVMIsDeclaration(f))
        return;
    WatchValues names = { 0 };
    watch_names_of(i, &names);
    for (size_t k = 0; k < names.len; k++) {
        tested |= watch_is_tested(names.items[k]);
        derefs_of(names.items[k], 4, found, &n, 16);
    }
    for (unsigned k = 1; k < n; k++)
        for (unsigned m = k; m && stands_before(found[m], found[m - 1]); m--) {
            LLVMValueRef t = found[m];
            found[m] = found[m - 1];
            found[m - 1] = t;
        }
    tested |= answers_otherwise(i);
    bool kept = !n && !tested && may_fail && is_stored(i);
    WatchRole role = !n                    ? (kept ? SITE_LOOSE : SITE_WITNESS)
                     : tested || !may_fail ? SITE_LOOSE
                                           : SITE_SUSPECT;
    WatchSite *s = watch_add(watch, i, role, watch_name(f), watch_name(f));
    s->kind = watch_origins(watch, i);
    s->fact[2] = watch_outside(watch, i, n ? found[0] : i, 0);
    s->safe = are_guarded(i, found, n);
    s->fact[1] = role == SITE_SUSPECT && is_sure(watch, i);
    for (unsigned k = 0; k < n; k++) {
        watch_place(s, found[k]);
        if (k < 3)
            s->at[k + 1] = found[k];
    }
    vec_release(&names);
}

static void find_null(Watch *watch, LLVMValueRef i) { find(watch, i, false); }
static void find_malloc(Watch *watch, LLVMValueRef i) { find(watch, i, true); }

static LLVMValueRef is_null(Watch *watch, LLVMValueRef p)
{
    Woven *w = watch->w;
    return LLVMBuildZExt(w->builder, LLVMBuildIsNull(w->builder, p, ""), w->i32, "");
}

static void probe_null(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef i = s->at[0];
    assert(LLVMIsACallInst(i) && s->nslots == 2);
    for (unsigned k = 1; k < 4 && s->at[k]; k++) {
        LLVMValueRef p = through(s->at[k], i);
        if (!p || LLVMTypeOf(p) != w->ptr)
            continue;
        watch_go_before(watch, s->at[k]);
        LLVMValueRef args[] = { watch_slot_value(watch, s, 1), weave_int(w, w->i64, 0),
                                is_null(watch, p) };
        watch_call(watch, "sundew_watch_value", w->void_, args, 3);
    }
    WatchValues users = { 0 };
    for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u))
        vec_push(&users, LLVMGetUser(u));
    watch_go_after(watch, i);
    LLVMValueRef size = weave_int(w, w->i64, 0), handed = i;
    if (watch->inject && s->wanted) {
        LLVMValueRef both[] = { watch_slot_value(watch, s, 0), i };
        handed = watch_call(watch, "sundew_watch_inject_null", w->ptr, both, 2);
    }
    bool sized = s->rule == &rule_malloc && LLVMGetNumArgOperands(i) > 0;
    LLVMValueRef last = sized ? LLVMGetOperand(i, LLVMGetNumArgOperands(i) - 1) : NULL;
    if (last && LLVMGetTypeKind(LLVMTypeOf(last)) == LLVMIntegerTypeKind)
        size = watch_i64(watch, last, false);
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0), size, is_null(watch, i) };
    watch_call(watch, "sundew_watch_value", w->void_, args, 3);
    for (size_t k = 0; handed != i && k < users.len; k++)
        watch_replace(users.items[k], i, handed);
    vec_release(&users);
}

/* Can the class predict? Not if the origin of an argument is not known, or all are constant. */
static bool tells(const char *kind)
{
    bool varies = strstr(kind, "parameter") || strstr(kind, "field") || strstr(kind, "result") ||
                  strstr(kind, "global");
    return varies && !strstr(kind, "value");
}

static void join_common(const WatchSite *s, const struct sundew_watch_slot *self,
                        const WatchEvidence *all, WatchJudgement *out)
{
    const struct sundew_watch_slot *used = watch_slot(all, s, 1);
    out->opportunities = self->n < used->n ? self->n : used->n;
    out->idle = self->n > 0;
    out->missing = "a test in which the call fails";
    bool simulated = (self->bits >> 62) & 1;
    if (used->bad)
        watch_say(out, simulated ? GRADE_SIMULATED : GRADE_MANIFEST, s, used,
                  "%s%s() returned NULL, and the result was used",
                  simulated ? "with a failure injected, " : "", s->subject);
    if (s->role != SITE_SUSPECT)
        return;
    if (self->bad)
        watch_say(out, GRADE_STRONG, s, self,
                  "%s() returned NULL here (%" PRIu64 " of %" PRIu64
                  " calls), and the result is not tested",
                  s->subject, self->bad, self->n);
}

static void join_null(const WatchSite *s, const struct sundew_watch_slot *self,
                      const WatchEvidence *all, WatchJudgement *out)
{
    join_common(s, self, all, out);
    watch_leave_open((WatchOutside)s->fact[2], out, out->missing);
    if (s->fact[2] == OUTSIDE_MEMORY && s->role == SITE_SUSPECT)
        out->missing = "--inject, which makes the call fail";
    if (s->role != SITE_SUSPECT || !tells(s->kind) || str_is_one_of(s->subject, searches) ||
        !self->n || s->fact[1])
        return;
    size_t at = 0;
    for (const WatchSite *o; (o = watch_other(all, s, &at));) {
        const struct sundew_watch_slot *other = watch_slot(all, o, 0);
        if (other->bad && !strcmp(o->kind, s->kind))
            watch_say(out, GRADE_PREDICTIVE, o, other,
                      "%s() returned NULL in %s (%" PRIu64 " of %" PRIu64
                      " calls), for arguments of the same origin; here the result is not tested",
                      s->subject, o->function, other->bad, other->n);
    }
}

const WatchRule rule_null = {
    .family = "unchecked-null",
    .objection = "the call can't fail here",
    .opportunity = "uses",
    .slots = 2,
    .instruction = find_null,
    .probe = probe_null,
    .join = join_null,
    .injects = true,
};

/* ---- malloc: the objection is that memory does not run out */

enum { LARGE = 1 << 20 };

static void join_malloc(const WatchSite *s, const struct sundew_watch_slot *self,
                        const WatchEvidence *all, WatchJudgement *out)
{
    join_common(s, self, all, out);
    out->missing = "--inject, which makes the allocation fail";
    if (s->role != SITE_SUSPECT) /* its size tells nothing: it is tested somewhere */
        watch_leave_open((WatchOutside)s->fact[2], out, out->missing);
    if (s->role == SITE_SUSPECT && self->n && self->low < self->high && self->high >= LARGE)
        watch_say(out, GRADE_USAGE, s, self,
                  "the size varies, from %" PRId64 " to %" PRId64 " bytes: it depends on input",
                  self->low, self->high);
}

const WatchRule rule_malloc = {
    .family = "unchecked-malloc",
    .objection = "memory does not run out",
    .opportunity = "uses",
    .slots = 2,
    .instruction = find_malloc,
    .probe = probe_null,
    .join = join_malloc,
    .injects = true,
};
