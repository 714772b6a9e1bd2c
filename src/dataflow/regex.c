/*
 * Java's regular expressions.
 *
 * The pattern becomes a tree of nodes, then instructions for a small machine:
 *
 *     CHAR set        one character of the set
 *     SPLIT x, y      try x, then y
 *     JUMP x, SAVE n, BEGIN, END, WORD, BACK n, LOOK x, ATOMIC x, MATCH
 *
 * regex_full() runs it by backtracking, on a stack of its own and with a limit
 * on steps. An automaton runs all threads at once: its states are sets of
 * instructions.
 *
 * Characters beyond ASCII count as one: sets hold 128 ASCII characters and a
 * flag for all others, with a short list of single ones.
 */
#include "dataflow/regex.h"
#include "base/escape.h"
#include "base/map.h"
#include "base/vec.h"
#include <assert.h>
#include <ctype.h>

enum {
    MOST_STEPS = 2000000,
    MOST_CODE = 20000,
    MOST_REPEAT = 1000,
    MOST_DEPTH = 200,
    MOST_STATES = 20000
};

typedef struct CharSet {
    uint64_t ascii[2];
    bool others;               /* all beyond ASCII, but for `odd` */
    unsigned odd[8];           /* beyond ASCII: the opposite of `others` */
    size_t nodd;
} CharSet;

typedef enum Code {
    CODE_CHAR,
    CODE_SPLIT,
    CODE_JUMP,
    CODE_SAVE,
    CODE_BEGIN,
    CODE_END,
    CODE_WORD,
    CODE_NO_WORD,
    CODE_BACK,
    CODE_LOOK,
    CODE_NOT_LOOK,
    CODE_ATOMIC,
    CODE_MATCH,
} Code;

typedef struct Ins {
    Code code;
    int x, y;
    CharSet set;
} Ins;

struct Regex {
    Ins *code;
    size_t n;
    size_t ngroups;
    bool regular;              /* no look-around, no back-references */
};

typedef struct Compiler {
    Arena *a;
    const char *p, *end, *begin;
    int flags;
    Vec(Ins) code;
    size_t ngroups;
    bool regular;
    int depth;
    Err *err;
} Compiler;

/* ---- sets */

static void set_add(CharSet *s, unsigned c)
{
    if (c < 128)
        s->ascii[c / 64] |= 1ULL << (c % 64);
    else if (!s->others && s->nodd < 8)
        s->odd[s->nodd++] = c;
}

static bool set_has(const CharSet *s, unsigned c)
{
    if (c < 128)
        return s->ascii[c / 64] >> (c % 64) & 1;
    for (size_t i = 0; i < s->nodd; i++)
        if (s->odd[i] == c)
            return !s->others;
    return s->others;
}

static void set_negate(CharSet *s)
{
    s->ascii[0] = ~s->ascii[0];
    s->ascii[1] = ~s->ascii[1];
    s->others = !s->others;
}

static void set_union(CharSet *s, const CharSet *o)
{
    s->ascii[0] |= o->ascii[0];
    s->ascii[1] |= o->ascii[1];
    if (o->others) {
        s->others = true;
        s->nodd = 0;
    }
    for (size_t i = 0; i < o->nodd && !o->others; i++)
        set_add(s, o->odd[i]);
}

static void set_range(CharSet *s, unsigned from, unsigned to)
{
    for (unsigned c = from; c <= to && c < 128; c++)
        set_add(s, c);
    if (to >= 128) {
        s->others = true;
        s->nodd = 0;
    }
}

static void set_fold(CharSet *s)
{
    for (unsigned c = 'a'; c <= 'z'; c++)
        if (set_has(s, c) || set_has(s, c - 32)) {
            set_add(s, c);
            set_add(s, c - 32);
        }
}

/* \d \w \s and their opposites. */
static bool set_of_class(char c, CharSet *s)
{
    *s = (CharSet){ 0 };
    switch (c | 32) {
    case 'd': set_range(s, '0', '9'); break;
    case 'w':
        set_range(s, '0', '9');
        set_range(s, 'a', 'z');
        set_range(s, 'A', 'Z');
        set_add(s, '_');
        break;
    case 's':
        for (const char *p = " \t\n\v\f\r"; *p; p++)
            set_add(s, (unsigned char)*p);
        break;
    default: return false;
    }
    if (c < 'a')
        set_negate(s);
    return true;
}

static const struct {
    const char *name;
    int (*test)(int);
} posix[] = {
    { "Alpha", isalpha }, { "Digit", isdigit },        { "Alnum", isalnum }, { "Upper", isupper },
    { "Lower", islower }, { "Punct", ispunct },        { "Space", isspace }, { "XDigit", isxdigit },
    { "L", isalpha },     { "Lu", isupper },           { "Ll", islower },    { "N", isdigit },
    { "Nd", isdigit },    { "IsAlphabetic", isalpha }, { "P", ispunct },
};

static void set_of_name(const char *name, size_t n, CharSet *s)
{
    *s = (CharSet){ 0 };
    for (size_t i = 0; i < sizeof posix / sizeof *posix; i++)
        if (strlen(posix[i].name) == n && !memcmp(posix[i].name, name, n))
            for (unsigned c = 0; c < 128; c++)
                if (posix[i].test((int)c))
                    set_add(s, c);
}

/* ---- parsing straight into code */

static bool fail(Compiler *c, const char *what)
{
    return err_set(c->err, "regular expression \"%.*s\": %s", (int)(c->end - c->begin), c->begin,
                   what);
}

static int emit(Compiler *c, Code code, int x, int y)
{
    Ins in = { .code = code, .x = x, .y = y };
    vec_push(&c->code, in);
    return (int)c->code.len - 1;
}

static void emit_set(Compiler *c, const CharSet *s)
{
    int i = emit(c, CODE_CHAR, 0, 0);
    c->code.items[i].set = *s;
    if (c->flags & REGEX_FOLD)
        set_fold(&c->code.items[i].set);
}

static unsigned next_char(Compiler *c)
{
    unsigned cp;
    size_t n = utf8_decode(c->p, (size_t)(c->end - c->p), &cp);
    if (!n) {
        cp = (unsigned char)*c->p;
        n = 1;
    }
    c->p += n;
    return cp;
}

/* Digits up to the pattern's end; a number too large stays so. */
static long number(Compiler *c, int base)
{
    enum { LARGE = 1 << 24 };
    long n = 0;
    for (; c->p < c->end && *c->p >= '0' && *c->p < '0' + base; c->p++)
        n = n < LARGE ? n * base + (*c->p - '0') : n;
    return n;
}

static unsigned hex_digits(Compiler *c, int most)
{
    unsigned v = 0;
    while (most-- && c->p < c->end && isxdigit((unsigned char)*c->p)) {
        int d = *c->p++;
        v = v * 16 + (unsigned)(isdigit(d) ? d - '0' : (d | 32) - 'a' + 10);
    }
    return v;
}

/* After a backslash: a character, or a class in *s (true). */
static bool escape_of(Compiler *c, CharSet *s, unsigned *ch)
{
    char k = *c->p++;
    if (set_of_class(k, s))
        return true;
    if ((k == 'p' || k == 'P') && c->p < c->end) {
        const char *name = c->p, *to = c->p + 1;
        if (*c->p == '{') {
            name++;
            to = memchr(name, '}', (size_t)(c->end - name));
            to = to ? to : c->end;
            c->p = to < c->end ? to + 1 : to;
        } else {
            c->p++;
        }
        set_of_name(name, (size_t)(to - name), s);
        if (k == 'P')
            set_negate(s);
        return true;
    }
    static const char from[] = "ntrfae", to[] = "\n\t\r\f\a\033";
    const char *at = strchr(from, k);
    *ch = at && k ? (unsigned char)to[at - from] : (unsigned char)k;
    if (k == 'x')
        *ch = hex_digits(c, 2);
    else if (k == 'u')
        *ch = hex_digits(c, 4);
    else if (k == '0')
        *ch = (unsigned)number(c, 8);
    return false;
}

static bool parse_class(Compiler *c, CharSet *out)
{
    bool negate = c->p < c->end && *c->p == '^', first = true;
    CharSet s = { 0 };
    c->p += negate;
    while (c->p < c->end && (*c->p != ']' || first)) {
        first = false;
        unsigned from = 0, to;
        CharSet inner;
        if (*c->p == '[') {
            c->p++;
            if (!parse_class(c, &inner))
                return false;
            set_union(&s, &inner);
            continue;
        }
        if (*c->p == '&' && c->end - c->p > 1 && c->p[1] == '&')
            return fail(c, "&& in a class is not supported");
        if (*c->p == '\\' && c->end - c->p > 1) {
            c->p++;
            if (escape_of(c, &inner, &from)) {
                set_union(&s, &inner);
                continue;
            }
        } else {
            from = next_char(c);
        }
        to = from;
        if (c->end - c->p > 1 && *c->p == '-' && c->p[1] != ']') {
            c->p++;
            if (*c->p == '\\' && c->end - c->p > 1) {
                c->p++;
                if (escape_of(c, &inner, &to))
                    return fail(c, "a class is no end of a range");
            } else {
                to = next_char(c);
            }
        }
        if (to < from)
            return fail(c, "this range ends before it begins");
        if (from == to)
            set_add(&s, from);
        else
            set_range(&s, from, to);
    }
    if (c->p == c->end)
        return fail(c, "a class has no ]");
    c->p++;
    if (negate)
        set_negate(&s);
    *out = s;
    return true;
}

static bool parse_alternatives(Compiler *c);

/* Inside "(…": the kinds of groups. */
static bool parse_group(Compiler *c)
{
    bool capture = true;
    Code look = CODE_MATCH;
    if (++c->depth > MOST_DEPTH)
        return fail(c, "groups are nested too deep");
    int flags = c->flags;
    if (c->end - c->p > 1 && c->p[0] == '?') {
        capture = false;
        c->p++;
        if (*c->p == '=' || *c->p == '!' || *c->p == '>') {
            look = *c->p == '=' ? CODE_LOOK : *c->p == '!' ? CODE_NOT_LOOK : CODE_ATOMIC;
            c->p++;
            c->regular = false;
        } else if (*c->p == '<' && c->end - c->p > 1 && c->p[1] != '=' && c->p[1] != '!') {
            const char *close = memchr(c->p, '>', (size_t)(c->end - c->p));
            if (!close)
                return fail(c, "a group's name has no end");
            c->p = close + 1;
            capture = true;
        } else if (*c->p == '<') {
            return fail(c, "look-behind is not supported");
        } else {
            bool on = true;
            for (; c->p < c->end && *c->p != ':' && *c->p != ')'; c->p++) {
                int bit = *c->p == 'i' ? REGEX_FOLD : *c->p == 's' ? REGEX_DOT_ALL : 0;
                if (*c->p == '-')
                    on = false;
                c->flags = on ? c->flags | bit : c->flags & ~bit;
            }
            if (c->p < c->end && *c->p == ')') {     /* (?i): from here on */
                c->p++;
                c->depth--;
                return true;
            }
            c->p += c->p < c->end;
        }
    }
    int start = look != CODE_MATCH ? emit(c, look, 0, 0) : -1;
    size_t group = capture ? c->ngroups++ : 0;
    if (capture)
        emit(c, CODE_SAVE, (int)(2 * group), 0);
    if (!parse_alternatives(c))
        return false;
    if (c->p == c->end || *c->p != ')')
        return fail(c, "a group has no )");
    c->p++;
    if (capture)
        emit(c, CODE_SAVE, (int)(2 * group + 1), 0);
    if (start >= 0) {
        emit(c, CODE_MATCH, 0, 0);
        c->code.items[start].x = (int)c->code.len;     /* where to go on */
    }
    c->flags = flags;
    c->depth--;
    return true;
}

static bool parse_escape(Compiler *c)
{
    CharSet s = { 0 };
    unsigned ch = 0;
    if (c->p == c->end)
        return fail(c, "it ends with a backslash");
    if (*c->p == 'Q') {
        for (c->p++; c->p < c->end;) {
            if (c->end - c->p > 1 && c->p[0] == '\\' && c->p[1] == 'E') {
                c->p += 2;
                break;
            }
            CharSet one = { 0 };
            set_add(&one, next_char(c));
            emit_set(c, &one);
        }
        return true;
    }
    if (*c->p >= '1' && *c->p <= '9') {
        c->regular = false;
        emit(c, CODE_BACK, *c->p++ - '0', 0);
        return true;
    }
    static const struct {
        char letter;
        Code code;
    } points[] = {
        { 'b', CODE_WORD }, { 'B', CODE_NO_WORD }, { 'A', CODE_BEGIN },
        { 'z', CODE_END },  { 'Z', CODE_END },
    };
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        if (*c->p == points[i].letter) {
            c->p++;
            emit(c, points[i].code, 0, 0);
            return true;
        }
    if (!escape_of(c, &s, &ch))
        set_add(&s, ch);
    emit_set(c, &s);
    return true;
}

static bool parse_one(Compiler *c)
{
    CharSet s = { 0 };
    char k = *c->p;
    if (k == '(') {
        c->p++;
        return parse_group(c);
    }
    if (k == '[') {
        c->p++;
        if (!parse_class(c, &s))
            return false;
        emit_set(c, &s);
        return true;
    }
    if (k == '\\') {
        c->p++;
        return parse_escape(c);
    }
    if (k == '^' || k == '$') {
        c->p++;
        emit(c, k == '^' ? CODE_BEGIN : CODE_END, 0, 0);
        return true;
    }
    if (k == '*' || k == '+' || k == '?')
        return fail(c, "there is nothing to repeat");
    if (k == '.') {
        c->p++;
        set_negate(&s);
        if (!(c->flags & REGEX_DOT_ALL)) {
            s.ascii[0] &= ~(1ULL << '\n');
            s.ascii[0] &= ~(1ULL << '\r');
        }
    } else {
        set_add(&s, next_char(c));
    }
    emit_set(c, &s);
    return true;
}

/* The code from `from` on, moved by `by`. */
static void copy_code(Compiler *c, size_t from, size_t to)
{
    int by = (int)(c->code.len - from);
    for (size_t i = from; i < to; i++) {
        Ins in = c->code.items[i];
        if (in.code == CODE_SPLIT || in.code == CODE_JUMP || in.code == CODE_LOOK ||
            in.code == CODE_NOT_LOOK || in.code == CODE_ATOMIC) {
            in.x += by;
            in.y += by;
        }
        vec_push(&c->code, in);
    }
}

static void insert_split(Compiler *c, size_t at)
{
    Ins hole = { .code = CODE_SPLIT };
    vec_push(&c->code, hole);
    for (size_t i = c->code.len - 1; i > at; i--) {
        c->code.items[i] = c->code.items[i - 1];
        Ins *in = &c->code.items[i];
        if (in->code == CODE_SPLIT || in->code == CODE_JUMP || in->code == CODE_LOOK ||
            in->code == CODE_NOT_LOOK || in->code == CODE_ATOMIC) {
            in->x += in->x >= (int)at;
            in->y += in->y >= (int)at;
        }
    }
    c->code.items[at] = hole;
}

/* x* at the end of the code, x being from `at` on. */
static void make_star(Compiler *c, size_t at, bool lazy)
{
    insert_split(c, at);
    int back = emit(c, CODE_JUMP, (int)at, 0), out = back + 1;
    c->code.items[at].x = lazy ? out : (int)at + 1;
    c->code.items[at].y = lazy ? (int)at + 1 : out;
}

static void make_optional(Compiler *c, size_t at, bool lazy)
{
    insert_split(c, at);
    int out = (int)c->code.len;
    c->code.items[at].x = lazy ? out : (int)at + 1;
    c->code.items[at].y = lazy ? (int)at + 1 : out;
}

static bool repeat_bounds(Compiler *c, long *min, long *max)
{
    char k = *c->p++;
    *min = k == '+';
    *max = k == '?' ? 1 : -1;
    if (k != '{')
        return true;
    *min = *max = number(c, 10);
    if (c->p < c->end && *c->p == ',') {
        c->p++;
        *max = -1;
        if (c->p < c->end && isdigit((unsigned char)*c->p))
            *max = number(c, 10);
    }
    if (c->p >= c->end || *c->p != '}')
        return fail(c, "a repetition has no }");
    c->p++;
    if (*min > MOST_REPEAT || *max > MOST_REPEAT || (*max >= 0 && *max < *min))
        return fail(c, "a repetition is too large, or ends before it begins");
    return true;
}

static bool parse_repeat(Compiler *c, size_t at)
{
    long min, max;
    if (!repeat_bounds(c, &min, &max))
        return false;
    bool lazy = c->p < c->end && *c->p == '?', greedy = c->p < c->end && *c->p == '+';
    c->p += lazy || greedy;
    size_t len = c->code.len - at;
    if (len * (size_t)((max > min ? max : min) + 1) + c->code.len > MOST_CODE)
        return fail(c, "it is too large");
    Vec(Ins) one = { 0 };
    for (size_t i = at; i < at + len; i++)
        vec_push(&one, c->code.items[i]);
    if (!min && max) {
        max < 0 ? make_star(c, at, lazy) : make_optional(c, at, lazy);
        max--;
    } else if (!max) {
        c->code.len = at;
    } else {
        for (long i = 1; i < min; i++)
            copy_code(c, at, at + len);
        max -= max > 0 ? min : 0;
        if (max == -1) {
            size_t start = c->code.len;
            copy_code(c, at, at + len);
            make_star(c, start, lazy);
        }
    }
    /* The optional rest: x{0,n} as copies that may each be passed over. */
    for (long i = 0; i < max; i++) {
        size_t start = c->code.len;
        for (size_t k = 0; k < one.len; k++) {
            Ins in = one.items[k];
            if (in.code == CODE_SPLIT || in.code == CODE_JUMP || in.code == CODE_LOOK ||
                in.code == CODE_NOT_LOOK || in.code == CODE_ATOMIC) {
                in.x += (int)(start - at);
                in.y += (int)(start - at);
            }
            vec_push(&c->code, in);
        }
        make_optional(c, start, lazy);
    }
    vec_release(&one);
    if (greedy) {
        /* Possessive: as if the whole were atomic. */
        c->regular = false;
    }
    return true;
}

static bool parse_sequence(Compiler *c)
{
    while (c->p < c->end && *c->p != '|' && *c->p != ')') {
        size_t at = c->code.len;
        if (!parse_one(c))
            return false;
        while (c->p < c->end &&
               (*c->p == '*' || *c->p == '+' || *c->p == '?' ||
                (*c->p == '{' && c->end - c->p > 1 && isdigit((unsigned char)c->p[1]))))
            if (!parse_repeat(c, at))
                return false;
        if (c->code.len > MOST_CODE)
            return fail(c, "it is too large");
    }
    return true;
}

static bool parse_alternatives(Compiler *c)
{
    size_t at = c->code.len;
    if (!parse_sequence(c))
        return false;
    if (c->p == c->end || *c->p != '|')
        return true;
    c->p++;
    insert_split(c, at);
    int jump = emit(c, CODE_JUMP, 0, 0);
    c->code.items[at].x = (int)at + 1;
    c->code.items[at].y = (int)c->code.len;
    if (++c->depth > MOST_DEPTH * 10)
        return fail(c, "it has too many alternatives");
    if (!parse_alternatives(c))
        return false;
    c->depth--;
    c->code.items[jump].x = (int)c->code.len;
    return true;
}

Regex *regex_new(Arena *a, const char *pattern, size_t n, int flags, Err *err)
{
    Compiler c = { .a = a,
                   .p = pattern,
                   .begin = pattern,
                   .end = pattern + n,
                   .flags = flags,
                   .ngroups = 1,
                   .regular = true,
                   .err = err };
    bool ok = parse_alternatives(&c);
    if (ok && c.p < c.end)
        ok = fail(&c, "a ) without its (");
    Regex *r = NULL;
    if (ok) {
        emit(&c, CODE_MATCH, 0, 0);
        r = arena_new(a, Regex);
        r->n = c.code.len;
        r->code = arena_array(a, Ins, r->n);
        memcpy(r->code, c.code.items, r->n * sizeof *r->code);
        r->ngroups = c.ngroups < REGEX_GROUPS ? c.ngroups : REGEX_GROUPS;
        r->regular = c.regular;
    }
    vec_release(&c.code);
    return r;
}

Regex *regex_like(Arena *a, const char *pattern, size_t n, bool fold, Err *err)
{
    Str s = { 0 };
    for (size_t i = 0; i < n; i++) {
        char c = pattern[i];
        if (c == '%') {
            str_add(&s, ".*");
        } else if (c == '_') {
            str_addc(&s, '.');
        } else {
            if (c == '\\' && i + 1 < n)
                c = pattern[++i];
            if (!isalnum((unsigned char)c) && (unsigned char)c < 128)
                str_addc(&s, '\\');
            str_addc(&s, c);
        }
    }
    Regex *r = regex_new(a, str_c(&s), s.len, REGEX_DOT_ALL | (fold ? REGEX_FOLD : 0), err);
    str_release(&s);
    return r;
}

bool regex_is_simple(const char *p, size_t n)
{
    static const char *const java[] = { "&&", "??", "*?", "+?", "}?", "?+", "*+",
                                        "++", "}+", "^",  "$",  "(?", NULL };
    char *s = xstrndup(p, n);
    bool simple = true;
    for (size_t i = 0; java[i] && simple; i++)
        simple = !strstr(s, java[i]);
    for (const char *b = s; simple && (b = strchr(b, '\\')); b += 1 + (b[1] != 0))
        simple = !isalnum((unsigned char)b[1]);
    bool in = false;
    for (const char *b = s; *b && simple; b++) {
        if (*b == '[' && in)
            simple = false;
        in = *b == '[' ? true : *b == ']' ? false : in;
    }
    free(s);
    return simple;
}

/* ---- backtracking */

typedef struct Back {
    int pc;
    size_t at;
    int slot;                  /* >= 0: restore a group instead */
    size_t old;
} Back;

typedef struct Machine {
    const Regex *r;
    const char *s;
    size_t n;
    size_t slots[2 * REGEX_GROUPS];
    size_t *loops;             /* where each backward jump was last taken */
    size_t steps;
    int depth;
} Machine;

static bool is_word(const Machine *m, size_t i)
{
    return i < m->n && (isalnum((unsigned char)m->s[i]) || m->s[i] == '_');
}

static bool at_end(const Machine *m, size_t at)
{
    return at == m->n || (at + 1 == m->n && m->s[at] == '\n');
}

static RegexAnswer run(Machine *m, int pc, size_t at, bool full, size_t *end);

/* Takes one step; false: this thread is dead. */
static bool step(Machine *m, const Ins *in, size_t *at)
{
    bool word = (*at > 0 && is_word(m, *at - 1)) != is_word(m, *at);
    switch (in->code) {
    case CODE_CHAR: {
        unsigned cp;
        if (*at >= m->n)
            return false;
        size_t len = utf8_decode(m->s + *at, m->n - *at, &cp);
        if (!len) {
            cp = 0xfffd;
            len = 1;
        }
        *at += len;
        return set_has(&in->set, cp);
    }
    case CODE_BEGIN: return *at == 0;
    case CODE_END: return at_end(m, *at);
    case CODE_WORD: return word;
    case CODE_NO_WORD: return !word;
    case CODE_BACK: {
        size_t from = m->slots[2 * in->x], to = m->slots[2 * in->x + 1];
        if (in->x >= (int)m->r->ngroups || from == SIZE_MAX || to == SIZE_MAX || to < from ||
            m->n - *at < to - from || memcmp(m->s + from, m->s + *at, to - from))
            return false;
        *at += to - from;
        return true;
    }
    default: return true;
    }
}

typedef Vec(Back) Backs;

/* Look-around and atomic groups: a machine within. */
static RegexAnswer inner(Machine *m, const Ins *in, int pc, size_t *at)
{
    size_t end;
    if (++m->depth > 50)
        return REGEX_GAVE_UP;
    RegexAnswer a = run(m, pc + 1, *at, false, &end);
    m->depth--;
    if (a == REGEX_GAVE_UP)
        return a;
    if (in->code == CODE_NOT_LOOK)
        return a == REGEX_YES ? REGEX_NO : REGEX_YES;
    if (a == REGEX_YES && in->code == CODE_ATOMIC)
        *at = end;
    return a;
}

static void save_slot(Machine *m, Backs *stack, int slot, size_t at)
{
    if (slot >= 2 * REGEX_GROUPS)
        return;
    Back b = { .slot = slot, .old = m->slots[slot] };
    vec_push(stack, b);
    m->slots[slot] = at;
}

/* A loop that read nothing since the last time ends. */
static int take_jump(Machine *m, Backs *stack, const Ins *in, int pc, size_t at)
{
    if (in->x > pc)
        return in->x;
    if (m->loops[pc] == at)
        return pc + 1;
    Back b = { .slot = 2 * REGEX_GROUPS + pc, .old = m->loops[pc] };
    vec_push(stack, b);
    m->loops[pc] = at;
    return in->x;
}

static RegexAnswer run(Machine *m, int pc, size_t at, bool full, size_t *end)
{
    Backs stack = { 0 };
    Back first = { pc, at, -1, 0 };
    RegexAnswer answer = REGEX_NO;
    vec_push(&stack, first);
    while (stack.len && answer == REGEX_NO) {
        Back b = stack.items[--stack.len];
        if (b.slot >= 0) {
            *(b.slot < 2 * REGEX_GROUPS ? &m->slots[b.slot]
                                        : &m->loops[b.slot - 2 * REGEX_GROUPS]) = b.old;
            continue;
        }
        pc = b.pc;
        at = b.at;
        for (;;) {
            const Ins *in = &m->r->code[pc];
            if (++m->steps > MOST_STEPS || stack.len > MOST_STEPS) {
                answer = REGEX_GAVE_UP;
                break;
            }
            if (in->code == CODE_MATCH) {
                if (full && at != m->n)
                    break;
                *end = at;
                answer = REGEX_YES;
                break;
            }
            if (in->code == CODE_SPLIT) {
                Back other = { in->y, at, -1, 0 };
                vec_push(&stack, other);
                pc = in->x;
            } else if (in->code == CODE_JUMP) {
                pc = take_jump(m, &stack, in, pc, at);
            } else if (in->code == CODE_SAVE) {
                save_slot(m, &stack, in->x, at);
                pc++;
            } else if (in->code == CODE_LOOK || in->code == CODE_NOT_LOOK ||
                       in->code == CODE_ATOMIC) {
                RegexAnswer a = inner(m, in, pc, &at);
                if (a == REGEX_GAVE_UP)
                    answer = a;
                if (a != REGEX_YES)
                    break;
                pc = in->x;
            } else if (step(m, in, &at)) {
                pc++;
            } else {
                break;
            }
        }
    }
    vec_release(&stack);
    return answer;
}

static RegexAnswer match_at(const Regex *r, const char *s, size_t n, size_t at, bool full,
                            RegexMatch *out, size_t *steps)
{
    Machine m = { .r = r, .s = s, .n = n, .steps = *steps };
    for (size_t i = 0; i < 2 * REGEX_GROUPS; i++)
        m.slots[i] = SIZE_MAX;
    m.loops = xmalloc((r->n + 1) * sizeof *m.loops);
    memset(m.loops, 0xff, r->n * sizeof *m.loops);
    size_t end = 0;
    RegexAnswer a = run(&m, 0, at, full, &end);
    free(m.loops);
    *steps = m.steps;
    if (a == REGEX_YES && out) {
        out->ngroups = r->ngroups;
        out->from[0] = at;
        out->to[0] = end;
        for (size_t i = 1; i < r->ngroups; i++) {
            out->from[i] = m.slots[2 * i];
            out->to[i] = m.slots[2 * i + 1];
        }
    }
    return a;
}

RegexAnswer regex_full(const Regex *r, const char *s, size_t n, RegexMatch *m)
{
    size_t steps = 0;
    return match_at(r, s, n, 0, true, m, &steps);
}

RegexAnswer regex_find(const Regex *r, const char *s, size_t n, size_t start, RegexMatch *m)
{
    size_t steps = 0;
    for (size_t i = start; i <= n; i++) {
        RegexAnswer a = match_at(r, s, n, i, false, m, &steps);
        if (a != REGEX_NO)
            return a;
    }
    return REGEX_NO;
}

/* ---- automata */

struct Automaton {
    const Regex *r;
    Arena *a;
    Map numbers;               /* set of instructions -> state + 1 */
    Vec(int *) sets;           /* ends with -1 */
    Vec(size_t) lens;
    Vec(int *) next;           /* 256 each; -2: not computed */
    Vec(bool) accepts;
};

typedef struct Closure {
    const Regex *r;
    bool *in;
    Vec(int) set;
} Closure;

/* Follows what reads nothing. `first` is at the beginning of the text. */
static void follow(Closure *c, int pc, bool first)
{
    Vec(int) todo = { 0 };
    vec_push(&todo, pc);
    while (todo.len) {
        pc = todo.items[--todo.len];
        if (c->in[pc])
            continue;
        c->in[pc] = true;
        const Ins *in = &c->r->code[pc];
        switch (in->code) {
        case CODE_SPLIT:
            vec_push(&todo, in->y);
            vec_push(&todo, in->x);
            break;
        case CODE_JUMP: vec_push(&todo, in->x); break;
        case CODE_SAVE: vec_push(&todo, pc + 1); break;
        case CODE_BEGIN:
            if (first)
                vec_push(&todo, pc + 1);
            break;
        default: vec_push(&c->set, pc); break;
        }
    }
    vec_release(&todo);
}

static int by_int(const void *x, const void *y) { return *(const int *)x - *(const int *)y; }

/* Does a thread at `pc` come to the end without reading? */
static bool reaches_match(const Regex *r, int pc)
{
    for (int i = 0; i < 1000; i++) {
        const Ins *in = &r->code[pc];
        if (in->code == CODE_MATCH)
            return true;
        if (in->code == CODE_END || in->code == CODE_SAVE)
            pc++;
        else if (in->code == CODE_JUMP)
            pc = in->x;
        else if (in->code == CODE_SPLIT)
            return reaches_match(r, in->x) || reaches_match(r, in->y);
        else
            return false;
    }
    return false;
}

static int state_of(Automaton *m, Closure *c)
{
    if (!c->set.len)
        return -1;
    qsort(c->set.items, c->set.len, sizeof(int), by_int);
    void **slot = map_slotn(&m->numbers, c->set.items, c->set.len * sizeof(int));
    if (!*slot) {
        if (m->sets.len >= MOST_STATES)
            return -1;
        int *set = arena_array(m->a, int, c->set.len + 1);
        memcpy(set, c->set.items, c->set.len * sizeof(int));
        int *next = arena_array(m->a, int, 256);
        for (int i = 0; i < 256; i++)
            next[i] = -2;
        bool accept = false;
        for (size_t i = 0; i < c->set.len; i++)
            accept |= reaches_match(m->r, set[i]);
        vec_push(&m->sets, set);
        vec_push(&m->lens, c->set.len);
        vec_push(&m->next, next);
        vec_push(&m->accepts, accept);
        *slot = (void *)(uintptr_t)m->sets.len;
    }
    return (int)(uintptr_t)*slot - 1;
}

static void automaton_release(Automaton *m)
{
    map_release(&m->numbers);
    vec_release(&m->sets);
    vec_release(&m->lens);
    vec_release(&m->next);
    vec_release(&m->accepts);
}

Automaton *regex_automaton(const Regex *r, Arena *a)
{
    if (!r->regular)
        return NULL;
    for (size_t i = 0; i < r->n; i++)
        if (r->code[i].code == CODE_WORD || r->code[i].code == CODE_NO_WORD)
            return NULL;
    Automaton *m = arena_new(a, Automaton);
    m->r = r;
    m->a = a;
    Closure c = { .r = r, .in = xcalloc(r->n, sizeof(bool)) };
    follow(&c, 0, true);
    int start = state_of(m, &c);
    free(c.in);
    vec_release(&c.set);
    assert(start == 0);
    (void)start;
    return m;
}

void automaton_free(Automaton *m)
{
    if (m)
        automaton_release(m);
}

int automaton_step(Automaton *m, int state, unsigned char ch)
{
    if (state < 0)
        return -1;
    int *next = &m->next.items[state][ch];
    if (*next != -2)
        return *next;
    Closure c = { .r = m->r, .in = xcalloc(m->r->n, sizeof(bool)) };
    for (size_t i = 0; i < m->lens.items[state]; i++) {
        const Ins *in = &m->r->code[m->sets.items[state][i]];
        if (in->code == CODE_CHAR && set_has(&in->set, ch < 128 ? ch : 0xfffd))
            follow(&c, m->sets.items[state][i] + 1, false);
    }
    int to = state_of(m, &c);
    free(c.in);
    vec_release(&c.set);
    m->next.items[state][ch] = to;
    return to;
}

bool automaton_accepts(Automaton *m, int state) { return state >= 0 && m->accepts.items[state]; }
