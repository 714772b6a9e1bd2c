static int f(int x) { return x + 1; }
static int g(int x) { return x - 1; }
static int choose = 1;
static int (*pick(void))(int) { return choose ? f : g; }
int chosen(int) __attribute__((ifunc("pick")));
int run(void) { int (*p)(int) = chosen; return p(1) + chosen(2); }
int main(void) { return run() - 5; }
