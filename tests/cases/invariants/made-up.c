/*
 * name:   inputs that are no tests: a broken relation or promise is a warning, what one value was is a note
 * run:    sundew capture -q -- cc -g $file -o prog && sundew invariants prog -- ./prog > base && sundew invariants prog --check --made-up -- ./prog x
 * expect: $file:20: invariants: fill no longer ensures return >= 0 ==> t->error == orig(t->error)
 * expect: fill no longer ensures t->level >= orig(t->level)
 * expect: fill no longer gets n >= 0
 * expect: $file:20: invariants: fill no longer ensures t->level <= t->room
 * expect: mix no longer gets green <= red
 * expect: 5 findings (2 warnings, 3 notes)
 * absent: pour no longer
 * status: 1
 */
struct tank { int level, room, error; };
static int careless, warm[2];

/* An error is a negative result, which pour() hands on: the trouble is told once, here. No test
 * takes out, so that is a note. */
__attribute__((noinline))
int
fill(struct tank *t, int n)
{
    if (!careless && t->level + n > t->room) {
        t->error = 7;
        return -5;
    }
    t->level += n;
    if (careless && n == 2) {
        t->error = 7;
        return 5;
    }
    return 0;
}

__attribute__((noinline)) int pour(struct tank *t, int n) { return fill(t, n); }

/* The tests have warm colours only. */
__attribute__((noinline)) void mix(unsigned red, unsigned green) { warm[red > green]++; }

int main(int argc, char **argv)
{
    (void)argv;
    for (unsigned red = 0; red < 50; red++)
        for (unsigned green = 0; green <= red; green += 7)
            mix(red, green);
    struct tank t;
    for (int room = 5; room < 25; room++) {
        t = (struct tank){ .room = room };
        for (int i = 0; i < 20; i++)
            if (pour(&t, i % 4) < 0)
                t.error = 0;
    }
    if (argc > 1) {
        mix(3, 90);
        t = (struct tank){ .level = 3, .room = 10 };
        pour(&t, -1);
        careless = 1;
        pour(&t, 2);
        pour(&t, 9);
    }
    return 0;
}
