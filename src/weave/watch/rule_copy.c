/*
 * Functions that copy an object, shallowly or only its first part.
 *
 *     *d = *s;                    and the function that frees it frees s->name:
 *                                 both objects own the same text
 *     memcpy(d, s, sizeof *s)     where s is the first member of something larger
 */
#include "weave/watch/rules_int.h"
#include <assert.h>
#include <inttypes.h>

static bool has_word(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strcasestr(name, *words))
            return true;
    return false;
}

static const char *const copying[] = { "dup", "copy", "clone", NULL };
static const char *const freeing[] = {
    "free", "destroy", "release", "delete", "fini", "clear", NULL
};
static const char *const counting[] = { "ref", "use", "count", NULL };

/* The offset of a pointer that `fn` frees, of an object of that type; -1: none. */
static int64_t freed_offset(Watch *watch, LLVMValueRef fn, const Type *type)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            const char *name = watch_library(i);
            if (!name || strcmp(name, "free") || LLVMGetNumArgOperands(i) != 1)
                continue;
            LLVMValueRef p = LLVMGetOperand(i, 0),
                         at = LLVMIsALoadInst(p) ? LLVMGetOperand(p, 0) : NULL;
            if (!at || !LLVMIsAArgument(watch_base(at)))
                continue;
            int64_t offset = 0;
            if (LLVMIsAGetElementPtrInst(at) && !llvm_gep_offset(watch->w->layout, at, &offset))
                continue;
            if (watch_record_of(watch, fn, watch_base(at)) == type)
                return offset;
        }
    return -1;
}

static int64_t owned_offset(Watch *watch, const Type *type)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(watch->w->module); f; f = LLVMGetNextFunction(f)) {
        int64_t offset = LLVMIsDeclaration(f) || !has_word(watch_name(f), freeing)
                             ? -1
                             : freed_offset(watch, f, type);
        if (offset >= 0)
            return offset;
    }
    return -1;
}

/* Does the function put something else there? */
static bool is_set(Watch *watch, LLVMValueRef fn, LLVMValueRef to, int64_t offset)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef at = LLVMIsAStoreInst(i) ? LLVMGetOperand(i, 1) : NULL;
            int64_t where = 0;
            if (!at || watch_base(at) != to)
                continue;
            if (LLVMIsAGetElementPtrInst(at) && !llvm_gep_offset(watch->w->layout, at, &where))
                return true;
            if (where == offset)
                return true;
        }
    return false;
}

static bool is_counted(const Type *type)
{
    for (unsigned k = 0; k < type->nfields; k++)
        if (has_word(type->fields[k].name, counting) &&
            type_plain(type->fields[k].type)->kind == TYPE_SCALAR)
            return true;
    return false;
}

/* The size of a struct whose first member is of that type; 0: none. */
static uint64_t derived_size(Watch *watch, const Type *type)
{
    size_t n;
    const Type *const *all = types_all(program_types(watch->w->program), &n);
    for (size_t i = 0; i < n; i++)
        if (all[i]->kind == TYPE_STRUCT && all[i]->nfields && all[i]->size > type->size &&
            type_plain(all[i]->fields[0].type) == type)
            return all[i]->size;
    return 0;
}

static void find(Watch *watch, LLVMValueRef i)
{
    const char *name = watch_library(i);
    LLVMValueRef fn = LLVMIsACallInst(i) ? watch_function_of(i) : NULL;
    int64_t size;
    if (!name || (!str_starts(name, "llvm.memcpy") && strcmp(name, "memcpy")) ||
        !has_word(watch_name(fn), copying) || !watch_constant(LLVMGetOperand(i, 2), &size))
        return;
    LLVMValueRef to = watch_base(LLVMGetOperand(i, 0)), from = LLVMGetOperand(i, 1);
    const Type *type = watch_record_of(watch, fn, from);
    if (!type || type->size != (uint64_t)size || LLVMIsAAllocaInst(to))
        return;
    int64_t owned = is_counted(type) ? -1 : owned_offset(watch, type);
    if (owned >= 0 && is_set(watch, fn, to, owned))
        owned = -1;
    uint64_t whole = derived_size(watch, type);
    WatchSite *s =
        watch_add(watch, i, owned >= 0 || whole ? SITE_SUSPECT : SITE_LOOSE, "", watch_name(fn));
    const Function *f = program_function(watch->w->program, watch_name(fn));
    if (f && f->line)
        s->places[s->nplaces++] = (WatchPlace){ f->line, f->column };
    s->group = s->key;
    s->fact[0] = owned;
    s->fact[1] = (int64_t)whole;
    s->fact[2] = size;
}

static void probe(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef i = s->at[0], from = LLVMGetOperand(i, 1), to = LLVMGetOperand(i, 0);
    assert(s->fact[2] > 0);
    watch_go_after(watch, i);
    LLVMValueRef hit = watch_slot_value(watch, s, 2);
    watch_call(watch, "sundew_watch_hit", w->void_, &hit, 1);
    if (s->fact[0] >= 0) {
        LLVMValueRef args[] = { watch_slot_value(watch, s, 0), from, to,
                                weave_int(w, w->i64, (uint64_t)s->fact[0]) };
        watch_call(watch, "sundew_watch_shared", w->void_, args, 4);
    }
    if (s->fact[1]) {
        LLVMValueRef args[] = { watch_slot_value(watch, s, 1), from,
                                weave_int(w, w->i64, (uint64_t)s->fact[2]),
                                weave_int(w, w->i64, (uint64_t)s->fact[1]) };
        watch_call(watch, "sundew_watch_sliced", w->void_, args, 4);
    }
}

static void join(const WatchSite *s, const struct sundew_watch_slot *self, const WatchEvidence *all,
                 WatchJudgement *out)
{
    const struct sundew_watch_slot *cut = watch_slot(all, s, 1);
    out->opportunities = watch_slot(all, s, 2)->n;
    out->missing = "a test that copies an object which owns something";
    if (self->bad)
        watch_say(out, GRADE_STRONG, s, self,
                  "the copy and the original own the same pointer, at offset %" PRId64
                  "; the function that frees such objects frees it",
                  self->value);
    if (cut->bad)
        watch_say(out, GRADE_STRONG, s, cut,
                  "%" PRId64 " bytes were copied of an object of %" PRId64
                  ": the copy has only its first part",
                  cut->value, cut->value2);
}

const WatchRule rule_copy = {
    .family = "copy",
    .objection = "the two objects are never freed both",
    .opportunity = "copies",
    .slots = 3,
    .instruction = find,
    .probe = probe,
    .join = join,
    .heap = true,
};
