/*
 * pig_int - what the parts of the Pig front end share.
 *
 * A text goes through pig_text.c (parameters), pig_lex.c (tokens), pig_stmt.c
 * (statements, macros) and pig_expr.c (expressions).
 */
#ifndef SUNDEW_DATAFLOW_PIG_INT_H
#define SUNDEW_DATAFLOW_PIG_INT_H
#include "base/map.h"
#include "dataflow/pig.h"

/* A text after parameters were replaced: each byte knows its place in the file,
 * and whether it came from a replacement. */
typedef struct PigText {
    const char *file;
    const char *s;
    size_t n;
    const SrcPos *pos;         /* of each byte, and of the end */
    const bool *put;           /* of each byte: from a parameter */
} PigText;

typedef struct PigParams {
    Map fixed;                 /* lower-case name -> value (char *): cannot be changed */
    Map soft;                  /* %default */
    const struct PigParams *outer;   /* of a macro: the script's; or NULL */
} PigParams;

/* Replaces parameters. With `body`, unknown ones stay (a macro's own). */
bool pig_replace(Arena *a, const PigText *in, PigParams *params, bool body, PigText *out, Err *err);
PigText pig_text_of(Arena *a, const char *file, const char *s, size_t n);

typedef enum TokenKind {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_POSITION,
    TOKEN_COMMAND,
    TOKEN_SIGN,                /* text has it: "==", "::", "(" */
} TokenKind;

typedef struct Token {
    TokenKind kind;
    const char *text;          /* a string without quotes, escapes resolved */
    size_t len;                /* of text */
    SrcPos at;
    size_t from, to;           /* in the text */
    bool put;                  /* begins inside a replaced parameter */
} Token;

typedef struct Tokens {
    Token *items;
    size_t n;                  /* the last is TOKEN_END */
} Tokens;

/* Tokens of the text from byte `from` on. Stops at what is no token: the error
 * is kept in the token stream's end and told when the parser comes there. */
bool pig_tokens(Arena *a, const PigText *t, Tokens *out, Err *err);

typedef struct Macro {
    const char *name;
    const char **params, **returns;
    size_t nparams, nreturns;
    PigText body;
} Macro;

/* Names of relations: of the script, or of one expansion of a macro. */
typedef struct Names {
    Map aliases;               /* Op */
    struct Names *outer;
} Names;

/* Rows that an expression sees, with the aliases of its nested block. */
typedef struct PigScope {
    Scope types;               /* schema of the row; `up` mirrors `up` below */
    Map *nested;               /* alias -> NestedName; or NULL */
    struct PigScope *up;
} PigScope;

typedef struct NestedName {
    Op *op;                    /* or */
    Term *expr;
} NestedName;

typedef struct PigDefine {
    const char *function;
    const char *const *args;
    size_t nargs;
} PigDefine;

typedef struct Pig {
    Plan *plan;
    Arena *a;
    const PigOptions *options;
    PigParams params;
    Map macros;                /* Macro */
    Map defines;               /* PigDefine */
    Names *names;
    Op *last;                  /* @ */
    PigText text;
    Tokens tokens;
    size_t at;
    int depth;                 /* of imports and macros */
    int nesting;               /* of expressions */
    int operators;             /* in this expression: chains of them are deep too */
    Err *err;
} Pig;

/* ---- the parser's hands */
Token *pig_peek(Pig *g, size_t ahead);
Token *pig_next(Pig *g);
bool pig_is(Pig *g, const char *word);               /* keyword or sign is next */
bool pig_is_at(Pig *g, size_t ahead, const char *word);
bool pig_take(Pig *g, const char *word);             /* … and is passed */
bool pig_want(Pig *g, const char *word, const char *where);
const char *pig_want_name(Pig *g, const char *what);
bool pig_fail(Pig *g, SrcPos at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool pig_expected(Pig *g, const char *what);         /* "expected WHAT, found …" */

/* ---- expressions (pig_expr.c). NULL: failed. */
Term *pig_expr(Pig *g, PigScope *s);
bool pig_type(Pig *g, Type *t);
bool pig_schema(Pig *g, const Schema **out, bool *typed);   /* "(a:int, b)" after AS */
/* One or several columns: x, $0, *, a..b; expanded. */
typedef Vec(Term *) Terms;
bool pig_columns(Pig *g, PigScope *s, Terms *out);
Op *pig_relation(Pig *g, const Token *t);            /* by its name; NULL: none */
/* A bag in a nested block: a field, a nested alias, or a projection of one. */
Op *pig_nested_source(Pig *g, PigScope *s);
Term *pig_shift(Pig *g, Term *e, int by);            /* seen from `by` levels below */
#endif
