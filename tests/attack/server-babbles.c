/*
 * name:    a fork server never ends a run, and speaks of other runs without end
 * command: threads
 * expect:  0 1 2
 * long:    yes
 */
#include "attack.h"

static void say(uint32_t kind, uint32_t number)
{
    struct message m = { 0x53644673, 1, kind, number, 0, 0, 0, 0 };
    send(SERVER_FD, &m, sizeof m, MSG_NOSIGNAL);
}

/* Before any constructor. */
static void take_over(int argc, char **argv, char **env)
{
    while (*env && strncmp(*env, "SUNDEW_FORKSERVER=", 18))
        env++;
    if (!*env)
        return;
    say(1, 0);
    for (;;)
        say(3, 4000000000u);
}

__attribute__((section(".preinit_array"), used)) static void (*first)(int, char **, char **) =
    take_over;

int main(void) { return 0; }
