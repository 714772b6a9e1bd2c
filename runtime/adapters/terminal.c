/* Keys of a terminal, and the user's own mark; adapters.h is the manual. */
#include "runtime/adapters/adapters.h"
#include <string.h>
#include <unistd.h>

/* An event of a terminal: a key, as wgetch() gives it. */
struct key {
    uint16_t code;
};

int sundew_event_mark(void)
{
    int v = 0;
    sundew_event_next(&v, sizeof v);
    return v;
}

extern int wgetch(void *window);
extern int wrefresh(void *window);

int sundew_event_wgetch(void *window)
{
    struct key k;
    if (!sundew_event_engine())
        return wgetch(window);
    wrefresh(window);
    sundew_event_next(&k, sizeof k);
    return sundew_events->nkeys ? sundew_events->keys[k.code % sundew_events->nkeys]
                                : k.code & 0x1ff;
}

static int next_byte(void)
{
    uint8_t c = 0;
    sundew_event_next(&c, 1);
    return sundew_events->nkeys ? sundew_events->keys[c % sundew_events->nkeys] & 0xff : c;
}

ssize_t sundew_event_read(int fd, void *to, size_t n)
{
    if (!n || !sundew_event_engine())
        return read(fd, to, n);
    ssize_t got = fd > 2 && sundew_events->nkinds ? sundew_event_take(fd, to, n) : -2;
    if (got != -2)
        return got;
    if (fd != 0)
        return read(fd, to, n);
    *(uint8_t *)to = (uint8_t)next_byte();
    return 1;
}

int sundew_event_fgetc(FILE *f)
{
    if (f != stdin || !sundew_event_engine())
        return fgetc(f);
    return next_byte();
}

int sundew_event_getc(FILE *f) { return sundew_event_fgetc(f); }

int sundew_event_getchar(void) { return sundew_event_fgetc(stdin); }

/* A line is an event: up to a newline, a zero or the event's end. */
char *sundew_event_fgets(char *to, int n, FILE *f)
{
    char line[64];
    int k = 0;
    if (f != stdin || n < 2 || !sundew_event_engine())
        return fgets(to, n, f);
    int size = (int)sundew_events->event_size;
    size = size < (int)sizeof line ? size : (int)sizeof line;
    sundew_event_next(line, (size_t)size);
    for (; k < size && k < n - 2 && line[k] && line[k] != '\n'; k++)
        to[k] = line[k];
    to[k] = '\n';
    to[k + 1] = 0;
    return to;
}

/* ---- what a terminal is asked for */

int sundew_event_isatty(int fd) { return fd <= 2 && sundew_event_engine() ? 1 : isatty(fd); }

int sundew_event_tcgetattr(int fd, struct termios *t)
{
    if (fd > 2 || !sundew_event_engine())
        return tcgetattr(fd, t);
    memset(t, 0, sizeof *t);
    t->c_lflag = ICANON | ECHO | ISIG;
    t->c_cc[VERASE] = 127;
    t->c_cc[VMIN] = 1;
    return 0;
}

int sundew_event_tcsetattr(int fd, int when, const struct termios *t)
{
    return fd <= 2 && sundew_event_engine() ? 0 : tcsetattr(fd, when, t);
}
