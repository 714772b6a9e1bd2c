/*
 * f.sym, written piece by piece, each twice.
 *
 *     clean     no value of the body has a label. Only memory is looked at: at a
 *               piece's end, the tags of what it touched.
 *     dirty     labels beside the values.
 *
 *     clean 0 ──tags──▶ cold 0 ──▶ dirty 1        the region's rows are done; labels
 *        │                            ▲           are there from now on
 *        ▼                            │
 *     clean 1                      dirty 0 ──labels or tags──▶ its cold 0 ──▶ dirty 1
 *
 * Dirty code goes back to clean where a loop begins and no label is alive. So the
 * clean version of a loop is a loop of its own, that LLVM optimises as such.
 */
#include "weave/concolic/concolic_int.h"
#include <assert.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>

static LLVMValueRef i32(Woven *w, uint64_t n) { return LLVMConstInt(w->i32, n, false); }

static bool is_zero(LLVMValueRef v) { return LLVMIsAConstantInt(v) && LLVMIsNull(v); }

/* ---- values */

static LLVMValueRef constant_now(Body *b, LLVMValueRef v)
{
    LLVMValueRef other = b->addresses.len ? map_getn(&b->addresses, &v, sizeof v) : NULL;
    return other ? other : v;
}

static LLVMValueRef value_at(Body *b, LLVMValueRef v, bool keep)
{
    Val *x = val_of(b, v);
    if (!x) {
        if (LLVMIsAInstruction(v))
            return LLVMGetUndef(LLVMTypeOf(v));      /* from where nobody comes */
        return LLVMIsAConstant(v) ? constant_now(b, v) : v;
    }
    if (x->fixed || x->stamp == b->stamp)
        return x->now;
    if (!x->slot)
        return LLVMGetUndef(LLVMTypeOf(v));
    LLVMValueRef now = LLVMBuildLoad2(b->w->builder, LLVMTypeOf(v), x->slot, "");
    if (keep) {
        x->now = now;
        x->stamp = b->stamp;
    }
    return now;
}

LLVMValueRef value_now(Body *b, LLVMValueRef v) { return value_at(b, v, true); }

void set_now(Body *b, Val *v, LLVMValueRef now)
{
    assert(!v->crosses || v->slot);
    v->now = now;
    v->stamp = b->stamp;
    if (v->crosses)
        LLVMBuildStore(b->w->builder, now, v->slot);
}

static LLVMValueRef leaf_now(Body *b, Ref r, bool keep)
{
    LLVMValueRef v = value_at(b, r.v, keep);
    if (!r.val)
        return v;
    LLVMTypeKind k = LLVMGetTypeKind(LLVMTypeOf(r.v));
    if (k != LLVMStructTypeKind && k != LLVMArrayTypeKind)
        return v;
    Leaves l = concolic_leaves(b->w, LLVMTypeOf(r.v));
    for (unsigned d = 0; r.leaf < l.n && d < l.at[r.leaf].depth; d++)
        v = LLVMBuildExtractValue(b->w->builder, v, l.at[r.leaf].path[d], "");
    return v;
}

LLVMValueRef label_now(Body *b, Ref r)
{
    if (b->version == CLEAN || !r.val || !r.val->labelled || !r.val->labels[r.leaf])
        return i32(b->w, 0);
    if (r.val->is_param)
        return r.val->labels[r.leaf];
    return LLVMBuildLoad2(b->w->builder, b->w->i32, r.val->labels[r.leaf], "");
}

void set_label(Body *b, Val *v, unsigned leaf, LLVMValueRef label)
{
    if (b->version == DIRTY && v->label_used && v->labels[leaf])
        LLVMBuildStore(b->w->builder, label, v->labels[leaf]);
}

LLVMValueRef or_labels(Body *b, LLVMValueRef x, LLVMValueRef y)
{
    if (!x || is_zero(x))
        return y && is_zero(y) ? NULL : y;
    if (!y || is_zero(y))
        return x;
    return LLVMBuildOr(b->w->builder, x, y, "");
}

/* ---- words */

static LLVMValueRef as_int(Woven *w, LLVMValueRef v, unsigned bits)
{
    LLVMTypeRef t = LLVMTypeOf(v), to = LLVMIntTypeInContext(w->ctx, bits);
    if (LLVMGetTypeKind(t) == LLVMPointerTypeKind)
        return LLVMBuildPtrToInt(w->builder, v, w->i64, "");
    return t == to ? v : LLVMBuildBitCast(w->builder, v, to, "");
}

static unsigned int_words(Woven *w, LLVMValueRef v, LLVMValueRef out[2])
{
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(v));
    if (bits <= 64) {
        out[0] = LLVMBuildZExtOrBitCast(w->builder, v, w->i64, "");
        return 1;
    }
    LLVMTypeRef wide = LLVMInt128TypeInContext(w->ctx);
    v = LLVMBuildZExtOrBitCast(w->builder, v, wide, "");
    out[0] = LLVMBuildTrunc(w->builder, v, w->i64, "");
    out[1] =
        LLVMBuildTrunc(w->builder, LLVMBuildLShr(w->builder, v, LLVMConstInt(wide, 64, false), ""),
                       w->i64, "");
    return 2;
}

unsigned to_words(Woven *w, LLVMValueRef v, LLVMValueRef out[2])
{
    unsigned bits = concolic_bits(w, LLVMTypeOf(v));
    if (!bits) {
        out[0] = LLVMConstInt(w->i64, 0, false);
        return 1;
    }
    return int_words(w, as_int(w, v, bits), out);
}

static LLVMValueRef element(Woven *w, LLVMTypeRef type, LLVMValueRef array, size_t i)
{
    LLVMValueRef at = LLVMConstInt(w->i64, i, false);
    return i ? LLVMBuildGEP2(w->builder, type, array, &at, 1, "") : array;
}

/* ---- tags */

/* Tags of granules g, g + 1, … in one load: k of them reach 64 (k - 1) + 16 bytes. */
LLVMValueRef tags_of(Woven *w, LLVMValueRef p, uint64_t n)
{
    assert(n && n <= MOST_TAGGED);
    unsigned bytes = n <= 16 ? 1 : n <= 80 ? 2 : n <= 208 ? 4 : 8;
    LLVMBuilderRef at = w->builder;
    LLVMTypeRef type = LLVMIntTypeInContext(w->ctx, bytes * 8);
    LLVMValueRef tags = LLVMConstIntToPtr(LLVMConstInt(w->i64, SUNDEW_TAGS, false), w->ptr);
    LLVMValueRef granule = LLVMBuildLShr(at, LLVMBuildPtrToInt(at, p, w->i64, ""),
                                         LLVMConstInt(w->i64, SUNDEW_TAG_SHIFT, false), "");
    LLVMValueRef tag =
        LLVMBuildLoad2(at, type, LLVMBuildGEP2(at, w->i8, tags, &granule, 1, ""), "");
    LLVMSetAlignment(tag, 1);
    return tag;
}

/* As 32 bits: for or-ing with labels. */
static LLVMValueRef tags_as_label(Woven *w, LLVMValueRef p, uint64_t n)
{
    LLVMValueRef t = tags_of(w, p, n);
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(t));
    if (bits <= 32)
        return LLVMBuildZExtOrBitCast(w->builder, t, w->i32, "");
    return LLVMBuildZExt(w->builder,
                         LLVMBuildICmp(w->builder, LLVMIntNE, t,
                                       LLVMConstInt(LLVMTypeOf(t), 0, false), ""),
                         w->i32, "");
}

/* ---- regions */

/* Labels that enter the region, and tags of its memory, or-ed; NULL: none can be. */
static LLVMValueRef guard(Body *b, Region *r)
{
    LLVMValueRef t = NULL;
    for (size_t i = 0; i < r->slots.len; i++)
        if (!r->slots.items[i].result)
            t = or_labels(b, t, label_now(b, r->slots.items[i].ref));
    for (size_t i = 0; i < r->touches.len; i++) {
        const Touch *k = &r->touches.items[i];
        LLVMValueRef p = value_now(b, k->base);
        if (k->low) {
            LLVMValueRef by = LLVMConstInt(b->w->i64, (uint64_t)k->low, true);
            p = LLVMBuildGEP2(b->w->builder, b->w->i8, p, &by, 1, "");
        }
        t = or_labels(b, t, tags_as_label(b->w, p, (uint64_t)(k->high - k->low)));
    }
    return t;
}

/* Volatile: nothing is to be gained by optimising these. */
static void spill_word(Woven *w, LLVMValueRef v, LLVMValueRef to)
{
    LLVMSetVolatile(LLVMBuildStore(w->builder, v, to), true);
}

static void spill(Body *b, Region *r, size_t i)
{
    Woven *w = b->w;
    const Slot *s = &r->slots.items[i];
    LLVMValueRef words[2];
    if (!s->ref.v)
        return;
    LLVMValueRef v = leaf_now(b, s->ref, false);
    if (s->count) {
        unsigned bits = concolic_bits(w, LLVMTypeOf(v));
        v = as_int(w, v, bits);
        v = LLVMBuildLShr(w->builder, v, LLVMConstInt(LLVMTypeOf(v), s->low, false), "");
        if (s->count < bits)
            v = LLVMBuildTrunc(w->builder, v, LLVMIntTypeInContext(w->ctx, s->count), "");
    }
    unsigned n = to_words(w, v, words);
    for (unsigned k = 0; k < n; k++)
        spill_word(w, words[k], element(w, w->i64, b->values, i + k));
    if (s->result)
        return;
    LLVMValueRef label = label_now(b, s->ref);
    if (!is_zero(label))
        spill_word(w, label, element(w, w->i32, b->labels, i));
}

/* Values of ADDRESS rows are computed there, which need not be passed. */
static bool is_computed(const Region *r, size_t slot)
{
    for (size_t i = 0; i < r->rows.len; i++)
        if (r->rows.items[i].dst == slot)
            return r->rows.items[i].op == SUNDEW_ROW_ADDRESS;
    return false;
}

static void do_rows(Body *b, Region *r)
{
    Woven *w = b->w;
    /* A body whose rows have constant operands only has no slots. */
    LLVMValueRef none = LLVMConstNull(w->ptr);
    LLVMValueRef args[] = { describe_region(b, r), b->values ? b->values : none,
                            b->labels ? b->labels : none };
    assert(b->labels || !r->slots.len);
    if (b->labels)
        LLVMBuildMemSet(w->builder, b->labels, LLVMConstInt(w->i8, 0, false),
                        LLVMConstInt(w->i64, r->slots.len * 4, false), 4);
    for (size_t i = 0; i < r->slots.len; i++)
        if (!r->slots.items[i].result || !is_computed(r, i))
            spill(b, r, i);
    weave_call(w, b->c->cold, args, 3);
}

void become_dirty(Body *b)
{
    if (b->version == CLEAN && b->nkept)
        LLVMBuildMemSet(b->w->builder, element(b->w, b->w->i32, b->labels, b->nslots),
                        LLVMConstInt(b->w->i8, 0, false),
                        LLVMConstInt(b->w->i64, b->nkept * 4ull, false), 4);
    b->version = DIRTY;
}

static bool is_new_label(const Slot *s)
{
    return s->result && !s->count && s->ref.val && s->ref.val->label_used;
}

static void finish_region(Body *b, unsigned piece)
{
    Woven *w = b->w;
    Region *r = &b->pieces.items[piece].region;
    LLVMValueRef t = r->rows.len ? guard(b, r) : NULL;
    LLVMBasicBlockRef next = b->starts[b->version][piece + 1];
    if (!t) {
        LLVMBuildBr(w->builder, next);
        return;
    }
    LLVMBasicBlockRef cold = weave_block(w, b->sym, "cold");
    weave_branch_unlikely(w, LLVMBuildICmp(w->builder, LLVMIntNE, t, i32(w, 0), ""), cold, next);
    LLVMPositionBuilderAtEnd(w->builder, cold);
    do_rows(b, r);
    unsigned version = b->version;
    become_dirty(b);
    for (size_t i = 0; i < r->slots.len; i++)
        if (is_new_label(&r->slots.items[i]))
            set_label(b, r->slots.items[i].ref.val, r->slots.items[i].ref.leaf,
                      LLVMBuildLoad2(w->builder, w->i32, element(w, w->i32, b->labels, i), ""));
    LLVMBuildBr(w->builder, b->starts[DIRTY][piece + 1]);
    b->version = version;
}

/* ---- instructions */

static void forget_metadata(Woven *w, LLVMValueRef i)
{
    LLVMInstructionSetDebugLoc(i, NULL);
    unsigned loop = LLVMGetMDKindIDInContext(w->ctx, "llvm.loop", 9);
    if (LLVMIsATerminatorInst(i) && LLVMGetMetadata(i, loop))
        LLVMSetMetadata(i, loop, NULL);
}

static LLVMValueRef copy_instruction(Body *b, LLVMValueRef i)
{
    int n = LLVMGetNumOperands(i);
    LLVMValueRef ops[n + 1];
    for (int k = 0; k < n; k++)
        ops[k] = value_now(b, LLVMGetOperand(i, (unsigned)k));
    LLVMValueRef c = LLVMInstructionClone(i);
    for (int k = 0; k < n; k++)
        if (!LLVMValueIsBasicBlock(ops[k]))
            LLVMSetOperand(c, (unsigned)k, ops[k]);
    LLVMInsertIntoBuilder(b->w->builder, c);
    forget_metadata(b->w, c);
    return c;
}

static LLVMBasicBlockRef start_of(Body *b, LLVMBasicBlockRef bb)
{
    unsigned k = (unsigned)(uintptr_t)map_getn(&b->block_at, &bb, sizeof bb) - 1;
    return b->starts[b->version][b->blocks.items[k].first];
}

/* Fills what the phis of the next blocks will read. A phi has one entry for each
 * edge; those from the same block agree. */
static void fill_phis(Body *b, const Block *from)
{
    for (size_t s = 0; s < from->next.len; s++) {
        LLVMBasicBlockRef to = b->blocks.items[from->next.items[s]].b;
        bool again = false;
        for (size_t q = 0; q < s; q++)
            again |= from->next.items[q] == from->next.items[s];
        for (LLVMValueRef i = LLVMGetFirstInstruction(to);
             !again && i && LLVMGetInstructionOpcode(i) == LLVMPHI; i = LLVMGetNextInstruction(i)) {
            Val *phi = val_of(b, i);
            unsigned n = LLVMCountIncoming(i), k = 0;
            while (k < n && LLVMGetIncomingBlock(i, k) != from->b)
                k++;
            if (k == n)
                continue;
            LLVMValueRef v = LLVMGetIncomingValue(i, k);
            LLVMBuildStore(b->w->builder, value_now(b, v), phi->in);
            for (unsigned l = 0; b->version == DIRTY && phi->label_used && l < phi->leaves.n; l++)
                LLVMBuildStore(b->w->builder, label_now(b, ref_of(b, v, l)), phi->labels_in[l]);
        }
    }
}

/* Computed goto: by the numbers of blocks, see concolic_goto.c. */
static void write_indirect(Body *b, Val *v)
{
    LLVMBuilderRef at = b->w->builder;
    LLVMValueRef to = LLVMBuildPtrToInt(at, value_now(b, LLVMGetOperand(v->v, 0)), b->w->i64, "");
    LLVMBasicBlockRef nowhere = weave_block(b->w, b->sym, "nowhere");
    unsigned n = LLVMGetNumSuccessors(v->v);
    Map seen = { 0 };
    LLVMValueRef sw = LLVMBuildSwitch(at, to, nowhere, n);
    for (unsigned k = 0; k < n; k++) {
        LLVMBasicBlockRef bb = LLVMGetSuccessor(v->v, k);
        uint64_t number = (uint64_t)(uintptr_t)map_getn(&b->block_at, &bb, sizeof bb);
        if (map_putn(&seen, &number, sizeof number, b))
            LLVMAddCase(sw, LLVMConstInt(b->w->i64, number, false), start_of(b, bb));
    }
    map_release(&seen);
    LLVMPositionBuilderAtEnd(at, nowhere);
    LLVMBuildUnreachable(at);
}

static void write_terminator(Body *b, Val *v)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(v->v);
    fill_phis(b, &b->blocks.items[v->block]);
    if (op == LLVMRet) {
        write_return(b, v);
        return;
    }
    if (op == LLVMIndirectBr) {
        write_indirect(b, v);
        return;
    }
    LLVMValueRef c = copy_instruction(b, v->v);
    unsigned n = LLVMGetNumSuccessors(c);
    for (unsigned k = 0; k < n; k++)
        LLVMSetSuccessor(c, k, start_of(b, LLVMGetSuccessor(v->v, k)));
}

static void write_instruction(Body *b, Val *v)
{
    if (v->is_phi || v->fixed)
        return;
    for (unsigned l = 0; v->label_used && l < v->leaves.n; l++)
        set_label(b, v, l, i32(b->w, 0));        /* until the region's rows say more */
    if (LLVMIsATerminatorInst(v->v)) {
        write_terminator(b, v);
    } else if (LLVMIsACallInst(v->v)) {
        write_call(b, v);
    } else {
        LLVMValueRef c = copy_instruction(b, v->v);
        if (LLVMGetTypeKind(LLVMTypeOf(c)) != LLVMVoidTypeKind)
            set_now(b, v, c);
    }
}

/* ---- pieces */

static LLVMValueRef live_label(Body *b, Val *v, unsigned leaf)
{
    if (v->is_param)
        return v->labels[leaf];
    return LLVMBuildLoad2(b->w->builder, b->w->i32, v->labels[leaf], "");
}

/* No label is alive: on in the clean version. */
static void try_clean(Body *b, const Block *k)
{
    Woven *w = b->w;
    LLVMValueRef t = NULL;
    for (size_t i = 0; i < b->params.len + b->all.len; i++) {
        Val *v = i < b->params.len ? b->params.items[i] : b->all.items[i - b->params.len];
        bool here = v->is_phi && &b->blocks.items[v->block] == k;
        for (unsigned l = 0; v->label_used && l < v->leaves.n; l++) {
            unsigned n = v->live + l;
            if (here)
                t = or_labels(b, t, LLVMBuildLoad2(w->builder, w->i32, v->labels_in[l], ""));
            else if (k->live[n / 64] >> n % 64 & 1)
                t = or_labels(b, t, live_label(b, v, l));
        }
    }
    LLVMBasicBlockRef back = b->starts[CLEAN][k->first], on = weave_block(w, b->sym, "on");
    if (t)
        LLVMBuildCondBr(w->builder, LLVMBuildICmp(w->builder, LLVMIntEQ, t, i32(w, 0), ""), back,
                        on);
    else
        LLVMBuildBr(w->builder, back);
    LLVMPositionBuilderAtEnd(w->builder, on);
}

static void write_phis(Body *b, const Piece *p)
{
    for (unsigned i = p->first; i < p->end && b->all.items[i]->is_phi; i++) {
        Val *v = b->all.items[i];
        set_now(b, v, LLVMBuildLoad2(b->w->builder, LLVMTypeOf(v->v), v->in, ""));
        for (unsigned l = 0; v->label_used && l < v->leaves.n; l++)
            if (b->version == DIRTY)
                set_label(b, v, l, LLVMBuildLoad2(b->w->builder, b->w->i32, v->labels_in[l], ""));
    }
}

static void write_piece(Body *b, unsigned piece)
{
    Piece *p = &b->pieces.items[piece];
    const Block *k = &b->blocks.items[p->block];
    b->stamp++;
    b->piece = piece;
    LLVMPositionBuilderAtEnd(b->w->builder, b->starts[b->version][piece]);
    LLVMSetCurrentDebugLocation2(b->w->builder, NULL);
    if (piece == k->first) {
        if (b->version == DIRTY && k->header)
            try_clean(b, k);
        write_phis(b, p);
    }
    for (unsigned i = p->first; i < p->end; i++)
        write_instruction(b, b->all.items[i]);
    if (!LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(b->w->builder)) && piece != k->last)
        finish_region(b, piece);
}

/* ---- the whole */

static LLVMValueRef slot(Body *b, LLVMTypeRef type)
{
    return LLVMBuildAlloca(b->w->builder, type, "");
}

static void make_slots(Body *b)
{
    for (size_t i = 0; i < b->all.len; i++) {
        Val *v = b->all.items[i];
        if (v->fixed) {
            v->now = LLVMInstructionClone(v->v);
            LLVMInsertIntoBuilder(b->w->builder, v->now);
            forget_metadata(b->w, v->now);
            continue;
        }
        if (v->crosses)
            v->slot = slot(b, LLVMTypeOf(v->v));
        if (v->is_phi)
            v->in = slot(b, LLVMTypeOf(v->v));
    }
    for (size_t i = 0; i < b->pieces.len; i++)
        if (b->pieces.items[i].region.slots.len > b->nslots)
            b->nslots = (unsigned)b->pieces.items[i].region.slots.len;
    if (b->nslots)
        b->values = slot(b, LLVMArrayType2(b->w->i64, b->nslots));
    for (size_t i = 0; i < b->all.len; i++)
        for (unsigned l = 0; b->all.items[i]->label_used && l < b->all.items[i]->leaves.n; l++)
            b->nkept += b->all.items[i]->is_phi ? 2 : 1;
    if (b->nslots + b->nkept)
        b->labels = slot(b, LLVMArrayType2(b->w->i32, b->nslots + b->nkept));
}

/* Labels live in memory, which clean code never touches: it would be a burden to LLVM to
 * keep them in registers, and of no use. */
static void place_labels(Body *b)
{
    unsigned at = b->nslots;
    for (size_t i = 0; i < b->all.len; i++) {
        Val *v = b->all.items[i];
        for (unsigned l = 0; v->label_used && l < v->leaves.n; l++) {
            v->labels[l] = element(b->w, b->w->i32, b->labels, at++);
            if (v->is_phi)
                v->labels_in[l] = element(b->w, b->w->i32, b->labels, at++);
        }
    }
}

void write_body(Body *b)
{
    Woven *w = b->w;
    LLVMPositionBuilderAtEnd(w->builder, weave_block(w, b->sym, "entry"));
    LLVMSetCurrentDebugLocation2(w->builder, NULL);
    make_slots(b);
    place_labels(b);
    if (b->t->in_place)
        goto_renumber(b);
    for (unsigned v = CLEAN; v <= DIRTY; v++) {
        b->starts[v] = xcalloc(b->pieces.len + 1, sizeof *b->starts[v]);
        for (size_t i = 0; i < b->pieces.len; i++)
            b->starts[v][i] = weave_block(w, b->sym, v ? "dirty" : "clean");
    }
    write_entry(b);
    for (b->version = CLEAN; b->version <= DIRTY; b->version++)
        for (unsigned i = 0; i < b->pieces.len; i++)
            write_piece(b, i);
}
