/* Compresses and expands a text, in one call, through streams and a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char text[] = "She sells sea shells by the sea shore; the shells she sells are sea shells.";

static void at_once(void)
{
    unsigned char packed[200], out[200];
    uLongf n = compressBound(sizeof text), m = sizeof out;

    printf("compress %d", compress2(packed, &n, (const unsigned char *)text, sizeof text, 9));
    printf(", %lu bytes", n);
    printf(", uncompress %d: %s\n", uncompress(out, &m, packed, n), out);
    printf("%08lx %08lx\n", crc32(0, packed, (uInt)n), adler32(1, packed, (uInt)n));
}

static void through_streams(int level)
{
    z_stream s = { 0 };
    unsigned char packed[200], out[200];

    deflateInit(&s, level);
    s.next_in = (unsigned char *)text;
    s.avail_in = sizeof text;
    s.next_out = packed;
    s.avail_out = sizeof packed;
    deflate(&s, Z_SYNC_FLUSH);
    printf("deflate %d", deflate(&s, Z_FINISH));
    printf(", %lu bytes\n", s.total_out);
    size_t n = s.total_out;
    deflateEnd(&s);

    memset(&s, 0, sizeof s);
    inflateInit(&s);
    s.next_in = packed;
    s.avail_in = (uInt)n;
    s.next_out = out;
    s.avail_out = sizeof out;
    printf("inflate %d: %s\n", inflate(&s, Z_FINISH), out);
    inflateReset(&s);
    inflateEnd(&s);
}

static void through_a_file(const char *path)
{
    char line[100];
    gzFile f = gzopen(path, "wb");

    gzwrite(f, text, sizeof text - 1);
    gzputs(f, "\nsecond line\n");
    gzclose(f);
    f = gzopen(path, "rb");
    while (gzgets(f, line, sizeof line))
        printf("%ld %s", (long)gztell(f), line);
    gzrewind(f);
    printf("%d %c %d\n", gzread(f, line, 10), gzgetc(f), gzeof(f));
    gzclose(f);
    remove(path);
}

int main(void)
{
    at_once();
    through_streams(6);
    through_streams(1);
    through_a_file("/tmp/sundew-example.gz");
    return 0;
}
