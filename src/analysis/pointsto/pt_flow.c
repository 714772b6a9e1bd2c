/*
 * Which functions an indirect call may mean, by fields.
 *
 * The locations of a pointer grow large in programs that keep values of all
 * kinds in one union or one pool, and then every function seems to be in every
 * field. But function pointers lead a quiet life: a function gets into a field
 * of a struct type by an initialiser or an assignment that names the type
 * and the field, and is read in the same way. So a second, smaller analysis looks at
 * functions only and has one place for a field of a struct type, whatever
 * the object:
 *
 *     struct ops { int (*open)(char *); int (*close)(int); };
 *     static struct ops file = { file_open, file_close };
 *     p->open(name)           ->  what was ever put into (struct ops, 0)
 *
 * A call reaches the functions that both analyses let arrive.
 *
 * Places: (struct type, offset) for fields, arrays folded; a variable that is no
 * struct; parameters, results and values of instructions. Four more places stand for
 * all memory that is used in some other way:
 *
 *     pieces   what is stored as part of a struct that is copied as a whole. Every field
 *              may hold it.
 *     strayed  the same, and what is stored through a pointer that names no field, or goes
 *              to unknown code outside. Every field may hold it that isn't only in constants.
 *     exposed  the same, and what is a variable argument, or in a union, or in a place whose
 *              address is used as a value: what a load that names no field may give.
 *
 *     fields   the same, and all that is in fields: what a load of a part of a struct that is
 *              copied as a whole may give.
 *
 * "May hold this too" is kept as a mark on the sets, not as members.
 *
 * Types. A function of the call's type is called. One of another type, which must
 * have been cast, is called if it could work, comes by places with a name, and the places
 * that the call reads are read by calls of this type alone. A place from which calls of
 * several types read (a table of `void (*)(void)`), or which holds functions of many types,
 * has functions that are cast back to what they were before they are called; unless
 * such a function fits no call at all.
 *
 * What it relies on: memory that holds a function and is written as a field of one
 * struct type isn't read as a field of another. Points-to is believed against it where
 * it is precise: at a call that few functions reach, or that would be left without any.
 */
#include "analysis/pointsto/pt_int.h"
#include <string.h>

typedef Vec(uint32_t) Numbers;

/* What else a set may hold. */
typedef enum { MARK_NONE, MARK_PIECES, MARK_STRAYED, MARK_EXPOSED, MARK_FIELDS } Mark;

typedef struct FlowNode {
    PtBits functions;         /* numbers of values */
    Vec(uint32_t) succs;
    Vec(uint32_t) calls;      /* indirect calls through this value */
    Mark mark;
    bool queued;
    bool is_place, is_field;  /* a field is a place in a struct */
    bool stored;              /* a place that isn't only in constants */
} FlowNode;

typedef struct FlowCall {
    PtCall form;              /* inst, type, args as far as types need them */
    uint32_t callee;          /* node */
    bool generic;             /* its place is read by calls of several types */
    bool unnamed;             /* it reads from no field */
    bool marked;              /* is among the marked calls */
} FlowCall;

typedef struct Flow {
    Pt *pt;
    PtValues *v;
    Vec(FlowNode) nodes;      /* the first v->n are the values */
    uint32_t pieces, strayed, exposed, fields;
    uint32_t *ret;            /* by index of the function: node of its result */
    PtTable place_of;         /* struct << 24 | offset, or variable -> node */
    PtTable struct_of;        /* LLVMTypeRef -> number */
    Map structs;              /* its text -> number + 1 */
    PtTable constants;        /* constant -> node */
    Vec(FlowCall) calls;
    PtTable met;              /* call << 32 | function */
    Vec(uint32_t) work;
    Vec(uint32_t) marked_calls;
} Flow;

/* ---- the graph */

static uint32_t node_new(Flow *f)
{
    vec_grow(&f->nodes);
    return (uint32_t)f->nodes.len - 1;
}

static void queue(Flow *f, uint32_t node)
{
    if (f->nodes.items[node].queued)
        return;
    f->nodes.items[node].queued = true;
    vec_push(&f->work, node);
}

static void add_function(Flow *f, uint32_t node, uint32_t function)
{
    if (ptbits_add(&f->nodes.items[node].functions, function))
        queue(f, node);
}

static void add_mark(Flow *f, uint32_t node, Mark mark)
{
    if (node == NONE || f->nodes.items[node].mark >= mark)
        return;
    f->nodes.items[node].mark = mark;
    queue(f, node);
}

static void edge(Flow *f, uint32_t from, uint32_t to)
{
    if (from == NONE || to == NONE || from == to)
        return;
    FlowNode *n = &f->nodes.items[from];
    vec_push(&n->succs, to);
    if (n->functions.len || n->mark)
        queue(f, from);
}

/* ---- places */

static void add_kinds(Str *s, LLVMTypeRef t, int depth)
{
    switch (LLVMGetTypeKind(t)) {
    case LLVMStructTypeKind:
        str_addc(s, '{');
        for (unsigned i = 0; i < LLVMCountStructElementTypes(t) && depth < 6; i++)
            add_kinds(s, LLVMStructGetTypeAtIndex(t, i), depth + 1);
        str_addc(s, '}');
        break;
    case LLVMArrayTypeKind:
        str_addf(s, "[%llu", (unsigned long long)LLVMGetArrayLength2(t));
        add_kinds(s, LLVMGetElementType(t), depth + 1);
        str_addc(s, ']');
        break;
    case LLVMIntegerTypeKind: str_addf(s, "i%u", LLVMGetIntTypeWidth(t)); break;
    default: str_addf(s, "k%d", (int)LLVMGetTypeKind(t));
    }
}

/* The same struct is one, though units may have made copies of its type: foo, foo.1,
 * foo.2. The length of the name without that. */
static size_t name_length(LLVMTypeRef t)
{
    const char *name = LLVMGetStructName(t);
    size_t n = strlen(name);

    for (;;) {
        size_t end = n;
        while (end > 1 && name[end - 1] >= '0' && name[end - 1] <= '9')
            end--;
        if (end == n || end < 2 || name[end - 1] != '.')
            return n;
        n = end - 1;
    }
}

static uint32_t struct_number(Flow *f, LLVMTypeRef t)
{
    uint32_t known = pttable_get(&f->struct_of, (uintptr_t)t);
    Str text = { 0 };

    if (known != NONE)
        return known;
    str_addn(&text, LLVMGetStructName(t), name_length(t));
    add_kinds(&text, t, 0);
    void **slot = map_slot(&f->structs, str_c(&text));
    if (!*slot)
        *slot = (void *)(uintptr_t)f->structs.len;
    known = (uint32_t)(uintptr_t)*slot;
    pttable_put(&f->struct_of, (uintptr_t)t, known);
    str_release(&text);
    return known;
}

/* Kinds of places, in their keys. */
#define VARIABLE (UINT64_C(1) << 62)
#define UNION    (UINT64_C(1) << 61)

static uint32_t place_at(Flow *f, uint64_t key)
{
    uint32_t node = pttable_get(&f->place_of, key);

    if (node != NONE)
        return node;
    node = node_new(f);
    f->nodes.items[node].is_place = true;
    f->nodes.items[node].is_field = !(key & VARIABLE);
    pttable_put(&f->place_of, key, node);
    if (!(key & VARIABLE))
        edge(f, node, f->fields);
    if (key & UNION) {
        edge(f, node, f->exposed);
        add_mark(f, node, MARK_EXPOSED);
    }
    return node;
}

static int64_t size_of(Flow *f, LLVMTypeRef t)
{
    return LLVMTypeIsSized(t) ? (int64_t)LLVMABISizeOfType(f->v->layout, t) : 0;
}

static bool is_named(LLVMTypeRef t)
{
    return LLVMGetTypeKind(t) == LLVMStructTypeKind && LLVMGetStructName(t) &&
           !LLVMIsOpaqueStruct(t);
}

static bool is_union(LLVMTypeRef t)
{
    return is_named(t) && !strncmp(LLVMGetStructName(t), "union.", 6);
}

/* The field of the innermost struct at an offset of a type; a union in it is one field. NONE:
 * it is in no struct (the variable itself is the place); strayed: in a union that is in no
 * struct, or in a struct without name, which other code knows by another name. */
static uint32_t field_place(Flow *f, LLVMTypeRef t, int64_t at)
{
    LLVMTypeRef in = NULL;
    int64_t in_at = 0;

    if (at < 0 || at >= size_of(f, t))
        return f->strayed;
    for (;;) {
        LLVMTypeKind k = LLVMGetTypeKind(t);
        if (k == LLVMArrayTypeKind) {
            t = LLVMGetElementType(t);
            if (!size_of(f, t))
                return f->strayed;
            in_at -= at - at % size_of(f, t);
            at %= size_of(f, t);
            continue;
        }
        if (k != LLVMStructTypeKind || (in && is_union(t)))
            break;
        if (!is_named(t) || is_union(t) || !LLVMCountStructElementTypes(t))
            return f->strayed;
        unsigned i = LLVMElementAtOffset(f->v->layout, t, (unsigned long long)at);
        in = t;
        in_at = at;
        at -= (int64_t)LLVMOffsetOfElement(f->v->layout, t, i);
        t = LLVMStructGetTypeAtIndex(t, i);
        if (at >= size_of(f, t))
            return f->strayed;
    }
    if (!in)
        return NONE;
    uint32_t node = place_at(f, (is_union(t) ? UNION : 0) | (uint64_t)struct_number(f, in) << 24 |
                                    ((uint64_t)(in_at - at) & 0xffffff));
    f->nodes.items[node].stored |= size_of(f, in) <= 8;   /* copies don't look like pieces */
    return node;
}

static bool is_gep(LLVMValueRef v)
{
    return LLVMIsAGetElementPtrInst(v) ||
           (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMGetElementPtr);
}

/* Where a getelementptr goes; an index that isn't known counts as 0. */
typedef struct Way {
    int64_t first, rest;      /* by its first index, by the others */
    LLVMTypeRef end;          /* the type that it arrives at */
    bool array;               /* the last index is one of an array */
    bool unknown;             /* its first index isn't known */
} Way;

static Way gep_way(Flow *f, LLVMValueRef gep)
{
    Way w = { .end = LLVMGetGEPSourceElementType(gep) };

    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        bool known = LLVMIsAConstantInt(index) && LLVMGetIntTypeWidth(LLVMTypeOf(index)) <= 64;
        int64_t k = known ? LLVMConstIntGetSExtValue(index) : 0;
        w.array = i > 1 && LLVMGetTypeKind(w.end) == LLVMArrayTypeKind;
        w.unknown |= i == 1 && !known;
        if (i > 1 && LLVMGetTypeKind(w.end) == LLVMStructTypeKind) {
            w.rest += (int64_t)LLVMOffsetOfElement(f->v->layout, w.end, (unsigned)k);
            w.end = LLVMStructGetTypeAtIndex(w.end, (unsigned)k);
            continue;
        }
        if (i > 1)
            w.end = LLVMGetElementType(w.end);
        int64_t bytes;
        if (__builtin_mul_overflow(k, size_of(f, w.end), &bytes) || bytes != (int32_t)bytes)
            bytes = INT32_MAX;                  /* behind all that we know */
        *(i > 1 ? &w.rest : &w.first) += bytes;
    }
    return w;
}

static LLVMTypeRef variable_type(LLVMValueRef v)
{
    return LLVMIsAAllocaInst(v)       ? LLVMGetAllocatedType(v)
           : LLVMIsAGlobalVariable(v) ? LLVMGlobalGetValueType(v)
                                      : NULL;
}

/* May elements of an array begin at the address? */
static bool is_array(Flow *f, LLVMValueRef address)
{
    LLVMTypeRef t = variable_type(address);

    return is_gep(address) ? gep_way(f, address).array
                           : !t || LLVMGetTypeKind(t) == LLVMArrayTypeKind;
}

static uint32_t variable_field(Flow *f, LLVMValueRef variable, int64_t at)
{
    return field_place(f, variable_type(variable), at);
}

/* Of a variable that is no struct. */
static uint32_t variable_place(Flow *f, LLVMValueRef variable)
{
    if (LLVMIsAGlobalVariable(variable) && LLVMIsDeclaration(variable))
        return f->strayed;
    return place_at(f, VARIABLE | ptvalues_number(f->v, variable));
}

/* The place of the memory `at` bytes behind an address: the variable's field, the field
 * that the address names, or the strayed place. */
static uint32_t place(Flow *f, LLVMValueRef address, int64_t at)
{
    LLVMTypeRef named = NULL;
    int64_t named_at = 0;

    for (int depth = 0; depth < 32; depth++) {
        if (is_gep(address)) {
            LLVMTypeRef t = LLVMGetGEPSourceElementType(address);
            Way w = gep_way(f, address);
            if (!named && is_named(t)) {
                named = t;
                named_at = at + w.rest;
            }
            at += w.first + w.rest;
            address = LLVMGetOperand(address, 0);
            if (w.unknown && !is_named(t) && !is_array(f, address))
                return f->strayed;
        } else if (LLVMIsAGlobalAlias(address)) {
            address = LLVMAliasGetAliasee(address);
        } else {
            break;
        }
    }
    uint32_t node = named ? field_place(f, named, named_at) : NONE;
    if (variable_type(address)) {
        /* The variable's own type says more, unless it is a buffer or a union. */
        uint32_t own = variable_field(f, address, at);
        if (own != NONE && own != f->strayed)
            return own;
        if (node == NONE)
            return own == NONE ? variable_place(f, address) : own;
    }
    return node == NONE ? f->strayed : node;
}

/* ---- values */

static void add_functions_in(Flow *f, uint32_t node, LLVMValueRef c, int depth)
{
    if (LLVMIsAGlobalAlias(c))
        c = LLVMAliasGetAliasee(c);
    if (LLVMIsAFunction(c)) {
        add_function(f, node, ptvalues_number(f->v, c));
    } else if (LLVMIsAGlobalIFunc(c)) {
        uint32_t i = pttable_get(&f->v->function_index, (uintptr_t)LLVMGetGlobalIFuncResolver(c));
        if (i != NONE)
            edge(f, f->ret[i], node);
    } else if (depth < 40 && !LLVMIsAGlobalVariable(c) && !LLVMIsABlockAddress(c) &&
               !LLVMIsNull(c)) {
        for (int i = 0; i < LLVMGetNumOperands(c); i++)
            add_functions_in(f, node, LLVMGetOperand(c, (unsigned)i), depth + 1);
    }
}

static uint32_t constant_node(Flow *f, LLVMValueRef c)
{
    if (LLVMIsNull(c) || LLVMIsUndef(c) || LLVMIsAConstantInt(c) || LLVMIsAConstantFP(c) ||
        LLVMIsAConstantDataSequential(c) || LLVMIsAInlineAsm(c) || LLVMIsAGlobalVariable(c))
        return NONE;
    uint32_t node = pttable_get(&f->constants, (uintptr_t)c);
    if (node != NONE)
        return node;
    node = node_new(f);
    pttable_put(&f->constants, (uintptr_t)c, node);
    add_functions_in(f, node, c, 0);
    return node;
}

static uint32_t value_node(Flow *f, LLVMValueRef v)
{
    if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMMetadataTypeKind || LLVMIsABasicBlock(v))
        return NONE;
    return LLVMIsAConstant(v) ? constant_node(f, v) : ptvalues_number(f->v, v);
}

/*
 * The address of a place is used as a value, so that others may write and read there: it
 * is exposed. The address of a struct isn't that of its first field.
 */
static void address_used(Flow *f, LLVMValueRef v, int depth)
{
    LLVMTypeRef t = is_gep(v) ? gep_way(f, v).end : variable_type(v);

    if (LLVMIsAConstantExpr(v) && !is_gep(v)) {
        for (int i = 0; i < LLVMGetNumOperands(v) && depth < 8; i++)
            address_used(f, LLVMGetOperand(v, (unsigned)i), depth + 1);
        return;
    }
    if (!t)
        return;
    while (LLVMGetTypeKind(t) == LLVMArrayTypeKind)
        t = LLVMGetElementType(t);
    if (is_named(t) && !is_union(t))
        return;
    uint32_t node = place(f, v, 0);
    if (node == f->strayed)
        return;
    edge(f, node, f->exposed);
    add_mark(f, node, MARK_STRAYED);
}

static void copy_operands(Flow *f, LLVMValueRef inst)
{
    uint32_t to = value_node(f, inst);

    for (int i = 0; i < LLVMGetNumOperands(inst); i++)
        edge(f, value_node(f, LLVMGetOperand(inst, (unsigned)i)), to);
}

/* ---- memory */

static bool is_byte_step(LLVMValueRef v)
{
    return is_gep(v) && LLVMGetNumOperands(v) == 2 &&
           LLVMGetTypeKind(LLVMGetGEPSourceElementType(v)) == LLVMIntegerTypeKind &&
           LLVMIsAConstantInt(LLVMGetOperand(v, 1));
}

/* Part of a struct that is copied as a whole? LLVM makes loads and stores of it, at offsets in
 * bytes, which name no field; the first part has no offset, but others beside it. */
static bool is_piece(LLVMValueRef address)
{
    if (is_byte_step(address))
        return true;
    if (is_gep(address) || LLVMIsAConstant(address))
        return false;
    LLVMUseRef u = LLVMGetFirstUse(address);
    for (int i = 0; u && i < 200; i++, u = LLVMGetNextUse(u))
        if (is_byte_step(LLVMGetUser(u)))
            return true;
    return false;
}

/* A value of type t goes to memory, or comes from it; structs part by part. */
static void access(Flow *f, LLVMValueRef address, int64_t at, LLVMTypeRef t, uint32_t value,
                   bool store)
{
    LLVMTypeKind k = LLVMGetTypeKind(t);

    if (k == LLVMStructTypeKind) {
        for (unsigned i = 0; i < LLVMCountStructElementTypes(t); i++)
            access(f, address, at + (int64_t)LLVMOffsetOfElement(f->v->layout, t, i),
                   LLVMStructGetTypeAtIndex(t, i), value, store);
        return;
    }
    if (k == LLVMArrayTypeKind) {
        access(f, address, at, LLVMGetElementType(t), value, store);
        return;
    }
    if (size_of(f, t) < 8 || value == NONE)
        return;
    uint32_t node = place(f, address, at);
    if (store) {
        f->nodes.items[node].stored = true;
        edge(f, value, node == f->strayed && is_piece(address) ? f->pieces : node);
    } else if (node == f->strayed) {
        add_mark(f, value, is_piece(address) ? MARK_FIELDS : MARK_EXPOSED);
    } else {
        edge(f, node, value);
    }
}

static void initialise(Flow *f, LLVMValueRef g, LLVMValueRef c, int64_t at)
{
    LLVMTypeRef t = LLVMTypeOf(c);
    LLVMTypeKind kind = LLVMGetTypeKind(t);

    if (LLVMIsNull(c) || LLVMIsUndef(c) || LLVMIsAConstantDataSequential(c))
        return;
    if (kind != LLVMStructTypeKind && kind != LLVMArrayTypeKind && kind != LLVMVectorTypeKind) {
        address_used(f, c, 0);
        uint32_t node = constant_node(f, c);
        uint32_t to = place(f, g, at);
        f->nodes.items[to].stored |= !LLVMIsGlobalConstant(g);
        edge(f, node, to);
        return;
    }
    for (int i = 0; i < LLVMGetNumOperands(c); i++) {
        int64_t off = kind == LLVMStructTypeKind
                          ? (int64_t)LLVMOffsetOfElement(f->v->layout, t, (unsigned)i)
                          : i * size_of(f, LLVMGetElementType(t));
        initialise(f, g, LLVMGetOperand(c, (unsigned)i), at + off);
    }
}

/* ---- calls */

/* What code outside gets it may call, with anything that it has. */
static void meet_direct(Flow *f, LLVMValueRef inst, LLVMValueRef fn)
{
    uint32_t index = pttable_get(&f->v->function_index, (uintptr_t)fn);
    const PtFunction *callee = index == NONE ? NULL : &f->v->functions.items[index];
    bool outside = !callee || LLVMIsDeclaration(fn);
    uint32_t result = value_node(f, inst);
    size_t n;
    const char *name = LLVMGetValueName2(fn, &n);
    /* One that we know doesn't write it into fields of the program. */
    uint32_t where = summaries_find(f->pt->summaries, name) ? f->exposed : f->strayed;

    if (outside && callee && pt_is_intrinsic(name)) {
        for (unsigned i = 0; i < LLVMGetNumArgOperands(inst); i++)
            edge(f, value_node(f, LLVMGetOperand(inst, i)), result);
        return;
    }
    for (unsigned i = 0; i < LLVMGetNumArgOperands(inst); i++) {
        uint32_t arg = value_node(f, LLVMGetOperand(inst, i));
        if (outside)
            edge(f, arg, where);
        else if (i >= callee->nparams && callee->variadic)
            edge(f, arg, f->exposed);
        else if (i < callee->nparams)
            edge(f, arg, callee->first_param + i);
    }
    if (outside)
        add_mark(f, result, MARK_EXPOSED);
    else
        edge(f, f->ret[index], result);
}

static void add_call(Flow *f, LLVMValueRef inst)
{
    LLVMValueRef callee = LLVMGetCalledValue(inst);
    FlowCall c = { .form = pt_call_form(f->pt, inst), .callee = value_node(f, callee) };

    if (c.callee == NONE)
        return;
    c.unnamed = LLVMIsALoadInst(callee) && place(f, LLVMGetOperand(callee, 0), 0) == f->strayed;
    vec_push(&f->calls, c);
    vec_push(&f->nodes.items[c.callee].calls, (uint32_t)f->calls.len - 1);
}

static void call(Flow *f, LLVMValueRef inst)
{
    LLVMValueRef callee = LLVMGetCalledValue(inst);

    if (LLVMIsAInlineAsm(callee)) {
        for (unsigned i = 0; i < LLVMGetNumArgOperands(inst); i++)
            edge(f, value_node(f, LLVMGetOperand(inst, i)), f->strayed);
        add_mark(f, value_node(f, inst), MARK_EXPOSED);
        return;
    }
    LLVMValueRef fn = pt_direct_target(callee);
    if (fn)
        meet_direct(f, inst, fn);
    else
        add_call(f, inst);
}

/* Intrinsics that get addresses but put no function there. */
static bool is_harmless(LLVMValueRef inst)
{
    size_t n;
    LLVMValueRef fn = LLVMIsACallInst(inst) ? LLVMGetCalledValue(inst) : NULL;
    const char *name = fn && LLVMIsAFunction(fn) ? LLVMGetValueName2(fn, &n) : "";

    return !strncmp(name, "llvm.memset", 11) || !strncmp(name, "llvm.lifetime", 13) ||
           !strncmp(name, "llvm.dbg", 8);
}

static void instruction(Flow *f, LLVMValueRef inst, uint32_t ret)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(inst);
    int n = LLVMGetNumOperands(inst);
    /* The operand that is an address to work at, not a value. */
    int address =
        op == LLVMLoad || op == LLVMGetElementPtr || op == LLVMAtomicRMW || op == LLVMAtomicCmpXchg
            ? 0
        : op == LLVMStore ? 1
                          : -1;

    for (int i = 0; i < n && op != LLVMICmp && !is_harmless(inst); i++)
        if (i != address)
            address_used(f, LLVMGetOperand(inst, (unsigned)i), 0);
    switch (op) {
    case LLVMLoad:
        access(f, LLVMGetOperand(inst, 0), 0, LLVMTypeOf(inst), value_node(f, inst), false);
        break;
    case LLVMStore: {
        LLVMValueRef v = LLVMGetOperand(inst, 0);
        access(f, LLVMGetOperand(inst, 1), 0, LLVMTypeOf(v), value_node(f, v), true);
        break;
    }
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: {
        LLVMValueRef v = LLVMGetOperand(inst, op == LLVMAtomicRMW ? 1 : 2);
        access(f, LLVMGetOperand(inst, 0), 0, LLVMTypeOf(v), value_node(f, v), true);
        access(f, LLVMGetOperand(inst, 0), 0, LLVMTypeOf(v), value_node(f, inst), false);
        break;
    }
    case LLVMPHI:
        for (unsigned i = 0; i < LLVMCountIncoming(inst); i++)
            edge(f, value_node(f, LLVMGetIncomingValue(inst, i)), value_node(f, inst));
        break;
    case LLVMRet:
        if (n)
            edge(f, value_node(f, LLVMGetOperand(inst, 0)), ret);
        break;
    case LLVMVAArg: add_mark(f, value_node(f, inst), MARK_EXPOSED); break;
    case LLVMCall:
    case LLVMInvoke:
    case LLVMCallBr: call(f, inst); break;
    case LLVMAdd:
    case LLVMSub:
        /* A difference of two pointers is none. */
        if (LLVMIsAConstant(LLVMGetOperand(inst, 0)) || LLVMIsAConstant(LLVMGetOperand(inst, 1)))
            copy_operands(f, inst);
        break;
    case LLVMSelect:
    case LLVMAnd:             /* tags */
    case LLVMOr:
    case LLVMXor:
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMFreeze:
    case LLVMExtractValue:
    case LLVMInsertValue:
    case LLVMExtractElement:
    case LLVMInsertElement:
    case LLVMShuffleVector:
        if (size_of(f, LLVMTypeOf(inst)) >= 8)
            copy_operands(f, inst);
        break;
    default: break;
    }
}

/* ---- places that calls of several types read */

/* The graph backwards, as it stands before functions travel. */
typedef struct Back {
    uint32_t *first, *from;   /* the sources of node i: from[first[i] … first[i + 1]) */
    LLVMTypeRef *type;        /* by node: of the calls that read it */
    bool *several;
} Back;

static void turn_edges(Flow *f, Back *b)
{
    size_t n = f->nodes.len, total = 0;

    b->first = xcalloc(n + 2, sizeof *b->first);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < f->nodes.items[i].succs.len; k++, total++)
            b->first[f->nodes.items[i].succs.items[k] + 2]++;
    for (size_t i = 2; i < n + 2; i++)
        b->first[i] += b->first[i - 1];
    b->from = xcalloc(total + 1, sizeof *b->from);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < f->nodes.items[i].succs.len; k++)
            b->from[b->first[f->nodes.items[i].succs.items[k] + 1]++] = (uint32_t)i;
}

/* Calls `see` for the places from which a call's function may come: backwards over
 * values, not beyond places. */
static bool sources(Flow *f, Back *b, const FlowCall *c,
                    bool see(Back *b, uint32_t place, const FlowCall *c))
{
    Vec(uint32_t) todo = { 0 };
    PtTable seen = { 0 };
    bool any = false;

    vec_push(&todo, c->callee);
    for (size_t i = 0; i < todo.len && i < 256; i++) {
        uint32_t node = todo.items[i];
        if (!pttable_put(&seen, node, 0))
            continue;
        if (f->nodes.items[node].is_place) {
            any |= see(b, node, c);
            continue;
        }
        for (uint32_t k = b->first[node]; k < b->first[node + 1]; k++)
            vec_push(&todo, b->from[k]);
    }
    vec_release(&todo);
    pttable_release(&seen);
    return any;
}

static bool reads(Back *b, uint32_t node, const FlowCall *c)
{
    if (pt_call_may_lack_prototype(&c->form))
        return false;
    b->several[node] |= b->type[node] && b->type[node] != c->form.type;
    b->type[node] = c->form.type;
    return false;
}

static bool is_read_by_several(Back *b, uint32_t node, const FlowCall *c)
{
    (void)c;
    return b->several[node];
}

static void find_generic(Flow *f)
{
    Back b = { 0 };

    turn_edges(f, &b);
    b.type = xcalloc(f->nodes.len, sizeof *b.type);
    b.several = xcalloc(f->nodes.len, sizeof *b.several);
    for (size_t i = 0; i < f->calls.len; i++)
        sources(f, &b, &f->calls.items[i], reads);
    for (size_t i = 0; i < f->calls.len; i++)
        f->calls.items[i].generic =
            f->calls.items[i].unnamed || sources(f, &b, &f->calls.items[i], is_read_by_several);
    free(b.first);
    free(b.from);
    free(b.type);
    free(b.several);
}

/* ---- solving */

static void members(Flow *f, uint32_t node, Numbers *to)
{
    for (PtIter i = ptbits_first(&f->nodes.items[node].functions); i.on; ptbits_next(&i))
        vec_push(to, i.x);
}

static bool take(Flow *f, uint32_t call, uint32_t function)
{
    if (!pttable_put(&f->met, (uint64_t)call << 32 | function, 0))
        return false;
    meet_direct(f, f->calls.items[call].form.inst, f->v->values[function]);
    return true;
}

/* A function reaches a call. Of those that don't fit, some are taken later. */
static void meet(Flow *f, uint32_t call, uint32_t function)
{
    if (pt_call_fits(&f->calls.items[call].form, f->v->values[function]))
        take(f, call, function);
}

/* A call whose set has a mark meets what the mark stands for. */
static void mark_meets(Flow *f, uint32_t call)
{
    Mark mark = f->nodes.items[f->calls.items[call].callee].mark;
    uint32_t from = mark == MARK_FIELDS    ? f->fields
                    : mark == MARK_EXPOSED ? f->exposed
                    : mark == MARK_STRAYED ? f->strayed
                                           : f->pieces;
    Numbers all = { 0 };

    members(f, from, &all);
    for (size_t i = 0; i < all.len && mark; i++)
        meet(f, call, all.items[i]);
    vec_release(&all);
}

/* What is exposed may be called from outside, with anything. */
static void more_is_exposed(Flow *f)
{
    Numbers all = { 0 };

    members(f, f->exposed, &all);
    for (size_t i = 0; i < all.len; i++) {
        const PtFunction *fn = ptvalues_function(f->v, f->v->values[all.items[i]]);
        for (uint32_t k = 0; fn && k < fn->nparams; k++)
            add_mark(f, fn->first_param + k, MARK_EXPOSED);
    }
    vec_release(&all);
}

/* "Any field" is for calls nearby. In other functions and in fields it would soon be true
 * of everything. */
static bool is_local(Flow *f, uint32_t node)
{
    return node < f->v->n && LLVMIsAInstruction(f->v->values[node]);
}

static bool is_common(Flow *f, uint32_t node)
{
    return node == f->pieces || node == f->strayed || node == f->exposed || node == f->fields;
}

static void visit(Flow *f, uint32_t node)
{
    FlowNode *n = &f->nodes.items[node];
    Numbers all = { 0 };

    n->queued = false;
    for (size_t i = 0; i < n->succs.len; i++) {
        uint32_t to = n->succs.items[i];
        if (ptbits_union(&f->nodes.items[to].functions, &n->functions, NULL))
            queue(f, to);
        if (!is_common(f, to))
            add_mark(f, to, n->mark == MARK_FIELDS && !is_local(f, to) ? MARK_EXPOSED : n->mark);
    }
    if (node == f->exposed)
        more_is_exposed(f);
    for (size_t i = 0; i < f->marked_calls.len && is_common(f, node); i++)
        mark_meets(f, f->marked_calls.items[i]);
    if (f->nodes.items[node].calls.len)
        members(f, node, &all);
    for (size_t c = 0; c < f->nodes.items[node].calls.len; c++) {
        uint32_t id = f->nodes.items[node].calls.items[c];
        for (size_t i = 0; i < all.len; i++)
            meet(f, id, all.items[i]);
        if (f->nodes.items[node].mark && !f->calls.items[id].marked) {
            f->calls.items[id].marked = true;
            vec_push(&f->marked_calls, id);
        }
        mark_meets(f, id);
    }
    vec_release(&all);
}

static void settle(Flow *f)
{
    while (f->work.len) {
        uint32_t node = f->work.items[--f->work.len];
        visit(f, node);
    }
}

/* Do functions of many types reach the call by places with a name? Then these hold
 * whatever there is, and nobody has cast it for this call. */
enum { MANY_TYPES = 8 };

static bool is_mixed(Flow *f, const FlowCall *c)
{
    LLVMTypeRef types[MANY_TYPES + 1];
    unsigned n = 0;

    for (PtIter i = ptbits_first(&f->nodes.items[c->callee].functions); i.on; ptbits_next(&i)) {
        LLVMTypeRef t = LLVMGlobalGetValueType(f->v->values[i.x]);
        unsigned k = 0;
        while (k < n && types[k] != t)
            k++;
        if (k == n)
            types[n++] = t;
        if (n > MANY_TYPES)
            return true;
    }
    return false;
}

/* Takes those that reach a call and could work, but for those in `except`. */
static bool take_what_works(Flow *f, uint32_t call, uint32_t from, const bool *except)
{
    const FlowCall *c = &f->calls.items[call];
    Numbers all = { 0 };
    bool any = false;

    members(f, from, &all);
    for (size_t i = 0; i < all.len; i++)
        if ((!except || !except[all.items[i]]) &&
            pt_call_could_work(&c->form, f->v->values[all.items[i]]))
            any |= take(f, call, all.items[i]);
    vec_release(&all);
    return any;
}

/* Functions that were cast: for the place that the call reads, or, if they fit no call at
 * all, for any that they reach. */
static bool take_cast(Flow *f)
{
    bool any = false, *fits = xcalloc(f->v->n + 1, 1);

    for (size_t i = 0; i < f->met.cap; i++)
        if (f->met.keys && f->met.keys[i])
            fits[(uint32_t)(f->met.keys[i] - 1)] = true;
    for (uint32_t i = 0; i < f->calls.len; i++) {
        FlowCall c = f->calls.items[i];
        bool generic = c.generic || is_mixed(f, &c);
        any |= take_what_works(f, i, c.unnamed ? f->exposed : c.callee, generic ? fits : NULL);
    }
    free(fits);
    return any;
}

/* ---- the whole */

static void build(Flow *f)
{
    for (LLVMValueRef g = LLVMGetFirstGlobal(f->v->module); g; g = LLVMGetNextGlobal(g)) {
        size_t n;
        if (!LLVMIsDeclaration(g) && strncmp(LLVMGetValueName2(g, &n), "llvm.", 5))
            initialise(f, g, LLVMGetInitializer(g), 0);
    }
    for (size_t i = 0; i < f->v->functions.len; i++) {
        LLVMValueRef fn = f->v->functions.items[i].fn;
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef x = LLVMGetFirstInstruction(b); x; x = LLVMGetNextInstruction(x))
                instruction(f, x, f->ret[i]);
        if (!f->pt->plan->open_world || LLVMIsDeclaration(fn) || !pt_is_exported(f->pt->plan, fn))
            continue;
        add_function(f, f->strayed, ptvalues_number(f->v, fn));
    }
    for (uint32_t i = 0; i < f->nodes.len; i++)
        if (f->nodes.items[i].is_field)
            add_mark(f, i,
                     f->nodes.items[i].stored || f->pt->plan->open_world ? MARK_STRAYED
                                                                         : MARK_PIECES);
}

static void hand_over(Flow *f)
{
    Pt *pt = f->pt;

    for (uint32_t c = 0; c < f->calls.len; c++) {
        const FlowNode *n = &f->nodes.items[f->calls.items[c].callee];
        uint32_t inst = ptvalues_number(f->v, f->calls.items[c].form.inst);
        if (!n->functions.len && !n->mark)
            continue;
        pttable_put(&pt->flow_known, inst, 0);
        for (PtIter i = ptbits_first(&n->functions); i.on; ptbits_next(&i))
            pttable_put(&pt->flow_seen, (uint64_t)inst << 32 | i.x, 0);
    }
    for (size_t i = 0; i < f->met.cap; i++)
        if (f->met.keys && f->met.keys[i]) {
            uint64_t key = f->met.keys[i] - 1;
            LLVMValueRef inst = f->calls.items[key >> 32].form.inst;
            pttable_put(&pt->flow_met, (uint64_t)ptvalues_number(f->v, inst) << 32 | (uint32_t)key,
                        0);
        }
}

static void release(Flow *f)
{
    for (size_t i = 0; i < f->nodes.len; i++) {
        ptbits_release(&f->nodes.items[i].functions);
        vec_release(&f->nodes.items[i].succs);
        vec_release(&f->nodes.items[i].calls);
    }
    vec_release(&f->nodes);
    vec_release(&f->calls);
    vec_release(&f->work);
    vec_release(&f->marked_calls);
    PtTable *tables[] = { &f->place_of, &f->struct_of, &f->constants, &f->met };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        pttable_release(tables[i]);
    map_release(&f->structs);
    free(f->ret);
}

void pt_flow(Pt *pt)
{
    Flow f = { .pt = pt, .v = pt->v };

    for (size_t i = 0; i < f.v->n; i++)
        node_new(&f);
    f.pieces = node_new(&f);
    f.strayed = node_new(&f);
    f.exposed = node_new(&f);
    f.fields = node_new(&f);
    edge(&f, f.pieces, f.strayed);
    edge(&f, f.strayed, f.exposed);
    edge(&f, f.exposed, f.fields);
    f.ret = xcalloc(f.v->functions.len + 1, sizeof *f.ret);
    for (size_t i = 0; i < f.v->functions.len; i++)
        f.ret[i] = node_new(&f);
    build(&f);
    find_generic(&f);
    do
        settle(&f);
    while (take_cast(&f));
    hand_over(&f);
    release(&f);
}
