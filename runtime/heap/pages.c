#include "runtime/heap/pages.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

void *sundew_pages(size_t n)
{
    int kept = errno;
    void *p =
        mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED)
        madvise(p, n, MADV_NOHUGEPAGE);
    errno = kept;
    return p == MAP_FAILED ? NULL : p;
}

void sundew_pages_free(void *p, size_t n)
{
    int kept = errno;
    munmap(p, n);
    errno = kept;
}

void sundew_pages_reset(void *p, size_t n)
{
    int kept = errno;
    if (madvise(p, n, MADV_DONTNEED) != 0)
        memset(p, 0, n);
    errno = kept;
}

extern const char __ehdr_start[] __attribute__((weak, visibility("hidden")));

/* Load address minus linked address: that of a program which is linked to be
 * moved is where its headers are, others lie where they were linked to. */
uint64_t sundew_slide(void)
{
    const uint16_t *type = (const uint16_t *)(const void *)(__ehdr_start + 16);
    return (uintptr_t)__ehdr_start && *type == 3 /* ET_DYN */ ? (uintptr_t)__ehdr_start : 0;
}
