/*
 * Races: memory that two threads use without a lock in common.
 *
 * From each thread root (main, functions that pthread_create() or thrd_create() start) the
 * calls are followed with the set of locks that are held: locks and memory are told
 * apart by name, as global variables and as fields of structs. A location is suspect if two
 * roots, or one root that is started several times, use it, one of them writes, and
 * the locks have nothing in common. Whether the two can really meet is not asked here:
 * initialised before the threads start, partitioned, joined. The schedule engine tells.
 *
 *     worker():  lock(m); q->len++; unlock(m)        {m}  write
 *     main():    if (q->len) …                       {}   read      → suspect
 */
#include "weave/watch/rules_int.h"
#include <assert.h>
#include <inttypes.h>

enum {
    ENDS = 8,
    MOST_DEPTH = 20,
    MOST_LOCKS = 64,
    MOST_CONTEXTS = 20000,           /* functions with locks held */
    MOST_ACCESSES = 300,             /* of one location */
    HANDS = 4,                       /* through which a root goes to pthread_create() */
};

typedef struct Access {
    LLVMValueRef at;
    const char *place;               /* the location's name */
    uint64_t locks;
    unsigned root;
    bool write;
} Access;

typedef Vec(Access) Accesses;

typedef struct Racing {
    Watch *watch;
    Map locks;                       /* name → number + 1 */
    Map seen;                        /* contexts: function, locks, root */
    Map places;                      /* location → its accesses */
    Vec(LLVMValueRef) roots;         /* [0] is main */
    Vec(bool) several;
    unsigned root;
} Racing;

/* ---- names */

static uint64_t lock_bit(Racing *r, LLVMValueRef p)
{
    const char *name = watch_shared_place(r->watch, p);
    if (!name)
        return 0;
    uintptr_t n = (uintptr_t)map_get(&r->locks, name);
    if (!n) {
        n = r->locks.len + 1;
        map_put(&r->locks, name, (void *)n);
    }
    return n <= MOST_LOCKS ? 1ULL << (n - 1) : 0;
}

/* ---- following calls */

static const char *const taking[] = {
    "pthread_mutex_lock",    "pthread_spin_lock", "pthread_rwlock_wrlock",
    "pthread_rwlock_rdlock", "mtx_lock",          NULL
};
static const char *const giving[] = { "pthread_mutex_unlock", "pthread_spin_unlock",
                                      "pthread_rwlock_unlock", "mtx_unlock", NULL };

static void add_access(Racing *r, LLVMValueRef i, LLVMValueRef p, bool write, uint64_t locks)
{
    const char *name = watch_shared_place(r->watch, p);
    if (!name || !LLVMGetDebugLocLine(i))
        return;
    void **slot = map_slot(&r->places, name);
    if (!*slot)
        *slot = xcalloc(1, sizeof(Accesses));
    Accesses *list = *slot;
    if (list->len < MOST_ACCESSES)
        vec_push(list, ((Access){ i, name, locks, r->root, write }));
}

static uint64_t follow(Racing *r, LLVMValueRef fn, uint64_t locks, unsigned depth);

static uint64_t step(Racing *r, LLVMValueRef i, uint64_t locks, unsigned depth)
{
    LLVMValueRef f = watch_callee_value(i);
    bool plain_load = LLVMIsALoadInst(i) && LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic;
    bool plain_store = LLVMIsAStoreInst(i) && LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic;
    if (plain_load || plain_store)
        add_access(r, i, LLVMGetOperand(i, plain_store), plain_store, locks);
    else if (watch_is_named(i, taking))
        locks |= lock_bit(r, LLVMGetOperand(i, 0));
    else if (watch_is_named(i, giving))
        locks &= ~lock_bit(r, LLVMGetOperand(i, 0));
    else if (f && !LLVMIsDeclaration(f) && depth)
        locks = follow(r, f, locks, depth - 1);
    return locks;
}

/* Blocks in their order; what several ways bring is what all of them hold. */
static uint64_t follow_blocks(Racing *r, LLVMValueRef fn, uint64_t locks, unsigned depth)
{
    Map in = { 0 };
    uint64_t out = UINT64_MAX;
    bool returns = false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b)) {
        uint64_t *held = map_getn(&in, &b, sizeof b);
        uint64_t now = held ? *held : locks;
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            now = step(r, i, now, depth);
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        if (!end)
            continue;
        if (LLVMGetInstructionOpcode(end) == LLVMRet) {
            out &= now;
            returns = true;
        }
        for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
            LLVMBasicBlockRef to = LLVMGetSuccessor(end, k);
            void **slot = map_slotn(&in, &to, sizeof to);
            if (!*slot) {
                *slot = arena_new(&r->watch->arena, uint64_t);
                *(uint64_t *)*slot = UINT64_MAX;
            }
            *(uint64_t *)*slot &= now;
        }
    }
    map_release(&in);
    return returns ? out : locks;
}

static uint64_t follow(Racing *r, LLVMValueRef fn, uint64_t locks, unsigned depth)
{
    struct {
        LLVMValueRef fn;
        uint64_t locks, root;
    } key = { fn, locks, r->root };
    uint64_t *known = map_getn(&r->seen, &key, sizeof key);
    if (known)
        return *known;
    if (r->seen.len >= MOST_CONTEXTS)
        return locks;
    known = arena_new(&r->watch->arena, uint64_t);
    *known = locks;                  /* recursion */
    map_putn(&r->seen, &key, sizeof key, known);
    *known = follow_blocks(r, fn, locks, depth);
    return *known;
}

/* ---- roots */

static void add_root(Racing *r, LLVMValueRef fn, bool several)
{
    for (size_t k = 0; k < r->roots.len; k++)
        if (r->roots.items[k] == fn) {
            r->several.items[k] = true;
            return;
        }
    vec_push(&r->roots, fn);
    vec_push(&r->several, several);
}

/* May the call run more than once? */
static bool runs_often(LLVMValueRef call, unsigned depth)
{
    LLVMValueRef fn = watch_function_of(call), caller = NULL;
    if (watch_is_behind(call, call, NULL))
        return true;
    for (LLVMUseRef u = LLVMGetFirstUse(fn); u; u = LLVMGetNextUse(u)) {
        if (caller || watch_callee_value(LLVMGetUser(u)) != fn)
            return true;
        caller = LLVMGetUser(u);
    }
    return caller && depth && runs_often(caller, depth - 1);
}

/* The functions that a thread may begin with: one by name, one that a function of the program gets
 * from its callers, or one that a field or variable keeps. */
static void add_roots(Racing *r, LLVMValueRef v, LLVMValueRef call, bool several, unsigned depth)
{
    if (LLVMIsAFunction(v)) {
        if (!LLVMIsDeclaration(v))
            add_root(r, v, several || runs_often(call, HANDS));
        return;
    }
    several |= watch_is_behind(call, call, NULL);
    if (LLVMIsAArgument(v) && depth) {
        LLVMValueRef fn = LLVMGetParamParent(v);
        unsigned n = watch_position(fn, v);
        for (LLVMUseRef u = LLVMGetFirstUse(fn); u; u = LLVMGetNextUse(u)) {
            LLVMValueRef i = LLVMGetUser(u);
            if (watch_callee_value(i) == fn && n < LLVMGetNumArgOperands(i))
                add_roots(r, LLVMGetOperand(i, n), i, several, depth - 1);
        }
    }
    const char *place = LLVMIsALoadInst(v) ? watch_place_of(r->watch, LLVMGetOperand(v, 0)) : NULL;
    const WatchUses *uses = place && depth ? watch_uses(r->watch, place, false) : NULL;
    for (size_t k = 0; uses && k < uses->all.len; k++)
        if (LLVMIsAStoreInst(uses->all.items[k]))
            add_roots(r, LLVMGetOperand(uses->all.items[k], 0), call, several, depth - 1);
}

static void find_roots(Racing *r)
{
    LLVMModuleRef m = r->watch->w->module;
    LLVMValueRef main = LLVMGetNamedFunction(m, "main");
    if (main && !LLVMIsDeclaration(main))
        add_root(r, main, false);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                const char *name = watch_library(i);
                unsigned at = name && !strcmp(name, "pthread_create") ? 2
                              : name && !strcmp(name, "thrd_create")  ? 1
                                                                      : 0;
                if (at)
                    add_roots(r, LLVMGetOperand(i, at), i, false, HANDS);
            }
}

/* ---- pairs */

static bool may_race(const Racing *r, const Access *a, const Access *b)
{
    if ((!a->write && !b->write) || (a->locks & b->locks))
        return false;
    return a->root != b->root || r->several.items[a->root];
}

static int end_of(WatchSite *s, const Access *a)
{
    unsigned line = LLVMGetDebugLocLine(a->at);
    for (unsigned k = 0; k < s->nplaces; k++)
        if (s->places[k].line == line)
            return (int)k;
    if (s->nplaces == ENDS)
        return -1;
    s->places[s->nplaces] = (WatchPlace){ line, LLVMGetDebugLocColumn(a->at) };
    return (int)s->nplaces++;
}

/* A site for each location, and its ends: the lines that may race with each other. */
static void add_site(Racing *r, const Accesses *all)
{
    WatchSite *s = NULL;
    for (size_t i = 0; i < all->len; i++)
        for (size_t k = i; k < all->len; k++) {
            const Access *a = &all->items[i], *b = &all->items[k];
            if (!may_race(r, a, b))
                continue;
            if (!s)
                s = watch_add(r->watch, (a->write ? a : b)->at, SITE_SUSPECT, a->place, a->place);
            int x = end_of(s, a), y = end_of(s, b);
            if (x < 0 || y < 0)
                continue;
            s->fact[0] |= (int64_t)(1ULL << (x * ENDS + y));
            s->fact[0] |= (int64_t)(1ULL << (y * ENDS + x));
        }
}

/* Called for each function; the work is done once, at main. */
static void find(Watch *watch, LLVMValueRef fn)
{
    if (!watch->races || strcmp(watch_name(fn), "main"))
        return;
    Racing r = { .watch = watch };
    find_roots(&r);
    assert(r.roots.len == r.several.len);
    for (r.root = 0; r.roots.len > 1 && r.root < r.roots.len; r.root++)
        follow(&r, r.roots.items[r.root], 0, MOST_DEPTH);
    for (size_t i = 0; i < r.places.len; i++) {
        Accesses *all = r.places.entries[i].value;
        add_site(&r, all);
        vec_release(all);
        free(all);
    }
    map_release(&r.places);
    map_release(&r.locks);
    map_release(&r.seen);
    vec_release(&r.roots);
    vec_release(&r.several);
}

/* Are both ends reached? A slot for each end, hit at every access of its line and location. */
static void probe(Watch *watch, WatchSite *s)
{
    const WatchUses *uses = watch_uses(watch, s->subject, true);
    for (size_t i = 0; i < uses->all.len; i++)
        for (unsigned k = 0; k < s->nplaces; k++)
            if (s->places[k].line == LLVMGetDebugLocLine(uses->all.items[i])) {
                LLVMValueRef slot = watch_slot_value(watch, s, k);
                watch_go_before(watch, uses->all.items[i]);
                watch_call(watch, "sundew_watch_hit", watch->w->void_, &slot, 1);
            }
}

/* The pair that was reached most often. Whether it races is told by schedules. */
static void join(const WatchSite *s, const struct sundew_watch_slot *self, const WatchEvidence *all,
                 WatchJudgement *out)
{
    (void)self;
    out->missing = "a test that reaches both accesses, with schedules of its threads";
    out->open = true;
    for (unsigned i = 0; i < s->nplaces; i++)
        for (unsigned k = i; k < s->nplaces; k++) {
            uint64_t a = watch_slot(all, s, i)->n, b = watch_slot(all, s, k)->n;
            if (((uint64_t)s->fact[0] >> (i * ENDS + k)) & 1 &&
                (a < b ? a : b) > out->opportunities)
                out->opportunities = a < b ? a : b;
        }
}

const WatchRule rule_race = {
    .family = "race",
    .objection = "the threads never use it at the same time",
    .opportunity = "accesses at both ends",
    .slots = ENDS,
    .function = find,
    .probe = probe,
    .join = join,
};
