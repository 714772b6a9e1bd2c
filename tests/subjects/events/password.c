/* The first event stores a number that a later one tests. */
#include <stdlib.h>
static int stored, have;

void enter(int number)
{
    if (!have) {
        stored = number;
        have = 1;
    } else if (stored == 4711 && number == 12) {
        abort();
    }
}

int main(void)
{
    return 0;
}
