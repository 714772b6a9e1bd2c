/*
 * name:   the declaration asks for another enum
 * run:    sundew types --own-only $file
 * expect: $file:16:10: types: fill: argument 1 is enum shape
 * expect: it is declared enum color
 * status: 1
 */
enum color { RED, GREEN };
enum shape { ROUND, SQUARE };

void fill(enum color c);

void fill_all(void)
{
    fill(RED);
    fill(SQUARE);
}
