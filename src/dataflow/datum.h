/*
 * datum - the data of dataflow programs: values, types, schemas.
 *
 * A Datum is a small tagged struct. Text, tuples, bags and maps point into an
 * arena; whoever owns the arena decides how long. Values are never changed
 * after they were made, so copies share.
 *
 *     Datum v = datum_int(3);
 *     Tuple *t = tuple_new(a, 2);
 *     t->fields[0] = datum_text(a, "kim");
 *     t->fields[1] = v;
 *
 * Numbers behave as in Java, where Pig comes from: arithmetic wraps, doubles
 * are ordered with -0.0 below 0.0 and NaN on top. datum_compare() is the total
 * order that grouping, sorting and DISTINCT use, with null lowest.
 *
 * `made` marks a value that was invented, or computed from an invented one. It
 * takes no part in comparisons.
 *
 * A biginteger is held in 64 bits and a bigdecimal as a double.
 */
#ifndef SUNDEW_DATAFLOW_DATUM_H
#define SUNDEW_DATAFLOW_DATUM_H
#include "base/mem.h"
#include "base/str.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order in which values of different types compare. */
typedef enum DatumKind {
    DATUM_NULL,
    DATUM_BOOL,
    DATUM_INT,
    DATUM_LONG,
    DATUM_FLOAT,
    DATUM_DOUBLE,
    DATUM_DATETIME,            /* milliseconds since 1970, UTC */
    DATUM_BYTES,               /* untyped: the text as it was loaded */
    DATUM_TEXT,
    DATUM_BIGINT,
    DATUM_BIGDEC,
    DATUM_MAP,
    DATUM_TUPLE,
    DATUM_BAG,
} DatumKind;
enum { DATUM_KINDS = DATUM_BAG + 1 };

typedef struct Tuple Tuple;
typedef struct Bag Bag;
typedef struct DatumMap DatumMap;

typedef struct Datum {
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
        const DatumMap *map;
    } u;
} Datum;

struct Tuple {
    size_t n;
    Datum fields[];
};

struct Bag {
    size_t n;
    const Tuple **items;
};

struct DatumMap {              /* keys in order of insertion, each once */
    size_t n;
    Datum *keys, *values;      /* keys are text */
};

Datum datum_null(void);
Datum datum_bool(bool b);
Datum datum_int(int32_t i);
Datum datum_long(int64_t i);
Datum datum_float(double d);               /* rounded to a float */
Datum datum_double(double d);
Datum datum_datetime(int64_t ms);
Datum datum_text(Arena *a, const char *s);             /* copies */
Datum datum_textn(Arena *a, const char *s, size_t n);
Datum datum_bytesn(Arena *a, const char *s, size_t n);
Datum datum_borrow(DatumKind kind, const char *s, size_t n);   /* text or bytes, not copied */
Datum datum_tuple(const Tuple *t);
Datum datum_bag(const Bag *b);
Tuple *tuple_new(Arena *a, size_t n);                  /* all null */
Bag *bag_new(Arena *a, size_t n);                      /* items NULL, to be set */
Datum datum_lookup(const DatumMap *m, const char *key, size_t n);   /* or null */
bool datum_is_number(const Datum *v);
double datum_as_double(const Datum *v);                /* of a number */

/* The total order: <0, 0, >0. Bags compare by size, then by sorted content. */
int datum_compare(const Datum *a, const Datum *b);
int tuple_compare(const Tuple *a, const Tuple *b);
/* True if some value inside is marked as made. */
bool datum_is_made(const Datum *v);
/* A copy that shares no memory with the original. */
Datum datum_copy(Arena *a, const Datum *v);
/* The same, with `made` set everywhere inside. */
Datum datum_mark_made(Arena *a, const Datum *v);

/* As Pig prints it: (a,{(1),(2)},[k#v]); null is nothing. Bags in the order
 * they have; `canonical` sorts them. */
void datum_print(Str *out, const Datum *v, bool canonical);
void tuple_print(Str *out, const Tuple *t, bool canonical);
/* A double as Java prints it: 1.0, 1.0E10, NaN, Infinity. */
void double_print(Str *out, double d, bool is_float);

/* ---- types and schemas */

typedef struct Schema Schema;

/* `inner`: the fields of a tuple, of the tuples in a bag, or one field for the
 * values of a map; NULL if not known. */
typedef struct Type {
    DatumKind kind;            /* DATUM_NULL: the type of a null constant */
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
Type dtype_of(DatumKind kind);              /* without an inner schema */
Type dtype_bag(const Schema *inner);
Type dtype_tuple(const Schema *inner);
const char *dtype_name(DatumKind kind);     /* "chararray", … */
bool dtype_is_number(DatumKind kind);
void dtype_print(Str *out, Type t);
/* The position of a name: exact, or the part after "::" if only one field has
 * it. -1: none, -2: several. */
int schema_find(const Schema *s, const char *name);
#endif
