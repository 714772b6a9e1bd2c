/*
 * name:    the concolic log's numbers are of the subject's choice
 * command: explore-concolic
 * expect:  0 1 2
 */
#include "attack.h"

int main(void)
{
    size_t size;
    unsigned c = first_byte();
    int yes = c == 'x';
    uint32_t *log = shared_memory("concolic", &size);
    for (unsigned i = 2; log && i < 40; i++)
        log[i] = c % 2 ? 0xffffffff : i * 0x01010101u;
    for (unsigned i = 40; log && i < 4000; i++)
        log[i] ^= 0x00010003u * i;
    return yes;
}
