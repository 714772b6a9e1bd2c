/* Expressions under a request; eval.h is the manual. */
#include "web/eval.h"
#include <assert.h>

PhpValue eval_constant(const TraceNode *n)
{
    assert(n->op == WOP_CONST);
    switch (n->text[0]) {
    case 'N': return phpvalue_null();
    case 'F': return phpvalue_bool(false);
    case 'T': return phpvalue_bool(true);
    case 'I': return phpvalue_int(strtoll(n->text + 1, NULL, 10));
    case 'D': return phpvalue_float(strtod(n->text + 1, NULL));
    case 'S': return phpvalue_text(n->text + 1, n->n - 1);
    default: return phpvalue_unknown();
    }
}

/* The type's bit in PHP's masks. */
static unsigned type_bit(PhpValue v)
{
    switch (v.type) {
    case PHP_NULL: return 1u << 1;
    case PHP_FALSE: return 1u << 2;
    case PHP_TRUE: return 1u << 3;
    case PHP_INT: return 1u << 4;
    case PHP_FLOAT: return 1u << 5;
    case PHP_TEXT: return 1u << 6;
    case PHP_ARRAY: return 1u << 7;
    default: return 0;
    }
}

/* As an array key: text that is a decimal integer is that integer. */
static bool same_key(Arena *a, PhpValue x, PhpValue y)
{
    x = phpvalue_to_text(a, x);
    y = phpvalue_to_text(a, y);
    return phpvalue_same(x, y);
}

static PhpValue one_of(Arena *a, const TraceNode *n, const PhpValue *v)
{
    bool key = n->op == WOP_KEY;
    for (uint32_t i = key ? 1 : 2; i < n->nargs; i++) {
        if (!phpvalue_is_known(v[i]))
            return phpvalue_unknown();
        if (key                    ? same_key(a, v[0], v[i])
            : phpvalue_truth(v[1]) ? phpvalue_same(v[0], v[i])
                                   : phpvalue_equal(v[0], v[i]))
            return phpvalue_bool(true);
    }
    return phpvalue_bool(false);
}

static PhpValue bits(uint32_t op, PhpValue x, PhpValue y)
{
    int64_t a = phpvalue_to_int(x).i, b = phpvalue_to_int(y).i;
    switch (op) {
    case WOP_AND: return phpvalue_int(a & b);
    case WOP_OR: return phpvalue_int(a | b);
    case WOP_XOR: return phpvalue_int(a ^ b);
    case WOP_SL:
        return b < 0 ? phpvalue_unknown() : phpvalue_int(b > 63 ? 0 : (int64_t)((uint64_t)a << b));
    case WOP_SR:
        return b < 0 ? phpvalue_unknown() : phpvalue_int(b > 63 ? (a < 0 ? -1 : 0) : a >> b);
    default: return phpvalue_unknown();
    }
}

static PhpValue two(Arena *a, uint32_t op, PhpValue x, PhpValue y)
{
    switch (op) {
    case WOP_ADD: return phpvalue_arithmetic('+', x, y);
    case WOP_SUB: return phpvalue_arithmetic('-', x, y);
    case WOP_MUL: return phpvalue_arithmetic('*', x, y);
    case WOP_DIV: return phpvalue_arithmetic('/', x, y);
    case WOP_MOD: return phpvalue_arithmetic('%', x, y);
    case WOP_POW: return phpvalue_arithmetic('^', x, y);
    case WOP_CONCAT: return phpvalue_concat(a, x, y);
    case WOP_EQ: return phpvalue_bool(phpvalue_equal(x, y));
    case WOP_NE: return phpvalue_bool(!phpvalue_equal(x, y));
    case WOP_SAME: return phpvalue_bool(phpvalue_same(x, y));
    case WOP_NSAME: return phpvalue_bool(!phpvalue_same(x, y));
    case WOP_LT: return phpvalue_bool(phpvalue_compare(x, y) < 0);
    case WOP_LE: return phpvalue_bool(phpvalue_compare(x, y) <= 0);
    case WOP_CMP: return phpvalue_int(phpvalue_compare(x, y));
    case WOP_BXOR: return phpvalue_bool(phpvalue_truth(x) != phpvalue_truth(y));
    case WOP_TYPE: return phpvalue_bool(type_bit(x) & (uint64_t)phpvalue_to_int(y).i);
    case WOP_OFFSET: {
        int64_t i = phpvalue_to_int(y).i;
        return x.type == PHP_TEXT && i >= 0 && (size_t)i < x.n ? phpvalue_text(x.s + i, 1)
                                                               : phpvalue_unknown();
    }
    default: return bits(op, x, y);
    }
}

static PhpValue one(Arena *a, uint32_t op, PhpValue x)
{
    switch (op) {
    case WOP_NOT: return phpvalue_bool(!phpvalue_truth(x));
    case WOP_BOOL: return phpvalue_bool(phpvalue_truth(x));
    case WOP_INT: return phpvalue_to_int(x);
    case WOP_FLOAT: return phpvalue_to_float(x);
    case WOP_STR: return phpvalue_to_text(a, x);
    case WOP_ISSET: return phpvalue_bool(x.type != PHP_NULL);
    case WOP_LENGTH: return x.type == PHP_TEXT ? phpvalue_int((int64_t)x.n) : phpvalue_unknown();
    case WOP_BNOT: return phpvalue_int(~phpvalue_to_int(x).i);
    default: return phpvalue_unknown();
    }
}

PhpValue eval_node(Arena *a, const Trace *t, uint32_t node, const Request *r)
{
    const TraceNode *n = trace_node(t, node);
    if (n->op == WOP_CONST)
        return eval_constant(n);
    if (n->op == WOP_INPUT)
        return trace_is_kept(n->text) ? phpvalue_unknown() : request_value(r, n->text);
    PhpValue v[SUNDEW_WEB_MOST_ARGS];
    assert(n->nargs <= SUNDEW_WEB_MOST_ARGS);
    for (uint32_t i = 0; i < n->nargs; i++)
        v[i] = eval_node(a, t, n->args[i], r);
    if (n->op == WOP_CALL)
        return eval_call(a, n->text, v, n->nargs);
    if (n->nargs == 0 || !phpvalue_is_known(v[0]))
        return phpvalue_unknown();
    if (n->op == WOP_IN || n->op == WOP_KEY)
        return one_of(a, n, v);
    if (n->nargs == 1)
        return one(a, n->op, v[0]);
    return n->nargs == 2 && phpvalue_is_known(v[1]) ? two(a, n->op, v[0], v[1])
                                                    : phpvalue_unknown();
}
