/* What one string of bytes means to a program; input.h is the manual. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/input/input.h"
#include "runtime/concolic/concolic.h"
#include "runtime/server/forkserver.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* What the program has of these. */
#define MAYBE __attribute__((weak))
extern int sundew_program_main(int argc, char **argv, char **envp) MAYBE;
extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) MAYBE;
extern int LLVMFuzzerInitialize(int *argc, char ***argv) MAYBE;
extern const void *sundew_batch_input(uint64_t *len) MAYBE;
extern void sundew_sources_start(void) MAYBE;
MAYBE void sundew_concolic_begin(void);
extern int sundew_snapshot_run(int (*program)(void *), void *arg) MAYBE;
MAYBE void sundew_symbolic(void *at, uint64_t n, uint64_t offset);

struct sundew_input sundew_input;

enum { ROUNDS = 1000, MOST_ARGUMENTS = 4096 };

static size_t room;                /* of sundew_input.bytes */
static uint64_t used;              /* bytes that are given out */
static int is_read;                /* sundew_input.bytes is there */

/* ---- the bytes */

static void trouble(const char *what)
{
    static const char who[] = "sundew: ", end[] = "\n";
    if (write(2, who, sizeof who - 1) < 0 || write(2, what, strlen(what)) < 0 ||
        write(2, end, 1) < 0)
        _exit(125);
    _exit(125);
}

/* Memory that the runs of one process use one after the other; NULL: each is a process of its
 * own. `again_used` is put back with the program's variables (snapshot.c). */
enum { AGAIN = 1 << 20 };
static uint8_t *again;
static size_t again_used;

static int is_again(const void *p)
{
    return again && (const uint8_t *)p >= again && (const uint8_t *)p < again + AGAIN;
}

static void *some_pages(size_t n)
{
    n = (n + 16) & ~(size_t)15;
    if (again && n <= AGAIN - again_used) {
        again_used += n;
        return again + again_used - n;
    }
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        trouble("no memory for the input");
    return p;
}

/* Zeroed. */
static void *pages(size_t n)
{
    void *p = some_pages(n);
    if (is_again(p))
        memset(p, 0, n);
    return p;
}

/* What the concolic runtime needs at the beginning of each run. */
static void begin_concolic(void)
{
    if (sundew_concolic_begin)
        sundew_concolic_begin();
    if (sundew_sources_start)
        sundew_sources_start();
}

static void label(void *at, uint64_t n, uint64_t offset)
{
    if (sundew_symbolic && n)
        sundew_symbolic(at, n, offset);
}

static uint8_t *grow(size_t wanted)
{
    uint8_t *old = (uint8_t *)sundew_input.bytes;
    if (wanted <= room)
        return old;
    size_t to = room ? room * 2 : 1u << 16;
    while (to < wanted)
        to *= 2;
    uint8_t *new = some_pages(to);
    if (old)
        memcpy(new, old, sundew_input.size);
    if (old && !is_again(old))
        munmap(old, room);
    room = to;
    sundew_input.bytes = new;
    return new;
}

/* All that a descriptor gives. What can be read again stays where it was. */
static void read_all(int fd)
{
    off_t at = lseek(fd, 0, SEEK_CUR);
    sundew_input.size = 0;
    used = 0;
    is_read = 1;
    for (;;) {
        uint8_t *to = grow(sundew_input.size + 65536) + sundew_input.size;
        ssize_t n =
            at < 0 ? read(fd, to, 65536) : pread(fd, to, 65536, at + (off_t)sundew_input.size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        sundew_input.size += (uint64_t)n;
    }
}

static void write_all(int fd, const uint8_t *p, uint64_t n)
{
    while (n > 0) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            trouble("cannot write the input");
        p += k;
        n -= (uint64_t)k;
    }
}

/* The file that a descriptor is open on is the input, from `first` on. */
static void is_source(int fd, uint64_t first)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return;
    sundew_input.is_file = 1;
    sundew_input.is_stream = !S_ISREG(st.st_mode);
    sundew_input.first = first;
    sundew_input.device = st.st_dev;
    sundew_input.inode = st.st_ino;
}

void sundew_ask(void *to, size_t n)
{
    if (!is_read)
        read_all(0);
    uint64_t left = sundew_input.size - used;
    uint64_t have = n < left ? n : left;
    memset(to, 0, n);
    memcpy(to, sundew_input.bytes + used, have);
    label(to, have, used);
    used += have;
}

_Noreturn void sundew_refuse(void)
{
    fflush(NULL);
    _exit(SUNDEW_REFUSED);
}

/* ---- the plan */

/* A string of the input: of a slot, or (slot 0) up to the next zero. */
static char *take_string(uint64_t slot, size_t prefix)
{
    const uint8_t *from = sundew_input.bytes + used;
    uint64_t left = sundew_input.size - used;
    uint64_t n = slot ? slot < left ? slot : left : strnlen((const char *)from, left);
    char *s = pages(prefix + (slot ? slot : n) + 1);
    memcpy(s + prefix, from, n);
    label(s + prefix, n, used);
    used += slot || n == left ? n : n + 1;
    return s;
}

struct start {
    const char *plan;
    int argc;
    char **argv;
    int nenv;
    char **env;
};

static void add_arguments(struct start *s, uint64_t count, uint64_t slot)
{
    if (count > MOST_ARGUMENTS)
        count = MOST_ARGUMENTS;
    char **argv = pages(((size_t)s->argc + count + 1) * sizeof *argv);
    memcpy(argv, s->argv, (size_t)s->argc * sizeof *argv);
    for (uint64_t i = 0; i < count; i++)
        argv[s->argc++] = take_string(slot, 0);
    s->argv = argv;
}

static void set_variable(struct start *s, const char *name, size_t n, uint64_t slot)
{
    char *text = take_string(slot, n + 1);
    memcpy(text, name, n);
    text[n] = '=';
    for (int i = 0; i < s->nenv; i++)
        if (strncmp(s->env[i], text, n + 1) == 0) {
            s->env[i] = text;
            return;
        }
    s->env[s->nenv++] = text;
}

/* `/32` behind a part. */
static uint64_t slot_of(const char *part, size_t n, size_t *name_len)
{
    const char *slash = memrchr(part, '/', n);
    if (!slash) {
        *name_len = n;
        return 0;
    }
    *name_len = (size_t)(slash - part);
    return strtoull(slash + 1, NULL, 10);
}

/* The rest is standard input: a new file, if it begins in the middle. */
static void rest_to_stdin(void)
{
    if (used > 0 || (is_read && lseek(0, 0, SEEK_CUR) < 0)) {
        int fd = memfd_create("input", 0);
        if (fd < 0)
            trouble("cannot make a file for the input");
        write_all(fd, sundew_input.bytes + used, sundew_input.size - used);
        lseek(fd, 0, SEEK_SET);
        dup2(fd, 0);
        close(fd);
    }
    is_source(0, used);
}

static void rest_to_file(const char *path, size_t n)
{
    char name[4096];
    if (n >= sizeof name)
        trouble("the input file's name is too long");
    memcpy(name, path, n);
    name[n] = 0;
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        trouble("cannot write the input file");
    write_all(fd, sundew_input.bytes + used, sundew_input.size - used);
    is_source(fd, used);
    close(fd);
    int null = open("/dev/null", O_RDONLY);
    if (null > 0) {
        dup2(null, 0);
        close(null);
    }
}

/* The input is this file, which somebody else has written. */
static void file_is_input(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        trouble("cannot read the input file");
    if (sundew_symbolic)
        read_all(fd);
    is_source(fd, 0);
    close(fd);
}

static void part(struct start *s, const char *p, size_t n)
{
    size_t name;
    uint64_t slot;
    if (n > 5 && memcmp(p, "argv:", 5) == 0) {
        slot = slot_of(p + 5, n - 5, &name);
        add_arguments(s, strtoull(p + 5, NULL, 10), slot);
    } else if (n > 4 && memcmp(p, "env:", 4) == 0) {
        slot = slot_of(p + 4, n - 4, &name);
        set_variable(s, p + 4, name, slot);
    } else if (n > 5 && memcmp(p, "file=", 5) == 0) {
        rest_to_file(p + 5, n - 5);
    } else if (n == 5 && memcmp(p, "stdin", 5) == 0) {
        rest_to_stdin();
    } else if (n != 4 || memcmp(p, "call", 4) != 0) {
        trouble("SUNDEW_INPUT is not understood");
    }
}

/* The environment without what is ours, and with room for more. */
static void copy_environment(struct start *s)
{
    static const char *const ours[] = { SUNDEW_INPUT_ENV "=", SUNDEW_DEFER_ENV "=",
                                        SUNDEW_FORKSERVER_ENV "=" };
    size_t n = 0;
    while (environ && environ[n])
        n++;
    s->env = pages((n + 64) * sizeof *s->env);
    for (size_t i = 0; i < n; i++) {
        int mine = 0;
        for (size_t k = 0; k < sizeof ours / sizeof *ours; k++)
            mine |= strncmp(environ[i], ours[k], strlen(ours[k])) == 0;
        if (!mine)
            s->env[s->nenv++] = environ[i];
    }
}

/* Without a plan, or with plain standard input, nothing is read in advance, unless
 * labels will be wanted. */
static void prepare(struct start *s, const char *plan)
{
    begin_concolic();
    copy_environment(s);
    environ = s->env;
    if (plan && strncmp(plan, "in=", 3) == 0) {
        file_is_input(plan + 3);
        return;
    }
    int plain = !plan || !*plan || strcmp(plan, "stdin") == 0;
    if (!plain || sundew_symbolic)
        read_all(0);
    if (plain)
        rest_to_stdin();
    int variables = 0, rest = plain;
    for (const char *p = plan; !plain && *p;) {
        size_t n = strcspn(p, ",");
        if (n > 4 && memcmp(p, "env:", 4) == 0 && ++variables > 60)
            trouble("too many variables in SUNDEW_INPUT");
        part(s, p, n);
        rest |= strncmp(p, "argv:", 5) != 0 && strncmp(p, "env:", 4) != 0;
        p += n + (p[n] == ',');
    }
    if (!rest)
        rest_to_stdin();
}

static const char *late;           /* plan of a deferred start */

void sundew_input_late(void)
{
    const char *plan = late;
    late = NULL;
    if (!plan)
        return;
    begin_concolic();
    if (strncmp(plan, "in=", 3) == 0) {
        file_is_input(plan + 3);
    } else {
        read_all(0);
        rest_to_stdin();
    }
}

void sundew_input_anew(void)
{
    late = NULL;
    begin_concolic();
    read_all(0);
}

void sundew_input_from(uint64_t from)
{
    sundew_input_anew();
    used = from < sundew_input.size ? from : sundew_input.size;
}

/* ---- the program */

/* An object of exactly this size, so that a sanitizer sees where it ends. */
static void call_target(void)
{
    uint64_t n = 0;
    begin_concolic();
    const void *bytes = sundew_batch_input ? sundew_batch_input(&n) : NULL;
    if (!bytes) {
        read_all(0);
        bytes = sundew_input.bytes;
        n = sundew_input.size;
    }
    uint8_t *data = malloc(n ? n : 1);
    if (!data)
        trouble("no memory for the input");
    memcpy(data, bytes, n);
    label(data, n, 0);
    LLVMFuzzerTestOneInput(data, n);
    free(data);
}

static int fuzz_target(int argc, char **argv)
{
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    sundew_forkserver_start();
    do
        call_target();
    while (sundew_forkserver_again(sundew_symbolic ? 1 : ROUNDS));
    return 0;
}

static int run_program(void *start)
{
    struct start *s = start;
    return sundew_program_main(s->argc, s->argv, s->env);
}

/* What comes from the input is another for each run. */
static int prepare_and_run(void *start)
{
    struct start s = *(const struct start *)start;
    prepare(&s, s.plan);
    return run_program(&s);
}

int main(int argc, char **argv)
{
    const char *plan = getenv(SUNDEW_INPUT_ENV);
    int call = plan && strcmp(plan, "call") == 0;
    if (LLVMFuzzerTestOneInput && (call || !sundew_program_main))
        return fuzz_target(argc, argv);
    if (!sundew_program_main)
        trouble("the program has no main()");
    struct start s = { .plan = plan, .argc = argc, .argv = argv };
    if (getenv(SUNDEW_DEFER_ENV)) {
        late = plan && *plan ? plan : "stdin";
        if (strcmp(late, "stdin") != 0 && strncmp(late, "in=", 3) != 0)
            trouble("a deferred start needs the plan `stdin` or `in=PATH`");
        return sundew_program_main(argc, argv, environ);
    }
    sundew_forkserver_start();
    int same = !plan || strcmp(plan, "stdin") == 0 || strncmp(plan, "in=", 3) == 0;
    if (same || !sundew_snapshot_run) {
        prepare(&s, plan);
        return sundew_snapshot_run ? sundew_snapshot_run(run_program, &s) : run_program(&s);
    }
    void *p = mmap(NULL, AGAIN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    again = p == MAP_FAILED ? NULL : p;
    return sundew_snapshot_run(prepare_and_run, &s);
}
