/*
 * player - what a library that was woven for src/engine/sequence/ says to the
 * program that loads it.
 *
 * Its constructors call sundew_player_register() with what they have: bytes that
 * become 1 when a block ran or a branch went a way (cover), the number of the
 * mutant that is switched on (mutant; 0: none), and bytes that become 1 when a
 * block that has mutants ran (reached). Who loads such a library must have this
 * function and export it.
 */
#ifndef SUNDEW_PLAYER_H
#define SUNDEW_PLAYER_H
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

enum {
    SUNDEW_PLAYER_COVER = 1,
    SUNDEW_PLAYER_MUTANT,
    SUNDEW_PLAYER_REACHED,
    SUNDEW_PLAYER_SCHEDULE,          /* the struct below */
};

/* Of a library that is woven for scheduling (runtime/schedule/schedule.h): the player
 * makes its threads with these, so that they are scheduled. */
struct sundew_player_schedule {
    void (*begin)(void);
    void (*end)(void);
    int (*create)(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *),
                  void *arg);
    int (*join)(pthread_t thread, void **result);
    int (*sem_wait)(sem_t *s);
    int (*sem_post)(sem_t *s);
};

void sundew_player_register(uint32_t what, void *address, uint64_t n);
#endif
