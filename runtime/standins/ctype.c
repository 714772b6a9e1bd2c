/* ctype: in the "C" locale by arithmetic, for other locales by the real functions. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/standins/list.h"
#include "runtime/standins/standins.h"
#include <ctype.h>
#include <string.h>
#include <wctype.h>

/* Macros of <ctype.h> look into tables of the C library. A copy of our own is an object of the
 * program, whose bounds are known, so that a read at a symbolic place is one expression. */
enum { BELOW = 128, TABLE = 384 };

#define COPY(type, name)                                                                           \
    const type **sundew_standin_##name(void)                                                       \
    {                                                                                              \
        static type table[TABLE];                                                                  \
        static const type *of, *at;                                                                \
        const type *real = *name();                                                                \
        if (real != of) {                                                                          \
            for (int i = 0; i < TABLE; i++)                                                        \
                table[i] = real[i - BELOW];                                                        \
            of = real;                                                                             \
            at = table + BELOW;                                                                    \
        }                                                                                          \
        return &at;                                                                                \
    }
COPY(unsigned short, __ctype_b_loc)
COPY(int32_t, __ctype_tolower_loc)
COPY(int32_t, __ctype_toupper_loc)
#undef COPY

static int concrete(int c) { return !sundew_alive || !SYMBOLIC(c) || !sundew_plain_locale(); }

static unsigned in(int c, int from, int to)
{
    return (unsigned)(c - from) <= (unsigned)(to - from);
}

/* What the macros of <ctype.h> give for yes. */
static int bit(unsigned yes, int bits) { return yes ? bits : 0; }

#undef isalpha
#undef isdigit
#undef isalnum
#undef isspace
#undef isupper
#undef islower
#undef isxdigit
#undef ispunct
#undef isprint
#undef isgraph
#undef iscntrl
#undef isblank
#undef tolower
#undef toupper

int sundew_standin_isdigit(int c)
{
    return concrete(c) ? isdigit(c) : bit(in(c, '0', '9'), _ISdigit);
}

int sundew_standin_isalpha(int c)
{
    return concrete(c) ? isalpha(c) : bit(in(c | 32, 'a', 'z'), _ISalpha);
}

int sundew_standin_isalnum(int c)
{
    return concrete(c) ? isalnum(c) : bit(in(c | 32, 'a', 'z') | in(c, '0', '9'), _ISalnum);
}

int sundew_standin_isspace(int c)
{
    return concrete(c) ? isspace(c) : bit((c == ' ') | in(c, 9, 13), _ISspace);
}

int sundew_standin_isupper(int c)
{
    return concrete(c) ? isupper(c) : bit(in(c, 'A', 'Z'), _ISupper);
}

int sundew_standin_islower(int c)
{
    return concrete(c) ? islower(c) : bit(in(c, 'a', 'z'), _ISlower);
}

int sundew_standin_isxdigit(int c)
{
    return concrete(c) ? isxdigit(c) : bit(in(c, '0', '9') | in(c | 32, 'a', 'f'), _ISxdigit);
}

int sundew_standin_isprint(int c)
{
    return concrete(c) ? isprint(c) : bit(in(c, 32, 126), _ISprint);
}

int sundew_standin_isgraph(int c)
{
    return concrete(c) ? isgraph(c) : bit(in(c, 33, 126), _ISgraph);
}

int sundew_standin_ispunct(int c)
{
    return concrete(c) ? ispunct(c)
                       : bit(in(c, 33, 126) & !(in(c | 32, 'a', 'z') | in(c, '0', '9')), _ISpunct);
}

int sundew_standin_iscntrl(int c)
{
    return concrete(c) ? iscntrl(c) : bit(in(c, 0, 31) | (c == 127), _IScntrl);
}

int sundew_standin_isblank(int c)
{
    return concrete(c) ? isblank(c) : bit((c == ' ') | (c == '\t'), _ISblank);
}

int sundew_standin_isascii(int c) { return (c & ~127) == 0; }

int sundew_standin_toascii(int c) { return c & 127; }

int sundew_standin_tolower(int c)
{
    return concrete(c) ? tolower(c) : c + (int)(in(c, 'A', 'Z') << 5);
}

int sundew_standin_toupper(int c)
{
    return concrete(c) ? toupper(c) : c - (int)(in(c, 'a', 'z') << 5);
}
