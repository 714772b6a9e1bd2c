/*
 * The monitoring runtime (runtime/), compiled as it is, with tables written by
 * hand. What ends in a crash happens in a child process, once with the runtime
 * and once without; both must end alike, and the file is read back.
 */
#include "runtime/monitor/monitor_int.h"
#include "runtime/heap/wrappers.h"
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- a program, as the weave would describe it */

typedef struct Node {
    int value;
    struct Node *next;
    char *name;
} Node;

typedef struct Secret {
    int id;
    char word[12];
} Secret;

typedef union Either {
    Node *node;
    long number;
} Either;

enum {
    T_NONE,
    T_INT,
    T_CHAR,
    T_CHAR_P,
    T_NODE,
    T_NODE_P,
    T_VOID,
    T_VOID_P,
    T_FILE,
    T_FILE_P,
    T_EITHER,
    T_EITHER_P,
    T_SECRET,
    T_SECRET_P,
    NTYPES,
};

static const SundewPointer pointers[] = {
    { .offset = 0, .type = T_CHAR, .count = 1, .stride = 8 },
    { .offset = 8, .type = T_NODE, .count = 1, .stride = 8 },
    { .offset = 16, .type = T_CHAR, .count = 1, .stride = 8 },
    { .offset = 0, .type = T_NODE, .count = 1, .stride = 8 },
    { .offset = 0, .type = T_VOID, .count = 1, .stride = 8 },
    { .offset = 0, .type = T_FILE, .count = 1, .stride = 8 },
    { .offset = 0, .type = T_NODE, .count = 1, .stride = 8, .unsure = 1 },
    { .offset = 0, .type = T_EITHER, .count = 1, .stride = 8 },
    { .offset = 0, .type = T_SECRET, .count = 1, .stride = 8 },
};
static const SundewHidden hidden[] = { { offsetof(Secret, word), 12 } };
static SundewType types[NTYPES] = {
    [T_INT] = { 4, SUNDEW_DATA, 0, 0, 0, 0, 0 },
    [T_CHAR] = { 1, SUNDEW_CHAR, 0, 0, 0, 0, 0 },
    [T_CHAR_P] = { 8, SUNDEW_DATA, 0, 1, 0, 0, 0 },
    [T_NODE] = { 24, SUNDEW_DATA, 0, 2, 1, 0, 0 },
    [T_NODE_P] = { 8, SUNDEW_DATA, 0, 1, 3, 0, 0 },
    [T_VOID] = { 0, SUNDEW_UNKNOWN, 0, 0, 0, 0, 0 },
    [T_VOID_P] = { 8, SUNDEW_DATA, 0, 1, 4, 0, 0 },
    [T_FILE] = { sizeof(FILE), SUNDEW_FOREIGN, 0, 0, 0, 0, 0 },
    [T_FILE_P] = { 8, SUNDEW_DATA, 0, 1, 5, 0, 0 },
    [T_EITHER] = { 8, SUNDEW_DATA, 0, 1, 6, 0, 0 },
    [T_EITHER_P] = { 8, SUNDEW_DATA, 0, 1, 7, 0, 0 },
    [T_SECRET] = { 16, SUNDEW_DATA, 0, 0, 0, 0, 0 },    /* hidden by one test */
    [T_SECRET_P] = { 8, SUNDEW_DATA, 0, 1, 8, 0, 0 },
};

enum { R_OUTER, R_NODE, R_VOID, R_FILE, R_EITHER, R_SECRET, R_TEXT, NROWS };

static const SundewParam params[] = {
    { .type = T_INT, .slot = 0, .nslots = 1 },      { .type = T_NODE_P, .slot = 0, .nslots = 1 },
    { .type = T_VOID_P, .slot = 0, .nslots = 1 },   { .type = T_FILE_P, .slot = 0, .nslots = 1 },
    { .type = T_EITHER_P, .slot = 0, .nslots = 1 }, { .type = T_SECRET_P, .slot = 0, .nslots = 1 },
    { .type = T_CHAR_P, .slot = 0, .nslots = 1 },
};
static const SundewStep steps[] = {
    { SUNDEW_NO_STEP, 0, 0, 0, 24, T_NODE },          /* the node */
    { 0, 0, 16, 0, 0, T_CHAR },                       /* its name, whole */
    { SUNDEW_NO_STEP, SUNDEW_VARIABLE, 1, 0, 4, T_INT },
    { SUNDEW_NO_STEP, 0, 0, 0, 16, T_SECRET },
    { SUNDEW_NO_STEP, 0, 0, 0, 0, T_CHAR },
};
static const SundewLocal locals[] = { { T_CHAR, 32 } };
static const uint32_t uses[] = { 1, 2 };
static int counter = 7;
static Node head_of_all = { 1, NULL, NULL };
static const SundewGlobal globals[] = {
    { (uint64_t)&counter, "counter", 1, T_INT, sizeof counter, 0, { 0 } },
    { (uint64_t)&head_of_all, "head_of_all", 2, T_NODE, sizeof head_of_all, 0, { 0 } },
};
static const SundewExternal externals[] = { { (uint64_t)&puts, "puts" } };

static void outer(int n, void (*what)(void *), void *arg);
static void with_node(Node *n, void (*what)(void *), void *arg);
static void with_void(void *p, void (*what)(void *), void *arg);
static void with_file(FILE *f, void (*what)(void *), void *arg);
static void with_either(Either *e, void (*what)(void *), void *arg);
static void with_secret(Secret *s, void (*what)(void *), void *arg);
static void with_text(char *s, void (*what)(void *), void *arg);

static const SundewFunction functions[NROWS] = {
    [R_OUTER] = { (uint64_t)&outer, "outer", 10, 1, 1, 1, 0, 0, 0, 0, 0, 2, 0, 0 },
    [R_NODE] = { (uint64_t)&with_node, "with_node", 11, 1, 1, 0, 3, 1, 0, 0, 0, 0, 0, 0 },
    [R_VOID] = { (uint64_t)&with_void, "with_void", 12, 1, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0 },
    [R_FILE] = { (uint64_t)&with_file, "with_file", 13, 1, 1, 0, 0, 3, 0, 0, 0, 0, 0, 0 },
    [R_EITHER] = { (uint64_t)&with_either, "with_either", 14, 1, 1, 0, 0, 4, 0, 0, 0, 0, 0, 0 },
    [R_SECRET] = { (uint64_t)&with_secret, "with_secret", 15, 1, 1, 0, 1, 5, 0, 3, 0, 0, 0, 0 },
    [R_TEXT] = { (uint64_t)&with_text, "with_text", 16, 1, 1, 0, 1, 6, 0, 4, 0, 0, 0, 0 },
};
uint8_t sundew_modes[NROWS];

/* The same symbol as sundew_tables, but ours to change. */
static SundewTables tables_start = {
    .version = SUNDEW_TABLES_VERSION,
    .strategy = SUNDEW_COPY_USED,
    .key = "0123456789abcdef",
    .name = "prog",
    .build = "1.0",
    .types = types,
    .pointers = pointers,
    .hidden = hidden,
    .functions = functions,
    .params = params,
    .locals = locals,
    .steps = steps,
    .uses = uses,
    .globals = globals,
    .externals = externals,
    .modes = sundew_modes,
    .ntypes = NTYPES,
    .nfunctions = NROWS,
    .nglobals = 2,
    .nexternals = 1,
    .overhead = 0,
};
extern SundewTables tables __asm__("sundew_tables");
SundewTables tables;

/* A woven function: the probes with its own frame's address as sp. */
#define PROBED(row, argument, ...)                                                                 \
    void *sp = __builtin_frame_address(0);                                                         \
    if (sundew_modes[row]) {                                                                       \
        uint64_t *s = sundew_enter(row, sp);                                                       \
        if (s) {                                                                                   \
            s[0] = (uint64_t)(argument);                                                           \
            __VA_ARGS__;                                                                           \
            sundew_entered(row, s);                                                                \
        }                                                                                          \
    }                                                                                              \
    if (what)                                                                                      \
        what(arg);                                                                                 \
    if (sundew_modes[row])                                                                         \
        sundew_leave(row, sp);

#define NOINLINE __attribute__((noinline))

static NOINLINE void outer(int n, void (*what)(void *), void *arg)
{
    char local[32] = "on the stack";
    PROBED(R_OUTER, (unsigned)n, s[1] = (uint64_t)local)
    __asm__ volatile("" ::"r"(local) : "memory");
}

static NOINLINE void with_node(Node *n, void (*what)(void *), void *arg)
{
    PROBED(R_NODE, n, (void)0)
}

static NOINLINE void with_void(void *p, void (*what)(void *), void *arg)
{
    PROBED(R_VOID, p, (void)0)
}

static NOINLINE void with_file(FILE *f, void (*what)(void *), void *arg)
{
    PROBED(R_FILE, f, (void)0)
}

static NOINLINE void with_either(Either *e, void (*what)(void *), void *arg)
{
    PROBED(R_EITHER, e, (void)0)
}

static NOINLINE void with_secret(Secret *se, void (*what)(void *), void *arg)
{
    PROBED(R_SECRET, se, (void)0)
}

static NOINLINE void with_text(char *t, void (*what)(void *), void *arg)
{
    PROBED(R_TEXT, t, (void)0)
}

/* ---- reading a file back */

typedef struct Record {
    uint32_t tag, length;
    const uint8_t *payload;
} Record;

typedef struct Image {
    uint8_t *bytes;
    size_t n;
    Record records[32768];
    unsigned nrecords;
    bool ended;
} Image;

static Image image;                    /* of the last child; {0}: no file */
static char dir[] = "/tmp/monitor-rt.XXXXXX";

static const void *nth(uint32_t tag, unsigned k)
{
    for (unsigned i = 0; i < image.nrecords; i++)
        if (image.records[i].tag == tag && k-- == 0)
            return image.records[i].payload;
    return NULL;
}

static unsigned count(uint32_t tag)
{
    unsigned n = 0;
    for (unsigned i = 0; i < image.nrecords; i++)
        n += image.records[i].tag == tag;
    return n;
}

static const Record *record_of(const void *payload)
{
    for (unsigned i = 0; i < image.nrecords; i++)
        if (image.records[i].payload == payload)
            return &image.records[i];
    return NULL;
}

static char *text_of(const void *payload, size_t head)
{
    static char text[4096];
    const Record *r = record_of(payload);
    size_t n = r && r->length > head ? r->length - head : 0;
    if (n >= sizeof text)
        n = sizeof text - 1;
    if (n)
        memcpy(text, r->payload + head, n);
    text[n] = 0;
    return text;
}

/* The frame of a symbol; with its number. */
static const SundewFrameRecord *frame(const char *symbol)
{
    const SundewFrameRecord *f;
    for (unsigned i = 0; (f = nth(SUNDEW_REC_FRAME, i)); i++)
        if (strcmp(text_of(f, sizeof *f + (f->nslots + f->nlocals) * 8u), symbol) == 0)
            return f;
    return NULL;
}

static const SundewMemory *memory(uint64_t address)
{
    const SundewMemory *m;
    for (unsigned i = 0; (m = nth(SUNDEW_REC_MEMORY, i)); i++)
        if (m->address == address)
            return m;
    return NULL;
}

static const SundewCopyRecord *copy(uint32_t of, uint64_t address)
{
    const SundewCopyRecord *c;
    for (unsigned i = 0; (c = nth(SUNDEW_REC_COPY, i)); i++)
        if (c->frame == of && c->address == address)
            return c;
    return NULL;
}

static const SundewFailure *failure(void) { return nth(SUNDEW_REC_FAILURE, 0); }

static bool lacks(uint32_t code)
{
    const SundewMissing *m;
    for (unsigned i = 0; (m = nth(SUNDEW_REC_MISSING, i)); i++)
        if (m->code == code)
            return true;
    return false;
}

static void read_image(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    image.bytes = malloc(8 << 20);
    image.n = fread(image.bytes, 1, 8 << 20, f);
    fclose(f);
    if (image.n < 16)
        return;
    assert_memory_equal(image.bytes, SUNDEW_CRASH_MAGIC, 8);
    for (size_t at = 16; at + 8 <= image.n;) {
        Record r;
        memcpy(&r, image.bytes + at, 8);
        r.payload = image.bytes + at + 8;
        if (at + 8 + r.length > image.n)
            break;
        assert_in_range(r.tag, SUNDEW_REC_BUILD, SUNDEW_REC_END);
        assert_true(image.nrecords < 32768);
        image.records[image.nrecords++] = r;
        image.ended = r.tag == SUNDEW_REC_END;
        at += 8 + ((r.length + 7u) & ~7u);
    }
    if (image.ended)
        assert_int_equal(image.bytes + image.n - 8 - image.bytes, image.n - 8);
}

/* Reads the only crash file in a folder and removes it. Returns how many there
 * were, whole or in part. */
static unsigned collect(const char *folder, const char *ending)
{
    DIR *d = opendir(folder);
    struct dirent *e;
    unsigned n = 0;
    free(image.bytes);
    memset(&image, 0, sizeof image);
    while (d && (e = readdir(d))) {
        size_t len = strlen(e->d_name), end = strlen(ending);
        if (len < end || strcmp(e->d_name + len - end, ending) != 0)
            continue;
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (n++ == 0)
            read_image(path);
        unlink(path);
    }
    if (d)
        closedir(d);
    return n;
}

/* ---- children */

typedef void Scenario(void *arg);

static void start(void)
{
    setenv("SUNDEW_CRASH_DIR", dir, 0);
    sundew_monitor_start();
}

/* cmocka has handlers of its own, which a child must not have, and a failed
 * assertion in a child must end it. */
static void become_a_child(void)
{
    static const int all[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    struct rlimit none = { 0, 0 };
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        signal(all[i], SIG_DFL);
    setenv("CMOCKA_TEST_ABORT", "1", 1);
    setrlimit(RLIMIT_CORE, &none);
    alarm(20);
}

/* How the scenario ends; with the runtime or without. */
static int end_of(Scenario *scenario, void *arg, bool monitored)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        become_a_child();
        if (monitored)
            start();
        scenario(arg);
        _exit(0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
}

/* Runs both ways; they end alike. Returns the number of files. */
static unsigned both(Scenario *scenario, void *arg, int expected)
{
    tables = tables_start;
    int plain = end_of(scenario, arg, false);
    assert_int_equal(collect(dir, ".crash"), 0);
    int monitored = end_of(scenario, arg, true);
    assert_int_equal(plain, monitored);
    assert_int_equal(plain, expected);
    assert_int_equal(count(SUNDEW_REC_END), 0);
    return collect(dir, ".crash");
}

static void null_write(void *arg)
{
    (void)arg;
    int *volatile p = (int *)8;
    *p = 1;
}

/* ---- safecopy */

static void copying_stops_where_memory_ends(void **state)
{
    (void)state;
    start();
    uint8_t *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static uint8_t to[8192];
    memset(p, 0x5a, 8192);
    munmap(p + 4096, 4096);
    for (int faulting = 0; faulting < 2; faulting++) {
        sundew_may_fault = faulting;
        for (size_t n = 1; n < 700; n += 13)
            for (size_t off = 0; off < 40; off++) {
                uint64_t from = (uintptr_t)p + 4096 - off;
                size_t want = n < off ? n : off;
                errno = 77;
                assert_int_equal(sundew_safe_copy(to, from, n), want);
                assert_int_equal(errno, 77);
            }
        assert_int_equal(sundew_safe_copy(to, (uintptr_t)p, 4096), 4096);
        assert_int_equal(to[4095], 0x5a);
        assert_int_equal(sundew_safe_copy(to, 0xdeadbeef0000dead, 100), 0);
        assert_int_equal(sundew_read_word(8), 0);
    }
    munmap(p, 4096);
}

/* ---- extents */

static uint32_t random_state = 12345;

static uint32_t roll(uint32_t n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % n;
}

static size_t random_size(void)
{
    switch (roll(8)) {
    case 0: return roll(3);
    case 1: return 100000 + roll(100000);
    case 2: return roll(200) ? roll(5000) : (1u << 20) + roll(3u << 20);
    default: return roll(200);
    }
}

static void all_allocations_are_known_to_the_byte(void **state)
{
    (void)state;
    enum { N = 400 };
    static struct {
        char *p;
        size_t n;
    } live[N];
    start();
    sundew_tracking = 1;
    for (unsigned k = 0; k < 60000; k++) {
        unsigned i = roll(N);
        size_t n = random_size();
        SundewExtent e;
        if (!live[i].p) {
            void *p = NULL;
            switch (roll(4)) {
            case 0: p = sundew_calloc(1, n); break;
            case 1: assert_int_equal(sundew_posix_memalign(&p, 64, n), 0); break;
            default: p = sundew_malloc(n);
            }
            live[i].p = p;
            live[i].n = n;
        } else if (roll(3) == 0) {
            char *q = sundew_realloc(live[i].p, n ? n : 1);
            live[i].p = q;
            live[i].n = n ? n : 1;
        } else {
            uint64_t was = (uintptr_t)live[i].p;
            sundew_free(live[i].p);
            live[i].p = NULL;
            if (live[i].n && live[i].n < 1 << 20) {
                assert_true(sundew_extent_at(was, &e));
                assert_true(e.freed);
                assert_int_equal(e.size, live[i].n);
            }
            continue;
        }
        uint64_t at = (uintptr_t)live[i].p;
        size_t inside = live[i].n ? roll((uint32_t)live[i].n) : 0;
        assert_true(sundew_extent_at(at + inside, &e));
        assert_int_equal(e.start, at);
        assert_int_equal(e.size, live[i].n);
        assert_false(e.freed);
        if (k % 500)
            continue;
        for (unsigned j = 0; j < N; j++)
            if (live[j].p) {
                at = (uintptr_t)live[j].p;
                assert_true(sundew_extent_at(at, &e));
                assert_int_equal(e.start, at);
                assert_int_equal(e.size, live[j].n);
                assert_false(e.freed);
            }
    }
    for (unsigned j = 0; j < N; j++)
        sundew_free(live[j].p);
}

static void what_was_never_allocated_is_not_known(void **state)
{
    (void)state;
    SundewExtent e;
    start();
    int local;
    assert_false(sundew_extent_at((uintptr_t)&local, &e));
    assert_false(sundew_extent_at(0, &e));
    assert_false(sundew_extent_at(UINT64_MAX, &e));
    assert_ptr_equal(sundew_global_at((uintptr_t)&counter + 3), &globals[0]);
    assert_ptr_equal(sundew_global_numbered(2), &globals[1]);
    assert_null(sundew_global_numbered(3));
    assert_null(sundew_global_at(5));
}

static void strings_and_lines_have_extents(void **state)
{
    (void)state;
    SundewExtent e;
    start();
    sundew_tracking = 1;
    char *s = sundew_strdup("hello");
    assert_true(sundew_extent_at((uintptr_t)s + 2, &e));
    assert_int_equal(e.size, 6);
    char *t = NULL;
    assert_int_equal(sundew_asprintf(&t, "%d-%s", 12, "x"), 4);
    assert_string_equal(t, "12-x");
    assert_true(sundew_extent_at((uintptr_t)t, &e));
    assert_int_equal(e.size, 5);
    char *line = NULL;
    size_t n = 0;
    FILE *f = tmpfile();
    fputs("first\nsecond\n", f);
    rewind(f);
    assert_int_equal(sundew_getline(&line, &n, f), 6);
    assert_true(sundew_extent_at((uintptr_t)line, &e));
    assert_int_equal(e.size, n);
    fclose(f);
    sundew_free(s);
    sundew_free(t);
    sundew_free(line);
}

/* ---- stack */

static unsigned depth(void)
{
    const SundewLane *l = sundew_self->lane;
    unsigned n = 0;
    for (uint32_t i = l->last; i; i = sundew_frame_at(l, i)->prev)
        n++;
    return n;
}

static void look_at_depth(void *arg) { *(unsigned *)arg = depth(); }

static void functions_come_and_go(void **state)
{
    (void)state;
    unsigned n = 0;
    tables = tables_start;
    start();
    memset(sundew_modes, SUNDEW_FULL, NROWS);
    outer(1, look_at_depth, &n);
    assert_int_equal(n, 1);
    outer(1, NULL, NULL);
    assert_int_equal(depth(), 0);
}

static jmp_buf back;

static void jump_away(void *arg)
{
    (void)arg;
    longjmp(back, 1);
}

static void then_jump(void *arg) { with_text(arg, jump_away, NULL); }

static void catch_many(void *arg)
{
    unsigned *out = arg;
    static volatile int i;
    for (i = 0; i < 5000; i++)
        if (setjmp(back) == 0)
            with_void(NULL, then_jump, (void *)(uintptr_t)"text");
    outer(2, look_at_depth, out);
}

static void what_longjmp_left_stays_a_while(void **state)
{
    (void)state;
    unsigned n = 0;
    tables = tables_start;
    start();
    memset(sundew_modes, SUNDEW_FULL, NROWS);
    with_node(NULL, catch_many, &n);
    /* The catcher, the last call, and no more than so many stale ones. */
    assert_in_range(n, SUNDEW_STALE_MOST / 2, SUNDEW_STALE_MOST + 2);
    assert_int_equal(depth(), 0);
    assert_int_equal(sundew_self->lane->top, 16);
}

static void turn_off(void *arg)
{
    sundew_modes[R_TEXT] = SUNDEW_OFF;
    look_at_depth(arg);
}

static void a_function_turned_off_inside_is_mended(void **state)
{
    (void)state;
    unsigned n = 0;
    tables = tables_start;
    start();
    memset(sundew_modes, SUNDEW_FULL, NROWS);
    with_text(NULL, turn_off, &n);
    assert_int_equal(n, 1);
    assert_int_equal(depth(), 1);      /* nobody told */
    outer(1, look_at_depth, &n);
    assert_in_range(n, 1, 2);
    outer(1, NULL, NULL);
    sundew_modes[R_TEXT] = SUNDEW_FULL;
}

static void inlined_functions_share_a_stack_pointer(void **state)
{
    (void)state;
    tables = tables_start;
    start();
    memset(sundew_modes, SUNDEW_REFERENCE, NROWS);
    char here;
    void *sp = &here;
    outer(1, NULL, NULL);
    unsigned at = depth();
    sundew_entered(R_VOID, sundew_enter(R_VOID, sp));
    sundew_entered(R_TEXT, sundew_enter(R_TEXT, sp));
    assert_int_equal(depth(), at + 2);
    sundew_leave(R_TEXT, sp);
    assert_int_equal(depth(), at + 1);
    sundew_leave(R_FILE, sp);          /* entered while it was off */
    assert_int_equal(depth(), at + 1);
    sundew_leave(R_VOID, sp);
    assert_int_equal(depth(), at);
}

static ucontext_t main_context, other_context;

static void yield(void *arg)
{
    (void)arg;
    swapcontext(&other_context, &main_context);
}

static void coroutine(void)
{
    with_text(NULL, yield, NULL);
    unsigned n;
    outer(3, look_at_depth, &n);
}

static void coroutines_have_their_own_frames(void **state)
{
    (void)state;
    unsigned n = 0;
    tables = tables_start;
    start();
    sundew_tracking = 1;
    memset(sundew_modes, SUNDEW_FULL, NROWS);
    outer(1, NULL, NULL);
    const SundewLane *mine = sundew_self->lane;
    getcontext(&other_context);
    other_context.uc_stack.ss_size = 65536;
    other_context.uc_stack.ss_sp = sundew_malloc(65536);
    other_context.uc_link = &main_context;
    makecontext(&other_context, coroutine, 0);
    swapcontext(&main_context, &other_context);
    assert_ptr_not_equal(sundew_self->lane, mine);
    const SundewLane *theirs = sundew_self->lane;
    assert_int_equal(theirs->live != 0, 1);
    outer(1, look_at_depth, &n);       /* here, it is alone */
    assert_int_equal(n, 1);
    assert_int_not_equal(theirs->live, 0);
    swapcontext(&main_context, &other_context);
    assert_int_equal(theirs->live, 0);
    sundew_free(other_context.uc_stack.ss_sp);
}

static void *in_thread(void *arg)
{
    outer(1, look_at_depth, arg);
    return sundew_self;
}

static void threads_have_their_own_frames_and_give_them_back(void **state)
{
    (void)state;
    tables = tables_start;
    start();
    memset(sundew_modes, SUNDEW_FULL, NROWS);
    unsigned n = 0;
    for (int i = 0; i < 50; i++) {
        pthread_t t;
        n = 0;
        assert_int_equal(sundew_pthread_create(&t, NULL, in_thread, &n), 0);
        pthread_join(t, NULL);
        assert_int_equal(n, 1);
    }
    unsigned states = 0;
    for (SundewThread *t = sundew_threads; t; t = t->next)
        states++;
    assert_in_range(states, 2, 4);
}

/* ---- the dump, read back */

static void crash_with_list(void *arg)
{
    (void)arg;
    Node *a = sundew_malloc(sizeof *a), *b = sundew_malloc(sizeof *b);
    *a = (Node){ 1, b, sundew_strdup("a") };
    *b = (Node){ 2, a, a->name };      /* a circle, and a shared name */
    head_of_all = (Node){ 3, a, NULL };
    Node *freed = sundew_malloc(sizeof *freed);
    b->value = (int)((uintptr_t)freed & 0xffff);
    *freed = (Node){ 9, NULL, NULL };
    sundew_free(freed);
    with_node(a, null_write, NULL);
}

static void in_outer(void *arg) { outer(42, crash_with_list, arg); }

static void a_crash_leaves_the_failure_the_frames_and_the_memory(void **state)
{
    (void)state;
    assert_int_equal(both(in_outer, NULL, SIGSEGV), 1);
    assert_true(image.ended);
    assert_string_equal(text_of(nth(SUNDEW_REC_BUILD, 0), sizeof(SundewBuild)),
                        "0123456789abcdef\nprog\n1.0");
    const SundewFailure *f = failure();
    assert_int_equal(f->kind, SUNDEW_FAIL_SIGNAL);
    assert_int_equal(f->signal, SIGSEGV);
    assert_int_equal(f->access, SUNDEW_WRITE);
    assert_int_equal(f->address, 8);
    const SundewStack *st = nth(SUNDEW_REC_STACK, 0);
    assert_true(st->count > 4);
    assert_int_equal(((const uint64_t *)(st + 1))[0], f->pc);
    assert_true(f->pc - (uint64_t)&null_write < 100);

    const SundewFrameRecord *inner = frame("with_node"), *out = frame("outer");
    assert_int_equal(inner->frame, 0);
    assert_int_equal(inner->function, 11);
    assert_int_equal(out->frame, 1);
    assert_int_equal(out->flags & SUNDEW_FRAME_STALE, 0);
    const uint64_t *slots = (const uint64_t *)(out + 1);
    assert_int_equal(slots[0], 42);
    assert_int_equal(memory(slots[1])->place, SUNDEW_STACK);
    assert_string_equal(text_of(memory(slots[1]), sizeof(SundewMemory)), "on the stack");

    uint64_t a = ((const uint64_t *)(inner + 1))[0];
    assert_non_null(copy(0, a));
    const SundewMemory *ma = memory(a);
    assert_int_equal(ma->place, SUNDEW_HEAP);
    assert_int_equal(ma->size, sizeof(Node));
    assert_int_equal(ma->type, T_NODE);
    const Node *na = (const Node *)(const void *)(ma + 1);
    const SundewMemory *mb = memory((uint64_t)na->next);
    assert_int_equal(mb->place, SUNDEW_HEAP);
    assert_int_equal((uint64_t)((const Node *)(const void *)(mb + 1))->next, a);
    assert_int_equal(memory((uint64_t)na->name)->size, 2);
    assert_non_null(copy(0, (uint64_t)na->name));
    const SundewMemory *g = memory((uint64_t)&head_of_all);
    assert_int_equal(g->place, SUNDEW_GLOBAL);
    assert_int_equal(g->variable, 2);
    assert_non_null(copy(0, (uint64_t)&counter));
    assert_non_null(nth(SUNDEW_REC_EXTERNAL, 0));
    assert_non_null(nth(SUNDEW_REC_MAPS, 0));
}

static void change_then_crash(void *arg)
{
    Node *n = arg;
    n->value = 99;
    null_write(NULL);
}

static void changed_after_entry(void *arg)
{
    (void)arg;
    Node *n = sundew_malloc(sizeof *n);
    *n = (Node){ 5, NULL, NULL };
    with_node(n, change_then_crash, n);
}

static void copies_hold_what_was_there_at_the_entry(void **state)
{
    (void)state;
    assert_int_equal(both(changed_after_entry, NULL, SIGSEGV), 1);
    uint64_t n = ((const uint64_t *)(frame("with_node") + 1))[0];
    const SundewCopyRecord *c = copy(0, n);
    assert_int_equal(((const Node *)(const void *)(c + 1))->value, 5);
    assert_int_equal(((const Node *)(const void *)(memory(n) + 1))->value, 99);
}

static void use_freed(void *arg)
{
    (void)arg;
    Node *n = sundew_malloc(sizeof *n);
    *n = (Node){ 5, NULL, NULL };
    sundew_free(n);
    with_void(n, null_write, NULL);
}

static void freed_memory_is_marked(void **state)
{
    (void)state;
    assert_int_equal(both(use_freed, NULL, SIGSEGV), 1);
    uint64_t n = ((const uint64_t *)(frame("with_void") + 1))[0];
    assert_int_equal(memory(n)->place, SUNDEW_FREED);
    assert_int_equal(memory(n)->size, sizeof(Node));
}

static void free_then_crash(void *arg)
{
    sundew_free(arg);
    null_write(NULL);
}

static void crash_after_free(void *arg)
{
    Node *before = arg, *n = sundew_malloc(sizeof *n);
    *n = (Node){ 5, before, NULL };
    sundew_free(before);
    with_void(n, free_then_crash, n);
}

static void free_twice_over(void *arg)
{
    (void)arg;
    Node *before = sundew_malloc(sizeof *before);
    *before = (Node){ 4, NULL, NULL };
    outer(42, crash_after_free, before);
}

/* What a frame's function freed, it was handed alive; its first bytes, which the
 * allocator takes, are as they were. */
static void what_was_freed_since_the_entry_is_known(void **state)
{
    (void)state;
    assert_int_equal(both(free_twice_over, NULL, SIGSEGV), 1);
    uint64_t n = ((const uint64_t *)(frame("with_void") + 1))[0];
    const SundewMemory *m = memory(n);
    const Node *node = (const Node *)(const void *)(m + 1);
    assert_int_equal(m->place, SUNDEW_FREED);
    assert_int_equal(m->variable, frame("with_void")->frame + 1);
    assert_int_equal(node->value, 5);
    m = memory((uint64_t)node->next);       /* found by those bytes */
    assert_non_null(m);
    assert_int_equal(m->place, SUNDEW_FREED);
    assert_int_equal(m->variable, frame("outer")->frame + 1);
    assert_int_equal(((const Node *)(const void *)(m + 1))->value, 4);
}

static void free_many(void *arg)
{
    for (int i = 0; i < 2 * SUNDEW_HEADS; i++)
        sundew_free(sundew_malloc(100));
    free_then_crash(arg);
}

static void free_first(void *arg)
{
    Node *n = arg;
    sundew_free(n);
    with_void(n, free_many, sundew_malloc(500));
}

static void outer_frees_first(void *arg)
{
    (void)arg;
    outer(42, free_first, sundew_malloc(sizeof(Node)));
}

/* Too many were freed since: it may have been before the entry. */
static void what_was_freed_long_ago_is_not(void **state)
{
    (void)state;
    assert_int_equal(both(outer_frees_first, NULL, SIGSEGV), 1);
    uint64_t n = ((const uint64_t *)(frame("with_void") + 1))[0];
    assert_int_equal(memory(n)->place, SUNDEW_FREED);
    assert_int_equal(memory(n)->variable, 0);
}

static void free_without_a_frame(void *arg)
{
    Node *n = sundew_malloc(sizeof *n);
    *n = (Node){ 5, NULL, NULL };
    sundew_free(n);
    if (sundew_self && sundew_self->nfreed)
        abort();
    (void)arg;
    with_void(n, null_write, NULL);
}

/* Nothing on the stack was handed it. */
static void what_was_freed_without_a_frame_is_not_kept(void **state)
{
    (void)state;
    assert_int_equal(both(free_without_a_frame, NULL, SIGSEGV), 1);
    uint64_t n = ((const uint64_t *)(frame("with_void") + 1))[0];
    assert_int_equal(memory(n)->place, SUNDEW_FREED);
    assert_int_equal(memory(n)->variable, 0);
}

static void crash_behind(void *arg)
{
    char *s = arg;
    memset(s - 64, 'x', 64);
    null_write(NULL);
}

static void behind(void *arg)
{
    size_t n = *(const size_t *)arg;
    char *s = sundew_malloc(n);
    memset(s, 'o', n);
    with_text(s + n, crash_behind, s + n);
}

/* A stack that grows down is held by its end: the object before it is copied. */
static void a_pointer_just_behind_an_object_means_it(void **state)
{
    (void)state;
    static size_t sizes[] = { 96, 2000, 8000 };
    for (int i = 0; i < 3; i++) {
        assert_int_equal(both(behind, &sizes[i], SIGSEGV), 1);
        uint64_t end = ((const uint64_t *)(frame("with_text") + 1))[0];
        const SundewCopyRecord *c = copy(0, end - sizes[i]);
        if (sizes[i] > SUNDEW_ARG_BUDGET) {     /* not looked for so far away */
            assert_null(c);
            continue;
        }
        assert_int_equal(record_of(c)->length, sizeof *c + sizes[i]);
        assert_int_equal(((const char *)(c + 1))[sizes[i] - 1], 'o');
        assert_int_equal(text_of(memory(end - sizes[i]), sizeof(SundewMemory))[sizes[i] - 1], 'x');
    }
}

static void wild(void *arg)
{
    (void)arg;
    void **p = sundew_malloc(64);
    memset(p, 0, 64);
    p[0] = (void *)0xdead0000beef;
    p[3] = sundew_strdup("found by looking");
    p[4] = (char *)p + 5;
    with_void(p, null_write, NULL);
}

static void garbage_is_passed_over_and_pointers_in_void_are_found(void **state)
{
    (void)state;
    assert_int_equal(both(wild, NULL, SIGSEGV), 1);
    assert_true(image.ended);
    uint64_t p = ((const uint64_t *)(frame("with_void") + 1))[0];
    const uint64_t *words = (const uint64_t *)(memory(p) + 1);
    assert_int_equal(memory(words[3])->size, sizeof "found by looking");
    assert_null(memory(0xdead0000beef));
}

static void union_as_number(void *arg)
{
    Either *e = sundew_malloc(sizeof *e);
    Node *n = sundew_malloc(sizeof *n);
    *n = (Node){ 1, NULL, NULL };
    if (arg)
        e->node = n;
    else
        e->number = (long)(uintptr_t)stdin;    /* readable, but nothing known */
    with_either(e, null_write, NULL);
}

static void a_union_is_followed_only_to_known_objects(void **state)
{
    (void)state;
    both(union_as_number, NULL, SIGSEGV);
    uint64_t e = ((const uint64_t *)(frame("with_either") + 1))[0];
    uint64_t word = *(const uint64_t *)(memory(e) + 1);
    assert_null(memory(word));
    both(union_as_number, "", SIGSEGV);
    e = ((const uint64_t *)(frame("with_either") + 1))[0];
    word = *(const uint64_t *)(memory(e) + 1);
    assert_int_equal(memory(word)->type, T_NODE);
}

static void with_open_file(void *arg)
{
    char path[300];
    (void)arg;
    snprintf(path, sizeof path, "%s/input", dir);
    FILE *f = fopen(path, "w+");
    fputs("line one\nline two\n", f);
    rewind(f);
    fgetc(f);
    with_file(f, null_write, NULL);
}

static void the_content_of_an_open_file_is_kept(void **state)
{
    (void)state;
    assert_int_equal(both(with_open_file, NULL, SIGSEGV), 1);
    const SundewFileRecord *r = nth(SUNDEW_REC_FILE, 0);
    assert_non_null(r);
    assert_string_equal(text_of(r, sizeof *r), "line one\nline two\n");
    assert_int_equal(r->position, 18);
    assert_int_equal(memory(r->address)->size, sizeof(FILE));
}

static void tell_secret(void *arg)
{
    (void)arg;
    Secret *s = sundew_malloc(3 * sizeof *s);
    for (int i = 0; i < 3; i++)
        *s = (Secret){ i, "hunter2" }, s++;
    with_secret(s - 3, null_write, NULL);
}

static bool holds(const char *what)
{
    return memmem(image.bytes, image.n, what, strlen(what)) != NULL;
}

static void hidden_fields_do_not_leave(void **state)
{
    (void)state;
    assert_int_equal(both(tell_secret, NULL, SIGSEGV), 1);
    assert_true(holds("hunter2"));
    types[T_SECRET].nhidden = 1;
    assert_int_equal(both(tell_secret, NULL, SIGSEGV), 1);
    types[T_SECRET].nhidden = 0;
    assert_false(holds("hunter2"));
    uint64_t s = ((const uint64_t *)(frame("with_secret") + 1))[0];
    assert_int_equal(memory(s)->hidden, 36);
    assert_int_equal(((const Secret *)(const void *)(memory(s) + 1))[2].id, 2);
}

static void long_list(void *arg)
{
    (void)arg;
    Node *head = NULL;
    for (int i = 0; i < 200000; i++) {
        Node *n = sundew_malloc(sizeof *n);
        *n = (Node){ i, head, NULL };
        head = n;
    }
    with_node(head, null_write, NULL);
}

static void budgets_end_the_walk(void **state)
{
    (void)state;
    tables = tables_start;
    assert_int_equal(end_of(long_list, NULL, true), SIGSEGV);
    DIR *d = opendir(dir);
    struct dirent *e;
    off_t size = 0;
    while ((e = readdir(d)))
        if (strstr(e->d_name, ".crash")) {
            char path[300];
            struct stat st;
            snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
            stat(path, &st);
            size = st.st_size;
            unlink(path);
        }
    closedir(d);
    assert_in_range(size, 500 << 10, 3 << 20);
}

static void deep_list(void *arg)
{
    Node *a = sundew_malloc(sizeof *a), *b = sundew_malloc(sizeof *b);
    (void)arg;
    *a = (Node){ 1, b, NULL };
    *b = (Node){ 2, a, sundew_strdup("behind") };
    with_node(a, null_write, NULL);
}

static void the_deep_strategy_copies_all_that_is_reached(void **state)
{
    (void)state;
    tables = tables_start;
    tables.strategy = SUNDEW_COPY_DEEP;
    assert_int_equal(end_of(deep_list, NULL, true), SIGSEGV);
    assert_int_equal(collect(dir, ".crash"), 1);
    uint64_t a = ((const uint64_t *)(frame("with_node") + 1))[0];
    const SundewCopyRecord *c = copy(0, a);
    const Node *n = (const Node *)(const void *)(c + 1);
    c = copy(0, (uint64_t)n->next);
    assert_non_null(c);
    n = (const Node *)(const void *)(c + 1);
    assert_string_equal(text_of(copy(0, (uint64_t)n->name), sizeof *c), "behind");
    tables = tables_start;
    tables.strategy = SUNDEW_COPY_REFERENCE;
    assert_int_equal(end_of(deep_list, NULL, true), SIGSEGV);
    assert_int_equal(collect(dir, ".crash"), 1);
    assert_int_equal(count(SUNDEW_REC_COPY), 0);
    assert_true(frame("with_node")->flags & SUNDEW_FRAME_REFERENCE);
}

/* ---- kinds of failures */

static void do_abort(void *arg)
{
    (void)arg;
    abort();
}

static void in_text(void *arg) { with_text((char *)(uintptr_t)"text", *(Scenario **)arg, NULL); }

static unsigned crash_in(Scenario *how, int expected) { return both(in_text, &how, expected); }

static void do_assert(void *arg)
{
    (void)arg;
    close(2);
    sundew___assert_fail("x > 0", "file.c", 12, "work");
}

static void do_fpe(void *arg)
{
    (void)arg;
    volatile int zero = 0;
    volatile int n = 7 / zero;
    (void)n;
}

static void do_ill(void *arg)
{
    (void)arg;
    __builtin_trap();
}

static void do_bus(void *arg)
{
    (void)arg;
    char path[300];
    snprintf(path, sizeof path, "%s/empty", dir);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    volatile char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    (void)*p;
}

static void call_null(void *arg)
{
    void (*volatile f)(void) = NULL;
    (void)arg;
    f();
}

static void bad_libc(void *arg)
{
    (void)arg;
    volatile size_t n = strlen((const char *)(uintptr_t)0x123000);
    (void)n;
}

static void raise_segv(void *arg)
{
    (void)arg;
    raise(SIGSEGV);
}

static void each_kind_of_failure_is_told(void **state)
{
    (void)state;
    static const struct {
        Scenario *how;
        int signal;
        uint32_t kind, access;
    } table[] = {
        { do_abort, SIGABRT, SUNDEW_FAIL_ABORT, 0 },
        { do_assert, SIGABRT, SUNDEW_FAIL_ASSERT, 0 },
        { do_fpe, SIGFPE, SUNDEW_FAIL_SIGNAL, 0 },
        { do_ill, SIGILL, SUNDEW_FAIL_SIGNAL, 0 },
        { do_bus, SIGBUS, SUNDEW_FAIL_SIGNAL, SUNDEW_READ },
        { call_null, SIGSEGV, SUNDEW_FAIL_SIGNAL, SUNDEW_EXECUTE },
        { bad_libc, SIGSEGV, SUNDEW_FAIL_SIGNAL, SUNDEW_READ },
        { raise_segv, SIGSEGV, SUNDEW_FAIL_SIGNAL, 0 },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_int_equal(crash_in(table[i].how, table[i].signal), 1);
        assert_true(image.ended);
        assert_int_equal(failure()->kind, table[i].kind);
        assert_int_equal(failure()->signal, table[i].signal);
        /* Some processors don't say that it was an execution. */
        if (table[i].access != SUNDEW_EXECUTE)
            assert_int_equal(failure()->access, table[i].access);
        assert_non_null(frame("with_text"));
        const SundewStack *s = nth(SUNDEW_REC_STACK, 0);
        bool seen = false;
        for (uint32_t k = 0; k < s->count; k++)
            seen |= ((const uint64_t *)(s + 1))[k] - (uint64_t)&with_text < 400;
        assert_true(seen);
    }
    both(in_text, (Scenario *[]){ do_assert }, SIGABRT);
    assert_string_equal(text_of(failure(), sizeof(SundewFailure)),
                        "file.c:12: work: Assertion `x > 0' failed.");
}

static int recurse(volatile int n)
{
    volatile char block[4096];
    block[0] = (char)n;
    char *t = (char *)(uintptr_t)"deep";
    with_text(t, NULL, NULL);
    return n < 0 ? 0 : recurse(n + 1) + block[0];
}

static void overflow(void *arg)
{
    (void)arg;
    recurse(1);
}

static void a_stack_overflow_is_told(void **state)
{
    (void)state;
    assert_int_equal(crash_in(overflow, SIGSEGV), 1);
    assert_int_equal(failure()->kind, SUNDEW_FAIL_STACK_OVERFLOW);
    assert_non_null(frame("with_text"));
    assert_true(image.ended);
}

static NOINLINE void smash(void *arg)
{
    (void)arg;
    volatile uint64_t *p = (volatile uint64_t *)__builtin_frame_address(0);
    for (int i = 0; i < 200; i++)
        p[i] = 0x4141414141414141;
}

static void a_corrupted_stack_still_gives_a_file(void **state)
{
    (void)state;
    assert_int_equal(crash_in(smash, SIGSEGV), 1);
    assert_true(image.ended);
    assert_non_null(frame("with_text"));
}

static void *crash_thread(void *arg)
{
    (void)arg;
    with_text((char *)(uintptr_t)"in a thread", null_write, NULL);
    return NULL;
}

static void second_thread(void *arg)
{
    pthread_t t;
    (void)arg;
    sundew_pthread_create(&t, NULL, crash_thread, NULL);
    pthread_join(t, NULL);
}

static void a_second_thread_crashes_with_its_own_frames(void **state)
{
    (void)state;
    assert_int_equal(both(second_thread, NULL, SIGSEGV), 1);
    assert_non_null(frame("with_text"));
    assert_true(lacks(SUNDEW_LACK_THREAD));
}

static pthread_barrier_t together;

static void *crash_together(void *arg)
{
    pthread_barrier_wait(&together);
    with_text((char *)(uintptr_t)"in a thread", null_write, NULL);
    return arg;
}

static void many_threads(void *arg)
{
    pthread_t t;
    (void)arg;
    pthread_barrier_init(&together, NULL, 4);
    for (int i = 0; i < 4; i++)
        sundew_pthread_create(&t, NULL, crash_together, NULL);
    pthread_join(t, NULL);
}

static void threads_that_crash_at_once_end_the_program_once(void **state)
{
    (void)state;
    unsigned n = both(many_threads, NULL, SIGSEGV);
    assert_in_range(n, 1, 4);
}

static void crash_in_child(void *arg)
{
    (void)arg;
    with_void(NULL, NULL, NULL);
    int status;
    pid_t pid = fork();
    if (pid == 0)
        outer(1, null_write, NULL);
    waitpid(pid, &status, 0);
    _exit(WTERMSIG(status));
}

static void a_forked_child_leaves_its_own_file(void **state)
{
    (void)state;
    assert_int_equal(both(crash_in_child, NULL, SIGSEGV << 8), 1);
    assert_non_null(frame("outer"));
}

/* ---- longjmp, then a crash */

static void caught_then_crash(void *arg)
{
    (void)arg;
    if (setjmp(back) == 0)
        with_void(NULL, then_jump, (void *)(uintptr_t)"text");
    outer(2, do_abort, NULL);
}

static void what_was_caught_before_is_still_told(void **state)
{
    (void)state;
    Scenario *how = caught_then_crash;
    tables = tables_start;
    assert_int_equal(end_of(in_text, &how, true), SIGABRT);
    assert_int_equal(collect(dir, ".crash"), 1);
    assert_int_equal(frame("outer")->frame, 0);
    assert_true(frame("with_void")->flags & SUNDEW_FRAME_STALE);
}

/* ---- turned off while it ran, then a crash elsewhere */

static void turned_off(void *arg)
{
    (void)arg;
    sundew_modes[R_TEXT] = SUNDEW_OFF;
    if (sundew_rows)
        sundew_rows[R_TEXT].offs++;
}

/* Not monitored, like qsort(): its own end takes no frames off. */
static __attribute__((noinline)) void sorts(void)
{
    volatile char room[400] = "";
    with_text((char *)(uintptr_t)&room[0], turned_off, NULL);
}

static void sorted_then_crash(void *arg)
{
    (void)arg;
    sorts();
    sundew_modes[R_TEXT] = SUNDEW_FULL;          /* it gets another chance */
    outer(2, do_abort, NULL);
}

static void a_callback_that_returned_is_not_told(void **state)
{
    (void)state;
    tables = tables_start;
    tables.overhead = 5;
    assert_int_equal(both(sorted_then_crash, NULL, SIGABRT), 1);
    assert_non_null(frame("outer"));
    assert_null(frame("with_text"));
    tables.overhead = 0;
}

/* ---- the program's own handlers */

static volatile int handled;

static void quit_handler(int sig) { _exit(sig == SIGSEGV ? 33 : 34); }

static void info_handler(int sig, siginfo_t *info, void *context)
{
    (void)context;
    _exit(sig == SIGSEGV && info->si_addr == (void *)8 ? 44 : 45);
}

static void jump_handler(int sig)
{
    (void)sig;
    handled++;
    siglongjmp(back, 1);
}

static void reset_handler(int sig)
{
    (void)sig;
    handled++;
}

static char own_stack[16384];

static void on_own_stack(int sig)
{
    char here;
    (void)sig;
    _exit(&here >= own_stack && &here < own_stack + sizeof own_stack ? 55 : 56);
}

static void own_quit(void *arg)
{
    (void)arg;
    sundew_signal(SIGSEGV, quit_handler);
    null_write(NULL);
}

static void own_info(void *arg)
{
    struct sigaction act = { .sa_sigaction = info_handler, .sa_flags = SA_SIGINFO }, old;
    (void)arg;
    sundew_sigaction(SIGSEGV, &act, NULL);
    sundew_sigaction(SIGSEGV, NULL, &old);
    if (old.sa_sigaction != info_handler)
        _exit(99);
    null_write(NULL);
}

static void own_reset(void *arg)
{
    struct sigaction act = { .sa_handler = reset_handler, .sa_flags = (int)SA_RESETHAND };
    (void)arg;
    sundew_sigaction(SIGSEGV, &act, NULL);
    null_write(NULL);                  /* returns, and fails again */
}

static void own_altstack(void *arg)
{
    stack_t ss = { .ss_sp = own_stack, .ss_size = sizeof own_stack }, old;
    struct sigaction act = { .sa_handler = on_own_stack, .sa_flags = SA_ONSTACK };
    (void)arg;
    if (sundew_sigaltstack(&ss, NULL) != 0 || sundew_sigaltstack(NULL, &old) != 0 ||
        old.ss_sp != own_stack)
        _exit(98);
    sundew_sigaction(SIGSEGV, &act, NULL);
    null_write(NULL);
}

static void own_recover(void *arg)
{
    (void)arg;
    handled = 0;
    struct sigaction act = { .sa_handler = jump_handler, .sa_flags = SA_NODEFER };
    sundew_sigaction(SIGSEGV, &act, NULL);
    for (int i = 0; i < 3; i++)
        if (sigsetjmp(back, 1) == 0)
            null_write(NULL);
    for (int i = 0; i < 200; i++)
        outer(i, NULL, NULL);
    _exit(handled);
}

static void own_ignore(void *arg)
{
    (void)arg;
    sundew_signal(SIGSEGV, SIG_IGN);
    raise(SIGSEGV);                    /* nothing */
    kill(getpid(), SIGSEGV);
    null_write(NULL);                  /* deadly all the same */
}

static void own_block(void *arg)
{
    sigset_t set, old;
    (void)arg;
    sigfillset(&set);
    sundew_sigprocmask(SIG_BLOCK, &set, NULL);
    sundew_sigprocmask(SIG_BLOCK, NULL, &old);
    if (!sigismember(&old, SIGSEGV) || !sigismember(&old, SIGFPE))
        _exit(97);
    null_write(NULL);
}

static void own_wait(void *arg)
{
    sigset_t set;
    int sig = 0;
    (void)arg;
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    sigaddset(&set, SIGABRT);
    sundew_pthread_sigmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGSEGV);
    sigwait(&set, &sig);
    if (sig != SIGSEGV)
        _exit(96);
    kill(getpid(), SIGABRT);
    sigwait(&set, &sig);
    _exit(sig == SIGABRT ? 66 : 67);
}

static void own_abort(void *arg)
{
    (void)arg;
    sundew_signal(SIGABRT, reset_handler);
    abort();
}

static void ignored_abort(void *arg)
{
    sigset_t set;
    (void)arg;
    sigfillset(&set);
    sundew_sigprocmask(SIG_BLOCK, &set, NULL);
    sundew_signal(SIGABRT, SIG_IGN);
    abort();
}

static void the_programs_handlers_run_as_ever(void **state)
{
    (void)state;
    static const struct {
        Scenario *how;
        int status;
        unsigned files;
    } table[] = {
        { own_quit, 33 << 8, 1 },      { own_info, 44 << 8, 1 },   { own_reset, SIGSEGV, 1 },
        { own_altstack, 55 << 8, 1 },  { own_recover, 3 << 8, 1 }, { own_ignore, SIGSEGV, 1 },
        { own_block, SIGSEGV, 1 },     { own_wait, 66 << 8, 0 },   { own_abort, SIGABRT, 1 },
        { ignored_abort, SIGABRT, 1 },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        unsigned files = crash_in(table[i].how, table[i].status);
        if (table[i].how == own_ignore) {
            assert_in_range(files, 1, 2);     /* raise(SIGSEGV) was one too */
            continue;
        }
        assert_int_equal(files, table[i].files);
        if (files)
            assert_non_null(frame("with_text"));
    }
}

/* ---- files that can't be written */

static void read_only(void *arg)
{
    (void)arg;
    if (chdir("/proc") != 0)
        _exit(95);
    strcpy(sundew_settings.dir, "/proc/nowhere");
    strcpy(sundew_settings.tmp, dir);
    null_write(NULL);
}

static void another_folder_will_do(void **state)
{
    (void)state;
    assert_int_equal(crash_in(read_only, SIGSEGV), 1);
    assert_true(image.ended);
}

static void small_files(void *arg)
{
    struct rlimit limit = { 400, 400 };
    (void)arg;
    setrlimit(RLIMIT_FSIZE, &limit);
    null_write(NULL);
}

static void no_files(void *arg)
{
    struct rlimit limit = { 0, 0 };
    (void)arg;
    setrlimit(RLIMIT_FSIZE, &limit);
    null_write(NULL);
}

static void a_full_disk_cuts_the_file_short(void **state)
{
    (void)state;
    assert_int_equal(crash_in(small_files, SIGSEGV), 1);
    assert_false(image.ended);
    assert_non_null(failure());
    assert_int_equal(crash_in(no_files, SIGSEGV), 0);
    assert_int_equal(collect(dir, ".part"), 0);
}

static void no_descriptors(void *arg)
{
    struct rlimit limit = { 3, 3 };
    (void)arg;
    setrlimit(RLIMIT_NOFILE, &limit);
    null_write(NULL);
}

static void no_memory(void *arg)
{
    struct rlimit limit = { 4096, 4096 };
    (void)arg;
    setrlimit(RLIMIT_AS, &limit);
    null_write(NULL);
}

static void limits_do_not_change_the_end(void **state)
{
    (void)state;
    crash_in(no_descriptors, SIGSEGV);
    assert_int_equal(crash_in(no_memory, SIGSEGV), 1);
    assert_true(image.ended);
    assert_non_null(frame("with_text"));
}

static void faulty_tables(void *arg)
{
    (void)arg;
    /* The third symbol is at no address: the dump fails in the middle. */
    static SundewExternal bad[] = { { 1, "puts" }, { 2, (const char *)99 } };
    tables.externals = bad;
    tables.nexternals = 2;
    null_write(NULL);
}

static void a_fault_while_dumping_closes_the_file(void **state)
{
    (void)state;
    assert_int_equal(crash_in(faulty_tables, SIGSEGV), 1);
    assert_false(image.ended);
    assert_non_null(nth(SUNDEW_REC_STACK, 0));
}

static void slow_file(void *arg)
{
    (void)arg;
    /* Opening a FIFO would wait for ever; killed from outside while dumping. */
    static char fifo[300];
    snprintf(fifo, sizeof fifo, "%s/prog.%d.crash.part", dir, getpid());
    pid_t parent = getpid();
    if (fork() == 0) {
        usleep(1000);
        kill(parent, SIGKILL);
        _exit(0);
    }
    long_list(NULL);
    pause();
}

static void killed_while_dumping_leaves_what_there_is(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        tables = tables_start;
        int status = end_of(slow_file, NULL, true);
        assert_true(status == SIGKILL || status == SIGSEGV);
        usleep(5000);
        unsigned n = collect(dir, ".part");
        n += collect(dir, ".crash");
        assert_in_range(n, 0, 1);
    }
}

/* ---- going on after a dump */

static void dump_and_go_on(void *arg)
{
    (void)arg;
    errno = 5;
    sundew_dump_now("list is empty");
    if (errno != 5)
        _exit(94);
}

static void a_dump_without_a_crash(void **state)
{
    (void)state;
    Scenario *how = dump_and_go_on;
    tables = tables_start;
    assert_int_equal(end_of(in_text, &how, true), 0);
    assert_int_equal(collect(dir, ".crash"), 1);
    assert_true(image.ended);
    assert_int_equal(failure()->kind, SUNDEW_FAIL_DUMP);
    assert_string_equal(text_of(failure(), sizeof(SundewFailure)), "list is empty");
    assert_non_null(frame("with_text"));
    assert_true(failure()->pc - (uint64_t)&dump_and_go_on < 200);
}

/* ---- second chance */

static void the_second_crash_is_caught_in_full(void **state)
{
    (void)state;
    char path[300];
    snprintf(path, sizeof path, "%s/prog.chance", dir);
    unlink(path);
    Scenario *how = null_write;
    tables = tables_start;
    tables.second_chance = 1;
    assert_int_equal(end_of(in_text, &how, true), SIGSEGV);
    assert_int_equal(collect(dir, ".crash"), 1);
    assert_int_equal(count(SUNDEW_REC_FRAME), 0);
    assert_true(lacks(SUNDEW_LACK_OFF));
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(end_of(in_text, &how, true), SIGSEGV);
    assert_int_equal(collect(dir, ".crash"), 1);
    assert_non_null(frame("with_text"));
    /* Another build's list says nothing. */
    tables.key = "another";
    assert_int_equal(end_of(in_text, &how, true), SIGSEGV);
    assert_int_equal(collect(dir, ".crash"), 1);
    assert_null(frame("with_text"));
    unlink(path);
}

/* ---- adapting */

static void hot(void *arg)
{
    int *off = arg;
    for (int i = 0; i < 2000000; i++)
        with_text((char *)(uintptr_t)"x", NULL, NULL);
    *off = sundew_modes[R_TEXT] != SUNDEW_FULL;
    outer(1, NULL, NULL);
    _exit(*off * 2 + (sundew_modes[R_OUTER] == SUNDEW_FULL));
}

static void a_hot_function_is_turned_down(void **state)
{
    (void)state;
    int off = 0;
    tables = tables_start;
    tables.overhead = 5;
    assert_int_equal(end_of(hot, &off, true), 3 << 8);
    tables.overhead = 0;               /* no limit */
    assert_int_equal(end_of(hot, &off, true), 1 << 8);
}

/* While it is off the processor a thread earns little. */
static void asleep(void *arg)
{
    (void)arg;
    for (int i = 0; i < 16; i++)
        with_text((char *)(uintptr_t)"x", NULL, NULL);
    usleep(50000);
    sundew_self->tokens = 0;
    sundew_adapt_tick(sundew_self);
    _exit(sundew_self->tokens < 200000);
}

static void time_off_the_processor_counts_little(void **state)
{
    (void)state;
    tables = tables_start;
    tables.overhead = 5;
    assert_int_equal(end_of(asleep, NULL, true), 1 << 8);
}

static void off_by_environment(void **state)
{
    (void)state;
    Scenario *how = null_write;
    tables = tables_start;
    setenv("SUNDEW_MONITOR", "off", 1);
    assert_int_equal(end_of(in_text, &how, true), SIGSEGV);
    unsetenv("SUNDEW_MONITOR");
    assert_int_equal(collect(dir, ".crash"), 0);
}

/* Tests that start the runtime in this process would change those that come
 * after: each runs in a child. */
static void alone(void **state, void (*test)(void **))
{
    pid_t pid = fork();
    if (pid == 0) {
        become_a_child();
        tables = tables_start;
        test(state);
        _exit(0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

#define ALONE(name)                                                                                \
    static void name##_alone(void **state) { alone(state, name); }
ALONE(copying_stops_where_memory_ends)
ALONE(all_allocations_are_known_to_the_byte)
ALONE(what_was_never_allocated_is_not_known)
ALONE(strings_and_lines_have_extents)
ALONE(functions_come_and_go)
ALONE(what_longjmp_left_stays_a_while)
ALONE(a_function_turned_off_inside_is_mended)
ALONE(inlined_functions_share_a_stack_pointer)
ALONE(coroutines_have_their_own_frames)
ALONE(threads_have_their_own_frames_and_give_them_back)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copying_stops_where_memory_ends_alone),
        cmocka_unit_test(all_allocations_are_known_to_the_byte_alone),
        cmocka_unit_test(what_was_never_allocated_is_not_known_alone),
        cmocka_unit_test(strings_and_lines_have_extents_alone),
        cmocka_unit_test(functions_come_and_go_alone),
        cmocka_unit_test(what_longjmp_left_stays_a_while_alone),
        cmocka_unit_test(a_function_turned_off_inside_is_mended_alone),
        cmocka_unit_test(inlined_functions_share_a_stack_pointer_alone),
        cmocka_unit_test(coroutines_have_their_own_frames_alone),
        cmocka_unit_test(threads_have_their_own_frames_and_give_them_back_alone),
        cmocka_unit_test(a_crash_leaves_the_failure_the_frames_and_the_memory),
        cmocka_unit_test(copies_hold_what_was_there_at_the_entry),
        cmocka_unit_test(freed_memory_is_marked),
        cmocka_unit_test(what_was_freed_since_the_entry_is_known),
        cmocka_unit_test(what_was_freed_long_ago_is_not),
        cmocka_unit_test(what_was_freed_without_a_frame_is_not_kept),
        cmocka_unit_test(a_pointer_just_behind_an_object_means_it),
        cmocka_unit_test(garbage_is_passed_over_and_pointers_in_void_are_found),
        cmocka_unit_test(a_union_is_followed_only_to_known_objects),
        cmocka_unit_test(the_content_of_an_open_file_is_kept),
        cmocka_unit_test(hidden_fields_do_not_leave),
        cmocka_unit_test(budgets_end_the_walk),
        cmocka_unit_test(the_deep_strategy_copies_all_that_is_reached),
        cmocka_unit_test(each_kind_of_failure_is_told),
        cmocka_unit_test(a_stack_overflow_is_told),
        cmocka_unit_test(a_corrupted_stack_still_gives_a_file),
        cmocka_unit_test(a_second_thread_crashes_with_its_own_frames),
        cmocka_unit_test(threads_that_crash_at_once_end_the_program_once),
        cmocka_unit_test(a_forked_child_leaves_its_own_file),
        cmocka_unit_test(what_was_caught_before_is_still_told),
        cmocka_unit_test(a_callback_that_returned_is_not_told),
        cmocka_unit_test(the_programs_handlers_run_as_ever),
        cmocka_unit_test(another_folder_will_do),
        cmocka_unit_test(a_full_disk_cuts_the_file_short),
        cmocka_unit_test(limits_do_not_change_the_end),
        cmocka_unit_test(a_fault_while_dumping_closes_the_file),
        cmocka_unit_test(killed_while_dumping_leaves_what_there_is),
        cmocka_unit_test(a_dump_without_a_crash),
        cmocka_unit_test(the_second_crash_is_caught_in_full),
        cmocka_unit_test(a_hot_function_is_turned_down),
        cmocka_unit_test(time_off_the_processor_counts_little),
        cmocka_unit_test(off_by_environment),
    };
    if (!mkdtemp(dir))
        return 1;
    tables = tables_start;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char clean[300];
    snprintf(clean, sizeof clean, "rm -rf '%s'", dir);
    return system(clean) != 0 || failed;
}
