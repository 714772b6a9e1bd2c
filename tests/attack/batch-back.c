/*
 * name:    the batch never gets to its end
 * command: explore
 * expect:  0 1 2
 */
#include "attack.h"

int main(void)
{
    size_t size;
    uint32_t *b = shared_memory("sundew-batch", &size);
    struct message m = { 0x53644673, 1, 6, 0, 0, 0, 0, 0 };
    for (unsigned i = 0; b && i < 100000; i++) {
        b[AT_AT] = 0;
        b[AT_STARTED]++;
        m.number = i % 2000;
        send(SERVER_FD, &m, sizeof m, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (i % 1000 == 0)
            usleep(1000);
    }
    return first_byte() == 'x';
}
