/* Waits for something that never comes, which takes real time. */
#include <poll.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return 2;
    struct pollfd never = { .fd = ends[0], .events = POLLIN };
    poll(&never, 1, 3000);
    return getchar() == 'x';
}
