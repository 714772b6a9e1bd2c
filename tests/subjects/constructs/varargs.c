static int f(int x) { return x + 1; }
static int g(int x) { return x - 1; }
#include <stdarg.h>
int run(int n, ...) { va_list a, b; va_start(a, n); va_copy(b, a); int s = va_arg(a, int (*)(int))(n);
    va_arg(b, double); s += va_arg(b, int (*)(int))(0); va_end(a); va_end(b); return s; }
int main(int argc, char **argv) { return argc > 5 ? run(1, g, 2.0, f) : 0; }
