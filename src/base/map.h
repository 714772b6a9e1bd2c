/*
 * map - a hash map from byte strings to pointers, in insertion order.
 *
 *     Map m = {0};
 *     map_put(&m, "zlib", prog);
 *     Program *p = map_get(&m, "zlib");
 *     for (size_t i = 0; i < m.len; i++) use(m.entries[i].key, m.entries[i].value);
 *     map_release(&m);
 *
 * Keys are copied; values are the caller's. Iteration is in the order of first
 * insertion, so that what we print does not depend on hashes. Nothing is ever
 * removed one by one: our tables are built, read and dropped. map_putn() takes
 * keys that hold any bytes (a struct without padding, say).
 */
#ifndef SUNDEW_MAP_H
#define SUNDEW_MAP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct MapEntry {
    char *key;          /* NUL-terminated copy */
    size_t key_len;
    uint64_t hash;
    void *value;
} MapEntry;

typedef struct Map {
    MapEntry *entries;
    size_t len, cap;
    uint32_t *slots;    /* index + 1 into entries, 0 is free */
    size_t nslots;      /* a power of two */
} Map;

void *map_get(const Map *m, const char *key);
bool map_has(const Map *m, const char *key);
/* True if the key is new; an old value is replaced. */
bool map_put(Map *m, const char *key, void *value);
/* Where the value of `key` stands; a new key starts with NULL. Valid until the
 * next insertion. */
void **map_slot(Map *m, const char *key);

void *map_getn(const Map *m, const void *key, size_t n);
bool map_putn(Map *m, const void *key, size_t n, void *value);
void **map_slotn(Map *m, const void *key, size_t n);

void map_release(Map *m);

uint64_t hash_bytes(const void *data, size_t n);   /* fast, not for ids */
#endif
