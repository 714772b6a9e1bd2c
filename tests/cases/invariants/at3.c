/*
 * name:   AT3: Concord copies the calls that both take
 * run:    sundew capture -q -- cc -g $file -o prog && sundew invariants prog -- ./prog && echo 'Concord(third_of_multiple, third)' > r && sundew invariants prog --constraints r
 * expect: third_of_multiple
 * expect: third  $file
 * expect: requires x >= 0
 * expect: ensures  return == 0
 * expect: third  $file
 * expect: - ensures  return == 0
 * expect: refuted by Concord(third_of_multiple, third): return = 1
 * expect: + ensures  return == x / 3
 * expect: + ensures  return == 0 || return == 1 || return == 2
 * expect: changed the contracts of 1 functions.
 * status: 0
 */

/* Of multiples of three only, negative ones too. */
__attribute__((noinline)) int third_of_multiple(int x)
{
    return x / 3;
}

/* Any number from 0 on. */
__attribute__((noinline)) int third(int x)
{
    return x / 3;
}

int main(void)
{
    for (int i = 0; i < 4; i++)
        for (int x = -3; x <= 6; x += 3)
            third_of_multiple(x);
    for (int i = 0; i < 6; i++) {
        third(0);
        if (i < 4)
            third(1);
        if (i < 2)
            third(2);
    }
    return 0;
}
