#include <stdio.h>
#define APART __attribute__((noinline))
#define PROG_NOINLINE APART
static __attribute__((noinline)) int by_attribute(int n) { return n * 3 + 1; }
static PROG_NOINLINE
int by_macro(int n)
{
    return n * 5 + 1;
}
static int inlined(int n) { return n * 7 + 1; }
int main(int argc, char **argv) { (void)argv; return printf("%d %d %d\n", by_attribute(argc), by_macro(argc), inlined(argc)) < 0; }
