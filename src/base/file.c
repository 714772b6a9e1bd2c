#include "base/file.h"
#include "base/empty.h"
#include "base/fault.h"
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Devices need not end; nobody wants more from a pipe. A file may be all holes. */
#define MOST_OF_DEVICE (64u << 20)
#define MOST_OF_FILE   (2ull << 30)

static bool read_some(int fd, uint64_t most, Str *out, Err *err)
{
    char buf[65536];
    for (uint64_t all = 0;;) {
        ssize_t n = read(fd, buf, sizeof buf);
        if (n == 0)
            return true;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(err, "%s", strerror(errno));
        all += (uint64_t)n;
        if (all > most)
            return err_set(err, "larger than %llu MiB", (unsigned long long)(most >> 20));
        str_addn(out, buf, (size_t)n);
    }
}

bool file_read_fd(int fd, Str *out, Err *err)
{
    struct stat st;
    bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (regular && (uint64_t)st.st_size > MOST_OF_FILE)
        return err_set(err, "larger than %llu MiB", MOST_OF_FILE >> 20);
    return read_some(fd, regular ? MOST_OF_FILE : MOST_OF_DEVICE, out, err);
}

/* Opening a pipe waits for who writes it. That is right for a shell's <(…), which is in
 * /dev or /proc; a pipe in a folder was put there to stop us. */
static bool may_wait(const char *path, int fd, Err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISFIFO(st.st_mode))
        return true;
    if (!str_starts(path, "/dev/") && !str_starts(path, "/proc/"))
        return err_set(err, "%s: a pipe, not a file", path);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return true;
}

bool file_read(const char *path, Str *out, Err *err)
{
    int fd = fault_hits() ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return err_errno(err, "%s", path);
    bool ok = may_wait(path, fd, err) && (file_read_fd(fd, out, err) || err_ctx(err, "%s", path));
    close(fd);
    return ok;
}

int file_open_regular(const char *path, bool follow_links, Err *err)
{
    struct stat st;
    int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follow_links ? 0 : O_NOFOLLOW);
    int fd = fault_hits() ? -1 : open(path, flags);
    if (fd < 0 && errno == ELOOP && !follow_links)
        return err_set(err, "%s: a link, which is not followed", path), -1;
    if (fd < 0)
        return err_errno(err, "%s", path), -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    close(fd);
    return err_set(err, "%s: not a regular file", path), -1;
}

bool file_read_left(const char *path, uint64_t most, Str *out, Err *err)
{
    struct stat st;
    int fd = file_open_regular(path, false, err);
    if (fd < 0)
        return false;
    bool ok = fstat(fd, &st) == 0 || err_errno(err, "%s", path);
    ok = ok && ((uint64_t)st.st_size <= most ||
                err_set(err, "%s: larger than %llu MiB", path, (unsigned long long)(most >> 20)));
    ok = ok && (read_some(fd, most, out, err) || err_ctx(err, "%s", path));
    close(fd);
    return ok;
}

bool file_write_fd(int fd, const void *data, size_t n, Err *err)
{
    const char *p = data;
    while (n) {
        ssize_t k = fault_hits() ? -1 : write(fd, p, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return err_set(err, "%s", strerror(errno));
        p += k;
        n -= (size_t)k;
    }
    return true;
}

/* Into a new file beside `path`, which is then renamed over it. With `like`, its
 * mode and times are those of `like`. */
static bool write_beside(const char *path, const void *data, size_t n, const struct stat *like,
                         Err *err)
{
    static atomic_uint files;  /* several threads may write */
    char *temp = xprintf("%s.tmp.%ld.%u", path, (long)getpid(), files++);
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    unlink(temp);              /* of an earlier process, or of somebody who waits for us */
    int fd = fault_hits() ? -1 : open(temp, flags, 0666);
    bool ok = fd >= 0 || err_errno(err, "%s", path);
    if (ok)
        ok = file_write_fd(fd, data, n, err) || err_ctx(err, "%s", path);
    if (ok && like) {
        struct timespec times[2] = { like->st_atim, like->st_mtim };
        if (fchmod(fd, like->st_mode & 07777) != 0 || futimens(fd, times) != 0)
            ok = err_errno(err, "%s", path);
    }
    if (fd >= 0 && (fault_hits() || close(fd) != 0) && ok)
        ok = err_errno(err, "%s", path);
    if (ok && (fault_hits() || rename(temp, path) != 0))
        ok = err_errno(err, "%s", path);
    if (!ok)
        unlink(temp);
    free(temp);
    return ok;
}

bool file_write(const char *path, const void *data, size_t n, Err *err)
{
    /* Pipes and devices (/dev/stdout, a shell's <(…)) can't be renamed over. */
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        int fd = fault_hits() ? -1 : open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0 && errno == ENXIO)
            return err_set(err, "%s: a pipe that nobody reads", path);
        if (fd < 0)
            return err_errno(err, "%s", path);
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
        bool ok = file_write_fd(fd, data, n, err) || err_ctx(err, "%s", path);
        close(fd);
        return ok;
    }
    return write_beside(path, data, n, NULL, err);
}

bool file_replace(const char *path, const void *data, size_t n, Err *err)
{
    struct stat st;
    char *real = path_real(path);
    bool ok = real && stat(real, &st) == 0 ? true : err_errno(err, "%s", path);
    if (ok)
        ok = write_beside(real, data, n, &st, err);
    free(real);
    return ok;
}

bool file_put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    int e = errno;
    close(fd);
    errno = e;
    return ok;
}

bool socket_put(int fd, const void *data, size_t n)
{
    const char *p = data;
    while (n) {
        ssize_t k = send(fd, p, n, MSG_NOSIGNAL);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

bool file_exists(const char *path) { return access(path, F_OK) == 0; }

bool file_is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool file_is_pipe(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

bool file_is_regular(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int64_t file_size(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (int64_t)st.st_size : -1;
}

bool dir_make(const char *path, Err *err)
{
    char *copy = xstrdup(path);
    bool ok = true;
    for (char *p = copy + 1; ok; p++) {
        if (*p && *p != '/')
            continue;
        char c = *p;
        *p = 0;
        if ((fault_hits() || mkdir(copy, 0777) != 0) && errno != EEXIST)
            ok = err_errno(err, "%s", copy);
        *p = c;
        if (!c)
            break;
    }
    free(copy);
    if (ok && !file_is_dir(path))
        ok = err_set(err, "%s: not a folder", path);
    return ok;
}

int dir_lock(const char *path, bool *busy)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *busy = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!*busy)
        return fd;
    close(fd);
    return -1;
}

void dir_remove(const char *path)
{
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir >= 0) {
        folder_empty(dir);
        close(dir);
    }
    remove(path);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool dir_list(const char *path, Strings *names, Err *err)
{
    DIR *d = fault_hits() ? NULL : opendir(path);
    if (!d)
        return err_errno(err, "%s", path);
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            strings_add(names, e->d_name);
    closedir(d);
    if (names->len)
        qsort(names->items, names->len, sizeof *names->items, by_name);
    return true;
}

char *path_join(const char *dir, const char *name)
{
    if (name[0] == '/' || dir[0] == 0)
        return xstrdup(name);
    return xprintf("%s%s%s", dir, str_ends(dir, "/") ? "" : "/", name);
}

char *path_in(const char *cwd, const char *path)
{
    char *joined = path_join(cwd, path);
    Str out = { 0 };
    for (char *p = joined; *p;) {
        size_t n = strcspn(p, "/");
        if (n == 2 && p[0] == '.' && p[1] == '.') {
            while (out.len && out.data[--out.len] != '/')
                ;
            if (out.data)
                out.data[out.len] = 0;
        } else if (n && !(n == 1 && p[0] == '.')) {
            str_addc(&out, '/');
            str_addn(&out, p, n);
        }
        p += n + (p[n] == '/');
    }
    free(joined);
    if (!out.len)
        str_addc(&out, '/');
    return str_take(&out);
}

char *path_absolute(const char *path)
{
    char cwd[PATH_MAX];
    return path_in(getcwd(cwd, sizeof cwd) ? cwd : "/", path);
}

bool path_cwd_exists(void)
{
    char cwd[PATH_MAX];
    return getcwd(cwd, sizeof cwd) != NULL;
}

char *path_real(const char *path) { return realpath(path, NULL); }

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *path_dir(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return xstrdup(".");
    return xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
}

char *path_between(const char *path, const char *from)
{
    assert(*path == '/' && *from == '/');
    size_t common = 0, n = 0;
    while (path[n] && path[n] == from[n]) {
        n++;
        if ((!path[n] || path[n] == '/') && (!from[n] || from[n] == '/'))
            common = n;
    }
    if (common <= 1)
        return xstrdup(path);
    Str out = { 0 };
    for (const char *p = from + common; *p; p++)
        if (*p == '/' && p[1])
            str_add(&out, out.len ? "/.." : "..");
    if (path[common])
        str_addf(&out, "%s%s", out.len ? "/" : "", path + common + 1);
    if (!out.len)
        str_addc(&out, '.');
    return str_take(&out);
}

char *path_relative(const char *path, const char *from)
{
    size_t n = strlen(from);
    while (n > 1 && from[n - 1] == '/')
        n--;
    if (strncmp(path, from, n) == 0 && path[n] == '/' && path[n + 1])
        return xstrdup(path + n + 1);
    return xstrdup(path);
}

bool path_is_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]);
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

const char *path_list(void)
{
    const char *path = getenv("PATH");
    return path ? path : "/usr/local/bin:/usr/bin:/bin";
}

char *path_search(const char *name, const char *skip)
{
    for (const char *p = path_list(); *p;) {
        size_t n = strcspn(p, ":");
        char *dir = n ? xstrndup(p, n) : xstrdup(".");
        char *file = path_join(dir, name);
        bool hit =
            file_is_regular(file) && access(file, X_OK) == 0 && !(skip && same_file(file, skip));
        free(dir);
        if (hit)
            return file;
        free(file);
        p += n + (p[n] == ':');
    }
    return NULL;
}

char *path_safe_name(const char *name)
{
    Str s = { 0 };
    for (const char *p = name; *p && s.len < 100; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                     (*p >= '0' && *p <= '9') || *p == '-' || *p == '_' || (*p == '.' && s.len);
        str_addc(&s, plain ? *p : '_');
    }
    if (!s.len)
        str_addc(&s, '_');
    return str_take(&s);
}
