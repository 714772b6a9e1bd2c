#include "latch.h"
#include <stdio.h>

int main(void)
{
    struct latch *l = latch_new();
    int shut = latch_inside(l);
    int turned = latch_turn(l, "quick brown fox", 482913u);
    printf("%d %d %d\n", shut, turned, latch_inside(l));
    latch_free(l);
    return 0;
}
