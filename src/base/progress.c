#include "base/progress.h"
#include "base/escape.h"
#include "base/units.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static ProgressMode mode;     /* -q and -v hold for the whole process */

void progress_mode(ProgressMode m) { mode = m; }

Progress progress_start(const char *what, size_t total)
{
    Progress p = { .what = what, .total = total, .begin = clock_seconds() };
    p.terminal = mode != PROGRESS_OFF && isatty(2);
    p.plain = mode == PROGRESS_PLAIN && !p.terminal;
    p.drawn = p.begin;
    return p;
}

static size_t width(void)
{
    struct winsize w;
    if (ioctl(2, TIOCGWINSZ, &w) == 0 && w.ws_col > 20)
        return w.ws_col - 1u;
    return 79;
}

void progress_step(Progress *p, size_t done, const char *item)
{
    assert(!p->total || done <= p->total);
    double now = clock_seconds();
    double pause = p->terminal ? 0.1 : 10;
    if (!(p->terminal || p->plain) || now - p->drawn < pause)
        return;
    p->drawn = now;
    Str line = { 0 };
    char took[32];
    str_addf(&line, "%s %zu", p->what, done);
    if (p->total)
        str_addf(&line, "/%zu (%zu%%)", p->total, done * 100 / p->total);
    str_addf(&line, ", %s", duration_format(now - p->begin, took));
    if (item) {
        str_add(&line, "  ");
        escape_terminal_z(&line, item);
    }
    size_t n = line.len < width() ? line.len : width();
    if (p->terminal)
        fprintf(stderr, "\r%.*s\033[K", (int)n, str_c(&line));
    else
        fprintf(stderr, "sundew: %s\n", str_c(&line));
    fflush(stderr);
    str_release(&line);
}

void progress_end(Progress *p)
{
    if (p->terminal) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}
