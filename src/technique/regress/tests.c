/* The tests that were kept, as C files: one a group. */
#include "base/escape.h"
#include "base/file.h"
#include "base/proc.h"
#include "capture/recompile.h"
#include "engine/suite/describe.h"
#include "engine/suite/write.h"
#include "finding/ctest.h"
#include "run/run.h"
#include "technique/regress/regress_int.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Group {
    char *name;
    WriteFile file;
    Vec(CTestCase) tests;
    Vec(size_t) of;              /* their places in the suite */
    char *includes;
} Group;

typedef Vec(Group) Groups;

static Group *group_of(Groups *all, const SeqTest *t)
{
    Str name = { 0 };
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

/* Tests of the same call are neighbours; what the example does comes first. */
static int by_subject(const void *a, const void *b)
{
    const SeqTest *x = *(SeqTest *const *)a, *y = *(SeqTest *const *)b;
    unsigned f = x->seq->steps[describe_step(x)].f->index;
    unsigned g = y->seq->steps[describe_step(y)].f->index;
    if (x->example != y->example)
        return y->example - x->example;
    if (f != g)
        return f < g ? -1 : 1;
    return (x->seq->n > y->seq->n) - (x->seq->n < y->seq->n);
}

static bool has_name(const Group *g, const char *name)
{
    for (size_t i = 0; i < g->tests.len; i++)
        if (strcmp(g->tests.items[i].name, name) == 0)
            return true;
    return false;
}

static void add_test(Regress *r, Groups *all, size_t number)
{
    const SeqTest *t = r->suite.tests.items[number];
    Str name = { 0 }, body = { 0 }, why = { 0 }, same = { 0 };
    size_t assertions = 0;
    Group *g = group_of(all, t);
    if (r->usage)
        g->file.files = usage_files(r->usage, &g->file.nfiles);
    write_test(&g->file, t, &body, &assertions);
    describe_test(t, r->usage, false, &name, &why);
    if (has_name(g, str_c(&name))) {
        str_reset(&name);
        describe_test(t, r->usage, true, &name, &same);
        str_release(&same);
    }
    vec_push(&g->tests,
             ((CTestCase){
                 .name = str_take(&name), .purpose = str_take(&why), .body = str_take(&body) }));
    vec_push(&g->of, number);
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
    vec_release(&g->of);
    write_release(&g->file);
    free(g->includes);
    free(g->name);
}

/* The lines before the tests. */
static char *includes_of(const Regress *r, const Group *g)
{
    Str s = { 0 };
    str_add(
        &s,
        "#define SUNDEW_TEST_QUIET\n#include <errno.h>\n#include <stddef.h>\n#include <stdlib.h>\n#include <string.h>\n");
    for (char *const *h = r->headers; h && *h; h++) {
        str_add(&s, "#include ");
        escape_c_include(&s, path_base(*h));
        str_addc(&s, '\n');
    }
    if (g->file.texts.len)
        str_addf(&s, "\n%s", str_c(&g->file.texts));
    if (g->file.stubs.len)
        str_addf(&s, "\n%s", str_c(&g->file.stubs));
    return str_take(&s);
}

/* A path as the tests' folder sees it: tests move with the project. */
static char *from_tests(const char *flag, const char *path, const char *tests)
{
    char *seen = path_between(path, tests);
    char *word = xprintf("%s%s%s", flag, *seen == '/' ? "" : CTEST_HERE, seen);
    free(seen);
    return word;
}

static void add_include(Strings *cflags, const char *dir, const char *tests)
{
    char *word = from_tests("-I", dir, tests);
    bool there = strcmp(dir, "/usr/include") == 0;
    for (size_t i = 0; i < cflags->len && !there; i++)
        there = strcmp(cflags->items[i], word) == 0;
    if (!there)
        strings_add(cflags, word);
    free(word);
}

/* -I for the headers' folders and those that the library was compiled with, what the user
 * gave, and what to link with. */
static void flags_of(const Regress *r, const char *folder, Strings *cflags, Strings *libraries)
{
    Strings folders = { 0 };
    char *tests = path_absolute(folder);
    for (char *const *h = r->headers; h && *h; h++) {
        char *full = path_absolute(*h), *dir = path_dir(full);
        add_include(cflags, dir, tests);
        free(full);
        free(dir);
    }
    recompile_include_folders(program_captured(r->program), &folders);
    for (size_t i = 0; i < folders.len; i++)
        add_include(cflags, folders.items[i], tests);
    char **more = session_option_all(r->session, "cflags");
    for (; more && *more; more++)
        strings_add(cflags, *more);
    char *library = from_tests("", program_captured(r->program)->path, tests);
    strings_add(libraries, library);
    char **link = session_option_all(r->session, "link");
    for (; link && *link; link++)
        strings_add(libraries, *link);
    strings_add(libraries, "-lm");
    strings_release(&folders);
    free(library);
    free(tests);
}

/* ---- trial */

/*
 * What was written is compiled and run before anybody else does. A test that the
 * compiler complains about (a type that the headers don't show) or that does not
 * pass on the library as the build made it (other flags, other code) goes. So does one
 * for which there is no time (--time, Ctrl-C).
 */
typedef struct Trial {
    Regress *r;
    const char *folder;
    Runner *runner;
    bool *bad;                   /* by place in the suite */
    size_t nbad;
    bool cut;                    /* the time was over in the middle of a group */
} Trial;

static bool is_over(void *session) { return session_interrupted(session); }

static void drop(Trial *t, const Group *g, size_t i)
{
    if (i < g->of.len && !t->bad[g->of.items[i]]) {
        t->bad[g->of.items[i]] = true;
        t->nbad++;
    }
}

/* The number of the test that a line of a file belongs to, from 0. */
static size_t test_at(const char *text, unsigned line)
{
    size_t n = 0;
    for (unsigned i = 1; *text && i <= line; i++) {
        n += str_starts(text, "TEST(");
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return n - 1;
}

/* Lines that begin with FILE:LINE are about a test. */
static void read_complaints(Trial *t, const Group *g, const char *file, const char *said)
{
    Str text = { 0 };
    char *path = path_join(t->folder, file);
    size_t len = strlen(file), before = t->nbad;
    file_read(path, &text, NULL);
    for (const char *p = said; (p = strstr(p, file)); p += len) {
        unsigned line = p[len] == ':' ? (unsigned)strtoul(p + len + 1, NULL, 10) : 0;
        if (line && (strstr(p, "error:") || strstr(p, "warning:")))
            drop(t, g, test_at(str_c(&text), line));
    }
    /* nothing that can be told apart: the whole file */
    for (size_t i = 0; t->nbad == before && i < g->of.len; i++)
        drop(t, g, i);
    str_release(&text);
    free(path);
}

static bool compile(Trial *t, const Group *g, const char *name, const char *compiler, bool *built,
                    Err *err)
{
    char *target = xprintf("test_%s", name), *file = xprintf("test_%s.c", name);
    char *cc = xprintf("CC=%s", compiler ? compiler : "cc");
    char *argv[] = { "make",
                     "-s",
                     "-B",
                     "-C",
                     (char *)t->folder,
                     compiler ? "CFLAGS=-g -O1 -Wall -Wextra -Werror -ferror-limit=0"
                              : "CFLAGS=-g -Wall -Wextra -Werror",
                     target,
                     cc,
                     NULL };
    double left = session_time_left(t->r->session, 300);
    Proc p = { .argv = argv,
               .capture = true,
               .seconds = left < 300 ? left : 300,
               .stop = is_over,
               .stop_arg = t->r->session };
    ProcResult r = { 0 };
    bool ok = proc_run(&p, &r, err);
    *built = ok && r.status == 0;
    t->cut |= ok && (r.timed_out || is_over(t->r->session));
    if (ok && !*built && !t->cut)
        read_complaints(t, g, file, str_c(&r.err));
    proc_result_release(&r);
    free(cc);
    free(target);
    free(file);
    return ok;
}

static void read_tap(Trial *t, const Group *g, const char *out)
{
    for (const char *p = out; *p;) {
        unsigned long n = str_starts(p, "not ok ") ? strtoul(p + 7, NULL, 10) : 0;
        if (n)
            drop(t, g, n - 1);
        p += strcspn(p, "\n");
        p += *p == '\n';
    }
}

void tests_leak_environment(Strings *out)
{
    for (char **e = environ; *e; e++)
        strings_add(out, *e);
    strings_add(out, "SUNDEW_LEAKS=1");
    strings_add(out, RUN_COUNTS_MEMORY);
}

/* `leaks`: it is also seen whether they leave memory behind. */
static bool try_once(Trial *t, const Group *g, const char *program, bool leaks, Err *err)
{
    char *argv[] = { (char *)program, NULL };
    Strings env = { 0 };
    RunPlan plan = { .argv = argv,
                     .untraced = true,
                     .stop = is_over,
                     .stop_arg = t->r->session,
                     .limits = { .wall = 120, .cpu = 60 } };
    RunResult res = { 0 };
    if (t->cut)
        return true;
    if (leaks) {
        tests_leak_environment(&env);
        plan.env = strings_argv(&env);
    }
    bool ok = runner_run(t->runner, &plan, &res, err);
    strings_release(&env);
    t->cut |= ok && res.stopped;
    if (ok && !t->cut)
        read_tap(t, g, str_c(&res.out.text));
    if (ok && !t->cut && failure_is(&res.failure))
        for (size_t i = 0; i < g->of.len; i++)
            drop(t, g, i);
    run_result_release(&res);
    return ok;
}

/* Its file passed as it is. */
static bool is_tried(const Trial *t, const Group *g)
{
    for (size_t i = 0; i < g->of.len; i++)
        if (t->r->suite.tests.items[g->of.items[i]]->tried != TEST_TRIED)
            return false;
    return true;
}

/* What is known of those that are not bad. */
static void note_tried(const Trial *t, const Group *g, bool whole)
{
    for (size_t i = 0; i < g->of.len; i++)
        if (!t->bad[g->of.items[i]])
            t->r->suite.tests.items[g->of.items[i]]->tried = whole ? TEST_TRIED : TEST_PASSED;
}

static bool try_group(Trial *t, const Group *g, Err *err)
{
    Str name = { 0 };
    bool built = false;
    size_t before = t->nbad;
    escape_c_identifier(&name, g->name, strlen(g->name));
    char *program = xprintf("%s/test_%s", t->folder, str_c(&name));
    bool ok = compile(t, g, str_c(&name), NULL, &built, err);
    for (int i = 0; ok && built && i < 3; i++)
        ok = try_once(t, g, program, i == 2, err);
    /* another compiler puts literals and variables elsewhere: nothing may hang on that */
    char *other = clang_find();
    ok = ok && (!built || !other || compile(t, g, str_c(&name), other, &built, err));
    if (ok && built && other)
        ok = try_once(t, g, program, false, err);
    if (ok && built && !t->cut)
        note_tried(t, g, t->nbad == before);
    free(other);
    unlink(program);
    free(program);
    str_release(&name);
    return ok;
}

static void forget_bad(Regress *r, const bool *bad)
{
    size_t n = 0;
    for (size_t i = 0; i < r->suite.tests.len; i++)
        if (!bad[i])
            r->suite.tests.items[n++] = r->suite.tests.items[i];
    r->suite.tests.len = n;
}

/* How many tests were bad; they are not in the suite any more. */
static bool try_all(Regress *r, const char *folder, const Groups *all, size_t *nbad, Err *err)
{
    Trial t = { .r = r, .folder = folder };
    char *full = path_absolute(folder);
    const char *readable[] = { full, NULL };
    t.bad = xcalloc(r->suite.tests.len + 1, sizeof *t.bad);
    t.folder = full;
    t.runner = runner_new(&(RunnerPlan){ .readable = readable }, err);
    bool ok = t.runner != NULL;
    for (size_t i = 0; ok && i < all->len && !is_over(r->session); i++)
        ok = is_tried(&t, &all->items[i]) || try_group(&t, &all->items[i], err);
    if (ok)
        forget_bad(r, t.bad);
    *nbad = t.nbad;
    runner_free(t.runner);
    free(t.bad);
    free(full);
    return ok;
}

/* ---- whole */

/* Tests of an earlier run, which this one replaces. */
static void remove_old(const char *folder)
{
    Strings names = { 0 };
    if (file_is_dir(folder) && dir_list(folder, &names, NULL))
        for (size_t i = 0; i < names.len; i++)
            if (str_starts(names.items[i], "test_") && str_ends(names.items[i], ".c")) {
                char *path = path_join(folder, names.items[i]);
                Str text = { 0 };
                if (file_read(path, &text, NULL) && strstr(str_c(&text), "sundew_test.h"))
                    unlink(path);
                str_release(&text);
                free(path);
            }
    strings_release(&names);
}

static bool write_all(Regress *r, const char *folder, Groups *all, Err *err)
{
    Strings cflags = { 0 }, libraries = { 0 };
    r->written = r->assertions = 0;
    if (r->suite.tests.len)
        qsort(r->suite.tests.items, r->suite.tests.len, sizeof *r->suite.tests.items, by_subject);
    for (size_t i = 0; i < r->suite.tests.len; i++)
        add_test(r, all, i);
    CTestFile *files = xcalloc(all->len + 1, sizeof *files);
    for (size_t i = 0; i < all->len; i++) {
        Group *g = &all->items[i];
        g->includes = includes_of(r, g);
        files[i] = (CTestFile){ .name = g->name,
                                .includes = g->includes,
                                .tests = g->tests.items,
                                .ntests = g->tests.len };
    }
    flags_of(r, folder, &cflags, &libraries);
    CTestProject project = { .cflags = strings_argv(&cflags),
                             .libraries = strings_argv(&libraries) };
    remove_old(folder);
    bool ok = ctest_write(folder, session_share(r->session), files, all->len, &project, err);
    free(files);
    strings_release(&cflags);
    strings_release(&libraries);
    return ok;
}

static void release_all(Groups *all)
{
    for (size_t i = 0; i < all->len; i++)
        group_release(&all->items[i]);
    vec_release(all);
}

/* Marks those for which there was no time. */
static size_t find_untried(const Regress *r, bool *untried)
{
    size_t n = 0;
    for (size_t i = 0; i < r->suite.tests.len; i++) {
        untried[i] = r->suite.tests.items[i]->tried == TEST_UNTRIED;
        n += untried[i];
    }
    return n;
}

bool tests_write(Regress *r, const char *folder, Err *err)
{
    bool ok = true;
    size_t bad = 1;
    for (int round = 0; ok && bad && round < 5; round++) {
        Groups all = { 0 };
        ok = write_all(r, folder, &all, err) && try_all(r, folder, &all, &bad, err);
        r->dropped += ok ? bad : 0;
        release_all(&all);
    }
    bool *untried = xcalloc(r->suite.tests.len + 1, sizeof *untried);
    r->untried = ok && is_over(r->session) ? find_untried(r, untried) : 0;
    if (r->untried || (ok && bad)) {
        Groups all = { 0 };
        forget_bad(r, untried);
        ok = write_all(r, folder, &all, err);
        release_all(&all);
    }
    free(untried);
    return ok;
}
