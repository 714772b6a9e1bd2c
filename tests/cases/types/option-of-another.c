/*
 * name:   the option's value has another type
 * run:    sundew types --own-only --calls 30 $file
 * expect: $file:46:30: types: set_option: argument 3 points to long
 * expect: with OPT_LIMIT 30 of 31 callers pass int
 * status: 1
 */
#define OPT_LIMIT 1
#define OPT_NAME 2

struct name { char text[20]; };
void set_option(int handle, int option, const void *value);

void set_all(int h, int *limit, struct name *name, long *wide)
{
    set_option(h, OPT_LIMIT, limit); set_option(h, OPT_LIMIT, limit);
    set_option(h, OPT_LIMIT, limit); set_option(h, OPT_LIMIT, limit);
    set_option(h, OPT_LIMIT, limit); set_option(h, OPT_LIMIT, limit);
    set_option(h, OPT_LIMIT, limit); set_option(h, OPT_LIMIT, limit);
    set_option(h, OPT_LIMIT, limit); set_option(h, OPT_LIMIT, limit);
    set_option(h, OPT_LIMIT, limit); set_option(h, OPT_LIMIT, limit);
    set_option(h, OPT_LIMIT, limit); set_option(h, OPT_LIMIT, limit);
    set_option(h, OPT_LIMIT, limit); set_option(h, OPT_LIMIT, limit);
    set_option(h, OPT_LIMIT, limit); set_option(h, OPT_LIMIT, limit);
    set_option(h, OPT_LIMIT, limit); set_option(h, OPT_LIMIT, limit);
    set_option(h, OPT_LIMIT, limit); set_option(h, OPT_LIMIT, limit);
    set_option(h, OPT_LIMIT, limit); set_option(h, OPT_LIMIT, limit);
    set_option(h, OPT_LIMIT, limit); set_option(h, OPT_LIMIT, limit);
    set_option(h, OPT_LIMIT, limit); set_option(h, OPT_LIMIT, limit);
    set_option(h, OPT_LIMIT, limit); set_option(h, OPT_LIMIT, limit);
    set_option(h, OPT_NAME, name); set_option(h, OPT_NAME, name);
    set_option(h, OPT_NAME, name); set_option(h, OPT_NAME, name);
    set_option(h, OPT_NAME, name); set_option(h, OPT_NAME, name);
    set_option(h, OPT_NAME, name); set_option(h, OPT_NAME, name);
    set_option(h, OPT_NAME, name); set_option(h, OPT_NAME, name);
    set_option(h, OPT_NAME, name); set_option(h, OPT_NAME, name);
    set_option(h, OPT_NAME, name); set_option(h, OPT_NAME, name);
    set_option(h, OPT_NAME, name); set_option(h, OPT_NAME, name);
    set_option(h, OPT_NAME, name); set_option(h, OPT_NAME, name);
    set_option(h, OPT_NAME, name); set_option(h, OPT_NAME, name);
    set_option(h, OPT_NAME, name); set_option(h, OPT_NAME, name);
    set_option(h, OPT_NAME, name); set_option(h, OPT_NAME, name);
    set_option(h, OPT_NAME, name); set_option(h, OPT_NAME, name);
    set_option(h, OPT_NAME, name); set_option(h, OPT_NAME, name);
    set_option(h, OPT_NAME, name); set_option(h, OPT_NAME, name);
    set_option(h, OPT_LIMIT, wide);
}
