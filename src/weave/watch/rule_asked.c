/*
 * Rules that look only at lines which another tool's warning names: pointers that may be NULL
 * or freed, divisors that may be 0, indices that may lie outside.
 *
 * Each such line of a program does this all the time, so no matcher of our own could tell
 * the suspicious ones. The tool says where, and a run says whether: the objection is "that never
 * happens here", and the fact is the value itself.
 */
#include "weave/watch/rules_int.h"
#include <inttypes.h>

static WatchSite *add(Watch *watch, LLVMValueRef i, const char *subject)
{
    WatchSite *s = watch_add(watch, i, SITE_LOOSE, "", subject);
    s->group = s->key;
    return s;
}

/* Something outside decides over the value: that it was good says nothing about the next time. */
static void say_outside(WatchSite *s, WatchOutside o)
{
    s->fact[1] = o ? (int64_t)o : s->fact[1];
    s->open |= o != OUTSIDE_NOTHING;
}

/* The number may not be negative, nor `end` or more. */
static WatchOutside outside_range(Watch *watch, LLVMValueRef v, LLVMValueRef at, int64_t end)
{
    WatchOutside below = watch_outside(watch, v, at, -1);
    return below ? below : watch_outside(watch, v, at, end);
}

/* A variable is never NULL and can't be freed. */
static bool is_pointer(LLVMValueRef p)
{
    return LLVMGetTypeKind(LLVMTypeOf(p)) == LLVMPointerTypeKind && !LLVMIsAAllocaInst(p) &&
           !LLVMIsAConstantExpr(p) && !LLVMIsAGlobalVariable(p) && !LLVMIsAFunction(p);
}

/* Functions of the library that read or write through this argument. */
static bool is_read(LLVMValueRef call, unsigned k)
{
    /* Bits: the arguments that may not be NULL. */
    static const struct {
        const char *name;
        unsigned arguments;
    } readers[] = {
        { "strlen", 1 },   { "strcpy", 3 },   { "strcat", 3 },   { "strcmp", 3 },
        { "strncpy", 3 },  { "strncmp", 3 },  { "strncat", 3 },  { "strcasecmp", 3 },
        { "strchr", 1 },   { "strrchr", 1 },  { "strstr", 3 },   { "strdup", 1 },
        { "strtol", 1 },   { "strtoul", 1 },  { "strtod", 1 },   { "atoi", 1 },
        { "memcpy", 3 },   { "memmove", 3 },  { "memset", 1 },   { "memcmp", 3 },
        { "fclose", 1 },   { "fprintf", 3 },  { "vfprintf", 3 }, { "fread", 9 },
        { "fwrite", 9 },   { "fputs", 3 },    { "fgets", 5 },    { "fgetc", 1 },
        { "getc", 1 },     { "fputc", 2 },    { "putc", 2 },     { "fscanf", 3 },
        { "fseek", 1 },    { "ftell", 1 },    { "rewind", 1 },   { "feof", 1 },
        { "ferror", 1 },   { "clearerr", 1 }, { "ungetc", 2 },   { "fileno", 1 },
        { "setvbuf", 1 },  { "setbuf", 1 },   { "closedir", 1 }, { "readdir", 1 },
        { "sprintf", 3 },  { "sscanf", 3 },   { "puts", 1 },     { "_IO_getc", 1 },
        { "_IO_putc", 2 }, { "fseeko", 1 },   { "ftello", 1 },   { "pclose", 1 },
    };
    const char *name = watch_library(call);
    if (!name || k > 31)
        return false;
    if (str_starts(name, "llvm.mem"))
        return k < (str_starts(name, "llvm.memset") ? 1u : 2u);
    for (size_t r = 0; r < sizeof readers / sizeof *readers; r++)
        if (!strcmp(readers[r].name, name))
            return readers[r].arguments >> k & 1;
    return false;
}

/* Does the function go through its parameter at once, whatever it is? */
static bool is_gone_through(LLVMValueRef p, LLVMBasicBlockRef entry)
{
    bool gone = false;
    for (LLVMUseRef u = LLVMGetFirstUse(p); u && !gone; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        if (LLVMGetInstructionParent(i) != entry)
            continue;
        gone = LLVMIsALoadInst(i) || (LLVMIsAStoreInst(i) && LLVMGetOperand(i, 1) == p) ||
               (LLVMIsAGetElementPtrInst(i) && is_gone_through(i, entry));
        for (unsigned k = 0; LLVMIsACallInst(i) && k < LLVMGetNumArgOperands(i) && !gone; k++)
            gone = LLVMGetOperand(i, k) == p && is_read(i, k);
    }
    return gone;
}

static bool is_read_by_callee(LLVMValueRef call, unsigned k)
{
    LLVMValueRef f = watch_callee_value(call);
    return f && !LLVMIsDeclaration(f) && k < LLVMCountParams(f) &&
           LLVMTypeOf(LLVMGetParam(f, k)) == LLVMTypeOf(LLVMGetOperand(call, k)) &&
           is_gone_through(LLVMGetParam(f, k), LLVMGetEntryBasicBlock(f));
}

/* The pointers that an instruction goes through; gives how many. */
static unsigned pointers_of(LLVMValueRef i, LLVMValueRef *out, unsigned most)
{
    unsigned n = 0;
    if (LLVMIsALoadInst(i))
        out[n++] = watch_base(LLVMGetOperand(i, 0));
    else if (LLVMIsAStoreInst(i))
        out[n++] = watch_base(LLVMGetOperand(i, 1));
    else if (LLVMIsACallInst(i))
        for (unsigned k = 0; k < LLVMGetNumArgOperands(i) && n < most; k++) {
            LLVMValueRef v = LLVMGetOperand(i, k);
            bool member = LLVMIsAGetElementPtrInst(v) &&
                          LLVMGetTypeKind(LLVMGetGEPSourceElementType(v)) == LLVMStructTypeKind;
            if (member || is_read(i, k) || is_read_by_callee(i, k))
                out[n++] = watch_base(v);
        }
    unsigned kept = 0;
    for (unsigned k = 0; k < n; k++)
        if (is_pointer(out[k]))
            out[kept++] = out[k];
    return kept;
}

/* ---- a pointer that may be NULL */

/* p + n, where p may be NULL; the first member of a struct has no distance. (char *)0 + n makes a
 * pointer of a number, and nobody doubts that it is NULL. */
static bool is_distance(LLVMValueRef i)
{
    return LLVMIsAGetElementPtrInst(i) && LLVMGetNumOperands(i) == 2 &&
           is_pointer(LLVMGetOperand(i, 0)) && !LLVMIsAConstantPointerNull(LLVMGetOperand(i, 0));
}

/* at[1]: the library's parameter that it comes from. */
static void ask_outside(Watch *watch, WatchSite *s, LLVMValueRef v)
{
    LLVMValueRef parameter = NULL;
    say_outside(s, watch_outside_of(watch, v, s->at[0], 0, &parameter));
    if (parameter) {
        s->at[1] = parameter;
        s->kind = watch_parameter_name(watch, parameter);
        watch_refusing(watch, parameter);
    }
}

static void find_null_pointer(Watch *watch, LLVMValueRef i)
{
    LLVMValueRef found[4];
    unsigned n = pointers_of(i, found, 4);
    if (!n && !is_distance(i))
        return;
    WatchSite *s = add(watch, i, watch_callee(i) ? watch_callee(i) : "pointer");
    s->safe = n > 0;
    for (unsigned k = 0; k < n; k++) {
        s->safe &= watch_is_guarded(found[k], i, 0);
        ask_outside(watch, s, found[k]);
    }
    /* The warning may mean what is handed on. */
    LLVMValueRef f = watch_callee_value(i);
    for (unsigned k = 0; f && !LLVMIsDeclaration(f) && k < LLVMGetNumArgOperands(i); k++)
        if (is_pointer(LLVMGetOperand(i, k)))
            ask_outside(watch, s, LLVMGetOperand(i, k));
}

/* memcpy(NULL, …, 0) and NULL + 0 do no harm. */
static LLVMValueRef amount_of(LLVMValueRef i)
{
    const char *name = watch_library(i);
    bool counts =
        name && (str_starts(name, "llvm.mem") || !strcmp(name, "memcpy") ||
                 !strcmp(name, "memmove") || !strcmp(name, "memset") || !strcmp(name, "memcmp"));
    if (is_distance(i))
        return LLVMGetOperand(i, 1);
    return counts && LLVMGetNumArgOperands(i) > 2 ? LLVMGetOperand(i, 2) : NULL;
}

/* Is NULL passed to the functions that refuse it? */
static void probe_refusing(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    const WatchValues *refusing = watch_refusing(watch, s->at[1]);
    for (size_t k = 0; k < refusing->len; k++) {
        LLVMValueRef p = refusing->items[k];
        watch_go_before(watch,
                        LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(LLVMGetParamParent(p))));
        LLVMValueRef args[] = { watch_slot_value(watch, s, 1), weave_int(w, w->i64, 0),
                                LLVMBuildZExt(w->builder, LLVMBuildIsNull(w->builder, p, ""),
                                              w->i32, "") };
        watch_call(watch, "sundew_watch_value", w->void_, args, 3);
    }
}

static void probe_null_pointer(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef i = s->at[0], found[4], amount = amount_of(i);
    unsigned n = is_distance(i) ? 1 : pointers_of(i, found, 4);
    if (is_distance(i))
        found[0] = LLVMGetOperand(i, 0);
    watch_go_before(watch, i);
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef bad = LLVMBuildIsNull(w->builder, found[k], "");
        if (amount)
            bad = LLVMBuildAnd(w->builder, bad, LLVMBuildIsNotNull(w->builder, amount, ""), "");
        LLVMValueRef args[] = { watch_slot_value(watch, s, 0), weave_int(w, w->i64, 0),
                                LLVMBuildZExt(w->builder, bad, w->i32, "") };
        watch_call(watch, "sundew_watch_value", w->void_, args, 3);
    }
    if (s->at[1])
        probe_refusing(watch, s);
}

static void join_null_pointer(const WatchSite *s, const struct sundew_watch_slot *self,
                              const WatchEvidence *all, WatchJudgement *out)
{
    const struct sundew_watch_slot *refused = watch_slot(all, s, 1);
    out->opportunities = self->n;
    watch_leave_open((WatchOutside)s->fact[1], out, "a test in which the pointer is NULL");
    if (self->n && refused->bad)
        watch_say(out, GRADE_PREDICTIVE, s, refused,
                  "other functions of the library got NULL for `%s`, too (%" PRIu64
                  " times), and refuse it; here nobody asks",
                  s->kind, refused->bad);
    if (self->bad)
        watch_say(out, GRADE_MANIFEST, s, self,
                  "the pointer was NULL here (%" PRIu64 " of %" PRIu64 " times)", self->bad,
                  self->n);
}

const WatchRule rule_null_pointer = {
    .family = "null-pointer",
    .objection = "the pointer is never NULL here",
    .opportunity = "uses",
    .slots = 2,
    .asked = true,
    .instruction = find_null_pointer,
    .probe = probe_null_pointer,
    .join = join_null_pointer,
};

/* ---- a pointer that may be freed */

static bool is_free(LLVMValueRef i)
{
    const char *name = watch_library(i);
    return name && (!strcmp(name, "free") || !strcmp(name, "fclose")) &&
           LLVMGetNumArgOperands(i) == 1;
}

/* Pointers that the instruction frees, goes through, or hands to a function of the program. */
static unsigned used_pointers(LLVMValueRef i, LLVMValueRef *out, unsigned most)
{
    LLVMValueRef f = watch_callee_value(i);
    if (is_free(i)) {
        out[0] = LLVMGetOperand(i, 0);
        return is_pointer(out[0]);
    }
    unsigned n = pointers_of(i, out, most);
    for (unsigned k = 0; f && !LLVMIsDeclaration(f) && k < LLVMGetNumArgOperands(i); k++)
        if (n < most && is_pointer(LLVMGetOperand(i, k)))
            out[n++] = LLVMGetOperand(i, k);
    return n;
}

static void find_freed(Watch *watch, LLVMValueRef i)
{
    LLVMValueRef found[4];
    if (used_pointers(i, found, 4))
        add(watch, i, watch_callee(i) ? watch_callee(i) : "pointer");
}

static void probe_freed(Watch *watch, WatchSite *s)
{
    LLVMValueRef i = s->at[0], found[4];
    unsigned n = used_pointers(i, found, 4);
    watch_go_before(watch, i);
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef args[] = { watch_slot_value(watch, s, 0), found[k] };
        watch_call(watch, "sundew_watch_again", watch->w->void_, args, 2);
    }
}

static void join_freed(const WatchSite *s, const struct sundew_watch_slot *self,
                       const WatchEvidence *all, WatchJudgement *out)
{
    (void)all;
    out->opportunities = self->n;
    out->missing = "a test that gets here after the pointer was freed";
    if (self->bad)
        watch_say(out, GRADE_MANIFEST, s, self,
                  "what the pointer leads to was freed before (%" PRIu64 " of %" PRIu64 " times)",
                  self->bad, self->n);
}

const WatchRule rule_freed = {
    .family = "stale-pointer",
    .objection = "the pointer is not freed before",
    .opportunity = "uses",
    .asked = true,
    .instruction = find_freed,
    .probe = probe_freed,
    .join = join_freed,
    .heap = true,
};

/* ---- a divisor that may be 0, a shift that may be too far */

static bool is_shift(LLVMValueRef i)
{
    LLVMOpcode o = LLVMGetInstructionOpcode(i);
    return o == LLVMShl || o == LLVMLShr || o == LLVMAShr;
}

static void find_division(Watch *watch, LLVMValueRef i)
{
    LLVMOpcode o = LLVMGetInstructionOpcode(i);
    bool divides = o == LLVMSDiv || o == LLVMUDiv || o == LLVMSRem || o == LLVMURem;
    if ((divides || is_shift(i)) && !LLVMIsAConstant(LLVMGetOperand(i, 1)) &&
        LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind)
        say_outside(add(watch, i, divides ? "division" : "shift"),
                    divides ? watch_outside(watch, LLVMGetOperand(i, 1), i, 0)
                            : outside_range(watch, LLVMGetOperand(i, 1), i,
                                            LLVMGetIntTypeWidth(LLVMTypeOf(i))));
}

static void probe_division(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef i = s->at[0], v = LLVMGetOperand(i, 1);
    LLVMTypeRef type = LLVMTypeOf(v);
    watch_go_before(watch, i);
    LLVMValueRef bad = is_shift(i)
                           ? LLVMBuildICmp(w->builder, LLVMIntUGE, v,
                                           LLVMConstInt(type, LLVMGetIntTypeWidth(type), false), "")
                           : LLVMBuildIsNull(w->builder, v, "");
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0), watch_i64(watch, v, true),
                            LLVMBuildZExt(w->builder, bad, w->i32, "") };
    watch_call(watch, "sundew_watch_value", w->void_, args, 3);
}

static void join_division(const WatchSite *s, const struct sundew_watch_slot *self,
                          const WatchEvidence *all, WatchJudgement *out)
{
    (void)all;
    out->opportunities = self->n;
    watch_leave_open((WatchOutside)s->fact[1], out, "a test with the number that may not be");
    if (self->bad)
        watch_say(out, GRADE_MANIFEST, s, self, "the right operand of the %s was %" PRId64,
                  s->subject, self->value);
}

const WatchRule rule_division = {
    .family = "division",
    .objection = "the number is never such",
    .opportunity = "operations",
    .asked = true,
    .instruction = find_division,
    .probe = probe_division,
    .join = join_division,
};

/* ---- an index that may lie outside */

/* The number of elements that the type tells, and the index; 0: it does not tell. An array of
 * one element at the end of a struct may have more. */
static uint64_t elements_of(LLVMValueRef address, LLVMValueRef *index)
{
    if (!LLVMIsAGetElementPtrInst(address) || LLVMGetNumOperands(address) != 3)
        return 0;
    LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
    *index = LLVMGetOperand(address, 2);
    uint64_t n = LLVMGetTypeKind(type) == LLVMArrayTypeKind ? LLVMGetArrayLength2(type) : 0;
    return n > 1 && !LLVMIsAConstant(*index) ? n : 0;
}

static LLVMValueRef address_of(LLVMValueRef i)
{
    return LLVMIsALoadInst(i)    ? LLVMGetOperand(i, 0)
           : LLVMIsAStoreInst(i) ? LLVMGetOperand(i, 1)
                                 : NULL;
}

/* memcpy(), memmove() and memset(): 2, 2 and 1 objects; 0: none of them. */
static unsigned moves(LLVMValueRef i)
{
    const char *name = watch_library(i);
    if (!name || !str_starts(name, "llvm.mem") || LLVMGetNumArgOperands(i) < 3)
        return 0;
    return str_starts(name, "llvm.memset") ? 1 : 2;
}

static void find_outside(Watch *watch, LLVMValueRef i)
{
    LLVMValueRef address = address_of(i), index;
    bool moved = false;
    for (unsigned k = 0; k < moves(i); k++)
        moved |= is_pointer(watch_base(LLVMGetOperand(i, k)));
    if (moved)
        add(watch, i, "move");
    uint64_t n = address ? elements_of(address, &index) : 0;
    if (address && LLVMIsAGetElementPtrInst(address) && (n || is_pointer(watch_base(address))))
        say_outside(add(watch, i, "index"),
                    n ? outside_range(watch, index, i, (int64_t)n) : OUTSIDE_NOTHING);
}

static void probe_moves(Watch *watch, WatchSite *s)
{
    LLVMValueRef i = s->at[0];
    watch_go_before(watch, i);
    for (unsigned k = 0; k < moves(i); k++) {
        LLVMValueRef address = LLVMGetOperand(i, k);
        LLVMValueRef args[] = { watch_slot_value(watch, s, 0), watch_base(address), address,
                                watch_i64(watch, LLVMGetOperand(i, 2), false) };
        if (is_pointer(args[1]))
            watch_call(watch, "sundew_watch_inside", watch->w->void_, args, 4);
    }
}

static void probe_outside(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef i = s->at[0], address = address_of(i), index;
    if (moves(i)) {
        probe_moves(watch, s);
        return;
    }
    uint64_t n = elements_of(address, &index);
    watch_go_before(watch, i);
    if (n) {
        LLVMValueRef v = watch_i64(watch, index, true);
        LLVMValueRef bad = LLVMBuildICmp(w->builder, LLVMIntUGE, v, weave_int(w, w->i64, n), "");
        LLVMValueRef args[] = { watch_slot_value(watch, s, 0), v,
                                LLVMBuildZExt(w->builder, bad, w->i32, "") };
        watch_call(watch, "sundew_watch_value", w->void_, args, 3);
        s->fact[0] = (int64_t)n;
        return;
    }
    LLVMTypeRef type = LLVMTypeOf(LLVMIsALoadInst(i) ? i : LLVMGetOperand(i, 0));
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0), watch_base(address), address,
                            weave_int(w, w->i64, LLVMABISizeOfType(w->layout, type)) };
    watch_call(watch, "sundew_watch_inside", w->void_, args, 4);
}

static void join_outside(const WatchSite *s, const struct sundew_watch_slot *self,
                         const WatchEvidence *all, WatchJudgement *out)
{
    (void)all;
    out->opportunities = self->n;
    watch_leave_open((WatchOutside)s->fact[1], out, "a test with a larger or negative index");
    if (self->bad && s->fact[0])
        watch_say(out, GRADE_MANIFEST, s, self,
                  "the index was %" PRId64 ", and there are %" PRId64 " elements", self->value,
                  s->fact[0]);
    else if (self->bad)
        watch_say(out, GRADE_MANIFEST, s, self,
                  "the access was at byte %" PRId64 " of an object of %" PRId64 " bytes",
                  self->value, self->value2);
}

const WatchRule rule_outside = {
    .family = "out-of-bounds",
    .objection = "the index stays inside",
    .opportunity = "accesses",
    .asked = true,
    .instruction = find_outside,
    .probe = probe_outside,
    .join = join_outside,
    .heap = true,
};
