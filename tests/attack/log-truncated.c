/*
 * name:    the concolic log is made shorter
 * command: explore-concolic
 * expect:  0 1 2
 */
#include "attack.h"

__attribute__((constructor)) static void cut(void)
{
    if (ftruncate(LOG_FD, 0) != 0)
        return;
}

int main(void)
{
    return first_byte() == 'x';
}
