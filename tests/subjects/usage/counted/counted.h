/* Texts that know their length: it stands before the first byte. */
#ifndef COUNTED_H
#define COUNTED_H
#include <stddef.h>

char *counted_new(const char *text);
size_t counted_length(const char *counted);
void counted_clear(char *counted);
void counted_free(char *counted);
char **counted_split(const char *text, char at, int *n);
void counted_free_all(char **all, int n);
int text_words(const char *text);        /* any text */
#endif
