#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static void *work(void *arg) { unsigned *v = arg; *v = *v * 3 + 1; return NULL; }
int main(void)
{
    unsigned v, w = 0;
    int fd[2];
    pthread_t t;
    if (read(0, &v, 4) != 4 || pipe(fd) != 0)
        return 1;
    pthread_create(&t, NULL, work, &v);
    pthread_join(t, NULL);
    if (v == 0x12345679)
        puts("thread");
    if (fork() == 0) {
        v ^= 0xff00ff;
        write(fd[1], &v, 4);
        _exit(0);
    }
    wait(NULL);
    read(fd[0], &w, 4);
    if (w == 0xcafe)
        puts("child");
    return 0;
}
