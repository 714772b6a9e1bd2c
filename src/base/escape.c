#include "base/escape.h"
#include <assert.h>
#include <ctype.h>
#include <string.h>

size_t utf8_decode(const char *s, size_t n, unsigned *cp)
{
    static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    unsigned char c = (unsigned char)s[0];
    size_t len = c < 0x80 ? 1 : c >> 5 == 6 ? 2 : c >> 4 == 14 ? 3 : c >> 3 == 30 ? 4 : 0;
    if (!len || len > n)
        return 0;
    unsigned v = len == 1 ? c : c & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if (((unsigned char)s[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | ((unsigned char)s[i] & 0x3f);
    }
    if (v < least[len] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
        return 0;
    *cp = v;
    return len;
}

void utf8_encode(Str *out, unsigned cp)
{
    assert(cp <= 0x10ffff);
    if (cp < 0x80) {
        str_addc(out, (char)cp);
        return;
    }
    static const unsigned char lead[] = { 0, 0xc0, 0xe0, 0xf0 };
    int more = cp < 0x800 ? 1 : cp < 0x10000 ? 2 : 3;
    str_addc(out, (char)(lead[more] | cp >> 6 * more));
    while (more--)
        str_addc(out, (char)(0x80 | (cp >> 6 * more & 0x3f)));
}

bool utf8_is_deceiving(unsigned cp)
{
    return (cp >= 0x202a && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069) ||
           (cp >= 0x200b && cp <= 0x200f) || cp == 0x061c || cp == 0xfeff || cp == 0x2028 ||
           cp == 0x2029;
}

void escape_terminal(Str *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        unsigned cp;
        size_t len = utf8_decode(s + i, n - i, &cp);
        if (!len)
            str_addf(out, "\\x%02x", (unsigned char)s[i++]);
        else if (cp == '\t' || (cp >= 0x20 && cp < 0x7f) || (cp > 0x9f && !utf8_is_deceiving(cp)))
            str_addn(out, s + i, len), i += len;
        else
            str_addf(out, cp < 0x100 ? "\\x%02x" : "\\u%04x", cp), i += len;
    }
}

void escape_terminal_z(Str *out, const char *s) { escape_terminal(out, s, strlen(s)); }

void escape_html(Str *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        unsigned cp;
        size_t len = utf8_decode(s + i, n - i, &cp);
        if (!len)
            utf8_encode(out, 0xfffd), len = 1;
        else if (cp == '&')
            str_add(out, "&amp;");
        else if (cp == '<')
            str_add(out, "&lt;");
        else if (cp == '>')
            str_add(out, "&gt;");
        else if (cp == '"')
            str_add(out, "&quot;");
        else if (cp == '\'')
            str_add(out, "&#39;");
        else if (cp == '`')
            str_add(out, "&#96;");
        else if (cp == '\n' || cp == '\t')
            str_addc(out, (char)cp);
        else if (cp < 0x20)
            utf8_encode(out, 0x2400 + cp);
        else if (cp >= 0x7f && cp <= 0x9f)
            utf8_encode(out, 0x2421);
        else if (utf8_is_deceiving(cp))
            str_addf(out, "\\u%04x", cp);
        else
            str_addn(out, s + i, len);
        i += len;
    }
}

void escape_html_z(Str *out, const char *s) { escape_html(out, s, strlen(s)); }

void escape_utf8(Str *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        unsigned cp;
        size_t len = utf8_decode(s + i, n - i, &cp);
        if (len)
            str_addn(out, s + i, len), i += len;
        else
            utf8_encode(out, 0xfffd), i++;
    }
}

/* HTML's escapes leave two characters that XML forbids: U+FFFE and U+FFFF. An
 * attribute would lose its newlines, and one in text could begin a line that
 * means something where the file is logged. */
void escape_xml(Str *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        unsigned cp;
        size_t len = utf8_decode(s + i, n - i, &cp);
        if (len && (cp == 0xfffe || cp == 0xffff))
            utf8_encode(out, 0xfffd);
        else if (s[i] == '\n')
            str_add(out, "&#10;");
        else
            escape_html(out, s + i, len ? len : 1);
        i += len ? len : 1;
    }
}

void escape_xml_z(Str *out, const char *s) { escape_xml(out, s, strlen(s)); }

void escape_c_string(Str *out, const char *s, size_t n)
{
    static const char plain[] = "\"'\\?\n\t\r", letter[] = "\"'\\?ntr";
    assert(sizeof plain == sizeof letter);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        const char *at = c ? strchr(plain, c) : NULL;
        if (at)
            str_addf(out, "\\%c", letter[at - plain]);
        else if (c < 0x20 || c >= 0x7f)
            str_addf(out, "\\%03o", c);
        else
            str_addc(out, (char)c);
    }
}

/* A backslash at the end of a line, with blanks behind it or not, joins lines. Two question marks
 * begin a trigraph; one before '>' ends a comment of PHP. */
static bool is_safe_in_comment(const char *s, size_t n, size_t i)
{
    char next = i + 1 < n ? s[i + 1] : '\n';
    if (s[i] == '\\')
        return next > 0x20 && next < 0x7f;
    return s[i] != '?' || !strchr("?>\n", next);
}

void escape_c_comment(Str *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        char last = out->len ? out->data[out->len - 1] : 0;
        if (c < 0x20 || c >= 0x7f || !is_safe_in_comment(s, n, i))
            str_addc(out, c == '?' ? '.' : ' ');
        else if ((c == '/' && last == '*') || (c == '*' && last == '/'))
            str_addc(out, ' '), str_addc(out, (char)c);
        else
            str_addc(out, (char)c);
    }
}

void escape_c_include(Str *out, const char *path)
{
    bool plain = true;
    for (const char *at = path; *at; at++)
        plain &= (unsigned char)*at >= ' ';
    bool angled = plain && strchr(path, '"') && !strchr(path, '>');
    str_addc(out, angled ? '<' : '"');
    if (angled || (plain && !strchr(path, '"')))
        str_add(out, path);
    else
        escape_c_string(out, path, strlen(path));
    str_addc(out, angled ? '>' : '"');
}

void escape_c_identifier(Str *out, const char *s, size_t n)
{
    static const char *const keywords[] = {
        "alignas",       "alignof",      "asm",      "auto",          "bool",
        "break",         "case",         "char",     "const",         "constexpr",
        "continue",      "default",      "do",       "double",        "else",
        "enum",          "extern",       "false",    "float",         "for",
        "goto",          "if",           "inline",   "int",           "long",
        "nullptr",       "register",     "restrict", "return",        "short",
        "signed",        "sizeof",       "static",   "static_assert", "struct",
        "switch",        "thread_local", "true",     "typedef",       "typeof",
        "typeof_unqual", "union",        "unsigned", "void",          "volatile",
        "while",         "main",         NULL,
    };
    size_t start = out->len;
    if (n == 0 || isdigit((unsigned char)s[0]))
        str_addc(out, '_');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        str_addc(out, c < 0x80 && isalnum(c) ? (char)c : '_');
    }
    for (int i = 0; keywords[i]; i++)
        if (strcmp(out->data + start, keywords[i]) == 0) {
            str_addc(out, '_');
            return;
        }
}

void escape_shell(Str *out, const char *s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_@%+=:,./-";
    if (*s && s[strspn(s, plain)] == 0) {
        str_add(out, s);
        return;
    }
    str_addc(out, '\'');
    for (; *s; s++) {
        if (*s == '\'')
            str_add(out, "'\\''");
        else
            str_addc(out, *s);
    }
    str_addc(out, '\'');
}

void escape_make_recipe(Str *out, const char *s)
{
    Str quoted = { 0 };
    escape_shell(&quoted, s);
    for (size_t i = 0; i < quoted.len; i++) {
        char c = quoted.data[i];
        if (c == '$')
            str_addc(out, '$');
        str_addc(out, c == '\n' || c == '\r' ? ' ' : c);
    }
    str_release(&quoted);
}

/* A # begins a comment unless a \ stands before it; those before that count double. */
void escape_make_variable(Str *out, const char *s)
{
    Str word = { 0 };
    size_t backslashes = 0;
    escape_make_recipe(&word, s);
    for (size_t i = 0; i < word.len; i++) {
        char c = word.data[i];
        for (size_t k = 0; c == '#' && k < backslashes + 1; k++)
            str_addc(out, '\\');
        backslashes = c == '\\' ? backslashes + 1 : 0;
        str_addc(out, c);
    }
    str_release(&word);
}

/* [==[…]==], with as many = as are needed; nothing in it means anything. */
void escape_cmake(Str *out, const char *s)
{
    Str end = { 0 };
    size_t n = 0;
    do {
        str_reset(&end);
        str_addc(&end, ']');
        for (size_t i = 0; i < n; i++)
            str_addc(&end, '=');
        str_addc(&end, ']');
        n++;
    } while (strstr(s, str_c(&end)) || (*s && s[strlen(s) - 1] == ']' && n == 1));
    str_addf(out, "[%.*s[%s%s%s", (int)end.len - 2, str_c(&end) + 1, *s == '\n' ? "\n" : "", s,
             str_c(&end));
    str_release(&end);
}

void escape_meson(Str *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '\'' || *s == '\\')
            str_addc(out, '\\');
        str_add(out, *s == '\n' ? "\\n" : (char[]){ *s, 0 });
    }
}

void escape_annotation(Str *out, const char *s, bool property)
{
    Str clean = { 0 };
    escape_terminal_z(&clean, s);
    for (const char *p = str_c(&clean); *p; p++) {
        bool special = *p == '%' || *p == '\t' || (property && (*p == ':' || *p == ','));
        if (special)
            str_addf(out, "%%%02X", (unsigned char)*p);
        else
            str_addc(out, *p);
    }
    str_release(&clean);
}

void escape_tap(Str *out, const char *s)
{
    Str clean = { 0 };
    escape_terminal_z(&clean, s);
    for (const char *p = str_c(&clean); *p; p++) {
        if (*p == '#')
            str_addc(out, '\\');
        str_addc(out, *p == '\t' ? ' ' : *p);
    }
    str_release(&clean);
}

void escape_uri(Str *out, const char *s)
{
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c < 0x80 && (isalnum(c) || strchr("-._~/", c)))
            str_addc(out, (char)c);
        else
            str_addf(out, "%%%02X", c);
    }
}

void escape_dot(Str *out, const char *s)
{
    Str clean = { 0 };
    escape_terminal_z(&clean, s);
    for (const char *p = str_c(&clean); *p; p++) {
        if (*p == '"' || *p == '\\')
            str_addc(out, '\\');
        str_addc(out, *p == '\t' ? ' ' : *p);
    }
    str_release(&clean);
}
