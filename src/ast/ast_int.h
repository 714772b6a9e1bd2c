/*
 * What the files of the AST index share: the tables of an index while it
 * grows. A worker fills one with a unit (ast_read.c), writes it as bytes
 * (ast_store.c), and the parent merges the bytes of all units into one.
 */
#ifndef SUNDEW_AST_INT_H
#define SUNDEW_AST_INT_H
#include "base/str.h"
#include "ast/ast.h"

/* A file that a unit was made of, as it was then. */
typedef struct AstInput {
    const char *path;
    int64_t size, mtime;       /* nanoseconds */
    char id[33];               /* of the content */
} AstInput;

typedef struct AstStore {
    Arena arena;
    Map texts;                 /* interned */
    Map file_map, type_map, function_map, call_map;
    Vec(AstFile *) files;
    Vec(AstType *) types;      /* what a type refers to stands before it */
    Vec(AstFunction *) functions;
    Vec(AstCall *) calls;
    Vec(AstInput) inputs;      /* of one unit; the unit itself first */
    const char *error;         /* why the unit gives no calls; or NULL */
} AstStore;

void ast_store_release(AstStore *st);

const char *ast_text(AstStore *st, const char *s);            /* NULL stays */
const char *ast_textn(AstStore *st, const char *s, size_t n);
AstFile *ast_file(AstStore *st, const char *path);            /* made if new */
/* The one type that equals `t`, whose texts are interned. */
const AstType *ast_type(AstStore *st, const AstType *t);
AstFunction *ast_function(AstStore *st, const char *key);     /* made if new */
void ast_add_name(AstStore *st, AstParam *p, const char *name, bool in_front);
/* Adds to the `n` pointers at *list unless it is there. */
void ast_add_type(AstStore *st, const AstType ***list, size_t *n, const AstType *t);
/* False: there is such a call already. Copies `c` and its args. */
bool ast_add_call(AstStore *st, const AstCall *c);

void ast_write(AstStore *st, Str *out);
/* False: these are not bytes that ast_write() made, of this version. */
bool ast_merge(AstStore *st, const char *data, size_t n);
/* Reads the beginning only: what the unit was made of. */
bool ast_read_inputs(AstStore *st, const char *data, size_t n);

/* Parses one unit into `st`, or says in st->error why it has no calls. False:
 * libclang gave up on it. `ids` remembers the ids of files for the next unit. */
bool ast_parse(AstStore *st, const CompileCommand *cmd, const char *root, Map *ids, Err *err);
#endif
