/*
 * Opcodes on arrays.
 *
 * Two things matter. A request array tells which parameters the program asks
 * for, also those that are not there: an absent one reads as a labelled null.
 * And a labelled key into any other array is a choice among its keys.
 */
#include "sundew.h"

enum { MOST_KEYS = 24 };

/* The element, or NULL. Keys that are numbers as text are numbers. */
static zval *element(HashTable *a, const zval *key)
{
    zval *v = NULL;
    if (Z_TYPE_P(key) == IS_STRING)
        v = zend_symtable_find(a, Z_STR_P(key));
    else if (Z_TYPE_P(key) == IS_LONG)
        v = zend_hash_index_find(a, (zend_ulong)Z_LVAL_P(key));
    if (v && Z_TYPE_P(v) == IS_INDIRECT)
        v = Z_INDIRECT_P(v);
    if (v && Z_TYPE_P(v) == IS_REFERENCE)
        v = Z_REFVAL_P(v);
    return v && Z_TYPE_P(v) != IS_UNDEF ? v : NULL;
}

static Node key_node(zend_string *key, zend_ulong index)
{
    return key ? node_string(ZSTR_VAL(key), ZSTR_LEN(key)) : node_long((zend_long)index);
}

/* One branch for each key: the one that was read, and those passed by. */
static void log_choice(HashTable *a, Node key, const zval *value)
{
    uint32_t sub = 0;
    zend_string *name;
    zend_ulong index;
    ZEND_HASH_FOREACH_KEY(a, index, name) {
        if (++sub > MOST_KEYS)
            break;
        zval k;
        if (name)
            ZVAL_STR(&k, name);
        else
            ZVAL_LONG(&k, (zend_long)index);
        Node args[] = { key, key_node(name, index) };
        bool is = zend_compare(&k, (zval *)value) == 0;
        log_branch(node_make(WOP_KEY, args, 2, "", 0), is, sub);
    } ZEND_HASH_FOREACH_END();
}

/* The parameter is not there: a labelled null, with the engine's warning. */
static int absent(zend_execute_data *execute_data, const zval *box, const zval *key, Node n,
                  bool quiet)
{
    const zend_op *opline = EX(opline);
    zval result;
    if (Z_TYPE_P(box) == IS_NULL && !quiet && opline->opcode != ZEND_FETCH_LIST_R)
        zend_error(E_WARNING, "Trying to access array offset on value of type null");
    else if (Z_TYPE_P(box) == IS_NULL)
        ;                       /* nothing is said */
    else if (!quiet && Z_TYPE_P(key) == IS_LONG)
        zend_error(E_WARNING, "Undefined array key " ZEND_LONG_FMT, Z_LVAL_P(key));
    else if (!quiet)
        zend_error(E_WARNING, "Undefined array key \"%s\"", Z_STRVAL_P(key));
    ZVAL_NULL(&result);
    label_set(&result, n);
    return handler_done(execute_data, &result, opline->opcode != ZEND_FETCH_LIST_R, true);
}

/* One byte of a labelled text. */
static int fetch_offset(zend_execute_data *execute_data, const zval *text, const zval *at)
{
    Node n = label_of(text);
    if (!n || Z_TYPE_P(at) != IS_LONG || Z_LVAL_P(at) < 0 ||
        (size_t)Z_LVAL_P(at) >= Z_STRLEN_P(text))
        return ZEND_USER_OPCODE_DISPATCH;
    zval result;
    ZVAL_STR(&result, zend_string_init(Z_STRVAL_P(text) + Z_LVAL_P(at), 1, 0));
    label_set(&result, node_binary(WOP_OFFSET, n, label_or_constant(at)));
    return handler_done(execute_data, &result, EX(opline)->opcode != ZEND_FETCH_LIST_R, true);
}

static int on_fetch(zend_execute_data *execute_data)
{
    const zend_op *opline = EX(opline);
    if (opline->opcode == ZEND_FETCH_DIM_FUNC_ARG &&
        (!EX(call) || (ZEND_CALL_INFO(EX(call)) & ZEND_CALL_SEND_ARG_BY_REF)))
        return ZEND_USER_OPCODE_DISPATCH;
    if (opline->op2_type == IS_UNUSED)
        return ZEND_USER_OPCODE_DISPATCH;
    zval *box = OP1(execute_data), *key = OP2(execute_data);
    ZVAL_DEREF(box);
    ZVAL_DEREF(key);
    if (Z_TYPE_P(box) == IS_STRING && label_raw(box))
        return fetch_offset(execute_data, box, key);
    if (Z_TYPE_P(key) != IS_STRING && Z_TYPE_P(key) != IS_LONG)
        return ZEND_USER_OPCODE_DISPATCH;
    if (Z_TYPE_P(box) == IS_NULL && label_raw(box)) {
        const Mark *m = mark_of_null(box), *below = m ? mark_element(m, key) : NULL;
        if (below)
            return absent(execute_data, box, key, mark_node(below),
                          opline->opcode == ZEND_FETCH_DIM_IS);
    }
    if (Z_TYPE_P(box) != IS_ARRAY)
        return ZEND_USER_OPCODE_DISPATCH;
    Node n = array_node(Z_ARRVAL_P(box));
    if (n) {
        Node e = array_element_node(Z_ARRVAL_P(box), key);
        if (e && !element(Z_ARRVAL_P(box), key))
            return absent(execute_data, box, key, e, opline->opcode == ZEND_FETCH_DIM_IS);
        return ZEND_USER_OPCODE_DISPATCH;
    }
    Node k = opline->op2_type == IS_CONST ? 0 : label_of(key);
    if (k)
        log_choice(Z_ARRVAL_P(box), k, key);
    return ZEND_USER_OPCODE_DISPATCH;
}

/* isset($a[k]) and empty($a[k]) */
static int on_isset(zend_execute_data *execute_data)
{
    const zend_op *opline = EX(opline);
    zval *box = OP1(execute_data), *key = OP2(execute_data);
    ZVAL_DEREF(box);
    ZVAL_DEREF(key);
    if (Z_TYPE_P(key) != IS_STRING && Z_TYPE_P(key) != IS_LONG)
        return ZEND_USER_OPCODE_DISPATCH;
    bool empty = opline->extended_value & ZEND_ISEMPTY;
    if (Z_TYPE_P(box) == IS_NULL && label_raw(box)) {
        const Mark *m = mark_of_null(box), *below = m ? mark_element(m, key) : NULL;
        zval result;
        ZVAL_BOOL(&result, empty);
        if (below) {
            label_set(&result, node_unary(empty ? WOP_NOT : WOP_ISSET, mark_node(below)));
            return handler_done(execute_data, &result, true, true);
        }
    }
    if (Z_TYPE_P(box) != IS_ARRAY)
        return ZEND_USER_OPCODE_DISPATCH;
    HashTable *a = Z_ARRVAL_P(box);
    zval *v = element(a, key);
    Node n = array_element_node(a, key), node = 0;
    if (n) {
        node = node_unary(empty ? WOP_NOT : WOP_ISSET, v && label_raw(v) ? label_of(v) : n);
    } else if (v && label_raw(v) && empty) {
        node = node_unary(WOP_NOT, label_of(v));
    } else if (opline->op2_type != IS_CONST && label_raw(key) && !empty &&
               zend_hash_num_elements(a) <= MOST_KEYS) {
        Node args[MOST_KEYS + 1] = { label_of(key) };
        unsigned count = 1;
        zend_string *name;
        zend_ulong index;
        zval *each;
        ZEND_HASH_FOREACH_KEY_VAL(a, index, name, each) {
            if (Z_TYPE_P(each) != IS_NULL)
                args[count++] = key_node(name, index);
        } ZEND_HASH_FOREACH_END();
        node = node_make(WOP_KEY, args, count, "", 0);
    }
    if (!node && sundew_mode != MODE_FORCE)
        return ZEND_USER_OPCODE_DISPATCH;
    if (v && !is_plain(v) && Z_TYPE_P(v) != IS_ARRAY)
        return ZEND_USER_OPCODE_DISPATCH;
    zval result;
    ZVAL_BOOL(&result, empty ? !v || !zend_is_true(v) : v && Z_TYPE_P(v) != IS_NULL);
    label_set(&result, node);
    return handler_done(execute_data, &result, true, true);
}

static int on_key_exists(zend_execute_data *execute_data)
{
    zval *key = OP1(execute_data), *box = OP2(execute_data);
    ZVAL_DEREF(box);
    ZVAL_DEREF(key);
    if (Z_TYPE_P(box) != IS_ARRAY ||
        (Z_TYPE_P(key) != IS_STRING && Z_TYPE_P(key) != IS_LONG))
        return ZEND_USER_OPCODE_DISPATCH;
    Node n = array_element_node(Z_ARRVAL_P(box), key);
    if (!n)
        return ZEND_USER_OPCODE_DISPATCH;
    zval result;
    ZVAL_BOOL(&result, element(Z_ARRVAL_P(box), key) != NULL);
    label_set(&result, node_unary(WOP_ISSET, n));
    return handler_done(execute_data, &result, true, true);
}

void arrays_install(void)
{
    zend_set_user_opcode_handler(ZEND_FETCH_DIM_R, on_fetch);
    zend_set_user_opcode_handler(ZEND_FETCH_DIM_IS, on_fetch);
    zend_set_user_opcode_handler(ZEND_FETCH_DIM_FUNC_ARG, on_fetch);
    zend_set_user_opcode_handler(ZEND_FETCH_LIST_R, on_fetch);
    zend_set_user_opcode_handler(ZEND_ISSET_ISEMPTY_DIM_OBJ, on_isset);
    zend_set_user_opcode_handler(ZEND_ARRAY_KEY_EXISTS, on_key_exists);
}
