/* Programs whose descriptors, threads and processes a recorder might disturb. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int work(int *a) { return ++*a; }
static int after(int *a) { return *a += 2; }
static void *in_thread(void *arg) { int x = 0; work(&x); return arg; }

/* As daemons do: closes what it does not know, and opens a file of its own. */
static int closes(void)
{
    struct stat st;
    int x = 0;
    work(&x);
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    int fd = open("mine", O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (write(fd, "hello\n", 6) != 6)
        return 1;
    for (int i = 0; i < 60000; i++)
        work(&x);
    printf("descriptor %d, %d bytes\n", fd, fstat(fd, &st) ? -1 : (int)st.st_size);
    return 0;
}

static int threads(void)
{
    pthread_t t;
    for (int i = 0; i < 100; i++) {
        if (pthread_create(&t, NULL, in_thread, NULL) != 0)
            return 1;
        pthread_join(t, NULL);
    }
    printf("descriptor %d\n", open("/dev/null", O_RDONLY));
    return 0;
}

static int borrows(void)
{
    int x = 1, status;
    pid_t pid = vfork();
    if (pid == 0) {
        execv("/nonexistent", (char *[]){ "x", NULL });
        _exit(7);
    }
    waitpid(pid, &status, 0);
    printf("child %d, then %d\n", WEXITSTATUS(status), after(&x));
    return 0;
}

static int executes(int argc, char **argv)
{
    int x = 1;
    if (argc < 3)
        return execv("/proc/self/exe", (char *[]){ argv[0], argv[1], "again", NULL });
    printf("executed, %d\n", after(&x));
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    return strcmp(how, "closes") == 0 ? closes() : strcmp(how, "threads") == 0 ? threads()
         : strcmp(how, "borrows") == 0 ? borrows() : executes(argc, argv);
}
