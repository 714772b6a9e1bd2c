/* What the files of the library share. */
#ifndef INTERNAL_H
#define INTERNAL_H
#include "larder.h"

#define MAX_PARTS 8

struct shelf {
    struct shelf *next;
    char name[LARDER_NAME];
    long used, capacity;
};

struct item {
    struct item *next;
    struct larder_info info;
    long price;                     /* cents for one unit */
};

enum move_kind { MOVE_IN, MOVE_OUT };

struct move {
    struct item *item;
    enum move_kind kind;
    int day;
    long quantity;                  /* in the item's unit */
    int voided;
};

struct part {                       /* an item or a kit */
    struct item *item;
    struct kit *kit;
    long quantity;
    int optional;
};

struct kit {
    struct kit *next;
    char name[LARDER_NAME];
    struct part parts[MAX_PARTS];
    size_t count;
    int depth;                      /* of kits within it */
};

struct larder {
    struct shelf *shelves;
    struct item *items;
    struct kit *kits;               /* the newest first */
    struct move *moves;
    size_t count, capacity;         /* of moves */
    struct store *notes;
    unsigned line;                  /* of the ledger being read, or 0 */
    char error[160];
};

/* Remembers what went wrong and returns the status. */
int larder_fail(struct larder *l, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

int larder_name_ok(const char *name);
struct item *larder_find_item(const struct larder *l, const char *sku);

#endif
