/*
 * Pages of one role that are open to another.
 *
 * A role is a login that was seen to work, or nobody. Of each kind of page that
 * was linked for one role and never for another, the request is made as the other.
 * What a program means to be open can't be known; so its own pages are the
 * measure: where at least three pages of the same folder refuse the other role, and
 * they are the most, a page that runs for it as it does for its own role, and sends
 * the database what no refusing page sends, is a hole.
 */
#include "base/file.h"
#include "web/web_int.h"
#include <stdlib.h>

enum { MOST_PAGES = 40, MOST_CHECKS = 160, ENOUGH = 3 };

/* ---- roles */

static bool carries(const Request *q, const char *text)
{
    for (size_t i = 0; *text && i < q->params.len; i++)
        if (strcmp(q->params.items[i].text, text) == 0)
            return true;
    return false;
}

/* Does the page ask for a password again? */
static bool asks_again(const Reply *r)
{
    const char *page = str_c(&r->body);
    return strcasestr(page, "type=\"password\"") || strcasestr(page, "type='password'") ||
           strcasestr(page, "type=password");
}

void access_note_login(Campaign *c, Step *step, const Reply *r, const State *end)
{
    bool moved = r->status >= 300 && r->status < 400;
    if (step->role || end == step->start || !end->cookies.len || (!moved && asks_again(r)))
        return;
    for (size_t i = 0; i < c->plan->nlogins && i + 1 < MOST_ROLES; i++) {
        const Credential *who = &c->plan->logins[i];
        if (!carries(step->request, who->password) ||
            (*who->user && !carries(step->request, who->user)))
            continue;
        step->role_after = (unsigned)i + 1;
        if (!c->roles[i + 1].state)
            c->roles[i + 1] = (Role){ end, step };
        return;
    }
}

void access_note_offer(Campaign *c, unsigned role, const char *script)
{
    char *key = xprintf("%u %s", role, script);
    map_put(&c->offered, key, c);
    free(key);
}

static bool was_offered(const Campaign *c, unsigned role, const char *script)
{
    char *key = xprintf("%u %s", role, script);
    bool is = map_has(&c->offered, key);
    free(key);
    return is;
}

/* ---- pages */

typedef struct Look {
    bool ran;                      /* a page came, and its program went to the end */
    Map lines, queries;
} Look;

static void look_release(Look *l)
{
    map_release(&l->lines);
    map_release(&l->queries);
}

/* A statement without its values: what it is about. */
static char *query_kind(const Sink *s)
{
    Str out = { 0 };
    bool quoted = false;
    for (size_t i = 0; i < s->n && i < 300; i++) {
        char ch = s->text[i];
        if (ch == '\'' || ch == '"')
            quoted = !quoted;
        else if (!quoted && (ch < '0' || ch > '9'))
            str_addc(&out, ch);
    }
    return out.data ? str_take(&out) : xstrdup("");
}

static bool look(Campaign *c, const Request *q, const State *start, Look *out, Err *err)
{
    const State *end;
    *out = (Look){ 0 };
    Reply *r = campaign_execute(c, q, start, &end, err);
    if (!r)
        return false;
    out->ran = r->status == 200 && !r->timed_out && !r->crashed && r->body.len;
    for (size_t i = 0; i < r->trace->hits.len; i++) {
        char *line = xprintf("%s:%u", r->trace->hits.items[i].file, r->trace->hits.items[i].line);
        map_put(&out->lines, line, c);
        free(line);
    }
    for (size_t i = 0; i < r->trace->sinks.len; i++)
        if (r->trace->sinks.items[i].kind == SINK_SQL) {
            char *kind = query_kind(&r->trace->sinks.items[i]);
            map_put(&out->queries, kind, c);
            free(kind);
        }
    reply_free(r);
    return true;
}

static size_t common(const Map *a, const Map *b)
{
    size_t n = 0;
    for (size_t i = 0; i < a->len; i++)
        n += map_has(b, a->entries[i].key);
    return n;
}

typedef struct Candidate {
    const Step *step;
    char *folder;
    Look other;
    bool open, refused;
} Candidate;

/* Pages that one role saw and the other was never offered, one of each script. */
static size_t candidates(const Campaign *c, unsigned mine, unsigned other, Candidate *out)
{
    size_t n = 0;
    for (size_t i = 0; i < c->steps.len && n < MOST_PAGES; i++) {
        const Step *s = c->steps.items[i];
        bool twice = s->role != mine || request_is_post(s->request) || !s->whole ||
                     !was_offered(c, mine, s->request->script) ||
                     was_offered(c, other, s->request->script);
        for (size_t k = 0; k < n && !twice; k++)
            twice = strcmp(out[k].step->request->script, s->request->script) == 0;
        if (!twice)
            out[n++] = (Candidate){ .step = s, .folder = path_dir(s->request->script) };
    }
    return n;
}

static bool try_one(Campaign *c, Candidate *k, const State *as, Err *err)
{
    Look own;
    bool ok = look(c, k->step->request, c->roles[k->step->role].state, &own, err) &&
              look(c, k->step->request, as, &k->other, err);
    if (ok && own.ran && own.lines.len >= 5) {
        size_t same = common(&own.lines, &k->other.lines);
        k->open = k->other.ran && same * 20 >= own.lines.len * 19;
        k->refused = !k->open && (!k->other.ran || same * 10 < own.lines.len * 7);
    }
    look_release(&own);
    return ok;
}

/* Does it send the database what no page of the folder does that refuses? */
static bool does_more(const Candidate *all, size_t n, const Candidate *k)
{
    for (size_t i = 0; i < k->other.queries.len; i++) {
        bool known = false;
        for (size_t j = 0; j < n && !known; j++)
            known = all[j].refused && strcmp(all[j].folder, k->folder) == 0 &&
                    map_has(&all[j].other.queries, k->other.queries.entries[i].key);
        if (!known)
            return true;
    }
    return false;
}

static void report_open(Campaign *c, const Candidate *all, size_t n, const Candidate *k,
                        unsigned other, Err *err)
{
    size_t refused = 0, open = 0;
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].folder, k->folder) == 0) {
            refused += all[i].refused;
            open += all[i].open;
        }
    if (refused < ENOUGH || refused < open * 2 || !does_more(all, n, k))
        return;
    const Role *as = &c->roles[other];
    const char *who = other ? c->plan->logins[other - 1].user : "nobody";
    char *message = xprintf("a page of %s runs for %s; %zu others of its folder refuse",
                            c->plan->logins[k->step->role - 1].user, who, refused);
    Faults f = { 0 };
    judge_add(&f, FAULT_ACCESS, message, k->step->request->script, 1);
    Step *step = xcalloc(1, sizeof *step);
    step->before = as->step;
    step->request = request_copy(k->step->request);
    step->start = as->state;
    step->depth = as->step ? as->step->depth + 1 : 0;
    vec_push(&c->steps, step);
    const State *end;
    Reply *r = campaign_execute(c, step->request, step->start, &end, err);
    if (r) {
        campaign_report(c, &f.items[0], step, r);
        vec_push(&c->kept, r);
    }
    faults_release(&f);
    free(message);
}

static bool compare(Campaign *c, unsigned mine, unsigned other, Err *err)
{
    Candidate all[MOST_PAGES];
    size_t n = candidates(c, mine, other, all);
    bool ok = true;
    for (size_t i = 0; i < n && ok && c->checks < MOST_CHECKS; i++, c->checks++)
        ok = try_one(c, &all[i], c->roles[other].state, err);
    for (size_t i = 0; i < n && ok; i++)
        if (all[i].open)
            report_open(c, all, n, &all[i], other, err);
    for (size_t i = 0; i < n; i++) {
        look_release(&all[i].other);
        free(all[i].folder);
    }
    return ok;
}

bool access_run(Campaign *c, Err *err)
{
    c->roles[0] = (Role){ states_first(c->states), NULL };
    bool ok = true;
    for (unsigned mine = 1; mine < MOST_ROLES && ok; mine++)
        for (unsigned other = 0; other < MOST_ROLES && ok && c->roles[mine].state; other++)
            if (other != mine && c->roles[other].state &&
                !(c->plan->stop && c->plan->stop(c->plan->stop_arg)))
                ok = compare(c, mine, other, err);
    return ok;
}
