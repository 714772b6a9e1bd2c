/* One pair of functions for each further rule: bad_… is a defect that a passing run can
 * confirm, good_… its twin. The arguments name what is called, twelve times each. */
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
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
static double zero;
static const char *last;             /* argument: a word from outside */

/* snprintf: two texts that are long in different calls */
static void bad_print(void)
{
    snprintf(out, sizeof out, "%s-%s", turn % 2 ? words[2] : words[0],
             turn % 2 ? words[0] : words[2]);
}
static void good_print(void) { snprintf(out, sizeof out, "%s+%s", words[0], words[turn % 2]); }

/* the same two texts, in as much memory as they need */
static void fitted_print(void)
{
    const char *a = turn % 2 ? words[2] : words[0], *b = turn % 2 ? words[0] : words[1 + turn % 3 / 2];
    size_t n = strlen(a) + strlen(b) + 2;
    char *text = malloc(n);
    if (!text)
        exit(1);
    snprintf(text, n, "%s-%s", a, b);
    free(text);
}

/* Cut on purpose: the room is as long as the wanted part of the text. */
static void part_print(void)
{
    const char *from = words[2], *end = strchr(from, ' ');
    size_t n = (size_t)(end - from) + 1;
    char *text = malloc(n);
    if (!text)
        exit(1);
    snprintf(text, n, "%s", from);
    free(text);
}
static void first_print(void)
{
    char word[32];
    int n = (int)strcspn(words[2], " ") + 1;
    snprintf(word, n, "%s", words[2]);
    last = strchr(word, 'x') ? last : words[0];
}
static char *copy_print(const char *from, size_t n)
{
    char *text = malloc(n + 1);
    if (!text)
        exit(1);
    snprintf(text, n + 1, "%s", from);
    return text;
}
static char *bad_copy_print(const char *a, const char *b, size_t n)
{
    char *text = malloc(n);
    if (!text)
        exit(1);
    snprintf(text, n, "%s/%s", a, b);
    return text;
}

/* Cut by mistake: one byte is missing for the end, and the second room is what the first text left. */
static void bad_fitted_print(void)
{
    const char *from = words[1 + turn % 2];
    size_t n = strlen(from);
    char *text = malloc(n);
    if (!text)
        exit(1);
    snprintf(text, n, "%s", from);
    free(text);
}
static void bad_room_print(void)
{
    char text[12], *at = text;
    at += strlen(strcpy(at, words[1]));
    snprintf(at, text + sizeof text - at, "%s", words[2]);
    last = strchr(text, 'x') ? last : words[0];
}

/* Cut, which is asked for behind it; the twin asks for something else. */
static void asked_print(void)
{
    char text[12];
    snprintf(text, sizeof text, "%s/%s", words[1], words[2]);
    if (strlen(text) >= sizeof text - 1)
        return;
    last = strchr(text, 'x') ? last : words[0];
}
static void equal_print(void)
{
    char text[12];
    snprintf(text, sizeof text, "%s", words[2]);
    if (strcmp(text, words[2]))
        return;
    last = text[0] == 'x' ? last : words[0];
}
static void bad_asked_print(void)
{
    char text[12];
    snprintf(text, sizeof text, "%s/%s", words[1], words[2]);
    if (strlen(text) > 3)
        last = strchr(text, 'x') ? last : words[0];
}

/* Cut for a reader of messages; the twin is cut in what the program writes. */
static void told_print(void)
{
    char text[12];
    snprintf(text, sizeof text, "%s: %s", words[1], words[2]);
    fprintf(stderr, "%s\n", text);
}
static void bad_told_print(void)
{
    char text[12];
    snprintf(text, sizeof text, "%s: %s", words[1], words[2]);
    printf("%s\n", text);
}

/* one byte that nobody looks at, and one that is used */
static void wait_for_end(void)
{
    char c;
    int fd[2];
    if (pipe(fd) < 0)
        exit(1);
    close(fd[1]);
    read(fd[0], &c, 1);
    close(fd[0]);
}
static int use_nothing(void)
{
    char c = 0;
    int fd[2];
    if (pipe(fd) < 0)
        exit(1);
    close(fd[1]);
    read(fd[0], &c, 1);
    close(fd[0]);
    return c;
}

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

static void field_strncpy(struct name *n) { strncpy(n->text, "12345678", sizeof n->text); }

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

/* … and for a value that the parameter's field had elsewhere; a test in the caller keeps it away */
struct row {
    int used, length;
};
static void bad_way(int length)
{
    char *p = malloc(16);
    if (!p)
        return;
    p[0] = 1;
    if (length % 5 != 4)
        free(p);
}
static void open_way(int length)
{
    char *p = malloc(16);
    if (!p)
        return;
    p[0] = 1;
    if (length % 5 != 4)
        free(p);
}
static void end_way(int length)
{
    char *p = malloc(16);
    if (!p)
        return;
    p[0] = 1;
    if (length % 5 == 4)
        exit(1);
    free(p);
}
static void show_row(const struct row *r) { bad_way(r->length), end_way(r->length); }
static void meet_row(const struct row *r)
{
    if (r->length % 5 != 4)
        open_way(r->length);
}
static int width(const struct row *r) { return r->used + r->length; }

/* … after a function used it; a function that keeps it has it still */
static char *held;
static void use(char *p) { p[0] = 1; }
static void keep(char *p) { free(held), held = p; }
static void bad_held(int n)
{
    char *p = malloc(16);
    if (!p)
        return;
    use(p);
    if (n >= 0)
        free(p);
}
static void good_held(int n)
{
    char *p = malloc(16);
    if (!p)
        return;
    keep(p);
    if (n >= 0)
        use(p);
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
static const char *const names[] = { "ann", "bob", "eve" };
static int bad_null(const char *name) { return find_person(name)->age; }
static int good_null(void) { return find_person("ann")->age; }
static int checked(const char *name)
{
    struct person *p = find_person(name);
    return p ? p->age : 0;
}
static int sure_null(const char *name) { return find_person(name)->age; }
/* Callers guarantee what they pass: a name that stands in the code, a question that was answered. */
static int fixed_null(const char *name) { return find_person(name)->age; }
static int passed_null(const char *name) { return fixed_null(name); }
int open_null(const char *name) { return find_person(name)->age; }
int asks_openly(const char *name) { return find_person(name) ? open_null(name) : 0; }
static int asks_first(const char *name) { return find_person(name) ? sure_null(name) : 0; }

/* the kind says whether there is one; a program asks it, or not */
static struct person *kind_of(const char *name, int *kind)
{
    struct person *p = find_person(name);
    *kind = 0;
    if (!p)
        return NULL;
    *kind = 1 + (p->age > 30);
    return p;
}
static int good_kind(const char *name)
{
    int kind;
    struct person *p = kind_of(name, &kind);
    switch (kind) {
    case 1: return p->age;
    case 2: return -p->age;
    default: return 0;
    }
}
static int bad_kind(const char *name)
{
    int kind;
    struct person *p = kind_of(name, &kind);
    return turn % 2 ? kind : p->age;
}

/* used before the place gets the result, and after it */
static struct person *kept = people;
static int waiting = 1;
static int used_before(const char *name)
{
    for (int k = 0; k < waiting; k++)
        kept->age++;
    kept = find_person(name);
    waiting = 0;
    return waiting;
}
static int used_behind(const char *name)
{
    static struct person *found;
    found = find_person(name);
    return strcmp(name, "ann") ? 0 : found->age;
}

/* a case that falls into the next */
static int kind_of_turn, kind;
static void bad_fall(int k)
{
    switch (k) {
    case 0:
        kind = 1;
    case 1:
        kind = 2;
        break;
    default:
        kind = 3;
    }
}
/* What the first case sets decides whether it goes on. */
static void asked_fall(int k)
{
    switch (k) {
    case 0:
        kind = turn - turn % 2
            ? 4 : 0;
        if (kind != 0) {
            kind_of_turn = kind;
            break;
        }
    case 1:
        kind = 2;
        break;
    default:
        kind = 3;
    }
}
static void good_fall(int k)
{
    switch (k) {
    case 0:
        kind = 1;
        /* fall through */
    case 1:
        kind_of_turn = 2;
        break;
    case 2:
        kind = 4;
        break;
    default:
        kind = 3;
    }
    switch (k) {                     /* ends where the default would be */
    case 0:
        kind = 1;
        break;
    case 1:
        kind = 2;
        break;
    }
    kind = kind ? kind : 5;
}

/* commands with a word from outside */
static void bad_shell(const char *word)
{
    char command[64];
    snprintf(command, sizeof command, "true %s", word);
    if (system(command))
        exit(1);
}
static void good_shell(const char *word)
{
    char command[64];
    snprintf(command, sizeof command, "true %d", (int)strlen(word));
    if (system(command))
        exit(1);
}
static void quoted_shell(const char *word)
{
    char command[64];
    snprintf(command, sizeof command, "true '%s'", word);
    if (system(command))
        exit(1);
}
static void bad_sql(const char *word)
{
    char query[80];
    snprintf(query, sizeof query, "SELECT a FROM t WHERE b = '%s'", word);
    sqlite3_exec(NULL, query, NULL, NULL, NULL);
}
static void good_sql(const char *word)
{
    char query[80], twice[64];
    size_t n = 0;
    for (; *word && n < sizeof twice - 2; word++) {
        if (*word == '\'')
            twice[n++] = *word;
        twice[n++] = *word;
    }
    twice[n] = 0;
    snprintf(query, sizeof query, "SELECT a FROM t WHERE b = '%s'", twice);
    sqlite3_exec(NULL, query, NULL, NULL, NULL);
}

/* a part that is taken for the whole */
struct shape {
    int kind;
};
struct circle {
    struct shape shape;
    double radius;
};
static double bad_cast(struct shape *s) { return ((struct circle *)s)->radius; }
static double good_cast(struct shape *s) { return ((struct circle *)s)->radius; }
struct owner {
    double weight;
    struct shape member;
};
#define OWNER(p) ((struct owner *)((char *)(p) - offsetof(struct owner, member)))
static double bad_member(struct shape *s) { return OWNER(s)->weight; }
static double good_member(struct shape *s) { return OWNER(s)->weight; }

/* objects that are compared byte by byte */
struct gap {
    char a;
    int b;
};
static int bad_equal(const struct gap *x, const struct gap *y)
{
    return memcmp(x, y, sizeof *x) == 0;
}
static int good_equal(const struct gap *x, const struct gap *y)
{
    return memcmp(x, y, sizeof *x) == 0;
}
struct key {
    const char *text;
};
static int key_equal(const struct key *x, const struct key *y) { return !strcmp(x->text, y->text); }
static int bad_key(const struct key *x, const struct key *y)
{
    return memcmp(x, y, sizeof *x) == 0;
}

/* comparators: pairs are fine, three elements are not */
static int bad_three(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}
static int good_three(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* counts of fields, and of pieces */
static int bad_scan(const char *s)
{
    int a = 0, b = 0;
    sscanf(s, "%d %d", &a, &b);
    return a + b;
}
static int good_scan(const char *s)
{
    int a = 0, b = 0;
    sscanf(s, "%d %d", &a, &b);
    return a + b;
}
static int default_scan(const char *s)
{
    int size = 160;
    sscanf(s, "%d", &size);
    return size;
}
static int empty_scan(const char *s)
{
    char *word = malloc(8);
    *word = 0;
    sscanf(s, "(%7s)", word);
    int n = (int)strlen(word);
    free(word);
    return n;
}
static void bad_vprint(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(out, 8, format, ap);
    va_end(ap);
}
static void good_vprint(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(out, sizeof out, format, ap);
    va_end(ap);
}
static void bad_vector(int fd)
{
    char a[4], b[8];
    struct iovec v[] = { { a, sizeof a }, { b, sizeof b } };
    readv(fd, v, 2);
}
static void good_vector(int fd)
{
    char a[4];
    struct iovec v[] = { { a, sizeof a } };
    readv(fd, v, 1);
}

/* free twice, on one path */
static void bad_double(int n)
{
    char *p = malloc(16);
    if (n > 5)
        free(p);
    if (n > 8)
        exit(1);
    free(p);
}
static void good_double(int n)
{
    char *p = malloc(16);
    if (n > 50)
        free(p);
    free(p);
}

/* a write that may fail */
static int bad_space(void)
{
    FILE *f = tmpfile();
    char text[4] = "abc";
    write(fileno(f), text, sizeof text);
    int lost = lseek(fileno(f), 0, SEEK_CUR) != sizeof text;
    fclose(f);
    return lost;
}

/* A pipe has no disk that may be full. */
static void good_space(void)
{
    int fds[2];
    if (pipe(fds))
        exit(1);
    write(fds[1], "abc", 4);
    close(fds[0]), close(fds[1]);
}

/* a stream that can't be written; it remembers that, and one caller asks */
static FILE *full(void)
{
    FILE *f = fopen("/dev/full", "w");
    setvbuf(f, NULL, _IONBF, 0);
    return f;
}

static void bad_full(void)
{
    FILE *f = full();
    fwrite("abcd", 1, 4, f);
    fclose(f);
}

/* fwrite of one element, which may have no size */
static void good_empty(const char *s, FILE *f) { fwrite(s, strlen(s), 1, f); }

static void put_full(FILE *f) { fwrite("abcd", 1, 4, f); }

static int good_full(void)
{
    FILE *f = full();
    put_full(f);
    int lost = ferror(f);
    fclose(f);
    return lost;
}

/* A regular file can seek always: only one that is none tells something. */
static void bad_seek(void)
{
    FILE *f = popen("echo abc", "r");
    fseek(f, 1, SEEK_SET);
    pclose(f);
}

static void open_seek(const char *path)
{
    FILE *f = fopen(path, "r");
    fseek(f, 0, SEEK_END);
    fclose(f);
}

static void good_seek(void)
{
    FILE *f = tmpfile();
    fseek(f, 0, SEEK_SET);
    fclose(f);
}

/* Only without memory they fail, and tests have memory. Their twins end the program then. */
struct store { char *text; size_t size; };
static int grow(struct store *s, size_t n)
{
    if (n <= s->size)
        return 0;
    char *t = realloc(s->text, n);
    if (!t)
        return -1;
    s->text = t;
    s->size = n;
    return 0;
}
static int put_text(struct store *s, const char *text)
{
    if (grow(s, strlen(text) + 1) < 0)
        return -1;
    strcpy(s->text, text);
    return 1;
}
static void open_put(struct store *s) { put_text(s, names[turn % 3]); }
static struct store *new_store(void)
{
    struct store *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->text = malloc(8);
    if (s->text == NULL) {
        free(s);
        return NULL;
    }
    return s;
}
static struct store *open_new(void)
{
    struct store *s = new_store();
    s->size = 8;
    return s;
}
static void *must(void *p)
{
    if (!p)
        exit(1);
    return p;
}
static int set_text(struct store *s, const char *text)
{
    if (strlen(text) > 1000)
        return -1;
    s->text = must(realloc(s->text, s->size = strlen(text) + 8));
    strcpy(s->text, text);
    return 1;
}
static void good_set(struct store *s) { set_text(s, names[turn % 3]); }
static struct store *named_store(const char *name)
{
    if (!*name)
        return NULL;
    struct store *s = must(calloc(1, sizeof *s));
    s->text = must(strdup(name));
    return s;
}
static struct store *good_new(const char *name)
{
    struct store *s = named_store(name);
    s->size = strlen(name) + 1;
    return s;
}
static void stores(void)
{
    struct store *a = open_new(), *b = good_new(names[turn % 3]);
    open_put(a), good_set(b);
    if (put_text(a, "abc") < 0 || set_text(b, "abc") < 0)
        exit(1);
    free(a->text), free(a), free(b->text), free(b);
}

/* An error that is told through another parameter, too. */
static int place_of(const char *name, int *at)
{
    *at = -1;
    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], name) == 0)
            *at = i;
    return *at < 0 ? -1 : 0;
}
static const char *bad_place(const char *name)
{
    int at = 0;
    place_of(name, &at);
    return names[at];
}
static const char *told_place(const char *name)
{
    int at = 0;
    place_of(name, &at);
    if (at >= 0)
        return names[at];
    return "";
}
static void places(void)
{
    int at;
    if (place_of("nobody", &at) == 0 || place_of(names[1], &at) < 0)
        exit(1);
    if (!*bad_place(names[0]) || *told_place("nobody"))
        exit(1);
}

/* a sum that is compared with its part; in the twin the part has changed */
static int bad_sum(struct store *s, int n) { return *(int *)s->text + n < *(int *)s->text; }
static void step_on(int *n) { *n += turn; }
static int larger_sum(int limit, int base)
{
    limit += base;
    return limit > base;
}
static int changed_sum(struct store *s)
{
    int before = --*(int *)s->text;
    step_on((int *)s->text);
    return *(int *)s->text > before;
}
static void sums(void)
{
    int n[2] = { 3, 4 };
    struct store s = { (char *)n, sizeof n };
    if (bad_sum(&s, turn) || changed_sum(&s) || larger_sum(-1, turn))
        n[1]++;
}

/* Folders that are there in each test. */
static void open_folder(const char *path) { chdir(path); }
static void good_folder(void) { chdir("."); }

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
    if (IS("fitted_print")) fitted_print();
    if (IS("cuts")) {
        part_print(), first_print(), free(copy_print(words[2], 3)), bad_fitted_print(),
            free(bad_copy_print(words[1], words[2], 9)), bad_room_print();
        asked_print(), equal_print(), bad_asked_print(), told_print(), bad_told_print();
    }
    if (IS("wait_for_end")) wait_for_end();
    if (IS("use_nothing")) use_nothing();
    if (IS("bad_number")) bad_number("12x");
    if (IS("good_number")) good_number(turn % 2 ? "12" : "12 \"x\"");
    if (IS("good_empty")) good_empty(turn % 2 ? "ab" : "", stderr);
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
    if (IS("field_strncpy")) field_strncpy(&n);
    if (IS("bad_stale")) {
        bad_stale(&p);
        if (p.name)                  /* loaded, not used */
            p.name = NULL;
    }
    if (IS("good_stale")) good_stale(&p);
    if (IS("bad_leak")) bad_leak(turn % 2 ? -1 : 1);
    if (IS("good_leak")) good_leak(turn % 2 ? -1 : 1);
    if (IS("ways")) {
        struct row longer = { 1, 10 }, other = { 1, 14 };
        show_row(&longer), meet_row(&longer), meet_row(&other);
        bad_held(turn % 2 ? -1 : 1), good_held(turn % 2 ? -1 : 1);
        out[0] = (char)(width(&longer) + width(&other));
    }
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
        bad_null(names[turn % 2]);
        good_null();
        passed_null(turn % 2 ? "ann" : "bob");
        asks_openly(names[turn % 3]), asks_openly(names[turn % 2]);
        checked(turn == 3 ? "eve" : "ann");
        used_before(turn % 2 ? "eve" : "ann");
        used_behind(turn % 2 ? "eve" : "ann");
        good_kind(turn % 2 ? "eve" : "ann"), bad_kind(turn % 2 ? "eve" : "ann");
        asks_first(turn % 3 ? "bob" : "ann");
    }
    if (IS("falls")) bad_fall(turn % 3), asked_fall(turn % 3), good_fall(turn % 3);
    if (IS("outside")) bad_shell(last), good_shell(last), quoted_shell(last);
    if (IS("sql")) bad_sql(last), good_sql(last);
    if (IS("casts")) {
        struct shape *small = calloc(1, sizeof *small);
        struct circle *circle = calloc(1, sizeof *circle);
        struct owner *owner = calloc(1, sizeof *owner);
        if (!small || !circle || !owner)
            exit(1);
        /* Aligned memory is larger than what was asked for: nothing is read behind it. */
        bad_cast(small), good_cast(&circle->shape);
        bad_member(small), good_member(&owner->member);
        free(small), free(circle), free(owner);
    }
    if (IS("bytes")) {
        struct gap x, y;
        memset(&x, 0, sizeof x), memset(&y, 1, sizeof y);
        y.a = x.a, y.b = x.b;
        bad_equal(&x, &y);
        memset(&y, 0, sizeof y);
        y.b = turn % 2;
        good_equal(&x, &y);
        char same[] = "same";
        struct key k = { "same" }, m = { same };
        if (!bad_key(&k, &m) && !key_equal(&k, &m))
            exit(1);
    }
    if (IS("threes")) {
        double bad[] = { 3, 0.0 / zero, 1, 2, 5, 4 }, good[] = { 3, 6, 1, 2, 5, 4 };
        qsort(bad, 6, sizeof *bad, bad_three);
        qsort(good, 6, sizeof *good, good_three);
    }
    if (IS("counts")) {
        int pipes[2];
        FILE *file = tmpfile();
        bad_scan("1"), good_scan("1 2"), default_scan("x"), empty_scan("x");
        bad_vprint("%s", "longer than eight"), good_vprint("%s", "short");
        if (!file || pipe(pipes) || write(pipes[1], "1234", 4) != 4 ||
            pwrite(fileno(file), "1234", 4, 0) != 4)
            exit(1);
        bad_vector(pipes[0]), good_vector(fileno(file));
        close(pipes[0]), close(pipes[1]), fclose(file);
    }
    if (IS("double")) good_double(turn), bad_double(turn);
    if (IS("seek")) bad_seek(), open_seek("/etc/passwd"), good_seek(), open_folder(turn % 2 ? "." : "./"), good_folder();
    if (IS("stores")) stores(), sums(), places();
    if (IS("full")) bad_full(), good_full();
    if (IS("space")) good_space();
    if (IS("space") && bad_space()) exit(1);
    free(p.name);
    free(one);
    free(b);
}

int main(int argc, char **argv)
{
    last = argv[argc - 1];
    for (int i = 1; i < argc; i++)
        for (turn = 0; turn < 12; turn++)
            once(argv[i]);
    return 0;
}
