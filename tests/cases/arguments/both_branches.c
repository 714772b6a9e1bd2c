/*
 * name:   both orders stand close together: in two branches, and two lines apart
 * run:    sundew arguments $file
 * expect: $file:20:9: arguments: draw_line: arguments 1 and 2 are exchanged
 * expect: $file:26:5: arguments: draw_line: arguments 1 and 2 are exchanged
 * absent: look swapped
 * status: 0
 */
void draw_line(int start, int end, int color);

void a(int start, int end) { draw_line(start, end, 1); }
void b(int start, int end) { draw_line(start, end, 2); }
void c(int start, int end) { draw_line(start, end, 3); }

void both(int start, int end, int down)
{
    if (down)
        draw_line(start, end, 4);
    else
        draw_line(end, start, 5);
}

void above(int start, int end)
{
    draw_line(start, end, 6);
    draw_line(end, start, 7);
}
