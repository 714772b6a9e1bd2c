#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
struct list { int len; char *name; struct list *next; };
enum color { RED, GREEN };
struct pair { long a, b, c; };
static jmp_buf env;

static struct list *list_new(const char *name)
{
    struct list *l = calloc(1, sizeof *l);
    l->name = strdup(name);
    return l;
}
int list_add(struct list *l, enum color c, double w)
{
    l->len += c + 1;
    return l->len > 2 ? (int)w : l->len;
}
struct pair make_pair(int a) { return (struct pair){ a, a + 1, a + 2 }; }
long sum(struct pair p, struct list by) { return p.a + p.b + by.len; }
static void list_free(struct list *l) { free(l->name); free(l); }
static void leaves(int n) { if (n) longjmp(env, n); }
static void *in_thread(void *l) { list_add(l, RED, 1); return NULL; }

int main(int argc, char **argv)
{
    struct list *l = list_new(argc > 1 ? argv[1] : "none");
    pthread_t t;
    for (int i = 0; i < 3; i++)
        printf("%d\n", list_add(l, i % 2, 2.5));
    printf("%ld\n", sum(make_pair(4), *l));
    if (!setjmp(env))
        leaves(3);
    pthread_create(&t, NULL, in_thread, l);
    pthread_join(t, NULL);
    fflush(stdout);
    if (fork() == 0)
        _exit(list_add(l, RED, 7) == 7);
    wait(NULL);
    list_free(l);
    if (argc > 2)
        abort();
    return argc;
}
