/*
 * name:   AT5 and AT6: who never ran takes nothing away, and gets what others show
 * run:    sundew capture -q -- cc -g $file -o prog && sundew invariants prog -- ./prog && echo 'Subdomain(never, often)' > r && sundew invariants prog --constraints r && echo 'Subrange(text_of, text_never)' > r && sundew invariants prog --constraints r
 * expect: often
 * expect: requires p != NULL
 * expect: 1 constraints changed the contracts of 0 functions.
 * expect: text_never
 * expect: + ensures  return != NULL
 * expect: 20 samples, borrowed
 * expect: 1 constraints changed the contracts of 1 functions.
 * absent: - requires
 * status: 0
 */
__attribute__((noinline)) int never(int *p)
{
    return *p;
}

__attribute__((noinline)) int often(int *p)
{
    return *p + 1;
}

static const char *const names[] = { "a", "b", "c" };

__attribute__((noinline)) const char *text_of(int i)
{
    return names[i % 3];
}

__attribute__((noinline)) const char *text_never(int i)
{
    return names[(i + 1) % 3];
}

int main(int argc, char **argv)
{
    int x[20] = { 0 }, sum = 0;
    (void)argv;
    if (argc > 5)
        return never(x) + (text_never(argc) != 0);
    for (int i = 0; i < 20; i++)
        sum += often(&x[i]) + (text_of(i)[0] == 0);
    return sum != 20;
}
