#include "base/map.h"
#include "base/mem.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a with a final mix, so that the low bits, which choose the slot, depend
 * on all the bytes. */
uint64_t hash_bytes(const void *data, size_t n)
{
    const unsigned char *p = data;
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 1099511628211u;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return h ^ h >> 32;
}

static MapEntry *find(const Map *m, const void *key, size_t n, uint64_t hash, size_t *slot)
{
    *slot = 0;
    if (!m->nslots)
        return NULL;
    assert(m->len < m->nslots && !(m->nslots & (m->nslots - 1)));     /* so it ends */
    size_t i = hash & (m->nslots - 1);
    for (; m->slots[i]; i = (i + 1) & (m->nslots - 1)) {
        MapEntry *e = &m->entries[m->slots[i] - 1];
        if (e->hash == hash && e->key_len == n && memcmp(e->key, key, n) == 0)
            return e;
    }
    *slot = i;
    return NULL;
}

static void rehash(Map *m)
{
    size_t n = m->nslots ? m->nslots * 2 : 16;
    free(m->slots);
    m->slots = xcalloc(n, sizeof *m->slots);
    m->nslots = n;
    for (size_t k = 0; k < m->len; k++) {
        size_t i = m->entries[k].hash & (n - 1);
        while (m->slots[i])
            i = (i + 1) & (n - 1);
        m->slots[i] = (uint32_t)k + 1;
    }
}

static MapEntry *insert(Map *m, const void *key, size_t n, uint64_t hash)
{
    size_t slot;
    if (m->len * 4 >= m->nslots * 3)
        rehash(m);
    MapEntry *there = find(m, key, n, hash, &slot);
    assert(!there && !m->slots[slot] && m->len < UINT32_MAX);
    (void)there;
    if (m->len == m->cap) {
        m->cap = m->cap ? m->cap * 2 : 8;
        m->entries = xrealloc(m->entries, m->cap * sizeof *m->entries);
    }
    MapEntry *e = &m->entries[m->len++];
    *e = (MapEntry){ .key = xstrndup(key, n), .key_len = n, .hash = hash };
    m->slots[slot] = (uint32_t)m->len;
    return e;
}

void **map_slotn(Map *m, const void *key, size_t n)
{
    size_t slot;
    uint64_t hash = hash_bytes(key, n);
    MapEntry *e = find(m, key, n, hash, &slot);
    if (!e)
        e = insert(m, key, n, hash);
    return &e->value;
}

bool map_putn(Map *m, const void *key, size_t n, void *value)
{
    size_t before = m->len;
    *map_slotn(m, key, n) = value;
    return m->len > before;
}

void *map_getn(const Map *m, const void *key, size_t n)
{
    size_t slot;
    MapEntry *e = find(m, key, n, hash_bytes(key, n), &slot);
    return e ? e->value : NULL;
}

void *map_get(const Map *m, const char *key) { return map_getn(m, key, strlen(key)); }

bool map_has(const Map *m, const char *key)
{
    size_t slot;
    size_t n = strlen(key);
    return find(m, key, n, hash_bytes(key, n), &slot) != NULL;
}

bool map_put(Map *m, const char *key, void *value) { return map_putn(m, key, strlen(key), value); }

void **map_slot(Map *m, const char *key) { return map_slotn(m, key, strlen(key)); }

void map_release(Map *m)
{
    for (size_t i = 0; i < m->len; i++)
        free(m->entries[i].key);
    free(m->entries);
    free(m->slots);
    *m = (Map){ 0 };
}
