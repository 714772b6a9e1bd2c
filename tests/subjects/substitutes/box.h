/* box - numbers in a box, and words about them. */
#ifndef BOX_H
#define BOX_H
struct box;
struct mark {
    int x;
#ifdef WIDE
    int y;
#endif
};
struct box *box_new(int most);
int box_put(struct box *b, int x);
int box_top(const struct box *b, int *out);
int box_text(const struct box *b, char *text, int size);
int box_mark(struct box *b, struct mark *m);
#ifndef LESS
int box_count(const struct box *b);
#endif
void box_free(struct box *b);
#endif
