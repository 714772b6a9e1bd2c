/* Loads the ledger that the first argument names, and asks how much room the
 * shelf of the second has. */
#include "larder.h"
#include "store.h"
#include <stdio.h>

int main(int argc, char **argv)
{
    struct store *notes;
    struct larder *l;
    long used = 0, room = 0;

    if (argc != 3 || store_list.open(&notes) < 0 || larder_new(&l, notes) < 0)
        return 2;
    larder_load_file(l, argv[1]);
    larder_shelf(l, argv[2], &used, &room);
    printf("%s: %ld used, room for %ld\n", argv[2], used, room);
    larder_free(l);
    store_list.close(notes);
    return 0;
}
