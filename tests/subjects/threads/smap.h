/* A2: a map from short names to maps. It is thread-safe: all functions but smap_free()
 * may be called by several threads at the same time. */
#ifndef SMAP_H
#define SMAP_H

struct smap;

struct smap *smap_new(void);
void smap_free(struct smap *m);
int smap_put(struct smap *m, const char *key, struct smap *value);      /* -1: full */
void smap_put_all(struct smap *d, struct smap *src);
void smap_clear(struct smap *m);
unsigned smap_hash(struct smap *m);
int smap_count(struct smap *m);
#endif
