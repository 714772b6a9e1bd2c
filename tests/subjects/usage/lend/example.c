#include "lend.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *s)
{
    char *c = malloc(strlen(s) + 1);
    return c ? strcpy(c, s) : NULL;
}

int main(void)
{
    struct bag *b = bag_new();
    bag_label(b, copy("apples"));
    bag_fill(b, copy("1234"), 4);
    printf("%d\n", bag_weight(b));
    bag_label(b, copy("pears"));
    printf("%d\n", bag_weight(b));
    bag_free(b);

    struct item last = { "two", NULL, 2 }, first = { "one", &last, 1 };
    printf("%zu\n", list_length(&first));
    printf("%zu\n", list_length(&last));

    const char *text = "a1b22c333";
    printf("%d\n", count_digits(text, text + 9));
    printf("%d\n", count_digits(text + 2, text + 5));

    const char *words[] = { "some", "words" };
    printf("%zu\n", words_length(words, 2));

    struct ring one = { &one, 4 };
    printf("%d\n", ring_sum(&one));

    struct span span;
    memset(&span, 0x7b, sizeof span);        /* what happens to lie on the stack */
    span_read(&span, "three old words");
    printf("%d\n", span_words(&span));
    span_clear(&span);

    const struct scale_ops *ops = &fine_scale;
    struct scale *s;
    if (ops->open(&s, 20) < 0)
        return 1;
    ops->weigh(s, 3);
    printf("%d\n", ops->weigh(s, 2));
    ops->close(s);

    struct doc *d = doc_open("data/my-rows.txt");
    if (!d)
        return 1;
    printf("%d\n", doc_lines(d));
    doc_close(d);
    return 0;
}
