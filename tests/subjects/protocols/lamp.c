/* A function that makes a lamp begins no life of the desk that it is given: a desk that nobody
 * ends is in order. */
#include "lamp.h"
#include <stdlib.h>

struct lamp { struct desk *on; };

int lamp_new(struct lamp **out, struct desk *on)
{
    *out = malloc(sizeof **out);
    if (!*out)
        return -1;
    (*out)->on = on;
    return 0;
}

void lamp_free(struct lamp *l) { free(l); }
void desk_move(struct desk *d) { d->width++; }
