/* Sleeps for an hour in all, in every way there is, and looks at clocks. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void wait_for(time_t until)
{
    while (time(NULL) < until)
        usleep(100000);
}

int main(void)
{
    struct timespec begin, end, minutes = { 600, 0 };
    struct timeval more = { 600, 0 }, now;
    int c = getchar();
    clock_gettime(CLOCK_MONOTONIC, &begin);
    sleep(600);
    nanosleep(&minutes, NULL);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &minutes, NULL);
    poll(NULL, 0, 600000);
    select(0, NULL, NULL, NULL, &more);
    gettimeofday(&now, NULL);
    wait_for(now.tv_sec + 600);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (end.tv_sec - begin.tv_sec < 3600)
        return 9;                      /* time does not go on */
    if (c == 'z')
        abort();
    return 0;
}
