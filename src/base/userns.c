/* User namespaces: see userns.h. */
#include "base/userns.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

UserIds userns_ids(void)
{
    UserIds ids;
    snprintf(ids.uid, sizeof ids.uid, "%u %u 1", geteuid(), geteuid());
    snprintf(ids.gid, sizeof ids.gid, "%u %u 1", getegid(), getegid());
    return ids;
}

static bool write_text(const char *path, const char *text)
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

bool userns_enter(const UserIds *ids, int more)
{
    if (unshare(CLONE_NEWUSER | more) != 0)
        return false;
    write_text("/proc/self/setgroups", "deny");
    return write_text("/proc/self/uid_map", ids->uid) && write_text("/proc/self/gid_map", ids->gid);
}
