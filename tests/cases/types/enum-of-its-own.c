/*
 * name:   enumerators, variables of the enum and plain numbers
 * run:    sundew types --own-only $file
 * absent: types:
 * status: 0
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
    paint(n); paint(0); paint(n + 1);
}
