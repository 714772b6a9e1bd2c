/*
 * walk - all that can be reached from the arguments, by type.
 *
 * Breadth first, so that when the budget ends the nearest is there. Where a
 * pointer leads, the object is found as a whole (heap by its extent, variable,
 * local of a frame); else one object of the pointer's type is taken, or a text
 * up to its end. Then its pointers are followed by their types. What has no
 * type is scanned for words that look like pointers to known objects. Objects of
 * other libraries are never followed.
 *
 * An object is met once for each type that it is reached by.
 */
#include "runtime/monitor/monitor_int.h"

enum {
    BLOCK = 16 << 10,                  /* of objects too large to be kept whole */
    WHOLE = 64 << 10,                  /* … for each MiB of the file */
    TEXT = 4096,                       /* most of a text without an extent */
    LIST = 4096,                       /* most pointers up to a null */
    GUESS = 64,                        /* bytes of what has no type */
};

void sundew_walk_add(SundewWalk *w, uint64_t address, uint32_t type, bool sure)
{
    if (address < 4096 || address >> 47)
        return;
    if (w->tail - w->head >= w->nqueue) {
        w->cut = true;
        return;
    }
    w->queue[w->tail++ & (w->nqueue - 1)] = (SundewItem){ address, type, sure };
}

bool sundew_walk_first_time(SundewWalk *w, uint64_t what, uint32_t type)
{
    uint64_t mark = (what << 17 ^ what >> 47 ^ (uint64_t)type * 0x9e3779b9u) | 1;
    uint32_t i = (uint32_t)((mark * 0x9e3779b97f4a7c15u) >> 32);
    for (;; i++) {
        uint64_t *slot = &w->seen[i & (w->nseen - 1)];
        if (*slot == mark)
            return false;
        if (*slot)
            continue;
        if (w->seen_count >= w->nseen / 4 * 3) {
            w->cut = true;
            return false;
        }
        *slot = mark;
        w->seen_count++;
        return true;
    }
}

/* ---- which object */

static size_t text_length(uint64_t address)
{
    char part[64];
    size_t n = 0;
    while (n < TEXT) {
        size_t got = sundew_safe_copy(part, address + n, sizeof part);
        const char *nul = memchr(part, 0, got);
        if (nul)
            return n + (size_t)(nul - part) + 1;
        n += got;
        if (got < sizeof part)
            break;
    }
    return n;
}

/* A list of pointers that has no end: as far as they lead to objects of the heap, and one at least. */
static size_t objects_length(const uint64_t *words, size_t n)
{
    SundewExtent e;
    size_t k = 0;
    while (k < n && sundew_extent_at(words[k], &e) && e.size && !e.freed && e.start == words[k])
        k++;
    return (k ? k : 1) * 8;
}

/* Pointers without an extent, argv above all: up to the null that ends them. */
static size_t list_length(uint64_t address)
{
    uint64_t words[16], first[16];
    size_t known = 0;
    for (size_t n = 0; n < LIST;) {
        size_t got = sundew_safe_copy(words, address + n * 8, sizeof words) / 8;
        if (!n)
            memcpy(first, words, (known = got) * 8);
        for (size_t i = 0; i < got; i++) {
            if (!words[i])
                return (n + i + 1) * 8;
            if (words[i] < 4096 || words[i] >> 47)
                return objects_length(first, known);
        }
        n += got;
        if (got < 16)
            break;
    }
    return objects_length(first, known);
}

static bool is_pointer(const SundewType *ty)
{
    return ty->kind == SUNDEW_DATA && ty->size == 8 && ty->npointers == 1;
}

/* One of the program's arguments, whole: what the program did to it does not count. */
bool sundew_argument_at(uint64_t address, SundewExtent *e)
{
    const SundewSettings *s = &sundew_settings;
    uint64_t from = address - s->text;
    if (from >= s->ntext)
        return false;
    while (from && s->text_before[from - 1])
        from--;
    *e = (SundewExtent){ .start = s->text + from, .size = strlen(s->text_before + from) + 1 };
    return true;
}

static bool guess(SundewWalk *w, const SundewItem *it, SundewObject *o)
{
    const SundewType *ty = sundew_type(it->type);
    const SundewSettings *s = &sundew_settings;
    if (it->address - s->argv < s->nargv) {
        o->address = s->argv;
        o->size = s->nargv;
        o->place = SUNDEW_GUESSED;
        return true;
    }
    SundewExtent e;
    if (sundew_argument_at(it->address, &e)) {
        o->address = e.start;
        o->size = e.size;
        o->place = SUNDEW_ARGUMENT;
        return true;
    }
    const SundewMap *m = w->at_dump ? sundew_map_find(it->address) : NULL;
    if (!it->sure || (w->at_dump && (!m || !m->readable || m->executable)))
        return false;
    o->address = it->address;
    o->place = m && m->file && !m->writable ? SUNDEW_TEXT_LITERAL : SUNDEW_GUESSED;
    if (ty && ty->kind == SUNDEW_CHAR)
        o->size = text_length(it->address);
    else if (ty && is_pointer(ty))
        o->size = list_length(it->address);
    else
        o->size = ty && ty->size ? ty->size : GUESS;
    if (m && o->size > m->hi - o->address)
        o->size = m->hi - o->address;
    return o->size > 0;
}

static bool locate(SundewWalk *w, const SundewItem *it, SundewObject *o)
{
    SundewExtent e;
    const SundewGlobal *g;
    *o = (SundewObject){ .type = it->type, .at = it->address };
    if (sundew_local_at(w->lane, it->address, w->frames, &e, &o->type)) {
        o->place = SUNDEW_STACK;
        o->address = e.start;
        o->size = e.size;
        if (o->type)
            o->at = e.start;
        else
            o->type = it->type;
    } else if (sundew_extent_at(it->address, &e) && e.size) {
        o->place = e.freed ? SUNDEW_FREED : SUNDEW_HEAP;
        o->address = e.start;
        o->size = e.size;
    } else if ((g = sundew_global_at(it->address)) && g->size) {
        o->place = SUNDEW_GLOBAL;
        o->address = g->address;
        o->size = g->size;
        o->variable = g->id;
        if (g->type) {
            o->type = g->type;
            o->at = g->address;
        }
    } else if (!guess(w, it, o)) {
        return false;
    }
    /* Of what is large, the block that the pointer leads to and the next. */
    o->kept = o->size;
    if (o->size > (uint64_t)WHOLE * sundew_settings.size) {
        uint64_t into = it->address - o->address;
        o->offset = (into < o->size ? into : o->size - 1) / BLOCK * BLOCK;
        o->kept = o->size - o->offset < 2 * BLOCK ? o->size - o->offset : 2 * BLOCK;
    }
    return true;
}

/* ---- its pointers */

static bool is_hidden(const SundewType *ty, uint32_t offset)
{
    const SundewHidden *h = sundew_tables.hidden + ty->first_hidden;
    for (uint32_t i = 0; i < ty->nhidden; i++)
        if (offset - h[i].offset < h[i].size)
            return true;
    return false;
}

/* Follows the pointers of one element, of which n bytes are here. */
static void element(SundewWalk *w, const uint8_t *bytes, size_t n, const SundewType *ty)
{
    const SundewPointer *p = sundew_tables.pointers + ty->first;
    for (unsigned i = 0; i < ty->npointers; i++, p++) {
        /* A count of 0 is a flexible array: as far as there are bytes. */
        for (uint32_t k = 0; k < p->count || !p->count; k++) {
            uint64_t at = p->offset + (uint64_t)k * p->stride, word;
            if (at + 8 > n)
                break;
            if (ty->nhidden && is_hidden(ty, (uint32_t)at))
                continue;
            memcpy(&word, bytes + at, 8);
            sundew_walk_add(w, word, p->type, !p->unsure);
        }
    }
}

static void scan(SundewWalk *w, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i + 8 <= n; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        if (word >= 4096 && !(word >> 47))
            sundew_walk_add(w, word, 0, false);
    }
}

void sundew_walk_bytes(SundewWalk *w, const uint8_t *bytes, size_t n, uint32_t type, uint64_t from)
{
    const SundewType *ty = sundew_type(type);
    if (!ty || ty->kind == SUNDEW_UNKNOWN || !ty->size) {
        size_t skew = (size_t)(-from & 7);
        if (skew < n)
            scan(w, bytes + skew, n - skew);
        return;
    }
    if (ty->kind != SUNDEW_DATA || (!ty->npointers && !ty->tail))
        return;
    if (ty->tail) {
        if (from == 0)
            element(w, bytes, n, ty);
        return;
    }
    size_t at = (size_t)((ty->size - from % ty->size) % ty->size);
    if (from % ty->size && from < ty->size) {
        /* Fields from the middle of one element: pointers by their place. */
        const SundewPointer *p = sundew_tables.pointers + ty->first;
        for (unsigned i = 0; i < ty->npointers; i++, p++)
            for (uint32_t k = 0; k < p->count; k++) {
                uint64_t place = p->offset + (uint64_t)k * p->stride, word;
                if (place < from || place - from + 8 > n ||
                    (ty->nhidden && is_hidden(ty, (uint32_t)place)))
                    continue;
                memcpy(&word, bytes + (place - from), 8);
                sundew_walk_add(w, word, p->type, !p->unsure);
            }
    }
    for (; at < n; at += ty->size)
        element(w, bytes + at, n - at, ty);
}

/* Is a word of an element one of its pointers? */
static bool is_followed(const SundewType *ty, uint64_t at)
{
    const SundewPointer *p = sundew_tables.pointers + ty->first;
    for (unsigned i = 0; i < ty->npointers; i++, p++) {
        uint64_t into = at - p->offset;
        if (at >= p->offset && into / (p->stride ? p->stride : 8) < p->count &&
            into % (p->stride ? p->stride : 8) == 0)
            return true;
    }
    return false;
}

/* An object of the heap that is larger than its type may be something else that begins like it,
 * an object with a header: words that look like pointers count too. */
static void scan_rest(SundewWalk *w, const SundewObject *o, const SundewType *ty)
{
    uint64_t end = o->offset + o->kept;
    for (uint64_t at = o->offset; at < end; at += 2048) {
        uint64_t words[256];
        size_t n = end - at < sizeof words ? (size_t)(end - at) : sizeof words;
        size_t got = w->read ? w->read(o, at, (uint8_t *)words, n)
                             : sundew_safe_copy(words, o->address + at, n);
        for (size_t i = 0; (i + 1) * 8 <= got; i++)
            if (words[i] >= 4096 && !(words[i] >> 47) && !is_followed(ty, (at + i * 8) % ty->size))
                sundew_walk_add(w, words[i], 0, false);
        if (got < n)
            break;
    }
}

/* Reads the kept part of an object piece by piece and follows it. Elements
 * are counted from where the pointer led, so an array within a larger object
 * is read right. */
static void follow(SundewWalk *w, const SundewItem *it, const SundewObject *o)
{
    const SundewType *ty = sundew_type(o->type);
    uint8_t piece[2048];
    size_t step = sizeof piece;
    uint64_t phase = 0, at = o->offset;
    if (ty && ty->kind == SUNDEW_DATA && ty->size) {
        if (w->at_dump && o->place == SUNDEW_HEAP && o->address == it->address && !ty->tail &&
            ty->npointers && o->size > ty->size)
            scan_rest(w, o, ty);
        if (!ty->npointers && !ty->tail)
            return;
        if (ty->size <= sizeof piece)
            step = sizeof piece / ty->size * ty->size;
        if (o->type == it->type)
            phase = (it->address - o->address) % ty->size;
        if (ty->tail)
            phase = 0;
        else if (at % ty->size != phase)
            at += (phase + ty->size - at % ty->size) % ty->size;
    } else if (ty && ty->kind != SUNDEW_UNKNOWN) {
        return;
    }
    for (uint64_t end = o->offset + o->kept; at < end; at += step) {
        size_t n = end - at < step ? (size_t)(end - at) : step;
        size_t got =
            w->read ? w->read(o, at, piece, n) : sundew_safe_copy(piece, o->address + at, n);
        sundew_walk_bytes(w, piece, got, o->type,
                          ty && ty->size > sizeof piece ? at - phase
                          : ty && ty->tail              ? at
                                                        : 0);
        if (got < n || (ty && ty->tail && at == 0 && n == step))
            break;
    }
}

void sundew_walk_run(SundewWalk *w)
{
    while (w->head != w->tail && w->budget > 0) {
        SundewItem it = w->queue[w->head++ & (w->nqueue - 1)];
        const SundewType *ty = sundew_type(it.type);
        SundewObject o;
        if (ty && ty->kind == SUNDEW_CODE)
            continue;
        if (ty && ty->kind == SUNDEW_FOREIGN) {
            if (w->foreign && it.sure && sundew_walk_first_time(w, it.address, it.type))
                w->foreign(w, it.address, it.type);
            continue;
        }
        if (!locate(w, &it, &o) || !sundew_walk_first_time(w, o.address + o.offset, o.type))
            continue;
        if (w->met(w, &o))
            follow(w, &it, &o);
    }
    if (w->head != w->tail)
        w->cut = true;
}

void sundew_walk_frame(SundewWalk *w, const SundewFrame *f)
{
    const SundewFunction *fn = &sundew_tables.functions[f->row];
    const SundewParam *p = sundew_tables.params + fn->params;
    for (unsigned i = 0; i < fn->nparams; i++, p++) {
        const SundewType *ty = sundew_type(p->type);
        if (p->slot + p->nslots > fn->nslots)
            continue;
        const uint64_t *slots = f->slots + p->slot;
        if (p->by_copy)
            sundew_walk_add(w, slots[0], p->type, true);
        else if (ty && ty->kind == SUNDEW_DATA && ty->npointers)
            sundew_walk_bytes(w, (const uint8_t *)slots, p->nslots * 8u, p->type, 0);
    }
}
