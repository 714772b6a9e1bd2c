#include "stream.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct inner { int shift; char last[32]; int n; };

int stream_begin(struct stream *s, int shift)
{
    struct inner *in;
    if (shift < 0 || shift > 25)
        return STREAM_BAD;
    in = calloc(1, sizeof *in);
    in->shift = shift;
    s->state = in;
    s->total = 0;
    return STREAM_OK;
}

static int one(struct inner *in, int c)
{
    if (!isalpha(c)) {
        in->n = 0;
        return c;
    }
    c = (toupper(c) - 'A' + in->shift) % 26 + 'A';
    if (in->n < (int)sizeof in->last - 1)
        in->last[in->n++] = (char)c;
    return c;
}

int stream_run(struct stream *s)
{
    struct inner *in = s->state;
    if (!in)
        return STREAM_BAD;
    while (s->avail_in && s->avail_out) {
        *s->next_out++ = (unsigned char)one(in, *s->next_in++);
        s->avail_in--;
        s->avail_out--;
        s->total++;
    }
    return s->avail_in ? STREAM_MORE : STREAM_OK;
}

int stream_word(struct stream *s, struct word *w)
{
    struct inner *in = s->state;
    if (!in || !in->n)
        return STREAM_BAD;
    w->length = in->n;
    w->text = calloc(1, (size_t)in->n + 1);
    memcpy(w->text, in->last, (size_t)in->n);
    return STREAM_OK;
}

void word_delete(struct word *w)
{
    free(w->text);
    w->text = NULL;
}

int stream_end(struct stream *s)
{
    if (!s->state)
        return STREAM_BAD;
    free(s->state);
    s->state = NULL;
    return STREAM_OK;
}
