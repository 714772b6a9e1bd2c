/* program/optables: which structs of function pointers a program fills, and how. */
#include "compile.h"
#include "analysis/handles/handles.h"
#include "engine/api/api.h"
#include "program/optables.h"

static const char source[] =
    "#include <stdlib.h>\n"
    "struct ops { const char *name; int (*put)(void *o, int x); int (*get)(void *o); };\n"
    "static int a_put(void *o, int x) { *(int *)o = x; return 0; }\n"
    "static int a_get(void *o) { return *(int *)o; }\n"
    "static int b_put(void *o, int x) { return x; }\n"
    "static int b_get(char *o) { return *o; }\n"
    "static int far(long x) { return (int)x; }\n"
    "void *a_open(void) { return calloc(1, 4); }\n"
    "void a_close(void *o) { free(o); }\n"
    "const struct ops plain = { \"simple\", a_put, a_get };\n"
    "static struct ops list[] = { { \"one\", a_put, 0 }, { \"two\", b_put, a_get } };\n"
    "struct ops late;\n"
    "struct ops wrong = { \"w\", (int (*)(void *, int))far, 0 };\n"
    "struct node { int n; struct ops inner; };\n"
    "void fill(void) { late.put = b_put; late.get = (int (*)(void *))b_get; }\n"
    "struct node *node_new(void) { struct node *d = calloc(1, sizeof *d);\n"
    "  d->inner.put = a_put; d->inner.get = a_get; return d; }\n"
    "const struct ops *pick(int i) { return i ? &list[0] : &plain; }\n"
    "struct data { int x; char *s; };\n"
    "struct data nothing = { 1, \"x\" };\n";

static Compiled open_tables(OpTables *out)
{
    Compiled c = compiled_begin();
    Err err = { 0 };
    compiled_add(&c, "tables.c", source, NULL);
    compiled_open(&c);
    if (!optables_find(c.program, out, &err))
        fail_msg("%s", err.msg);
    return c;
}

static const char *slot(const OpImpl *i, unsigned k)
{
    return i->slots[k] ? i->slots[k]->name : "-";
}

static void variables_arrays_and_stores_are_implementations(void **state)
{
    (void)state;
    OpTables t = { 0 };
    Compiled c = open_tables(&t);
    const OpTable *ops = optables_table(&t, "ops");
    assert_non_null(ops);
    assert_ptr_equal(ops, optables_table(&t, "struct ops"));
    assert_int_equal(ops->nslots, 2);
    assert_string_equal(ops->slots[1].name, "get");
    assert_null(optables_table(&t, "data"));
    const OpImpl *plain = optable_impl(ops, "plain"), *two = optable_impl(ops, "two"),
                 *late = optable_impl(ops, "late"), *node = optable_impl(ops, "node_new");
    assert_non_null(plain);
    assert_string_equal(slot(plain, 0), "a_put");
    assert_string_equal(plain->label, "simple");
    assert_false(plain->is_static);
    assert_non_null(two);
    assert_string_equal(two->name, "list[1]");
    assert_string_equal(slot(two, 0), "b_put");
    assert_string_equal(slot(optable_impl(ops, "one"), 1), "-");
    assert_non_null(late);
    assert_true(late->at_run_time);
    assert_string_equal(slot(late, 1), "b_get");
    assert_non_null(node);
    assert_string_equal(slot(node, 0), "a_put");
    assert_null(node->symbol);
    optables_release(&t);
    compiled_end(&c);
}

static void a_name_is_whole_a_label_or_a_unique_ending(void **state)
{
    (void)state;
    OpTables t = { 0 };
    Compiled c = open_tables(&t);
    const OpTable *ops = optables_table(&t, "ops");
    assert_non_null(optable_impl(ops, "simple"));
    assert_non_null(optable_impl(ops, "[1]"));
    assert_null(optable_impl(ops, "]"));             /* several end so */
    assert_null(optable_impl(ops, "nobody"));
    optables_release(&t);
    compiled_end(&c);
}

static void a_function_of_another_type_is_named(void **state)
{
    (void)state;
    OpTables t = { 0 };
    Compiled c = open_tables(&t);
    const OpImpl *wrong = optable_impl(optables_table(&t, "ops"), "wrong");
    assert_non_null(wrong);
    assert_non_null(wrong->wrong);
    assert_non_null(strstr(wrong->wrong, "slot put"));
    assert_null(optable_impl(optables_table(&t, "ops"), "late")->wrong);   /* char * for void * */
    optables_release(&t);
    compiled_end(&c);
}

static void users_name_the_variable(void **state)
{
    (void)state;
    OpTables t = { 0 };
    Compiled c = open_tables(&t);
    const OpImpl *plain = optable_impl(optables_table(&t, "ops"), "plain");
    assert_int_equal(plain->nusers, 1);
    assert_string_equal(plain->users[0]->name, "pick");
    optables_release(&t);
    compiled_end(&c);
}

/* Functions that were named, static ones too, with a void * as the object. */
static void an_api_of_some_functions_has_void_handles(void **state)
{
    (void)state;
    OpTables t = { 0 };
    Compiled c = open_tables(&t);
    const Function *fns[] = { program_function(c.program, "a_open"),
                              program_function(c.program, "a_put"),
                              program_function(c.program, "a_close") };
    Err err = { 0 };
    Api *api = api_open(c.program, &(ApiPlan){ .functions = fns, .nfunctions = 3 }, &err);
    assert_non_null(api);
    assert_int_equal(api->nfunctions, 3);
    assert_int_equal(api->functions[0].result.use, USE_CREATES);
    assert_int_equal(api->functions[1].params[0].role, ROLE_HANDLE);
    assert_int_equal(api->functions[2].params[0].use, USE_CONSUMES);
    assert_ptr_equal(api_of(api, fns[1]), &api->functions[1]);
    api_close(api);
    optables_release(&t);
    compiled_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_arrays_and_stores_are_implementations),
        cmocka_unit_test(a_name_is_whole_a_label_or_a_unique_ending),
        cmocka_unit_test(a_function_of_another_type_is_named),
        cmocka_unit_test(users_name_the_variable),
        cmocka_unit_test(an_api_of_some_functions_has_void_handles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
