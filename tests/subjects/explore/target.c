#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
static int runs;
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n)
{
    runs++;
    if (n > 3 && d[0] == 'F' && d[1] == 'U' && d[2] == 'Z')
        return d[n] == 'Z' ? runs : 0;
    return 0;
}
#ifdef WITH_MAIN
int main(void) { return 0; }
#endif
