/* Texts that are cut where they stand, and results that go to the caller's memory. */
#ifndef PIECES_H
#define PIECES_H
#include <stddef.h>

struct place {
    char *host, *path, *query;
    int port;
};

struct pair {
    char *key, *value;
};

int place_parse(struct place *place, char *text);            /* host:port/path?query */
int pieces_split(char *line, char **parts, int max_parts);
int pieces_pairs(char *text, char delimiter, struct pair *pairs, int max_pairs);

struct coder;
struct coder *coder_new(const char *salt, size_t min_name_length);
void coder_free(struct coder *c);
int coder_name(struct coder *c, char *buffer, int numbers_count, const int *numbers);
int coder_numbers(struct coder *c, const char *name, int *numbers, int numbers_max);
void coder_aliases(struct coder *c, const char **aliases);   /* up to a NULL; they are kept */
const char *coder_alias(const struct coder *c, int which);

void decorate(const char *text, char *into);                 /* "<text>", however long */
int sum_of_four(const int numbers[4]);
int key_ends(const char *key, int key_len);                  /* looks behind the key */

int words_turn(int argc, char *argv[]);                      /* the first becomes the last */

struct rate {
    const char *name;
    int percent;
};
int rate_of(const char *name, const struct rate *rates);     /* up to one without a name */

struct bell;
struct bell *bell_new(int (*ring)(void));
int bell_ring(const struct bell *b);
void bell_free(struct bell *b);
#endif
