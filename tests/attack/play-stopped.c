/*
 * name:    one call of a library stops its parents
 * command: regress
 * expect:  0 1 2
 */
#include "attack.h"
#include "target.h"

int target_add(int a, int b) { return a + b; }

int target_flag(int a)
{
    if (a > 100000)
        kill(getppid(), SIGSTOP);
    return a > 10;
}
