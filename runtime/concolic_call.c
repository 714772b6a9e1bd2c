/*
 * Labels of variadic arguments, which the callee finds in memory: as the x86-64 ABI has
 * them in a va_list. Elsewhere they are lost.
 */
#include "concolic_int.h"

struct list {
    uint32_t words, floats;        /* offsets of the next in `saved` */
    uint8_t *stack, *saved;
};
enum { WORDS_END = 48, FLOATS_END = 176 };

void sundew_variadic_take(struct sundew_variadic *v, uint32_t first)
{
    uint32_t n = 0;
    for (; first + n < SUNDEW_ARGS && sundew_passing.kinds[first + n]; n++) {
        v->kinds[n] = sundew_passing.kinds[first + n];
        v->labels[n] = sundew_passing.args[first + n];
    }
    v->kinds[n] = 0;
    sundew_passing.kinds[first < SUNDEW_ARGS ? first : SUNDEW_ARGS] = 0;
}

#ifdef __x86_64__
static uint8_t *next(struct list *l, unsigned kind)
{
    uint8_t *at = l->stack;
    if (kind == SUNDEW_PASSED_WORD && l->words < WORDS_END) {
        at = l->saved + l->words;
        l->words += 8;
    } else if (kind == SUNDEW_PASSED_FLOAT && l->floats < FLOATS_END) {
        at = l->saved + l->floats;
        l->floats += 16;
    } else if (kind == SUNDEW_PASSED_LONG_DOUBLE) {
        at = (uint8_t *)(((uintptr_t)at + 15) & ~(uintptr_t)15);
        l->stack = at + 16;
    } else {
        l->stack += 8;
    }
    return at;
}

void sundew_variadic_start(const struct sundew_variadic *v, void *list)
{
    struct list l;
    memcpy(&l, list, sizeof l);
    if (!sundew_concolic_enter())
        return;
    for (unsigned i = 0; v->kinds[i]; i++) {
        uint8_t *at = next(&l, v->kinds[i]);
        sundew_label label = sundew_valid(v->labels[i]);
        unsigned n = label ? (sundew_bits(label) + 7) / 8 : 8;
        sundew_shadow_store((uintptr_t)at, n > 16 ? 16 : n, at,
                            label ? sundew_fit(label, (n > 16 ? 16 : n) * 8) : 0);
    }
    sundew_concolic_leave();
}

/* Those on the stack are the caller's, and go when it writes there again. */
void sundew_variadic_end(void *list)
{
    struct list l;
    memcpy(&l, list, sizeof l);
    sundew_forget(l.saved, FLOATS_END);
}
#else
void sundew_variadic_start(const struct sundew_variadic *v, void *list)
{
    (void)v, (void)list;
}

void sundew_variadic_end(void *list)
{
    (void)list;
}
#endif
