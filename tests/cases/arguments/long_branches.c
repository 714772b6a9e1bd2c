/*
 * name:   branches of one if may be long; code behind the else is no branch
 * run:    sundew arguments $file
 * expect: $file:29:9: arguments: draw_line: arguments 1 and 2 are exchanged
 * expect: $file:49:5: arguments: draw_line: arguments 1 and 2 look swapped
 * status: 1
 */
void draw_line(int start, int end);
void say(const char *text);
void a(int start, int end) { draw_line(start, end); }
void b(int start, int end) { draw_line(start, end); }
void c(int start, int end) { draw_line(start, end); }

void both(int start, int end, int down)
{
    if (down) {
        draw_line(start, end);
        say("1");
        say("2");
        say("3");
        say("4");
        say("5");
        say("6");
        say("7");
        say("8");
        say("9");
    } else if (start > 7) {
        say("else {");
        draw_line(end, start);
    }
}

void after(int start, int end, int down)
{
    if (down) {
        draw_line(start, end);
        say("1");
        say("2");
        say("3");
        say("4");
        say("5");
        say("6");
        say("7");
        say("8");
        say("9");
    } else {
        say("10");
    }
    draw_line(end, start);
}
