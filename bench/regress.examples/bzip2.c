/* Compresses and expands a text, in one call and through a stream. */
#include <bzlib.h>
#include <stdio.h>
#include <string.h>

static char text[] = "She sells sea shells by the sea shore; the shells she sells are sea shells.";

int main(void)
{
    char packed[400], out[400];
    unsigned n = sizeof packed, m = sizeof out;

    printf("compress %d", BZ2_bzBuffToBuffCompress(packed, &n, text, sizeof text, 1, 0, 30));
    printf(", %u bytes", n);
    printf(", expand %d: %s\n", BZ2_bzBuffToBuffDecompress(out, &m, packed, n, 0, 0), out);

    bz_stream s = { 0 };
    BZ2_bzCompressInit(&s, 9, 0, 0);
    s.next_in = text;
    s.avail_in = sizeof text;
    s.next_out = packed;
    s.avail_out = sizeof packed;
    BZ2_bzCompress(&s, BZ_RUN);
    printf("%d", BZ2_bzCompress(&s, BZ_FINISH));
    n = s.total_out_lo32;
    BZ2_bzCompressEnd(&s);

    memset(&s, 0, sizeof s);
    BZ2_bzDecompressInit(&s, 0, 1);
    s.next_in = packed;
    s.avail_in = n;
    s.next_out = out;
    s.avail_out = sizeof out;
    printf(" %d %s\n", BZ2_bzDecompress(&s), out);
    BZ2_bzDecompressEnd(&s);
    puts(BZ2_bzlibVersion());
    return 0;
}
