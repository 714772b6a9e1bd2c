/* What sets the library up changes a list without a lock, which nobody has promised to be safe; guide_sum(), of
 * which each caller would think so, works in static memory. FIXED: it does not. */
#include "guide.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static char **places;
static int n;

int guide_begin(void)
{
    if (!places)
        places = malloc(8 * sizeof *places);
    return places ? 0 : -1;
}

void guide_end(void)
{
    while (n > 0)
        free(places[--n]);
    free(places);
    places = NULL;
}

int guide_add(const char *place)
{
    if (guide_begin())
        return -1;
    if (n == 8)
        free(places[--n]);
    places[n] = strdup(place);
    return places[n++] ? 0 : -1;
}

unsigned guide_sum(const char *place)
{
#ifdef FIXED
    char *small = NULL;
#else
    static char *small;
#endif
    free(small);
    small = strdup(place);
    unsigned sum = 0;
    for (char *p = small; p && *p; p++)
        sum = sum * 31 + (unsigned)tolower((unsigned char)*p);
#ifdef FIXED
    free(small);
#endif
    return sum;
}
