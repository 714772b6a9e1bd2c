#include "buf.h"

void buf_set(struct buf *b, int start, int length)
{
    b->start = start;
    b->length = length;
}

void buf_crop(struct buf *b, int start, int length)
{
    buf_set(b, start, length);
}

int buf_end(struct buf *b)
{
    return b->start + b->length;
}
