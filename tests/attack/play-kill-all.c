/*
 * name:    one call of a library kills everything that it can
 * command: regress
 * expect:  0 1
 * says:    test_
 */
#include "attack.h"
#include "target.h"

int target_add(int a, int b) { return a + b; }

int target_flag(int a)
{
    if (a > 100000)
        kill(-1, SIGKILL);
    return a > 10;
}
