/* Four switches. The key is an index: where an event writes depends on it. */
#include <stdlib.h>

int on[4], times;

void press(unsigned char key)
{
    if (key < 4)
        on[key] = !on[key];
    if (on[0] && on[1] && on[2] && on[3])
        times = 1;
}

int main(void)
{
    press(200);
    return 0;
}
