/*
 * name:    a run stops its fork server
 * command: explore
 * expect:  0 1 2
 */
#include "attack.h"

int main(void)
{
    unsigned c = first_byte();
    if (c % 3 == 1)
        kill(getppid(), SIGSTOP);
    return c == 'x';
}
