/*
 * Hostile values. For each parameter that a script reads, once: a value that
 * is text to a careful program, and breaks what a careless one builds of it.
 *
 *     sundew'"<q7>              SQL and HTML
 *     http://sundew.example/    a redirect that leaves the site
 *     ../../../../etc/passwd    a file to include, to read or to write
 *     $(q7)';q7                 a command of the shell
 *     sundew<CR><LF>Bcc: …      one more header of a mail
 *
 * Only what is seen to happen counts: the query holds the quote as it is and
 * the database complains, the page holds the element as it is, the address
 * is in the Location header, the file is the one that is named, the shell would
 * run the command. Nothing of it is done: shell, mail and network are stubs.
 */
#include "web/web_int.h"
#include <assert.h>

static const char quote[] = "sundew'\"<q7>";
static const char site[] = "http://sundew.example/";
static const char outside[] = "../../../../../../../../etc/passwd";
static const char command[] = "$(q7)';q7";
static const char header[] = "sundew\r\nBcc: q7@example.com";

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

static bool holds(const Sink *s, const char *text)
{
    return memmem(s->text, s->n, text, strlen(text)) != NULL;
}

/* Would a shell run q7? Not what is quoted, or escaped. */
static bool shell_runs(const char *text, size_t n)
{
    char quoted = 0;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (c == '\\' && quoted != '\'') {
            i++;
        } else if (quoted ? c == quoted : c == '\'' || c == '"') {
            quoted = quoted ? 0 : c;
        } else if (quoted != '\'' && n - i >= 5 && memcmp(text + i, "$(q7)", 5) == 0) {
            return true;
        } else if (!quoted && n - i >= 3 && memcmp(text + i, ";q7", 3) == 0) {
            return true;
        }
    }
    return false;
}

/* What text of ours did where it went; NULL: nothing. Each says "%s …". */
static const char *harm(const Trace *t, const Sink *s, FaultKind *kind)
{
    switch (s->kind) {
    case SINK_SQL:
        *kind = FAULT_SQL;
        return holds(s, "sundew'\"") && complains_of_sql(t) ? "a quote in %s changes the SQL query"
                                                            : NULL;
    case SINK_INCLUDE:
        *kind = FAULT_INCLUDE;
        return holds(s, outside) ? "%s chooses the file that is included" : NULL;
    case SINK_FILE:
        *kind = str_starts(s->text, site) ? FAULT_NETWORK : FAULT_FILE;
        return str_starts(s->text, site) ? "%s chooses the host that is asked"
               : holds(s, outside)       ? "%s chooses the file that is read or written"
                                         : NULL;
    case SINK_SHELL:
        *kind = FAULT_SHELL;
        return shell_runs(s->text, s->n) ? "%s is run by the shell" : NULL;
    case SINK_EVAL: *kind = FAULT_EVAL; return holds(s, "sundew'\"") ? "%s is run as code" : NULL;
    case SINK_MAIL_HEADERS:
        *kind = FAULT_MAIL;
        return holds(s, header) ? "%s adds headers to a mail" : NULL;
    case SINK_NETWORK:
        *kind = FAULT_NETWORK;
        return holds(s, "sundew.example") ? "%s chooses the host that is asked" : NULL;
    default: return NULL;
    }
}

static void look_at_sinks(Campaign *c, const Reply *r, const char *path, Faults *out)
{
    const Trace *t = r->trace;
    for (size_t i = 0; i < t->sinks.len; i++) {
        const Sink *s = &t->sinks.items[i];
        FaultKind kind;
        const char *what = s->node ? harm(t, s, &kind) : NULL;
        if (what) {
            add(c, out, kind, path, what, s->file, s->line);
            return;
        }
    }
}

static void look_at_page(Campaign *c, const Reply *r, const char *path, Faults *out)
{
    const char *location = reply_header(r, "Location");
    if (location && str_starts(location, site)) {
        const Sink *from = NULL;
        for (size_t i = 0; i < r->trace->sinks.len && !from; i++)
            if (r->trace->sinks.items[i].kind == SINK_HEADER &&
                holds(&r->trace->sinks.items[i], site))
                from = &r->trace->sinks.items[i];
        add(c, out, FAULT_REDIRECT, path, "%s chooses the site that the page redirects to",
            from ? from->file : "", from ? from->line : 0);
    }
    const char *at =
        r->body.len && reply_is_html(r) ? memmem(r->body.data, r->body.len, "<q7>", 4) : NULL;
    if (!at)
        return;
    /* A message of the interpreter, which the application shows, is no statement's. */
    const char *file = "";
    unsigned line = 0;
    if (!c->plan->cgi && !judge_blame(r, (size_t)(at - r->body.data), &file, &line))
        return;
    add(c, out, FAULT_REFLECTED, path, "%s reaches the page unescaped", file, line);
}

void attack_judge(Campaign *c, const Request *q, const Reply *r, Faults *out)
{
    static const char *const ours[] = { quote, site, outside, command, header, NULL };
    for (size_t i = 0; i < q->params.len; i++) {
        const char *v = q->params.items[i].text, *path = q->params.items[i].path;
        if (!str_is_one_of(v, ours))
            continue;
        look_at_sinks(c, r, path, out);
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

/* Does the parameter go to such a place in this run? */
static bool goes_to(const Trace *t, const char *path, enum sundew_web_sink kind)
{
    for (size_t i = 0; i < t->sinks.len; i++) {
        if (t->sinks.items[i].kind != kind || !t->sinks.items[i].node)
            continue;
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

/* Which values are worth trying: a path only where something is opened. */
static bool worth(const Trace *t, const char *path, const char *value, const Reply *r)
{
    if (value == quote)
        return true;
    if (value == site)
        return reply_header(r, "Location") || goes_to(t, path, SINK_NETWORK) ||
               goes_to(t, path, SINK_FILE);
    if (value == outside)
        return goes_to(t, path, SINK_INCLUDE) || goes_to(t, path, SINK_FILE);
    if (value == command)
        return goes_to(t, path, SINK_SHELL);
    return goes_to(t, path, SINK_MAIL_HEADERS);
}

static void propose_once(Campaign *c, const Step *step, const Reply *r, const char *path)
{
    static const char *const values[] = { quote, site, outside, command, header };
    const Trace *t = r->trace;
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        if (!worth(t, path, values[k], r))
            continue;
        char *key = xprintf("%s %s %zu %u", step->request->script, path, k,
                            t->hits.len ? t->hits.items[t->hits.len - 1].line : 0);
        bool first = map_put(&c->attacked, key, c);
        free(key);
        if (first)
            propose(c, step, path, values[k]);
    }
}

void attack_propose(Campaign *c, const Step *step, const Reply *r)
{
    const Trace *t = r->trace;
    for (size_t i = 0; c->plan->cgi && i < step->request->params.len; i++)
        if (!str_starts(step->request->params.items[i].path, "SERVER["))
            propose_once(c, step, r, step->request->params.items[i].path);
    for (size_t i = 1; i < t->nnodes; i++) {
        const TraceNode *n = &t->nodes[i];
        if (n->op != WOP_INPUT || !strchr(n->text, '[') || trace_is_kept(n->text) ||
            str_starts(n->text, "SERVER[") || str_starts(n->text, "FILES[") ||
            request_value(step->request, n->text).type != PHP_TEXT)
            continue;
        propose_once(c, step, r, n->text);
    }
}
