/*
 * name:   start and length swapped
 * run:    sundew arguments $file
 * expect: $file:22:5: arguments: set_range: arguments 2 and 3 look swapped [arguments/swapped]
 * expect: 'length' is passed as 'start', 'start' is passed as 'length'
 * expect: declared as set_range(struct buf * b, int start, int length)
 * expect: write instead: $file:22:26: length
 * expect: 1 finding
 * absent: $file:26:5: arguments
 * status: 1
 */
struct buf { int start, length; };

static void set_range(struct buf *b, int start, int length)
{
    b->start = start;
    b->length = length;
}

void crop(struct buf *b, int start, int length)
{
    set_range(b, length, start);
}

void keep(struct buf *b, int start, int length)
{
    set_range(b, start, length);
}
