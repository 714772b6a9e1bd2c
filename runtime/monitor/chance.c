/*
 * chance - the list of functions that were on the stack of an earlier crash.
 *
 * In second-chance mode all functions are off. A crash then leaves only the
 * stack, and its functions are added to a list; the next start turns those on.
 * The list is text, one function a line, and lists of several machines can be
 * put together with cat:
 *
 *     KEY SYMBOL
 *
 * KEY is that of the program's content: lines of another build don't count.
 */
#include "runtime/monitor/monitor_int.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t length(const char *s, const char *end)
{
    const char *nl = memchr(s, '\n', (size_t)(end - s));
    return (size_t)((nl ? nl : end) - s);
}

static void turn_on(const char *symbol, size_t n)
{
    const SundewFunction *fn = sundew_tables.functions;
    for (uint32_t i = 0; i < sundew_tables.nfunctions; i++)
        if (strncmp(fn[i].symbol, symbol, n) == 0 && !fn[i].symbol[n])
            sundew_modes[i] = sundew_on;
}

static void read_line(const char *line, size_t n)
{
    size_t k = strlen(sundew_tables.key);
    if (n > k + 1 && memcmp(line, sundew_tables.key, k) == 0 && line[k] == ' ')
        turn_on(line + k + 1, n - k - 1);
}

void sundew_chance_load(void)
{
    int fd = open(sundew_settings.chance, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char buffer[4096];
    size_t n = 0;
    ssize_t got;
    if (fd < 0)
        return;
    while ((got = read(fd, buffer + n, sizeof buffer - n)) > 0) {
        n += (size_t)got;
        const char *at = buffer, *end = buffer + n;
        while (at < end && memchr(at, '\n', (size_t)(end - at))) {
            size_t len = length(at, end);
            read_line(at, len);
            at += len + 1;
        }
        n = (size_t)(end - at);
        if (n == sizeof buffer)
            n = 0;
        memmove(buffer, at, n);
    }
    read_line(buffer, n);
    close(fd);
}

void sundew_chance_add(const SundewCall *stack, unsigned n)
{
    char text[8192], *to = text;
    size_t k = strlen(sundew_tables.key);
    for (unsigned i = 0; i < n; i++) {
        long row = sundew_row_at(stack[i].pc - (i > 0));
        const SundewMap *m = sundew_map_find(stack[i].pc);
        if (row < 0 || sundew_modes[row] || !m || !m->executable)
            continue;
        const SundewFunction *fn = &sundew_tables.functions[row];
        size_t len = strlen(fn->symbol);
        if (fn->address < m->lo || k + len + 2 > (size_t)(text + sizeof text - to))
            continue;
        sundew_modes[row] = SUNDEW_REFERENCE;      /* not twice */
        memcpy(to, sundew_tables.key, k);
        to[k] = ' ';
        memcpy(to + k + 1, fn->symbol, len);
        to[k + 1 + len] = '\n';
        to += k + len + 2;
    }
    if (to == text || !*sundew_settings.chance)
        return;
    /* A pipe of that name must not hold the program up. */
    int fd = open(sundew_settings.chance,
                  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0)
        return;
    /* Over the limit on file sizes there would be another signal. */
    struct rlimit limit;
    struct stat st;
    bool fits = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                (getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
                 (uint64_t)st.st_size + (uint64_t)(to - text) <= limit.rlim_cur);
    if (fits && write(fd, text, (size_t)(to - text)) < 0) {
        /* Then there is no second chance; nothing else depends on it. */
    }
    close(fd);
}
