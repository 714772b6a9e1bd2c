#include "engine/suite/plain.h"
#include <ctype.h>
#include <string.h>

enum { A_CALL = 1000, LONG_BYTES = 40, MOST_NOISE = 30 };

/* ---- noise */

/* How much a text looks like noise: bytes nobody can type, the same one again and again,
 * many of them. */
static unsigned noise_of_text(const SeqValue *v)
{
    unsigned noise = v->n > LONG_BYTES ? 2 : 0, run = 0, blanks = 0;
    for (size_t i = 0; i < v->n; i++) {
        uint8_t c = v->bytes[i];
        blanks += c == ' ';
        run = i && c == v->bytes[i - 1] ? run + 1 : 0;
        noise += (c < ' ' && c != '\n' && c != '\t') || c > '~';
        noise += run >= 3;
    }
    noise += blanks > 1;         /* a message, most likely */
    return noise < MOST_NOISE ? noise : MOST_NOISE;
}

/* Is it like a text that somebody would write, with marks put in or taken out? */
static bool has_marks(const SeqValue *v)
{
    for (size_t i = 0; i < v->n; i++)
        if (ispunct(v->bytes[i]) && !strchr("_-./", v->bytes[i]))
            return true;
    return false;
}

static bool is_enumerator(const ApiPlace *p, uint64_t bits)
{
    const Type *t = p->type ? type_plain(p->type) : NULL;
    for (unsigned i = 0; t && t->kind == TYPE_ENUM && i < t->nvalues; i++)
        if (t->values[i].value == (int32_t)bits)
            return true;
    return false;
}

static bool is_known(const Usage *usage, const ApiFunction *f, unsigned arg, const SeqValue *v)
{
    const UsageValues *all = usage ? usage_values(usage, f, arg) : NULL;
    for (size_t i = 0; all && i < all->n; i++)
        if (value_equal(&all->values[i], v))
            return true;
    return false;
}

static unsigned noise_of_number(int64_t x)
{
    bool edge = x == INT32_MAX || x == INT32_MIN || x == UINT32_MAX || x == INT64_MAX;
    return edge || (x >= -1 && x <= 2) ? 0 : x > 2 && x <= 10 ? 1 : x > 100 || x < -1 ? 3 : 2;
}

static unsigned noise_of(const Usage *usage, const SeqStep *st, unsigned arg)
{
    const SeqValue *v = &st->args[arg];
    const ApiPlace *p = &st->f->params[arg];
    bool text = v->kind == VALUE_STRING || (v->kind == VALUE_BYTES && p->role == ROLE_BUFFER);
    if (p->role == ROLE_LENGTH || is_known(usage, st->f, arg, v))
        return 0;
    if (text)
        return noise_of_text(v) + (v->n > 0) + (v->n > 3) + (st->divergent && has_marks(v));
    return v->kind == VALUE_INTEGER && !is_enumerator(p, v->integer)
               ? noise_of_number((int64_t)v->integer)
               : 0;
}

/* Does it name a handle that came out as NULL? */
static bool is_made_null(const Seq *s, const SeqValue *v)
{
    if (v->kind == VALUE_RESULT)
        return s->steps[v->step].nulls & 1;
    return v->kind == VALUE_STORED && v->param < 63 &&
           (s->steps[v->step].nulls >> (v->param + 1) & 1);
}

unsigned plain_cost(const Usage *usage, const Seq *s)
{
    unsigned cost = 0;
    for (unsigned i = 0; i < s->n; i++) {
        cost += A_CALL;
        for (unsigned k = 0; k < s->steps[i].nargs && s->steps[i].f; k++)
            cost +=
                noise_of(usage, &s->steps[i], k) + (is_made_null(s, &s->steps[i].args[k]) ? 5 : 0);
    }
    return cost;
}

/* ---- others */

/* Can the value of an argument be another, whatever the others are? */
static bool is_free(const SeqStep *st, unsigned i)
{
    const ApiPlace *p = &st->f->params[i];
    if (st->f->pinned || st->args[i].given || st->args[i].nlinks)
        return false;
    for (unsigned k = 0; k < st->nargs; k++)
        if (st->args[k].kind == VALUE_WITHIN)
            return false;
    return p->partner == API_NONE && (p->role == ROLE_INTEGER || p->role == ROLE_STRING ||
                                      p->role == ROLE_ENUM || p->role == ROLE_FLAGS);
}

/* The place of a buffer's length, if it says just that; -1: it does not. */
static int length_of(const SeqStep *st, unsigned i)
{
    int at = st->f->params[i].partner;
    if (st->f->params[i].role != ROLE_BUFFER || st->args[i].given || st->args[i].nlinks ||
        st->f->pinned || at < 0 || (unsigned)at >= st->nargs)
        return -1;
    return st->args[at].kind == VALUE_INTEGER && st->args[at].integer == st->args[i].n ? at : -1;
}

static Seq *with_value(Arena *a, const Seq *s, unsigned step, unsigned arg, const SeqValue *v)
{
    const SeqStep *st = &s->steps[step];
    int length = length_of(st, arg);
    if (value_equal(&st->args[arg], v) || (length < 0 && !is_free(st, arg)))
        return NULL;
    Seq *c = seq_copy(a, s);
    c->steps[step].args[arg] = value_copy(a, v);
    if (length >= 0) {
        c->steps[step].args[arg].kind = VALUE_BYTES;
        c->steps[step].args[length] = value_integer(v->n);
    }
    return c;
}

static size_t add(Seq *s, Seq **out, size_t n, size_t most)
{
    if (s && n < most)
        out[n++] = s;
    return n;
}

size_t plain_others(const Usage *usage, Arena *a, const Seq *s, unsigned step, unsigned arg,
                    Seq **out, size_t most)
{
    enum { OF_EXAMPLE = 3 };
    static const char *const texts[] = { "a", "abc", "z" };
    static const int numbers[] = { 1, 2, 0, 10, -1, 100 };
    const SeqStep *st = &s->steps[step];
    const UsageValues *known = usage ? usage_values(usage, st->f, arg) : NULL;
    SeqValueKind kind = st->args[arg].kind;
    bool text = kind == VALUE_STRING || kind == VALUE_BYTES;
    size_t n = 0;
    if (!text && kind != VALUE_INTEGER)
        return 0;
    for (size_t i = 0; known && i < known->n && i < OF_EXAMPLE; i++)
        if ((known->values[i].kind == VALUE_STRING || known->values[i].kind == VALUE_BYTES)
                ? text && !known->values[i].nlinks
                : known->values[i].kind == kind)
            n = add(with_value(a, s, step, arg, &known->values[i]), out, n, most);
    for (size_t i = 0; text && i < sizeof texts / sizeof *texts; i++) {
        SeqValue v = value_string(a, texts[i]);
        n = add(with_value(a, s, step, arg, &v), out, n, most);
    }
    for (size_t size = 1; text && st->args[arg].n > 3 && size < st->args[arg].n; size *= 2) {
        SeqValue v = value_bytes(a, st->args[arg].bytes, size);
        v.kind = kind;
        n = add(with_value(a, s, step, arg, &v), out, n, most);
    }
    for (size_t i = 0; !text && i < sizeof numbers / sizeof *numbers; i++) {
        SeqValue v = value_integer((uint64_t)(int64_t)numbers[i]);
        n = add(with_value(a, s, step, arg, &v), out, n, most);
    }
    return n;
}

size_t plain_variants(const Usage *usage, Arena *a, const Seq *s, Seq **out, size_t most)
{
    size_t n = 0;
    for (unsigned i = 0; i < s->n; i++) {
        const SeqStep *st = &s->steps[i];
        for (unsigned k = 0; st->f && !st->closing && !st->looking && k < st->nargs; k++) {
            if (is_made_null(s, &st->args[k]) && n < most) {
                out[n] = seq_copy(a, s);
                out[n++]->steps[i].args[k] = value_null();
            }
            if (noise_of(usage, st, k))
                n += plain_others(usage, a, s, i, k, out + n, most - n);
        }
    }
    return n;
}
