/*
 * jump through a table
 *
 * input: stdin
 * seed: aaaaaaaaaa
 * solution: sundew!...
 * fails: abort
 */
#include "hard.h"

/* A state machine over letters. */
int main(void)
{
    char b[10];
    int state = 0, n = (int)read(0, b, 10);
    for (int i = 0; i < n; i++)
        switch (state) {
        case 0: state = b[i] == 's' ? 1 : 0; break;
        case 1: state = b[i] == 'u' ? 2 : 0; break;
        case 2: state = b[i] == 'n' ? 3 : 0; break;
        case 3: state = b[i] == 'd' ? 4 : 0; break;
        case 4: state = b[i] == 'e' ? 5 : 0; break;
        case 5: state = b[i] == 'w' ? 6 : 0; break;
        case 6: state = b[i] == '!' ? 7 : 0; break;
        }
    if (state == 7)
        BUG();
    return 0;
}
