static int f(int x) { return x + 1; }
static int g(int x) { return x - 1; }
#include <complex.h>
double complex z; float complex half(float complex x) { return x / 2; }
int run(double complex x) { z = conj(x) + 1; return f((int)cabs(z)) + (int)creal(half(1)); }
int main(void) { return run(2 + 4 * I) - 6; }
