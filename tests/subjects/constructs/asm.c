static int f(int x) { return x + 1; }
static int g(int x) { return x - 1; }
__asm__(".globl in_asm\nin_asm: ret\n");
int run(int (*p)(int)) { int (*q)(int); __asm__("mov %1, %0" : "=r"(q) : "r"(p) : "memory"); return q(1); }
int main(void) { return run(f) - 2; }
