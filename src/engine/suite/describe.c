#include "engine/suite/describe.h"
#include "base/escape.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

enum { SHORT_TEXT = 24, LONG_TEXT = 60, MOST_NAMED = 4, LONG_STORY = 5, MANY_TIMES = 3 };

/* ---- steps */

static bool gives_back(const SeqStep *st)
{
    if (st->closing)
        return true;
    for (unsigned i = 0; st->f && i < st->f->nparams; i++) {
        ApiUse use = st->f->params[i].use;
        if ((use == USE_CONSUMES || use == USE_FINISHES) && value_is_made(&st->args[i]))
            return true;
    }
    return false;
}

static bool makes(const SeqStep *st)
{
    for (int i = API_RETURNED; st->f && i < (int)st->f->nparams; i++)
        if (api_place(st->f, i)->use == USE_CREATES)
            return true;
    return false;
}

unsigned describe_step(const SeqTest *t)
{
    unsigned last = t->seq->n;
    if (t->refined)
        return t->about;
    for (unsigned i = 0; i < t->seq->n; i++) {
        const SeqStep *st = &t->seq->steps[i];
        if (st->f && !st->looking && !gives_back(st))
            last = i;
    }
    for (unsigned i = t->seq->n; i-- > 0 && last == t->seq->n;)
        if (t->seq->steps[i].f && (!t->seq->steps[i].closing || i == 0))
            last = i;
    return last < t->seq->n ? last : t->seq->n - 1;
}

/* Does a call get something that the other gets, or has made? */
static bool shares(const SeqTest *t, unsigned step, unsigned other)
{
    const SeqStep *a = &t->seq->steps[step], *b = &t->seq->steps[other];
    for (unsigned i = 0; i < a->nargs; i++) {
        if (!value_is_made(&a->args[i]))
            continue;
        for (unsigned k = 0; k < b->nargs; k++)
            if (value_equal(&a->args[i], &b->args[k]))
                return true;
        if (a->args[i].step == other)
            return true;
    }
    return false;
}

/* Does a call get what the other one made? */
static bool is_from(const SeqTest *t, unsigned step, unsigned maker)
{
    const SeqStep *st = &t->seq->steps[step];
    for (unsigned i = 0; i < st->nargs; i++)
        if (value_is_made(&st->args[i]) && st->args[i].step == maker)
            return true;
    return false;
}

/* The last call before it that changes something of what it gets; -1: none. */
static int change_before(const SeqTest *t, unsigned about)
{
    for (unsigned i = about; i-- > 0;) {
        const SeqStep *st = &t->seq->steps[i];
        if (st->f && !st->looking && !st->closing && !st->f->observes && st->f->takes_handle &&
            (makes(st) || st->f != t->seq->steps[about].f) && shares(t, about, i) &&
            !(makes(st) && is_from(t, about, i)))
            return (int)i;
    }
    return -1;
}

/* ---- values */

/* What is special about a value, as a word for names and as one for sentences. */
typedef struct Special {
    const char *name, *said;
} Special;

static bool is_signed(const Type *type)
{
    const Type *t = type_plain(type);
    return t->kind == TYPE_SCALAR && t->encoding == ENCODING_SIGNED;
}

static int64_t number_of(const Type *type, uint64_t bits)
{
    uint64_t size = type_plain(type)->size;
    return size == 4 ? (int32_t)bits : size == 2 ? (int16_t)bits : (int64_t)bits;
}

/* The text that a value is: a string, or bytes up to a NUL that the call changes where they
 * stand. False: it is none. */
static bool text_of(const ApiPlace *p, const SeqValue *v, size_t *n)
{
    *n = v->n;
    if (v->kind == VALUE_STRING || (v->kind == VALUE_BYTES && p->role == ROLE_BUFFER))
        return true;
    if (p->in_place && v->kind == VALUE_ROOM)
        *n = 0;
    else if (p->in_place && v->kind == VALUE_BYTES)
        *n = strnlen((const char *)v->bytes, v->n);
    else
        return false;
    return true;
}

static Special special_of(const ApiPlace *p, const SeqValue *v)
{
    size_t text;
    bool number =
        v->kind == VALUE_INTEGER && p->type && (p->role == ROLE_INTEGER || p->role == ROLE_LENGTH);
    int64_t n = number ? number_of(p->type, v->integer) : 1;
    if (v->kind == VALUE_NULL && p->role != ROLE_USER_DATA)
        return (Special){ "null", "NULL" };
    if ((v->kind == VALUE_BYTES && v->n == 0) || (text_of(p, v, &text) && text == 0))
        return (Special){ "empty", "empty" };
    if (number && n < 0 && is_signed(p->type))
        return (Special){ "negative", "negative" };
    if (number && (n >= INT_MAX || n < 0))
        return (Special){ "huge", "huge" };
    if (number && n == 0)
        return (Special){ "zero", "0" };
    return (Special){ NULL, NULL };
}

/* Does the example pass nothing else there? */
static bool is_usual(const Usage *usage, const ApiFunction *f, unsigned place, const SeqValue *v)
{
    const UsageValues *all = usage ? usage_values(usage, f, place) : NULL;
    bool usual = all && all->n;
    for (size_t i = 0; usual && i < all->n; i++)
        usual = value_equal(&all->values[i], v);
    return usual;
}

/* Would the call do something else with another value? */
static bool matters(const SeqTest *t, unsigned i)
{
    return !t->refined || i >= 64 || (t->matters >> i & 1);
}

/* The argument that is most special; -1: none is. */
static int special_argument(const SeqTest *t, const SeqStep *st, const Usage *usage, Special *out)
{
    static const char *const order[] = { "null", "empty", "negative", "huge", "zero" };
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (unsigned i = 0; i < st->nargs; i++) {
            *out = special_of(&st->f->params[i], &st->args[i]);
            if (out->name && strcmp(out->name, order[k]) == 0 && *st->f->params[i].name &&
                matters(t, i) && !is_usual(usage, st->f, i, &st->args[i]))
                return (int)i;
        }
    return -1;
}

static bool is_readable(const uint8_t *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isprint(s[i]))
            return false;
    return n > 0 && n <= LONG_TEXT;
}

/* A short text or a number that the call gets, rather one that the example does not have;
 * -1: there is none worth telling. */
static int telling_argument(const SeqTest *t, const SeqStep *st, const Usage *usage)
{
    size_t n;
    for (int known = 0; known < 2; known++)
        for (unsigned i = 0; i < st->nargs; i++)
            if (matters(t, i) && text_of(&st->f->params[i], &st->args[i], &n) && n &&
                n <= (known ? 8 * LONG_TEXT : LONG_TEXT) &&
                (known || !is_usual(usage, st->f, i, &st->args[i])))
                return (int)i;
    for (unsigned i = 0; i < st->nargs; i++)
        if (matters(t, i) && st->args[i].kind == VALUE_INTEGER && *st->f->params[i].name &&
            (st->f->params[i].role == ROLE_INTEGER || st->f->params[i].role == ROLE_ENUM))
            return (int)i;
    return -1;
}

static const char *enumerator(const Type *type, uint64_t bits)
{
    const Type *t = type ? type_plain(type) : NULL;
    for (unsigned i = 0; t && t->kind == TYPE_ENUM && i < t->nvalues; i++)
        if (t->values[i].value == (int32_t)bits)
            return t->values[i].name;
    return NULL;
}

/* A text, or the beginning of a long one, as C. */
static void say_text(const uint8_t *bytes, size_t n, Str *out)
{
    size_t some = n > LONG_TEXT ? SHORT_TEXT : n;
    str_addc(out, '"');
    for (size_t i = 0; i < some; i++)
        if (isprint(bytes[i]) && !(bytes[i] == '/' && i && bytes[i - 1] == '*'))
            str_addc(out, (char)bytes[i]);
        else
            str_addf(out, bytes[i] == '\n' ? "\\n" : "\\%03o", bytes[i]);
    str_add(out, n > some ? "...\"" : "\"");
}

static void say_value(const ApiPlace *p, const SeqValue *v, Str *out)
{
    const char *name = v->kind == VALUE_INTEGER ? enumerator(p->type, v->integer) : NULL;
    size_t n;
    if (text_of(p, v, &n))
        say_text(v->bytes, n, out);
    else if (name)
        str_add(out, name);
    else if (type_is_char(p->type) && isprint((unsigned char)v->integer))
        str_addf(out, "'%c'", (char)v->integer);
    else
        str_addf(out, "%" PRId64, number_of(p->type, v->integer));
}

/* A short text as a part of a name, if it makes a word. */
static bool add_word(const uint8_t *bytes, size_t n, const char *before, Str *out)
{
    enum { SHORT_WORD = 24 };
    size_t odd = 0;
    bool minus = n > 1 && bytes[0] == '-' && isdigit(bytes[1]);
    bytes += minus;
    n -= minus;
    while (n > 1 && !isalnum(bytes[0])) {
        bytes++;
        n--;
    }
    if (n > SHORT_WORD) {        /* its first words */
        n = SHORT_WORD + 1;
        while (n && isalnum(bytes[n - 1]))
            n--;
    }
    bool word = n && isalnum(bytes[0]);
    while (word && !isalnum(bytes[n - 1]))
        n--;
    for (size_t i = 0; word && i < n; i++)
        odd += !isalnum(bytes[i]) && bytes[i] != '_';
    if (!word || 3 * odd > n)
        return false;
    str_addf(out, "%s%s", before, minus ? "minus_" : "");
    for (size_t i = 0; i < n; i++)
        if (isalnum(bytes[i]) || str_c(out)[out->len - 1] != '_')
            str_addc(out, isalnum(bytes[i]) ? (char)bytes[i] : '_');
    return true;
}

/* "_for_abc", "_for_index_3". */
static void name_value(const ApiPlace *p, const SeqValue *v, Str *out)
{
    const char *name = v->kind == VALUE_INTEGER ? enumerator(p->type, v->integer) : NULL;
    size_t n;
    if (text_of(p, v, &n))
        add_word(v->bytes, n, "_for_", out);
    if (name)
        str_addf(out, "_for_%s", name);
    else if (v->kind == VALUE_INTEGER && type_is_char(p->type))
        add_word((const uint8_t *)&(char){ (char)v->integer }, 1, "_for_", out);
    else if (v->kind == VALUE_INTEGER && number_of(p->type, v->integer) > 0)
        str_addf(out, "_for_%s_%" PRId64, p->name, number_of(p->type, v->integer));
}

/* Two numbers that say from where to where, the wrong way round; false: there are none. */
static bool add_reversed(const SeqStep *st, Str *name, Str *sentence)
{
    static const char *const pairs[][2] = { { "begin", "end" }, { "start", "end" },
                                            { "from", "to" },   { "first", "last" },
                                            { "min", "max" },   { "low", "high" },
                                            { "lo", "hi" },     { "start", "stop" } };
    for (unsigned i = 0; i + 1 < st->nargs; i++)
        for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
            const ApiPlace *p = &st->f->params[i], *q = p + 1;
            if (strcmp(p->name, pairs[k][0]) != 0 || strcmp(q->name, pairs[k][1]) != 0 ||
                st->args[i].kind != VALUE_INTEGER || st->args[i + 1].kind != VALUE_INTEGER ||
                number_of(p->type, st->args[i].integer) <=
                    number_of(q->type, st->args[i + 1].integer))
                continue;
            str_addf(name, "_with_%s_behind_%s", p->name, q->name);
            str_addf(sentence, " when %s (%" PRId64 ") is behind %s (%" PRId64 ")", p->name,
                     number_of(p->type, st->args[i].integer), q->name,
                     number_of(q->type, st->args[i + 1].integer));
            return true;
        }
    return false;
}

/* ---- what it gives */

static const Observation *result_of(const SeqTest *t, unsigned step)
{
    for (size_t i = 0; i < t->out.nobs; i++)
        if (t->out.obs[i].step == step && t->out.obs[i].place == API_RETURNED && t->stable[i])
            return &t->out.obs[i];
    return NULL;
}

/* "_gives_3", "_gives_minus_5". */
static void name_number(int64_t n, Str *out)
{
    enum { LONG_NUMBER = 99999 };
    if (n > LONG_NUMBER || n < -LONG_NUMBER)
        str_add(out, n < 0 ? "_gives_a_negative_number" : "_gives_a_large_number");
    else
        str_addf(out, n < 0 ? "_gives_minus_%" PRId64 : "_gives_%" PRId64, n < 0 ? -n : n);
}

/* The number that a call gives is one that it was given: a default, most likely. */
static const char *given_back(const SeqStep *st, int64_t n)
{
    for (unsigned i = 0; i < st->nargs; i++)
        if (st->args[i].kind == VALUE_INTEGER && st->f->params[i].role == ROLE_INTEGER &&
            *st->f->params[i].name && n &&
            number_of(st->f->params[i].type, st->args[i].integer) == n)
            return st->f->params[i].name;
    return NULL;
}

static void name_integer(const SeqTest *t, unsigned step, const Observation *o, Str *out)
{
    enum { LEAST_ERROR = -255 }; /* less is a number that means something */
    const ApiFunction *f = t->seq->steps[step].f;
    const Type *type = f->fn->returns;
    const char *name = enumerator(type, o->integer);
    int64_t n = number_of(type, o->integer);
    if (f->compares)
        str_add(out, n < 0 ? "_gives_less" : n > 0 ? "_gives_more" : "_gives_equal");
    else if (name && o->integer)
        str_addf(out, "_gives_%s", name);
    else if (f->observes && given_back(&t->seq->steps[step], n))
        str_addf(out, "_gives_%s", given_back(&t->seq->steps[step], n));
    else if (is_signed(type) && n < 0 && n >= LEAST_ERROR && (n == -1 || !f->observes))
        str_add(out, "_fails");
    else if (!name && (f->observes || !f->takes_handle))
        name_number(n, out);
}

static void name_result(const SeqTest *t, unsigned step, Str *out)
{
    const Observation *o = result_of(t, step);
    const ApiFunction *maker = o && o->kind == OBSERVED_SAME && o->same_step < t->seq->n
                                   ? t->seq->steps[o->same_step].f
                                   : NULL;
    if (!o)
        return;
    if (o->kind == OBSERVED_NULL)
        str_add(out, "_gives_null");
    else if (o->kind == OBSERVED_INTEGER)
        name_integer(t, step, o, out);
    else if (o->kind == OBSERVED_STRING && !o->n)
        str_add(out, "_gives_an_empty_text");
    else if (o->kind == OBSERVED_STRING)
        add_word(o->bytes, o->n, "_gives_", out);
    else if (maker)
        str_addf(out, "_gives_that_of_%s", maker->name);
}

void describe_observation(const Observation *o, const Type *type, Str *out)
{
    const char *name = o->kind == OBSERVED_INTEGER ? enumerator(type, o->integer) : NULL;
    if (o->kind == OBSERVED_NULL)
        str_add(out, "returns NULL");
    else if (name)
        str_addf(out, "returns %s", name);
    else if (o->kind == OBSERVED_INTEGER && type && is_signed(type))
        str_addf(out, "returns %" PRId64, number_of(type, o->integer));
    else if (o->kind == OBSERVED_INTEGER)
        str_addf(out, "returns %" PRIu64, o->integer);
    else if (o->kind == OBSERVED_FLOAT)
        str_addf(out, "returns %g", o->real);
    else if (o->kind == OBSERVED_STRING && is_readable(o->bytes, o->n))
        str_addf(out, "returns \"%.*s\"", (int)o->n, (const char *)o->bytes);
    else if (o->kind == OBSERVED_STRING)
        str_add(out, o->n ? "returns a text" : "returns an empty text");
    else if (o->kind == OBSERVED_HANDLE || o->kind == OBSERVED_SAME)
        str_add(out, "returns an object");
    else
        str_add(out, "is called");
}

static void say_result(const SeqTest *t, unsigned step, Str *out)
{
    const SeqStep *st = &t->seq->steps[step];
    const Observation *o = result_of(t, step);
    bool same =
        o && o->kind == OBSERVED_SAME && o->same_step < t->seq->n && t->seq->steps[o->same_step].f;
    if (!o)
        str_add(out, "is called");
    else if (st->f->compares && o->kind == OBSERVED_INTEGER)
        str_addf(out, "says %s",
                 !o->integer               ? "that both are equal"
                 : (int64_t)o->integer < 0 ? "that the first is less"
                                           : "that the first is more");
    else if (same)
        str_addf(out, "returns what %s() %s", t->seq->steps[o->same_step].f->name,
                 o->same_place == API_RETURNED ? "returned" : "gave");
    else
        describe_observation(o, st->f->fn->returns, out);
}

/* ---- whole */

/* How often the call of a step is made in a row, up to it. */
static unsigned times_called(const SeqTest *t, unsigned step)
{
    unsigned n = 0;
    for (unsigned i = step + 1; i-- > 0 && t->seq->steps[i].f == t->seq->steps[step].f;)
        n++;
    return n;
}

/* "_with_null_key" and " when key is NULL", or " for "abc"". */
static void add_values(const SeqTest *t, const SeqStep *st, const Usage *usage, Str *name,
                       Str *sentence)
{
    Special special;
    size_t n;
    int i = special_argument(t, st, usage, &special), k = telling_argument(t, st, usage);
    if (add_reversed(st, name, sentence))
        return;
    if (i >= 0) {
        str_addf(name, "_with_%s_%s", special.name, st->f->params[i].name);
        str_addf(sentence, " when %s is %s", st->f->params[i].name, special.said);
    } else if (k >= 0) {
        name_value(&st->f->params[k], &st->args[k], name);
        str_add(sentence, " for ");
        if (!text_of(&st->f->params[k], &st->args[k], &n) && *st->f->params[k].name)
            str_addf(sentence, "%s ", st->f->params[k].name);
        say_value(&st->f->params[k], &st->args[k], sentence);
    }
}

/* The first call after it whose result is checked; -1: none. */
static int first_look(const SeqTest *t, unsigned about)
{
    for (unsigned i = about + 1; i < t->seq->n; i++) {
        const Observation *o = t->seq->steps[i].f ? result_of(t, i) : NULL;
        if (o && o->kind != OBSERVED_HANDLE)
            return (int)i;
    }
    return -1;
}

/* A field of the caller's struct that the call has written; NULL: none. */
static const Observation *first_field(const SeqTest *t, unsigned about)
{
    for (size_t i = 0; i < t->out.nobs; i++) {
        const Observation *o = &t->out.obs[i];
        if (o->step == about && o->place >= OBSERVED_FIELD && o->place < OBSERVED_BEHIND &&
            t->stable[i] && o->kind == OBSERVED_INTEGER)
            return o;
    }
    return NULL;
}

static void say_field(const SeqTest *t, const Observation *o, Str *out)
{
    const SeqStep *st = &t->seq->steps[o->step];
    unsigned at = (unsigned)(o->place - OBSERVED_FIELD), i = at / OBSERVED_FIELDS;
    const ApiPlace *p = &st->f->params[i];
    const Field *f = &observed_struct(p)->fields[observed_number(p, at % OBSERVED_FIELDS)];
    str_addf(out, "; then %s is %" PRId64, f->name, number_of(f->type, o->integer));
}

/* A text, or the beginning of a long one. */
static void say_beginning(const uint8_t *bytes, size_t n, Str *out)
{
    size_t some = n > SHORT_TEXT ? SHORT_TEXT : n;
    if (n && !is_readable(bytes, some))
        str_add(out, "...");
    else
        str_addf(out, "\"%.*s%s\"", (int)some, (const char *)bytes, n > some ? "..." : "");
}

/* An argument of the call that brings an object into the test, as C: literals only. */
static void say_argument(const ApiPlace *p, const SeqValue *v, Str *out)
{
    if (v->kind == VALUE_NULL)
        str_add(out, "NULL");
    else if (v->kind == VALUE_STRING || (v->kind == VALUE_BYTES && p->role == ROLE_BUFFER))
        say_beginning(v->bytes, v->n, out);
    else if (v->kind == VALUE_INTEGER && p->type)
        say_value(p, v, out);
    else
        str_add(out, "...");
}

/* The call that made the first object that a call gets; -1: it gets none. */
static int origin_of(const SeqTest *t, unsigned about)
{
    const SeqStep *st = &t->seq->steps[about];
    for (unsigned i = 0; i < st->nargs; i++)
        if (value_is_made(&st->args[i]) && st->f->params[i].handle &&
            t->seq->steps[st->args[i].step].f)
            return (int)st->args[i].step;
    return -1;
}

/* Does the call get the same object twice? */
static bool meets_itself(const SeqStep *st)
{
    for (unsigned i = 0; i < st->nargs; i++)
        for (unsigned k = 0; k < i; k++)
            if (value_is_made(&st->args[i]) && value_equal(&st->args[i], &st->args[k]))
                return true;
    return false;
}

static void add_origin(const SeqTest *t, unsigned about, bool longer, Str *name, Str *sentence)
{
    int at = origin_of(t, about);
    const SeqStep *st = at >= 0 ? &t->seq->steps[at] : NULL;
    bool itself = meets_itself(&t->seq->steps[about]);
    if (itself)
        str_add(name, "_with_itself");
    if (st && longer)
        str_addf(name, "_on_%s", st->f->name);
    if (st) {
        str_addf(sentence, ", on an object from %s(", st->f->name);
        for (unsigned i = 0; i < st->nargs; i++) {
            str_add(sentence, i ? ", " : "");
            say_argument(&st->f->params[i], &st->args[i], sentence);
        }
        str_add(sentence, itself ? ") and itself" : ")");
    }
}

/* The calls of a long story, each function once. */
static void say_story(const SeqTest *t, Str *out)
{
    const ApiFunction *named[MOST_NAMED];
    unsigned n = 0, more = 0;
    for (unsigned i = 0; i < t->seq->n; i++) {
        const SeqStep *st = &t->seq->steps[i];
        bool known = !st->f || st->looking || st->closing || gives_back(st);
        for (unsigned k = 0; k < n && !known; k++)
            known = named[k] == st->f;
        if (known)
            continue;
        if (n == MOST_NAMED) {
            more++;
            continue;
        }
        named[n] = st->f;
        str_addf(out, "%s%s()", n ? ", " : "", st->f->name);
        n++;
    }
    str_add(out, more ? " and others" : "");
}

static unsigned count_calls(const SeqTest *t)
{
    unsigned n = 0;
    for (unsigned i = 0; i < t->seq->n; i++) {
        const SeqStep *st = &t->seq->steps[i];
        bool again = i && st->f && t->seq->steps[i - 1].f == st->f && !t->example;
        n += st->f && !again && !st->looking && !st->closing && !gives_back(st);
    }
    return n;
}

/* An object's whole life, as the example had it. */
static void describe_story(const SeqTest *t, Str *name, Str *sentence)
{
    const ApiType *type = NULL;
    for (unsigned i = 0; i < t->seq->n && !type; i++)
        for (int k = API_RETURNED; t->seq->steps[i].f && k < (int)t->seq->steps[i].f->nparams; k++)
            if (api_place(t->seq->steps[i].f, k)->handle)
                type = api_place(t->seq->steps[i].f, k)->handle;
    const char *word = type ? type->name : "calls";
    if (str_starts(word, "struct "))
        word += strlen("struct ");
    while (*word == '_')
        word++;
    str_add(name, t->example ? "test_example_of_" : "test_long_use_of_");
    escape_c_identifier(name, word, strlen(word));
    str_add(sentence, t->example ? "Repeats the example: " : "Many calls one after the other: ");
    say_story(t, sentence);
    str_add(sentence, ".");
}

/* Calls that show no effect, which only have to go well. */
static void describe_idle(const SeqTest *t, Str *name, Str *sentence)
{
    str_add(name, "test_calls_that_show_nothing");
    str_add(sentence, "Nothing shows what these calls do, but they must go well: ");
    say_story(t, sentence);
    str_add(sentence, ".");
}

void describe_test(const SeqTest *t, const Usage *usage, bool longer, Str *name, Str *sentence)
{
    if (t->idle) {
        describe_idle(t, name, sentence);
        return;
    }
    if (!t->refined && count_calls(t) >= (t->example ? LONG_STORY : 2 * LONG_STORY)) {
        describe_story(t, name, sentence);
        return;
    }
    unsigned about = describe_step(t);
    const SeqStep *st = &t->seq->steps[about];
    int before = change_before(t, about);
    Str word = { 0 };
    str_add(&word, st->f->name);
    const Observation *field = result_of(t, about) ? NULL : first_field(t, about);
    int look = field ? -1 : first_look(t, about);
    bool shown = look >= 0 && t->seq->steps[look].looking && !t->example;
    if (result_of(t, about) && !shown)
        look = -1;
    str_addf(sentence, "%s%s() ", t->example ? "As in the example: " : "", st->f->name);
    say_result(t, about, sentence);
    add_values(t, st, usage, &word, sentence);
    name_result(t, about, &word);
    unsigned times = times_called(t, about);
    if (times > MANY_TIMES) {
        str_addf(&word, "_%u_times", times);
        str_addf(sentence, " the %uth time in a row", times);
    }
    add_origin(t, about, longer, &word, sentence);
    if (shown && strcmp(t->seq->steps[look].f->name, st->f->name) != 0)
        str_addf(&word, "_seen_by_%s", t->seq->steps[look].f->name);
    if (before >= 0) {
        str_addf(&word, "_after_%s", t->seq->steps[before].f->name);
        str_addf(sentence, ", after %s()", t->seq->steps[before].f->name);
    }
    if (field)
        say_field(t, field, sentence);
    if (look >= 0) {
        str_addf(sentence, "; then %s() ", t->seq->steps[look].f->name);
        say_result(t, (unsigned)look, sentence);
        if (shown && t->instead)
            str_addf(sentence, " (without the call it %s)", t->instead);
    }
    str_add(sentence, ".");
    str_add(name, "test_");
    escape_c_identifier(name, str_c(&word), word.len);
    str_release(&word);
}
