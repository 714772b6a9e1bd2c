/* One request: where labels come from, and what the log says beside branches. */
#include "sundew.h"
#include "SAPI.h"
#include "php_output.h"
#include "zend_observer.h"
#include "zend_vm.h"
#include "zend_exceptions.h"
#include "zend_smart_str.h"
#include <unistd.h>

/* ---- output: who wrote which part of the page */

static size_t (*original_write)(const char *, size_t);
static int (*original_headers)(sapi_headers_struct *);
static bool in_headers;
static bool keeps_output;       /* in our buffer, until the request has ended */
static struct { char *data; size_t len, cap; } page;

enum { MOST_KEPT = 64 << 20 };

static void write_out(const char *s, size_t n)
{
    while (n) {
        ssize_t w = write(STDOUT_FILENO, s, n);
        if (w <= 0)
            return;
        s += w;
        n -= (size_t)w;
    }
}

static void page_flush(void)
{
    write_out(page.data, page.len);
    page.len = 0;
}

static void page_add(const char *s, size_t n)
{
    if (page.len + n > MOST_KEPT)
        page_flush();
    if (page.len + n > page.cap) {
        page.cap = (page.len + n) * 2;
        page.data = realloc(page.data, page.cap);
        if (!page.data)
            _exit(1);
    }
    memcpy(page.data + page.len, s, n);
    page.len += n;
}

static size_t on_write(const char *s, size_t n)
{
    if (!in_headers) {
        struct sundew_web_record r = { .kind = WEB_OUTPUT, .node = (uint32_t)n };
        log_here(&r.file, &r.line);
        log_record(&r, NULL, 0);
    }
    if (!keeps_output)
        return original_write(s, n);
    page_add(s, n);
    return n;
}

static int on_headers(sapi_headers_struct *h)
{
    in_headers = true;
    int r = original_headers ? original_headers(h) : SAPI_HEADER_DO_SEND;
    in_headers = false;
    return r;
}

/* Text that goes into a buffer reaches the page later, and elsewhere. */
static int on_echo(zend_execute_data *execute_data)
{
    if (php_output_get_level() == 0)
        return ZEND_USER_OPCODE_DISPATCH;
    zval *v = OP1(execute_data);
    ZVAL_DEREF(v);
    if (Z_TYPE_P(v) == IS_STRING && Z_STRLEN_P(v) > 0) {
        struct sundew_web_record r = { .kind = WEB_FRAGMENT };
        log_here(&r.file, &r.line);
        size_t n = Z_STRLEN_P(v);
        log_record(&r, Z_STRVAL_P(v), n < SUNDEW_WEB_MOST_TEXT ? n : SUNDEW_WEB_MOST_TEXT);
    }
    return ZEND_USER_OPCODE_DISPATCH;
}

/* ---- messages */

static void add_stack(smart_str *out)
{
    unsigned depth = 0;
    for (zend_execute_data *ex = EG(current_execute_data); ex && depth < 16;
         ex = ex->prev_execute_data) {
        if (!ex->func || !ZEND_USER_CODE(ex->func->type) || !ex->opline)
            continue;
        zend_op_array *op = &ex->func->op_array;
        smart_str_appendc(out, '\n');
        smart_str_appends(out, op->function_name ? ZSTR_VAL(op->function_name) : "{main}");
        smart_str_appendc(out, '\t');
        smart_str_append(out, op->filename);
        smart_str_appendc(out, '\t');
        smart_str_append_long(out, ex->opline->lineno);
        depth++;
    }
}

static void on_error(int type, zend_string *file, uint32_t line, zend_string *message)
{
    struct sundew_web_record r = { .kind = WEB_ERROR, .op = (uint32_t)type, .line = line };
    r.node = !(EG(error_reporting) & (type & E_ALL));
    r.file = log_file(file);
    smart_str text = {0};
    size_t n = ZSTR_LEN(message) < 4096 ? ZSTR_LEN(message) : 4096;
    smart_str_appendl(&text, ZSTR_VAL(message), n);
    smart_str_appendc(&text, '\0');
    add_stack(&text);
    smart_str_0(&text);
    log_record(&r, ZSTR_VAL(text.s), ZSTR_LEN(text.s));
    smart_str_free(&text);
}

static int on_die(zend_execute_data *execute_data)
{
    struct sundew_web_record r = { .kind = WEB_EXIT };
    log_here(&r.file, &r.line);
    log_record(&r, NULL, 0);
    (void)execute_data;
    return ZEND_USER_OPCODE_DISPATCH;
}

static int on_include(zend_execute_data *execute_data)
{
    zval *v = OP1(execute_data);
    ZVAL_DEREF(v);
    Node n = Z_TYPE_P(v) == IS_STRING ? label_of(v) : 0;
    if (n) {
        struct sundew_web_record r = { .kind = WEB_SINK, .node = n };
        r.op = EX(opline)->extended_value == ZEND_EVAL ? SINK_EVAL : SINK_INCLUDE;
        log_here(&r.file, &r.line);
        size_t len = Z_STRLEN_P(v);
        log_record(&r, Z_STRVAL_P(v), len < 4096 ? len : 4096);
    }
    return ZEND_USER_OPCODE_DISPATCH;
}

/* ---- coverage: a statement is told once, then it costs nothing */

static int on_statement(zend_execute_data *execute_data)
{
    zend_op *opline = (zend_op *)EX(opline);
    struct sundew_web_record r = { .kind = WEB_HIT, .line = opline->lineno };
    r.file = log_file(EX(func)->op_array.filename);
    log_record(&r, NULL, 0);
    opline->opcode = ZEND_NOP;
    opline->op1_type = opline->op2_type = opline->result_type = IS_UNUSED;
    zend_vm_set_opcode_handler(opline);
    EX(opline) = opline + 1;
    return ZEND_USER_OPCODE_CONTINUE;
}

static void list_statements(const zend_op_array *op)
{
    uint32_t file = log_file(op->filename);
    for (uint32_t i = 0; i < op->last; i++)
        if (op->opcodes[i].opcode == ZEND_EXT_STMT) {
            struct sundew_web_record r = { .kind = WEB_LINE, .file = file,
                                           .line = op->opcodes[i].lineno };
            log_record(&r, NULL, 0);
        }
    for (uint32_t i = 0; i < op->num_dynamic_func_defs; i++)
        list_statements(op->dynamic_func_defs[i]);
}

static void list_functions(HashTable *table, zend_string *file)
{
    zend_function *f;
    ZEND_HASH_FOREACH_PTR(table, f) {
        if (f->type == ZEND_USER_FUNCTION && zend_string_equals(f->op_array.filename, file))
            list_statements(&f->op_array);
    } ZEND_HASH_FOREACH_END();
}

/* The constants of comparisons: words that the program knows. */
static void list_constants(const zend_op_array *op)
{
    for (int i = 0; i < op->last_literal; i++) {
        const zval *v = &op->literals[i];
        if (Z_TYPE_P(v) == IS_STRING && Z_STRLEN_P(v) > 0 && Z_STRLEN_P(v) <= 40)
            node_constant(v);
        else if (Z_TYPE_P(v) == IS_LONG)
            node_constant(v);
    }
}

/* Compiles one file, tells its statements, runs nothing. */
static void list_file(const char *path)
{
    zend_file_handle handle;
    zend_stream_init_filename(&handle, path);
    zend_op_array *op = zend_compile_file(&handle, ZEND_INCLUDE);
    zend_destroy_file_handle(&handle);
    if (!op)
        return;
    list_statements(op);
    list_constants(op);
    list_functions(CG(function_table), op->filename);
    zend_class_entry *ce;
    ZEND_HASH_FOREACH_PTR(CG(class_table), ce) {
        if (ce->type == ZEND_USER_CLASS)
            list_functions(&ce->function_table, op->filename);
    } ZEND_HASH_FOREACH_END();
}

/* ---- sources */

static const struct { const char *name; int track; } request_arrays[] = {
    { "GET", TRACK_VARS_GET }, { "POST", TRACK_VARS_POST }, { "COOKIE", TRACK_VARS_COOKIE },
    { "FILES", TRACK_VARS_FILES },
};

/* Of $_SERVER, what a client chooses freely. */
static const char *const server_keys[] = {
    "REQUEST_METHOD", "HTTP_REFERER", "HTTP_USER_AGENT", "HTTP_ACCEPT_LANGUAGE",
    "HTTP_X_REQUESTED_WITH", "HTTP_ACCEPT", "HTTP_X_FORWARDED_FOR", "PATH_INFO", NULL
};

static void label_server(void)
{
    zend_string *name = zend_string_init("_SERVER", 7, 0);
    zend_is_auto_global(name);
    zend_string_release(name);
    zval *server = &PG(http_globals)[TRACK_VARS_SERVER];
    if (Z_TYPE_P(server) != IS_ARRAY)
        return;
    for (const char *const *k = server_keys; *k; k++) {
        zval *v = zend_hash_str_find(Z_ARRVAL_P(server), *k, strlen(*k));
        char path[64];
        int n = snprintf(path, sizeof path, "SERVER[%s]", *k);
        if (v && Z_TYPE_P(v) == IS_STRING)
            label_set(v, node_make(WOP_INPUT, NULL, 0, path, (size_t)n));
    }
}

static void label_request(void)
{
    for (size_t i = 0; i < sizeof request_arrays / sizeof *request_arrays; i++) {
        zval *a = &PG(http_globals)[request_arrays[i].track];
        if (Z_TYPE_P(a) == IS_ARRAY)
            array_mark(Z_ARRVAL_P(a), request_arrays[i].name, strlen(request_arrays[i].name), 0);
    }
    zend_string *name = zend_string_init("_REQUEST", 8, 0);
    zend_is_auto_global(name);
    zval *all = zend_hash_find(&EG(symbol_table), name);
    if (all && Z_TYPE_P(all) == IS_ARRAY)
        array_mark(Z_ARRVAL_P(all), "REQUEST", 7, 0);
    zend_string_release(name);
}

/* ---- sessions */

static HashTable *session_table(void)
{
    zval *s = zend_hash_str_find(&EG(symbol_table), "_SESSION", 8);
    if (s && Z_TYPE_P(s) == IS_INDIRECT)
        s = Z_INDIRECT_P(s);
    if (s)
        ZVAL_DEREF(s);
    return s && Z_TYPE_P(s) == IS_ARRAY ? Z_ARRVAL_P(s) : NULL;
}

/* Keys whose values came from the input of an earlier request. */
void request_after_session_start(void)
{
    const char *keys = getenv("SUNDEW_SESSION_KEYS");
    HashTable *t = session_table();
    while (keys && *keys && t) {
        size_t n = strcspn(keys, "\n");
        zval *v = zend_hash_str_find(t, keys, n);
        if (v)
            ZVAL_DEREF(v);
        if (v && is_plain(v) && n < 200) {
            char path[256];
            int len = snprintf(path, sizeof path, "SESSION[%.*s]", (int)n, keys);
            label_set(v, node_make(WOP_INPUT, NULL, 0, path, (size_t)len));
        }
        keys += n + (keys[n] == '\n');
    }
}

void request_before_session_write(void)
{
    HashTable *t = session_table();
    if (!t)
        return;
    zend_string *key;
    zval *v;
    ZEND_HASH_FOREACH_STR_KEY_VAL(t, key, v) {
        ZVAL_DEREF(v);
        Node n = key && is_plain(v) && label_raw(v) ? label_of(v) : 0;
        if (n) {
            struct sundew_web_record r = { .kind = WEB_SESSION, .node = n };
            log_record(&r, ZSTR_VAL(key), ZSTR_LEN(key));
        }
    } ZEND_HASH_FOREACH_END();
}

/* ---- begin and end */

void request_startup(void)
{
    zend_observer_error_register(on_error);
    zend_set_user_opcode_handler(ZEND_ECHO, on_echo);
    zend_set_user_opcode_handler(ZEND_EXIT, on_die);
    zend_set_user_opcode_handler(ZEND_INCLUDE_OR_EVAL, on_include);
    zend_set_user_opcode_handler(ZEND_EXT_STMT, on_statement);
}

void request_begin(void)
{
    if (!original_write) {
        original_write = sapi_module.ub_write;
        original_headers = sapi_module.send_headers;
        sapi_module.ub_write = on_write;
        sapi_module.send_headers = on_headers;
        keeps_output = getenv("SUNDEW_FORKSERVER") != NULL;
    }
    log_begin();
    body_begin();
    stored_begin();
    if (sundew_mode >= MODE_FORCE)
        return;
    CG(compiler_options) |= ZEND_COMPILE_EXTENDED_STMT;
    const char *list = getenv("SUNDEW_WEB_LIST");
    if (list && *list) {
        list_file(list);
        channel_header()->ended = 1;
        _exit(0);
    }
    label_request();
    label_server();
}

void request_end(void)
{
    request_before_session_write();
    channel_header()->ended = 1;
}

/* After everything: the page goes out in one piece, and the process ends
 * without taking the engine down piece by piece. */
int request_after(void)
{
    if (!keeps_output)
        return SUCCESS;
    channel_header()->answered = 1;
    page_flush();
    _exit(EG(exit_status) & 0xff);
}
