/*
 * Pointers in pieces.
 *
 * A pointer may leave as two halves, as bytes, as digits or bit by bit, and be put
 * together again where nobody can see that it is one. Paths follow whole pointers only.
 * So a piece that goes anywhere is an obstacle (CAST) for the pointer it is a part of:
 *
 *     lo = (uint32_t)(uintptr_t)p;  keep(lo);          an obstacle
 *     slot = table[(uintptr_t)p >> 4 & 63];            one (COMPARED)
 *     if ((uintptr_t)p & 7) …                          none
 *
 * What bits of a pointer decide tells them: a branch, the length of a loop, an index, a
 * size. 64 such decisions tell a pointer, and nothing that follows holds a part of it. So
 * the rule is about the first step, whatever comes then: bits that are compared or an
 * index are an obstacle. A whole pointer may be compared with NULL and with pointers, not
 * with what may be a guess, and its alignment may be compared with anything: six bits
 * are too little to be a pointer again.
 */
#include "analysis/mutability/mutability_int.h"
#include <assert.h>
#include <string.h>

enum { MOST_USES = 64, MOST_ORIGINS = 256 };

bool mut_carries(const Mutability *m, LLVMTypeRef t)
{
    switch (LLVMGetTypeKind(t)) {
    case LLVMPointerTypeKind:
    case LLVMStructTypeKind:
    case LLVMArrayTypeKind:
    case LLVMDoubleTypeKind:
    case LLVMX86_FP80TypeKind:
    case LLVMFP128TypeKind:
    case LLVMVectorTypeKind: return true;
    case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(t) >= LLVMPointerSize(m->layout) * 8;
    default: return false;
    }
}

/* ---- uses of a piece */

typedef Vec(LLVMValueRef) Values;

static void follow(Values *work, LLVMValueRef v)
{
    for (size_t i = 0; i < work->len; i++)
        if (work->items[i] == v)
            return;
    vec_push(work, v);
}

enum { LINE = 64, PAGE = 4096 };

/* p & 7, p % 8: the place in a line of the cache at most. */
static bool is_alignment(LLVMValueRef v)
{
    LLVMValueRef by, from;

    if (LLVMIsATruncInst(v) || LLVMIsAZExtInst(v))
        return is_alignment(LLVMGetOperand(v, 0));
    if (!LLVMIsABinaryOperator(v))
        return false;
    from = LLVMGetOperand(v, 0);
    by = LLVMGetOperand(v, 1);
    while (LLVMIsATruncInst(from))
        from = LLVMGetOperand(from, 0);
    if (!LLVMIsAPtrToIntInst(from) || !LLVMIsAConstantInt(by) ||
        LLVMGetIntTypeWidth(LLVMTypeOf(by)) > 64)
        return false;
    uint64_t n = LLVMConstIntGetZExtValue(by);
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAnd: return n < LINE;
    case LLVMURem: return n && n <= LINE && !(n & (n - 1));
    default: return false;
    }
}

/* False: it goes on to where nobody follows it. `told`: bits that decide something count. */
static bool use_is_harmless(bool told, LLVMValueRef v, LLVMValueRef user, bool index, Values *work)
{
    size_t n;

    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMICmp:
    case LLVMFCmp:
    case LLVMSwitch: return !told || is_alignment(v);
    case LLVMGetElementPtr: return index && !told && LLVMGetOperand(user, 0) != v;
    case LLVMURem:
    case LLVMSRem:                           /* a hash; too little to be a pointer again */
        if (!told && LLVMGetOperand(user, 0) == v && LLVMIsAConstantInt(LLVMGetOperand(user, 1)))
            return true;
        follow(work, user);
        return true;
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMPHI:
    case LLVMSelect:
    case LLVMFreeze: follow(work, user); return true;
    case LLVMCall:
        return LLVMIsAFunction(LLVMGetCalledValue(user)) &&
               str_starts(LLVMGetValueName2(LLVMGetCalledValue(user), &n), "llvm.dbg.");
    default: return false;
    }
}

static bool goes_nowhere(bool told, LLVMValueRef piece, bool index, bool copied)
{
    Values work = { 0 };
    bool ok = true;

    vec_push(&work, piece);
    for (size_t i = 0; ok && i < work.len; i++)
        for (LLVMUseRef u = LLVMGetFirstUse(work.items[i]); ok && u; u = LLVMGetNextUse(u)) {
            LLVMValueRef user = LLVMGetUser(u);
            if (copied && !i && LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) == piece)
                continue;                    /* a loop that copies bytes is followed */
            ok = work.len <= MOST_USES && use_is_harmless(told, work.items[i], user, index, &work);
        }
    vec_release(&work);
    return ok;
}

bool mut_piece_is_harmless(LLVMValueRef piece, bool index, bool copied)
{
    return goes_nowhere(true, piece, index, copied);
}

bool mut_piece_is_compared(LLVMValueRef piece, bool index, bool copied)
{
    return goes_nowhere(false, piece, index, copied);
}

bool mut_is_shifted(LLVMValueRef v, int depth)
{
    if (!LLVMIsAInstruction(v) || depth > 6)
        return false;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
        return !LLVMIsAConstantInt(LLVMGetOperand(v, 1)) || LLVMIsAPHINode(LLVMGetOperand(v, 0)) ||
               mut_is_shifted(LLVMGetOperand(v, 0), depth + 1);
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMZExt:
    case LLVMTrunc: return mut_is_shifted(LLVMGetOperand(v, 0), depth + 1);
    default: return false;
    }
}

bool mut_is_computed(LLVMValueRef v, int depth)
{
    enum { MOST_DEPTH = 4 };
    bool number = LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind;

    if (!LLVMIsAInstruction(v) || LLVMIsALoadInst(v) || LLVMIsACallInst(v))
        return number && LLVMIsAInstruction(v);
    if (number || LLVMIsAIntToPtrInst(v))
        return true;
    bool phi = LLVMIsAPHINode(v), some = phi || LLVMIsASelectInst(v);
    unsigned n = phi ? LLVMCountIncoming(v) : 3;
    for (unsigned i = !phi; some && depth < MOST_DEPTH && i < n; i++)
        if (mut_is_computed(phi ? LLVMGetIncomingValue(v, i) : LLVMGetOperand(v, i), depth + 1))
            return true;
    return some && depth >= MOST_DEPTH;
}

/* Is it a number that was made from a pointer, rather than the pointer's own value? */
static bool is_made(LLVMValueRef v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind && LLVMIsAInstruction(v) &&
           !LLVMIsAPtrToIntInst(v) && !LLVMIsAPHINode(v) && !LLVMIsALoadInst(v);
}

bool mut_tells_bits(LLVMValueRef v) { return is_made(v) && !is_alignment(v); }

/* ---- numbers that are pointers */

typedef enum {
    IS_SAME,                                 /* round a loop: the others say what it is */
    IS_CONSTANT,
    IS_POINTER,                              /* or one and an offset */
    IS_NUMBER,                               /* of unknown origin */
} Origin;

static Origin origin_of(const Mutability *m, LLVMValueRef v, Values *seen);

static Origin of_each(const Mutability *m, LLVMValueRef v, unsigned from, unsigned to, Values *seen)
{
    bool phi = LLVMIsAPHINode(v), loop = false;
    Origin most = IS_SAME;

    for (unsigned i = from; i < to; i++) {
        Origin o = origin_of(m, phi ? LLVMGetIncomingValue(v, i) : LLVMGetOperand(v, i), seen);
        loop |= o == IS_SAME;
        most = o > most ? o : most;
    }
    return loop && most == IS_CONSTANT ? IS_NUMBER : most; /* it counts */
}

/* A pointer and any number is a pointer with an offset. The difference of two is none, nor
 * is a pointer that is mixed with a number otherwise. */
static Origin of_arithmetic(const Mutability *m, LLVMValueRef v, Values *seen)
{
    Origin a = origin_of(m, LLVMGetOperand(v, 0), seen);
    Origin b = origin_of(m, LLVMGetOperand(v, 1), seen);
    Origin most = a > b ? a : b;

    if (most == IS_CONSTANT && (a == IS_SAME || b == IS_SAME))
        return IS_SAME;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAdd: return a == IS_POINTER || b == IS_POINTER ? IS_POINTER : most;
    case LLVMSub:
        if (a == IS_POINTER)
            return b == IS_POINTER ? IS_NUMBER : IS_POINTER;
        return most;
    case LLVMAnd: return a == IS_POINTER || b == IS_POINTER ? IS_POINTER : most;
    default: return most;
    }
}

static Origin origin_of(const Mutability *m, LLVMValueRef v, Values *seen)
{
    if (LLVMIsAConstant(v))
        return LLVMIsAConstantExpr(v) || LLVMIsAGlobalValue(v) ? IS_POINTER : IS_CONSTANT;
    for (size_t i = 0; i < seen->len; i++)
        if (seen->items[i] == v)
            return IS_SAME;
    if (seen->len >= MOST_ORIGINS)
        return IS_NUMBER;
    vec_push(seen, v);
    if (LLVMIsAIntToPtrInst(v) || LLVMIsAFreezeInst(v) || LLVMIsAGetElementPtrInst(v))
        return origin_of(m, LLVMGetOperand(v, 0), seen);
    if (LLVMIsAPHINode(v))
        return of_each(m, v, 0, LLVMCountIncoming(v), seen);
    if (LLVMIsASelectInst(v))
        return of_each(m, v, 1, 3, seen);
    if (LLVMIsABinaryOperator(v))
        return of_arithmetic(m, v, seen);
    if (LLVMIsATruncInst(v) || LLVMIsAZExtInst(v) || LLVMIsASExtInst(v))
        return IS_NUMBER;
    bool argument = LLVMIsAArgument(v) &&    /* perhaps of a function that nobody calls */
                    LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
    return argument || pointsto_value(m->pt, v, 0).n ? IS_POINTER : IS_NUMBER;
}

static Origin origin(const Mutability *m, LLVMValueRef v)
{
    Values seen = { 0 };
    Origin o = origin_of(m, v, &seen);

    vec_release(&seen);
    return o;
}

/* Numbers that stand for something else than an address: NULL, MAP_FAILED, (void *)1. */
static bool is_no_address(LLVMValueRef v)
{
    if (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMIntToPtr)
        v = LLVMGetOperand(v, 0);
    if (!LLVMIsAConstantInt(v) || LLVMGetIntTypeWidth(LLVMTypeOf(v)) > 64)
        return LLVMIsNull(v) || LLVMIsUndef(v);
    int64_t n = LLVMConstIntGetSExtValue(v);
    return n > -PAGE && n < PAGE;
}

/* Is it handed over or loaded? In a program that makes pointers of numbers it may be one. */
static bool comes_from_elsewhere(LLVMValueRef v, int depth)
{
    enum { MOST_DEPTH = 8 };

    if (LLVMIsAArgument(v) || LLVMIsALoadInst(v) || LLVMIsACallInst(v) || depth > MOST_DEPTH)
        return true;
    if (LLVMIsAPHINode(v)) {
        for (unsigned i = 0; i < LLVMCountIncoming(v); i++)
            if (LLVMGetIncomingValue(v, i) != v &&
                comes_from_elsewhere(LLVMGetIncomingValue(v, i), depth + 4))
                return true;
        return false;
    }
    if (LLVMIsASelectInst(v))
        return comes_from_elsewhere(LLVMGetOperand(v, 1), depth + 1) ||
               comes_from_elsewhere(LLVMGetOperand(v, 2), depth + 1);
    return LLVMIsAInstruction(v) && !LLVMIsAAllocaInst(v) &&
           comes_from_elsewhere(LLVMGetOperand(v, 0), depth + 1);
}

/* Is it loaded from a place that a number was stored at? */
static bool is_stored_number(const Mutability *m, LLVMValueRef v)
{
    if (!LLVMIsALoadInst(v))
        return false;
    PtSet s = pointsto_value(m->pt, LLVMGetOperand(v, 0), 0);
    bool number = false;
    for (size_t i = 0; i < s.n; i++) {
        if (m->pt->objects.items[m->pt->locs.items[s.locs[i]].object].kind == PT_EXTERNAL)
            return false;
        number |= ptbits_has(&m->numbers, s.locs[i]);
    }
    return number;
}

bool mut_is_guessed(const Mutability *m, LLVMValueRef compare, LLVMValueRef v)
{
    if (!LLVMIsAICmpInst(compare))
        return false;
    LLVMValueRef other = LLVMGetOperand(compare, LLVMGetOperand(compare, 0) == v);
    if (is_no_address(other))
        return false;
    if (LLVMIsAConstantInt(other) ||
        (LLVMIsAConstantExpr(other) && LLVMGetConstOpcode(other) == LLVMIntToPtr))
        return true;
    Origin o = origin(m, other);
    return o == IS_NUMBER || is_stored_number(m, other) ||
           (o == IS_POINTER && m->rebuilds && comes_from_elsewhere(other, 0));
}

/* ---- pieces that are loaded */

/* Is the location in the `size` bytes (0: anywhere in the object) at a place? */
static bool overlaps(const Mutability *m, const PtLoc *at, int64_t size, uint32_t loc)
{
    int64_t off = m->pt->locs.items[loc].offset;

    return !size || at->offset == ANY || m->pt->objects.items[at->object].flat || off == ANY ||
           (off > at->offset - 8 && off < at->offset + size);
}

bool mut_has_seen_pointers(Mutability *m, LLVMValueRef address, int64_t size)
{
    PtSet s = pointsto_value(m->pt, address, 0);
    uint64_t key = (uintptr_t)s.locs << 8 | (uint64_t)(size & 255);
    uint32_t known = pttable_get(&m->seen_pointers, key);

    if (known != NONE)
        return known;
    bool any = false;
    for (size_t i = 0; i < s.n; i++) {
        PtLoc at = m->pt->locs.items[s.locs[i]];
        const PtAnswerObject *o = &m->pt->objects.items[at.object];
        if (m->pt->shown[at.object].kind == PT_EXTERNAL) {
            any = false;                     /* it may be anything, which says nothing */
            break;
        }
        for (uint32_t k = o->locs.start; !any && k < o->locs.start + o->locs.n; k++)
            any = overlaps(m, &at, size, k) && pointsto_content(m->pt, k).n;
    }
    pttable_put(&m->seen_pointers, key, any);
    return any;
}

void mut_leaves(Body *b, const PathSet *from, int64_t size, bool others, uint32_t op,
                const Effect *like)
{
    PathSet got = { 0 };

    assert(op < b->ops.len);
    for (uint32_t i = 0; i < from->len; i++)
        mut_load_part(b, &from->items[i], size, others, op, &got);
    mut_obstacle(b, &got, op, like);
    pathset_release(&got);
}

/* ---- objects whose address leaves */

/* Points-to forgets what single bits were taken from. */
static void expose(const Mutability *m, PtReach *r, LLVMValueRef v, int depth)
{
    enum { MOST_DEPTH = 8 };
    PtSet s = pointsto_value(m->pt, v, 0);

    for (size_t i = 0; i < s.n; i++)
        ptreach_add(r, m->pt->locs.items[s.locs[i]].object);
    if (!s.n && depth < MOST_DEPTH && (LLVMIsABinaryOperator(v) || LLVMIsACastInst(v)))
        for (int i = 0; i < LLVMGetNumOperands(v); i++)
            expose(m, r, LLVMGetOperand(v, (unsigned)i), depth + 1);
}

/* All that is stored in the `size` bytes (0: in the object) at an address. */
static void expose_content(Mutability *m, PtReach *r, LLVMValueRef address, int64_t size)
{
    PtSet s = pointsto_value(m->pt, address, 0);

    if (!mut_has_seen_pointers(m, address, size))
        return;
    for (size_t i = 0; i < s.n; i++) {
        PtLoc at = m->pt->locs.items[s.locs[i]];
        const PtAnswerObject *o = &m->pt->objects.items[at.object];
        for (uint32_t k = o->locs.start; k < o->locs.start + o->locs.n; k++) {
            if (!overlaps(m, &at, size, k))
                continue;
            PtSet held = pointsto_content(m->pt, k);
            for (size_t j = 0; j < held.n; j++)
                ptreach_add(r, m->pt->locs.items[held.locs[j]].object);
        }
    }
}

static void expose_arguments(Mutability *m, PtReach *r, LLVMValueRef call, const Summary *s)
{
    bool told = summary_gives_numbers(s) && !mut_carries(m, LLVMTypeOf(call)) &&
                !mut_piece_is_harmless(call, true, false);

    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        unsigned use = mut_use(m, s, call, i);
        LLVMValueRef v = LLVMGetOperand(call, i);
        if (use & (SUMMARY_LEAVES | SUMMARY_TEXT))
            expose_content(m, r, v, use & SUMMARY_TEXT ? 8 : 0);
        bool lent = use & SUMMARY_KEEP && use & SUMMARY_CHANGES; /* the buffer of a stream */
        if (told || lent || mut_keeps_number(s, call, i) || mut_prints_out(m, s, call, i))
            expose(m, r, v, 0);
    }
}

static bool is_made_of_address(LLVMValueRef v, int depth)
{
    if (LLVMIsAPtrToIntInst(v))
        return true;
    bool arithmetic = LLVMIsABinaryOperator(v) || LLVMIsACastInst(v);
    for (int i = 0; arithmetic && depth && i < LLVMGetNumOperands(v); i++)
        if (is_made_of_address(LLVMGetOperand(v, (unsigned)i), depth - 1))
            return true;
    return false;
}

/* A variadic function may print its numbers, and a client may read them. */
static void expose_numbers(Mutability *m, PtReach *r, LLVMValueRef call)
{
    enum { MOST_DEPTH = 6 };
    LLVMTypeRef type = LLVMGetCalledFunctionType(call);
    unsigned n = LLVMGetNumArgOperands(call);

    if (!m->pt->open_world || !LLVMIsFunctionVarArg(type))
        return;
    for (unsigned i = LLVMCountParamTypes(type); i < n; i++)
        if (is_made_of_address(LLVMGetOperand(call, i), MOST_DEPTH))
            expose(m, r, LLVMGetOperand(call, i), 0);
}

static void expose_by_call(Mutability *m, PtReach *r, LLVMValueRef call)
{
    size_t n, len;
    const LLVMValueRef *t = pointsto_targets(m->pt, call, &n);

    expose_numbers(m, r, call);

    for (size_t i = 0; i < n; i++) {
        const Summary *s =
            mut_body(m, t[i]) ? NULL : summaries_find(m->summaries, LLVMGetValueName2(t[i], &len));
        if (s)
            expose_arguments(m, r, call, s);
    }
}

/* Bits of an address: points-to forgets them, and numbers are made of them again. */
static void expose_bits(const Mutability *m, PtReach *r, LLVMValueRef i)
{
    if (!LLVMIsABinaryOperator(i) || pointsto_value(m->pt, i, 0).n ||
        goes_nowhere(false, i, true, false))
        return;
    for (unsigned k = 0; k < 2; k++)
        expose(m, r, LLVMGetOperand(i, k), 0);
}

static void expose_by(Mutability *m, PtReach *r, const Body *b, const Op *o)
{
    bool part = o->piece && o->pointer;

    if (o->kind == OP_CALL) {
        expose_by_call(m, r, o->inst);
    } else if (o->kind == OP_LOAD && part) {
        int64_t size = (int64_t)LLVMABISizeOfType(m->layout, LLVMTypeOf(o->inst));
        expose_content(m, r, LLVMGetOperand(o->inst, 0), size);
    } else if (o->kind == OP_MEMCPY && part) {
        expose_content(m, r, LLVMGetOperand(o->inst, 1), 8);
    } else if (o->kind == OP_COPY) {
        expose_bits(m, r, o->inst);
    } else if (o->kind == OP_PIECE) {
        for (int i = 0; i < LLVMGetNumOperands(o->inst); i++) {
            LLVMValueRef v = LLVMGetOperand(o->inst, (unsigned)i);
            if (pttable_get(&b->number, (uintptr_t)v) == o->a)
                expose(m, r, v, 0);
        }
    }
}

PtBits mut_exposed(Mutability *m)
{
    PtReach r = { 0 };
    PtBits out = { 0 };
    uint32_t o;

    for (size_t k = 0; k < m->nbodies; k++)
        for (size_t i = 0; m->bodies[k].fn && i < m->bodies[k].ops.len; i++)
            expose_by(m, &r, &m->bodies[k], &m->bodies[k].ops.items[i]);
    while (ptreach_next(m->pt, &r, &o))
        ptbits_add(&out, o);
    ptreach_release(&r);
    return out;
}

/* ---- pointers from nowhere */

static bool scans_pointers(LLVMModuleRef module)
{
    static const char *const names[] = { "sscanf",          "fscanf",          "scanf",
                                         "__isoc99_sscanf", "__isoc99_fscanf", "__isoc99_scanf",
                                         "__isoc23_sscanf" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (LLVMGetNamedFunction(module, names[i]))
            return mut_has_conversion(module, 'p');
    return false;
}

/* Numbers that are stored in memory, and pointers that are loaded from it:
 *
 *     n = strtoul(text, NULL, 16);         memcpy(&p, &n, sizeof p);
 *
 * Constants don't count, nor does memory of callers that nobody knows: there types tell
 * numbers from pointers. This counts for what is printed. What is compared counts if it is
 * loaded from a place that is known: else points-to is seldom sure that no number lies there. */
typedef struct Numbers {
    PtBits at;       /* locations */
    PtBits anywhere; /* objects: at an unknown place */
    PtBits some;     /* objects that hold a number */
    bool grown;
    size_t steps;    /* locations that copies were looked at for */
} Numbers;

static bool is_told_apart(const Mutability *m, uint32_t object)
{
    return m->pt->objects.items[object].kind != PT_EXTERNAL;
}

static void add_number(const Mutability *m, Numbers *n, uint32_t loc, bool vague)
{
    PtLoc at = m->pt->locs.items[loc];

    vague |= at.offset == ANY || m->pt->objects.items[at.object].flat;
    if (!is_told_apart(m, at.object))
        return;
    ptbits_add(&n->some, at.object);
    n->grown |= vague ? ptbits_add(&n->anywhere, at.object) : ptbits_add(&n->at, loc);
}

static bool is_number_at(const Mutability *m, const Numbers *n, uint32_t loc)
{
    PtLoc at = m->pt->locs.items[loc];

    if (!is_told_apart(m, at.object))
        return false;
    if (at.offset == ANY || m->pt->objects.items[at.object].flat)
        return ptbits_has(&n->some, at.object);
    return ptbits_has(&n->at, loc) || ptbits_has(&n->anywhere, at.object);
}

static void store_number(const Mutability *m, Numbers *n, LLVMValueRef address)
{
    PtSet s = pointsto_value(m->pt, address, 0);

    for (size_t i = 0; i < s.n; i++) {       /* several places: an index that is not known */
        uint32_t o = m->pt->locs.items[s.locs[i]].object;
        bool before = i && m->pt->locs.items[s.locs[i - 1]].object == o;
        bool behind = i + 1 < s.n && m->pt->locs.items[s.locs[i + 1]].object == o;
        add_number(m, n, s.locs[i], before || behind);
    }
}

static const Summary *summary_of(const Mutability *m, LLVMValueRef call)
{
    size_t len;
    LLVMValueRef fn = LLVMIsACallInst(call) ? LLVMGetCalledValue(call) : NULL;

    if (!fn || !LLVMIsAFunction(fn) || !LLVMIsDeclaration(fn))
        return NULL;
    return summaries_find(m->summaries, LLVMGetValueName2(fn, &len));
}

/* What the library reads from text. */
static void scan_numbers(const Mutability *m, Numbers *n, LLVMValueRef call, const Summary *s)
{
    for (unsigned i = (unsigned)s->nparams; i < LLVMGetNumArgOperands(call); i++)
        if (s->rest & SUMMARY_WRITE)
            store_number(m, n, LLVMGetOperand(call, i));
}

static void add_numbers(const Mutability *m, Numbers *n, LLVMValueRef i)
{
    LLVMValueRef v = LLVMIsAStoreInst(i) ? LLVMGetOperand(i, 0) : NULL;
    if (v && !LLVMIsAConstant(v) && LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMPointerTypeKind &&
        !pointsto_value(m->pt, v, 0).n)
        store_number(m, n, LLVMGetOperand(i, 1));
}

/* What a copy takes along: where numbers lie behind the place that it reads. */
typedef struct Taken {
    PtTable offsets;             /* from that place */
    bool vague, any;             /* some are at an unknown place */
} Taken;

static uint64_t offset_key(int64_t offset) /* a key can't be -1 */
{
    return (uint64_t)offset ^ (UINT64_C(1) << 63);
}

static void take_numbers(const Mutability *m, Numbers *n, PtLoc from, Taken *t)
{
    PtRange r = m->pt->objects.items[from.object].locs;

    if (!ptbits_has(&n->some, from.object))
        return;
    t->any = true;
    if (from.offset == ANY || ptbits_has(&n->anywhere, from.object)) {
        t->vague = true;
        return;
    }
    n->steps += r.n;
    for (uint32_t l = r.start; l < r.start + r.n; l++)
        if (ptbits_has(&n->at, l))
            pttable_put(&t->offsets, offset_key(m->pt->locs.items[l].offset - from.offset), 1);
}

/* … each to its place. */
static void put_numbers(const Mutability *m, Numbers *n, PtLoc to, const Taken *t)
{
    PtRange r = m->pt->objects.items[to.object].locs;

    if (r.n && (t->vague || (t->any && to.offset == ANY)))
        add_number(m, n, r.start, true);
    if (to.offset == ANY || !t->offsets.len)
        return;
    n->steps += r.n;
    for (uint32_t l = r.start; l < r.start + r.n; l++) {
        int64_t off = m->pt->locs.items[l].offset;
        if (off == ANY || pttable_get(&t->offsets, offset_key(off - to.offset)) != NONE)
            add_number(m, n, l, false);
    }
}

static void copy_numbers(const Mutability *m, Numbers *n, LLVMValueRef to, LLVMValueRef from)
{
    PtSet t = pointsto_value(m->pt, to, 0), f = pointsto_value(m->pt, from, 0);
    Taken taken = { 0 };

    for (size_t i = 0; i < f.n; i++)
        take_numbers(m, n, m->pt->locs.items[f.locs[i]], &taken);
    for (size_t i = 0; taken.any && i < t.n; i++)
        put_numbers(m, n, m->pt->locs.items[t.locs[i]], &taken);
    pttable_release(&taken.offsets);
}

static bool loads_number(const Mutability *m, const Numbers *n, LLVMValueRef i)
{
    if (!LLVMIsALoadInst(i))
        return false;
    PtSet s = pointsto_value(m->pt, LLVMGetOperand(i, 0), 0);
    for (size_t k = 0; k < s.n; k++)
        if (is_number_at(m, n, s.locs[k]))
            return true;
    return false;
}

static bool is_content(const SummaryTerm *t, LLVMValueRef call)
{
    return t->kind == SUMMARY_PARAM && t->stars == 1 && t->param < LLVMGetNumArgOperands(call);
}

static bool loads_pointer_of(const Mutability *m, const Numbers *n, LLVMValueRef i)
{
    return LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMPointerTypeKind && loads_number(m, n, i);
}

/* Is a pointer made of it that nobody knows the origin of? scanf() stores numbers, or pointers to
 * what it allocates. */
static bool is_from_nowhere(const Mutability *m, const Numbers *n, LLVMValueRef i)
{
    return LLVMIsAIntToPtrInst(i) &&
           (origin(m, i) == IS_NUMBER || loads_number(m, n, LLVMGetOperand(i, 0)));
}

/* To and from, of each copy of memory. */
static void add_copies(const Mutability *m, Numbers *n, LLVMValueRef i, Values *out)
{
    const Summary *s = summary_of(m, i);

    if (LLVMIsAMemCpyInst(i) || LLVMIsAMemMoveInst(i)) {
        vec_push(out, LLVMGetOperand(i, 0));
        vec_push(out, LLVMGetOperand(i, 1));
    }
    for (size_t k = 0; s && k < s->nassigns; k++)
        if (is_content(&s->assigns[k].to, i) && is_content(&s->assigns[k].from, i)) {
            vec_push(out, LLVMGetOperand(i, s->assigns[k].to.param));
            vec_push(out, LLVMGetOperand(i, s->assigns[k].from.param));
        }
    if (s)
        scan_numbers(m, n, i, s);
}

/* A number may be copied before its copy is seen, so copies are gone through until nothing is
 * new. */
static void find_numbers(const Mutability *m, Numbers *n)
{
    LLVMModuleRef module = program_module(m->program);
    Values copies = { 0 };

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                add_numbers(m, n, i);
                add_copies(m, n, i, &copies);
            }
    do {
        n->grown = false;
        for (size_t i = 0; i < copies.len; i += 2)
            copy_numbers(m, n, copies.items[i], copies.items[i + 1]);
    } while (n->grown);
    vec_release(&copies);
}

void mut_find_rebuilt(Mutability *m)
{
    LLVMModuleRef module = program_module(m->program);
    Numbers n = { 0 };

    m->rebuilds = scans_pointers(module);
    m->reads_back = m->rebuilds;
    find_numbers(m, &n);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b && !m->rebuilds;
             b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                m->rebuilds |= is_from_nowhere(m, &n, i);
                m->reads_back |= m->rebuilds || loads_pointer_of(m, &n, i);
            }
    m->numbers = n.at;
    m->steps += n.steps;
    ptbits_release(&n.anywhere);
    ptbits_release(&n.some);
}
