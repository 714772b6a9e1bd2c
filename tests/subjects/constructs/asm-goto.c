static int f(int x) { return x + 1; }
static int g(int x) { return x - 1; }
int run(int x) { __asm__ goto("" : : "r"(x) : : out); return f(x); out: return g(x); }
int main(void) { return run(0) - 1; }
