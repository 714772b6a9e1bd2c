/*
 * value - the data of dataflow programs: values, types, schemas.
 *
 * A Value is a small tagged struct. Text, tuples, bags and maps point into an
 * arena; whoever owns the arena decides how long. Values are never changed
 * after they were made, so copies share.
 *
 *     Value v = value_int(3);
 *     Tuple *t = tuple_new(a, 2);
 *     t->fields[0] = value_text(a, "kim");
 *     t->fields[1] = v;
 *
 * Numbers behave as in Java, where Pig comes from: arithmetic wraps, doubles
 * are ordered with -0.0 below 0.0 and NaN on top. value_compare() is the total
 * order that grouping, sorting and DISTINCT use, with null lowest.
 *
 * `made` marks a value that was invented, or computed from an invented one. It
 * takes no part in comparisons.
 *
 * A biginteger is held in 64 bits and a bigdecimal as a double.
 */
#ifndef SUNDEW_DATAFLOW_VALUE_H
#define SUNDEW_DATAFLOW_VALUE_H
#include "base/mem.h"
#include "base/str.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order in which values of different types compare. */
typedef enum ValueKind {
    VALUE_NULL,
    VALUE_BOOL,
    VALUE_INT,
    VALUE_LONG,
    VALUE_FLOAT,
    VALUE_DOUBLE,
    VALUE_DATETIME,            /* milliseconds since 1970, UTC */
    VALUE_BYTES,               /* untyped: the text as it was loaded */
    VALUE_TEXT,
    VALUE_BIGINT,
    VALUE_BIGDEC,
    VALUE_MAP,
    VALUE_TUPLE,
    VALUE_BAG,
} ValueKind;
enum { VALUE_KINDS = VALUE_BAG + 1 };

typedef struct Tuple Tuple;
typedef struct Bag Bag;
typedef struct ValueMap ValueMap;

typedef struct Value {
    uint8_t kind;
    bool made;
    uint32_t len;              /* of text and bytes */
    union {
        bool b;
        int64_t i;             /* int, long, datetime, biginteger */
        double d;              /* float, double, bigdecimal */
        const char *s;         /* text, bytes: NUL-terminated, may hold NULs */
        const Tuple *tuple;
        const Bag *bag;
        const ValueMap *map;
    } u;
} Value;

struct Tuple {
    size_t n;
    Value fields[];
};

struct Bag {
    size_t n;
    const Tuple **items;
};

struct ValueMap {              /* keys in order of insertion, each once */
    size_t n;
    Value *keys, *values;      /* keys are text */
};

Value value_null(void);
Value value_bool(bool b);
Value value_int(int32_t i);
Value value_long(int64_t i);
Value value_float(double d);               /* rounded to a float */
Value value_double(double d);
Value value_datetime(int64_t ms);
Value value_text(Arena *a, const char *s);             /* copies */
Value value_textn(Arena *a, const char *s, size_t n);
Value value_bytesn(Arena *a, const char *s, size_t n);
Value value_borrow(ValueKind kind, const char *s, size_t n);   /* text or bytes, not copied */
Value value_tuple(const Tuple *t);
Value value_bag(const Bag *b);
Tuple *tuple_new(Arena *a, size_t n);                  /* all null */
Bag *bag_new(Arena *a, size_t n);                      /* items NULL, to be set */
Value value_lookup(const ValueMap *m, const char *key, size_t n);   /* or null */
bool value_is_number(const Value *v);
double value_as_double(const Value *v);                /* of a number */

/* The total order: <0, 0, >0. Bags compare by size, then by sorted content. */
int value_compare(const Value *a, const Value *b);
int tuple_compare(const Tuple *a, const Tuple *b);
/* True if some value inside is marked as made. */
bool value_is_made(const Value *v);
/* A copy that shares no memory with the original. */
Value value_copy(Arena *a, const Value *v);
/* The same, with `made` set everywhere inside. */
Value value_mark_made(Arena *a, const Value *v);

/* As Pig prints it: (a,{(1),(2)},[k#v]); null is nothing. Bags in the order
 * they have; `canonical` sorts them. */
void value_print(Str *out, const Value *v, bool canonical);
void tuple_print(Str *out, const Tuple *t, bool canonical);
/* A double as Java prints it: 1.0, 1.0E10, NaN, Infinity. */
void double_print(Str *out, double d, bool is_float);

/* ---- types and schemas */

typedef struct Schema Schema;

/* `inner`: the fields of a tuple, of the tuples in a bag, or one field for the
 * values of a map; NULL if not known. */
typedef struct Type {
    ValueKind kind;            /* VALUE_NULL: the type of a null constant */
    const Schema *inner;
} Type;

typedef struct SchemaField {
    const char *name;          /* "A::x" after a join; NULL: none */
    Type type;
} SchemaField;

struct Schema {
    size_t n;
    SchemaField fields[];
};

Schema *schema_new(Arena *a, size_t n);
Type type_of(ValueKind kind);              /* without an inner schema */
Type type_bag(const Schema *inner);
Type type_tuple(const Schema *inner);
const char *type_name(ValueKind kind);     /* "chararray", … */
bool type_is_number(ValueKind kind);
/* "(a: int, b: {(x: chararray)})"; a NULL schema is "unknown". */
void schema_print(Str *out, const Schema *s);
void type_print(Str *out, Type t);
/* The position of a name: exact, or the part after "::" if only one field has
 * it. -1: none, -2: several. */
int schema_find(const Schema *s, const char *name);
#endif
