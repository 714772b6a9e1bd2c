/*
 * name:    folders deeper than a path can be long, without permissions, full of links, are left behind
 * command: run
 * expect:  0
 */
#include "attack.h"

enum { DEEP = 3000 };

int main(void)
{
    char name[201];
    memset(name, 'd', 200);
    name[200] = 0;
    for (int i = 0; i < DEEP; i++) {
        if (mkdir(name, 0700) != 0 || chdir(name) != 0)
            return 2;
        symlink("/etc", "etc");
        symlink("..", "up");
        mkdir("closed", 0);
    }
    printf("left %d folders\n", DEEP);
    return 0;
}
