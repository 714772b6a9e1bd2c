/* Three tables; a slot of one has a function of another type. Objects are void pointers. */
#include <stdio.h>
#include <stdlib.h>

struct bag_ops {
    void *(*open)(void);
    int (*put)(void *bag, int x);
    int (*sum)(void *bag);
    void (*close)(void *bag);
};

static void *bag_open(void) { return calloc(1, sizeof(int)); }

static int bag_put(void *bag, int x)
{
    if (x < 0 || x > 100 || *(int *)bag > 1000)
        return -1;
    *(int *)bag += x;
    return 0;
}

static int text_put(void *bag, int x, const char *text)
{
    return text ? bag_put(bag, x) : -1;
}

static int bag_sum(void *bag) { return *(int *)bag; }
static void bag_close(void *bag) { free(bag); }

const struct bag_ops good_ops = { bag_open, bag_put, bag_sum, bag_close };
const struct bag_ops bad_ops = { bag_open, (int (*)(void *, int))text_put, bag_sum, bag_close };
const struct bag_ops other_ops = { bag_open, bag_put, bag_sum, bag_close };

int main(void)
{
    void *bag = good_ops.open();
    printf("%d %d\n", other_ops.put(bag, 3), good_ops.sum(bag));
    good_ops.close(bag);
    return bad_ops.open == NULL;
}
