/* The tests that were kept, as C files: one a group. */
#include "base/escape.h"
#include "base/file.h"
#include "base/proc.h"
#include "engine/sequence/write.h"
#include "finding/ctest.h"
#include "technique/regress/regress_int.h"
#include <stdlib.h>
#include <string.h>

typedef struct Group {
    char *name;
    WriteFile file;
    Vec(CTestCase) tests;
    char *includes;
} Group;

typedef Vec(Group) Groups;

static Group *group_of(Groups *all, const SeqTest *t)
{
    Str name = {0};
    write_group(t, &name);
    for (size_t i = 0; i < all->len; i++)
        if (strcmp(all->items[i].name, str_c(&name)) == 0) {
            str_release(&name);
            return &all->items[i];
        }
    Group *g = vec_grow(all);
    g->name = str_take(&name);
    return g;
}

static void purpose(const SeqTest *t, Str *out)
{
    str_add(out, t->follows ? "guided: does what the example did, in another order or with other "
                              "values"
                            : "divergent: has calls or values that the example does not have");
    if (t->nkilled)
        str_addf(out, "; finds %zu mutant%s that no other test finds", t->nkilled,
                 t->nkilled == 1 ? "" : "s");
}

static void add_test(Regress *r, Groups *all, const SeqTest *t)
{
    Str name = {0}, body = {0}, why = {0};
    size_t assertions = 0;
    Group *g = group_of(all, t);
    write_test(&g->file, t, &name, &body, &assertions);
    purpose(t, &why);
    vec_push(&g->tests, ((CTestCase){ .name = str_take(&name), .purpose = str_take(&why),
                                      .body = str_take(&body) }));
    r->assertions += assertions;
    r->written++;
}

static void group_release(Group *g)
{
    for (size_t i = 0; i < g->tests.len; i++) {
        free((char *)g->tests.items[i].name);
        free((char *)g->tests.items[i].purpose);
        free((char *)g->tests.items[i].body);
    }
    vec_release(&g->tests);
    write_release(&g->file);
    free(g->includes);
    free(g->name);
}

/* The lines before the tests. */
static char *includes_of(const Regress *r, const Group *g)
{
    Str s = {0};
    str_add(&s, "#define SUNDEW_TEST_QUIET\n#include <errno.h>\n#include <stddef.h>\n#include <string.h>\n");
    for (char *const *h = r->headers; h && *h; h++) {
        str_add(&s, "#include \"");
        escape_c_string(&s, path_base(*h), strlen(path_base(*h)));
        str_add(&s, "\"\n");
    }
    if (g->file.stubs.len)
        str_addf(&s, "\n%s", str_c(&g->file.stubs));
    return str_take(&s);
}

static void add_word(Str *s, const char *text)
{
    if (s->len)
        str_addc(s, ' ');
    escape_shell(s, text);
}

/* -I for the headers' folders, what the user gave, and what to link with. */
static void flags_of(const Regress *r, Str *cflags, Str *libraries)
{
    for (char *const *h = r->headers; h && *h; h++) {
        char *full = path_absolute(*h), *dir = path_dir(full), *flag = xprintf("-I%s", dir);
        if (!strstr(str_c(cflags), flag))
            add_word(cflags, flag);
        free(full);
        free(dir);
        free(flag);
    }
    char **more = session_option_all(r->session, "cflags");
    for (; more && *more; more++)
        add_word(cflags, *more);
    add_word(libraries, program_captured(r->program)->path);
    char **link = session_option_all(r->session, "link");
    for (; link && *link; link++)
        add_word(libraries, *link);
    add_word(libraries, "-lm");
}

bool tests_write(Regress *r, const char *folder, Err *err)
{
    Groups all = {0};
    Str cflags = {0}, libraries = {0};
    for (size_t i = 0; i < r->suite.tests.len; i++)
        add_test(r, &all, r->suite.tests.items[i]);
    CTestFile *files = xcalloc(all.len + 1, sizeof *files);
    for (size_t i = 0; i < all.len; i++) {
        Group *g = &all.items[i];
        g->includes = includes_of(r, g);
        files[i] = (CTestFile){ .name = g->name, .includes = g->includes,
                                .tests = g->tests.items, .ntests = g->tests.len };
    }
    flags_of(r, &cflags, &libraries);
    CTestProject project = { .cflags = str_c(&cflags), .libraries = str_c(&libraries) };
    bool ok = ctest_write(folder, session_share(r->session), files, all.len, &project, err);
    for (size_t i = 0; i < all.len; i++)
        group_release(&all.items[i]);
    vec_release(&all);
    free(files);
    str_release(&cflags);
    str_release(&libraries);
    return ok;
}
