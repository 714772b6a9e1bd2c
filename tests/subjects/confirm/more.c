/* One pair of functions for each further rule: bad_… is a defect that a passing run can
 * confirm, good_… its twin. The arguments name what is called, twelve times each. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct name {
    char text[8];
};
struct person {
    char *name;
    int age;
};
struct big {
    char bytes[64];
};

static int turn;                     /* of the twelve */
static const char *const words[] = { "a", "longer", "the longest of all" };
static char out[32];

/* snprintf: two texts that are long in different calls */
static void bad_print(void)
{
    snprintf(out, sizeof out, "%s-%s", turn % 2 ? words[2] : words[0],
             turn % 2 ? words[0] : words[2]);
}
static void good_print(void) { snprintf(out, sizeof out, "%s+%s", words[0], words[turn % 2]); }

/* strtol without an end */
static long bad_number(const char *s) { return strtol(s, NULL, 10); }
static long good_number(const char *s) { return strtol(s, NULL, 10); }

/* malloc that nobody tests; large, or small */
static void bad_malloc(size_t n)
{
    char *p = malloc(n);
    p[0] = 1;
    free(p);
}
static void good_malloc(size_t n)
{
    char *p = malloc(n);
    p[0] = 1;
    free(p);
}

/* a product of two numbers that are large in different calls */
static void *bad_product(int w, int h) { return malloc(w * h); }
static void *good_product(int w, int h) { return malloc(w * h); }

/* the size of a pointer */
static void bad_sizeof(struct big *p) { memset(p, 0, sizeof(p)); }
static void good_sizeof(char **p) { memset(p, 0, sizeof(p)); }

/* a text as a format */
static void bad_format(const char *s) { fprintf(stderr, s); }
static void good_format(const char *s) { fprintf(stderr, s); }

/* strncpy that fills the array */
static void bad_strncpy(struct name *n, const char *s) { strncpy(n->text, s, sizeof n->text); }
static void good_strncpy(struct name *n, const char *s) { strncpy(n->text, s, sizeof n->text); }

/* a pointer that stays behind */
static void bad_stale(struct person *p) { free(p->name); }
static void good_stale(struct person *p)
{
    free(p->name);
    p->name = NULL;
}

/* memory that an error leaves behind */
static int bad_leak(int n)
{
    char *p = malloc(16);
    if (!p)
        return -1;
    p[0] = 1;
    if (n < 0)
        return -1;
    free(p);
    return 0;
}
static int good_leak(int n)
{
    char *p = malloc(16);
    if (!p)
        return -1;
    p[0] = 1;
    if (n < 0) {
        free(p);
        return -1;
    }
    free(p);
    return 0;
}

/* a file that may change between two calls */
static void bad_toctou(const char *path)
{
    if (access(path, R_OK) == 0) {
        int fd = open(path, O_RDONLY);
        if (fd >= 0)
            close(fd);
    }
}
static void good_toctou(const char *path)
{
    if (access(path, R_OK) == 0) {
        int fd = open(path, O_RDONLY);
        if (fd >= 0)
            close(fd);
    }
}

/* a signal handler that prints */
static volatile sig_atomic_t got;
static void bad_handler(int n)
{
    got = n;
    printf("signal\n");
}
static void good_handler(int n) { got = n; }

/* a pointer that is NULL for one argument */
static struct person people[] = { { "ann", 1 }, { "bob", 2 } };
static struct person *find_person(const char *name)
{
    for (size_t i = 0; i < 2; i++)
        if (!strcmp(people[i].name, name))
            return &people[i];
    return NULL;
}
static int bad_null(const char *name) { return find_person(name)->age; }
static int good_null(void) { return find_person("ann")->age; }
static int checked(const char *name)
{
    struct person *p = find_person(name);
    return p ? p->age : 0;
}

static void folder_file(const char *folder, mode_t mode, char *path, size_t n)
{
    mkdir(folder, 0700);
    chmod(folder, mode);
    int length = snprintf(path, n, "%s/file", folder);
    if (length < 0 || (size_t)length >= n)
        exit(1);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    if (fd >= 0)
        close(fd);
}

static void once(const char *what)
{
    char path[64], heap[16] = "plain";
    struct name n;
    struct big *b = calloc(1, sizeof *b);
    char **one = calloc(1, sizeof *one);
    struct person p = { strdup("x"), 1 };
    if (!b || !one || !p.name)
        exit(1);
#define IS(word) (!strcmp(what, word))
    if (IS("bad_print")) bad_print();
    if (IS("good_print")) good_print();
    if (IS("bad_number")) bad_number("12x");
    if (IS("good_number")) good_number("12");
    if (IS("bad_malloc")) bad_malloc(1000000u + 100000u * (unsigned)turn);
    if (IS("good_malloc")) good_malloc(100u + (unsigned)turn);
    if (IS("bad_product")) free(turn % 2 ? bad_product(1, 1000000) : bad_product(1000000, 1));
    if (IS("good_product")) free(good_product(10, turn + 1));
    if (IS("bad_sizeof")) bad_sizeof(b);
    if (IS("good_sizeof")) good_sizeof(one);
    if (IS("bad_format")) bad_format(heap);
    if (IS("good_format")) good_format("constant");
    if (IS("bad_strncpy")) bad_strncpy(&n, "eight888");
    if (IS("good_strncpy")) good_strncpy(&n, "short");
    if (IS("bad_stale")) {
        bad_stale(&p);
        if (p.name)                  /* loaded, not used */
            p.name = NULL;
    }
    if (IS("good_stale")) good_stale(&p);
    if (IS("bad_leak")) bad_leak(turn % 2 ? -1 : 1);
    if (IS("good_leak")) good_leak(turn % 2 ? -1 : 1);
    if (IS("bad_toctou")) {
        folder_file("open-folder", 0777, path, sizeof path);
        bad_toctou(path);
    }
    if (IS("good_toctou")) {
        folder_file("private-folder", 0700, path, sizeof path);
        good_toctou(path);
    }
    if (IS("handlers")) {
        signal(SIGUSR1, bad_handler);
        signal(SIGUSR2, good_handler);
        printf("installed\n");
    }
    if (IS("nulls")) {
        bad_null("bob");
        good_null();
        checked(turn == 3 ? "eve" : "ann");
    }
    free(p.name);
    free(one);
    free(b);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        for (turn = 0; turn < 12; turn++)
            once(argv[i]);
    return 0;
}
