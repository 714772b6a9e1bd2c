/*
 * name:   a run that breaks a contract is told at the function that breaks it
 * run:    sundew capture -q -- cc -g $file -o prog && sundew invariants prog -- ./prog > base && sundew invariants prog --check -- ./prog && sundew invariants prog --check -- ./prog x
 * expect: no findings
 * expect: $file:24: invariants: tank_fill no longer ensures t->level <= t->room
 * expect: t->level = 11, t->room = 10
 * absent: use no longer
 * absent: tank_take
 * status: 1
 */
#include <stdlib.h>

struct tank { int level, room; };
static int careless;

__attribute__((noinline)) void tank_init(struct tank *t, int room)
{
    t->level = 0;
    t->room = room;
}

__attribute__((noinline))
void
tank_fill(struct tank *t, int n)
{
    if (careless || t->level + n <= t->room)
        t->level += n;
}

__attribute__((noinline)) int tank_take(struct tank *t, int n)
{
    if (n > t->level)
        n = t->level;
    t->level -= n;
    return n;
}

__attribute__((noinline)) static void use(struct tank *t, int steps)
{
    for (int i = 0; i < steps; i++) {
        tank_fill(t, i % 4);
        if (i % 3 == 0)
            tank_take(t, i % 5);
    }
}

int main(int argc, char **argv)
{
    struct tank t;
    for (int room = 5; room < 15; room++) {
        tank_init(&t, room);
        use(&t, 40);
    }
    if (argc > 1) {
        careless = argv[1] != NULL;
        tank_init(&t, 10);
        tank_fill(&t, 9);
        tank_fill(&t, 2);
    }
    return 0;
}
