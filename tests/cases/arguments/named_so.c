/*
 * name:   a comment names both in the order of the call; or in the right one
 * run:    sundew arguments $file
 * expect: $file:26:5: arguments: draw_line: arguments 1 and 2 are exchanged
 * expect: $file:32:5: arguments: draw_line: arguments 1 and 2 look swapped
 * expect: $file:38:5: arguments: draw_line: arguments 1 and 2 are exchanged
 * status: 1
 */
void draw_line(int start, int end);
void a(int start, int end) { draw_line(start, end); }
void b(int start, int end) { draw_line(start, end); }
void c(int start, int end) { draw_line(start, end); }
void d(int start, int end) { draw_line(start, end); }
void e(int start, int end) { draw_line(start, end); }
void f(int start, int end) { draw_line(start, end); }
void g(int start, int end) { draw_line(start, end); }
void h(int start, int end) { draw_line(start, end); }
void i(int start, int end) { draw_line(start, end); }
void j(int start, int end) { draw_line(start, end); }
void k(int start, int end) { draw_line(start, end); }
void l(int start, int end) { draw_line(start, end); }

void named(int start, int end)
{
    /* the line goes from the end to the start here */
    draw_line(end, start);
}

void as_declared(int start, int end)
{
    /* from start to end */
    draw_line(end, start);
}

void arithmetic(int start, int end)
{
    draw_line(start, end - 1);
    draw_line(end, start + 1);
}
