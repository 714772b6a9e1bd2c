/* A test as C that stands by itself. */
#include "technique/threads/library_int.h"

void write_c(const Lib *l, const Violation *v, Str *out)
{
    (void)l;
    (void)v;
    str_add(out, "/* to come */\n");
}
