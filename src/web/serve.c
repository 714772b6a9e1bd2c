/*
 * The passive mode: a person clicks in a browser, and every request is recorded
 * and judged.
 *
 * The server listens on 127.0.0.1 only, and answers one request after the other,
 * because they change one state. Browsers open connections that they don't use, so
 * all connections are watched at once; one that sends nothing holds up nobody. Each
 * carries one request.
 *
 * A request of another host's name (a name that was made to point here), or one that
 * another site's page sends, is refused. Scripts run as in the search, in the sandbox
 * on the private copy; other files are read from the copy, links are not followed.
 *
 * A request is a step behind the step before. So the chain that leads to a fault is
 * known, and is made small as the search's are.
 */
#include "web/http.h"
#include "web/web_int.h"
#include "base/below.h"
#include "base/escape.h"
#include "base/units.h"
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 64, MOST_STATIC = 32 << 20 };
static const double patience = 15;     /* seconds for a whole request, or to take an answer */

typedef struct Connection {
    int fd;                    /* -1: none */
    double since;
    bool told_to_go_on;
    Str in;
} Connection;

typedef struct Serving {
    Campaign *c;
    int listener;
    char *host;                /* 127.0.0.1:PORT */
    Connection connections[MOST_CONNECTIONS];
    const State *state;
    const Step *last;
    uint64_t scripts;          /* requests that PHP answered */
    Err *err;
    bool failed;
} Serving;

static bool start_listening(Serving *s, unsigned port, Err *err)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof at;
    int yes = 1;
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->listener < 0 ||
        setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(s->listener, (struct sockaddr *)&at, n) != 0 || listen(s->listener, 64) != 0 ||
        getsockname(s->listener, (struct sockaddr *)&at, &n) != 0)
        return err_set(err, "127.0.0.1:%u: %s", port, strerror(errno));
    s->host = xprintf("127.0.0.1:%u", ntohs(at.sin_port));
    return true;
}

/* ---- connections */

static void hang_up(Connection *k)
{
    if (k->fd >= 0)
        close(k->fd);
    str_release(&k->in);
    *k = (Connection){ .fd = -1 };
}

/* All of it, or the browser is not interested. */
static void send_all(int fd, const Str *out)
{
    double until = clock_seconds() + patience;
    for (size_t at = 0; at < out->len && clock_seconds() < until;) {
        ssize_t n = send(fd, out->data + at, out->len - at, MSG_NOSIGNAL | MSG_DONTWAIT);
        struct pollfd p = { .fd = fd, .events = POLLOUT };
        if (n > 0)
            at += (size_t)n;
        else if (n < 0 && (errno == EAGAIN || errno == EINTR))
            poll(&p, 1, 200);
        else
            return;
    }
}

static void send_plain(int fd, int status, const char *text)
{
    Str out = { 0 };
    http_plain(status, "text/plain", text, strlen(text), NULL, false, &out);
    send_all(fd, &out);
    str_release(&out);
}

static void take_connections(Serving *s)
{
    for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
        Connection *k = &s->connections[i];
        if (k->fd >= 0)
            continue;
        k->fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (k->fd < 0)
            return;
        k->since = clock_seconds();
    }
}

/* ---- one request */

/* Was it meant for us? Another site's page, or a name of its own that points to this
 * machine, may not make the browser ask. */
static bool is_for_us(const Serving *s, const HttpMessage *m)
{
    const char *host = http_header(m, "Host"), *origin = http_header(m, "Origin");
    const char *port = strchr(s->host, ':');
    char *name = xprintf("localhost%s", port), *ours = xprintf("http://%s", s->host);
    char *too = xprintf("http://%s", name);
    bool is = host && (strcasecmp(host, s->host) == 0 || strcasecmp(host, name) == 0) &&
              (!origin || strcmp(m->method, "GET") == 0 || strcasecmp(origin, ours) == 0 ||
               strcasecmp(origin, too) == 0);
    free(name);
    free(ours);
    free(too);
    return is;
}

static void tell(Serving *s, const char *text)
{
    if (s->c->plan->told)
        s->c->plan->told(s->c->plan->progress_arg, text);
}

static void tell_faults(Serving *s, const Request *q, size_t known)
{
    for (size_t i = known; i < s->c->reports.len; i++) {
        const Fault *f = &s->c->reports.items[i]->fault;
        char *text = xprintf("%s:%u: %s: %s", *f->file ? f->file : q->script, f->line,
                             fault_kind_name(f->kind), f->message);
        tell(s, text);
        free(text);
    }
}

static void note_way(Serving *s, const Request *q)
{
    if (!s->last)
        return;
    char *key = xprintf("%s\n%s", s->last->request->script, q->script);
    map_put(&s->c->edges, key, s->c);
    free(key);
}

static void run_script(Serving *s, const HttpMessage *m, const HttpTarget *t, Str *out)
{
    Request *q = http_request(m, t, &s->state->cookies);
    size_t known = s->c->reports.len;
    Visit v;
    note_way(s, q);
    Step *step = search_visit(s->c, q, s->state, s->last, &v, s->err);
    s->failed = step == NULL;
    if (step) {
        Str text = { 0 };
        request_describe(q, &text);
        tell(s, str_c(&text));
        str_release(&text);
        tell_faults(s, q, known);
        s->last = step;
        s->state = v.end;
        s->scripts++;
        s->c->web->recorded =
            xrealloc(s->c->web->recorded, (s->c->web->nrecorded + 1) * sizeof(Request *));
        s->c->web->recorded[s->c->web->nrecorded++] = request_copy(q);
        bool head = strcmp(m->method, "HEAD") == 0;
        const char *sorry =
            v.reply->timed_out ? "the request did not end\n" : "the interpreter died\n";
        if (v.reply->timed_out || v.reply->crashed)
            http_plain(v.reply->timed_out ? 504 : 502, "text/plain", sorry, strlen(sorry), NULL,
                       head, out);
        else
            http_answer(v.reply, head, out);
        if (!v.kept)
            reply_free(v.reply);
    }
    request_free(q);
}

static void send_file(Serving *s, const char *file, bool head, Str *out)
{
    Str text = { 0 };
    if (below_read(s->c->app, file, MOST_STATIC, &text, NULL))
        http_plain(200, http_type(file), str_c(&text), text.len, NULL, head, out);
    else
        http_plain(404, "text/plain", "there is no such page\n", 22, NULL, head, out);
    str_release(&text);
}

static void add_folder(const HttpMessage *m, bool head, Str *out)
{
    Str to = { 0 };
    escape_uri(&to, m->path);
    str_addc(&to, '/');
    if (*m->query)
        str_addf(&to, "?%s", m->query);
    http_plain(301, "text/plain", "", 0, str_c(&to), head, out);
    str_release(&to);
}

static void answer(Serving *s, Connection *k, const HttpMessage *m)
{
    Str out = { 0 };
    bool head = strcmp(m->method, "HEAD") == 0;
    HttpTarget t = http_target(s->c->app, s->c->plan->entry, m->path);
    if (!is_for_us(s, m))
        http_plain(403, "text/plain", "not from here\n", 14, NULL, head, &out);
    else if (t.what == HTTP_SCRIPT)
        run_script(s, m, &t, &out);
    else if (t.what == HTTP_FILE)
        send_file(s, t.file, head, &out);
    else if (t.what == HTTP_FOLDER)
        add_folder(m, head, &out);
    else
        http_plain(404, "text/plain", "there is no such page\n", 22, NULL, head, &out);
    http_target_release(&t);
    send_all(k->fd, &out);
    str_release(&out);
}

static void hear(Serving *s, Connection *k)
{
    char room[16384];
    ssize_t n = recv(k->fd, room, sizeof room, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        hang_up(k);
        return;
    }
    str_addn(&k->in, room, (size_t)n);
    HttpMessage m = { 0 };
    int status = http_read(str_c(&k->in), k->in.len, &m);
    if (status == 0 && !k->told_to_go_on && http_waits(str_c(&k->in), k->in.len)) {
        Str go = { 0 };
        str_add(&go, "HTTP/1.1 100 Continue\r\n\r\n");
        send_all(k->fd, &go);
        str_release(&go);
        k->told_to_go_on = true;
    }
    if (status == 0)
        return;
    if (status == 200)
        answer(s, k, &m);
    else
        send_plain(k->fd, status, "this request can't be read\n");
    http_release(&m);
    hang_up(k);
}

/* ---- the loop */

static void listen_once(Serving *s)
{
    struct pollfd polls[MOST_CONNECTIONS + 1] = { { .fd = s->listener, .events = POLLIN } };
    double now = clock_seconds();
    bool full = true;
    for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
        Connection *k = &s->connections[i];
        if (k->fd >= 0 && now - k->since > patience)
            hang_up(k);
        polls[i + 1] = (struct pollfd){ .fd = k->fd, .events = POLLIN };
        full = full && k->fd >= 0;
    }
    if (full)
        polls[0].fd = -1;
    if (poll(polls, MOST_CONNECTIONS + 1, 200) <= 0)
        return;
    for (size_t i = 0; i < MOST_CONNECTIONS && !s->failed; i++)
        if (polls[i + 1].fd >= 0 && polls[i + 1].revents)
            hear(s, &s->connections[i]);
    if (polls[0].revents)
        take_connections(s);
}

/* The rest of the time makes faults small. */
static bool is_enough(const Serving *s)
{
    const WebPlan *p = s->c->plan;
    return (p->seconds > 0 && clock_seconds() - s->c->begin > p->seconds * 0.9) ||
           (p->most_requests && s->scripts >= p->most_requests) ||
           (p->enough ? p->enough(p->stop_arg) : p->stop && p->stop(p->stop_arg));
}

bool serve_run(Campaign *c, Err *err)
{
    Serving s = { .c = c, .listener = -1, .state = states_first(c->states), .err = err };
    for (size_t i = 0; i < MOST_CONNECTIONS; i++)
        s.connections[i].fd = -1;
    bool ok = start_listening(&s, c->plan->port, err);
    if (ok) {
        server_host(c->server, s.host);
        char *text = xprintf("the application is at http://%s/ now; Ctrl-C when you have "
                             "clicked enough",
                             s.host);
        tell(&s, text);
        free(text);
    }
    while (ok && !s.failed && !is_enough(&s))
        listen_once(&s);
    c->web->complete = true;
    for (size_t i = 0; i < MOST_CONNECTIONS; i++)
        hang_up(&s.connections[i]);
    if (s.listener >= 0)
        close(s.listener);
    free(s.host);
    return ok && !s.failed;
}
