/*
 * loop bounded by input
 *
 * input: stdin
 * seed: ()()()()
 * solution: ([({})])
 * fails: abort
 */
#include "hard.h"

/* Depth and kinds. */
int main(void)
{
    char b[8], stack[8];
    int n = (int)read(0, b, 8), depth = 0, deepest = 0;
    for (int i = 0; i < n; i++) {
        if (b[i] == '(' || b[i] == '[' || b[i] == '{')
            stack[depth++] = b[i];
        else if (depth && ((b[i] == ')' && stack[depth - 1] == '(') ||
                           (b[i] == ']' && stack[depth - 1] == '[') ||
                           (b[i] == '}' && stack[depth - 1] == '{')))
            depth--;
        else
            return 0;
        deepest = depth > deepest ? depth : deepest;
    }
    if (n == 8 && depth == 0 && deepest == 4 && b[1] == '[' && b[3] == '{')
        BUG();
    return 0;
}
