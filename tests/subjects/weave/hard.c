/*
 * A program of everything that a weave could get wrong: it prints what it
 * computes, and a woven one has to print the same. Units: hard.c, hard_b.c,
 * hard_nested.c (which clang can't compile), hard_asm.s.
 */
#include "hard.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <unistd.h>

static int hash(int x)           /* hard_b.c has one too */
{
    for (int i = 0; i < 3; i++)
        x = x * 31 + i;
    return x;
}

int twice_static(int x) { return hash(x) ^ 1; }

/* a tentative definition in both units, with -fcommon */
int common_one;
int weak_only(int x) __attribute__((weak));
int weak_only(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * i; return s; }
int strong_over_weak(int x) { return x > 3 ? x * 100 : x * 10; }
int missing(int) __attribute__((weak));

static int plus(int x) { return x + per_thread; }
static int times(int x) { for (int i = 0; i < 3; i++) x += x; return x; }
static const struct Entry entries[]
    __attribute__((section("hard_entries"), used)) = { { "plus", plus }, { "times", times } };
extern const struct Entry __start_hard_entries[], __stop_hard_entries[];

static char order[64];
__attribute__((constructor(101))) static void early(void) { strcat(order, "early "); }
__attribute__((constructor)) static void usual(void) { strcat(order, "usual "); }
__attribute__((destructor)) static void at_end(void) { say("destructor\n"); }

static jmp_buf back;
static int deep(int n) { if (n == 0) longjmp(back, 42); return deep(n - 1) + n; }
static int jumps(void)
{
    volatile int tries = 0;
    int got = setjmp(back);
    if (got == 0)
        return deep(20);
    if (++tries < 3)
        deep(5 + tries);
    return got + tries;
}

static sigjmp_buf from_signal;
static void on_signal(int sig) { siglongjmp(from_signal, sig); }
static int faults(void)
{
    signal(SIGSEGV, on_signal);
    int sig = sigsetjmp(from_signal, 1);
    if (sig == 0)
        *(volatile int *)8 = 1;
    signal(SIGSEGV, SIG_DFL);
    return sig;
}

static void *thread(void *arg)
{
    per_thread = *(int *)arg;
    int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += plus(i) % 7;
    *(int *)arg = sum;
    return NULL;
}

static void clean(char **p) { say("cleanup %s\n", *p); free(*p); }
static int cleaned(void)
{
    char *text __attribute__((cleanup(clean))) = strdup("text");
    return (int)strlen(text);
}

static int old_style(a, b) int a; char b; { return a * b + 1; }
static int even(unsigned n);
static int odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }
static int even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static _Noreturn void leave(int status) { say("leaving\n"); exit(status); }
static int errno_stays(int n) { errno = n; plus(n); return errno; }

static void numbers(void)
{
    Big b = { { 1, 2, 3, 4, 5, 6 }, 'x' };
    b = big_by_value(b, 3);
    say("big %ld %ld %c\n", b.a[0], b.a[5], b.tail);
    Pair p = pair_by_value((Pair){ 3, 1.5 }, (Odd){ "ab" });
    say("pair %d %g\n", p.x, p.y);
    __int128 w = wide((__int128)1 << 70, 12345);
    say("wide %llx %llx\n", (unsigned long long)(w >> 64), (unsigned long long)w);
    say("extended %.10Lg\n", extended(1.25L, 7));
    double complex z = turn(3 + 4 * I);
    float complex f = turn_f(1 + 2 * I);
    say("complex %g %g %g %g\n", creal(z), cimag(z), crealf(f), cimagf(f));
    Vector v = lanes((Vector){ 1, 2, 3, 4 }, (Vector){ 10, 20, 30, 40 });
    say("lanes %d %d %d %d\n", v[0], v[1], v[2], v[3]);
    say("mangled %u\n", mangled(-3, 2.5, 'q'));
}

static void calls(void)
{
    static const unsigned char code[] = { 0, 1, 2, 1, 0, 2, 3 };
    say("statics %d %d\n", twice_static(7), twice_static_other(7));
    say("varargs %d\n", sum_of(4, 1, 2, 3, 4));
    say("weak %d %d alias %d missing %d\n", weak_only(5), strong_over_weak(4),
        aliased(6), missing ? 1 : 0);
    say("ifunc %d\n", chosen(20));
    say("goto %d\n", jump_table(code, sizeof code));
    say("asm %d %d\n", asm_add(40, 2), inline_label(3));
    say("nested %d\n", from_failed_unit(10));
    say("caller %d\n", who_called() != NULL);
    say("stack %d %d\n", vla(10, 3), guarded(5));
    say("old %d even %d\n", old_style(6, 7), even(100000));
    for (const struct Entry *e = __start_hard_entries; e < __stop_hard_entries; e++)
        say("entry %s %d\n", e->name, e->run(5));
}

int main(int argc, char **argv)
{
    int list[] = { 5, 3, 9, 1 }, arg = 3;
    pthread_t t;
    common_one += argc;
    say("%sargc %d common %d %d\n", order, argc, common_one, (int)strlen(argv[0]) > 0);
    numbers();
    calls();
    say("jumps %d signal %d\n", jumps(), faults());
    pthread_create(&t, NULL, thread, &arg);
    pthread_join(t, NULL);
    say("thread %d main %d\n", arg, per_thread);
    qsort(list, 4, sizeof *list, compare);
    say("sorted %d %d cleaned %d errno %d\n", list[0], list[3], cleaned(), errno_stays(33));
    if (argc > 1 && !strcmp(argv[1], "abort"))
        abort();
    if (argc > 1 && !strcmp(argv[1], "_exit"))
        _exit(7);
    leave(argc > 1 ? 5 : 0);
}
