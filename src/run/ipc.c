/* System V's shared memory, semaphores and queues belong to no process, so that they outlive a run:
 * memory that nobody counts, and words for the next run. */
#include "run/run_int.h"
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

/* Each call gives the number of the last place that is used; -1: the kernel has none. */
void ipc_empty(void)
{
    struct shmid_ds shared;
    struct msqid_ds queue;
    struct seminfo semaphores;
    struct shm_info any;
    int last = shmctl(0, SHM_INFO, (struct shmid_ds *)&any);
    for (int i = 0, id; i <= last && any.used_ids; i++)
        if ((id = shmctl(i, SHM_STAT, &shared)) >= 0)
            shmctl(id, IPC_RMID, NULL);
    last = semctl(0, 0, SEM_INFO, &semaphores);
    for (int i = 0, id; i <= last && semaphores.semusz; i++)
        if ((id = semctl(i, 0, SEM_STAT, &(struct semid_ds){ 0 })) >= 0)
            semctl(id, 0, IPC_RMID);
    struct msginfo queues;
    last = msgctl(0, MSG_INFO, (struct msqid_ds *)&queues);
    for (int i = 0, id; i <= last && queues.msgpool; i++)
        if ((id = msgctl(i, MSG_STAT, &queue)) >= 0)
            msgctl(id, IPC_RMID, NULL);
}
