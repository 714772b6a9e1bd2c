/* Folders at a certain depth are moved up to the folder that is emptied, and have their turn when
 * the way to them is gone: descriptors are few, and the stack is finite. */
#include "base/empty.h"
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DEEPEST = 64,
    MOST = 20 << 20 /* entries, and then it ends: somebody makes new ones all the time */
};

typedef struct Emptying {
    int top;
    dev_t device;
    unsigned left, tried, moved;
} Emptying;

static bool is_on(int dir, dev_t device)
{
    struct stat st;
    return fstat(dir, &st) == 0 && st.st_dev == device;
}

/* One below `dir`, with all permissions for us. -1: it is no folder, or gone. */
static int open_folder(int dir, const char *name)
{
    const int flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir, name, O_RDONLY | flags);
    if (fd < 0 && errno == EACCES) { /* by descriptor: a link may take its place */
        char same[64];
        int path = openat(dir, name, O_PATH | flags);
        snprintf(same, sizeof same, "/proc/self/fd/%d", path);
        if (path >= 0 && chmod(same, 0700) == 0)
            fd = openat(dir, name, O_RDONLY | flags);
        if (path >= 0)
            close(path);
    }
    return fd;
}

static void move_up(Emptying *e, int dir, const char *name)
{
    char fresh[64];
    snprintf(fresh, sizeof fresh, ".sundew-%ld-%u", (long)getpid(), e->tried++);
    e->moved += renameat(dir, name, e->top, fresh) == 0;
}

static void empty(Emptying *e, int dir, int depth);

static void remove_folder(Emptying *e, int dir, const char *name, int depth)
{
    int inner = open_folder(dir, name);
    if (inner >= 0) {
        if (is_on(inner, e->device)) {
            fchmod(inner, 0700);
            if (depth == DEEPEST)
                move_up(e, dir, name);
            else
                empty(e, inner, depth + 1);
        }
        close(inner);
    }
    if (unlinkat(dir, name, AT_REMOVEDIR) != 0 && errno == ENOTDIR)
        unlinkat(dir, name, 0);
}

static void empty(Emptying *e, int dir, int depth)
{
    assert(depth <= DEEPEST);
    int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    if (!d) {
        if (copy >= 0)
            close(copy);
        return;
    }
    for (struct dirent *entry; e->left && (entry = readdir(d));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        e->left--;
        if (entry->d_type == DT_DIR || unlinkat(dir, entry->d_name, 0) != 0)
            remove_folder(e, dir, entry->d_name, depth);
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
    if (is_empty(dir) || fstat(dir, &st) != 0)
        return;
    Emptying e = { .top = dir, .device = st.st_dev, .left = MOST };
    unsigned before;
    do {
        before = e.moved;
        empty(&e, dir, 0);
    } while (e.moved != before && e.left);
}
