/*
 * types - the types of a program, as its source has them.
 *
 * They come from debug information. A type stands once, however many units have
 * seen it: two types are the same if C calls them compatible between units
 * (same tag, same members), so they may be compared as pointers. Two structs
 * of one name that differ are two types. Structs and enums without a tag are
 * the same only if they also stand at the same place.
 *
 *     const Type *t = type_plain(param->type);       typedefs and const gone
 *     if (t->kind == TYPE_POINTER) use(t->target);
 *     type_print(t, "p", &str);                      "const char *p"
 *
 * A declared but nowhere defined struct is `incomplete`; where one unit defines
 * it and others only declare it, all get the definition.
 */
#ifndef SUNDEW_TYPES_H
#define SUNDEW_TYPES_H
#include "base/str.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    TYPE_VOID,
    TYPE_SCALAR,          /* see `encoding` */
    TYPE_ENUM,
    TYPE_POINTER,
    TYPE_ARRAY,           /* of several dimensions: an array of arrays */
    TYPE_VECTOR,          /* GNU vector */
    TYPE_STRUCT,
    TYPE_UNION,
    TYPE_TYPEDEF,
    TYPE_QUALIFIED,       /* one qualifier each */
    TYPE_FUNCTION,
    TYPE_UNKNOWN,         /* not of C, or of no use: its size may still be right */
} TypeKind;
const char *type_kind_name(TypeKind k);      /* void, scalar, enum, … */

typedef enum {
    ENCODING_NONE,
    ENCODING_BOOL,
    ENCODING_SIGNED,
    ENCODING_UNSIGNED,
    ENCODING_SIGNED_CHAR,      /* char and signed char, see the name */
    ENCODING_UNSIGNED_CHAR,
    ENCODING_FLOAT,
    ENCODING_COMPLEX,
    ENCODING_UTF,              /* char8_t, char16_t, char32_t of C++ */
    ENCODING_OTHER,
} Encoding;
const char *encoding_name(Encoding e);       /* "", bool, signed, … */

typedef enum {
    QUALIFIER_CONST,
    QUALIFIER_VOLATILE,
    QUALIFIER_RESTRICT,
    QUALIFIER_ATOMIC,
} Qualifier;

typedef struct Type Type;

typedef struct Field {
    const char *name;     /* "" for an anonymous struct or union */
    const Type *type;
    uint64_t offset;      /* in bits */
    uint64_t width;       /* in bits; 0 for a flexible array */
    bool bit_field;
    unsigned line;
} Field;

typedef struct Enumerator {
    const char *name;
    int64_t value;        /* of an unsigned enum: the same bits */
    bool is_unsigned;
} Enumerator;

struct Type {
    TypeKind kind;
    const char *name;     /* the tag, the typedef's or the scalar's name; or "" */
    const char *file;     /* where it stands; "" if not known */
    unsigned line;
    uint64_t size;        /* in bytes; 0 if not known or none */
    unsigned align;       /* in bytes where the source asked for it, else 0 */
    bool incomplete;      /* struct, union, enum: nowhere defined */
    bool local;           /* struct, union, enum, typedef: declared in a function */
    Encoding encoding;    /* scalar */
    Qualifier qualifier;  /* qualified */
    /* Pointer: what it points to. Array, vector: the element. Typedef,
     * qualified: what it stands for. Function: the result. Enum: its integer
     * type. Never NULL for these. */
    const Type *target;
    uint64_t count;       /* array, vector: elements */
    bool flexible;        /* array of unknown length: [] */
    bool variable;        /* array whose length is known at run time only */
    bool variadic;        /* function */
    bool prototyped;      /* function: false is `int f()` */
    Field *fields;        /* struct, union */
    unsigned nfields;
    Enumerator *values;   /* enum */
    unsigned nvalues;
    const Type **params;  /* function */
    unsigned nparams;
    const Type *alias;    /* of a struct, union or enum without a tag: the
                           * typedef that names it; or NULL */
    unsigned index;       /* in types_all() */
};

typedef struct Types Types;

/* In a stable order. */
const Type *const *types_all(const Types *ts, size_t *n);
/* "struct foo", "union u", "enum e", or the name of a typedef or scalar; if
 * several have the name, the n-th (from 0). NULL: no more. */
const Type *types_find(const Types *ts, const char *name, unsigned nth);

const Type *type_plain(const Type *t);       /* without typedefs, qualifiers */
const Type *type_unqualified(const Type *t); /* without qualifiers on top */
bool type_has_qualifier(const Type *t, Qualifier q);     /* through typedefs */
bool type_is_char(const Type *t);            /* char, not signed char or unsigned char */
bool type_is_record(const Type *t);          /* struct or union, plain or not */
/* The struct or union that a pointer (or a pointer to a pointer) leads to. */
const Type *type_pointed_record(const Type *t, unsigned *levels);
/* The innermost field at a bit offset; NULL if there is none. */
const Field *type_field_at(const Type *t, uint64_t bit);

/* As C: a declaration of `name`, or the type alone if it is NULL or "". */
void type_print(const Type *t, const char *name, Str *out);
/* "struct foo { int a; … }" with members, one a line. */
void type_print_definition(const Type *t, Str *out);
#endif
