#include "run/confine.h"
#include "run/run_int.h"
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

bool confine_writes(void *folder)
{
    char *none[] = { NULL }, why[128];
    Sandbox s = { .scratch = folder, .writable = none };
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    landlock_enter(&s, why, sizeof why);
    return true;
}

const char *confine_missing(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0
               ? NULL
               : "Landlock: the database server can write wherever its user can";
}
