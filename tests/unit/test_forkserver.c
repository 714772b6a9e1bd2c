/* The fork server inside a subject, when things happen between its batches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/server/forkserver.c"
#include "runtime/server/batch.c"

uint8_t sundew_counters[SUNDEW_BATCH_PAGE];
const uint64_t sundew_counters_size = SUNDEW_BATCH_PAGE;

static void say_batch(int fd, uint32_t number)
{
    Message m = { .magic = SUNDEW_FORKSERVER_MAGIC,
                  .version = SUNDEW_FORKSERVER_VERSION,
                  .kind = SUNDEW_FORKSERVER_BATCH,
                  .number = number };
    assert_int_equal(send(fd, &m, sizeof m, 0), sizeof m);
}

/* A fork server whose children wait for the next batch. */
static pid_t serve_on(int fd, volatile pid_t *waiting)
{
    pid_t server = fork();
    if (server != 0)
        return server;
    above = fd;
    Message m;
    if (!hear(&m))
        _exit(1);
    shared->current = m.number;
    if (!serve_batch())
        _exit(0);
    *waiting = getpid();
    while (sundew_forkserver_go_on(1000, 0))
        ;
    _exit(0);
}

/* What is left between two batches may be killed, when the next one is written already. */
static void a_child_killed_between_batches_is_no_run_that_died(void **state)
{
    (void)state;
    enum { SIZE = SUNDEW_BATCH_HEADER + 4 * SUNDEW_BATCH_PAGE };
    volatile pid_t *waiting =
        mmap(NULL, sizeof *waiting, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int pair[2], status;
    Message m;
    batch = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *batch = (struct sundew_batch){ .counters = SUNDEW_BATCH_PAGE, .n = 1 };
    batch->flags = SUNDEW_BATCH_MEMORY;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    pid_t server = serve_on(pair[1], waiting);
    say_batch(pair[0], 1);
    assert_int_equal(recv(pair[0], &m, sizeof m, 0), sizeof m);
    assert_int_equal(m.kind, SUNDEW_FORKSERVER_BATCHED);
    kill(server, SIGSTOP);             /* it is slow to see that its child is gone */
    assert_int_equal(waitpid(server, &status, WUNTRACED), server);
    kill(*waiting, SIGKILL);
    batch->at = 0;
    batch->slots[0].status = 0;
    kill(server, SIGCONT);
    assert_int_equal(waitpid(server, &status, 0), server);
    assert_int_equal(status, 0);
    assert_int_equal(batch->at, 0);
    assert_int_equal(batch->slots[0].status, 0);
    close(pair[0]);
    close(pair[1]);
    munmap(batch, SIZE);
    munmap(shared, sizeof *shared);
    munmap((void *)waiting, sizeof *waiting);
    batch = NULL;
    shared = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_killed_between_batches_is_no_run_that_died),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
