#include "base/below.h"
#include "base/fault.h"
#include "base/file.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AS_FOLDER = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW };

/* One step down; with `make` what is no folder becomes one. -1 with errno. */
static int step(int in, const char *name, bool make)
{
    int fd = openat(in, name, AS_FOLDER);
    if (fd >= 0 || !make || strcmp(name, "..") == 0)
        return fd;
    if (errno == ELOOP || errno == ENOTDIR)
        unlinkat(in, name, 0);
    return mkdirat(in, name, 0777) == 0 || errno == EEXIST ? openat(in, name, AS_FOLDER) : -1;
}

/* The folder that `path` is in, and its last name. -1 with errno. */
static int parent_of(const char *folder, const char *path, bool make, const char **name)
{
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (const char *slash; at >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
        char *word = xstrndup(path, (size_t)(slash - path));
        int next = !*word               ? dup(at)
                   : !strcmp(word, "..") ? (errno = EINVAL, -1)
                                         : step(at, word, make);
        int e = errno;
        close(at);
        at = next;
        errno = e;
        free(word);
    }
    if (at >= 0 && (!*path || !strcmp(path, "..") || !strcmp(path, "."))) {
        close(at);
        errno = EINVAL;
        return -1;
    }
    *name = path;
    return at;
}

static bool read_all(int fd, uint64_t most, Str *out)
{
    char buf[65536];
    ssize_t n;
    while ((n = read(fd, buf, sizeof buf)) > 0) {
        if ((uint64_t)n > most - out->len)
            return false;
        str_addn(out, buf, (size_t)n);
    }
    return n == 0;
}

bool below_read(const char *folder, const char *path, uint64_t most, Str *out, Err *err)
{
    const char *name;
    struct stat st;
    assert(!out->len);
    int dir = fault_hits() ? -1 : parent_of(folder, path, false, &name);
    int fd = dir < 0 ? -1
                     : openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    bool ok = fd >= 0 || err_errno(err, "%s", path);
    ok = ok && ((fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size <= most &&
                 read_all(fd, most, out)) ||
                err_set(err, "%s: not a regular file, or too large", path));
    if (fd >= 0)
        close(fd);
    if (dir >= 0)
        close(dir);
    return ok;
}

/* A new file beside it, renamed over it. */
static bool write_in(int dir, const char *name, const void *data, size_t n, Err *err)
{
    char *temp = xprintf(".sundew.%ld", (long)getpid());
    unlinkat(dir, temp, 0);
    int fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    bool ok = fd >= 0 || err_errno(err, "%s", name);
    ok = ok && file_write_fd(fd, data, n, err);
    if (fd >= 0 && close(fd) != 0 && ok)
        ok = err_errno(err, "%s", name);
    if (ok && renameat(dir, temp, dir, name) != 0)
        ok = err_errno(err, "%s", name);
    if (!ok)
        unlinkat(dir, temp, 0);
    free(temp);
    return ok;
}

bool below_write(const char *folder, const char *path, const void *data, size_t n, Err *err)
{
    const char *name;
    int dir = fault_hits() ? -1 : parent_of(folder, path, true, &name);
    if (dir < 0)
        return err_errno(err, "%s", path);
    bool ok = write_in(dir, name, data, n, err);
    close(dir);
    return ok;
}

void below_remove(const char *folder, const char *path)
{
    const char *name;
    int dir = parent_of(folder, path, false, &name);
    if (dir < 0)
        return;
    unlinkat(dir, name, 0);
    close(dir);
}

bool below_look(const char *folder, const char *path, struct stat *out)
{
    const char *name;
    int dir = parent_of(folder, path, false, &name);
    bool there = dir >= 0 && fstatat(dir, name, out, AT_SYMLINK_NOFOLLOW) == 0;
    if (dir >= 0)
        close(dir);
    return there;
}

bool below_give(const char *folder, const char *path, mode_t mode, Err *err)
{
    const char *name;
    struct stat st;
    int dir = parent_of(folder, path, false, &name);
    int fd = dir < 0 ? -1 : openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    bool ok = fd >= 0 && fstat(dir, &st) == 0 && fchown(fd, st.st_uid, st.st_gid) == 0 &&
              fchmod(fd, mode) == 0;
    if (!ok)
        err_errno(err, "%s", path);
    if (fd >= 0)
        close(fd);
    if (dir >= 0)
        close(dir);
    return ok;
}
