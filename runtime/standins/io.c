/* Reading and writing: the real functions do it, and sources.h is told. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/concolic/sources.h"
#include "runtime/standins/standins.h"
#include "runtime/standins/list.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- descriptors */

ssize_t sundew_standin_read(int fd, void *to, size_t n)
{
    ssize_t got = read(fd, to, n);
    if (got > 0)
        sundew_was_read(fd, to, (uint64_t)got, -1);
    return got;
}

ssize_t sundew_standin_pread(int fd, void *to, size_t n, off_t offset)
{
    ssize_t got = pread(fd, to, n, offset);
    if (got > 0)
        sundew_was_read(fd, to, (uint64_t)got, offset);
    return got;
}

ssize_t sundew_standin_readv(int fd, const struct iovec *v, int n)
{
    ssize_t got = readv(fd, v, n), left = got;
    off_t at = got > 0 ? lseek(fd, 0, SEEK_CUR) - got : 0;
    for (int i = 0; i < n && left > 0; i++) {
        ssize_t k = left < (ssize_t)v[i].iov_len ? left : (ssize_t)v[i].iov_len;
        if (k > 0)
            sundew_was_read(fd, v[i].iov_base, (uint64_t)k, at < 0 ? -1 : at);
        at += at < 0 ? 0 : k;
        left -= k;
    }
    return got;
}

ssize_t sundew_standin_recv(int fd, void *to, size_t n, int flags)
{
    ssize_t got = recv(fd, to, n, flags);
    if (got > 0 && !(flags & MSG_PEEK))
        sundew_was_read(fd, to, (uint64_t)got, -1);
    return got;
}

ssize_t sundew_standin_recvfrom(int fd, void *to, size_t n, int flags, struct sockaddr *from,
                                socklen_t *len)
{
    ssize_t got = recvfrom(fd, to, n, flags, from, len);
    if (got > 0 && !(flags & MSG_PEEK))
        sundew_was_read(fd, to, (uint64_t)got, -1);
    return got;
}

int sundew_standin_socketpair(int domain, int type, int protocol, int *ends)
{
    int r = socketpair(domain, type, protocol, ends);
    if (r == 0 && sundew_alive)
        sundew_was_paired(ends[0], ends[1]);
    return r;
}

ssize_t sundew_standin_write(int fd, const void *from, size_t n)
{
    int pipe = sundew_alive && sundew_will_write(fd, from, n);
    ssize_t put = write(fd, from, n);
    if (pipe)
        sundew_was_not_written(fd, n - (put > 0 ? (uint64_t)put : 0));
    else if (put > 0 && sundew_alive)
        sundew_was_written(fd, from, (uint64_t)put, -1);
    return put;
}

ssize_t sundew_standin_send(int fd, const void *from, size_t n, int flags)
{
    int pipe = sundew_alive && sundew_will_write(fd, from, n);
    ssize_t put = send(fd, from, n, flags);
    if (pipe)
        sundew_was_not_written(fd, n - (put > 0 ? (uint64_t)put : 0));
    return put;
}

/* read() and write() by their numbers; all else as it is. */
long sundew_standin_syscall(long number, ...)
{
    va_list list;
    long a[6];
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_read)
        return sundew_standin_read((int)a[0], (void *)a[1], (size_t)a[2]);
    if (number == SYS_write)
        return sundew_standin_write((int)a[0], (const void *)a[1], (size_t)a[2]);
    return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

ssize_t sundew_standin_pwrite(int fd, const void *from, size_t n, off_t offset)
{
    ssize_t put = pwrite(fd, from, n, offset);
    if (put > 0 && sundew_alive)
        sundew_was_written(fd, from, (uint64_t)put, offset);
    return put;
}

void *sundew_standin_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
    void *got = mmap(at, n, prot, flags, fd, offset);
    if (got != MAP_FAILED && fd >= 0 && !(flags & MAP_ANONYMOUS) && (prot & PROT_READ))
        sundew_was_mapped(fd, got, n, offset);
    return got;
}

/* ---- streams: in */

/* One byte of a stream, with its label. */
static int next(FILE *f)
{
    int64_t place = sundew_reads_labels(f) ? sundew_place(f) : -1;
    int c = getc(f);
    if (c == EOF || place < 0)
        return c;
    unsigned char byte = (unsigned char)c;
    sundew_was_read_at(f, place, &byte, 1);
    return byte;
}

int sundew_standin_getc(FILE *f) { return next(f); }

int sundew_standin_getchar(void) { return next(stdin); }

size_t sundew_standin_fread(void *to, size_t size, size_t n, FILE *f)
{
    int64_t place = sundew_reads_labels(f) ? sundew_place(f) : -1;
    size_t got = fread(to, size, n, f);
    if (place >= 0) {
        int64_t now = ftello(f);       /* a part of an item may be there too */
        uint64_t bytes = now > place ? (uint64_t)(now - place) : got * size;
        sundew_was_read_at(f, place, to, bytes < n * size ? bytes : n * size);
    }
    return got;
}

char *sundew_standin_fgets(char *to, int n, FILE *f)
{
    int64_t place = sundew_reads_labels(f) ? sundew_place(f) : -1;
    if (place < 0)
        return fgets(to, n, f);
    /* The end of line decides how much is read: byte by byte. */
    int i = 0;
    if (n <= 0)
        return NULL;
    while (i < n - 1) {
        int c = next(f);
        if (c == EOF && (i == 0 || ferror(f)))
            return NULL;
        if (c == EOF)
            break;
        to[i++] = (char)c;
        if (c == '\n')
            break;
    }
    to[i] = 0;
    return to;
}

char *sundew_standin_gets(char *to)
{
    size_t i = 0;
    int c;
    while ((c = next(stdin)) != EOF && c != '\n')
        to[i++] = (char)c;
    if (c == EOF && (i == 0 || ferror(stdin)))
        return NULL;
    to[i] = 0;
    return to;
}

ssize_t sundew_standin_getdelim(char **line, size_t *n, int delimiter, FILE *f)
{
    size_t i = 0;
    if (!line || !n) {
        errno = EINVAL;
        return -1;
    }
    if (!sundew_reads_labels(f))
        return getdelim(line, n, delimiter, f);
    if (!*line || !*n) {
        char *p = realloc(*line, 120);
        if (!p)
            return -1;
        *line = p;
        *n = 120;
    }
    int c;
    while ((c = next(f)) != EOF) {
        if (i + 2 > *n) {
            /* As realloc(), but what has labels keeps them. */
            char *p = malloc(*n * 2);
            if (!p)
                return -1;
            __builtin_memcpy(p, *line, i);
            free(*line);
            *line = p;
            *n *= 2;
        }
        (*line)[i++] = (char)c;
        if (c == delimiter)
            break;
    }
    if (i == 0)
        return -1;
    (*line)[i] = 0;
    return (ssize_t)i;
}

ssize_t sundew_standin_getline(char **line, size_t *n, FILE *f)
{
    return sundew_standin_getdelim(line, n, '\n', f);
}

int sundew_standin_fseek(FILE *f, long offset, int whence)
{
    sundew_was_moved(f);
    return fseek(f, offset, whence);
}

int sundew_standin_fseeko(FILE *f, off_t offset, int whence)
{
    sundew_was_moved(f);
    return fseeko(f, offset, whence);
}

void sundew_standin_rewind(FILE *f)
{
    sundew_was_moved(f);
    rewind(f);
}

int sundew_standin_fsetpos(FILE *f, const fpos_t *at)
{
    sundew_was_moved(f);
    return fsetpos(f, at);
}

int sundew_standin_fclose(FILE *f)
{
    sundew_was_moved(f);
    return fclose(f);
}

/* ---- streams: out; only what may be read again is followed */

size_t sundew_standin_fwrite(const void *from, size_t size, size_t n, FILE *f)
{
    int64_t place = sundew_alive && sundew_keeps_labels(f) ? sundew_place(f) : -1;
    size_t put = fwrite(from, size, n, f);
    sundew_was_written_at(f, place, from, put * size);
    return put;
}

int sundew_standin_fputs(const char *s, FILE *f)
{
    int64_t place = sundew_alive && sundew_keeps_labels(f) ? sundew_place(f) : -1;
    int r = fputs(s, f);
    if (r >= 0)
        sundew_was_written_at(f, place, s, strlen(s));
    return r;
}

int sundew_standin_fputc(int c, FILE *f)
{
    int64_t place = sundew_alive && sundew_keeps_labels(f) ? sundew_place(f) : -1;
    unsigned char byte = (unsigned char)c;
    int r = fputc(c, f);
    if (r != EOF)
        sundew_was_written_at(f, place, &byte, 1);
    return r;
}

/* Formatted by our own code into memory, and written from there. */
int sundew_standin_vfprintf(FILE *f, const char *format, va_list ap)
{
    int64_t place = sundew_alive && sundew_keeps_labels(f) ? sundew_place(f) : -1;
    if (place < 0)
        return vfprintf(f, format, ap);
    char *text = NULL;
    int n = sundew_standin_vasprintf(&text, format, ap);
    if (n < 0)
        return n;
    if (fwrite(text, 1, (size_t)n, f) == (size_t)n)
        sundew_was_written_at(f, place, text, (uint64_t)n);
    else
        n = -1;
    sundew_forget(text, (uint64_t)(n < 0 ? 0 : n));
    free(text);
    return n;
}

int sundew_standin_fprintf(FILE *f, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = sundew_standin_vfprintf(f, format, ap);
    va_end(ap);
    return n;
}

int sundew_standin_dprintf(int fd, const char *format, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, format);
    int n =
        sundew_alive ? sundew_standin_vasprintf(&text, format, ap) : vasprintf(&text, format, ap);
    va_end(ap);
    if (n >= 0) {
        n = (int)sundew_standin_write(fd, text, (size_t)n);
        free(text);
    }
    return n;
}
