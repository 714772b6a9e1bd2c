/* Reading the log of a request; trace.h is the manual. */
#include "web/trace.h"
#include "base/escape.h"
#include <assert.h>
#include <stdio.h>

/* While reading: file names by number. */
typedef struct Reader {
    Trace *t;
    const char *files[4096];
} Reader;

static const char *file_of(const Reader *r, uint32_t id) { return id < 4096 ? r->files[id] : NULL; }

static const char *text_of(Reader *r, const char *from, size_t n)
{
    return arena_strndup(&r->t->arena, from, n);
}

/* With two zeros behind it: a constant's value begins after its first byte. */
static char *bytes_of(Reader *r, const char *from, size_t n)
{
    char *s = arena_array(&r->t->arena, char, n + 2);
    memcpy(s, from, n);
    return s;
}

/* Expressions are walked as trees, by recursion. A request that builds a larger one, by itself
 * or to stop us, has a node of which nothing is known in its place. */
enum { MOST_DEPTH = 1000, MOST_WEIGHT = 20000 };

static bool is_small(const Trace *t, TraceNode *n)
{
    uint64_t depth = 0, weight = 1;
    for (uint32_t i = 0; i < n->nargs; i++) {
        const TraceNode *arg = &t->nodes[n->args[i]];
        depth = arg->depth > depth ? arg->depth : depth;
        weight += arg->weight;
    }
    n->depth = (uint32_t)depth + 1;
    n->weight = (uint32_t)(weight < MOST_WEIGHT ? weight : MOST_WEIGHT);
    return depth < MOST_DEPTH && weight < MOST_WEIGHT;
}

/* An input is named as parameters are, or is the whole body; a constant begins with its type. */
static bool is_named(const TraceNode *n)
{
    if (n->op == WOP_INPUT)
        return strchr(n->text, '[') || strcmp(n->text, "JSON") == 0;
    return n->op != WOP_CONST || n->n > 0;
}

static void read_node(Reader *r, const struct sundew_web_record *rec, const char *body, size_t n)
{
    Trace *t = r->t;
    size_t args = (size_t)rec->node * sizeof(uint32_t);
    if (rec->id != t->nnodes || rec->id >= 1 << 20 || rec->op >= WOP_N ||
        rec->node > SUNDEW_WEB_MOST_ARGS || args + rec->text > n)
        return;
    uint32_t *list = arena_array(&t->arena, uint32_t, rec->node + 4);
    memcpy(list, body, args);
    for (uint32_t i = 0; i < rec->node; i++)
        if (list[i] == 0 || list[i] >= rec->id)
            return;
    if ((t->nnodes & (t->nnodes - 1)) == 0)
        t->nodes = xrealloc(t->nodes, t->nnodes * 2 * sizeof *t->nodes);
    TraceNode node = { rec->op,   rec->node, list, bytes_of(r, body + args, rec->text),
                       rec->text, 0,         0 };
    t->nodes[t->nnodes++] = is_small(t, &node) && is_named(&node) ? node : t->nodes[0];
}

static void read_stack(Reader *r, Message *m, const char *text, const char *end)
{
    TraceFrame frames[16];
    while (text < end && m->nstack < 16) {
        char function[200], file[1000];
        unsigned line;
        if (*text != '\n' ||
            sscanf(text + 1, "%199[^\t\n]\t%999[^\t\n]\t%u", function, file, &line) != 3)
            break;
        frames[m->nstack++] = (TraceFrame){ arena_strdup(&r->t->arena, function),
                                            arena_strdup(&r->t->arena, file), line };
        text = memchr(text + 1, '\n', (size_t)(end - text - 1));
        if (!text)
            break;
    }
    TraceFrame *copy = arena_array(&r->t->arena, TraceFrame, m->nstack + 1);
    memcpy(copy, frames, m->nstack * sizeof *copy);
    m->stack = copy;
}

static void read_error(Reader *r, const struct sundew_web_record *rec, const char *body)
{
    Message m = {
        .type = rec->op, .masked = rec->node, .file = file_of(r, rec->file), .line = rec->line
    };
    size_t n = strnlen(body, rec->text);
    m.text = text_of(r, body, n);
    char *rest = bytes_of(r, body + n, rec->text - n);
    read_stack(r, &m, rest + 1, rest + (rec->text - n));
    vec_push(&r->t->messages, m);
}

static void read_record(Reader *r, const struct sundew_web_record *rec, const char *body, size_t n)
{
    Trace *t = r->t;
    if (rec->kind == WEB_NODE) {
        read_node(r, rec, body, n);
        return;
    }
    if (rec->text > n)
        return;
    const char *file = file_of(r, rec->file);
    TraceLine at = { file, rec->line };
    switch (rec->kind) {
    case WEB_BRANCH:
        if (rec->node && rec->node < t->nnodes)
            vec_push(&t->branches, ((Branch){ rec->id, rec->node, rec->op != 0, file, rec->line }));
        break;
    case WEB_ERROR: read_error(r, rec, body); break;
    case WEB_OUTPUT:
        vec_push(&t->output, ((Written){ file, rec->line, rec->node, NULL, 0 }));
        break;
    case WEB_FRAGMENT:
        vec_push(&t->fragments,
                 ((Written){ file, rec->line, rec->text, bytes_of(r, body, rec->text), 0 }));
        break;
    case WEB_SINK:
        vec_push(&t->sinks, ((Sink){ rec->op, rec->node < t->nnodes ? rec->node : 0, file,
                                     rec->line, bytes_of(r, body, rec->text), rec->text }));
        break;
    case WEB_HIT:
        if (file)
            vec_push(&t->hits, at);
        break;
    case WEB_LINE:
        if (file)
            vec_push(&t->lines, at);
        break;
    case WEB_FILE:
        if (rec->id < 4096)
            r->files[rec->id] = text_of(r, body, rec->text);
        break;
    case WEB_LOST:
        vec_push(&t->lost, ((TraceNamed){ rec->node, text_of(r, body, rec->text) }));
        break;
    case WEB_SESSION:
        if (rec->node && rec->node < t->nnodes)
            vec_push(&t->session, ((TraceNamed){ rec->node, text_of(r, body, rec->text) }));
        break;
    case WEB_EXIT: t->exit = at; break;
    }
}

Trace *trace_read(const void *channel)
{
    const struct sundew_web *h = channel;
    struct sundew_web head = *h;      /* once: the writer may still be alive */
    Trace *t = xcalloc(1, sizeof *t);
    t->nodes = xcalloc(1, sizeof *t->nodes);
    t->nodes[t->nnodes++] =
        (TraceNode){ .op = WOP_OPAQUE, .args = arena_array(&t->arena, uint32_t, 4), .text = "" };
    if (head.magic != SUNDEW_WEB_MAGIC || head.version != SUNDEW_WEB_VERSION || !head.begun)
        return t;
    t->begun = true;
    t->ended = head.ended;
    t->full = head.full;
    t->stale = head.stale;
    t->handled = head.handled;
    const char *log = (const char *)channel + SUNDEW_WEB_HEADER + SUNDEW_WEB_REQUEST;
    size_t len = head.log_len <= SUNDEW_WEB_LOG ? head.log_len : SUNDEW_WEB_LOG;
    Reader *r = xcalloc(1, sizeof *r);
    r->t = t;
    for (size_t at = 0; at + sizeof(struct sundew_web_record) <= len;) {
        struct sundew_web_record rec;
        memcpy(&rec, log + at, sizeof rec);
        if (rec.len < sizeof rec || rec.len % 4 || rec.len > len - at)
            break;
        read_record(r, &rec, log + at + sizeof rec, rec.len - sizeof rec);
        at += rec.len;
    }
    free(r);
    return t;
}

void trace_free(Trace *t)
{
    if (!t)
        return;
    vec_release(&t->branches);
    vec_release(&t->messages);
    vec_release(&t->output);
    vec_release(&t->fragments);
    vec_release(&t->sinks);
    vec_release(&t->hits);
    vec_release(&t->lines);
    vec_release(&t->lost);
    vec_release(&t->session);
    free(t->nodes);
    arena_release(&t->arena);
    free(t);
}

const TraceNode *trace_node(const Trace *t, uint32_t node)
{
    assert(node < t->nnodes);
    return &t->nodes[node];
}

void trace_inputs(const Trace *t, uint32_t node, Strings *out)
{
    const TraceNode *n = trace_node(t, node);
    if (n->op == WOP_INPUT) {
        for (size_t i = 0; i < out->len; i++)
            if (strcmp(out->items[i], n->text) == 0)
                return;
        strings_add(out, n->text);
    }
    for (uint32_t i = 0; i < n->nargs && out->len < 64; i++)
        trace_inputs(t, n->args[i], out);
}

/* ---- as a person reads it */

static const char *const signs[WOP_N] = {
    [WOP_ADD] = "+",     [WOP_SUB] = "-",    [WOP_MUL] = "*", [WOP_DIV] = "/",   [WOP_MOD] = "%",
    [WOP_POW] = "**",    [WOP_SL] = "<<",    [WOP_SR] = ">>", [WOP_AND] = "&",   [WOP_OR] = "|",
    [WOP_XOR] = "^",     [WOP_CONCAT] = ".", [WOP_EQ] = "==", [WOP_NE] = "!=",   [WOP_SAME] = "===",
    [WOP_NSAME] = "!==", [WOP_LT] = "<",     [WOP_LE] = "<=", [WOP_CMP] = "<=>", [WOP_BXOR] = "xor",
};
static const uint32_t opposite[WOP_N] = {
    [WOP_EQ] = WOP_NE,
    [WOP_NE] = WOP_EQ,
    [WOP_SAME] = WOP_NSAME,
    [WOP_NSAME] = WOP_SAME,
};
static const char *const calls[WOP_N] = {
    [WOP_INT] = "(int)",   [WOP_FLOAT] = "(float)", [WOP_STR] = "(string)",
    [WOP_BOOL] = "(bool)", [WOP_ISSET] = "isset",   [WOP_LENGTH] = "strlen",
    [WOP_OFFSET] = "byte", [WOP_BNOT] = "~",        [WOP_IN] = "in_array",
    [WOP_KEY] = "key",     [WOP_TYPE] = "type",     [WOP_OPAQUE] = "unknown",
};

static void print_constant(const TraceNode *n, Str *out)
{
    switch (n->text[0]) {
    case 'N': str_add(out, "null"); return;
    case 'F': str_add(out, "false"); return;
    case 'T': str_add(out, "true"); return;
    case 'S':
        assert(n->n);
        str_addc(out, '"');
        escape_terminal(out, n->text + 1, n->n - 1 < 40 ? n->n - 1 : 40);
        str_add(out, n->n - 1 > 40 ? "…\"" : "\"");
        return;
    default: escape_terminal_z(out, n->text + 1);
    }
}

static void print_node(const Trace *t, uint32_t node, unsigned depth, Str *out)
{
    const TraceNode *n = trace_node(t, node);
    if (depth > 8) {
        str_add(out, "…");
    } else if (n->op == WOP_CONST) {
        print_constant(n, out);
    } else if (n->op == WOP_INPUT) {
        escape_terminal_z(out, n->text);
    } else if (signs[n->op] && n->nargs == 2) {
        const char *open = depth ? "(" : "", *close = depth ? ")" : "";
        str_add(out, open);
        print_node(t, n->args[0], depth + 1, out);
        str_addf(out, " %s ", signs[n->op]);
        print_node(t, n->args[1], depth + 1, out);
        str_add(out, close);
    } else if (n->op == WOP_NOT) {
        str_add(out, "!");
        print_node(t, n->args[0], depth + 1, out);
    } else {
        if (n->op == WOP_CALL)
            escape_terminal_z(out, n->text);
        else
            str_add(out, calls[n->op] ? calls[n->op] : "?");
        str_addc(out, '(');
        for (uint32_t i = 0; i < n->nargs; i++) {
            str_add(out, i ? ", " : "");
            print_node(t, n->args[i], depth + 1, out);
        }
        str_addc(out, ')');
    }
}

void trace_print(const Trace *t, uint32_t node, bool wanted, Str *out)
{
    const TraceNode *n = trace_node(t, node);
    while (n->op == WOP_NOT || n->op == WOP_BOOL) {
        wanted = n->op == WOP_NOT ? !wanted : wanted;
        node = n->args[0];
        n = trace_node(t, node);
    }
    if (wanted) {
        print_node(t, node, 0, out);
    } else if (opposite[n->op]) {
        print_node(t, n->args[0], 1, out);
        str_addf(out, " %s ", signs[opposite[n->op]]);
        print_node(t, n->args[1], 1, out);
    } else if (n->op == WOP_LT || n->op == WOP_LE) {
        print_node(t, n->args[1], 1, out);
        str_add(out, n->op == WOP_LT ? " <= " : " < ");
        print_node(t, n->args[0], 1, out);
    } else {
        str_addc(out, '!');
        print_node(t, node, 1, out);
    }
}

bool trace_is_kept(const char *path)
{
    return str_starts(path, "SESSION[") || str_starts(path, "DB[");
}
