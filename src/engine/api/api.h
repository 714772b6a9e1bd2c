/*
 * api - the functions of a library as a caller sees them: which may be called,
 * and what each wants in which place.
 *
 *     Api *api = api_open(p, &(ApiPlan){ .headers = headers }, err);
 *     for (size_t i = 0; i < api->nfunctions; i++) {
 *         const ApiFunction *f = &api->functions[i];
 *         f->name, f->params[k].role, f->params[k].handle->name
 *     }
 *     api_close(api);
 *
 * A place is a parameter's index, or API_RETURNED. A handle type is a struct
 * whose pointer crosses the API (analysis/handles/handles.h gives the roles), or a
 * typedef of void * that does. Functions, types and places are numbered: `index`
 * is a function's place in `functions`, a type's in `types`.
 *
 *     int db_open(const char *name, struct db **out)    STRING, HANDLE_OUT creates
 *     struct stmt *db_prepare(struct db *d, …)          HANDLE changes; returned: HANDLE creates
 *     long stmt_read(struct stmt *s, void *to, size_t n) HANDLE changes, BUFFER_OUT, LENGTH of it
 *     void db_close(struct db *d)                       HANDLE consumed
 *     int buf_init(struct buf *b)                       STORAGE: the caller's own
 *
 * A static function is part of the API if a table of operations that the headers
 * declare (const struct store_ops store_list) leads to it.
 *
 * What it hands out lives until api_close(), which must come before
 * program_close().
 */
#ifndef SUNDEW_SEQ_API_H
#define SUNDEW_SEQ_API_H
#include "base/err.h"
#include "base/map.h"
#include "engine/api/value.h"
#include "analysis/pointsto/calls.h"
#include "analysis/handles/handles.h"
#include "program/program.h"

enum { API_RETURNED = HANDLE_RETURNED, API_NONE = -2 };

/* What a place wants, or gives. */
typedef enum {
    ROLE_NOTHING,              /* a result of type void */
    ROLE_INTEGER,              /* bool and characters too */
    ROLE_ENUM,                 /* one of the type's enumerators */
    ROLE_FLAGS,                /* an enum or integer whose constants are bits */
    ROLE_FLOAT,
    ROLE_STRING,               /* const char *, ends with a NUL */
    ROLE_BUFFER,               /* bytes that are read; `partner` has their number */
    ROLE_BUFFER_OUT,           /* bytes that are written; likewise */
    ROLE_LENGTH,               /* of what stands at `partner` */
    ROLE_LENGTH_INOUT,         /* a pointer to it: room before, bytes after */
    ROLE_OUT,                  /* pointer to a scalar that is written */
    ROLE_INOUT,                /* … read and written */
    ROLE_STRING_OUT,           /* char **: a string comes out */
    ROLE_HANDLE,               /* a handle that exists */
    ROLE_HANDLE_OUT,           /* T **: one comes out */
    ROLE_HANDLE_INOUT,         /* T **: one goes in, and may be replaced */
    ROLE_STORAGE,              /* T *: the caller's own, which this initialises */
    ROLE_RECORD,               /* a plain struct: by value, or a pointer to one
                                * that is no handle */
    ROLE_CALLBACK,             /* pointer to a function */
    ROLE_USER_DATA,            /* void * for the callback at `partner` */
    ROLE_POINTER,              /* anything else: only what was observed, or NULL */
    ROLE_REST,                 /* ...: only shapes that were recorded */
} ApiRole;
const char *api_role_name(ApiRole r);          /* "handle out", … */

/* What a call does with the handle in a place. */
typedef enum {
    USE_NONE,                  /* no handle */
    USE_CREATES,               /* a new one comes out of this place */
    USE_BORROWS,               /* one comes out that somebody else owns */
    USE_OBSERVES,              /* state stays */
    USE_CHANGES,
    USE_FINISHES,              /* its content is freed; the storage is the caller's */
    USE_CONSUMES,              /* gone afterwards: destroyed, or owned by another */
} ApiUse;
const char *api_use_name(ApiUse u);            /* creates, borrows, … */

typedef struct ApiType ApiType;

typedef struct ApiPlace {
    const char *name;          /* of the parameter; "" */
    const Type *type;          /* as declared; NULL: void */
    ApiRole role;
    ApiUse use;
    const ApiType *handle;     /* of handles and storage; else NULL */
    int partner;               /* place of the buffer, length, callback; API_NONE */
    int within;                /* it points into what stands in this place: the end of a text,
                                * say; API_NONE */
    bool is_const;             /* what it points to is const in the source */
    bool is_written;           /* what it points to, by the function … */
    bool is_read;              /* … which looks at it before it writes there */
    bool filled;               /* a struct: what it held before is of no interest */
    bool in_place;             /* a text that the function changes where it stands */
    bool is_ended;             /* bytes with a length: the example has a NUL behind them, too … */
    bool is_unended;           /* … and at times it has not */
    bool may_be_null;          /* the code compares it with NULL, or names say so */
} ApiPlace;

/* Where a function stands that callers reach through a table: store_list.open. */
typedef struct ApiSlot {
    const char *variable;      /* that the headers declare */
    const char *field;
    uint64_t offset;           /* of the field, in bytes */
} ApiSlot;

typedef struct ApiFunction {
    const Function *fn;
    const char *name;          /* as a caller writes it: "db_open", "store_list.open" */
    const ApiSlot *slot;       /* NULL: callers know the function itself */
    unsigned index;
    ApiPlace *params;          /* fn->nparams of them; of a shape more */
    unsigned nparams;
    ApiPlace result;
    bool variadic;             /* nobody knows what it wants: see api_shape() */
    const struct ApiFunction *shape_of;   /* the variadic one; NULL: it is no shape */
    unsigned nfixed;           /* of a shape: named parameters */
    const SeqValue *pinned;    /* of a shape, one for each of these: the only value that
                                * it has; VALUE_NONE: any. NULL: none is pinned */
    const char *not_callable;  /* why it can't be called; NULL: it can */
    bool takes_handle;         /* some parameter is a handle */
    bool observes;             /* changes none of its handles, creates none */
    bool compares;             /* like strcmp(): only the sign of its result means something */
} ApiFunction;

/* A function and where the handle stands in it. */
typedef struct ApiMaker {
    const ApiFunction *function;
    int place;
} ApiMaker;

struct ApiType {
    const char *name;          /* "struct db", "XML_Parser" */
    const Type *type;          /* the struct; or the typedef of void * */
    unsigned index;
    uint64_t size;             /* of the struct; 0: not known */
    bool caller_owned;         /* has initialisers: the caller gives the storage */
    bool open;                 /* callers see its fields, and may have it themselves */
    ApiMaker *creators;        /* returned, out-parameters, initialisers */
    size_t ncreators;
    ApiMaker *destroyers;      /* consume or finish it; plain ones first: those that
                                * need nothing but the handle */
    size_t ndestroyers;
};

typedef struct Api {
    const Program *program;
    ApiFunction *functions;    /* in the order of the program */
    size_t nfunctions;         /* shapes too, which are the last ones */
    size_t nshapes;
    ApiType *types;
    size_t ntypes;
    Map by_name;               /* of functions, as callers write them */
    Map by_source;             /* of those in tables: "file:function" */
    const ApiFunction *release;        /* free(): for texts that are the caller's; not
                                        * among `functions`, its index is behind them */
    Arena arena;
} Api;

typedef struct ApiPlan {
    char *const *headers;      /* files, NULL-terminated; NULL: all external
                                * functions of the program */
    char *const *flags;        /* -I, -D for the headers; NULL: none */
    /* These and no others, static ones too; they may be pinned (ApiFunction) afterwards.
     * NULL: as the headers have it. */
    const Function *const *functions;
    size_t nfunctions;
    const char *handles;       /* sundew.handles; NULL: none */
    const Calls *calls;        /* NULL: mutability is guessed from const */
} ApiPlan;

Api *api_open(const Program *p, const ApiPlan *plan, Err *err);
void api_close(Api *api);                      /* NULL is fine */
/* Is each header good C by itself? api_open() needs only the names in it, so one that is not
 * will do; but names may be missing. False with the first error in `err`. */
bool api_headers_parse(char *const *headers, char *const *flags, Err *err);

const ApiFunction *api_function(const Api *api, const char *name);    /* or NULL */
/* The function of the API with this one of the program's; NULL: none. */
const ApiFunction *api_of(const Api *api, const Function *fn);
/* The function that a table leads to, also for a Function of another program with the same
 * source: an example that the library is part of. NULL: none. */
const ApiFunction *api_in_table(const Api *api, const Function *fn);
/* The handle type that a pointer of this type leads to, through `levels` stars;
 * NULL: none. */
const ApiType *api_type_of(const Api *api, const Type *t, unsigned *levels);
const ApiPlace *api_place(const ApiFunction *f, int place);
/* What a function's number says: of a comparison only whether it is less, equal or more. */
int64_t api_meaning(const ApiFunction *f, uint64_t result);
/* Does a name say that a number counts what stands beside it? */
bool api_is_length_name(const char *name);

/*
 * What was passed for the "..." of a variadic function, once: a function of its own,
 * with a parameter for each argument, and with the numbers and texts among the named
 * ones (a format, a selector) as they were.
 *
 *     set(h, LIMIT, 5)       a shape: set(handle, LIMIT only, int)
 *     set(h, NAME, "x")      another: set(handle, NAME only, text)
 *
 * The same shape gives the same function. All have to be known before others use the
 * numbers of functions. NULL: there are too many of them already, or a named argument is
 * not known.
 */
typedef struct ApiExtra {
    char kind;                 /* SUNDEW_REST_… of runtime/format/tracefile.h */
    const ApiType *handle;     /* a pointer to one; NULL: none, it is NULL */
} ApiExtra;
enum { API_MOST_SHAPES = 128 };
const ApiFunction *api_shape(Api *api, const ApiFunction *f, const SeqValue *named,
                             const ApiExtra *extra, unsigned n);
/* Has a variadic function a shape? */
bool api_has_shape(const Api *api, const ApiFunction *f);
/* Of a shape the function that it is one of, else itself. */
const ApiFunction *api_plain(const ApiFunction *f);

/* One line a function, for people and tests. */
void api_dump(const Api *api, Str *out);
#endif
