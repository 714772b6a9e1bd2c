#include "commands.h"
#include "tally.h"
#include <stdio.h>
#include <stdlib.h>

int cmd_stock(struct larder *l, const char *const *args)
{
    struct larder_cursor *c;
    struct larder_info info;
    char note[60];

    (void)args;
    if (larder_cursor_open(&c, l, LARDER_ALL) < 0)
        return LARDER_NO_MEMORY;
    while (larder_cursor_next(c)) {
        const char *sku = larder_cursor_sku(c);
        if (larder_get(l, sku, &info) < 0)
            continue;
        printf("%7ld %s%s", info.on_hand, larder_info_label(&info),
               larder_cursor_is_low(c) ? ", low" : "");
        if (larder_note(l, sku, note, sizeof note) == LARDER_OK)
            printf(" [%s]", note);
        putchar('\n');
    }
    larder_cursor_close(c);
    return LARDER_OK;
}

/* The usage of some days, and of as many days just before. */
int cmd_usage(struct larder *l, const char *const *args)
{
    int from_day = atoi(args[1]), until_day = atoi(args[2]);
    long used, before;

    if (from_day < 1 || until_day < from_day)
        return LARDER_INVALID;
    int status = larder_usage(l, args[0], from_day, until_day, &used);
    if (status < 0)
        return status;

    int until = from_day - 1, from = until - (until_day - from_day);
    larder_usage(l, args[0], until, from, &before);
    printf("%s: %ld used, %ld before\n", args[0], used, before);
    return LARDER_OK;
}

int cmd_top(struct larder *l, const char *const *args)
{
    struct tally *t = tally_new();
    struct larder_cursor *c = NULL;
    int status = t ? larder_tally_usage(l, t, 4) : LARDER_NO_MEMORY;

    (void)args;
    if (status >= 0)
        status = larder_cursor_open(&c, l, LARDER_ALL);
    while (status >= 0 && larder_cursor_next(c)) {
        const char *sku = larder_cursor_sku(c);
        printf("%7ld %s\n", tally_get(t, sku), sku);
    }
    larder_cursor_close(c);
    tally_free(t);
    return status;
}

int cmd_urgent(struct larder *l, const char *const *args)
{
    struct larder_cursor *c;

    (void)args;
    if (larder_cursor_open(&c, l, LARDER_LOW) < 0)
        return LARDER_NO_MEMORY;
    larder_cursor_next(c);
    printf("buy %s\n", larder_cursor_sku(c));
    larder_cursor_close(c);
    return LARDER_OK;
}

int cmd_kit(struct larder *l, const char *const *args)
{
    long kits, cents;
    int status = larder_kit(l, args[0], &kits, &cents);

    if (status < 0)
        return status;
    printf("%ld of %s, %ld cents each\n", kits, args[0], cents);
    return LARDER_OK;
}
