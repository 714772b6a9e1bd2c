/* What PHP applications send: the log of a request, pages, patterns. */
#include "fuzz.h"
#include "../unit/tree.h"
#include "web/flip.h"
#include "web/http.h"
#include "web/judge.h"
#include "web/page.h"
#include "web/regex.h"
#include "web/trace.h"
#include <stdlib.h>
#include <string.h>

static void add(Str *s, unsigned kind, uint32_t id, uint32_t op, uint32_t node,
                const uint32_t *args, const char *text)
{
    struct sundew_web_record r = {
        .kind = kind, .id = id, .op = op, .node = node, .line = 3, .text = (uint32_t)strlen(text)
    };
    size_t nargs = kind == WEB_NODE ? node : 0;
    r.len = (uint32_t)((sizeof r + nargs * 4 + r.text + 3) / 4 * 4);
    size_t end = s->len + r.len;
    str_addn(s, (char *)&r, sizeof r);
    if (nargs)
        str_addn(s, (const char *)args, nargs * 4);
    str_add(s, text);
    while (s->len < end)
        str_addc(s, 0);
}

/* A condition on each function that can be computed. */
static void make_calls_of_php(const struct sundew_web *head, Samples_ *out)
{
    static const char *const names[] = { "strpos",        "stripos",
                                         "strrpos",       "substr",
                                         "strtolower",    "strtoupper",
                                         "trim",          "ltrim",
                                         "rtrim",         "explode",
                                         "implode",       "in_array",
                                         "preg_match",    "str_replace",
                                         "intval",        "floatval",
                                         "strval",        "is_numeric",
                                         "ctype_digit",   "ctype_alpha",
                                         "strcmp",        "strcasecmp",
                                         "strncmp",       "md5",
                                         "sha1",          "strlen",
                                         "str_contains",  "str_starts_with",
                                         "str_ends_with", "htmlspecialchars",
                                         "urldecode",     "urlencode",
                                         "ucfirst",       "lcfirst",
                                         "strrev",        "str_repeat",
                                         "abs",           "max",
                                         "min",           "round",
                                         "floor",         "ceil",
                                         "ord",           "chr",
                                         "dechex",        "hexdec",
                                         "strstr",        "nl2br",
                                         "addslashes",    "stripslashes",
                                         "base64_encode", "base64_decode",
                                         "number_format", "filter_var",
                                         "count",         "array_key_exists",
                                         "is_null",       "is_string",
                                         "is_int",        "empty",
                                         "#element",      "ucwords",
                                         "str_pad",       "wordwrap",
                                         "sprintf" };
    Str s = { 0 };
    uint32_t id = 1;
    str_addn(&s, (const char *)head, sizeof *head);
    add(&s, WEB_NODE, id++, WOP_INPUT, 0, NULL, "GET[a]");
    add(&s, WEB_NODE, id++, WOP_CONST, 0, NULL, "S/^a+b?$/");
    add(&s, WEB_NODE, id++, WOP_CONST, 0, NULL, "I3");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (uint32_t n = 1; n <= 3; n++) {
            uint32_t args[3] = { n == 2 ? 2 : 1, n == 2 ? 1 : 2, n == 3 ? 3 : 1 };
            add(&s, WEB_NODE, id, WOP_CALL, n, args, names[i]);
            add(&s, WEB_NODE, id + 1, WOP_EQ, 2, (uint32_t[]){ id, i % 2 ? 3 : 2 }, "");
            add(&s, WEB_BRANCH, id, 0, id + 1, NULL, "");
            id += 2;
            if (id % 16 == 0 || i + 1 == sizeof names / sizeof *names) {
                fuzz_sample(out, s.data, s.len);
            }
            if (s.len > 1500) {
                fuzz_sample(out, s.data, s.len);
                s.len = sizeof *head;
                id = 1;
                add(&s, WEB_NODE, id++, WOP_INPUT, 0, NULL, "GET[a]");
                add(&s, WEB_NODE, id++, WOP_CONST, 0, NULL, "Sab");
                add(&s, WEB_NODE, id++, WOP_CONST, 0, NULL, "I2");
            }
        }
    str_release(&s);
}

static void make_web_logs(Samples_ *out)
{
    struct sundew_web head = { .magic = SUNDEW_WEB_MAGIC,
                               .version = SUNDEW_WEB_VERSION,
                               .begun = 1,
                               .ended = 1,
                               .log_len = 4096 };
    Str s = { 0 };
    str_addn(&s, (char *)&head, sizeof head);
    add(&s, WEB_FILE, 0, 0, 0, NULL, "/app/index.php");
    add(&s, WEB_NODE, 1, WOP_INPUT, 0, NULL, "GET[a]");
    add(&s, WEB_NODE, 2, WOP_CONST, 0, NULL, "I12");
    add(&s, WEB_NODE, 3, WOP_INT, 1, (uint32_t[]){ 1 }, "");
    add(&s, WEB_NODE, 4, WOP_LT, 2, (uint32_t[]){ 3, 2 }, "");
    add(&s, WEB_NODE, 5, WOP_NOT, 1, (uint32_t[]){ 4 }, "");
    add(&s, WEB_NODE, 6, WOP_CONST, 0, NULL, "Stext");
    add(&s, WEB_NODE, 7, WOP_EQ, 2, (uint32_t[]){ 1, 6 }, "");
    add(&s, WEB_NODE, 8, WOP_CALL, 2, (uint32_t[]){ 1, 6 }, "strpos");
    add(&s, WEB_NODE, 9, WOP_IN, 3, (uint32_t[]){ 1, 2, 6 }, "");
    vec_push(out, s);
    s = (Str){ 0 };
    str_addn(&s, out->items[out->len - 1].data, out->items[out->len - 1].len);
    for (uint32_t op = WOP_ADD; op <= WOP_OPAQUE; op++)
        add(&s, WEB_NODE, 10 + op - WOP_ADD, op, 2, (uint32_t[]){ 1, 2 }, "");
    for (uint32_t node = 1; node < 10 + WOP_OPAQUE - WOP_ADD; node++)
        add(&s, WEB_BRANCH, node, node % 2, node, NULL, "");
    add(&s, WEB_ERROR, 0, 2, 0, NULL, "Undefined variable");
    static const char *const stacks[] = { "\nf\t/app/x.php\t3\ng\t/y\t4\nbad\n", "\nf\t/x\t1",
                                          "no stack", "" };
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        char *text = xprintf("Error\r%s", stacks[i]);
        add(&s, WEB_ERROR, 0, 2, 0, NULL, text);
        *(char *)memrchr(s.data, '\r', s.len) = 0;     /* ends the message */
        free(text);
    }
    add(&s, WEB_OUTPUT, 0, 0, 12, NULL, "");
    add(&s, WEB_FRAGMENT, 0, 0, 0, NULL, "<b>");
    add(&s, WEB_SINK, 0, SINK_SQL, 1, NULL, "SELECT 1");
    add(&s, WEB_HIT, 0, 0, 0, NULL, "");
    add(&s, WEB_LINE, 0, 0, 0, NULL, "");
    add(&s, WEB_LOST, 0, 0, 1, NULL, "md5");
    add(&s, WEB_SESSION, 0, 0, 1, NULL, "user");
    add(&s, WEB_EXIT, 0, 0, 0, NULL, "");
    vec_push(out, s);
    make_calls_of_php(&head, out);
    for (size_t i = 0; i < out->len; i++) {
        uint32_t len = (uint32_t)(out->items[i].len - sizeof head);
        memcpy(out->items[i].data + offsetof(struct sundew_web, log_len), &len, 4);
    }
}

/* Requests for which its conditions turn. */
static void turn(const Trace *t)
{
    Request *base = request_new("index.php");
    Rng rng = rng_seeded(1);
    Strings words = { 0 };
    strings_add(&words, "word");
    request_set(base, "GET[a]", "12", 2);
    for (size_t i = 0; i < t->branches.len && i < 60; i++) {
        Cond c = { t->branches.items[i].node, !t->branches.items[i].taken };
        FlipPlan plan = { .trace = t, .base = base, .words = &words, .rng = &rng, .budget = 10 };
        FlipWhy why;
        request_free(flip_solve(&plan, &c, 1, &why));
    }
    strings_release(&words);
    request_free(base);
}

static void read_web_log(const uint8_t *data, size_t n)
{
    static char *channel;
    enum { HEAD = sizeof(struct sundew_web) };
    if (!channel)
        channel = xcalloc(1, SUNDEW_WEB_SIZE);
    char *log = channel + SUNDEW_WEB_HEADER + SUNDEW_WEB_REQUEST;
    size_t len = n > HEAD ? n - HEAD : 0;
    memset(channel, 0, HEAD);
    memcpy(channel, data, n < HEAD ? n : HEAD);
    memcpy(log, data + (n < HEAD ? n : HEAD), len);
    memset(log + len, 0, 256);
    Trace *t = trace_read(channel);
    Str out = { 0 };
    for (uint32_t i = 1; i < t->nnodes && i < 200; i++) {
        Strings names = { 0 };
        trace_print(t, i, i % 2, &out);
        trace_inputs(t, i, &names);
        strings_release(&names);
    }
    turn(t);
    str_release(&out);
    trace_free(t);
}

static void says(void *arg, bool error, const char *message, unsigned line, unsigned column)
{
    (void)error, (void)line, (void)column;
    *(size_t *)arg += strlen(message);
}

static void read_page(const uint8_t *data, size_t n)
{
    Request *from = request_new("admin/index.php");
    Credential login = { "u", "p" };
    PagePlan plan = { .from = from, .app = fuzz_folder(), .logins = &login, .nlogins = 1 };
    Options out = { 0 };
    size_t sum = 0;
    fuzz_file("index.php", (const uint8_t *)"", 0);
    page_options(&plan, (const char *)data, n, &out);
    html_check((const char *)data, n, true, says, &sum);
    Str text = { 0 };
    for (size_t i = 0; i < out.len; i++) {
        char *type = NULL;
        request_canonical(out.items[i].request, &text);
        request_describe(out.items[i].request, &text);
        request_query(out.items[i].request, &text);
        request_body(out.items[i].request, &text, &type);
        request_cookies(out.items[i].request, &text);
        free(type);
    }
    str_release(&text);
    options_release(&out);
    request_free(from);
}

static void read_php_pattern(const uint8_t *data, size_t n)
{
    Rng rng = rng_seeded(n);
    char *text = fuzz_text(data, n);
    free(regex_sample(text, &rng));
    free(text);
}

static void write_request(const Request *r)
{
    Str text = { 0 };
    char *type = NULL;
    request_canonical(r, &text);
    request_describe(r, &text);
    request_query(r, &text);
    request_cookies(r, &text);
    str_reset(&text);
    request_body(r, &text, &type);
    free(type);
    str_release(&text);
}

/* What a browser sends to `sundew web --serve`: a request, and a body of JSON. */
static void read_browser(const uint8_t *data, size_t n)
{
    const char *bytes = (const char *)data;
    Strings jar = { 0 };
    strings_add(&jar, "s=1");
    strings_add(&jar, "t=%2B");
    HttpMessage m = { 0 };
    fuzz_file("index.php", (const uint8_t *)"", 0);
    http_waits(bytes, n);
    if (http_read(bytes, n, &m) == 200) {
        HttpTarget t = http_target(fuzz_folder(), "index.php", m.path);
        Request *r = t.what == HTTP_SCRIPT ? http_request(&m, &t, &jar) : NULL;
        if (r)
            write_request(r);
        request_free(r);
        http_target_release(&t);
    }
    http_release(&m);
    Request *json = request_new("index.php");
    if (request_add_json(json, bytes, n))
        write_request(json);
    request_free(json);
    strings_release(&jar);
}

const FuzzReader fuzz_web[] = {
    { .name = "browser",
      .read = read_browser,
      .texts = { "POST /index.php/x%20y?a=1&b[]=2&c=%41+ HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nCookie: s=1; u=2\r\n"
                 "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\n\r\nx=1&y=2",
                 "POST / HTTP/1.1\r\nHost: h\r\nX-Requested-With: x\r\nExpect: 100-continue\r\n"
                 "Content-Type: multipart/form-data; boundary=\"B\"\r\nContent-Length: 157\r\n\r\n"
                 "--B\r\nContent-Disposition: form-data; name=\"a[x]\"\r\n\r\n1&2\r\n"
                 "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"n.gif\"\r\n\r\nGIF\r\n--B--\r\n    ",
                 "PUT /a/./b//index.php HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 24\r\n\r\n"
                 "{\"a\":1,\"b\":[true,\"x\"]}",
                 "{\"a\":{\"b\":[1,2.5,\"x\",false]},\"c[\":\"\",\"d\":{\"0\":1,\"1\":2}}",
                 "[1,[2,[3]]]" } },
    { .name = "web-log", .read = read_web_log, .make = make_web_logs },
    { .name = "page",
      .read = read_page,
      .texts = { "<html><a href='../index.php?a=1&amp;b[]=2#x'>l</a><form action=\"index.php\" method=post "
                 "enctype=multipart/form-data><input name=u value='v'><input type=password name=p><input "
                 "type=checkbox name=c checked><input type=radio name=r value=1><select name='s[]' "
                 "multiple><option>1<option value=2 selected>x</select><textarea name=t>y</textarea>"
                 "<input type=file name=f><button name=b value=z></form><meta http-equiv=refresh "
                 "content='0; url=/index.php'><script>location.href='index.php?q=1'</script></html>",
                 "<frame src=index.php><iframe src='//x/index.php'><area href='http://localhost/index.php'>"
                 "<img src='a.png'><a href='javascript:x'><a href='?x=1'><a href='mailto:a'><b></i>" } },
    { .name = "php-pattern",
      .read = read_php_pattern,
      .texts = { "/^[a-z]+@x\\.(de|at)$/i", "#(?:a|b(?=c)){2,4}\\d*[^\\w\\s]?\\x41\\/#u",
                 "{[[:alpha:]-]+}x", "/(((a)+)+)+$/", "/a{99999}/" } },
    { 0 },
};
