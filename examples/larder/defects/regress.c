/* What a generated regression test might do: usage after a movement was
 * taken back. Succeeds before the change, fails after it. */
#include "larder.h"
#include "store.h"
#include <assert.h>

int main(void)
{
    struct store *notes;
    struct larder *l;
    long used;

    assert(store_list.open(&notes) == LARDER_OK);
    assert(larder_new(&l, notes) == LARDER_OK);
    assert(larder_add_shelf(l, "dry", 200) == LARDER_OK);
    assert(larder_add_item(l, "FLOUR", "dry", LARDER_KILO, 8) == LARDER_OK);
    assert(larder_receive(l, "FLOUR", 1, 40, LARDER_KILO) == 1);
    assert(larder_issue(l, "FLOUR", 3, 12, LARDER_KILO) == 2);
    assert(larder_issue(l, "FLOUR", 5, 3, LARDER_KILO) == 3);
    assert(larder_void(l, 3) == LARDER_OK);
    assert(larder_usage(l, "FLOUR", 1, 5, &used) == LARDER_OK);
    assert(used == 12);
    larder_free(l);
    store_list.close(notes);
    return 0;
}
