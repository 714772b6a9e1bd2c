/*
 * The state as data, for trials: nothing of it has to be compiled, however large
 * it is. All numbers are 64 bits in the machine's own order:
 *
 *     "RESTORE1"  items  pieces
 *     item    size, name + 1 (0: allocate), freed
 *     piece   step, guard, item, offset, kind, size, a, b
 *     bytes
 *
 * A piece is taken if its step and its guard are (ALWAYS stands for no step).
 * Kinds: zero; bytes from `a` on; pointer to item a, b bytes into it; pointer
 * that the test has a name for, number a; a itself. share/reproduce/trial.c
 * reads it.
 */
#include "engine/record/restore_int.h"
#include <string.h>

enum { ALWAYS = -1 };
enum { KIND_ZERO, KIND_BYTES, KIND_ITEM, KIND_NAMED, KIND_RAW };

typedef struct State {
    const Restore *r;
    Str items, pieces, bytes;
    uint64_t npieces;
    Strings *named;
    Map index;                 /* Item * → number + 1 */
} State;

static void put(Str *to, uint64_t v) { str_addn(to, (const char *)&v, sizeof v); }

/* The number of a C expression among the named ones. */
static uint64_t name_of(State *s, const char *text)
{
    for (size_t i = 0; i < s->named->len; i++)
        if (strcmp(s->named->items[i], text) == 0)
            return i;
    strings_add(s->named, text);
    return s->named->len - 1;
}

static void put_piece(State *s, uint64_t step, uint64_t guard, uint64_t item, uint64_t offset,
                      uint64_t kind, uint64_t size, uint64_t a, uint64_t b)
{
    const uint64_t words[] = { step, guard, item, offset, kind, size, a, b };
    str_addn(&s->pieces, (const char *)words, sizeof words);
    s->npieces++;
}

static void put_bytes(State *s, uint64_t step, uint64_t guard, uint64_t item, const Item *it,
                      uint64_t offset, uint64_t size)
{
    put_piece(s, step, guard, item, offset, KIND_BYTES, size, s->bytes.len, 0);
    str_addn(&s->bytes, (const char *)it->bytes + offset, size);
}

static void put_pointer(State *s, uint64_t step, uint64_t guard, uint64_t item, const Piece *p)
{
    uint64_t at = p->offset;
    switch (p->ref.kind) {
    case REF_NULL: break;
    case REF_TEXT:
        put_piece(s, step, guard, item, at, KIND_NAMED, 8, name_of(s, p->ref.text), 0);
        break;
    case REF_RAW: put_piece(s, step, guard, item, at, KIND_RAW, 8, p->ref.offset, 0); break;
    case REF_ITEM:
        put_piece(s, step, guard, item, at, KIND_ITEM, 8,
                  (uint64_t)(uintptr_t)map_getn(&s->index, &p->ref.item, sizeof(Item *)) - 1,
                  p->ref.offset);
    }
}

static void put_item(State *s, const Item *it, uint64_t number)
{
    uint64_t step = it->step, guard = (uint64_t)ALWAYS;
    put(&s->items, it->object->size);
    if (it->variable) {
        char *place = xprintf("&%s", it->lvalue);
        put(&s->items, name_of(s, place) + 1);
        free(place);
    } else {
        put(&s->items, 0);
    }
    put(&s->items, it->freed);
    if (it->literal)
        put_bytes(s, (uint64_t)ALWAYS, guard, number, it, 0, it->size);
    if (it->variable && !it->constant) {
        guard = step++;
        put_piece(s, guard, guard, number, 0, KIND_ZERO, it->size, 0, 0);
    }
    for (size_t k = 0; k < it->npieces; k++, step++) {
        const Piece *p = &it->pieces[k];
        if (p->kind == PIECE_POINTER)
            put_pointer(s, step, guard, number, p);
        else
            put_bytes(s, step, guard, number, it, p->offset, p->size);
    }
}

void restore_state(const Restore *r, Str *out, Strings *named)
{
    State s = { .r = r, .named = named };
    for (size_t i = 0; i < r->items.len; i++)
        map_putn(&s.index, &r->items.items[i], sizeof(Item *), (void *)(uintptr_t)(i + 1));
    for (size_t i = 0; i < r->items.len; i++)
        put_item(&s, r->items.items[i], i);
    str_addn(out, "RESTORE1", 8);
    put(out, r->items.len);
    put(out, s.npieces);
    str_addn(out, str_c(&s.items), s.items.len);
    str_addn(out, str_c(&s.pieces), s.pieces.len);
    str_addn(out, str_c(&s.bytes), s.bytes.len);
    str_release(&s.items);
    str_release(&s.pieces);
    str_release(&s.bytes);
    map_release(&s.index);
}
