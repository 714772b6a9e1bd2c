/* Coins, whose memory comes from a purse. A purse is for one thread at a time; coins that nobody
 * changes may be looked at by several. */
#ifndef PURSE_H
#define PURSE_H
#include <stddef.h>

struct purse {
    void *(*take)(void *bag, size_t n);
    void (*give)(void *bag, void *memory);
    void *bag;
};

struct purse *purse_new(void);
void purse_free(struct purse *p);

struct coin;

struct coin *coin_new(const struct purse *p, int value);
void coin_free(struct coin *c);
int coin_value(const struct coin *c);
int coin_double(const struct coin *c, const struct purse *p);    /* works in memory of the purse */
#endif
