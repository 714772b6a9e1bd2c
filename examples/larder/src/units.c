#include "internal.h"
#include <string.h>

struct measure {
    enum larder_unit base;
    long most;                      /* in one movement, in base units */
};

static const struct measure number = { LARDER_PIECE, 100000 };
static const struct measure weight = { LARDER_GRAM, 50000000 };
static const struct measure volume = { LARDER_MILLILITRE, 20000000 };

static const struct {
    const char *name;
    long factor;                    /* in base units */
} units[LARDER_UNITS] = {
    [LARDER_PIECE] = { "pc", 1 },
    [LARDER_DOZEN] = { "doz", 12 },
    [LARDER_GRAM] = { "g", 1 },
    [LARDER_KILO] = { "kg", 1000 },
    [LARDER_MILLILITRE] = { "ml", 1 },
    [LARDER_LITRE] = { "l", 1000 },
};

static const struct measure *const measures[LARDER_UNITS] = {
    [LARDER_PIECE] = &number,
    [LARDER_GRAM] = &weight,
    [LARDER_KILO] = &weight,
    [LARDER_MILLILITRE] = &volume,
    [LARDER_LITRE] = &volume,
};

int larder_unit_parse(const char *word, enum larder_unit *unit)
{
    for (unsigned i = 0; i < LARDER_UNITS; i++) {
        if (strcmp(units[i].name, word) == 0) {
            *unit = (enum larder_unit)i;
            return LARDER_OK;
        }
    }
    return LARDER_INVALID;
}

const char *larder_unit_name(enum larder_unit unit)
{
    return (unsigned)unit < LARDER_UNITS ? units[unit].name : "?";
}

int larder_unit_convert(long quantity, enum larder_unit from,
                        enum larder_unit to, long *result)
{
    if ((unsigned)from >= LARDER_UNITS || (unsigned)to >= LARDER_UNITS ||
        quantity < 0 || quantity > LARDER_MAX)
        return LARDER_INVALID;
    if (from == to) {
        *result = quantity;
        return LARDER_OK;
    }
    if (measures[from]->base != measures[to]->base)
        return LARDER_INVALID;

    long base = quantity * units[from].factor;
    if (base > measures[from]->most || base % units[to].factor != 0)
        return LARDER_INVALID;
    *result = base / units[to].factor;
    return LARDER_OK;
}
