#include "stream.h"
#include <stdio.h>
#include <string.h>

int main(void)
{
    static const unsigned char text[] = "some words";
    unsigned char out[40];
    struct stream s;
    struct word w;
    memset(&s, 0, sizeof s);
    memset(&w, 0, sizeof w);
    if (stream_begin(&s, 3) != STREAM_OK)
        return 1;
    s.next_in = text;
    s.avail_in = sizeof text - 1;
    s.next_out = out;
    s.avail_out = sizeof out;
    if (stream_run(&s) != STREAM_OK || stream_word(&s, &w) != STREAM_OK)
        return 1;
    printf("%.10s %s %lu\n", (char *)out, w.text, s.total);
    word_delete(&w);
    return stream_end(&s);
}
