/* A library that is scheduled says to its player where these functions are:
 * runtime/server/player.h. A program has no player, and says nothing. */
#include "runtime/schedule/schedule_int.h"
#include "runtime/server/player.h"

extern __typeof__(sundew_player_register) sundew_player_register
    __attribute__((weak, visibility("default")));

int sundew_sched_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                                void *(*routine)(void *), void *arg);
int sundew_sched_pthread_join(pthread_t handle, void **result);
int sundew_sched_sem_wait(sem_t *s);
int sundew_sched_sem_post(sem_t *s);

/* What the player does stands nowhere in the library. */
static int create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *),
                  void *arg)
{
    sundew_schedule_site = (uint32_t)SUNDEW_SCHEDULE_NOWHERE;
    return sundew_sched_pthread_create(thread, attr, routine, arg);
}

static int join(pthread_t handle, void **result)
{
    sundew_schedule_site = (uint32_t)SUNDEW_SCHEDULE_NOWHERE;
    return sundew_sched_pthread_join(handle, result);
}

static struct sundew_player_schedule functions = {
    .begin = sundew_schedule_begin,
    .end = sundew_schedule_end,
    .create = create,
    .join = join,
    .sem_wait = sundew_sched_sem_wait,
    .sem_post = sundew_sched_sem_post,
};

__attribute__((constructor(102))) static void tell(void)
{
    if (sundew_player_register)
        sundew_player_register(SUNDEW_PLAYER_SCHEDULE, &functions, sizeof functions);
}
