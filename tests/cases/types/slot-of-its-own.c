/*
 * name:   long numbers and names where they belong
 * run:    sundew types --own-only $file
 * absent: types:
 * status: 0
 */
enum { KEEP_ALIVE = 1, VERBOSE = 2, NAME = 3 };
int set(void *handle, int option, ...);

void set_all(void *h, const char *name)
{
    set(h, VERBOSE, 1L); set(h, VERBOSE, 1L); set(h, VERBOSE, 1L);
    set(h, VERBOSE, 1L); set(h, VERBOSE, 1L); set(h, VERBOSE, 1L);
    set(h, VERBOSE, 1L); set(h, VERBOSE, 1L); set(h, VERBOSE, 1L);
    set(h, VERBOSE, 1L); set(h, VERBOSE, 1L); set(h, VERBOSE, 1L);
    set(h, VERBOSE, 1L); set(h, VERBOSE, 1L); set(h, VERBOSE, 1L);
    set(h, VERBOSE, 1L); set(h, VERBOSE, 1L); set(h, VERBOSE, 1L);
    set(h, VERBOSE, 1L); set(h, VERBOSE, 1L); set(h, VERBOSE, 1L);
    set(h, VERBOSE, 1L); set(h, VERBOSE, 1L); set(h, VERBOSE, 1L);
    set(h, VERBOSE, 1L); set(h, VERBOSE, 1L); set(h, VERBOSE, 1L);
    set(h, VERBOSE, 1L); set(h, VERBOSE, 1L); set(h, VERBOSE, 1L);
    set(h, VERBOSE, 1L); set(h, VERBOSE, 1L); set(h, VERBOSE, 1L);
    set(h, VERBOSE, 1L); set(h, VERBOSE, 1L);
    set(h, NAME, name); set(h, NAME, name); set(h, NAME, name);
    set(h, NAME, name); set(h, NAME, name); set(h, NAME, name);
    set(h, NAME, name); set(h, NAME, name); set(h, NAME, name);
    set(h, NAME, name); set(h, NAME, name); set(h, NAME, name);
    set(h, NAME, name); set(h, NAME, name); set(h, NAME, name);
    set(h, NAME, name); set(h, NAME, name); set(h, NAME, name);
    set(h, NAME, name); set(h, NAME, name); set(h, NAME, name);
    set(h, NAME, name); set(h, NAME, name); set(h, NAME, name);
    set(h, NAME, name); set(h, NAME, name); set(h, NAME, name);
    set(h, NAME, name); set(h, NAME, name); set(h, NAME, name);
    set(h, NAME, name); set(h, NAME, name); set(h, NAME, name);
    set(h, NAME, name); set(h, NAME, name);
    set(h, VERBOSE, 0L); set(h, NAME, "x");
}
