/*
 * sundew.h - what a program may say to Sundew. Copy it, or add its folder to
 * the include path; in a plain build it does nothing and needs no library.
 *
 *     if (!list)
 *         sundew_dump("minimize_list: nothing left");
 *
 * In a monitored program (`sundew monitor`) this writes a crash file, with the
 * arguments of the functions that run, and the program goes on.
 */
#ifndef SUNDEW_H
#define SUNDEW_H

#ifdef __cplusplus
extern "C" {
#endif

void sundew_dump_now(const char *reason) __attribute__((weak));

static inline void sundew_dump(const char *reason)
{
    if (sundew_dump_now)
        sundew_dump_now(reason);
}

#ifdef __cplusplus
}
#endif
#endif
