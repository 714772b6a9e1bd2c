/* Expressions under a request; eval.h is the manual. */
#include "web/eval.h"
#include <assert.h>

Value eval_constant(const TraceNode *n)
{
    assert(n->op == WOP_CONST);
    switch (n->text[0]) {
    case 'N': return value_null();
    case 'F': return value_bool(false);
    case 'T': return value_bool(true);
    case 'I': return value_int(strtoll(n->text + 1, NULL, 10));
    case 'D': return value_float(strtod(n->text + 1, NULL));
    case 'S': return value_text(n->text + 1, n->n - 1);
    default: return value_unknown();
    }
}

/* The type's bit in PHP's masks. */
static unsigned type_bit(Value v)
{
    switch (v.type) {
    case VALUE_NULL: return 1u << 1;
    case VALUE_FALSE: return 1u << 2;
    case VALUE_TRUE: return 1u << 3;
    case VALUE_INT: return 1u << 4;
    case VALUE_FLOAT: return 1u << 5;
    case VALUE_TEXT: return 1u << 6;
    case VALUE_ARRAY: return 1u << 7;
    default: return 0;
    }
}

/* As an array key: text that is a decimal integer is that integer. */
static bool same_key(Arena *a, Value x, Value y)
{
    x = value_to_text(a, x);
    y = value_to_text(a, y);
    return value_same(x, y);
}

static Value one_of(Arena *a, const TraceNode *n, const Value *v)
{
    bool key = n->op == WOP_KEY;
    for (uint32_t i = key ? 1 : 2; i < n->nargs; i++) {
        if (!value_is_known(v[i]))
            return value_unknown();
        if (key ? same_key(a, v[0], v[i])
                : value_truth(v[1]) ? value_same(v[0], v[i]) : value_equal(v[0], v[i]))
            return value_bool(true);
    }
    return value_bool(false);
}

static Value bits(uint32_t op, Value x, Value y)
{
    int64_t a = value_to_int(x).i, b = value_to_int(y).i;
    switch (op) {
    case WOP_AND: return value_int(a & b);
    case WOP_OR: return value_int(a | b);
    case WOP_XOR: return value_int(a ^ b);
    case WOP_SL: return b < 0 ? value_unknown() : value_int(b > 63 ? 0 : (int64_t)((uint64_t)a << b));
    case WOP_SR: return b < 0 ? value_unknown() : value_int(b > 63 ? (a < 0 ? -1 : 0) : a >> b);
    default: return value_unknown();
    }
}

static Value two(Arena *a, uint32_t op, Value x, Value y)
{
    switch (op) {
    case WOP_ADD: return value_arithmetic('+', x, y);
    case WOP_SUB: return value_arithmetic('-', x, y);
    case WOP_MUL: return value_arithmetic('*', x, y);
    case WOP_DIV: return value_arithmetic('/', x, y);
    case WOP_MOD: return value_arithmetic('%', x, y);
    case WOP_POW: return value_arithmetic('^', x, y);
    case WOP_CONCAT: return value_concat(a, x, y);
    case WOP_EQ: return value_bool(value_equal(x, y));
    case WOP_NE: return value_bool(!value_equal(x, y));
    case WOP_SAME: return value_bool(value_same(x, y));
    case WOP_NSAME: return value_bool(!value_same(x, y));
    case WOP_LT: return value_bool(value_compare(x, y) < 0);
    case WOP_LE: return value_bool(value_compare(x, y) <= 0);
    case WOP_CMP: return value_int(value_compare(x, y));
    case WOP_BXOR: return value_bool(value_truth(x) != value_truth(y));
    case WOP_TYPE: return value_bool(type_bit(x) & (uint64_t)value_to_int(y).i);
    case WOP_OFFSET: {
        int64_t i = value_to_int(y).i;
        return x.type == VALUE_TEXT && i >= 0 && (size_t)i < x.n ? value_text(x.s + i, 1)
                                                                 : value_unknown();
    }
    default: return bits(op, x, y);
    }
}

static Value one(Arena *a, uint32_t op, Value x)
{
    switch (op) {
    case WOP_NOT: return value_bool(!value_truth(x));
    case WOP_BOOL: return value_bool(value_truth(x));
    case WOP_INT: return value_to_int(x);
    case WOP_FLOAT: return value_to_float(x);
    case WOP_STR: return value_to_text(a, x);
    case WOP_ISSET: return value_bool(x.type != VALUE_NULL);
    case WOP_LENGTH: return x.type == VALUE_TEXT ? value_int((int64_t)x.n) : value_unknown();
    case WOP_BNOT: return value_int(~value_to_int(x).i);
    default: return value_unknown();
    }
}

Value eval_node(Arena *a, const Trace *t, uint32_t node, const Request *r)
{
    const TraceNode *n = trace_node(t, node);
    if (n->op == WOP_CONST)
        return eval_constant(n);
    if (n->op == WOP_INPUT)
        return strncmp(n->text, "SESSION[", 8) == 0 ? value_unknown() : request_value(r, n->text);
    Value v[SUNDEW_WEB_MOST_ARGS];
    assert(n->nargs <= SUNDEW_WEB_MOST_ARGS);
    for (uint32_t i = 0; i < n->nargs; i++)
        v[i] = eval_node(a, t, n->args[i], r);
    if (n->op == WOP_CALL)
        return eval_call(a, n->text, v, n->nargs);
    if (n->nargs == 0 || !value_is_known(v[0]))
        return value_unknown();
    if (n->op == WOP_IN || n->op == WOP_KEY)
        return one_of(a, n, v);
    if (n->nargs == 1)
        return one(a, n->op, v[0]);
    return n->nargs == 2 && value_is_known(v[1]) ? two(a, n->op, v[0], v[1]) : value_unknown();
}
