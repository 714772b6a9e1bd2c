/* shelf COMMAND: runs of the module that go well, and some that do not. */
#include "bag.h"
#include "shelf.h"
#include <stdio.h>
#include <string.h>

static int good(struct shelf *s)
{
    struct stack *own = stack_new();
    stack_push(own, 1);
    stack_peek(own);
    stack_pop(own);
    stack_free(own);
    shelf_fill(s, 1);
    shelf_report(s);
    shelf_top(s);
    shelf_page(s, 2);
    shelf_page(s, 3);
    shelf_current(s);
    shelf_begin(s);
    while (shelf_next(s) >= 0)
        shelf_flush(s);
    shelf_begin(s);
    shelf_next(s);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    struct shelf *s = shelf_new();
    if (!strcmp(what, "good"))
        good(s);
    else if (!strcmp(what, "report"))
        shelf_report(s);
    else if (!strcmp(what, "top"))
        shelf_top(s);
    else if (!strcmp(what, "current"))
        shelf_current(s);
    else if (!strcmp(what, "flush")) {
        shelf_page(s, 1);
        shelf_begin(s);
        shelf_next(s);
        shelf_flush(s);
        shelf_flush(s);
    } else if (!strcmp(what, "foreign"))
        shelf_foreign();
    shelf_free(s);
    return 0;
}
