/* The culprit has returned before the crash: init() forgot the list. */
#include <stdio.h>
#include <stdlib.h>

#define DEFECT 1
/* A call that no optimiser sees through: the function keeps its frame. */
#define CALL(f) (*(__typeof__(f) *volatile *)&(__typeof__(f) *){ f })

struct list { const char **items; int count; };
struct service { struct list *urls; int port; };

static void init(struct service *s)
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

const char *get_url(const struct service *s, int n)
{
    if (n >= s->urls->count)
        return NULL;
    return s->urls->items[n];
}

int run(struct service *s)
{
    CALL(init)(s);
    const char *url = CALL(get_url)(s, 0);
    printf("%s:%d\n", url ? url : "none", s->port);
    return url == NULL;
}

int main(void)
{
    struct service s;
    return CALL(run)(&s);
}
