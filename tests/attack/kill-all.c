/*
 * name:    a run kills everything that it can
 * command: explore
 * expect:  0 1 2
 */
#include "attack.h"

int main(void)
{
    unsigned c = first_byte();
    if (c % 5 == 1)
        kill(-1, SIGKILL);
    return c == 'x';
}
