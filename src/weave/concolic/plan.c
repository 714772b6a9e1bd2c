/*
 * A body in pieces.
 *
 *     phis, loads, arithmetic …        piece 0: its rows are region 0
 *     ---------------------------      labels may appear: cut
 *     x = call g(…)                    piece 1: no rows before the call
 *     ---------------------------      … if g returns labels
 *     y = x + 1, store                 piece 2
 *     ---------------------------
 *     br                               piece 3
 *
 * A piece is written twice, clean and dirty, so a value that is used in another
 * piece than its own may come from either: such values go through stack slots,
 * which LLVM turns into phis again. So do labels.
 */
#include "weave/concolic/concolic_int.h"
#include <assert.h>
#include <string.h>

Val *val_of(const Body *b, LLVMValueRef v) { return map_getn(&b->vals, &v, sizeof v); }

/* ---- blocks */

static unsigned block_index(const Body *b, LLVMBasicBlockRef bb)
{
    return (unsigned)(uintptr_t)map_getn(&b->block_at, &bb, sizeof bb) - 1;
}

typedef struct Visit {
    LLVMBasicBlockRef b;
    unsigned next;
} Visit;

/* Reverse postorder of what can be reached. */
static void order_blocks(Body *b)
{
    Map seen = { 0 };
    Vec(Visit) stack = { 0 };
    Vec(LLVMBasicBlockRef) post = { 0 };
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(b->native);
    map_putn(&seen, &entry, sizeof entry, b);
    vec_push(&stack, ((Visit){ entry, 0 }));
    while (stack.len) {
        Visit *v = &stack.items[stack.len - 1];
        LLVMValueRef t = LLVMGetBasicBlockTerminator(v->b);
        if (v->next >= LLVMGetNumSuccessors(t)) {
            vec_push(&post, v->b);
            stack.len--;
            continue;
        }
        LLVMBasicBlockRef to = LLVMGetSuccessor(t, v->next++);
        if (map_putn(&seen, &to, sizeof to, b))
            vec_push(&stack, ((Visit){ to, 0 }));
    }
    for (size_t i = post.len; i-- > 0;) {
        vec_grow(&b->blocks)->b = post.items[i];
        map_putn(&b->block_at, &post.items[i], sizeof post.items[i],
                 (void *)(uintptr_t)b->blocks.len);
    }
    vec_release(&post);
    vec_release(&stack);
    map_release(&seen);
}

static void connect_blocks(Body *b)
{
    for (unsigned i = 0; i < b->blocks.len; i++) {
        Block *from = &b->blocks.items[i];
        LLVMValueRef t = LLVMGetBasicBlockTerminator(from->b);
        unsigned n = LLVMGetNumSuccessors(t);
        for (unsigned k = 0; k < n; k++) {
            unsigned to = block_index(b, LLVMGetSuccessor(t, k));
            assert(to < b->blocks.len);      /* what can be reached is in order */
            vec_push(&from->next, to);
            if (to <= i)
                b->blocks.items[to].header = true;
        }
    }
}

/* ---- values */

static bool is_fixed_alloca(LLVMValueRef v, unsigned block)
{
    return block == 0 && LLVMIsAAllocaInst(v) && LLVMIsAConstantInt(LLVMGetOperand(v, 0));
}

static Val *add_val(Body *b, LLVMValueRef v)
{
    Val *x = arena_new(&b->arena, Val);
    unsigned mark = concolic_mark(b->c, v);
    bool full = b->c->plan.full || !b->t->fn;
    x->v = v;
    x->woven = full || mark & (MARK_SEES | MARK_VALUE | MARK_MEMORY);
    x->labelled = full || mark & MARK_VALUE;
    x->outside = full && b->t->fn && b->c->plan.symbolic && !mark;
    if (x->labelled && LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMVoidTypeKind)
        x->leaves = concolic_leaves(b->w, LLVMTypeOf(v));
    x->labelled = x->leaves.n > 0;
    map_putn(&b->vals, &v, sizeof v, x);
    return x;
}

static void add_vals(Body *b)
{
    uint32_t site = b->t->site;
    Map sites = { 0 };
    for (unsigned k = 0; k < LLVMCountParams(b->native); k++) {
        Val *p = add_val(b, LLVMGetParam(b->native, k));
        p->is_param = p->fixed = true;
        p->labelled &= b->t->nlabels[k] > 0 && b->t->nlabels[k] != BYVAL;
        vec_push(&b->params, p);
    }
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(b->native); bb;
         bb = LLVMGetNextBasicBlock(bb)) {
        map_putn(&sites, &bb, sizeof bb, (void *)(uintptr_t)site);
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
            site++;
    }
    for (unsigned k = 0; k < b->blocks.len; k++) {
        LLVMBasicBlockRef bb = b->blocks.items[k].b;
        site = (uint32_t)(uintptr_t)map_getn(&sites, &bb, sizeof bb);
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i)) {
            Val *v = add_val(b, i);
            v->block = k;
            v->site = site++;
            v->is_phi = LLVMGetInstructionOpcode(i) == LLVMPHI;
            v->fixed = is_fixed_alloca(i, k);
            v->labelled &= !v->fixed;
            vec_push(&b->all, v);
        }
    }
    map_release(&sites);
}

/* ---- the scalar behind a value */

static bool is_prefix(const Leaf *l, const unsigned *path, unsigned n)
{
    for (unsigned k = 0; k < n; k++)
        if (k >= l->depth || l->path[k] != path[k])
            return false;
    return true;
}

/* The leaves of `type` that lie under the indices of an extract- or insertvalue. */
static bool part(Body *b, LLVMTypeRef type, LLVMValueRef i, unsigned *first, unsigned *n)
{
    Leaves all = concolic_leaves(b->w, type);
    const unsigned *path = LLVMGetIndices(i);
    unsigned depth = LLVMGetNumIndices(i);
    *n = 0;
    for (unsigned k = 0; k < all.n; k++)
        if (is_prefix(&all.at[k], path, depth) && (*n)++ == 0)
            *first = k;
    return *n > 0;
}

static bool is_expect(LLVMValueRef i)
{
    size_t n;
    LLVMValueRef f = LLVMGetCalledValue(i);
    return LLVMIsAFunction(f) && str_starts(LLVMGetValueName2(f, &n), "llvm.expect.");
}

/* One step to what it is a part or a cast of; false: it is itself. */
static bool step(Body *b, LLVMValueRef *v, unsigned *leaf)
{
    unsigned first, n;
    switch (LLVMGetInstructionOpcode(*v)) {
    case LLVMExtractValue:
        if (!part(b, LLVMTypeOf(LLVMGetOperand(*v, 0)), *v, &first, &n))
            return false;
        *v = LLVMGetOperand(*v, 0);
        *leaf += first;
        return true;
    case LLVMInsertValue:
        if (!part(b, LLVMTypeOf(*v), *v, &first, &n))
            return false;
        if (*leaf >= first && *leaf < first + n) {
            *v = LLVMGetOperand(*v, 1);
            *leaf -= first;
        } else {
            *v = LLVMGetOperand(*v, 0);
        }
        return true;
    case LLVMFreeze: *v = LLVMGetOperand(*v, 0); return true;
    case LLVMBitCast:
    case LLVMPtrToInt:
    case LLVMIntToPtr: {
        LLVMValueRef from = LLVMGetOperand(*v, 0);
        unsigned bits = concolic_bits(b->w, LLVMTypeOf(from));
        if (!bits || bits != concolic_bits(b->w, LLVMTypeOf(*v)))
            return false;
        *v = from;
        return true;
    }
    case LLVMCall:
        if (!is_expect(*v))
            return false;
        *v = LLVMGetOperand(*v, 0);
        return true;
    default: return false;
    }
}

Ref ref_of(Body *b, LLVMValueRef v, unsigned leaf)
{
    while (LLVMIsAInstruction(v) && val_of(b, v) && step(b, &v, &leaf))
        ;
    if (LLVMIsAConstant(v)) {
        Leaves l = concolic_leaves(b->w, LLVMTypeOf(v));
        for (unsigned k = 0; leaf < l.n && k < l.at[leaf].depth && v; k++)
            v = LLVMGetAggregateElement(v, l.at[leaf].path[k]);
        return (Ref){ .v = v };
    }
    return (Ref){ .v = v, .leaf = leaf, .val = val_of(b, v) };
}

void use_label(Body *b, Ref r, unsigned piece)
{
    if (!r.val || !r.val->labelled)
        return;
    assert(r.leaf < r.val->leaves.n && piece < b->pieces.len);
    r.val->label_used = true;
    vec_push(&b->uses, ((LabelUse){ r.val, b->pieces.items[piece].block }));
}

/* ---- pieces */

static void cut(Body *b, unsigned block, unsigned at)
{
    if (b->pieces.len && b->pieces.items[b->pieces.len - 1].block == block)
        b->pieces.items[b->pieces.len - 1].end = at;
    Piece *p = vec_grow(&b->pieces);
    p->block = block;
    p->first = at;
}

static void cut_if_rows(Body *b, unsigned block, unsigned at)
{
    if (b->pieces.items[b->pieces.len - 1].region.rows.len)
        cut(b, block, at);
}

static void plan_terminator(Body *b, Val *v, unsigned at)
{
    bool ret = LLVMGetInstructionOpcode(v->v) == LLVMRet;
    if (!ret)
        rows_of(b, v);
    cut_if_rows(b, v->block, at);
    v->piece = (unsigned)b->pieces.len - 1;
    if (!ret || LLVMGetNumOperands(v->v) == 0)
        return;
    for (unsigned k = 0; k < b->t->nresults; k++)
        use_label(b, ref_of(b, LLVMGetOperand(v->v, 0), k), v->piece);
}

static void plan_a_call(Body *b, Val *v, unsigned at)
{
    CallKind kind = call_kind(b, v->v);
    v->piece = (unsigned)b->pieces.len - 1;
    if (kind == CALL_ROWS)
        rows_of(b, v);
    if (kind <= CALL_ROWS)
        return;
    plan_call(b, v);
    cut_if_rows(b, v->block, at);
    v->piece = (unsigned)b->pieces.len - 1;
    plan_call_uses(b, v);
    if (call_returns_labels(b, v))
        cut(b, v->block, at + 1);
}

static void plan_block(Body *b, unsigned block, unsigned *at)
{
    cut(b, block, *at);
    b->blocks.items[block].first = (unsigned)b->pieces.len - 1;
    for (; *at < b->all.len && b->all.items[*at]->block == block; ++*at) {
        Val *v = b->all.items[*at];
        Region *r = &b->pieces.items[b->pieces.len - 1].region;
        if (r->rows.len > MOST_ROWS || r->slots.len > MOST_SLOTS)
            cut(b, block, *at);
        if (LLVMIsATerminatorInst(v->v)) {
            plan_terminator(b, v, *at);
        } else if (LLVMIsACallInst(v->v)) {
            plan_a_call(b, v, *at);
        } else {
            v->piece = (unsigned)b->pieces.len - 1;
            if (!v->is_phi && v->woven && !v->fixed)
                rows_of(b, v);
        }
    }
    b->pieces.items[b->pieces.len - 1].end = *at;
    b->blocks.items[block].last = (unsigned)b->pieces.len - 1;
}

/* ---- what crosses */

static void use_value(Body *b, LLVMValueRef v, unsigned piece)
{
    Val *x = val_of(b, v);
    if (x && !x->fixed && x->piece != piece)
        x->crosses = true;
}

static void cross_phi(Body *b, Val *v)
{
    unsigned n = LLVMCountIncoming(v->v);
    for (unsigned k = 0; k < n; k++) {
        unsigned from = block_index(b, LLVMGetIncomingBlock(v->v, k));
        if (from == ~0u)
            continue;
        LLVMValueRef value = LLVMGetIncomingValue(v->v, k);
        use_value(b, value, b->blocks.items[from].last);
        for (unsigned l = 0; v->labelled && l < v->leaves.n; l++)
            use_label(b, ref_of(b, value, l), b->blocks.items[from].last);
    }
    v->label_used |= v->labelled;
}

static void find_crossing(Body *b)
{
    for (size_t k = 0; k < b->all.len; k++) {
        Val *v = b->all.items[k];
        if (v->is_phi) {
            cross_phi(b, v);
            continue;
        }
        int n = LLVMGetNumOperands(v->v);
        for (int i = 0; i < n; i++)
            use_value(b, LLVMGetOperand(v->v, (unsigned)i), v->piece);
    }
    for (unsigned p = 0; p < b->pieces.len; p++) {
        const Region *r = &b->pieces.items[p].region;
        for (size_t i = 0; i < r->slots.len; i++)
            if (r->slots.items[i].ref.val)
                use_value(b, r->slots.items[i].ref.v, p);
        for (size_t i = 0; i < r->touches.len; i++)
            use_value(b, r->touches.items[i].base, p);
    }
}

/* ---- which labels are alive where a loop begins */

static void set_bits(uint64_t *set, const Val *v)
{
    assert(v->label_used);                   /* else it has no numbers */
    for (unsigned k = v->live; k < v->live + v->leaves.n; k++)
        set[k / 64] |= 1ull << k % 64;
}

static void number_labels(Body *b)
{
    for (size_t k = 0; k < b->params.len + b->all.len; k++) {
        Val *v = k < b->params.len ? b->params.items[k] : b->all.items[k - b->params.len];
        if (!v->label_used)
            continue;
        v->live = b->nlabels;
        b->nlabels += v->leaves.n;
    }
}

static bool live_changes(Body *b, Block *k, size_t words)
{
    bool changed = false;
    for (size_t w = 0; w < words; w++) {
        uint64_t out = 0;
        for (size_t s = 0; s < k->next.len; s++)
            out |= b->blocks.items[k->next.items[s]].live[w];
        out = k->gen[w] | (out & ~k->kill[w]);
        changed |= out != k->live[w];
        k->live[w] = out;
    }
    return changed;
}

static void find_live(Body *b)
{
    size_t words = (b->nlabels + 63) / 64;
    for (size_t i = 0; i < b->blocks.len; i++) {
        Block *k = &b->blocks.items[i];
        k->gen = xcalloc(words + 1, 8);
        k->kill = xcalloc(words + 1, 8);
        k->live = xcalloc(words + 1, 8);
    }
    for (size_t i = 0; i < b->all.len; i++)
        if (b->all.items[i]->label_used)
            set_bits(b->blocks.items[b->all.items[i]->block].kill, b->all.items[i]);
    for (size_t i = 0; i < b->uses.len; i++) {
        const LabelUse *u = &b->uses.items[i];
        if (u->val->is_param || u->val->block != u->block)
            set_bits(b->blocks.items[u->block].gen, u->val);
    }
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = b->blocks.len; i-- > 0;)
            changed |= live_changes(b, &b->blocks.items[i], words);
    }
}

void plan_body(Body *b)
{
    unsigned at = 0;
    order_blocks(b);
    connect_blocks(b);
    add_vals(b);
    for (unsigned k = 0; k < b->blocks.len; k++)
        plan_block(b, k, &at);
    assert(at == b->all.len);                /* each instruction is in a piece */
    find_crossing(b);
    number_labels(b);
    find_live(b);
}

void release_body(Body *b)
{
    for (size_t i = 0; i < b->pieces.len; i++) {
        Region *r = &b->pieces.items[i].region;
        vec_release(&r->rows);
        vec_release(&r->words);
        vec_release(&r->slots);
        vec_release(&r->touches);
    }
    for (size_t i = 0; i < b->blocks.len; i++) {
        Block *k = &b->blocks.items[i];
        vec_release(&k->next);
        free(k->gen);
        free(k->kill);
        free(k->live);
    }
    vec_release(&b->pieces);
    vec_release(&b->blocks);
    vec_release(&b->all);
    vec_release(&b->params);
    vec_release(&b->uses);
    vec_release(&b->forgets);
    vec_release(&b->forget_sizes);
    map_release(&b->vals);
    map_release(&b->block_at);
    map_release(&b->addresses);
    arena_release(&b->arena);
    free(b->starts[0]);
    free(b->starts[1]);
}
