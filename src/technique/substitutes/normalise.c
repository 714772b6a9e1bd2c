/*
 * Normalisers: small things in which two outputs may differ with good reason.
 *
 *     case     capitals               "ON"       "on"
 *     blanks   white space            "a, b"     "a,b"
 *     digits   numbers in a text      "at 12"    "at 7"
 *     order    the order of bytes     "b a"      "a b"
 *     sign     all but the sign       -1         -13
 *     truth    all but zero or not    1          32
 *
 * One is proposed if it explains a difference in all tests that showed it. It is used only if the
 * user writes its name in place of the kind in the file of accepted differences.
 */
#include "technique/substitutes/substitutes_int.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = { "case", "blanks", "digits", "order", "sign", "truth", NULL };
enum { AS_CASE, AS_BLANKS, AS_DIGITS, AS_ORDER, AS_SIGN, AS_TRUTH };

const char *const *normaliser_names(void) { return names; }

const char *normaliser_of(unsigned under)
{
    for (unsigned i = 0; names[i]; i++)
        if (under & 1u << i)
            return names[i];
    return NULL;
}

static int by_byte(const void *a, const void *b)
{
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

static void normalise(const Observation *o, int how, Str *out)
{
    bool number = false;
    for (size_t i = 0; i < o->n; i++) {
        unsigned char c = o->bytes[i];
        bool digit = isdigit(c);
        if (how == AS_CASE)
            str_addc(out, (char)tolower(c));
        else if (how == AS_BLANKS ? !isspace(c) : how == AS_DIGITS ? !digit : true)
            str_addc(out, (char)c);
        else if (how == AS_DIGITS && !number)
            str_addc(out, '#');
        number = digit;
    }
    if (how == AS_ORDER && out->len)
        qsort(out->data, out->len, 1, by_byte);
}

static bool same_text(const Observation *r, const Observation *c, int how)
{
    Str x = { 0 }, y = { 0 };
    normalise(r, how, &x);
    normalise(c, how, &y);
    bool same = x.len && x.len == y.len && memcmp(x.data, y.data, x.len) == 0;
    str_release(&x);
    str_release(&y);
    return same;
}

static int sign(uint64_t v) { return (v != 0) * ((int64_t)v < 0 ? -1 : 1); }

unsigned normalisers(const Observation *r, const Observation *c)
{
    unsigned under = 0;
    if (!r || !c || r->kind != c->kind)
        return 0;
    if (c->kind == OBSERVED_STRING || c->kind == OBSERVED_BYTES)
        for (int i = AS_CASE; i <= AS_ORDER; i++)
            under |= same_text(r, c, i) ? 1u << i : 0;
    if (c->kind == OBSERVED_INTEGER) {
        under |= sign(r->integer) == sign(c->integer) ? 1u << AS_SIGN : 0;
        under |= !r->integer == !c->integer ? 1u << AS_TRUTH : 0;
    }
    return under;
}
