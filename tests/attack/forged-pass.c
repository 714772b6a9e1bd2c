/*
 * name:    a replacement that dies says that its calls went well
 * command: substitutes
 * expect:  1
 * says:    abort
 */
#include "attack.h"
#include "target.h"

/* Every answer of the player: done, three steps, nothing seen. */
static void forge(void)
{
    size_t size;
    uint32_t *head = shared_memory("sundew-sequences", &size);
    for (size_t at = (24u << 20) / 4; head && (at + 8) * 4 <= size; at += (128u << 10) / 4) {
        head[at] = 1;
        head[at + 1] = 0;
        head[at + 2] = 3;
        head[at + 6] = 0;
    }
}

int target_add(int a, int b) { return a + b; }

int target_flag(int a)
{
#ifdef IN_new
    forge();
    abort();
#endif
    return a > 10;
}
