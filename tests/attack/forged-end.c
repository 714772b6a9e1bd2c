/*
 * name:    a run says that it ended well, and dies
 * command: explore
 * expect:  1
 */
#include "attack.h"

int main(void)
{
    struct message m = { 0x53644673, 1, 3, 0, 0, 0, 0, 0 };
    if (first_byte() == 'x' || 1) {
        for (m.number = 0; m.number < 20; m.number++)
            send(SERVER_FD, &m, sizeof m, MSG_DONTWAIT | MSG_NOSIGNAL);
        usleep(20000);
        abort();
    }
    return 0;
}
