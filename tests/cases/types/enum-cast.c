/*
 * name:   a cast to the enum of the declaration says that it is meant: a note
 * run:    sundew types --own-only $file
 * expect: $file:16:10: types: fill: argument 1 is enum shape
 * expect: 1 finding (1 note)
 * status: 0
 */
enum color { RED, GREEN };
enum shape { ROUND, SQUARE };

void fill(enum color c);

void fill_all(enum shape s)
{
    fill(RED);
    fill((enum color)s);
}
