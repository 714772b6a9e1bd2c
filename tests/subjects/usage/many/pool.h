struct pool;
struct thing;
struct pool *pool_new(void);
void pool_free(struct pool *p);
struct thing *thing_new(struct pool *p, int n);
int thing_add(struct thing *t, int n);
int thing_get(const struct thing *t);
void thing_free(struct thing *t);
