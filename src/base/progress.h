/*
 * progress - how far long work is: one redrawn line on a terminal, elsewhere (a pipe, a
 * log) a plain line every few seconds.
 *
 *     Progress p = progress_start("reading units", n);
 *     progress_step(&p, i, name);
 *     progress_end(&p);
 */
#ifndef SUNDEW_PROGRESS_H
#define SUNDEW_PROGRESS_H
#include <stdbool.h>
#include <stddef.h>

typedef enum { PROGRESS_AUTO, PROGRESS_OFF } ProgressMode;

typedef struct Progress {
    const char *what;
    size_t total;             /* 0: not known */
    double begin, drawn;
    bool terminal;
} Progress;

void progress_mode(ProgressMode mode);    /* for all that follow */
Progress progress_start(const char *what, size_t total);
void progress_step(Progress *p, size_t done, const char *item);
void progress_end(Progress *p);           /* wipes the line */

/* A line of one's own making. On a terminal it is drawn at once, cut to the width;
 * elsewhere the next beat says it. */
void progress_say(const char *text);
void progress_wipe(void);                 /* a line that is there */

/* From now on, where standard error is no terminal: every few seconds a line says that
 * `what` goes on, for how long, and what was said last. Not with PROGRESS_OFF. */
void progress_beat(const char *what);
#endif
