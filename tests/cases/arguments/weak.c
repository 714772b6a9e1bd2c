/*
 * name:   one of the names fits the other place only by half: a note, no warning
 * run:    sundew arguments $file
 * expect: $file:13:5: arguments: draw: arguments 1 and 2 may be swapped
 * absent: look swapped
 * status: 0
 */
void draw(int rows, int columns);

/* The product is named after one of its factors, at half the weight. */
void one(int columns, int row_count_limit_of_table)
{
    draw(columns, row_count_limit_of_table * 2);
}
