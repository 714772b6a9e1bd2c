/*
 * name:   an enumerator of another enum
 * run:    sundew types --own-only $file
 * expect: $file:22:11: types: paint: argument 1 is enum shape
 * expect: 37 of 38 callers pass enum color
 * status: 1
 */
enum color { RED, GREEN, BLUE };
enum shape { ROUND, SQUARE };

void paint(int color);

void paint_all(enum color c, int n)
{
    paint(RED); paint(BLUE); paint(c); paint(RED); paint(BLUE); paint(c);
    paint(RED); paint(BLUE); paint(c); paint(RED); paint(BLUE); paint(c);
    paint(RED); paint(BLUE); paint(c); paint(RED); paint(BLUE); paint(c);
    paint(RED); paint(BLUE); paint(c); paint(RED); paint(BLUE); paint(c);
    paint(RED); paint(BLUE); paint(c); paint(RED); paint(BLUE); paint(c);
    paint(RED); paint(BLUE); paint(c); paint(RED); paint(BLUE); paint(c);
    paint(GREEN);
    paint(ROUND);
}
