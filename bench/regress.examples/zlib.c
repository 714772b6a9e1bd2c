/* A modest use of zlib: one-shot compression, checksums, a stream. */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

int main(void)
{
    static const unsigned char text[] = "hello, hello, hello, hello, hello world";
    unsigned char packed[200], plain[200];
    uLongf n = sizeof packed, m = sizeof plain;
    if (compress2(packed, &n, text, sizeof text, 6) != Z_OK)
        return 1;
    if (uncompress(plain, &m, packed, n) != Z_OK)
        return 1;
    printf("%lu %lu %d\n", (unsigned long)n, (unsigned long)m, memcmp(plain, text, m));
    uLong crc = crc32(0, NULL, 0), adler = adler32(0, NULL, 0);
    crc = crc32(crc, text, sizeof text);
    adler = adler32(adler, text, sizeof text);
    printf("%lx %lx %lx\n", crc, adler, crc32_combine(crc, adler, 10));
    z_stream s;
    memset(&s, 0, sizeof s);
    if (deflateInit(&s, 9) != Z_OK)
        return 1;
    s.next_in = (Bytef *)text;
    s.avail_in = sizeof text;
    s.next_out = packed;
    s.avail_out = sizeof packed;
    deflate(&s, Z_FINISH);
    printf("%lu\n", s.total_out);
    deflateReset(&s);
    deflateEnd(&s);
    gzFile f = gzopen("example.gz", "wb6");
    gzwrite(f, text, sizeof text);
    gzputs(f, "more\n");
    gzclose(f);
    f = gzopen("example.gz", "rb");
    printf("%d %d\n", gzread(f, plain, 100), gzeof(f));
    gzclose(f);
    remove("example.gz");
    return 0;
}
