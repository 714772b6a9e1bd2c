#include "base/shared.h"
#include <assert.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

bool shared_new(Shared *s, const char *name, size_t size, Err *err)
{
    assert(size > 0);
    *s = (Shared){ .fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING), .size = size };
    if (s->fd >= 0 && ftruncate(s->fd, (off_t)size) == 0 &&
        fcntl(s->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
        void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
        if (at != MAP_FAILED) {
            s->at = at;
            return true;
        }
    }
    err_errno(err, "shared memory");
    shared_free(s);
    return false;
}

void shared_free(Shared *s)
{
    if (s->at)
        munmap(s->at, s->size);
    if (s->fd >= 0)
        close(s->fd);
    *s = (Shared){ .fd = -1 };
}
