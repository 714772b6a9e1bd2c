/*
 * name:   a flag that only this call passes says that the other direction is meant: a note, no warning
 * run:    sundew arguments $file
 * expect: $file:20:5: arguments: copy: arguments 1 and 2 may be swapped
 * expect: $file:25:5: arguments: move: arguments 1 and 2 look swapped
 * absent: copy: arguments 1 and 2 look swapped
 * status: 1
 */
struct box;
void copy(struct box *image, struct box *mask, int save);
void move(struct box *image, struct box *mask, int save);

void a(struct box *image, struct box *mask) { copy(image, mask, 1); move(image, mask, 1); }
void b(struct box *image, struct box *mask) { copy(image, mask, 1); move(image, mask, 1); }
void c(struct box *image, struct box *mask) { copy(image, mask, 1); move(image, mask, 0); }
void d(struct box *image, struct box *mask) { copy(image, mask, 1); move(image, mask, 1); }

void restore(struct box *image, struct box *mask)
{
    copy(mask, image, 0);
}

void wrong(struct box *image, struct box *mask)
{
    move(mask, image, 0);
}
