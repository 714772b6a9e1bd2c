/* Tokens of Pig Latin. A chain of names with "::" is one name. */
#include "base/escape.h"
#include "dataflow/pig_int.h"
#include <ctype.h>
#include <stdio.h>

typedef struct Lexer {
    Arena *a;
    const PigText *t;
    size_t i;
    Vec(Token) out;
    Err *err;
} Lexer;

static int peek(const Lexer *l, size_t ahead)
{
    return l->i + ahead < l->t->n ? (unsigned char)l->t->s[l->i + ahead] : -1;
}

static bool fail(Lexer *l, size_t at, const char *what)
{
    SrcPos p = l->t->pos[at];
    return err_set(l->err, "%s:%d:%d: %s", p.file, p.line, p.column, what);
}

static bool skip_blank(Lexer *l)
{
    for (;;) {
        int c = peek(l, 0);
        if (c >= 0 && isspace(c)) {
            l->i++;
        } else if (c == '-' && peek(l, 1) == '-') {
            while (peek(l, 0) >= 0 && peek(l, 0) != '\n')
                l->i++;
        } else if (c == '/' && peek(l, 1) == '*') {
            size_t from = l->i;
            l->i += 2;
            while (peek(l, 0) >= 0 && !(peek(l, 0) == '*' && peek(l, 1) == '/'))
                l->i++;
            if (peek(l, 0) < 0)
                return fail(l, from, "this comment has no end");
            l->i += 2;
        } else {
            return true;
        }
    }
}

static void add(Lexer *l, TokenKind kind, size_t from, const char *text, size_t len)
{
    Token t = { kind, text, len, l->t->pos[from], from, l->i, from < l->t->n && l->t->put[from] };
    vec_push(&l->out, t);
}

static void add_slice(Lexer *l, TokenKind kind, size_t from)
{
    add(l, kind, from, arena_strndup(l->a, l->t->s + from, l->i - from), l->i - from);
}

static bool is_name(int c) { return c >= 0 && (isalnum(c) || c == '_' || c >= 0x80); }

static bool lex_name(Lexer *l)
{
    size_t from = l->i;
    while (is_name(peek(l, 0)) || (peek(l, 0) == ':' && peek(l, 1) == ':' && is_name(peek(l, 2)) &&
                                   !isdigit(peek(l, 2)) && (l->i += 1)))
        l->i++;
    add_slice(l, TOKEN_NAME, from);
    return true;
}

static bool lex_number(Lexer *l)
{
    size_t from = l->i;
    while (isdigit(peek(l, 0)))
        l->i++;
    if (peek(l, 0) == '.' && peek(l, 1) != '.') {
        l->i++;
        while (isdigit(peek(l, 0)))
            l->i++;
    }
    if ((peek(l, 0) | 32) == 'e' &&
        (isdigit(peek(l, 1)) ||
         ((peek(l, 1) == '-' || peek(l, 1) == '+') && isdigit(peek(l, 2))))) {
        l->i += 2;
        while (isdigit(peek(l, 0)))
            l->i++;
    }
    int c = peek(l, 0) | 32;
    if (c == 'b' && ((peek(l, 1) | 32) == 'i' || (peek(l, 1) | 32) == 'd'))
        l->i += 2;
    else if (c == 'l' || c == 'f')
        l->i++;
    add_slice(l, TOKEN_NUMBER, from);
    return true;
}

static int hex(int c)
{
    return c < 0 ? -1 : isdigit(c) ? c - '0' : isxdigit(c) ? (c | 32) - 'a' + 10 : -1;
}

/* After a backslash. */
static void lex_escape(Lexer *l, Str *s)
{
    int c = peek(l, 0);
    static const char from[] = "ntbrf", to[] = "\n\t\b\r\f";
    const char *k = c > 0 ? strchr(from, c) : NULL;
    l->i++;
    if (k) {
        str_addc(s, to[k - from]);
    } else if (c == 'u' && hex(peek(l, 0)) >= 0 && hex(peek(l, 3)) >= 0) {
        unsigned cp = 0;
        for (int i = 0; i < 4; i++, l->i++)
            cp = cp * 16 + (unsigned)(hex(peek(l, 0)) & 15);
        utf8_encode(s, cp);
    } else if (c == '\'' || c == '\\') {
        str_addc(s, (char)c);
    } else {
        /* Unknown escapes stay: '\d' is what people write in patterns. */
        str_addc(s, '\\');
        if (c >= 0)
            str_addc(s, (char)c);
    }
}

static bool lex_string(Lexer *l)
{
    size_t from = l->i++;
    Str s = { 0 };
    while (peek(l, 0) >= 0 && peek(l, 0) != '\'') {
        if (peek(l, 0) == '\\') {
            l->i++;
            lex_escape(l, &s);
        } else {
            str_addc(&s, (char)peek(l, 0));
            l->i++;
        }
    }
    bool closed = peek(l, 0) == '\'';
    l->i += closed;
    add(l, TOKEN_STRING, from, arena_strndup(l->a, str_c(&s), s.len), s.len);
    str_release(&s);
    return closed || fail(l, from, "this string has no end");
}

static bool lex_command(Lexer *l)
{
    size_t from = l->i++;
    while (peek(l, 0) >= 0 && peek(l, 0) != '`')
        l->i++;
    if (peek(l, 0) < 0)
        return fail(l, from, "this command has no closing backquote");
    add(l, TOKEN_COMMAND, from, arena_strndup(l->a, l->t->s + from + 1, l->i - from - 1),
        l->i - from - 1);
    l->i++;
    return true;
}

static bool lex_sign(Lexer *l)
{
    static const char *const two[] = { "==", "!=", "<=", ">=", "..", "::", NULL };
    size_t from = l->i;
    char pair[3] = { (char)peek(l, 0), (char)(peek(l, 1) < 0 ? 0 : peek(l, 1)), 0 };
    l->i += str_is_one_of(pair, two) ? 2 : 1;
    add_slice(l, TOKEN_SIGN, from);
    return true;
}

static bool lex_one(Lexer *l)
{
    int c = peek(l, 0);
    if (is_name(c) && !isdigit(c))
        return lex_name(l);
    if (isdigit(c) || (c == '.' && isdigit(peek(l, 1))))
        return lex_number(l);
    if (c == '\'')
        return lex_string(l);
    if (c == '`')
        return lex_command(l);
    if (c == '$' && peek(l, 1) >= 0 && isdigit(peek(l, 1))) {
        size_t from = l->i++;
        while (peek(l, 0) >= 0 && isdigit(peek(l, 0)))
            l->i++;
        add_slice(l, TOKEN_POSITION, from);
        return true;
    }
    return lex_sign(l);
}

bool pig_tokens(Arena *a, const PigText *t, Tokens *out, Err *err)
{
    Lexer l = { .a = a, .t = t, .err = err };
    bool ok = true;
    while ((ok = skip_blank(&l)) && l.i < t->n && (ok = lex_one(&l)))
        ;
    if (ok) {
        add(&l, TOKEN_END, t->n, "end of the script", 17);
        out->n = l.out.len;
        out->items = arena_array(a, Token, out->n);
        memcpy(out->items, l.out.items, out->n * sizeof *out->items);
    }
    vec_release(&l.out);
    return ok;
}
