/*
 * handles - from what the code does with pointers to roles.
 *
 * First, for each pointer argument of each function: is it freed, written to,
 * is what lies in it freed, is fresh memory stored through it; and for each
 * function: does it return fresh memory. These facts pass from callees to
 * callers until nothing changes:
 *
 *     static void drop(void *p) { free(p); }      argument 0 freed
 *     void buf_free(struct buf *b) { drop(b); }   so it is here
 *
 * Where an allocator hides behind a function pointer its name must do: a
 * function that gives or takes a plain pointer and is called …alloc… or
 * …free… is taken for what it says.
 *
 * Then each use of a handle type in an API function gets its role from the
 * facts, and from the function's name where they say nothing.
 */
#include "program/handles.h"
#include "base/file.h"
#include "program/program_int.h"
#include <ctype.h>
#include <stdio.h>

const char *handle_role_name(HandleRole r)
{
    static const char *const names[] = {
        [HANDLE_CREATES] = "creates",   [HANDLE_INITIALISES] = "initialises",
        [HANDLE_DESTROYS] = "destroys", [HANDLE_FINISHES] = "finishes",
        [HANDLE_OBSERVES] = "observes", [HANDLE_CHANGES] = "changes",
    };
    return names[r];
}

/* --- names */

static const char *const creating[] = { "new", "create", "open", "alloc", "make",
    "dup", "copy", "clone", "parse", "load", "init", "build", "from", NULL };
static const char *const starting[] = { "init", "setup", "construct", NULL };
static const char *const ending[] = { "free", "destroy", "close", "delete",
    "release", "finish", "fini", "end", "cleanup", "clear", "dispose", "unref",
    "decref", "deinit", "drop", "finalize", "shutdown", "uninit", NULL };
static const char *const destroying[] = { "free", "destroy", "close", "delete",
    "release", "dispose", NULL };
static const char *const allocating[] = { "alloc", "malloc", "calloc", "realloc",
    "strdup", "strndup", "memdup", "new", NULL };
static const char *const freeing[] = { "free", NULL };

/* Does a name hold one of the words as a part or at the beginning of one:
 * buf_free, bufFree, free_buf, lua_newstate; longer words also at the end,
 * buffree. */
static bool name_says(const char *name, const char *const *words)
{
    for (; *words; words++) {
        size_t n = strlen(*words);
        for (const char *s = name; *s; s++) {
            if (strncasecmp(s, *words, n) != 0)
                continue;
            bool begins = s == name || !isalpha((unsigned char)s[-1])
                || (isupper((unsigned char)*s) && !isupper((unsigned char)s[-1]));
            bool ends = !islower((unsigned char)s[n]);
            bool long_enough = n >= 4 || strcmp(*words, "new") == 0;
            if (begins ? ends || long_enough : s[n] == 0 && n >= 4)
                return true;
        }
    }
    return false;
}

/* Is one of the words the first or the last part of a name: free_buf, bufFree,
 * but not buf_free_list. */
static bool name_is(const char *name, const char *const *words)
{
    size_t len = strlen(name);
    for (; *words; words++) {
        size_t n = strlen(*words);
        if (n > len)
            continue;
        const char *last = name + len - n;
        bool apart = last == name || !isalpha((unsigned char)last[-1])
            || (isupper((unsigned char)*last) && !isupper((unsigned char)last[-1]));
        if ((strncasecmp(name, *words, n) == 0 && !islower((unsigned char)name[n]))
            || (strcasecmp(last, *words) == 0 && apart))
            return true;
    }
    return false;
}

/* --- facts */

typedef struct Fact {
    LLVMValueRef at;          /* the instruction that shows it; NULL: not so */
} Fact;

typedef struct ArgFacts {
    Fact freed, written, unknown, stores_fresh;
    Fact frees_inside, writes_inside;     /* what it points to points to */
} ArgFacts;

typedef struct FnFacts {
    LLVMValueRef value;
    ArgFacts *args;
    unsigned nargs;
    Fact fresh;               /* returns fresh memory */
} FnFacts;

typedef struct Seer {
    Arena *arena;
    FnFacts *facts;           /* by index in the program's functions */
    Function *functions;
    size_t n;
    Map index;                /* LLVMValueRef -> index + 1 */
    bool changed;
} Seer;

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

static const Function *function_of(const Seer *s, LLVMValueRef fn)
{
    size_t i = (size_t)map_getn(&s->index, &fn, sizeof fn);
    return i ? &s->functions[i - 1] : NULL;
}

/* void *…alloc…(…), of the library or the program's own */
static bool allocates(const Function *fn, LLVMValueRef v)
{
    LLVMTypeRef t = LLVMGlobalGetValueType(v);
    if (LLVMGetTypeKind(LLVMGetReturnType(t)) != LLVMPointerTypeKind)
        return false;
    const Type *r = type_plain(fn->returns);
    bool plain = !r || type_plain(r->target)->kind == TYPE_VOID
        || type_plain(r->target)->kind == TYPE_SCALAR;
    return plain && name_says(fn->name, allocating);
}

/* void …free…(void *) */
static bool frees(const Function *fn, unsigned arg)
{
    if (!name_says(fn->name, freeing))
        return false;
    if (!fn->type)
        return arg == 0 && strcmp(fn->name, "free") == 0;
    if (arg >= fn->nparams)
        return false;
    const Type *t = type_plain(fn->params[arg].type);
    return t->kind == TYPE_POINTER && type_plain(t->target)->kind == TYPE_VOID;
}

/* --- where a value comes from */

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
        return f->fresh.at || allocates(function_of(s, callee), callee);
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
        return fresh_value(s, LLVMGetOperand(v, 1), depth + 1, asked)
            || fresh_value(s, LLVMGetOperand(v, 2), depth + 1, asked);
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
        if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == variable
            && fresh_value(s, LLVMGetOperand(user, 0), depth + 1, asked))
            return true;
        const FnFacts *f = LLVMIsACallInst(user)
            ? facts_of(s, LLVMGetCalledValue(user)) : NULL;
        for (unsigned i = 0; f && i < f->nargs && i < LLVMGetNumArgOperands(user); i++)
            if (LLVMGetOperand(user, i) == variable && f->args[i].stores_fresh.at)
                return true;
    }
    return false;
}

static bool is_fresh(const Seer *s, LLVMValueRef v)
{
    Map asked = {0};
    bool fresh = fresh_value(s, v, 0, &asked);
    map_release(&asked);
    return fresh;
}

/* --- where an argument goes */

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
        "abort", "atoi", "atol", "exit", "fprintf", "fputs", "fwrite", "memchr",
        "memcmp", "perror", "printf", "puts", "strcasecmp", "strchr", "strcmp",
        "strcoll", "strcspn", "strdup", "strlen", "strncasecmp", "strncmp",
        "strnlen", "strpbrk", "strrchr", "strspn", "strstr", "write", NULL,
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
    return str_starts(name, "llvm.memset.") || str_starts(name, "llvm.memcpy.")
        || str_starts(name, "llvm.memmove.") || strcmp(name, "memset") == 0
        || strcmp(name, "memcpy") == 0 || strcmp(name, "memmove") == 0;
}

static void see_argument(Seer *s, ArgFacts *a, LLVMValueRef call, unsigned i,
                         Trail t, bool whole)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    const FnFacts *f = facts_of(s, callee);
    const Function *fn = function_of(s, callee);
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

static void see_use(Seer *s, ArgFacts *a, Trails *trails, Trail t,
                    LLVMValueRef argument, LLVMValueRef user)
{
    bool whole = t.value == argument;
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMGetElementPtr: case LLVMBitCast: case LLVMPHI: case LLVMSelect:
    case LLVMFreeze:
        follow(trails, user, t.inside);
        break;
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
    case LLVMCall: case LLVMInvoke: case LLVMCallBr:
        for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++)
            if (LLVMGetOperand(user, i) == t.value)
                see_argument(s, a, user, i, t, whole);
        break;
    case LLVMICmp: case LLVMRet:
        break;
    case LLVMAtomicRMW: case LLVMAtomicCmpXchg:
        set(s, t.inside ? &a->writes_inside : &a->written, user);
        break;
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
        Trails trails = {0};
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
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->value); b;
         b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        if (end && LLVMIsAReturnInst(end) && LLVMGetNumOperands(end) == 1
            && is_pointer(LLVMGetOperand(end, 0))
            && is_fresh(s, LLVMGetOperand(end, 0)))
            set(s, &f->fresh, end);
    }
}

static void gather_facts(Seer *s, LLVMModuleRef m)
{
    s->facts = arena_array(s->arena, FnFacts, s->n);
    for (size_t i = 0; i < s->n; i++) {
        FnFacts *f = &s->facts[i];
        f->value = LLVMGetNamedFunction(m, s->functions[i].symbol);
        f->nargs = LLVMCountParams(f->value);
        f->args = arena_array(s->arena, ArgFacts, f->nargs);
        map_putn(&s->index, &f->value, sizeof f->value, (void *)(i + 1));
    }
    for (int round = 0; round < 30; round++) {
        s->changed = false;
        for (size_t i = 0; i < s->n; i++)
            if (s->functions[i].defined)
                see_function(s, &s->facts[i]);
        if (!s->changed)
            break;
    }
}

/* What an instruction does first to the object behind a pointer: 1 writes, 0
 * reads, -1 nothing. */
static int first_touch(const Seer *s, LLVMValueRef i, LLVMValueRef v, int depth);

/* Is the first access to the object behind an argument, in the order of the
 * code, a write? */
static bool writes_first(const Seer *s, LLVMValueRef fn, unsigned arg, int depth)
{
    Trails trails = {0};
    follow(&trails, LLVMGetParam(fn, arg), false);
    for (size_t k = 0; k < trails.len; k++)
        for (LLVMUseRef u = LLVMGetFirstUse(trails.items[k].value); u;
             u = LLVMGetNextUse(u))
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
        const Function *fn = function_of(s, callee);
        if (fn && is_memory_write(callee))
            return k == 0;
        return fn && fn->defined && k < f->nargs && depth < 4
            && writes_first(s, callee, k, depth + 1);
    }
    return -1;
}

/* --- the API */

/* Is there a "(" next, perhaps behind a macro for old compilers: f OF((…))? */
static bool parameters_follow(const char *s, const char *end)
{
    while (s < end && (isspace((unsigned char)*s) || *s == ')'))
        s++;
    if (s < end && *s == '(')
        return true;
    while (s < end && (isupper((unsigned char)*s) || *s == '_'))
        s++;
    while (s < end && (*s == ' ' || *s == '\t'))
        s++;
    return end - s > 1 && s[0] == '(' && s[1] == '(';
}

/* The words with parameters in a header: what it may declare. */
static void scan_header(const char *path, Map *declared)
{
    Str text = {0};
    if (file_size(path) > 16 << 20 || !file_read(path, &text, NULL)) {
        str_release(&text);
        return;
    }
    const char *s = text.data ? text.data : "", *end = s + text.len;
    while (s < end) {
        const char *word = s;
        while (s < end && (isalnum((unsigned char)*s) || *s == '_'))
            s++;
        size_t n = (size_t)(s - word);
        if (n && parameters_follow(s, end))
            map_putn(declared, word, n, (void *)1);
        if (!n)
            s++;
    }
    str_release(&text);
}

static void scan_folder_of(const char *file, Map *folders, Map *declared)
{
    char *dir = path_dir(file);
    Strings names = {0};
    if (*file && !str_starts(file, "/usr/") && map_put(folders, dir, NULL)
        && dir_list(dir, &names, NULL))
        for (size_t i = 0; i < names.len; i++) {
            char *path = path_join(dir, names.items[i]);
            if (str_ends(path, ".h") || str_ends(path, ".h.in"))
                scan_header(path, declared);
            free(path);
        }
    strings_release(&names);
    free(dir);
}

/* Marks the API: external functions that a header declares; all external ones
 * if no header declares any. */
static bool *find_api(const Program *p)
{
    Map folders = {0}, declared = {0};
    for (size_t i = 0; i < p->nfunctions; i++)
        if (p->functions[i].defined)
            scan_folder_of(p->functions[i].file, &folders, &declared);
    for (size_t i = 0; i < p->types.n; i++)
        scan_folder_of(p->types.all[i]->file, &folders, &declared);
    bool *api = xcalloc(p->nfunctions + 1, sizeof *api);
    for (int any = 0; any < 2; any++) {
        size_t found = 0;
        for (size_t i = 0; i < p->nfunctions; i++) {
            const Function *fn = &p->functions[i];
            api[i] = fn->defined && fn->linkage == LINKAGE_EXTERNAL
                && strcmp(fn->name, "main") != 0
                && (any || map_has(&declared, fn->name));
            found += api[i];
        }
        if (found)
            break;
    }
    map_release(&folders);
    map_release(&declared);
    return api;
}

/* --- roles */

static const char by_name[] = "its name says so";

typedef struct Finder {
    Program *p;
    Seer seer;
    Map handles;              /* Type * -> Uses */
    Vec(const Type *) order;
} Finder;

typedef Vec(HandleUse) Uses;

static void add_use(Finder *x, const Type *t, const HandleUse *u)
{
    Uses **slot = (Uses **)map_slotn(&x->handles, &t, sizeof t);
    if (!*slot) {
        *slot = xcalloc(1, sizeof **slot);
        vec_push(&x->order, t);
    }
    vec_push(*slot, *u);
}

/* "it is freed by buf_free()": what the instruction that shows a fact is. */
static const char *say(Finder *x, Fact f, const char *what)
{
    if (f.at && LLVMIsACallInst(f.at) && strcmp(what, by_name) != 0) {
        const Function *fn = function_of(&x->seer, LLVMGetCalledValue(f.at));
        if (fn && !fn->intrinsic)     /* a struct that is copied calls nobody */
            return arena_printf(&x->p->arena, "%s by %s()", what, fn->name);
    }
    return arena_strdup(&x->p->arena, what);
}

static void place(Finder *x, HandleUse *u, Fact f)
{
    SourcePlace l = { .file = "" };
    if (f.at)
        l = program_place(x->p, f.at);
    u->file = *l.file ? l.file : u->function->file;
    u->line = *l.file && l.line ? l.line : u->function->line;
}

static bool points_to_const(const Type *t)
{
    t = type_plain(t);
    return t && t->kind == TYPE_POINTER
        && type_has_qualifier(t->target, QUALIFIER_CONST);
}

/* The role of a parameter that is a pointer to a handle. */
static HandleRole role_of_pointer(Finder *x, const Function *fn, unsigned arg,
                                  const Type *t, Fact *why, const char **what)
{
    const FnFacts *f = &x->seer.facts[fn->index];
    const ArgFacts *a = &f->args[arg];
    /* a name tells of one thing only */
    bool ends = name_is(fn->name, ending)
        || (fn->nparams == 1 && name_says(fn->name, ending));
    *why = a->freed;
    *what = "it is freed";
    if (a->freed.at)
        return HANDLE_DESTROYS;
    *why = a->frees_inside;
    *what = "memory in it is freed";
    if (ends && a->frees_inside.at)
        return HANDLE_FINISHES;
    *why = a->written;
    *what = "it is written before it is read";
    if (name_says(fn->name, starting) && a->written.at
        && writes_first(&x->seer, f->value, arg, 0))
        return HANDLE_INITIALISES;
    *what = by_name;
    if (ends && (a->written.at || a->unknown.at))
        return HANDLE_FINISHES;
    *why = (Fact){0};
    *what = "nothing is written through it";
    if (!a->written.at && !a->unknown.at && !a->frees_inside.at
        && !a->writes_inside.at)
        return HANDLE_OBSERVES;
    *what = "it is declared const";
    if (points_to_const(t))
        return HANDLE_OBSERVES;
    *why = a->written.at ? a->written : a->writes_inside.at ? a->writes_inside
        : a->unknown;
    *what = a->written.at ? "it is written" : a->writes_inside.at
        ? "what it leads to is written" : "it is handed on";
    return HANDLE_CHANGES;
}

/* A pointer to a pointer to a handle; false: it has no role. */
static bool role_of_place(const ArgFacts *a, const Function *fn, HandleRole *role,
                          Fact *why, const char **what)
{
    *why = a->stores_fresh;
    *what = "new memory is stored there";
    *role = HANDLE_CREATES;
    if (a->stores_fresh.at)
        return true;
    *why = a->frees_inside;
    *what = "what it points to is freed";
    *role = HANDLE_DESTROYS;
    if (a->frees_inside.at && name_says(fn->name, ending))
        return true;
    *why = a->written;
    *what = by_name;
    *role = HANDLE_CREATES;
    return a->written.at && name_says(fn->name, creating);
}

static bool is_handle_type(const Type *t)
{
    return t && *t->file && !str_starts(t->file, "/usr/include/")
        && !str_starts(t->file, "/usr/lib/");
}

static void see_params(Finder *x, const Function *fn)
{
    const FnFacts *f = &x->seer.facts[fn->index];
    for (unsigned i = 0; i < fn->nparams; i++) {
        unsigned levels, arg = fn->params[i].first_arg;
        const Type *t = type_pointed_record(fn->params[i].type, &levels);
        if (!is_handle_type(t) || fn->params[i].nargs != 1 || arg >= f->nargs
            || levels > 2)
            continue;
        HandleUse u = { .function = fn, .param = (int)i };
        Fact why;
        const char *what;
        if (levels == 1)
            u.role = role_of_pointer(x, fn, arg, fn->params[i].type, &why, &what);
        else if (!role_of_place(&f->args[arg], fn, &u.role, &why, &what))
            continue;
        u.evidence = say(x, why, what);
        place(x, &u, why);
        add_use(x, t, &u);
    }
}

static void see_result(Finder *x, const Function *fn)
{
    unsigned levels;
    const Type *t = type_pointed_record(fn->returns, &levels);
    if (!is_handle_type(t) || levels != 1)
        return;
    const FnFacts *f = &x->seer.facts[fn->index];
    bool takes_one = false;
    for (unsigned i = 0; i < fn->nparams; i++)
        takes_one = takes_one || type_pointed_record(fn->params[i].type, &levels) == t;
    HandleUse u = { .function = fn, .param = HANDLE_RETURNED,
                    .role = HANDLE_CREATES };
    if (!f->fresh.at && (takes_one || !name_says(fn->name, creating)))
        return;
    u.evidence = f->fresh.at ? "it returns new memory" : by_name;
    place(x, &u, f->fresh);
    add_use(x, t, &u);
}

static int by_role(const void *a, const void *b)
{
    const HandleUse *x = a, *y = b;
    if (x->role != y->role)
        return x->role < y->role ? -1 : 1;
    if (x->function->index != y->function->index)
        return x->function->index < y->function->index ? -1 : 1;
    return x->param - y->param;
}

/* Whether the end of a thing frees the thing itself often does not show in the
 * code. What is only ever created on the heap ends there, too. */
static void settle_ends(Uses *uses)
{
    bool created = false, initialised = false;
    for (size_t i = 0; i < uses->len; i++) {
        created = created || uses->items[i].role == HANDLE_CREATES;
        initialised = initialised || uses->items[i].role == HANDLE_INITIALISES;
    }
    for (size_t i = 0; i < uses->len && created && !initialised; i++) {
        HandleUse *u = &uses->items[i];
        if (u->role == HANDLE_FINISHES && name_is(u->function->name, destroying))
            u->role = HANDLE_DESTROYS;
    }
}

void handles_find(Program *p, LLVMModuleRef m)
{
    Finder x = { .p = p };
    x.seer = (Seer){ .arena = &p->arena, .functions = p->functions,
                     .n = p->nfunctions };
    gather_facts(&x.seer, m);
    bool *api = find_api(p);
    for (size_t i = 0; i < p->nfunctions; i++) {
        if (!api[i] || !p->functions[i].type)
            continue;
        see_result(&x, &p->functions[i]);
        see_params(&x, &p->functions[i]);
    }
    p->nhandles = x.order.len;
    p->handles = arena_array(&p->arena, Handle, p->nhandles);
    for (size_t i = 0; i < p->nhandles; i++) {
        Uses *uses = map_getn(&x.handles, &x.order.items[i], sizeof(Type *));
        settle_ends(uses);
        qsort(uses->items, uses->len, sizeof *uses->items, by_role);
        Handle *h = &p->handles[i];
        h->type = x.order.items[i];
        h->nuses = (unsigned)uses->len;
        h->uses = arena_array(&p->arena, HandleUse, uses->len);
        memcpy(h->uses, uses->items, uses->len * sizeof *uses->items);
        vec_release(uses);
        free(uses);
    }
    free(api);
    map_release(&x.handles);
    map_release(&x.seer.index);
    vec_release(&x.order);
}

/* --- the user's word
 *
 *     # comment
 *     FUNCTION  ROLE|none  PARAMETER|return
 */

typedef struct Overrule {
    const Function *function;
    int param;
    bool none;
    HandleRole role;
    unsigned line;
} Overrule;

static bool parse_role(const char *word, Overrule *o)
{
    o->none = strcmp(word, "none") == 0;
    for (unsigned r = HANDLE_CREATES; r <= HANDLE_CHANGES; r++)
        if (strcmp(word, handle_role_name((HandleRole)r)) == 0) {
            o->role = (HandleRole)r;
            return true;
        }
    return o->none;
}

/* By its name, or by its number from 1. */
static bool parse_param(const char *word, Overrule *o)
{
    o->param = HANDLE_RETURNED;
    if (strcmp(word, "return") == 0)
        return true;
    for (unsigned i = 0; i < o->function->nparams; i++)
        if (strcmp(o->function->params[i].name, word) == 0)
            o->param = (int)i;
    char *end;
    long number = strtol(word, &end, 10);
    if (o->param < 0 && *word && !*end && number >= 1
        && number <= (long)o->function->nparams)
        o->param = (int)number - 1;
    return o->param >= 0;
}

static bool parse_line(const Program *p, const char *path, char *text,
                       unsigned line, Overrule *o, bool *empty, Err *err)
{
    char *rest, *words[4];
    size_t n = 0;
    text[strcspn(text, "#")] = 0;
    for (char *w = strtok_r(text, " \t\r", &rest); w && n < 4;
         w = strtok_r(NULL, " \t\r", &rest))
        words[n++] = w;
    *empty = n == 0;
    if (n == 0)
        return true;
    *o = (Overrule){ .line = line };
    if (n != 3)
        return err_set(err, "%s:%u: expected FUNCTION ROLE PARAMETER", path, line);
    o->function = program_function(p, words[0]);
    if (!o->function) {
        *empty = true;               /* of another program of the project */
        return true;
    }
    if (!parse_role(words[1], o))
        return err_set(err, "%s:%u: no role is called %s", path, line, words[1]);
    if (!parse_param(words[2], o))
        return err_set(err, "%s:%u: %s() has no parameter %s", path, line,
                       words[0], words[2]);
    return true;
}

static const Type *overruled_type(const Overrule *o)
{
    unsigned levels;
    const Type *t = o->param < 0 ? o->function->returns
                                 : o->function->params[o->param].type;
    return type_pointed_record(t, &levels);
}

static Handle *handle_of(Program *p, const Type *t)
{
    for (size_t i = 0; i < p->nhandles; i++)
        if (p->handles[i].type == t)
            return &p->handles[i];
    Handle *more = arena_array(&p->arena, Handle, p->nhandles + 1);
    memcpy(more, p->handles, p->nhandles * sizeof *more);
    p->handles = more;
    more[p->nhandles].type = t;
    return &more[p->nhandles++];
}

static void apply(Program *p, const Overrule *o, const char *path)
{
    Handle *h = handle_of(p, overruled_type(o));
    HandleUse *uses = arena_array(&p->arena, HandleUse, h->nuses + 1u);
    unsigned n = 0;
    for (unsigned i = 0; i < h->nuses; i++)
        if (h->uses[i].function != o->function || h->uses[i].param != o->param)
            uses[n++] = h->uses[i];
    if (!o->none)
        uses[n++] = (HandleUse){
            .function = o->function, .role = o->role, .param = o->param,
            .evidence = "the user says so", .file = arena_strdup(&p->arena, path),
            .line = o->line,
        };
    qsort(uses, n, sizeof *uses, by_role);
    h->uses = uses;
    h->nuses = n;
}

static bool read_overrules(Program *p, const char *path, Err *err)
{
    Str text = {0};
    if (!file_read(path, &text, err)) {
        str_release(&text);
        return false;
    }
    bool ok = true;
    unsigned line = 0;
    for (char *s = text.data, *next; s && ok; s = next) {
        next = strchr(s, '\n');
        if (next)
            *next++ = 0;
        Overrule o;
        bool empty;
        ok = parse_line(p, path, s, ++line, &o, &empty, err);
        if (ok && !empty && !overruled_type(&o))
            ok = err_set(err, "%s:%u: that is no pointer to a struct", path, line);
        if (ok && !empty)
            apply(p, &o, path);
    }
    str_release(&text);
    return ok;
}

const Handle *program_handles(const Program *program, const char *overrules,
                              size_t *n, Err *err)
{
    Program *p = (Program *)program;
    static const Handle none;
    if (overrules && !p->overruled && file_exists(overrules)) {
        p->overruled = true;
        if (!read_overrules(p, overrules, err))
            return NULL;
    }
    *n = p->nhandles;
    return p->handles ? p->handles : &none;
}
