/*
 * The schedules. The threads take turns as they did when the failure was found. A turn that was
 * cut short ends at an instruction of the library, or after a call. Which instruction is not
 * known here, so all are tried, each in a process of its own. Of many thousands, and of pairs for
 * two such turns, some are tried that are spread evenly: so many as need about two million
 * instructions together, or as the first argument says.
 * The processor's trap flag stops a thread after each instruction. Functions of other libraries
 * are passed over: they return to a trap. Who waits for the other's lock is seen to sleep; a
 * signal holds it until its next turn, and the other goes on. A process that computes without an
 * end is stopped by its limit.
 */
#include <sys/resource.h>

#ifndef __x86_64__
#error "this needs the trap flag of x86-64"
#endif

enum { END_WELL = 40, END_SHORT, END_STUCK, END_WRONG, END_LOST, END_SANITIZER = 99 };
enum { MOST_STEPS = 100000, TRIES = 2000, FEWEST = 300, MEAN = 1000 };
enum { TRAP_FLAG = 0x100, ASLEEP = 5, STUCK = 1000 };
#define HOLD (SIGRTMAX - 1)
#define WITH_LEAKS ":detect_leaks=1:leak_check_at_exit=0"
/* Of one process; the most steps take a part of one. Of a turn that ends by itself: who computes
 * longer than that may wait for the other in a loop. */
enum { CPU_SECONDS = 4, TURN_SECONDS = 1 };
enum { TURNS = sizeof turns / sizeof *turns };

struct actor {
    void (*body)(void);
    pthread_t thread;
    int number, calls, was_inside, wakes[2];
    uintptr_t back;                      /* where a function of another library returns to */
    volatile long until_step;            /* -1: none */
    volatile int until_call, id, stopped, over;
};

/* How the turns end: after a call, or at a step; else when the thread is over or waits. */
struct end {
    int call;                            /* 0: none */
    long step;                           /* -1: none */
};

static struct actor actors[2] = { { .body = thread_1, .number = 0, .until_step = -1 },
                                  { .body = thread_2, .number = 1, .until_step = -1 } };
static __thread struct actor *self;
static uintptr_t code_begin, code_end;   /* of the library */
static volatile long *steps;             /* of each thread; shared with the children */
static int most_tries = TRIES;           /* the first argument of the program … */
static int is_asked;                     /* … which was given */
static int tries;                        /* so far */

/* A report of the address sanitizer, if it is there, ends the process with this status. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0:exitcode=99:handle_abort=0:handle_sigtrap=0";
}

#ifdef SECTION
/* Lost is what no variable leads to; the leak sanitizer knows. What mmap() gives it reads only
 * if it is told to. */
int __lsan_do_recoverable_leak_check(void);
void __lsan_register_root_region(const void *at, size_t n);
size_t __sanitizer_get_current_allocated_bytes(void);
extern uintptr_t __start_made[], __stop_made[], __start_got[], __stop_got[];
static volatile int searches;            /* … for which it maps memory of its own */
static size_t heap_before;

static void *map(void *at, size_t n, int rights, int flags, int fd, off_t offset)
{
    void *p = (void *)syscall(SYS_mmap, at, n, rights, flags, fd, offset);
    if (p != MAP_FAILED && !searches)
        __lsan_register_root_region(p, n);
    return p;
}

void *mmap(void *at, size_t n, int rights, int flags, int fd, off_t offset)
{
    return map(at, n, rights, flags, fd, offset);
}

void *mmap64(void *at, size_t n, int rights, int flags, int fd, off_t offset)
{
    return map(at, n, rights, flags, fd, offset);
}

/* What was given back is no thread's either, whoever still has its address. */
static void forget_made(void)
{
    for (uintptr_t *made = __start_made; made + 1 <= __stop_made; made++) {
        for (uintptr_t *got = __start_got; got + 1 <= __stop_got; got++)
            if (*got == *made)
                *got = 0;
        *made = 0;
    }
}

static void begin_search(void) { heap_before = __sanitizer_get_current_allocated_bytes(); }

static int is_lost(void)
{
    if (__sanitizer_get_current_allocated_bytes() <= heap_before)
        return 0;
    if (GIVES_BACK)
        forget_made();
    searches = 1;
    return __lsan_do_recoverable_leak_check();
}

/* Does the search find what is lost? It needs the right to trace a process. */
static int can_search(void)
{
    static char *volatile last;
    int status;
    pid_t child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), 2);
        for (int i = 0; i < 100; i++) {
            last = malloc(100);
            *last = 0;
        }
        searches = 1;
        _exit(__lsan_do_recoverable_leak_check() ? END_LOST : END_WELL);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == END_LOST;
}
#else
static void begin_search(void) { }
static int is_lost(void) { return 0; }
static int can_search(void) { return 1; }
#endif

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

/* From here on each instruction is a step, if a step is to be the last. */
static void begin_steps(void)
{
    if (self->until_step >= 0)
        raise(SIGTRAP);
}

/* A thread calls this after each call of the library. */
static void next_call(void)
{
    if (++self->calls != self->until_call)
        return;
    stop_here(self);
    begin_steps();
}

/* A call has returned what it returns in no serial order. */
__attribute__((unused)) static void wrong_result(void) { _exit(END_WRONG); }

static int is_inside(uintptr_t at) { return at >= code_begin && at < code_end; }

/* Functions that return twice, or not to who called them. */
static const char *const jump_names[] = { "setjmp",   "_setjmp",    "__sigsetjmp", "longjmp",
                                          "_longjmp", "siglongjmp", "__longjmp_chk" };
enum { JUMPS = sizeof jump_names / sizeof *jump_names };
static uintptr_t jumps[JUMPS];

static void find_jumps(void)
{
    for (int i = 0; i < JUMPS; i++)
        jumps[i] = (uintptr_t)dlsym(RTLD_DEFAULT, jump_names[i]);
}

static int is_jump(uintptr_t at)
{
    for (int i = 0; i < JUMPS; i++)
        if (jumps[i] && at == jumps[i])
            return 1;
    return 0;
}

extern const char trap_on_return[] __asm__("trap_on_return");
__asm__(".pushsection .text\ntrap_on_return: int3\n.popsection");

static void on_step(int sig, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    int kept = errno;
    (void)sig;
    (void)info;
    if (!self)
        return;
    if ((uintptr_t)registers[REG_RIP] == (uintptr_t)trap_on_return + 1)
        registers[REG_RIP] = (greg_t)self->back;
    int inside = is_inside((uintptr_t)registers[REG_RIP]);
    uintptr_t *back = (uintptr_t *)registers[REG_RSP];
    int leaves = !inside && self->was_inside && is_inside(*back) &&
                 !is_jump((uintptr_t)registers[REG_RIP]);
    self->was_inside = inside;
    registers[REG_EFL] |= TRAP_FLAG;
    if (inside && self->until_step >= 0 && steps[self->number]++ == self->until_step)
        stop_here(self);
    if (self->until_step < steps[self->number]) {
        registers[REG_EFL] &= ~TRAP_FLAG;
    } else if (leaves) {
        self->back = *back;
        *back = (uintptr_t)trap_on_return;
        registers[REG_EFL] &= ~TRAP_FLAG;
    }
    errno = kept;
}

static void on_hold(int sig)
{
    int kept = errno;
    (void)sig;
    if (self)
        stop_here(self);
    errno = kept;
}

static void *act(void *arg)
{
    self = arg;
    self->id = (int)syscall(SYS_gettid);
    stop_here(self);
    begin_steps();
    self->body();
    self->until_step = -1;
    self->over = 1;
    return NULL;
}

/* A file about a thread: stat, syscall. */
static void read_about(const struct actor *a, const char *name, char text[512])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", a->id, name);
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, text, 511);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
}

static int is_asleep(const struct actor *a)
{
    char text[512];
    read_about(a, "stat", text);
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

static time_t cpu_seconds(void)
{
    struct timespec t = { 0 };
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec;
}

/* Until it is stopped, is over, waits for something, or the process has used so much time. */
static void watch(struct actor *a, time_t until)
{
    unsigned asleep = 0;
    for (unsigned n = 0; !a->stopped && !a->over && asleep < ASLEEP; n++) {
        if (cpu_seconds() >= until)
            return;
        moment(n);
        asleep = n >= 20 && is_asleep(a) ? asleep + 1 : 0;
    }
}

/* Who waits for a lock stands still from here on, also when the lock is given away. */
static void hold(struct actor *a)
{
    char text[512];
    read_about(a, "syscall", text);
    if (strtol(text, NULL, 10) != SYS_futex || pthread_kill(a->thread, HOLD) != 0)
        return;
    for (unsigned n = 0; !a->stopped && !a->over && n < STUCK; n++)
        moment(n);
}

/* Both until they are over. */
static void watch_both(void)
{
    unsigned asleep = 0;
    for (unsigned n = 0; !actors[0].over || !actors[1].over; n++) {
        for (int i = 0; i < 2; i++) {
            actors[i].until_step = -1;
            actors[i].until_call = 0;
            if (actors[i].stopped)
                go(&actors[i]);
        }
        moment(n);
        int both =
            (actors[0].over || is_asleep(&actors[0])) && (actors[1].over || is_asleep(&actors[1]));
        asleep = n >= 20 && both && !actors[0].stopped && !actors[1].stopped ? asleep + 1 : 0;
        if (asleep == STUCK)
            _exit(END_STUCK);
    }
}

static void begin(struct actor *a)
{
    if (pipe(a->wakes) != 0 || pthread_create(&a->thread, NULL, act, a) != 0)
        abort();
    while (!a->stopped)
        sched_yield();
}

/* A turn, until its end, or until the thread is over or waits. */
static void take_turn(struct actor *a, struct end end)
{
    int ends = end.call || end.step >= 0;
    a->until_step = end.step;
    a->until_call = end.call;
    if (a->stopped)
        go(a);
    watch(a, ends ? CPU_SECONDS + 1 : cpu_seconds() + TURN_SECONDS);
}

/* Does not return. END_SHORT: a thread was over before the step that it was to stop at. */
static void one_schedule(const struct end *ends)
{
    struct rlimit limit = { CPU_SECONDS, CPU_SECONDS + 1 };
    struct sigaction act_on = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO | SA_NODEFER };
    int is_short = 0;
    struct sigaction hold_on = { .sa_handler = on_hold, .sa_flags = SA_RESTART };
    sigaction(SIGTRAP, &act_on, NULL);
    sigaction(HOLD, &hold_on, NULL);
    setrlimit(RLIMIT_CPU, &limit);
    begin_search();
    before();
    begin(&actors[0]);
    begin(&actors[1]);
    for (int i = 0; i < TURNS; i++) {
        struct actor *a = &actors[turns[i].actor];
        take_turn(a, ends[i]);
        if (!turns[i].cut && !a->stopped && !a->over)
            hold(a);
        is_short |= ends[i].step >= 0 && a->over;
    }
    take_turn(&actors[!turns[TURNS - 1].actor], (struct end){ 0, -1 });
    watch_both();
    pthread_join(actors[0].thread, NULL);
    pthread_join(actors[1].thread, NULL);
    after();
    _exit(is_lost() ? END_LOST : is_short ? END_SHORT : END_WELL);
}

/* Is this the end that the test is about? */
static int shows(int status)
{
    int endless = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
    int crash = WIFSIGNALED(status) && WTERMSIG(status) != SIGABRT && WTERMSIG(status) != SIGKILL &&
                WTERMSIG(status) != SIGTRAP && !endless;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    switch ((int)EXPECTED) {
    case EXPECT_CRASH: return crash || code == END_SANITIZER;
    case EXPECT_ABORT: return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    case EXPECT_EXIT:
        return code >= 0 && code != END_SANITIZER && (code < END_WELL || code > END_LOST);
    case EXPECT_STUCK: return code == END_STUCK || endless;
    case EXPECT_LEAK: return code == END_LOST;
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

static void say(const struct end *ends)
{
    printf("it shows:");
    for (int i = 0; i < TURNS; i++) {
        printf("%s thread %d runs", i ? ";" : "", turns[i].actor + 1);
        if (ends[i].step >= 0)
            printf(" to instruction %ld of the library", ends[i].step);
        else if (ends[i].call)
            printf(" to the end of its call %d", ends[i].call);
    }
    printf("\n");
}

/* In a process of its own. */
static int run(const struct end *ends)
{
    int status;
    fflush(NULL);
    tries++;
    steps[0] = steps[1] = 0;
    pid_t child = fork();
    if (child == 0)
        one_schedule(ends);
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("fork");
        exit(2);
    }
    return status;
}

/* 1: it shows; -1: a step was not reached; else 0. */
static int try(const struct end *ends)
{
    int status = run(ends);
    if (shows(status))
        say(ends);
    return shows(status) ? 1 : WIFEXITED(status) && WEXITSTATUS(status) == END_SHORT ? -1 : 0;
}

/* Numbers from 0 to 1 that are spread evenly, however many of them are taken. */
static double spread(int i, double by)
{
    double x = i * by;
    return x - (double)(long)x;
}

/* One turn ends at a step. If there are very many, the first ones and some of the others. */
static int try_steps(struct end *ends, int turn)
{
    int result = 0;
    long first = most_tries;
    for (ends[turn].step = 0; ends[turn].step < first && !result; ends[turn].step++)
        result = try(ends);
    if (!result) {
        ends[turn].step = MOST_STEPS;
        result = try(ends);
    }
    /* A try takes as long as there are steps before its last one. */
    double rest = (double)(steps[turns[turn].actor] - first), mean = (double)first + rest / 2;
    for (int i = 1; i <= most_tries * (double)first / 2 / mean && result <= 0 && rest > 0; i++) {
        ends[turn].step = first + (long)(spread(i, 0.6180339887498949) * rest);
        result = try(ends);
    }
    ends[turn].step = -1;
    return result > 0;
}

/* So many pairs, if a try takes `mean` steps. */
static int pairs_of(double mean)
{
    double most = (double)most_tries * MEAN / (mean > MEAN ? mean : MEAN);
    return is_asked ? most_tries : most > FEWEST ? (int)most : FEWEST;
}

/* Two turns end at steps. Pairs of steps that are spread evenly, until there are enough. */
static int try_pairs(struct end *ends, int first, int second)
{
    int same = turns[first].actor == turns[second].actor, result = 0;
    ends[first].step = ends[second].step = MOST_STEPS;
    result = try(ends);
    double n = (double)steps[turns[first].actor], m = (double)steps[turns[second].actor];
    int most = pairs_of(same ? n * 3 / 4 : (n + m) / 2);
    for (int i = 1; i <= most && result <= 0; i++) {
        double x = spread(i, 0.7548776662466927), y = spread(i, 0.5698402909980532);
        ends[first].step = (long)(x * n);
        ends[second].step = same ? (long)(x * n + 1 + y * (n - x * n)) : (long)(y * m);
        result = try(ends);
    }
    ends[first].step = ends[second].step = -1;
    return result > 0;
}

/* Turns from `from` on that were cut short: after a call (c), or at a step. `nsteps` of all
 * end at a step, `at` are those that do so far. */
static int try_turns(struct end *ends, int from, int nsteps, int *at, int n)
{
    while (from < TURNS && !turns[from].cut)
        from++;
    if (from == TURNS)
        return n != nsteps ? 0
               : n == 0    ? try(ends) > 0
               : n == 1    ? try_steps(ends, at[0])
                           : try_pairs(ends, at[0], at[1]);
    for (int c = 1; c < turns[from].calls; c++) {
        ends[from].call = c;
        if (try_turns(ends, from + 1, nsteps, at, n))
            return 1;
        ends[from].call = 0;
    }
    if (n == nsteps)
        return 0;
    at[n] = from;
    return try_turns(ends, from + 1, nsteps, at, n + 1);
}

/* Functions are not looked up while steps count, and lost memory is told when it is asked for. */
static void set_environment(char **argv)
{
    static char options[4096];
    const char *old = getenv("ASAN_OPTIONS") ? getenv("ASAN_OPTIONS") : "";
    int ask = (int)EXPECTED == EXPECT_LEAK && !strstr(old, WITH_LEAKS);
    if (getenv("LD_BIND_NOW") && !ask)
        return;
    snprintf(options, sizeof options, "%s%s", old, WITH_LEAKS);
    if (ask)
        setenv("ASAN_OPTIONS", options, 1);
    if (setenv("LD_BIND_NOW", "1", 1) == 0)
        execv("/proc/self/exe", argv);
}

static void no_ends(struct end *ends)
{
    for (int i = 0; i < TURNS; i++)
        ends[i] = (struct end){ 0, -1 };
}

/* Does it show though nobody is stopped? Then it says nothing about threads. */
static int shows_alone(struct end *ends)
{
    int cut = 0;
    no_ends(ends);
    for (int i = 0; i < TURNS; i++)
        cut += turns[i].cut;
    return cut && (int)EXPECTED == EXPECT_LEAK && shows(run(ends));
}

int main(int argc, char **argv)
{
    struct end ends[TURNS];
    int at[2];
    is_asked = argc > 1;
    if (is_asked)
        most_tries = atoi(argv[1]);
    set_environment(argv);
    void *there = dlsym(RTLD_DEFAULT, FUNCTION_NAME);
    find_code(there ? (uintptr_t)there : (uintptr_t)FUNCTION);
    find_jumps();
    steps =
        mmap(NULL, 2 * sizeof *steps, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (steps == MAP_FAILED)
        return 2;
    if (!can_search()) {
        printf("the leak sanitizer does not work here\n");
        return 2;
    }
    if (shows_alone(ends)) {
        printf("memory is lost by these calls one after the other, too\n");
        return 2;
    }
    for (int nsteps = 0; nsteps <= 2; nsteps++) {
        no_ends(ends);
        if (try_turns(ends, 0, nsteps, at, 0))
            return 1;
    }
    printf("it does not show in %d runs\n", tries);
    return 0;
}
