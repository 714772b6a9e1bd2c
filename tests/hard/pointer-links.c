/*
 * symbolic pointer
 *
 * input: stdin
 * seed: aaaaaa
 * solution: LLLRLL
 * fails: abort
 */
#include "hard.h"

/* A walk in a graph of structs. */
struct node { struct node *left, *right; int goal; };

int main(void)
{
    static struct node n[8];
    static const int to[8][2] = { { 1, 2 }, { 3, 0 }, { 0, 4 }, { 5, 1 },
                                  { 2, 6 }, { 0, 7 }, { 1, 3 }, { 7, 7 } };
    char b[6];
    for (int i = 0; i < 8; i++) {
        n[i].left = &n[to[i][0]];
        n[i].right = &n[to[i][1]];
        n[i].goal = i == 7;
    }
    if (read(0, b, 6) != 6)
        return 0;
    struct node *at = n;
    for (int i = 0; i < 6; i++) {
        if (b[i] != 'L' && b[i] != 'R')
            return 0;
        at = b[i] == 'L' ? at->left : at->right;
    }
    if (at->goal)
        BUG();
    return 0;
}
