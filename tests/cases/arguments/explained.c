/*
 * name:   a comment says that the order is meant: above, beside, behind, over several lines
 * run:    sundew arguments $file
 * absent: arguments:
 * status: 0
 */
void draw_line(int start, int end);

void a(int start, int end) { draw_line(start, end); }
void b(int start, int end) { draw_line(start, end); }
void c(int start, int end) { draw_line(start, end); }

void above(int start, int end)
{
    /* We go from the
       end to the start
       intentionally. */
    draw_line(end, start);
}

void beside(int start, int end)
{
    draw_line(end,    // the order of arguments is right
              start);
}

void behind(int start, int end)
{
    draw_line(end, start); /* backwards */
}
