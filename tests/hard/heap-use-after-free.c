/*
 * heap extent
 *
 * input: stdin
 * seed: aaaaaa
 * solution: nfr...
 * fails: asan
 */
#include "hard.h"

/* Commands: n new, f free, r read. */
int main(void)
{
    char b[6], *p = NULL;
    int n = (int)read(0, b, 6), s = 0;
    for (int i = 0; i < n; i++) {
        if (b[i] == 'n' && !p) {
            p = calloc(1, 16);
        } else if (b[i] == 'f' && p) {
            free(p);
            if (SAFE)
                p = NULL;
        } else if (b[i] == 'r' && p) {
            s += p[3];
            break;
        } else {
            break;
        }
    }
    return s;
}
