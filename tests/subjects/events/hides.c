/* What the state does not show: a file that is written, a process that is made. */
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    int n = 0;
    for (;;) {
        int c = getchar();
        if (c == 'w') {
            FILE *f = fopen("config", "w");
            if (f)
                fclose(f);
        } else if (c == 'f' && fork() == 0) {
            _exit(0);
        } else if (c == 'n') {
            n = !n;
        }
    }
}
