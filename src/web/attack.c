/*
 * Hostile values. For each parameter that a script reads, once: a value that
 * is text to a careful program, and breaks what a careless one builds of it.
 *
 *     sundew'"<q7>              SQL and HTML
 *     http://sundew.example/    a redirect that leaves the site
 *     ../../../../etc/passwd    a file to include
 *
 * Only what is seen to happen counts: the query holds the quote as it is and
 * the database complains, the page holds the element as it is, the address
 * is in the Location header, the file is the one that is included.
 */
#include "web/web_int.h"
#include <assert.h>

static const char quote[] = "sundew'\"<q7>";
static const char site[] = "http://sundew.example/";
static const char outside[] = "../../../../../../../../etc/passwd";

bool attack_is_sql_message(const char *text)
{
    static const char *const words[] = {
        "SQLSTATE", "SQL syntax", "syntax error", "unrecognized token", "unterminated",
        "near \"",  NULL
    };
    for (const char *const *w = words; *w; w++)
        if (strstr(text, *w))
            return true;
    return false;
}

/* The database says it in a message, or to a program that asks it for the error. */
static bool complains_of_sql(const Trace *t)
{
    for (size_t i = 0; i < t->sinks.len; i++)
        if (t->sinks.items[i].kind == SINK_SYNTAX && strstr(t->sinks.items[i].text, "sundew'\""))
            return true;
    for (size_t i = 0; i < t->messages.len; i++)
        if (attack_is_sql_message(t->messages.items[i].text))
            return true;
    return false;
}

static void add(Campaign *c, Faults *out, FaultKind kind, const char *path, const char *what,
                const char *file, unsigned line)
{
    char *name = request_name(path);
    char *message = xprintf(what, name);
    judge_add(out, kind, message, judge_relative(c->app, file), line);
    free(message);
    free(name);
}

static void look_at_sinks(Campaign *c, const Reply *r, const char *path, Faults *out)
{
    const Trace *t = r->trace;
    for (size_t i = 0; i < t->sinks.len; i++) {
        const Sink *s = &t->sinks.items[i];
        if (s->kind == SINK_SQL && s->node && memmem(s->text, s->n, "sundew'\"", 8) &&
            complains_of_sql(t)) {
            add(c, out, FAULT_SQL, path, "a quote in %s changes the SQL query", s->file, s->line);
            return;
        }
        if (s->kind == SINK_INCLUDE && s->node && memmem(s->text, s->n, outside, strlen(outside))) {
            add(c, out, FAULT_INCLUDE, path, "%s chooses the file that is included", s->file,
                s->line);
            return;
        }
    }
}

static void look_at_page(Campaign *c, const Reply *r, const char *path, Faults *out)
{
    const char *location = reply_header(r, "Location");
    if (location && str_starts(location, site))
        add(c, out, FAULT_REDIRECT, path, "%s chooses the site that the page redirects to", "", 0);
    const char *at =
        r->body.len && reply_is_html(r) ? memmem(r->body.data, r->body.len, "<q7>", 4) : NULL;
    if (!at)
        return;
    /* A message of the interpreter, which the application shows, is no statement's. */
    const char *file = "";
    unsigned line = 0;
    if (!judge_blame(r, (size_t)(at - r->body.data), &file, &line))
        return;
    add(c, out, FAULT_REFLECTED, path, "%s reaches the page unescaped", file, line);
}

void attack_judge(Campaign *c, const Request *q, const Reply *r, Faults *out)
{
    for (size_t i = 0; i < q->params.len; i++) {
        const char *v = q->params.items[i].text, *path = q->params.items[i].path;
        if (strcmp(v, quote) == 0 || strcmp(v, outside) == 0)
            look_at_sinks(c, r, path, out);
        if (strcmp(v, quote) == 0 || strcmp(v, site) == 0)
            look_at_page(c, r, path, out);
    }
}

static void propose(Campaign *c, const Step *step, const char *path, const char *value)
{
    Request *q = request_copy(step->request);
    const char *rest = str_starts(path, "REQUEST[") ? path + 7 : NULL;
    char *own = rest ? xprintf("%s%s", request_is_post(q) ? "POST" : "GET", rest) : xstrdup(path);
    request_set(q, own, value, strlen(value));
    search_propose(c, CLASS_ATTACK, q, step->start, step->before, (Config){ .attack = true });
    free(own);
}

/* Which values are worth trying: a path only where something is included. */
static bool worth(const Trace *t, const char *path, const char *value, const Reply *r)
{
    if (value == quote)
        return true;
    if (value == site)
        return reply_header(r, "Location") != NULL;
    for (size_t i = 0; i < t->sinks.len; i++)
        if (t->sinks.items[i].kind == SINK_INCLUDE && t->sinks.items[i].node) {
            Strings in = { 0 };
            trace_inputs(t, t->sinks.items[i].node, &in);
            bool is = false;
            for (size_t k = 0; k < in.len; k++)
                is = is || strcmp(in.items[k], path) == 0;
            strings_release(&in);
            if (is)
                return true;
        }
    return false;
}

void attack_propose(Campaign *c, const Step *step, const Reply *r)
{
    static const char *const values[] = { quote, site, outside };
    const Trace *t = r->trace;
    for (size_t i = 1; i < t->nnodes; i++) {
        const TraceNode *n = &t->nodes[i];
        if (n->op != WOP_INPUT || !strchr(n->text, '[') || str_starts(n->text, "SESSION[") ||
            str_starts(n->text, "SERVER[") || str_starts(n->text, "FILES[") ||
            request_value(step->request, n->text).type != PHP_TEXT)
            continue;
        for (size_t k = 0; k < 3; k++) {
            if (!worth(t, n->text, values[k], r))
                continue;
            char *key = xprintf("%s %s %zu %u", step->request->script, n->text, k,
                                t->hits.len ? t->hits.items[t->hits.len - 1].line : 0);
            void **slot = map_slot(&c->attacked, key);
            bool done = *slot != NULL;
            *slot = c;
            free(key);
            if (!done)
                propose(c, step, n->text, values[k]);
        }
    }
}
