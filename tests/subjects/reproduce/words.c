/* An array on the stack of a function that is not monitored: what it holds is kept all the same. */
#include <stdlib.h>

#define DEFECT 1

struct word {
    int length;
    const char *text;
};

__attribute__((noinline)) int use(int n, struct word *const *words)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += words[i]->length + (words[i]->text || !DEFECT ? 1 : *words[i]->text);
    return sum;
}

static struct word *word(int length, const char *text)
{
    struct word *w = malloc(sizeof *w);
    if (!w)
        abort();
    *w = (struct word){ length, text };
    return w;
}

int main(void)
{
    struct {
        struct word *words[3];
        long behind;                         /* no null ends them */
    } all = { { word(1, "a"), word(2, "bc"), word(0, NULL) }, 7 };
    return use(3, all.words) + (int)all.behind;
}
