/*
 * Which conjuncts belong together is kept in a union-find over bytes that
 * remembers when each link was made: a conjunct links the bytes that it
 * depends on, and a question about the first i conjuncts follows only links
 * older than i. With union by size a chain has at most log n links, so no
 * path compression is needed and questions may come in any order.
 *
 *     parent   1 <- 4 <- 5      when[4] = 2: linked by conjunct 2
 *     question at 2: byte 4 is still on its own
 *
 * Members of a set form a ring, and each byte has the list of conjuncts whose
 * first byte it is: so a slice costs what its component holds, not the path.
 */
#include "solve/path.h"
#include "base/mem.h"
#include "solve/expr_int.h"
#include <assert.h>

enum { NEVER = UINT32_MAX };

typedef struct ByteInfo {
    uint32_t parent, when, size;
    uint32_t ring;            /* the next member of the set */
    uint32_t first;           /* conjunct + 1, newest first */
} ByteInfo;

struct Path {
    Exprs *p;
    Vec(Conjunct) conjuncts;
    Vec(uint32_t) older;      /* of the same first byte; conjunct + 1 */
    ByteInfo *bytes;
    size_t nbytes;
    Vec(bool) linked;         /* by number of byte set: its bytes are one */
};

Path *path_new(Exprs *p)
{
    Path *path = xcalloc(1, sizeof *path);
    path->p = p;
    return path;
}

void path_free(Path *path)
{
    if (!path)
        return;
    path_reset(path);
    free(path);
}

void path_reset(Path *path)
{
    vec_release(&path->conjuncts);
    vec_release(&path->older);
    vec_release(&path->linked);
    free(path->bytes);
    path->bytes = NULL;
    path->nbytes = 0;
}

size_t path_length(const Path *path) { return path->conjuncts.len; }

Conjunct path_at(const Path *path, size_t i)
{
    assert(i < path->conjuncts.len);
    return path->conjuncts.items[i];
}

/* ---- which bytes belong together */

static void make_room(Path *path, uint32_t byte)
{
    if (byte < path->nbytes)
        return;
    size_t n = path->nbytes ? path->nbytes : 256;
    while (n <= byte)
        n *= 2;
    path->bytes = xrealloc(path->bytes, n * sizeof *path->bytes);
    for (size_t i = path->nbytes; i < n; i++)
        path->bytes[i] =
            (ByteInfo){ .parent = (uint32_t)i, .when = NEVER, .size = 1, .ring = (uint32_t)i };
    path->nbytes = n;
}

static uint32_t find(const Path *path, uint32_t byte, size_t before)
{
    while (path->bytes[byte].when < before)
        byte = path->bytes[byte].parent;
    return byte;
}

static void link_bytes(Path *path, uint32_t a, uint32_t b, size_t when)
{
    a = find(path, a, NEVER);
    b = find(path, b, NEVER);
    if (a == b)
        return;
    ByteInfo *x = &path->bytes[a], *y = &path->bytes[b];
    if (x->size < y->size) {
        ByteInfo *t = x;
        x = y;
        y = t;
        a = b;
    }
    assert(x->when == NEVER && y->when == NEVER && when < NEVER);    /* both are roots */
    y->parent = a;
    y->when = (uint32_t)when;
    x->size += y->size;
    uint32_t next = x->ring;
    x->ring = y->ring;
    y->ring = next;
}

static bool already_linked(Path *path, uint32_t set)
{
    while (path->linked.len <= set)
        vec_push(&path->linked, false);
    bool was = path->linked.items[set];
    path->linked.items[set] = true;
    return was;
}

static void register_bytes(Path *path, size_t index, Expr cond)
{
    size_t n;
    const ByteRange *r = expr_bytes(path->p, cond, &n);
    if (!n)
        return;
    make_room(path, r[n - 1].to - 1);
    ByteInfo *first = &path->bytes[r[0].from];
    path->older.items[index] = first->first;
    first->first = (uint32_t)index + 1;
    if (already_linked(path, expr_bytes_id(path->p, cond)))
        return;
    for (size_t i = 0; i < n; i++)
        for (uint32_t b = r[i].from; b < r[i].to; b++)
            link_bytes(path, r[0].from, b, index);
}

size_t path_add(Path *path, Expr cond, uint32_t site, bool taken)
{
    assert(!cond || expr_width(path->p, cond) == 1);
    if (!taken)
        cond = expr_not(path->p, cond);
    size_t index = path->conjuncts.len;
    vec_push(&path->conjuncts, ((Conjunct){ cond, site, taken }));
    vec_push(&path->older, 0);
    if (cond)
        register_bytes(path, index, cond);
    return index;
}

/* ---- slices */

typedef Vec(uint32_t) Numbers;

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The sets, as they were before `index`, that the goal's bytes belong to. */
static void goal_roots(const Path *path, size_t index, Expr goal, Numbers *out)
{
    size_t n;
    const ByteRange *r = expr_bytes(path->p, goal, &n);
    for (size_t i = 0; i < n; i++)
        for (uint32_t b = r[i].from; b < r[i].to && b < path->nbytes; b++) {
            uint32_t root = find(path, b, index);
            if (!out->len || out->items[out->len - 1] != root)
                vec_push(out, root);
        }
    if (!out->len)
        return;
    if (out->len)
        qsort(out->items, out->len, sizeof *out->items, ascending);
    size_t kept = 0;
    for (size_t i = 0; i < out->len; i++)
        if (!kept || out->items[kept - 1] != out->items[i])
            out->items[kept++] = out->items[i];
    out->len = kept;
}

/* Conjuncts before `index` of one set. The ring may hold what joined later. */
static void members(const Path *path, size_t index, uint32_t root, Numbers *out)
{
    uint32_t b = root;
    do {
        uint32_t c = path->bytes[b].first;
        if (c && find(path, b, index) == root)
            for (; c; c = path->older.items[c - 1])
                if (c - 1 < index)
                    vec_push(out, c - 1);
        b = path->bytes[b].ring;
    } while (b != root);
}

/* A set of expressions seen. */
typedef struct Seen {
    Expr *slots;
    size_t n, cap;
} Seen;

static bool seen_before(Seen *s, Expr e)
{
    if (s->n * 2 >= s->cap) {
        Seen old = *s;
        s->cap = old.cap ? old.cap * 2 : 64;
        s->slots = xcalloc(s->cap, sizeof *s->slots);
        s->n = 0;
        for (size_t i = 0; i < old.cap; i++)
            if (old.slots[i])
                seen_before(s, old.slots[i]);
        free(old.slots);
    }
    size_t at = e * 0x9e3779b1u;
    while (s->slots[at &= s->cap - 1]) {
        if (s->slots[at] == e)
            return true;
        at++;
    }
    s->slots[at] = e;
    s->n++;
    return false;
}

/* The parts of a conjunction, in order. */
static void add_parts(const Exprs *p, Expr cond, Seen *seen, Slice *out)
{
    Slice stack = { 0 };
    vec_push(&stack, cond);
    while (stack.len) {
        Expr e = stack.items[--stack.len];
        ExprNode n = expr_node(p, e);
        if (n.op == EXPR_CONST || seen_before(seen, e))
            continue;
        if (n.op == EXPR_AND) {
            vec_push(&stack, n.b);
            vec_push(&stack, n.a);
        } else {
            vec_push(out, e);
        }
    }
    vec_release(&stack);
}

void path_slice(const Path *path, size_t index, Expr goal, Slice *out)
{
    Numbers roots = { 0 }, found = { 0 };
    Seen seen = { 0 };
    assert(index <= path->conjuncts.len);
    out->len = 0;
    goal_roots(path, index, goal, &roots);
    for (size_t i = 0; i < roots.len; i++)
        members(path, index, roots.items[i], &found);
    if (found.len)
        qsort(found.items, found.len, sizeof *found.items, ascending);
    for (size_t i = 0; i < found.len; i++)
        add_parts(path->p, path->conjuncts.items[found.items[i]].cond, &seen, out);
    free(seen.slots);
    vec_release(&roots);
    vec_release(&found);
}

void path_dump(const Path *path, Str *out)
{
    for (size_t i = 0; i < path->conjuncts.len; i++) {
        const Conjunct *c = &path->conjuncts.items[i];
        str_addf(out, "%zu site %u %s: ", i, c->site, c->taken ? "taken" : "not taken");
        expr_print(path->p, c->cond, out);
        str_addc(out, '\n');
    }
}
