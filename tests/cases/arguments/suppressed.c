/*
 * name:   a comment silences a finding, and is not mistaken for an explanation
 * run:    sundew arguments --json $file
 * expect: "suppressed": 1,
 * expect: "unused_suppressions": []
 * absent: paint
 * status: 0
 */
void draw(int width, int height); void paint(int width, int height);

void one(int width, int height)
{
    // sundew: ignore arguments/swapped (the screen stands upright)
    draw(height, width);
}

void two(int width, int height)
{
    /*
     * Portrait mode: width and height are swapped.
     */
    paint(height, width);
}
