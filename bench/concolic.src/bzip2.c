/* Packed and unpacked again. */
#include "input.h"
#include "bzlib.h"

int main(int argc, char **argv)
{
    read_input();
    unsigned room = (unsigned)ninput + (unsigned)ninput / 50 + 1000, sum = 0;
    char *packed = malloc(room), *again = malloc(ninput + 1);
    for (int r = rounds(argc, argv); r > 0; r--) {
        unsigned n = room, m = (unsigned)ninput + 1;
        BZ2_bzBuffToBuffCompress(packed, &n, (char *)input, (unsigned)ninput, 9, 0, 30);
        BZ2_bzBuffToBuffDecompress(again, &m, packed, n, 0, 0);
        sum += n + m + (unsigned char)again[m / 2];
    }
    printf("%u\n", sum);
    return 0;
}
