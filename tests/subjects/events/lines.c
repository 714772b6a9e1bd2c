/* A command a line, read in four ways (HOW): getline, fgets, getchar with ungetc, read. "hi" behind "go" fails; with
 * FIXED it does not. Ctrl-D ends it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_open;

static int next(char *to, int n)
{
#if HOW == 1
    static char *line;
    static size_t room;
    if (getline(&line, &room, stdin) < 0)
        return 0;
    snprintf(to, (size_t)n, "%s", line);
#elif HOW == 2
    if (!fgets(to, n, stdin))
        return 0;
#elif HOW == 3
    int c = getchar(), k = 0;
    if (c == EOF)
        return 0;
    ungetc(c, stdin);
    while ((c = getchar()) != EOF && k < n - 1) {
        to[k++] = (char)c;
        if (c == '\n')
            break;
    }
    to[k] = 0;
#else
    ssize_t k = read(0, to, (size_t)n - 1);
    if (k <= 0)
        return 0;
    to[k] = 0;
#endif
    return 1;
}

int main(void)
{
    char line[8];
    while (next(line, sizeof line)) {
        if (!strcmp(line, "go\n"))
            is_open = 1;
        else if (!strcmp(line, "hi\n") && is_open)
#ifdef FIXED
            is_open = 0;
#else
            abort();
#endif
        memset(line, 0, sizeof line);
    }
    return 0;
}
