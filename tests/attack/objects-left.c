/*
 * name:    System V's objects are left for later runs
 * command: run
 * twice:   yes
 * apart:   ipc
 * expect:  0
 */
#include "attack.h"
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

int main(void)
{
    if (shmget(4711, 4096, 0600) >= 0 || semget(4711, 1, 0600) >= 0 || msgget(4711, 0600) >= 0)
        return printf("reached: what another run has left\n"), 3;
    shmget(4711, 4096, IPC_CREAT | 0600);
    semget(4711, 1, IPC_CREAT | 0600);
    msgget(4711, IPC_CREAT | 0600);
    return 0;
}
