/* The bodies of restore.h. Plain C, no dependency. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *restore_object(unsigned long size);
void restore_bytes(void *to, const void *bytes, unsigned long size);
void restore_pointer(void *to, void *pointer);
void restore_zero(void *to, unsigned long size);
void restore_freed(void *object);
void *restore_file(const char *bytes, unsigned long size, unsigned long position);
void *restore_stdin(const char *bytes, unsigned long size, unsigned long position);
void *restore_standard(int descriptor);
void sundew_dump_now(const char *reason);

static void give_up(const char *what)
{
    fprintf(stderr, "restore: %s\n", what);
    exit(99);
}

void *restore_object(unsigned long size)
{
    void *p = calloc(1, size ? size : 1);
    if (!p)
        give_up("out of memory");
    return p;
}

void restore_bytes(void *to, const void *bytes, unsigned long size)
{
    memcpy(to, bytes, size);
}

void restore_pointer(void *to, void *pointer)
{
    memcpy(to, &pointer, sizeof pointer);
}

void restore_zero(void *to, unsigned long size)
{
    memset(to, 0, size);
}

void restore_freed(void *object)
{
    free(object);
}

static void fill(FILE *f, const char *bytes, unsigned long size,
                 unsigned long position)
{
    if (!f || fwrite(bytes, 1, size, f) != size || fflush(f) != 0 ||
        fseek(f, (long)position, SEEK_SET) != 0)
        give_up("can't make a temporary file");
}

void *restore_file(const char *bytes, unsigned long size, unsigned long position)
{
    FILE *f = tmpfile();
    fill(f, bytes, size, position);
    return f;
}

void *restore_stdin(const char *bytes, unsigned long size, unsigned long position)
{
    char name[] = "/tmp/restore-XXXXXX";
    int fd = mkstemp(name);
    if (fd < 0 || !freopen(name, "w+", stdin))
        give_up("can't make a temporary file");
    remove(name);
    fill(stdin, bytes, size, position);
    return stdin;
}

void *restore_standard(int descriptor)
{
    return descriptor == 0 ? stdin : descriptor == 1 ? stdout : stderr;
}

/* The program asks for a dump (sundew.h): the test has come to that point. */
void sundew_dump_now(const char *reason)
{
    fprintf(stderr, "restore: dump: %s\n", reason);
    _Exit(190);
}
