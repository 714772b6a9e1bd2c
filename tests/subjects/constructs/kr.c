static int f(int x) { return x + 1; }
static int g(int x) { return x - 1; }
int old(a, p) char a; int (*p)(); { return a + (*p)(1); }
int run(p) int (*p)(); { return p(1) + old('a', g); }
int main() { return run(f) - 99; }
