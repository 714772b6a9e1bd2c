/*
 * Ten seeded bugs that need three to six events, one for each BUG. FIXED is the correct twin. An event is a
 * call of step(); the numbers below are the fewest events that show the bug.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#ifdef FIXED
#define RIGHT 1
#else
#define RIGHT 0
#endif

#if BUG == 1 /* a file: open, close, write (3) */
static char *buffer;
void step(unsigned char what)
{
    if (what == 'o' && !buffer)
        buffer = calloc(16, 1);
    if (what == 'c' && buffer) {
        free(buffer);
        if (RIGHT)
            buffer = NULL;
    }
    if (what == 'w' && buffer)
        buffer[1] = 'x';
}
#elif BUG == 2 /* a stack: switch it on, pop when it is empty, push (3) */
static int stack[8], depth, on;
void step(unsigned char what)
{
    if (what == 'm')
        on = 1;
    if (what == '-' && on && depth >= RIGHT)
        depth--;
    if (what == '+' && on && depth < 8)
        stack[depth++] = 1;
}
#elif BUG == 3 /* a queue of four places: the fifth put (5) */
static struct {
    int items[4];
    int guard;
} *queue;
static unsigned used;
void step(unsigned char what)
{
    if (!queue)
        queue = calloc(1, sizeof queue->items);
    if (what == 'p' && used < 4u + !RIGHT)
        queue->items[used++] = 7;
    if (what == 'g' && used)
        used--;
}
#elif BUG == 4 /* a lock with the digits 3, 1, 4, 1: open shows the assertion (5) */
static int right, opened;
void step(unsigned char digit)
{
    static const unsigned char code[] = { 3, 1, 4, 1 };
    if (right < 4)
        right = digit == code[right] ? right + 1 : 0;
    else if (digit == 9)
        opened = 1;
    assert(RIGHT || !opened);
}
#elif BUG == 5 /* a motor: set the speed to zero while it is in gear, then measure (4) */
static int on, gear, speed = 5, measured;
void step(unsigned char what)
{
    if (what == 's')
        on = 1;
    if (what == 'g' && on)
        gear = 1;
    if (what == 'z' && gear)
        speed = 0;
    if (what == 'm' && gear && (!RIGHT || speed))
        measured = 100 / speed;
}
#elif BUG == 6 /* a list: two in, the first out, look at the one that was chosen first (5) */
static struct item {
    struct item *next;
    int value;
} *first, *chosen;
static int seen;
void step(unsigned char what)
{
    if (what == 'i') {
        struct item *n = malloc(sizeof *n);
        n->next = first;
        n->value = 1;
        first = n;
    }
    if (what == 'c' && first && first->next)
        chosen = first->next;
    if (what == 'r' && first) {
        struct item *n = first->next ? first->next : first;
        if (RIGHT && chosen == n)
            chosen = NULL;
        if (n == first)
            first = n->next;
        else
            first->next = n->next;
        free(n);
    }
    if (what == 'l' && chosen)
        seen = chosen->value;
}
#elif BUG == 7 /* a session: user, password wrong twice, user again, quit (5) */
static char *name;
static int wrong;
void step(unsigned char what)
{
    if (what == 'u' && !name)
        name = strdup("user");
    if (what == 'p' && name && ++wrong == 2) {
        free(name);
        if (RIGHT)
            name = NULL;
        wrong = 10;
    }
    if (what == 'r' && wrong == 10)
        wrong = 11;
    if (what == 'q' && name && wrong == 11)
        name[0] = 0;
}
#elif BUG == 8 /* a word: S T O P ! (5) */
static int at;
void step(unsigned char c)
{
    static const char word[] = "STOP!";
    at = c == (unsigned char)word[at] ? at + 1 : c == 'S';
    if (at == 5) {
        if (!RIGHT)
            abort();
        at = 0;
    }
}
#elif BUG == 9 /* a timer: arm, tick three times, disarm, tick (6) */
static int armed, left, table[4];
static int *slot = table;
void step(unsigned char what)
{
    if (what == 'a' && !armed) {
        armed = 1;
        left = 3;
    }
    if (what == 't' && armed && left > 0)
        left--;
    if (what == 'd' && armed && !left)
        armed = 2;
    if (what == 't' && armed == 2) {
        slot = RIGHT ? slot : NULL;
        *slot = 1;
    }
}
#elif BUG == 10 /* a menu: three levels down, delete the middle one, up (5) */
static struct menu {
    struct menu *up;
    int open;
} *now;
void step(unsigned char what)
{
    if (what == 'd' && (!now || !now->up || !now->up->up)) {
        struct menu *m = calloc(1, sizeof *m);
        m->up = now;
        now = m;
    }
    if (what == 'x' && now && now->up && now->up->up) {
        struct menu *middle = now->up;
        if (RIGHT)
            now->up = middle->up;
        free(middle);
    }
    if (what == 'u' && now && now->up)
        now->up->open = 1;
}
#endif

int main(void)
{
    step(0);
    return 0;
}
