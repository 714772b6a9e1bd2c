/* The second unit of the subject hard.c. */
#include "hard.h"
#include <alloca.h>
#include <stdio.h>
#include <string.h>

int common_one;
_Thread_local int per_thread = 11;
static int hash(int x)
{
    for (int i = 0; i < 5; i++)
        x = x * 17 + i;
    return x;
}
int twice_static_other(int x) { return hash(x) ^ 2; }
__attribute__((weak)) int strong_over_weak(int x) { return x ? -1 : -2; }
static int real_one(int x) { int s = 1; while (x > 1) s *= x--; return s; }
int aliased(int x) __attribute__((alias("real_one")));

static int choice_a(int x) { return x > 10 ? x + 1000 : x; }
static int (*choose(void))(int) { return choice_a; }
int chosen(int x) __attribute__((ifunc("choose")));

__asm__(".pushsection .rodata\n.globl hard_constant\nhard_constant: .long 77\n.popsection\n");
extern const int hard_constant;

int sum_list(int n, va_list ap)
{
    int s = 0;
    while (n-- > 0)
        s += va_arg(ap, int);
    return s;
}
int sum_of(int n, ...)
{
    va_list ap;
    va_start(ap, n);
    int s = sum_list(n, ap);
    va_end(ap);
    return s + hard_constant;
}
Big big_by_value(Big b, int k)
{
    for (int i = 0; i < 6; i++)
        b.a[i] *= k;
    b.tail++;
    return b;
}
Pair pair_by_value(Pair p, Odd o)
{
    p.x += o.c[0] + o.c[1];
    p.y *= p.x > 4 ? 2 : 3;
    return p;
}
__int128 wide(__int128 a, __int128 b) { return b ? a * b - (a >> 3) : a; }
long double extended(long double x, int n) { while (n--) x = x * x / 1.5L + 0.25L; return x; }
double complex turn(double complex z) { return creal(z) > 0 ? z * I + 1 : z; }
float complex turn_f(float complex z) { return crealf(z) > 0 ? z * z : z; }
Vector lanes(Vector a, Vector b) { for (int i = 0; i < 3; i++) a = a * b + i; return a; }

int jump_table(const unsigned char *code, int n)
{
    static void *const where[] = { &&zero, &&one, &&two, &&three };
    int s = 0, i = 0;
next:
    if (i == n)
        return s;
    goto *where[code[i++]];
zero: s += 1; goto next;
one: s *= 3; goto next;
two: s -= 1; goto next;
three: s = -s; goto next;
}
__attribute__((noinline)) int inline_label(int n)
{
    int r = n;
    __asm__ volatile("jmp hard_label\nhard_label: addl $1, %0" : "+r"(r));
    return r;
}
__attribute__((noinline)) void *who_called(void) { return __builtin_return_address(0); }
int vla(int n, int seed)
{
    int a[n], *b = alloca(sizeof(int) * (size_t)n), s = 0;
    for (int i = 0; i < n; i++) {
        a[i] = seed * i;
        b[n - 1 - i] = a[i] + 1;
    }
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    return n > 1 ? s + vla(n - 1, seed + 1) : s;
}
int guarded(int n)
{
    char buf[64];
    memset(buf, n, sizeof buf);
    return snprintf(buf, sizeof buf, "%d-%d", n, buf[10]);
}
unsigned mangled(a, b, c) int a; double b; char c; { return (unsigned)(a * (int)b + c); }
void say(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    fflush(stdout);
}
