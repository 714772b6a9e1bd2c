#include "base/fault.h"
#include <errno.h>
#include <stdlib.h>

/* Test-only state; the one place where a file-level variable is the point. */
static unsigned countdown, alloc_countdown;
static bool fired;

void fault_after(unsigned n)
{
    countdown = n;
    fired = false;
}

void fault_alloc_after(unsigned n)
{
    alloc_countdown = n;
    fired = false;
}

bool fault_fired(void) { return fired; }

static bool hits(unsigned *count, int error)
{
    if (*count == 0 || --*count > 0)
        return false;
    fired = true;
    errno = error;
    return true;
}

bool fault_hits(void) { return hits(&countdown, ENOSPC); }

bool fault_hits_alloc(void) { return hits(&alloc_countdown, ENOMEM); }

static unsigned number_in(const char *name)
{
    const char *n = getenv(name);
    return n ? (unsigned)strtoul(n, NULL, 10) : 0;
}

void fault_from_environment(void)
{
    fault_after(number_in("SUNDEW_FAULT"));
    fault_alloc_after(number_in("SUNDEW_FAULT_ALLOC"));
}
