/*
 * Instructions as rows of a region's description (runtime/concolic/concolic.h).
 *
 * An operand is a word of the description if it is constant, else a slot: of an
 * earlier row's result, or of a value from outside, which the cold path fills
 * in. What a row can't say is LOST: its result is concrete from there on, and
 * that is noted when it happens.
 */
#include "weave/concolic/concolic_int.h"
#include <assert.h>
#include <string.h>

static Region *region_of(Body *b)
{
    assert(b->pieces.len);
    return &b->pieces.items[b->pieces.len - 1].region;
}

/* ---- operands */

static uint16_t new_slot(Body *b, Ref ref, bool result, bool wide)
{
    Region *r = region_of(b);
    uint16_t n = (uint16_t)r->slots.len;
    assert(r->slots.len < SUNDEW_WORD);      /* from there on numbers mean words */
    vec_push(&r->slots, ((Slot){ .ref = ref, .result = result, .wide = wide }));
    if (wide)
        vec_push(&r->slots, ((Slot){ 0 }));
    return n;
}

static uint16_t temporary(Body *b, unsigned bits)
{
    return new_slot(b, (Ref){ 0 }, true, bits > 64);
}

static uint16_t word(Body *b, uint64_t value)
{
    Region *r = region_of(b);
    LLVMValueRef v = LLVMConstInt(b->w->i64, value, false);
    for (size_t i = 0; i < r->words.len; i++)
        if (r->words.items[i] == v)
            return (uint16_t)(SUNDEW_WORD | i);
    vec_push(&r->words, v);
    assert(r->words.len <= SUNDEW_WORD - 1);
    return (uint16_t)(SUNDEW_WORD | (r->words.len - 1));
}

/* Is the address known when the program is linked? */
static bool is_link_constant(LLVMValueRef c)
{
    if (LLVMIsAGlobalVariable(c) && LLVMIsThreadLocal(c))
        return false;
    if (LLVMIsABlockAddress(c))
        return false;
    if (LLVMIsAGlobalAlias(c) || LLVMIsAGlobalIFunc(c))
        return false;
    int n = LLVMIsAConstantExpr(c) ? LLVMGetNumOperands(c) : 0;
    for (int i = 0; i < n; i++)
        if (!is_link_constant(LLVMGetOperand(c, (unsigned)i)))
            return false;
    return true;
}

static bool constant_words(Body *b, LLVMValueRef v, uint16_t *out)
{
    Region *r = region_of(b);
    LLVMValueRef words[2];
    if (LLVMIsUndef(v) || LLVMIsPoison(v) || LLVMIsNull(v))
        v = LLVMConstNull(LLVMTypeOf(v));
    if (!is_link_constant(v))
        return false;
    unsigned n = to_words(b->w, v, words);
    for (unsigned k = 0; k < n; k++)
        if (!LLVMIsConstant(words[k]))
            return false;
    if (n == 1 && LLVMIsAConstantInt(words[0])) {
        *out = word(b, LLVMConstIntGetZExtValue(words[0]));
        return true;
    }
    *out = (uint16_t)(SUNDEW_WORD | r->words.len);
    for (unsigned k = 0; k < n; k++)
        vec_push(&r->words, words[k]);
    return true;
}

static uint16_t operand_ref(Body *b, Ref ref)
{
    unsigned piece = (unsigned)b->pieces.len - 1;
    uint16_t n;
    if (!ref.val) {
        if (!ref.v)
            return word(b, 0);
        if (constant_words(b, ref.v, &n))
            return n;
        return new_slot(b, ref, false, concolic_bits(b->w, LLVMTypeOf(ref.v)) > 64);
    }
    Val *v = ref.val;
    assert(ref.leaf < MOST_LEAVES);
    if (v->region != piece + 1) {
        v->region = piece + 1;
        memset(v->slots, 0xff, sizeof v->slots);
    }
    if (v->slots[ref.leaf] == SUNDEW_NONE) {
        Leaves l = v->leaves.n ? v->leaves : concolic_leaves(b->w, LLVMTypeOf(v->v));
        unsigned bits = ref.leaf < l.n ? l.at[ref.leaf].bits : 64;
        v->slots[ref.leaf] = new_slot(b, ref, false, bits > 64);
        use_label(b, ref, piece);
    }
    return v->slots[ref.leaf];
}

static uint16_t operand(Body *b, LLVMValueRef v) { return operand_ref(b, ref_of(b, v, 0)); }

static uint16_t result_slot(Body *b, Val *v, unsigned leaf)
{
    unsigned piece = (unsigned)b->pieces.len - 1;
    assert(leaf < v->leaves.n);
    if (v->region != piece + 1) {
        v->region = piece + 1;
        memset(v->slots, 0xff, sizeof v->slots);
    }
    Ref ref = { v->v, leaf, v };
    v->slots[leaf] = new_slot(b, ref, true, v->leaves.at[leaf].bits > 64);
    return v->slots[leaf];
}

static struct sundew_row *add_row(Body *b, Val *v, unsigned op, unsigned bits)
{
    assert(op <= UINT8_MAX && bits <= 128);
    struct sundew_row *r = vec_grow(&region_of(b)->rows);
    r->op = (uint8_t)op;
    r->bits = (uint8_t)bits;
    r->dst = r->a = r->b = r->c = SUNDEW_NONE;
    r->flags = v && v->outside ? SUNDEW_ROW_OUTSIDE : 0;
    r->x = v ? v->site : 0;
    return r;
}

static unsigned bits_of(Body *b, LLVMValueRef v) { return concolic_bits(b->w, LLVMTypeOf(v)); }

/* dst = op(operands); the slots are found before the row is added, because that
 * moves rows. */
static struct sundew_row *add_op(Body *b, Val *v, unsigned op, unsigned n, LLVMValueRef *args)
{
    uint16_t slots[3] = { SUNDEW_NONE, SUNDEW_NONE, SUNDEW_NONE };
    unsigned bits = v->leaves.n ? v->leaves.at[0].bits : bits_of(b, v->v);
    for (unsigned k = 0; k < n; k++)
        slots[k] = operand(b, args[k]);
    uint16_t dst = v->labelled ? result_slot(b, v, 0) : temporary(b, bits);
    struct sundew_row *r = add_row(b, v, op, bits);
    r->dst = dst;
    r->a = slots[0];
    r->b = slots[1];
    r->c = slots[2];
    return r;
}

/* A row for each labelled scalar of a value. */
static void note(Body *b, LLVMValueRef value, unsigned op, unsigned why, uint32_t site)
{
    Leaves l = concolic_leaves(b->w, LLVMTypeOf(value));
    for (unsigned k = 0; k < l.n; k++) {
        Ref ref = ref_of(b, value, k);
        if (!ref.val || !ref.val->labelled)
            continue;
        uint16_t a = operand_ref(b, ref);
        struct sundew_row *r = add_row(b, NULL, op, l.at[k].bits);
        r->a = a;
        r->k = (uint16_t)why;
        r->x = site;
    }
}

void row_pin(Body *b, LLVMValueRef value, unsigned why, uint32_t site)
{
    note(b, value, SUNDEW_ROW_PIN, why, site);
}

void row_lost(Body *b, LLVMValueRef value, unsigned why, uint32_t site)
{
    note(b, value, SUNDEW_ROW_LOST, why, site);
}

/* clang-format off */
static const struct allocator {
    const char *name;
    int size, times;             /* arguments; -1: none */
} allocators[] = {
    { "malloc", 0, -1 },         { "calloc", 0, 1 },      { "realloc", 1, -1 },
    { "reallocarray", 1, 2 },    { "aligned_alloc", 1, -1 }, { "memalign", 1, -1 },
    { "valloc", 0, -1 },
};
/* clang-format on */

bool row_allocation(Body *b, Val *v, const char *name)
{
    unsigned n = LLVMGetNumArgOperands(v->v);
    if (str_starts(name, "sundew_"))
        name += strlen("sundew_");
    for (size_t i = 0; i < sizeof allocators / sizeof *allocators; i++) {
        const struct allocator *a = &allocators[i];
        if (strcmp(a->name, name) != 0 || (unsigned)a->size >= n || a->times >= (int)n)
            continue;
        LLVMValueRef size = LLVMGetOperand(v->v, (unsigned)a->size);
        uint16_t x = operand(b, size), y = SUNDEW_NONE;
        if (a->times >= 0)
            y = operand(b, LLVMGetOperand(v->v, (unsigned)a->times));
        struct sundew_row *r =
            add_row(b, NULL, SUNDEW_ROW_ALLOCATION, concolic_bits(b->w, LLVMTypeOf(size)));
        r->a = x;
        r->b = y;
        r->x = v->site;
        row_pin(b, size, SUNDEW_WHY_SIZE, v->site);
        if (a->times >= 0)
            row_pin(b, LLVMGetOperand(v->v, (unsigned)a->times), SUNDEW_WHY_SIZE, v->site);
        return true;
    }
    return false;
}

/* ---- arithmetic */

static bool is_scalar(LLVMValueRef v)
{
    LLVMTypeKind k = LLVMGetTypeKind(LLVMTypeOf(v));
    return k == LLVMIntegerTypeKind || k == LLVMPointerTypeKind || k == LLVMFloatTypeKind ||
           k == LLVMDoubleTypeKind;
}

static unsigned why_lost(LLVMValueRef v)
{
    switch (LLVMGetTypeKind(LLVMTypeOf(v))) {
    case LLVMIntegerTypeKind:
    case LLVMArrayTypeKind:
    case LLVMStructTypeKind: return SUNDEW_WHY_WIDE;
    default: return SUNDEW_WHY_FLOAT;
    }
}

/* What it computes is not followed; said if an operand has a label. */
static void lose(Body *b, Val *v)
{
    uint16_t seen[3] = { SUNDEW_NONE, SUNDEW_NONE, SUNDEW_NONE };
    int n = LLVMGetNumOperands(v->v);
    unsigned k = 0;
    for (int i = 0; i < n && k < 3; i++) {
        Ref ref = ref_of(b, LLVMGetOperand(v->v, (unsigned)i), 0);
        if (ref.val && ref.val->labelled)
            seen[k++] = operand_ref(b, ref);
    }
    uint16_t dst = SUNDEW_NONE;
    for (unsigned l = 0; v->labelled && l < v->leaves.n; l++) {
        uint16_t s = result_slot(b, v, l);
        dst = l ? dst : s;
        if (l) {                 /* concrete too */
            struct sundew_row *r = add_row(b, NULL, SUNDEW_ROW_LOST, 1);
            r->dst = s;
            r->k = SUNDEW_WHY_WIDE;
        }
    }
    if (k == 0 && dst == SUNDEW_NONE)
        return;
    struct sundew_row *r = add_row(b, v, SUNDEW_ROW_LOST, 1);
    r->dst = dst;
    r->a = seen[0];
    r->b = seen[1];
    r->c = seen[2];
    r->k = (uint16_t)why_lost(LLVMGetNumOperands(v->v) ? LLVMGetOperand(v->v, 0) : v->v);
}

static void row_binary(Body *b, Val *v, unsigned op)
{
    LLVMValueRef args[] = { LLVMGetOperand(v->v, 0), LLVMGetOperand(v->v, 1) };
    bool is_signed = (op == SUNDEW_NODE_ADD || op == SUNDEW_NODE_SUB || op == SUNDEW_NODE_MUL ||
                      op == SUNDEW_NODE_SHL) &&
                     b->t->fn && LLVMGetNSW(v->v);   /* in a standin it is LLVM's own finding */
    if (!is_scalar(v->v) || !bits_of(b, v->v)) {
        lose(b, v);
        return;
    }
    struct sundew_row *r = add_op(b, v, op, 2, args);
    if (is_signed)
        r->flags |= SUNDEW_ROW_SIGNED;
}

static unsigned int_compare(LLVMIntPredicate p)
{
    switch (p) {
    case LLVMIntEQ: return SUNDEW_NODE_EQ;
    case LLVMIntNE: return SUNDEW_NODE_NE;
    case LLVMIntUGT: return SUNDEW_NODE_UGT;
    case LLVMIntUGE: return SUNDEW_NODE_UGE;
    case LLVMIntULT: return SUNDEW_NODE_ULT;
    case LLVMIntULE: return SUNDEW_NODE_ULE;
    case LLVMIntSGT: return SUNDEW_NODE_SGT;
    case LLVMIntSGE: return SUNDEW_NODE_SGE;
    case LLVMIntSLT: return SUNDEW_NODE_SLT;
    case LLVMIntSLE: return SUNDEW_NODE_SLE;
    }
    return SUNDEW_NODE_EQ;
}

static unsigned real_compare(LLVMRealPredicate p)
{
    switch (p) {
    case LLVMRealOEQ: return SUNDEW_NODE_FOEQ;
    case LLVMRealOGT: return SUNDEW_NODE_FOGT;
    case LLVMRealOGE: return SUNDEW_NODE_FOGE;
    case LLVMRealOLT: return SUNDEW_NODE_FOLT;
    case LLVMRealOLE: return SUNDEW_NODE_FOLE;
    case LLVMRealONE: return SUNDEW_NODE_FONE;
    case LLVMRealORD: return SUNDEW_NODE_FORD;
    case LLVMRealUNO: return SUNDEW_NODE_FUNO;
    case LLVMRealUEQ: return SUNDEW_NODE_FUEQ;
    case LLVMRealUGT: return SUNDEW_NODE_FUGT;
    case LLVMRealUGE: return SUNDEW_NODE_FUGE;
    case LLVMRealULT: return SUNDEW_NODE_FULT;
    case LLVMRealULE: return SUNDEW_NODE_FULE;
    case LLVMRealUNE: return SUNDEW_NODE_FUNE;
    default: return 0;
    }
}

static void row_compare(Body *b, Val *v)
{
    LLVMValueRef args[] = { LLVMGetOperand(v->v, 0), LLVMGetOperand(v->v, 1) };
    bool ints = LLVMGetInstructionOpcode(v->v) == LLVMICmp;
    unsigned op =
        ints ? int_compare(LLVMGetICmpPredicate(v->v)) : real_compare(LLVMGetFCmpPredicate(v->v));
    unsigned from = bits_of(b, args[0]);
    if (!is_scalar(args[0]) || !from || !op)
        lose(b, v);
    else
        add_op(b, v, op, 2, args)->from = (uint8_t)from;
}

static void row_cast(Body *b, Val *v, unsigned op)
{
    LLVMValueRef arg = LLVMGetOperand(v->v, 0);
    unsigned from = bits_of(b, arg), to = bits_of(b, v->v);
    if (!is_scalar(arg) || !is_scalar(v->v) || !from || !to)
        lose(b, v);
    else
        add_op(b, v, op, 1, &arg)->from = (uint8_t)from;
}

/* Addresses and integers of another width. */
static void row_pointer_cast(Body *b, Val *v)
{
    unsigned from = bits_of(b, LLVMGetOperand(v->v, 0)), to = bits_of(b, v->v);
    if (from != to)
        row_cast(b, v, to < from ? SUNDEW_NODE_EXTRACT : SUNDEW_NODE_ZEXT);
}

static void row_select(Body *b, Val *v)
{
    LLVMValueRef cond = LLVMGetOperand(v->v, 0);
    if (!v->labelled)
        return;
    if (LLVMTypeOf(cond) != b->w->i1) {
        lose(b, v);
        return;
    }
    for (unsigned k = 0; k < v->leaves.n; k++) {
        uint16_t c = operand(b, cond);
        uint16_t yes = operand_ref(b, ref_of(b, LLVMGetOperand(v->v, 1), k));
        uint16_t no = operand_ref(b, ref_of(b, LLVMGetOperand(v->v, 2), k));
        uint16_t dst = result_slot(b, v, k);
        struct sundew_row *r = add_row(b, v, SUNDEW_NODE_ITE, v->leaves.at[k].bits);
        r->a = c;
        r->b = yes;
        r->c = no;
        r->dst = dst;
    }
}

/* ---- memory */

static void touch(Body *b, LLVMValueRef p, uint64_t size)
{
    Region *r = region_of(b);
    int64_t offset = 0;
    while (LLVMIsAGetElementPtrInst(p) && val_of(b, p)) {
        int64_t at = 0;
        LLVMTypeRef t = LLVMGetGEPSourceElementType(p);
        unsigned n = LLVMGetNumIndices(p);
        bool constant = LLVMTypeOf(LLVMGetOperand(p, 0)) == b->w->ptr;
        for (unsigned k = 0; k < n && constant; k++) {
            LLVMValueRef i = LLVMGetOperand(p, k + 1);
            constant = LLVMIsAConstantInt(i) != NULL;
            if (!constant)
                break;
            int64_t index = LLVMConstIntGetSExtValue(i);
            if (k && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
                at += (int64_t)LLVMOffsetOfElement(b->w->layout, t, (unsigned)index);
                t = LLVMStructGetTypeAtIndex(t, (unsigned)index);
            } else {
                t = k ? LLVMGetElementType(t) : t;
                at += index * (int64_t)LLVMABISizeOfType(b->w->layout, t);
            }
        }
        if (!constant)
            break;
        offset += at;
        p = LLVMGetOperand(p, 0);
    }
    int64_t low = offset, high = offset + (int64_t)size;
    for (size_t i = 0; i < r->touches.len; i++) {
        Touch *t = &r->touches.items[i];
        int64_t l = t->low < low ? t->low : low, h = t->high > high ? t->high : high;
        if (t->base == p && h - l <= 80) {
            t->low = l;
            t->high = h;
            return;
        }
    }
    vec_push(&r->touches, ((Touch){ p, low, high }));
}

static bool is_flat(LLVMValueRef pointer)
{
    LLVMTypeRef t = LLVMTypeOf(pointer);
    return LLVMGetTypeKind(t) == LLVMPointerTypeKind && LLVMGetPointerAddressSpace(t) == 0;
}

/* The address of a part. */
static uint16_t part_address(Body *b, Val *v, uint16_t at, uint64_t offset)
{
    if (!offset)
        return at;
    uint16_t k = word(b, offset), one = word(b, 1), dst = temporary(b, 64);
    struct sundew_row *r = add_row(b, v, SUNDEW_ROW_ADDRESS, 64);
    r->a = at;
    r->b = k;
    r->c = one;
    r->from = 64;
    r->dst = dst;
    return dst;
}

static void row_load(Body *b, Val *v)
{
    LLVMValueRef p = LLVMGetOperand(v->v, 0);
    if (!is_flat(p))
        return;
    Leaves l = concolic_leaves(b->w, LLVMTypeOf(v->v));
    if (!v->labelled || !l.n) {
        row_pin(b, p, SUNDEW_WHY_ADDRESS, v->site);
        return;
    }
    touch(b, p, concolic_size(b->w, LLVMTypeOf(v->v)));
    for (unsigned k = 0; k < l.n; k++) {
        uint16_t a = part_address(b, v, operand(b, p), l.at[k].offset);
        uint16_t dst = result_slot(b, v, k);
        struct sundew_row *r = add_row(b, v, SUNDEW_ROW_LOAD, l.at[k].bits);
        r->a = a;
        r->dst = dst;
    }
}

static void store_parts(Body *b, Val *v, LLVMValueRef value, LLVMValueRef p)
{
    Leaves l = concolic_leaves(b->w, LLVMTypeOf(value));
    touch(b, p, concolic_size(b->w, LLVMTypeOf(value)));
    for (unsigned k = 0; k < l.n; k++) {
        uint16_t a = part_address(b, v, operand(b, p), l.at[k].offset);
        uint16_t x = operand_ref(b, ref_of(b, value, k));
        struct sundew_row *r = add_row(b, v, SUNDEW_ROW_STORE, l.at[k].bits);
        r->a = a;
        r->b = x;
    }
}

static void row_store(Body *b, Val *v)
{
    LLVMValueRef value = LLVMGetOperand(v->v, 0), p = LLVMGetOperand(v->v, 1);
    if (!is_flat(p))
        return;
    if (concolic_leaves(b->w, LLVMTypeOf(value)).n)
        store_parts(b, v, value, p);
    else
        row_pin(b, p, SUNDEW_WHY_ADDRESS, v->site);
}

/* ---- a + i * scale + offset */

/* How large is the array that begins at p, as far as types tell? */
static uint64_t extent_of(Body *b, LLVMValueRef p)
{
    if (LLVMIsAAllocaInst(p) && LLVMIsAConstantInt(LLVMGetOperand(p, 0)))
        return concolic_size(b->w, LLVMGetAllocatedType(p)) *
               LLVMConstIntGetZExtValue(LLVMGetOperand(p, 0));
    if (LLVMIsAGlobalVariable(p) && !LLVMIsDeclaration(p))
        return concolic_size(b->w, LLVMGlobalGetValueType(p));
    return 0;
}

typedef struct Address {
    Body *b;
    Val *v;
    uint16_t at;                 /* so far */
    int64_t offset;              /* to be added */
    uint64_t extent;             /* of what begins at `at`, if offset is 0; 0: not known */
} Address;

static void add_index(Address *x, uint16_t index, unsigned from, uint64_t scale, uint64_t extent,
                      uint16_t dst)
{
    Body *b = x->b;
    uint16_t k = word(b, scale);
    uint16_t size = extent ? (uint16_t)(1 + (word(b, extent) & ~SUNDEW_WORD)) : 0;
    struct sundew_row *r = add_row(b, x->v, SUNDEW_ROW_ADDRESS, 64);
    r->a = x->at;
    r->b = index;
    r->c = k;
    r->from = (uint8_t)from;
    r->object = size;
    r->dst = dst;
    x->at = dst;
}

static void add_offset(Address *x)
{
    if (!x->offset)
        return;
    add_index(x, word(x->b, (uint64_t)x->offset), 64, 1, 0, temporary(x->b, 64));
    x->offset = 0;
}

static bool add_steps(Address *x, LLVMValueRef gep)
{
    Body *b = x->b;
    LLVMTypeRef t = LLVMGetGEPSourceElementType(gep);
    unsigned n = LLVMGetNumIndices(gep);
    uint64_t extent = extent_of(b, LLVMGetOperand(gep, 0));
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef i = LLVMGetOperand(gep, k + 1);
        if (k && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            unsigned field = (unsigned)LLVMConstIntGetZExtValue(i);
            x->offset += (int64_t)LLVMOffsetOfElement(b->w->layout, t, field);
            t = LLVMStructGetTypeAtIndex(t, field);
            continue;
        }
        if (k) {
            extent = LLVMGetTypeKind(t) == LLVMArrayTypeKind ? concolic_size(b->w, t) : 0;
            t = LLVMGetElementType(t);
        }
        uint64_t scale = LLVMABISizeOfType(b->w->layout, t);
        if (LLVMIsAConstantInt(i) && LLVMGetIntTypeWidth(LLVMTypeOf(i)) <= 64) {
            x->offset += LLVMConstIntGetSExtValue(i) * (int64_t)scale;
            continue;
        }
        unsigned from = bits_of(b, i);
        if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMIntegerTypeKind || !from || from > 64)
            return false;
        add_offset(x);
        uint16_t index = operand(b, i);
        add_index(x, index, from, scale, k ? extent : extent_of(b, LLVMGetOperand(gep, 0)),
                  temporary(b, 64));
    }
    return true;
}

static void row_gep(Body *b, Val *v)
{
    LLVMValueRef base = LLVMGetOperand(v->v, 0);
    if (!v->labelled)
        return;
    if (LLVMTypeOf(v->v) != b->w->ptr || LLVMTypeOf(base) != b->w->ptr) {
        lose(b, v);
        return;
    }
    Address x = { .b = b, .v = v, .at = operand(b, base) };
    if (!add_steps(&x, v->v)) {
        lose(b, v);
        return;
    }
    int64_t offset = x.offset;
    uint16_t rest = word(b, (uint64_t)offset), dst = result_slot(b, v, 0);
    add_index(&x, rest, 64, 1, 0, dst);
}

/* ---- vectors */

static unsigned element_bits(Body *b, LLVMValueRef vector)
{
    LLVMTypeRef t = LLVMTypeOf(vector);
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? concolic_bits(b->w, LLVMGetElementType(t))
                                                    : 0;
}

static void row_extract(Body *b, Val *v)
{
    LLVMValueRef vector = LLVMGetOperand(v->v, 0), i = LLVMGetOperand(v->v, 1);
    unsigned each = element_bits(b, vector), all = bits_of(b, vector);
    uint64_t k = LLVMIsAConstantInt(i) ? LLVMConstIntGetZExtValue(i) : ~0u;
    if (!each || !all || k * each >= all) {
        lose(b, v);
        return;
    }
    struct sundew_row *r = add_op(b, v, SUNDEW_NODE_EXTRACT, 1, &vector);
    r->from = (uint8_t)all;
    r->k = (uint16_t)(k * each);
}

/* `count` bits of the old vector, which are in the new one too. */
static uint16_t lane(Body *b, Val *v, unsigned low, unsigned count)
{
    LLVMValueRef old = LLVMGetOperand(v->v, 0);
    uint16_t a = operand(b, old);
    Ref ref = { v->v, 0, v };
    uint16_t dst = new_slot(b, ref, true, count > 64);
    region_of(b)->slots.items[dst].low = (uint8_t)low;
    region_of(b)->slots.items[dst].count = (uint8_t)count;
    struct sundew_row *r = add_row(b, v, SUNDEW_NODE_EXTRACT, count);
    r->a = a;
    r->from = (uint8_t)bits_of(b, old);
    r->k = (uint16_t)low;
    r->dst = dst;
    return dst;
}

static void join(Body *b, Val *v, uint16_t high, unsigned nhigh, uint16_t low, unsigned nlow,
                 uint16_t dst)
{
    struct sundew_row *r = add_row(b, v, SUNDEW_NODE_CONCAT, nhigh + nlow);
    r->a = high;
    r->b = low;
    r->from = (uint8_t)nhigh;
    r->dst = dst;
}

/* high : element : low */
static void row_insert(Body *b, Val *v)
{
    LLVMValueRef x = LLVMGetOperand(v->v, 1), i = LLVMGetOperand(v->v, 2);
    unsigned each = element_bits(b, v->v), all = bits_of(b, v->v);
    uint64_t k = LLVMIsAConstantInt(i) ? LLVMConstIntGetZExtValue(i) : ~0u;
    if (!v->labelled || !each || !all || k * each >= all) {
        lose(b, v);
        return;
    }
    unsigned low = (unsigned)k * each, high = all - low - each;
    uint16_t so_far = operand(b, x);
    if (low) {
        uint16_t part = lane(b, v, 0, low), to = high ? 0 : result_slot(b, v, 0);
        if (high) {
            to = new_slot(b, (Ref){ v->v, 0, v }, true, low + each > 64);
            region_of(b)->slots.items[to].count = (uint8_t)(low + each);
        }
        join(b, v, so_far, each, part, low, to);
        so_far = to;
    }
    if (high) {
        uint16_t part = lane(b, v, low + each, high), to = result_slot(b, v, 0);
        join(b, v, part, high, so_far, low + each, to);
    }
}

/* ---- intrinsics */

/* As ExprRound and ExprMath of src/solve/expr.h. */
enum { EXPR_ROUND_FLOOR, EXPR_ROUND_CEIL, EXPR_ROUND_TRUNC, EXPR_ROUND_EVEN, EXPR_ROUND_AWAY };
enum {
    EXPR_MATH_SIN = 0,
    EXPR_MATH_COS,
    EXPR_MATH_TAN,
    EXPR_MATH_EXP = 9,
    EXPR_MATH_EXP2,
    EXPR_MATH_LOG,
    EXPR_MATH_LOG2,
    EXPR_MATH_LOG10,
    EXPR_MATH_POW = 15,
};

/* clang-format off */
static const struct simple {
    const char *name;
    unsigned op, args, k;
} simple[] = {
    { "llvm.umin.", SUNDEW_NODE_UMIN, 2, 0 },      { "llvm.umax.", SUNDEW_NODE_UMAX, 2, 0 },
    { "llvm.smin.", SUNDEW_NODE_SMIN, 2, 0 },      { "llvm.smax.", SUNDEW_NODE_SMAX, 2, 0 },
    { "llvm.uadd.sat.", SUNDEW_NODE_UADD_SAT, 2, 0 },
    { "llvm.usub.sat.", SUNDEW_NODE_USUB_SAT, 2, 0 },
    { "llvm.sadd.sat.", SUNDEW_NODE_SADD_SAT, 2, 0 },
    { "llvm.ssub.sat.", SUNDEW_NODE_SSUB_SAT, 2, 0 },
    { "llvm.bswap.", SUNDEW_NODE_BSWAP, 1, 0 },
    { "llvm.bitreverse.", SUNDEW_NODE_BITREVERSE, 1, 0 },
    { "llvm.ctpop.", SUNDEW_NODE_CTPOP, 1, 0 },    { "llvm.ctlz.", SUNDEW_NODE_CTLZ, 1, 0 },
    { "llvm.cttz.", SUNDEW_NODE_CTTZ, 1, 0 },      { "llvm.abs.", SUNDEW_NODE_ABS, 1, 0 },
    { "llvm.fshl.", SUNDEW_NODE_FSHL, 3, 0 },      { "llvm.fshr.", SUNDEW_NODE_FSHR, 3, 0 },
    { "llvm.fabs.", SUNDEW_NODE_FABS, 1, 0 },      { "llvm.sqrt.", SUNDEW_NODE_FSQRT, 1, 0 },
    { "llvm.floor.", SUNDEW_NODE_FROUND, 1, EXPR_ROUND_FLOOR },
    { "llvm.ceil.", SUNDEW_NODE_FROUND, 1, EXPR_ROUND_CEIL },
    { "llvm.trunc.", SUNDEW_NODE_FROUND, 1, EXPR_ROUND_TRUNC },
    { "llvm.rint.", SUNDEW_NODE_FROUND, 1, EXPR_ROUND_EVEN },
    { "llvm.nearbyint.", SUNDEW_NODE_FROUND, 1, EXPR_ROUND_EVEN },
    { "llvm.roundeven.", SUNDEW_NODE_FROUND, 1, EXPR_ROUND_EVEN },
    { "llvm.round.", SUNDEW_NODE_FROUND, 1, EXPR_ROUND_AWAY },
    { "llvm.sin.", SUNDEW_NODE_FMATH, 1, EXPR_MATH_SIN },
    { "llvm.cos.", SUNDEW_NODE_FMATH, 1, EXPR_MATH_COS },
    { "llvm.tan.", SUNDEW_NODE_FMATH, 1, EXPR_MATH_TAN },
    { "llvm.exp.", SUNDEW_NODE_FMATH, 1, EXPR_MATH_EXP },
    { "llvm.exp2.", SUNDEW_NODE_FMATH, 1, EXPR_MATH_EXP2 },
    { "llvm.log.", SUNDEW_NODE_FMATH, 1, EXPR_MATH_LOG },
    { "llvm.log2.", SUNDEW_NODE_FMATH, 1, EXPR_MATH_LOG2 },
    { "llvm.log10.", SUNDEW_NODE_FMATH, 1, EXPR_MATH_LOG10 },
    { "llvm.pow.", SUNDEW_NODE_FMATH, 2, EXPR_MATH_POW },
    { "llvm.fmuladd.", SUNDEW_ROW_FMULADD, 3, 0 },
    { "llvm.minnum.", SUNDEW_ROW_FMIN, 2, 0 },
    { "llvm.maxnum.", SUNDEW_ROW_FMAX, 2, 0 },
    { "llvm.copysign.", SUNDEW_ROW_COPYSIGN, 2, 0 },
};
/* clang-format on */

static const struct overflow {
    const char *name;
    unsigned op, test;
} overflows[] = {
    { "llvm.uadd.with", SUNDEW_NODE_ADD, SUNDEW_NODE_UADD_OVERFLOWS },
    { "llvm.sadd.with", SUNDEW_NODE_ADD, SUNDEW_NODE_SADD_OVERFLOWS },
    { "llvm.usub.with", SUNDEW_NODE_SUB, SUNDEW_NODE_USUB_OVERFLOWS },
    { "llvm.ssub.with", SUNDEW_NODE_SUB, SUNDEW_NODE_SSUB_OVERFLOWS },
    { "llvm.umul.with", SUNDEW_NODE_MUL, SUNDEW_NODE_UMUL_OVERFLOWS },
    { "llvm.smul.with", SUNDEW_NODE_MUL, SUNDEW_NODE_SMUL_OVERFLOWS },
};

static const char *called(LLVMValueRef call)
{
    size_t n;
    LLVMValueRef f = LLVMGetCalledValue(call);
    return LLVMIsAFunction(f) ? LLVMGetValueName2(f, &n) : "";
}

/* Computes from its arguments only. */
bool is_row_intrinsic(LLVMValueRef call)
{
    static const char *const more[] = {
        "llvm.expect.",    "llvm.fma.",           "llvm.minimum.",    "llvm.maximum.",
        "llvm.ptrmask.",   "llvm.canonicalize.",  "llvm.lround.",     "llvm.llround.",
        "llvm.lrint.",     "llvm.llrint.",        "llvm.is.fpclass.", "llvm.fptosi.sat",
        "llvm.fptoui.sat", "llvm.vector.reduce.", "llvm.exp10.",      "llvm.powi.",
        "llvm.ldexp.",     "llvm.x86.",
    };
    const char *name = called(call);
    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
        if (str_starts(name, simple[i].name))
            return true;
    for (size_t i = 0; i < sizeof overflows / sizeof *overflows; i++)
        if (str_starts(name, overflows[i].name))
            return true;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (str_starts(name, more[i]))
            return !str_starts(name, "llvm.x86.") ||
                   LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind;
    return false;
}

static void row_overflow(Body *b, Val *v, const struct overflow *o)
{
    LLVMValueRef x = LLVMGetOperand(v->v, 0);
    uint16_t p = operand(b, x), q = operand(b, LLVMGetOperand(v->v, 1));
    if (v->leaves.n != 2 || !is_scalar(x)) {
        lose(b, v);
        return;
    }
    for (unsigned k = 0; k < 2; k++) {
        uint16_t dst = result_slot(b, v, k);
        struct sundew_row *r = add_row(b, v, k ? o->test : o->op, v->leaves.at[k].bits);
        r->from = (uint8_t)bits_of(b, x);
        r->a = p;
        r->b = q;
        r->dst = dst;
    }
}

static void row_intrinsic(Body *b, Val *v)
{
    const char *name = called(v->v);
    LLVMValueRef args[3];
    if (!v->woven || !v->labelled || str_starts(name, "llvm.expect."))
        return;
    for (size_t i = 0; i < sizeof overflows / sizeof *overflows; i++)
        if (str_starts(name, overflows[i].name)) {
            row_overflow(b, v, &overflows[i]);
            return;
        }
    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++) {
        const struct simple *s = &simple[i];
        if (!str_starts(name, s->name) || !is_scalar(v->v) || !bits_of(b, v->v))
            continue;
        for (unsigned k = 0; k < s->args; k++)
            args[k] = LLVMGetOperand(v->v, k);
        add_op(b, v, s->op, s->args, args)->k = (uint16_t)s->k;
        return;
    }
    lose(b, v);
}

/* ---- control */

static void row_branch(Body *b, Val *v, uint32_t edge)
{
    if (!LLVMIsConditional(v->v))
        return;
    Ref ref = ref_of(b, LLVMGetCondition(v->v), 0);
    if (!ref.val || !ref.val->labelled)
        return;
    uint16_t a = operand_ref(b, ref);
    struct sundew_row *r = add_row(b, v, SUNDEW_ROW_BRANCH, 1);
    r->a = a;
    r->x = edge;
}

static void row_switch(Body *b, Val *v, uint32_t edge)
{
    LLVMValueRef on = LLVMGetOperand(v->v, 0);
    Ref ref = ref_of(b, on, 0);
    unsigned n = LLVMGetNumSuccessors(v->v) - 1, bits = bits_of(b, on);
    if (!ref.val || !ref.val->labelled)
        return;
    if (!bits || bits > 64 || n > 20000) {
        row_pin(b, on, SUNDEW_WHY_WIDE, v->site);
        return;
    }
    uint16_t a = operand_ref(b, ref);
    Region *r = region_of(b);
    uint16_t first = (uint16_t)r->words.len;
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef c = LLVMGetOperand(v->v, 2 + 2 * k);
        vec_push(&r->words, LLVMConstInt(b->w->i64, LLVMConstIntGetZExtValue(c), false));
    }
    struct sundew_row *row = add_row(b, v, SUNDEW_ROW_SWITCH, bits);
    row->a = a;
    row->b = first;
    row->c = (uint16_t)n;
    row->x = edge;
}

/* Its first edge: those of the function are numbered in the order of blocks. */
static uint32_t edge_of(Body *b, LLVMValueRef terminator)
{
    LLVMBasicBlockRef at = LLVMGetInstructionParent(terminator);
    uint32_t edge = b->t->edge + 1;
    for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(b->native); k && k != at;
         k = LLVMGetNextBasicBlock(k))
        edge += edges_leaving(LLVMGetBasicBlockTerminator(k));
    return edge;
}

/* ---- atomics */

/* What was there is loaded with its label; what stands there now has none. Both are
 * pinned, so the path stays true. */
static void row_atomic(Body *b, Val *v)
{
    bool cas = LLVMGetInstructionOpcode(v->v) == LLVMAtomicCmpXchg;
    LLVMValueRef p = LLVMGetOperand(v->v, 0), x = LLVMGetOperand(v->v, 1);
    row_pin(b, p, SUNDEW_WHY_ADDRESS, v->site);
    row_pin(b, x, SUNDEW_WHY_THREAD, v->site);
    if (cas)
        row_pin(b, LLVMGetOperand(v->v, 2), SUNDEW_WHY_THREAD, v->site);
    Leaves l = v->leaves;
    unsigned bits = bits_of(b, x);
    if (!bits || !l.n || !is_flat(p))
        return;
    touch(b, p, concolic_size(b->w, LLVMTypeOf(x)));
    uint16_t a = operand(b, p), dst = result_slot(b, v, 0);
    struct sundew_row *r = add_row(b, v, SUNDEW_ROW_LOAD, bits);
    r->a = a;
    r->dst = dst;
    r = add_row(b, v, SUNDEW_ROW_PIN, bits);
    r->a = dst;
    r->k = SUNDEW_WHY_THREAD;
    uint16_t zero = (uint16_t)(SUNDEW_WORD | region_of(b)->words.len);
    for (unsigned k = 0; k < 2; k++)
        vec_push(&region_of(b)->words, LLVMConstInt(b->w->i64, 0, false));
    r = add_row(b, v, SUNDEW_ROW_STORE, bits);
    r->a = a;
    r->b = zero;
}

/* ---- all */

static int binary_op(LLVMOpcode op)
{
    switch (op) {
    case LLVMAdd: return SUNDEW_NODE_ADD;
    case LLVMSub: return SUNDEW_NODE_SUB;
    case LLVMMul: return SUNDEW_NODE_MUL;
    case LLVMUDiv: return SUNDEW_NODE_UDIV;
    case LLVMSDiv: return SUNDEW_NODE_SDIV;
    case LLVMURem: return SUNDEW_NODE_UREM;
    case LLVMSRem: return SUNDEW_NODE_SREM;
    case LLVMShl: return SUNDEW_NODE_SHL;
    case LLVMLShr: return SUNDEW_NODE_LSHR;
    case LLVMAShr: return SUNDEW_NODE_ASHR;
    case LLVMAnd: return SUNDEW_NODE_AND;
    case LLVMOr: return SUNDEW_NODE_OR;
    case LLVMXor: return SUNDEW_NODE_XOR;
    case LLVMFAdd: return SUNDEW_NODE_FADD;
    case LLVMFSub: return SUNDEW_NODE_FSUB;
    case LLVMFMul: return SUNDEW_NODE_FMUL;
    case LLVMFDiv: return SUNDEW_NODE_FDIV;
    case LLVMFRem: return SUNDEW_NODE_FREM;
    default: return -1;
    }
}

static int cast_op(LLVMOpcode op)
{
    switch (op) {
    case LLVMTrunc: return SUNDEW_NODE_EXTRACT;
    case LLVMZExt: return SUNDEW_NODE_ZEXT;
    case LLVMSExt: return SUNDEW_NODE_SEXT;
    case LLVMFPTrunc:
    case LLVMFPExt: return SUNDEW_NODE_FTOF;
    case LLVMFPToUI: return SUNDEW_NODE_FTOU;
    case LLVMFPToSI: return SUNDEW_NODE_FTOS;
    case LLVMUIToFP: return SUNDEW_NODE_UTOF;
    case LLVMSIToFP: return SUNDEW_NODE_STOF;
    default: return -1;
    }
}

bool rows_of(Body *b, Val *v)
{
    size_t before = region_of(b)->rows.len;
    LLVMOpcode op = LLVMGetInstructionOpcode(v->v);
    LLVMValueRef arg;
    if (!v->woven)
        return false;
    if (binary_op(op) >= 0) {
        if (v->labelled)
            row_binary(b, v, (unsigned)binary_op(op));
    } else if (cast_op(op) >= 0) {
        if (v->labelled)
            row_cast(b, v, (unsigned)cast_op(op));
    } else {
        switch (op) {
        case LLVMICmp:
        case LLVMFCmp:
            if (v->labelled)
                row_compare(b, v);
            break;
        case LLVMFNeg:
            arg = LLVMGetOperand(v->v, 0);
            if (is_scalar(arg) && v->labelled)
                add_op(b, v, SUNDEW_NODE_FNEG, 1, &arg);
            else
                lose(b, v);
            break;
        case LLVMPtrToInt:
        case LLVMIntToPtr: row_pointer_cast(b, v); break;
        case LLVMSelect: row_select(b, v); break;
        case LLVMLoad: row_load(b, v); break;
        case LLVMStore: row_store(b, v); break;
        case LLVMGetElementPtr: row_gep(b, v); break;
        case LLVMExtractElement: row_extract(b, v); break;
        case LLVMInsertElement: row_insert(b, v); break;
        case LLVMShuffleVector:
        case LLVMAddrSpaceCast:
        case LLVMVAArg: lose(b, v); break;
        case LLVMCall: row_intrinsic(b, v); break;
        case LLVMBr: row_branch(b, v, edge_of(b, v->v)); break;
        case LLVMSwitch: row_switch(b, v, edge_of(b, v->v)); break;
        case LLVMIndirectBr: row_pin(b, LLVMGetOperand(v->v, 0), SUNDEW_WHY_CALL, v->site); break;
        case LLVMAlloca: row_pin(b, LLVMGetOperand(v->v, 0), SUNDEW_WHY_SIZE, v->site); break;
        case LLVMAtomicRMW:
        case LLVMAtomicCmpXchg: row_atomic(b, v); break;
        default: break;          /* casts of the same bits, parts of aggregates */
        }
    }
    return region_of(b)->rows.len > before;
}

/* ---- a description */

static LLVMValueRef constant_global(Woven *w, LLVMValueRef init, const char *name)
{
    LLVMValueRef g = LLVMAddGlobal(w->module, LLVMTypeOf(init), name);
    LLVMSetInitializer(g, init);
    LLVMSetGlobalConstant(g, true);
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(g, LLVMGlobalUnnamedAddr);
    return g;
}

/* Rows as bytes: as the runtime's struct, on the machines that we weave for. */
LLVMValueRef describe_region(Body *b, Region *r)
{
    Woven *w = b->w;
    if (r->description)
        return r->description;
    LLVMValueRef rows = LLVMConstStringInContext2(w->ctx, (const char *)r->rows.items,
                                                  r->rows.len * sizeof *r->rows.items, true);
    LLVMValueRef g = constant_global(w, rows, "sundew.rows");
    LLVMSetAlignment(g, 8);
    LLVMValueRef words = LLVMConstNull(w->ptr);
    if (r->words.len)
        words = constant_global(w, LLVMConstArray2(w->i64, r->words.items, r->words.len),
                                "sundew.words");
    LLVMTypeRef i16 = LLVMInt16TypeInContext(w->ctx);
    LLVMValueRef fields[] = { g, words, LLVMConstInt(w->i32, r->rows.len, false),
                              LLVMConstInt(i16, r->slots.len, false), LLVMConstInt(i16, 0, false) };
    r->description =
        constant_global(w, LLVMConstStructInContext(w->ctx, fields, 5, false), "sundew.region");
    return r->description;
}
