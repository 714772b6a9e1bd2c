static int f(int x) { return x + 1; }
static int g(int x) { return x - 1; }
int run(int n) { static void *t[] = { &&a, &&b }; goto *t[n & 1]; a: return f(n); b: return g(n); }
int main(void) { return run(0) - 1; }
