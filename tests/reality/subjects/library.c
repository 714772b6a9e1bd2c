/* Pointers that go through the C library and come back. */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item { char *name; struct item *next; int n; };
static struct item *all[4];
static char *found;
static char text[] = "key=value;other=thing";
static void *(*get)(size_t) = malloc;

static void *xget(size_t n)
{
    void *p = get(n);
    if (!p)
        abort();
    return p;
}

static int by_name(const void *a, const void *b)
{
    struct item *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static void *work(void *p)
{
    struct item *i = p;
    i->n++;
    return i->next;
}

static void handler(int sig) { all[0]->n += sig; }

static char *last(int n, ...)
{
    va_list ap;
    char *s = NULL;
    va_start(ap, n);
    while (n-- > 0)
        s = va_arg(ap, char *);
    va_end(ap);
    return s;
}

int main(void)
{
    struct sigaction sa = { .sa_handler = handler };
    pthread_t t;
    void *got, *old;

    for (int i = 0; i < 4; i++) {
        all[i] = xget(sizeof **all);
        all[i]->name = strdup(i & 1 ? "b" : "a");
        all[i]->next = i ? all[i - 1] : NULL;
        all[i]->n = i;
    }
    qsort(all, 4, sizeof *all, by_name);
    found = strchr(text, '=');
    printf("%s %s\n", found, all[0]->name);
    char *save = NULL;
    for (char *w = strtok_r(text, ";", &save); w; w = strtok_r(NULL, ";", &save))
        found = w;
    printf("%s %s\n", found, last(2, text, all[1]->name));
    sigaction(SIGUSR1, &sa, NULL);
    raise(SIGUSR1);
    pthread_create(&t, NULL, work, all[3]);
    pthread_join(t, &got);
    old = realloc(all[2], 100);
    all[2] = old;
    struct item *i = got;
    printf("%s %s\n", i ? i->name : "-", all[2]->name);
    return 0;
}
