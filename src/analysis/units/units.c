/*
 * Units by union-find. A node stands for a number: an SSA value, a field of a
 * struct (by the struct's name and the offset), a variable, a stack slot, what a
 * function returns. One pass over all instructions joins what has the same unit:
 *
 *     if (s->len + n > s->room)         len, n, room
 *     s->colour = pick(RED)             colour and what pick() returns
 */
#include "analysis/units/units_int.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The places whose values an expression is made of. */
enum { MOST_LEAVES = 6, MOST_EXPRESSION = 6 };
typedef struct Leaves {
    uint32_t nodes[MOST_LEAVES];
    unsigned n;
} Leaves;

static uint32_t find(const Units *u, uint32_t n)
{
    while (u->parent.items[n] != n)
        n = u->parent.items[n];
    return n;
}

static uint32_t root(Units *u, uint32_t n)
{
    uint32_t r = find(u, n);

    while (u->parent.items[n] != r) {          /* shorter next time */
        uint32_t next = u->parent.items[n];
        u->parent.items[n] = r;
        n = next;
    }
    return r;
}

enum { NONE = UINT32_MAX };

static void join(Units *u, uint32_t a, uint32_t b)
{
    if (a == NONE || b == NONE)
        return;
    a = root(u, a);
    b = root(u, b);
    u->parent.items[a > b ? a : b] = a > b ? b : a;
}

static uint32_t node_in(Units *u, void **slot)
{
    if (!*slot) {
        uint32_t own = (uint32_t)u->parent.len;
        vec_push(&u->parent, own);
        *slot = (void *)(uintptr_t)u->parent.len;
    }
    return (uint32_t)(uintptr_t)*slot - 1;
}

/* Constants have any unit. */
static uint32_t value_node(Units *u, LLVMValueRef v)
{
    if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMIntegerTypeKind || LLVMIsConstant(v))
        return NONE;
    return node_in(u, map_slotn(&u->values, &v, sizeof v));
}

static uint32_t place_node(Units *u, const char *name)
{
    return node_in(u, map_slot(&u->places, name));
}

/* --- memory */

/* LLVM tells structs of one name apart by numbers: struct.foo.12. */
static char *struct_name(const char *name)
{
    char *copy = xstrdup(name);
    char *dot = strrchr(copy, '.');

    if (dot && dot != strchr(copy, '.') && dot[1] && !dot[1 + strspn(dot + 1, "0123456789")])
        *dot = 0;
    return copy;
}

char *units_struct_key(LLVMTargetDataRef layout, LLVMTypeRef type, unsigned i)
{
    if (!LLVMGetStructName(type))
        return NULL;
    char *name = struct_name(LLVMGetStructName(type));
    char *key = xprintf("%s@%llu", name, (unsigned long long)LLVMOffsetOfElement(layout, type, i));
    free(name);
    return key;
}

char *units_gep_key(LLVMTargetDataRef layout, LLVMValueRef gep)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep), inner = NULL;
    unsigned at = 0;

    for (int i = 2; i < LLVMGetNumOperands(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, (unsigned)i);
        if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            inner = type;
            at = (unsigned)LLVMConstIntGetZExtValue(index);
            type = LLVMStructGetTypeAtIndex(type, at);
        } else {
            type = LLVMGetElementType(type);   /* all elements are alike */
        }
    }
    return inner ? units_struct_key(layout, inner, at) : NULL;
}

static uint32_t field_node(Units *u, LLVMValueRef gep)
{
    char *key = units_gep_key(u->layout, gep);
    uint32_t n = key ? place_node(u, key) : NONE;

    free(key);
    return n;
}

/* What lies where a pointer points; NONE: could be anything. */
static uint32_t content_node(Units *u, LLVMValueRef pointer)
{
    size_t len;

    if (LLVMIsAGlobalVariable(pointer)) {
        char *key = xprintf("@%s", LLVMGetValueName2(pointer, &len));
        uint32_t n = place_node(u, key);
        free(key);
        return n;
    }
    if (LLVMIsAAllocaInst(pointer))
        return node_in(u, map_slotn(&u->values, &pointer, sizeof pointer));
    if (LLVMIsAGetElementPtrInst(pointer) || LLVMIsAConstantExpr(pointer))
        return LLVMIsAGetElementPtrInst(pointer) ? field_node(u, pointer) : NONE;
    return NONE;
}

/* --- expressions */

static void relate(Units *u, uint32_t a, uint32_t b, bool compared)
{
    uint32_t pair[2] = { a < b ? a : b, a < b ? b : a };

    if (a != b && a != NONE && b != NONE)
        map_putn(compared ? &u->compared : &u->related, pair, sizeof pair, u);
}

static uint32_t result_node(Units *u, LLVMValueRef fn);

static void collect(Units *u, LLVMValueRef v, unsigned depth, Leaves *out)
{
    uint32_t leaf = NONE;

    if (out->n == MOST_LEAVES || depth > MOST_EXPRESSION)
        return;
    if (LLVMIsAArgument(v)) {
        leaf = value_node(u, v);
    } else if (LLVMIsAInstruction(v)) {
        switch (LLVMGetInstructionOpcode(v)) {
        case LLVMLoad: leaf = content_node(u, LLVMGetOperand(v, 0)); break;
        case LLVMCall:
            if (LLVMIsAFunction(LLVMGetCalledValue(v)))
                leaf = result_node(u, LLVMGetCalledValue(v));
            break;
        case LLVMAdd:
        case LLVMSub:
        case LLVMSelect:
        case LLVMMul:
        case LLVMUDiv:
        case LLVMSDiv:
            for (int i = 0; i < LLVMGetNumOperands(v); i++)
                collect(u, LLVMGetOperand(v, (unsigned)i), depth + 1, out);
            break;
        case LLVMPHI:
            for (unsigned i = 0; i < LLVMCountIncoming(v); i++)
                collect(u, LLVMGetIncomingValue(v, i), depth + 2, out);
            break;
        case LLVMZExt:
        case LLVMSExt:
        case LLVMTrunc:
        case LLVMFreeze: collect(u, LLVMGetOperand(v, 0), depth + 1, out); break;
        default: break;
        }
    }
    if (leaf != NONE && out->n < MOST_LEAVES)
        out->nodes[out->n++] = leaf;
}

/* All that stand in one expression, and where its value goes; or, if there is a `b`,
 * in one comparison. */
static void relate_values(Units *u, LLVMValueRef a, LLVMValueRef b, uint32_t to)
{
    Leaves l = { 0 };

    collect(u, a, 0, &l);
    if (b)
        collect(u, b, 0, &l);
    if (to != NONE && l.n < MOST_LEAVES)
        l.nodes[l.n++] = to;
    for (unsigned i = 0; i < l.n; i++)
        for (unsigned k = 0; k < i; k++)
            relate(u, l.nodes[i], l.nodes[k], b != NULL);
}

/* `if (s->next)`: there are objects without one. */
static void see_test(Units *u, LLVMValueRef cmp)
{
    LLVMIntPredicate how = LLVMGetICmpPredicate(cmp);
    Leaves l = { 0 };

    if ((how != LLVMIntEQ && how != LLVMIntNE) || !LLVMIsNull(LLVMGetOperand(cmp, 1)) ||
        !units_goes_on_if_zero(cmp))
        return;
    collect(u, LLVMGetOperand(cmp, 0), MOST_EXPRESSION - 3, &l);
    for (unsigned i = 0; i < l.n; i++)
        map_putn(&u->tested, &l.nodes[i], sizeof l.nodes[i], u);
}

/* --- instructions */

static uint32_t result_node(Units *u, LLVMValueRef fn)
{
    size_t len;
    char *key = xprintf("%s()", LLVMGetValueName2(fn, &len));
    uint32_t n = place_node(u, key);

    free(key);
    return n;
}

static void see_call(Units *u, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);

    if (!LLVMIsAFunction(callee) || LLVMIsDeclaration(callee))
        return;
    unsigned n = LLVMGetNumArgOperands(call), params = LLVMCountParams(callee);
    for (unsigned i = 0; i < n && i < params; i++) {
        LLVMValueRef arg = LLVMGetOperand(call, i);
        uint32_t to = value_node(u, LLVMGetParam(callee, i));
        join(u, value_node(u, arg), to);
        if (LLVMIsACallInst(arg) && LLVMIsAFunction(LLVMGetCalledValue(arg)))
            relate(u, result_node(u, LLVMGetCalledValue(arg)), to, false);
    }
    join(u, value_node(u, call), result_node(u, callee));
}

static void see_binary(Units *u, LLVMValueRef i, bool both)
{
    LLVMValueRef a = LLVMGetOperand(i, 0), b = LLVMGetOperand(i, 1);

    if (both || LLVMIsConstant(b))
        join(u, value_node(u, i), value_node(u, a));
    if (both)
        join(u, value_node(u, i), value_node(u, b));
}

static void see_phi(Units *u, LLVMValueRef i)
{
    for (unsigned k = 0; k < LLVMCountIncoming(i); k++)
        join(u, value_node(u, i), value_node(u, LLVMGetIncomingValue(i, k)));
}

/* What an array is indexed with has a unit, too. The array: a field that holds it or
 * points to it, a parameter. */
static void see_index(Units *u, LLVMValueRef gep)
{
    LLVMValueRef base = LLVMGetOperand(gep, 0);
    LLVMValueRef index = LLVMGetOperand(gep, (unsigned)LLVMGetNumOperands(gep) - 1);
    uint32_t array = NONE;

    if (value_node(u, index) == NONE)
        return;
    if (LLVMIsALoadInst(base))
        array = content_node(u, LLVMGetOperand(base, 0));
    else if (LLVMIsAArgument(base))
        array = node_in(u, map_slotn(&u->values, &base, sizeof base));
    else
        array = content_node(u, base);
    if (array == NONE)
        return;
    Leaves l = { 0 };
    collect(u, index, 0, &l);
    for (unsigned i = 0; i < l.n; i++)
        map_putn(&u->indexing, (uint32_t[]){ array, l.nodes[i] }, 2 * sizeof array, u);
    void **slot = map_slotn(&u->indices, &array, sizeof array);
    if (*slot)
        join(u, (uint32_t)(uintptr_t)*slot - 1, value_node(u, index));
    else
        *slot = (void *)((uintptr_t)value_node(u, index) + 1);
}

static void see(Units *u, LLVMValueRef i, LLVMValueRef fn)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: join(u, value_node(u, i), content_node(u, LLVMGetOperand(i, 0))); break;
    case LLVMStore:
        join(u, value_node(u, LLVMGetOperand(i, 0)), content_node(u, LLVMGetOperand(i, 1)));
        relate_values(u, LLVMGetOperand(i, 0), NULL, content_node(u, LLVMGetOperand(i, 1)));
        break;
    case LLVMAdd:
    case LLVMSub:
        see_binary(u, i, true);
        relate_values(u, i, NULL, NONE);
        break;
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor: see_binary(u, i, false); break;
    case LLVMICmp:
        join(u, value_node(u, LLVMGetOperand(i, 0)), value_node(u, LLVMGetOperand(i, 1)));
        relate_values(u, LLVMGetOperand(i, 0), LLVMGetOperand(i, 1), NONE);
        see_test(u, i);
        break;
    case LLVMPHI: see_phi(u, i); break;
    case LLVMGetElementPtr: see_index(u, i); break;
    case LLVMSelect:
        join(u, value_node(u, i), value_node(u, LLVMGetOperand(i, 1)));
        join(u, value_node(u, i), value_node(u, LLVMGetOperand(i, 2)));
        break;
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMFreeze:
        /* a truth value as a number is no unit of its own */
        if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(i, 0))) == LLVMIntegerTypeKind &&
            LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(i, 0))) > 1)
            join(u, value_node(u, i), value_node(u, LLVMGetOperand(i, 0)));
        break;
    case LLVMCall: see_call(u, i); break;
    case LLVMRet:
        if (LLVMGetNumOperands(i))
            join(u, value_node(u, LLVMGetOperand(i, 0)), result_node(u, fn));
        if (LLVMGetNumOperands(i))
            relate_values(u, LLVMGetOperand(i, 0), NULL, result_node(u, fn));
        break;
    default: break;
    }
}

Units *units_new(const Program *p)
{
    Units *u = xcalloc(1, sizeof *u);
    LLVMModuleRef m = program_module(p);

    u->p = p;
    u->layout = LLVMGetModuleDataLayout(m);
    for (LLVMValueRef fn = LLVMGetFirstFunction(m); fn; fn = LLVMGetNextFunction(fn))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                see(u, i, fn);
    u->puts = puts_new(p);
    for (size_t i = 0; i < u->parent.len; i++)
        vec_push(&u->storers, 0);
    for (size_t i = 0; i < u->places.len; i++)
        u->storers.items[(uintptr_t)u->places.entries[i].value - 1] =
            puts_storers(u->puts, u->places.entries[i].key);
    return u;
}

void units_free(Units *u)
{
    if (!u)
        return;
    map_release(&u->values);
    map_release(&u->places);
    map_release(&u->related);
    map_release(&u->compared);
    map_release(&u->tested);
    map_release(&u->indexing);
    map_release(&u->indices);
    puts_free(u->puts);
    vec_release(&u->parent);
    vec_release(&u->storers);
    free(u);
}

/* --- questions */

static unsigned place_in(const void *slot) { return (unsigned)(uintptr_t)slot; }

static unsigned place_named(const Units *u, char *key)
{
    unsigned place = place_in(map_get(&u->places, key));
    free(key);
    return place;
}

unsigned units_param(const Units *u, const Function *fn, unsigned i)
{
    LLVMValueRef value = program_function_value(u->p, fn);

    assert(i <= fn->nparams);
    if (!value)
        return 0;
    if (i == fn->nparams)
        return place_named(u, xprintf("%s()", fn->symbol));
    const Param *p = &fn->params[i];
    if (p->passing != PASSED_DIRECTLY || p->first_arg >= LLVMCountParams(value))
        return 0;
    LLVMValueRef arg = LLVMGetParam(value, p->first_arg);
    return place_in(map_getn(&u->values, &arg, sizeof arg));
}

char *units_field_key(const Type *record, uint64_t offset)
{
    const char *tag = *record->name ? record->name : record->alias ? record->alias->name : "";

    return *tag ? xprintf("struct.%s@%llu", tag, (unsigned long long)offset) : NULL;
}

unsigned units_field(const Units *u, const Type *record, uint64_t offset)
{
    char *key = units_field_key(record, offset);

    return key ? place_named(u, key) : 0;
}

bool units_is_index(const Units *u, unsigned array, unsigned place)
{
    uint32_t node = array - 1;
    const void *index = array ? map_getn(&u->indices, &node, sizeof node) : NULL;

    return index && place && find(u, place_in(index) - 1) == find(u, place - 1);
}

bool units_stored_apart(const Units *u, unsigned a, unsigned b)
{
    return a && b && u->storers.items[a - 1] != u->storers.items[b - 1];
}

bool units_indexes(const Units *u, unsigned array, unsigned place)
{
    uint32_t pair[2] = { array - 1, place - 1 };

    return array && place && map_getn(&u->indexing, pair, sizeof pair);
}

unsigned units_variable(const Units *u, const Variable *v)
{
    return place_named(u, xprintf("@%s", v->symbol));
}

unsigned units_text_length(const Units *u) { return place_in(map_get(&u->places, "strlen()")); }

unsigned units_of_place(const Units *u, unsigned place)
{
    assert(place <= u->parent.len);
    return place ? find(u, place - 1) + 1 : 0;
}

static bool is_pair(const Map *m, unsigned a, unsigned b)
{
    uint32_t pair[2] = { (a < b ? a : b) - 1, (a < b ? b : a) - 1 };

    return a && b && a != b && map_getn(m, pair, sizeof pair);
}

bool units_related(const Units *u, unsigned a, unsigned b)
{
    return is_pair(&u->related, a, b) || units_compared(u, a, b);
}

bool units_compared(const Units *u, unsigned a, unsigned b) { return is_pair(&u->compared, a, b); }

bool units_is_tested(const Units *u, unsigned place)
{
    uint32_t node = place - 1;

    return place && map_getn(&u->tested, &node, sizeof node);
}
