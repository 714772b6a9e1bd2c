/* Opens the latch; with a FILE, tries the word of its first line and the code of its second. */
#include "latch.h"
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char word[80] = "quick brown fox";
    unsigned code = 482913u;
    FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (f) {
        if (!fgets(word, sizeof word, f) || fscanf(f, "%u", &code) != 1)
            code = 0;
        word[strcspn(word, "\n")] = 0;
        fclose(f);
    }
    struct latch *l = latch_new();
    int shut = latch_inside(l);
    int turned = latch_turn(l, word, code);
    printf("%d %d %d\n", shut, turned, latch_inside(l));
    latch_free(l);
    return 0;
}
