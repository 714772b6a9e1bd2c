/*
 * name:    places and lengths of inputs are of the subject's choice
 * command: explore
 * expect:  0 1 2
 */
#include "attack.h"

int main(void)
{
    size_t size;
    uint32_t *b = shared_memory("sundew-batch", &size);
    if (b) {
        b[AT_ROOM] = 0xffffffff;
        for (unsigned i = 0; i < 256; i++) {
            b[AT_SLOTS + 8 * i] = 0xfffffff0;
            b[AT_SLOTS + 8 * i + 1] = 0x7fffffff;
            b[AT_SLOTS + 8 * i + 6] = 0xffffffff;
            b[AT_SLOTS + 8 * i + 7] = 0xffffffff;
        }
    }
    return first_byte() == 'x';
}
