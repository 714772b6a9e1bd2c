static int f(int x) { return x + 1; }
static int g(int x) { return x - 1; }
#include <setjmp.h>
static jmp_buf env; static int (*p)(int);
static int thrower(int x) { p = g; longjmp(env, 1); }
int run(void) { p = f; if (setjmp(env)) return p(1); p = thrower; return p == f ? p(0) : 0; }
int main(void) { return run(); }
