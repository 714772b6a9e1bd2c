/*
 * The search; web.h tells the idea.
 *
 * Configurations wait in classes:
 *
 *     target   the flipped side of a branch was never executed
 *     option   a click that was never made on such a page
 *     state    a click that was made before, in a new state
 *     rest     flips to sides that are known, on other paths
 *     direct   scripts that nothing has led to
 *     attack   hostile values
 *     fill     parameters that were read and not there, with a value
 *     back     an earlier request of the chain, so that it keeps another value
 *
 * The class that brought most lately (lines never executed, faults never seen)
 * is taken, every fifth time any one. In a class shallow chains come first; of
 * clicks, those of a kind that was seldom made; then first come first served. The
 * class of a target is looked at again when it is taken.
 */
#include "web/web_int.h"
#include "base/file.h"
#include "base/units.h"
#include <assert.h>
#include <ctype.h>

enum { MOST_TRIES = 4, MOST_FAILED = 24, MOST_STATES_PER_OPTION = 60, MOST_QUEUED = 200000 };

static uint64_t mix(uint64_t h, uint64_t x) { return (h ^ x) * 0x9E3779B97F4A7C15u + (h >> 29); }

static uint64_t side_of(uint32_t site, bool taken) { return mix(site, taken ? 2 : 1) | 1; }

static bool has(const Map *m, uint64_t key) { return map_getn(m, &key, sizeof key) != NULL; }

/* Adds one to a count; gives what it was. */
static uintptr_t count(Map *m, uint64_t key)
{
    void **slot = map_slotn(m, &key, sizeof key);
    uintptr_t n = (uintptr_t)*slot;
    *slot = (void *)(n + 1);
    return n;
}

static uintptr_t counted(const Map *m, uint64_t key)
{
    return (uintptr_t)map_getn(m, &key, sizeof key);
}

static uint64_t request_hash(const Request *r)
{
    Str s = { 0 };
    request_canonical(r, &s);
    uint64_t h = hash_bytes(str_c(&s), s.len);
    str_release(&s);
    return h;
}

/* ---- the queue */

static void config_free(Config *c)
{
    if (c) {
        request_free(c->request);
        free(c->wish.path);
        free(c->wish.text);
    }
    free(c);
}

static void push(Campaign *c, unsigned class, Config *cfg)
{
    unsigned rank = cfg->now ? 0 : cfg->rank;
    Queue *q = &c->queues[class][rank < MOST_DEPTH_QUEUE ? rank : MOST_DEPTH_QUEUE - 1];
    if (q->len - q->head > MOST_QUEUED) {
        config_free(cfg);
        return;
    }
    q->items = vec_room(q->items, q->len, &q->cap, sizeof *q->items);
    q->items[q->len++] = cfg;
}

static Config *pop(Campaign *c, unsigned class)
{
    for (unsigned d = 0; d < MOST_DEPTH_QUEUE; d++) {
        Queue *q = &c->queues[class][d];
        if (q->head < q->len)
            return q->items[q->head++];
    }
    return NULL;
}

/* The first of a class that is still what the class is for; or NULL. */
static Config *take_from(Campaign *c, unsigned class)
{
    for (;;) {
        Config *cfg = pop(c, class);
        if (cfg && class == CLASS_TARGET && has(&c->sides, cfg->target)) {
            push(c, CLASS_REST, cfg);
        } else if (cfg && ((class == CLASS_DIRECT && map_has(&c->parts, cfg->request->script)) ||
                           (class == CLASS_BACK && has(&c->sides, cfg->target)))) {
            config_free(cfg);
        } else {
            if (cfg)
                cfg->class = class;
            return cfg;
        }
    }
}

/* Scripts that nothing led to come when nothing else is left: most are parts. */
static Config *take(Campaign *c)
{
    bool empty[NCLASSES] = { [CLASS_DIRECT] = true };
    bool any = ++c->picks % 5 == 0;
    for (unsigned left = NCLASSES - 1; left; left--) {
        unsigned best = NCLASSES, skip = any ? (unsigned)rng_below(&c->rng, left) : 0;
        for (unsigned k = 0; k < NCLASSES; k++) {
            if (empty[k])
                continue;
            if (any ? skip-- == 0 : best == NCLASSES || c->yield[k] > c->yield[best])
                best = k;
        }
        Config *cfg = take_from(c, best);
        if (cfg)
            return cfg;
        empty[best] = true;
    }
    return take_from(c, CLASS_DIRECT);
}

/* What a request of the class brought. */
static void note_yield(Campaign *c, const Config *cfg, size_t lines, size_t faults)
{
    double brought = (double)lines + (double)faults;
    c->yield[cfg->class] = 0.93 * c->yield[cfg->class] + 0.07 * (brought < 60 ? brought : 60);
}

bool search_propose(Campaign *c, unsigned class, Request *r, const State *start, const Step *before,
                    Config shape)
{
    uint64_t key = mix(request_hash(r), start->hash);
    unsigned depth = before ? before->depth + 1 : 0;
    unsigned most = c->plan->depth ? c->plan->depth : 8;
    if (count(&c->visited, key) || depth >= most) {
        request_free(r);
        return false;
    }
    Config *cfg = xmalloc(sizeof *cfg);
    *cfg = shape;
    cfg->request = r;
    cfg->start = start;
    cfg->before = before;
    cfg->depth = depth;
    if (!cfg->rank && !cfg->now)
        cfg->rank = depth;
    push(c, class, cfg);
    return true;
}

/* ---- flips */

static uint64_t prefix_hash(const Trace *t, size_t n, bool flip_last)
{
    uint64_t h = 7;
    for (size_t i = 0; i < n; i++) {
        const Branch *b = &t->branches.items[i];
        h = mix(h, side_of(b->site, b->taken != (flip_last && i + 1 == n)));
    }
    return h | 1;
}

/* ---- what an earlier request kept */

static bool has_text(const Strings *list, const char *text)
{
    for (size_t i = 0; i < list->len; i++)
        if (strcmp(list->items[i], text) == 0)
            return true;
    return false;
}

/* The key of SESSION[key], the value of DB[column][value]. To free. */
static char *kept_name(const char *path)
{
    bool database = str_starts(path, "DB[");
    const char *from = database ? strstr(path, "][") : strchr(path, '[');
    if (!from)
        return xstrdup("");
    from += database ? 2 : 1;
    size_t n = strlen(from), len;
    if (!database)
        return xstrndup(from, n ? n - 1 : 0);
    Str kept = { 0 };          /* "+" is a blank in a query, and no blank here */
    for (size_t i = 0; i + 1 < n; i++)
        str_add(&kept, from[i] == '+' ? "%2B" : (char[]){ from[i], '\0' });
    char *name = url_decode(str_c(&kept), kept.len, &len);
    str_release(&kept);
    return name;
}

/* The place in the log where the request put this value into the database. */
static Request *with_stored(const FlipPlan *plan, const char *value, const char *wished)
{
    const Trace *t = plan->trace;
    Request *q = NULL;
    for (size_t i = 0; i < t->sinks.len && !q; i++) {
        const Sink *s = &t->sinks.items[i];
        if (s->kind == SINK_BOUND && s->node && strcmp(s->text, value) == 0)
            q = flip_value(plan, s->node, phpvalue_text_z(wished));
        Strings in = { 0 };
        if (s->kind == SINK_SQL && s->node)
            trace_inputs(t, s->node, &in);
        for (size_t k = 0; k < in.len && !q; k++) {
            const Param *p = request_get(plan->base, in.items[k]);
            if (!p || strcmp(p->text, value) != 0)
                continue;
            q = request_copy(plan->base);
            request_set(q, p->path, wished, strlen(wished));
        }
        strings_release(&in);
    }
    return q;
}

/* The origin's request with another value, so that it keeps what is wished. It is run
 * once more, because only its log tells how the kept value came about. */
static Request *rewritten(Campaign *c, const Step *origin, const char *name, const Wish *wish)
{
    const State *end;
    Reply *r = campaign_execute(c, origin->request, origin->start, &end, NULL);
    if (!r)
        return NULL;
    const Trace *t = r->trace;
    FlipPlan plan = { .trace = t, .base = origin->request, .words = &c->words, .rng = &c->rng };
    bool database = str_starts(wish->path, "DB[");
    Request *q = database ? with_stored(&plan, name, wish->text) : NULL;
    for (size_t i = 0; !database && i < t->session.len && !q; i++)
        if (strcmp(t->session.items[i].name, name) == 0)
            q = flip_value(&plan, t->session.items[i].node, phpvalue_text_z(wish->text));
    reply_free(r);
    return q;
}

/* A condition is about a value that an earlier request kept: that one is to be made again with another
 * value, then the requests after it, up to this one. */
static void go_back(Campaign *c, const Step *step, Wish *wish, uint64_t side)
{
    char *name = kept_name(wish->path);
    bool database = str_starts(wish->path, "DB[");
    const Step *origin = step->before;
    while (origin && !has_text(database ? &origin->stored : &origin->session, name))
        origin = origin->before;
    free(name);
    char *key =
        xprintf("%p %s %s %s", (const void *)origin, wish->path, wish->text, step->request->script);
    uint64_t once = hash_bytes(key, strlen(key)) | 1;
    free(key);
    if (!origin || count(&c->tries, once))
        return;
    Config *cfg = xcalloc(1, sizeof *cfg);
    cfg->origin = origin;
    cfg->before = step;
    cfg->target = side;
    cfg->rank = step->depth;
    cfg->wish = (Wish){ xstrdup(wish->path), xstrdup(wish->text) };
    push(c, CLASS_BACK, cfg);
}

static void flip(Campaign *c, const Step *step, const Reply *r, size_t i)
{
    const Trace *t = r->trace;
    const Branch *b = &t->branches.items[i];
    uint64_t side = side_of(b->site, !b->taken);
    bool known = has(&c->sides, side);
    uint64_t key = mix(mix(side, step->start->hash), known);
    if (counted(&c->tries, key) >= MOST_TRIES || counted(&c->tries, key + 1) >= MOST_FAILED)
        return;
    Cond *conds = xcalloc(i + 1, sizeof *conds);
    for (size_t k = 0; k <= i; k++)
        conds[k] = (Cond){ t->branches.items[k].node, t->branches.items[k].taken != (k == i) };
    Wishes wishes = { 0 };
    FlipPlan plan = { .trace = t,
                      .base = step->request,
                      .base_holds = true,
                      .words = &c->words,
                      .rng = &c->rng,
                      .apart = c->plan->cgi,
                      .wishes = step->before && !known ? &wishes : NULL,
                      .budget = 400 };
    FlipWhy why;
    Request *next = flip_solve(&plan, conds, i + 1, &why);
    c->web->why[why]++;
    count(&c->tries, next ? key : key + 1);
    if (next) {
        Config shape = { .bound = i + 1, .target = side, .expect = prefix_hash(t, i + 1, true) };
        search_propose(c, known ? CLASS_REST : CLASS_TARGET, next, step->start, step->before,
                       shape);
    } else if (why == FLIP_NATIVE) {
        const char *name = flip_obstacle(t, b->node);
        void **slot = map_slot(&c->lost, name);
        *slot = (void *)((uintptr_t)*slot + 1);
    }
    for (size_t k = 0; !next && k < wishes.len && k < 3; k++)
        go_back(c, step, &wishes.items[k], side);
    wishes_release(&wishes);
    free(conds);
}

/* Equal for runs that executed statements of the same files: one page, where a
 * single script is all pages. */
static uint64_t page_kind(const Trace *t)
{
    const char *last = NULL;
    uint64_t sum = 0;
    Map seen = { 0 };
    for (size_t i = 0; i < t->hits.len; i++) {
        if (t->hits.items[i].file == last)
            continue;
        last = t->hits.items[i].file;
        uint64_t h = last ? hash_bytes(last, strlen(last)) : 0;
        if (count(&seen, h) == 0)
            sum += mix(h, 5);
    }
    map_release(&seen);
    return sum;
}

/* Inputs that a branch decided on: turning that around gives them values. */
static void decided_inputs(const Trace *t, Map *out)
{
    for (size_t i = 0; i < t->branches.len && i < 400; i++) {
        Strings in = { 0 };
        trace_inputs(t, t->branches.items[i].node, &in);
        for (size_t k = 0; k < in.len; k++)
            map_put(out, in.items[k], out);
        strings_release(&in);
    }
}

static bool is_parameter(const TraceNode *n)
{
    return n->op == WOP_INPUT && strchr(n->text, '[') && !trace_is_kept(n->text) &&
           !str_starts(n->text, "SERVER[") && !str_starts(n->text, "COOKIE[") &&
           !str_starts(n->text, "FILES[");
}

static void fill_one(Request *r, const char *name, bool apart)
{
    char room[8];
    const char *value = flip_filling(name, apart, room);
    const char *rest = str_starts(name, "REQUEST[") ? name + 7 : NULL;
    char *path = rest ? xprintf("%s%s", request_is_post(r) ? "POST" : "GET", rest) : xstrdup(name);
    request_set(r, path, value, strlen(value));
    free(path);
}

/* Parameters that are read, not there and never decided on: with a value, once on
 * each page; all together, then each, those that are read last first. */
static void fill_in(Campaign *c, const Step *step, const Trace *t)
{
    uint64_t kind = page_kind(t);
    Map decided = { 0 };
    decided_inputs(t, &decided);
    Request *all = request_copy(step->request);
    size_t filled = 0;
    for (size_t i = t->nnodes; i-- > 1;) {
        const TraceNode *n = &t->nodes[i];
        if (!is_parameter(n))
            continue;
        char *name = xprintf("%s %s", step->request->script, n->text);
        map_put(&c->known, name, c);
        bool first = !map_has(&decided, n->text) &&
                     request_value(step->request, n->text).type == PHP_NULL &&
                     count(&c->filled, mix(kind, hash_bytes(name, strlen(name)))) == 0;
        free(name);
        if (!first)
            continue;
        filled++;
        if (!str_starts(n->text, "BODY["))
            fill_one(all, n->text, c->plan->cgi);
        Request *r = request_copy(step->request);
        fill_one(r, n->text, c->plan->cgi);
        search_propose(c, CLASS_FILL, r, step->start, step->before,
                       (Config){ .rank = 1 + (unsigned)count(&c->filled, kind) });
    }
    if (filled > 1)
        search_propose(c, CLASS_FILL, all, step->start, step->before, (Config){ 0 });
    else
        request_free(all);
    map_release(&decided);
}

static void note_sides(Campaign *c, const Trace *t)
{
    for (size_t i = 0; i < t->branches.len; i++)
        count(&c->sides, side_of(t->branches.items[i].site, t->branches.items[i].taken));
}

static void follow_conditions(Campaign *c, const Config *cfg, const Step *step, const Reply *r)
{
    if (cfg->expect) {
        c->web->solved++;
        if (r->trace->branches.len < cfg->bound ||
            prefix_hash(r->trace, cfg->bound, false) != cfg->expect)
            c->web->diverged++;
    }
    size_t from = cfg->expect && r->trace->branches.len >= cfg->bound &&
                          prefix_hash(r->trace, cfg->bound, false) == cfg->expect
                      ? cfg->bound
                      : 0;
    for (size_t i = from; i < r->trace->branches.len; i++)
        flip(c, step, r, i);
    fill_in(c, step, r->trace);
}

/* ---- options */

static void note_edge(Campaign *c, const char *from, const char *to)
{
    char *key = xprintf("%s\n%s", from, to);
    map_put(&c->edges, key, c);
    free(key);
}

/* Words choose what a page does; numbers and tokens choose a row of it. */
static bool is_choice(const char *v)
{
    size_t n = strlen(v), digits = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isalnum((unsigned char)v[i]) && !strchr("_- .", v[i]))
            return false;
        digits += isdigit((unsigned char)v[i]) != 0;
    }
    return n > 0 && n <= 24 && digits * 4 <= n;
}

/* Equal for clicks of one kind: script, names of parameters, values that choose. */
static uint64_t shape_of(const Request *r)
{
    uint64_t h = hash_bytes(r->script, strlen(r->script)) ^ request_is_post(r);
    uint64_t sum = 0;
    for (size_t i = 0; i < r->params.len; i++) {
        const Param *p = &r->params.items[i];
        uint64_t own = hash_bytes(p->path, strlen(p->path));
        if (is_choice(p->text))
            own = mix(own, hash_bytes(p->text, p->n));
        sum += mix(own, 1); /* in any order */
    }
    return mix(h, sum);
}

/* A click: new on such a page, or known in a new state; of both, kinds that were
 * offered seldom come first. Where a redirect leads to in a new state is as good
 * as new. */
static void offer(Campaign *c, Request *r, const Step *step, const State *end, uint64_t screen,
                  const PageOption *o)
{
    bool redirect = !o, varied = o && o->varied;
    note_edge(c, step->request->script, r->script);
    access_note_offer(c, step->role_after, r->script);
    uint64_t shape = shape_of(r);
    uintptr_t before = count(&c->asked, request_hash(r)), alike = count(&c->shapes, shape);
    bool fresh = redirect && count(&c->used, end->hash) == 0;
    if (before >= MOST_STATES_PER_OPTION && !fresh) {
        request_free(r);
        return;
    }
    bool as_new = fresh || count(&c->screens, mix(shape, screen)) == 0;
    if (!before && alike < 4)
        as_new = true;
    search_propose(c, as_new ? CLASS_OPTION : CLASS_STATE, r, end, step,
                   (Config){ .now = fresh ? alike < 30 : o && o->login && alike < 2,
                             .rank = 1 + (unsigned)(as_new ? alike + 3 * varied : before) });
}

/* Pages that offer the same kinds of clicks are one screen. */
static uint64_t screen_of(const Step *step, const Options *o)
{
    uint64_t h = hash_bytes(step->request->script, strlen(step->request->script)), sum = 0;
    Map seen = { 0 };
    for (size_t i = 0; i < o->len; i++) {
        uint64_t shape = shape_of(o->items[i].request);
        if (count(&seen, shape) == 0)
            sum += mix(shape, 3);
    }
    map_release(&seen);
    return mix(h, sum);
}

static void follow_options(Campaign *c, const Step *step, const Reply *r, const State *end)
{
    PagePlan plan = { .from = step->request,
                      .app = c->app,
                      .cgi = c->plan->cgi,
                      .logins = c->plan->logins,
                      .nlogins = c->plan->nlogins };
    const char *location = reply_header(r, "Location");
    if (location) {
        Request *next = page_target(&plan, location);
        if (next)
            offer(c, next, step, end, 0, NULL);
    }
    if (!reply_is_html(r) || r->cut)
        return;
    Options o = { 0 };
    page_options(&plan, str_c(&r->body), r->body.len, &o);
    uint64_t screen = screen_of(step, &o);
    for (size_t i = 0; i < o.len; i++) {
        offer(c, o.items[i].request, step, end, screen, &o.items[i]);
        o.items[i].request = NULL;
    }
    options_release(&o);
}

/* ---- what a run leaves */

static Step *new_step(Campaign *c, const Request *r, const State *start, const Step *before)
{
    Step *s = xcalloc(1, sizeof *s);
    s->before = before;
    s->request = request_copy(r);
    s->start = start;
    s->depth = before ? before->depth + 1 : 0;
    s->role = s->role_after = before ? before->role_after : 0;
    vec_push(&c->steps, s);
    return s;
}

static size_t note_lines(Campaign *c, const Trace *t)
{
    size_t fresh = 0;
    for (size_t i = 0; i < t->hits.len; i++) {
        char *key =
            xprintf("%s:%u", judge_relative(c->app, t->hits.items[i].file), t->hits.items[i].line);
        void **slot = map_slot(&c->lines, key);
        fresh += *slot == NULL;
        *slot = (void *)((uintptr_t)*slot + 1);
        free(key);
    }
    c->web->lines += fresh;
    return fresh;
}

/* Files that other scripts include are parts, and not asked for alone. */
static void note_parts(Campaign *c, const Request *q, const Trace *t)
{
    const char *last = NULL;
    for (size_t i = 0; i < t->hits.len; i++) {
        const char *file = t->hits.items[i].file;
        if (file == last)
            continue;
        last = file;
        const char *own = judge_relative(c->app, file);
        if (strcmp(own, q->script) != 0)
            map_put(&c->parts, own, c);
    }
}

static void note_lost(Campaign *c, const Trace *t)
{
    for (size_t i = 0; i < t->lost.len; i++) {
        void **slot = map_slot(&c->lost, t->lost.items[i].name);
        *slot = (void *)((uintptr_t)*slot + 1);
    }
    c->web->stale += t->stale;
}

static void note_point(Campaign *c)
{
    double now = clock_seconds() - c->begin;
    size_t n = c->web->npoints;
    if (n && c->web->points[n - 1].lines == c->web->lines)
        return;
    if (n > 4000)
        return;
    c->web->points = xrealloc(c->web->points, (n + 1) * sizeof *c->web->points);
    c->web->points[n] = (WebPoint){ now, server_requests(c->server), c->web->lines };
    c->web->npoints++;
}

static void note_faults(Campaign *c, const Step *step, Reply *r, const State *end, bool *kept)
{
    Faults f = { 0 };
    campaign_judge(c, step->request, r, &f);
    campaign_remember(c, step->request, step->start, end, &f);
    for (size_t i = 0; i < f.len; i++) {
        Report *rep = campaign_report(c, &f.items[i], step, r);
        *kept = *kept || (rep->nexamples && rep->examples[rep->nexamples - 1].reply == r);
    }
    faults_release(&f);
}

/* What can be tried next. */
static void follow(Campaign *c, const Config *cfg, const Step *step, const Reply *r,
                   const State *end, size_t fresh)
{
    if (fresh && c->plan->strategy == WEB_MUTATE)
        vec_push(&c->corpus, request_copy(step->request));
    if (c->plan->strategy == WEB_FULL)
        follow_conditions(c, cfg, step, r);
    else if (c->plan->strategy != WEB_CRAWL)
        fill_in(c, step, r->trace);
    if (!c->plan->stateless && c->plan->strategy != WEB_RANDOM)
        follow_options(c, step, r, end);
    if (!c->plan->no_security && c->plan->strategy != WEB_RANDOM)
        attack_propose(c, step, r);
}

Step *search_visit(Campaign *c, const Request *q, const State *start, const Step *before,
                   Visit *out, Err *err)
{
    *out = (Visit){ 0 };
    Reply *r = out->reply = campaign_execute(c, q, start, &out->end, err);
    if (!r)
        return NULL;
    Step *step = new_step(c, q, start, before);
    out->fresh = note_lines(c, r->trace);
    note_lost(c, r->trace);
    note_parts(c, q, r->trace);
    step->whole = r->status == 200 && !r->crashed && !r->timed_out && r->body.len;
    access_note_login(c, step, r, out->end);
    campaign_stores(q, r->trace, &step->stored);
    for (size_t i = 0; i < r->trace->session.len && i < 50; i++)
        strings_add(&step->session, r->trace->session.items[i].name);
    note_faults(c, step, r, out->end, &out->kept);
    note_sides(c, r->trace);
    note_point(c);
    if (out->kept)
        vec_push(&c->kept, r);
    return step;
}

/* The origin's request with another value, then those after it. */
static bool run_back(Campaign *c, const Config *cfg, Err *err)
{
    const Step *rest[MOST_DEPTH_QUEUE], *step = cfg->origin->before;
    const State *state = cfg->origin->start;
    size_t n = 0, fresh = 0, known = c->reports.len, most = MOST_DEPTH_QUEUE;
    for (const Step *s = cfg->before; s != cfg->origin && n < most; s = s->before)
        rest[n++] = s;
    char *name = kept_name(cfg->wish.path);
    Request *q = n < most ? rewritten(c, cfg->origin, name, &cfg->wish) : NULL;
    free(name);
    bool ok = true;
    for (size_t i = n; ok && q; i--) {
        Visit v;
        const Config plain = { 0 };
        Step *own = search_visit(c, q, state, step, &v, err);
        request_free(q);
        ok = own != NULL;
        if (!ok)
            return false;
        follow(c, &plain, own, v.reply, v.end, v.fresh);
        if (!v.kept)
            reply_free(v.reply);
        fresh += v.fresh;
        step = own;
        state = v.end;
        q = i ? request_copy(rest[i - 1]->request) : NULL;
    }
    note_yield(c, cfg, fresh / (n + 1),
               (c->reports.len - known) / (n + 1) + (c->reports.len > known));
    return ok;
}

static bool run_config(Campaign *c, const Config *cfg, Err *err)
{
    Visit v;
    size_t known = c->reports.len;
    Step *step = search_visit(c, cfg->request, cfg->start, cfg->before, &v, err);
    if (!step)
        return false;
    note_yield(c, cfg, v.fresh, c->reports.len - known);
    if (!cfg->attack)
        follow(c, cfg, step, v.reply, v.end, v.fresh);
    if (!v.kept)
        reply_free(v.reply);
    return true;
}

/* ---- other strategies: requests made up */

static const char *random_word(Campaign *c)
{
    static const char *const plain[] = { "", "0", "1", "-1", "2", "a", "test", "999999" };
    if (c->words.len && rng_below(&c->rng, 2))
        return c->words.items[rng_below(&c->rng, c->words.len)];
    return plain[rng_below(&c->rng, sizeof plain / sizeof *plain)];
}

static void random_params(Campaign *c, Request *r, unsigned most)
{
    for (unsigned n = (unsigned)rng_below(&c->rng, most + 1); n && c->known.len; n--) {
        const char *key = c->known.entries[rng_below(&c->rng, c->known.len)].key;
        const char *path = strchr(key, ' ') + 1;
        char *own = str_starts(path, "REQUEST[")
                        ? xprintf("%s%s", rng_below(&c->rng, 2) ? "POST" : "GET", path + 7)
                        : xstrdup(path);
        const char *word = random_word(c);
        request_set(r, own, word, strlen(word));
        free(own);
    }
}

static Config *made_up(Campaign *c)
{
    Config *cfg = xcalloc(1, sizeof *cfg);
    const Step *before = NULL;
    if (c->steps.len && rng_below(&c->rng, 2))
        before = c->steps.items[rng_below(&c->rng, c->steps.len)]->before;
    if (c->plan->strategy == WEB_MUTATE && c->corpus.len)
        cfg->request = request_copy(c->corpus.items[rng_below(&c->rng, c->corpus.len)]);
    else
        cfg->request = request_new(c->scripts.len && !c->plan->only_entry
                                       ? c->scripts.items[rng_below(&c->rng, c->scripts.len)]
                                       : c->plan->entry);
    random_params(c, cfg->request, 6);
    cfg->before = before;
    cfg->start = states_first(c->states);
    for (size_t i = 0; before && i < c->steps.len; i++)
        if (c->steps.items[i]->before == before)
            cfg->start = c->steps.items[i]->start;
    cfg->depth = before ? before->depth + 1 : 0;
    return cfg;
}

/* Meant to be asked for: in the first folder, or an index. Others are mostly
 * parts that only fail when they are asked for alone. */
static bool is_page_script(const char *path)
{
    return !strchr(path, '/') || str_ends(path, "/index.php");
}

/* ---- the loop */

static void begin(Campaign *c)
{
    static const double first[NCLASSES] = {
        [CLASS_TARGET] = 12, [CLASS_OPTION] = 12, [CLASS_STATE] = 4,  [CLASS_REST] = 1,
        [CLASS_DIRECT] = 3,  [CLASS_FILL] = 3,    [CLASS_ATTACK] = 3, [CLASS_BACK] = 6
    };
    memcpy(c->yield, first, sizeof first);
    Request *r = request_new(c->plan->entry);
    /* A program that is given a parameter compares its name with those that it knows. */
    if (c->plan->cgi) {
        Request *asks = request_copy(r);
        request_set(asks, "GET[sundew]", "1", 1);
        search_propose(c, CLASS_FILL, asks, states_first(c->states), NULL, (Config){ 0 });
    }
    search_propose(c, CLASS_OPTION, r, states_first(c->states), NULL, (Config){ 0 });
    for (size_t i = 0; i < c->scripts.len && !c->plan->only_entry && !c->plan->stateless; i++)
        if (strcmp(c->scripts.items[i], c->plan->entry) != 0 && is_page_script(c->scripts.items[i]))
            search_propose(c, CLASS_DIRECT, request_new(c->scripts.items[i]),
                           states_first(c->states), NULL, (Config){ 0 });
}

/* Scripts that nothing has led to, in the newest state that has a session; once
 * for each state. */
static bool again_directly(Campaign *c)
{
    const Step *last = NULL;
    const State *state = NULL;
    for (size_t i = c->steps.len; i-- > 0 && !state;)
        if (c->steps.items[i]->start->cookies.len) {
            state = c->steps.items[i]->start;
            last = c->steps.items[i]->before;
        }
    bool any = false;
    for (size_t i = 0; state && i < c->scripts.len && !c->plan->only_entry && !c->plan->stateless;
         i++)
        if (is_page_script(c->scripts.items[i]))
            any |= search_propose(c, CLASS_DIRECT, request_new(c->scripts.items[i]), state, last,
                                  (Config){ 0 });
    return any;
}

bool search_run(Campaign *c, Err *err)
{
    bool made = c->plan->strategy == WEB_RANDOM || c->plan->strategy == WEB_MUTATE;
    begin(c);
    bool ok = true;
    while (ok && !campaign_over(c)) {
        Config *cfg = made && c->picks > 20 && rng_below(&c->rng, 4) ? NULL : take(c);
        if (!cfg && !made && again_directly(c))
            continue;
        if (!cfg && made && c->plan->seconds + (double)c->plan->most_requests > 0)
            cfg = made_up(c);
        c->picks += made;
        if (!cfg) {
            c->web->complete = true;
            break;
        }
        ok = cfg->origin ? run_back(c, cfg, err) : run_config(c, cfg, err);
        config_free(cfg);
        if (c->plan->progress)
            c->plan->progress(c->plan->progress_arg, "requests", server_requests(c->server));
    }
    return ok;
}

void search_release(Campaign *c)
{
    for (unsigned class = 0; class < NCLASSES; class ++)
        for (unsigned d = 0; d < MOST_DEPTH_QUEUE; d++) {
            Queue *q = &c->queues[class][d];
            for (size_t i = q->head; i < q->len; i++)
                config_free(q->items[i]);
            free(q->items);
        }
    for (size_t i = 0; i < c->steps.len; i++) {
        request_free(c->steps.items[i]->request);
        strings_release(&c->steps.items[i]->session);
        strings_release(&c->steps.items[i]->stored);
        free(c->steps.items[i]);
    }
    vec_release(&c->steps);
}
