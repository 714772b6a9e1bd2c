/* NEW: a range of characters is wide now, a word is known now, one code has another name. */
#include "rare.h"
#include <string.h>

struct range {
    int from, to;
};
static const struct range wide[] = {
    { 0x1100, 0x115f },
    { 0x2e80, 0xa4cf },
#ifdef NEW
    { 0x1b000, 0x1b2ff },
#endif
};

int rare_width(int c)
{
    for (unsigned i = 0; i < sizeof wide / sizeof *wide; i++)
        if (c >= wide[i].from && c <= wide[i].to)
            return 2;
    return 1;
}

int rare_level(const char *word)
{
    if (strcmp(word, "info") == 0)
        return 1;
#ifdef NEW
    if (strcmp(word, "verbose-2") == 0)
        return 2;
#endif
    return 0;
}

int rare_same(int a, int b) { return a > b; }

const char *rare_name(int c)
{
#ifdef NEW
    if (c == 73211)
        return "new";
#endif
    return c == 7 ? "seven" : "none";
}
