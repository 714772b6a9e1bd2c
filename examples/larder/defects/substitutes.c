/* The same calls on both kinds of store; prints what get and remove say. */
#include "store.h"
#include <stdio.h>

static void use(const struct store_ops *ops, const char *text)
{
    struct store *s;
    const char *found;

    if (ops->open(&s) < 0)
        return;
    ops->put(s, "SALT", text);
    found = ops->get(s, "SALT");
    printf("%s, %d\n", found ? "found" : "NULL", ops->remove(s, "SALT"));
    ops->close(s);
}

int main(void)
{
    use(&store_list, "coarse");
    use(&store_packed, "coarse");
    use(&store_list, "");
    use(&store_packed, "");
    return 0;
}
