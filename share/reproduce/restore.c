/* The bodies of restore.h. Plain C, no dependency. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* In memory: a test may run where no folder can be written. */
void *restore_file(const char *bytes, unsigned long size, unsigned long position)
{
    int fd = memfd_create("restored", 0);
    FILE *f = fd < 0 ? tmpfile() : fdopen(fd, "w+");
    fill(f, bytes, size, position);
    return f;
}

void *restore_stdin(const char *bytes, unsigned long size, unsigned long position)
{
    char name[64];
    int fd = memfd_create("restored", 0);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (fd < 0 || !freopen(name, "w+", stdin))
        give_up("can't make a temporary file");
    close(fd);
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

/*
 * longjmp() out of the function under test, through a buffer that another process filled: the
 * function has left, and the test ends. What setjmp() puts into a buffer holds for one process:
 * the C library hides addresses in it behind a number of its own.
 */
void __real_longjmp(struct __jmp_buf_tag *, int) __attribute__((noreturn));
void __real__longjmp(struct __jmp_buf_tag *, int) __attribute__((noreturn));
void __real_siglongjmp(struct __jmp_buf_tag *, int) __attribute__((noreturn));
void __real___longjmp_chk(struct __jmp_buf_tag *, int) __attribute__((noreturn));

static void leave_if_foreign(const struct __jmp_buf_tag *buffer)
{
#if defined __x86_64__ && defined __GLIBC__
    unsigned long key, word[2] = { (unsigned long)buffer->__jmpbuf[6],     /* stack */
                                   (unsigned long)buffer->__jmpbuf[7] };   /* code */
    __asm__("mov %%fs:0x30, %0" : "=r"(key));
    for (int i = 0; i < 2; i++) {
        unsigned long at = (word[i] >> 17 | word[i] << 47) ^ key;
        if (at >> 47)
            _exit(0);
    }
#else
    (void)buffer;
#endif
}

#define STANDS_IN_FOR(name)                                                                        \
    void __wrap_##name(struct __jmp_buf_tag *b, int value) __attribute__((noreturn));              \
    void __wrap_##name(struct __jmp_buf_tag *b, int value)                                         \
    {                                                                                              \
        leave_if_foreign(b);                                                                       \
        __real_##name(b, value);                                                                   \
    }
STANDS_IN_FOR(longjmp)
STANDS_IN_FOR(_longjmp)
STANDS_IN_FOR(siglongjmp)
#ifdef __GLIBC__
STANDS_IN_FOR(__longjmp_chk)
#endif
