/*
 * A null pointer that is five pointers away. Nobody asks for a word that is null: who should have
 * made it is wrong. For a title that is null the program asks, and one function has forgotten to.
 */
#include <stdio.h>
#include <stdlib.h>

#ifndef DEFECT
#define DEFECT 1
#endif

struct word { int length; };
struct setting { const char *name; struct word *word; };
struct list { void **items; int n; };
struct command { struct list settings; };
struct line { struct list commands; };

struct text { int length; };
struct part { struct text *title; };
struct chapter { struct part *part; };
struct volume { struct chapter *chapter; };
struct book { struct volume *volume; };

static int size(const struct word *w) { return w->length; }

static int all_settings(const struct command *c)
{
    int sum = 0;
    for (int i = 0; i < c->settings.n; i++)
        sum += size(((struct setting *)c->settings.items[i])->word);
    return sum;
}

static int all_commands(const struct line *l)
{
    int sum = 0;
    for (int i = 0; i < l->commands.n; i++)
        sum += all_settings(l->commands.items[i]);
    return sum;
}

static void add(struct list *l, void *item)
{
    l->items = realloc(l->items, (size_t)(l->n + 1) * sizeof *l->items);
    l->items[l->n++] = item;
}

static int read_line(int c)
{
    struct line *l = calloc(1, sizeof *l);
    struct command *cmd = calloc(1, sizeof *cmd);
    struct setting *s = calloc(1, sizeof *s);
    add(&l->commands, cmd);
    add(&cmd->settings, s);
    s->name = "x";
    if (c > 9 || !DEFECT)
        s->word = calloc(1, sizeof *s->word);
    return all_commands(l);
}

static int title(const struct text *t) { return t->length; }

static int width(const struct book *b)
{
    const struct part *p = b->volume->chapter->part;
#if !DEFECT
    if (!p->title)
        return 0;
#endif
    return title(p->title);
}

static int both(const struct book *b)
{
    const struct part *p = b->volume->chapter->part;
    int w = width(b);
    return p->title ? w + p->title->length : w;
}

static int read_book(int c)
{
    struct book *b = calloc(1, sizeof *b);
    b->volume = calloc(1, sizeof *b->volume);
    b->volume->chapter = calloc(1, sizeof *b->volume->chapter);
    b->volume->chapter->part = calloc(1, sizeof *b->volume->chapter->part);
    if (c > 9)
        b->volume->chapter->part->title = calloc(1, sizeof(struct text));
    return both(b);
}

int main(int argc, char **argv)
{
    (void)argv;
    printf("%d\n", argc > 2 ? read_line(argc) : read_book(argc));
    return 0;
}
