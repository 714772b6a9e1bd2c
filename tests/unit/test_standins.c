/* Every standin against the real function, on random and on boundary inputs: the
 * runtime here says that all of a registered buffer has labels, so that the standins'
 * own code runs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/concolic/concolic.h"
#include "runtime/input/input.h"
#include "runtime/standins/list.h"
#include "runtime/concolic/sources.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- a small runtime */

volatile uint8_t sundew_alive;
static int values;                     /* single values have labels, too */
static struct {
    const char *at;
    size_t n;
} marked[4];
static unsigned notes, read_calls, write_calls;

int sundew_is_symbolic(const void *at, uint64_t n)
{
    const char *p = at;
    for (size_t i = 0; i < 4; i++)
        if (p < marked[i].at + marked[i].n && marked[i].at < p + n)
            return 1;
    return values && (n == 4 || n == 8);
}

void sundew_note(unsigned why, const char *name)
{
    (void)why, (void)name;
    notes++;
}

void sundew_pin(const void *at, uint64_t n, unsigned why) { (void)at, (void)n, (void)why; }

void sundew_number(const void *value, const char *text, uint64_t n, unsigned kind, unsigned base)
{
    (void)value, (void)text, (void)n, (void)kind, (void)base;
}

void sundew_format(const char *format) { (void)format; }

void sundew_forget(const void *at, uint64_t n) { (void)at, (void)n; }

void sundew_math(void *result, const void *a, const void *b, unsigned which, unsigned bits)
{
    (void)result, (void)a, (void)b, (void)which, (void)bits;
}

void sundew_was_read(int fd, void *to, uint64_t n, int64_t offset)
{
    (void)fd, (void)to, (void)n, (void)offset;
    read_calls++;
}

void sundew_was_written(int fd, const void *from, uint64_t n, int64_t offset)
{
    (void)fd, (void)from, (void)n, (void)offset;
    write_calls++;
}

int sundew_will_write(int fd, const void *from, uint64_t n)
{
    (void)fd, (void)from, (void)n;
    return 0;
}

void sundew_was_not_written(int fd, uint64_t n) { (void)fd, (void)n; }

static unsigned pairs;

void sundew_was_paired(int a, int b)
{
    (void)a, (void)b;
    pairs++;
}

int sundew_reads_labels(FILE *f) { return f != NULL; }

int sundew_keeps_labels(FILE *f) { return f != NULL; }

int64_t sundew_place(FILE *f) { return ftello(f); }

void sundew_was_read_at(FILE *f, int64_t place, void *to, uint64_t n)
{
    (void)f, (void)place, (void)to, (void)n;
    read_calls++;
}

void sundew_was_written_at(FILE *f, int64_t place, const void *from, uint64_t n)
{
    (void)f, (void)place, (void)from, (void)n;
    write_calls++;
}

void sundew_was_mapped(int fd, void *at, uint64_t n, int64_t offset)
{
    (void)fd, (void)at, (void)n, (void)offset;
    read_calls++;
}

void sundew_was_moved(FILE *f) { (void)f; }

void sundew_ask(void *to, size_t n) { memset(to, 7, n); }

_Noreturn void sundew_refuse(void) { abort(); }

/* ---- helpers */

static uint64_t seed = 88172645463325252u;

static uint32_t random32(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 16);
}

enum { ROOM = 200, TURNS = 20000 };

static void mark(unsigned i, const void *at, size_t n)
{
    marked[i].at = at;
    marked[i].n = n;
}

/* A string of at most `most` characters of an alphabet. */
static void fill(char *to, size_t most, const char *alphabet)
{
    size_t n = random32() % (most + 1), k = strlen(alphabet);
    for (size_t i = 0; i < n; i++)
        to[i] = alphabet[random32() % k];
    to[n] = 0;
}

static int sign(int v) { return (v > 0) - (v < 0); }

static const char letters[] = "abAB";

/* Both with and without anything alive. */
static int start(void **state)
{
    (void)state;
    memset(marked, 0, sizeof marked);
    values = 0;
    sundew_alive = 1;
    return 0;
}

/* ---- strings */

static void lengths_and_comparisons(void **state)
{
    (void)state;
    char a[ROOM], b[ROOM];
    mark(0, a, sizeof a);
    for (int i = 0; i < TURNS; i++) {
        size_t most = i % 3 ? 6 : 120, n = random32() % 10;
        memset(a, 'x', sizeof a);
        fill(a, most, letters);
        fill(b, most, letters);
        if (i % 2)
            strcpy(b, a);
        if (i % 5 == 0)
            b[0] = (char)random32();
        sundew_alive = i % 7 != 0;
        mark(1, b, i % 3 ? 0 : sizeof b);
        assert_int_equal(sundew_standin_strlen(a), strlen(a));
        assert_int_equal(sundew_standin_strnlen(a, n), strnlen(a, n));
        assert_int_equal(sundew_standin_strcmp(a, b), strcmp(a, b));
        assert_int_equal(sundew_standin_strcmp(b, a), strcmp(b, a));
        assert_int_equal(sundew_standin_strncmp(a, b, n), strncmp(a, b, n));
        assert_int_equal(sundew_standin_strcasecmp(a, b), strcasecmp(a, b));
        assert_int_equal(sundew_standin_strncasecmp(b, a, n), strncasecmp(b, a, n));
        assert_int_equal(sign(sundew_standin_strcoll(a, b)), sign(strcoll(a, b)));
        assert_int_equal(sign(sundew_standin_memcmp(a, b, n)), sign(memcmp(a, b, n)));
        assert_int_equal(sign(sundew_standin_memcmp(a, b, 90)), sign(memcmp(a, b, 90)));
    }
}

/* A buffer that ends where memory does: nothing behind the end is read. */
static void ends_of_memory(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(two != MAP_FAILED);
    assert_int_equal(mprotect(two + page, page, PROT_NONE), 0);
    for (size_t n = 0; n < 80; n++) {
        char *s = two + page - n - 1;
        memset(s, '1', n);
        s[n] = 0;
        mark(0, s, n + 1);
        assert_int_equal(sundew_standin_strlen(s), n);
        assert_int_equal(sundew_standin_strnlen(s + 1, n), strnlen(s + 1, n ? n : 0));
        assert_int_equal(sundew_standin_strcmp(s, "111"), strcmp(s, "111"));
        assert_int_equal(sundew_standin_strcmp("1111111111111111", s),
                         strcmp("1111111111111111", s));
        assert_int_equal(sundew_standin_strcasecmp(s, "1111A"), strcasecmp(s, "1111A"));
        assert_int_equal(sundew_standin_atoi(s), atoi(s));
        assert_ptr_equal(sundew_standin_strstr(s, "11112"), NULL);
        double d = sundew_standin_strtod(s, NULL);
        assert_true(d == strtod(s, NULL));
    }
    munmap(two, 2 * page);
}

#pragma GCC diagnostic push
#if !defined __clang__
#pragma GCC diagnostic ignored "-Wstringop-truncation"
#endif
static void copies(void **state)
{
    (void)state;
    char a[ROOM], to[2][2 * ROOM];
    mark(0, a, sizeof a);
    for (int i = 0; i < TURNS; i++) {
        size_t n = random32() % 20;
        memset(to, '.', sizeof to);
        fill(a, i % 3 ? 12 : 100, letters);
        fill(to[0], 10, letters);
        strcpy(to[1], to[0]);
        mark(1, to[0], i % 2 ? sizeof to[0] : 0);
        char *standin = to[0], *real = to[1];
        switch (i % 8) {
        case 0:
            assert_ptr_equal(sundew_standin_strcpy(standin, a), standin);
            strcpy(real, a);
            break;
        case 1:
            assert_int_equal(sundew_standin_stpcpy(standin, a) - standin, stpcpy(real, a) - real);
            break;
        case 2:
            assert_ptr_equal(sundew_standin_strncpy(standin, a, n), standin);
            strncpy(real, a, n);
            break;
        case 3:
            assert_int_equal(sundew_standin_stpncpy(standin, a, n) - standin,
                             stpncpy(real, a, n) - real);
            break;
        case 4:
            assert_ptr_equal(sundew_standin_strcat(standin, a), standin);
            strcat(real, a);
            break;
        case 5:
            assert_ptr_equal(sundew_standin_strncat(standin, a, n), standin);
            strncat(real, a, n);
            break;
        case 6: {
            char *p = sundew_standin_memccpy(standin, a, 'b', n), *q = memccpy(real, a, 'b', n);
            assert_int_equal(p ? p - standin : -1, q ? q - real : -1);
            break;
        }
        default: {
            char *p = sundew_standin_strdup(a), *q = sundew_standin_strndup(a, n),
                 *r = strndup(a, n);
            assert_string_equal(p, a);
            assert_string_equal(q, r);
            free(p);
            free(q);
            free(r);
            size_t k = sundew_standin_strlcpy(standin, a, n);
            assert_int_equal(k, strlen(a));
            if (n) {
                assert_memory_equal(standin, a, k < n ? k : n - 1);
                assert_int_equal(standin[k < n ? k : n - 1], 0);
            }
            memcpy(real, standin, sizeof to[0]);
        }
        }
        assert_memory_equal(standin, real, sizeof to[0]);
    }
}

#pragma GCC diagnostic pop

static void searches(void **state)
{
    (void)state;
    char a[ROOM], set[ROOM], copy[2][ROOM];
    mark(0, a, sizeof a);
    for (int i = 0; i < TURNS; i++) {
        fill(a, i % 3 ? 8 : 80, "abcAB");
        fill(set, 3, "abcAB");
        size_t n = strlen(a), k = strlen(set);
        int c = i % 11 ? set[0] : 0;
        values = i % 2;
        assert_ptr_equal(sundew_standin_strchr(a, c), strchr(a, c));
        assert_ptr_equal(sundew_standin_strchr(a, c + 256), strchr(a, c + 256));
        static const char digits[] = "0123abca\x80z";
        values = 1;                    /* the character has a label, the text has none */
        assert_ptr_equal(sundew_standin_strchr(digits, c), strchr(digits, c));
        values = 0;
        assert_ptr_equal(sundew_standin_strrchr(a, c), strrchr(a, c));
        assert_ptr_equal(sundew_standin_strchrnul(a, c), strchrnul(a, c));
        assert_ptr_equal(sundew_standin_memchr(a, c, n), memchr(a, c, n));
        assert_ptr_equal(sundew_standin_memrchr(a, c, n), memrchr(a, c, n));
        assert_ptr_equal(sundew_standin_rawmemchr(a, 0), rawmemchr(a, 0));
        assert_int_equal(sundew_standin_strspn(a, set), strspn(a, set));
        assert_int_equal(sundew_standin_strcspn(a, set), strcspn(a, set));
        assert_ptr_equal(sundew_standin_strpbrk(a, set), strpbrk(a, set));
        assert_ptr_equal(sundew_standin_strstr(a, set), strstr(a, set));
        assert_ptr_equal(sundew_standin_strcasestr(a, set), strcasestr(a, set));
        assert_ptr_equal(sundew_standin_memmem(a, n, set, k), memmem(a, n, set, k));
        strcpy(copy[0], a);
        strcpy(copy[1], a);
        char *p = sundew_standin_strtok(copy[0], set), *q = strtok(copy[1], set);
        for (; p && q; p = sundew_standin_strtok(NULL, set), q = strtok(NULL, set)) {
            assert_string_equal(p, q);
            assert_int_equal(p - copy[0], q - copy[1]);
        }
        assert_true(!p && !q);
        strcpy(copy[0], a);
        strcpy(copy[1], a);
        char *s = copy[0], *t = copy[1];
        while ((q = strsep(&t, set)))
            assert_string_equal(sundew_standin_strsep(&s, set), q);
        assert_null(sundew_standin_strsep(&s, set));
        assert_memory_equal(copy[0], copy[1], n);
    }
}

static void memory(void **state)
{
    (void)state;
    char a[64], b[64];
    for (int i = 0; i < 2000; i++) {
        for (size_t k = 0; k < sizeof a; k++)
            a[k] = b[k] = (char)random32();
        size_t n = random32() % 20, from = random32() % 20, to = random32() % 20;
        sundew_standin_memmove(a + to, a + from, n);
        memmove(b + to, b + from, n);
        sundew_standin_memset(a + 30, (int)n, n);
        memset(b + 30, (int)n, n);
        assert_ptr_equal(sundew_standin_mempcpy(a + 40, a, n), a + 40 + n);
        memcpy(b + 40, b, n);
        sundew_standin_bcopy(a + 1, a, n);
        bcopy(b + 1, b, n);
        sundew_standin_bzero(a + 60, 3);
        memset(b + 60, 0, 3);
        assert_ptr_equal(sundew_standin_memcpy(a + 50, a + 3, 4), a + 50);
        memcpy(b + 50, b + 3, 4);
        sundew_standin_swab(a, a + 20, (ssize_t)n);
        swab(b, b + 20, (ssize_t)n);
        assert_memory_equal(a, b, sizeof a);
        uint32_t v = random32();
        assert_int_equal(sundew_standin_htonl(v), htonl(v));
        assert_int_equal(sundew_standin_htons((uint16_t)v), htons((uint16_t)v));
    }
}

static void wide(void **state)
{
    (void)state;
    wchar_t a[40], b[40], c[80], d[80];
    for (int i = 0; i < 2000; i++) {
        size_t na = random32() % 8, nb = random32() % 8, n = random32() % 8;
        for (size_t k = 0; k < 40; k++) {
            a[k] = (wchar_t)(L'a' + random32() % 2);
            b[k] = i % 2 ? a[k] : (wchar_t)(L'a' + random32() % 2);
        }
        a[na] = b[nb] = 0;
        assert_int_equal(sundew_standin_wcslen(a), wcslen(a));
        assert_int_equal(sundew_standin_wcsnlen(a, n), wcsnlen(a, n));
        assert_int_equal(sign(sundew_standin_wcscmp(a, b)), sign(wcscmp(a, b)));
        assert_int_equal(sign(sundew_standin_wcsncmp(a, b, n)), sign(wcsncmp(a, b, n)));
        assert_int_equal(sign(sundew_standin_wmemcmp(a, b, n)), sign(wmemcmp(a, b, n)));
        assert_ptr_equal(sundew_standin_wcschr(a, L'b'), wcschr(a, L'b'));
        assert_ptr_equal(sundew_standin_wcsrchr(a, L'b'), wcsrchr(a, L'b'));
        wmemset(c, L'.', 80);
        sundew_standin_wmemset(d, L'.', 80);
        wcscat(wcscpy(c, a), b);
        sundew_standin_wcscat(sundew_standin_wcscpy(d, a), b);
        assert_memory_equal(c, d, sizeof c);
        wcsncpy(c, a, n);
        sundew_standin_wcsncpy(d, a, n);
        assert_memory_equal(c, d, sizeof c);
        wmemcpy(c + 2, a, n);
        sundew_standin_wmemcpy(d + 2, a, n);
        wmemmove(c + 3, c + 2, n);
        sundew_standin_wmemmove(d + 3, d + 2, n);
        assert_memory_equal(c, d, sizeof c);
    }
}

/* ---- characters */

static void characters(void **state)
{
    (void)state;
    static const struct {
        int (*standin)(int), (*real)(int);
    } all[] = {
        { sundew_standin_isalpha, isalpha },   { sundew_standin_isdigit, isdigit },
        { sundew_standin_isalnum, isalnum },   { sundew_standin_isspace, isspace },
        { sundew_standin_isupper, isupper },   { sundew_standin_islower, islower },
        { sundew_standin_isxdigit, isxdigit }, { sundew_standin_isprint, isprint },
        { sundew_standin_isgraph, isgraph },   { sundew_standin_ispunct, ispunct },
        { sundew_standin_iscntrl, iscntrl },   { sundew_standin_isblank, isblank },
        { sundew_standin_isascii, isascii },   { sundew_standin_toascii, toascii },
        { sundew_standin_tolower, tolower },   { sundew_standin_toupper, toupper },
    };
    for (values = 0; values < 2; values++)
        for (int c = -128; c < 256; c++) {
            for (size_t i = 0; i < sizeof all / sizeof *all; i++)
                if (c >= -1 || i < 12)
                    assert_int_equal(all[i].standin(c), all[i].real(c));
            assert_int_equal((*sundew_standin___ctype_b_loc())[c], (*__ctype_b_loc())[c]);
            assert_int_equal((*sundew_standin___ctype_tolower_loc())[c],
                             (*__ctype_tolower_loc())[c]);
            assert_int_equal((*sundew_standin___ctype_toupper_loc())[c],
                             (*__ctype_toupper_loc())[c]);
        }
}

/* ---- numbers */

static void check_integers(const char *s, int base)
{
    char *standin_end = NULL, *real_end = NULL;
    errno = 0;
    long long want = strtol(s, &real_end, base);
    int real_errno = errno;
    errno = 0;
    assert_int_equal(sundew_standin_strtol(s, &standin_end, base), want);
    assert_int_equal(errno, real_errno);
    if (base != 1)
        assert_ptr_equal(standin_end, real_end);
    errno = 0;
    assert_int_equal(sundew_standin_strtoll(s, NULL, base), want);
    assert_int_equal(errno, real_errno);
    errno = 0;
    unsigned long long u = strtoul(s, &real_end, base);
    real_errno = errno;
    errno = 0;
    assert_true(sundew_standin_strtoul(s, &standin_end, base) == u);
    assert_int_equal(errno, real_errno);
    if (base != 1)
        assert_ptr_equal(standin_end, real_end);
    errno = 0;
    assert_true(sundew_standin_strtoull(s, NULL, base) == u);
    assert_int_equal(errno, real_errno);
    assert_int_equal(sundew_standin_atoi(s), atoi(s));
    assert_int_equal(sundew_standin_atol(s), atol(s));
    assert_int_equal(sundew_standin_atoll(s), atoll(s));
}

static void integers(void **state)
{
    (void)state;
    static const char *const special[] = {
        "",
        " ",
        "-",
        "+",
        "0",
        "-0",
        "0x",
        "0x1",
        "0xg",
        "-0x7f",
        "08",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
        "18446744073709551616",
        "-18446744073709551615",
        "-18446744073709551616",
        "99999999999999999999999999999",
        "2147483648",
        "-2147483649",
        " \t\n\v\f\r12",
        "+-1",
        "1 2",
        "000000000000000000000000000000017",
        "zzzzzzzzzzzzzz",
        "1y2p0ij32e8e7",
        "1y2p0ij32e8e8",
        "3w5e11264sgsf",
        "3w5e11264sgsg",
        "7fffffffffffffff",
        "ffffffffffffffff",
        "10000000000000000",
        "1777777777777777777777",
        "123456789012345678",
        "1234567890123456789",
        "0b101",
    };
    char a[ROOM];
    mark(0, a, sizeof a);
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        for (int base = -1; base < 38; base++) {
            memset(a, 0, sizeof a);
            strcpy(a, special[i]);
            check_integers(a, base);
        }
    for (int i = 0; i < TURNS; i++) {
        memset(a, "09x"[random32() % 3], 40);
        fill(a, i % 3 ? 8 : 30, i % 2 ? "0123456789" : " +-0179axXz");
        check_integers(a, (int[]){ 0, 10, 16, 8, 2, 36 }[random32() % 6]);
    }
    int edges[] = { 0, 1, -1, INT_MAX, INT_MIN + 1, 77, -77 };
    for (size_t i = 0; i < 7; i++) {
        int v = edges[i];
        assert_int_equal(sundew_standin_abs(v), abs(v));
        assert_int_equal(sundew_standin_labs(v), labs(v));
        assert_int_equal(sundew_standin_llabs(v), llabs(v));
        assert_int_equal(sundew_standin_ffs(v), ffs(v));
        assert_int_equal(sundew_standin_div(v, 7).quot, div(v, 7).quot);
        assert_int_equal(sundew_standin_div(v, -7).rem, div(v, -7).rem);
        assert_int_equal(sundew_standin_ldiv(v, 7).rem, ldiv(v, 7).rem);
    }
}

static uint64_t image(double v)
{
    uint64_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

static void check_float(const char *s)
{
    char *standin_end, *real_end;
    errno = 0;
    double want = strtod(s, &real_end);
    int real_errno = errno;
    errno = 0;
    double got = sundew_standin_strtod(s, &standin_end);
    assert_int_equal(errno, real_errno);
    assert_ptr_equal(standin_end, real_end);
    assert_true(image(got) == image(want));
    assert_true(image(sundew_standin_atof(s)) == image(want));
    errno = 0;
    float f = strtof(s, &real_end);
    real_errno = errno;
    errno = 0;
    float g = sundew_standin_strtof(s, &standin_end);
    assert_int_equal(errno, real_errno);
    assert_ptr_equal(standin_end, real_end);
    assert_memory_equal(&f, &g, sizeof f);
}

static void floats(void **state)
{
    (void)state;
    static const char *const special[] = {
        "",
        ".",
        "-.",
        "1.",
        ".5",
        "-.5e1",
        "1e",
        "1e+",
        "1e5",
        "1E-5",
        "1e400",
        "1e-400",
        "inf",
        "-Infinity",
        "nan",
        "nan(12)",
        "0x1p3",
        "0x",
        "0x.8",
        "1.7976931348623157e308",
        "e5",
        "123456789012345",
        "1234567890123456",
        "0.000000000000000000001",
        "000000000000000000001",
        "5e-324",
        "1e22",
        "1e23",
        "9007199254740993",
        "0.1",
        "3.14159265358979",
        "-0",
        "-0.0e9",
        "3.4028235e38",
        "3.4028236e38",
        "1e-46",
        " 12.5x",
        "1..2",
        "+.e1",
        "1e99999999999999",
    };
    char a[ROOM];
    mark(0, a, sizeof a);
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        strcpy(a, special[i]);
        check_float(a);
    }
    notes = 0;
    for (int i = 0; i < TURNS; i++) {
        fill(a, i % 3 ? 10 : 25, i % 2 ? "0123456789." : "0123456789.e+-");
        check_float(a);
    }
    assert_true(notes > 0);            /* some are left to the real one, and that is said */
}

static void random_numbers(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        unsigned s = i < 3 ? (unsigned)i : i < 6 ? UINT_MAX - (unsigned)i : random32();
        values = 1;
        sundew_standin_srand(s);
        int got[400];
        for (int k = 0; k < 400; k++)
            got[k] = k % 2 ? sundew_standin_rand() : (int)sundew_standin_random();
        srand(s);
        for (int k = 0; k < 400; k++)
            assert_int_equal(got[k], rand());
        unsigned a = s, b = s;
        assert_int_equal(sundew_standin_rand_r(&a), rand_r(&b));
        assert_int_equal(a, b);
        values = 0;                    /* the real one goes on */
        sundew_standin_srandom(s);
        int r = sundew_standin_rand();
        srandom(s);
        assert_int_equal(r, random());
    }
}

static bool same_float(double a, double b)
{
    return a == b ? signbit(a) == signbit(b) : a != a && b != b;
}

/* Functions that take a number apart; as if it had a label, and without one. */
static void compare_parts(double a)
{
    static const int powers[] = { 0, 3, -3, 900, -1000, 2000, -2000 };
    for (values = 0; values < 2; values++) {
        int e = 7, want_e = 7;
        double whole = 7, want_whole = 7;
        assert_true(same_float(sundew_standin_frexp(a, &e), frexp(a, &want_e)));
        assert_true(e == want_e || a != a || isinf(a));
        assert_true(same_float(sundew_standin_modf(a, &whole), modf(a, &want_whole)));
        assert_true(same_float(whole, want_whole));
        for (size_t i = 0; i < sizeof powers / sizeof *powers; i++)
            assert_true(same_float(sundew_standin_ldexp(a, powers[i]), ldexp(a, powers[i])));
    }
    values = 0;
}

static void maths(void **state)
{
    (void)state;
    /* clang-format off */
    static const struct {
        double (*standin)(double), (*real)(double);
    } one[] = {
        { sundew_standin_sin, sin },     { sundew_standin_cos, cos },     { sundew_standin_tan, tan },
        { sundew_standin_asin, asin },   { sundew_standin_acos, acos },   { sundew_standin_atan, atan },
        { sundew_standin_sinh, sinh },   { sundew_standin_cosh, cosh },   { sundew_standin_tanh, tanh },
        { sundew_standin_exp, exp },     { sundew_standin_exp2, exp2 },   { sundew_standin_log, log },
        { sundew_standin_log2, log2 },   { sundew_standin_log10, log10 }, { sundew_standin_cbrt, cbrt },
        { sundew_standin_sqrt, sqrt },   { sundew_standin_fabs, fabs },   { sundew_standin_floor, floor },
        { sundew_standin_ceil, ceil },   { sundew_standin_trunc, trunc }, { sundew_standin_round, round },
        { sundew_standin_rint, rint },   { sundew_standin_nearbyint, nearbyint },
    };
    /* clang-format on */
    static const struct {
        float (*standin)(float), (*real)(float);
    } small[] = {
        { sundew_standin_sinf, sinf },     { sundew_standin_cosf, cosf },
        { sundew_standin_tanf, tanf },     { sundew_standin_expf, expf },
        { sundew_standin_logf, logf },     { sundew_standin_log2f, log2f },
        { sundew_standin_log10f, log10f }, { sundew_standin_sqrtf, sqrtf },
        { sundew_standin_fabsf, fabsf },   { sundew_standin_floorf, floorf },
        { sundew_standin_ceilf, ceilf },   { sundew_standin_roundf, roundf },
    };
    static const double edges[] = { 0,     -0.0,   1,      -1,       0.5,       2.5, -2.5,
                                    1e300, -1e300, 1e-310, INFINITY, -INFINITY, NAN, 1e9 };
    for (int i = 0; i < 500; i++) {
        double a = i < 14 ? edges[i] : (double)(int32_t)random32() / 7e6;
        double b = i < 14 ? edges[13 - i] : (double)(int32_t)random32() / 7e8;
        for (size_t k = 0; k < sizeof one / sizeof *one; k++) {
            errno = 0;
            double want = one[k].real(a);
            int e = errno;
            errno = 0;
            double got = one[k].standin(a);
            assert_int_equal(errno, e);
            assert_true(got == want || (got != got && want != want));
            assert_true(got != got || signbit(got) == signbit(want));
        }
        for (size_t k = 0; k < sizeof small / sizeof *small; k++) {
            float got = small[k].standin((float)a), want = small[k].real((float)a);
            assert_true(got == want || (got != got && want != want));
        }
        double got[] = { sundew_standin_pow(a, b),           sundew_standin_atan2(a, b),
                         sundew_standin_hypot(a, b),         sundew_standin_fmin(a, b),
                         sundew_standin_fmax(a, b),          sundew_standin_powf((float)a, 2),
                         sundew_standin_atan2f((float)a, 2), sundew_standin_fmod(a, b),
                         sundew_standin_fmodf((float)a, 7) };
        double want[] = { pow(a, b),           atan2(a, b), hypot(a, b),
                          fmin(a, b),          fmax(a, b),  powf((float)a, 2),
                          atan2f((float)a, 2), fmod(a, b),  fmodf((float)a, 7) };
        for (size_t k = 0; k < 9; k++)
            assert_true(got[k] == want[k] || (got[k] != got[k] && want[k] != want[k]));
        compare_parts(a);
        if (fabs(a) < 1e15) {
            assert_int_equal(sundew_standin_lround(a), lround(a));
            assert_int_equal(sundew_standin_lrint(a), lrint(a));
        }
    }
}

/* ---- text */

#define CHECK_FORMAT(...)                                                                          \
    do {                                                                                           \
        char standin_[400], real_[400];                                                            \
        memset(standin_, '?', sizeof standin_);                                                    \
        memset(real_, '?', sizeof real_);                                                          \
        int got_ = sundew_standin_snprintf(standin_, room, __VA_ARGS__);                           \
        int want_ = snprintf(real_, room, __VA_ARGS__);                                            \
        assert_int_equal(got_, want_);                                                             \
        assert_memory_equal(standin_, real_, sizeof standin_);                                     \
    } while (0)

static void formats(void **state)
{
    (void)state;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-truncation"
#pragma GCC diagnostic ignored "-Wformat-zero-length"
#pragma GCC diagnostic ignored "-Wformat"
    static const size_t rooms[] = { 400, 0, 1, 5, 16 };
    for (size_t r = 0; r < 5; r++) {
        size_t room = rooms[r];
        for (int i = 0; i < 60; i++) {
            int v = (int[]){ 0, 1, -1, INT_MAX, INT_MIN, 7, -42 }[i % 7];
            if (i > 20)
                v = (int)random32();
            long l = (long)v * v;
            CHECK_FORMAT("%d|%5d|%-5d|%05d|%+d|% d|%.3d|%8.3d|%-8.3d|%.0d", v, v, v, v, v, v, v, v,
                         v, v);
            CHECK_FORMAT("%u %x %X %o %#x %#o %#X %8x %-8x| %08X", v, v, v, v, v, v, v, v, v, v);
            CHECK_FORMAT("%ld %lu %lx %lld %zu %jd %td", l, l, l, (long long)l, (size_t)l,
                         (intmax_t)l, (ptrdiff_t)l);
            CHECK_FORMAT("%hd %hhd %hu %hhu %hhx", v, v, v, v, v);
            CHECK_FORMAT("%*d|%-*d|%.*d|%*.*d", 6, v, 6, v, 4, v, -7, 3, v);
            CHECK_FORMAT("%c%c|%3c|%-3c|%%", 'a', v & 127 ? v & 127 : 1, 'x', 'y');
            CHECK_FORMAT("[%s] [%10s] [%-10s] [%.2s] [%5.1s] [%.*s]", "hello", "abc", "abc", "abc",
                         "xyz", 2, "pqr");
            CHECK_FORMAT("%g %f %.2f %e %8.3f %-8.1f| %+g %d %s", v / 7.0, v / 7.0, v / 9.0,
                         v * 1.0, 2.5, 3.5, 1.0, v, "end");
            CHECK_FORMAT("%Lf %d", (long double)v, v);
            CHECK_FORMAT("%p %p %s %.3s %i", (void *)0, (void *)&rooms, (char *)NULL, (char *)NULL,
                         v);
            CHECK_FORMAT("");
            CHECK_FORMAT("plain text of some length");
            CHECK_FORMAT("%2$d %1$d", v, 3);         /* not ours: the real one does it */
            CHECK_FORMAT("%ls", L"wide");
        }
    }
#pragma GCC diagnostic pop
    char a[40], b[40], *p, *q;
    assert_int_equal(sundew_standin_sprintf(a, "%s-%d", "x", 12), sprintf(b, "%s-%d", "x", 12));
    assert_string_equal(a, b);
    assert_int_equal(sundew_standin_asprintf(&p, "%05d%s", 77, a), asprintf(&q, "%05d%s", 77, a));
    assert_string_equal(p, q);
    free(p);
    free(q);
}

#define CHECK_SCAN(text, format, n, ...)                                                           \
    do {                                                                                           \
        char a_[ROOM];                                                                             \
        strcpy(a_, text);                                                                          \
        mark(0, a_, strlen(a_) + 1);                                                               \
        memset(got, 0x55, sizeof got);                                                             \
        int r_ = sundew_standin_sscanf(a_, format, __VA_ARGS__);                                   \
        memcpy(kept, got, sizeof got);                                                             \
        memset(got, 0x55, sizeof got);                                                             \
        int s_ = sscanf(a_, format, __VA_ARGS__);                                                  \
        if (r_ != s_ || memcmp(kept, got, sizeof got) != 0)                                        \
            print_message("sscanf(\"%s\", \"%s\"): %d, real %d\n", text, format, r_, s_);          \
        assert_int_equal(r_, s_);                                                                  \
        assert_memory_equal(kept, got, sizeof got);                                                \
    } while (0)

static void scans(void **state)
{
    (void)state;
    static char got[4][64], kept[4][64];
    static const char *const texts[] = {
        "",
        " ",
        "12",
        "12 34",
        "-5,6",
        "0x1f 077 9",
        "abc 12",
        "99999999999999999999 1",
        "2147483648 -2147483649",
        "1.5 2e3",
        ".5.5",
        "key=value;",
        "key = value",
        "a b c d",
        "+7-8",
        "0x",
        "0",
        "1 %",
        "%",
        "  lead 3",
        "1e",
        "-",
        "x12y",
        "12abc34",
        "-9223372036854775809",
        "inf -nan",
        "infx",
        "0x1p3 0x.8",
        "1e5e5",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK_SCAN(texts[i], "%d", 1, (int *)got[0]);
        CHECK_SCAN(texts[i], "%d %d", 2, (int *)got[0], (int *)got[1]);
        CHECK_SCAN(texts[i], "%d,%d%n", 3, (int *)got[0], (int *)got[1], (int *)got[2]);
        CHECK_SCAN(texts[i], "%i %i %u", 3, (int *)got[0], (int *)got[1], (unsigned *)got[2]);
        CHECK_SCAN(texts[i], "%x%o", 2, (unsigned *)got[0], (unsigned *)got[1]);
        CHECK_SCAN(texts[i], "%ld %lu", 2, (long *)got[0], (unsigned long *)got[1]);
        CHECK_SCAN(texts[i], "%hd%hhd", 2, (short *)got[0], (signed char *)got[1]);
        CHECK_SCAN(texts[i], "%s %s", 2, got[0], got[1]);
        CHECK_SCAN(texts[i], "%3s%2c", 2, got[0], got[1]);
        CHECK_SCAN(texts[i], "%c%c %c", 3, got[0], got[1], got[2]);
        CHECK_SCAN(texts[i], "%[a-z]=%[^;];", 2, got[0], got[1]);
        CHECK_SCAN(texts[i], "%*d %s", 1, got[0]);
        CHECK_SCAN(texts[i], "%2d%3d", 2, (int *)got[0], (int *)got[1]);
        CHECK_SCAN(texts[i], "%lf %f", 2, (double *)got[0], (float *)got[1]);
        CHECK_SCAN(texts[i], "%d %%", 1, (int *)got[0]);
        CHECK_SCAN(texts[i], "%[]a]%[^]b]", 2, got[0], got[1]);
        CHECK_SCAN(texts[i], "x%dy", 1, (int *)got[0]);
    }
}

/* ---- sorting */

static int by_value(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x / 10 > *y / 10) - (*x / 10 < *y / 10);
}

static int by_value_with(const void *a, const void *b, void *arg)
{
    return *(int *)arg * by_value(a, b);
}

static void sorting(void **state)
{
    (void)state;
    int a[100], b[100], minus = -1;
    for (int i = 0; i < 3000; i++) {
        size_t n = random32() % (i % 10 ? 8 : 100);
        for (size_t k = 0; k < n; k++)
            a[k] = b[k] = (int)(random32() % 200) - 100;
        sundew_alive = i % 3 != 0;
        sundew_standin_qsort(a, n, sizeof *a, by_value);
        qsort(b, n, sizeof *b, by_value);
        assert_memory_equal(a, b, n * sizeof *a);
        for (int k = 0; k < 5; k++) {
            int key = (int)(random32() % 200) - 100;
            int *p = sundew_standin_bsearch(&key, a, n, sizeof *a, by_value);
            int *q = bsearch(&key, a, n, sizeof *a, by_value);
            assert_ptr_equal(p, q);
        }
        sundew_standin_qsort_r(a, n, sizeof *a, by_value_with, &minus);
        qsort_r(b, n, sizeof *b, by_value_with, &minus);
        assert_memory_equal(a, b, n * sizeof *a);
    }
}

/* ---- reading, writing */

static FILE *file_of(const char *text)
{
    FILE *f = tmpfile();
    assert_non_null(f);
    fputs(text, f);
    rewind(f);
    return f;
}

static void streams_in(void **state)
{
    (void)state;
    static const char *const texts[] = { "",
                                         "\n",
                                         "a",
                                         "one\ntwo\n\nlast",
                                         "1 2 3\nx=7\n",
                                         "a long line that does not fit into a small buffer\nb\n" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        FILE *f = file_of(texts[i]), *g = file_of(texts[i]);
        char a[16], b[16];
        memset(a, '?', sizeof a);
        memset(b, '?', sizeof b);
        for (int k = 0; k < 12; k++) {
            char *p = sundew_standin_fgets(a, 10, f), *q = fgets(b, 10, g);
            assert_int_equal(p != NULL, q != NULL);
            assert_memory_equal(a, b, sizeof a);
            assert_int_equal(sundew_standin_getc(f), getc(g));
        }
        assert_int_equal(feof(f), feof(g));
        sundew_standin_rewind(f);
        rewind(g);
        char *line = NULL, *real = NULL;
        size_t n = 0, m = 0;
        for (int k = 0; k < 6; k++) {
            ssize_t got = sundew_standin_getline(&line, &n, f), want = getline(&real, &m, g);
            assert_int_equal(got, want);
            if (got >= 0)
                assert_string_equal(line, real);
        }
        free(line);
        free(real);
        assert_int_equal(sundew_standin_fseek(f, 1, SEEK_SET), fseek(g, 1, SEEK_SET));
        memset(a, '?', sizeof a);
        memset(b, '?', sizeof b);
        assert_int_equal(sundew_standin_fread(a, 3, 4, f), fread(b, 3, 4, g));
        assert_memory_equal(a, b, sizeof a);
        assert_int_equal(ftell(f), ftell(g));
        rewind(f);
        rewind(g);
        int x = -1, y = -1;
        int got = sundew_standin_fscanf(f, "%d %d", &x, &y), v = -1, w = -1;
        assert_int_equal(got, fscanf(g, "%d %d", &v, &w));
        assert_true(x == v && y == w);
        assert_int_equal(ftell(f), ftell(g));
        assert_int_equal(sundew_standin_fclose(f), 0);
        fclose(g);
    }
    assert_true(read_calls > 0);
}

static void streams_out(void **state)
{
    (void)state;
    FILE *f = tmpfile(), *g = tmpfile();
    char a[ROOM] = "", b[ROOM] = "";
    assert_int_equal(sundew_standin_fputs("text ", f), fputs("text ", g));
    assert_int_equal(sundew_standin_fputc('c', f), fputc('c', g));
    assert_int_equal(sundew_standin_fwrite("12345", 2, 2, f), fwrite("12345", 2, 2, g));
    assert_int_equal(sundew_standin_fprintf(f, "%d %s", 42, "x"), fprintf(g, "%d %s", 42, "x"));
    rewind(f);
    rewind(g);
    assert_int_equal(fread(a, 1, sizeof a, f), fread(b, 1, sizeof b, g));
    assert_string_equal(a, b);
    fclose(f);
    fclose(g);
    assert_true(write_calls >= 4);
}

static void descriptors(void **state)
{
    (void)state;
    int p[2];
    char a[ROOM] = "";
    assert_int_equal(pipe(p), 0);
    assert_int_equal(sundew_standin_write(p[1], "hello, world", 12), 12);
    assert_int_equal(sundew_standin_read(p[0], a, 5), 5);
    assert_memory_equal(a, "hello", 5);
    struct iovec v[] = { { a, 3 }, { a + 10, 10 } };
    assert_int_equal(sundew_standin_readv(p[0], v, 2), 7);
    assert_memory_equal(a, ", w", 3);
    assert_memory_equal(a + 10, "orld", 4);
    assert_int_equal(sundew_standin_dprintf(p[1], "%d", 17), 2);
    assert_int_equal(sundew_standin_read(p[0], a, 5), 2);
    assert_memory_equal(a, "17", 2);
    close(p[0]);
    close(p[1]);
    errno = 0;
    assert_int_equal(sundew_standin_read(p[0], a, 5), -1);
    assert_int_equal(errno, EBADF);
    FILE *f = file_of("0123456789");
    assert_int_equal(sundew_standin_pread(fileno(f), a, 3, 4), 3);
    assert_memory_equal(a, "456", 3);
    assert_int_equal(sundew_standin_pwrite(fileno(f), "xy", 2, 1), 2);
    char *m = sundew_standin_mmap(NULL, 10, PROT_READ, MAP_PRIVATE, fileno(f), 0);
    assert_memory_equal(m, "0xy3456789", 10);
    munmap(m, 10);
    fclose(f);
    int s[2];
    assert_int_equal(sundew_standin_socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
    assert_int_equal(pairs, 1);
    assert_int_equal(sundew_standin_socketpair(-1, SOCK_STREAM, 0, p), -1);
    assert_int_equal(pairs, 1);
    assert_int_equal(sundew_standin_send(s[0], "abcd", 4, 0), 4);
    assert_int_equal(sundew_standin_recv(s[1], a, 2, 0), 2);
    assert_memory_equal(a, "ab", 2);
    assert_int_equal(sundew_standin_recvfrom(s[1], a, 2, 0, NULL, NULL), 2);
    assert_memory_equal(a, "cd", 2);
    assert_int_equal(sundew_standin_syscall(SYS_write, s[0], "ef", 2L), 2);
    assert_int_equal(sundew_standin_syscall(SYS_read, s[1], a, 8L), 2);
    assert_memory_equal(a, "ef", 2);
    assert_int_equal(sundew_standin_syscall(SYS_getpid), getpid());
    errno = 0;
    assert_int_equal(sundew_standin_syscall(SYS_close, -1L), -1);
    assert_int_equal(errno, EBADF);
    close(s[0]);
    close(s[1]);
}

static void environment(void **state)
{
    (void)state;
    char value[] = "some value";
    mark(0, value, sizeof value);
    assert_int_equal(sundew_standin_setenv("SUNDEW_TEST", value, 1), 0);
    assert_string_equal(getenv("SUNDEW_TEST"), "some value");
    assert_int_equal(sundew_standin_setenv("SUNDEW_TEST", "other", 0), 0);
    assert_string_equal(getenv("SUNDEW_TEST"), "some value");
    value[0] = 'S';
    assert_int_equal(sundew_standin_setenv("SUNDEW_TEST", value, 0), 0);
    assert_string_equal(getenv("SUNDEW_TEST"), "some value");
    char name[] = "SUNDEW_TEST", other[] = "SUNDEW_TES";
    mark(1, name, sizeof name);
    mark(2, other, sizeof other);
    assert_string_equal(sundew_standin_getenv(name), "some value");
    assert_null(sundew_standin_getenv(other));
    assert_null(sundew_standin_getenv("SUNDEW_NOBODY"));
    errno = 0;
    assert_int_equal(sundew_standin_setenv("A=B", value, 1), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(sundew_standin_klee_int("x"), 0x07070707);
    sundew_standin_klee_assume(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(lengths_and_comparisons, start),
        cmocka_unit_test_setup(ends_of_memory, start),
        cmocka_unit_test_setup(copies, start),
        cmocka_unit_test_setup(searches, start),
        cmocka_unit_test_setup(memory, start),
        cmocka_unit_test_setup(wide, start),
        cmocka_unit_test_setup(characters, start),
        cmocka_unit_test_setup(integers, start),
        cmocka_unit_test_setup(floats, start),
        cmocka_unit_test_setup(random_numbers, start),
        cmocka_unit_test_setup(maths, start),
        cmocka_unit_test_setup(formats, start),
        cmocka_unit_test_setup(scans, start),
        cmocka_unit_test_setup(sorting, start),
        cmocka_unit_test_setup(streams_in, start),
        cmocka_unit_test_setup(streams_out, start),
        cmocka_unit_test_setup(descriptors, start),
        cmocka_unit_test_setup(environment, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
