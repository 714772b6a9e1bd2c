#include <stdlib.h>
#include <string.h>
int named(const char *path, const char *name)
{
    const char *base = strrchr(path, '/');
    if (strcmp(base ? base + 1 : path, name) == 0)
        abort();
    return 0;
}
int main(int argc, char **argv) { return named(argv[0], "fails") + argc - argc; }
