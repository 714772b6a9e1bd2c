/*
 * sundew - the PHP extension: labels on values, and a log of what was done
 * with them.
 *
 * A value that came from the request carries a label: the number of an
 * expression (log.h). The label is in the value itself, so moving values needs
 * no work at all:
 *
 *     string   22 spare bits in its header (GC info; strings are never collected)
 *     scalar   16 spare bits in the zval (u1.v.u.extra)
 *     array    request arrays are known by address; each is held by one more
 *              reference, so that a write separates it. What is separated, or made
 *              of one by a function, has a number in a spare byte of its header
 *              (an array that is new has 0 there): its keys that are missing are
 *              parameters that are absent
 *
 * Only opcodes that compute, test or change in place have handlers. A handler
 * looks at the labels, and without any hands back to the engine. With one it
 * does the work itself, with the engine's own functions, if all operands are
 * plain; else the engine does it and the label is lost.
 *
 * Every node remembers the concrete value that it stood for. A label is only
 * believed if the value is still that one: a change in place that no handler
 * saw loses the label, and never leaves a wrong one.
 *
 *     sundew.c    module entry, fork server, settings
 *     label.c     nodes, labels, the log
 *     handlers.c  opcodes that compute and test
 *     arrays.c    opcodes on arrays: request parameters that may be absent
 *     body.c      a body that is no form, JSON
 *     natives.c   library functions
 *     stored.c    values that come back from the database
 *     request.c   sources, output, messages, coverage
 */
#ifndef SUNDEW_PHP_H
#define SUNDEW_PHP_H
#include "php.h"
#include "zend_extensions.h"
#include "log.h"

typedef uint32_t Node;          /* 0: none */

/* How handlers behave; the last two are for tests of the extension. */
typedef enum { MODE_OFF, MODE_ON, MODE_FORCE, MODE_RANDOM } Mode;
extern Mode sundew_mode;

/* ---- label.c */
void channel_open(void);
struct sundew_web *channel_header(void);
char *channel_request(void);
void log_begin(void);                       /* of a request */
/* Appends a record; text may be NULL. */
void log_record(const struct sundew_web_record *r, const void *text, size_t n);
uint32_t log_file(zend_string *name);
void log_here(uint32_t *file, uint32_t *line);      /* what is being executed */

Node node_make(enum sundew_web_op op, const Node *args, unsigned n,
               const char *text, size_t len);
Node node_unary(enum sundew_web_op op, Node a);
Node node_binary(enum sundew_web_op op, Node a, Node b);
Node node_constant(const zval *v);
Node node_long(zend_long v);
Node node_string(const char *s, size_t n);
bool node_is_input(Node n);
enum sundew_web_op node_op(Node n);

static inline uint32_t label_raw(const zval *v)
{
    if (Z_TYPE_P(v) == IS_STRING)
        return ZSTR_IS_INTERNED(Z_STR_P(v)) ? 0 : GC_INFO(Z_STR_P(v));
    return Z_TYPE_P(v) <= IS_DOUBLE ? v->u1.v.u.extra : 0;
}
/* The node of a value, 0 if it has none or has changed since. */
Node label_of(const zval *v);
/* … its node, or the constant that it is. Plain values only. */
Node label_or_constant(const zval *v);
/* The value stands for this node. A shared or interned string is copied. */
void label_set(zval *v, Node n);
void label_clear(zval *v);
void log_branch(Node cond, bool taken, uint32_t sub);
void log_lost(Node n, const char *what);

static inline bool is_plain(const zval *v)
{
    return Z_TYPE_P(v) >= IS_NULL && Z_TYPE_P(v) <= IS_STRING;
}

/* Request arrays. */
void array_mark(zend_array *a, const char *path, size_t len, unsigned depth);
/* Most arrays are no request arrays: one bit for each address that may be. */
extern uint64_t array_addresses;
static inline bool array_may_be_marked(const zend_array *a)
{
    return (array_addresses >> ((uintptr_t)a / 56 % 64) & 1) || a->u.v._unused2;
}
Node array_node_of(const zend_array *a);
static inline Node array_node(const zend_array *a)   /* 0: no request array */
{
    return UNEXPECTED(array_may_be_marked(a)) ? array_node_of(a) : 0;
}
/* What an array or object of the request is called: "GET[a]", "JSON[user]". Marks stay until
 * the request ends. */
typedef struct Mark Mark;
const Mark *mark_root(const char *path, size_t n);
const Mark *mark_element(const Mark *m, const zval *key);    /* NULL: no such key can be */
Node mark_node(const Mark *m);
/* The labelled null is a parameter that is absent: so is what would be in it. NULL: it is not. */
const Mark *mark_of_null(const zval *v);
void array_mark_as(zend_array *a, const Mark *m);
/* The array was made of a request array, or of a copy of one. */
void array_mark_copy(zend_array *a, const zend_array *from);
/* The variable is about to be written to: if it is a request array it becomes a
 * copy of its own that is known as one. */
void array_follow(zval *v);
/* The node of a request array's element, present or not; 0 as above. */
Node array_element_node(const zend_array *a, const zval *key);

/* ---- the others */
void handlers_install(void);
void arrays_install(void);
void body_install(void);
void body_begin(void);
bool body_is_read(zend_execute_data *execute_data);      /* before the function: it asks for the body */
void body_was_read(zval *result);
bool body_is_decoded(zend_execute_data *execute_data);
void body_was_decoded(zval *result);
void natives_wrap(void);
void stored_begin(void);
void stored_fetched(zval *row, unsigned depth);          /* depth 0: perhaps of rows */
void stored_bound(zend_execute_data *execute_data);
void stored_walk(const char *class);
void request_startup(void);             /* once per process */
void request_begin(void);
void request_end(void);
int request_after(void);                /* the process ends here, if it was forked */
void request_after_session_start(void);
void request_before_session_write(void);
void fragment_written(const char *text, size_t n);

/* An operand of the opline; CVs may be undefined. */
static inline zval *operand(zend_execute_data *execute_data, const zend_op *opline,
                            int type, znode_op node)
{
    if (type == IS_CONST)
        return RT_CONSTANT(opline, node);
    return EX_VAR(node.var);
}
#define OP1(ex) operand(ex, (ex)->opline, (ex)->opline->op1_type, (ex)->opline->op1)
#define OP2(ex) operand(ex, (ex)->opline, (ex)->opline->op2_type, (ex)->opline->op2)

static inline void free_operand(zend_execute_data *execute_data, int type, znode_op node)
{
    if (type & (IS_TMP_VAR | IS_VAR))
        zval_ptr_dtor_nogc(EX_VAR(node.var));
}

/* The result of an opline that this handler did itself; then the next one. */
int handler_done(zend_execute_data *ex, zval *result, bool free1, bool free2);
/* Has the handler work to do? In the test modes it may make some. */
bool handler_wanted_in_test(zval *a, zval *b);
static inline bool handler_wanted(zval *a, zval *b)
{
    if (EXPECTED(sundew_mode == MODE_ON))
        return (a && label_raw(a)) || (b && label_raw(b));
    return handler_wanted_in_test(a, b);
}
#endif
