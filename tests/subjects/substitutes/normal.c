/* Differences that a small thing explains: capitals, all but the sign; and one that nothing explains. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word {
    char text[32];
};
struct word_ops {
    struct word *(*make)(const char *text);
    const char *(*name)(const struct word *w);
    int (*order)(const struct word *w, const char *other);
    int (*count)(const struct word *w);
    void (*drop)(struct word *w);
};

static struct word *make(const char *text)
{
    struct word *w = calloc(1, sizeof *w);
    snprintf(w->text, sizeof w->text, "Word %.20s", text);
    return w;
}

static const char *plain_name(const struct word *w) { return w->text; }
static int plain_order(const struct word *w, const char *other) { return strcmp(other, w->text) < 0 ? -1 : 1; }
static int plain_count(const struct word *w) { return (int)strlen(w->text); }

static const char *loud_name(const struct word *w)
{
    static char text[32];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)toupper((unsigned char)w->text[i]);
    return text;
}
static int loud_order(const struct word *w, const char *other)
{
    return strcmp(other, w->text) < 0 ? -7 : 5;
}
static int loud_count(const struct word *w) { return w->text[5] == 'a' ? 0 : (int)strlen(w->text) - 1; }
static void drop(struct word *w) { free(w); }

const struct word_ops plain = { make, plain_name, plain_order, plain_count, drop };
const struct word_ops loud = { make, loud_name, loud_order, loud_count, drop };

int main(void)
{
    struct word *w = plain.make("x");
    printf("%d %d\n", plain.count(w), loud.count(w));
    loud.drop(w);
    return 0;
}
