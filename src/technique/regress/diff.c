/*
 * sundew regress --diff DIR LIBRARY: what another version does differently.
 *
 * A copy of the folder is compiled with that library. Tests run with
 * SUNDEW_ACCEPT, so that each check tells what it found and the test goes on:
 *
 *     # test_poly.c:31: is 3, not 2: poly_degree(poly0)
 *     not ok 7 - test_poly_degree_after_poly_new
 *
 * A test that passes runs twice more, and may tell that it leaves memory behind, which it did
 * not do when it was made.
 *
 * Checks are grouped by the function that gave the value. --accept writes the
 * new values into the tests.
 */
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "technique/regress/regress_int.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One check that failed, or a test that died. */
typedef struct Change {
    char *file;                  /* test_poly.c */
    unsigned line;
    char *is, *was;              /* values; "" if it died */
    char *what;                  /* the expression; how it died */
    char *function;              /* that gave the value */
    char *test;
} Change;

typedef struct Diff {
    Session *session;
    const char *folder;
    char *copy;                  /* where it is compiled */
    Map sources;                 /* file -> Strings *: lines */
    Vec(Change) changes;
    Map gone;                    /* tests that could not be built */
    size_t tests, failed, checks;
} Diff;

/* Variables for make: TEST_LIBS=…, TEST_CFLAGS=… */
typedef struct Words {
    char *libraries, *flags;
} Words;

/* ---- sources */

static Strings *lines_of(Diff *d, const char *file)
{
    void **slot = map_slot(&d->sources, file);
    if (*slot)
        return *slot;
    Strings *lines = *slot = xcalloc(1, sizeof *lines);
    char *path = path_join(d->folder, file);
    Str text = { 0 };
    file_read(path, &text, NULL);
    for (const char *p = str_c(&text); *p;) {
        size_t n = strcspn(p, "\n");
        strings_addf(lines, "%.*s", (int)n, p);
        p += n + (p[n] == '\n');
    }
    str_release(&text);
    free(path);
    return lines;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The first word with a "(" behind it that is no check of ours; in `out`. */
static bool called_in(const char *s, char out[128])
{
    while (*s) {
        if (*s == '"')
            for (s++; *s && *s != '"'; s++)
                s += *s == '\\' && s[1];
        const char *w = s;
        while (is_word(*s) || (s > w && *s == '.' && is_word(s[1])))     /* table.function */
            s++;
        size_t n = (size_t)(s - w);
        if (n && n < 128 && *s == '(' && !str_starts(w, "CHECK") && !str_starts(w, "sizeof") &&
            !str_starts(w, "mem")) {
            memcpy(out, w, n);
            out[n] = 0;
            return true;
        }
        s += !n && *s;
    }
    return false;
}

static bool has_name(const char *line, const char *name, size_t n)
{
    for (const char *p = line; (p = strstr(p, name)); p++)
        if ((p == line || !is_word(p[-1])) && !is_word(p[n]))
            return true;
    return false;
}

/* Who gave the value of an expression: the call in it, else the last call before
 * it in which its variable stands, else (a field led there) the last one. */
static char *function_of(Diff *d, const char *file, unsigned line, const char *what)
{
    char found[128], name[128] = "", last[128] = "?";
    size_t n = 0;
    if (called_in(what, found))
        return xstrdup(found);
    while (is_word(what[n]) && n < sizeof name - 1)
        n++;
    memcpy(name, what, n);
    name[n] = 0;
    const Strings *lines = lines_of(d, file);
    for (unsigned i = line < lines->len + 1 ? line : (unsigned)lines->len + 1; n && i > 1; i--) {
        const char *l = lines->items[i - 2];
        if (*l == '}')
            break;
        if (!called_in(l, found))
            continue;
        if (has_name(l, name, n))
            return xstrdup(found);
        if (*last == '?')
            memcpy(last, found, sizeof last);
    }
    return xstrdup(last);
}

/* ---- reading */

/* A value as a check prints it: a C string or a word; its length. */
static size_t value_length(const char *s)
{
    if (*s != '"')
        return strcspn(s, ",:\n");
    const char *end = strchr(s + 1, '"');
    return end ? (size_t)(end - s) + 1 : strlen(s);
}

/* "# FILE:LINE: is X, not Y: WHAT" */
static bool read_check(Diff *d, const char *line, size_t len)
{
    char *text = xstrndup(line, len);
    char *colon = strstr(text, ".c:"), *rest = NULL;
    Change c = { 0 };
    bool ok = str_starts(text, "# ") && colon;
    if (ok)
        c.line = (unsigned)strtoul(colon + 3, &rest, 10);
    ok = ok && rest && str_starts(rest, ": is ");
    if (ok) {
        char *is = rest + 5;
        size_t n = value_length(is), m;
        ok = str_starts(is + n, ", not ");
        char *was = is + n + 6;
        m = ok ? value_length(was) : 0;
        if (ok && was[m] == ':' && was[m + 1] == ' ') {
            c.file = xstrndup(text + 2, (size_t)(colon + 2 - (text + 2)));
            c.is = xstrndup(is, n);
            c.was = xstrndup(was, m);
            c.what = xstrdup(was + m + 2);
            c.function = function_of(d, c.file, c.line, c.what);
            vec_push(&d->changes, c);
        } else {
            ok = false;
        }
    }
    free(text);
    return ok;
}

/* Does the name of a test begin with a function's? A table's dot is a _ there. */
static bool is_about(const char *test, const char *function)
{
    const char *name = str_starts(test, "test_") ? test + 5 : test;
    size_t n = 0;
    while (function[n] && (name[n] == function[n] || (name[n] == '_' && function[n] == '.')))
        n++;
    return !function[n] && !is_word(name[n] == '_' ? ' ' : name[n]);
}

/* The function that a test is about: the longest that its name begins with, else the first
 * that it calls. */
static void find_about(Diff *d, const char *file, const char *test, char about[128])
{
    char *source = xprintf("%s.c", file), *head = xprintf("TEST(%s)", test), found[128];
    const Strings *lines = lines_of(d, source);
    bool inside = false, fits = false;
    for (size_t i = 0; i < lines->len; i++) {
        if (str_starts(lines->items[i], head)) {
            inside = true;
            continue;
        }
        if (inside && *lines->items[i] == '}')
            break;
        if (!inside || !called_in(lines->items[i], found))
            continue;
        bool now = is_about(test, found);
        if ((now && (!fits || strlen(found) > strlen(about))) || (!fits && *about == '?'))
            memcpy(about, found, sizeof found);
        fits |= now;
    }
    free(source);
    free(head);
}

static void add_death(Diff *d, const char *file, const char *test, const char *how)
{
    char about[128] = "?";
    find_about(d, file, test, about);
    vec_push(&d->changes, ((Change){ .file = xprintf("%s.c", file),
                                     .is = xstrdup(""),
                                     .was = xstrdup(""),
                                     .what = xstrdup(how),
                                     .function = xstrdup(about),
                                     .test = xstrdup(test) }));
}

static void read_output(Diff *d, const char *name, const char *text)
{
    size_t first = d->changes.len;
    char *died = NULL;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "\n");
        if (str_starts(p, "# died") || str_starts(p, "# leaves memory")) {
            free(died);
            died = xstrndup(p + 2, n - 2);
        } else if (str_starts(p, "#")) {
            read_check(d, p, n);
        } else if (str_starts(p, "ok ") || str_starts(p, "not ok ")) {
            bool good = *p == 'o';
            const char *dash = strstr(p, " - ");
            char *test = dash && dash < p + n ? xstrndup(dash + 3, (size_t)(p + n - dash - 3))
                                              : xstrdup("?");
            d->tests++;
            d->failed += !good || map_has(&d->gone, test);
            /* dying after a check has failed is no news */
            if (!good && first == d->changes.len)
                add_death(d, name, test, died ? died : "it fails");
            for (size_t i = first; i < d->changes.len; i++)
                if (!d->changes.items[i].test)
                    d->changes.items[i].test = xstrdup(test);
            first = d->changes.len;
            free(test);
            free(died);
            died = NULL;
        }
        p += n + (p[n] == '\n');
    }
    free(died);
}

/* ---- leaks
 *
 * One fault makes many tests leave memory behind. They are told together, under the last
 * function that all of them call: most often the one that should have given it back.
 */

static bool is_leak(const Change *c) { return str_starts(c->what, "leaves memory"); }

static bool has_word(const Strings *all, const char *word)
{
    for (size_t i = 0; i < all->len; i++)
        if (strcmp(all->items[i], word) == 0)
            return true;
    return false;
}

/* The functions that a test calls, each once. */
static void calls_of(Diff *d, const Change *c, Strings *out)
{
    char *head = xprintf("TEST(%s)", c->test), found[128];
    const Strings *lines = lines_of(d, c->file);
    bool inside = false;
    for (size_t i = 0; i < lines->len; i++) {
        bool begins = str_starts(lines->items[i], head);
        if (inside && *lines->items[i] == '}')
            break;
        if (inside && called_in(lines->items[i], found) && !has_word(out, found))
            strings_add(out, found);
        inside |= begins;
    }
    free(head);
}

static void keep_common(Strings *all, const Strings *these)
{
    size_t n = 0;
    for (size_t i = 0; i < all->len; i++)
        if (has_word(these, all->items[i]))
            all->items[n++] = all->items[i];
        else
            free(all->items[i]);
    all->len = n;
}

static void blame_leaks(Diff *d)
{
    Strings common = { 0 };
    bool first = true;
    for (size_t i = 0; i < d->changes.len; i++) {
        Strings calls = { 0 };
        if (!is_leak(&d->changes.items[i]))
            continue;
        calls_of(d, &d->changes.items[i], first ? &common : &calls);
        if (!first)
            keep_common(&common, &calls);
        first = false;
        strings_release(&calls);
    }
    for (size_t i = 0; common.len && i < d->changes.len; i++) {
        Change *c = &d->changes.items[i];
        if (!is_leak(c))
            continue;
        free(c->function);
        c->function = xstrdup(common.items[common.len - 1]);
    }
    strings_release(&common);
}

/* ---- running */

/* The words of a variable of the Makefile, as they stand there. */
static void words_of(const char *makefile, const char *variable, Strings *out)
{
    char *head = xprintf("\n%s = ", variable);
    const char *p = strstr(makefile, head);
    p = p ? p + strlen(head) : "\n";
    for (const char *end = p + strcspn(p, "\n"); p < end;) {
        size_t n = 0;
        for (bool quoted = false; p + n < end && (quoted || p[n] != ' '); n++)
            quoted ^= p[n] == '\'';
        if (n)
            strings_addf(out, "%.*s", (int)n, p);
        p += n + (p + n < end);
    }
    free(head);
}

/* A path in a word: seen from the tests' folder, not from the copy's. */
static void add_word(const Diff *d, Str *out, const char *word)
{
    bool include = str_starts(word, "-I"), path = include || *word == '.' || *word == '\'';
    const char *rest = word + (include ? 2 : 0);
    char *folder = path_absolute(d->folder);
    str_addc(out, ' ');
    if (path && *rest && *rest != '/' && !str_starts(rest, "'/") && !str_starts(rest, "'-")) {
        str_add(out, include ? "-I" : "");
        escape_make_recipe(out, folder);
        str_addf(out, "/%s", rest);
    } else {
        str_add(out, word);
    }
    free(folder);
}

/* TEST_LIBS: those of the Makefile, the first replaced. */
static char *libraries_for(const Diff *d, const char *makefile, const char *library)
{
    Str out = { 0 };
    Strings words = { 0 };
    char *full = path_absolute(library);
    words_of(makefile, "TEST_LIBS", &words);
    str_add(&out, "TEST_LIBS=");
    escape_make_recipe(&out, full);
    for (size_t i = 1; i < words.len; i++)
        add_word(d, &out, words.items[i]);
    char **link = session_option_all(d->session, "link");
    for (; link && *link; link++) {
        str_addc(&out, ' ');
        escape_make_recipe(&out, *link);
    }
    strings_release(&words);
    free(full);
    return str_take(&out);
}

/* TEST_CFLAGS: what the user gives for this version comes first. */
static char *flags_for(const Diff *d, const char *makefile)
{
    Str out = { 0 };
    Strings words = { 0 };
    str_add(&out, "TEST_CFLAGS=");
    for (char **h = session_option_all(d->session, "headers"); h && *h; h++) {
        char *full = path_absolute(*h), *dir = path_dir(full);
        str_add(&out, " -I");
        escape_make_recipe(&out, dir);
        free(full);
        free(dir);
    }
    for (char **f = session_option_all(d->session, "cflags"); f && *f; f++) {
        str_addc(&out, ' ');
        escape_make_recipe(&out, *f);
    }
    words_of(makefile, "TEST_CFLAGS", &words);
    for (size_t i = 0; i < words.len; i++)
        add_word(d, &out, words.items[i]);
    strings_release(&words);
    return str_take(&out);
}

static bool copy_folder(Diff *d, Strings *tests, Str *makefile, Err *err)
{
    Strings names = { 0 };
    bool ok = dir_list(d->folder, &names, err);
    for (size_t i = 0; ok && i < names.len; i++) {
        const char *name = names.items[i];
        bool test = str_starts(name, "test_") && str_ends(name, ".c");
        if (!test && strcmp(name, "sundew_test.h") != 0 && strcmp(name, "Makefile") != 0)
            continue;
        char *from = path_join(d->folder, name), *to = path_join(d->copy, name);
        Str text = { 0 };
        ok = file_read(from, &text, err) && file_write(to, text.data, text.len, err);
        if (ok && strcmp(name, "Makefile") == 0)
            str_addn(makefile, str_c(&text), text.len);
        if (test)
            strings_addf(tests, "%.*s", (int)(strlen(name) - 2), name);
        str_release(&text);
        free(from);
        free(to);
    }
    strings_release(&names);
    if (ok && (!tests->len || !makefile->len))
        ok = err_set(err, "%s has no tests that sundew regress has written", d->folder);
    return ok;
}

/* ---- what can't be built any more */

static void add_change(Diff *d, const char *file, unsigned line, const char *function,
                       const char *test, char *what)
{
    vec_push(&d->changes, ((Change){ .file = xprintf("%s.c", file),
                                     .line = line,
                                     .is = xstrdup(""),
                                     .was = xstrdup(""),
                                     .what = what,
                                     .function = xstrdup(function),
                                     .test = xstrdup(test) }));
}

/* The line with "TEST(NAME)" that a line belongs to; lines->len: none. */
static size_t test_of(const Strings *lines, size_t line)
{
    for (size_t i = line < lines->len ? line + 1 : lines->len; i-- > 0;) {
        if (str_starts(lines->items[i], "TEST("))
            return i;
        if (lines->items[i][0] == '}')
            break;
    }
    return lines->len;
}

/* Its body is empty from now on, in the copy; it is not run any more. */
static void drop_test(Diff *d, Strings *lines, size_t head)
{
    const char *name = lines->items[head] + strlen("TEST(");
    char *test = xstrndup(name, strcspn(name, ")"));
    map_put(&d->gone, test, NULL);
    free(test);
    for (size_t i = head + 2; i < lines->len && lines->items[i][0] != '}'; i++) {
        free(lines->items[i]);
        lines->items[i] = xstrdup("");
    }
}

/* Tests that call what is gone. */
static size_t drop_callers(Diff *d, Strings *lines, const char *file, const char *function)
{
    size_t dropped = 0;
    for (size_t i = 0; i < lines->len; i++) {
        size_t head = has_name(lines->items[i], function, strlen(function)) &&
                              !str_starts(lines->items[i], "TEST(")
                          ? test_of(lines, i)
                          : lines->len;
        if (head >= lines->len)
            continue;
        const char *name = lines->items[head] + strlen("TEST(");
        char *test = xstrndup(name, strcspn(name, ")"));
        add_change(d, file, (unsigned)i + 1, function, test, xstrdup("is not there any more"));
        free(test);
        drop_test(d, lines, head);
        dropped++;
    }
    return dropped;
}

static size_t drop_unlinkable(Diff *d, Strings *lines, const char *file, const char *said)
{
    static const char mark[] = "undefined reference to `";
    Map seen = { 0 };
    size_t dropped = 0;
    for (const char *p = said; (p = strstr(p, mark));) {
        p += sizeof mark - 1;
        char *name = xstrndup(p, strcspn(p, "'"));
        if (map_put(&seen, name, NULL))
            dropped += drop_callers(d, lines, file, name);
        free(name);
    }
    map_release(&seen);
    return dropped;
}

/* Tests that the compiler complains about: "test_x.c:31:5: error: …". */
static size_t drop_uncompilable(Diff *d, Strings *lines, const char *file, const char *said)
{
    char *mark = xprintf("%s.c:", file);
    size_t dropped = 0;
    for (const char *p = said; (p = strstr(p, mark)); p++) {
        unsigned line = (unsigned)strtoul(p + strlen(mark), NULL, 10);
        size_t n = strcspn(p, "\n");
        const char *e = strstr(p, "error: ");
        size_t head = e && e < p + n && line ? test_of(lines, line - 1) : lines->len;
        if (head >= lines->len || line < head + 2 || !*lines->items[line - 1])
            continue;
        char about[128] = "?";
        called_in(lines->items[line - 1], about);
        const char *name = lines->items[head] + strlen("TEST(");
        char *test = xstrndup(name, strcspn(name, ")"));
        int most = (int)(p + n - e) - 7;
        add_change(d, file, line, about, test,
                   xprintf("is declared otherwise now: %.*s", most > 200 ? 200 : most, e + 7));
        free(test);
        drop_test(d, lines, head);
        dropped++;
    }
    free(mark);
    return dropped;
}

/* The file of the copy without what can't be built. False: it is not known what that is. */
static bool drop_unbuildable(Diff *d, const char *file, const char *said, Err *err)
{
    Str text = { 0 };
    Strings lines = { 0 };
    char *path = xprintf("%s/%s.c", d->copy, file);
    bool ok = file_read(path, &text, err);
    for (const char *p = str_c(&text); ok && *p;) {
        size_t n = strcspn(p, "\n");
        strings_addf(&lines, "%.*s", (int)n, p);
        p += n + (p[n] == '\n');
    }
    size_t n = drop_unlinkable(d, &lines, file, said);
    n += n ? 0 : drop_uncompilable(d, &lines, file, said);
    str_reset(&text);
    for (size_t i = 0; i < lines.len; i++)
        str_addf(&text, "%s\n", lines.items[i]);
    ok = ok && n && file_write(path, str_c(&text), text.len, err);
    str_release(&text);
    strings_release(&lines);
    free(path);
    return ok;
}

static void report_unbuildable(Diff *d, const char *file, const char *said)
{
    const char *e = strstr(said, "error: ");
    size_t n = e ? strcspn(e, "\n") : 0;
    add_change(d, file, 0, file, file,
               e ? xprintf("does not compile: %.*s", (int)(n > 200 ? 200 : n), e)
                 : xstrdup("does not compile"));
}

static bool run_make(Diff *d, const char *test, const Words *words, bool *built, Err *err)
{
    enum { ROUNDS = 20 };
    bool ok = true, again = true;
    *built = false;
    for (int i = 0; ok && again && i < ROUNDS; i++) {
        char *argv[] = { "make",           "-s",         "-C",         d->copy,
                         words->libraries, words->flags, (char *)test, NULL };
        Proc p = { .argv = argv, .capture = true, .seconds = 600 };
        ProcResult r = { 0 };
        ok = proc_run(&p, &r, err);
        *built = ok && r.status == 0;
        again = ok && !*built && drop_unbuildable(d, test, str_c(&r.err), err);
        if (ok && !*built && !again)
            report_unbuildable(d, test, str_c(&r.err));
        proc_result_release(&r);
    }
    return ok;
}

static bool run_test(Diff *d, const char *test, Err *err)
{
    char *path = xprintf("%s/%s", d->copy, test);
    char *argv[] = { path, NULL };
    Strings env = { 0 };
    tests_leak_environment(&env);
    strings_add(&env, "SUNDEW_ACCEPT=1");
    Proc p = {
        .argv = argv, .env = strings_argv(&env), .cwd = d->copy, .capture = true, .seconds = 600
    };
    ProcResult r = { 0 };
    bool ok = proc_run(&p, &r, err);
    if (ok)
        read_output(d, test, str_c(&r.out));
    proc_result_release(&r);
    strings_release(&env);
    free(path);
    return ok;
}

/* ---- accept */

/* The line of a check with another value at its end. */
static char *accepted(const char *line, const Change *c)
{
    const char *open = strchr(line, '('), *end = strrchr(line, ')');
    const char *at = NULL;
    if (!open || !end)
        return NULL;
    if (strcmp(c->is, "NULL") == 0 || strcmp(c->is, "NOT_NULL") == 0) {
        char *what = xstrdup(c->what);
        char *out = xprintf("%.*sCHECK_%s(%s);", (int)strspn(line, " "), line, c->is, what);
        free(what);
        return out;
    }
    bool bytes = strstr(line, "CHECK_BYTES(") != NULL;
    size_t skip = bytes ? 1 : 0;
    for (const char *p = end; p > open; p--)
        if (*p == ',' && p[1] == ' ') {
            /* not one inside a string: an even number of quotes follows */
            unsigned quotes = 0;
            for (const char *q = p; q < end; q++)
                quotes += *q == '"' && q[-1] != '\\';
            if (quotes % 2 == 0 && skip-- == 0) {
                at = p + 2;
                break;
            }
        }
    if (!at)
        return NULL;
    const char *tail = end;
    if (bytes) {
        tail = end;
        while (tail > at && *tail != ',')
            tail--;
    }
    return xprintf("%.*s%s%s", (int)(at - line), line, c->is, tail);
}

/* What follows used what is not there any more. */
static void drop_rest(Strings *lines, size_t from)
{
    for (size_t i = from; i < lines->len && lines->items[i][0] != '}'; i++) {
        free(lines->items[i]);
        lines->items[i] = xstrdup("");
    }
}

static bool accept_changes(Diff *d, size_t *done, Err *err)
{
    bool ok = true;
    for (size_t i = 0; i < d->changes.len; i++) {
        const Change *c = &d->changes.items[i];
        Strings *lines = lines_of(d, c->file);
        if (!*c->is || !c->line || c->line > lines->len)
            continue;
        char *fresh = accepted(lines->items[c->line - 1], c);
        if (!fresh)
            continue;
        free(lines->items[c->line - 1]);
        lines->items[c->line - 1] = fresh;
        ++*done;
        if (strcmp(c->is, "NULL") == 0)
            drop_rest(lines, c->line);
    }
    for (size_t i = 0; ok && i < d->sources.len; i++) {
        const Strings *lines = d->sources.entries[i].value;
        char *path = path_join(d->folder, d->sources.entries[i].key);
        Str text = { 0 };
        for (size_t k = 0; k < lines->len; k++)
            str_addf(&text, "%s\n", lines->items[k]);
        ok = !lines->len || file_write(path, text.data, text.len, err);
        str_release(&text);
        free(path);
    }
    return ok;
}

/* ---- report */

/* Changes of one function with the same cause: dying, or another value. */
static bool same_group(const Change *a, const Change *b)
{
    return strcmp(a->function, b->function) == 0 && !*a->is == !*b->is &&
           (*a->is || strcmp(a->what, b->what) == 0);
}

static bool report_group(Diff *d, size_t first, Err *err)
{
    const Change *c = &d->changes.items[first];
    Vec(EvidenceStep) steps = { 0 };
    Strings texts = { 0 }, tests = { 0 };
    Str message = { 0 };
    size_t n = 0;
    char *path = NULL;
    for (size_t i = first; i < d->changes.len; i++) {
        const Change *x = &d->changes.items[i];
        if (!same_group(c, x))
            continue;
        n++;
        if (n <= 10)
            strings_addf(&texts, *x->is ? "%s: %s is %s, was %s" : "%s: %s%s%s", x->test, x->what,
                         x->is, x->was);
    }
    for (size_t i = 0; i < texts.len; i++)
        vec_push(&steps, ((EvidenceStep){ .text = texts.items[i] }));
    if (*c->is)
        str_addf(&message, "%s gives something else: %s is %s, was %s", c->function, c->what, c->is,
                 c->was);
    else
        str_addf(&message, "%s: %s", c->function, c->what);
    if (n > 1)
        str_addf(&message, " (and %zu more)", n - 1);
    path = path_join(d->folder, c->file);
    char *full = path_absolute(path);
    Finding f = { .rule = "regress/changed",
                  .level = LEVEL_WARNING,
                  .verdict = VERDICT_SHOWN,
                  .message = str_c(&message),
                  .anchor = c->function,
                  .where = { .file = full, .line = (int)c->line, .function = c->test },
                  .steps = steps.items,
                  .nsteps = steps.len,
                  .rerun = session_command_line(d->session) };
    bool ok = session_report(d->session, &f, err);
    vec_release(&steps);
    strings_release(&texts);
    strings_release(&tests);
    str_release(&message);
    free(path);
    free(full);
    return ok;
}

static bool report(Diff *d, Err *err)
{
    bool ok = session_begin(d->session, NULL, err);
    for (size_t i = 0; ok && i < d->changes.len; i++) {
        bool earlier = false;
        for (size_t k = 0; k < i && !earlier; k++)
            earlier = same_group(&d->changes.items[k], &d->changes.items[i]);
        if (!earlier)
            ok = report_group(d, i, err);
    }
    session_examined(d->session, "%zu tests", (size_t)d->tests);
    session_json(d->session, "tests", json_integer((json_int_t)d->tests));
    session_json(d->session, "failed", json_integer((json_int_t)d->failed));
    session_json(d->session, "changes", json_integer((json_int_t)d->changes.len));
    if (ok && !session_flag(d->session, "json"))
        str_addf(session_out(d->session), "%zu tests, %zu of them with another outcome\n", d->tests,
                 d->failed);
    return ok;
}

static void release(Diff *d)
{
    for (size_t i = 0; i < d->changes.len; i++) {
        Change *c = &d->changes.items[i];
        free(c->file);
        free(c->is);
        free(c->was);
        free(c->what);
        free(c->function);
        free(c->test);
    }
    vec_release(&d->changes);
    for (size_t i = 0; i < d->sources.len; i++) {
        strings_release(d->sources.entries[i].value);
        free(d->sources.entries[i].value);
    }
    map_release(&d->sources);
    map_release(&d->gone);
}

bool diff_run(Session *s, const char *folder, Err *err)
{
    size_t n, accepted_lines = 0;
    char **args = session_args(s, &n);
    Diff d = { .session = s, .folder = folder };
    Strings tests = { 0 };
    Str makefile = { 0 };
    if (n != 1)
        return err_set(err, "compare with which library? (sundew regress --diff DIR LIBRARY)");
    if (!file_is_regular(args[0]))
        return err_set(err, "%s: there is no such file", args[0]);
    const char *copy = tempdir_new(NULL, err);
    d.copy = (char *)copy;
    bool ok = copy && copy_folder(&d, &tests, &makefile, err);
    Words words = { 0 };
    if (ok) {
        words.libraries = libraries_for(&d, str_c(&makefile), args[0]);
        words.flags = flags_for(&d, str_c(&makefile));
    }
    for (size_t i = 0; ok && i < tests.len; i++) {
        bool built = false;
        ok = run_make(&d, tests.items[i], &words, &built, err) &&
             (!built || run_test(&d, tests.items[i], err));
    }
    blame_leaks(&d);
    if (ok && session_flag(s, "accept")) {
        ok = accept_changes(&d, &accepted_lines, err);
        if (ok)
            str_addf(session_out(s), "%zu checks changed in %s\n", accepted_lines, folder);
    } else {
        ok = ok && report(&d, err);
    }
    free(words.libraries);
    free(words.flags);
    strings_release(&tests);
    str_release(&makefile);
    if (copy)
        tempdir_remove(copy);
    release(&d);
    return ok;
}
