/* Points-to on small subjects, with the exact sets: what must be in them, and
 * what must not. */
#include "tree.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "analysis/pointsto/modref.h"
#include "analysis/pointsto/pointsto.h"
#include "analysis/pointsto/sharing.h"
#include <llvm-c/BitReader.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

typedef struct Subject {
    LLVMContextRef context;
    LLVMModuleRef module;
    Summaries *summaries;
    PointsTo *pt;
    const char *dir;
} Subject;

static char *compile(const char *dir, const char *source)
{
    char *c = path_join(dir, "a.c"), *o = path_join(dir, "a.bc");
    char *ll = path_join(dir, "o.bc");
    Err err = { 0 };
    ProcResult r = { 0 };
    char *cc[] = { "clang-19",   "-O0", "-g", "-w", "-Xclang", "-disable-O0-optnone",
                   "-emit-llvm", "-c",  c,    "-o", ll,        NULL };
    char *opt[] = { "opt-19", "-passes=function(sroa,mem2reg)", ll, "-o", o, NULL };

    assert_true(file_write(c, source, strlen(source), &err));
    assert_true(proc_run(&(Proc){ .argv = cc, .seconds = 60 }, &r, &err));
    assert_int_equal(r.status, 0);
    proc_result_release(&r);
    assert_true(proc_run(&(Proc){ .argv = opt, .seconds = 60 }, &r, &err));
    assert_int_equal(r.status, 0);
    proc_result_release(&r);
    free(c);
    free(ll);
    return o;
}

static Subject subject_with(const char *source, const PointsToPlan *plan)
{
    Subject s = { 0 };
    Err err = { 0 };
    char *msg = NULL;
    LLVMMemoryBufferRef buf;

    s.dir = tempdir_new(NULL, &err);
    assert_non_null(s.dir);
    char *path = compile(s.dir, source);
    s.context = LLVMContextCreate();
    assert_false(LLVMCreateMemoryBufferWithContentsOfFile(path, &buf, &msg));
    assert_false(LLVMParseBitcodeInContext2(s.context, buf, &s.module));
    LLVMDisposeMemoryBuffer(buf);
    s.summaries = summaries_new();
    char *shipped = in_tree("share/summaries");
    assert_true(summaries_read_folder(s.summaries, shipped, &err));
    free(shipped);
    s.pt = pointsto_new(s.module, s.summaries, plan);
    assert_non_null(s.pt);
    pointsto_check(s.pt);
    free(path);
    return s;
}

static Subject subject(const char *source) { return subject_with(source, &(PointsToPlan){ 0 }); }

static void done(Subject *s)
{
    pointsto_free(s->pt);
    summaries_free(s->summaries);
    LLVMDisposeModule(s->module);
    LLVMContextDispose(s->context);
    tempdir_remove(s->dir);
}

/* The n-th call of probe(): subjects say by it which value they ask about. */
static LLVMValueRef probe_call(const Subject *s, int n)
{
    size_t len;

    for (LLVMValueRef f = LLVMGetFirstFunction(s->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                if (!LLVMIsACallInst(i) || !LLVMIsAFunction(LLVMGetCalledValue(i)) ||
                    strcmp(LLVMGetValueName2(LLVMGetCalledValue(i), &len), "probe"))
                    continue;
                if (n-- == 0)
                    return i;
            }
    fail_msg("no such probe");
    return NULL;
}

/* The set as text: "a, b+8". */
static void is_set(const Subject *s, PtSet set, const char *expected)
{
    Str text = { 0 };

    for (size_t i = 0; i < set.n; i++) {
        str_add(&text, i ? ", " : "");
        pointsto_describe(s->pt, set.locs[i], &text);
    }
    assert_string_equal(str_c(&text), expected);
    str_release(&text);
}

static void probe_is(const Subject *s, int n, const char *expected)
{
    is_set(s, pointsto_value(s->pt, LLVMGetOperand(probe_call(s, n), 0), 0), expected);
}

#define PROBE "static void probe(const void *p) { (void)p; }\n"

static void fields_are_kept_apart(void **state)
{
    (void)state;
    Subject s = subject(PROBE "int x, y; struct s { int *a, *b; } g;\n"
                              "int main(void) { struct s *p = &g; p->a = &x; p->b = &y;\n"
                              "  probe(p->a); probe(p->b); probe(&p->b); return 0; }\n");
    probe_is(&s, 0, "x");
    probe_is(&s, 1, "y");
    probe_is(&s, 2, "g+8");
    done(&s);
}

static void elements_of_an_array_share_their_fields(void **state)
{
    (void)state;
    Subject s = subject(PROBE "int x, y; struct s { int *a, *b; } g[20];\n"
                              "int main(int n, char **v) { g[n].a = &x; g[n + 1].b = &y;\n"
                              "  probe(g[2].a); probe(g[3].b); return 0; }\n");
    probe_is(&s, 0, "x");
    probe_is(&s, 1, "y");
    done(&s);
}

static void heap_arrays_fold_too(void **state)
{
    (void)state;
    Subject s =
        subject(PROBE "#include <stdlib.h>\nint x, y; struct s { int *a, *b; };\n"
                      "int main(int n, char **v) { struct s *p = malloc(n * sizeof *p), *q = p;\n"
                      "  for (int i = 0; i < n; i++) { q->a = &x; p[i].b = &y; q++; }\n"
                      "  probe(p[7].a); probe(p[n].b); return 0; }\n");
    probe_is(&s, 0, "x");
    probe_is(&s, 1, "y");
    done(&s);
}

static void an_unknown_offset_reads_and_writes_all_fields(void **state)
{
    (void)state;
    Subject s =
        subject(PROBE "int x, y, z; struct s { int *a, *b; } g, h;\n"
                      "int main(int n, char **v) { g.a = &x; g.b = &y;\n"
                      "  probe(*(int **)((char *)&g + n));\n"
                      "  *(int **)((char *)&h + n) = &z; probe(h.a); probe(h.b); probe(g.a);\n"
                      "  return 0; }\n");
    probe_is(&s, 0, "x, y");
    probe_is(&s, 1, "z");
    probe_is(&s, 2, "z");
    probe_is(&s, 3, "x");
    done(&s);
}

static void container_of_finds_the_enclosing_object(void **state)
{
    (void)state;
    Subject s =
        subject(PROBE "#include <stddef.h>\nint x, y; struct node { struct node *next; };\n"
                      "struct item { int *a; int *b; struct node n; } one = { &x, &y }, two;\n"
                      "struct node *head = &one.n;\n"
                      "int main(void) { struct item *i = (struct item *)((char *)head -\n"
                      "    offsetof(struct item, n)); probe(head); probe(i); probe(i->b);\n"
                      "  probe(two.a); return 0; }\n");
    probe_is(&s, 0, "one+16");
    probe_is(&s, 1, "one");
    probe_is(&s, 2, "y");
    probe_is(&s, 3, "");
    done(&s);
}

static void wrappers_give_an_object_a_call(void **state)
{
    (void)state;
    const char *source =
        PROBE "#include <stdlib.h>\n"
              "static void *get(unsigned n) { void *p = malloc(n); if (!p) abort(); return p; }\n"
              "static void *get0(unsigned n) { return get(n); }\n"
              "static int *fresh(void) { return get0(4); }\n"
              "int main(void) {\n"
              " int *a = fresh();\n int *b = fresh();\n void *c = get(3);\n"
              " probe(a); probe(b); probe(c); return 0; }\n";
    Subject s = subject(source);
    probe_is(&s, 0, "heap in main (a.c:7)");
    probe_is(&s, 1, "heap in main (a.c:8)");
    probe_is(&s, 2, "heap in main (a.c:9)");
    done(&s);
    s = subject_with(source, &(PointsToPlan){ .no_clones = true });
    probe_is(&s, 0, "heap in get (a.c:3)");
    done(&s);
}

static void filling_a_parameter_may_recurse(void **state)
{
    (void)state;
    Subject s =
        subject(PROBE "#include <stdlib.h>\n"
                      "static void fill(void **out, int n) {\n"
                      "  void *p = 0; if (n) fill(&p, n - 1); else p = malloc(8); *out = p; }\n"
                      "static void *make(int n) { void *p = 0; fill(&p, n); return p; }\n"
                      "int main(int n, char **v) { probe(make(n)); return 0; }\n");
    probe_is(&s, 0, "heap in fill (a.c:4)");
    done(&s);
}

static void a_cache_of_objects_is_no_wrapper(void **state)
{
    (void)state;
    Subject s = subject(
        PROBE "#include <stdlib.h>\nstatic void *old;\n"
              "static void *get(void) { if (old) return old; return old = malloc(8); }\n"
              "int main(void) { void *a = get(), *b = get(); probe(a); probe(b); return 0; }\n");
    probe_is(&s, 0, "heap in get (a.c:4)");
    probe_is(&s, 1, "heap in get (a.c:4)");
    done(&s);
}

static void an_allocator_behind_a_pointer_is_a_wrapper_too(void **state)
{
    (void)state;
    Subject s = subject(PROBE "#include <stdlib.h>\n"
                              "struct mem { void *(*get)(unsigned long); } mem = { malloc };\n"
                              "static void *get(unsigned n) { return mem.get(n); }\n"
                              "int main(void) {\n void *a = get(1);\n void *b = get(2);\n"
                              " probe(a); probe(b); return 0; }\n");
    probe_is(&s, 0, "heap in main (a.c:6)");
    probe_is(&s, 1, "heap in main (a.c:7)");
    done(&s);
}

static void what_an_allocator_behind_a_pointer_really_returns_counts(void **state)
{
    (void)state;
    Subject s = subject(PROBE "#include <stdlib.h>\nint pool[4];\n"
                              "static void *mine(unsigned long n) { return pool; }\n"
                              "struct mem { void *(*get)(unsigned long); } mem = { malloc };\n"
                              "static void *get(unsigned n) { return mem.get(n); }\n"
                              "int main(int c, char **v) { if (c > 1) mem.get = mine;\n"
                              " void *a = get(1);\n probe(a); return 0; }\n");
    probe_is(&s, 0, "pool, heap in main (a.c:8)");
    done(&s);
}

static void realloc_moves_the_content(void **state)
{
    (void)state;
    Subject s = subject(
        PROBE "#include <stdlib.h>\nint x;\n"
              "int main(void) { int **p = malloc(16);\n p[1] = &x;\n int **q = realloc(p, 32);\n"
              " probe(q); probe(q[1]); probe(q[0]); return 0; }\n");
    probe_is(&s, 0, "heap in main (a.c:6)");
    probe_is(&s, 1, "x");
    probe_is(&s, 2, "");
    done(&s);
}

static void memcpy_copies_field_by_field(void **state)
{
    (void)state;
    Subject s = subject(
        PROBE "#include <string.h>\nint x, y; struct s { int *a, *b; long pad[20]; int *c; };\n"
              "struct s from, to; struct s other;\n"
              "int main(void) { from.a = &x; from.c = &y; memcpy(&to, &from, sizeof to);\n"
              "  other = to; probe(to.a); probe(to.b); probe(other.c); probe(other.b);\n"
              "  return 0; }\n");
    probe_is(&s, 0, "x");
    probe_is(&s, 1, "");
    probe_is(&s, 2, "y");
    probe_is(&s, 3, "");
    done(&s);
}

static void bytes_copied_in_a_loop_carry_pointers(void **state)
{
    (void)state;
    Subject s = subject(
        PROBE
        "int x; int *from = &x, *to;\n"
        "static void copy(char *d, const char *s, int n) { while (n-- > 0) *d++ = *s++; }\n"
        "int main(void) { copy((char *)&to, (char *)&from, sizeof to); probe(to); return 0; }\n");
    probe_is(&s, 0, "x");
    done(&s);
}

static void varargs_reach_the_callee(void **state)
{
    (void)state;
    Subject s =
        subject(PROBE "#include <stdarg.h>\nint x, y;\n"
                      "static int *first(int n, ...) { va_list ap; va_start(ap, n);\n"
                      "  int *p = va_arg(ap, int *); va_end(ap); return p; }\n"
                      "static int *other(int n, ...) { va_list ap; va_start(ap, n);\n"
                      "  int *p = va_arg(ap, int *); va_end(ap); return p; }\n"
                      "int main(void) { probe(first(1, &x)); probe(other(1, &y)); return 0; }\n");
    probe_is(&s, 0, "x");
    probe_is(&s, 1, "y");
    done(&s);
}

static void structs_travel_in_registers(void **state)
{
    (void)state;
    Subject s = subject(
        PROBE "int x, y; struct two { int *a, *b; }; struct big { int *a, *b, *c; };\n"
              "static struct two make(int *a, int *b) { struct two t = { a, b }; return t; }\n"
              "static int *second(struct two t) { return t.b; }\n"
              "static int *last(struct big b) { return b.c; }\n"
              "int main(void) { struct two t = make(&x, &y); struct big b = { 0, &x, &y };\n"
              "  probe(t.a); probe(second(t)); probe(last(b)); return 0; }\n");
    probe_is(&s, 0, "x");
    probe_is(&s, 1, "y");
    probe_is(&s, 2, "y");
    done(&s);
}

static void integers_carry_pointers(void **state)
{
    (void)state;
    Subject s = subject(
        PROBE "#include <stdint.h>\nint x[2], y; uintptr_t kept; union { int *p; uint64_t n; } u;\n"
              "int main(void) { kept = (uintptr_t)&x | 1; probe((void *)(kept & ~(uintptr_t)7));\n"
              "  u.p = &y; probe((void *)u.n); return 0; }\n");
    probe_is(&s, 0, "x");
    probe_is(&s, 1, "y");
    assert_int_equal(pointsto_stats(s.pt)->inttoptr, 2);
    assert_int_equal(pointsto_stats(s.pt)->inttoptr_unknown, 0);
    done(&s);
}

static void a_narrow_integer_may_be_any_that_was_cut(void **state)
{
    (void)state;
    Subject s = subject(PROBE "#include <stdint.h>\nint x, y; unsigned cut;\n"
                              "int main(void) { cut = (unsigned)(uintptr_t)&x; int *q = &y;\n"
                              "  probe((void *)(uintptr_t)cut); probe(q); return 0; }\n");
    probe_is(&s, 0, "x+?");
    probe_is(&s, 1, "y");
    assert_int_equal(pointsto_stats(s.pt)->inttoptr_unknown, 1);
    assert_int_equal(pointsto_notes(s.pt)->len, 1);
    done(&s);
}

static void the_library_hands_pointers_on(void **state)
{
    (void)state;
    Subject s = subject(PROBE "#include <stdlib.h>\n#include <string.h>\nchar a[9], b[9];\n"
                              "int main(void) { char *end; strtol(a, &end, 0); probe(end);\n"
                              "  probe(strchr(b, 'x')); probe(strcpy(a, b)); return 0; }\n");
    probe_is(&s, 0, "a+?");
    probe_is(&s, 1, "b+?");
    probe_is(&s, 2, "a");
    done(&s);
}

static void what_an_unknown_function_gets_may_come_back(void **state)
{
    (void)state;
    Subject s =
        subject(PROBE "extern void put(void *); extern void *get(void); int x, y; int *px = &x;\n"
                      "int main(void) { put(&px); probe(get()); probe(&y); return 0; }\n");
    PtSet set = pointsto_value(s.pt, LLVMGetOperand(probe_call(&s, 0), 0), 0);
    bool has_px = false, has_x = false, has_y = false;
    for (size_t i = 0; i < set.n; i++) {
        Str t = { 0 };
        pointsto_describe(s.pt, set.locs[i], &t);
        has_px |= str_starts(str_c(&t), "px");
        has_x |= !strcmp(str_c(&t), "x");
        has_y |= str_starts(str_c(&t), "y");
        str_release(&t);
    }
    assert_true(has_px && has_x);
    assert_false(has_y);
    assert_int_equal(pointsto_stats(s.pt)->unknown_externals, 2);
    done(&s);
}

static void aliases_and_thread_locals_are_variables(void **state)
{
    (void)state;
    Subject s = subject(
        PROBE "int x, y; int *real = &x; extern int *other __attribute__((alias(\"real\")));\n"
              "_Thread_local int *mine;\n"
              "int main(void) { other = &y; mine = &x; probe(real); probe(mine); return 0; }\n");
    probe_is(&s, 0, "x, y");
    probe_is(&s, 1, "x");
    done(&s);
}

static void may_alias_looks_at_fields_and_sizes(void **state)
{
    (void)state;
    Subject s =
        subject(PROBE "struct s { int a, b; } g; int h;\n"
                      "int main(void) { struct s *p = &g; probe(&p->a); probe(&p->b); probe(p);\n"
                      "  probe(&h); return 0; }\n");
    LLVMValueRef v[4];
    for (int i = 0; i < 4; i++)
        v[i] = LLVMGetOperand(probe_call(&s, i), 0);
    assert_false(pointsto_may_alias(s.pt, v[0], 4, v[1], 4));
    assert_true(pointsto_may_alias(s.pt, v[0], 8, v[1], 4));
    assert_true(pointsto_may_alias(s.pt, v[2], 4, v[0], 4));
    assert_false(pointsto_may_alias(s.pt, v[0], 4, v[3], 4));
    done(&s);
}

static void a_kept_answer_is_the_same(void **state)
{
    (void)state;
    Err err = { 0 };
    const char *dir = tempdir_new(NULL, &err);
    char *cache = path_join(dir, "answer");
    PointsToPlan plan = { .cache = cache, .key = "k1" };
    const char *source = PROBE
        "#include <stdlib.h>\nint x, y; struct s { int *a, *b; } *p;\n"
        "static int f(int a) { return a; }\nint (*fp)(int) = f;\n"
        "int main(void) { p = malloc(16); p->a = &x; p->b = &y; probe(p->b); return fp(1); }\n";

    for (int i = 0; i < 2; i++) {
        Subject s = subject_with(source, &plan);
        assert_int_equal(pointsto_stats(s.pt)->cached, i);
        probe_is(&s, 0, "y");
        done(&s);
    }
    plan.key = "k2";
    Subject s = subject_with(source, &plan);
    assert_false(pointsto_stats(s.pt)->cached);
    done(&s);
    /* A broken file is read as none. */
    Str text = { 0 };
    assert_true(file_read(cache, &text, &err));
    for (size_t i = 30; i < text.len; i += 7) {
        char old = text.data[i];
        text.data[i] ^= 0x55;
        assert_true(file_write(cache, text.data, text.len, &err));
        text.data[i] = old;
        if (i % 5)
            continue;
        s = subject_with(source, &plan);
        assert_false(pointsto_stats(s.pt)->cached);
        probe_is(&s, 0, "y");
        done(&s);
        break;
    }
    str_release(&text);
    tempdir_remove(dir);
    free(cache);
}

static void a_cache_that_cannot_be_written_is_noted(void **state)
{
    (void)state;
    Subject s = subject_with(PROBE "int x; int main(void) { probe(&x); return 0; }\n",
                             &(PointsToPlan){ .cache = "/nonexistent/answer" });
    const Strings *notes = pointsto_notes(s.pt);

    probe_is(&s, 0, "x");
    assert_int_equal(notes->len, 1);
    assert_non_null(strstr(notes->items[0], "not kept"));
    done(&s);
}

/* A store through a pointer to n globals, then g0.b, g1.a and &g1.b. */
static Subject many_objects(int n)
{
    Str text = { 0 };

    str_add(&text, PROBE "int x, y; struct s { int *a, *b; };\n");
    for (int i = 0; i < n; i++)
        str_addf(&text, "struct s g%d;\n", i);
    str_add(&text, "struct s *const all[] = {\n");
    for (int i = 0; i < n; i++)
        str_addf(&text, "&g%d,\n", i);
    str_add(&text, "};\nint main(int n, char **v) { struct s *p = all[n];\n"
                   "p->a = &x; g0.b = &y;\n"
                   "probe(g0.b); probe(g1.a); probe(&g1.b); return 0; }\n");
    Subject s = subject(str_c(&text));
    str_release(&text);
    return s;
}

static void huge_sets_cost_fields_but_lose_nothing(void **state)
{
    (void)state;
    Subject s = many_objects(20);
    probe_is(&s, 0, "y");
    probe_is(&s, 1, "x");
    probe_is(&s, 2, "g1+8");
    done(&s);
    s = many_objects(1100);
    probe_is(&s, 0, "x, y");
    probe_is(&s, 1, "x, y");
    probe_is(&s, 2, "g1");
    done(&s);
}

static void calls_read_and_write_what_their_callees_do(void **state)
{
    (void)state;
    Subject s =
        subject("int a, b, c; int *pc = &c;\n"
                "static void probe(void *p) { int local = a; *(int *)p = local; *pc = 1; }\n"
                "static void deep(void) { probe(&b); }\n"
                "int main(void) { deep(); return 0; }\n");
    ModRef *mr = modref_new(s.pt, s.summaries);
    LLVMValueRef call = probe_call(&s, 0);
    is_set(&s, modref_call(mr, call, MODREF_WRITE), "c, b");
    is_set(&s, modref_call(mr, call, MODREF_READ), "pc, a");
    LLVMValueRef deep = LLVMGetNamedFunction(s.module, "main");
    is_set(&s, modref_function(mr, deep, MODREF_WRITE), "c, b");
    LLVMValueRef b = LLVMGetNamedGlobal(s.module, "b");
    LLVMValueRef a = LLVMGetNamedGlobal(s.module, "a");
    assert_true(modref_call_touches(mr, call, b, 4, MODREF_WRITE));
    assert_false(modref_call_touches(mr, call, a, 4, MODREF_WRITE));
    assert_true(modref_call_touches(mr, call, a, 4, MODREF_READ));
    modref_free(mr);
    done(&s);
}

/* A letter for each probe(): s may be shared, p belongs to one thread. */
static void probes_are_shared(const Subject *s, const char *expected)
{
    Sharing *sharing = sharing_new(s->pt, s->summaries, s->module);
    for (int i = 0; expected[i]; i++)
        if (sharing_may_be(sharing, LLVMGetOperand(probe_call(s, i), 0)) != (expected[i] == 's'))
            fail_msg("probe %d is not %c", i, expected[i]);
    sharing_free(sharing);
}

static void what_nobody_else_has_a_way_to_is_private(void **state)
{
    (void)state;
    Subject s = subject(
        PROBE "#include <pthread.h>\n#include <stdlib.h>\n#include <string.h>\n"
              "struct n { struct n *next; int v; }; struct n *all; _Thread_local struct n *mine;\n"
              "static void fill(int *to) { probe(to); *to = 1; }\n"
              "static void *run(void *arg) {\n"
              "  int here; fill(&here);\n"
              "  struct n *list = malloc(sizeof *list); list->next = malloc(sizeof *list);\n"
              "  probe(list); probe(list->next);\n"
              "  mine = malloc(sizeof *mine); probe(mine); probe(&mine);\n"
              "  char text[8]; strcpy(text, \"x\"); probe(text);\n"
              "  probe(arg); free(list->next); free(list); return NULL; }\n"
              "int main(void) { pthread_t t; int given; struct n *put = malloc(sizeof *put);\n"
              "  put->next = malloc(sizeof *put); all = put;\n"
              "  pthread_create(&t, NULL, run, &given); probe(&given); probe(put);\n"
              "  probe(put->next); probe(&t); probe(&all); return 0; }\n");
    probes_are_shared(&s, "sssps"                    /* main() comes before static functions */
                          "ppppps"                   /* run() */
                          "p");
    done(&s);
}

static void what_is_handed_over_is_shared(void **state)
{
    (void)state;
    Subject s = subject(
        PROBE
        "#include <stdlib.h>\n#include <string.h>\n#include <threads.h>\n#include <unistd.h>\n"
        "void keep(void *); struct box { int *in; };\n"
        "static int run(void *arg) { struct box *b = arg; probe(b->in); return 0; }\n"
        "int main(int n, char **v) { thrd_t t; int a, b, c, d, e; char text[9];\n"
        "  struct box box = { &a }; thrd_create(&t, run, &box);\n"        /* by a box */
        "  int *p = &b; write(n, &p, sizeof p);\n"                       /* through a pipe */
        "  keep(&c); strtok(text, \"x\"); asm volatile(\"\" : : \"r\"(&d) : \"memory\");\n"
        "  probe(&a); probe(&b); probe(&c); probe(text); probe(&d); probe(&e); probe(v); return 0; }\n");
    probes_are_shared(&s, "ssssspss");
    done(&s);
}

/* Every exported function of a library may be called by any thread. */
static void a_handle_is_shared(void **state)
{
    (void)state;
    Subject s = subject_with(
        PROBE
        "#include <stdlib.h>\nstruct h { int *in; };\n"
        "static void count(int *n) { probe(n); ++*n; }\n"
        "struct h *open(void) { struct h *h = malloc(sizeof *h); h->in = malloc(4); probe(h);\n"
        "  probe(h->in); return h; }\n"
        "int use(struct h *h) { int n = 0; count(&n); probe(h); int *own = malloc(4); probe(own);\n"
        "  free(own); return n; }\n",
        &(PointsToPlan){ .open_world = true });
    probes_are_shared(&s, "sssp"
                          "p");
    done(&s);
}

static void odd_programs_load(void **state)
{
    (void)state;
    Subject s = subject(
        PROBE "#include <setjmp.h>\n#include <complex.h>\n"
              "typedef int v4 __attribute__((vector_size(16))); v4 v; jmp_buf jb; int tentative;\n"
              "int old(a, b) int a; char *b; { return a + *b; }\n"
              "int weak(void) __attribute__((weak));\n"
              "static int impl(void) { return 1; } static void *pick(void) { return impl; }\n"
              "int chosen(void) __attribute__((ifunc(\"pick\")));\n"
              "double _Complex z;\n"
              "int main(int n, char **a) { static void *labels[] = { &&one, &&two };\n"
              "  if (setjmp(jb)) return 1; v += v; z *= 2; asm volatile(\"\" : \"+r\"(n));\n"
              "  goto *labels[n & 1]; one: n++; two: if (weak) weak(); chosen();\n"
              "  probe(a); int vla[n]; probe(vla); return old(n, a[0]); }\n");
    probe_is(&s, 0, "argv");
    PtSet vla = pointsto_value(s.pt, LLVMGetOperand(probe_call(&s, 1), 0), 0);
    assert_int_equal(vla.n, 1);
    uint32_t object = pointsto_location(s.pt, vla.locs[0]).object;
    assert_int_equal(pointsto_object(s.pt, object)->kind, PT_STACK);
    assert_int_equal(pointsto_object(s.pt, object)->size, -1);
    done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_kept_apart),
        cmocka_unit_test(elements_of_an_array_share_their_fields),
        cmocka_unit_test(heap_arrays_fold_too),
        cmocka_unit_test(an_unknown_offset_reads_and_writes_all_fields),
        cmocka_unit_test(container_of_finds_the_enclosing_object),
        cmocka_unit_test(wrappers_give_an_object_a_call),
        cmocka_unit_test(filling_a_parameter_may_recurse),
        cmocka_unit_test(a_cache_of_objects_is_no_wrapper),
        cmocka_unit_test(an_allocator_behind_a_pointer_is_a_wrapper_too),
        cmocka_unit_test(what_an_allocator_behind_a_pointer_really_returns_counts),
        cmocka_unit_test(realloc_moves_the_content),
        cmocka_unit_test(memcpy_copies_field_by_field),
        cmocka_unit_test(bytes_copied_in_a_loop_carry_pointers),
        cmocka_unit_test(varargs_reach_the_callee),
        cmocka_unit_test(structs_travel_in_registers),
        cmocka_unit_test(integers_carry_pointers),
        cmocka_unit_test(a_narrow_integer_may_be_any_that_was_cut),
        cmocka_unit_test(the_library_hands_pointers_on),
        cmocka_unit_test(what_an_unknown_function_gets_may_come_back),
        cmocka_unit_test(aliases_and_thread_locals_are_variables),
        cmocka_unit_test(may_alias_looks_at_fields_and_sizes),
        cmocka_unit_test(a_kept_answer_is_the_same),
        cmocka_unit_test(a_cache_that_cannot_be_written_is_noted),
        cmocka_unit_test(huge_sets_cost_fields_but_lose_nothing),
        cmocka_unit_test(calls_read_and_write_what_their_callees_do),
        cmocka_unit_test(what_nobody_else_has_a_way_to_is_private),
        cmocka_unit_test(what_is_handed_over_is_shared),
        cmocka_unit_test(a_handle_is_shared),
        cmocka_unit_test(odd_programs_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
