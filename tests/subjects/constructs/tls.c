static int f(int x) { return x + 1; }
static int g(int x) { return x - 1; }
_Thread_local int (*p)(int) = f; static __thread int (*q)(int);
int run(void) { q = g; return p(1) + q(1); }
int main(void) { return run() - 2; }
