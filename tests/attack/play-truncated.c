/*
 * name:    the player's memory is made shorter
 * command: regress
 * expect:  0 1 2
 */
#include "attack.h"
#include "target.h"

__attribute__((constructor)) static void cut(void)
{
    if (ftruncate(PLAYER_FD, 0) != 0)
        return;
}

int target_add(int a, int b) { return a + b; }
int target_flag(int a) { return a > 10; }
