/*
 * progress - how far long work is: one redrawn line on a terminal, nothing
 * elsewhere (with `verbose`, plain lines now and then).
 *
 *     Progress p = progress_start("reading units", n);
 *     progress_step(&p, i, name);
 *     progress_end(&p);
 */
#ifndef SUNDEW_PROGRESS_H
#define SUNDEW_PROGRESS_H
#include <stdbool.h>
#include <stddef.h>

typedef enum { PROGRESS_AUTO, PROGRESS_OFF, PROGRESS_PLAIN } ProgressMode;

typedef struct Progress {
    const char *what;
    size_t total;             /* 0: not known */
    double begin, drawn;
    bool terminal, plain;
} Progress;

void progress_mode(ProgressMode mode);    /* for all that follow */
Progress progress_start(const char *what, size_t total);
void progress_step(Progress *p, size_t done, const char *item);
void progress_end(Progress *p);           /* wipes the line */
#endif
