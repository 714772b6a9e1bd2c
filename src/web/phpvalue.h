/*
 * phpvalue - PHP's values and what its operators make of them.
 *
 * A PhpValue is a plain value; text points into an arena or into what outlives
 * it. PHP_UNKNOWN stands for "can't be computed here" and spreads. An array
 * is only known to be one: that is all that conditions on parameters ask.
 *
 *     PhpValue v = phpvalue_text("1337 ", 5);
 *     phpvalue_equal(v, phpvalue_int(1337))            true: PHP 8's loose rules
 */
#ifndef SUNDEW_WEB_PHPVALUE_H
#define SUNDEW_WEB_PHPVALUE_H
#include "base/mem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum PhpType {
    PHP_UNKNOWN,
    PHP_NULL,
    PHP_FALSE,
    PHP_TRUE,
    PHP_INT,
    PHP_FLOAT,
    PHP_TEXT,
    PHP_ARRAY
} PhpType;

typedef struct PhpValue {
    PhpType type;
    int64_t i;
    double d;
    const char *s;             /* not terminated */
    size_t n;
} PhpValue;

PhpValue phpvalue_unknown(void);
PhpValue phpvalue_null(void);
PhpValue phpvalue_bool(bool b);
PhpValue phpvalue_int(int64_t i);
PhpValue phpvalue_float(double d);
PhpValue phpvalue_text(const char *s, size_t n);
PhpValue phpvalue_text_z(const char *s);
bool phpvalue_is_known(PhpValue v);

bool phpvalue_truth(PhpValue v);                        /* known values only */
PhpValue phpvalue_to_int(PhpValue v);
PhpValue phpvalue_to_float(PhpValue v);
PhpValue phpvalue_to_text(Arena *a, PhpValue v);
/* The number that text is as a whole, blanks around it allowed; else false. */
bool phpvalue_numeric(PhpValue v, PhpValue *number);

bool phpvalue_equal(PhpValue a, PhpValue b);               /* == */
bool phpvalue_same(PhpValue a, PhpValue b);                /* === */
int phpvalue_compare(PhpValue a, PhpValue b);              /* <=> */

/* + - * / % and **, with PHP's overflow into floats; UNKNOWN where PHP throws. */
PhpValue phpvalue_arithmetic(char op, PhpValue a, PhpValue b);
PhpValue phpvalue_concat(Arena *a, PhpValue x, PhpValue y);
#endif
