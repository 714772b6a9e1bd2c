/*
 * name:    pipes, endless devices and links lie where results are looked for
 * command: record invariants protocols confirm mutability
 * expect:  0 1 2
 */
#include "attack.h"

static int length(const char *s) { return (int)strlen(s); }

static int put(FILE *f, const char *s)
{
    fprintf(f, "%s %d\n", s, length(s));
    return length(s);
}

int main(void)
{
    static const char *const names[] = { "1.0.stream", "2.0.stream", "3.0.stream", "4.0.stream",
                                         "order",      "observed",   "counts",     "cover",
                                         "1.calls",    "2.calls",    "3.calls",    "4.calls",
                                         "1.maps",     "evidence",   "x.symbols",  "x.crash", NULL };
    static const char *const variables[] = { "SUNDEW_TRACE", "SUNDEW_TAGS", "SUNDEW_CRASH_DIR",
                                             "SUNDEW_CALLS", NULL };
    FILE *f = fopen("/dev/null", "w");
    int sum = 0;
    for (int i = 0; f && i < 20; i++)
        sum += put(f, "some text");
    if (f)
        fclose(f);
    for (unsigned i = 0; variables[i]; i++)
        leave_in(variables[i], names);
    /* A file with holes: endless for who reads it. */
    const char *folder = getenv("SUNDEW_CALLS") ? getenv("SUNDEW_CALLS") : getenv("SUNDEW_TRACE");
    char path[4096];
    snprintf(path, sizeof path, "%s/9.%s", folder ? folder : "/nowhere",
             getenv("SUNDEW_CALLS") ? "calls" : "0.stream");
    int fd = open(path, O_WRONLY | O_CREAT, 0666);
    if (fd >= 0 && ftruncate(fd, (off_t)1 << 42) != 0)
        close(fd);
    return sum == 1;
}
