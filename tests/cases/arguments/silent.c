/*
 * name:   nothing to say: generic names, numbers, symmetric functions, excuses
 * run:    sundew arguments $file
 * expect: no findings
 * absent: swapped
 * status: 0
 */
#include <string.h>

int m(int a, int b);
int f(int width, int height);
int op(int op0, int op1);
int strings_equal(const char *left, const char *right);
void copy_text(char *to, char *from);
void rotate_image(int width, int height);

int all(int a, int b, int x, int op0, int op1, const char *left,
        const char *right, char *from, char *to)
{
    copy_text(to, from);
    copy_text(to, from);
    return m(a, b) + m(b, a) + f(x + 1, 3) + op(op1, op0) +
           strings_equal(right, left) + (int)strlen(to);
}

void flip(int width, int height)
{
    f(height, width);
    rotate_image(height, width);
}

int commented(int width, int height)
{
    return f(/*width*/ height, /*height*/ width);
}
