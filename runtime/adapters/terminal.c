/* Keys of a terminal, and the user's own mark; adapters.h is the manual. */
#include "runtime/adapters/adapters.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int sundew_event_mark(void)
{
    int v = 0;
    sundew_event_next(&v, sizeof v);
    return v;
}

/* ---- keys of curses */

extern int wgetch(void *window);
extern int wget_wch(void *window, unsigned *key);
extern int wrefresh(void *window);
extern int(wgetdelay)(const void *window);
extern int resize_term(int lines, int columns);
extern int halfdelay(int tenths);
extern int nocbreak(void);
extern unsigned mousemask(unsigned want, unsigned *old);
extern int getmouse(struct mouse_event *out);
extern uint64_t event_clock;

/* As curses has it. */
struct mouse_event {
    short id;
    int x, y, z;
    unsigned state;
};

/* Names that don't begin with sundew_ are in the state. */
int event_screen;                    /* which of its two sizes the terminal has */
int event_halfdelay;                 /* ms; 0: off */
struct {
    uint8_t x, y, button;
} event_mouse;

/* How long the program would wait, in ms; -1: for ever. */
static int patience(void *window)
{
    int delay = wgetdelay(window);
    return delay < 0 && event_halfdelay ? event_halfdelay : delay;
}

static int resize(void)
{
    const struct sundew_events *h = sundew_events;
    event_screen = !event_screen;
    resize_term((int)h->lines[event_screen], (int)h->columns[event_screen]);
    return SUNDEW_KEY_RESIZE;
}

/* -1: no key came in the time that the program wants to wait. */
static int next_curses_key(void *window)
{
    const struct sundew_events *h = sundew_events;
    uint8_t in[5] = { 0 };
    wrefresh(window);
    sundew_event_next(in, h->mouse ? 5 : 2);
    unsigned raw = in[0] | (unsigned)in[1] << 8;
    int key = h->nkeys ? h->keys[raw % h->nkeys] : (int)(raw & 0x1ff), wait = patience(window);
    if (wait >= 0 && key == SUNDEW_KEY_TIME) {
        event_clock += (uint64_t)wait * 1000000u;
        return -1;
    }
    if (h->lines[1] && key == SUNDEW_KEY_RESIZE)
        return resize();
    if (h->mouse && key == SUNDEW_KEY_MOUSE) {
        event_mouse.x = in[2];
        event_mouse.y = in[3];
        event_mouse.button = in[4];
    }
    return key;
}

int sundew_event_wgetch(void *window)
{
    return sundew_event_engine() ? next_curses_key(window) : wgetch(window);
}

int sundew_event_wget_wch(void *window, unsigned *key)
{
    if (!sundew_event_engine())
        return wget_wch(window, key);
    int k = next_curses_key(window);
    if (k < 0)
        return -1;
    *key = (unsigned)k;
    return k > 255 ? 0x100 : 0;      /* KEY_CODE_YES */
}

int sundew_event_halfdelay(int tenths)
{
    event_halfdelay = sundew_event_engine() ? 100 * tenths : 0;
    return halfdelay(tenths);
}

int sundew_event_nocbreak(void)
{
    event_halfdelay = 0;
    return nocbreak();
}

unsigned sundew_event_mousemask(unsigned want, unsigned *old)
{
    return sundew_event_engine() ? want : mousemask(want, old);
}

/* The first button clicked, pressed, released; the third clicked; the wheel up and down. */
static const unsigned mouse_states[] = { 4, 2, 1, 4 << 10, 2 << 15, 2 << 20 };

int sundew_event_getmouse(struct mouse_event *out)
{
    const struct sundew_events *h = sundew_events;
    if (!sundew_event_engine())
        return getmouse(out);
    unsigned columns = h->columns[event_screen], lines = h->lines[event_screen];
    *out = (struct mouse_event){ .x = (int)(event_mouse.x % (columns ? columns : 80)),
                                 .y = (int)(event_mouse.y % (lines ? lines : 24)),
                                 .state = mouse_states[event_mouse.button % 6] };
    return 0;
}

/* ---- standard input: a byte is an event, or a line */

enum { END = 4 };                    /* Ctrl-D at the begin of a line: the input ends */

/* Names that don't begin with sundew_ are in the state. */
struct line {
    uint8_t at, n;                   /* bytes[at .. n) were not read yet */
    uint8_t ended;
    uint8_t bytes[66];
} event_line;
int event_pushed = EOF;              /* by ungetc() */

/* Up to a newline, a zero or the event's end. */
static void next_line(void)
{
    uint8_t in[64];
    struct line *l = &event_line;
    size_t size = sundew_events->event_size, k = 0;
    size = size < sizeof in ? size : sizeof in;
    sundew_event_next(in, size);
    for (; k < size && in[k] && in[k] != '\n'; k++)
        l->bytes[k] = in[k];
    l->bytes[k++] = '\n';
    l->at = 0;
    l->n = (uint8_t)k;
    l->ended = in[0] == END;
}

static int next_key(void)
{
    uint8_t c = 0;
    sundew_event_next(&c, 1);
    return sundew_events->nkeys ? sundew_events->keys[c % sundew_events->nkeys] & 0xff : c;
}

/* What was read is no state. */
static int next_byte(void)
{
    struct line *l = &event_line;
    if (!sundew_events->line)
        return next_key();
    if (l->at == l->n && !l->ended)
        next_line();
    if (l->ended) {
        *l = (struct line){ .ended = 1 };
        return EOF;
    }
    int c = l->bytes[l->at];
    l->bytes[l->at++] = 0;
    if (l->at == l->n)
        l->at = l->n = 0;
    return c;
}

/* As a stream has it: what was pushed back comes first. */
static int next_char(void)
{
    int c = event_pushed;
    if (c == EOF)
        return next_byte();
    event_pushed = EOF;
    return c;
}

static int is_stdin(FILE *f) { return f == stdin && sundew_event_engine(); }

ssize_t sundew_event_read(int fd, void *to, size_t n)
{
    if (!n || !sundew_event_engine())
        return read(fd, to, n);
    ssize_t got = fd > 2 && sundew_events->nkinds ? sundew_event_take(fd, to, n) : -2;
    if (got != -2)
        return got;
    if (fd != 0)
        return read(fd, to, n);
    for (got = 0; (size_t)got < n; got++) {
        int c = next_byte();
        if (c == EOF) {
            event_line.ended = 0;    /* a terminal goes on behind it */
            break;
        }
        ((uint8_t *)to)[got] = (uint8_t)c;
        if (!event_line.n)
            return got + 1;
    }
    return got;
}

ssize_t sundew_event___read_chk(int fd, void *to, size_t n, size_t room)
{
    return sundew_event_read(fd, to, n < room ? n : room);
}

int sundew_event_fgetc(FILE *f) { return is_stdin(f) ? next_char() : fgetc(f); }

int sundew_event_getc(FILE *f) { return sundew_event_fgetc(f); }

int sundew_event_getchar(void) { return sundew_event_fgetc(stdin); }

int sundew_event_fgetc_unlocked(FILE *f) { return sundew_event_fgetc(f); }

int sundew_event_getc_unlocked(FILE *f) { return sundew_event_fgetc(f); }

int sundew_event_getchar_unlocked(void) { return sundew_event_fgetc(stdin); }

int sundew_event_ungetc(int c, FILE *f)
{
    if (!is_stdin(f))
        return ungetc(c, f);
    if (c == EOF || event_pushed != EOF)
        return EOF;
    event_line.ended = 0;
    return event_pushed = (unsigned char)c;
}

int sundew_event_feof(FILE *f) { return is_stdin(f) ? event_line.ended : feof(f); }

void sundew_event_clearerr(FILE *f)
{
    if (is_stdin(f))
        event_line.ended = 0;
    clearerr(f);
}

char *sundew_event_fgets(char *to, int n, FILE *f)
{
    int k = 0;
    if (n < 2 || !is_stdin(f))
        return fgets(to, n, f);
    while (k < n - 1) {
        int c = next_char();
        if (c == EOF && !k)
            return NULL;
        if (c == EOF)
            break;
        to[k++] = (char)c;
        if (c == '\n')
            break;
    }
    to[k] = 0;
    return to;
}

char *sundew_event_fgets_unlocked(char *to, int n, FILE *f) { return sundew_event_fgets(to, n, f); }

char *sundew_event___fgets_chk(char *to, size_t room, int n, FILE *f)
{
    return sundew_event_fgets(to, n > 0 && (size_t)n > room ? (int)room : n, f);
}

ssize_t sundew_event_getdelim(char **to, size_t *room, int end, FILE *f)
{
    size_t k = 0;
    if (!to || !room || !is_stdin(f))
        return getdelim(to, room, end, f);
    for (int c = 0; c != end; k++) {
        if (!*to || *room < k + 2) {
            char *more = realloc(*to, *to ? 2 * *room + 2 : 120);
            if (!more)
                return -1;
            *room = *to ? 2 * *room + 2 : 120;
            *to = more;
        }
        c = next_char();
        if (c == EOF)
            break;
        (*to)[k] = (char)c;
    }
    (*to)[k] = 0;
    return k ? (ssize_t)k : -1;
}

ssize_t sundew_event___getdelim(char **to, size_t *room, int end, FILE *f)
{
    return sundew_event_getdelim(to, room, end, f);
}

ssize_t sundew_event_getline(char **to, size_t *room, FILE *f)
{
    return sundew_event_getdelim(to, room, '\n', f);
}

/* ---- what a terminal is asked for */

int sundew_event_isatty(int fd) { return fd <= 2 && sundew_event_engine() ? 1 : isatty(fd); }

/* Not a file: programs ask whether they talk to a person. */
int sundew_event_fstat(int fd, struct stat *out)
{
    int got = fstat(fd, out);
    if (got == 0 && fd <= 2 && sundew_event_engine()) {
        out->st_mode = S_IFCHR | 0620;
        out->st_size = 0;
    }
    return got;
}

int sundew_event_ioctl(int fd, unsigned long what, ...)
{
    va_list more;
    va_start(more, what);
    void *arg = va_arg(more, void *);
    va_end(more);
    if (what == FIONREAD && fd > 2 && sundew_event_arrived(fd) >= 0) {
        *(int *)arg = sundew_event_arrived(fd);
        return 0;
    }
    if (fd > 2 || what != TIOCGWINSZ || !sundew_event_engine())
        return ioctl(fd, what, arg);
    *(struct winsize *)arg =
        (struct winsize){ .ws_row = (unsigned short)sundew_events->lines[event_screen],
                          .ws_col = (unsigned short)sundew_events->columns[event_screen] };
    return 0;
}

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
