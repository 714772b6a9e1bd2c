/* Twins of defects that a passing test can confirm. The argument says what is
 * executed; every run ends with status 0. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

/* C1: read() gives less than it was asked for, elsewhere, on a pipe. */
static char header[64], body[64];

static void load_hdr(int fd)
{
    if (read(fd, header, 64) < 0)
        exit(1);
}

static void load_body(int fd)
{
    size_t have = 0;
    while (have < 64) {
        ssize_t n = read(fd, body + have, 64 - have);
        if (n <= 0)
            break;
        have += (size_t)n;
    }
}

static void fill(int fd, size_t n)
{
    static const char zeros[64];
    if (write(fd, zeros, n) != (ssize_t)n)
        exit(1);
}

static void c1_pipe(void)
{
    int p[2];
    if (pipe(p))
        exit(1);
    for (int i = 0; i < 12; i++) {
        fill(p[1], 64);
        load_hdr(p[0]);
    }
    fill(p[1], 20);
    close(p[1]);
    load_body(p[0]);
}

static void c1_file(void)
{
    char name[] = "/tmp/twinsXXXXXX";
    int fd = mkstemp(name);
    unlink(name);
    for (int i = 0; i < 12; i++)
        fill(fd, 64);
    lseek(fd, 0, SEEK_SET);
    for (int i = 0; i < 12; i++)
        load_hdr(fd);
}

/* C2: & where && was meant. */
struct queue {
    int n;
};

int queue_state(struct queue *q, int mode)
{
    if (mode == 0)
        return 0;
    if ((q != NULL) & (q->n > 0))
        return 1;
    return 2;
}

static int masks(int a, int b) { return ((a & 1) | (b & 2)) != 0; }

static int taken;
static int take(void)
{
    taken++;
    return 1;
}
static int peek(void) { return taken > 3; }

int both_effect(int n)
{
    if ((n > 0) & take())
        return 1;
    return 0;
}

int both_pure(int n)
{
    if ((n > 0) & peek())
        return 1;
    return 0;
}

int both_never(int n)
{
    if ((n > 0) & take())
        return 1;
    return 0;
}

static void c2(int null, int mode)
{
    struct queue q = { 1 };
    for (int i = 0; i < 12; i++) {
        queue_state(&q, mode);
        masks(i, i);
    }
    if (null)
        queue_state(NULL, 0);
}

/* C3: comparators. */
struct item {
    int k;
};

static int by_truth(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return x->k > y->k;
}

static int by_difference(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return x->k - y->k;
}

static int by_order(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return (x->k > y->k) - (x->k < y->k);
}

static void c3_truth(void)
{
    struct item all[] = { { 3 }, { 1 }, { 2 }, { 5 }, { 4 } };
    qsort(all, 5, sizeof *all, by_truth);
}

static void c3_far(void)
{
    struct item all[] = { { -2000000000 }, { -1 }, { 0 }, { 2000000000 } };
    qsort(all, 4, sizeof *all, by_difference);
}

static void c3_near(void)
{
    struct item all[101];
    for (int i = 0; i < 101; i++)
        all[i].k = i * 37 % 101;
    qsort(all, 101, sizeof *all, by_difference);
    qsort(all, 101, sizeof *all, by_order);
}

/* C4: an equality that ignores case, and a hash that does not. */
static unsigned key_hash(const char *s)
{
    unsigned h = 5381;
    while (*s)
        h = h * 33 + (unsigned char)*s++;
    return h;
}

static int key_equal(const char *a, const char *b) { return strcasecmp(a, b) == 0; }

static unsigned hashed_key_hash(const char *s) { return (unsigned char)*s; }
static int hashed_key_equal(const char *a, const char *b) { return strcasecmp(a, b) == 0; }

static const char *table[64];

static void put(const char *key)
{
    unsigned at = key_hash(key) % 64;
    if (hashed_key_equal(key, "bar") && hashed_key_hash(key) != 'b')
        exit(1);
    while (table[at] && !key_equal(table[at], key))
        at = (at + 1) % 64;
    table[at] = key;
}

static void c4_array(void)
{
    static const char *const all[] = { "Foo", "bar", "baz", "foo" };
    int found = 0;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            found += key_equal(all[i], all[k]);
    if (found != 6)
        exit(1);
}

/* C5: copies. */
struct base {
    int kind;
};
struct der {
    struct base base;
    char *name;
};

struct der *der_new(const char *name)
{
    struct der *d = malloc(sizeof *d);
    if (!d)
        exit(1);
    d->base.kind = 1;
    d->name = name ? strdup(name) : NULL;
    return d;
}

struct der *der_dup(const struct der *s)
{
    struct der *d = malloc(sizeof *d);
    if (!d)
        return NULL;
    *d = *s;
    return d;
}

struct der *der_copy_deep(const struct der *s)
{
    struct der *d = malloc(sizeof *d);
    if (!d)
        return NULL;
    *d = *s;
    d->name = s->name ? strdup(s->name) : NULL;
    return d;
}

void der_free(struct der *d)
{
    free(d->name);
    free(d);
}

struct base *base_dup(const struct base *s)
{
    struct base *b = malloc(sizeof *b);
    if (!b)
        return NULL;
    *b = *s;
    return b;
}

static void c5(const char *name)
{
    for (int i = 0; i < 12; i++) {
        struct der *d = der_new(name), *e = der_dup(d), *f = der_copy_deep(d);
        if (!e || !f)
            exit(1);
        der_free(f);
        free(e);                     /* never both */
        der_free(d);
    }
}

static void c5_slice(int part)
{
    for (int i = 0; i < 12; i++) {
        struct der *d = der_new("x");
        struct base *b = part ? base_dup(&d->base) : calloc(1, sizeof *b), *c = base_dup(b);
        free(c);
        free(b);
        der_free(d);
    }
}

/* C6: an error code that one caller drops. */
static int cfg_parse(const char *text, int *out)
{
    if (!*text)
        return -1;
    *out = atoi(text);
    return 0;
}

static int reload(const char *text)
{
    int value = 0;
    cfg_parse(text, &value);
    return value;
}

static int load(const char *text)
{
    int value;
    if (cfg_parse(text, &value) < 0)
        return -1;
    return value;
}

/* C7: the test that the compiler deletes. */
int too_large(int k)
{
    if (k + 100 < k)
        return 1;
    return 0;
}

int too_large_unsigned(unsigned k) { return k + 100 < k; }

/* Evidence of processes that end in other ways. */
static void *threaded(void *arg)
{
    too_large(*(int *)arg);
    return NULL;
}

static void in_child(char **argv, const char *how)
{
    pid_t pid = fork();
    if (pid == 0) {
        int n = 3;
        pthread_t t;
        if (!strcmp(how, "exec"))
            execl(argv[0], argv[0], "c7", (char *)NULL);
        if (!strcmp(how, "thread") && !pthread_create(&t, NULL, threaded, &n))
            pthread_join(t, NULL);
        else
            too_large(n);
        if (!strcmp(how, "abort"))
            abort();
        if (!strcmp(how, "kill"))
            raise(SIGKILL);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

/* Probes do not touch errno. */
static int errno_stays(void)
{
    struct queue q = { 1 };
    int p[2], value;
    if (pipe(p))
        return 1;
    fill(p[1], 20);
    errno = 77;
    queue_state(&q, 1);
    too_large(1);
    put("Foo");
    put("foo");
    c3_truth();
    load_hdr(p[0]);
    if (cfg_parse("1", &value) < 0)
        return 1;
    reload("");
    return errno != 77;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "c1-pipe"))
        c1_pipe();
    else if (!strcmp(what, "c1-file"))
        c1_file();
    else if (!strcmp(what, "c2-null"))
        c2(1, 1);
    else if (!strcmp(what, "c2-never"))
        c2(0, 1);
    else if (!strcmp(what, "c2-mode0"))
        c2(1, 0);
    else if (!strcmp(what, "c2-effect"))
        for (int i = -10; i < 10; i++) {
            both_effect(i);
            both_pure(i);
            both_never(i + 11);
        }
    else if (!strcmp(what, "c3-truth"))
        c3_truth();
    else if (!strcmp(what, "c3-far"))
        c3_far();
    else if (!strcmp(what, "c3-near"))
        c3_near();
    else if (!strcmp(what, "c4-table")) {
        put("Foo");
        put("bar");
    } else if (!strcmp(what, "c4-both")) {
        put("Foo");
        put("foo");
    } else if (!strcmp(what, "c4-array"))
        c4_array();
    else if (!strcmp(what, "c5-shared"))
        c5("x");
    else if (!strcmp(what, "c5-empty"))
        c5(NULL);
    else if (!strcmp(what, "c5-slice"))
        c5_slice(1);
    else if (!strcmp(what, "c5-whole"))
        c5_slice(0);
    else if (!strcmp(what, "c6-fails")) {
        for (int i = 0; i < 12; i++)
            reload("1");
        load("");
    } else if (!strcmp(what, "c6-never"))
        for (int i = 0; i < 1000; i++) {
            reload("1");
            load("2");
        }
    else if (!strcmp(what, "child"))
        in_child(argv, argv[2]);
    else if (!strcmp(what, "errno"))
        return errno_stays();
    else if (!strcmp(what, "c7"))
        return too_large(3) + too_large_unsigned(3);
    return 0;
}
