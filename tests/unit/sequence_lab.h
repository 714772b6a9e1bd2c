/*
 * A small library, compiled, woven and loaded by the player: for tests of what
 * makes and executes call sequences.
 */
#ifndef SUNDEW_TEST_SEQUENCE_LAB_H
#define SUNDEW_TEST_SEQUENCE_LAB_H
#include "compile.h"
#include "engine/play/exec.h"
#include "tree.h"
#include "build/woven.h"
#include "weave/weave.h"

/* More functions, for one test program. */
#ifndef LAB_MORE
#define LAB_MORE ""
#endif

static const char header[] = "struct box { int n; };\n";

static const char subject[] =
    "#include \"box.h\"\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "#include <stdarg.h>\n"
    "#include <signal.h>\n"
    "#include <stdio.h>\n"
    "#include <unistd.h>\n"
    "struct bag { int n; int sum; int unused; };\n"
    "struct point { int x, y; void *p; };\n"
    "enum color { RED, GREEN = 5 };\n"
    "enum flag { A = 1, B = 2, C = 4, D = 8 };\n"
    "struct bag *bag_new(void) { struct bag *b = malloc(sizeof *b); b->n = b->sum = 0; return b; }\n"
    "int bag_open(struct bag **out) { *out = bag_new(); return 0; }\n"
    "void box_init(struct box *b) { b->n = 3; }\n"
    "int box_get(const struct box *b) { return b->n; }\n"
    "int bag_add(struct bag *b, int v) { b->n++; b->sum += v; return b->sum; }\n"
    "int bag_sum(const struct bag *b) { return b->sum; }\n"
    "int bag_unused(const struct bag *b) { return b->unused; }\n"
    "void bag_free(struct bag *b) { free(b); }\n"
    "static void (*volatile let_go)(void *) = free;\n"
    "int bag_eat(struct bag *b, int v) { if (v == 7) let_go(b); return v; }\n"
    "long put(char *to, size_t size, const char *from) { strncpy(to, from, size); return (long)strlen(from); }\n"
    "int total(const unsigned char *bytes, int len) { int t = 0; for (int i = 0; i < len; i++) t += bytes[i]; return t; }\n"
    "void split(int v, int *half, int *rest) { *half = v / 2; *rest = v % 2; }\n"
    "int paint(enum color c, unsigned flags) { return c == GREEN ? (int)flags : -1; }\n"
    "double scale(double x, float y) { return x * y; }\n"
    "struct point move(struct point p, int by) { p.x += by; p.p = &p; return p; }\n"
    "int each(int n, int (*see)(int, void *), void *user) { int k = 0; for (int i = 0; i < n; i++) k += see(i, user); return k; }\n"
    "const char *name(int n) { return n < 0 ? 0 : n ? \"some\" : \"none\"; }\n"
    "static void scribble(void)\n"
    "{\n"
    "    char line[512];\n"
    "    unsigned long from, to;\n"
    "    FILE *f = fopen(\"/proc/self/maps\", \"r\");\n"
    "    while (f && fgets(line, sizeof line, f))\n"
    "        if (strstr(line, \"sundew-sequences\") && sscanf(line, \"%lx-%lx\", &from, &to) == 2)\n"
    "            memset((void *)from, 0x55, to - from);\n"
    "}\n"
    "/* What a process may do to itself and to those around it. */\n"
    "int harm(int n)\n"
    "{\n"
    "    if (n == 7001) kill(getpid(), SIGKILL);\n"
    "    if (n == 7002) raise(SIGSTOP);\n"
    "    if (n == 7003) execl(\"/bin/true\", \"true\", (char *)0);\n"
    "    if (n == 7004) scribble();\n"
    "    if (n == 7005) { sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, 0); for (;;) ; }\n"
    "    return n;\n"
    "}\n"
    "int die(int n) { if (n == 1) abort(); if (n == 2) *(volatile int *)0 = 1; for (; n == 3;) ; return n; }\n"
    "static int off;\n"
    "int turn_off(void) { off = 1; return 0; }\n"
    "char *volatile lost;\n"
    "int lose(int n) { if (off) return -1; lost = malloc((size_t)n); return lost != 0; }\n"
    "int cached(int n) { static char *kept; if (!kept) kept = malloc(100); return n; }\n"
    "int print(const char *format, ...) { return format[0]; }\n"
    "int vprint(const char *format, va_list ap) { return format[0]; }\n" LAB_MORE;

/* Where sundew-play is: the folder above this program's. */
static inline char *libexec_folder(void)
{
    char *self = path_real("/proc/self/exe"), *tests = path_dir(self), *build = path_dir(tests);
    free(self);
    free(tests);
    return build;
}

typedef struct Lab {
    Compiled compiled;
    Calls *calls;
    Api *api;
    char *library;
    Exec *exec;
} Lab;

static inline Lab lab_open(void)
{
    Lab l = { .compiled = compiled_begin() };
    Err err = { 0 };
    compiled_file(&l.compiled, "box.h", header);
    compiled_add(&l.compiled, "a.c", subject, NULL);
    compiled_open(&l.compiled);
    char *share = in_tree("share");
    l.calls =
        calls_open(l.compiled.program, &(CallsPlan){ .share = share, .open_world = true }, &err);
    l.api = l.calls ? api_open(l.compiled.program, &(ApiPlan){ .calls = l.calls }, &err) : NULL;
    if (!l.api)
        fail_msg("%s", err.msg);
    free(share);
    return l;
}

/* With coverage, or with mutants. */
static inline void lab_start(Lab *l, bool mutants)
{
    static char *const more[] = { "-shared", "-Wl,-Bsymbolic", NULL };
    Err err = { 0 };
    char *libexec = libexec_folder();
    Woven *w = weave_begin(l->compiled.program, &err);
    Cover *c = w && !mutants ? weave_cover(w, &err) : NULL;
    Mutants *m = w && mutants ? weave_mutants(w, 0) : NULL;
    l->library = path_join(l->compiled.dir, "lib.so");
    if ((!c && !m) ||
        !woven_build(w,
                     &(WovenBuild){ .out = l->library, .more = more, .visible = true, .level = 1 },
                     &err))
        fail_msg("%s", err.msg);
    weave_end(w);
    cover_free(c);
    mutants_free(m);
    ExecPlan plan = { .api = l->api, .library = l->library, .libexec = libexec };
    l->exec = exec_open(&plan, &err);
    if (!l->exec)
        fail_msg("%s", err.msg);
    free(libexec);
}

static inline void lab_close(Lab *l)
{
    exec_close(l->exec);
    free(l->library);
    api_close(l->api);
    calls_close(l->calls);
    compiled_end(&l->compiled);
}

static inline const ApiFunction *fn(const Lab *l, const char *name)
{
    const ApiFunction *f = api_function(l->api, name);
    if (!f)
        fail_msg("%s is not in the API", name);
    return f;
}
#endif
