/*
 * name:   a struct without a name is not called by its place
 * run:    sundew arguments $file
 * expect: $file:20:5: arguments: set_range: arguments 2 and 3 look swapped
 * absent: (unnamed
 * status: 1
 */
struct buf;
struct hooks {
    struct {
        void (*set_range)(struct buf *b, int start, int length);
    } edit;
};
void right(struct hooks *h, struct buf *b, int start, int length)
{
    h->edit.set_range(b, start, length);
}
void crop(struct hooks *h, struct buf *b, int start, int length)
{
    h->edit.set_range(b, length, start);
}
