/*
 * KLEE task
 *
 * input: call
 * seed: \x00\x00\x00\x00\x00\x00\x00\x00
 * solution: drrurrdd
 * fails: abort
 */
#include "hard.h"

void klee_make_symbolic(void *at, size_t n, const char *name);
void klee_assume(unsigned long);

int main(void)
{
    static const char maze[4][8] = { "#######", "# #   #", "#   # #", "#####X#" };
    char move[8];
    int x = 1, y = 1;
    klee_make_symbolic(move, sizeof move, "move");
    for (int i = 0; i < 8; i++) {
        klee_assume(move[i] == 'r' || move[i] == 'l' || move[i] == 'u' || move[i] == 'd');
        int nx = x + (move[i] == 'r') - (move[i] == 'l');
        int ny = y + (move[i] == 'd') - (move[i] == 'u');
        if (maze[ny][nx] == '#')
            return 0;
        x = nx;
        y = ny;
        if (maze[y][x] == 'X') {
            BUG();
            return 0;
        }
    }
    return 0;
}
