/*
 * still - a clock and a source of randomness that are the same in every run.
 * Preloaded into php-cgi. The clock stands at SUNDEW_WEB_CLOCK (seconds) and
 * moves one microsecond with each look, so that loops that wait come to an end.
 * Sleeping takes no time. Only the process's own CPU clocks stay real.
 */
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int64_t looks;           /* microseconds since the clock's start */
static uint64_t state = 0x5deece66d1234567u;

/* The kernel itself, because syscall() is ours here. */
static long kernel(long n, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    if (r < 0 && r > -4096) {
        errno = (int)-r;
        return -1;
    }
    return r;
}

static int64_t start(void)
{
    static int64_t at;
    if (!at) {
        const char *s = getenv("SUNDEW_WEB_CLOCK");
        at = s ? atoll(s) : 0;
        if (at <= 0)
            at = 1767225600;    /* 2026-01-01 */
    }
    return at;
}

static int64_t now(void) { return start() * 1000000 + looks++; }

int clock_gettime(clockid_t id, struct timespec *t)
{
    if (id != CLOCK_REALTIME && id != CLOCK_MONOTONIC && id != CLOCK_REALTIME_COARSE &&
        id != CLOCK_MONOTONIC_COARSE && id != CLOCK_MONOTONIC_RAW && id != CLOCK_BOOTTIME)
        return (int)kernel(SYS_clock_gettime, id, (long)t, 0, 0, 0, 0);
    int64_t n = now();
    t->tv_sec = n / 1000000;
    t->tv_nsec = n % 1000000 * 1000;
    return 0;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    int64_t n = now();
    (void)zone;
    t->tv_sec = n / 1000000;
    t->tv_usec = n % 1000000;
    return 0;
}

time_t time(time_t *t)
{
    time_t n = (time_t)(now() / 1000000);
    if (t)
        *t = n;
    return n;
}

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* A request may ask for other randomness than the others have. */
static void seed(void)
{
    static bool seeded;
    const char *s = seeded ? NULL : getenv("SUNDEW_WEB_SEED");
    if (!s)
        return;
    seeded = true;
    state = (state ^ strtoull(s, NULL, 16) * 0x9E3779B97F4A7C15u) | 1;
}

ssize_t getrandom(void *to, size_t n, unsigned flags)
{
    unsigned char *p = to;
    (void)flags;
    seed();
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)(next() >> 24);
    return (ssize_t)n;
}

/* PHP asks for randomness without the C library's own function. */
long syscall(long n, ...)
{
    va_list ap;
    va_start(ap, n);
    long a = va_arg(ap, long), b = va_arg(ap, long), c = va_arg(ap, long);
    long d = va_arg(ap, long), e = va_arg(ap, long), f = va_arg(ap, long);
    va_end(ap);
    if (n == SYS_getrandom)
        return getrandom((void *)a, (size_t)b, (unsigned)c);
    return kernel(n, a, b, c, d, e, f);
}

/* Seeds are made of it. */
pid_t getpid(void) { return 4242; }

int getentropy(void *to, size_t n)
{
    getrandom(to, n, 0);
    return 0;
}

/* Whatever host the application names, its database is the private one: a
 * connection over the network goes to the socket beside the application. */
static bool database_path(struct sockaddr_un *to)
{
    const char *path = getenv("SUNDEW_WEB_DB");
    if (!path || strlen(path) >= sizeof to->sun_path)
        return false;
    memset(to, 0, sizeof *to);
    to->sun_family = AF_UNIX;
    strcpy(to->sun_path, path);
    return true;
}

int connect(int fd, const struct sockaddr *to, socklen_t n)
{
    struct sockaddr_un here;
    if ((to->sa_family == AF_INET || to->sa_family == AF_INET6) && database_path(&here)) {
        int own = socket(AF_UNIX, SOCK_STREAM, 0);
        if (own < 0 || dup2(own, fd) < 0)
            return -1;
        close(own);
        return (int)kernel(SYS_connect, fd, (long)&here, sizeof here, 0, 0, 0);
    }
    return (int)kernel(SYS_connect, fd, (long)to, n, 0, 0, 0);
}

int getaddrinfo(const char *restrict node, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict out)
{
    static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    if (!real)
        real = (int (*)(const char *, const char *, const struct addrinfo *, struct addrinfo **))
            dlsym(RTLD_NEXT, "getaddrinfo");
    if (!real)
        return EAI_FAIL;
    return real(getenv("SUNDEW_WEB_DB") ? "127.0.0.1" : node, service, hints, out);
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    looks += wanted->tv_sec * 1000000 + wanted->tv_nsec / 1000;
    if (left)
        memset(left, 0, sizeof *left);
    return 0;
}

int usleep(useconds_t us)
{
    looks += us;
    return 0;
}

unsigned sleep(unsigned s)
{
    looks += (int64_t)s * 1000000;
    return 0;
}
