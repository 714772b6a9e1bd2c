#include "engine/explore/ktest.h"
#include <assert.h>
#include <stdint.h>
#include <string.h>

#define MAGIC "KTEST"
enum { NEWEST = 3, MOST_OBJECTS = 1 << 16 };

typedef struct Bytes {
    const unsigned char *data;
    size_t left;
    bool bad;
} Bytes;

static uint32_t number(Bytes *b)
{
    if (b->left < 4) {
        b->bad = true;
        return 0;
    }
    const unsigned char *p = b->data;
    b->data += 4;
    b->left -= 4;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* A text with its length in front; `out` may be NULL. */
static void text(Bytes *b, Str *out)
{
    uint32_t n = number(b);
    if (b->bad || n > b->left) {
        b->bad = true;
        return;
    }
    if (out)
        str_addn(out, (const char *)b->data, n);
    b->data += n;
    b->left -= n;
}

bool ktest_read(const char *data, size_t n, Str *out)
{
    size_t magic = strlen(MAGIC), before = out->len;
    if (n < magic || memcmp(data, MAGIC, magic) != 0)
        return false;
    Bytes b = { (const unsigned char *)data + magic, n - magic, false };
    uint32_t version = number(&b);
    for (uint32_t i = number(&b); i && !b.bad; i--)
        text(&b, NULL);
    if (version >= 2) {
        number(&b);
        number(&b);
    }
    uint32_t objects = number(&b);
    b.bad |= !version || version > NEWEST || objects > MOST_OBJECTS;
    for (uint32_t i = 0; i < objects && !b.bad; i++) {
        text(&b, NULL);
        text(&b, out);
    }
    if (b.bad && out->data) {
        out->len = before;
        out->data[before] = 0;
    }
    return !b.bad;
}

static void add_number(Str *out, size_t n)
{
    assert(n <= UINT32_MAX);
    for (int shift = 24; shift >= 0; shift -= 8)
        str_addc(out, (char)(n >> shift));
}

static void add_text(Str *out, const char *bytes, size_t n)
{
    add_number(out, n);
    str_addn(out, bytes, n);
}

void ktest_write(const char *program, const char *name, const char *bytes, size_t n, Str *out)
{
    str_add(out, MAGIC);
    add_number(out, NEWEST);
    add_number(out, 1);
    add_text(out, program, strlen(program));
    add_number(out, 0);
    add_number(out, 0);
    add_number(out, 1);
    add_text(out, name, strlen(name));
    add_text(out, bytes, n);
}
