/* A result that only a caller who sees no input leaves unused: LLVM removes it for this caller. */
#include <stdio.h>

struct state {
    int code, input;
};

/* Reads something of the input, but takes and gives none of it. */
__attribute__((noinline)) static int note(struct state *s, int code)
{
    s->code = s->input == 'x' ? code : code + 1;
    switch (code) {
    case 1: return 0;
    case 2: return 1;
    default: return 3;
    }
}

/* Nobody calls it. */
void never(struct state *s, int code)
{
    if (code < 0)
        note(s, code);
}

int main(int argc, char **argv)
{
    struct state s = { 0, getchar() };
    (void)argv;
    int got = note(&s, argc);
    if (s.input == '2')
        puts("two");
    printf("%d %d\n", got, s.code);
    return 0;
}
