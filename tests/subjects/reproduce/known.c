/* Contracts of earlier runs say what is new about the arguments of a crash. */
#include <stdio.h>
#include <string.h>

static int width(const char *word, int room)
{
    return word[0] == '-' ? room : (int)strlen(word);
}

static const char *next(char **words, int i)
{
    return strcmp(words[i], "none") ? words[i] : NULL;
}

int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = 1; i < argc; i++)
        sum += width(next(argv, i), i);
    printf("%d\n", sum);
    return 0;
}
