/*
 * The body of a request that is no form: php://input.
 *
 * As text it is the parameter BODY[raw]. What json_decode() makes of it is labelled like a
 * request array: its elements are JSON[user], JSON[ids][0], in arrays and in objects, and what is
 * asked for and not there is a labelled null. A body that is no JSON reads as null: that is the
 * parameter JSON, absent, and so are all elements below it.
 *
 * Objects of the body are known by their address, and held by one more reference. An object has
 * no copy on write: what a program writes into it has no label, and what is there is never
 * called absent.
 */
#include "sundew.h"
#include "SAPI.h"

static Node raw, root;
static HashTable objects;       /* zend_object * → mark */
static bool any_object;

void body_begin(void)
{
    raw = root = 0;
    any_object = false;
    zend_hash_init(&objects, 8, NULL, NULL, 1);
}

/* A form's body is told by its parameters. */
static bool is_form(void)
{
    const char *type = SG(request_info).content_type;
    return type && (strncasecmp(type, "application/x-www-form-urlencoded", 33) == 0 ||
                    strncasecmp(type, "multipart/form-data", 19) == 0);
}

static bool names_the_body(zval *v)
{
    ZVAL_DEREF(v);
    if (Z_TYPE_P(v) == IS_STRING)
        return zend_string_equals_literal_ci(Z_STR_P(v), "php://input");
    if (Z_TYPE_P(v) != IS_RESOURCE)
        return false;
    php_stream *s = zend_fetch_resource2_ex(v, NULL, php_file_le_stream(), php_file_le_pstream());
    return s && s->ops->label && strcmp(s->ops->label, "Input") == 0;
}

bool body_is_read(zend_execute_data *execute_data)
{
    return ZEND_NUM_ARGS() && !is_form() && names_the_body(ZEND_CALL_ARG(execute_data, 1));
}

/* Labelled if it is all of the body. */
void body_was_read(zval *result)
{
    if (Z_TYPE_P(result) != IS_STRING || Z_STRLEN_P(result) != (size_t)SG(read_post_bytes))
        return;
    raw = node_make(WOP_INPUT, NULL, 0, "BODY[raw]", 9);
    label_set(result, raw);
}

bool body_is_decoded(zend_execute_data *execute_data)
{
    zval *v = ZEND_NUM_ARGS() ? ZEND_CALL_ARG(execute_data, 1) : NULL;
    if (v)
        ZVAL_DEREF(v);
    return v && raw && Z_TYPE_P(v) == IS_STRING && label_raw(v) && label_of(v) == raw;
}

static void mark(zval *v, const Mark *m, unsigned depth);

static void mark_below(HashTable *t, const Mark *m, unsigned depth)
{
    zend_string *key;
    zend_ulong index;
    zval *v;
    ZEND_HASH_FOREACH_KEY_VAL(t, index, key, v) {
        zval k;
        if (key)
            ZVAL_STR(&k, key);
        else
            ZVAL_LONG(&k, (zend_long)index);
        if (Z_TYPE_P(v) == IS_INDIRECT)
            v = Z_INDIRECT_P(v);
        mark(v, mark_element(m, &k), depth + 1);
    } ZEND_HASH_FOREACH_END();
}

static void mark(zval *v, const Mark *m, unsigned depth)
{
    if (!m || depth > 8)
        return;
    if (is_plain(v)) {
        label_set(v, mark_node(m));
    } else if (Z_TYPE_P(v) == IS_ARRAY && !(GC_FLAGS(Z_ARRVAL_P(v)) & GC_IMMUTABLE)) {
        mark_below(Z_ARRVAL_P(v), m, depth);
        array_mark_as(Z_ARRVAL_P(v), m);
    } else if (Z_TYPE_P(v) == IS_OBJECT && Z_OBJCE_P(v) == zend_standard_class_def) {
        mark_below(Z_OBJPROP_P(v), m, depth);
        zend_hash_index_update_ptr(&objects, (zend_ulong)(uintptr_t)Z_OBJ_P(v), (void *)m);
        GC_ADDREF(Z_OBJ_P(v));
        any_object = true;
    }
}

void body_was_decoded(zval *result)
{
    bool is = Z_TYPE_P(result) == IS_ARRAY || Z_TYPE_P(result) == IS_OBJECT;
    const Mark *m = mark_root("JSON", 4);
    root = mark_node(m);
    if (is || Z_TYPE_P(result) == IS_NULL)
        mark(result, m, 0);
    log_branch(node_unary(WOP_ISSET, root), is, 7);
}

/* The mark of what a property is read from; NULL: nothing of the body. */
static const Mark *mark_of(const zval *box)
{
    if (Z_TYPE_P(box) == IS_OBJECT)
        return any_object ? zend_hash_index_find_ptr(&objects, (zend_ulong)(uintptr_t)Z_OBJ_P(box))
                          : NULL;
    return Z_TYPE_P(box) == IS_NULL && label_raw(box) ? mark_of_null(box) : NULL;
}

static zval *property(const zval *box, const zval *name)
{
    zval *v = Z_TYPE_P(box) == IS_OBJECT ? zend_hash_find(Z_OBJPROP_P(box), Z_STR_P(name)) : NULL;
    if (v && Z_TYPE_P(v) == IS_INDIRECT)
        v = Z_INDIRECT_P(v);
    if (v)
        ZVAL_DEREF(v);
    return v && Z_TYPE_P(v) != IS_UNDEF ? v : NULL;
}

static int on_fetch(zend_execute_data *execute_data)
{
    const zend_op *opline = EX(opline);
    if (opline->op1_type == IS_UNUSED ||
        (opline->opcode == ZEND_FETCH_OBJ_FUNC_ARG &&
         (!EX(call) || (ZEND_CALL_INFO(EX(call)) & ZEND_CALL_SEND_ARG_BY_REF))))
        return ZEND_USER_OPCODE_DISPATCH;
    zval *box = OP1(execute_data), *name = OP2(execute_data);
    ZVAL_DEREF(box);
    ZVAL_DEREF(name);
    const Mark *m = mark_of(box);
    if (!m || Z_TYPE_P(name) != IS_STRING || property(box, name))
        return ZEND_USER_OPCODE_DISPATCH;
    const Mark *below = mark_element(m, name);
    if (!below)
        return ZEND_USER_OPCODE_DISPATCH;
    if (opline->opcode != ZEND_FETCH_OBJ_IS && Z_TYPE_P(box) == IS_NULL)
        zend_error(E_WARNING, "Attempt to read property \"%s\" on null", Z_STRVAL_P(name));
    else if (opline->opcode != ZEND_FETCH_OBJ_IS)
        zend_error(E_WARNING, "Undefined property: stdClass::$%s", Z_STRVAL_P(name));
    zval result;
    ZVAL_NULL(&result);
    label_set(&result, mark_node(below));
    return handler_done(execute_data, &result, true, true);
}

/* isset($o->p) and empty($o->p) */
static int on_isset(zend_execute_data *execute_data)
{
    const zend_op *opline = EX(opline);
    if (opline->op1_type == IS_UNUSED)
        return ZEND_USER_OPCODE_DISPATCH;
    zval *box = OP1(execute_data), *name = OP2(execute_data);
    ZVAL_DEREF(box);
    ZVAL_DEREF(name);
    const Mark *m = mark_of(box), *below = NULL;
    if (m && Z_TYPE_P(name) == IS_STRING)
        below = mark_element(m, name);
    if (!below)
        return ZEND_USER_OPCODE_DISPATCH;
    zval *v = property(box, name), result;
    bool empty = opline->extended_value & ZEND_ISEMPTY;
    Node n = v && is_plain(v) ? label_of(v) : mark_node(below);
    ZVAL_BOOL(&result, empty ? !v || !zend_is_true(v) : v && Z_TYPE_P(v) != IS_NULL);
    label_set(&result, n ? node_unary(empty ? WOP_NOT : WOP_ISSET, n) : 0);
    return handler_done(execute_data, &result, true, true);
}

void body_install(void)
{
    zend_set_user_opcode_handler(ZEND_FETCH_OBJ_R, on_fetch);
    zend_set_user_opcode_handler(ZEND_FETCH_OBJ_IS, on_fetch);
    zend_set_user_opcode_handler(ZEND_FETCH_OBJ_FUNC_ARG, on_fetch);
    zend_set_user_opcode_handler(ZEND_ISSET_ISEMPTY_PROP_OBJ, on_isset);
}
