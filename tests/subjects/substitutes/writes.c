/* Two logs: one forgets the newline on standard output, and writes another file when it is closed.
 * FIXED: it does not. */
#include <stdio.h>
#include <stdlib.h>

struct log {
    int lines;
};
struct log_ops {
    struct log *(*make)(void);
    void (*say)(struct log *l, int n);
    int (*lines)(const struct log *l);
    void (*close)(struct log *l);
};

static struct log *log_make(void) { return calloc(1, sizeof(struct log)); }
static int log_lines(const struct log *l) { return l->lines; }

static void plain_say(struct log *l, int n)
{
    l->lines++;
    printf("line %d\n", n);
}

static void save(const struct log *l, const char *words)
{
    FILE *f = fopen("log.txt", "w");
    if (f) {
        fprintf(f, "%d %s\n", l->lines, words);
        fclose(f);
    }
}

static void plain_close(struct log *l)
{
    save(l, "lines");
    free(l);
}

static void short_say(struct log *l, int n)
{
    l->lines++;
#ifdef FIXED
    printf("line %d\n", n);
#else
    printf("line %d", n);
#endif
}

static void short_close(struct log *l)
{
#ifdef FIXED
    save(l, "lines");
#else
    save(l, "rows");
#endif
    free(l);
}

const struct log_ops plain = { log_make, plain_say, log_lines, plain_close };
const struct log_ops brief = { log_make, short_say, log_lines, short_close };

int main(void)
{
    struct log *l = plain.make();
    brief.say(l, plain.lines(l));
    brief.close(l);
    return 0;
}
