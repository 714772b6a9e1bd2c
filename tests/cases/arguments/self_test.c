/*
 * name:   the self-test says how much would be found here, the same each time
 * run:    sundew arguments --self-test --seed 3 $file; sundew arguments --self-test --seed 3 --json $file
 * expect: identifiers       3 seeds,      2 found: recall 0.667, precision 1.000
 * expect: members           1 seeds,      1 found: recall 1.000, precision 1.000
 * expect: all               4 seeds,      3 found: recall 0.750, precision 1.000
 * expect: of 4 calls that could be seeded; seed 3
 * expect: "recall": 0.75
 * status: 0
 */
struct size { int width, height; };
void draw(int width, int height);
void move(int bishop, int rook);
void all(struct size s, int width, int height, int total, int other)
{
    draw(width, height);
    draw(s.width, s.height);
    draw(1, 2);
    draw(total, height);
    move(total, other);
}
