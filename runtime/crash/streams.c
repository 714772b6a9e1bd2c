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

enum { MOST = 64 << 10, MOST_NAME = 1024 };

bool sundew_is_stream(uint64_t address)
{
    uint32_t flags;
    return sundew_safe_copy(&flags, address, 4) == 4 && (flags & 0xffff0000u) == 0xfbad0000u;
}

static void name_link(char *path, int fd)
{
    static const char folder[] = "/proc/self/fd/";
    memcpy(path, folder, sizeof folder);
    sundew_text_number(path + sizeof folder - 1, (uint64_t)fd);
}

static int open_again(int fd)
{
    char path[40];
    name_link(path, fd);
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* A function that was entered before the file was opened opens it again, by its name. */
static void out_name(SundewOut *o, const SundewFileRecord *r)
{
    static char folder[MOST_NAME], name[MOST_NAME];
    char path[40];
    name_link(path, r->fd);
    ssize_t before = readlink("/proc/self/cwd", folder, sizeof folder);
    ssize_t n = readlink(path, name, sizeof name);
    if (before <= 0 || n >= MOST_NAME || n <= before + 1 || name[before] != '/' ||
        memcmp(folder, name, (size_t)before) != 0)
        return;
    size_t length = (size_t)(n - before - 1);
    sundew_out_record(o, SUNDEW_REC_FILE_NAME, sizeof r->address + length);
    sundew_out_bytes(o, &r->address, sizeof r->address);
    sundew_out_bytes(o, name + before + 1, length);
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
    bool named = false;
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
            named = r.fd > 2 && size <= MOST && st.st_nlink > 0 && (flags & O_ACCMODE) == O_RDONLY;
        }
    }
    out_bytes(o, &r, size);
    if (named)
        out_name(o, &r);
}
