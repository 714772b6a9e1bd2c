/*
 * standins - library functions that are woven like the program.
 *
 * sundew_standin_NAME() does what NAME() does, in C that is easy to follow for
 * labels: plain loops, and where several bytes decide together, one value made
 * of all of them in place of a branch a byte. share/standins says which functions
 * are replaced by which. They are compiled to standins.bc, which weave_standins()
 * links into the program before the weave.
 *
 * While nothing is symbolic, or nothing of what a call looks at, the real
 * function does the work. Results are the same in any case, errno included.
 */
#ifndef SUNDEW_STANDINS_H
#define SUNDEW_STANDINS_H
#include "runtime/concolic/concolic.h"
#include "runtime/format/concolic_log.h"
#include <stddef.h>
#include <stdint.h>

/* What is looked at beyond the end of a string, and how long a value is made without
 * branches. */
enum { CHAIN = 64 };

/* Has this value a label? */
#define SYMBOLIC(v)                                                                                \
    __extension__({                                                                                \
        __typeof__(v) v_ = (v);                                                                    \
        sundew_is_symbolic(&v_, sizeof v_);                                                        \
    })

/* Bytes at `s` that may be read: n that are known to be there, and those behind them that
 * have labels; not more than `most`. */
static inline size_t readable(const void *s, size_t n, size_t most)
{
    const char *p = s;
    while (n < most && sundew_is_symbolic(p + n, 1))
        n++;
    return n < most ? n : most;
}

/* The "C" locale's, without branches. */
static inline unsigned lower(unsigned c) { return c + ((c - 'A' < 26u) << 5); }

static inline int is_space(unsigned char c) { return (c == ' ') | (c - 9u < 5u); }

/* The value of a digit in bases up to 36; 99: it is none. */
static inline unsigned digit(unsigned char c)
{
    unsigned d = c - '0', l = (c | 32u) - 'a';
    unsigned letter = l < 26 ? l + 10 : 99;
    return d < 10 ? d : letter;        /* no branch: one way for digits and letters */
}

/* The size in a conversion of printf() or scanf(), and what is behind it: 0, h, H (hh), l,
 * L (ll and its kin), D (long double). */
static inline const char *sundew_format_size(const char *f, char *size)
{
    *size = f[0] == 'h'                                 ? f[1] == 'h' ? 'H' : 'h'
            : f[0] == 'l'                               ? f[1] == 'l' ? 'L' : 'l'
            : f[0] == 'z' || f[0] == 'j' || f[0] == 't' ? 'L'
            : f[0] == 'L'                               ? 'D'
                                                        : 0;
    if (!*size)
        return f;
    return f + (*size == 'H' || (*size == 'L' && f[0] == 'l') ? 2 : 1);
}

/* numbers.c; `limit` bytes are looked at, at most. */
unsigned long long sundew_parse_integer(const char *s, char **end, int base, size_t limit,
                                        int *negative, int *too_big);
/* floats.c; *end: behind the number, s if there is none. */
double sundew_parse_double(const char *s, char **end);

/* Is the locale of ctype "C" (or much like it)? */
int sundew_plain_locale(void);
#endif
