/*
 * name:    a fork server ends each run at once, and goes on to write to its output without end
 * command: threads
 * expect:  0 1 2
 * long:    yes
 */
#include "attack.h"

/* By a process of its own: the worker looks for orphans only. */
static void write_without_end(int fd)
{
    static char page[65536];
    fcntl(fd, F_SETPIPE_SZ, 1 << 20);
    for (int i = 0; i < 4; i++)
        if (syscall(SYS_fork) == 0)
            for (;;)
                syscall(SYS_write, fd, page, sizeof page);
}

static void answer(uint32_t kind, uint32_t number)
{
    struct message m = { 0x53644673, 1, kind, number, 0, 0, 0, 0 };
    send(SERVER_FD, &m, sizeof m, MSG_NOSIGNAL);
}

/* The three descriptors of a run; the second is its output. */
static uint32_t asked(int *fds)
{
    struct message m;
    struct iovec iov = { &m, sizeof m };
    char room[CMSG_SPACE(3 * sizeof(int))];
    struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room };
    if (recvmsg(SERVER_FD, &h, 0) <= 0)
        _exit(0);
    if (m.kind == 2 && CMSG_FIRSTHDR(&h))
        memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&h)), 3 * sizeof(int));
    return m.kind == 2 ? m.number : 0;
}

/* Before any constructor; the C library is there, the environment an argument. */
static void take_over(int argc, char **argv, char **env)
{
    static int fds[64][3];
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    while (*env && strncmp(*env, "SUNDEW_FORKSERVER=", 18))
        env++;
    if (!*env)
        return;
    sigaction(SIGPIPE, &ignore, NULL);
    answer(1, 0);
    for (unsigned i = 0; i < 64;) {
        uint32_t number = asked(fds[i]);
        if (!number)
            continue;
        for (int k = 1; k < 3; k++)
            write_without_end(fds[i][k]);
        usleep(20000);
        answer(3, number);
        i++;
    }
}

__attribute__((section(".preinit_array"), used)) static void (*first)(int, char **, char **) =
    take_over;

int main(void) { return 0; }
