/*
 * streams - FILE objects: what they are open on, and the bytes of small files.
 *
 * A FILE is known by the magic number that glibc puts into it. Its bytes tell
 * where the program is in its buffer; the record tells what lies in the file.
 */
#include "runtime/monitor/monitor_int.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 64 << 10 };

bool sundew_is_stream(uint64_t address)
{
    uint32_t flags;
    return sundew_safe_copy(&flags, address, 4) == 4 && (flags & 0xffff0000u) == 0xfbad0000u;
}

static int open_again(int fd)
{
    char path[40] = "/proc/self/fd/";
    sundew_text_number(path + 14, (uint64_t)fd);
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* The whole file if it is small, else what lies around the position. */
static void out_bytes(SundewOut *o, SundewFileRecord *r, uint64_t size)
{
    int fd = open_again(r->fd);
    uint64_t n = size - r->start < MOST ? size - r->start : MOST;
    if (fd < 0)
        n = 0;
    sundew_out_record(o, SUNDEW_REC_FILE, sizeof *r + n);
    sundew_out_bytes(o, r, sizeof *r);
    for (uint64_t at = 0; at < n;) {
        char piece[2048];
        size_t want = n - at < sizeof piece ? (size_t)(n - at) : sizeof piece;
        ssize_t got = pread(fd, piece, want, (off_t)(r->start + at));
        if (got <= 0) {
            memset(piece, 0, want);
            got = (ssize_t)want;
        }
        sundew_out_bytes(o, piece, (size_t)got);
        at += (uint64_t)got;
    }
    if (fd >= 0)
        close(fd);
}

void sundew_out_stream(SundewOut *o, uint64_t address)
{
    FILE f;
    struct stat st;
    if (sundew_safe_copy(&f, address, sizeof f) < sizeof f)
        return;
    SundewFileRecord r = { .address = address, .fd = f._fileno };
    uint64_t size = 0;
    if (f._fileno >= 0) {
        int flags = fcntl(f._fileno, F_GETFL);
        r.flags = flags < 0 ? 0 : (uint32_t)flags;
        if (fstat(f._fileno, &st) == 0 && S_ISREG(st.st_mode)) {
            off_t at = lseek(f._fileno, 0, SEEK_CUR);
            r.position = at < 0 ? 0 : (uint64_t)at;
            size = (uint64_t)st.st_size;
            if (size > MOST && r.position > MOST / 2) {
                r.start = r.position - MOST / 2;
                if (r.start > size - MOST)
                    r.start = size - MOST;
            }
        }
    }
    out_bytes(o, &r, size);
}
