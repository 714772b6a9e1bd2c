/* program: linking units, reading broken ones, the workspace, locations. */
#include "compile.h"
#include "base/fault.h"
#include "program/program_llvm.h"
#include <llvm-c/Analysis.h>
#include <unistd.h>

static const Function *function(const Compiled *c, const char *name)
{
    const Function *fn = program_function(c->program, name);
    if (!fn)
        fail_msg("no function %s", name);
    return fn;
}

static bool calls(const Function *from, const Function *to)
{
    for (unsigned i = 0; i < from->ncallees; i++)
        if (from->callees[i] == to)
            return true;
    return false;
}

static unsigned notes_with(const Program *p, const char *text)
{
    size_t n;
    unsigned found = 0;
    const ProgramNote *notes = program_notes(p, &n);
    for (size_t i = 0; i < n; i++)
        found += strstr(notes[i].text, text) != NULL;
    return found;
}

static void assert_no_notes(const Program *p)
{
    size_t n;
    const ProgramNote *notes = program_notes(p, &n);
    if (n)
        fail_msg("%s: %s", notes[0].unit, notes[0].text);
}

static void assert_valid(const Program *p)
{
    char *said = NULL;
    if (LLVMVerifyModule(program_module(p), LLVMReturnStatusAction, &said))
        fail_msg("%s", said);
    LLVMDisposeMessage(said);
}

static void statics_of_one_name_are_kept_apart(void **state)
{
    (void)state;
    Compiled c = compiled_begin();
    compiled_add(&c, "a.c",
                 "static int hash(int x) { return x + 1; }\n"
                 "static int state = 1;\n"
                 "int a(int x) { return hash(x) + state++; }\n",
                 NULL);
    compiled_add(&c, "b.c",
                 "\nstatic int hash(int x) { return x + 2; }\n"
                 "static int state = 2;\n"
                 "int b(int x) { return hash(x) + state++; }\n"
                 "int count(void) { static int n; return ++n; }\n"
                 "struct list *list(void) { return 0; }\n",
                 NULL);
    Program *p = compiled_open(&c);
    assert_no_notes(p);
    assert_null(program_function(p, "hash.c:hash"));
    const Function *ha = function(&c, "a.c:hash"), *hb = function(&c, "b.c:hash");
    assert_ptr_not_equal(ha, hb);
    assert_string_equal(ha->name, "hash");
    assert_string_equal(hb->name, "hash");
    assert_string_not_equal(ha->symbol, hb->symbol);
    assert_int_equal(ha->line, 1);
    assert_int_equal(hb->line, 2);
    assert_int_equal(hb->column, 12);
    assert_int_equal(function(&c, "list")->column, 14);
    assert_int_equal(hb->linkage, LINKAGE_INTERNAL);
    assert_true(calls(function(&c, "a"), ha));
    assert_false(calls(function(&c, "a"), hb));
    assert_true(calls(function(&c, "b"), hb));
    size_t n, states = 0, locals = 0;
    const Variable *vars = program_variables(p, &n);
    for (size_t i = 0; i < n; i++) {
        states += strcmp(vars[i].name, "state") == 0;
        locals += strcmp(vars[i].name, "n") == 0;
    }
    assert_int_equal(states, 2);
    assert_int_equal(locals, 1);
    assert_valid(p);
    compiled_end(&c);
}

static void values_are_ssa_and_nothing_is_inlined(void **state)
{
    (void)state;
    Compiled c = compiled("static inline int twice(int x) { int y = x; y += x; return y; }\n"
                          "int f(int a) { int b = twice(a); return b + 1; }\n"
                          "int g(int *p) { int kept = *p; p = &kept; return *p; }\n");
    LLVMValueRef f = program_function_value(c.program, function(&c, "f"));
    unsigned allocas = 0, found = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            allocas += LLVMIsAAllocaInst(i) != NULL;
            found += LLVMIsACallInst(i) && LLVMGetIntrinsicID(LLVMGetCalledValue(i)) == 0;
        }
    assert_int_equal(allocas, 0);
    assert_int_equal(found, 1);
    compiled_end(&c);
}

static void two_mains_of_an_archive_are_both_kept(void **state)
{
    (void)state;
    Compiled c = compiled_begin();
    compiled_add(&c, "a.c",
                 "int helper(void); int shared = 1;\n"
                 "int only_a(void) { return 1; }\n"
                 "int main(void) { return only_a() + helper() + shared; }\n",
                 NULL);
    compiled_add(&c, "b.c",
                 "int only_b(void) { return 2; } int shared = 2;\n"
                 "int main(void) { return only_b() + shared; }\n",
                 NULL);
    compiled_add(&c, "c.c", "int main(int, char **); int helper(void) { return main(0, 0); }\n",
                 NULL);
    Program *p = compiled_open(&c);
    assert_int_equal(notes_with(p, "main is defined in"), 1);
    assert_int_equal(notes_with(p, "shared is defined in"), 1);
    const Function *a = function(&c, "a.c:main"), *b = function(&c, "b.c:main");
    assert_string_equal(a->symbol, "main");
    assert_string_equal(b->name, "main");
    assert_int_equal(a->linkage, LINKAGE_EXTERNAL);
    assert_int_equal(b->linkage, LINKAGE_INTERNAL);
    assert_true(calls(b, function(&c, "only_b")));
    assert_true(calls(function(&c, "helper"), a));
    assert_false(calls(function(&c, "helper"), b));
    assert_valid(p);
    compiled_end(&c);
}

static void weak_common_and_inline_definitions_merge(void **state)
{
    (void)state;
    Compiled c = compiled_begin();
    compiled_add(&c, "a.c",
                 "int tentative; int other; __attribute__((weak)) int w(void) { return 1; }\n"
                 "extern inline __attribute__((gnu_inline)) int gi(void) { return 1; }\n"
                 "inline int ci(void) { return 3; } __attribute__((weak)) int weakonly(void);\n"
                 "int a(void) { return w() + gi() + ci() + tentative + (weakonly ? 1 : 0); }\n",
                 "-fcommon");
    compiled_add(&c, "b.c",
                 "int tentative = 7; int other; int w(void) { return 2; }\n"
                 "int gi(void) { return 2; } extern inline int ci(void);\n"
                 "inline int ci(void) { return 3; }\n"
                 "int b(void) { return w() + other; }\n",
                 "-fcommon");
    Program *p = compiled_open(&c);
    assert_no_notes(p);
    assert_int_equal(function(&c, "w")->linkage, LINKAGE_EXTERNAL);
    assert_true(str_ends(function(&c, "w")->file, "/b.c"));
    assert_true(str_ends(function(&c, "gi")->file, "/b.c"));
    assert_true(calls(function(&c, "a"), function(&c, "w")));
    assert_int_equal(function(&c, "weakonly")->linkage, LINKAGE_WEAK);
    assert_false(function(&c, "weakonly")->defined);
    size_t n, seen = 0;
    const Variable *vars = program_variables(p, &n);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(vars[i].name, "tentative") == 0) {
            assert_int_equal(vars[i].linkage, LINKAGE_EXTERNAL);
            assert_int_equal(vars[i].size, 4);
            seen++;
        }
        if (strcmp(vars[i].name, "other") == 0) {
            assert_int_equal(vars[i].linkage, LINKAGE_COMMON);
            seen++;
        }
    }
    assert_int_equal(seen, 2);
    assert_valid(p);
    compiled_end(&c);
}

/* All that C and its extensions have to trip over. */
static const char strange[] =
    "#include <setjmp.h>\n#include <stdarg.h>\n#include <complex.h>\n"
    "#include <stdatomic.h>\n"
    "typedef int V __attribute__((vector_size(16)));\n"
    "__asm__(\".globl in_asm\\nin_asm: ret\\n\");\n"
    "int real(int x) { return x + 1; }\n"
    "int also(int x) __attribute__((alias(\"real\")));\n"
    "extern int weak_alias(int) __attribute__((weak, alias(\"real\")));\n"
    "static int (*pick(void))(int) { return real; }\n"
    "int chosen(int) __attribute__((ifunc(\"pick\")));\n"
    "_Thread_local int tls; static __thread char *tls2;\n"
    "int asm_goto(int x) { __asm__ goto(\"\" : : \"r\"(x) : : out); return 1; out: return 2; }\n"
    "int inline_asm(int x) { int y; __asm__ volatile(\"mov %1, %0\" : \"=r\"(y) : \"r\"(x) : \"memory\"); return y; }\n"
    "int computed(int n) { static void *t[] = { &&a, &&b }; goto *t[n & 1]; a: return 1; b: return 2; }\n"
    "jmp_buf env; int jump(void) { if (setjmp(env)) return 1; longjmp(env, 1); }\n"
    "int sum(int n, ...) { va_list ap; va_start(ap, n); int s = 0; while (n--) s += va_arg(ap, int); va_end(ap); return s; }\n"
    "int old(a, b) char a; float b; { return a + (int)b; }\n"
    "V add(V a, V b) { return a + b; }\n"
    "double complex conjugate(double complex z) { return conj(z) * I; }\n"
    "long double wide(long double x) { return x * 2; }\n"
    "_BitInt(37) odd(_BitInt(37) x) { return x * 3; }\n"
    "__int128 big(__int128 x) { return x * x; }\n"
    "_Atomic int counter; int bump(void) { return atomic_fetch_add(&counter, 1); }\n"
    "int nested(int n) { int a[n]; a[0] = n; int *p = __builtin_alloca(n); return ({ int q = a[0]; q + !p; }); }\n"
    "void done(int *p) { } int cleanup(void) { __attribute__((cleanup(done))) int x = 1; return x; }\n"
    "__attribute__((constructor)) static void early(void) { tls2 = 0; }\n"
    "__attribute__((section(\".odd\"), used)) static int placed = 3;\n"
    "int sw(int x) { switch (x) { case 1 ... 9: return 1; case 100: return 2; } return tls; }\n"
    "void *here(void) { lab: return &&lab; }\n"
    "int calls(void) { return also(1) + weak_alias(2) + chosen(3) + old(1, 2.0) + real(3); }\n";

static void strange_constructs_load(void **state)
{
    (void)state;
    Compiled c = compiled_begin();
    compiled_add(&c, "a.c", strange, NULL);
    compiled_add(&c, "b.c",
                 "extern _Thread_local int tls; int sum(int, ...);\n"
                 "int also(int); int b(void) { return tls + sum(2, 3, 4) + also(1); }\n",
                 NULL);
    Program *p = compiled_open(&c);
    assert_no_notes(p);
    assert_valid(p);
    const Function *real = function(&c, "real");
    assert_int_equal(real->ncalls, 4);           /* three of them by an alias */
    assert_true(calls(function(&c, "b"), real));
    assert_true(real->address_taken);            /* pick() returns it */
    assert_false(function(&c, "sum")->address_taken);
    assert_true(function(&c, "sum")->variadic);
    assert_string_equal(function(&c, "odd")->returns->name, "_BitInt");
    size_t n;
    const Variable *vars = program_variables(p, &n);
    bool found = false;
    for (size_t i = 0; i < n; i++)
        found = found || (strcmp(vars[i].name, "tls") == 0 && vars[i].thread_local_);
    assert_true(found);
    compiled_end(&c);
}

static void what_takes_an_address(void **state)
{
    (void)state;
    Compiled c = compiled(
        "int called(int x) { return x; } int stored(int x) { return x; }\n"
        "int table1(int x) { return x; } int passed(int x) { return x; }\n"
        "int compared(int x) { return x; } int unused(int x) { return x; }\n"
        "__attribute__((used)) static int kept(int x) { return x; }\n"
        "int (*const table[])(int) = { table1 }; int (*slot)(int);\n"
        "int take(int (*f)(int)) { return f(1) + called(2) + called(3); }\n"
        "int go(int n) { slot = stored; return take(passed) + (slot == compared) + table[n](1); }\n");
    static const struct {
        const char *name;
        bool taken;
        unsigned ncalls;
    } rows[] = {
        { "called", false, 2 }, { "stored", true, 0 },   { "table1", true, 0 },
        { "passed", true, 0 },  { "compared", true, 0 }, { "unused", false, 0 },
        { "kept", false, 0 },   { "take", false, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Function *fn = function(&c, rows[i].name);
        if (fn->address_taken != rows[i].taken)
            fail_msg("%s", rows[i].name);
        assert_int_equal(fn->ncalls, rows[i].ncalls);
    }
    const Function *called = function(&c, "called");
    assert_int_equal(called->ncallers, 1);
    assert_string_equal(called->callers[0]->name, "take");
    compiled_end(&c);
}

/* ---- broken input */

static void damage(const char *path, size_t keep, size_t step)
{
    Err err = { 0 };
    Str s = { 0 };
    if (!file_read(path, &s, &err))
        fail_msg("%s", err.msg);
    if (keep < s.len)
        s.len = keep;
    for (size_t i = step; step && i < s.len; i += step)
        s.data[i] ^= 0x55;
    assert_true(file_write(path, s.data, s.len, &err));
    str_release(&s);
}

static void a_truncated_unit_is_a_note(void **state)
{
    (void)state;
    static const size_t lengths[] = { 0, 3, 4, 20, 500, 2000 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        Compiled c = compiled_begin();
        compiled_add(&c, "a.c", "int a(void) { return 1; }\n", NULL);
        compiled_add(&c, "b.c", "int b(void) { return 2; }\n", NULL);
        damage(c.bitcode.items[1], lengths[i], 0);
        Program *p = compiled_open(&c);
        size_t n;
        program_notes(p, &n);
        assert_int_equal(n, 1);
        assert_string_equal(program_notes(p, &n)[0].unit, c.bitcode.items[1]);
        assert_non_null(program_function(p, "a"));
        assert_null(program_function(p, "b"));
        compiled_end(&c);
    }
}

/* Whatever is in the file, the tool lives: a good unit comes through, the bad
 * one is noted, or it happens to be harmless. */
static void flipped_bytes_do_not_kill(void **state)
{
    (void)state;
    for (size_t step = 7; step < 3000; step = step * 5 / 3 + 1) {
        Compiled c = compiled_begin();
        compiled_add(&c, "a.c", "int a(void) { return 1; }\n", NULL);
        compiled_add(&c, "b.c",
                     "struct s { int x[4]; } g;\n"
                     "int b(struct s *p) { return p->x[1] + g.x[0]; }\n",
                     NULL);
        damage(c.bitcode.items[1], 1 << 20, step);
        Program *p = compiled_open(&c);
        assert_non_null(program_function(p, "a"));
        assert_valid(p);
        compiled_end(&c);
    }
}

static void nothing_to_link_is_an_error(void **state)
{
    (void)state;
    Err err = { 0 };
    assert_null(program_open_bitcode(NULL, 0, &err));
    assert_non_null(strstr(err.msg, "no captured units"));
    const char *missing[] = { "/nonexistent/x.bc" };
    err.msg[0] = 0;
    assert_null(program_open_bitcode(missing, 1, &err));
    assert_non_null(strstr(err.msg, "/nonexistent/x.bc"));
}

static void a_unit_for_another_machine_is_left_out(void **state)
{
    (void)state;
    Compiled c = compiled_begin();
    compiled_add(&c, "a.c", "long a(void) { return 1; }\n", NULL);
    compiled_add(&c, "b.c", "long b(void) { return 2; }\n", "-m32");
    compiled_add(&c, "c.c", "long c(void) { return 3; }\n", NULL);
    Program *p = compiled_open(&c);
    assert_int_equal(notes_with(p, "another machine"), 1);
    assert_null(program_function(p, "b"));
    assert_non_null(program_function(p, "c"));
    compiled_end(&c);
}

static void units_that_disagree_about_flags_are_linked(void **state)
{
    (void)state;
    Compiled c = compiled_begin();
    compiled_add(&c, "a.c", "int x; int a(void) { return 1; }\n", NULL);
    compiled_add(&c, "b.c",
                 "int b(void) { return 2; } int a(void);\n"
                 "int use(void) { return a(); }\n",
                 "-fshort-wchar");
    compiled_add(&c, "c.c", "extern int x(void); int c(void) { return x(); }\n", NULL);
    Program *p = compiled_open(&c);
    assert_non_null(program_function(p, "b"));
    assert_non_null(program_function(p, "c"));
    assert_int_equal(notes_with(p, "not linked cleanly"), 1);
    assert_true(calls(function(&c, "use"), function(&c, "a")));
    assert_valid(p);
    compiled_end(&c);
}

static void units_without_debug_information_load(void **state)
{
    (void)state;
    Compiled c = compiled_begin();
    compiled_add(&c, "a.c", "struct s { int x; }; int a(struct s *p) { return p->x; }\n", "-g0");
    compiled_add(&c, "b.c", "int b(int y) { return y; }\n", NULL);
    compiled_open(&c);
    const Function *a = function(&c, "a");
    assert_null(a->type);
    assert_int_equal(a->line, 0);
    assert_string_equal(a->signature, "i32 a(ptr)");
    assert_string_equal(function(&c, "b")->signature, "int b(int y)");
    compiled_end(&c);
}

/* ---- source locations */

static void lines_lead_to_instructions_and_back(void **state)
{
    (void)state;
    Compiled c = compiled_begin();
    compiled_file(&c, "h.h", "static int in_header(int x)\n{\n    return x * 3;\n}\n");
    compiled_add(&c, "a.c",
                 "#include \"h.h\"\nint a(int x)\n{\n    int y = x + 1;\n"
                 "    return in_header(y) / 2;\n}\n",
                 NULL);
    Program *p = compiled_open(&c);
    size_t n;
    const LLVMValueRef *at = program_instructions_at(p, "a.c", 5, 0, &n);
    assert_true(n >= 3);                         /* call, division, return */
    assert_non_null(LLVMIsACallInst(at[0]));
    SourcePlace l = program_place(p, at[0]);
    assert_true(str_ends(l.file, "/a.c"));
    assert_int_equal(l.line, 5);
    assert_int_equal(l.column, 12);
    at = program_instructions_at(p, "a.c", 5, 12, &n);
    assert_int_equal(n, 1);
    at = program_instructions_at(p, "h.h", 3, 0, &n);
    assert_true(n >= 2);
    assert_int_equal(LLVMGetInstructionOpcode(at[0]), LLVMMul);
    program_instructions_at(p, "a.c", 1, 0, &n);
    assert_int_equal(n, 0);
    program_instructions_at(p, ".c", 5, 0, &n);  /* not the end of a name */
    assert_int_equal(n, 0);
    compiled_end(&c);
}

/* ---- the workspace */

typedef struct Captured {
    Compiled c;
    Unit units[4];
    const Unit *list[4];
    CapturedProgram program;
    Workspace *ws;
} Captured;

static void captured_begin(Captured *k)
{
    Err err = { 0 };
    memset(k, 0, sizeof *k);
    k->c = compiled_begin();
    compiled_add(&k->c, "a.c",
                 "int b(int); struct p { int x; char *y; };\n"
                 "enum e { ONE = 1 }; enum e g = ONE;\n"
                 "int a(struct p *p, int n) { return b(n) + p->x; }\n",
                 NULL);
    compiled_add(&k->c, "b.c", "int b(int n) { return n; }\n", NULL);
    for (int i = 0; i < 2; i++) {
        k->units[i].id = i ? "unit-b" : "unit-a";
        k->units[i].source = k->units[i].bitcode = k->c.bitcode.items[i];
        k->list[i] = &k->units[i];
    }
    k->program.name = "prog";
    k->program.units = k->list;
    k->program.nunits = 2;
    char *dir = path_join(k->c.dir, ".sundew");
    k->ws = workspace_open(dir, true, &err);
    if (!k->ws)
        fail_msg("%s", err.msg);
    free(dir);
}

static Program *captured_open(Captured *k)
{
    Err err = { 0 };
    Program *p = program_open(k->ws, &k->program, &err);
    if (!p)
        fail_msg("%s", err.msg);
    program_check(p);
    return p;
}

static void captured_end(Captured *k)
{
    workspace_close(k->ws);
    compiled_end(&k->c);
}

static void assert_is_the_program(const Program *p)
{
    const Function *a = program_function(p, "a");
    assert_non_null(a);
    assert_string_equal(a->signature, "int a(struct p *p, int n)");
    assert_int_equal(a->ncallees, 1);
    assert_string_equal(a->callees[0]->name, "b");
    assert_string_equal(a->callees[0]->callers[0]->name, "a");
    const Type *s = types_find(program_types(p), "struct p", 0);
    assert_ptr_equal(type_plain(a->params[0].type)->target, s);
    assert_int_equal(s->fields[1].offset, 64);
    assert_int_equal(types_find(program_types(p), "enum e", 0)->values[0].value, 1);
    assert_non_null(program_function_value(p, a));
    assert_ptr_equal(program_function_of(p, program_function_value(p, a)), a);
}

static void the_second_opening_comes_from_the_workspace(void **state)
{
    (void)state;
    Captured k;
    captured_begin(&k);
    Program *p = captured_open(&k);
    assert_false(program_was_cached(p));
    assert_is_the_program(p);
    program_close(p);
    unlink(k.units[0].bitcode);                  /* not needed any more */
    p = captured_open(&k);
    assert_true(program_was_cached(p));
    assert_is_the_program(p);
    program_close(p);
    captured_end(&k);
}

static void another_order_or_unit_is_another_program(void **state)
{
    (void)state;
    Captured k;
    captured_begin(&k);
    program_close(captured_open(&k));
    k.list[0] = &k.units[1];
    k.list[1] = &k.units[0];
    Program *p = captured_open(&k);
    assert_false(program_was_cached(p));
    program_close(p);
    k.program.nunits = 1;
    p = captured_open(&k);
    assert_false(program_was_cached(p));
    assert_null(program_function(p, "a"));
    program_close(p);
    captured_end(&k);
}

static void a_damaged_model_is_built_again(void **state)
{
    (void)state;
    Captured k;
    captured_begin(&k);
    program_close(captured_open(&k));
    char *dir = path_join(workspace_dir(k.ws), "linked");
    Strings names = { 0 };
    Err err = { 0 };
    assert_true(dir_list(dir, &names, &err));
    assert_int_equal(names.len, 2);
    for (size_t i = 0; i < names.len; i++)
        for (int how = 0; how < 4; how++) {
            char *path = path_join(dir, names.items[i]);
            if (how == 0)
                damage(path, 100, 0);
            else if (how == 1)
                damage(path, 1 << 20, 77);
            else if (how == 2)
                damage(path, 0, 0);
            else
                unlink(path);
            Program *p = captured_open(&k);
            assert_false(program_was_cached(p));
            assert_is_the_program(p);
            program_close(p);
            p = captured_open(&k);
            assert_true(program_was_cached(p));
            program_close(p);
            free(path);
        }
    strings_release(&names);
    free(dir);
    captured_end(&k);
}

static void every_failing_operation_is_an_error(void **state)
{
    (void)state;
    for (unsigned n = 1;; n++) {
        Captured k;
        Err err = { 0 };
        captured_begin(&k);
        fault_after(n);
        Program *p = program_open(k.ws, &k.program, &err);
        bool fired = fault_fired();
        fault_after(0);
        assert_true(p || *err.msg);
        program_close(p);
        /* and nothing half-made is left that would be taken for whole */
        p = captured_open(&k);
        assert_is_the_program(p);
        program_close(p);
        captured_end(&k);
        if (!fired)
            break;
        assert_true(n < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statics_of_one_name_are_kept_apart),
        cmocka_unit_test(values_are_ssa_and_nothing_is_inlined),
        cmocka_unit_test(two_mains_of_an_archive_are_both_kept),
        cmocka_unit_test(weak_common_and_inline_definitions_merge),
        cmocka_unit_test(strange_constructs_load),
        cmocka_unit_test(what_takes_an_address),
        cmocka_unit_test(a_truncated_unit_is_a_note),
        cmocka_unit_test(flipped_bytes_do_not_kill),
        cmocka_unit_test(nothing_to_link_is_an_error),
        cmocka_unit_test(a_unit_for_another_machine_is_left_out),
        cmocka_unit_test(units_that_disagree_about_flags_are_linked),
        cmocka_unit_test(units_without_debug_information_load),
        cmocka_unit_test(lines_lead_to_instructions_and_back),
        cmocka_unit_test(the_second_opening_comes_from_the_workspace),
        cmocka_unit_test(another_order_or_unit_is_another_program),
        cmocka_unit_test(a_damaged_model_is_built_again),
        cmocka_unit_test(every_failing_operation_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
