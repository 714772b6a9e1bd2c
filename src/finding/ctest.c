#include "finding/ctest.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/map.h"
#include "base/str.h"
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* `name` as an identifier that `taken` does not have yet. */
static char *unique_identifier(const char *name, Map *taken)
{
    Str s = { 0 };
    escape_c_identifier(&s, name, strlen(name));
    if (s.len > 100) {
        s.data[100] = 0;
        s.len = 100;
    }
    size_t base = s.len;
    for (int i = 2; !map_put(taken, str_c(&s), NULL); i++) {
        s.len = base;
        str_addf(&s, "_%d", i);
    }
    return str_take(&s);
}

/* A comment block of lines of at most 76 characters. */
static void add_comment(Str *out, const char *text)
{
    Str clean = { 0 };
    escape_c_comment(&clean, text, strlen(text));
    str_add(out, "/*");
    size_t column = 80;
    for (const char *p = str_c(&clean); *p;) {
        size_t n = strcspn(p, " ");
        if (n && column + n > 75) {
            str_add(out, "\n *");
            column = 2;
        }
        if (n) {
            str_addf(out, " %.*s", (int)n, p);
            column += n + 1;
        }
        p += n + strspn(p + n, " ");
    }
    str_add(out, "\n */\n");
    str_release(&clean);
}

static void add_body(Str *out, const char *body)
{
    str_add(out, "{\n");
    for (const char *p = body; *p;) {
        size_t n = strcspn(p, "\n");
        bool label = *p == '#' || !n;
        str_addf(out, "%s%.*s\n", label ? "" : "    ", (int)n, p);
        p += n + (p[n] == '\n');
    }
    str_add(out, "}\n\n");
}

static void add_file(Str *out, const CTestFile *f)
{
    Map taken = { 0 };
    if (f->includes)
        str_add(out, f->includes);
    str_add(out, "#include \"sundew_test.h\"\n\n");
    for (size_t i = 0; i < f->ntests; i++) {
        const CTestCase *t = &f->tests[i];
        assert(t->name && t->body);
        char *name = unique_identifier(t->name, &taken);
        if (t->purpose)
            add_comment(out, t->purpose);
        str_addf(out, "TEST(%s)\n", name);
        add_body(out, t->body);
        free(name);
    }
    str_add(out, "#define TESTS(T)");
    for (size_t i = 0; i < taken.len; i++)
        str_addf(out, " \\\n    T(%s)", taken.entries[i].key);
    str_add(out, "\nTEST_MAIN(TESTS)\n");
    map_release(&taken);
}

/* In quotes, because nothing is expanded in brackets. */
static void add_cmake_path(Str *out, const char *word, const char *mark, const char *here)
{
    str_addc(out, '"');
    for (const char *p = word; *p; p++) {
        if (p == mark) {
            str_add(out, here);
            continue;
        }
        str_add(out, strchr("\\\"$;", *p) ? "\\" : "");
        str_addc(out, *p);
    }
    str_addc(out, '"');
}

/* `here` is the folder of the tests, in the words of a build file. */
static void add_words(Str *out, char *const *words, void (*escape)(Str *, const char *),
                      const char *here, const char *before, const char *after)
{
    for (; words && *words; words++) {
        const char *mark = strstr(*words, CTEST_HERE);
        str_add(out, before);
        if (mark && escape == escape_cmake) {
            add_cmake_path(out, *words, mark, here);
        } else {
            char *first = xstrndup(*words, mark ? (size_t)(mark - *words) : 0);
            if (*first)
                escape(out, first);
            str_add(out, mark ? here : "");
            free(first);
            escape(out, mark ? mark + strlen(CTEST_HERE) : *words);
        }
        str_add(out, after);
    }
}

/* The three build files: name, and how its text begins and names a test. */
static void add_makefile(Str *out, const Strings *names, const CTestProject *p)
{
    str_add(out, "# make check: builds and runs the tests.\n"
                 "CC ?= cc\nCFLAGS ?= -g\nTEST_CFLAGS =");
    add_words(out, p->cflags, escape_make_variable, "", " ", "");
    str_add(out, "\nTEST_LIBS =");
    add_words(out, p->libraries, escape_make_variable, "", " ", "");
    str_add(out, "\nTESTS =");
    for (size_t i = 0; i < names->len; i++)
        str_addf(out, " %s", names->items[i]);
    str_add(out, "\n\nall: $(TESTS)\n\n$(TESTS): %: %.c sundew_test.h\n"
                 "\t$(CC) $(CFLAGS) $(TEST_CFLAGS) -o $@ $< $(LDFLAGS) "
                 "$(TEST_LIBS)\n\n"
                 "check: all\n\t@status=0; for t in $(TESTS); do echo \"# $$t\"; "
                 "./$$t || status=1; done; exit $$status\n\n"
                 "clean:\n\trm -f $(TESTS)\n\n.PHONY: all check clean\n");
}

static void add_cmake(Str *out, const Strings *names, const CTestProject *p)
{
    str_add(out, "cmake_minimum_required(VERSION 3.13)\n"
                 "project(sundew_tests C)\nenable_testing()\nset(FLAGS");
    add_words(out, p->cflags, escape_cmake, "${CMAKE_CURRENT_SOURCE_DIR}/", " ", "");
    str_add(out, ")\nset(LIBS");
    add_words(out, p->libraries, escape_cmake, "${CMAKE_CURRENT_SOURCE_DIR}/", " ", "");
    str_add(out, ")\nforeach(t");
    for (size_t i = 0; i < names->len; i++)
        str_addf(out, " %s", names->items[i]);
    str_add(out, ")\n  add_executable(${t} ${t}.c)\n"
                 "  target_compile_options(${t} PRIVATE ${FLAGS})\n"
                 "  target_link_options(${t} PRIVATE)\n"
                 "  target_link_libraries(${t} PRIVATE ${LIBS})\n"
                 "  add_test(NAME ${t} COMMAND ${t})\nendforeach()\n");
}

static void add_meson(Str *out, const Strings *names, const CTestProject *p)
{
    str_add(out, "project('sundew_tests', 'c')\n"
                 "here = meson.current_source_dir()\nflags = [");
    add_words(out, p->cflags, escape_meson, "' + here + '/", "'", "', ");
    str_add(out, "]\nlibs = [");
    add_words(out, p->libraries, escape_meson, "' + here + '/", "'", "', ");
    str_add(out, "]\nforeach t : [");
    for (size_t i = 0; i < names->len; i++)
        str_addf(out, "%s'%s'", i ? ", " : "", names->items[i]);
    str_add(out, "]\n  test(t, executable(t, t + '.c', c_args: flags, "
                 "link_args: libs), protocol: 'tap')\nendforeach\n");
}

static bool write_in(const char *folder, const char *name, const Str *text, Err *err)
{
    char *path = path_join(folder, name);
    bool ok = file_write(path, str_c(text), text->len, err);
    free(path);
    return ok;
}

static bool write_build_files(const char *folder, const Strings *names, const CTestProject *p,
                              Err *err)
{
    static const struct {
        const char *name;
        void (*add)(Str *, const Strings *, const CTestProject *);
    } files[] = {
        { "Makefile", add_makefile },
        { "CMakeLists.txt", add_cmake },
        { "meson.build", add_meson },
    };
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof files / sizeof *files; i++) {
        Str text = { 0 };
        files[i].add(&text, names, p);
        ok = write_in(folder, files[i].name, &text, err);
        str_release(&text);
    }
    return ok;
}

bool ctest_write(const char *folder, const char *share, const CTestFile *files, size_t n,
                 const CTestProject *p, Err *err)
{
    Strings names = { 0 };
    Map taken = { 0 };
    Str text = { 0 };
    char *header = path_join(share, "ctest/sundew_test.h");
    bool ok = dir_make(folder, err) && file_read(header, &text, err) &&
              write_in(folder, "sundew_test.h", &text, err);
    for (size_t i = 0; ok && i < n; i++) {
        char *name = unique_identifier(files[i].name, &taken);
        strings_addf(&names, "test_%s", name);
        str_reset(&text);
        add_file(&text, &files[i]);
        char *file = xprintf("test_%s.c", name);
        ok = write_in(folder, file, &text, err);
        free(file);
        free(name);
    }
    ok = ok && write_build_files(folder, &names, p, err);
    free(header);
    strings_release(&names);
    map_release(&taken);
    str_release(&text);
    return ok;
}
