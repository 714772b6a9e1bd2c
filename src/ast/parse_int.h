/*
 * What the files that read a unit with libclang share.
 *
 *     ast_decl.c   where things stand; types, functions and their parameters
 *     ast_arg.c    an argument: its name, its value, the text around it
 *     ast_parse.c  the unit: bodies of functions, calls, what variables are set to
 */
#ifndef SUNDEW_AST_PARSE_INT_H
#define SUNDEW_AST_PARSE_INT_H
#include "ast/ast_int.h"
#include <clang-c/Index.h>

typedef struct Source {
    AstFile *file;
    const char *text;
    size_t size;
} Source;

typedef struct FunctionCursors {
    Vec(CXCursor) decls;          /* all redeclarations */
    AstFunction *made;
} FunctionCursors;

typedef struct Use {
    size_t call, arg;             /* into Parse.calls and its args */
} Use;

/* What a local variable is set to, within one function. */
typedef struct Variable {
    const AstType **types;
    size_t n;
    Vec(Use) uses;                /* arguments that are it */
} Variable;

typedef struct Parse {
    AstStore *st;
    CXTranslationUnit tu;
    const char *directory, *root;
    Map *ids;                     /* of files, over all units */
    Arena scratch;
    Map sources;                  /* CXFile -> Source */
    Map types;                    /* CXType -> AstType */
    Map functions;                /* canonical declaration -> FunctionCursors */
    AstFunction *caller;
    CXCursor caller_cursor;
    Map variables;                /* declaration -> Variable, of this function */
    Vec(AstCall) calls;           /* of this function */
} Parse;

typedef struct Spot {
    Source *source;
    AstPlace place;
} Spot;

/* The expressions below a cursor. */
typedef struct Children {
    CXCursor items[3];             /* the first two and the last */
    unsigned n;                    /* expressions among them */
    CXCursor type_ref;
} Children;

/* ---- ast_decl.c */
const char *ast_take(Parse *p, CXString s);
/* Where it stands in the file, or where a macro spells it. */
Spot ast_spot(Parse *p, CXSourceLocation at);
Spot ast_spelled(Parse *p, CXSourceLocation at);
bool ast_same_place(AstPlace a, AstPlace b);
/* The length of the identifier that begins at `offset`; 0 if there is none. */
size_t ast_word_at(const Source *s, size_t offset);
bool ast_below(const char *path, const char *dir);
AstHome ast_home_of(Parse *p, CXCursor decl);
const AstType *ast_type_of(Parse *p, CXType t, int depth);
FunctionCursors *ast_cursors_of(Parse *p, CXCursor fn);
AstFunction *ast_function_of(Parse *p, CXCursor decl);
AstFunction *ast_callee_of_decl(Parse *p, CXCursor decl);

/* ---- ast_arg.c */
Children ast_children_of(CXCursor c);
CXCursor ast_peel_implicit(CXCursor c);
CXCursor ast_peel_casts(CXCursor c);
CXCursor ast_callee_decl(CXCursor call);
void ast_set_name(Parse *p, CXCursor c, AstArg *a);
void ast_set_macro(Parse *p, CXCursor c, AstArg *a, bool call_in_macro);
void ast_set_enum(Parse *p, CXType t, AstArg *a);
void ast_set_range(Parse *p, CXCursor c, AstArg *a);
AstIntKind ast_integer_kind(const AstArg *a);
#endif
