static int f(int x) { return x + 1; }
static int g(int x) { return x - 1; }
int real(int x) { return f(x); } int also(int) __attribute__((alias("real")));
extern int weakly(int) __attribute__((weak, alias("real")));
int run(void) { int (*p)(int) = also; return p(1) + weakly(2) + also(3); }
int main(void) { return run() - 9; }
