#include "dataflow/function.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const Function *const tables[] = {
    functions_text, functions_number, functions_bag, functions_date, functions_sql,
};

static const char *const packages[] = {
    "org.apache.pig.builtin.",
    "org.apache.pig.piggybank.evaluation.string.",
    "org.apache.pig.piggybank.evaluation.math.",
    "org.apache.pig.impl.builtin.",
    "org.apache.pig.piggybank.evaluation.",
};

static const char *without_package(const char *name)
{
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (str_starts(name, packages[i]))
            return name + strlen(packages[i]);
    return name;
}

const Function *function_find(const char *name)
{
    name = without_package(name);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const Function *f = tables[t]; f->name; f++)
            if (!strcmp(f->name, name))
                return f;
    return NULL;
}

/* The type of the first column of a bag. */
static DatumKind column_kind(const Type *t)
{
    if (t->kind == DATUM_BAG && t->inner && t->inner->n)
        return t->inner->fields[0].type.kind;
    return DATUM_BYTES;
}

static Type sum_type(DatumKind k)
{
    switch (k) {
    case DATUM_INT:
    case DATUM_LONG: return dtype_of(DATUM_LONG);
    case DATUM_BIGINT:
    case DATUM_BIGDEC: return dtype_of(k);
    default: return dtype_of(DATUM_DOUBLE);
    }
}

static Schema *fields_of(const Type *args, size_t n, Arena *a)
{
    Schema *s = schema_new(a, n);
    for (size_t i = 0; i < n; i++)
        s->fields[i].type = args[i];
    return s;
}

/* TOBAG: the fields of the tuples, if all arguments are alike. */
static Type bag_of(const Type *args, size_t n, Arena *a)
{
    for (size_t i = 1; i < n; i++)
        if (args[i].kind != args[0].kind)
            return dtype_of(DATUM_BAG);
    if (!n)
        return dtype_of(DATUM_BAG);
    if (args[0].kind == DATUM_TUPLE)
        return dtype_bag(args[0].inner);
    return dtype_bag(fields_of(args, 1, a));
}

Type function_type(const Function *f, const Type *args, size_t n, Arena *a)
{
    switch (f->rule) {
    case TYPE_SUM: return sum_type(column_kind(&args[0]));
    case TYPE_MINMAX: {
        DatumKind k = column_kind(&args[0]);
        return dtype_of(k == DATUM_BYTES ? DATUM_DOUBLE : k);
    }
    case TYPE_SAME: return args[0].kind == DATUM_BYTES ? dtype_of(DATUM_DOUBLE) : args[0];
    case TYPE_ROUND:
        return dtype_of(args[0].kind == DATUM_FLOAT || args[0].kind == DATUM_INT ? DATUM_INT
                                                                                 : DATUM_LONG);
    case TYPE_BAG_SAME: return args[0];
    case TYPE_TUPLE_OF: return dtype_tuple(fields_of(args, n, a));
    case TYPE_BAG_OF: return bag_of(args, n, a);
    case TYPE_MAP_OF:
        return n > 1 ? (Type){ DATUM_MAP, fields_of(&args[1], 1, a) } : dtype_of(DATUM_MAP);
    case TYPE_TOP: return n > 2 ? args[2] : dtype_of(DATUM_BAG);
    case TYPE_FIXED: break;
    }
    Type t = dtype_of(f->result);
    if (f->result == DATUM_BAG) {          /* of one text each: TOKENIZE and its like */
        Schema *s = schema_new(a, 1);
        s->fields[0].type = dtype_of(DATUM_TEXT);
        t.inner = s;
    }
    return t;
}

bool call_fail(CallCtx *c, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!c->failed)
        err_set(c->err, "%s", text);
    c->failed = true;
    return false;
}
