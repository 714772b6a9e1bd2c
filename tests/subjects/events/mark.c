/* The player of player.c as a firmware loop, with its state in a local of main(). */
#include <stdlib.h>
__attribute__((weak)) int sundew_event(void) { exit(0); }
enum { STOPPED, PLAYING, SKIPPING };

int main(void)
{
    int g = STOPPED;
    for (;;) {
        int e = sundew_event();
        if (g == STOPPED) {
            if (e == 1)
                g = PLAYING;
            else if (e == 2)
                g = SKIPPING;
        } else if (e == 0) {
            g = STOPPED;
        }
    }
}
