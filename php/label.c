/* Nodes, labels and the log; sundew.h and log.h are the manuals. */
#include "sundew.h"
#include "zend_smart_str.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* What a node stood for when it was made: a label on any other value is stale. */
typedef struct NodeInfo {
    uint32_t op;
    uint32_t next;              /* in the chain of its hash; 0 ends it */
    uint64_t key;               /* hash of op, args and text */
    uint64_t value;             /* of value_print(); 0: none yet */
} NodeInfo;

enum { MOST_NODES = 1 << 20, BUCKETS = 1 << 14, SITES = 1 << 14, FILES = 1 << 12 };

static char *channel;
static NodeInfo *nodes;
static uint32_t nnodes;
static uint32_t buckets[BUCKETS];
static struct { uint32_t site; uint32_t seen; } sites[SITES];
static struct { zend_string *name; uint32_t id; } files[FILES];
static uint32_t nfiles;
static HashTable arrays;        /* zend_array * → Mark */
static HashTable marks;         /* node → Mark: also of parameters that are absent */
uint64_t array_addresses;
static unsigned ncopies;        /* marks that copies of request arrays have */

void channel_open(void)
{
    const char *where = getenv(SUNDEW_WEB_ENV);
    int fd = -1;
    if (where && *where == '/')
        fd = open(where, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    else if (where && *where)
        fd = atoi(where);
    if (fd >= 0 && *where == '/' && ftruncate(fd, SUNDEW_WEB_SIZE) != 0)
        fd = -1;
    channel = mmap(NULL, SUNDEW_WEB_SIZE, PROT_READ | PROT_WRITE,
                   fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, fd, 0);
    if (channel == MAP_FAILED)
        zend_error_noreturn(E_CORE_ERROR, "sundew: the channel can't be mapped");
    if (fd >= 0)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    nodes = mmap(NULL, MOST_NODES * sizeof *nodes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (nodes == MAP_FAILED)
        zend_error_noreturn(E_CORE_ERROR, "sundew: no memory for expressions");
}

struct sundew_web *channel_header(void) { return (struct sundew_web *)channel; }
char *channel_request(void) { return channel + SUNDEW_WEB_HEADER; }

void log_begin(void)
{
    struct sundew_web *h = channel_header();
    uint32_t request = h->request_len;
    memset(h, 0, sizeof *h);
    h->magic = SUNDEW_WEB_MAGIC;
    h->version = SUNDEW_WEB_VERSION;
    h->request_len = request;
    h->begun = 1;
    nnodes = 1;
    nfiles = 0;
    memset(buckets, 0, sizeof buckets);
    memset(sites, 0, sizeof sites);
    memset(files, 0, sizeof files);
    zend_hash_init(&arrays, 16, NULL, NULL, 1);
    zend_hash_init(&marks, 16, NULL, NULL, 1);
    ncopies = 0;
    array_addresses = 0;
}

void log_record(const struct sundew_web_record *r, const void *text, size_t n)
{
    struct sundew_web *h = channel_header();
    struct sundew_web_record out = *r;
    size_t args = r->kind == WEB_NODE ? r->node * sizeof(Node) : 0;
    size_t size = (sizeof out + n + 3) & ~(size_t)3;
    if (h->full || h->log_len + size > SUNDEW_WEB_LOG) {
        h->full = 1;
        return;
    }
    char *at = channel + SUNDEW_WEB_HEADER + SUNDEW_WEB_REQUEST + h->log_len;
    out.len = (uint32_t)size;
    out.text = (uint32_t)(n - args);
    memcpy(at, &out, sizeof out);
    if (n)
        memcpy(at + sizeof out, text, n);
    h->log_len += (uint32_t)size;
}

/* ---- files and sites */

uint32_t log_file(zend_string *name)
{
    if (!name)
        return 0;
    uint32_t slot = (uint32_t)(zend_string_hash_val(name) % FILES);
    for (unsigned i = 0; i < FILES; i++, slot = (slot + 1) % FILES) {
        if (files[slot].name && zend_string_equals(files[slot].name, name))
            return files[slot].id;
        if (!files[slot].name)
            break;
    }
    if (nfiles + 1 >= FILES)
        return 0;
    files[slot].name = zend_string_copy(name);
    files[slot].id = ++nfiles;
    struct sundew_web_record r = { .kind = WEB_FILE, .id = nfiles };
    log_record(&r, ZSTR_VAL(name), ZSTR_LEN(name));
    return nfiles;
}

/* The innermost PHP code, passing over library functions. */
static zend_execute_data *user_frame(void)
{
    zend_execute_data *ex = EG(current_execute_data);
    while (ex && (!ex->func || !ZEND_USER_CODE(ex->func->type)))
        ex = ex->prev_execute_data;
    return ex;
}

/* … and over functions of the file that runs before each script: what those do,
 * their caller does. */
static zend_execute_data *own_frame(void)
{
    zend_execute_data *ex = user_frame();
    const char *before = PG(auto_prepend_file);
    while (ex && before && *before && ex->prev_execute_data &&
           (!ex->func || !ZEND_USER_CODE(ex->func->type) ||
            strcmp(ZSTR_VAL(ex->func->op_array.filename), before) == 0))
        ex = ex->prev_execute_data;
    return ex && ex->func && ZEND_USER_CODE(ex->func->type) ? ex : user_frame();
}

void log_here(uint32_t *file, uint32_t *line)
{
    zend_execute_data *ex = own_frame();
    *file = ex ? log_file(ex->func->op_array.filename) : 0;
    *line = ex && ex->opline ? ex->opline->lineno : 0;
    if (ex && ex->opline && ex->opline->opcode == ZEND_HANDLE_EXCEPTION && EG(opline_before_exception))
        *line = EG(opline_before_exception)->lineno;
}

/* Stable over runs: file, function and the number of the opline in it. */
static uint32_t site_here(uint32_t sub)
{
    zend_execute_data *ex = user_frame();
    if (!ex)
        return sub;
    zend_op_array *op = &ex->func->op_array;
    uint64_t h = zend_string_hash_val(op->filename);
    if (op->function_name)
        h = h * 31 + zend_string_hash_val(op->function_name);
    h = h * 1000003 + op->line_start;
    h = h * 1000003 + (uint32_t)(ex->opline - op->opcodes);
    h = (h ^ sub) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(h >> 32) | 1;
}

static bool site_has_room(uint32_t site)
{
    uint32_t slot = site % SITES;
    for (unsigned i = 0; i < SITES; i++, slot = (slot + 1) % SITES) {
        if (sites[slot].site == 0)
            sites[slot].site = site;
        if (sites[slot].site == site)
            return sites[slot].seen++ < SUNDEW_WEB_MOST_PER_SITE;
    }
    return false;
}

void log_branch(Node cond, bool taken, uint32_t sub)
{
    channel_header()->branches++;
    uint32_t site = site_here(sub);
    if (!cond || !site_has_room(site))
        return;
    struct sundew_web_record r = { .kind = WEB_BRANCH, .id = site, .op = taken, .node = cond };
    log_here(&r.file, &r.line);
    log_record(&r, NULL, 0);
}

void log_lost(Node n, const char *what)
{
    struct sundew_web_record r = { .kind = WEB_LOST, .node = n };
    log_record(&r, what, strlen(what));
}

/* ---- nodes */

static uint64_t mix(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

Node node_make(enum sundew_web_op op, const Node *args, unsigned n,
               const char *text, size_t len)
{
    ZEND_ASSERT(n <= SUNDEW_WEB_MOST_ARGS);
    if (len > SUNDEW_WEB_MOST_TEXT)
        return 0;
    for (unsigned i = 0; i < n; i++)
        if (!args[i])
            return 0;
    uint64_t key = mix(0xcbf29ce484222325u ^ op, args, n * sizeof *args);
    key = mix(key, text, len);
    uint32_t *slot = &buckets[key % BUCKETS];
    for (uint32_t i = *slot; i; i = nodes[i].next)
        if (nodes[i].key == key && nodes[i].op == op)
            return i;
    if (nnodes + 1 >= MOST_NODES || channel_header()->full)
        return 0;
    static char room[SUNDEW_WEB_MOST_ARGS * sizeof(Node) + SUNDEW_WEB_MOST_TEXT];
    memcpy(room, args, n * sizeof *args);
    memcpy(room + n * sizeof *args, text, len);
    struct sundew_web_record r = { .kind = WEB_NODE, .id = nnodes, .op = op, .node = n };
    log_record(&r, room, n * sizeof *args + len);
    nodes[nnodes] = (NodeInfo){ .op = op, .next = *slot, .key = key };
    *slot = nnodes;
    return nnodes++;
}

Node node_unary(enum sundew_web_op op, Node a) { return node_make(op, &a, 1, "", 0); }

Node node_binary(enum sundew_web_op op, Node a, Node b)
{
    Node args[] = { a, b };
    return node_make(op, args, 2, "", 0);
}

Node node_string(const char *s, size_t n)
{
    if (n + 1 > SUNDEW_WEB_MOST_TEXT)
        return 0;
    static char room[SUNDEW_WEB_MOST_TEXT];
    room[0] = 'S';
    memcpy(room + 1, s, n);
    return node_make(WOP_CONST, NULL, 0, room, n + 1);
}

Node node_long(zend_long v)
{
    char room[32];
    int n = snprintf(room, sizeof room, "I" ZEND_LONG_FMT, v);
    return node_make(WOP_CONST, NULL, 0, room, (size_t)n);
}

Node node_constant(const zval *v)
{
    char room[64];
    switch (Z_TYPE_P(v)) {
    case IS_NULL: return node_make(WOP_CONST, NULL, 0, "N", 1);
    case IS_FALSE: return node_make(WOP_CONST, NULL, 0, "F", 1);
    case IS_TRUE: return node_make(WOP_CONST, NULL, 0, "T", 1);
    case IS_LONG: return node_long(Z_LVAL_P(v));
    case IS_DOUBLE:
        snprintf(room, sizeof room, "D%.17g", Z_DVAL_P(v));
        return node_make(WOP_CONST, NULL, 0, room, strlen(room));
    case IS_STRING: return node_string(Z_STRVAL_P(v), Z_STRLEN_P(v));
    default: return 0;
    }
}

enum sundew_web_op node_op(Node n) { return n && n < nnodes ? nodes[n].op : WOP_NONE; }
bool node_is_input(Node n) { return node_op(n) == WOP_INPUT; }

/* ---- labels */

/* A print of the value: its type and number, or its length and up to 64 bytes.
 * Never 0. */
static uint64_t value_print(const zval *v)
{
    uint64_t h = 0xcbf29ce484222325u ^ Z_TYPE_P(v);
    if (Z_TYPE_P(v) == IS_STRING) {
        size_t n = Z_STRLEN_P(v);
        const char *s = Z_STRVAL_P(v);
        h = mix(h, &n, sizeof n);
        if (n <= 64) {
            h = mix(h, s, n);
        } else {
            h = mix(h, s, 32);
            h = mix(h, s + n - 32, 32);
        }
    } else if (Z_TYPE_P(v) == IS_LONG || Z_TYPE_P(v) == IS_DOUBLE) {
        h = mix(h, &Z_LVAL_P(v), sizeof(zend_long));
    }
    return h | 1;
}

Node label_of(const zval *v)
{
    Node n = label_raw(v);
    if (!n)
        return 0;
    if (n < nnodes && nodes[n].value == value_print(v))
        return n;
    channel_header()->stale++;
    return 0;
}

Node label_or_constant(const zval *v)
{
    if (Z_TYPE_P(v) == IS_ARRAY)
        return array_node(Z_ARRVAL_P(v));
    Node n = label_of(v);
    return n ? n : node_constant(v);
}

void label_clear(zval *v)
{
    if (Z_TYPE_P(v) == IS_STRING) {
        if (!ZSTR_IS_INTERNED(Z_STR_P(v)))
            GC_TYPE_INFO(Z_STR_P(v)) &= (1u << GC_INFO_SHIFT) - 1;
    } else if (Z_TYPE_P(v) <= IS_DOUBLE) {
        v->u1.v.u.extra = 0;
    }
}

void label_set(zval *v, Node n)
{
    if (!n || !is_plain(v))
        return;
    uint64_t print = value_print(v);
    if (nodes[n].value && nodes[n].value != print)
        return;                 /* not a function of its arguments: no label */
    if (Z_TYPE_P(v) != IS_STRING) {
        if (n > 0xffff)
            return;
        nodes[n].value = print;
        v->u1.v.u.extra = (uint16_t)n;
        return;
    }
    if (n >= 1u << 22)
        return;
    zend_string *s = Z_STR_P(v);
    if (ZSTR_IS_INTERNED(s) || GC_REFCOUNT(s) > 1) {
        if (label_raw(v) == n)
            return;
        zend_string *own = zend_string_init(ZSTR_VAL(s), ZSTR_LEN(s), 0);
        zval_ptr_dtor_str(v);
        ZVAL_NEW_STR(v, own);
        s = own;
    }
    nodes[n].value = print;
    GC_TYPE_INFO(s) = (GC_TYPE_INFO(s) & ((1u << GC_INFO_SHIFT) - 1)) | n << GC_INFO_SHIFT;
}

/* ---- request arrays
 *
 * An input is named by its path: GET[page], POST[a][0]. In a key, what could
 * be misread ([ ] % and controls) is %XX. */

struct Mark {
    Node node;
    size_t len;
    char path[];
};

static void path_add_key(smart_str *path, const char *key, size_t n)
{
    smart_str_appendc(path, '[');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)key[i];
        if (c < 0x20 || c == '[' || c == ']' || c == '%') {
            char hex[4];
            snprintf(hex, sizeof hex, "%%%02X", c);
            smart_str_appends(path, hex);
        } else {
            smart_str_appendc(path, (char)c);
        }
    }
    smart_str_appendc(path, ']');
}

static const Mark *copies[256];

static const Mark *marked(const zend_array *a)
{
    if (a->u.v._unused2)
        return a->u.v._unused2 <= ncopies ? copies[a->u.v._unused2] : NULL;
    return !array_may_be_marked(a)
               ? NULL
               : zend_hash_index_find_ptr(&arrays, (zend_ulong)(uintptr_t)a);
}

Node array_node_of(const zend_array *a)
{
    const Mark *m = marked(a);
    return m ? m->node : 0;
}

const Mark *mark_root(const char *path, size_t n)
{
    Node node = node_make(WOP_INPUT, NULL, 0, path, n);
    Mark *m = node ? zend_hash_index_find_ptr(&marks, node) : NULL;
    if (m || !node)
        return m;
    m = pecalloc(1, sizeof *m + n + 1, 1);
    memcpy(m->path, path, n);
    m->len = n;
    m->node = node;
    zend_hash_index_add_new_ptr(&marks, node, m);
    return m;
}

Node mark_node(const Mark *m) { return m->node; }

static const Mark *element_mark(const Mark *m, const char *key, size_t n)
{
    smart_str path = {0};
    smart_str_appendl(&path, m->path, m->len);
    path_add_key(&path, key, n);
    smart_str_0(&path);
    const Mark *below = mark_root(ZSTR_VAL(path.s), ZSTR_LEN(path.s));
    smart_str_free(&path);
    return below;
}

const Mark *mark_element(const Mark *m, const zval *key)
{
    char number[32];
    if (Z_TYPE_P(key) == IS_STRING)
        return element_mark(m, Z_STRVAL_P(key), Z_STRLEN_P(key));
    if (Z_TYPE_P(key) != IS_LONG)
        return NULL;
    int n = snprintf(number, sizeof number, ZEND_LONG_FMT, Z_LVAL_P(key));
    return element_mark(m, number, (size_t)n);
}

const Mark *mark_of_null(const zval *v)
{
    Node n = label_of(v);
    return n && node_is_input(n) ? zend_hash_index_find_ptr(&marks, n) : NULL;
}

Node array_element_node(const zend_array *a, const zval *key)
{
    const Mark *m = marked(a), *below = m ? mark_element(m, key) : NULL;
    return below ? below->node : 0;
}

void array_mark_copy(zend_array *a, const zend_array *from)
{
    const Mark *m = marked(from);
    if (!m || (GC_FLAGS(a) & GC_IMMUTABLE) || marked(a))
        return;
    unsigned i = 1;
    while (i <= ncopies && copies[i] != m)
        i++;
    if (i > 255)
        return;
    copies[i] = m;
    ncopies = i > ncopies ? i : ncopies;
    a->u.v._unused2 = (zend_uchar)i;
}

void array_follow(zval *v)
{
    zend_array *old = Z_ARRVAL_P(v);
    if (!array_node(old) || (GC_FLAGS(old) & GC_IMMUTABLE))
        return;
    if (GC_REFCOUNT(old) == 1)
        return;                 /* a copy already */
    zend_array *own = zend_array_dup(old);
    GC_DELREF(old);
    ZVAL_ARR(v, own);
    array_mark_copy(own, old);
}

void array_mark_as(zend_array *a, const Mark *m)
{
    if ((GC_FLAGS(a) & GC_IMMUTABLE) || marked(a))
        return;
    zend_hash_index_add_new_ptr(&arrays, (zend_ulong)(uintptr_t)a, (void *)m);
    array_addresses |= (uint64_t)1 << ((uintptr_t)a / 56 % 64);
    GC_ADDREF(a);               /* a write separates it, its address stays its own */
}

/* Labels every string below, and knows every array below by its address. */
void array_mark(zend_array *a, const char *path, size_t len, unsigned depth)
{
    const Mark *m = (GC_FLAGS(a) & GC_IMMUTABLE) || depth > 8 || marked(a) ? NULL
                                                                          : mark_root(path, len);
    if (!m)
        return;
    zend_string *key;
    zend_ulong index;
    zval *v;
    ZEND_HASH_FOREACH_KEY_VAL(a, index, key, v) {
        zval k;
        if (key)
            ZVAL_STR(&k, key);
        else
            ZVAL_LONG(&k, (zend_long)index);
        const Mark *below = mark_element(m, &k);
        if (below && Z_TYPE_P(v) == IS_STRING && !label_raw(v))
            label_set(v, below->node);
        else if (below && Z_TYPE_P(v) == IS_ARRAY)
            array_mark(Z_ARRVAL_P(v), below->path, below->len, depth + 1);
    } ZEND_HASH_FOREACH_END();
    array_mark_as(a, m);
}
