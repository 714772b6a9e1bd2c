/* The main line of a campaign; web.h is the manual. */
#include "run/confine.h"
#include "web/web_int.h"
#include "base/file.h"
#include "base/units.h"
#include <assert.h>
#include <math.h>

const char *web_missing(const char *libexec, bool cgi)
{
    const char *missing = server_missing(libexec, cgi);
    return missing ? missing : page_missing();
}

bool web_strategy_parse(const char *name, WebStrategy *out)
{
    static const char *const names[] = { "full", "crawl", "random", "mutate" };
    for (size_t i = 0; i < 4; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (WebStrategy)i;
            return true;
        }
    return false;
}

/* The rest of the time makes faults small: between a tenth and six tenths, by how
 * many wait. */
static bool is_time_over(const Campaign *c)
{
    enum { RUNS_EACH = 8 };
    double all = c->plan->seconds, now = clock_seconds() - c->begin;
    double runs = (double)server_requests(c->server) + 1;
    double need = RUNS_EACH * (double)c->reports.len * now / runs;
    return now >= all * 0.9 || (now >= all * 0.4 && all - now < need);
}

bool campaign_over(Campaign *c)
{
    const WebPlan *p = c->plan;
    return (p->seconds > 0 && is_time_over(c)) ||
           (p->most_requests && server_requests(c->server) >= p->most_requests) ||
           (p->stop && p->stop(p->stop_arg));
}

/* Values that may break a page are judged as what they are: input that reaches
 * the page, and not as broken HTML. */
static bool is_hostile(const Request *q)
{
    for (size_t i = 0; i < q->params.len; i++)
        if (strpbrk(q->params.items[i].text, "<>\"'"))
            return true;
    return false;
}

void campaign_judge(Campaign *c, const Request *q, const Reply *r, Faults *out)
{
    JudgePlan plan = { .app = c->app,
                       .no_html = c->plan->no_html || is_hostile(q),
                       .no_deprecated = c->plan->no_deprecated };
    judge_reply(&plan, r, out);
    attack_judge(c, q, r, out);
}

/* The jar after the reply: what was sent, and what Set-Cookie changes. */
static void cookies_after(const Request *q, const State *start, const Reply *r, Strings *jar)
{
    for (size_t i = 0; i < start->cookies.len && !q->forgets; i++)
        strings_add(jar, start->cookies.items[i]);
    for (size_t i = 0; i < r->headers.len; i++)
        if (strcasecmp(r->headers.items[i].name, "Set-Cookie") == 0)
            cookies_set(jar, r->headers.items[i].value);
}

static void labels_after(const Reply *r, Strings *labels)
{
    for (size_t i = 0; i < r->trace->session.len && labels->len < 50; i++)
        strings_add(labels, r->trace->session.items[i].name);
}

static bool is_read(const char *sql)
{
    static const char *const reads[] = { "select",  "show", "set", "describe",
                                         "explain", "desc", "use" };
    sql += strspn(sql, " \t\r\n(");
    for (size_t k = 0; k < sizeof reads / sizeof *reads; k++)
        if (strncasecmp(sql, reads[k], strlen(reads[k])) == 0)
            return true;
    return false;
}

/* Did a statement change the database? */
static bool writes(const Trace *t)
{
    for (size_t i = 0; i < t->sinks.len; i++)
        if (t->sinks.items[i].kind == SINK_SQL && !is_read(t->sinks.items[i].text))
            return true;
    return false;
}

static void store(Strings *out, const char *text, size_t n)
{
    if (!n || n > 100 || out->len >= MOST_STORED || memchr(text, '\n', n) || memchr(text, '\0', n))
        return;
    for (size_t i = 0; i < out->len; i++)
        if (strcmp(out->items[i], text) == 0)
            return;
    strings_add(out, text);
}

void campaign_stores(const Request *q, const Trace *t, Strings *out)
{
    bool any = writes(t);
    for (size_t i = 0; any && i < t->sinks.len; i++) {
        const Sink *s = &t->sinks.items[i];
        Strings in = { 0 };
        if (s->kind == SINK_BOUND && s->node)
            store(out, s->text, s->n);
        if (s->kind == SINK_SQL && s->node && !is_read(s->text))
            trace_inputs(t, s->node, &in);
        for (size_t k = 0; k < in.len; k++) {
            PhpValue v = request_value(q, in.items[k]);
            if (v.type == PHP_TEXT)
                store(out, v.s, v.n);
        }
        strings_release(&in);
    }
}

static void join(const Strings *lines, Str *out)
{
    for (size_t i = 0; i < lines->len; i++)
        str_addf(out, "%s%s", i ? "\n" : "", lines->items[i]);
}

/* The state after a request. */
static const State *state_after(Campaign *c, const Request *q, const State *start, const Reply *r,
                                Err *err)
{
    Strings jar = { 0 }, keys = { 0 }, stored = { 0 };
    cookies_after(q, start, r, &jar);
    labels_after(r, &keys);
    campaign_stores(q, r->trace, &stored);
    for (size_t i = 0; i < start->stored.len; i++)
        store(&stored, start->stored.items[i], strlen(start->stored.items[i]));
    const State *end = states_save(c->states, &jar, &keys, &stored, err);
    strings_release(&jar);
    strings_release(&keys);
    strings_release(&stored);
    return end;
}

Reply *campaign_execute(Campaign *c, const Request *q, const State *start, const State **end,
                        Err *err)
{
    if (c->database && states_restore_touches(c->states, start, "db/") &&
        !database_flush(c->database, err))
        return NULL;
    if (!states_restore(c->states, start, err))
        return NULL;
    Str cookies = { 0 }, labels = { 0 }, stored = { 0 };
    if (!q->forgets)
        state_cookie_header(start, &cookies);
    join(&start->labels, &labels);
    join(&start->stored, &stored);
    /* A new browser gets another session than those that are there. */
    Kept kept = { str_c(&cookies), str_c(&labels), str_c(&stored), q->forgets ? start->hash : 0 };
    Reply *r = server_request(c->server, q, &kept, err);
    str_release(&cookies);
    str_release(&labels);
    str_release(&stored);
    bool ok = r && (!c->database || !writes(r->trace) || database_flush(c->database, err));
    *end = ok ? state_after(c, q, start, r, err) : NULL;
    if (*end)
        return r;
    reply_free(r);
    return NULL;
}

typedef struct MemoKey {
    uint64_t request;
    const State *start;
} MemoKey;

static MemoKey memo_key(const Request *q, const State *start)
{
    Str s = { 0 };
    request_canonical(q, &s);
    MemoKey k = { hash_bytes(str_c(&s), s.len), start };
    str_release(&s);
    return k;
}

void campaign_remember(Campaign *c, const Request *q, const State *start, const State *end,
                       const Faults *f)
{
    MemoKey k = memo_key(q, start);
    void **slot = map_slotn(&c->memos, &k, sizeof k);
    if (*slot)
        return;
    Memo *m = xcalloc(1, sizeof *m + f->len * sizeof *m->faults);
    m->end = end;
    for (size_t i = 0; i < f->len; i++) {
        char *key = fault_key(&f->items[i]);
        m->faults[m->n++] = hash_bytes(key, strlen(key));
        free(key);
    }
    *slot = m;
}

const Memo *campaign_memo(const Campaign *c, const Request *q, const State *start)
{
    MemoKey k = memo_key(q, start);
    return map_getn(&c->memos, &k, sizeof k);
}

Report *campaign_report(Campaign *c, const Fault *f, const Step *step, Reply *reply)
{
    char *key = fault_key(f);
    Report *rep = map_get(&c->by_key, key);
    if (!rep) {
        rep = xcalloc(1, sizeof *rep);
        fault_copy(&rep->fault, f);
        rep->key = xstrdup(key);
        rep->found_after = clock_seconds() - c->begin;
        vec_push(&c->reports, rep);
        map_put(&c->by_key, key, rep);
    }
    free(key);
    rep->seen++;
    if (rep->nexamples < MOST_EXAMPLES)
        rep->examples[rep->nexamples++] = (Example){ step, reply };
    for (size_t i = 0; rep->seen <= 50 && i < reply->trace->hits.len; i++) {
        const TraceLine *h = &reply->trace->hits.items[i];
        char *line = xprintf("%s:%u", judge_relative(c->app, h->file), h->line);
        void **slot = map_slot(&rep->lines, line);
        *slot = (void *)((uintptr_t)*slot + 1);
        free(line);
    }
    return rep;
}

/* ---- before */

static bool is_script(const char *file, const char *at, bool cgi)
{
    if (cgi)
        return server_is_program(at);
    return str_ends(file, ".php") || str_ends(file, ".inc") || str_ends(file, ".phtml");
}

static void list_scripts(const char *folder, const char *below, unsigned depth, bool cgi,
                         Strings *out)
{
    char *full = *below ? path_join(folder, below) : xstrdup(folder);
    Strings names = { 0 };
    if (depth < 12 && dir_list(full, &names, NULL))
        for (size_t i = 0; i < names.len; i++) {
            char *path = *below ? xprintf("%s/%s", below, names.items[i]) : xstrdup(names.items[i]);
            char *at = path_join(folder, path);
            if (file_is_dir(at))
                list_scripts(folder, path, depth + 1, cgi, out);
            else if (is_script(path, at, cgi))
                strings_add(out, path);
            free(at);
            free(path);
        }
    strings_release(&names);
    free(full);
}

/* Words of the program's constants: what could be compared with. */
static void learn_words(Campaign *c, const Trace *t, Map *seen)
{
    for (size_t i = 1; i < t->nnodes && c->words.len < 400; i++) {
        const TraceNode *n = &t->nodes[i];
        if (n->op != WOP_CONST || (n->text[0] != 'S' && n->text[0] != 'I'))
            continue;
        const char *w = n->text + 1;
        if (!*w || strlen(w) > 30 || strpbrk(w, "<>\n\t/$;{}") || !map_put(seen, w, c))
            continue;
        strings_add(&c->words, w);
    }
}

static void add_file(Web *w, const char *file, uint64_t total)
{
    w->files = xrealloc(w->files, (w->nfiles + 1) * sizeof *w->files);
    w->files[w->nfiles++] = (WebFile){ .file = xstrdup(file), .total = total };
}

/* The statements that there are, and the files that PHP can't read. */
static bool survey(Campaign *c, Err *err)
{
    Map seen = { 0 }, total = { 0 };
    Strings all = { 0 };
    list_scripts(c->app, "", 0, c->plan->cgi, &all);
    for (size_t i = 0; i < c->plan->nlogins; i++) {
        strings_add(&c->words, c->plan->logins[i].user);
        strings_add(&c->words, c->plan->logins[i].password);
    }
    bool ok = true;
    for (size_t i = 0; c->plan->cgi && i < all.len; i++) {
        strings_add(&c->scripts, all.items[i]);
        add_file(c->web, all.items[i], 0);
    }
    for (size_t i = 0; ok && !c->plan->cgi && i < all.len && !campaign_over(c); i++) {
        Reply *r = server_list(c->server, all.items[i], err);
        ok = r != NULL;
        if (!r)
            break;
        size_t before = total.len;
        for (size_t k = 0; k < r->trace->lines.len; k++) {
            char *key = xprintf("%s:%u", all.items[i], r->trace->lines.items[k].line);
            c->web->total += map_put(&total, key, c);
            free(key);
        }
        add_file(c->web, all.items[i], total.len - before);
        learn_words(c, r->trace, &seen);
        if (!r->trace->lines.len && r->trace->messages.len)
            strings_addf(&c->web->broken, "%s: %s", all.items[i], r->trace->messages.items[0].text);
        reply_free(r);
        if (str_ends(all.items[i], ".php"))
            strings_add(&c->scripts, all.items[i]);
    }
    strings_release(&all);
    map_release(&seen);
    map_release(&total);
    return ok;
}

/* ---- after */

static int by_count(const void *a, const void *b)
{
    uint64_t x = ((const WebCount *)a)->count, y = ((const WebCount *)b)->count;
    return x < y   ? 1
           : x > y ? -1
                   : strcmp(((const WebCount *)a)->name, ((const WebCount *)b)->name);
}

static void tell_lost(Campaign *c)
{
    Web *w = c->web;
    w->lost = xcalloc(c->lost.len + 1, sizeof *w->lost);
    for (size_t i = 0; i < c->lost.len; i++)
        w->lost[w->nlost++] =
            (WebCount){ xstrdup(c->lost.entries[i].key), (uintptr_t)c->lost.entries[i].value };
    qsort(w->lost, w->nlost, sizeof *w->lost, by_count);
    w->links = xcalloc(c->edges.len + 1, sizeof *w->links);
    for (size_t i = 0; i < c->edges.len; i++) {
        const char *key = c->edges.entries[i].key, *nl = strchr(key, '\n');
        w->links[w->nlinks++] = (WebLink){ xstrndup(key, (size_t)(nl - key)), xstrdup(nl + 1) };
    }
}

static WebFile *file_named(Web *w, const char *name, size_t n)
{
    for (size_t i = 0; i < w->nfiles; i++)
        if (strncmp(w->files[i].file, name, n) == 0 && !w->files[i].file[n])
            return &w->files[i];
    return NULL;
}

static void tell_files(Campaign *c)
{
    Web *w = c->web;
    for (size_t i = 0; i < c->lines.len; i++) {
        const char *key = c->lines.entries[i].key;
        WebFile *f = file_named(w, key, (size_t)(strrchr(key, ':') - key));
        if (f)
            f->lines++;
    }
    for (size_t i = 0; i < w->nlinks; i++) {
        WebFile *f = file_named(w, w->links[i].to, strlen(w->links[i].to));
        if (f)
            f->page = true;
    }
    for (size_t i = 0; i < c->steps.len; i++) {
        const char *script = c->steps.items[i]->request->script;
        WebFile *f = file_named(w, script, strlen(script));
        if (f)
            f->page = true;
    }
    for (size_t i = 0; i < w->nfiles; i++) {
        w->files[i].part = map_has(&c->parts, w->files[i].file);
        if (w->files[i].part || w->files[i].page)
            w->reachable += w->files[i].total;
    }
}

static bool open_campaign(Campaign *c, Err *err)
{
    const WebPlan *p = c->plan;
    if (p->mysql) {
        c->database = database_start(p->folder, err);
        if (!c->database ||
            (p->mysql_file && !database_load(c->database, p->mysql_file, p->mysql_name, err)))
            return false;
    }
    c->states = states_new(p->app, p->folder, err);
    if (!c->states)
        return false;
    if (p->database && !states_add_file(c->states, p->database, path_base(p->database), err))
        return false;
    ServerPlan sp = { .folder = p->folder,
                      .libexec = p->libexec,
                      .ini = p->ini,
                      .env = p->env,
                      .prepend = p->prepend,
                      .seconds = p->request_seconds,
                      .mysql = p->mysql,
                      .cgi = p->cgi,
                      .unprotected = p->unprotected };
    c->server = server_new(&sp, err);
    if (!c->server)
        return false;
    const char *missing = server_unprotected(c->server);
    if (!missing && p->mysql)
        missing = confine_missing();
    c->web->protection = missing ? xstrdup(missing) : NULL;
    return true;
}

static void close_campaign(Campaign *c)
{
    search_release(c);
    for (size_t i = 0; i < c->dropped.len; i++)
        vec_push(&c->reports, c->dropped.items[i]);
    vec_release(&c->dropped);
    for (size_t i = 0; i < c->reports.len; i++) {
        Report *r = c->reports.items[i];
        fault_release(&r->fault);
        map_release(&r->lines);
        free(r->key);
        free(r);
    }
    for (size_t i = 0; i < c->kept.len; i++)
        reply_free(c->kept.items[i]);
    for (size_t i = 0; i < c->corpus.len; i++)
        request_free(c->corpus.items[i]);
    vec_release(&c->reports);
    vec_release(&c->kept);
    vec_release(&c->corpus);
    strings_release(&c->words);
    strings_release(&c->scripts);
    for (size_t i = 0; i < c->memos.len; i++)
        free(c->memos.entries[i].value);
    map_release(&c->memos);
    Map *maps[] = { &c->visited, &c->sides,   &c->tries,  &c->asked,  &c->used,  &c->attacked,
                    &c->lines,   &c->known,   &c->parts,  &c->lost,   &c->edges, &c->by_key,
                    &c->shapes,  &c->screens, &c->filled, &c->offered };
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        map_release(maps[i]);
    server_free(c->server);
    states_free(c->states);
    database_stop(c->database);
    free(c->app);
}

Web *web_run(const WebPlan *plan, Err *err)
{
    assert(plan->app && plan->folder && plan->libexec);
    WebPlan own = *plan;
    own.entry = plan->entry ? plan->entry : "index.php";
    Web *w = xcalloc(1, sizeof *w);
    Campaign c = {
        .plan = &own, .web = w, .begin = clock_seconds(), .rng = rng_seeded(plan->seed)
    };
    c.app = path_join(plan->folder, "app");
    bool ok = open_campaign(&c, err) && survey(&c, err) &&
              (own.serve ? serve_run(&c, err) : search_run(&c, err)) &&
              (own.serve || own.no_security || own.stateless || access_run(&c, err));
    if (ok) {
        w->states = states_count(c.states);
        w->seconds = clock_seconds() - c.begin;
        w->requests = server_requests(c.server);
        ok = reduce_all(&c, err);
        tell_lost(&c);
        tell_files(&c);
    }
    close_campaign(&c);
    if (!ok) {
        web_free(w);
        return NULL;
    }
    return w;
}

static void web_fault_free(WebFault *f)
{
    fault_release(&f->fault);
    strings_release(&f->condition);
    for (size_t i = 0; i < f->nchain; i++)
        request_free(f->chain[i]);
    free(f->chain);
    for (size_t i = 0; i < f->nsuspects; i++)
        free(f->suspects[i].file);
    free(f->suspects);
    str_release(&f->page);
}

void web_free(Web *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->nfaults; i++)
        web_fault_free(&w->faults[i]);
    for (size_t i = 0; i < w->nlost; i++)
        free(w->lost[i].name);
    for (size_t i = 0; i < w->nlinks; i++) {
        free(w->links[i].from);
        free(w->links[i].to);
    }
    for (size_t i = 0; i < w->nfiles; i++)
        free(w->files[i].file);
    for (size_t i = 0; i < w->nrecorded; i++)
        request_free(w->recorded[i]);
    free(w->recorded);
    free(w->files);
    free(w->faults);
    free(w->lost);
    free(w->links);
    free(w->points);
    free(w->protection);
    strings_release(&w->broken);
    free(w);
}

/* Faults that are not in the list yet. */
static void judge_new(Campaign *c, const Request *q, const Reply *r, Faults *out)
{
    Faults own = { 0 };
    campaign_judge(c, q, r, &own);
    for (size_t i = 0; i < own.len; i++) {
        char *key = fault_key(&own.items[i]);
        if (!faults_have(out, key))
            fault_copy(vec_grow(out), &own.items[i]);
        free(key);
    }
    faults_release(&own);
}

Reply *web_replay(const WebPlan *plan, Request *const *chain, size_t n, bool all, Faults *out,
                  Err *err)
{
    Web w = { 0 };
    Campaign c = { .plan = plan, .web = &w, .begin = clock_seconds() };
    c.app = path_join(plan->folder, "app");
    Reply *last = NULL;
    bool ok = open_campaign(&c, err);
    const State *state = ok ? states_first(c.states) : NULL;
    for (size_t i = 0; ok && i < n; i++) {
        reply_free(last);
        last = campaign_execute(&c, chain[i], state, &state, err);
        ok = last != NULL;
        if (ok && (all || i + 1 == n))
            judge_new(&c, chain[i], last, out);
    }
    free(w.protection);
    close_campaign(&c);
    return last;
}
