static int f(int x) { return x + 1; }
static int g(int x) { return x - 1; }
__attribute__((weak)) int w(int x) { return x; } __attribute__((weak)) int absent(int);
int run(void) { return w(0) + f(0) + (absent ? absent(1) : 0); }
int main(void) { return run() - 1; }
