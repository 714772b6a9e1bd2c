/*
 * name:    a run forks without end
 * command: explore
 * expect:  0 1 2
 * long:    yes
 */
#include "attack.h"

int main(void)
{
    if (first_byte() % 7 == 3)
        for (;;)
            fork();
    return 0;
}
