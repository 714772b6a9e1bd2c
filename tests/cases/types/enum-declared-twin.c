/*
 * name:   what the declaration asks for, and numbers
 * run:    sundew types --own-only $file
 * absent: types:
 * status: 0
 */
enum color { RED, GREEN };

void fill(enum color c);

void fill_all(int n)
{
    fill(RED);
    fill(0);
    fill(n);
}
