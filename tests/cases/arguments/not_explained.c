/*
 * name:   a string is no comment, and a comment far above is about something else
 * run:    sundew arguments $file
 * expect: $file:18:5: arguments: draw_line: arguments 1 and 2 look swapped
 * expect: $file:29:5: arguments: draw_line: arguments 1 and 2 look swapped
 * status: 1
 */
void draw_line(int start, int end);
void say(const char *text);
void a(int start, int end) { draw_line(start, end); }
void b(int start, int end) { draw_line(start, end); }
void c(int start, int end) { draw_line(start, end); }
void d(int start, int end) { draw_line(start, end); }

void text(int start, int end)
{
    say("/* backwards, intentionally */");
    draw_line(end, start);
}

void far(int start, int end)
{
    /* backwards */
    say("a");
    say("b");
    say("c");
    say("d");
    say("e");
    draw_line(end, start);
}
