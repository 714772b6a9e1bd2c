/*
 * loop bounded by input
 *
 * input: stdin
 * seed: aaaaaaaaaaaaaaaaaaaaaaaaaaaa
 * solution: ssssddddwwaawwddddssssddwwww
 * fails: abort
 */
#include "hard.h"

enum { STEPS = 28 };

static char maze[7][12] = {
    "+-+---+---+",
    "| |     |#|",
    "| | --+ | |",
    "| |   | | |",
    "| +-- | | |",
    "|     |   |",
    "+-----+---+",
};

int main(void)
{
    char move[STEPS];
    int x = 1, y = 1;
    if (read(0, move, sizeof move) != sizeof move)
        return 1;
    for (int i = 0; i < STEPS; i++) {
        maze[y][x] = 'x';
        switch (move[i]) {
        case 'w': y--; break;
        case 's': y++; break;
        case 'a': x--; break;
        case 'd': x++; break;
        default: return 2;
        }
        if (maze[y][x] == '#') {
            BUG();
            return 0;
        }
        if (maze[y][x] != ' ')
            return 3;
    }
    return 4;
}
