/*
 * What woven code and standins call about memory: sources, copies, things that C
 * can't say of itself.
 */
#include "runtime/concolic/concolic_int.h"

void sundew_symbolic(void *at, uint64_t n, uint64_t offset)
{
    SundewState *s = &sundew_state;
    if (!sundew_concolic_ready() || !sundew_concolic_enter())
        return;
    uint64_t from = s->log->from, to = s->log->to;
    for (uint64_t i = 0; i < n && !s->ended; i++) {
        uint64_t address = (uintptr_t)at + i, byte = offset + i;
        sundew_label l = 0;
        if (byte >= from && byte < to)
            l = sundew_node(SUNDEW_NODE_BYTE, 8, 0, (uint32_t)byte, 0, 0);
        if (l) {
            sundew_shadow_set(address, ((uint8_t *)at)[i], l, 0);
            sundew_alive = 1;
        } else {
            sundew_shadow_clear(address, 1);
        }
    }
    sundew_concolic_leave();
}

int sundew_is_symbolic(const void *at, uint64_t n)
{
    uint64_t from = (uintptr_t)at;
    if (!sundew_alive || !sundew_tagged(from, n) || !sundew_concolic_enter())
        return 0;
    sundew_label l;
    uint8_t k;
    int found = 0;
    for (uint64_t i = 0; i < n && !found; i++)
        found = sundew_shadow_get(from + i, ((const uint8_t *)at)[i], &l, &k, 0) &&
                !sundew_is_const(sundew_extract(l, k * 8u, 8));
    sundew_concolic_leave();
    return found;
}

static void move_one(uint64_t to, uint64_t from, uint32_t site)
{
    sundew_label l;
    uint8_t k, seen = *(const uint8_t *)from;
    if (sundew_shadow_get(from, seen, &l, &k, site))
        sundew_shadow_set(to, seen, l, k);
    else
        sundew_shadow_clear(to, 1);
}

/* Bytes without labels are skipped by granules. */
static void move(uint64_t to, uint64_t from, uint64_t n, uint32_t site)
{
    if (to > from && to - from < n) {
        for (uint64_t i = n; i-- > 0;)
            move_one(to + i, from + i, site);
        return;
    }
    for (uint64_t i = 0; i < n;) {
        uint64_t part = 64 - (from + i) % 64;
        part = part < n - i ? part : n - i;
        if (!sundew_tagged(from + i, part))
            sundew_shadow_clear(to + i, part);
        else
            for (uint64_t j = i; j < i + part; j++)
                move_one(to + j, from + j, site);
        i += part;
    }
}

void sundew_copy(void *to, const void *from, uint64_t n, sundew_label nlabel, uint32_t site)
{
    uint64_t a = (uintptr_t)to, b = (uintptr_t)from;
    if (!sundew_alive || (!nlabel && !sundew_tagged(a, n) && !sundew_tagged(b, n)) ||
        !sundew_concolic_enter())
        return;
    nlabel = sundew_valid(nlabel);
    if (nlabel) {
        sundew_length(to, nlabel, n, site);
        sundew_length(from, nlabel, n, site);
    }
    if (a != b)
        move(a, b, n, site);
    sundew_concolic_leave();
}

void sundew_fill(void *to, uint8_t c, sundew_label clabel, uint64_t n, sundew_label nlabel,
                 uint32_t site)
{
    uint64_t a = (uintptr_t)to;
    if (!sundew_alive || (!clabel && !nlabel && !sundew_tagged(a, n)) || !sundew_concolic_enter())
        return;
    clabel = sundew_unless_const(sundew_fit(sundew_valid(clabel), 8));
    nlabel = sundew_valid(nlabel);
    if (nlabel)
        sundew_length(to, nlabel, n, site);
    if (!clabel)
        sundew_shadow_clear(a, n);
    for (uint64_t i = 0; clabel && i < n; i++)
        sundew_shadow_set(a + i, c, clabel, 0);
    sundew_concolic_leave();
}

void sundew_outside(const void *at, const char *name, uint32_t site)
{
    enum { NEAR = 64 };                          /* how far it reads is not known */
    if (!sundew_alive || !at || !sundew_tagged((uintptr_t)at, NEAR) || !sundew_concolic_enter())
        return;
    if (sundew_shadow_any((uintptr_t)at, NEAR))
        sundew_imprecise(SUNDEW_WHY_EXTERNAL, name, name, site);
    sundew_concolic_leave();
}

void sundew_forget(const void *at, uint64_t n)
{
    if (!sundew_alive || !sundew_tagged((uintptr_t)at, n) || !sundew_concolic_enter())
        return;
    sundew_shadow_clear((uintptr_t)at, n);
    sundew_concolic_leave();
}

sundew_label sundew_byte_label(const void *at)
{
    sundew_label l = 0;
    uint8_t k;
    if (!sundew_alive || !sundew_concolic_enter())
        return 0;
    l = sundew_shadow_get((uintptr_t)at, *(const uint8_t *)at, &l, &k, 0)
            ? sundew_unless_const(sundew_extract(l, k * 8u, 8))
            : 0;
    sundew_concolic_leave();
    return l;
}

void sundew_set_byte_label(void *at, sundew_label l)
{
    if (!sundew_concolic_ready() || !sundew_concolic_enter())
        return;
    l = sundew_unless_const(sundew_fit(sundew_valid(l), 8));
    if (l) {
        sundew_alive = 1;
        sundew_shadow_set((uintptr_t)at, *(uint8_t *)at, l, 0);
    } else {
        sundew_shadow_clear((uintptr_t)at, 1);
    }
    sundew_concolic_leave();
}

/* ---- what C can't say of itself */

void sundew_math(void *result, const void *a, const void *b, unsigned which, unsigned bits)
{
    if (!sundew_alive || (bits != 32 && bits != 64) || !sundew_concolic_enter())
        return;
    unsigned n = bits / 8;
    uint64_t v = 0, w = 0;
    sundew_label la = sundew_shadow_load((uintptr_t)a, n, a, 0), r = 0;
    sundew_label lb = b ? sundew_shadow_load((uintptr_t)b, n, b, 0) : 0;
    memcpy(&v, a, n);
    if (b)
        memcpy(&w, b, n);
    if (la | lb && !(sundew_state.flags & SUNDEW_LOG_NO_FLOAT)) {
        la = la ? la : sundew_const(bits, v);
        if (b && !lb)
            lb = sundew_const(bits, w);
        r = la && (lb || !b) ? sundew_node(SUNDEW_NODE_FMATH, bits, which, la, lb, 0) : 0;
    }
    sundew_shadow_store((uintptr_t)result, n, result, r);
    sundew_concolic_leave();
}

/* Standins have no sites: the name stands for one. */
void sundew_note(unsigned why, const char *name)
{
    if (!sundew_alive || !sundew_concolic_enter())
        return;
    sundew_imprecise(why, name, name, 0);
    sundew_concolic_leave();
}

/* Are these n bytes of the input, one behind the other? From which on? */
static bool is_input(const char *text, uint64_t n, uint32_t *first)
{
    for (uint64_t i = 0; i < n; i++) {
        sundew_label l;
        uint8_t k;
        if (!sundew_shadow_get((uintptr_t)text + i, (uint8_t)text[i], &l, &k, 0))
            return false;
        const struct sundew_node *byte = &sundew_state.nodes[sundew_extract(l, k * 8u, 8)];
        if (byte->op != SUNDEW_NODE_BYTE || (i && byte->a != *first + i))
            return false;
        *first = byte->a - (uint32_t)i;
    }
    return n != 0;
}

static bool is_space(char c) { return c == ' ' || (unsigned)(c - '\t') < 5u; }

static uint64_t decimal_length(const char *text)
{
    uint64_t n = *text == '-' || *text == '+';
    while ((unsigned)(text[n] - '0') < 10u)
        n++;
    return n;
}

void sundew_number(const void *value, const char *text, uint64_t n, unsigned kind, unsigned base)
{
    uint32_t first;
    const char *end = text + n;
    if (!sundew_alive || !sundew_concolic_enter())
        return;
    while (is_space(*text) && (!n || text < end))
        text++;
    n = n ? (uint64_t)(end - text) : decimal_length(text);
    sundew_label l = sundew_unless_const(sundew_shadow_load((uintptr_t)value, 8, value, 0));
    if (l && n <= SUNDEW_NUMBER_LONGEST && is_input(text, n, &first))
        sundew_record(SUNDEW_REC_NUMBER, kind, base, l, first, (uint32_t)n);
    sundew_concolic_leave();
}

void sundew_format(const char *format)
{
    if (!sundew_alive || !format || !sundew_concolic_enter())
        return;
    sundew_label l;
    uint8_t k;
    for (const char *p = format; *p; p++) {
        if (!sundew_shadow_get((uintptr_t)p, (uint8_t)*p, &l, &k, 0))
            continue;
        sundew_label byte = sundew_unless_const(sundew_extract(l, k * 8u, 8));
        if (!byte)
            continue;
        sundew_bug(SUNDEW_BUG_FORMAT,
                   sundew_node(SUNDEW_NODE_EQ, 1, 0, byte, sundew_const(8, '%'), 0),
                   __builtin_return_address(0), 0);
        break;
    }
    sundew_concolic_leave();
}

void sundew_pin(const void *at, uint64_t n, unsigned why)
{
    if (!sundew_alive || !sundew_tagged((uintptr_t)at, n) || !sundew_concolic_enter())
        return;
    for (uint64_t i = 0; i < n; i++) {
        const uint8_t *p = (const uint8_t *)at + i;
        sundew_label l = sundew_shadow_load((uintptr_t)p, 1, p, 0);
        sundew_pin_label(l, *p, why, 0);
    }
    sundew_concolic_leave();
}

/* ---- variadic functions, as x86-64 has them */

void sundew_va_keep(struct sundew_variadic *v, uint32_t mine)
{
    *v = (struct sundew_variadic){ 0 };
    if (!mine)
        return;
    v->shape = sundew_passing.shape;
    memcpy(v->args, sundew_passing.args, sizeof v->args);
}

typedef struct VaList {
    uint32_t gp, fp;
    uintptr_t stack, saved;
} VaList;

/* Where the next argument of this shape stands; 0 if that is not known. */
static uintptr_t va_place(VaList *l, char shape, bool fixed)
{
    enum { GP_END = 48, FP_END = 176 };
    uintptr_t at;
    if (shape == 'g' && l->gp < GP_END) {
        at = l->saved + l->gp;
        l->gp += 8;
    } else if (shape == 'f' && l->fp < FP_END) {
        at = l->saved + l->fp;
        l->fp += 16;
    } else if (shape == 'G' && l->gp + 16 <= GP_END) {
        at = l->saved + l->gp;
        l->gp += 16;
    } else {
        bool two = shape == 'G' || shape == 'x';
        if (two && !fixed)
            l->stack = (l->stack + 15) & ~(uintptr_t)15;
        at = l->stack;
        if (!fixed)                    /* those before are not where the list begins */
            l->stack += two ? 16 : 8;
    }
    return at;
}

void sundew_va_start(void *list, struct sundew_variadic *v, uint32_t fixed)
{
    VaList l;
    if (!v->shape || !sundew_concolic_enter())
        return;
    memcpy(&l, list, sizeof l);
    v->saved = l.saved;
    v->stack = l.stack;
    l.gp = 0;
    l.fp = 48;
    for (unsigned i = 0; i < SUNDEW_ARGS && v->shape[i] && v->shape[i] != 'b'; i++) {
        uintptr_t at = va_place(&l, v->shape[i], i < fixed);
        sundew_label label = sundew_valid(v->args[i]);
        unsigned n = label ? (sundew_bits(label) + 7) / 8 : 8;
        if (i >= fixed)
            sundew_shadow_store(at, n, (const uint8_t *)at, sundew_fit(label, n * 8));
    }
    v->stacked = l.stack - v->stack;
    sundew_concolic_leave();
}

void sundew_va_end(struct sundew_variadic *v)
{
    if (!v->saved)
        return;
    sundew_forget((const void *)v->saved, 176);
    sundew_forget((const void *)v->stack, v->stacked);
}
