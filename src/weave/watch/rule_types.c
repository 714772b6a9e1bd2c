/* Objects that are taken for another type, and objects that are compared byte by byte. */
#include "weave/watch/rules_int.h"
#include <inttypes.h>

/* ---- a part is taken for the whole: ((struct derived *)base)->field, container_of() */

/* The bytes that an object of the type must have: to the end of its last member. */
static uint64_t needed(Watch *watch, LLVMTypeRef t)
{
    unsigned n = LLVMCountStructElementTypes(t);
    if (!n || LLVMIsOpaqueStruct(t))
        return 0;
    LLVMTypeRef last = LLVMStructGetTypeAtIndex(t, n - 1);
    return LLVMOffsetOfElement(watch->w->layout, t, n - 1) +
           LLVMStoreSizeOfType(watch->w->layout, last);
}

static bool is_record(LLVMValueRef gep)
{
    LLVMTypeRef t = LLVMIsAGetElementPtrInst(gep) ? LLVMGetGEPSourceElementType(gep) : NULL;
    return t && LLVMGetTypeKind(t) == LLVMStructTypeKind && LLVMGetStructName(t);
}

static bool is_new(Watch *watch, LLVMValueRef p, LLVMTypeRef t)
{
    struct {
        void *p, *t;
    } key = { p, t };
    void **slot = map_slotn(&watch->casts, &key, sizeof key);
    bool is = !*slot;
    *slot = watch;
    return is;
}

static const char *bare_tag(const char *name)
{
    const char *dot = strchr(name, '.');
    return dot ? dot + 1 : name;
}

/* Linking makes one type of structs with equal layout, and only one name is left. */
static bool may_stand_for(Watch *watch, LLVMTypeRef t, const Type *declared)
{
    char *name = xprintf("struct.%s", declared->name);
    bool gone = !LLVMGetTypeByName2(watch->w->ctx, name);
    free(name);
    if (!gone || LLVMCountStructElementTypes(t) != declared->nfields ||
        LLVMABISizeOfType(watch->w->layout, t) != declared->size)
        return false;
    for (unsigned k = 0; k < declared->nfields; k++)
        if (8 * LLVMOffsetOfElement(watch->w->layout, t, k) != declared->fields[k].offset)
            return false;
    return true;
}

/* Is the first member of `t` such a struct? */
static bool begins_with(Watch *watch, LLVMTypeRef t, const Type *declared)
{
    LLVMTypeRef first = LLVMCountStructElementTypes(t) ? LLVMStructGetTypeAtIndex(t, 0) : NULL;
    const char *name =
        first && LLVMGetTypeKind(first) == LLVMStructTypeKind ? LLVMGetStructName(first) : NULL;
    return name &&
           (!strcmp(bare_tag(name), declared->name) || may_stand_for(watch, first, declared));
}

static void find_cast(Watch *watch, LLVMValueRef i)
{
    if (!is_record(i))
        return;
    LLVMValueRef p = LLVMGetOperand(i, 0), fn = watch_function_of(i);
    LLVMTypeRef t = LLVMGetGEPSourceElementType(i);
    int64_t back = 0;
    if (LLVMIsAGetElementPtrInst(p) && llvm_gep_offset(watch->w->layout, p, &back) && back < 0)
        p = LLVMGetOperand(p, 0);    /* container_of() */
    else
        back = 0;
    if (!LLVMIsAArgument(p) || !needed(watch, t))
        return;
    const Type *declared = watch_record_of(watch, fn, p);
    const char *tag = bare_tag(LLVMGetStructName(t));
    bool same = declared && !strcmp(declared->name, tag);
    bool derived = declared && !same && begins_with(watch, t, declared);
    if ((!back && same) || !is_new(watch, p, t))
        return;
    WatchSite *s = watch_add(watch, i, derived || back ? SITE_SUSPECT : SITE_LOOSE, "", tag);
    s->group = s->key;
    s->at[1] = p;
    s->fact[0] = (int64_t)needed(watch, t);
    s->fact[1] = -back;
}

static void probe_cast(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef fn = watch_function_of(s->at[0]);
    LLVMPositionBuilderBefore(w->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn)));
    LLVMSetCurrentDebugLocation2(w->builder, weave_line_of(w, fn));
    LLVMValueRef done = LLVMBuildAlloca(w->builder, w->i8, "");
    LLVMBuildStore(w->builder, weave_int(w, w->i8, 0), done);
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0), s->at[1],
                            weave_int(w, w->i64, (uint64_t)s->fact[0]),
                            weave_int(w, w->i64, (uint64_t)s->fact[1]), done };
    watch_go_before(watch, s->at[0]);
    watch_call_in(watch, "sundew_watch_cast", w->void_, args, 5);
}

static void join_cast(const WatchSite *s, const struct sundew_watch_slot *self,
                      const WatchEvidence *all, WatchJudgement *out)
{
    (void)all;
    out->opportunities = self->n;
    out->missing = "a test with an object on the heap";
    if (self->bad)
        watch_say(out, GRADE_STRONG, s, self,
                  "an object of %" PRId64 " bytes is used as a %s here, which has %" PRId64,
                  self->value, s->subject, self->value2);
}

const WatchRule rule_cast = {
    .family = "bad-cast",
    .objection = "only such objects come here",
    .opportunity = "objects",
    .instruction = find_cast,
    .probe = probe_cast,
    .join = join_cast,
    .heap = true,
};

/* ---- memcmp() of structs: bytes between the members, and pointers to equal things */

static const Type *struct_named(Watch *watch, const char *tag, uint64_t size)
{
    char *name = xprintf("struct %s", tag);
    const Type *t = NULL;
    unsigned k = 0;
    do
        t = types_find(program_types(watch->w->program), name, k++);
    while (t && t->size != size);
    free(name);
    return t;
}

static const Type *compared(Watch *watch, LLVMValueRef p, LLVMValueRef fn, uint64_t size)
{
    if (LLVMIsAArgument(p)) {
        const Type *t = watch_record_of(watch, fn, p);
        return t && t->size == size ? t : NULL;
    }
    LLVMTypeRef t = LLVMIsAAllocaInst(p)       ? LLVMGetAllocatedType(p)
                    : LLVMIsAGlobalVariable(p) ? LLVMGlobalGetValueType(p)
                                               : NULL;
    if (!t || LLVMGetTypeKind(t) != LLVMStructTypeKind || !LLVMGetStructName(t))
        return NULL;
    return struct_named(watch, bare_tag(LLVMGetStructName(t)), size);
}

/* '1': a byte of a member, '0': of nobody. Nested structs and unions count as a whole. */
static char *members(const Type *t, bool *holes, bool *pointers)
{
    char *mask = xcalloc(1, t->size + 1);
    memset(mask, '0', t->size);
    for (unsigned k = 0; k < t->nfields; k++) {
        const Field *f = &t->fields[k];
        *pointers |= type_plain(f->type)->kind == TYPE_POINTER;
        for (uint64_t b = f->offset / 8; b < (f->offset + f->width + 7) / 8 && b < t->size; b++)
            mask[b] = '1';
    }
    *holes = strchr(mask, '0') != NULL;
    return mask;
}

static bool is_equality(Watch *watch, LLVMValueRef f, const Type *t)
{
    static const char *const words[] = { "eq", "cmp", "compare", "same", NULL };
    LLVMTypeRef result = LLVMGetReturnType(LLVMGlobalGetValueType(f));
    bool named = false;
    for (const char *const *w = words; *w; w++)
        named |= strcasestr(watch_name(f), *w) != NULL;
    return named && !LLVMIsDeclaration(f) && LLVMCountParams(f) == 2 && result == watch->w->i32 &&
           watch_record_of(watch, f, LLVMGetParam(f, 0)) == t &&
           watch_record_of(watch, f, LLVMGetParam(f, 1)) == t && watch_is_pure(watch, f);
}

static LLVMValueRef equality_of(Watch *watch, const Type *t, LLVMValueRef here)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(watch->w->module); f; f = LLVMGetNextFunction(f))
        if (f != here && is_equality(watch, f, t))
            return f;
    return NULL;
}

static void find_bytes(Watch *watch, LLVMValueRef i)
{
    static const char *const comparing[] = { "memcmp", "bcmp", NULL };
    int64_t size;
    if (!watch_is_named(i, comparing) || LLVMGetNumArgOperands(i) != 3 ||
        LLVMTypeOf(i) != watch->w->i32 || !watch_constant(LLVMGetOperand(i, 2), &size) || size <= 0)
        return;
    LLVMValueRef fn = watch_function_of(i);
    const Type *t = compared(watch, LLVMGetOperand(i, 0), fn, (uint64_t)size);
    t = t ? t : compared(watch, LLVMGetOperand(i, 1), fn, (uint64_t)size);
    if (!t)
        return;
    bool holes = false, pointers = false;
    char *mask = members(t, &holes, &pointers);
    LLVMValueRef own = equality_of(watch, t, fn);
    if (holes || (pointers && own)) {
        WatchSite *s = watch_add(watch, i, SITE_SUSPECT, "", t->name);
        s->group = s->key;
        s->kind = arena_strdup(&watch->arena, mask);
        s->at[1] = own;
        s->fact[0] =
            own && (strcasestr(watch_name(own), "cmp") || strcasestr(watch_name(own), "compare"));
    }
    free(mask);
}

static void probe_bytes(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef i = s->at[0];
    watch_go_after(watch, i);
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0),
                            LLVMGetOperand(i, 0),
                            LLVMGetOperand(i, 1),
                            weave_text(w, s->kind),
                            i,
                            s->at[1] ? s->at[1] : LLVMConstNull(w->ptr),
                            weave_int(w, w->i32, (uint64_t)s->fact[0]) };
    watch_call(watch, "sundew_watch_bytes", w->void_, args, 7);
}

static void join_bytes(const WatchSite *s, const struct sundew_watch_slot *self,
                       const WatchEvidence *all, WatchJudgement *out)
{
    (void)all;
    out->opportunities = self->n;
    out->missing = "a test that compares two objects that are equal";
    if (self->bad_bits & 1)
        watch_say(out, GRADE_STRONG, s, self,
                  "two objects (%s) with equal members are told apart: bytes between the "
                  "members differ",
                  s->subject);
    else if (self->bad)
        watch_say(out, GRADE_STRONG, s, self,
                  "%s() calls two objects equal that are told apart here, byte by byte",
                  watch_name(s->at[1]));
}

const WatchRule rule_bytes = {
    .family = "wrong-equality",
    .objection = "equal objects have equal bytes",
    .opportunity = "comparisons",
    .instruction = find_bytes,
    .probe = probe_bytes,
    .join = join_bytes,
};
