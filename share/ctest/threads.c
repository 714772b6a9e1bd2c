/*
 * The schedules. One thread runs to its k-th instruction of the library and is stopped
 * there; the other one runs, all its calls or only the first; then each goes on. This is
 * done for each k, in a process of its own. The processor's trap flag stops a thread after
 * each instruction; a breakpoint at their end passes over functions of other libraries. Who
 * waits for the other's lock is seen to sleep, and the other goes on.
 */
#ifndef __x86_64__
#error "this needs the trap flag of x86-64"
#endif

enum { END_WELL = 40, END_SHORT, END_STUCK, END_WRONG, END_SANITIZER = 99 };
enum { MOST_STEPS = 100000, TRAP_FLAG = 0x100, ASLEEP = 5, STUCK = 1000 };

struct actor {
    void (*body)(void);
    pthread_t thread;
    int number, calls, until_call, wakes[2];
    long steps, until_step;
    volatile int id, stopped, over;
};

static struct actor actors[2] = { { .body = thread_1, .number = 1 },
                                  { .body = thread_2, .number = 2 } };
static __thread struct actor *self;
static uintptr_t code_begin, code_end;   /* of the library */
static uint8_t *breakpoint, replaced;    /* NULL: none */
static int was_inside;                   /* the last step was one of the library's */

/* A report of the address sanitizer, if it is there, ends the process with this status. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0:exitcode=99:handle_abort=0:handle_sigtrap=0";
}

static void stop_here(struct actor *a)
{
    char c;
    a->stopped = 1;
    while (read(a->wakes[0], &c, 1) < 0 && errno == EINTR)
        ;
}

static void go(struct actor *a)
{
    a->stopped = 0;
    if (write(a->wakes[1], "", 1) != 1)
        abort();
}

/* A thread calls this after each call of the library. */
static void next_call(void)
{
    if (++self->calls == self->until_call)
        stop_here(self);
}

/* A call has returned what it returns in no serial order. */
__attribute__((unused)) static void wrong_result(void) { _exit(END_WRONG); }

static int is_inside(uintptr_t at) { return at >= code_begin && at < code_end; }

static void on_step(int sig, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    int kept = errno;
    (void)sig;
    (void)info;
    if (!self)
        return;
    if (breakpoint && (uintptr_t)registers[REG_RIP] == (uintptr_t)breakpoint + 1) {
        *breakpoint = replaced;
        breakpoint = NULL;
        registers[REG_RIP]--;
    }
    int inside = is_inside((uintptr_t)registers[REG_RIP]);
    uintptr_t back = *(uintptr_t *)registers[REG_RSP];
    registers[REG_EFL] |= TRAP_FLAG;
    if (self->until_step < 0) {
        registers[REG_EFL] &= ~TRAP_FLAG;
    } else if (inside && self->steps++ == self->until_step) {
        registers[REG_EFL] &= ~TRAP_FLAG;
        stop_here(self);
    } else if (!inside && was_inside && is_inside(back)) {
        breakpoint = (uint8_t *)back;
        replaced = *breakpoint;
        *breakpoint = 0xcc;
        registers[REG_EFL] &= ~TRAP_FLAG;
    }
    was_inside = inside;
    errno = kept;
}

static void *act(void *arg)
{
    self = arg;
    self->id = (int)syscall(SYS_gettid);
    stop_here(self);
    if (self->until_step >= 0)
        raise(SIGTRAP);
    self->body();
    self->until_step = -1;
    self->over = 1;
    return NULL;
}

static int is_asleep(const struct actor *a)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", a->id);
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    char *after = strrchr(text, ')');
    return after && after[1] && after[2] == 'S';
}

static void moment(unsigned n)
{
    struct timespec t = { 0, n < 100 ? 100000 : 1000000 };
    if (n < 20)
        sched_yield();
    else
        nanosleep(&t, NULL);
}

/* Until it is stopped, is over, or waits for something. */
static void watch(struct actor *a)
{
    unsigned asleep = 0;
    for (unsigned n = 0; !a->stopped && !a->over && asleep < ASLEEP; n++) {
        moment(n);
        asleep = n >= 20 && is_asleep(a) ? asleep + 1 : 0;
    }
}

/* Both until they are over. */
static void watch_both(void)
{
    unsigned asleep = 0;
    for (unsigned n = 0; !actors[0].over || !actors[1].over; n++) {
        for (int i = 0; i < 2; i++)
            if (actors[i].stopped)
                go(&actors[i]);
        moment(n);
        int both =
            (actors[0].over || is_asleep(&actors[0])) && (actors[1].over || is_asleep(&actors[1]));
        asleep = n >= 20 && both && !actors[0].stopped && !actors[1].stopped ? asleep + 1 : 0;
        if (asleep == STUCK)
            _exit(END_STUCK);
    }
}

static void one_schedule(struct actor *first, struct actor *other, long step, int calls)
{
    mprotect((void *)code_begin, code_end - code_begin, PROT_READ | PROT_WRITE | PROT_EXEC);
    struct sigaction act_on = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO | SA_NODEFER };
    sigaction(SIGTRAP, &act_on, NULL);
    before();
    first->until_step = step;
    first->until_call = -1;
    other->until_step = -1;
    other->until_call = calls;
    for (int i = 0; i < 2; i++) {
        if (pipe(actors[i].wakes) != 0 ||
            pthread_create(&actors[i].thread, NULL, act, &actors[i]) != 0)
            abort();
        while (!actors[i].stopped)
            sched_yield();
    }
    go(first);
    watch(first);
    int is_short = first->over;
    go(other);
    watch(other);
    if (first->stopped)
        go(first);
    watch(first);
    watch_both();
    pthread_join(actors[0].thread, NULL);
    pthread_join(actors[1].thread, NULL);
    after();
    _exit(is_short ? END_SHORT : END_WELL);
}

/* Is this the end that the test is about? */
static int shows(int status)
{
    int crash = WIFSIGNALED(status) && WTERMSIG(status) != SIGABRT && WTERMSIG(status) != SIGKILL &&
                WTERMSIG(status) != SIGTRAP;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    switch ((int)EXPECTED) {
    case EXPECT_CRASH: return crash || code == END_SANITIZER;
    case EXPECT_ABORT: return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    case EXPECT_EXIT:
        return code >= 0 && code != END_SANITIZER && (code < END_WELL || code > END_WRONG);
    case EXPECT_STUCK: return code == END_STUCK;
    default: return code == END_WRONG;
    }
}

/* The steps that count are those in the file that the function is in. */
static void find_code(uintptr_t function)
{
    char line[4400];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long begin, end;
        if (sscanf(line, "%lx-%lx", &begin, &end) == 2 && function >= begin && function < end) {
            code_begin = begin;
            code_end = end;
        }
    }
    if (maps)
        fclose(maps);
}

static int all_steps(struct actor *first, struct actor *other, int calls)
{
    for (long step = 0; step < MOST_STEPS; step++) {
        int status;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            one_schedule(first, other, step, calls);
        if (child < 0 || waitpid(child, &status, 0) != child) {
            perror("fork");
            exit(2);
        }
        if (shows(status)) {
            printf(
                "it shows: thread %d is stopped after %ld instructions of the library, thread %d "
                "does %s, thread %d goes on\n",
                first->number, step, other->number, calls < 0 ? "all its calls" : "its first call",
                first->number);
            return 1;
        }
        if (WIFEXITED(status) && WEXITSTATUS(status) == END_SHORT)
            break;
    }
    return 0;
}

int main(int argc, char **argv)
{
    (void)argc;
    if (!getenv("LD_BIND_NOW") && setenv("LD_BIND_NOW", "1", 1) == 0)
        execv("/proc/self/exe", argv);   /* functions are not looked up while steps count */
    void *there = dlsym(RTLD_DEFAULT, FUNCTION_NAME);
    find_code(there ? (uintptr_t)there : (uintptr_t)FUNCTION);
    for (int i = 0; i < 2; i++)
        for (int calls = -1; calls < CALLS_APART; calls++)
            if (calls && all_steps(&actors[i], &actors[!i], calls))
                return 1;
    printf("it does not show\n");
    return 0;
}
