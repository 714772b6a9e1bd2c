/*
 * name:    the number of runs is one of the subject's choice
 * command: explore
 * expect:  0 1 2
 */
#include "attack.h"

int main(void)
{
    size_t size;
    uint32_t *b = shared_memory("sundew-batch", &size);
    if (b) {
        b[AT_N] = 0x10000000;
        b[AT_AT] = 0x0fffffff;
    }
    return first_byte() == 'x';
}
