#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
struct S { int v; struct S *p; };
struct S *shared;
__attribute__((noinline)) void by_child(struct S *s) { s->v = 1; }
__attribute__((noinline)) void by_thread(struct S *s) { s->v = 2; }
__attribute__((noinline)) void before_kill(struct S *s) { s->v = 3; }
__attribute__((noinline)) void of_other(struct S *mine) { shared = mine; usleep(1000); }
__attribute__((noinline)) int untouched(struct S *s) { return s->v; }
static void *thread(void *a) { struct S s = {0}; for (int i = 0; i < 1000; i++) by_thread(&s), of_other(&s), untouched(&s); return a; }
static void on_signal(int n) { struct S s = {n, 0}; by_child(&s); }
int main(void)
{
    struct S s = {0}, other = {0};
    pthread_t t[4];
    if (!fork()) { by_child(&s); _exit(0); }
    if (!fork()) { before_kill(&s); kill(getpid(), SIGKILL); }
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, thread, 0);
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 100; i++) { raise(SIGUSR1); shared = &other; shared->v++; }
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    while (wait(0) > 0) ;
    untouched(&s);
    return 0;
}
