#include <sys/socket.h>
int main(void)
{
    int ends[2];
    char c;
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || recv(ends[0], &c, 1, 0) != 1;
}
