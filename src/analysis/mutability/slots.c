/*
 * The source types of a pointer to functions that is called. They say which functions the
 * pointer is meant for, and which arguments it shows to code that nobody sees.
 *
 * A pointer is a parameter, a variable, or a member of a struct. IR names the struct, but LLVM makes one
 * of all structs that have the same shape when it links units. So every struct of the shape that
 * has a pointer to functions at the place counts, and all of them have to agree.
 *
 * Code that nobody sees is trusted to keep the const of the type that it is called with: it
 * neither casts it away, nor does it cast a pointer to a function to that type.
 */
#include "analysis/mutability/mutability_int.h"
#include <assert.h>

typedef Vec(const Type *) TypeList;

static const Type *function_type(const Type *t)
{
    t = type_plain(t);
    t = t->kind == TYPE_POINTER ? type_plain(t->target) : NULL;
    return t && t->kind == TYPE_FUNCTION ? t : NULL;
}

/* Adds the function types of a record's members at an offset; false: something there has no
 * type to go by. Members that point to data are not what is called. */
static bool add_members(const Type *record, uint64_t bit, TypeList *out)
{
    for (unsigned i = 0; i < record->nfields; i++) {
        const Field *f = &record->fields[i];
        const Type *t = type_plain(f->type);
        if (f->offset > bit || f->offset + (f->width ? f->width : 1) <= bit)
            continue;
        uint64_t inner = bit - f->offset;
        while (t->kind == TYPE_ARRAY && type_plain(t->target)->size) {
            t = type_plain(t->target);
            inner %= t->size * 8;
        }
        const Type *fn = function_type(t);
        if (type_is_record(t)) {
            if (!add_members(t, inner, out))
                return false;
        } else if (fn && fn->prototyped) {
            vec_push(out, fn);
        } else if (t->kind != TYPE_POINTER || fn || type_plain(t->target)->kind == TYPE_VOID) {
            return false;
        }
    }
    return true;
}

static const Field *field_at(const Type *record, uint64_t bit)
{
    for (unsigned i = 0; i < record->nfields; i++)
        if (record->fields[i].offset <= bit &&
            bit < record->fields[i].offset + record->fields[i].width)
            return &record->fields[i];
    return NULL;
}

/* Can the IR have this element for what stands at its offset? */
static bool has_element(const Type *record, LLVMTypeRef element, uint64_t offset)
{
    const Field *f = field_at(record, offset * 8);
    const Type *t = f ? type_plain(f->type) : NULL;
    LLVMTypeKind kind = LLVMGetTypeKind(element);

    if (kind == LLVMArrayTypeKind || (f && f->bit_field))
        return true;                         /* also of what is left over */
    if (!t || f->offset != offset * 8)
        return false;
    if (kind == LLVMPointerTypeKind)
        return t->kind == TYPE_POINTER;
    if (kind == LLVMStructTypeKind)
        return type_is_record(t);
    if (kind == LLVMIntegerTypeKind)
        return (t->kind == TYPE_SCALAR || t->kind == TYPE_ENUM) &&
               t->size * 8 == LLVMGetIntTypeWidth(element);
    return t->kind == TYPE_SCALAR || t->kind == TYPE_VECTOR;
}

/* May the struct of the IR stand for the record of the source? */
static bool has_shape(const Mutability *m, const Type *t, LLVMTypeRef ir)
{
    unsigned n = LLVMCountStructElementTypes(ir);

    if (t->incomplete || t->size != LLVMABISizeOfType(m->layout, ir))
        return false;
    if (t->kind == TYPE_UNION)
        return n <= 2;                       /* one member and what is left over */
    for (unsigned i = 0; t->kind == TYPE_STRUCT && i < n; i++)
        if (!has_element(t, LLVMStructGetTypeAtIndex(ir, i), LLVMOffsetOfElement(m->layout, ir, i)))
            return false;
    return t->kind == TYPE_STRUCT;
}

static bool add_slots(const Mutability *m, LLVMValueRef address, TypeList *out)
{
    while (LLVMIsAGetElementPtrInst(address) &&
           LLVMGetTypeKind(LLVMGetGEPSourceElementType(address)) != LLVMStructTypeKind)
        address = LLVMGetOperand(address, 0);
    Member at = mut_member(m, address);
    size_t n;
    const Type *const *all = types_all(program_types(m->program), &n);

    for (size_t i = 0; at.known && i < n; i++)
        if (has_shape(m, all[i], at.top) && !add_members(all[i], (uint64_t)at.outer * 8, out))
            return false;
    return at.known;
}

static bool add_parameter(const Body *b, LLVMValueRef callee, TypeList *out)
{
    for (unsigned i = 0; i < b->fn->nparams; i++) {
        const Param *p = &b->fn->params[i];
        const Type *t = p->type ? function_type(p->type) : NULL;
        if (t && t->prototyped && p->nargs == 1 && LLVMGetParam(b->value, p->first_arg) == callee)
            vec_push(out, t);
    }
    return true;
}

/* A variable that holds the function, or an array of functions. */
static bool add_variable(const Mutability *m, LLVMValueRef address, TypeList *out)
{
    while (LLVMIsAGetElementPtrInst(address) ||
           (LLVMIsAConstantExpr(address) && LLVMGetConstOpcode(address) == LLVMGetElementPtr))
        address = LLVMGetOperand(address, 0);
    size_t n, len;
    const Variable *all = program_variables(m->program, &n);
    const char *symbol = LLVMIsAGlobalVariable(address) ? LLVMGetValueName2(address, &len) : NULL;

    for (size_t i = 0; symbol && i < n; i++) {
        if (strcmp(all[i].symbol, symbol) != 0)
            continue;
        const Type *t = all[i].type ? type_plain(all[i].type) : NULL;
        while (t && t->kind == TYPE_ARRAY)
            t = type_plain(t->target);
        t = t ? function_type(t) : NULL;
        if (t && t->prototyped)
            vec_push(out, t);
        return t && t->prototyped;
    }
    return false;
}

bool mut_is_exported(LLVMValueRef fn)
{
    return !LLVMIsDeclaration(fn) && LLVMGetLinkage(fn) == LLVMExternalLinkage;
}

/* ---- arguments that code outside sees as const */

static bool is_to_const(const Type *t)
{
    t = type_plain(t);
    return t->kind == TYPE_POINTER && type_has_qualifier(t->target, QUALIFIER_CONST);
}

/* By argument: it points to const (`qualified`), or to something that is not. */
static uint64_t pointers(const Type *called, bool qualified)
{
    uint64_t mask = 0;

    if (called->variadic || called->nparams > 64 || type_is_record(called->target))
        return 0;
    for (unsigned i = 0; i < called->nparams; i++) {
        const Type *t = type_plain(called->params[i]);
        if (type_is_record(t))
            return 0;                        /* in one register, in two or in memory? */
        mask |= (uint64_t)(t->kind == TYPE_POINTER && is_to_const(t) == qualified) << i;
    }
    return mask;
}

static uint64_t all_agree(const SlotTypes *s, bool qualified)
{
    uint64_t mask = s->n ? UINT64_MAX : 0;

    for (unsigned i = 0; mask && i < s->n; i++)
        mask &= s->types[i]->nparams == s->types[0]->nparams ? pointers(s->types[i], qualified) : 0;
    return mask;
}

const SlotTypes *mut_slot_types(Mutability *m, const Body *b, LLVMValueRef callee)
{
    uint32_t i = pttable_get(&m->slot_of, (uintptr_t)callee);
    TypeList found = { 0 };
    bool known = false;

    if (i != NONE)
        return m->slots.items[i];
    if (LLVMIsALoadInst(callee))
        known = add_slots(m, LLVMGetOperand(callee, 0), &found) ||
                add_variable(m, LLVMGetOperand(callee, 0), &found);
    else if (LLVMIsAArgument(callee))
        known = add_parameter(b, callee, &found);
    SlotTypes *s = arena_array(&m->arena, SlotTypes, 1);
    s->n = known ? (unsigned)found.len : 0;
    s->types = arena_array(&m->arena, const Type *, s->n + 1);
    if (s->n)
        memcpy(s->types, found.items, s->n * sizeof *s->types);
    s->shown = m->finds_names ? 0 : all_agree(s, true);
    s->offered = all_agree(s, false);
    vec_release(&found);
    pttable_put(&m->slot_of, (uintptr_t)callee, (uint32_t)m->slots.len);
    vec_push(&m->slots, s);
    return s;
}

/* ---- questions */

static bool fits(const Type *a, const Type *b)
{
    a = type_plain(a);
    b = type_plain(b);
    if (a->kind == TYPE_POINTER && b->kind == TYPE_POINTER) {
        const Type *x = type_plain(a->target), *y = type_plain(b->target);
        if ((type_is_record(x) && y->kind == TYPE_POINTER) ||
            (x->kind == TYPE_POINTER && type_is_record(y)))
            return false;                    /* struct S * for void ** */
        return !type_is_record(x) || !type_is_record(y) || x == y || x->incomplete || y->incomplete;
    }
    return true;
}

static bool fits_all(const Type *called, const Type *fn)
{
    if (called->nparams != fn->nparams)
        return false;
    for (unsigned i = 0; i < called->nparams; i++)
        if (!fits(called->params[i], fn->params[i]))
            return false;
    return true;
}

bool mut_is_meant(const Mutability *m, const SlotTypes *s, LLVMValueRef fn)
{
    const Function *f = program_function_of(m->program, fn);

    if (!s->n || !f || !f->type || !f->prototyped)
        return true;
    for (unsigned i = 0; i < s->n; i++)
        if (fits_all(s->types[i], f->type))
            return true;
    return false;
}

MutReasonKind mut_slot_reason(const SlotTypes *s, unsigned nargs, unsigned arg)
{
    assert(arg < nargs && nargs <= 64);
    if (!s->n || s->types[0]->nparams != nargs)
        return MUT_NO_TARGET;
    return s->shown >> arg & 1 ? MUT_SHOWN : s->offered >> arg & 1 ? MUT_OFFERED : MUT_NO_TARGET;
}
