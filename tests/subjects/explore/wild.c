#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void)
{
    char b[8] = {0};
    size_t n = fread(b, 1, sizeof b, stdin);
    signal(SIGTERM, SIG_IGN);
    if (fork() == 0) {
        daemon(0, 0);
        for (;;)
            pause();
    }
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (n && b[0] == 'x')
        for (long i = 0; i < 1L << 30; i += 64)
            puts("012345678901234567890123456789012345678901234567890123456789012");
    if (n && b[0] == 'y')
        for (;;)
            pause();
    return s < 0;
}
