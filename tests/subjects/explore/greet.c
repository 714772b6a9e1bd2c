/* Copies up to 64 bytes into SIZE: the copy takes the same way, however long it is. */
#include <stdio.h>
#include <string.h>
static void greet(const char *name)
{
    char line[SIZE];
    strcpy(line, name);
    puts(line);
}
int main(void)
{
    char name[65];
    name[fread(name, 1, 64, stdin)] = 0;
    greet(name);
    return 0;
}
