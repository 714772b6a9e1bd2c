/* Emptying a folder that a subject has filled: it may hold links to elsewhere,
 * folders without permissions, and names of any bytes. Other file systems that
 * are mounted inside are left alone: in a private /tmp these are the scratch
 * folder and what the user named. */
#include "run/run_int.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEEPEST = 200 };        /* descriptors are few; deeper ones stay */

static bool is_on(int dir, dev_t device)
{
    struct stat st;
    return fstat(dir, &st) == 0 && st.st_dev == device;
}

static void empty(int dir, dev_t device, int depth)
{
    int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    if (!d) {
        if (copy >= 0)
            close(copy);
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        if (e->d_type != DT_DIR && unlinkat(dir, e->d_name, 0) == 0)
            continue;
        const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
        int inner = depth < DEEPEST ? openat(dir, e->d_name, flags) : -1;
        if (inner < 0 && errno == EACCES) {
            fchmodat(dir, e->d_name, 0700, 0);
            inner = openat(dir, e->d_name, flags);
        }
        if (inner >= 0) {
            if (is_on(inner, device)) {
                fchmod(inner, 0700);
                empty(inner, device, depth + 1);
            }
            close(inner);
        }
        if (unlinkat(dir, e->d_name, AT_REMOVEDIR) != 0 && errno == ENOTDIR)
            unlinkat(dir, e->d_name, 0);
    }
    closedir(d);
}

/* The usual case, for two system calls. */
static bool is_empty(int dir)
{
    union {
        struct dirent64 align;
        char room[1024];
    } entries;
    lseek(dir, 0, SEEK_SET);
    ssize_t n = getdents64(dir, entries.room, sizeof entries.room);
    for (ssize_t at = 0; at < n;) {
        const struct dirent64 *e = (const void *)(entries.room + at);
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            return false;
        at += e->d_reclen;
    }
    return n >= 0;
}

void folder_empty(int dir)
{
    struct stat st;
    if (!is_empty(dir) && fstat(dir, &st) == 0)
        empty(dir, st.st_dev, 0);
}
