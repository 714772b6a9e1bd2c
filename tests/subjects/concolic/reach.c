/* Calls that input reaches, and one that it can't: that goes to the library. */
#include <stdio.h>
#include <string.h>

static char given[8], own[8];

/* It looks at nothing symbolic, and yet must take labels away. */
__attribute__((noinline)) static void overwrite(char *to)
{
    strcpy(to, "kq");
}

__attribute__((noinline)) static int apart(const char *s, unsigned long n)
{
    return strncmp(s, "abd", n);
}

__attribute__((noinline)) static int within(const char *s, unsigned long n)
{
    return strncmp(s, "#zz", n);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (!fread(given, 1, 7, stdin))
        return 1;
    if (within(given + 3, (unsigned long)argc + 2) == 0)
        puts("zz");
    overwrite(given);
    if (given[0] == 'k')
        puts("as before");
    strcpy(own, "abc");
    puts(apart(own, (unsigned long)argc + 2) < 0 ? "less" : "more");
    return 0;
}
