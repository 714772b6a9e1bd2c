/*
 * start - what happens before the program's own code: settings, modes, handlers.
 *
 *     SUNDEW_CRASH_DIR      where crash files go (else the current folder)
 *     SUNDEW_CRASH_SIZE     MiB of the program's memory in a crash file (else 1)
 *     SUNDEW_CHANCE         the second-chance list (else PROGRAM.chance there)
 *     SUNDEW_MONITOR=off    everything off: the program runs as if plain
 *     SUNDEW_CRASH_VERBOSE  say on standard error what was written
 *
 * A program that has been given more rights than its user (set-user-id) writes nothing.
 */
#include "runtime/monitor/monitor_int.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

SundewSettings sundew_settings;

static void set(char *to, size_t size, const char *text)
{
    size_t n = text ? strlen(text) : 0;
    if (n >= size)
        n = 0;
    memcpy(to, text ? text : "", n);
    to[n] = 0;
}

/* Rounded down to a power of two; at most 64. */
static uint32_t read_size(const char *text)
{
    uint32_t n = 0, size = 1;
    for (; text && *text >= '0' && *text <= '9' && n < 64; text++)
        n = n * 10 + (uint32_t)(*text - '0');
    while (size * 2 <= n && size < 64)
        size *= 2;
    return size;
}

static void read_settings(void)
{
    SundewSettings *s = &sundew_settings;
    const char *off = getenv("SUNDEW_MONITOR");
    s->verbose = getenv("SUNDEW_CRASH_VERBOSE") != NULL;
    s->off = getauxval(AT_SECURE) || (off && (strcmp(off, "off") == 0 || strcmp(off, "0") == 0));
    s->size = read_size(getenv("SUNDEW_CRASH_SIZE"));
    set(s->dir, sizeof s->dir, getenv("SUNDEW_CRASH_DIR"));
    set(s->tmp, sizeof s->tmp, getenv("TMPDIR"));
    set(s->chance, sizeof s->chance, getenv("SUNDEW_CHANCE"));
    if (*s->chance)
        return;
    /* Beside the crash files; the current folder may change, so by its name. */
    size_t name = strlen(sundew_tables.name) + sizeof "/.chance";
    if (*s->dir)
        set(s->chance, sizeof s->chance, s->dir);
    else if (!getcwd(s->chance, sizeof s->chance))
        *s->chance = 0;
    size_t n = strlen(s->chance);
    if (!n || n + name > sizeof s->chance) {
        *s->chance = 0;
        return;
    }
    s->chance[n] = '/';
    memcpy(s->chance + n + 1, sundew_tables.name, name - sizeof "/.chance");
    memcpy(s->chance + n + 1 + name - sizeof "/.chance", ".chance", sizeof ".chance");
}

/* argv lies before the environment, and before it, argc:
 *     argc  argv[0] … argv[argc - 1]  NULL  environ[0] … */
static void find_argv(void)
{
    char **end = environ;
    for (long n = 0; end && n < 1 << 16; n++) {
        uint64_t word = sundew_read_word((uintptr_t)(end - 2 - n));
        if (word == (uint64_t)n) {
            sundew_settings.argv = (uintptr_t)(end - 1 - n);
            sundew_settings.nargv = ((uint64_t)n + 1) * 8;
            return;
        }
        if (word < 4096)
            return;
    }
}

/* The strings of argv lie one behind the other. Programs cut them up, and main()'s test needs
 * them whole. */
static void keep_arguments(void)
{
    enum { MOST = 1 << 18 };
    SundewSettings *s = &sundew_settings;
    if (s->nargv < 16)
        return;
    uint64_t last = sundew_read_word(s->argv + s->nargv - 16);
    s->text = sundew_read_word(s->argv);
    if (!s->text || last < s->text || last - s->text >= MOST)
        return;
    uint64_t n = last - s->text + strlen((const char *)(uintptr_t)last) + 1;
    char *kept = n <= MOST ? sundew_pages(n) : NULL;
    if (!kept || sundew_safe_copy(kept, s->text, n) < n)
        return;
    s->text_before = kept;
    s->ntext = n;
}

static void set_modes(void)
{
    uint32_t n = sundew_tables.nfunctions;
    bool off = sundew_settings.off;
    sundew_on = sundew_tables.strategy == SUNDEW_COPY_REFERENCE ? SUNDEW_REFERENCE : SUNDEW_FULL;
    if (n)
        memset(sundew_modes, off || sundew_tables.second_chance ? SUNDEW_OFF : sundew_on, n);
    if (!off && sundew_tables.second_chance)
        sundew_chance_load();
    bool any = false;
    for (uint32_t i = 0; i < n && !any; i++)
        any = sundew_modes[i] != SUNDEW_OFF;
    sundew_tracking = any;
}

void sundew_monitor_start(void)
{
    if (sundew_settings.started)
        return;
    int kept = errno;
    read_settings();
    sundew_settings.started = true;
    if (!sundew_settings.off) {
        sundew_adapt_start();
        sundew_unwind_prime();
        sundew_thread_key();
        sundew_thread();
        sundew_signals_start();
        find_argv();
        keep_arguments();
    }
    set_modes();
    errno = kept;
}
