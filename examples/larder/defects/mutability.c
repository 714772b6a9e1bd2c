/* A label for a read-only object: larder_info_label() takes it as const. */
#include "larder.h"
#include <stdio.h>

static const struct larder_info tea = {
    .sku = "TEA", .shelf = "top", .unit = LARDER_PIECE, .on_hand = 9
};

int main(void)
{
    puts(larder_info_label(&tea));
    return 0;
}
