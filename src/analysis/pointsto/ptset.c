#include "analysis/pointsto/ptset.h"
#include "base/mem.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The first block whose index is not below `index`. */
static uint32_t find(const PtBits *s, uint32_t index)
{
    uint32_t lo = 0, hi = s->len;

    if (hi && s->blocks[hi - 1].index < index)
        return hi;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (s->blocks[mid].index < index)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void reserve(PtBits *s, uint32_t n)
{
    if (n <= s->cap)
        return;
    uint32_t cap = s->cap + s->cap / 2;
    s->cap = cap > n ? cap : n;
    s->blocks = xrealloc(s->blocks, s->cap * sizeof *s->blocks);
}

bool ptbits_has(const PtBits *s, uint32_t x)
{
    uint32_t i = find(s, x / 128);

    return i < s->len && s->blocks[i].index == x / 128 &&
           (s->blocks[i].bits[x / 64 % 2] >> (x % 64) & 1);
}

bool ptbits_add(PtBits *s, uint32_t x)
{
    uint32_t i = find(s, x / 128);
    uint64_t bit = UINT64_C(1) << (x % 64);

    if (i == s->len || s->blocks[i].index != x / 128) {
        reserve(s, s->len + 1);
        if (i < s->len)
            memmove(&s->blocks[i + 1], &s->blocks[i], (s->len - i) * sizeof *s->blocks);
        s->blocks[i] = (PtBlock){ .index = x / 128 };
        s->len++;
    }
    uint64_t *word = &s->blocks[i].bits[x / 64 % 2];
    if (*word & bit)
        return false;
    *word |= bit;
    return true;
}

void ptbits_remove(PtBits *s, uint32_t x)
{
    uint32_t i = find(s, x / 128);

    if (i < s->len && s->blocks[i].index == x / 128)
        s->blocks[i].bits[x / 64 % 2] &= ~(UINT64_C(1) << (x % 64));
}

/* Ors the blocks that both have, counts those that only `from` has. */
static bool merge_common(PtBits *s, const PtBits *from, PtBits *fresh, uint32_t *missing)
{
    bool changed = false;
    uint32_t i = from->len ? find(s, from->blocks[0].index) : 0;

    *missing = 0;
    for (uint32_t j = 0; j < from->len; j++) {
        const PtBlock *b = &from->blocks[j];
        while (i < s->len && s->blocks[i].index < b->index)
            i++;
        if (i == s->len || s->blocks[i].index != b->index) {
            ++*missing;
            continue;
        }
        uint64_t new0 = b->bits[0] & ~s->blocks[i].bits[0];
        uint64_t new1 = b->bits[1] & ~s->blocks[i].bits[1];
        if (!(new0 | new1))
            continue;
        changed = true;
        s->blocks[i].bits[0] |= new0;
        s->blocks[i].bits[1] |= new1;
        if (fresh) {
            PtBlock one = { b->index, { new0, new1 } };
            ptbits_union(fresh, &(PtBits){ &one, 1, 1 }, NULL);
        }
    }
    return changed;
}

bool ptbits_union(PtBits *s, const PtBits *from, PtBits *fresh)
{
    assert(fresh != s && fresh != from);
    uint32_t missing;
    bool changed = merge_common(s, from, fresh, &missing);

    if (!missing)
        return changed;
    reserve(s, s->len + missing);
    int64_t i = (int64_t)s->len - 1, k = (int64_t)s->len + missing - 1;
    s->len += missing;
    for (int64_t j = (int64_t)from->len - 1; j >= 0 && missing; j--) {
        const PtBlock *b = &from->blocks[j];
        while (i >= 0 && s->blocks[i].index > b->index)
            s->blocks[k--] = s->blocks[i--];
        if (i >= 0 && s->blocks[i].index == b->index)
            continue;
        s->blocks[k--] = *b;
        missing--;
        if (fresh)
            ptbits_union(fresh, &(PtBits){ (PtBlock *)b, 1, 1 }, NULL);
    }
    assert(!missing && k == i);       /* every gap is filled */
    return true;
}

size_t ptbits_count(const PtBits *s)
{
    size_t n = 0;

    for (uint32_t i = 0; i < s->len; i++)
        n += (size_t)__builtin_popcountll(s->blocks[i].bits[0]) +
             (size_t)__builtin_popcountll(s->blocks[i].bits[1]);
    return n;
}

bool ptbits_meet(const PtBits *a, const PtBits *b)
{
    for (uint32_t i = 0, j = 0; i < a->len && j < b->len;) {
        const PtBlock *x = &a->blocks[i], *y = &b->blocks[j];
        if (x->index == y->index && ((x->bits[0] & y->bits[0]) | (x->bits[1] & y->bits[1])))
            return true;
        if (x->index <= y->index)
            i++;
        else
            j++;
    }
    return false;
}

void ptbits_release(PtBits *s)
{
    free(s->blocks);
    *s = (PtBits){ 0 };
}

static void settle(PtIter *i)
{
    while (!i->rest) {
        if (++i->word == 2) {
            i->word = 0;
            i->block++;
        }
        if (i->block >= i->set->len) {
            i->on = false;
            return;
        }
        i->rest = i->set->blocks[i->block].bits[i->word];
    }
    i->on = true;
    i->x = i->set->blocks[i->block].index * 128 + i->word * 64 + (uint32_t)__builtin_ctzll(i->rest);
    i->rest &= i->rest - 1;
}

PtIter ptbits_first(const PtBits *s)
{
    PtIter i = { .set = s };

    if (s->len) {
        i.rest = s->blocks[0].bits[0];
        settle(&i);
    }
    return i;
}

void ptbits_next(PtIter *i) { settle(i); }
