/*
 * name:   a flag that only this call passes says that the other direction is meant: a note, no warning
 * run:    sundew arguments $file
 * expect: $file:20:5: arguments: copy: arguments 1 and 2 may be swapped
 * expect: $file:25:5: arguments: move: arguments 1 and 2 look swapped
 * absent: copy: arguments 1 and 2 look swapped
 * status: 1
 */
struct box;
void copy(struct box *from, struct box *to, int save);
void move(struct box *from, struct box *to, int save);

void a(struct box *from, struct box *to) { copy(from, to, 1); move(from, to, 1); }
void b(struct box *from, struct box *to) { copy(from, to, 1); move(from, to, 1); }
void c(struct box *from, struct box *to) { copy(from, to, 1); move(from, to, 0); }
void d(struct box *from, struct box *to) { copy(from, to, 1); move(from, to, 1); }

void restore(struct box *from, struct box *to)
{
    copy(to, from, 0);
}

void wrong(struct box *from, struct box *to)
{
    move(to, from, 0);
}
