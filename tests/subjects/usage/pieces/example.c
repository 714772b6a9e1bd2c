#include "pieces.h"
#include <stdio.h>
#include <string.h>

static void show(const char *text)
{
    struct place place;          /* whatever the stack holds */
    char copy[100];
    strcpy(copy, text);
    int failed = place_parse(&place, copy);
    printf("%d %s %d\n", failed, place.host ? place.host : "-", place.port);
}

static int seven(void) { return 7; }

int main(void)
{
    show("example.org:80/a/b?x=1");
    show("localhost");
    show("here/there");

    char path[] = "docs/2024/report", query[] = "name=Ann&page=2&flag";
    char *parts[4];
    struct pair pairs[5];
    int n = pieces_split(path, parts, 4);
    printf("%d %s\n", n, parts[n - 1]);
    n = pieces_pairs(query, '&', pairs, 5);
    printf("%d %s\n", n, pairs[1].value);

    static const char *aliases[] = {"short", "long", NULL};
    struct coder *c = coder_new("some pepper", 8);
    char name[100];
    int numbers[3] = {4, 44, 444}, back[3];
    coder_aliases(c, aliases);
    coder_name(c, name, 3, numbers);
    n = coder_numbers(c, name, back, 3);
    printf("%s: %d %d %s\n", name, n, back[2], coder_alias(c, 1));
    coder_free(c);

    char wide[100];
    decorate("a text of more than sixty-four characters, for which an answer needs some room", wide);
    printf("%s\n", wide);
    static const int four[4] = {1, 2, 3, 4};
    printf("%d\n", sum_of_four(four));
    printf("%d\n", key_ends("key", 3));
    char *words[] = {"one", "two", "three"};
    printf("%d %s\n", words_turn(3, words), words[2]);
    static const struct rate rates[] = {{"books", 7}, {"other", 19}, {NULL, 0}};
    printf("%d\n", rate_of("other", rates));
    struct bell *bell = bell_new(seven);
    printf("%d\n", bell_ring(bell));
    bell_free(bell);
    return 0;
}
