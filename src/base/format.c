#include "base/format.h"
#include <string.h>

/* j, z, t, q and I are lengths before an integer only: sqlite3's %q and %z are not. */
static bool is_length(const char *f, size_t left)
{
    return *f && (strchr("hlL", *f) ||
                  (left > 1 && f[1] && strchr("jztqI", *f) && strchr("diouxXn", f[1])));
}

FormatArg format_argument(const char *f, size_t len, unsigned n)
{
    for (size_t i = 0; i < len; i++) {
        if (f[i] != '%')
            continue;
        for (i++; i < len && f[i] && strchr("0123456789.#-+ ',!*$", f[i]); i++) {
            if (f[i] == '$')
                return (FormatArg){ .letter = '$' };
            if (f[i] == '*' && !n--)
                return (FormatArg){ .letter = '*' };
        }
        unsigned longs = 0;
        for (; i + 1 < len && is_length(f + i, len - i); i++)
            longs += f[i] == 'l';
        if (i >= len || !f[i])
            break;
        if (f[i] != '%' && !n--)
            return (FormatArg){ f[i], longs > 1 };
    }
    return (FormatArg){ 0 };
}
