/* symbolic: what may depend on input, and what will be imprecise. */
#include "compile.h"
#include "program/program_llvm.h"
#include "analysis/symbolic/symbolic_llvm.h"
#include "tree.h"

typedef struct Asked {
    Compiled c;
    Calls *calls;
    Symbolic *s;
} Asked;

static Asked ask(const char *text, SymbolicPlan plan)
{
    Err err = { 0 };
    char *share = in_tree("share");
    Asked a = { .c = compiled(text) };
    a.calls = calls_open(a.c.program, &(CallsPlan){ .share = share }, &err);
    if (!a.calls)
        fail_msg("%s", err.msg);
    a.s = symbolic_new(a.c.program, a.calls, &plan);
    free(share);
    return a;
}

static void done(Asked *a)
{
    symbolic_free(a->s);
    calls_close(a->calls);
    compiled_end(&a->c);
}

/* How many sites of a class there are. */
static size_t sites(Asked *a, SymbolicClass class, const char *what)
{
    size_t n, found = 0;
    const SymbolicSite *s = symbolic_sites(a->s, &n);
    for (size_t i = 0; i < n; i++)
        found += s[i].class == class && strstr(s[i].what, what);
    return found;
}

static size_t seen_in(Asked *a, const char *fn)
{
    SymbolicFigures f;
    const Function *function = program_function(a->c.program, fn);
    assert_non_null(function);
    symbolic_in_function(a->s, function, &f);
    return f.symbolic;
}

static const char getter[] =
    "#include <stdlib.h>\n"
    "#include <unistd.h>\n"
    "struct M { int m; };\n"
    "struct M *mk(int x) { struct M *p = malloc(sizeof *p); p->m = x; return p; }\n"
    "int get(struct M *p) { return p->m; }\n"
    "int ext_isprime(int); struct M *ext_clone(struct M *);\n"
    "int main(void) {\n"
    "  int s, r = 0; read(0, &s, sizeof s);\n"
    "  struct M *a = mk(s), *b = mk(4), *c = 0;\n"
    "  int p = get(a), q = get(b);\n"
    "  if (ext_isprime(p) && q % 3 == 0) c = ext_clone(a);\n"
    "  return c != 0; }\n";

static void calls_are_matched_with_returns(void **state)
{
    (void)state;
    Asked a = ask(getter, (SymbolicPlan){ 0 });
    assert_int_equal(sites(&a, SYMBOLIC_BOUNDARY, "ext_isprime"), 1);
    assert_int_equal(sites(&a, SYMBOLIC_BOUNDARY, "ext_clone"), 1);
    /* q % 3 comes from b, which was made of 4 */
    LLVMValueRef main_ = program_function_value(a.c.program, program_function(a.c.program, "main"));
    size_t rems = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(main_); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMGetInstructionOpcode(i) == LLVMSRem) {
                rems++;
                assert_false(symbolic_instruction(a.s, i));
            }
    assert_int_equal(rems, 1);
    done(&a);
}

static void a_path_leads_from_the_input_to_the_site(void **state)
{
    (void)state;
    Asked a = ask(getter, (SymbolicPlan){ 0 });
    size_t n;
    const SymbolicSite *s = symbolic_sites(a.s, &n);
    assert_int_equal(n, 2);
    assert_true(s[0].npath >= 3);
    assert_string_equal(s[0].path[0].text, "read()");
    bool through = false;
    for (size_t i = 0; i < s[0].npath; i++)
        through |= !strcmp(s[0].path[i].text, "mk()") && s[0].path[i].line == 9;
    assert_true(through);
    done(&a);
}

static void fields_are_kept_apart(void **state)
{
    (void)state;
    Asked a = ask("#include <unistd.h>\n"
                  "struct S { int f, g; } o;\n"
                  "int clean(void) { return o.g * 2; }\n"
                  "int dirty(void) { return o.f * 2; }\n"
                  "int main(void) { int x; read(0, &x, 4); o.f = x; o.g = 1;\n"
                  "  return clean() + dirty(); }\n",
                  (SymbolicPlan){ 0 });
    assert_int_equal(seen_in(&a, "clean"), 0);
    assert_true(seen_in(&a, "dirty") > 0);
    done(&a);
}

static void addresses_and_sizes_from_input_are_reported(void **state)
{
    (void)state;
    Asked a = ask("#include <stdlib.h>\n"
                  "#include <stdio.h>\n"
                  "static const int table[256] = { 1, 2 };\n"
                  "int main(void) { int c = getchar();\n"
                  "  char *p = malloc((size_t)c); free(p);\n"
                  "  return table[c & 255]; }\n",
                  (SymbolicPlan){ 0 });
    assert_int_equal(sites(&a, SYMBOLIC_MEMORY, "size of an allocation"), 1);
    assert_int_equal(sites(&a, SYMBOLIC_MEMORY, "address of a read"), 1);
    done(&a);
}

static void bit_tricks_are_no_trouble(void **state)
{
    (void)state;
    Asked a = ask("#include <stdio.h>\n"
                  "static int lower(int c) { return c | 0x20; }\n"
                  "int main(void) { return lower(getchar()) % 7; }\n",
                  (SymbolicPlan){ 0 });
    size_t n;
    symbolic_sites(a.s, &n);
    assert_int_equal(n, 0);
    assert_true(seen_in(&a, "lower") > 0);
    done(&a);
}

static void what_the_input_does_not_reach_is_left_alone(void **state)
{
    (void)state;
    const char *text = "#include <string.h>\n"
                       "#include <stdlib.h>\n"
                       "int hot(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * i;\n"
                       "  return s; }\n"
                       "int main(int argc, char **argv) {\n"
                       "  int x = argc > 1 ? atoi(argv[1]) : 0;\n"
                       "  return hot(1000) + x; }\n";
    Asked a = ask(text, (SymbolicPlan){ .argv = true });
    assert_int_equal(seen_in(&a, "hot"), 0);
    assert_true(seen_in(&a, "main") > 0);
    done(&a);
    a = ask(text, (SymbolicPlan){ 0 });          /* argv is no input now */
    assert_int_equal(seen_in(&a, "main"), 0);
    done(&a);
}

static void input_goes_through_tables_of_functions_and_callbacks(void **state)
{
    (void)state;
    Asked a = ask("#include <stdlib.h>\n"
                  "#include <unistd.h>\n"
                  "struct ops { int (*f)(int); };\n"
                  "static int twice(int x) { return x * 2; }\n"
                  "static int other(int x) { return x * 3; }\n"
                  "static const struct ops ops = { twice }, unused = { other };\n"
                  "static int cmp(const void *a, const void *b)\n"
                  "{ return *(const int *)a - *(const int *)b; }\n"
                  "int main(void) { int v[4]; read(0, v, sizeof v);\n"
                  "  qsort(v, 4, 4, cmp); return ops.f(v[0]) + unused.f(1); }\n",
                  (SymbolicPlan){ 0 });
    assert_true(seen_in(&a, "twice") > 0);
    assert_true(seen_in(&a, "cmp") > 0);
    assert_int_equal(seen_in(&a, "other"), 0);
    done(&a);
}

static void one_function_s_arguments_can_be_the_input(void **state)
{
    (void)state;
    Asked a = ask("#include <stdio.h>\n"
                  "struct d { int y, m; };\n"
                  "int parse(const char *s, struct d *d) { d->y = s[0]; return d->y; }\n"
                  "int other(int c) { return c + 1; }\n"
                  "int main(void) { struct d d; char b[9]; b[0] = (char)getchar();\n"
                  "  return parse(b, &d) + other(getchar()); }\n",
                  (SymbolicPlan){ .function = "parse" });
    assert_true(seen_in(&a, "parse") > 0);
    assert_int_equal(seen_in(&a, "other"), 0);
    done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_matched_with_returns),
        cmocka_unit_test(a_path_leads_from_the_input_to_the_site),
        cmocka_unit_test(fields_are_kept_apart),
        cmocka_unit_test(addresses_and_sizes_from_input_are_reported),
        cmocka_unit_test(bit_tricks_are_no_trouble),
        cmocka_unit_test(what_the_input_does_not_reach_is_left_alone),
        cmocka_unit_test(input_goes_through_tables_of_functions_and_callbacks),
        cmocka_unit_test(one_function_s_arguments_can_be_the_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
