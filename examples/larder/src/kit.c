/*
 * Kits. Only the newest one can be given parts, so no kit contains itself.
 */
#include "internal.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 6
#define MAX_COST 1000000000000L

static struct kit *find_kit(const struct larder *l, const char *name)
{
    struct kit *k = l->kits;

    while (k != NULL && strcmp(k->name, name) != 0)
        k = k->next;
    return k;
}

int larder_add_kit(struct larder *l, const char *name)
{
    if (!larder_name_ok(name))
        return larder_fail(l, LARDER_INVALID, "bad kit '%s'", name);
    if (find_kit(l, name) || larder_find_item(l, name))
        return larder_fail(l, LARDER_EXISTS, "%s exists", name);

    struct kit *k = calloc(1, sizeof *k);
    if (k == NULL)
        return larder_fail(l, LARDER_NO_MEMORY, "no memory for %s", name);
    strcpy(k->name, name);
    k->depth = 1;
    k->next = l->kits;
    l->kits = k;
    return LARDER_OK;
}

int larder_add_part(struct larder *l, const char *kit, const char *part,
                    long quantity, int optional)
{
    struct kit *k = find_kit(l, kit);

    if (k == NULL)
        return larder_fail(l, LARDER_NOT_FOUND, "no kit '%s'", kit);
    if (k != l->kits || k->count == MAX_PARTS)
        return larder_fail(l, LARDER_FULL, "%s is complete", kit);
    if (quantity < 1 || quantity > 1000)
        return larder_fail(l, EINVAL, "%s: bad quantity", part);

    struct part p = { NULL, find_kit(l, part), quantity, optional };
    p.item = larder_find_item(l, part);
    if (p.item == NULL && p.kit == NULL && !optional)
        return larder_fail(l, LARDER_NOT_FOUND, "no part '%s'", part);
    if (p.kit == k || (p.kit && p.kit->depth >= MAX_DEPTH))
        return larder_fail(l, LARDER_INVALID, "%s is too deep", part);
    if (p.kit && p.kit->depth >= k->depth)
        k->depth = p.kit->depth + 1;
    k->parts[k->count++] = p;
    return LARDER_OK;
}

static long kit_available(const struct kit *k);
static long kit_cost(const struct kit *k);

static long part_available(const struct part *p)
{
    if (p->optional)
        return LARDER_MAX;
    if (p->kit)
        return kit_available(p->kit) / p->quantity;
    return p->item->info.on_hand / p->quantity;
}

static long kit_available(const struct kit *k)
{
    long least = k->count ? LARDER_MAX : 0;

    for (size_t i = 0; i < k->count; i++) {
        long n = part_available(&k->parts[i]);
        if (n < least)
            least = n;
    }
    return least;
}

static long part_cost(const struct part *p)
{
    long each = p->kit ? kit_cost(p->kit) : p->item->price;

    return each * p->quantity;
}

static long kit_cost(const struct kit *k)
{
    long cost = 0;

    for (size_t i = 0; i < k->count; i++)
        cost += part_cost(&k->parts[i]);
    return cost < MAX_COST ? cost : MAX_COST;
}

int larder_kit(struct larder *l, const char *name, long *kits, long *cents)
{
    const struct kit *k = find_kit(l, name);

    if (k == NULL)
        return larder_fail(l, LARDER_NOT_FOUND, "no kit '%s'", name);
    *kits = kit_available(k);
    *cents = kit_cost(k);
    return LARDER_OK;
}
