/*
 * value - PHP's values and what its operators make of them.
 *
 * A Value is a plain value; text points into an arena or into what outlives
 * it. VALUE_UNKNOWN stands for "can't be computed here" and spreads. An array
 * is only known to be one: that is all that conditions on parameters ask.
 *
 *     Value v = value_text("1337 ", 5);
 *     value_equal(v, value_int(1337))            true: PHP 8's loose rules
 */
#ifndef SUNDEW_WEB_VALUE_H
#define SUNDEW_WEB_VALUE_H
#include "base/mem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ValueType {
    VALUE_UNKNOWN, VALUE_NULL, VALUE_FALSE, VALUE_TRUE, VALUE_INT, VALUE_FLOAT,
    VALUE_TEXT, VALUE_ARRAY
} ValueType;

typedef struct Value {
    ValueType type;
    int64_t i;
    double d;
    const char *s;             /* not terminated */
    size_t n;
} Value;

Value value_unknown(void);
Value value_null(void);
Value value_bool(bool b);
Value value_int(int64_t i);
Value value_float(double d);
Value value_text(const char *s, size_t n);
Value value_text_z(const char *s);
bool value_is_known(Value v);

bool value_truth(Value v);                        /* known values only */
Value value_to_int(Value v);
Value value_to_float(Value v);
Value value_to_text(Arena *a, Value v);
/* The number that text is as a whole, blanks around it allowed; else false. */
bool value_numeric(Value v, Value *number);

bool value_equal(Value a, Value b);               /* == */
bool value_same(Value a, Value b);                /* === */
int value_compare(Value a, Value b);              /* <=> */

/* + - * / % and **, with PHP's overflow into floats; UNKNOWN where PHP throws. */
Value value_arithmetic(char op, Value a, Value b);
Value value_concat(Arena *a, Value x, Value y);
#endif
