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
 * …free… is taken for what it says.
 */
#include "analysis/handles/handles_int.h"
#include "base/str.h"
#include "base/vec.h"
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

static void see_argument(Seer *s, ArgFacts *a, LLVMValueRef call, unsigned i, Trail t, bool whole)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
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
    for (int round = 0; round < 30; round++) {
        s->changed = false;
        for (size_t i = 0; i < s->n; i++)
            if (s->functions[i] && s->functions[i]->defined)
                see_function(s, &s->facts[i]);
        if (!s->changed)
            break;
    }
}

void facts_release(Seer *s) { map_release(&s->index); }

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
