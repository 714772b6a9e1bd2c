/*
 * Hash functions that disagree with their equality: equal keys must have equal hashes.
 *
 * A pair is found where both functions are passed in one call or stand in one table,
 * or by their names (key_hash, key_equal). It is suspect if only one of the two folds case, if the
 * hash reads fields that the equality does not, or if it takes the address of a key that is compared as text.
 */
#include "weave/watch/rules_int.h"
#include <inttypes.h>

static const char *const folding[] = { "strcasecmp", "strncasecmp",         "tolower",
                                       "toupper",    "__ctype_tolower_loc", "__ctype_toupper_loc",
                                       NULL };
static const char *const texts[] = { "strcmp", "strncmp", "strcasecmp", "strncasecmp", NULL };

static bool is_hash(Watch *watch, LLVMValueRef f)
{
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(f));
    return strstr(watch_name(f), "hash") && LLVMCountParams(f) == 1 &&
           LLVMTypeOf(LLVMGetParam(f, 0)) == watch->w->ptr &&
           LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) >= 32;
}

static bool is_equality(Watch *watch, LLVMValueRef f)
{
    if (!LLVMIsAFunction(f) || LLVMIsDeclaration(f) || LLVMCountParams(f) != 2)
        return false;
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(f));
    return LLVMTypeOf(LLVMGetParam(f, 0)) == watch->w->ptr &&
           LLVMTypeOf(LLVMGetParam(f, 1)) == watch->w->ptr &&
           LLVMGetTypeKind(type) == LLVMIntegerTypeKind;
}

/* Another operand of a call or a table that names the hash function. */
static LLVMValueRef partner_in_use(Watch *watch, LLVMValueRef h)
{
    for (LLVMUseRef u = LLVMGetFirstUse(h); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsACallInst(user) && LLVMGetCalledValue(user) == h)
            continue;
        for (int k = 0; k < LLVMGetNumOperands(user); k++) {
            LLVMValueRef e = LLVMGetOperand(user, (unsigned)k);
            bool callee = LLVMIsACallInst(user) && e == LLVMGetCalledValue(user);
            if (e && e != h && !callee && is_equality(watch, e))
                return e;
        }
    }
    return NULL;
}

/* "name_hash" → "name_equal": the name with another word at `at`. */
static bool has_word(const char *name, const char *hash, const char *at)
{
    static const char *const words[] = { "equal", "eq", "same", "match", "cmp", "compare", NULL };
    size_t before = (size_t)(at - hash);
    const char *after = at + 4;
    if (strncmp(name, hash, before))
        return false;
    for (const char *const *w = words; *w; w++) {
        const char *rest = name + before;
        size_t n = strlen(*w);
        if (!strncmp(rest, *w, n) && (!strcmp(rest + n, after) || !strcmp(rest + n, "s")))
            return true;
    }
    return false;
}

/* hashed_key_hash() has the word twice. */
static bool has_stem(const char *name, const char *hash)
{
    for (const char *at = strstr(hash, "hash"); at; at = strstr(at + 1, "hash"))
        if (has_word(name, hash, at))
            return true;
    return false;
}

static LLVMValueRef partner(Watch *watch, LLVMValueRef h)
{
    LLVMValueRef e = partner_in_use(watch, h);
    for (LLVMValueRef f = LLVMGetFirstFunction(watch->w->module); !e && f;
         f = LLVMGetNextFunction(f))
        if (is_equality(watch, f) && has_stem(watch_name(f), watch_name(h)))
            e = f;
    return e;
}

/* Fields that a function loads through its first parameter, as text. */
static void fields_of(Watch *watch, LLVMValueRef f, Map *out)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef at = LLVMIsALoadInst(i)                            ? LLVMGetOperand(i, 0)
                              : watch_callee(i) && LLVMGetNumArgOperands(i) ? LLVMGetOperand(i, 0)
                                                                            : NULL;
            const char *field =
                at && watch_base(at) == LLVMGetParam(f, 0) ? watch_field(watch, at) : NULL;
            if (field)
                map_put(out, field, out);
        }
}

static bool reads_more(Watch *watch, LLVMValueRef h, LLVMValueRef e)
{
    Map hashed = { 0 }, compared = { 0 };
    bool more = false;
    fields_of(watch, h, &hashed);
    fields_of(watch, e, &compared);
    for (size_t i = 0; compared.len && i < hashed.len; i++)
        more |= !map_has(&compared, hashed.entries[i].key);
    map_release(&hashed);
    map_release(&compared);
    return more;
}

static bool takes_address(LLVMValueRef h)
{
    for (LLVMUseRef u = LLVMGetFirstUse(LLVMGetParam(h, 0)); u; u = LLVMGetNextUse(u))
        if (LLVMIsAPtrToIntInst(LLVMGetUser(u)))
            return true;
    return false;
}

static bool key_is_text(Watch *watch, LLVMValueRef h)
{
    const Function *f = program_function(watch->w->program, watch_name(h));
    const Type *t =
        f && f->nparams == 1 && f->params[0].type ? type_plain(f->params[0].type) : NULL;
    t = t && t->kind == TYPE_POINTER ? type_plain(t->target) : NULL;
    return t && t->kind == TYPE_SCALAR && t->size == 1;
}

static void find(Watch *watch, LLVMValueRef h)
{
    LLVMValueRef e = is_hash(watch, h) ? partner(watch, h) : NULL;
    if (!e)
        return;
    bool folds_hash = watch_calls(h, folding, 2), folds_equal = watch_calls(e, folding, 2);
    bool mismatch = (folds_equal && !folds_hash) || reads_more(watch, h, e) ||
                    (takes_address(h) && watch_calls(e, texts, 2));
    WatchSite *s = watch_add(watch, h, mismatch ? SITE_SUSPECT : SITE_LOOSE, "", watch_name(h));
    const Function *other = program_function(watch->w->program, watch_name(e));
    if (other && other->line && !strcmp(other->file, s->file))
        s->places[s->nplaces++] = (WatchPlace){ other->line, other->column };
    s->group = s->key;
    s->at[1] = e;
    s->fact[0] = strstr(watch_name(e), "cmp") || strstr(watch_name(e), "compare");
    s->fact[1] = key_is_text(watch, h);
}

static unsigned width(LLVMValueRef h)
{
    return LLVMGetIntTypeWidth(LLVMGetReturnType(LLVMGlobalGetValueType(h)));
}

static void probe(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef h = s->at[0], e = s->at[1], null = LLVMConstNull(w->ptr);
    bool pure = watch_is_pure(watch, h) && watch_is_pure(watch, e);
    unsigned what = (s->fact[1] && pure ? 1 : 0) | (s->fact[0] ? 2 : 0);
    for (LLVMBasicBlockRef b = NULL; (b = weave_go_to_return(w, h, b));) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        LLVMValueRef args[] = {
            watch_slot_value(watch, s, 0),
            h,
            pure ? e : null,
            LLVMGetParam(h, 0),
            watch_i64(watch, LLVMGetOperand(end, 0), false),
            weave_int(w, w->i32, width(h)),
            weave_int(w, w->i32, what),
        };
        watch_call(watch, "sundew_watch_hash", w->void_, args, 7);
    }
    for (LLVMBasicBlockRef b = NULL; (b = weave_go_to_return(w, e, b));) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b), r = LLVMGetOperand(end, 0);
        LLVMValueRef same = LLVMBuildICmp(w->builder, s->fact[0] ? LLVMIntEQ : LLVMIntNE, r,
                                          LLVMConstNull(LLVMTypeOf(r)), "");
        LLVMValueRef is = LLVMBuildZExt(w->builder, same, w->i32, "");
        LLVMValueRef args[] = { watch_slot_value(watch, s, 1),
                                h,
                                LLVMGetParam(e, 0),
                                LLVMGetParam(e, 1),
                                pure ? is : weave_int(w, w->i32, 0),
                                weave_int(w, w->i32, width(h)) };
        watch_call(watch, "sundew_watch_equal", w->void_, args, 6);
    }
}

static void join(const WatchSite *s, const struct sundew_watch_slot *self, const WatchEvidence *all,
                 WatchJudgement *out)
{
    const struct sundew_watch_slot *e = watch_slot(all, s, 1);
    out->opportunities = self->n + e->n;
    out->missing = "a test that uses the objects as keys";
    if (self->n && (self->bad || e->bad)) {
        const struct sundew_watch_slot *seen = self->bad ? self : e;
        watch_say(out, GRADE_STRONG, s, seen,
                  "two keys that are equal had the hashes %" PRIx64 " and %" PRIx64,
                  (uint64_t)seen->value, (uint64_t)seen->value2);
    } else if (self->n && s->role == SITE_SUSPECT) {
        watch_say(out, GRADE_USAGE, s, self,
                  "%s() was called for %" PRIu64 " keys, and it tells keys apart that are equal",
                  s->subject, self->n);
    }
}

const WatchRule rule_hash = {
    .family = "hash-equality",
    .objection = "these objects are never keys",
    .opportunity = "hashes and comparisons",
    .slots = 2,
    .function = find,
    .probe = probe,
    .join = join,
};
