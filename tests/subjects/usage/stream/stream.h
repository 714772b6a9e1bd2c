/*
 * stream - text in pieces, turned into capitals. The caller has the struct, and
 * says before each call where the next piece is and where results go.
 */
#ifndef STREAM_H
#define STREAM_H

struct stream {
    const unsigned char *next_in;
    unsigned avail_in;
    unsigned char *next_out;
    unsigned avail_out;
    unsigned long total;
    void *state;                         /* the library's */
};

struct word {                            /* made in the caller's memory, too */
    int length;
    char *text;
};

enum { STREAM_OK, STREAM_MORE, STREAM_BAD = -1 };

int stream_begin(struct stream *s, int shift);
int stream_run(struct stream *s);        /* as much as there is, and room for */
int stream_word(struct stream *s, struct word *w);       /* the last that went through */
void word_delete(struct word *w);
int stream_end(struct stream *s);
#endif
