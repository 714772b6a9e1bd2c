/* The latch twice, behind a table; the program uses the plain one. */
#define latch_new plain_new
#define latch_turn plain_turn
#define latch_inside plain_inside
#define latch_free plain_free
#include "latch.c"
#include <stdio.h>
#undef latch_new
#undef latch_turn
#undef latch_inside
#undef latch_free

struct latch_ops {
    struct latch *(*make)(void);
    int (*turn)(struct latch *l, const char *word, unsigned code);
    int (*inside)(const struct latch *l);
    void (*end)(struct latch *l);
};

static struct latch *fast_new(void) { return plain_new(); }

static int fast_turn(struct latch *l, const char *word, unsigned code)
{
    return plain_turn(l, word, code);
}

#ifdef FIXED
static int fast_inside(const struct latch *l) { return l->open ? 7 : -1; }
#else
static int fast_inside(const struct latch *l) { return l->open ? 9 : -1; }
#endif

static void fast_free(struct latch *l) { free(l); }

const struct latch_ops plain = { plain_new, plain_turn, plain_inside, plain_free };
const struct latch_ops fast = { fast_new, fast_turn, fast_inside, fast_free };

int main(int argc, char **argv)
{
    const struct latch_ops *use = argc > 1 && argv[1][0] == 'f' ? &fast : &plain;
    struct latch *l = use->make();
    int turned = use->turn(l, "quick brown fox", 482913u);
    printf("%d %d\n", turned, use->inside(l));
    use->end(l);
    return 0;
}
