/* PHP applications without PHP: values, requests, options, conditions, states. */
#include "base/file.h"
#include "base/tempdir.h"
#include "web/eval.h"
#include "web/flip.h"
#include "web/http.h"
#include "web/judge.h"
#include "web/page.h"
#include "web/regex.h"
#include "web/state.h"
#include "web/web.h"
#include "skip.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>
#include <cmocka.h>
#include <stdio.h>

/* ---- values */

static void comparison_follows_php_8(void **state)
{
    (void)state;
    PhpValue n = phpvalue_int(1337), zero = phpvalue_int(0);
    assert_true(phpvalue_equal(phpvalue_text_z("1337 "), n));
    assert_true(phpvalue_equal(phpvalue_text_z("1.337e3"), n));
    assert_false(phpvalue_equal(phpvalue_text_z("1337x"), n));
    assert_false(phpvalue_equal(phpvalue_text_z("abc"), zero));
    assert_false(phpvalue_equal(phpvalue_text_z(""), zero));
    assert_true(phpvalue_equal(phpvalue_null(), phpvalue_text_z("")));
    assert_true(phpvalue_equal(phpvalue_null(), zero));
    assert_false(phpvalue_same(phpvalue_text_z("1"), phpvalue_int(1)));
    assert_false(phpvalue_truth(phpvalue_text_z("0")));
    assert_true(phpvalue_truth(phpvalue_text_z("0.0")));
}

static void overflow_becomes_a_float(void **state)
{
    (void)state;
    PhpValue v = phpvalue_arithmetic('+', phpvalue_int(INT64_MAX), phpvalue_int(1));
    assert_int_equal(v.type, PHP_FLOAT);
    assert_int_equal(phpvalue_arithmetic('%', phpvalue_int(5), phpvalue_int(0)).type, PHP_UNKNOWN);
    assert_int_equal(phpvalue_arithmetic('+', phpvalue_text_z("x"), phpvalue_int(0)).type,
                     PHP_UNKNOWN);
}

/* ---- requests */

static void a_query_becomes_parameters_and_back(void **state)
{
    (void)state;
    Request *r = request_new("a.php");
    request_add_query(r, "GET", "x=1&a%5Bb%5D=two+words&l[]=p&l[]=q&name.x=3");
    assert_string_equal(request_get(r, "GET[a][b]")->text, "two words");
    assert_string_equal(request_get(r, "GET[l][1]")->text, "q");
    assert_string_equal(request_get(r, "GET[name_x]")->text, "3");
    Str s = { 0 };
    request_query(r, &s);
    assert_string_equal(str_c(&s), "x=1&a%5Bb%5D=two%20words&l%5B0%5D=p&l%5B1%5D=q&name_x=3");
    assert_int_equal(request_value(r, "GET[l]").type, PHP_ARRAY);
    assert_int_equal(request_value(r, "GET[nothing]").type, PHP_NULL);
    str_release(&s);
    request_free(r);
}

static void a_parameter_is_text_or_an_array(void **state)
{
    (void)state;
    Request *r = request_new("a.php");
    request_set(r, "POST[a]", "1", 1);
    assert_true(request_is_post(r));
    request_set(r, "POST[a][0]", "2", 1);
    assert_null(request_get(r, "POST[a]"));
    request_set(r, "POST[a]", "3", 1);
    assert_null(request_get(r, "POST[a][0]"));
    request_set(r, "POST[a]", NULL, 0);
    assert_int_equal(r->params.len, 0);
    assert_false(request_is_post(r));
    request_free(r);
}

/* ---- conditions: traces made by hand */

typedef struct Made {
    Trace t;
    TraceNode nodes[64];
    uint32_t args[64][4];
} Made;

static uint32_t leaf(Made *m, uint32_t op, const char *text)
{
    if (!m->t.nnodes) {
        m->t.nodes = m->nodes;
        m->t.nnodes = 1;
    }
    m->nodes[m->t.nnodes] =
        (TraceNode){ .op = op, .args = m->args[m->t.nnodes], .text = text, .n = strlen(text) };
    return (uint32_t)m->t.nnodes++;
}

static uint32_t node(Made *m, uint32_t op, const char *name, uint32_t a, uint32_t b)
{
    uint32_t n = leaf(m, op, name);
    m->nodes[n].nargs = b ? 2 : 1;
    m->args[n][0] = a;
    m->args[n][1] = b;
    return n;
}

/* The value that the only parameter gets; "-" if it is absent, "!" if there is no request. */
static const char *solve(Made *m, const Cond *conds, size_t n, const char *path)
{
    static char room[256];
    Rng rng = rng_seeded(1);
    Request *base = request_new("x.php");
    FlipWhy why;
    FlipPlan plan = { .trace = &m->t, .base = base, .rng = &rng };
    Request *r = flip_solve(&plan, conds, n, &why);
    const Param *p = r ? request_get(r, path) : NULL;
    snprintf(room, sizeof room, "%s", !r ? "!" : p ? p->text : "-");
    if (r)
        for (size_t i = 0; i < n; i++) {
            Arena a = { 0 };
            PhpValue v = eval_node(&a, &m->t, conds[i].node, r);
            if (phpvalue_is_known(v))
                assert_int_equal(phpvalue_truth(v), conds[i].wanted);
            arena_release(&a);
        }
    request_free(r);
    request_free(base);
    return room;
}

static void conditions_are_solved_backwards(void **state)
{
    (void)state;
    Made m = { 0 };
    uint32_t x = leaf(&m, WOP_INPUT, "GET[x]");
    uint32_t ten = leaf(&m, WOP_CONST, "I10"), two = leaf(&m, WOP_CONST, "I2"),
             one = leaf(&m, WOP_CONST, "I1");
    /* 10 < (int)x * 2 + 1 */
    uint32_t product = node(&m, WOP_MUL, "", node(&m, WOP_INT, "", x, 0), two);
    uint32_t less = node(&m, WOP_LT, "", ten, node(&m, WOP_ADD, "", product, one));
    assert_true(atoi(solve(&m, &(Cond){ less, true }, 1, "GET[x]")) * 2 + 1 > 10);
    assert_string_equal(solve(&m, &(Cond){ less, false }, 1, "GET[x]"), "-");
    /* "a" . x . "b" == "a4b" */
    uint32_t a = leaf(&m, WOP_CONST, "Sa"), b = leaf(&m, WOP_CONST, "Sb"),
             want = leaf(&m, WOP_CONST, "Sa4b");
    uint32_t text = node(&m, WOP_CONCAT, "", node(&m, WOP_CONCAT, "", a, x), b);
    uint32_t equal = node(&m, WOP_EQ, "", text, want);
    assert_string_equal(solve(&m, &(Cond){ equal, true }, 1, "GET[x]"), "4");
    /* and not 4 at once */
    uint32_t four = node(&m, WOP_EQ, "", x, leaf(&m, WOP_CONST, "I4"));
    Cond both[] = { { four, false }, { equal, true } };
    assert_string_equal(solve(&m, both, 2, "GET[x]"), "!");
}

static void functions_are_inverted_where_they_can_be(void **state)
{
    (void)state;
    Made m = { 0 };
    uint32_t x = leaf(&m, WOP_INPUT, "POST[x]"), word = leaf(&m, WOP_CONST, "S<b>");
    uint32_t escaped = node(&m, WOP_EQ, "", node(&m, WOP_CALL, "htmlentities", x, 0),
                            leaf(&m, WOP_CONST, "S&lt;b&gt;"));
    assert_string_equal(solve(&m, &(Cond){ escaped, true }, 1, "POST[x]"), "<b>");
    uint32_t lower = node(&m, WOP_SAME, "", node(&m, WOP_CALL, "strtolower", x, 0),
                          leaf(&m, WOP_CONST, "Sadmin"));
    assert_string_equal(solve(&m, &(Cond){ lower, true }, 1, "POST[x]"), "admin");
    uint32_t at =
        node(&m, WOP_NSAME, "", node(&m, WOP_CALL, "strpos", x, word), leaf(&m, WOP_CONST, "F"));
    assert_non_null(strstr(solve(&m, &(Cond){ at, true }, 1, "POST[x]"), "<b>"));
    uint32_t length =
        node(&m, WOP_LT, "", leaf(&m, WOP_CONST, "I5"), node(&m, WOP_LENGTH, "", x, 0));
    uint32_t set = node(&m, WOP_ISSET, "", x, 0);
    Cond long_enough[] = { { set, true }, { length, true } };
    assert_true(strlen(solve(&m, long_enough, 2, "POST[x]")) > 5);
    uint32_t there = node(&m, WOP_ISSET, "", x, 0);
    Cond never[] = { { there, false }, { lower, true } };
    assert_string_equal(solve(&m, never, 2, "POST[x]"), "!");
    uint32_t arrays = node(&m, WOP_TYPE, "", x, leaf(&m, WOP_CONST, "I128"));
    assert_string_equal(solve(&m, &(Cond){ arrays, true }, 1, "POST[x][0]"), "1");
}

static void samples_match_their_pattern(void **state)
{
    (void)state;
    Rng rng = rng_seeded(3);
    for (int i = 0; i < 50; i++) {
        char *s = regex_sample("/^[a-c]{2,3}-(x|yz)\\d+$/i", &rng);
        size_t n = strspn(s, "abc");
        assert_in_range(n, 2, 3);
        const char *p = s + n + 1;
        assert_int_equal(s[n], '-');
        p += *p == 'x' ? 1 : 2;
        assert_true(*p && strspn(p, "0123456789") == strlen(p));
        free(s);
    }
    assert_null(regex_sample("abc", &rng));
    char *s = regex_sample("~(", &rng);             /* broken: no crash */
    free(s);
    s = regex_sample("#[#", &rng);
    free(s);
}

/* ---- pages */

static const char form_page[] =
    "<!DOCTYPE html><html><head><title>x</title></head><body>"
    "<form method=\"post\" action=\"mainmenu.php\">"
    "<input type=\"text\" name=\"txtNick\" value=\"Admin\"><input type=\"password\" name=\"pwdPassword\">"
    "<input type=\"submit\" value=\"login\">"
    "<input type=\"button\" value=\"New\" onClick=\"window.open('newuser.php','_self')\"></form>"
    "<a href=\"http://elsewhere.example/x.php\">out</a><a href=\"gone.php\">gone</a></body></html>";

static const char *app_folder(void)
{
    const char *dir = tempdir_new(NULL, NULL);
    static const char *const names[] = { "index.php", "mainmenu.php", "newuser.php",
                                         "sub/index.php", "sub/b.php" };
    char *sub = path_join(dir, "sub");
    assert_true(dir_make(sub, NULL));
    free(sub);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *p = path_join(dir, names[i]);
        assert_true(file_write(p, "<?php\n", 6, NULL));
        free(p);
    }
    return dir;
}

static void the_form_page_has_two_options(void **state)
{
    (void)state;
    if (page_missing())
        SKIP("libtidy and gumbo are not installed");
    const char *app = app_folder();
    Request *from = request_new("index.php");
    PagePlan plan = { .from = from, .app = app, .polite = true };
    Options o = { 0 };
    page_options(&plan, form_page, strlen(form_page), &o);
    assert_int_equal(o.len, 2);
    const PageOption *form = &o.items[o.items[0].form ? 0 : 1],
                     *button = &o.items[o.items[0].form ? 1 : 0];
    assert_string_equal(form->request->script, "mainmenu.php");
    assert_true(request_is_post(form->request));
    assert_string_equal(request_get(form->request, "POST[txtNick]")->text, "Admin");
    assert_int_equal(form->free.len, 1);
    assert_string_equal(form->free.items[0], "POST[pwdPassword]");
    assert_string_equal(button->request->script, "newuser.php");
    assert_int_equal(button->request->params.len, 0);
    options_release(&o);
    request_free(from);
    tempdir_remove(app);
}

static void credentials_go_into_the_form(void **state)
{
    (void)state;
    if (page_missing())
        SKIP("libtidy and gumbo are not installed");
    const char *app = app_folder();
    Request *from = request_new("index.php");
    Credential login = { "alice", "secret" };
    PagePlan plan = { .from = from, .app = app, .logins = &login, .nlogins = 1 };
    Options o = { 0 };
    page_options(&plan, form_page, strlen(form_page), &o);
    bool found = false;
    for (size_t i = 0; i < o.len; i++) {
        const Param *u = request_get(o.items[i].request, "POST[txtNick]");
        const Param *p = request_get(o.items[i].request, "POST[pwdPassword]");
        found =
            found || (u && p && strcmp(u->text, "alice") == 0 && strcmp(p->text, "secret") == 0);
    }
    assert_true(found);
    options_release(&o);
    request_free(from);
    tempdir_remove(app);
}

/* A page whose menu is sent by JavaScript, as a person would use it. */
static void handlers_and_likely_values_fill_in_forms(void **state)
{
    (void)state;
    if (page_missing())
        SKIP("libtidy and gumbo are not installed");
    static const char page[] =
        "<script>function go(n) { /* document.menu.page.value = 9; */ document.menu.page.value = n;"
        " document.menu.submit(); }\n"
        "if (ok) window.location.href = 'newuser.php?from=script';</script>"
        "<a href='javascript:go(3);'>three</a> <a href='#' onclick='go(\"four\")'>four</a>"
        "<form name=menu method=post action=mainmenu.php><input type=hidden name=page value=0>"
        "<input type=hidden name=logout><input name=email><input name=n>"
        "<select name=who><option value=''>-<option value=bob>Bob</select>"
        "<input type=button value=New onclick=\"this.form.page.value='7'; this.form.action='newuser.php'\">"
        "</form>";
    const char *app = app_folder();
    Request *from = request_new("index.php");
    PagePlan plan = { .from = from, .app = app };
    Options o = { 0 };
    page_options(&plan, page, strlen(page), &o);
    bool three = false, four = false, seven = false, script = false;
    for (size_t i = 0; i < o.len; i++) {
        const Request *r = o.items[i].request;
        const Param *p = request_get(r, "POST[page]"), *g = request_get(r, "GET[from]");
        three = three || (p && strcmp(p->text, "3") == 0);
        four = four || (p && strcmp(p->text, "four") == 0);
        seven = seven || (p && strcmp(p->text, "7") == 0 && strcmp(r->script, "newuser.php") == 0);
        script = script || (g && strcmp(g->text, "script") == 0);
        assert_false(p && strcmp(p->text, "9") == 0);
        if (o.items[i].form && !o.items[i].varied) {
            assert_string_equal(request_get(r, "POST[logout]")->text, "");
            assert_string_equal(request_get(r, "POST[email]")->text, "a@example.com");
            assert_string_equal(request_get(r, "POST[n]")->text, "1");
            assert_string_equal(request_get(r, "POST[who]")->text, "bob");
        }
    }
    assert_true(three && four && seven && script);
    options_release(&o);
    request_free(from);
    tempdir_remove(app);
}

static void addresses_are_resolved_inside_the_application(void **state)
{
    (void)state;
    if (page_missing())
        SKIP("libtidy and gumbo are not installed");
    const char *app = app_folder();
    Request *from = request_new("sub/b.php");
    PagePlan plan = { .from = from, .app = app };
    static const struct {
        const char *url, *script;
    } rows[] = {
        { "../index.php?a=1", "index.php" },
        { "/mainmenu.php", "mainmenu.php" },
        { "./", "sub/index.php" },
        { "?x=1", "sub/b.php" },
        { "http://localhost/newuser.php", "newuser.php" },
        { "b.php/deep/path", "sub/b.php" },
        { "../../etc/passwd", NULL },
        { "//evil.example/index.php", NULL },
        { "javascript:x", NULL },
        { "none.php", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Request *r = page_target(&plan, rows[i].url);
        if (rows[i].script) {
            assert_non_null(r);
            assert_string_equal(r->script, rows[i].script);
        } else {
            assert_null(r);
        }
        request_free(r);
    }
    request_free(from);
    tempdir_remove(app);
}

static void count_says(void *arg, bool error, const char *message, unsigned line, unsigned column)
{
    (void)message;
    (void)line;
    (void)column;
    ((int *)arg)[error]++;
}

static void broken_html_is_told_and_good_html_is_not(void **state)
{
    (void)state;
    if (page_missing())
        SKIP("libtidy and gumbo are not installed");
    static const char *const bad[] = {
        "<div><p>x</p>", "<b><i>x</b></i>", "<j2>x</h2>", "<h2>x", "<table><tr><td>x</table></div>",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int says[2] = { 0, 0 };
        char *page =
            xprintf("<!DOCTYPE html><html><head><title>t</title></head><body>%s</body></html>",
                    bad[i]);
        html_check(page, strlen(page), true, count_says, says);
        assert_true(says[1] > 0);
        free(page);
    }
    /* What HTML 5 allows. */
    static const char *const good[] = {
        "<div><p>x &amp; y</p></div>",
        "<table width=100% border=0><tr><td align=left>x<td>y<tr><td>z</table>",
        "<ul><li>a<li>b</ul><p>one<p>two<dl><dt>a<dd>b</dl>",
        "<form action=x><input name=a disabled value><select><option>a<option selected>b</select></form>",
        "<a href=x><div>block</div></a><my-own>e</my-own><b>a <b>b</b></b>",
        "<IMG SRC=a ALT=b><br/><p>a & b &copy 1</p>",
        "text <input name=a> <b>in the body</b>",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        int says[2] = { 0, 0 };
        char *page =
            xprintf("<!DOCTYPE html><html><head><title>t</title></head><body>%s</body></html>",
                    good[i]);
        html_check(page, strlen(page), true, count_says, says);
        if (says[0] + says[1])
            fail_msg("%s", good[i]);
        free(page);
    }
}

/* ---- states */

static void write_file(const char *folder, const char *name, const char *text)
{
    char *p = path_join(folder, name);
    assert_true(file_write(p, text, strlen(text), NULL));
    free(p);
}

static void states_are_restored_and_recognised(void **state)
{
    (void)state;
    Err err = { 0 };
    const char *app = app_folder(), *folder = tempdir_new(NULL, &err);
    States *st = states_new(app, folder, &err);
    assert_non_null(st);
    const State *s0 = states_first(st);
    assert_ptr_equal(states_save(st, NULL, NULL, NULL, &err), s0);
    write_file(folder, "sessions/sess_1", "user|s:1:\"a\";");
    write_file(folder, "app/index.php", "changed");
    char *gone = path_join(folder, "app/newuser.php");
    assert_int_equal(remove(gone), 0);
    const State *s1 = states_save(st, NULL, NULL, NULL, &err);
    assert_ptr_not_equal(s1, s0);
    assert_int_equal(s1->files.len, 3);
    assert_true(states_restore(st, s0, &err));
    assert_true(file_exists(gone));
    assert_ptr_equal(states_save(st, NULL, NULL, NULL, &err), s0);
    assert_true(states_restore(st, s1, &err));
    assert_false(file_exists(gone));
    assert_ptr_equal(states_save(st, NULL, NULL, NULL, &err), s1);
    Strings jar = { 0 };
    strings_add(&jar, "a=1");
    assert_ptr_not_equal(states_save(st, &jar, NULL, NULL, &err), s1);
    strings_release(&jar);
    free(gone);
    states_free(st);
    tempdir_remove(folder);
    tempdir_remove(app);
}

/* A request puts a link in the place of a folder: what is restored stays inside. */
static void links_in_an_application_lead_nowhere(void **state)
{
    (void)state;
    Err err = { 0 };
    const char *app = tempdir_new(NULL, &err), *folder = tempdir_new(NULL, &err),
               *outside = tempdir_new(NULL, &err);
    States *st = states_new(app, folder, &err);
    assert_non_null(st);
    char *data = xprintf("%s/app/data", folder), *file = xprintf("%s/app/data/x", folder),
         *escaped = xprintf("%s/x", outside), *secret = xprintf("%s/secret", outside),
         *link = xprintf("%s/app/link", folder);
    assert_true(file_write(secret, "secret", 6, &err));
    assert_true(dir_make(data, &err) && file_write(file, "text", 4, &err));
    const State *with = states_save(st, NULL, NULL, NULL, &err);
    assert_int_equal(unlink(file) | rmdir(data) | symlink(outside, data) | symlink(secret, link),
                     0);
    const State *without = states_save(st, NULL, NULL, NULL, &err);
    assert_true(with != without && states_restore(st, with, &err));
    assert_false(file_exists(escaped));
    Str s = { 0 };
    assert_true(file_read(file, &s, &err));
    assert_string_equal(str_c(&s), "text");
    str_release(&s);
    /* nor is something outside removed */
    assert_int_equal(unlink(file) | rmdir(data) | symlink(outside, data), 0);
    assert_true(file_write(escaped, "mine", 4, &err));
    assert_true(states_restore(st, without, &err));
    assert_true(file_exists(escaped) && file_exists(secret));
    states_free(st);
    free(data), free(file), free(escaped), free(secret), free(link);
    tempdir_remove(app);
    tempdir_remove(folder);
    tempdir_remove(outside);
}

static void cookies_are_set_and_taken_away(void **state)
{
    (void)state;
    Strings jar = { 0 };
    cookies_set(&jar, "a=1; path=/");
    cookies_set(&jar, "b=2");
    cookies_set(&jar, "a=3; HttpOnly");
    assert_int_equal(jar.len, 2);
    cookies_set(&jar, "a=deleted; expires=Thu, 01-Jan-1970 00:00:01 GMT; Max-Age=0");
    assert_int_equal(jar.len, 1);
    assert_string_equal(jar.items[0], "b=2");
    strings_release(&jar);
}

/* ---- a body of JSON */

static void json_becomes_parameters_and_back(void **state)
{
    (void)state;
    static const char *const exact[] = {
        "{\"a\":1,\"b\":{\"c\":[true,false,\"x\"]},\"d[\":1.5,\"e\":\"\"}", "[1,2,3]",
        "{\"0\":{\"x\":1}}"
    };
    static const char *const others[] = { "{", "5", "{}", "[]", "{\"a\":null}", "{\"a\":[]}", "" };
    for (size_t i = 0; i < 2; i++) {
        Request *r = request_new("a.php");
        Str out = { 0 };
        assert_true(request_add_json(r, exact[i], strlen(exact[i])));
        request_json(r, &out);
        assert_string_equal(str_c(&out), exact[i]);
        str_release(&out);
        request_free(r);
    }
    Request *r = request_new("a.php");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(request_add_json(r, others[i], strlen(others[i])));
    assert_int_equal(r->params.len, 0);
    assert_false(request_add_json(r, exact[2], strlen(exact[2])));    /* would be a list */
    request_free(r);
}

static void a_request_has_one_body(void **state)
{
    (void)state;
    Request *r = request_new("a.php");
    assert_int_equal(request_value(r, "BODY[raw]").type, PHP_TEXT);
    assert_int_equal(request_value(r, "JSON").type, PHP_NULL);
    request_set(r, "POST[a]", "1", 1);
    request_set_typed(r, "JSON[n]", "7", 1, PHP_INT);
    assert_null(request_get(r, "POST[a]"));
    assert_int_equal(request_value(r, "JSON[n]").type, PHP_INT);
    assert_int_equal(request_value(r, "JSON").type, PHP_ARRAY);
    assert_int_equal(request_value(r, "BODY[raw]").type, PHP_UNKNOWN);
    request_set(r, "BODY[raw]", "x", 1);
    assert_null(request_get(r, "JSON[n]"));
    assert_true(request_is_post(r));
    request_set(r, "SERVER[REQUEST_METHOD]", "PUT", 3);
    assert_false(request_is_post(r));
    request_free(r);
}

/* ---- a browser */

static int read_all(const char *text, HttpMessage *m) { return http_read(text, strlen(text), m); }

static void a_request_of_a_browser_is_read(void **state)
{
    (void)state;
    HttpMessage m = { 0 };
    const char *whole = "POST /a%20b/../../x HTTP/1.1\r\nHost: h\r\n\r\n";
    assert_int_equal(read_all(whole, &m), 400);
    whole = "POST /a+b/./c%2fd.php?x=1#y HTTP/1.1\r\nHost:  h \r\nContent-Length: 3\r\n\r\nabc";
    for (size_t n = 0; n < strlen(whole); n++)
        assert_int_equal(http_read(whole, n, &m), 0);
    assert_int_equal(read_all(whole, &m), 200);
    assert_string_equal(m.path, "/a+b/c/d.php");
    assert_string_equal(m.query, "x=1");
    assert_string_equal(http_header(&m, "host"), "h");
    assert_string_equal(str_c(&m.body), "abc");
    http_release(&m);
    static const char *const bad[] = {
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "GET / HTTP/1.1\r\n A: b\r\n\r\n",
        "GET /%00 HTTP/1.1\r\n\r\n",
        "GET /.. HTTP/1.1\r\n\r\n",
        "GET\r\n\r\n",
        "\r\n\r\n"
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(read_all(bad[i], &m), 400);
    assert_int_equal(read_all("GET / HTTP/1.1\r\nTransfer-Encoding: x\r\n\r\n", &m), 501);
}

static Request *asked(const char *head, const char *body, const Strings *jar)
{
    HttpMessage m = { 0 };
    HttpTarget t = { .what = HTTP_SCRIPT, .file = "a.php" };
    char *whole = xprintf("%sContent-Length: %zu\r\n\r\n%s", head, strlen(body), body);
    assert_int_equal(read_all(whole, &m), 200);
    Request *r = http_request(&m, &t, jar);
    http_release(&m);
    free(whole);
    return r;
}

static void forms_and_cookies_become_parameters(void **state)
{
    (void)state;
    Strings jar = { 0 };
    strings_add(&jar, "s=1%2B");
    Request *r =
        asked("POST /a.php?q=a;b HTTP/1.1\r\nCookie: s=1%2B; t=2\r\n"
              "Content-Type: multipart/form-data; boundary=\"B\"\r\n",
              "--B\r\nContent-Disposition: form-data; name=\"a[x]\"\r\n\r\n1&2\r\n"
              "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"n.gif\"\r\n\r\n"
              "\r\n--B--\r\n",
              &jar);
    assert_string_equal(request_get(r, "GET[q]")->text, "a;b");
    assert_string_equal(request_get(r, "POST[a][x]")->text, "1&2");
    assert_string_equal(request_get(r, "FILENAME[f]")->text, "n.gif");
    assert_int_equal(request_get(r, "FILES[f]")->n, 0);
    assert_string_equal(request_get(r, "COOKIE[t]")->text, "2");
    assert_null(request_get(r, "COOKIE[s]"));
    assert_false(r->forgets);
    request_free(r);
    r = asked("GET /a.php HTTP/1.1\r\nCookie: s=other\r\n", "", &jar);
    assert_true(r->forgets);
    assert_string_equal(request_get(r, "COOKIE[s]")->text, "other");
    request_free(r);
    r = asked("PUT /a.php HTTP/1.1\r\nContent-Type: text/x\r\n", "{\"a\":1}", &jar);
    Str body = { 0 };
    char *type;
    request_body(r, &body, &type);
    assert_string_equal(str_c(&body), "{\"a\":1}");
    assert_string_equal(type, "text/x");
    assert_false(request_is_post(r));
    free(type);
    str_release(&body);
    request_free(r);
    strings_release(&jar);
}

static void an_answer_is_one_answer(void **state)
{
    (void)state;
    Reply r = { .status = 200 };
    vec_push(&r.headers, ((Header){ "Set-Cookie", "a=1; expires=Thu, 01-Jan-2026 00:00:00 GMT; "
                                                  "Max-Age=9; path=/x; secure; HttpOnly" }));
    vec_push(&r.headers, ((Header){ "X-A", "b\nSet-Cookie: c=d" }));
    vec_push(&r.headers, ((Header){ "Content-Length", "99" }));
    str_add(&r.body, "page");
    Str out = { 0 };
    http_answer(&r, false, &out);
    assert_string_equal(str_c(&out), "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; path=/x; HttpOnly\r\n"
                                     "Content-Length: 4\r\nConnection: close\r\n\r\npage");
    vec_release(&r.headers);
    str_release(&r.body);
    str_release(&out);
}

static void noise_of_a_browser_is_survived(void **state)
{
    (void)state;
    static const char good[] =
        "POST /a/b.php?x=1&y[]=2 HTTP/1.1\r\nHost: h\r\nCookie: a=b; c=d\r\n"
        "Content-Type: multipart/form-data; boundary=B\r\nContent-Length: 66\r\n\r\n"
        "--B\r\nContent-Disposition: form-data; name=\"x\"; filename=\"\"\r\n\r\n--B--";
    Rng rng = rng_seeded(9);
    Strings jar = { 0 };
    HttpTarget t = { .what = HTTP_SCRIPT, .file = "a.php" };
    size_t read = 0;
    for (int round = 0; round < 20000; round++) {
        char noise[sizeof good];
        memcpy(noise, good, sizeof good);
        for (uint64_t k = rng_below(&rng, 5); k; k--)
            noise[rng_below(&rng, sizeof good)] = (char)rng_below(&rng, 256);
        HttpMessage m = { 0 };
        if (http_read(noise, sizeof good - 1, &m) != 200)
            continue;
        read++;
        assert_null(strstr(m.path, "/../"));
        request_free(http_request(&m, &t, &jar));
        http_waits(noise, sizeof good - 1);
        http_release(&m);
    }
    assert_true(read > 1000);
}

/* ---- the log is hostile */

static void a_log_of_noise_is_read_without_harm(void **state)
{
    (void)state;
    Rng rng = rng_seeded(5);
    char *channel = xcalloc(1, SUNDEW_WEB_SIZE);
    for (int round = 0; round < 40; round++) {
        struct sundew_web h = { .magic = SUNDEW_WEB_MAGIC,
                                .version = SUNDEW_WEB_VERSION,
                                .begun = 1,
                                .log_len = round % 2 ? 60000 : UINT32_MAX };
        memcpy(channel, &h, sizeof h);
        char *log = channel + SUNDEW_WEB_HEADER + SUNDEW_WEB_REQUEST;
        for (size_t at = 0; at < 60000;) {
            struct sundew_web_record r = { .kind = (uint32_t)rng_below(&rng, WEB_NKINDS + 2),
                                           .len = 32 + 4 * (uint32_t)rng_below(&rng, 20),
                                           .id = (uint32_t)rng_below(&rng, 6),
                                           .op = (uint32_t)rng_below(&rng, WOP_N + 3),
                                           .node = (uint32_t)rng_below(&rng, 9),
                                           .file = (uint32_t)rng_below(&rng, 5000),
                                           .text = (uint32_t)rng_below(&rng, 200) };
            if (rng_below(&rng, 50) == 0)
                r.len = (uint32_t)rng_next(&rng);
            memcpy(log + at, &r, sizeof r);
            for (size_t i = 32; i < 112; i++)
                log[at + i] = (char)rng_below(&rng, 4);
            at += r.len < 200 && r.len >= 32 ? r.len : 64;
        }
        Trace *t = trace_read(channel);
        for (size_t i = 0; i < t->branches.len; i++) {
            Str s = { 0 };
            trace_print(t, t->branches.items[i].node, true, &s);
            str_release(&s);
        }
        trace_free(t);
    }
    free(channel);
}

static void a_page_that_nobody_can_read_is_not_read(void **state)
{
    (void)state;
    if (page_missing())
        SKIP("libtidy and gumbo are not installed");
    Str plain = { 0 }, entangled = { 0 };
    str_add(&plain, "<html><body>");
    for (int i = 0; i < 1000; i++)
        str_add(&plain, "<p class='a'>a paragraph <a href='x.php'>and a link</a></p>\n");
    str_add(&entangled, "<html><body><p ");
    for (int i = 0; i < 300000; i++)
        str_addf(&entangled, "a%d=1 ", i);
    assert_true(page_is_bearable(str_c(&plain), plain.len));
    assert_false(page_is_bearable(str_c(&entangled), entangled.len));
    str_release(&plain);
    str_release(&entangled);
}

static void generated_files_quote_what_the_program_said(void **state)
{
    (void)state;
    Request *r = request_new("a b.php");
    request_set(r, "POST[x]", "'; rm -rf /; echo '", 19);
    WebFault f = { .fault = { .kind = FAULT_WARNING,
                              .message = "bad */ \n$(reboot)",
                              .file = "a b.php",
                              .exit = "" },
                   .chain = &r,
                   .nchain = 1 };
    Str s = { 0 };
    web_curl(&f, &s);
    assert_null(strstr(str_c(&s), "; rm -rf"));
    assert_null(strstr(str_c(&s), "\n$(reboot)"));
    str_reset(&s);
    web_phpunit(&f, "FaultTest", &s);
    assert_null(strstr(str_c(&s), "\n$(reboot)"));
    str_release(&s);
    request_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparison_follows_php_8),
        cmocka_unit_test(overflow_becomes_a_float),
        cmocka_unit_test(a_query_becomes_parameters_and_back),
        cmocka_unit_test(a_parameter_is_text_or_an_array),
        cmocka_unit_test(conditions_are_solved_backwards),
        cmocka_unit_test(functions_are_inverted_where_they_can_be),
        cmocka_unit_test(samples_match_their_pattern),
        cmocka_unit_test(the_form_page_has_two_options),
        cmocka_unit_test(credentials_go_into_the_form),
        cmocka_unit_test(addresses_are_resolved_inside_the_application),
        cmocka_unit_test(broken_html_is_told_and_good_html_is_not),
        cmocka_unit_test(states_are_restored_and_recognised),
        cmocka_unit_test(links_in_an_application_lead_nowhere),
        cmocka_unit_test(cookies_are_set_and_taken_away),
        cmocka_unit_test(handlers_and_likely_values_fill_in_forms),
        cmocka_unit_test(json_becomes_parameters_and_back),
        cmocka_unit_test(a_request_has_one_body),
        cmocka_unit_test(a_request_of_a_browser_is_read),
        cmocka_unit_test(forms_and_cookies_become_parameters),
        cmocka_unit_test(an_answer_is_one_answer),
        cmocka_unit_test(noise_of_a_browser_is_survived),
        cmocka_unit_test(a_log_of_noise_is_read_without_harm),
        cmocka_unit_test(a_page_that_nobody_can_read_is_not_read),
        cmocka_unit_test(generated_files_quote_what_the_program_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
