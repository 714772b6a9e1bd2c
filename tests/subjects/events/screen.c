/* A clock that is set with the mouse. MOUSE: a click of the third button on the mode's place (column 40 or more) divides by
 * zero. SMALL: a terminal with fewer than 5 lines has no room for its table. TIME: no key for three seconds in mode 1. FIXED: none. */
#include <curses.h>
#include <stdlib.h>

static int mode, idle;
static char table[20];

static void draw(void)
{
    int lines, columns;
    getmaxyx(stdscr, lines, columns);
    (void)columns;
#if defined SMALL && !defined FIXED
    table[lines < 5 ? 40 - lines : 0] = 'x';
#else
    table[lines < 5 ? 19 : 0] = 'x';
#endif
    mvprintw(0, 0, "%d %c", mode, table[0]);
}

static void click(int x, unsigned long state)
{
    if (x < 40)
        mode = state & BUTTON1_CLICKED ? 1 : 2;
#if defined MOUSE && !defined FIXED
    else if (state & BUTTON3_CLICKED)
        mode = 12 / (mode - 1);
#endif
}

int main(void)
{
    MEVENT m;
    int c;
    initscr();
    cbreak();
    timeout(1000);
#ifdef MOUSE
    mousemask(ALL_MOUSE_EVENTS, NULL);
#endif
    for (;;) {
        draw();
        c = getch();
        if (c == ERR) {
            idle++;
#if defined TIME && !defined FIXED
            if (mode == 1 && idle == 3)
                abort();
#endif
            idle = idle > 3 ? 3 : idle;
            continue;
        }
        idle = 0;
        if (c == 'q')
            break;
#ifdef MOUSE
        if (c == KEY_MOUSE && getmouse(&m) == OK)
            click(m.x, m.bstate);
#else
        (void)m, (void)click;
        if (c == 'm')
            mode = 1;
#endif
    }
    endwin();
    return 0;
}
