/*
 * csyntax - enough of C's surface to colour it, to find comments, and to drop
 * them; line by line.
 *
 *     CLine l = csyntax_line(text, len, CSYNTAX_CODE);
 *     for (CToken t; csyntax_next(&l, &t);)
 *         use(t.kind, l.text + t.from, t.to - t.from);
 *     state = l.state;                      for the next line
 *
 * The tokens of a line cover it without gaps. Any bytes are fine.
 */
#ifndef SUNDEW_CSYNTAX_H
#define SUNDEW_CSYNTAX_H
#include <stdbool.h>
#include <stddef.h>

/* What a line begins in the middle of. */
typedef enum {
    CSYNTAX_CODE,
    CSYNTAX_BLOCK_COMMENT,
    CSYNTAX_LINE_COMMENT,      /* continued by a backslash */
    CSYNTAX_STRING,            /* likewise */
} CState;

typedef enum {
    CTOKEN_PLAIN,
    CTOKEN_COMMENT,
    CTOKEN_STRING,             /* and character constants */
    CTOKEN_KEYWORD,
    CTOKEN_NUMBER,
    CTOKEN_DIRECTIVE,          /* #include and the like */
} CTokenKind;

typedef struct CToken {
    CTokenKind kind;
    size_t from, to;
} CToken;

typedef struct CLine {
    const char *text;
    size_t len, at;
    CState state;
} CLine;

CLine csyntax_line(const char *text, size_t len, CState state);
bool csyntax_next(CLine *l, CToken *t);
#endif
