/*
 * name:    a run that never ends says that it makes progress
 * command: explore
 * expect:  0 1 2
 */
#include "attack.h"

int main(void)
{
    size_t size;
    uint32_t *b = shared_memory("sundew-batch", &size);
    while (b) {
        b[AT_STARTED]++;
        usleep(10000);
    }
    return first_byte() == 'x';
}
