/*
 * name:    the counting build's memory is made shorter
 * command: explore
 * expect:  0 1 2
 */
#include "attack.h"

__attribute__((constructor)) static void cut(void)
{
    if (ftruncate(BATCH_FD, 0) != 0)
        return;
}

int main(void)
{
    return first_byte() == 'x';
}
