/*
 * Names of places: "set.2" is the third field of struct set, "@count" a global variable, "*"
 * all other memory. An access counts for the field that is nearest to it on its way:
 *
 *     q->head.n = 1      getelementptr struct.list, (getelementptr struct.queue, q, 0, 1), 0, 2
 *                        writes "list.2"
 *
 * A function's distance to a variable is the number of calls on the shortest way there. A call through
 * a pointer with n targets is as long as 1 + log2(n) calls, since each of them is seldom the one that
 * is called:
 *
 *     icalproperty_new_url() → icalproperty_set_url() → icalproperty_set_value() → pvl_newlist()
 *     @counter of pvl_newlist(): 3
 */
#include "analysis/effects/effects_int.h"
#include <assert.h>
#include <math.h>
#include <string.h>

/* One function alone. */
typedef struct Own {
    Ids reads, writes;
} Own;

/* Farther ones are alike. */
enum { FARTHEST = 32, NEVER = FARTHEST + 1 };

struct EffectSet {
    uint64_t *reads, *writes;    /* a bit for each name */
    size_t words;
    uint8_t *distance;           /* of each variable; NEVER: it is not touched */
};

/* ------------------------------------------------------------------ names */

static uint32_t number_of(Effects *e, const char *name)
{
    uintptr_t n = (uintptr_t)map_get(&e->names, name);
    if (!n) {
        n = e->names.len + 1;
        map_put(&e->names, name, (void *)n);
    }
    return (uint32_t)(n - 1);
}

/* "set.2", if the pointer is the field of a named structure. */
static bool field_of(LLVMValueRef p, Str *out)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(p);
    if (LLVMGetTypeKind(type) != LLVMStructTypeKind || LLVMGetNumOperands(p) < 3)
        return false;
    LLVMValueRef index = LLVMGetOperand(p, 2);
    const char *name = LLVMGetStructName(type);
    if (!name || !LLVMIsAConstantInt(index))
        return false;
    str_addf(out, "%s.%llu", strncmp(name, "struct.", 7) ? name : name + 7,
             LLVMConstIntGetZExtValue(index));
    return true;
}

static bool is_gep(LLVMValueRef p)
{
    return LLVMIsAGetElementPtrInst(p) ||
           (LLVMIsAConstantExpr(p) && LLVMGetConstOpcode(p) == LLVMGetElementPtr);
}

LLVMValueRef effects_base_of(LLVMValueRef p)
{
    while (is_gep(p))
        p = LLVMGetOperand(p, 0);
    return p;
}

bool effects_name_of(LLVMValueRef p, Str *out)
{
    size_t n;
    while (is_gep(p)) {
        if (!out->len)
            field_of(p, out);
        p = LLVMGetOperand(p, 0);
    }
    if (LLVMIsAAllocaInst(p) || (LLVMIsAGlobalVariable(p) && LLVMIsGlobalConstant(p)))
        return false;
    if (LLVMIsAGlobalVariable(p)) {
        str_reset(out);
        str_addf(out, "@%s", LLVMGetValueName2(p, &n));
    } else if (!out->len) {
        str_add(out, "*");
    }
    return true;
}

/* ------------------------------------------------------------ one function */

static void add_id(Ids *to, uint32_t id)
{
    for (size_t i = 0; i < to->len; i++)
        if (to->items[i] == id)
            return;
    vec_push(to, id);
}

static void add_access(Effects *e, LLVMValueRef p, Ids *to)
{
    Str name = { 0 };
    if (effects_name_of(p, &name))
        add_id(to, number_of(e, str_c(&name)));
    str_release(&name);
}

/* Functions outside that touch no memory of the library's. */
static bool is_harmless(const char *name)
{
    static const char *const begins[] = { "llvm.dbg", "llvm.lifetime", "pthread_", "mtx_",
                                          "cnd_",     "sem_",          "malloc",   "calloc",
                                          "abort",    "__assert" };
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (!strncmp(name, begins[i], strlen(begins[i])))
            return true;
    return false;
}

static bool is_pointer(LLVMValueRef v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

static void add_call(Effects *e, LLVMValueRef call, Own *own)
{
    size_t n;
    LLVMValueRef f = LLVMGetCalledValue(call);
    if (!LLVMIsAFunction(f) || !LLVMIsDeclaration(f) || is_harmless(LLVMGetValueName2(f, &n)))
        return;
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        LLVMValueRef p = LLVMGetOperand(call, i);
        if (is_pointer(p)) {
            add_access(e, p, &own->reads);
            add_access(e, p, &own->writes);
        }
    }
}

static void add_instruction(Effects *e, LLVMValueRef i, Own *own)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: add_access(e, LLVMGetOperand(i, 0), &own->reads); break;
    case LLVMStore: add_access(e, LLVMGetOperand(i, 1), &own->writes); break;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        add_access(e, LLVMGetOperand(i, 0), &own->reads);
        add_access(e, LLVMGetOperand(i, 0), &own->writes);
        break;
    case LLVMCall: add_call(e, i, own); break;
    default: break;
    }
}

static void look_at(Effects *e, const Function *fn)
{
    LLVMValueRef f = program_function_value(e->program, fn);
    Own *own = arena_new(&e->arena, Own);
    for (LLVMBasicBlockRef b = f ? LLVMGetFirstBasicBlock(f) : NULL; b;
         b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            add_instruction(e, i, own);
    map_put(&e->own, fn->symbol, own);
}

Effects *effects_new(const Program *p, const Calls *calls)
{
    Effects *e = xcalloc(1, sizeof *e);
    size_t n;
    const Function *const *fns = program_functions(p, &n);
    assert(calls);
    e->program = p;
    e->calls = calls;
    for (size_t i = 0; i < n; i++)
        look_at(e, fns[i]);
    for (size_t i = 0; i < e->names.len; i++)
        if (e->names.entries[i].key[0] == '@')
            vec_push(&e->variables, (uint32_t)i);
    return e;
}

void effects_free(Effects *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < e->own.len; i++) {
        Own *own = e->own.entries[i].value;
        vec_release(&own->reads);
        vec_release(&own->writes);
    }
    vec_release(&e->variables);
    map_release(&e->names);
    map_release(&e->own);
    map_release(&e->known);
    map_release(&e->answers);
    arena_release(&e->arena);
    free(e);
}

/* ------------------------------------------------------- with all it calls */

static void add_bits(uint64_t *to, const Ids *from)
{
    for (size_t i = 0; i < from->len; i++)
        to[from->items[i] / 64] |= (uint64_t)1 << from->items[i] % 64;
}

static bool has_bit(const uint64_t *bits, uint32_t i) { return bits[i / 64] >> i % 64 & 1; }

/* Functions that are so many calls away; a function may stand in several. */
typedef struct Ring {
    Vec(const Function *) all;
} Ring;

static void reach(Ring *rings, unsigned from, const Function *const *fns, size_t n)
{
    unsigned at = from + 1;
    for (size_t left = n; left > 1; left /= 2)
        at++;
    for (size_t i = 0; i < n; i++)
        vec_push(&rings[at < FARTHEST ? at : FARTHEST].all, fns[i]);
}

static void add_function(Effects *e, const Function *fn, unsigned at, Ring *rings, EffectSet *to)
{
    size_t n;
    const Own *own = map_get(&e->own, fn->symbol);
    if (!own)
        return;
    add_bits(to->reads, &own->reads);
    add_bits(to->writes, &own->writes);
    for (size_t v = 0; v < e->variables.len; v++) {
        uint32_t name = e->variables.items[v];
        if (to->distance[v] == NEVER && (has_bit(to->reads, name) || has_bit(to->writes, name)))
            to->distance[v] = (uint8_t)at;
    }
    const CallSite *sites = calls_sites(e->calls, fn, &n);
    for (size_t i = 0; i < n; i++) {
        reach(rings, at, sites[i].targets, sites[i].ntargets);
        reach(rings, at, sites[i].callbacks, sites[i].ncallbacks);
    }
}

/* The near ones first. The last ring grows while it is walked. */
static void add_closure(Effects *e, const Function *fn, EffectSet *to)
{
    Ring rings[FARTHEST + 1] = { 0 };
    Map seen = { 0 };
    vec_push(&rings[0].all, fn);
    for (unsigned at = 0; at <= FARTHEST; at++) {
        for (size_t i = 0; i < rings[at].all.len; i++) {
            const Function *next = rings[at].all.items[i];
            if (map_has(&seen, next->symbol))
                continue;
            map_put(&seen, next->symbol, NULL);
            add_function(e, next, at, rings, to);
        }
        vec_release(&rings[at].all);
    }
    map_release(&seen);
}

const EffectSet *effects_of(Effects *e, const Function *fn)
{
    EffectSet *s = map_get(&e->known, fn->symbol);
    if (s)
        return s;
    s = arena_new(&e->arena, EffectSet);
    s->words = e->names.len / 64 + 1;
    s->reads = arena_array(&e->arena, uint64_t, s->words);
    s->writes = arena_array(&e->arena, uint64_t, s->words);
    s->distance = arena_array(&e->arena, uint8_t, e->variables.len + 1);
    memset(s->distance, NEVER, e->variables.len);
    add_closure(e, fn, s);
    map_put(&e->known, fn->symbol, s);
    return s;
}

bool effects_meet(const EffectSet *a, const EffectSet *b)
{
    assert(a->words == b->words);
    for (size_t i = 0; i < a->words; i++)
        if ((a->writes[i] & (b->reads[i] | b->writes[i])) || (b->writes[i] & a->reads[i]))
            return true;
    return false;
}

size_t effects_variables(const Effects *e) { return e->variables.len; }

void effects_meet_apart(const Effects *e, const EffectSet *a, const EffectSet *b, double *nearness)
{
    for (size_t v = 0; v < e->variables.len; v++) {
        uint32_t name = e->variables.items[v];
        if (a->distance[v] == NEVER || b->distance[v] == NEVER ||
            !(has_bit(a->writes, name) || has_bit(b->writes, name)))
            continue;
        double near = ldexp(1, -(a->distance[v] + b->distance[v] + 1) / 2);
        nearness[v] = near > nearness[v] ? near : nearness[v];
    }
}

static bool is_kept(LLVMValueRef v, unsigned depth);

/* Does the function store this argument in a global variable, or a callee of its? */
static bool keeps(LLVMValueRef fn, unsigned argument, unsigned depth)
{
    return LLVMIsAFunction(fn) && !LLVMIsDeclaration(fn) && argument < LLVMCountParams(fn) &&
           depth < 4 && is_kept(LLVMGetParam(fn, argument), depth);
}

static bool is_kept(LLVMValueRef v, unsigned depth)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) == v) {
            if (LLVMIsAGlobalVariable(effects_base_of(LLVMGetOperand(user, 1))))
                return true;
        }
        if ((LLVMIsAPHINode(user) || LLVMIsASelectInst(user)) && depth < 4 &&
            is_kept(user, depth + 1))
            return true;
        for (unsigned i = 0; LLVMIsACallInst(user) && i < LLVMGetNumArgOperands(user); i++)
            if (LLVMGetOperand(user, i) == v && keeps(LLVMGetCalledValue(user), i, depth + 1))
                return true;
    }
    return false;
}

static bool is_function_pointer(const Type *t)
{
    t = t ? type_plain(t) : NULL;
    return t && t->kind == TYPE_POINTER && type_plain(t->target)->kind == TYPE_FUNCTION;
}

bool effects_installs(const Effects *e, const Function *fn)
{
    LLVMValueRef f = program_function_value(e->program, fn);
    for (unsigned i = 0; f && i < fn->nparams; i++)
        if (is_function_pointer(fn->params[i].type) && keeps(f, fn->params[i].first_arg, 0))
            return true;
    return false;
}

static void print_bits(const Effects *e, const uint64_t *bits, const char *what, Str *out)
{
    const char *before = what;
    for (size_t i = 0; i < e->names.len; i++)
        if (bits[i / 64] >> i % 64 & 1) {
            str_addf(out, "%s%s", before, e->names.entries[i].key);
            before = ", ";
        }
}

void effects_print(const Effects *e, const EffectSet *s, Str *out)
{
    print_bits(e, s->reads, "reads ", out);
    print_bits(e, s->writes, out->len ? "; writes " : "writes ", out);
}
