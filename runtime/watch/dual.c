/* watch - pure functions that are called a second time: comparators, hash functions
 * and equalities. The weave has seen that they write nothing. */
#include "runtime/watch/watch_int.h"
#include <string.h>

static _Thread_local char inside __attribute__((tls_model("initial-exec")));

static int sign(int r) { return (r > 0) - (r < 0); }

/* Copies of elements while a sort runs: elements move, and what they lead to stays. */
enum { SAMPLES = 8, SAMPLE = 64 };
static _Thread_local struct {
    uint32_t slot, n;                /* slot + 1; 0: no sort runs */
    char all[SAMPLES][SAMPLE] __attribute__((aligned(16)));
} sorting __attribute__((tls_model("initial-exec")));

void sundew_watch_sort(uint32_t slot, uint32_t begins)
{
    sorting.slot = begins ? slot + 1 : 0;
    sorting.n = 0;
}

/* From a to b to c the order goes one way, so it does from a to c. */
static int is_order(int ab, int bc, int ac)
{
    if (!ab)
        return ac == bc;
    return !bc || ab == bc ? ac == ab : 1;
}

static void compare_three(struct sundew_watch_slot *s, SundewCompare *f, const void *a,
                          const void *b, int ab, uint32_t size)
{
    unsigned have = sorting.n < SAMPLES ? sorting.n : SAMPLES;
    for (unsigned i = 0; i < have; i++) {
        int bc = sign(f(b, sorting.all[i])), ac = sign(f(a, sorting.all[i]));
        if (!is_order(ab, bc, ac))
            sundew_watch_bad(s, 4, bc, ac);
    }
    memcpy(sorting.all[sorting.n++ % SAMPLES], a, size);
}

void sundew_watch_compare(uint32_t slot, SundewCompare *f, const void *a, const void *b, int r,
                          uint32_t size)
{
    struct sundew_watch_slot *s = inside ? NULL : sundew_watch_slot_of(slot);
    if (!s || sundew_watch_note(s) >= SUNDEW_WATCH_DUAL)
        return;
    int error = errno;
    inside = 1;
    int back = f(b, a), self = f(a, a);
    if (sorting.slot == slot + 1 && size && size <= SAMPLE)
        compare_three(s, f, a, b, sign(r), size);
    inside = 0;
    errno = error;
    if (sign(r) != -sign(back))
        sundew_watch_bad(s, 1, r, back);
    else if (self)
        sundew_watch_bad(s, 2, self, self);
}

/* ---- hash functions */

static uint64_t hash_of(void *hash, const void *key, uint32_t bits)
{
    inside = 1;
    uint64_t h = bits == 64 ? ((uint64_t (*)(const void *))hash)(key)
                            : ((uint32_t (*)(const void *))hash)(key);
    inside = 0;
    return bits == 64 ? h : h & ((1ULL << bits) - 1);
}

/* Copies of keys, so that none is used after it is gone. The oldest goes first. */
typedef struct Keys {
    uint32_t slot, n;                /* slot + 1 */
    struct {
        uint64_t hash;
        char text[SUNDEW_WATCH_TEXT];
    } all[SUNDEW_WATCH_KEYS];
} Keys;

enum { TABLES = 16 };
static Keys tables[TABLES];
static char busy;

static Keys *keys_of(uint32_t slot)
{
    for (unsigned i = 0; i < TABLES; i++) {
        if (!tables[i].slot)
            tables[i].slot = slot + 1;
        if (tables[i].slot == slot + 1)
            return &tables[i];
    }
    return NULL;
}

static void compare_keys(struct sundew_watch_slot *s, Keys *k, SundewCompare *equal, int zero_is,
                         const char *key, uint64_t h)
{
    size_t n = strnlen(key, SUNDEW_WATCH_TEXT);
    if (n == SUNDEW_WATCH_TEXT)
        return;
    unsigned have = k->n < SUNDEW_WATCH_KEYS ? k->n : SUNDEW_WATCH_KEYS;
    for (unsigned i = 0; i < have; i++) {
        if (!strcmp(k->all[i].text, key))
            return;
        inside = 1;
        int same = (equal(key, k->all[i].text) == 0) == zero_is;
        inside = 0;
        if (same && k->all[i].hash != h)
            sundew_watch_bad(s, 1, (int64_t)h, (int64_t)k->all[i].hash);
    }
    unsigned at = k->n++ % SUNDEW_WATCH_KEYS;
    memcpy(k->all[at].text, key, n + 1);
    k->all[at].hash = h;
}

void sundew_watch_hash(uint32_t slot, void *hash, void *equal, const void *key, uint64_t h,
                       uint32_t bits, uint32_t text)
{
    struct sundew_watch_slot *s = inside ? NULL : sundew_watch_slot_of(slot);
    (void)hash;
    if (!s || sundew_watch_note(s) >= SUNDEW_WATCH_DUAL || !(text & 1) || !key)
        return;
    if (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE))
        return;
    int error = errno;
    Keys *k = keys_of(slot);
    if (k)
        compare_keys(s, k, (SundewCompare *)equal, (text & 2) != 0, key,
                     bits == 64 ? h : h & ((1ULL << bits) - 1));
    errno = error;
    __atomic_clear(&busy, __ATOMIC_RELEASE);
}

void sundew_watch_equal(uint32_t slot, void *hash, const void *a, const void *b, uint32_t equal,
                        uint32_t bits)
{
    struct sundew_watch_slot *s = inside ? NULL : sundew_watch_slot_of(slot);
    if (!s || sundew_watch_note(s) >= SUNDEW_WATCH_DUAL || !equal || !a || !b || a == b)
        return;
    int error = errno;
    uint64_t x = hash_of(hash, a, bits), y = hash_of(hash, b, bits);
    errno = error;
    if (x != y)
        sundew_watch_bad(s, 1, (int64_t)x, (int64_t)y);
}

/* ---- objects that are compared byte by byte */

void sundew_watch_bytes(uint32_t slot, const char *a, const char *b, const char *mask, int r,
                        SundewCompare *equal, uint32_t zero)
{
    struct sundew_watch_slot *s = inside ? NULL : sundew_watch_slot_of(slot);
    if (!s || sundew_watch_note(s) >= SUNDEW_WATCH_DUAL || !r)
        return;
    int same = 1, error = errno;
    for (size_t i = 0; mask[i]; i++)
        same &= mask[i] == '0' || a[i] == b[i];
    if (same) {
        sundew_watch_bad(s, 1, 0, 0);
    } else if (equal) {
        inside = 1;
        same = (equal(a, b) == 0) == (zero != 0);
        inside = 0;
        errno = error;
        if (same)
            sundew_watch_bad(s, 2, 0, 0);
    }
}
