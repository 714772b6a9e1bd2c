/*
 * name:    sockets of all families are asked for, in all the ways that the processor has
 * command: run
 * without: network namespace
 * expect:  0
 */
#include "attack.h"

static int failures;

static void tried(const char *how, int family, long got)
{
    if (got < 0)
        return;
    printf("reached: family %d, %s\n", family, how);
    failures++;
    close((int)got);
}

#ifdef __x86_64__
static long of_32_bits(long nr, long a, long b, long c)
{
    long r;
    __asm__ volatile("int $0x80"
                     : "=a"(r)
                     : "a"(nr), "b"(a), "c"(b), "d"(c)
                     : "memory", "r8", "r9", "r10", "r11");
    return r;
}
#endif

int main(void)
{
    static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET };
    for (int family = 0; family < 64; family++)
        for (int i = 0; i < 4 && family != AF_UNIX; i++) {
            tried("plain", family, syscall(SYS_socket, (long)family, types[i], 0));
            tried("with high bits", family, syscall(SYS_socket, 1L << 32 | family, types[i], 0));
#ifdef __x86_64__
            int32_t *words = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
            words[0] = family;
            words[1] = types[i];
            tried("socketcall", family, of_32_bits(102, 1, (long)words, 0));
            tried("socket of 32 bits", family, of_32_bits(359, family, types[i], 0));
#endif
        }
    printf("tried all\n");
    return failures ? 3 : 0;
}
