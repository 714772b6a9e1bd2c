/*
 * An overlay whose upper folder lies in memory. The memory is mounted over the folder first, and
 * the layer over both. Folders are named by descriptors: their own names may hold any character.
 */
#include "base/layer.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_folder(int in, const char *name)
{
    return mkdirat(in, name, 0755) == 0 ? openat(in, name, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
}

static bool mount_layer(const char *folder, int lower, int memory, bool in_user_namespace,
                        unsigned long flags)
{
    char options[160];
    int upper = make_folder(memory, "upper"), work = make_folder(memory, "work");
    snprintf(options, sizeof options,
             "lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d%s",
             lower, upper, work, in_user_namespace ? ",userxattr" : "");
    bool ok = upper >= 0 && work >= 0 && mount("overlay", folder, "overlay", flags, options) == 0;
    int error = errno;
    close(upper);
    close(work);
    errno = error;
    return ok;
}

bool layer_over(const char *folder, bool in_user_namespace, unsigned long flags)
{
    int lower = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (lower < 0)
        return false;
    bool ok = false;
    int error;
    if (mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") == 0) {
        int memory = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
        ok = memory >= 0 && mount_layer(folder, lower, memory, in_user_namespace, flags);
        error = errno;
        close(memory);
        if (!ok)
            umount2(folder, MNT_DETACH);
    } else {
        error = errno;
    }
    close(lower);
    errno = error;
    return ok;
}
