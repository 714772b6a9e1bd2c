#include "base/progress.h"
#include "base/escape.h"
#include "base/units.h"
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static ProgressMode mode;     /* -q and -v hold for the whole process */

void progress_mode(ProgressMode m) { mode = m; }

/* How much of the text fits into the line: characters are not cut in two. */
static size_t fitting(const char *text)
{
    struct winsize w;
    size_t columns = ioctl(2, TIOCGWINSZ, &w) == 0 && w.ws_col > 1 ? w.ws_col - 1u : 79;
    size_t n = 0;
    for (size_t shown = 0; text[n]; n++) {
        if ((text[n] & 0xc0) == 0x80)        /* the rest of a character */
            continue;
        if (shown++ == columns)
            break;
    }
    return n;
}

/* ---- beats */

enum { BEAT_SECONDS = 5, LONGEST = 200 };

/* A thread of its own says it, because the others may be busy for long. It takes no lock,
 * so that a fork at any time is safe. `now` says which of the two texts is whole. */
static struct {
    char what[40];
    char text[2][LONGEST];
    atomic_int now;
    double begin;
    bool on;
} beat;

static void *say_beats(void *unused)
{
    (void)unused;
    for (;;) {
        char line[LONGEST + 100];
        struct timespec pause = { BEAT_SECONDS, 0 };
        nanosleep(&pause, NULL);
        int n = snprintf(line, sizeof line, "sundew: %s, %.0f s%s\n", beat.what,
                         clock_seconds() - beat.begin, beat.text[atomic_load(&beat.now)]);
        ssize_t ignored =
            n > 0 ? write(2, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1) : 0;
        (void)ignored;
    }
    return NULL;
}

static void keep_text(const char *text)
{
    int next = !atomic_load(&beat.now);
    snprintf(beat.text[next], LONGEST, ": %s", text);
    atomic_store(&beat.now, next);
}

void progress_beat(const char *what)
{
    sigset_t all, before;
    pthread_t thread;
    if (mode == PROGRESS_OFF || isatty(2) || beat.on)
        return;
    snprintf(beat.what, sizeof beat.what, "%s", what);
    beat.begin = clock_seconds();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);      /* signals are the others' */
    beat.on = pthread_create(&thread, NULL, say_beats, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (beat.on)
        pthread_detach(thread);
}

/* ---- one line */

static bool line_is_there;

void progress_say(const char *text)
{
    if (mode == PROGRESS_OFF)
        return;
    keep_text(text);
    if (!isatty(2))
        return;
    fprintf(stderr, "\r%.*s\033[K", (int)fitting(text), text);
    fflush(stderr);
    line_is_there = true;
}

void progress_wipe(void)
{
    if (line_is_there)
        fputs("\r\033[K", stderr);
    fflush(stderr);
    line_is_there = false;
}

Progress progress_start(const char *what, size_t total)
{
    Progress p = { .what = what, .total = total, .begin = clock_seconds() };
    p.terminal = mode != PROGRESS_OFF && isatty(2);
    p.drawn = p.begin;
    if (mode != PROGRESS_OFF)
        keep_text(what);
    return p;
}

void progress_step(Progress *p, size_t done, const char *item)
{
    assert(!p->total || done <= p->total);
    double now = clock_seconds();
    if (mode == PROGRESS_OFF || (p->terminal && now - p->drawn < 0.1))
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
    progress_say(str_c(&line));
    str_release(&line);
}

void progress_end(Progress *p)
{
    (void)p;
    progress_wipe();
}
