/*
 * All that C makes of values on their way: each must keep its label, and compute what
 * it computes without. A value that has lost its label is named on standard error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sundew_symbolic(void *at, uint64_t n, uint64_t offset);
int sundew_is_symbolic(const void *at, uint64_t n);

#define KEEPS(name, expression)                                               \
    do {                                                                      \
        __typeof__(expression) kept = (expression);                           \
        unsigned sum = 0;                                                     \
        if (!sundew_is_symbolic(&kept, sizeof kept))                          \
            fprintf(stderr, "lost %s\n", name);                               \
        for (size_t i_ = 0; i_ < sizeof kept && i_ < 10; i_++)                \
            sum = sum * 31 + ((unsigned char *)&kept)[i_];                    \
        if (sum == 0x12345)                                                   \
            puts("unlikely");                                                 \
        printf("%s %u\n", name, sum);                                         \
    } while (0)

static unsigned char in[64];

struct small { int a; short b; };
struct two { long a, b; };
struct large { int head; long body[6]; char tail; };
struct floats { float x, y; };
struct bits { unsigned a : 3, b : 7; int c : 11; unsigned long long d : 37; };
struct nested { struct small s; struct { char c; int d; } t[2]; };
union pun { float f; uint32_t u; unsigned char b[4]; };

static struct small take_small(struct small s) { s.a += s.b; return s; }
static struct two take_two(struct two t) { struct two r = { t.b, t.a }; return r; }
static struct large take_large(struct large l) { l.body[2] += l.head; l.tail++; return l; }
static struct floats take_floats(struct floats f) { struct floats r = { f.y * 2, f.x }; return r; }
static struct nested take_nested(struct nested n) { n.t[1].d = n.s.a; return n; }

static int sum_of(int n, ...)
{
    va_list list, again;
    long sum = 0;
    va_start(list, n);
    va_copy(again, list);
    for (int i = 0; i < n; i++)
        sum += va_arg(list, int);
    for (int i = 0; i < n; i++)
        sum ^= va_arg(again, int);
    va_end(again);
    va_end(list);
    return (int)sum;
}

static double mixed(const char *what, ...)
{
    va_list list;
    double sum = 0;
    va_start(list, what);
    for (; *what; what++)
        sum += *what == 'd' ? va_arg(list, double) : (double)va_arg(list, long);
    va_end(list);
    return sum;
}

static int twice(int x) { return x * 2; }
static int thrice(int x) { return x * 3; }
static int (*const table[])(int) = { twice, thrice };
static struct large through(struct large (*f)(struct large), struct large l) { return f(l); }

static int depth(int n, int x) { return n == 0 ? x : depth(n - 1, x + n) + 1; }
static int tail_b(int n, int x);
static int tail_a(int n, int x)
{
    if (n == 0)
        return x;
#if __has_attribute(musttail)
    __attribute__((musttail)) return tail_b(n - 1, x + 1);
#else
    return tail_b(n - 1, x + 1);
#endif
}
static int tail_b(int n, int x) { return tail_a(n, x ^ 1); }

static int computed(int op, int x)
{
    static const void *const labels[] = { &&add, &&shift, &&done };
    int at = 0;
    goto *labels[op & 1];
add:
    x += 5;
    goto *labels[2];
shift:
    x <<= 1;
    if (at++ < 2)
        goto *labels[0];
done:
    return x;
}

static jmp_buf place;
static void leap(int x) { longjmp(place, x | 1); }
static int jumps(int x)
{
    volatile int kept = x;
    int from = setjmp(place);
    if (from == 0)
        leap(x);
    return kept + x;
}

static int chosen(unsigned x)
{
    switch (x) {
    case 0: return 3;
    case 5: return 4;
    case 'a' ... 'z': return 5;
    case 1000: return 6;
    default: return (int)x + 1;
    }
}

__attribute__((weak)) int weak(int x) { return x + 9; }
static _Thread_local int local_to_thread;
static int global;
static const unsigned char squares[256] = { [1] = 1, [2] = 4, [3] = 9, ['k'] = 77, ['q'] = 78 };

static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void integers(void)
{
    int8_t a = (int8_t)in[0];
    uint16_t b;
    int32_t c;
    int64_t d;
    unsigned __int128 e;
    memcpy(&b, in, 2);
    memcpy(&c, in + 1, 4);
    memcpy(&d, in + 3, 8);
    memcpy(&e, in, 16);
    KEEPS("i8", (int8_t)(a + 3));
    KEEPS("u16", (uint16_t)(b * 3u));
    KEEPS("i32", c / 7 + c % 5);
    KEEPS("i64", (d >> 3) ^ (d << 5));
    KEEPS("i128", e * 3 + (e >> 70));
    KEEPS("i128 / ", e / 1000003u);
    KEEPS("compare", (d < 0) + (e > 5) + (a == 3) * 2);
    KEEPS("unsigned", (unsigned)c / 9u);
    KEEPS("choice", c > 100 ? a : b);
    KEEPS("minus", -d);
    KEEPS("not", ~c);
    KEEPS("switch", in[0] == 'k' ? chosen(in[0]) + in[1] : chosen(in[0]));
    _BitInt(67) odd = (_BitInt(67))d * 5;
    KEEPS("odd", (long)(odd >> 4));
}

static void bit_operations(void)
{
    uint32_t x;
    uint64_t y;
    int z = in[3];
    memcpy(&x, in, 4);
    memcpy(&y, in, 8);
    KEEPS("bswap", __builtin_bswap32(x));
    KEEPS("popcount", __builtin_popcountll(y));
    KEEPS("clz", __builtin_clz(x | 1) + __builtin_ctz(x | 0x80000000u));
    KEEPS("rotate", x << 7 | x >> 25);
    KEEPS("reverse", __builtin_bitreverse32(x));
    KEEPS("expect", __builtin_expect(z, 3) + 1);
    int sum;
    bool over = __builtin_add_overflow((int)x, 2000000000, &sum);
    KEEPS("overflow", sum + over);
    over = __builtin_mul_overflow(x, 77777u, &x);
    KEEPS("overflow *", x + over);
    struct bits b = { in[0] & 7, in[1] & 127, z, y };
    b.d += 5;
    KEEPS("bit-fields", (unsigned)(b.a + b.b) + (unsigned)b.d + (unsigned)b.c);
}

static void structs(void)
{
    struct small s = { in[0], in[1] };
    struct two t = { in[2], in[3] };
    struct large l = { in[4], { in[5], 2, in[6] }, (char)in[7] };
    struct floats f = { in[0], in[1] };
    struct nested n = { { in[0], in[1] }, { { (char)in[2], 3 } } };
    KEEPS("small struct", take_small(s).a);
    KEEPS("two words", take_two(t).a - take_two(t).b);
    KEEPS("large struct", take_large(l).body[2] + take_large(l).tail);
    KEEPS("floats", take_floats(f).x);
    KEEPS("nested", take_nested(n).t[1].d);
    KEEPS("large struct by pointer", through(take_large, l).body[2]);
    struct large copy = l;
    copy.body[0]++;
    KEEPS("copied", copy.body[0]);
    union pun p = { .f = in[0] };
    KEEPS("pun", (unsigned)p.b[3] + (p.u >> 16));
}

static void calls(void)
{
    int x = in[0], which = in[1] & 1;
    KEEPS("variadic", sum_of(3, x, 2, 3));
    KEEPS("variadic on the stack", sum_of(9, 1, 2, 3, 4, 5, 6, 7, 8, x));
    KEEPS("variadic double", mixed("dldl", 1.5, 2l, (double)x, 3l));
    KEEPS("pointer", table[which](x));
    KEEPS("recursion", depth(20, x));
    KEEPS("tail", tail_a(50, x));
    KEEPS("goto", computed(which, x));
    KEEPS("setjmp", jumps(x));
    KEEPS("weak", weak(x));
    int numbers[] = { 5, x, 1, in[2] };
    qsort(numbers, 4, sizeof *numbers, compare);
    printf("%d %d\n", numbers[0], numbers[3]);
}

static void memory(void)
{
    char a[40] = "", b[40];
    int n = in[5] % 8;
    memcpy(a, in, 12);
    memmove(a + 3, a, 12);
    KEEPS("memmove", a[4]);
    memset(b, in[2], sizeof b);
    KEEPS("memset", b[17]);
    memset(b, 0, sizeof b);
    memcpy(b, a, (size_t)n);
    printf("%d\n", b[0]);
    int vla[in[3] % 5 + 3];
    vla[1] = in[4];
    KEEPS("vla", vla[1]);
    local_to_thread = in[1];
    global = local_to_thread + 1;
    KEEPS("globals", global);
    KEEPS("table", squares[in[0]]);
    int grid[4][8] = { { 0 } };
    grid[2][in[2] & 7] = in[3];
    KEEPS("grid", grid[2][in[2] & 7] + 1);
    int *heap = malloc(sizeof *heap * 4);
    heap[2] = in[7];
    heap = realloc(heap, sizeof *heap * 400);
    KEEPS("heap", heap[2]);
    free(heap);
    b[0] = 'x';                  /* concrete again */
    printf("%d\n", b[0]);
}

static void floating(void)
{
    double d = in[0] / 3.0;
    float f = (float)in[1] + 0.5f;
    KEEPS("double", d * d - 1);
    KEEPS("float", f / 2);
    KEEPS("to int", (int)(d * 100));
    KEEPS("compare doubles", (d > 10) + (f < 3));
    KEEPS("negative", -d);
    long double l = in[2];
    printf("%d\n", (int)(l / 2));
}

static void odd_ones(void)
{
    int x = in[0], y;
    __asm__("mov %1, %0" : "=r"(y) : "r"(x));
    printf("%d\n", y);
    static atomic_int a;
    atomic_store(&a, x);
    KEEPS("atomic", atomic_fetch_add(&a, 2));
    int old = x + 2;
    atomic_compare_exchange_strong(&a, &old, 7);
    printf("%d\n", atomic_load(&a));
    typedef int v4 __attribute__((vector_size(16)));
    v4 v = { x, 2, 3, 4 };
    v = v + v;
    printf("%d\n", v[0]);
}

int main(void)
{
    size_t n = fread(in, 1, sizeof in, stdin);
    sundew_symbolic(in, n, 0);
    integers();
    bit_operations();
    structs();
    calls();
    memory();
    floating();
    odd_ones();
    return in[0] == 'z';
}
