/*
 * Opcodes that compute and test.
 *
 * Every handler has the same shape:
 *
 *     no label on an operand          → the engine does it
 *     an operand is not plain         → the engine does it, the label is lost
 *     compute with the engine's own function, label the result, go on
 *
 * A comparison that is fused with the jump behind it needs no care: the jump's
 * opline is still there, reads the labelled result, and logs the branch.
 */
#include "sundew.h"
#include "zend_smart_str.h"

static uint32_t random_state = 1;

static uint32_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

/* Test mode: any plain operand may get a label of its own. The operand's own
 * zval must not be a literal of the code. */
static void label_at_random(zval *v)
{
    if (!v || !is_plain(v) || label_raw(v) || next_random() % 4 ||
        (Z_TYPE_P(v) == IS_STRING &&
         (ZSTR_IS_INTERNED(Z_STR_P(v)) || GC_REFCOUNT(Z_STR_P(v)) > 1)))
        return;
    char name[32];
    int n = snprintf(name, sizeof name, "random %u", next_random() % 5000);
    label_set(v, node_make(WOP_OPAQUE, NULL, 0, name, (size_t)n));
}

bool handler_wanted_in_test(zval *a, zval *b)
{
    if (sundew_mode == MODE_RANDOM) {
        label_at_random(a);
        label_at_random(b);
    }
    return sundew_mode == MODE_FORCE || (a && label_raw(a)) || (b && label_raw(b));
}

int handler_done(zend_execute_data *execute_data, zval *result, bool free1, bool free2)
{
    const zend_op *opline = EX(opline);
    if (EG(exception))
        opline = EG(opline_before_exception);
    channel_header()->handled++;
    if (free1)
        free_operand(execute_data, opline->op1_type, opline->op1);
    if (free2)
        free_operand(execute_data, opline->op2_type, opline->op2);
    if (EG(exception)) {
        if (result)
            zval_ptr_dtor_nogc(result);
        if (opline->result_type & (IS_TMP_VAR | IS_VAR))
            ZVAL_UNDEF(EX_VAR(opline->result.var));
        return ZEND_USER_OPCODE_CONTINUE;
    }
    if (result) {
        if (opline->result_type != IS_UNUSED)
            ZVAL_COPY_VALUE(EX_VAR(opline->result.var), result);
        else
            zval_ptr_dtor_nogc(result);
    }
    EX(opline) = opline + 1;
    return ZEND_USER_OPCODE_CONTINUE;
}

static bool is_number(const zval *v)
{
    if (Z_TYPE_P(v) != IS_STRING)
        return Z_TYPE_P(v) >= IS_NULL && Z_TYPE_P(v) <= IS_DOUBLE;
    return is_numeric_string(Z_STRVAL_P(v), Z_STRLEN_P(v), NULL, NULL, false) != 0;
}

static const struct row {
    zend_uchar opcode;
    enum sundew_web_op op;
    bool numbers;               /* operands must be numbers, or it may throw */
} binaries[] = {
    { ZEND_ADD, WOP_ADD, true }, { ZEND_SUB, WOP_SUB, true }, { ZEND_MUL, WOP_MUL, true },
    { ZEND_DIV, WOP_DIV, true }, { ZEND_MOD, WOP_MOD, true }, { ZEND_POW, WOP_POW, true },
    { ZEND_SL, WOP_SL, true }, { ZEND_SR, WOP_SR, true }, { ZEND_BW_AND, WOP_AND, true },
    { ZEND_BW_OR, WOP_OR, true }, { ZEND_BW_XOR, WOP_XOR, true },
    { ZEND_CONCAT, WOP_CONCAT, false }, { ZEND_FAST_CONCAT, WOP_CONCAT, false },
    { ZEND_IS_EQUAL, WOP_EQ, false }, { ZEND_IS_NOT_EQUAL, WOP_NE, false },
    { ZEND_IS_IDENTICAL, WOP_SAME, false }, { ZEND_IS_NOT_IDENTICAL, WOP_NSAME, false },
    { ZEND_IS_SMALLER, WOP_LT, false }, { ZEND_IS_SMALLER_OR_EQUAL, WOP_LE, false },
    { ZEND_SPACESHIP, WOP_CMP, false }, { ZEND_BOOL_XOR, WOP_BXOR, false },
    { ZEND_CASE, WOP_EQ, false }, { ZEND_CASE_STRICT, WOP_SAME, false },
};
static const struct row *row_of[256];

/* May the engine's function be called without it failing? */
static bool can_compute(const struct row *r, zend_uchar opcode, const zval *a, const zval *b)
{
    if (!is_plain(a) || !is_plain(b))
        return false;
    if (!r->numbers)
        return true;
    if ((opcode == ZEND_BW_AND || opcode == ZEND_BW_OR || opcode == ZEND_BW_XOR) &&
        Z_TYPE_P(a) == IS_STRING && Z_TYPE_P(b) == IS_STRING)
        return false;           /* byte by byte */
    if (!is_number(a) || !is_number(b))
        return false;
    if (opcode == ZEND_DIV)
        return zval_get_double((zval *)b) != 0;
    if (opcode == ZEND_MOD)
        return Z_TYPE_P(a) == IS_LONG && Z_TYPE_P(b) == IS_LONG ? Z_LVAL_P(b) != 0
                                                               : zval_get_long((zval *)b) != 0;
    if (opcode == ZEND_SL || opcode == ZEND_SR)
        return zval_get_long((zval *)b) >= 0;
    return true;
}

/* Strings that only move: the engine's fast ways are exact. */
static void compute(zend_uchar opcode, zval *result, zval *a, zval *b)
{
    switch (opcode) {
    case ZEND_CASE: opcode = ZEND_IS_EQUAL; break;
    case ZEND_CASE_STRICT: opcode = ZEND_IS_IDENTICAL; break;
    case ZEND_FAST_CONCAT: opcode = ZEND_CONCAT; break;
    }
    get_binary_op(opcode)(result, a, b);
}

static int on_binary(zend_execute_data *execute_data)
{
    const zend_op *opline = EX(opline);
    zval *a = OP1(execute_data), *b = OP2(execute_data);
    ZVAL_DEREF(a);
    ZVAL_DEREF(b);
    if (!handler_wanted(opline->op1_type == IS_CONST ? NULL : a,
                        opline->op2_type == IS_CONST ? NULL : b))
        return ZEND_USER_OPCODE_DISPATCH;
    const struct row *r = row_of[opline->opcode];
    if (!can_compute(r, opline->opcode, a, b)) {
        if (Z_TYPE_P(a) == IS_ARRAY || Z_TYPE_P(b) == IS_ARRAY)
            return ZEND_USER_OPCODE_DISPATCH;
        log_lost(label_raw(a) ? label_of(a) : label_of(b), "operator");
        return ZEND_USER_OPCODE_DISPATCH;
    }
    Node na = label_of(a), nb = label_of(b), node = 0;
    if (na || nb)
        node = node_binary(r->op, na ? na : node_constant(a), nb ? nb : node_constant(b));
    zval result;
    ZVAL_UNDEF(&result);
    compute(opline->opcode, &result, a, b);
    if (!EG(exception))
        label_set(&result, node);
    return handler_done(execute_data, &result,
                        opline->opcode != ZEND_CASE && opline->opcode != ZEND_CASE_STRICT, true);
}

/* ---- one operand */

static int on_truth(zend_execute_data *execute_data)        /* BOOL, BOOL_NOT */
{
    const zend_op *opline = EX(opline);
    zval *a = OP1(execute_data);
    ZVAL_DEREF(a);
    if (!handler_wanted(opline->op1_type == IS_CONST ? NULL : a, NULL) || !is_plain(a))
        return ZEND_USER_OPCODE_DISPATCH;
    bool negate = opline->opcode == ZEND_BOOL_NOT;
    Node n = label_of(a);
    zval result;
    ZVAL_BOOL(&result, zend_is_true(a) != negate);
    if (n)
        label_set(&result, node_unary(negate ? WOP_NOT : WOP_BOOL, n));
    return handler_done(execute_data, &result, true, false);
}

/* The jumps are the engine's; what they decided on is ours. */
static int on_jump(zend_execute_data *execute_data)
{
    zval *a = OP1(execute_data);
    ZVAL_DEREF(a);
    if (EX(opline)->op1_type != IS_CONST && handler_wanted(a, NULL) && is_plain(a)) {
        Node n = label_of(a);
        if (n)
            log_branch(n, zend_is_true(a), 0);
    }
    return ZEND_USER_OPCODE_DISPATCH;
}

static int on_cast(zend_execute_data *execute_data)
{
    const zend_op *opline = EX(opline);
    zval *a = OP1(execute_data);
    ZVAL_DEREF(a);
    if (!handler_wanted(opline->op1_type == IS_CONST ? NULL : a, NULL) || !is_plain(a) ||
        Z_TYPE_P(a) == opline->extended_value)
        return ZEND_USER_OPCODE_DISPATCH;
    Node n = label_of(a);
    enum sundew_web_op op;
    zval result;
    switch (opline->extended_value) {
    case IS_LONG: ZVAL_LONG(&result, zval_get_long(a)); op = WOP_INT; break;
    case IS_DOUBLE: ZVAL_DOUBLE(&result, zval_get_double(a)); op = WOP_FLOAT; break;
    case IS_STRING: ZVAL_STR(&result, zval_get_string(a)); op = WOP_STR; break;
    case _IS_BOOL: ZVAL_BOOL(&result, zend_is_true(a)); op = WOP_BOOL; break;
    default: return ZEND_USER_OPCODE_DISPATCH;
    }
    if (n)
        label_set(&result, node_unary(op, n));
    return handler_done(execute_data, &result, true, false);
}

static int on_strlen(zend_execute_data *execute_data)
{
    zval *a = OP1(execute_data);
    ZVAL_DEREF(a);
    if (!handler_wanted(EX(opline)->op1_type == IS_CONST ? NULL : a, NULL) ||
        Z_TYPE_P(a) != IS_STRING)
        return ZEND_USER_OPCODE_DISPATCH;
    Node n = label_of(a);
    zval result;
    ZVAL_LONG(&result, (zend_long)Z_STRLEN_P(a));
    if (n)
        label_set(&result, node_unary(WOP_LENGTH, n));
    return handler_done(execute_data, &result, true, false);
}

static int on_bw_not(zend_execute_data *execute_data)
{
    zval *a = OP1(execute_data);
    ZVAL_DEREF(a);
    if (!handler_wanted(EX(opline)->op1_type == IS_CONST ? NULL : a, NULL) ||
        Z_TYPE_P(a) != IS_LONG)
        return ZEND_USER_OPCODE_DISPATCH;
    Node n = label_of(a);
    zval result;
    ZVAL_LONG(&result, ~Z_LVAL_P(a));
    if (n)
        label_set(&result, node_unary(WOP_BNOT, n));
    return handler_done(execute_data, &result, true, false);
}

/* is_string() and its like: a request parameter may be absent, text or an array. */
static int on_type_check(zend_execute_data *execute_data)
{
    const zend_op *opline = EX(opline);
    zval *a = OP1(execute_data);
    ZVAL_DEREF(a);
    Node n = Z_TYPE_P(a) == IS_ARRAY ? array_node(Z_ARRVAL_P(a)) : label_of(a);
    if (!n && sundew_mode != MODE_FORCE)
        return ZEND_USER_OPCODE_DISPATCH;
    if (!is_plain(a) && Z_TYPE_P(a) != IS_ARRAY)
        return ZEND_USER_OPCODE_DISPATCH;
    zval result;
    ZVAL_BOOL(&result, (opline->extended_value >> Z_TYPE_P(a)) & 1);
    if (node_is_input(n))
        label_set(&result, node_binary(WOP_TYPE, n, node_long(opline->extended_value)));
    return handler_done(execute_data, &result, true, false);
}

/* ---- nothing there? */

static bool default_is_null(const zend_op *coalesce)
{
    const zend_op *next = coalesce + 1;
    return next->opcode == ZEND_QM_ASSIGN && next->op1_type == IS_CONST &&
           Z_TYPE_P(RT_CONSTANT(next, next->op1)) == IS_NULL &&
           next->result.var == coalesce->result.var;
}

/* An absent parameter with null as its default stays the parameter: nothing was
 * decided. Else `??` decides whether the parameter is there. */
static int on_coalesce(zend_execute_data *execute_data)
{
    const zend_op *opline = EX(opline);
    zval *a = OP1(execute_data);
    ZVAL_DEREF(a);
    Node n = Z_TYPE_P(a) == IS_ARRAY ? array_node(Z_ARRVAL_P(a)) : label_of(a);
    if (!node_is_input(n))
        return ZEND_USER_OPCODE_DISPATCH;
    if (Z_TYPE_P(a) != IS_NULL) {
        if (!default_is_null(opline))
            log_branch(node_unary(WOP_ISSET, n), true, 0);
        return ZEND_USER_OPCODE_DISPATCH;
    }
    if (!default_is_null(opline)) {
        log_branch(node_unary(WOP_ISSET, n), false, 0);
        return ZEND_USER_OPCODE_DISPATCH;
    }
    zval copy;
    ZVAL_COPY_VALUE(&copy, a);
    free_operand(execute_data, opline->op1_type, opline->op1);
    ZVAL_COPY_VALUE(EX_VAR(opline->result.var), &copy);
    EX(opline) = OP_JMP_ADDR(opline, opline->op2);
    return ZEND_USER_OPCODE_CONTINUE;
}

/* isset($x), empty($x) */
static int on_isset_cv(zend_execute_data *execute_data)
{
    const zend_op *opline = EX(opline);
    zval *a = EX_VAR(opline->op1.var);
    ZVAL_DEREF(a);
    Node n = Z_TYPE_P(a) == IS_ARRAY ? array_node(Z_ARRVAL_P(a)) : label_of(a);
    bool empty = opline->extended_value & ZEND_ISEMPTY;
    if (!n || (!empty && !node_is_input(n)))
        return ZEND_USER_OPCODE_DISPATCH;
    zval result;
    ZVAL_BOOL(&result, empty ? !zend_is_true(a) : Z_TYPE_P(a) != IS_NULL);
    label_set(&result, node_unary(empty ? WOP_NOT : WOP_ISSET, n));
    return handler_done(execute_data, &result, false, false);
}

/* ---- one of several */

/* Every case before the one that fits was passed by. */
static int on_switch(zend_execute_data *execute_data)
{
    const zend_op *opline = EX(opline);
    zval *a = OP1(execute_data);
    ZVAL_DEREF(a);
    if (!handler_wanted(opline->op1_type == IS_CONST ? NULL : a, NULL))
        return ZEND_USER_OPCODE_DISPATCH;
    Node n = is_plain(a) ? label_of(a) : 0;
    bool strict = opline->opcode == ZEND_MATCH;
    zend_uchar want = opline->opcode == ZEND_SWITCH_LONG ? IS_LONG : IS_STRING;
    if (!n || (!strict && Z_TYPE_P(a) != want))
        return ZEND_USER_OPCODE_DISPATCH;
    zend_string *key;
    zend_ulong index;
    uint32_t sub = 0;
    ZEND_HASH_FOREACH_KEY(Z_ARRVAL_P(RT_CONSTANT(opline, opline->op2)), index, key) {
        bool fits = key ? Z_TYPE_P(a) == IS_STRING && zend_string_equals(key, Z_STR_P(a))
                        : Z_TYPE_P(a) == IS_LONG && (zend_ulong)Z_LVAL_P(a) == index;
        Node c = key ? node_string(ZSTR_VAL(key), ZSTR_LEN(key)) : node_long((zend_long)index);
        log_branch(node_binary(strict ? WOP_SAME : WOP_EQ, n, c), fits, ++sub);
        if (fits)
            break;
    } ZEND_HASH_FOREACH_END();
    return ZEND_USER_OPCODE_DISPATCH;
}

/* in_array() of constants: they are the keys of the literal. */
static int on_in_array(zend_execute_data *execute_data)
{
    const zend_op *opline = EX(opline);
    zval *a = OP1(execute_data);
    ZVAL_DEREF(a);
    if (!handler_wanted(opline->op1_type == IS_CONST ? NULL : a, NULL) || !is_plain(a))
        return ZEND_USER_OPCODE_DISPATCH;
    Node n = label_of(a);
    HashTable *set = Z_ARRVAL_P(RT_CONSTANT(opline, opline->op2));
    if (!n || zend_hash_num_elements(set) > SUNDEW_WEB_MOST_ARGS - 2)
        return ZEND_USER_OPCODE_DISPATCH;
    Node args[SUNDEW_WEB_MOST_ARGS] = { n, node_long(opline->extended_value != 0) };
    unsigned count = 2;
    bool found = false;
    zend_string *key;
    zend_ulong index;
    ZEND_HASH_FOREACH_KEY(set, index, key) {
        zval c;
        if (key)
            ZVAL_STR(&c, key);
        else
            ZVAL_LONG(&c, (zend_long)index);
        args[count++] = node_constant(&c);
        found = found || (opline->extended_value ? zend_is_identical(a, &c)
                                                 : zend_compare(a, &c) == 0);
    } ZEND_HASH_FOREACH_END();
    zval result;
    ZVAL_BOOL(&result, found);
    label_set(&result, node_make(WOP_IN, args, count, "", 0));
    return handler_done(execute_data, &result, true, false);
}

/* ---- changes in place */

/* The variable that an opline changes; NULL: leave it to the engine. */
static zval *variable(zend_execute_data *execute_data, const zend_op *opline)
{
    zval *v = EX_VAR(opline->op1.var);
    if (opline->op1_type == IS_VAR) {
        if (Z_TYPE_P(v) != IS_INDIRECT)
            return NULL;
        v = Z_INDIRECT_P(v);
    }
    if (Z_TYPE_P(v) == IS_REFERENCE) {
        if (ZEND_REF_HAS_TYPE_SOURCES(Z_REF_P(v)))
            return NULL;
        v = Z_REFVAL_P(v);
    }
    return v;
}

static int on_increment(zend_execute_data *execute_data)
{
    const zend_op *opline = EX(opline);
    zval *v = variable(execute_data, opline);
    if (!v || Z_TYPE_P(v) != IS_LONG || !handler_wanted(v, NULL))
        return ZEND_USER_OPCODE_DISPATCH;
    bool up = opline->opcode == ZEND_PRE_INC || opline->opcode == ZEND_POST_INC;
    bool post = opline->opcode == ZEND_POST_INC || opline->opcode == ZEND_POST_DEC;
    if (Z_LVAL_P(v) == (up ? ZEND_LONG_MAX : ZEND_LONG_MIN))
        return ZEND_USER_OPCODE_DISPATCH;
    Node n = label_of(v);
    zval old, now;
    ZVAL_COPY_VALUE(&old, v);
    ZVAL_LONG(&now, Z_LVAL_P(v) + (up ? 1 : -1));
    if (n)
        label_set(&now, node_binary(up ? WOP_ADD : WOP_SUB, n, node_long(1)));
    ZVAL_COPY_VALUE(v, &now);
    zval result;
    ZVAL_COPY_VALUE(&result, post ? &old : &now);
    return handler_done(execute_data, &result, false, false);
}

/* $x op= y. Text grows in place if nobody else has it, as the engine does. */
static int on_assign_op(zend_execute_data *execute_data)
{
    const zend_op *opline = EX(opline);
    zval *v = variable(execute_data, opline), *b = OP2(execute_data);
    if (!v)
        return ZEND_USER_OPCODE_DISPATCH;
    ZVAL_DEREF(b);
    if (!handler_wanted(v, opline->op2_type == IS_CONST ? NULL : b))
        return ZEND_USER_OPCODE_DISPATCH;
    zend_uchar opcode = (zend_uchar)opline->extended_value;
    const struct row *r = row_of[opcode];
    if (!r || !can_compute(r, opcode, v, b) || v == b) {
        label_clear(v);
        return ZEND_USER_OPCODE_DISPATCH;
    }
    Node nv = label_of(v), nb = label_of(b), node = 0;
    if (nv || nb)
        node = node_binary(r->op, nv ? nv : node_constant(v), nb ? nb : node_constant(b));
    if (Z_TYPE_P(v) == IS_STRING && !ZSTR_IS_INTERNED(Z_STR_P(v)) && GC_REFCOUNT(Z_STR_P(v)) == 1)
        label_clear(v);
    compute(opcode, v, v, b);
    zval result;
    ZVAL_UNDEF(&result);
    if (!EG(exception)) {
        if (!label_raw(v))
            label_set(v, node);
        if (opline->result_type != IS_UNUSED)
            ZVAL_COPY(&result, v);
    }
    return handler_done(execute_data, &result, false, true);
}

/* $_POST[k] = …, $_POST[k][l] = …, foreach ($_POST as &$v): a request array that
 * is written to stays known as one. */
static int on_write(zend_execute_data *execute_data)
{
    const zend_op *opline = EX(opline);
    zval *v = opline->op1_type == IS_CV || opline->op1_type == IS_VAR
                  ? variable(execute_data, opline) : NULL;
    if (v && Z_TYPE_P(v) == IS_ARRAY && UNEXPECTED(array_may_be_marked(Z_ARRVAL_P(v))))
        array_follow(v);
    return ZEND_USER_OPCODE_DISPATCH;
}

/* unset($_POST[k]): a key that is missing then is no absent parameter. */
static int on_unset_dim(zend_execute_data *execute_data)
{
    zval *v = variable(execute_data, EX(opline));
    if (v && Z_TYPE_P(v) == IS_ARRAY && UNEXPECTED(Z_ARRVAL_P(v)->u.v._unused2) &&
        GC_REFCOUNT(Z_ARRVAL_P(v)) == 1)
        Z_ARRVAL_P(v)->u.v._unused2 = 0;
    return ZEND_USER_OPCODE_DISPATCH;
}

/* $s[3] = 'x' changes the text where it stands. */
static int on_assign_dim(zend_execute_data *execute_data)
{
    const zend_op *opline = EX(opline);
    on_write(execute_data);
    if (opline->op1_type == IS_CV) {
        zval *v = EX_VAR(opline->op1.var);
        ZVAL_DEREF(v);
        if (Z_TYPE_P(v) == IS_STRING && label_raw(v) && GC_REFCOUNT(Z_STR_P(v)) == 1)
            label_clear(v);
    }
    return ZEND_USER_OPCODE_DISPATCH;
}

/* ---- "text $x text" */

/* Numbers become text here, and their labels must come along. */
static int on_rope_part(zend_execute_data *execute_data)
{
    const zend_op *opline = EX(opline);
    zval *b = OP2(execute_data);
    ZVAL_DEREF(b);
    if (opline->op2_type == IS_CONST || Z_TYPE_P(b) == IS_STRING || !is_plain(b) ||
        !label_raw(b))
        return ZEND_USER_OPCODE_DISPATCH;
    zval text;
    Node n = label_of(b);
    ZVAL_STR(&text, zval_get_string(b));
    if (n)
        label_set(&text, node_unary(WOP_STR, n));
    zend_string **rope;
    if (opline->opcode == ZEND_ROPE_INIT) {
        rope = (zend_string **)EX_VAR(opline->result.var);
        rope[0] = Z_STR(text);
    } else {
        rope = (zend_string **)EX_VAR(opline->op1.var);
        rope[opline->extended_value] = Z_STR(text);
    }
    free_operand(execute_data, opline->op2_type, opline->op2);
    EX(opline) = opline + 1;
    return ZEND_USER_OPCODE_CONTINUE;
}

static Node string_node(zend_string *s)
{
    zval v;
    ZVAL_STR(&v, s);
    return label_or_constant(&v);
}

static int on_rope_end(zend_execute_data *execute_data)
{
    const zend_op *opline = EX(opline);
    zend_string **rope = (zend_string **)EX_VAR(opline->op1.var);
    zval *b = OP2(execute_data);
    ZVAL_DEREF(b);
    uint32_t last = opline->extended_value;
    bool any = opline->op2_type != IS_CONST && handler_wanted(b, NULL);
    for (uint32_t i = 0; i < last; i++)
        any = any || (!ZSTR_IS_INTERNED(rope[i]) && GC_INFO(rope[i]));
    if (!any || !is_plain(b))
        return ZEND_USER_OPCODE_DISPATCH;
    zval end;
    Node n = label_of(b);
    ZVAL_STR(&end, zval_get_string(b));
    if (n && Z_TYPE_P(b) != IS_STRING)
        label_set(&end, node_unary(WOP_STR, n));
    Node node = last ? string_node(rope[0]) : 0;
    smart_str all = {0};
    for (uint32_t i = 0; i < last; i++) {
        smart_str_append(&all, rope[i]);
        if (i)
            node = node_binary(WOP_CONCAT, node, string_node(rope[i]));
    }
    smart_str_append(&all, Z_STR(end));
    node = node_binary(WOP_CONCAT, node, string_node(Z_STR(end)));
    smart_str_0(&all);
    for (uint32_t i = 0; i < last; i++)
        zend_string_release_ex(rope[i], 0);
    zval_ptr_dtor_str(&end);
    zval result;
    if (all.s)
        ZVAL_NEW_STR(&result, all.s);
    else
        ZVAL_EMPTY_STRING(&result);
    if (node && node_op(node) != WOP_CONST)
        label_set(&result, node);
    return handler_done(execute_data, &result, false, true);
}

/* ---- parameters: weak types convert */

/* Text that is handed to an int, float or bool parameter is converted when it
 * is received, and the label would be gone. */
static int on_receive(zend_execute_data *execute_data)
{
    const zend_op *opline = EX(opline);
    zend_op_array *op = &EX(func)->op_array;
    uint32_t number = opline->op1.num;
    if (!op->arg_info || number > EX_NUM_ARGS() || number > op->num_args ||
        ZEND_ARG_USES_STRICT_TYPES())
        return ZEND_USER_OPCODE_DISPATCH;
    zval *v = EX_VAR(opline->result.var);
    if (!label_raw(v) || Z_TYPE_P(v) != IS_STRING)
        return ZEND_USER_OPCODE_DISPATCH;
    uint32_t want = ZEND_TYPE_FULL_MASK(op->arg_info[number - 1].type) & MAY_BE_ANY;
    Node n = label_of(v);
    zend_long l;
    double d;
    zend_uchar is = is_numeric_string(Z_STRVAL_P(v), Z_STRLEN_P(v), &l, &d, false);
    zval now;
    if (!n || ZEND_TYPE_IS_COMPLEX(op->arg_info[number - 1].type))
        return ZEND_USER_OPCODE_DISPATCH;
    want &= ~(uint32_t)MAY_BE_NULL;
    if (want == MAY_BE_LONG && is == IS_LONG)
        ZVAL_LONG(&now, l);
    else if (want == MAY_BE_DOUBLE && is)
        ZVAL_DOUBLE(&now, is == IS_LONG ? (double)l : d);
    else if (want == MAY_BE_BOOL)
        ZVAL_BOOL(&now, zend_is_true(v));
    else
        return ZEND_USER_OPCODE_DISPATCH;
    label_set(&now, node_unary(want == MAY_BE_LONG ? WOP_INT
                               : want == MAY_BE_DOUBLE ? WOP_FLOAT : WOP_BOOL, n));
    zval_ptr_dtor_str(v);
    ZVAL_COPY_VALUE(v, &now);
    return ZEND_USER_OPCODE_DISPATCH;
}

/* ---- the table */

static const struct {
    zend_uchar opcode;
    user_opcode_handler_t handler;
} others[] = {
    { ZEND_BOOL, on_truth }, { ZEND_BOOL_NOT, on_truth },
    { ZEND_JMPZ, on_jump }, { ZEND_JMPNZ, on_jump },
    { ZEND_JMPZ_EX, on_jump }, { ZEND_JMPNZ_EX, on_jump }, { ZEND_JMP_SET, on_jump },
    { ZEND_CAST, on_cast }, { ZEND_STRLEN, on_strlen }, { ZEND_BW_NOT, on_bw_not },
    { ZEND_TYPE_CHECK, on_type_check }, { ZEND_COALESCE, on_coalesce },
    { ZEND_ISSET_ISEMPTY_CV, on_isset_cv },
    { ZEND_SWITCH_LONG, on_switch }, { ZEND_SWITCH_STRING, on_switch },
    { ZEND_MATCH, on_switch }, { ZEND_IN_ARRAY, on_in_array },
    { ZEND_PRE_INC, on_increment }, { ZEND_PRE_DEC, on_increment },
    { ZEND_POST_INC, on_increment }, { ZEND_POST_DEC, on_increment },
    { ZEND_ASSIGN_OP, on_assign_op }, { ZEND_ASSIGN_DIM, on_assign_dim },
    { ZEND_FETCH_DIM_W, on_write }, { ZEND_FETCH_DIM_RW, on_write }, { ZEND_ASSIGN_DIM_OP, on_write },
    { ZEND_FE_RESET_RW, on_write }, { ZEND_UNSET_DIM, on_unset_dim },
    { ZEND_ROPE_INIT, on_rope_part }, { ZEND_ROPE_ADD, on_rope_part },
    { ZEND_ROPE_END, on_rope_end },
    { ZEND_RECV, on_receive }, { ZEND_RECV_INIT, on_receive },
};

void handlers_install(void)
{
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
        row_of[binaries[i].opcode] = &binaries[i];
        zend_set_user_opcode_handler(binaries[i].opcode, on_binary);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        zend_set_user_opcode_handler(others[i].opcode, others[i].handler);
}
