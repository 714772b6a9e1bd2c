/* The culprit has returned before the crash: init() forgot the list. */
#include <stdio.h>
#include <stdlib.h>

#define DEFECT 1

struct list { const char **items; int count; };
struct service { struct list *urls; int port; };

__attribute__((noinline)) static void init(struct service *s)
{
    s->port = 80;
    s->urls = NULL;
    if (!DEFECT) {
        s->urls = calloc(1, sizeof *s->urls);
        s->urls->items = calloc(1, sizeof *s->urls->items);
        s->urls->items[0] = "http://localhost";
        s->urls->count = 1;
    }
}

__attribute__((noinline)) const char *get_url(const struct service *s, int n)
{
    if (n >= s->urls->count)
        return NULL;
    return s->urls->items[n];
}

__attribute__((noinline)) int run(struct service *s)
{
    init(s);
    const char *url = get_url(s, 0);
    printf("%s:%d\n", url ? url : "none", s->port);
    return url == NULL;
}

int main(void)
{
    struct service s;
    return run(&s);
}
