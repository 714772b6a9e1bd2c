/*
 * names - what the words of an identifier are.
 *
 *     Words *w = words_new();
 *     words_read(w, "share/arguments/words.txt", err);
 *     Tokens t = {0};
 *     words_of(w, "srcBufLen2", &t);      source buffer length 2
 *
 * A name is cut at punctuation, between small and capital letters, and between
 * letters and digits; a part that is two known words run together is cut
 * there (newname), and so are the ends of sx, cy, nextx. Known abbreviations
 * are spelled out, a plural's s goes.
 *
 * A line of the table is a word followed by its other spellings.
 */
#ifndef SUNDEW_ARGUMENTS_NAMES_H
#define SUNDEW_ARGUMENTS_NAMES_H
#include "base/err.h"
#include <stddef.h>

typedef struct Words Words;

enum { MOST_TOKENS = 12 };

typedef struct Tokens {
    const char *words[MOST_TOKENS];   /* interned in the Words */
    size_t n;
} Tokens;

Words *words_new(void);                        /* knows nothing yet */
bool words_read(Words *w, const char *path, Err *err);
void words_add_line(Words *w, const char *line);
/* From now on names are cut at this word, too. */
void words_learn(Words *w, const char *word);
void words_free(Words *w);                     /* NULL is fine */

void words_of(Words *w, const char *name, Tokens *out);
#endif
