/*
 * attack - what hostile subjects share: finding the memory and the sockets that
 * Sundew shares with them.
 *
 * Each attack carries its expectation in its first comment:
 *
 *     command:  explore | explore-concolic | regress | run | threads | events | substitutes | record |
 *               invariants | protocols | confirm | mutability | reproduce | check | modules | web | examples; or several
 *     expect:   exit statuses that are right, "0 1" say
 *     silent:   no finding may be reported (an abort() means: it got through)
 *     without:  a protection that the kernel may refuse, for run: the attack must not get through
 *     twice:    for run: two runs in one sandbox
 *     apart:    ipc, mount: only a namespace of its own keeps it away; left out where the kernel gives none
 *     long:     for make soak
 *
 * Nothing may stay in TMPDIR.
 *
 * Whatever the subject does, the command ends within its time, is not killed by a
 * signal, and says nothing of a sanitizer of its own.
 */
#ifndef ATTACK_H
#define ATTACK_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SERVER_FD = 198, LOG_FD = 199, BATCH_FD = 200, PLAYER_FD = 9 };

/* Where the memory with `name` in its name is mapped from its begin on, or NULL. */
static inline uint32_t *shared_memory(const char *name, size_t *size)
{
    char line[512];
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f)) {
        unsigned long from, to, offset;
        if (strstr(line, name) &&
            sscanf(line, "%lx-%lx %*s %lx", &from, &to, &offset) == 3 && offset == 0) {
            fclose(f);
            *size = to - from;
            return (uint32_t *)from;
        }
    }
    if (f)
        fclose(f);
    return NULL;
}

/* Descriptors that a runtime closes once it has mapped them are kept. */
__attribute__((constructor(101))) static inline void keep_descriptors(void)
{
    for (int fd = 3; fd < 300; fd++)
        fcntl(fd, F_DUPFD, 400);
}

/* All memory that Sundew shares with this process: shorter, or full of one word. */
static inline void shared_truncated(void)
{
    for (int fd = 3; fd < 800; fd++)
        if (ftruncate(fd, 0) == 0 || ftruncate(fd, 1) == 0)
            printf("reached: descriptor %d is shorter\n", fd);
}

static inline void shared_filled(uint32_t value)
{
    char line[512];
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f)) {
        unsigned long from, to;
        char mode[8];
        if (strstr(line, "memfd:sundew") && sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3 &&
            mode[1] == 'w')
            for (unsigned long at = from; at + 4 <= to; at += 4)
                *(volatile uint32_t *)at = value;
    }
    if (f)
        fclose(f);
}

/* What each of the folders named in the environment gets: files that are none. */
static inline void leave_in(const char *variable, const char *const *names)
{
    const char *folder = getenv(variable);
    char path[4096];
    for (unsigned i = 0; folder && names[i]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
        if (i % 4 == 0 && mkfifo(path, 0666) != 0)
            continue;
        if (i % 4 == 1 && symlink("/dev/zero", path) != 0)
            continue;
        if (i % 4 == 2 && symlink("/etc/passwd", path) != 0)
            continue;
        if (i % 4 == 3)
            mkdir(path, 0777);
    }
}

/* The first word of standard input. */
static inline unsigned first_byte(void)
{
    unsigned char c = 0;
    return read(0, &c, 1) == 1 ? c : 0;
}

/* Words of struct sundew_batch. */
enum { AT_ROOM = 5, AT_ROUNDS = 7, AT_N = 8, AT_AT = 9, AT_STARTED = 10, AT_SLOTS = 16 };

struct message {
    uint32_t magic, version, kind, number;
    int32_t status;
    uint32_t unused;
    uint64_t cpu_us, max_rss;
};
#endif
