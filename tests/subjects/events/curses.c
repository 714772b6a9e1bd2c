/* The player of player.c as a curses program. */
#include <curses.h>
enum { STOPPED, PLAYING, SKIPPING };

int main(void)
{
    int g = STOPPED;
    initscr();
    noecho();
    for (;;) {
        mvprintw(0, 0, "state %d", g);
        refresh();
        int e = getch();
#ifdef QUITS
        if (e == 'q')
            break;
#endif
        if (g == STOPPED) {
            if (e == 'p')
                g = PLAYING;
            else if (e == 's')
                g = SKIPPING;
        } else if (e == 'x') {
            g = STOPPED;
        }
    }
    endwin();
    return 0;
}
