/*
 * Values that earlier requests have stored in the database.
 *
 * The driver names them (SUNDEW_STORED, one a line): values that came from a request's parameters
 * and went into a statement. A column that is fetched and has such a value is the input
 * DB[column][value]. It is known by its value, so another row with the same value is taken
 * for it; the driver's next run shows. What goes into a statement as a bound value is told as a sink.
 */
#include "sundew.h"
#include "zend_interfaces.h"

enum { MOST_ROWS = 200, LONGEST = 100 };

static HashTable values;
static bool any, known;

void stored_begin(void)
{
    any = known = false;
}

static void learn(void)
{
    const char *p = getenv("SUNDEW_STORED");
    known = true;
    if (!p || !*p)
        return;
    zend_hash_init(&values, 16, NULL, NULL, 1);
    any = true;
    while (*p) {
        size_t n = strcspn(p, "\n");
        zend_hash_str_add_empty_element(&values, p, n);
        p += n + (p[n] == '\n');
    }
}

static bool is_stored(const zval *v, char *text, size_t *n)
{
    if (Z_TYPE_P(v) == IS_STRING && Z_STRLEN_P(v) <= LONGEST)
        memcpy(text, Z_STRVAL_P(v), *n = Z_STRLEN_P(v));
    else if (Z_TYPE_P(v) == IS_LONG)
        *n = (size_t)snprintf(text, LONGEST, ZEND_LONG_FMT, Z_LVAL_P(v));
    else
        return false;
    return zend_hash_str_exists(&values, text, *n);
}

static void label_column(zval *v, const char *name, size_t n)
{
    char text[LONGEST + 1];
    size_t len;
    if (!is_stored(v, text, &len))
        return;
    zval key, value;
    const Mark *m = mark_root("DB", 2);
    ZVAL_STRINGL(&key, name, n);
    ZVAL_STRINGL(&value, text, len);
    m = m ? mark_element(m, &key) : NULL;
    m = m ? mark_element(m, &value) : NULL;
    if (m)
        label_set(v, mark_node(m));
    zval_ptr_dtor(&key);
    zval_ptr_dtor(&value);
}

static void label_row(HashTable *row, unsigned depth)
{
    zend_string *name;
    zend_ulong index;
    unsigned rows = 0;
    zval *v;
    ZEND_HASH_FOREACH_KEY_VAL(row, index, name, v) {
        char number[32];
        int n = snprintf(number, sizeof number, ZEND_LONG_FMT, (zend_long)index);
        if (Z_TYPE_P(v) == IS_INDIRECT)
            v = Z_INDIRECT_P(v);
        if ((Z_TYPE_P(v) == IS_ARRAY || Z_TYPE_P(v) == IS_OBJECT) && depth == 0 && rows++ < MOST_ROWS)
            stored_fetched(v, 1);
        else
            label_column(v, name ? ZSTR_VAL(name) : number, name ? ZSTR_LEN(name) : (size_t)n);
    } ZEND_HASH_FOREACH_END();
}

void stored_fetched(zval *v, unsigned depth)
{
    if (!known)
        learn();
    if (!any || EG(exception))
        return;
    if (Z_TYPE_P(v) == IS_ARRAY && !(GC_FLAGS(Z_ARRVAL_P(v)) & GC_IMMUTABLE))
        label_row(Z_ARRVAL_P(v), depth);
    else if (Z_TYPE_P(v) == IS_OBJECT && Z_OBJCE_P(v) == zend_standard_class_def)
        label_row(Z_OBJPROP_P(v), 1);
    else if (is_plain(v))
        label_column(v, "value", 5);
}

static void tell_value(zval *v)
{
    ZVAL_DEREF(v);
    Node n = is_plain(v) ? label_of(v) : 0;
    if (!n)
        return;
    struct sundew_web_record r = { .kind = WEB_SINK, .op = SINK_BOUND, .node = n };
    log_here(&r.file, &r.line);
    zend_string *text = zval_get_string(v);
    log_record(&r, ZSTR_VAL(text), ZSTR_LEN(text) < 4096 ? ZSTR_LEN(text) : 4096);
    zend_string_release(text);
}

void stored_bound(zend_execute_data *execute_data)
{
    for (uint32_t i = 0; i < ZEND_NUM_ARGS(); i++) {
        zval *v = ZEND_CALL_ARG(execute_data, i + 1), *each;
        ZVAL_DEREF(v);
        if (Z_TYPE_P(v) != IS_ARRAY) {
            tell_value(v);
            continue;
        }
        ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(v), each) {
            tell_value(each);
        } ZEND_HASH_FOREACH_END();
    }
}

/* ---- foreach over a result */

static struct walked {
    zend_class_entry *ce;
    zend_object_iterator *(*original)(zend_class_entry *, zval *, int);
    const zend_object_iterator_funcs *theirs;
    zend_object_iterator_funcs ours;
} walked[2];

static zval *current(zend_object_iterator *it)
{
    for (size_t i = 0; i < 2; i++)
        if (it->funcs == &walked[i].ours) {
            zval *v = walked[i].theirs->get_current_data(it);
            if (v)
                stored_fetched(v, 1);
            return v;
        }
    return NULL;
}

static zend_object_iterator *walk(zend_class_entry *ce, zval *object, int by_ref)
{
    for (size_t i = 0; i < 2; i++) {
        struct walked *w = &walked[i];
        if (!w->ce || !instanceof_function(ce, w->ce))
            continue;
        zend_object_iterator *it = w->original(ce, object, by_ref);
        if (it && (!w->theirs || w->theirs == it->funcs)) {
            w->theirs = it->funcs;
            w->ours = *it->funcs;
            w->ours.get_current_data = current;
            it->funcs = &w->ours;
        }
        return it;
    }
    return NULL;
}

void stored_walk(const char *class)
{
    zend_class_entry *ce = zend_hash_str_find_ptr(CG(class_table), class, strlen(class));
    struct walked *w = walked[0].ce ? &walked[1] : &walked[0];
    if (!ce || !ce->get_iterator || w->ce)
        return;
    w->ce = ce;
    w->original = ce->get_iterator;
    ce->get_iterator = walk;
}
