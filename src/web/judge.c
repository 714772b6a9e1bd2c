/* Faults of a reply; judge.h is the manual. */
#include "web/judge.h"
#include "base/file.h"
#include <assert.h>
#include <ctype.h>
#include <stdio.h>

const char *fault_kind_name(FaultKind k)
{
    static const char *const names[FAULT_NKINDS] = {
        "crash", "warning",   "deprecated", "hang",     "html-error", "html-warning",
        "sql",   "reflected", "include",    "redirect", "file",       "shell",
        "eval",  "mail",      "network",    "access"
    };
    assert(k < FAULT_NKINDS);
    return names[k];
}

const char *judge_relative(const char *app, const char *file)
{
    size_t n = strlen(app);
    if (file && strncmp(file, app, n) == 0 && file[n] == '/')
        return file + n + 1;
    return file ? file : "";
}

Fault *judge_add(Faults *out, FaultKind kind, const char *message, const char *file, unsigned line)
{
    Fault *f = vec_grow(out);
    f->kind = kind;
    f->message = xstrdup(message);
    f->file = xstrdup(file ? file : "");
    f->line = line;
    f->exit = xstrdup("");
    return f;
}

void fault_release(Fault *f)
{
    free(f->message);
    free(f->file);
    free(f->exit);
    strings_release(&f->stack);
}

void faults_release(Faults *f)
{
    for (size_t i = 0; i < f->len; i++)
        fault_release(&f->items[i]);
    free(f->items);
    *f = (Faults){ 0 };
}

void fault_copy(Fault *to, const Fault *from)
{
    *to = (Fault){ .kind = from->kind,
                   .message = xstrdup(from->message),
                   .file = xstrdup(from->file),
                   .line = from->line,
                   .exit = xstrdup(from->exit) };
    for (size_t i = 0; i < from->stack.len; i++)
        strings_add(&to->stack, from->stack.items[i]);
}

/* Quoted values and numbers of a message vary with the input: they are no part
 * of the fault, the place is. */
static void add_pattern(Str *out, const char *message)
{
    for (const char *p = message; *p; p++) {
        /* "…, null given": what was given is the input's. */
        const char *given = *p == ',' ? strstr(p, " given") : NULL;
        if (given && given - p < 40)
            p = given;
        if (*p == '"' || *p == '\'') {
            const char *end = strchr(p + 1, *p);
            if (end && end - p < 200) {
                str_add(out, "\"\"");
                p = end;
                continue;
            }
        }
        str_addc(out, isdigit((unsigned char)*p) ? '0' : *p);
    }
}

char *fault_key(const Fault *f)
{
    Str s = { 0 };
    str_addf(&s, "%s|%s|%u|%s|", fault_kind_name(f->kind), f->file, f->line, f->exit);
    if (f->kind != FAULT_DEPRECATED)
        add_pattern(&s, f->message);
    return str_take(&s);
}

bool faults_have(const Faults *f, const char *key)
{
    for (size_t i = 0; i < f->len; i++) {
        char *k = fault_key(&f->items[i]);
        bool same = strcmp(k, key) == 0;
        free(k);
        if (same)
            return true;
    }
    return false;
}

/* ---- the interpreter */

enum {
    E_FATAL = 1 | 4 | 16 | 64 | 256 | 4096,
    E_WARN = 2 | 32 | 128 | 512,
    E_NOTE = 8 | 1024,
    E_DEP = 8192 | 16384
};

/* The first line, without " in FILE:LINE" and the application's folder. */
static char *message_of(const JudgePlan *plan, const Message *m)
{
    char *first = xstrndup(m->text, strcspn(m->text, "\n"));
    char *in = strstr(first, " in /");
    if (in && strncmp(first, "Uncaught ", 9) == 0)
        *in = '\0';
    Str s = { 0 };
    size_t n = strlen(plan->app);
    for (const char *p = first; *p;) {
        if (strncmp(p, plan->app, n) == 0) {
            p += n + (p[n] == '/');
            continue;
        }
        str_addc(&s, *p++);
    }
    free(first);
    return s.data ? str_take(&s) : xstrdup("");
}

static void add_stack(const JudgePlan *plan, const Message *m, Fault *f)
{
    for (size_t i = 0; i < m->nstack; i++)
        strings_addf(&f->stack, "%s %s:%u", m->stack[i].function,
                     judge_relative(plan->app, m->stack[i].file), m->stack[i].line);
}

/* A crash at the same place says more than the warning before it. */
static void drop_warnings_at(Faults *out, const char *file, unsigned line)
{
    for (size_t i = out->len; i-- > 0;)
        if (out->items[i].kind == FAULT_WARNING && out->items[i].line == line &&
            strcmp(out->items[i].file, file) == 0) {
            fault_release(&out->items[i]);
            memmove(&out->items[i], &out->items[i + 1], (out->len - i - 1) * sizeof *out->items);
            out->len--;
        }
}

/* The place in the application: what a prepended file does, its caller did. */
static void place_of(const JudgePlan *plan, const Message *m, const char **file, unsigned *line)
{
    size_t n = strlen(plan->app);
    *file = judge_relative(plan->app, m->file);
    *line = m->line;
    for (size_t i = 0; **file == '/' && i < m->nstack; i++)
        if (strncmp(m->stack[i].file, plan->app, n) == 0) {
            *file = judge_relative(plan->app, m->stack[i].file);
            *line = m->stack[i].line;
            return;
        }
    /* An exception's own stack is in its text: "#0 FILE(LINE): function". */
    static char room[1024];
    const char *at = **file == '/' ? strstr(m->text, "#0 ") : NULL;
    for (at = at ? strstr(at, plan->app) : NULL; at; at = strstr(at + 1, plan->app)) {
        unsigned number;
        if (at[n] == '/' && sscanf(at + n + 1, "%1023[^(\n](%u)", room, &number) == 2) {
            *file = room;
            *line = number;
            return;
        }
    }
}

/* What only our database server refuses is no fault of the application. */
static bool is_of_sandbox(const char *text) { return strstr(text, "--skip-grant-tables") != NULL; }

static bool judge_messages(const JudgePlan *plan, const Reply *r, Faults *out)
{
    bool crashed = false;
    for (size_t i = 0; i < r->trace->messages.len; i++) {
        const Message *m = &r->trace->messages.items[i];
        bool fatal = m->type & E_FATAL;
        if (m->masked && !fatal)
            continue;
        if ((m->type & E_DEP) && plan->no_deprecated)
            continue;
        const char *file;
        unsigned line;
        place_of(plan, m, &file, &line);
        FaultKind kind = fatal ? FAULT_CRASH : m->type & E_DEP ? FAULT_DEPRECATED : FAULT_WARNING;
        if (fatal && strstr(m->text, "Maximum execution time"))
            kind = FAULT_HANG;
        if (fatal)
            drop_warnings_at(out, file, line);
        crashed = crashed || fatal;
        if (is_of_sandbox(m->text))
            continue;
        char *text = message_of(plan, m);
        Fault *f = judge_add(out, kind, text, file, line);
        add_stack(plan, m, f);
        char *key = fault_key(f);
        out->len--;
        bool twice = faults_have(out, key);
        out->len++;
        if (twice) {
            fault_release(f);
            out->len--;
        }
        free(key);
        free(text);
    }
    return crashed;
}

/* ---- the page */

bool reply_is_html(const Reply *r)
{
    const char *type = reply_header(r, "Content-Type");
    return type && (strncasecmp(type, "text/html", 9) == 0 ||
                    strncasecmp(type, "application/xhtml", 17) == 0);
}

/* With buffers: fragments stand in the page in the order of their writing,
 * mostly. Found once for a page. */
static void align_fragments(const Reply *r)
{
    const char *page = str_c(&r->body);
    size_t pos = 0, n = r->body.len, lost = 0;
    for (size_t i = 0; i < r->trace->fragments.len; i++) {
        Written *w = &r->trace->fragments.items[i];
        const char *p = w->bytes <= n - pos ? memmem(page + pos, n - pos, w->text, w->bytes) : NULL;
        if (!p && lost++ < 200)
            p = memmem(page, n, w->text, w->bytes);
        w->at = p ? (size_t)(p - page) : SIZE_MAX;
        if (p)
            pos = w->at + w->bytes;
    }
    r->trace->aligned = true;
}

static bool blame_fragment(const Reply *r, size_t at, const char **file, unsigned *line)
{
    if (!r->trace->aligned)
        align_fragments(r);
    bool found = false;
    for (size_t i = 0; i < r->trace->fragments.len; i++) {
        const Written *w = &r->trace->fragments.items[i];
        if (w->at <= at && at - w->at < w->bytes) {
            *file = w->file;
            *line = w->line;
            found = true;
        }
    }
    return found;
}

bool judge_blame(const Reply *r, size_t at, const char **file, unsigned *line)
{
    if (r->trace->fragments.len && blame_fragment(r, at, file, line))
        return *file != NULL;
    size_t pos = 0;
    for (size_t i = 0; i < r->trace->output.len; i++) {
        const Written *w = &r->trace->output.items[i];
        if (at < pos + w->bytes) {
            *file = w->file;
            *line = w->line;
            return w->file != NULL;
        }
        pos += w->bytes;
    }
    return false;
}

typedef struct Page {
    const JudgePlan *plan;
    const Reply *reply;
    Faults *out;
} Page;

static size_t offset_of(const Str *page, unsigned line, unsigned column)
{
    const char *p = str_c(page), *end = p + page->len;
    for (unsigned l = 1; l < line && p < end; l++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        p = nl ? nl + 1 : end;
    }
    size_t at = (size_t)(p - str_c(page)) + (column ? column - 1 : 0);
    return at < page->len ? at : page->len ? page->len - 1 : 0;
}

static bool is_structure(const char *message)
{
    return str_starts(message, "missing <") || strstr(message, "discarding unexpected") ||
           strstr(message, "isn't allowed in") || str_starts(message, "replacing unexpected");
}

/* Once the structure of a page is broken, a tag that is thrown away is what
 * that leads to; so is one of a statement whose HTML is at fault already. */
static bool is_aftermath(const Faults *f, const char *message, const char *file, unsigned line)
{
    bool thrown = strstr(message, "discarding unexpected") || str_starts(message, "</");
    for (size_t i = 0; thrown && i < f->len; i++)
        if (f->items[i].kind == FAULT_HTML_ERROR &&
            (is_structure(f->items[i].message) ||
             (f->items[i].line == line && strcmp(f->items[i].file, file) == 0)))
            return true;
    return false;
}

static void says(void *arg, bool error, const char *message, unsigned line, unsigned column)
{
    Page *p = arg;
    const char *file = NULL;
    unsigned at = 0;
    judge_blame(p->reply, offset_of(&p->reply->body, line, column), &file, &at);
    if (is_aftermath(p->out, message, judge_relative(p->plan->app, file), at))
        return;
    Fault *f = judge_add(p->out, error ? FAULT_HTML_ERROR : FAULT_HTML_WARNING, message,
                         judge_relative(p->plan->app, file), at);
    /* What a header opens, several ways out may leave open; then the way out is the cause, and one
     * element is told. */
    const TraceLine *x = &p->reply->trace->exit;
    if (x->file && str_starts(message, "missing </")) {
        free(f->exit);
        f->exit = xprintf("%s:%u", judge_relative(p->plan->app, x->file), x->line);
    }
    char *key = fault_key(f);
    p->out->len--;
    bool twice = faults_have(p->out, key);
    for (size_t i = 0; *f->exit && i < p->out->len; i++)
        twice = twice || strcmp(p->out->items[i].exit, f->exit) == 0;
    p->out->len++;
    free(key);
    if (twice) {
        fault_release(f);
        p->out->len--;
    }
}

/* A message or a fragment for a script is no page, and need not be one. */
static bool is_page(const Str *body)
{
    return strcasestr(str_c(body), "<html") || strcasestr(str_c(body), "<body") ||
           strcasestr(str_c(body), "<!doctype");
}

/* Does the page say that it is UTF-8? */
static bool is_utf8(const Reply *r)
{
    const char *type = reply_header(r, "Content-Type");
    if (type && strcasestr(type, "charset="))
        return strcasestr(type, "charset=utf-8") || strcasestr(type, "charset=\"utf-8");
    char *head = xstrndup(str_c(&r->body), r->body.len < 2048 ? r->body.len : 2048);
    bool is = strcasestr(head, "charset=utf-8") || strcasestr(head, "charset=\"utf-8") ||
              strcasestr(head, "charset='utf-8");
    free(head);
    return is;
}

void judge_reply(const JudgePlan *plan, const Reply *r, Faults *out)
{
    bool crashed = judge_messages(plan, r, out);
    if (r->timed_out)
        judge_add(out, FAULT_HANG, "the request does not end", "", 0);
    else if (r->failure)
        judge_add(out, r->crashed || !r->headers.len ? FAULT_CRASH : FAULT_WARNING, r->failure,
                  r->failed_in ? judge_relative(plan->app, r->failed_in) : "", r->failed_at);
    else if (r->crashed)
        judge_add(out, FAULT_CRASH, "PHP itself died by a signal", "", 0);
    else if (r->entangled)
        judge_add(out, FAULT_HTML_ERROR,
                  "the page is too deep, or has too many attributes, to be read", "", 0);
    bool moved = r->status >= 300 && r->status < 400;
    if (crashed || r->timed_out || r->crashed || r->cut || moved || plan->no_html || !r->body.len ||
        !reply_is_html(r) || !is_page(&r->body))
        return;
    html_check(str_c(&r->body), r->body.len, is_utf8(r), says, &(Page){ plan, r, out });
}
