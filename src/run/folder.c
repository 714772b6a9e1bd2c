/* Emptying a folder that a subject has filled: it may hold links to elsewhere,
 * folders without permissions, and names of any bytes. */
#include "run/run_int.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEEPEST = 200 };        /* descriptors are few; deeper ones stay */

static void empty(int dir, int depth)
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
        fchmodat(dir, e->d_name, 0700, 0);
        int inner = depth < DEEPEST ? openat(dir, e->d_name,
                                             O_RDONLY | O_DIRECTORY |
                                                 O_NOFOLLOW | O_CLOEXEC) : -1;
        if (inner >= 0) {
            empty(inner, depth + 1);
            close(inner);
        }
        if (unlinkat(dir, e->d_name, AT_REMOVEDIR) != 0 && errno == ENOTDIR)
            unlinkat(dir, e->d_name, 0);
    }
    closedir(d);
}

void folder_empty(int dir)
{
    empty(dir, 0);
}
