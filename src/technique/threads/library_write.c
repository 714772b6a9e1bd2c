/*
 * A violation as a C program: the calls, and schedules that make them meet.
 *
 *     static struct sbuf *sbuf0;
 *     static void before(void) { … }       the prefix
 *     static void thread_1(void) { … }     next_call() after each call
 *     static void thread_2(void) { … }
 *     static void after(void) { … }        the epilogue
 *
 * and share/ctest/threads.c, which lets the threads take the turns of the run that was found.
 * It needs no part of Sundew. Serial orders that fail in some way could be taken for the
 * violation, so these have no program.
 *
 * Lost memory is what no variable leads to. The test's own variables stand in two sections, so
 * that it can forget what the prefix has made and keep what the threads have got.
 */
#include "base/escape.h"
#include "base/file.h"
#include "engine/suite/write.h"
#include "technique/threads/library_int.h"
#include <assert.h>
#include <signal.h>
#include <string.h>

static const char *const system_headers[] = {
    "dlfcn.h",  "errno.h",  "fcntl.h",     "pthread.h",  "sched.h",        "signal.h",
    "stdint.h", "stdio.h",  "stdlib.h",    "string.h",   "sys/mman.h",     "sys/syscall.h",
    "time.h",   "unistd.h", "sys/types.h", "sys/wait.h", "sys/ucontext.h",
};

static const char *expected(const Violation *v)
{
    switch (v->kind) {
    case VIOLATION_FAILURE:
        return v->failure.kind == FAILURE_ASSERTION || v->failure.kind == FAILURE_ABORT ||
                       (v->failure.kind == FAILURE_SIGNAL && v->failure.signal == SIGABRT)
                   ? "EXPECT_ABORT"
                   : "EXPECT_CRASH";
    case VIOLATION_EXIT: return "EXPECT_EXIT";
    case VIOLATION_DEADLOCK: return "EXPECT_STUCK";
    case VIOLATION_ERROR: return "EXPECT_RESULT";
    case VIOLATION_LEAK: return "EXPECT_LEAK";
    default: return NULL;
    }
}

/* Is the result of a prefix step used by a thread or at the end? */
static bool is_used(const Test *t, unsigned step)
{
    for (unsigned k = 0; k < 3; k++) {
        unsigned n = k < 2 ? t->ncalls[k] : t->epilogue->n;
        const SeqStep *steps = k < 2 ? t->calls[k] : t->epilogue->steps;
        for (unsigned i = 0; i < n; i++) {
            if (steps[i].target.kind == VALUE_RESULT && steps[i].target.step == step)
                return true;
            for (unsigned j = 0; j < steps[i].nargs; j++)
                if (steps[i].args[j].kind == VALUE_RESULT && steps[i].args[j].step == step)
                    return true;
        }
    }
    return false;
}

static void add_function(Str *out, const char *name, const Str *body)
{
    str_addf(out, "\nstatic void %s(void)\n{\n", name);
    char *copy = xstrdup(str_c((Str *)body)), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (*line)
            str_addf(out, "    %s\n", line);
    str_add(out, "}\n");
    free(copy);
}

/* A pointer that leads to memory, which is lost otherwise. */
static bool is_kept(const Violation *v, const SeqStep *st)
{
    const Type *t = st->f ? st->f->result.type : NULL;
    return v->kind == VIOLATION_LEAK && t && type_plain(t)->kind == TYPE_POINTER;
}

static void add_range(Str *out, const char *name, const WriteParts *p, const Violation *v,
                      unsigned from, unsigned to)
{
    Str body = { 0 };
    for (unsigned i = from; i < to; i++) {
        const SeqStep *st = &p->seq->steps[i];
        write_part(p, i, st->f && (is_used(&v->test, i) || is_kept(v, st)), &body, NULL);
    }
    add_function(out, name, &body);
    str_release(&body);
}

static void add_thread(Str *out, const Violation *v, const WriteParts *p, unsigned thread)
{
    static const char *const names[] = { "thread_1", "thread_2" };
    Str body = { 0 }, result = { 0 };
    for (unsigned c = 0; c < v->test.ncalls[thread]; c++) {
        bool judged = v->kind == VIOLATION_ERROR && v->test.calls[thread][c].f == v->function;
        str_reset(&result);
        write_part(p, v->test.prefix->n + c, judged || is_kept(v, &v->test.calls[thread][c]), &body,
                   &result);
        if (judged && v->text && !strcmp(v->text, "NULL"))
            str_addf(&body, "if (!%s)\n    wrong_result();\n", str_c(&result));
        else if (judged)
            str_addf(&body, "if (%s == %s)\n    wrong_result();\n", str_c(&result), v->text);
        str_add(&body, "next_call();\n");
    }
    add_function(out, names[thread], &body);
    str_release(&body);
    str_release(&result);
}

/* Declarations, each a line, in a section of their own if memory is searched for. */
static void add_variables(Str *out, const Violation *v, const char *section, const Str *variables)
{
    if (v->kind != VIOLATION_LEAK) {
        str_addn(out, str_c((Str *)variables), variables->len);
        return;
    }
    str_addf(out, "SECTION(%s) static char *first_of_%s;\n", section, section);
    char *copy = xstrdup(str_c((Str *)variables)), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (*line)
            str_addf(out, "SECTION(%s) %s\n", section, line);
    free(copy);
}

static void add_parts(Str *out, const Violation *v, WriteFile *file)
{
    const Test *t = &v->test;
    Arena a = { 0 };
    Str made = { 0 }, got = { 0 }, text = { 0 };
    unsigned n = t->prefix->n;
    WriteParts p = {
        .file = file, .seq = t->prefix, .common = n, .suffix = "", .variables = &made
    };
    add_range(&text, "before", &p, v, 0, n);
    for (unsigned k = 0; k < 2; k++) {
        p.seq = lib_test_thread(&a, t, k);
        p.suffix = k ? "_b" : "_a";
        p.variables = &got;
        add_thread(&text, v, &p, k);
    }
    p.seq = t->epilogue;
    p.suffix = "_c";
    p.variables = &made;
    add_range(&text, "after", &p, v, n, t->epilogue->n);
    if (file->stubs.len)
        str_addf(out, "\n%s", str_c(&file->stubs));
    str_addc(out, '\n');
    add_variables(out, v, "made", &made);
    add_variables(out, v, "got", &got);
    str_addn(out, str_c(&text), text.len);
    str_release(&made);
    str_release(&got);
    str_release(&text);
    arena_release(&a);
}

static void add_head(Str *out, const Lib *l, const Violation *v, const char *message)
{
    str_add(out, "/*\n * ");
    escape_c_comment(out, message, strlen(message));
    str_add(out, "\n *\n * Compile it with the library, both with -fsanitize=address, and run it:\n"
                 " *\n *     cc -g -fsanitize=address -o test test.c LIBRARY -pthread && ./test\n"
                 " *\n * Status 1: it shows; 0: it does not.\n */\n#define _GNU_SOURCE\n");
    for (char **h = session_option_all(l->s, "headers"); h && *h; h++) {
        str_add(out, "#include ");
        escape_c_include(out, path_base(*h));
        str_addc(out, '\n');
    }
    for (size_t i = 0; i < sizeof system_headers / sizeof *system_headers; i++)
        str_addf(out, "#include <%s>\n", system_headers[i]);
    str_add(
        out,
        "\nstatic void next_call(void);\n__attribute__((unused)) static void wrong_result(void);\n");
    if (v->kind == VIOLATION_LEAK)
        str_addf(out,
                 "\n/* Is all given back that the test has made? Memory is searched for. */\n"
                 "enum { GIVES_BACK = %d };\n#define SECTION(name) "
                 "__attribute__((used, section(#name)))\n",
                 oracle_gives_back(l, &v->test));
}

/* Which end the test is about, and where the library's code is. */
static void add_facts(Str *out, const Violation *v)
{
    const char *name = v->test.calls[0][0].f->name;
    str_addf(
        out,
        "\nenum { EXPECT_CRASH, EXPECT_ABORT, EXPECT_EXIT, EXPECT_STUCK, EXPECT_RESULT, EXPECT_LEAK };\n"
        "enum { EXPECTED = %s };\n"
        "/* Which thread runs; was it stopped before it was over; how many calls it makes. */\n"
        "static const struct {\n    int actor, cut, calls;\n} turns[] = {\n",
        expected(v));
    for (unsigned i = 0; i < v->nturns; i++)
        str_addf(out, "    { %u, %d, %u },\n", v->turns[i].thread, v->turns[i].cut,
                 v->test.ncalls[v->turns[i].thread]);
    str_add(out, "};\n#define FUNCTION ");
    escape_c_identifier(out, name, strlen(name));
    str_add(out, "\n#define FUNCTION_NAME \"");
    escape_c_string(out, name, strlen(name));
    str_add(out, "\"\n\n");
}

/* The program stops threads at most twice in a call. */
static bool can_be_shown(const Violation *v)
{
    unsigned cut = 0;
    for (unsigned i = 0; i < v->nturns; i++)
        cut += v->turns[i].cut;
    return expected(v) && v->serial_well && v->nturns && v->nturns < MOST_TURNS && cut <= 2;
}

static bool names_file(const Seq *s, const SeqFile *file)
{
    for (unsigned i = 0; i < s->n; i++)
        for (unsigned k = 0; k < s->steps[i].nargs; k++) {
            const SeqValue *v = &s->steps[i].args[k];
            if (v->kind == VALUE_STRING && v->n == strlen(file->name) &&
                memcmp(v->bytes, file->name, v->n) == 0)
                return true;
        }
    return false;
}

/* A program of its own would not find a file of the example. */
static bool asks_for_file(const Lib *l, const Violation *v)
{
    Arena a = { 0 };
    bool asks = false;
    for (unsigned k = 0; k < 2; k++) {
        const Seq *s = lib_test_thread(&a, &v->test, k);
        for (size_t i = 0; i < l->nfiles && !asks; i++)
            asks = names_file(s, &l->files[i]);
    }
    arena_release(&a);
    return asks;
}

bool lib_write(Lib *l, const Violation *v, const char *message, Str *out, Err *err)
{
    assert(v->test.ncalls[0] && v->test.ncalls[1]);
    WriteFile file = { 0 };
    Str harness = { 0 };
    if (!can_be_shown(v) || asks_for_file(l, v))
        return true;
    char *path = path_join(session_share(l->s), "ctest/threads.c");
    bool ok = file_read(path, &harness, err);
    if (ok) {
        add_head(out, l, v, message);
        add_parts(out, v, &file);
        add_facts(out, v);
        str_addn(out, str_c(&harness), harness.len);
    }
    free(path);
    str_release(&harness);
    write_release(&file);
    return ok;
}
