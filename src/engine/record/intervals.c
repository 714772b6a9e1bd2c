#include "engine/record/intervals.h"
#include "base/mem.h"
#include <stdlib.h>

struct IntervalNode {
    uint64_t address, size, priority;
    void *value;
    IntervalNode *left, *right;
};

/* Spread out, the same in each run. */
static uint64_t draw(Intervals *m)
{
    uint64_t x = ++m->draws * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 31);
}

/* All below `address` to *l, the rest to *r. */
static void split(IntervalNode *n, uint64_t address, IntervalNode **l, IntervalNode **r)
{
    while (n) {
        if (n->address < address) {
            *l = n;
            l = &n->right;
            n = n->right;
        } else {
            *r = n;
            r = &n->left;
            n = n->left;
        }
    }
    *l = *r = NULL;
}

static IntervalNode *join(IntervalNode *l, IntervalNode *r)
{
    IntervalNode *root = NULL, **at = &root;

    while (l && r) {
        if (l->priority > r->priority) {
            *at = l;
            at = &l->right;
            l = l->right;
        } else {
            *at = r;
            at = &r->left;
            r = r->left;
        }
    }
    *at = l ? l : r;
    return root;
}

static IntervalNode *node_at(const Intervals *m, uint64_t address)
{
    IntervalNode *best = NULL;

    for (IntervalNode *n = m->root; n;) {
        if (n->address <= address) {
            best = n;
            n = n->right;
        } else {
            n = n->left;
        }
    }
    return best && address - best->address < best->size ? best : NULL;
}

static void drop(IntervalNode *n)
{
    while (n) {               /* unrolled to the right, so depth costs no stack */
        if (n->left) {
            IntervalNode *l = n->left;
            n->left = l->right;
            l->right = n;
            n = l;
        } else {
            IntervalNode *r = n->right;
            free(n);
            n = r;
        }
    }
}

void intervals_put(Intervals *m, uint64_t address, uint64_t size, void *value)
{
    IntervalNode *below, *inside, *above;
    IntervalNode *n = node_at(m, address);

    if (size == 0)
        size = 1;
    if (size > UINT64_MAX - address)
        size = UINT64_MAX - address;
    if (n && n->address < address)
        intervals_remove(m, n->address);
    split(m->root, address, &below, &inside);
    IntervalNode *rest = inside;
    split(rest, address + size, &inside, &above);
    drop(inside);
    n = xcalloc(1, sizeof *n);
    *n = (IntervalNode){ .address = address, .size = size, .value = value, .priority = draw(m) };
    m->root = join(join(below, n), above);
}

void *intervals_remove(Intervals *m, uint64_t address)
{
    IntervalNode *below, *here, *above, *rest;

    split(m->root, address, &below, &rest);
    if (address == UINT64_MAX) {
        here = rest;
        above = NULL;
    } else {
        split(rest, address + 1, &here, &above);
    }
    void *value = here ? here->value : NULL;
    drop(here);
    m->root = join(below, above);
    return value;
}

void *intervals_find(const Intervals *m, uint64_t address)
{
    const IntervalNode *n = node_at(m, address);
    return n ? n->value : NULL;
}

void intervals_release(Intervals *m)
{
    drop(m->root);
    *m = (Intervals){ 0 };
}
