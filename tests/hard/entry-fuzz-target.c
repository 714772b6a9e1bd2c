/*
 * fuzz target
 *
 * input: call
 * seed: aaaaaaaa
 * solution: FUZZaa\x01\x02
 * fails: abort
 */
#include "hard.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    if (size >= 8 && memcmp(data, "FUZZ", 4) == 0 && data[4] * data[5] == 9409 && data[6] < data[7])
        BUG();
    return 0;
}
