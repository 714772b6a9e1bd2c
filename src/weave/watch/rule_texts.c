/* strncpy() without room for the end, sizeof of a pointer, formats that are no constants. */
#include "weave/watch/rules_int.h"
#include <ctype.h>
#include <inttypes.h>

/* ---- strncpy: suspect if it may fill the whole array and nobody puts a NUL behind */

static uint64_t array_size(LLVMValueRef p, LLVMTargetDataRef layout)
{
    if (LLVMIsAAllocaInst(p) && LLVMGetTypeKind(LLVMGetAllocatedType(p)) == LLVMArrayTypeKind)
        return LLVMStoreSizeOfType(layout, LLVMGetAllocatedType(p));
    if (LLVMIsAGlobalVariable(p) && LLVMGetTypeKind(LLVMGlobalGetValueType(p)) == LLVMArrayTypeKind)
        return LLVMStoreSizeOfType(layout, LLVMGlobalGetValueType(p));
    if (!LLVMIsAGetElementPtrInst(p))
        return 0;
    LLVMTypeRef t = LLVMGetGEPSourceElementType(p);
    if (LLVMGetTypeKind(t) == LLVMArrayTypeKind)
        return LLVMStoreSizeOfType(layout, t);
    int64_t k;
    unsigned last = (unsigned)LLVMGetNumOperands(p) - 1;
    if (LLVMGetTypeKind(t) != LLVMStructTypeKind || last != 2 ||
        !watch_constant(LLVMGetOperand(p, 2), &k))
        return 0;
    LLVMTypeRef field = LLVMStructGetTypeAtIndex(t, (unsigned)k);
    return LLVMGetTypeKind(field) == LLVMArrayTypeKind ? LLVMStoreSizeOfType(layout, field) : 0;
}

static bool is_terminated(LLVMValueRef call)
{
    LLVMValueRef fn = watch_function_of(call), base = watch_base(LLVMGetOperand(call, 0));
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            int64_t c;
            if (LLVMIsAStoreInst(i) && watch_constant(LLVMGetOperand(i, 0), &c) && c == 0 &&
                LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(i, 0))) == 8 &&
                watch_same(watch_base(LLVMGetOperand(i, 1)), base, 6))
                return true;
        }
    return false;
}

/* strncpy(header->magic, "ustar ", 6): a field of fixed length, on purpose. */
static bool is_field(LLVMValueRef i)
{
    size_t length;
    int64_t n;
    return watch_constant_text(LLVMGetOperand(i, 1), &length) &&
           watch_constant(LLVMGetOperand(i, 2), &n) && n >= 0 && (size_t)n < length;
}

static void find_strncpy(Watch *watch, LLVMValueRef i)
{
    const char *name = watch_library(i);
    int64_t n;
    if (!name || strcmp(name, "strncpy") || LLVMGetNumArgOperands(i) != 3)
        return;
    uint64_t size = array_size(LLVMGetOperand(i, 0), watch->w->layout);
    bool fills = watch_constant(LLVMGetOperand(i, 2), &n) && size && (uint64_t)n >= size;
    bool suspect = fills && !is_terminated(i) && !is_field(i);
    WatchSite *s = watch_add(watch, i, suspect ? SITE_SUSPECT : SITE_LOOSE, "", name);
    s->group = s->key;
    s->fact[0] = is_terminated(i) || (size && !fills);
}

static void probe_strncpy(Watch *watch, WatchSite *s)
{
    LLVMValueRef i = s->at[0];
    watch_go_before(watch, i);
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0), LLVMGetOperand(i, 1),
                            watch_i64(watch, LLVMGetOperand(i, 2), false) };
    watch_call(watch, "sundew_watch_copy_text", watch->w->void_, args, 3);
}

static void join_strncpy(const WatchSite *s, const struct sundew_watch_slot *self,
                         const WatchEvidence *all, WatchJudgement *out)
{
    (void)all;
    out->opportunities = self->n;
    out->missing = "a test with a longer text";
    if (self->bad && !s->fact[0])
        watch_say(out, GRADE_STRONG, s, self,
                  "the source had at least %" PRId64 " bytes: the copy has no end", self->value2);
}

const WatchRule rule_strncpy = {
    .family = "strncpy",
    .objection = "the source is shorter",
    .opportunity = "copies",
    .instruction = find_strncpy,
    .probe = probe_strncpy,
    .join = join_strncpy,
};

/* ---- memset(p, 0, sizeof(p)): the source must say so, the code can't tell */

/* "sizeof(p)" or "sizeof p", and p is the first argument, or what is assigned to. */
static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool says_sizeof(const char *line)
{
    const char *at = strstr(line, "sizeof");
    while (at && at > line && is_name(at[-1]))
        at = strstr(at + 1, "sizeof");
    if (!at)
        return false;
    const char *p = at + 6 + strspn(at + 6, " (");
    size_t n = 0;
    while (is_name(p[n]))
        n++;
    if (!n || p[n] == '[' || p[n] == '-' || p[n] == '.' || !strncmp(p, "struct", 6))
        return false;
    char *name = xstrndup(p, n), *first = xprintf("(%s,", name), *set = xprintf("%s =", name);
    bool says = strstr(line, first) || (strstr(line, set) && strstr(line, "alloc"));
    free(name);
    free(first);
    free(set);
    return says;
}

static void find_sizeof(Watch *watch, LLVMValueRef i)
{
    const char *name = watch_library(i);
    int64_t size = 0;
    bool fills = name && (str_starts(name, "llvm.mem") || !strcmp(name, "memset") ||
                          !strcmp(name, "memcpy") || !strcmp(name, "strncpy"));
    bool makes = name && !strcmp(name, "malloc");
    if ((!fills && !makes) || LLVMGetNumArgOperands(i) <= (makes ? 0 : 2) ||
        !watch_constant(LLVMGetOperand(i, makes ? 0 : 2), &size) || size != 8 ||
        (fills && LLVMIsAAllocaInst(watch_base(LLVMGetOperand(i, 0)))) ||
        !says_sizeof(watch_line(watch, i)))
        return;
    WatchSite *s = watch_add(watch, i, SITE_SUSPECT, "", makes ? "malloc" : "fill");
    s->group = s->key;
    s->fact[0] = makes;
}

static void probe_sizeof(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    if (s->fact[0]) {
        watch_probe_hit(watch, s);
        return;
    }
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0), LLVMGetOperand(s->at[0], 0),
                            weave_int(w, w->i64, 8) };
    watch_go_before(watch, s->at[0]);
    watch_call(watch, "sundew_watch_object", w->void_, args, 3);
}

static void join_sizeof(const WatchSite *s, const struct sundew_watch_slot *self,
                        const WatchEvidence *all, WatchJudgement *out)
{
    (void)all;
    out->opportunities = self->n;
    if (self->bad)
        watch_say(out, GRADE_STRONG, s, self,
                  "the object has %" PRId64 " bytes, and the size of a pointer was used",
                  self->value2);
    else if (s->fact[0])
        out->open = true;
}

const WatchRule rule_sizeof_pointer = {
    .family = "sizeof-pointer",
    .objection = "the object is as large as a pointer",
    .opportunity = "calls",
    .instruction = find_sizeof,
    .probe = probe_sizeof,
    .join = join_sizeof,
    .heap = true,
};

/* ---- printf(text) */

static const struct printer {
    const char *name;
    unsigned format;
} printers[] = {
    { "printf", 0 }, { "fprintf", 1 }, { "sprintf", 1 }, { "snprintf", 2 },
    { "syslog", 1 }, { "dprintf", 1 }, { "err", 1 },     { "warn", 0 },
};

static void find_format(Watch *watch, LLVMValueRef i)
{
    const char *name = watch_library(i);
    for (size_t k = 0; name && k < sizeof printers / sizeof *printers; k++) {
        unsigned at = printers[k].format;
        if (strcmp(printers[k].name, name) || LLVMGetNumArgOperands(i) <= at ||
            watch_is_constant_text(LLVMGetOperand(i, at), 4))
            continue;
        WatchSite *s =
            watch_add(watch, i, LLVMGetNumArgOperands(i) == at + 1 ? SITE_SUSPECT : SITE_LOOSE, "",
                      name);
        s->group = s->key;
        s->fact[0] = at;
    }
}

static void probe_format(Watch *watch, WatchSite *s)
{
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0),
                            LLVMGetOperand(s->at[0], (unsigned)s->fact[0]) };
    watch_go_before(watch, s->at[0]);
    watch_call(watch, "sundew_watch_format", watch->w->void_, args, 2);
}

static void join_format(const WatchSite *s, const struct sundew_watch_slot *self,
                        const WatchEvidence *all, WatchJudgement *out)
{
    (void)all;
    out->opportunities = self->n;
    out->missing = "a test that prints a text of the user's";
    if (self->bad && s->role == SITE_SUSPECT)
        watch_say(out, self->value ? GRADE_STRONG : GRADE_PREDICTIVE, s, self,
                  "the format is a text in writable memory (%" PRIu64 " of %" PRIu64 " calls)%s",
                  self->bad, self->n, self->value ? ", and it has a %" : "");
}

const WatchRule rule_format = {
    .family = "format-string",
    .objection = "the format is always one of ours",
    .opportunity = "calls",
    .instruction = find_format,
    .probe = probe_format,
    .join = join_format,
};
