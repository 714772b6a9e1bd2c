/* php-cgi as a fork server; server.h is the manual. */
#include "web/server.h"
#include "base/file.h"
#include "base/shared.h"
#include "run/run.h"
#include "web/judge.h"
#include "web/page.h"
#include <assert.h>
#include <inttypes.h>
#include <unistd.h>

enum { KEEP = 8 << 20 };

struct Server {
    ServerPlan plan;
    Runner *runner;
    char *app, *php, *host;
    Strings argv, env;
    Shared channel;
    char *memory;              /* the same */
    uint64_t requests;
    uint64_t failed;           /* in a row */
};

static const char *const interpreters[] = { "php-cgi8.2", NULL };

static char *find_php(void)
{
    for (const char *const *p = interpreters; *p; p++) {
        char *path = path_search(*p, NULL);
        if (path)
            return path;
    }
    return NULL;
}

bool server_is_program(const char *path)
{
    return file_is_regular(path) && access(path, X_OK) == 0;
}

const char *server_missing(const char *libexec, bool cgi)
{
    if (cgi)
        return NULL;
    char *php = find_php();
    char *extension = xprintf("%s/php/sundew.so", libexec);
    bool built = file_exists(extension);
    free(extension);
    if (!php) {
        char *other = path_search("php-cgi8.4", NULL);
        bool newer = other != NULL;
        free(other);
        return newer ? "web works with PHP 8.2; this system has PHP 8.4, which is not supported yet"
                     : "web needs PHP 8.2: run tools/install-deps web, then make";
    }
    free(php);
    return built ? NULL : "the PHP extension is not built: run tools/install-deps web, then make";
}

static void add_ini(Server *s, const char *setting)
{
    strings_add(&s->argv, "-d");
    strings_add(&s->argv, setting);
}

static void settings(Server *s)
{
    static const char *const fixed[] = { "display_errors=0",
                                         "log_errors=0",
                                         "error_reporting=-1",
                                         "html_errors=0",
                                         "output_buffering=4096",
                                         "opcache.enable=0",
                                         "pcov.enabled=0",
                                         "cgi.force_redirect=0",
                                         "cgi.fix_pathinfo=1",
                                         "memory_limit=256M",
                                         "session.gc_probability=0",
                                         "session.use_strict_mode=0",
                                         "allow_url_fopen=0",
                                         "sendmail_path=/bin/false",
                                         "date.timezone=UTC",
                                         "expose_php=0",
                                         NULL };
    strings_add(&s->argv, s->php);
    char *extension = xprintf("extension=%s/php/sundew.so", s->plan.libexec);
    add_ini(s, extension);
    free(extension);
    for (const char *const *f = fixed; *f; f++)
        add_ini(s, *f);
    char *paths[] = {
        xprintf("session.save_path=%s/sessions", s->plan.folder),
        xprintf("upload_tmp_dir=%s/tmp", s->plan.folder),
        xprintf("sys_temp_dir=%s/tmp", s->plan.folder),
        xprintf("mysqli.default_socket=%s/db/socket", s->plan.folder),
        xprintf("pdo_mysql.default_socket=%s/db/socket", s->plan.folder),
        xprintf("max_execution_time=%d", s->plan.seconds > 1   ? (int)s->plan.seconds
                                         : s->plan.seconds > 0 ? 1
                                                               : 5),
        xprintf("auto_prepend_file=%s", s->plan.prepend ? s->plan.prepend : ""),
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        add_ini(s, paths[i]);
        free(paths[i]);
    }
    for (char *const *i = s->plan.ini; i && *i; i++)
        add_ini(s, *i);
}

static void environment(Server *s)
{
    strings_addf(&s->env, "%s=%d", SUNDEW_WEB_ENV, SUNDEW_WEB_FD);
    if (s->plan.cgi) {
        strings_addf(&s->env, "LD_PRELOAD=%s/php/still.so:%s/php/compared.so", s->plan.libexec,
                     s->plan.libexec);
        strings_add(&s->env, "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0");
        strings_add(&s->env, "UBSAN_OPTIONS=print_stacktrace=1");
    } else {
        strings_addf(&s->env, "LD_PRELOAD=%s/php/still.so", s->plan.libexec);
    }
    strings_addf(&s->env, "TMPDIR=%s/tmp", s->plan.folder);
    strings_addf(&s->env, "HOME=%s/tmp", s->plan.folder);
    strings_add(&s->env, "PATH=/usr/bin:/bin");
    strings_add(&s->env, "GATEWAY_INTERFACE=CGI/1.1");
    strings_add(&s->env, "SERVER_SOFTWARE=sundew");
    strings_add(&s->env, "LC_ALL=C.UTF-8");
    if (s->plan.mysql)
        strings_addf(&s->env, "SUNDEW_WEB_DB=%s/db/socket", s->plan.folder);
    for (char *const *e = s->plan.env; e && *e; e++)
        strings_add(&s->env, *e);
}

Server *server_new(const ServerPlan *plan, Err *err)
{
    assert(plan->folder && plan->libexec);
    Server *s = xcalloc(1, sizeof *s);
    s->plan = *plan;
    s->channel.fd = -1;
    s->app = path_join(plan->folder, "app");
    s->php = plan->cgi ? xstrdup("") : find_php();
    s->host = xstrdup("localhost");
    const char *folders[] = { plan->folder, NULL };
    const char *readable[] = { plan->folder, plan->libexec, NULL };
    RunnerPlan rp = { .writable = folders, .readable = readable, .unprotected = plan->unprotected };
    if (!s->php) {
        err_set(err, "%s", server_missing(plan->libexec, false));
        goto fail;
    }
    if (!shared_new(&s->channel, "sundew-web", SUNDEW_WEB_SIZE, err))
        goto fail;
    s->memory = (char *)s->channel.at;
    s->runner = runner_new(&rp, err);
    if (!s->runner)
        goto fail;
    settings(s);
    environment(s);
    return s;
fail:
    server_free(s);
    return NULL;
}

void server_free(Server *s)
{
    if (!s)
        return;
    runner_free(s->runner);
    shared_free(&s->channel);
    strings_release(&s->argv);
    strings_release(&s->env);
    free(s->app);
    free(s->php);
    free(s->host);
    free(s);
}

void server_host(Server *s, const char *host)
{
    free(s->host);
    s->host = xstrdup(host);
}

uint64_t server_requests(const Server *s) { return s->requests; }
const char *server_unprotected(const Server *s) { return runner_missing(s->runner); }

/* ---- one request */

/* Variables are NAME=VALUE, each ended by a NUL. */
static void add_variable(Str *out, const char *name, const char *value)
{
    str_addf(out, "%s=%s", name, value);
    str_addc(out, '\0');
}

static void add_headers(const Request *r, Str *out)
{
    for (size_t i = 0; i < r->params.len; i++) {
        const Param *p = &r->params.items[i];
        if (!str_starts(p->path, "SERVER["))
            continue;
        char *name = request_name(p->path);
        if (strcmp(name, "REQUEST_METHOD") != 0 && strcmp(name, "CONTENT_TYPE") != 0 &&
            strlen(p->text) == p->n)
            add_variable(out, name, p->text);
        free(name);
    }
}

/* Of two cookies with one name PHP takes the first: the request's own come first. */
static void add_cookies(const Request *r, const char *jar, Str *out)
{
    Str own = { 0 };
    request_cookies(r, &own);
    if (own.len || (jar && *jar)) {
        str_addf(out, "HTTP_COOKIE=%s%s%s", str_c(&own), jar && *jar && own.len ? "; " : "",
                 jar ? jar : "");
        str_addc(out, '\0');
    }
    str_release(&own);
}

static void variables(const Server *s, const Request *r, const Str *body, const char *type,
                      Str *out)
{
    Str query = { 0 };
    request_query(r, &query);
    const Param *info = request_get(r, "SERVER[PATH_INFO]");
    const Param *method = request_get(r, "SERVER[REQUEST_METHOD]");
    add_variable(out, "REQUEST_METHOD",
                 request_is_post(r)        ? "POST"
                 : method && *method->text ? method->text
                                           : "GET");
    add_variable(out, "QUERY_STRING", str_c(&query));
    str_addf(out, "SCRIPT_FILENAME=%s/%s", s->app, r->script);
    str_addc(out, '\0');
    str_addf(out, "SCRIPT_NAME=/%s", r->script);
    str_addc(out, '\0');
    str_addf(out, "REQUEST_URI=/%s%s%s%s", r->script, info ? info->text : "", query.len ? "?" : "",
             str_c(&query));
    str_addc(out, '\0');
    if (info) {
        str_addf(out, "PATH_TRANSLATED=%s/%s%s", s->app, r->script, info->text);
        str_addc(out, '\0');
    }
    add_variable(out, "DOCUMENT_ROOT", s->app);
    add_variable(out, "SERVER_NAME", "localhost");
    const char *port = strchr(s->host, ':');
    add_variable(out, "SERVER_PORT", port ? port + 1 : "80");
    add_variable(out, "SERVER_ADDR", "127.0.0.1");
    add_variable(out, "SERVER_PROTOCOL", "HTTP/1.1");
    add_variable(out, "REMOTE_ADDR", "127.0.0.1");
    add_variable(out, "HTTP_HOST", s->host);
    if (!request_get(r, "SERVER[HTTP_ACCEPT]"))
        add_variable(out, "HTTP_ACCEPT", "text/html,*/*");
    if (!request_get(r, "SERVER[HTTP_USER_AGENT]"))
        add_variable(out, "HTTP_USER_AGENT", "Mozilla/5.0 (Sundew)");
    if (type) {
        add_variable(out, "CONTENT_TYPE", type);
        str_addf(out, "CONTENT_LENGTH=%zu", body->len);
        str_addc(out, '\0');
    }
    add_headers(r, out);
    str_release(&query);
}

static char *trimmed(const char *s, size_t n)
{
    while (n && (*s == ' ' || *s == '\t'))
        s++, n--;
    while (n && (s[n - 1] == ' ' || s[n - 1] == '\r'))
        n--;
    return xstrndup(s, n);
}

static void read_page(Reply *r, const Str *out)
{
    const char *p = str_c(out), *end = p + out->len;
    r->status = 200;
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl)
            nl = end;
        size_t n = (size_t)(nl - p);
        if (n == 0 || (n == 1 && *p == '\r')) {
            p = nl + 1;
            break;
        }
        const char *colon = memchr(p, ':', n);
        if (!colon)
            break;
        Header *h = vec_grow(&r->headers);
        h->name = trimmed(p, (size_t)(colon - p));
        h->value = trimmed(colon + 1, (size_t)(nl - colon - 1));
        if (strcasecmp(h->name, "Status") == 0)
            r->status = atoi(h->value);
        p = nl + 1;
    }
    if (p < end)
        str_addn(&r->body, p, (size_t)(end - p));
}

/* What the process finds in the channel. */
static bool hand_over(Server *s, const Str *text, Err *err)
{
    struct sundew_web *h = (struct sundew_web *)s->memory;
    if (text->len > SUNDEW_WEB_REQUEST)
        return err_set(err, "a request of %zu bytes is too large", text->len);
    memset(h, 0, sizeof *h);
    if (text->len)
        memcpy(s->memory + SUNDEW_WEB_HEADER, text->data, text->len);
    h->request_len = (uint32_t)text->len;
    return true;
}

static void take_end(Reply *r, const RunResult *res)
{
    r->timed_out = res->failure.kind == FAILURE_HANG || res->failure.kind == FAILURE_TIMEOUT ||
                   res->failure.kind == FAILURE_CPU_LIMIT;
    r->signal = res->failure.signal;
    r->seconds = res->cpu_seconds;
    r->cut = res->out.truncated;
    read_page(r, &res->out.text);
    r->entangled = reply_is_html(r) && !page_is_bearable(str_c(&r->body), r->body.len);
    r->cut |= r->entangled;
}

static Reply *run(Server *s, const Str *vars, const Str *body, Err *err)
{
    if (!hand_over(s, vars, err))
        return NULL;
    RunFd fd = { .fd = s->channel.fd, .as = SUNDEW_WEB_FD };
    double seconds = s->plan.seconds > 0 ? s->plan.seconds : 5;
    RunPlan plan = {
        .argv = strings_argv(&s->argv),
        .file = s->php,
        .env = strings_argv(&s->env),
        .cwd = s->app,
        .input = body ? body->data : NULL,
        .input_len = body ? body->len : 0,
        .fds = &fd,
        .nfds = 1,
        .server = true,
        .untraced = true,
        .keep_output = KEEP,
        .limits = { .wall = seconds * 4 + 2, .cpu = seconds + 1, .memory = 1u << 30 },
    };
    RunResult res = { 0 };
    s->requests++;
    Err why = { 0 };
    bool ok = runner_run(s->runner, &plan, &res, &why);
    /* A request may kill its server: that is a result, the server starts anew.
     * Several in a row mean that PHP itself can't be run. */
    s->failed = ok ? 0 : s->failed + 1;
    if (!ok && (s->requests == s->failed || s->failed > 4)) {
        err_set(err, "%s", why.msg);
        return NULL;
    }
    Reply *r = xcalloc(1, sizeof *r);
    r->trace = trace_read(s->memory);
    if (!ok) {
        r->crashed = true;
        return r;
    }
    take_end(r, &res);
    r->crashed = r->signal != 0 && !r->timed_out;
    run_result_release(&res);
    return r;
}

/* ---- a program under CGI */

/* Its parameters, for php/compared.c. */
static void add_params(const Request *r, Str *out)
{
    const char *method = request_is_post(r) ? "POST" : "GET";
    for (size_t i = 0; i < r->params.len; i++) {
        const Param *p = &r->params.items[i];
        str_addn(out, p->path, strlen(p->path) + 1);
        str_addn(out, p->text, strlen(p->text) + 1);
    }
    if (!request_get(r, "SERVER[REQUEST_METHOD]")) {
        str_addn(out, "SERVER[REQUEST_METHOD]", 23);
        str_addn(out, method, strlen(method) + 1);
    }
}

static void take_failure(Reply *r, const RunResult *res)
{
    const FailureFrame *at = failure_site(&res->failure);
    Str text = { 0 };
    if (failure_is(&res->failure) && !r->timed_out) {
        failure_describe(&res->failure, &text);
        r->crashed = true;
    } else if (!r->timed_out && !reply_header(r, "Content-Type") && !reply_header(r, "Location") &&
               !reply_header(r, "Status")) {
        str_add(&text, "the answer has no header");
    } else if (!r->timed_out && res->failure.status) {
        str_addf(&text, "the program ends with status %d", res->failure.status);
    }
    r->failure = text.len ? str_take(&text) : NULL;
    r->failed_in = r->failure && at && at->file ? xstrdup(at->file) : NULL;
    r->failed_at = r->failed_in ? at->line : 0;
}

static Reply *run_program(Server *s, const Request *req, const Str *vars, const Str *body, Err *err)
{
    Str params = { 0 };
    add_params(req, &params);
    bool ok = hand_over(s, &params, err);
    str_release(&params);
    if (!ok)
        return NULL;
    Strings env = { 0 }, argv = { 0 };
    for (size_t i = 0; i < s->env.len; i++)
        strings_add(&env, s->env.items[i]);
    for (size_t at = 0; at < vars->len; at += strlen(vars->data + at) + 1)
        strings_add(&env, vars->data + at);
    strings_addf(&argv, "%s/%s", s->app, req->script);
    char *folder = path_dir(argv.items[0]);
    RunFd fd = { .fd = s->channel.fd, .as = SUNDEW_WEB_FD };
    double seconds = s->plan.seconds > 0 ? s->plan.seconds : 5;
    RunPlan plan = {
        .argv = strings_argv(&argv),
        .env = strings_argv(&env),
        .cwd = folder,
        .input = body->data,
        .input_len = body->len,
        .fds = &fd,
        .nfds = 1,
        .keep_output = KEEP,
        .limits = { .wall = seconds * 4 + 2, .cpu = seconds, .memory = 1u << 30 },
    };
    RunResult res = { 0 };
    s->requests++;
    Err why = { 0 };
    Reply *r = xcalloc(1, sizeof *r);
    bool ran = runner_run(s->runner, &plan, &res, &why);
    r->trace = trace_read(s->memory);
    s->failed = ran ? 0 : s->failed + 1;
    if (ran) {
        take_end(r, &res);
        take_failure(r, &res);
    } else if (s->requests > s->failed && s->failed < 5) {
        r->crashed = true;
        r->failure = xstrdup("the program can't be run");
    } else {
        err_set(err, "%s", why.msg);
        reply_free(r);
        r = NULL;
    }
    run_result_release(&res);
    strings_release(&env);
    strings_release(&argv);
    free(folder);
    return r;
}

Reply *server_request(Server *s, const Request *req, const Kept *kept, Err *err)
{
    Str vars = { 0 }, body = { 0 };
    char *type;
    request_body(req, &body, &type);
    variables(s, req, &body, type, &vars);
    add_cookies(req, kept->cookies, &vars);
    if (kept->labels && *kept->labels)
        add_variable(&vars, "SUNDEW_SESSION_KEYS", kept->labels);
    if (kept->stored && *kept->stored)
        add_variable(&vars, "SUNDEW_STORED", kept->stored);
    if (kept->seed) {
        str_addf(&vars, "SUNDEW_WEB_SEED=%" PRIx64, kept->seed);
        str_addc(&vars, '\0');
    }
    Reply *r = s->plan.cgi ? run_program(s, req, &vars, &body, err) : run(s, &vars, &body, err);
    free(type);
    str_release(&vars);
    str_release(&body);
    return r;
}

Reply *server_list(Server *s, const char *file, Err *err)
{
    Str vars = { 0 };
    str_addf(&vars, "SUNDEW_WEB_LIST=%s/%s", s->app, file);
    str_addc(&vars, '\0');
    str_addf(&vars, "SCRIPT_FILENAME=%s/%s", s->app, file);
    str_addc(&vars, '\0');
    add_variable(&vars, "REQUEST_METHOD", "GET");
    Reply *r = run(s, &vars, NULL, err);
    str_release(&vars);
    return r;
}

void reply_free(Reply *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->headers.len; i++) {
        free(r->headers.items[i].name);
        free(r->headers.items[i].value);
    }
    vec_release(&r->headers);
    str_release(&r->body);
    free(r->failure);
    free(r->failed_in);
    trace_free(r->trace);
    free(r);
}

const char *reply_header(const Reply *r, const char *name)
{
    for (size_t i = 0; i < r->headers.len; i++)
        if (strcasecmp(r->headers.items[i].name, name) == 0)
            return r->headers.items[i].value;
    return NULL;
}
