/*
 * larder - keep the books of a small store room.
 *
 * A larder knows shelves, the items that lie on them, and every movement of
 * goods in and out. It is filled by calls or from a ledger (see README.md).
 *
 *     struct larder *l;
 *     if (larder_new(&l, notes) < 0)
 *         return 1;
 *     larder_add_shelf(l, "cold", 40);
 *     larder_add_item(l, "MILK", "cold", LARDER_LITRE, 4);
 *     larder_receive(l, "MILK", 1, 12, LARDER_LITRE);
 *     larder_free(l);
 *
 * Functions that can fail return a negative enum larder_status, and
 * larder_error() then says more. A larder belongs to one thread at a time.
 */
#ifndef LARDER_H
#define LARDER_H
#include <stddef.h>

struct larder;
struct larder_cursor;
struct store;
struct tally;

#define LARDER_NAME 16              /* room for a name and its NUL */
#define LARDER_MAX 1000000L         /* largest quantity, capacity, price */

enum larder_status {
    LARDER_OK = 0,
    LARDER_INVALID = -1,            /* an argument makes no sense */
    LARDER_EXISTS = -2,             /* the name is taken */
    LARDER_NOT_FOUND = -3,          /* nothing has that name */
    LARDER_FULL = -4,               /* there is no room */
    LARDER_SHORT = -5,              /* not that much in stock */
    LARDER_SYNTAX = -6,             /* the ledger is malformed */
    LARDER_IO = -7,                 /* a file could not be read */
    LARDER_NO_MEMORY = -8
};

enum larder_unit {
    LARDER_PIECE, LARDER_DOZEN, LARDER_GRAM, LARDER_KILO,
    LARDER_MILLILITRE, LARDER_LITRE, LARDER_UNITS
};

/* Which items a cursor visits. */
#define LARDER_ALL 0u
#define LARDER_LOW 1u               /* less on hand than the low level */

/* One item as larder_get() found it. */
struct larder_info {
    char sku[LARDER_NAME], shelf[LARDER_NAME];
    enum larder_unit unit;
    long on_hand, low;
    char label[64];                 /* see larder_info_label() */
};

/* Units are pc, doz, g, kg, ml, l. Converting fails between number, weight
 * and volume, and when the result would not be whole. */
int larder_unit_parse(const char *word, enum larder_unit *unit);
const char *larder_unit_name(enum larder_unit unit);
int larder_unit_convert(long quantity, enum larder_unit from,
                        enum larder_unit to, long *result);

/* The store for notes about items (see store.h) stays the caller's. */
int larder_new(struct larder **out, struct store *notes);
void larder_free(struct larder *l);             /* NULL is fine */
const char *larder_error(const struct larder *l);

/* Setting up. Names are letters, digits, '-' and '_'. */
int larder_add_shelf(struct larder *l, const char *name, long capacity);
int larder_add_item(struct larder *l, const char *sku, const char *shelf,
                    enum larder_unit unit, long low);
int larder_set_price(struct larder *l, const char *sku, long cents);

/* Movements. Success returns the movement's number, counted from 1. Voiding
 * takes a movement back. A shelf never holds more than its capacity. */
int larder_receive(struct larder *l, const char *sku, int day, long quantity,
                   enum larder_unit unit);
int larder_issue(struct larder *l, const char *sku, int day, long quantity,
                 enum larder_unit unit);
int larder_void(struct larder *l, long number);

/* Looking. Usage is what was issued from one day to another, inclusive. */
int larder_get(struct larder *l, const char *sku, struct larder_info *out);
const char *larder_info_label(const struct larder_info *info);
int larder_shelf(struct larder *l, const char *name, long *used, long *room);
int larder_usage(struct larder *l, const char *sku, int from_day,
                 int until_day, long *used);

/* Sums up what was ever issued by item, with so many threads. */
int larder_tally_usage(struct larder *l, struct tally *t, int threads);

/* Visits items in the order in which they were added. A new cursor stands
 * before the first; larder_cursor_next() returns 0 at the end. */
int larder_cursor_open(struct larder_cursor **out, struct larder *l,
                       unsigned flags);
int larder_cursor_next(struct larder_cursor *c);
const char *larder_cursor_sku(const struct larder_cursor *c);
int larder_cursor_is_low(struct larder_cursor *c);
void larder_cursor_close(struct larder_cursor *c);

/* Kits are made of items and of kits added before; the next kit completes
 * the last. An optional part may name an item the larder does not have. */
int larder_add_kit(struct larder *l, const char *name);
int larder_add_part(struct larder *l, const char *kit, const char *part,
                    long quantity, int optional);
int larder_kit(struct larder *l, const char *name, long *kits, long *cents);

/* A note is copied to the buffer as far as it fits, and always ends in NUL. */
int larder_set_note(struct larder *l, const char *sku, const char *text);
int larder_note(struct larder *l, const char *sku, char *buffer, size_t size);

/* Reading a ledger. What came before a mistake stays in the larder. */
int larder_load_buffer(struct larder *l, const char *text, size_t length);
int larder_load_file(struct larder *l, const char *path);

#endif
