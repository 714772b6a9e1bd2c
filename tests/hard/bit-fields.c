/*
 * integer arithmetic
 *
 * input: stdin
 * seed: aaaa
 * solution: \x9d\xe5h\xc9
 * fails: abort
 */
#include "hard.h"

struct head {
    unsigned version : 3, kind : 5, flags : 7, length : 17;
};

int main(void)
{
    struct head h;
    if (read(0, &h, 4) != 4)
        return 0;
    if (h.version == 5 && h.kind == 19 && h.length == h.flags * 1021u && h.flags > 100)
        BUG();
    return 0;
}
