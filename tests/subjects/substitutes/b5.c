/* B5: the setter of a read-only rectangle aborts; that of a frozen one says ENOTSUP.
 * FIXED: both set. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct rect {
    int w, h;
};
struct rect_ops {
    const char *name;
    int (*open)(struct rect **out);
    int (*set_width)(struct rect *r, int w);
    int (*area)(const struct rect *r);
    void (*close)(struct rect *r);
};

static int rect_open(struct rect **out)
{
    *out = calloc(1, sizeof **out);
    (*out)->w = (*out)->h = 2;
    return 0;
}

static int rect_set_width(struct rect *r, int w)
{
    if (w < 0 || w > 1000)
        return -EINVAL;
    r->w = w;
    return 0;
}

static int read_only_set_width(struct rect *r, int w)
{
#ifdef FIXED
    return rect_set_width(r, w);
#else
    (void)r;
    (void)w;
    abort();
#endif
}

static int frozen_set_width(struct rect *r, int w)
{
#ifdef FIXED
    return rect_set_width(r, w);
#else
    (void)r;
    (void)w;
    return -ENOTSUP;
#endif
}

static int rect_area(const struct rect *r) { return r->w * r->h; }
static void rect_close(struct rect *r) { free(r); }

static const struct rect_ops kinds[] = {
    { "plain", rect_open, rect_set_width, rect_area, rect_close },
    { "read-only", rect_open, read_only_set_width, rect_area, rect_close },
    { "frozen", rect_open, frozen_set_width, rect_area, rect_close },
};

int main(void)
{
    struct rect *r;
    kinds[0].open(&r);
    printf("%d\n", kinds[0].area(r));
    kinds[0].close(r);
    return 0;
}
