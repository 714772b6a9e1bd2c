/*
 * Leafing through the items; each key that is read calls its handler.
 */
#include "commands.h"
#include <stdio.h>
#include <unistd.h>

struct browser {
    struct larder *larder;
    struct larder_cursor *cursor;
    struct larder_info row;
    struct larder_info *current;    /* the row, or NULL at the end */
    unsigned flags;
};

static void on_next(struct browser *b)
{
    b->current = NULL;
    if (larder_cursor_next(b->cursor) &&
        larder_get(b->larder, larder_cursor_sku(b->cursor), &b->row) >= 0)
        b->current = &b->row;
}

static void on_show(struct browser *b)
{
    if (b->current != NULL)
        printf("%s: %ld\n", b->current->sku, b->current->on_hand);
}

static void on_take(struct browser *b)
{
    struct larder_info *row = b->current;

    if (larder_issue(b->larder, row->sku, 1, 1, row->unit) < 0)
        puts(larder_error(b->larder));
    else
        row->on_hand--;
}

static void on_filter(struct browser *b)
{
    larder_cursor_close(b->cursor);
    b->flags ^= LARDER_LOW;
    if (larder_cursor_open(&b->cursor, b->larder, b->flags) >= 0)
        on_next(b);
}

static const struct {
    char key;
    void (*handler)(struct browser *b);
} keys[] = {
    { 'n', on_next },
    { 's', on_show },
    { 't', on_take },
    { 'f', on_filter },
};

int cmd_browse(struct larder *l, const char *const *args)
{
    struct browser b = { .larder = l, .flags = LARDER_LOW };
    char key;

    (void)args;
    on_filter(&b);
    while (b.cursor && read(STDIN_FILENO, &key, 1) == 1) {
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            if (keys[i].key == key)
                keys[i].handler(&b);
        }
    }
    larder_cursor_close(b.cursor);
    return LARDER_OK;
}
