/*
 * job - one job in a process: its limits, its steps, what it covered, what it left
 * on the heap.
 *
 * What tends to differ from run to run is under control: the clock, what fresh and
 * freed memory hold, where standard error leads to.
 */
#include "engine/play/player/player_int.h"
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

uint64_t job_heap_bytes(const Player *player)
{
    if (player->asan_bytes)
        return player->asan_bytes();
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

static void list_new(Playing *p, const struct WireOptions *o)
{
    const Woven *w = p->player->woven;
    const uint8_t *seen = p->player->shared + WIRE_SEEN,
                  *bytes = o->reached ? w->reached : w->cover;
    size_t n = o->reached ? w->nreached : w->ncover;
    for (size_t i = 0; bytes && i < n && p->answer->nnew < WIRE_MOST_NEW; i++) {
        if (i % 8 == 0) {
            uint64_t word;
            while (i + 8 <= n && (memcpy(&word, bytes + i, 8), !word))
                i += 8;
            if (i >= n)
                break;
        }
        if (bytes[i] && (o->reached || o->all || !seen[i]))
            p->answer->fresh[p->answer->nnew++] = (uint32_t)i;
    }
}

/*
 * The limit by the clock is for a job that waits for something that never comes. A job that runs
 * has a limit of processor time; one that is ready, and has no processor, waits for us. Neither
 * counts here, or the same seed would not give the same tests on a busy machine.
 */
static uint64_t busy_before;     /* when the timer was set */
static uint32_t wall_ms;

static uint64_t read_number(const char **at, const char *end)
{
    uint64_t x = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; (*at)++)
        x = x * 10 + (uint64_t)(**at - '0');
    return x;
}

/* How long this process ran or was ready, in ns; 0: not known. Called by a signal handler. */
static uint64_t busy(void)
{
    char text[96];
    int fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text) : -1;
    if (fd >= 0)
        close(fd);
    const char *at = text, *end = text + (n > 0 ? n : 0);
    uint64_t ran = read_number(&at, end);
    at += at < end;                              /* the blank */
    return ran + read_number(&at, end);
}

static void set_wall_timer(void)
{
    struct itimerval wall = { .it_value = { wall_ms / 1000, wall_ms % 1000 * 1000 } };
    busy_before = busy();
    setitimer(ITIMER_REAL, &wall, NULL);
}

static void time_is_over(int signal_number)
{
    int kept = errno;
    if (busy() - busy_before < (uint64_t)wall_ms * 1000000 / 2) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    set_wall_timer();
    errno = kept;
}

void job_limit(const Player *player)
{
    const struct WireHead *head = player->head;
    struct itimerval cpu = { .it_value = { head->cpu_ms / 1000, head->cpu_ms % 1000 * 1000 } };
    struct sigaction over = { .sa_handler = time_is_over, .sa_flags = SA_RESTART | SA_NODEFER };
    wall_ms = head->wall_ms;
    signal(SIGPROF, SIG_DFL);
    sigaction(SIGALRM, &over, NULL);
    setitimer(ITIMER_PROF, &cpu, NULL);
    set_wall_timer();
}

/* Standard error is another file from time to time: a library that gets number 2 may
 * ask where it stands. */
static void change_error_output(void)
{
    int fd = open("/dev/null", O_RDWR);
    if (fd >= 0) {
        dup2(fd, 2);
        close(fd);
    }
}

/* Blocks that glibc keeps for the next malloc() are not filled: no such block is left. */
static void use_kept_blocks(void)
{
    enum { LARGEST = 1032, STEP = 16, OF_EACH = 7 };
    static void *volatile taken;
    for (size_t size = STEP / 2; size <= LARGEST; size += STEP)
        for (int i = 0; i < OF_EACH; i++)
            taken = malloc(size);
    (void)taken;
}

void job_set_up(Playing *p, const struct WireOptions *o)
{
    job_limit(p->player);
    p->clock_ahead = o->clock;
    if (o->fill) {
        change_error_output();
        use_kept_blocks();
        mallopt(M_PERTURB, (int)o->fill);
    }
    writes_begin(p);
    if (p->player->woven->mutant)
        *p->player->woven->mutant = o->mutant;
}

/* A first time, to see what stays behind: what a second time adds is a leak. If the
 * second time goes another way (the first has changed the library), what the
 * first left counts. */
static void run_twice(Playing *p, Reader r, const struct WireOptions *o, uint32_t nsteps)
{
    struct WireAnswer *w = p->answer;
    uint64_t begin = job_heap_bytes(p->player);
    Reader again = r;
    call_steps(p, &again, nsteps, o->fill, 1);
    call_forget(p);
    uint64_t between = job_heap_bytes(p->player);
    uint32_t nfirst = w->nobs;
    memcpy(p->first_obs, w->obs, nfirst);
    w->nobs = 0;
    call_steps(p, &r, nsteps, o->fill, 1);
    call_forget(p);
    int64_t left = (int64_t)(between - begin);
    w->leaked = (int64_t)(job_heap_bytes(p->player) - between);
    if (left > 0 && (nfirst != w->nobs || memcmp(p->first_obs, w->obs, nfirst) != 0))
        w->leaked = left;
}

void job_run(Playing *p, Reader r, const struct WireOptions *o, uint32_t nsteps)
{
    if (o->twice)
        run_twice(p, r, o, nsteps);
    else
        call_steps(p, &r, nsteps, o->fill, 1);
    writes_look_at_files(p);
    list_new(p, o);
    p->answer->state = WIRE_DONE;
}
