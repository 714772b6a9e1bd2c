/* A program that fails in the way its argument says. Linked from two units, so
 * that not all is inlined. */
#include "sundew.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

struct item {
    int value;
    struct item *next;
    char *name;
    char secret[16];
};

int fail(const char *how, struct item *it, int n);     /* fail.c */

static struct item *head;
static int total;

static struct item *add(int value, const char *name)
{
    struct item *it = calloc(1, sizeof *it);
    it->value = value;
    it->name = strdup(name);
    strcpy(it->secret, "hunter2");
    it->next = head;
    head = it;
    total += value;
    return it;
}

static sigjmp_buf back;
static volatile int caught;

static void quit(int sig)
{
    static const char text[] = "own handler\n";
    if (write(1, text, sizeof text - 1) < 0)
        _exit(9);
    _exit(sig);
}

/* Says something, then dies of the same signal. */
static void die_again(int sig)
{
    static const char text[] = "own report\n";
    if (write(1, text, sizeof text - 1) < 0)
        _exit(9);
    signal(sig, SIG_DFL);
    raise(sig);
}

static void die_otherwise(int sig)
{
    (void)sig;
    abort();
}

static void give_up(int sig) { signal(sig, SIG_DFL); }

static void quit_info(int sig, siginfo_t *info, void *context)
{
    (void)context;
    _exit(info->si_signo == sig && !info->si_addr ? 44 : 45);
}

static void jump(int sig)
{
    (void)sig;
    caught++;
    siglongjmp(back, 1);
}

static void *in_thread(void *how)
{
    fail(how, head, 7);
    return NULL;
}

static ucontext_t here, there;

static void coroutine(void)
{
    fail("null", head, 3);
}

static char small_stack[16384];

static void prepare(const char *how)
{
    struct sigaction act = { .sa_handler = quit };
    sigset_t all;
    sigfillset(&all);
    if (strcmp(how, "handler") == 0) {
        signal(SIGSEGV, quit);
    } else if (strcmp(how, "again") == 0) {
        signal(SIGSEGV, die_again);
    } else if (strcmp(how, "otherwise") == 0) {
        signal(SIGSEGV, die_otherwise);
    } else if (strcmp(how, "returns") == 0) {
        signal(SIGSEGV, give_up);
    } else if (strcmp(how, "sysv") == 0) {
        __sysv_signal(SIGSEGV, quit);
    } else if (strcmp(how, "siginfo") == 0) {
        act.sa_sigaction = quit_info;
        act.sa_flags = SA_SIGINFO;
        sigaction(SIGSEGV, &act, NULL);
    } else if (strcmp(how, "onstack") == 0) {
        stack_t ss = { .ss_sp = small_stack, .ss_size = sizeof small_stack };
        sigaltstack(&ss, NULL);
        act.sa_flags = SA_ONSTACK;
        sigaction(SIGSEGV, &act, NULL);
    } else if (strcmp(how, "ignore") == 0) {
        signal(SIGSEGV, SIG_IGN);
    } else if (strcmp(how, "block") == 0) {
        sigprocmask(SIG_BLOCK, &all, NULL);
    }
}

static int run(const char *how, int n)
{
    struct item *it = add(n, how);
    if (strcmp(how, "thread") == 0) {
        pthread_t t;
        pthread_create(&t, NULL, in_thread, "null");
        pthread_join(t, NULL);
    } else if (strcmp(how, "fork") == 0) {
        int status;
        pid_t pid = fork();
        if (pid == 0)
            fail("null", it, 5);
        waitpid(pid, &status, 0);
        printf("child: %d\n", WTERMSIG(status));
        return 0;
    } else if (strcmp(how, "coroutine") == 0) {
        getcontext(&there);
        there.uc_stack.ss_sp = malloc(65536);
        there.uc_stack.ss_size = 65536;
        there.uc_link = &here;
        makecontext(&there, coroutine, 0);
        swapcontext(&here, &there);
    } else if (strcmp(how, "recover") == 0) {
        signal(SIGSEGV, jump);
        for (int i = 0; i < 3; i++)
            if (sigsetjmp(back, 1) == 0)
                fail("null", it, i);
        printf("caught %d\n", caught);
        return 0;
    } else if (strcmp(how, "rethrow") == 0) {
        signal(SIGSEGV, jump);
        if (sigsetjmp(back, 1) == 0)
            fail("null", it, 1);
        signal(SIGSEGV, SIG_DFL);
        abort();
    } else if (strcmp(how, "dump") == 0) {
        sundew_dump("nothing left");
        puts("went on");
        return 0;
    } else if (strcmp(how, "libc") == 0) {
        return (int)strlen(it->next ? it->name : (char *)8);
    } else {
        prepare(how);
        return fail(how, it, n);
    }
    return 1;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "fine";
    printf("begin %s\n", how);
    fflush(stdout);
    int r = run(how, argc > 2 ? atoi(argv[2]) : 3);
    printf("end %d\n", r);
    return r;
}
