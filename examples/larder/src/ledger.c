/* The larder itself: shelves, items, movements, and the cursor over items.
 * A movement is never removed, only marked as void, so numbers stay right. */
#include "internal.h"
#include "store.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct larder_cursor {
    struct larder *larder;
    struct item *item;              /* the current one, if any */
    unsigned flags;
    int started;
};

int larder_fail(struct larder *l, int status, const char *format, ...)
{
    int used = 0;
    va_list args;

    if (l->line > 0)
        used = snprintf(l->error, sizeof l->error, "line %u: ", l->line);
    va_start(args, format);
    vsnprintf(l->error + used, sizeof l->error - (size_t)used, format, args);
    va_end(args);
    return status;
}

const char *larder_error(const struct larder *l)
{
    return l->error;
}

int larder_name_ok(const char *name)
{
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
                                 "abcdefghijklmnopqrstuvwxyz");

    return length > 0 && length < LARDER_NAME && name[length] == '\0';
}

struct item *larder_find_item(const struct larder *l, const char *sku)
{
    for (struct item *it = l->items; it != NULL; it = it->next) {
        if (strcmp(it->info.sku, sku) == 0)
            return it;
    }
    return NULL;
}

static struct shelf *find_shelf(const struct larder *l, const char *name)
{
    for (struct shelf *sh = l->shelves; sh != NULL; sh = sh->next) {
        if (strcmp(sh->name, name) == 0)
            return sh;
    }
    return NULL;
}

int larder_new(struct larder **out, struct store *notes)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return LARDER_NO_MEMORY;
    (*out)->notes = notes;
    return LARDER_OK;
}

void larder_free(struct larder *l)
{
    if (l == NULL)
        return;
    for (struct shelf *sh = l->shelves, *next; sh != NULL; sh = next) {
        next = sh->next;
        free(sh);
    }
    for (struct item *it = l->items, *next; it != NULL; it = next) {
        next = it->next;
        free(it);
    }
    for (struct kit *k = l->kits, *next; k != NULL; k = next) {
        next = k->next;
        free(k);
    }
    free(l->moves);
    free(l);
}

int larder_add_shelf(struct larder *l, const char *name, long capacity)
{
    if (!larder_name_ok(name) || capacity <= 0 || capacity > LARDER_MAX)
        return larder_fail(l, LARDER_INVALID, "bad shelf '%s'", name);
    if (find_shelf(l, name))
        return larder_fail(l, LARDER_EXISTS, "shelf %s exists", name);

    struct shelf *sh = calloc(1, sizeof *sh);
    if (sh == NULL)
        return larder_fail(l, LARDER_NO_MEMORY, "no memory for %s", name);
    strcpy(sh->name, name);
    sh->capacity = capacity;
    sh->next = l->shelves;
    l->shelves = sh;
    return LARDER_OK;
}

int larder_add_item(struct larder *l, const char *sku, const char *shelf,
                    enum larder_unit unit, long low)
{
    if (!larder_name_ok(sku) || (unsigned)unit >= LARDER_UNITS || low < 0)
        return larder_fail(l, LARDER_INVALID, "bad item '%s'", sku);
    if (larder_find_item(l, sku))
        return larder_fail(l, LARDER_EXISTS, "item %s exists", sku);
    if (!find_shelf(l, shelf))
        return larder_fail(l, LARDER_NOT_FOUND, "no shelf '%s'", shelf);

    struct item **tail = &l->items;
    while (*tail)
        tail = &(*tail)->next;
    struct item *it = calloc(1, sizeof *it);
    if (it == NULL)
        return larder_fail(l, LARDER_NO_MEMORY, "no memory for %s", sku);
    strcpy(it->info.sku, sku);
    strcpy(it->info.shelf, shelf);
    it->info.unit = unit;
    it->info.low = low;
    *tail = it;
    return LARDER_OK;
}

int larder_set_price(struct larder *l, const char *sku, long cents)
{
    struct item *it = larder_find_item(l, sku);

    if (cents < 0 || cents > LARDER_MAX)
        return larder_fail(l, LARDER_INVALID, "%s: bad price", sku);
    it->price = cents;
    return LARDER_OK;
}

static int reserve_move(struct larder *l)
{
    if (l->count == l->capacity) {
        size_t capacity = 2 * l->capacity + 16;
        struct move *moves = realloc(l->moves, capacity * sizeof *moves);
        if (moves == NULL)
            return 0;
        l->moves = moves;
        l->capacity = capacity;
    }
    return 1;
}

static int record_move(struct larder *l, enum move_kind kind, const char *sku,
                       int day, long quantity, enum larder_unit unit)
{
    struct item *it = larder_find_item(l, sku);
    struct move m = { it, kind, day, 0, 0 };

    if (it == NULL)
        return larder_fail(l, LARDER_NOT_FOUND, "no item '%s'", sku);
    if (quantity < 1 || day < 1)
        return larder_fail(l, LARDER_INVALID, "%s: bad movement", sku);
    if (larder_unit_convert(quantity, unit, it->info.unit, &m.quantity) < 0)
        return larder_fail(l, LARDER_INVALID, "%s: bad quantity", sku);

    struct shelf *sh = find_shelf(l, it->info.shelf);
    if (kind == MOVE_IN && m.quantity > sh->capacity - sh->used)
        return larder_fail(l, LARDER_FULL, "no room for %s", sku);
    if (kind == MOVE_OUT && m.quantity > it->info.on_hand)
        return larder_fail(l, LARDER_SHORT, "not enough %s", sku);
    if (!reserve_move(l))
        return larder_fail(l, LARDER_NO_MEMORY, "no memory for a move");

    long change = kind == MOVE_IN ? m.quantity : -m.quantity;
    it->info.on_hand += change;
    sh->used += change;
    l->moves[l->count++] = m;
    return (int)l->count;
}

int larder_receive(struct larder *l, const char *sku, int day, long quantity,
                   enum larder_unit unit)
{
    return record_move(l, MOVE_IN, sku, day, quantity, unit);
}

int larder_issue(struct larder *l, const char *sku, int day, long quantity,
                 enum larder_unit unit)
{
    return record_move(l, MOVE_OUT, sku, day, quantity, unit);
}

int larder_void(struct larder *l, long number)
{
    if (number < 1 || (size_t)number > l->count)
        return larder_fail(l, LARDER_NOT_FOUND, "no movement %ld", number);

    struct move *m = &l->moves[number - 1];
    struct item *it = m->item;
    struct shelf *sh = find_shelf(l, it->info.shelf);
    if (m->voided)
        return larder_fail(l, LARDER_INVALID, "%ld is void", number);
    if (m->kind == MOVE_IN && m->quantity > it->info.on_hand)
        return larder_fail(l, LARDER_SHORT, "%ld is used up", number);

    long change = m->kind == MOVE_IN ? -m->quantity : m->quantity;
    it->info.on_hand += change;
    sh->used += change;
    m->voided = 1;
    return LARDER_OK;
}

static int is_low(const struct item *it)
{
    return it->info.on_hand < it->info.low;
}

int larder_get(struct larder *l, const char *sku, struct larder_info *out)
{
    const struct item *it = larder_find_item(l, sku);

    if (it == NULL)
        return larder_fail(l, LARDER_NOT_FOUND, "no item '%s'", sku);
    *out = it->info;
    return LARDER_OK;
}

int larder_shelf(struct larder *l, const char *name, long *used, long *room)
{
    const struct shelf *sh = find_shelf(l, name);

    if (sh == NULL)
        return larder_fail(l, LARDER_NOT_FOUND, "no shelf '%s'", name);
    *used = sh->used;
    *room = sh->capacity - sh->used;
    return LARDER_OK;
}

int larder_usage(struct larder *l, const char *sku, int from_day,
                 int until_day, long *used)
{
    const struct item *it = larder_find_item(l, sku);

    if (it == NULL)
        return larder_fail(l, LARDER_NOT_FOUND, "no item '%s'", sku);
    *used = 0;
    for (size_t i = 0; i < l->count; i++) {
        const struct move *m = &l->moves[i];
        if (m->item == it && m->kind == MOVE_OUT && !m->voided &&
            m->day >= from_day && m->day <= until_day)
            *used += m->quantity;
    }
    return LARDER_OK;
}

const char *larder_info_label(const struct larder_info *info)
{
    if (info->label[0] == '\0') {
        struct larder_info *fill = (struct larder_info *)info;
        snprintf(fill->label, sizeof fill->label, "%s (%s, by the %s)",
                 info->sku, info->shelf, larder_unit_name(info->unit));
    }
    return info->label;
}

int larder_cursor_open(struct larder_cursor **out, struct larder *l,
                       unsigned flags)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return larder_fail(l, LARDER_NO_MEMORY, "no memory for a cursor");
    (*out)->larder = l;
    (*out)->flags = flags;
    return LARDER_OK;
}

int larder_cursor_next(struct larder_cursor *c)
{
    if (c->started && c->item == NULL)
        return 0;
    do {
        c->item = c->started ? c->item->next : c->larder->items;
        c->started = 1;
    } while (c->item && (c->flags & LARDER_LOW) && !is_low(c->item));
    return c->item != NULL;
}

const char *larder_cursor_sku(const struct larder_cursor *c)
{
    assert(c->item != NULL);
    return c->item->info.sku;
}

int larder_cursor_is_low(struct larder_cursor *c)
{
    return is_low(c->item);
}

void larder_cursor_close(struct larder_cursor *c)
{
    free(c);
}

int larder_set_note(struct larder *l, const char *sku, const char *text)
{
    if (!larder_find_item(l, sku))
        return larder_fail(l, LARDER_NOT_FOUND, "no item '%s'", sku);
    if (l->notes->ops->put(l->notes, sku, text) < 0)
        return larder_fail(l, LARDER_NO_MEMORY, "no memory for a note");
    return LARDER_OK;
}

int larder_note(struct larder *l, const char *sku, char *buffer, size_t size)
{
    const char *text = l->notes->ops->get(l->notes, sku);

    if (text == NULL)
        return larder_fail(l, LARDER_NOT_FOUND, "no note about '%s'", sku);
    snprintf(buffer, size, "%s", text);
    return LARDER_OK;
}
