/*
 * facts - what the code does with pointers.
 *
 * For each pointer argument of each function: is it freed, written to, is what
 * lies in it freed, is fresh memory stored through it; and for each function:
 * does it return fresh memory. These facts pass from callees to callers until
 * nothing changes:
 *
 *     static void drop(void *p) { free(p); }      argument 0 freed
 *     void buf_free(struct buf *b) { drop(b); }   so it is here
 *
 * Where an allocator hides behind a function pointer its name must do: a
 * function that gives or takes a plain pointer and is called …alloc… or
 * …free… is taken for what it says. A call through a field of a struct may
 * call each function that the program puts into that field:
 *
 *     void buf_put(struct buf *b) { if (!--b->refs) b->destroy(b); }
 */
#include "analysis/handles/handles_int.h"
#include "base/str.h"
#include "base/vec.h"
#include "program/optables.h"
#include <assert.h>
#include <ctype.h>

/* ---- names */

static const char *const allocating[] = { "alloc",   "malloc", "calloc", "realloc", "strdup",
                                          "strndup", "memdup", "new",    NULL };
static const char *const freeing[] = { "free", NULL };

bool facts_name_says(const char *name, const char *const *words)
{
    for (; *words; words++) {
        size_t n = strlen(*words);
        for (const char *s = name; *s; s++) {
            if (strncasecmp(s, *words, n) != 0)
                continue;
            bool begins = s == name || !isalpha((unsigned char)s[-1]) ||
                          (isupper((unsigned char)*s) && !isupper((unsigned char)s[-1]));
            bool ends = !islower((unsigned char)s[n]);
            bool long_enough = n >= 4 || strcmp(*words, "new") == 0;
            if (begins ? ends || long_enough : s[n] == 0 && n >= 4)
                return true;
        }
    }
    return false;
}

bool facts_name_is(const char *name, const char *const *words)
{
    size_t len = strlen(name);
    for (; *words; words++) {
        size_t n = strlen(*words);
        if (n > len)
            continue;
        const char *last = name + len - n;
        bool apart = last == name || !isalpha((unsigned char)last[-1]) ||
                     (isupper((unsigned char)*last) && !isupper((unsigned char)last[-1]));
        if ((strncasecmp(name, *words, n) == 0 && !islower((unsigned char)name[n])) ||
            (strcasecmp(last, *words) == 0 && apart))
            return true;
    }
    return false;
}

/* ---- facts */

static void set(Seer *s, Fact *f, LLVMValueRef at)
{
    if (f->at)
        return;
    f->at = at;
    s->changed = true;
}

static bool is_pointer(LLVMValueRef v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

static const FnFacts *facts_of(const Seer *s, LLVMValueRef fn)
{
    size_t i = (size_t)map_getn(&s->index, &fn, sizeof fn);
    return i ? &s->facts[i - 1] : NULL;
}

const Function *facts_function(const Seer *s, LLVMValueRef fn)
{
    size_t i = (size_t)map_getn(&s->index, &fn, sizeof fn);
    return i ? s->functions[i - 1] : NULL;
}

/* void *…alloc…(…), of the library or the program's own */
static bool allocates(const Function *fn, LLVMValueRef v)
{
    LLVMTypeRef t = LLVMGlobalGetValueType(v);
    if (LLVMGetTypeKind(LLVMGetReturnType(t)) != LLVMPointerTypeKind)
        return false;
    const Type *r = type_plain(fn->returns);
    bool plain = !r || type_plain(r->target)->kind == TYPE_VOID ||
                 type_plain(r->target)->kind == TYPE_SCALAR;
    return plain && facts_name_says(fn->name, allocating);
}

/* void …free…(void *) */
static bool frees(const Function *fn, unsigned arg)
{
    if (!facts_name_says(fn->name, freeing))
        return false;
    if (!fn->type)
        return arg == 0 && strcmp(fn->name, "free") == 0;
    if (arg >= fn->nparams)
        return false;
    const Type *t = type_plain(fn->params[arg].type);
    return t->kind == TYPE_POINTER && type_plain(t->target)->kind == TYPE_VOID;
}

/* ---- where a value comes from */

static bool fresh_in_variable(const Seer *s, LLVMValueRef variable, int depth, Map *asked);

/* Did this value come from an allocator? `asked` are values and variables that the
 * question has led to already: in an interpreter's loop there are very many ways to each. */
static bool fresh_value(const Seer *s, LLVMValueRef v, int depth, Map *asked)
{
    if (depth > 1000 || !LLVMIsAInstruction(v))
        return false;
    if (LLVMIsACallInst(v)) {
        LLVMValueRef callee = LLVMGetCalledValue(v);
        const FnFacts *f = facts_of(s, callee);
        if (!f)
            return false;
        return f->fresh.at || allocates(facts_function(s, callee), callee);
    }
    if (!map_putn(asked, &v, sizeof v, asked))
        return false;
    if (LLVMIsAPHINode(v)) {
        for (unsigned i = 0; i < LLVMCountIncoming(v); i++)
            if (fresh_value(s, LLVMGetIncomingValue(v, i), depth + 1, asked))
                return true;
        return false;
    }
    if (LLVMIsASelectInst(v))
        return fresh_value(s, LLVMGetOperand(v, 1), depth + 1, asked) ||
               fresh_value(s, LLVMGetOperand(v, 2), depth + 1, asked);
    if (LLVMIsAGetElementPtrInst(v))      /* &new->base */
        return fresh_value(s, LLVMGetOperand(v, 0), depth + 1, asked);
    if (LLVMIsALoadInst(v) && LLVMIsAAllocaInst(LLVMGetOperand(v, 0)))
        return fresh_in_variable(s, LLVMGetOperand(v, 0), depth + 1, asked);
    return false;
}

/* Is fresh memory stored in a local variable, here or by who gets its
 * address? */
static bool fresh_in_variable(const Seer *s, LLVMValueRef variable, int depth, Map *asked)
{
    if (!map_putn(asked, &variable, sizeof variable, asked))
        return false;
    for (LLVMUseRef u = LLVMGetFirstUse(variable); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == variable &&
            fresh_value(s, LLVMGetOperand(user, 0), depth + 1, asked))
            return true;
        const FnFacts *f = LLVMIsACallInst(user) ? facts_of(s, LLVMGetCalledValue(user)) : NULL;
        for (unsigned i = 0; f && i < f->nargs && i < LLVMGetNumArgOperands(user); i++)
            if (LLVMGetOperand(user, i) == variable && f->args[i].stores_fresh.at)
                return true;
    }
    return false;
}

static bool is_fresh(const Seer *s, LLVMValueRef v)
{
    Map asked = { 0 };
    bool fresh = fresh_value(s, v, 0, &asked);
    map_release(&asked);
    return fresh;
}

/* ---- calls through a field */

typedef Vec(const Function *) Targets;

/* "struct.buf 16": the type's name in the module, without the number of a copy of it. */
static void field_key(Str *out, const char *type, uint64_t offset)
{
    const char *dot = strrchr(type, '.');
    bool copy = dot && dot > type + 7 && dot[1] && !dot[1 + strspn(dot + 1, "0123456789")];
    str_addn(out, type, copy ? (size_t)(dot - type) : strlen(type));
    str_addf(out, " %llu", (unsigned long long)offset);
}

static void add_target(Seer *s, const OpTable *t, const OpSlot *slot, const Function *fn)
{
    Str key = { 0 };
    char *type = xprintf("struct.%s", str_starts(t->name, "struct ") ? t->name + 7 : t->name);
    field_key(&key, type, slot->offset);
    Targets **all = (Targets **)map_slot(&s->targets, str_c(&key));
    if (!*all)
        *all = arena_new(s->arena, Targets);
    bool known = false;
    for (size_t i = 0; i < (*all)->len; i++)
        known |= (*all)->items[i] == fn;
    if (!known)
        vec_push(*all, fn);
    str_release(&key);
    free(type);
}

/* What stands in which field. */
static void gather_targets(Seer *s)
{
    OpTables tables = { 0 };
    if (optables_find(s->program, &tables, NULL))
        for (size_t i = 0; i < tables.n; i++)
            for (size_t k = 0; k < tables.all[i].nimpls; k++)
                for (unsigned j = 0; j < tables.all[i].nslots; j++)
                    if (tables.all[i].impls[k].slots[j])
                        add_target(s, &tables.all[i], &tables.all[i].slots[j],
                                   tables.all[i].impls[k].slots[j]);
    optables_release(&tables);
}

/* What a pointer that was loaded from a field may call; NULL: not known. */
static const Targets *targets_of(const Seer *s, LLVMValueRef callee)
{
    LLVMValueRef from = LLVMIsALoadInst(callee) ? LLVMGetOperand(callee, 0) : NULL;
    if (!from || !LLVMIsAGetElementPtrInst(from))
        return NULL;
    LLVMTypeRef type = LLVMGetGEPSourceElementType(from);
    int64_t offset;
    if (LLVMGetTypeKind(type) != LLVMStructTypeKind || !LLVMGetStructName(type) ||
        !llvm_gep_offset(s->layout, from, &offset) || offset < 0)
        return NULL;
    Str key = { 0 };
    field_key(&key, LLVMGetStructName(type), (uint64_t)offset);
    const Targets *all = map_get(&s->targets, str_c(&key));
    str_release(&key);
    return all;
}

/* ---- where an argument goes */

typedef struct Trail {
    LLVMValueRef value;
    bool inside;              /* loaded from the object, not a pointer to it */
} Trail;

typedef Vec(Trail) Trails;

static void follow(Trails *t, LLVMValueRef v, bool inside)
{
    for (size_t i = 0; i < t->len; i++)
        if (t->items[i].value == v)
            return;
    if (t->len < 2000)
        vec_push(t, ((Trail){ v, inside }));
}

/* Functions of the library that write through none of their arguments. What
 * else has no body may write through any. */
static bool only_reads(const Function *fn)
{
    static const char *const names[] = {
        "abort",   "atoi",    "atol",    "exit",   "fprintf", "fputs",       "fwrite",
        "memchr",  "memcmp",  "perror",  "printf", "puts",    "strcasecmp",  "strchr",
        "strcmp",  "strcoll", "strcspn", "strdup", "strlen",  "strncasecmp", "strncmp",
        "strnlen", "strpbrk", "strrchr", "strspn", "strstr",  "write",       NULL,
    };
    for (size_t i = 0; names[i]; i++)
        if (strcmp(fn->name, names[i]) == 0)
            return true;
    return str_starts(fn->name, "__assert");
}

static bool is_memory_write(LLVMValueRef callee)
{
    size_t n;
    const char *name = LLVMGetValueName2(callee, &n);
    return str_starts(name, "llvm.memset.") || str_starts(name, "llvm.memcpy.") ||
           str_starts(name, "llvm.memmove.") || strcmp(name, "memset") == 0 ||
           strcmp(name, "memcpy") == 0 || strcmp(name, "memmove") == 0;
}

/* The call hands the value to this function, if it is one. */
static void see_callee(Seer *s, ArgFacts *a, LLVMValueRef call, LLVMValueRef callee, unsigned i,
                       Trail t, bool whole)
{
    const FnFacts *f = facts_of(s, callee);
    const Function *fn = facts_function(s, callee);
    if (fn && is_memory_write(callee)) {
        if (i == 0)
            set(s, t.inside ? &a->writes_inside : &a->written, call);
        return;
    }
    if (fn && (fn->intrinsic || (!fn->defined && only_reads(fn))))
        return;
    if (fn && frees(fn, i)) {
        set(s, t.inside ? &a->frees_inside : &a->freed, call);
        return;
    }
    if (!fn || !fn->defined || i >= f->nargs) {
        set(s, &a->unknown, call);
        return;
    }
    const ArgFacts *b = &f->args[i];
    if (b->freed.at)
        set(s, t.inside ? &a->frees_inside : &a->freed, call);
    if (b->frees_inside.at)
        set(s, &a->frees_inside, call);
    if (b->written.at)
        set(s, t.inside ? &a->writes_inside : &a->written, call);
    if (b->writes_inside.at)
        set(s, &a->writes_inside, call);
    if (b->unknown.at)
        set(s, &a->unknown, call);
    if (b->stores_fresh.at && whole)
        set(s, &a->stores_fresh, call);
}

static void see_argument(Seer *s, ArgFacts *a, LLVMValueRef call, unsigned i, Trail t, bool whole)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    const Targets *targets = targets_of(s, callee);
    see_callee(s, a, call, callee, i, t, whole);
    for (size_t k = 0; targets && k < targets->len; k++)
        see_callee(s, a, call, s->facts[targets->items[k]->index].value, i, t, whole);
}

static void see_use(Seer *s, ArgFacts *a, Trails *trails, Trail t, LLVMValueRef argument,
                    LLVMValueRef user)
{
    bool whole = t.value == argument;
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMGetElementPtr:
    case LLVMBitCast:
    case LLVMPHI:
    case LLVMSelect:
    case LLVMFreeze: follow(trails, user, t.inside); break;
    case LLVMLoad:
        if (is_pointer(user))
            follow(trails, user, true);
        break;
    case LLVMStore:
        if (LLVMGetOperand(user, 1) == t.value) {
            set(s, t.inside ? &a->writes_inside : &a->written, user);
            if (whole && is_fresh(s, LLVMGetOperand(user, 0)))
                set(s, &a->stores_fresh, user);
        } else if (LLVMGetOperand(user, 0) == t.value && !t.inside) {
            set(s, &a->unknown, user);      /* kept somewhere */
        }
        break;
    case LLVMCall:
    case LLVMInvoke:
    case LLVMCallBr:
        for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++)
            if (LLVMGetOperand(user, i) == t.value)
                see_argument(s, a, user, i, t, whole);
        break;
    case LLVMICmp:
    case LLVMRet: break;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: set(s, t.inside ? &a->writes_inside : &a->written, user); break;
    default:
        if (!t.inside)
            set(s, &a->unknown, user);
    }
}

static void see_function(Seer *s, FnFacts *f)
{
    for (unsigned i = 0; i < f->nargs; i++) {
        LLVMValueRef argument = LLVMGetParam(f->value, i);
        if (!is_pointer(argument))
            continue;
        Trails trails = { 0 };
        follow(&trails, argument, false);
        for (size_t k = 0; k < trails.len; k++) {
            Trail t = trails.items[k];
            for (LLVMUseRef u = LLVMGetFirstUse(t.value); u; u = LLVMGetNextUse(u))
                if (LLVMIsAInstruction(LLVMGetUser(u)))
                    see_use(s, &f->args[i], &trails, t, argument, LLVMGetUser(u));
        }
        vec_release(&trails);
    }
    if (f->fresh.at)
        return;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->value); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        if (end && LLVMIsAReturnInst(end) && LLVMGetNumOperands(end) == 1 &&
            is_pointer(LLVMGetOperand(end, 0)) && is_fresh(s, LLVMGetOperand(end, 0)))
            set(s, &f->fresh, end);
    }
}

/* Each function of the module has its Function. */
static void index_functions(Seer *s, LLVMModuleRef m)
{
    s->n = program_index_limit(s->program);
    s->facts = arena_array(s->arena, FnFacts, s->n);
    s->functions = arena_array(s->arena, const Function *, s->n);
    for (LLVMValueRef v = LLVMGetFirstFunction(m); v; v = LLVMGetNextFunction(v)) {
        const Function *fn = program_function_of(s->program, v);
        assert(fn && fn->index < s->n);
        FnFacts *f = &s->facts[fn->index];
        s->functions[fn->index] = fn;
        f->value = v;
        f->nargs = LLVMCountParams(v);
        f->args = arena_array(s->arena, ArgFacts, f->nargs);
        map_putn(&s->index, &v, sizeof v, (void *)((size_t)fn->index + 1));
    }
}

void facts_gather(Seer *s, LLVMModuleRef m)
{
    index_functions(s, m);
    s->layout = LLVMGetModuleDataLayout(m);
    gather_targets(s);
    for (int round = 0; round < 30; round++) {
        s->changed = false;
        for (size_t i = 0; i < s->n; i++)
            if (s->functions[i] && s->functions[i]->defined)
                see_function(s, &s->facts[i]);
        if (!s->changed)
            break;
    }
}

void facts_release(Seer *s)
{
    for (size_t i = 0; i < s->targets.len; i++)
        vec_release((Targets *)s->targets.entries[i].value);
    map_release(&s->targets);
    map_release(&s->index);
}

/* What an instruction does first to the object behind a pointer: 1 writes, 0
 * reads, -1 nothing. */
static int first_touch(const Seer *s, LLVMValueRef i, LLVMValueRef v, int depth);

bool facts_writes_first(const Seer *s, LLVMValueRef fn, unsigned arg, int depth)
{
    Trails trails = { 0 };
    follow(&trails, LLVMGetParam(fn, arg), false);
    for (size_t k = 0; k < trails.len; k++)
        for (LLVMUseRef u = LLVMGetFirstUse(trails.items[k].value); u; u = LLVMGetNextUse(u))
            if (LLVMIsAGetElementPtrInst(LLVMGetUser(u)))
                follow(&trails, LLVMGetUser(u), false);
    int answer = -1;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b && answer < 0;
         b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && answer < 0;
             i = LLVMGetNextInstruction(i))
            for (size_t k = 0; k < trails.len && answer < 0; k++)
                answer = first_touch(s, i, trails.items[k].value, depth);
    vec_release(&trails);
    return answer == 1;
}

static int first_touch(const Seer *s, LLVMValueRef i, LLVMValueRef v, int depth)
{
    if (LLVMIsAStoreInst(i) && LLVMGetOperand(i, 1) == v)
        return 1;
    if (LLVMIsALoadInst(i) && LLVMGetOperand(i, 0) == v)
        return 0;
    if (!LLVMIsACallInst(i))
        return -1;
    LLVMValueRef callee = LLVMGetCalledValue(i);
    const FnFacts *f = facts_of(s, callee);
    for (unsigned k = 0; k < LLVMGetNumArgOperands(i); k++) {
        if (LLVMGetOperand(i, k) != v)
            continue;
        const Function *fn = facts_function(s, callee);
        if (fn && is_memory_write(callee))
            return k == 0;
        return fn && fn->defined && k < f->nargs && depth < 4 &&
               facts_writes_first(s, callee, k, depth + 1);
    }
    return -1;
}
