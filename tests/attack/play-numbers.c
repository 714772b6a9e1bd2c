/*
 * name:    the player's numbers are of the library's choice
 * command: regress
 * expect:  0 1 2
 */
#include "attack.h"
#include "target.h"

/* Everything that the player answers: from 24 MiB on, an answer each 128 KiB. */
static void scribble(uint32_t value)
{
    size_t size;
    uint32_t *head = shared_memory("sundew-sequences", &size);
    if (!head)
        return;
    head[2] = head[3] = value;
    for (size_t i = 0; i < 256; i++) {
        size_t at = (24u << 20) / 4 + i * ((128u << 10) / 4);
        if ((at + 80) * 4 > size)
            break;
        head[at + 3] = 64;
        for (unsigned k = 0; k < 64; k++)
            head[at + 8 + k] = value - 4096 * k;
        head[at + 6] = value;
    }
}

int target_add(int a, int b)
{
    scribble(0xffffffff);
    return a + b;
}

int target_flag(int a)
{
    scribble(0x7ffffff0);
    return a > 10;
}
