/*
 * name:   an int where a long is read from the list
 * run:    sundew types --own-only $file
 * expect: $file:37:21: types: set: argument 3 is an int
 * expect: with VERBOSE 35 of 36 callers pass a long
 * status: 1
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
    set(h, VERBOSE, 1);
}
