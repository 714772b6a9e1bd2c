/*
 * out - the crash file being written: where, and in which pieces.
 *
 * It gets its name when it is whole; until then it ends in ".part", and a
 * reader can still read what is in it. The first folder of SUNDEW_CRASH_DIR,
 * the current one, TMPDIR and /tmp that takes a file is the one. A write that fails (a full disk)
 * ends the file where it is; the limit on file sizes is kept, for going
 * over it would send a signal.
 */
#include "runtime/monitor/monitor_int.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

char *sundew_text_number(char *to, uint64_t n)
{
    char digits[20];
    int k = 0;
    do
        digits[k++] = (char)('0' + n % 10);
    while (n /= 10);
    while (k > 0)
        *to++ = digits[--k];
    *to = 0;
    return to;
}

static char *put(char *to, const char *end, const char *text)
{
    while (*text && to < end)
        *to++ = *text++;
    *to = 0;
    return to;
}

/* DIR/NAME.PID.crash, or DIR/NAME.PID.2.crash … */
static bool open_in(SundewOut *o, const char *dir)
{
    char *end = o->path + sizeof o->path - 64;
    char *p = put(o->path, end, dir);
    p = put(p, end, "/");
    p = put(p, end, sundew_tables.name);
    *p++ = '.';
    p = sundew_text_number(p, (uint64_t)getpid());
    for (unsigned n = 1; n < 100; n++) {
        char *q = p;
        if (n > 1) {
            *q++ = '.';
            q = sundew_text_number(q, n);
        }
        put(q, o->path + sizeof o->path - 1, ".crash");
        if (access(o->path, F_OK) == 0)
            continue;
        put(put(o->part, o->part + 1200, o->path), o->part + 1209, ".part");
        o->fd = open(o->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (o->fd >= 0 || errno != EEXIST)
            break;
    }
    if (o->fd < 0)
        return false;
    static const char magic[] = SUNDEW_CRASH_MAGIC;
    uint32_t head[2] = { SUNDEW_CRASH_VERSION, 0 };
    o->n = 0;
    o->size = 0;
    o->broken = false;
    struct rlimit limit;
    o->limit = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
                   ? limit.rlim_cur
                   : UINT64_MAX;
    sundew_out_bytes(o, magic, 8);
    sundew_out_bytes(o, head, 8);
    sundew_out_flush(o);
    if (!o->broken)
        return true;
    close(o->fd);
    unlink(o->part);
    o->fd = -1;
    return false;
}

bool sundew_out_open(SundewOut *o)
{
    const char *dirs[] = { sundew_settings.dir, ".", sundew_settings.tmp, "/tmp" };
    o->fd = -1;
    for (unsigned i = 0; i < sizeof dirs / sizeof *dirs; i++)
        if (*dirs[i] && open_in(o, dirs[i]))
            return true;
    return false;
}

void sundew_out_flush(SundewOut *o)
{
    uint32_t done = 0;
    if (o->size + o->n > o->limit) {
        o->broken = true;
        o->n = (uint32_t)(o->limit > o->size ? o->limit - o->size : 0);
    }
    while (done < o->n) {
        ssize_t got = write(o->fd, o->buffer + done, o->n - done);
        if (got > 0) {
            done += (uint32_t)got;
        } else if (got == 0 || errno != EINTR) {
            o->broken = true;
            break;
        }
    }
    o->size += done;
    o->n = 0;
}

static void put_bytes(SundewOut *o, const void *bytes, size_t n)
{
    const uint8_t *from = bytes;
    while (n > 0 && !o->broken) {
        size_t room = sizeof o->buffer - o->n;
        size_t part = n < room ? n : room;
        memcpy(o->buffer + o->n, from, part);
        o->n += (uint32_t)part;
        from += part;
        n -= part;
        if (o->n == sizeof o->buffer)
            sundew_out_flush(o);
    }
}

static void pad(SundewOut *o)
{
    static const uint8_t zeros[8];
    if (o->open == 0 && o->pad) {
        put_bytes(o, zeros, o->pad);
        o->pad = 0;
    }
}

void sundew_out_bytes(SundewOut *o, const void *bytes, size_t n)
{
    if (o->open && n > o->open)
        n = o->open;
    put_bytes(o, bytes, n);
    o->open = o->open > n ? (uint32_t)(o->open - n) : 0;
    pad(o);
}

bool sundew_out_record(SundewOut *o, uint32_t tag, size_t length)
{
    /* A record that came out short (it never should) is filled up. */
    static const uint8_t zeros[64];
    while (o->open)
        sundew_out_bytes(o, zeros, sizeof zeros);
    uint32_t head[2] = { tag, (uint32_t)length };
    if (o->broken || length > UINT32_MAX / 2)
        return false;
    put_bytes(o, head, sizeof head);
    o->open = (uint32_t)length;
    o->pad = (uint32_t)(-length & 7);
    return !o->broken;
}

void sundew_out_close(SundewOut *o)
{
    if (o->fd < 0)
        return;
    sundew_out_flush(o);
    close(o->fd);
    o->fd = -1;
    rename(o->part, o->path);
}
