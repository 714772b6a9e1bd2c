#include "lamp.h"

static int light(struct desk *d)
{
    struct lamp *l;
    if (lamp_new(&l, d) < 0)
        return 1;
    desk_move(d);
    lamp_free(l);
    return 0;
}

int main(void)
{
    struct desk one = { 1 }, two = { 2 };
    return light(&one) + light(&two) + light(&one);
}
