static int f(int x) { return x + 1; }
static int g(int x) { return x - 1; }
static int (*p)(int); int tentative; int tentative; extern int tentative;
static int (*p)(int) = f;
int run(void) { return p(tentative); }
int main(void) { return run() - 1; }
