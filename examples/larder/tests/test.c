#include "larder.h"
#include "store.h"
#include "tally.h"
#include <stdio.h>
#include <string.h>

static int failures;

#define CHECK(what) check((what) != 0, #what, __LINE__)

static void check(int ok, const char *what, int line)
{
    if (!ok) {
        printf("test.c:%d: failed: %s\n", line, what);
        failures++;
    }
}

static void test_store(const struct store_ops *ops)
{
    struct store *s;

    CHECK(ops->open(&s) == LARDER_OK);
    CHECK(ops->put(s, "TEA", "green") == LARDER_OK);
    CHECK(ops->put(s, "TEA", "black") == LARDER_OK);
    CHECK(ops->get(s, "TEA") && strcmp(ops->get(s, "TEA"), "black") == 0);
    CHECK(ops->remove(s, "TEA") == LARDER_OK);
    CHECK(ops->remove(s, "TEA") == LARDER_NOT_FOUND);
    CHECK(ops->get(s, "TEA") == NULL);
    ops->close(s);
}

static void test_larder(struct larder *l)
{
    struct larder_info info;
    long used, room, kits, cents;
    int from_day = 1, until_day = 2;

    CHECK(larder_add_item(l, "MILK", "cold", LARDER_LITRE, 4) < 0);
    CHECK(larder_add_shelf(l, "cold", 10) == LARDER_OK);
    CHECK(larder_add_item(l, "MILK", "cold", LARDER_LITRE, 4) == LARDER_OK);
    CHECK(larder_set_price(l, "MILK", 110) == LARDER_OK);
    CHECK(larder_receive(l, "MILK", 1, 8000, LARDER_MILLILITRE) == 1);
    CHECK(larder_receive(l, "MILK", 1, 3, LARDER_LITRE) == LARDER_FULL);
    CHECK(larder_receive(l, "MILK", 1, 1, LARDER_KILO) == LARDER_INVALID);
    CHECK(larder_issue(l, "MILK", 2, 9, LARDER_LITRE) == LARDER_SHORT);
    CHECK(larder_issue(l, "MILK", 2, 5, LARDER_LITRE) == 2);
    CHECK(larder_usage(l, "MILK", from_day, until_day, &used) == LARDER_OK);
    CHECK(used == 5);
    CHECK(larder_void(l, 1) == LARDER_SHORT);
    CHECK(larder_void(l, 2) == LARDER_OK);
    CHECK(larder_void(l, 2) == LARDER_INVALID);
    CHECK(larder_shelf(l, "cold", &used, &room) == LARDER_OK && room == 2);
    CHECK(larder_get(l, "MILK", &info) == LARDER_OK && info.on_hand == 8);
    CHECK(larder_add_kit(l, "SHAKE") == LARDER_OK);
    CHECK(larder_add_part(l, "SHAKE", "MILK", 2, 0) == LARDER_OK);
    CHECK(larder_kit(l, "SHAKE", &kits, &cents) == LARDER_OK && kits == 4);
}

int main(void)
{
    struct tally *t = tally_new();
    struct store *notes;
    struct larder *l;

    test_store(&store_list);
    test_store(&store_packed);
    CHECK(store_list.open(&notes) == LARDER_OK);
    CHECK(larder_new(&l, notes) == LARDER_OK);
    test_larder(l);
    CHECK(larder_issue(l, "MILK", 3, 2, LARDER_LITRE) == 3);
    CHECK(larder_tally_usage(l, t, 3) == LARDER_OK);
    CHECK(tally_get(t, "MILK") == 2 && tally_get(t, "TEA") == 0);
    larder_free(l);
    tally_free(t);
    store_list.close(notes);
    return failures > 0;
}
