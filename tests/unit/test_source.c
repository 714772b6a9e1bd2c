/* finding/csyntax.h and finding/source.h: reading C line by line. */
#include "base/file.h"
#include "base/mem.h"
#include "base/tempdir.h"
#include "finding/source.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A line's tokens as letters with their text: "k[int] p[ x;]". */
static void tokens_of(const char *line, CState *state, Str *out)
{
    static const char letters[] = "pcskmd";
    CLine l = csyntax_line(line, strlen(line), *state);
    size_t at = 0;
    for (CToken t; csyntax_next(&l, &t); at = t.to) {
        assert_int_equal(t.from, at);               /* no gaps */
        assert_true(t.to > t.from);
        if (out->len)
            str_addc(out, ' ');
        str_addf(out, "%c[%.*s]", letters[t.kind], (int)(t.to - t.from), line + t.from);
    }
    assert_int_equal(at, strlen(line));
    *state = l.state;
}

static void a_line_divides_into_tokens(void **state)
{
    (void)state;
    static const struct {
        const char *line, *tokens;
        CState begin, end;
    } rows[] = {
        { "int x = 0x1f;", "k[int] p[ ] p[x] p[ = ] m[0x1f] p[;]", 0, 0 },
        { "  # include <a.h> // b", "p[  ] d[# include] p[ <] p[a] p[.] p[h] p[> ] c[// b]", 0, 0 },
        { "a # b", "p[a] p[ ] p[# ] p[b]", 0, 0 },
        { "\"a\\\"b\" 'c' x", "s[\"a\\\"b\"] p[ ] s['c'] p[ ] p[x]", 0, 0 },
        { "\"open", "s[\"open]", 0, CSYNTAX_CODE },
        { "\"open\\", "s[\"open\\]", 0, CSYNTAX_STRING },
        { "'\\", "s['\\]", 0, CSYNTAX_CODE },
        { "on\" x", "s[on\"] p[ ] p[x]", CSYNTAX_STRING, 0 },
        { "/* a */ b /* c", "c[/* a */] p[ ] p[b] p[ ] c[/* c]", 0, CSYNTAX_BLOCK_COMMENT },
        { "d", "c[d]", CSYNTAX_BLOCK_COMMENT, CSYNTAX_BLOCK_COMMENT },
        { "d */x", "c[d */] p[x]", CSYNTAX_BLOCK_COMMENT, 0 },
        { "// a\\", "c[// a\\]", 0, CSYNTAX_LINE_COMMENT },
        { "b", "c[b]", CSYNTAX_LINE_COMMENT, 0 },
        { "/*/ x", "c[/*/ x]", 0, CSYNTAX_BLOCK_COMMENT },
        { "a / b /", "p[a] p[ / ] p[b] p[ /]", 0, 0 },
        { "1.5e3f .5 returned", "m[1.5e3f] p[ .] m[5] p[ ] p[returned]", 0, 0 },
        { "\xff\xc3\xa4 _Bool", "p[\xff\xc3\xa4] p[ ] k[_Bool]", 0, 0 },
        { "", "", CSYNTAX_STRING, 0 },
        { "", "", CSYNTAX_BLOCK_COMMENT, CSYNTAX_BLOCK_COMMENT },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Str out = { 0 };
        CState now = rows[i].begin;
        tokens_of(rows[i].line, &now, &out);
        assert_string_equal(str_c(&out), rows[i].tokens);
        assert_int_equal(now, rows[i].end);
        str_release(&out);
    }
}

static void put(const char *dir, const char *name, const char *text)
{
    char *path = path_join(dir, name);
    assert_true(file_write(path, text, strlen(text), NULL));
    free(path);
}

static void source_lines_are_found_with_their_state(void **state)
{
    (void)state;
    const char *dir = tempdir_new(NULL, NULL);
    put(dir, "a.c", "int a; /* b\r\nc */ int  d; // \\\r\ne\n\nlast");
    Sources *all = sources_new(dir);
    const Source *s = sources_get(all, "a.c");
    assert_non_null(s);
    assert_ptr_equal(sources_get(all, "a.c"), s);
    assert_int_equal(source_lines(s), 5);
    size_t n;
    const char *line = source_line(s, 1, &n);
    assert_int_equal(n, strlen("int a; /* b"));
    assert_memory_equal(line, "int a; /* b", n);
    assert_int_equal(source_state(s, 2), CSYNTAX_BLOCK_COMMENT);
    assert_int_equal(source_state(s, 3), CSYNTAX_LINE_COMMENT);
    assert_int_equal(source_state(s, 4), CSYNTAX_CODE);
    line = source_line(s, 5, &n);
    assert_memory_equal(line, "last", n);
    assert_null(source_line(s, 0, &n));
    assert_null(source_line(s, 6, &n));
    assert_null(source_line(NULL, 1, &n));
    assert_int_equal(source_lines(NULL), 0);
    Str bare = { 0 };
    for (int i = 1; i <= 6; i++)
        source_line_bare(s, i, &bare);
    assert_string_equal(str_c(&bare), "inta;intd;last");
    str_release(&bare);
    sources_free(all);
    sources_free(NULL);
    tempdir_remove(dir);
}

static void only_sources_are_read(void **state)
{
    (void)state;
    const char *outside = tempdir_new(NULL, NULL), *root = tempdir_new(NULL, NULL);
    put(outside, "id_rsa", "secret\n");
    put(outside, "lib.h", "int x;\n");
    put(root, "notes", "inside\n");
    char *key = path_join(outside, "id_rsa"), *header = path_join(outside, "lib.h");
    char *link = path_join(root, "innocent.c"), *pipe = path_join(root, "pipe.c");
    char *empty = path_join(root, "empty.c");
    assert_int_equal(symlink(key, link), 0);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    put(root, "empty.c", "");
    Sources *all = sources_new(root);
    assert_null(sources_get(all, NULL));
    assert_null(sources_get(all, "missing.c"));
    assert_null(sources_get(all, key));
    assert_null(sources_get(all, "innocent.c"));     /* a link to the key */
    assert_null(sources_get(all, "pipe.c"));
    assert_null(sources_get(all, "."));
    assert_non_null(sources_get(all, header));
    assert_non_null(sources_get(all, "notes"));
    assert_non_null(sources_get(all, "empty.c"));
    assert_int_equal(source_lines(sources_get(all, "empty.c")), 0);
    sources_free(all);
    all = sources_new("/no/such/root");
    assert_non_null(sources_get(all, header));
    assert_null(sources_get(all, key));
    sources_free(all);
    all = sources_new("/");
    assert_non_null(sources_get(all, key));          /* below the root */
    sources_free(all);
    assert_int_equal(truncate(header, (off_t)65 << 20), 0);
    all = sources_new(root);
    assert_null(sources_get(all, header));           /* too large */
    sources_free(all);
    free(key);
    free(header);
    free(link);
    free(pipe);
    free(empty);
    tempdir_remove(outside);
    tempdir_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_divides_into_tokens),
        cmocka_unit_test(source_lines_are_found_with_their_state),
        cmocka_unit_test(only_sources_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
