#include "finding/csyntax.h"
#include <assert.h>
#include <ctype.h>
#include <string.h>

CLine csyntax_line(const char *text, size_t len, CState state)
{
    return (CLine){ .text = text, .len = len, .state = state };
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_keyword(const char *s, size_t n)
{
    static const char *const words[] = {
        "auto",     "break",    "case",     "char",      "const",          "continue",
        "default",  "do",       "double",   "else",      "enum",           "extern",
        "float",    "for",      "goto",     "if",        "inline",         "int",
        "long",     "register", "restrict", "return",    "short",          "signed",
        "sizeof",   "static",   "struct",   "switch",    "typedef",        "union",
        "unsigned", "void",     "volatile", "while",     "_Alignas",       "_Alignof",
        "_Atomic",  "_Bool",    "_Generic", "_Noreturn", "_Static_assert", "_Thread_local",
        "bool",     "true",     "false",    "NULL",      "nullptr",        NULL,
    };
    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == n && memcmp(words[i], s, n) == 0)
            return true;
    return false;
}

static bool ends_in_backslash(const CLine *l) { return l->len && l->text[l->len - 1] == '\\'; }

/* Each of these moves `at` behind its token and sets the state that the rest
 * of the line, or the next one, begins with. */
static void take_block_comment(CLine *l)
{
    const char *end = memmem(l->text + l->at, l->len - l->at, "*/", 2);
    l->state = end ? CSYNTAX_CODE : CSYNTAX_BLOCK_COMMENT;
    l->at = end ? (size_t)(end - l->text) + 2 : l->len;
}

static void take_line_comment(CLine *l)
{
    l->at = l->len;
    l->state = ends_in_backslash(l) ? CSYNTAX_LINE_COMMENT : CSYNTAX_CODE;
}

static void take_quoted(CLine *l, char quote)
{
    l->state = CSYNTAX_CODE;
    while (l->at < l->len) {
        char c = l->text[l->at++];
        if (c == quote)
            return;
        if (c == '\\' && l->at == l->len && quote == '"')
            l->state = CSYNTAX_STRING;
        else if (c == '\\' && l->at < l->len)
            l->at++;
    }
}

static void take_word(CLine *l)
{
    while (l->at < l->len && is_word(l->text[l->at]))
        l->at++;
}

static void take_number(CLine *l)
{
    while (l->at < l->len && (is_word(l->text[l->at]) || l->text[l->at] == '.'))
        l->at++;
}

/* "#", blanks, a word; only as the first thing on a line. */
static bool take_directive(CLine *l)
{
    for (size_t i = 0; i < l->at; i++)
        if (!isspace((unsigned char)l->text[i]))
            return false;
    l->at++;
    while (l->at < l->len && (l->text[l->at] == ' ' || l->text[l->at] == '\t'))
        l->at++;
    take_word(l);
    return true;
}

static bool at_comment(const CLine *l)
{
    return l->at + 1 < l->len && l->text[l->at] == '/' &&
           (l->text[l->at + 1] == '/' || l->text[l->at + 1] == '*');
}

static bool begins_token(const CLine *l)
{
    char c = l->text[l->at];
    return is_word(c) || c == '"' || c == '\'' || c == '#' || at_comment(l);
}

static CTokenKind take_code(CLine *l)
{
    size_t from = l->at;
    char c = l->text[from];
    if (at_comment(l)) {
        l->at += 2;
        if (l->text[from + 1] == '*')
            take_block_comment(l);
        else
            take_line_comment(l);
        return CTOKEN_COMMENT;
    }
    if (c == '"' || c == '\'') {
        l->at++;
        take_quoted(l, c);
        return CTOKEN_STRING;
    }
    if (isdigit((unsigned char)c)) {
        take_number(l);
        return CTOKEN_NUMBER;
    }
    if (is_word(c)) {
        take_word(l);
        return is_keyword(l->text + from, l->at - from) ? CTOKEN_KEYWORD : CTOKEN_PLAIN;
    }
    if (c == '#' && take_directive(l))
        return CTOKEN_DIRECTIVE;
    do
        l->at++;
    while (l->at < l->len && !begins_token(l));
    return CTOKEN_PLAIN;
}

bool csyntax_next(CLine *l, CToken *t)
{
    /* An empty line ends what a backslash continued. */
    if (l->len == 0 && l->state != CSYNTAX_BLOCK_COMMENT)
        l->state = CSYNTAX_CODE;
    if (l->at >= l->len)
        return false;
    t->from = l->at;
    switch (l->state) {
    case CSYNTAX_CODE: t->kind = take_code(l); break;
    case CSYNTAX_BLOCK_COMMENT:
        t->kind = CTOKEN_COMMENT;
        take_block_comment(l);
        break;
    case CSYNTAX_LINE_COMMENT:
        t->kind = CTOKEN_COMMENT;
        take_line_comment(l);
        break;
    case CSYNTAX_STRING:
        t->kind = CTOKEN_STRING;
        take_quoted(l, '"');
        break;
    }
    t->to = l->at;
    assert(t->from < t->to && t->to <= l->len);      /* so that a line ends */
    return true;
}
