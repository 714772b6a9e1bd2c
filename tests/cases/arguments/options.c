/*
 * name:   thresholds, modes of types and classes
 * run:    sundew arguments --class bug $file; sundew arguments --class naming $file; sundew arguments --types typedef $file; sundew arguments --types convertible --class bug $file; sundew arguments --types odd $file; sundew arguments --threshold 2 $file; sundew arguments --class x $file
 * expect: $file:22:5: arguments: put: arguments 2 and 3 look swapped
 * expect: 1 finding
 * expect: no findings
 * expect: no findings
 * expect: $file:22:5: arguments: put: arguments 2 and 3 look swapped
 * expect: $file:23:5: arguments: get: arguments 2 and 3 look swapped
 * expect: --types odd: not typedef, canonical or convertible
 * expect: --threshold 2: not a number from 0 to 1
 * expect: --class x: not bug, naming or noteworthy
 * status: 2
 */
typedef int row_t;
typedef int column_t;
struct grid;
void put(struct grid *g, row_t row, column_t column);
void get(struct grid *g, long row, short column);
void both(struct grid *g, row_t row, column_t column)
{
    put(g, column, row);
    get(g, column, row);
}

void twin(struct grid *g, row_t row, column_t column)
{
    put(g, row, column);
    get(g, row, column);
}
