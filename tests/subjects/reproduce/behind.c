/*
 * What the mended function needs is not all in the crash file:
 *
 *     far      pages that lie beyond the size of a crash file
 *     twice    an object that has moved since the function was entered; a shallow copy has its
 *              old place, the memory at the crash its new one
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFECT 1
/* A call that no optimiser sees through: the function keeps its frame. */
#define CALL(f) (*(__typeof__(f) *volatile *)&(__typeof__(f) *){ f })

enum { PAGES = 40 };
struct page {
    char bytes[1 << 16];
    int n;
};
struct book {
    char *name;
    struct shelf *shelf;
    struct page *pages[PAGES];
};
struct shelf {
    char *spare;
};

static const char *find(const struct book *b, int c) { return strchr(b->name, c); }

static int length(const struct book *b, int c)
{
    const char *at = CALL(find)(b, c);
    return at || DEFECT ? (int)strlen(at) : 0;
}

static int far(const struct book *b)
{
    int sum = CALL(length)(b, 'x');
    for (int i = PAGES; i-- > 0;)
        sum += b->pages[i]->n;
    return sum;
}

static int twice(struct book *b)
{
    if (!b->shelf->spare) {
        b->shelf->spare = b->name;
        b->name = calloc(1, 8);
    }
    int n = CALL(length)(b, 'x');
    free(b->name);
    free(b->shelf->spare);
    return n;
}

int main(int argc, char **argv)
{
    struct book b = { .name = calloc(1, 40), .shelf = calloc(1, sizeof *b.shelf) };
    for (int i = 0; i < PAGES; i++)
        b.pages[i] = calloc(1, sizeof **b.pages);
    strcpy(b.name, "name");
    printf("%d\n", argc > 1 && strcmp(argv[1], "twice") == 0 ? CALL(twice)(&b) : CALL(far)(&b));
    return 0;
}
