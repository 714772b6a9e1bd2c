/* Packed and unpacked again. */
#include "input.h"
#include "zlib.h"

int main(int argc, char **argv)
{
    read_input();
    uLong room = compressBound(ninput), sum = 0;
    Bytef *packed = malloc(room), *again = malloc(ninput + 1);
    for (int r = rounds(argc, argv); r > 0; r--) {
        uLong n = room, m = ninput + 1;
        compress2(packed, &n, input, ninput, 6);
        for (int k = 0; k < 5; k++) {
            m = ninput + 1;
            uncompress(again, &m, packed, n);
        }
        sum += n + adler32(0, again, (uInt)m);
    }
    printf("%lu\n", sum);
    return 0;
}
