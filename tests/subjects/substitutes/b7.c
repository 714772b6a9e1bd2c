/* B7: the creators have other parameters. A file says which argument is which:
 * sub_new(int, bool) -> super_new(2). */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct lamp {
    const struct lamp_ops *ops;
    bool on;
    int volts;
};
struct lamp_ops {
    bool (*is_on)(const struct lamp *l);
    void (*toggle)(struct lamp *l);
    void (*drop)(struct lamp *l);
};

static bool is_on(const struct lamp *l) { return l->on; }
static bool sub_is_on(const struct lamp *l) { return l->on; }
static void toggle(struct lamp *l) { l->on = !l->on; }
static void drop(struct lamp *l) { free(l); }

const struct lamp_ops super_ops = { is_on, toggle, drop };
const struct lamp_ops sub_ops = { sub_is_on, toggle, drop };

struct lamp *super_new(bool on)
{
    struct lamp *l = calloc(1, sizeof *l);
    l->ops = &super_ops;
    l->on = on;
    return l;
}

struct lamp *sub_new(int volts, bool on)
{
    struct lamp *l = calloc(1, sizeof *l);
    l->ops = &sub_ops;
    l->volts = volts;
    l->on = on;
    return l;
}

int main(void)
{
    struct lamp *l = super_new(true), *s = sub_new(12, false);
    l->ops->toggle(l);
    printf("%d %d\n", l->ops->is_on(l), s->ops->is_on(s));
    return 0;
}
