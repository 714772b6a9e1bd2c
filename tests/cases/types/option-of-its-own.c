/*
 * name:   each option with values of its own type
 * run:    sundew types --own-only $file
 * absent: types:
 * status: 0
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
    (void)wide;
}
