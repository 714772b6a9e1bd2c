/*
 * Subjects for tests of src/run/: argv[1] says what to do. Each ill-behaved one
 * stands beside a benign twin that does nearly the same.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/server/forkserver.h"
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int argument;
static const char *text_argument = "";

/* ---- crashes */

static volatile int *volatile nowhere;

__attribute__((noinline)) static void write_null(void) { nowhere[2] = 1; }
__attribute__((noinline)) static int read_null(void) { return nowhere[4]; }
static int reads(void) { return read_null() ? 1 : 0; }
static int writes(void) { write_null(); return 0; }
static int jumps(void) { ((void (*)(void))0)(); return 0; }
static int writes_constant(void)
{
    static char page[4096] __attribute__((aligned(4096)));
    mprotect(page, sizeof page, PROT_READ);
    page[argument & 1] = 1;
    return 0;
}
static int divides(void) { volatile int zero = argument & 0; return 7 / zero; }
static int traps(void) { __builtin_trap(); }
static int aborts(void) { abort(); }
static int asserts(void) { assert(argument < 0 && "it's `quoted'"); return 0; }
static int double_free(void)
{
    char *volatile p = malloc(10);
    free(p);
    free(p);
    return 0;
}
static int leaks(void)
{
    char *volatile p = malloc(10);
    p[0] = 1;
    if (argument == 0)
        free(p);
    p = NULL;
    return 0;
}
static int kills_itself(void) { raise(SIGTERM); return 0; }

__attribute__((noinline)) static int recurse(volatile char *above, int n)
{
    volatile char room[512];
    room[0] = above[0];
    if (n == 0)
        return room[0];
    return recurse(room, n - 1) + room[0];
}
static int overflows_stack(void)
{
    volatile char c = 1;
    return recurse(&c, argument) & 0;
}

static void handler(int sig)
{
    static const char text[] = "caught\n";
    ssize_t n = write(2, text, sizeof text - 1);
    (void)n;
    signal(sig, SIG_DFL);
    raise(sig);
}
static int catches_and_raises(void)
{
    signal(SIGSEGV, handler);
    write_null();
    return 0;
}
static void survives(int sig) { (void)sig; _exit(0); }
static int catches_and_exits(void)
{
    signal(SIGSEGV, survives);
    write_null();
    return 1;
}

static void *thread_main(void *arg)
{
    if (arg)
        write_null();
    return NULL;
}
static int in_thread(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread_main, argument ? &argument : NULL);
    pthread_join(t, NULL);
    return 0;
}

/* ---- processes */

/* argument 0: waits for its child; else leaves it behind, in its own session. */
static int forks(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        if (argument) {
            setsid();
            if (fork() != 0)
                _exit(0);
            signal(SIGTERM, SIG_IGN);
            signal(SIGHUP, SIG_IGN);
            for (;;)
                pause();
        }
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    puts("parent is done");
    return 0;
}

/* argument 0: children fork too, without end; well, 5000 of them, should the
 * sandbox fail us. Else so many children, one after the other. */
static int bombs(void)
{
    volatile int *count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; argument == 0 || i < argument; i++) {
        if (argument == 0 && __sync_add_and_fetch(count, 1) > 5000)
            for (;;)
                pause();
        pid_t pid = fork();
        if (pid == 0 && argument)
            _exit(0);
        if (pid > 0 && argument)
            waitpid(pid, NULL, 0);
        if (pid < 0 && argument)
            return 1;
    }
    return 0;
}

static int ignores_term(void)
{
    signal(SIGTERM, SIG_IGN);
    while (argument == 0)
        pause();
    return 0;
}
static int sleeps(void) { usleep((useconds_t)argument * 1000); return 0; }
static int spins(void)
{
    for (volatile long i = 0; argument == 0 || i < argument; i++)
        ;
    return 0;
}
static int stops_itself(void) { raise(SIGSTOP); return 0; }
static int kills_others(void) { return kill(-1, SIGKILL) == 0 ? 0 : errno; }

/* ---- means */

/* argument: MiB */
static int eats(void)
{
    static struct block {
        struct block *next;
        char rest[(1 << 20) - sizeof(void *)];
    } *all;
    for (int i = 0; i < argument; i++) {
        struct block *b = malloc(sizeof *b);
        if (!b)
            return 3;
        memset(b, i + 1, sizeof *b);
        b->next = all;
        all = b;
    }
    return 0;
}

/* argument: KiB on standard output */
static int prints(void)
{
    static char line[1024];
    memset(line, 'x', sizeof line);
    line[1023] = '\n';
    for (int i = 0; i < argument; i++)
        if (write(1, line, sizeof line) < 0)
            return 1;
    fputs("the end\n", stderr);
    return 0;
}

/* argument: KiB into a file */
static int fills(void)
{
    static char block[1024];
    FILE *f = fopen("big", "w");
    for (int i = 0; f && i < argument; i++)
        if (fwrite(block, 1, sizeof block, f) != sizeof block)
            return 1;
    return f && fclose(f) == 0 ? 0 : 1;
}

/* ---- outside */

static int says(int yes)
{
    printf("%s\n", yes ? "yes" : strerror(errno));
    return 0;
}

static int writes_file(void)
{
    int fd = open(text_argument, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    return says(fd >= 0 && write(fd, "x", 1) == 1);
}
static int changes_mode(void) { return says(chmod(text_argument, 0777) == 0); }
static int removes(void) { return says(unlink(text_argument) == 0); }
static int reads_file(void) { return says(open(text_argument, O_RDONLY) >= 0); }
static int uses_tmpfile(void) { return says(tmpfile() != NULL); }
static int leaves_in_tmp(void)
{
    int there = access("/tmp/sundew-left", F_OK) == 0;
    close(open("/tmp/sundew-left", O_WRONLY | O_CREAT, 0600));
    printf("%s\n", there ? "there" : "fresh");
    return 0;
}

static int connects(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_port = htons((uint16_t)argument),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    return says(fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0);
}

/* A server and its client, on a network of their own. */
static int talks_to_itself(void)
{
    int s = socket(AF_INET, SOCK_STREAM, 0), c = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof a;
    return says(s >= 0 && bind(s, (struct sockaddr *)&a, n) == 0 &&
                listen(s, 1) == 0 &&
                getsockname(s, (struct sockaddr *)&a, &n) == 0 &&
                connect(c, (struct sockaddr *)&a, n) == 0);
}
static int reads_terminal(void)
{
    char line[16];
    FILE *tty = fopen("/dev/tty", "r");
    return says(tty && fgets(line, sizeof line, tty));
}
static int copies(void)
{
    char buf[4096];
    size_t n;
    while ((n = fread(buf, 1, sizeof buf, stdin)) > 0)
        fwrite(buf, 1, n, stdout);
    return argument;
}
static int reads_fd(void)
{
    char buf[16] = "";
    ssize_t n = read(argument, buf, sizeof buf - 1);
    printf("%s\n", n > 0 ? buf : strerror(errno));
    return 0;
}
static int where(void)
{
    char cwd[4096];
    puts(getcwd(cwd, sizeof cwd) ? cwd : "?");
    puts(getenv("TMPDIR") ? getenv("TMPDIR") : "-");
    return 0;
}
static int shows_address(void) { printf("%p\n", (void *)&argument); return 0; }
static int exits(void) { return argument; }

/* A command interpreter for runs of the fork server: the input decides. */
static int obeys(void)
{
    static int runs;
    char line[64] = "";
    do {
        rewind(stdin);
        if (!fgets(line, sizeof line, stdin))
            line[0] = 0;
        line[strcspn(line, "\n")] = 0;
        printf("%s %d %d\n", line, ++runs, (int)getpid());
        fflush(stdout);
        if (!strcmp(line, "write"))
            write_null();
        if (!strcmp(line, "abort"))
            abort();
        if (!strcmp(line, "spin"))
            for (;;)
                ;
        if (!strcmp(line, "sleep"))
            pause();
        if (!strcmp(line, "fork"))
            argument = 1, forks();
        if (!strcmp(line, "bomb"))
            argument = 0, bombs();
        if (!strcmp(line, "eat"))
            argument = 4000, eats();
        if (!strcmp(line, "parent"))
            kill(getppid(), SIGKILL);
        if (!strcmp(line, "exit"))
            exit(7);
    } while ((argument == 77 && sundew_forkserver_again(5)) ||
             (argument == 78 && sundew_forkserver_again(1000)));
    return 0;
}

/* Something expensive that a fork server needs to do only once. */
static void prepare(void)
{
    if (getenv("SLOW_START"))
        usleep(200000);
}

static const struct {
    const char *name;
    int (*run)(void);
} deeds[] = {
    { "reads", reads }, { "writes", writes }, { "jumps", jumps },
    { "writes-constant", writes_constant }, { "divides", divides },
    { "traps", traps }, { "aborts", aborts }, { "asserts", asserts },
    { "double-free", double_free }, { "leaks", leaks }, { "kills-itself", kills_itself },
    { "overflows-stack", overflows_stack },
    { "catches-and-raises", catches_and_raises },
    { "catches-and-exits", catches_and_exits }, { "in-thread", in_thread },
    { "forks", forks }, { "bombs", bombs }, { "ignores-term", ignores_term },
    { "sleeps", sleeps }, { "spins", spins }, { "stops-itself", stops_itself },
    { "kills-others", kills_others }, { "eats", eats }, { "prints", prints },
    { "fills", fills }, { "writes-file", writes_file },
    { "changes-mode", changes_mode }, { "removes", removes },
    { "reads-file", reads_file }, { "uses-tmpfile", uses_tmpfile },
    { "leaves-in-tmp", leaves_in_tmp }, { "connects", connects },
    { "talks-to-itself", talks_to_itself }, { "reads-terminal", reads_terminal },
    { "copies", copies }, { "reads-fd", reads_fd }, { "where", where },
    { "shows-address", shows_address }, { "exits", exits }, { "obeys", obeys },
};

int main(int argc, char **argv)
{
    if (argc > 2) {
        text_argument = argv[2];
        argument = atoi(argv[2]);
    }
    prepare();
    sundew_forkserver_start();
    for (size_t i = 0; argc > 1 && i < sizeof deeds / sizeof *deeds; i++)
        if (strcmp(argv[1], deeds[i].name) == 0)
            return deeds[i].run();
    fprintf(stderr, "no such deed\n");
    return 64;
}
