/*
 * ast - every call of a program as its source has it: who is called, and what
 * is passed, with names and with types before conversion.
 *
 *     CompileCommands commands = {0};
 *     ast_commands(ws, root, paths, npaths, &commands, err);
 *     AstPlan plan = { .commands = &commands, .root = root, .cache = dir };
 *     AstIndex *ix = ast_open(&plan, err);
 *     for (size_t i = 0; i < ix->ncalls; i++) {
 *         const AstCall *c = ix->calls[i];
 *         c->callee->name, c->callee->params[k].names[0]
 *         c->args[k].name, c->args[k].type->spelling
 *     }
 *     ast_close(ix);
 *
 * For `memcpy(q->to, (void *)from + 1, sizeof *from)`, say:
 *
 *     callee   memcpy, declared in a system header, params __dest __src __n
 *     args[0]  MEMBER      name "to", owner "q",  type char[8], passed void *
 *     args[1]  ARITHMETIC  name "from" (lent)     type void *
 *     args[2]  SIZEOF      name "size"            sizeof_type struct s
 *
 * Units are parsed by libclang, each in a process of its own: what a worker
 * dies or hangs on becomes a note that names the file. A unit that does not
 * compile gives a note and no calls. What was read of a unit is kept in the
 * cache folder and used again while the command and the content of all files
 * it came from stay the same. A call in a header, or in a source that is
 * compiled several times, is there once. Calls are sorted by file and position.
 *
 * All that an index hands out lives until ast_close(). Texts are interned:
 * equal ones are the same pointer. Texts come from programs and are hostile.
 */
#ifndef SUNDEW_AST_H
#define SUNDEW_AST_H
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "capture/capture.h"
#include <stdint.h>

/* Where something is declared. */
typedef enum { AST_PROJECT, AST_SYSTEM, AST_BUILTIN } AstHome;

typedef struct AstFile {
    const char *path;          /* absolute */
    AstHome home;
    bool generated;            /* has #line or a "do not edit" mark */
    unsigned lines;
} AstFile;

typedef struct AstPlace {
    const AstFile *file;       /* NULL: nowhere (a builtin) */
    unsigned line, column;     /* from 1 */
    unsigned offset;           /* from 0 */
} AstPlace;

/* Source text; end is one past. */
typedef struct AstRange {
    AstPlace begin, end;
} AstRange;

typedef enum {
    AST_VOID,
    AST_BOOL,
    AST_CHARACTER,
    AST_INTEGER,
    AST_FLOATING,
    AST_ENUM,
    AST_POINTER,
    AST_ARRAY,
    AST_FUNCTION_TYPE,
    AST_RECORD,
    AST_OTHER_TYPE,
} AstTypeKind;

/*
 * A type as written and as it is. `kind` and what follows speak of the
 * canonical type: a size_t is an AST_INTEGER. Characters (plain, signed and
 * unsigned char) are apart from integers.
 */
typedef struct AstType {
    const char *spelling;      /* "size_t", "const foo_t *" */
    const char *canonical;     /* "unsigned long", "const struct foo *" */
    const char *plain;         /* canonical, without its outermost qualifiers */
    const char *decl;          /* record, enum: who it is; else NULL */
    AstTypeKind kind;
    bool is_signed, is_const;  /* is_const: of the type itself */
    int64_t size;              /* in bytes; -1: incomplete or none */
    const struct AstType *pointee;  /* of a pointer; an array's element */
    const struct AstType *first;    /* a struct that is a struct's first member */
    AstHome home;              /* of a record, enum or typedef */
} AstType;

/* A parameter, in all the ways it was declared. */
typedef struct AstParam {
    const char **names;        /* distinct; the definition's first; no unnamed */
    size_t nnames;
    const AstType *type;       /* of the definition, else the last declaration */
    const AstType **becomes;   /* a void * or char *: the other pointer types that */
    size_t nbecomes;           /* the body converts it to; distinct */
} AstParam;

typedef enum {
    AST_FUNCTION,
    AST_FIELD,                 /* a struct member that points to a function */
    AST_VARIABLE,              /* a variable or parameter that does */
} AstCalleeKind;

/*
 * Somebody who is called, or a function the project defines. Functions are
 * the same if their USR (for static ones with the file's path) and their
 * canonical type are; so equal names in two programs of a project stay apart.
 */
typedef struct AstFunction {
    const char *key;           /* the identity */
    const char *usr;           /* clang's */
    const char *name;          /* a field: the member's name */
    const char *record;        /* a field: its struct, "struct ops"; else NULL */
    const char *type;          /* canonical: "int (const char *, int)" */
    AstCalleeKind kind;
    AstHome home;
    bool defined;              /* its body was seen */
    bool variadic;
    bool prototyped;           /* false: K&R, the parameters are not known */
    bool internal;             /* static */
    AstPlace place;            /* definition, else a declaration */
    AstParam *params;
    size_t nparams;
    const AstType *result;
} AstFunction;

typedef enum {
    AST_IDENTIFIER,            /* x, and &x, *x, (T)x */
    AST_MEMBER,                /* p->w, s.w */
    AST_SUBSCRIPT,             /* a[i], p->a[i]: named after the array */
    AST_CALL,                  /* get_w(p): named after the callee */
    AST_ENUMERATOR,
    AST_FUNCTION_NAME,
    AST_MACRO,                 /* BUFSZ: a constant with a name */
    AST_SIZEOF,                /* named "size" */
    AST_ARITHMETIC,            /* anything else; may have a lent name */
    AST_LITERAL,               /* 3, 'x', "s", true, NULL: no name */
    AST_OTHER,
} AstForm;

/* What an integer argument stands for. */
typedef enum {
    AST_NOT_INTEGER,
    AST_INT_PLAIN,             /* a value of its type, nothing more is known */
    AST_INT_ENUM,              /* an enumerator or a value of an enum type */
    AST_INT_MACRO,             /* a named constant */
    AST_INT_SIZEOF,            /* sizeof of something that is no pointer */
    AST_INT_SIZEOF_POINTER,
    AST_INT_STRLEN,
    AST_INT_BOOLEAN,           /* a comparison, !, &&, ||, true, false, a bool */
    AST_INT_CHARACTER,         /* 'x', a char */
    AST_INT_ZERO,
    AST_INT_MINUS_ONE,
    AST_INT_LITERAL,           /* any other number */
} AstIntKind;

typedef struct AstArg {
    AstForm form;
    const char *name;          /* NULL: has none */
    const char *owner;         /* member: name of what it is a member of */
    const char *macro;         /* it is written as this macro; else NULL */
    const char *comment;       /* beside it: "len" of 3 and this in a comment */
    const char *text;          /* as written, up to 200 bytes; NULL: in a macro */
    const char *decl;          /* USR of the variable, member, function or
                                * enumerator that gives the name; or NULL */
    bool lent;                 /* the name is that of one identifier inside */
    bool cast;                 /* it has an explicit cast */
    bool address, deref;       /* &x;  *x */
    bool is_string;            /* a string literal */
    bool has_value;
    int64_t value;             /* of a literal, an enumerator, a macro */
    AstIntKind integer;
    bool local;                /* a local variable or a parameter */
    int parameter;             /* which of the enclosing function's it is; -1 */
    const AstType *passed;     /* after all conversions */
    const AstType *type;       /* before implicit conversions: arrays are arrays */
    const AstType *inner;      /* before explicit casts as well */
    const AstType **sources;   /* a void *, char * or integer variable: the types, */
    size_t nsources;           /* before conversion, of all it is set to here */
    const char *enum_decl;     /* the enum it belongs to; or NULL */
    const char *enum_name;
    const AstType *sizeof_type;     /* of what; NULL: a builtin type, see text */
    const char *sizeof_text;   /* what stands in the sizeof */
    const char *called;        /* form AST_CALL: the callee's key, or NULL */
    AstRange range;            /* where it is written */
    bool in_macro;             /* not plainly written there: no fix-it */
} AstArg;

typedef struct AstCall {
    const AstFunction *callee;
    const AstFunction *caller;
    AstPlace place;            /* where the call is written: for people */
    AstPlace spelling;         /* in a macro's body: where its text is */
    bool in_macro;             /* it comes out of a macro's body */
    unsigned end_offset;
    AstArg *args;
    size_t nargs;
} AstCall;

typedef enum {
    AST_DID_NOT_COMPILE,       /* text: the first error */
    AST_WORKER_DIED,
    AST_WORKER_HUNG,
    AST_NOT_READ,
} AstTrouble;

typedef struct AstNote {
    AstTrouble trouble;
    const char *file;          /* the unit */
    const char *text;          /* one line, without the unit's name */
} AstNote;

typedef struct AstIndex {
    const AstFile **files;
    size_t nfiles;
    const AstFunction **functions;
    size_t nfunctions;
    const AstCall **calls;
    size_t ncalls;
    AstNote *notes;
    size_t nnotes;
    size_t nunits, ncached;    /* without a note; read from the cache */
    bool stopped;              /* plan.stop said so; the index has less */
    struct AstStore *store;    /* what all this stands in */
} AstIndex;

typedef struct AstPlan {
    const CompileCommands *commands;
    const char *root;          /* the project's folder; NULL: not known */
    const char *cache;         /* a folder; NULL: nothing is kept */
    unsigned jobs;             /* 0: 1 */
    double seconds;            /* the most a unit may take; 0: 120 */
    uint64_t memory;           /* the most it may use; 0: 4 GiB */
    bool (*stop)(void *arg);   /* asked now and then; NULL: never */
    void *arg;
} AstPlan;

/* False is for the machine's troubles only; the program's are notes. */
AstIndex *ast_open(const AstPlan *plan, Err *err);
void ast_close(AstIndex *ix);                       /* NULL is fine */

/*
 * The units a user means. Without paths: those of the workspace (may be NULL),
 * else of compile_commands.json in `root` or root/build. A path may be such a
 * file; or a source or a folder, and then its units are taken from there, and
 * a source that has no command is parsed with plain flags. Nothing at all is
 * an error that says what to do.
 */
bool ast_commands(Workspace *ws, const char *root, char *const *paths, size_t n,
                  CompileCommands *out, Err *err);
/* Is `file` one of `paths`, or below one? Always, if there are none. */
bool ast_wanted(const char *file, char *const *paths, size_t n);

/* Asserts what always holds: nothing that a call must have is missing. */
void ast_check(const AstIndex *ix);
/* One line for each call, for people and tests. */
void ast_dump(const AstIndex *ix, Str *out);
const char *ast_form_name(AstForm f);
const char *ast_int_kind_name(AstIntKind k);
#endif
