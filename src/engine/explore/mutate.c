/* Small changes: see mutate.h. */
#include "engine/explore/mutate.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/vec.h"
#include <stdio.h>
#include <string.h>

enum { MOST_WORDS = 4000, LONGEST_WORD = 128 };

typedef struct Word {
    uint8_t *bytes;
    size_t n;
} Word;

struct Mutator {
    Rng rng;
    size_t longest;
    uint8_t *buf;              /* longest + some */
    size_t n;
    uint8_t *scratch;
    const uint8_t *other;
    size_t nother;
    Vec(Word) words;
    Map known;
    unsigned parts;            /* of all changes */
};

void mutator_free(Mutator *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->words.len; i++)
        free(m->words.items[i].bytes);
    vec_release(&m->words);
    map_release(&m->known);
    free(m->buf);
    free(m->scratch);
    free(m);
}

bool mutator_word(Mutator *m, const void *bytes, size_t n)
{
    if (!n || n > LONGEST_WORD || m->words.len >= MOST_WORDS || map_getn(&m->known, bytes, n))
        return false;
    Word w = { xmemdup(bytes, n), n };
    vec_push(&m->words, w);
    map_putn(&m->known, bytes, n, m);
    return true;
}

/* ---- helpers */

static size_t below(Mutator *m, size_t n) { return n > 1 ? (size_t)(rng_next(&m->rng) % n) : 0; }

/* The length of a block: mostly short. */
static size_t block(Mutator *m, size_t most)
{
    static const size_t tops[] = { 8, 32, 128, 1500 };
    size_t r = below(m, 16), top = tops[r < 9 ? 0 : r < 13 ? 1 : r < 15 ? 2 : 3];
    if (top > most)
        top = most;
    return top ? 1 + below(m, top) : 0;
}

static void insert(Mutator *m, size_t at, const uint8_t *from, size_t n)
{
    if (n > m->longest - m->n)
        n = m->longest - m->n;
    memmove(m->buf + at + n, m->buf + at, m->n - at);
    memcpy(m->buf + at, from, n);
    m->n += n;
}

static void delete(Mutator *m, size_t at, size_t n)
{
    memmove(m->buf + at, m->buf + at + n, m->n - at - n);
    m->n -= n;
}

static void put_number(Mutator *m, size_t at, uint64_t v, size_t size, bool swapped)
{
    for (size_t i = 0; i < size; i++)
        m->buf[at + (swapped ? size - 1 - i : i)] = (uint8_t)(v >> (8 * i));
}

static uint64_t get_number(const Mutator *m, size_t at, size_t size, bool swapped)
{
    uint64_t v = 0;
    for (size_t i = 0; i < size; i++)
        v |= (uint64_t)m->buf[at + (swapped ? size - 1 - i : i)] << (8 * i);
    return v;
}

/* ---- changes */

static const int64_t interesting[] = {
    0,          1,          -1,          2,          3,
    4,          7,          8,           9,          10,
    15,         16,         17,          31,         32,
    33,         63,         64,          65,         99,
    100,        101,        127,         128,        129,
    -128,       -129,       255,         256,        257,
    511,        512,        513,         999,        1000,
    1001,       1023,       1024,        1025,       4095,
    4096,       4097,       32767,       32768,      -32768,
    -32769,     65534,      65535,       65536,      65537,
    1000000,    16777215,   16777216,    2147483647, -2147483647 - 1,
    4294967295, 4294967296, -2147483649, INT64_MAX,  INT64_MIN,
    -100663046, 100663045,
};

static void flip_bit(Mutator *m)
{
    size_t i = below(m, m->n * 8);
    m->buf[i / 8] ^= (uint8_t)(1u << (i % 8));
}

static size_t pick_size(Mutator *m)
{
    static const size_t sizes[] = { 1, 1, 2, 2, 4, 4, 8 };
    size_t s = sizes[below(m, 7)];
    return s > m->n ? 1 : s;
}

static void set_interesting(Mutator *m)
{
    size_t size = pick_size(m), at = below(m, m->n - size + 1);
    int64_t v = interesting[below(m, sizeof interesting / sizeof *interesting)];
    put_number(m, at, (uint64_t)v, size, below(m, 2));
}

static void add_number(Mutator *m)
{
    size_t size = pick_size(m), at = below(m, m->n - size + 1);
    bool swapped = below(m, 2);
    uint64_t v = get_number(m, at, size, swapped), by = 1 + below(m, 35);
    put_number(m, at, below(m, 2) ? v + by : v - by, size, swapped);
}

static void random_byte(Mutator *m) { m->buf[below(m, m->n)] ^= (uint8_t)(1 + below(m, 255)); }

static void delete_block(Mutator *m)
{
    if (m->n < 2)
        return;
    size_t n = block(m, m->n - 1);
    delete (m, below(m, m->n - n + 1), n);
}

static void clone_block(Mutator *m)
{
    size_t n = block(m, m->n), from = below(m, m->n - n + 1);
    memcpy(m->scratch, m->buf + from, n);
    insert(m, below(m, m->n + 1), m->scratch, n);
}

static void insert_fill(Mutator *m)
{
    size_t n = block(m, m->longest - m->n);
    memset(m->scratch, below(m, 2) ? (int)below(m, 256) : m->buf[below(m, m->n)], n);
    insert(m, below(m, m->n + 1), m->scratch, n);
}

static void copy_block(Mutator *m)
{
    size_t n = block(m, m->n), from = below(m, m->n - n + 1);
    memmove(m->buf + below(m, m->n - n + 1), m->buf + from, n);
}

static void fill_block(Mutator *m)
{
    size_t n = block(m, m->n);
    memset(m->buf + below(m, m->n - n + 1),
           below(m, 2) ? (int)below(m, 256) : m->buf[below(m, m->n)], n);
}

static void swap_blocks(Mutator *m)
{
    if (m->n < 2)
        return;
    size_t n = block(m, m->n / 2), a = below(m, m->n - n + 1), b = below(m, m->n - n + 1);
    if (a > b) {
        size_t t = a;
        a = b;
        b = t;
    }
    if (b < a + n)
        return;
    memcpy(m->scratch, m->buf + a, n);
    memcpy(m->buf + a, m->buf + b, n);
    memcpy(m->buf + b, m->scratch, n);
}

static void word_over(Mutator *m)
{
    if (!m->words.len)
        return;
    const Word *w = &m->words.items[below(m, m->words.len)];
    if (w->n <= m->n)
        memcpy(m->buf + below(m, m->n - w->n + 1), w->bytes, w->n);
}

static void word_in(Mutator *m)
{
    if (!m->words.len)
        return;
    const Word *w = &m->words.items[below(m, m->words.len)];
    insert(m, below(m, m->n + 1), w->bytes, w->n);
}

static void other_over(Mutator *m)
{
    if (!m->nother)
        return;
    size_t n = block(m, m->n < m->nother ? m->n : m->nother);
    memcpy(m->buf + below(m, m->n - n + 1), m->other + below(m, m->nother - n + 1), n);
}

static void other_in(Mutator *m)
{
    if (!m->nother)
        return;
    size_t n = block(m, m->nother);
    insert(m, below(m, m->n + 1), m->other + below(m, m->nother - n + 1), n);
}

static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

/* A decimal number in the text becomes another one. */
static void other_decimal(Mutator *m)
{
    size_t at = below(m, m->n), tries = 64;
    while (tries-- && !is_digit(m->buf[at]))
        at = at + 1 < m->n ? at + 1 : 0;
    if (!is_digit(m->buf[at]))
        return;
    size_t end = at;
    uint64_t v = 0;
    while (end < m->n && is_digit(m->buf[end]) && end - at < 18)
        v = v * 10 + (uint64_t)(m->buf[end++] - '0');
    char text[32];
    int64_t to = (int64_t)v;
    switch (below(m, 5)) {
    case 0: to += (int64_t)below(m, 16) - 8; break;
    case 1: to = interesting[below(m, sizeof interesting / sizeof *interesting)]; break;
    case 2: to = -to; break;
    case 3: to *= 2; break;
    default: to = (int64_t)(rng_next(&m->rng) >> (1 + below(m, 62))); break;
    }
    int n = snprintf(text, sizeof text, "%lld", (long long)to);
    delete (m, at, end - at);
    insert(m, at, (uint8_t *)text, (size_t)n);
}

static void printable_byte(Mutator *m) { m->buf[below(m, m->n)] = (uint8_t)(32 + below(m, 95)); }

static void insert_byte(Mutator *m)
{
    uint8_t c = below(m, 3) ? m->buf[below(m, m->n)] : (uint8_t)(32 + below(m, 95));
    insert(m, below(m, m->n + 1), &c, 1);
}

static void cut_end(Mutator *m)
{
    if (m->n > 1)
        m->n -= block(m, m->n - 1);
}

/* How often each change is made, in parts. */
static const struct {
    void (*change)(Mutator *m);
    unsigned parts;
} changes[] = {
    { flip_bit, 5 },     { set_interesting, 7 }, { add_number, 7 },    { random_byte, 6 },
    { delete_block, 8 }, { clone_block, 5 },     { insert_fill, 3 },   { copy_block, 5 },
    { fill_block, 3 },   { swap_blocks, 2 },     { word_over, 5 },     { word_in, 5 },
    { other_over, 4 },   { other_in, 4 },        { other_decimal, 3 }, { printable_byte, 4 },
    { insert_byte, 4 },  { cut_end, 1 },
};
enum { NCHANGES = sizeof changes / sizeof *changes };

Mutator *mutator_new(uint64_t seed, size_t longest)
{
    Mutator *m = xcalloc(1, sizeof *m);
    m->rng = rng_seeded(seed);
    m->longest = longest;
    m->buf = xmalloc(longest + 1);
    m->scratch = xmalloc(longest + 1);
    for (size_t i = 0; i < NCHANGES; i++)
        m->parts += changes[i].parts;
    return m;
}

static void change(Mutator *m)
{
    if (!m->n) {
        uint8_t c = (uint8_t)below(m, 256);
        insert(m, 0, &c, 1);
        return;
    }
    size_t r = below(m, m->parts), i = 0;
    while (r >= changes[i].parts)
        r -= changes[i++].parts;
    changes[i].change(m);
}

/* The head of one and the tail of the other. */
static void splice(Mutator *m)
{
    size_t most = m->n < m->nother ? m->n : m->nother;
    if (most < 2)
        return;
    size_t at = 1 + below(m, most - 1);
    size_t n = m->nother < m->longest ? m->nother : m->longest;
    memcpy(m->buf + at, m->other + at, n - at);
    m->n = n;
}

size_t mutate(Mutator *m, const uint8_t *bytes, size_t n, const uint8_t *other, size_t nother,
              const uint8_t **out)
{
    m->n = n < m->longest ? n : m->longest;
    memcpy(m->buf, bytes, m->n);
    m->other = other;
    m->nother = nother;
    if (nother && below(m, 12) == 0)
        splice(m);
    unsigned stack = 1u << below(m, 6);
    for (unsigned i = 0; i < stack; i++)
        change(m);
    *out = m->buf;
    return m->n;
}
