/* Prints what src/web/phpvalue.h and eval.h make of many values: the same lines
 * as tests/scripts/web-values.php prints with PHP itself. */
#include "base/escape.h"
#include "web/eval.h"
#include <stdio.h>
#include <string.h>

static const char *const texts[] = {
    "",
    "0",
    "1",
    "-1",
    "1337",
    "1337 ",
    " 1337",
    "1337x",
    "1.337e3",
    "01",
    "1.0",
    ".5",
    "5.",
    "abc",
    "ABC",
    "a",
    "1e1000",
    "9223372036854775807",
    "9223372036854775808",
    "0x1A",
    "null",
    "true",
    " ",
    "\n",
    "-0",
    "+5",
    "1 2",
    "e5",
    "äx",
};

static void print_value(Arena *a, PhpValue v)
{
    switch (v.type) {
    case PHP_UNKNOWN: printf("?"); break;
    case PHP_NULL: printf("null"); break;
    case PHP_FALSE: printf("false"); break;
    case PHP_TRUE: printf("true"); break;
    case PHP_INT: printf("i%lld", (long long)v.i); break;
    case PHP_FLOAT: {
        unsigned long long bits;
        memcpy(&bits, &v.d, sizeof bits);
        if (v.d != v.d)
            printf("nan");
        else
            printf("f%016llx", bits);
        break;
    }
    default:
        v = phpvalue_to_text(a, v);
        printf("s");
        for (size_t i = 0; i < v.n; i++)
            printf("%02x", (unsigned char)v.s[i]);
    }
}

static PhpValue value_at(size_t i)
{
    switch (i) {
    case 0: return phpvalue_null();
    case 1: return phpvalue_bool(false);
    case 2: return phpvalue_bool(true);
    case 3: return phpvalue_int(0);
    case 4: return phpvalue_int(1);
    case 5: return phpvalue_int(-7);
    case 6: return phpvalue_int(1337);
    case 7: return phpvalue_float(1.5);
    case 8: return phpvalue_float(0);
    case 9: return phpvalue_float(1e20);
    default: return phpvalue_text_z(texts[i - 10]);
    }
}

static void calls(Arena *a, PhpValue v)
{
    static const char *const one[] = {
        "trim",        "strtolower",       "strtoupper", "ucfirst",
        "intval",      "floatval",         "is_numeric", "ctype_digit",
        "ctype_alpha", "htmlspecialchars", "addslashes", "stripslashes",
        "urldecode",   "strrev",           "strlen",     "ord"
    };
    for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
        printf("%s ", one[i]);
        print_value(a, eval_call(a, one[i], &v, 1));
        printf("\n");
    }
    for (int from = -3; from <= 3; from++)
        for (int n = -2; n <= 2; n++) {
            PhpValue args[] = { v, phpvalue_int(from), phpvalue_int(n) };
            printf("substr %d %d ", from, n);
            print_value(a, eval_call(a, "substr", args, 3));
            printf("\n");
        }
}

int main(void)
{
    size_t n = 10 + sizeof texts / sizeof *texts;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            Arena a = { 0 };
            PhpValue x = value_at(i), y = value_at(k);
            printf("%zu %zu %d %d %d", i, k, phpvalue_equal(x, y), phpvalue_same(x, y),
                   phpvalue_compare(x, y));
            PhpValue nx, ny;
            bool plain_x = x.type != PHP_TEXT || phpvalue_numeric(x, &nx);
            bool plain_y = y.type != PHP_TEXT || phpvalue_numeric(y, &ny);
            for (const char *op = "+-*"; *op && plain_x && plain_y; op++) {
                printf(" ");
                print_value(&a, phpvalue_arithmetic(*op, x, y));
            }
            printf(" ");
            print_value(&a, phpvalue_to_int(x));
            printf(" %d\n", phpvalue_truth(x));
            arena_release(&a);
        }
    for (size_t i = 10; i < n; i++) {
        Arena a = { 0 };
        calls(&a, value_at(i));
        arena_release(&a);
    }
    return 0;
}
