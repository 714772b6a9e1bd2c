/*
 * Library functions. Every one is wrapped: its handler is exchanged, and the
 * original is kept in a slot that the engine reserves for extensions. A call
 * without a labelled argument costs a look at its arguments.
 *
 * With a labelled argument the result is the expression CALL name(arguments).
 * The driver knows what many of them mean. Where the result is no plain value
 * (or is not the same for the same arguments), the label is lost, and told.
 * Text that goes to a database, a header, a shell is told as a sink.
 */
#include "sundew.h"
#include "zend_smart_str.h"

enum { MOST_NATIVE_ARGS = 6 };
static int slot;                /* in zend_internal_function.reserved */

static const struct sink {
    const char *name;           /* in lower case; methods as class::method */
    enum sundew_web_sink kind;
    unsigned arg;               /* from 0 */
} sinks[] = {
    { "mysqli_query", SINK_SQL, 1 }, { "mysqli_prepare", SINK_SQL, 1 },
    { "mysqli_multi_query", SINK_SQL, 1 }, { "mysqli_real_query", SINK_SQL, 1 },
    { "mysqli::query", SINK_SQL, 0 }, { "mysqli::prepare", SINK_SQL, 0 },
    { "mysqli::multi_query", SINK_SQL, 0 }, { "mysqli::real_query", SINK_SQL, 0 },
    { "pdo::query", SINK_SQL, 0 }, { "pdo::exec", SINK_SQL, 0 }, { "pdo::prepare", SINK_SQL, 0 },
    { "sqlite3::query", SINK_SQL, 0 }, { "sqlite3::exec", SINK_SQL, 0 },
    { "sqlite3::querysingle", SINK_SQL, 0 }, { "sqlite3::prepare", SINK_SQL, 0 },
    { "header", SINK_HEADER, 0 }, { "setcookie", SINK_HEADER, 1 }, { "setrawcookie", SINK_HEADER, 1 },
    { "exec", SINK_SHELL, 0 }, { "system", SINK_SHELL, 0 }, { "passthru", SINK_SHELL, 0 },
    { "shell_exec", SINK_SHELL, 0 }, { "popen", SINK_SHELL, 0 }, { "proc_open", SINK_SHELL, 0 },
    { "mail", SINK_MAIL, 0 }, { "mb_send_mail", SINK_MAIL, 0 },
    { "copy", SINK_FILE, 0 }, { "rename", SINK_FILE, 0 }, { "opendir", SINK_FILE, 0 },
    { "scandir", SINK_FILE, 0 }, { "mkdir", SINK_FILE, 0 }, { "rmdir", SINK_FILE, 0 },
    { "move_uploaded_file", SINK_FILE, 1 }, { "highlight_file", SINK_FILE, 0 },
    { "show_source", SINK_FILE, 0 }, { "parse_ini_file", SINK_FILE, 0 },
    { "simplexml_load_file", SINK_FILE, 0 },
    { "fopen", SINK_FILE, 0 }, { "file_get_contents", SINK_FILE, 0 }, { "readfile", SINK_FILE, 0 },
    { "file_put_contents", SINK_FILE, 0 }, { "unlink", SINK_FILE, 0 }, { "file", SINK_FILE, 0 },
    { "fsockopen", SINK_NETWORK, 0 }, { "stream_socket_client", SINK_NETWORK, 0 },
    { "curl_init", SINK_NETWORK, 0 },
};

/* These are never called: they are told, and return what "it did not work" is. */
static const char *const stubbed[] = {
    "exec", "system", "passthru", "shell_exec", "popen", "proc_open", "mail", "mb_send_mail",
    "fsockopen", "pfsockopen", "stream_socket_client", "pcntl_exec", "dl", NULL
};

/* Kept beside a wrapped function. */
typedef struct Wrapped {
    zif_handler original;
    const struct sink *sink;
    bool stub, session_start, session_write, output, in_array, makes_array, ini_set;
    bool reads, decodes;        /* perhaps the body of the request */
    bool fetches, binds;        /* what is stored in a database, or will be */
    char name[];
} Wrapped;

static void log_argument(enum sundew_web_sink kind, unsigned arg, zend_execute_data *execute_data)
{
    if (ZEND_NUM_ARGS() <= arg)
        return;
    zval *v = ZEND_CALL_ARG(execute_data, arg + 1);
    ZVAL_DEREF(v);
    if (Z_TYPE_P(v) != IS_STRING)
        return;
    struct sundew_web_record r = { .kind = WEB_SINK, .op = kind, .node = label_of(v) };
    log_here(&r.file, &r.line);
    size_t n = Z_STRLEN_P(v);
    log_record(&r, Z_STRVAL_P(v), n < SUNDEW_WEB_MOST_TEXT ? n : SUNDEW_WEB_MOST_TEXT);
}

/* PHP itself keeps line breaks out of a mail's address and subject, not out of its
 * other headers. */
static void log_sink(const Wrapped *w, zend_execute_data *execute_data)
{
    log_argument(w->sink->kind, w->sink->arg, execute_data);
    if (w->sink->kind == SINK_MAIL)
        log_argument(SINK_MAIL_HEADERS, 3, execute_data);
}

/* The database could not read the statement, and says so to whoever asks. */
static void log_syntax(const Wrapped *w, zend_execute_data *execute_data, zend_string *text)
{
    zval *link = ZEND_NUM_ARGS() && w->sink->arg ? ZEND_CALL_ARG(execute_data, 1) : &EX(This);
    ZVAL_DEREF(link);
    if (Z_TYPE_P(link) != IS_OBJECT || !zend_string_equals_literal_ci(Z_OBJCE_P(link)->name, "mysqli"))
        return;
    zval room, *number = zend_read_property(Z_OBJCE_P(link), Z_OBJ_P(link), "errno", 5, 1, &room);
    if (!number || Z_TYPE_P(number) != IS_LONG || Z_LVAL_P(number) != 1064)
        return;
    struct sundew_web_record r = { .kind = WEB_SINK, .op = SINK_SYNTAX };
    log_here(&r.file, &r.line);
    size_t n = ZSTR_LEN(text);
    log_record(&r, ZSTR_VAL(text), n < SUNDEW_WEB_MOST_TEXT ? n : SUNDEW_WEB_MOST_TEXT);
}

/* The call as a node; 0 if nothing in it has a label. Before the call: the
 * function may change what it is given. */
static Node call_node(const Wrapped *w, zend_execute_data *execute_data, bool *labelled)
{
    Node args[MOST_NATIVE_ARGS];
    uint32_t n = ZEND_NUM_ARGS();
    bool any = false, plain = n <= MOST_NATIVE_ARGS;
    for (uint32_t i = 0; i < n && i < 16; i++) {
        zval *v = ZEND_CALL_ARG(execute_data, i + 1);
        ZVAL_DEREF(v);
        any = any || (is_plain(v) && label_raw(v) && label_of(v));
    }
    *labelled = any;
    if (!any || !plain)
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        zval *v = ZEND_CALL_ARG(execute_data, i + 1);
        ZVAL_DEREF(v);
        args[i] = is_plain(v) ? label_or_constant(v)
                              : node_make(WOP_CONST, NULL, 0, "?", 1);
    }
    return node_make(WOP_CALL, args, n, w->name, strlen(w->name));
}

/* in_array($x, $values): the values are known. */
static Node in_array_node(zend_execute_data *execute_data)
{
    if (ZEND_NUM_ARGS() < 2)
        return 0;
    zval *x = ZEND_CALL_ARG(execute_data, 1), *set = ZEND_CALL_ARG(execute_data, 2);
    ZVAL_DEREF(x);
    ZVAL_DEREF(set);
    if (Z_TYPE_P(set) != IS_ARRAY || !label_of(x) ||
        zend_hash_num_elements(Z_ARRVAL_P(set)) > SUNDEW_WEB_MOST_ARGS - 2)
        return 0;
    bool strict = ZEND_NUM_ARGS() > 2 && zend_is_true(ZEND_CALL_ARG(execute_data, 3));
    Node args[SUNDEW_WEB_MOST_ARGS] = { label_of(x), node_long(strict) };
    unsigned n = 2;
    zval *v;
    ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(set), v) {
        ZVAL_DEREF(v);
        if (!is_plain(v))
            return 0;
        args[n++] = label_or_constant(v);
    } ZEND_HASH_FOREACH_END();
    return node_make(WOP_IN, args, n, "", 0);
}

/* Elements of a returned list (explode, preg_split): CALL name#i. */
static void label_elements(const Wrapped *w, zval *list, Node call)
{
    if ((GC_FLAGS(Z_ARRVAL_P(list)) & GC_IMMUTABLE) || GC_REFCOUNT(Z_ARRVAL_P(list)) > 1 ||
        zend_hash_num_elements(Z_ARRVAL_P(list)) > 64)
        return;
    zend_ulong index;
    zval *v;
    ZEND_HASH_FOREACH_NUM_KEY_VAL(Z_ARRVAL_P(list), index, v) {
        Node args[] = { call, node_long((zend_long)index) };
        if (Z_TYPE_P(v) == IS_STRING && !label_raw(v))
            label_set(v, node_make(WOP_CALL, args, 2, "#element", 8));
    } ZEND_HASH_FOREACH_END();
    (void)w;
}

static bool is_an_argument(zend_execute_data *execute_data, const zval *v)
{
    for (uint32_t i = 0; i < ZEND_NUM_ARGS() && i < MOST_NATIVE_ARGS; i++) {
        zval *a = ZEND_CALL_ARG(execute_data, i + 1);
        ZVAL_DEREF(a);
        if (Z_TYPE_P(a) == IS_STRING && Z_TYPE_P(v) == IS_STRING && Z_STR_P(a) == Z_STR_P(v))
            return true;
    }
    return false;
}

static void label_result(const Wrapped *w, zend_execute_data *execute_data, zval *v, Node call)
{
    if (EG(exception))
        return;
    if (is_plain(v) && Z_TYPE_P(v) != IS_NULL) {
        if (is_an_argument(execute_data, v))
            return;             /* unchanged: the argument's label is the right one */
        label_set(v, call);
        if (call && label_raw(v) == call)
            return;
    } else if (Z_TYPE_P(v) == IS_ARRAY && call) {
        label_elements(w, v, call);
    }
    if (!is_plain(v) || Z_TYPE_P(v) != IS_NULL)
        log_lost(call, w->name);
}

/* Messages of the interpreter are in the log; on the page they would only hide what
 * the program wrote. */
static bool is_display(zend_execute_data *execute_data)
{
    zval *v = ZEND_NUM_ARGS() ? ZEND_CALL_ARG(execute_data, 1) : NULL;
    return v && Z_TYPE_P(v) == IS_STRING &&
           (zend_string_equals_literal(Z_STR_P(v), "display_errors") ||
            zend_string_equals_literal(Z_STR_P(v), "html_errors"));
}

/* The first argument that is a request array; or NULL. */
static const zend_array *request_array(zend_execute_data *execute_data)
{
    for (uint32_t i = 0; i < ZEND_NUM_ARGS() && i < 3; i++) {
        zval *v = ZEND_CALL_ARG(execute_data, i + 1);
        ZVAL_DEREF(v);
        if (Z_TYPE_P(v) == IS_ARRAY && array_node(Z_ARRVAL_P(v)))
            return Z_ARRVAL_P(v);
    }
    return NULL;
}

static void call_wrapped(INTERNAL_FUNCTION_PARAMETERS)
{
    const Wrapped *w = EX(func)->internal_function.reserved[slot];
    if (!w)
        return;
    if (w->sink)
        log_sink(w, execute_data);
    if (w->stub) {
        RETVAL_FALSE;
        return;
    }
    if (w->ini_set && is_display(execute_data)) {
        RETVAL_STRING("0");
        return;
    }
    if (w->session_write)
        request_before_session_write();
    bool labelled = false;
    if (w->binds)
        stored_bound(execute_data);
    bool body = w->reads && body_is_read(execute_data);
    bool json = w->decodes && body_is_decoded(execute_data);
    Node call = w->in_array ? in_array_node(execute_data) : 0;
    if (!call)
        call = call_node(w, execute_data, &labelled);
    else
        labelled = true;
    const zend_array *from = w->makes_array ? request_array(execute_data) : NULL;
    zend_string *sql = NULL;
    if (w->sink && w->sink->kind == SINK_SQL && ZEND_NUM_ARGS() > w->sink->arg) {
        zval *v = ZEND_CALL_ARG(execute_data, w->sink->arg + 1);
        sql = Z_TYPE_P(v) == IS_STRING ? zend_string_copy(Z_STR_P(v)) : NULL;
    }
    w->original(execute_data, return_value);
    if (sql) {
        if (!EG(exception) && Z_TYPE_P(return_value) == IS_FALSE)
            log_syntax(w, execute_data, sql);
        zend_string_release(sql);
    }
    if (from && Z_TYPE_P(return_value) == IS_ARRAY && GC_REFCOUNT(Z_ARRVAL_P(return_value)) == 1)
        array_mark_copy(Z_ARRVAL_P(return_value), from);
    if (w->fetches)
        stored_fetched(return_value, 0);
    if (body && !EG(exception))
        body_was_read(return_value);
    if (json)
        body_was_decoded(return_value);
    else if (labelled)
        label_result(w, execute_data, return_value, call);
    if (w->session_start)
        request_after_session_start();
}

static bool in_list(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

/* Functions that make an array of a request array, with its keys. */
static const char *const array_makers[] = {
    "array_map", "array_filter", "array_merge", "array_replace", "array_change_key_case", NULL
};

static const char *const fetchers[] = {
    "pdostatement::fetch", "pdostatement::fetchall", "pdostatement::fetchcolumn",
    "pdostatement::fetchobject", "sqlite3result::fetcharray", "sqlite3::querysingle",
    "mysqli_result::fetch_array", "mysqli_result::fetch_assoc", "mysqli_result::fetch_row",
    "mysqli_result::fetch_object", "mysqli_result::fetch_all", "mysqli_result::fetch_column",
    "mysqli_fetch_array", "mysqli_fetch_assoc", "mysqli_fetch_row", "mysqli_fetch_object",
    "mysqli_fetch_all", "mysqli_fetch_column", NULL
};
static const char *const binders[] = {
    "pdostatement::execute", "pdostatement::bindvalue", "sqlite3stmt::bindvalue",
    "mysqli_stmt::bind_param", "mysqli_stmt::execute", "mysqli_stmt_bind_param",
    "mysqli_stmt_execute", NULL
};

/* Functions that may give the whole body of the request. */
static const char *const readers[] = {
    "file_get_contents", "stream_get_contents", "fread", "fgets", NULL
};

/* Functions about the caller's own frame must stay as they are. */
static const char *const left_alone[] = {
    "func_get_args", "func_get_arg", "func_num_args", "extract", "compact",
    "get_defined_vars", "debug_backtrace", "debug_print_backtrace",
    "debug_zval_refcount", "array_multisort", "assert", NULL
};

static void wrap(zend_internal_function *f, const char *name, bool sinks_only)
{
    if (f->type != ZEND_INTERNAL_FUNCTION || f->reserved[slot] || in_list(name, left_alone))
        return;
    const struct sink *sink = NULL;
    for (size_t i = 0; i < sizeof sinks / sizeof *sinks; i++)
        if (strcmp(sinks[i].name, name) == 0)
            sink = &sinks[i];
    if (sinks_only && !sink && !in_list(name, fetchers) && !in_list(name, binders))
        return;
    Wrapped *w = pecalloc(1, sizeof *w + strlen(name) + 1, 1);
    strcpy(w->name, name);
    w->original = f->handler;
    w->sink = sink;
    w->stub = sundew_mode == MODE_ON && getenv("SUNDEW_FORKSERVER") && in_list(name, stubbed);
    w->session_start = strcmp(name, "session_start") == 0;
    w->session_write = strcmp(name, "session_write_close") == 0 || strcmp(name, "session_commit") == 0;
    w->ini_set = sundew_mode == MODE_ON && getenv("SUNDEW_FORKSERVER") &&
                 (strcmp(name, "ini_set") == 0 || strcmp(name, "ini_alter") == 0);
    w->makes_array = in_list(name, array_makers);
    w->in_array = strcmp(name, "in_array") == 0;
    w->reads = in_list(name, readers);
    w->fetches = in_list(name, fetchers);
    w->binds = in_list(name, binders);
    w->decodes = strcmp(name, "json_decode") == 0;
    f->reserved[slot] = w;
    f->handler = call_wrapped;
}

static void wrap_class(const char *name)
{
    zend_class_entry *ce = zend_hash_str_find_ptr(CG(class_table), name, strlen(name));
    if (!ce || ce->type != ZEND_INTERNAL_CLASS)
        return;
    zend_string *key;
    zend_internal_function *f;
    ZEND_HASH_FOREACH_STR_KEY_PTR(&ce->function_table, key, f) {
        char full[256];
        snprintf(full, sizeof full, "%s::%s", name, ZSTR_VAL(key));
        wrap(f, full, true);
    } ZEND_HASH_FOREACH_END();
}

void natives_wrap(void)
{
    slot = zend_get_resource_handle("sundew");
    if (slot < 0)
        return;
    zend_string *key;
    zend_internal_function *f;
    ZEND_HASH_FOREACH_STR_KEY_PTR(CG(function_table), key, f) {
        wrap(f, ZSTR_VAL(key), false);
    } ZEND_HASH_FOREACH_END();
    wrap_class("pdo");
    wrap_class("mysqli");
    wrap_class("sqlite3");
    static const char *const results[] = { "pdostatement", "sqlite3stmt", "sqlite3result",
                                           "mysqli_result", "mysqli_stmt", NULL };
    for (const char *const *r = results; *r; r++)
        wrap_class(*r);
    stored_walk("pdostatement");
    stored_walk("mysqli_result");
}
