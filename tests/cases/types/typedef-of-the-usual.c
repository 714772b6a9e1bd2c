/*
 * name:   a project's own name for a pid_t is a pid_t
 * run:    sundew types $file
 * expect: no findings
 * status: 0
 */
#include <sys/types.h>
#include <sys/wait.h>

typedef pid_t Pid;

int wait_for(Pid pid);
int wait_for(Pid pid)
{
    int status = 0;
    return waitpid(pid, &status, 0) < 0 ? -1 : status;
}
