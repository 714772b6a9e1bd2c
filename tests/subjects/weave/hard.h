/* What the units of the subject share: see hard.c. */
#ifndef HARD_H
#define HARD_H
#include <complex.h>
#include <stdarg.h>
#include <stddef.h>

typedef int Vector __attribute__((vector_size(16)));
typedef struct Big { long a[6]; char tail; } Big;
typedef struct Pair { int x; double y; } Pair;
typedef struct Odd { char c[3]; } Odd;
struct Entry { const char *name; int (*run)(int); };

extern _Thread_local int per_thread;
extern int common_one, strong_over_weak(int), weak_only(int), aliased(int);
int twice_static(int), twice_static_other(int);
int sum_of(int n, ...), sum_list(int n, va_list ap);
Big big_by_value(Big b, int k);
Pair pair_by_value(Pair p, Odd o);
__int128 wide(__int128 a, __int128 b);
long double extended(long double x, int n);
double complex turn(double complex z);
float complex turn_f(float complex z);
Vector lanes(Vector a, Vector b);
int chosen(int);                 /* an ifunc */
int jump_table(const unsigned char *code, int n);
int asm_add(int a, int b);       /* in assembly */
int inline_label(int n);
int from_failed_unit(int);       /* a nested function: clang can't */
void *who_called(void);
int vla(int n, int seed), guarded(int n);
unsigned mangled(int a, double b, char c);
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#endif
