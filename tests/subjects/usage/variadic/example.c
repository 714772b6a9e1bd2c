#include "conf.h"
#include <stdio.h>

struct entry {
    enum conf_key key;
    const char *text;
};
static const struct entry entries[] = { { CONF_NAME, "first" }, { CONF_NAME, "second" } };

static void configure(struct conf *c, const char *name, int limit)
{
    conf_set(c, CONF_LIMIT, limit);
    conf_set(c, CONF_NAME, name);
    conf_set(c, CONF_RATIO, 0.25);
    conf_set(c, CONF_ROOM, 6000000000L);
}

int main(void)
{
    struct conf *root = conf_new(), *made = conf_make("nl", "made", 7);
    int limit;
    configure(root, "root", 101);
    for (int i = 0; i < 2; i++)
        conf_set(made, entries[i].key, entries[i].text);
    conf_set(made, CONF_PARENT, root);
    conf_read(made, CONF_LIMIT, &limit);
    printf("%d %s %d %g %ld %d\n", conf_limit(root), conf_name(made), conf_depth(made), conf_ratio(root),
           conf_room(root), limit);
    printf("%d\n", conf_measure("%*d%% of %lld, %ld", 5, 20, 6000000000LL, 1L));
    conf_free(made);
    conf_free(root);
    return 0;
}
