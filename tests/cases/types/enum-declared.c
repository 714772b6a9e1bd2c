/*
 * name:   the declaration asks for another enum
 * run:    sundew types --own-only $file
 * expect: $file:15:10: types: fill: argument 1 is enum shape; it is declared enum color
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
