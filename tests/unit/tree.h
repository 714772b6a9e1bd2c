/* Where the source tree is: tests run in a scratch folder. */
#ifndef SUNDEW_TEST_TREE_H
#define SUNDEW_TEST_TREE_H
#include "base/file.h"
#include <stdlib.h>

/* A path below it; freed by the caller. */
static inline char *in_tree(const char *name)
{
    const char *top = getenv("TOP");
    return path_join(top ? top : ".", name);
}
#endif
