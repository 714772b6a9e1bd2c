/*
 * name:    the number of the run under way is one of the subject's choice
 * command: explore
 * expect:  0 1 2
 */
#include "attack.h"

int main(void)
{
    size_t size;
    uint32_t *b = shared_memory("sundew-batch", &size);
    unsigned c = first_byte();
    if (b && c % 2) {
        b[AT_N] = 0xffffffff;
        b[AT_AT] = 0x10000000;
        for (;;)
            pause();
    }
    return c == 'x';
}
