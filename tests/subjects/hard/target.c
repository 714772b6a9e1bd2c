#include <stdio.h>
#include <string.h>
static const char *name = "none";
int LLVMFuzzerInitialize(int *argc, char ***argv) { name = *argc > 0 && **argv ? "started" : ""; return 0; }
int LLVMFuzzerTestOneInput(const unsigned char *p, unsigned long n)
{
    printf("%s %lu %.*s\n", name, n, (int)n, (const char *)p);
    return 0;
}
