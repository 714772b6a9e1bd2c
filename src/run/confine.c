#include "run/confine.h"
#include "base/userns.h"
#include "run/run_int.h"
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A network with nothing in it. Root stays in its user namespace, or it could not become another
 * user, as servers do. */
static bool leave_network(void)
{
    UserIds ids = userns_ids();
    return geteuid() == 0 ? unshare(CLONE_NEWNET) == 0 : userns_enter(&ids, CLONE_NEWNET);
}

bool confine(void *folder)
{
    char *none[] = { NULL }, why[128];
    Sandbox s = { .scratch = folder, .layered = "", .writable = none };
    struct rlimit most = { CONFINE_FILE_SIZE, CONFINE_FILE_SIZE };
    setrlimit(RLIMIT_FSIZE, &most);
    s.rows[PROTECT_NET].granted = leave_network();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    s.rows[PROTECT_LANDLOCK].granted = landlock_enter(&s, why, sizeof why);
    seccomp_enter(&s, why, sizeof why);
    return true;
}

const char *confine_missing(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0
               ? NULL
               : "Landlock: the database server can write wherever its user can";
}
