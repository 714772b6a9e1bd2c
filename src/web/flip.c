/* Requests from conditions; flip.h is the manual. */
#include "web/flip.h"
#include "web/regex.h"
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <math.h>

typedef struct Candidate {
    char *path;
    char *text;                /* NULL: absent */
    size_t n;
    PhpType type;              /* of an element of JSON */
} Candidate;

typedef struct Solving {
    const FlipPlan *plan;
    const Trace *t;
    const Cond *conds;
    size_t n;
    size_t budget;
    bool guessed;
    Arena arena;               /* of the candidates */
    const Request *now;        /* what is being repaired */
    Vec(Candidate) found;
} Solving;

static void want_truth(Solving *s, uint32_t node, bool wanted, unsigned depth);
static void want_value(Solving *s, uint32_t node, PhpValue v, unsigned depth);

static PhpValue eval(Solving *s, uint32_t node) { return eval_node(&s->arena, s->t, node, s->now); }

static bool is_constant(Solving *s, uint32_t node)
{
    Strings in = { 0 };
    trace_inputs(s->t, node, &in);
    bool none = in.len == 0;
    strings_release(&in);
    return none;
}

/* Is it an element of JSON, as it is? */
static bool in_json(Solving *s, uint32_t node)
{
    const TraceNode *n = trace_node(s->t, node);
    return n->op == WOP_INPUT && str_starts(n->text, "JSON[");
}

static void offer(Solving *s, const char *path, const char *text, size_t n)
{
    if (s->found.len >= 60)
        return;
    Candidate *c = vec_grow(&s->found);
    const char *rest = str_starts(path, "REQUEST[") ? path + 7 : NULL;
    c->path = rest ? arena_printf(&s->arena, "%s%s", request_is_post(s->now) ? "POST" : "GET", rest)
                   : arena_strdup(&s->arena, path);
    if (text) {
        c->text = arena_array(&s->arena, char, n + 1);
        memcpy(c->text, text, n);
    }
    c->n = n;
}

static void wish(Solving *s, const char *path, PhpValue v)
{
    Wishes *w = s->plan->wishes;
    if (!w || w->len >= 8 || v.type == PHP_NULL || v.type == PHP_ARRAY)
        return;
    v = phpvalue_to_text(&s->arena, v);
    if (!phpvalue_is_known(v) || v.n > 100)
        return;
    char *text = xstrndup(v.s, v.n);
    for (size_t i = 0; i < w->len; i++)
        if (strcmp(w->items[i].path, path) == 0 && strcmp(w->items[i].text, text) == 0) {
            free(text);
            return;
        }
    vec_push(w, ((Wish){ xstrdup(path), text }));
}

void wishes_release(Wishes *w)
{
    for (size_t i = 0; i < w->len; i++) {
        free(w->items[i].path);
        free(w->items[i].text);
    }
    vec_release(w);
}

static bool is_method(PhpValue v)
{
    static const char *const known[] = {
        "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"
    };
    for (size_t i = 0; i < sizeof known / sizeof *known && v.type == PHP_TEXT; i++)
        if (v.n == strlen(known[i]) && memcmp(v.s, known[i], v.n) == 0)
            return true;
    return false;
}

static void offer_value(Solving *s, const char *path, PhpValue v)
{
    if (trace_is_kept(path)) {
        wish(s, path, v);
        return;
    }
    if (strcmp(path, "SERVER[REQUEST_METHOD]") == 0 && !is_method(v))
        return;
    if (strcmp(path, "JSON") == 0) {
        if (v.type != PHP_NULL)
            offer(s, "JSON[sundew]", "1", 1);
        else
            offer(s, "BODY[raw]", "", 0);
        return;
    }
    if (str_starts(path, "FILES[") && str_ends(path, "][name]"))
        path = arena_printf(&s->arena, "FILENAME%.*s", (int)strlen(path) - 11, path + 5);
    if (v.type == PHP_NULL) {
        offer(s, path, NULL, 0);
    } else if (v.type == PHP_ARRAY) {
        char *below = arena_printf(&s->arena, "%s[0]", path);
        offer(s, below, "1", 1);
    } else {
        PhpType type = str_starts(path, "JSON[") && v.type != PHP_TEXT ? v.type : PHP_UNKNOWN;
        v = phpvalue_to_text(&s->arena, v);
        size_t n = s->found.len;
        if (phpvalue_is_known(v))
            offer(s, path, v.s, v.n);
        if (s->found.len > n)
            s->found.items[n].type = type;
    }
}

static void want_text(Solving *s, uint32_t node, const char *text, unsigned depth)
{
    want_value(s, node, phpvalue_text_z(text), depth);
}

/* Any other value than this. */
static void want_other(Solving *s, uint32_t node, PhpValue v, unsigned depth)
{
    if (v.type == PHP_NULL) {
        want_text(s, node, "1", depth);
        want_text(s, node, "a", depth);
        return;
    }
    if (v.type != PHP_TEXT || v.n)
        want_value(s, node, phpvalue_null(), depth);
    PhpValue x;
    if (phpvalue_numeric(v, &x) && x.type == PHP_INT) {
        want_value(s, node, phpvalue_int(x.i + 1), depth);
        want_value(s, node, phpvalue_int(0), depth);
    }
    if (is_constant(s, node))
        return;
    want_value(s, node, phpvalue_concat(&s->arena, v, phpvalue_text_z("x")), depth);
    want_text(s, node, "", depth);
}

/* A number below (-1), above (1) or equal to v, nearest first. */
static void want_near(Solving *s, uint32_t node, PhpValue v, int side, unsigned depth)
{
    PhpValue x;
    if (!phpvalue_numeric(v, &x)) {
        x = phpvalue_to_int(v);
        if (v.type == PHP_TEXT && v.n && side > 0)
            want_value(s, node, phpvalue_concat(&s->arena, v, phpvalue_text_z("z")), depth);
        if (v.type == PHP_TEXT && side < 0)
            want_text(s, node, "!", depth);
    }
    int64_t i = x.type == PHP_FLOAT ? (int64_t)floor(x.d) : x.i;
    if (side == 0)
        want_value(s, node, phpvalue_int(i), depth);
    want_value(s, node, phpvalue_int(side < 0 ? i - 1 : i + 1), depth);
    want_value(s, node, phpvalue_int(side < 0 ? i - 100 : i + 100), depth);
    want_value(s, node, phpvalue_int(side < 0 ? -1 : 1000000), depth);
}

/* ---- truth */

static void want_compared(Solving *s, const TraceNode *n, bool wanted, unsigned depth)
{
    PhpValue x = eval(s, n->args[0]), y = eval(s, n->args[1]);
    bool negative = n->op == WOP_NE || n->op == WOP_NSAME;
    bool equal = wanted != negative;
    for (int side = 0; side < 2; side++) {
        PhpValue v = side ? x : y;
        uint32_t to = n->args[side];
        if (!phpvalue_is_known(v) || is_constant(s, to))
            continue;
        if (equal)
            want_value(s, to, v, depth);
        else
            want_other(s, to, v, depth);
    }
}

static void want_ordered(Solving *s, const TraceNode *n, bool wanted, unsigned depth)
{
    PhpValue x = eval(s, n->args[0]), y = eval(s, n->args[1]);
    bool strict = (n->op == WOP_LT) == wanted;
    int side = wanted ? -1 : 1;                    /* of the left operand */
    if (phpvalue_is_known(y) && !is_constant(s, n->args[0])) {
        if (!strict)
            want_near(s, n->args[0], y, 0, depth);
        want_near(s, n->args[0], y, side, depth);
    }
    if (phpvalue_is_known(x) && !is_constant(s, n->args[1])) {
        if (!strict)
            want_near(s, n->args[1], x, 0, depth);
        want_near(s, n->args[1], x, -side, depth);
    }
}

static void want_one_of(Solving *s, const TraceNode *n, bool wanted, unsigned depth)
{
    uint32_t first = n->op == WOP_KEY ? 1 : 2;
    if (!wanted) {
        want_text(s, n->args[0], "sundew", depth);
        want_value(s, n->args[0], phpvalue_null(), depth);
        want_value(s, n->args[0], phpvalue_int(987654), depth);
        return;
    }
    for (uint32_t i = first; i < n->nargs; i++) {
        PhpValue v = eval(s, n->args[i]);
        if (phpvalue_is_known(v))
            want_value(s, n->args[0], v, depth);
    }
}

static void want_match(Solving *s, const TraceNode *n, bool wanted, unsigned depth)
{
    if (n->nargs < 2)
        return;
    PhpValue pattern = eval(s, n->args[0]);
    for (int i = 0; wanted && i < 8 && pattern.type == PHP_TEXT; i++) {
        char *text = arena_strndup(&s->arena, pattern.s, pattern.n);
        char *sample = regex_sample(text, s->plan->rng);
        if (sample)
            want_text(s, n->args[1], arena_strdup(&s->arena, sample), depth);
        free(sample);
    }
    if (wanted)
        return;
    static const char *const odd[] = { "", "~", "a", "0", "x y", "<>" };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        want_text(s, n->args[1], odd[i], depth);
}

/* Functions that answer yes or no: what makes them do so. */
static void want_call_truth(Solving *s, const TraceNode *n, bool wanted, unsigned depth)
{
    static const struct {
        const char *name, *yes, *no;
    } rows[] = {
        { "is_numeric", "1", "x" },
        { "ctype_digit", "1", "x" },
        { "ctype_alpha", "a", "1" },
        { "ctype_alnum", "a1", "-" },
        { "ctype_xdigit", "a1", "z" },
        { "ctype_lower", "a", "A" },
        { "ctype_upper", "A", "a" },
        { "checkdate", "1", "0" },
        { "strtotime", "2026-01-02", "x" },
        { "is_array", NULL, "1" },
        { "is_string", "a", NULL },
        { "file_exists", "index.php", "/x" },
        { "function_exists", "strlen", "x" },
        { "class_exists", "Exception", "x" },
        { "filter_var", "a@example.com", "x" },
        { "json_decode", "{\"a\":1}", "{" },
        { "unserialize", "a:0:{}", "x" },
        { "base64_decode", "YQ==", "" },
    };
    if (strcmp(n->text, "preg_match") == 0 || strcmp(n->text, "preg_match_all") == 0) {
        want_match(s, n, wanted, depth);
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, n->text) == 0 && n->nargs) {
            const char *text = wanted ? rows[i].yes : rows[i].no;
            want_value(s, n->args[0],
                       text ? phpvalue_text_z(text)
                            : (PhpValue){ .type = wanted ? PHP_ARRAY : PHP_NULL },
                       depth);
            return;
        }
    if (n->nargs >= 2 &&
        (strcmp(n->text, "str_contains") == 0 || strcmp(n->text, "str_starts_with") == 0 ||
         strcmp(n->text, "str_ends_with") == 0 || strcmp(n->text, "hash_equals") == 0 ||
         strcmp(n->text, "strstr") == 0)) {
        for (int side = 0; side < 2; side++) {
            PhpValue v = eval(s, n->args[1 - side]);
            PhpValue own = phpvalue_to_text(&s->arena, eval(s, n->args[side]));
            if (phpvalue_is_known(v) && wanted)
                want_value(s, n->args[side], v, depth);
            /* What is there may be asked for by other conditions. */
            if (phpvalue_is_known(v) && wanted && phpvalue_is_known(own) && side == 0) {
                want_value(s, n->args[0], phpvalue_concat(&s->arena, own, v), depth);
                want_value(s, n->args[0], phpvalue_concat(&s->arena, v, own), depth);
            }
            if (wanted)
                continue;
            if (phpvalue_is_known(v))
                want_text(s, n->args[side], "~", depth);
        }
        return;
    }
}

const char *flip_filling(const char *path, bool apart, char *room)
{
    if (!apart)
        return "1";
    snprintf(room, 8, "%u", 10 + (unsigned)(hash_bytes(path, strlen(path)) % 9989));
    return room;
}

/* Numbers and truths, which elements of JSON can be. */
static void want_types(Solving *s, uint32_t node, uint64_t mask, bool wanted, unsigned depth)
{
    PhpValue values[] = { phpvalue_int(1), phpvalue_bool(true), phpvalue_bool(false),
                          phpvalue_float(1.5) };
    static const unsigned bits[] = { 4, 3, 2, 5 };
    for (size_t i = 0; i < 4; i++)
        if ((mask >> bits[i] & 1) == wanted && in_json(s, node))
            want_value(s, node, values[i], depth);
}

static void want_truth(Solving *s, uint32_t node, bool wanted, unsigned depth)
{
    const TraceNode *n = trace_node(s->t, node);
    char room[8];
    if (depth > 40)
        return;
    switch (n->op) {
    case WOP_NOT: want_truth(s, n->args[0], !wanted, depth + 1); return;
    case WOP_BOOL: want_truth(s, n->args[0], wanted, depth + 1); return;
    case WOP_ISSET:
        if (!wanted) {
            want_value(s, n->args[0], phpvalue_null(), depth + 1);
            return;
        }
        want_text(s, n->args[0],
                  flip_filling(trace_node(s->t, n->args[0])->text, s->plan->apart, room),
                  depth + 1);
        for (size_t i = 0; s->plan->words && i < s->plan->words->len && i < 8; i++)
            want_text(s, n->args[0], s->plan->words->items[i], depth + 1);
        want_text(s, n->args[0], "", depth + 1);
        return;
    case WOP_EQ:
    case WOP_NE:
    case WOP_SAME:
    case WOP_NSAME: want_compared(s, n, wanted, depth + 1); return;
    case WOP_LT:
    case WOP_LE: want_ordered(s, n, wanted, depth + 1); return;
    case WOP_IN:
    case WOP_KEY: want_one_of(s, n, wanted, depth + 1); return;
    case WOP_TYPE: {
        PhpValue mask = eval(s, n->args[1]);
        bool array = (uint64_t)mask.i >> 7 & 1, text = (uint64_t)mask.i >> 6 & 1;
        if (array == wanted)
            want_value(s, n->args[0], (PhpValue){ .type = PHP_ARRAY }, depth + 1);
        if (text == wanted)
            want_text(s, n->args[0], "1", depth + 1);
        want_types(s, n->args[0], (uint64_t)mask.i, wanted, depth + 1);
        want_value(s, n->args[0], phpvalue_null(), depth + 1);
        return;
    }
    case WOP_CALL:
        want_call_truth(s, n, wanted, depth + 1);
        /* fall through */
    default:
        if (wanted) {
            want_text(s, node, "1", depth + 1);
            want_text(s, node, "a", depth + 1);
        } else {
            want_value(s, node, phpvalue_null(), depth + 1);
            want_text(s, node, "", depth + 1);
            want_text(s, node, "0", depth + 1);
        }
    }
}

/* ---- values */

static void want_arithmetic(Solving *s, const TraceNode *n, PhpValue v, unsigned depth)
{
    PhpValue x = eval(s, n->args[0]), y = eval(s, n->args[1]), number;
    if (!phpvalue_numeric(v, &number))
        number = phpvalue_to_int(v);
    switch (n->op) {
    case WOP_ADD:
        want_value(s, n->args[0], phpvalue_arithmetic('-', number, y), depth);
        want_value(s, n->args[1], phpvalue_arithmetic('-', number, x), depth);
        return;
    case WOP_SUB:
        want_value(s, n->args[0], phpvalue_arithmetic('+', number, y), depth);
        want_value(s, n->args[1], phpvalue_arithmetic('-', x, number), depth);
        return;
    case WOP_MUL:
        want_value(s, n->args[0], phpvalue_arithmetic('/', number, y), depth);
        want_value(s, n->args[1], phpvalue_arithmetic('/', number, x), depth);
        /* Rounded, where it was not asked for exactly. */
        want_value(s, n->args[0], phpvalue_to_int(phpvalue_arithmetic('/', number, y)), depth);
        want_value(s, n->args[0],
                   phpvalue_arithmetic('+', phpvalue_to_int(phpvalue_arithmetic('/', number, y)),
                                       phpvalue_int(1)),
                   depth);
        return;
    case WOP_DIV:
        want_value(s, n->args[0], phpvalue_arithmetic('*', number, y), depth);
        want_value(s, n->args[1], phpvalue_arithmetic('/', x, number), depth);
        return;
    default:                   /* MOD: the number itself, or one more turn */
        want_value(s, n->args[0], number, depth);
        want_value(s, n->args[0], phpvalue_arithmetic('+', number, y), depth);
    }
}

static void want_concat(Solving *s, const TraceNode *n, PhpValue v, unsigned depth)
{
    PhpValue x = phpvalue_to_text(&s->arena, eval(s, n->args[0]));
    PhpValue y = phpvalue_to_text(&s->arena, eval(s, n->args[1]));
    v = phpvalue_to_text(&s->arena, v);
    bool left = !is_constant(s, n->args[0]), right = !is_constant(s, n->args[1]);
    if (left && phpvalue_is_known(y) && y.n <= v.n && memcmp(v.s + v.n - y.n, y.s, y.n) == 0)
        want_value(s, n->args[0], phpvalue_text(v.s, v.n - y.n), depth);
    if (right && phpvalue_is_known(x) && x.n <= v.n && memcmp(v.s, x.s, x.n) == 0)
        want_value(s, n->args[1], phpvalue_text(v.s + x.n, v.n - x.n), depth);
    if (left && right)
        want_value(s, n->args[0], v, depth);
}

static void want_length(Solving *s, uint32_t node, PhpValue v, unsigned depth)
{
    PhpValue text = eval(s, node);
    int64_t n = phpvalue_to_int(v).i;
    if (n < 0 || n > 100000)
        return;
    char *room = arena_array(&s->arena, char, (size_t)n + 1);
    memset(room, 'a', (size_t)n);
    if (text.type == PHP_TEXT)
        memcpy(room, text.s, text.n < (size_t)n ? text.n : (size_t)n);
    want_value(s, node, phpvalue_text(room, (size_t)n), depth);
}

/* Byte i, or an element, of a text is to be v: the rest stays as it is. */
static void want_byte(Solving *s, const TraceNode *n, PhpValue v, unsigned depth)
{
    PhpValue text = eval(s, n->args[0]), at = eval(s, n->args[1]);
    v = phpvalue_to_text(&s->arena, v);
    if (text.type != PHP_TEXT || at.type != PHP_INT || at.i < 0 || at.i > 4096 || v.n != 1)
        return;
    size_t len = text.n > (size_t)at.i ? text.n : (size_t)at.i + 1;
    char *room = arena_array(&s->arena, char, len + 1);
    memset(room, 'a', len);
    memcpy(room, text.s, text.n);
    room[at.i] = v.s[0];
    want_value(s, n->args[0], phpvalue_text(room, len), depth);
}

static void want_element(Solving *s, const TraceNode *n, PhpValue v, unsigned depth)
{
    const TraceNode *call = trace_node(s->t, n->args[0]);
    PhpValue index = eval(s, n->args[1]);
    if (call->op != WOP_CALL || strcmp(call->text, "explode") != 0 || call->nargs < 2)
        return;
    PhpValue by = eval(s, call->args[0]), text = eval(s, call->args[1]);
    v = phpvalue_to_text(&s->arena, v);
    if (by.type != PHP_TEXT || !by.n || text.type != PHP_TEXT || index.type != PHP_INT)
        return;
    Str out = { 0 };
    const char *p = text.s, *end = text.s + text.n;
    for (int64_t i = 0; i < 64; i++) {
        const char *cut = p && p <= end ? memmem(p, (size_t)(end - p), by.s, by.n) : NULL;
        if (i)
            str_addn(&out, by.s, by.n);
        if (i == index.i)
            str_addn(&out, v.s, v.n);
        else if (p)
            str_addn(&out, p, (size_t)((cut ? cut : end) - p));
        p = cut ? cut + by.n : NULL;
        if (!p && i >= index.i)
            break;
    }
    PhpValue whole = phpvalue_text(arena_strndup(&s->arena, str_c(&out), out.len), out.len);
    want_value(s, call->args[1], whole, depth);
    want_value(s, call->args[1], phpvalue_concat(&s->arena, whole, by), depth);
    str_release(&out);
}

static PhpValue html_decoded(Solving *s, PhpValue v)
{
    static const struct {
        const char *from;
        char to;
    } rows[] = {
        { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' }, { "&#039;", '\'' }
    };
    char *room = arena_array(&s->arena, char, v.n + 1);
    size_t k = 0;
    for (size_t i = 0; i < v.n;) {
        size_t step = 1;
        room[k] = v.s[i];
        for (size_t j = 0; j < sizeof rows / sizeof *rows; j++) {
            size_t n = strlen(rows[j].from);
            if (i + n <= v.n && memcmp(v.s + i, rows[j].from, n) == 0) {
                room[k] = rows[j].to;
                step = n;
            }
        }
        k++;
        i += step;
    }
    return phpvalue_text(room, k);
}

/* Text at a place: strpos($hay, $needle) is to be v. */
static void want_position(Solving *s, const TraceNode *n, PhpValue v, unsigned depth)
{
    PhpValue needle = phpvalue_to_text(&s->arena, eval(s, n->args[1]));
    PhpValue hay = phpvalue_to_text(&s->arena, eval(s, n->args[0]));
    if (v.type == PHP_FALSE || !phpvalue_is_known(needle)) {
        want_text(s, n->args[0], "~", depth);
        want_text(s, n->args[0], "", depth);
        return;
    }
    int64_t at = v.type == PHP_INT ? v.i : 0;
    if (at < 0 || at > 1000)
        return;
    char *pad = arena_array(&s->arena, char, (size_t)at + 1);
    memset(pad, 'a', (size_t)at);
    PhpValue text = phpvalue_concat(&s->arena, phpvalue_text(pad, (size_t)at), needle);
    want_value(s, n->args[0], text, depth);
    if (phpvalue_is_known(hay) && at == 0)
        want_value(s, n->args[0], phpvalue_concat(&s->arena, needle, hay), depth);
}

/* Functions that can't be inverted: only a word that is known may be it. */
static bool is_one_way(const char *name)
{
    static const char *const names[] = { "md5",           "sha1",      "crypt",
                                         "hash",          "crc32",     "password_verify",
                                         "password_hash", "hash_hmac", NULL };
    return str_is_one_of(name, names);
}

static void want_call(Solving *s, const TraceNode *n, PhpValue v, unsigned depth)
{
    const char *name = n->text;
    if (n->nargs == 0)
        return;
    if (is_one_way(name)) {
        for (size_t i = 0; s->plan->words && i < s->plan->words->len && i < 12; i++)
            want_text(s, n->args[0], s->plan->words->items[i], depth + 10);
        return;
    }
    if (strcmp(name, "#element") == 0)
        want_element(s, n, v, depth);
    else if (strcmp(name, "strlen") == 0 || strcmp(name, "mb_strlen") == 0)
        want_length(s, n->args[0], v, depth);
    else if (n->nargs > 1 && (strcmp(name, "strpos") == 0 || strcmp(name, "stripos") == 0 ||
                              strcmp(name, "strrpos") == 0))
        want_position(s, n, v, depth);
    else if (strcmp(name, "preg_match") == 0)
        want_match(s, n, phpvalue_truth(v), depth);
    else if (n->nargs > 1 && (strcmp(name, "strcmp") == 0 || strcmp(name, "strcasecmp") == 0)) {
        for (int side = 0; side < 2; side++) {
            PhpValue other = eval(s, n->args[1 - side]);
            if (phpvalue_is_known(other) && v.type == PHP_INT && v.i == 0)
                want_value(s, n->args[side], other, depth);
            else if (phpvalue_is_known(other))
                want_other(s, n->args[side], other, depth);
        }
    } else if (strcmp(name, "htmlspecialchars") == 0 || strcmp(name, "htmlentities") == 0) {
        want_value(s, n->args[0], html_decoded(s, phpvalue_to_text(&s->arena, v)), depth);
    } else if (strcmp(name, "mysqli_real_escape_string") == 0 && n->nargs > 1) {
        want_value(s, n->args[1], v, depth);
    } else if ((strcmp(name, "str_replace") == 0 || strcmp(name, "preg_replace") == 0) &&
               n->nargs > 2) {
        want_value(s, n->args[2], v, depth);
    } else if (strcmp(name, "urldecode") == 0 || strcmp(name, "rawurldecode") == 0) {
        Str out = { 0 };
        v = phpvalue_to_text(&s->arena, v);
        url_encode(&out, v.s, v.n);
        want_text(s, n->args[0], arena_strdup(&s->arena, str_c(&out)), depth);
        str_release(&out);
    } else if (strcmp(name, "ord") == 0 && v.type == PHP_INT) {
        char c = (char)v.i;
        want_value(s, n->args[0], phpvalue_text(arena_strndup(&s->arena, &c, 1), 1), depth);
    } else {
        /* Most functions leave some text as it is: trim, case, strip_tags … */
        want_value(s, n->args[0], v, depth);
    }
}

static void want_value(Solving *s, uint32_t node, PhpValue v, unsigned depth)
{
    if (!node || !phpvalue_is_known(v) || depth > 40 || s->found.len >= 60)
        return;
    const TraceNode *n = trace_node(s->t, node);
    switch (n->op) {
    case WOP_INPUT: offer_value(s, n->text, v); return;
    case WOP_INT:
    case WOP_FLOAT:
    case WOP_STR: want_value(s, n->args[0], v, depth + 1); return;
    case WOP_ADD:
    case WOP_SUB:
    case WOP_MUL:
    case WOP_DIV:
    case WOP_MOD: want_arithmetic(s, n, v, depth + 1); return;
    case WOP_CONCAT: want_concat(s, n, v, depth + 1); return;
    case WOP_LENGTH: want_length(s, n->args[0], v, depth + 1); return;
    case WOP_OFFSET: want_byte(s, n, v, depth + 1); return;
    case WOP_CALL: want_call(s, n, v, depth + 1); return;
    case WOP_CMP:
        if (v.type == PHP_INT && v.i == 0)
            want_compared(s, &(TraceNode){ .op = WOP_EQ, .nargs = 2, .args = n->args }, true,
                          depth + 1);
        else
            want_ordered(s, &(TraceNode){ .op = WOP_LT, .nargs = 2, .args = n->args },
                         phpvalue_to_int(v).i < 0, depth + 1);
        return;
    case WOP_EQ:
    case WOP_NE:
    case WOP_SAME:
    case WOP_NSAME:
    case WOP_LT:
    case WOP_LE:
    case WOP_NOT:
    case WOP_BOOL:
    case WOP_ISSET:
    case WOP_IN:
    case WOP_KEY:
    case WOP_TYPE: want_truth(s, node, phpvalue_truth(v), depth + 1); return;
    }
}

/* ---- the search */

typedef enum { HOLDS, FAILS, MAYBE } Holds;

/* Are the inputs below the node the same in both requests? */
static bool same_inputs(Solving *s, uint32_t node, const Request *a, const Request *b)
{
    Strings in = { 0 };
    trace_inputs(s->t, node, &in);
    bool same = true;
    for (size_t i = 0; i < in.len && same; i++) {
        PhpValue x = request_value(a, in.items[i]), y = request_value(b, in.items[i]);
        same = x.type == y.type && (x.type != PHP_TEXT || phpvalue_same(x, y));
    }
    strings_release(&in);
    return same;
}

static Holds holds(Solving *s, size_t i, const Request *r)
{
    Arena a = { 0 };
    PhpValue v = eval_node(&a, s->t, s->conds[i].node, r);
    Holds h = !phpvalue_is_known(v)                     ? MAYBE
              : phpvalue_truth(v) == s->conds[i].wanted ? HOLDS
                                                        : FAILS;
    arena_release(&a);
    if (h != MAYBE || !s->plan->base_holds)
        return h;
    bool same = same_inputs(s, s->conds[i].node, r, s->plan->base);
    if (i + 1 < s->n)
        return same ? HOLDS : MAYBE;
    return same ? FAILS : MAYBE;
}

/* The first condition that fails; n if none does. */
static size_t first_failing(Solving *s, const Request *r, bool *maybe)
{
    *maybe = false;
    /* The question first: it is what the others are asked about. */
    for (size_t k = 0; k < s->n; k++) {
        size_t i = k == 0 ? s->n - 1 : k - 1;
        Holds h = holds(s, i, r);
        if (h == FAILS)
            return i;
        *maybe = *maybe || h == MAYBE;
    }
    return s->n;
}

static Request *repair(Solving *s, const Request *r, unsigned depth)
{
    bool maybe;
    if (s->budget == 0)
        return NULL;
    s->budget--;
    size_t bad = first_failing(s, r, &maybe);
    if (bad == s->n) {
        s->guessed = maybe;
        return request_copy(r);
    }
    if (depth == 0)
        return NULL;
    s->found.len = 0;
    s->now = r;
    want_truth(s, s->conds[bad].node, s->conds[bad].wanted, 0);
    size_t n = s->found.len;
    Candidate *mine = xcalloc(n + 1, sizeof *mine);
    for (size_t i = 0; i < n; i++)
        mine[i] = s->found.items[i];
    Request *done = NULL;
    for (size_t i = 0; i < n && !done; i++) {
        Request *next = request_copy(r);
        request_set_typed(next, mine[i].path, mine[i].text, mine[i].n, mine[i].type);
        if (holds(s, bad, next) != FAILS)
            done = repair(s, next, depth - 1);
        request_free(next);
    }
    free(mine);
    return done;
}

Request *flip_value(const FlipPlan *plan, uint32_t node, PhpValue v)
{
    Solving s = { .plan = plan, .t = plan->trace, .now = plan->base };
    Request *r = NULL;
    want_value(&s, node, v, 0);
    for (size_t i = 0; i < s.found.len && !r; i++) {
        const Candidate *k = &s.found.items[i];
        r = request_copy(plan->base);
        request_set_typed(r, k->path, k->text, k->n, k->type);
        PhpValue is = eval_node(&s.arena, s.t, node, r);
        if (phpvalue_is_known(is) && !phpvalue_equal(is, v)) {
            request_free(r);
            r = NULL;
        }
    }
    vec_release(&s.found);
    arena_release(&s.arena);
    return r;
}

const char *flip_obstacle(const Trace *t, uint32_t node)
{
    const TraceNode *n = trace_node(t, node);
    if (n->op == WOP_CALL && !eval_knows(n->text))
        return n->text;
    if (n->op == WOP_OPAQUE)
        return "unknown";
    for (uint32_t i = 0; i < n->nargs; i++) {
        const char *o = flip_obstacle(t, n->args[i]);
        if (o)
            return o;
    }
    return NULL;
}

static bool about_state(const Trace *t, uint32_t node)
{
    Strings in = { 0 };
    trace_inputs(t, node, &in);
    bool only = in.len > 0;
    for (size_t i = 0; i < in.len; i++)
        only = only && trace_is_kept(in.items[i]);
    strings_release(&in);
    return only;
}

Request *flip_solve(const FlipPlan *plan, const Cond *conds, size_t n, FlipWhy *why)
{
    assert(n > 0);
    Solving s = { .plan = plan,
                  .t = plan->trace,
                  .conds = conds,
                  .n = n,
                  .budget = plan->budget ? plan->budget : 2000 };
    Request *r = NULL;
    for (unsigned depth = 1; depth <= 6 && !r && s.budget; depth += depth < 3 ? 1 : 3)
        r = repair(&s, plan->base, depth);
    *why = r                                             ? (s.guessed ? FLIP_GUESSED : FLIP_SOLVED)
           : about_state(plan->trace, conds[n - 1].node) ? FLIP_STATE
           : flip_obstacle(plan->trace, conds[n - 1].node) ? FLIP_NATIVE
           : s.budget == 0                                 ? FLIP_BUDGET
                                                           : FLIP_UNSAT;
    vec_release(&s.found);
    arena_release(&s.arena);
    return r;
}
