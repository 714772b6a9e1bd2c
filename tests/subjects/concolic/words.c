#include <stdio.h>
#include <string.h>
int main(void)
{
    static char line[16];
    char *state, *first, *second;
    if (!fgets(line, sizeof line, stdin))
        return 1;
    first = strtok_r(line, " ", &state);
    second = strtok_r(NULL, " ", &state);
    puts(second ? second : first ? first : "none");
    return 0;
}
