static int f(int x) { return x + 1; }
static int g(int x) { return x - 1; }
typedef long V __attribute__((vector_size(16)));
int run(V v) { v += (V){ 0, 0 }; return ((int (*)(int))v[0])(1) + ((int (*)(int))v[1])(1); }
int main(void) { V v = { (long)f, (long)g }; return run(v) - 2; }
